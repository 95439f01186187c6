/* laplace.h: a likelihood that is not quadratic, as a sequence of least-squares problems.
 *
 * At given precisions the posterior mode is found by Newton's method (IRLS): the
 * likelihood is linearised at the present latent values, which sets the row scale of the
 * dictionary and the target; the model of these columns (evidence.h, noise precision 1)
 * is made anew, its posterior mean is the next point. The log posterior is concave, and steps
 * are halved until it rises. At the mode the statistics S and Q of the model are
 * those of the Laplace approximation, phi'B phi - .. and phi'(t - y), and
 *
 *   log evidence = log p(t | mode) - 1/2 mu'A mu - 1/2 log|C|.             (1) */
#ifndef RVM_LAPLACE_H
#define RVM_LAPLACE_H

#include "dictionary.h"
#include "evidence.h"
#include "likelihood.h"

enum { LAPLACE_COLUMNS = 8 };

typedef struct {
    const likelihood *likelihood;
    observations data;
    dictionary plain;      /* the basis functions, without row scale */
    double *root, *target; /* rows x latents: what the scaled dictionary and its model refer to */
    double *latent;        /* rows x latents, at the mode so far */
    double *columns;       /* rows x LAPLACE_COLUMNS; work space */
    double *weight;        /* of every column (pair), 0 outside the model: the mode so far */
    size_t *which;         /* cols; work space, like the next three */
    double *mean, *start, *trial;
    double value;          /* log p(t | latent) - 1/2 mu'A mu */
} laplace;

/* Takes what it needs from work. Latent values start at the offset, or as near to it as there is curvature. */
rvm_status laplace_start(laplace *l, const likelihood *likelihood, const observations *data, const dictionary *dict,
                         const rvm_workspace *work);

/* latent = offset + sum of mean[j] times column which[j]; returns the log likelihood. cost: rows count. */
double laplace_latent(laplace *l, size_t count, const size_t *which, const double *mean);

/* Sets root and target at the present latent values. */
void laplace_linearise(laplace *l);

/* The mode for the ratios of the model, whose column j is member[j] of the dictionary. renew()
 * has to make the model anew from root and target; it may drop columns that are out. At the end the
 * model is the one at the mode. */
rvm_status laplace_mode(laplace *l, evidence_model *model, const size_t *member, rvm_status (*renew)(void *context),
                        void *context);

/* Equation (1), at the mode, less the price of the columns. */
double laplace_evidence(const laplace *l, const evidence_model *model);

#endif
