#include "gradient.h"

#include <math.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "kernel.h"
#include "vector.h"

static size_t this_thread(void)
{
#ifdef _OPENMP
    return (size_t) omp_get_thread_num();
#else
    return 0;
#endif
}

/* What is needed on the way; rows are those of one latent function. */
typedef struct {
    const gradient_point *at;
    size_t rows, latents;
    double *columns;  /* rows x count: the basis function of each pair */
    double *turned;   /* (rows latents) x count: Phi times the factor of Sigma */
    double *residual, *bend, *moved; /* rows latents: e, g, B Phi v */
    double *spread;   /* rows latents^2: covariance of the latent values of each row */
    double *v;        /* count */
    double *upstream; /* 2 rows latents for each thread */
    double *slopes;   /* dims x count */
} gradient_work;

static int allocate(gradient_work *w, const rvm_workspace *work)
{
    size_t n = w->rows, L = w->latents, m = w->at->count;
    w->columns = rvm_take_doubles(work, n * m);
    w->turned = rvm_take_doubles(work, n * L * m);
    w->residual = rvm_take_doubles(work, n * L);
    w->bend = rvm_take_doubles(work, n * L);
    w->moved = rvm_take_doubles(work, n * L);
    w->spread = rvm_take_doubles(work, n * L * L);
    w->v = rvm_take_doubles(work, 2 * m);
    w->upstream = rvm_take_doubles(work, 2 * n * L * (size_t) w->at->plain->threads);
    w->slopes = rvm_take_doubles(work, m * w->at->plain->dims);
    return w->columns && w->turned && w->residual && w->bend && w->moved && w->spread && w->v && w->upstream &&
           w->slopes;
}

static size_t function_of(const gradient_work *w, size_t j) { return w->at->pair[j] % w->at->plain->cols; }

static size_t class_of(const gradient_work *w, size_t j) { return w->at->pair[j] / w->at->plain->cols; }

/* Phi times the factor: the pairs of one class are neighbours, and only their rows are not 0. */
static void turn(gradient_work *w)
{
    size_t n = w->rows, m = w->at->count, ld = n * w->latents;
    memset(w->turned, 0, ld * m * sizeof(double));
    for (size_t first = 0, next; first < m; first = next) {
        size_t k = class_of(w, first);
        for (next = first + 1; next < m && class_of(w, next) == k;) next++;
#pragma omp parallel for schedule(dynamic) num_threads(w->at->plain->threads) if (w->at->plain->threads > 1 && n * m * m > 1000000)
        for (size_t c = first; c < m; c++) /* the factor is upper triangular */
            vector_combine(n, rvm_smaller(next, c + 1) - first, w->columns + first * n, n, 1,
                           w->at->posterior->factor + first + c * m, m, w->turned + k * n + c * ld, ld);
    }
}

static void find_spread(gradient_work *w)
{
    size_t n = w->rows, L = w->latents, ld = n * L;
    memset(w->spread, 0, n * L * L * sizeof(double));
    for (size_t c = 0; c < w->at->count; c++)
        for (size_t k = 0; k < L; k++)
            for (size_t l = 0; l < L; l++) {
                const double *a = w->turned + k * n + c * ld, *b = w->turned + l * n + c * ld;
                double *s = w->spread + (k + l * L) * n;
                for (size_t i = 0; i < n; i++) s[i] += a[i] * b[i];
            }
}

/* g, v = Sigma Phi'g and B Phi v. */
static void follow_the_mode(gradient_work *w)
{
    const gradient_point *at = w->at;
    size_t n = w->rows, m = at->count;
    double *along = w->v + m;
    find_spread(w);
    at->likelihood->bend(at->data, at->latent, w->spread, w->bend);
    for (size_t j = 0; j < m; j++) along[j] = vector_dot(n, w->columns + j * n, w->bend + class_of(w, j) * n);
    memset(w->v, 0, m * sizeof(double));
    for (size_t j = 0; j < m; j++) vector_add(m, along[j], at->posterior->covariance + j * m, w->v);
    memset(w->moved, 0, n * w->latents * sizeof(double));
    for (size_t j = 0; j < m; j++) vector_add(n, w->v[j], w->columns + j * n, w->moved + class_of(w, j) * n);
    at->likelihood->curve(at->data, at->latent, at->precision, w->moved);
}

/* One column of equation (1); out has 2 rows latents values, the column comes first. */
static void upstream_column(const gradient_work *w, size_t j, double *out)
{
    const gradient_point *at = w->at;
    size_t n = w->rows, m = at->count, ld = n * w->latents, k = class_of(w, j);
    double *product = out + ld, mean = at->posterior->mean[j], v = w->v[j];
    memset(product, 0, ld * sizeof(double));
    for (size_t c = j; c < m; c++) vector_add(ld, at->posterior->factor[j + c * m], w->turned + c * ld, product);
    at->likelihood->curve(at->data, at->latent, at->precision, product);
    const double *e = w->residual + k * n, *g = w->bend + k * n, *b = w->moved + k * n, *p = product + k * n;
    for (size_t i = 0; i < n; i++) out[i] = (e[i] + g[i] - b[i]) * mean + e[i] * v - p[i];
}

static const dictionary_block *block_of(const dictionary *d, size_t column)
{
    const dictionary_block *b = d->blocks;
    while (column >= b->first + b->count) b++;
    return b;
}

/* Slopes for the widths of pair j's kernel, through its column. */
static void pair_slopes(const gradient_work *w, size_t j, double *column, double *slopes)
{
    const dictionary *d = w->at->plain;
    size_t function = function_of(w, j);
    const dictionary_block *b = block_of(d, function);
    memset(slopes, 0, d->dims * sizeof(double));
    if (!kernel_has_width(b->kernel.type)) return;
    upstream_column(w, j, column);
    kernel_width_gradient(&b->kernel, w->rows, d->dims, b->inputs, w->rows, b->centers + (function - b->first) * d->dims,
                          column, column + w->rows * w->latents, slopes);
}

rvm_status gradient_evidence(const gradient_point *at, const rvm_workspace *work, double *log_alpha, double *log_width)
{
    const dictionary *d = at->plain;
    const posterior *p = at->posterior;
    size_t m = at->count, dims = d->dims;
    gradient_work w = { .at = at, .rows = at->data->rows, .latents = at->data->latents };
    if (!allocate(&w, work)) return RVM_NO_MEMORY;
    for (size_t j = 0; j < m; j++) {
        size_t function = function_of(&w, j);
        dictionary_columns(d, 1, &function, w.columns + j * w.rows, w.rows);
    }
    at->likelihood->residual(at->data, at->latent, at->precision, w.residual);
    turn(&w);
    follow_the_mode(&w);
    for (size_t j = 0; j < m; j++)
        log_alpha[j] = 0.5 * (1 - at->alpha[j] * (p->covariance[j + j * m] + p->mean[j] * p->mean[j])) -
                       at->alpha[j] * p->mean[j] * w.v[j];

#pragma omp parallel for schedule(dynamic) num_threads(d->threads) if (d->threads > 1 && w.rows * m * m > 1000000)
    for (size_t j = 0; j < m; j++)
        pair_slopes(&w, j, w.upstream + 2 * w.rows * w.latents * this_thread(), w.slopes + j * dims);
    memset(log_width, 0, dims * d->block_count * sizeof(double));
    for (size_t j = 0; j < m; j++)
        vector_add(dims, 1, w.slopes + j * dims, log_width + dims * (size_t) (block_of(d, function_of(&w, j)) - d->blocks));
    return RVM_OK;
}
