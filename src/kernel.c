#include "kernel.h"

#include <math.h>
#include <string.h>

#include "vector.h"

#define SQRT3 1.7320508075688772
#define SQRT5 2.23606797749979

int kernel_has_width(kernel_type type) { return type >= KERNEL_GAUSSIAN && type <= KERNEL_MATERN52; }

/* out holds squared distances and becomes kernel values. The decay of the
 * Matern kernels waits in chunks on the stack while its exponential is made. */
enum { CHUNK = 128 };

static void gaussian_from_distance(size_t rows, double *out)
{
    for (size_t n = 0; n < rows; n++) out[n] = -out[n];
    vector_exp(rows, out);
}

static void laplace_from_distance(size_t rows, double *out)
{
    for (size_t n = 0; n < rows; n++) out[n] = -sqrt(out[n]);
    vector_exp(rows, out);
}

static void cauchy_from_distance(size_t rows, double *out)
{
    for (size_t n = 0; n < rows; n++) out[n] = 1 / (1 + out[n]);
}

static void matern_from_distance(size_t rows, double *out, double root, double quadratic)
{
    double decay[CHUNK];
    for (size_t start = 0; start < rows; start += CHUNK) {
        size_t count = rows - start < CHUNK ? rows - start : CHUNK;
        double *v = out + start;
        for (size_t n = 0; n < count; n++) decay[n] = -root * sqrt(v[n]);
        for (size_t n = 0; n < count; n++) v[n] = 1 - decay[n] + quadratic * v[n];
        vector_exp(count, decay);
        for (size_t n = 0; n < count; n++) v[n] *= decay[n];
    }
}

static void spline_values(size_t rows, size_t dims, const double *x, size_t stride, const double *z, double *out)
{
    for (size_t n = 0; n < rows; n++) out[n] = 1;
    for (size_t j = 0; j < dims; j++) {
        const double *xj = x + j * stride;
        double zj = z[j];
        for (size_t n = 0; n < rows; n++) {
            double low = xj[n] < zj ? xj[n] : zj, product = xj[n] * zj;
            out[n] *= 1 + product + product * low - (xj[n] + zj) / 2 * low * low + low * low * low / 3;
        }
    }
}

static double integer_power(double base, int exponent)
{
    double result = 1;
    for (; exponent > 0; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

static void from_inner_product(const kernel *k, size_t rows, double *out)
{
    switch (k->type) {
    case KERNEL_POLYNOMIAL:
        for (size_t n = 0; n < rows; n++) out[n] = integer_power(k->scale * out[n] + k->offset, (int) k->degree);
        break;
    case KERNEL_SIGMOID:
        for (size_t n = 0; n < rows; n++) out[n] = tanh(k->scale * out[n] + k->offset);
        break;
    default: break; /* linear: the inner product itself */
    }
}

void kernel_values(const kernel *k, size_t rows, size_t dims, const double *x, size_t stride, const double *z,
                   double *out)
{
    if (k->type == KERNEL_SPLINE) {
        spline_values(rows, dims, x, stride, z, out);
        return;
    }
    if (k->type >= KERNEL_POLYNOMIAL) {
        vector_inner(rows, dims, x, stride, z, out);
        from_inner_product(k, rows, out);
        return;
    }
    memset(out, 0, rows * sizeof(double));
    vector_distance2(rows, dims, x, stride, z, out);
    switch (k->type) {
    case KERNEL_GAUSSIAN: gaussian_from_distance(rows, out); break;
    case KERNEL_LAPLACE: laplace_from_distance(rows, out); break;
    case KERNEL_CAUCHY: cauchy_from_distance(rows, out); break;
    case KERNEL_MATERN32: matern_from_distance(rows, out, SQRT3, 0); break;
    case KERNEL_MATERN52: matern_from_distance(rows, out, SQRT5, 5.0 / 3); break;
    case KERNEL_THINPLATE:
        for (size_t n = 0; n < rows; n++) out[n] = out[n] > 0 ? 0.5 * out[n] * log(out[n]) : 0;
        break;
    default: break;
    }
}

/* With u_j = (x_j - z_j) / width_j and r^2 = sum of u_j^2,
 * dk / d log width_j = -2 u_j^2 dk / d(r^2). Here -2 dk / d(r^2), from r^2: */
static void minus_twice_slope(const kernel *k, size_t rows, double *r2)
{
    for (size_t n = 0; n < rows; n++) {
        double r = sqrt(r2[n]);
        switch (k->type) {
        case KERNEL_GAUSSIAN: r2[n] = 2 * exp(-r2[n]); break;
        case KERNEL_LAPLACE: r2[n] = r > 0 ? exp(-r) / r : 0; break; /* times u^2: 0 at r = 0 */
        case KERNEL_CAUCHY: r2[n] = 2 / ((1 + r2[n]) * (1 + r2[n])); break;
        case KERNEL_MATERN32: r2[n] = 3 * exp(-SQRT3 * r); break;
        case KERNEL_MATERN52: r2[n] = 5.0 / 3 * (1 + SQRT5 * r) * exp(-SQRT5 * r); break;
        default: r2[n] = 0;
        }
    }
}

void kernel_width_gradient(const kernel *k, size_t rows, size_t dims, const double *x, size_t stride, const double *z,
                           const double *upstream, double *slope, double *gradient)
{
    memset(slope, 0, rows * sizeof(double));
    vector_distance2(rows, dims, x, stride, z, slope);
    minus_twice_slope(k, rows, slope);
    for (size_t n = 0; n < rows; n++) slope[n] *= upstream[n];
    for (size_t j = 0; j < dims; j++) {
        const double *xj = x + j * stride;
        double sum = 0;
        for (size_t n = 0; n < rows; n++) sum += slope[n] * (xj[n] - z[j]) * (xj[n] - z[j]);
        gradient[j] += sum;
    }
}
