#include "dictionary.h"

#include <string.h>

#include "vector.h"

/* A tile of 256 rows x 8 columns of doubles is 16 KB: half a first-level cache. */
enum { TILE_ROWS = 256, TILE_COLS = 8 };

static const dictionary_block *block_of(const dictionary *d, size_t which)
{
    const dictionary_block *b = d->blocks;
    while (which >= b->first + b->count) b++;
    return b;
}

double dictionary_store_bytes(const dictionary *d)
{
    const double cached = 64e6; /* about what the last-level cache of a machine holds, or a bit more */
    const size_t costly = 16;   /* inputs, from where on making a value takes longer than reading it */
    double bytes = 8.0 * (double) d->rows * (double) d->cols;
    return bytes <= cached || d->dims > costly ? bytes : 0;
}

void dictionary_run(const dictionary *d, size_t which, size_t row0, size_t rows, double *out)
{
    if (d->store && d->store->known[which]) {
        memcpy(out, d->store->values + row0 + which * d->rows, rows * sizeof(double));
        return;
    }
    const dictionary_block *b = block_of(d, which);
    size_t local = which - b->first;
    if (b->kernel.type == KERNEL_NONE)
        memcpy(out, b->columns + row0 + local * d->rows, rows * sizeof(double));
    else
        kernel_values(&b->kernel, rows, d->dims, b->inputs + row0, d->rows, b->centers + local * d->dims, out);
    if (d->row_scale)
        for (size_t n = 0; n < rows; n++) out[n] *= d->row_scale[row0 + n];
    if (d->store) memcpy(d->store->values + row0 + which * d->rows, out, rows * sizeof(double));
}

void dictionary_columns(const dictionary *d, size_t count, const size_t *which, double *out, size_t ld)
{
#pragma omp parallel for schedule(static) num_threads(d->threads) if (d->threads > 1 && count * d->rows > 2000000)
    for (size_t j = 0; j < count; j++)
        for (size_t row0 = 0; row0 < d->rows; row0 += TILE_ROWS) {
            size_t rows = d->rows - row0 < TILE_ROWS ? d->rows - row0 : TILE_ROWS;
            dictionary_run(d, which[j], row0, rows, out + row0 + j * ld);
        }
}

/* A group of up to TILE_COLS columns against all of V, row tile by row tile. */
static void project_group(const dictionary *d, size_t start, size_t group, const size_t *which, size_t width,
                          const double *V, size_t ldv, double *products, size_t ldp, double *squares)
{
    double tile[TILE_ROWS * TILE_COLS];
    for (size_t k = 0; k < width; k++) memset(products + start + k * ldp, 0, group * sizeof(double));
    if (squares) memset(squares + start, 0, group * sizeof(double));
    for (size_t row0 = 0; row0 < d->rows; row0 += TILE_ROWS) {
        size_t rows = d->rows - row0 < TILE_ROWS ? d->rows - row0 : TILE_ROWS;
        for (size_t j = 0; j < group; j++) {
            double *run = tile + j * TILE_ROWS;
            dictionary_run(d, which ? which[start + j] : start + j, row0, rows, run);
            if (squares) squares[start + j] += vector_dot(rows, run, run);
        }
        vector_products(rows, group, tile, TILE_ROWS, width, V + row0, ldv, products + start, ldp);
    }
    for (size_t j = 0; d->store && j < group; j++) d->store->known[which ? which[start + j] : start + j] = 1;
}

rvm_status dictionary_project(const dictionary *d, size_t count, const size_t *which, size_t width, const double *V,
                              size_t ldv, double *products, size_t ldp, double *squares, const rvm_ticker *ticker,
                              const rvm_progress *now)
{
    /* A stretch of columns between two ticks: some 1e8 kernel values. */
    size_t stretch = 100000000 / (d->rows + 1);
    stretch = (stretch / TILE_COLS + 1) * TILE_COLS;
    for (size_t start = 0; start < count; start += stretch) {
        size_t end = start + stretch < count ? start + stretch : count;
        size_t groups = (end - start + TILE_COLS - 1) / TILE_COLS;
#pragma omp parallel for schedule(dynamic) num_threads(d->threads) if (d->threads > 1 && (end - start) * d->rows > 2000000)
        for (size_t g = 0; g < groups; g++) {
            size_t from = start + g * TILE_COLS;
            size_t group = end - from < TILE_COLS ? end - from : TILE_COLS;
            project_group(d, from, group, which, width, V, ldv, products, ldp, squares);
        }
        if (rvm_tick(ticker, now)) return RVM_INTERRUPTED;
    }
    return RVM_OK;
}
