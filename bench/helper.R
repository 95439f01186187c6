# Shared by the scripts of this folder: the package as the sources have it, problems, clocks, tables, targets.
# They run from the project's root.
options(width = 120, warn = 1)
for (step in c("setup.sh build bench", "install.sh"))
  if (system(paste0("sh tools/", step)) != 0) quit(status = 1)
.libPaths(c(".Rlib", .libPaths()))
Sys.setenv(R_LIBS = normalizePath(".Rlib"))       # for the children
suppressPackageStartupMessages(library(rvm))

# ---- Problems: x and y, a test set xt with the noise-free truth there ----
sinc <- function(x) { r <- sqrt(rowSums(x^2)); ifelse(r == 0, 1, sin(r) / r) }
uniform <- function(n, d, from, to) matrix(runif(n * d, from, to), n, dimnames = list(NULL, paste0("x", seq_len(d))))
sinc_data <- function(N, d = 1, range = 10) {
  set.seed(N + d)
  x <- uniform(N, d, -range, range)
  xt <- uniform(2000, d, -range, range)
  list(x = x, y = sinc(x) + rnorm(N, sd = 0.1), xt = xt, truth = sinc(xt))
}
friedman_data <- function(N) {
  set.seed(2)
  d <- mlbench::mlbench.friedman1(N, 1)
  xt <- uniform(2000, 10, 0, 1)
  truth <- 10 * sin(pi * xt[, 1] * xt[, 2]) + 20 * (xt[, 3] - 0.5)^2 + 10 * xt[, 4] + 5 * xt[, 5]
  colnames(d$x) <- colnames(xt)
  list(x = d$x, y = d$y - mean(d$y), xt = xt, truth = truth - mean(d$y))
}
rmse <- function(a, b) sqrt(mean((as.vector(a) - b)^2))

# ---- Clocks and memory ----
# Median elapsed seconds of some runs of f(), and the last value.
clock <- function(f, times = 1) {
  seconds <- numeric(times)
  for (i in seq_len(times)) seconds[i] <- system.time(value <- f(), gcFirst = TRUE)[["elapsed"]]
  list(seconds = stats::median(seconds), value = value)
}

# Peak resident memory of this process in MB; NA where there is no /proc.
peak_memory <- function() {
  if (!file.exists("/proc/self/status")) return(NA_real_)
  as.numeric(gsub("\\D", "", grep("^VmHWM", readLines("/proc/self/status"), value = TRUE))) / 1024
}

# task(...), which returns a list, in an R process of its own, so that the peak memory is its own.
# blas: directories whose BLAS and LAPACK take the place of R's.
in_child <- function(task, ..., blas = NULL) {
  files <- tempfile(c("job", "value"))
  on.exit(unlink(files))
  saveRDS(list(task = task, arguments = list(...), helpers = mget(c("clock", "rmse", "peak_memory"), globalenv())), files[1])
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", "bench/child.R", files), stdout = FALSE,
          env = if (!is.null(blas)) paste0("R_LD_LIBRARY_PATH=", paste(c(R.home("lib"), blas), collapse = ":")) else character())
  if (file.exists(files[2])) readRDS(files[2]) else list(seconds = NA_real_, vectors = NA_real_, error = NA_real_, memory = NA_real_)
}

# ---- Contenders: how to fit d at Gaussian width w, how many vectors the fit keeps, how it predicts ----
contenders <- list(
  "rvm" = list(
    fit = function(d, w) rvm::rvm(y ~ ., data.frame(d$x, y = d$y), kernel = rvm::kernel_gaussian(w), scale = FALSE),
    vectors = function(f) length(f$relevance),
    predict = function(f, x) stats::predict(f, data.frame(x))),
  "e1071::svm" = list(
    fit = function(d, w) e1071::svm(y ~ ., data.frame(d$x, y = d$y), gamma = 1 / w^2, cost = 1, epsilon = 0.1, scale = FALSE),
    vectors = function(f) nrow(f$SV),
    predict = function(f, x) stats::predict(f, data.frame(x))),
  "svm, tuned" = list(   # 5-fold cross-validation over 192 settings
    fit = function(d, w) e1071::tune.svm(d$x, d$y, gamma = 2^(-6:1), cost = 4^(-1:4), epsilon = c(0.01, 0.05, 0.1, 0.2), scale = FALSE,
                                         tunecontrol = e1071::tune.control(cross = 5))$best.model,
    vectors = function(f) nrow(f$SV),
    predict = function(f, x) stats::predict(f, x)),
  "kernlab::rvm" = list(
    fit = function(d, w) kernlab::rvm(d$x, d$y, kernel = "rbfdot", kpar = list(sigma = 1 / w^2)),
    vectors = function(f) length(kernlab::RVindex(f)),
    predict = function(f, x) kernlab::predict(f, x)),
  "kernlab::rvm, 1000 iterations" = list(   # the default is 100
    fit = function(d, w) kernlab::rvm(d$x, d$y, kernel = "rbfdot", kpar = list(sigma = 1 / w^2), iterations = 1000),
    vectors = function(f) length(kernlab::RVindex(f)),
    predict = function(f, x) kernlab::predict(f, x)),
  "kernlab::gausspr" = list(   # the noise variance is given: the true one
    fit = function(d, w) kernlab::gausspr(d$x, d$y, kernel = "rbfdot", kpar = list(sigma = 1 / w^2), var = 0.01, scaled = FALSE),
    vectors = function(f) nrow(kernlab::alpha(f)),
    predict = function(f, x) kernlab::predict(f, x)))

# One contender's fit of d: seconds (median of `times`), vectors, test error, peak memory.
measure <- function(contender, d, w, times = 1, blas = NULL)
  in_child(function(contender, d, w, times) {
    run <- clock(function() contender$fit(d, w), times)
    list(seconds = run$seconds, vectors = contender$vectors(run$value), error = rmse(contender$predict(run$value, d$xt), d$truth))
  }, contenders[[contender]], d, w, times, blas = blas)

# ---- Report ----
machine <- function() {
  cpu <- if (file.exists("/proc/cpuinfo")) sub(".*: ", " of ", grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)[1])
  cat(R.version.string, "; rvm ", format(utils::packageVersion("rvm")), "; BLAS ", basename(dirname(extSoftVersion()[["BLAS"]])), "/",
      basename(extSoftVersion()[["BLAS"]]), "; ", parallel::detectCores(), " cores", cpu, "\n\n", sep = "")
}
print_table <- function(rows) {
  shown <- function(column) {
    text <- if (is.numeric(column)) formatC(column, digits = 4, format = "fg", big.mark = ",") else column
    ifelse(is.na(column), "-", text)
  }
  print(data.frame(lapply(rows, shown), check.names = FALSE), row.names = FALSE)
  cat("\n")
}
# Measurements, one row each, under the names that a reader expects.
report <- function(rows, ...)
  print_table(data.frame(N = rows$N, fit = rows$fit, seconds = rows$seconds, ..., vectors = rows$vectors, `test RMSE` = rows$error,
                         `peak MB` = rows$memory, check.names = FALSE))
missed <- 0
target <- function(met, what) {
  cat(if (isTRUE(met)) "met    " else "missed ", what, "\n", sep = "")
  if (!isTRUE(met)) missed <<- missed + 1
}
finish <- function() quit(status = if (missed > 0) 1 else 0)
