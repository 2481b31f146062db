/* einsum.c -- einsum, Einstein summation. einsum_parse.c reads the equation, einsum_products.c
 * computes the products. */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "ops/linear/einsum.h"
#include "ops/short_names.h"

#ifdef EDDY_HEADER
typedef struct eddy_einsum_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_einsum_args));
    const char *equation;         /* "bij,bjk->bik" */
    eddy_list   inputs;
    const char *name;
} eddy_einsum_args;
#endif

/** y = the sum of products of the inputs that the equation describes: "ij,jk->ik" is a matrix
 *  product, "ii" a trace, "bij->bji" a transpose, "...i,...i->..." a batch of dot products.
 *
 *  equation  one term per input, separated by commas, with one letter per axis; after the arrow,
 *            the letters of y, each once.  Letters that are not in y are summed over; a letter
 *            that is repeated in a term takes the diagonal.  "..." stands for any further axes,
 *            which broadcast, and must be in y too.  Without an arrow, y has the ellipsis and, in
 *            alphabetical order, the letters that occur once
 *  inputs    1 to 64 tensors of the same type: float32, float64, int32, int64, complex64 or
 *            complex128
 *  name      of the name scope of its nodes
 *
 *  Inputs are multiplied pairwise, the cheapest pair first as far as sizes are known, mostly as
 *  matrix products.  Axes with the same letter must have the same size.
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid equation, EDDY_BAD_SHAPE for axes that do not
 *  match it or an ellipsis of unknown rank, EDDY_LIMIT for more than 8 letters in a term; those
 *  of the operations it is composed of.
 *  Gradient: that of the operations it is composed of.  TensorFlow: Einsum. */
eddy_tensor eddy_einsum_with(const eddy_einsum_args *given)
{
    eddy_einsum_args a = EDDY_TAKE(eddy_einsum_args, given);
    eddy_axes_of axes[EDDY_EINSUM_INPUTS + 1];
    if (a.inputs.count < 1 || !a.inputs.at)
        return eddy_fail(NULL, EDDY_INVALID_ARGUMENT, "einsum: %s", "no inputs");
    eddy_graph *g = a.inputs.at[0].graph;
    for (int i = 0; i < a.inputs.count; i++)
        if (!eddy_is_valid(a.inputs.at[i])) return eddy_identity(a.inputs.at[i]);
    if (!a.equation || a.inputs.count > EDDY_EINSUM_INPUTS)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "einsum: %s",
                         a.equation ? "more than 64 inputs" : "no equation");
    if (!eddy__einsum_parse(a.equation, a.inputs, axes)) return eddy_none(g);
    eddy_scope_begin(g, a.name ? a.name : "einsum");
    const eddy_tensor y = eddy__contract(a.inputs, axes, &axes[a.inputs.count]);
    eddy_scope_end(g);
    return y;
}
