/* rnn_internal.h -- declarations shared by recurrent networks, cells and their wrappers; not
 * installed. */
#ifndef EDDY_LAYERS_RNN_INTERNAL_H
#define EDDY_LAYERS_RNN_INTERNAL_H

#include "layers/internal.h"
#include "layers/rnn.h"

static inline const char *eddy__cell_title(const eddy_rnn_cell *cell)
{
    return cell->f.name ? cell->f.name : "the cell";
}

/* The cell can be used; otherwise an error on the graph, unless it has one. */
bool eddy__cell_check(eddy_graph *g, const char *who, const eddy_rnn_cell *cell);

/* Checks the cell and calls its prepare with the type of an input. */
bool eddy__cell_prepare(eddy_graph *g, const char *who, const eddy_rnn_cell *cell, eddy_type x);

/* g is the graph of the cell, `owner`; otherwise an error on g. */
bool eddy__cell_belongs(eddy_graph *g, const char *who, const eddy_graph *owner);

/* f of a projected input, with its results checked: the output; invalid with the error set. */
eddy_tensor eddy__cell_call(const char *who, const eddy_rnn_cell *cell, eddy_tensor x,
                            const eddy_tensor *state, eddy_tensor *next);

/* x as the cell's f takes it. */
static inline eddy_tensor eddy__cell_project(const eddy_rnn_cell *cell, eddy_tensor x)
{
    return cell->project ? cell->project(x, cell->f.context) : x;
}

/* The shape of a batch of tensors that have shape s for one example; s itself if it is of unknown
 * rank or has no room for one dimension more. */
static inline eddy_shape eddy__with_batch(eddy_shape s, int64_t batch)
{
    if (s.rank < 0 || s.rank >= EDDY_MAX_RANK) return s;
    for (int d = s.rank++; d > 0; d--) s.dim[d] = s.dim[d - 1];
    s.dim[0] = batch;
    return s;
}

/* Zeroed memory that lives as long as the graph; NULL with the error set. */
void *eddy__cell_room(eddy_graph *g, const char *who, size_t size);

/* A copy of `name`, or of `otherwise` if that is NULL or empty, in such memory. */
const char *eddy__cell_text(eddy_graph *g, const char *name, const char *otherwise);

/* A cell that has an error, or for which no memory was left. */
#define EDDY_NO_CELL ((eddy_rnn_cell){ .f = { .build = NULL } })

#endif
