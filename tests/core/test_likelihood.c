/* Likelihoods against their densities, and their quadratic models against differences. */
#include "likelihood.h"

#include <string.h>

#include "helper.h"
#include "helper_classes.h"
#include "tests.h"

#define TWO_PI 6.283185307179586

enum { CLASSES = 4 };

/* Random data; every third weight is 0. */
static observations make_data(pool *p, likelihood_type type, size_t rows, int flavour)
{
  size_t latents = type == LIKELIHOOD_SOFTMAX ? CLASSES : 1;
  double *t = pool_matrix(p, rows, 1, rows), *weight = pool_doubles(p, rows), *offset = pool_matrix(p, rows, 1, rows);
  for (size_t n = 0; n < rows; n++) {
    weight[n] = n % 3 == 0 ? 0 : 0.5 + random_uniform();
    if (type != LIKELIHOOD_GAUSSIAN) t[n] = floor(random_uniform() * (type == LIKELIHOOD_SOFTMAX ? CLASSES : 2));
  }
  return (observations){ rows, latents, t, flavour & CLASSES_WEIGHTED ? weight : NULL,
                         flavour & CLASSES_OFFSET ? offset : NULL };
}

/* The offset is a part of f, and does not enter the value once more. */
static void gaussian_density(size_t rows, int flavour)
{
  pool p = { 0 };
  observations d = make_data(&p, LIKELIHOOD_GAUSSIAN, rows, flavour);
  double *f = pool_matrix(&p, rows, 1, rows), expected = 0;
  const double precision = 2.5;
  for (size_t n = 0; n < rows; n++) {
    double variance = 1 / (precision * (d.weight ? d.weight[n] : 1)), r = d.t[n] - f[n];
    if (isfinite(variance)) expected -= 0.5 * log(TWO_PI * variance) + r * r / (2 * variance);
  }
  CHECK_NEAR(likelihood_of(LIKELIHOOD_GAUSSIAN)->value(&d, f, precision), expected, 1e-12);
  pool_free(&p);
}

static void class_density(likelihood_type type, size_t rows, int flavour)
{
  pool p = { 0 };
  observations d = make_data(&p, type, rows, flavour);
  double *f = pool_matrix(&p, rows, d.latents, rows);
  CHECK_NEAR(likelihood_of(type)->value(&d, f, 1), naive_classes(&d, f, NULL, NULL), 1e-13);
  pool_free(&p);
}

/* Probabilities so near to 0 and 1 that their exponentials overflow. */
static void far_away(void)
{
  const likelihood *bernoulli = likelihood_of(LIKELIHOOD_BERNOULLI), *softmax = likelihood_of(LIKELIHOOD_SOFTMAX);
  static const double far[] = { 30, 79, 81, 700, 1e4, 1e8 };
  for (size_t i = 0; i < sizeof far / sizeof *far; i++)
    for (int sign = -1; sign <= 1; sign += 2)
      for (int own = 0; own < 2; own++) {
        double t = own, f = sign * far[i], pair[2] = { 0, f }, shifted[2] = { 1e5, 1e5 + f };
        double expected = own == (sign > 0) ? -exp(-far[i]) : -far[i];
        observations one = { .rows = 1, .latents = 1, .t = &t }, two = { .rows = 1, .latents = 2, .t = &t };
        CHECK_NEAR(bernoulli->value(&one, &f, 1), expected, 1e-12);
        CHECK_NEAR(softmax->value(&two, pair, 1), expected, 1e-12);
        CHECK_NEAR(softmax->value(&two, shifted, 1), expected, 1e-10);
      }
}

/* What dictionary.h (1) makes of a row's root: R (latents x latents). With one latent function R is the root itself;
 * with several, the row scale is that of the weight. */
static void fill_R(const observations *d, const double *root, size_t n, double *R)
{
  size_t L = d->latents;
  double scale = L > 1 && d->weight ? sqrt(d->weight[n]) : 1;
  for (size_t k = 0; k < L; k++)
    for (size_t l = 0; l < L; l++) {
      double s_k = root[n + k * d->rows], s_l = root[n + l * d->rows];
      R[l + k * L] = L > 1 ? scale * ((l == k) * s_k - s_l * s_k * s_k) : s_k;
    }
}

/* R'R, and R'z - B f for the part of f that is not the offset. */
static void read_model(const observations *d, const double *root, const double *target, const double *f, size_t n,
                       double *residual, double *curvature)
{
  size_t L = d->latents;
  double R[CLASSES * CLASSES] = { 0 }, z[CLASSES], turned[CLASSES], Bf[CLASSES], own[CLASSES];
  fill_R(d, root, n, R);
  for (size_t k = 0; k < L; k++) {
    z[k] = target[n + k * d->rows];
    own[k] = f[n + k * d->rows] - (d->offset ? d->offset[n] : 0);
  }
  naive_cross(L, L, L, R, R, curvature);
  naive_cross(L, L, 1, R, z, turned);
  naive_product(L, L, 1, curvature, own, Bf);
  for (size_t k = 0; k < L; k++) residual[k] = turned[k] - Bf[k];
}

/* The value when two of the latent values move. */
static double moved(const likelihood *l, const observations *d, double *f, size_t i, double by_i, size_t j, double by_j)
{
  double at_i = f[i], at_j = f[j];
  f[i] += by_i, f[j] += by_j;
  double value = l->value(d, f, 1);
  f[j] = at_j, f[i] = at_i;
  return value;
}

static double first_difference(const likelihood *l, const observations *d, double *f, size_t i)
{
  const double step = 1e-4;
  return (moved(l, d, f, i, step, i, 0) - moved(l, d, f, i, -step, i, 0)) / (2 * step);
}

static double second_difference(const likelihood *l, const observations *d, double *f, size_t i, size_t j)
{
  const double step = 1e-3;
  return (moved(l, d, f, i, step, j, step) - moved(l, d, f, i, step, j, -step) - moved(l, d, f, i, -step, j, step) +
          moved(l, d, f, i, -step, j, -step)) / (4 * step * step);
}

static void quadratic_model(likelihood_type type, size_t rows, double spread, int flavour)
{
  pool p = { 0 };
  const likelihood *l = likelihood_of(type);
  observations d = make_data(&p, type, rows, flavour);
  size_t L = d.latents;
  double *f = pool_matrix(&p, rows, L, rows), *root = pool_doubles(&p, rows * L), *target = pool_doubles(&p, rows * L);
  for (size_t i = 0; i < rows * L; i++) f[i] *= spread;
  l->linearise(&d, f, root, target);
  for (size_t n = 0; n < rows; n++) {
    double residual[CLASSES], curvature[CLASSES * CLASSES];
    read_model(&d, root, target, f, n, residual, curvature);
    for (size_t k = 0; k < L; k++) {
      CHECK_NEAR(residual[k], first_difference(l, &d, f, n + k * rows), 1e-7);
      for (size_t m = 0; m < L; m++)
        CHECK_NEAR(curvature[m + k * L], -second_difference(l, &d, f, n + m * rows, n + k * rows), 1e-6);
    }
  }
  pool_free(&p);
}

/* The same against formulas, where differences say nothing any more. */
static void far_model(likelihood_type type, double spread, int flavour)
{
  pool p = { 0 };
  enum { ROWS = 40 };
  observations d = make_data(&p, type, ROWS, flavour);
  size_t L = d.latents;
  double *f = pool_matrix(&p, ROWS, L, ROWS), *root = pool_doubles(&p, ROWS * L), *target = pool_doubles(&p, ROWS * L);
  double *expected = pool_doubles(&p, ROWS * L), *B = pool_doubles(&p, ROWS * L * L), unit = 0;
  for (size_t i = 0; i < ROWS * L; i++) f[i] *= spread;
  likelihood_of(type)->linearise(&d, f, root, target);
  naive_classes(&d, f, expected, B);
  int finite = 1;
  for (size_t i = 0; i < ROWS * L; i++) {
    finite = finite && isfinite(root[i]) && isfinite(target[i]);
    finite = finite && (root[i] > 0 || (type == LIKELIHOOD_BERNOULLI && d.weight && d.weight[i] == 0));
    unit = fmax(unit, fabs(f[i])); /* R'z and B f cancel: rounding is relative to them */
  }
  CHECK(finite);
  int right = 1;
  for (size_t n = 0; n < ROWS; n++) {
    double residual[CLASSES], curvature[CLASSES * CLASSES];
    read_model(&d, root, target, f, n, residual, curvature);
    for (size_t k = 0; k < L; k++) {
      right = right && fabs(residual[k] - expected[n + k * ROWS]) <= 1e-14 * (1 + unit);
      for (size_t m = 0; m < L; m++) right = right && fabs(curvature[m + k * L] - B[n + (m + k * L) * ROWS]) <= 1e-15;
    }
  }
  CHECK(right);
  pool_free(&p);
}

/* The own class's probability is 1 to rounding: what is left of it is still told. */
static void small_residuals(void)
{
  const double t = 1, f = 30, pair[2] = { -30, 0 };
  observations one = { .rows = 1, .latents = 1, .t = &t }, two = { .rows = 1, .latents = 2, .t = &t };
  double root[2], target[2];
  likelihood_of(LIKELIHOOD_BERNOULLI)->linearise(&one, &f, root, target);
  CHECK_NEAR(root[0] / exp(-15), 1.0, 1e-11);
  CHECK_NEAR(target[0] / exp(-15), 31.0, 1e-11);
  likelihood_of(LIKELIHOOD_SOFTMAX)->linearise(&two, pair, root, target);
  CHECK_NEAR(root[0] / exp(-15), 1.0, 1e-11);
  CHECK_NEAR(target[0] / exp(-15), -31.0, 1e-11);
  CHECK_NEAR(root[1], 1.0, 1e-12);
  CHECK_NEAR(target[1] / exp(-30), 31.0, 1e-11);
}

void test_likelihood(void)
{
  static const char *const names[] = { "gaussian", "bernoulli", "softmax" };
  random_seed(9);
  far_away();
  small_residuals();
  for (likelihood_type type = LIKELIHOOD_GAUSSIAN; type <= LIKELIHOOD_SOFTMAX; type++) {
    CHECK(strcmp(likelihood_of(type)->name, names[type]) == 0);
    for (int flavour = 0; flavour < 4; flavour++) {
      for (size_t rows = 0; rows < 18; rows = 4 * rows + 1) {
        if (type == LIKELIHOOD_GAUSSIAN)
          gaussian_density(rows, flavour);
        else
          class_density(type, rows, flavour);
        quadratic_model(type, rows, 1, flavour);
      }
      quadratic_model(type, 20, 3, flavour);
      if (type == LIKELIHOOD_GAUSSIAN) continue;
      for (double spread = 10; spread < 1e7; spread *= 10) far_model(type, spread, flavour);
    }
  }
}
