/* test_threads.c -- graphs, sessions, arrays and files used from several threads at once, as the
 * headers allow. `make tsan` checks them more closely. */
#include "tests/lib/checks.h"
#include "tests/lib/files/memory_files.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *threads_suite(void);

enum { THREADS = 8, ROUNDS = 12, STEPS = 5 };

/* Data shared by the threads of a test, and the result of each thread. */
typedef struct job {
    pthread_t     thread;
    int           number;
    eddy_session *s;
    network       n;
    eddy_array   *batch;
    eddy_array   *loss;
    int           wrong;
} job;

/* Runs work on a copy of the job in each thread. */
static void start(void *(*work)(void *), const job *shared, job *jobs)
{
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = *shared;
        jobs[i].number = i;
        ck_assert_int_eq(pthread_create(&jobs[i].thread, NULL, work, &jobs[i]), 0);
    }
}

static void finish(const job *jobs)
{
    for (int i = 0; i < THREADS; i++) {
        pthread_join(jobs[i].thread, NULL);
        ck_assert_msg(jobs[i].wrong == 0, "thread %d: %d wrong", i, jobs[i].wrong);
    }
}

/* -------------------------------------------------------- a graph for each -- */

static eddy_array *train(eddy_session *s, const network *n, const eddy_array *batch)
{
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(n->init), NULL);
    for (int i = 0; i < STEPS; i++)
        eddy_run(s, EDDY_FEED({ n->x, batch }), EDDY_FETCH(n->train), NULL);
    eddy_array *loss = NULL;
    eddy_run(s, EDDY_FEED({ n->x, batch }), EDDY_FETCH(n->loss), &loss);
    return loss;
}

static void *build_and_train(void *p)
{
    job *j = p;
    for (int i = 0; i < ROUNDS; i++) {
        eddy_graph   *g = eddy_graph_new();
        network       n = network_build(g);
        char         *text = eddy_graph_to_yaml(g);
        eddy_graph   *copy = eddy_graph_load("network.yaml", text);
        eddy_session *s = eddy_session_new(g);
        eddy_array   *loss = train(s, &n, j->batch);
        j->wrong += !copy || eddy_graph_size(copy) != eddy_graph_size(g) ||
                    !eddy_array_equal(loss, j->loss);
        eddy_array_free(loss);
        eddy_session_free(s);
        eddy_string_free(text);
        eddy_graph_free(copy);
        eddy_graph_free(g);
    }
    return NULL;
}

/* ---------------------------------------------- a session for each, one graph -- */

static void *train_alone(void *p)
{
    job *j = p;
    for (int i = 0; i < ROUNDS; i++) {
        eddy_session *s = eddy_session_new(j->n.x.graph);
        eddy_array   *loss = train(s, &j->n, j->batch);
        j->wrong += !eddy_array_equal(loss, j->loss);
        eddy_array_free(loss);
        eddy_session_free(s);
    }
    return NULL;
}

/* All threads train to the same bits as a single thread. */
START_TEST(alone_and_together)
{
    static void *(*const work[])(void *) = { build_and_train, train_alone };
    job           jobs[THREADS];
    eddy_graph   *g = eddy_graph_new();
    job           shared = { .n = network_build(g), .batch = network_batch(4) };
    eddy_session *s = eddy_session_new(g);
    shared.loss = train(s, &shared.n, shared.batch);
    ck_assert_ptr_nonnull(shared.loss);
    start(work[_i], &shared, jobs);
    finish(jobs);
    eddy_array_free(shared.loss);
    eddy_array_free(shared.batch);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------ one session for all -- */

/* Two variables to which every run adds 1: a thread that finds elements that differ has seen the
 * middle of a run.  They are long enough for runs to overlap. */
enum { ELEMENTS = 20000 };
static eddy_tensor a, b, both, add, wrong;

static bool differ(eddy_array *x)
{
    const double *at = eddy_array_data(x);
    bool          d = !x;
    for (int64_t i = 1; i < eddy_array_count(x); i++) d = d || at[i] != at[0];
    eddy_array_free(x);
    return d;
}

static void *use_session(void *p)
{
    job           *j = p;
    eddy_callable *c = eddy_callable_new(j->s, EDDY_LIST(), EDDY_LIST(both));
    for (int i = 0; i < ROUNDS; i++) {
        eddy_array *out = NULL;
        j->wrong += eddy_run(j->s, EDDY_FEED(), EDDY_FETCH(add), NULL) != EDDY_OK;
        j->wrong += differ(eddy_fetch(j->s, both));
        eddy_callable_run(c, NULL, &out);
        j->wrong += differ(out);
        out = eddy_variable_value(j->s, j->number % 2 ? a : b);
        j->wrong += !(eddy_array_get(out, 0) > i);
        eddy_array_free(out);
        j->wrong += eddy_run(j->s, EDDY_FEED(), EDDY_FETCH(wrong), NULL) != EDDY_NOT_FED;
    }
    eddy_callable_free(c);
    return NULL;
}

/* The main thread saves and restores meanwhile. */
START_TEST(one_session)
{
    memory_files m;
    job          jobs[THREADS];
    memory_files_init(&m);
    eddy_graph   *g = eddy_graph_new(.files = &m.table);
    eddy_session *s = eddy_session_new(g), *later = eddy_session_new(g);
    eddy_tensor zeros = eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(ELEMENTS));
    a = eddy_variable(g, zeros, .name = "a");
    b = eddy_variable(g, zeros, .name = "b");
    both = eddy_stack(EDDY_LIST(a, b));
    add = eddy_group(g, EDDY_LIST(eddy_assign_add(a, OnesLike(a)), eddy_assign_add(b, OnesLike(b))),
                     NULL);
    wrong = Add(eddy_placeholder(g, NULL, EDDY_FLOAT64, EDDY_SCALAR), 1);
    runs(s, eddy_initializer(g));
    start(use_session, &(job){ .s = s }, jobs);
    for (int i = 0; i < ROUNDS; i++) {
        ck_assert_int_eq(eddy_save(s, "saved", EDDY_LIST()), EDDY_OK);
        ck_assert_int_eq(eddy_restore(later, "saved", EDDY_LIST()), EDDY_OK);
        ck_assert(!differ(eddy_fetch(later, both)));
    }
    finish(jobs);
    has(s, Max(both), 1, (double[]){ THREADS * ROUNDS });
    has(s, Min(both), 1, (double[]){ THREADS * ROUNDS });
    eddy_session_free(s);
    eddy_session_free(later);
    eddy_graph_free(g);
    memory_files_free(&m);
}
END_TEST

/* ------------------------------------------------------ a process that forks -- */

/* Under sanitizers, a child may find locks of their allocators held forever. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

#if !defined(SANITIZED)
static atomic_bool ended;

static void *make_and_free(void *p)
{
    while (!atomic_load(&ended)) {
        eddy_graph *g = eddy_graph_new();
        eddy_session_free(eddy_session_new(g));
        eddy_graph_free(g);
    }
    return p;
}

/* Whatever other threads do when a process forks, the child makes, runs and frees graphs. It ends
 * by a signal, see test_thread_pool.c. */
START_TEST(a_child_of_busy_threads)
{
    enum { BUSY = 2, CHILDREN = 100, GRAPHS = 40 };
    pthread_t busy[BUSY];
    atomic_store(&ended, false);
    for (int i = 0; i < BUSY; i++)
        ck_assert_int_eq(pthread_create(&busy[i], NULL, make_and_free, NULL), 0);
    for (int i = 0, status; i < CHILDREN; i++) {
        const pid_t child = fork();
        if (child == 0) {
            signal(SIGALRM, SIG_DFL);
            alarm(20);
            for (int k = 0; k < GRAPHS; k++) {
                eddy_graph *g = eddy_graph_new();
                if (eddy_eval_number(Add(eddy_scalar(g, 1), 2)) != 3) _exit(1);
                eddy_graph_free(g);
            }
            raise(SIGKILL);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %d", status);
    }
    atomic_store(&ended, true);
    for (int i = 0; i < BUSY; i++) pthread_join(busy[i], NULL);
}
END_TEST
#endif

Suite *threads_suite(void)
{
    Suite *suite = suite_create("threads");
    TCase *t = tcase_create("threads");
    tcase_set_tags(t, "threads");
    tcase_add_loop_test(t, alone_and_together, 0, 2);
    tcase_add_test(t, one_session);
    suite_add_tcase(suite, t);
#if !defined(SANITIZED)
    TCase *forks = tcase_create("forks");
    tcase_set_tags(forks, "threads native");
    tcase_add_test(forks, a_child_of_busy_threads);
    suite_add_tcase(suite, forks);
#endif
    return suite;
}
