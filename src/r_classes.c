/* r_classes.c: fits and figures for responses that are classes. */
#include "r_glue.h"

#include <math.h>
#include <string.h>

#include "fit.h"
#include "gradient.h"
#include "laplace.h"
#include "order.h"
#include "posterior.h"
#include "r_result.h"

/* Everything a call needs of the data: the dictionary of pairs, scaled at a point of the latent values. */
typedef struct {
    observations data;
    dictionary dict;
    laplace laplace;
    glue_pool pool;
    rvm_workspace work;
} class_model;

static double *codes(SEXP y)
{
    size_t n = (size_t) XLENGTH(y);
    double *t = (double *) R_alloc(n, sizeof(double));
    for (size_t i = 0; i < n; i++) t[i] = INTEGER(y)[i];
    return t;
}

static double *square_roots(SEXP weights)
{
    size_t n = (size_t) XLENGTH(weights);
    double *root = (double *) R_alloc(n, sizeof(double));
    for (size_t i = 0; i < n; i++) root[i] = sqrt(REAL(weights)[i]);
    return root;
}

/* One latent function: the curvature's roots are the row scale. Several: those of the weights are. */
static rvm_status start_model(class_model *c, SEXP x, SEXP blocks, SEXP y, SEXP weights, SEXP offset, SEXP latents,
                              int threads)
{
    size_t L = (size_t) Rf_asInteger(latents);
    c->data = (observations){ (size_t) Rf_nrows(x), L, codes(y), Rf_isNull(weights) ? NULL : REAL(weights),
                              Rf_isNull(offset) ? NULL : REAL(offset) };
    c->dict = glue_dictionary(x, blocks, NULL, threads);
    c->dict.latents = L;
    c->dict.rows *= L;
    c->dict.cols *= L;
    if (L > 1 && !Rf_isNull(weights)) c->dict.row_scale = square_roots(weights);
    c->work = glue_workspace(&c->pool);
    const likelihood *likelihood = likelihood_of(L > 1 ? LIKELIHOOD_SOFTMAX : LIKELIHOOD_BERNOULLI);
    rvm_status status = laplace_start(&c->laplace, likelihood, &c->data, &c->dict, &c->work);
    *(L > 1 ? &c->dict.class_root : &c->dict.row_scale) = c->laplace.root;
    return status;
}

static double log_posterior(class_model *c, size_t m, const size_t *which, const double *alpha, const double *mean,
                            double *loglik)
{
    double value = *loglik = laplace_latent(&c->laplace, m, which, mean);
    for (size_t j = 0; j < m; j++) value -= 0.5 * alpha[j] * mean[j] * mean[j];
    return value;
}

/* The posterior for given precisions: from a mode already found, a Newton step to make sure of it
 * (where it is one up), and the figures at where it leads. evidence: by Laplace's approximation. */
static rvm_status report_posterior(class_model *c, size_t m, const size_t *which, const double *alpha, posterior *p,
                                   double *loglik)
{
    double *mean = (double *) R_alloc(m + 1, sizeof(double));
    for (size_t j = 0; j < m; j++) mean[j] = c->laplace.weight[which[j]];
    double value = log_posterior(c, m, which, alpha, mean, loglik);
    for (int step = 0; step < 2; step++) {
        laplace_linearise(&c->laplace);
        rvm_status status =
            posterior_gaussian(&c->dict, c->laplace.target, (double) c->data.rows, m, which, alpha, 1, &c->work, p);
        if (status != RVM_OK) return status;
        double next = log_posterior(c, m, which, alpha, p->mean, loglik);
        if (next < value - 1e-9 * fabs(value)) {
            memcpy(p->mean, mean, m * sizeof(double));
            next = log_posterior(c, m, which, alpha, mean, loglik);
        }
        memcpy(mean, p->mean, m * sizeof(double));
        value = next;
    }
    p->evidence = value - 0.5 * p->log_det;
    return RVM_OK;
}

static size_t *pair_order(const dictionary *pairs, size_t *explicit_pairs)
{
    dictionary plain = dictionary_plain(pairs);
    size_t *order = (size_t *) R_alloc(plain.cols + 1, sizeof(size_t)), explicit_count;
    size_t *out = (size_t *) R_alloc(pairs->cols + 1, sizeof(size_t));
    order_columns(&plain, order, &explicit_count, (double *) R_alloc(plain.cols + 1, sizeof(double)));
    size_t L = pairs->cols / plain.cols;
    order_pairs(plain.cols, order, explicit_count, L, out);
    *explicit_pairs = explicit_count * L;
    return out;
}

SEXP ffi_fit_classes(SEXP x, SEXP blocks, SEXP y, SEXP weights, SEXP offset, SEXP latents, SEXP prior, SEXP control)
{
    class_model c;
    rvm_status status = start_model(&c, x, blocks, y, weights, offset, latents, Rf_asInteger(glue_element(control, "threads")));
    glue_progress progress = { Rf_asLogical(glue_element(control, "progress")), 0, 0, 0, NAN };
    size_t explicit_pairs, *order = pair_order(&c.dict, &explicit_pairs);
    const double *h = REAL(prior);
    evidence_setting unit_noise = { .count = (double) c.data.rows, .precision = 1, .precision_max = 1,
                                    .prior = { h[0], h[1], 0, 0 } };
    fit_problem problem = { &c.dict, c.laplace.target, order, explicit_pairs, unit_noise,
                            Rf_asReal(glue_element(control, "tol")), Rf_asInteger(glue_element(control, "maxit")),
                            Rf_asReal(glue_element(control, "memory")), c.work, glue_ticker(&progress),
                            c.data.latents > 1 && Rf_asLogical(glue_element(control, "shared")), &c.laplace };
    problem.start = result_start(glue_element(control, "start"), 1);
    problem.price = Rf_asReal(glue_element(control, "price"));
    fit_result result = result_new(c.dict.cols, problem.maxit);
    rvm_status (*const driver[])(const fit_problem *, fit_result *) = { problem.shared ? fit_shared : fit_classes,
                                                                             fit_mackay, fit_em };
    if (status == RVM_OK) status = driver[Rf_asInteger(glue_element(control, "method"))](&problem, &result);
    glue_progress_end(&progress);
    if (status != RVM_OK) glue_release(&c.pool);
    glue_check(status);
    result_sort(&result);

    const char *names[] = { "active", "mean", "alpha", "covariance", "factor", "gamma", "evidence",
                            "converged", "iterations", "trace", "fitted", "loglik", "" };
    size_t m = result.active, count = c.data.rows * c.data.latents;
    double *latent = (double *) R_alloc(count + 1, sizeof(double)), loglik = 0;
    posterior p = { (double *) R_alloc(m + 1, sizeof(double)), (double *) R_alloc(m * m + 1, sizeof(double)),
                    (double *) R_alloc(m * m + 1, sizeof(double)), 0, 0, 0 };
    status = report_posterior(&c, m, result.which, result.ratio, &p, &loglik);
    if (status == RVM_OK) memcpy(latent, c.laplace.latent, count * sizeof(double));
    glue_release(&c.pool);
    glue_check(status);

    SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
    SEXP active = Rf_allocVector(INTSXP, (R_xlen_t) m);
    SET_VECTOR_ELT(out, 0, active);
    double *mean = result_doubles(out, 1, m), *alpha = result_doubles(out, 2, m), *covariance = result_square(out, 3, m);
    double *factor = result_square(out, 4, m), *gamma = result_doubles(out, 5, m);
    memcpy(mean, p.mean, m * sizeof(double));
    memcpy(covariance, p.covariance, m * m * sizeof(double));
    memcpy(factor, p.factor, m * m * sizeof(double));
    for (size_t j = 0; j < m; j++) {
        INTEGER(active)[j] = (int) result.which[j] + 1;
        alpha[j] = result.ratio[j];
        gamma[j] = fmin(1, fmax(0, 1 - alpha[j] * covariance[j + j * m]));
    }
    SET_VECTOR_ELT(out, 6, Rf_ScalarReal(p.evidence));
    SET_VECTOR_ELT(out, 7, Rf_ScalarLogical(result.converged));
    SET_VECTOR_ELT(out, 8, Rf_ScalarInteger(result.iterations));
    SET_VECTOR_ELT(out, 9, result_trace(&result, 0, NA_REAL));
    SET_VECTOR_ELT(out, 10, Rf_allocMatrix(REALSXP, (int) c.data.rows, (int) c.data.latents));
    double *fitted = REAL(VECTOR_ELT(out, 10));
    for (size_t i = 0; i < count; i++) fitted[i] = latent[i] - (c.data.offset ? c.data.offset[i] : 0);
    SET_VECTOR_ELT(out, 11, Rf_ScalarReal(loglik));
    UNPROTECT(1);
    return out;
}

/* A model of given columns at once, without a search. */
typedef struct {
    class_model *c;
    evidence_model model;
    double *coords;
    const size_t *member;
} whole_model;

static rvm_status renew(void *context)
{
    whole_model *w = context;
    dictionary_columns(&w->c->dict, w->model.cols, w->member, w->coords, w->model.rows);
    evidence_refresh(&w->model);
    return RVM_OK;
}

static whole_model start_whole(class_model *c, size_t cols, const size_t *member, const double *ratio, double *S,
                               double *Q)
{
    size_t rows = c->dict.rows;
    whole_model w = { .c = c };
    w.coords = (double *) R_alloc(rows * cols + 1, sizeof(double));
    w.member = member;
    w.model = (evidence_model){ .rows = rows, .cols = cols, .ld = rows, .coords = w.coords, .target = c->laplace.target,
                                .threads = 1, .S = S, .Q = Q };
    w.model.now = (evidence_setting){ .count = (double) c->data.rows, .precision = 1, .precision_max = 1 };
    w.model.ratio = (double *) R_alloc(cols + 1, sizeof(double));
    w.model.white = (double *) R_alloc(rows * cols + 1, sizeof(double));
    w.model.white_target = (double *) R_alloc(rows, sizeof(double));
    w.model.panel = (double *) R_alloc(rows * PANEL, sizeof(double));
    w.model.size = (double *) R_alloc(cols + 1, sizeof(double));
    memcpy(w.model.ratio, ratio, cols * sizeof(double));
    return w;
}

/* |gradient| of the log posterior at the reported mean: for an active column Q = phi'(t - y) there. */
static double largest_gradient(const whole_model *w, const double *weight)
{
    double largest = 0;
    for (size_t j = 0; j < w->model.cols; j++)
        if (isfinite(w->model.ratio[j])) largest = fmax(largest, fabs(w->model.Q[j] - w->model.ratio[j] * weight[j]));
    return largest;
}

/* S and Q of every pair at the mode for given precisions: what the tests compare with dense formulas. */
SEXP ffi_class_statistics(SEXP x, SEXP blocks, SEXP y, SEXP weights, SEXP offset, SEXP latents, SEXP active, SEXP alpha)
{
    class_model c;
    rvm_status status = start_model(&c, x, blocks, y, weights, offset, latents, 1);
    const char *names[] = { "S", "Q", "mean", "covariance", "evidence", "gradient", "" };
    size_t m = (size_t) XLENGTH(active), *which = (size_t *) R_alloc(m + 1, sizeof(size_t));
    for (size_t j = 0; j < m; j++) which[j] = (size_t) INTEGER(active)[j] - 1;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
    double *S = result_doubles(out, 0, c.dict.cols), *Q = result_doubles(out, 1, c.dict.cols);
    double *mean = result_doubles(out, 2, m), *covariance = result_square(out, 3, m), loglik;
    size_t *all = (size_t *) R_alloc(c.dict.cols + 1, sizeof(size_t));
    double *ratio = (double *) R_alloc(c.dict.cols + 1, sizeof(double));
    for (size_t j = 0; j < c.dict.cols; j++) all[j] = j, ratio[j] = INFINITY;
    for (size_t j = 0; j < m; j++) ratio[which[j]] = REAL(alpha)[j];
    whole_model w = start_whole(&c, c.dict.cols, all, ratio, S, Q);
    posterior p = { mean, (double *) R_alloc(m * m + 1, sizeof(double)), covariance, 0, 0, 0 };
    if (status == RVM_OK) status = renew(&w);
    if (status == RVM_OK) status = laplace_mode(&c.laplace, &w.model, w.member, renew, &w);
    if (status == RVM_OK) status = report_posterior(&c, m, which, REAL(alpha), &p, &loglik);
    if (status == RVM_OK) {
        laplace_linearise(&c.laplace);
        status = renew(&w);
        memset(c.laplace.weight, 0, c.dict.cols * sizeof(double));
        for (size_t j = 0; j < m; j++) c.laplace.weight[which[j]] = mean[j];
        SET_VECTOR_ELT(out, 5, Rf_ScalarReal(largest_gradient(&w, c.laplace.weight)));
    }
    glue_release(&c.pool);
    glue_check(status);
    SET_VECTOR_ELT(out, 4, Rf_ScalarReal(p.evidence));
    UNPROTECT(1);
    return out;
}

/* As ffi_gradient() is for a numeric response, for the pairs `active` of these basis functions. */
SEXP ffi_class_gradient(SEXP x, SEXP blocks, SEXP y, SEXP weights, SEXP offset, SEXP latents, SEXP prior, SEXP active,
                        SEXP alpha, SEXP threads)
{
    class_model c;
    rvm_status status = start_model(&c, x, blocks, y, weights, offset, latents, Rf_asInteger(threads));
    size_t m = (size_t) XLENGTH(active), *which = (size_t *) R_alloc(m + 1, sizeof(size_t));
    for (size_t j = 0; j < m; j++) which[j] = (size_t) INTEGER(active)[j] - 1;
    const char *names[] = { "objective", "sigma", "log_alpha", "log_width", "" };
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
    double *log_alpha = result_doubles(out, 2, m), *log_width = result_doubles(out, 3, c.dict.dims * c.dict.block_count);
    double *S = (double *) R_alloc(m + 1, sizeof(double)), *Q = (double *) R_alloc(m + 1, sizeof(double)), loglik;
    posterior p = { (double *) R_alloc(m + 1, sizeof(double)), (double *) R_alloc(m * m + 1, sizeof(double)),
                    (double *) R_alloc(m * m + 1, sizeof(double)), 0, 0, 0 };
    whole_model w = start_whole(&c, m, which, REAL(alpha), S, Q);
    if (status == RVM_OK) status = renew(&w);
    if (status == RVM_OK) status = laplace_mode(&c.laplace, &w.model, w.member, renew, &w);
    if (status == RVM_OK) status = report_posterior(&c, m, which, REAL(alpha), &p, &loglik);
    gradient_point at = { c.laplace.likelihood, &c.data, 1, &c.laplace.plain, m, which, REAL(alpha), c.laplace.latent, &p };
    if (status == RVM_OK) status = gradient_evidence(&at, &c.work, log_alpha, log_width);
    glue_release(&c.pool);
    glue_check(status);
    double value = p.evidence, shape = REAL(prior)[0], rate = REAL(prior)[1];
    for (size_t j = 0; j < m; j++) {
        value += shape * log(REAL(alpha)[j]) - rate * REAL(alpha)[j];
        log_alpha[j] += shape - rate * REAL(alpha)[j];
    }
    SET_VECTOR_ELT(out, 0, Rf_ScalarReal(value));
    SET_VECTOR_ELT(out, 1, Rf_ScalarReal(NA_REAL));
    UNPROTECT(1);
    return out;
}
