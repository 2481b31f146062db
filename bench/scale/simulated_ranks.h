/* simulated_ranks.h -- the ranks of a simulation: what its files share. */
#ifndef EDDY_BENCH_SIMULATED_RANKS_H
#define EDDY_BENCH_SIMULATED_RANKS_H

#include <smpi/smpi.h>
#include <stdbool.h>

struct timed_plan;
struct simulated_thread;

/* A rank is a context of its own on one thread of the system, so that switches are quick. */
typedef struct rank_state {
    struct timed_plan *plans, *now;
    double             owed;         /* seconds by which its clock is late */
    /* with threads: the one of this rank, or this one; and the communicator of its like */
    struct simulated_thread *thread;
    bool               is_thread;
    MPI_Comm           comm;
} rank_state;

rank_state *simulated_rank(void);

/* Each rank calls them first and last; of a thread, the first does not return. */
void simulated_threads_begin(rank_state *r);
void simulated_threads_end(const rank_state *r);

#endif
