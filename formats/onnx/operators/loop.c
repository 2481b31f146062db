/* loop.c -- Loop, on Eddy's loops.
 *
 * A short loop whose number of iterations is known is unrolled: so sequences may grow, and shapes
 * may depend on the number of the iteration. */
#include "../body.h"
#include "../reader.h"
#include "../../../ops/short_names.h"

#include <string.h>

enum { UNROLLED_NODES = 4096 };

/* The node of a graph that yields this value; NULL if none does. */
static const onnx_node *producer(const onnx_graph *g, const char *name)
{
    for (size_t i = 0; i < g->n_nodes; i++)
        for (size_t k = 0; k < g->nodes[i].n_outputs; k++)
            if (strcmp(g->nodes[i].outputs[k], name) == 0) return &g->nodes[i];
    return NULL;
}

static bool is_true_tensor(onnx_build *b, onnx_tensor *t)
{
    const eddy_array *a = t->type == ONNX_BOOL ? eddy__onnx_elements(b->reader, t) : NULL;
    return a && eddy_array_count(a) == 1 && eddy_array_get(a, 0) == 1;
}

/* True if the condition that the body yields is the one that it gets, or the constant true. */
static bool never_stops(onnx_build *b, const onnx_graph *g)
{
    const char *name = g->outputs[0].name;
    for (int steps = 0; steps < 16; steps++) {
        if (strcmp(name, g->inputs[1].name) == 0) return true;
        for (size_t i = 0; i < g->n_initializers; i++)
            if (strcmp(g->initializers[i].name, name) == 0)
                return is_true_tensor(b, &g->initializers[i]);
        const onnx_node *n = producer(g, name);
        if (!n) return false;
        if (strcmp(n->op, "Constant") == 0)
            return n->n_attrs == 1 && n->attrs[0].t && is_true_tensor(b, n->attrs[0].t);
        if (strcmp(n->op, "Identity") != 0 || n->n_inputs != 1) return false;
        name = n->inputs[0];
    }
    return false;
}

static onnx_value *known_value(onnx_build *b, eddy_dtype d, double v, int type)
{
    eddy_array *a = eddy_array_of(d, v);
    onnx_value *x = eddy__onnx_new_tensor(b, EDDY_NO_TENSOR, type);
    if (!eddy__reading_keep(&b->reader->base, a) || !x) return NULL;
    x->array = a;
    x->constant = true;
    return x;
}

typedef struct loop {
    const onnx_graph *g;
    int               carried, stacked;
    int64_t           trips;            /* -1: not known, or no limit */
    bool              limited;          /* there is a trip count */
    int               cond;             /* at the start: 1 true, 0 false, -1 not known */
    bool              endless;          /* the condition does not change */
} loop;

static int64_t number_in(onnx_build *b, int i, int64_t otherwise)
{
    const eddy_array *a = eddy__onnx_array_of(b, eddy__onnx_value_in(b, i));
    return a && eddy_array_count(a) == 1 ? eddy__element_integer(a, 0) : otherwise;
}

static bool loop_of(onnx_build *b, loop *l)
{
    *l = (loop){ .g = eddy__onnx_graph_attr(b, "body") };
    if (!l->g) return false;
    l->carried = b->n_in - 2;
    l->stacked = (int)l->g->n_outputs - 1 - l->carried;
    if (l->carried < 0 || l->stacked < 0 || l->g->n_inputs != (size_t)b->n_in ||
        l->g->n_outputs + 4 > EDDY_MAX_RESULTS || b->n_out > l->carried + l->stacked)
        return eddy__onnx_invalid(b, "the body does not have the inputs and outputs of the node");
    l->limited = eddy__onnx_has(b, 0);
    l->trips = l->limited ? number_in(b, 0, -1) : -1;
    l->cond = eddy__onnx_has(b, 1) ? (int)number_in(b, 1, -1) : 1;
    l->endless = never_stops(b, l->g);
    return true;
}

/* Stacks the values of an output of each iteration; a loop without iterations yields no rows of the
 * type that the body declares. */
static eddy_tensor stacked(onnx_build *b, const onnx_info *info, const eddy_tensor *t, int n)
{
    if (n) return eddy_stack({ n, t }, 0);
    eddy_shape s = info->shape;
    if (!eddy_shape_is_known(s) || s.rank >= EDDY_MAX_RANK) {
        eddy__onnx_missing(b, "a loop without iterations stacks values of unknown shape");
        return eddy_none(b->graph);
    }
    memmove(s.dim + 1, s.dim, (size_t)s.rank * sizeof *s.dim);
    s.dim[0] = 0;
    s.rank++;
    return eddy_zeros(b->graph, eddy__onnx_dtype(info->type), s);
}

/* Builds the body for each iteration, as long as the condition is known. */
static bool unrolled(onnx_build *b, const loop *l)
{
    const size_t nodes = l->g->n_nodes + 1;
    const int    most = (int)(UNROLLED_NODES / nodes);
    onnx_value **in = eddy__region_take(b->memory, l->g->n_inputs, sizeof *in);
    onnx_value **out = eddy__region_take(b->memory, l->g->n_outputs, sizeof *out);
    eddy_tensor *rows =
        eddy__region_take(b->memory, (size_t)l->stacked * (size_t)(most + 1), sizeof *rows);
    int          n = 0, going = l->cond;
    if (!in || !out || !rows) return eddy__onnx_missing(b, "out of memory");
    for (int i = 0; i < l->carried; i++)
        in[2 + i] = b->in[2 + i] ? b->in[2 + i] : eddy__onnx_new_value(b);
    for (; going == 1 && (!l->limited || n < l->trips); n++) {
        if (n == most)
            return eddy__onnx_missing(b, "the loop has too many iterations to be unrolled");
        in[0] = known_value(b, EDDY_INT64, n, ONNX_INT64);
        in[1] = known_value(b, EDDY_BOOL, 1, ONNX_BOOL);
        if (!in[0] || !in[1] || !eddy__onnx_subgraph(b, l->g, "body", in, out)) return false;
        const eddy_array *next = l->endless ? NULL : eddy__onnx_array_of(b, out[0]);
        if (!l->endless && !next)
            return eddy__onnx_unbound(b, "the condition must be known in each iteration");
        if (next) going = eddy_array_item(next) != 0;
        for (int i = 0; i < l->carried; i++) in[2 + i] = out[1 + i];
        for (int i = 0; i < l->stacked; i++)
            rows[i * (most + 1) + n] = eddy__onnx_tensor_of(b, out[1 + l->carried + i]);
    }
    for (int i = 0; i < l->carried; i++) eddy__onnx_put_value(b, i, in[2 + i]);
    for (int i = 0; i < l->stacked && !b->reason; i++) {
        const onnx_info *info = &l->g->outputs[1 + l->carried + i];
        const int        type = n ? out[1 + l->carried + i]->type : info->type;
        eddy__onnx_put_as(b, l->carried + i, stacked(b, info, rows + i * (most + 1), n), type);
    }
    return !b->reason;
}

/* The body of a loop in the graph: the arguments are the number of the iteration, the condition if
 * it is a variable, the carried values, and for a counted loop the number again as a row. */
static int loop_body(eddy_list x, eddy_tensor *y, void *context)
{
    onnx_body        *c = context;
    const int    first = c->conditional ? 2 : 1;
    onnx_value **in = eddy__region_take(c->b->memory, c->g->n_inputs, sizeof *in);
    eddy_tensor  out[EDDY_MAX_RESULTS];
    if (!in) return 0;
    in[0] = eddy__onnx_new_tensor(c->b, x.at[0], ONNX_INT64);
    in[1] = c->conditional ? eddy__onnx_new_tensor(c->b, x.at[1], ONNX_BOOL)
                           : known_value(c->b, EDDY_BOOL, 1, ONNX_BOOL);
    for (int i = 0; i < c->carried; i++)
        in[2 + i] = eddy__onnx_new_tensor(c->b, x.at[first + i], c->types[i]);
    const int n = eddy__onnx_build_body(c, in, out);
    if (n == 0) return 0;
    y[0] = Add(x.at[0], 1);
    if (c->conditional) y[1] = Reshape(out[0], EDDY_SCALAR);
    for (int i = 1; i < n; i++)
        if (!c->conditional || i <= c->carried) y[first + i - 1] = out[i];
    return first + (c->conditional ? c->carried : n - 1);
}

/* True while the number is below the limit and the condition holds. */
static int goes_on(eddy_list x, eddy_tensor *y, void *context)
{
    const eddy_tensor *limit = context;
    y[0] = eddy_is_valid(*limit) ? LogicalAnd(x.at[1], Less(x.at[0], *limit)) : Identity(x.at[1]);
    return 1;
}

typedef struct loop_state {
    onnx_body        body;
    int         types[EDDY_MAX_RESULTS];
    eddy_tensor start[EDDY_MAX_RESULTS];    /* the number, the condition, the carried values */
} loop_state;

static bool begin(onnx_build *b, const loop *l, loop_state *s)
{
    s->body = (onnx_body){
        .b = b, .g = l->g, .what = "body", .types = s->types, .carried = l->carried, .counts = true
    };
    s->start[0] = eddy_number(b->graph, EDDY_INT64, 0);
    s->start[1] = eddy__onnx_has(b, 1)
                      ? Reshape(eddy__onnx_in(b, 1), EDDY_SCALAR)
                      : eddy_const(b->graph, EDDY_BOOL, EDDY_SCALAR, &(bool){ true });
    for (int i = 0; i < l->carried; i++) {
        onnx_value *v = eddy__onnx_value_in(b, 2 + i);
        if (!v || v->kind != ONNX_TENSOR)
            return eddy__onnx_unbound(
                b, "a loop that carries a sequence needs a constant number of iterations "
                   "and a constant condition");
        s->types[i] = v->type;
        s->start[2 + i] = eddy__onnx_tensor_of(b, v);
    }
    return !b->reason;
}

static eddy_tensor limit_of(onnx_build *b, const loop *l)
{
    return l->limited ? Cast(Reshape(eddy__onnx_in(b, 0), EDDY_SCALAR), EDDY_INT64)
                      : EDDY_NO_TENSOR;
}

/* The final values, [0] the number of iterations that were run. */
static bool while_loop(onnx_build *b, const loop *l, loop_state *s, eddy_tensor *y)
{
    eddy_tensor limit = limit_of(b, l);
    s->body.conditional = true;
    return eddy_while_loop({ goes_on, &limit, "condition" }, { loop_body, &s->body, "body" },
                           { 2 + l->carried, s->start }, y, .maximum_iterations = l->trips) > 0;
}

/* A loop of so many iterations, with stacks. */
static bool counted_loop(onnx_build *b, const loop *l, loop_state *s, eddy_tensor count,
                         eddy_tensor *y)
{
    eddy_tensor start[EDDY_MAX_RESULTS];
    const eddy_tensor zero = eddy_number(b->graph, EDDY_INT64, 0),
                      one = eddy_number(b->graph, EDDY_INT64, 1);
    const eddy_tensor numbers = eddy_range(zero, Maximum(count, zero), one);
    s->body.conditional = false;
    start[0] = s->start[0];
    memcpy(start + 1, s->start + 2, (size_t)l->carried * sizeof *start);
    return eddy_loop({ loop_body, &s->body, "body" }, { 1 + l->carried, start }, EDDY_LIST(numbers),
                     y) > 0;
}

/* With stacks and a condition that changes, the loop is run once to count its iterations. */
static bool built_loop(onnx_build *b, const loop *l)
{
    loop_state  s;
    eddy_tensor y[EDDY_MAX_RESULTS];
    memset(&s, 0, sizeof s);
    eddy__onnx_build_captured(b, l->g);
    if (!begin(b, l, &s)) return false;
    const bool counted = l->endless && l->limited;
    int        first = 2;
    if (l->stacked || (counted && l->cond == 1)) {
        eddy_tensor count = limit_of(b, l);
        if (counted) count = Where(s.start[1], count, ZerosLike(count));
        else if (!while_loop(b, l, &s, y)) return false;
        else count = y[0];
        if (!counted_loop(b, l, &s, count, y)) return false;
        first = 1;
    } else if (!while_loop(b, l, &s, y)) return false;
    for (int i = 0; i < b->n_out; i++)
        eddy__onnx_put_as(b, i, y[first + i], s.body.out_types[1 + i]);
    return true;
}

static bool loop_node(onnx_build *b)
{
    loop l;
    if (!loop_of(b, &l)) return false;
    const int64_t nodes = (int64_t)l.g->n_nodes + 1;
    const bool    known = l.trips >= 0 || l.cond == 0 || (!l.limited && !l.endless);
    const bool    is_short = l.trips >= 0 && l.trips <= UNROLLED_NODES / nodes;
    bool          sequences = false;
    for (int i = 0; i < l.carried; i++)
        sequences = sequences || !b->in[2 + i] || b->in[2 + i]->kind != ONNX_TENSOR;
    if (l.cond >= 0 && known && (sequences || (l.endless && is_short) || l.cond == 0))
        return unrolled(b, &l);
    if (l.cond >= 0 && is_short) {      /* if the condition follows from constants */
        const int32_t before = b->reader->base.nodes;
        if (unrolled(b, &l)) return true;
        if (b->support != EDDY_MODEL_BOUND) return false;
        b->reason = NULL;
        b->reader->base.nodes = before;
    }
    return built_loop(b, &l);
}

const onnx_operator eddy__onnx_loop[] = {
    { "Loop", 1, loop_node }, { NULL },
};
