#' Predict from a relevance vector machine
#'
#' The predictive mean at new inputs, with the standard error of the mean and
#' intervals. The predictive variance has two parts: that of the weights
#' (`se.fit`, `interval = "confidence"`), and that of the noise, which
#' `interval = "prediction"` adds to it for a new case of weight 1.
#'
#' @param object a fit by [rvm()].
#' @param newdata data frame with the variables of the fit, or, if the fit was
#'   made from a matrix, a matrix (a vector for one input). Without it, the
#'   predictions are for the training data.
#' @param type `"response"`; `"link"` is the same for a numeric response. `"prob"`
#'   is for classes.
#' @param se.fit whether to return standard errors.
#' @param interval `"none"`, `"confidence"` or `"prediction"`.
#' @param level probability of the interval.
#' @param prior,cost,moderated for classes; they do not apply to a numeric
#'   response.
#' @param na.action what to do with rows whose inputs are missing. By default
#'   they are predicted as `NA`.
#' @param ... none.
#' @return A vector of predictions, one for each row; with an interval, a matrix
#'   with columns `fit`, `lwr` and `upr`. With `se.fit = TRUE`, a list with
#'   elements `fit`, `se.fit`, `df` and `residual.scale`, as [predict.lm()] gives.
#' @examples
#' fit <- rvm(dist ~ speed, data = cars)
#' predict(fit, data.frame(speed = c(5, 15, 25)))
#' predict(fit, data.frame(speed = c(5, 15, 25)), interval = "prediction")
#' predict(fit, data.frame(speed = 15), se.fit = TRUE)
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
  check_flag(moderated, "moderated")
  if (!is.null(prior)) stop_argument("prior", "NULL for a numeric response", describe(prior))
  if (!is.null(cost)) stop_argument("cost", "NULL for a numeric response", describe(cost))

  training <- missing(newdata) || is.null(newdata)
  frame <- if (training) training_frame(object) else {
    new_frame(object$recipe, newdata, match.fun(na.action))
  }
  result <- families[[object$family]]$predict(object, frame, type, se.fit, interval, level)
  if (!training || is.null(object$na.action)) return(result)
  if (!se.fit) return(stats::napredict(object$na.action, result))
  result[c("fit", "se.fit")] <- lapply(result[c("fit", "se.fit")], stats::napredict,
                                       omit = object$na.action)
  result
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
  if (!all(is.finite(c(core$fit, core$variance)))) {
    stop_rvm("`newdata` must be closer to the data of the fit: the prediction is no number.")
  }
  core
}
