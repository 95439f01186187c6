squared_distance <- function(x, z, width) {
  total <- 0
  for (k in seq_len(ncol(x))) {
    total <- total + (outer(x[, k], z[, k], "-") / rep_len(width, ncol(x))[k])^2
  }
  total
}

spline_value <- function(x, z) {
  least <- outer(x, z, pmin)
  1 + outer(x, z) + outer(x, z) * least - outer(x, z, "+") / 2 * least^2 + least^3 / 3
}

set.seed(11)
x <- matrix(rnorm(7 * 3), 7)
z <- rbind(matrix(rnorm(4 * 3), 4), x[2, ])

test_that("kernels with widths agree with their formulas", {
  for (width in list(1.3, c(0.5, 1.5, 4))) {
    r2 <- squared_distance(x, z, width)
    r <- sqrt(r2)
    expect_equal(kernel_matrix(kernel_gaussian(width), x, z), exp(-r2), tolerance = 1e-13)
    expect_equal(kernel_matrix(kernel_laplace(width), x, z), exp(-r), tolerance = 1e-13)
    expect_equal(kernel_matrix(kernel_cauchy(width), x, z), 1 / (1 + r2), tolerance = 1e-13)
    expect_equal(kernel_matrix(kernel_matern(width), x, z),
                 (1 + sqrt(3) * r) * exp(-sqrt(3) * r), tolerance = 1e-13)
    expect_equal(kernel_matrix(kernel_matern(width, nu = 5/2), x, z),
                 (1 + sqrt(5) * r + 5 * r2 / 3) * exp(-sqrt(5) * r), tolerance = 1e-13)
  }
})

test_that("kernels without widths agree with their formulas", {
  inner <- tcrossprod(x, z)
  r2 <- squared_distance(x, z, 1)
  spline <- spline_value(x[, 1], z[, 1]) * spline_value(x[, 2], z[, 2]) *
    spline_value(x[, 3], z[, 3])
  expect_equal(kernel_matrix(kernel_spline(), x, z), spline, tolerance = 1e-12)
  expect_equal(kernel_matrix(kernel_thinplate(), x, z),
               ifelse(r2 == 0, 0, r2 * log(sqrt(r2))), tolerance = 1e-12)
  expect_equal(kernel_matrix(kernel_linear(), x, z), inner, tolerance = 1e-13)
  expect_equal(kernel_matrix(kernel_polynomial(3, 0.5, 2), x, z), (0.5 * inner + 2)^3,
               tolerance = 1e-12)
  expect_equal(kernel_matrix(kernel_sigmoid(0.3, -1), x, z), tanh(0.3 * inner - 1),
               tolerance = 1e-12)
})

test_that("vectors are one input, a function is a kernel, names are kept", {
  expect_equal(kernel_matrix(kernel_gaussian(2), 1:3, 0), cbind(exp(-(1:3)^2 / 4)))
  own <- function(x, z) tcrossprod(x, z) + 1
  expect_equal(kernel_matrix(own, x, z), tcrossprod(x, z) + 1)
  named <- rbind(p = 1:2, q = 3:4)
  expect_identical(dimnames(kernel_matrix(kernel_linear(), named)), list(c("p", "q"), c("p", "q")))
})

test_that("a width that is not given is the median distance", {
  expected <- exp(-squared_distance(x, z, median(dist(x))))
  expect_equal(kernel_matrix(kernel_gaussian(), x, z), expected)
  expect_equal(kernel_matrix(kernel_gaussian(ard = TRUE), x, z), expected)
  expect_equal(kernel_matrix(kernel_gaussian(), x[c(7:1, 1), ], z), expected[c(7:1, 1), ])
  expect_equal(kernel_matrix(kernel_gaussian(), c(5, 5, 5), 4), matrix(exp(-1), 3, 1))
})

test_that("each kernel prints as one line", {
  kernels <- list(
    kernel_gaussian(), kernel_gaussian(ard = TRUE), kernel_gaussian(c(1, 2.5)),
    kernel_laplace(1), kernel_cauchy(1), kernel_matern(), kernel_matern(nu = 5/2),
    kernel_spline(), kernel_thinplate(), kernel_linear(), kernel_polynomial(3),
    kernel_sigmoid(), kernel_gaussian(rep(1, 100))
  )
  for (kernel in kernels) expect_length(capture.output(print(kernel)), 1)
  expect_output(print(kernel_gaussian(0.5)), "^Gaussian kernel, width 0.5$")
  expect_output(print(kernel_gaussian(c(1, 2.5))), "^Gaussian kernel, widths 1, 2.5$")
  expect_output(print(kernel_gaussian()), "^Gaussian kernel, width from the data$")
  expect_output(print(kernel_polynomial(3)), "^polynomial kernel, degree 3, scale 1, offset 1$")
})

test_that("c() makes a dictionary", {
  both <- c(kernel_gaussian(1), kernel_linear())
  expect_s3_class(both, "rvm_kernels")
  expect_length(both, 2)
  three <- c(both, kernel_spline())
  expect_s3_class(three, "rvm_kernels")
  expect_identical(vapply(three, `[[`, "", "name"), c("gaussian", "linear", "spline"))
  expect_length(c(kernel_linear(), function(x, z) tcrossprod(x, z)), 2)
  expect_length(capture.output(print(three)), 3)
})

test_that("estimate follows the width unless given", {
  expect_true(kernel_gaussian()$estimate)
  expect_false(kernel_laplace(1)$estimate)
  expect_true(kernel_cauchy(1, estimate = TRUE)$estimate)
})

test_that("bad kernels are named", {
  expect_rvm_error(kernel_gaussian(0), "`width`.*positive.*not 0")
  expect_rvm_error(kernel_gaussian(-1), "`width`.*not -1")
  expect_rvm_error(kernel_laplace(c(1, NA)), "`width`.*NA")
  expect_rvm_error(kernel_cauchy(Inf), "`width`.*Inf")
  expect_rvm_error(kernel_gaussian("wide"), "`width`.*\"wide\"")
  expect_rvm_error(kernel_gaussian(numeric(0)), "`width`")
  expect_rvm_error(kernel_gaussian(1, ard = NA), "`ard`")
  expect_rvm_error(kernel_gaussian(1, estimate = "yes"), "`estimate`")
  expect_rvm_error(kernel_matern(nu = 2), "`nu`.*3/2 or 5/2.*not 2")
  expect_rvm_error(kernel_polynomial(degree = 0), "`degree`")
  expect_rvm_error(kernel_polynomial(2, scale = NA), "`scale`")
  expect_rvm_error(kernel_sigmoid(offset = "a"), "`offset`")
})

test_that("kernel_matrix() looks at what it is given", {
  expect_rvm_error(kernel_matrix("round", x), "`kernel`.*\"round\"")
  expect_rvm_error(kernel_matrix(c(kernel_linear(), kernel_spline()), x), "`kernel`.*single")
  expect_rvm_error(kernel_matrix(kernel_linear(), x, 1:3), "`z`.*3 columns")
  expect_rvm_error(kernel_matrix(kernel_linear(), letters), "`x`.*numeric")
  expect_rvm_error(kernel_matrix(kernel_linear(), c(1, NA)), "`x`.*finite")
  expect_rvm_error(kernel_matrix(kernel_gaussian(1:2), x), "`width`.*3 inputs.*2 numbers")
  expect_rvm_error(kernel_matrix(function(x, z) 1, x), "`kernel`.*7 rows")
  expect_rvm_error(kernel_matrix(function(x, z) tcrossprod(x, z) / 0, x), "`kernel`.*finite")
})
