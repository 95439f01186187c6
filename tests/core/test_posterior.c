/* The posterior against plain dense algebra: Sigma = (A + beta Phi'Phi)^-1, mean = beta Sigma Phi't. */
#include "posterior.h"

#include "helper.h"
#include "tests.h"

static posterior make_posterior(pool *p, size_t m)
{
  return (posterior){ .mean = pool_doubles(p, m), .factor = pool_doubles(p, m * m),
                      .covariance = pool_doubles(p, m * m), .log_det = NAN, .evidence = NAN };
}

static double *columns_of(pool *p, const subject *s, size_t m, const size_t *which)
{
  double *Phi = pool_doubles(p, s->dict.rows * m);
  for (size_t i = 0; i < s->dict.rows * m; i++)
    Phi[i] = s->dense[i % s->dict.rows + which[i / s->dict.rows] * s->dict.rows];
  return Phi;
}

/* log|I + beta Phi A^-1 Phi'|, over all rows. */
static double naive_log_det(size_t rows, size_t m, const double *Phi, const double *alpha, double beta)
{
  pool p = { 0 };
  double *C = pool_doubles(&p, rows * rows), sum = (double) rows * log(beta);
  naive_marginal(rows, m, Phi, alpha, beta, C);
  naive_cholesky(rows, C);
  for (size_t n = 0; n < rows; n++) sum += 2 * log(C[n + n * rows]);
  pool_free(&p);
  return sum;
}

static void against_dense(const subject *s, size_t m, const size_t *which, double beta)
{
  pool p = { 0 };
  size_t rows = s->dict.rows;
  double *Phi = columns_of(&p, s, m, which), *target = pool_matrix(&p, rows, 1, rows), *alpha = pool_doubles(&p, m);
  double *inverse = pool_doubles(&p, m * m), *covariance = pool_doubles(&p, m * m), *mean = pool_doubles(&p, m);
  double *right = pool_doubles(&p, m), *outer = pool_zeros(&p, m * m);
  for (size_t j = 0; j < m; j++) alpha[j] = exp(random_normal());
  naive_cross(rows, m, m, Phi, Phi, inverse);
  for (size_t i = 0; i < m * m; i++) inverse[i] = beta * inverse[i] + (i % (m + 1) == 0 ? alpha[i % m] : 0);
  naive_inverse(m, inverse, covariance);
  naive_cross(rows, m, 1, Phi, target, right);
  naive_product(m, m, 1, covariance, right, mean);
  for (size_t j = 0; j < m; j++) mean[j] *= beta;

  posterior out = make_posterior(&p, m);
  rvm_workspace work = pool_workspace(&p);
  CHECK(posterior_gaussian(&s->dict, target, (double) rows, m, which, alpha, beta, &work, &out) == RVM_OK);
  CHECK(difference(m, out.mean, mean) < 1e-9);
  CHECK(difference(m * m, out.covariance, covariance) < 1e-9);
  CHECK_NEAR(out.evidence, naive_evidence(rows, m, Phi, alpha, beta, target), 1e-10);
  CHECK_NEAR(out.log_det, naive_log_det(rows, m, Phi, alpha, beta), 1e-10);
  for (size_t j = 0; j < m; j++)
    for (size_t i = 0; i < m; i++) {
      if (i > j) CHECK(out.factor[i + j * m] == 0);
      for (size_t k = 0; k < m; k++) outer[i + j * m] += out.factor[i + k * m] * out.factor[j + k * m];
    }
  CHECK(difference(m * m, outer, covariance) < 1e-9);
  pool_free(&p);
}

static void sizes(size_t rows, size_t explicit_columns, size_t centers, int scaled)
{
  pool p = { 0 };
  subject s;
  subject_make(&s, &p, rows, 2, explicit_columns, centers, scaled);
  size_t *which = pool_sizes(&p, s.dict.cols);
  random_order(s.dict.cols, which);
  for (size_t m = 0; m <= s.dict.cols; m += 1 + m) against_dense(&s, m, which, 3);
  against_dense(&s, s.dict.cols, which, 0.2);
  pool_free(&p);
}

/* A column twice, and one of zeros. */
static void dependent_columns(void)
{
  pool p = { 0 };
  subject s;
  enum { ROWS = 30 };
  static const size_t which[] = { 0, 1, 2, 3 };
  subject_make(&s, &p, ROWS, 1, 4, 0, 0);
  for (size_t n = 0; n < ROWS; n++) {
    s.dense[n + 2 * ROWS] = s.dense[n];
    s.dense[n + 3 * ROWS] = 0;
  }
  s.blocks[1].columns = s.dense;
  against_dense(&s, 4, which, 10);
  pool_free(&p);
}

/* Columns that are nearly dependent, in several batches: the residual of the mean's own equations stays small. */
static void smooth_columns(void)
{
  pool p = { 0 };
  fit_case c;
  enum { ROWS = 90, M = 80 };
  fit_case_kernel(&c, &p, ROWS, 1, M, 0.06);
  size_t *which = pool_sizes(&p, M);
  double *alpha = pool_doubles(&p, M), *Phi = pool_doubles(&p, ROWS * M), *residual = pool_doubles(&p, ROWS);
  double *gradient = pool_doubles(&p, M), *shrinkage = pool_doubles(&p, M), beta = 100;
  for (size_t j = 0; j < M; j++) which[j] = j, alpha[j] = 0.1;
  posterior out = make_posterior(&p, M);
  CHECK(posterior_gaussian(&c.dict, c.problem.target, ROWS, M, which, alpha, beta, &c.problem.work, &out) == RVM_OK);
  dictionary_columns(&c.dict, M, which, Phi, ROWS);
  naive_product(ROWS, M, 1, Phi, out.mean, residual);
  for (size_t n = 0; n < ROWS; n++) residual[n] = beta * (c.problem.target[n] - residual[n]);
  naive_cross(ROWS, M, 1, Phi, residual, gradient);
  for (size_t j = 0; j < M; j++) shrinkage[j] = alpha[j] * out.mean[j];
  CHECK(difference(M, gradient, shrinkage) < 1e-9);
  CHECK_NEAR(out.evidence, naive_evidence(ROWS, M, Phi, alpha, beta, c.problem.target), 1e-9);
  pool_free(&p);
}

/* Rows of scale 0 are not there: `count` says how many are. */
static void absent_rows(void)
{
  pool p = { 0 };
  subject s;
  enum { ROWS = 25, M = 3 };
  static const size_t which[] = { 0, 4, 2 };
  subject_make(&s, &p, ROWS, 2, 2, 3, 1);
  double *scales = pool_copy(&p, ROWS, s.dict.row_scale), *target = pool_matrix(&p, ROWS, 1, ROWS);
  double *alpha = pool_matrix(&p, M, 1, M), *Phi = columns_of(&p, &s, M, which);
  for (size_t n = 20; n < ROWS; n++) {
    scales[n] = target[n] = 0;
    for (size_t j = 0; j < M; j++) Phi[n + j * ROWS] = 0;
  }
  for (size_t j = 0; j < M; j++) alpha[j] = exp(alpha[j]);
  s.dict.row_scale = scales;
  posterior out = make_posterior(&p, M);
  rvm_workspace work = pool_workspace(&p);
  CHECK(posterior_gaussian(&s.dict, target, 20, M, which, alpha, 2, &work, &out) == RVM_OK);
  double all_rows = naive_evidence(ROWS, M, Phi, alpha, 2, target);
  CHECK_NEAR(out.evidence, all_rows - 2.5 * log(2 / 6.283185307179586), 1e-11);
  pool_free(&p);
}

static void out_of_memory(void)
{
  size_t refuse = 0, taken;
  do {
    pool p = { .refuse = ++refuse };
    subject s;
    static const size_t which[] = { 0, 1, 3 };
    subject_make(&s, &p, 12, 1, 2, 2, 0);
    double *target = pool_matrix(&p, 12, 1, 12), alpha[] = { 1, 1, 1 };
    posterior out = make_posterior(&p, 3);
    rvm_workspace work = pool_workspace(&p);
    rvm_status status = posterior_gaussian(&s.dict, target, 12, 3, which, alpha, 1, &work, &out);
    taken = p.taken;
    CHECK(status == (taken < refuse ? RVM_OK : RVM_NO_MEMORY));
    pool_free(&p);
  } while (taken >= refuse);
  CHECK(refuse > 1);
}

void test_posterior(void)
{
  random_seed(8);
  sizes(20, 2, 3, 0);
  sizes(300, 5, 15, 1); /* more columns than enter at once */
  sizes(6, 3, 2, 1);    /* more columns than rows */
  dependent_columns();
  smooth_columns();
  absent_rows();
  out_of_memory();
}
