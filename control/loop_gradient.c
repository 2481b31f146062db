/* loop_gradient.c -- the gradient of a loop is a loop in the other direction.
 *
 * The body is differentiated in its own graph. Values of the forward iteration that the new nodes
 * need come to the backward one as rows: of an input that the forward loop slices, or of a stack
 * that the forward loop makes of the value in each iteration. For the stacks, a second loop with
 * the same body and inputs and more results is built; a session runs both as one. The backward loop
 * carries the gradients of the carried values, and sums those of the captured ones. It is a loop
 * like any other, so gradients of every order follow.
 *
 * The gradient of a captured matrix W in x W is the sum of x' dy over the iterations: the backward
 * loop stacks dy, and one product of all rows after it takes the place of a sum of products. */
#include "control/internal.h"
#include "ops/linear/matmul.h"
#include "ops/ops.h"
#include "build/gen/table.h"

#include <string.h>

/* A term of the gradient of a stack, and the argument of the new body for a row of it. */
typedef struct incoming {
    eddy_tensor stack, argument;
} incoming;

typedef struct backward {
    eddy_rule             *r;
    const eddy_loop_attrs *a;
    extraction             e;           /* from the body */
    int                    n_carried, n_sliced, n_captured;
    eddy_tensor           *dcarried;    /* arguments of the new body, invalid where there is none */
    incoming              *dstacked;    /* terms of the gradients of stacks */
    int                    n_dstacked, room_dstacked;
    eddy_tensor           *dsum;        /* ... for captured values */
    eddy_tensor           *dx;          /* by argument of the body, less the iteration */
    eddy_tensor           *rows;        /* by argument: x where the gradient is x' dy; or invalid */
    eddy_tensor           *next;        /* results of the new body: carried, sums */
    int                    n_next;
    eddy_tensor           *stacks;      /* tensors of the body whose values are stacked */
    int                    n_stacks;
    bool                   has_gradient;    /* of a result, not all zeros */
    int32_t                forward;     /* nodes of the body up to this one are not gradients */
} backward;

static bool is_smooth(eddy_tensor t)
{
    return eddy_dtype_is_differentiable(eddy__type_of(t).dtype);
}

/* Argument i of the body, after the iteration. */
static eddy_tensor argument(const backward *b, int i)
{
    return eddy__tensor_at(b->a->body, 2 + i, 0);
}

/* Result i of the body, after the condition. */
static eddy_tensor result(const backward *b, int i)
{
    return eddy__body_out(b->a->body, b->a->outs, b->a->conditional + i);
}

static bool begin(backward *b, eddy_rule *r)
{
    const eddy_loop_attrs *a = r->attrs;
    *b = (backward){ .r = r, .a = a, .n_carried = (int)a->n_carried, .n_sliced = (int)a->n_sliced };
    b->n_captured = r->n_in - (int)a->counted - b->n_carried - b->n_sliced;
    if (!eddy__graph_ready(a->body)) return false;
    return true;
}

static bool add_term(backward *b, eddy_arena *arena, eddy_tensor stack)
{
    if (b->n_dstacked == b->room_dstacked) {
        const int bigger = b->room_dstacked > 0 ? 2 * b->room_dstacked : 8;
        incoming *more = eddy__rule_alloc(b->r, arena, bigger, sizeof *more);
        if (!more) return false;
        if (b->n_dstacked > 0) memcpy(more, b->dstacked, (size_t)b->n_dstacked * sizeof *more);
        b->dstacked = more;
        b->room_dstacked = bigger;
    }
    b->dstacked[b->n_dstacked++] = (incoming){ .stack = stack };
    return true;
}

/* Collects the stacks whose sum dy is: only loops read those of open loops. Zeros, which the sweep
 * supplies for stacks that nothing reads, are none. False if out of memory, or if dy is something
 * else. */
static bool collect_terms(backward *b, eddy_arena *arena, eddy_tensor dy)
{
    const eddy_node *node = eddy_node_of(dy);
    const bool open = eddy__loop_is_open(b->a);
    if ((open || b->has_gradient) && node->op == &eddy_op_zeros_like) return true;
    if (open && (node->op == &eddy_op_add_n || node->op == &eddy_op_identity)) {
        for (int i = 0; i < node->n_inputs; i++)
            if (!collect_terms(b, arena, node->inputs[i])) return false;
        return true;
    }
    if (open && !(node->op->flags & EDDY_OP_LOOP)) {
        eddy_rule_fail(b->r, EDDY_UNIMPLEMENTED,
                       "the gradient of a stack of a loop without limit is %s", node->op->name);
        return false;
    }
    return add_term(b, arena, dy);
}

/* The gradient of a row of the stack that is result k, from new arguments. */
static eddy_tensor stack_gradient(backward *b, eddy_arena *arena, int k)
{
    const int       first = b->n_dstacked;
    const eddy_type row = eddy__type_of(result(b, k));
    eddy_tensor     sum = eddy_none(b->a->body);
    if (!collect_terms(b, arena, b->r->dy[k])) return sum;
    for (int i = first; i < b->n_dstacked; i++) {
        b->dstacked[i].argument = eddy__argument(b->a->body, row);
        sum = i == first ? b->dstacked[i].argument : eddy_add(sum, b->dstacked[i].argument);
    }
    return sum;
}

/* Differentiates the body: b->dx, from b->dcarried and b->dstacked. */
static bool differentiate(backward *b, eddy_arena *arena)
{
    const eddy_loop_attrs *a = b->a;
    eddy_graph   *body = a->body;
    const int     n_args = b->n_carried + b->n_sliced + b->n_captured;
    const int     n_results = b->n_carried + (int)a->n_stacked;
    const int     most = n_args + n_results;
    eddy_tensor  *all = eddy__rule_alloc(b->r, arena, 8 * (int64_t)most, sizeof *all);
    if (!all) return false;
    eddy_tensor *ys = all, *dys = ys + most, *xs = dys + most, *dxs = xs + most;
    b->dcarried = dxs + most;
    b->dsum = b->dcarried + most;
    b->rows = b->dsum + most;
    b->dx = b->rows + most;
    int n_ys = 0, n_xs = 0;
    for (int k = 0; k < n_results; k++)
        if (is_smooth(result(b, k)) && eddy_is_valid(b->r->dy[k]))
            b->has_gradient |= eddy_node_of(b->r->dy[k])->op != &eddy_op_zeros_like;
    for (int k = 0; k < n_results; k++) {
        const eddy_tensor y = result(b, k);
        if (k < b->n_carried) b->dcarried[k] = eddy_none(body);
        if (!is_smooth(y) || !eddy_is_valid(b->r->dy[k])) continue;
        dys[n_ys] = k < b->n_carried ? (b->dcarried[k] = eddy__argument(body, eddy__type_of(y)))
                                     : stack_gradient(b, arena, k);
        if (!eddy_is_valid(dys[n_ys])) continue;
        ys[n_ys++] = y;
    }
    for (int i = 0; i < n_args; i++) {
        b->dx[i] = b->dsum[i] = b->rows[i] = eddy_none(body);
        if (is_smooth(argument(b, i))) xs[n_xs++] = argument(b, i);
    }
    if (n_ys == 0 || n_xs == 0 || !eddy__graph_ready(body)) return eddy__graph_ready(body);
    if (eddy_gradients(.ys = { n_ys, ys }, .xs = { n_xs, xs }, .out = dxs, .grad_ys = { n_ys, dys },
                       .name = "gradients") != EDDY_OK)
        return false;
    for (int i = 0, x = 0; i < n_args; i++)
        if (is_smooth(argument(b, i))) b->dx[i] = dxs[x++];
    return true;
}

static int argument_number(const backward *b, eddy_tensor t)
{
    const int n = b->n_carried + b->n_sliced + b->n_captured;
    return t.output == 0 && t.node >= 2 && t.node < 2 + n ? t.node - 2 : -1;
}

static bool is_sliced(const backward *b, eddy_tensor t)
{
    const int i = argument_number(b, t);
    return i >= b->n_carried && i < b->n_carried + b->n_sliced;
}
static bool is_captured(const backward *b, eddy_tensor t)
{
    return argument_number(b, t) >= b->n_carried + b->n_sliced;
}
/* Capture i of the new body is a carried value of which it needs the type. If no iteration can
 * change its shape, the initial value has the same. Otherwise it gets a stack, of which a session
 * keeps nothing where the shape turns out to stay the same. */
static bool is_initial(const backward *b, int i)
{
    const int at = argument_number(b, b->e.captures[i]);
    return at >= 0 && at < b->n_carried && b->e.capture_needs[i] == NEEDS_TYPE &&
           eddy_shape_is_known(eddy__type_of(b->e.captures[i]).shape);
}
static bool is_own(const backward *b, eddy_tensor t)
{
    return t.node == 1 || t.node > b->forward;      /* the iteration, an incoming gradient */
}

static bool is_matrix(eddy_type t) { return t.shape.rank == 2 && t.shape.dim[1] > 0; }

/* Whether the gradient of a captured value is x' dy with an x of the forward iteration: then x,
 * and *dy. */
static eddy_tensor factor_of(const backward *b, eddy_tensor dx, eddy_tensor *dy)
{
    const eddy_node   *node = eddy_node_of(dx);
    const eddy_tensor  none = eddy_none(b->a->body);
    if (node->op != &eddy_op_matmul) return none;
    const eddy_matmul_attrs *t = node->attrs;
    const eddy_tensor        x = node->inputs[0];
    const bool               argument = x.node <= 1 + b->n_carried + b->n_sliced + b->n_captured;
    if (eddy__loop_is_open(b->a) || !t->transpose_a || t->transpose_b || x.node > b->forward ||
        x.node < 2 || (argument && x.node - 2 >= b->n_carried + b->n_sliced) ||
        ((b->a->trips >= 0 || b->a->counted) && is_sliced(b, x)) || /* it may have more rows */
        node->inputs[1].node <= b->forward || !is_matrix(eddy__type_of(x)) ||
        !is_matrix(eddy__type_of(node->inputs[1])))
        return none;
    *dy = node->inputs[1];
    return x;
}

/* The results of the new body that its next iteration takes. */
static bool make_next(backward *b, eddy_arena *arena)
{
    const int first = b->n_carried + b->n_sliced;
    b->next = eddy__rule_alloc(b->r, arena, first + b->n_captured, sizeof *b->next);
    if (!b->next) return false;
    for (int j = 0; j < b->n_carried; j++) {
        if (!eddy_is_valid(b->dcarried[j])) continue;
        b->next[b->n_next++] = eddy_is_valid(b->dx[j]) ? b->dx[j] : eddy_zeros_like(argument(b, j));
    }
    for (int i = first; i < first + b->n_captured; i++) {
        if (!eddy_is_valid(b->dx[i])) continue;
        b->rows[i] = factor_of(b, b->dx[i], &b->dx[i]);
        if (eddy_is_valid(b->rows[i])) continue;
        b->dsum[i] = eddy__argument(b->a->body, eddy__type_of(argument(b, i)));
        b->next[b->n_next++] = eddy_add(b->dsum[i], b->dx[i]);
    }
    return eddy__graph_ready(b->a->body);
}

/* A row of an input in another shape. It needs no memory, and the stack of it would. */
static bool is_shaped_row(const backward *b, const uint8_t *varying, const eddy_node *node)
{
    if (!(node->op->flags & EDDY_OP_ALIAS) || (node->op->flags & EDDY_OP_STATEFUL)) return false;
    for (int i = 1; i < node->n_inputs; i++)
        if (!eddy__input_is_in(node->op->shape_inputs, i)) return false;
    const eddy_tensor x = node->inputs[0];
    return is_sliced(b, x) || (varying[x.node] && b->e.copies[x.node] && x.node <= b->forward);
}

/* Of a segmented loop everything runs again, also in gradients of gradients. */
static bool runs_again(const backward *b, const eddy_node *node)
{
    return b->a->segmented && !(node->op->flags & (EDDY_OP_STATEFUL | EDDY_OP_SIDE_EFFECT));
}

/* Copied to the new body: gradient nodes, nodes that are the same in every iteration, shaped rows,
 * and nodes that run again. */
static bool choose_copies(backward *b)
{
    const eddy_graph *body = b->a->body;
    if (!eddy__extract_begin(&b->e, b->a->body)) return false;
    b->e.gradient = true;
    const uint8_t *varying = eddy__body_varying(&b->e, body, 1 + b->n_carried + b->n_sliced);
    if (!varying) return false;
    for (int32_t id = 1; id <= body->size; id++) {
        const bool argument = body->nodes[id]->op == &eddy_op_argument;
        b->e.copies[id] = !argument && (id > b->forward || !varying[id] ||
                                        runs_again(b, body->nodes[id]) ||
                                        is_shaped_row(b, varying, body->nodes[id]));
    }
    return true;
}

static int add_stack(backward *b, eddy_tensor t)
{
    for (int i = 0; i < b->n_stacks; i++)
        if (eddy_same(b->stacks[i], t)) return i;
    b->stacks[b->n_stacks] = t;
    return b->n_stacks++;
}

/* Finds the values of the forward iteration that are to be stacked. */
static bool find_stacks(backward *b)
{
    const int    first = b->n_carried + b->n_sliced, n_args = first + b->n_captured;
    const int    most = b->n_next + n_args;
    eddy_tensor *roots = eddy__extract_room(&b->e, most, sizeof *roots);
    int          n = 0;
    if (!roots) return false;
    for (int i = 0; i < b->n_next; i++) roots[n++] = b->next[i];
    for (int i = 0; i < b->n_sliced; i++)
        if (eddy_is_valid(b->dx[b->n_carried + i])) roots[n++] = b->dx[b->n_carried + i];
    for (int i = first; i < n_args; i++)
        if (eddy_is_valid(b->rows[i])) roots[n++] = b->dx[i];
    if (!eddy__extract_find(&b->e, n, roots)) return false;
    b->stacks = eddy__extract_room(&b->e, b->e.n_captures + n_args, sizeof *b->stacks);
    for (int i = 0; b->stacks && i < b->e.n_captures; i++) {
        const eddy_tensor t = b->e.captures[i];
        if (!is_own(b, t) && !is_sliced(b, t) && !is_captured(b, t) && !is_initial(b, i))
            b->stacks[b->n_stacks++] = t;     /* captures differ from each other */
    }
    for (int i = first; b->stacks && i < n_args; i++)
        if (eddy_is_valid(b->rows[i]) && !is_sliced(b, b->rows[i])) add_stack(b, b->rows[i]);
    return b->stacks != NULL;
}

/* The forward loop, with stacks as further results. */
static eddy_tensor forward_loop(backward *b)
{
    const eddy_loop_attrs *a = b->a;
    const int64_t          results = eddy__loop_results(a);
    const int64_t          length = a->outs.count + 2 * b->n_stacks;
    out_list outs = { eddy__rule_alloc(b->r, &b->e.arena, length, sizeof(int64_t)), 0 };
    if (!outs.at) return eddy_none(b->r->graph);
    for (int64_t i = 0; i < results; i++) eddy__out_add(&outs, eddy__body_out(a->body, a->outs, i));
    for (int i = 0; i < b->n_stacks; i++) eddy__out_add(&outs, b->stacks[i]);
    for (int64_t i = results; i < a->outs.count / 2; i++)
        eddy__out_add(&outs, eddy__body_out(a->body, a->outs, i));
    eddy_loop_attrs more = *a;
    more.outs = (eddy_ints){ outs.n, outs.at };
    more.n_stacked += b->n_stacks;
    eddy__attrs_share_graphs(&eddy_op_loop, &more);
    return eddy_apply(&eddy_op_loop, &more, b->r->n_in, b->r->x,
                      (eddy_apply_args){ .graph = b->r->graph });
}

/* How many of the inputs of the backward loop it needs by row. */
static int count_rows(const backward *b)
{
    int n = b->n_stacks + b->n_dstacked;
    for (int i = 0; i < b->e.n_captures; i++) n += is_sliced(b, b->e.captures[i]);
    return n;
}

/* Whether only the rows of the forward loop limit the backward one, or its stacks, and it needs
 * none of them: it then slices one that it does not read. */
static bool counts_rows(const backward *b)
{
    const eddy_loop_attrs *a = b->a;
    return a->trips < 0 && !eddy__loop_is_open(a) && count_rows(b) == 0;
}

/* Whether only a run of the forward loop tells the number of its iterations: where a condition
 * decides, or the rows of a stack whose shape no node can read. */
static bool counts_in_run(const eddy_loop_attrs *a)
{
    return a->conditional || (a->counted && a->open);
}

/* That of another loop with a count, which is given; its rows may be fewer. */
static eddy_tensor given_count(const backward *b)
{
    eddy_tensor n = b->r->x[0];
    for (int i = 0; i < b->n_sliced; i++) {
        const eddy_tensor rows = eddy_shape_tensor(b->r->x[1 + b->n_carried + i], EDDY_INT64);
        n = eddy_minimum(n, eddy_index(rows, "0"));
    }
    return n;
}

/* The arguments of the new body, and the inputs of the backward loop, in their order. */
static int make_arguments(backward *b, eddy_tensor forward, eddy_tensor *in)
{
    const eddy_loop_attrs *a = b->a;
    const eddy_rule       *r = b->r;
    extraction            *e = &b->e;
    const int              skip = a->counted, first = b->n_carried + b->n_sliced;
    int                    n = 0;
    if (a->counted && !counts_in_run(a)) in[n++] = given_count(b);
    if (counts_in_run(a))
        in[n++] = eddy_output(forward, b->n_carried + (int)a->n_stacked + b->n_stacks);
    eddy__extract_argument(e, eddy__tensor_at(a->body, 1, 0),
                           (eddy_type){ EDDY_INT64, EDDY_SCALAR });
    for (int j = 0; j < b->n_carried; j++) {
        if (!eddy_is_valid(b->dcarried[j])) continue;
        eddy__extract_argument(e, b->dcarried[j], eddy__type_of(b->dcarried[j]));
        in[n++] = r->dy[j];
    }
    for (int i = first; i < first + b->n_captured; i++) {
        if (!eddy_is_valid(b->dsum[i])) continue;
        eddy__extract_argument(e, b->dsum[i], eddy__type_of(b->dsum[i]));
        in[n++] = eddy_zeros_like(r->x[skip + i]);
    }
    for (int k = 0; k < b->n_dstacked; k++) {
        const incoming *d = &b->dstacked[k];
        eddy__extract_argument(e, d->argument, eddy__type_of(d->argument));
        in[n++] = d->stack;
    }
    for (int i = 0; i < e->n_captures; i++) {
        if (!is_sliced(b, e->captures[i])) continue;
        eddy__extract_argument(e, e->captures[i], eddy__type_of(e->captures[i]));
        in[n++] = r->x[skip + argument_number(b, e->captures[i])];
    }
    if (counts_rows(b)) {
        const int i = b->n_carried;
        eddy__extract_argument(e, argument(b, i), eddy__type_of(argument(b, i)));
        in[n++] = r->x[skip + i];
    }
    for (int i = 0; i < b->n_stacks; i++) {
        eddy__extract_argument(e, b->stacks[i], eddy__type_of(b->stacks[i]));
        in[n++] = eddy_output(forward, b->n_carried + (int)a->n_stacked + i);
    }
    for (int i = 0; i < e->n_captures; i++) {
        if (!is_captured(b, e->captures[i]) && !is_initial(b, i)) continue;
        eddy__extract_argument(e, e->captures[i], eddy__type_of(e->captures[i]));
        in[n++] = r->x[skip + argument_number(b, e->captures[i])];
    }
    return n;
}

static eddy_tensor backward_loop(backward *b, int n, const eddy_tensor *in)
{
    const eddy_loop_attrs *a = b->a;
    const int first = b->n_carried + b->n_sliced, most = b->n_next + first + b->n_captured;
    out_list  outs = { eddy__extract_room(&b->e, 2 * most, sizeof(int64_t)), 0 };
    eddy_loop_attrs back = { .body = b->e.body,
                             .n_carried = b->n_next,
                             .n_sliced = count_rows(b) + counts_rows(b),
                             .trips = a->trips,
                             .counted = a->conditional || a->counted,
                             .reverse = !a->reverse,
                             .open = eddy__loop_is_open(a),
                             .segmented = a->segmented };
    if (!outs.at || !eddy__extract_copy(&b->e)) return eddy_none(b->r->graph);
    for (int i = 0; i < b->n_next; i++)
        eddy__out_add(&outs, eddy__extract_image(&b->e, b->next[i]));
    for (int i = 0; i < b->n_sliced; i++) {
        const eddy_tensor dx = b->dx[b->n_carried + i];
        if (!eddy_is_valid(dx)) continue;
        eddy__out_add(&outs, eddy__extract_image(&b->e, dx));
        back.n_stacked++;
    }
    for (int i = first; i < first + b->n_captured; i++) {
        if (!eddy_is_valid(b->rows[i])) continue;
        eddy__out_add(&outs, eddy__extract_image(&b->e, b->dx[i]));
        back.n_stacked++;
    }
    back.outs = (eddy_ints){ outs.n, outs.at };
    b->e.body = NULL;               /* it is the node's */
    const int   waits = eddy__variables_wait(b->r->node, b->r->graph);
    eddy_tensor t = eddy_apply(&eddy_op_loop, &back, n, in,
                               (eddy_apply_args){ .graph = b->r->graph });
    for (int k = 0; k < waits; k++) eddy_control_end(b->r->graph);
    return t;
}

/* All rows of a stack of matrices as one matrix. */
static eddy_tensor flat(eddy_tensor stack, eddy_tensor row)
{
    return eddy_reshape(stack, EDDY_SHAPE(-1, eddy__type_of(row).shape.dim[1]));
}

static eddy_tensor product_of_rows(backward *b, int i, eddy_tensor forward, eddy_tensor dys)
{
    const eddy_tensor x = b->rows[i];
    const int         stacks = b->n_carried + (int)b->a->n_stacked;
    const eddy_tensor xs = is_sliced(b, x) ? b->r->x[b->a->counted + argument_number(b, x)]
                                           : eddy_output(forward, stacks + add_stack(b, x));
    return eddy_matmul(flat(xs, x), flat(dys, b->dx[i]), .transpose_a = true);
}

/* The outputs of the backward loop, as the gradients of the forward one's inputs. */
static void set_gradients(backward *b, eddy_tensor forward, eddy_tensor back)
{
    const int skip = b->a->counted, first = b->n_carried + b->n_sliced;
    int       n = 0;
    for (int j = 0; j < b->n_carried; j++)
        if (eddy_is_valid(b->dcarried[j])) b->r->dx[skip + j] = eddy_output(back, n++);
    for (int i = first; i < first + b->n_captured; i++)
        if (eddy_is_valid(b->dsum[i])) b->r->dx[skip + i] = eddy_output(back, n++);
    for (int i = 0; i < b->n_sliced; i++)
        if (eddy_is_valid(b->dx[b->n_carried + i]))
            b->r->dx[skip + b->n_carried + i] = eddy_output(back, n++);
    for (int i = first; i < first + b->n_captured; i++)
        if (eddy_is_valid(b->rows[i]))
            b->r->dx[skip + i] = product_of_rows(b, i, forward, eddy_output(back, n++));
}

static void build(backward *b, eddy_arena *arena)
{
    b->forward = b->a->body->size;
    if (!differentiate(b, arena) || !make_next(b, arena) || !choose_copies(b) || !find_stacks(b))
        return;
    const int most = b->r->n_in + b->n_carried + b->n_dstacked + 2;
    if (b->n_next == 0 && b->e.n_captures == 0) return;
    const bool  needs = b->n_stacks > 0 || counts_in_run(b->a);
    eddy_tensor forward = needs ? forward_loop(b) : eddy_none(b->r->graph);
    eddy_tensor *in = eddy__extract_room(&b->e, most + b->e.n_captures + b->n_captured, sizeof *in);
    if (!in || (needs && !eddy_is_valid(forward))) return;
    const int n = make_arguments(b, forward, in);
    eddy_tensor back = backward_loop(b, n, in);
    if (eddy_is_valid(back)) set_gradients(b, forward, back);
}

/* An error of a body becomes the graph's. */
static void pass_error(eddy_rule *r, const eddy_graph *body)
{
    if (!eddy__graph_ready(body) && eddy__graph_ready(r->graph))
        eddy_rule_fail(r, eddy_graph_status(body), "%s", eddy_graph_message(body));
}

void eddy__loop_gradient(eddy_rule *r)
{
    backward   b;
    eddy_arena arena = { .allocator = eddy__graph_allocator(r->graph) };
    if (begin(&b, r)) build(&b, &arena);
    if (b.e.from) eddy__extract_end(&b.e);
    if (b.e.body) {
        pass_error(r, b.e.body);
        eddy_graph_free(b.e.body);
    }
    pass_error(r, b.a->body);
    eddy__arena_free(&arena);
}
