/* Panels of columns put into a model: T'T = C^-1, whatever the ratios. */
#include "whiten.h"

#include <string.h>

#include "helper.h"
#include "tests.h"

enum { PAD = 3 };

/* C^-1 = I - R (A + R'R)^-1 R' by way of unit diagonals, which no ratio can spoil. columns: rows x count. */
typedef struct {
  double *scaled;  /* R D, D = (a_j + r_j'r_j)^-1/2 */
  double *inverse; /* of D (A + R'R) D */
  double log_det;  /* log|C| */
} reference;

static reference make_reference(pool *p, size_t rows, size_t count, const double *columns, const double *ratio)
{
  reference r = { pool_doubles(p, rows * count), pool_doubles(p, count * count), 0 };
  double *G = pool_doubles(p, count * count), *square = pool_doubles(p, count);
  for (size_t j = 0; j < count; j++) naive_cross(rows, 1, 1, columns + j * rows, columns + j * rows, square + j);
  for (size_t i = 0; i < rows * count; i++)
    r.scaled[i] = columns[i] / sqrt(ratio[i / rows] + square[i / rows]);
  naive_cross(rows, count, count, r.scaled, r.scaled, G);
  for (size_t j = 0; j < count; j++) G[j + j * count] = 1;
  naive_inverse(count, G, r.inverse);
  naive_cholesky(count, G);
  for (size_t j = 0; j < count; j++) r.log_det += 2 * log(G[j + j * count]) + log1p(square[j] / ratio[j]);
  return r;
}

/* out (cols x cols) = X'C^-1 X */
static void naive_whitened(pool *p, const reference *r, size_t rows, size_t count, size_t cols, const double *X,
                           double *out)
{
  double *inner = pool_doubles(p, count * cols), *turned = pool_doubles(p, count * cols);
  double *inside = pool_doubles(p, cols * cols);
  naive_cross(rows, count, cols, r->scaled, X, inner);
  naive_product(count, count, cols, r->inverse, inner, turned);
  naive_cross(count, cols, cols, inner, turned, inside);
  naive_cross(rows, cols, cols, X, X, out);
  for (size_t i = 0; i < cols * cols; i++) out[i] -= inside[i];
}

/* r_j'C^-1 r_j = s / (1 + s / ratio_j) with s the same when column j is out: no cancellation. */
static double own_square(size_t rows, size_t count, const double *columns, const double *ratio, size_t j)
{
  pool p = { 0 };
  double *others = pool_doubles(&p, rows * count), *their_ratio = pool_doubles(&p, count), s;
  size_t left = 0;
  for (size_t i = 0; i < count; i++) {
    if (i == j) continue;
    memcpy(others + left * rows, columns + i * rows, rows * sizeof(double));
    their_ratio[left++] = ratio[i];
  }
  reference r = make_reference(&p, rows, left, others, their_ratio);
  naive_whitened(&p, &r, rows, left, 1, columns + j * rows, &s);
  pool_free(&p);
  return s / (1 + s / ratio[j]);
}

/* The columns go in by panels of `width`; T, the columns through T, and those of X, end where they should. */
typedef struct {
  double *T, *own, *X;
  double log_det;
} whitened;

static whitened put_in(pool *p, size_t rows, size_t count, const double *columns, const double *ratio, size_t width,
                       size_t cols, const double *X)
{
  whitened w = { pool_zeros(p, rows * rows), pool_copy(p, rows * count, columns), pool_copy(p, rows * cols, X), 0 };
  for (size_t n = 0; n < rows; n++) w.T[n + n * rows] = 1;
  for (size_t done = 0; done < count; done += width) {
    size_t some = count - done < width ? count - done : width;
    whiten_panel panel = { .rows = rows, .count = some, .vectors = pool_copy(p, rows * some, w.own + done * rows) };
    w.log_det += whiten_factor(&panel, ratio + done);
    whiten_apply(&panel, rows, w.T, rows, 1);
    whiten_apply(&panel, count, w.own, rows, 1);
    whiten_apply(&panel, cols, w.X, rows, 1);
    for (size_t j = 0; j < some; j++) whiten_own(&panel, j, w.own + (done + j) * rows);
  }
  return w;
}

/* r_i'C^-1 r_j = -ratio_i Sigma_ij ratio_j for i and j that differ, in units of the columns' lengths after T. */
static void check_own(pool *p, const reference *r, const whitened *w, size_t rows, size_t count, const double *columns,
                      const double *ratio)
{
  double *gram = pool_doubles(p, count * count), *length = pool_doubles(p, count), worst = 0;
  naive_cross(rows, count, count, w->own, w->own, gram);
  for (size_t j = 0; j < count; j++) length[j] = sqrt(own_square(rows, count, columns, ratio, j));
  for (size_t j = 0; j < count; j++)
    for (size_t i = 0; i < count; i++) {
      double square_i, square_j, expected = 1;
      if (length[i] == 0 || length[j] == 0) {
        CHECK(gram[i + j * count] == 0);
        continue;
      }
      naive_cross(rows, 1, 1, columns + i * rows, columns + i * rows, &square_i);
      naive_cross(rows, 1, 1, columns + j * rows, columns + j * rows, &square_j);
      if (i != j)
        expected = -ratio[i] / sqrt(ratio[i] + square_i) / length[i] * r->inverse[i + j * count] * ratio[j] /
                   sqrt(ratio[j] + square_j) / length[j];
      double off = fabs(gram[i + j * count] / length[i] / length[j] - expected);
      if (!(off <= worst)) worst = off;
    }
  CHECK(worst < 1e-10);
}

static void check_panels(size_t rows, size_t count, const double *columns, const double *ratio, size_t width)
{
  pool p = { 0 };
  enum { COLS = 5 };
  size_t both = rows > COLS ? rows : COLS;
  double *X = pool_matrix(&p, rows, COLS, rows), *identity = pool_zeros(&p, rows * rows);
  double *product = pool_doubles(&p, both * both), *expected = pool_doubles(&p, both * both);
  for (size_t n = 0; n < rows; n++) identity[n + n * rows] = 1;
  reference r = make_reference(&p, rows, count, columns, ratio);
  whitened w = put_in(&p, rows, count, columns, ratio, width, COLS, X);
  naive_cross(rows, rows, rows, w.T, w.T, product);
  naive_whitened(&p, &r, rows, count, rows, identity, expected);
  CHECK(difference(rows * rows, product, expected) < 1e-12);
  naive_cross(rows, COLS, COLS, w.X, w.X, product);
  naive_whitened(&p, &r, rows, count, COLS, X, expected);
  CHECK(difference(COLS * COLS, product, expected) < 1e-11);
  CHECK_NEAR(w.log_det, r.log_det, 1e-12);
  check_own(&p, &r, &w, rows, count, columns, ratio);
  pool_free(&p);
}

/* A column through T by whiten_apply() and without cancellation are the same thing. */
static void own_is_applied(size_t rows, size_t count)
{
  pool p = { 0 };
  double *columns = pool_matrix(&p, rows, count, rows), *own = pool_doubles(&p, rows), ratio[PANEL];
  for (size_t j = 0; j < count; j++) ratio[j] = exp(random_normal());
  whiten_panel panel = { .rows = rows, .count = count, .vectors = pool_copy(&p, rows * count, columns) };
  whiten_factor(&panel, ratio);
  whiten_apply(&panel, count, columns, rows, 1);
  for (size_t j = 0; j < count; j++) {
    whiten_own(&panel, j, own);
    CHECK(difference(rows, own, columns + j * rows) < 1e-12);
  }
  pool_free(&p);
}

enum ratios { MODERATE, TINY, HUGE_RATIOS, MIXED, RATIO_KINDS };

static double draw_ratio(enum ratios kind, size_t j)
{
  double moderate = exp(2 * random_normal());
  switch (kind) {
  case TINY: return 1e-20 * moderate;
  case HUGE_RATIOS: return 1e20 * moderate;
  case MIXED: return moderate * (j % 3 == 0 ? 1e-20 : j % 3 == 1 ? 1e20 : 1);
  default: return moderate;
  }
}

static void random_panels(size_t rows, size_t count, size_t width)
{
  for (enum ratios kind = MODERATE; kind < RATIO_KINDS; kind++) {
    pool p = { 0 };
    double *columns = pool_matrix(&p, rows, count, rows), *ratio = pool_doubles(&p, count);
    for (size_t j = 0; j < count; j++) ratio[j] = draw_ratio(kind, j);
    if (count > 2) memset(columns + rows, 0, rows * sizeof(double)); /* one of zeros */
    /* with as many tiny ratios as rows C^-1 is next to nothing, and the reference rounding */
    if (kind == MODERATE || kind == HUGE_RATIOS || count < rows) check_panels(rows, count, columns, ratio, width);
    pool_free(&p);
  }
}

/* Two copies are one column with both prior variances, at any ratio. */
static void copies(double ratio)
{
  pool p = { 0 };
  enum { ROWS = 7, COUNT = 3 };
  double *columns = pool_matrix(&p, ROWS, COUNT, ROWS), *X = pool_matrix(&p, ROWS, 1, ROWS);
  const double three[] = { ratio, 1, ratio }, two[] = { ratio / 2, 1 };
  memcpy(columns + 2 * ROWS, columns, ROWS * sizeof(double));
  whitened with = put_in(&p, ROWS, COUNT, columns, three, PANEL, 1, X);
  whitened without = put_in(&p, ROWS, COUNT - 1, columns, two, PANEL, 1, X);
  double *product = pool_doubles(&p, ROWS * ROWS), *expected = pool_doubles(&p, ROWS * ROWS);
  naive_cross(ROWS, ROWS, ROWS, with.T, with.T, product);
  naive_cross(ROWS, ROWS, ROWS, without.T, without.T, expected);
  CHECK(difference(ROWS * ROWS, product, expected) < 1e-12);
  /* after the first copy only rounding of the columns is left of the second, beside the root of its ratio */
  CHECK_NEAR(with.log_det, without.log_det, 1e-12 + 1e-15 / sqrt(ratio));
  CHECK(difference(ROWS, with.own, with.own + 2 * ROWS) < 1e-12);
  pool_free(&p);
}

/* Nothing in a panel, or nothing that is not zero: everything stays as it is. */
static void nothing(size_t count)
{
  pool p = { 0 };
  enum { ROWS = 11, COLS = 3 };
  double *X = pool_matrix(&p, ROWS, COLS, ROWS), *before = pool_copy(&p, ROWS * COLS, X), *own = pool_doubles(&p, ROWS);
  const double ratio[] = { 1e-20, 1, 1e20 };
  whiten_panel panel = { .rows = ROWS, .count = count, .vectors = pool_zeros(&p, ROWS * count) };
  CHECK(whiten_factor(&panel, ratio) == 0);
  whiten_apply(&panel, COLS, X, ROWS, 1);
  CHECK(difference(ROWS * COLS, X, before) == 0);
  for (size_t j = 0; j < count; j++) {
    whiten_own(&panel, j, own);
    CHECK(difference(ROWS, own, pool_zeros(&p, ROWS)) == 0);
  }
  pool_free(&p);
}

/* Each column for itself, with another leading dimension and with two threads: the same bits. */
static void same_bits(size_t rows, size_t count, size_t cols)
{
  pool p = { 0 };
  size_t ld = rows + PAD, cells = cols ? ld * (cols - 1) + rows : 0;
  double *X = pool_matrix(&p, rows, cols, ld), *expected = pool_copy(&p, cells, X), *two = pool_copy(&p, cells, X);
  double ratio[PANEL];
  for (size_t j = 0; j < count; j++) ratio[j] = exp(random_normal());
  whiten_panel panel = { .rows = rows, .count = count, .vectors = pool_matrix(&p, rows, count, rows) };
  whiten_factor(&panel, ratio);
  whiten_apply(&panel, cols, X, ld, 1);
  whiten_apply(&panel, cols, two, ld, 2);
  CHECK(memcmp(X, two, cells * sizeof(double)) == 0);
  for (size_t j = 0; j < cols; j++) whiten_apply(&panel, 1, expected + j * ld, rows, 1);
  CHECK(difference(cells, X, expected) < 1e-12);
  pool_free(&p);
}

void test_whiten(void)
{
  static const size_t cols[] = { 0, 1, 63, 64, 65, 130 };
  random_seed(13);
  nothing(0);
  nothing(3);
  for (size_t width = 1; width <= PANEL; width += 31) {
    random_panels(9, 1, width);
    random_panels(9, 2, width);
    random_panels(9, 8, width);
    random_panels(5, 17, width); /* more columns than rows */
  }
  random_panels(40, 31, PANEL);
  random_panels(40, PANEL, PANEL);
  random_panels(90, 70, PANEL); /* several panels */
  random_panels(300, 35, 20);   /* several tiles of rows */
  for (double ratio = 1e-20; ratio < 1e21; ratio *= 1e5) copies(ratio);
  own_is_applied(1, 1);
  own_is_applied(30, 17);
  own_is_applied(600, PANEL);
  for (size_t i = 0; i < sizeof cols / sizeof *cols; i++) same_bits(257, 5, cols[i]);
  same_bits(400, PANEL, 200); /* enough for two threads */
}
