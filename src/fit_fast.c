/* fit_fast.c: the working-set sequential algorithm, and how it keeps out of poor maxima. */
#include "fit.h"

#include <math.h>

#include "search.h"

/* The noise variance to begin with, as a share of the target's. */
static const double first_noise = 0.02;

/* What a hop divides the noise variance by, in turn; 0: a hop of the other kind. */
static const double hop_divisor[] = { 1000, 100, 30, 8, 3, 1.0 / 3, 0.1, 0, -1 };
enum { HOP_KINDS = sizeof hop_divisor / sizeof *hop_divisor, HOP_ROUNDS = 2 };

/* Rounds of growth at a noise that is held, so that structure is not mistaken for noise. */
static rvm_status grow(search *s, double precision, int rounds)
{
    double best = INFINITY, tol = s->problem->tol;
    search_hold_noise(s, precision);
    rvm_status status = search_climb(s, tol);
    for (int round = 0; round < rounds && best > tol && status == RVM_OK; round++) {
        status = search_tidy(s);
        if (status == RVM_OK) status = search_intake(s, &best);
        if (status == RVM_OK && best > tol) status = search_climb(s, tol);
    }
    search_free_noise(s);
    return status;
}

/* With wide kernels no column is worth much without others: where nothing takes off,
 * the noise is lowered further. */
static rvm_status take_off(search *s)
{
    rvm_status status = RVM_OK;
    for (double share = first_noise; share > 1e-7 && status == RVM_OK && s->model.active < 3; share /= 10)
        status = grow(s, s->problem->noise.precision / share, HOP_ROUNDS);
    return status;
}

/* Every column of the working set comes in: the way down from there ends elsewhere.
 * Either only the idle ones, with the typical precision of the others; or all alike,
 * with prior variances that together make up the target's. */
static void fill(search *s, int all_alike)
{
    evidence_model *m = &s->model;
    double typical = 0, size = 0;
    for (size_t j = 0; j < m->cols; j++) {
        if (isfinite(m->ratio[j])) typical += log(m->ratio[j]) / (double) m->active;
        size += m->size[j];
    }
    double ratio = all_alike ? size / m->now.count * s->problem->noise.precision / m->now.precision : exp(typical);
    for (size_t j = 0; j < m->cols; j++)
        if (all_alike || !isfinite(m->ratio[j])) m->ratio[j] = ratio;
    evidence_refresh(m);
}

/* As many well-determined weights as cases: the fit interpolates, and what it says of
 * its own uncertainty is worth nothing, however high its evidence. */
static int interpolates(const evidence_model *m)
{
    double well_determined = 0;
    for (size_t j = 0; j < m->cols; j++)
        if (isfinite(m->ratio[j])) well_determined += m->S[j] / m->ratio[j];
    return well_determined > 0.8 * m->now.count;
}

/* From a converged fit: the noise is lowered and held while the model grows, then
 * set free. What comes out is kept when its evidence is higher. */
static rvm_status hop(search *s, double divisor, int *better)
{
    search_save(s);
    rvm_status status = RVM_OK;
    if (divisor > 0)
        status = grow(s, s->model.now.precision * divisor, HOP_ROUNDS);
    else
        fill(s, divisor < 0);
    if (status == RVM_OK) status = search_settle(s, s->problem->tol);
    double value = interpolates(&s->model) ? -INFINITY : evidence_objective(&s->model);
    *better = value > s->saved_value + s->problem->tol;
    if (status == RVM_OK && value < s->saved_value) status = search_restore(s);
    return status;
}

/* Hops of every kind in turn, until none of them helps any more. */
static rvm_status hops(search *s)
{
    rvm_status status = RVM_OK;
    for (int failures = 0, kind = 0; failures < HOP_KINDS && status == RVM_OK;) {
        int better;
        status = hop(s, hop_divisor[kind], &better);
        failures = better ? 0 : failures + 1;
        if (!better) kind = (kind + 1) % HOP_KINDS;
        if (s->result->iterations >= s->problem->maxit) break;
    }
    return status;
}

/* All columns are looked at; the most promising ones are settled; until there are none. */
static rvm_status refine(search *s)
{
    double best = INFINITY;
    rvm_status status = RVM_OK;
    while (status == RVM_OK && s->result->iterations < s->problem->maxit) {
        status = search_open_all(s, &best);
        if (status != RVM_OK || !(best > s->problem->tol)) break;
        status = search_settle(s, s->problem->tol);
    }
    return status;
}

rvm_status fit_fast(const fit_problem *problem, fit_result *result)
{
    search s;
    rvm_status status = search_start(&s, problem, result);
    if (status == RVM_OK && problem->noise.noise_free) status = take_off(&s);
    if (status == RVM_OK) status = search_settle(&s, problem->tol);
    if (status == RVM_OK) status = hops(&s);
    if (status == RVM_OK && !s.sees_all) status = refine(&s);
    if (status != RVM_OK) return status;
    result->active = 0;
    result->precision = s.model.now.precision;
    result->converged = result->iterations < problem->maxit;
    for (size_t j = 0; j < s.model.cols; j++)
        if (isfinite(s.model.ratio[j])) {
            result->which[result->active] = s.member[j];
            result->ratio[result->active++] = s.model.ratio[j];
        }
    return RVM_OK;
}
