/* Every kernel against its formula, every gradient in the widths against differences. */
#include "helper.h"
#include "kernel.h"
#include "tests.h"

static const kernel kernels[] = {
  { KERNEL_GAUSSIAN, 0, 0, 0 },      { KERNEL_LAPLACE, 0, 0, 0 },      { KERNEL_CAUCHY, 0, 0, 0 },
  { KERNEL_MATERN32, 0, 0, 0 },      { KERNEL_MATERN52, 0, 0, 0 },     { KERNEL_SPLINE, 0, 0, 0 },
  { KERNEL_THINPLATE, 0, 0, 0 },     { KERNEL_POLYNOMIAL, 1, 1, 0 },   { KERNEL_POLYNOMIAL, 3, 0.7, 1.5 },
  { KERNEL_POLYNOMIAL, 6, 0.2, 1 },  { KERNEL_LINEAR, 0, 0, 0 },       { KERNEL_SIGMOID, 0, 0.3, -0.2 },
};
enum { KERNELS = sizeof kernels / sizeof *kernels, PAD = 3 };

/* Inputs around a centre, the first of them on it and the last far away. */
static double *inputs_around(pool *p, size_t rows, size_t dims, size_t stride, const double *z)
{
  double *x = pool_matrix(p, rows, dims, stride);
  for (size_t j = 0; j < dims && rows > 0; j++) {
    x[rows - 1 + j * stride] = 100;
    x[j * stride] = z[j];
  }
  return x;
}

static void values(const kernel *k, size_t rows, size_t dims)
{
  pool p = { 0 };
  size_t stride = rows + PAD;
  double *z = pool_matrix(&p, dims, 1, dims), *x = inputs_around(&p, rows, dims, stride, z);
  double *out = pool_doubles(&p, rows), *expected = pool_doubles(&p, rows);
  for (size_t n = 0; n < rows; n++) expected[n] = naive_kernel(k, dims, x + n, stride, z);
  kernel_values(k, rows, dims, x, stride, z, out);
  CHECK(difference(rows, out, expected) < 1e-13);
  pool_free(&p);
}

/* sum of upstream * k when the width of input j is multiplied by exp(by). */
static double weighted_sum(const kernel *k, size_t rows, size_t dims, const double *x, const double *z,
                           const double *upstream, size_t j, double by)
{
  pool p = { 0 };
  double *xs = pool_copy(&p, rows * dims, x), *zs = pool_copy(&p, dims, z), sum = 0;
  for (size_t n = 0; n < rows; n++) xs[n + j * rows] *= exp(-by);
  zs[j] *= exp(-by);
  for (size_t n = 0; n < rows; n++) sum += upstream[n] * naive_kernel(k, dims, xs + n, rows, zs);
  pool_free(&p);
  return sum;
}

static void gradients(const kernel *k, size_t rows, size_t dims)
{
  pool p = { 0 };
  const double step = 1e-5;
  double *z = pool_matrix(&p, dims, 1, dims), *x = inputs_around(&p, rows, dims, rows, z);
  double *upstream = pool_matrix(&p, rows, 1, rows), *slope = pool_doubles(&p, rows);
  double *gradient = pool_matrix(&p, dims, 1, dims), *expected = pool_copy(&p, dims, gradient);
  for (size_t j = 0; j < dims; j++)
    expected[j] += (weighted_sum(k, rows, dims, x, z, upstream, j, step) -
                    weighted_sum(k, rows, dims, x, z, upstream, j, -step)) / (2 * step);
  kernel_width_gradient(k, rows, dims, x, rows, z, upstream, slope, gradient);
  CHECK(difference(dims, gradient, expected) < 1e-8);
  pool_free(&p);
}

void test_kernel(void)
{
  static const size_t rows[] = { 0, 1, 3, 5, 17, 128, 257 }, dims[] = { 1, 3, 4, 9 };
  random_seed(2);
  for (size_t i = 0; i < KERNELS; i++) {
    const kernel *k = kernels + i;
    CHECK(kernel_has_width(k->type) == (k->type >= KERNEL_GAUSSIAN && k->type <= KERNEL_MATERN52));
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
      for (size_t d = 0; d < sizeof dims / sizeof *dims; d++) {
        values(k, rows[r], dims[d]);
        if (kernel_has_width(k->type)) gradients(k, rows[r], dims[d]);
      }
  }
  CHECK(!kernel_has_width(KERNEL_NONE));
}
