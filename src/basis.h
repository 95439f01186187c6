/* basis.h: an orthonormal basis of the working columns, and every candidate's
 * coordinates in it.
 *
 * N rows are compressed to as many as there are basis vectors, once for each
 * column that enters, by Gram-Schmidt done twice; the normal equations are never
 * formed. What a candidate outside the basis needs to know to be judged,
 * phi = basis * coordinates + remainder, is kept as well, so a kernel value is
 * computed again only when the basis grows. */
#ifndef RVM_BASIS_H
#define RVM_BASIS_H

#include <stddef.h>

#include "core.h"
#include "dictionary.h"

typedef struct {
    const dictionary *dict;
    const double *target; /* rows */
    size_t capacity, size;
    double *vectors;       /* rows x capacity */
    double *target_coords; /* capacity */
    double *remainder;     /* rows: the target outside the basis */
    double rest;           /* its squared norm */

    size_t candidates;
    const size_t *candidate;      /* their dictionary columns */
    double *squares, *with_target; /* per candidate: phi'phi, phi'target */
    double *coords;               /* candidates x capacity: one basis vector after the other */
} basis;

/* An empty basis, no candidates. */
void basis_start(basis *b);

/* Takes in dictionary columns `which` and writes their coordinates to
 * out (ld x count, ld = capacity). A column in the span so far (to rounding) adds
 * no vector. With skip_similar set, a column of which less than a
 * twentieth (squared) of what was outside the basis before the call still is gets
 * entered[j] = 0: the others of the batch stand for it. There must be room for
 * `count` more vectors. columns: work space, rows x count; scratch: capacity x (count + 1).
 * The candidates are told by basis_inform(). cost: 8 rows size count. */
void basis_enter(basis *b, size_t count, const size_t *which, int skip_similar, double *columns, double *scratch,
                 double *out, unsigned char *entered);

/* The candidates' coordinates in the vectors from `first` on. cost: a pass. */
rvm_status basis_inform(basis *b, size_t first, const rvm_ticker *ticker, const rvm_progress *now);

/* New vectors = vectors * turn (size x count, orthonormal): restricts everything to
 * that subspace. buffer: (TURN_ROWS + 1) * count doubles. cost: 2 (rows + candidates) size count. */
enum { TURN_ROWS = 256 };
void basis_turn(basis *b, size_t count, const double *turn, double *buffer);

#endif
