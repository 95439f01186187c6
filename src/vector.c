#include "vector.h"

#include <stdint.h>
#include <string.h>

RVM_CLONES
double vector_dot(size_t count, const double *a, const double *b)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t n = 0; n < count; n++) sum += a[n] * b[n];
    return sum;
}

RVM_CLONES
double vector_class_square(size_t count, const double *x, const double *root)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t n = 0; n < count; n++) {
        double y = root[n] * root[n];
        sum += x[n] * x[n] * y * (1 - y);
    }
    return sum;
}

RVM_CLONES
void vector_add(size_t count, double scale, const double *x, double *restrict y)
{
#pragma omp simd
    for (size_t n = 0; n < count; n++) y[n] += scale * x[n];
}

/* exp(x) = 2^k * exp(r) with k = round(x / log 2), |r| <= log(2) / 2. Adding
 * 1.5 * 2^52 leaves k in the low bits of the sum, from where a shift makes it
 * the exponent of 2^k. log 2 is split in two so that r is exact (Cody and Waite);
 * exp(r) by its series to r^12, whose first neglected term is below 2e-16 / 8. */
RVM_CLONES
void vector_exp(size_t count, double *x)
{
    const double shift = 6755399441055744.0, log2e = 1.4426950408889634;
    const double log2_high = 6.93147180369123816490e-01, log2_low = 1.90821492927058770002e-10;
#pragma omp simd
    for (size_t n = 0; n < count; n++) {
        double v = x[n] < -708.0 ? -708.0 : x[n];
        double shifted = v * log2e + shift;
        double k = shifted - shift;
        double r = (v - k * log2_high) - k * log2_low;
        double p = 1.0 / 479001600;
        p = p * r + 1.0 / 39916800;
        p = p * r + 1.0 / 3628800;
        p = p * r + 1.0 / 362880;
        p = p * r + 1.0 / 40320;
        p = p * r + 1.0 / 5040;
        p = p * r + 1.0 / 720;
        p = p * r + 1.0 / 120;
        p = p * r + 1.0 / 24;
        p = p * r + 1.0 / 6;
        p = p * r + 0.5;
        p = p * (r * r) + r + 1.0;
        union { double d; uint64_t u; } bits;
        bits.d = shifted;
        bits.u = (bits.u + 1023) << 52;
        x[n] = x[n] < -708.0 ? 0.0 : p * bits.d;
    }
}

RVM_CLONES
void vector_distance2(size_t count, size_t dims, const double *x, size_t stride, const double *z, double *restrict out)
{
    size_t k = 0;
    for (; k + 4 <= dims; k += 4) {
        const double *x0 = x + k * stride, *x1 = x0 + stride, *x2 = x1 + stride, *x3 = x2 + stride;
        double z0 = z[k], z1 = z[k + 1], z2 = z[k + 2], z3 = z[k + 3];
#pragma omp simd
        for (size_t n = 0; n < count; n++) {
            double d0 = x0[n] - z0, d1 = x1[n] - z1, d2 = x2[n] - z2, d3 = x3[n] - z3;
            out[n] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3);
        }
    }
    for (; k < dims; k++) {
        const double *x0 = x + k * stride;
        double z0 = z[k];
#pragma omp simd
        for (size_t n = 0; n < count; n++) out[n] += (x0[n] - z0) * (x0[n] - z0);
    }
}

RVM_CLONES
void vector_inner(size_t count, size_t dims, const double *x, size_t stride, const double *z, double *restrict out)
{
    memset(out, 0, count * sizeof(double));
    for (size_t k = 0; k < dims; k++) {
        const double *xk = x + k * stride;
        double zk = z[k];
#pragma omp simd
        for (size_t n = 0; n < count; n++) out[n] += xk[n] * zk;
    }
}

/* Four columns of a against four of b: sixteen sums kept in registers. */

RVM_CLONES
static void products_4x4(size_t rows, const double *a, size_t lda, const double *b, size_t ldb, double *out, size_t ldo)
{
    const double *a0 = a, *a1 = a + lda, *a2 = a + 2 * lda, *a3 = a + 3 * lda;
    const double *b0 = b, *b1 = b + ldb, *b2 = b + 2 * ldb, *b3 = b + 3 * ldb;
    double s00 = 0, s10 = 0, s20 = 0, s30 = 0, s01 = 0, s11 = 0, s21 = 0, s31 = 0;
    double s02 = 0, s12 = 0, s22 = 0, s32 = 0, s03 = 0, s13 = 0, s23 = 0, s33 = 0;
#pragma omp simd reduction(+ : s00, s10, s20, s30, s01, s11, s21, s31, s02, s12, s22, s32, s03, s13, s23, s33)
    for (size_t n = 0; n < rows; n++) {
        double u0 = a0[n], u1 = a1[n], u2 = a2[n], u3 = a3[n], v = b0[n];
        s00 += u0 * v, s10 += u1 * v, s20 += u2 * v, s30 += u3 * v;
        v = b1[n];
        s01 += u0 * v, s11 += u1 * v, s21 += u2 * v, s31 += u3 * v;
        v = b2[n];
        s02 += u0 * v, s12 += u1 * v, s22 += u2 * v, s32 += u3 * v;
        v = b3[n];
        s03 += u0 * v, s13 += u1 * v, s23 += u2 * v, s33 += u3 * v;
    }
    out[0] += s00, out[1] += s10, out[2] += s20, out[3] += s30;
    out += ldo;
    out[0] += s01, out[1] += s11, out[2] += s21, out[3] += s31;
    out += ldo;
    out[0] += s02, out[1] += s12, out[2] += s22, out[3] += s32;
    out += ldo;
    out[0] += s03, out[1] += s13, out[2] += s23, out[3] += s33;
}

void vector_products(size_t rows, size_t p, const double *a, size_t lda, size_t q, const double *b, size_t ldb,
                     double *out, size_t ldo)
{
    size_t p4 = p - p % 4, q4 = q - q % 4;
    for (size_t i = 0; i < p4; i += 4)
        for (size_t j = 0; j < q4; j += 4)
            products_4x4(rows, a + i * lda, lda, b + j * ldb, ldb, out + i + j * ldo, ldo);
    for (size_t j = 0; j < q; j++)
        for (size_t i = j < q4 ? p4 : 0; i < p; i++)
            out[i + j * ldo] += vector_dot(rows, a + i * lda, b + j * ldb);
}

RVM_CLONES
static void combine_4(size_t rows, const double *x, size_t ldx, const double *coef, double *restrict y)
{
    const double *x0 = x, *x1 = x + ldx, *x2 = x + 2 * ldx, *x3 = x + 3 * ldx;
    double c0 = coef[0], c1 = coef[1], c2 = coef[2], c3 = coef[3];
#pragma omp simd
    for (size_t n = 0; n < rows; n++) y[n] += (c0 * x0[n] + c1 * x1[n]) + (c2 * x2[n] + c3 * x3[n]);
}

void vector_combine(size_t rows, size_t p, const double *x, size_t ldx, size_t q, const double *coef, size_t ldc,
                    double *y, size_t ldy)
{
    for (size_t j = 0; j < q; j++) {
        size_t i = 0;
        for (; i + 4 <= p; i += 4) combine_4(rows, x + i * ldx, ldx, coef + i + j * ldc, y + j * ldy);
        for (; i < p; i++) vector_add(rows, coef[i + j * ldc], x + i * ldx, y + j * ldy);
    }
}

RVM_CLONES
static void deflate_one(size_t rows, double *restrict c, const double *restrict e, double scale, const double *target,
                        double *square, double *inner)
{
    double sum = 0, cc = 0, ct = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t n = 0; n < rows; n++) sum += c[n] * e[n];
    sum *= scale;
#pragma omp simd reduction(+ : cc, ct)
    for (size_t n = 0; n < rows; n++) {
        double v = c[n] - sum * e[n];
        c[n] = v;
        cc += v * v;
        ct += v * target[n];
    }
    *square = cc;
    *inner = ct;
}

void vector_deflate(size_t rows, size_t cols, double *E, size_t ld, const double *e, double scale,
                    const double *target, double *squares, double *inner, int threads)
{
    (void) threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1 && rows * cols > 1000000)
    for (size_t c = 0; c < cols; c++) deflate_one(rows, E + c * ld, e, scale, target, squares + c, inner + c);
}
