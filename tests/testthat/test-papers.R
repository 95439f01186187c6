# The figures of the papers' sinc experiments: 100 equally spaced points in [-10, 10].
x <- seq(-10, 10, length.out = 100)
grid <- seq(-10, 10, length.out = 1000)
fit_sinc <- function(y, kernel = kernel_spline(), ...) rvm(x, y, kernel = kernel, scale = FALSE, ...)
root_mean_square <- function(error) sqrt(mean(error^2))

test_that("noise-free sinc with linear splines: at most 10 vectors, error at most 0.010", {
  fit <- fit_sinc(sinc(x), noise = 0.01)
  expect_lte(length(fit$relevance), 10)
  expect_lte(max(abs(fitted(fit) - sinc(x))), 0.010)
  expect_lte(max(abs(predict(fit, grid) - sinc(grid))), 0.010)
})

test_that("sinc with uniform noise and linear splines: few vectors, small error", {
  set.seed(1)
  draws <- replicate(50, {
    fit <- fit_sinc(sinc(x) + runif(100, -0.2, 0.2))
    c(vectors = length(fit$relevance), error = root_mean_square(predict(fit, grid) - sinc(grid)))
  })
  expect_lte(median(draws["vectors", ]), 8)
  expect_lte(median(draws["error", ]), 0.05)
})

test_that("sinc with Gaussian noise 0.2 and linear splines: the noise is found", {
  set.seed(2)
  estimates <- replicate(50, sigma(fit_sinc(sinc(x) + rnorm(100, 0, 0.2))))
  expect_gte(median(estimates), 0.17)
  expect_lte(median(estimates), 0.23)
})

test_that("95 % prediction intervals cover 93 to 97 % of new points", {
  set.seed(3)
  covered <- replicate(200, {
    inputs <- runif(100, -10, 10)
    fit <- rvm(inputs, sinc(inputs) + rnorm(100, 0, 0.1), kernel = kernel_gaussian(3), scale = FALSE)
    new <- runif(100, -10, 10)
    targets <- sinc(new) + rnorm(100, 0, 0.1)
    bounds <- predict(fit, new, interval = "prediction", level = 0.95)
    mean(targets >= bounds[, "lwr"] & targets <= bounds[, "upr"])
  })
  expect_gte(mean(covered), 0.93)
  expect_lte(mean(covered), 0.97)
})
