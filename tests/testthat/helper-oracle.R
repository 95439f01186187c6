# The Relevance Vector Machine for regression in plain R: dense, slow and obviously right.
# The compiled core is tested against these functions; they share no code with it.
#
# Notation: Phi holds the basis functions in its columns, t the targets, alpha the precisions of
# the weights (Inf: the function is out of the model), sigma the noise standard deviation, weights
# the case weights, var(t_n) = sigma^2 / weights_n. A = diag(alpha), W = diag(weights),
# beta = 1 / sigma^2, and prior = c(shape, rate, shape, rate): Gamma hyperpriors on alpha and beta.

# ---- kernels ----------------------------------------------------------------------------------

oracle_kernel_types <- c(
  gaussian = 1L, laplace = 2L, cauchy = 3L, matern32 = 4L, matern52 = 5L, spline = 6L,
  thinplate = 7L, polynomial = 8L, linear = 9L, sigmoid = 10L
)
oracle_radial_kernels <- names(oracle_kernel_types)[1:5]

# The squared scaled differences in input k, for all pairs of rows of x and z.
oracle_squares <- function(x, z, width, k) (outer(x[, k], z[, k], "-") / width[k])^2

# r^2 = sum_k ((x_k - z_k) / width_k)^2
oracle_distance2 <- function(x, z, width = 1) {
  width <- rep_len(width, ncol(x))
  Reduce(`+`, lapply(seq_len(ncol(x)), function(k) oracle_squares(x, z, width, k)))
}

# The linear spline of one input: 1 + xz + xz min(x,z) - (x+z)/2 min(x,z)^2 + min(x,z)^3 / 3
oracle_spline <- function(x, z) {
  1 + x * z + x * z * pmin(x, z) - (x + z) / 2 * pmin(x, z)^2 + pmin(x, z)^3 / 3
}

oracle_kernel <- function(name, x, z = x, width = 1, parameters = numeric(0)) {
  r2 <- oracle_distance2(x, z, if (name %in% oracle_radial_kernels) width else 1)
  r <- sqrt(r2)
  inner <- tcrossprod(x, z)
  switch(name,
    gaussian = exp(-r2),
    laplace = exp(-r),
    cauchy = 1 / (1 + r2),
    matern32 = (1 + sqrt(3) * r) * exp(-sqrt(3) * r),
    matern52 = (1 + sqrt(5) * r + 5 * r2 / 3) * exp(-sqrt(5) * r),
    spline = Reduce(`*`, lapply(seq_len(ncol(x)), function(k) outer(x[, k], z[, k], oracle_spline))),
    thinplate = ifelse(r2 > 0, r2 * log(r), 0),
    polynomial = (parameters[2] * inner + parameters[3])^parameters[1],
    linear = inner,
    sigmoid = tanh(parameters[1] * inner + parameters[2])
  )
}

# dK/dlog(width_k) = dK/dr^2 * (-2 ((x_k - z_k) / width_k)^2), one matrix per input.
oracle_kernel_slopes <- function(name, x, z, width) {
  width <- rep_len(width, ncol(x))
  r2 <- oracle_distance2(x, z, width)
  r <- sqrt(r2)
  slope <- switch(name,
    gaussian = -exp(-r2),
    laplace = ifelse(r > 0, -exp(-r) / (2 * r), 0),
    cauchy = -1 / (1 + r2)^2,
    matern32 = -3 / 2 * exp(-sqrt(3) * r),
    matern52 = -5 / 6 * (1 + sqrt(5) * r) * exp(-sqrt(5) * r)
  )
  lapply(seq_len(ncol(x)), function(k) -2 * slope * oracle_squares(x, z, width, k))
}

# The upper triangular factor with factor factor' = matrix: Cholesky's, taken from the last row up.
upper_factor <- function(matrix) {
  last_first <- rev(seq_len(nrow(matrix)))
  t(chol(matrix[last_first, last_first, drop = FALSE]))[last_first, last_first, drop = FALSE]
}

# ---- dictionaries, as the compiled core takes them -----------------------------------------------

column_block <- function(columns) {
  list(type = 0L, columns = columns, centers = NULL, width = numeric(0), parameters = numeric(0))
}

kernel_block <- function(name, centers, width = 1, parameters = numeric(0)) {
  radial <- name %in% oracle_radial_kernels
  list(
    type = oracle_kernel_types[[name]], columns = NULL, centers = centers,
    width = if (radial) rep_len(as.double(width), ncol(centers)) else numeric(0),
    parameters = as.double(parameters)
  )
}

oracle_dictionary <- function(blocks, x) {
  do.call(cbind, lapply(blocks, function(block) {
    if (block$type == 0L) return(block$columns)
    name <- names(oracle_kernel_types)[block$type]
    oracle_kernel(name, x, block$centers, block$width, block$parameters)
  }))
}

# The same dictionary with only some of its columns, its explicit columns at the rows of x kept.
oracle_subset_blocks <- function(blocks, active) {
  sizes <- vapply(blocks, function(block) NCOL(block$columns %||% t(block$centers)), 0L)
  last <- cumsum(sizes)
  Filter(Negate(is.null), lapply(seq_along(blocks), function(b) {
    chosen <- active[active > last[b] - sizes[b] & active <= last[b]] - (last[b] - sizes[b])
    block <- blocks[[b]]
    if (!length(chosen)) return(NULL)
    if (block$type == 0L) block$columns <- block$columns[, chosen, drop = FALSE]
    else block$centers <- block$centers[chosen, , drop = FALSE]
    block
  }))
}

`%||%` <- function(x, y) if (is.null(x)) y else x

# ---- posterior and evidence ------------------------------------------------------------------------

# Least squares of [sqrt(beta W) Phi A^-1/2; I] on [sqrt(beta W) t; 0]: its R factor is that of
# I + beta A^-1/2 Phi' W Phi A^-1/2, without squaring the condition number.
oracle_stack <- function(Phi, t, alpha, sigma, weights) {
  size <- ncol(Phi)
  scale <- sqrt(weights) / sigma
  factor <- qr(rbind(scale * sweep(Phi, 2, sqrt(alpha), "/"), diag(size)), LAPACK = TRUE)
  rotated <- qr.qty(factor, c(scale * t, numeric(size)))
  inverse <- diag(size)
  inverse[factor$pivot, ] <- backsolve(qr.R(factor), diag(size))
  list(
    inverse = inverse, rotated = rotated[seq_len(size)],
    log_determinant = 2 * sum(log(abs(diag(qr.R(factor))))),
    misfit = sum(rotated[-seq_len(size)]^2)
  )
}

# Sigma = (A + beta Phi' W Phi)^-1, mu = beta Sigma Phi' W t, gamma_i = 1 - alpha_i Sigma_ii
oracle_posterior <- function(Phi, t, alpha, sigma, weights = rep(1, length(t))) {
  if (!length(alpha)) {
    return(list(mean = numeric(0), covariance = matrix(0, 0, 0), gamma = numeric(0), fitted = 0 * t))
  }
  stack <- oracle_stack(Phi, t, alpha, sigma, weights)
  root <- stack$inverse / sqrt(alpha)
  mean <- drop(root %*% stack$rotated)
  list(
    mean = mean, covariance = tcrossprod(root), gamma = 1 - rowSums(stack$inverse^2),
    fitted = drop(Phi %*% mean)
  )
}

# L = 1/2 [ sum log(beta w_n / 2 pi) - log|I + beta A^-1/2 Phi' W Phi A^-1/2| - misfit ],
# misfit = beta (t - Phi mu)' W (t - Phi mu) + mu' A mu. A case of weight zero says nothing.
oracle_evidence <- function(Phi, t, alpha, sigma, weights = rep(1, length(t))) {
  said <- weights > 0
  if (!length(alpha)) return(sum(dnorm(t[said], 0, sigma / sqrt(weights[said]), log = TRUE)))
  stack <- oracle_stack(Phi, t, alpha, sigma, weights)
  0.5 * (sum(log(weights[said] / (2 * pi * sigma^2))) - stack$log_determinant - stack$misfit)
}

# C = sigma^2 W^-1 + Phi A^-1 Phi', the covariance of the targets.
oracle_target_covariance <- function(Phi, alpha, sigma, weights) {
  diag(sigma^2 / weights, length(weights)) + tcrossprod(sweep(Phi, 2, sqrt(alpha), "/"))
}

# L = log N(t | 0, C); good where C is well-conditioned.
oracle_evidence_dense <- function(Phi, t, alpha, sigma, weights = rep(1, length(t))) {
  root <- chol(oracle_target_covariance(Phi, alpha, sigma, weights))
  -0.5 * (length(t) * log(2 * pi) + 2 * sum(log(diag(root))) + sum(backsolve(root, t, transpose = TRUE)^2))
}

# L from the singular values d of sqrt(beta W) Phi A^-1/2: log|.| = sum log(1 + d^2); a third way.
oracle_evidence_singular <- function(Phi, t, alpha, sigma, weights = rep(1, length(t))) {
  scale <- sqrt(weights) / sigma
  parts <- svd(scale * sweep(Phi, 2, sqrt(alpha), "/"))
  along <- drop(crossprod(parts$u, scale * t))
  beyond <- scale * t - drop(parts$u %*% along)
  misfit <- sum(along^2 / (1 + parts$d^2)) + sum(beyond^2)
  0.5 * (sum(log(weights / (2 * pi * sigma^2))) - sum(log1p(parts$d^2)) - misfit)
}

# ---- hyperpriors -----------------------------------------------------------------------------------

# Gamma hyperprior as a density of log alpha: shape log alpha - rate alpha, measured from its mode
# shape / rate; a function that is out counts nothing.
oracle_log_prior <- function(alpha, shape, rate) {
  mode <- if (shape > 0 && rate > 0) shape * log(shape / rate) - shape else 0
  ifelse(is.finite(alpha), shape * log(alpha) - rate * alpha - mode, 0)
}

# What is maximised: the evidence and the hyperpriors.
oracle_objective <- function(Phi, t, alpha, sigma, weights = rep(1, length(t)), prior = numeric(4)) {
  oracle_evidence(Phi, t, alpha, sigma, weights) +
    sum(oracle_log_prior(alpha, prior[1], prior[2])) + oracle_log_prior(sigma^-2, prior[3], prior[4])
}

# ---- one function at a time --------------------------------------------------------------------------

# S_i = phi_i' C^-1 phi_i, Q_i = phi_i' C^-1 t for every candidate column, C over the active ones.
oracle_statistics <- function(Phi, t, active, alpha, sigma, weights = rep(1, length(t))) {
  covariance <- oracle_target_covariance(Phi[, active, drop = FALSE], alpha, sigma, weights)
  whitened <- backsolve(chol(covariance), cbind(Phi, t), transpose = TRUE)
  columns <- whitened[, seq_len(ncol(Phi)), drop = FALSE]
  list(S = colSums(columns^2), Q = drop(crossprod(columns, whitened[, ncol(Phi) + 1])))
}

# s = alpha S / (alpha - S), q = alpha Q / (alpha - S) leave the function itself out of C. Where
# alpha - S would cancel, variance gives it: alpha - S = alpha^2 Sigma_ii.
oracle_leave_out <- function(S, Q, alpha, variance = (alpha - S) / alpha^2) {
  share <- ifelse(is.finite(alpha), 1 / (alpha * variance), 1)
  list(s = share * S, q = share * Q)
}

# l(alpha) = 1/2 [ log alpha - log(alpha + s) + q^2 / (alpha + s) ], 0 at infinity.
oracle_contribution <- function(alpha, s, q) {
  ifelse(is.finite(alpha), 0.5 * (log(alpha) - log(alpha + s) + q^2 / (alpha + s)), 0)
}

# The alpha that maximises l(alpha) + log prior: s^2 / (q^2 - s) or infinity for the flat prior,
# else the best positive root of s (alpha + s) - alpha q^2 + 2 (shape - rate alpha) (alpha + s)^2.
oracle_best_alpha <- function(s, q, prior = numeric(4)) {
  if (all(prior[1:2] == 0)) return(if (q^2 > s) s^2 / (q^2 - s) else Inf)
  shape <- prior[1]
  rate <- prior[2]
  roots <- polyroot(c(
    s^2 * (1 + 2 * shape), s - q^2 + 4 * shape * s - 2 * rate * s^2, 2 * shape - 4 * rate * s, -2 * rate
  ))
  candidates <- c(Re(roots)[abs(Im(roots)) < 1e-6 * Mod(roots) & Re(roots) > 0], Inf)
  value <- function(alpha) oracle_contribution(alpha, s, q) + oracle_log_prior(alpha, shape, rate)
  best <- candidates[which.max(value(candidates))]
  if (!is.finite(best)) return(best)
  slope <- function(u) {
    alpha <- exp(u)
    0.5 * (s / (alpha + s) - alpha * q^2 / (alpha + s)^2) + shape - rate * alpha
  }
  exp(uniroot(slope, log(best) + c(-1e-3, 1e-3), extendInt = "downX", tol = 1e-12)$root)
}

# The gain of moving each candidate alone to `to` (its best alpha by default): add, re-estimate
# or delete, by the formula. alpha holds Inf for what is out.
oracle_move_gain <- function(S, Q, alpha, prior = numeric(4), to = NULL, left = oracle_leave_out(S, Q, alpha)) {
  if (is.null(to)) to <- mapply(oracle_best_alpha, left$s, left$q, MoreArgs = list(prior = prior))
  value <- function(a) oracle_contribution(a, left$s, left$q) + oracle_log_prior(a, prior[1], prior[2])
  list(alpha_best = to, gain = value(to) - value(alpha))
}

# The same for one candidate by brute force: the objective after the move less the one before,
# maximised over log alpha by search.
oracle_move_gain_brute <- function(Phi, t, alpha, sigma, weights, candidate, prior = numeric(4)) {
  objective_at <- function(value) {
    alpha[candidate] <- value
    active <- is.finite(alpha)
    oracle_objective(Phi[, active, drop = FALSE], t, alpha[active], sigma, weights, prior)
  }
  logs <- seq(-25, 25, by = 0.5)
  start <- logs[which.max(vapply(exp(logs), objective_at, 0))]
  found <- optimise(function(u) objective_at(exp(u)), start + c(-1, 1), maximum = TRUE, tol = 1e-10)
  max(found$objective, objective_at(Inf)) - objective_at(alpha[candidate])
}

# ---- gradients ---------------------------------------------------------------------------------------

# dL/dlog alpha_i = 1/2 (1 - alpha_i (Sigma_ii + mu_i^2)) + shape - rate alpha_i
# dL/dlog beta = 1/2 (N - sum gamma - beta (t - Phi mu)' W (t - Phi mu)) + shape - rate beta
# dL/dPhi = beta W [(t - Phi mu) mu' - Phi Sigma]
oracle_gradient <- function(Phi, t, alpha, sigma, weights = rep(1, length(t)), prior = numeric(4)) {
  posterior <- oracle_posterior(Phi, t, alpha, sigma, weights)
  residual <- t - posterior$fitted
  beta <- sigma^-2
  list(
    log_alpha = 0.5 * (posterior$gamma - alpha * posterior$mean^2) + prior[1] - prior[2] * alpha,
    log_beta = 0.5 * (sum(weights > 0) - sum(posterior$gamma) - beta * sum(weights * residual^2)) +
      prior[3] - prior[4] * beta,
    Phi = beta * weights * (tcrossprod(residual, posterior$mean) - Phi %*% posterior$covariance)
  )
}

# dL/dlog width_k = sum_ni (dL/dPhi)_ni dK_ni/dlog width_k, over the active columns of one kernel.
oracle_width_gradient <- function(name, x, centers, width, G) {
  vapply(oracle_kernel_slopes(name, x, centers, width), function(slopes) sum(G * slopes), 0)
}

central_difference <- function(f, at, step = 1e-5) {
  vapply(seq_along(at), function(i) {
    shift <- replace(0 * at, i, step)
    (f(at + shift) - f(at - shift)) / (2 * step)
  }, 0)
}

# ---- three ways to the hyperparameters ---------------------------------------------------------------

# sigma^2 = ((t - Phi mu)' W (t - Phi mu) + 2 rate) / (N - sum gamma + 2 shape)
oracle_noise <- function(t, posterior, weights, prior) {
  square <- sum(weights * (t - posterior$fitted)^2) + 2 * prior[4]
  sqrt(square / (sum(weights > 0) - sum(posterior$gamma) + 2 * prior[3]))
}

oracle_result <- function(Phi, t, alpha, sigma, weights, prior, iterations) {
  active <- which(is.finite(alpha))
  Phi <- Phi[, active, drop = FALSE]
  alpha <- alpha[active]
  c(
    list(active = active, alpha = alpha, sigma = sigma, iterations = iterations),
    oracle_posterior(Phi, t, alpha, sigma, weights),
    list(
      evidence = oracle_evidence(Phi, t, alpha, sigma, weights),
      objective = oracle_objective(Phi, t, alpha, sigma, weights, prior)
    )
  )
}

# All functions at once, from all of them in the model: alpha <- update(mean, covariance, gamma).
oracle_top_down <- function(update, Phi, t, weights, prior, noise, maxit, tol, limit) {
  norm2 <- colSums(weights * Phi^2)
  sigma <- if (is.na(noise)) sqrt(0.1 * mean(weights * (t - mean(t))^2)) else noise
  alpha <- norm2 / (sigma^2 * length(t))
  for (iteration in seq_len(maxit)) {
    active <- which(is.finite(alpha))
    posterior <- oracle_posterior(Phi[, active, drop = FALSE], t, alpha[active], sigma, weights)
    old <- c(log(alpha[active]), log(sigma))
    alpha[active] <- update(posterior, prior)
    if (is.na(noise)) sigma <- oracle_noise(t, posterior, weights, prior)
    change <- abs(c(log(alpha[active]), log(sigma)) - old)
    alpha[alpha * sigma^2 > limit * norm2] <- Inf
    if (!length(active) || max(change) < tol) break
  }
  oracle_result(Phi, t, alpha, sigma, weights, prior, iteration)
}

# MacKay: alpha_i <- (gamma_i + 2 shape) / (mu_i^2 + 2 rate); where rounding leaves nothing of gamma,
# the data say nothing about the weight and it goes.
oracle_mackay <- function(Phi, t, weights = rep(1, length(t)), prior = numeric(4), noise = NA_real_,
                          maxit = 5000, tol = 1e-8, limit = 1e9) {
  update <- function(posterior, prior) {
    known <- pmax(posterior$gamma, 0) + 2 * prior[1]
    ifelse(known > 0, known / (posterior$mean^2 + 2 * prior[2]), Inf)
  }
  oracle_top_down(update, Phi, t, weights, prior, noise, maxit, tol, limit)
}

# EM: alpha_i <- (1 + 2 shape) / (mu_i^2 + Sigma_ii + 2 rate)
oracle_em <- function(Phi, t, weights = rep(1, length(t)), prior = numeric(4), noise = NA_real_,
                      maxit = 50000, tol = 1e-8, limit = 1e9) {
  update <- function(posterior, prior) {
    (1 + 2 * prior[1]) / (posterior$mean^2 + diag(posterior$covariance) + 2 * prior[2])
  }
  oracle_top_down(update, Phi, t, weights, prior, noise, maxit, tol, limit)
}

# Tipping and Faul: from the empty model, always the move that gains most, then the noise.
oracle_sequential <- function(Phi, t, weights = rep(1, length(t)), prior = numeric(4), noise = NA_real_,
                              maxit = 5000, tol = 1e-10) {
  sigma <- if (is.na(noise)) sqrt(0.1 * mean(weights * (t - mean(t))^2)) else noise
  alpha <- rep(Inf, ncol(Phi))
  for (iteration in seq_len(maxit)) {
    active <- which(is.finite(alpha))
    posterior <- oracle_posterior(Phi[, active, drop = FALSE], t, alpha[active], sigma, weights)
    statistics <- oracle_statistics(Phi, t, active, alpha[active], sigma, weights)
    variance <- replace(alpha, active, diag(posterior$covariance))
    left <- oracle_leave_out(statistics$S, statistics$Q, alpha, variance)
    move <- oracle_move_gain(statistics$S, statistics$Q, alpha, prior, left = left)
    best <- which.max(move$gain)
    alpha[best] <- move$alpha_best[best]
    settled <- TRUE
    if (is.na(noise)) {
      active <- which(is.finite(alpha))
      posterior <- oracle_posterior(Phi[, active, drop = FALSE], t, alpha[active], sigma, weights)
      old <- sigma
      sigma <- oracle_noise(t, posterior, weights, prior)
      settled <- abs(log(sigma / old)) < 1e-6
    }
    if (move$gain[best] < tol && settled) break
  }
  oracle_result(Phi, t, alpha, sigma, weights, prior, iteration)
}

# ---- problems to try all this on ------------------------------------------------------------------------

sinc <- function(x) ifelse(x == 0, 1, sin(x) / x)

# max |a - b| relative to max |b|
relative_error <- function(a, b) if (length(b)) max(abs(a - b)) / max(abs(b), .Machine$double.xmin) else 0

# Case weights for every row: a NULL means one for all.
all_weights <- function(weights, t) weights %||% rep(1, length(t))

# Kernel parameters and a signal with noise, for a problem to fit: every kernel in turn, one to
# three inputs, every other one with case weights.
random_data <- function(seed) {
  set.seed(seed)
  rows <- sample(20:60, 1)
  inputs <- sample(1:3, 1)
  x <- matrix(runif(rows * inputs, -3, 3), rows)
  name <- names(oracle_kernel_types)[1 + seed %% 10]
  parameters <- switch(name,
    polynomial = c(sample(2:3, 1), runif(1, 0.2, 1), runif(1, 0.5, 2)),
    sigmoid = c(runif(1, 0.1, 0.5), runif(1, -1, 1)),
    numeric(0)
  )
  sigma <- exp(runif(1, log(0.05), log(0.5)))
  weights <- if (seed %% 2) rexp(rows) + 0.1
  t <- sin(x[, 1]) + 0.3 * rowSums(x) + sigma * rnorm(rows) / sqrt(weights %||% 1)
  list(
    name = name, x = x, t = t, width = runif(inputs, 0.7, 2.5), parameters = parameters, sigma = sigma,
    given_weights = weights, weights = all_weights(weights, t)
  )
}

# The same with a dictionary, some with explicit columns or a second kernel, and a random model in
# it: `design` holds its active columns. The precisions are drawn around beta |phi|^2, so that the
# model is neither empty nor an interpolation.
random_problem <- function(seed) {
  data <- random_data(seed)
  x <- data$x
  blocks <- list(
    column_block(matrix(1, nrow(x), 1)),
    if (seed %% 3 == 0) column_block(cbind(x, x[, 1]^2)),
    kernel_block(data$name, x, data$width, data$parameters),
    if (seed %% 4 == 0) kernel_block("gaussian", x[1:10, , drop = FALSE], 1)
  )
  blocks <- Filter(Negate(is.null), blocks)
  Phi <- oracle_dictionary(blocks, x)
  active <- sort(sample(ncol(Phi), sample(1:10, 1)))
  design <- Phi[, active, drop = FALSE]
  alpha <- colSums(design^2) / data$sigma^2 * 10^runif(length(active), -4, 1)
  c(data, list(
    blocks = blocks, Phi = Phi, active = active, design = design, alpha = alpha,
    alpha_all = replace(rep(Inf, ncol(Phi)), active, alpha)
  ))
}

# The kernel object of the package for one of the names above.
package_kernel <- function(name, width = 1, parameters = numeric(0)) {
  switch(name,
    gaussian = kernel_gaussian(width),
    laplace = kernel_laplace(width),
    cauchy = kernel_cauchy(width),
    matern32 = kernel_matern(width = width, nu = 3 / 2),
    matern52 = kernel_matern(width = width, nu = 5 / 2),
    spline = kernel_spline(),
    thinplate = kernel_thinplate(),
    polynomial = kernel_polynomial(degree = parameters[1], scale = parameters[2], offset = parameters[3]),
    linear = kernel_linear(),
    sigmoid = kernel_sigmoid(scale = parameters[1], offset = parameters[2])
  )
}

# The active basis functions of a fit with one kernel, at the rows of x, in the order of its
# coefficients: the constant where there is one, and one column per relevance vector.
oracle_design <- function(fit, x, name, width = 1, parameters = numeric(0)) {
  constant <- grepl("ntercept", names(coef(fit)))
  design <- matrix(1, NROW(x), length(constant))
  if (!all(constant)) {
    design[, !constant] <- oracle_kernel(name, as.matrix(x), as.matrix(fit$centers), width, parameters)
  }
  design
}
