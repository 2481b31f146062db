/* thread_pool.c -- the thread pool shared by the kernels of all sessions, with work stealing.
 *
 * A caller of eddy_parallel divides its items into one part per thread, offers the job to idle
 * workers, and immediately starts on its own part. A thread that has finished its part steals
 * pieces of other parts, so that the caller never waits longer than one piece takes for a thread
 * that started late or lost its core. An offer that no worker has accepted by then is withdrawn:
 * workers that are busy for another caller, asleep, or without a core cost the caller nothing
 * except their help.
 *
 * Worker i always serves part i + 1, so that the next kernel reuses the data in its cache. A
 * worker without a job spins for a while, which makes the next offer cheap, and then sleeps.
 *
 * Help can cost more than it saves: waking a worker takes microseconds, and a worker that loses
 * its core in the middle of a piece delays the caller. So each thread records how much time help
 * has saved it (see `balance`). */
#define _GNU_SOURCE
#include "graph/base/thread_pool.h"
#include "graph/base/stop.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECES = 4,               /* of a part, if the grain allows it */
    SPINS = 64,               /* of an idle thread between two reads of the clock */
    PAY = 50                  /* minimum ratio of the time without help to the cost of help */
};

/* Ticks in a microsecond, roughly. */
#if defined(__x86_64__)
enum { MICROSECOND = 2500 };
static inline int64_t ticks(void) { return (int64_t)__builtin_ia32_rdtsc(); }
#else
enum { MICROSECOND = 1000 };
static inline int64_t ticks(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
#endif

/* How long an idle thread spins before it sleeps; limits of `balance`. */
enum { SPIN = 40 * MICROSECOND, MAX_SAVED = 1000 * MICROSECOND, MAX_LOST = 1000 * MICROSECOND };

/* States of a worker other than the address of a job that it is offered. */
enum { SPINNING, ASLEEP, BUSY, STOPPED };

typedef struct part {
    _Alignas(64) atomic_llong next;       /* the first item that no thread has taken */
    int64_t end;
} part;

typedef struct job {
    eddy_parallel_fn body;
    void       *arg;
    int64_t     piece;
    int         n_parts;
    part       *parts;
    _Alignas(64) atomic_uint done;        /* workers that have left it; WAITING: tell the caller */
} job;

enum { WAITING = 1 << 30 };

typedef struct worker {
    _Alignas(64) atomic_uintptr_t state;
    pthread_t       thread;
    pthread_mutex_t lock;
    pthread_cond_t  woken;
} worker;

static struct {
    pthread_mutex_t lock;                 /* protects the members below */
    pthread_cond_t  left;              /* signals that a worker has left a job whose caller waits */
    bool            watches_forks;
    atomic_int      n, most;              /* existing workers; maximum number of workers */
    worker          workers[EDDY_MOST_THREADS - 1];
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER,
           .left = PTHREAD_COND_INITIALIZER,
           .most = EDDY_MOST_THREADS - 1 };

/* This thread. `balance` is the time, in ticks, that help has recently saved minus the time
 * that it has cost. While it is negative, jobs run without help and add one PAYth of their time
 * to it. In the long run, help therefore never costs more than that, whatever a grain is really
 * worth and whatever other programs run. */
static _Thread_local struct here {
    bool    inside;                       /* a body runs */
    int     index;                        /* of the worker; 0 for other threads */
    int64_t balance;
} here = { .balance = MAX_LOST };

int eddy__cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) n = CPU_COUNT(&set);
#endif
    return n < 1 ? 1 : n > EDDY_MOST_THREADS ? EDDY_MOST_THREADS : (int)n;
}

/* Lets the other hardware thread of the core proceed. */
static inline void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ------------------------------------------------------------ the worker -- */

static bool change_state(worker *w, uintptr_t from, uintptr_t to)
{
    return atomic_compare_exchange_strong_explicit(&w->state, &from, to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

/* Runs pieces of the job, beginning with part `index`, until none is left. Returns the number
 * of items that it ran. */
static int64_t run_pieces(job *j, int index)
{
    int64_t items = 0;
    for (int k = 0, at = index; k < j->n_parts; k++, at = at + 1 < j->n_parts ? at + 1 : 0) {
        part *p = &j->parts[at];
        while (atomic_load_explicit(&p->next, memory_order_relaxed) < p->end) {
            int64_t from = atomic_fetch_add_explicit(&p->next, j->piece, memory_order_relaxed);
            int64_t to = p->end - from < j->piece ? p->end : from + j->piece;
            if (from >= to) break;
            j->body(j->arg, from, to, index);
            items += to - from;
        }
    }
    return items;
}

/* Sleeps until another thread wakes the worker. */
static void sleep_until_woken(worker *w)
{
    pthread_mutex_lock(&w->lock);
    while (atomic_load(&w->state) == ASLEEP) pthread_cond_wait(&w->woken, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

/* After the state of a sleeping worker was changed. */
static void wake(worker *w)
{
    pthread_mutex_lock(&w->lock);
    pthread_mutex_unlock(&w->lock);
    pthread_cond_signal(&w->woken);
}

/* The next job that the worker is offered and takes; NULL: it is to stop. */
static job *next_job(worker *w)
{
    for (;;) {
        for (const int64_t end = ticks() + SPIN; ticks() < end; sched_yield())
            for (int i = 0; i < SPINS; i++, pause_cpu()) {
                uintptr_t s = atomic_load_explicit(&w->state, memory_order_relaxed);
                if (s == STOPPED) return NULL;
                if (s > STOPPED && change_state(w, s, BUSY)) return (job *)s;
            }
        if (change_state(w, SPINNING, ASLEEP)) sleep_until_woken(w);
    }
}

/* When `done` is set, the caller may already have returned: the job must not be accessed
 * afterwards. */
static void *work(void *arg)
{
    worker *w = arg;
    here.inside = true;
    here.index = (int)(w - pool.workers) + 1;
    for (job *j = next_job(w); j; j = next_job(w)) {
        run_pieces(j, here.index);
        atomic_store_explicit(&w->state, SPINNING, memory_order_release);
        if (!(atomic_fetch_add_explicit(&j->done, 1, memory_order_acq_rel) & WAITING)) continue;
        pthread_mutex_lock(&pool.lock);
        pthread_cond_broadcast(&pool.left);
        pthread_mutex_unlock(&pool.lock);
    }
    return NULL;
}

/* ---------------------------------------------- start and end of workers -- */

static void before_fork(void) { pthread_mutex_lock(&pool.lock); }
static void after_fork(void)  { pthread_mutex_unlock(&pool.lock); }

/* A child has no workers; it makes its own. */
static void in_child(void)
{
    atomic_store(&pool.n, 0);
    pool.left = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pthread_mutex_unlock(&pool.lock);
}

static bool make_worker(worker *w)
{
    if (pthread_mutex_init(&w->lock, NULL) != 0) return false;
    if (pthread_cond_init(&w->woken, NULL) == 0) {
        atomic_init(&w->state, SPINNING);
        if (pthread_create(&w->thread, NULL, work, w) == 0) return true;
        pthread_cond_destroy(&w->woken);
    }
    pthread_mutex_destroy(&w->lock);
    return false;
}

/* Creates workers until there are `wanted`. Returns how many exist. Workers block all signals,
 * which are meant for the program's own threads. */
static int grow(int wanted)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_mutex_lock(&pool.lock);
    if (!pool.watches_forks)
        pool.watches_forks = pthread_atfork(before_fork, after_fork, in_child) == 0;
    if (!pool.watches_forks) atomic_store(&pool.most, 0);
    for (int n = atomic_load(&pool.n); n < wanted && n < atomic_load(&pool.most); n++)
        if (make_worker(&pool.workers[n])) atomic_store(&pool.n, n + 1);
        else atomic_store(&pool.most, n);
    pthread_mutex_unlock(&pool.lock);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return atomic_load(&pool.n);
}

int eddy__workers(void) { return atomic_load(&pool.n); }

/* Called at exit and when the library is unloaded. A worker whose own body calls exit is not
 * joined. */
__attribute__((destructor)) static void stop_workers(void)
{
    pthread_mutex_lock(&pool.lock);
    const int n = atomic_load(&pool.n);
    atomic_store(&pool.most, 0);
    atomic_store(&pool.n, 0);
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < n; i++) {
        worker *w = &pool.workers[i];
        if (here.index == i + 1) continue;
        bool asleep;
        while (!(asleep = change_state(w, ASLEEP, STOPPED)) && !change_state(w, SPINNING, STOPPED))
            sched_yield();
        if (asleep) wake(w);
        pthread_join(w->thread, NULL);
        pthread_cond_destroy(&w->woken);
        pthread_mutex_destroy(&w->lock);
    }
}

/* ------------------------------------------------------------ the caller -- */

/* Offers the job to spinning workers. Returns how many took it up to now, and how many workers
 * sleep. */
static int offer(job *j, int *asleep)
{
    int offered = 0;
    *asleep = 0;
    for (worker *w = pool.workers; w < pool.workers + j->n_parts - 1; w++) {
        uintptr_t s = atomic_load_explicit(&w->state, memory_order_relaxed);
        offered += s == SPINNING && change_state(w, SPINNING, (uintptr_t)j);
        *asleep += s == ASLEEP;
    }
    return offered;
}

/* Wakes sleeping workers for the job. Returns their number. */
static int wake_workers(job *j)
{
    int roused = 0;
    for (worker *w = pool.workers; w < pool.workers + j->n_parts - 1; w++) {
        if (!change_state(w, ASLEEP, (uintptr_t)j)) continue;
        wake(w);
        roused++;
    }
    return roused;
}

/* Withdraws the offers that no worker has accepted. Returns their number. */
static int withdraw_offers(job *j)
{
    int n = 0;
    for (worker *w = pool.workers; w < pool.workers + j->n_parts - 1; w++)
        n += atomic_load_explicit(&w->state, memory_order_relaxed) == (uintptr_t)j &&
             change_state(w, (uintptr_t)j, SPINNING);
    return n;
}

/* Until `taken` workers have left the job. */
static void wait_for(job *j, unsigned taken)
{
    for (const int64_t end = ticks() + SPIN; ticks() < end; sched_yield())
        for (int i = 0; i < SPINS; i++, pause_cpu())
            if (atomic_load_explicit(&j->done, memory_order_acquire) == taken) return;
    pthread_mutex_lock(&pool.lock);
    for (unsigned done = atomic_fetch_or(&j->done, WAITING); (done & ~(unsigned)WAITING) < taken;
         done = atomic_load(&j->done))
        pthread_cond_wait(&pool.left, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

static void record_saving(struct here *at, double saved)
{
    const double balance = (double)at->balance + saved;
    at->balance = balance > MAX_SAVED ? MAX_SAVED : balance < -MAX_LOST ? -MAX_LOST
                                                                           : (int64_t)balance;
}

/* Runs the n items on this thread and its helpers. Estimates the time without help from the
 * time of the items that this thread ran. */
static void run_job(job *j, int64_t n, struct here *at)
{
    const int64_t start = ticks();
    int           asleep, offered = offer(j, &asleep);
    if (asleep > 0) offered += wake_workers(j);
    const int64_t ready = ticks(), items = run_pieces(j, 0);
    const double  alone = (double)(ticks() - ready) * (double)n / (double)items;
    int           taken = offered > 0 ? offered - withdraw_offers(j) : 0;
    if (taken > 0) wait_for(j, (unsigned)taken);
    if (items > 0) record_saving(at, alone - (double)(ticks() - start));
}

/* Cuts the items into parts of whole grains. */
static void split_items(int n_parts, int64_t n, int64_t grain, eddy_parallel_fn body, void *arg,
                        struct here *at)
{
    part          parts[EDDY_MOST_THREADS];
    const int64_t grains = (n - 1) / grain + 1, pieces = (int64_t)n_parts * PIECES;
    job           j = { .body = body,
                        .arg = arg,
                        .piece = grains > pieces ? grains / pieces * grain : grain,
                        .n_parts = n_parts,
                        .parts = parts };
    for (int i = 0; i < n_parts; i++) {
        atomic_init(&parts[i].next, grains * i / n_parts * grain);
        parts[i].end = i + 1 < n_parts ? grains * (i + 1) / n_parts * grain : n;
    }
    run_job(&j, n, at);
}

static void run_without_help(int64_t n, eddy_parallel_fn body, void *arg, struct here *at)
{
    const int64_t start = ticks();
    body(arg, 0, n, 0);
    record_saving(at, (double)(ticks() - start) / PAY);
}

/* The number of workers that n items can use, creating workers if possible. */
static int find_workers(const eddy_kernel *k, int64_t n, int64_t grain)
{
    const int64_t grains = (n - 1) / grain + 1;
    int           wanted = k->threads < EDDY_MOST_THREADS ? k->threads - 1 : EDDY_MOST_THREADS - 1;
    if (grains - 1 < wanted) wanted = (int)(grains - 1);
    int there = atomic_load_explicit(&pool.n, memory_order_acquire);
    if (there < wanted && there < atomic_load(&pool.most)) there = grow(wanted);
    return there < wanted ? there : wanted;
}

/* With `free`, help is used without regard to the balance and does not change it. */
static void parallel(const eddy_kernel *k, int64_t n, int64_t grain, eddy_parallel_fn body,
                     void *arg, bool free)
{
    struct here  *at = &here, kept = here;
    const bool    whole = at->inside || n <= grain;
    const int64_t least = grain > 0 ? grain : 1;
    const int     workers = whole ? 0 : find_workers(k, n, least);
    at->inside = true;
    if (workers == 0) body(arg, 0, n, at->index < k->threads ? at->index : 0);
    else if (at->balance < 0 && !free) run_without_help(n, body, arg, at);
    else split_items(workers + 1, n, least, body, arg, at);
    at->inside = kept.inside;
    if (free) at->balance = kept.balance;
}

void eddy_parallel(const eddy_kernel *k, int64_t n, int64_t grain, eddy_parallel_fn body, void *arg)
{
    if (!k || !body || n <= 0) return;
    if (k->threads <= 1) body(arg, 0, n, 0);
    else parallel(k, n, grain, body, arg, false);
}

void eddy__side_by_side(const eddy_kernel *k, int64_t n, eddy_parallel_fn body, void *arg)
{
    parallel(k, n, 1, body, arg, true);
}

/* ------------------------------------------------------------ until stopped -- */

/* Between two looks at the stop; the first comes after so many grains, since pieces have a cost. */
enum { LOOK = 500 * MICROSECOND, GRAINS = 8 };

typedef struct watched {
    eddy_parallel_fn  body;
    void             *arg;
    int64_t           grain, first;
    const eddy_stop  *stop;
} watched;

/* Some grains, then twice as many items as long as they take little time. A grain of one item may
 * take any time. */
static void run_watched(void *arg, int64_t from, int64_t to, int who)
{
    const watched *w = arg;
    for (int64_t n = w->first; from < to && !eddy__stopped(w->stop);) {
        const int64_t start = ticks(), end = to - from < n ? to : from + n;
        w->body(w->arg, from, end, who);
        from = end;
        const int64_t took = ticks() - start;
        if (took < LOOK) n *= 2;
        else if (took > 4 * LOOK && n > w->grain) n = n / 2 < w->grain ? w->grain : n / 2;
    }
}

void eddy__parallel_or_stop(const eddy_kernel *k, int64_t n, int64_t grain, eddy_parallel_fn body,
                            void *arg)
{
    const int64_t least = grain > 0 ? grain : 1;
    watched       w = { body, arg, least, least > 1 ? GRAINS * least : 1, k->stop };
    if (k->stop && n > w.first) eddy_parallel(k, n, grain, run_watched, &w);
    else if (!eddy__stopped(k->stop)) eddy_parallel(k, n, grain, body, arg);
}
