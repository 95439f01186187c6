/* fit.h: from a dictionary and a target to the hyperparameters.
 *
 * A driver sees a weighted least-squares problem: rows already multiplied by the
 * square roots of their weights. It returns which columns are in, their
 * precisions relative to the noise, and the noise precision. */
#ifndef RVM_FIT_H
#define RVM_FIT_H

#include <stddef.h>

#include "core.h"
#include "dictionary.h"
#include "evidence.h"
#include "laplace.h"

/* A model to begin with: the fit at slightly other widths. */
typedef struct {
    size_t count;
    const size_t *which; /* columns of the dictionary */
    const double *ratio;
    double precision;
    int brief; /* settle near it, among a sample of the candidates, and leave it at that */
} fit_start;

typedef struct {
    const dictionary *dict;
    const double *target;   /* rows */
    const size_t *order;    /* the dictionary's columns; the first ones are a spread-out sample of it */
    size_t fixed_columns;   /* that many at the front of `order` are explicit columns */
    evidence_setting noise; /* count, precision_max, noise_free, prior; precision: start (or fixed) value */
    double tol;             /* no single move may gain more at the end of fit_fast() */
    int maxit;
    double memory; /* bytes the driver may take */
    rvm_workspace work;
    rvm_ticker ticker;
    int shared;       /* pairs of one basis function and all classes have one precision */
    laplace *laplace; /* NULL: gaussian. Else row scale and target are its, and the noise is 1 */
    double price; /* at the end, columns that are worth less (in log evidence) leave fit_fast() and fit_classes() */
    const fit_start *start; /* NULL: from nothing. Top-down algorithms take no notice */
} fit_problem;

typedef struct {
    int iteration, active;
    double evidence, precision;
} fit_trace;

typedef struct {
    size_t active;
    size_t *which;  /* columns of the dictionary, in no particular order */
    double *ratio;  /* alpha / beta */
    double precision;
    int iterations, converged;
    int held; /* the noise, for otherwise the fit would interpolate */
    fit_trace *trace; /* maxit of them */
} fit_result;

/* The working-set algorithm for a gaussian likelihood, and for one that laplace describes. */
rvm_status fit_fast(const fit_problem *problem, fit_result *result);
rvm_status fit_classes(const fit_problem *problem, fit_result *result);

/* Top-down algorithms, for both. */
rvm_status fit_mackay(const fit_problem *problem, fit_result *result);
rvm_status fit_em(const fit_problem *problem, fit_result *result);

/* With shared precisions: fit_classes() chooses the basis functions, and all classes of these
 * are re-estimated together. */
rvm_status fit_shared(const fit_problem *problem, fit_result *result);

#endif
