/* main.c -- runs rows of single operations (bench_ops.h) as it is told.
 *
 *   ops [--threads N]      prints a line of JSON for each row, then reads lines
 *                          "NAME<tab>SECONDS" and answers each with the seconds of a
 *                          call, of the processor and of the wall, the calls made and
 *                          the sum of what they give */
#include "bench/bench.h"
#include "bench/ops/bench_ops.h"
#include "build/gen/ops_rows.h"

#include <string.h>

#define DECLARE(name) extern const ops_family name##_ops;
EDDY_OPS_ROWS(DECLARE)
#define ADDRESS(name) &name##_ops,
static const ops_family *const families[] = { EDDY_OPS_ROWS(ADDRESS) };
enum { FAMILIES = sizeof families / sizeof *families };

typedef struct trial {
    const ops_row *row;
    eddy_graph    *graph;
    eddy_session  *session;
    eddy_callable *call;
    eddy_array    *in[OPS_INPUTS], *out[OPS_INPUTS];
    int            n_out;
} trial;

static void print_rows(void)
{
    for (int f = 0; f < FAMILIES; f++)
        for (int i = 0; i < families[f]->n; i++) {
            const ops_row *r = &families[f]->rows[i];
            printf("{\"name\": \"%s\", \"gradient\": %s, \"random\": %s, \"inputs\": [", r->name,
                   r->gradient ? "true" : "false", r->random ? "true" : "false");
            for (int k = 0; k < r->n; k++) {
                const bool usual = r->low[k] == 0 && r->high[k] == 0;
                printf("%s{\"low\": %g, \"high\": %g, \"shape\": [", k ? ", " : "",
                       usual ? -1 : r->low[k], usual ? 1 : r->high[k]);
                for (int d = 0; d < r->shape[k].rank; d++)
                    printf("%s%lld", d ? ", " : "", (long long)r->shape[k].dim[d]);
                printf("]}");
            }
            printf("]}\n");
        }
    printf("\n");
    fflush(stdout);
}

static const ops_row *find(const char *name)
{
    for (int f = 0; f < FAMILIES; f++)
        for (int i = 0; i < families[f]->n; i++)
            if (strcmp(families[f]->rows[i].name, name) == 0) return &families[f]->rows[i];
    return NULL;
}

static void need(const trial *t, bool ok)
{
    if (ok) return;
    fprintf(stderr, "%s: %s%s\n", t->row->name, eddy_graph_message(t->graph),
            t->session ? eddy_session_message(t->session) : "");
    exit(1);
}

static void begin(trial *t, const ops_row *row, int threads)
{
    *t = (trial){ .row = row, .graph = eddy_graph_new() };
    eddy_tensor x[OPS_INPUTS], y[OPS_INPUTS];
    for (int i = 0; i < row->n; i++) {
        const bool usual = row->low[i] == 0 && row->high[i] == 0;
        x[i] = eddy_placeholder(t->graph, NULL, EDDY_FLOAT32, row->shape[i]);
        t->in[i] = eddy_array_new(EDDY_FLOAT32, row->shape[i]);
        bench_uniform(eddy_array_data(t->in[i]), eddy_array_count(t->in[i]), (uint64_t)i + 1,
                      usual ? -1 : row->low[i], usual ? 1 : row->high[i]);
    }
    y[0] = row->build(t->graph, x);
    t->n_out = 1;
    if (row->gradient) {
        eddy_tensor loss = eddy_sum(y[0]);
        t->n_out = row->n;
        eddy_gradients(EDDY_LIST(loss), (eddy_list){ row->n, x }, y);
    }
    need(t, eddy_graph_status(t->graph) == EDDY_OK);
    t->session = eddy_session_new(t->graph, .threads = threads);
    t->call = eddy_callable_new(t->session, (eddy_list){ row->n, x }, (eddy_list){ t->n_out, y });
    need(t, t->call != NULL);
}

static void call(trial *t)
{
    need(t, eddy_callable_run(t->call, (const eddy_array *const *)t->in, t->out) == EDDY_OK);
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double sum_of(const trial *t)
{
    double sum = 0;
    for (int i = 0; i < t->n_out; i++) {
        const float *v = eddy_array_data(t->out[i]);
        if (eddy_array_dtype(t->out[i]) != EDDY_FLOAT32) continue;
        for (int64_t k = 0; k < eddy_array_count(t->out[i]); k++) sum += v[k];
    }
    return sum;
}

static void measure(trial *t, double seconds)
{
    const double from = bench_now(), cpu = processor_seconds();
    int          calls = 0;
    while (calls < 1 || bench_now() - from < seconds) call(t), calls++;
    printf("%.9g %.9g %d %.9g\n", (processor_seconds() - cpu) / calls, (bench_now() - from) / calls,
           calls, sum_of(t));
    fflush(stdout);
}

static void end(trial *t)
{
    if (!t->graph) return;
    eddy_callable_free(t->call);
    eddy_session_free(t->session);
    eddy_graph_free(t->graph);
    for (int i = 0; i < OPS_INPUTS; i++) {
        eddy_array_free(t->in[i]);
        eddy_array_free(t->out[i]);
    }
}

int main(int argc, char **argv)
{
    const int threads = argc > 2 && strcmp(argv[1], "--threads") == 0 ? atoi(argv[2]) : 1;
    trial     t = { 0 };
    char      line[256];
    print_rows();
    while (fgets(line, sizeof line, stdin)) {
        char *tab = strchr(line, '\t');
        if (!tab) continue;
        *tab = '\0';
        if (!t.row || strcmp(t.row->name, line) != 0) {
            const ops_row *row = find(line);
            bench_need(row != NULL, "no such row");
            end(&t);
            begin(&t, row, threads);
            call(&t);
        }
        measure(&t, atof(tab + 1));
    }
    end(&t);
    return 0;
}
