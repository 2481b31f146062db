/* mixed_runs.c -- see mixed_runs.h. */
#include "tests/lib/mixed_runs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, SIZE = 3000, SIDE = 160, SHORT_ROUNDS = 12 };

typedef struct mixed {
    eddy_graph     *graph;
    eddy_tensor     x, y, sum, product, random, v, by, add, init;
    eddy_session   *session;
    eddy_callable  *call;
    atomic_bool     failed, closed;     /* closed: or about to be */
    char           *text;
    pthread_mutex_t lock;               /* of text and counts */
    mixed_counts    counts;
    atomic_long     added, may_be_added; /* updates of this session: certain, and cancelled ones */
} mixed;

typedef struct user {
    mixed       *m;
    int          number, runs;
    bool         closes;                /* this thread closes the session after half of its runs */
    uint64_t     seed;
    mixed_counts counts;
    pthread_t    thread;
} user;

static void fail(mixed *m, const char *what, double got, double want)
{
    pthread_mutex_lock(&m->lock);
    if (!atomic_exchange(&m->failed, true))
        snprintf(m->text, 300, "%s: %g instead of %g; the session says: %s", what, got, want,
                 eddy_session_message(m->session));
    pthread_mutex_unlock(&m->lock);
}

static uint32_t draw(user *u, uint32_t below)
{
    u->seed = u->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(u->seed >> 33) % below;
}

/* Counts a status; true if the run succeeded. */
static bool succeeded(user *u, const char *what, eddy_status status)
{
    if (status == EDDY_OK) u->counts.ok++;
    else if (status == EDDY_CANCELLED) u->counts.cancelled++;
    else if (status == EDDY_TIMED_OUT) u->counts.timed_out++;
    else if (status == EDDY_CLOSED) u->counts.closed++;
    else fail(u->m, what, status, EDDY_OK);
    return status == EDDY_OK;
}

/* Whether all elements of a, which is freed, are `want`. */
static void all_are(user *u, const char *what, eddy_array *a, double want)
{
    for (int64_t i = 0; a && i < eddy_array_count(a); i++)
        if (eddy_array_get(a, i) != want) {
            fail(u->m, what, eddy_array_get(a, i), want);
            break;
        }
    if (!a) fail(u->m, what, 0, want);
    eddy_array_free(a);
}

/* An array of variable v is whole, and its value is possible. */
static void is_whole(user *u, const char *what, eddy_array *a)
{
    const double first = a ? eddy_array_get(a, 0) : -1;
    const double unknown = (double)atomic_load(&u->m->may_be_added); /* read first: see update */
    const double most = unknown + (double)atomic_load(&u->m->added);
    if (first < 0 || first > most) fail(u->m, what, first, most);
    all_are(u, what, a, first);
}

/* ------------------------------------------------------------------ the runs -- */

/* y = 2 x + 1 and its sum, with one of seven shapes. */
static void feed(user *u)
{
    float         data[64 * 7];
    eddy_array   *out[2] = { NULL, NULL };
    const int     n = 64 * (1 + (int)draw(u, 7));
    const float   value = (float)draw(u, 1000);
    const mixed  *m = u->m;
    eddy_status   status;
    for (int i = 0; i < n; i++) data[i] = value;
    if (draw(u, 3) == 0)
        status = eddy_callable_run(m->call, (const eddy_array *[]){ EDDY_VIEW(data, n) }, out);
    else
        status = eddy_run(m->session, EDDY_FEED({ m->x, EDDY_VIEW(data, n) }),
                          EDDY_FETCH(m->y, m->sum), out);
    if (!succeeded(u, "a run with a feed", status)) return;
    if (out[0] && eddy_array_count(out[0]) != n)
        fail(u->m, "elements", (double)eddy_array_count(out[0]), n);
    all_are(u, "2 x + 1", out[0], 2 * (double)value + 1);
    all_are(u, "its sum", out[1], n * (2 * (double)value + 1));
}

static void multiply(user *u)
{
    eddy_array *out = NULL;
    if (succeeded(u, "a product",
                  eddy_run(u->m->session, EDDY_FEED(), EDDY_FETCH(u->m->product), &out)))
        all_are(u, "a product", out, SIDE);
}

static void draw_random(user *u)
{
    eddy_array *out = NULL;
    if (!succeeded(u, "random numbers",
                   eddy_run(u->m->session, EDDY_FEED(), EDDY_FETCH(u->m->random), &out)))
        return;
    for (int64_t i = 0; i < eddy_array_count(out); i++)
        if (!(eddy_array_get(out, i) >= 0 && eddy_array_get(out, i) < 1))
            fail(u->m, "a random number", eddy_array_get(out, i), 0.5);
    eddy_array_free(out);
}

static void update(user *u)
{
    eddy_array *out = NULL;
    atomic_fetch_add(&u->m->may_be_added, 1);
    const eddy_status status = eddy_run(u->m->session, EDDY_FEED({ u->m->by, EDDY_DOUBLES(1) }),
                                        EDDY_FETCH(u->m->add), &out);
    if (status == EDDY_OK) {
        atomic_fetch_add(&u->m->added, 1);
        atomic_fetch_sub(&u->m->may_be_added, 1);
        u->counts.updates++;
    }
    if (succeeded(u, "an update", status)) is_whole(u, "an update", out);
}

static void read_variable(user *u)
{
    eddy_array *out = NULL;
    if (draw(u, 2) == 0) {
        out = eddy_variable_value(u->m->session, u->m->v);
        if (succeeded(u, "eddy_variable_value",
                      !out && atomic_load(&u->m->closed) ? EDDY_CLOSED : EDDY_OK))
            is_whole(u, "eddy_variable_value", out);
    } else if (succeeded(u, "reading",
                         eddy_run(u->m->session, EDDY_FEED(), EDDY_FETCH(u->m->v), &out)))
        is_whole(u, "reading", out);
}

/* Writes the variable while others update it, and reads the file into a session of its own. */
static void save(user *u)
{
    char path[100];
    snprintf(path, sizeof path, "/tmp/eddy_mixed_runs_%ld_%d", (long)getpid(), u->number);
    if (!succeeded(u, "eddy_save", eddy_save(u->m->session, path, EDDY_LIST(u->m->v)))) return;
    u->counts.saves++;
    eddy_session *s = eddy_session_new(u->m->graph, .threads = 1);
    if (eddy_restore(s, path, EDDY_LIST(u->m->v)) != EDDY_OK)
        fail(u->m, eddy_session_message(s), 0, 0);
    is_whole(u, "a saved file", eddy_variable_value(s, u->m->v));
    eddy_session_free(s);
    remove(path);
}

static void one_run(user *u)
{
    static const double timeouts[] = { 1e-5, 1e-4, 1e-3 };
    const uint32_t      what = draw(u, 1000);
    if (what < 500) feed(u);
    else if (what < 600) multiply(u);
    else if (what < 700) draw_random(u);
    else if (what < 850) update(u);
    else if (what < 980) read_variable(u);
    else if (what < 984) save(u);
    else if (what < 994) {
        eddy_session_cancel(u->m->session);
        u->counts.cancels++;
        feed(u);
    } else {
        eddy_session_set_timeout(u->m->session, timeouts[draw(u, 3)]);
        multiply(u);
        eddy_session_set_timeout(u->m->session, 0);
    }
}

static void *use(void *of)
{
    user *u = of;
    for (int i = 0; i < u->runs && !atomic_load(&u->m->failed); i++) {
        if (u->closes && i == u->runs / 2) {
            atomic_store(&u->m->closed, true);
            eddy_session_close(u->m->session);
        }
        one_run(u);
    }
    return NULL;
}

/* ---------------------------------------------------------------- the rounds -- */

static void add_counts(mixed_counts *to, const mixed_counts *from)
{
    to->ok += from->ok, to->cancelled += from->cancelled, to->timed_out += from->timed_out;
    to->closed += from->closed, to->updates += from->updates, to->saves += from->saves;
    to->cancels += from->cancels;
}

/* No update that succeeded has been lost. */
static void check_last(user *u)
{
    eddy_array  *end = eddy_variable_value(u->m->session, u->m->v);
    const double value = end ? eddy_array_get(end, 0) : -1,
                 least = (double)atomic_load(&u->m->added);
    if (value < least) fail(u->m, "the last value", value, least);
    is_whole(u, "the last value", end);
}

/* One session, used by all threads at once. */
static void round_of(mixed *m, int threads, int runs, uint64_t seed, bool closes)
{
    user u[MOST] = { 0 };
    m->session = eddy_session_new(m->graph, .threads = 2);
    m->call = eddy_callable_new(m->session, EDDY_LIST(m->x), EDDY_LIST(m->y, m->sum));
    m->counts.sessions++;
    atomic_store(&m->added, 0);
    atomic_store(&m->may_be_added, 0);
    atomic_store(&m->closed, false);
    if (!m->call || eddy_run(m->session, EDDY_FEED(), EDDY_FETCH(m->init), NULL) != EDDY_OK)
        fail(m, "the first run", 0, 0);
    for (int i = 0; i < threads; i++) {
        u[i] = (user){ .m = m, .number = i, .runs = runs, .closes = closes && i == 0,
                       .seed = seed * 1000 + (uint64_t)i };
        if (pthread_create(&u[i].thread, NULL, use, &u[i]) != 0) fail(m, "pthread_create", i, 0);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(u[i].thread, NULL);
        add_counts(&m->counts, &u[i].counts);
    }
    if (!closes) check_last(&u[0]);
    eddy_session_free(m->session);
}

static bool build(mixed *m)
{
    eddy_graph *g = m->graph = eddy_graph_new(.seed = 5);
    m->x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    m->y = eddy_add(eddy_mul(m->x, eddy_scalar(g, 2)), eddy_scalar(g, 1));
    m->sum = eddy_sum(m->y);
    const eddy_tensor random = eddy_random_uniform(g, EDDY_SHAPE(SIDE, SIDE));
    const eddy_tensor ones = eddy_cast(eddy_less(random, eddy_scalar(g, 2)), EDDY_FLOAT32);
    m->product = eddy_matmul(ones, ones);
    m->random = eddy_random_uniform(g, EDDY_SHAPE(100));
    m->v = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(SIZE)));
    m->by = eddy_placeholder(g, "by", EDDY_FLOAT64, EDDY_SHAPE(1));
    m->add = eddy_assign_add(m->v, eddy_broadcast_to(m->by, EDDY_SHAPE(SIZE)));
    m->init = eddy_initializer(g);
    return eddy_graph_status(g) == EDDY_OK;
}

bool mixed_runs(int threads, int runs, mixed_counts *counts, char text[300])
{
    mixed     m = { .text = text, .lock = PTHREAD_MUTEX_INITIALIZER };
    const int in_short_rounds = runs / 10 / SHORT_ROUNDS;
    if (threads > MOST || !build(&m)) return false;
    round_of(&m, threads, runs - SHORT_ROUNDS * in_short_rounds, 1, false);
    for (int i = 0; i < SHORT_ROUNDS && in_short_rounds > 0; i++)
        round_of(&m, threads, in_short_rounds, (uint64_t)i + 2, true);
    eddy_graph_free(m.graph);
    pthread_mutex_destroy(&m.lock);
    *counts = m.counts;
    return !atomic_load(&m.failed);
}
