/* Likelihoods against their densities, and their quadratic models against differences. */
#include "likelihood.h"

#include <string.h>

#include "helper.h"
#include "tests.h"

static void gaussian(size_t rows, int weighted)
{
  pool p = { 0 };
  const likelihood *gaussian = likelihood_of(LIKELIHOOD_GAUSSIAN);
  double *t = pool_matrix(&p, rows, 1, rows), *f = pool_matrix(&p, rows, 1, rows), *weight = NULL, expected = 0;
  if (weighted) weight = pool_doubles(&p, rows);
  for (size_t n = 0; n < rows && weighted; n++) weight[n] = n % 3 == 0 ? 0 : random_uniform();
  const double precision = 2.5;
  for (size_t n = 0; n < rows; n++) {
    double variance = 1 / (precision * (weighted ? weight[n] : 1)), r = t[n] - f[n];
    if (isfinite(variance)) expected -= 0.5 * log(6.283185307179586 * variance) + r * r / (2 * variance);
  }
  CHECK_NEAR(gaussian->value(rows, t, f, weight, precision), expected, 1e-12);
  pool_free(&p);
}

/* First and second differences of the value at unit precision. */
static void quadratic_model(const likelihood *l, size_t rows, int weighted)
{
  pool p = { 0 };
  const double step = 1e-3;
  double *t = pool_matrix(&p, rows, 1, rows), *f = pool_matrix(&p, rows, 1, rows), *weight = NULL;
  double *residual = pool_doubles(&p, rows), *curvature = pool_doubles(&p, rows);
  if (weighted) weight = pool_doubles(&p, rows);
  for (size_t n = 0; n < rows && weighted; n++) weight[n] = n % 3 == 0 ? 0 : random_uniform();
  l->quadratic_model(rows, t, f, weight, residual, curvature);
  for (size_t n = 0; n < rows; n++) {
    double here = l->value(rows, t, f, weight, 1), at = f[n];
    f[n] = at + step;
    double above = l->value(rows, t, f, weight, 1);
    f[n] = at - step;
    double below = l->value(rows, t, f, weight, 1);
    f[n] = at;
    CHECK_NEAR(residual[n], (above - below) / (2 * step), 1e-8);
    CHECK_NEAR(curvature[n], -(above - 2 * here + below) / (step * step), 1e-6);
  }
  pool_free(&p);
}

void test_likelihood(void)
{
  random_seed(9);
  const likelihood *l = likelihood_of(LIKELIHOOD_GAUSSIAN);
  CHECK(strcmp(l->name, "gaussian") == 0);
  CHECK(l->quadratic && l->has_noise);
  for (int weighted = 0; weighted < 2; weighted++) {
    gaussian(0, weighted);
    gaussian(1, weighted);
    gaussian(17, weighted);
    quadratic_model(l, 7, weighted);
  }
}
