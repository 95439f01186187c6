#include "basis.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "vector.h"

void basis_start(basis *b)
{
    size_t n = b->dict->rows;
    b->size = 0;
    b->candidates = 0;
    memcpy(b->remainder, b->target, n * sizeof(double));
    b->rest = vector_dot(n, b->target, b->target);
}

/* columns -= V (V' columns) for the vectors V from first to last - 1; the products
 * are added to out. In row tiles: V is read twice, not twice per column. */
static void remove_span_from(const basis *b, size_t first, size_t last, size_t count, double *columns, double *scratch,
                             double *out)
{
    size_t n = b->dict->rows, size = last - first, ld = b->capacity;
    const double *V = b->vectors + first * n;
    for (size_t j = 0; j < count; j++) memset(scratch + j * ld, 0, size * sizeof(double));
    for (size_t row0 = 0; row0 < n; row0 += TURN_ROWS)
        vector_products(rvm_smaller(TURN_ROWS, n - row0), size, V + row0, n, count, columns + row0, n, scratch, ld);
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i < size; i++) {
            out[first + i + j * ld] += scratch[i + j * ld];
            scratch[i + j * ld] = -scratch[i + j * ld];
        }
    for (size_t row0 = 0; row0 < n; row0 += TURN_ROWS)
        vector_combine(rvm_smaller(TURN_ROWS, n - row0), size, V + row0, n, count, scratch, ld, columns + row0, n);
}

/* Threads divide the columns, eight at a time, so the sums do not depend on their number. */
static void remove_span(const basis *b, size_t first, size_t last, size_t count, double *columns, double *scratch,
                        double *out)
{
    const size_t share = 8;
    size_t n = b->dict->rows, ld = b->capacity, shares = (count + share - 1) / share;
    if (first == last) return;
#pragma omp parallel for schedule(dynamic) num_threads(b->dict->threads) if (b->dict->threads > 1 && shares > 1 && n * (last - first) * count > 4000000)
    for (size_t k = 0; k < shares; k++) {
        size_t j = k * share;
        remove_span_from(b, first, last, rvm_smaller(share, count - j), columns + j * n, scratch + j * ld, out + j * ld);
    }
}

static void divide(size_t n, double *x, double by)
{
    for (size_t i = 0; i < n; i++) x[i] /= by;
}

/* Appends what is left of a column, unless there is nothing. Where little is left of what there was, the
 * rounding error of the larger part is in it and not orthogonal to anything yet: after normalising, one more
 * round makes it so. When that round takes most of it away, rounding was all there was. */
static int append(basis *b, double *column, double length, int cancelled, double *scratch, double *discard)
{
    size_t n = b->dict->rows;
    double *v = b->vectors + b->size * n;
    divide(n, column, length);
    if (cancelled) {
        remove_span(b, 0, b->size, 1, column, scratch, discard);
        double left = sqrt(vector_dot(n, column, column));
        if (!(left > 0.5)) return 0;
        divide(n, column, left);
    }
    memcpy(v, column, n * sizeof(double));
    double t = vector_dot(n, v, b->remainder);
    vector_add(n, -t, v, b->remainder);
    b->target_coords[b->size++] = t;
    b->rest = vector_dot(n, b->remainder, b->remainder);
    return 1;
}

void basis_enter(basis *b, size_t count, const size_t *which, int skip_similar, double *columns, double *scratch,
                 double *out, unsigned char *entered)
{
    size_t n = b->dict->rows, before = b->size;
    dictionary_columns(b->dict, count, which, columns, n);
    memset(out, 0, b->capacity * count * sizeof(double));
    for (size_t j = 0; j < count; j++) /* the whole length waits in the last coordinate */
        out[b->capacity * (j + 1) - 1] = sqrt(vector_dot(n, columns + j * n, columns + j * n));
    remove_span(b, 0, before, count, columns, scratch, out);
    remove_span(b, 0, before, count, columns, scratch, out);
    for (size_t j = 0; j < count; j++) {
        double *column = columns + j * n, *coords = out + j * b->capacity;
        double whole = coords[b->capacity - 1], outside = vector_dot(n, column, column);
        coords[b->capacity - 1] = 0;
        remove_span(b, before, b->size, 1, column, scratch, coords);
        remove_span(b, before, b->size, 1, column, scratch, coords);
        double left = vector_dot(n, column, column);
        entered[j] = !(skip_similar && left < 0.05 * outside);
        if (entered[j] && b->size < n && sqrt(left) > 64 * DBL_EPSILON * whole) {
            size_t at = b->size;
            int cancelled = left < 0.01 * outside || sqrt(left) < 1e-6 * whole;
            if (append(b, column, sqrt(left), cancelled, scratch, scratch + b->capacity)) coords[at] = sqrt(left);
        }
    }
}

rvm_status basis_inform(basis *b, size_t first, const rvm_ticker *ticker, const rvm_progress *now)
{
    size_t n = b->dict->rows;
    if (first == b->size || b->candidates == 0) return RVM_OK;
    return dictionary_project(b->dict, b->candidates, b->candidate, b->size - first, b->vectors + first * n, n,
                              b->coords + first * b->candidates, b->candidates, NULL, ticker, now);
}

/* X (rows x size, leading dimension = rows) becomes X * turn in its first columns. */
static void turn_rows(double *X, size_t rows, size_t size, size_t count, const double *turn, double *buffer)
{
    for (size_t row0 = 0; row0 < rows; row0 += TURN_ROWS) {
        size_t tile = rvm_smaller(TURN_ROWS, rows - row0);
        memset(buffer, 0, TURN_ROWS * count * sizeof(double));
        vector_combine(tile, size, X + row0, rows, count, turn, size, buffer, TURN_ROWS);
        for (size_t k = 0; k < count; k++)
            memcpy(X + row0 + k * rows, buffer + k * TURN_ROWS, tile * sizeof(double));
    }
}

void basis_turn(basis *b, size_t count, const double *turn, double *buffer)
{
    size_t n = b->dict->rows;
    double *turned = buffer + TURN_ROWS * count;
    for (size_t k = 0; k < count; k++) turned[k] = vector_dot(b->size, turn + k * b->size, b->target_coords);
    turn_rows(b->vectors, n, b->size, count, turn, buffer);
    turn_rows(b->coords, b->candidates, b->size, count, turn, buffer);
    b->size = count;
    memcpy(b->target_coords, turned, count * sizeof(double));
    memcpy(b->remainder, b->target, n * sizeof(double));
    for (size_t k = 0; k < count; k++) vector_add(n, -turned[k], b->vectors + k * n, b->remainder);
    b->rest = vector_dot(n, b->remainder, b->remainder);
}
