/* test_cancelled_ranks.c -- trainings of three ranks, one of which is cancelled at any moment. */
#include "build/gen/suites.h"
#include "tests/lib/ranks/ranks.h"

#include "ops/short_names.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

static void pause_for(double seconds)
{
    const struct timespec t = { .tv_nsec = (long)(seconds * 1e9) };
    nanosleep(&t, NULL);
}

/* Rank 1 is cancelled at any moment of a training, until it notices. */
typedef struct canceller {
    eddy_session *session;
    double        after;
    _Atomic bool  ended;
} canceller;

static void *cancel_until_ended(void *at)
{
    canceller *k = at;
    pause_for(k->after);
    while (!k->ended) {
        eddy_session_cancel(k->session);
        pause_for(0.0002);
    }
    return NULL;
}

static bool train_until_cancelled(eddy_communicator *c, void *context)
{
    const int       turn = *(int *)context, me = eddy_communicator_rank(c);
    eddy_graph     *g = eddy_graph_new();
    eddy_tensor     x = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(3000));
    eddy_tensor     v = eddy_variable(g, x, .name = "v");
    eddy_tensor     w = eddy_variable(g, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(7)), .name = "w");
    eddy_optimizer *o = eddy_adam(g);
    o = turn % 3 == 0 ? eddy_sharded(o, c)
                      : eddy_distributed(o, c, .bucket_bytes = 1, .overlap = turn % 3 == 1);
    eddy_tensor   step = eddy_minimize(o, Add(eddy_sum(Square(v)), eddy_sum(Square(w))));
    eddy_session *s = eddy_session_new(g, .threads = 1);
    canceller     k = { .session = s, .after = 0.0001 * (turn % 50) };
    pthread_t     other;
    bool ok = eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) == EDDY_OK;
    const bool cancels = me == 1 && pthread_create(&other, NULL, cancel_until_ended, &k) == 0;
    while (eddy_run_ranks(c, s, EDDY_FEED(), EDDY_FETCH(step), NULL) == EDDY_OK) continue;
    k.ended = true;
    if (cancels) pthread_join(other, NULL);
    ok = ok && (me == 1 || expect(c, strstr(eddy_session_message(s), "rank 1") != NULL, "%s",
                                  eddy_session_message(s)));
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

START_TEST(cancelled_often)
{
    for (int turn = 0; turn < 100; turn++)
        ck_assert(eddy_run_threads(3, train_until_cancelled, &turn, NULL));
}
END_TEST

Suite *cancelled_ranks_suite(void)
{
    Suite *s = suite_create("cancelled_ranks");
    TCase *c = tcase_create("trainings");
    tcase_set_tags(c, "threads");
    tcase_add_test(c, cancelled_often);
    suite_add_tcase(s, c);
    return s;
}
