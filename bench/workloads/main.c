/* main.c -- runs one workload and prints the cost of a step.
 *
 *   workloads [NAME [--threads N] [--steps S] [--warm-up W] [--size N] [--bfloat16]
 *             [--check-numerics] [--cpu] [--json] [--slices]]
 *
 * Without a name it lists them.  --size sets the size of the batch or of the vector. --bfloat16
 * computes in mixed precision, --check-numerics refuses infinities and NaN. --cpu counts the
 * process's own time, for a busy machine, --profile prints the time of each instruction. With
 * --slices it reads the number of steps to run next, one number per line, and prints their times,
 * or, for the word "floor", measures the floor of a step and prints it; so scripts/bench.py lets
 * two programs and the floor take turns.
 *
 * The floor is the time of the step's products at the rate of one large product, or of the bytes
 * that it must move at the rate of one loop, or of its transcendental functions at their own
 * rate in the fastest cache if they take longer than the bytes. */
#include "bench/workloads/workload.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { LOSSES = 6, MOST_TIMES = 1 << 20 };

typedef struct workload {
    const char *name;
    void      (*build)(trial *t, int64_t size);
    int64_t     size;
    int         warm_up, steps;
    double      bytes;          /* that a step must move; 0: its products are the bound */
} workload;

static const workload workloads[] = {
    { "logreg", build_logistic, 128, 100, 2000, 0 },
    { "mlp_b128", build_perceptron, 128, 20, 150, 0 },
    { "mlp_b1024", build_perceptron, 1024, 10, 30, 0 },
    { "mlp_small", build_small, 32, 20, 5000, 0 },
    { "lenet", build_lenet, 64, 5, 20, 0 },
    { "resnet", build_residual, 32, 5, 20, 0 },
    { "lstm", build_lstm, 32, 5, 20, 0 },
    { "lstm_unrolled", build_unrolled, 32, 5, 20, 0 },
    { "lstm_scan", build_scan, 32, 5, 20, 0 },
    { "lstm_scan_b1", build_scan, 1, 10, 60, 0 },
    { "gru_ragged", build_ragged, 32, 5, 20, 0 },
    { "cond_loop", build_branches, 32, 20, 200, 0 },
    { "write_lstm", build_writing, 1000, 2, 10, 0 },
    { "write_gpt", build_writing_gpt, 512, 2, 10, 0 },
    { "gpt", build_gpt, 8, 4, 15, 0 },
    { "elementwise_1e6", build_elementwise, 1000000, 5, 80, 8e6 },
    { "elementwise_1e7", build_elementwise, 10000000, 3, 10, 8e7 },
    { "scalars", build_chain, 999, 5, 500, 0 },
    { "hvp", build_hessian, 128, 10, 100, 0 },
    { "adam_1e7", build_adam, 10000000, 3, 20, 28e7 },
};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

typedef struct options {
    const workload *what;
    int             threads, warm_up, steps, size;
    bool            bfloat16, check_numerics, profile, json, slices;
    double        (*now)(void);         /* seconds */
} options;

/* A session with the trial's model, and the measurements of its steps. */
typedef struct course {
    const options *options;
    trial          trial;
    eddy_session  *session;
    eddy_callable *step;
    eddy_array    *out[TRIAL_FETCHES];
    int            done, n_times;
    double         peak_mib;                    /* before a floor was measured; 0: none was */
    double        *times;                       /* milliseconds, of the steps after warming up */
    double         losses[LOSSES], loss;
    long           allocations;                 /* of the last step */
} course;

static double process_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The peak memory of the process; getrusage would include the program that started it. */
static double peak_mib(void)
{
    char   line[200];
    double kib = 0;
    FILE  *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0) kib = strtod(line + 6, NULL);
    if (f) fclose(f);
    return kib / 1024;
}

/* ---------------------------------------------------------------- running -- */

static course begin(const options *o)
{
    course c = { .options = o, .times = calloc(MOST_TIMES, sizeof(double)) };
    trial *t = &c.trial;
    bench_need(c.times, "out of memory");
    openblas_set_num_threads(o->threads);
    t->graph = eddy_graph_new();
    if (o->bfloat16) eddy_mixed_precision(t->graph, EDDY_BFLOAT16);
    o->what->build(t, o->size > 0 ? o->size : o->what->size);
    c.session = eddy_session_new(t->graph, .threads = o->threads,
                                 .check_numerics = o->check_numerics, .profile = o->profile);
    eddy_run(c.session, EDDY_FEED(), EDDY_FETCH(eddy_initializer(t->graph)), NULL);
    for (int i = 0; i < t->n_variables; i++) {
        eddy_variable_set(c.session, t->variables[i], t->initial[i]);
        eddy_array_free(t->initial[i]);
    }
    c.step = eddy_callable_new(c.session, (eddy_list){ t->n_feeds, t->feeds },
                               (eddy_list){ t->n_fetches, t->fetches });
    bench_need(eddy_graph_status(t->graph) == EDDY_OK, eddy_graph_message(t->graph));
    bench_need(c.step && eddy_session_status(c.session) == EDDY_OK,
               eddy_session_message(c.session));
    return c;
}

/* A run after warming up, in its own function so that a profiler can count it alone (make
 * instructions). */
eddy_status warm_run(course *c, const eddy_array *const *feeds) __attribute__((noinline));
eddy_status warm_run(course *c, const eddy_array *const *feeds)
{
    return eddy_callable_run(c->step, feeds, c->out);
}

/* One step; milliseconds. */
static double step(course *c)
{
    trial                   *t = &c->trial;
    const eddy_array *const *feeds = (const eddy_array *const *)t->batch[c->done % t->n_batches];
    if (t->epsilon) *t->epsilon = (float)(1e-8 * sqrt(1 - pow(0.999, c->done + 1)));
    const long   before = allocations_so_far();
    const double start = c->options->now();
    eddy_status  s = c->done < c->options->warm_up ? eddy_callable_run(c->step, feeds, c->out)
                                                   : warm_run(c, feeds);
    const double took = 1e3 * (c->options->now() - start);
    c->allocations = allocations_so_far() - before;
    bench_need(s == EDDY_OK, eddy_session_message(c->session));
    c->loss = t->value ? t->value((const eddy_array *const *)c->out) : eddy_array_item(c->out[0]);
    if (c->done < LOSSES) c->losses[c->done] = c->loss;
    c->done++;
    return took;
}

static void end(course *c)
{
    trial *t = &c->trial;
    for (int i = 0; i < t->n_fetches; i++) eddy_array_free(c->out[i]);
    for (int i = 0; i < t->n_batches; i++)
        for (int k = 0; k < t->n_feeds; k++) eddy_array_free(t->batch[i][k]);
    eddy_session_free(c->session);
    eddy_graph_free(t->graph);
    for (void *block = t->memory, *before; block; block = before) {
        before = *(void **)block;
        free(block);
    }
    free(c->times);
}

/* ---------------------------------------------------------------- reports -- */

static void answer(course *c, int steps)
{
    for (int i = 0; i < steps; i++) {
        const double took = step(c);
        if (c->n_times < MOST_TIMES) c->times[c->n_times++] = took;
        if (c->options->slices) printf("%s%.6g", i ? " " : "", took);
    }
    if (c->options->slices) puts("");
    fflush(stdout);
}

/* Milliseconds. */
static double floor_now(course *c)
{
    const options *o = c->options;
    const double   bytes = o->what->bytes;
    if (c->peak_mib == 0) c->peak_mib = peak_mib();
    if (bytes == 0)
        return 1e3 * eddy_callable_plan_info(c->step).flops / limit_products(o->now, o->threads);
    const double moving = bytes / limit_bytes(o->now, o->threads, (size_t)bytes);
    if (o->what->build != build_elementwise) return 1e3 * moving;
    return 1e3 * fmax(moving, (double)o->what->size / limit_functions(o->now, o->threads));
}

static void report(course *c, double empty_mib)
{
    const options       *o = c->options;
    const eddy_plan_info info = eddy_callable_plan_info(c->step);
    const int            n = c->done < LOSSES ? c->done : LOSSES;
    qsort(c->times, (size_t)c->n_times, sizeof *c->times, bench_ascending);
    const double median = c->n_times ? c->times[c->n_times / 2] : 0;
    const double least = c->n_times ? c->times[0] : 0;
    const double peak = (c->peak_mib > 0 ? c->peak_mib : peak_mib()) - empty_mib;
    if (!o->json) {
        printf("%-16s %d threads: median %.4g ms, least %.4g; loss", o->what->name, o->threads,
               median, least);
        for (int i = 0; i < n; i++) printf(" %.6g", c->losses[i]);
        printf(" ... [%d] %.6g\n  %s; %d nodes, %d instructions, %d fused, arena %zu bytes, "
               "%ld allocations a step, peak %.1f MiB, %.4g operations\n", c->done - 1, c->loss,
               c->trial.data ? c->trial.data : "generated", info.nodes, info.instructions,
               info.fused, info.arena_bytes, c->allocations, peak, info.flops);
        return;
    }
    printf("{\"name\":\"%s\",\"threads\":%d,\"steps\":%d,\"median\":%.6g,\"least\":%.6g,"
           "\"losses\":[", o->what->name, o->threads, c->n_times, median, least);
    for (int i = 0; i < n; i++) printf("%s%.9g", i ? "," : "", c->losses[i]);
    printf("],\"last\":%.9g,\"data\":\"%s\",\"nodes\":%d,\"instructions\":%d,\"fused\":%d,"
           "\"in_place\":%d,\"arena_bytes\":%zu,\"allocations\":%ld,\"peak_mib\":%.2f,"
           "\"flops\":%.9g,\"floor\":%.6g}\n", c->loss, c->trial.data ? c->trial.data : "generated",
           info.nodes, info.instructions, info.fused, info.in_place, info.arena_bytes,
           c->allocations, peak, info.flops, floor_now(c));
}

/* ----------------------------------------------------------- command line -- */

static int number(const char *text)
{
    char *end_of;
    long  n = text ? strtol(text, &end_of, 10) : 0;
    bench_need(text && *text && !*end_of && n >= 0 && n < MOST_TIMES, "a number is missing");
    return (int)n;
}

static options parse(int argc, char **argv)
{
    options o = { .threads = 1, .warm_up = -1, .steps = -1, .now = bench_now };
    for (int i = 0; i < WORKLOADS; i++)
        if (strcmp(argv[1], workloads[i].name) == 0) o.what = &workloads[i];
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) o.json = true;
        else if (strcmp(argv[i], "--bfloat16") == 0) o.bfloat16 = true;
        else if (strcmp(argv[i], "--check-numerics") == 0) o.check_numerics = true;
        else if (strcmp(argv[i], "--cpu") == 0) o.now = process_seconds;
        else if (strcmp(argv[i], "--profile") == 0) o.profile = true;
        else if (strcmp(argv[i], "--slices") == 0) o.slices = o.json = true;
        else if (strcmp(argv[i], "--threads") == 0) o.threads = number(argv[++i]);
        else if (strcmp(argv[i], "--steps") == 0) o.steps = number(argv[++i]);
        else if (strcmp(argv[i], "--size") == 0) o.size = number(argv[++i]);
        else if (strcmp(argv[i], "--warm-up") == 0) o.warm_up = number(argv[++i]);
        else bench_need(false, "an option is not known");
    }
    if (o.what && o.warm_up < 0) o.warm_up = o.what->warm_up;
    if (o.what && o.steps < 0) o.steps = o.what->steps;
    return o;
}

int main(int argc, char **argv)
{
    const double empty_mib = peak_mib();
    char         line[32];
    for (int i = 0; argc < 2 && i < WORKLOADS; i++) puts(workloads[i].name);
    if (argc < 2) return 0;
    const options o = parse(argc, argv);
    bench_need(o.what != NULL, "no such workload");
    course c = begin(&o);
    for (int i = 0; i < o.warm_up; i++) step(&c);
    if (!o.slices) answer(&c, o.steps);
    else puts("ready"), fflush(stdout);
    while (o.slices && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strcmp(line, "floor") != 0) answer(&c, number(line));
        else printf("%.6g\n", floor_now(&c)), fflush(stdout);
    }
    report(&c, empty_mib);
    if (o.profile) eddy_session_profile(c.session, stdout);
    end(&c);
    return 0;
}
