#include "r_glue.h"

#include <math.h>
#include <string.h>

#include "evidence.h"
#include "posterior.h"
#include "predict.h"
#include "vector.h"

SEXP ffi_kernel_matrix(SEXP block, SEXP x, SEXP threads)
{
    SEXP blocks = PROTECT(Rf_allocVector(VECSXP, 1));
    SET_VECTOR_ELT(blocks, 0, block);
    dictionary d = glue_dictionary(x, blocks, NULL, Rf_asInteger(threads));
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int) d.rows, (int) d.cols));
    size_t *all = (size_t *) R_alloc(d.cols + 1, sizeof(size_t));
    for (size_t j = 0; j < d.cols; j++) all[j] = j;
    dictionary_columns(&d, d.cols, all, REAL(out), d.rows);
    UNPROTECT(2);
    return out;
}

SEXP ffi_kernel_gradient(SEXP block, SEXP x, SEXP upstream)
{
    SEXP blocks = PROTECT(Rf_allocVector(VECSXP, 1));
    SET_VECTOR_ELT(blocks, 0, block);
    dictionary d = glue_dictionary(x, blocks, NULL, 1);
    const dictionary_block *b = d.blocks;
    SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t) d.dims));
    memset(REAL(out), 0, d.dims * sizeof(double));
    double *slope = (double *) R_alloc(d.rows, sizeof(double));
    for (size_t i = 0; i < b->count; i++)
        kernel_width_gradient(&b->kernel, d.rows, d.dims, b->inputs, d.rows, b->centers + i * d.dims,
                              REAL(upstream) + i * d.rows, slope, REAL(out));
    UNPROTECT(2);
    return out;
}

SEXP ffi_predict(SEXP x, SEXP blocks, SEXP mean, SEXP factor, SEXP threads)
{
    const char *names[] = { "fit", "variance", "" };
    dictionary d = glue_dictionary(x, blocks, NULL, Rf_asInteger(threads));
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
    SEXP fit = Rf_allocVector(REALSXP, (R_xlen_t) d.rows);
    SET_VECTOR_ELT(out, 0, fit);
    double *variance = NULL, *work = (double *) R_alloc(predict_work(&d) + 1, sizeof(double));
    if (!Rf_isNull(factor)) {
        SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, (R_xlen_t) d.rows));
        variance = REAL(VECTOR_ELT(out, 1));
    }
    predict_latent(&d, REAL(mean), variance ? REAL(factor) : NULL, REAL(fit), variance, work);
    UNPROTECT(1);
    return out;
}

/* S and Q of every candidate for a given model, in the units of method papers
 * (S = beta S_i), with the posterior: what the tests compare with dense formulas. */
SEXP ffi_statistics(SEXP x, SEXP blocks, SEXP y, SEXP weights, SEXP active, SEXP alpha, SEXP sigma)
{
    size_t n = (size_t) Rf_nrows(x), m = (size_t) XLENGTH(active);
    double *scale = NULL, *target = (double *) R_alloc(n, sizeof(double)), count = 0, log_weights = 0;
    if (!Rf_isNull(weights)) scale = (double *) R_alloc(n, sizeof(double));
    for (size_t i = 0; i < n; i++) {
        double w = scale ? REAL(weights)[i] : 1;
        if (scale) scale[i] = sqrt(w);
        target[i] = REAL(y)[i] * sqrt(w);
        if (w > 0) count++, log_weights += log(w);
    }
    dictionary d = glue_dictionary(x, blocks, scale, 1);
    double beta = 1 / (Rf_asReal(sigma) * Rf_asReal(sigma));
    size_t *which = (size_t *) R_alloc(d.cols + 1, sizeof(size_t));
    double *coords = (double *) R_alloc(n * d.cols + 1, sizeof(double));
    for (size_t j = 0; j < d.cols; j++) which[j] = j;
    dictionary_columns(&d, d.cols, which, coords, n);

    const char *names[] = { "S", "Q", "mean", "covariance", "evidence", "" };
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
    SEXP S = Rf_allocVector(REALSXP, (R_xlen_t) d.cols);
    SET_VECTOR_ELT(out, 0, S);
    SEXP Q = Rf_allocVector(REALSXP, (R_xlen_t) d.cols);
    SET_VECTOR_ELT(out, 1, Q);
    SEXP mean = Rf_allocVector(REALSXP, (R_xlen_t) m);
    SET_VECTOR_ELT(out, 2, mean);
    SEXP covariance = Rf_allocMatrix(REALSXP, (int) m, (int) m);
    SET_VECTOR_ELT(out, 3, covariance);

    evidence_model model = { .rows = n, .cols = d.cols, .ld = n, .coords = coords, .target = target, .threads = 1 };
    model.now = (evidence_setting){ .count = count, .precision = beta, .precision_max = beta };
    model.ratio = (double *) R_alloc(d.cols + 1, sizeof(double));
    model.white = (double *) R_alloc(n * d.cols + 1, sizeof(double));
    model.white_target = (double *) R_alloc(n, sizeof(double));
    model.panel = (double *) R_alloc(n * PANEL, sizeof(double));
    model.S = REAL(S), model.Q = REAL(Q);
    model.size = (double *) R_alloc(d.cols + 1, sizeof(double));
    for (size_t j = 0; j < d.cols; j++) model.ratio[j] = INFINITY;
    for (size_t j = 0; j < m; j++) {
        which[j] = (size_t) INTEGER(active)[j] - 1;
        model.ratio[which[j]] = REAL(alpha)[j] / beta;
    }
    evidence_refresh(&model);
    for (size_t j = 0; j < d.cols; j++) REAL(S)[j] *= beta, REAL(Q)[j] *= beta;

    glue_pool pool;
    rvm_workspace work = glue_workspace(&pool);
    posterior p = { REAL(mean), (double *) R_alloc(m * m + 1, sizeof(double)), REAL(covariance), 0, 0, 0 };
    rvm_status status = posterior_gaussian(&d, target, count, m, which, REAL(alpha), beta, &work, &p);
    glue_release(&pool);
    glue_check(status);
    SET_VECTOR_ELT(out, 4, Rf_ScalarReal(p.evidence + 0.5 * log_weights));
    UNPROTECT(1);
    return out;
}

/* The best move of each candidate on its own and what it gains, the noise held. */
SEXP ffi_gains(SEXP S, SEXP Q, SEXP alpha, SEXP prior)
{
    const char *names[] = { "alpha", "gain", "" };
    const double *p = REAL(prior);
    R_xlen_t count = XLENGTH(S);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
    SEXP best = Rf_allocVector(REALSXP, count);
    SET_VECTOR_ELT(out, 0, best);
    SEXP gain = Rf_allocVector(REALSXP, count);
    SET_VECTOR_ELT(out, 1, gain);
    evidence_setting s = { .count = 1, .quadratic = 0, .precision = 1, .precision_max = 1 };
    s.prior = (hyperprior){ p[0], p[1], p[2], p[3] };
    for (R_xlen_t i = 0; i < count; i++) {
        evidence_move move = evidence_best_move(&s, REAL(S)[i], REAL(Q)[i], REAL(alpha)[i]);
        REAL(best)[i] = move.ratio;
        REAL(gain)[i] = move.gain;
    }
    UNPROTECT(1);
    return out;
}
