/* r_result.h: the result of a fit on its way to R. */
#ifndef RVM_R_RESULT_H
#define RVM_R_RESULT_H

#include "fit.h"
#include "r_glue.h"

/* The model to begin with, from a list of active, ratio, sigma (in units of `scale`) and brief; NULL without one. */
const fit_start *result_start(SEXP start, double scale);

/* Room for a result, from R's transient memory. */
fit_result result_new(size_t columns, int maxit);

/* Columns in increasing order, whatever order they were found in. */
void result_sort(fit_result *result);

/* The trace as a list: evidence + shift, sigma in units of `scale`. */
SEXP result_trace(const fit_result *result, double evidence_shift, double scale);

/* A new vector or n x n matrix in place `at` of a list. */
double *result_doubles(SEXP list, int at, size_t count);
double *result_square(SEXP list, int at, size_t n);

#endif
