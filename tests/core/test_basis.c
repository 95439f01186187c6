/* The basis: orthonormal whatever enters, and everything expressed in it. */
#include "basis.h"

#include <string.h>

#include "helper.h"
#include "linalg.h"
#include "tests.h"

/* A basis with exactly as much room as asked for, and candidates that are every column in another order. */
static void make_basis(basis *b, pool *p, const subject *s, size_t capacity)
{
  size_t rows = s->dict.rows, cols = s->dict.cols, *candidate = pool_sizes(p, cols);
  random_order(cols, candidate);
  *b = (basis){ .dict = &s->dict, .target = pool_matrix(p, rows, 1, rows), .capacity = capacity,
                .vectors = pool_doubles(p, rows * capacity), .target_coords = pool_doubles(p, capacity),
                .remainder = pool_doubles(p, rows), .coords = pool_doubles(p, cols * capacity) };
  basis_start(b);
  CHECK(b->size == 0 && b->candidates == 0);
  b->candidates = cols;
  b->candidate = candidate;
}

/* Columns enter; their coordinates go to out, exactly capacity x count. */
static double *enter(basis *b, pool *p, size_t count, const size_t *which, int skip_similar, unsigned char *entered)
{
  size_t before = b->size;
  double *out = pool_doubles(p, b->capacity * count), *columns = pool_doubles(p, b->dict->rows * count);
  basis_enter(b, count, which, skip_similar, columns, pool_doubles(p, b->capacity * (count + 1)), out, entered);
  CHECK(basis_inform(b, before, NULL, NULL) == RVM_OK);
  return out;
}

static void check_orthonormal(pool *p, const basis *b)
{
  double *cross = pool_doubles(p, b->size * b->size), *identity = pool_zeros(p, b->size * b->size);
  for (size_t i = 0; i < b->size; i++) identity[i + i * b->size] = 1;
  naive_cross(b->dict->rows, b->size, b->size, b->vectors, b->vectors, cross);
  CHECK(difference(b->size * b->size, cross, identity) < 1e-13);
}

/* Coordinates of the target and of the candidates, and what is left of the target. */
static void check_coordinates(pool *p, const basis *b, const subject *s)
{
  size_t rows = b->dict->rows, cols = b->candidates, size = b->size;
  double *coords = pool_doubles(p, cols * size);
  double *target_coords = pool_doubles(p, size), *remainder = pool_doubles(p, rows), rest = 0;
  for (size_t i = 0; i < cols; i++) {
    const double *column = s->dense + b->candidate[i] * rows;
    for (size_t k = 0; k < size; k++) naive_cross(rows, 1, 1, column, b->vectors + k * rows, coords + i + k * cols);
  }
  naive_cross(rows, size, 1, b->vectors, b->target, target_coords);
  naive_product(rows, size, 1, b->vectors, target_coords, remainder);
  for (size_t n = 0; n < rows; n++) {
    remainder[n] = b->target[n] - remainder[n];
    rest += remainder[n] * remainder[n];
  }
  CHECK(difference(cols * size, b->coords, coords) < 1e-11);
  CHECK(difference(size, b->target_coords, target_coords) < 1e-12);
  CHECK(difference(rows, b->remainder, remainder) < 1e-12);
  CHECK_NEAR(b->rest, rest, 1e-12);
}

/* basis * out gives the columns back, out is zero beyond the basis. */
static void check_reproduced(pool *p, const basis *b, const subject *s, size_t count, const size_t *which,
                             const double *out)
{
  size_t rows = b->dict->rows;
  double *column = pool_doubles(p, rows);
  for (size_t j = 0; j < count; j++) {
    const double *coords = out + j * b->capacity;
    naive_product(rows, b->size, 1, b->vectors, coords, column);
    CHECK(difference(rows, column, s->dense + which[j] * rows) < 1e-12);
    for (size_t k = b->size; k < b->capacity; k++) CHECK(coords[k] == 0);
  }
}

static void growing(size_t rows, size_t centers, size_t batch, int scaled)
{
  pool p = { 0 };
  subject s;
  basis b;
  subject_make(&s, &p, rows, 3, 2, centers, scaled);
  size_t cols = s.dict.cols, *which = pool_sizes(&p, cols);
  random_order(cols, which);
  make_basis(&b, &p, &s, cols + 1);
  check_coordinates(&p, &b, &s);
  for (size_t j = 0; j < cols; j += batch) {
    size_t count = cols - j < batch ? cols - j : batch;
    unsigned char *entered = pool_bytes(&p, count);
    double *out = enter(&b, &p, count, which + j, 0, entered);
    check_reproduced(&p, &b, &s, count, which + j, out);
    for (size_t k = 0; k < count; k++) CHECK(entered[k]);
  }
  CHECK(b.size <= cols && b.size <= rows);
  check_orthonormal(&p, &b);
  check_coordinates(&p, &b, &s);
  pool_free(&p);
}

/* Kernels so wide that they are nearly dependent, in batches: Gram-Schmidt has little left to work with. */
static void smooth_columns(size_t rows, size_t centers, double width, size_t batch)
{
  pool p = { 0 };
  fit_case c;
  fit_case_kernel(&c, &p, rows, 1, centers, width);
  basis b = { .dict = &c.dict, .target = c.problem.target, .capacity = centers + 1,
              .vectors = pool_doubles(&p, rows * (centers + 1)), .target_coords = pool_doubles(&p, centers + 1),
              .remainder = pool_doubles(&p, rows) };
  basis_start(&b);
  for (size_t j = 0; j < centers; j += batch) {
    size_t count = centers - j < batch ? centers - j : batch;
    enter(&b, &p, count, c.problem.order + j, 0, pool_bytes(&p, count));
  }
  CHECK(b.size <= rows && b.size <= centers);
  check_orthonormal(&p, &b);
  pool_free(&p);
}

/* Six columns that are all the same to rounding as, or made of, the first two. */
static void subject_dependent(subject *s, pool *p, size_t rows)
{
  subject_make(s, p, rows, 1, 8, 0, 0);
  double *X = s->dense;
  for (size_t n = 0; n < rows; n++) {
    double a = X[n], b = X[n + rows];
    X[n + 2 * rows] = a;
    X[n + 3 * rows] = -0.5 * b;
    X[n + 4 * rows] = 0;
    X[n + 5 * rows] = 3 * a;
    X[n + 6 * rows] = a + 1e-9 * b + 1e-10 * random_normal();
    X[n + 7 * rows] = b;
  }
  s->blocks[1].columns = X;
}

static void dependent_columns(size_t rows)
{
  pool p = { 0 };
  subject s;
  basis b;
  static const size_t which[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  unsigned char *entered = pool_bytes(&p, 8);
  subject_dependent(&s, &p, rows);
  make_basis(&b, &p, &s, 9);
  double *out = enter(&b, &p, 8, which, 0, entered);
  CHECK(b.size == 3); /* the first two, and what tells column 6 from them */
  check_orthonormal(&p, &b);
  check_reproduced(&p, &b, &s, 8, which, out);
  for (size_t j = 0; j < 8; j++) CHECK(entered[j]);
  out = enter(&b, &p, 3, which + 5, 0, entered);
  CHECK(b.size == 3);
  check_reproduced(&p, &b, &s, 3, which + 5, out);
  pool_free(&p);
}

/* In one batch the second of two similar columns is left out; on its own it enters. */
static void similar_columns(void)
{
  pool p = { 0 };
  subject s;
  basis b;
  enum { ROWS = 20 };
  static const size_t which[] = { 0, 6, 1 };
  unsigned char *entered = pool_bytes(&p, 3);
  subject_dependent(&s, &p, ROWS);
  make_basis(&b, &p, &s, 4);
  double *out = enter(&b, &p, 3, which, 1, entered);
  CHECK(entered[0] && !entered[1] && entered[2]);
  CHECK(b.size == 2);
  check_reproduced(&p, &b, &s, 1, which, out);
  check_reproduced(&p, &b, &s, 1, which + 2, out + 2 * b.capacity);
  out = enter(&b, &p, 1, which + 1, 1, entered);
  CHECK(entered[0]);
  CHECK(b.size == 3);
  check_reproduced(&p, &b, &s, 1, which + 1, out);
  check_orthonormal(&p, &b);
  pool_free(&p);
}

static void turning(size_t rows, size_t count)
{
  pool p = { 0 };
  subject s;
  basis b;
  enum { SIZE = 7 };
  subject_make(&s, &p, rows, 2, 3, 95, 1); /* more candidates than a tile has rows */
  size_t *which = pool_sizes(&p, s.dict.cols);
  random_order(s.dict.cols, which);
  make_basis(&b, &p, &s, SIZE + 1);
  enter(&b, &p, SIZE, which, 0, pool_bytes(&p, SIZE));
  double *turn = pool_matrix(&p, SIZE, count, SIZE), *triangle = pool_doubles(&p, count * count);
  CHECK(linalg_qr(SIZE, count, turn, SIZE, triangle, count, pool_doubles(&p, linalg_qr_work(count))) == RVM_OK);
  double *expected = pool_doubles(&p, rows * count);
  naive_product(rows, SIZE, count, b.vectors, turn, expected);
  basis_turn(&b, count, turn, pool_doubles(&p, (TURN_ROWS + 1) * count));
  CHECK(b.size == count);
  CHECK(difference(rows * count, b.vectors, expected) < 1e-13);
  check_orthonormal(&p, &b);
  check_coordinates(&p, &b, &s);
  pool_free(&p);
}

static void interrupted(void)
{
  pool p = { 0 };
  subject s;
  basis b;
  static const size_t which[] = { 0 };
  unsigned char entered[1];
  subject_make(&s, &p, 9, 1, 2, 1, 0);
  make_basis(&b, &p, &s, 2);
  tick_counter ticks = { 0, 1 };
  rvm_ticker ticker = counting_ticker(&ticks);
  enter(&b, &p, 1, which, 0, entered);
  CHECK(basis_inform(&b, 0, &ticker, NULL) == RVM_INTERRUPTED);
  CHECK(basis_inform(&b, b.size, &ticker, NULL) == RVM_OK); /* no new vector: nothing to do */
  CHECK(ticks.seen == 1);
  pool_free(&p);
}

void test_basis(void)
{
  random_seed(6);
  growing(5, 4, 3, 0); /* more columns than rows */
  growing(40, 3, 1, 0);
  growing(257, 7, 4, 1);
  growing(600, 17, 17, 1);
  smooth_columns(100, 150, 0.01, 32);
  smooth_columns(100, 150, 0.06, 32);
  smooth_columns(300, 120, 0.06, 32);
  smooth_columns(100, 70, 0.36, 8);
  smooth_columns(100, 70, 2, 32);
  dependent_columns(3);
  dependent_columns(257);
  similar_columns();
  for (size_t count = 0; count <= 7; count += 1 + count) turning(300, count);
  turning(20, 7);
  interrupted();
}
