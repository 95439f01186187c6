# Predictions of classes. Probabilities are carried as logarithms, which do not
# run out of range, until they are handed out.

class_predict <- function(object, frame, request) {
  check_class_request(request)
  prior <- check_class_prior(request$prior, object$levels)
  cost <- check_cost(request$cost, object$levels)
  if (request$type == "link") return(class_link(object, frame, request$se.fit))
  moderated <- request$moderated
  log_prob <- if (object$family == "binomial") binomial_log_prob(object, frame, moderated) else {
    multinomial_log_prob(object, frame, moderated)
  }
  dimnames(log_prob) <- list(frame$names, object$levels)
  if (!is.null(prior)) {
    shares <- class_sizes(object) / sum(class_sizes(object))
    log_prob <- log_normalised(sweep(log_prob, 2, log(prior / shares), "+"))
  }
  prob <- exp(log_prob)
  if (request$type == "prob") return(prob)
  stats::setNames(class_factor(best_decision(prob, cost), object), frame$names)
}

check_class_request <- function(request) {
  type <- request$type
  if (request$interval != "none") {
    stop_argument("interval", paste("\"none\" for classes (type = \"link\" with se.fit = TRUE",
                                    "gives standard errors of the latent values)"),
                  describe(request$interval))
  }
  if (request$se.fit && type != "link") {
    stop_argument("se.fit", "FALSE for classes unless type = \"link\"", "TRUE")
  }
  if (!is.null(request$prior) && type == "link") {
    stop_argument("prior", "NULL for type = \"link\"", describe(request$prior))
  }
  if (!is.null(request$cost) && type != "response") {
    stop_argument("cost", paste0("NULL for type = \"", type, "\": it bears on decisions"),
                  describe(request$cost))
  }
}

# New class priors in the order of the levels, adding up to 1.
check_class_prior <- function(prior, levels) {
  if (is.null(prior)) return(NULL)
  takes <- paste("a number for each class, named by", some_levels(levels))
  if (!is.numeric(prior) || length(prior) != length(levels)) {
    stop_argument("prior", takes, describe(prior))
  }
  if (!setequal(names(prior), levels)) {
    stop_argument("prior", takes, if (is.null(names(prior))) "without names" else {
      paste("by", some_levels(names(prior)))
    })
  }
  wrong <- which(!is.finite(prior) | prior < 0)
  if (length(wrong)) {
    stop_argument("prior", "finite and not negative",
                  paste(format(prior[[wrong[1]]]), "as for", quoted(names(prior)[wrong[1]])))
  }
  if (!any(prior > 0)) stop_argument("prior", "positive for at least one class", "0 for all")
  prior[levels] / sum(prior)
}

# The costs in the order of the levels, rows the truth and columns the decision.
check_cost <- function(cost, levels) {
  if (is.null(cost)) return(NULL)
  size <- length(levels)
  if (!is.matrix(cost) || !is.numeric(cost) || any(dim(cost) != size)) {
    stop_argument("cost", paste0("a numeric matrix of ", size, " rows (the truth) and ", size,
                                 " columns (the decision)"), describe(cost))
  }
  if (!all(is.finite(cost))) {
    stop_argument("cost", "finite", format(cost[!is.finite(cost)][1]))
  }
  for (side in 1:2) {
    names <- dimnames(cost)[[side]]
    if (!is.null(names) && !setequal(names, levels)) {
      stop_argument("cost", paste(c("a matrix whose rows", "a matrix whose columns")[side],
                                  "are named by", some_levels(levels)),
                    paste("by", some_levels(names)))
    }
  }
  rows <- if (is.null(rownames(cost))) seq_len(size) else match(levels, rownames(cost))
  columns <- if (is.null(colnames(cost))) seq_len(size) else match(levels, colnames(cost))
  cost[rows, columns]
}

# Number of the class to decide for: the most probable one, or the one of least
# expected cost; the first of equals.
best_decision <- function(prob, cost) {
  max.col(if (is.null(cost)) prob else -(prob %*% cost), "first")
}

# ---- latent values and probabilities -------------------------------------------

class_link <- function(object, frame, se.fit) {
  latent <- if (object$family == "binomial") latent_values(object, frame, se.fit) else {
    class_latent(object, frame, se.fit)
  }
  if (!se.fit) return(latent$fit)
  list(fit = latent$fit, se.fit = sqrt(latent$variance))
}

# The mean of a logistic function of a normal variable is close to the function
# at the variable's mean divided by sqrt(1 + pi/8 variance).
shrinkage <- function(variance) 1 / sqrt(1 + pi / 8 * pmax(variance, 0))

# The logistic distribution is a mixture of normal ones of standard deviation 2 psi,
# where psi has Kolmogorov's distribution (Andrews and Mallows 1974). Nodes and
# weights of a quadrature over log(psi), by the two series of the density that
# converge at once for small and large psi.
logistic_mixture <- local({
  psi <- exp(seq(log(0.2), log(8), by = 0.15))
  small <- sqrt(2 * pi) * (pi^2 / 4 / psi^4 - 1 / psi^2) * exp(-pi^2 / 8 / psi^2)
  large <- vapply(psi, function(psi) {
    8 * psi * sum((-1)^(0:8) * (1:9)^2 * exp(-2 * (1:9)^2 * psi^2))
  }, 0)
  weight <- psi * ifelse(psi < 0.55, small, large)
  list(variance = 4 * psi^2, log_weight = log(weight / sum(weight)))
})

# Log of the mean of a logistic function of normal variables: a mixture of normal
# distributions convolved with one more, exact to ten digits whatever the variance.
log_logistic_mean <- function(mean, variance) {
  # Squares of what is further out are no numbers.
  mean <- pmin(pmax(mean, -1e100), 1e100)
  terms <- vapply(seq_along(logistic_mixture$variance), function(i) {
    deviation <- sqrt(logistic_mixture$variance[i] + pmax(variance, 0))
    logistic_mixture$log_weight[i] + stats::pnorm(mean / deviation, log.p = TRUE)
  }, mean)
  log_sum_exp(matrix(terms, length(mean)))
}

binomial_log_prob <- function(object, frame, moderated) {
  latent <- latent_values(object, frame, moderated)
  odds <- latent$fit * if (moderated) shrinkage(latent$variance) else 1
  cbind(stats::plogis(-odds, log.p = TRUE), stats::plogis(odds, log.p = TRUE))
}

multinomial_log_prob <- function(object, frame, moderated) {
  by_rows(object, frame, length(object$levels), function(columns) {
    latent <- columns %*% object$coefficients
    if (moderated) moderated_log_prob(latent, latent_covariance(object, columns)) else {
      log_normalised(latent)
    }
  })
}

# The softmax's p_k is the logistic function of the log odds f_k - log(sum over the
# others of exp(f_j)), which are taken as normal. In each row the classes come by
# decreasing latent value: the order of the levels does not matter.
moderated_log_prob <- function(latent, covariance) {
  rows <- seq_len(nrow(latent))
  place <- matrix(order(row(latent), -latent), nrow(latent), byrow = TRUE)
  class_at <- (place - 1) %/% nrow(latent) + 1
  ranked <- covariance
  for (i in seq_len(ncol(latent))) for (j in seq_len(ncol(latent))) {
    ranked[, i, j] <- covariance[cbind(rows, class_at[, i], class_at[, j])]
  }
  # As a vector: a matrix of two columns would be taken for rows and columns.
  sorted <- matrix(latent[c(place)], nrow(latent))
  log_prob <- latent
  for (k in seq_len(ncol(latent))) {
    odds <- odds_against_others(k, sorted, ranked)
    log_prob[place[, k]] <- log_logistic_mean(odds$mean, odds$variance)
  }
  log_normalised(log_prob)
}

# Mean and variance of the log odds of class k. The log of the sum over the others,
# taken in one by one, is treated as normal: log(exp(a) + exp(b)) has the slope
# plogis(b - a) in b. With b - a shrunk by its variance this is the mean slope; it
# gives the mean by integration, the variance and the covariances by linearity.
odds_against_others <- function(k, latent, covariance) {
  slice <- function(j) matrix(covariance[, , j], nrow(latent))
  others <- seq_len(ncol(latent))[-k]
  mean <- latent[, others[1]]
  with_each <- slice(others[1])
  variance <- with_each[, others[1]]
  for (j in others[-1]) {
    own <- slice(j)
    shrunk <- shrinkage(variance - 2 * with_each[, j] + own[, j])
    odds <- shrunk * (latent[, j] - mean)
    mean <- mean - stats::plogis(-odds, log.p = TRUE) / shrunk
    part <- stats::plogis(odds)
    variance <- (1 - part)^2 * variance + 2 * part * (1 - part) * with_each[, j] +
      part^2 * own[, j]
    with_each <- (1 - part) * with_each + part * own
  }
  list(mean = latent[, k] - mean, variance = variance - 2 * with_each[, k] + slice(k)[, k])
}

# Covariances of the latent values of all classes, rows x classes x classes.
latent_covariance <- function(object, columns) {
  spread <- latent_spread(object, columns)
  classes <- length(spread)
  covariance <- array(0, c(nrow(columns), classes, classes))
  for (i in seq_len(classes)) for (j in seq_len(i)) {
    covariance[, i, j] <- covariance[, j, i] <- rowSums(spread[[i]] * spread[[j]])
  }
  covariance
}

# For each class a matrix whose products of rows with rows of another class are
# the covariances of the two latent values.
latent_spread <- function(object, columns) {
  pairs <- object$pairs
  lapply(seq_along(object$levels), function(k) {
    mine <- pairs[, "class"] == k
    columns[, pairs[mine, "column"], drop = FALSE] %*% object$factor[mine, , drop = FALSE]
  })
}

class_latent <- function(object, frame, variance) {
  classes <- seq_along(object$levels)
  result <- by_rows(object, frame, length(classes) * (1 + variance), function(columns) {
    fit <- columns %*% object$coefficients
    if (!variance) return(fit)
    do.call(cbind, c(list(fit), lapply(latent_spread(object, columns), function(spread) {
      rowSums(spread^2)
    })))
  })
  named <- function(values) {
    dimnames(values) <- list(frame$names, object$levels)
    values
  }
  list(fit = named(result[, classes, drop = FALSE]),
       variance = if (variance) named(result[, length(classes) + classes, drop = FALSE]))
}

# A matrix with a row for each row of the frame, from the active columns, so many
# rows at a time that what is computed on the way takes some 30 MB. NA in rows that
# are not complete.
by_rows <- function(object, frame, width, values) {
  complete <- which(frame$complete)
  result <- matrix(NA_real_, nrow(frame$x), width)
  classes <- length(object$levels)
  size <- max(1, floor(2^22 / (50 + classes * (classes + length(object$alpha)))))
  for (rows in split(complete, (seq_along(complete) - 1) %/% size)) {
    x <- apply_scaling(frame$x[rows, , drop = FALSE], object$scaling)
    columns <- dictionary_columns(object$dictionary, x, frame$basis[rows, , drop = FALSE],
                                  object$control$threads)
    result[rows, ] <- values(columns)
  }
  check_predicted(result[complete, ])
  result
}

log_sum_exp <- function(values) {
  largest <- do.call(pmax, lapply(seq_len(ncol(values)), function(k) values[, k]))
  largest + log(rowSums(exp(values - largest)))
}

# Logarithms of numbers that add up to 1 in each row.
log_normalised <- function(values) values - log_sum_exp(values)
