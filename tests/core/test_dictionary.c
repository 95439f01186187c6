/* The dictionary against the matrix it stands for, for one latent function and for several. */
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
  dictionary pairs = { .rows = 300, .cols = 150, .dims = 1, .latents = 3 };
  CHECK(dictionary_store_bytes(&pairs) == 8.0 * 100 * 50);
  dictionary small = { .rows = 100, .cols = 50, .dims = 1 }, large = { .rows = 100000, .cols = 1000, .dims = 1 };
  CHECK(dictionary_store_bytes(&small) == 8.0 * 100 * 50);
  CHECK(dictionary_store_bytes(&large) == 0);
  large.dims = 100;
  CHECK(dictionary_store_bytes(&large) == 8.0 * 100000 * 1000);
}

/* ---- several latent functions ---- */

/* s becomes the dictionary of the pairs with `latents` classes, and its matrix the one of equation (1). */
static void make_pairs(subject *s, pool *p, size_t latents, size_t width)
{
  size_t cases = s->dict.rows, functions = s->dict.cols, rows = cases * latents, cols = functions * latents;
  double *root = pool_doubles(p, rows), *dense = pool_doubles(p, rows * cols);
  for (size_t n = 0; n < cases; n++) {
    double sum = 0;
    for (size_t k = 0; k < latents; k++) sum += root[n + k * cases] = exp(2 * random_normal());
    for (size_t k = 0; k < latents; k++) root[n + k * cases] = sqrt(root[n + k * cases] / sum);
  }
  for (size_t k = 0; k < latents; k++)
    for (size_t l = 0; l < latents; l++)
      for (size_t i = 0; i < functions; i++)
        for (size_t n = 0; n < cases; n++) {
          double s_k = root[n + k * cases], s_l = root[n + l * cases];
          dense[n + l * cases + (i + k * functions) * rows] =
            s->dense[n + i * cases] * ((l == k ? s_k : 0) - s_l * s_k * s_k);
        }
  s->dict.rows = rows;
  s->dict.cols = cols;
  s->dict.latents = latents;
  s->dict.class_root = root;
  s->dict.mixed = pool_doubles(p, rows * width);
  s->dense = dense;
}

/* A store for the basis functions, of which it knows none. */
static void make_store(subject *s, pool *p, dictionary_store *store)
{
  size_t functions = dictionary_functions(&s->dict);
  *store = (dictionary_store){ pool_doubles(p, dictionary_cases(&s->dict) * functions), pool_bytes(p, functions) };
  memset(store->known, 0, functions);
  s->dict.store = store;
}

/* What the store says it knows are the basis functions without row scale, and those that were asked for it knows. */
static void check_store(const subject *s, const double *functions, const double *scales, size_t count,
                        const size_t *which)
{
  size_t cases = dictionary_cases(&s->dict), number = dictionary_functions(&s->dict);
  const dictionary_store *store = s->dict.store;
  int right = 1, known = 1;
  for (size_t i = 0; i < cases * number; i++) {
    if (!store->known[i / cases]) continue;
    double scale = scales ? scales[i % cases] : 1;
    right = right && fabs(store->values[i] * scale - functions[i]) <= 1e-13 * (1 + fabs(functions[i]));
  }
  for (size_t j = 0; j < count; j++) known = known && store->known[which[j] % number] == 1;
  CHECK(right);
  CHECK(known);
}

static void classes_against_matrix(size_t cases, size_t explicit_columns, size_t centers, size_t latents, int scaled,
                                   int stored)
{
  pool p = { 0 };
  subject s;
  dictionary_store store;
  enum { WIDTH = 6 };
  subject_make(&s, &p, cases, 2, explicit_columns, centers, scaled);
  const double *functions = s.dense;
  make_pairs(&s, &p, latents, WIDTH);
  if (stored) make_store(&s, &p, &store);
  size_t cols = s.dict.cols, *which = pool_sizes(&p, cols);
  random_order(cols, which);
  columns(&p, &s, cols / 2, which);
  projections(&p, &s, cols / 4, which, 1, 1);
  if (stored) check_store(&s, functions, s.dict.row_scale, cols / 4, which);
  for (s.dict.threads = 1; s.dict.threads <= 2; s.dict.threads++) {
    columns(&p, &s, cols, which);
    for (size_t width = 0; width < WIDTH; width++) {
      projections(&p, &s, cols, NULL, width, width % 2);
      projections(&p, &s, cols / 3, which, width, !(width % 2));
    }
  }
  if (stored) check_store(&s, functions, s.dict.row_scale, cols, which);
  pool_free(&p);
}

static void plain_functions(size_t cases, size_t latents)
{
  pool p = { 0 };
  subject s;
  subject_make(&s, &p, cases, 3, 2, 4, 1);
  const double *scales = s.dict.row_scale;
  double *functions = s.dense;
  size_t count = s.dict.cols, *which = pool_sizes(&p, count);
  if (latents > 1) make_pairs(&s, &p, latents, 1);
  CHECK(dictionary_cases(&s.dict) == cases && dictionary_functions(&s.dict) == count);
  dictionary plain = dictionary_plain(&s.dict);
  CHECK(plain.rows == cases && plain.cols == count && plain.row_scale == NULL);
  CHECK(dictionary_cases(&plain) == cases && dictionary_functions(&plain) == count);
  double *out = pool_doubles(&p, cases * count);
  for (size_t j = 0; j < count; j++) which[j] = j;
  dictionary_columns(&plain, count, which, out, cases);
  for (size_t i = 0; i < cases * count; i++) out[i] *= scales[i % cases];
  CHECK(difference(cases * count, out, functions) < 1e-13);
  pool_free(&p);
}

/* One thread or two, a store or none: the same bits, where there is enough for two threads. */
static void classes_same_bits(size_t cases, size_t centers, size_t latents, size_t count, size_t width)
{
  pool p = { 0 };
  subject s;
  dictionary_store store;
  subject_make(&s, &p, cases, 2, 4, centers, 1);
  double *root = pool_doubles(&p, cases * latents);
  for (size_t i = 0; i < cases * latents; i++) root[i] = random_uniform();
  s.dict.rows *= latents, s.dict.cols *= latents, s.dict.latents = latents, s.dict.class_root = root;
  s.dict.mixed = pool_doubles(&p, s.dict.rows * width);
  size_t rows = s.dict.rows, *which = pool_sizes(&p, s.dict.cols);
  double *V = pool_matrix(&p, rows, width, rows), *made[3], *products[3], *squares[3];
  random_order(s.dict.cols, which);
  for (int run = 0; run < 3; run++) {
    s.dict.threads = run > 0 ? 2 : 1;
    if (run == 2) make_store(&s, &p, &store);
    made[run] = pool_doubles(&p, rows * count);
    products[run] = pool_doubles(&p, count * width);
    squares[run] = pool_doubles(&p, count);
    CHECK(dictionary_project(&s.dict, count, which, width, V, rows, products[run], count, squares[run], NULL, NULL) ==
          RVM_OK);
    dictionary_columns(&s.dict, count, which, made[run], rows);
    CHECK(memcmp(products[run], products[0], count * width * sizeof(double)) == 0);
    CHECK(memcmp(squares[run], squares[0], count * sizeof(double)) == 0);
    CHECK(memcmp(made[run], made[0], rows * count * sizeof(double)) == 0);
  }
  pool_free(&p);
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
  for (int stored = 0; stored < 2; stored++) {
    classes_against_matrix(1, 1, 1, 2, 0, stored);
    classes_against_matrix(17, 2, 5, 3, 1, stored);
    classes_against_matrix(257, 3, 17, 5, 0, stored);
    classes_against_matrix(600, 0, 9, 2, 1, stored);
  }
  classes_same_bits(21000, 12, 3, 36, 17);
  plain_functions(20, 1);
  plain_functions(20, 4);
  store_size();
  interrupted();
  long_pass();
}
