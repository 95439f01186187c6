problems <- lapply(1:50, random_problem)

dense_statistics <- function(problem) {
  with(problem, oracle_statistics(Phi, t, active, alpha, sigma, weights))
}
dense_posterior <- function(problem) {
  with(problem, oracle_posterior(design, t, alpha, sigma, weights))
}
core_statistics <- function(problem, which = problem$active, precisions = problem$alpha) {
  with(problem, .Call(rvm:::C_statistics, x, blocks, t, given_weights, as.integer(which), precisions, sigma))
}
core_gains <- function(statistics, alpha, prior) {
  setNames(.Call(rvm:::C_gains, statistics$S, statistics$Q, alpha, prior), c("alpha_best", "gain"))
}
flat_prior <- numeric(4)
gamma_priors <- list(c(0.5, 0.5, 0, 0), c(1e-3, 1e-4, 0, 0), c(2, 0.1, 1, 1))

# ---- the oracle against itself ------------------------------------------------------------------

test_that("three ways to the evidence agree", {
  for (problem in problems) {
    arguments <- problem[c("design", "t", "alpha", "sigma", "weights")]
    by_qr <- do.call(oracle_evidence, unname(arguments))
    expect_lt(relative_error(do.call(oracle_evidence_dense, unname(arguments)), by_qr), 1e-8)
    expect_lt(relative_error(do.call(oracle_evidence_singular, unname(arguments)), by_qr), 1e-10)
  }
})

test_that("the posterior solves the normal equations", {
  for (problem in problems) {
    posterior <- dense_posterior(problem)
    weighted <- problem$weights * problem$design / problem$sigma^2
    precision <- diag(problem$alpha, length(problem$alpha)) + crossprod(problem$design, weighted)
    covariance <- chol2inv(chol(precision))
    expect_lt(relative_error(posterior$covariance, covariance), 1e-8)
    expect_lt(relative_error(posterior$mean, drop(covariance %*% crossprod(weighted, problem$t))), 1e-8)
    expect_lt(relative_error(posterior$gamma, 1 - problem$alpha * diag(covariance)), 1e-8)
  }
})

test_that("a case of weight two counts as two cases, one of weight zero as none", {
  problem <- problems[[10]]
  copies <- rep_len(0:2, length(problem$t))
  rows <- rep(seq_along(copies), times = copies)
  repeated <- with(problem, oracle_posterior(design[rows, , drop = FALSE], t[rows], alpha, sigma))
  weighted <- with(problem, oracle_posterior(design, t, alpha, sigma, copies))
  expect_equal(weighted$mean, repeated$mean)
  expect_equal(weighted$covariance, repeated$covariance)
  said <- copies > 0
  expect_equal(
    with(problem, oracle_evidence(design, t, alpha, sigma, copies)),
    with(problem, oracle_evidence_dense(design[said, , drop = FALSE], t[said], alpha, sigma, copies[said]))
  )
})

test_that("the gain of a move by formula is the gain by brute force", {
  for (problem in problems[seq(1, 50, by = 4)]) {
    statistics <- dense_statistics(problem)
    for (prior in c(list(flat_prior), gamma_priors[1:2])) {
      move <- oracle_move_gain(statistics$S, statistics$Q, problem$alpha_all, prior)
      candidates <- unique(c(head(problem$active, 2), which.max(move$gain), which.min(move$gain)))
      brute <- vapply(candidates, function(candidate) {
        with(problem, oracle_move_gain_brute(Phi, t, alpha_all, sigma, weights, candidate, prior))
      }, 0)
      expect_lt(max(abs(move$gain[candidates] - brute) / (1 + abs(brute))), 1e-7)
    }
  }
})

test_that("the gradients are those of the evidence", {
  for (problem in problems[seq(1, 50, by = 3)]) {
    log_alpha <- log(problem$alpha)
    log_beta <- -2 * log(problem$sigma)
    for (prior in list(flat_prior, c(2, 2 / max(problem$alpha), 1, 1))) {
      gradient <- with(problem, oracle_gradient(design, t, alpha, sigma, weights, prior))
      objective <- function(log_alpha, log_beta) {
        with(problem, oracle_objective(design, t, exp(log_alpha), exp(-log_beta / 2), weights, prior))
      }
      by_alpha <- central_difference(function(at) objective(at, log_beta), log_alpha)
      by_beta <- central_difference(function(at) objective(log_alpha, at), log_beta)
      expect_lt(relative_error(gradient$log_alpha, by_alpha), 1e-5)
      expect_lt(relative_error(gradient$log_beta, by_beta), 1e-5)
    }
  }
})

test_that("the gradient for the widths is that of the evidence", {
  set.seed(1)
  x <- matrix(runif(60, -2, 2), 30)
  t <- sin(x[, 1]) + rnorm(30, 0, 0.1)
  weights <- rexp(30) + 0.1
  centers <- x[1:5, ]
  alpha <- c(1, 2, 0.5, 1, 3)
  at <- log(c(1.5, 0.8))
  for (name in oracle_radial_kernels) {
    design <- function(log_width) oracle_kernel(name, x, centers, exp(log_width))
    evidence <- function(log_width) oracle_evidence(design(log_width), t, alpha, 0.2, weights)
    G <- oracle_gradient(design(at), t, alpha, 0.2, weights)$Phi
    slope <- oracle_width_gradient(name, x, centers, exp(at), G)
    expect_lt(relative_error(slope, central_difference(evidence, at)), 1e-6)
  }
})

test_that("the plain drivers end at maxima of the evidence", {
  set.seed(2)
  x <- matrix(seq(-10, 10, length.out = 40))
  t <- sinc(x[, 1]) + rnorm(40, 0, 0.1)
  Phi <- cbind(1, oracle_kernel("gaussian", x, x, 3))
  slopes <- function(fit, prior) {
    oracle_gradient(Phi[, fit$active, drop = FALSE], t, fit$alpha, fit$sigma, prior = prior)
  }
  for (prior in list(flat_prior, c(1e-3, 1e-3, 0, 0))) {
    for (driver in list(oracle_mackay, oracle_sequential)) {
      gradient <- slopes(driver(Phi, t, prior = prior), prior)
      expect_lt(max(abs(gradient$log_alpha)), 1e-4)
      expect_lt(abs(gradient$log_beta), 1e-3)
    }
  }
  gradient <- slopes(oracle_em(Phi, t, maxit = 3000), flat_prior)
  expect_lt(max(abs(gradient$log_alpha)), 1e-2)
})

test_that("the plain drivers reproduce the published sinc fit", {
  x <- matrix(seq(-10, 10, length.out = 100))
  Phi <- cbind(1, oracle_kernel("spline", x))
  fit <- oracle_mackay(Phi, sinc(x[, 1]), noise = 0.01)
  expect_lte(length(setdiff(fit$active, 1)), 10)
  expect_lte(max(abs(fit$fitted - sinc(x[, 1]))), 0.010)
})

# ---- the compiled core against the oracle ---------------------------------------------------------

test_that("kernel values are the formulas'", {
  set.seed(3)
  parameters <- list(polynomial = c(3, 0.5, 1), sigmoid = c(0.3, -0.2))
  for (inputs in 1:4) {
    x <- matrix(runif(37 * inputs, -3, 3), 37)
    z <- rbind(matrix(runif(20 * inputs, -3, 3), 20), x[1:5, , drop = FALSE])
    width <- runif(inputs, 0.5, 3)
    for (name in names(oracle_kernel_types)) {
      block <- kernel_block(name, z, width, parameters[[name]] %||% numeric(0))
      values <- oracle_kernel(name, x, z, width, block$parameters)
      for (threads in 1:2) {
        expect_lt(relative_error(.Call(rvm:::C_kernel_matrix, block, x, threads), values), 1e-12)
      }
    }
  }
})

test_that("kernel slopes are the formulas'", {
  set.seed(4)
  for (inputs in 1:4) {
    x <- matrix(runif(37 * inputs, -3, 3), 37)
    centers <- x[seq(1, 37, by = 3), , drop = FALSE]
    width <- runif(inputs, 0.5, 3)
    G <- matrix(rnorm(nrow(x) * nrow(centers)), nrow(x))
    for (name in oracle_radial_kernels) {
      slopes <- .Call(rvm:::C_kernel_gradient, kernel_block(name, centers, width), x, G)
      expect_lt(relative_error(slopes, oracle_width_gradient(name, x, centers, width, G)), 1e-10)
    }
  }
})

test_that("evidence, mean, covariance, S and Q agree with the dense formulas", {
  for (problem in problems) {
    core <- core_statistics(problem)
    statistics <- dense_statistics(problem)
    posterior <- dense_posterior(problem)
    evidence <- with(problem, oracle_evidence_dense(design, t, alpha, sigma, weights))
    expect_lt(relative_error(core$evidence, evidence), 1e-8)
    expect_lt(relative_error(core$mean, posterior$mean), 1e-8)
    expect_lt(relative_error(core$covariance, posterior$covariance), 1e-8)
    expect_lt(max(abs(core$S / statistics$S - 1)), 1e-8)
    expect_lt(relative_error(core$Q, statistics$Q), 1e-8)
  }
})

test_that("an empty model has statistics too", {
  problem <- problems[[1]]
  core <- core_statistics(problem, integer(0), numeric(0))
  statistics <- with(problem, oracle_statistics(Phi, t, integer(0), numeric(0), sigma, weights))
  nothing <- problem$Phi[, 0]
  expect_lt(relative_error(core$S, statistics$S), 1e-8)
  expect_lt(relative_error(core$Q, statistics$Q), 1e-8)
  expect_equal(core$evidence, with(problem, oracle_evidence(nothing, t, numeric(0), sigma, weights)), tolerance = 1e-8)
  expect_length(core$mean, 0)
})

test_that("the gain of every add, re-estimate and delete agrees with the formulas", {
  for (problem in problems) {
    core <- core_statistics(problem)
    statistics <- dense_statistics(problem)
    moves <- core_gains(core, problem$alpha_all, flat_prior)
    expected <- oracle_move_gain(statistics$S, statistics$Q, problem$alpha_all)
    expect_identical(is.finite(moves$alpha_best), is.finite(expected$alpha_best))
    expect_lt(relative_error(moves$gain, expected$gain), 1e-8)
  }
})

test_that("every move changes the core's evidence by its gain", {
  for (problem in problems) {
    core <- core_statistics(problem)
    gained <- function(active, alpha) core_statistics(problem, active, alpha)$evidence - core$evidence
    moves <- core_gains(core, problem$alpha_all, flat_prior)
    statistics <- dense_statistics(problem)
    away <- rep(Inf, length(statistics$S))
    deletion <- oracle_move_gain(statistics$S, statistics$Q, problem$alpha_all, to = away)
    for (i in seq_along(problem$active)) {
      candidate <- problem$active[i]
      change <- gained(problem$active[-i], problem$alpha[-i])
      expect_lt(abs(change - deletion$gain[candidate]) / (abs(core$evidence) + abs(change)), 1e-8)
    }
    for (candidate in seq_along(away)) {
      alpha <- replace(problem$alpha_all, candidate, moves$alpha_best[candidate])
      active <- which(is.finite(alpha))
      change <- gained(active, alpha[active])
      expect_lt(abs(change - moves$gain[candidate]) / (abs(core$evidence) + abs(change)), 1e-8)
    }
  }
})

test_that("the gains under a Gamma hyperprior agree with the formulas", {
  for (problem in problems) {
    core <- core_statistics(problem)
    statistics <- dense_statistics(problem)
    for (prior in gamma_priors) {
      moves <- core_gains(core, problem$alpha_all, prior)
      expected <- oracle_move_gain(statistics$S, statistics$Q, problem$alpha_all, prior)
      expect_lt(relative_error(moves$gain, expected$gain), 1e-8)
      staying <- is.finite(moves$alpha_best) & is.finite(expected$alpha_best)
      expect_lt(max(0, abs(log(moves$alpha_best / expected$alpha_best)[staying])), 1e-5)
    }
  }
})

test_that("predictions and their variances agree with the dense formulas", {
  for (problem in problems) {
    posterior <- dense_posterior(problem)
    blocks <- oracle_subset_blocks(problem$blocks, problem$active)
    factor <- upper_factor(posterior$covariance)
    core <- .Call(rvm:::C_predict, problem$x, blocks, posterior$mean, factor, 1L)
    variance <- with(problem, rowSums((design %*% posterior$covariance) * design))
    expect_lt(relative_error(core$fit, posterior$fitted), 1e-8)
    expect_lt(relative_error(core$variance, variance), 1e-8)
    expect_null(.Call(rvm:::C_predict, problem$x, blocks, posterior$mean, NULL, 1L)$variance)
  }
})

# ---- fits -----------------------------------------------------------------------------------------

fit_data <- function(data, method = "fast", ...) {
  kernel <- with(data, package_kernel(name, width, parameters))
  rvm(data$x, data$t,
    kernel = kernel, scale = FALSE, weights = data$given_weights,
    control = rvm_control(method = method), ...
  )
}
fit_design <- function(fit, data) with(data, oracle_design(fit, x, name, width, parameters))
fit_slopes <- function(fit, data, prior = flat_prior) {
  oracle_gradient(fit_design(fit, data), data$t, fit$alpha, sigma(fit), data$weights, prior)
}

datasets <- lapply(1:50, random_data)
methods <- c("fast", "mackay", "em")
fits <- lapply(setNames(methods, methods), function(method) lapply(datasets, fit_data, method = method))

test_that("what a fit reports is what the formulas give at its precisions", {
  for (method in methods) {
    for (i in seq_along(datasets)) {
      data <- datasets[[i]]
      fit <- fits[[method]][[i]]
      design <- fit_design(fit, data)
      posterior <- oracle_posterior(design, data$t, fit$alpha, sigma(fit), data$weights)
      truth <- oracle_evidence(design, data$t, fit$alpha, sigma(fit), data$weights)
      label <- paste(method, "on problem", i, data$name)
      expect_lt(relative_error(evidence(fit), truth), 1e-8, label = paste("evidence of", label))
      expect_lt(relative_error(unname(coef(fit)), posterior$mean), 1e-6, label = paste("mean of", label))
      expect_lt(relative_error(unname(vcov(fit)), posterior$covariance), 1e-6, label = paste("covariance of", label))
      expect_lt(relative_error(unname(fitted(fit)), posterior$fitted), 1e-8, label = paste("fitted of", label))
    }
  }
})

test_that("the three methods end at stationary points", {
  for (method in methods) {
    for (i in seq_along(datasets)) {
      fit <- fits[[method]][[i]]
      slopes <- fit_slopes(fit, datasets[[i]])
      label <- paste(method, "on problem", i, datasets[[i]]$name)
      expect_true(fit$converged, label = paste("convergence of", label))
      expect_lt(max(0, abs(slopes$log_alpha)), 1e-4, label = paste("slope in log alpha of", label))
      # the noise is not taken below 1e-5 of the spread of y, where a slope may remain
      if (sigma(fit) > 1.1e-5 * sd(datasets[[i]]$t)) {
        expect_lt(abs(slopes$log_beta), 1e-3, label = paste("slope in log beta of", label))
      }
    }
  }
})

test_that("the fast method ends no lower than the other two", {
  reached <- vapply(fits, function(list) vapply(list, evidence, 0), numeric(50))
  rows <- vapply(datasets, function(data) length(data$t), 0L)
  shortfall <- (pmax(reached[, "mackay"], reached[, "em"]) - reached[, "fast"]) / rows
  expect_gte(sum(shortfall <= 0.001), 48)
})

test_that("the fast method ends no lower than the plain drivers", {
  shortfall <- vapply(seq_along(datasets), function(i) {
    data <- datasets[[i]]
    Phi <- cbind(1, with(data, oracle_kernel(name, x, x, width, parameters)))
    plain <- list(
      oracle_mackay(Phi, data$t, data$weights, maxit = 200),
      oracle_sequential(Phi, data$t, data$weights, maxit = 500)
    )
    (max(vapply(plain, `[[`, 0, "evidence")) - evidence(fits$fast[[i]])) / length(data$t)
  }, 0)
  expect_gte(sum(shortfall <= 0.001), 48)
})

test_that("the fast method ends where no move gains anything", {
  for (i in seq_along(datasets)) {
    data <- datasets[[i]]
    fit <- fits$fast[[i]]
    design <- fit_design(fit, data)
    candidates <- cbind(1, with(data, oracle_kernel(name, x, unique(x), width, parameters)))
    Phi <- cbind(design, candidates)
    active <- seq_along(fit$alpha)
    posterior <- oracle_posterior(design, data$t, fit$alpha, sigma(fit), data$weights)
    statistics <- oracle_statistics(Phi, data$t, active, fit$alpha, sigma(fit), data$weights)
    alpha <- c(fit$alpha, rep(Inf, ncol(candidates)))
    left <- oracle_leave_out(statistics$S, statistics$Q, alpha, replace(alpha, active, diag(posterior$covariance)))
    gains <- oracle_move_gain(statistics$S, statistics$Q, alpha, left = left)$gain
    expect_lt(max(gains), 0.01, label = paste("gain left on problem", i, data$name))
  }
})

test_that("a fixed noise stays as it is", {
  for (data in datasets[1:10]) {
    for (method in methods) {
      fit <- fit_data(data, method, noise = 0.3)
      expect_equal(sigma(fit), 0.3)
      expect_lt(max(0, abs(fit_slopes(fit, data)$log_alpha)), 1e-4)
    }
  }
})

test_that("Gamma hyperpriors move the stationary point as they should", {
  for (data in datasets[1:10]) {
    for (method in methods) {
      fit <- fit_data(data, method, prior = prior_gamma(0.01, 0.001))
      slopes <- fit_slopes(fit, data, c(0.01, 0.001, 0, 0))
      expect_lt(max(0, abs(slopes$log_alpha)), 1e-4)
      fit <- fit_data(data, method, prior = prior_student(0.1))
      slopes <- fit_slopes(fit, data, c(0.05, 0.05, 0, 0))
      expect_lt(max(0, abs(slopes$log_alpha)), 1e-4)
    }
  }
})

test_that("a case of weight two is as good as two cases", {
  data <- datasets[[2]]
  copies <- rep_len(1:2, length(data$t))
  rows <- rep(seq_along(copies), copies)
  kernel <- with(data, package_kernel(name, width, parameters))
  weighted <- rvm(data$x, data$t, kernel = kernel, scale = FALSE, weights = copies, noise = 0.2)
  repeated <- rvm(data$x[rows, , drop = FALSE], data$t[rows], kernel = kernel, scale = FALSE, noise = 0.2)
  expect_equal(predict(weighted, data$x), predict(repeated, data$x), tolerance = 1e-4)
})
