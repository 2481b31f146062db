/* definitions.c -- the operations Loop and Case: a graph among their attributes is run in each
 * iteration, or as one of several branches. graph/body.h has their attributes, inputs and
 * outputs. A session compiles and runs them; after TensorFlow's While, Case and If, and ONNX's
 * Loop. */
#include "control/internal.h"

/* --------------------------------------------------------------- argument -- */

static bool argument_infer(eddy_infer *c)
{
    const eddy_argument_attrs *a = c->attrs;
    c->out[0] = (eddy_type){ a->dtype, a->shape };
    return true;
}

const eddy_op_def eddy_op_argument = {
    .name = "Argument", .outputs = 1, .flags = EDDY_OP_PLACEHOLDER,
    .attrs_size = sizeof(eddy_argument_attrs),
    .attrs = EDDY_ATTRS(eddy_argument_attrs, dtype, shape), .infer = argument_infer,
    .gradient = eddy_not_differentiable,
};

/* ----------------------------------------------------------------- checks -- */

/* Everything is checked here, since a graph file may claim anything. */
static bool out_is_valid(eddy_infer *c, const eddy_graph *body, eddy_ints outs, int64_t i)
{
    const int64_t node = outs.at[2 * i], output = outs.at[2 * i + 1];
    if (node >= 1 && node <= body->size && output >= 0 &&
        (output < body->nodes[node]->n_outputs ||
         (output == 0 && body->nodes[node]->n_outputs == 0)))
        return true;
    return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "result %lld of the body does not exist",
                           (long long)i);
}

static bool outs_are_valid(eddy_infer *c, const eddy_graph *body, eddy_ints outs, int64_t least)
{
    if (outs.count % 2 != 0 || outs.count / 2 < least)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "the number of results is %lld; expected %lld",
                               (long long)(outs.count / 2), (long long)least);
    for (int64_t i = 0; i < outs.count / 2; i++)
        if (!out_is_valid(c, body, outs, i)) return false;
    return true;
}

static bool body_is_valid(eddy_infer *c, const eddy_graph *body, int64_t n_args)
{
    if (!eddy__graph_ready(body))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the body is missing or has an error");
    for (int64_t i = 1; i <= n_args; i++)
        if (i > body->size || body->nodes[i]->op != &eddy_op_argument)
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                                   "node %lld of the body is not an argument", (long long)i);
    return true;
}

static eddy_type type_of_node(const eddy_graph *body, int64_t node, int64_t output)
{
    return body->nodes[node]->outputs[output];
}

static eddy_type out_type(const eddy_graph *body, eddy_ints outs, int64_t i)
{
    return type_of_node(body, outs.at[2 * i], outs.at[2 * i + 1]);
}

static bool results_have_values(eddy_infer *c, const eddy_graph *body, eddy_ints outs, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (body->nodes[outs.at[2 * i]]->n_outputs == 0)
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "result %lld has no value",
                                   (long long)i);
    return true;
}

static bool argument_fits(eddy_infer *c, const eddy_graph *body, int64_t arg, int input,
                          eddy_type t)
{
    char            want[120], got[120];
    const eddy_type a = type_of_node(body, arg, 0);
    if (t.dtype == a.dtype && eddy_shape_compatible(a.shape, t.shape)) return true;
    return eddy_infer_fail(c, t.dtype == a.dtype ? EDDY_BAD_SHAPE : EDDY_BAD_DTYPE,
                           "input %d is %s, but the body takes %s", input,
                           eddy_type_print(t, got, sizeof got),
                           eddy_type_print(a, want, sizeof want));
}

static bool is_scalar(eddy_type t, eddy_dtype dtype)
{
    return t.dtype == dtype && t.shape.rank <= 0;
}

/* ------------------------------------------------------------------- loop -- */

static bool counts_are_valid(eddy_infer *c, const eddy_loop_attrs *a)
{
    const int64_t most = EDDY_MAX_INPUTS;
    if (a->n_stacked > most)
        return eddy_infer_fail(c, EDDY_LIMIT,
                               "%lld values of each iteration would be kept; the limit is %lld",
                               (long long)a->n_stacked, (long long)most);
    if (a->n_carried < 0 || a->n_sliced < 0 || a->n_stacked < 0 || a->n_carried > most ||
        a->n_sliced > most ||
        a->counted + a->n_carried + a->n_sliced > c->n_in)
        return eddy_infer_fail(
            c, EDDY_INVALID_ARGUMENT,
            "n_carried = %lld and n_sliced = %lld do not fit the number of inputs, %d",
            (long long)a->n_carried, (long long)a->n_sliced, c->n_in);
    if (a->n_sliced == 0 && !a->conditional && !a->counted && a->trips < 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "give a condition or a maximum number of iterations");
    if (a->open && !a->counted)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "an open loop over rows is not counted");
    if (a->counted && !is_scalar(c->in[0], EDDY_INT64))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the number of iterations is not an int64 scalar");
    return true;
}

/* The smallest of the known limits; *rows is that of the sliced inputs, or EDDY_ANY. */
static bool loop_inputs(eddy_infer *c, const eddy_loop_attrs *a, int64_t *rows)
{
    const int first = a->counted;
    *rows = EDDY_ANY;
    for (int i = first; i < c->n_in; i++) {
        eddy_type t = c->in[i];
        const int slice = i - first - (int)a->n_carried;
        if (slice >= 0 && slice < a->n_sliced && t.shape.rank >= 0) {
            if (t.shape.rank == 0)
                return eddy_infer_fail(c, EDDY_BAD_SHAPE, "input %d is a scalar and has no rows",
                                       i);
            if (t.shape.dim[0] >= 0 && (*rows < 0 || t.shape.dim[0] < *rows))
                *rows = t.shape.dim[0];
            for (int d = 1; d < t.shape.rank; d++) t.shape.dim[d - 1] = t.shape.dim[d];
            t.shape.rank--;
        }
        if (!argument_fits(c, a->body, i - first + 2, i, t)) return false;
    }
    return true;
}

static bool carried_fit(eddy_infer *c, const eddy_loop_attrs *a)
{
    char before[120], after[120];
    for (int64_t j = 0; j < a->n_carried; j++) {
        const eddy_type from = type_of_node(a->body, 2 + j, 0);
        const eddy_type to = out_type(a->body, a->outs, a->conditional + j);
        if (from.dtype == to.dtype && eddy_shape_compatible(from.shape, to.shape)) continue;
        if (from.dtype == to.dtype)
            return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                                   "The shape for loop variable %lld is not an invariant for the "
                                   "loop. It enters the loop with shape %s, but has shape %s after "
                                   "one iteration. Provide shape invariants using the "
                                   "`shape_invariants` argument",
                                   (long long)j,
                                   eddy_shape_print(from.shape, before, sizeof before),
                                   eddy_shape_print(to.shape, after, sizeof after));
        return eddy_infer_fail(c, EDDY_BAD_DTYPE,
                               "loop variable %lld is %s before an iteration and %s after it",
                               (long long)j, eddy_type_print(from, before, sizeof before),
                               eddy_type_print(to, after, sizeof after));
    }
    return true;
}

/* The rows of a stack. */
static int64_t stack_rows(const eddy_loop_attrs *a, int64_t rows)
{
    if (eddy__loop_is_open(a)) return EDDY_ANY;
    const bool trips = a->trips >= 0 && (rows < 0 || a->trips < rows);
    return trips && (a->n_sliced == 0 || rows >= 0) ? a->trips : rows;
}

static bool loop_infer(eddy_infer *c)
{
    const eddy_loop_attrs *a = c->attrs;
    int64_t                rows;
    if (!counts_are_valid(c, a) || !body_is_valid(c, a->body, c->n_in + 1 - a->counted) ||
        !outs_are_valid(c, a->body, a->outs, eddy__loop_results(a)) ||
        !results_have_values(c, a->body, a->outs, eddy__loop_results(a)) ||
        !loop_inputs(c, a, &rows) || !carried_fit(c, a))
        return false;
    if (a->conditional && !is_scalar(out_type(a->body, a->outs, 0), EDDY_BOOL))
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "the condition is not a bool scalar");
    if (!eddy_infer_outputs(c, (int)(a->n_carried + a->n_stacked) + 1)) return false;
    for (int64_t j = 0; j < a->n_carried; j++) c->out[j] = type_of_node(a->body, 2 + j, 0);
    const int64_t limit = stack_rows(a, rows);
    for (int64_t k = 0; k < a->n_stacked; k++) {
        const eddy_type row = out_type(a->body, a->outs, a->conditional + a->n_carried + k);
        eddy_type      *t = &c->out[a->n_carried + k];
        *t = (eddy_type){ row.dtype, EDDY_UNKNOWN_SHAPE };
        if (row.shape.rank < 0) continue;
        if (row.shape.rank == EDDY_MAX_RANK)
            return eddy_infer_fail(c, EDDY_LIMIT, "a stack would have rank %d", EDDY_MAX_RANK + 1);
        t->shape.rank = row.shape.rank + 1;
        t->shape.dim[0] = limit;
        for (int d = 0; d < row.shape.rank; d++) t->shape.dim[d + 1] = row.shape.dim[d];
    }
    c->out[a->n_carried + a->n_stacked] = (eddy_type){ EDDY_INT64, EDDY_SCALAR };
    return true;
}

const eddy_op_def eddy_op_loop = {
    .name = "Loop", .min_inputs = 0, .max_inputs = EDDY_MANY, .outputs = EDDY_MANY,
    .flags = EDDY_OP_LOOP, .attrs_size = sizeof(eddy_loop_attrs),
    .attrs = EDDY_ATTRS(eddy_loop_attrs, body, outs, n_carried, n_sliced, n_stacked, trips,
                        conditional, counted, reverse, open, quiet, segmented),
    .infer = loop_infer, .gradient = eddy__loop_gradient,
    .batch = eddy__loop_batch,
};

/* ------------------------------------------------------------------- case -- */

/* Dimensions that branches do not agree on are unknown. */
static eddy_shape common_shape(eddy_shape a, eddy_shape b)
{
    if (a.rank < 0 || a.rank != b.rank) return EDDY_UNKNOWN_SHAPE;
    for (int d = 0; d < a.rank; d++)
        if (a.dim[d] != b.dim[d]) a.dim[d] = EDDY_ANY;
    return a;
}

static bool effects_are_valid(eddy_infer *c, const eddy_case_attrs *a)
{
    for (int64_t i = 0; i < a->effects.count / 2; i++)
        if (a->effects.at[2 * i] < 0 || a->effects.at[2 * i] >= a->n_branches ||
            a->effects.at[2 * i + 1] < 1 || a->effects.at[2 * i + 1] > a->body->size)
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "side effect %lld does not exist",
                                   (long long)i);
    return a->effects.count % 2 == 0 ||
           eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "effects has an odd number of elements");
}

static bool case_infer(eddy_infer *c)
{
    const eddy_case_attrs *a = c->attrs;
    if (a->n_branches < 1 || a->n_branches > EDDY_MAX_INPUTS || a->n_out < 0 ||
        a->n_out > EDDY_MAX_INPUTS)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "n_branches = %lld and n_out = %lld are not valid",
                               (long long)a->n_branches, (long long)a->n_out);
    if (!is_scalar(c->in[0], EDDY_INT32))
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "the index of the branch is not an int32 scalar");
    if (!body_is_valid(c, a->body, c->n_in - 1) ||
        !outs_are_valid(c, a->body, a->outs, a->n_branches * a->n_out) ||
        !results_have_values(c, a->body, a->outs, a->n_branches * a->n_out) ||
        !effects_are_valid(c, a))
        return false;
    for (int i = 1; i < c->n_in; i++)
        if (!argument_fits(c, a->body, i, i, c->in[i])) return false;
    if (!eddy_infer_outputs(c, (int)a->n_out)) return false;
    for (int64_t k = 0; k < a->n_out; k++) {
        c->out[k] = out_type(a->body, a->outs, k);
        for (int64_t b = 1; b < a->n_branches; b++) {
            const eddy_type t = out_type(a->body, a->outs, b * a->n_out + k);
            if (t.dtype != c->out[k].dtype)
                return eddy_infer_fail(c, EDDY_BAD_DTYPE,
                                       "result %lld is %s in branch 0 and %s in branch %lld",
                                       (long long)k, eddy_dtype_name(c->out[k].dtype),
                                       eddy_dtype_name(t.dtype), (long long)b);
            c->out[k].shape = common_shape(c->out[k].shape, t.shape);
        }
    }
    return true;
}

const eddy_op_def eddy_op_case = {
    .name = "Case", .min_inputs = 1, .max_inputs = EDDY_MANY, .outputs = EDDY_MANY,
    .flags = EDDY_OP_CASE, .attrs_size = sizeof(eddy_case_attrs),
    .attrs = EDDY_ATTRS(eddy_case_attrs, body, outs, effects, n_branches, n_out, quiet),
    .infer = case_infer, .gradient = eddy__case_gradient,
    .batch = eddy__case_batch,
};
