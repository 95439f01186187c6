#include "likelihood.h"

#include <math.h>
#include <string.h>

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

static void gaussian_residual(const observations *d, const double *f, double precision, double *out)
{
    for (size_t n = 0; n < d->rows; n++) out[n] = precision * weight_of(d, n) * (d->t[n] - f[n]);
}

static void gaussian_curve(const observations *d, const double *f, double precision, double *v)
{
    (void) f;
    for (size_t n = 0; n < d->rows; n++) v[n] *= precision * weight_of(d, n);
}

static void gaussian_bend(const observations *d, const double *f, const double *S, double *out)
{
    (void) f, (void) S; /* B is constant */
    memset(out, 0, d->rows * sizeof(double));
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

/* 1 - p for t = 1, -p for 0, from exp(-|f|), without cancellation */
static double bernoulli_surprise(double t, double f)
{
    double margin = t > 0.5 ? f : -f;
    double surprise = margin > 0 ? exp(-margin) / (1 + exp(-margin)) : 1 / (1 + exp(margin));
    return t > 0.5 ? surprise : -surprise;
}

static double bernoulli_curvature(double f)
{
    double e = exp(-fabs(f));
    return e / ((1 + e) * (1 + e));
}

static void bernoulli_residual(const observations *d, const double *f, double precision, double *out)
{
    (void) precision;
    for (size_t n = 0; n < d->rows; n++) out[n] = weight_of(d, n) * bernoulli_surprise(d->t[n], f[n]);
}

static void bernoulli_curve(const observations *d, const double *f, double precision, double *v)
{
    (void) precision;
    for (size_t n = 0; n < d->rows; n++) v[n] *= weight_of(d, n) * bernoulli_curvature(f[n]);
}

/* db / df = b (1 - 2 p) = -b tanh(f / 2) */
static void bernoulli_bend(const observations *d, const double *f, const double *S, double *out)
{
    for (size_t n = 0; n < d->rows; n++)
        out[n] = 0.5 * weight_of(d, n) * bernoulli_curvature(f[n]) * tanh(0.5 * f[n]) * S[n];
}

/* b = p (1 - p) */
static void bernoulli_linearise(const observations *d, const double *f, double *root, double *target)
{
    for (size_t n = 0; n < d->rows; n++) {
        double half = exp(-0.5 * fabs(within(f[n], FAR))), w = sqrt(weight_of(d, n));
        double b_root = half / (1 + half * half);
        root[n] = w * b_root;
        target[n] = root[n] * (f[n] - offset_of(d, n)) + w * bernoulli_surprise(d->t[n], f[n]) / b_root;
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

static void softmax_residual(const observations *d, const double *f, double precision, double *out)
{
    (void) precision;
    for (size_t n = 0; n < d->rows; n++) {
        double all = log_sum(d, f, n);
        for (size_t k = 0; k < d->latents; k++) {
            size_t at = n + k * d->rows;
            out[at] = weight_of(d, n) * ((k == (size_t) d->t[n]) - exp(f[at] - all));
        }
    }
}

/* B v = y (v - y'v) */
static void softmax_curve(const observations *d, const double *f, double precision, double *v)
{
    (void) precision;
    for (size_t n = 0; n < d->rows; n++) {
        double all = log_sum(d, f, n), mean = 0;
        for (size_t k = 0; k < d->latents; k++) mean += exp(f[n + k * d->rows] - all) * v[n + k * d->rows];
        for (size_t k = 0; k < d->latents; k++) {
            size_t at = n + k * d->rows;
            v[at] = weight_of(d, n) * exp(f[at] - all) * (v[at] - mean);
        }
    }
}

/* tr(B S) = sum y_k S_kk - y'S y and dy_k / df_m = y_k ([k = m] - y_m), so that its slope in f_m is
 * y_m (S_mm - sum y_k S_kk - 2 (S y)_m + 2 y'S y). */
static void softmax_bend(const observations *d, const double *f, const double *S, double *out)
{
    size_t N = d->rows, L = d->latents;
    for (size_t n = 0; n < N; n++) {
        double all = log_sum(d, f, n), diagonal = 0, square = 0;
        for (size_t k = 0; k < L; k++) {
            double product = 0, y = exp(f[n + k * N] - all);
            for (size_t l = 0; l < L; l++) product += S[n + (k + l * L) * N] * exp(f[n + l * N] - all);
            out[n + k * N] = product;
            diagonal += y * S[n + (k + k * L) * N];
            square += y * product;
        }
        for (size_t k = 0; k < L; k++)
            out[n + k * N] = -0.5 * weight_of(d, n) * exp(f[n + k * N] - all) *
                             (S[n + (k + k * L) * N] - diagonal - 2 * out[n + k * N] + 2 * square);
    }
}

static const likelihood table[] = {
    { "gaussian", gaussian_value, gaussian_linearise, gaussian_residual, gaussian_curve, gaussian_bend },
    { "bernoulli", bernoulli_value, bernoulli_linearise, bernoulli_residual, bernoulli_curve, bernoulli_bend },
    { "softmax", softmax_value, softmax_linearise, softmax_residual, softmax_curve, softmax_bend },
};

const likelihood *likelihood_of(likelihood_type type) { return &table[type]; }
