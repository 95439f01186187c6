frame_of <- function(formula, data = NULL, ..., contrasts = NULL, basis = NULL) {
  call <- match.call(expand.dots = TRUE)
  rvm:::formula_frame(formula, data, call, parent.frame(), contrasts, basis)
}

people <- data.frame(
  y = c(1, 2, NA, 4, 5, 6), age = c(20, 30, 40, NA, 60, 70),
  group = factor(c("a", "b", "c", "a", "b", "c")), w = 1:6, extra = 6:1
)

test_that("factors become dummy columns without a constant", {
  frame <- frame_of(y ~ age + group, people)
  expect_identical(colnames(frame$x), c("age", "groupb", "groupc"))
  expect_identical(unname(frame$x[, "groupb"]), c(0, 1, 1, 0))
  expect_identical(frame$rows, c(1L, 2L, 5L, 6L))
  expect_identical(unname(frame$y), c(1, 2, 5, 6))
})

test_that("contrasts are honoured, now and at prediction", {
  frame <- frame_of(y ~ group, people, contrasts = list(group = "contr.sum"))
  expect_identical(colnames(frame$x), c("group1", "group2"))
  again <- rvm:::new_frame(frame$recipe, people[1:2, ], na.pass)
  expect_identical(unname(again$x), rbind(c(1, 0), c(0, 1)))
})

test_that("subset, weights and offset are evaluated in the data", {
  frame <- frame_of(y ~ age, people, subset = extra > 1, weights = w, offset = age / 10)
  expect_identical(frame$rows, c(1L, 2L, 5L))
  expect_equal(frame$weights, c(1, 2, 5))
  expect_equal(frame$offset, c(2, 3, 6))
})

test_that("a basis formula loses the same rows as the inputs", {
  data <- data.frame(y = 1:4, a = c(1, NA, 3, 4), b = c(1, 2, 3, NA))
  frame <- frame_of(y ~ a, data, basis = ~ b + I(b^2))
  expect_identical(frame$rows, c(1L, 3L))
  expect_identical(colnames(frame$basis), c("b", "I(b^2)"))
  expect_identical(unname(frame$basis[, 2]), c(1, 9))
  expect_identical(colnames(frame$x), "a")
})

test_that("a dot in formula and basis leaves the response out", {
  frame <- frame_of(y ~ ., people[c("y", "age", "w")], basis = ~ .)
  expect_identical(colnames(frame$x), c("age", "w"))
  expect_identical(colnames(frame$basis), c("age", "w"))
})

test_that("transformations remember what they learned", {
  frame <- frame_of(y ~ scale(age), people)
  again <- rvm:::new_frame(frame$recipe, data.frame(age = c(20, 44)), na.pass)
  expect_equal(unname(again$x), cbind((c(20, 44) - mean(people$age, na.rm = TRUE)) /
                                        sd(people$age, na.rm = TRUE)))
})

test_that("variables may come from the formula's environment", {
  height <- c(1.5, 2.5, 3.5)
  out <- 1:3
  power <- 2
  frame <- frame_of(out ~ I(height^power))
  expect_identical(frame$recipe$variables, "height")
  again <- rvm:::new_frame(frame$recipe, data.frame(height = 3), na.pass)
  expect_equal(unname(again$x), matrix(9))
})

test_that("new data that do not fit are named", {
  recipe <- frame_of(y ~ age + group, people)$recipe
  expect_rvm_error(rvm:::new_frame(recipe, data.frame(age = 1), na.pass), "missing: \"group\"")
  unknown <- data.frame(age = 1, group = c("a", "z"))
  expect_rvm_error(rvm:::new_frame(recipe, unknown, na.pass), "\"group\".*\"z\"")
  wrong <- data.frame(age = "old", group = "a")
  expect_rvm_error(rvm:::new_frame(recipe, wrong, na.pass), "`newdata`.*age")
  expect_rvm_error(rvm:::new_frame(recipe, data.frame(age = Inf, group = "a"), na.pass),
                   "`newdata` must be finite: column \"age\"")
  expect_rvm_error(rvm:::new_frame(recipe, 1:3, na.pass), "`newdata`.*data frame")
})

test_that("missing values in new data are kept track of", {
  recipe <- frame_of(y ~ age + group, people)$recipe
  new <- data.frame(age = c(1, NA, 3), group = c("a", "b", NA))
  frame <- rvm:::new_frame(recipe, new, na.pass)
  expect_identical(frame$complete, c(TRUE, FALSE, FALSE))
  expect_identical(nrow(rvm:::new_frame(recipe, new, na.omit)$x), 1L)
  expect_rvm_error(rvm:::new_frame(recipe, new, na.fail), "missing values")
})

test_that("matrices are matched by name where both have names", {
  x <- cbind(a = 1:3, b = 4:6)
  recipe <- rvm:::matrix_frame(x, 1:3, NULL, NULL)$recipe
  swapped <- rvm:::new_frame(recipe, cbind(b = 40, a = 10), na.pass)
  expect_identical(unname(swapped$x), rbind(c(10, 40)))
  expect_identical(unname(rvm:::new_frame(recipe, rbind(c(10, 40)), na.pass)$x), rbind(c(10, 40)))
  expect_rvm_error(rvm:::new_frame(recipe, cbind(a = 1, c = 2), na.pass), "missing: \"b\"")
  expect_rvm_error(rvm:::new_frame(recipe, 1:2, na.pass), "`newdata`.*2 columns")
})

test_that("a data frame as x is coded like a formula", {
  x <- people[c("w", "group")]
  frame <- rvm:::matrix_frame(x, 1:6, NULL, NULL)
  expect_identical(colnames(frame$x), c("w", "groupb", "groupc"))
  again <- rvm:::new_frame(frame$recipe, x[6:5, ], na.pass)
  expect_equal(unname(again$x), unname(frame$x[6:5, ]))
})

test_that("a basis function is evaluated and its result looked at", {
  square <- function(x) x^2
  frame <- rvm:::matrix_frame(cbind(1:3), 1:3, NULL, square)
  expect_identical(unname(frame$basis), cbind(c(1, 4, 9)))
  again <- rvm:::new_frame(frame$recipe, c(5, NA), na.pass)
  expect_equal(unname(again$basis), cbind(c(25, NA)))
  build <- function(basis) rvm:::matrix_frame(cbind(1:3), 1:3, NULL, basis)
  expect_rvm_error(build(function(x) 1), "`basis`.*3 rows")
  expect_rvm_error(build(function(x) letters[1:3]), "`basis`.*numeric")
  expect_rvm_error(build(function(x) log(x - 1)), "`basis`.*finite")
  expect_rvm_error(build(~ x), "`basis`.*function")
})

test_that("time series are vectors", {
  expect_identical(rvm:::numeric_matrix(ts(c(1, 2, 4)), "x"), cbind(c(1, 2, 4)))
})

test_that("standardising leaves constant inputs alone", {
  x <- cbind(1:5, 3, 0.1 + 0.2 + c(0, 1, 0, 0, 0) * .Machine$double.eps / 8, 1e200 * 1:5)
  scaling <- rvm:::find_scaling(x)
  expect_equal(scaling$scale, c(sd(1:5), 1, 1, sd(1:5) * 1e200))
  expect_equal(rvm:::apply_scaling(x, scaling)[, 1], as.vector(scale(1:5)))
  expect_equal(rvm:::apply_scaling(x, scaling)[, 2], rep(0, 5))
  expect_identical(rvm:::apply_scaling(x, NULL), x)
})

test_that("standardising keeps small variations on a large mean", {
  x <- cbind(1e9 + (1:10) / 100)
  expect_equal(rvm:::find_scaling(x)$scale, sd((1:10) / 100), tolerance = 1e-4)
})
