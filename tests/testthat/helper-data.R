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

# A plot that draws something and returns its fit, invisibly.
expect_picture <- function(draw, least = 4000) {
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(file)
  result <- tryCatch(withVisible(draw()), finally = grDevices::dev.off())
  expect_false(result$visible)
  expect_s3_class(result$value, "rvm")
  expect_gt(file.size(file), least)
}
