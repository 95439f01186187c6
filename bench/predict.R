# Prediction for a million rows, ten inputs, at most 20 vectors, against the kernel values alone and against libsvm's
# model of the same data:
#   Rscript bench/predict.R
source("bench/helper.R")
machine()
d <- friedman_data(2000)
set.seed(1)
fit <- rvm(d$x, d$y, kernel = kernel_gaussian(2.5), scale = FALSE, centers = 20)
svm <- e1071::svm(d$x, d$y, gamma = 1 / 2.5^2, cost = 1, epsilon = 0.1, scale = FALSE)
x <- uniform(1e6, 10, 0, 1)
few <- x[1:50000, ]     # enough for libsvm: its time per row does not depend on their number

row <- function(what, x, vectors, f, times = 3)
  data.frame(what = what, rows = nrow(x), vectors = vectors, seconds = clock(function() f(x), times)$seconds)
kept <- nrow(fit$centers)
rows <- rbind(
  row("kernel values alone", x, kept, function(x) kernel_matrix(fit$kernel, x, fit$centers)),
  row("rvm: mean", x, kept, function(x) predict(fit, x)),
  row("rvm: mean and interval", x, kept, function(x) predict(fit, x, interval = "prediction")),
  row("e1071::svm", few, nrow(svm$SV), function(x) predict(svm, x), times = 1))
rows$`seconds per million` <- rows$seconds * 1e6 / rows$rows
rows$`ratio to kernel` <- rows$`seconds per million` / rows$`seconds per million`[1]
print_table(rows)
target(rows$`ratio to kernel`[2] <= 2, sprintf("mean within twice the kernel values: %.2f", rows$`ratio to kernel`[2]))
speed <- rows$`seconds per million`[4] / rows$`seconds per million`[2]
target(speed >= 10, sprintf("at least 10 times as fast as libsvm: %.0f times", speed))
finish()
