#include "likelihood.h"

#include <math.h>

static double weight_of(const observations *d, size_t n) { return d->weight ? d->weight[n] : 1; }

static double offset_of(const observations *d, size_t n) { return d->offset ? d->offset[n] : 0; }

/* ---- gaussian: var(t_n) = 1 / (precision * weight_n); rows of weight 0 are not there --- */

static double gaussian_value(const observations *d, const double *f, double precision)
{
    double sum = 0;
    for (size_t n = 0; n < d->rows; n++) {
        double w = weight_of(d, n), r = d->t[n] - f[n];
        if (w > 0) sum += 0.5 * (log(w * precision / 6.283185307179586) - w * precision * r * r);
    }
    return sum;
}

static void gaussian_linearise(const observations *d, const double *f, double *root, double *target)
{
    (void) f; /* the model is exact wherever it is made */
    for (size_t n = 0; n < d->rows; n++) {
        root[n] = sqrt(weight_of(d, n));
        target[n] = root[n] * (d->t[n] - offset_of(d, n));
    }
}

/* ---- bernoulli: P(t = 1) = 1 / (1 + exp(-f)) ------------------------------------------ */

/* Beyond this log-odds the curvature is taken as if there: a target of residual / root must not
 * drown the others. Residuals stay exact, so the mode does. */
static const double FAR = 45;

static double within(double x, double limit) { return x > limit ? limit : x < -limit ? -limit : x; }

static double bernoulli_value(const observations *d, const double *f, double precision)
{
    (void) precision;
    double sum = 0;
    for (size_t n = 0; n < d->rows; n++) {
        double margin = d->t[n] > 0.5 ? f[n] : -f[n];
        sum -= weight_of(d, n) * (margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin);
    }
    return sum;
}

/* b = p (1 - p), the residual is 1 - p for t = 1, -p for 0: both from exp(-|f|), without cancellation. */
static void bernoulli_linearise(const observations *d, const double *f, double *root, double *target)
{
    for (size_t n = 0; n < d->rows; n++) {
        double half = exp(-0.5 * fabs(within(f[n], FAR))), w = sqrt(weight_of(d, n));
        double margin = d->t[n] > 0.5 ? f[n] : -f[n];
        double residual = margin > 0 ? exp(-margin) / (1 + exp(-margin)) : 1 / (1 + exp(margin));
        double b_root = half / (1 + half * half);
        root[n] = w * b_root;
        target[n] = root[n] * (f[n] - offset_of(d, n)) + w * (d->t[n] > 0.5 ? residual : -residual) / b_root;
    }
}

/* ---- softmax: P(t = k) = exp(f_k) / sum over l of exp(f_l) ----------------------------- */

/* log of the sum of exponentials over the latents of row n */
static double log_sum(const observations *d, const double *f, size_t n)
{
    double top = f[n], sum = 0;
    for (size_t k = 1; k < d->latents; k++) top = fmax(top, f[n + k * d->rows]);
    for (size_t k = 0; k < d->latents; k++) sum += exp(f[n + k * d->rows] - top);
    return top + log(sum);
}

static double softmax_value(const observations *d, const double *f, double precision)
{
    (void) precision;
    double sum = 0;
    for (size_t n = 0; n < d->rows; n++)
        sum += weight_of(d, n) * (f[n + (size_t) d->t[n] * d->rows] - log_sum(d, f, n));
    return sum;
}

/* root = s, the roots of the probabilities y; the weights' roots are the dictionary's row scale.
 * target = w^1/2 (R f + e / s), R = (I - s s') diag(s), e = [t = k] - y: since e sums to 0,
 * R'(e / s) = e. The own class's e is the sum of the others' y, without cancellation. */
static void softmax_linearise(const observations *d, const double *f, double *root, double *target)
{
    for (size_t n = 0; n < d->rows; n++) {
        size_t own = (size_t) d->t[n];
        double all = log_sum(d, f, n), w = sqrt(weight_of(d, n)), others = 0, inner = 0;
        for (size_t k = 0; k < d->latents; k++) {
            size_t at = n + k * d->rows;
            double s = root[at] = exp(0.5 * fmax(f[at] - all, -FAR));
            inner += s * s * f[at];
            if (k != own) others += s * s;
        }
        for (size_t k = 0; k < d->latents; k++) {
            size_t at = n + k * d->rows;
            double s = root[at];
            target[at] = w * (s * (f[at] - inner) + (k == own ? others / s : -s));
        }
    }
}

static const likelihood table[] = {
    { "gaussian", gaussian_value, gaussian_linearise },
    { "bernoulli", bernoulli_value, bernoulli_linearise },
    { "softmax", softmax_value, softmax_linearise },
};

const likelihood *likelihood_of(likelihood_type type) { return &table[type]; }
