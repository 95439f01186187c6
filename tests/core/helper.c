#include "helper.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"

#define TWO_PI 6.283185307179586

/* ---- memory ---- */

void *pool_bytes(pool *p, size_t bytes)
{
  if (p->count == p->room) {
    p->room = p->room ? 2 * p->room : 64;
    p->pieces = realloc(p->pieces, p->room * sizeof(void *));
    if (!p->pieces) abort();
  }
  void *piece = malloc(bytes);
  if (!piece) abort();
  memset(piece, 0xff, bytes);
  return p->pieces[p->count++] = piece;
}

double *pool_doubles(pool *p, size_t count) { return pool_bytes(p, count * sizeof(double)); }

size_t *pool_sizes(pool *p, size_t count) { return pool_bytes(p, count * sizeof(size_t)); }

double *pool_zeros(pool *p, size_t count)
{
  return memset(pool_doubles(p, count), 0, count * sizeof(double));
}

double *pool_matrix(pool *p, size_t rows, size_t cols, size_t ld)
{
  size_t count = cols ? ld * (cols - 1) + rows : 0;
  double *A = pool_doubles(p, count);
  for (size_t i = 0; i < count; i++) A[i] = random_normal();
  return A;
}

double *pool_copy(pool *p, size_t count, const double *x)
{
  return memcpy(pool_doubles(p, count), x, count * sizeof(double));
}

static void *workspace_take(void *context, size_t bytes)
{
  pool *p = context;
  return ++p->taken == p->refuse ? NULL : pool_bytes(p, bytes);
}

rvm_workspace pool_workspace(pool *p) { return (rvm_workspace){ workspace_take, p }; }

void pool_free(pool *p)
{
  for (size_t i = 0; i < p->count; i++) free(p->pieces[i]);
  free(p->pieces);
  *p = (pool){ 0 };
}

/* ---- random numbers ---- */

static uint64_t random_state;

void random_seed(unsigned long seed) { random_state = seed; }

/* splitmix64 */
double random_uniform(void)
{
  uint64_t h = random_state += 0x9e3779b97f4a7c15u;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  h ^= h >> 31;
  return ((double) (h >> 12) + 0.5) / 4503599627370496.0;
}

double random_normal(void)
{
  double length = sqrt(-2 * log(random_uniform()));
  return length * cos(TWO_PI * random_uniform());
}

void random_order(size_t count, size_t *out)
{
  for (size_t i = 0; i < count; i++) {
    size_t j = (size_t) (random_uniform() * (double) (i + 1));
    out[i] = i;
    out[i] = out[j], out[j] = i;
  }
}

/* ---- tickers ---- */

static int count_tick(void *context, const rvm_progress *now)
{
  tick_counter *counter = context;
  (void) now;
  return ++counter->seen == counter->stop_at;
}

rvm_ticker counting_ticker(tick_counter *counter) { return (rvm_ticker){ count_tick, counter }; }

/* ---- dense references ---- */

double difference(size_t count, const double *a, const double *b)
{
  double largest = 0;
  for (size_t i = 0; i < count; i++) {
    double d = fabs(a[i] - b[i]) / (1 + fabs(b[i]));
    if (isnan(d)) return INFINITY;
    if (d > largest) largest = d;
  }
  return largest;
}

void naive_product(size_t rows, size_t inner, size_t cols, const double *A, const double *B, double *out)
{
  for (size_t j = 0; j < cols; j++)
    for (size_t i = 0; i < rows; i++) {
      double sum = 0;
      for (size_t k = 0; k < inner; k++) sum += A[i + k * rows] * B[k + j * inner];
      out[i + j * rows] = sum;
    }
}

void naive_cross(size_t rows, size_t p, size_t q, const double *A, const double *B, double *out)
{
  for (size_t j = 0; j < q; j++)
    for (size_t i = 0; i < p; i++) {
      double sum = 0;
      for (size_t n = 0; n < rows; n++) sum += A[n + i * rows] * B[n + j * rows];
      out[i + j * p] = sum;
    }
}

static void exchange(double *a, double *b)
{
  double swap = *a;
  *a = *b, *b = swap;
}

void naive_inverse(size_t n, const double *A, double *out)
{
  pool local = { 0 };
  double *left = pool_copy(&local, n * n, A);
  memset(out, 0, n * n * sizeof(double));
  for (size_t i = 0; i < n; i++) out[i + i * n] = 1;
  for (size_t k = 0; k < n; k++) {
    size_t pivot = k;
    for (size_t i = k; i < n; i++)
      if (fabs(left[i + k * n]) > fabs(left[pivot + k * n])) pivot = i;
    for (size_t j = 0; j < n; j++) {
      exchange(left + k + j * n, left + pivot + j * n);
      exchange(out + k + j * n, out + pivot + j * n);
    }
    double scale = 1 / left[k + k * n];
    for (size_t j = 0; j < n; j++) left[k + j * n] *= scale, out[k + j * n] *= scale;
    for (size_t i = 0; i < n; i++) {
      double factor = left[i + k * n];
      if (i == k || factor == 0) continue;
      for (size_t j = 0; j < n; j++) {
        left[i + j * n] -= factor * left[k + j * n];
        out[i + j * n] -= factor * out[k + j * n];
      }
    }
  }
  pool_free(&local);
}

void naive_cholesky(size_t n, double *A)
{
  for (size_t j = 0; j < n; j++) {
    for (size_t k = 0; k < j; k++)
      for (size_t i = j; i < n; i++) A[i + j * n] -= A[i + k * n] * A[j + k * n];
    double root = sqrt(A[j + j * n]);
    for (size_t i = j; i < n; i++) A[i + j * n] /= root;
  }
}

void naive_marginal(size_t rows, size_t cols, const double *Phi, const double *alpha, double beta, double *out)
{
  for (size_t i = 0; i < rows * rows; i++) out[i] = i % (rows + 1) == 0 ? 1 / beta : 0;
  for (size_t j = 0; j < cols; j++) {
    const double *phi = Phi + j * rows;
    if (!isfinite(alpha[j])) continue;
    for (size_t n = 0; n < rows; n++)
      for (size_t i = 0; i < rows; i++) out[i + n * rows] += phi[i] * phi[n] / alpha[j];
  }
}

double naive_evidence(size_t rows, size_t cols, const double *Phi, const double *alpha, double beta, const double *t)
{
  pool local = { 0 };
  double *L = pool_doubles(&local, rows * rows), *solved = pool_copy(&local, rows, t);
  naive_marginal(rows, cols, Phi, alpha, beta, L);
  naive_cholesky(rows, L);
  double value = 0;
  for (size_t i = 0; i < rows; i++) {
    for (size_t k = 0; k < i; k++) solved[i] -= L[i + k * rows] * solved[k];
    solved[i] /= L[i + i * rows];
    value -= 0.5 * (log(TWO_PI) + solved[i] * solved[i]) + log(L[i + i * rows]);
  }
  pool_free(&local);
  return value;
}

static double spline_factor(double x, double z)
{
  double low = fmin(x, z);
  return 1 + x * z + x * z * low - (x + z) / 2 * low * low + low * low * low / 3;
}

double naive_kernel(const kernel *k, size_t dims, const double *x, size_t stride, const double *z)
{
  double r2 = 0, inner = 0, spline = 1;
  for (size_t j = 0; j < dims; j++) {
    r2 += (x[j * stride] - z[j]) * (x[j * stride] - z[j]);
    inner += x[j * stride] * z[j];
    spline *= spline_factor(x[j * stride], z[j]);
  }
  double r = sqrt(r2);
  switch (k->type) {
  case KERNEL_GAUSSIAN: return exp(-r2);
  case KERNEL_LAPLACE: return exp(-r);
  case KERNEL_CAUCHY: return 1 / (1 + r2);
  case KERNEL_MATERN32: return (1 + sqrt(3) * r) * exp(-sqrt(3) * r);
  case KERNEL_MATERN52: return (1 + sqrt(5) * r + 5 * r2 / 3) * exp(-sqrt(5) * r);
  case KERNEL_SPLINE: return spline;
  case KERNEL_THINPLATE: return r > 0 ? r2 * log(r) : 0;
  case KERNEL_POLYNOMIAL: return pow(k->scale * inner + k->offset, k->degree);
  case KERNEL_LINEAR: return inner;
  case KERNEL_SIGMOID: return tanh(k->scale * inner + k->offset);
  default: return NAN;
  }
}

/* ---- a dictionary with blocks of several kinds ---- */

static double dense_value(const subject *s, size_t row, size_t column)
{
  const dictionary *d = &s->dict;
  for (size_t i = 0; i < d->block_count; i++) {
    const dictionary_block *b = s->blocks + i;
    if (column < b->first || column >= b->first + b->count) continue;
    size_t local = column - b->first;
    if (b->kernel.type == KERNEL_NONE) return b->columns[row + local * d->rows];
    return naive_kernel(&b->kernel, d->dims, b->inputs + row, d->rows, b->centers + local * d->dims);
  }
  return NAN;
}

void subject_make(subject *s, pool *p, size_t rows, size_t dims, size_t explicit_columns, size_t centers, int scaled)
{
  static const kernel kinds[SUBJECT_BLOCKS] = {
    { KERNEL_GAUSSIAN, 0, 0, 0 }, { KERNEL_NONE, 0, 0, 0 }, { KERNEL_MATERN32, 0, 0, 0 },
    { KERNEL_POLYNOMIAL, 2, 0.5, 1 }
  };
  size_t first = 0;
  double *scales = scaled ? pool_doubles(p, rows) : NULL;
  for (size_t n = 0; n < rows && scaled; n++) scales[n] = 0.5 + random_uniform();
  for (size_t i = 0; i < SUBJECT_BLOCKS; i++) {
    dictionary_block *b = s->blocks + i;
    *b = (dictionary_block){ .kernel = kinds[i], .first = first };
    if (b->kernel.type == KERNEL_NONE) {
      b->count = explicit_columns;
      b->columns = pool_matrix(p, rows, explicit_columns, rows);
    } else {
      b->count = centers;
      b->inputs = pool_matrix(p, rows, dims, rows);
      b->centers = pool_matrix(p, dims, centers, dims);
    }
    first += b->count;
  }
  s->dict = (dictionary){ .rows = rows, .dims = dims, .cols = first, .block_count = SUBJECT_BLOCKS, .blocks = s->blocks,
                          .row_scale = scales, .threads = 1 };
  s->dense = pool_doubles(p, rows * first);
  for (size_t j = 0; j < first; j++)
    for (size_t n = 0; n < rows; n++) s->dense[n + j * rows] = dense_value(s, n, j) * (scaled ? scales[n] : 1);
}

/* ---- fits ---- */

void fit_case_use(fit_case *c, pool *p)
{
  c->problem.dict = &c->dict;
  c->problem.work = pool_workspace(p);
  c->result = (fit_result){ .which = pool_sizes(p, c->dict.cols), .ratio = pool_doubles(p, c->dict.cols),
                            .trace = pool_bytes(p, (size_t) c->problem.maxit * sizeof(fit_trace)) };
}

static void make_case(fit_case *c, pool *p, size_t rows, size_t dims, size_t cols, const double *target)
{
  double square = 0;
  size_t *order = pool_sizes(p, cols), fixed;
  c->block.count = cols;
  c->dict = (dictionary){ .rows = rows, .dims = dims, .cols = cols, .block_count = 1, .blocks = &c->block,
                          .threads = 1 };
  order_columns(&c->dict, order, &fixed, pool_doubles(p, cols));
  for (size_t n = 0; n < rows; n++) square += target[n] * target[n];
  double precision = (double) rows / square;
  c->problem = (fit_problem){ .target = target, .order = order, .fixed_columns = fixed, .tol = 1e-2, .maxit = 500,
                              .noise = { .count = (double) rows, .precision = precision,
                                         .precision_max = 1e12 * precision, .noise_free = 1 },
                              .memory = 1e9 };
  fit_case_use(c, p);
}

void fit_case_explicit(fit_case *c, pool *p, size_t rows, size_t cols, const double *X, const double *target)
{
  c->block = (dictionary_block){ .columns = X };
  make_case(c, p, rows, 1, cols, target);
}

void fit_case_kernel(fit_case *c, pool *p, size_t rows, size_t dims, size_t centers, double width)
{
  double *x = pool_doubles(p, rows * dims), *z = pool_doubles(p, dims * centers), *target = pool_doubles(p, rows);
  for (size_t i = 0; i < rows * dims; i++) x[i] = (2 * random_uniform() - 1) / width;
  for (size_t i = 0; i < dims * centers; i++) z[i] = (2 * random_uniform() - 1) / width;
  for (size_t n = 0; n < rows; n++) {
    double first = x[n] * width, last = x[n + (dims - 1) * rows] * width;
    target[n] = sin(5 * first) + 0.5 * cos(9 * last) + 0.1 * random_normal();
  }
  c->block = (dictionary_block){ .kernel = { .type = KERNEL_GAUSSIAN }, .inputs = x, .centers = z };
  make_case(c, p, rows, dims, centers, target);
}

/* The result's precisions by column of the dictionary, relative to the noise. */
static double *ratios_of(const fit_case *c, pool *p)
{
  double *ratio = pool_doubles(p, c->dict.cols);
  for (size_t j = 0; j < c->dict.cols; j++) ratio[j] = INFINITY;
  for (size_t k = 0; k < c->result.active; k++) ratio[c->result.which[k]] = c->result.ratio[k];
  return ratio;
}

double fit_case_gain(const fit_case *c, double *slope)
{
  pool local = { 0 };
  size_t rows = c->dict.rows;
  const double *t = c->problem.target;
  double *column = pool_doubles(&local, rows), *turned = pool_doubles(&local, rows), *ratio = ratios_of(c, &local);
  double *C = pool_zeros(&local, rows * rows), *inverse = pool_doubles(&local, rows * rows), best = 0;
  for (size_t j = 0; j < c->dict.cols; j++) {
    if (!isfinite(ratio[j])) continue;
    dictionary_columns(&c->dict, 1, &j, column, rows);
    for (size_t i = 0; i < rows * rows; i++) C[i] += column[i % rows] * column[i / rows] / ratio[j];
  }
  for (size_t n = 0; n < rows; n++) C[n + n * rows] += 1;
  naive_inverse(rows, C, inverse);
  evidence_setting now = c->problem.noise;
  naive_product(rows, rows, 1, inverse, t, turned);
  naive_cross(rows, 1, 1, turned, t, &now.quadratic);
  now.precision = c->result.precision;
  *slope = 0;
  for (size_t j = 0; j < c->dict.cols; j++) {
    double S, Q;
    dictionary_columns(&c->dict, 1, &j, column, rows);
    naive_product(rows, rows, 1, inverse, column, turned);
    naive_cross(rows, 1, 1, turned, column, &S);
    naive_cross(rows, 1, 1, turned, t, &Q);
    double gain = evidence_best_move(&now, S, Q, ratio[j]).gain;
    if (!(gain <= best)) best = gain;
    if (isfinite(ratio[j])) *slope = fmax(*slope, 0.5 * fabs(S - now.precision * Q * Q) / ratio[j]);
  }
  pool_free(&local);
  return best;
}

double fit_case_evidence(const fit_case *c)
{
  pool local = { 0 };
  size_t rows = c->dict.rows, active = c->result.active;
  double *Phi = pool_doubles(&local, rows * active), *alpha = pool_doubles(&local, active);
  dictionary_columns(&c->dict, active, c->result.which, Phi, rows);
  for (size_t j = 0; j < active; j++) alpha[j] = c->result.ratio[j] * c->result.precision;
  double value = naive_evidence(rows, active, Phi, alpha, c->result.precision, c->problem.target);
  pool_free(&local);
  return value;
}

void fit_case_sort(fit_case *c)
{
  fit_result *r = &c->result;
  for (size_t i = 1; i < r->active; i++)
    for (size_t j = i; j > 0 && r->which[j - 1] > r->which[j]; j--) {
      size_t which = r->which[j];
      r->which[j] = r->which[j - 1], r->which[j - 1] = which;
      exchange(r->ratio + j, r->ratio + j - 1);
    }
}
