/* fit_top_down.c: MacKay's fixed point and EM. Both start with every column in the
 * model and re-estimate all precisions at once; columns leave as theirs grow. Kept
 * for comparison with the papers: each iteration costs the cube of what is left. */
#include "fit.h"

#include <math.h>
#include <string.h>

#include "linalg.h"
#include "vector.h"

typedef struct {
    const fit_problem *problem;
    evidence_model model; /* every column it has is active */
    double *coords, *target;
    size_t *member;
    double *work;
    /* where the classes share a precision, of every basis function; else NULL */
    double *function_count, *function_gamma, *function_square;
} descent;

/* One precision from the `count` weights it is for: their sum of gamma and of squared means. */
typedef double (*precision_update)(const hyperprior *prior, double count, double gamma, double square, double alpha);

/* alpha = (gamma + 2 shape) / (mu^2 + 2 rate) */
static double mackay_update(const hyperprior *p, double count, double gamma, double square, double alpha)
{
    (void) count, (void) alpha;
    return (gamma + 2 * p->shape) / (square + 2 * p->rate);
}

/* alpha = (1 + 2 shape) / (mu^2 + Sigma_ii + 2 rate), Sigma_ii = (1 - gamma) / alpha */
static double em_update(const hyperprior *p, double count, double gamma, double square, double alpha)
{
    return (count + 2 * p->shape) / (square + (count - gamma) / alpha + 2 * p->rate);
}

static int allocate_shared(descent *s, const fit_problem *p)
{
    size_t functions = dictionary_functions(p->dict);
    if (!p->shared) return 1;
    s->function_count = rvm_take_doubles(&p->work, functions);
    s->function_gamma = rvm_take_doubles(&p->work, functions);
    s->function_square = rvm_take_doubles(&p->work, functions);
    return s->function_count && s->function_gamma && s->function_square;
}

static int allocate(descent *s, const fit_problem *p, size_t m)
{
    size_t n = p->dict->rows, longer = n > m ? n : m;
    if (8.0 * (double) m * (3.0 * (double) longer + 3.0 * (double) m) > p->memory) return 0;
    evidence_model *model = &s->model;
    s->coords = rvm_take_doubles(&p->work, longer * m);
    s->target = rvm_take_doubles(&p->work, n);
    s->member = rvm_take_sizes(&p->work, m);
    s->work = rvm_take_doubles(&p->work, evidence_newton_work(n, m) + linalg_qr_work(m) + m * m);
    model->ratio = rvm_take_doubles(&p->work, m);
    model->white = rvm_take_doubles(&p->work, n * m);
    model->white_target = rvm_take_doubles(&p->work, n);
    model->panel = rvm_take_doubles(&p->work, n * PANEL);
    model->S = rvm_take_doubles(&p->work, m);
    model->Q = rvm_take_doubles(&p->work, m);
    model->size = rvm_take_doubles(&p->work, m);
    return s->coords && s->target && s->member && s->work && model->ratio && model->white && model->white_target &&
           model->panel && model->S && model->Q && model->size && allocate_shared(s, p);
}

/* All columns in, with prior variances that together make up the target's; the
 * noise low, so that it does not claim the structure first. */
static void start(descent *s, const fit_problem *p, size_t m, const size_t *columns)
{
    size_t n = p->dict->rows;
    evidence_model *model = &s->model;
    for (size_t j = 0; j < m; j++) s->member[j] = columns ? columns[j] : j;
    dictionary_columns(p->dict, m, s->member, s->coords, n);
    memcpy(s->target, p->target, n * sizeof(double));
    *model = (evidence_model){ .rows = n, .cols = m, .ld = n, .coords = s->coords, .target = s->target, .rest = 0,
                               .now = p->noise, .ratio = model->ratio, .white = model->white,
                               .white_target = model->white_target, .S = model->S, .Q = model->Q, .size = model->size,
                               .panel = model->panel, .threads = p->dict->threads };
    double size = vector_dot(n * m, s->coords, s->coords) / p->noise.count;
    double alpha = size * (p->noise.noise_free ? p->noise.precision : 1);
    if (p->noise.noise_free) model->now.precision = fmin(p->noise.precision * 10, p->noise.precision_max);
    model->now.noise_free = 0;
    for (size_t j = 0; j < m; j++) model->ratio[j] = fmax(alpha / model->now.precision, 1e-12);
    evidence_refresh(model);
}

/* What the weights of one basis function add up to over the classes. */
static void add_up_functions(descent *s)
{
    const evidence_model *m = &s->model;
    size_t functions = dictionary_functions(s->problem->dict);
    memset(s->function_count, 0, functions * sizeof(double));
    memset(s->function_gamma, 0, functions * sizeof(double));
    memset(s->function_square, 0, functions * sizeof(double));
    for (size_t j = 0; j < m->cols; j++) {
        size_t i = s->member[j] % functions;
        double mean = m->Q[j] / m->ratio[j];
        s->function_count[i]++;
        s->function_gamma[i] += fmin(1, m->S[j] / m->ratio[j]);
        s->function_square[i] += mean * mean;
    }
}

/* Columns that the evidence is better without hardly matter any more; all classes of a
 * function leave together where they share a precision. */
static int matters(const descent *s, size_t j)
{
    const evidence_model *m = &s->model;
    if (s->function_gamma) {
        size_t i = s->member[j] % dictionary_functions(s->problem->dict);
        return s->function_gamma[i] > 1e-3 * s->function_count[i];
    }
    return m->S[j] > 1e-3 * m->ratio[j] || isfinite(evidence_best_move(&m->now, m->S[j], m->Q[j], m->ratio[j]).ratio);
}

static size_t prune(descent *s)
{
    evidence_model *m = &s->model;
    size_t kept = 0;
    if (s->function_gamma) add_up_functions(s);
    for (size_t j = 0; j < m->cols; j++) {
        if (!matters(s, j)) continue;
        memmove(s->coords + kept * m->ld, s->coords + j * m->ld, m->rows * sizeof(double));
        s->member[kept] = s->member[j];
        m->ratio[kept++] = m->ratio[j];
    }
    size_t pruned = m->cols - kept;
    m->cols = kept;
    return pruned;
}

/* When columns are few, rows are turned into as many: coords = Q R, keep R. Not where the
 * rows are about to change their scale. */
static rvm_status compress(descent *s)
{
    evidence_model *m = &s->model;
    if (s->problem->laplace || 2 * m->cols > m->rows || m->cols == 0) return RVM_OK;
    double *triangle = s->work, *qr_work = triangle + m->cols * m->cols, *turned = m->panel;
    rvm_status status = linalg_qr(m->rows, m->cols, s->coords, m->ld, triangle, m->cols, qr_work);
    if (status != RVM_OK) return status;
    double left = m->rest;
    for (size_t j = 0; j < m->cols; j++) turned[j] = vector_dot(m->rows, s->coords + j * m->ld, s->target);
    for (size_t j = 0; j < m->cols; j++) vector_add(m->rows, -turned[j], s->coords + j * m->ld, s->target);
    left += vector_dot(m->rows, s->target, s->target);
    memcpy(s->target, turned, m->cols * sizeof(double));
    m->rows = m->ld = m->cols;
    memcpy(s->coords, triangle, m->cols * m->cols * sizeof(double));
    m->rest = left;
    return RVM_OK;
}

/* One re-estimation of every precision and of the noise. */
static void reestimate(descent *s, const fit_problem *p, precision_update update)
{
    evidence_model *m = &s->model;
    double beta = m->now.precision, total_gamma = 0, residual = m->now.quadratic;
    if (s->function_gamma) add_up_functions(s);
    for (size_t j = 0; j < m->cols; j++) {
        double gamma = fmin(1, m->S[j] / m->ratio[j]), mean = m->Q[j] / m->ratio[j], square = mean * mean, count = 1;
        total_gamma += gamma;
        residual -= m->ratio[j] * square;
        if (s->function_gamma) {
            size_t i = s->member[j] % dictionary_functions(p->dict);
            count = s->function_count[i], gamma = s->function_gamma[i], square = s->function_square[i];
        }
        m->ratio[j] = update(&m->now.prior, count, gamma, square, m->ratio[j] * beta); /* alpha for now */
    }
    if (p->noise.noise_free) {
        const hyperprior *prior = &m->now.prior;
        double top = update == em_update ? m->now.count : m->now.count - total_gamma;
        double bottom = fmax(residual, 0) + (update == em_update ? total_gamma / beta : 0);
        m->now.precision = fmin((top + 2 * prior->noise_shape) / (bottom + 2 * prior->noise_rate), m->now.precision_max);
        if (!(m->now.precision > 0)) m->now.precision = beta;
    }
    for (size_t j = 0; j < m->cols; j++) m->ratio[j] = fmax(m->ratio[j] / m->now.precision, 1e-300);
}

static rvm_status renew(void *context)
{
    descent *s = context;
    memcpy(s->target, s->problem->target, s->model.rows * sizeof(double));
    dictionary_columns(s->problem->dict, s->model.cols, s->member, s->coords, s->model.ld);
    evidence_refresh(&s->model);
    return RVM_OK;
}

/* The model for the present precisions; at the mode, where that is another thing. */
static rvm_status refresh(descent *s)
{
    if (s->problem->laplace) return laplace_mode(s->problem->laplace, &s->model, s->member, renew, s);
    evidence_refresh(&s->model);
    return RVM_OK;
}

static double log_evidence(const descent *s)
{
    return s->problem->laplace ? laplace_evidence(s->problem->laplace, &s->model) : evidence_objective(&s->model);
}

static void note(const descent *s, fit_result *r, rvm_progress *now)
{
    fit_trace *t = r->trace + r->iterations++;
    *t = (fit_trace){ r->iterations, (int) s->model.active, log_evidence(s), s->model.now.precision };
    *now = (rvm_progress){ t->iteration, t->active, t->evidence, 1 / sqrt(t->precision) };
}

static void report(const descent *s, fit_result *r)
{
    r->precision = s->model.now.precision;
    r->active = evidence_columns(&s->model, s->member, r->which, r->ratio);
}

/* To the very maximum by the moves of evidence_climb(), which also decide what leaves for
 * good; with a mode to find, in turn with that. Shared precisions have no moves of their own. */
static rvm_status finish(descent *s, long *moves, rvm_progress *now)
{
    const fit_problem *p = s->problem;
    if (p->shared) return refresh(s);
    for (;;) {
        rvm_status status = p->laplace ? refresh(s) : RVM_OK;
        double before = evidence_objective(&s->model);
        if (status == RVM_OK)
            status = evidence_climb(&s->model, 0.1 * p->tol, EFFORT_POLISH, moves, s->work, &p->ticker, now);
        if (status != RVM_OK || !p->laplace) return status;
        if (*moves <= 0 || evidence_objective(&s->model) - before < 0.01 * p->tol) return refresh(s);
    }
}

/* From the given columns (NULL: all): iterates until the evidence hardly moves, and finishes. */
static rvm_status descend(const fit_problem *p, fit_result *r, precision_update update, size_t count,
                          const size_t *columns)
{
    descent s = { .problem = p };
    rvm_progress now = { 0 };
    if (!allocate(&s, p, count)) return RVM_NO_MEMORY;
    start(&s, p, count, columns);
    rvm_status status = refresh(&s);
    double before = -INFINITY, value = log_evidence(&s);
    r->iterations = 0;
    while (status == RVM_OK && r->iterations < p->maxit - 1 && !(fabs(value - before) < 0.1 * p->tol)) {
        reestimate(&s, p, update);
        status = refresh(&s);
        if (status == RVM_OK && prune(&s) > 0) {
            status = compress(&s);
            evidence_refresh(&s.model);
        }
        before = value;
        value = log_evidence(&s);
        note(&s, r, &now);
        if (rvm_tick(&p->ticker, &now)) status = RVM_INTERRUPTED;
    }
    if (status != RVM_OK) return status;
    if (p->noise.noise_free) {
        s.model.now.noise_free = 1;
        evidence_fit_noise(&s.model);
    }
    long moves = 1000 + 50 * (long) s.model.cols;
    status = finish(&s, &moves, &now);
    r->converged = r->iterations < p->maxit - 1 && moves > 0;
    note(&s, r, &now);
    report(&s, r);
    return status;
}

rvm_status fit_mackay(const fit_problem *p, fit_result *r) { return descend(p, r, mackay_update, p->dict->cols, NULL); }

rvm_status fit_em(const fit_problem *p, fit_result *r) { return descend(p, r, em_update, p->dict->cols, NULL); }

/* All classes of every basis function that is in the model for one of them. */
static size_t all_classes(const dictionary *d, const fit_result *r, size_t *columns, unsigned char *seen)
{
    size_t functions = dictionary_functions(d), count = 0;
    memset(seen, 0, functions);
    for (size_t j = 0; j < r->active; j++) seen[r->which[j] % functions] = 1;
    for (size_t k = 0; k < d->cols / functions; k++)
        for (size_t i = 0; i < functions; i++)
            if (seen[i]) columns[count++] = i + k * functions;
    return count;
}

rvm_status fit_shared(const fit_problem *p, fit_result *r)
{
    size_t *columns = rvm_take_sizes(&p->work, p->dict->cols);
    unsigned char *seen = p->work.take(p->work.context, p->dict->cols + 1);
    if (!columns || !seen) return RVM_NO_MEMORY;
    rvm_status status = fit_classes(p, r);
    if (status != RVM_OK || r->active == 0) return status;
    return descend(p, r, mackay_update, all_classes(p->dict, r, columns, seen), columns);
}
