#' Plot a relevance vector machine
#'
#' Pictures of a fit by [rvm()].
#'
#' `which = "fit"`, for a numeric response: with one input, the data, the
#' predictive mean, the prediction interval as a band, and the relevance vectors
#' circled; with several inputs, the fitted against the observed response, with the
#' diagonal.
#'
#' `which = "fit"`, for classes: with two inputs, the probabilities of the classes
#' as a field of mixed colours, the boundaries between the decisions as lines (with
#' two classes also those of probability 0.25 and 0.75, dashed), the cases, and the
#' relevance vectors circled; with one input, the probability of the second of two
#' classes, with a band that shows how far the weights are known, or a curve for
#' each of several classes; with more inputs, or an offset, the calibration.
#'
#' `which = "calibration"`, for classes: the fitted probabilities, in ten bins,
#' against the share of cases for which they came true, with the number of cases in
#' each bin and binomial intervals. Of two classes it is the probability of the
#' second; of more, those of all classes count together. Good probabilities lie on
#' the diagonal. Those of the training data flatter a little.
#'
#' `which = "evidence"`: the log evidence along the iterations. It can fall in
#' between: the search leaves a model for a while to look for a better one, and
#' keeps the best.
#'
#' `which = "relevance"`: the weights of the active basis functions, with
#' intervals.
#'
#' `which = "inputs"`: how much each input matters, see [relevance_inputs()]: its
#' relevance, and in the right margin the loss of log evidence without it.
#'
#' @param x a fit by [rvm()].
#' @param which the picture.
#' @param level probability of the band and of the intervals.
#' @param ... graphical parameters such as `main`, `xlab`, `ylab`, `xlim`, `ylim`,
#'   given to [plot()].
#' @return `x`, invisibly.
#' @examples
#' set.seed(1)
#' x <- seq(-10, 10, length.out = 100)
#' y <- sin(x) / x + rnorm(100, sd = 0.1)
#' fit <- rvm(x, y)
#' plot(fit)
#' plot(fit, which = "evidence")
#' plot(fit, which = "relevance")
#' plot(rvm(mpg ~ ., data = mtcars), which = "inputs")
#'
#' # classes
#' plot(rvm(Species ~ Petal.Length + Petal.Width, data = iris))
#' plot(rvm(am ~ wt, data = mtcars, family = "binomial"))
#' plot(rvm(Species ~ ., data = iris), which = "calibration")
#' @export
plot.rvm <- function(x, which = c("fit", "evidence", "relevance", "inputs", "calibration"),
                     level = 0.95, ...) {
  which <- check_choice(which, c("fit", "evidence", "relevance", "inputs", "calibration"), "which")
  level <- check_level(level)
  if (which == "calibration" && is.null(x$levels)) {
    stop_argument("which", "\"fit\", \"evidence\", \"relevance\" or \"inputs\" for a numeric response",
                  describe(which))
  }
  switch(which,
    fit = if (is.null(x$levels)) plot_numeric(x, level, ...) else plot_classes(x, level, ...),
    evidence = plot_evidence(x, ...),
    relevance = plot_weights(x, level, ...),
    inputs = plot_inputs(x, ...),
    calibration = plot_calibration(x, level, ...)
  )
  invisible(x)
}

plot_colours <- list(data = "grey45", line = "#08519c", circle = "#d94801")

# plot() with defaults that the user's own parameters replace.
plot_frame <- function(defaults, ...) {
  given <- list(...)
  do.call(graphics::plot, c(defaults[setdiff(names(defaults), names(given))], given))
}

plot_numeric <- function(fit, level, ...) {
  has_curve <- ncol(fit$x) == 1 && is.null(fit$offset)
  if (has_curve) plot_curve(fit, level, ...) else plot_observed(fit, ...)
}

plot_curve <- function(fit, level, ...) {
  curve <- curve_frame(fit)
  band <- gaussian_predict(fit, curve, prediction(interval = "prediction", level = level))
  at <- curve$x[, 1]
  plot_frame(list(x = range(at, fit$x), y = range(band, fit$y), type = "n", las = 1,
                  xlab = colnames(fit$x), ylab = response_label(fit)), ...)
  graphics::polygon(c(at, rev(at)), c(band[, "lwr"], rev(band[, "upr"])),
                    col = grDevices::adjustcolor(plot_colours$line, 0.18), border = NA)
  graphics::points(fit$x[, 1], fit$y, pch = 16, cex = 0.7, col = plot_colours$data)
  graphics::lines(at, band[, "fit"], lwd = 2, col = plot_colours$line)
  circle_relevant(fit, fit$x[, 1], fit$y)
  graphics::box()
}

# Inputs along which the curve is drawn: a fine grid, or the sorted data where
# explicit columns depend on more than the input.
curve_frame <- function(fit, size = 300) {
  grid <- seq(min(fit$x), max(fit$x), length.out = size)
  frame <- input_frame(fit, matrix(grid, dimnames = list(NULL, colnames(fit$x))))
  if (!is.null(frame)) return(frame)
  frame <- training_frame(fit)
  sorted <- order(fit$x)
  frame$x <- frame$x[sorted, , drop = FALSE]
  frame$basis <- frame$basis[sorted, , drop = FALSE]
  frame
}

# A frame of these inputs, or NULL where they do not say what the explicit columns are.
input_frame <- function(fit, x) {
  basis <- fit$recipe$basis
  if (is.null(basis) || is.function(basis)) {
    explicit <- if (is.function(basis)) basis_values(basis, x, fit$recipe$explicit)
    return(list(x = x, basis = explicit, complete = rep(TRUE, nrow(x))))
  }
  if (setequal(fit$recipe$variables, colnames(x))) {
    new_frame(fit$recipe, as.data.frame(x), stats::na.pass)
  }
}

plot_observed <- function(fit, ...) {
  limits <- range(fit$y, fit$fitted.values)
  plot_frame(list(x = fit$fitted.values, y = fit$y, xlim = limits, ylim = limits,
                  pch = 16, cex = 0.7, col = plot_colours$data, las = 1,
                  xlab = "fitted", ylab = response_label(fit)), ...)
  graphics::abline(0, 1, lwd = 2, col = plot_colours$line)
  circle_relevant(fit, fit$fitted.values, fit$y)
}

# Centres that are no rows of the data have no point to circle.
circle_relevant <- function(fit, x, y, colour = plot_colours$circle) {
  rows <- match(fit$relevance, fit$rows)
  if (identical(unname(fit$x[rows, , drop = FALSE]), unname(fit$centers))) {
    graphics::points(x[rows], y[rows], cex = 1.6, lwd = 1.5, col = colour)
  } else if (ncol(fit$centers) == 1) {
    graphics::rug(fit$centers, lwd = 1.5, col = colour)
  }
}

response_label <- function(fit) {
  if (is.null(fit$terms)) return("y")
  paste(deparse(stats::formula(fit$terms)[[2]]), collapse = " ")
}

plot_evidence <- function(fit, ...) {
  plot_frame(list(x = fit$trace$iteration, y = fit$trace$evidence, type = "o", pch = 16,
                  cex = 0.6, lwd = 2, col = plot_colours$line, las = 1,
                  xlab = "iteration", ylab = "log evidence"), ...)
}

plot_weights <- function(fit, level, ...) {
  weights <- active_weights(fit)
  if (!length(weights)) stop_rvm("The fit has no active basis function to plot.")
  interval <- confint(fit, level = level)
  at <- seq_along(weights)
  many <- length(at) > 12
  plot_frame(list(x = at, y = weights, ylim = range(interval, 0), type = "n", xaxt = "n",
                  las = 1, xlab = if (many) "" else "active basis function",
                  ylab = "weight"), ...)
  graphics::axis(1, at, names(weights), las = if (many) 2 else 1)
  graphics::abline(h = 0, col = "grey80")
  graphics::segments(at, interval[, 1], at, interval[, 2], lwd = 2, col = plot_colours$line)
  graphics::points(at, weights, pch = 16, col = plot_colours$circle)
}
