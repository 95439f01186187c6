# Shared by the parts of classes.R: classifiers, their scores, the choice of settings by cross-validation, data.

# ---- Classifiers: what they fit at a Gaussian width and a cost, how many vectors they keep, how they predict ----
# The kernel is exp(-|x - z|^2 / width^2) everywhere; scale = TRUE standardises the inputs, as each of them does by default.
classifiers <- list(
  "rvm" = list(
    fit = function(x, y, width, scale = TRUE, shared = FALSE, ...)
      rvm::rvm(x, y, kernel = rvm::kernel_gaussian(width), scale = scale,
               control = if (shared) rvm::rvm_control(shared = TRUE) else rvm::rvm_control()),
    vectors = function(f) length(f$relevance),
    label = function(f, x) stats::predict(f, x),
    prob = function(f, x, ...) stats::predict(f, x, type = "prob", ...)),
  "e1071::svm" = list(
    fit = function(x, y, width, scale = TRUE, cost = 1, probability = FALSE)
      e1071::svm(x, y, gamma = 1 / width^2, cost = cost, scale = scale, probability = probability),
    vectors = function(f) nrow(f$SV),
    label = function(f, x) stats::predict(f, x),
    prob = function(f, x) if (f$compprob) attr(stats::predict(f, x, probability = TRUE), "probabilities")[, f$levels]),
  "kernlab::ksvm" = list(
    fit = function(x, y, width, scale = TRUE, cost = 1, ...)
      kernlab::ksvm(x, y, type = "C-svc", kernel = "rbfdot", kpar = list(sigma = 1 / width^2), C = cost, scaled = scale),
    vectors = function(f) kernlab::nSV(f),
    label = function(f, x) kernlab::predict(f, x),
    prob = function(f, x) NULL))

# ---- Scores ----
error_rate <- function(label, truth) mean(as.character(label) != as.character(truth))
log_loss <- function(prob, truth) -mean(log(pmax(prob[cbind(seq_along(truth), match(truth, colnames(prob)))], 1e-15)))
# Expected calibration error of the probability of one class: ten bins of equal width.
calibration_error <- function(p, happened) {
  bin <- pmin(floor(10 * p), 9)
  sum(abs(tapply(happened - p, bin, sum))) / length(p)
}

# Vectors, error and log loss of a fit on a test set.
scores <- function(classifier, fit, x, truth) {
  prob <- classifier$prob(fit, x)
  list(vectors = classifier$vectors(fit), error = error_rate(classifier$label(fit, x), truth),
       log_loss = if (is.null(prob)) NA_real_ else log_loss(prob, truth))
}

# One classifier's fit of d (x, y; test set xt, yt) in a process of its own: seconds (median of `times`), scores, peak memory.
# The inputs are taken as they are.
measure_classes <- function(name, d, width, ..., times = 1) {
  value <- in_child(function(classifier, d, settings, times, scoring) {
    list2env(scoring, globalenv())
    run <- clock(function() do.call(classifier$fit, c(list(d$x, d$y, scale = FALSE), settings)), times)
    c(seconds = run$seconds, scores(classifier, run$value, d$xt, d$yt))
  }, classifiers[[name]], d, list(width = width, ...), times, mget(c("scores", "error_rate", "log_loss"), globalenv()))
  utils::modifyList(list(log_loss = NA_real_), value)
}

# ---- Cross-validation ----
# Widths around the root of the number of inputs: a typical distance where those are standardised.
# The wider one comes first and wins where two do equally well.
widths_for <- function(x, count = 8) sqrt(ncol(x)) * 2^seq(2, -2, length.out = count)
costs <- c(0.1, 1, 10, 100)

# The fold of each row, every class spread over all of them; one column per repetition.
folds_of <- function(y, folds = 5, repeats = 1)
  replicate(repeats, as.vector(stats::ave(seq_along(y), y, FUN = function(i) sample(rep_len(sample(folds), length(i))))))

# The rows of grid (arguments of the classifier's fit) with the cross-validated error of each. judged: folds that are left out in
# turn; fewer than all of them cost less.
cross_validate <- function(classifier, x, y, grid, folds, scale = TRUE, judged = unique(folds[, 1])) {
  wrong <- function(i, fold, k) {
    fit <- do.call(classifier$fit, c(list(x[fold != k, , drop = FALSE], y[fold != k], scale = scale), grid[i, , drop = FALSE]))
    sum(as.character(classifier$label(fit, x[fold == k, , drop = FALSE])) != as.character(y[fold == k]))
  }
  grid$error <- vapply(seq_len(nrow(grid)), function(i)
    sum(apply(folds, 2, function(fold) sum(vapply(judged, function(k) wrong(i, fold, k), 0)))) / sum(folds %in% judged), 0)
  grid
}
best <- function(grid) grid[which.min(grid$error), ]

# ---- Data ----
package_data <- function(name, package) {
  if (!requireNamespace(package, quietly = TRUE)) {
    say("%s: the package %s is not here, left out", name, package)
    return(NULL)
  }
  place <- new.env()
  utils::data(list = name, package = package, envir = place)
  place[[name]]
}
shared_data <- function(pattern) {
  file <- Sys.glob(file.path("../shared/data", pattern))
  if (length(file)) return(readRDS(file[1]))
  say("%s is not in ../shared/data, left out", pattern)
}

# Two classes in two dimensions: two Gaussian clouds around a third.
two_classes <- function(N) {
  y <- stats::rbinom(N, 1, 0.5)
  side <- ifelse(stats::runif(N) < 0.5, -1.5, 1.5)
  list(x = cbind(stats::rnorm(N, ifelse(y == 1, side, 0)), stats::rnorm(N, ifelse(y == 1, 0, 1.2))), y = factor(y))
}

# ---- Report ----
report_classes <- function(rows, ...)
  print_table(data.frame(fit = rows$fit, ..., seconds = rows$seconds, vectors = rows$vectors, `error %` = 100 * rows$error,
                         `log loss` = rows$log_loss, `peak MB` = rows$memory, check.names = FALSE))
say <- function(...) {
  cat(sprintf(...), "\n", sep = "")
  flush(stdout())
}
