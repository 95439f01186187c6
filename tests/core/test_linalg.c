/* The factorisations against plain products; triangles that are not to be read hold NaN. */
#include "helper.h"
#include "linalg.h"
#include "tests.h"

static const size_t sizes[] = { 0, 1, 3, 17, 40 };
enum { SIZES = sizeof sizes / sizeof *sizes, PAD = 2 };

/* The rows x cols matrix inside one of leading dimension ld. */
static double *packed(pool *p, size_t rows, size_t cols, const double *A, size_t ld)
{
  double *out = pool_doubles(p, rows * cols);
  for (size_t i = 0; i < rows * cols; i++) out[i] = A[i % rows + i / rows * ld];
  return out;
}

static double *identity(pool *p, size_t n)
{
  double *out = pool_zeros(p, n * n);
  for (size_t i = 0; i < n; i++) out[i + i * n] = 1;
  return out;
}

/* A well-conditioned upper triangle with NaN below, leading dimension n + PAD. */
static double *upper_triangle(pool *p, size_t n)
{
  size_t ld = n + PAD;
  double *R = pool_matrix(p, n, n, ld);
  for (size_t j = 0; j < n; j++) {
    R[j + j * ld] = 3 + fabs(R[j + j * ld]);
    for (size_t i = 0; i < n; i++)
      if (i > j) R[i + j * ld] = NAN;
      else if (i < j) R[i + j * ld] /= (double) n;
  }
  return R;
}

static void clear_below(size_t n, double *A, size_t ld)
{
  for (size_t j = 0; j < n; j++)
    for (size_t i = j + 1; i < n; i++) A[i + j * ld] = 0;
}

static void qr(size_t rows, size_t cols, int dependent)
{
  pool p = { 0 };
  size_t lda = rows + PAD, ldr = cols + PAD;
  double *A = pool_matrix(&p, rows, cols, lda), *R = pool_matrix(&p, cols, cols, ldr);
  for (size_t n = 0; n < rows && dependent; n++) A[n + (cols - 1) * lda] = A[n];
  double *before = packed(&p, rows, cols, A, lda);
  CHECK(linalg_qr(rows, cols, A, lda, R, ldr, pool_doubles(&p, linalg_qr_work(cols))) == RVM_OK);
  double *Q = packed(&p, rows, cols, A, lda), *triangle = packed(&p, cols, cols, R, ldr);
  double *product = pool_doubles(&p, rows * cols), *cross = pool_doubles(&p, cols * cols);
  naive_product(rows, cols, cols, Q, triangle, product);
  naive_cross(rows, cols, cols, Q, Q, cross);
  CHECK(difference(rows * cols, product, before) < 1e-13);
  CHECK(difference(cols * cols, cross, identity(&p, cols)) < 1e-13);
  double *cleared = pool_copy(&p, cols * cols, triangle);
  clear_below(cols, cleared, cols);
  CHECK(difference(cols * cols, triangle, cleared) == 0);
  pool_free(&p);
}

static void solve(size_t n, size_t count, int transposed)
{
  pool p = { 0 };
  size_t ld = n + PAD;
  double *R = upper_triangle(&p, n), *B = pool_matrix(&p, n, count, ld);
  double *right = packed(&p, n, count, B, ld), *product = pool_doubles(&p, n * count);
  linalg_solve_upper(n, R, ld, transposed, count, B, ld);
  clear_below(n, R, ld);
  double *triangle = packed(&p, n, n, R, ld), *solution = packed(&p, n, count, B, ld);
  (transposed ? naive_cross : naive_product)(n, n, count, triangle, solution, product);
  CHECK(difference(n * count, product, right) < 1e-12);
  pool_free(&p);
}

static void cholesky(size_t n)
{
  pool p = { 0 };
  size_t ld = n + PAD;
  double *X = pool_matrix(&p, n + 5, n, n + 5), *gram = pool_doubles(&p, n * n), *A = pool_matrix(&p, n, n, ld);
  naive_cross(n + 5, n, n, X, X, gram);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < n; i++) A[i + j * ld] = i <= j ? gram[i + j * n] : NAN;
  CHECK(linalg_cholesky(n, A, ld));
  clear_below(n, A, ld);
  double *U = packed(&p, n, n, A, ld), *product = pool_doubles(&p, n * n);
  naive_cross(n, n, n, U, U, product);
  CHECK(difference(n * n, product, gram) < 1e-12);
  if (n > 0) {
    gram[n * n - 1] = -1;
    CHECK(!linalg_cholesky(n, gram, n));
  }
  pool_free(&p);
}

static void inverse_and_outer(size_t n)
{
  pool p = { 0 };
  size_t ld = n + PAD;
  double *R = upper_triangle(&p, n), *inverted = pool_copy(&p, n ? ld * (n - 1) + n : 0, R);
  clear_below(n, R, ld);
  linalg_invert_upper(n, inverted, ld);
  double *triangle = packed(&p, n, n, R, ld), *inverse = packed(&p, n, n, inverted, ld);
  double *product = pool_doubles(&p, n * n), *outer = pool_matrix(&p, n, n, ld);
  naive_product(n, n, n, triangle, inverse, product);
  CHECK(difference(n * n, product, identity(&p, n)) < 1e-13);

  linalg_outer_upper(n, R, ld, outer, ld);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < n; i++) {
      product[i + j * n] = 0;
      for (size_t k = 0; k < n; k++) product[i + j * n] += triangle[i + k * n] * triangle[j + k * n];
    }
  CHECK(difference(n * n, packed(&p, n, n, outer, ld), product) < 1e-13);
  pool_free(&p);
}

void test_linalg(void)
{
  random_seed(3);
  for (size_t i = 0; i < SIZES; i++) {
    size_t n = sizes[i];
    qr(n, n, 0);
    qr(n + 33, n, 0);
    if (n > 1) qr(n + 4, n, 1);
    for (size_t count = 0; count < 4; count++) {
      solve(n, count, 0);
      solve(n, count, 1);
    }
    cholesky(n);
    inverse_and_outer(n);
  }
}
