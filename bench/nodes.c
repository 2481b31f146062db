/* nodes.c -- the cost of a node apart from its arithmetic: building, differentiating, compiling,
 * running. The graph is a chain of scalar operations, x = tanh(x w + u), repeated, or the steps of
 * a Runge-Kutta method. */
#include "bench/bench.h"

#include <eddy/ops/short_names.h>
#include <stdlib.h>

enum { REPEATS = 9, RUNS = 300, EMPTY_RUNS = 2000, SHORT = 999, LONG = 9999, VERY_LONG = 99999,
       LONGEST = 999999 };

typedef struct chain {
    int           n;            /* operations */
    eddy_graph   *graph;
    eddy_tensor   x, w, u, y;
    eddy_tensor   d[3];         /* dy/dx, dy/dw, dy/du */
    eddy_session *session;
    double        build_ns, gradient_ns;     /* in all */
    double        build_bytes, gradient_bytes;
} chain;

/* Bytes that the graph and its session allocated; and those that are not released. */
static double asked, held;

static void *counting_allocate(void *context, size_t size)
{
    (void)context;
    asked += (double)size;
    held += (double)size;
    return malloc(size);
}

static void counting_release(void *context, void *p, size_t size)
{
    (void)context;
    held -= (double)size;
    free(p);
}

static chain make_chain(int n)
{
    chain  c = { .n = n };
    static const eddy_allocator counting = { counting_allocate, counting_release, NULL };
    asked = held = 0;
    double start = bench_now();
    c.graph = eddy_graph_new(.allocator = &counting);
    c.x = eddy_placeholder(c.graph, "x", EDDY_FLOAT32, EDDY_SCALAR);
    c.w = eddy_placeholder(c.graph, "w", EDDY_FLOAT32, EDDY_SCALAR);
    c.u = eddy_placeholder(c.graph, "u", EDDY_FLOAT32, EDDY_SCALAR);
    c.y = c.x;
    for (int i = 0; i < n / 3; i++) c.y = eddy_tanh(eddy_add(eddy_mul(c.y, c.w), c.u));
    double built = bench_now();
    c.build_bytes = asked;
    eddy_gradients(EDDY_LIST(c.y), EDDY_LIST(c.x, c.w, c.u), c.d);
    c.build_ns = 1e9 * (built - start);
    c.gradient_ns = 1e9 * (bench_now() - built);
    c.gradient_bytes = asked - c.build_bytes;
    bench_need(eddy_graph_status(c.graph) == EDDY_OK, eddy_graph_message(c.graph));
    c.session = eddy_session_new(c.graph);
    return c;
}

static void free_chain(chain *c)
{
    eddy_session_free(c->session);
    eddy_graph_free(c->graph);
}

/* One run of y, or of y and its derivatives; nanoseconds. */
static double run(chain *c, eddy_callable *call, eddy_array **out)
{
    static float      value[3] = { 0.5f, 1.1f, 0.01f };
    const eddy_array *feed[3];
    eddy_array       *lent[3];
    for (int i = 0; i < 3; i++)
        feed[i] = lent[i] = eddy_array_borrow(EDDY_FLOAT32, EDDY_SCALAR, &value[i]);
    double      start = bench_now();
    eddy_status s = eddy_callable_run(call, feed, out);
    double      took = 1e9 * (bench_now() - start);
    bench_need(s == EDDY_OK, eddy_session_message(c->session));
    for (int i = 0; i < 3; i++) eddy_array_free(lent[i]);
    return took;
}

static eddy_callable *forward(chain *c)
{
    return eddy_callable_new(c->session, EDDY_LIST(c->x, c->w, c->u), EDDY_LIST(c->y));
}

static eddy_callable *with_gradient(chain *c)
{
    return eddy_callable_new(c->session, EDDY_LIST(c->x, c->w, c->u),
                             EDDY_LIST(c->y, c->d[0], c->d[1], c->d[2]));
}

/* ------------------------------------------------------------- what it costs -- */

/* Building, differentiating and compiling chains of n operations. */
static void measure_making(bench_table *t, int n, int repeats, const char *const names[3])
{
    static bench_samples build, gradient, compile;
    build.n = gradient.n = compile.n = 0;
    for (int k = 0; k < repeats; k++) {
        chain       c = make_chain(n);
        eddy_array *out[4] = { NULL };
        eddy_callable *call = with_gradient(&c);
        double before = held;
        double first = run(&c, call, out), again = run(&c, call, out);
        const eddy_plan_info info = eddy_session_plan_info(c.session);
        const int            nodes = info.nodes;
        bench_add(&build, c.build_ns / n);
        bench_add(&gradient, c.gradient_ns / n);
        bench_add(&compile, (first - again) / nodes);
        if (k == 0)
            printf("nodes: %d ops: %.0f bytes an op to build, %.0f to differentiate; a plan keeps "
                   "%.0f bytes a node\n", n, c.build_bytes / n, c.gradient_bytes / n,
                   (held - before - (double)info.arena_bytes) / nodes);
        for (int i = 0; i < 4; i++) eddy_array_free(out[i]);
        free_chain(&c);
    }
    bench_enter(t, names[0], &build, "ns/op");
    bench_enter(t, names[1], &gradient, "ns/op");
    bench_enter(t, names[2], &compile, "ns/node");
}

/* Runs of a chain that is compiled, per operation of the forward chain. */
static void measure_running(bench_table *t, chain *c, eddy_callable *call, const char *name,
                            const char *per_instruction)
{
    static bench_samples each, instruction;
    eddy_array *out[4] = { NULL };
    each.n = instruction.n = 0;
    run(c, call, out);
    eddy_plan_info info = eddy_session_plan_info(c->session);
    for (int i = 0; i < RUNS; i++) {
        double took = run(c, call, out);
        bench_add(&each, took / c->n);
        bench_add(&instruction, took / info.instructions);
    }
    printf("nodes: %s: %d nodes, %d instructions, arena %zu bytes, lower bound %zu", name,
           info.nodes, info.instructions, info.arena_bytes, info.live_bytes);
    if (out[2]) printf(", dy/dw %.6g", eddy_array_item(out[2]));
    printf("\n");
    for (int i = 0; i < 4; i++) eddy_array_free(out[i]);
    bench_enter(t, name, &each, "ns/op");
    bench_enter(t, per_instruction, &instruction, "ns");
}

static void measure_empty(bench_table *t)
{
    enum { AT_ONCE = 100 };
    static bench_samples plain, called;
    eddy_graph    *g = eddy_graph_new();
    eddy_tensor    nothing = eddy_no_op(g, "nothing");
    eddy_session  *s = eddy_session_new(g);
    eddy_callable *c = eddy_callable_new(s, EDDY_LIST(), EDDY_LIST(nothing));
    eddy_status    status = EDDY_OK;
    for (int i = 0; i < EMPTY_RUNS / AT_ONCE; i++) {
        double start = bench_now();
        for (int k = 0; k < AT_ONCE; k++)
            status |= eddy_run(s, EDDY_FEED(), EDDY_FETCH(nothing), NULL);
        double middle = bench_now();
        for (int k = 0; k < AT_ONCE; k++) status |= eddy_callable_run(c, NULL, NULL);
        bench_add(&called, 1e9 * (bench_now() - middle) / AT_ONCE);
        bench_add(&plain, 1e9 * (middle - start) / AT_ONCE);
    }
    bench_need(status == EDDY_OK, eddy_session_message(s));
    bench_enter(t, "empty run, eddy_run", &plain, "ns");
    bench_enter(t, "empty run, eddy_callable_run", &called, "ns");
    eddy_session_free(s);
    eddy_graph_free(g);
}

/* ------------------------------------------------------- a Runge-Kutta method -- */

static eddy_tensor slope(eddy_tensor y, eddy_tensor k) { return Mul(eddy_sin(y), k); }

/* y' = k sin(y), 200 steps and the derivatives by y and k, with fused loops or without. */
static void measure_method(bench_table *t, eddy_shape shape, unsigned without, const char *name)
{
    static float start[4] = { 0.5f, 0.6f, 0.7f, 0.8f }, factor[4] = { 1.1f, 1.2f, 1.3f, 1.4f };
    static bench_samples each;
    eddy_graph  *g = eddy_graph_new();
    eddy_tensor  from = eddy_placeholder(g, "y", EDDY_FLOAT32, shape), d[2], y = from;
    eddy_tensor  k = eddy_placeholder(g, "k", EDDY_FLOAT32, shape);
    for (int i = 0; i < 200; i++) {
        eddy_tensor a = slope(y, k), b = slope(Add(y, Mul(0.005, a)), k);
        eddy_tensor c = slope(Add(y, Mul(0.005, b)), k), e = slope(Add(y, Mul(0.01, c)), k);
        y = Add(y, Mul(0.01 / 6, Add(Add(a, Mul(2, b)), Add(Mul(2, c), e))));
    }
    eddy_gradients(EDDY_LIST(Sum(y)), EDDY_LIST(from, k), d);
    eddy_session  *s = eddy_session_new(g, .threads = 1, .without = without);
    eddy_callable *call = eddy_callable_new(s, EDDY_LIST(from, k), EDDY_LIST(y, d[0], d[1]));
    eddy_array    *lent[2] = { eddy_array_borrow(EDDY_FLOAT32, shape, start),
                               eddy_array_borrow(EDDY_FLOAT32, shape, factor) };
    eddy_array    *out[3] = { NULL };
    eddy_status    status = EDDY_OK;
    each.n = 0;
    for (int i = 0; i < RUNS; i++) {
        double begin = bench_now();
        status |= eddy_callable_run(call, (const eddy_array *const *)lent, out);
        if (i > 0) bench_add(&each, 1e3 * (bench_now() - begin));
    }
    bench_need(status == EDDY_OK, eddy_session_message(s));
    bench_enter(t, name, &each, "ms");
    for (int i = 0; i < 3; i++) eddy_array_free(out[i]);
    for (int i = 0; i < 2; i++) eddy_array_free(lent[i]);
    eddy_session_free(s);
    eddy_graph_free(g);
}

int main(void)
{
    static const char *const names[3][3] = {
        { "build, 10^4 ops", "differentiate, 10^4 ops", "compile with gradient, 10^4 ops" },
        { "build, 10^5 ops", "differentiate, 10^5 ops", "compile with gradient, 10^5 ops" },
        { "build, 10^6 ops", "differentiate, 10^6 ops", "compile with gradient, 10^6 ops" },
    };
    bench_table t = { .program = "nodes: a chain of scalar ops" };
    chain       c = make_chain(SHORT);
    measure_running(&t, &c, forward(&c), "run forward, 999 ops", "  per instruction");
    measure_running(&t, &c, with_gradient(&c), "run with gradient, 999 ops",
                    "  per instruction, gradient");
    free_chain(&c);
    measure_empty(&t);
    measure_method(&t, EDDY_SCALAR, 0, "200 Runge-Kutta steps of a number");
    measure_method(&t, EDDY_SCALAR, EDDY_PASS_FUSE, "  without fused loops");
    measure_method(&t, EDDY_SHAPE(4), 0, "200 Runge-Kutta steps of four numbers");
    measure_method(&t, EDDY_SHAPE(4), EDDY_PASS_FUSE, "  without fused loops");
    measure_making(&t, LONG, REPEATS, names[0]);
    measure_making(&t, VERY_LONG, 3, names[1]);
    measure_making(&t, LONGEST, 1, names[2]);
    bench_print(&t);
    return 0;
}
