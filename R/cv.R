#' Choose a kernel width by cross-validation
#'
#' Fits [rvm()] at each of several kernel widths to parts of the data, predicts the
#' rows that were left out, and keeps the width that predicts them best. [rvm()]
#' itself finds widths from the evidence, in less time; cross-validation asks only
#' how good the predictions are, and shows how much the width matters.
#'
#' The rows are divided into `folds` parts. Each part in turn is left out, the model
#' is fitted to the others at every width, and the part is predicted. This makes one
#' fit for each fold and width, and one more to all rows at the chosen width.
#' Warnings of the fits on the way are not shown, those of the last one are.
#'
#' For a numeric response, the width with the smallest root mean squared error is
#' chosen. The mean of minus the log of the predictive density is given beside it: it
#' tells whether the error bars are of the right size too. For classes, the width
#' with the smallest log loss is chosen, the mean of minus the log of the probability
#' given to the true class. It moves smoothly with the width, while the error rate,
#' which is given beside it, goes up and down in steps of one case. Probabilities
#' below 1e-15 count as 1e-15, as does the probability of a class of which there was
#' no case in the fit.
#'
#' With `one_se = TRUE` the width is the widest whose error is within one standard
#' error of the smallest: a smoother model that is about as good.
#'
#' Cases count in the error by their weight, and those of weight zero not at all. In
#' the predictive density, a weight divides the variance of the noise, as it does in
#' the fit. The formula and the coding of factors are worked out once, on all rows;
#' inputs are standardised for each fit anew.
#'
#' # Several cores
#'
#' The folds are fitted at the same time where the package 'future.apply' is
#' installed and `future::plan()` has been told to use several workers, for example
#' by `future::plan("multisession")`. Each worker then uses one core. The results are
#' the same.
#'
#' @param x a numeric matrix, a vector for one input, a data frame, or a formula, as
#'   in [rvm()]. For `print()` and `plot()`, a result of `rvm_cv()`.
#' @param y response, as in [rvm()].
#' @param formula,data,subset,weights,na.action,offset,contrasts as in [rvm()].
#' @param kernel one kernel that has a width: [kernel_gaussian()], [kernel_laplace()],
#'   [kernel_cauchy()] or [kernel_matern()]. Each of `widths` takes the place of its
#'   width, the same for all inputs.
#' @param ... further arguments of [rvm()], such as `basis`, `family`, `scale`,
#'   `noise`, `prior`, `centers` and `control`; without a formula also `weights`. For
#'   `plot()`, graphical parameters such as `main` and `ylim`; for `predict()`, the
#'   arguments of [predict.rvm()].
#' @param widths positive numbers, in units of the standardised inputs unless
#'   `scale = FALSE`. `NULL`: 12 widths from 0.15 to 4 times the median distance
#'   between the rows of the inputs, at equal ratios, rounded to three digits.
#' @param folds number of folds, at least 2. They are drawn at random (reproducible
#'   under [set.seed()]), and of each class every fold gets its share. As many folds
#'   as rows leave out one row at a time. Or a vector with the fold of each row of
#'   the data as they were passed, before `subset` and `na.action`.
#' @param one_se whether to take the widest width within one standard error of the
#'   best.
#'
#' @return An object of class `"rvm_cv"`, a list with elements
#'   \item{call}{the call}
#'   \item{table}{a data frame with a row for each width, in increasing order:
#'     `width`; `error`, the mean error that the choice is made by; `se`, its
#'     standard error, from how it varies over the folds; and a second criterion,
#'     `neg_log_density` for a numeric response and `error_rate` for classes}
#'   \item{width}{the chosen width}
#'   \item{fit}{the fit by [rvm()] to all rows at this width}
#'   \item{folds}{the fold of each row of the data as they were passed, `NA` for rows
#'     that took no part}
#'   \item{criterion}{what `error` is: `"root mean squared error"` or `"log loss"`}
#'   \item{one_se}{as given}
#'
#'   `predict()` predicts from `fit`.
#' @seealso [rvm()], [kernels]
#' @examples
#' set.seed(1)
#' cv <- rvm_cv(dist ~ speed, data = cars)
#' cv
#' plot(cv)
#' predict(cv, data.frame(speed = c(5, 15, 25)), interval = "prediction")
#' cv$fit
#'
#' # classes, three widths
#' rvm_cv(Species ~ Petal.Length + Petal.Width, data = iris, widths = c(0.5, 1, 2))
#'
#' # another kernel, four folds that are given, the smoother of good models
#' rvm_cv(mpg ~ wt + hp, data = mtcars, kernel = kernel_matern(),
#'        folds = rep(1:4, 8), one_se = TRUE)
#' @export
rvm_cv <- function(x, ...) UseMethod("rvm_cv")

#' @rdname rvm_cv
#' @export
rvm_cv.formula <- function(formula, data, subset, weights, na.action, offset,
                           contrasts = NULL, ...) {
  call <- match.call()
  call[[1]] <- quote(rvm_cv)
  data <- if (missing(data)) NULL else data
  frame <- formula_frame(formula, data, call, parent.frame(), contrasts, list(...)$basis)
  frame$given <- NROW(eval(formula[[2]], data, environment(formula)))
  with_calls(rvm_cv.default(frame, ...), call)
}

#' @rdname rvm_cv
#' @export
rvm_cv.default <- function(x, y, kernel = kernel_gaussian(), ..., widths = NULL, folds = 5,
                           one_se = FALSE) {
  if (missing(x)) stop_no_inputs()
  arguments <- fit_arguments(...)
  is_frame <- inherits(x, "rvm_frame")
  check_response_given(is_frame, !missing(y))
  kernel <- check_width_kernel(kernel)
  one_se <- check_flag(one_se, "one_se")
  frame <- if (is_frame) x else plain_frame(x, y, arguments)

  arguments$family <- resolve_family(arguments$family, frame$y)
  checked <- checked_frame(frame, arguments[c("family", "noise")])
  # The labels as they were checked: the fits need not complain of them again.
  frame$y <- checked$y
  used <- sort(checked$used)
  # Half of the rows have to be enough for a fit.
  if (length(used) < 4) {
    stop_rvm("`x` must have at least 4 rows of positive weight to leave some out, not ",
             length(used), ".")
  }
  widths <- if (!is.null(widths)) check_widths(widths) else {
    default_widths(frame$x[used, , drop = FALSE], arguments$scale)
  }
  folds <- fold_labels(folds, frame, used)
  result <- cross_validate(frame, used, folds, lapply(widths, set_width, kernel = kernel),
                           arguments, one_se)
  if (is_frame) return(result)
  call <- match.call()
  call[[1]] <- quote(rvm_cv)
  with_calls(result, call)
}

# ---- what the user passed ------------------------------------------------------

# Arguments for rvm.default() out of `...`, with those that are needed here.
fit_arguments <- function(...) {
  given <- list(...)
  names <- if (is.null(names(given))) rep("", length(given)) else names(given)
  known <- setdiff(names(formals(rvm.default)), c("x", "y", "kernel", "..."))
  do.call(check_no_more, given[!names %in% known])
  defaults <- list(scale = TRUE, control = rvm_control())
  arguments <- c(given, defaults[setdiff(names(defaults), names(given))])
  arguments$scale <- check_flag(arguments$scale, "scale")
  arguments$control <- check_control(arguments$control)
  arguments
}

# The frame of the default method, with the number of rows given.
plain_frame <- function(x, y, arguments) {
  frame <- matrix_frame(x, y, arguments$weights, arguments$basis)
  frame$given <- nrow(frame$x)
  structure(frame, class = "rvm_frame")
}

check_width_kernel <- function(kernel) {
  takes <- paste("one kernel that has a width: kernel_gaussian(), kernel_laplace(),",
                 "kernel_cauchy() or kernel_matern()")
  kernels <- kernel_list(kernel)
  if (length(kernels) != 1) {
    stop_argument("kernel", takes, if (length(kernels)) paste(length(kernels), "kernels") else {
      "\"none\""
    })
  }
  kernel <- kernels[[1]]
  if (!kernel$name %in% kernels_with_width) {
    stop_argument("kernel", takes, if (is.null(kernel$fun)) with_article(format(kernel)) else {
      "a function"
    })
  }
  if (kernel$ard) {
    stop_argument("kernel", "one with the same width for all inputs",
                  "one with a width for each of them")
  }
  kernel
}

check_widths <- function(widths) {
  if (!is.numeric(widths) || !length(widths)) {
    stop_argument("widths", "positive numbers", describe(widths))
  }
  wrong <- !is.finite(widths) | widths <= 0
  if (any(wrong)) stop_argument("widths", "positive and finite", some(format(widths[wrong])))
  sort(unique(as.double(widths)))
}

# Three digits, so that the chosen width can be typed.
default_widths <- function(x, scale, size = 12) {
  distance <- median_distance(apply_scaling(x, if (scale) find_scaling(x)))
  unique(signif(distance * exp(seq(log(0.15), log(4), length.out = size)), 3))
}

set_width <- function(width, kernel) {
  kernel$width <- width
  kernel$estimate <- FALSE
  kernel
}

# The fold of each row that was given, NA where it is not used.
fold_labels <- function(folds, frame, used) {
  rows <- frame$rows[used]
  labels <- if (length(folds) == 1) {
    draw_folds(check_fold_number(folds, length(used)), frame$y[used])
  } else check_fold_labels(folds, frame$given, rows)
  all <- rep(labels[NA_integer_], frame$given)
  all[rows] <- labels
  all
}

check_fold_number <- function(folds, rows) {
  if (!is_number(folds) || folds != round(folds) || folds < 2 || folds > rows) {
    stop_argument("folds", paste0("a whole number from 2 to ", rows, ", the number of rows, ",
                                  "or the fold of each row"), describe(folds))
  }
  folds
}

check_fold_labels <- function(folds, given, rows) {
  if (!is.atomic(folds) || is.null(folds) || length(folds) != given || !is.null(dim(folds))) {
    stop_argument("folds", paste("a number, or the fold of each of", given, "rows"),
                  describe(folds))
  }
  labels <- unname(folds)[rows]
  if (anyNA(labels)) {
    stop_argument("folds", "known", paste("NA as in row", rows[is.na(labels)][1]))
  }
  sizes <- table(as.character(labels))
  if (length(sizes) < 2) {
    stop_argument("folds", "of at least 2 different labels", paste("only", quoted(names(sizes))))
  }
  if (length(rows) - max(sizes) < 2) {
    stop_argument("folds", "such that 2 rows are left when one fold is out",
                  paste(length(rows) - max(sizes), "as for", quoted(names(which.max(sizes)))))
  }
  labels
}

# The rows in random order, class by class, are dealt out to the folds in turn.
draw_folds <- function(number, y) {
  rows <- sample.int(length(y))
  if (is.factor(y)) rows <- rows[order(as.integer(y)[rows])]
  folds <- integer(length(y))
  folds[rows] <- rep_len(sample.int(number), length(y))
  folds
}

# ---- the fits --------------------------------------------------------------------

cross_validate <- function(frame, used, folds, kernels, arguments, one_se) {
  # Candidate centres that are drawn are drawn from one seed in every fit: widths are
  # compared at the same ones, on whatever worker.
  seed <- sample.int(.Machine$integer.max, 1)
  fold <- folds[frame$rows[used]]
  fold <- match(fold, unique(fold))
  held <- split(seq_along(used), fold)
  inner <- inner_arguments(arguments)
  found <- over_folds(unname(held), fold_losses, frame_rows(frame, used), kernels, inner, seed)

  losses <- matrix(NA_real_, length(used), length(kernels))
  second <- losses
  for (i in seq_along(held)) {
    losses[held[[i]], ] <- found[[i]]$losses
    second[held[[i]], ] <- found[[i]]$second
  }
  weights <- if (is.null(frame$weights)) rep(1, length(used)) else frame$weights[used]
  weights <- weights / max(weights)
  classes <- is.factor(frame$y)
  table <- data.frame(
    width = vapply(kernels, function(kernel) kernel$width, 0),
    mean_errors(losses, fold, weights, root = !classes)
  )
  table[[if (classes) "error_rate" else "neg_log_density"]] <-
    column_means(second, if (classes) weights else rep(1, length(used)))
  chosen <- chosen_row(table, one_se)
  fit <- with_seed(seed, fit_rows(frame, kernels[[chosen]], arguments))
  structure(
    list(call = NULL, table = table, width = table$width[chosen], fit = fit, folds = folds,
         criterion = if (classes) "log loss" else "root mean squared error", one_se = one_se),
    class = "rvm_cv"
  )
}

# Settings of the fits on the way: each is short, and where folds have workers of
# their own these share the cores.
inner_arguments <- function(arguments) {
  arguments$control$progress <- FALSE
  if (has_workers()) arguments$control$threads <- 1L
  # Both are in the frame; functions would drag their surroundings to the workers.
  arguments[setdiff(names(arguments), c("basis", "weights"))]
}

# Who has set a plan has loaded 'future'.
has_workers <- function() {
  isNamespaceLoaded("future") && requireNamespace("future.apply", quietly = TRUE) &&
    !inherits(future::plan(), "sequential")
}

over_folds <- function(held, losses, ...) {
  if (!has_workers()) return(lapply(held, losses, ...))
  future.apply::future_lapply(held, losses, ..., future.seed = TRUE)
}

# The frame of some rows, with no more than a fit takes.
frame_rows <- function(frame, rows) {
  structure(list(
    x = frame$x[rows, , drop = FALSE], y = frame$y[rows], weights = frame$weights[rows],
    offset = frame$offset[rows], basis = frame$basis[rows, , drop = FALSE],
    rows = frame$rows[rows], intercept = frame$intercept
  ), class = "rvm_frame")
}

fit_rows <- function(frame, kernel, arguments) {
  do.call(rvm.default, c(list(frame, kernel = kernel), arguments))
}

# Evaluates with a generator that is the same on every worker, and puts the user's
# one back.
with_seed <- function(seed, expr) {
  before <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (is.null(before)) rm(".Random.seed", envir = globalenv()) else {
    assign(".Random.seed", before, envir = globalenv())
  })
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  expr
}

# Losses of the held-out rows by both criteria, a column for each kernel.
fold_losses <- function(held, frame, kernels, arguments, seed) {
  training <- frame_rows(frame, -held)
  testing <- frame_rows(frame, held)
  testing$complete <- rep(TRUE, length(held))
  if (is.factor(frame$y)) training$y <- droplevels(training$y)
  found <- lapply(kernels, function(kernel) {
    # With a single class left there is nothing to fit.
    fit <- if (!identical(nlevels(training$y), 1L)) {
      suppressWarnings(with_seed(seed, fit_rows(training, kernel, arguments)))
    }
    if (is.factor(frame$y)) class_losses(fit, levels(training$y), testing) else {
      numeric_losses(fit, testing)
    }
  })
  column <- function(name) do.call(cbind, lapply(found, function(losses) losses[[name]]))
  list(losses = column("losses"), second = column("second"))
}

numeric_losses <- function(fit, testing) {
  latent <- latent_values(fit, testing)
  noise <- fit$sigma^2 / if (is.null(testing$weights)) 1 else testing$weights
  density <- stats::dnorm(testing$y, latent$fit, sqrt(latent$variance + noise), log = TRUE)
  list(losses = unname((testing$y - latent$fit)^2), second = -density)
}

# `seen` are the classes that the fit knows of.
class_losses <- function(fit, seen, testing) {
  prob <- matrix(0, length(testing$y), nlevels(testing$y),
                 dimnames = list(NULL, levels(testing$y)))
  prob[, seen] <- if (is.null(fit)) 1 else class_predict(fit, testing, prediction("prob"))
  truth <- as.integer(testing$y)
  list(losses = -log(pmax(prob[cbind(seq_along(truth), truth)], 1e-15)),
       second = as.numeric(best_decision(prob, NULL) != truth))
}

# ---- errors and choice -------------------------------------------------------------

column_means <- function(losses, weights) colSums(losses * weights) / sum(weights)

# Mean over the rows, and its standard error from the means of the folds, each of
# which counts by the weight of its rows. The relative standard error of a root is half
# of that of its square. Relative ones stay within range whatever the unit.
mean_errors <- function(losses, fold, weights, root) {
  total <- c(rowsum(weights, fold))
  means <- rowsum(losses * weights, fold) / total
  error <- column_means(losses, weights)
  relative <- sweep(means, 2, ifelse(error > 0, error, 1), "/") - 1
  se <- sqrt(colSums(relative^2 * total) / sum(total) / (length(total) - 1))
  if (root) list(error = sqrt(error), se = sqrt(error) * se / 2) else {
    list(error = error, se = error * se)
  }
}

# The widest of equals is the simplest model.
chosen_row <- function(table, one_se) {
  best <- best_row(table)
  max(which(table$error <= table$error[best] + if (one_se) table$se[best] else 0))
}

best_row <- function(table) max(which(table$error == min(table$error)))

# The calls of the result and of its fit, which can be made again without the choice.
with_calls <- function(result, call) {
  result$call <- call
  call[[1]] <- quote(rvm)
  call <- call[!names(call) %in% c("widths", "folds", "one_se")]
  call$kernel <- kernel_call(result$fit$kernel)
  result$fit$call <- call
  result
}

# The call that makes a kernel of one width.
kernel_call <- function(kernel) {
  switch(kernel$name,
    matern32 = call("kernel_matern", width = kernel$width),
    matern52 = call("kernel_matern", width = kernel$width, nu = 5/2),
    call(paste0("kernel_", kernel$name), width = kernel$width)
  )
}

# ---- methods -----------------------------------------------------------------------

#' @rdname rvm_cv
#' @param digits number of significant digits to print.
#' @export
print.rvm_cv <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  cat("Kernel width by cross-validation, ",
      count(length(unique(stats::na.omit(x$folds))), "fold"), "\n\nCall:\n", sep = "")
  cat(deparse(x$call), "", sep = "\n")
  shown <- vapply(x$table, format, character(nrow(x$table)), digits = digits)
  shown <- matrix(shown, ncol = 4, dimnames = list(
    ifelse(x$table$width == x$width, "*", " "),
    c("width", x$criterion, "std. error", second_label(x))
  ))
  print(shown, quote = FALSE, right = TRUE)
  cat("\n* chosen for the ", kernel_titles[[x$fit$kernel$name]], " kernel",
      if (!is.null(x$fit$scaling)) ", inputs standardised", ": ", choice_words(x), ".\n", sep = "")
  cat(edge_words(x))
  invisible(x)
}

second_label <- function(x) {
  if (is.null(x$table$error_rate)) "-log density" else "error rate"
}

choice_words <- function(x) {
  if (!x$one_se) return(paste("the least", if (is.null(x$fit$levels)) "error" else "log loss"))
  paste0("the widest\nwithin one standard error of the best, ",
         format(x$table$width[best_row(x$table)], digits = 3))
}

# A best width at the end of the range may not be the best there is.
edge_words <- function(x) {
  best <- best_row(x$table)
  if (nrow(x$table) == 1 || !best %in% c(1, nrow(x$table))) return("")
  end <- if (best == 1) c("narrowest", "narrower") else c("widest", "wider")
  paste0("The best width is the ", end[1], " of `widths`: ", end[2], " ones may be better.\n")
}

#' @rdname rvm_cv
#' @export
plot.rvm_cv <- function(x, ...) {
  table <- x$table
  lower <- table$error - table$se
  upper <- table$error + table$se
  chosen <- which(table$width == x$width)
  plot_frame(list(x = table$width, y = table$error, ylim = range(lower, upper), log = "x",
                  type = "n", las = 1, xlab = "width", ylab = x$criterion), ...)
  graphics::abline(v = x$width, lty = 2, col = plot_colours$circle)
  # The bar that the chosen width had to come below.
  if (x$one_se) graphics::abline(h = upper[best_row(table)], lty = 3, col = plot_colours$data)
  colours <- replace(rep(plot_colours$line, nrow(table)), chosen, plot_colours$circle)
  graphics::segments(table$width, lower, table$width, upper, lwd = 1.5, col = colours)
  graphics::lines(table$width, table$error, lwd = 2, col = plot_colours$line)
  graphics::points(table$width, table$error, pch = 16, cex = ifelse(table$width == x$width, 1.5, 1),
                   col = colours)
  graphics::mtext(paste("chosen:", format(x$width, digits = 3)), at = x$width, line = 0.3,
                  col = plot_colours$circle)
  invisible(x)
}

#' @rdname rvm_cv
#' @param object a result of `rvm_cv()`.
#' @export
predict.rvm_cv <- function(object, ...) predict(object$fit, ...)
