#include "order.h"

#include <math.h>
#include <stdint.h>

static uint64_t mix(uint64_t h)
{
    h ^= h >> 30, h *= 0xbf58476d1ce4e5b9u;
    h ^= h >> 27, h *= 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}

/* Coordinates are rounded to a millionth of the largest before they are hashed:
 * the rounding errors of another unit of x do not reach that far. */
static double centre_key(const dictionary_block *b, size_t dims, size_t local, double largest)
{
    uint64_t h = b->first;
    for (size_t k = 0; k < dims; k++)
        h = mix(h + 0x9e3779b97f4a7c15u + (uint64_t) llround(b->centers[k + local * dims] / largest * 1048576.0));
    return (double) (h >> 11);
}

static void sift(size_t *order, const double *keys, size_t root, size_t end)
{
    for (size_t child; (child = 2 * root + 1) < end; root = child) {
        if (child + 1 < end && keys[order[child + 1]] > keys[order[child]]) child++;
        if (keys[order[root]] >= keys[order[child]]) return;
        size_t swap = order[root];
        order[root] = order[child], order[child] = swap;
    }
}

static void heap_sort(size_t *order, const double *keys, size_t count)
{
    for (size_t i = count / 2; i-- > 0;) sift(order, keys, i, count);
    for (size_t end = count; end-- > 1;) {
        size_t swap = order[0];
        order[0] = order[end], order[end] = swap;
        sift(order, keys, 0, end);
    }
}

void order_columns(const dictionary *d, size_t *order, size_t *explicit_count, double *keys)
{
    size_t filled = 0;
    for (size_t i = 0; i < d->block_count; i++)
        if (d->blocks[i].kernel.type == KERNEL_NONE)
            for (size_t j = 0; j < d->blocks[i].count; j++) order[filled++] = d->blocks[i].first + j;
    *explicit_count = filled;
    for (size_t i = 0; i < d->block_count; i++) {
        const dictionary_block *b = d->blocks + i;
        if (b->kernel.type == KERNEL_NONE) continue;
        double largest = 1e-300;
        for (size_t k = 0; k < b->count * d->dims; k++) largest = fmax(largest, fabs(b->centers[k]));
        for (size_t j = 0; j < b->count; j++) {
            keys[b->first + j] = centre_key(b, d->dims, j, largest);
            order[filled++] = b->first + j;
        }
    }
    heap_sort(order + *explicit_count, keys, filled - *explicit_count);
}

/* Runs of eight functions of one class: such tiles a dictionary likes best. */
static size_t *order_some(size_t cols, size_t count, const size_t *order, size_t latents, size_t *pairs)
{
    const size_t run = 8;
    for (size_t done = 0; done < count; done += run)
        for (size_t k = 0; k < latents; k++)
            for (size_t j = done; j < done + run && j < count; j++) *pairs++ = order[j] + k * cols;
    return pairs;
}

void order_pairs(size_t cols, const size_t *order, size_t explicit_count, size_t latents, size_t *pairs)
{
    pairs = order_some(cols, explicit_count, order, latents, pairs);
    order_some(cols, cols - explicit_count, order + explicit_count, latents, pairs);
}
