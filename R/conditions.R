# Every complaint about what a user passed goes through here, so that all of
# them carry the class `rvm_error` and read alike: the argument, what it takes,
# what it got.

stop_rvm <- function(...) {
  condition <- structure(
    class = c("rvm_error", "error", "condition"),
    list(message = paste0(...), call = NULL)
  )
  stop(condition)
}

stop_argument <- function(argument, takes, got) {
  stop_rvm("`", argument, "` must be ", takes, ", not ", got, ".")
}

# Errors of base R's own model functions, in our class.
with_rvm_errors <- function(expr, about) {
  tryCatch(expr, error = function(e) {
    if (inherits(e, "rvm_error")) stop(e)
    stop_rvm("`", about, "`: ", conditionMessage(e), ".")
  })
}

# A value in words, for messages.
describe <- function(value) {
  if (is.null(value)) return("NULL")
  if (is.function(value)) return("a function")
  if (is.data.frame(value) || is.matrix(value)) {
    what <- if (is.data.frame(value)) "data frame" else paste(typeof(value), "matrix")
    return(with_article(paste(what, "of", count(nrow(value), "row"), "and",
                              count(ncol(value), "column"))))
  }
  if (is.factor(value)) {
    return(paste("a factor with", count(nlevels(value), "level")))
  }
  if (!is.atomic(value)) return(paste("an object of class", quoted(class(value)[1])))
  if (length(value) == 1) return(if (is.character(value)) quoted(value) else format(value))
  with_article(paste0(class(value)[1], " vector of length ", length(value)))
}

with_article <- function(words) paste(if (grepl("^[aeiou]", words)) "an" else "a", words)

quoted <- function(words) paste0("\"", words, "\"", collapse = ", ")

count <- function(n, noun) paste0(n, " ", noun, if (n != 1) "s")

# The first few of a long list, for messages.
some <- function(values, most = 5) {
  shown <- paste(utils::head(values, most), collapse = ", ")
  if (length(values) > most) paste0(shown, ", ...") else shown
}

is_number <- function(value) {
  is.numeric(value) && length(value) == 1 && !is.na(value)
}

check_flag <- function(value, argument) {
  if (!is.logical(value) || length(value) != 1 || is.na(value)) {
    stop_argument(argument, "TRUE or FALSE", describe(value))
  }
  value
}

check_count <- function(value, argument) {
  if (!is_number(value) || value < 1 || value != round(value) ||
      value > .Machine$integer.max) {
    stop_argument(argument, "a whole number of at least 1", describe(value))
  }
  as.integer(value)
}

check_positive <- function(value, argument) {
  if (!is_number(value) || !is.finite(value) || value <= 0) {
    stop_argument(argument, "a positive, finite number", describe(value))
  }
  as.double(value)
}

check_not_negative <- function(value, argument) {
  if (!is_number(value) || !is.finite(value) || value < 0) {
    stop_argument(argument, "a finite number of at least 0", describe(value))
  }
  as.double(value)
}

check_finite <- function(value, argument) {
  if (!is_number(value) || !is.finite(value)) {
    stop_argument(argument, "a finite number", describe(value))
  }
  as.double(value)
}

check_choice <- function(value, choices, argument) {
  if (identical(value, choices)) return(choices[1])
  if (!is.character(value) || length(value) != 1 || !value %in% choices) {
    stop_argument(argument, paste("one of", quoted(choices)), describe(value))
  }
  value
}

# Whether every column of a matrix is free of NA, NaN and infinite values.
check_columns <- function(columns, argument) {
  bad <- which(colSums(!is.finite(columns)) > 0)
  if (length(bad)) {
    row <- which(!is.finite(columns[, bad[1]]))[1]
    named <- colnames(columns)[bad[1]]
    stop_rvm("`", argument, "` must be finite: column ",
             if (is.null(named)) bad[1] else quoted(named),
             " has ", format(columns[row, bad[1]]), " in row ", row, ".")
  }
  columns
}

# Misspelt arguments land in `...`, where they would be lost in silence.
check_no_more <- function(...) {
  extra <- list(...)
  if (length(extra)) {
    named <- names(extra)
    named <- if (is.null(named)) rep("", length(extra)) else named
    stop_rvm("Unknown argument: ",
             paste(ifelse(nzchar(named), paste0("`", named, "`"), "one without a name"),
                   collapse = ", "), ".")
  }
}
