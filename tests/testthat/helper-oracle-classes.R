# Classification by the Relevance Vector Machine in plain R: dense, slow and obviously right.
# The compiled core is tested against these functions; they share no code with it.
#
# Notation: y holds class codes 0 .. K - 1. There are `latents` latent functions L: one for two
# classes, P(y = 1) = 1 / (1 + exp(-f)), and otherwise one per class, P(y = k) proportional to
# exp(f_k). A weight belongs to a pair (basis function, class); pair i + (k - 1) M is column i of Phi
# as part of latent function k, that is, a column of Psi = I_L (x) Phi, and Psi w stacks the latent
# values of all cases class by class. alpha holds the precisions of the weights (Inf: the pair is
# out), A = diag(alpha); weights are case weights: a case of weight two is as good as two cases.

oracle_pairs <- function(Phi, latents) kronecker(diag(latents), Phi)

# ---- the likelihood ----------------------------------------------------------------------------------

# 1 for the class a case belongs to, 0 for the others, stacked as the latent values are.
oracle_indicators <- function(y, latents) {
  if (latents == 1) as.double(y) else as.double(outer(y, seq_len(latents) - 1, "=="))
}

# log P(class k) of every case and class, stacked; two classes: log P(y = 1).
oracle_log_probabilities <- function(f, latents) {
  if (latents == 1) return(plogis(f, log.p = TRUE))
  f <- matrix(f, ncol = latents)
  f <- f - apply(f, 1, max)
  as.double(f - log(rowSums(exp(f))))
}
oracle_probabilities <- function(f, latents) exp(oracle_log_probabilities(f, latents))

oracle_class_loglik <- function(f, y, latents, weights = rep(1, length(y))) {
  if (latents == 1) return(sum(weights * plogis(ifelse(y == 1, f, -f), log.p = TRUE)))
  sum(rep(weights, latents) * oracle_indicators(y, latents) * oracle_log_probabilities(f, latents))
}

# Its gradient in the latent values: weights (t - p).
oracle_residual <- function(f, y, latents, weights = rep(1, length(y))) {
  rep(weights, latents) * (oracle_indicators(y, latents) - oracle_probabilities(f, latents))
}

# B = - its Hessian in the latent values: weights p_k (delta_kl - p_l) between classes k and l of one
# case, nothing between cases.
oracle_curvature <- function(f, latents, weights) {
  cases <- length(weights)
  p <- oracle_probabilities(f, latents)
  if (latents == 1) return(diag(weights * p * plogis(-f), cases))
  same_case <- kronecker(matrix(1, latents, latents), diag(cases))
  diag(rep(weights, latents) * p) - rep(weights, latents) * outer(p, p) * same_case
}

# G with G G' = B: in each case sqrt(weight) (diag(sqrt(p)) - p sqrt(p)'), as
# G G' = weight (diag(p) - 2 p p' + p (sum of p) p').
oracle_curvature_root <- function(f, latents, weights) {
  cases <- length(weights)
  p <- oracle_probabilities(f, latents)
  if (latents == 1) return(diag(sqrt(weights * p * plogis(-f)), cases))
  same_case <- kronecker(matrix(1, latents, latents), diag(cases))
  rep(sqrt(weights), latents) * (diag(sqrt(p)) - outer(p, sqrt(p)) * same_case)
}

# ---- posterior and evidence ----------------------------------------------------------------------------

# log p(t | w) - 1/2 w' A w
oracle_log_posterior <- function(w, Psi, y, latents, alpha, weights, offset) {
  oracle_class_loglik(drop(offset + Psi %*% w), y, latents, weights) - 0.5 * sum(alpha * w^2)
}

oracle_log_posterior_gradient <- function(w, Psi, y, latents, alpha, weights, offset) {
  drop(crossprod(Psi, oracle_residual(drop(offset + Psi %*% w), y, latents, weights))) - alpha * w
}

# A + Psi' B Psi = A^1/2 (R' R) A^1/2 with [G' Psi A^-1/2; I] = Q R: `root` root' is its inverse.
oracle_class_factor <- function(f, Psi, latents, alpha, weights) {
  G <- oracle_curvature_root(f, latents, weights)
  stack <- oracle_stack(crossprod(G, Psi), numeric(nrow(Psi)), alpha, 1, 1)
  list(root = stack$inverse / sqrt(alpha), log_determinant = stack$log_determinant)
}

# Newton's method from w = 0: w <- w + step (A + Psi' B Psi)^-1 gradient, the step halved while the
# log posterior falls, until no slope exceeds 1e-10 or what rounding leaves of its terms.
oracle_mode <- function(Psi, y, latents, alpha, weights, offset, maxit = 200) {
  w <- numeric(ncol(Psi))
  value <- function(w) oracle_log_posterior(w, Psi, y, latents, alpha, weights, offset)
  for (iteration in seq_len(maxit)) {
    gradient <- oracle_log_posterior_gradient(w, Psi, y, latents, alpha, weights, offset)
    size <- colSums(abs(Psi) * rep(weights, latents)) + alpha * abs(w)
    if (all(abs(gradient) < pmax(1e-10, 1e-15 * size))) return(w)
    root <- oracle_class_factor(drop(offset + Psi %*% w), Psi, latents, alpha, weights)$root
    direction <- drop(root %*% crossprod(root, gradient))
    step <- 1
    while (step > 1e-15 && value(w + step * direction) < value(w) - 1e-12 * abs(value(w))) step <- step / 2
    if (step <= 1e-15) break
    w <- w + step * direction
  }
  stop("Newton's method did not reach the mode")
}

# The posterior at the mode and the Laplace approximation of the evidence,
# log p(t | mu) - 1/2 mu' A mu + 1/2 sum log alpha - 1/2 log|A + Psi' B Psi|.
# Psi: the active pairs only; fitted: the latent values, one column per function, without the offset.
oracle_laplace <- function(Psi, y, latents, alpha, weights = rep(1, length(y)), offset = 0 * y, mean = NULL) {
  if (is.null(mean)) mean <- oracle_mode(Psi, y, latents, alpha, weights, offset)
  fitted <- drop(Psi %*% mean)
  loglik <- oracle_class_loglik(offset + fitted, y, latents, weights)
  model <- list(mean = mean, fitted = matrix(fitted, ncol = latents), loglik = loglik, evidence = loglik)
  if (!length(alpha)) return(c(model, list(covariance = matrix(0, 0, 0), gamma = numeric(0), gradient = 0)))
  factor <- oracle_class_factor(offset + fitted, Psi, latents, alpha, weights)
  model$evidence <- loglik - 0.5 * sum(alpha * mean^2) - 0.5 * factor$log_determinant
  covariance <- tcrossprod(factor$root)
  c(model, list(
    covariance = covariance, gamma = 1 - alpha * diag(covariance),
    gradient = max(abs(oracle_log_posterior_gradient(mean, Psi, y, latents, alpha, weights, offset)))
  ))
}

# ---- one pair at a time --------------------------------------------------------------------------------

# With B = G G' held at the mode, S = psi' (B - B Psi Sigma Psi' B) psi = |C^-1/2 G' psi|^2 where
# C = I + G' Psi A^-1 Psi' G, and Q = psi' weights (t - p), for every pair. fitted: of the mode.
oracle_class_statistics <- function(Psi, y, latents, active, alpha, weights, offset, fitted) {
  f <- offset + as.double(fitted)
  G <- oracle_curvature_root(f, latents, weights)
  seen <- crossprod(G, Psi)
  covariance <- oracle_target_covariance(seen[, active, drop = FALSE], alpha, 1, rep(1, nrow(Psi)))
  whitened <- backsolve(chol(covariance), seen, transpose = TRUE)
  list(S = colSums(whitened^2), Q = drop(crossprod(Psi, oracle_residual(f, y, latents, weights))), whitened = whitened)
}

# The evidence of the linear model that has the same B and the same mode, as a function of alpha (Inf:
# the pair is out), up to a constant: -1/2 log|I + A^-1/2 Psi' B Psi A^-1/2| + 1/2 h' Sigma h with
# h = Psi' (B f + weights (t - p)), f without the offset. The moves are moves of this function.
oracle_linear_evidence <- function(Psi, y, latents, alpha, weights, offset, fitted) {
  keep <- is.finite(alpha)
  if (!any(keep)) return(0)
  f <- offset + as.double(fitted)
  B <- oracle_curvature(f, latents, weights)
  pseudo <- drop(B %*% as.double(fitted)) + oracle_residual(f, y, latents, weights)
  scaled <- sweep(Psi[, keep, drop = FALSE], 2, sqrt(alpha[keep]), "/")
  root <- chol(diag(sum(keep)) + crossprod(scaled, B %*% scaled))
  0.5 * sum(backsolve(root, crossprod(scaled, pseudo), transpose = TRUE)^2) - sum(log(diag(root)))
}

# The best of a function of log alpha, for each of `count` pairs, by looking: a grid over all that
# could be, then ever finer ones around the best point. value(u) takes a matrix of one row per pair.
oracle_search <- function(value, count, from = -40, to = 60, points = 201) {
  offsets <- seq(-1, 1, length.out = points)
  centre <- rep((from + to) / 2, count)
  reach <- (to - from) / 2
  for (round in 1:6) {
    at <- outer(centre, reach * offsets, "+")
    values <- value(at)
    best <- max.col(values, ties.method = "first")
    centre <- at[cbind(seq_len(count), best)]
    reach <- reach * 3 / points
  }
  list(log_alpha = centre, value = values[cbind(seq_len(count), best)])
}

# The gain of the best move of each pair by brute force: l(alpha) + log prior looked at everywhere,
# and at infinity, where it is 0. left: s and q with the pair itself left out.
oracle_move_gain_search <- function(left, alpha, prior = numeric(4)) {
  value <- function(alpha) {
    oracle_contribution(alpha, left$s, left$q) + oracle_log_prior(alpha, prior[1], prior[2])
  }
  found <- oracle_search(function(u) value(exp(u)), length(left$s))
  stays <- found$value > 0
  list(
    alpha_best = ifelse(stays, exp(found$log_alpha), Inf),
    gain = ifelse(stays, found$value, 0) - value(alpha)
  )
}

# ---- one function in all classes at a time ---------------------------------------------------------------

# All pairs of one function under one alpha, with the function itself left out of the model:
# l(alpha) = 1/2 [ L log alpha - log|alpha I + s| + q' (alpha I + s)^-1 q ], 0 at infinity. For the
# functions that are out s = Psi_i' C^-1 Psi_i and q = Q; for the others Sigma_ii^-1 = alpha I + s and
# Sigma_ii^-1 mu_i = q, by which `model` (of the active pairs) gives them.
oracle_group_gain <- function(statistics, model, latents, active, alpha, prior = numeric(4)) {
  columns <- length(statistics$S) / latents
  gain <- numeric(columns)
  for (i in seq_len(columns)) {
    pairs <- i + columns * (seq_len(latents) - 1)
    at <- match(pairs, active)
    now <- if (anyNA(at)) Inf else alpha[at[1]]
    if (is.finite(now)) {
      precision <- chol2inv(chol(model$covariance[at, at]))
      parts <- eigen(precision - diag(now, latents), symmetric = TRUE)
      q <- drop(precision %*% model$mean[at])
    } else {
      parts <- eigen(crossprod(statistics$whitened[, pairs]), symmetric = TRUE)
      q <- statistics$Q[pairs]
    }
    s <- pmax(parts$values, 0)
    q2 <- drop(crossprod(parts$vectors, q))^2
    value <- function(alpha) {
      total <- oracle_log_prior(alpha, prior[1], prior[2])
      for (k in seq_len(latents)) total <- total + oracle_contribution(alpha, s[k], sqrt(q2[k]))
      total
    }
    best <- oracle_search(function(u) value(exp(u)), 1)$value
    gain[i] <- max(best, 0) - value(now)
  }
  gain
}

# ---- problems to try all this on ---------------------------------------------------------------------------

# Two, three and four classes in turn, every kernel, every other pair of problems with case weights,
# every other problem of two classes with an offset. Labels are drawn from smooth latent functions.
random_classes <- function(seed) {
  data <- random_data(seed)
  x <- data$x
  rows <- nrow(x)
  classes <- 2 + seed %% 3
  latents <- if (classes == 2) 1 else classes
  offset <- if (latents == 1 && seed %% 2) rnorm(rows)
  scores <- vapply(seq_len(classes), function(k) {
    2 * sin(x[, 1] + 2 * pi * k / classes) + 0.5 * (k - 2) * rowSums(x)
  }, numeric(rows))
  if (!is.null(offset)) scores[, 2] <- scores[, 2] + offset
  y <- max.col(scores - log(rexp(rows * classes))) - 1L
  y[seq_len(classes)] <- seq_len(classes) - 1L
  given <- if (seed %/% 2 %% 2) rexp(rows) + 0.1
  blocks <- list(
    column_block(matrix(1, rows, 1)),
    if (seed %% 5 == 0) column_block(cbind(x, x[, 1]^2)),
    kernel_block(data$name, x, data$width, data$parameters),
    if (seed %% 4 == 0) kernel_block("gaussian", x[1:10, , drop = FALSE], 1)
  )
  blocks <- Filter(Negate(is.null), blocks)
  Phi <- oracle_dictionary(blocks, x)
  c(data[c("name", "x", "width", "parameters")], list(
    y = y, latents = as.integer(latents), blocks = blocks, Phi = Phi, Psi = oracle_pairs(Phi, latents),
    given_weights = given, weights = all_weights(given, y),
    given_offset = offset, offset = offset %||% numeric(rows)
  ))
}

# The same with a random model in it. The precisions are drawn around psi' B psi at f = 0, so that the
# model is neither empty nor free of its prior.
random_class_model <- function(seed) {
  problem <- random_classes(seed)
  active <- sort(sample(ncol(problem$Psi), sample(1:12, 1)))
  design <- problem$Psi[, active, drop = FALSE]
  size <- colSums(rep(problem$weights, problem$latents) * design^2) / 4
  alpha <- size * 10^runif(length(active), -4, 1)
  c(problem, list(
    active = active, alpha = alpha, design = design,
    alpha_all = replace(rep(Inf, ncol(problem$Psi)), active, alpha)
  ))
}
