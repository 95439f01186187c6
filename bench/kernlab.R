# kernlab::rvm against this package: sinc, N = 2000, width 3.
#   Rscript bench/kernlab.R
source("bench/helper.R")
machine()
d <- sinc_data(2000)
fits <- c("rvm", "kernlab::rvm", "kernlab::rvm, 1000 iterations")
rows <- do.call(rbind, lapply(fits, function(fit) data.frame(N = 2000, fit = fit, measure(fit, d, 3, times = if (fit == "rvm") 5 else 1))))
report(rows, `ratio to kernlab` = rows$seconds / rows$seconds[2])
target(rows$seconds[1] < rows$seconds[2] / 20, sprintf("time under 1/20 of kernlab's: 1/%.0f", rows$seconds[2] / rows$seconds[1]))
target(rows$error[1] < rows$error[2], sprintf("test error smaller: %.4f against %.4f", rows$error[1], rows$error[2]))
finish()
