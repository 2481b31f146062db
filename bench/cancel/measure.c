/* measure.c -- see cancel.h. */
#include "bench/cancel/cancel.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

enum { MOST_TIMES = 10000 };
/* If a thread that stops a run or looks at the clock is that late (ms), the latency is unknown. */
static const double MOST_LATE = 0.5;

static const struct {
    const char *name;
    eddy_status status;
} ways[WAYS] = { { "", EDDY_CANCELLED }, { ", deadline", EDDY_TIMED_OUT },
                 { ", signal", EDDY_CANCELLED }, { ", close", EDDY_CANCELLED } };

/* Milliseconds. */
static double now(clockid_t of)
{
    struct timespec t;
    clock_gettime(of, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* -------------------------------------------------------------------- runs -- */

typedef struct subject {
    const work   *work;
    int           threads;
    eddy_session *session;
    eddy_tensor   initializer;
    trial         trial;
} subject;

static eddy_status run(subject *s)
{
    const trial *t = &s->trial;
    eddy_feed    feeds[TRIAL_FEEDS];
    if (s->work->evaluates) {
        eddy_eval_forget(s->session);
        eddy_eval_set_in(s->session, t->feeds[0], t->batch[0][0]);
        return eddy_eval_in(s->session, t->fetches[0]) ? EDDY_OK : eddy_session_status(s->session);
    }
    for (int i = 0; i < t->n_feeds; i++) feeds[i] = (eddy_feed){ t->feeds[i], t->batch[0][i] };
    return eddy_run(s->session, (eddy_feeds){ t->n_feeds, feeds },
                    (eddy_list){ t->n_fetches, t->fetches }, NULL);
}

/* A session that has run once. */
static void begin_session(subject *s)
{
    const trial *t = &s->trial;
    eddy_session_free(s->session);
    s->session = eddy_session_new(t->graph, .threads = s->threads);
    if (t->n_variables > 0)
        eddy_run(s->session, EDDY_FEED(), EDDY_FETCH(s->initializer), NULL);
    for (int i = 0; i < t->n_variables; i++)
        eddy_variable_set(s->session, t->variables[i], t->initial[i]);
    bench_need(run(s) == EDDY_OK, eddy_session_message(s->session));
}

static void begin(subject *s, const work *w, int threads)
{
    trial     *t = &s->trial;
    eddy_shape shape = { 0 };
    *s = (subject){ .work = w, .threads = w->threads > 0 ? w->threads : threads };
    t->graph = eddy_graph_new(.seed = 1);
    if (w->step) w->step(t, w->size);
    else {
        for (int64_t d; (d = w->dim[shape.rank]) > 0; shape.rank++) shape.dim[shape.rank] = d;
        const int64_t n = eddy_shape_count(shape);
        float        *x = trial_memory(t, n, sizeof *x);
        for (int64_t i = 0; i < n; i++) x[i] = (float)(i * 7919 % 1000) / 1000;
        trial_batches(t, 1);
        trial_fetch(t, w->build(trial_feed(t, EDDY_FLOAT32, shape, x)));
    }
    if (t->epsilon) *t->epsilon = 1e-8f;
    s->initializer = eddy_initializer(t->graph);
    bench_need(eddy_graph_status(t->graph) == EDDY_OK, eddy_graph_message(t->graph));
    begin_session(s);
}

static void end(subject *s)
{
    trial *t = &s->trial;
    eddy_session_free(s->session);
    eddy_graph_free(t->graph);
    for (int i = 0; i < t->n_variables; i++) eddy_array_free(t->initial[i]);
    for (int i = 0; i < t->n_batches; i++)
        for (int k = 0; k < t->n_feeds; k++) eddy_array_free(t->batch[i][k]);
    for (void *block = t->memory, *before; block; block = before) {
        before = *(void **)block;
        free(block);
    }
}

/* ---------------------------------------------------------------- stopping -- */

typedef struct stopping {
    eddy_session *session;
    way           by;
    clockid_t     processor;            /* of the thread that runs, or of the process */
    double        at, asked, used;      /* milliseconds: when to stop, and when it was stopped */
    bool          late;                 /* the run went on while this thread did not */
} stopping;

static void look(stopping *s)
{
    s->asked = now(CLOCK_MONOTONIC);
    s->used = now(s->processor);
}

/* A deadline stops the run by itself. */
static void *stop(void *of)
{
    stopping             *s = of;
    const int64_t         at = (int64_t)(s->at * 1e6);
    const struct timespec t = { .tv_sec = at / 1000000000, .tv_nsec = at % 1000000000 };
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    look(s);
    if (s->by == BY_THREAD) eddy_session_cancel(s->session);
    if (s->by == BY_CLOSE) eddy_session_close(s->session);
    s->late = now(s->processor) > s->used + MOST_LATE;
    if (s->by == BY_DEADLINE) {
        const double over = s->asked - s->at;
        s->late = s->late || over > MOST_LATE;
        s->asked = s->at;
        s->used -= over;                /* all of that time the run may have gone on */
    }
    return NULL;
}

static stopping *signalled;             /* by SIGALRM */

static void on_alarm(int number)
{
    (void)number;
    look(signalled);
    eddy_session_cancel(signalled->session);
}

static void alarm_in(double ms)
{
    const struct itimerval t = { .it_value = { .tv_sec = (time_t)(ms / 1e3),
                                               .tv_usec = 1 + (long)(ms * 1e3) % 1000000 } };
    setitimer(ITIMER_REAL, ms > 0 ? &t : &(struct itimerval){ 0 }, NULL);
}

/* Runs, and stops after `delay` ms; the status, with the time that the run went on. */
static eddy_status run_and_stop(subject *s, stopping *c, double delay, double *took, double *used)
{
    pthread_t thread;
    *c = (stopping){ .session = s->session, .by = c->by, .processor = c->processor,
                     .at = now(CLOCK_MONOTONIC) + delay };
    if (c->by == BY_SIGNAL) alarm_in(delay);
    else pthread_create(&thread, NULL, stop, c);
    if (c->by == BY_DEADLINE)
        eddy_session_set_timeout(s->session, (c->at - now(CLOCK_MONOTONIC)) / 1e3);
    const eddy_status status = run(s);
    const double      end = now(CLOCK_MONOTONIC), end_used = now(c->processor);
    if (c->by == BY_SIGNAL) alarm_in(0);
    else pthread_join(thread, NULL);
    *took = end - c->asked;
    *used = end_used - c->used;
    /* The clock of a process learns of threads on other processors only at their next tick. */
    if (c->processor == CLOCK_PROCESS_CPUTIME_ID && *used > *took) *used = *took;
    return status;
}

/* ---------------------------------------------------------------- measuring -- */

static void print(const work *w, way by, double whole, int stopped, int n, double *took,
                  double *used)
{
    char name[40];
    qsort(took, (size_t)n, sizeof *took, bench_ascending);
    qsort(used, (size_t)n, sizeof *used, bench_ascending);
    const int late = (n * 99 + 99) / 100 - 1;
    snprintf(name, sizeof name, "%s%s", w->name, ways[by].name);
    if (n == 0)
        printf("%-24s %8.1f %s\n", name, whole,
               stopped ? "the latencies are unknown" : "no run was stopped");
    else
        printf("%-24s %8.1f %5d %7.2f %7.2f %7.2f   %7.2f %7.2f %7.2f\n", name, whole, n,
               took[n / 2], took[late], took[n - 1], used[n / 2], used[late], used[n - 1]);
    fflush(stdout);
}

/* More than one of a hundred stops took longer than 5 ms. */
static bool many_late(const double *used, int n)
{
    int late = 0;
    for (int i = 0; i < n; i++) late += used[i] > 5;
    return 100 * late > n;
}

bool measure(const work *w, way by, int times, int threads)
{
    enum { MORE = 4 };          /* one late stop says little about one in a hundred */
    static double  took[MORE * MOST_TIMES], used[MORE * MOST_TIMES];
    static subject s;
    stopping       c = { .by = by, .processor = CLOCK_PROCESS_CPUTIME_ID };
    int            stopped = 0, n = 0;
    begin(&s, w, threads);
    if (s.threads == 1) pthread_getcpuclockid(pthread_self(), &c.processor);
    sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_alarm, .sa_flags = SA_RESTART },
              NULL);
    signalled = &c;
    const double begun = now(CLOCK_MONOTONIC);
    run(&s);
    const double whole = now(CLOCK_MONOTONIC) - begun;
    for (int i = 0, last = times; i < last; i++) {
        const double      delay = whole * 0.9 * (i % times + 0.5) / times;
        const eddy_status status = run_and_stop(&s, &c, delay, &took[n], &used[n]);
        stopped += status == ways[by].status;
        n += status == ways[by].status && !c.late;
        if (status != EDDY_OK && status != EDDY_CLOSED && status != ways[by].status)
            printf("%s: %s\n", w->name, eddy_session_message(s.session));
        if (by == BY_CLOSE) begin_session(&s);
        if (i + 1 == times && many_late(used, n)) last = MORE * times;
    }
    print(w, by, whole, stopped, n, took, used);
    end(&s);
    return stopped > 0;
}
