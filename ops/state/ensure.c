/* ensure.c -- a value that exists only if a condition holds. */
#include "graph/kernel.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct ensure_attrs {
    const char *message;
} ensure_attrs;

static bool ensure_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

static eddy_status ensure_kernel(eddy_kernel *k)
{
    const ensure_attrs *a = k->attrs;
    const eddy_buffer  *x = k->in[0], *holds = k->in[1];
    const size_t        bytes = (size_t)x->count * eddy_dtype_size(x->type.dtype);
    for (int64_t i = 0; i < holds->count; i++)
        if (!((const bool *)holds->data)[i])
            return *a->message
                       ? eddy__kernel_fail_for_call(k, EDDY_CHECK_FAILED, a->message)
                       : eddy_kernel_fail(k, EDDY_CHECK_FAILED, "the condition is false");
    if (bytes > 0 && k->out[0]->data != x->data) memcpy(k->out[0]->data, x->data, bytes);
    return EDDY_OK;
}

static void ensure_gradient(eddy_rule *r) { r->dx[0] = r->dy[0]; }

/* All conditions must hold, so their shape does not matter. */
static void ensure_batch(eddy_batch *b)
{
    const ensure_attrs *a = b->attrs;
    b->y[0] = eddy_ensure(eddy_batch_input(b, 0), b->x[1], a->message);
}

const eddy_op_def eddy_op_ensure = {
    .name = "Ensure", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_ANY_TYPE }, { "holds", EDDY_TAKES_BOOLS }),
    .flags = EDDY_OP_IN_PLACE,
    .attrs_size = sizeof(ensure_attrs), .attrs = EDDY_ATTRS(ensure_attrs, message),
    .infer = ensure_infer, .kernel = ensure_kernel, .gradient = ensure_gradient,
    .batch = ensure_batch };

/** y = x, and the run fails if an element of `holds` is false.
 *
 *  x        any element type, any shape
 *  holds    bool, any shape
 *  message  begins the error message; default: the operation, and that the condition is false
 *
 *  Unlike eddy_assert it has no side effect: only runs that need y check the condition, and loops
 *  that contain it can be mapped over examples (eddy_vmap).
 *  Errors: EDDY_CHECK_FAILED at run time.
 *  Gradient: dx = dy; none for `holds`. */
eddy_tensor eddy_ensure(eddy_tensor x, eddy_tensor holds, const char *message)
{
    const ensure_attrs a = { message };
    const eddy_tensor  in[2] = { x, holds };
    return eddy_apply(&eddy_op_ensure, &a, 2, in, (eddy_apply_args){ 0 });
}
