/* The working set, through fit_fast(): problems too large to be taken whole. */
#include "search.h"

#include <string.h>

#include "helper.h"
#include "tests.h"

enum { ROWS = 260, CENTERS = 1100 }; /* more than are looked at in the beginning */

/* Nothing in the whole dictionary has more than about tol to offer, and what is in stands at its maximum. */
static void check_result(fit_case *c)
{
  fit_case_sort(c);
  int distinct = 1;
  for (size_t k = 0; k < c->result.active; k++)
    distinct = distinct && c->result.which[k] < c->dict.cols && (k == 0 || c->result.which[k - 1] < c->result.which[k]);
  CHECK(distinct);
  CHECK(c->result.active < c->dict.rows);
  CHECK(c->result.converged);
  CHECK(isfinite(fit_case_evidence(c))); /* else too ill-conditioned for the plain way to be a judge */
  const hyperprior *prior = &c->problem.noise.prior;
  double slope, gain = fit_case_gain(c, &slope);
  CHECK(gain <= 2 * c->problem.tol); /* the last polish may move what others have to offer a little */
  if (prior->shape == 0 && prior->rate == 0) CHECK(slope < 1e-3);
}

static void finds_maximum(size_t rows, size_t dims, size_t centers, double width, double memory)
{
  pool p = { 0 };
  fit_case c;
  fit_case_kernel(&c, &p, rows, dims, centers, width);
  c.problem.memory = memory;
  CHECK(fit_fast(&c.problem, &c.result) == RVM_OK);
  check_result(&c);
  pool_free(&p);
}

/* With the noise given, and under hyperpriors. */
static void other_settings(void)
{
  static const hyperprior priors[] = { { 0, 0, 0, 0 }, { 0.5, 1e-3, 0, 0 }, { 0, 0, 2, 0.1 } };
  for (int noise_free = 0; noise_free < 2; noise_free++)
    for (size_t k = 0; k < sizeof priors / sizeof *priors; k++) {
      pool p = { 0 };
      fit_case c;
      fit_case_kernel(&c, &p, ROWS, 1, CENTERS, 0.3);
      c.problem.noise.prior = priors[k];
      c.problem.noise.noise_free = noise_free;
      if (!noise_free) c.problem.noise.precision = c.problem.noise.precision_max = 100;
      CHECK(fit_fast(&c.problem, &c.result) == RVM_OK);
      if (!noise_free) CHECK(c.result.precision == 100);
      check_result(&c);
      pool_free(&p);
    }
}

/* Every centre many times over, as when inputs are whole numbers: one of the copies is enough. */
static void repeated_centers(size_t dims, size_t distinct, double width, double noise)
{
  pool p = { 0 };
  fit_case c;
  fit_case_kernel(&c, &p, ROWS, dims, CENTERS, width);
  double *z = pool_copy(&p, dims * CENTERS, c.block.centers), *target = pool_copy(&p, ROWS, c.problem.target);
  for (size_t i = dims * distinct; i < dims * CENTERS; i++) z[i] = z[i % (dims * distinct)];
  for (size_t n = 0; n < ROWS; n++) target[n] += noise * random_normal();
  c.block.centers = z;
  c.problem.target = target;
  CHECK(fit_fast(&c.problem, &c.result) == RVM_OK);
  size_t copies = 0;
  for (size_t k = 0; k < c.result.active; k++)
    for (size_t i = 0; i < k; i++) copies += c.result.which[i] % distinct == c.result.which[k] % distinct;
  CHECK(copies == 0);
  check_result(&c);
  pool_free(&p);
}

/* More fixed columns than enter at once, three of them of use. */
static void many_explicit_columns(void)
{
  pool p = { 0 };
  fit_case c;
  enum { COLS = 1000 };
  double *X = pool_matrix(&p, ROWS, COLS, ROWS), *target = pool_zeros(&p, ROWS);
  for (size_t n = 0; n < ROWS; n++)
    target[n] = 2 * X[n + 3 * ROWS] - X[n + 400 * ROWS] + X[n + 990 * ROWS] + 0.05 * random_normal();
  fit_case_explicit(&c, &p, ROWS, COLS, X, target);
  c.problem.noise.noise_free = 0;
  c.problem.noise.precision = c.problem.noise.precision_max = 400;
  CHECK(c.problem.fixed_columns == COLS);
  CHECK(fit_fast(&c.problem, &c.result) == RVM_OK);
  check_result(&c);
  size_t found = 0;
  for (size_t k = 0; k < c.result.active; k++)
    found += c.result.which[k] == 3 || c.result.which[k] == 400 || c.result.which[k] == 990;
  CHECK(found == 3);
  pool_free(&p);
}

/* A model is saved, the search goes elsewhere and drops its columns, and comes back. */
static void returns_to_saved(void)
{
  pool p = { 0 };
  fit_case c;
  search s;
  fit_case_kernel(&c, &p, ROWS, 1, CENTERS, 0.1);
  CHECK(search_start(&s, &c.problem, &c.result) == RVM_OK);
  CHECK(search_settle(&s, c.problem.tol, EFFORT_POLISH) == RVM_OK);
  search_save(&s);
  double value = evidence_objective(&s.model), precision = s.model.now.precision, best;
  size_t active = s.model.active;
  search_hold_noise(&s, 1e-4 * precision);
  CHECK(search_climb(&s, c.problem.tol, EFFORT_MOVES) == RVM_OK);
  search_free_noise(&s);
  CHECK(search_tidy(&s) == RVM_OK);
  CHECK(s.model.cols == s.model.active && s.model.cols < active);
  CHECK(search_open(&s, CENTERS, &best) == RVM_OK);
  CHECK(best > 1);
  CHECK(search_restore(&s) == RVM_OK);
  CHECK_NEAR(evidence_objective(&s.model), value, 1e-9);
  CHECK_NEAR(s.model.now.precision, precision, 1e-9);
  CHECK(s.model.active == active);
  pool_free(&p);
}

void test_search(void)
{
  random_seed(11);
  finds_maximum(ROWS, 1, CENTERS, 0.3, 1e9);
  finds_maximum(ROWS, 1, CENTERS, 0.1, 1);
  finds_maximum(ROWS, 2, CENTERS, 0.5, 1e9);
  finds_maximum(ROWS, 3, 1000, 1.5, 1e9);
  finds_maximum(20, 3, 13000, 3, 1e9); /* rows are few, columns many */
  other_settings();
  for (int trial = 0; trial < 8; trial++) {
    repeated_centers(1, 10 + 10 * (size_t) trial, 0.3, 0);
    repeated_centers(3, 5, 0.8, trial % 2);
    repeated_centers(3, 20, 0.8, trial % 2);
  }
  many_explicit_columns();
  returns_to_saved();
}
