#include "r_glue.h"

#include <math.h>
#include <string.h>

#include "evidence.h"
#include "fit.h"
#include "gradient.h"
#include "likelihood.h"
#include "order.h"
#include "posterior.h"
#include "predict.h"
#include "r_result.h"
#include "vector.h"

/* The target in units of its own size, times the roots of the weights: the core
 * then works on numbers of order one, whatever the unit of y. The search sees it
 * rounded to ten digits of its spread, so that the rounding error of another unit of y cannot
 * lead it to another maximum. */
typedef struct {
    double *target, *rounded, *row_scale; /* row_scale NULL: no weights */
    double scale, count, log_weights;
    double variance, mean_square; /* of the scaled response */
} response;

static response read_response(SEXP y, SEXP weights)
{
    size_t n = (size_t) XLENGTH(y);
    response r = { 0 };
    r.target = (double *) R_alloc(n, sizeof(double));
    r.rounded = (double *) R_alloc(n, sizeof(double));
    const double *t = REAL(y), *w = Rf_isNull(weights) ? NULL : REAL(weights);
    if (w) r.row_scale = (double *) R_alloc(n, sizeof(double));
    double total = 0, mean = 0;
    for (size_t i = 0; i < n; i++) {
        double wi = w ? w[i] : 1;
        if (w) r.row_scale[i] = sqrt(wi);
        if (!(wi > 0)) continue;
        r.count++, total += wi, mean += wi * t[i];
        r.log_weights += log(wi);
    }
    mean /= total;
    double square = 0, spread = 0;
    for (size_t i = 0; i < n; i++) {
        double wi = w ? w[i] : 1;
        square += wi * t[i] * t[i] / total;
        spread += wi * (t[i] - mean) * (t[i] - mean) / total;
    }
    r.scale = square > 0 ? sqrt(square) : 1;
    r.variance = spread / (r.scale * r.scale) * total / r.count;
    r.mean_square = total / r.count;
    const double digits = 17179869184.0 / sqrt(fmax(r.variance, 1e-12)); /* 2^34 */
    for (size_t i = 0; i < n; i++) {
        double scaled = t[i] / r.scale, root = w ? r.row_scale[i] : 1;
        r.target[i] = scaled * root;
        r.rounded[i] = nearbyint(scaled * digits) / digits * root;
    }
    return r;
}

/* The noise sd is not taken below 1e-5 of the response's spread, nor below
 * the last digit of the response. */
static evidence_setting read_noise(const response *r, SEXP prior, double noise)
{
    const double *p = REAL(prior);
    double unit = r->scale * r->scale, least = 1e-10 * r->variance + 1e-30 * r->mean_square;
    evidence_setting s = { 0 };
    s.count = r->count;
    s.prior = (hyperprior){ p[0], p[1] / unit, p[2], p[3] / unit };
    s.noise_free = ISNAN(noise);
    s.precision_max = 1 / least;
    s.precision = s.noise_free ? 1 / fmax(r->variance, least) : unit / (noise * noise);
    if (!s.noise_free) s.precision_max = s.precision;
    return s;
}

SEXP ffi_fit(SEXP x, SEXP blocks, SEXP y, SEXP weights, SEXP prior, SEXP noise, SEXP control)
{
    response r = read_response(y, weights);
    dictionary d = glue_dictionary(x, blocks, r.row_scale, Rf_asInteger(glue_element(control, "threads")));
    double shift = 0.5 * r.log_weights - r.count * log(r.scale);
    glue_progress progress = { Rf_asLogical(glue_element(control, "progress")), 0, 0, shift, r.scale };
    size_t *order = (size_t *) R_alloc(d.cols + 1, sizeof(size_t)), explicit_count;
    order_columns(&d, order, &explicit_count, (double *) R_alloc(d.cols + 1, sizeof(double)));

    glue_pool pool;
    fit_problem problem = { &d, r.rounded, order, explicit_count, read_noise(&r, prior, Rf_asReal(noise)),
                            Rf_asReal(glue_element(control, "tol")), Rf_asInteger(glue_element(control, "maxit")),
                            Rf_asReal(glue_element(control, "memory")), glue_workspace(&pool), glue_ticker(&progress) };
    problem.start = result_start(glue_element(control, "start"), r.scale);
    problem.price = Rf_asReal(glue_element(control, "price"));
    fit_result result = result_new(d.cols, problem.maxit);
    rvm_status (*const driver[])(const fit_problem *, fit_result *) = { fit_fast, fit_mackay, fit_em };
    rvm_status status = driver[Rf_asInteger(glue_element(control, "method"))](&problem, &result);
    glue_release(&pool);
    glue_progress_end(&progress);
    glue_check(status);
    result_sort(&result);

    const char *names[] = { "active", "mean", "alpha", "covariance", "factor", "gamma", "sigma",
                            "evidence", "converged", "iterations", "trace", "fitted", "loglik", "held", "" };
    size_t m = result.active, n = d.rows;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
    SEXP active = Rf_allocVector(INTSXP, (R_xlen_t) m);
    SET_VECTOR_ELT(out, 0, active);
    double *mean = result_doubles(out, 1, m), *alpha = result_doubles(out, 2, m), *covariance = result_square(out, 3, m);
    double *factor = result_square(out, 4, m), *gamma = result_doubles(out, 5, m), *fitted = result_doubles(out, 11, n);
    for (size_t j = 0; j < m; j++) {
        INTEGER(active)[j] = (int) result.which[j] + 1;
        alpha[j] = result.ratio[j] * result.precision;
    }
    posterior p = { mean, factor, covariance, 0, 0, 0 };
    status = posterior_gaussian(&d, r.target, r.count, m, result.which, alpha, result.precision, &problem.work, &p);
    glue_release(&pool);
    glue_check(status);
    double s = r.scale, s2 = s * s;
    for (size_t j = 0; j < m; j++) {
        gamma[j] = fmin(1, fmax(0, 1 - alpha[j] * covariance[j + j * m]));
        alpha[j] /= s2;
        mean[j] *= s;
    }
    for (size_t j = 0; j < m * m; j++) covariance[j] *= s2, factor[j] *= s;

    d.row_scale = NULL;
    memset(fitted, 0, n * sizeof(double));
    double *column = (double *) R_alloc(n, sizeof(double));
    for (size_t j = 0; j < m; j++) {
        dictionary_columns(&d, 1, result.which + j, column, n);
        vector_add(n, mean[j], column, fitted);
    }
    double beta = result.precision / s2;
    SET_VECTOR_ELT(out, 6, Rf_ScalarReal(1 / sqrt(beta)));
    SET_VECTOR_ELT(out, 7, Rf_ScalarReal(p.evidence + shift));
    SET_VECTOR_ELT(out, 8, Rf_ScalarLogical(result.converged));
    SET_VECTOR_ELT(out, 9, Rf_ScalarInteger(result.iterations));
    SET_VECTOR_ELT(out, 10, result_trace(&result, shift, s));
    observations data = { n, 1, REAL(y), Rf_isNull(weights) ? NULL : REAL(weights), NULL };
    SET_VECTOR_ELT(out, 12, Rf_ScalarReal(likelihood_of(LIKELIHOOD_GAUSSIAN)->value(&data, fitted, beta)));
    SET_VECTOR_ELT(out, 13, Rf_ScalarLogical(result.held));
    UNPROTECT(1);
    return out;
}

/* The noise precision that is best for given ratios, and the log hyperprior there: shape log(alpha) - rate alpha. */
static double best_noise(const evidence_setting *s, double quadratic, size_t m, const double *ratio, double *log_prior)
{
    double shape = s->prior.noise_shape, rate = s->prior.noise_rate;
    for (size_t j = 0; j < m; j++) shape += s->prior.shape, rate += s->prior.rate * ratio[j];
    double beta = s->precision;
    if (s->noise_free) beta = fmin((s->count + 2 * shape) / (quadratic + 2 * rate), s->precision_max);
    *log_prior = shape * log(beta) - rate * beta;
    for (size_t j = 0; j < m; j++) *log_prior += s->prior.shape * log(ratio[j]);
    return beta;
}

/* Log evidence plus log hyperprior of the model of all these columns, with precisions ratio * beta and the best beta
 * for them, and its slopes in the logs of the ratios and of the widths (inputs x blocks). */
SEXP ffi_gradient(SEXP x, SEXP blocks, SEXP y, SEXP weights, SEXP prior, SEXP noise, SEXP ratio, SEXP threads)
{
    response r = read_response(y, weights);
    evidence_setting s = read_noise(&r, prior, Rf_asReal(noise));
    dictionary d = glue_dictionary(x, blocks, r.row_scale, Rf_asInteger(threads)), plain = d;
    plain.row_scale = NULL;
    size_t m = d.cols, n = d.rows, *which = (size_t *) R_alloc(m + 1, sizeof(size_t));
    for (size_t j = 0; j < m; j++) which[j] = j;

    const char *names[] = { "objective", "sigma", "log_alpha", "log_width", "" };
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
    double *log_alpha = result_doubles(out, 2, m), *log_width = result_doubles(out, 3, d.dims * d.block_count);
    double *alpha = (double *) R_alloc(m + 1, sizeof(double)), *latent = (double *) R_alloc(n, sizeof(double));
    double *t = (double *) R_alloc(n, sizeof(double));
    posterior p = { (double *) R_alloc(m + 1, sizeof(double)), (double *) R_alloc(m * m + 1, sizeof(double)),
                    (double *) R_alloc(m * m + 1, sizeof(double)), 0, 0, 0 };
    glue_pool pool;
    rvm_workspace work = glue_workspace(&pool);
    rvm_status status = posterior_gaussian(&d, r.target, r.count, m, which, REAL(ratio), 1, &work, &p);
    double log_prior, beta = best_noise(&s, p.quadratic, m, REAL(ratio), &log_prior);
    for (size_t j = 0; j < m; j++) alpha[j] = REAL(ratio)[j] * beta;
    for (size_t j = 0; j < m * m; j++) p.factor[j] /= sqrt(beta), p.covariance[j] /= beta;
    for (size_t i = 0; i < n; i++) t[i] = REAL(y)[i] / r.scale;
    predict_latent(&plain, p.mean, NULL, latent, NULL, (double *) R_alloc(predict_work(&plain) + 1, sizeof(double)));
    observations data = { n, 1, t, Rf_isNull(weights) ? NULL : REAL(weights), NULL };
    gradient_point at = { likelihood_of(LIKELIHOOD_GAUSSIAN), &data, beta, &plain, m, which, alpha, latent, &p };
    if (status == RVM_OK) status = gradient_evidence(&at, &work, log_alpha, log_width);
    glue_release(&pool);
    glue_check(status);
    for (size_t j = 0; j < m; j++) log_alpha[j] += s.prior.shape - s.prior.rate * alpha[j];
    double evidence = 0.5 * (r.count * log(beta / 6.283185307179586) - p.log_det - beta * p.quadratic);
    SET_VECTOR_ELT(out, 0, Rf_ScalarReal(evidence + log_prior + 0.5 * r.log_weights - r.count * log(r.scale)));
    SET_VECTOR_ELT(out, 1, Rf_ScalarReal(r.scale / sqrt(beta)));
    UNPROTECT(1);
    return out;
}
