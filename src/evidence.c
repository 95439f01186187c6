#include "evidence.h"

#include <math.h>
#include <string.h>

#include "linalg.h"
#include "vector.h"
#include "whiten.h"

/* The share of its squared length below which a column counts as spent. */
static const double SPENT = 1e-13;

/* ---- one column -------------------------------------------------------- */

static int flat(const hyperprior *p) { return p->shape == 0 && p->rate == 0; }

/* Under a hyperprior on alpha the best beta depends on every ratio: moves are then
 * made at the present beta, which is set anew after each. */
static int noise_follows(const evidence_setting *s) { return s->noise_free && flat(&s->prior); }

static double best_precision(const evidence_setting *s, double quadratic)
{
    double top = s->count + 2 * s->prior.noise_shape, bottom = quadratic + 2 * s->prior.noise_rate;
    return top < s->precision_max * bottom ? top / bottom : s->precision_max;
}

/* The part of (1) that beta enters, with its own hyperprior. */
static double noise_part(const evidence_setting *s, double quadratic)
{
    double beta = noise_follows(s) ? best_precision(s, quadratic) : s->precision;
    return 0.5 * (s->count * log(beta) - beta * quadratic) + s->prior.noise_shape * log(beta) -
           s->prior.noise_rate * beta;
}

/* Log hyperprior of one precision. A column that is out stands where its
 * hyperprior alone would put it, at shape / rate. */
static double prior_part(const evidence_setting *s, double ratio)
{
    const hyperprior *p = &s->prior;
    double alpha = isfinite(ratio) ? ratio * s->precision : (p->rate > 0 ? p->shape / p->rate : 1);
    double value = p->shape > 0 ? p->shape * log(alpha) : 0;
    return value - (isfinite(ratio) || p->shape > 0 ? p->rate * alpha : 0);
}

static double inverse(double ratio) { return isfinite(ratio) ? 1 / ratio : 0; }

/* Rise of the objective when a column goes from `from` to `to`. */
static double gain_of(const evidence_setting *s, double S, double Q, double from, double to)
{
    double delta = inverse(to) - inverse(from), growth = 1 + delta * S;
    if (!(growth > 0)) return -INFINITY;
    double drop = delta * Q * Q / growth, gain = 0.5 * (s->precision * drop - log(growth));
    if (noise_follows(s)) {
        double least = 1e-3 * s->count / s->precision_max, after = fmax(s->quadratic - drop, least);
        gain = noise_part(s, after) - noise_part(s, s->quadratic) - 0.5 * log(growth);
    }
    gain += s->price * ((isfinite(from) ? 1 : 0) - (isfinite(to) ? 1 : 0));
    return flat(&s->prior) ? gain : gain + prior_part(s, to) - prior_part(s, from);
}

/* The maximum of l(alpha) in closed form. For a column in the model, in terms of
 * gamma = S / ratio and mu = Q / ratio (no cancellation when gamma is near 1):
 *   beta fixed: ratio gamma^2 / (beta ratio mu^2 - gamma (1 - gamma)),
 *   beta free:  ratio gamma (gamma q - ratio mu^2) / ((N - gamma) ratio mu^2 - gamma (1 - gamma) q),
 * q = t'C^-1 t; for one that is out the same with ratio -> infinity. */
static double flat_optimum(const evidence_setting *s, double S, double Q, double ratio)
{
    int follow = noise_follows(s) && s->precision < s->precision_max;
    double top, bottom;
    double count = s->count + 2 * s->prior.noise_shape, quadratic = s->quadratic + 2 * s->prior.noise_rate;
    if (isfinite(ratio)) {
        double gamma = S / ratio, weight = Q * Q / ratio; /* ratio mu^2 */
        if (gamma > 1) gamma = 1;
        if (follow) {
            top = ratio * gamma * (gamma * quadratic - weight);
            bottom = (count - gamma) * weight - gamma * (1 - gamma) * quadratic;
        } else {
            top = ratio * gamma * gamma;
            bottom = s->precision * weight - gamma * (1 - gamma);
        }
    } else if (follow) {
        top = S * (S * quadratic - Q * Q);
        bottom = count * Q * Q - S * quadratic;
    } else {
        top = S * S;
        bottom = s->precision * Q * Q - S;
    }
    if (!(bottom > 0)) return INFINITY;
    double least = 1e-20 * (S > 0 ? S : 1), best = top / bottom;
    return best > least ? best : least;
}

/* d gain / d log(to) at fixed beta. */
static double prior_slope(const evidence_setting *s, double S, double Q, double from, double to)
{
    double growth = 1 + (1 / to - inverse(from)) * S;
    return -0.5 / to * (s->precision * Q * Q / growth - S) / growth + s->prior.shape - s->prior.rate * s->precision * to;
}

/* With a hyperprior the stationary points are roots of a cubic: a grid in
 * log(ratio), then bisection of the slope around its best point. */
static double prior_optimum(const evidence_setting *s, double S, double Q, double ratio)
{
    double scale = isfinite(ratio) && S < ratio ? S / (1 - S / ratio) : S;
    double low = log(scale > 0 ? scale : 1) - 30, high = low + 60, best = low, best_gain = -INFINITY;
    if (s->prior.shape > 0) {
        double mode = log(s->prior.shape / s->prior.rate / s->precision);
        if (mode < low) low = mode - 1;
        if (mode > high) high = mode + 1;
    }
    double step = (high - low) / 60;
    for (int i = 0; i <= 60; i++) {
        double gain = gain_of(s, S, Q, ratio, exp(low + i * step));
        if (gain > best_gain) best_gain = gain, best = low + i * step;
    }
    double a = best - step, b = best + step;
    for (int i = 0; i < 50; i++) {
        double middle = 0.5 * (a + b);
        if (prior_slope(s, S, Q, ratio, exp(middle)) > 0)
            a = middle;
        else
            b = middle;
    }
    return exp(0.5 * (a + b));
}

evidence_move evidence_best_move(const evidence_setting *s, double S, double Q, double ratio)
{
    evidence_move out = { INFINITY, 0 }, in = { INFINITY, -INFINITY };
    if (isfinite(ratio)) out.gain = gain_of(s, S, Q, ratio, INFINITY);
    if (!(S > 0)) return out;
    in.ratio = flat(&s->prior) ? flat_optimum(s, S, Q, ratio) : prior_optimum(s, S, Q, ratio);
    if (isfinite(in.ratio)) in.gain = gain_of(s, S, Q, ratio, in.ratio);
    return in.gain > out.gain ? in : out;
}

/* ---- the working set --------------------------------------------------- */

static void measure(evidence_model *m)
{
    m->now.quadratic = m->rest + vector_dot(m->rows, m->white_target, m->white_target);
    if (m->now.noise_free) evidence_fit_noise(m);
}

/* Equation (2) on the target and on every working column. */
static void update(evidence_model *m, size_t j, double delta)
{
    double growth = 1 + delta * m->S[j], root = sqrt(growth > 1e-300 ? growth : 1e-300);
    double lambda = delta / (root * (1 + root));
    memcpy(m->panel, m->white + j * m->ld, m->rows * sizeof(double));
    vector_add(m->rows, -lambda * vector_dot(m->rows, m->panel, m->white_target), m->panel, m->white_target);
    vector_deflate(m->rows, m->cols, m->white, m->ld, m->panel, lambda, m->white_target, m->S, m->Q, m->threads);
    /* the column itself: (2) is white_j / root, without the cancellation */
    double *own = m->white + j * m->ld;
    for (size_t n = 0; n < m->rows; n++) own[n] = m->panel[n] / root;
    m->S[j] = vector_dot(m->rows, own, own);
    m->Q[j] = vector_dot(m->rows, own, m->white_target);
    m->log_det += log(growth);
}

/* A column of which next to nothing is outside the span of the model: what is left
 * of it is rounding, and nothing to build on. */
static int is_spent(const evidence_model *m, size_t j) { return m->S[j] < SPENT * m->size[j]; }

/* Puts a panel of columns into the model: white, its target and, where asked for, T itself. */
static void put_in(evidence_model *m, size_t count, const size_t *which, double *T)
{
    whiten_panel panel = { .rows = m->rows, .count = count, .vectors = m->panel };
    double ratio[PANEL];
    for (size_t k = 0; k < count; k++) {
        memcpy(m->panel + k * m->rows, m->white + which[k] * m->ld, m->rows * sizeof(double));
        ratio[k] = m->ratio[which[k]];
    }
    m->log_det += whiten_factor(&panel, ratio);
    whiten_apply(&panel, m->cols, m->white, m->ld, m->threads);
    whiten_apply(&panel, 1, m->white_target, m->rows, 1);
    if (T) whiten_apply(&panel, m->rows, T, m->rows, m->threads);
    for (size_t k = 0; k < count; k++) whiten_own(&panel, k, m->white + which[k] * m->ld);
}

static void start_afresh(evidence_model *m, double *T)
{
    m->log_det = 0;
    m->active = 0;
    for (size_t j = 0; j < m->cols; j++) {
        memcpy(m->white + j * m->ld, m->coords + j * m->ld, m->rows * sizeof(double));
        m->size[j] = vector_dot(m->rows, m->coords + j * m->ld, m->coords + j * m->ld);
    }
    memcpy(m->white_target, m->target, m->rows * sizeof(double));
    if (!T) return;
    memset(T, 0, m->rows * m->rows * sizeof(double));
    for (size_t n = 0; n < m->rows; n++) T[n + n * m->rows] = 1;
}

void evidence_refresh_with_root(evidence_model *m, double *T)
{
    size_t which[PANEL], count = 0;
    start_afresh(m, T);
    for (size_t j = 0; j < m->cols; j++) {
        if (!isfinite(m->ratio[j])) continue;
        which[count++] = j;
        m->active++;
        if (count == PANEL) {
            put_in(m, count, which, T);
            count = 0;
        }
    }
    if (count > 0) put_in(m, count, which, T);
    for (size_t j = 0; j < m->cols; j++) {
        m->S[j] = vector_dot(m->rows, m->white + j * m->ld, m->white + j * m->ld);
        m->Q[j] = vector_dot(m->rows, m->white + j * m->ld, m->white_target);
    }
    measure(m);
}

void evidence_refresh(evidence_model *m) { evidence_refresh_with_root(m, NULL); }

void evidence_apply(evidence_model *m, size_t j, double ratio)
{
    double delta = inverse(ratio) - inverse(m->ratio[j]);
    int risky = 1 + delta * m->S[j] < 1e-6; /* taking out what holds the fit: cancellation */
    m->active += isfinite(ratio) ? 1 : 0;
    m->active -= isfinite(m->ratio[j]) ? 1 : 0;
    m->ratio[j] = ratio;
    if (risky) {
        evidence_refresh(m);
    } else {
        update(m, j, delta);
        measure(m);
    }
}

size_t evidence_columns(const evidence_model *m, const size_t *member, size_t *which, double *ratio)
{
    size_t count = 0;
    for (size_t j = 0; j < m->cols; j++)
        if (isfinite(m->ratio[j])) {
            which[count] = member[j];
            ratio[count++] = m->ratio[j];
        }
    return count;
}

double evidence_objective(const evidence_model *m)
{
    const double log_2pi = 1.8378770664093453;
    const evidence_setting *s = &m->now;
    double value = noise_part(s, s->quadratic) - 0.5 * (s->count * log_2pi + m->log_det);
    value -= s->price * (double) m->active;
    if (!flat(&s->prior))
        for (size_t j = 0; j < m->cols; j++)
            if (isfinite(m->ratio[j])) value += prior_part(s, m->ratio[j]) - prior_part(s, INFINITY);
    return value;
}

/* d objective / d beta = 0 at fixed ratios: closed form, hyperpriors included. */
void evidence_fit_noise(evidence_model *m)
{
    evidence_setting *s = &m->now;
    evidence_setting whole = *s;
    double rate = s->prior.noise_rate;
    if (!flat(&s->prior))
        for (size_t j = 0; j < m->cols; j++)
            if (isfinite(m->ratio[j])) {
                whole.prior.noise_shape += s->prior.shape;
                rate += s->prior.rate * m->ratio[j];
            }
    whole.prior.noise_rate = rate;
    s->precision = best_precision(&whole, s->quadratic);
}

/* The least ratio whose weight, times the rounding error of a kernel value, stays
 * well below the noise: beyond it the evidence would be that of the rounding. */
static double least_ratio(const evidence_model *m, size_t j) { return 1e-26 * m->size[j] / m->now.count; }

/* ---- Newton in the logs ------------------------------------------------ */

/* For active i, j with gamma_i = S_ii / ratio_i, mu_i = Q_i / ratio_i,
 * a_i = beta ratio_i mu_i^2, the derivatives of the objective in log(ratio) are
 *   g_i  = 1/2 (gamma_i - a_i) + shape - rate beta ratio_i
 *   H_ij = 1/2 S_ij^2 / (ratio_i ratio_j) - beta mu_i mu_j S_ij
 *          - [i = j] (1/2 (gamma_i - a_i) + rate beta ratio_i),
 * since Sigma_ij = -S_ij / (beta ratio_i ratio_j) off the diagonal. A free log(beta)
 * is eliminated: with h_i = a_i / 2 + rate beta ratio_i it adds h_i h_j / B,
 * B = N / 2 + noise shape + active * shape, to H_ij. */
static void newton_system(const evidence_model *m, const size_t *index, size_t n, const double *gram, double *gradient,
                          double *minus_hessian)
{
    const hyperprior *p = &m->now.prior;
    double beta = m->now.precision, shared = 0;
    if (m->now.noise_free && beta < m->now.precision_max)
        shared = 1 / (0.5 * m->now.count + p->noise_shape + (double) n * p->shape);
    for (size_t j = 0; j < n; j++) {
        double ratio_j = m->ratio[index[j]], mu_j = m->Q[index[j]] / ratio_j, a_j = beta * ratio_j * mu_j * mu_j;
        double prior_j = p->rate * beta * ratio_j, h_j = 0.5 * a_j + prior_j;
        for (size_t i = 0; i <= j; i++) {
            double ratio_i = m->ratio[index[i]], mu_i = m->Q[index[i]] / ratio_i, S = gram[i + j * n];
            double h_i = beta * ratio_i * (0.5 * mu_i * mu_i + p->rate);
            minus_hessian[i + j * n] =
                -(0.5 * S / ratio_i * S / ratio_j - beta * mu_i * mu_j * S + shared * h_i * h_j);
        }
        double half = 0.5 * (m->S[index[j]] / ratio_j - a_j);
        gradient[j] = half + p->shape - prior_j;
        minus_hessian[j + j * n] += half + prior_j;
    }
}

/* Solves (minus_hessian + damping I) step = gradient; damping is raised until the
 * matrix is positive definite. */
static void newton_step(size_t n, const double *minus_hessian, const double *gradient, double *factor, double *step,
                        double *damping)
{
    for (;;) {
        memcpy(factor, minus_hessian, n * n * sizeof(double));
        for (size_t j = 0; j < n; j++) factor[j + j * n] += *damping;
        if (linalg_cholesky(n, factor, n)) break;
        *damping = *damping > 0 ? 10 * *damping : 1e-9;
    }
    memcpy(step, gradient, n * sizeof(double));
    linalg_solve_upper(n, factor, n, 1, 1, step, n);
    linalg_solve_upper(n, factor, n, 0, 1, step, n);
    for (size_t j = 0; j < n; j++) step[j] = fmax(-3, fmin(3, step[j]));
}

size_t evidence_newton_work(size_t rows, size_t cols) { return rows * cols + 3 * cols * cols + 4 * cols; }

int evidence_newton(evidence_model *m, double *largest, double *work)
{
    size_t n = m->active;
    *largest = 0;
    if (n == 0) return 0;
    double *columns = work, *gram = columns + m->rows * n, *minus_hessian = gram + n * n;
    double *factor = minus_hessian + n * n, *gradient = factor + n * n, *step = gradient + n, *before = step + n;
    size_t *index = (size_t *) (before + n), found = 0;
    for (size_t j = 0; j < m->cols; j++)
        if (isfinite(m->ratio[j])) {
            memcpy(columns + found * m->rows, m->white + j * m->ld, m->rows * sizeof(double));
            before[found] = m->ratio[j];
            index[found++] = j;
        }
    memset(gram, 0, n * n * sizeof(double));
    vector_products(m->rows, n, columns, m->rows, n, columns, m->rows, gram, n);
    newton_system(m, index, n, gram, gradient, minus_hessian);
    for (size_t j = 0; j < n; j++) *largest = fmax(*largest, fabs(gradient[j]));
    double start = evidence_objective(m), damping = 0;
    for (int tries = 0; tries < 6; tries++) {
        newton_step(n, minus_hessian, gradient, factor, step, &damping);
        for (size_t j = 0; j < n; j++)
            m->ratio[index[j]] = fmax(before[j] * exp(step[j]), least_ratio(m, index[j]));
        evidence_refresh(m);
        if (evidence_objective(m) >= start) return 1;
        damping = fmax(30 * damping, 1e-4);
    }
    for (size_t j = 0; j < n; j++) m->ratio[index[j]] = before[j];
    evidence_refresh(m);
    return 0;
}

/* ---- climbing ---------------------------------------------------------- */

/* Of columns that are out, under flat hyperpriors, the one with the largest Q^2 / S
 * has the most to gain: l(alpha) depends on nothing else. */
typedef struct {
    size_t which;
    double promise, S, Q;
} newcomer;

static void compare_newcomer(newcomer *best, size_t which, double S, double Q)
{
    if (Q * Q > best->promise * (1 + 1e-9) * S) *best = (newcomer){ which, Q * Q / S, S, Q };
}

/* Whether a column in the model may have more than tol to gain: (gamma - a)^2 / (4 gamma^2)
 * to second order; or ought to leave (see flat_optimum()), as any may where columns have a price. */
static int worth_a_look(const evidence_model *m, size_t j, double tol)
{
    if (m->now.price > 0) return 1;
    double gamma = m->S[j] / m->ratio[j], a = m->now.precision * m->Q[j] * m->Q[j] / m->ratio[j];
    return (gamma - a) * (gamma - a) > 2 * tol * gamma * gamma || a <= gamma * (1 - gamma) * 1.01;
}

/* The best single move of the working set. Ties within rounding go to the first
 * column, so that a unit of y or a rounding error does not decide. A column whose
 * own maximum is at infinity leaves, however little that gains. */
static size_t best_of_all(const evidence_model *m, double tol, evidence_move *best)
{
    size_t which = 0;
    int is_flat = flat(&m->now.prior);
    newcomer outside = { m->cols, 0, 0, 0 };
    *best = (evidence_move){ INFINITY, -INFINITY };
    for (size_t j = 0; j <= m->cols; j++) {
        if (j < m->cols) {
            int in = isfinite(m->ratio[j]);
            if (in ? is_flat && !worth_a_look(m, j, tol) : is_spent(m, j)) continue;
            if (!in && is_flat) {
                compare_newcomer(&outside, j, m->S[j], m->Q[j]);
                continue;
            }
        } else if (outside.which == m->cols) {
            break;
        }
        size_t k = j < m->cols ? j : outside.which;
        evidence_move move = evidence_best_move(&m->now, m->S[k], m->Q[k], m->ratio[k]);
        if (move.ratio < least_ratio(m, k)) continue;
        if (isfinite(m->ratio[k]) && !isfinite(move.ratio)) move.gain += tol;
        if (move.gain > best->gain * (1 + 1e-9)) *best = move, which = k;
    }
    return which;
}

/* The best exchange of one column in the model for one outside. With j out,
 *   S_i -> S_i + S_ij^2 / d,  Q_i -> Q_i + S_ij Q_j / d,  t'C^-1 t -> + Q_j^2 / d,  d = ratio_j - S_j,
 * so no column has to be moved to judge it. Makes the exchange and returns 1 when it
 * gains more than tol; flat hyperpriors only. cost: 2 active rows cols. */
static int best_exchange(evidence_model *m, double tol)
{
    size_t leaves = m->cols, enters = m->cols;
    double best = tol;
    if (!flat(&m->now.prior) || m->active > EXCHANGE_LIMIT) return 0;
    for (size_t j = 0; j < m->cols; j++) {
        double d = m->ratio[j] - m->S[j];
        if (!isfinite(m->ratio[j]) || !(d > 1e-9 * m->ratio[j])) continue;
        newcomer outside = { m->cols, 0, 0, 0 };
        for (size_t i = 0; i < m->cols; i++) {
            if (isfinite(m->ratio[i]) || is_spent(m, i)) continue;
            double shared = vector_dot(m->rows, m->white + i * m->ld, m->white + j * m->ld);
            compare_newcomer(&outside, i, m->S[i] + shared * shared / d, m->Q[i] + shared * m->Q[j] / d);
        }
        if (outside.which == m->cols) continue;
        evidence_setting without = m->now;
        without.quadratic += m->Q[j] * m->Q[j] / d;
        if (noise_follows(&without)) without.precision = best_precision(&without, without.quadratic);
        double gain = gain_of(&m->now, m->S[j], m->Q[j], m->ratio[j], INFINITY) +
                      evidence_best_move(&without, outside.S, outside.Q, INFINITY).gain;
        if (gain > best * (1 + 1e-9)) best = gain, leaves = j, enters = outside.which;
    }
    if (enters == m->cols) return 0;
    evidence_apply(m, leaves, INFINITY);
    evidence_apply(m, enters, evidence_best_move(&m->now, m->S[enters], m->Q[enters], INFINITY).ratio);
    return 1;
}

/* The same for candidates outside the working set, the noise held. */
int evidence_partner(const evidence_model *m, size_t j, exchange_partner *out)
{
    double d = m->ratio[j] - m->S[j];
    if (!isfinite(m->ratio[j]) || !(d > 1e-9 * m->ratio[j]) || !flat(&m->now.prior)) return 0;
    *out = (exchange_partner){ 1 / d, m->Q[j] / d,
                               -0.5 * (m->now.precision * m->Q[j] * m->Q[j] / d + log(d / m->ratio[j])) };
    return 1;
}

size_t evidence_best_partner(double precision, size_t partners, const exchange_partner *p, const double *shared,
                             size_t stride, double S, double Q, double *gain)
{
    size_t best = partners;
    for (size_t k = 0; k < partners; k++) {
        double with = shared[k * stride], Q_k = Q + with * p[k].Q_share;
        /* l(alpha) at its maximum is (x - 1 - log x) / 2 */
        double x = precision * Q_k * Q_k / (S + with * with * p[k].S_share);
        if (p[k].loss + 0.5 * (x - 1) <= *gain || x <= 1) continue;
        double net = p[k].loss + 0.5 * (x - 1 - log(x));
        if (net > *gain * (1 + 1e-9)) *gain = net, best = k;
    }
    return best;
}

/* Columns in the model that are multiples of one another, r_j = c r_i, share one weight in any proportion:
 * nothing in the evidence tells them apart, and C stays when 1 / ratio_i takes over c^2 / ratio_j. So the first
 * of them does. Returns whether there were any; flat hyperpriors only. cost: rows active^2. */
static int merge_copies(evidence_model *m)
{
    int merged = 0;
    if (!flat(&m->now.prior)) return 0;
    for (size_t j = 0; j < m->cols; j++)
        for (size_t i = 0; i < j && isfinite(m->ratio[j]); i++) {
            if (!isfinite(m->ratio[i])) continue;
            double shared = vector_dot(m->rows, m->coords + i * m->ld, m->coords + j * m->ld);
            if (shared * shared < (1 - 1e-13) * m->size[i] * m->size[j]) continue;
            m->ratio[i] = 1 / (1 / m->ratio[i] + m->size[j] / m->size[i] / m->ratio[j]);
            m->ratio[j] = INFINITY;
            merged = 1;
        }
    if (merged) evidence_refresh(m);
    return merged;
}

/* So many re-estimates of one column each are about as dear as a Newton step for all of them. */
static size_t worth_of_newton(size_t active) { return 3 + (active < 64 ? active / 2 : 28 + active / 16); }

rvm_status evidence_climb(evidence_model *m, double tol, evidence_effort effort, long *moves_left, double *work,
                          const rvm_ticker *ticker, rvm_progress *now)
{
    const double flat_enough = 1e-5;
    size_t estimates_in_a_row = 0, steps = 0;
    int newton_failed = 0;
    while (*moves_left > 0) {
        evidence_move move = { INFINITY, 0 };
        size_t j = m->cols ? best_of_all(m, tol, &move) : 0;
        int useful = m->cols && move.gain > tol * (1 - 1e-9);
        int estimate = useful && isfinite(move.ratio) && isfinite(m->ratio[j]);
        if (useful && !(estimate && estimates_in_a_row > worth_of_newton(m->active) && !newton_failed)) {
            evidence_apply(m, j, move.ratio);
            estimates_in_a_row = estimate ? estimates_in_a_row + 1 : 0;
            newton_failed = 0;
            --*moves_left;
        } else if (useful || effort == EFFORT_POLISH) {
            double largest, before = evidence_objective(m);
            newton_failed = !evidence_newton(m, &largest, work);
            estimates_in_a_row = 0;
            *moves_left -= (long) m->active + 1;
            int at_rest = newton_failed || largest < flat_enough || evidence_objective(m) - before < 1e-11;
            if (!useful && at_rest && !merge_copies(m) && !best_exchange(m, tol)) break;
        } else {
            --*moves_left;
            if (effort == EFFORT_MOVES || !best_exchange(m, tol)) break;
        }
        if (++steps % 16 == 0) {
            now->evidence = evidence_objective(m);
            now->active = (int) m->active;
            if (rvm_tick(ticker, now)) return RVM_INTERRUPTED;
        }
    }
    return RVM_OK;
}
