# Standardising the inputs. A scaling is list(center, scale), one number per
# input; NULL leaves the inputs as they are.

find_scaling <- function(x) {
  center <- colMeans(x)
  deviations <- abs(sweep(x, 2, center))
  largest <- apply(deviations, 2, max)
  # Dividing by the largest first keeps the squares within range.
  unit <- ifelse(largest > 0, largest, 1)
  scale <- unit * sqrt(colSums(sweep(deviations, 2, unit, "/")^2) / (nrow(x) - 1))
  # What a column that should be constant varies by is rounding.
  constant <- largest <= 16 * .Machine$double.eps * abs(center)
  scale[constant | scale == 0] <- 1
  list(center = center, scale = scale)
}

# Rounded to nine digits after the point: the rounding error of another unit or
# origin of x does not reach the fit.
apply_scaling <- function(x, scaling) {
  if (is.null(scaling)) return(unname(x))
  x <- sweep(x, 2, scaling$center)
  x <- sweep(x, 2, scaling$scale, "/")
  unname(round(x * 2^30) / 2^30)
}
