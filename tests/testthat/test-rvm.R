test_that("a formula, a matrix and a vector give the same fit", {
  data <- sinc_data()
  by_formula <- rvm(y ~ x, data, kernel = kernel_gaussian(0.5))
  by_matrix <- rvm(cbind(data$x), data$y, kernel = kernel_gaussian(0.5))
  by_vector <- rvm(data$x, data$y, kernel = kernel_gaussian(0.5))
  expect_identical(by_matrix$coefficients, by_vector$coefficients)
  expect_identical(by_formula$coefficients, by_vector$coefficients)
  expect_identical(by_formula$relevance, by_vector$relevance)
})

test_that("the object has the elements that stay stable", {
  data <- sinc_data()
  fit <- rvm(y ~ x, data)
  expect_s3_class(fit, "rvm")
  expect_true(all(c(
    "call", "terms", "family", "kernel", "coefficients", "covariance", "alpha", "relevance",
    "centers", "sigma", "evidence", "converged", "iterations", "trace", "levels"
  ) %in% names(fit)))
  expect_identical(fit$family, "gaussian")
  expect_identical(names(fit$trace), c("iteration", "evidence", "active", "sigma"))
  expect_true(fit$converged)
  expect_identical(unname(fit$centers[, "x"]), data$x[fit$relevance])
  kernel_names <- setdiff(names(coef(fit)), "(Intercept)")
  expect_identical(kernel_names, as.character(fit$relevance))
  expect_identical(dim(fit$covariance), rep(length(coef(fit)), 2))
  expect_length(fit$alpha, length(coef(fit)))
})

test_that("the fit follows the data", {
  data <- sinc_data(100)
  fit <- rvm(y ~ x, data, kernel = kernel_gaussian(0.5))
  expect_lt(sqrt(mean((fitted(fit) - sinc(data$x))^2)), 0.05)
  expect_lt(length(fit$relevance), 20)
  expect_lt(abs(sigma(fit) - 0.1), 0.03)
})

test_that("the three methods agree where there is one answer", {
  data <- sinc_data()
  fits <- lapply(c("fast", "mackay", "em"), function(method) {
    rvm(y ~ x, data, kernel = kernel_gaussian(0.4),
        control = rvm_control(method = method, maxit = 1e5))
  })
  for (fit in fits) {
    expect_true(fit$converged)
    expect_lt(sqrt(mean((fitted(fit) - sinc(data$x))^2)), 0.06)
  }
})

test_that("relevance counts rows as they were passed", {
  data <- sinc_data()
  complete <- rvm(y ~ x, data, kernel = kernel_gaussian(0.5))
  padded <- rbind(data.frame(x = c(NA, 99), y = c(1, 1)), data)
  padded$keep <- c(TRUE, FALSE, rep(TRUE, nrow(data)))
  fit <- rvm(y ~ x, padded, subset = keep, kernel = kernel_gaussian(0.5))
  expect_identical(fit$relevance, complete$relevance + 2L)
  expect_equal(unname(fit$centers), unname(complete$centers))
  expect_equal(unname(fit$coefficients), unname(complete$coefficients))
})

test_that("duplicated rows are one candidate, numbered by the first", {
  data <- sinc_data(40)
  fit <- rvm(y ~ x, rbind(data, data), kernel = kernel_gaussian(0.5))
  expect_true(all(fit$relevance <= 40))
  expect_identical(anyDuplicated(fit$relevance), 0L)
})

test_that("the unit of y does not matter", {
  data <- sinc_data()
  base <- rvm(data$x, data$y, kernel = kernel_gaussian(0.5))
  for (unit in c(1e6, 1e-6)) {
    fit <- rvm(data$x, unit * data$y, kernel = kernel_gaussian(0.5))
    expect_identical(fit$relevance, base$relevance)
    expect_equal(fitted(fit) / unit, fitted(base), tolerance = 1e-6)
    expect_equal(sigma(fit) / unit, sigma(base), tolerance = 1e-6)
    expect_equal(evidence(fit), evidence(base) - nrow(data) * log(unit), tolerance = 1e-6)
  }
})

test_that("the unit and origin of x do not matter when it is standardised", {
  data <- two_inputs()
  base <- rvm(data$x, data$y)
  moved <- sweep(sweep(data$x, 2, c(1e4, 1e-3), "*"), 2, c(5e4, 1), "+")
  fit <- rvm(moved, data$y)
  expect_identical(fit$relevance, base$relevance)
  expect_equal(fit$kernel$width, base$kernel$width, tolerance = 1e-8)
  expect_equal(fitted(fit), fitted(base), tolerance = 1e-5)
})

test_that("the order of the rows does not matter", {
  data <- two_inputs()
  base <- rvm(data$x, data$y)
  set.seed(7)
  shuffled <- sample(nrow(data$x))
  fit <- rvm(data$x[shuffled, ], data$y[shuffled])
  expect_equal(fit$kernel$width, base$kernel$width)
  expect_setequal(shuffled[fit$relevance], base$relevance)
  expect_equal(evidence(fit), evidence(base), tolerance = 1e-5)
  expect_equal(fitted(fit), fitted(base)[shuffled], tolerance = 1e-4)
})

test_that("the number of threads does not matter", {
  data <- two_inputs()
  one <- rvm(data$x, data$y, control = rvm_control(threads = 1))
  two <- rvm(data$x, data$y, control = rvm_control(threads = 2))
  expect_identical(one$relevance, two$relevance)
  expect_equal(fitted(one), fitted(two), tolerance = 1e-8)
})

test_that("every kernel fits", {
  data <- two_inputs()
  kernels <- list(
    kernel_gaussian(), kernel_gaussian(c(1, 3)), kernel_laplace(), kernel_cauchy(),
    kernel_matern(), kernel_matern(nu = 5/2), kernel_spline(), kernel_thinplate(),
    kernel_polynomial(3), kernel_linear(), kernel_sigmoid(0.5)
  )
  for (kernel in kernels) {
    fit <- rvm(data$x, data$y, kernel = kernel)
    expect_true(all(is.finite(fitted(fit))), info = kernel$name)
    expect_lt(var(residuals(fit)), 0.6 * var(data$y), label = kernel$name)
    expect_equal(predict(fit, data$x), fitted(fit), tolerance = 1e-6)
  }
})

test_that("a function is a kernel like the one built in", {
  set.seed(4)
  x <- matrix(seq(-10, 10, length.out = 60))
  y <- sinc(x[, 1]) + rnorm(60, sd = 0.1)
  own <- function(x, z) exp(-outer(x[, 1], z[, 1], "-")^2 / 9)
  by_function <- rvm(x, y, kernel = own, scale = FALSE)
  built_in <- rvm(x, y, kernel = kernel_gaussian(3), scale = FALSE)
  expect_equal(evidence(by_function), evidence(built_in), tolerance = 1e-6)
  expect_equal(predict(by_function, x), predict(built_in, x), tolerance = 1e-5)
})

test_that("without a kernel the columns of x are the basis functions", {
  set.seed(8)
  x <- matrix(rnorm(100 * 6), 100, dimnames = list(NULL, letters[1:6]))
  y <- 3 + 2 * x[, "b"] - x[, "e"] + rnorm(100, sd = 0.1)
  fit <- rvm(x, y, kernel = "none")
  expect_true(all(c("(Intercept)", "b", "e") %in% names(coef(fit))))
  expect_equal(unname(coef(fit)[c("(Intercept)", "b", "e")]), c(3, 2, -1), tolerance = 0.05)
  expect_identical(fit$relevance, integer(0))
  expect_identical(fit$kernel, "none")
  by_formula <- rvm(y ~ . - 1, data.frame(x, y = y), kernel = "none")
  expect_false("(Intercept)" %in% names(coef(by_formula)))
})

test_that("explicit columns stand beside the kernel", {
  set.seed(9)
  data <- data.frame(x = runif(80, -5, 5))
  data$y <- 10 * data$x + sin(2 * data$x) + rnorm(80, sd = 0.1)
  fit <- rvm(y ~ x, data, kernel = kernel_gaussian(0.3), basis = ~ x)
  expect_equal(coef(fit)[["x"]], 10, tolerance = 0.05)
  same <- rvm(data$x, data$y, kernel = kernel_gaussian(0.3), basis = function(x) cbind(x = x))
  expect_equal(unname(fitted(same)), unname(fitted(fit)), tolerance = 1e-8)
  new <- data.frame(x = c(-6, 6))
  expect_equal(unname(predict(fit, new)), unname(predict(same, new$x)), tolerance = 1e-8)
})

test_that("a dictionary of kernels names its columns by kernel", {
  data <- sinc_data()
  fit <- rvm(y ~ x, data, kernel = c(kernel_gaussian(0.2), kernel_gaussian(0.6)))
  expect_s3_class(fit$kernel, "rvm_kernels")
  columns <- setdiff(names(coef(fit)), "(Intercept)")
  expect_match(columns, "^gaussian\\(0\\.[26]\\):[0-9]+$")
  expect_setequal(fit$relevance, as.integer(sub(".*:", "", columns)))
  alone <- rvm(y ~ x, data, kernel = kernel_gaussian(0.2))
  expect_gt(evidence(fit), evidence(alone) - 0.5)
})

test_that("centres can be few, or given", {
  data <- two_inputs()
  set.seed(10)
  few <- rvm(data$x, data$y, centers = 15)
  expect_lte(length(few$relevance), 15)
  set.seed(10)
  expect_identical(rvm(data$x, data$y, centers = 15)$coefficients, few$coefficients)

  grid <- as.matrix(expand.grid(c(-2, 0, 2), c(-2, 0, 2)))
  given <- rvm(data$x, data$y, centers = grid)
  expect_true(all(given$relevance %in% 1:9))
  expect_equal(unname(given$centers), unname(grid[given$relevance, , drop = FALSE]))
  expect_equal(predict(given, data$x), fitted(given), tolerance = 1e-8)
})

test_that("the noise can be held fixed", {
  data <- sinc_data()
  fit <- rvm(y ~ x, data, noise = 0.25)
  expect_identical(sigma(fit), 0.25)
  expect_output(print(fit), "sd 0.25, fixed")
})

test_that("case weights of zero take a row out of the fit, not out of the result", {
  data <- sinc_data()
  spoiled <- rbind(data, data.frame(x = 2, y = 1000))
  weights <- c(rep(1, nrow(data)), 0)
  base <- rvm(y ~ x, data, kernel = kernel_gaussian(0.5))
  fit <- rvm(y ~ x, spoiled, weights = weights, kernel = kernel_gaussian(0.5))
  expect_equal(fit$coefficients, base$coefficients)
  expect_length(fitted(fit), nrow(data) + 1)
  expect_identical(nobs(fit), nrow(data))
  expect_equal(unname(fitted(fit)[nrow(data) + 1]), unname(predict(base, data.frame(x = 2))))
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(base)))
})

test_that("case weights act like the precision of the noise", {
  data <- sinc_data()
  base <- rvm(y ~ x, data, kernel = kernel_gaussian(0.5))
  fit <- rvm(y ~ x, data, weights = rep(4, nrow(data)), kernel = kernel_gaussian(0.5))
  expect_equal(fitted(fit), fitted(base), tolerance = 1e-5)
  expect_equal(sigma(fit), 2 * sigma(base), tolerance = 1e-5)
  expect_equal(evidence(fit), evidence(base), tolerance = 1e-5)
})

test_that("an offset is taken out and put back", {
  data <- sinc_data()
  data$shift <- 5 * data$x
  base <- rvm(y ~ x, data)
  fit <- rvm(I(y + shift) ~ x + offset(shift), data)
  expect_equal(coef(fit), coef(base), tolerance = 1e-6)
  expect_equal(fitted(fit), fitted(base) + data$shift, tolerance = 1e-6, ignore_attr = TRUE)
  argument <- rvm(I(y + shift) ~ x, data, offset = shift)
  expect_equal(fitted(argument), fitted(fit))
  new <- data.frame(x = 1:3, shift = c(100, 200, 300))
  expect_equal(predict(fit, new), predict(base, new) + new$shift, tolerance = 1e-6)
  expect_equal(predict(argument, new), predict(fit, new))
})

test_that("priors are passed on", {
  data <- sinc_data()
  flat <- rvm(y ~ x, data, kernel = kernel_gaussian(0.5))
  same <- rvm(y ~ x, data, kernel = kernel_gaussian(0.5), prior = prior_gamma(0, 0))
  expect_equal(coef(same), coef(flat))
  student <- rvm(y ~ x, data, kernel = kernel_gaussian(0.5), prior = prior_student(2))
  by_hand <- rvm(y ~ x, data, kernel = kernel_gaussian(0.5), prior = prior_gamma(1, 1))
  expect_equal(coef(student), coef(by_hand))
  expect_false(isTRUE(all.equal(coef(student), coef(flat))))
})

test_that("hard data fit", {
  constant <- rvm(1:20, rep(3, 20))
  expect_equal(unname(fitted(constant)), rep(3, 20), tolerance = 1e-4)
  expect_true(all(is.finite(unlist(predict(constant, 1:3, se.fit = TRUE)))))
  zero <- rvm(1:20, rep(0, 20))
  expect_equal(unname(fitted(zero)), rep(0, 20))

  data <- sinc_data(30)
  one_value <- rvm(cbind(data$x, 7), data$y, kernel = kernel_gaussian(0.5))
  alone <- rvm(data$x, data$y, kernel = kernel_gaussian(0.5))
  expect_equal(fitted(one_value), fitted(alone), tolerance = 1e-8)
  all_same <- rvm(rep(1, 10), 1:10)
  expect_equal(unname(fitted(all_same)), rep(5.5, 10), tolerance = 0.2)

  two <- rvm(c(0, 1), c(1, 2))
  expect_true(all(is.finite(c(fitted(two), sigma(two), evidence(two)))))
  set.seed(12)
  wide <- rvm(matrix(rnorm(8 * 30), 8), rnorm(8))
  expect_true(all(is.finite(c(fitted(wide), sigma(wide), evidence(wide)))))
})

test_that("a fit that stops at maxit warns once and says so", {
  data <- sinc_data()
  warnings <- capture_warnings(
    fit <- rvm(y ~ x, data, control = rvm_control(method = "em", maxit = 2))
  )
  expect_length(warnings, 1)
  expect_match(warnings, "maxit")
  expect_false(fit$converged)
  expect_output(print(fit), "before it converged")
})

test_that("bad data end in an error that names the argument", {
  x <- cbind(1:6, c(2, 4, 1, 3, 6, 5))
  y <- c(1, 3, 2, 5, 4, 6)
  expect_rvm_error(rvm(), "`x` is missing")
  expect_rvm_error(rvm(data = cars, formula = dist ~ speed), "`x` is missing")
  expect_rvm_error(rvm(x), "`y` is missing")
  expect_rvm_error(rvm(letters[1:6], y), "`x`.*numeric")
  expect_rvm_error(rvm(list(1, 2), y[1:2]), "`x`.*numeric")
  expect_rvm_error(rvm(x, as.list(y)), "`y`.*numeric")
  expect_rvm_error(rvm(x, y[-1]), "`y`.*6, not 5")
  expect_rvm_error(rvm(x, replace(y, 2, NA)), "`y`.*finite.*NA as in row 2")
  expect_rvm_error(rvm(x, replace(y, 3, Inf)), "`y`.*Inf as in row 3")
  expect_rvm_error(rvm(replace(x, 2, NaN), y), "`x`.*finite.*NaN in row 2")
  expect_rvm_error(rvm(replace(x, 9, -Inf), y), "`x`.*\"x2\".*-Inf in row 3")
  expect_rvm_error(rvm(data.frame(a = c(1, NA)), 1:2), "`x`.*\"a\" has NA in row 2")
  expect_rvm_error(rvm(x[0, ], numeric(0)), "`x`.*at least 2 rows.*not 0")
  expect_rvm_error(rvm(x[1, , drop = FALSE], 1), "`x`.*at least 2 rows.*not 1")
  expect_rvm_error(rvm(x[, 0], y), "`x`.*at least one column")
  expect_rvm_error(rvm(data.frame(a = 1:2)[0], 1:2), "`x`.*at least one column")
  expect_rvm_error(rvm(array(1:8, c(2, 2, 2)), 1:2), "`x`")
})

test_that("a response of several columns or of another family is refused in clear words", {
  x <- 1:6
  expect_rvm_error(rvm(x, cbind(x, x)), "`y`.*one column, not 2")
  expect_rvm_error(rvm(cbind(mpg, wt) ~ hp, mtcars), "`y`.*one column, not 2")
  expect_rvm_error(rvm(x, x, family = "poisson"), "`family`.*\"gaussian\".*\"poisson\"")
  expect_rvm_error(rvm(x, letters[1:6], family = "gaussian"), "`y`.*numeric")
  expect_rvm_error(rvm(x, as.Date("2020-01-01") + x), "`y`.*numeric, a factor, logical or character")
})

test_that("numbers beyond the range of the computation are refused", {
  x <- 1:20
  y <- sin(x)
  expect_rvm_error(rvm(x, 1e200 * y), "`y`.*1e150")
  expect_rvm_error(rvm(x, 1e-200 * y), "`y`.*1e-150")
  expect_rvm_error(rvm(x, y, noise = 1e-20), "`noise`.*between.*not 1e-20")
  expect_rvm_error(rvm(x, y, noise = 1e200), "`noise`")
  expect_rvm_error(rvm(1e5 * x, y, kernel = kernel_polynomial(50), scale = FALSE), "`kernel`.*1e75")
  expect_rvm_error(rvm(1e80 * x, y, kernel = "none"), "`x`.*1e75")
  expect_equal(fitted(rvm(1e200 * x, y)), fitted(rvm(x, y)), tolerance = 1e-5)
  expect_rvm_error(rvm(x, y, basis = function(x) 1e80 * x), "`basis`.*1e75")
  far <- rvm(x, x^2, kernel = kernel_polynomial(3))
  expect_rvm_error(predict(far, 1e200), "`newdata`")
})

test_that("bad settings end in an error that names the argument", {
  x <- cbind(1:6, c(2, 4, 1, 3, 6, 5))
  y <- c(1, 3, 2, 5, 4, 6)
  expect_rvm_error(rvm(x, y, kernel = "round"), "`kernel`.*\"round\"")
  expect_rvm_error(rvm(x, y, kernel = 3), "`kernel`")
  expect_rvm_error(rvm(x, y, kernel = kernel_gaussian(1:3)), "`width`.*2 inputs.*3 numbers")
  expect_rvm_error(rvm(x, y, kernel = function(x, z) 1), "`kernel`.*6 rows")
  expect_rvm_error(rvm(x, y, kernel = function(x, z) matrix("a", 6, 6)), "`kernel`.*numeric")
  expect_rvm_error(rvm(x, y, kernel = function(x, z) matrix(NaN, 6, 6)), "`kernel`.*finite.*NaN")
  expect_rvm_error(rvm(x, y, weights = -(1:6)), "`weights`.*not negative.*-1 as in row 1")
  expect_rvm_error(rvm(x, y, weights = 1:5), "`weights`.*6 rows")
  expect_rvm_error(rvm(x, y, weights = c(NA, 1:5)), "`weights`")
  expect_rvm_error(rvm(x, y, weights = rep(0, 6)), "`weights`.*at least 2 rows")
  expect_rvm_error(rvm(x, y, noise = 0), "`noise`.*positive.*not 0")
  expect_rvm_error(rvm(x, y, noise = c(1, 2)), "`noise`")
  expect_rvm_error(rvm(x, y, prior = "flat"), "`prior`.*prior_flat")
  expect_rvm_error(rvm(x, y, centers = 2.5), "`centers`")
  expect_rvm_error(rvm(x, y, scale = "yes"), "`scale`")
  expect_rvm_error(rvm(x, y, intercept = NA), "`intercept`")
  expect_rvm_error(rvm(x, y, basis = 3), "`basis`")
  expect_rvm_error(rvm(x, y, kernal = 3), "Unknown argument: `kernal`")
  expect_rvm_error(prior_gamma(-1, 0), "`shape`")
  expect_rvm_error(prior_student(0), "`df`")
})

test_that("bad formulas end in an error", {
  expect_rvm_error(rvm(~ speed, cars), "`formula`.*y ~ x")
  expect_rvm_error(rvm(dist ~ nothing, cars), "nothing")
  expect_rvm_error(rvm(dist ~ 1, cars), "`x`.*at least one column")
  expect_rvm_error(rvm(dist ~ speed, cars, subset = speed > 1000), "at least 2 rows.*not 0")
  expect_rvm_error(rvm(dist ~ speed, cars, subset = 1), "at least 2 rows.*not 1")
  expect_rvm_error(rvm(dist ~ speed, "cars"), "`data`.*data frame")
  expect_rvm_error(rvm(dist ~ speed, cars, basis = y ~ x), "`basis`.*one-sided")
  expect_rvm_error(rvm(dist ~ speed, cars, weights = 1:3), "weights")
  expect_rvm_error(rvm(dist ~ log(speed - 4), cars), "`data`.*finite.*-Inf")
  expect_rvm_error(rvm(dist ~ speed, cars, y = 3), "`y`.*formula")
})

test_that("na.action is honoured", {
  data <- sinc_data(30)
  data$y[4] <- NA
  expect_rvm_error(rvm(y ~ x, data, na.action = na.fail), "missing values")
  omitted <- rvm(y ~ x, data)
  expect_length(fitted(omitted), 29)
  excluded <- rvm(y ~ x, data, na.action = na.exclude)
  expect_identical(unname(which(is.na(residuals(excluded)))), 4L)
  expect_length(predict(excluded), 30)
})
