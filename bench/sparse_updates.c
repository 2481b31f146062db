/* sparse_updates.c -- the cost of a step whose gradient names 64 rows of a table, for tables of
 * 10^4 to 10^7 rows. The sizes take turns. With the same rows in each run, the time is that of the
 * update; with other rows each time, cache misses of a large table are added. */
#include "bench/bench.h"

#include <string.h>

enum { NAMED = 64, COLUMNS = 4, SIZES = 4, RUNS = 600, WARM = 20 };

static const int64_t rows_of[SIZES] = { 10000, 100000, 1000000, 10000000 };

typedef eddy_optimizer *(*maker)(eddy_graph *g);

static eddy_optimizer *momentum(eddy_graph *g)
{
    return eddy_momentum(g, eddy_scalar(g, 0.1), eddy_scalar(g, 0.9));
}
static eddy_optimizer *adagrad(eddy_graph *g) { return eddy_adagrad(g, eddy_scalar(g, 0.1)); }
static eddy_optimizer *rmsprop(eddy_graph *g)
{
    return eddy_rmsprop(g, eddy_scalar(g, 0.1), .momentum = eddy_scalar(g, 0.9));
}

/* A table, the step that changes 64 of its rows, and its feeds. */
typedef struct table {
    int64_t        rows;
    eddy_graph    *graph;
    eddy_session  *session;
    eddy_callable *step;
    eddy_array    *at;
    uint64_t       drawn;
} table;

static table make_table(int64_t rows, maker make)
{
    table       t = { .rows = rows, .graph = eddy_graph_new() };
    eddy_tensor v = eddy_variable(t.graph,
                                  eddy_zeros(t.graph, EDDY_FLOAT32, EDDY_SHAPE(rows, COLUMNS)));
    eddy_tensor at = eddy_placeholder(t.graph, "at", EDDY_INT32, EDDY_SHAPE(NAMED));
    eddy_tensor train = eddy_minimize(make(t.graph), eddy_sum(eddy_gather(v, at)));
    t.session = eddy_session_new(t.graph);
    eddy_run(t.session, EDDY_FEED(), EDDY_FETCH(eddy_initializer(t.graph)), NULL);
    t.step = eddy_callable_new(t.session, EDDY_LIST(at), EDDY_LIST(train));
    t.at = eddy_array_new(EDDY_INT32, EDDY_SHAPE(NAMED));
    bench_need(eddy_graph_status(t.graph) == EDDY_OK && t.step && t.at,
               eddy_session_message(t.session));
    return t;
}

static void free_table(table *t)
{
    eddy_array_free(t->at);
    eddy_callable_free(t->step);
    eddy_session_free(t->session);
    eddy_graph_free(t->graph);
}

static void draw(table *t)
{
    int32_t *at = eddy_array_data(t->at);
    for (int i = 0; i < NAMED; i++)
        at[i] = (int32_t)(bench_word(1, t->drawn++) % (uint64_t)t->rows);
}

/* Microseconds. */
static double step(table *t)
{
    const eddy_array *feed[] = { t->at };
    const double      start = bench_now();
    const eddy_status s = eddy_callable_run(t->step, feed, NULL);
    const double      took = 1e6 * (bench_now() - start);
    bench_need(s == EDDY_OK, eddy_session_message(t->session));
    return took;
}

/* The median of each size, the same rows or others in each run. */
static void measure(table *t, bool others, double *median)
{
    static bench_samples samples[SIZES];
    for (int k = 0; k < SIZES; k++) {
        samples[k].n = 0;
        draw(&t[k]);
    }
    for (int i = 0; i < RUNS + WARM; i++)
        for (int k = 0; k < SIZES; k++) {
            if (others) draw(&t[k]);
            const double took = step(&t[k]);
            if (i >= WARM) bench_add(&samples[k], took);
        }
    for (int k = 0; k < SIZES; k++) {
        qsort(samples[k].at, (size_t)samples[k].n, sizeof samples[k].at[0], bench_ascending);
        median[k] = samples[k].at[samples[k].n / 2];
    }
}

static void report(const char *name, table *t, bool others)
{
    double median[SIZES];
    measure(t, others, median);
    printf("%-10s %-11s", name, others ? "other rows" : "same rows");
    for (int k = 0; k < SIZES; k++) printf("  %7.2f us %5.2fx", median[k], median[k] / median[0]);
    printf("\n");
    for (int k = 0; k < SIZES; k++)
        printf("{\"bench\":\"sparse_updates\",\"figure\":\"%s, %s, %lld rows\",\"median\":%.6g,"
               "\"unit\":\"us\",\"ratio\":%.4g}\n", name, others ? "other rows" : "same rows",
               (long long)t[k].rows, median[k], median[k] / median[0]);
}

int main(void)
{
    static const struct {
        const char *name;
        maker       make;
    } optimizers[] = { { "Momentum", momentum }, { "Adagrad", adagrad }, { "RMSProp", rmsprop } };
    printf("%-22s  %15s %15s %15s %15s\n", "64 rows of", "10^4", "10^5", "10^6", "10^7");
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++) {
        table t[SIZES];
        for (int k = 0; k < SIZES; k++) t[k] = make_table(rows_of[k], optimizers[i].make);
        report(optimizers[i].name, t, false);
        report(optimizers[i].name, t, true);
        for (int k = 0; k < SIZES; k++) free_table(&t[k]);
    }
    return 0;
}
