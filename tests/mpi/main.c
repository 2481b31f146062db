/* main.c -- the programs that ranks run together, with processes as ranks:
 *
 *   mpirun -n 4 build/mpi/ranks            all programs
 *   mpirun -n 4 build/mpi/ranks NAME       one of them
 *   mpirun -n 6 build/mpi/ranks levels     all programs, with exchanges in two levels
 *   mpirun -n 2 build/mpi/ranks long [NAME]    as if MPI could not count to 1000
 *   EDDY_SHARED_MEMORY=no mpirun -n 2 build/mpi/ranks huge     a message of more than 2^31 bytes;
 *                                          about 7 GB
 *   mpirun -n 4 build/mpi/ranks killed     rank 1 kills itself; the others must end
 *   mpirun -n 4 build/mpi/ranks disagrees  the ranks differ in a shape
 *   mpirun -n 6 build/mpi/ranks circle     exchanges in two levels; rank 0 waits for rank 5 alone
 *   mpirun -n 4 build/mpi/ranks leaves     rank 1 leaves early
 *   mpirun -n 4 build/mpi/ranks stopped    rank 1 gives up sending, and frees its memory
 *   mpirun -n 4 build/mpi/ranks windowless rank 1 gets no shared memory, and all do without
 *   mpirun -n 4 build/mpi/ranks lockless   the memory of rank 1 has an error, and all do without
 *   mpirun -n 4 build/mpi/ranks memoryless rank 1 has no memory to join, and no rank does
 *   mpirun -n 4 build/mpi/ranks endless    the ranks print their processes and train until one ends
 *
 * Prints a line for each program, or why one has failed; then it fails. */
#include "distributed/internal.h"
#include "distributed/mpi/mpi_ranks.h"
#include "distributed/mpi/shared_memory.h"
#include "tests/lib/ranks/ranks.h"

#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool run_all(eddy_communicator *c, const char *only)
{
    bool ok = true;
    for (const rank_scenario *s = rank_scenarios; s->name; s++) {
        if (only && strcmp(only, s->name) != 0) continue;
        const bool good = s->run(c);
        if (eddy_communicator_rank(c) == 0 || !good)
            printf("  %-16s %s\n", s->name, good ? "ok" : "FAILED");
        ok = ok && good;
    }
    return ok;
}

/* Reduces arrays of `count` elements; if that fails, prints why. In the killed one, rank 1 does not
 * reach the end. */
static bool reduce_often(eddy_communicator *c, int64_t count, int turns)
{
    eddy_error  e = { 0 };
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(count));
    while (turns-- && eddy_array_all_reduce(c, EDDY_REDUCE_SUM, a, &e))
        if (turns == 50 && eddy_communicator_rank(c) == 1) {
            printf("killed at %lld\n", (long long)time(NULL));
            fflush(stdout);
            raise(SIGKILL);
        }
    if (e.status != EDDY_OK) printf("rank %d: %s\n", eddy_communicator_rank(c), e.message);
    fflush(stdout);
    eddy_array_free(a);
    return e.status == EDDY_OK;
}

/* Rank 0 waits for a message of the last rank, and all others for a collective of all. */
static bool wait_in_circle(eddy_communicator *c)
{
    const int         me = eddy_communicator_rank(c), last = eddy_communicator_size(c) - 1;
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor x = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(3));
    const eddy_tensor y = me == 0 ? eddy_send_receive(c, x, .to = last, .from = last)
                                  : eddy_all_reduce(c, x);
    eddy_session     *s = eddy_session_new(g);
    const bool        ok = eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), NULL) == EDDY_OK;
    if (!ok) printf("rank %d: %s\n", me, eddy_session_message(s));
    fflush(stdout);
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

/* The last bytes of rank 0 arrive. */
static bool broadcast_huge(eddy_communicator *c)
{
    const int64_t n = ((int64_t)1 << 31) + 5;
    eddy_error    e = { 0 };
    eddy_array   *a = eddy_array_new(EDDY_UINT8, EDDY_SHAPE(n));
    unsigned char *data = a ? eddy_array_data(a) : NULL;
    bool           ok = data != NULL;
    if (ok && eddy_communicator_rank(c) == 0) data[n - 1] = data[1 << 30] = 7;
    ok = ok && eddy_array_broadcast(c, 0, a, &e) && data[n - 1] == 7 && data[1 << 30] == 7;
    if (!ok || eddy_communicator_rank(c) == 0)
        printf("  huge           %s\n", ok ? "ok" : *e.message ? e.message : "wrong bytes");
    eddy_array_free(a);
    return ok;
}

/* Rank 1 sends 8 MB to rank 0, which begins to receive them when rank 1 has given up and has freed
 * its memory. Both runs fail, and all ranks end well. */
static bool stop_sending(eddy_communicator *c)
{
    const int         me = eddy_communicator_rank(c);
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor x = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2000000));
    const eddy_tensor y = me == 1 ? eddy_send_receive(c, x, .to = 0)
                                  : eddy_send_receive(c, x, .from = me == 0 ? 1 : -1);
    eddy_session     *s = eddy_session_new(g, .timeout = me == 1 ? 1 : 0);
    if (me == 0) nanosleep(&(struct timespec){ .tv_sec = 3 }, NULL);
    const bool ok =
        eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), NULL) == EDDY_TIMED_OUT || me > 1;
    if (!ok) printf("rank %d: %s\n", me, eddy_session_message(s));
    else if (me == 1) puts("  stopped      ok");
    fflush(stdout);
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

/* Until another process kills a rank. */
static bool train_endlessly(eddy_communicator *c)
{
    eddy_graph     *g = eddy_graph_new();
    eddy_tensor     x = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(50000));
    eddy_tensor     v = eddy_variable(g, x, .name = "v");
    eddy_optimizer *o = eddy_distributed(eddy_adam(g), c, .overlap = true);
    eddy_tensor     step = eddy_minimize(o, eddy_sum(eddy_square(v)));
    eddy_session   *s = eddy_session_new(g, .threads = 1);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    printf("rank %d is process %d\n", eddy_communicator_rank(c), (int)getpid());
    fflush(stdout);
    while (eddy_run_ranks(c, s, EDDY_FEED(), EDDY_FETCH(step), NULL) == EDDY_OK) continue;
    printf("rank %d: %s\n", eddy_communicator_rank(c), eddy_session_message(s));
    eddy_session_free(s);
    eddy_graph_free(g);
    return false;
}

/* -------------------------------------------------- what fails on rank 1 alone -- */

static const char *fails_in_join = "";

static bool fails_here(const char *what)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank) rank = getenv("PMI_RANK");               /* MPICH */
    return strcmp(fails_in_join, what) == 0 && rank && strcmp(rank, "1") == 0;
}

/* The other ranks get theirs. */
int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm c, void *base,
                            MPI_Win *win)
{
    const int code = PMPI_Win_allocate_shared(size, unit, info, c, base, win);
    return fails_here("windowless") ? MPI_ERR_NO_MEM : code;
}

/* With the error that MPI would report, which ends the process unless errors are returned. */
int MPI_Win_lock_all(int assertions, MPI_Win win)
{
    if (!fails_here("lockless")) return PMPI_Win_lock_all(assertions, win);
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
    return fails_here("memoryless") ? NULL : __real_calloc(n, size);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : NULL;
    bool        ok;
    eddy_error  e = { 0 };
    if (what && (strcmp(what, "levels") == 0 || strcmp(what, "circle") == 0))
        eddy__level_limits = (struct eddy_level_limits){ .direct = 1, .radix = 2 };
    if (what && strcmp(what, "levels") == 0) what = NULL;
    if (what && strcmp(what, "long") == 0) {
        eddy__mpi_most_bytes = 1000;
        what = argc > 2 ? argv[2] : NULL;
    }
    if (what) fails_in_join = what;
    eddy_communicator *c = eddy_mpi_join(&e);
    fails_in_join = "";
    if (!c) {
        int ended = 0;
        MPI_Finalized(&ended);
        return fprintf(stderr, "%s%s\n", e.message, ended ? "; MPI has ended" : ""), 1;
    }
    const int me = eddy_communicator_rank(c);
    if (what && strcmp(what, "killed") == 0) ok = reduce_often(c, 100000, 100);
    else if (what && strcmp(what, "disagrees") == 0) ok = reduce_often(c, 3 + (me == 1), 2);
    else if (what && strcmp(what, "leaves") == 0) ok = me == 1 || reduce_often(c, 3, 2);
    else if (what && strcmp(what, "circle") == 0) ok = wait_in_circle(c);
    else if (what && strcmp(what, "huge") == 0) ok = broadcast_huge(c);
    else if (what && strcmp(what, "stopped") == 0) ok = stop_sending(c);
    else if (what && (strcmp(what, "windowless") == 0 || strcmp(what, "lockless") == 0))
        ok = reduce_often(c, 100000, 20);
    else if (what && strcmp(what, "endless") == 0) ok = train_endlessly(c);
    else ok = run_all(c, what);
    eddy_communicator_free(c);
    return !ok;
}
