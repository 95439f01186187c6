/* vector.h: loops over contiguous doubles that the compiler vectorises.
 *
 * Two things make them fast without special compiler flags: `omp simd`, which
 * lets sums be reordered, and one clone of each function per instruction set
 * where compiler and platform can choose between them at load time. */
#ifndef RVM_VECTOR_H
#define RVM_VECTOR_H

#include <stddef.h>

#if defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define RVM_SANITIZED 1
#  endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#  define RVM_SANITIZED 1
#endif

/* The load-time choice runs before a sanitizer is ready: no clones there. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && defined(__x86_64__) && \
    defined(__gnu_linux__) && !defined(RVM_SANITIZED)
#  define RVM_CLONES \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), optimize("O3")))
#else
#  define RVM_CLONES
#endif

/* sum of a[n] * b[n] */
double vector_dot(size_t count, const double *a, const double *b);

/* sum of x[n]^2 y[n] (1 - y[n]) with y[n] = root[n]^2 */
double vector_class_square(size_t count, const double *x, const double *root);

/* y += scale * x */
void vector_add(size_t count, double scale, const double *x, double *y);

/* x[n] <- exp(x[n]) for x[n] <= 0, to 1 ulp or so; below -708 the result is 0.
 * cost: about 15 operations a value. */
void vector_exp(size_t count, double *x);

/* out[n] += sum over the dims of (x[n + k * stride] - z[k])^2 */
void vector_distance2(size_t count, size_t dims, const double *x, size_t stride, const double *z, double *out);

/* out[n] = sum over the dims of x[n + k * stride] * z[k] */
void vector_inner(size_t count, size_t dims, const double *x, size_t stride, const double *z, double *out);

/* out[i + j * ldo] += sum over rows of a[n, i] * b[n, j]: a rows x p, b rows x q.
 * Made for tiles of a few hundred rows that sit in the first-level cache.
 * cost: 2 rows p q operations. */
void vector_products(size_t rows, size_t p, const double *a, size_t lda, size_t q, const double *b, size_t ldb,
                     double *out, size_t ldo);

/* y[, j] += sum over i of x[, i] * coef[i + j * ldc]: x rows x p, y rows x q. cost: 2 rows p q. */
void vector_combine(size_t rows, size_t p, const double *x, size_t ldx, size_t q, const double *coef, size_t ldc,
                    double *y, size_t ldy);

/* For every column c of E (rows x cols, leading dimension ld), with d = e'c:
 * c -= scale * d * e; then squares[c] = c'c and inner[c] = c'target. Reads and
 * writes E once. cost: 8 rows cols. */
void vector_deflate(size_t rows, size_t cols, double *E, size_t ld, const double *e, double scale,
                    const double *target, double *squares, double *inner, int threads);

#endif
