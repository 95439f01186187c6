/* Means and variances at new rows against phi'w and phi' Sigma phi. */
#include "predict.h"

#include "helper.h"
#include "tests.h"

static void against_dense(size_t rows, size_t explicit_columns, size_t centers, int threads)
{
  pool p = { 0 };
  subject s;
  subject_make(&s, &p, rows, 3, explicit_columns, centers, 0);
  s.dict.threads = threads;
  size_t cols = s.dict.cols;
  double *weights = pool_matrix(&p, cols, 1, cols), *factor = pool_matrix(&p, cols, cols, cols);
  double *expected_mean = pool_doubles(&p, rows), *expected_variance = pool_zeros(&p, rows);
  double *turned = pool_doubles(&p, rows * cols), *mean = pool_doubles(&p, rows), *variance = pool_doubles(&p, rows);
  for (size_t i = 0; i < cols * cols; i++)
    if (i % cols > i / cols) factor[i] = 0;
  naive_product(rows, cols, 1, s.dense, weights, expected_mean);
  naive_product(rows, cols, cols, s.dense, factor, turned);
  for (size_t i = 0; i < rows * cols; i++) expected_variance[i % rows] += turned[i] * turned[i];

  predict_latent(&s.dict, weights, factor, mean, variance, pool_doubles(&p, predict_work(&s.dict)));
  CHECK(difference(rows, mean, expected_mean) < 1e-11);
  CHECK(difference(rows, variance, expected_variance) < 1e-11);
  double *alone = pool_doubles(&p, rows);
  predict_latent(&s.dict, weights, NULL, alone, NULL, pool_doubles(&p, predict_work(&s.dict)));
  CHECK(difference(rows, alone, mean) == 0);
  pool_free(&p);
}

void test_predict(void)
{
  static const size_t rows[] = { 0, 1, 127, 128, 129, 300 };
  random_seed(10);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    against_dense(rows[i], 0, 0, 1);
    against_dense(rows[i], 1, 0, 1);
    against_dense(rows[i], 2, 5, 1);
  }
  against_dense(3000, 4, 22, 2); /* enough for two threads */
}
