/* blas_threads.c -- restricts OpenBLAS to the calling thread while runs are in progress, and calls
 * one without threads from one thread at a time; what its kernels can. */
#include "ops/kernels/libraries/blas_threads.h"

#include <pthread.h>
#include <string.h>

/* NULL with any other BLAS. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int  openblas_get_num_threads(void) __attribute__((weak));
extern char *openblas_get_corename(void) __attribute__((weak));
extern int   openblas_get_parallel(void) __attribute__((weak));
extern void *blas_memory_alloc(int position) __attribute__((weak));
extern int   exec_blas(long count, void *queue) __attribute__((weak));

static struct {
    pthread_mutex_t lock;
    int             runs;          /* in progress, in all threads */
    int             before;        /* the number of threads of OpenBLAS before them */
} blas = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local int runs_here;

/* Held during a call of a library without threads. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void) { pthread_mutex_lock(&blas.lock); }
static void after_fork(void)  { pthread_mutex_unlock(&blas.lock); }

/* Restores the number under the lock, unless another number has been set. */
static void restore(void)
{
    if (blas.before != 1 && openblas_get_num_threads() == 1) openblas_set_num_threads(blas.before);
}

/* In a child, the runs of other threads are not in progress. */
static void in_child(void)
{
    if (blas.runs > 0 && runs_here == 0) restore();
    blas.runs = runs_here;
    pthread_mutex_unlock(&blas.lock);
    pthread_mutex_init(&turn, NULL);
}

static void register_handlers(void) { pthread_atfork(before_fork, after_fork, in_child); }

static void watch_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_handlers);
}

void eddy__blas_begin(void)
{
    if (!openblas_set_num_threads || !openblas_get_num_threads) return;
    watch_forks();
    pthread_mutex_lock(&blas.lock);
    runs_here++;
    if (blas.runs++ == 0) {
        blas.before = openblas_get_num_threads();
        if (blas.before != 1) openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&blas.lock);
}

void eddy__blas_end(void)
{
    if (!openblas_set_num_threads || !openblas_get_num_threads) return;
    pthread_mutex_lock(&blas.lock);
    runs_here--;
    if (--blas.runs == 0) restore();
    pthread_mutex_unlock(&blas.lock);
}

/* Without threads, blas_memory_alloc of OpenBLAS 0.3.21 takes a lock only if it is compiled with
 * USE_LOCKING, which it does not tell; Debian's is not. A program with the static library has
 * openblas_get_parallel only if something else calls it. */
static bool has_no_threads(void)
{
    if (openblas_get_parallel) return openblas_get_parallel() == 0;
    return blas_memory_alloc && !exec_blas;
}

void eddy__blas_enter(void)
{
    if (!has_no_threads()) return;
    watch_forks();
    pthread_mutex_lock(&turn);
}

void eddy__blas_leave(void)
{
    if (has_no_threads()) pthread_mutex_unlock(&turn);
}

bool eddy__blas_has_small_products(void)
{
    static const char *const cores[] = { "SkylakeX", "Cooperlake", "SapphireRapids" };
    const char *core = openblas_get_corename ? openblas_get_corename() : "";
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        if (strcmp(core, cores[i]) == 0) return true;
    return false;
}
