test_that("the defaults are as documented", {
  control <- rvm_control()
  expect_s3_class(control, "rvm_control")
  expect_identical(control$method, "fast")
  expect_null(control$tol)
  expect_identical(rvm:::core_control(control, 500)$tol, 0.01)
  expect_identical(rvm:::core_control(control, 20000)$tol, 0.4)
  expect_identical(control$maxit, 1000L)
  expect_identical(control$progress, interactive())
  expect_gte(control$threads, 1L)
  expect_gt(control$memory, 1e6)
  expect_output(print(control), "^method fast, maxit 1000, ")
})

test_that("bad settings are named", {
  expect_rvm_error(rvm_control(method = "slow"), "`method`.*\"fast\".*not \"slow\"")
  expect_rvm_error(rvm_control(tol = 0), "`tol`.*positive.*not 0")
  expect_rvm_error(rvm_control(tol = NA_real_), "`tol`")
  expect_rvm_error(rvm_control(maxit = 0), "`maxit`.*at least 1.*not 0")
  expect_rvm_error(rvm_control(maxit = 2.5), "`maxit`.*whole number")
  expect_rvm_error(rvm_control(maxit = "many"), "`maxit`.*not \"many\"")
  expect_rvm_error(rvm_control(threads = -1), "`threads`")
  expect_rvm_error(rvm_control(threads = 1:2), "`threads`.*vector of length 2")
  expect_rvm_error(rvm_control(memory = -1), "`memory`")
  expect_rvm_error(rvm_control(progress = NA), "`progress`")
})

test_that("memory without limit is a number the core can take", {
  expect_identical(rvm_control(memory = Inf)$memory, 2^50)
})

test_that("threads follow the option and the limits of the environment", {
  set_variable <- function(name, value) {
    old <- Sys.getenv(name, NA)
    do.call(Sys.setenv, stats::setNames(list(value), name))
    function() if (is.na(old)) Sys.unsetenv(name) else {
      do.call(Sys.setenv, stats::setNames(list(old), name))
    }
  }
  old <- options(rvm.threads = 7)
  on.exit(options(old))
  restore_check <- set_variable("_R_CHECK_LIMIT_CORES_", "false")
  on.exit(restore_check(), add = TRUE)
  restore_limit <- set_variable("OMP_THREAD_LIMIT", "")
  on.exit(restore_limit(), add = TRUE)
  expect_identical(rvm_control()$threads, 7L)

  Sys.setenv(OMP_THREAD_LIMIT = "3")
  expect_identical(rvm_control()$threads, 3L)
  Sys.setenv("_R_CHECK_LIMIT_CORES_" = "TRUE")
  expect_identical(rvm_control()$threads, 2L)
  expect_identical(rvm_control(threads = 5)$threads, 5L)
})

test_that("control must come from rvm_control()", {
  expect_rvm_error(rvm(1:5, 1:5, control = list(maxit = 3)), "`control`.*rvm_control")
})
