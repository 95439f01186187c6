/* whiten.h: a panel of columns put into a model at once.
 *
 * With C = I + sum over the panel of r_j r_j' / ratio_j, the Householder vectors that
 * triangularise [diag(sqrt(ratio)); r_1 .. r_k] are [I; V], since below its diagonal the
 * upper block stays empty. In compact form their product is Q = I - [I; V] K [I; V]'
 * with K upper triangular, and Q' takes [0; x] to [.; T x],
 *
 *   T x = x - V K'(V'x),   T'T = C^-1,                                     (1)
 *
 * as orthogonal matrices do: to rounding, whatever the ratios. The columns of the panel
 * are better taken through Q'[sqrt(ratio_j) e_j; 0], which says T r_j without cancellation. */
#ifndef RVM_WHITEN_H
#define RVM_WHITEN_H

#include <stddef.h>

enum { PANEL = 32 };

typedef struct {
    size_t rows, count;  /* count <= PANEL */
    double *vectors;     /* rows x count, leading dimension rows: V */
    double K[PANEL * PANEL];
    double root[PANEL];  /* of the ratios */
} whiten_panel;

/* vectors holds the columns and becomes V. Returns log|C|. cost: 4 rows count^2. */
double whiten_factor(whiten_panel *panel, const double *ratio);

/* X <- T X, equation (1). Threads divide the columns. cost: 4 rows count cols. */
void whiten_apply(const whiten_panel *panel, size_t cols, double *X, size_t ld, int threads);

/* out = T r_j for column j of the panel. cost: 2 rows count. */
void whiten_own(const whiten_panel *panel, size_t j, double *out);

#endif
