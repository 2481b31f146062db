/* other_bits.c -- see other_bits.h. */
#include "tests/lib/other_bits.h"

#include <string.h>

static const other_bits list[] = {
    { "MatMul", EDDY_FLOAT32, SETS | MACHINES, "x", NULL },
};
enum { LISTED = sizeof list / sizeof *list };

int other_bits_count(void) { return LISTED; }
const other_bits *other_bits_at(int i) { return &list[i]; }

eddy_dtype other_bits_type(const eddy_node *n)
{
    for (int i = 0; i < n->n_outputs; i++)
        if (eddy_dtype_is_differentiable(n->outputs[i].dtype)) return n->outputs[i].dtype;
    for (int i = 0; i < n->n_inputs; i++) {
        const eddy_dtype d = eddy_dtype_of(n->inputs[i]);
        if (eddy_dtype_is_differentiable(d)) return d;
    }
    return EDDY_DEFAULT_DTYPE;
}

int other_bits_of(const eddy_node *n, bits_change change)
{
    for (int i = 0; i < LISTED; i++)
        if (list[i].changes & change && strcmp(list[i].op, n->op->name) == 0 &&
            list[i].dtype == other_bits_type(n))
            return i;
    return -1;
}
