class_problems <- lapply(1:50, random_class_model)

dense_class_model <- function(problem, pairs = problem$active, precisions = problem$alpha, at = NULL) {
  with(problem, oracle_laplace(Psi[, pairs, drop = FALSE], y, latents, precisions, weights, offset, at))
}
dense_class_statistics <- function(problem, model, pairs = problem$active, precisions = problem$alpha) {
  with(problem, oracle_class_statistics(Psi, y, latents, pairs, precisions, weights, offset, model$fitted))
}
core_class_statistics <- function(problem, pairs = problem$active, precisions = problem$alpha) {
  with(problem, .Call(
    rvm:::C_class_statistics, x, blocks, y, given_weights, given_offset, latents, as.integer(pairs), precisions
  ))
}
core_class_gains <- function(statistics, alpha, prior) {
  setNames(.Call(rvm:::C_gains, statistics$S, statistics$Q, alpha, prior), c("alpha_best", "gain"))
}
# s and q of every pair with the pair itself left out, alpha - S taken from the posterior variance.
class_leave_out <- function(statistics, model, active, alpha) {
  alpha_all <- replace(rep(Inf, length(statistics$S)), active, alpha)
  variance <- replace(alpha_all, active, diag(model$covariance))
  c(list(alpha = alpha_all), oracle_leave_out(statistics$S, statistics$Q, alpha_all, variance))
}
problem_label <- function(quantity, i, problem) {
  paste0(quantity, " of problem ", i, " (", problem$name, ", ", problem$latents, " latent)")
}
flat <- numeric(4)
some_priors <- list(flat, c(0.5, 0.5, 0, 0), c(1e-3, 1e-4, 0, 0))

models <- lapply(class_problems, dense_class_model)
statistics <- Map(dense_class_statistics, class_problems, models)

# ---- the oracle against itself --------------------------------------------------------------------

test_that("residual and curvature are the slopes of the log likelihood", {
  set.seed(1)
  for (latents in c(1, 3, 4)) {
    y <- sample(0:(max(2, latents) - 1), 7, replace = TRUE)
    weights <- rexp(7)
    f <- 2 * rnorm(7 * latents)
    slope <- central_difference(function(f) oracle_class_loglik(f, y, latents, weights), f)
    expect_lt(relative_error(oracle_residual(f, y, latents, weights), slope), 1e-8)
    B <- oracle_curvature(f, latents, weights)
    for (j in seq_along(f)) {
      column <- central_difference(function(f) oracle_residual(f, y, latents, weights)[j], f)
      expect_lt(relative_error(-B[, j], column), 1e-8)
    }
    expect_lt(relative_error(tcrossprod(oracle_curvature_root(f, latents, weights)), B), 1e-14)
  }
})

test_that("the log likelihood does not overflow", {
  expect_equal(oracle_class_loglik(c(-1e4, 1e4), c(1, 0), 1), -2e4)
  expect_equal(oracle_class_loglik(c(1e4, 0, -1e4), 2, 3), -2e4)
})

test_that("Newton's method ends at the mode", {
  for (i in seq_along(class_problems)) {
    problem <- class_problems[[i]]
    expect_lt(models[[i]]$gradient, 1e-9, label = problem_label("gradient", i, problem))
  }
  problem <- class_problems[[4]]
  w <- models[[4]]$mean + 0.1
  value <- function(w) with(problem, oracle_log_posterior(w, design, y, latents, alpha, weights, offset))
  gradient <- with(problem, oracle_log_posterior_gradient(w, design, y, latents, alpha, weights, offset))
  expect_lt(relative_error(gradient, central_difference(value, w)), 1e-6)
})

test_that("covariance, evidence and S are the plain formulas'", {
  for (i in seq_along(class_problems)) {
    problem <- class_problems[[i]]
    model <- models[[i]]
    B <- with(problem, oracle_curvature(offset + as.double(model$fitted), latents, weights))
    seen <- B %*% problem$design
    precision <- diag(problem$alpha, length(problem$alpha)) + crossprod(problem$design, seen)
    expect_lt(relative_error(model$covariance, solve(precision)), 1e-8)
    evidence <- model$loglik - 0.5 * sum(problem$alpha * model$mean^2) + 0.5 * sum(log(problem$alpha)) -
      0.5 * as.double(determinant(precision)$modulus)
    expect_lt(relative_error(model$evidence, evidence), 1e-10)
    S <- diag(crossprod(problem$Psi, B %*% problem$Psi)) -
      rowSums((crossprod(problem$Psi, seen) %*% model$covariance) * crossprod(problem$Psi, seen))
    expect_lt(relative_error(statistics[[i]]$S, S), 1e-8)
  }
})

test_that("the evidence is close to the integral where the posterior is close to normal", {
  set.seed(2)
  y <- rbinom(400, 1, 0.6)
  Phi <- cbind(rnorm(400))
  density <- function(w) vapply(w, function(w) exp(oracle_class_loglik(w * Phi[, 1], y, 1) + 280 - 2 * w^2), 0)
  integral <- log(integrate(density, -2, 2, rel.tol = 1e-10)$value) - 280 + 0.5 * log(4 / (2 * pi))
  expect_lt(abs(oracle_laplace(Phi, y, 1, 4)$evidence - integral), 1e-2)
})

test_that("two classes are a softmax with the first latent function at zero", {
  for (problem in Filter(function(problem) problem$latents == 1, class_problems)[1:5]) {
    one <- dense_class_model(problem)
    columns <- ncol(problem$Phi)
    both <- within(problem, {
      latents <- 2
      Psi <- oracle_pairs(Phi, 2)
      active <- active + columns
      offset <- c(0 * offset, offset)
    })
    two <- dense_class_model(both)
    expect_lt(relative_error(two$mean, one$mean), 1e-8)
    expect_lt(relative_error(two$covariance, one$covariance), 1e-8)
    expect_lt(relative_error(two$evidence, one$evidence), 1e-10)
    pairs <- dense_class_statistics(both, two)
    single <- dense_class_statistics(problem, one)
    expect_lt(relative_error(pairs$S, c(single$S, single$S)), 1e-8)
    expect_lt(relative_error(pairs$Q, c(-single$Q, single$Q)), 1e-8)
  }
})

test_that("a case of weight two counts as two cases, one of weight zero as none", {
  for (i in 1:3) {
    problem <- class_problems[[i]]
    rows <- rep(seq_along(problem$y), times = rep_len(0:2, length(problem$y)))
    problem$weights <- rep_len(0:2, length(problem$y))
    weighted <- dense_class_model(problem)
    pairs <- rep(rows, problem$latents) + rep(length(problem$y) * (seq_len(problem$latents) - 1), each = length(rows))
    there <- problem$design[pairs, , drop = FALSE]
    repeated <- with(problem, oracle_laplace(there, y[rows], latents, alpha, offset = offset[rows]))
    expect_equal(weighted$mean, repeated$mean)
    expect_equal(weighted$evidence, repeated$evidence)
  }
})

test_that("the mode is that of the linear model, whose evidence the moves change by their gains", {
  for (i in seq(1, 50, by = 5)) {
    problem <- class_problems[[i]]
    left <- class_leave_out(statistics[[i]], models[[i]], problem$active, problem$alpha)
    evidence_at <- function(precisions) {
      with(problem, oracle_linear_evidence(Psi, y, latents, precisions, weights, offset, models[[i]]$fitted))
    }
    before <- evidence_at(problem$alpha_all)
    by_formula <- oracle_move_gain(NULL, NULL, problem$alpha_all, left = left)
    for (candidate in c(problem$active, which.max(by_formula$gain), sample(ncol(problem$Psi), 5))) {
      for (to in c(Inf, 0.3, by_formula$alpha_best[candidate])) {
        there <- replace(problem$alpha_all, candidate, to)
        change <- evidence_at(there) - before
        gain <- oracle_move_gain(NULL, NULL, problem$alpha_all, to = there, left = left)$gain[candidate]
        expect_lt(abs(change - gain) / (1 + abs(change)), 1e-7)
      }
    }
  }
})

test_that("the gain of a move by formula is the gain by brute force", {
  for (i in seq_along(class_problems)) {
    problem <- class_problems[[i]]
    left <- class_leave_out(statistics[[i]], models[[i]], problem$active, problem$alpha)
    searched <- oracle_move_gain_search(left, problem$alpha_all)
    by_formula <- oracle_move_gain(NULL, NULL, problem$alpha_all, left = left)
    expect_lt(relative_error(searched$gain, by_formula$gain), 1e-8)
  }
})

test_that("the gain of one alpha for all classes is a change of the linear model's evidence", {
  for (i in c(4, 5)) {
    problem <- class_problems[[i]]
    columns <- ncol(problem$Phi)
    group <- function(column) column + columns * (seq_len(problem$latents) - 1)
    problem$active <- as.integer(outer(c(1, 5, 9), columns * (seq_len(problem$latents) - 1), "+"))
    problem$alpha <- rep(c(0.1, 3, 100), problem$latents)
    model <- dense_class_model(problem)
    statistics <- dense_class_statistics(problem, model)
    gain <- oracle_group_gain(statistics, model, problem$latents, problem$active, problem$alpha)
    now <- replace(rep(Inf, ncol(problem$Psi)), problem$active, problem$alpha)
    for (column in c(1, 2, 5, 9, which.max(gain))) {
      evidence_at <- function(precision) {
        there <- replace(now, group(column), precision)
        with(problem, oracle_linear_evidence(Psi, y, latents, there, weights, offset, model$fitted))
      }
      logs <- seq(-20, 20, by = 0.5)
      start <- logs[which.max(vapply(exp(logs), evidence_at, 0))]
      best <- optimise(function(u) evidence_at(exp(u)), start + c(-1, 1), maximum = TRUE, tol = 1e-8)$objective
      expect_equal(gain[column], max(best, evidence_at(Inf)) - evidence_at(now[column]), tolerance = 1e-7)
    }
  }
})

# ---- the compiled core against the oracle ------------------------------------------------------------

test_that("mode, covariance and evidence agree with the dense formulas", {
  for (i in seq_along(class_problems)) {
    problem <- class_problems[[i]]
    core <- core_class_statistics(problem)
    model <- models[[i]]
    at_core <- dense_class_model(problem, at = core$mean)
    expect_lt(core$gradient, 1e-8, label = problem_label("the core's gradient", i, problem))
    expect_lt(at_core$gradient, 1e-8, label = problem_label("gradient at the mean", i, problem))
    expect_lt(relative_error(core$mean, model$mean), 1e-6, label = problem_label("mean", i, problem))
    expect_lt(relative_error(core$covariance, model$covariance), 1e-6, label = problem_label("covariance", i, problem))
    expect_lt(relative_error(core$evidence, model$evidence), 1e-8, label = problem_label("evidence", i, problem))
  }
})

test_that("S and Q of every pair agree with the dense formulas", {
  for (i in seq_along(class_problems)) {
    problem <- class_problems[[i]]
    core <- core_class_statistics(problem)
    expect_lt(max(abs(core$S / statistics[[i]]$S - 1)), 1e-6, label = problem_label("S", i, problem))
    expect_lt(relative_error(core$Q, statistics[[i]]$Q), 1e-6, label = problem_label("Q", i, problem))
  }
})

test_that("the best move of every pair and its gain agree with a search", {
  for (i in seq_along(class_problems)) {
    problem <- class_problems[[i]]
    core <- core_class_statistics(problem)
    left <- class_leave_out(statistics[[i]], models[[i]], problem$active, problem$alpha)
    for (prior in some_priors) {
      moves <- core_class_gains(core, problem$alpha_all, prior)
      searched <- oracle_move_gain_search(left, problem$alpha_all, prior)
      expect_lt(relative_error(moves$gain, searched$gain), 1e-6, label = problem_label("gain", i, problem))
      # as a share of the prior in the posterior, which is 1 for a pair that goes
      share <- function(alpha) ifelse(is.finite(alpha), alpha / (alpha + left$s), 1)
      away <- abs(share(moves$alpha_best) - share(searched$alpha_best))
      expect_lt(max(away), 1e-5, label = problem_label("best alpha", i, problem))
    }
  }
})

test_that("an empty model has statistics too", {
  for (problem in class_problems[1:3]) {
    core <- core_class_statistics(problem, integer(0), numeric(0))
    model <- dense_class_model(problem, integer(0), numeric(0))
    expected <- dense_class_statistics(problem, model, integer(0), numeric(0))
    expect_lt(relative_error(core$S, expected$S), 1e-8)
    expect_lt(relative_error(core$Q, expected$Q), 1e-8)
    expect_lt(relative_error(core$evidence, model$evidence), 1e-8)
    expect_length(core$mean, 0)
  }
})

test_that("offsets far out neither overflow nor spoil the mode", {
  problem <- Filter(function(problem) !is.null(problem$given_offset), class_problems)[[1]]
  for (size in c(30, 1000)) {
    problem$given_offset <- problem$offset <- size * rep_len(c(-1, 0, 1, 0, 0), length(problem$y))
    core <- core_class_statistics(problem)
    model <- dense_class_model(problem)
    expect_lt(core$gradient, 1e-8)
    expect_lt(relative_error(core$mean, model$mean), 1e-6)
    expect_lt(relative_error(core$evidence, model$evidence), 1e-8)
  }
})

# ---- fits ---------------------------------------------------------------------------------------------

fit_classes <- function(problem, method = "fast", prior = flat, shared = FALSE) {
  control <- rvm:::core_control(rvm_control(method = method, threads = 1, progress = FALSE), length(problem$y))
  control$shared <- shared
  with(problem, .Call(rvm:::C_fit_classes, x, blocks, y, given_weights, given_offset, latents, prior, control))
}
fit_tol <- 0.01

expect_true_report <- function(fit, problem, label) {
  model <- dense_class_model(problem, fit$active, fit$alpha)
  at_mean <- dense_class_model(problem, fit$active, fit$alpha, fit$mean)
  expect_false(is.unsorted(fit$active, strictly = TRUE), label = paste("disorder of the pairs of", label))
  expect_lt(at_mean$gradient, 1e-8, label = paste("gradient of", label))
  expect_lt(relative_error(fit$mean, model$mean), 1e-6, label = paste("mean of", label))
  expect_lt(relative_error(fit$covariance, model$covariance), 1e-6, label = paste("covariance of", label))
  expect_lt(relative_error(tcrossprod(fit$factor), model$covariance), 1e-6, label = paste("factor of", label))
  expect_lt(max(0, abs(fit$gamma - model$gamma)), 1e-6, label = paste("gamma of", label))
  expect_lt(relative_error(fit$evidence, model$evidence), 1e-8, label = paste("evidence of", label))
  expect_lt(relative_error(fit$loglik, model$loglik), 1e-6, label = paste("log likelihood of", label))
  expect_identical(dim(fit$fitted), dim(model$fitted), label = paste("shape of the fitted latents of", label))
  expect_lt(max(abs(fit$fitted - model$fitted)), 1e-6 * (1 + max(abs(model$fitted))),
    label = paste("fitted latents of", label)
  )
}

# The largest gain that a move of one pair has left, by the dense formulas.
gain_left <- function(fit, problem, prior = flat) {
  model <- dense_class_model(problem, fit$active, fit$alpha)
  statistics <- dense_class_statistics(problem, model, fit$active, fit$alpha)
  left <- class_leave_out(statistics, model, fit$active, fit$alpha)
  max(oracle_move_gain_search(left, left$alpha, prior)$gain)
}

fit_problems <- lapply(101:130, random_classes)
fast_fits <- lapply(fit_problems, fit_classes)

test_that("what the fast method reports is what the formulas give at its precisions", {
  for (i in seq_along(fit_problems)) {
    problem <- fit_problems[[i]]
    expect_true_report(fast_fits[[i]], problem, problem_label("fast", i, problem))
  }
})

test_that("what the other two methods report is what the formulas give at their precisions", {
  for (method in c("mackay", "em")) {
    for (i in seq_along(fit_problems)) {
      problem <- fit_problems[[i]]
      if (method == "em" && ncol(problem$Psi) > 120) next # it is slow
      expect_true_report(fit_classes(problem, method), problem, problem_label(method, i, problem))
    }
  }
})

test_that("the fast method ends where no move gains anything", {
  for (i in seq_along(fit_problems)) {
    problem <- fit_problems[[i]]
    fit <- fast_fits[[i]]
    expect_true(fit$converged, label = problem_label("convergence", i, problem))
    expect_lt(gain_left(fit, problem), 2 * fit_tol, label = problem_label("gain left", i, problem))
  }
})

test_that("under a Gamma hyperprior too", {
  prior <- c(0.01, 0.001, 0, 0)
  for (i in 1:10) {
    problem <- fit_problems[[i]]
    fit <- fit_classes(problem, prior = prior)
    expect_true_report(fit, problem, problem_label("fast under a prior", i, problem))
    expect_lt(gain_left(fit, problem, prior), 2 * fit_tol, label = problem_label("gain left", i, problem))
  }
})

test_that("heavy cases and offsets far out do not drive the fast method away from the mode", {
  set.seed(4)
  x <- matrix(rnorm(120), 60)
  blocks <- list(column_block(matrix(1, 60, 1)), kernel_block("gaussian", x))
  Phi <- oracle_dictionary(blocks, x)
  signal <- x[, 1] + x[, 2]
  noisy <- signal + rnorm(60)
  trial <- function(y, latents, weights, offset) {
    list(
      x = x, blocks = blocks, y = as.integer(y), latents = latents, Psi = oracle_pairs(Phi, latents),
      given_weights = weights, weights = all_weights(weights, y),
      given_offset = offset, offset = offset %||% numeric(60)
    )
  }
  trials <- list(
    "weights of 100" = trial(noisy > 0, 1L, rep(100, 60), NULL),
    "weights of 100 and three classes" = trial(findInterval(noisy, c(-0.7, 0.7)), 3L, rep(100, 60), NULL),
    "weights from 0.01 to 100" = trial(noisy > 0, 1L, 10^runif(60, -2, 2), NULL),
    "offsets up to 10" = trial(signal > 0, 1L, NULL, runif(60, -10, 10)),
    "offsets up to 30" = trial(signal > 0, 1L, NULL, runif(60, -30, 30))
  )
  for (name in names(trials)) {
    fit <- fit_classes(trials[[name]])
    at_mean <- dense_class_model(trials[[name]], fit$active, fit$alpha, fit$mean)
    empty <- dense_class_model(trials[[name]], integer(0), numeric(0))
    expect_lt(at_mean$gradient, 1e-8, label = paste("gradient with", name))
    expect_equal(fit$evidence, at_mean$evidence, tolerance = 1e-6, label = paste("evidence with", name))
    expect_gte(fit$evidence, empty$evidence, label = paste("evidence with", name))
  }
})

shared_problems <- Filter(function(problem) problem$latents > 1, fit_problems)[1:10]
shared_fits <- lapply(shared_problems, fit_classes, shared = TRUE)

test_that("shared precisions are one per function, and reported right", {
  for (i in seq_along(shared_problems)) {
    problem <- shared_problems[[i]]
    fit <- shared_fits[[i]]
    expect_true_report(fit, problem, problem_label("shared", i, problem))
    by_class <- matrix(fit$active, ncol = problem$latents)
    expect_equal(by_class, outer(by_class[, 1], ncol(problem$Phi) * (seq_len(problem$latents) - 1), "+"))
    expect_equal(fit$alpha, rep(fit$alpha[seq_len(nrow(by_class))], problem$latents))
  }
})
