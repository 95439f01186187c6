#include "search.h"

#include <math.h>
#include <string.h>

#include "linalg.h"
#include "vector.h"

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Below this many coordinates the working set is simply everything. */
enum { SMALL_PROBLEM = 250000, SMALL_DICTIONARY = 160, LARGEST_BATCH = 128, SAMPLE = 1000 };

static int is_small(const fit_problem *p)
{
    return p->dict->rows * p->dict->cols <= SMALL_PROBLEM || p->dict->cols <= SMALL_DICTIONARY;
}

/* The basis may have as many vectors as memory allows: each costs a row-length and
 * a candidate-length vector, and four squares of their number go to the model. */
static size_t choose_capacity(const fit_problem *p)
{
    size_t largest = smaller(smaller(p->dict->rows, p->dict->cols), 4000) + 3 * LARGEST_BATCH;
    double per_vector = 8.0 * (double) (p->dict->rows + p->dict->cols), capacity = 0.5 * p->memory / per_vector;
    while (capacity > 64 && capacity * (per_vector + 64 * capacity) > p->memory) capacity *= 0.9;
    if (capacity < 3 * LARGEST_BATCH) capacity = 3 * LARGEST_BATCH;
    return capacity < (double) largest ? (size_t) capacity : largest;
}

static int allocate(search *s, size_t rows_kept, size_t capacity)
{
    const fit_problem *p = s->problem;
    const rvm_workspace *w = &p->work;
    size_t n = p->dict->rows, m = p->dict->cols, width = s->whole ? m : capacity;
    basis *b = &s->basis;
    evidence_model *model = &s->model;
    b->capacity = capacity;
    b->vectors = s->whole && rows_kept == n ? NULL : rvm_take_doubles(w, n * capacity);
    b->target_coords = rvm_take_doubles(w, capacity);
    b->remainder = rvm_take_doubles(w, n);
    b->squares = rvm_take_doubles(w, m);
    b->with_target = rvm_take_doubles(w, m);
    b->coords = s->whole ? NULL : rvm_take_doubles(w, m * capacity);
    s->coords = rvm_take_doubles(w, rows_kept * width);
    s->member = rvm_take_sizes(w, width);
    s->is_member = w->take(w->context, m + 1);
    s->saved = rvm_take_doubles(w, width);
    s->saved_member = rvm_take_sizes(w, width);
    s->root = s->whole ? NULL : rvm_take_doubles(w, capacity * capacity);
    s->work = rvm_take_doubles(w, evidence_newton_work(rows_kept, width) + (TURN_ROWS + 4) * capacity +
                                      linalg_qr_work(capacity) + capacity * capacity);
    s->columns = s->whole ? NULL : rvm_take_doubles(w, n * LARGEST_BATCH);
    s->scratch = rvm_take_doubles(w, capacity * (LARGEST_BATCH + 1));
    s->gains = rvm_take_doubles(w, m);
    s->picked = rvm_take_sizes(w, m);
    s->chosen = rvm_take_sizes(w, SAMPLE);
    s->entered = w->take(w->context, m + 1);
    model->ratio = rvm_take_doubles(w, width);
    model->white = rvm_take_doubles(w, rows_kept * width);
    model->white_target = rvm_take_doubles(w, capacity > n ? capacity : n);
    model->S = rvm_take_doubles(w, width);
    model->Q = rvm_take_doubles(w, width);
    model->size = rvm_take_doubles(w, width);
    model->pivot = rvm_take_doubles(w, capacity > n ? capacity : n);
    return model->pivot != NULL && s->work != NULL && s->coords != NULL && model->white != NULL &&
           (s->whole || (b->vectors != NULL && b->coords != NULL && s->columns != NULL && s->root != NULL));
}

static rvm_status open_sample(search *s);

/* Small problems: all columns at once, no compression. */
static void start_whole(search *s)
{
    const fit_problem *p = s->problem;
    for (size_t j = 0; j < p->dict->cols; j++) s->member[j] = j, s->is_member[j] = 1;
    dictionary_columns(p->dict, p->dict->cols, s->member, s->coords, p->dict->rows);
    s->model.rows = s->model.ld = p->dict->rows;
    s->model.cols = p->dict->cols;
    s->model.target = p->target;
    s->model.rest = 0;
}

rvm_status search_start(search *s, const fit_problem *problem, fit_result *result)
{
    memset(s, 0, sizeof *s);
    s->problem = problem;
    s->result = result;
    s->whole = is_small(problem);
    size_t capacity = s->whole ? LARGEST_BATCH : choose_capacity(problem);
    size_t rows_kept = s->whole ? problem->dict->rows : capacity;
    if (!allocate(s, rows_kept, capacity)) return RVM_NO_MEMORY;
    memset(s->is_member, 0, problem->dict->cols);
    s->basis.dict = problem->dict;
    s->basis.target = problem->target;
    s->model.coords = s->coords;
    s->model.now = problem->noise;
    s->model.threads = problem->dict->threads;
    s->batch = 32;
    result->iterations = 0;
    if (s->whole) {
        start_whole(s);
    } else {
        s->model.ld = capacity;
        s->model.target = s->basis.target_coords;
    }
    for (size_t j = 0; j < s->model.cols; j++) s->model.ratio[j] = INFINITY;
    if (!s->whole) return open_sample(s);
    s->sees_all = 1;
    evidence_refresh(&s->model);
    return RVM_OK;
}

/* The model follows the basis: more rows, perhaps more columns. */
static void follow_basis(search *s)
{
    s->model.rows = s->basis.size;
    s->model.rest = s->basis.rest;
    evidence_refresh(&s->model);
}

static void enter(search *s, size_t count, const size_t *which, int skip_similar)
{
    evidence_model *m = &s->model;
    double *out = s->coords + m->cols * m->ld;
    basis_enter(&s->basis, count, which, skip_similar, s->columns, s->scratch, out, s->entered);
    for (size_t j = 0; j < count; j++) {
        if (!s->entered[j]) continue;
        memmove(s->coords + m->cols * m->ld, out + j * m->ld, m->ld * sizeof(double));
        s->member[m->cols] = which[j];
        m->ratio[m->cols++] = INFINITY;
        s->is_member[which[j]] = 1;
    }
}

/* The candidates' squares, products with the target and coordinates, in one pass:
 * the target goes in as one more vector. */
static rvm_status inform_candidates(search *s)
{
    basis *b = &s->basis;
    size_t n = b->dict->rows, c = b->candidates;
    memcpy(b->vectors + b->size * n, b->target, n * sizeof(double));
    rvm_status status = dictionary_project(b->dict, c, b->candidate, b->size + 1, b->vectors, n, b->coords, c,
                                           b->squares, &s->problem->ticker, &s->now);
    memcpy(b->with_target, b->coords + b->size * c, c * sizeof(double));
    return status;
}

/* The first of the ordered columns are a sample of them all: the search begins there. */
static rvm_status open_sample(search *s)
{
    const fit_problem *p = s->problem;
    basis *b = &s->basis;
    b->candidates = smaller(p->dict->cols, SAMPLE);
    b->candidate = p->order;
    s->sees_all = b->candidates == p->dict->cols;
    rvm_status status = basis_start(b, &p->ticker, &s->now);
    if (status != RVM_OK) return status;
    enter(s, smaller(b->candidates, smaller(p->fixed_columns + 48, LARGEST_BATCH)), p->order, 1);
    status = basis_inform(b, 0, &p->ticker, &s->now);
    follow_basis(s);
    return status;
}

/* S and Q of every candidate, from its coordinates c in the basis, for the present
 * model: S = |phi|^2 - |c|^2 + |T c|^2, Q = phi't - c't + (T c)'(T t). What is
 * outside the basis by less than rounding is not there. */
static void judge_tile(search *s, size_t start, size_t count, double *turned)
{
    const basis *b = &s->basis;
    const evidence_model *m = &s->model;
    size_t r = b->size;
    memset(turned, 0, TURN_ROWS * r * sizeof(double));
    vector_combine(count, r, b->coords + start, b->candidates, r, s->root, r, turned, TURN_ROWS);
    for (size_t i = 0; i < count; i++) {
        size_t id = b->candidate[start + i];
        double inside = 0, target_inside = 0, S = 0, Q = 0;
        for (size_t k = 0; k < r; k++) {
            double c = b->coords[start + i + k * b->candidates], t = turned[i + k * TURN_ROWS];
            inside += c * c;
            target_inside += c * b->target_coords[k];
            S += t * t;
            Q += t * m->white_target[k];
        }
        double outside = b->squares[start + i] - inside;
        if (outside > 1e-13 * b->squares[start + i]) {
            S += outside;
            Q += b->with_target[start + i] - target_inside;
        }
        s->gains[start + i] =
            s->is_member[id] ? -INFINITY : evidence_best_move(&m->now, S, Q, INFINITY).gain;
    }
}

static void judge_candidates(search *s)
{
    size_t r = s->basis.size, tiles = (s->basis.candidates + TURN_ROWS - 1) / TURN_ROWS;
    double *root = s->work; /* T, then its transpose: combine() wants T' */
    evidence_square_root(&s->model, root, s->work + r * r);
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < r; j++) s->root[j + i * r] = root[i + j * r];
    for (size_t t = 0; t < tiles; t++)
        judge_tile(s, t * TURN_ROWS, smaller(TURN_ROWS, s->basis.candidates - t * TURN_ROWS), s->work);
}

/* The `count` largest gains above tol, largest first. cost: candidates + count^2 comparisons, typically. */
static size_t pick_best(search *s, size_t count, double tol)
{
    size_t found = 0, *picked = s->picked;
    for (size_t i = 0; i < s->basis.candidates; i++) {
        double gain = s->gains[i];
        if (!(gain > tol) || (found == count && gain <= s->gains[picked[count - 1]])) continue;
        size_t at = found < count ? found++ : count - 1;
        for (; at > 0 && s->gains[picked[at - 1]] < gain; at--) picked[at] = picked[at - 1];
        picked[at] = i;
    }
    return found;
}

rvm_status search_open_all(search *s, double *best)
{
    const fit_problem *p = s->problem;
    basis *b = &s->basis;
    rvm_status status = search_tidy(s);
    b->candidates = p->dict->cols;
    b->candidate = p->order;
    if (status == RVM_OK) status = inform_candidates(s);
    if (status != RVM_OK) return status;
    judge_candidates(s);
    size_t count = pick_best(s, SAMPLE, p->tol);
    *best = count ? s->gains[s->picked[0]] : 0;
    for (size_t j = 0; j < count; j++) s->chosen[j] = b->candidate[s->picked[j]];
    b->candidates = count;
    b->candidate = s->chosen;
    return count ? inform_candidates(s) : RVM_OK;
}

rvm_status search_intake(search *s, double *best)
{
    const fit_problem *p = s->problem;
    rvm_status status = RVM_OK;
    *best = 0;
    if (s->whole) return RVM_OK;
    judge_candidates(s);
    size_t room = smaller(s->basis.capacity - s->basis.size - 1, s->basis.capacity - s->model.cols - 1);
    size_t count = pick_best(s, smaller(s->batch, room), p->tol);
    if (count == 0) return RVM_OK;
    *best = s->gains[s->picked[0]];
    for (size_t j = 0; j < count; j++) s->picked[j] = s->basis.candidate[s->picked[j]];
    size_t before = s->basis.size;
    enter(s, count, s->picked, 1);
    status = basis_inform(&s->basis, before, &p->ticker, &s->now);
    follow_basis(s);
    return status;
}

static void note(search *s)
{
    fit_result *r = s->result;
    if (r->iterations >= s->problem->maxit) return;
    fit_trace *t = r->trace + r->iterations++;
    t->iteration = r->iterations;
    t->active = (int) s->model.active;
    t->evidence = evidence_objective(&s->model);
    t->precision = s->model.now.precision;
    s->now = (rvm_progress){ t->iteration, t->active, t->evidence, 1 / sqrt(t->precision) };
}

rvm_status search_climb(search *s, double tol)
{
    long moves = 400 + 20 * (long) s->model.cols;
    /* moves inside the working set cost little: the tolerance there is finer */
    rvm_status status = evidence_climb(&s->model, 0.1 * tol, &moves, s->work, &s->problem->ticker, &s->now);
    note(s);
    if (status == RVM_OK && rvm_tick(&s->problem->ticker, &s->now)) status = RVM_INTERRUPTED;
    return status;
}

rvm_status search_tidy(search *s)
{
    evidence_model *m = &s->model;
    size_t n = 0;
    if (s->whole || m->cols < 2 * m->active + 2 * s->batch) return RVM_OK;
    double *active = s->work, *triangle = active + m->rows * m->active;
    double *qr_work = triangle + m->active * m->active, *buffer = qr_work + linalg_qr_work(m->active);
    for (size_t j = 0; j < m->cols; j++) {
        if (!isfinite(m->ratio[j])) {
            s->is_member[s->member[j]] = 0;
            continue;
        }
        memcpy(active + n * m->rows, s->coords + j * m->ld, m->rows * sizeof(double));
        s->member[n] = s->member[j];
        m->ratio[n++] = m->ratio[j];
    }
    if (linalg_qr(m->rows, n, active, m->rows, triangle, n, qr_work) != RVM_OK) return RVM_SINGULAR;
    for (size_t j = 0; j < n; j++) {
        memset(s->coords + j * m->ld, 0, m->ld * sizeof(double));
        memcpy(s->coords + j * m->ld, triangle + j * n, n * sizeof(double));
    }
    m->cols = n;
    basis_turn(&s->basis, n, active, buffer);
    follow_basis(s);
    return RVM_OK;
}

rvm_status search_settle(search *s, double tol)
{
    for (;;) {
        double best;
        rvm_status status = search_climb(s, tol);
        if (status == RVM_OK) status = search_tidy(s);
        if (status == RVM_OK) status = search_intake(s, &best);
        if (status != RVM_OK || !(best > tol) || s->result->iterations >= s->problem->maxit) return status;
    }
}

void search_save(search *s)
{
    s->saved_count = 0;
    for (size_t j = 0; j < s->model.cols; j++)
        if (isfinite(s->model.ratio[j])) {
            s->saved_member[s->saved_count] = s->member[j];
            s->saved[s->saved_count++] = s->model.ratio[j];
        }
    s->saved_precision = s->model.now.precision;
    s->saved_value = evidence_objective(&s->model);
}

/* Saved columns that were dropped meanwhile come back in. */
static rvm_status reenter_saved(search *s)
{
    size_t before = s->basis.size, missing = 0;
    for (size_t k = 0; k < s->saved_count; k++)
        if (!s->is_member[s->saved_member[k]]) s->picked[missing++] = s->saved_member[k];
    for (size_t k = 0; k < missing; k += LARGEST_BATCH)
        enter(s, smaller(LARGEST_BATCH, missing - k), s->picked + k, 0);
    return missing ? basis_inform(&s->basis, before, &s->problem->ticker, &s->now) : RVM_OK;
}

rvm_status search_restore(search *s)
{
    evidence_model *m = &s->model;
    rvm_status status = RVM_OK;
    for (size_t j = 0; j < m->cols; j++) m->ratio[j] = INFINITY;
    if (!s->whole) {
        if (m->cols + s->saved_count + LARGEST_BATCH > s->basis.capacity) {
            evidence_refresh(m);
            status = search_tidy(s);
        }
        if (status == RVM_OK) status = reenter_saved(s);
    }
    for (size_t k = 0; k < s->saved_count; k++)
        for (size_t j = 0; j < m->cols; j++)
            if (s->member[j] == s->saved_member[k]) m->ratio[j] = s->saved[k];
    m->now.precision = s->saved_precision;
    if (s->whole)
        evidence_refresh(m);
    else
        follow_basis(s);
    return status;
}

void search_hold_noise(search *s, double precision)
{
    s->model.now.precision = precision;
    s->model.now.noise_free = 0;
}

void search_free_noise(search *s)
{
    const evidence_setting *own = &s->problem->noise;
    s->model.now.noise_free = own->noise_free;
    if (own->noise_free)
        evidence_fit_noise(&s->model);
    else
        s->model.now.precision = own->precision;
}
