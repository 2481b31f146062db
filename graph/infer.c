/* infer.c -- asking an op for its output types, when a node is built and again
 * when a session compiles it with concrete shapes. */
#include "graph/internal.h"

#include <string.h>

typedef struct infer_call {
    eddy_arena *arena;
    eddy_error *error;
    const char *node;
} infer_call;

bool eddy_infer_fail(eddy_infer *c, eddy_status s, const char *reason, ...)
{
    if (!c || !c->impl || !reason) return false;
    infer_call *call = c->impl;
    char        why[600], message[sizeof call->error->message];
    va_list     args;
    va_start(args, reason);
    vsnprintf(why, sizeof why, reason, args);
    va_end(args);
    eddy_op_message(message, sizeof message, c->op, c->n_in, c->in, why, call->node);
    return eddy_error_set(call->error, s, "%s", message);
}

bool eddy_infer_outputs(eddy_infer *c, int n)
{
    if (!c || !c->impl) return false;
    infer_call *call = c->impl;
    if (n < 0 || n > EDDY_MAX_INPUTS)
        return eddy_infer_fail(c, EDDY_LIMIT, "%d outputs, not 0 to %d", n, EDDY_MAX_INPUTS);
    c->out = eddy_arena_alloc(call->arena, (size_t)n * sizeof *c->out);
    if (!c->out) return eddy_infer_fail(c, EDDY_NO_MEMORY, "out of memory for %d outputs", n);
    memset(c->out, 0, (size_t)n * sizeof *c->out);
    c->n_out = n;
    return true;
}

/* A tensor's bytes stay within 2^47. */
static bool output_is_valid(eddy_infer *c, int i)
{
    char text[100];
    eddy_type t = c->out[i];
    if (eddy_dtype_size(t.dtype) == 0)
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "output %d has no element type", i);
    if (!eddy_shape_is_valid(t.shape))
        return eddy_infer_fail(
            c, EDDY_LIMIT,
            "output %d would have the shape %s, beyond the limits of rank %d and 2^48 elements", i,
            eddy_shape_print(t.shape, text, sizeof text), EDDY_MAX_RANK);
    int64_t count = eddy_shape_count(t.shape);
    if (count > ((int64_t)1 << 47) / (int64_t)eddy_dtype_size(t.dtype))
        return eddy_infer_fail(c, EDDY_LIMIT,
                               "output %d would have the shape %s, more than 2^47 bytes", i,
                               eddy_shape_print(t.shape, text, sizeof text));
    return true;
}

bool eddy_infer_types(const eddy_op_def *op, void *attrs, bool attrs_fixed, int n,
                      const eddy_type *in, const eddy_array *const *value, eddy_arena *arena,
                      eddy_type **out, int *n_out, const char *node, eddy_error *error)
{
    infer_call call = { arena, error, node };
    eddy_infer c = {
        .op = op, .attrs = attrs, .in = in, .value = value, .n_in = n,
        .attrs_fixed = attrs_fixed, .impl = &call,
    };
    int outputs = op->outputs > 0 ? op->outputs : 0;
    if (!eddy_infer_outputs(&c, outputs)) return false;
    if (!op->infer(&c))
        return error->status != EDDY_OK ? false
             : eddy_infer_fail(&c, EDDY_INTERNAL, "the op refuses its inputs without saying why");
    for (int i = 0; i < c.n_out; i++)
        if (!output_is_valid(&c, i)) return false;
    *out = c.out;
    *n_out = c.n_out;
    return true;
}

/* -------------------------------------------------------------- counting -- */

double eddy_flops_per_input(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs; (void)out;
    return n_in > 0 ? (double)eddy_shape_count(in->shape) : 0;
}

double eddy_flops_per_output(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs; (void)n_in; (void)in;
    return (double)eddy_shape_count(out->shape);
}
