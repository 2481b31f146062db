/* segments.h -- loops in segments: their lengths (segment_lengths.c), rows (segment_rows.c) and
 * nodes (segments.c). */
#ifndef EDDY_CONTROL_SEGMENTS_H
#define EDDY_CONTROL_SEGMENTS_H

#include "control/loop_spec.h"

typedef struct segments {
    eddy_graph      *graph;
    const loop_spec *of;            /* the loop as it is called */
    int64_t          n, k, m;       /* iterations, those of a segment, segments; or EDDY_ANY */
    bool             partial;       /* a segment may have less than k iterations */
    eddy_tensor      total;         /* if so: the number of iterations, an int64 scalar */
} segments;

/* The options are valid; otherwise the graph has the error. */
bool eddy__segments_check(eddy_graph *g, const loop_spec *s);
/* The number of iterations of the loop, or EDDY_ANY. */
int64_t eddy__segments_iterations(const loop_spec *s);
/* The iterations of a segment of a loop of n; 0: the loop has no segments. */
int64_t eddy__segments_length(const loop_spec *s, int64_t n);

/* Whether the number of rows, or that all tensors have the same number, is known only in a run; and
 * that number as a tensor. */
bool        eddy__segments_open(const segments *s);
eddy_tensor eddy__segments_rows(const segments *s);
/* Rows x [n, ...] as [m, k, ...], and a stack [m, k, ...] as [n, ...]. */
eddy_tensor eddy__segments_split(const segments *s, eddy_tensor x);
eddy_tensor eddy__segments_join(const segments *s, eddy_tensor stack);

#endif
