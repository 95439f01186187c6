sinc_data <- function(rows = 60, noise = 0.1, seed = 1) {
  set.seed(seed)
  x <- seq(-10, 10, length.out = rows)
  data.frame(x = x, y = sinc(x) + rnorm(rows, sd = noise))
}

two_inputs <- function(rows = 60, seed = 2) {
  set.seed(seed)
  x <- cbind(a = runif(rows, -3, 3), b = runif(rows, -3, 3))
  list(x = x, y = sin(x[, 1]) + 0.5 * x[, 2] + rnorm(rows, sd = 0.1))
}

expect_rvm_error <- function(object, pattern) {
  testthat::expect_error(object, pattern, class = "rvm_error")
}
