/* dynamic_rnn.c -- cells of any kind over the steps of sequences: in a loop, and unrolled.
 *
 * A step after the end of a sequence is computed and then dropped: its state is the one before,
 * and its output is 0. In the loop the outputs are masked once, when they are stacked, and the loop
 * ends with the longest sequence. Going backwards is the loop in the other direction with the same
 * masks, since a sequence that has not begun keeps its initial state. */
#include "control/control.h"
#include "graph/internal.h"
#include "graph/call_options.h"
#include "autodiff/internal.h"
#include "layers/rnn_internal.h"
#include "ops/short_names.h"

/* ------------------------------------------------------------------ masks -- */

/* The mask with as many dimensions as x. */
static eddy_tensor spread(eddy_tensor mask, eddy_tensor x)
{
    for (int d = eddy_shape_of(mask).rank; d < eddy_shape_of(x).rank; d++)
        mask = ExpandDims(mask, -1);
    return mask;
}

/* x where `seen`, else 0; without a mask x. */
static eddy_tensor masked(eddy_tensor seen, eddy_tensor x)
{
    if (!seen.graph) return x;
    if (eddy_dtype_of(x) == EDDY_BOOL) return LogicalAnd(spread(seen, x), x);
    return Where(spread(seen, x), x, 0);
}

static void carry_on(eddy_tensor seen, int n, const eddy_tensor *state, eddy_tensor *next)
{
    for (int k = 0; k < n && seen.graph; k++)
        next[k] = Where(spread(seen, next[k]), next[k], state[k]);
}

/* ----------------------------------------------------------------- checks -- */

/* The part that the networks have in common. */
typedef struct network {
    const char          *who, *scope;
    eddy_graph          *graph;
    const eddy_rnn_cell *cell;
    eddy_tensor          lengths;
    eddy_list            initial;
    eddy_dtype           dtype;
    bool                 masks;         /* of the body: its last argument is a mask */
} network;

/* `batch` is that axis of x. */
static bool check_lengths(const network *n, eddy_tensor x, int batch)
{
    const eddy_tensor t = n->lengths;
    if (!eddy__layer_check_lengths(n->who, "sequence_length", t, x, batch)) return false;
    if (!t.graph || eddy_shape_of(t).rank == 1) return true;
    eddy_fail(n->graph, EDDY_BAD_SHAPE, "%s: the rank of sequence_length is unknown", n->who);
    return false;
}

/* A given state is the cell's, with a batch in front. */
static bool check_initial(const network *n, int k)
{
    const eddy_rnn_state *of = &n->cell->state[k];
    const eddy_tensor     t = n->initial.at[k];
    const eddy_type       is = { eddy_dtype_of(t), eddy_shape_of(t) };
    const eddy_type       want = { of->dtype ? of->dtype : is.dtype,
                                   eddy__with_batch(of->shape, EDDY_ANY) };
    char                  a[200], b[200];
    if (is.dtype == want.dtype && eddy_shape_compatible(is.shape, want.shape)) return true;
    eddy_fail(n->graph, is.dtype == want.dtype ? EDDY_BAD_SHAPE : EDDY_BAD_DTYPE,
              "%s: initial state %d is %s; that of %.200s is %s", n->who, k,
              eddy_type_print(is, a, sizeof a), eddy__cell_title(n->cell),
              eddy_type_print(want, b, sizeof b));
    return false;
}

/* The first state, `like` being the input of a step. */
static bool begin_state(const network *n, eddy_tensor like, eddy_tensor *state)
{
    const int count = n->cell->n_state;
    if (n->initial.count == 0) {
        eddy_zero_state(*n->cell, like, state, n->dtype);
        return eddy__graph_ready(n->graph);
    }
    if (!eddy__list_is_of(n->graph, n->who, "initial state", n->initial)) return false;
    if (n->initial.count != count) {
        eddy_fail(n->graph, EDDY_INVALID_ARGUMENT, "%s: %d initial states; %.200s has %d", n->who,
                  n->initial.count, eddy__cell_title(n->cell), count);
        return false;
    }
    for (int k = 0; k < count; k++) {
        if (!check_initial(n, k)) return false;
        state[k] = n->initial.at[k];
    }
    return true;
}

/* x has this rank or a higher one, `batch` being the axis of the batch. */
static bool check_inputs(const network *n, eddy_tensor x, int rank, int batch)
{
    char text[200];
    if (!eddy_is_valid(x)) return (void)eddy_identity(x), false;
    if (!eddy__cell_check(n->graph, n->who, n->cell)) return false;
    if (eddy_shape_of(x).rank >= rank) return check_lengths(n, x, batch);
    eddy_fail(n->graph, EDDY_BAD_SHAPE, "%s: inputs have shape %s; expected %s [scope '%.200s']",
              n->who, eddy_shape_print(eddy_shape_of(x), text, sizeof text),
              rank == 1 ? "a batch in front" : "two dimensions or more", n->scope);
    return false;
}

/* ------------------------------------------------------------------- loop -- */

/* From the state, the input of a step, and where the sequences go on, to the next state and the
 * output. */
static int build_step(eddy_list in, eddy_tensor *y, void *context)
{
    const network    *n = context;
    const int         count = n->cell->n_state;
    const eddy_tensor none = EDDY_NO_TENSOR, seen = n->masks ? in.at[count + 1] : none;
    y[count] = eddy__cell_call(n->who, n->cell, in.at[count], in.at, y);
    if (!eddy_is_valid(y[count])) return 0;
    carry_on(seen, count, in.at, y);
    return count + 1;
}

static eddy_tensor swapped(eddy_tensor x)
{
    eddy_dims order = { .count = eddy_shape_of(x).rank };
    for (int d = 0; d < order.count; d++) order.at[d] = d < 2 ? 1 - d : d;
    return eddy_transpose(x, order);
}

/* x without its first dimension, the steps; its elements count for nothing. */
static eddy_tensor without_steps(eddy_tensor x)
{
    if (eddy_dtype_of(x) == EDDY_BOOL) x = Cast(x, EDDY_INT32);
    return eddy_sum(x, EDDY_AXES(0));
}

static eddy_type step_type(eddy_tensor x)
{
    eddy_type t = { eddy_dtype_of(x), eddy_shape_of(x) };
    for (int d = 1; d < t.shape.rank; d++) t.shape.dim[d - 1] = t.shape.dim[d];
    t.shape.rank--;
    return t;
}

static eddy_tensor run_loop(network *n, const eddy_dynamic_rnn_args *a)
{
    const int         count = a->cell.n_state;
    const eddy_tensor none = eddy_none(n->graph);
    eddy_tensor       x = a->time_major ? a->inputs : swapped(a->inputs), out[EDDY_MAX_RESULTS];
    eddy_tensor       state[EDDY_MAX_STATES], seen = EDDY_NO_TENSOR;
    if (!eddy__graph_ready(n->graph) ||
        !eddy__cell_prepare(n->graph, n->who, &a->cell, step_type(x)))
        return none;
    if (n->lengths.graph) {
        seen = eddy__layer_valid_positions(x, n->lengths, 0);
        x = masked(seen, x);
    }
    if (!begin_state(n, without_steps(x), state)) return none;
    n->masks = seen.graph != NULL;
    const eddy_tensor   longest = n->masks ? eddy_max(n->lengths) : EDDY_NO_TENSOR;
    const eddy_tensor   rows[] = { eddy__cell_project(&a->cell, x), seen };
    const eddy_function f = { .build = build_step, .context = n, .name = a->cell.f.name };
    const int           got = eddy_loop(f, ((eddy_list){ count, state }),
                                        ((eddy_list){ n->masks ? 2 : 1, rows }), out,
                                        .reverse = a->go_backwards, .iterations = longest);
    if (got != count + 1) return none;
    for (int k = 0; k < count && a->state; k++) a->state[k] = out[k];
    const eddy_tensor y = masked(seen, out[count]);
    return a->time_major ? y : swapped(y);
}

/* ----------------------------------------------------------------- groups -- */

enum { MOST_GROUPS = 16 };

/* The examples of group k of n, given the order of all. */
static eddy_tensor examples_of(eddy_tensor order, int k, int n)
{
    const eddy_tensor all = eddy_size_along(order, 0);
    const eddy_tensor first = FloorDiv(Mul(all, k), n), end = FloorDiv(Mul(all, k + 1), n);
    const eddy_tensor size = Sub(end, first);
    return Gather(order, Add(eddy_range(NumberLike(0, size), size, NumberLike(1, size)), first));
}

/* The parts of all groups, which are joined along an axis and brought into the first order. */
static eddy_tensor joined(int n, const eddy_tensor *parts, int axis, eddy_tensor order)
{
    const eddy_tensor all = eddy_concat(((eddy_list){ n, parts }), axis);
    return Gather(all, eddy_argsort(order), .axis = axis);
}

static bool run_group(network n, const eddy_dynamic_rnn_args *a, eddy_tensor examples,
                      eddy_tensor *y, eddy_tensor *state)
{
    eddy_dynamic_rnn_args part = *a;
    eddy_tensor           initial[EDDY_MAX_STATES];
    part.inputs = Gather(a->inputs, examples, .axis = a->time_major);
    part.state = state;
    n.lengths = part.sequence_length = Gather(a->sequence_length, examples);
    for (int k = 0; k < n.initial.count && k < EDDY_MAX_STATES; k++)
        initial[k] = Gather(n.initial.at[k], examples);
    n.initial.at = initial;
    *y = run_loop(&n, &part);
    return eddy__graph_ready(n.graph);
}

/* Sorted by length, so that a group has sequences of similar lengths. */
static eddy_tensor run_groups(const network *n, const eddy_dynamic_rnn_args *a)
{
    const int   count = a->cell.n_state, groups = a->length_groups, axis = a->time_major;
    eddy_tensor y[MOST_GROUPS], state[MOST_GROUPS][EDDY_MAX_STATES], parts[MOST_GROUPS];
    if (n->initial.count > 0 && !eddy__list_is_of(n->graph, n->who, "initial state", n->initial))
        return eddy_none(n->graph);
    const eddy_tensor order = eddy_argsort(Neg(n->lengths));
    for (int k = 0; k < groups; k++)
        if (!run_group(*n, a, examples_of(order, k, groups), &y[k], state[k]))
            return eddy_none(n->graph);
    for (int i = 0; i < count && a->state; i++) {
        for (int k = 0; k < groups; k++) parts[k] = state[k][i];
        a->state[i] = joined(groups, parts, 0, order);
    }
    return joined(groups, y, axis, order);
}

static bool groups_are_valid(const network *n, const eddy_dynamic_rnn_args *a)
{
    const int groups = a->length_groups;
    if (groups == 1 || (groups > 1 && groups <= MOST_GROUPS && n->lengths.graph)) return true;
    if (groups > 1 && groups <= MOST_GROUPS)
        eddy_fail(n->graph, EDDY_INVALID_ARGUMENT, "%s: length_groups needs sequence_length",
                  n->who);
    else
        eddy_fail(n->graph, EDDY_INVALID_ARGUMENT, "%s: length_groups is %d; 1 to %d expected",
                  n->who, groups, MOST_GROUPS);
    return false;
}

eddy_tensor eddy_dynamic_rnn_with(const eddy_dynamic_rnn_args *given)
{
    eddy_dynamic_rnn_args a = EDDY_TAKE(eddy_dynamic_rnn_args, given);
    network n = { .who = "dynamic_rnn", .scope = a.name && *a.name ? a.name : "rnn",
                  .graph = a.inputs.graph, .cell = &a.cell, .lengths = a.sequence_length,
                  .initial = a.initial_state, .dtype = a.dtype };
    if (!check_inputs(&n, a.inputs, 2, a.time_major ? 1 : 0) || !groups_are_valid(&n, &a))
        return eddy_none(n.graph);
    eddy_scope_begin(n.graph, n.scope);
    n.lengths = a.sequence_length = eddy__layer_lengths(
        "sequence_length", a.sequence_length, a.inputs, a.time_major ? 1 : 0);
    const eddy_tensor y = a.length_groups > 1 ? run_groups(&n, &a) : run_loop(&n, &a);
    eddy_scope_end(n.graph);
    return eddy__graph_ready(n.graph) ? y : eddy_none(n.graph);
}

/* --------------------------------------------------------------- unrolled -- */

static bool unroll(const network *n, const eddy_static_rnn_args *a)
{
    const int   count = a->cell.n_state;
    eddy_tensor state[EDDY_MAX_STATES], next[EDDY_MAX_STATES], seen = EDDY_NO_TENSOR;
    const eddy_tensor first = a->inputs.at[0];
    const eddy_type   type = { eddy_dtype_of(first), eddy_shape_of(first) };
    if (!eddy__cell_prepare(n->graph, n->who, &a->cell, type)) return false;
    if (!begin_state(n, first, state)) return false;
    for (int t = 0; t < a->inputs.count; t++) {
        eddy_tensor x = a->inputs.at[t];
        if (n->lengths.graph) {
            seen = Greater(n->lengths, t);
            x = masked(seen, x);
        }
        const eddy_tensor y =
            eddy__cell_call(n->who, &a->cell, eddy__cell_project(&a->cell, x), state, next);
        if (!eddy_is_valid(y)) return false;
        carry_on(seen, count, state, next);
        a->out[t] = masked(seen, y);
        for (int k = 0; k < count; k++) state[k] = next[k];
    }
    for (int k = 0; k < count && a->state; k++) a->state[k] = state[k];
    return eddy__graph_ready(n->graph);
}

int eddy_static_rnn_with(const eddy_static_rnn_args *given)
{
    eddy_static_rnn_args a = EDDY_TAKE(eddy_static_rnn_args, given);
    network n = { .who = "static_rnn", .scope = a.name && *a.name ? a.name : "rnn",
                  .graph = eddy__graph_of_any(a.inputs),
                  .cell = &a.cell, .lengths = a.sequence_length, .initial = a.initial_state,
                  .dtype = a.dtype };
    if (!n.graph) return 0;
    if (!a.out) eddy_fail(n.graph, EDDY_INVALID_ARGUMENT, "static_rnn: out is NULL");
    if (!eddy__graph_ready(n.graph) ||
        !eddy__list_is_of(n.graph, n.who, "inputs", a.inputs))
        return 0;
    for (int t = 0; t < a.inputs.count; t++)
        if (!check_inputs(&n, a.inputs.at[t], 1, 0)) return 0;
    eddy_scope_begin(n.graph, n.scope);
    n.lengths = eddy__layer_lengths("sequence_length", n.lengths, a.inputs.at[0], 0);
    const bool done = unroll(&n, &a);
    eddy_scope_end(n.graph);
    return done ? a.inputs.count : 0;
}

/* --------------------------------------------------------- both directions -- */

eddy_rnn_outputs eddy_bidirectional_dynamic_rnn_with(
    const eddy_bidirectional_dynamic_rnn_args *given)
{
    eddy_bidirectional_dynamic_rnn_args a = EDDY_TAKE(eddy_bidirectional_dynamic_rnn_args, given);
    eddy_graph      *g = a.inputs.graph;
    eddy_rnn_outputs y = { eddy_none(g), eddy_none(g) };
    if (!eddy_is_valid(a.inputs)) return (void)eddy_identity(a.inputs), y;
    eddy_scope_begin(g, a.name && *a.name ? a.name : "bidirectional_rnn");
    y.fw = eddy_dynamic_rnn(a.cell_fw, a.inputs, a.state_fw, a.sequence_length, a.initial_state_fw,
                            .dtype = a.dtype, .time_major = a.time_major, .name = "fw");
    y.bw = eddy_dynamic_rnn(a.cell_bw, a.inputs, a.state_bw, a.sequence_length, a.initial_state_bw,
                            .dtype = a.dtype, .time_major = a.time_major, .name = "bw",
                            .go_backwards = true);
    eddy_scope_end(g);
    return eddy__graph_ready(g) ? y : (eddy_rnn_outputs){ eddy_none(g), eddy_none(g) };
}
