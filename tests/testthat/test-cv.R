data <- sinc_data(40)
widths <- c(0.2, 0.6, 1.5)

test_that("the table is what a loop over the folds gives", {
  folds <- rep(c("a", "b", "c", "d"), length.out = 40)
  cv <- rvm_cv(y ~ x, data, widths = rev(widths), folds = folds)
  by_hand <- t(sapply(widths, function(width) {
    per_row <- matrix(NA, 40, 2)
    for (fold in unique(folds)) {
      out <- folds == fold
      fit <- suppressWarnings(rvm(y ~ x, data[!out, ], kernel = kernel_gaussian(width)))
      new <- predict(fit, data[out, ], se.fit = TRUE)
      deviation <- sqrt(new$se.fit^2 + sigma(fit)^2)
      per_row[out, ] <- cbind((data$y[out] - new$fit)^2,
                              -dnorm(data$y[out], new$fit, deviation, log = TRUE))
    }
    means <- tapply(per_row[, 1], folds, mean)
    rmse <- sqrt(mean(means))
    c(rmse, sd(means) / sqrt(4) / (2 * rmse), mean(per_row[, 2]))
  }))
  expect_named(cv, c("call", "table", "width", "fit", "folds", "criterion", "one_se"))
  expect_named(cv$table, c("width", "error", "se", "neg_log_density"))
  expect_equal(cv$table$width, widths)
  expect_equal(unname(as.matrix(cv$table[-1])), by_hand)
  expect_identical(cv$width, widths[which.min(by_hand[, 1])])
  expect_identical(cv$criterion, "root mean squared error")
  expect_identical(cv$folds, folds)
})

test_that("classes are judged by log loss, with the error rate beside it", {
  inputs <- as.matrix(iris[3:4])
  folds <- rep(1:5, 30)
  cv <- rvm_cv(inputs, iris$Species, widths = c(0.5, 3), folds = folds)
  by_hand <- t(sapply(c(0.5, 3), function(width) {
    prob <- matrix(NA, 150, 3)
    for (fold in 1:5) {
      out <- folds == fold
      fit <- rvm(inputs[!out, ], iris$Species[!out], kernel = kernel_gaussian(width))
      prob[out, ] <- predict(fit, inputs[out, ], type = "prob")
    }
    loss <- -log(prob[cbind(1:150, as.integer(iris$Species))])
    c(mean(loss), sd(tapply(loss, folds, mean)) / sqrt(5),
      mean(max.col(prob) != as.integer(iris$Species)))
  }))
  expect_named(cv$table, c("width", "error", "se", "error_rate"))
  expect_equal(unname(as.matrix(cv$table[-1])), by_hand)
  expect_identical(cv$criterion, "log loss")
  expect_identical(predict(cv, inputs), predict(cv$fit, inputs))
})

test_that("the fit is the one to all rows at the chosen width, and can be made again", {
  cv <- rvm_cv(y ~ x, data, kernel = kernel_matern(nu = 5/2), widths = widths, folds = 4)
  fit <- rvm(y ~ x, data, kernel = kernel_matern(cv$width, nu = 5/2))
  expect_identical(coef(cv$fit), coef(fit))
  expect_identical(coef(update(cv$fit)), coef(fit))
  expect_identical(cv$fit$call$kernel, call("kernel_matern", width = cv$width, nu = 2.5))
  expect_null(cv$fit$call$widths)
  expect_identical(predict(cv, data, interval = "prediction"),
                   predict(fit, data, interval = "prediction"))
  expect_equal(fitted(cv$fit), predict(cv))
})

test_that("formula and default method agree, and set.seed() makes it reproducible", {
  run <- function(...) {
    set.seed(3)
    rvm_cv(..., widths = widths, folds = 3, centers = 15)
  }
  formula <- run(y ~ x, data)
  default <- run(data$x, data$y)
  expect_identical(formula$table, default$table)
  expect_identical(formula$folds, default$folds)
  expect_identical(unname(fitted(formula$fit)), unname(fitted(default$fit)))
  expect_identical(run(y ~ x, data)$table, formula$table)
  expect_identical(run(data["x"], data$y)$table, formula$table)
  set.seed(4)
  expect_false(identical(rvm_cv(y ~ x, data, widths = 1, folds = 3)$folds, formula$folds))
})

test_that("folds are of equal size and share out the classes", {
  set.seed(1)
  labels <- factor(rep(c("a", "b", "c"), c(31, 12, 7)))
  folds <- rvm:::draw_folds(5, labels)
  expect_identical(c(table(folds)), c("1" = 10L, "2" = 10L, "3" = 10L, "4" = 10L, "5" = 10L))
  counts <- table(labels, folds)
  expect_true(all(apply(counts, 1, max) - apply(counts, 1, min) <= 1))
  expect_equal(sort(rvm:::draw_folds(4, 1:8)), rep(1:4, each = 2))
  expect_false(identical(rvm:::draw_folds(5, labels), folds))
  cv <- rvm_cv(am ~ wt, mtcars, family = "binomial", widths = 1, folds = 3)
  expect_true(all(abs(table(mtcars$am, cv$folds) - c(19, 13) / 3) < 1))
})

test_that("one_se takes the widest width within one standard error", {
  folds <- rep(1:4, 8)
  best <- rvm_cv(mpg ~ wt + hp, mtcars, kernel = kernel_matern(), folds = folds)
  wide <- rvm_cv(mpg ~ wt + hp, mtcars, kernel = kernel_matern(), folds = folds, one_se = TRUE)
  expect_identical(best$table, wide$table)
  table <- best$table
  least <- which.min(table$error)
  expect_identical(best$width, table$width[least])
  expect_gt(wide$width, best$width)
  expect_identical(wide$width, max(table$width[table$error <= table$error[least] + table$se[least]]))
})

test_that("the default widths go with the distances of the inputs", {
  inputs <- scale(as.matrix(mtcars[c("wt", "hp")]))
  cv <- rvm_cv(mpg ~ wt + hp, mtcars, folds = 2)
  expect_length(cv$table$width, 12)
  expect_equal(range(cv$table$width), c(0.15, 4) * median(dist(unique(inputs))), tolerance = 0.005)
  expect_lt(diff(range(diff(log(cv$table$width)))), 0.02)
  raw <- rvm_cv(mpg ~ wt + hp, mtcars, folds = 2, scale = FALSE)
  expect_equal(range(raw$table$width), c(0.15, 4) * median(dist(unique(mtcars[c("wt", "hp")]))),
               tolerance = 0.005)
})

test_that("rows that are missing, left out or of weight zero take no part", {
  holes <- data
  holes$y[3] <- NA
  holes$x[7] <- NA
  holes$w <- 1
  holes$w[c(1, 12)] <- 0
  folds <- rep(1:4, 10)
  cv <- rvm_cv(y ~ x, holes, subset = x < 9, weights = w, na.action = na.exclude,
               widths = widths, folds = folds)
  kept <- which(!is.na(holes$y + holes$x) & holes$w > 0 & holes$x < 9)
  expect_identical(which(!is.na(cv$folds)), kept)
  plain <- rvm_cv(y ~ x, holes[kept, ], widths = widths, folds = folds[kept])
  expect_equal(cv$table, plain$table)
  expect_length(fitted(cv$fit), sum(data$x < 9))
  # folds that are returned can be given
  again <- rvm_cv(y ~ x, holes, subset = x < 9, weights = w, widths = widths, folds = cv$folds)
  expect_identical(again$table, cv$table)
})

test_that("weights, offset and basis reach the fits", {
  data$w <- rep(c(1, 4), 20)
  folds <- rep(1:4, 10)
  cv <- rvm_cv(y ~ x + offset(x / 5), data, weights = w, basis = ~ I(x^2), widths = 1, folds = folds)
  squares <- densities <- numeric(40)
  for (fold in 1:4) {
    out <- folds == fold
    fit <- suppressWarnings(rvm(y ~ x + offset(x / 5), data[!out, ], weights = w, basis = ~ I(x^2),
                                kernel = kernel_gaussian(1)))
    new <- predict(fit, data[out, ], se.fit = TRUE)
    squares[out] <- (data$y[out] - new$fit)^2
    deviation <- sqrt(new$se.fit^2 + sigma(fit)^2 / data$w[out])
    densities[out] <- dnorm(data$y[out], new$fit, deviation, log = TRUE)
  }
  expect_equal(cv$table$error, sqrt(weighted.mean(squares, data$w)))
  expect_equal(cv$table$neg_log_density, -mean(densities))
  both <- two_inputs(30)
  with_function <- rvm_cv(both$x, both$y, basis = function(x) x^2, widths = 1, folds = rep(1:3, 10),
                          weights = rep(2, 30))
  with_formula <- rvm_cv(both$y ~ a + b, as.data.frame(both$x), basis = ~ I(a^2) + I(b^2),
                         widths = 1, folds = rep(1:3, 10))
  expect_equal(with_function$table, with_formula$table)
})

test_that("a class that the training part lacks costs a probability of 1e-15", {
  x <- c(1:10, 21:30, 41:50)
  y <- factor(rep(c("a", "b", "c"), each = 10))
  folds <- rep(1:3, each = 10)
  expect_silent(cv <- rvm_cv(x, y, widths = c(0.5, 1), folds = folds))
  expect_equal(cv$table$error, rep(-log(1e-15), 2))
  expect_equal(cv$table$error_rate, c(1, 1))
  two <- rvm_cv(x[1:20], droplevels(y[1:20]), widths = 0.5, folds = rep(1:2, each = 10))
  expect_equal(two$table$error, -log(1e-15))
  expect_identical(levels(predict(two, 1:3)), c("a", "b"))
})

test_that("unused levels are told of once", {
  some <- iris[1:100, ]
  told <- capture_messages(
    cv <- rvm_cv(Species ~ Petal.Length, some, widths = 1, folds = 2)
  )
  expect_length(told, 1)
  expect_match(told, "virginica")
  expect_identical(cv$fit$family, "binomial")
})

test_that("warnings on the way are muffled, those of the last fit are not", {
  short <- rvm_control(maxit = 1)
  caught <- capture_warnings(rvm_cv(y ~ x, data, widths = c(0.5, 1), folds = 2, control = short))
  expect_length(caught, 1)
  expect_match(caught, "maxit")
})

test_that("print shows the table and the choice in narrow lines", {
  cv <- rvm_cv(y ~ x, data, folds = 4)
  shown <- capture.output(print(cv))
  expect_true(all(nchar(shown) < 80))
  expect_match(shown[1], "4 folds")
  expect_length(grep("^ +[0-9.]+ +[0-9.]+ +[0-9.]+ +-?[0-9.]+$", shown), 11)
  starred <- grep("^\\* +[0-9]", shown, value = TRUE)
  expect_equal(scan(text = sub("*", "", starred, fixed = TRUE), quiet = TRUE)[1], cv$width)
  expect_output(print(rvm_cv(y ~ x, data, folds = 4, one_se = TRUE)), "within one standard error")
  expect_output(print(rvm_cv(y ~ x, data, folds = 4, widths = c(0.5, 30))), "narrowest.*narrower")
  expect_output(print(rvm_cv(y ~ x, data, folds = 4, widths = 1)), "\\* +1 ")
  flowers <- rvm_cv(Species ~ Petal.Length, iris, widths = c(1, 2), folds = 2)
  expect_output(print(flowers), "log loss std. error error rate")
})

test_that("plot marks the chosen width and leaves par() alone", {
  cv <- rvm_cv(y ~ x, data, widths = c(0.23, 0.61, 1.47), folds = 4)
  file <- tempfile(fileext = ".png")
  grDevices::png(file)
  before <- graphics::par(c("mar", "mfrow", "las", "xpd"))
  result <- withVisible(plot(cv, main = "sinc"))
  after <- graphics::par(c("mar", "mfrow", "las", "xpd"))
  logarithmic <- graphics::par("xlog")
  grDevices::dev.off()
  expect_false(result$visible)
  expect_identical(result$value, cv)
  expect_identical(after, before)
  expect_true(logarithmic)
  expect_gt(file.size(file), 2000)

  text <- tempfile(fileext = ".pdf")
  grDevices::pdf(text, compress = FALSE, useKerning = FALSE)
  plot(cv)
  grDevices::dev.off()
  written <- readLines(text, warn = FALSE)
  expect_true(any(grepl(paste0("(chosen: ", cv$width, ")"), written, fixed = TRUE, useBytes = TRUE)))
  expect_true(any(grepl("(root mean squared error)", written, fixed = TRUE, useBytes = TRUE)))
  unlink(c(file, text))
})

test_that("the user's random numbers go on as without the inner fits", {
  set.seed(1)
  rvm_cv(y ~ x, data, widths = 1, folds = 2, centers = 10)
  one <- runif(1)
  set.seed(1)
  rvm_cv(y ~ x, data, widths = c(0.5, 1, 2), folds = 2, centers = 20)
  expect_identical(runif(1), one)
})

test_that("workers give the same results", {
  skip_if_not_installed("future.apply")
  run <- function() {
    set.seed(2)
    rvm_cv(y ~ x, data, widths = widths, folds = 2, centers = 15)
  }
  alone <- run()
  old <- future::plan("multisession", workers = 2)
  on.exit(future::plan(old))
  together <- run()
  expect_identical(together$table, alone$table)
  expect_identical(together$folds, alone$folds)
  expect_identical(coef(together$fit), coef(alone$fit))
})

test_that("bad arguments are named", {
  expect_rvm_error(rvm_cv(y ~ x, data, widths = c(1, -2)), "`widths`.*positive.*-2")
  expect_rvm_error(rvm_cv(y ~ x, data, widths = "wide"), "`widths`.*\"wide\"")
  expect_rvm_error(rvm_cv(y ~ x, data, widths = numeric(0)), "`widths`")
  expect_rvm_error(rvm_cv(y ~ x, data, widths = c(1, NA)), "`widths`.*NA")
  expect_rvm_error(rvm_cv(y ~ x, data, folds = 1), "`folds`.*from 2 to 40.*not 1")
  expect_rvm_error(rvm_cv(y ~ x, data, folds = 41), "`folds`.*41")
  expect_rvm_error(rvm_cv(y ~ x, data, folds = 2.5), "`folds`.*2.5")
  expect_rvm_error(rvm_cv(y ~ x, data, folds = "two"), "`folds`.*two")
  expect_rvm_error(rvm_cv(y ~ x, data, folds = NULL), "`folds`.*NULL")
  expect_rvm_error(rvm_cv(y ~ x, data, folds = 1:3), "`folds`.*each of 40 rows.*length 3")
  expect_rvm_error(rvm_cv(y ~ x, data, folds = rep(1, 40)), "`folds`.*2 different.*\"1\"")
  expect_rvm_error(rvm_cv(y ~ x, data, folds = c(NA, rep(1:3, 13))), "`folds`.*NA as in row 1")
  expect_rvm_error(rvm_cv(y ~ x, data, folds = c(2, rep(1, 39))), "`folds`.*2 rows are left.*\"1\"")
  expect_rvm_error(rvm_cv(y ~ x, data, one_se = NA), "`one_se`")
  expect_rvm_error(rvm_cv(y ~ x, data, kernel = kernel_linear()), "`kernel`.*a linear kernel")
  expect_rvm_error(rvm_cv(y ~ x, data, kernel = "none"), "`kernel`.*none")
  expect_rvm_error(rvm_cv(y ~ x, data, kernel = function(x, z) x %*% t(z)), "`kernel`.*a function")
  expect_rvm_error(rvm_cv(y ~ x, data, kernel = c(kernel_gaussian(), kernel_laplace())), "`kernel`.*2 kernels")
  expect_rvm_error(rvm_cv(y ~ x, data, kernel = kernel_gaussian(ard = TRUE)), "`kernel`.*width for each")
  expect_rvm_error(rvm_cv(y ~ x, data, scale = "yes"), "`scale`")
  expect_rvm_error(rvm_cv(y ~ x, data, control = 3), "`control`")
  expect_rvm_error(rvm_cv(y ~ x, data, width = 1), "Unknown argument: `width`")
  expect_rvm_error(rvm_cv(data$x, data$y, kernel_gaussian(), 1), "without a name")
  expect_rvm_error(rvm_cv(y ~ x, data, y = 1), "`y`.*formula")
  expect_rvm_error(rvm_cv(data$x), "`y` is missing")
  expect_rvm_error(rvm_cv(1:3, 1:3), "`x`.*at least 4 rows.*3")
  expect_rvm_error(rvm_cv(data$x, replace(data$y, 2, NA)), "`y`.*row 2")
  expect_rvm_error(rvm_cv(data$x, data$y, weights = 1), "`weights`")
})
