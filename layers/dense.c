/* dense.c -- fully connected (dense) layers with variables of their own. */
#include "layers/internal.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

/* x as a matrix: all dimensions except the last are merged. */
static eddy_tensor as_matrix(eddy_tensor x)
{
    if (eddy_shape_of(x).rank == 2) return x;
    return eddy_merge_leading(x, eddy_sum(x, .axes = EDDY_AXES(-1)));
}

static eddy_tensor build_dense(const eddy_layer *l, const eddy_dense_args *a)
{
    const eddy_shape s = eddy_shape_of(a->x);
    const eddy_layer_weight kernel = {
        .name = "kernel", .shape = EDDY_SHAPE(s.dim[s.rank - 1], a->units),
        .init = a->kernel_initializer, .otherwise = eddy_glorot_uniform_initializer(),
        .regularizer = a->kernel_regularizer,
    };
    const eddy_layer_weight bias = {
        .name = "bias", .shape = EDDY_SHAPE(a->units), .init = a->bias_initializer,
        .regularizer = a->bias_regularizer,
    };
    eddy_tensor y = MatMul(as_matrix(a->x), eddy__layer_variable(l, kernel));
    if (!a->no_bias) y = BiasAdd(y, eddy__layer_variable(l, bias));
    return eddy__layer_activate(a->activation, eddy__layer_restore_dims(y, a->x, s.rank - 1));
}

eddy_tensor eddy_dense_with(const eddy_dense_args *given)
{
    eddy_dense_args a = EDDY_TAKE(eddy_dense_args, given);
    const eddy_shape s = eddy_shape_of(a.x);
    eddy_layer l = { .who = "dense", .name = a.name, .reuse = a.reuse,
                     .not_trainable = a.not_trainable, .seed = a.seed };
    const eddy_tensor none = eddy_none(a.x.graph);
    char text[200];
    if (!eddy__layer_check_input(&l, a.x)) return none;
    if (s.rank < 2 || s.dim[s.rank - 1] < 0)
        return eddy_fail(l.graph, EDDY_BAD_SHAPE,
                         "dense: x has shape %s; rank 2 or more and a known last "
                         "dimension expected [scope '%.200s']",
                         eddy_shape_print(s, text, sizeof text), a.name ? a.name : "dense");
    if (!eddy__layer_check_count(&l, "units", a.units)) return none;
    eddy__layer_begin(&l);
    return eddy__layer_end(&l, build_dense(&l, &a));
}
