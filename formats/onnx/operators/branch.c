/* branch.c -- If. A condition that is known while the graph is built chooses the branch then. */
#include "../body.h"
#include "../../../ops/short_names.h"

static int branch(eddy_list x, eddy_tensor *y, void *context)
{
    (void)x;
    return eddy__onnx_build_body(context, NULL, y);
}

static bool conditional(onnx_build *b)
{
    const onnx_graph *yes = eddy__onnx_graph_attr(b, "then_branch"),
                     *no = eddy__onnx_graph_attr(b, "else_branch");
    onnx_value       *cond = eddy__onnx_value_in(b, 0);
    if (!yes || !no || !cond) return eddy__onnx_invalid(b, "a branch or the condition is missing");
    if (yes->n_outputs < (size_t)b->n_out || no->n_outputs != yes->n_outputs ||
        yes->n_outputs > EDDY_MAX_RESULTS)
        return eddy__onnx_invalid(b, "the branches do not have the outputs of the node");
    if (yes->n_inputs || no->n_inputs) return eddy__onnx_invalid(b, "a branch has inputs");
    const eddy_array *known = eddy__onnx_array_of(b, cond);
    if (known && eddy_array_count(known) == 1) {
        const bool   is = eddy_array_item(known) != 0;
        onnx_value **out = eddy__region_take(b->memory, yes->n_outputs + 1, sizeof *out);
        if (!out ||
            !eddy__onnx_subgraph(b, is ? yes : no, is ? "then_branch" : "else_branch", NULL, out))
            return false;
        for (int i = 0; i < b->n_out; i++) eddy__onnx_put_value(b, i, out[i]);
        return true;
    }
    for (size_t i = 0; i < yes->n_outputs; i++)
        if (yes->outputs[i].kind == ONNX_SEQUENCE || yes->outputs[i].kind == ONNX_OPTIONAL)
            return eddy__onnx_unbound(
                b, "the condition must be a constant, because a branch yields a sequence");
    onnx_body t = { .b = b, .g = yes, .what = "then_branch" },
         e = { .b = b, .g = no, .what = "else_branch" };
    eddy_tensor y[EDDY_MAX_RESULTS];
    eddy__onnx_build_captured(b, yes);
    eddy__onnx_build_captured(b, no);
    const int   n = eddy_cond(Reshape(eddy__onnx_in(b, 0), EDDY_SCALAR),
                              { branch, &t, "then_branch" }, { branch, &e, "else_branch" }, y);
    if (n == 0) return false;
    for (int i = 0; i < b->n_out; i++) eddy__onnx_put_as(b, i, y[i], t.out_types[i]);
    return true;
}

const onnx_operator eddy__onnx_branch[] = {
    { "If", 1, conditional }, { NULL },
};
