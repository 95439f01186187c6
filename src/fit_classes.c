/* fit_classes.c: the working-set algorithm where the likelihood is not quadratic: the
 * precisions are fitted to the quadratic model at the mode, the mode to the precisions, in
 * turn, until neither moves; then more columns are looked at. */
#include "fit.h"

#include <math.h>
#include <string.h>

#include "search.h"

enum { FIRST_LEVEL = 1024, ROUNDS = 30, GROWTH_ROUNDS = 2, CAREFUL_STEPS = 8 };

typedef struct {
    search s;
    laplace *l;
    int settled; /* the last converge() came to an end */
} classifier;

static rvm_status renew(void *context) { return search_renew(context); }

/* The mode, and with it the model that every gain refers to. */
static rvm_status find_mode(classifier *c)
{
    rvm_status status = laplace_mode(c->l, &c->s.model, c->s.member, renew, &c->s);
    c->s.shift = laplace_evidence(c->l, &c->s.model) - evidence_objective(&c->s.model);
    return status;
}

static int out_of_iterations(const search *s) { return s->result->iterations >= s->problem->maxit; }

/* Snapshots: of the last fit that was accepted, of the one proposed, of something in between, and of
 * the one a hop returns to. */
enum { ACCEPTED, PROPOSED, BETWEEN, HOME };

static const search_snapshot *find_column(const search_snapshot *of, size_t column, size_t *at)
{
    for (*at = 0; *at < of->count; ++*at)
        if (of->member[*at] == column) return of;
    return NULL;
}

/* A part of the way from one fit to another: in the logs of the ratios of columns that are in
 * both; those that come come with as much less variance, those that go keep the rest of theirs. */
static void blend(const search_snapshot *from, const search_snapshot *to, double share, search_snapshot *out)
{
    size_t at;
    out->count = 0;
    out->precision = to->precision;
    for (size_t k = 0; k < to->count; k++) {
        int both = find_column(from, to->member[k], &at) != NULL;
        out->member[out->count] = to->member[k];
        out->ratio[out->count++] = both ? from->ratio[at] * pow(to->ratio[k] / from->ratio[at], share) : to->ratio[k] / share;
    }
    for (size_t k = 0; k < from->count; k++)
        if (!find_column(to, from->member[k], &at)) {
            out->member[out->count] = from->member[k];
            out->ratio[out->count++] = from->ratio[k] / (1 - share);
        }
}

/* Goes to the mode of the present model, the proposed one, or where the Laplace evidence would fall (the
 * curvature changes with the mode, and the quadratic model knew only the old one), part of the
 * way there from the accepted one. moved: whether that brought anything. */
static rvm_status advance(classifier *c, double accepted, int *moved)
{
    search *s = &c->s;
    search_snapshot *snapshot = s->snapshot;
    const double slack = fmax(s->problem->tol, 0.05);
    search_save(s, snapshot + PROPOSED);
    rvm_status status = find_mode(c);
    *moved = 1;
    for (double share = 0.25; status == RVM_OK && !(laplace_evidence(c->l, &s->model) > accepted - slack); share *= 0.25) {
        *moved = share > 1e-3;
        blend(snapshot + ACCEPTED, snapshot + PROPOSED, share, snapshot + BETWEEN);
        if (!*moved || snapshot[BETWEEN].count + 64 > s->basis.capacity + (s->whole ? s->model.cols : 0)) {
            *moved = 0;
            status = search_restore(s, snapshot + ACCEPTED);
            if (status == RVM_OK) status = find_mode(c);
            break;
        }
        status = search_restore(s, snapshot + BETWEEN);
        if (status == RVM_OK) status = find_mode(c);
    }
    return status;
}

/* Mode and precisions of the working set in turn, until the precisions gain nothing more. */
static rvm_status converge(classifier *c)
{
    double tol = c->s.problem->tol;
    int moved = 1;
    rvm_status status = RVM_OK;
    c->settled = 0;
    for (int round = 0; round < ROUNDS && moved && !c->settled && status == RVM_OK && !out_of_iterations(&c->s); round++) {
        double accepted = laplace_evidence(c->l, &c->s.model), before = evidence_objective(&c->s.model);
        search_save(&c->s, c->s.snapshot + ACCEPTED);
        status = search_climb(&c->s, 0.1 * tol, EFFORT_POLISH);
        c->settled = evidence_objective(&c->s.model) - before < 0.01 * tol;
        if (status == RVM_OK) status = advance(c, accepted, &moved);
    }
    return status;
}

static double growth_tol(const search *s) { return fmax(s->problem->tol, 1e-4 * s->problem->noise.count); }

/* From nothing, at the latent values of no model. With wide kernels no column is worth much
 * without others: they then come in as if the data were more precise than they are. */
static rvm_status first_fit(search *s)
{
    const double nothing = evidence_objective(&s->model), little = 0.05 * s->problem->noise.count;
    rvm_status status = search_settle(s, s->problem->tol, EFFORT_MOVES);
    for (double precision = 10; precision < 1e5 && status == RVM_OK; precision *= 10) {
        if (evidence_objective(&s->model) > nothing + little) break;
        status = search_grow(s, precision, GROWTH_ROUNDS, growth_tol(s));
        evidence_refresh(&s->model);
        if (status == RVM_OK) status = search_settle(s, s->problem->tol, EFFORT_MOVES);
    }
    return status;
}

static size_t next_level(size_t level, size_t all) { return all > 2 * 16 * level ? 16 * level : all; }

/* To the mode of the first fit; or to that of no model, should it be worse than none. */
static rvm_status first_mode(classifier *c)
{
    const double nothing = c->l->value;
    rvm_status status = find_mode(c);
    if (status != RVM_OK || laplace_evidence(c->l, &c->s.model) > nothing) return status;
    search_clear(&c->s);
    return find_mode(c);
}

/* Looks at ever more columns; those that offer something are settled at the present mode. */
static rvm_status refine(classifier *c)
{
    search *s = &c->s;
    double tol = s->problem->tol, best = 0;
    size_t all = s->problem->dict->cols, level = all > 2 * FIRST_LEVEL ? FIRST_LEVEL : all;
    rvm_status status = first_mode(c);
    if (status == RVM_OK) status = converge(c);
    int careful = 0; /* steps since the quadratic model promised too much: then one column at a time */
    while (status == RVM_OK && !s->whole && !out_of_iterations(s)) {
        double before = laplace_evidence(c->l, &s->model);
        status = search_open(s, level, &best);
        if (status != RVM_OK) break;
        int useful = best > tol;
        if (useful) {
            int moved;
            search_save(s, s->snapshot + ACCEPTED);
            status = careful ? search_step(s, tol) : search_settle(s, tol, EFFORT_EXCHANGES);
            if (status == RVM_OK) status = advance(c, before, &moved);
            if (status == RVM_OK) status = converge(c);
        }
        int risen = useful && laplace_evidence(c->l, &s->model) > before + 0.1 * tol;
        if (careful || (useful && !risen)) careful++;
        if (careful > CAREFUL_STEPS) break;
        if (risen || (useful && careful == 1)) continue;
        if (level == all || (s->problem->start && s->problem->start->brief)) break;
        level = next_level(level, all);
    }
    return status;
}

/* From a converged fit: columns come in as if the data were more precise than they are, the mode
 * follows them, and what remains of them there is kept when its evidence is higher. */
static rvm_status hop(classifier *c, int *better)
{
    const double precision = 30, worth_it = 0.5;
    search *s = &c->s;
    double before = laplace_evidence(c->l, &s->model);
    search_save(s, s->snapshot + HOME);
    rvm_status status = search_grow(s, precision, GROWTH_ROUNDS, growth_tol(s));
    evidence_refresh(&s->model);
    if (status == RVM_OK) status = find_mode(c);
    if (status == RVM_OK) status = converge(c);
    *better = status == RVM_OK && c->settled && laplace_evidence(c->l, &s->model) > before + worth_it;
    if (status != RVM_OK || *better) return status;
    status = search_restore(s, s->snapshot + HOME);
    return status == RVM_OK ? find_mode(c) : status;
}

/* Where looking for better maxima is cheap: as long as it brings something. */
static rvm_status hops(classifier *c)
{
    int better = 1;
    rvm_status status = RVM_OK;
    while (better && status == RVM_OK && !out_of_iterations(&c->s)) status = hop(c, &better);
    return status;
}

rvm_status fit_classes(const fit_problem *problem, fit_result *result)
{
    classifier c = { .l = problem->laplace };
    rvm_status status = search_start(&c.s, problem, result);
    c.l->plain.store = c.s.dict.store;
    if (status == RVM_OK) status = problem->start ? search_resume(&c.s) : first_fit(&c.s);
    if (status == RVM_OK) status = refine(&c);
    if (status == RVM_OK && c.s.whole && !(problem->start && problem->start->brief)) status = hops(&c);
    if (status == RVM_OK && problem->price > 0) {
        c.s.model.now.price = problem->price;
        status = converge(&c);
    }
    c.l->plain.store = NULL; /* it ends here */
    if (status != RVM_OK) return status;
    result->precision = 1;
    result->converged = !out_of_iterations(&c.s);
    result->active = evidence_columns(&c.s.model, c.s.member, result->which, result->ratio);
    return RVM_OK;
}
