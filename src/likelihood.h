/* likelihood.h: what the engine knows of a likelihood. A new one is a new row of
 * the table. Every likelihood is seen through its quadratic model at a latent f:
 *
 *   log p(t | f + h) ~ log p(t | f) + residual'h - 1/2 h'B h,
 *
 * as a least-squares problem: B = R'R with R made from `root` (see dictionary.h), and a
 * target z such that R'z = B f + residual, so that the model is -1/2 |z - R (f + h)|^2. */
#ifndef RVM_LIKELIHOOD_H
#define RVM_LIKELIHOOD_H

#include <stddef.h>

typedef enum { LIKELIHOOD_GAUSSIAN = 0, LIKELIHOOD_BERNOULLI, LIKELIHOOD_SOFTMAX } likelihood_type;

/* The data: t, weight (NULL: ones) and offset (NULL: none) have one value a row; t is a class
 * 0, 1, .. where the likelihood has classes. latents: of the softmax; else 1. */
typedef struct {
    size_t rows, latents;
    const double *t, *weight, *offset;
} observations;

typedef struct {
    const char *name;
    /* sum over n of weight[n] log p(t[n] | f[n]), f rows x latents, offset included; precision: of the noise */
    double (*value)(const observations *data, const double *f, double precision);
    /* root and target, rows x latents each, at f, for unit noise precision */
    void (*linearise)(const observations *data, const double *f, double *root, double *target);
    /* d log p / d f, rows x latents */
    void (*residual)(const observations *data, const double *f, double precision, double *out);
    /* v <- B v, rows x latents */
    void (*curve)(const observations *data, const double *f, double precision, double *v);
    /* out = -1/2 d tr(B S) / d f, rows x latents; S: for row n the latents x latents matrix
     * S[n + (k + l latents) rows] */
    void (*bend)(const observations *data, const double *f, const double *S, double *out);
} likelihood;

const likelihood *likelihood_of(likelihood_type type);

#endif
