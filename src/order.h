/* order.h: an order of the candidates in which every beginning is a sample
 * spread over the data, and which does not depend on the order of the rows. */
#ifndef RVM_ORDER_H
#define RVM_ORDER_H

#include "dictionary.h"

/* order: cols of the dictionary, explicit columns first as they come, then kernel
 * columns by a hash of their centre's coordinates. explicit_count: how many are explicit.
 * keys: work space, cols doubles. cost: cols (dims + log cols). */
void order_columns(const dictionary *d, size_t *order, size_t *explicit_count, double *keys);

/* The order of the pairs of a basis function and one of L classes (column i + k cols), from that of
 * the functions: a few functions at a time, all classes of them. */
void order_pairs(size_t cols, const size_t *order, size_t explicit_count, size_t latents, size_t *pairs);

#endif
