# Time and memory when every one of many rows is a candidate, and how they grow:
#   Rscript bench/scale.R                 two-dimensional sinc, N = 10,000 to 100,000
#   Rscript bench/scale.R friedman        Friedman #1, N = 40,000
#   Rscript bench/scale.R kin40k          36,000 rows of kin40k, where its file is at hand (../shared/data)
# e1071::svm runs beside as long as it is expected to stay under a minute.
source("bench/helper.R")
problems <- commandArgs(TRUE)
if (!length(problems)) problems <- "sinc"
limit <- 60

exponent <- function(N, value) unname(coef(lm(log(value) ~ log(N)))[2])

scale_sinc <- function(sizes = c(10000, 20000, 50000, 100000)) {
  rows <- data.frame()
  svm <- list(N = 1, seconds = 0)
  for (N in sizes) {
    d <- sinc_data(N, d = 2)
    rows <- rbind(rows, data.frame(N = N, fit = "rvm", measure("rvm", d, 2.5)))
    if (svm$seconds * (N / svm$N)^2 > limit) next
    value <- measure("e1071::svm", d, 2.5)
    svm <- list(N = N, seconds = value$seconds)
    rows <- rbind(rows, data.frame(N = N, fit = "e1071::svm", value))
  }
  report(rows)
  ours <- rows[rows$fit == "rvm", ]
  both <- merge(ours, rows[rows$fit == "e1071::svm", ], by = "N", suffixes = c("", ".svm"))
  cat("time as a ratio to e1071::svm:", sprintf("%.2f (N = %d)", both$seconds / both$seconds.svm, both$N), "\n")
  time <- exponent(ours$N, ours$seconds)
  empty <- in_child(function() { loadNamespace("rvm"); list() })$memory
  memory <- exponent(ours$N, ours$memory - empty)
  last <- ours[nrow(ours), ]
  target(time <= 2, sprintf("time grows as N^%.2f (at most 2)", time))
  target(memory <= exponent(ours$N, ours$N * ours$vectors),
         sprintf("memory beyond R's own %.0f MB grows as N^%.2f (at most as N times vectors)", empty, memory))
  target(last$seconds < 300, sprintf("N = %d in %.0f s (limit 300)", last$N, last$seconds))
  target(last$memory < 2048, sprintf("N = %d in %.0f MB (limit 2048)", last$N, last$memory))
}

scale_friedman <- function(N = 40000) {
  row <- data.frame(N = N, fit = "rvm", measure("rvm", friedman_data(N), 2.5))
  report(row)
  target(row$seconds < 900, sprintf("Friedman #1, N = %d in %.0f s (limit 900)", N, row$seconds))
}

scale_kin40k <- function(width = 3) {
  file <- "../shared/data/uci_kin40k.rds"
  if (!file.exists(file)) return(cat("kin40k: its file is not here, left out\n"))
  kin <- readRDS(file)
  colnames(kin$x) <- paste0("x", seq_len(ncol(kin$x)))
  test <- kin$fold == 1
  row <- data.frame(N = sum(!test), fit = "rvm", measure("rvm", list(x = kin$x[!test, ], y = kin$y[!test], xt = kin$x[test, ], truth = kin$y[test]), width))
  report(row)
  target(row$error < 0.286, sprintf("kin40k, width %g: test RMSE %.3f (a GP with 512 inducing points: 0.286)", width, row$error))
  target(row$seconds < 1800, sprintf("in %.0f s (limit 1800)", row$seconds))
  target(row$memory < 4096, sprintf("in %.0f MB (limit 4096)", row$memory))
}

machine()
for (problem in problems)
  switch(problem, sinc = scale_sinc(), friedman = scale_friedman(), kin40k = scale_kin40k(), stop("no such problem: ", problem))
finish()
