/* random_graph_control.c -- loops and branches of a random graph. Their bodies are made of random
 * parts, which read the arguments and any tensor from outside. */
#include "tests/lib/random_graphs/random_graph.h"
#include "graph/internal.h"

enum { MOST_ROWS = 12, MOST_ARGS = 4 };

/* A function to be built: its first results replace the carried values. */
typedef struct body_spec {
    random_graph *g;
    int           n_args, n_carried, n_more;    /* results of any shape follow the carried ones */
    eddy_shape    shape[MOST_ARGS];             /* of the arguments, when the graph is fed */
    eddy_shape    results[MOST_ARGS];           /* of the carried ones */
    bool          loops;                        /* the first arguments are what they replace */
    bool          counts;                       /* argument 0 is a counter */
} body_spec;

/* ------------------------------------------------------------------- bodies -- */

/* An argument has no value when the graph is built, but here a shape: that of zeros. */
static void show_argument(random_graph *g, eddy_tensor x, eddy_shape s)
{
    if (!g->open) return;
    eddy_array *zeros = eddy_array_new(eddy_dtype_of(x), s);
    eddy_eval_set_in(g->t.session, x, zeros);
    eddy_array_free(zeros);
}

/* A tensor of this shape that depends on x; its static type is that of `like`, if it is valid. */
static eddy_tensor fitted(random_graph *g, eddy_tensor x, eddy_shape s, eddy_tensor like)
{
    eddy_tensor y = pool_tame(g, x);
    if (!eddy_shape_equal(shape_of(g, x), s)) {
        const eddy_tensor part = Mul(Sum(y), 0.125);
        y = Add(Mul(pool_tame(g, pool_of(g, s)), 0.5), Tanh(part));
    }
    if (!eddy_is_valid(like) || eddy_shape_equal(eddy_shape_of(y), eddy_shape_of(like))) return y;
    return ReshapeLike(y, like);
}

/* A slope of something in the body. */
static void differentiate_inside(random_graph *g, eddy_tensor x)
{
    const eddy_tensor dx = eddy_gradient(Sum(pool_tame(g, g->at[g->n - 1])), x);
    if (eddy_is_valid(dx)) pool_add(g, dx);
}

static int build_body(eddy_list in, eddy_tensor *y, void *context)
{
    const body_spec *b = context;
    random_graph    *g = b->g;
    const int        n = g->n, n_others = g->n_others;
    g->depth++;
    for (int i = 0; i < b->n_args; i++) {
        show_argument(g, in.at[i], b->shape[i]);
        pool_add(g, i == 0 && b->counts ? Mul(Cast(in.at[0], g->dtype), 0.25) : in.at[i]);
    }
    for (int i = pick(&g->t, 4); i >= 0; i--) random_part(g);
    if (b->n_args > b->counts && pick(&g->t, 5) == 0)
        differentiate_inside(g, in.at[b->n_args - 1]);
    int m = 0;
    if (b->counts) y[m++] = Add(in.at[0], 1);
    for (; m < b->n_carried; m++) {
        const eddy_tensor like = b->loops ? in.at[m] : EDDY_NO_TENSOR;
        if (pick(&g->t, 12) == 0 && eddy_is_valid(like)) y[m] = like;
        else y[m] = fitted(g, pool_any(g), b->results[m], like);
    }
    for (int i = 0; i < b->n_more; i++)
        y[m++] = b->n_args > 0 && pick(&g->t, 8) == 0 ? in.at[b->n_args - 1] : pool_any(g);
    g->depth--;
    g->n = n;
    g->n_others = n_others;
    return m;
}

static eddy_function function_of(body_spec *b)
{
    return (eddy_function){ .build = build_body, .context = b };
}

static void add_results(random_graph *g, int n, const eddy_tensor *y)
{
    for (int i = 0; i < n; i++) pool_add(g, y[i]);
}

/* Adds x as the next argument, a carried value. */
static eddy_tensor carry(body_spec *b, eddy_tensor x)
{
    b->shape[b->n_args++] = b->results[b->n_carried++] = shape_of(b->g, x);
    return x;
}

/* ----------------------------------------------------------------- branches -- */

/* An int32 scalar that depends on numbers; from 0 to n. */
static eddy_tensor chance(random_graph *g, int n)
{
    if (pick(&g->t, 3) == 0) return eddy_number(g->t.graph, EDDY_INT32, pick(&g->t, n + 1));
    const eddy_tensor x = Sigmoid(Sum(pool_tame(g, pool_any(g))));
    return Cast(Mul(x, (double)n + 0.9), EDDY_INT32);
}

static void branches(random_graph *g)
{
    enum { MOST = 4 };
    eddy_tensor   out[EDDY_MAX_RESULTS], x[MOST_ARGS];
    eddy_function f[MOST];
    body_spec     b[MOST];
    const int     n = 1 + pick(&g->t, MOST), n_x = pick(&g->t, 3), n_out = 1 + pick(&g->t, 2);
    body_spec     common = { .g = g };
    for (int i = 0; i < n_x; i++) {
        x[i] = pool_any(g);
        common.shape[common.n_args++] = shape_of(g, x[i]);
    }
    for (int i = 0; i < n_out; i++)
        common.results[common.n_carried++] = shape_of(g, pool_any(g));
    for (int i = 0; i < n; i++) {
        b[i] = common;
        f[i] = function_of(&b[i]);
    }
    const eddy_list args = { n_x, x };
    if (n == 2 && pick(&g->t, 2))
        add_results(g, eddy_cond(Greater(chance(g, 1), 0), f[0], f[1], out, args), out);
    else if (n > 1 && pick(&g->t, 3) == 0) {
        const eddy_tensor k = chance(g, n), preds[MOST] = { Equal(k, 0), Less(k, 2),
                                                            Greater(k, 2), Equal(k, 1) };
        add_results(g, eddy_case(preds, f, n - 1, out, f[n - 1], .x = args), out);
    } else add_results(g, eddy_switch_case(chance(g, n), f, n, out, args), out);
}

/* -------------------------------------------------------------------- loops -- */

/* The length of the segments for which a gradient keeps values; mostly 0, for no segments. */
static int64_t segment(random_graph *g) { return pick(&g->t, 4) == 0 ? 1 + pick(&g->t, 3) : 0; }

typedef struct limit {
    random_graph *g;
    eddy_tensor   count;
    bool          tests;        /* ... the values too */
} limit;

static int goes_on(eddy_list in, eddy_tensor *y, void *context)
{
    const limit *l = context;
    y[0] = Less(in.at[0], l->count);
    if (l->tests && in.count > 1)
        y[0] = LogicalAnd(y[0], Less(Sum(pool_tame(l->g, in.at[1])), 1.75));
    return 1;
}

static void while_loop(random_graph *g)
{
    eddy_tensor out[EDDY_MAX_RESULTS], x[MOST_ARGS];
    body_spec   b = { .g = g, .loops = true, .counts = true };
    x[0] = carry(&b, eddy_number(g->t.graph, EDDY_INT32, 0));
    for (int i = 1 + pick(&g->t, 2); i > 0; i--) x[b.n_args] = carry(&b, pool_any(g));
    limit         l = { .g = g, .count = chance(g, 4), .tests = pick(&g->t, 3) == 0 };
    const int64_t most = pick(&g->t, 2) ? -1 : 1 + pick(&g->t, 7);
    const eddy_function cond = { .build = goes_on, .context = &l };
    add_results(g, eddy_while_loop(cond, function_of(&b), ((eddy_list){ b.n_args, x }), out,
                                   .maximum_iterations = most, .segment = segment(g)), out);
}

static void iterate(random_graph *g)
{
    eddy_tensor out[EDDY_MAX_RESULTS], x[MOST_ARGS];
    body_spec   b = { .g = g, .loops = true };
    for (int i = 1 + pick(&g->t, 2); i > 0; i--) x[b.n_args] = carry(&b, pool_any(g));
    add_results(g, eddy_iterate(pick(&g->t, 5), function_of(&b), ((eddy_list){ b.n_args, x }),
                                out, .segment = segment(g)), out);
}

/* A tensor of so many rows, or of any number if it is 0. */
static eddy_tensor rows_of(random_graph *g, int64_t n)
{
    for (int i = 0; i < 8; i++) {
        const eddy_tensor x = pool_any(g);
        const eddy_shape  s = shape_of(g, x);
        const bool        has_rows = eddy_shape_of(x).rank > 0 && s.dim[0] > 0;
        if (has_rows && s.dim[0] <= MOST_ROWS && (n == 0 || s.dim[0] == n)) return x;
    }
    eddy_shape s = pool_shape(g, pick(&g->t, 3));
    for (int d = s.rank; d > 0; d--) s.dim[d] = s.dim[d - 1];
    s.dim[0] = n > 0 ? n : 1 + pick(&g->t, 5);
    s.rank++;
    return pool_source(g, s);
}

static eddy_shape row_shape(eddy_shape s)
{
    for (int d = 1; d < s.rank; d++) s.dim[d - 1] = s.dim[d];
    s.rank--;
    return s;
}

/* Adds a tensor of which each iteration gets a row; returns it. */
static eddy_tensor slice(body_spec *b, int64_t n)
{
    const eddy_tensor x = rows_of(b->g, n);
    b->shape[b->n_args++] = row_shape(shape_of(b->g, x));
    return x;
}

static void map(random_graph *g)
{
    eddy_tensor out[EDDY_MAX_RESULTS], x[2];
    body_spec   b = { .g = g, .n_more = 1 + pick(&g->t, 2) };
    x[0] = slice(&b, 0);
    if (pick(&g->t, 2)) x[1] = slice(&b, shape_of(g, x[0]).dim[0]);
    add_results(g, eddy_map_fn(function_of(&b), ((eddy_list){ b.n_args, x }), out,
                               .segment = segment(g)), out);
}

/* scan, foldl and foldr, with an initial value or from the first row. */
static void fold(random_graph *g)
{
    eddy_tensor out[EDDY_MAX_RESULTS], x[1], first[1];
    body_spec   b = { .g = g, .loops = true };
    x[0] = rows_of(g, 0);
    const bool given = eddy_shape_of(x[0]).rank < 0 || pick(&g->t, 2), reverse = pick(&g->t, 2);
    if (given) first[0] = carry(&b, pool_any(g));
    const eddy_shape row = row_shape(shape_of(g, x[0]));
    if (!given) b.shape[b.n_args++] = b.results[b.n_carried++] = row;
    b.shape[b.n_args++] = row;
    const eddy_list     elems = { 1, x }, initial = { given, first };
    const eddy_function f = function_of(&b);
    const int64_t       k = segment(g);
    switch (pick(&g->t, 3)) {
    case 0:  add_results(g, eddy_foldl(f, elems, out, initial, .segment = k), out); break;
    case 1:  add_results(g, eddy_foldr(f, elems, out, initial, .segment = k), out); break;
    default: add_results(g, eddy_scan(f, elems, out, initial, reverse, .segment = k), out); break;
    }
}

static void loop(random_graph *g)
{
    eddy_tensor out[EDDY_MAX_RESULTS], carried[2], rows[1];
    body_spec   b = { .g = g, .loops = true };
    const int   n = pick(&g->t, 3);
    const bool  sliced = n == 0 || pick(&g->t, 3), reverse = pick(&g->t, 2);
    for (int i = 0; i < n; i++) carried[i] = carry(&b, pool_any(g));
    if (sliced) rows[0] = slice(&b, 0);
    b.n_more = n == 0 ? 1 : pick(&g->t, 3);
    add_results(g, eddy_loop(function_of(&b), ((eddy_list){ n, carried }),
                             ((eddy_list){ sliced, rows }), out,
                             .count = sliced ? -1 : pick(&g->t, 5), .reverse = reverse,
                             .segment = segment(g)), out);
}

void random_control(random_graph *g)
{
    switch (pick(&g->t, 7)) {
    case 0: case 1: branches(g); break;
    case 2:         while_loop(g); break;
    case 3:         iterate(g); break;
    case 4:         map(g); break;
    case 5:         fold(g); break;
    default:        loop(g); break;
    }
}
