/* segment_rows.c -- rows of a loop as segments of rows, and stacks of segments as one stack. Where
 * the last segment is shorter than the others, zeros or other rows follow, which no iteration
 * reads. */
#include "control/segments.h"
#include "ops/ops.h"

#include <stdio.h>

bool eddy__segments_open(const segments *s)
{
    const eddy_list rows = s->of->rows;
    bool            known = rows.count == 0 || s->n >= 0;
    for (int i = 0; i < rows.count && rows.count > 1; i++) {
        const eddy_shape shape = eddy_shape_of(rows.at[i]);
        known = known && shape.rank > 0 && shape.dim[0] >= 0;
    }
    return !known;
}

/* The tensors must have equally many rows, which equally many segments do not show. */
eddy_tensor eddy__segments_rows(const segments *s)
{
    const eddy_list rows = s->of->rows;
    eddy_tensor     n = eddy_index(eddy_shape_tensor(rows.at[0], EDDY_INT64), "0");
    char            differ[128];
    snprintf(differ, sizeof differ, "%s: the tensors to loop over differ in their number of rows",
             s->of->what);
    for (int i = 1; i < rows.count && eddy__segments_open(s); i++) {
        const eddy_tensor other = eddy_index(eddy_shape_tensor(rows.at[i], EDDY_INT64), "0");
        n = eddy_ensure(n, eddy_equal(n, other), differ);
    }
    return n;
}

static eddy_tensor frames(const segments *s, eddy_tensor x)
{
    return eddy_frame(x, s->k, s->k, .pad_end = true, .axis = EDDY_AXES(0));
}

eddy_tensor eddy__segments_split(const segments *s, eddy_tensor x)
{
    const eddy_shape from = eddy_shape_of(x);
    eddy_shape       to = { .rank = from.rank + 1, .dim = { s->m, s->k } };
    int              unknown = 0;
    bool             empty = from.rank > 0 && from.dim[0] == 0;
    if (from.rank < 0) return eddy_gather(x, frames(s, eddy_row_numbers(x, EDDY_INT64)));
    if (from.rank == EDDY_MAX_RANK || from.dim[0] < 0 || from.dim[0] % s->k > 0)
        return frames(s, x);
    for (int d = 1; d < from.rank; d++) {
        to.dim[d + 1] = from.dim[d];
        unknown += from.dim[d] == EDDY_ANY;
        empty = empty || from.dim[d] == 0;
    }
    return unknown == 0 || (unknown == 1 && !empty) ? eddy_reshape(x, to) : frames(s, x);
}

/* A vector with an element for each iteration, of which only the shape is needed. */
static eddy_tensor numbers(const segments *s)
{
    eddy_graph *g = s->graph;
    if (s->of->rows.count > 0) return eddy_row_numbers(s->of->rows.at[0], EDDY_INT64);
    return eddy_fill(eddy_const(g, EDDY_INT64, EDDY_SHAPE(1), &s->n),
                     eddy_number(g, EDDY_INT64, 0));
}

eddy_tensor eddy__segments_join(const segments *s, eddy_tensor stack)
{
    const eddy_tensor each = numbers(s);
    const eddy_tensor all = eddy_merge_leading(stack, eddy__segments_split(s, each));
    return s->partial ? eddy_slice_like(all, eddy_gather(all, each), (eddy_dims){ 0 }) : all;
}
