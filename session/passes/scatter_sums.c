/* scatter_sums.c -- sums of a tensor and one that is zero except in a few rows, such as gradients
 * of a table of which rows are gathered: the rows are added to the tensor, in a loop in its own
 * memory. */
#include "session/passes/match.h"
#include "ops/weak_ops.h"

/* x + rows, if t is such rows and nothing else reads them. */
static eddy_tensor add_rows(rewrite *r, eddy_tensor x, eddy_tensor t)
{
    const ir_node *slices = eddy__rewrite_sole(r, t, &eddy_op_indexed_slices);
    const ir_node *tuples = eddy__rewrite_sole(r, t, &eddy_op_scatter_nd_like);
    if (slices)
        return eddy__rewrite_add(r, &eddy_op_inplace_add, NULL, 3,
                                 (eddy_tensor[]){ x, slices->inputs[1], slices->inputs[0] });
    if (tuples)
        return eddy__rewrite_add(r, &eddy_op_tensor_scatter_add, tuples->attrs, 3,
                                 (eddy_tensor[]){ x, tuples->inputs[1], tuples->inputs[0] });
    return EDDY_NO_TENSOR;
}

bool eddy__add_to_rows(rewrite *r)
{
    const ir_node *n = r->node;
    for (int i = 1; i >= 0; i--) {
        const eddy_tensor x = n->inputs[1 - i], rows = n->inputs[i];
        if (!eddy__same_type(eddy__match_type(r, x), n->outputs[0]) ||
            !eddy__same_type(eddy__match_type(r, rows), n->outputs[0]))
            continue;
        if (eddy__give(r, add_rows(r, x, rows))) return true;
    }
    return false;
}
