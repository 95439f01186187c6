#' Predict from a relevance vector machine
#'
#' Predictions at new inputs: of a numeric response the mean, with its standard
#' error and intervals; of classes the labels, their probabilities or the latent
#' values.
#'
#' The predictive variance of a numeric response has two parts: that of the weights
#' (`se.fit`, `interval = "confidence"`), and that of the noise, which
#' `interval = "prediction"` adds to it for a new case of weight 1.
#'
#' # Classes
#'
#' Probabilities are averages over the posterior of the weights (*moderated*), which
#' pulls them towards each other where the data say little. For two classes the log
#' odds *f* with variance *v* become `f / sqrt(1 + pi/8 * v)`, within 0.014 of the
#' average. For more, the log odds of each class against all others together are
#' taken as normal, with mean and variance from those of all latent values at the
#' row, and the probabilities scaled to add up to 1; this is mostly within 0.01 of
#' the average and hardly ever off by more than 0.02. With `moderated = FALSE` the
#' weights are taken at their posterior mean.
#'
#' `prior` is for use where the classes are not as frequent as they were in the
#' training data: each probability is multiplied by the new prior of its class,
#' divided by the share of the class in the training data (by weight), and all are
#' scaled to add up to 1. `cost` tells what the decisions cost: with it,
#' `type = "response"` is the class of least expected cost instead of the most
#' probable one. Of equals the first level is taken.
#'
#' @param object a fit by [rvm()].
#' @param newdata data frame with the variables of the fit, or, if the fit was
#'   made from a matrix, a matrix (a vector for one input). Without it, the
#'   predictions are for the training data.
#' @param type `"response"`: the mean, or the class; `"prob"`: the probabilities of
#'   the classes; `"link"`: the latent values, which are the log odds of the second
#'   of two classes, and for a numeric response the mean.
#' @param se.fit whether to return standard errors; for classes those of the latent
#'   values, with `type = "link"`.
#' @param interval `"none"`, `"confidence"` or `"prediction"`, for a numeric response.
#' @param level probability of the interval.
#' @param prior class priors that hold where the predictions are made: numbers named
#'   by the classes.
#' @param cost matrix of costs, its rows the true classes and its columns the
#'   decisions, in the order of the levels or named by them.
#' @param moderated whether probabilities account for the uncertainty of the
#'   weights.
#' @param na.action what to do with rows whose inputs are missing. By default
#'   they are predicted as `NA`.
#' @param ... none.
#' @return One prediction for each row.
#'
#'   For a numeric response a vector; with an interval, a matrix with columns `fit`,
#'   `lwr` and `upr`. With `se.fit = TRUE`, a list with elements `fit`, `se.fit`,
#'   `df` and `residual.scale`, as [predict.lm()] gives.
#'
#'   For classes, `"response"`: a factor with the levels of the training data;
#'   `"prob"`: a matrix with a column for each class, whose rows add up to 1;
#'   `"link"`: a vector, or for `family = "multinomial"` a matrix with a column for
#'   each class; with `se.fit = TRUE` a list with elements `fit` and `se.fit`.
#' @examples
#' fit <- rvm(dist ~ speed, data = cars)
#' predict(fit, data.frame(speed = c(5, 15, 25)))
#' predict(fit, data.frame(speed = c(5, 15, 25)), interval = "prediction")
#' predict(fit, data.frame(speed = 15), se.fit = TRUE)
#'
#' # classes
#' fit <- rvm(Species ~ Sepal.Length + Sepal.Width, data = iris)
#' new <- iris[c(1, 51, 78, 101), ]
#' predict(fit, new)
#' predict(fit, new, type = "prob")
#'
#' # where setosa does not grow
#' predict(fit, new, type = "prob", prior = c(setosa = 0, versicolor = 0.5, virginica = 0.5))
#'
#' # taking virginica for versicolor is ten times worse than other errors
#' cost <- 1 - diag(3)
#' dimnames(cost) <- list(truth = levels(iris$Species), decision = levels(iris$Species))
#' cost["virginica", "versicolor"] <- 10
#' table(iris$Species, predict(fit, cost = cost))
#' @export
predict.rvm <- function(object, newdata, type = c("response", "prob", "link"),
                        se.fit = FALSE, interval = c("none", "confidence", "prediction"),
                        level = 0.95, prior = NULL, cost = NULL, moderated = TRUE,
                        na.action = stats::na.pass, ...) {
  check_no_more(...)
  type <- check_choice(type, c("response", "prob", "link"), "type")
  interval <- check_choice(interval, c("none", "confidence", "prediction"), "interval")
  se.fit <- check_flag(se.fit, "se.fit")
  level <- check_level(level)
  request <- prediction(type, se.fit, interval, level, prior, cost,
                        check_flag(moderated, "moderated"))

  training <- missing(newdata) || is.null(newdata)
  frame <- if (training) training_frame(object) else {
    new_frame(object$recipe, newdata, match.fun(na.action))
  }
  result <- families[[object$family]]$predict(object, frame, request)
  if (!training || is.null(object$na.action)) return(result)
  if (!se.fit) return(stats::napredict(object$na.action, result))
  result[c("fit", "se.fit")] <- lapply(result[c("fit", "se.fit")], stats::napredict,
                                       omit = object$na.action)
  result
}

# What is to be predicted, as the families take it.
prediction <- function(type = "response", se.fit = FALSE, interval = "none", level = 0.95,
                       prior = NULL, cost = NULL, moderated = TRUE) {
  list(type = type, se.fit = se.fit, interval = interval, level = level,
       prior = prior, cost = cost, moderated = moderated)
}

# At the training rows, without those that `na.action` left out.
predict_training <- function(object, ...) {
  families[[object$family]]$predict(object, training_frame(object), prediction(...))
}

check_level <- function(level) {
  if (!is_number(level) || level <= 0 || level >= 1) {
    stop_argument("level", "a number between 0 and 1", describe(level))
  }
  level
}

training_frame <- function(object) {
  list(x = object$x, basis = object$basis, offset = object$offset,
       complete = rep(TRUE, nrow(object$x)), names = rownames(object$x))
}

# Mean of the latent values and the part of their variance that is due to the
# weights, NA in rows that are not complete.
latent_values <- function(object, frame, variance = TRUE) {
  complete <- frame$complete
  x <- apply_scaling(frame$x[complete, , drop = FALSE], object$scaling)
  basis <- frame$basis[complete, , drop = FALSE]
  core <- latent_core(object, x, basis, variance)
  offset <- if (is.null(frame$offset)) 0 else frame$offset[complete]
  spread <- function(values) {
    all <- stats::setNames(rep(NA_real_, length(complete)), frame$names)
    all[complete] <- values
    all
  }
  list(fit = spread(core$fit + offset), variance = if (variance) spread(core$variance))
}

latent_core <- function(object, x, basis, variance) {
  if (!length(object$coefficients) || !nrow(x)) {
    return(list(fit = numeric(nrow(x)), variance = numeric(nrow(x))))
  }
  core <- .Call(
    C_predict, x, dictionary_blocks(object$dictionary, x, basis),
    unname(object$coefficients), if (variance) object$factor,
    object$control$threads
  )
  check_predicted(c(core$fit, core$variance))
  core
}

check_predicted <- function(values) {
  if (!all(is.finite(values))) {
    stop_rvm("`newdata` must be closer to the data of the fit: the prediction is no number.")
  }
}
