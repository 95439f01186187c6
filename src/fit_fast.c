/* fit_fast.c: the working-set sequential algorithm, and how it keeps out of poor maxima. */
#include "fit.h"

#include <math.h>

#include "search.h"

/* The noise variance to begin with, as a share of the target's. */
static double first_noise(const search *s) { return s->thorough ? 0.02 : 0.1; }

/* What a move must gain while the model grows. */
static double growth_tol(const search *s)
{
    return fmax(s->problem->tol, (s->thorough ? 1e-4 : 1e-3) * s->problem->noise.count);
}

/* What a hop divides the noise variance by, in turn; 0 and below: hops of other kinds. */
static const double hop_divisor[] = { 8, 30, 3, 100, 1000, 1.0 / 3, 0.1, 0, -1 };
enum { HOP_KINDS = sizeof hop_divisor / sizeof *hop_divisor, HOP_ROUNDS = 2, HOLD_FROM = 200, HOLD_STEPS = 6, FIRST_LEVEL = 1024 };

/* Determined weights as a share of the cases: from here a fit interpolates; and where one of so
 * many functions that does is brought back to. */
static const double INTERPOLATING = 0.8, SOBER = 0.5;

/* The weights that the data determine (the sum of gamma), as a share of the cases. */
static double share_determined(const evidence_model *m)
{
    double determined = 0;
    for (size_t j = 0; j < m->cols; j++)
        if (isfinite(m->ratio[j])) determined += m->S[j] / m->ratio[j];
    return determined / m->now.count;
}

/* Nearly as many determined weights as cases: the fit interpolates, and what it says of
 * its own uncertainty is worth nothing, however high its evidence. */
static int interpolates(const evidence_model *m) { return share_determined(m) > INTERPOLATING; }

/* A hop of a large model would cost more than the fit. */
static int can_hop(const search *s) { return !search_is_large(s) && s->result->iterations < s->problem->maxit; }

/* The first fit, from nothing. With wide kernels no column is worth much without
 * others: where nothing takes off, the noise is lowered further. */
static rvm_status first_fit(search *s)
{
    rvm_status status = RVM_OK;
    for (double share = first_noise(s); share > 1e-7 && status == RVM_OK && s->model.active < 3; share /= 10)
        status = search_grow(s, s->problem->noise.precision / share, HOP_ROUNDS, growth_tol(s));
    if (status == RVM_OK) status = search_settle(s, s->problem->tol, EFFORT_MOVES);
    if (status == RVM_OK && !search_is_large(s))
        status = search_settle(s, s->problem->tol, s->thorough ? EFFORT_POLISH : EFFORT_EXCHANGES);
    return status;
}

/* With narrow kernels every case can have a function of its own, and the evidence rises until
 * there is no noise left. A few dozen exact observations may be interpolated on purpose; where
 * hundreds are, the kernel is to blame: the noise is then held for good, at the level (by bisection
 * of its log, up to half the target's variance) at which half as many weights are determined. */
static rvm_status hold_back(search *s)
{
    const double most = s->problem->noise.precision / 0.5;
    double low = log(most), high = log(s->model.now.precision);
    rvm_status status = RVM_OK;
    for (int step = 0; step <= HOLD_STEPS && status == RVM_OK; step++) {
        double middle = step < HOLD_STEPS ? 0.5 * (low + high) : low;
        search_keep_noise(s, exp(middle));
        status = search_settle(s, s->problem->tol, step < HOLD_STEPS ? EFFORT_MOVES : EFFORT_EXCHANGES);
        *(share_determined(&s->model) > SOBER ? &high : &low) = middle;
    }
    s->result->held = 1;
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
        if (m->size[j] > 0 && (all_alike || !isfinite(m->ratio[j]))) m->ratio[j] = ratio;
    evidence_refresh(m);
}

/* From a converged fit: the noise is lowered and held while the model grows, then
 * set free. What comes out is kept when its evidence is higher. */
static rvm_status hop(search *s, double divisor, int *better)
{
    double least = s->problem->tol;
    rvm_status status = RVM_OK;
    search_snapshot *saved = s->snapshot;
    search_save(s, saved);
    if (divisor > 0)
        status = search_grow(s, s->model.now.precision * divisor, HOP_ROUNDS, growth_tol(s));
    else
        fill(s, divisor < 0);
    if (status == RVM_OK) status = search_settle(s, s->problem->tol, EFFORT_MOVES);
    if (status == RVM_OK && evidence_objective(&s->model) > saved->value - 1) {
        /* a large problem is polished once, at the end: a rise that may be lack of polish is none */
        status = search_climb(s, 0.1 * s->problem->tol, s->thorough ? EFFORT_POLISH : EFFORT_EXCHANGES);
        least = s->thorough ? s->problem->tol : fmax(s->problem->tol, 1e-4 * s->problem->noise.count);
    }
    double value = interpolates(&s->model) ? -INFINITY : evidence_objective(&s->model);
    *better = value > saved->value + least;
    if (status == RVM_OK && value < saved->value) status = search_restore(s, saved);
    return status;
}

/* Hops of every kind in turn, until none of them helps any more. Where the first kind
 * brings next to nothing and a thorough search is not called for, the others are not tried. */
static rvm_status hops(search *s)
{
    rvm_status status = RVM_OK;
    int kinds = s->thorough ? HOP_KINDS : 1;
    for (int failures = 0, kind = 0; failures < kinds && status == RVM_OK && can_hop(s);) {
        int better;
        status = hop(s, hop_divisor[kind], &better);
        failures = better ? 0 : failures + 1;
        if (better && evidence_objective(&s->model) > s->snapshot->value + 0.01 * s->problem->noise.count) kinds = HOP_KINDS;
        if (!better) kind = (kind + 1) % kinds;
    }
    return status;
}

/* Columns are looked at, the most promising ones settled, until there are none: first
 * among a sample, then among sixteen times as many, and so on to all of them. A large model
 * is left where a round brings little. */
static rvm_status refine(search *s)
{
    double tol = s->problem->tol, best = 0;
    size_t all = s->problem->dict->cols, first = s->thorough ? 16 * FIRST_LEVEL : FIRST_LEVEL;
    size_t level = all > 2 * first ? first : all;
    rvm_status status = RVM_OK;
    while (status == RVM_OK && s->result->iterations < s->problem->maxit) {
        double before = evidence_objective(&s->model);
        if (!s->polished && !search_is_large(s)) status = search_climb(s, 0.1 * tol, EFFORT_POLISH);
        if (status == RVM_OK) status = search_open(s, level, &best);
        if (status != RVM_OK) break;
        if (best > tol) {
            status = search_settle(s, tol, search_is_large(s) ? EFFORT_MOVES : EFFORT_POLISH);
            int much = evidence_objective(&s->model) > before + (s->thorough ? 0.005 : 0.03) * s->problem->noise.count;
            if (status == RVM_OK && much) status = hops(s);
            if (!much && s->polished && search_sees_all(s)) break;
        }
        int risen = evidence_objective(&s->model) > before + (search_is_large(s) ? 0.05 * s->problem->noise.count : 0.1 * tol);
        if (level == all && !(best > tol && risen)) break;
        if (!(best > tol && risen) && level < all) level = all > 2 * 16 * level ? 16 * level : all;
    }
    return status;
}

/* From the model of a fit at slightly other widths, and perhaps no further than to where that leads. */
static rvm_status resume(search *s)
{
    rvm_status status = search_resume(s);
    if (status == RVM_OK) status = search_settle(s, s->problem->tol, EFFORT_MOVES);
    if (status == RVM_OK && !search_is_large(s)) status = search_settle(s, s->problem->tol, EFFORT_EXCHANGES);
    return status;
}

static rvm_status begin(search *s)
{
    if (s->problem->start) return resume(s);
    return s->problem->noise.noise_free ? first_fit(s) : search_settle(s, s->problem->tol, EFFORT_POLISH);
}

rvm_status fit_fast(const fit_problem *problem, fit_result *result)
{
    search s;
    rvm_status status = search_start(&s, problem, result);
    int brief = problem->start && problem->start->brief;
    if (status == RVM_OK) status = begin(&s);
    if (status == RVM_OK && problem->noise.noise_free && s.model.active > HOLD_FROM && interpolates(&s.model))
        status = hold_back(&s);
    if (status == RVM_OK && !brief) status = hops(&s);
    if (status == RVM_OK && !brief && !s.whole) status = refine(&s);
    if (status == RVM_OK && !s.polished) status = search_climb(&s, 0.1 * problem->tol, EFFORT_POLISH);
    if (status == RVM_OK && problem->price > 0) {
        s.model.now.price = problem->price;
        status = search_climb(&s, 0.1 * problem->tol, EFFORT_POLISH);
    }
    if (status != RVM_OK) return status;
    result->precision = s.model.now.precision;
    result->converged = result->iterations < problem->maxit;
    result->active = evidence_columns(&s.model, s.member, result->which, result->ratio);
    return RVM_OK;
}
