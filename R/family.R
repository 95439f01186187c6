# The families: what a response must look like, how it is fitted, and what
# follows from the latent values once it is. A new family is a new row of
# `families`, whose functions are
#   response(y, rows)          the response as given to the one kept, or an error
#   check(frame, settings)     errors that need more than the response
#   core(problem, blocks, start)       the call of the C core
#   gradient(problem, blocks, active, ratio, noise)   the evidence of the active
#                              functions and its slopes
#   active(core, candidates, levels)   the active part of the dictionary, and the
#                              weights and their names
#   fitted(fit, frame, core)   fitted values of all training rows
#   observed(object)           the response as numbers, to compare with those
#   noise(object)              standard deviation of the response of each row
#   predict(object, frame, request)    see predict.rvm()
#   simulate(object, latent)   new responses given lists of latent values
#   summary(object)            what summary() adds about the quality of the fit

guess_family <- function(y) {
  if (is.numeric(y) || is.data.frame(y)) return("gaussian")
  if (is.factor(y) || is.logical(y) || is.character(y)) {
    classes <- length(unique(y[!is.na(y)]))
    return(if (classes > 2) "multinomial" else "binomial")
  }
  stop_argument("y", "numeric, a factor, logical or character", describe(y))
}

# Held-out error decided: a numeric response says enough to find a width for each
# input, classes do not.
default_kernel <- function(family) kernel_gaussian(ard = family == "gaussian")

resolve_family <- function(family, y) {
  check_choice(if (is.null(family)) guess_family(y) else family, names(families), "family")
}

# Evaluates a call of the core, with the core's own complaints in our class.
call_core <- function(call) {
  tryCatch(call, error = function(condition) stop_rvm(conditionMessage(condition)))
}

warn_about <- function(core) {
  if (!core$converged) warn_not_converged(core$iterations)
  if (isTRUE(core$held)) warn_held(core$sigma)
}

warn_not_converged <- function(iterations) {
  warning("The fit stopped at `maxit` = ", iterations, " iterations before it converged; ",
          "see rvm_control(maxit = ).", call. = FALSE)
}

# The active part of a model with one weight per basis function.
active_columns <- function(core, candidates, levels) {
  dictionary <- restrict(candidates, core$active)
  names <- column_names(dictionary)
  list(dictionary = dictionary, coefficients = stats::setNames(core$mean, names), names = names,
       pairs = NULL)
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

gaussian_core <- function(problem, blocks, start) {
  frame <- problem$frame
  settings <- problem$settings
  response <- without_offset(frame)
  call_core(.Call(
    C_fit, problem$x, blocks, response, frame$weights[frame$used], settings$prior$parameters,
    fixed_noise(settings$noise, response), core_control(settings$control, length(response), settings$price, start)
  ))
}

gaussian_gradient <- function(problem, blocks, active, ratio, noise) {
  frame <- problem$frame
  settings <- problem$settings
  call_core(.Call(
    C_gradient, problem$x, blocks, without_offset(frame), frame$weights[frame$used],
    settings$prior$parameters, if (is.null(noise)) NA_real_ else noise, ratio,
    settings$control$threads
  ))
}

without_offset <- function(frame) {
  frame$y[frame$used] - if (is.null(frame$offset)) 0 else frame$offset[frame$used]
}

# The noise as the core takes it. Below the last digits of the response there is
# none to speak of, and the evidence is rounding.
fixed_noise <- function(noise, response) {
  if (is.null(noise)) return(NA_real_)
  least <- max(1e-150, 1e-12 * max(abs(response)))
  if (noise < least || noise > 1e150) {
    stop_argument("noise", paste("between", format(least), "and 1e+150 for this response"),
                  format(noise))
  }
  noise
}

warn_held <- function(sigma) {
  warning("The kernel is too narrow for these data: left alone, the fit would pass through every observation. ",
          "The noise is held at ", format(sigma, digits = 3), "; a wider kernel, or `noise =`, would tell you more.",
          call. = FALSE)
}

gaussian_fitted <- function(fit, frame, core) {
  if (length(frame$used) < nrow(frame$x)) return(predict_training(fit))
  offset <- if (is.null(frame$offset)) 0 else frame$offset
  stats::setNames(core$fitted[order(frame$used)] + offset, frame$names)
}

gaussian_predict <- function(object, frame, request) {
  check_gaussian_request(request)
  interval <- request$interval
  latent <- latent_values(object, frame, variance = request$se.fit || interval != "none")
  fit <- latent$fit
  if (interval != "none") {
    noise <- if (interval == "prediction") object$sigma^2 else 0
    half <- stats::qnorm((1 + request$level) / 2) * sqrt(latent$variance + noise)
    fit <- cbind(fit = fit, lwr = fit - half, upr = fit + half)
  }
  if (!request$se.fit) return(fit)
  list(fit = fit, se.fit = sqrt(latent$variance),
       df = nobs(object) - sum(object$gamma), residual.scale = object$sigma)
}

check_gaussian_request <- function(request) {
  if (request$type == "prob") {
    stop_argument("type", "\"response\" or \"link\" for a numeric response",
                  describe(request$type))
  }
  for (argument in c("prior", "cost")) {
    if (!is.null(request[[argument]])) {
      stop_argument(argument, "NULL for a numeric response", describe(request[[argument]]))
    }
  }
}

# Standard deviation of the noise of each training row.
gaussian_noise <- function(object) {
  if (is.null(object$weights)) return(rep(object$sigma, length(object$y)))
  object$sigma / sqrt(object$weights)
}

# A row of weight zero has no noise level: its response is missing.
gaussian_simulate <- function(object, latent) {
  latent <- latent[[1]]
  noise <- gaussian_noise(object)
  noise[!is.finite(noise)] <- NA
  as.data.frame(latent + noise * matrix(stats::rnorm(length(latent)), nrow(latent)))
}

gaussian_summary <- function(object) {
  residuals <- (object$y - object$fitted.values)[object$used]
  spread <- object$y[object$used] - mean(object$y[object$used])
  list(residuals = residuals,
       r.squared = if (any(spread != 0)) 1 - sum(residuals^2) / sum(spread^2) else NA_real_)
}

families <- list(
  gaussian = list(
    response = gaussian_response,
    check = function(frame, settings) NULL,
    core = gaussian_core,
    gradient = gaussian_gradient,
    active = active_columns,
    fitted = gaussian_fitted,
    observed = function(object) object$y,
    noise = gaussian_noise,
    predict = gaussian_predict,
    simulate = gaussian_simulate,
    summary = gaussian_summary
  ),
  binomial = list(
    response = binomial_response,
    check = check_classes,
    core = binomial_core,
    gradient = binomial_gradient,
    active = active_columns,
    fitted = binomial_fitted,
    observed = function(object) as.integer(object$y) - 1,
    noise = class_noise,
    predict = class_predict,
    simulate = binomial_simulate,
    summary = class_summary
  ),
  multinomial = list(
    response = multinomial_response,
    check = check_multinomial,
    core = multinomial_core,
    gradient = multinomial_gradient,
    active = active_pairs,
    fitted = multinomial_fitted,
    observed = class_indicators,
    noise = class_noise,
    predict = class_predict,
    simulate = multinomial_simulate,
    summary = class_summary
  )
)
