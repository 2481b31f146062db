/* main.c -- runs rows of single operations (bench_ops.h) on request.
 *
 *   ops [--threads N]      prints a line of JSON for each row, then reads lines
 *                          "NAME<tab>SECONDS" and answers each with the seconds of a
 *                          call, of the processor and of the wall, the calls made and
 *                          the sum of what they give
 *   ops --unmeasured       prints the operations that are in no row's graph */
#include "bench/bench.h"
#include "bench/ops/bench_ops.h"
#include "build/gen/ops_rows.h"
#include "build/gen/table.h"

#include <string.h>

#define DECLARE(name) extern const ops_family name##_ops;
EDDY_OPS_ROWS(DECLARE)
#define ADDRESS(name) &name##_ops,
static const ops_family *const families[] = { EDDY_OPS_ROWS(ADDRESS) };
#define QUOTE(name) #name,
static const char *const names[] = { EDDY_OPS_ROWS(QUOTE) };
enum { FAMILIES = sizeof families / sizeof *families };

/* Variables draw their numbers after the inputs. */
enum { OPS_RESULTS = 48, OPS_SEED = 100 };
#define OPS_BOUND 0.1

typedef struct trial {
    const ops_row *row;
    eddy_graph    *graph;
    eddy_session  *session;
    eddy_callable *call;
    eddy_array    *in[OPS_INPUTS], *out[OPS_RESULTS];
    eddy_tensor    x[OPS_INPUTS], y[OPS_RESULTS];
    int            n_out;
    double         first;            /* the sum after the first call */
} trial;

static void need(const trial *t, bool ok)
{
    if (ok) return;
    fprintf(stderr, "%s: %s%s\n", t->row->name, eddy_graph_message(t->graph),
            t->session ? eddy_session_message(t->session) : "");
    exit(1);
}

static int variables(const trial *t)
{
    return eddy_collection_size(t->graph, EDDY_TRAINABLE_VARIABLES);
}

static eddy_tensor variable(const trial *t, int i)
{
    return eddy_collection_at(t->graph, EDDY_TRAINABLE_VARIABLES, i);
}

static eddy_dtype input_type(const ops_row *row)
{
    return row->dtype ? row->dtype : EDDY_FLOAT32;
}

/* The type of the elements, or of the parts of complex ones. */
static bool wide(eddy_dtype d) { return eddy_dtype_real(d) == EDDY_FLOAT64; }

static int64_t parts(const eddy_array *a)
{
    return eddy_array_count(a) * (eddy_dtype_is_complex(eddy_array_dtype(a)) ? 2 : 1);
}

/* Builds the graph, with the result of the row as y[0]. */
static void build(trial *t, const ops_row *row)
{
    *t = (trial){ .row = row, .graph = eddy_graph_new(), .n_out = 1 };
    for (int i = 0; i < row->n; i++)
        t->x[i] = eddy_placeholder(t->graph, NULL, input_type(row), row->shape[i]);
    t->y[0] = row->build(t->graph, t->x);
    need(t, eddy_graph_status(t->graph) == EDDY_OK);
}

/* With names in front of it. */
static void print_shape(eddy_shape s)
{
    printf("\"shape\": [");
    for (int d = 0; d < s.rank; d++) printf("%s%lld", d ? ", " : "", (long long)s.dim[d]);
    printf("]}");
}

static const char *word(bool b) { return b ? "true" : "false"; }

static void print_row(const char *family, const ops_row *r)
{
    trial t;
    build(&t, r);
    printf("{\"family\": \"%s\", \"name\": \"%s\", \"dtype\": \"%s\", \"gradient\": %s, ", family,
           r->name, eddy_dtype_name(input_type(r)), word(r->gradient));
    printf("\"random\": %s, \"updates\": %s, \"inputs\": [", word(r->random), word(r->updates));
    for (int k = 0; k < r->n; k++) {
        const bool usual = r->low[k] == 0 && r->high[k] == 0;
        printf("%s{\"seed\": %d, \"low\": %g, \"high\": %g, ", k ? ", " : "", k + 1,
               usual ? -1 : r->low[k], usual ? 1 : r->high[k]);
        print_shape(r->shape[k]);
    }
    printf("], \"variables\": [");
    for (int k = 0; k < variables(&t); k++) {
        printf("%s{\"seed\": %d, \"low\": %g, \"high\": %g, ", k ? ", " : "", OPS_SEED + k,
               -OPS_BOUND, OPS_BOUND);
        print_shape(eddy_shape_of(variable(&t, k)));
    }
    printf("]}\n");
    eddy_graph_free(t.graph);
}

static void print_rows(void)
{
    for (int f = 0; f < FAMILIES; f++)
        for (int i = 0; i < families[f]->n; i++) print_row(names[f], &families[f]->rows[i]);
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

/* The sum of y[0] differentiated: y becomes the gradients that there are. */
static void differentiate(trial *t)
{
    eddy_tensor x[OPS_RESULTS], dx[OPS_RESULTS], loss = eddy_sum(t->y[0]);
    const int   n = t->row->n + variables(t);
    bench_need(n <= OPS_RESULTS, "too many variables");
    for (int i = 0; i < n; i++) x[i] = i < t->row->n ? t->x[i] : variable(t, i - t->row->n);
    eddy_gradients(EDDY_LIST(loss), (eddy_list){ n, x }, dx);
    t->n_out = 0;
    for (int i = 0; i < n; i++)
        if (eddy_is_valid(dx[i])) t->y[t->n_out++] = dx[i];
}

static void set_variables(trial *t)
{
    eddy_run(t->session, EDDY_FEED(), EDDY_FETCH(eddy_initializer(t->graph),
                                                 eddy_local_initializer(t->graph)), NULL);
    for (int i = 0; i < variables(t); i++) {
        eddy_array *v = eddy_array_new(EDDY_FLOAT32, eddy_shape_of(variable(t, i)));
        bench_uniform(eddy_array_data(v), eddy_array_count(v), (uint64_t)(OPS_SEED + i), -OPS_BOUND,
                      OPS_BOUND);
        need(t, eddy_variable_set(t->session, variable(t, i), v) == EDDY_OK);
        eddy_array_free(v);
    }
}

static void call(trial *t)
{
    need(t, eddy_callable_run(t->call, (const eddy_array *const *)t->in, t->out) == EDDY_OK);
}

/* Of results of the type of the inputs. */
static double sum_of(const trial *t)
{
    double sum = 0;
    for (int i = 0; i < t->n_out; i++) {
        const float  *narrow = eddy_array_data(t->out[i]);
        const double *doubles = eddy_array_data(t->out[i]);
        if (eddy_array_dtype(t->out[i]) != input_type(t->row)) continue;
        for (int64_t k = 0; k < parts(t->out[i]); k++)
            sum += wide(input_type(t->row)) ? doubles[k] : (double)narrow[k];
    }
    return sum;
}

static void compile(trial *t)
{
    eddy_callable_free(t->call);
    t->call = eddy_callable_new(t->session, (eddy_list){ t->row->n, t->x },
                                (eddy_list){ t->n_out, t->y });
    need(t, t->call != NULL);
}

static eddy_array *drawn(const ops_row *row, int i)
{
    eddy_array   *a = eddy_array_new(input_type(row), row->shape[i]);
    const bool    usual = row->low[i] == 0 && row->high[i] == 0;
    const int64_t n = parts(a);
    float        *v = wide(input_type(row)) ? malloc((size_t)n * sizeof *v) : eddy_array_data(a);
    bench_need(v != NULL, "out of memory");
    bench_uniform(v, n, (uint64_t)i + 1, usual ? -1 : row->low[i], usual ? 1 : row->high[i]);
    if (!wide(input_type(row))) return a;
    for (int64_t k = 0; k < n; k++) ((double *)eddy_array_data(a))[k] = (double)v[k];
    free(v);
    return a;
}

/* Ready to be measured; called once. */
static void begin(trial *t, const ops_row *row, int threads)
{
    build(t, row);
    for (int i = 0; i < row->n; i++) t->in[i] = drawn(row, i);
    if (row->gradient) differentiate(t);
    need(t, eddy_graph_status(t->graph) == EDDY_OK);
    t->session = eddy_session_new(t->graph, .threads = threads);
    set_variables(t);
    compile(t);
    call(t);
    t->first = sum_of(t);
    if (!row->updates) return;
    t->y[0] = eddy_group(t->graph, EDDY_LIST(t->y[0]), NULL);
    compile(t);
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure(trial *t, double seconds)
{
    const double from = bench_now(), cpu = processor_seconds();
    int          calls = 0;
    while (calls < 1 || bench_now() - from < seconds) call(t), calls++;
    printf("%.9g %.9g %d %.9g\n", (processor_seconds() - cpu) / calls, (bench_now() - from) / calls,
           calls, t->row->updates ? t->first : sum_of(t));
    fflush(stdout);
}

static void end(trial *t)
{
    if (!t->graph) return;
    eddy_callable_free(t->call);
    eddy_session_free(t->session);
    eddy_graph_free(t->graph);
    for (int i = 0; i < OPS_INPUTS; i++) eddy_array_free(t->in[i]);
    for (int i = 0; i < OPS_RESULTS; i++) eddy_array_free(t->out[i]);
}

/* ------------------------------------------------------------ unmeasured -- */

enum { OPS_TYPES = 1000 };

static void mark(const eddy_graph *g, bool *seen)
{
    for (int32_t id = 1; id <= eddy_graph_size(g); id++) {
        const eddy_node *n = eddy_node_of((eddy_tensor){ (eddy_graph *)g, id, 0 });
        for (int i = 0; n && eddy_op_table[i] && i < OPS_TYPES; i++)
            seen[i] |= eddy_op_table[i] == n->op;
    }
}

static void print_unmeasured(void)
{
    bool seen[OPS_TYPES] = { false };
    for (int f = 0; f < FAMILIES; f++)
        for (int i = 0; i < families[f]->n; i++) {
            trial t;
            build(&t, &families[f]->rows[i]);
            if (t.row->gradient) differentiate(&t);
            mark(t.graph, seen);
            eddy_graph_free(t.graph);
        }
    for (int i = 0; eddy_op_table[i] && i < OPS_TYPES; i++)
        if (!seen[i]) printf("%s\n", eddy_op_table[i]->name);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--unmeasured") == 0) {
        print_unmeasured();
        return 0;
    }
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
        }
        measure(&t, atof(tab + 1));
    }
    end(&t);
    return 0;
}
