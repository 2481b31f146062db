/* test_messages_ranks.c -- the messages of collectives: of ranks that differ, fail, end or are
 * cancelled. */
#include "build/gen/suites.h"
#include "distributed/internal.h"
#include "tests/lib/golden.h"
#include "tests/lib/ranks/ranks.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { MOST = 3 };

/* ---------------------------------------------------------- ranks that differ -- */

/* Of each rank: its graph and session, and what its run said. */
typedef struct rank_run {
    eddy_graph   *graph;
    eddy_session *session;
    eddy_status   status;
    char          message[1100];
} rank_run;

static rank_run runs_of[MOST];

typedef eddy_tensor (*collective_of)(eddy_graph *g, eddy_communicator *c, int rank);

static void pause_for(double seconds)
{
    const struct timespec t = { .tv_nsec = (long)(seconds * 1e9) };
    nanosleep(&t, NULL);
}

/* After an error the graph and the session still work, and the communicator keeps its error. */
static bool remains(eddy_communicator *c, rank_run *r)
{
    eddy_array *out = NULL;
    eddy_error  e = { 0 };
    bool        ok =
        eddy_run(r->session, EDDY_FEED(), EDDY_FETCH(eddy_scalar(r->graph, 4)), &out) == EDDY_OK;
    ok = ok && eddy_array_item(out) == 4;
    eddy_array_free(out);
    return ok && !eddy_rank_barrier(c, &e) && e.status == eddy_communicator_status(c) &&
           strstr(e.message, eddy_communicator_message(c)) != NULL;
}

static bool run_one(eddy_communicator *c, void *context)
{
    const collective_of *build = context;
    rank_run            *r = &runs_of[eddy_communicator_rank(c)];
    r->graph = eddy_graph_new();
    eddy_tensor y = (*build)(r->graph, c, eddy_communicator_rank(c));
    r->session = eddy_session_new(r->graph);
    r->status = EDDY_OK;
    r->message[0] = '\0';
    bool ok = true;
    if (y.node != 0) {
        r->status = eddy_run(r->session, EDDY_FEED(), EDDY_FETCH(y), NULL);
        snprintf(r->message, sizeof r->message, "%s", eddy_session_message(r->session));
        ok = r->status != EDDY_OK && remains(c, r);
    }
    eddy_session_free(r->session);
    eddy_graph_free(r->graph);
    return ok;
}

/* All ranks run what `build` builds, and fail with the next lines of the golden file. */
static void all_fail(int ranks, collective_of build)
{
    eddy_error e = { 0 };
    ck_assert(eddy_run_threads(ranks, run_one, &build, &e));
    for (int r = 0; r < ranks; r++)
        if (runs_of[r].status != EDDY_OK) golden_line(runs_of[r].message);
}

static eddy_tensor floats(eddy_graph *g, int64_t n)
{
    return eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(n));
}

static eddy_tensor other_shape(eddy_graph *g, eddy_communicator *c, int rank)
{
    return eddy_all_reduce(c, floats(g, rank == 1 ? 4 : 3));
}

static eddy_tensor other_type(eddy_graph *g, eddy_communicator *c, int rank)
{
    return eddy_all_reduce(c, eddy_zeros(g, rank == 2 ? EDDY_INT32 : EDDY_FLOAT32, EDDY_SHAPE(3)));
}

static eddy_tensor other_operation(eddy_graph *g, eddy_communicator *c, int rank)
{
    return rank == 1 ? eddy_broadcast_from_root(c, floats(g, 3), .name = "it")
                     : eddy_all_reduce(c, floats(g, 3), .name = "it");
}

static eddy_tensor other_reduction(eddy_graph *g, eddy_communicator *c, int rank)
{
    return eddy_all_reduce(c, floats(g, 3), rank == 0 ? EDDY_REDUCE_MEAN : EDDY_REDUCE_MAX);
}

static eddy_tensor other_root(eddy_graph *g, eddy_communicator *c, int rank)
{
    return eddy_reduce_to_root(c, floats(g, 2000), .root = rank);
}

static eddy_tensor other_graph(eddy_graph *g, eddy_communicator *c, int rank)
{
    if (rank == 1) eddy_all_reduce(c, floats(g, 1));
    return eddy_all_reduce(c, floats(g, 3));
}

static eddy_tensor other_rows(eddy_graph *g, eddy_communicator *c, int rank)
{
    return eddy_all_gather(c, floats(g, 2 + rank));
}

static eddy_tensor other_shares(eddy_graph *g, eddy_communicator *c, int rank)
{
    const int64_t rows[2] = { 1 + rank, 2 - rank };
    return eddy_reduce_scatter(c, floats(g, 3),
                               .rows = eddy_const(g, EDDY_INT64, EDDY_SHAPE(2), rows));
}

static eddy_tensor other_bucket(eddy_graph *g, eddy_communicator *c, int rank)
{
    eddy_tensor y[2];
    eddy_all_reduce_list(c, EDDY_LIST(floats(g, 2 + rank), floats(g, 3 - rank)), EDDY_REDUCE_SUM,
                         y);
    return y[0];
}

static eddy_tensor other_message(eddy_graph *g, eddy_communicator *c, int rank)
{
    return eddy_send_receive(c, floats(g, 3 + rank), .to = 1 - rank, .from = 1 - rank);
}

static eddy_tensor no_barrier(eddy_graph *g, eddy_communicator *c, int rank)
{
    return rank == 0 ? eddy_barrier(g, c) : eddy_all_reduce(c, floats(g, 3));
}

START_TEST(differences)
{
    golden_begin("distributed/differences");
    all_fail(2, other_shape);
    all_fail(3, other_type);
    all_fail(2, other_operation);
    all_fail(2, other_reduction);
    all_fail(2, other_root);
    all_fail(2, other_graph);
    all_fail(2, other_rows);
    all_fail(2, other_shares);
    all_fail(2, other_bucket);
    all_fail(2, no_barrier);
    golden_end();
}
END_TEST

/* Each of the two compares what it gets, and the first to do so tells the other. */
START_TEST(messages_differ)
{
    const collective_of build = other_message;
    eddy_error          e = { 0 };
    ck_assert(eddy_run_threads(2, run_one, (void *)(uintptr_t)&build, &e));
    for (int r = 0; r < 2; r++) {
        ck_assert_int_eq(runs_of[r].status, EDDY_INVALID_ARGUMENT);
        ck_assert_ptr_nonnull(
            strstr(runs_of[r].message, "has SendReceive(float32[3]) 'SendReceive'"));
        ck_assert_ptr_nonnull(
            strstr(runs_of[r].message, "has SendReceive(float32[4]) 'SendReceive'"));
    }
}
END_TEST

/* ------------------------------------------------- ranks that end or are stopped -- */

static eddy_tensor leaves(eddy_graph *g, eddy_communicator *c, int rank)
{
    return rank == 1 ? EDDY_NO_TENSOR : eddy_all_reduce(c, floats(g, 3));
}

static eddy_tensor gives_up(eddy_graph *g, eddy_communicator *c, int rank)
{
    if (rank == 1) eddy_communicator_fail(c, "shares/1.npy: No such file or directory");
    return rank == 1 ? EDDY_NO_TENSOR : eddy_all_reduce(c, floats(g, 3));
}

/* A step with overlap of which rank 1 does not take part: the graph owns the optimizer. */
static eddy_tensor leaves_overlapped(eddy_graph *g, eddy_communicator *c, int rank)
{
    eddy_tensor     v = eddy_variable(g, eddy_scalar(g, 1), .name = "v");
    eddy_optimizer *o = eddy_gradient_descent(g, eddy_scalar(g, 1));
    o = eddy_distributed(o, c, .overlap = true);
    return rank == 1 ? EDDY_NO_TENSOR : eddy_minimize(o, eddy_mul(v, floats(g, 3)));
}

/* Rank 1 makes NaN, before a collective of all or after one; with a check of values or a bad
 * label. */
typedef enum mistake { BEFORE, AFTER, LABEL } mistake;

static bool errs(eddy_communicator *c, void *context)
{
    const mistake kind = *(mistake *)context;
    const int     me = eddy_communicator_rank(c);
    rank_run     *r = &runs_of[me];
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2)), y = x;
    if (kind == LABEL) y = eddy_gather(x, eddy_cast(x, EDDY_INT32));
    else if (kind == BEFORE) y = eddy_log(x);
    y = eddy_all_reduce(c, y);
    if (kind == AFTER) y = eddy_all_reduce(c, eddy_sqrt(eddy_mul(x, y)));
    eddy_session *s = eddy_session_new(g, .check_numerics = EDDY_NUMERICS_NAN);
    const float   bad = kind == LABEL ? 5 : -0.5f, own[] = { 1, me == 1 ? bad : 1 };
    r->status = eddy_run_ranks(c, s, EDDY_FEED({ x, EDDY_VIEW(own, 2) }), EDDY_FETCH(y), NULL);
    snprintf(r->message, sizeof r->message, "%s", eddy_session_message(s));
    eddy_session_free(s);
    eddy_graph_free(g);
    return true;
}

START_TEST(ends)
{
    golden_begin("distributed/ends");
    all_fail(3, leaves);
    all_fail(3, gives_up);
    all_fail(3, leaves_overlapped);
    for (mistake m = BEFORE; m <= LABEL; m++) {
        ck_assert(eddy_run_threads(2, errs, &m, NULL));
        for (int r = 0; r < 2; r++) {
            ck_assert_msg(runs_of[r].status != EDDY_OK, "%d %d", (int)m, r);
            golden_line(runs_of[r].message);
        }
    }
    golden_end();
}
END_TEST

static void *cancel_soon(void *session)
{
    pause_for(0.2);
    eddy_session_cancel(session);
    return NULL;
}

static void *fetch_sum(void *of)
{
    void *const *session_and_tensor = of;
    eddy_run(session_and_tensor[0], EDDY_FEED(), EDDY_FETCH(*(eddy_tensor *)session_and_tensor[1]),
             NULL);
    return NULL;
}

/* Rank 0 comes only when rank 1 has been cancelled, or has run out of time; 2: cancelled, with
 * overlap. Sessions are prepared, so that rank 1 waits in the collective by then under valgrind,
 * too. */
static bool stopped(eddy_communicator *c, void *context)
{
    const int     kind = *(int *)context, me = eddy_communicator_rank(c);
    const bool    times_out = kind == 1;
    rank_run     *r = &runs_of[me];
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   y = kind == 2 ? leaves_overlapped(g, c, 0) : eddy_all_reduce(c, floats(g, 3));
    eddy_session *s = eddy_session_new(g, .timeout = times_out && me == 1 ? 0.2 : 0);
    pthread_t     other;
    eddy_prepare(s, EDDY_FEED(), EDDY_FETCH(y));
    bool          cancels = !times_out && me == 1;
    if (cancels) cancels = pthread_create(&other, NULL, cancel_soon, s) == 0;
    if (me == 0) pause_for(0.6);
    r->status = eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), NULL);
    snprintf(r->message, sizeof r->message, "%s", eddy_session_message(s));
    if (cancels) pthread_join(other, NULL);
    eddy_session_free(s);
    eddy_graph_free(g);
    return true;
}

/* A second run of rank 0 waits for the first, which waits for rank 1: its timeout fails all. */
static bool busy(eddy_communicator *c, void *context)
{
    (void)context;
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   y = eddy_all_reduce(c, floats(g, 3));
    eddy_session *first = eddy_session_new(g), *second = eddy_session_new(g, .timeout = 0.05);
    pthread_t     other;
    if (eddy_communicator_rank(c) == 1) {
        pause_for(0.4);
        eddy_run(first, EDDY_FEED(), EDDY_FETCH(y), NULL);
    } else if (pthread_create(&other, NULL, fetch_sum, (void *[]){ first, &y }) == 0) {
        pause_for(0.1);
        eddy_run(second, EDDY_FEED(), EDDY_FETCH(y), NULL);
        golden_line(eddy_session_message(second));
        pthread_join(other, NULL);
    }
    const bool ok = eddy_session_status(first) == EDDY_TIMED_OUT &&
                    eddy_communicator_status(c) == EDDY_TIMED_OUT;
    eddy_session_free(first);
    eddy_session_free(second);
    eddy_graph_free(g);
    return ok;
}

START_TEST(stops)
{
    golden_begin("distributed/stops");
    for (int i = 0; i < 3; i++) {
        eddy_error e = { 0 };
        const bool times_out = i == 1;
        memset(runs_of, 0, sizeof runs_of);
        ck_assert(eddy_run_threads(2, stopped, &i, &e));
        for (int r = 1; r >= 0; r--) {
            ck_assert_int_eq(runs_of[r].status, times_out ? EDDY_TIMED_OUT : EDDY_CANCELLED);
            golden_line(runs_of[r].message);
        }
    }
    eddy_error e = { 0 };
    ck_assert(eddy_run_threads(2, busy, NULL, &e));
    golden_end();
}
END_TEST

Suite *messages_ranks_suite(void)
{
    Suite *s = suite_create("messages_ranks");
    TCase *c = tcase_create("messages");
    tcase_set_tags(c, "threads");
    tcase_add_test(c, differences);
    tcase_add_test(c, messages_differ);
    tcase_add_test(c, ends);
    tcase_add_test(c, stops);
    suite_add_tcase(s, c);
    return s;
}
