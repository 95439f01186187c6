/* kernel.h: kernel values for a run of rows against one centre, and what a
 * change of the widths does to them. */
#ifndef RVM_KERNEL_H
#define RVM_KERNEL_H

#include <stddef.h>

typedef enum {
    KERNEL_NONE = 0, /* explicit columns */
    KERNEL_GAUSSIAN, /* exp(-r^2), r = |(x - z) / width| */
    KERNEL_LAPLACE,  /* exp(-r) */
    KERNEL_CAUCHY,   /* 1 / (1 + r^2) */
    KERNEL_MATERN32, /* (1 + sqrt(3) r) exp(-sqrt(3) r) */
    KERNEL_MATERN52, /* (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r) */
    KERNEL_SPLINE,   /* product over inputs of the linear spline kernel */
    KERNEL_THINPLATE,  /* |x - z|^2 log|x - z| */
    KERNEL_POLYNOMIAL, /* (scale x'z + offset)^degree */
    KERNEL_LINEAR,     /* x'z */
    KERNEL_SIGMOID     /* tanh(scale x'z + offset) */
} kernel_type;

typedef struct {
    kernel_type type;
    double degree, scale, offset; /* polynomial and sigmoid */
} kernel;

int kernel_has_width(kernel_type type);

/* out[n] = k(x_n, z), n < rows. Inputs and centre come divided by the widths
 * (kernels without width: as they are). x: rows x dims with leading dimension
 * stride; z: dims. cost: rows (3 dims + about 20). */
void kernel_values(const kernel *k, size_t rows, size_t dims, const double *x, size_t stride, const double *z,
                   double *out);

/* gradient[j] += sum over n of upstream[n] * d k(x_n, z) / d log width_j, on the
 * same scaled inputs; kernels with widths only.
 * slope: work space, rows doubles. cost: rows (6 dims + about 20). */
void kernel_width_gradient(const kernel *k, size_t rows, size_t dims, const double *x, size_t stride, const double *z,
                           const double *upstream, double *slope, double *gradient);

#endif
