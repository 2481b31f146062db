/* interruptible.c -- threads for calls that do not look at the stop.
 *
 * A thread that is left behind runs code of this library and of LAPACK, so it is joined before the
 * library is unloaded, and before its session is freed, whose allocator it uses. One that has ended
 * is joined by the next call of any session. */
#define _GNU_SOURCE
#include "graph/base/interruptible.h"
#include "graph/base/limited_memory.h"
#include "graph/base/sanitizer.h"
#include "graph/base/thread_pool.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Nanoseconds between two looks at the stop; bytes of stack, which libc may make small; bytes of
 * blocks that are released late. */
enum { PAUSE = 1000000, STACK = 8 << 20, LARGE = 1 << 20 };

typedef struct job {
    struct job            *next;         /* in the list of those left behind */
    void                 (*call)(void *block);
    void                  *block;        /* NULL once it is being released */
    const atomic_uint     *requests;     /* of the session */
    pthread_t              thread;
    fenv_t                 environment;
    bool                   ended, left;  /* the thread does nothing more; the run did not wait */
    bool                   gone;         /* the thread is one of the parent process */
} job;

static struct {
    pthread_mutex_t lock;                /* of the members below and those of jobs */
    pthread_cond_t  changed;             /* a job has ended */
    bool            watches_forks, usable;
    job            *left;                /* jobs left behind that are not joined */
    eddy_call_block *kept;               /* blocks that are not in use */
    atomic_int       late;               /* how many of them are of stopped runs */
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ------------------------------------------------------------- the process -- */

static bool make_condition(void)
{
    pthread_condattr_t attr;
    if (pthread_condattr_init(&attr) != 0) return false;
    const bool made = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
                      pthread_cond_init(&all.changed, &attr) == 0;
    pthread_condattr_destroy(&attr);
    return made;
}

static void before_fork(void) { pthread_mutex_lock(&all.lock); }
static void after_fork(void)  { pthread_mutex_unlock(&all.lock); }

/* A child has none of the threads, and frees their blocks later. */
static void in_child(void)
{
    for (job *j = all.left; j; j = j->next) j->ended = j->gone = true;
    all.usable = all.usable && make_condition();
    pthread_mutex_unlock(&all.lock);
}

/* Takes the first job left behind that has ended, of these requests or, for NULL, of any; under the
 * lock. */
static job *take_ended(const atomic_uint *requests)
{
    for (job **at = &all.left; *at; at = &(*at)->next) {
        job *j = *at;
        if (!j->ended || (requests && j->requests != requests)) continue;
        *at = j->next;
        return j;
    }
    return NULL;
}

static int count_left(const atomic_uint *requests)
{
    int n = 0;
    for (const job *j = all.left; j; j = j->next)
        n += !j->ended && (!requests || j->requests == requests);
    return n;
}

static void free_block(void *block)
{
    const eddy_call_block b = *(const eddy_call_block *)block;
    eddy__release_aligned(&b.allocator, b.base, b.bytes);
}

/* Joins those that have ended. */
static void join_ended(const atomic_uint *requests)
{
    for (job *j = NULL;;) {
        pthread_mutex_lock(&all.lock);
        j = take_ended(requests);
        pthread_mutex_unlock(&all.lock);
        if (!j) return;
        if (!j->gone) pthread_join(j->thread, NULL);
        if (j->block) free_block(j->block);
        eddy__release(&eddy__libc, j, sizeof *j);
    }
}

void eddy__interruptible_wait(const atomic_uint *requests)
{
    pthread_mutex_lock(&all.lock);
    while (count_left(requests) > 0) pthread_cond_wait(&all.changed, &all.lock);
    pthread_mutex_unlock(&all.lock);
    join_ended(requests);
}

/* Sessions take the lock, too, although no job has begun. */
__attribute__((constructor)) static void watch_forks(void)
{
    all.watches_forks = pthread_atfork(before_fork, after_fork, in_child) == 0;
}

/* Before OpenBLAS ends, whose memory the threads use. */
static void at_exit(void) { eddy__interruptible_wait(NULL); }

static void begin(void)
{
    all.usable = all.watches_forks && make_condition() && atexit(at_exit) == 0;
}

/* ------------------------------------------------------------------ memory -- */

/* Takes a block that the session keeps, of at least so many bytes if there is one. */
static eddy_call_block *take_kept(const atomic_uint *requests, uint64_t bytes, bool late)
{
    eddy_call_block **found = NULL;
    pthread_mutex_lock(&all.lock);
    for (eddy_call_block **at = &all.kept; *at; at = &(*at)->next)
        if ((*at)->requests == requests && (*at)->late == late &&
            (!found || (*found)->bytes < bytes))
            found = at;
    eddy_call_block *b = found ? *found : NULL;
    if (b) *found = b->next;
    pthread_mutex_unlock(&all.lock);
    return b;
}

/* Pages that the system has given once are worth keeping: new ones would take longer than copies to
 * them. */
void *eddy__call_block(const eddy_allocator *a, const atomic_uint *requests, uint64_t bytes)
{
    void            *base;
    eddy_call_block *b = take_kept(requests, bytes, false);
    if (b && b->bytes >= bytes) return b;
    if (b) free_block(b);
    b = eddy__allocate_aligned(a, bytes, &base);
    if (b) *b = (eddy_call_block){ NULL, requests, *a, base, bytes, false };
    return b;
}

void eddy__call_block_give(void *block)
{
    eddy_call_block *b = block;
    pthread_mutex_lock(&all.lock);
    b->next = all.kept;
    all.kept = b;
    pthread_mutex_unlock(&all.lock);
}

uint64_t eddy__call_blocks_bytes(const atomic_uint *requests)
{
    uint64_t bytes = 0;
    pthread_mutex_lock(&all.lock);
    for (const eddy_call_block *b = all.kept; b; b = b->next)
        if (b->requests == requests) bytes += b->bytes;
    pthread_mutex_unlock(&all.lock);
    return bytes;
}

/* Gives the pages of a block that the C library has mapped back to the system, which takes some
 * 5 ms for 80 MB, piece by piece; false if the run must end. */
static bool give_pages(const eddy_stop *stop, const eddy_allocator *a, void *base, uint64_t bytes)
{
    enum { MAPPED = 32 << 20, PIECE = 4 << 20, HUGE_PAGE = 2 << 20 };
    if (eddy__stopped(stop)) return false;
#ifdef MADV_DONTNEED
    if (!stop || bytes < MAPPED || eddy__unlimited(a).allocate != eddy__libc.allocate) return true;
    char *at = (char *)base + (HUGE_PAGE - (uintptr_t)base % HUGE_PAGE) % HUGE_PAGE;
    for (const char *end = (char *)base + bytes; end - at >= PIECE; at += PIECE) {
        if (madvise(at, PIECE, MADV_DONTNEED) != 0) return true;
        if (eddy__stopped(stop)) return false;
    }
#else
    (void)a, (void)base, (void)bytes;
#endif
    return true;
}

void eddy__release_late(const eddy_stop *stop, const eddy_allocator *a, void *base, uint64_t bytes)
{
    if (!base || bytes < LARGE || give_pages(stop, a, base, bytes)) {
        eddy__release_aligned(a, base, bytes);
        return;
    }
    void *at = (char *)base + (64 - (uintptr_t)base % 64) % 64;
    eddy__permit(at, sizeof(eddy_call_block));
    *(eddy_call_block *)at = (eddy_call_block){ NULL, stop->requests, eddy__unlimited(a), base,
                                                    bytes, true };
    atomic_fetch_add(&all.late, 1);
    eddy__call_block_give(at);
}

void eddy__late_blocks_free(const atomic_uint *requests)
{
    if (atomic_load_explicit(&all.late, memory_order_relaxed) == 0) return;
    for (eddy_call_block *b; (b = take_kept(requests, 0, true));) {
        atomic_fetch_sub(&all.late, 1);
        free_block(b);
    }
}

void eddy__call_blocks_free(const atomic_uint *requests)
{
    for (eddy_call_block *b; (b = take_kept(requests, 0, false));) free_block(b);
    eddy__late_blocks_free(requests);
}

void eddy__copy_or_stop(const eddy_stop *stop, void *to, const void *from, size_t n)
{
    const size_t PART = 1 << 20;
    for (size_t i = 0; i < n && !eddy__stopped(stop); i += PART)
        memcpy((char *)to + i, (const char *)from + i, n - i < PART ? n - i : PART);
}

/* ------------------------------------------------------------------ a call -- */

/* A block that is left behind is released before the job counts as ended. */
static void *run(void *of)
{
    job *j = of;
    fesetenv(&j->environment);
    j->call(j->block);
    pthread_mutex_lock(&all.lock);
    if (j->left) {
        void *block = j->block;
        j->block = NULL;
        pthread_mutex_unlock(&all.lock);
        free_block(block);
        pthread_mutex_lock(&all.lock);
    }
    j->ended = true;
    pthread_cond_broadcast(&all.changed);
    pthread_mutex_unlock(&all.lock);
    return NULL;
}

/* The thread blocks all signals, which are meant for the program's own threads. */
static bool make_thread(job *j)
{
    pthread_attr_t attr;
    sigset_t       signals, old;
    if (pthread_attr_init(&attr) != 0) return false;
    sigfillset(&signals);
    pthread_sigmask(SIG_SETMASK, &signals, &old);
    const bool made = pthread_attr_setstacksize(&attr, STACK) == 0 &&
                      pthread_create(&j->thread, &attr, run, j) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return made;
}

/* Until something has changed or it is time to look at the stop; under the lock. */
static void pause_for_change(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += PAUSE;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&all.changed, &all.lock, &t);
}

/* False if the run must end first. */
static bool wait_for_room(const eddy_stop *stop)
{
    join_ended(NULL);
    pthread_mutex_lock(&all.lock);
    for (int n; (n = count_left(NULL)) > 0 && n >= eddy__cores() && !eddy__stopped(stop);)
        pause_for_change();
    pthread_mutex_unlock(&all.lock);
    return !eddy__stopped(stop);
}

static bool wait_for(job *j, const eddy_stop *stop)
{
    pthread_mutex_lock(&all.lock);
    while (!j->ended && !eddy__stopped(stop)) pause_for_change();
    if (!j->ended) {
        j->left = true;
        j->next = all.left;
        all.left = j;
    }
    const bool ended = !j->left;
    pthread_mutex_unlock(&all.lock);
    return ended;
}

bool eddy__interruptible(const eddy_stop *stop, void (*call)(void *block), void *block)
{
    pthread_once(&once, begin);
    const bool stoppable = stop && stop->requests && all.usable;
    if (stoppable && !wait_for_room(stop)) {
        eddy__call_block_give(block);
        return false;
    }
    job *j = stoppable ? eddy__allocate(&eddy__libc, sizeof *j) : NULL;
    if (j) {
        *j = (job){ .call = call, .block = block, .requests = stop->requests };
        fegetenv(&j->environment);
    }
    if (!j || !make_thread(j)) {
        eddy__release(&eddy__libc, j, sizeof *j);
        call(block);
        return true;
    }
    if (!wait_for(j, stop)) return false;
    pthread_join(j->thread, NULL);
    eddy__release(&eddy__libc, j, sizeof *j);
    return true;
}
