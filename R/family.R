# The families: what a response must look like, and what follows from the latent
# values once the model is fitted. A new family is a new row of `families`.

guess_family <- function(y) {
  if (is.numeric(y) || is.data.frame(y)) return("gaussian")
  if (is.factor(y) || is.logical(y) || is.character(y)) {
    classes <- length(unique(y[!is.na(y)]))
    return(if (classes > 2) "multinomial" else "binomial")
  }
  stop_argument("y", "numeric", describe(y))
}

resolve_family <- function(family, y) {
  if (is.null(family)) {
    family <- guess_family(y)
    if (!family %in% names(families)) {
      stop_rvm("`y` must be numeric, not ", describe(y), ": this version fits a numeric ",
               "response (family = \"gaussian\").")
    }
  }
  check_choice(family, names(families), "family")
}

# ---- gaussian ----------------------------------------------------------------

gaussian_response <- function(y, rows) {
  if (is.data.frame(y)) y <- as.matrix(y)
  if (!is.numeric(y)) {
    stop_rvm("`y` must be numeric for family = \"gaussian\", not ", describe(y), ".")
  }
  if (NCOL(y) != 1) {
    stop_rvm("`y` must have one column, not ", NCOL(y), ": this version fits a numeric ",
             "response with one output.")
  }
  if (NROW(y) != rows) {
    stop_rvm("`y` must have one value for each row of `x`, ", rows, ", not ", NROW(y), ".")
  }
  y <- as.double(y)
  bad <- which(!is.finite(y))
  if (length(bad)) {
    stop_rvm("`y` must be finite, not ", format(y[bad[1]]), " as in row ", bad[1], ".")
  }
  size <- max(abs(y))
  # The squares of the response have to be numbers.
  if (size > 1e150 || size > 0 && size < 1e-150) {
    stop_rvm("`y` must be of a size between 1e-150 and 1e150, not ", format(size), ".")
  }
  y
}

gaussian_predict <- function(object, frame, type, se.fit, interval, level) {
  if (type == "prob") {
    stop_argument("type", "\"response\" or \"link\" for a numeric response", describe(type))
  }
  latent <- latent_values(object, frame, variance = se.fit || interval != "none")
  fit <- latent$fit
  if (interval != "none") {
    noise <- if (interval == "prediction") object$sigma^2 else 0
    half <- stats::qnorm((1 + level) / 2) * sqrt(latent$variance + noise)
    fit <- cbind(fit = fit, lwr = fit - half, upr = fit + half)
  }
  if (!se.fit) return(fit)
  list(fit = fit, se.fit = sqrt(latent$variance),
       df = nobs(object) - sum(object$gamma), residual.scale = object$sigma)
}

# Standard deviation of the noise of each training row.
gaussian_noise <- function(object) {
  if (is.null(object$weights)) return(rep(object$sigma, length(object$y)))
  object$sigma / sqrt(object$weights)
}

# New responses given a matrix of latent values, one column per simulation. A
# row of weight zero has no noise level: its response is missing.
gaussian_simulate <- function(object, latent) {
  noise <- gaussian_noise(object)
  noise[!is.finite(noise)] <- NA
  latent + noise * matrix(stats::rnorm(length(latent)), nrow(latent))
}

families <- list(
  gaussian = list(
    response = gaussian_response,
    predict = gaussian_predict,
    noise = gaussian_noise,
    simulate = gaussian_simulate
  )
)
