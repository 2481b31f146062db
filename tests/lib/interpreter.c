/* interpreter.c -- see interpreter.h.
 *
 * Variables: a read sees the value from before the run; after a control edge that comes, directly
 * or not, from an update of the variable, it sees the current value; an explicit read does so if it
 * waits for an update, directly or not. */
#include "tests/lib/interpreter.h"
#include "graph/body.h"
#include "session/state/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the updates of up to 64 variables, those that a node waits for; and those for which
 * it does through at least one control edge. */
typedef struct waiting {
    uint64_t any, by_control;
} waiting;

typedef struct one {
    eddy_array **values;          /* one an output; NULL: not computed */
    eddy_type   *types;
    eddy_array  *before;          /* of a variable: its value when the run began */
    waiting      waits;
    int          variable;        /* its number; or -1 */
    bool         typed, valued;   /* what is needed of it */
    bool        *wanted, *takes;  /* by output, and by input, of a Loop or Case node */
} one;

typedef struct walk {
    interpreter *in;
    one         *at;              /* by node id */
    eddy_feeds   feeds;
    eddy_plan    plan;            /* a kernel's arena and error */
    eddy_arena   types;
    eddy_error  *error;
} walk;

interpreter interpreter_begin(eddy_graph *g)
{
    interpreter in = { .graph = g, .size = g->size, .random = 1,
                       .session = eddy_session_new(g, .threads = 1) };
    in.state = calloc((size_t)g->size + 1, sizeof *in.state);
    return in;
}

void interpreter_end(interpreter *in)
{
    for (int32_t id = 1; id <= in->size; id++) eddy_array_free(in->state[id].value);
    free(in->state);
    free(in->taken);
    eddy_session_free(in->session);
}

static void copy_elements(const eddy_array *to, const eddy_array *from)
{
    if (eddy_array_bytes(to) > 0)
        memcpy(eddy_array_data(to), eddy_array_data(from), eddy_array_bytes(to));
}

static eddy_array *copy_of(const eddy_array *a)
{
    return eddy_array_copy_of(eddy_array_dtype(a), eddy_array_shape(a), eddy_array_data(a));
}

void interpreter_set(interpreter *in, eddy_tensor variable, const eddy_array *value)
{
    eddy_state *s = &in->state[variable.node];
    eddy_array_free(s->value);
    *s = (eddy_state){ .value = copy_of(value), .initialized = true };
}

const eddy_array *interpreter_variable(const interpreter *in, eddy_tensor variable)
{
    const eddy_state *s = &in->state[variable.node];
    return s->initialized ? s->value : NULL;
}

/* ---------------------------------------------------------- what is needed -- */

static bool is_variable(const eddy_node *n) { return n->op->flags & EDDY_OP_VARIABLE; }

static bool is_reference(const eddy_node *n, int i)
{
    return i == 0 && (n->op->flags & EDDY_OP_REFERENCE);
}

static bool has_body(const eddy_node *n) { return n->op->flags & EDDY_OP_BODY; }

static bool is_type_only(const walk *w, const eddy_node *n, int i)
{
    return has_body(n) ? !w->at[n->id].takes[i] : eddy__input_is_in(n->op->shape_inputs, i);
}

static const eddy_array *feed_of(const walk *w, eddy_tensor t)
{
    for (int i = 0; i < w->feeds.count; i++)
        if (eddy_same(w->feeds.at[i].tensor, t)) return w->feeds.at[i].value;
    return NULL;
}

static void need(walk *w, eddy_tensor t, bool valued)
{
    one             *o = &w->at[t.node];
    const eddy_node *n = w->in->graph->nodes[t.node];
    if (feed_of(w, t)) return;
    o->typed = true;
    o->valued = o->valued || valued;
    if (!has_body(n)) return;
    if (!o->wanted) o->wanted = calloc((size_t)n->n_outputs + 1, sizeof *o->wanted);
    o->wanted[t.output] = true;
}

static void find_taken(walk *w, const eddy_node *n)
{
    one *o = &w->at[n->id];
    if (!has_body(n)) return;
    o->takes = calloc((size_t)n->n_inputs + 1, sizeof *o->takes);
    interpreter_body_takes(n, o->wanted, o->takes);
}

static void mark_needed(walk *w, eddy_list fetches, bool valued)
{
    const eddy_graph *g = w->in->graph;
    for (int i = 0; i < fetches.count; i++) need(w, fetches.at[i], valued);
    for (int32_t id = w->in->size; id >= 1; id--) {
        const eddy_node *n = g->nodes[id];
        if (!w->at[id].typed) continue;
        find_taken(w, n);
        for (int i = 0; i < n->n_inputs; i++) {
            const bool value = w->at[id].valued && !is_type_only(w, n, i);
            need(w, n->inputs[i], value || eddy__input_is_in(n->op->value_inputs, i));
            if (is_reference(n, i)) w->at[n->inputs[i].node].typed = true;
        }
        for (int i = 0; i < n->n_controls; i++)
            need(w, eddy__tensor_at(w->in->graph, n->controls[i], 0), w->at[id].valued);
    }
}

static void number_variables(walk *w)
{
    int n = 0;
    for (int32_t id = 1; id <= w->in->size; id++) {
        const bool variable = is_variable(w->in->graph->nodes[id]) && w->at[id].typed;
        w->at[id].variable = variable && n < 64 ? n++ : -1;
        if (variable && w->in->state[id].initialized)
            w->at[id].before = copy_of(w->in->state[id].value);
    }
}

static uint64_t bit_of(const walk *w, int32_t id)
{
    return w->at[id].variable < 0 ? 0 : (uint64_t)1 << w->at[id].variable;
}

/* Before its own update. */
static waiting waits_of(const walk *w, const eddy_node *n)
{
    waiting all = { 0, 0 };
    for (int i = 0; i < n->n_inputs; i++) {
        all.any |= w->at[n->inputs[i].node].waits.any;
        all.by_control |= w->at[n->inputs[i].node].waits.by_control;
    }
    for (int i = 0; i < n->n_controls; i++) all.by_control |= w->at[n->controls[i]].waits.any;
    all.any |= all.by_control;
    return all;
}

/* ----------------------------------------------------------------- operands -- */

/* The elements that node n reads as input i; NULL if only their type is known. */
static eddy_array *operand(const walk *w, const eddy_node *n, int i)
{
    const eddy_tensor t = n->inputs[i];
    const one        *from = &w->at[t.node];
    const eddy_array *fed = feed_of(w, t);
    const bool        explicit = is_reference(n, i) && (n->op->flags & EDDY_OP_READ);
    if (fed && !is_reference(n, i)) return (eddy_array *)(uintptr_t)fed;
    if (!is_variable(w->in->graph->nodes[t.node]))
        return from->values ? from->values[t.output] : NULL;
    const waiting waits = w->at[n->id].waits;
    const bool    now = (explicit ? waits.any : waits.by_control) & bit_of(w, t.node);
    return now || (is_reference(n, i) && !explicit) ? w->in->state[t.node].value : from->before;
}

static eddy_type type_of(const walk *w, eddy_tensor t)
{
    const eddy_array *fed = feed_of(w, t);
    if (fed) return (eddy_type){ eddy_array_dtype(fed), eddy_array_shape(fed) };
    return w->at[t.node].types[t.output];
}

static bool infer(walk *w, const eddy_node *n)
{
    const size_t       count = (size_t)n->n_inputs + 1;
    eddy_type         *types = eddy__arena_alloc(&w->types, count * sizeof *types);
    const eddy_array **value = eddy__arena_alloc(&w->types, count * sizeof *value);
    for (int i = 0; i < n->n_inputs; i++) {
        types[i] = type_of(w, n->inputs[i]);
        value[i] = eddy__input_is_in(n->op->value_inputs, i) ? operand(w, n, i) : NULL;
    }
    return eddy__infer_node(n, types, value, &w->types, &w->at[n->id].types, w->error);
}

/* -------------------------------------------------------------------- noise -- */

/* Whether the op chooses among its operands' elements, or moves them: a comparison with
 * an operand may count on that. */
static bool is_exact(const eddy_op_def *op)
{
    static const char *const names[] = {
        "Max", "Min", "Maximum", "Minimum", "SelectV2", "Neg", "Abs", "Relu", "ReluGrad", "Sign",
        "Floor", "Ceil", "Round", "Rint", "Cast", "MaxPool", "SegmentMax", "SegmentMin", "Shift",
        "UnsortedSegmentMax", "UnsortedSegmentMin", "ZerosLike", "OnesLike", "StopGradient" };
    if (op->flags & (EDDY_OP_UPDATES | EDDY_OP_STATEFUL | EDDY_OP_ALIAS)) return true;
    if (!op->flops && !(op->flags & EDDY_OP_ELEMENTWISE)) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(op->name, names[i]) == 0) return true;
    return false;
}

static double draw(interpreter *in)
{
    in->random = in->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(in->random >> 33) / 0x1p30 - 1;
}

static void note_largest(interpreter *in, const eddy_array *a)
{
    if (!eddy_dtype_is_floating(eddy_array_dtype(a))) return;
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const double v = fabs(eddy_array_get(a, i));
        if (isfinite(v) && v > in->largest) in->largest = v;
    }
}

static void disturb(interpreter *in, const eddy_array *a)
{
    const int64_t n = eddy_array_count(a);
    double       *d = eddy_array_dtype(a) == EDDY_FLOAT64 ? eddy_array_data(a) : NULL;
    float        *f = eddy_array_dtype(a) == EDDY_FLOAT32 ? eddy_array_data(a) : NULL;
    for (int64_t i = 0; d && i < n; i++) d[i] *= 1 + draw(in) * 0x1p-41;
    for (int64_t i = 0; f && i < n; i++) f[i] *= (float)(1 + draw(in) * 0x1p-17);
}

/* ---------------------------------------------------------------- computing -- */

static bool is_alias(const walk *w, const eddy_node *n)
{
    if (n->op->flags & EDDY_OP_ALIAS) return true;
    return (n->op->flags & EDDY_OP_ALIAS_IF_EQUAL) && n->n_outputs == 1 &&
           eddy_shape_count(type_of(w, n->inputs[0]).shape) ==
               eddy_shape_count(w->at[n->id].types[0].shape);
}

static bool make_outputs(walk *w, const eddy_node *n)
{
    one *o = &w->at[n->id];
    o->values = calloc((size_t)n->n_outputs + 1, sizeof *o->values);
    for (int k = 0; k < n->n_outputs; k++) {
        if (!eddy_shape_is_known(o->types[k].shape))
            return eddy__error_set(w->error, EDDY_UNIMPLEMENTED, "'%s' has no known shape",
                                   n->name);
        o->values[k] = eddy_array_new(o->types[k].dtype, o->types[k].shape);
    }
    return true;
}

static bool run_kernel(walk *w, const eddy_node *n)
{
    const one   *o = &w->at[n->id];
    const int    n_in = n->n_inputs;
    eddy_buffer *b = calloc((size_t)(n_in + n->n_outputs) + 1, sizeof *b);
    bool         ok = true;
    for (int i = 0; i < n_in; i++) {
        const eddy_array *a = is_type_only(w, n, i) ? NULL : operand(w, n, i);
        b[i] = eddy__buffer_of(type_of(w, n->inputs[i]), eddy_array_data(a));
        if (is_reference(n, i) && !(n->op->flags & EDDY_OP_READ))
            b[i].state = &w->in->state[n->inputs[i].node];
        else if (!a && !is_type_only(w, n, i))
            ok = eddy__error_set(w->error, EDDY_UNINITIALIZED, "'%s' has no value",
                                 eddy_name_of(n->inputs[i]));
    }
    eddy_state once = { .initialized = true };
    if (n_in > 0 && (n->op->flags & EDDY_OP_READ)) b[0].state = &once;
    for (int k = 0; k < n->n_outputs; k++)
        b[n_in + k] = eddy__buffer_of(o->types[k], eddy_array_data(o->values[k]));
    ok = ok && eddy__run_single_op(&w->plan, w->in->graph, n, b, w->in->draw, w->error);
    free(b);
    eddy__arena_free(&w->plan.arena);
    return ok;
}

static bool compute(walk *w, const eddy_node *n)
{
    one              *o = &w->at[n->id];
    const eddy_array *constant = eddy_constant_value(eddy__tensor_at(w->in->graph, n->id, 0));
    if (n->n_outputs > 0 && constant) {
        copy_elements(o->values[0], constant);
        return true;
    }
    if (is_alias(w, n)) {
        copy_elements(o->values[0], operand(w, n, 0));
        return true;
    }
    return !eddy__kernel_of(n->op) || run_kernel(w, n);
}

/* The types and values of the wanted outputs of a Loop or Case node. */
static bool visit_body(walk *w, const eddy_node *n)
{
    one          *o = &w->at[n->id];
    const size_t  count = (size_t)n->n_inputs + 1;
    eddy_type    *types = eddy__arena_alloc(&w->types, count * sizeof *types);
    eddy_array  **inputs = eddy__arena_alloc(&w->types, count * sizeof *inputs);
    for (int i = 0; i < n->n_inputs; i++) {
        types[i] = type_of(w, n->inputs[i]);
        inputs[i] = o->valued && o->takes[i] ? operand(w, n, i) : NULL;
        if (o->valued && o->takes[i] && !inputs[i])
            return eddy__error_set(w->error, EDDY_UNINITIALIZED, "'%s' has no value",
                                   eddy_name_of(n->inputs[i]));
    }
    if (o->valued) o->values = calloc((size_t)n->n_outputs + 1, sizeof *o->values);
    const body_call c = { .outer = w->in, .node = n, .types = types,
                          .inputs = o->valued ? inputs : NULL, .wanted = o->wanted,
                          .out_types = o->types, .out = o->values, .error = w->error };
    return interpreter_body(&c);
}

/* In a body all nodes have the number of the iteration. */
static void set_draw(interpreter *in, const eddy_node *n)
{
    const int32_t source = in->is_body ? -1 : eddy__draws_source(in->session, n->id);
    if (source >= 0) in->draw = eddy__draws_take(in->session, source, in->taken);
}

static bool visit(walk *w, const eddy_node *n)
{
    one *o = &w->at[n->id];
    o->waits = waits_of(w, n);
    if (!o->typed) return true;
    if (is_variable(n)) {
        const eddy_state *s = &w->in->state[n->id];
        o->types = eddy__arena_alloc(&w->types, sizeof *o->types);
        *o->types = n->outputs[0];
        if (s->value) o->types->shape = eddy_array_shape(s->value);
        return true;
    }
    if (!infer(w, n)) return false;
    if (o->valued) set_draw(w->in, n);
    if (has_body(n)) return visit_body(w, n);
    if (!o->valued) return true;
    if (!make_outputs(w, n) || !compute(w, n)) return false;
    if (n->op->flags & EDDY_OP_UPDATES) o->waits.any |= bit_of(w, n->inputs[0].node);
    for (int k = 0; k < n->n_outputs; k++) {
        note_largest(w->in, o->values[k]);
        if (w->in->noisy && !is_exact(n->op)) disturb(w->in, o->values[k]);
    }
    return true;
}

static bool collect(walk *w, eddy_list fetches, eddy_array **out)
{
    for (int i = 0; i < fetches.count; i++) {
        const eddy_tensor t = fetches.at[i];
        const one        *o = &w->at[t.node];
        const eddy_array *a = feed_of(w, t);
        if (!a && is_variable(w->in->graph->nodes[t.node])) a = o->before;
        if (!a && o->values && t.output < w->in->graph->nodes[t.node]->n_outputs)
            a = o->values[t.output];
        out[i] = a ? copy_of(a) : NULL;
    }
    return true;
}

static walk begin_walk(interpreter *in, eddy_feeds feeds, eddy_error *error)
{
    return (walk){ .in = in, .feeds = feeds, .error = error,
                   .at = calloc((size_t)in->size + 1, sizeof(one)),
                   .types = { .allocator = &in->session->allocator },
                   .plan = { .session = in->session, .allocator = &in->session->allocator,
                             .arena = { .allocator = &in->session->allocator } } };
}

static bool visit_all(walk *w, eddy_list fetches, bool valued)
{
    bool ok = true;
    mark_needed(w, fetches, valued);
    number_variables(w);
    for (int32_t id = 1; ok && id <= w->in->size; id++) ok = visit(w, w->in->graph->nodes[id]);
    return ok;
}

static void end_walk(walk *w)
{
    for (int32_t id = 1; id <= w->in->size; id++) {
        one *o = &w->at[id];
        for (int k = 0; o->values && k < w->in->graph->nodes[id]->n_outputs; k++)
            eddy_array_free(o->values[k]);
        free(o->values);
        free(o->wanted);
        free(o->takes);
        eddy_array_free(o->before);
    }
    free(w->at);
    eddy__arena_free(&w->types);
}

bool interpreter_run(interpreter *in, eddy_feeds feeds, eddy_list fetches, eddy_array **out,
                     eddy_error *error)
{
    walk w = begin_walk(in, feeds, error);
    in->largest = 0;
    for (int32_t i = 0; i < in->n_taken; i++) in->taken[i] = EDDY_NOT_DRAWN;
    const bool ok = eddy__draws_room(in->session, &in->taken, &in->n_taken, error) &&
                    visit_all(&w, fetches, true) && collect(&w, fetches, out);
    end_walk(&w);
    return ok;
}

bool interpreter_types(interpreter *in, eddy_feeds feeds, eddy_list fetches, eddy_type *types,
                       eddy_error *error)
{
    walk       w = begin_walk(in, feeds, error);
    const bool ok = visit_all(&w, fetches, false);
    for (int i = 0; ok && i < fetches.count; i++)
        if (eddy_outputs_of(fetches.at[i]) > 0) types[i] = type_of(&w, fetches.at[i]);
    end_walk(&w);
    return ok;
}
