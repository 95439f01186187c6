library(testthat)
library(rvm)

test_check("rvm")
