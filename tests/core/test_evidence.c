/* The evidence of a working set against plain dense algebra over all rows. */
#include "evidence.h"

#include <string.h>

#include "helper.h"
#include "tests.h"

enum { PAD = 2, OUTSIDE = 3 }; /* OUTSIDE: rows of the dense problem that the basis does not span */

static const hyperprior priors[] = { { 0, 0, 0, 0 }, { 0, 0, 1.5, 0.2 }, { 0.5, 0.3, 0, 0 }, { 0, 0.1, 0, 0 },
                                     { 1.2, 0.4, 2, 0.5 } };
enum { PRIORS = sizeof priors / sizeof *priors };

static int flat(const hyperprior *prior) { return prior->shape == 0 && prior->rate == 0; }

/* A model of random columns, `active` of them in, whose target is made of the first three and noise. */
static evidence_model make_model(pool *p, size_t rows, size_t cols, size_t active, int noise_free,
                                 const hyperprior *prior)
{
  size_t ld = rows + PAD;
  double *coords = pool_matrix(p, rows, cols, ld), *target = pool_matrix(p, rows, 1, rows);
  evidence_model m = { .rows = rows, .cols = cols, .ld = ld, .coords = coords, .target = target, .rest = 0.7,
                       .ratio = pool_doubles(p, cols), .white = pool_matrix(p, rows, cols, ld),
                       .white_target = pool_doubles(p, rows), .S = pool_doubles(p, cols), .Q = pool_doubles(p, cols),
                       .size = pool_doubles(p, cols), .panel = pool_doubles(p, rows * PANEL), .threads = 1 };
  m.now = (evidence_setting){ .count = (double) (rows + OUTSIDE), .precision = 2, .precision_max = 1e6,
                              .noise_free = noise_free, .prior = *prior };
  for (size_t n = 0; n < rows; n++) {
    target[n] *= 0.5;
    for (size_t j = 0; j < 3 && j < cols; j++) target[n] += (double) (j + 1) * coords[n + j * ld];
  }
  for (size_t j = 0; j < cols; j++) m.ratio[j] = j < active ? exp(random_normal()) : INFINITY;
  evidence_refresh(&m);
  return m;
}

/* The same as a problem over all rows: the columns end in zeros, the target in what the basis leaves out. */
typedef struct {
  size_t rows;
  double *Phi, *target, *alpha;
} dense_problem;

static dense_problem densify(pool *p, const evidence_model *m)
{
  dense_problem d = { .rows = m->rows + OUTSIDE };
  d.Phi = pool_zeros(p, d.rows * m->cols);
  d.target = pool_zeros(p, d.rows);
  d.alpha = pool_doubles(p, m->cols);
  memcpy(d.target, m->target, m->rows * sizeof(double));
  d.target[m->rows] = sqrt(m->rest);
  for (size_t j = 0; j < m->cols; j++) {
    memcpy(d.Phi + j * d.rows, m->coords + j * m->ld, m->rows * sizeof(double));
    d.alpha[j] = m->ratio[j] * m->now.precision;
  }
  return d;
}

static double log_gamma_density(double shape, double rate, double x)
{
  return (shape > 0 ? shape * log(x) : 0) - rate * x;
}

static double naive_objective(pool *p, const evidence_model *m)
{
  dense_problem d = densify(p, m);
  const hyperprior *prior = &m->now.prior;
  double value = naive_evidence(d.rows, m->cols, d.Phi, d.alpha, m->now.precision, d.target);
  value += log_gamma_density(prior->noise_shape, prior->noise_rate, m->now.precision);
  for (size_t j = 0; j < m->cols; j++) {
    if (!isfinite(d.alpha[j])) continue;
    value += log_gamma_density(prior->shape, prior->rate, d.alpha[j]);
    if (prior->shape > 0) value -= log_gamma_density(prior->shape, prior->rate, prior->shape / prior->rate);
  }
  return value;
}

/* S, Q, t'C^-1 t and log|C| from the inverse of C = I + sum of r r' / ratio over all rows. */
static void check_statistics(pool *p, const evidence_model *m)
{
  dense_problem d = densify(p, m);
  double *C = pool_doubles(p, d.rows * d.rows), *inverse = pool_doubles(p, d.rows * d.rows), log_det = 0, quadratic;
  double *S = pool_doubles(p, m->cols), *Q = pool_doubles(p, m->cols), *turned = pool_doubles(p, d.rows);
  size_t active = 0;
  naive_marginal(d.rows, m->cols, d.Phi, m->ratio, 1, C);
  naive_inverse(d.rows, C, inverse);
  naive_cholesky(d.rows, C);
  for (size_t i = 0; i < d.rows; i++) log_det += 2 * log(C[i + i * d.rows]);
  for (size_t j = 0; j < m->cols; j++) {
    const double *column = d.Phi + j * d.rows;
    naive_product(d.rows, d.rows, 1, inverse, column, turned);
    naive_cross(d.rows, 1, 1, turned, column, S + j);
    naive_cross(d.rows, 1, 1, turned, d.target, Q + j);
    active += isfinite(m->ratio[j]) ? 1 : 0;
  }
  naive_product(d.rows, d.rows, 1, inverse, d.target, turned);
  naive_cross(d.rows, 1, 1, turned, d.target, &quadratic);
  CHECK(difference(m->cols, m->S, S) < 1e-10);
  CHECK(difference(m->cols, m->Q, Q) < 1e-10);
  CHECK_NEAR(m->now.quadratic, quadratic, 1e-10);
  CHECK_NEAR(m->log_det, log_det, 1e-10);
  CHECK(m->active == active);
  CHECK_NEAR(evidence_objective(m), naive_objective(p, m), 1e-10);
}

/* The objective with column j at another ratio; the model is put back. */
static double objective_with(evidence_model *m, size_t j, double ratio)
{
  double before = m->ratio[j];
  m->ratio[j] = ratio;
  evidence_refresh(m);
  double value = evidence_objective(m);
  m->ratio[j] = before;
  evidence_refresh(m);
  return value;
}

static void from_scratch(void)
{
  static const size_t rows[] = { 1, 5, 17 }, cols[] = { 0, 1, 3, 17, 20 };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (size_t j = 0; j < sizeof cols / sizeof *cols; j++)
      for (size_t k = 0; k < PRIORS; k++)
        for (int noise_free = 0; noise_free < 2; noise_free++) {
          pool p = { 0 };
          evidence_model m = make_model(&p, rows[i], cols[j], cols[j] / 2, noise_free, priors + k);
          check_statistics(&p, &m);
          pool_free(&p);
        }
}

/* The state that moves led to against the one made from the ratios. */
static void check_refreshed(pool *p, evidence_model *m)
{
  double *S = pool_copy(p, m->cols, m->S), *Q = pool_copy(p, m->cols, m->Q);
  double log_det = m->log_det, quadratic = m->now.quadratic, precision = m->now.precision;
  size_t active = m->active;
  evidence_refresh(m);
  CHECK(difference(m->cols, S, m->S) < 1e-8);
  CHECK(difference(m->cols, Q, m->Q) < 1e-8);
  CHECK_NEAR(log_det, m->log_det, 1e-8);
  CHECK_NEAR(quadratic, m->now.quadratic, 1e-8);
  CHECK_NEAR(precision, m->now.precision, 1e-8);
  CHECK(active == m->active);
}

/* Columns come, change and go, one of them so strong that what it hides is lost. */
static void sequence_of_moves(int noise_free)
{
  pool p = { 0 };
  enum { ROWS = 17, COLS = 12, MOVES = 200 };
  evidence_model m = make_model(&p, ROWS, COLS, 0, noise_free, priors);
  for (int move = 0; move < MOVES; move++) {
    size_t j = (size_t) (random_uniform() * COLS);
    evidence_apply(&m, j, random_uniform() < 0.3 ? INFINITY : exp(2 * random_normal()));
    if (move % 20 == 19) check_refreshed(&p, &m);
  }
  check_statistics(&p, &m);
  evidence_apply(&m, 0, 1e-12);
  check_refreshed(&p, &m);
  evidence_apply(&m, 0, INFINITY);
  check_statistics(&p, &m);
  pool_free(&p);
}

/* At the noise that was set, the objective is lower on both sides. */
static void noise(void)
{
  for (size_t k = 0; k < PRIORS; k++) {
    pool p = { 0 };
    evidence_model m = make_model(&p, 12, 6, 4, 1, priors + k);
    double best = evidence_objective(&m), precision = m.now.precision;
    m.now.noise_free = 0;
    for (int side = -1; side <= 1; side += 2) {
      m.now.precision = precision * (1 + 0.01 * side);
      CHECK(evidence_objective(&m) < best);
    }
    m.now.precision_max = 0.5 * precision;
    evidence_fit_noise(&m);
    CHECK(m.now.precision == 0.5 * precision);
    pool_free(&p);
  }
}

/* The gain that is promised is the one that is had, and no other ratio gives more. */
static void best_moves(const hyperprior *prior, int noise_free, double precision_max)
{
  pool p = { 0 };
  static const double others[] = { 1e-3, 0.5, 0.9, 0.99, 1.01, 1.1, 2, 1e3, INFINITY };
  evidence_model m = make_model(&p, 15, 10, 5, noise_free, prior);
  m.now.precision_max = precision_max;
  evidence_refresh(&m);
  int at_present_noise = noise_free && !flat(prior), capped = m.now.precision == precision_max;
  if (at_present_noise) m.now.noise_free = 0;
  double before = evidence_objective(&m);
  for (size_t j = 0; j < m.cols; j++) {
    evidence_move move = evidence_best_move(&m.now, m.S[j], m.Q[j], m.ratio[j]);
    double value = objective_with(&m, j, move.ratio);
    CHECK_NEAR(value - before, move.gain, 1e-9);
    CHECK(move.gain >= -1e-12);
    for (size_t i = 0; i < sizeof others / sizeof *others && !capped; i++) {
      double base = isfinite(move.ratio) ? move.ratio : isfinite(m.ratio[j]) ? m.ratio[j] : m.S[j];
      CHECK(objective_with(&m, j, others[i] * base) <= value + 1e-8);
    }
  }
  pool_free(&p);
}

/* With the noise free under a hyperprior, what the noise adds comes on top. */
static void best_moves_noise_on_top(void)
{
  pool p = { 0 };
  evidence_model m = make_model(&p, 15, 10, 5, 1, priors + 4);
  double before = evidence_objective(&m);
  for (size_t j = 0; j < m.cols; j++) {
    evidence_move move = evidence_best_move(&m.now, m.S[j], m.Q[j], m.ratio[j]);
    CHECK(objective_with(&m, j, move.ratio) >= before + move.gain - 1e-9);
  }
  pool_free(&p);
}

static void column_of_zeros(void)
{
  pool p = { 0 };
  evidence_model m = make_model(&p, 6, 3, 2, 1, priors);
  evidence_move out = evidence_best_move(&m.now, 0, 0, INFINITY), in = evidence_best_move(&m.now, 0, 0, 2);
  CHECK(out.ratio == INFINITY && out.gain == 0);
  CHECK(in.gain == 0);
  pool_free(&p);
}

static void newton(const hyperprior *prior, int noise_free)
{
  pool p = { 0 };
  const double step = 1e-5;
  evidence_model m = make_model(&p, 20, 9, 6, noise_free, prior);
  double *work = pool_doubles(&p, evidence_newton_work(m.rows, m.cols)), largest, expected = 0;
  for (size_t j = 0; j < m.cols; j++)
    if (isfinite(m.ratio[j]))
      expected = fmax(expected, fabs(objective_with(&m, j, m.ratio[j] * exp(step)) -
                                     objective_with(&m, j, m.ratio[j] * exp(-step))) / (2 * step));
  for (int round = 0; round < 50; round++) {
    double before = evidence_objective(&m), *ratio = pool_copy(&p, m.cols, m.ratio);
    int helped = evidence_newton(&m, &largest, work);
    if (round == 0) CHECK_NEAR(largest, expected, 1e-7);
    if (helped) CHECK(evidence_objective(&m) >= before);
    if (helped) continue;
    CHECK_NEAR(evidence_objective(&m), before, 1e-12);
    CHECK(memcmp(ratio, m.ratio, m.cols * sizeof(double)) == 0);
  }
  if (prior->shape > 0) CHECK(largest < 1e-6); /* no maximum at infinity: Newton has arrived */
  check_statistics(&p, &m);
  pool_free(&p);
}

static void newton_of_nothing(void)
{
  pool p = { 0 };
  evidence_model m = make_model(&p, 5, 3, 0, 1, priors);
  double largest = 1;
  CHECK(!evidence_newton(&m, &largest, pool_doubles(&p, evidence_newton_work(m.rows, m.cols))));
  CHECK(largest == 0);
  pool_free(&p);
}

/* The best objective after column `leaves` goes out and `enters` comes in. */
static double exchanged(evidence_model *m, size_t leaves, size_t enters)
{
  double *ratio = m->ratio, before = ratio[leaves], value;
  ratio[leaves] = INFINITY;
  evidence_refresh(m);
  value = evidence_objective(m) + evidence_best_move(&m->now, m->S[enters], m->Q[enters], INFINITY).gain;
  ratio[leaves] = before;
  evidence_refresh(m);
  return value;
}

/* Where a climb ends no single move gains more than tol; nor an exchange; and Newton is at rest. */
static void climb(size_t rows, size_t cols, size_t active, const hyperprior *prior, int noise_free,
                  evidence_effort effort)
{
  pool p = { 0 };
  const double tol = 1e-4;
  int exchanges = effort != EFFORT_MOVES && flat(prior);
  evidence_model m = make_model(&p, rows, cols, active, noise_free, prior);
  double *work = pool_doubles(&p, evidence_newton_work(rows, cols)), before = evidence_objective(&m);
  long moves = 10000;
  rvm_progress now = { 0 };
  CHECK(evidence_climb(&m, tol, effort, &moves, work, NULL, &now) == RVM_OK);
  CHECK(moves > 0);
  double value = evidence_objective(&m);
  CHECK(value >= before - 1e-9);
  check_statistics(&p, &m);
  for (size_t j = 0; j < cols; j++) {
    evidence_move move = evidence_best_move(&m.now, m.S[j], m.Q[j], m.ratio[j]);
    CHECK(move.gain <= tol);
    for (size_t i = 0; i < cols && exchanges && isfinite(m.ratio[j]); i++)
      if (!isfinite(m.ratio[i])) CHECK(exchanged(&m, j, i) <= value + tol + 1e-9);
  }
  double largest;
  evidence_newton(&m, &largest, work);
  if (effort == EFFORT_POLISH) CHECK(largest < 1e-4);
  pool_free(&p);
}

/* Copies of a column: only one of each can be of use, and the climb ends. */
static void climb_with_copies(void)
{
  pool p = { 0 };
  enum { ROWS = 15, COLS = 12 };
  evidence_model m = make_model(&p, ROWS, COLS, 0, 1, priors);
  double *coords = pool_copy(&p, m.ld * (COLS - 1) + ROWS, m.coords);
  for (size_t j = COLS / 2; j < COLS; j++)
    memcpy(coords + j * m.ld, coords + (j - COLS / 2) * m.ld, ROWS * sizeof(double));
  m.coords = coords;
  evidence_refresh(&m);
  double *work = pool_doubles(&p, evidence_newton_work(ROWS, COLS));
  long moves = 10000;
  rvm_progress now = { 0 };
  CHECK(evidence_climb(&m, 1e-3, EFFORT_POLISH, &moves, work, NULL, &now) == RVM_OK);
  CHECK(moves > 0);
  for (size_t j = 0; j < COLS / 2; j++) CHECK(!(isfinite(m.ratio[j]) && isfinite(m.ratio[j + COLS / 2])));
  check_statistics(&p, &m);
  pool_free(&p);
}

static void climb_is_bounded(void)
{
  pool p = { 0 };
  evidence_model m = make_model(&p, 30, 40, 0, 1, priors);
  double *work = pool_doubles(&p, evidence_newton_work(m.rows, m.cols));
  long none = 0, moves = 3, many = 10000;
  rvm_progress now = { 0 };
  CHECK(evidence_climb(&m, 1e-4, EFFORT_POLISH, &none, work, NULL, &now) == RVM_OK);
  CHECK(m.active == 0 && none == 0);
  CHECK(evidence_climb(&m, 1e-4, EFFORT_POLISH, &moves, work, NULL, &now) == RVM_OK);
  CHECK(m.active <= 3 && moves <= 0);
  tick_counter ticks = { 0, 1 };
  rvm_ticker ticker = counting_ticker(&ticks);
  m = make_model(&p, 30, 40, 0, 1, priors); /* from the start: enough moves for a tick */
  CHECK(evidence_climb(&m, 1e-4, EFFORT_POLISH, &many, work, &ticker, &now) == RVM_INTERRUPTED);
  CHECK(ticks.seen == 1);
  CHECK_NEAR(now.evidence, evidence_objective(&m), 1e-12);
  CHECK(now.active == (int) m.active);
  pool_free(&p);
}

/* After a climb: a column outside judged as the replacement of each active one, the noise held. */
static void best_partner(void)
{
  pool p = { 0 };
  enum { ROWS = 18, COLS = 20 };
  evidence_model m = make_model(&p, ROWS, COLS, 0, 0, priors);
  exchange_partner *partner = pool_bytes(&p, COLS * sizeof *partner);
  size_t *index = pool_sizes(&p, COLS), partners = 0;
  long moves = 1000;
  rvm_progress now = { 0 };
  double *work = pool_doubles(&p, evidence_newton_work(ROWS, COLS));
  CHECK(evidence_climb(&m, 1e-8, EFFORT_MOVES, &moves, work, NULL, &now) == RVM_OK);
  for (size_t j = 0; j < COLS; j++) {
    CHECK(evidence_partner(&m, j, partner + partners) == (isfinite(m.ratio[j]) ? 1 : 0));
    if (!isfinite(m.ratio[j])) continue;
    CHECK_NEAR(partner[partners].loss, objective_with(&m, j, INFINITY) - evidence_objective(&m), 1e-9);
    index[partners++] = j;
  }
  CHECK(partners > 1 && partners < COLS);
  for (size_t candidate = 0; candidate < COLS; candidate++) {
    double *shared = pool_doubles(&p, 2 * partners), before = evidence_objective(&m), gain = -50, expected = gain;
    size_t best = partners;
    if (isfinite(m.ratio[candidate])) continue;
    for (size_t k = 0; k < partners; k++) {
      double rise = exchanged(&m, index[k], candidate) - before;
      /* an exchange is one only if the newcomer comes in when the other is gone */
      if (rise > partner[k].loss + 1e-8 && rise > expected) expected = rise, best = k;
      naive_cross(ROWS, 1, 1, m.white + index[k] * m.ld, m.white + candidate * m.ld, shared + 2 * k);
    }
    CHECK(evidence_best_partner(m.now.precision, partners, partner, shared, 2, m.S[candidate], m.Q[candidate], &gain) ==
          best);
    CHECK_NEAR(gain, expected, 1e-9);
  }
  m.now.prior = priors[2];
  CHECK(!evidence_partner(&m, index[0], partner)); /* a hyperprior that is not flat */
  pool_free(&p);
}

static void square_root(size_t rows, size_t cols)
{
  pool p = { 0 };
  evidence_model m = make_model(&p, rows, cols, cols / 2, 0, priors);
  double *T = pool_doubles(&p, rows * rows), *product = pool_doubles(&p, rows * rows);
  double *C = pool_doubles(&p, rows * rows), *inverse = pool_doubles(&p, rows * rows);
  double *packed = pool_doubles(&p, rows * cols);
  for (size_t j = 0; j < cols; j++) memcpy(packed + j * rows, m.coords + j * m.ld, rows * sizeof(double));
  naive_marginal(rows, cols, packed, m.ratio, 1, C);
  naive_inverse(rows, C, inverse);
  evidence_refresh_with_root(&m, T);
  naive_cross(rows, rows, rows, T, T, product);
  CHECK(difference(rows * rows, product, inverse) < 1e-12);
  pool_free(&p);
}

void test_evidence(void)
{
  random_seed(7);
  from_scratch();
  sequence_of_moves(0);
  sequence_of_moves(1);
  noise();
  for (size_t k = 0; k < PRIORS; k++)
    for (int noise_free = 0; noise_free < 2; noise_free++) {
      best_moves(priors + k, noise_free, 1e6);
      newton(priors + k, noise_free);
      for (evidence_effort effort = EFFORT_MOVES; effort <= EFFORT_POLISH; effort++) {
        climb(20, 15, 0, priors + k, noise_free, effort);
        climb(20, 30, 10, priors + k, noise_free, effort);
        climb(25, 6, 6, priors + k, noise_free, effort);
      }
    }
  best_moves(priors, 1, 0.05); /* the noise at its floor */
  best_moves_noise_on_top();
  column_of_zeros();
  newton_of_nothing();
  climb(5, 0, 0, priors, 1, EFFORT_POLISH);
  climb_with_copies();
  climb_is_bounded();
  best_partner();
  square_root(1, 1);
  square_root(5, 17);
  square_root(17, 8);
  square_root(90, 150); /* several panels */
}
