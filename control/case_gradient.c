/* case_gradient.c -- the gradient of a Case node is a Case node of the gradients of its branches,
 * with the same index.
 *
 * All branches are in one body, which is differentiated once for each branch, in its own graph.
 * The gradients need values that the taken branch computed. They become further results of a
 * second Case node with the same body and inputs, which a session merges with the first. A branch
 * that does not compute such a value returns zeros of its shape, which are not read. */
#include "control/internal.h"
#include "ops/ops.h"

typedef struct branches {
    eddy_rule             *r;
    const eddy_case_attrs *a;
    eddy_graph            *body;
    extraction             e;
    int                    n_branches, n_out, n_args;
    eddy_tensor           *dy;          /* arguments of the new body, by result */
    eddy_tensor           *dx;          /* by branch and argument */
    bool                  *smooth;      /* by argument: some branch has a gradient */
    eddy_tensor           *values;      /* of branches, that gradients need */
    uint8_t               *of;          /* by branch and value: it is the branch's */
    int                    n_values, room_of;
    int32_t                forward;
} branches;

static eddy_tensor argument(const branches *b, int i) { return eddy__tensor_at(b->body, 1 + i, 0); }

static eddy_tensor *dx_of(const branches *b, int branch, int i)
{
    return &b->dx[branch * b->n_args + i];
}

static bool differentiate_branch(branches *b, eddy_arena *arena, int branch)
{
    eddy_tensor *ys = eddy__rule_alloc(b->r, arena, b->n_out, sizeof *ys),
                *dys = eddy__rule_alloc(b->r, arena, b->n_out, sizeof *ys);
    eddy_tensor *xs = eddy__rule_alloc(b->r, arena, b->n_args, sizeof *xs),
                *dxs = eddy__rule_alloc(b->r, arena, b->n_args, sizeof *xs);
    int          n_ys = 0, n_xs = 0;
    if (!ys || !dys || !xs || !dxs) return false;
    for (int k = 0; k < b->n_out; k++) {
        if (!eddy_is_valid(b->dy[k])) continue;
        ys[n_ys] = eddy__body_out(b->body, b->a->outs, (int64_t)branch * b->n_out + k);
        dys[n_ys++] = b->dy[k];
    }
    for (int i = 0; i < b->n_args; i++) {
        *dx_of(b, branch, i) = eddy_none(b->body);
        if (eddy_dtype_is_differentiable(eddy__type_of(argument(b, i)).dtype))
            xs[n_xs++] = argument(b, i);
    }
    if (n_ys == 0 || n_xs == 0) return true;
    if (eddy_gradients(.ys = { n_ys, ys }, .xs = { n_xs, xs }, .out = dxs, .grad_ys = { n_ys, dys },
                       .name = "gradients") != EDDY_OK)
        return false;
    for (int i = 0, x = 0; i < b->n_args; i++) {
        if (!eddy_dtype_is_differentiable(eddy__type_of(argument(b, i)).dtype)) continue;
        *dx_of(b, branch, i) = dxs[x++];
        b->smooth[i] = b->smooth[i] || eddy_is_valid(*dx_of(b, branch, i));
    }
    return true;
}

static bool differentiate(branches *b, eddy_arena *arena)
{
    b->forward = b->body->size;
    b->dy = eddy__rule_alloc(b->r, arena, b->n_out, sizeof *b->dy);
    b->dx = eddy__rule_alloc(b->r, arena, (int64_t)b->n_branches * b->n_args, sizeof *b->dx);
    b->smooth = eddy__rule_alloc(b->r, arena, b->n_args, sizeof *b->smooth);
    if (!b->dy || !b->dx || !b->smooth) return false;
    for (int i = 0; i < b->n_args; i++) b->smooth[i] = false;
    for (int k = 0; k < b->n_out; k++) {
        const bool wanted = eddy_dtype_is_differentiable(b->r->node->outputs[k].dtype) &&
                            eddy_is_valid(b->r->dy[k]);
        b->dy[k] = wanted ? eddy__argument(b->body, b->r->node->outputs[k]) : eddy_none(b->body);
    }
    for (int branch = 0; branch < b->n_branches; branch++)
        if (!differentiate_branch(b, arena, branch)) return false;
    for (int branch = 0; branch < b->n_branches; branch++)
        for (int i = 0; i < b->n_args; i++)
            if (b->smooth[i] && !eddy_is_valid(*dx_of(b, branch, i)))
                *dx_of(b, branch, i) = eddy_zeros_like(argument(b, i));
    return eddy__graph_ready(b->body);
}

static bool is_argument(const branches *b, eddy_tensor t)
{
    return t.node > b->forward || t.node <= b->n_args;
}

/* The values of branch `branch` that its gradients need, and marks for those that earlier
 * branches also need. */
static bool find_values(branches *b, int branch)
{
    extraction   e;
    eddy_tensor *roots = eddy__extract_room(&b->e, b->n_args, sizeof *roots);
    int          n = 0;
    for (int i = 0; roots && i < b->n_args; i++)
        if (b->smooth[i]) roots[n++] = *dx_of(b, branch, i);
    bool ok = roots && eddy__extract_begin(&e, b->body);
    if (ok) {
        e.copies = b->e.copies;
        e.gradient = true;
    }
    ok = ok && eddy__extract_find(&e, n, roots);
    for (int i = 0; ok && i < e.n_captures; i++) {
        const eddy_tensor t = e.captures[i];
        int               v = 0;
        if (is_argument(b, t)) continue;
        while (v < b->n_values && !eddy_same(b->values[v], t)) v++;
        if (v == b->n_values) b->values[b->n_values++] = t;
        b->of[branch * b->room_of + v] = 1;
    }
    if (roots) {
        eddy__extract_end(&e);
        eddy_graph_free(e.body);
    }
    return ok;
}

/* Sizes and positions that are made of constants and of the shapes of tensors. As a value of the
 * branch they could not decide a shape. */
static bool is_of_shapes(const eddy_node *node, const uint8_t *varying)
{
    const unsigned other = EDDY_OP_CONSTANT | EDDY_OP_PLACEHOLDER | EDDY_OP_BODY;
    if (varying[node->id] || (node->op->flags & other)) return false;
    for (int k = 0; k < node->n_outputs; k++)
        if (!eddy_dtype_is_integer(node->outputs[k].dtype)) return false;
    return node->n_outputs > 0;
}

/* Copied to the new body: gradient nodes, and nodes computed from small constants and shapes. */
static bool choose(branches *b)
{
    if (!eddy__extract_begin(&b->e, b->body)) return false;
    b->e.gradient = true;
    const uint8_t *varying = eddy__body_varying(&b->e, b->body, b->n_args);
    if (!varying) return false;
    for (int32_t id = b->n_args + 1; id <= b->body->size; id++) {
        const eddy_node *node = b->body->nodes[id];
        if (id <= b->forward) b->e.copies[id] = is_of_shapes(node, varying);
        else b->e.copies[id] = node->op != &eddy_op_argument;
    }
    b->room_of = b->body->size;
    b->values = eddy__extract_room(&b->e, b->room_of, sizeof *b->values);
    b->of = eddy__extract_room(&b->e, (int64_t)b->n_branches * b->room_of, 1);
    if (!b->values || !b->of) return false;
    for (int branch = 0; branch < b->n_branches; branch++)
        if (!find_values(b, branch)) return false;
    return true;
}

/* The choice with the values as further results. */
static eddy_tensor forward_case(branches *b)
{
    const eddy_case_attrs *a = b->a;
    const int     n_out = b->n_out + b->n_values, row = b->room_of;
    const int64_t length = 2 * (int64_t)b->n_branches * n_out;
    out_list      outs = { eddy__extract_room(&b->e, length, sizeof(int64_t)), 0 };
    if (!outs.at) return eddy_none(b->r->graph);
    for (int branch = 0; branch < b->n_branches; branch++) {
        for (int k = 0; k < b->n_out; k++)
            eddy__out_add(&outs, eddy__body_out(b->body, a->outs, (int64_t)branch * b->n_out + k));
        for (int v = 0; v < b->n_values; v++)
            eddy__out_add(&outs, b->of[branch * row + v]
                                     ? b->values[v] : eddy_zeros_like(b->values[v]));
    }
    if (!eddy__graph_ready(b->body)) return eddy_none(b->r->graph);
    eddy_case_attrs more = *a;
    more.outs = (eddy_ints){ outs.n, outs.at };
    more.n_out = n_out;
    eddy__attrs_share_graphs(&eddy_op_case, &more);
    return eddy_apply(&eddy_op_case, &more, b->r->n_in, b->r->x,
                      (eddy_apply_args){ .graph = b->r->graph });
}

static void backward_case(branches *b, eddy_tensor forward)
{
    extraction  *e = &b->e;
    const int    most = 1 + b->n_out + b->n_values + b->n_args;
    eddy_tensor *in = eddy__extract_room(e, most, sizeof *in);
    eddy_tensor *roots = eddy__extract_room(e, (int64_t)b->n_branches * b->n_args, sizeof *roots);
    out_list     outs = {
            eddy__extract_room(e, 2 * (int64_t)b->n_branches * b->n_args, sizeof(int64_t)), 0
    };
    int          n = 0, n_roots = 0, n_dx = 0;
    if (!in || !roots || !outs.at) return;
    for (int branch = 0; branch < b->n_branches; branch++)
        for (int i = 0; i < b->n_args; i++)
            if (b->smooth[i]) roots[n_roots++] = *dx_of(b, branch, i);
    if (!eddy__extract_find(e, n_roots, roots)) return;
    in[n++] = b->r->x[0];
    for (int k = 0; k < b->n_out; k++) {
        if (!eddy_is_valid(b->dy[k])) continue;
        eddy__extract_argument(e, b->dy[k], eddy__type_of(b->dy[k]));
        in[n++] = b->r->dy[k];
    }
    for (int v = 0; v < b->n_values; v++) {
        eddy__extract_argument(e, b->values[v], eddy__type_of(b->values[v]));
        in[n++] = eddy_output(forward, b->n_out + v);
    }
    for (int i = 0; i < b->n_args; i++) {
        bool needed = false;
        for (int c = 0; c < e->n_captures; c++)
            needed = needed || eddy_same(e->captures[c], argument(b, i));
        if (!needed) continue;
        eddy__extract_argument(e, argument(b, i), eddy__type_of(argument(b, i)));
        in[n++] = b->r->x[1 + i];
    }
    if (!eddy__extract_copy(e)) return;
    for (int i = 0; i < n_roots; i++) eddy__out_add(&outs, eddy__extract_image(e, roots[i]));
    for (int i = 0; i < b->n_args; i++) n_dx += b->smooth[i];
    eddy_case_attrs back = { .body = e->body, .outs = { outs.n, outs.at },
                             .n_branches = b->n_branches, .n_out = n_dx };
    e->body = NULL;                 /* it is the node's */
    const int   waits = eddy__variables_wait(b->r->node, b->r->graph);
    eddy_tensor t =
        eddy_apply(&eddy_op_case, &back, n, in, (eddy_apply_args){ .graph = b->r->graph });
    for (int k = 0; k < waits; k++) eddy_control_end(b->r->graph);
    for (int i = 0, k = 0; i < b->n_args && eddy_is_valid(t); i++)
        if (b->smooth[i]) b->r->dx[1 + i] = eddy_output(t, k++);
}

static void build(branches *b, eddy_arena *arena)
{
    if (!differentiate(b, arena)) return;
    bool any = false;
    for (int i = 0; i < b->n_args; i++) any = any || b->smooth[i];
    if (!any || !choose(b)) return;
    eddy_tensor forward = b->n_values > 0 ? forward_case(b) : eddy_none(b->r->graph);
    if (b->n_values == 0 || eddy_is_valid(forward)) backward_case(b, forward);
}

void eddy__case_gradient(eddy_rule *r)
{
    const eddy_case_attrs *a = r->attrs;
    branches   b = { .r = r, .a = a, .body = a->body, .n_branches = (int)a->n_branches,
                     .n_out = (int)a->n_out, .n_args = r->n_in - 1 };
    eddy_arena arena = { .allocator = eddy__graph_allocator(r->graph) };
    if (eddy__graph_ready(b.body)) build(&b, &arena);
    if (b.e.from) eddy__extract_end(&b.e);
    if (b.e.body) eddy_graph_free(b.e.body);
    if (!eddy__graph_ready(b.body) && eddy__graph_ready(r->graph))
        eddy_rule_fail(r, eddy_graph_status(b.body), "%s", eddy_graph_message(b.body));
    eddy__arena_free(&arena);
}
