data <- sinc_data()
fit <- rvm(y ~ x, data, kernel = kernel_gaussian(0.5))

test_that("mean and variance are those of the posterior", {
  new <- data.frame(x = c(-9, 0.3, 12))
  scaled <- function(x) (x - mean(data$x)) / sd(data$x)
  centers <- scaled(data$x[fit$relevance])
  columns <- exp(-outer(scaled(new$x), centers, "-")^2 / 0.25)
  if ("(Intercept)" %in% names(coef(fit))) columns <- cbind(1, columns)
  mean <- drop(columns %*% coef(fit))
  variance <- rowSums((columns %*% vcov(fit)) * columns)

  result <- predict(fit, new, se.fit = TRUE)
  expect_named(result, c("fit", "se.fit", "df", "residual.scale"))
  expect_equal(unname(result$fit), mean)
  expect_equal(unname(result$se.fit), sqrt(variance), tolerance = 1e-6)
  expect_identical(result$residual.scale, sigma(fit))

  confidence <- predict(fit, new, interval = "confidence", level = 0.9)
  expect_equal(unname(confidence[, "upr"]), mean + qnorm(0.95) * sqrt(variance), tolerance = 1e-6)
  prediction <- predict(fit, new, interval = "prediction")
  half <- qnorm(0.975) * sqrt(variance + sigma(fit)^2)
  expect_equal(unname(prediction), unname(cbind(mean, mean - half, mean + half)), tolerance = 1e-6)
  expect_identical(colnames(prediction), c("fit", "lwr", "upr"))
})

test_that("without new data the training rows are predicted", {
  expect_equal(predict(fit), fitted(fit), tolerance = 1e-8)
  expect_identical(dim(predict(fit, interval = "prediction")), c(60L, 3L))
})

test_that("every row gets a result, NA where an input is missing", {
  new <- data.frame(x = c(1, NA, 3), row.names = c("a", "b", "c"))
  result <- predict(fit, new)
  expect_named(result, c("a", "b", "c"))
  expect_identical(unname(is.na(result)), c(FALSE, TRUE, FALSE))
  expect_equal(result[c("a", "c")], predict(fit, new[c("a", "c"), , drop = FALSE]))
  expect_length(predict(fit, new, na.action = na.omit), 2)
  all_missing <- predict(fit, data.frame(x = c(NA_real_, NA)), se.fit = TRUE)
  expect_true(all(is.na(all_missing$fit)) && all(is.na(all_missing$se.fit)))
  expect_length(predict(fit, data.frame(x = numeric(0))), 0)
})

test_that("a row's prediction does not depend on the others", {
  both <- two_inputs()
  model <- rvm(both$x, both$y)
  expect_equal(predict(model, both$x[7, , drop = FALSE]), predict(model, both$x)[7])
})

test_that("factors are predicted by level, not by position", {
  set.seed(13)
  data <- data.frame(g = factor(rep(c("a", "b", "c"), 10)), x = runif(30))
  data$y <- c(a = 0, b = 5, c = -5)[as.character(data$g)] + data$x + rnorm(30, sd = 0.1)
  fit <- rvm(y ~ g + x, data)
  new <- data.frame(g = c("c", "b"), x = 0.5)
  expect_equal(unname(predict(fit, new)), c(-4.5, 5.5), tolerance = 0.1)
  expect_rvm_error(predict(fit, data.frame(g = c("b", "d"), x = 0.5)), "\"g\".*\"d\"")
  expect_rvm_error(predict(fit, data.frame(g = "a")), "missing: \"x\"")
})

test_that("a model without active functions predicts zero", {
  empty <- rvm(1:10, rep(0, 10), intercept = FALSE)
  expect_equal(unname(predict(empty, 1:3)), rep(0, 3))
})

test_that("bad arguments are named", {
  expect_rvm_error(predict(fit, data.frame(z = 1)), "missing: \"x\"")
  expect_rvm_error(predict(fit, type = "prob"), "`type`.*numeric response")
  expect_rvm_error(predict(fit, type = "odds"), "`type`.*\"odds\"")
  expect_rvm_error(predict(fit, interval = "wide"), "`interval`")
  expect_rvm_error(predict(fit, level = 1), "`level`.*between 0 and 1")
  expect_rvm_error(predict(fit, se.fit = NA), "`se.fit`")
  expect_rvm_error(predict(fit, prior = 1), "`prior`")
  expect_rvm_error(predict(fit, cost = 1), "`cost`")
  expect_rvm_error(predict(fit, new_data = 1), "Unknown argument: `new_data`")
  expect_rvm_error(predict(fit, data.frame(x = Inf)), "`newdata`.*finite")
})
