# Runs the tests of a folder against the installed package and counts expectations.
library(testthat)
results <- test_dir(commandArgs(TRUE), package = "rvm", load_package = "installed", stop_on_failure = FALSE,
                    reporter = SummaryReporter$new(show_praise = FALSE, max_reports = 100))
outcome <- unlist(lapply(results, function(test) vapply(test$results, function(e) class(e)[1], "")))
count <- function(...) sum(outcome %in% paste0("expectation_", c(...)))
failed <- count("failure", "error")
cat("\n", count("success"), " passed, ", failed, " failed, ", count("skip"), " skipped\n", sep = "")
quit(status = if (failed > 0 || count("success") == 0) 3 else 0)
