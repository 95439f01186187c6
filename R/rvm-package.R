#' Relevance vector machines
#'
#' Sparse Bayesian kernel models. [rvm()] fits one, [kernels] lists the basis
#' functions to choose from, [predict.rvm()] and [plot.rvm()] show what it says.
#' `vignette("rvm")` is the tour.
#'
#' @useDynLib rvm, .registration = TRUE, .fixes = "C_"
#' @importFrom stats coef confint fitted formula logLik nobs predict residuals sigma
#'   simulate terms vcov
#' @name rvm-package
#' @keywords internal
NULL
