# All candidate columns of a model: the constant, the explicit columns, and for
# each kernel one column per centre, numbered through in this order.
#
# A dictionary is a list of parts, each a list:
#   kind     "constant", "basis", "inputs" (the columns of x, without a kernel)
#            or "kernel"
#   size     number of columns
#   names    of the columns (kernels: prefix of the names)
#   columns  which columns of the basis or of x (kinds "basis" and "inputs")
#   kernel, number, centers, rows   of a kernel: which of the kernels it is, centres
#            as the kernel sees them, and the row number of each
# Restricted to the active columns it is a dictionary again, so that fitting and
# prediction build their columns by the same function.

dictionary <- function(kernels, centers, intercept, basis_names, input_names) {
  parts <- list()
  if (intercept) {
    parts <- list(list(kind = "constant", size = 1L, names = "(Intercept)"))
  }
  if (length(basis_names)) {
    parts <- c(parts, list(column_part("basis", make.unique(basis_names))))
  }
  if (!length(kernels)) {
    return(c(parts, list(column_part("inputs", input_names))))
  }
  labels <- vapply(kernels, kernel_label, "")
  prefixes <- if (length(kernels) > 1) paste0(make.unique(labels), ":") else ""
  c(parts, Map(kernel_part, kernels, prefixes, seq_along(kernels), MoreArgs = list(centers = centers)))
}

column_part <- function(kind, names) {
  list(kind = kind, size = length(names), names = names, columns = seq_along(names))
}

kernel_part <- function(kernel, prefix, number, centers) {
  list(kind = "kernel", size = length(centers$rows), names = prefix, kernel = kernel,
       number = number, centers = centers$points, rows = centers$rows)
}

# The dictionary of these columns only, given by their numbers.
restrict <- function(dictionary, active) {
  before <- cumsum(c(0L, part_sizes(dictionary)))
  parts <- lapply(seq_along(dictionary), function(i) {
    here <- active[active > before[i] & active <= before[i + 1]] - before[i]
    restrict_part(dictionary[[i]], here)
  })
  parts[part_sizes(parts) > 0]
}

restrict_part <- function(part, keep) {
  part$size <- length(keep)
  if (part$kind == "kernel") {
    part$centers <- part$centers[keep, , drop = FALSE]
    part$rows <- part$rows[keep]
  } else {
    part$names <- part$names[keep]
    part$columns <- part$columns[keep]
  }
  part
}

part_sizes <- function(dictionary) vapply(dictionary, function(part) part$size, 1L)

kernel_parts <- function(dictionary) {
  Filter(function(part) part$kind == "kernel", dictionary)
}

# Which of the kernels each part belongs to, NA for those without.
part_numbers <- function(dictionary) {
  vapply(dictionary, function(part) if (part$kind == "kernel") part$number else NA_integer_, 1L)
}

# The same functions with other widths.
replace_kernels <- function(dictionary, kernels) {
  lapply(dictionary, function(part) {
    if (part$kind == "kernel") part$kernel <- kernels[[part$number]]
    part
  })
}

column_names <- function(dictionary) {
  names <- lapply(dictionary, function(part) {
    if (part$kind == "kernel") paste0(part$names, part$rows) else part$names
  })
  as.character(unlist(names))
}

# The columns at the rows of x, as the C core takes them.
dictionary_blocks <- function(dictionary, x, basis) {
  lapply(dictionary, function(part) {
    switch(part$kind,
      constant = column_block(matrix(1, nrow(x), 1)),
      basis = column_block(unname(basis[, part$columns, drop = FALSE])),
      inputs = column_block(unname(x[, part$columns, drop = FALSE])),
      kernel = kernel_block(part$kernel, x, part$centers)
    )
  })
}

column_block <- function(columns) {
  list(type = block_codes[["columns"]], columns = columns, centers = NULL,
       width = numeric(0), parameters = numeric(0))
}

# Products of columns have to be numbers: values that grow with the inputs are
# looked at in the row that is furthest out, explicit ones everywhere.
check_blocks <- function(dictionary, blocks, x) {
  furthest <- x[which.max(rowSums(x^2)), , drop = FALSE]
  for (i in seq_along(blocks)) {
    values <- block_values(blocks[[i]], furthest, 1L)
    if (!isTRUE(all(abs(values) < 1e75))) {
      argument <- switch(dictionary[[i]]$kind, kernel = "kernel", basis = "basis", "x")
      stop_rvm("`", argument, "` must give basis functions smaller than 1e75 in size: ",
               "use smaller units or another kernel.")
    }
  }
}

block_values <- function(block, x, threads) {
  if (is.null(block$columns)) .Call(C_kernel_matrix, block, x, threads) else block$columns
}

# The columns themselves, for the few that are active.
dictionary_columns <- function(dictionary, x, basis, threads) {
  columns <- lapply(dictionary_blocks(dictionary, x, basis), block_values, x, threads)
  if (length(columns)) do.call(cbind, columns) else matrix(0, nrow(x), 0)
}

# ---- centres -----------------------------------------------------------------

# Candidate centres: `points` as the kernel sees them and `rows`, their numbers:
# in the training data, or in the matrix of centres where one was given.
candidate_centers <- function(centers, x, rows, scaling) {
  if (is.null(centers)) {
    chosen <- distinct_rows(x)
  } else if (is.matrix(centers) || is.data.frame(centers)) {
    x <- apply_scaling(check_centers(centers, ncol(x)), scaling)
    rows <- seq_len(nrow(x))
    chosen <- distinct_rows(x)
  } else {
    chosen <- spread_rows(x, check_count(centers, "centers"))
  }
  list(points = x[chosen, , drop = FALSE], rows = rows[chosen])
}

check_centers <- function(centers, inputs) {
  centers <- check_columns(numeric_matrix(centers, "centers"), "centers")
  if (ncol(centers) != inputs || !nrow(centers)) {
    stop_argument("centers", paste("a matrix of at least one row and", count(inputs, "column")),
                  describe(centers))
  }
  centers
}

# Row numbers in lexical order of the rows, the first of each set of equals.
sorted_distinct <- function(x) {
  keys <- lapply(seq_len(ncol(x)), function(column) x[, column])
  sorted <- do.call(order, c(keys, list(method = "radix")))
  if (length(sorted) < 2) return(sorted)
  above <- x[sorted[-length(sorted)], , drop = FALSE]
  below <- x[sorted[-1], , drop = FALSE]
  sorted[c(TRUE, rowSums(above != below) > 0)]
}

distinct_rows <- function(x) sort(sorted_distinct(x))

# `size` distinct rows that spread over the data: each is drawn with probability
# proportional to its squared distance from those before it (the start of the
# k-means++ algorithm), which visits every region without hunting outliers.
spread_rows <- function(x, size) {
  candidates <- distinct_rows(x)
  if (length(candidates) <= size) return(candidates)
  points <- t(x[candidates, , drop = FALSE])
  distance <- rep(1, length(candidates))
  chosen <- integer(size)
  for (i in seq_len(size)) {
    mass <- cumsum(distance)
    total <- mass[length(mass)]
    chosen[i] <- findInterval(stats::runif(1) * total, mass, left.open = TRUE) + 1L
    squares <- colSums((points - points[, chosen[i]])^2)
    distance <- if (i == 1) squares else pmin(distance, squares)
  }
  sort(unique(candidates[chosen]))
}
