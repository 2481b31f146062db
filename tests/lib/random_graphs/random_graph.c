/* random_graph.c -- see random_graph.h. */
#include "tests/lib/random_graphs/random_graph.h"
#include "graph/op.h"
#include "optim/optim.h"

enum { MOST_ELEMENTS = 41000, MOST_NODES = 2500 };

/* ------------------------------------------------------------------ the pool -- */

eddy_shape shape_of(random_graph *g, eddy_tensor x)
{
    const eddy_shape s = eddy_shape_of(x);
    if (!g->open || !eddy_is_valid(x) || eddy_shape_is_known(s)) return s;
    const eddy_array *a = eddy_eval_in(g->t.session, x);
    return a ? eddy_array_shape(a) : s;
}

eddy_tensor pool_any(random_graph *g)
{
    return pick(&g->t, 2) ? g->at[g->n - 1] : g->at[pick(&g->t, g->n)];
}

eddy_tensor pool_of(random_graph *g, eddy_shape s)
{
    const int first = pick(&g->t, g->n);
    for (int i = 0; pick(&g->t, 5) && i < g->n; i++) {
        const eddy_tensor x = g->at[(first + i) % g->n];
        if (eddy_shape_equal(shape_of(g, x), s)) return x;
    }
    return pool_source(g, s);
}

static bool is_kept(random_graph *g, eddy_tensor y)
{
    if (!eddy_is_valid(y) || !g->keeps) return eddy_is_valid(y);
    const bool empty = eddy_outputs_of(y) > 0 && eddy_shape_count(shape_of(g, y)) == 0;
    return !empty && g->keeps(y);
}

void pool_keep(random_graph *g, eddy_tensor y)
{
    if (is_kept(g, y) && g->n_others < POOL) g->others[g->n_others++] = y;
}

void pool_fetch(random_graph *g, eddy_tensor y)
{
    if (g->depth == 0 && g->fetch.n < 8) keep_fetch(&g->fetch, y);
}

void pool_add(random_graph *g, eddy_tensor y)
{
    if (!is_kept(g, y)) return;
    const eddy_shape s = shape_of(g, y);
    const bool fits = eddy_shape_is_known(s) && eddy_shape_count(s) <= MOST_ELEMENTS &&
                      s.rank <= 5;
    if (!fits || eddy_dtype_of(y) != g->dtype || g->n == POOL) pool_keep(g, y);
    else g->at[g->n++] = y;
}

eddy_tensor pool_tame(random_graph *g, eddy_tensor x)
{
    switch (pick(&g->t, 6)) {
    case 0:  return Sin(x);
    case 1:  return Sigmoid(x);
    case 2:  return Mul(Tanh(x), 0.5);
    case 3:  return Div(x, Add(Abs(x), 1));
    default: return Tanh(x);
    }
}

eddy_shape pool_shape(random_graph *g, int rank)
{
    for (;;) {
        eddy_shape s = { .rank = rank };
        for (int i = 0; i < rank; i++)
            s.dim[i] = pick(&g->t, 6) ? g->size[pick(&g->t, POOL_SIZES)] : 1;
        if (eddy_shape_count(s) <= MOST_ELEMENTS) return s;
    }
}

/* ------------------------------------------------------------------- sources -- */

static eddy_array *some_numbers(random_graph *g, eddy_shape s)
{
    eddy_array *a = eddy_array_new(g->dtype, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, (pick(&g->t, 4096) - 2048) / 1024.0);
    return a;
}

static eddy_tensor constant_of(random_graph *g, eddy_array *a)
{
    const eddy_tensor x = eddy_constant(g->t.graph, a, NULL);
    eddy_array_free(a);
    return x;
}

static eddy_tensor filled_constant(random_graph *g, eddy_shape s)
{
    static const double numbers[] = { 0, 1, -1, 2, 0.5 };
    const double v = numbers[pick(&g->t, 5)];
    if (pick(&g->t, 3) == 0) return eddy_zeros(g->t.graph, g->dtype, s);
    eddy_array *a = eddy_array_new(g->dtype, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, v);
    return constant_of(g, a);
}

static eddy_tensor fed_numbers(random_graph *g, eddy_shape s)
{
    trial *t = &g->t;
    if (g->open) {
        const eddy_tensor x = fed(t, some_numbers(g, s));
        eddy_eval_set_in(t->session, x, t->array[t->n - 1]);
        return x;
    }
    t->array[t->n] = some_numbers(g, s);
    return t->tensor[t->n++] = eddy_placeholder(t->graph, NULL, g->dtype, s);
}

eddy_tensor pool_source(random_graph *g, eddy_shape s)
{
    const int   kind = pick(&g->t, 8);
    eddy_tensor x;
    if (kind < 2 && g->n_variables < POOL_VARIABLES && !g->behind) {
        x = eddy_variable(g->t.graph, constant_of(g, some_numbers(g, s)));
        g->variable[g->n_variables++] = x;
    } else if (kind == 2) x = filled_constant(g, s);
    else if (kind == 3 || g->t.n == TRIAL_FEEDS) x = constant_of(g, some_numbers(g, s));
    else x = fed_numbers(g, s);
    pool_add(g, x);
    return x;
}

static const int64_t few[] = { 1, 2, 3, 3, 4, 5, 7, 8, 16, 18 };

/* Sizes at which loops end: none, one, few, and those around tiles and blocks. */
static void draw_sizes(random_graph *g)
{
    static const int64_t borders[] = { 63, 64, 65, 127, 1023, 1024, 1025, 2049, 5000, 20011 };
    const int kind = pick(&g->t, 20);
    for (int i = 0; i < POOL_SIZES; i++) g->size[i] = few[pick(&g->t, 10)];
    if (kind == 0 && !g->keeps) g->size[pick(&g->t, POOL_SIZES)] = 0;
    else if (kind > 0 && kind < 7) {
        for (int i = 0; i < POOL_SIZES; i++) g->size[i] = few[pick(&g->t, 5)];
        g->size[pick(&g->t, POOL_SIZES)] = borders[pick(&g->t, 10)];
    }
}

/* ----------------------------------------------------------------- gradients -- */

/* A scalar that depends on some of the last tensors. */
static eddy_tensor some_sum(random_graph *g)
{
    eddy_tensor sum = eddy_number(g->t.graph, g->dtype, 0);
    for (int i = 0; i < 3; i++) {
        const eddy_tensor x = g->at[g->n - 1 - pick(&g->t, g->n < 8 ? g->n : 8)];
        sum = Add(sum, pick(&g->t, 2) ? Sum(pool_tame(g, x)) : Mean(Square(pool_tame(g, x))));
    }
    return sum;
}

/* Some of the feeds, the variables and the other tensors; all float. */
static int some_sources(random_graph *g, eddy_tensor *xs, int most)
{
    int n = 0;
    for (int i = 0; i < most; i++) {
        const int kind = pick(&g->t, 3);
        if (kind == 0 && g->t.n > 0) xs[n] = g->t.tensor[pick(&g->t, g->t.n)];
        else if (kind == 1 && g->n_variables > 0) xs[n] = g->variable[pick(&g->t, g->n_variables)];
        else xs[n] = pool_any(g);
        n += eddy_dtype_of(xs[n]) == g->dtype;
    }
    return n;
}

static void differentiate(random_graph *g)
{
    enum { MOST = 4 };
    eddy_tensor xs[MOST], dx[MOST], ddx[MOST], sum = some_sum(g), squares = { 0 };
    const int n = some_sources(g, xs, MOST);
    pool_keep(g, sum);
    eddy_gradients(EDDY_LIST(sum), ((eddy_list){ n, xs }), dx);
    for (int k = 0; k < n; k++) {
        keep_fetch(&g->fetch, dx[k]);
        if (!eddy_is_valid(dx[k])) continue;
        const eddy_tensor s = Sum(Square(dx[k]));
        squares = eddy_is_valid(squares) ? Add(squares, s) : s;
    }
    if (pick(&g->t, 4) || !eddy_is_valid(squares) || eddy_graph_size(g->t.graph) > MOST_NODES / 4)
        return;
    eddy_gradients(EDDY_LIST(squares), ((eddy_list){ n, xs }), ddx);
    for (int k = 0; k < n; k++) keep_fetch(&g->fetch, ddx[k]);
}

static void optimize(random_graph *g)
{
    eddy_graph *graph = g->t.graph;
    eddy_tensor dx[POOL_VARIABLES], loss = some_sum(g);
    bool        any = false;
    const eddy_tensor rate = eddy_number(graph, g->dtype, 0.125);
    eddy_gradients(EDDY_LIST(loss), ((eddy_list){ g->n_variables, g->variable }), dx);
    for (int k = 0; k < g->n_variables; k++) any = any || eddy_is_valid(dx[k]);
    if (!any) return;
    eddy_optimizer *o;
    switch (pick(&g->t, 4)) {
    case 0:  o = eddy_gradient_descent(graph, rate); break;
    case 1:  o = eddy_momentum(graph, rate, eddy_number(graph, g->dtype, 0.5)); break;
    case 2:  o = eddy_momentum(graph, rate, eddy_number(graph, g->dtype, 0.5), true); break;
    default: o = eddy_adam(graph, rate); break;
    }
    g->train = eddy_minimize(o, loss);
    keep_fetch(&g->fetch, g->train);
}

/* ----------------------------------------------------------------- the whole -- */

static void keep_some(random_graph *g)
{
    keep_fetch(&g->fetch, g->at[g->n - 1]);
    for (int i = pick(&g->t, 8); i >= 0; i--)
        if (g->fetch.n < FETCHES - 6) keep_fetch(&g->fetch, g->at[pick(&g->t, g->n)]);
    for (int i = pick(&g->t, 8); i >= 0 && g->n_others > 0; i--)
        if (g->fetch.n < FETCHES - 6) keep_fetch(&g->fetch, g->others[pick(&g->t, g->n_others)]);
}

/* A value in place of the output of an operation. */
static void feed_some(random_graph *g)
{
    enum { NOT = EDDY_OP_VARIABLE | EDDY_OP_PLACEHOLDER | EDDY_OP_UPDATES };
    const eddy_tensor x = g->at[pick(&g->t, g->n)];
    if (g->t.n == TRIAL_FEEDS || (eddy_node_of(x)->op->flags & NOT)) return;
    g->t.array[g->t.n] = some_numbers(g, shape_of(g, x));
    g->t.tensor[g->t.n++] = x;
}

/* One of the graph's sizes becomes another where it is open. */
static void feed_otherwise(random_graph *g)
{
    const int64_t size = g->size[pick(&g->t, POOL_SIZES)], other = few[pick(&g->t, 10)];
    for (int i = 0; i < g->t.n; i++) {
        const eddy_shape known = eddy_shape_of(g->t.tensor[i]);
        eddy_shape       s = eddy_array_shape(g->t.array[i]);
        for (int k = 0; k < s.rank; k++)
            if (s.dim[k] == size && (known.rank < 0 || known.dim[k] < 0)) s.dim[k] = other;
        g->other[i] = some_numbers(g, s);
    }
}

/* Gradients and updates are fetched whether they are kept or not. */
static void filter_fetches(random_graph *g)
{
    int n = 0;
    for (int i = 0; i < g->fetch.n; i++)
        if (is_kept(g, g->fetch.at[i])) g->fetch.at[n++] = g->fetch.at[i];
    g->fetch.n = n;
    if (!is_kept(g, g->train)) g->train = EDDY_NO_TENSOR;
}

random_graph random_graph_new(unsigned seed) { return random_graph_of(seed, NULL); }

random_graph random_graph_of(unsigned seed, random_filter keeps)
{
    random_graph g = { .seed = seed, .keeps = keeps,
                       .t = { .graph = eddy_graph_new(), .random = seed * 0x9e3779b97f4a7c15u + 1 },
                       .fetch = { .title = "random graph" } };
    for (int i = 0; i < 3; i++) pick(&g.t, 2);
    g.open = seed % 3 == 2;
    g.wide = seed % 4 == 3;
    if (g.open) g.t.session = eddy_session_new(g.t.graph, .threads = 1);
    g.dtype = pick(&g.t, 3) ? EDDY_FLOAT64 : EDDY_FLOAT32;
    draw_sizes(&g);
    for (int i = 0; i < 3 || g.n == 0; i++) pool_source(&g, pool_shape(&g, 1 + pick(&g.t, 3)));
    const int parts = 3 + pick(&g.t, pick(&g.t, 4) ? 14 : 40);
    for (int i = 0; i < parts && eddy_graph_size(g.t.graph) < MOST_NODES / 8; i++) random_part(&g);
    if (pick(&g.t, 2)) differentiate(&g);
    if (g.n_variables > 0 && pick(&g.t, 3) == 0) optimize(&g);
    for (int i = pick(&g.t, 3); i > 0; i--) random_part(&g);
    keep_some(&g);
    if (pick(&g.t, 8) == 0) feed_some(&g);
    if (g.open) feed_otherwise(&g);
    if (keeps) filter_fetches(&g);
    return g;
}

void random_graph_free(random_graph *g)
{
    free_arrays(TRIAL_FEEDS, g->other);
    trial_end(&g->t);
}
