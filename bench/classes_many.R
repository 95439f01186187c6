# Parts of classes.R with many classes: four sets of R's packages, and the digits of USPS.

# Inputs and classes of each set.
many_sets <- list(
  fgl = function() package_data("fgl", "MASS"),
  Vehicle = function() package_data("Vehicle", "mlbench"),
  Vowel = function() package_data("Vowel", "mlbench")[-1],       # without the number of the speaker
  Satellite = function() package_data("Satellite", "mlbench"))

# ---- 5-fold cross-validation beside kernlab::ksvm ----
# In every fold the width of both is chosen among six by 5-fold cross-validation on the training rows; to save time on at most
# `most` of them and, in sets that are not small, by two of the five inner folds. For ksvm that is done with its default cost of
# 1, and once more with the cost chosen too. A small set is divided into folds five times: a row of it is half a point.
small <- 500
multi <- function(sets = names(many_sets), most = 1000) {
  rows <- do.call(rbind, lapply(sets, multi_set, most))
  if (is.null(rows)) return()
  cat("\n")
  print_table(data.frame(set = rows$set, fit = rows$fit, `error %` = 100 * rows$error, vectors = rows$vectors,
                         `log loss` = rows$log_loss, `seconds per fit` = rows$seconds, check.names = FALSE))
  for (set in unique(rows$set)) {
    ours <- rows[rows$set == set & rows$fit == "rvm", ]
    svm <- rows[rows$set == set & rows$fit == "ksvm", ]
    target(ours$error <= svm$error + 0.01, sprintf("%s: error %.2f %% (limit %.2f)", set, 100 * ours$error, 100 * svm$error + 1))
    target(ours$vectors <= svm$vectors / 3, sprintf("%s: %.1f vectors (limit %.1f)", set, ours$vectors, svm$vectors / 3))
  }
}

multi_set <- function(set, most) {
  data <- many_sets[[set]]()
  if (is.null(data)) return()
  x <- data.matrix(data[-ncol(data)])
  y <- factor(data[[ncol(data)]])
  set.seed(1)
  folds <- folds_of(y, repeats = if (length(y) < small) 5 else 1)
  runs <- do.call(rbind, Map(function(k, column) multi_fold(set, k, x, y, folds[, column] != k, most),
                             rep(1:5, ncol(folds)), rep(seq_len(ncol(folds)), each = 5)))
  means <- stats::aggregate(cbind(error, vectors, log_loss, seconds) ~ factor(fit, unique(runs$fit)), runs, mean, na.action = stats::na.pass)
  data.frame(set = set, fit = as.character(means[[1]]), means[-1])
}

multi_fold <- function(set, k, x, y, train, most) {
  some <- which(train)
  if (length(some) > most) some <- sample(some, most)
  inner <- folds_of(y[some])
  judged <- if (length(y) < small) 1:5 else 1:2
  tune <- function(name, grid) cross_validate(classifiers[[name]], x[some, ], y[some], grid, inner, judged = judged)
  widths <- tune("rvm", data.frame(width = widths_for(x, 6)))
  grid <- tune("kernlab::ksvm", expand.grid(cost = c(1, 10), width = widths_for(x, 6)))
  row <- function(fit, name, width, ...) {
    classifier <- classifiers[[name]]
    run <- clock(function() classifier$fit(x[train, ], y[train], width = width, ...))
    value <- scores(classifier, run$value, x[!train, ], y[!train])
    say("%-9s fold %d  %-14s width %5.2f, error %5.2f %%, %4d vectors, %.1f s", set, k, fit, width, 100 * value$error, value$vectors, run$seconds)
    data.frame(fit = fit, seconds = run$seconds, value)
  }
  plain <- best(grid[grid$cost == 1, ])
  tuned <- best(grid)
  rbind(row("rvm", "rvm", best(widths)$width), row("ksvm", "kernlab::ksvm", plain$width),
        row("ksvm, cost too", "kernlab::ksvm", tuned$width, cost = tuned$cost))
}

# ---- USPS: one model of all ten digits ----
# The pixels are all in one unit: they are not standardised. choices: widths to fit at, and "shared" for one precision per
# basis function; without a width, the best of four on 2000 of the training rows as 1000 others judge it.
usps <- function(choices = character()) {
  data <- shared_data("usps_7291_2007.rds")
  if (is.null(data)) return()
  d <- list(x = data$x, y = factor(data$y), xt = data$x_test, yt = data$y_test)
  shared <- "shared" %in% choices
  widths <- as.numeric(setdiff(choices, "shared"))
  if (!length(widths)) widths <- usps_width(d, c(16, 11.3, 8, 5.7), shared)
  rows <- data.frame()
  run <- function(name, width, ...) {
    value <- measure_classes(name, d, width, ...)
    say("%-10s width %5.2f: %.0f s, %.0f MB, %.0f vectors, error %.2f %%", name, width, value$seconds, value$memory, value$vectors, 100 * value$error)
    rows <<- rbind(rows, data.frame(fit = name, width = width, value))
  }
  for (width in widths) run("rvm", width, shared = shared)
  run("e1071::svm", 11.3, cost = 10, probability = FALSE)
  cat("\n")
  report_classes(rows, width = rows$width)
  ours <- rows[rows$fit == "rvm", ]
  for (i in seq_len(nrow(ours))) {
    at <- sprintf("width %.2f%s: ", ours$width[i], if (shared) ", shared" else "")
    target(ours$error[i] <= 0.051, sprintf("%serror %.2f %% (limit 5.1; 4.4 is the SVM's)", at, 100 * ours$error[i]))
    target(ours$vectors[i] <= 316, sprintf("%s%.0f vectors (limit 316)", at, ours$vectors[i]))
    target(ours$seconds[i] < 1800, sprintf("%sin %.0f s (limit 1800)", at, ours$seconds[i]))
    target(ours$memory[i] < 6144, sprintf("%sin %.0f MB (limit 6144)", at, ours$memory[i]))
  }
}

usps_width <- function(d, widths, shared) {
  set.seed(1)
  train <- sample(nrow(d$x), 2000)
  judge <- sample(setdiff(seq_len(nrow(d$x)), train), 1000)
  error <- vapply(widths, function(width) {
    run <- clock(function() classifiers$rvm$fit(d$x[train, ], d$y[train], width, scale = FALSE, shared = shared))
    error <- error_rate(classifiers$rvm$label(run$value, d$x[judge, ]), d$y[judge])
    say("2000 rows, width %5.2f: error %.2f %%, %d vectors, %.0f s", width, 100 * error, classifiers$rvm$vectors(run$value), run$seconds)
    error
  }, 0)
  widths[which.min(error)]
}
