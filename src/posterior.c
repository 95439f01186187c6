#include "posterior.h"

#include <math.h>
#include <string.h>

#include "basis.h"
#include "linalg.h"
#include "vector.h"

enum { BATCH = 32 };

static rvm_status compress(basis *b, size_t m, const size_t *which, const rvm_workspace *work, double *triangle)
{
    size_t n = b->dict->rows;
    b->capacity = m + 1;
    b->vectors = rvm_take_doubles(work, n * b->capacity);
    b->target_coords = rvm_take_doubles(work, b->capacity);
    b->remainder = rvm_take_doubles(work, n);
    double *columns = rvm_take_doubles(work, n * BATCH), *scratch = rvm_take_doubles(work, b->capacity * (BATCH + 1));
    if (!b->vectors || !b->target_coords || !b->remainder || !columns || !scratch) return RVM_NO_MEMORY;
    basis_start(b);
    for (size_t j = 0; j < m; j += BATCH) {
        unsigned char entered[BATCH];
        size_t count = m - j < BATCH ? m - j : BATCH;
        basis_enter(b, count, which + j, 0, columns, scratch, triangle + j * b->capacity, entered);
    }
    return RVM_OK;
}

rvm_status posterior_gaussian(const dictionary *d, const double *target, double count, size_t m, const size_t *which,
                              const double *alpha, double beta, const rvm_workspace *work, posterior *out)
{
    basis b = { .dict = d, .target = target };
    double *triangle = rvm_take_doubles(work, (m + 1) * m);
    rvm_status status = triangle ? compress(&b, m, which, work, triangle) : RVM_NO_MEMORY;
    if (status != RVM_OK) return status;

    size_t r = b.size, rows = r + m;
    double *stack = rvm_take_doubles(work, rows * m), *upper = rvm_take_doubles(work, m * m);
    double *qr_work = rvm_take_doubles(work, linalg_qr_work(m)), *turned = rvm_take_doubles(work, m);
    if (!stack || !upper || !qr_work || !turned) return RVM_NO_MEMORY;
    for (size_t j = 0; j < m; j++) {
        double scale = sqrt(beta / alpha[j]);
        for (size_t i = 0; i < r; i++) stack[i + j * rows] = scale * triangle[i + j * (m + 1)];
        for (size_t i = 0; i < m; i++) stack[r + i + j * rows] = i == j;
    }
    if ((status = linalg_qr(rows, m, stack, rows, upper, m, qr_work)) != RVM_OK) return status;

    /* mean = A^-1/2 U^-1 Q1' sqrt(beta) t; the least-squares residual is t'C^-1 t */
    double log_det = 0, quadratic = beta * b.rest, root = sqrt(beta);
    for (size_t j = 0; j < m; j++) {
        log_det += 2 * log(fabs(upper[j + j * m]));
        turned[j] = root * vector_dot(r, stack + j * rows, b.target_coords);
        out->mean[j] = turned[j];
    }
    for (size_t i = 0; i < rows; i++) {
        double left = i < r ? root * b.target_coords[i] : 0;
        for (size_t j = 0; j < m; j++) left -= stack[i + j * rows] * turned[j];
        quadratic += left * left;
    }
    linalg_solve_upper(m, upper, m, 0, 1, out->mean, m);
    for (size_t j = 0; j < m; j++) out->mean[j] /= sqrt(alpha[j]);
    linalg_invert_upper(m, upper, m);
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < m; i++) out->factor[i + j * m] = upper[i + j * m] / sqrt(alpha[i]);
    linalg_outer_upper(m, out->factor, m, out->covariance, m);
    out->log_det = log_det;
    out->quadratic = quadratic;
    out->evidence = 0.5 * (count * log(beta / 6.283185307179586) - log_det - quadratic);
    return RVM_OK;
}
