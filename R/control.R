#' Numerical settings of a fit
#'
#' Everything numerical about [rvm()]. Each setting has a default that needs no
#' thought.
#'
#' The `"fast"` method adds, re-estimates and deletes one basis function at a
#' time and always makes the moves that raise the evidence; it is the one to
#' use. `"mackay"` and `"em"` start from every candidate at once and prune;
#' they are there for comparison and for small data.
#'
#' @param method how the precisions of the weights are found: `"fast"`,
#'   `"mackay"` (fixed-point updates) or `"em"` (expectation-maximisation).
#' @param tol the fit ends when no move is left that raises the log evidence by
#'   more than this. `NULL`: 0.01, and with more than 500 rows 2e-5 per row. A
#'   model of more than 512 functions is also left where a look at all candidates
#'   raises the log evidence by less than 0.05 per row.
#' @param maxit the largest number of iterations. A fit that reaches it warns
#'   and says so in its `converged` element.
#' @param threads number of processor cores to use. By default all that this
#'   process may run on, or `getOption("rvm.threads")` where it is set; never
#'   more than the environment variable `OMP_THREAD_LIMIT` allows. Results do
#'   not depend on it beyond rounding.
#' @param memory bytes that the columns of the dictionary may take. What does
#'   not fit is computed again when it is needed. By default a quarter of the
#'   machine's memory, or 2e9 where that cannot be found out.
#' @param progress whether long fits show a line of progress.
#' @param shared for more than two classes: whether there is one precision per
#'   basis function, the same for all classes, so that a relevance vector serves
#'   all of them. By default each class has precisions of its own. No effect on
#'   other responses.
#' @return An object of class `"rvm_control"`, for the `control` argument of
#'   [rvm()].
#' @examples
#' rvm_control()
#'
#' x <- seq(-10, 10, length.out = 50)
#' y <- sin(x) / x
#' fit <- rvm(x, y, control = rvm_control(method = "mackay", threads = 1))
#' @export
rvm_control <- function(method = c("fast", "mackay", "em"), tol = NULL, maxit = 1000,
                        threads = default_threads(), memory = default_memory(),
                        progress = interactive(), shared = FALSE) {
  control <- list(
    method = check_choice(method, names(method_codes), "method"),
    tol = if (!is.null(tol)) check_positive(tol, "tol"),
    maxit = check_count(maxit, "maxit"),
    threads = check_count(threads, "threads"),
    memory = check_memory(memory),
    progress = check_flag(progress, "progress"),
    shared = check_flag(shared, "shared")
  )
  structure(control, class = "rvm_control")
}

method_codes <- c(fast = 0L, mackay = 1L, em = 2L)

#' @export
print.rvm_control <- function(x, ...) {
  cat("method ", x$method, if (!is.null(x$tol)) c(", tol ", format(x$tol)), ", maxit ", x$maxit,
      ", ", count(x$threads, "thread"), ", ", format(signif(x$memory / 1e9, 3)), " GB",
      if (x$progress) ", progress shown", if (x$shared) ", precisions shared by the classes",
      "\n", sep = "")
  invisible(x)
}

check_control <- function(control) {
  if (!inherits(control, "rvm_control")) {
    stop_argument("control", "made by rvm_control()", describe(control))
  }
  control
}

# As the C core takes it.
core_control <- function(control, rows, price = 0, start = NULL) {
  control$method <- method_codes[[control$method]]
  if (is.null(control$tol)) control$tol <- max(0.01, 2e-5 * rows)
  c(unclass(control), list(price = price, start = start))
}

check_memory <- function(memory) {
  if (!is_number(memory) || memory <= 0) {
    stop_argument("memory", "a positive number of bytes", describe(memory))
  }
  # More than any machine has, and still exact as a C size.
  min(as.double(memory), 2^50)
}

default_threads <- function() {
  wanted <- getOption("rvm.threads", available_cores())
  wanted <- check_count(wanted, "options(rvm.threads)")
  min(wanted, thread_limit())
}

# The checks of R's package repository set the second variable and allow two.
thread_limit <- function() {
  limit <- suppressWarnings(as.integer(Sys.getenv("OMP_THREAD_LIMIT")))
  limit <- if (is.na(limit) || limit < 1L) .Machine$integer.max else limit
  checking <- tolower(Sys.getenv("_R_CHECK_LIMIT_CORES_", "false"))
  if (checking %in% c("", "false")) limit else min(limit, 2L)
}

# The cores this process may run on: a container or a batch system often grants
# fewer than the machine has.
available_cores <- function() {
  allowed <- proc_field("/proc/self/status", "Cpus_allowed_list")
  if (is.na(allowed)) {
    cores <- suppressWarnings(as.integer(Sys.getenv("NUMBER_OF_PROCESSORS", "1")))
    return(max(1L, cores, na.rm = TRUE))
  }
  ranges <- strsplit(strsplit(allowed, ",", fixed = TRUE)[[1]], "-", fixed = TRUE)
  widths <- vapply(ranges, function(ends) {
    ends <- as.integer(ends)
    ends[length(ends)] - ends[1] + 1L
  }, integer(1))
  sum(widths)
}

default_memory <- function() {
  kilobytes <- proc_field("/proc/meminfo", "MemTotal")
  if (is.na(kilobytes)) return(2e9)
  as.double(sub("[^0-9]*$", "", kilobytes)) * 1024 / 4
}

# One value of a "name: value" file of the Linux kernel, NA where there is none.
proc_field <- function(file, field) {
  if (!file.exists(file)) return(NA_character_)
  lines <- readLines(file, warn = FALSE)
  found <- lines[startsWith(lines, paste0(field, ":"))]
  if (length(found)) trimws(sub("^[^:]*:", "", found[1])) else NA_character_
}
