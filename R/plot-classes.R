# Pictures of fits whose response is a class.

# Colours that differ in lightness too, and points that differ in shape.
class_colours <- function(classes) {
  fixed <- c("#0072B2", "#D55E00", "#009E73", "#AA4499", "#8C6D00", "#444444")
  if (classes <= length(fixed)) fixed[seq_len(classes)] else {
    grDevices::hcl.colors(classes, "Dark 3")
  }
}

class_symbols <- function(classes) rep_len(c(16, 17, 15, 18, 8, 4), classes)

plot_classes <- function(fit, level, ...) {
  inputs <- ncol(fit$x)
  if (inputs == 1 && is.null(fit$offset)) return(plot_class_curves(fit, level, ...))
  field <- if (inputs == 2 && is.null(fit$offset)) field_frame(fit)
  if (is.null(field)) plot_calibration(fit, level, ...) else plot_field(fit, field, ...)
}

# Above the picture, where it hides nothing.
class_legend <- function(fit, ...) {
  classes <- length(fit$levels)
  graphics::legend("bottomleft", fit$levels, col = class_colours(classes), bty = "n",
                   cex = 0.85, ncol = min(classes, 6), inset = c(0, 1), xpd = TRUE,
                   seg.len = 1, ...)
}

# ---- two inputs ----------------------------------------------------------------

# A grid over the data, a little wider than their range, or NULL where columns of the
# model depend on more than the two inputs, or these are dummy columns of factors.
field_frame <- function(fit, size = 120) {
  is_dummy <- apply(fit$x, 2, function(column) length(unique(column)) < 3)
  if (any(is_dummy)) return(NULL)
  axes <- lapply(1:2, function(column) {
    ends <- grDevices::extendrange(fit$x[, column], f = 0.05)
    seq(ends[1], ends[2], length.out = size)
  })
  names(axes) <- colnames(fit$x)
  frame <- input_frame(fit, as.matrix(expand.grid(axes)))
  if (!is.null(frame)) c(frame, list(axes = axes))
}

plot_field <- function(fit, field, ...) {
  classes <- length(fit$levels)
  prob <- class_predict(fit, field, prediction("prob"))
  axes <- field$axes
  plot_frame(list(x = range(axes[[1]]), y = range(axes[[2]]), type = "n", las = 1, xaxs = "i",
                  yaxs = "i", xlab = names(axes)[1], ylab = names(axes)[2]), ...)
  draw_field(axes, prob)
  draw_boundaries(axes, prob)
  graphics::points(fit$x, pch = class_symbols(classes)[fit$y], cex = 0.7,
                   col = class_colours(classes)[fit$y])
  graphics::points(fit$centers, cex = 1.8, lwd = 2)
  class_legend(fit, pch = class_symbols(classes))
  graphics::box()
}

# Every cell in the mean of the class colours, weighted by the probabilities; pale,
# so that points stand out.
draw_field <- function(axes, prob) {
  colours <- t(grDevices::col2rgb(class_colours(ncol(prob)))) / 255
  mixed <- 1 - 0.45 * (1 - prob %*% colours)
  size <- lengths(axes)
  cells <- matrix(grDevices::rgb(pmin(mixed, 1)), size[1], size[2])
  half <- vapply(axes, function(axis) diff(axis[1:2]) / 2, 0)
  # An image has its first row on top.
  graphics::rasterImage(
    t(cells)[rev(seq_len(size[2])), ], min(axes[[1]]) - half[1], min(axes[[2]]) - half[2],
    max(axes[[1]]) + half[1], max(axes[[2]]) + half[2]
  )
}

# Where a class is as probable as the best of the others; with two classes also
# where one is three times as probable as the other.
draw_boundaries <- function(axes, prob) {
  line <- function(values, level, ...) {
    graphics::contour(axes[[1]], axes[[2]], matrix(values, length(axes[[1]])), levels = level,
                      add = TRUE, drawlabels = FALSE, ...)
  }
  if (ncol(prob) == 2) {
    line(prob[, 2], 0.5, lwd = 2)
    return(line(prob[, 2], c(0.25, 0.75), lty = 2))
  }
  for (k in seq_len(ncol(prob))) {
    others <- do.call(pmax, lapply(seq_len(ncol(prob))[-k], function(j) prob[, j]))
    line(prob[, k] - others, 0, lwd = 2)
  }
}

# ---- one input -----------------------------------------------------------------

plot_class_curves <- function(fit, level, ...) {
  curve <- curve_frame(fit)
  at <- curve$x[, 1]
  two <- length(fit$levels) == 2
  label <- if (two) paste0("probability of ", fit$levels[2]) else "probability"
  plot_frame(list(x = range(at, fit$x), y = c(-0.06, 1.06), type = "n", las = 1, yaxs = "i",
                  xlab = colnames(fit$x), ylab = label), ...)
  graphics::abline(h = c(0, 0.5, 1), col = "grey85")
  if (fit$family == "binomial") draw_band(fit, curve, level)
  prob <- class_predict(fit, curve, prediction("prob"))
  draw_labels(fit)
  if (two) graphics::lines(at, prob[, 2], lwd = 2) else {
    graphics::matlines(at, prob, lty = 1, lwd = 2, col = class_colours(ncol(prob)))
  }
  class_legend(fit, pch = class_symbols(ncol(prob)), lty = if (two) 0 else 1, lwd = 2)
  graphics::box()
}

# What the uncertainty of the weights leaves open about the probability.
draw_band <- function(fit, curve, level) {
  latent <- class_link(fit, curve, TRUE)
  half <- stats::qnorm((1 + level) / 2) * latent$se.fit
  at <- curve$x[, 1]
  graphics::polygon(c(at, rev(at)), stats::plogis(c(latent$fit - half, rev(latent$fit + half))),
                    col = grDevices::adjustcolor("black", 0.12), border = NA)
}

# The cases: at probability 0 and 1 where there are two classes, otherwise in a
# strip for each class below the curves.
draw_labels <- function(fit) {
  classes <- length(fit$levels)
  height <- if (classes == 2) c(-0.03, 1.03) else {
    -0.06 * seq_len(classes) / (classes + 1)
  }
  graphics::points(fit$x[, 1], height[fit$y], pch = class_symbols(classes)[fit$y], cex = 0.6,
                   col = grDevices::adjustcolor(class_colours(classes)[fit$y], 0.6))
  circle_relevant(fit, fit$x[, 1], height[fit$y], "black")
}

# ---- calibration ---------------------------------------------------------------

# Predicted probabilities against how often they came true, in ten bins. Two
# classes: the probability of the second; more: those of all classes together.
calibration_bins <- function(fit, bins = 10) {
  observed <- families[[fit$family]]$observed(fit)
  predicted <- fit$fitted.values
  weights <- rep_len(case_weights(fit), length(predicted))
  bin <- pmin(floor(predicted * bins), bins - 1)
  sums <- rowsum(cbind(weights, weights * c(predicted), weights * c(observed)), c(bin))
  sums <- sums[sums[, 1] > 0, , drop = FALSE]
  data.frame(count = sums[, 1], predicted = sums[, 2] / sums[, 1],
             observed = sums[, 3] / sums[, 1])
}

plot_calibration <- function(fit, level, ...) {
  bins <- calibration_bins(fit)
  label <- if (length(fit$levels) == 2) paste("probability of", fit$levels[2]) else {
    "probability of each class"
  }
  plot_frame(list(x = c(0, 1), y = c(0, 1), type = "n", las = 1, xlab = paste("predicted", label),
                  ylab = "share of cases"), ...)
  graphics::abline(0, 1, col = "grey60")
  happened <- bins$observed * bins$count
  tail <- (1 - level) / 2
  graphics::segments(
    bins$predicted, stats::qbeta(tail, happened, bins$count - happened + 1),
    bins$predicted, stats::qbeta(1 - tail, happened + 1, bins$count - happened),
    lwd = 2, col = grDevices::adjustcolor(plot_colours$line, 0.5)
  )
  graphics::lines(bins$predicted, bins$observed, type = "o", pch = 16, lwd = 2,
                  col = plot_colours$line)
  counts <- format(bins$count, digits = 3, trim = TRUE)
  graphics::mtext(c("cases", counts), at = c(0, bins$predicted), adj = c(1.6, rep(0.5, nrow(bins))),
                  line = 0.2, cex = 0.75)
}
