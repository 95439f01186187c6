#include "r_glue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

SEXP glue_element(SEXP list, const char *name)
{
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(names); i++)
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
    return R_NilValue;
}

struct glue_chunk {
    struct glue_chunk *before;
    double padding; /* what follows is aligned for any type */
};

static void *take(void *context, size_t bytes)
{
    glue_pool *pool = context;
    struct glue_chunk *chunk = malloc(sizeof(struct glue_chunk) + bytes);
    if (!chunk) return NULL;
    chunk->before = pool->last;
    pool->last = chunk;
    return chunk + 1;
}

rvm_workspace glue_workspace(glue_pool *pool)
{
    pool->last = NULL;
    return (rvm_workspace){ take, pool };
}

void glue_release(glue_pool *pool)
{
    while (pool->last) {
        struct glue_chunk *chunk = pool->last;
        pool->last = chunk->before;
        free(chunk);
    }
}

static void check_interrupt(void *unused)
{
    (void) unused;
    R_CheckUserInterrupt();
}

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static int tick(void *context, const rvm_progress *now)
{
    glue_progress *progress = context;
    double time = seconds();
    if (time - progress->shown < 0.1) return 0;
    progress->shown = time;
    if (!R_ToplevelExec(check_interrupt, NULL)) return 1;
    if (progress->show && time - progress->started > 2) {
        progress->show = 2;
        REprintf("\r rvm: iteration %d, %d active, log evidence %.1f, noise sd %.3g, %.0f s   ", now->iteration,
                 now->active, now->evidence + progress->evidence_shift, now->sigma * progress->sigma_scale,
                 time - progress->started);
    }
    return 0;
}

rvm_ticker glue_ticker(glue_progress *progress)
{
    progress->started = progress->shown = seconds();
    return (rvm_ticker){ tick, progress };
}

void glue_progress_end(glue_progress *progress)
{
    if (progress->show == 2) REprintf("\n");
}

void glue_check(rvm_status status)
{
    const char *message = NULL;
    switch (status) {
    case RVM_OK: return;
    case RVM_INTERRUPTED: message = "interrupted by the user"; break;
    case RVM_SINGULAR: message = "a matrix factorisation met non-finite numbers: are the inputs of a sane size?"; break;
    case RVM_NO_MEMORY: message = "not enough memory: raise rvm_control(memory = ) or give fewer `centers`"; break;
    }
    Rf_error("%s", message);
}

/* Points divided by the widths, as the kernels want them: inputs as they come, a
 * centre contiguous. */
static double *divided(SEXP points, SEXP width, int contiguous)
{
    size_t count = (size_t) Rf_nrows(points), dims = (size_t) Rf_ncols(points);
    double *out = (double *) R_alloc(count * dims + 1, sizeof(double));
    for (size_t k = 0; k < dims; k++) {
        double w = XLENGTH(width) ? REAL(width)[k] : 1;
        for (size_t i = 0; i < count; i++)
            out[contiguous ? k + i * dims : i + k * count] = REAL(points)[i + k * count] / w;
    }
    return out;
}

static kernel read_kernel(SEXP block)
{
    SEXP parameters = glue_element(block, "parameters");
    kernel k = { (kernel_type) Rf_asInteger(glue_element(block, "type")), 1, 1, 0 };
    const double *p = REAL(parameters);
    if (k.type == KERNEL_POLYNOMIAL) k.degree = p[0], k.scale = p[1], k.offset = p[2];
    if (k.type == KERNEL_SIGMOID) k.scale = p[0], k.offset = p[1];
    return k;
}

dictionary glue_dictionary(SEXP x, SEXP blocks, const double *row_scale, int threads)
{
    size_t count = (size_t) XLENGTH(blocks), first = 0;
    dictionary_block *out = (dictionary_block *) R_alloc(count + 1, sizeof(dictionary_block));
    for (size_t i = 0; i < count; i++) {
        SEXP block = VECTOR_ELT(blocks, (R_xlen_t) i), width = glue_element(block, "width");
        dictionary_block b = { read_kernel(block), first, 0, NULL, NULL, NULL };
        if (b.kernel.type == KERNEL_NONE) {
            SEXP columns = glue_element(block, "columns");
            b.columns = REAL(columns);
            b.count = (size_t) Rf_ncols(columns);
        } else {
            SEXP centers = glue_element(block, "centers");
            b.inputs = divided(x, width, 0);
            b.centers = divided(centers, width, 1);
            b.count = (size_t) Rf_nrows(centers);
        }
        first += b.count;
        out[i] = b;
    }
    if (threads < 1) threads = 1;
    return (dictionary){ .rows = (size_t) Rf_nrows(x), .dims = (size_t) Rf_ncols(x), .cols = first, .block_count = count,
                         .blocks = out, .row_scale = row_scale, .threads = threads };
}
