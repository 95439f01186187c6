/* The three drivers: known answers, interrupts, memory that runs out. */
#include "fit.h"

#include <string.h>

#include "helper.h"
#include "linalg.h"
#include "posterior.h"
#include "tests.h"

typedef rvm_status (*driver)(const fit_problem *, fit_result *);
static const driver drivers[] = { fit_fast, fit_mackay, fit_em };
enum { DRIVERS = sizeof drivers / sizeof *drivers };

/* Orthonormal columns and known noise: every precision has its own closed form. */
static void closed_form(driver fit)
{
  pool p = { 0 };
  fit_case c;
  enum { ROWS = 40, COLS = 12 };
  const double beta = 4;
  double *X = pool_matrix(&p, ROWS, COLS, ROWS), *target = pool_matrix(&p, ROWS, 1, ROWS), *q = pool_doubles(&p, COLS);
  linalg_qr(ROWS, COLS, X, ROWS, pool_doubles(&p, COLS * COLS), COLS, pool_doubles(&p, linalg_qr_work(COLS)));
  for (size_t j = 0; j < COLS; j++)
    for (size_t n = 0; n < ROWS; n++) target[n] += (j % 3 == 0 ? 2.0 + (double) j : 0) * X[n + j * ROWS];
  naive_cross(ROWS, COLS, 1, X, target, q);
  fit_case_explicit(&c, &p, ROWS, COLS, X, target);
  c.problem.noise.noise_free = 0;
  c.problem.noise.precision = c.problem.noise.precision_max = beta;
  c.problem.tol = 1e-6;
  CHECK(fit(&c.problem, &c.result) == RVM_OK);
  CHECK(c.result.precision == beta);
  fit_case_sort(&c);
  size_t k = 0;
  for (size_t j = 0; j < COLS; j++) {
    double excess = beta * q[j] * q[j] - 1; /* the column belongs in when this is positive */
    if (excess < 0) continue;
    CHECK(k < c.result.active && c.result.which[k] == j);
    if (k < c.result.active) CHECK_NEAR(c.result.ratio[k] * excess, 1.0, 1e-2);
    k++;
  }
  CHECK(k == c.result.active);
  pool_free(&p);
}

/* Three columns of forty make the target: they are found, with their weights, and nothing else matters. */
static void sparse_model(driver fit, int weighted)
{
  pool p = { 0 };
  fit_case c;
  enum { ROWS = 80, COLS = 40 };
  double *X = pool_matrix(&p, ROWS, COLS, ROWS), *target = pool_zeros(&p, ROWS), *scales = pool_doubles(&p, ROWS);
  double truth[COLS] = { 0 }, found[COLS] = { 0 };
  truth[2] = 3, truth[17] = -2, truth[39] = 1;
  for (size_t n = 0; n < ROWS; n++) {
    scales[n] = weighted ? 0.5 + random_uniform() : 1;
    for (size_t j = 0; j < COLS; j++) target[n] += scales[n] * truth[j] * X[n + j * ROWS];
    target[n] += 0.1 * random_normal();
  }
  fit_case_explicit(&c, &p, ROWS, COLS, X, target);
  if (weighted) c.dict.row_scale = scales;
  CHECK(fit(&c.problem, &c.result) == RVM_OK);
  CHECK(c.result.converged);
  CHECK(!c.result.held);
  CHECK_NEAR(1 / sqrt(c.result.precision), 0.1, 0.03);
  double slope, gain = fit_case_gain(&c, &slope);
  if (fit == fit_fast) CHECK(gain <= c.problem.tol); /* what the others prune is gone for good */
  CHECK(slope < 1e-4);

  size_t m = c.result.active;
  double *alpha = pool_doubles(&p, m);
  posterior out = { .mean = pool_doubles(&p, m), .factor = pool_doubles(&p, m * m),
                    .covariance = pool_doubles(&p, m * m) };
  for (size_t k = 0; k < m; k++) alpha[k] = c.result.ratio[k] * c.result.precision;
  CHECK(posterior_gaussian(&c.dict, target, ROWS, m, c.result.which, alpha, c.result.precision, &c.problem.work,
                           &out) == RVM_OK);
  for (size_t k = 0; k < m; k++) found[c.result.which[k]] = out.mean[k];
  for (size_t j = 0; j < COLS; j++) CHECK_NEAR(found[j], truth[j], 0.05);
  CHECK_NEAR(out.evidence, fit_case_evidence(&c), 1e-9);
  if (fit != fit_fast) CHECK_NEAR(out.evidence, c.result.trace[c.result.iterations - 1].evidence, 1e-6);
  pool_free(&p);
}

/* Targets and columns at the edge of what there is to fit. */
static void degenerate(driver fit)
{
  enum { ROWS = 20, COLS = 5 };
  for (int kind = 0; kind < 5; kind++) {
    pool p = { 0 };
    fit_case c;
    double *X = pool_matrix(&p, ROWS, COLS, ROWS), *target = pool_matrix(&p, ROWS, 1, ROWS);
    size_t cols = kind == 0 ? 0 : COLS;
    if (kind == 1) memset(X, 0, ROWS * COLS * sizeof(double));
    if (kind == 2) memset(X, 0, ROWS * 2 * sizeof(double));
    if (kind == 3) memcpy(X + ROWS, X, ROWS * sizeof(double));
    if (kind == 4) memcpy(target, X + ROWS, ROWS * sizeof(double)); /* fits without noise */
    fit_case_explicit(&c, &p, ROWS, cols, X, target);
    CHECK(fit(&c.problem, &c.result) == RVM_OK);
    CHECK(c.result.converged);
    CHECK(c.result.precision > 0 && c.result.precision <= c.problem.noise.precision_max);
    CHECK(c.result.active <= cols);
    CHECK(isfinite(fit_case_evidence(&c)));
    double slope, gain = fit_case_gain(&c, &slope);
    if (fit == fit_fast) CHECK(gain <= c.problem.tol);
    if (kind < 2) CHECK(c.result.active == 0);
    for (size_t k = 0; k < c.result.active && kind == 2; k++) CHECK(c.result.which[k] >= 2);
    if (kind == 4) CHECK(c.result.active == 1 && c.result.which[0] == 1);
    pool_free(&p);
  }
}

/* Noise-free targets of many kinds: the model must hold what it claims. */
static void exact_targets(driver fit)
{
  enum { ROWS = 20, COLS = 5, TRIES = 30 };
  int right = 0;
  for (int trial = 0; trial < TRIES; trial++) {
    pool p = { 0 };
    fit_case c;
    double *X = pool_matrix(&p, ROWS, COLS, ROWS);
    fit_case_explicit(&c, &p, ROWS, COLS, X, X + ROWS);
    right += fit(&c.problem, &c.result) == RVM_OK && c.result.active == 1 && c.result.which[0] == 1;
    pool_free(&p);
  }
  CHECK(right == TRIES);
}

/* The weights that the data determine, as a share of the cases. */
static double share_determined(const fit_case *c)
{
  pool p = { 0 };
  size_t m = c->result.active;
  double *alpha = pool_doubles(&p, m), share = 0;
  posterior out = { .mean = pool_doubles(&p, m), .factor = pool_doubles(&p, m * m),
                    .covariance = pool_doubles(&p, m * m) };
  rvm_workspace work = pool_workspace(&p);
  for (size_t k = 0; k < m; k++) alpha[k] = c->result.ratio[k] * c->result.precision;
  CHECK(posterior_gaussian(&c->dict, c->problem.target, c->problem.noise.count, m, c->result.which, alpha,
                           c->result.precision, &work, &out) == RVM_OK);
  for (size_t k = 0; k < m; k++) share += (1 - alpha[k] * out.covariance[k + k * m]) / (double) c->dict.rows;
  pool_free(&p);
  return share;
}

/* A column for every case, and no case near 0: the evidence would interpolate. A few dozen cases it may; with
 * hundreds the noise is held, at half the target's variance or less, where about half as many weights as cases are
 * determined. */
static void interpolation(size_t cases, int held, int maxit)
{
  pool p = { 0 };
  fit_case c;
  double *X = pool_matrix(&p, cases, cases, cases), *target = pool_doubles(&p, cases);
  for (size_t i = 0; i < cases * cases; i++) X[i] = 0.2 * X[i] / sqrt((double) cases) + (i % (cases + 1) == 0);
  for (size_t n = 0; n < cases; n++) target[n] = (n % 2 ? 1 : -1) * (1 + 0.5 * random_uniform());
  fit_case_explicit(&c, &p, cases, cases, X, target);
  c.problem.maxit = maxit;
  fit_case_use(&c, &p);
  CHECK(fit_fast(&c.problem, &c.result) == RVM_OK);
  CHECK(c.result.held == held);
  double share = share_determined(&c);
  if (held) {
    const double most = c.problem.noise.precision / 0.5;
    CHECK(c.result.precision >= most * (1 - 1e-12) && c.result.precision < 100 * most);
    CHECK(share > 0.3 && share < 0.55);
    c.problem.noise.noise_free = 0; /* as it was for the fit, from then on */
  } else {
    CHECK(share > 0.8);
  }
  CHECK(c.result.converged == (c.result.iterations < maxit));
  double slope, gain = fit_case_gain(&c, &slope);
  if (c.result.converged) CHECK(gain <= c.problem.tol);
  if (c.result.converged) CHECK(slope < 1e-3);
  pool_free(&p);
}

static void few_iterations(driver fit)
{
  for (int maxit = 1; maxit < 6; maxit++) {
    pool p = { 0 };
    fit_case c;
    fit_case_kernel(&c, &p, 60, 1, 40, 0.2);
    c.problem.maxit = maxit;
    fit_case_use(&c, &p);
    CHECK(fit(&c.problem, &c.result) == RVM_OK);
    CHECK(c.result.iterations <= maxit);
    CHECK(!c.result.converged);
    for (int i = 0; i < c.result.iterations; i++) {
      const fit_trace *t = c.result.trace + i;
      CHECK(t->iteration == i + 1 && isfinite(t->evidence) && t->precision > 0 && t->active >= 0);
    }
    pool_free(&p);
  }
}

static int same_result(const fit_result *a, const fit_result *b)
{
  return a->active == b->active && a->iterations == b->iterations && a->precision == b->precision &&
         memcmp(a->which, b->which, b->active * sizeof(size_t)) == 0 &&
         memcmp(a->ratio, b->ratio, b->active * sizeof(double)) == 0;
}

static void same_with_threads(driver fit, size_t rows, size_t centers)
{
  pool p = { 0 };
  fit_case c;
  fit_case_kernel(&c, &p, rows, 1, centers, 0.3);
  c.problem.maxit = 30;
  CHECK(fit(&c.problem, &c.result) == RVM_OK);
  fit_result one = c.result;
  c.dict.threads = 2;
  fit_case_use(&c, &p);
  CHECK(fit(&c.problem, &c.result) == RVM_OK);
  CHECK(same_result(&c.result, &one));
  pool_free(&p);
}

/* Stopped at every tick there is: no tick follows, and every piece of memory is intact. */
static void interrupted(driver fit, size_t rows, size_t dims, size_t centers, double width, int maxit)
{
  pool p = { 0 };
  fit_case c;
  tick_counter ticks = { 0, 0 };
  fit_case_kernel(&c, &p, rows, dims, centers, width);
  c.problem.maxit = maxit;
  c.problem.ticker = counting_ticker(&ticks);
  CHECK(fit(&c.problem, &c.result) == RVM_OK);
  long all = ticks.seen;
  CHECK(all > 2);
  for (long stop = 1; stop <= all; stop++) {
    pool run = { 0 };
    ticks = (tick_counter){ 0, stop };
    fit_case_use(&c, &run);
    CHECK(fit(&c.problem, &c.result) == RVM_INTERRUPTED);
    CHECK(ticks.seen == stop);
    pool_free(&run);
  }
  pool_free(&p);
}

/* Every single request for memory refused in turn; some the fit can do without. */
static void out_of_memory(driver fit, size_t rows, size_t centers)
{
  pool p = { 0 };
  fit_case c;
  fit_case_kernel(&c, &p, rows, 1, centers, 0.3);
  CHECK(fit(&c.problem, &c.result) == RVM_OK);
  fit_result all = c.result;
  for (size_t refuse = 1; refuse <= p.taken; refuse++) {
    pool run = { .refuse = refuse };
    fit_case_use(&c, &run);
    rvm_status status = fit(&c.problem, &c.result);
    CHECK(status == RVM_NO_MEMORY || (status == RVM_OK && same_result(&c.result, &all)));
    pool_free(&run);
  }
  pool_free(&p);
}

/* The drivers that start with every column need room for all of them. */
static void too_little_memory(driver fit)
{
  pool p = { 0 };
  fit_case c;
  fit_case_kernel(&c, &p, 60, 1, 40, 0.3);
  c.problem.memory = 1000;
  CHECK(fit(&c.problem, &c.result) == RVM_NO_MEMORY);
  CHECK(p.taken == 0);
  pool_free(&p);
}

void test_fit(void)
{
  random_seed(12);
  for (size_t i = 0; i < DRIVERS; i++) {
    closed_form(drivers[i]);
    sparse_model(drivers[i], 0);
    sparse_model(drivers[i], 1);
    degenerate(drivers[i]);
    exact_targets(drivers[i]);
    few_iterations(drivers[i]);
    same_with_threads(drivers[i], 300, 100);
    interrupted(drivers[i], 40, 1, 15, 0.3, 500);
    out_of_memory(drivers[i], 30, 20);
  }
  interpolation(60, 0, 500);
  interpolation(205, 1, 500);
  interpolation(230, 1, 10); /* held, however little time there is */
  same_with_threads(fit_fast, 260, 1100);
  same_with_threads(fit_fast, 2100, 1000); /* enough for two threads */
  interrupted(fit_fast, 260, 1, 1100, 0.3, 500);
  interrupted(fit_fast, 20, 3, 13000, 3, 20);
  out_of_memory(fit_fast, 260, 1100);
  too_little_memory(fit_mackay);
  too_little_memory(fit_em);
}
