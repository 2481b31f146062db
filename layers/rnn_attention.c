/* rnn_attention.c -- attention of a recurrent cell to a sequence, the memory: additive (Bahdanau)
 * and multiplicative (Luong).
 *
 * Whatever depends on the memory alone, its keys above all, is built once, when the mechanism is
 * made, and so is outside of any loop. */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "layers/rnn_cells.h"
#include "layers/rnn_internal.h"
#include "ops/short_names.h"

#include <math.h>

struct eddy_attention_mechanism {
    eddy_graph   *graph;
    eddy_dtype    dtype;
    bool          additive;
    int64_t       num_units, depth;
    const char   *name;
    eddy_init     initializer;
    bool          not_trainable;
    int64_t       seed;
    eddy_tensor   keys, values;     /* [batch, steps, num_units], [batch, steps, depth] */
    eddy_tensor   seen;             /* bool [batch, 1, steps]; invalid: all steps */
    eddy_tensor   g, v, b;          /* g or b invalid: left out */
    eddy_tensor   query_kernel;     /* made when the size of a query is known */
    int64_t       query_size;
};

/* The kernel of a layer without a bias. */
static eddy_tensor kernel_in(const eddy_layer *l, const char *scope, int64_t rows, int64_t columns,
                             eddy_init init, int part)
{
    eddy_layer at = *l;
    at.name = scope;
    eddy__layer_begin(&at);
    eddy_tensor w = eddy__layer_variable(&at, (eddy_layer_weight){
        .name = "kernel", .shape = EDDY_SHAPE(rows, columns), .init = init,
        .otherwise = eddy_glorot_uniform_initializer(), .part = part });
    return eddy__layer_end(&at, w);
}

static eddy_layer layer_of(const eddy_attention_mechanism *m)
{
    return (eddy_layer){ .graph = m->graph, .who = m->name, .name = m->name, .dtype = m->dtype,
                         .not_trainable = m->not_trainable, .seed = m->seed };
}

/* -------------------------------------------------------------- mechanism -- */

static void make_vectors(eddy_attention_mechanism *m, const eddy_layer *l, bool normalize)
{
    const int64_t n = m->num_units;
    if (m->additive)
        m->v = eddy__layer_variable(l, (eddy_layer_weight){
            .name = "attention_v", .shape = EDDY_SHAPE(n), .init = m->initializer,
            .otherwise = eddy_glorot_uniform_initializer(), .part = 2 });
    if (!normalize) return;
    const double first = m->additive ? 1 / sqrt((double)n) : 1;
    m->g = eddy__layer_variable(l, (eddy_layer_weight){
        .name = "attention_g", .shape = EDDY_SCALAR, .init = eddy_constant_initializer(first) });
    if (!m->additive) return;
    m->b = eddy__layer_variable(l, (eddy_layer_weight){ .name = "attention_b",
                                                        .shape = EDDY_SHAPE(n) });
    m->v = Mul(m->v, Div(m->g, Sqrt(Sum(Square(m->v)))));
}

static void make_memory(eddy_attention_mechanism *m, const eddy_layer *l,
                        const eddy_attention_mechanism_args *a)
{
    m->values = a->memory;
    if (a->memory_sequence_length.graph) {
        const eddy_tensor lengths = eddy__layer_lengths("memory_sequence_length",
                                                        a->memory_sequence_length, a->memory, 0);
        const eddy_tensor seen = eddy__layer_valid_positions(a->memory, lengths, 1);
        m->values = Where(ExpandDims(seen, -1), a->memory, 0);
        m->seen = ExpandDims(seen, 1);
    }
    m->keys = MatMul(m->values, kernel_in(l, "memory_layer", m->depth, m->num_units,
                                          m->initializer, 0));
}

static eddy_attention_mechanism *make_mechanism(bool additive,
                                                const eddy_attention_mechanism_args *given)
{
    eddy_attention_mechanism_args a = EDDY_TAKE(eddy_attention_mechanism_args, given);
    const char *name = additive ? "bahdanau_attention" : "luong_attention";
    eddy_layer  l = { .who = name, .name = a.name && *a.name ? a.name : name };
    if (!eddy__layer_check_input(&l, a.memory) || !eddy__layer_check_rank(&l, a.memory, 3, 2) ||
        !eddy__layer_check_count(&l, "num_units", a.num_units) ||
        !eddy__layer_check_lengths(name, "memory_sequence_length", a.memory_sequence_length,
                                   a.memory, 0))
        return NULL;
    eddy_graph               *g = a.memory.graph;
    eddy_attention_mechanism *m = eddy__cell_room(g, name, sizeof *m);
    const char               *copy = eddy__cell_text(g, l.name, name);
    if (!m || !copy) return NULL;
    *m = (eddy_attention_mechanism){ .graph = g, .dtype = l.dtype, .additive = additive,
                                     .num_units = a.num_units, .name = copy,
                                     .depth = eddy_shape_of(a.memory).dim[2],
                                     .initializer = a.kernel_initializer, .seed = a.seed,
                                     .not_trainable = a.not_trainable };
    l = layer_of(m);
    eddy__layer_begin(&l);
    make_memory(m, &l, &a);
    make_vectors(m, &l, a.normalize);
    eddy_scope_end(g);
    return eddy__graph_ready(g) ? m : NULL;
}

eddy_attention_mechanism *eddy_bahdanau_attention_with(const eddy_attention_mechanism_args *given)
{
    return make_mechanism(true, given);
}

eddy_attention_mechanism *eddy_luong_attention_with(const eddy_attention_mechanism_args *given)
{
    return make_mechanism(false, given);
}

/* ------------------------------------------------------------- alignments -- */

static bool make_query_kernel(eddy_attention_mechanism *m, int64_t size)
{
    const eddy_layer l = layer_of(m);
    eddy__layer_begin(&l);
    m->query_size = size;
    m->query_kernel = kernel_in(&l, "query_layer", size, m->num_units, m->initializer, 1);
    eddy_scope_end(m->graph);
    return eddy__graph_ready(m->graph);
}

/* Queries of `size` columns fit; an additive mechanism gets its kernel for them. */
static bool prepare_query(eddy_attention_mechanism *m, int64_t size)
{
    static const char what[] = "the number of columns of the queries";
    const int64_t     want = m->additive ? m->query_size : m->num_units;
    if (want == size && size > 0) return true;
    if (want == 0 && size > 0) return make_query_kernel(m, size);
    if (size < 0) eddy_fail(m->graph, EDDY_BAD_SHAPE, "%s: %s must be known", m->name, what);
    else if (want == 0)
        eddy_fail(m->graph, EDDY_BAD_SHAPE, "%s: %s is 0; it must be positive", m->name, what);
    else
        eddy_fail(m->graph, EDDY_BAD_SHAPE, "%s: %s is %lld; expected %lld", m->name, what,
                  (long long)size, (long long)want);
    return false;
}

/* [batch, n, steps] of queries [batch, n, size] */
static eddy_tensor scores_of(const eddy_attention_mechanism *m, eddy_tensor query)
{
    if (!m->additive) {
        eddy_tensor y = MatMul(query, m->keys, .transpose_b = true);
        return m->g.graph ? Mul(m->g, y) : y;
    }
    eddy_tensor q = ExpandDims(MatMul(query, m->query_kernel), 2);
    eddy_tensor z = Add(q, ExpandDims(m->keys, 1));
    if (m->b.graph) z = Add(z, m->b);
    return Sum(Mul(m->v, Tanh(z)), EDDY_AXES(-1));
}

static eddy_tensor align(const eddy_attention_mechanism *m, eddy_tensor query)
{
    const eddy_tensor scores = scores_of(m, query);
    if (!m->seen.graph) return Softmax(scores);
    /* not infinite, so that a memory without steps gives 0 and not NaN */
    return Where(m->seen, Softmax(Where(m->seen, scores, -1e30)), 0);
}

eddy_tensor eddy_attention_alignments(eddy_attention_mechanism *m, eddy_tensor query)
{
    const eddy_shape s = eddy_shape_of(query);
    char             text[200];
    if (!m) return eddy_fail(query.graph, EDDY_INVALID_ARGUMENT, "attention_alignments: there is "
                             "no mechanism");
    if (!eddy_is_valid(query)) return eddy_identity(query);
    if (query.graph != m->graph || (s.rank != 2 && s.rank != 3))
        return eddy_fail(query.graph, EDDY_BAD_SHAPE,
                         "attention_alignments: the query has shape %s%s; expected [batch, depth] "
                         "or [batch, n, depth]", eddy_shape_print(s, text, sizeof text),
                         query.graph == m->graph ? "" : ", in another graph");
    if (!prepare_query(m, s.dim[s.rank - 1])) return eddy_none(query.graph);
    if (s.rank == 3) return align(m, query);
    return Squeeze(align(m, ExpandDims(query, 1)), .axes = EDDY_AXES(1));
}

/* ---------------------------------------------------------------- wrapper -- */

typedef struct attentive {
    eddy_attention_wrapper_args args;
    eddy_rnn_state              state[EDDY_MAX_STATES + 1];
    int64_t                     size;       /* of the attention */
    eddy_tensor                 kernel;     /* of the attention layer */
    bool                        prepared;
} attentive;

static bool attentive_prepare(eddy_graph *g, eddy_type x, void *context)
{
    attentive                *w = context;
    eddy_attention_mechanism *m = w->args.mechanism;
    const int64_t             query = w->args.cell.output.dim[0];
    char                      text[200];
    if (g != m->graph || x.shape.rank != 2 || x.dtype != m->dtype) {
        eddy_fail(g, EDDY_BAD_SHAPE, "attention_wrapper: the input of a step is %s%s; expected %s "
                  "[batch, n]", eddy_type_print(x, text, sizeof text),
                  g == m->graph ? "" : " in another graph", eddy_dtype_name(m->dtype));
        return false;
    }
    if (!prepare_query(m, query)) return false;
    eddy_layer l = layer_of(m);
    l.name = w->args.name;
    l.seed = w->args.seed;
    l.not_trainable = w->args.not_trainable;
    if (!w->prepared) eddy__layer_begin(&l);
    if (x.shape.dim[1] >= 0) x.shape.dim[1] += w->size;
    bool done = eddy__cell_prepare(g, "attention_wrapper", &w->args.cell, x);
    if (w->prepared) return done;
    if (done && w->args.attention_layer_size > 0)
        w->kernel = kernel_in(&l, "attention_layer", query + m->depth, w->size,
                              w->args.kernel_initializer, 0);
    w->prepared = true;
    eddy_scope_end(g);
    return done && eddy__graph_ready(g);
}

static int attentive_step(eddy_list in, eddy_tensor *y, void *context)
{
    const attentive                *w = context;
    const eddy_attention_mechanism *m = w->args.mechanism;
    const eddy_rnn_cell            *cell = &w->args.cell;
    const int                       n = cell->n_state;
    eddy_tensor x = eddy_concat(EDDY_LIST(in.at[0], in.at[n + 1]), 1);
    const eddy_tensor query = eddy__cell_call(
        "attention_wrapper", cell, eddy__cell_project(cell, x), in.at + 1, y + 1);
    if (!eddy_is_valid(query)) return 0;
    const eddy_tensor alignments = align(m, ExpandDims(query, 1));
    eddy_tensor attention = Squeeze(MatMul(alignments, m->values), .axes = EDDY_AXES(1));
    if (w->kernel.graph) attention = MatMul(eddy_concat(EDDY_LIST(query, attention), 1), w->kernel);
    y[0] = w->args.output_attention ? attention : query;
    y[n + 1] = attention;
    return n + 2;
}

static bool check_wrapper(eddy_graph *g, const eddy_attention_wrapper_args *a)
{
    static const char who[] = "attention_wrapper";
    if (!eddy__cell_check(g, who, &a->cell)) return false;
    if (a->attention_layer_size < 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: attention_layer_size is %lld", who,
                  (long long)a->attention_layer_size);
    else if (a->cell.output.rank != 1 || a->cell.output.dim[0] < 1)
        eddy_fail(g, EDDY_BAD_SHAPE, "%s: %.200s needs outputs of a known number of columns", who,
                  eddy__cell_title(&a->cell));
    else if (a->cell.n_state >= EDDY_MAX_STATES)
        eddy_fail(g, EDDY_LIMIT, "%s: the cell has %d tensors of state; at most %d expected", who,
                  a->cell.n_state, EDDY_MAX_STATES - 1);
    return eddy__graph_ready(g);
}

eddy_rnn_cell eddy_attention_wrapper_with(const eddy_attention_wrapper_args *given)
{
    static const char           who[] = "attention_wrapper";
    eddy_attention_wrapper_args a = EDDY_TAKE(eddy_attention_wrapper_args, given);
    if (!a.mechanism || !check_wrapper(a.mechanism->graph, &a)) return EDDY_NO_CELL;
    eddy_graph *g = a.mechanism->graph;
    attentive  *w = eddy__cell_room(g, who, sizeof *w);
    a.name = eddy__cell_text(g, a.name, who);
    if (!w || !a.name) return EDDY_NO_CELL;
    const int n = a.cell.n_state;
    *w = (attentive){ .args = a, .size = a.attention_layer_size ? a.attention_layer_size
                                                                : a.mechanism->depth };
    for (int k = 0; k < n; k++) w->state[k] = a.cell.state[k];
    w->state[n] = (eddy_rnn_state){ .shape = EDDY_SHAPE(w->size) };
    return (eddy_rnn_cell){
        .f = { .build = attentive_step, .context = w, .name = a.name },
        .n_state = n + 1,
        .state = w->state,
        .output = a.output_attention ? EDDY_SHAPE(w->size) : a.cell.output,
        .prepare = attentive_prepare,
    };
}
