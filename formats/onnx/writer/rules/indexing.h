/* indexing.h -- steps that gathers and scatters take (indexing.c). */
#ifndef EDDY_FORMATS_ONNX_INDEXING_H
#define EDDY_FORMATS_ONNX_INDEXING_H

#include "../rules.h"

/* Input i as int64, and indices with a last axis of one element. */
const char *eddy__indices_of(onnx_part *p, int i);
const char *eddy__indices_last(onnx_part *p, const char *x);
const char *eddy__indices_clamped(onnx_part *p, const char *indices);
const char *eddy__indices_scatter(onnx_part *p, const char *to, const char *at, const char *what,
                                  const char *reduction);
/* x, where the index is negative `otherwise`. The axes of the indices are the first `batch` ones of
 * x, and then those from `first` on. */
const char *eddy__indices_masked(onnx_part *p, const char *x, eddy_dtype d, int rank,
                                 const char *indices, int indices_rank, int batch, int first,
                                 double otherwise);
/* Indices [batch, ..., k] of tuples as [batch, ..., batch + k]: those in the whole tensor. */
const char *eddy__indices_in_batch(onnx_part *p, const char *indices, int rank, int batch);
/* The extremes of a tensor and of rows at tuples of indices [..., k] (scatters.c). */
const char *eddy__scatter_extremes(onnx_part *p, const char *to, int rank, const char *at,
                                   int at_rank, const char *what, int what_rank, eddy_dtype d,
                                   bool largest);

#endif
