# Responses that are classes: two by the logistic function of one latent value,
# more by the softmax of one latent value per class.

# ---- the response ------------------------------------------------------------

binomial_response <- function(y, rows) {
  labels <- class_labels(zero_one_labels(y), rows)
  if (nlevels(labels) > 2) {
    stop_rvm("`y` must have two classes for family = \"binomial\", not ", nlevels(labels), ": ",
             some_levels(levels(labels)), ".")
  }
  labels
}

multinomial_response <- function(y, rows) {
  if (is.numeric(y)) {
    stop_argument("y", "a factor, logical or character for family = \"multinomial\"", describe(y))
  }
  class_labels(y, rows)
}

# Numbers are classes only where they are 0 and 1 and the family says so.
zero_one_labels <- function(y) {
  if (!is.numeric(y) || NCOL(y) != 1) return(y)
  wrong <- which(!is.na(y) & y != 0 & y != 1)
  if (length(wrong)) {
    stop_argument("y", "0 or 1, or a factor, for family = \"binomial\"",
                  paste(format(y[wrong[1]]), "as in row", wrong[1]))
  }
  factor(y)
}

# A factor without missing values and unused levels.
class_labels <- function(y, rows) {
  if (is.matrix(y) && ncol(y) == 1) y <- y[, 1]
  if (!is.null(dim(y)) || !(is.factor(y) || is.logical(y) || is.character(y))) {
    stop_argument("y", "a factor, logical or character", describe(y))
  }
  if (length(y) != rows) {
    stop_rvm("`y` must have one label for each row of `x`, ", rows, ", not ", length(y), ".")
  }
  # A level that is NA stands for missing labels.
  labels <- unname(if (is.factor(y)) factor(y, setdiff(levels(y), NA)) else factor(as.vector(y)))
  if (anyNA(labels)) {
    stop_rvm("`y` must be known, not NA as in row ", which(is.na(labels))[1], ".")
  }
  check_two_classes(drop_unused(labels))
}

drop_unused <- function(labels) {
  unused <- setdiff(levels(labels), as.character(labels))
  if (!length(unused)) return(labels)
  message("`y` has no case of ", if (length(unused) > 1) "the levels " else "the level ",
          some_levels(unused), ": dropped.")
  droplevels(labels)
}

check_two_classes <- function(labels) {
  if (nlevels(labels) < 2) {
    stop_rvm("`y` must have at least two classes, not only ", quoted(levels(labels)), ".")
  }
  labels
}

some_levels <- function(levels) some(vapply(levels, quoted, ""))

check_classes <- function(frame, settings) {
  if (!is.null(settings$noise)) {
    stop_argument("noise", "NULL for classes, which have no noise level", describe(settings$noise))
  }
  absent <- setdiff(levels(frame$y), as.character(frame$y[frame$used]))
  if (length(absent)) {
    stop_rvm("`weights` must be positive in at least one row of each class, not 0 in all of ",
             some_levels(absent), ".")
  }
}

check_multinomial <- function(frame, settings) {
  check_classes(frame, settings)
  if (!is.null(frame$offset)) {
    stop_rvm("`offset` must be left out for more than two classes: ",
             "it would be the same for all of them and have no effect.")
  }
}

# ---- the fit -----------------------------------------------------------------

binomial_core <- function(problem, blocks, start) class_core(problem, blocks, start, latents = 1L)

multinomial_core <- function(problem, blocks, start) {
  class_core(problem, blocks, start, latents = nlevels(problem$frame$y))
}

binomial_gradient <- function(problem, blocks, active, ratio, noise) {
  class_gradient(problem, blocks, seq_along(ratio), ratio, latents = 1L)
}

multinomial_gradient <- function(problem, blocks, active, ratio, noise) {
  class_gradient(problem, blocks, pair_numbers(active), ratio, latents = nlevels(problem$frame$y))
}

# The numbers by which the core knows the pairs of the active functions.
pair_numbers <- function(active) {
  active$pairs[, "column"] + (active$pairs[, "class"] - 1L) * nrow(active$coefficients)
}

class_gradient <- function(problem, blocks, pairs, ratio, latents) {
  frame <- problem$frame
  used <- frame$used
  call_core(.Call(
    C_class_gradient, problem$x, blocks, as.integer(frame$y[used]) - 1L, frame$weights[used],
    frame$offset[used], latents, problem$settings$prior$parameters, as.integer(pairs), ratio,
    problem$settings$control$threads
  ))
}

class_core <- function(problem, blocks, start, latents) {
  frame <- problem$frame
  used <- frame$used
  core <- call_core(.Call(
    C_fit_classes, problem$x, blocks, as.integer(frame$y[used]) - 1L, frame$weights[used],
    frame$offset[used], latents, problem$settings$prior$parameters,
    core_control(problem$settings$control, length(used), problem$settings$price, start)
  ))
  core$sigma <- NA_real_
  core
}

# The active part of a model with one weight per pair of basis function and class.
# The dictionary keeps every function that is active for some class; `pairs` says
# which of them, for which class, each weight belongs to.
active_pairs <- function(core, candidates, levels) {
  size <- sum(part_sizes(candidates))
  column <- (core$active - 1L) %% size + 1L
  class <- (core$active - 1L) %/% size + 1L
  columns <- sort(unique(column))
  dictionary <- restrict(candidates, columns)
  names <- column_names(dictionary)
  pairs <- cbind(column = match(column, columns), class = class)
  coefficients <- matrix(0, length(columns), length(levels), dimnames = list(names, levels))
  coefficients[pairs] <- core$mean
  list(dictionary = dictionary, coefficients = coefficients, pairs = pairs,
       names = sprintf("%s:%s", levels[class], names[pairs[, "column"]]))
}

binomial_fitted <- function(fit, frame, core) predict_training(fit, "prob")[, 2]

multinomial_fitted <- function(fit, frame, core) predict_training(fit, "prob")

# ---- what the training data say ------------------------------------------------

case_weights <- function(object) {
  if (is.null(object$weights)) rep(1, length(object$y)) else object$weights
}

# Number of cases in each class; a case of weight 2 counts as two.
class_sizes <- function(object) {
  drop(rowsum(case_weights(object), object$y))
}

# Number of active basis functions of each class.
class_functions <- function(object) {
  stats::setNames(tabulate(object$pairs[, "class"], length(object$levels)), object$levels)
}

# 1 in the column of each row's class, 0 elsewhere.
class_indicators <- function(object) {
  indicators <- diag(length(object$levels))[as.integer(object$y), , drop = FALSE]
  dimnames(indicators) <- list(rownames(object$x), object$levels)
  indicators
}

# Probabilities of all classes at the training rows.
training_probabilities <- function(object) {
  fitted <- object$fitted.values
  if (!is.matrix(fitted)) fitted <- cbind(1 - fitted, fitted)
  colnames(fitted) <- object$levels
  fitted
}

# A probability that rounds to 0 or 1 leaves no spread to divide by.
class_noise <- function(object) {
  probability <- object$fitted.values
  variance <- pmax(probability * (1 - probability), .Machine$double.xmin)
  sqrt(variance / case_weights(object))
}

class_summary <- function(object) {
  probabilities <- training_probabilities(object)
  weights <- case_weights(object)
  decided <- factor(object$levels[max.col(probabilities, "first")], object$levels)
  confusion <- tapply(weights, list(truth = object$y, predicted = decided), sum, default = 0)
  own <- probabilities[cbind(seq_along(object$y), as.integer(object$y))]
  losses <- -log(pmax(own, .Machine$double.xmin))
  list(confusion = as.table(confusion), log.loss = stats::weighted.mean(losses, weights))
}

# ---- simulation ----------------------------------------------------------------

binomial_simulate <- function(object, latent) {
  second <- stats::runif(length(latent[[1]])) < stats::plogis(latent[[1]])
  label_columns(object, second + 1L, ncol(latent[[1]]))
}

# The largest of latent values with Gumbel noise is distributed by their softmax.
multinomial_simulate <- function(object, latent) {
  noisy <- vapply(latent, function(values) {
    values - log(-log(stats::runif(length(values))))
  }, numeric(length(latent[[1]])))
  noisy <- matrix(noisy, ncol = length(latent))
  label_columns(object, max.col(noisy, "first"), ncol(latent[[1]]))
}

# A data frame of labels from class numbers, one column per simulation.
label_columns <- function(object, classes, simulations) {
  labels <- split(classes, rep(seq_len(simulations), each = length(object$y)))
  as.data.frame(lapply(labels, class_factor, object = object))
}

# Class numbers as a factor like the response.
class_factor <- function(classes, object) {
  factor(object$levels[classes], object$levels, ordered = is.ordered(object$y))
}
