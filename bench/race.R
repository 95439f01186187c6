# Fit time, vectors, test error and peak memory against the peers, on the same data, kernel and machine in one run:
#   Rscript bench/race.R [N ...]        default N: 1000 2000 4000 8000
# A contender that would take more than a minute by its time at the size before (cubic growth) is left out ("-").
source("bench/helper.R")
sizes <- as.numeric(commandArgs(TRUE))
if (!length(sizes)) sizes <- c(1000, 2000, 4000, 8000)
limit <- 60

dlib_program <- file.path(tempdir(), "dlib_rvm")
if (system2("g++", c("-O3", "-DNDEBUG", "-std=c++14", "bench/dlib_rvm.cpp", "-o", dlib_program,
                     "-ldlib", "-llapack", "-lblas")) != 0) stop("the dlib program does not compile")
measure_dlib <- function(d, w) {
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(c(nrow(d$x), ncol(d$x), nrow(d$xt), 1 / w^2, t(d$x), d$y, t(d$xt), d$truth), file)
  value <- scan(text = system2(dlib_program, file, stdout = TRUE), quiet = TRUE)
  list(seconds = value[1], vectors = value[2], error = value[3], memory = value[4])
}

# All contenders on one problem; ratio is to the single fit of e1071::svm.
race <- function(problem, names, blas = NULL) {
  rows <- data.frame()
  last <- list()
  for (N in sizes) {
    d <- problem$data(N)
    here <- data.frame()
    for (name in names) {
      quick <- name %in% c("rvm", "e1071::svm")
      expected <- if (is.null(last[[name]])) 0 else last[[name]]$seconds * (N / last[[name]]$N)^3
      if (!quick && expected > limit) next
      value <- if (name == "dlib") measure_dlib(d, problem$width) else measure(name, d, problem$width, if (quick) 5 else 1, blas)
      last[[name]] <- list(N = N, seconds = value$seconds)
      here <- rbind(here, data.frame(N = N, fit = name, value))
    }
    here$ratio <- here$seconds / here$seconds[here$fit == "e1071::svm"]
    rows <- rbind(rows, here)
  }
  report(rows, `ratio to svm` = rows$ratio)
  for (N in sizes) {
    ours <- rows[rows$N == N & rows$fit == "rvm", ]
    svm <- rows[rows$N == N & rows$fit == "e1071::svm", ]
    target(ours$ratio <= 1 && ours$error <= svm$error && ours$vectors <= svm$vectors / 10,
           sprintf("N = %d: time %.2f of svm's, error %.4f against %.4f, vectors %d against %d",
                   N, ours$ratio, ours$error, svm$error, ours$vectors, svm$vectors))
  }
  cat("\n")
}

problems <- list(
  list(name = "sinc, width 3", width = 3, data = function(N) sinc_data(N)),
  list(name = "two-dimensional sinc, width 2.5", width = 2.5, data = function(N) sinc_data(N, d = 2, range = 8)))
machine()
for (problem in problems) {
  cat("---- ", problem$name, "\n", sep = "")
  race(problem, c("rvm", "e1071::svm", "svm, tuned", "kernlab::rvm", "kernlab::gausspr", "dlib"))
}

# The same with each BLAS that Debian's packages put beside the one in use.
others <- list(reference = Sys.glob(c("/usr/lib/*/blas", "/usr/lib/*/lapack")), OpenBLAS = Sys.glob("/usr/lib/*/openblas-pthread"))
others <- Filter(function(directories) length(directories) > 0 && !any(startsWith(extSoftVersion()[["BLAS"]], directories)), others)
for (name in names(others)) for (problem in problems) {
  cat("---- ", problem$name, ", ", name, " BLAS\n", sep = "")
  race(problem, c("rvm", "e1071::svm"), others[[name]])
}
finish()
