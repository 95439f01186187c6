# The sinc example: 100 noisy points, a fit, its summary, a picture.
library(rvm)

set.seed(1)
d <- data.frame(x = seq(-10, 10, length.out = 100))
d$y <- sin(d$x) / d$x + rnorm(100, sd = 0.1)

fit <- rvm(y ~ x, data = d, kernel = kernel_gaussian(width = 0.5))
print(summary(fit))

# The first device that works here: R can be built without any of them but pdf.
open_device <- function(name, width = 7, height = 4.5) {
  devices <- list(
    png = function(file) png(file, width, height, units = "in", res = 150, type = "cairo"),
    png = function(file) png(file, width, height, units = "in", res = 150),
    svg = function(file) svg(file, width, height),
    pdf = function(file) pdf(file, width, height))
  for (i in seq_along(devices)) {
    file <- paste0(name, ".", names(devices)[i])
    opened <- tryCatch({ devices[[i]](file); TRUE }, warning = function(w) FALSE, error = function(e) FALSE)
    if (opened) return(file)
  }
  stop("no graphics device could be opened")
}
file <- open_device("rvm-sinc")
par(mar = c(4, 4, 1, 1))
plot(fit)
curve(sin(x) / x, add = TRUE, lty = 3, n = 401)
invisible(dev.off())
cat("The picture is in", file, "(dotted: the function that the noise was added to).\n")
