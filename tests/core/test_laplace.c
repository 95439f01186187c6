/* Modes and evidence of likelihoods that are not quadratic, against plain dense algebra. */
#include "laplace.h"

#include <string.h>

#include "helper.h"
#include "helper_classes.h"
#include "posterior.h"
#include "tests.h"

/* A model of all pairs over all rows. */
typedef struct {
  class_case *problem;
  evidence_model model;
  double *coords;
  size_t *member;
  int renewals, fail_at; /* the renewal that fails, 0: none */
} whole_model;

static rvm_status renew(void *context)
{
  whole_model *w = context;
  dictionary_columns(&w->problem->dict, w->model.cols, w->member, w->coords, w->model.ld);
  evidence_refresh(&w->model);
  return ++w->renewals == w->fail_at ? RVM_INTERRUPTED : RVM_OK;
}

static void start_whole(whole_model *w, pool *p, class_case *c)
{
  size_t rows = c->dict.rows, cols = c->dict.cols;
  *w = (whole_model){ .problem = c, .coords = pool_doubles(p, rows * cols), .member = pool_sizes(p, cols) };
  w->model = (evidence_model){ .rows = rows, .cols = cols, .ld = rows, .coords = w->coords,
                               .target = c->laplace.target, .now = c->problem.noise,
                               .ratio = pool_doubles(p, cols), .white = pool_doubles(p, rows * cols),
                               .white_target = pool_doubles(p, rows), .S = pool_doubles(p, cols),
                               .Q = pool_doubles(p, cols), .size = pool_doubles(p, cols),
                               .panel = pool_doubles(p, rows * PANEL), .threads = 1 };
  random_order(cols, w->member);
  for (size_t j = 0; j < cols; j++) w->model.ratio[j] = INFINITY;
  renew(w);
}

static rvm_status find_mode(whole_model *w)
{
  return laplace_mode(&w->problem->laplace, &w->model, w->member, renew, w);
}

/* The pairs of the model, their precisions, and the mode the plain way. */
static class_mode plain_mode(pool *p, const whole_model *w)
{
  size_t *which = pool_sizes(p, w->model.cols), count = 0;
  double *alpha = pool_doubles(p, w->model.cols);
  for (size_t j = 0; j < w->model.cols; j++) {
    if (!isfinite(w->model.ratio[j])) continue;
    which[count] = w->member[j];
    alpha[count++] = w->model.ratio[j];
  }
  return class_mode_find(p, w->problem, count, which, alpha);
}

/* Root and target are those of the latent values, and the model's statistics those of both. */
static void check_model(pool *p, const whole_model *w, const class_mode *expected, double tolerance)
{
  size_t cols = w->model.cols;
  double *S = pool_doubles(p, cols), *Q = pool_doubles(p, cols);
  for (size_t j = 0; j < cols; j++) class_mode_statistics(expected, w->member[j], S + j, Q + j);
  CHECK(difference(cols, w->model.S, S) < tolerance);
  CHECK(difference(cols, w->model.Q, Q) < tolerance);
}

/* The gradient of the log posterior where the weights are, and everything that follows from the mode. */
static void check_mode(const whole_model *w, double tolerance)
{
  pool p = { 0 };
  const laplace *l = &w->problem->laplace;
  class_mode expected = plain_mode(&p, w), found = expected;
  size_t count = expected.count, others = 0;
  double *gradient = pool_doubles(&p, count);
  found.mean = pool_doubles(&p, count);
  for (size_t j = 0; j < count; j++) found.mean[j] = l->weight[expected.which[j]];
  for (size_t j = 0; j < w->model.cols; j++) others += l->weight[j] != 0;
  CHECK(others <= count);
  CHECK(difference(count, found.mean, expected.mean) < tolerance);
  check_model(&p, w, &expected, tolerance);
  CHECK_NEAR(l->value, expected.value, 1e-9);
  /* log|C| moves with the directions in which the mode is weak */
  CHECK_NEAR(laplace_evidence(l, &w->model), expected.evidence, 1e-6);
  class_mode_look(&found, gradient);
  CHECK(difference(count, gradient, pool_zeros(&p, count)) < tolerance);
  CHECK(difference(l->data.rows * l->data.latents, l->latent, found.latent) < 1e-10);
  pool_free(&p);
}

/* Where it starts: no weights, the value of latent values that are the offset, a quadratic model from there or from
 * nearer; and memory enough. */
static void start(size_t latents, int flavour)
{
  pool p = { 0 };
  class_case c;
  enum { ROWS = 20 };
  class_case_make(&c, &p, ROWS, 1, 5, 0.5, latents, flavour);
  CHECK(class_case_use(&c, &p) == RVM_OK);
  const laplace *l = &c.laplace;
  double *root = pool_doubles(&p, ROWS * latents), *target = pool_doubles(&p, ROWS * latents);
  double *offset = pool_doubles(&p, ROWS * latents);
  int right = 1;
  class_case_latent(&c, 0, NULL, NULL, offset);
  for (size_t i = 0; i < ROWS * latents; i++)
    right = right && (fabs(offset[i]) > 1 ? fabs(l->latent[i]) <= fabs(offset[i]) : l->latent[i] == offset[i]);
  for (size_t j = 0; j < c.dict.cols; j++) right = right && l->weight[j] == 0;
  CHECK(right);
  CHECK_NEAR(l->value, naive_classes(&c.data, offset, NULL, NULL), 1e-12);
  CHECK(l->plain.rows == ROWS && l->plain.cols == 6);
  l->likelihood->linearise(&c.data, l->latent, root, target);
  CHECK(memcmp(root, l->root, ROWS * latents * sizeof(double)) == 0);
  CHECK(memcmp(target, l->target, ROWS * latents * sizeof(double)) == 0);
  size_t all = p.taken;
  CHECK(all > 0);
  for (size_t refuse = 1; refuse <= all + 1; refuse++) {
    pool run = { .refuse = refuse };
    CHECK(class_case_use(&c, &run) == (refuse <= all ? RVM_NO_MEMORY : RVM_OK));
    pool_free(&run);
  }
  pool_free(&p);
}

/* Latent values and likelihood for weights of any number of pairs in any order. */
static void latent_values(size_t latents, int flavour)
{
  pool p = { 0 };
  class_case c;
  class_case_make(&c, &p, 30, 2, 19, 0.7, latents, flavour);
  CHECK(class_case_use(&c, &p) == RVM_OK);
  size_t *which = pool_sizes(&p, c.dict.cols);
  double *mean = pool_matrix(&p, c.dict.cols, 1, c.dict.cols), *f = pool_doubles(&p, 30 * latents);
  random_order(c.dict.cols, which);
  for (size_t count = 0; count <= c.dict.cols; count += 3) {
    class_case_latent(&c, count, which, mean, f);
    CHECK_NEAR(laplace_latent(&c.laplace, count, which, mean), naive_classes(&c.data, f, NULL, NULL), 1e-12);
    CHECK(difference(30 * latents, c.laplace.latent, f) < 1e-12);
  }
  pool_free(&p);
}

/* Modes one after the other, as precisions change and pairs come and go. */
static void modes(size_t rows, size_t dims, size_t centers, size_t latents, int flavour)
{
  pool p = { 0 };
  class_case c;
  whole_model w;
  class_case_make(&c, &p, rows, dims, centers, 0.5, latents, flavour);
  CHECK(class_case_use(&c, &p) == RVM_OK);
  start_whole(&w, &p, &c);
  CHECK(find_mode(&w) == RVM_OK);
  check_mode(&w, 1e-12); /* nothing in the model */
  for (int round = 0; round < 6; round++) {
    for (size_t j = 0; j < w.model.cols; j++) {
      double spread = round < 3 ? 1 : 3;
      if (random_uniform() < 0.5) w.model.ratio[j] = random_uniform() < 0.4 ? INFINITY : exp(spread * random_normal());
    }
    evidence_refresh(&w.model);
    CHECK(find_mode(&w) == RVM_OK);
    check_mode(&w, 1e-5);
  }
  CHECK(w.renewals < 100);
  pool_free(&p);
}

/* The posterior of the quadratic model at the mode has its mean there, and the same evidence. */
static void posterior_at_mode(size_t latents, int flavour)
{
  pool p = { 0 };
  class_case c;
  whole_model w;
  class_case_make(&c, &p, 60, 1, 12, 0.4, latents, flavour);
  CHECK(class_case_use(&c, &p) == RVM_OK);
  start_whole(&w, &p, &c);
  for (size_t j = 0; j < w.model.cols; j += 2) w.model.ratio[j] = exp(random_normal());
  evidence_refresh(&w.model);
  CHECK(find_mode(&w) == RVM_OK);
  class_mode m = plain_mode(&p, &w);
  size_t count = m.count;
  posterior out = { .mean = pool_doubles(&p, count), .factor = pool_doubles(&p, count * count),
                    .covariance = pool_doubles(&p, count * count) };
  rvm_workspace work = pool_workspace(&p);
  CHECK(posterior_gaussian(&c.dict, c.laplace.target, 60, count, m.which, m.alpha, 1, &work, &out) == RVM_OK);
  CHECK(difference(count, out.mean, m.mean) < 1e-5);
  CHECK(difference(count * count, out.covariance, m.covariance) < 1e-5);
  CHECK_NEAR(c.laplace.value - 0.5 * out.log_det, m.evidence, 1e-6);
  CHECK_NEAR(out.log_det, w.model.log_det, 1e-9);
  pool_free(&p);
}

/* Classes that a threshold tells apart, and hardly a precision to keep the weights small: a full step from one side
 * goes far beyond, and the mode lies where probabilities are 0 and 1 to many digits. */
static void separable(size_t latents, double alpha)
{
  pool p = { 0 };
  class_case c;
  whole_model w;
  enum { ROWS = 40 };
  class_case_make(&c, &p, ROWS, 1, 6, 0.5, latents, 0);
  double *t = pool_doubles(&p, ROWS), classes = latents > 1 ? (double) latents : 2;
  for (size_t n = 0; n < ROWS; n++) t[n] = floor((c.blocks[1].inputs[n] + 2) / 4.0001 * classes);
  c.data.t = t;
  CHECK(class_case_use(&c, &p) == RVM_OK);
  start_whole(&w, &p, &c);
  for (size_t j = 0; j < w.model.cols; j++) w.model.ratio[j] = alpha;
  evidence_refresh(&w.model);
  for (int round = 0; round < 2; round++) { /* the second time it starts where it was */
    CHECK(find_mode(&w) == RVM_OK);
    int finite = isfinite(c.laplace.value) && isfinite(laplace_evidence(&c.laplace, &w.model));
    for (size_t j = 0; j < w.model.cols; j++)
      finite = finite && isfinite(c.laplace.weight[j]) && isfinite(w.model.S[j]) && isfinite(w.model.Q[j]);
    for (size_t i = 0; i < ROWS * latents; i++)
      finite = finite && isfinite(c.laplace.root[i]) && isfinite(c.laplace.target[i]);
    CHECK(finite);
    CHECK(c.laplace.value > -(double) ROWS * log(classes)); /* better than no weights */
    for (size_t n = 0; n < ROWS && alpha < 1e-3; n++) {
      size_t best = 0;
      for (size_t k = 1; k < latents; k++)
        if (c.laplace.latent[n + k * ROWS] > c.laplace.latent[n + best * ROWS]) best = k;
      CHECK(latents > 1 ? (double) best == t[n] : (c.laplace.latent[n] > 0) == (t[n] > 0.5));
    }
  }
  if (alpha > 1e-7) check_mode(&w, 1e-4);
  pool_free(&p);
}

/* From latent values on the wrong side, where a full Newton step leads to the other end: the offset says so. */
static void overshooting(size_t latents, double offset, double alpha)
{
  pool p = { 0 };
  class_case c;
  whole_model w;
  enum { ROWS = 50 };
  class_case_make(&c, &p, ROWS, 1, 8, 0.5, latents, CLASSES_OFFSET);
  double *shifted = pool_doubles(&p, ROWS);
  for (size_t n = 0; n < ROWS; n++) shifted[n] = offset;
  c.data.offset = shifted;
  CHECK(class_case_use(&c, &p) == RVM_OK);
  start_whole(&w, &p, &c);
  for (size_t j = 0; j < w.model.cols; j++) w.model.ratio[j] = alpha;
  evidence_refresh(&w.model);
  double before = c.laplace.value;
  CHECK(find_mode(&w) == RVM_OK);
  CHECK(c.laplace.value > before);
  check_mode(&w, 1e-4);
  pool_free(&p);
}

/* What stops the renewal stops the search for the mode. */
static void renewal_fails(size_t latents)
{
  pool p = { 0 };
  class_case c;
  whole_model w;
  class_case_make(&c, &p, 30, 1, 6, 0.5, latents, 0);
  CHECK(class_case_use(&c, &p) == RVM_OK);
  start_whole(&w, &p, &c);
  for (size_t j = 0; j < w.model.cols; j++) w.model.ratio[j] = 0.1;
  evidence_refresh(&w.model);
  for (int fail = 1; fail < 4; fail++) {
    w.renewals = 0;
    w.fail_at = fail;
    CHECK(find_mode(&w) == RVM_INTERRUPTED);
    CHECK(w.renewals == fail);
    memset(c.laplace.weight, 0, c.dict.cols * sizeof(double));
    laplace_latent(&c.laplace, 0, NULL, NULL);
    laplace_linearise(&c.laplace);
    w.fail_at = 0;
    renew(&w);
  }
  pool_free(&p);
}

void test_laplace(void)
{
  random_seed(14);
  for (size_t L = 1; L < 5; L += L == 1 ? 2 : 1) {
    for (int flavour = 0; flavour < 4; flavour++) {
      start(L, flavour);
      latent_values(L, flavour);
      modes(40, 1, 9, L, flavour);
      posterior_at_mode(L, flavour);
    }
    modes(300, 3, 13, L, CLASSES_WEIGHTED);
    for (double alpha = 1; alpha > 1e-21; alpha *= 1e-4) separable(L, alpha);
    overshooting(L, 0, 1e-6);
    overshooting(L, 30, 1e-3);
    overshooting(L, 30, 1e-6);
    overshooting(L, -300, 1e-8);
    renewal_fails(L);
  }
}
