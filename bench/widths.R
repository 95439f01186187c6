# Widths that the data choose: Rscript bench/widths.R [part ...]      default: all parts but uci
# friedman   Friedman #1, 50 draws: error, functions, whether the idle inputs rank last
# columns    sinc(x1) + 0.1 x2 with explicit columns beside the kernel, 50 draws
# grid       the default call beside the best of 12 widths, chosen with the test data in hand
# cost       learning ten widths, in fits at one width
# uci        five sets of the UCI benchmark splits; uci=5 takes five splits of each instead of two
# Files that do not come with R's packages are looked for in ../shared/data.
source("bench/helper.R")
folder <- "../shared/data"
quietly <- suppressWarnings

# Friedman #1, 240 rows, 50 draws: error, functions, whether idle inputs rank last.
friedman <- function(draws = 50) {
  table <- t(vapply(seq_len(draws), function(seed) {
    set.seed(seed)
    data <- mlbench::mlbench.friedman1(240, 1)
    new <- mlbench::mlbench.friedman1(1000, 0)
    fit <- quietly(rvm(data$x, data$y))
    width <- fit$kernel$width
    c(mse = mean((predict(fit, new$x) - new$y)^2), functions = length(fit$alpha),
      idle_last = max(width[1:5]) < min(width[6:10]), sigma = sigma(fit))
  }, numeric(4)))
  cat("\nFriedman #1, 240 rows,", draws, "draws, means:\n")
  print(signif(colMeans(table), 4))
}

# sinc(x1) + 0.1 x2 with explicit columns beside the kernel.
columns <- function(draws = 50) {
  sinc_of <- function(x) ifelse(x == 0, 1, sin(x) / x)
  explicit <- function(x) {
    x <- unname(x)
    cbind(x1 = x[, 1], x2 = x[, 2], x1x1 = x[, 1]^2, x2x2 = x[, 2]^2, x1x2 = x[, 1] * x[, 2])
  }
  table <- t(vapply(seq_len(draws), function(seed) {
    set.seed(seed)
    x <- matrix(runif(200, -10, 10), 100)
    new <- matrix(runif(2000, -10, 10), 1000)
    y <- sinc_of(x[, 1]) + 0.1 * x[, 2] + rnorm(100, sd = 0.1)
    fit <- quietly(rvm(x, y, scale = FALSE, basis = explicit))
    weight <- coef(fit)["x2"]
    others <- c("x1", "x1x1", "x2x2", "x1x2") %in% names(coef(fit))
    c(weight = if (is.na(weight)) 0 else weight[[1]], others_gone = !any(others),
      sigma = sigma(fit), functions = length(fit$alpha),
      rms = sqrt(mean((predict(fit, new) - sinc_of(new[, 1]) - 0.1 * new[, 2])^2)))
  }, numeric(5)))
  cat("\nsinc(x1) + 0.1 x2,", draws, "draws, medians (others_gone: share):\n")
  print(signif(c(apply(table, 2, median)[-2], others_gone = mean(table[, 2])), 4))
}

# The default call against the best of 12 widths, chosen with the test data in hand.
held_out <- function(fit, new) {
  predicted <- predict(fit, new$x)
  if (is.factor(predicted)) mean(predicted != new$y) else sqrt(mean((predicted - new$y)^2))
}

grid_sets <- function() {
  simulated <- function(maker) {
    set.seed(11)
    take <- function(data) list(x = as.matrix(data$x), y = data$y)
    list(train = take(maker(240)), new = take(maker(2000)))
  }
  split_rows <- function(x, y, rows) {
    list(train = list(x = x[rows, ], y = y[rows]), new = list(x = x[-rows, ], y = y[-rows]))
  }
  set.seed(12)
  inputs <- as.matrix(MASS::Pima.tr[1:7])
  sets <- list(
    "Friedman 1" = simulated(function(n) mlbench::mlbench.friedman1(n, 1)),
    "Friedman 2" = simulated(mlbench::mlbench.friedman2),
    "Friedman 3" = simulated(mlbench::mlbench.friedman3),
    Boston = split_rows(as.matrix(MASS::Boston[1:13]), MASS::Boston$medv, sample(506, 400)),
    Pima = list(train = list(x = inputs, y = MASS::Pima.tr$type),
                new = list(x = as.matrix(MASS::Pima.te[1:7]), y = MASS::Pima.te$type)),
    waveform = simulated(function(n) {
      made <- mlbench::mlbench.waveform(n)
      list(x = made$x, y = made$classes)
    })
  )
  file <- file.path(folder, "ida_banana_10splits.rds")
  if (file.exists(file)) {
    split <- readRDS(file)$splits[[1]]
    sets$banana <- list(train = list(x = split$x, y = factor(split$y)),
                        new = list(x = split$x_test, y = factor(split$y_test)))
  }
  sets
}

grid <- function() {
  cat("\nHeld-out error of the default call and of the best of 12 widths:\n")
  for (name in names(sets <- grid_sets())) {
    set <- sets[[name]]
    own <- held_out(quietly(rvm(set$train$x, set$train$y)), set$new)
    middle <- median(dist(scale(set$train$x)))
    errors <- vapply(middle * exp(seq(log(0.15), log(4), length.out = 12)), function(width) {
      held_out(quietly(rvm(set$train$x, set$train$y, kernel = kernel_gaussian(width))), set$new)
    }, 0)
    cat(sprintf("%-10s default %.4g, grid %.4g, ratio %.3f\n", name, own, min(errors), own / min(errors)))
  }
}

# Ten widths at 1000 rows, in fits at the widths that were found.
cost <- function() {
  set.seed(2)
  data <- mlbench::mlbench.friedman1(1000, 1)
  timed <- function(expression) system.time(expression)[["elapsed"]]
  learning <- timed(fit <- quietly(rvm(data$x, data$y)))
  middle <- median(dist(scale(data$x)))
  single <- timed(quietly(rvm(data$x, data$y, kernel = kernel_gaussian(middle))))
  cat(sprintf("\n10 widths at 1000 rows: %.1f s, %.1f times one fit at the median distance (%.2f s)\n",
              learning, learning / single, single))
}

# Mean test error and log likelihood on the benchmark splits.
uci <- function(splits = 2) {
  splits <- seq_len(as.integer(splits))
  for (name in c("bostonHousing", "concrete", "energy", "power-plant", "kin8nm")) {
    data <- readRDS(file.path(folder, paste0("pbp_", name, ".rds")))
    x <- as.matrix(data$x)
    table <- t(vapply(splits, function(i) {
      test <- data$test_index[[i]]
      seconds <- system.time(fit <- quietly(rvm(x[-test, ], data$y[-test])))[["elapsed"]]
      p <- predict(fit, x[test, ], se.fit = TRUE)
      spread <- sqrt(p$se.fit^2 + sigma(fit)^2)
      c(rmse = sqrt(mean((p$fit - data$y[test])^2)), functions = length(fit$alpha),
        log_likelihood = mean(dnorm(data$y[test], p$fit, spread, log = TRUE)), seconds = seconds)
    }, numeric(4)))
    cat(sprintf("%-14s", name), paste(colnames(table), signif(colMeans(table), 4)), "\n")
  }
}

parts <- list(friedman = friedman, columns = columns, grid = grid, cost = cost, uci = uci)
chosen <- commandArgs(TRUE)
if (!length(chosen)) chosen <- setdiff(names(parts), "uci")
machine()
for (part in strsplit(chosen, "=")) {
  run <- parts[[part[1]]]
  if (is.null(run)) stop("no such part: ", part[1], "; there are ", toString(names(parts)))
  do.call(run, as.list(part[-1]))
}
