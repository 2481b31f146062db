/* test_interruptible.c -- calls in threads of their own, which runs that must end leave behind. */
#include "build/gen/suites.h"
#include "graph/base/interruptible.h"
#include "graph/base/thread_pool.h"
#include "tests/lib/checks.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_uint requests, others;          /* of two sessions */
static atomic_int  blocks, calls;             /* that exist; that have ended */
static atomic_bool open_gate;                 /* calls of wait_at_gate end */

static void *allocate(void *context, size_t size)
{
    (void)context;
    atomic_fetch_add(&blocks, 1);
    return malloc(size);
}

static void release(void *context, void *p, size_t size)
{
    (void)context, (void)size;
    atomic_fetch_sub(&blocks, 1);
    free(p);
}

static const eddy_allocator counted = { allocate, release, NULL };

/* Those in use. */
static int blocks_left(void)
{
    eddy__call_blocks_free(&requests);
    return atomic_load(&blocks);
}

typedef struct call {
    eddy_call_block block;
    pthread_t       thread;
    int             rounding;
} call;

static call *new_call(void)
{
    call *c = eddy__call_block(&counted, &requests, sizeof *c);
    c->rounding = -1;
    return c;
}

static void note_thread(void *block)
{
    call *c = block;
    c->thread = pthread_self();
    c->rounding = fegetround();
    atomic_fetch_add(&calls, 1);
}

static void pause_for(long nanoseconds)
{
    const struct timespec t = { .tv_nsec = nanoseconds };
    nanosleep(&t, NULL);
}

static void wait_at_gate(void *block)
{
    call *c = block;
    while (!atomic_load(&open_gate)) pause_for(100000);
    c->rounding = 1;                          /* the block is still there */
    atomic_fetch_add(&calls, 1);
}

/* A run that ends after some milliseconds. */
static eddy_stop soon(const atomic_uint *of)
{
    return (eddy_stop){ .requests = of, .begun = atomic_load(of),
                        .deadline = eddy__monotonic_nanoseconds() + 20000000 };
}

static eddy_stop never(void)
{
    return (eddy_stop){ .requests = &requests, .begun = atomic_load(&requests) };
}

/* A whole call is over when it returns; its block is the caller's. */
START_TEST(returns)
{
    const eddy_stop stop = never();
    const int       before = fegetround();
    for (int i = 0; i < 20; i++) {
        call *c = new_call();
        fesetround(i % 2 ? FE_UPWARD : FE_TONEAREST);
        ck_assert(eddy__interruptible(&stop, note_thread, c));
        ck_assert_int_eq(c->rounding, i % 2 ? FE_UPWARD : FE_TONEAREST);
        ck_assert(!pthread_equal(c->thread, pthread_self()));
        eddy__call_block_give(c);
    }
    fesetround(before);
    ck_assert_int_eq(atomic_load(&calls), 20);
    ck_assert_int_eq(blocks_left(), 0);
}
END_TEST

START_TEST(in_the_same_thread)
{
    const eddy_stop none = { .requests = NULL }, *stops[] = { NULL, &none };
    for (int i = 0; i < 2; i++) {
        call *c = new_call();
        ck_assert(eddy__interruptible(stops[i], note_thread, c));
        ck_assert(pthread_equal(c->thread, pthread_self()));
        eddy__call_block_give(c);
    }
    ck_assert_int_eq(blocks_left(), 0);
}
END_TEST

START_TEST(left_behind)
{
    const eddy_stop stop = soon(&requests);
    ck_assert(!eddy__interruptible(&stop, wait_at_gate, new_call()));
    ck_assert_int_eq(blocks_left(), 1);
    ck_assert_int_eq(atomic_load(&calls), 0);
    eddy__interruptible_wait(&others);        /* not for calls of other sessions */
    ck_assert_int_eq(atomic_load(&calls), 0);
    atomic_store(&open_gate, true);
    eddy__interruptible_wait(&requests);
    ck_assert_int_eq(atomic_load(&calls), 1);
    ck_assert_int_eq(blocks_left(), 0);
}
END_TEST

static void *request_soon(void *of)
{
    pause_for(20000000);
    atomic_fetch_add((atomic_uint *)of, 1);
    return NULL;
}

START_TEST(ended_by_a_request)
{
    const eddy_stop stop = never();
    pthread_t       t;
    ck_assert_int_eq(pthread_create(&t, NULL, request_soon, &requests), 0);
    ck_assert(!eddy__interruptible(&stop, wait_at_gate, new_call()));
    pthread_join(t, NULL);
    ck_assert(!eddy__interruptible(&stop, note_thread, new_call()));      /* does not begin */
    ck_assert_int_eq(atomic_load(&calls), 0);
    ck_assert_int_eq(blocks_left(), 1);
    atomic_store(&open_gate, true);
    eddy__interruptible_wait(&requests);
    ck_assert_int_eq(blocks_left(), 0);
}
END_TEST

/* Calls of any session, up to the number of cores. */
START_TEST(as_many_as_cores)
{
    const int cores = eddy__cores();
    for (int i = 0; i < cores + 3; i++) {
        const eddy_stop stop = soon(i % 2 ? &requests : &others);
        ck_assert(!eddy__interruptible(&stop, wait_at_gate, new_call()));
        ck_assert_int_eq(blocks_left(), i < cores ? i + 1 : cores);
    }
    atomic_store(&open_gate, true);
    eddy__interruptible_wait(&requests);
    eddy__interruptible_wait(&others);
    ck_assert_int_eq(atomic_load(&calls), cores);
    ck_assert_int_eq(blocks_left(), 0);
    const eddy_stop stop = never();
    call           *c = new_call();
    ck_assert(eddy__interruptible(&stop, note_thread, c));
    eddy__call_block_give(c);
}
END_TEST

#if !defined(__SANITIZE_THREAD__)       /* which has no threads in the children of threads */
/* A child has none of the calls that were left behind, frees their blocks, and makes its own.
 * It ends by a signal, see test_thread_pool.c. */
START_TEST(in_a_child)
{
    const eddy_stop stop = soon(&requests);
    int             status;
    ck_assert(!eddy__interruptible(&stop, wait_at_gate, new_call()));
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        const eddy_stop none = never();
        eddy__interruptible_wait(&requests);
        if (blocks_left() != 0) _exit(1);
        call *c = new_call();
        if (!eddy__interruptible(&none, note_thread, c)) _exit(2);
        const bool own = !pthread_equal(c->thread, pthread_self());
        eddy__call_block_give(c);
        if (blocks_left() == 0 && own) raise(SIGKILL);
        _exit(3);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %d", status);
    atomic_store(&open_gate, true);
    eddy__interruptible_wait(&requests);
    ck_assert_int_eq(atomic_load(&calls), 1);
}
END_TEST
#endif

static int written;          /* the end of a pipe to write to */

static void write_late(void *block)
{
    (void)block;
    pause_for(100000000);
    const ssize_t n = write(written, "x", 1);
    (void)n;
}

/* A process that exits waits for the calls that it has left behind. */
START_TEST(at_exit)
{
    int  ends[2], status;
    char got = 0;
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        const eddy_stop stop = soon(&requests);
        written = ends[1];
        exit(eddy__interruptible(&stop, write_late, new_call()) ? 1 : 0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &got, 1), 1);
    close(ends[0]);
}
END_TEST

/* A session keeps its blocks, and one that is too small makes room for a larger one. */
START_TEST(kept_blocks)
{
    const atomic_uint *of[] = { &requests, &others };
    void *a = eddy__call_block(&counted, of[0], 1000), *b = eddy__call_block(&counted, of[0], 2000);
    void *c = eddy__call_block(&counted, of[1], 5000);
    eddy__call_block_give(a);
    eddy__call_block_give(b);
    eddy__call_block_give(c);
    ck_assert_uint_eq(eddy__call_blocks_bytes(of[0]), 3000);
    ck_assert_uint_eq(eddy__call_blocks_bytes(of[1]), 5000);
    ck_assert_ptr_eq(eddy__call_block(&counted, of[0], 1500), b);
    a = eddy__call_block(&counted, of[0], 3000);
    ck_assert_int_eq(atomic_load(&blocks), 3);
    ck_assert_uint_eq(eddy__call_blocks_bytes(of[0]), 0);
    eddy__call_block_give(a);
    eddy__call_block_give(b);
    ck_assert_uint_eq(eddy__call_blocks_bytes(of[0]), 5000);
    eddy__call_blocks_free(of[0]);
    ck_assert_int_eq(atomic_load(&blocks), 1);
    eddy__call_blocks_free(of[1]);
    ck_assert_int_eq(atomic_load(&blocks), 0);
}
END_TEST

/* Large memory of a stopped run waits for the next run; no call gets it. */
START_TEST(late_blocks)
{
    const uint64_t  large = 20 << 20, small = 1000;
    const eddy_stop stop = { .requests = &requests, .begun = atomic_load(&requests) + 1 };
    const eddy_stop goes_on = never();
    void           *base;
    ck_assert(eddy__stopped(&stop) && !eddy__stopped(&goes_on));
    ck_assert_ptr_nonnull(eddy__allocate_aligned(&counted, large, &base));
    eddy__release_late(&goes_on, &counted, base, large);
    ck_assert_ptr_nonnull(eddy__allocate_aligned(&counted, large, &base));
    eddy__release_late(NULL, &counted, base, large);
    ck_assert_ptr_nonnull(eddy__allocate_aligned(&counted, small, &base));
    eddy__release_late(&stop, &counted, base, small);
    eddy__release_late(&stop, &counted, NULL, large);
    ck_assert_int_eq(atomic_load(&blocks), 0);
    ck_assert_ptr_nonnull(eddy__allocate_aligned(&counted, large, &base));
    eddy__release_late(&stop, &counted, base, large);
    ck_assert_int_eq(atomic_load(&blocks), 1);
    ck_assert_uint_eq(eddy__call_blocks_bytes(&requests), large);
    void *other = eddy__call_block(&counted, &requests, small);
    ck_assert_int_eq(atomic_load(&blocks), 2);
    eddy__call_block_give(other);
    eddy__late_blocks_free(&others);
    ck_assert_int_eq(atomic_load(&blocks), 2);
    eddy__late_blocks_free(&requests);
    ck_assert_int_eq(atomic_load(&blocks), 1);
    ck_assert_int_eq(blocks_left(), 0);
}
END_TEST

/* Sanitizers end a program whose address space is limited. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define SANITIZED
#endif
#endif

#if !defined(SANITIZED)
static void *wait_in_thread(void *of)
{
    while (!atomic_load(&open_gate)) pause_for(100000);
    return of;
}

/* Without room for a stack the call runs in the calling thread. The others use the stacks that libc
 * has kept from threads of OpenBLAS. */
START_TEST(without_a_thread)
{
    enum { OTHERS = 8 };
    const eddy_stop stop = never();
    pthread_t       other[OTHERS];
    for (int i = 0; i < OTHERS; i++)
        ck_assert_int_eq(pthread_create(&other[i], NULL, wait_in_thread, NULL), 0);
    call           *c = new_call();
    struct rlimit   before, none;
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
    none = before;
    none.rlim_cur = 1 << 20;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
    const bool returned = eddy__interruptible(&stop, note_thread, c);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
    atomic_store(&open_gate, true);
    for (int i = 0; i < OTHERS; i++) pthread_join(other[i], NULL);
    ck_assert(returned);
    ck_assert(pthread_equal(c->thread, pthread_self()));
    eddy__call_block_give(c);
    ck_assert_int_eq(blocks_left(), 0);
}
END_TEST
#endif

/* The parts of a copy, and one that ends early. */
START_TEST(copies)
{
    enum { N = (9 << 20) + 7 };
    char           *from = malloc(N), *to = calloc(N, 1);
    const eddy_stop over = { .requests = &requests, .begun = atomic_load(&requests) + 1 };
    for (int i = 0; i < N; i++) from[i] = (char)(i * 31 + i / 65536);
    eddy__copy_or_stop(&over, to, from, N);
    ck_assert_int_eq(to[1], 0);
    eddy__copy_or_stop(NULL, to, from, N);
    ck_assert_mem_eq(to, from, N);
    free(from);
    free(to);
}
END_TEST

/* Earlier tests have left calls behind, which free their blocks later, and blocks for later
 * calls. */
static void setup(void)
{
    atomic_store(&open_gate, true);
    eddy__interruptible_wait(NULL);
    eddy__call_blocks_free(&requests);
    eddy__call_blocks_free(&others);
    atomic_store(&blocks, 0);
    atomic_store(&calls, 0);
    atomic_store(&open_gate, false);
}

Suite *interruptible_suite(void)
{
    Suite *suite = suite_create("interruptible");
    TCase *c = tcase_create("threads");
    tcase_add_checked_fixture(c, setup, NULL);
    tcase_set_tags(c, "threads");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, returns);
    tcase_add_test(c, in_the_same_thread);
    tcase_add_test(c, left_behind);
    tcase_add_test(c, ended_by_a_request);
    tcase_add_test(c, as_many_as_cores);
    tcase_add_test(c, kept_blocks);
    tcase_add_test(c, late_blocks);
    tcase_add_test(c, copies);
    suite_add_tcase(suite, c);
    c = tcase_create("processes");
    tcase_add_checked_fixture(c, setup, NULL);
    tcase_set_tags(c, "threads native");
    tcase_set_timeout(c, 60);
#if !defined(__SANITIZE_THREAD__)
    tcase_add_test(c, in_a_child);
#endif
    tcase_add_test(c, at_exit);
#if !defined(SANITIZED)
    tcase_add_test(c, without_a_thread);
#endif
    suite_add_tcase(suite, c);
    return suite;
}
