#include "helper_classes.h"

#include <math.h>
#include <string.h>

#include "order.h"

/* ---- problems ---- */

/* The largest of some smooth functions with noise that makes the classes overlap. */
static double draw_class(size_t classes, double first, double last)
{
  double best = -INFINITY, drawn = 0;
  for (size_t k = 0; k < classes; k++) {
    double value = 3 * sin(4 * first + 2.1 * (double) k) + cos(3 * last + (double) k) - log(-log(random_uniform()));
    if (value > best) best = value, drawn = (double) k;
  }
  return drawn;
}

static void make_data(class_case *c, pool *p, const double *x, size_t dims, double width, int flavour)
{
  size_t rows = c->data.rows;
  double *t = pool_doubles(p, rows), *weight = pool_doubles(p, rows), *root = pool_doubles(p, rows);
  double *offset = pool_doubles(p, rows);
  for (size_t n = 0; n < rows; n++) {
    t[n] = draw_class(c->data.latents > 1 ? c->data.latents : 2, x[n] * width, x[n + (dims - 1) * rows] * width);
    weight[n] = n % 7 == 3 ? 0 : 0.5 + random_uniform();
    root[n] = sqrt(weight[n]);
    offset[n] = random_normal();
  }
  c->data.t = t;
  c->data.weight = flavour & CLASSES_WEIGHTED ? weight : NULL;
  c->data.offset = flavour & CLASSES_OFFSET ? offset : NULL;
  c->weight_root = flavour & CLASSES_WEIGHTED ? root : NULL;
}

static void make_order(class_case *c, pool *p)
{
  dictionary plain = dictionary_plain(&c->dict);
  size_t *order = pool_sizes(p, plain.cols), *pairs = pool_sizes(p, c->dict.cols), fixed;
  order_columns(&plain, order, &fixed, pool_doubles(p, plain.cols));
  order_pairs(plain.cols, order, fixed, c->data.latents, pairs);
  c->problem.order = pairs;
  c->problem.fixed_columns = fixed * c->data.latents;
}

void class_case_make(class_case *c, pool *p, size_t rows, size_t dims, size_t centers, double width, size_t latents,
                     int flavour)
{
  double *x = pool_doubles(p, rows * dims), *z = pool_doubles(p, dims * centers), *ones = pool_doubles(p, rows);
  size_t functions = centers + 1;
  for (size_t i = 0; i < rows * dims; i++) x[i] = (2 * random_uniform() - 1) / width;
  for (size_t i = 0; i < dims * centers; i++) z[i] = (2 * random_uniform() - 1) / width;
  c->data = (observations){ .rows = rows, .latents = latents };
  make_data(c, p, x, dims, width, flavour);
  c->blocks[0] = (dictionary_block){ .count = 1, .columns = ones };
  c->blocks[1] = (dictionary_block){ .kernel = { .type = KERNEL_GAUSSIAN }, .first = 1, .count = centers, .inputs = x,
                                     .centers = z };
  c->dict = (dictionary){ .rows = rows * latents, .dims = dims, .cols = functions * latents, .block_count = 2,
                          .blocks = c->blocks, .latents = latents, .threads = 1 };
  c->functions = pool_doubles(p, rows * functions);
  for (size_t n = 0; n < rows; n++) {
    ones[n] = c->functions[n] = 1;
    for (size_t j = 0; j < centers; j++)
      c->functions[n + (j + 1) * rows] = naive_kernel(&c->blocks[1].kernel, dims, x + n, rows, z + j * dims);
  }
  c->problem = (fit_problem){ .tol = 1e-2, .maxit = 500, .memory = 1e9,
                              .noise = { .count = (double) rows, .precision = 1, .precision_max = 1 } };
  make_order(c, p);
}

void class_case_columns(class_case *c, pool *p, const double *X)
{
  size_t count = c->blocks[1].count;
  c->blocks[1] = (dictionary_block){ .first = 1, .count = count, .columns = X };
  memcpy(c->functions + c->data.rows, X, c->data.rows * count * sizeof(double));
  make_order(c, p);
}

rvm_status class_case_use(class_case *c, pool *p)
{
  const likelihood *likelihood = likelihood_of(c->data.latents > 1 ? LIKELIHOOD_SOFTMAX : LIKELIHOOD_BERNOULLI);
  c->problem.work = pool_workspace(p);
  c->dict.row_scale = c->data.latents > 1 ? c->weight_root : NULL;
  rvm_status status = laplace_start(&c->laplace, likelihood, &c->data, &c->dict, &c->problem.work);
  *(c->data.latents > 1 ? &c->dict.class_root : &c->dict.row_scale) = c->laplace.root;
  c->problem.dict = &c->dict;
  c->problem.target = c->laplace.target;
  c->problem.laplace = &c->laplace;
  c->result = (fit_result){ .which = pool_sizes(p, c->dict.cols), .ratio = pool_doubles(p, c->dict.cols),
                            .trace = pool_bytes(p, (size_t) c->problem.maxit * sizeof(fit_trace)) };
  return status;
}

/* ---- densities ---- */

/* The probabilities of the classes that have a latent function, by the largest of them all. */
static double case_probabilities(const observations *d, const double *f, size_t n, double *y)
{
  double top = d->latents > 1 ? -INFINITY : 0, sum = 0;
  for (size_t k = 0; k < d->latents; k++) top = fmax(top, f[n + k * d->rows]);
  if (d->latents == 1) sum = exp(-top); /* the class without one */
  for (size_t k = 0; k < d->latents; k++) sum += y[k] = exp(f[n + k * d->rows] - top);
  for (size_t k = 0; k < d->latents; k++) y[k] /= sum;
  if (d->latents == 1) return (d->t[n] == 1 ? f[n] - top : -top) - log(sum);
  return f[n + (size_t) d->t[n] * d->rows] - top - log(sum);
}

double naive_classes(const observations *d, const double *f, double *residual, double *curvature)
{
  pool local = { 0 };
  double *y = pool_doubles(&local, d->latents), value = 0;
  for (size_t n = 0; n < d->rows; n++) {
    double weight = d->weight ? d->weight[n] : 1;
    value += weight * case_probabilities(d, f, n, y);
    for (size_t k = 0; k < d->latents && residual; k++) {
      int own = d->latents > 1 ? d->t[n] == (double) k : d->t[n] == 1;
      residual[n + k * d->rows] = weight * (own - y[k]);
      for (size_t l = 0; l < d->latents; l++)
        curvature[n + (k + l * d->latents) * d->rows] = weight * ((k == l) * y[k] - y[k] * y[l]);
    }
  }
  pool_free(&local);
  return value;
}

/* ---- modes ---- */

/* Pair j: its basis function, and its class. */
static const double *function_of(const class_case *c, size_t j, size_t *k)
{
  size_t functions = c->dict.cols / c->data.latents;
  *k = j / functions;
  return c->functions + j % functions * c->data.rows;
}

static double with_residual(const class_mode *m, size_t j)
{
  size_t rows = m->problem->data.rows, k;
  const double *phi = function_of(m->problem, j, &k);
  double sum = 0;
  for (size_t n = 0; n < rows; n++) sum += phi[n] * m->residual[n + k * rows];
  return sum;
}

/* phi_i'B phi_j */
static double with_curvature(const class_mode *m, size_t i, size_t j)
{
  size_t rows = m->problem->data.rows, latents = m->problem->data.latents, k, l;
  const double *phi = function_of(m->problem, i, &k), *psi = function_of(m->problem, j, &l);
  const double *B = m->curvature + (k + l * latents) * rows;
  double sum = 0;
  for (size_t n = 0; n < rows; n++) sum += phi[n] * B[n] * psi[n];
  return sum;
}

void class_case_latent(const class_case *c, size_t count, const size_t *which, const double *weight, double *f)
{
  const observations *d = &c->data;
  for (size_t i = 0; i < d->rows * d->latents; i++) f[i] = d->offset ? d->offset[i % d->rows] : 0;
  for (size_t j = 0; j < count; j++) {
    size_t k;
    const double *phi = function_of(c, which[j], &k);
    for (size_t n = 0; n < d->rows; n++) f[n + k * d->rows] += weight[j] * phi[n];
  }
}

void class_mode_look(class_mode *m, double *gradient)
{
  pool local = { 0 };
  size_t count = m->count;
  double *H = pool_doubles(&local, count * count);
  class_case_latent(m->problem, count, m->which, m->mean, m->latent);
  m->value = naive_classes(&m->problem->data, m->latent, m->residual, m->curvature);
  for (size_t j = 0; j < count; j++) {
    m->value -= 0.5 * m->alpha[j] * m->mean[j] * m->mean[j];
    gradient[j] = with_residual(m, m->which[j]) - m->alpha[j] * m->mean[j];
    for (size_t i = 0; i < count; i++)
      H[i + j * count] = with_curvature(m, m->which[i], m->which[j]) + (i == j ? m->alpha[j] : 0);
  }
  naive_inverse(count, H, m->covariance);
  naive_cholesky(count, H);
  m->evidence = m->value;
  for (size_t j = 0; j < count; j++) m->evidence += 0.5 * log(m->alpha[j]) - log(H[j + j * count]);
  pool_free(&local);
}

/* The log posterior at other means. */
static double value_at(class_mode *m, const double *mean)
{
  class_case_latent(m->problem, m->count, m->which, mean, m->latent);
  double value = naive_classes(&m->problem->data, m->latent, NULL, NULL);
  for (size_t j = 0; j < m->count; j++) value -= 0.5 * m->alpha[j] * mean[j] * mean[j];
  return value;
}

class_mode class_mode_find(pool *p, const class_case *c, size_t count, const size_t *which, const double *alpha)
{
  size_t cells = c->data.rows * c->data.latents;
  class_mode m = { .problem = c, .count = count, .which = which, .alpha = alpha };
  m.mean = pool_zeros(p, count);
  m.latent = pool_doubles(p, cells);
  m.residual = pool_doubles(p, cells);
  m.curvature = pool_doubles(p, cells * c->data.latents);
  m.covariance = pool_doubles(p, count * count);
  double *gradient = pool_doubles(p, count), *step = pool_doubles(p, count), *trial = pool_doubles(p, count);
  for (int round = 0; round < 200; round++) {
    double rise = 0, share = 1;
    class_mode_look(&m, gradient);
    naive_product(count, count, 1, m.covariance, gradient, step);
    for (size_t j = 0; j < count; j++) rise += step[j] * gradient[j];
    if (rise < 1e-22) break;
    for (;; share *= 0.5) {
      for (size_t j = 0; j < count; j++) trial[j] = m.mean[j] + share * step[j];
      if (share < 1e-9 || rise < 1e-8 || value_at(&m, trial) > m.value) break;
    }
    memcpy(m.mean, trial, count * sizeof(double));
  }
  class_mode_look(&m, gradient);
  return m;
}

void class_mode_statistics(const class_mode *m, size_t j, double *S, double *Q)
{
  pool local = { 0 };
  double *shared = pool_doubles(&local, m->count), *turned = pool_doubles(&local, m->count), inside;
  for (size_t i = 0; i < m->count; i++) shared[i] = with_curvature(m, m->which[i], j);
  naive_product(m->count, m->count, 1, m->covariance, shared, turned);
  naive_cross(m->count, 1, 1, shared, turned, &inside);
  *S = with_curvature(m, j, j) - inside;
  *Q = with_residual(m, j);
  pool_free(&local);
}

double class_case_gain(const class_case *c, double *slope, double *evidence)
{
  pool local = { 0 };
  const fit_result *r = &c->result;
  double *ratio = pool_doubles(&local, c->dict.cols), best = 0;
  class_mode m = class_mode_find(&local, c, r->active, r->which, r->ratio);
  for (size_t j = 0; j < c->dict.cols; j++) ratio[j] = INFINITY;
  for (size_t k = 0; k < r->active; k++) ratio[r->which[k]] = r->ratio[k];
  *slope = 0;
  if (evidence) *evidence = m.evidence;
  for (size_t j = 0; j < c->dict.cols; j++) {
    double S, Q;
    class_mode_statistics(&m, j, &S, &Q);
    double gain = evidence_best_move(&c->problem.noise, S, Q, ratio[j]).gain;
    if (!(gain <= best)) best = gain;
    if (isfinite(ratio[j])) *slope = fmax(*slope, 0.5 * fabs(S - Q * Q) / ratio[j]);
  }
  pool_free(&local);
  return best;
}
