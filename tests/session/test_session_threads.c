/* test_session_threads.c -- threads that use one session: TensorFlow's case R-27, updates. */
#include "build/gen/suites.h"
#include "tests/lib/session_fixture.h"

#include <pthread.h>

/* A variable with the value 2, and all of them initialized. */
static eddy_tensor variable(const char *name) { return eddy_variable(g, real(g, 2), .name = name); }
static void initialize(void) { runs(s, eddy_initializer(g)); }

typedef struct job {
    eddy_tensor t;
    int         wrong;
} job;

static void *fetch_often(void *p)
{
    job *j = p;
    for (int i = 0; i < 20; i++) {
        eddy_array *a = eddy_fetch(s, j->t);
        j->wrong += !a || eddy_array_item(a) != 5;
        eddy_array_free(a);
    }
    return NULL;
}

START_TEST(r27_a_hundred_threads)
{
    enum { N = 100 };
    pthread_t threads[N];
    job       jobs[N];
    eddy_tensor t = Add(real(g, 2), Mul(real(g, 1), 3));
    for (int i = 0; i < N; i++) {
        jobs[i] = (job){ t, 0 };
        ck_assert_int_eq(pthread_create(&threads[i], NULL, fetch_often, &jobs[i]), 0);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(jobs[i].wrong, 0);
    }
}
END_TEST

static void *run_often(void *p)
{
    job *j = p;
    for (int i = 0; i < 50; i++)
        j->wrong += eddy_run(s, EDDY_FEED(), EDDY_FETCH(j->t), NULL) != EDDY_OK;
    return NULL;
}

START_TEST(updates_from_threads_are_not_lost)
{
    enum { N = 8 };
    pthread_t   threads[N];
    job         jobs[N];
    eddy_tensor v = variable("v"), more = eddy_assign_add(v, real(g, 1));
    initialize();
    for (int i = 0; i < N; i++) {
        jobs[i] = (job){ more, 0 };
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_often, &jobs[i]), 0);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(jobs[i].wrong, 0);
    }
    has(s, v, 1, (double[]){ 2 + 50 * N });
}
END_TEST

Suite *session_threads_suite(void)
{
    Suite *suite = suite_create("session_threads");
    TCase *c = tcase_create("threads");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_tags(c, "threads");
    tcase_add_test(c, r27_a_hundred_threads);
    tcase_add_test(c, updates_from_threads_are_not_lost);
    suite_add_tcase(suite, c);
    return suite;
}
