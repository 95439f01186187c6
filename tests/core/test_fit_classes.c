/* Fits whose responses are classes: where they end, interrupts, memory that runs out. */
#include "fit.h"

#include <string.h>

#include "helper.h"
#include "helper_classes.h"
#include "search.h"
#include "tests.h"

typedef rvm_status (*driver)(const fit_problem *, fit_result *);
static const driver drivers[] = { fit_classes, fit_mackay, fit_em };
enum { DRIVERS = sizeof drivers / sizeof *drivers };

static int flat(const class_case *c) { return c->problem.noise.prior.shape == 0 && c->problem.noise.prior.rate == 0; }

static void check_trace(const class_case *c)
{
  const fit_result *r = &c->result;
  int right = r->iterations > 0 && r->iterations <= c->problem.maxit;
  for (int i = 0; i < r->iterations && right; i++) {
    const fit_trace *t = r->trace + i;
    right = t->iteration == i + 1 && isfinite(t->evidence) && t->precision > 0 && t->active >= 0;
  }
  CHECK(right);
}

/* Every pair at most once, the precisions positive, and the weights left behind the mode of these precisions. */
static void check_mode(const class_case *c)
{
  pool p = { 0 };
  const fit_result *r = &c->result;
  double *weight = pool_zeros(&p, c->dict.cols);
  unsigned char *seen = memset(pool_bytes(&p, c->dict.cols), 0, c->dict.cols);
  int distinct = r->active <= c->dict.cols;
  for (size_t k = 0; k < r->active && distinct; k++) {
    distinct = r->which[k] < c->dict.cols && !seen[r->which[k]] && r->ratio[k] > 0 && isfinite(r->ratio[k]);
    if (distinct) seen[r->which[k]] = 1;
  }
  CHECK(distinct);
  class_mode expected = class_mode_find(&p, c, r->active, r->which, r->ratio);
  for (size_t k = 0; k < r->active; k++) weight[r->which[k]] = expected.mean[k];
  CHECK(difference(c->dict.cols, c->laplace.weight, weight) < 1e-4);
  CHECK_NEAR(c->laplace.value, expected.value, 1e-7);
  CHECK(r->precision == 1 && !r->held);
  CHECK(c->laplace.plain.store == NULL); /* it has ended with the fit */
  pool_free(&p);
}

/* At the mode nothing has more than about tol to offer, and what is in stands at its maximum. */
static void check_maximum(const class_case *c, driver fit)
{
  double slope, evidence, gain = class_case_gain(c, &slope, &evidence);
  double last = c->result.trace[c->result.iterations - 1].evidence;
  CHECK(c->result.converged);
  if (fit == fit_classes) CHECK(gain <= 2 * c->problem.tol); /* what the others prune is gone for good */
  if (!flat(c)) return;
  CHECK(slope < 0.05);
  if (fit != fit_classes) CHECK_NEAR(last, evidence, 1e-6);
}

static void finds_maximum(driver fit, size_t rows, size_t dims, size_t centers, double width, size_t latents,
                          int flavour)
{
  pool p = { 0 };
  class_case c;
  class_case_make(&c, &p, rows, dims, centers, width, latents, flavour);
  CHECK(class_case_use(&c, &p) == RVM_OK);
  CHECK(fit(&c.problem, &c.result) == RVM_OK);
  CHECK(c.result.active > 0);
  check_trace(&c);
  check_mode(&c);
  check_maximum(&c, fit);
  pool_free(&p);
}

/* Whether the problem is one that the search does not take whole. */
static int has_candidates(const class_case *c)
{
  pool p = { 0 };
  search s;
  fit_problem problem = c->problem;
  fit_result result = c->result;
  problem.work = pool_workspace(&p);
  int large = search_start(&s, &problem, &result) == RVM_OK && !s.whole;
  pool_free(&p);
  return large;
}

static void finds_maximum_of_many(size_t rows, size_t dims, size_t centers, double width, size_t latents, double memory)
{
  pool p = { 0 };
  class_case c;
  class_case_make(&c, &p, rows, dims, centers, width, latents, latents > 1 ? CLASSES_WEIGHTED : 0);
  c.problem.memory = memory;
  CHECK(class_case_use(&c, &p) == RVM_OK);
  CHECK(has_candidates(&c));
  CHECK(fit_classes(&c.problem, &c.result) == RVM_OK);
  check_trace(&c);
  check_mode(&c);
  check_maximum(&c, fit_classes);
  pool_free(&p);
}

static void under_hyperpriors(driver fit, size_t latents)
{
  static const hyperprior priors[] = { { 0.5, 0.1, 0, 0 }, { 0, 0.5, 0, 0 } };
  for (size_t k = 0; k < sizeof priors / sizeof *priors; k++) {
    pool p = { 0 };
    class_case c;
    class_case_make(&c, &p, 60, 1, 15, 0.4, latents, 0);
    c.problem.noise.prior = priors[k];
    CHECK(class_case_use(&c, &p) == RVM_OK);
    CHECK(fit(&c.problem, &c.result) == RVM_OK);
    check_trace(&c);
    check_mode(&c);
    check_maximum(&c, fit);
    pool_free(&p);
  }
}

/* Columns of which one or two say which class it is: these are found, and with the right sign. */
static void sparse_model(driver fit, size_t latents)
{
  pool p = { 0 };
  class_case c;
  enum { ROWS = 150, COLS = 20, FIRST = 5, SECOND = 17, FUNCTIONS = COLS + 1 }; /* the constant is function 0 */
  class_case_make(&c, &p, ROWS, 1, COLS, 1, latents, 0);
  double *X = pool_matrix(&p, ROWS, COLS, ROWS), *t = pool_doubles(&p, ROWS);
  for (size_t n = 0; n < ROWS; n++) { /* class 1 where one column is large, else 2 where the other is, else 0 */
    double first = 3 * X[n + (FIRST - 1) * ROWS] + random_normal();
    double second = 3 * X[n + (SECOND - 1) * ROWS] + random_normal();
    t[n] = first > 0 ? 1 : latents > 1 && second > 0 ? 2 : 0;
  }
  c.data.t = t;
  class_case_columns(&c, &p, X);
  CHECK(c.problem.fixed_columns == c.dict.cols);
  CHECK(class_case_use(&c, &p) == RVM_OK);
  CHECK(fit(&c.problem, &c.result) == RVM_OK);
  check_mode(&c);
  check_maximum(&c, fit);
  const double *weight = c.laplace.weight;
  double others = 0, found = weight[FIRST];
  if (latents == 3)
    found = fmin(weight[FUNCTIONS + FIRST] - weight[FIRST], weight[2 * FUNCTIONS + SECOND] - weight[SECOND]);
  for (size_t j = 0; j < c.dict.cols; j++)
    if (j % FUNCTIONS != 0 && j % FUNCTIONS != FIRST && j % FUNCTIONS != SECOND) others = fmax(others, fabs(weight[j]));
  CHECK(found > 2);
  CHECK(others < 0.5 * found);
  pool_free(&p);
}

/* All classes of a function are in or out, with one precision; which stands where its own slope is next to 0. */
static void shared_precisions(size_t rows, size_t dims, size_t centers, size_t latents)
{
  pool p = { 0 };
  class_case c;
  class_case_make(&c, &p, rows, dims, centers, 0.4, latents, CLASSES_WEIGHTED);
  c.problem.shared = 1;
  CHECK(class_case_use(&c, &p) == RVM_OK);
  CHECK(fit_shared(&c.problem, &c.result) == RVM_OK);
  CHECK(c.result.converged && c.result.active > 0 && c.result.active % latents == 0);
  check_trace(&c);
  check_mode(&c);
  const fit_result *r = &c.result;
  size_t functions = c.dict.cols / latents, *times = pool_sizes(&p, functions);
  double *alpha = pool_zeros(&p, functions), *slope = pool_zeros(&p, functions), largest = 0;
  class_mode m = class_mode_find(&p, &c, r->active, r->which, r->ratio);
  int same = 1;
  memset(times, 0, functions * sizeof *times);
  for (size_t k = 0; k < r->active; k++) {
    size_t i = r->which[k] % functions;
    double gamma = 1 - r->ratio[k] * m.covariance[k + k * r->active];
    same = same && (times[i] == 0 || r->ratio[k] == alpha[i]);
    times[i]++;
    alpha[i] = r->ratio[k];
    slope[i] += 0.5 * (gamma - r->ratio[k] * m.mean[k] * m.mean[k]);
  }
  for (size_t i = 0; i < functions; i++) {
    same = same && (times[i] == 0 || times[i] == latents);
    largest = fmax(largest, fabs(slope[i]));
  }
  CHECK(same);
  CHECK(largest < 0.1);
  CHECK_NEAR(r->trace[r->iterations - 1].evidence, m.evidence, 1e-6);
  pool_free(&p);
}

/* Data at the edge of what there is to fit: nothing, or one class only, or what a threshold tells apart. */
static void degenerate(driver fit, size_t latents)
{
  enum { ROWS = 24, CENTERS = 6, KINDS = 6 };
  for (int kind = 0; kind < KINDS; kind++) {
    pool p = { 0 };
    class_case c;
    class_case_make(&c, &p, ROWS, 1, CENTERS, 0.5, latents, 0);
    double *t = pool_copy(&p, ROWS, c.data.t), *zeros = pool_zeros(&p, ROWS * CENTERS);
    for (size_t n = 0; n < ROWS; n++) {
      if (kind == 1) t[n] = 0;
      if (kind == 2) t[n] = 1;
      if (kind == 3) t[n] = c.blocks[1].inputs[n] > 0;
    }
    c.data.t = t;
    if (kind == 4) class_case_columns(&c, &p, zeros);
    if (kind == 5) c.data.weight = c.weight_root = zeros; /* nobody counts */
    CHECK(class_case_use(&c, &p) == RVM_OK);
    CHECK(fit(&c.problem, &c.result) == RVM_OK);
    CHECK(c.result.converged);
    check_trace(&c);
    int finite = isfinite(c.laplace.value);
    for (size_t j = 0; j < c.dict.cols; j++) finite = finite && isfinite(c.laplace.weight[j]);
    for (size_t k = 0; k < c.result.active; k++)
      finite = finite && c.result.ratio[k] > 0 && isfinite(c.result.ratio[k]);
    CHECK(finite);
    for (size_t k = 0; k < c.result.active && kind == 4; k++) CHECK(c.result.which[k] % (CENTERS + 1) == 0);
    if (kind == 5) CHECK(c.laplace.value == 0 && c.result.active == 0);
    if (kind == 1 || kind == 2 || kind == 3) CHECK(c.laplace.value > -(double) ROWS * log(latents > 1 ? 3 : 2));
    pool_free(&p);
  }
}

/* An offset that is wrong by far, the same for all: the constant column takes it back. */
static void far_offset(driver fit, double offset)
{
  pool p = { 0 };
  class_case c;
  enum { ROWS = 60 };
  class_case_make(&c, &p, ROWS, 1, 15, 0.4, 1, CLASSES_OFFSET);
  double *everywhere = pool_doubles(&p, ROWS), *at_ends = pool_doubles(&p, ROWS);
  for (size_t n = 0; n < ROWS; n++) everywhere[n] = offset, at_ends[n] = n % 5 ? 0 : offset;
  for (int kind = 0; kind < 2; kind++) {
    c.data.offset = kind ? at_ends : everywhere;
    CHECK(class_case_use(&c, &p) == RVM_OK);
    double before = c.laplace.value;
    CHECK(fit(&c.problem, &c.result) == RVM_OK);
    check_trace(&c);
    check_mode(&c);
    CHECK(c.laplace.value > before);
    if (kind == 0) CHECK(c.laplace.value > -(double) ROWS * log(2)); /* as good as chance, at least */
  }
  pool_free(&p);
}

static void few_iterations(driver fit, size_t latents)
{
  for (int maxit = 1; maxit < 4; maxit++) {
    pool p = { 0 };
    class_case c;
    class_case_make(&c, &p, 60, 1, 20, 0.3, latents, 0);
    c.problem.maxit = maxit;
    CHECK(class_case_use(&c, &p) == RVM_OK);
    CHECK(fit(&c.problem, &c.result) == RVM_OK);
    CHECK(!c.result.converged);
    check_trace(&c);
    check_mode(&c); /* wherever it was stopped */
    pool_free(&p);
  }
}

static int same_result(const fit_result *a, const fit_result *b)
{
  return a->active == b->active && a->iterations == b->iterations && a->precision == b->precision &&
         memcmp(a->which, b->which, b->active * sizeof(size_t)) == 0 &&
         memcmp(a->ratio, b->ratio, b->active * sizeof(double)) == 0;
}

static void same_with_threads(driver fit, size_t rows, size_t centers, size_t latents)
{
  pool p = { 0 };
  class_case c;
  class_case_make(&c, &p, rows, 1, centers, 0.3, latents, 0);
  c.problem.maxit = 8;
  CHECK(class_case_use(&c, &p) == RVM_OK);
  CHECK(fit(&c.problem, &c.result) == RVM_OK);
  fit_result one = c.result;
  c.dict.threads = 2;
  CHECK(class_case_use(&c, &p) == RVM_OK);
  CHECK(fit(&c.problem, &c.result) == RVM_OK);
  CHECK(same_result(&c.result, &one));
  pool_free(&p);
}

/* Stopped at every tick there is: no tick follows, and every piece of memory is intact. */
static void interrupted(driver fit, size_t rows, size_t dims, size_t centers, double width, size_t latents, int maxit)
{
  pool p = { 0 };
  class_case c;
  tick_counter ticks = { 0, 0 };
  class_case_make(&c, &p, rows, dims, centers, width, latents, 0);
  c.problem.shared = fit == fit_shared;
  c.problem.maxit = maxit;
  c.problem.ticker = counting_ticker(&ticks);
  CHECK(class_case_use(&c, &p) == RVM_OK);
  CHECK(fit(&c.problem, &c.result) == RVM_OK);
  long all = ticks.seen;
  CHECK(all > 2);
  for (long stop = 1; stop <= all; stop++) {
    pool run = { 0 };
    ticks = (tick_counter){ 0, stop };
    CHECK(class_case_use(&c, &run) == RVM_OK);
    CHECK(fit(&c.problem, &c.result) == RVM_INTERRUPTED);
    CHECK(ticks.seen == stop);
    CHECK(c.laplace.plain.store == NULL);
    pool_free(&run);
  }
  pool_free(&p);
}

/* Every single request for memory refused in turn; only columns need not be kept, which changes nothing. */
static void out_of_memory(driver fit, size_t rows, size_t centers, size_t latents, int maxit, size_t dispensable)
{
  pool p = { 0 };
  class_case c;
  class_case_make(&c, &p, rows, 1, centers, 0.3, latents, 0);
  c.problem.shared = fit == fit_shared;
  c.problem.maxit = maxit;
  CHECK(class_case_use(&c, &p) == RVM_OK);
  p.taken = 0;
  CHECK(fit(&c.problem, &c.result) == RVM_OK);
  fit_result all = c.result;
  size_t done_without = 0;
  CHECK(p.taken > 0);
  for (size_t refuse = 1; refuse <= p.taken; refuse++) {
    pool run = { 0 };
    CHECK(class_case_use(&c, &run) == RVM_OK);
    run.taken = 0;
    run.refuse = refuse;
    rvm_status status = fit(&c.problem, &c.result);
    if (status != RVM_NO_MEMORY) done_without++;
    CHECK(status == RVM_NO_MEMORY || (status == RVM_OK && same_result(&c.result, &all)));
    CHECK(c.laplace.plain.store == NULL);
    pool_free(&run);
  }
  CHECK(done_without == dispensable);
  pool_free(&p);
}

void test_fit_classes(void)
{
  for (size_t i = 0; i < DRIVERS; i++)
    for (size_t L = 1; L < 4; L += 2) {
      random_seed(15);
      for (int flavour = 0; flavour < 4; flavour++) finds_maximum(drivers[i], 60, 1, 15, 0.4, L, flavour);
      finds_maximum(drivers[i], 60, 3, 15, 0.8, L, 0);
      under_hyperpriors(drivers[i], L);
      if (drivers[i] != fit_em) sparse_model(drivers[i], L); /* it takes its time */
      degenerate(drivers[i], L);
      few_iterations(drivers[i], L);
      for (double offset = 10; fabs(offset) < 200; offset *= -4) far_offset(drivers[i], offset);
      interrupted(drivers[i], 40, 1, 12, 0.3, L, i == 0 ? 500 : 12);
      out_of_memory(drivers[i], 30, 12, L, 20, 0);
    }
  random_seed(16);
  finds_maximum_of_many(260, 1, 1000, 0.3, 1, 1e9);
  finds_maximum_of_many(125, 2, 2100, 0.3, 1, 1e9); /* more than are looked at in the beginning */
  finds_maximum_of_many(100, 1, 300, 0.3, 3, 1e9);
  finds_maximum_of_many(50, 2, 750, 0.4, 3, 1e9);
  finds_maximum_of_many(100, 3, 300, 0.8, 3, 1); /* no memory to keep columns */
  shared_precisions(60, 1, 15, 3);
  shared_precisions(100, 2, 300, 3);
  interrupted(fit_shared, 40, 1, 12, 0.3, 3, 12);
  out_of_memory(fit_shared, 30, 12, 3, 20, 0);
  same_with_threads(fit_classes, 260, 1000, 1);
  same_with_threads(fit_classes, 350, 700, 3); /* enough for two threads */
  interrupted(fit_classes, 260, 1, 1000, 0.3, 1, 500);
  interrupted(fit_classes, 90, 1, 320, 0.3, 3, 500);
  out_of_memory(fit_classes, 260, 1000, 1, 2, 2);
  out_of_memory(fit_classes, 90, 320, 3, 2, 2);
}
