/* gradient.h: how the log evidence of a model changes with its precisions and with the
 * widths of its kernels, at the columns that are in it.
 *
 * With the mode f = Phi mu, e = d log p / d f and B = -d e / d f there, the posterior covariance
 * Sigma = (A + Phi'B Phi)^-1, and the slope of -1/2 log|A + Phi'B Phi| through B alone,
 *
 *   g = -1/2 d tr(B Phi Sigma Phi') / d f,
 *
 * a change of Phi moves the mode by Sigma (dPhi'e - Phi'B dPhi mu), and with v = Sigma Phi'g
 *
 *   d L / d Phi         = (e + g - B Phi v) mu' + e v' - B Phi Sigma        (1)
 *   d L / d log alpha_j = 1/2 (1 - alpha_j (Sigma_jj + mu_j^2)) - alpha_j mu_j v_j.   (2)
 *
 * Where the likelihood is gaussian g and v are 0, and this is method.md's formula. With several latent
 * functions a column is a pair (see dictionary.h), and Phi's row (n, k) of pair (i, k) is phi_i(x_n). */
#ifndef RVM_GRADIENT_H
#define RVM_GRADIENT_H

#include "core.h"
#include "dictionary.h"
#include "likelihood.h"
#include "posterior.h"

/* A model at its mode. The pairs are sorted. */
typedef struct {
    const likelihood *likelihood;
    const observations *data;
    double precision;        /* of the noise, where there is one */
    const dictionary *plain; /* the basis functions */
    size_t count;
    const size_t *pair;   /* count */
    const double *alpha;  /* count */
    const double *latent; /* rows x latents: f, offset included */
    const posterior *posterior;
} gradient_point;

/* log_alpha: count slopes (2); log_width: dims x blocks slopes, 0 for blocks without widths.
 * cost: (2 latents + 2) rows count^2 + rows count dims. */
rvm_status gradient_evidence(const gradient_point *at, const rvm_workspace *work, double *log_alpha,
                             double *log_width);

#endif
