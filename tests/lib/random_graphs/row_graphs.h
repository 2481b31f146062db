/* row_graphs.h -- rows of the sweep on shapes that are not theirs: the shapes, and a graph of the
 * row and its gradients, which may be refused. */
#ifndef EDDY_TESTS_LIB_ROW_GRAPHS_H
#define EDDY_TESTS_LIB_ROW_GRAPHS_H

#include "tests/lib/bits/same_bits.h"
#include "tests/lib/sweep_rows.h"

enum { ROW_SHAPES = 64 };

typedef struct row_shapes {
    int        n;
    eddy_shape of[ROW_SHAPES][SWEEP_INPUTS];
} row_shapes;

/* The row's shapes with the size `to` in place of one dimension; of all dimensions of a size; of
 * all of an input; of all. The last shapes are vectors. */
row_shapes row_shapes_with(const sweep_row *r, int64_t to);

typedef struct row_graph {
    const sweep_row *row;
    char             title[200];        /* the row and its shapes, for failures */
    trial            t;                 /* t.tensor[k] is input k */
    fetches          fetch;             /* the outputs, and gradients of both orders */
    eddy_tensor      f, f2;             /* the sums of the outputs, and of their gradients */
    eddy_tensor      dx[SWEEP_INPUTS], ddx[SWEEP_INPUTS];
} row_graph;

/* A graph without nodes; an allocator of NULL is libc's. */
void row_graph_begin(row_graph *b, const sweep_row *r, const eddy_shape *shape, const char *what,
                     const eddy_allocator *allocator);
/* Builds the row on its inputs, and gradients of the first and second order, if it has any. False
 * if the graph refuses them. */
bool row_graph_build(row_graph *b);

/* The message begins with the name of an operation or function, and has a number or a shape; or it
 * is about the shape of a feed or the memory of the run. */
void row_message_is_clear(const row_graph *b, const char *message);

#endif
