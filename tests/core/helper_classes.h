/* helper_classes.h: problems whose responses are classes, and their modes and evidence
 * done the plain way, over all pairs of a basis function and a class. */
#ifndef CORE_HELPER_CLASSES_H
#define CORE_HELPER_CLASSES_H

#include "helper.h"
#include "laplace.h"

enum { CLASSES_WEIGHTED = 1, CLASSES_OFFSET = 2 };

/* A constant column and Gaussian kernels; one latent function (two classes) or as many as there are
 * classes. It must not be copied: its parts point to each other. */
typedef struct {
  observations data;
  dictionary_block blocks[2];
  dictionary dict;   /* of the pairs */
  double *functions; /* cases x functions, without row scale, the plain way */
  const double *weight_root;
  laplace laplace;
  fit_problem problem;
  fit_result result;
} class_case;

/* Inputs in [-1, 1], centres of their own, classes that overlap. */
void class_case_make(class_case *c, pool *p, size_t rows, size_t dims, size_t centers, double width, size_t latents,
                     int flavour);
/* Explicit columns X (rows x centers) in place of the kernels, before class_case_use(). */
void class_case_columns(class_case *c, pool *p, const double *X);
/* From now on memory comes from p, the laplace's and the result's as well; everything starts afresh. */
rvm_status class_case_use(class_case *c, pool *p);
/* f (rows x latents) = the offset and the weights' sum of some of the pairs, the plain way. */
void class_case_latent(const class_case *c, size_t count, const size_t *which, const double *weight, double *f);
/* log p(t | f) and, unless NULL, residual = its gradient and curvature[n + (k + l latents) rows] = minus its
 * second derivative in the latent values k and l of case n. */
double naive_classes(const observations *data, const double *f, double *residual, double *curvature);

/* The mode for given precisions of some of the pairs, by Newton's method over all rows. */
typedef struct {
  const class_case *problem;
  size_t count;
  const size_t *which;
  const double *alpha;
  double *mean, *latent, *residual, *curvature, *covariance;
  double value;    /* log p(t | latent) - 1/2 mu'A mu */
  double evidence; /* by Laplace's approximation */
} class_mode;

class_mode class_mode_find(pool *p, const class_case *c, size_t count, const size_t *which, const double *alpha);
/* Everything else at the mean that the mode has, which may be any. gradient (count): of the log posterior. */
void class_mode_look(class_mode *m, double *gradient);
/* S and Q of pair j for the quadratic model at the mode. */
void class_mode_statistics(const class_mode *m, size_t j, double *S, double *Q);

/* The same for the result of a fit: the most that any move of one pair would still gain. slope: the largest
 * |d evidence / d log alpha| of the pairs that are in, the quadratic model held; evidence: unless NULL. */
double class_case_gain(const class_case *c, double *slope, double *evidence);

#endif
