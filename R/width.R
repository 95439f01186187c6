# Kernel widths by marginal likelihood. At the basis functions of a fit, the
# evidence is a smooth function of the widths and the precisions: it is climbed by
# L-BFGS-B with slopes from the core, and a fit at the new widths, begun from the
# old one, chooses the functions anew; in turn, until neither helps.
#
# Every basis function brings two quantities tuned to the data, its centre and its
# precision, and every width is one more. The evidence does not count them, and
# narrow kernels with many functions look better by it than they are: fits are
# compared by the evidence less one for each tuned quantity, as in Akaike's
# criterion. From a fit to a numeric response functions that are worth less than
# their two are left out as well; classes, and responses of many rows, are predicted
# better with them.
function_price <- 2

price_in_fit <- function(settings, rows) {
  pays <- settings$family == "gaussian" && rows < 2 * learning_rows
  if (pays && any_width_wanted(settings$kernels)) function_price else 0
}

# Rows that widths are learned on where there are at least twice as many.
learning_rows <- 1000

# Widths to begin with, times the median distance of the inputs: the evidence has
# several hills, and a wide start leads to few functions.
width_starts <- function(inputs) if (inputs <= 3) c(0.3, 1, 3) else c(1, 3, 6)

# The kernels with widths for these inputs, and a fit there to begin from; without a
# width to learn, none.
learn_widths <- function(problem, kernels) {
  if (!any_width_wanted(kernels)) {
    return(list(kernels = lapply(kernels, resolve_width, problem$x), start = NULL))
  }
  problem$settings$control$method <- "fast"
  small <- learning_problem(problem)
  climbs <- lapply(start_kernels(kernels, small$x), function(start) {
    climb(small, trial(small, start), rounds = 2)
  })
  best <- climbs[[which.max(vapply(climbs, function(fit) fit$score, 0))]]
  best <- climb(small, best, rounds = 10)
  if (nrow(small$x) < nrow(problem$x)) {
    best <- narrow(problem, trial(problem, best$kernels, carry_over(best, problem)))
  }
  list(kernels = best$kernels, start = start_from(best, brief = FALSE), rows = nrow(small$x))
}

any_width_wanted <- function(kernels) any(vapply(kernels, wants_width, NA))

wants_width <- function(kernel) kernel$estimate && kernel$name %in% kernels_with_width

# The problem on fewer rows, evenly spaced over the rows as they are sorted: the
# choice is reproducible and does not depend on the order in which they came.
learning_problem <- function(problem) {
  used <- problem$frame$used
  if (length(used) < 2 * learning_rows) return(problem)
  chosen <- round(seq(1, length(used), length.out = learning_rows))
  problem$frame$used <- used[chosen]
  problem$settings$price <- price_in_fit(problem$settings, length(chosen))
  problem$x <- problem$x[chosen, , drop = FALSE]
  problem$basis <- problem$basis[chosen, , drop = FALSE]
  if (!problem$given_centers) {
    keep <- problem$centers$rows %in% problem$frame$rows[problem$frame$used]
    problem$centers <- list(points = problem$centers$points[keep, , drop = FALSE],
                            rows = problem$centers$rows[keep])
  }
  problem
}

start_kernels <- function(kernels, x) {
  free <- vapply(kernels, function(kernel) wants_width(kernel) && is.null(kernel$width), NA)
  lapply(if (any(free)) width_starts(ncol(x)) else 1, function(multiple) {
    Map(function(kernel, free) {
      kernel <- resolve_width(kernel, x)
      if (free) kernel$width <- kernel$width * multiple
      kernel
    }, kernels, free)
  })
}

# A fit at given widths, with its score.
trial <- function(problem, kernels, start = NULL) {
  fit <- fit_problem(problem, kernels, start)
  widths <- unlist(lapply(Filter(wants_width, kernels), function(kernel) kernel$width))
  fit$score <- fit$core$evidence - function_price * length(fit$core$alpha) - sum(is.finite(widths))
  fit
}

# Widths and fits in turn; returns the fit of the best score.
climb <- function(problem, fit, rounds) {
  best <- fit
  for (round in seq_len(rounds)) {
    surface <- evidence_surface(problem, fit)
    if (!length(surface$begin)) break
    peak <- drop_inputs(surface, highest_point(surface), nrow(problem$x))
    following <- trial(problem, surface$kernels(peak), surface$start(peak))
    gain <- following$score - best$score
    if (gain > 0) best <- following
    if (gain < 0.1) break
    fit <- following
  }
  best
}

# With all the rows more functions are worth having, and kernels should be narrower
# than the few rows said: all widths shrink together as long as that raises the
# evidence by something. So many rows are not overfitted by it.
narrow <- function(problem, fit, by = 0.75, steps = 12) {
  for (step in seq_len(steps)) {
    following <- trial(problem, shrink(fit$kernels, by), start_from(fit, brief = TRUE))
    if (following$core$evidence < fit$core$evidence + 5e-3 * nrow(problem$x)) break
    fit <- following
  }
  fit
}

shrink <- function(kernels, by) {
  lapply(kernels, function(kernel) {
    if (wants_width(kernel)) kernel$width <- by * kernel$width
    kernel
  })
}

# ---- the evidence at the functions of one fit ------------------------------------

# A surface has the parameters of a fit, `begin`: the logs of its free widths (there
# are `widths` of them), then those of its precisions relative to the noise; value()
# and slope() of the evidence there; kernels() and start() make a fit of a point.
evidence_surface <- function(problem, fit) {
  family <- families[[problem$settings$family]]
  active <- family$active(fit$core, fit$candidates, levels(problem$frame$y))
  free <- free_widths(fit$kernels, active$dictionary)
  if (!length(free)) return(list(begin = numeric(0)))
  noise <- if (isTRUE(fit$core$held)) fit$core$sigma else problem$settings$noise
  own <- seq_along(free)
  kernels <- function(par) set_widths(fit$kernels, free, exp(par[own]))
  last <- NULL
  at <- function(par) {
    if (identical(par, last$par)) return(last)
    dictionary <- replace_kernels(active$dictionary, kernels(par))
    blocks <- dictionary_blocks(dictionary, problem$x, problem$basis)
    found <- family$gradient(problem, blocks, active, exp(par[-own]), noise)
    slopes <- matrix(found$log_width, ncol(problem$x))
    width_slopes <- vapply(free, function(width) {
      sum(slopes[width$inputs, part_numbers(dictionary) %in% width$kernel])
    }, 0)
    last <<- list(par = par, value = found$objective, sigma = found$sigma,
                  slope = c(width_slopes, found$log_alpha))
    last
  }
  ratio <- fit$core$alpha * core_variance(fit$core)
  list(
    begin = c(log(vapply(free, function(width) width$now, 0)), log(ratio)), widths = own,
    value = function(par) at(par)$value, slope = function(par) at(par)$slope, kernels = kernels,
    start = function(par) {
      list(active = fit$core$active, ratio = exp(par[-own]), sigma = at(par)$sigma, brief = TRUE)
    }
  )
}

# The widths that are to be learned and that some function of the dictionary has: the
# number of their kernel, their inputs and their value.
free_widths <- function(kernels, dictionary) {
  found <- lapply(unique(stats::na.omit(part_numbers(dictionary))), function(number) {
    kernel <- kernels[[number]]
    if (!wants_width(kernel)) return(NULL)
    inputs <- if (kernel$ard) as.list(which(is.finite(kernel$width))) else list(TRUE)
    lapply(inputs, function(inputs) {
      list(kernel = number, inputs = inputs, now = kernel$width[inputs][1])
    })
  })
  do.call(c, found)
}

set_widths <- function(kernels, free, widths) {
  for (i in seq_along(free)) kernels[[free[[i]]$kernel]]$width[free[[i]]$inputs] <- widths[i]
  kernels
}

# Precisions are relative to the variance of the noise; classes have none.
core_variance <- function(core) if (is.na(core$sigma)) 1 else core$sigma^2

# Where the evidence is highest, as far as some steps lead. The climb is judged by
# what it gains, which does not depend on the unit of y; widths are rounded to three
# digits or so, which is more than the data say about them, so that rounding errors cannot
# grow from one fit to the next.
highest_point <- function(surface, steps = 40) {
  begin <- surface$begin
  is_width <- seq_along(begin) %in% surface$widths
  reach <- ifelse(is_width, 2, 15)
  ground <- surface$value(begin)
  top <- stats::optim(begin, function(par) surface$value(par) - ground, surface$slope,
                      method = "L-BFGS-B", lower = begin - reach, upper = begin + reach,
                      control = list(fnscale = -1, maxit = steps))$par
  ifelse(is_width, round(256 * top) / 256, top)
}

# Inputs that the evidence would not miss, by less than Schwarz's criterion asks of
# a parameter, get the width Inf and play no further part. The narrower half of the
# widths stay.
drop_inputs <- function(surface, par, rows) {
  own <- surface$widths
  if (length(own) < 2) return(par)
  least <- log(rows) / 2
  without <- function(inputs) surface$value(replace(par, inputs, Inf))
  height <- surface$value(par)
  wide <- own[par[own] > stats::median(par[own])]
  losses <- vapply(wide, function(input) height - without(input), 0)
  idle <- wide[order(losses)][seq_len(sum(losses < least))]
  while (length(idle) && height - without(idle) > least * length(idle)) {
    idle <- idle[seq_len(length(idle) %/% 2)]
  }
  replace(par, idle, Inf)
}

# ---- from one fit to the next ------------------------------------------------------

start_from <- function(fit, brief) {
  list(active = fit$core$active, ratio = fit$core$alpha * core_variance(fit$core),
       sigma = fit$core$sigma, brief = brief)
}

# A fit to some of the rows as a start for a fit to all of them: its functions have
# other numbers there.
carry_over <- function(fit, problem) {
  start <- start_from(fit, brief = TRUE)
  all <- problem_dictionary(problem, fit$kernels)
  size <- sum(part_sizes(fit$candidates))
  column <- match(column_names(fit$candidates), column_names(all))
  class <- (start$active - 1L) %/% size
  start$active <- column[(start$active - 1L) %% size + 1L] + class * sum(part_sizes(all))
  start
}
