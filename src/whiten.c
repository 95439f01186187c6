#include "whiten.h"

#include <math.h>
#include <string.h>

#include "core.h"
#include "vector.h"

/* Column k of K: K_kk = tau, K_ik = -tau sum over l of K_il v_l'v_k. */
static void extend_product(whiten_panel *p, size_t k, double tau)
{
    double inner[PANEL];
    const double *v = p->vectors + k * p->rows;
    for (size_t l = 0; l < k; l++) inner[l] = vector_dot(p->rows, p->vectors + l * p->rows, v);
    for (size_t i = 0; i < k; i++) {
        double sum = 0;
        for (size_t l = i; l < k; l++) sum += p->K[i + l * PANEL] * inner[l];
        p->K[i + k * PANEL] = -tau * sum;
    }
    p->K[k + k * PANEL] = tau;
}

double whiten_factor(whiten_panel *p, const double *ratio)
{
    double log_det = 0;
    for (size_t k = 0; k < p->count; k++) {
        double *v = p->vectors + k * p->rows, square = vector_dot(p->rows, v, v);
        double top = p->root[k] = sqrt(ratio[k]), length = sqrt(ratio[k] + square), tau = (top + length) / length;
        log_det += log1p(square / ratio[k]);
        for (size_t n = 0; n < p->rows; n++) v[n] /= top + length;
        extend_product(p, k, tau);
        for (size_t j = k + 1; j < p->count; j++) {
            double *x = p->vectors + j * p->rows;
            vector_add(p->rows, -tau * vector_dot(p->rows, v, x), v, x);
        }
    }
    return log_det;
}

/* products <- -K' products, column by column; K is upper triangular. */
static void turn_products(const whiten_panel *p, size_t cols, double *products)
{
    for (size_t j = 0; j < cols; j++)
        for (size_t i = p->count; i-- > 0;) {
            double sum = 0;
            for (size_t l = 0; l <= i; l++) sum += p->K[l + i * PANEL] * products[l + j * PANEL];
            products[i + j * PANEL] = -sum;
        }
}

enum { SHARE = 64, TILE = 256 };

static void apply_to_share(const whiten_panel *p, size_t cols, double *X, size_t ld)
{
    double products[PANEL * SHARE];
    memset(products, 0, sizeof products);
    for (size_t row = 0; row < p->rows; row += TILE)
        vector_products(rvm_smaller(TILE, p->rows - row), p->count, p->vectors + row, p->rows, cols, X + row, ld, products,
                        PANEL);
    turn_products(p, cols, products);
    for (size_t row = 0; row < p->rows; row += TILE)
        vector_combine(rvm_smaller(TILE, p->rows - row), p->count, p->vectors + row, p->rows, cols, products, PANEL, X + row,
                       ld);
}

void whiten_apply(const whiten_panel *p, size_t cols, double *X, size_t ld, int threads)
{
    size_t shares = (cols + SHARE - 1) / SHARE;
    (void) threads;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1 && p->rows * cols * p->count > 2000000)
    for (size_t k = 0; k < shares; k++)
        apply_to_share(p, rvm_smaller(SHARE, cols - k * SHARE), X + k * SHARE * ld, ld);
}

void whiten_own(const whiten_panel *p, size_t j, double *out)
{
    memset(out, 0, p->rows * sizeof(double));
    for (size_t i = j; i < p->count; i++)
        vector_add(p->rows, p->K[j + i * PANEL] * p->root[j], p->vectors + i * p->rows, out);
}
