#include "dictionary.h"

#include <string.h>

#include "vector.h"

/* A tile of 256 rows x 8 columns of doubles is 16 KB: half a first-level cache. */
enum { TILE_ROWS = 256, TILE_COLS = 8 };

static const dictionary_block *block_of(const dictionary *d, size_t which)
{
    const dictionary_block *b = d->blocks;
    while (which >= b->first + b->count) b++;
    return b;
}

static size_t latents(const dictionary *d) { return d->latents > 1 ? d->latents : 1; }

size_t dictionary_cases(const dictionary *d) { return d->rows / latents(d); }

size_t dictionary_functions(const dictionary *d) { return d->cols / latents(d); }

dictionary dictionary_plain(const dictionary *d)
{
    dictionary plain = *d;
    plain.rows = dictionary_cases(d);
    plain.cols = dictionary_functions(d);
    plain.latents = 1;
    plain.row_scale = NULL;
    return plain;
}

double dictionary_store_bytes(const dictionary *d)
{
    const double cached = 64e6; /* about what the last-level cache of a machine holds, or a bit more */
    const size_t costly = 16;   /* inputs, from where on making a value takes longer than reading it */
    double bytes = 8.0 * (double) dictionary_cases(d) * (double) dictionary_functions(d);
    return bytes <= cached || d->dims > costly ? bytes : 0;
}

static void make_values(const dictionary *d, size_t which, size_t row0, size_t rows, double *out)
{
    const dictionary_block *b = block_of(d, which);
    size_t local = which - b->first, cases = dictionary_cases(d);
    if (b->kernel.type == KERNEL_NONE)
        memcpy(out, b->columns + row0 + local * cases, rows * sizeof(double));
    else
        kernel_values(&b->kernel, rows, d->dims, b->inputs + row0, cases, b->centers + local * d->dims, out);
}

void dictionary_run(const dictionary *d, size_t which, size_t row0, size_t rows, double *out)
{
    double *kept = d->store ? d->store->values + row0 + which * dictionary_cases(d) : NULL;
    if (kept && d->store->known[which]) {
        memcpy(out, kept, rows * sizeof(double));
    } else {
        make_values(d, which, row0, rows, out);
        if (kept && latents(d) == 1) memcpy(kept, out, rows * sizeof(double));
    }
    if (d->row_scale)
        for (size_t n = 0; n < rows; n++) out[n] *= d->row_scale[row0 + n];
}

/* A column of one class in the rows of all: equation (1). */
static void spread_over_classes(const dictionary *d, size_t k, size_t row0, size_t rows, const double *run, double *out)
{
    size_t cases = dictionary_cases(d);
    const double *own = d->class_root + row0 + k * cases;
    for (size_t l = 0; l < d->latents; l++) {
        const double *s = d->class_root + row0 + l * cases;
        double *to = out + row0 + l * cases;
        for (size_t n = 0; n < rows; n++) to[n] = run[n] * own[n] * ((l == k) - s[n] * own[n]);
    }
}

static void make_column(const dictionary *d, size_t which, double *out)
{
    double run[TILE_ROWS];
    size_t cases = dictionary_cases(d), functions = dictionary_functions(d);
    for (size_t row0 = 0; row0 < cases; row0 += TILE_ROWS) {
        size_t rows = cases - row0 < TILE_ROWS ? cases - row0 : TILE_ROWS;
        if (latents(d) == 1) {
            dictionary_run(d, which, row0, rows, out + row0);
        } else {
            dictionary_run(d, which % functions, row0, rows, run);
            spread_over_classes(d, which / functions, row0, rows, run, out);
        }
    }
}

void dictionary_columns(const dictionary *d, size_t count, const size_t *which, double *out, size_t ld)
{
#pragma omp parallel for schedule(static) num_threads(d->threads) if (d->threads > 1 && count * d->rows > 2000000)
    for (size_t j = 0; j < count; j++) make_column(d, which[j], out + j * ld);
}

/* V -> for every class k the vectors sum over l of R_lk V_l: what the plain basis
 * functions have to be multiplied with, R of equation (1). */
static void mix_classes(const dictionary *d, size_t width, const double *V, size_t ldv)
{
    size_t cases = dictionary_cases(d);
#pragma omp parallel for schedule(static) num_threads(d->threads) if (d->threads > 1 && width * d->rows > 1000000)
    for (size_t j = 0; j < width; j++) {
        const double *v = V + j * ldv;
        double *to = d->mixed + j * d->rows, *sum = to; /* the sum waits where class 0 goes, which is made last */
        memset(sum, 0, cases * sizeof(double));
        for (size_t l = 0; l < d->latents; l++)
            for (size_t n = 0; n < cases; n++) sum[n] += d->class_root[n + l * cases] * v[n + l * cases];
        for (size_t k = d->latents; k-- > 0;)
            for (size_t n = 0; n < cases; n++) {
                double s = d->class_root[n + k * cases];
                to[n + k * cases] = s * v[n + k * cases] - s * s * sum[n];
            }
    }
}

static double squared_length(const dictionary *d, size_t k, size_t row0, size_t rows, const double *run)
{
    if (latents(d) == 1) return vector_dot(rows, run, run);
    return vector_class_square(rows, run, d->class_root + row0 + k * dictionary_cases(d));
}

/* A group of up to TILE_COLS columns of one class against all of V, row tile by row tile. */
static void project_group(const dictionary *d, size_t start, size_t group, const size_t *which, size_t width,
                          const double *V, size_t ldv, double *products, size_t ldp, double *squares)
{
    double tile[TILE_ROWS * TILE_COLS];
    size_t cases = dictionary_cases(d), functions = dictionary_functions(d);
    size_t k = (which ? which[start] : start) / functions;
    for (size_t v = 0; v < width; v++) memset(products + start + v * ldp, 0, group * sizeof(double));
    if (squares) memset(squares + start, 0, group * sizeof(double));
    for (size_t row0 = 0; row0 < cases; row0 += TILE_ROWS) {
        size_t rows = cases - row0 < TILE_ROWS ? cases - row0 : TILE_ROWS;
        for (size_t j = 0; j < group; j++) {
            double *run = tile + j * TILE_ROWS;
            dictionary_run(d, (which ? which[start + j] : start + j) % functions, row0, rows, run);
            if (squares) squares[start + j] += squared_length(d, k, row0, rows, run);
        }
        vector_products(rows, group, tile, TILE_ROWS, width, V + row0 + k * cases, ldv, products + start, ldp);
    }
}

/* With several classes a column is wanted several times: it is made once, beforehand. */
static void fill_store(const dictionary *d, size_t count, const size_t *which)
{
    enum { UNKNOWN = 0, KNOWN = 1, WANTED = 2 };
    size_t functions = dictionary_functions(d), cases = dictionary_cases(d);
    unsigned char *known = d->store->known;
    for (size_t j = 0; j < count; j++) {
        size_t function = (which ? which[j] : j) % functions;
        if (known[function] == UNKNOWN) known[function] = WANTED;
    }
#pragma omp parallel for schedule(dynamic) num_threads(d->threads) if (d->threads > 1 && functions * cases > 100000)
    for (size_t i = 0; i < functions; i++)
        if (known[i] == WANTED) {
            make_values(d, i, 0, cases, d->store->values + i * cases);
            known[i] = KNOWN;
        }
}

/* With one, it is kept as it is made, and known afterwards. */
static void remember(const dictionary *d, size_t count, const size_t *which)
{
    for (size_t j = 0; d->store && j < count; j++) d->store->known[which ? which[j] : j] = 1;
}

/* How many of the next columns belong to one class. */
static size_t same_class(const dictionary *d, size_t count, const size_t *which, size_t start)
{
    size_t functions = dictionary_functions(d), k = (which ? which[start] : start) / functions, j = 1;
    while (j < count && (which ? which[start + j] : start + j) / functions == k) j++;
    return j;
}

rvm_status dictionary_project(const dictionary *d, size_t count, const size_t *which, size_t width, const double *V,
                              size_t ldv, double *products, size_t ldp, double *squares, const rvm_ticker *ticker,
                              const rvm_progress *now)
{
    /* A stretch of columns between two ticks: some 1e8 kernel values. */
    size_t stretch = 100000000 / (dictionary_cases(d) + 1);
    stretch = (stretch / TILE_COLS + 1) * TILE_COLS;
    if (latents(d) > 1) {
        if (d->store) fill_store(d, count, which);
        mix_classes(d, width, V, ldv);
        V = d->mixed;
        ldv = d->rows;
    }
    for (size_t start = 0; start < count; start += stretch) {
        size_t end = start + stretch < count ? start + stretch : count;
        size_t groups = (end - start + TILE_COLS - 1) / TILE_COLS;
#pragma omp parallel for schedule(dynamic) num_threads(d->threads) if (d->threads > 1 && (end - start) * d->rows > 2000000)
        for (size_t g = 0; g < groups; g++) {
            size_t from = start + g * TILE_COLS;
            size_t group = end - from < TILE_COLS ? end - from : TILE_COLS;
            for (size_t done = 0, share; done < group; done += share) {
                share = same_class(d, group - done, which, from + done);
                project_group(d, from + done, share, which, width, V, ldv, products, ldp, squares);
            }
        }
        if (rvm_tick(ticker, now)) return RVM_INTERRUPTED;
    }
    if (latents(d) == 1) remember(d, count, which);
    return RVM_OK;
}
