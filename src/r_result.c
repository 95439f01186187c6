#include "r_result.h"

#include <math.h>

const fit_start *result_start(SEXP list, double scale)
{
    if (Rf_isNull(list)) return NULL;
    SEXP active = glue_element(list, "active");
    double sigma = Rf_asReal(glue_element(list, "sigma")) / scale;
    size_t *which = (size_t *) R_alloc((size_t) XLENGTH(active) + 1, sizeof(size_t));
    for (R_xlen_t j = 0; j < XLENGTH(active); j++) which[j] = (size_t) INTEGER(active)[j] - 1;
    fit_start *start = (fit_start *) R_alloc(1, sizeof(fit_start));
    *start = (fit_start){ (size_t) XLENGTH(active), which, REAL(glue_element(list, "ratio")), 1 / (sigma * sigma),
                          Rf_asLogical(glue_element(list, "brief")) };
    return start;
}

fit_result result_new(size_t columns, int maxit)
{
    fit_result r = { 0 };
    r.which = (size_t *) R_alloc(columns + 1, sizeof(size_t));
    r.ratio = (double *) R_alloc(columns + 1, sizeof(double));
    r.trace = (fit_trace *) R_alloc((size_t) maxit + 1, sizeof(fit_trace));
    return r;
}

void result_sort(fit_result *r)
{
    for (size_t i = 1; i < r->active; i++)
        for (size_t j = i; j > 0 && r->which[j - 1] > r->which[j]; j--) {
            size_t w = r->which[j];
            double q = r->ratio[j];
            r->which[j] = r->which[j - 1], r->ratio[j] = r->ratio[j - 1];
            r->which[j - 1] = w, r->ratio[j - 1] = q;
        }
}

SEXP result_trace(const fit_result *r, double evidence_shift, double scale)
{
    const char *names[] = { "iteration", "evidence", "active", "sigma", "" };
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
    SEXP iteration = Rf_allocVector(INTSXP, r->iterations);
    SET_VECTOR_ELT(out, 0, iteration);
    SEXP evidence = Rf_allocVector(REALSXP, r->iterations);
    SET_VECTOR_ELT(out, 1, evidence);
    SEXP active = Rf_allocVector(INTSXP, r->iterations);
    SET_VECTOR_ELT(out, 2, active);
    SEXP sigma = Rf_allocVector(REALSXP, r->iterations);
    SET_VECTOR_ELT(out, 3, sigma);
    for (int i = 0; i < r->iterations; i++) {
        INTEGER(iteration)[i] = r->trace[i].iteration;
        REAL(evidence)[i] = r->trace[i].evidence + evidence_shift;
        INTEGER(active)[i] = r->trace[i].active;
        REAL(sigma)[i] = scale / sqrt(r->trace[i].precision);
    }
    UNPROTECT(1);
    return out;
}

double *result_doubles(SEXP list, int at, size_t count)
{
    SEXP v = Rf_allocVector(REALSXP, (R_xlen_t) count);
    SET_VECTOR_ELT(list, at, v);
    return REAL(v);
}

double *result_square(SEXP list, int at, size_t n)
{
    SEXP v = Rf_allocMatrix(REALSXP, (int) n, (int) n);
    SET_VECTOR_ELT(list, at, v);
    return REAL(v);
}
