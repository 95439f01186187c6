/* helper.h: what the core's tests share: memory, random numbers, dense reference
 * routines done the plain way, and a few standard subjects. Column-major throughout. */
#ifndef CORE_HELPER_H
#define CORE_HELPER_H

#include <stddef.h>

#include "core.h"
#include "dictionary.h"
#include "fit.h"

/* ---- memory ---- */

/* Pieces of memory, each a malloc of exactly its size filled with NaN, freed together. */
typedef struct {
  void **pieces;
  size_t count, room;
  size_t taken, refuse; /* requests through the workspace; the number of the one that gets NULL, 0: none */
} pool;

void *pool_bytes(pool *p, size_t bytes);
double *pool_doubles(pool *p, size_t count);
size_t *pool_sizes(pool *p, size_t count);
/* count doubles that are 0. */
double *pool_zeros(pool *p, size_t count);
/* rows x cols with leading dimension ld, nothing behind the last element; random normals. */
double *pool_matrix(pool *p, size_t rows, size_t cols, size_t ld);
double *pool_copy(pool *p, size_t count, const double *x);
rvm_workspace pool_workspace(pool *p);
void pool_free(pool *p);

/* ---- random numbers, the same in every run ---- */

void random_seed(unsigned long seed);
double random_uniform(void);
double random_normal(void);
/* 0 .. count - 1 in random order. */
void random_order(size_t count, size_t *out);

/* ---- tickers ---- */

typedef struct {
  long seen, stop_at; /* ticks so far; the one that is answered by "stop", 0: none */
} tick_counter;
rvm_ticker counting_ticker(tick_counter *counter);

/* ---- dense references ---- */

/* The largest |a - b| / (1 + |b|); INFINITY when a NaN is met. */
double difference(size_t count, const double *a, const double *b);

/* out (rows x cols) = A B, A rows x inner, B inner x cols. */
void naive_product(size_t rows, size_t inner, size_t cols, const double *A, const double *B, double *out);
/* out (p x q) = A'B, A rows x p, B rows x q. */
void naive_cross(size_t rows, size_t p, size_t q, const double *A, const double *B, double *out);
/* out = the inverse of A (n x n) by Gauss-Jordan elimination with row exchanges. */
void naive_inverse(size_t n, const double *A, double *out);
/* A (n x n, symmetric) becomes L with A = LL' in its lower triangle. */
void naive_cholesky(size_t n, double *A);
/* out (rows x rows) = I / beta + sum over j of Phi_j Phi_j' / alpha_j; alpha INFINITY: the column is out. */
void naive_marginal(size_t rows, size_t cols, const double *Phi, const double *alpha, double beta, double *out);
/* log N(t | 0, C) with that C. */
double naive_evidence(size_t rows, size_t cols, const double *Phi, const double *alpha, double beta, const double *t);
double naive_kernel(const kernel *k, size_t dims, const double *x, size_t stride, const double *z);

/* ---- a dictionary with blocks of several kinds, and the same as a matrix ---- */

enum { SUBJECT_BLOCKS = 4 };
typedef struct {
  dictionary dict;
  dictionary_block blocks[SUBJECT_BLOCKS];
  double *dense; /* rows x cols, row scales included */
} subject;

/* Explicit columns, kernels of three kinds with `centers` centres each, and random row scales if asked for. */
void subject_make(subject *s, pool *p, size_t rows, size_t dims, size_t explicit_columns, size_t centers, int scaled);

/* ---- fits ---- */

/* A problem over one block of columns, noise unknown. It must not be copied: its parts point to each other. */
typedef struct {
  dictionary dict;
  dictionary_block block;
  fit_problem problem;
  fit_result result;
} fit_case;

/* Explicit columns X (rows x cols). */
void fit_case_explicit(fit_case *c, pool *p, size_t rows, size_t cols, const double *X, const double *target);
/* Inputs in [-1, 1], a smooth target with noise, Gaussian kernels at centres of their own. */
void fit_case_kernel(fit_case *c, pool *p, size_t rows, size_t dims, size_t centers, double width);
/* The most that any move of one column would still gain, S and Q the plain way. slope: the largest
 * |d evidence / d log ratio| of the columns that are in. */
double fit_case_gain(const fit_case *c, double *slope);
/* The log evidence of the result, the plain way. */
double fit_case_evidence(const fit_case *c);
/* The result's columns in increasing order. */
void fit_case_sort(fit_case *c);
/* From now on memory comes from p, the result's as well. */
void fit_case_use(fit_case *c, pool *p);

#endif
