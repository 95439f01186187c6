#' Kernels
#'
#' Kernel functions for [rvm()]. A kernel turns each candidate centre *z* into a
#' basis function *k(x, z)*; they need not be positive definite.
#'
#' With *r* the length of (*x* - *z*) / `width`, one width for all inputs or one
#' for each:
#'
#' | constructor | *k(x, z)* |
#' | --- | --- |
#' | `kernel_gaussian()` | exp(-*r*^2) |
#' | `kernel_laplace()` | exp(-*r*) |
#' | `kernel_cauchy()` | 1 / (1 + *r*^2) |
#' | `kernel_matern(nu = 3/2)` | (1 + sqrt(3) *r*) exp(-sqrt(3) *r*) |
#' | `kernel_matern(nu = 5/2)` | (1 + sqrt(5) *r* + 5 *r*^2 / 3) exp(-sqrt(5) *r*) |
#' | `kernel_spline()` | product over the inputs of 1 + *xz* + *xz* min(*x*, *z*) - (*x* + *z*)/2 min(*x*, *z*)^2 + min(*x*, *z*)^3 / 3 |
#' | `kernel_thinplate()` | *d*^2 log *d*, *d* the distance between *x* and *z* |
#' | `kernel_linear()` | *x'z* |
#' | `kernel_polynomial()` | (`scale` *x'z* + `offset`)^`degree` |
#' | `kernel_sigmoid()` | tanh(`scale` *x'z* + `offset`) |
#'
#' [rvm()] standardises the inputs unless told otherwise, and widths are in units
#' of the inputs as the kernel sees them.
#'
#' A width that is not given, or given with `estimate = TRUE`, is chosen by [rvm()]
#' by marginal likelihood: one width, or with `ard = TRUE` one for each input. The
#' fitted object holds the kernel with the widths in force; an input of no use has
#' the width `Inf`. The search begins at `width`, or without one at several
#' multiples of the median distance between the distinct rows of the inputs (of 500
#' rows spread evenly over the sorted rows where there are more). In
#' [kernel_matrix()] a width that is not given is that median distance.
#'
#' Join kernels with `c()` into a dictionary: every candidate centre then offers
#' one basis function per kernel, and the evidence picks among them.
#'
#' @param width positive number, or one for each input. `NULL`: from the data. With
#'   `estimate = TRUE`, where the search for the width begins.
#' @param ard whether each input has a width of its own.
#' @param estimate whether the width is chosen by marginal likelihood. By default a
#'   width that is given is used as it is.
#' @param nu smoothness of the Matérn kernel, 3/2 or 5/2.
#' @param degree whole number, the power of the polynomial.
#' @param scale,offset slope and shift applied to the inner product.
#' @return An object of class `"rvm_kernel"`; `c()` of several gives class
#'   `"rvm_kernels"`.
#' @seealso [kernel_matrix()] evaluates a kernel.
#' @examples
#' kernel_gaussian(width = 0.5)
#' kernel_gaussian(width = c(0.5, 2))
#' kernel_matern(nu = 5/2)
#' c(kernel_gaussian(0.2), kernel_gaussian(2), kernel_linear())
#'
#' # shapes of four kernels around zero
#' x <- seq(-3, 3, length.out = 200)
#' shapes <- sapply(
#'   list(kernel_gaussian(1), kernel_laplace(1), kernel_cauchy(1), kernel_matern(1)),
#'   kernel_matrix, x = x, z = 0
#' )
#' matplot(x, shapes, type = "l", lty = 1, ylab = "k(x, 0)")
#' @name kernels
NULL

# The codes by which the C core knows the kernels; `columns` are explicit ones.
block_codes <- c(
  columns = 0L, gaussian = 1L, laplace = 2L, cauchy = 3L, matern32 = 4L, matern52 = 5L,
  spline = 6L, thinplate = 7L, polynomial = 8L, linear = 9L, sigmoid = 10L
)

kernels_with_width <- c("gaussian", "laplace", "cauchy", "matern32", "matern52")

new_kernel <- function(name, width = NULL, ard = FALSE, estimate = FALSE,
                       parameters = numeric(0), fun = NULL) {
  structure(
    list(name = name, width = width, ard = ard, estimate = estimate,
         parameters = parameters, fun = fun),
    class = "rvm_kernel"
  )
}

width_kernel <- function(name, width, ard, estimate) {
  ard <- check_flag(ard, "ard")
  estimate <- check_flag(estimate, "estimate")
  if (!is.null(width)) {
    if (!is.numeric(width) || !length(width)) {
      stop_argument("width", "a positive number, or one for each input", describe(width))
    }
    wrong <- !is.finite(width) | width <= 0
    if (any(wrong)) {
      stop_argument("width", "positive and finite", some(format(width[wrong])))
    }
    width <- as.double(width)
  }
  new_kernel(name, width, ard || length(width) > 1, estimate)
}

#' @rdname kernels
#' @export
kernel_gaussian <- function(width = NULL, ard = FALSE, estimate = is.null(width)) {
  width_kernel("gaussian", width, ard, estimate)
}

#' @rdname kernels
#' @export
kernel_laplace <- function(width = NULL, ard = FALSE, estimate = is.null(width)) {
  width_kernel("laplace", width, ard, estimate)
}

#' @rdname kernels
#' @export
kernel_cauchy <- function(width = NULL, ard = FALSE, estimate = is.null(width)) {
  width_kernel("cauchy", width, ard, estimate)
}

#' @rdname kernels
#' @export
kernel_matern <- function(width = NULL, nu = 3/2, ard = FALSE, estimate = is.null(width)) {
  if (!is_number(nu) || !nu %in% c(3/2, 5/2)) {
    stop_argument("nu", "3/2 or 5/2", describe(nu))
  }
  width_kernel(if (nu == 3/2) "matern32" else "matern52", width, ard, estimate)
}

#' @rdname kernels
#' @export
kernel_spline <- function() new_kernel("spline")

#' @rdname kernels
#' @export
kernel_thinplate <- function() new_kernel("thinplate")

#' @rdname kernels
#' @export
kernel_linear <- function() new_kernel("linear")

#' @rdname kernels
#' @export
kernel_polynomial <- function(degree = 2, scale = 1, offset = 1) {
  degree <- check_count(degree, "degree")
  scale <- check_finite(scale, "scale")
  offset <- check_finite(offset, "offset")
  new_kernel("polynomial", parameters = c(degree, scale, offset))
}

#' @rdname kernels
#' @export
kernel_sigmoid <- function(scale = 1, offset = 0) {
  scale <- check_finite(scale, "scale")
  offset <- check_finite(offset, "offset")
  new_kernel("sigmoid", parameters = c(scale, offset))
}

kernel_titles <- c(
  gaussian = "Gaussian", laplace = "Laplace", cauchy = "Cauchy",
  matern32 = "Mat\u00e9rn 3/2", matern52 = "Mat\u00e9rn 5/2", spline = "linear spline",
  thinplate = "thin-plate", polynomial = "polynomial", linear = "linear",
  sigmoid = "sigmoid", "function" = "R function"
)

#' @export
format.rvm_kernel <- function(x, digits = 3, ...) {
  parameters <- signif(x$parameters, digits)
  detail <- switch(x$name,
    polynomial = paste0(", degree ", parameters[1], ", scale ", parameters[2],
                        ", offset ", parameters[3]),
    sigmoid = paste0(", scale ", parameters[1], ", offset ", parameters[2]),
    if (x$name %in% kernels_with_width) format_width(x, digits)
  )
  paste0(kernel_titles[[x$name]], " kernel", detail)
}

format_width <- function(kernel, digits) {
  width <- kernel$width
  if (is.null(width)) {
    return(if (kernel$ard) ", one width per input from the data" else ", width from the data")
  }
  paste0(if (length(width) > 1) ", widths " else ", width ", some(signif(width, digits), 10))
}

# A short name for the columns of this kernel in a dictionary of several.
kernel_label <- function(kernel) {
  numbers <- c(kernel$width, kernel$parameters)
  if (!length(numbers)) return(kernel$name)
  paste0(kernel$name, "(", paste(signif(numbers, 3), collapse = ","), ")")
}

#' @export
print.rvm_kernel <- function(x, ...) {
  cat(format(x, ...), "\n", sep = "")
  invisible(x)
}

#' @export
c.rvm_kernel <- function(...) {
  structure(do.call(c, lapply(list(...), kernel_list)), class = "rvm_kernels")
}

#' @export
c.rvm_kernels <- c.rvm_kernel

#' @export
format.rvm_kernels <- function(x, ...) vapply(x, format, "", ...)

#' @export
print.rvm_kernels <- function(x, ...) {
  cat(format(x, ...), sep = "\n")
  invisible(x)
}

# Whatever the user may pass as `kernel`, as a plain list of kernels; "none" is
# the empty list.
kernel_list <- function(kernel) {
  if (inherits(kernel, "rvm_kernel")) return(list(kernel))
  if (inherits(kernel, "rvm_kernels")) return(unclass(kernel))
  if (is.function(kernel)) return(list(new_kernel("function", fun = kernel)))
  if (identical(kernel, "none")) return(list())
  if (is.list(kernel) && length(kernel) && all(vapply(kernel, is_kernel, NA))) {
    return(do.call(c, lapply(kernel, kernel_list)))
  }
  stop_argument("kernel", paste("a kernel such as kernel_gaussian(), c() of several,",
                                "a function(x, z), or \"none\""), describe(kernel))
}

is_kernel <- function(kernel) {
  inherits(kernel, c("rvm_kernel", "rvm_kernels")) || is.function(kernel)
}

# The form in which a fitted object shows its kernel.
joined_kernels <- function(kernels) {
  switch(min(length(kernels), 2) + 1,
         "none", kernels[[1]], structure(kernels, class = "rvm_kernels"))
}

# A kernel with its widths in force for these inputs: one per input where it has
# `ard`, else a single one.
resolve_width <- function(kernel, x) {
  if (!kernel$name %in% kernels_with_width) return(kernel)
  inputs <- ncol(x)
  if (is.null(kernel$width)) kernel$width <- median_distance(x)
  if (kernel$ard && length(kernel$width) == 1) kernel$width <- rep(kernel$width, inputs)
  if (!length(kernel$width) %in% c(1, inputs)) {
    stop_argument("width", paste("one number or one for each of", count(inputs, "input")),
                  paste(length(kernel$width), "numbers"))
  }
  kernel
}

# Sorting makes the choice of rows independent of the order in which they came.
median_distance <- function(x, most = 500) {
  x <- x[sorted_distinct(x), , drop = FALSE]
  chosen <- unique(round(seq(1, nrow(x), length.out = min(most, nrow(x)))))
  distance <- stats::median(stats::dist(x[chosen, , drop = FALSE]))
  if (is.finite(distance) && distance > 0) distance else 1
}

#' Evaluate a kernel
#'
#' The matrix of a kernel's values between the rows of `x` and the rows of `z`.
#' The inputs are taken as they are, without standardising.
#'
#' @param kernel a kernel, see [kernels], or a `function(x, z)` that returns such
#'   a matrix. A width that is not given is set from `x`.
#' @param x,z numeric matrices with the same number of columns, or vectors for
#'   one input.
#' @return A matrix with a row for each row of `x` and a column for each row of
#'   `z`.
#' @examples
#' kernel_matrix(kernel_gaussian(1), x = 0:3)
#' kernel_matrix(kernel_linear(), x = diag(2), z = rbind(c(1, 2)))
#' @export
kernel_matrix <- function(kernel, x, z = x) {
  kernel <- kernel_list(kernel)
  if (length(kernel) != 1) {
    stop_argument("kernel", "a single kernel", paste(length(kernel), "of them"))
  }
  x <- check_columns(numeric_matrix(x, "x"), "x")
  z <- check_columns(numeric_matrix(z, "z"), "z")
  if (ncol(x) != ncol(z)) {
    stop_argument("z", paste("of", count(ncol(x), "column"), "as `x` is"), describe(z))
  }
  kernel <- resolve_width(kernel[[1]], x)
  values <- block_values(kernel_block(kernel, x, unname(z)), x, default_threads())
  dimnames(values) <- if (!is.null(rownames(x)) || !is.null(rownames(z))) {
    list(rownames(x), rownames(z))
  }
  values
}

# One kernel and its centres as the C core takes them; a user's function is
# evaluated here and comes as columns.
kernel_block <- function(kernel, x, centers) {
  if (kernel$name == "function") {
    return(column_block(function_values(kernel$fun, x, centers)))
  }
  list(
    type = block_codes[[kernel$name]],
    columns = NULL,
    centers = centers,
    width = if (is.null(kernel$width)) numeric(0) else rep_len(kernel$width, ncol(centers)),
    parameters = kernel$parameters
  )
}

# A user's own kernel function, with what it returned looked at.
function_values <- function(fun, x, centers) {
  values <- fun(x, centers)
  if (is.data.frame(values)) values <- as.matrix(values)
  if (!is.numeric(values) || !identical(dim(values), c(nrow(x), nrow(centers)))) {
    stop_rvm("`kernel` must be a function that returns a numeric matrix of nrow(x) = ",
             nrow(x), " rows and nrow(z) = ", nrow(centers), " columns, not ",
             describe(values), ".")
  }
  if (!all(is.finite(values))) {
    stop_rvm("`kernel` must be a function that returns finite values, not ",
             format(values[!is.finite(values)][1]), ".")
  }
  storage.mode(values) <- "double"
  values
}
