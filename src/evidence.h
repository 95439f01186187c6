/* evidence.h: the marginal likelihood of a working set of columns, and what
 * every possible move of one precision does to it.
 *
 * Coordinates. The working columns are given by their coordinates in an
 * orthonormal basis, so nothing here depends on the number of observations.
 * Precisions are kept relative to the noise: ratio = alpha / beta (INFINITY: the
 * column is out of the model). With C = I + sum over j of r_j r_j' / ratio_j,
 *
 *   L = 1/2 [ count log(beta / 2 pi) - log|C| - beta (t'C^-1 t) ]          (1)
 *
 * so beta enters only as a scalar and can be maximised out of L in closed form.
 *
 * Square roots. With any T such that T'T = C^-1 the columns are kept whitened,
 * white_i = T r_i. Then S_i = white_i'white_i and Q_i = white_i'white_t are the
 * statistics of the fast algorithm in units of the noise (its S is beta S_i, its
 * Q is beta Q_i), sums of squares without cancellation; and a move of one ratio,
 * delta = 1 / new - 1 / old, is
 *
 *   white_i <- white_i - lambda (white_j'white_i) white_j,
 *   lambda = delta / (sqrt(1 + delta S_j) (1 + sqrt(1 + delta S_j))),      (2)
 *
 * the symmetric square root of the rank-one update of C^-1. The condition number
 * of the columns is never squared. */
#ifndef RVM_EVIDENCE_H
#define RVM_EVIDENCE_H

#include <stddef.h>

#include "core.h"
#include "whiten.h"

/* Gamma(shape, rate) on every alpha and on the noise precision, as densities of
 * their logarithms: shape log(alpha) - rate alpha. All 0: flat. */
typedef struct {
    double shape, rate, noise_shape, noise_rate;
} hyperprior;

/* What the gain of a move depends on beside its own column. */
typedef struct {
    double count;         /* observations N */
    double quadratic;     /* t'C^-1 t */
    double precision;     /* beta; the best one for `quadratic` when noise_free */
    double precision_max; /* beta never exceeds this: y has finitely many digits */
    int noise_free;       /* beta follows every move at once */
    hyperprior prior;
    double price; /* of each column in the model, in units of the objective */
} evidence_setting;

typedef struct {
    double ratio; /* where the column's own maximum lies; INFINITY: out */
    double gain;  /* rise of the objective (log evidence + log hyperprior) by going there */
} evidence_move;

/* The best move of one column from its S, Q and present ratio. cost: O(1). */
evidence_move evidence_best_move(const evidence_setting *setting, double S, double Q, double ratio);

typedef struct {
    size_t rows, cols, ld;
    const double *coords; /* rows x cols, leading dimension ld */
    const double *target; /* rows */
    double rest;          /* squared norm of the target outside the basis */
    evidence_setting now;
    double log_det; /* log|C| */
    double *ratio;  /* cols */
    double *white;  /* rows x cols, leading dimension ld */
    double *white_target; /* rows */
    double *S, *Q, *size; /* cols; size: squared length of the column */
    double *panel;        /* rows x PANEL; work space */
    size_t active;
    int threads;
} evidence_model;

/* Everything from the ratios alone. cost: 4 rows cols active. */
void evidence_refresh(evidence_model *model);

/* The same, and T itself (rows x rows): T'T = C^-1, white = T coords. cost: 4 rows (rows + cols) active. */
void evidence_refresh_with_root(evidence_model *model, double *T);

/* Moves column j to `ratio`. cost: 8 rows cols. */
void evidence_apply(evidence_model *model, size_t j, double ratio);

/* The columns of the model, by member[] of the working column, and their ratios. Returns how many. */
size_t evidence_columns(const evidence_model *model, const size_t *member, size_t *which, double *ratio);

/* Log evidence (1) plus log hyperprior, less the price of the columns, up to constants of the data. cost: O(active). */
double evidence_objective(const evidence_model *model);

/* Sets beta where the objective is highest for the present ratios. */
void evidence_fit_noise(evidence_model *model);

/* One Newton step in the logarithms of all active ratios (and of beta with them,
 * when it is free), damped until the objective rises. largest: the largest
 * |d objective / d log ratio| before the step. work: evidence_newton_work() of the
 * rows and columns. Returns 0 when no step helps; the model is then as it was.
 * cost: 2 rows active^2 + active^3 / 3 + a refresh. */
size_t evidence_newton_work(size_t rows, size_t cols);
int evidence_newton(evidence_model *model, double *largest, double *work);

/* How far a climb goes: until no single move (add, re-estimate, delete) gains more than
 * tol; nor any exchange of two columns; and, to polish, until the gradient in the logs is
 * below 1e-5 as well. */
typedef enum { EFFORT_MOVES, EFFORT_EXCHANGES, EFFORT_POLISH } evidence_effort;

/* Climbs by the best move of the working set each time. moves_left bounds the work and is
 * counted down. */
rvm_status evidence_climb(evidence_model *model, double tol, evidence_effort effort, long *moves_left, double *work,
                          const rvm_ticker *ticker, rvm_progress *now);

/* With more active columns than this, exchanges cost more than they bring. */
enum { EXCHANGE_LIMIT = 256 };

/* What an exchange needs to know of the active column that would leave. */
typedef struct {
    double S_share, Q_share; /* 1 / d, Q_j / d, d = ratio_j - S_j */
    double loss;             /* of the objective without it, at most 0 */
} exchange_partner;

/* Returns 0 when column j cannot be one: out, holding the fit alone, or hyperpriors not flat. */
int evidence_partner(const evidence_model *model, size_t j, exchange_partner *out);

/* Whether a column outside the working set, with statistics S and Q and inner products
 * shared[k * stride] = white'white_k, would gain more than *gain by replacing one of these
 * partners: then which (else `partners`), and *gain is raised. cost: partners. */
size_t evidence_best_partner(double precision, size_t partners, const exchange_partner *partner, const double *shared,
                             size_t stride, double S, double Q, double *gain);

#endif
