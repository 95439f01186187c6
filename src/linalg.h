/* linalg.h: every BLAS and LAPACK call of the project. */
#ifndef RVM_LINALG_H
#define RVM_LINALG_H

#include <stddef.h>

#include "core.h"

/* Doubles of work space that linalg_qr() wants for a matrix with `cols` columns. */
size_t linalg_qr_work(size_t cols);

/* A (rows x cols, rows >= cols) becomes Q with orthonormal columns, and
 * R (cols x cols, leading dimension ldr) the upper triangle: A = Q R.
 * Householder: a dependent column is no obstacle. cost: 4 rows cols^2. */
rvm_status linalg_qr(size_t rows, size_t cols, double *A, size_t lda, double *R, size_t ldr, double *work);

/* R x = b or R' x = b for `count` right-hand sides in B, R upper triangular. cost: n^2 count. */
void linalg_solve_upper(size_t n, const double *R, size_t ldr, int transposed, size_t count, double *B, size_t ldb);

/* A (n x n, symmetric, upper triangle read) becomes its Cholesky factor U, A = U'U;
 * returns 0 when A is not positive definite to rounding. cost: n^3 / 3. */
int linalg_cholesky(size_t n, double *A, size_t lda);

/* The inverse of R (n x n, upper triangular), in place; the strict lower triangle is set to 0. cost: n^3 / 3. */
void linalg_invert_upper(size_t n, double *R, size_t ldr);

/* out = R R' for an upper triangular R whose lower triangle is 0; both n x n. cost: n^3. */
void linalg_outer_upper(size_t n, const double *R, size_t ldr, double *out, size_t ldo);

#endif
