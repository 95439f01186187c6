two_clouds <- function(rows = 60, gap = 1.5, seed = 1) {
  set.seed(seed)
  y <- rep(c("a", "b"), length.out = rows)
  x <- cbind(u = rnorm(rows, ifelse(y == "a", 0, gap)), v = rnorm(rows))
  list(x = x, y = factor(y))
}

three_clouds <- function(rows = 90, seed = 2) {
  set.seed(seed)
  y <- rep(c("low", "mid", "top"), length.out = rows)
  x <- cbind(u = rnorm(rows, c(low = 0, mid = 2, top = 4)[y]),
             v = rnorm(rows, c(low = 0, mid = 2.5, top = 0)[y]))
  list(x = x, y = factor(y))
}

# Fits that are to agree must go to the end of the search.
to_the_end <- rvm_control(tol = 1e-8)

expect_probabilities <- function(prob) {
  expect_true(all(is.finite(prob)) && all(prob >= 0) && all(prob <= 1))
  expect_equal(unname(rowSums(prob)), rep(1, nrow(prob)))
}

test_that("the family follows from the response", {
  two <- two_clouds()
  expect_identical(rvm(two$x, two$y)$family, "binomial")
  expect_identical(rvm(two$x, as.character(two$y))$family, "binomial")
  expect_identical(rvm(two$x, two$y == "b")$levels, c("FALSE", "TRUE"))
  expect_identical(rvm(Species ~ Petal.Length, iris)$family, "multinomial")
  numbers <- as.numeric(two$y == "b")
  expect_identical(rvm(two$x, numbers)$family, "gaussian")
  expect_null(rvm(two$x, numbers)$levels)
  classes <- rvm(two$x, numbers, family = "binomial")
  expect_identical(classes$levels, c("0", "1"))
  expect_identical(rvm(two$x, data.frame(label = two$y))$levels, c("a", "b"))
})

test_that("factor, character, logical and 0/1 give the same fit", {
  two <- two_clouds()
  base <- rvm(two$x, two$y)
  others <- list(as.character(two$y), two$y == "b", factor(two$y, ordered = TRUE),
                 factor(two$y, labels = c("zebra", "zoo")))
  for (y in others) expect_identical(coef(rvm(two$x, y)), coef(base))
  expect_identical(coef(rvm(two$x, as.numeric(two$y == "b"), family = "binomial")), coef(base))
  data <- data.frame(two$x, y = two$y)
  expect_identical(coef(rvm(y ~ u + v, data)), coef(base))
  expect_identical(coef(rvm(I(y == "b") ~ u + v, data)), coef(base))
})

test_that("the object of two classes is like that of a regression", {
  two <- two_clouds()
  fit <- rvm(two$x, two$y)
  expect_identical(fit$y, two$y)
  expect_identical(fit$sigma, NA_real_)
  expect_true(fit$converged)
  expect_identical(names(fit$trace), c("iteration", "evidence", "active", "sigma"))
  expect_identical(setdiff(names(coef(fit)), "(Intercept)"), as.character(fit$relevance))
  expect_identical(dimnames(vcov(fit)), list(names(coef(fit)), names(coef(fit))))
  expect_equal(fit$factor %*% t(fit$factor), unname(vcov(fit)))
  expect_equal(fit$gamma, 1 - fit$alpha * diag(vcov(fit)), tolerance = 1e-5)
  expect_identical(unname(fit$centers), unname(two$x[fit$relevance, , drop = FALSE]))
  expect_gt(mean(predict(fit) == two$y), 0.7)
})

test_that("weights of several classes are a matrix, the active ones named by class", {
  three <- three_clouds()
  fit <- rvm(three$x, three$y)
  weights <- coef(fit)
  expect_identical(colnames(weights), levels(three$y))
  expect_identical(setdiff(rownames(weights), "(Intercept)"), as.character(fit$relevance))
  expect_true(all(rowSums(weights != 0) > 0))
  expect_identical(anyDuplicated(fit$relevance), 0L)
  active <- strsplit(names(fit$alpha), ":", fixed = TRUE)
  place <- cbind(vapply(active, `[`, "", 2), vapply(active, `[`, "", 1))
  expect_identical(sum(weights != 0), nrow(place))
  expect_true(all(weights[place] != 0))
  expect_identical(dimnames(vcov(fit)), list(names(fit$alpha), names(fit$alpha)))
  # The mode is where prior and likelihood pull alike: Phi'(t - p) = alpha w.
  columns <- kernel_matrix(fit$kernel, scale(three$x), scale(fit$centers, colMeans(three$x), apply(three$x, 2, sd)))
  columns <- cbind("(Intercept)" = 1, columns)
  colnames(columns)[-1] <- fit$relevance
  columns <- columns[, rownames(weights)]
  plain <- exp(columns %*% weights)
  pull <- crossprod(columns, outer(as.character(three$y), levels(three$y), "==") - plain / rowSums(plain))
  dimnames(pull) <- dimnames(weights)
  expect_equal(unname(pull[place]), unname(fit$alpha * weights[place]), tolerance = 1e-4)
})

test_that("three classes are told apart", {
  three <- three_clouds(150)
  fit <- rvm(three$x, three$y)
  expect_gt(mean(predict(fit) == three$y), 0.85)
  expect_lt(length(fit$relevance), 30)
  new <- three_clouds(300, seed = 5)
  expect_gt(mean(predict(fit, new$x) == new$y), 0.85)
})

test_that("two classes by the softmax are the two classes of the logistic function", {
  two <- two_clouds()
  same <- kernel_gaussian(median(dist(scale(two$x))))
  one <- rvm(two$x, two$y, kernel = same, control = to_the_end)
  both <- rvm(two$x, two$y, kernel = same, family = "multinomial", control = to_the_end)
  expect_identical(dim(fitted(both)), c(60L, 2L))
  expect_lt(max(abs(fitted(both)[, "b"] - fitted(one))), 0.014)
  expect_equal(predict(both, type = "prob", moderated = FALSE),
               predict(one, type = "prob", moderated = FALSE), tolerance = 1e-3)
  expect_equal(evidence(both), evidence(one), tolerance = 1e-3)
})

test_that("precisions can be shared by the classes", {
  three <- three_clouds()
  fit <- rvm(three$x, three$y, control = rvm_control(shared = TRUE))
  expect_true(all(coef(fit) != 0))
  alpha <- matrix(fit$alpha, ncol = 3)
  expect_equal(alpha[, 2], alpha[, 1])
  expect_equal(alpha[, 3], alpha[, 1])
  expect_gt(mean(predict(fit) == three$y), 0.8)
  expect_output(print(rvm_control(shared = TRUE)), "shared by the classes")
  expect_rvm_error(rvm_control(shared = 1), "`shared`.*TRUE or FALSE")
})

test_that("the order of the rows does not matter", {
  for (data in list(two_clouds(), three_clouds())) {
    base <- rvm(data$x, data$y)
    set.seed(7)
    shuffled <- sample(nrow(data$x))
    fit <- rvm(data$x[shuffled, ], data$y[shuffled])
    expect_setequal(shuffled[fit$relevance], base$relevance)
    expect_equal(evidence(fit), evidence(base), tolerance = 1e-6)
    prob <- predict(base, type = "prob")
    expect_equal(predict(fit, type = "prob"), prob[shuffled, ], tolerance = 1e-5)
  }
})

test_that("names and order of the levels do not matter", {
  for (data in list(two_clouds(), three_clouds())) {
    base <- rvm(data$x, data$y)
    renamed <- rvm(data$x, factor(data$y, labels = rev(LETTERS)[seq_along(levels(data$y))]))
    expect_identical(unname(coef(renamed)), unname(coef(base)))
    turned <- rvm(data$x, factor(data$y, rev(levels(data$y))))
    expect_equal(evidence(turned), evidence(base), tolerance = 1e-5)
    prob <- predict(base, type = "prob")
    expect_equal(predict(turned, type = "prob")[, colnames(prob)], prob, tolerance = 1e-3)
  }
})

test_that("the unit and origin of x do not matter when it is standardised", {
  for (data in list(two_clouds(), three_clouds())) {
    base <- rvm(data$x, data$y)
    moved <- sweep(sweep(data$x, 2, c(1e4, 1e-3), "*"), 2, c(5e4, 1), "+")
    fit <- rvm(moved, data$y)
    expect_identical(fit$relevance, base$relevance)
    expect_equal(fitted(fit), fitted(base), tolerance = 1e-5)
  }
})

test_that("a case of weight 2 counts as two", {
  for (data in list(two_clouds(), three_clouds())) {
    times <- rep_len(c(1, 2, 1, 3), nrow(data$x))
    repeated <- rep(seq_along(times), times)
    fit_to <- function(...) rvm(..., kernel = kernel_gaussian(2), scale = FALSE, control = to_the_end)
    weighted <- fit_to(data$x, data$y, weights = times)
    copied <- fit_to(data$x[repeated, ], data$y[repeated])
    expect_equal(evidence(weighted), evidence(copied), tolerance = 1e-6)
    expect_equal(as.numeric(logLik(weighted)), as.numeric(logLik(copied)), tolerance = 1e-6)
    expect_equal(predict(weighted, data$x, type = "prob"), predict(copied, data$x, type = "prob"),
                 tolerance = 1e-5)
    prior <- setNames(seq_along(levels(data$y)), levels(data$y))
    expect_equal(predict(weighted, data$x, type = "prob", prior = prior),
                 predict(copied, data$x, type = "prob", prior = prior), tolerance = 1e-5)
    expect_equal(summary(weighted)$confusion, summary(copied)$confusion)
    expect_equal(summary(weighted)$log.loss, summary(copied)$log.loss, tolerance = 1e-5)
  }
})

test_that("a case of weight 0 is predicted but takes no part", {
  for (data in list(two_clouds(), three_clouds())) {
    size <- nrow(data$x)
    base <- rvm(data$x, data$y)
    spoiled <- rvm(rbind(data$x, c(50, 50)), data$y[c(seq_len(size), 1)], weights = rep(1:0, c(size, 1)))
    expect_equal(coef(spoiled), coef(base))
    expect_identical(nobs(spoiled), size)
    expect_equal(as.numeric(logLik(spoiled)), as.numeric(logLik(base)))
    expect_identical(NROW(fitted(spoiled)), size + 1L)
    expect_equal(predict(spoiled, type = "prob")[size + 1, ],
                 predict(base, rbind(c(50, 50)), type = "prob")[1, ])
  }
})

test_that("an offset of the log odds is taken out and put back", {
  two <- two_clouds(200)
  data <- data.frame(two$x, y = two$y, shift = 3 * two$x[, "v"])
  fit <- rvm(y ~ u + offset(shift), data)
  expect_equal(predict(fit, type = "link"),
               predict(fit, transform(data, shift = 0), type = "link") + data$shift)
  as_argument <- rvm(y ~ u, data, offset = shift)
  expect_equal(fitted(as_argument), fitted(fit))
  # A constant in the offset is undone by the constant of the model.
  moved <- rvm(y ~ u + offset(rep(0.5, 200)), data, kernel = "none")
  plain <- rvm(y ~ u, data, kernel = "none")
  expect_equal(unname(coef(moved)["(Intercept)"] + 0.5), unname(coef(plain)["(Intercept)"]), tolerance = 0.05)
})

test_that("levels without a case are dropped with a message", {
  data <- droplevels(iris[51:150, ])
  expect_message(fit <- rvm(Species ~ Petal.Length, iris, subset = Species != "setosa"),
                 "no case of the level \"setosa\": dropped")
  expect_identical(fit$levels, c("versicolor", "virginica"))
  expect_identical(levels(predict(fit)), fit$levels)
  expect_equal(unname(coef(fit)), unname(coef(rvm(Species ~ Petal.Length, data))))
  two <- two_clouds()
  expect_message(rvm(two$x, factor(two$y, c("z", "a", "b", "y"))), "levels \"z\", \"y\"")
  expect_no_message(rvm(two$x, two$y))
})

test_that("missing labels go by na.action", {
  two <- two_clouds()
  data <- data.frame(two$x, y = two$y)
  data$y[c(3, 8)] <- NA
  complete <- rvm(y ~ u + v, data[-c(3, 8), ])
  omitted <- rvm(y ~ u + v, data)
  expect_equal(unname(coef(omitted)), unname(coef(complete)))
  expect_length(predict(omitted), 58)
  expect_true(all(omitted$relevance %in% setdiff(1:60, c(3, 8))))
  excluded <- rvm(y ~ u + v, data, na.action = na.exclude)
  expect_identical(unname(which(is.na(fitted(excluded)))), c(3L, 8L))
  expect_identical(unname(which(is.na(predict(excluded)))), c(3L, 8L))
  expect_identical(dim(predict(excluded, type = "prob")), c(60L, 2L))
  expect_rvm_error(rvm(y ~ u + v, data, na.action = na.fail), "missing values")
  expect_rvm_error(rvm(y ~ u + v, data, na.action = na.pass), "`y`.*NA as in row 3")
  expect_rvm_error(rvm(two$x, data$y), "`y`.*NA as in row 3")
  expect_rvm_error(rvm(two$x, addNA(data$y)), "`y`.*NA as in row 3")
})

test_that("bad responses are refused in clear words", {
  x <- 1:6
  expect_rvm_error(rvm(x, factor(rep("only", 6))), "`y`.*two classes, not only \"only\"")
  expect_rvm_error(rvm(x, rep(TRUE, 6)), "`y`.*not only \"TRUE\"")
  expect_rvm_error(rvm(x, rep(1, 6), family = "binomial"), "`y`.*not only \"1\"")
  expect_rvm_error(rvm(Species ~ ., iris, family = "binomial"),
                   "`y`.*two classes.*not 3: \"setosa\", \"versicolor\", \"virginica\"")
  expect_rvm_error(rvm(x, c(0, 1, 0.5, 1, 0, 1), family = "binomial"), "`y`.*0 or 1.*0.5 as in row 3")
  expect_rvm_error(rvm(x, cbind(x, x), family = "binomial"), "`y`.*factor.*2 columns")
  expect_rvm_error(rvm(x, x, family = "multinomial"), "`y`.*factor.*not an integer vector")
  expect_rvm_error(rvm(x, factor(c("a", "b"))), "`y`.*6, not 2")
  expect_rvm_error(rvm(x, factor(rep(c("a", "b"), 3)), family = "gaussian"), "`y`.*numeric.*2 levels")
})

test_that("arguments that do not go with classes are named", {
  two <- two_clouds()
  three <- three_clouds()
  expect_rvm_error(rvm(two$x, two$y, noise = 0.1), "`noise`.*NULL for classes.*0.1")
  expect_rvm_error(rvm(three$x, three$y, weights = as.numeric(three$y != "mid")),
                   "`weights`.*each class.*\"mid\"")
  expect_rvm_error(rvm(three$x, three$y, weights = -seq_along(three$y)), "`weights`.*not negative")
  data <- data.frame(three$x, y = three$y)
  expect_rvm_error(rvm(y ~ u + offset(v), data), "`offset`.*more than two classes")
})

test_that("separable classes have finite weights and probabilities", {
  set.seed(3)
  x <- c(rnorm(20, -5), rnorm(20, 5), rnorm(20, 15))
  label <- rep(c("a", "b", "c"), each = 20)
  for (rows in list(1:40, 1:60)) {
    for (kernel in list(kernel_gaussian(0.5), kernel_linear(), "none")) {
      fit <- rvm(x[rows], label[rows], kernel = kernel)
      expect_true(fit$converged)
      expect_true(all(is.finite(c(coef(fit), vcov(fit), fit$alpha, evidence(fit)))))
      expect_probabilities(predict(fit, type = "prob"))
    }
    fit <- rvm(x[rows], label[rows])
    expect_identical(as.character(predict(fit)), label[rows])
    expect_probabilities(predict(fit, c(-1e6, 0, 1e6), type = "prob"))
  }
})

test_that("a class of one case, and a thousand to one, fit", {
  set.seed(4)
  rare <- rvm(rnorm(1001), rep(c("many", "one"), c(1000, 1)))
  expect_probabilities(predict(rare, type = "prob"))
  expect_lt(mean(fitted(rare)), 0.02)
  expect_true(all(is.finite(c(coef(rare), evidence(rare)))))
  three <- three_clouds(60)
  lonely <- rvm(rbind(three$x, c(9, 9)), c(as.character(three$y), "one"))
  expect_probabilities(fitted(lonely))
  expect_identical(lonely$levels, c("low", "mid", "one", "top"))
  expect_lt(mean(fitted(lonely)[, "one"]), 0.25)
})

test_that("identical rows with different labels share them out", {
  x <- rep(1:3, each = 20)
  share <- rep(c(1, 10, 19), each = 20)
  label <- ifelse(rep(1:20, 3) <= share, "b", "a")
  fit <- rvm(x, label)
  expect_equal(unname(tapply(fitted(fit), x, mean)), c(1, 10, 19) / 20, tolerance = 0.25,
               ignore_attr = TRUE)
  nothing <- rvm(rep(1:3, each = 4), rep(c("a", "b"), 6))
  expect_equal(unname(fitted(nothing)), rep(0.5, 12), tolerance = 1e-6)
  constant <- rvm(rep(1, 300), rep(c("a", "b", "c"), c(30, 90, 180)))
  expect_equal(unname(fitted(constant)[1, ]), c(0.1, 0.3, 0.6), tolerance = 0.05)
})

test_that("kernels, bases, centres and priors go with classes", {
  three <- three_clouds()
  kernels <- list(kernel_laplace(), kernel_matern(), kernel_spline(), kernel_polynomial(2),
                  c(kernel_gaussian(0.5), kernel_gaussian(2)), "none",
                  function(x, z) tcrossprod(x, z) + 1)
  for (kernel in kernels) {
    fit <- rvm(three$x, three$y, kernel = kernel)
    expect_gt(mean(predict(fit) == three$y), 0.6)
    expect_equal(predict(fit, three$x, type = "prob"), fitted(fit), tolerance = 1e-6)
  }
  based <- rvm(y ~ u + v, data.frame(three$x, y = three$y), kernel = kernel_gaussian(0.5), basis = ~ u)
  expect_probabilities(predict(based, data.frame(u = c(-3, 8), v = 0), type = "prob"))
  given <- rvm(three$x, three$y, centers = cbind(c(0, 2, 4), c(0, 2.5, 0)))
  expect_true(all(given$relevance %in% 1:3))
  tight <- rvm(three$x, three$y, prior = prior_gamma(1, 1e-3))
  expect_false(isTRUE(all.equal(coef(tight), coef(rvm(three$x, three$y)))))
})

test_that("a fit that stops at maxit warns once and says so", {
  three <- three_clouds()
  warnings <- capture_warnings(
    fit <- rvm(three$x, three$y, control = rvm_control(method = "em", maxit = 2))
  )
  expect_length(warnings, 1)
  expect_match(warnings, "maxit")
  expect_output(print(fit), "before it converged")
})
