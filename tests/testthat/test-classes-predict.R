set.seed(1)
flowers <- rvm(Species ~ Petal.Length + Petal.Width, iris)
mixed <- rvm(Species ~ Sepal.Width + Sepal.Length, iris)
gears <- rvm(factor(am, labels = c("automatic", "manual")) ~ wt + hp, mtcars)
grid <- expand.grid(wt = seq(1, 6, length.out = 12), hp = c(50, 150, 300))
some_iris <- iris[seq(1, 150, by = 7), ]

test_that("every type has the shape that it is said to have", {
  prob <- predict(flowers, some_iris, type = "prob")
  expect_identical(dimnames(prob), list(rownames(some_iris), levels(iris$Species)))
  expect_equal(unname(rowSums(prob)), rep(1, nrow(some_iris)))
  label <- predict(flowers, some_iris)
  expect_s3_class(label, "factor")
  expect_identical(levels(label), levels(iris$Species))
  expect_named(label, rownames(some_iris))
  expect_identical(as.character(label), levels(iris$Species)[max.col(prob)])
  link <- predict(flowers, some_iris, type = "link")
  expect_identical(dimnames(link), dimnames(prob))

  prob <- predict(gears, grid, type = "prob")
  expect_identical(colnames(prob), c("automatic", "manual"))
  expect_equal(unname(rowSums(prob)), rep(1, nrow(grid)))
  expect_identical(unname(predict(gears, grid) == "manual"), unname(prob[, 2] > 0.5))
  expect_null(dim(predict(gears, grid, type = "link")))
})

test_that("latent values and their variances are those of the posterior", {
  scaled <- function(x) scale(x, gears$scaling$center, gears$scaling$scale)
  columns <- cbind("(Intercept)" = 1, kernel_matrix(gears$kernel, scaled(as.matrix(grid)), scaled(gears$centers)))
  colnames(columns)[-1] <- gears$relevance
  columns <- columns[, names(coef(gears)), drop = FALSE]
  link <- predict(gears, grid, type = "link", se.fit = TRUE)
  expect_named(link, c("fit", "se.fit"))
  expect_equal(unname(link$fit), unname(drop(columns %*% coef(gears))), tolerance = 1e-6)
  variance <- rowSums((columns %*% vcov(gears)) * columns)
  expect_equal(unname(link$se.fit), unname(sqrt(variance)), tolerance = 1e-6)

  plain <- plogis(link$fit)
  expect_equal(predict(gears, grid, type = "prob", moderated = FALSE)[, 2], plain)
  moderated <- plogis(link$fit / sqrt(1 + pi / 8 * link$se.fit^2))
  expect_equal(predict(gears, grid, type = "prob")[, 2], moderated)
  expect_true(all(abs(moderated - 0.5) <= abs(plain - 0.5)))
})

test_that("plug-in probabilities of several classes are the softmax", {
  link <- predict(mixed, some_iris, type = "link")
  expect_equal(predict(mixed, some_iris, type = "prob", moderated = FALSE), exp(link) / rowSums(exp(link)))
  errors <- predict(mixed, some_iris, type = "link", se.fit = TRUE)
  expect_identical(dimnames(errors$se.fit), dimnames(link))
  expect_true(all(errors$se.fit >= 0) && any(errors$se.fit > 0.1))
})

# Averages over weights drawn from the posterior, by coef() and vcov() alone.
by_monte_carlo <- function(fit, rows, draws = 1e5) {
  scaled <- function(x) scale(x, fit$scaling$center, fit$scaling$scale)
  new <- scaled(as.matrix(rows[colnames(fit$x)]))
  columns <- cbind("(Intercept)" = 1, kernel_matrix(fit$kernel, new, scaled(fit$centers)))
  colnames(columns)[-1] <- fit$relevance
  parts <- strsplit(names(fit$alpha), ":", fixed = TRUE)
  class <- factor(vapply(parts, `[`, "", 1), fit$levels)
  active <- columns[, vapply(parts, `[`, "", 2), drop = FALSE]
  mean <- coef(fit)[cbind(vapply(parts, `[`, "", 2), as.character(class))]
  weights <- mean + t(chol(vcov(fit))) %*% matrix(rnorm(length(mean) * draws), length(mean))
  t(apply(active, 1, function(values) {
    latent <- matrix(0, length(fit$levels), draws)
    for (k in seq_along(fit$levels)) {
      mine <- as.integer(class) == k
      latent[k, ] <- values[mine] %*% weights[mine, , drop = FALSE]
    }
    odds <- exp(latent)
    rowMeans(odds / rep(colSums(odds), each = nrow(odds)))
  }))
}

test_that("moderated probabilities are averages over the posterior", {
  set.seed(11)
  rows <- some_iris[seq(1, 22, by = 3), ]
  for (fit in list(flowers, mixed)) {
    truth <- by_monte_carlo(fit, rows)
    moderated <- predict(fit, rows, type = "prob")
    plain <- predict(fit, rows, type = "prob", moderated = FALSE)
    expect_lt(mean(abs(moderated - truth)), 0.005)
    expect_lt(max(abs(moderated - truth)), 0.02)
    expect_lt(mean(abs(moderated - truth)), 0.3 * mean(abs(plain - truth)))
  }
})

test_that("moderation of many classes is close to the mean of the softmax", {
  softmax_mean <- function(mean, covariance) {
    draws <- t(chol(covariance)) %*% matrix(rnorm(length(mean) * 1e5), length(mean))
    odds <- exp(mean + draws)
    rowMeans(odds / rep(colSums(odds), each = length(mean)))
  }
  set.seed(12)
  distance <- replicate(12, {
    classes <- sample(3:6, 1)
    mean <- 2 * rnorm(classes)
    covariance <- rWishart(1, classes + 2, diag(classes) / (classes + 2))[, , 1]
    moderated <- exp(rvm:::moderated_log_prob(rbind(mean), array(covariance, c(1, classes, classes))))
    max(abs(moderated - softmax_mean(mean, covariance)))
  })
  expect_lt(max(distance), 0.02)
  expect_lt(mean(distance), 0.01)
})

test_that("the mean of the logistic function is exact", {
  for (variance in c(0, 1e-6, 0.3, 4, 60, 1e4)) {
    for (mean in c(-30, -3, 0, 0.5, 8)) {
      by_integration <- integrate(function(z) plogis(mean + sqrt(variance) * z) * dnorm(z), -Inf, Inf,
                                  rel.tol = 1e-10, subdivisions = 1000)$value
      expect_equal(exp(rvm:::log_logistic_mean(mean, variance)), by_integration, tolerance = 1e-4)
    }
  }
  moderated <- exp(rvm:::moderated_log_prob(rbind(c(1.5, -0.5)), array(c(3, 1, 1, 2), c(1, 2, 2))))
  expect_equal(moderated[1], exp(rvm:::log_logistic_mean(2, 3)))
  expect_lt(abs(moderated[1] - plogis(2 / sqrt(1 + pi / 8 * 3))), 0.014)
})

test_that("latent values that are far out do not run over", {
  none <- array(0, c(2, 3, 3))
  far <- rbind(c(1e5, 0, -1e5), c(-1e300, 1e300, 0))
  expect_equal(exp(rvm:::moderated_log_prob(far, none)), rbind(c(1, 0, 0), c(0, 1, 0)))
  wide <- array(1e8 * diag(3)[rep(1:3, each = 2), ], c(2, 3, 3))
  prob <- exp(rvm:::moderated_log_prob(far, wide))
  expect_true(all(is.finite(prob)))
  expect_equal(rowSums(prob), c(1, 1))
})

test_that("new priors are Bayes' rule", {
  prob <- predict(mixed, some_iris, type = "prob")
  prior <- c(virginica = 0.7, setosa = 0.1, versicolor = 0.2)
  odds <- sweep(prob, 2, prior[colnames(prob)] / (1 / 3), "*")
  by_hand <- odds / rowSums(odds)
  expect_equal(predict(mixed, some_iris, type = "prob", prior = prior), by_hand)
  expect_identical(as.character(predict(mixed, some_iris, prior = prior)),
                   colnames(prob)[apply(by_hand, 1, which.max)])
  expect_equal(predict(mixed, some_iris, type = "prob", prior = 10 * prior), by_hand)
  same <- c(setosa = 1, versicolor = 1, virginica = 1)
  expect_equal(predict(mixed, some_iris, type = "prob", prior = same), prob)
  without <- predict(mixed, some_iris, type = "prob", prior = c(setosa = 0, versicolor = 1, virginica = 1))
  expect_true(all(without[, "setosa"] == 0))
  expect_equal(without[, "versicolor"], prob[, "versicolor"] / (1 - prob[, "setosa"]))

  plain <- predict(gears, grid, type = "prob")
  shares <- c(automatic = 19, manual = 13) / 32
  odds <- plain[, 2] / plain[, 1] * (0.9 / 0.1) / (shares[[2]] / shares[[1]])
  expect_equal(predict(gears, grid, type = "prob", prior = c(manual = 0.9, automatic = 0.1))[, 2],
               odds / (1 + odds))
})

test_that("costs give the decision of least expected cost", {
  prob <- predict(mixed, some_iris, type = "prob")
  set.seed(13)
  cost <- matrix(rexp(9), 3, dimnames = list(colnames(prob), colnames(prob)))
  diag(cost) <- 0
  by_hand <- apply(prob, 1, function(p) {
    expected <- vapply(colnames(prob), function(decision) sum(p * cost[, decision]), 0)
    names(which.min(expected))
  })
  expect_identical(as.character(predict(mixed, some_iris, cost = cost)), unname(by_hand))
  expect_gt(sum(by_hand != as.character(predict(mixed, some_iris))), 0)
  turned <- cost[c(3, 1, 2), c(2, 3, 1)]
  expect_identical(predict(mixed, some_iris, cost = turned), predict(mixed, some_iris, cost = cost))
  expect_identical(predict(mixed, some_iris, cost = unname(cost)), predict(mixed, some_iris, cost = cost))
  expect_identical(predict(mixed, some_iris, cost = 1 - diag(3)), predict(mixed, some_iris))

  # Calling an automatic car manual costs 4, the other error 1: manual from 0.8 on.
  cost <- rbind(c(0, 4), c(1, 0))
  manual <- predict(gears, grid, type = "prob")[, 2]
  expect_identical(unname(predict(gears, grid, cost = cost) == "manual"), unname(manual > 0.8))
  prior <- c(automatic = 0.2, manual = 0.8)
  manual <- predict(gears, grid, type = "prob", prior = prior)[, 2]
  expect_identical(unname(predict(gears, grid, cost = cost, prior = prior) == "manual"),
                   unname(manual > 0.8))
})

test_that("of equals the first level is taken", {
  nothing <- rvm(rep(1:3, each = 4), rep(c("a", "b"), 6))
  expect_true(all(predict(nothing) == "a"))
  expect_true(all(predict(nothing, cost = matrix(1, 2, 2)) == "a"))
})

test_that("every row gets a result, NA where an input is missing", {
  new <- some_iris[1:4, ]
  new$Petal.Length[2] <- NA
  label <- predict(flowers, new)
  expect_identical(unname(is.na(label)), c(FALSE, TRUE, FALSE, FALSE))
  prob <- predict(flowers, new, type = "prob")
  expect_true(all(is.na(prob[2, ])))
  expect_equal(prob[-2, ], predict(flowers, new[-2, ], type = "prob"))
  expect_true(all(is.na(predict(flowers, new, type = "link", se.fit = TRUE)$se.fit[2, ])))
  expect_length(predict(flowers, new, na.action = na.omit), 3)
  expect_identical(dim(predict(flowers, new[0, ], type = "prob")), c(0L, 3L))
  expect_length(predict(flowers, new[0, ]), 0)
  cost <- 1 - diag(2)
  expect_identical(unname(is.na(predict(gears, data.frame(wt = c(NA, 2), hp = 100), cost = cost))),
                   c(TRUE, FALSE))
  expect_rvm_error(predict(flowers, iris["Petal.Length"]), "missing: \"Petal.Width\"")
})

test_that("a row's prediction does not depend on the others", {
  prob <- predict(mixed, iris, type = "prob")
  expect_equal(predict(mixed, iris[7, ], type = "prob"), prob[7, , drop = FALSE])
  often <- iris[rep(1:150, 1500), ]
  expect_equal(unname(predict(mixed, often, type = "prob")), unname(prob[rep(1:150, 1500), ]))
})

test_that("an ordered response stays ordered", {
  size <- factor(c("S", "M", "L")[iris$Species], c("S", "M", "L"), ordered = TRUE)
  fit <- rvm(iris$Petal.Length, size)
  expect_s3_class(predict(fit), "ordered")
  expect_identical(levels(predict(fit)), c("S", "M", "L"))
})

test_that("bad arguments are named", {
  expect_rvm_error(predict(flowers, se.fit = TRUE), "`se.fit`.*type = \"link\"")
  expect_rvm_error(predict(gears, type = "prob", se.fit = TRUE), "`se.fit`")
  expect_rvm_error(predict(gears, interval = "confidence"), "`interval`.*classes.*\"confidence\"")
  expect_rvm_error(predict(gears, moderated = NA), "`moderated`")
  even <- c(automatic = 1, manual = 1)
  expect_rvm_error(predict(gears, type = "link", prior = even), "`prior`.*link")
  expect_rvm_error(predict(gears, prior = c(1, 1)), "`prior`.*\"automatic\", \"manual\".*without names")
  expect_rvm_error(predict(gears, prior = c(automatic = 1, stick = 1)), "`prior`.*\"stick\"")
  expect_rvm_error(predict(gears, prior = even[1]), "`prior`")
  expect_rvm_error(predict(gears, prior = -even), "`prior`.*-1 as for \"automatic\"")
  expect_rvm_error(predict(gears, prior = even * NA), "`prior`")
  expect_rvm_error(predict(gears, prior = 0 * even), "`prior`.*0 for all")
  expect_rvm_error(predict(gears, prior = c(automatic = "a", manual = "b")), "`prior`")
  expect_rvm_error(predict(gears, type = "prob", cost = 1 - diag(2)), "`cost`.*decisions")
  expect_rvm_error(predict(gears, cost = 1 - diag(3)), "`cost`.*2 rows.*2 columns.*3 rows")
  expect_rvm_error(predict(gears, cost = c(1, 2, 3, 4)), "`cost`.*matrix")
  expect_rvm_error(predict(gears, cost = matrix(c(0, NA, 1, 0), 2)), "`cost`.*finite.*NA")
  named <- matrix(0, 2, 2, dimnames = list(NULL, c("automatic", "stick")))
  expect_rvm_error(predict(gears, cost = named), "`cost`.*columns.*\"stick\"")
})
