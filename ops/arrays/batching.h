/* batching.h -- helpers for batching (vmap) rules; see eddy_batch in graph/op.h. */
#ifndef EDDY_OPS_ARRAYS_BATCHING_H
#define EDDY_OPS_ARRAYS_BATCHING_H

#include "graph/internal.h"

/* Rank of one example of input i, of output 0; -1 if it is not known. */
int eddy__batch_rank(const eddy_batch *b, int i);
int eddy__batch_result_rank(const eddy_batch *b);
/* A tensor of the shape of output 0 with the examples in front; it only lends that. */
eddy_tensor eddy__batch_result_like(const eddy_batch *b);

/* An axis of one example as one of the batch. */
int64_t eddy__batch_axis(int64_t axis);
/* The same of a list for input i, where none given are all of them; false if that
 * takes a rank that is not known. */
bool eddy__batch_axes(const eddy_batch *b, int i, eddy_dims *axes);
/* A list of one entry a dimension gets another for the axis of examples, in front;
 * false if there is no room. */
bool eddy__batch_entries(eddy_dims *d, int64_t first);

/* x with axes a and b exchanged; with `count` new axes of size 1 before axis `at`. */
eddy_tensor eddy__batch_swap(eddy_tensor x, int a, int b);
eddy_tensor eddy__batch_widen(eddy_tensor x, int at, int count);

/* The rule of every elementwise op: ranks made equal behind the axis of examples. */
void eddy__batch_elementwise(eddy_batch *b);
/* As op->batch: output 0 has the elements of input 0 under another shape; and
 * input 0 broadcast to another shape. */
void eddy__batch_reshape(eddy_batch *b);
void eddy__batch_broadcast(eddy_batch *b);

#endif
