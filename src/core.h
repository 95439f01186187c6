/* core.h: what every room of the core may know. Types only, no R.
 *
 * The core owns no memory: callers hand in outputs and work space, and a
 * workspace from which a driver takes what it cannot know the size of
 * beforehand. It reports through status codes and asks its caller, at every
 * tick, whether to go on. All matrices are column-major; sizes are size_t. */
#ifndef RVM_CORE_H
#define RVM_CORE_H

#include <stddef.h>

typedef enum {
    RVM_OK = 0,
    RVM_INTERRUPTED, /* the user asked to stop; nothing was left behind */
    RVM_SINGULAR,    /* a factorisation met non-finite numbers */
    RVM_NO_MEMORY    /* the workspace had no more to give */
} rvm_status;

/* What a driver says at each tick; a non-zero answer means "stop". */
typedef struct {
    int iteration;
    int active;
    double evidence;
    double sigma;
} rvm_progress;

typedef struct {
    int (*tick)(void *context, const rvm_progress *now);
    void *context;
} rvm_ticker;

/* Memory that belongs to the caller and lives as long as the call. */
typedef struct {
    void *(*take)(void *context, size_t bytes); /* NULL when there is none left */
    void *context;
} rvm_workspace;

static inline int rvm_tick(const rvm_ticker *ticker, const rvm_progress *now)
{
    return ticker && ticker->tick ? ticker->tick(ticker->context, now) : 0;
}

static inline size_t rvm_smaller(size_t a, size_t b) { return a < b ? a : b; }

static inline double *rvm_take_doubles(const rvm_workspace *work, size_t count)
{
    return (double *) work->take(work->context, (count ? count : 1) * sizeof(double));
}

static inline size_t *rvm_take_sizes(const rvm_workspace *work, size_t count)
{
    return (size_t *) work->take(work->context, (count ? count : 1) * sizeof(size_t));
}

#endif
