/* jacobians.c -- Jacobians and Hessians: processor time and the planned memory of a run, on one
 * thread. The ways to compute one matrix take turns. */
#include "bench/bench.h"

#include <string.h>

enum { ROUNDS = 7, WARM_UP = 1, WAYS = 3, N = 500, RESIDUALS = 10000, PARAMETERS = 5 };

typedef struct problem {
    const char  *name;
    eddy_tensor (*build)(eddy_graph *g, eddy_tensor x);
    int64_t      size;                         /* of x */
} problem;

/* A run computes what depends on variables once, so all numbers are fed. */
enum { FEEDS = 4 };
static eddy_tensor fed[FEEDS];
static eddy_array *values[FEEDS];
static int         n_fed;

static eddy_tensor uniform(eddy_graph *g, eddy_shape s, int seed)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, s);
    bench_need(a && n_fed < FEEDS, "out of memory");
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, (double)(bench_word((uint64_t)seed, (uint64_t)i) >> 11) * 0x1p-52 - 1);
    values[n_fed] = a;
    return fed[n_fed++] = eddy_placeholder(g, NULL, EDDY_FLOAT64, s);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static eddy_tensor jacobian(eddy_tensor y, eddy_tensor x)
{
    eddy_tensor j = eddy_none(x.graph);
    eddy_jacobian(y, EDDY_LIST(x), &j);
    return j;
}

static eddy_tensor hessian(eddy_tensor y, eddy_tensor x)
{
    eddy_tensor h = eddy_none(x.graph);
    eddy_hessians(y, EDDY_LIST(x), &h);
    return h;
}

/* ------------------------------------------------------------- linear layers -- */

static eddy_tensor times_vector(eddy_graph *g, eddy_tensor x)
{
    return eddy_matvec(uniform(g, EDDY_SHAPE(N, N), 1), x);
}

static eddy_tensor row_times(eddy_graph *g, eddy_tensor x)
{
    const eddy_tensor row = eddy_expand_dims(x, 0);
    return eddy_squeeze(
        eddy_matmul(row, uniform(g, EDDY_SHAPE(N, N), 1), .transpose_b = true), EDDY_AXES(0));
}

static eddy_tensor column(eddy_graph *g, eddy_tensor x) { return jacobian(times_vector(g, x), x); }
static eddy_tensor row(eddy_graph *g, eddy_tensor x)    { return jacobian(row_times(g, x), x); }

static eddy_tensor column_hessian(eddy_graph *g, eddy_tensor x)
{
    return hessian(eddy_logsumexp(times_vector(g, x)), x);
}
static eddy_tensor row_hessian(eddy_graph *g, eddy_tensor x)
{
    return hessian(eddy_logsumexp(row_times(g, x)), x);
}

/* ----------------------------------------------------------- a fit to a curve -- */

/* p0 exp(-p1 t) + p2 sin(p3 t + p4) at 10 000 times. */
static eddy_tensor residuals(eddy_graph *g, eddy_tensor p)
{
    eddy_tensor t = uniform(g, EDDY_SHAPE(RESIDUALS), 2), at[PARAMETERS];
    for (int i = 0; i < PARAMETERS; i++)
        at[i] = eddy_slice(p, EDDY_DIMS(i), EDDY_DIMS(1));
    return eddy_add(eddy_mul(at[0], eddy_exp(eddy_neg(eddy_mul(at[1], t)))),
                    eddy_mul(at[2], eddy_sin(eddy_add(eddy_mul(at[3], t), at[4]))));
}

static eddy_tensor tall(eddy_graph *g, eddy_tensor p) { return jacobian(residuals(g, p), p); }

static eddy_tensor tall_by_rows(eddy_graph *g, eddy_tensor p)
{
    eddy_tensor j = eddy_none(g);
    eddy_jacobian(residuals(g, p), EDDY_LIST(p), &j, .mode = EDDY_JACOBIAN_REVERSE);
    return j;
}

static eddy_tensor tall_in_blocks(eddy_graph *g, eddy_tensor p)
{
    eddy_tensor j = eddy_none(g);
    eddy_jacobian(residuals(g, p), EDDY_LIST(p), &j, .mode = EDDY_JACOBIAN_REVERSE,
                  .max_bytes = 8 << 20);
    return j;
}

/* ----------------------------------------------------------------------- chains -- */

static eddy_tensor part(eddy_tensor x, int64_t first, int64_t n)
{
    return eddy_slice(x, EDDY_DIMS(first), EDDY_DIMS(n));
}

/* The extended Rosenbrock function. */
static eddy_tensor rosenbrock(eddy_tensor x)
{
    const int64_t     n = eddy_shape_of(x).dim[0] - 1;
    const eddy_tensor a = part(x, 0, n), b = part(x, 1, n);
    const eddy_tensor far = eddy_square(eddy_sub(b, eddy_square(a)));
    const eddy_tensor near = eddy_square(eddy_sub(eddy_number(x.graph, EDDY_FLOAT64, 1), a));
    return eddy_sum(eddy_add(eddy_mul(eddy_number(x.graph, EDDY_FLOAT64, 100), far), near));
}

static eddy_tensor chain(eddy_graph *g, eddy_tensor x)
{
    (void)g;
    return hessian(rosenbrock(x), x);
}

static eddy_tensor sparse_chain(eddy_graph *g, eddy_tensor x)
{
    eddy_sparse_matrix m;
    const double       start = now();
    eddy_sparse_hessian(rosenbrock(x), x, &m);
    printf("pattern and coloring of %lld entries, %lld colors: %.3g ms\n", (long long)m.entries,
           (long long)m.colors, 1e3 * (now() - start));
    (void)g;
    return m.values;
}

/* -------------------------------------------------------------------- measuring -- */

typedef struct way {
    const problem *of;
    eddy_graph    *graph;
    eddy_session  *session;
    eddy_callable *call;
    eddy_array    *values[FEEDS];
    bench_samples  ms;
} way;

static void begin(way *w, const problem *of)
{
    w->of = of;
    w->graph = eddy_graph_new();
    n_fed = 0;
    const eddy_tensor x = uniform(w->graph, EDDY_SHAPE(of->size), 3);
    const eddy_tensor y = of->build(w->graph, x);
    w->session = eddy_session_new(w->graph, .threads = 1);
    w->ms.n = 0;
    w->call = eddy_callable_new(w->session, (eddy_list){ n_fed, fed }, EDDY_LIST(y));
    memset(w->values, 0, sizeof w->values);
    memcpy(w->values, values, (size_t)n_fed * sizeof *values);
    bench_need(w->call, eddy_session_message(w->session));
}

static void run(way *w, bool counts)
{
    eddy_array  *out = NULL;
    const double start = now();
    const eddy_status s = eddy_callable_run(w->call, (const eddy_array *const *)w->values, &out);
    bench_need(s == EDDY_OK, eddy_session_message(w->session));
    if (counts) bench_add(&w->ms, 1e3 * (now() - start));
    eddy_array_free(out);
}

static void end(way *w, bench_table *times, bench_table *memory)
{
    static bench_samples mib;
    mib.n = 0;
    bench_add(&mib, (double)eddy_callable_plan_info(w->call).arena_bytes / (1 << 20));
    bench_enter(times, w->of->name, &w->ms, "ms");
    bench_enter(memory, w->of->name, &mib, "MiB");
    for (int i = 0; i < FEEDS; i++) eddy_array_free(w->values[i]);
    eddy_callable_free(w->call);
    eddy_session_free(w->session);
    eddy_graph_free(w->graph);
}

static const problem groups[][WAYS] = {
    { { "Jacobian of A x, n 500", column, N }, { "Jacobian of x A', n 500", row, N } },
    { { "Hessian of logsumexp(A x), n 500", column_hessian, N },
      { "Hessian of logsumexp(x A'), n 500", row_hessian, N } },
    { { "Jacobian, 10 000 residuals by 5", tall, PARAMETERS },
      { "Jacobian, 10 000 residuals by 5, by rows", tall_by_rows, PARAMETERS },
      { "Jacobian, 10 000 residuals by 5, by blocks of 8 MiB", tall_in_blocks, PARAMETERS } },
    { { "Hessian of a chain of 1000", chain, 1000 },
      { "Hessian of a chain of 1000, sparse", sparse_chain, 1000 } },
    { { "Hessian of a chain of 100 000, sparse", sparse_chain, 100000 } },
};

int main(void)
{
    static bench_table times = { .program = "jacobians, one thread" };
    static bench_table memory = { .program = "jacobians, temporaries" };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        static way ways[WAYS];
        int        n = 0;
        while (n < WAYS && groups[i][n].name) n++;
        for (int k = 0; k < n; k++) begin(&ways[k], &groups[i][k]);
        for (int round = -WARM_UP; round < ROUNDS; round++)
            for (int k = 0; k < n; k++) run(&ways[k], round >= 0);
        for (int k = 0; k < n; k++) end(&ways[k], &times, &memory);
    }
    bench_print(&times);
    bench_print(&memory);
    return 0;
}
