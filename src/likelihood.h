/* likelihood.h: what the engine knows of a likelihood. A new one is a new row of
 * the table. Every likelihood is seen through its quadratic model at a latent f:
 * log p(t | f + step) ~ value + residual'step - 1/2 step' diag(curvature) step. */
#ifndef RVM_LIKELIHOOD_H
#define RVM_LIKELIHOOD_H

#include <stddef.h>

typedef enum { LIKELIHOOD_GAUSSIAN = 0 } likelihood_type;

typedef struct {
    const char *name;
    int quadratic;  /* the quadratic model is exact: one fit of it is enough */
    int has_noise;  /* there is a noise precision to estimate */
    /* sum over n of weight[n] log p(t[n] | f[n]); weight NULL: ones; precision: of the noise */
    double (*value)(size_t rows, const double *t, const double *f, const double *weight, double precision);
    /* derivatives of log p(t | f) in f, and minus the second ones, for unit noise precision */
    void (*quadratic_model)(size_t rows, const double *t, const double *f, const double *weight, double *residual,
                            double *curvature);
} likelihood;

const likelihood *likelihood_of(likelihood_type type);

#endif
