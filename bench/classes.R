# Classification beside published figures and support vector machines:
#   Rscript bench/classes.R [part ...]      default: all parts but usps and scale
# ripley     Ripley's synthetic data, 20 draws of 100 rows
# pima       Pima Indians, the width by cross-validation
# ida        six sets of the IDA benchmark: errors, vectors, log loss, calibration
# step       log-odds that are zero in the middle and infinite on both sides
# decisions  new class priors and costs against Bayes' rule worked out here
# multi      fgl, Vehicle, Vowel, Satellite beside kernlab::ksvm; multi=Vowel,fgl takes only these
# usps       ten digits in one model; usps=8,11.3 fits at these widths, usps=8,shared with one precision for all classes
# race       fit time beside e1071::svm(probability = TRUE), N = 1000 to 8000; race=1000,2000 takes these sizes
# scale      N = 50,000; scale=20000 another size
# ida=banana,image takes only these sets. Files that do not come with R's packages are looked for in ../shared/data.
source("bench/helper.R")
for (file in Sys.glob("bench/classes_*.R")) source(file)

parts <- list(ripley = ripley, pima = pima, ida = ida, step = step_odds, decisions = decisions, multi = multi, usps = usps,
              race = race_classes, scale = scale_classes)
chosen <- commandArgs(TRUE)
if (!length(chosen)) chosen <- setdiff(names(parts), c("usps", "scale"))
names <- sub("=.*", "", chosen)
choices <- strsplit(ifelse(grepl("=", chosen), sub("[^=]*=", "", chosen), ""), ",")
if (!all(names %in% names(parts))) stop("no such part: ", setdiff(names, names(parts))[1], "; there are ", toString(names(parts)))

machine()
for (i in seq_along(names)) {
  say("---- %s", names[i])
  run <- clock(function() if (length(choices[[i]])) parts[[names[i]]](choices[[i]]) else parts[[names[i]]]())
  say("%s took %.0f s\n", names[i], run$seconds)
}
finish()
