/* identity_and_group.c -- identity, stop_gradient, no_op, group and related operations: they only
 * forward values or order other operations. */
#include "ops/math/elementwise_rows.h"
#include "graph/call_options.h"
#include "graph/internal.h"

#include <string.h>

static bool same_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

/* ------------------------------------------------------------- identity -- */

static void identity_gradient(eddy_rule *r) { r->dx[0] = r->dy[0]; }

const eddy_op_def eddy_op_identity = {
    .name = "Identity", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .flags = EDDY_OP_ALIAS,
    .infer = same_infer, .gradient = identity_gradient, .batch = eddy_batch_as_is,
};

/** y = x.
 *
 *  Gradient: dx = dy.  TensorFlow: Identity. */
eddy_tensor eddy_identity(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_identity, NULL, x);
}

/* -------------------------------------------------------- stop_gradient -- */

const eddy_op_def eddy_op_stop_gradient = {
    .name = "StopGradient", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .flags = EDDY_OP_ALIAS,
    .infer = same_infer, .gradient = eddy_not_differentiable, .batch = eddy_batch_as_is,
};

/** y = x, treated as a constant by differentiation.
 *
 *  Gradient: none.  TensorFlow: StopGradient. */
eddy_tensor eddy_stop_gradient(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_stop_gradient, NULL, x);
}

/* ---------------------------------------------------- grad_pass_through -- */

static bool pass_through_infer(eddy_infer *c)
{
    const eddy_type *y = &c->in[0], *x = &c->in[1];
    if (y->dtype != x->dtype || !eddy_shape_compatible(y->shape, x->shape))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the value and the tensor that receives its gradient must have the "
                               "same type and shape");
    return same_infer(c);
}

static void pass_through_gradient(eddy_rule *r) { r->dx[1] = r->dy[0]; }

const eddy_op_def eddy_op_grad_pass_through = {
    .name = "GradPassThrough", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .flags = EDDY_OP_ALIAS,
    .infer = pass_through_infer, .gradient = pass_through_gradient,
    .batch = eddy_batch_as_is,
};

/** Returns the value of y with the gradient of x: the gradient reaches x unchanged, but not the
 *  operations from which y was built.
 *
 *  y, x  of the same element type and shape
 *
 *  This is the straight-through estimator: eddy_grad_pass_through(eddy_round(x), x).
 *  Errors: EDDY_BAD_SHAPE if the two differ in type or shape.
 *  Gradient: dx = the gradient of the result; y has none.  TensorFlow: tf.grad_pass_through. */
eddy_tensor eddy_grad_pass_through(eddy_tensor y, eddy_tensor x)
{
    return eddy_apply2(&eddy_op_grad_pass_through, NULL, y, x);
}

/* ----------------------------------------------------------- identity_n -- */

typedef struct identity_n_attrs {
    int64_t outputs;
} identity_n_attrs;
static bool identity_n_infer(eddy_infer *c)
{
    const identity_n_attrs *a = c->attrs;
    if (a->outputs < 1 || a->outputs > c->n_in)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the number of outputs is %lld; expected "
                               "at least 1 and at most the number of inputs, %d",
                               (long long)a->outputs, c->n_in);
    if (!eddy_infer_outputs(c, (int)a->outputs)) return false;
    for (int k = 0; k < (int)a->outputs; k++) c->out[k] = c->in[k];
    return true;
}

static eddy_status identity_n_kernel(eddy_kernel *k)
{
    for (int i = 0; i < k->n_out; i++) {
        const eddy_buffer *y = k->out[i];
        if (y->count > 0)
            memcpy(y->data, k->in[i]->data, (size_t)y->count * eddy_dtype_size(y->type.dtype));
    }
    return EDDY_OK;
}

static void identity_n_gradient(eddy_rule *r)
{
    for (int k = 0; k < r->n_out; k++) r->dx[k] = r->dy[k];
}

/* Inputs that only order are not repeated for the examples. */
static void identity_n_batch(eddy_batch *b)
{
    const eddy_allocator *memory = eddy__graph_allocator(b->graph);
    const size_t bytes = (size_t)b->n_in * sizeof(eddy_tensor);
    eddy_tensor *x = eddy__allocate(memory, bytes);
    if (!x) {
        eddy_fail(b->graph, EDDY_NO_MEMORY, "vmap: out of memory for %d inputs", b->n_in);
        return;
    }
    for (int i = 0; i < b->n_in; i++) x[i] = i < b->n_out ? eddy_batch_input(b, i) : b->x[i];
    eddy_tensor y = eddy_identity_n((eddy_list){ b->n_in, x }, b->n_out);
    for (int k = 0; k < b->n_out; k++) b->y[k] = eddy_output(y, k);
    eddy__release(memory, x, bytes);
}

const eddy_op_def eddy_op_identity_n = {
    .name = "IdentityN", .min_inputs = 1, .max_inputs = EDDY_MANY, .outputs = EDDY_MANY,
    .flags = EDDY_OP_ALIAS_IF_EQUAL,
    .attrs_size = sizeof(identity_n_attrs), .attrs = EDDY_ATTRS(identity_n_attrs, outputs),
    .infer = identity_n_infer, .kernel = identity_n_kernel, .gradient = identity_n_gradient,
    .batch = identity_n_batch,
};

/** Forwards the first `outputs` tensors unchanged, as the outputs of one node: returns output 0;
 *  eddy_output(y, k) gives the others.
 *
 *  x        any tensors of one graph
 *  outputs  in [1, x.count]; the node only runs after the remaining tensors
 *
 *  Custom gradients are built on it.
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid `outputs`.
 *  Gradient: dx[k] = dy[k]; the remaining tensors have none.  TensorFlow: IdentityN. */
eddy_tensor eddy_identity_n(eddy_list x, int outputs)
{
    return eddy_apply(&eddy_op_identity_n, &(identity_n_attrs){ outputs }, x.count, x.at,
                      (eddy_apply_args){ 0 });
}

/* ----------------------------------------------------- prevent_gradient -- */

typedef struct prevent_attrs {
    const char *message;
} prevent_attrs;
static void prevent_gradient(eddy_rule *r)
{
    const prevent_attrs *a = r->attrs;
    eddy_rule_fail(r, EDDY_NO_GRADIENT, "Gradient explicitly disabled. Reason: %s", a->message);
}

const eddy_op_def eddy_op_prevent_gradient = {
    .name = "PreventGradient", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_ALIAS, .attrs_size = sizeof(prevent_attrs),
    .attrs = EDDY_ATTRS(prevent_attrs, message), .infer = same_infer, .gradient = prevent_gradient,
    .batch = eddy_batch_as_is,
};

/** y = x, which cannot be differentiated.
 *
 *  message  the reason, shown in the error message
 *
 *  Gradient: none; requesting it is the error EDDY_NO_GRADIENT.  TensorFlow: PreventGradient. */
eddy_tensor eddy_prevent_gradient(eddy_tensor x, const char *message)
{
    return eddy_apply1(&eddy_op_prevent_gradient, &(prevent_attrs){ message }, x);
}

/* --------------------------------------------------------- no_op, group -- */

static bool no_op_infer(eddy_infer *c)
{
    (void)c;
    return true;
}

const eddy_op_def eddy_op_no_op = {
    .name = "NoOp", .outputs = 0, .infer = no_op_infer, .gradient = eddy_not_differentiable,
};

#ifdef EDDY_HEADER
typedef struct eddy_no_op_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_no_op_args));
    eddy_graph *graph;
    const char *name;       /* default "NoOp" */
} eddy_no_op_args;

typedef struct eddy_group_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_group_args));
    eddy_graph *graph;
    eddy_list   members;
    const char *name;       /* default "group_deps" */
} eddy_group_args;

typedef struct eddy_tuple_args {
    size_t       size_ EDDY_DEFAULT(sizeof(eddy_tuple_args));
    eddy_graph  *graph;
    eddy_list    members;
    eddy_tensor *out;       /* room for members.count tensors */
    const char  *name;      /* name of the scope; default "tuple" */
} eddy_tuple_args;
#endif

/** Returns an operation that does nothing, after its control inputs.
 *
 *  Gradient: none.  TensorFlow: NoOp. */
eddy_tensor eddy_no_op_with(const eddy_no_op_args *given)
{
    eddy_no_op_args a = EDDY_TAKE(eddy_no_op_args, given);
    return eddy_apply(&eddy_op_no_op, NULL, 0, NULL,
                      (eddy_apply_args){ .graph = a.graph, .name = a.name });
}

/** Returns an operation that runs all `members`; it has no value.
 *
 *  name  default "group_deps"
 *
 *  TensorFlow: tf.group. */
eddy_tensor eddy_group_with(const eddy_group_args *given)
{
    eddy_group_args a = EDDY_TAKE(eddy_group_args, given);
    eddy_control_begin(a.graph, a.members);
    eddy_tensor t = eddy_no_op(a.graph, a.name ? a.name : "group_deps");
    eddy_control_end(a.graph);
    return t;
}

/** out[i] = members.at[i], available only after all members are computed.
 *
 *  members  invalid entries stay invalid, and slices stay slices; at least one must be valid
 *  out      room for members.count tensors; may be members.at
 *  name     name of the scope; default "tuple"
 *
 *  Errors: EDDY_INVALID_ARGUMENT if no member is valid.
 *  Gradient: each member receives the gradient of its output.  TensorFlow: tf.tuple. */
void eddy_tuple_with(const eddy_tuple_args *given)
{
    eddy_tuple_args a = EDDY_TAKE(eddy_tuple_args, given);
    eddy_graph     *g = a.graph;
    const eddy_list members = a.members;
    eddy_tensor    *out = a.out;
    int             valid = 0;
    if (!eddy__graph_ready(g) || !out) return;
    for (int i = 0; members.at && i < members.count; i++) valid += eddy_is_valid(members.at[i]);
    if (valid == 0) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "tuple: Must have at least one Tensor");
        return;
    }
    size_t       bytes = (size_t)valid * sizeof(eddy_tensor);
    eddy_tensor *some = eddy__allocate(eddy__graph_allocator(g), bytes);
    if (!some) {
        eddy_fail(g, EDDY_NO_MEMORY, "tuple: out of memory");
        return;
    }
    int n = 0;
    for (int i = 0; i < members.count; i++) {
        if (!eddy_is_valid(members.at[i])) continue;
        some[n] = members.at[i];
        eddy_slices_parts(members.at[i], &some[n++], NULL);
    }
    eddy_scope_begin(g, a.name ? a.name : "tuple");
    eddy_tensor all = eddy_group(g, (eddy_list){ n, some });
    eddy_control_begin(g, EDDY_LIST(all));
    for (int i = 0; i < members.count; i++) {
        eddy_tensor t = members.at[i], value = t;          /* out may be the same list */
        out[i] = eddy_none(g);
        if (!eddy_is_valid(t)) continue;
        const bool sliced = eddy_slices_parts(t, &value, NULL);
        out[i] = eddy_apply(&eddy_op_identity, NULL, 1, &value,
                            (eddy_apply_args){ .name = "control_dependency" });
        if (sliced) out[i] = eddy_slices_with_values(t, out[i]);
    }
    eddy_control_end(g);
    eddy_scope_end(g);
    eddy__release(eddy__graph_allocator(g), some, bytes);
}
