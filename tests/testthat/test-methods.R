data <- sinc_data()
fit <- rvm(y ~ x, data, kernel = kernel_gaussian(0.5))

test_that("print tells kernel, sparsity, noise and evidence", {
  expect_output(print(fit), "Gaussian kernel, width 0.5")
  expect_output(print(fit), paste("Relevance vectors: +", length(fit$relevance), "of 60 rows"))
  expect_output(print(fit), "Log evidence")
  expect_output(print(fit), "Explicit functions: +\\(Intercept\\)")
  expect_output(print(rvm(dist ~ speed, cars, kernel = "none")), "Explicit functions: .*speed")
  capture.output(shown <- withVisible(print(fit)))
  expect_false(shown$visible)
})

test_that("summary has the posterior of each weight", {
  summary <- summary(fit)
  expect_s3_class(summary, "summary.rvm")
  table <- coef(summary)
  expect_identical(colnames(table), c("Estimate", "Std. Error", "alpha", "gamma"))
  expect_identical(table[, "Estimate"], coef(fit))
  expect_equal(table[, "Std. Error"], sqrt(diag(vcov(fit))))
  expect_equal(table[, "gamma"], 1 - fit$alpha * diag(vcov(fit)), tolerance = 1e-5)
  expect_equal(summary$r.squared, 1 - sum(residuals(fit)^2) / sum((data$y - mean(data$y))^2))
  expect_output(print(summary), "Active basis functions")
  many <- summary
  many$coefficients <- many$coefficients[rep(1, 30), ]
  expect_output(print(many), "the 12 of 30 furthest from zero")
})

test_that("a summary of a constant response prints", {
  expect_output(print(summary(rvm(1:10, rep(2, 10)))), "Log evidence")
  expect_output(print(summary(rvm(1:10, rep(0, 10), intercept = FALSE))), "Log evidence")
})

test_that("residuals and fitted values add up", {
  expect_equal(unname(fitted(fit) + residuals(fit)), data$y)
  expect_equal(residuals(fit, "pearson"), residuals(fit) / sigma(fit))
  expect_identical(nobs(fit), 60L)
})

test_that("logLik is the likelihood at the posterior mean", {
  likelihood <- logLik(fit)
  expect_equal(as.numeric(likelihood), sum(dnorm(data$y, fitted(fit), sigma(fit), log = TRUE)))
  expect_equal(attr(likelihood, "df"), sum(fit$gamma) + 1)
  expect_equal(BIC(fit), -2 * as.numeric(likelihood) + log(60) * attr(likelihood, "df"))
  fixed <- rvm(y ~ x, data, noise = 0.1)
  expect_equal(attr(logLik(fixed), "df"), sum(fixed$gamma))
})

test_that("confint gives posterior intervals", {
  interval <- confint(fit)
  expect_identical(colnames(interval), c("2.5 %", "97.5 %"))
  expect_equal(interval[, 2] - interval[, 1], 2 * qnorm(0.975) * sqrt(diag(vcov(fit))))
  expect_identical(confint(fit, 2), interval[2, , drop = FALSE])
  expect_identical(confint(fit, names(coef(fit))[2]), interval[2, , drop = FALSE])
  expect_rvm_error(confint(fit, "nobody"), "`parm`.*nobody")
})

test_that("formula, terms and update work through the call", {
  expect_equal(formula(fit), y ~ x, ignore_formula_env = TRUE)
  expect_s3_class(terms(fit), "terms")
  expect_identical(update(fit, evaluate = FALSE)$kernel, quote(kernel_gaussian(0.5)))
  wider <- update(fit, kernel = kernel_gaussian(1))
  expect_identical(wider$kernel$width, 1)
  squared <- update(fit, . ~ I(x^2))
  expect_identical(colnames(squared$x), "I(x^2)")
  plain <- rvm(data$x, data$y)
  expect_rvm_error(formula(plain), "not made from a formula")
  expect_s3_class(update(plain, noise = 0.1), "rvm")
})

test_that("a fit with basis keeps its own formula", {
  both <- rvm(y ~ x, data, basis = ~ I(x^2))
  expect_equal(formula(both), y ~ x, ignore_formula_env = TRUE)
  expect_s3_class(update(both, log(. + 2) ~ .), "rvm")
})

test_that("simulate draws from the posterior predictive distribution", {
  set.seed(20)
  before <- .Random.seed
  first <- simulate(fit, nsim = 500, seed = 3)
  expect_identical(.Random.seed, before)
  expect_identical(simulate(fit, nsim = 500, seed = 3), first)
  expect_identical(dim(first), c(60L, 500L))
  expect_identical(names(first)[1:2], c("sim_1", "sim_2"))
  expected <- sqrt(predict(fit, se.fit = TRUE)$se.fit^2 + sigma(fit)^2)
  expect_equal(mean(apply(first, 1, sd) / expected), 1, tolerance = 0.03)
  expect_lt(max(abs(rowMeans(first) - fitted(fit)) / expected), 0.25)
  expect_rvm_error(simulate(fit, nsim = 0), "`nsim`")
})

test_that("relevance_vectors lists centres in the units given", {
  vectors <- relevance_vectors(fit)
  expect_named(vectors, c("row", "x", "weight", "alpha", "gamma"))
  expect_identical(vectors$row, fit$relevance)
  expect_identical(vectors$x, data$x[fit$relevance])
  expect_identical(vectors$weight, unname(coef(fit)[as.character(fit$relevance)]))

  several <- rvm(y ~ x, data, kernel = c(kernel_gaussian(0.2), kernel_gaussian(0.6)))
  expect_true("kernel" %in% names(relevance_vectors(several)))
  expect_identical(nrow(relevance_vectors(rvm(y ~ x, data, kernel = "none"))), 0L)
})

test_that("priors and evidence show themselves", {
  expect_identical(evidence(fit), fit$evidence)
  expect_output(print(prior_flat()), "flat")
  expect_output(print(prior_gamma(1, 2, 3, 4)), "Gamma\\(1, 2\\).*Gamma\\(3, 4\\)")
  expect_output(print(prior_student(3)), "df 3")
})
