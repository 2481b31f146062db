/* control.c -- ops that pass values on or only order others. */
#include "ops/rows.h"
#include "graph/internal.h"

static bool same_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

/* ------------------------------------------------------------- identity -- */

static void identity_gradient(eddy_rule *r) { r->dx[0] = r->dy[0]; }

const eddy_op_def eddy_op_identity = {
    .name = "Identity", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .flags = EDDY_OP_ALIAS,
    .infer = same_infer, .gradient = identity_gradient,
};

/** y = x. Gradient: dx = dy. TensorFlow's Identity. */
eddy_tensor eddy_identity(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_identity, NULL, x);
}

/* -------------------------------------------------------- stop_gradient -- */

const eddy_op_def eddy_op_stop_gradient = {
    .name = "StopGradient", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .flags = EDDY_OP_ALIAS,
    .infer = same_infer, .gradient = eddy_not_differentiable,
};

/** y = x, a constant to differentiation. Gradient: none. TensorFlow's StopGradient. */
eddy_tensor eddy_stop_gradient(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_stop_gradient, NULL, x);
}

/* ----------------------------------------------------- prevent_gradient -- */

typedef struct prevent_attrs {
    const char *message;
} prevent_attrs;
static const eddy_attr_field prevent_fields[] = {
    { "message", EDDY_ATTR_STRING, offsetof(prevent_attrs, message) }, { 0 }
};

static void prevent_gradient(eddy_rule *r)
{
    const prevent_attrs *a = r->attrs;
    eddy_rule_fail(r, EDDY_NO_GRADIENT, "Gradient explicitly disabled. Reason: %s", a->message);
}

const eddy_op_def eddy_op_prevent_gradient = {
    .name = "PreventGradient",
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .flags = EDDY_OP_ALIAS,
    .attrs_size = sizeof(prevent_attrs),
    .attrs = prevent_fields,
    .infer = same_infer,
    .gradient = prevent_gradient,
};

/** y = x; differentiating through it is the error NO_GRADIENT with `message`.
 *
 *  TensorFlow's PreventGradient. */
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

/** An operation that does nothing, after its control inputs. TensorFlow's NoOp. */
eddy_tensor eddy_no_op(eddy_graph *g, const char *name)
{
    return eddy_apply(&eddy_op_no_op, NULL, 0, NULL, (eddy_apply_args){ .graph = g, .name = name });
}

/** One operation that runs all of `members`; fetched, it yields nothing.
 *
 *  name  NULL for the default, "group_deps"
 *
 *  TensorFlow's group. */
eddy_tensor eddy_group(eddy_graph *g, eddy_list members, const char *name)
{
    eddy_control_begin(g, members);
    eddy_tensor t = eddy_no_op(g, name ? name : "group_deps");
    eddy_control_end(g);
    return t;
}

/** out[i] = members.at[i], none of them before all are computed.
 *
 *  members  invalid entries stay invalid; all invalid is an error
 *  out      room for members.count tensors; may be the members' own list
 *  name     scope, default "tuple"
 *
 *  Errors: INVALID_ARGUMENT "Must have at least one Tensor". Gradient: dy.
 *  TensorFlow's tuple. */
void eddy_tuple(eddy_graph *g, eddy_list members, eddy_tensor *out, const char *name)
{
    int valid = 0;
    if (!eddy_graph_ready(g) || !out) return;
    for (int i = 0; members.at && i < members.count; i++) valid += eddy_is_valid(members.at[i]);
    if (valid == 0) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "tuple: Must have at least one Tensor");
        return;
    }
    size_t       bytes = (size_t)valid * sizeof(eddy_tensor);
    eddy_tensor *some = eddy_allocate(eddy_graph_allocator(g), bytes);
    if (!some) {
        eddy_fail(g, EDDY_NO_MEMORY, "tuple: out of memory");
        return;
    }
    int n = 0;
    for (int i = 0; i < members.count; i++)
        if (eddy_is_valid(members.at[i])) some[n++] = members.at[i];
    eddy_scope_begin(g, name ? name : "tuple");
    eddy_tensor all = eddy_group(g, (eddy_list){ n, some }, NULL);
    eddy_control_begin(g, EDDY_LIST(all));
    for (int i = 0; i < members.count; i++) {
        eddy_tensor t = members.at[i];          /* out may be the same list */
        out[i] = eddy_is_valid(t) ? eddy_apply(&eddy_op_identity, NULL, 1, &t,
                                               (eddy_apply_args){ .name = "control_dependency" })
                                  : eddy_none(g);
    }
    eddy_control_end(g);
    eddy_scope_end(g);
    eddy_release(eddy_graph_allocator(g), some, bytes);
}
