data <- sinc_data()
fit <- rvm(y ~ x, data, kernel = kernel_gaussian(0.5))

test_that("every picture of a fit with one input gets drawn", {
  expect_picture(function() plot(fit))
  expect_picture(function() plot(fit, main = "sinc", xlab = "input", ylim = c(-2, 2)))
  expect_picture(function() plot(fit, which = "evidence"))
  expect_picture(function() plot(fit, which = "relevance"))
})

test_that("several inputs, offsets, bases and given centres get drawn", {
  both <- two_inputs()
  expect_picture(function() plot(rvm(both$x, both$y)))
  expect_picture(function() plot(rvm(y ~ x + offset(x), data)))
  expect_picture(function() plot(rvm(y ~ x, data, basis = ~ I(x^2))))
  expect_picture(function() plot(rvm(data$x, data$y, basis = function(x) x^2)))
  expect_picture(function() plot(rvm(data$x, data$y, centers = cbind(-3:3))))
  data$z <- rev(data$x)
  expect_picture(function() plot(rvm(y ~ x, data, basis = ~ z)))
})

test_that("bad arguments are named", {
  expect_rvm_error(plot(fit, which = "all"), "`which`.*\"all\"")
  expect_rvm_error(plot(fit, level = 2), "`level`")
  empty <- rvm(1:10, rep(0, 10), intercept = FALSE)
  expect_rvm_error(plot(empty, which = "relevance"), "no active")
})
