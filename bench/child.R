# One measurement in a process of its own, for in_child() of helper.R: Rscript bench/child.R job.rds value.rds
files <- commandArgs(TRUE)
job <- readRDS(files[1])
list2env(job$helpers, globalenv())
value <- do.call(job$task, job$arguments)
value$memory <- peak_memory()
saveRDS(value, files[2])
