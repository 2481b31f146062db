/* simulated_threads.c -- the thread of each rank that exchanges messages while the rank computes,
 * under SimGrid's SMPI, where every rank is a context of one thread of the system.
 *
 * With EDDY_THREADS=1, twice as many ranks start: of 2 n, rank n + r is the thread of rank r, on
 * the same node, and runs the function that rank r gives to pthread_create. The threads exchange
 * messages in a communicator of their own. What waits for another thread of its rank looks again
 * after LOOK seconds, about as late as the system wakes a thread. */
#include "bench/scale/simulated_ranks.h"

#include <pthread.h>
#include <simgrid/actor.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1024 };

static const double LOOK = 1e-5;

typedef struct simulated_thread {
    void *(*run)(void *at);
    void   *at;
    bool    must_end, ended;
} simulated_thread;

static simulated_thread threads[MOST];

/* Ends the context of a thread. */
__attribute__((noreturn)) static void leave(simulated_thread *t)
{
    t->ended = true;
    MPI_Finalize();
    sg_actor_exit();
}

void simulated_threads_begin(rank_state *r)
{
    int all = 0, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int n = all / 2;
    if (all % 2 != 0 || n > MOST) {
        fprintf(stderr, "each of at most %d ranks needs a thread\n", MOST);
        exit(1);
    }
    r->is_thread = rank >= n;
    r->thread = &threads[rank % n];
    MPI_Comm_split(MPI_COMM_WORLD, r->is_thread, rank, &r->comm);
    if (!r->is_thread) return;
    simulated_thread *t = r->thread;
    while (!t->run && !t->must_end) sg_actor_sleep_for(LOOK);
    if (t->run) t->run(t->at);
    leave(t);
}

void simulated_threads_end(const rank_state *r)
{
    if (r->thread) r->thread->must_end = true;
}

typedef void *thread_run(void *at);
int __real_pthread_create(pthread_t *id, const pthread_attr_t *attr, thread_run *run, void *at);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, thread_run *run, void *at);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, thread_run *run, void *at)
{
    simulated_thread *t = simulated_rank()->thread;
    if (!t) return __real_pthread_create(id, attr, run, at);
    t->at = at;
    t->run = run;
    return 0;
}

int __real_pthread_join(pthread_t id, void **result);
int __wrap_pthread_join(pthread_t id, void **result);
int __wrap_pthread_join(pthread_t id, void **result)
{
    const simulated_thread *t = simulated_rank()->thread;
    if (!t) return __real_pthread_join(id, result);
    while (!t->ended) sg_actor_sleep_for(LOOK);
    return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    while (pthread_mutex_trylock(m) != 0) sg_actor_sleep_for(LOOK);
    return 0;
}

int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    const rank_state *r = simulated_rank();
    (void)c;
    pthread_mutex_unlock(m);
    if (r->is_thread && r->thread->must_end) leave(r->thread);
    sg_actor_sleep_for(LOOK);
    return __wrap_pthread_mutex_lock(m);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                  const struct timespec *until)
{
    (void)until;
    return __wrap_pthread_cond_wait(c, m);
}

/* The communicator of the program has the ranks alone. */
int __real_MPI_Comm_dup(MPI_Comm c, MPI_Comm *copy);
int __wrap_MPI_Comm_dup(MPI_Comm c, MPI_Comm *copy);
int __wrap_MPI_Comm_dup(MPI_Comm c, MPI_Comm *copy)
{
    const rank_state *r = simulated_rank();
    return __real_MPI_Comm_dup(r->thread ? r->comm : c, copy);
}

/* Notices go to ranks. */
int __real_MPI_Iprobe(int from, int tag, MPI_Comm c, int *any, MPI_Status *status);
int __wrap_MPI_Iprobe(int from, int tag, MPI_Comm c, int *any, MPI_Status *status);
int __wrap_MPI_Iprobe(int from, int tag, MPI_Comm c, int *any, MPI_Status *status)
{
    *any = 0;
    return simulated_rank()->is_thread ? MPI_SUCCESS : __real_MPI_Iprobe(from, tag, c, any, status);
}
