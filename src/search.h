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

typedef struct {
    const fit_problem *problem;
    fit_result *result;
    rvm_progress now;
    basis basis;
    evidence_model model; /* its coords are the working columns' */
    double *coords;       /* capacity x capacity */
    size_t *member;       /* working column -> dictionary column */
    unsigned char *is_member; /* per dictionary column */
    size_t saved_count, *saved_member; /* a model to return to */
    double *saved, saved_precision, saved_value;
    double *root, *work, *columns, *scratch, *gains;
    size_t *picked, *chosen;
    unsigned char *entered;
    size_t batch; /* columns taken in at once, at most */
    int whole;    /* the working set is the whole dictionary: nothing to take in */
    int sees_all; /* the candidates are the whole dictionary */
} search;

rvm_status search_start(search *s, const fit_problem *problem, fit_result *result);

/* Looks at every column of the dictionary, and makes the most promising ones the
 * candidates. best: the largest gain any of them offers. cost: a pass over the dictionary
 * with as many products as the working set has columns. */
rvm_status search_open_all(search *s, double *best);

/* Takes the most promising candidates into the working set. best: the largest gain
 * that any candidate outside offered. cost: a pass over the candidates. */
rvm_status search_intake(search *s, double *best);

/* Climbs, and notes the result in the trace. */
rvm_status search_climb(search *s, double tol);

/* Intake and climb until no candidate offers more than tol. */
rvm_status search_settle(search *s, double tol);

/* Drops idle columns from the working set when they are many. */
rvm_status search_tidy(search *s);

void search_save(search *s);
rvm_status search_restore(search *s);

/* The noise held at a value of the driver's choice; back to what the problem says. */
void search_hold_noise(search *s, double precision);
void search_free_noise(search *s);

#endif
