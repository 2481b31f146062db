/* body_updates.c -- updates of variables as functions. A body (graph/body.h) has no variables: a
 * variable that it updates is one of its values, and a node that updates it yields a new one. Its
 * operation is that of the update, but computes on a copy of its first operand. */
#include "graph/internal.h"

#include <string.h>

enum { MOST = 8 };              /* inputs */

typedef struct updated_op {
    eddy_op_def        def;
    const eddy_op_def *of;      /* the update itself */
} updated_op;

/* The output takes the variable's place. */
static eddy_status kernel(eddy_kernel *k)
{
    const eddy_op_def *of = ((const updated_op *)(const void *)k->op)->of;
    eddy_buffer        var = *k->out[0], *in[MOST] = { &var };
    const size_t       bytes = (size_t)k->in[0]->count * eddy_dtype_size(var.type.dtype);
    if (var.count != k->in[0]->count) return EDDY_BAD_SHAPE;     /* only a file can say so */
    if (bytes > 0 && var.data != k->in[0]->data) memcpy(var.data, k->in[0]->data, bytes);
    for (int i = 1; i < k->n_in; i++) in[i] = k->in[i];
    eddy_kernel inner = *k;
    inner.op = of;
    inner.in = in;
    inner.n_out = 0;
    return of->kernel(&inner);
}

const eddy_op_def *eddy__update_of(const eddy_op_def *op)
{
    return op->kernel == kernel ? ((const updated_op *)(const void *)op)->of : op;
}

const eddy_op_def *eddy__updated_op(eddy_graph *g, const eddy_op_def *given)
{
    const eddy_op_def *of = eddy__update_of(given);
    const unsigned never = EDDY_OP_REFERENCE | EDDY_OP_UPDATES | EDDY_OP_REPLACES |
                           EDDY_OP_SIDE_EFFECT | EDDY_OP_STATEFUL | EDDY_OP_READ;
    if (of == given && !(of->flags & EDDY_OP_UPDATES)) return of;
    if (of->max_inputs == EDDY_MANY || of->max_inputs > MOST || of->outputs != 1) return of;
    updated_op *op = eddy__arena_alloc(&g->arena, sizeof *op);
    if (!op) return NULL;
    op->def = *of;
    op->of = of;
    op->def.flags = (of->flags & ~never) | EDDY_OP_IN_PLACE;
    op->def.kernel = kernel;
    op->def.tile = NULL;
    op->def.gradient = eddy_not_differentiable;
    op->def.batch = NULL;
    return &op->def;
}
