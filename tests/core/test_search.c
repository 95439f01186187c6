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
  search_save(&s, s.snapshot);
  double value = evidence_objective(&s.model), precision = s.model.now.precision, best;
  size_t active = s.model.active;
  search_hold_noise(&s, 1e-4 * precision);
  CHECK(search_climb(&s, c.problem.tol, EFFORT_MOVES) == RVM_OK);
  search_free_noise(&s);
  CHECK(search_tidy(&s) == RVM_OK);
  CHECK(s.model.cols == s.model.active && s.model.cols < active);
  CHECK(search_open(&s, CENTERS, &best) == RVM_OK);
  CHECK(best > 1);
  CHECK(search_restore(&s, s.snapshot) == RVM_OK);
  CHECK_NEAR(evidence_objective(&s.model), value, 1e-9);
  CHECK_NEAR(s.model.now.precision, precision, 1e-9);
  CHECK(s.model.active == active);
  pool_free(&p);
}

/* The noise held for a while, and for good. */
static void held_noise(size_t centers)
{
  pool p = { 0 };
  fit_case c;
  search s;
  fit_case_kernel(&c, &p, ROWS, 1, centers, 0.3);
  CHECK(search_start(&s, &c.problem, &c.result) == RVM_OK);
  CHECK(search_settle(&s, c.problem.tol, EFFORT_MOVES) == RVM_OK);
  double fitted = s.model.now.precision;
  search_hold_noise(&s, 0.1 * fitted);
  CHECK(s.model.now.precision == 0.1 * fitted && !s.model.now.noise_free);
  search_free_noise(&s);
  CHECK_NEAR(s.model.now.precision, fitted, 1e-12);
  CHECK(s.model.now.noise_free);

  const double kept = 0.2 * fitted;
  search_keep_noise(&s, kept);
  CHECK(s.model.now.precision == kept && !s.model.now.noise_free);
  search_hold_noise(&s, 5 * fitted);
  CHECK(search_settle(&s, c.problem.tol, EFFORT_MOVES) == RVM_OK);
  CHECK(s.model.now.precision == 5 * fitted);
  search_free_noise(&s);
  CHECK(s.model.now.precision == kept && !s.model.now.noise_free);
  CHECK(search_settle(&s, c.problem.tol, EFFORT_POLISH) == RVM_OK);
  CHECK(s.model.now.precision == kept);
  CHECK(c.problem.noise.noise_free); /* the problem itself is as it was */
  pool_free(&p);
}

/* The columns of the model as they are, and the statistics of them and of all others, for another row scale and
 * another target; then there are no candidates until they are asked for. */
static void check_renewed(search *s, fit_case *c, size_t count, const size_t *which, const double *ratio)
{
  pool p = { 0 };
  const evidence_model *m = &s->model;
  size_t active = 0;
  double beta = m->now.precision, best = -1, slope;
  c->result.active = count;
  c->result.precision = beta;
  int same = m->active == count && (s->whole ? m->cols == c->dict.cols : m->cols == count);
  for (size_t j = 0; j < m->cols && same; j++) {
    if (!isfinite(m->ratio[j])) continue;
    same = active < count && s->member[j] == which[active] && m->ratio[j] == ratio[active];
    c->result.which[active] = which[active];
    c->result.ratio[active] = ratio[active];
    active++;
  }
  CHECK(same && active == count);
  CHECK_NEAR(evidence_objective(m), fit_case_evidence(c), 1e-9);
  double gain = fit_case_gain(c, &slope);
  if (s->whole) {
    best = 0;
    for (size_t j = 0; j < m->cols; j++)
      best = fmax(best, evidence_best_move(&m->now, m->S[j], m->Q[j], m->ratio[j]).gain);
    CHECK_NEAR(best, gain, 1e-6);
  } else {
    int members = 1;
    for (size_t j = 0; j < c->dict.cols; j++) {
      int in = 0;
      for (size_t k = 0; k < count; k++) in = in || which[k] == j;
      members = members && s->is_member[j] == in;
    }
    CHECK(members);
    CHECK(s->basis.candidates == 0);
    CHECK(search_intake(s, 1, &best) == RVM_OK);
    CHECK(best == 0 && m->cols == count);
    CHECK(search_open(s, c->dict.cols, &best) == RVM_OK);
    CHECK(best > 1); /* the old model is none for another target */
  }
  CHECK(search_settle(s, c->problem.tol, EFFORT_POLISH) == RVM_OK);
  pool_free(&p);
}

static void renewed(size_t centers)
{
  pool p = { 0 };
  fit_case c;
  search s;
  fit_case_kernel(&c, &p, ROWS, 1, centers, 0.1);
  double *scales = pool_doubles(&p, ROWS), *target = pool_copy(&p, ROWS, c.problem.target);
  for (size_t n = 0; n < ROWS; n++) scales[n] = 1;
  c.dict.row_scale = scales;
  c.problem.target = target;
  c.problem.noise.noise_free = 0;
  c.problem.noise.precision = c.problem.noise.precision_max = 50;
  CHECK(search_start(&s, &c.problem, &c.result) == RVM_OK);
  CHECK(s.whole == (centers < 100));
  CHECK(search_settle(&s, c.problem.tol, EFFORT_POLISH) == RVM_OK);
  for (int round = 0; round < 2; round++) {
    size_t *which = pool_sizes(&p, centers), count = 0;
    double *ratio = pool_doubles(&p, centers);
    for (size_t j = 0; j < s.model.cols; j++)
      if (isfinite(s.model.ratio[j])) which[count] = s.member[j], ratio[count++] = s.model.ratio[j];
    CHECK(count > 3);
    for (size_t n = 0; n < ROWS; n++) {
      scales[n] = 0.2 + random_uniform();
      target[n] = scales[n] * (target[n] + cos((3 + round) * c.block.inputs[n] * 0.1));
    }
    CHECK(search_renew(&s) == RVM_OK);
    check_renewed(&s, &c, count, which, ratio);
  }
  pool_free(&p);
}

/* Nothing in the model: nothing stays. */
static void renewed_empty(void)
{
  pool p = { 0 };
  fit_case c;
  search s;
  double best;
  fit_case_kernel(&c, &p, ROWS, 3, CENTERS, 0.5);
  CHECK(search_start(&s, &c.problem, &c.result) == RVM_OK);
  CHECK(search_renew(&s) == RVM_OK);
  CHECK(s.model.cols == 0 && s.model.active == 0 && s.basis.size == 0 && s.basis.candidates == 0);
  CHECK_NEAR(evidence_objective(&s.model), naive_evidence(ROWS, 0, NULL, NULL, s.model.now.precision, c.problem.target),
             1e-9);
  CHECK(search_open(&s, CENTERS, &best) == RVM_OK);
  CHECK(search_settle(&s, c.problem.tol, EFFORT_MOVES) == RVM_OK);
  CHECK(s.model.active > 0);
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
  held_noise(CENTERS);
  held_noise(40);
  renewed(CENTERS);
  renewed(40);
  renewed_empty();
}
