/* Every loop against the plain one, at sizes around the widths it is unrolled by. */
#include "helper.h"
#include "tests.h"
#include "vector.h"

static const size_t sizes[] = { 0, 1, 3, 5, 17, 257 };
enum { SIZES = sizeof sizes / sizeof *sizes, PAD = 2 };

static size_t extent(size_t rows, size_t cols, size_t ld) { return cols ? ld * (cols - 1) + rows : 0; }

static void exponentials(void)
{
  pool p = { 0 };
  enum { COUNT = 5003 };
  double *x = pool_doubles(&p, COUNT), *y, worst = 0;
  for (size_t n = 0; n < COUNT; n++) x[n] = -708.0 * (double) n / (COUNT - 1);
  for (size_t n = 1; n < 1000; n++) x[n] = -pow(10, -10 * random_uniform());
  y = pool_copy(&p, COUNT, x);
  vector_exp(COUNT, y);
  for (size_t n = 0; n < COUNT; n++) worst = fmax(worst, fabs(y[n] / exp(x[n]) - 1));
  CHECK(worst < 5e-16);
  CHECK(y[0] == 1);

  double *far = pool_doubles(&p, 3);
  far[0] = -708.5, far[1] = -1e6, far[2] = -INFINITY;
  vector_exp(3, far);
  CHECK(far[0] == 0 && far[1] == 0 && far[2] == 0);
  for (size_t i = 0; i < SIZES; i++) {
    double *run = pool_zeros(&p, sizes[i]);
    int ones = 1;
    vector_exp(sizes[i], run);
    for (size_t n = 0; n < sizes[i]; n++) ones = ones && run[n] == 1;
    CHECK(ones);
  }
  pool_free(&p);
}

static void sums(size_t count)
{
  pool p = { 0 };
  double *a = pool_matrix(&p, count, 1, count), *b = pool_matrix(&p, count, 1, count), sum = 0;
  double *y = pool_copy(&p, count, b);
  for (size_t n = 0; n < count; n++) sum += a[n] * b[n];
  CHECK_NEAR(vector_dot(count, a, b), sum, 1e-13);
  sum = 0;
  for (size_t n = 0; n < count; n++) sum += a[n] * a[n] * (pow(b[n], 2) - pow(b[n], 4));
  CHECK_NEAR(vector_class_square(count, a, b), sum, 1e-13);
  vector_add(count, -1.5, a, y);
  for (size_t n = 0; n < count; n++) b[n] -= 1.5 * a[n];
  CHECK(difference(count, y, b) < 1e-15);
  pool_free(&p);
}

static void distances(size_t count, size_t dims)
{
  pool p = { 0 };
  size_t stride = count + PAD;
  double *x = pool_matrix(&p, count, dims, stride), *z = pool_matrix(&p, dims, 1, dims);
  double *out = pool_matrix(&p, count, 1, count), *expected = pool_copy(&p, count, out);
  double *inner = pool_doubles(&p, count), *expected_inner = pool_zeros(&p, count);
  for (size_t k = 0; k < dims; k++)
    for (size_t n = 0; n < count; n++) {
      expected[n] += (x[n + k * stride] - z[k]) * (x[n + k * stride] - z[k]);
      expected_inner[n] += x[n + k * stride] * z[k];
    }
  vector_distance2(count, dims, x, stride, z, out);
  vector_inner(count, dims, x, stride, z, inner);
  CHECK(difference(count, out, expected) < 1e-14);
  CHECK(difference(count, inner, expected_inner) < 1e-14);
  pool_free(&p);
}

/* What lies between the columns must stay as it was: whole buffers are compared. */
static void products(size_t rows, size_t p, size_t q)
{
  pool mem = { 0 };
  size_t ld = rows + PAD, ldo = p + PAD, cells = extent(p, q, ldo);
  double *a = pool_matrix(&mem, rows, p, ld), *b = pool_matrix(&mem, rows, q, ld + 1);
  double *out = pool_matrix(&mem, p, q, ldo), *expected = pool_copy(&mem, cells, out);
  for (size_t j = 0; j < q; j++)
    for (size_t i = 0; i < p; i++)
      for (size_t n = 0; n < rows; n++) expected[i + j * ldo] += a[n + i * ld] * b[n + j * (ld + 1)];
  vector_products(rows, p, a, ld, q, b, ld + 1, out, ldo);
  CHECK(difference(cells, out, expected) < 1e-12);
  pool_free(&mem);
}

static void combinations(size_t rows, size_t p, size_t q)
{
  pool mem = { 0 };
  size_t ldx = rows + PAD, ldc = p + PAD, ldy = rows + PAD + 1, cells = extent(rows, q, ldy);
  double *x = pool_matrix(&mem, rows, p, ldx), *coef = pool_matrix(&mem, p, q, ldc);
  double *y = pool_matrix(&mem, rows, q, ldy), *expected = pool_copy(&mem, cells, y);
  for (size_t j = 0; j < q; j++)
    for (size_t i = 0; i < p; i++)
      for (size_t n = 0; n < rows; n++) expected[n + j * ldy] += x[n + i * ldx] * coef[i + j * ldc];
  vector_combine(rows, p, x, ldx, q, coef, ldc, y, ldy);
  CHECK(difference(cells, y, expected) < 1e-12);
  pool_free(&mem);
}

static void deflations(size_t rows, size_t cols, int threads)
{
  pool p = { 0 };
  size_t ld = rows + PAD, cells = extent(rows, cols, ld);
  double *E = pool_matrix(&p, rows, cols, ld), *e = pool_matrix(&p, rows, 1, rows), *t = pool_matrix(&p, rows, 1, rows);
  double *expected = pool_copy(&p, cells, E), *squares = pool_doubles(&p, cols), *inner = pool_doubles(&p, cols);
  double *expected_squares = pool_zeros(&p, cols), *expected_inner = pool_zeros(&p, cols);
  const double scale = 0.3 / (double) (rows + 1);
  for (size_t c = 0; c < cols; c++) {
    double *column = expected + c * ld, d = 0;
    for (size_t n = 0; n < rows; n++) d += e[n] * column[n];
    for (size_t n = 0; n < rows; n++) {
      column[n] -= scale * d * e[n];
      expected_squares[c] += column[n] * column[n];
      expected_inner[c] += column[n] * t[n];
    }
  }
  vector_deflate(rows, cols, E, ld, e, scale, t, squares, inner, threads);
  CHECK(difference(cells, E, expected) < 1e-13);
  CHECK(difference(cols, squares, expected_squares) < 1e-13);
  CHECK(difference(cols, inner, expected_inner) < 1e-12);
  pool_free(&p);
}

void test_vector(void)
{
  random_seed(1);
  exponentials();
  for (size_t i = 0; i < SIZES; i++) {
    sums(sizes[i]);
    for (size_t j = 0; j < SIZES; j++) {
      distances(sizes[i], sizes[j]);
      deflations(sizes[i], sizes[j], 1);
      for (size_t k = 0; k < SIZES - 1; k++) {
        products(sizes[i], sizes[j], sizes[k]);
        combinations(sizes[i], sizes[j], sizes[k]);
      }
    }
  }
  deflations(4001, 257, 2); /* enough for two threads */
}
