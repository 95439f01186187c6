/* posterior.h: mean, covariance, log-determinant and evidence for given precisions,
 * from scratch: the figures that are reported, whichever way the fit was found. */
#ifndef RVM_POSTERIOR_H
#define RVM_POSTERIOR_H

#include <stddef.h>

#include "core.h"
#include "dictionary.h"

typedef struct {
    double *mean;       /* m */
    double *factor;     /* m x m, upper triangular: factor factor' = covariance */
    double *covariance; /* m x m */
    double log_det;     /* log|I + beta Phi A^-1 Phi'| */
    double quadratic;   /* t'C^-1 t */
    double evidence;    /* log marginal likelihood of the (row-scaled) target */
} posterior;

/* Gaussian posterior of the weights of columns which[0 .. m - 1] with precisions
 * alpha and noise precision beta. The columns are compressed to an m x m triangle
 * (basis.h), which is scaled by alpha^-1/2 and stacked on the identity; its QR
 * factor gives everything, and no condition number is squared.
 * count: observations behind the rows. cost: 8 rows m^2 + 10 m^3. */
rvm_status posterior_gaussian(const dictionary *d, const double *target, double count, size_t m, const size_t *which,
                              const double *alpha, double beta, const rvm_workspace *work, posterior *out);

#endif
