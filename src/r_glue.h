/* r_glue.h: shared by the files that know R: lists, memory, ticks, conditions. */
#ifndef RVM_R_GLUE_H
#define RVM_R_GLUE_H

#define R_NO_REMAP
#define STRICT_R_HEADERS
#include <R.h>
#include <Rinternals.h>

#include "core.h"
#include "dictionary.h"

SEXP glue_element(SEXP list, const char *name);

/* Work space of the core: taken from the system and given back as soon as the core
 * returns, so that R's garbage collector never sees it. The core returns also when
 * it is interrupted, and nothing in between may jump: release before glue_check(). */
typedef struct glue_pool {
    struct glue_chunk *last;
} glue_pool;
rvm_workspace glue_workspace(glue_pool *pool);
void glue_release(glue_pool *pool);

/* Asks R whether the user wants to stop; shows a progress line when asked to. */
typedef struct {
    int show;
    double started, shown;
    double evidence_shift, sigma_scale; /* from the core's units to the user's */
} glue_progress;
rvm_ticker glue_ticker(glue_progress *progress);
void glue_progress_end(glue_progress *progress);

/* Turns a status into an R error of class rvm_error; returns when it is RVM_OK. */
void glue_check(rvm_status status);

/* Blocks as R gives them, at the rows of x; row_scale NULL or one value a row. */
dictionary glue_dictionary(SEXP x, SEXP blocks, const double *row_scale, int threads);

#endif
