/* The dictionary against the matrix it stands for. */
#include "dictionary.h"

#include <string.h>

#include "helper.h"
#include "tests.h"

enum { PAD = 3 };

static void runs(pool *p, const subject *s)
{
  size_t rows = s->dict.rows;
  for (size_t row0 = 0; row0 < rows; row0 += 1 + rows / 4)
    for (size_t j = 0; j < s->dict.cols; j++) {
      size_t count = rows - row0 < 7 ? rows - row0 : 7;
      double *out = pool_doubles(p, count);
      dictionary_run(&s->dict, j, row0, count, out);
      CHECK(difference(count, out, s->dense + row0 + j * rows) < 1e-13);
    }
}

static void columns(pool *p, const subject *s, size_t count, const size_t *which)
{
  size_t rows = s->dict.rows, ld = rows + PAD;
  double *out = pool_matrix(p, rows, count, ld), *expected = pool_copy(p, count ? ld * (count - 1) + rows : 0, out);
  for (size_t j = 0; j < count; j++) memcpy(expected + j * ld, s->dense + which[j] * rows, rows * sizeof(double));
  dictionary_columns(&s->dict, count, which, out, ld);
  CHECK(difference(count ? ld * (count - 1) + rows : 0, out, expected) < 1e-13);
}

static void projections(pool *p, const subject *s, size_t count, const size_t *which, size_t width, int with_squares)
{
  size_t rows = s->dict.rows, ldv = rows + PAD, ldp = count + PAD, cells = width ? ldp * (width - 1) + count : 0;
  double *V = pool_matrix(p, rows, width, ldv), *products = pool_matrix(p, count, width, ldp);
  double *expected = pool_copy(p, cells, products), *squares = with_squares ? pool_doubles(p, count) : NULL;
  double *expected_squares = pool_zeros(p, count);
  for (size_t i = 0; i < count; i++) {
    const double *column = s->dense + (which ? which[i] : i) * rows;
    for (size_t n = 0; n < rows; n++) expected_squares[i] += column[n] * column[n];
    for (size_t k = 0; k < width; k++) {
      expected[i + k * ldp] = 0;
      for (size_t n = 0; n < rows; n++) expected[i + k * ldp] += column[n] * V[n + k * ldv];
    }
  }
  CHECK(dictionary_project(&s->dict, count, which, width, V, ldv, products, ldp, squares, NULL, NULL) == RVM_OK);
  CHECK(difference(cells, products, expected) < 1e-11);
  if (with_squares) CHECK(difference(count, squares, expected_squares) < 1e-12);
}

static void against_matrix(size_t rows, size_t dims, size_t explicit_columns, size_t centers, int scaled, int stored)
{
  pool p = { 0 };
  subject s;
  dictionary_store store;
  subject_make(&s, &p, rows, dims, explicit_columns, centers, scaled);
  if (stored) {
    store = (dictionary_store){ pool_doubles(&p, rows * s.dict.cols), pool_bytes(&p, s.dict.cols) };
    memset(store.known, 0, s.dict.cols);
    s.dict.store = &store;
  }
  size_t cols = s.dict.cols, *which = pool_sizes(&p, cols);
  random_order(cols, which);
  projections(&p, &s, cols / 2, which, 1, 1); /* a store knows these from here on */
  runs(&p, &s);
  for (s.dict.threads = 1; s.dict.threads <= 2; s.dict.threads++) {
    columns(&p, &s, cols, which);
    columns(&p, &s, cols / 3, which);
    for (size_t width = 0; width < 6; width++) {
      projections(&p, &s, cols, NULL, width, width % 2);
      projections(&p, &s, cols / 3, which, width, !(width % 2));
    }
  }
  pool_free(&p);
}

static void store_size(void)
{
  dictionary small = { .rows = 100, .cols = 50, .dims = 1 }, large = { .rows = 100000, .cols = 1000, .dims = 1 };
  CHECK(dictionary_store_bytes(&small) == 8.0 * 100 * 50);
  CHECK(dictionary_store_bytes(&large) == 0);
  large.dims = 100;
  CHECK(dictionary_store_bytes(&large) == 8.0 * 100000 * 1000);
}

/* A pass over more than 1e8 values asks twice whether to go on; every column gives the same sum. */
static void long_pass(void)
{
  pool p = { 0 };
  enum { ROWS = 1000, COUNT = 100010 };
  dictionary_block block = { .count = 1, .columns = pool_matrix(&p, ROWS, 1, ROWS) };
  dictionary d = { .rows = ROWS, .dims = 1, .cols = 1, .block_count = 1, .blocks = &block, .threads = 2 };
  size_t *which = pool_sizes(&p, COUNT);
  memset(which, 0, COUNT * sizeof *which);
  double *V = pool_matrix(&p, ROWS, 1, ROWS), *products = pool_doubles(&p, COUNT), expected = 0;
  for (size_t n = 0; n < ROWS; n++) expected += block.columns[n] * V[n];
  tick_counter ticks = { 0, 0 };
  rvm_ticker ticker = counting_ticker(&ticks);
  CHECK(dictionary_project(&d, COUNT, which, 1, V, ROWS, products, COUNT, NULL, &ticker, NULL) == RVM_OK);
  CHECK(ticks.seen == 2);
  CHECK_NEAR(products[0], expected, 1e-12);
  int same = 1;
  for (size_t i = 0; i < COUNT; i++) same = same && products[i] == products[0];
  CHECK(same);
  pool_free(&p);
}

static void interrupted(void)
{
  pool p = { 0 };
  subject s;
  subject_make(&s, &p, 5, 2, 1, 2, 0);
  tick_counter ticks = { 0, 1 };
  rvm_ticker ticker = counting_ticker(&ticks);
  double *V = pool_matrix(&p, 5, 1, 5), *products = pool_doubles(&p, s.dict.cols);
  CHECK(dictionary_project(&s.dict, s.dict.cols, NULL, 1, V, 5, products, s.dict.cols, NULL, &ticker, NULL) ==
        RVM_INTERRUPTED);
  pool_free(&p);
}

void test_dictionary(void)
{
  random_seed(4);
  for (int stored = 0; stored < 2; stored++) {
    against_matrix(1, 1, 1, 1, 0, stored);
    against_matrix(17, 3, 2, 5, 1, stored);
    against_matrix(257, 5, 3, 17, 0, stored);
    against_matrix(600, 2, 0, 9, 1, stored);
  }
  against_matrix(21000, 2, 4, 32, 1, 1); /* enough for two threads */
  store_size();
  interrupted();
  long_pass();
}
