/* The order of the candidates: a permutation, explicit columns first, the same for the same centres; and of their
 * pairs with classes. */
#include "order.h"

#include <string.h>

#include "helper.h"
#include "tests.h"

static void permutation(size_t explicit_columns, size_t centers)
{
  pool p = { 0 };
  subject s;
  subject_make(&s, &p, 3, 2, explicit_columns, centers, 0);
  size_t cols = s.dict.cols, *order = pool_sizes(&p, cols), explicit_count;
  unsigned char *seen = memset(pool_bytes(&p, cols), 0, cols);
  order_columns(&s.dict, order, &explicit_count, pool_doubles(&p, cols));
  CHECK(explicit_count == explicit_columns);
  int right = 1;
  for (size_t i = 0; i < cols; i++) {
    right = right && order[i] < cols && !seen[order[i]];
    if (right) seen[order[i]] = 1;
  }
  CHECK(right);
  for (size_t i = 0; i < explicit_columns; i++) CHECK(order[i] == s.blocks[1].first + i);
  pool_free(&p);
}

/* Centres shuffled and in another unit: the same centres come in the same order. */
static void row_order(size_t dims, size_t centers)
{
  pool p = { 0 };
  size_t *order = pool_sizes(&p, centers), *shuffled_order = pool_sizes(&p, centers);
  size_t *shuffle = pool_sizes(&p, centers), explicit_count;
  double *z = pool_matrix(&p, dims, centers, dims), *shuffled = pool_doubles(&p, dims * centers);
  double *keys = pool_doubles(&p, centers);
  random_order(centers, shuffle);
  for (size_t j = 0; j < centers; j++)
    for (size_t k = 0; k < dims; k++) shuffled[k + j * dims] = 0.125 * z[k + shuffle[j] * dims];
  dictionary_block block = { .kernel = { .type = KERNEL_CAUCHY }, .count = centers, .centers = z };
  dictionary d = { .rows = 1, .dims = dims, .cols = centers, .block_count = 1, .blocks = &block, .threads = 1 };
  order_columns(&d, order, &explicit_count, keys);
  block.centers = shuffled;
  order_columns(&d, shuffled_order, &explicit_count, keys);
  int same = 1;
  for (size_t i = 0; i < centers; i++) same = same && shuffle[shuffled_order[i]] == order[i];
  CHECK(same);
  CHECK(explicit_count == 0);
  pool_free(&p);
}

/* The first tenth of the order visits every tenth of a grid of centres. */
static void spread(void)
{
  pool p = { 0 };
  enum { CENTERS = 1000 };
  size_t *order = pool_sizes(&p, CENTERS), explicit_count;
  double *z = pool_doubles(&p, CENTERS), *visits = pool_zeros(&p, 10);
  for (size_t j = 0; j < CENTERS; j++) z[j] = (double) j;
  dictionary_block block = { .kernel = { .type = KERNEL_GAUSSIAN }, .count = CENTERS, .centers = z };
  dictionary d = { .rows = 1, .dims = 1, .cols = CENTERS, .block_count = 1, .blocks = &block, .threads = 1 };
  order_columns(&d, order, &explicit_count, pool_doubles(&p, CENTERS));
  for (size_t i = 0; i < CENTERS / 10; i++) visits[order[i] / 100]++;
  for (size_t i = 0; i < 10; i++) CHECK(visits[i] > 0);
  pool_free(&p);
}

/* Every pair once, the explicit ones first; of each class the functions in their order; and every beginning
 * has about as many of one class as of another. */
static void pairs(size_t cols, size_t explicit_count, size_t latents)
{
  pool p = { 0 };
  enum { FEW = 8 };
  size_t *order = pool_sizes(&p, cols), *out = pool_sizes(&p, cols * latents), *met = pool_sizes(&p, latents);
  int in_order = 1, explicit_first = 1, even = 1;
  random_order(cols, order);
  memset(met, 0, latents * sizeof *met);
  order_pairs(cols, order, explicit_count, latents, out);
  for (size_t i = 0; i < cols * latents && in_order; i++) {
    size_t k = out[i] / cols, least = cols, most = 0;
    in_order = k < latents && met[k] < cols && out[i] % cols == order[met[k]];
    if (!in_order) break;
    explicit_first = explicit_first && (met[k] < explicit_count) == (i < explicit_count * latents);
    met[k]++;
    for (size_t l = 0; l < latents; l++) {
      least = met[l] < least ? met[l] : least;
      most = met[l] > most ? met[l] : most;
    }
    even = even && most - least <= FEW;
  }
  for (size_t k = 0; k < latents; k++) in_order = in_order && met[k] == cols; /* so that all were met once */
  CHECK(in_order);
  CHECK(explicit_first);
  CHECK(even);
  pool_free(&p);
}

void test_order(void)
{
  random_seed(5);
  permutation(0, 1);
  permutation(1, 0);
  permutation(3, 17);
  permutation(5, 257);
  row_order(1, 17);
  row_order(5, 257);
  spread();
  for (size_t latents = 1; latents < 5; latents++) {
    pairs(0, 0, latents);
    pairs(1, 0, latents);
    pairs(1, 1, latents);
    pairs(17, 0, latents);
    pairs(40, 40, latents);
    pairs(101, 13, latents);
  }
}
