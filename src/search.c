#include "search.h"

#include <math.h>
#include <string.h>

#include "linalg.h"
#include "vector.h"

/* Below this many coordinates the working set is simply everything. */
enum { SMALL_PROBLEM = 250000, SMALL_DICTIONARY = 160, BATCH = 32, SAMPLE = 128, CANDIDATES = 4096, SLOT = 128, CHOSEN = 1024, EXCHANGE_TOL = 10, LARGE_MODEL = 512 };

static int is_small(const fit_problem *p)
{
    return p->dict->rows * p->dict->cols <= SMALL_PROBLEM || p->dict->cols <= SMALL_DICTIONARY;
}

/* The basis may have as many vectors as memory allows: each costs a row-length and
 * a candidate-length vector, and four squares of their number go to the model. */
static size_t choose_capacity(const fit_problem *p)
{
    size_t largest = rvm_smaller(rvm_smaller(p->dict->rows, p->dict->cols), 4000) + 4 * SAMPLE + BATCH;
    double per_vector = 8.0 * (double) (p->dict->rows * (p->dict->latents > 1 ? 2 : 1) + p->dict->cols), capacity = 0.5 * p->memory / per_vector;
    while (capacity > 64 && capacity * (per_vector + 64 * capacity) > p->memory) capacity *= 0.9;
    if (capacity < 6 * SAMPLE) capacity = 6 * SAMPLE;
    return capacity < (double) largest ? (size_t) capacity : largest;
}

static void *claim(const rvm_workspace *w, int *missing, size_t bytes)
{
    void *memory = w->take(w->context, bytes);
    if (!memory) *missing = 1;
    return memory;
}

static double *doubles(const rvm_workspace *w, int *missing, size_t count)
{
    return claim(w, missing, (count ? count : 1) * sizeof(double));
}

static size_t *sizes(const rvm_workspace *w, int *missing, size_t count)
{
    return claim(w, missing, (count ? count : 1) * sizeof(size_t));
}

static int allocate(search *s, size_t rows_kept, size_t capacity)
{
    const fit_problem *p = s->problem;
    const rvm_workspace *w = &p->work;
    size_t n = p->dict->rows, m = p->dict->cols, width = s->whole ? m : capacity;
    basis *b = &s->basis;
    evidence_model *model = &s->model;
    int missing = 0;
    b->capacity = capacity;
    b->vectors = s->whole && rows_kept == n ? NULL : doubles(w, &missing, n * capacity);
    b->target_coords = doubles(w, &missing, capacity);
    b->remainder = doubles(w, &missing, n);
    b->squares = doubles(w, &missing, m);
    b->with_target = doubles(w, &missing, m);
    b->coords = s->whole ? NULL : doubles(w, &missing, m * capacity);
    s->coords = doubles(w, &missing, rows_kept * width);
    s->member = sizes(w, &missing, width);
    s->is_member = claim(w, &missing, m + 1);
    for (int k = 0; k < SNAPSHOTS; k++) {
        s->snapshot[k].ratio = doubles(w, &missing, width);
        s->snapshot[k].member = sizes(w, &missing, width);
    }
    s->root = s->whole ? NULL : doubles(w, &missing, capacity * capacity);
    s->work = doubles(w, &missing, evidence_newton_work(rows_kept, width) + (2 * TURN_ROWS + 4) * capacity +
                                      linalg_qr_work(capacity) + capacity * capacity);
    s->columns = s->whole ? NULL : doubles(w, &missing, n * BATCH);
    s->scratch = doubles(w, &missing, capacity * (BATCH + 1));
    s->gains = doubles(w, &missing, m);
    s->picked = sizes(w, &missing, m);
    s->chosen = sizes(w, &missing, CHOSEN);
    s->partner = sizes(w, &missing, m);
    s->partners = claim(w, &missing, (width + 1) * sizeof(exchange_partner));
    s->partner_white = s->whole ? NULL : doubles(w, &missing, capacity * capacity);
    s->slots = s->whole ? NULL : sizes(w, &missing, (capacity + 1) * (SLOT + 1));
    s->entered = claim(w, &missing, m + 1);
    model->ratio = doubles(w, &missing, width);
    model->white = doubles(w, &missing, rows_kept * width);
    model->white_target = doubles(w, &missing, capacity > n ? capacity : n);
    model->S = doubles(w, &missing, width);
    model->Q = doubles(w, &missing, width);
    model->size = doubles(w, &missing, width);
    model->panel = doubles(w, &missing, PANEL * (capacity > n ? capacity : n));
    return !missing;
}

static rvm_status enter_sample(search *s);

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

/* Columns are kept when that pays and memory allows; if there is none, they are not. */
static void keep_columns(search *s, const fit_problem *problem)
{
    double bytes = dictionary_store_bytes(problem->dict);
    s->dict = *problem->dict;
    if (s->whole || bytes == 0 || bytes > 0.5 * problem->memory) return;
    size_t cases = dictionary_cases(&s->dict), functions = dictionary_functions(&s->dict);
    s->store.values = rvm_take_doubles(&problem->work, cases * functions);
    s->store.known = problem->work.take(problem->work.context, functions);
    if (!s->store.values || !s->store.known) return;
    memset(s->store.known, 0, functions);
    s->dict.store = &s->store;
}

rvm_status search_start(search *s, const fit_problem *problem, fit_result *result)
{
    memset(s, 0, sizeof *s);
    s->problem = problem;
    s->result = result;
    s->whole = is_small(problem);
    s->thorough = s->whole || problem->dict->dims > 2;
    size_t capacity = s->whole ? BATCH : choose_capacity(problem);
    size_t rows_kept = s->whole ? problem->dict->rows : capacity;
    if (!allocate(s, rows_kept, capacity)) return RVM_NO_MEMORY;
    memset(s->is_member, 0, problem->dict->cols);
    keep_columns(s, problem);
    if (s->dict.latents > 1 && !s->whole) {
        s->dict.mixed = rvm_take_doubles(&problem->work, problem->dict->rows * capacity);
        if (!s->dict.mixed) return RVM_NO_MEMORY;
    }
    s->basis.dict = &s->dict;
    s->basis.target = problem->target;
    s->model.coords = s->coords;
    s->noise = s->model.now = problem->noise;
    s->model.threads = problem->dict->threads;
    result->iterations = 0;
    if (s->whole) {
        start_whole(s);
    } else {
        s->model.ld = capacity;
        s->model.target = s->basis.target_coords;
    }
    for (size_t j = 0; j < s->model.cols; j++) s->model.ratio[j] = INFINITY;
    if (!s->whole) return enter_sample(s);
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
        memmove(s->coords + m->cols * m->ld, out + j * m->ld, s->basis.size * sizeof(double)); /* 0 below */
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

/* The first of the ordered columns are a sample of them all: the search begins with
 * some of these in the working set and more of them as candidates. In one or two
 * dimensions the working set covers the ground, and candidates wait until later. */
static rvm_status enter_sample(search *s)
{
    const fit_problem *p = s->problem;
    size_t count = rvm_smaller(p->fixed_columns, SAMPLE) + (p->dict->dims == 1 ? SAMPLE / 2 : SAMPLE);
    count = rvm_smaller(p->dict->cols, count);
    basis_start(&s->basis);
    for (size_t done = 0; done < count; done += BATCH) enter(s, rvm_smaller(BATCH, count - done), p->order + done, 0);
    follow_basis(s);
    if (!s->thorough) return RVM_OK;
    s->basis.candidates = rvm_smaller(p->dict->cols, CANDIDATES);
    s->basis.candidate = p->order;
    return inform_candidates(s);
}

/* S and Q of a candidate, from its coordinates c in the basis, for the present
 * model: S = |phi|^2 - |c|^2 + |T c|^2, Q = phi't - c't + (T c)'(T t). What is
 * outside the basis by less than rounding is not there. turned: T c, stride TURN_ROWS. */
static void candidate_statistics(const search *s, size_t i, const double *turned, double *S, double *Q)
{
    const basis *b = &s->basis;
    double inside = 0, target_inside = 0;
    *S = *Q = 0;
    for (size_t k = 0; k < b->size; k++) {
        double c = b->coords[i + k * b->candidates], t = turned[k * TURN_ROWS];
        inside += c * c;
        target_inside += c * b->target_coords[k];
        *S += t * t;
        *Q += t * s->model.white_target[k];
    }
    double outside = b->squares[i] - inside;
    if (outside > 1e-13 * b->squares[i]) {
        *S += outside;
        *Q += b->with_target[i] - target_inside;
    }
}

/* What every candidate has to offer: coming in, or, where exchanges are asked for,
 * coming in for one of the active columns; and for which. work: TURN_ROWS (size + active). */
static void judge_tile(search *s, size_t start, size_t count, size_t partners, double *work)
{
    const basis *b = &s->basis;
    size_t r = b->size;
    double *turned = work, *shared = work + TURN_ROWS * r;
    memset(work, 0, TURN_ROWS * (r + partners) * sizeof(double));
    vector_combine(count, r, b->coords + start, b->candidates, r, s->root, r, turned, TURN_ROWS);
    vector_combine(count, r, turned, TURN_ROWS, partners, s->partner_white, r, shared, TURN_ROWS);
    for (size_t i = 0; i < count; i++) {
        size_t at = start + i;
        double S, Q;
        s->gains[at] = -INFINITY;
        s->partner[at] = partners;
        if (s->is_member[b->candidate[at]]) continue;
        candidate_statistics(s, at, turned + i, &S, &Q);
        double own = s->gains[at] = evidence_best_move(&s->model.now, S, Q, INFINITY).gain;
        s->partner[at] = evidence_best_partner(s->model.now.precision, partners, s->partners, shared + i, TURN_ROWS, S, Q,
                                               &s->gains[at]);
        if (!(s->gains[at] > EXCHANGE_TOL * s->problem->tol)) { /* too little for an exchange, perhaps enough alone */
            s->gains[at] = own;
            s->partner[at] = partners;
        }
    }
}

/* The number of partners looked at: all active columns, or none. The model is made
 * anew first: its square root of C^-1 depends on the way it came about, and has to be
 * the one that the candidates are turned with. */
static size_t judge_candidates(search *s, int exchanges)
{
    evidence_model *m = &s->model;
    size_t r = s->basis.size, tiles = (s->basis.candidates + TURN_ROWS - 1) / TURN_ROWS, partners = 0;
    double *root = s->work; /* T, then its transpose: combine() wants T' */
    evidence_refresh_with_root(m, root);
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < r; j++) s->root[j + i * r] = root[i + j * r];
    for (size_t j = 0; j < m->cols && exchanges && m->active <= EXCHANGE_LIMIT; j++)
        if (evidence_partner(m, j, s->partners + partners))
            memcpy(s->partner_white + partners++ * r, m->white + j * m->ld, r * sizeof(double));
    for (size_t t = 0; t < tiles; t++)
        judge_tile(s, t * TURN_ROWS, rvm_smaller(TURN_ROWS, s->basis.candidates - t * TURN_ROWS), partners, s->work);
    return partners;
}

/* Keeps the `limit` candidates of largest gain in list, largest first. */
static void keep_best(const search *s, size_t *list, size_t *length, size_t limit, size_t candidate)
{
    double gain = s->gains[candidate];
    if (*length == limit && gain <= s->gains[list[limit - 1]]) return;
    size_t at = *length < limit ? (*length)++ : limit - 1;
    for (; at > 0 && s->gains[list[at - 1]] < gain; at--) list[at] = list[at - 1];
    list[at] = candidate;
}

/* The candidates that offer more than tol (an exchange, which costs more and moves a
 * centre a little at a time: several times that): for each partner the best few, and the best
 * of those that come in for nobody; largest gain first. Returns how many. */
static size_t pick_best(search *s, size_t partners, size_t per_partner, size_t newcomers, double tol)
{
    const size_t slot_size = partners ? SLOT : CHOSEN;
    size_t *list = s->picked, *slot = s->slots, found = 0;
    size_t *length = s->slots + (partners + 1) * slot_size;
    memset(length, 0, (partners + 1) * sizeof(size_t));
    for (size_t i = 0; i < s->basis.candidates; i++)
        if (s->gains[i] > (s->partner[i] == partners ? tol : EXCHANGE_TOL * tol))
            keep_best(s, slot + s->partner[i] * slot_size, length + s->partner[i],
                      s->partner[i] == partners ? rvm_smaller(newcomers, slot_size) : per_partner, i);
    size_t total = 0;
    for (size_t j = 0; j <= partners; j++) total += length[j];
    for (size_t j = 0; j <= partners; j++)
        for (size_t k = 0; k < length[j]; k++) keep_best(s, list, &found, total, slot[j * slot_size + k]);
    return found;
}

int search_is_large(const search *s) { return s->model.active > LARGE_MODEL; }

int search_sees_all(const search *s) { return s->whole || s->basis.candidates == s->problem->dict->cols; }

rvm_status search_open(search *s, size_t count, double *best)
{
    const fit_problem *p = s->problem;
    basis *b = &s->basis;
    rvm_status status = search_tidy(s);
    b->candidates = rvm_smaller(count, p->dict->cols);
    b->candidate = p->order;
    if (status == RVM_OK) status = inform_candidates(s);
    if (status != RVM_OK) return status;
    size_t chosen = pick_best(s, judge_candidates(s, 1), 8, search_is_large(s) ? CHOSEN : SLOT, p->tol);
    *best = chosen ? s->gains[s->picked[0]] : 0;
    if (b->candidates <= 2 * CANDIDATES) return RVM_OK;
    chosen = rvm_smaller(chosen, CHOSEN);
    for (size_t j = 0; j < chosen; j++) s->chosen[j] = b->candidate[s->picked[j]];
    b->candidates = chosen;
    b->candidate = s->chosen;
    return chosen ? inform_candidates(s) : RVM_OK;
}

rvm_status search_intake(search *s, int exchanges, double *best)
{
    const fit_problem *p = s->problem;
    rvm_status status = RVM_OK;
    *best = 0;
    if (s->whole || s->basis.candidates == 0) return RVM_OK;
    size_t limit = rvm_smaller(s->basis.capacity - 2 * BATCH, 2 * s->model.active + 4 * BATCH);
    if (s->model.cols > limit) status = search_tidy(s);
    if (status != RVM_OK) return status;
    size_t room = rvm_smaller(s->basis.capacity - s->basis.size - 1, s->basis.capacity - s->model.cols - 1);
    size_t newcomers = search_is_large(s) ? SLOT : BATCH, most = s->thorough ? newcomers + BATCH : BATCH / 2;
    size_t count = rvm_smaller(pick_best(s, judge_candidates(s, exchanges), 1, newcomers, p->tol), rvm_smaller(most, room));
    if (count == 0) return RVM_OK;
    *best = s->gains[s->picked[0]];
    for (size_t j = 0; j < count; j++) s->picked[j] = s->basis.candidate[s->picked[j]];
    size_t before = s->basis.size;
    for (size_t done = 0; done < count; done += BATCH)
        enter(s, rvm_smaller(BATCH, count - done), s->picked + done, 1);
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
    t->evidence = evidence_objective(&s->model) + s->model.now.price * (double) s->model.active + s->shift;
    t->precision = s->model.now.precision;
    s->now = (rvm_progress){ t->iteration, t->active, t->evidence, 1 / sqrt(t->precision) };
}

rvm_status search_climb(search *s, double tol, evidence_effort effort)
{
    long moves = 400 + (search_is_large(s) && effort == EFFORT_POLISH ? 4 * (long) s->model.active : 20 * (long) s->model.cols);
    rvm_status status = evidence_climb(&s->model, tol, effort, &moves, s->work, &s->problem->ticker, &s->now);
    s->polished = effort == EFFORT_POLISH;
    note(s);
    if (status == RVM_OK && rvm_tick(&s->problem->ticker, &s->now)) status = RVM_INTERRUPTED;
    return status;
}

rvm_status search_step(search *s, double tol)
{
    double best;
    long one_move = 1;
    rvm_status status = search_intake(s, 0, &best);
    if (status == RVM_OK)
        status = evidence_climb(&s->model, tol, EFFORT_MOVES, &one_move, s->work, &s->problem->ticker, &s->now);
    s->polished = 0;
    note(s);
    return status;
}

/* Keeps the active columns only. */
static void drop_idle(search *s)
{
    evidence_model *m = &s->model;
    size_t n = 0;
    for (size_t j = 0; j < m->cols; j++) {
        if (!isfinite(m->ratio[j])) {
            s->is_member[s->member[j]] = 0;
            continue;
        }
        if (n < j) memcpy(s->coords + n * m->ld, s->coords + j * m->ld, m->rows * sizeof(double));
        s->member[n] = s->member[j];
        m->ratio[n++] = m->ratio[j];
    }
    m->cols = n;
}

rvm_status search_tidy(search *s)
{
    evidence_model *m = &s->model;
    if (s->whole || m->cols == m->active) return RVM_OK;
    drop_idle(s);
    size_t n = m->cols;
    if (n < m->rows) { /* else the columns depend on each other, and the basis is small already */
        double *turn = s->work, *triangle = turn + m->rows * n, *qr_work = triangle + n * n;
        for (size_t j = 0; j < n; j++) memcpy(turn + j * m->rows, s->coords + j * m->ld, m->rows * sizeof(double));
        rvm_status status = linalg_qr(m->rows, n, turn, m->rows, triangle, n, qr_work);
        if (status != RVM_OK) return status;
        for (size_t j = 0; j < n; j++) {
            memset(s->coords + j * m->ld, 0, m->ld * sizeof(double));
            memcpy(s->coords + j * m->ld, triangle + j * n, n * sizeof(double));
        }
        basis_turn(&s->basis, n, turn, qr_work + linalg_qr_work(n));
    }
    follow_basis(s);
    return RVM_OK;
}

rvm_status search_settle(search *s, double tol, evidence_effort effort)
{
    const double finer = 0.1 * tol; /* moves inside the working set cost little */
    evidence_effort now = effort == EFFORT_POLISH ? EFFORT_EXCHANGES : effort;
    double before = -INFINITY, best;
    for (;;) {
        rvm_status status = search_climb(s, finer, now);
        double value = evidence_objective(&s->model);
        if (status == RVM_OK) status = search_intake(s, effort != EFFORT_MOVES, &best);
        if (status != RVM_OK || s->result->iterations >= s->problem->maxit) return status;
        /* a candidate may promise more than it has: rounding, with nearly dependent columns */
        int done = !(best > tol) || value < before + finer;
        if (done && now == effort) return RVM_OK;
        if (done) now = effort; /* only the polish is left */
        before = done ? -INFINITY : value;
    }
}

rvm_status search_grow(search *s, double precision, int rounds, double tol)
{
    double best = INFINITY;
    search_hold_noise(s, precision);
    rvm_status status = search_climb(s, tol, EFFORT_MOVES);
    for (int round = 0; round < rounds && best > tol && status == RVM_OK; round++) {
        status = search_intake(s, 0, &best);
        if (status == RVM_OK && best > tol) status = search_climb(s, tol, EFFORT_MOVES);
    }
    search_free_noise(s);
    return status;
}

rvm_status search_renew(search *s)
{
    evidence_model *m = &s->model;
    const fit_problem *p = s->problem;
    if (s->whole) {
        dictionary_columns(&s->dict, m->cols, s->member, s->coords, p->dict->rows);
        evidence_refresh(m);
        return RVM_OK;
    }
    drop_idle(s);
    size_t count = m->cols;
    memcpy(s->picked, s->member, count * sizeof(size_t));
    memcpy(s->work, m->ratio, count * sizeof(double));
    basis_start(&s->basis);
    m->cols = 0;
    for (size_t done = 0; done < count; done += BATCH) enter(s, rvm_smaller(BATCH, count - done), s->picked + done, 0);
    memcpy(m->ratio, s->work, count * sizeof(double));
    follow_basis(s);
    return RVM_OK;
}

void search_save(const search *s, search_snapshot *out)
{
    out->count = evidence_columns(&s->model, s->member, out->member, out->ratio);
    out->precision = s->model.now.precision;
    out->value = evidence_objective(&s->model);
}

/* Columns that were dropped meanwhile come back in. */
static rvm_status reenter(search *s, const search_snapshot *from)
{
    size_t before = s->basis.size, missing = 0;
    for (size_t k = 0; k < from->count; k++)
        if (!s->is_member[from->member[k]]) s->picked[missing++] = from->member[k];
    for (size_t k = 0; k < missing; k += BATCH)
        enter(s, rvm_smaller(BATCH, missing - k), s->picked + k, 0);
    return missing ? basis_inform(&s->basis, before, &s->problem->ticker, &s->now) : RVM_OK;
}

rvm_status search_restore(search *s, const search_snapshot *from)
{
    evidence_model *m = &s->model;
    rvm_status status = RVM_OK;
    for (size_t j = 0; j < m->cols; j++) m->ratio[j] = INFINITY;
    if (!s->whole) {
        if (m->cols + from->count + BATCH > s->basis.capacity) {
            evidence_refresh(m);
            status = search_tidy(s);
        }
        if (status == RVM_OK) status = reenter(s, from);
    }
    for (size_t k = 0; k < from->count; k++)
        for (size_t j = 0; j < m->cols; j++)
            if (s->member[j] == from->member[k]) m->ratio[j] = from->ratio[k];
    m->now.precision = from->precision;
    if (s->whole)
        evidence_refresh(m);
    else
        follow_basis(s);
    return status;
}

rvm_status search_resume(search *s)
{
    const fit_start *start = s->problem->start;
    search_snapshot *from = s->snapshot;
    size_t most = s->whole ? s->problem->dict->cols : s->basis.capacity - 2 * BATCH;
    from->count = rvm_smaller(start->count, most);
    memcpy(from->member, start->which, from->count * sizeof(size_t));
    memcpy(from->ratio, start->ratio, from->count * sizeof(double));
    from->precision = s->noise.noise_free ? start->precision : s->noise.precision;
    rvm_status status = search_restore(s, from);
    if (s->noise.noise_free) evidence_fit_noise(&s->model);
    return status;
}

void search_clear(search *s)
{
    for (size_t j = 0; j < s->model.cols; j++) s->model.ratio[j] = INFINITY;
    evidence_refresh(&s->model);
}

void search_hold_noise(search *s, double precision)
{
    s->model.now.precision = precision;
    s->model.now.noise_free = 0;
}

void search_keep_noise(search *s, double precision)
{
    s->noise.noise_free = 0;
    s->noise.precision = precision;
    search_hold_noise(s, precision);
}

void search_free_noise(search *s)
{
    s->model.now.noise_free = s->noise.noise_free;
    if (s->noise.noise_free)
        evidence_fit_noise(&s->model);
    else
        s->model.now.precision = s->noise.precision;
}
