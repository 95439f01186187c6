#' Priors on the precisions of the weights
#'
#' Each weight of a relevance vector machine has a normal prior with mean zero
#' and a precision of its own. These functions say what is believed about the
#' precisions, for the `prior` argument of [rvm()].
#'
#' With `prior_flat()` the evidence alone decides, and the model does not depend
#' on the unit of the response. `prior_gamma()` puts a Gamma(`shape`, `rate`)
#' density on every precision, and another one on the precision of the noise.
#' `prior_student()` is its special case `shape = rate = df / 2`, which makes
#' the prior of each weight Student's t with `df` degrees of freedom. The rates
#' are in the unit of the response.
#'
#' @param shape,rate parameters of the Gamma density of the precisions; 0 is
#'   flat.
#' @param noise_shape,noise_rate the same for the precision of the noise. Classes
#'   have no noise: for them these two have no effect.
#' @param df degrees of freedom, positive.
#' @return An object of class `"rvm_prior"`.
#' @examples
#' set.seed(1)
#' x <- seq(-10, 10, length.out = 60)
#' y <- sin(x) / x + rnorm(60, sd = 0.1)
#' rvm(x, y, prior = prior_gamma(shape = 1e-3, rate = 1e-3))
#' rvm(x, y, prior = prior_student(df = 1))
#' @name priors
NULL

#' @rdname priors
#' @export
prior_flat <- function() {
  new_prior("flat", "flat prior on the precisions")
}

#' @rdname priors
#' @export
prior_gamma <- function(shape, rate, noise_shape = 0, noise_rate = 0) {
  shape <- check_not_negative(shape, "shape")
  rate <- check_not_negative(rate, "rate")
  noise_shape <- check_not_negative(noise_shape, "noise_shape")
  noise_rate <- check_not_negative(noise_rate, "noise_rate")
  label <- paste0("Gamma(", format(shape), ", ", format(rate), ") prior on the precisions")
  if (noise_shape > 0 || noise_rate > 0) {
    label <- paste0(label, ", Gamma(", format(noise_shape), ", ", format(noise_rate),
                    ") on that of the noise")
  }
  new_prior("gamma", label, c(shape, rate, noise_shape, noise_rate))
}

#' @rdname priors
#' @export
prior_student <- function(df) {
  df <- check_positive(df, "df")
  new_prior("student", paste0("Student-t prior on the weights, df ", format(df)),
            c(df / 2, df / 2, 0, 0))
}

# `parameters`: shape and rate of the precisions, shape and rate of the noise
# precision, in the order in which the C core takes them.
new_prior <- function(name, label, parameters = numeric(4)) {
  structure(list(name = name, label = label, parameters = parameters),
            class = "rvm_prior")
}

#' @export
format.rvm_prior <- function(x, ...) x$label

#' @export
print.rvm_prior <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}

check_prior <- function(prior) {
  if (!inherits(prior, "rvm_prior")) {
    stop_argument("prior", "made by prior_flat(), prior_gamma() or prior_student()",
                  describe(prior))
  }
  prior
}
