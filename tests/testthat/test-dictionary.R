points <- cbind(c(1, 2, 1, 3, 2), c(0, 0, 0, 5, 1))

test_that("distinct rows are the first of each set of equals", {
  expect_identical(rvm:::distinct_rows(points), c(1L, 2L, 4L, 5L))
  close <- cbind(c(1, 1 + .Machine$double.eps, 1))
  expect_identical(rvm:::distinct_rows(close), c(1L, 2L))
  set.seed(3)
  x <- matrix(sample(0:2, 300, TRUE), 100) + 0
  expect_identical(rvm:::distinct_rows(x), which(!duplicated(x)))
})

test_that("spread rows are distinct, reproducible and spread", {
  set.seed(4)
  x <- rbind(matrix(rnorm(200, sd = 0.1), 100), matrix(rnorm(20, 5, sd = 0.1), 10))
  set.seed(5)
  first <- rvm:::spread_rows(x, 6)
  set.seed(5)
  expect_identical(rvm:::spread_rows(x, 6), first)
  expect_length(unique(first), 6)
  expect_true(any(first > 100) && any(first <= 100))
  expect_identical(rvm:::spread_rows(points, 10), c(1L, 2L, 4L, 5L))
})

kernels <- list(kernel_gaussian(1), kernel_linear())
centers <- list(points = points[c(1, 4), ], rows = c(11L, 14L))

test_that("columns are numbered through constant, basis and kernels", {
  all <- rvm:::dictionary(kernels, centers, TRUE, c("p", "q"), c("a", "b"))
  expect_identical(rvm:::column_names(all), c(
    "(Intercept)", "p", "q", "gaussian(1):11", "gaussian(1):14", "linear:11", "linear:14"
  ))
  one <- rvm:::dictionary(kernels[1], centers, FALSE, NULL, c("a", "b"))
  expect_identical(rvm:::column_names(one), c("11", "14"))
  none <- rvm:::dictionary(list(), NULL, TRUE, NULL, c("a", "b"))
  expect_identical(rvm:::column_names(none), c("(Intercept)", "a", "b"))
  same <- rvm:::dictionary(kernels[c(1, 1)], centers, FALSE, NULL, NULL)
  expect_identical(anyDuplicated(rvm:::column_names(same)), 0L)
})

test_that("a restricted dictionary has the chosen columns of the full one", {
  all <- rvm:::dictionary(kernels, centers, TRUE, c("p", "q"), c("a", "b"))
  basis <- cbind(1:5, 6:10) + 0
  full <- rvm:::dictionary_columns(all, points, basis, 1L)
  expect_identical(dim(full), c(5L, 7L))
  for (active in list(1L, c(3L, 5L), c(1L, 4L, 6L, 7L), 1:7, integer(0))) {
    part <- rvm:::restrict(all, active)
    expect_identical(rvm:::column_names(part), rvm:::column_names(all)[active])
    expect_equal(rvm:::dictionary_columns(part, points, basis, 1L),
                 full[, active, drop = FALSE])
  }
})

test_that("a matrix of centres is taken in the units of x", {
  scaling <- list(center = c(1, 2), scale = c(2, 4))
  found <- rvm:::candidate_centers(rbind(c(3, 6), c(1, 2)), points, 1:5, scaling)
  expect_identical(found$points, rbind(c(1, 1), c(0, 0)))
  expect_identical(found$rows, 1:2)
  expect_rvm_error(rvm:::candidate_centers(cbind(1:3), points, 1:5, NULL), "`centers`.*2 columns")
  expect_rvm_error(rvm:::candidate_centers(cbind(1, NA), points, 1:5, NULL), "`centers`.*finite")
  expect_rvm_error(rvm:::candidate_centers(0, points, 1:5, NULL), "`centers`.*at least 1")
  expect_rvm_error(rvm:::candidate_centers("all", points, 1:5, NULL), "`centers`.*\"all\"")
})
