#' Look at a fitted relevance vector machine
#'
#' The methods that R's modelling functions have in common, for fits by [rvm()].
#'
#' The weights of the active basis functions have a normal posterior: `coef()` is
#' its mean, `vcov()` its covariance, `confint()` gives intervals of it. `logLik()`
#' is the log likelihood of the data at the posterior mean; its degrees of freedom
#' are the number of weights that the data determine (the sum of `gamma`), plus
#' one for the noise if it was estimated. `simulate()` draws new responses at the
#' training inputs from the posterior predictive distribution: weights from their
#' posterior, then noise or labels. `update()` fits again with changed arguments.
#'
#' Where the response is a class, `fitted()` gives moderated probabilities as
#' [predict.rvm()] does: of the second of two classes, or a matrix of those of all.
#' `residuals()` are 0 or 1 minus these. `sigma()` is `NA`. With
#' `family = "multinomial"`, `coef()` is a matrix with a column for each class, and
#' `vcov()` and `confint()` are about its active weights, named `"class:function"`.
#'
#' @param object,x,formula a fit by [rvm()], or its summary.
#' @param digits number of significant digits to print.
#' @param type `"response"`: residuals in the unit of the response; `"pearson"`:
#'   divided by the standard deviation that the response of each case has under the
#'   model.
#' @param parm names or numbers of the weights; all by default.
#' @param level probability of the intervals.
#' @param nsim number of simulated responses.
#' @param seed `NULL`, or a number given to [set.seed()]; the state of the
#'   generator is put back afterwards.
#' @param ... none.
#' @return `summary()`: an object of class `"summary.rvm"`, a list whose
#'   `coefficients` is a matrix with a row for each active basis function:
#'   posterior mean and standard deviation, `alpha`, `gamma`. For classes it has
#'   `classes`, the number of cases in each; `functions`, with
#'   `family = "multinomial"` the number of active basis functions of each;
#'   `confusion`, the table of the training data by true and predicted class; and
#'   `log.loss`, the mean of minus the log of the probability of each case's own
#'   class; cases count by their weight.
#'   `simulate()`: a data frame with a column for each simulation. The others return
#'   what their namesakes for [lm()] do.
#' @examples
#' fit <- rvm(dist ~ speed, data = cars)
#' summary(fit)
#' coef(fit)
#' confint(fit)
#' sigma(fit)
#' AIC(fit)
#' update(fit, log(.) ~ ., kernel = kernel_matern())
#' head(simulate(fit, nsim = 3, seed = 1))
#'
#' flowers <- rvm(Species ~ Petal.Length + Petal.Width, data = iris)
#' summary(flowers)
#' coef(flowers)
#' head(fitted(flowers))
#' @name rvm-methods
NULL

#' @rdname rvm-methods
#' @export
print.rvm <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  print_heading(x)
  print_facts(facts(x), digits)
  invisible(x)
}

#' @rdname rvm-methods
#' @export
summary.rvm <- function(object, ...) {
  deviation <- sqrt(pmax(diag(object$covariance), 0))
  told <- c(facts(object), list(
    call = object$call, family = object$family, prior = object$prior,
    coefficients = cbind(Estimate = active_weights(object), "Std. Error" = deviation,
                         alpha = object$alpha, gamma = object$gamma)
  ))
  if (ncol(object$x) > 1 && !identical(object$kernel, "none")) told$inputs <- relevance_inputs(object)
  structure(c(told, families[[object$family]]$summary(object)), class = "summary.rvm")
}

#' @rdname rvm-methods
#' @export
print.summary.rvm <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  print_heading(x)
  if (is.null(x$confusion)) print_residuals(x$residuals, digits) else print_confusion(x$confusion)
  print_weights(x$coefficients, if (is.null(x$confusion)) "the model is" else "the log odds are",
                digits)
  if (!is.null(x$inputs)) print_inputs(x$inputs, digits)
  print_facts(x, digits)
  cat(fact_label("Prior"), format(x$prior), "\n", sep = "")
  cat(fact_label("Determined weights"), format(sum(x$coefficients[, "gamma"]), digits = digits),
      " of ", nrow(x$coefficients), "\n", sep = "")
  if (!is.null(x$log.loss)) {
    cat(fact_label("Log loss"), format(x$log.loss, digits = digits), "\n", sep = "")
  } else if (!is.na(x$r.squared)) {
    cat(fact_label("R squared"), format(x$r.squared, digits = digits), "\n", sep = "")
  }
  invisible(x)
}

print_inputs <- function(inputs, digits, most = 12) {
  cat("Inputs", if (nrow(inputs) > most) paste(", the", most, "most relevant of", nrow(inputs)),
      ":\n", sep = "")
  inputs <- utils::head(inputs, most)
  numbers <- lapply(inputs[-1], format, digits = digits)
  print(data.frame(numbers, row.names = inputs$input))
  cat("\n")
}

print_residuals <- function(residuals, digits) {
  quantiles <- stats::quantile(residuals, names = FALSE)
  names(quantiles) <- c("Min", "1Q", "Median", "3Q", "Max")
  cat("Residuals:\n")
  print(zapsmall(quantiles, digits + 1), digits = digits)
}

print_confusion <- function(confusion) {
  cases <- sum(confusion)
  wrong <- cases - sum(diag(confusion))
  cat("Training data, ", format(wrong), " of ", format(cases), " wrong (",
      format(100 * wrong / cases, digits = 2), " %):\n", sep = "")
  print(confusion)
}

# What print() and summary() both tell.
facts <- function(object) {
  columns <- column_names(object$dictionary)
  kernel_size <- sum(part_sizes(kernel_parts(object$dictionary)))
  list(
    kernel = object$kernel, learning_rows = object$learning_rows, scaled = !is.null(object$scaling),
    relevant = length(object$relevance),
    explicit = columns[seq_len(length(columns) - kernel_size)],
    nobs = nobs(object), sigma = object$sigma, fixed = !is.null(object$noise),
    classes = if (!is.null(object$levels)) class_sizes(object),
    functions = if (!is.null(object$pairs)) class_functions(object),
    evidence = object$evidence, converged = object$converged,
    iterations = object$iterations
  )
}

print_heading <- function(x) {
  cat("Relevance vector machine, ", x$family, "\n\nCall:\n", sep = "")
  cat(deparse(x$call), "", sep = "\n")
}

fact_label <- function(label) formatC(paste0(label, ":"), width = -20)

print_facts <- function(x, digits) {
  fact <- function(label, ...) cat(fact_label(label), ..., "\n", sep = "")
  if (identical(x$kernel, "none")) {
    fact("Kernel", "none, the inputs are the basis functions")
  } else {
    kernel <- format(x$kernel)
    kernel[1] <- paste0(kernel[1], if (x$scaled) " (inputs standardised)")
    fact("Kernel", paste(kernel, collapse = paste0("\n", strrep(" ", 20))))
    if (!is.null(x$learning_rows) && x$learning_rows < x$nobs) {
      fact("Widths learned on", x$learning_rows, " rows, then once more on all ", x$nobs)
    }
    fact("Relevance vectors", x$relevant, " of ", x$nobs, " rows")
  }
  if (length(x$explicit)) fact("Explicit functions", some(x$explicit, 10))
  each <- function(counts) {
    some(paste0(names(counts), " (", format(counts, trim = TRUE, digits = digits), ")"), 10)
  }
  if (!is.null(x$functions)) fact("Functions by class", each(x$functions))
  if (is.null(x$classes)) {
    fact("Noise", "sd ", format(x$sigma, digits = digits), if (x$fixed) ", fixed")
  } else {
    fact("Cases by class", each(x$classes))
  }
  fact("Log evidence", format(x$evidence, digits = max(digits, 4)))
  if (!x$converged) {
    cat("The fit stopped after ", count(x$iterations, "iteration"),
        " before it converged.\n", sep = "")
  }
}

# The weights, or the dozen furthest from zero when there are more.
print_weights <- function(weights, what, digits, most = 12) {
  if (!nrow(weights)) {
    return(cat("\nNo active basis function: ", what, " constant zero.\n\n", sep = ""))
  }
  cat("\nActive basis functions")
  if (nrow(weights) > most) {
    distance <- abs(weights[, "Estimate"]) / weights[, "Std. Error"]
    cat(", the ", most, " of ", nrow(weights), " furthest from zero", sep = "")
    weights <- weights[sort(order(-distance)[seq_len(most)]), , drop = FALSE]
  }
  cat(":\n")
  print(apply(weights, 2, format, digits = digits), quote = FALSE, right = TRUE)
  cat("\n")
}

#' @rdname rvm-methods
#' @export
coef.rvm <- function(object, ...) object$coefficients

#' @rdname rvm-methods
#' @export
vcov.rvm <- function(object, ...) object$covariance

#' @rdname rvm-methods
#' @export
sigma.rvm <- function(object, ...) object$sigma

#' @rdname rvm-methods
#' @export
nobs.rvm <- function(object, ...) length(object$used)

#' @rdname rvm-methods
#' @export
fitted.rvm <- function(object, ...) {
  stats::napredict(object$na.action, object$fitted.values)
}

#' @rdname rvm-methods
#' @export
residuals.rvm <- function(object, type = c("response", "pearson"), ...) {
  type <- check_choice(type, c("response", "pearson"), "type")
  family <- families[[object$family]]
  residuals <- family$observed(object) - object$fitted.values
  if (type == "pearson") residuals <- residuals / family$noise(object)
  stats::naresid(object$na.action, residuals)
}

#' @rdname rvm-methods
#' @export
logLik.rvm <- function(object, ...) {
  estimates_noise <- object$family == "gaussian" && is.null(object$noise)
  structure(object$log_likelihood, df = sum(object$gamma) + estimates_noise,
            nobs = nobs(object), class = "logLik")
}

#' @rdname rvm-methods
#' @export
formula.rvm <- function(x, ...) stats::formula(terms(x))

#' @rdname rvm-methods
#' @export
terms.rvm <- function(x, ...) {
  if (is.null(x$terms)) stop_rvm("The fit was not made from a formula: it has no terms.")
  x$terms
}

#' @rdname rvm-methods
#' @export
confint.rvm <- function(object, parm, level = 0.95, ...) {
  level <- check_level(level)
  estimate <- active_weights(object)
  if (!missing(parm)) estimate <- chosen_weights(estimate, parm)
  deviation <- sqrt(pmax(diag(object$covariance), 0))[names(estimate)]
  tails <- c((1 - level) / 2, (1 + level) / 2)
  interval <- estimate + outer(deviation, stats::qnorm(tails))
  dimnames(interval) <- list(names(estimate), paste(format(100 * tails, trim = TRUE), "%"))
  interval
}

chosen_weights <- function(estimate, parm) {
  known <- if (is.character(parm)) names(estimate) else seq_along(estimate)
  unknown <- setdiff(parm, known)
  if (length(unknown)) {
    stop_argument("parm", "names or numbers of active basis functions", some(unknown))
  }
  estimate[parm]
}

#' @rdname rvm-methods
#' @export
simulate.rvm <- function(object, nsim = 1, seed = NULL, ...) {
  nsim <- check_count(nsim, "nsim")
  # The state to reproduce the draws by is kept as the methods of stats keep it.
  if (!exists(".Random.seed", globalenv(), inherits = FALSE)) stats::runif(1)
  state <- before <- get(".Random.seed", globalenv(), inherits = FALSE)
  if (!is.null(seed)) {
    on.exit(assign(".Random.seed", before, envir = globalenv()))
    set.seed(seed)
    state <- structure(seed, kind = as.list(RNGkind()))
  }
  simulated <- families[[object$family]]$simulate(object, simulate_latent(object, nsim))
  names(simulated) <- paste0("sim_", seq_len(nsim))
  if (!is.null(rownames(object$x))) rownames(simulated) <- rownames(object$x)
  structure(simulated, seed = state)
}

# Latent values at the training rows under weights drawn from their posterior: for
# each latent function a matrix with a column for each simulation.
simulate_latent <- function(object, nsim) {
  size <- length(object$alpha)
  draws <- matrix(stats::rnorm(size * nsim), size, nsim)
  weights <- active_weights(object) + object$factor %*% draws
  columns <- dictionary_columns(object$dictionary, apply_scaling(object$x, object$scaling),
                                object$basis, object$control$threads)
  offset <- if (is.null(object$offset)) 0 else object$offset
  if (is.null(object$pairs)) return(list(offset + columns %*% weights))
  lapply(seq_along(object$levels), function(k) {
    mine <- object$pairs[, "class"] == k
    columns[, object$pairs[mine, "column"], drop = FALSE] %*% weights[mine, , drop = FALSE]
  })
}

#' Log evidence of a fit
#'
#' The log marginal likelihood of the data under the fitted precisions and noise,
#' on the scale of the response as given. For classes it is Laplace's approximation.
#' Of several models of the same response, the one with the highest evidence
#' explains it best for its complexity.
#'
#' @param object a fit by [rvm()].
#' @param ... none.
#' @return A number.
#' @examples
#' narrow <- rvm(dist ~ speed, data = cars, kernel = kernel_gaussian(0.1))
#' wide <- rvm(dist ~ speed, data = cars, kernel = kernel_gaussian(2))
#' evidence(narrow)
#' evidence(wide)
#' @export
evidence <- function(object, ...) UseMethod("evidence")

#' @rdname evidence
#' @export
evidence.rvm <- function(object, ...) object$evidence

#' The relevance vectors of a fit
#'
#' @param object a fit by [rvm()].
#' @param ... none.
#' @return A data frame with a row for each active kernel function: `row`, the
#'   number of its centre in the training data; `kernel`, where there are several;
#'   the inputs at the centre, in the units given; `weight`, `alpha` and `gamma`.
#'   With `family = "multinomial"` there are columns of these for each class, such as
#'   `weight.setosa`; where the function is not active for the class they are 0,
#'   infinite and 0.
#' @examples
#' fit <- rvm(dist ~ speed, data = cars)
#' relevance_vectors(fit)
#'
#' flowers <- rvm(Species ~ Petal.Length + Petal.Width, data = iris)
#' relevance_vectors(flowers)
#' @export
relevance_vectors <- function(object, ...) UseMethod("relevance_vectors")

#' @rdname relevance_vectors
#' @export
relevance_vectors.rvm <- function(object, ...) {
  parts <- kernel_parts(object$dictionary)
  rows <- as.integer(unlist(lapply(parts, function(part) part$rows)))
  vectors <- data.frame(row = rows)
  if (inherits(object$kernel, "rvm_kernels")) {
    labels <- vapply(parts, function(part) kernel_label(part$kernel), "")
    vectors$kernel <- rep(labels, part_sizes(parts))
  }
  inputs <- object$centers[match(rows, object$relevance), , drop = FALSE]
  vectors <- cbind(vectors, as.data.frame(inputs, row.names = seq_along(rows)))
  cbind(vectors, kernel_weights(object, length(rows)))
}

# Weight, alpha and gamma of the kernel functions, which come last among the
# active ones; by class where each class has its own. A pair that is not active
# has infinite precision.
kernel_weights <- function(object, count) {
  facts <- list(weight = active_weights(object), alpha = object$alpha, gamma = object$gamma)
  last <- function(size) seq_len(size) > size - count
  if (is.null(object$pairs)) return(lapply(facts, function(fact) unname(fact[last(length(fact))])))
  by_class <- Map(function(fact, absent) {
    table <- object$coefficients
    table[] <- absent
    table[object$pairs] <- fact
    table[last(nrow(table)), , drop = FALSE]
  }, facts, c(0, Inf, 0))
  do.call(data.frame, c(by_class, list(row.names = seq_len(count), check.names = FALSE)))
}
