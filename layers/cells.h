/* cells.h -- the weights and steps of recurrent cells, and their unrolled networks; not
 * installed. */
#ifndef EDDY_LAYERS_CELLS_H
#define EDDY_LAYERS_CELLS_H

#include "layers/internal.h"
#include "layers/recurrent.h"

enum { CELL_STEPS = 65535 };

/* The default name of a cell; NULL if `kind` is invalid. */
const char *eddy__cell_name(const eddy_cell *cell);

/* Checks the option `what`, a number of columns: positive, and small enough for the columns of all
 * gates to be counted; otherwise reports an error. */
bool eddy__cell_check_size(const eddy_layer *l, const char *what, int64_t n);

/* The parts of a kernel for x and for h, and the bias. */
typedef struct eddy_cell_weights {
    eddy_tensor x, h, bias;
} eddy_cell_weights;

/* The description of a kernel. */
typedef struct eddy_cell_kernel {
    int64_t     inputs, states;     /* its rows: those for x and for h */
    int         parts;              /* as many columns as the cell has units, times this */
    const char *scope;              /* of its variables; NULL: that of the layer */
    eddy_init   bias;               /* the default of the bias */
    int         part;               /* as in eddy_layer_weight */
} eddy_cell_kernel;

eddy_cell_weights eddy__cell_weights(const eddy_layer *l, const eddy_cell *cell,
                                     eddy_cell_kernel k);

/* x w + b, [..., columns]: one product for all steps. */
eddy_tensor eddy__cell_product(eddy_tensor x, eddy_tensor w, eddy_tensor bias);

/* The number that an LSTM adds to its bias: cell->forget_bias for the second of four parts, else
 * 0. */
eddy_tensor eddy__cell_forget(eddy_graph *g, const eddy_cell *cell, eddy_dtype dtype);

/* A basic cell, which uses only the candidate, or a GRU. */
typedef struct eddy_plain_cell {
    const eddy_cell  *cell;
    eddy_cell_weights gates, candidate;
    eddy_tensor       recurrent_bias;       /* with reset_after */
} eddy_plain_cell;

/* Creates the variables for inputs of n columns. */
void eddy__plain_cell_make(eddy_plain_cell *u, const eddy_layer *l, const eddy_cell *cell,
                           int64_t n);

/* The next h, from the products of x for the gates and for the candidate. */
eddy_tensor eddy__plain_cell_step(const eddy_plain_cell *u, eddy_tensor gates,
                                  eddy_tensor candidate, eddy_tensor h);

/* The h of all steps and, for an LSTM, the c of all steps, [steps, batch, units] each. */
typedef struct eddy_cell_states {
    eddy_tensor h, c;
} eddy_cell_states;

/* x [steps, batch, n]; h and c may be invalid, which means zeros. */
eddy_cell_states eddy__cell_run(const eddy_layer *l, const eddy_cell *cell, eddy_tensor x,
                                eddy_tensor h, eddy_tensor c);

#endif
