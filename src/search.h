/* search.h: the working set: which columns are looked at closely, how others
 * join it, how it is made smaller.
 *
 * Everything a climb needs is inside the working set and does not depend on the
 * number of rows; intake() is the only place that looks at all candidates. */
#ifndef RVM_SEARCH_H
#define RVM_SEARCH_H

#include "basis.h"
#include "evidence.h"
#include "fit.h"

/* A model to return to: its columns and their ratios. */
typedef struct {
    size_t count, *member;
    double *ratio, precision, value;
} search_snapshot;

enum { SNAPSHOTS = 4 };

typedef struct {
    const fit_problem *problem;
    fit_result *result;
    rvm_progress now;
    dictionary dict; /* the problem's, with a store where columns are kept */
    dictionary_store store;
    basis basis;
    evidence_setting noise; /* the problem's, until the driver keeps it elsewhere */
    evidence_model model; /* its coords are the working columns' */
    double *coords;       /* capacity x capacity */
    size_t *member;       /* working column -> dictionary column */
    unsigned char *is_member; /* per dictionary column */
    search_snapshot snapshot[SNAPSHOTS]; /* the driver's, as it likes */
    double *root, *work, *columns, *scratch, *gains;
    size_t *picked, *chosen;
    size_t *partner, *slots; /* exchanges: see judge_candidates(), pick_best() */
    exchange_partner *partners;
    double *partner_white;
    unsigned char *entered;
    double shift; /* from the model's objective to the evidence that is shown */
    int thorough; /* poor maxima are likely (many dimensions) or looking for better ones is cheap */
    int polished; /* the last climb went to the very maximum */
    int whole;    /* the working set is the whole dictionary: nothing to take in */
} search;

rvm_status search_start(search *s, const fit_problem *problem, fit_result *result);

/* Looks at the first `count` columns of problem->order, and makes them, or if they are
 * many the most promising ones, the candidates. best: the largest gain any of them offers. cost: a pass over
 * those columns with as many products as the working set has columns. */
rvm_status search_open(search *s, size_t count, double *best);

/* Takes the most promising candidates into the working set: such as would raise the
 * evidence by coming in or, with exchanges set, by replacing a column of the model.
 * best: the largest gain that any candidate offered. cost: a pass over the candidates. */
rvm_status search_intake(search *s, int exchanges, double *best);

/* Whether the model has so many columns that polish and hops have to be rare. */
int search_is_large(const search *s);

/* Whether every column is a candidate, so that a settled search needs no further look. */
int search_sees_all(const search *s);

/* Climbs, and notes the result in the trace. */
rvm_status search_climb(search *s, double tol, evidence_effort effort);

/* Intake, and the one best move. */
rvm_status search_step(search *s, double tol);

/* Intake and climb until no candidate offers more than tol. */
rvm_status search_settle(search *s, double tol, evidence_effort effort);

/* Rounds of intake and climb at a noise that is held, so that structure is not mistaken for noise. */
rvm_status search_grow(search *s, double precision, int rounds, double tol);

/* Drops the idle columns from the working set. cost: 2 (rows + candidates) cols active. */
rvm_status search_tidy(search *s);

/* After the row scale or the target has changed: everything made anew for the columns of
 * the model; there are no candidates until search_open(). cost: 8 rows active^2. */
rvm_status search_renew(search *s);

/* All columns out of the model. */
void search_clear(search *s);

/* The model of problem->start. */
rvm_status search_resume(search *s);

void search_save(const search *s, search_snapshot *out);
rvm_status search_restore(search *s, const search_snapshot *from);

/* The noise held at a value of the driver's choice, for a while or for good; back to what
 * the problem says, or the driver for good. */
void search_hold_noise(search *s, double precision);
void search_keep_noise(search *s, double precision);
void search_free_noise(search *s);

#endif
