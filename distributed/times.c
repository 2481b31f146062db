/* times.c -- where the time of each rank goes. */
#include "distributed/internal.h"

#include <time.h>

double eddy__seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void eddy__world_add_times(eddy_world *w, double exchanging, double waiting)
{
    pthread_mutex_lock(&w->error_lock);
    w->exchanging += exchanging;
    w->waiting += waiting;
    pthread_mutex_unlock(&w->error_lock);
}

enum { TIMES = 3 };                  /* elapsed, exchanging, waiting */

/* Those of this rank since the last report, in its row of a table of all ranks. */
static void take_times(eddy_communicator *c, double *row)
{
    eddy_world  *w = c->world;
    const double now = eddy__seconds();
    pthread_mutex_lock(&w->error_lock);
    row[0] = now - w->begun;
    row[1] = w->exchanging;
    row[2] = w->waiting;
    w->begun = now;
    w->exchanging = w->waiting = 0;
    pthread_mutex_unlock(&w->error_lock);
}

/* The rank that waits less than half as long as the mean of the others; -1 if there is none. */
static int slow_rank(int n, const double (*times)[TIMES])
{
    double sum = 0;
    int    least = 0;
    for (int r = 0; r < n; r++) {
        sum += times[r][2];
        if (times[r][2] < times[least][2]) least = r;
    }
    return n > 1 && times[least][2] < (sum - times[least][2]) / (n - 1) / 2 ? least : -1;
}

static void print_times(int n, const double (*times)[TIMES], FILE *to)
{
    const int slow = slow_rank(n, times);
    fprintf(to, "rank   seconds  computing  waiting  overlapped\n");
    for (int r = 0; r < n; r++) {
        const double all = times[r][0] > 0 ? times[r][0] : 1, waiting = times[r][2];
        const double hidden = times[r][1] > waiting ? times[r][1] - waiting : 0;
        fprintf(to, "%4d %9.2f %9.1f%% %7.1f%% %10.1f%%\n", r, times[r][0],
                100 * (all - waiting) / all, 100 * waiting / all, 100 * hidden / all);
    }
    if (slow >= 0) fprintf(to, "rank %d waits least: the others wait for it\n", slow);
}

bool eddy_report_ranks(eddy_communicator *c, FILE *to, eddy_error *error)
{
    if (!c)
        return eddy__distributed_fail(error, EDDY_INVALID_ARGUMENT,
                                      "report_ranks: there is no communicator");
    eddy_array *all = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(c->n, TIMES));
    if (!all) {
        eddy_communicator_fail(c, "report_ranks: out of memory");
        return eddy__distributed_fail(error, EDDY_NO_MEMORY, "report_ranks: out of memory");
    }
    double(*times)[TIMES] = eddy_array_data(all);
    take_times(c, times[c->me]);
    const bool ok = eddy_array_all_reduce(c, EDDY_REDUCE_SUM, all, error);
    if (ok && c->me == 0)
        print_times(c->n, (const double(*)[TIMES])eddy_array_data(all), to ? to : stdout);
    eddy_array_free(all);
    return ok;
}
