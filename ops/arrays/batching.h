/* batching.h -- helpers for batching (vmap) rules; see eddy_batch in graph/op.h. */
#ifndef EDDY_OPS_ARRAYS_BATCHING_H
#define EDDY_OPS_ARRAYS_BATCHING_H

#include "graph/internal.h"

/* The rank of one example of input i, and of output 0; -1 if it is unknown. */
int eddy__batch_rank(const eddy_batch *b, int i);
int eddy__batch_result_rank(const eddy_batch *b);
/* A tensor with the shape of output 0 and the batch axis in front; only its shape is used. */
eddy_tensor eddy__batch_result_like(const eddy_batch *b);

/* Converts an axis of one example into an axis of the batch. */
int64_t eddy__batch_axis(int64_t axis);
/* Converts a list of axes of input i, where an empty list means all axes; returns false if that
 * requires a rank that is unknown. */
bool eddy__batch_axes(const eddy_batch *b, int i, eddy_dims *axes);
/* Prepends an entry for the batch axis to a list with one entry per dimension; returns false if
 * there is no room. */
bool eddy__batch_entries(eddy_dims *d, int64_t first);

/* x with axes a and b exchanged; with `count` new axes of size 1 before axis `at`. */
eddy_tensor eddy__batch_swap(eddy_tensor x, int a, int b);
eddy_tensor eddy__batch_widen(eddy_tensor x, int at, int count);

/* The rule of every elementwise op: the ranks are made equal after the batch axis. */
void eddy__batch_elementwise(eddy_batch *b);
/* Rules for op->batch: output 0 has the elements of input 0 in another shape; and output 0 is
 * input 0 broadcast to another shape. */
void eddy__batch_reshape(eddy_batch *b);
void eddy__batch_broadcast(eddy_batch *b);

#endif
