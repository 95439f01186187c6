/* predict.h: latent mean and variance at new rows. */
#ifndef RVM_PREDICT_H
#define RVM_PREDICT_H

#include "dictionary.h"

/* The dictionary holds the active columns at the new rows. mean[n] = phi_n'weights;
 * variance[n] = |factor' phi_n|^2, factor upper triangular with
 * factor factor' = covariance of the weights; variance and factor may be NULL.
 * Rows are done in tiles: no matrix of kernel values is kept.
 * work: predict_work() doubles. cost: rows cols (a kernel value + 2, or + cols with variance). */
size_t predict_work(const dictionary *d);
void predict_latent(const dictionary *d, const double *weights, const double *factor, double *mean, double *variance,
                    double *work);

#endif
