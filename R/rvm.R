#' Fit a relevance vector machine
#'
#' A relevance vector machine is a Bayesian kernel model: the response is a
#' weighted sum of basis functions, one for each candidate centre, and every
#' weight has a prior precision of its own. Choosing the precisions by maximum
#' marginal likelihood (the *evidence*) drives most of them to infinity, and the
#' few functions that stay make a sparse model whose predictions come with error
#' bars. Where the response is a class, the sum is the log odds, and predictions
#' are probabilities.
#'
#' # The dictionary
#'
#' The candidate basis functions are, in this order: a constant
#' (`intercept = TRUE`), the columns of `basis`, and for each kernel one function
#' per centre. All of them take part in the selection. In the formula method,
#' factors become dummy columns as in [lm()], and a formula with `- 1` leaves the
#' constant out. With `kernel = "none"` the columns of `x`, in their own units,
#' take the place of the kernels: a sparse Bayesian linear model.
#'
#' Rows that occur several times make one centre, numbered by the first of them.
#'
#' # Widths
#'
#' Widths that are not given are chosen by marginal likelihood: at the basis
#' functions of a fit the log evidence is climbed along its slopes in widths and
#' precisions, a fit at the new widths chooses the functions anew, and so on, from
#' several starts. Fits at different widths are compared by the log evidence less
#' two for each basis function (its centre and its precision were chosen) and less one for
#' each width: the evidence alone favours narrow kernels with many functions, whose
#' predictions are worse. With `ard = TRUE` an input that the evidence would not
#' miss gets the width `Inf`; see [relevance_inputs()]. For a numeric response of
#' fewer than 2000 rows, functions that are worth less than two in log evidence are
#' also left out of such a fit. From 2000 rows on, widths are learned on 1000 of them and
#' then shrink together, on all rows, as long as that raises the evidence;
#' `summary()` says so. Where all widths are given, none of this applies: the evidence
#' alone decides.
#'
#' Left alone, [rvm()] gives each input its own width for a numeric response, and
#' one width to all for classes: a class says little about each case, and on
#' most data we tried a width for each input did worse on new cases.
#'
#' # Classes
#'
#' A factor, logical or character response is fitted as classes. Two classes
#' (`family = "binomial"`): the log odds of the second level are a sum of basis
#' functions. More classes (`family = "multinomial"`): each class has a sum of its
#' own, and the probabilities are the softmax of all of them, fitted together. A
#' basis function may then be active for some classes and not for others, unless
#' `rvm_control(shared = TRUE)` gives it one precision for all. Numbers 0 and 1 are
#' a numeric response unless `family = "binomial"` says that they are classes.
#'
#' Levels without a case are dropped with a message. An offset is on the scale of
#' the log odds, for two classes only. The posterior of the weights is the normal
#' one around its mode (Laplace's approximation), and so is the evidence.
#'
#' # Case weights
#'
#' `weights` say how precise each case is: the variance of the noise of case *n*
#' is `sigma^2 / weights[n]`. Where the response is a class, a case of weight 2
#' counts as two. Cases of weight zero take no part in the fit; they do get fitted
#' values.
#'
#' @param x a numeric matrix, a vector for one input, or a data frame (its
#'   factors become dummy columns). Or a formula such as `y ~ x1 + x2` or `y ~ .`.
#' @param y response, one value for each row of `x`: numeric; or class labels, a
#'   factor, logical or character (with `family = "binomial"` also numbers 0 and 1).
#' @param formula,data,subset,na.action,offset,contrasts as in [lm()]. An offset,
#'   in the formula or as argument, is added at prediction too.
#' @param kernel a kernel, see [kernels]; several joined by `c()`; a
#'   `function(x, z)` that returns the matrix of nrow(x) rows and nrow(z)
#'   columns; or `"none"`. `NULL`: a Gaussian kernel whose widths the data choose,
#'   one for each input for a numeric response, a single one for classes.
#' @param basis further columns of the dictionary, evaluated again at prediction:
#'   a `function(x)` that returns a matrix, where `x` is in the units given, or,
#'   in the formula method, a one-sided formula on `data`.
#' @param intercept whether a constant is among the candidates.
#' @param family `"gaussian"` for a numeric response, `"binomial"` for two classes,
#'   `"multinomial"` for more; `NULL` guesses it from the response.
#' @param scale whether to standardise the inputs before the kernel sees them.
#'   The widths of kernels are then in units of the standardised inputs. An input
#'   that is constant is only centred.
#' @param noise standard deviation of the noise where it is known; `NULL`: it is
#'   estimated, though not below 1e-5 of the spread of `y`. Classes have none.
#' @param weights case weights, not negative.
#' @param prior prior of the precisions, see [priors].
#' @param centers candidate centres: `NULL` for every distinct row of `x`; a
#'   number for that many rows, drawn so that they spread over the data
#'   (reproducible under [set.seed()]); or a matrix whose rows are the centres, in
#'   the units of `x`.
#' @param control numerical settings, see [rvm_control()].
#' @param ... further arguments of the default method (from `kernel` to
#'   `control`) when a formula is given; otherwise none.
#'
#' @return An object of class `"rvm"`, a list with elements
#'   \item{call, terms, family}{the call, the terms of the formula if any, and the
#'     family}
#'   \item{kernel}{the kernel with the widths in force}
#'   \item{coefficients}{posterior mean of the weights of the active basis
#'     functions. Kernel functions are named by the row number of their centre,
#'     with the kernel in front where there are several kernels. With
#'     `family = "multinomial"` a matrix with a column for each class, 0 where a
#'     function is not active for a class}
#'   \item{covariance}{their posterior covariance. With `family = "multinomial"` the
#'     active weights are named `"class:function"`}
#'   \item{alpha, gamma}{their prior precisions, and how well the data determine
#'     each, between 0 and 1}
#'   \item{relevance}{row numbers of the relevance vectors in the training data as
#'     they were passed, before `subset` and `na.action` (in the matrix `centers`
#'     where that was given); the union over the classes}
#'   \item{centers}{those rows, in the units given}
#'   \item{sigma}{standard deviation of the noise, `NA` for classes}
#'   \item{evidence}{log marginal likelihood}
#'   \item{converged, iterations, trace}{how the fit went; `trace` is a data frame
#'     with columns iteration, evidence, active and sigma}
#'   \item{levels}{the classes, `NULL` for a numeric response}
#'
#' @seealso [predict.rvm()], [plot.rvm()], [summary.rvm()], [relevance_vectors()],
#'   [evidence()]
#' @references
#' Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector
#' machine. *Journal of Machine Learning Research* 1, 211-244.
#'
#' Tipping, M. E. and Faul, A. C. (2003). Fast marginal likelihood maximisation
#' for sparse Bayesian models. *Proceedings of the Ninth International Workshop
#' on Artificial Intelligence and Statistics*.
#' @examples
#' set.seed(1)
#' x <- seq(-10, 10, length.out = 100)
#' y <- sin(x) / x + rnorm(100, sd = 0.1)
#' fit <- rvm(x, y)
#' fit
#' plot(fit)
#'
#' # a formula, a data frame, several inputs
#' fit <- rvm(mpg ~ wt + hp + factor(cyl), data = mtcars)
#' predict(fit, mtcars[1:3, ], interval = "prediction")
#'
#' # a straight line beside the kernel functions
#' rvm(dist ~ speed, data = cars, basis = ~ speed)
#'
#' # two widths to choose from
#' rvm(x, y, kernel = c(kernel_gaussian(0.2), kernel_gaussian(1)))
#'
#' # classes
#' flowers <- rvm(Species ~ Petal.Length + Petal.Width, data = iris)
#' summary(flowers)
#' predict(flowers, iris[c(1, 51, 101), ], type = "prob")
#' plot(flowers)
#'
#' # two classes coded as 0 and 1
#' rvm(am ~ wt + hp, data = mtcars, family = "binomial")
#' @export
rvm <- function(x, ...) UseMethod("rvm")

#' @rdname rvm
#' @export
rvm.formula <- function(formula, data, subset, weights, na.action, offset,
                        contrasts = NULL, ...) {
  call <- match.call()
  call[[1]] <- quote(rvm)
  data <- if (missing(data)) NULL else data
  frame <- formula_frame(formula, data, call, parent.frame(), contrasts, list(...)$basis)
  fit <- rvm.default(frame, ...)
  fit$call <- call
  fit
}

#' @rdname rvm
#' @export
rvm.default <- function(x, y, kernel = NULL, basis = NULL, intercept = TRUE,
                        family = NULL, scale = TRUE, noise = NULL, weights = NULL,
                        prior = prior_flat(), centers = NULL, control = rvm_control(),
                        ...) {
  if (missing(x)) stop_no_inputs()
  check_no_more(...)
  is_frame <- inherits(x, "rvm_frame")
  check_response_given(is_frame, !missing(y))
  frame <- if (is_frame) x else matrix_frame(x, y, weights, basis)

  family <- resolve_family(family, frame$y)
  settings <- list(
    kernels = kernel_list(if (is.null(kernel)) default_kernel(family) else kernel),
    intercept = check_flag(intercept, "intercept") && frame$intercept, family = family,
    scale = check_flag(scale, "scale"),
    noise = if (!is.null(noise)) check_positive(noise, "noise"),
    prior = check_prior(prior), centers = centers, control = check_control(control)
  )
  fit <- fit_frame(checked_frame(frame, settings), settings)
  if (!is_frame) {
    fit$call <- match.call()
    fit$call[[1]] <- quote(rvm)
  }
  fit
}

stop_no_inputs <- function() {
  stop_rvm("`x` is missing: the first argument must be a formula or the inputs.")
}

# With a formula the response comes from there, without one from `y`.
check_response_given <- function(is_frame, given) {
  if (is_frame && given) stop_rvm("`y` must come from the formula where there is one.")
  if (!is_frame && !given) {
    stop_rvm("`y` is missing: it must be the response, numbers or class labels.")
  }
}

# A frame whose response, weights and offset have been looked at, with `used`,
# the rows that take part in the fit.
checked_frame <- function(frame, settings) {
  family <- families[[settings$family]]
  rows <- nrow(frame$x)
  if (!ncol(frame$x)) stop_rvm("`x` must have at least one column, not 0.")
  frame$names <- rownames(frame$x)
  frame$y <- family$response(frame$y, rows)
  frame$weights <- check_weights(frame$weights, rows)
  frame$offset <- check_offset(frame$offset, rows)
  frame$used <- if (is.null(frame$weights)) seq_len(rows) else which(frame$weights > 0)
  if (length(frame$used) < 2) {
    stop_rvm("`weights` must be positive in at least 2 rows, not ", length(frame$used), ".")
  }
  family$check(frame, settings)
  frame$used <- frame$used[canonical_order(frame, frame$used)]
  frame
}

# Sums depend on the order of their terms, if only in the last digit: rows are put
# in an order of their own, so that the order they come in cannot matter.
canonical_order <- function(frame, rows) {
  keys <- cbind(frame$x, as.numeric(frame$y), frame$weights, frame$offset)[rows, , drop = FALSE]
  do.call(order, unname(split(keys, col(keys))))
}

check_weights <- function(weights, rows) {
  if (is.null(weights)) return(NULL)
  if (!is.numeric(weights) || length(weights) != rows) {
    stop_argument("weights", paste("numeric, one for each of", rows, "rows"), describe(weights))
  }
  wrong <- which(!is.finite(weights) | weights < 0)
  if (length(wrong)) {
    stop_argument("weights", "finite and not negative",
                  paste(format(weights[wrong[1]]), "as in row", wrong[1]))
  }
  as.double(weights)
}

check_offset <- function(offset, rows) {
  if (is.null(offset)) return(NULL)
  if (!is.numeric(offset) || length(offset) != rows || !all(is.finite(offset))) {
    stop_argument("offset", paste("finite, one number for each of", rows, "rows"),
                  describe(offset))
  }
  as.double(offset)
}

# From a frame to a fitted object: scale, choose the widths, call the core.
fit_frame <- function(frame, settings) {
  settings$price <- price_in_fit(settings, length(frame$used))
  problem <- new_problem(frame, settings)
  learned <- learn_widths(problem, settings$kernels)
  fit <- fit_problem(problem, learned$kernels, learned$start)
  warn_about(fit$core)
  new_rvm(problem, fit, learned$rows)
}

# What stays the same when widths change: the inputs as kernels see them, explicit
# columns and candidate centres.
new_problem <- function(frame, settings) {
  raw <- frame$x[frame$used, , drop = FALSE]
  # Without a kernel the columns of x are the basis functions, in their own units.
  scaling <- if (settings$scale && length(settings$kernels)) find_scaling(raw)
  x <- apply_scaling(raw, scaling)
  centers <- if (length(settings$kernels)) {
    candidate_centers(settings$centers, x, frame$rows[frame$used], scaling)
  }
  list(frame = frame, settings = settings, x = x, scaling = scaling, centers = centers,
       given_centers = !is.null(settings$centers), basis = frame$basis[frame$used, , drop = FALSE])
}

problem_dictionary <- function(problem, kernels) {
  dictionary(kernels, problem$centers, problem$settings$intercept,
             colnames(problem$frame$basis), colnames(problem$frame$x))
}

# One call of the core; `start`, see start_from(), is a model to begin with.
fit_problem <- function(problem, kernels, start = NULL) {
  candidates <- problem_dictionary(problem, kernels)
  blocks <- dictionary_blocks(candidates, problem$x, problem$basis)
  check_blocks(candidates, blocks, problem$x)
  core <- families[[problem$settings$family]]$core(problem, blocks, start)
  list(kernels = kernels, candidates = candidates, core = core)
}

new_rvm <- function(problem, fit, learning_rows) {
  frame <- problem$frame
  settings <- problem$settings
  core <- fit$core
  family <- families[[settings$family]]
  active <- family$active(core, fit$candidates, levels(frame$y))
  names <- active$names
  relevance <- unique(unlist(lapply(kernel_parts(active$dictionary), function(part) part$rows)))
  relevance <- if (is.null(relevance)) integer(0) else relevance
  fit <- list(
    call = NULL, terms = frame$terms, family = settings$family,
    kernel = joined_kernels(fit$kernels),
    coefficients = active$coefficients,
    covariance = matrix(core$covariance, length(names), length(names),
                        dimnames = list(names, names)),
    alpha = stats::setNames(core$alpha, names),
    gamma = stats::setNames(core$gamma, names),
    relevance = relevance,
    centers = original_centers(settings$centers, frame, relevance),
    sigma = core$sigma, evidence = core$evidence, converged = core$converged,
    iterations = core$iterations, trace = as.data.frame(core$trace), levels = levels(frame$y),
    x = frame$x, y = frame$y, weights = frame$weights, offset = frame$offset,
    basis = frame$basis, used = frame$used, rows = frame$rows, noise = settings$noise,
    prior = settings$prior, control = settings$control, scaling = problem$scaling,
    dictionary = active$dictionary, pairs = active$pairs, recipe = frame$recipe,
    na.action = frame$na.action,
    learning_rows = learning_rows,
    # factor %*% t(factor) is the covariance
    factor = core$factor, log_likelihood = core$loglik
  )
  fit <- structure(fit, class = "rvm")
  fit$fitted.values <- family$fitted(fit, frame, core)
  fit
}

# The active weights in the order of their covariance, named.
active_weights <- function(object) {
  if (is.null(object$pairs)) return(object$coefficients)
  stats::setNames(object$coefficients[object$pairs], names(object$alpha))
}

original_centers <- function(given, frame, relevance) {
  if (is.matrix(given) || is.data.frame(given)) {
    points <- numeric_matrix(given, "centers")
    colnames(points) <- colnames(frame$x)
    return(points[relevance, , drop = FALSE])
  }
  points <- frame$x[match(relevance, frame$rows), , drop = FALSE]
  rownames(points) <- relevance
  points
}
