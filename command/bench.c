/* bench.c -- eddy bench: the time of a model, of each of its nodes, and how that compares with the
 * machine. */
#include "command/config.h"
#include "command/machine.h"
#include "command/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 100000, LEAST_RUNS = 3 };

static text_list     shapes, outputs;
static const char   *weights = NULL;
static int64_t       size = 1, threads = 0, rows = 20, duration = 1;

static const option_row options[] = {
    { "dim", 0, OPTION_COUNT, "N", &size, "the size of unknown dimensions (default 1)" },
    { "shape", 's', OPTION_EACH, "INPUT=DIMS", &shapes, "all dimensions of an input" },
    { "outputs", 0, OPTION_NAMES, "NAMES", &outputs, "only what these tensors need" },
    { "weights", 'w', OPTION_TEXT, "FILE", &weights, "a checkpoint with the values of variables" },
    { "threads", 't', OPTION_COUNT, "N", &threads, "default: one for each core" },
    { "seconds", 0, OPTION_COUNT, "N", &duration, "run for so long (default 1)" },
    { "rows", 'n', OPTION_COUNT, "N", &rows, "print the N most expensive nodes (default 20)" },
    { NULL, 0, OPTION_END, NULL, NULL, NULL },
};

/* An instruction of the plan: a node, or several that the compiler has fused. */
typedef struct node_time {
    const char *op, *node;
    double      seconds, flops, bytes;  /* of one run; NAN if unknown */
} node_time;

typedef struct times {
    int        runs, count;
    double     median, least;           /* seconds of a run */
    double     flops;
    node_time *nodes;                   /* the most expensive first */
} times;

/* ----------------------------------------------------------------- measuring -- */

static int by_number(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_time(const void *a, const void *b)
{
    return by_number(&((const node_time *)b)->seconds, &((const node_time *)a)->seconds);
}

/* Runs for the wanted time, after a run that compiles and one that warms the caches. */
static bool measure(eddy_session *s, eddy_feeds feeds, eddy_list fetches, times *t)
{
    double      *took = room(MOST_RUNS, sizeof *took);
    eddy_array **out = room((size_t)fetches.count, sizeof(eddy_array *));
    bool         fine = true;
    double       begin = 0;
    for (int i = -2; fine && i < MOST_RUNS; i++) {
        const double from = seconds_now();
        if (i == 0) begin = from;
        if (i >= LEAST_RUNS && from - begin > (double)duration) break;
        fine = eddy_run(s, feeds, fetches, out) == EDDY_OK;
        if (i >= 0) took[t->runs++] = seconds_now() - from;
    }
    for (int i = 0; i < fetches.count; i++) eddy_array_free(out[i]);
    if (!fine) return false;
    qsort(took, (size_t)t->runs, sizeof *took, by_number);
    t->median = took[t->runs / 2];
    t->least = took[0];
    t->flops = eddy_session_plan_info(s).flops;
    return true;
}

static double number(const config *line, const char *key)
{
    const config *c = config_get(line, key);
    double        v = NAN;
    return c && config_is_number(c, &v) ? v : NAN;
}

static const char *word(const config *line, const char *key)
{
    const config *c = config_get(line, key);
    return c && c->kind == CONFIG_TEXT ? c->text : "";
}

/* "Mul + Add": what an instruction of several nodes does. */
static const char *operation(const config *line)
{
    const config *parts = config_get(line, "parts");
    const char   *all = "";
    if (!parts || parts->kind != CONFIG_MAP || parts->count == 0) return word(line, "op");
    for (int i = 0; i < parts->count && i < 4; i++)
        all = text("%s%s%s", all, *all ? " + " : "", parts->keys[i]->text);
    return parts->count > 4 ? text("%s + ...", all) : all;
}

/* The lines of the profile, each an object. Those in bodies of loops are part of their node. */
static bool read_profile(eddy_session *s, times *t)
{
    FILE  *f = tmpfile();
    char  *line = NULL;
    size_t room_of_line = 0;
    int    capacity = 0;
    if (!f || eddy_session_profile_json(s, f) != EDDY_OK) {
        fail(NULL, "%s", f ? eddy_session_message(s) : "no temporary file can be made");
        if (f) fclose(f);
        return false;
    }
    rewind(f);
    for (ssize_t n; (n = getline(&line, &room_of_line, f)) > 0;) {
        const config *c = config_parse("profile", line, (size_t)n);
        if (!c || config_get(c, "in")) continue;
        if (t->count == capacity) {
            node_time *at = room((size_t)(capacity = 2 * capacity + 64), sizeof *at);
            if (t->count > 0) memcpy(at, t->nodes, (size_t)t->count * sizeof *at);
            t->nodes = at;
        }
        const double runs = isnan(number(c, "runs")) ? t->runs + 2 : number(c, "runs");
        t->nodes[t->count++] = (node_time){
            operation(c), word(c, "node"), number(c, "seconds") / runs, number(c, "flops"),
            number(c, "bytes"),
        };
    }
    free(line);
    fclose(f);
    if (t->count > 0) qsort(t->nodes, (size_t)t->count, sizeof *t->nodes, by_time);
    return true;
}

/* ------------------------------------------------------------------ printing -- */

static const char *rate(double amount, double time, const char *unit)
{
    return isnan(amount) || amount == 0 ? "" : count_text(amount / time, text("%s/s", unit));
}

static const char *percent(double part)
{
    return isnan(part) || part == 0 ? "" : text("%.0f %%", 100 * part);
}

static double bytes_of(const times *t)
{
    double sum = 0;
    for (int i = 0; i < t->count; i++) sum += isnan(t->nodes[i].bytes) ? 0 : t->nodes[i].bytes;
    return sum;
}

static void print_json(const model *m, const machine *is, const times *t)
{
    json_open(NULL, '{');
    json_text("file", m->path);
    json_number("runs", t->runs);
    json_number("median_seconds", t->median);
    json_number("least_seconds", t->least);
    json_number("flops", t->flops);
    json_number("bytes", bytes_of(t));
    json_number("machine_flops_per_second", is->flops);
    json_number("machine_bytes_per_second", is->bytes);
    json_open("nodes", '[');
    for (int i = 0; i < t->count; i++) {
        const node_time *n = &t->nodes[i];
        json_open(NULL, '{');
        json_text("node", n->node);
        json_text("op", n->op);
        json_number("seconds", n->seconds);
        json_number("flops", n->flops);
        json_number("bytes", n->bytes);
        json_close('}');
    }
    json_close(']');
    json_close('}');
}

static void print(const model *m, const machine *is, const times *t)
{
    table  all = { .columns = "r r r r r r l l" };
    double sum = 0;
    for (int i = 0; i < t->count; i++) sum += t->nodes[i].seconds;
    printf("%s: %s, median %.3f ms, least %.3f ms\n", m->path, number_of(t->runs, "run"),
           1e3 * t->median, 1e3 * t->least);
    printf("%s a run: %s, %s of a product (%s)\n", count_text(t->flops, "FLOP"),
           count_text(t->flops / t->median, "FLOP/s"),
           text("%.1f %%", 100 * t->flops / t->median / is->flops),
           count_text(is->flops, "FLOP/s"));
    printf("%s a run: %s, %s of a copy (%s)\n\n", bytes_text(bytes_of(t)),
           count_text(bytes_of(t) / t->median, "B/s"),
           text("%.1f %%", 100 * bytes_of(t) / t->median / is->bytes),
           count_text(is->bytes, "B/s"));
    table_row(&all, "share", "us/run", "FLOP/s", "product", "B/s", "copy", "operation", "node");
    for (int i = 0; i < t->count && i < rows; i++) {
        const node_time *n = &t->nodes[i];
        table_row(&all, text("%.1f %%", 100 * n->seconds / sum), text("%.2f", 1e6 * n->seconds),
                  rate(n->flops, n->seconds, "FLOP"), percent(n->flops / n->seconds / is->flops),
                  rate(n->bytes, n->seconds, "B"), percent(n->bytes / n->seconds / is->bytes),
                  n->op, n->node);
    }
    table_print(&all, stdout);
    if (t->count > rows) printf("and %s\n", number_of(t->count - rows, "other"));
}

/* -------------------------------------------------------------------- models -- */

static int bench(model *m)
{
    int          n;
    const named *y = model_select(m, outputs, &n);
    if (!y) return TROUBLE;
    m->outputs = (named *)(uintptr_t)y;
    m->n_outputs = n;
    if (!model_fix_shapes(m, shapes, size)) return TROUBLE;
    const bool    wide = n > 0 && eddy_dtype_of(m->outputs[0].tensor) == EDDY_FLOAT64;
    eddy_feed    *feeds = feeds_made(m->inputs, m->n_inputs, true);
    eddy_session *s = model_session(m, weights, true, (int)threads);
    times         t = { 0 };
    machine       is;
    bool          fine = s != NULL;
    if (fine && !measure(s, (eddy_feeds){ m->n_inputs, feeds }, tensors_of(m->outputs, n), &t)) {
        fail(m->path, "%s", eddy_session_message(s));
        fine = false;
    }
    fine = fine && read_profile(s, &t) &&
           machine_measure(&is, wide ? EDDY_FLOAT64 : EDDY_FLOAT32, (int)threads);
    if (fine && as_json) print_json(m, &is, &t);
    else if (fine) print(m, &is, &t);
    eddy_session_free(s);
    feeds_free(feeds, m->n_inputs);
    return fine ? SUCCESS : TROUBLE;
}

static int run(char **operands, int count)
{
    model m;
    (void)count;
    if (size == 0) return fail(NULL, "--dim takes a number of at least 1");
    if (threads > 256) return fail(NULL, "--threads takes a number up to 256");
    const int status = model_open_graph(&m, operands[0], weights != NULL) ? bench(&m) : TROUBLE;
    model_close(&m);
    return status;
}

const command command_bench = {
    "bench", "MODEL", "Measure the time of a model and of its nodes", 1, 1, options, run,
};
