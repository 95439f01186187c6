gears <- rvm(am ~ wt, mtcars, family = "binomial")
flowers <- rvm(Species ~ Petal.Length + Petal.Width, iris)

test_that("print and summary tell classes, sparsity and evidence", {
  expect_output(print(gears), "binomial")
  expect_output(print(gears), "Cases by class: +0 \\(19\\), 1 \\(13\\)")
  expect_output(print(flowers), "Cases by class: +setosa \\(50\\), versicolor \\(50\\), virginica \\(50\\)")
  expect_output(print(flowers), "Functions by class: +setosa \\([0-9]+\\), versicolor")
  expect_output(print(flowers), paste("Relevance vectors: +", length(flowers$relevance), "of 150"))
  shown <- capture.output(print(flowers))
  expect_false(any(grepl("Noise", shown)))
})

test_that("summary has confusion table, log loss and weights", {
  summary <- summary(flowers)
  expect_equal(unclass(summary$confusion), unclass(table(truth = iris$Species, predicted = predict(flowers))),
               ignore_attr = TRUE)
  expect_identical(dimnames(summary$confusion), list(truth = flowers$levels, predicted = flowers$levels))
  own <- fitted(flowers)[cbind(1:150, as.integer(iris$Species))]
  expect_equal(summary$log.loss, -mean(log(own)))
  expect_equal(summary$classes, c(setosa = 50, versicolor = 50, virginica = 50))
  expect_equal(sum(summary$functions), length(flowers$alpha))
  table <- coef(summary)
  expect_identical(rownames(table), names(flowers$alpha))
  expect_equal(table[, "Std. Error"], sqrt(diag(vcov(flowers))))
  expect_output(print(summary), "wrong")
  expect_output(print(summary), "Log loss")

  two <- summary(gears)
  expect_equal(two$log.loss, -mean(log(ifelse(mtcars$am == 1, fitted(gears), 1 - fitted(gears)))))
  expect_equal(sum(diag(two$confusion)), sum((fitted(gears) > 0.5) == mtcars$am))
})

test_that("a model without active functions shows itself", {
  empty <- rvm(rep(1:3, each = 4), rep(c("a", "b"), 6))
  expect_length(coef(empty), 0)
  expect_output(print(summary(empty)), "No active basis function")
  expect_identical(nrow(relevance_vectors(empty)), 0L)
  three <- rvm(rep(1:3, each = 6), rep(c("a", "b", "c"), 6))
  expect_identical(dim(coef(three)), c(0L, 3L))
  expect_equal(unname(fitted(three)), matrix(1 / 3, 18, 3))
  expect_output(print(summary(three)), "No active basis function: the log odds are constant zero")
  expect_identical(nrow(relevance_vectors(three)), 0L)
  expect_identical(dim(simulate(three, 2, seed = 1)), c(18L, 2L))
})

test_that("fitted values are moderated probabilities, residuals what is left", {
  expect_equal(fitted(gears), predict(gears, mtcars, type = "prob")[, "1"], tolerance = 1e-8)
  expect_equal(unname(fitted(gears) + residuals(gears)), mtcars$am)
  expect_equal(residuals(gears, "pearson"), residuals(gears) / sqrt(fitted(gears) * (1 - fitted(gears))))
  expect_equal(fitted(flowers), predict(flowers, iris, type = "prob"), tolerance = 1e-8)
  indicators <- fitted(flowers) + residuals(flowers)
  expect_equal(max.col(indicators), as.integer(iris$Species))
  expect_equal(unname(rowSums(residuals(flowers))), rep(0, 150))
  expect_identical(dim(residuals(flowers, "pearson")), c(150L, 3L))
})

test_that("logLik is the likelihood at the posterior mode", {
  plain <- predict(gears, type = "prob", moderated = FALSE)[, 2]
  expect_equal(as.numeric(logLik(gears)), sum(dbinom(mtcars$am, 1, plain, log = TRUE)))
  expect_equal(attr(logLik(gears), "df"), sum(gears$gamma))
  plain <- predict(flowers, type = "prob", moderated = FALSE)
  expect_equal(as.numeric(logLik(flowers)), sum(log(plain[cbind(1:150, as.integer(iris$Species))])))
  expect_equal(BIC(flowers), -2 * as.numeric(logLik(flowers)) + log(150) * sum(flowers$gamma))
  expect_lt(evidence(flowers), as.numeric(logLik(flowers)))
  expect_identical(sigma(flowers), NA_real_)
})

test_that("confint and vcov are about the active weights", {
  interval <- confint(flowers)
  expect_identical(rownames(interval), rownames(vcov(flowers)))
  expect_equal(interval[, 2] - interval[, 1], 2 * qnorm(0.975) * sqrt(diag(vcov(flowers))))
  expect_identical(confint(flowers, rownames(interval)[2]), interval[2, , drop = FALSE])
  expect_equal(rowMeans(confint(gears)), coef(gears))
})

test_that("update, formula and terms work through the call", {
  expect_equal(formula(flowers), Species ~ Petal.Length + Petal.Width, ignore_formula_env = TRUE)
  wider <- update(flowers, kernel = kernel_gaussian(3))
  expect_identical(wider$kernel$width, 3)
  expect_identical(colnames(update(flowers, . ~ . - Petal.Width)$x), "Petal.Length")
  expect_identical(update(gears, family = "gaussian")$family, "gaussian")
})

test_that("simulate draws labels from the posterior predictive distribution", {
  set.seed(20)
  before <- .Random.seed
  first <- simulate(gears, nsim = 2000, seed = 3)
  expect_identical(.Random.seed, before)
  expect_identical(simulate(gears, nsim = 2000, seed = 3), first)
  expect_identical(dim(first), c(32L, 2000L))
  expect_identical(names(first)[1:2], c("sim_1", "sim_2"))
  expect_identical(rownames(first), rownames(mtcars))
  expect_s3_class(first[[1]], "factor")
  expect_identical(levels(first[[1]]), c("0", "1"))
  expect_lt(max(abs(rowMeans(first == "1") - fitted(gears))), 0.06)

  labels <- simulate(flowers, nsim = 2000, seed = 4)
  for (class in flowers$levels) {
    expect_lt(max(abs(rowMeans(labels == class) - fitted(flowers)[, class])), 0.06)
  }
})

test_that("relevance_vectors has weights by class", {
  vectors <- relevance_vectors(gears)
  expect_named(vectors, c("row", "wt", "weight", "alpha", "gamma"))
  expect_identical(vectors$wt, mtcars$wt[vectors$row])
  vectors <- relevance_vectors(flowers)
  expect_identical(vectors$row, flowers$relevance)
  expect_named(vectors, c("row", "Petal.Length", "Petal.Width", paste0(
    rep(c("weight.", "alpha.", "gamma."), each = 3), flowers$levels
  )))
  expect_identical(vectors$Petal.Width, iris$Petal.Width[vectors$row])
  weights <- coef(flowers)[as.character(vectors$row), ]
  expect_equal(unname(as.matrix(vectors[paste0("weight.", flowers$levels)])), unname(weights))
  absent <- weights[, "setosa"] == 0
  expect_identical(is.infinite(vectors$alpha.setosa), unname(absent))
  expect_true(all(vectors$gamma.setosa[absent] == 0) && all(vectors$gamma.setosa[!absent] > 0))
  spaced <- rvm(iris$Petal.Length, factor(iris$Species, labels = c("I. setosa", "I. versicolor", "I. virginica")))
  expect_true("weight.I. setosa" %in% names(relevance_vectors(spaced)))
})

test_that("every picture gets drawn", {
  expect_picture(function() plot(flowers, main = "flowers"))
  expect_picture(function() plot(gears))
  expect_picture(function() plot(rvm(Species ~ Petal.Length, iris)))
  expect_picture(function() plot(rvm(Species ~ ., iris)))
  expect_picture(function() plot(flowers, which = "calibration"))
  expect_picture(function() plot(gears, which = "relevance"))
  expect_picture(function() plot(flowers, which = "relevance"))
  expect_picture(function() plot(flowers, which = "evidence"))
})

test_that("offsets, bases, dummy columns and given centres get drawn", {
  cars <- transform(mtcars, am = factor(am), gear = factor(gear))
  expect_picture(function() plot(rvm(am ~ wt + offset(hp / 100), cars)))
  expect_picture(function() plot(rvm(am ~ wt + hp, cars, basis = ~ I(wt^2))))
  expect_picture(function() plot(rvm(am ~ wt + hp, cars, basis = ~ qsec)))
  expect_picture(function() plot(rvm(am ~ wt, cars, basis = ~ qsec)))
  expect_picture(function() plot(rvm(am ~ gear, cars)))
  expect_picture(function() plot(rvm(cars[c("wt", "hp")], cars$am, centers = cbind(2:4, c(100, 150, 200)))))
  expect_picture(function() plot(rvm(cars$wt, cars$am, centers = cbind(2:4))))
})

test_that("calibration counts every case once for each class it is told of", {
  bins <- rvm:::calibration_bins(gears)
  expect_equal(sum(bins$count), 32)
  expect_equal(sum(bins$count * bins$observed), sum(mtcars$am))
  expect_equal(sum(bins$count * bins$predicted), sum(fitted(gears)))
  bins <- rvm:::calibration_bins(flowers)
  expect_equal(sum(bins$count), 450)
  expect_equal(sum(bins$count * bins$observed), 150)
  expect_rvm_error(plot(rvm(dist ~ speed, cars), which = "calibration"), "`which`.*numeric response")
})
