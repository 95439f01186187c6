/* dictionary.h: all candidate basis functions as one operator.
 *
 * Columns are numbered through the blocks in order. A column exists only while
 * somebody looks at it: kernel blocks make it from inputs and centre, explicit
 * blocks hold it. Rows may carry a multiplier (square roots of case weights or of
 * curvatures), so that every inner product below is the weighted one.
 *
 * Several latent functions. With one latent function for each of L classes, a column is
 * a pair: basis function i of M for class k is column i + k M; a row is a pair likewise,
 * n + l N. The curvature of the softmax at class probabilities y = s^2 is, for case n,
 * diag(y) - y y' = R'R with R = (I - s s') diag(s), and the column has the value
 *
 *   phi_i(x_n) R_lk = phi_i(x_n) (s_k [l = k] - s_l s_k^2)                 (1)
 *
 * in row (n, l): inner products of columns are elements of the coupled Hessian. */
#ifndef RVM_DICTIONARY_H
#define RVM_DICTIONARY_H

#include <stddef.h>

#include "core.h"
#include "kernel.h"

typedef struct {
    kernel kernel;
    size_t first, count;   /* columns first .. first + count - 1 of the dictionary */
    const double *columns; /* explicit: rows x count */
    const double *inputs;  /* kernel: rows x dims, divided by the widths */
    const double *centers; /* kernel: dims x count, divided by the widths: a centre is contiguous */
} dictionary_block;

/* Columns that have been made once and are kept, where that is cheaper than making
 * them again: see dictionary_keep(). */
typedef struct {
    double *values;       /* rows x cols of one latent function, not multiplied by the row scale */
    unsigned char *known; /* cols */
} dictionary_store;

typedef struct {
    size_t rows, dims, cols;
    size_t block_count;
    const dictionary_block *blocks;
    const double *row_scale; /* of one latent function, or NULL for ones */
    size_t latents;          /* 0 or 1: one; else L, and rows and cols count the pairs */
    const double *class_root; /* L > 1: s of equation (1), rows */
    double *mixed;           /* L > 1: work space of dictionary_project(), rows x its width */
    int threads;
    dictionary_store *store; /* NULL: nothing is kept */
} dictionary;

/* Rows and columns of one latent function. */
size_t dictionary_cases(const dictionary *d);
size_t dictionary_functions(const dictionary *d);

/* The same columns for one latent function and without row scale: the basis functions themselves. */
dictionary dictionary_plain(const dictionary *d);

/* Bytes that keeping all columns would take, or 0 when it would not pay: with few
 * inputs a column is made as fast as it is read from beyond the caches. */
double dictionary_store_bytes(const dictionary *d);

/* out = column `which` of one latent function, rows row0 .. row0 + rows - 1, times the row scale. */
void dictionary_run(const dictionary *d, size_t which, size_t row0, size_t rows, double *out);

/* out[, j] = column which[j], all rows; ld >= rows. cost: rows * count kernel values. */
void dictionary_columns(const dictionary *d, size_t count, const size_t *which, double *out, size_t ld);

/* products[i + k * ldp] = column which[i]' V[, k] for `count` columns and the
 * `width` columns of V (rows x width, leading dimension ldv); and, unless
 * squares is NULL, squares[i] = the column's squared norm. which NULL means all
 * columns in order. Columns are made in tiles and thrown away.
 * Threads divide the columns, so the sums do not depend on their number.
 * cost: rows * count * (a kernel value + 2 width). */
rvm_status dictionary_project(const dictionary *d, size_t count, const size_t *which, size_t width, const double *V,
                              size_t ldv, double *products, size_t ldp, double *squares, const rvm_ticker *ticker,
                              const rvm_progress *now);

#endif
