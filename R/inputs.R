#' Which inputs matter
#'
#' For each input of a fit by [rvm()], its width, its relevance, and what the log
#' evidence loses without it.
#'
#' The relevance is 1 / width, on the inputs as the kernel sees them: standardised
#' unless `scale = FALSE`. An input that was found to be of no use has the width
#' `Inf` and the relevance 0. The widths of a fit tell the inputs apart where there
#' is one for each: this is the default for a numeric response, and comes with
#' `kernel_gaussian(ard = TRUE)` and its like. With several kernels it is the
#' smallest width that counts.
#'
#' `loss` is the log evidence of the fit less that of a fit of the same basis
#' functions in which the input is constant, with precisions of its own. It can be
#' had for every kernel. A loss of 3 or more is strong evidence that the input matters; one
#' below 0 says that the fit would be better off without it. Inputs that stand in
#' for each other may all have small losses.
#'
#' @param object a fit by [rvm()].
#' @param ... ignored.
#' @return A data frame, the most relevant input first: `input`, `width` and
#'   `relevance` (`NA` for kernels without a width), `loss`.
#' @seealso `plot(fit, which = "inputs")`
#' @examples
#' fit <- rvm(mpg ~ wt + hp + qsec + drat, data = mtcars)
#' relevance_inputs(fit)
#' plot(fit, which = "inputs")
#' @export
relevance_inputs <- function(object, ...) UseMethod("relevance_inputs")

#' @rdname relevance_inputs
#' @export
relevance_inputs.rvm <- function(object, ...) {
  inputs <- input_widths(object)
  inputs$loss <- vapply(seq_len(ncol(object$x)), loss_without, 0, object = object,
                        problem = fitted_problem(object), start = fitted_start(object))
  inputs <- inputs[order(-inputs$relevance, -inputs$loss), ]
  rownames(inputs) <- NULL
  inputs
}

input_widths <- function(object) {
  kernels <- Filter(function(kernel) kernel$name %in% kernels_with_width,
                    kernel_list(object$kernel))
  widths <- lapply(kernels, function(kernel) rep_len(kernel$width, ncol(object$x)))
  width <- if (length(widths)) do.call(pmin, widths) else NA_real_
  data.frame(input = colnames(object$x), width = width, relevance = 1 / width)
}

# A constant input is the same to every kernel as none at all.
loss_without <- function(input, object, problem, start) {
  problem$x[, input] <- 0
  dictionary <- lapply(object$dictionary, function(part) {
    if (part$kind == "kernel") part$centers[, input] <- 0
    part
  })
  blocks <- dictionary_blocks(dictionary, problem$x, problem$basis)
  core <- families[[object$family]]$core(problem, blocks, start)
  object$evidence - core$evidence
}

# The problem that a fit has solved, for its own functions.
fitted_problem <- function(object) {
  control <- object$control
  control$method <- "fast"
  list(frame = object[c("y", "used", "weights", "offset")],
       settings = list(prior = object$prior, noise = object$noise, control = control, price = 0),
       x = apply_scaling(object$x[object$used, , drop = FALSE], object$scaling),
       basis = object$basis[object$used, , drop = FALSE])
}

fitted_start <- function(object) {
  numbers <- seq_along(object$alpha)
  if (!is.null(object$pairs)) numbers <- pair_numbers(object)
  start_from(list(core = list(active = as.integer(numbers), alpha = unname(object$alpha),
                              sigma = object$sigma)), brief = TRUE)
}

plot_inputs <- function(fit, most = 30, ...) {
  inputs <- utils::head(relevance_inputs(fit), most)
  relevance <- if (anyNA(inputs$relevance)) pmax(inputs$loss, 0) else inputs$relevance
  label <- if (anyNA(inputs$relevance)) "loss of log evidence without it" else "relevance, 1 / width"
  at <- rev(seq_along(relevance))
  saved <- graphics::par(mar = c(4.1, 1.5 + 0.5 * max(nchar(inputs$input)), 2.1, 5.1))
  on.exit(graphics::par(saved))
  plot_frame(list(x = relevance, y = at, xlim = c(0, max(relevance, 1e-12)), type = "n", las = 1,
                  ylim = c(0.5, length(at) + 0.5), yaxt = "n", xlab = label, ylab = ""), ...)
  graphics::axis(2, at, inputs$input, las = 1, tick = FALSE)
  graphics::segments(0, at, relevance, at, lwd = 2, col = plot_colours$line)
  graphics::points(relevance, at, pch = 16, col = plot_colours$circle)
  graphics::axis(4, at, format(inputs$loss, digits = 1, nsmall = 1, scientific = FALSE), las = 1,
                 tick = FALSE)
  graphics::mtext("loss", side = 4, line = 1, las = 1, at = length(at) + 0.9)
}
