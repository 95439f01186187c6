#include "laplace.h"

#include <math.h>
#include <string.h>

#include "vector.h"

rvm_status laplace_start(laplace *l, const likelihood *likelihood, const observations *data, const dictionary *dict,
                         const rvm_workspace *work)
{
    size_t count = data->rows * data->latents, cols = dict->cols;
    *l = (laplace){ .likelihood = likelihood, .data = *data, .plain = dictionary_plain(dict) };
    l->root = rvm_take_doubles(work, count);
    l->target = rvm_take_doubles(work, count);
    l->latent = rvm_take_doubles(work, count);
    l->columns = rvm_take_doubles(work, data->rows * LAPLACE_COLUMNS);
    l->weight = rvm_take_doubles(work, cols);
    l->which = rvm_take_sizes(work, cols);
    l->mean = rvm_take_doubles(work, cols);
    l->start = rvm_take_doubles(work, cols);
    l->trial = rvm_take_doubles(work, cols);
    if (!l->root || !l->target || !l->latent || !l->columns || !l->weight || !l->which || !l->mean || !l->start ||
        !l->trial)
        return RVM_NO_MEMORY;
    memset(l->weight, 0, cols * sizeof(double));
    l->value = laplace_latent(l, 0, NULL, NULL);
    /* far out on an offset a case has no curvature and all the say: the first look is from nearer */
    for (size_t n = 0; n < count; n++) l->latent[n] = fmax(-2, fmin(2, l->latent[n]));
    laplace_linearise(l);
    return RVM_OK;
}

double laplace_latent(laplace *l, size_t count, const size_t *which, const double *mean)
{
    size_t rows = l->data.rows, function[LAPLACE_COLUMNS];
    for (size_t k = 0; k < l->data.latents; k++)
        for (size_t n = 0; n < rows; n++) l->latent[n + k * rows] = l->data.offset ? l->data.offset[n] : 0;
    for (size_t done = 0; done < count; done += LAPLACE_COLUMNS) {
        size_t some = count - done < LAPLACE_COLUMNS ? count - done : LAPLACE_COLUMNS;
        for (size_t j = 0; j < some; j++) function[j] = which[done + j] % l->plain.cols;
        dictionary_columns(&l->plain, some, function, l->columns, rows);
        for (size_t j = 0; j < some; j++)
            vector_add(rows, mean[done + j], l->columns + j * rows, l->latent + which[done + j] / l->plain.cols * rows);
    }
    return l->likelihood->value(&l->data, l->latent, 1);
}

void laplace_linearise(laplace *l) { l->likelihood->linearise(&l->data, l->latent, l->root, l->target); }

/* The active columns, and where the model has its mean: mu = Q / ratio. */
static size_t read_model(const evidence_model *m, const size_t *member, size_t *which, double *mean)
{
    size_t count = 0;
    for (size_t j = 0; j < m->cols; j++)
        if (isfinite(m->ratio[j])) {
            which[count] = member[j];
            mean[count++] = m->Q[j] / m->ratio[j];
        }
    return count;
}

/* The log posterior, up to constants, with the latent values left at `mean`. */
static double log_posterior(laplace *l, const evidence_model *m, size_t count, const double *mean)
{
    double value = laplace_latent(l, count, l->which, mean);
    for (size_t j = 0, k = 0; j < m->cols; j++)
        if (isfinite(m->ratio[j])) {
            value -= 0.5 * m->ratio[j] * mean[k] * mean[k];
            k++;
        }
    return value;
}

/* From the better of two points: the mean of the model as it is, and the last mode without
 * the columns that have left. */
static void choose_start(laplace *l, const evidence_model *m, const size_t *member)
{
    size_t count = read_model(m, member, l->which, l->mean);
    for (size_t j = 0; j < count; j++) l->start[j] = l->weight[l->which[j]];
    double from_mean = log_posterior(l, m, count, l->mean);
    l->value = log_posterior(l, m, count, l->start);
    if (from_mean > l->value) {
        memcpy(l->start, l->mean, count * sizeof(double));
        l->value = log_posterior(l, m, count, l->start);
    }
}

/* A quarter of the way to the mean of the model, a quarter of that, ..., until the log posterior rises. Returns by how much. */
static double step_up(laplace *l, const evidence_model *m, size_t count)
{
    for (double share = 1; share > 1e-15; share *= 0.25) {
        for (size_t j = 0; j < count; j++) l->trial[j] = l->start[j] + share * (l->mean[j] - l->start[j]);
        double value = log_posterior(l, m, count, l->trial), rise = value - l->value;
        if (rise > -1e-13 * fabs(value)) {
            memcpy(l->start, l->trial, count * sizeof(double));
            l->value = value;
            return rise;
        }
    }
    l->value = log_posterior(l, m, count, l->start);
    return 0;
}

rvm_status laplace_mode(laplace *l, evidence_model *m, const size_t *member, rvm_status (*renew)(void *context),
                        void *context)
{
    const int most_steps = 100;
    int last = 0; /* a step that hardly rises leaves the square of that to do */
    size_t count = 0;
    choose_start(l, m, member);
    for (int step = 0; step < most_steps; step++) {
        laplace_linearise(l);
        rvm_status status = renew(context);
        if (status != RVM_OK) return status;
        count = read_model(m, member, l->which, l->mean);
        if (last) break;
        last = step_up(l, m, count) < 1e-10 + 1e-13 * fabs(l->value);
    }
    memset(l->weight, 0, l->plain.cols * l->data.latents * sizeof(double));
    for (size_t j = 0; j < count; j++) l->weight[l->which[j]] = l->start[j];
    return RVM_OK;
}

double laplace_evidence(const laplace *l, const evidence_model *m) 
{
    return l->value - 0.5 * m->log_det - m->now.price * (double) m->active;
}
