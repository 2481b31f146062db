/* cells.h -- runs a recurrent cell over the steps of a sequence; not installed. */
#ifndef EDDY_LAYERS_CELLS_H
#define EDDY_LAYERS_CELLS_H

#include "layers/internal.h"
#include "layers/recurrent.h"

enum { CELL_STEPS = 65535 };

/* The default name of a cell; NULL if `kind` is invalid. */
const char *eddy__cell_name(const eddy_cell *cell);

/* The h and, of an LSTM, c of all steps, [steps, batch, units] each. */
typedef struct eddy_cell_states {
    eddy_tensor h, c;
} eddy_cell_states;

/* x [steps, batch, n]; h and c may be without a graph. */
eddy_cell_states eddy__cell_run(const eddy_layer *l, const eddy_cell *cell, eddy_tensor x,
                                eddy_tensor h, eddy_tensor c);

#endif
