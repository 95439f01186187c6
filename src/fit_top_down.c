/* fit_top_down.c: MacKay's fixed point and EM. Both start with every column in the
 * model and re-estimate all precisions at once; columns leave as theirs grow. Kept
 * for comparison with the papers: each iteration costs the cube of what is left. */
#include "fit.h"

#include <math.h>
#include <string.h>

#include "linalg.h"
#include "vector.h"

typedef struct {
    evidence_model model; /* every column it has is active */
    double *coords, *target;
    size_t *member;
    double *work;
} descent;

typedef double (*precision_update)(const hyperprior *prior, double gamma, double mean, double alpha);

/* alpha = (gamma + 2 shape) / (mu^2 + 2 rate) */
static double mackay_update(const hyperprior *p, double gamma, double mean, double alpha)
{
    (void) alpha;
    return (gamma + 2 * p->shape) / (mean * mean + 2 * p->rate);
}

/* alpha = (1 + 2 shape) / (mu^2 + Sigma_ii + 2 rate), Sigma_ii = (1 - gamma) / alpha */
static double em_update(const hyperprior *p, double gamma, double mean, double alpha)
{
    return (1 + 2 * p->shape) / (mean * mean + (1 - gamma) / alpha + 2 * p->rate);
}

static int allocate(descent *s, const fit_problem *p)
{
    size_t n = p->dict->rows, m = p->dict->cols, longer = n > m ? n : m;
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
           model->panel && model->S && model->Q && model->size;
}

/* All columns in, with prior variances that together make up the target's; the
 * noise low, so that it does not claim the structure first. */
static void start(descent *s, const fit_problem *p)
{
    size_t n = p->dict->rows, m = p->dict->cols;
    evidence_model *model = &s->model;
    for (size_t j = 0; j < m; j++) s->member[j] = j;
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

/* Columns that the evidence is better without, and that hardly matter any more. */
static size_t prune(descent *s)
{
    evidence_model *m = &s->model;
    size_t kept = 0;
    for (size_t j = 0; j < m->cols; j++) {
        int matters = m->S[j] > 1e-3 * m->ratio[j] ||
                      isfinite(evidence_best_move(&m->now, m->S[j], m->Q[j], m->ratio[j]).ratio);
        if (!matters) continue;
        memmove(s->coords + kept * m->ld, s->coords + j * m->ld, m->rows * sizeof(double));
        s->member[kept] = s->member[j];
        m->ratio[kept++] = m->ratio[j];
    }
    size_t pruned = m->cols - kept;
    m->cols = kept;
    return pruned;
}

/* When columns are few, rows are turned into as many: coords = Q R, keep R. */
static rvm_status compress(descent *s)
{
    evidence_model *m = &s->model;
    if (2 * m->cols > m->rows || m->cols == 0) return RVM_OK;
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
    for (size_t j = 0; j < m->cols; j++) {
        double gamma = fmin(1, m->S[j] / m->ratio[j]), mean = m->Q[j] / m->ratio[j];
        total_gamma += gamma;
        residual -= m->ratio[j] * mean * mean;
        m->ratio[j] = update(&m->now.prior, gamma, mean, m->ratio[j] * beta); /* alpha for now */
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

static void note(const descent *s, fit_result *r, rvm_progress *now)
{
    fit_trace *t = r->trace + r->iterations++;
    *t = (fit_trace){ r->iterations, (int) s->model.active, evidence_objective(&s->model), s->model.now.precision };
    *now = (rvm_progress){ t->iteration, t->active, t->evidence, 1 / sqrt(t->precision) };
}

static void report(const descent *s, fit_result *r)
{
    r->active = 0;
    r->precision = s->model.now.precision;
    for (size_t j = 0; j < s->model.cols; j++)
        if (isfinite(s->model.ratio[j])) {
            r->which[r->active] = s->member[j];
            r->ratio[r->active++] = s->model.ratio[j];
        }
}

/* Iterates until the evidence hardly moves, then goes to the very maximum by the
 * moves of evidence_climb(), which also decide what leaves for good. */
static rvm_status descend(const fit_problem *p, fit_result *r, precision_update update)
{
    descent s = { 0 };
    rvm_progress now = { 0 };
    rvm_status status = RVM_OK;
    if (!allocate(&s, p)) return RVM_NO_MEMORY;
    start(&s, p);
    double before = -INFINITY, value = evidence_objective(&s.model);
    r->iterations = 0;
    while (status == RVM_OK && r->iterations < p->maxit - 1 && !(fabs(value - before) < 0.1 * p->tol)) {
        reestimate(&s, p, update);
        evidence_refresh(&s.model);
        if (prune(&s) > 0) {
            status = compress(&s);
            evidence_refresh(&s.model);
        }
        before = value;
        value = evidence_objective(&s.model);
        note(&s, r, &now);
        if (rvm_tick(&p->ticker, &now)) status = RVM_INTERRUPTED;
    }
    if (status != RVM_OK) return status;
    if (p->noise.noise_free) {
        s.model.now.noise_free = 1;
        evidence_fit_noise(&s.model);
    }
    long moves = 1000 + 50 * (long) s.model.cols;
    status = evidence_climb(&s.model, 0.1 * p->tol, EFFORT_POLISH, &moves, s.work, &p->ticker, &now);
    r->converged = r->iterations < p->maxit - 1 && moves > 0;
    note(&s, r, &now);
    report(&s, r);
    return status;
}

rvm_status fit_mackay(const fit_problem *problem, fit_result *result) { return descend(problem, result, mackay_update); }

rvm_status fit_em(const fit_problem *problem, fit_result *result) { return descend(problem, result, em_update); }
