/* loop_batch.c -- batching rules: a loop over a batch of examples is one loop whose body computes
 * all examples.
 *
 * A condition that differs between examples keeps the loop going until it is false for all of
 * them; the loop variables of those for which it is false no longer change, and another one counts
 * the iterations of each. Where these counts limit a loop, as in the gradient of that one, the
 * largest does; an example takes part in the iterations whose number is below its own, and for
 * which its condition, if there is one, is true. An index that differs between examples runs every
 * branch for all of them and selects. */
#include "control/internal.h"
#include "ops/arrays/batching.h"
#include "ops/ops.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct batching {
    eddy_batch  *b;
    eddy_graph  *body;
    extraction   room, e;           /* memory; the copy of the body */
    int          n_args;            /* of the body */
    bool        *batched;           /* by argument */
    eddy_tensor *args;              /* by argument: itself, or one with an axis of examples */
    /* loops of as many iterations as an example decides, by its condition or a number: of the new
     * body, a carried value, the number of iterations so far, and that after one; and a captured
     * one, the numbers that limit them. Invalid where there is no condition, or no such number */
    eddy_tensor  counts, next_counts, limits;
    bool         limited;
    int          counts_at;         /* the place of the former among the arguments */
    int64_t      n;                 /* examples, or EDDY_ANY */
} batching;

/* The type of many examples. */
static eddy_type batched_type(const batching *m, eddy_type t)
{
    if (t.shape.rank < 0 || t.shape.rank == EDDY_MAX_RANK)
        return (eddy_type){ t.dtype, EDDY_UNKNOWN_SHAPE };
    memmove(&t.shape.dim[1], &t.shape.dim[0], (size_t)t.shape.rank * sizeof t.shape.dim[0]);
    t.shape.dim[0] = m->n;
    t.shape.rank++;
    return t;
}

static bool begin(batching *m, eddy_batch *b, int n_args)
{
    const eddy_shape examples = eddy_shape_of(b->examples);
    *m = (batching){ .b = b, .body = eddy__body_of(b->node), .n_args = n_args,
                     .n = examples.rank > 0 ? examples.dim[0] : EDDY_ANY };
    m->counts = m->next_counts = m->limits = eddy_none(m->body);
    m->room.arena.allocator = eddy__graph_allocator(b->graph);
    m->room.from = m->body;
    m->batched = eddy__extract_room(&m->room, n_args + 1, sizeof *m->batched);
    m->args = eddy__extract_room(&m->room, n_args + 1, sizeof *m->args);
    if (eddy__body_acts(b->node)) {
        eddy_fail(b->graph, EDDY_UNIMPLEMENTED,
                  "vmap: %s has side effects in its body and cannot be mapped over examples "
                  "[node '%.200s']", b->node->op->name, b->node->name);
        return false;
    }
    return m->batched && m->args && eddy__graph_ready(m->body);
}

/* Marks by node of the body whether it differs between examples. */
static bool differs(const batching *m, eddy_tensor t, uint8_t *marks)
{
    for (int i = 0; i < m->n_args; i++) marks[1 + i] = m->batched[i];
    for (int32_t id = m->n_args + 1; id <= m->body->size; id++) {
        const eddy_node *node = m->body->nodes[id];
        marks[id] = eddy__is_random(node);
        for (int i = 0; i < node->n_inputs; i++)
            if (!eddy__input_is_in(node->op->shape_inputs, i) && marks[node->inputs[i].node])
                marks[id] = 1;
    }
    return marks[t.node];
}

/* ys for all examples: out[k] where it differs, else an invalid tensor. */
static bool vectorize(batching *m, int n_ys, const eddy_tensor *ys, eddy_tensor *out)
{
    eddy_tensor *stands = eddy__extract_room(&m->room, m->n_args, sizeof *stands);
    eddy_tensor *batches = eddy__extract_room(&m->room, m->n_args, sizeof *batches);
    int          n = 0;
    if (!stands || !batches) return false;
    for (int i = 0; i < m->n_args; i++) {
        const eddy_tensor arg = eddy__tensor_at(m->body, 1 + i, 0);
        m->args[i] = arg;
        if (!m->batched[i]) continue;
        m->args[i] = eddy__argument(m->body, batched_type(m, eddy__type_of(arg)));
        stands[n] = arg;
        batches[n++] = m->args[i];
    }
    const eddy_examples each = { n, stands, batches, 0 };
    return eddy__graph_ready(m->body) && eddy__vectorize_random(m->body, each, n_ys, ys, out);
}

/* Copies everything that the roots need to a new body with these arguments. */
static bool copy_body(batching *m, int n_roots, const eddy_tensor *roots)
{
    if (!eddy__extract_begin(&m->e, m->body)) return false;
    /* A loop and the one of its gradient share a body; so that their maps draw the same: */
    m->e.body->seed = m->body->seed * 31 - 1;
    m->e.seeded = true;
    for (int32_t id = 1; id <= m->body->size; id++)
        m->e.copies[id] = m->body->nodes[id]->op != &eddy_op_argument;
    if (!eddy__extract_find(&m->e, n_roots, roots)) return false;
    for (int i = 0; i <= m->n_args; i++) {
        if (i == m->counts_at && eddy_is_valid(m->counts))
            eddy__extract_argument(&m->e, m->counts, eddy__type_of(m->counts));
        if (i < m->n_args)
            eddy__extract_argument(&m->e, m->args[i], eddy__type_of(m->args[i]));
    }
    if (eddy_is_valid(m->limits))
        eddy__extract_argument(&m->e, m->limits, eddy__type_of(m->limits));
    /* where only the shape of one example matters, its argument is one row of the batch */
    for (int i = 0; i < m->n_args; i++) {
        eddy_tensor *one = eddy__extract_room(&m->e, 1, sizeof *one);
        if (!one) return false;
        if (!m->batched[i]) continue;
        *one = eddy_example(eddy__extract_image(&m->e, m->args[i]));
        m->e.images[1 + i] = one;
    }
    return eddy__extract_copy(&m->e);
}

static eddy_tensor first_batched(const batching *m)
{
    if (eddy_is_valid(m->counts)) return m->counts;
    if (eddy_is_valid(m->limits)) return m->limits;
    for (int i = 0; i < m->n_args; i++)
        if (m->batched[i]) return m->args[i];
    return eddy_none(m->body);
}

static void end_batching(batching *m)
{
    if (m->e.from) eddy__extract_end(&m->e);
    if (!eddy__graph_ready(m->body))
        eddy_fail(m->b->graph, eddy_graph_status(m->body), "%s [body of '%.200s']",
                  eddy_graph_message(m->body), m->b->node->name);
    if (m->e.body) eddy_graph_free(m->e.body);
    eddy__arena_free(&m->room.arena);
}

/* ------------------------------------------------------------------ loops -- */

/* Grows the set of batched loop variables until it is closed; returns whether the number of
 * iterations differs between examples. */
static bool close_carried(batching *m, const eddy_loop_attrs *a)
{
    uint8_t *marks = eddy__extract_room(&m->room, (int64_t)m->body->size + 1, 1);
    bool     condition = m->limited;
    for (bool again = marks != NULL; again;) {
        again = false;
        condition =
            condition || (a->conditional && differs(m, eddy__body_out(m->body, a->outs, 0), marks));
        for (int64_t j = 0; j < a->n_carried; j++) {
            const eddy_tensor y = eddy__body_out(m->body, a->outs, a->conditional + j);
            if (m->batched[1 + j] || !(condition || differs(m, y, marks))) continue;
            m->batched[1 + j] = again = true;
        }
    }
    return condition;
}

static eddy_tensor where_active(eddy_tensor active, eddy_tensor y, eddy_tensor otherwise)
{
    const int more = eddy_shape_of(otherwise).rank - 1;
    return Where(more > 0 ? eddy__batch_widen(active, 1, more) : active, y, otherwise);
}

/* The new arguments of the body. */
static void add_counts(batching *m, const eddy_loop_attrs *a)
{
    const eddy_type each = batched_type(m, (eddy_type){ EDDY_INT64, EDDY_SCALAR });
    m->counts_at = 1 + (int)a->n_carried;
    if (a->conditional) m->counts = eddy__argument(m->body, each);
    if (m->limited) m->limits = eddy__argument(m->body, each);
}

/* Which examples take part in an iteration. */
static eddy_tensor active_examples(const batching *m, const eddy_loop_attrs *a, eddy_tensor cond)
{
    if (!m->limited) return cond;
    const eddy_tensor below = Less(eddy__tensor_at(m->body, 1, 0), m->limits);
    return a->conditional ? LogicalAnd(below, cond) : below;
}

/* Examples that are done keep their values, and a condition for each becomes one for all. */
static void freeze(batching *m, const eddy_loop_attrs *a, eddy_tensor *ys)
{
    const eddy_tensor active = active_examples(m, a, ys[0]);
    const int64_t     first = a->conditional;
    for (int64_t j = 0; j < a->n_carried; j++)
        ys[first + j] = where_active(active, ys[first + j], m->args[1 + j]);
    for (int64_t k = first + a->n_carried; k < eddy__loop_results(a) && m->limited; k++)
        ys[k] = where_active(active, ys[k], eddy_zeros_like(ys[k]));
    if (!a->conditional) return;
    m->next_counts = Add(m->counts, Cast(active, EDDY_INT64));
    ys[0] = eddy_any(active);
}

/* A stack of batches as a batch of stacks, or back. Twice is not at all: only loops can read the
 * stacks of open ones. */
static eddy_tensor to_front(eddy_tensor x)
{
    const eddy_node *node = eddy_node_of(x);
    if (node && node->op == &eddy_op_transpose &&
        (eddy_node_of(node->inputs[0])->op->flags & EDDY_OP_LOOP)) {
        const eddy_dims *perm = node->attrs;
        bool             swaps = perm->count >= 2 && perm->at[0] == 1 && perm->at[1] == 0;
        for (int d = 2; d < perm->count; d++) swaps = swaps && perm->at[d] == d;
        if (swaps) return node->inputs[0];
    }
    return eddy__batch_swap(x, 0, 1);
}

/* The number of iterations where it is the same for all examples, else an invalid tensor. */
static eddy_tensor common_count(const eddy_batch *b)
{
    const eddy_node *count = eddy_node_of(b->x[0]);
    if (!b->batched[0]) return b->x[0];
    return count && count->op == &eddy_op_batch_like ? count->inputs[0] : eddy_none(b->graph);
}

/* The inputs of the batched loop; returns how many. */
static int batched_inputs(const batching *m, const eddy_loop_attrs *a, eddy_tensor *in)
{
    const eddy_batch *b = m->b;
    int               n = 0;
    if (a->counted)
        in[n++] = m->limited ? eddy_max(eddy_batch_input(b, 0)) : common_count(b);
    for (int arg = 1; arg <= m->n_args; arg++) {
        const int i = arg - 1 + (int)a->counted;
        if (eddy_is_valid(m->counts) && arg == m->counts_at)
            in[n++] = eddy_batch_like(eddy_number(b->graph, EDDY_INT64, 0), b->examples);
        if (arg == m->n_args) break;
        const bool sliced = arg > a->n_carried && arg <= a->n_carried + a->n_sliced;
        in[n] = m->batched[arg] ? eddy_batch_input(b, i) : b->x[i];
        if (m->batched[arg] && sliced) in[n] = to_front(in[n]);
        n++;
    }
    if (eddy_is_valid(m->limits)) in[n++] = eddy_batch_input(b, 0);
    return n;
}

static eddy_tensor batched_loop(batching *m, const eddy_loop_attrs *a, const eddy_tensor *ys,
                                int n_ys)
{
    const eddy_batch *b = m->b;
    const int    carried = (int)(a->conditional + a->n_carried);
    out_list     outs = { eddy__extract_room(&m->room, 2 * (int64_t)n_ys + 2, sizeof(int64_t)), 0 };
    eddy_tensor *in = eddy__extract_room(&m->room, b->n_in + 2, sizeof *in);
    if (!outs.at || !in) return eddy_none(b->graph);
    const int n = batched_inputs(m, a, in);
    eddy_loop_attrs more = *a;
    for (int k = 0; k <= n_ys; k++) {
        if (k == carried && eddy_is_valid(m->next_counts)) {
            eddy__out_add(&outs, eddy__extract_image(&m->e, m->next_counts));
            more.n_carried++;
        }
        if (k < n_ys) eddy__out_add(&outs, eddy__extract_image(&m->e, ys[k]));
    }
    more.body = m->e.body;
    more.outs = (eddy_ints){ outs.n, outs.at };
    m->e.body = NULL;               /* it is the node's */
    return eddy_apply(&eddy_op_loop, &more, n, in, (eddy_apply_args){ .graph = b->graph });
}

/* The outputs of the batched loop, as those of the examples. */
static void set_outputs(const batching *m, const eddy_loop_attrs *a, eddy_tensor y)
{
    eddy_batch *b = m->b;
    const bool  counted = eddy_is_valid(m->next_counts);
    const int   last = b->n_out - 1;
    for (int k = 0; k < last; k++) {
        const bool stacked = k >= a->n_carried;
        b->y[k] = eddy_output(y, k + (stacked && counted));
        if (stacked) b->y[k] = to_front(b->y[k]);
        else if (!m->batched[1 + k]) b->y[k] = eddy_batch_like(b->y[k], b->examples);
    }
    b->y[last] = counted      ? eddy_output(y, (int)a->n_carried)
                 : m->limited ? eddy_batch_input(b, 0)
                              : eddy_batch_like(eddy_output(y, last), b->examples);
}

static void batch_loop(batching *m, const eddy_loop_attrs *a)
{
    eddy_batch  *b = m->b;
    const int    n_ys = (int)eddy__loop_results(a), first = (int)a->conditional;
    eddy_tensor *ys = eddy__extract_room(&m->room, n_ys + 1, sizeof *ys);
    eddy_tensor *out = eddy__extract_room(&m->room, n_ys, sizeof *out);
    if (!ys || !out) return;
    for (int i = 1; i < m->n_args; i++) m->batched[i] = b->batched[i - 1 + a->counted];
    m->limited = a->counted && !eddy_is_valid(common_count(b));
    const bool differ = close_carried(m, a);
    for (int k = 0; k < n_ys; k++) ys[k] = eddy__body_out(m->body, a->outs, k);
    if (!vectorize(m, n_ys, ys, out)) return;
    if (differ) add_counts(m, a);
    for (int k = 0; k < n_ys; k++) {
        const bool carried = k >= first && k < first + a->n_carried;
        const bool wanted = k >= first && (!carried || m->batched[1 + k - first]);
        if (eddy_is_valid(out[k])) ys[k] = out[k];
        else if (wanted) ys[k] = eddy_batch_like(ys[k], first_batched(m));
    }
    if (differ) freeze(m, a, ys);
    ys[n_ys] = m->next_counts;
    const int n_roots = n_ys + eddy_is_valid(m->next_counts);
    if (!eddy__graph_ready(m->body) || !copy_body(m, n_roots, ys)) return;
    const eddy_tensor y = batched_loop(m, a, ys, n_ys);
    if (eddy_is_valid(y)) set_outputs(m, a, y);
}

void eddy__loop_batch(eddy_batch *b)
{
    batching m;
    if (begin(&m, b, eddy__body_args(b->node))) batch_loop(&m, b->attrs);
    end_batching(&m);
}

/* ------------------------------------------------------------------ cases -- */

/* x with an example that takes the branch in place of those that do not: their gradients, 0, would
 * otherwise be multiplied by derivatives that may be infinite. */
static eddy_tensor of_takers(eddy_tensor taken, eddy_tensor x)
{
    const int         more = eddy_shape_of(x).rank - 1;
    const eddy_tensor rows = eddy_row_numbers(taken, EDDY_INT32);
    const eddy_tensor one = Max(Where(taken, rows, NumberLike(0, rows)));
    const eddy_tensor other = Gather(eddy_stop_gradient(x), Where(taken, rows, one));
    return Where(more > 0 ? eddy__batch_widen(taken, 1, more) : taken, x, other);
}

/* The results of some branches, on batched arguments; `taken`, if given: by which examples. */
static bool batch_branches(batching *m, const eddy_case_attrs *a, int first, int n,
                           eddy_tensor index, eddy_tensor taken, eddy_tensor *y)
{
    const eddy_batch *b = m->b;
    const int    n_ys = n * (int)a->n_out;
    eddy_tensor *ys = eddy__extract_room(&m->room, n_ys, sizeof *ys);
    eddy_tensor *out = eddy__extract_room(&m->room, n_ys, sizeof *out);
    eddy_tensor *in = eddy__extract_room(&m->room, b->n_in, sizeof *in);
    out_list     outs = { eddy__extract_room(&m->room, 2 * (int64_t)n_ys, sizeof(int64_t)), 0 };
    if (!ys || !out || !in || !outs.at) return false;
    bool any = false;
    for (int i = 0; i < m->n_args; i++) any = any || b->batched[1 + i];
    for (int i = 0; i < m->n_args; i++) m->batched[i] = b->batched[1 + i] || !any;
    for (int k = 0; k < n_ys; k++)
        ys[k] = eddy__body_out(m->body, a->outs, (int64_t)first * a->n_out + k);
    if (!vectorize(m, n_ys, ys, out)) return false;
    for (int k = 0; k < n_ys; k++)
        ys[k] = eddy_is_valid(out[k]) ? out[k] : eddy_batch_like(ys[k], first_batched(m));
    if (!eddy__graph_ready(m->body) || !copy_body(m, n_ys, ys)) return false;
    in[0] = index;
    for (int i = 1; i < b->n_in; i++)
        in[i] = m->batched[i - 1] ? eddy_batch_input(b, i) : b->x[i];
    for (int i = 1; i < b->n_in && taken.graph; i++)
        if (m->batched[i - 1]) in[i] = of_takers(taken, in[i]);
    for (int k = 0; k < n_ys; k++) eddy__out_add(&outs, eddy__extract_image(&m->e, ys[k]));
    const eddy_case_attrs more = { .body = m->e.body, .outs = { outs.n, outs.at }, .n_branches = n,
                                   .n_out = a->n_out };
    m->e.body = NULL;               /* it is the node's */
    const eddy_tensor t = eddy_apply(&eddy_op_case, &more, b->n_in, in,
                                     (eddy_apply_args){ .graph = b->graph });
    for (int64_t k = 0; k < a->n_out; k++) y[k] = eddy_output(t, (int)k);
    return eddy_is_valid(t);
}

static void case_part(eddy_batch *b, int first, int n, eddy_tensor index, eddy_tensor taken,
                      eddy_tensor *y)
{
    batching m;
    if (begin(&m, b, b->n_in - 1)) batch_branches(&m, b->attrs, first, n, index, taken, y);
    end_batching(&m);
}

/* Branch by branch for all examples; each example takes its own. */
static void select_branches(eddy_batch *b, const eddy_case_attrs *a, eddy_tensor *y)
{
    const eddy_tensor index = b->x[0], last = NumberLike((double)a->n_branches - 1, index);
    const eddy_tensor inside = LogicalAnd(GreaterEqual(index, NumberLike(0, index)),
                                          LessEqual(index, last));
    const eddy_tensor chosen = Where(inside, index, last);
    for (int branch = 0; branch < a->n_branches && eddy__graph_ready(b->graph); branch++) {
        for (int64_t k = 0; k < a->n_out; k++) y[k] = eddy_none(b->graph);
        const eddy_tensor taken = eddy_equal(chosen, NumberLike(branch, index));
        case_part(b, branch, 1, eddy_number(b->graph, EDDY_INT32, 0), taken, y);
        for (int k = 0; k < a->n_out && eddy_is_valid(y[k]); k++) {
            const int more = eddy_shape_of(y[k]).rank - 1;
            b->y[k] = branch == 0 ? y[k]
                                  : Where(more > 0 ? eddy__batch_widen(taken, 1, more) : taken,
                                          y[k], b->y[k]);
        }
    }
}

void eddy__case_batch(eddy_batch *b)
{
    const eddy_case_attrs *a = b->attrs;
    eddy_tensor           *y = eddy__tensors_new(b->graph, a->n_out + 1);
    if (!y) return;
    if (b->batched[0]) select_branches(b, a, y);
    else case_part(b, 0, (int)a->n_branches, b->x[0], EDDY_NO_TENSOR, b->y);
    eddy__tensors_free(b->graph, y, a->n_out + 1);
}
