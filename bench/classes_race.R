# Parts of classes.R about speed: two Gaussian clouds around a third, width sqrt(2).

race_data <- function(N) {
  set.seed(N)
  train <- two_classes(N)
  test <- two_classes(4000)
  list(x = train$x, y = train$y, xt = test$x, yt = test$y)
}

# ---- Beside e1071::svm with probabilities ----
race_classes <- function(sizes = c(1000, 2000, 4000, 8000)) {
  rows <- data.frame()
  for (N in as.numeric(sizes)) {
    d <- race_data(N)
    rows <- rbind(rows, data.frame(N = N, fit = "rvm", measure_classes("rvm", d, sqrt(2), times = 5)),
                  data.frame(N = N, fit = "e1071::svm", measure_classes("e1071::svm", d, sqrt(2), probability = TRUE, times = 5)))
  }
  report_classes(rows, N = rows$N)
  for (N in unique(rows$N)) {
    ours <- rows[rows$N == N & rows$fit == "rvm", ]
    svm <- rows[rows$N == N & rows$fit == "e1071::svm", ]
    target(ours$seconds <= svm$seconds,
           sprintf("N = %d: time %.2f of svm's, vectors %.0f against %.0f", N, ours$seconds / svm$seconds, ours$vectors, svm$vectors))
    target(ours$log_loss <= svm$log_loss + 0.002, sprintf("N = %d: log loss %.4f against %.4f, error %.2f %% against %.2f",
                                                          N, ours$log_loss, svm$log_loss, 100 * ours$error, 100 * svm$error))
  }
}

# ---- Many rows, each a candidate ----
scale_classes <- function(sizes = 50000) {
  rows <- do.call(rbind, lapply(as.numeric(sizes), function(N) {
    value <- measure_classes("rvm", race_data(N), sqrt(2))
    say("N = %.0f: %.1f s, %.0f MB", N, value$seconds, value$memory)
    data.frame(N = N, fit = "rvm", value)
  }))
  cat("\n")
  report_classes(rows, N = rows$N)
  for (i in seq_len(nrow(rows))) {
    target(rows$seconds[i] < 600, sprintf("N = %.0f in %.0f s (limit 600)", rows$N[i], rows$seconds[i]))
    target(rows$memory[i] < 2048, sprintf("N = %.0f in %.0f MB (limit 2048)", rows$N[i], rows$memory[i]))
  }
}
