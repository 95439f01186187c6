#include "likelihood.h"

#include <math.h>

/* Gaussian: var(t_n) = 1 / (precision * weight_n); rows of weight 0 are not there. */
static double gaussian_value(size_t rows, const double *t, const double *f, const double *weight, double precision)
{
    double sum = 0;
    for (size_t n = 0; n < rows; n++) {
        double w = weight ? weight[n] : 1, r = t[n] - f[n];
        if (w > 0) sum += 0.5 * (log(w * precision / 6.283185307179586) - w * precision * r * r);
    }
    return sum;
}

static void gaussian_model(size_t rows, const double *t, const double *f, const double *weight, double *residual,
                           double *curvature)
{
    for (size_t n = 0; n < rows; n++) {
        curvature[n] = weight ? weight[n] : 1;
        residual[n] = curvature[n] * (t[n] - f[n]);
    }
}

static const likelihood table[] = {
    { "gaussian", 1, 1, gaussian_value, gaussian_model },
};

const likelihood *likelihood_of(likelihood_type type) { return &table[type]; }
