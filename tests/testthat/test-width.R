# Slopes of the evidence against differences, and widths that the data choose.

slope_problem <- function(family, seed) {
  set.seed(seed)
  x <- matrix(rnorm(120), 40)
  latents <- c(gaussian = 1L, binomial = 1L, multinomial = 3L)[[family]]
  list(
    x = x, centers = x[c(3, 8, 17, 30, 36), ], family = family, latents = latents,
    y = if (family == "gaussian") sin(x[, 1]) + rnorm(40) / 3 else sample(0:max(1L, latents - 1L), 40, TRUE)
  )
}

kernel_columns <- function(name, centers, log_width) {
  list(type = rvm:::block_codes[[name]], columns = NULL, centers = centers,
       width = exp(log_width), parameters = numeric(0))
}

# The objective and its slopes from the core, for all functions of all classes.
core_slopes <- function(p, name, log_width, log_ratio, weights, prior, explicit) {
  blocks <- list(kernel_columns(name, p$centers, log_width))
  if (explicit) blocks <- c(list(rvm:::column_block(cbind(1, p$x[, 1]))), blocks)
  if (p$family == "gaussian") {
    return(.Call(rvm:::C_gradient, p$x, blocks, p$y, weights, prior, NA_real_, exp(log_ratio), 1L))
  }
  .Call(rvm:::C_class_gradient, p$x, blocks, as.integer(p$y), weights, NULL, p$latents, prior,
        seq_along(log_ratio), exp(log_ratio), 1L)
}

central_differences <- function(f, at, step = 1e-5) {
  vapply(seq_along(at), function(i) {
    shift <- replace(numeric(length(at)), i, step)
    (f(at + shift) - f(at - shift)) / (2 * step)
  }, 0)
}

expect_slopes <- function(p, name, weights, prior, explicit) {
  functions <- nrow(p$centers) + 2 * explicit
  log_width <- log(c(0.8, 1.3, 2))
  log_ratio <- rnorm(functions * p$latents)
  value <- function(par) {
    core_slopes(p, name, par[1:3], par[-(1:3)], weights, prior, explicit)$objective
  }
  found <- core_slopes(p, name, log_width, log_ratio, weights, prior, explicit)
  slopes <- c(utils::tail(found$log_width, 3), found$log_alpha)
  expected <- central_differences(value, c(log_width, log_ratio))
  expect_lt(max(abs(slopes - expected) / pmax(abs(expected), 0.1 * max(abs(expected)))), 1e-5)
}

test_that("slopes in widths and precisions are those of the evidence", {
  flat <- numeric(4)
  for (family in c("gaussian", "binomial", "multinomial")) {
    for (name in rvm:::kernels_with_width) {
      p <- slope_problem(family, seed = match(name, rvm:::kernels_with_width))
      expect_slopes(p, name, weights = NULL, prior = flat, explicit = FALSE)
      expect_slopes(p, name, weights = runif(40) + 0.2, prior = flat, explicit = TRUE)
      expect_slopes(p, name, weights = NULL, prior = c(0.5, 0.3, 0.2, 0.1), explicit = TRUE)
    }
  }
})

test_that("the evidence that is climbed is the evidence that is reported", {
  set.seed(4)
  x <- matrix(runif(160), 80)
  y <- list(sin(4 * x[, 1]) + rnorm(80) / 5, factor(x[, 1] + rnorm(80) / 5 > 0.5),
            cut(x[, 1] + rnorm(80) / 5, c(-Inf, 0.3, 0.7, Inf), labels = c("low", "middle", "high")))
  for (response in y) {
    kernel <- kernel_gaussian(c(1, 2), estimate = TRUE)
    frame <- rvm:::matrix_frame(x, response, NULL, NULL)
    settings <- list(kernels = list(kernel), intercept = TRUE,
                     family = rvm:::resolve_family(NULL, response), scale = TRUE, noise = NULL,
                     prior = prior_flat(), centers = NULL, control = rvm_control(),
                     price = 0)
    problem <- rvm:::new_problem(rvm:::checked_frame(frame, settings), settings)
    fit <- rvm:::fit_problem(problem, list(kernel))
    surface <- rvm:::evidence_surface(problem, fit)
    expect_equal(surface$value(surface$begin), fit$core$evidence, tolerance = 1e-7)
    top <- rvm:::highest_point(surface)
    expect_gt(surface$value(top), fit$core$evidence)
  }
})

test_that("a width that is not given is learned, and a given one is kept", {
  set.seed(1)
  x <- seq(-10, 10, length.out = 100)
  y <- sin(x) / x + rnorm(100) / 10
  learned <- rvm(x, y)
  expect_length(learned$kernel$width, 1)
  around <- vapply(learned$kernel$width * c(0.6, 1.6), function(width) {
    evidence(rvm(x, y, kernel = kernel_gaussian(width)))
  }, 0)
  expect_gt(evidence(learned), max(around) - 2)
  expect_identical(rvm(x, y, kernel = kernel_gaussian(0.7))$kernel$width, 0.7)
  begun <- rvm(x, y, kernel = kernel_gaussian(0.7, estimate = TRUE))
  expect_false(begun$kernel$width == 0.7)
  expect_equal(evidence(begun), evidence(learned), tolerance = 0.02)
})

friedman <- function(rows, seed) {
  set.seed(seed)
  x <- matrix(runif(10 * rows), rows, dimnames = list(NULL, paste0("x", 1:10)))
  truth <- 10 * sin(pi * x[, 1] * x[, 2]) + 20 * (x[, 3] - 0.5)^2 + 10 * x[, 4] + 5 * x[, 5]
  list(x = x, truth = truth, y = truth + rnorm(rows))
}

test_that("Friedman's five idle inputs are told from the others", {
  draws <- lapply(1:5, function(seed) {
    data <- friedman(240, seed)
    new <- friedman(500, 100 + seed)
    fit <- rvm(data$x, data$y)
    c(error = mean((predict(fit, new$x) - new$truth)^2), functions = length(fit$alpha),
      apart = max(fit$kernel$width[1:5]) < min(fit$kernel$width[6:10]))
  })
  draws <- do.call(rbind, draws)
  expect_lt(mean(draws[, "error"]), 0.45)
  expect_lt(mean(draws[, "functions"]), 17)
  expect_gte(mean(draws[, "apart"]), 0.8)
})

test_that("unit of y, unit of x and order of rows do not change the widths", {
  data <- friedman(120, 3)
  fit <- rvm(data$x, data$y)
  mixed <- sample(120)
  other <- rvm(sweep(data$x[mixed, ], 2, 10^(-4:5), "*") + 3, 1e6 * data$y[mixed])
  expect_equal(other$kernel$width, fit$kernel$width, tolerance = 1e-6)
  expect_setequal(mixed[other$relevance], fit$relevance)
})

test_that("several kernels are learned together, beside explicit columns", {
  set.seed(6)
  x <- cbind(a = runif(100, -10, 10), b = runif(100, -10, 10))
  y <- sin(x[, "a"]) / x[, "a"] + 0.1 * x[, "b"] + rnorm(100) / 10
  both <- rvm(x, y, kernel = c(kernel_gaussian(), kernel_matern(2)), basis = function(x) x)
  expect_length(both$kernel, 2)
  expect_identical(both$kernel[[2]]$width, 2)
  expect_true(is.finite(both$kernel[[1]]$width))
  expect_true("b" %in% names(coef(both)))
})

test_that("widths are learned on some of many rows, and summary says so", {
  set.seed(7)
  x <- matrix(runif(4400, -3, 3), 2200)
  y <- sin(x[, 1]) + rnorm(2200) / 10
  fit <- rvm(x, y)
  expect_equal(fit$learning_rows, 1000)
  expect_output(print(summary(fit)), "Widths learned on:  1000 rows")
  expect_lt(sqrt(mean((fitted(fit) - sin(x[, 1]))^2)), 0.02)
  expect_identical(fit$kernel$width[2], Inf)
})

test_that("the relevance of inputs is one over their widths, with what each is worth", {
  data <- friedman(150, 8)
  fit <- rvm(data$x, data$y)
  table <- relevance_inputs(fit)
  expect_setequal(table$input, colnames(data$x))
  expect_false(is.unsorted(-table$relevance))
  expect_setequal(table$input[1:5], paste0("x", 1:5))
  expect_equal(table$relevance, 1 / table$width)
  expect_true(all(table$loss[1:5] > 3))
  expect_equal(table$loss[!is.finite(table$width)], numeric(sum(!is.finite(table$width))), tolerance = 0.02)
  expect_output(print(summary(fit)), "Inputs:")
  expect_silent({
    grDevices::png(tempfile(fileext = ".png"))
    plot(fit, which = "inputs")
    grDevices::dev.off()
  })
  linear <- relevance_inputs(rvm(data$x[, 1:3], data$y, kernel = kernel_linear()))
  expect_true(all(is.na(linear$width)) && all(is.finite(linear$loss)))
  classes <- relevance_inputs(rvm(Species ~ ., iris))
  expect_identical(classes$input[1], "Petal.Width")
})
