/* left_over.c -- checks after each test that it has left no file open and no thread running, except
 * workers of the thread pool, which stay for the next run.
 *
 * The linker puts __wrap_tcase_create in the place of Check's function (see the Makefile). The
 * fixture that it adds begins before those of the test and ends after them. Of threads, those count
 * that the library and the tests start: shared libraries have their own. */
#include "graph/base/thread_pool.h"

#include <check.h>
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>

TCase *__real_tcase_create(const char *name);
TCase *__wrap_tcase_create(const char *name);
int    __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                             void *arg);
int    __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                             void *arg);
int    __real_pthread_join(pthread_t thread, void **result);
int    __wrap_pthread_join(pthread_t thread, void **result);

static atomic_int started;                  /* threads that have not been joined */
static int        files_before, threads_before;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *arg)
{
    const int failed = __real_pthread_create(thread, attr, start, arg);
    atomic_fetch_add(&started, failed == 0);
    return failed;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
    const int failed = __real_pthread_join(thread, result);
    atomic_fetch_sub(&started, failed == 0);
    return failed;
}

/* 0 if unknown. */
static int open_files(void)
{
    int  n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

static int running_threads(void) { return atomic_load(&started) - eddy__workers(); }

static void begin(void)
{
    files_before = open_files();
    threads_before = running_threads();
}

static void end(void)
{
    const int files = open_files(), threads = running_threads();
    ck_assert_msg(files <= files_before, "%d files are open, before the test %d", files,
                  files_before);
    ck_assert_msg(threads <= threads_before, "%d threads are running, before the test %d", threads,
                  threads_before);
}

TCase *__wrap_tcase_create(const char *name)
{
    TCase *c = __real_tcase_create(name);
    tcase_add_checked_fixture(c, begin, end);
    return c;
}
