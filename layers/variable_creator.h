/* variable_creator.h -- functions that create the variables of layers in the caller's way: in parts,
 * for example, of which each rank has one. For those who write libraries; layers.h does not include
 * it. */
#ifndef EDDY_LAYERS_VARIABLE_CREATOR_H
#define EDDY_LAYERS_VARIABLE_CREATOR_H

#include "../ops/ops.h"
#include "initial.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A variable that a layer needs. */
typedef struct eddy_variable_request {
    eddy_graph *graph;
    const char *name;                /* in the open scope, which is that of the layer: "kernel" */
    eddy_dtype  dtype;               /* float32 or float64 */
    eddy_shape  shape;               /* fully known */
    eddy_init   init;                /* the initial value; never zeroed */
    int64_t     seed;                /* of init, if it has none */
    bool        not_trainable;
} eddy_variable_request;

/* The variable itself: what layers have without a creator. Errors: those of eddy_initial_value. */
EDDY_API eddy_tensor eddy_create_variable(const eddy_variable_request *r);

/* Creates what a layer uses in place of the variable: a tensor of its type and shape
 * (EDDY_INVALID_ARGUMENT for another), or any after an error. Layers that it builds ask the next outer
 * function. `context` is that of eddy_variable_creator_begin. */
typedef eddy_tensor (*eddy_variable_creator)(void *context, const eddy_variable_request *r);

/* Variables of the layers that are built until eddy_variable_creator_end are created by `create`; the
 * innermost of several counts. Variables that a layer reuses, and those of eddy_variable and of optimizers,
 * are not. Errors: EDDY_INVALID_ARGUMENT without a function, or for an end without a beginning.
 * tf.variable_creator_scope. */
EDDY_API void eddy_variable_creator_begin(eddy_graph *g, eddy_variable_creator create, void *context);
EDDY_API void eddy_variable_creator_end(eddy_graph *g);

#ifdef __cplusplus
}
#endif
#endif
