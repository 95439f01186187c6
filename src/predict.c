#include "predict.h"

#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "vector.h"

enum { TILE = 128 };

size_t predict_work(const dictionary *d) { return (size_t) d->threads * TILE * (d->cols + 1); }

/* variance = sum over j of (tile * factor[, j])^2 */
static void tile_variance(size_t rows, size_t cols, const double *tile, const double *factor, double *variance,
                          double *turned)
{
    memset(variance, 0, rows * sizeof(double));
    for (size_t j = 0; j < cols; j++) {
        memset(turned, 0, rows * sizeof(double));
        vector_combine(rows, j + 1, tile, TILE, 1, factor + j * cols, cols, turned, TILE);
        for (size_t n = 0; n < rows; n++) variance[n] += turned[n] * turned[n];
    }
}

void predict_latent(const dictionary *d, const double *weights, const double *factor, double *mean, double *variance,
                    double *work)
{
    size_t tiles = (d->rows + TILE - 1) / TILE;
#pragma omp parallel for schedule(static) num_threads(d->threads) if (d->threads > 1 && d->rows * d->cols > 200000)
    for (size_t t = 0; t < tiles; t++) {
        int thread = 0;
#ifdef _OPENMP
        thread = omp_get_thread_num();
#endif
        double *tile = work + (size_t) thread * TILE * (d->cols + 1);
        size_t row0 = t * TILE, rows = d->rows - row0 < TILE ? d->rows - row0 : TILE;
        for (size_t j = 0; j < d->cols; j++) dictionary_run(d, j, row0, rows, tile + j * TILE);
        memset(mean + row0, 0, rows * sizeof(double));
        vector_combine(rows, d->cols, tile, TILE, 1, weights, d->cols, mean + row0, TILE);
        if (variance) tile_variance(rows, d->cols, tile, factor, variance + row0, tile + TILE * d->cols);
    }
}
