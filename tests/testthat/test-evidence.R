# Kernel columns that are dependent to rounding are normal: no error, nothing that is not finite,
# and the reported evidence is the true one, recomputed by QR, to 1e-6 relative.

expect_finite <- function(values, label) expect_true(all(is.finite(unlist(values))), label = paste("finite", label))

# A fit by the compiled core, checked against the oracle at the precisions it reports.
check_core_fit <- function(x, blocks, t, label, method = 0L, weights = NULL) {
  control <- list(
    method = method, tol = 1e-6, maxit = 1000L, threads = 1L, memory = 1e9, progress = FALSE
  )
  fit <- .Call(rvm:::C_fit, x, blocks, t, weights, numeric(4), NA_real_, control)
  design <- oracle_dictionary(blocks, x)[, fit$active, drop = FALSE]
  evidence <- oracle_evidence(design, t, fit$alpha, fit$sigma, all_weights(weights, t))
  parts <- fit[c("mean", "alpha", "covariance", "gamma", "sigma", "evidence", "fitted")]
  expect_finite(parts, label)
  expect_gt(fit$sigma, 0, label = paste("sigma,", label))
  expect_lt(relative_error(fit$evidence, evidence), 1e-6, label = paste("evidence,", label))
  expect_lt(relative_error(fit$fitted, drop(design %*% fit$mean)), 1e-6, label = paste("fitted,", label))
  invisible(fit)
}

with_constant <- function(x, ...) list(column_block(matrix(1, nrow(x), 1)), ...)

# From 1/100 of the smallest to 1000 times the largest distance.
width_range <- function(x) {
  distances <- dist(x)
  distances <- distances[distances > 0]
  exp(seq(log(min(distances) / 100), log(1000 * max(distances)), length.out = 9))
}

noisy_data <- function(seed, rows, inputs) {
  set.seed(seed)
  x <- matrix(runif(rows * inputs, -3, 3), rows)
  list(x = x, t = sin(2 * x[, 1]) + rnorm(rows, 0, 0.1))
}

test_that("any width will do", {
  for (inputs in 1:2) {
    data <- noisy_data(inputs, 50, inputs)
    for (name in oracle_radial_kernels) {
      for (width in width_range(data$x)) {
        blocks <- with_constant(data$x, kernel_block(name, data$x, width))
        for (method in 0:2) {
          label <- sprintf("%s of width %.3g, %d inputs, method %d", name, width, inputs, method)
          check_core_fit(data$x, blocks, data$t, label, method)
        }
      }
    }
  }
})

test_that("repeated rows are no trouble", {
  data <- noisy_data(3, 20, 1)
  x <- data$x[rep(1:20, each = 2), , drop = FALSE]
  t <- rep(data$t, each = 2) + rnorm(40, 0, 0.05)
  for (width in width_range(x)) {
    blocks <- with_constant(x, kernel_block("gaussian", x, width))
    for (method in 0:2) {
      check_core_fit(x, blocks, t, sprintf("repeated rows, width %.3g, method %d", width, method), method)
    }
  }
})

test_that("the same kernel twice is no trouble", {
  data <- noisy_data(4, 40, 1)
  for (name in oracle_radial_kernels) {
    for (width in width_range(data$x)) {
      block <- kernel_block(name, data$x, width)
      blocks <- with_constant(data$x, block, block)
      for (method in 0:2) {
        check_core_fit(data$x, blocks, data$t, sprintf("%s twice, width %.3g, method %d", name, width, method), method)
      }
    }
  }
})

test_that("condition numbers of 1e16 are no trouble", {
  for (seed in 1:20) {
    set.seed(seed)
    rows <- sample(10:50, 1)
    size <- sample(5:rows, 1)
    left <- qr.Q(qr(matrix(rnorm(rows * size), rows)))
    right <- qr.Q(qr(matrix(rnorm(size^2), size)))
    columns <- left %*% (10^seq(0, -16, length.out = size) * t(right))
    t <- drop(columns %*% rnorm(size)) + rnorm(rows, 0, 10^runif(1, -6, 0))
    x <- matrix(0, rows, 0)
    weights <- if (seed %% 2) rexp(rows) + 0.1
    for (method in 0:2) {
      label <- sprintf("condition 1e16, seed %d, method %d", seed, method)
      check_core_fit(x, list(column_block(columns)), t, label, method, weights)
    }
  }
})

test_that("almost no noise is no trouble", {
  for (rows in c(10, 30, 50)) {
    x <- matrix(seq(-3, 3, length.out = rows))
    for (width in c(0.1, 1, 10, 100)) {
      blocks <- with_constant(x, kernel_block("gaussian", x, width))
      for (method in 0:2) {
        label <- sprintf("no noise, %d rows, width %g, method %d", rows, width, method)
        check_core_fit(x, blocks, sin(x[, 1]), label, method)
      }
    }
  }
})

test_that("the interface gives the same, and finite predictions", {
  data <- noisy_data(5, 40, 1)
  x <- data$x[c(1:40, 1:10), , drop = FALSE]
  t <- data$t[c(1:40, 1:10)]
  for (width in width_range(x)) {
    kernel <- kernel_gaussian(width)
    fit <- rvm(x, t, kernel = kernel, scale = FALSE)
    design <- oracle_design(fit, x, "gaussian", width)
    truth <- oracle_evidence(design, t, fit$alpha, sigma(fit))
    label <- sprintf("width %.3g", width)
    expect_lt(relative_error(evidence(fit), truth), 1e-6, label = label)
    twice <- rvm(x, t, kernel = c(kernel, kernel), scale = FALSE)
    for (fit in list(fit, twice)) {
      expect_finite(predict(fit, x, interval = "prediction"), label)
      expect_finite(list(coef(fit), vcov(fit), fit$alpha, sigma(fit), evidence(fit)), label)
    }
  }
})
