/* thread_regions.c -- cost and benefit of the library's threads: regions of eddy_parallel of
 * several lengths, with all cores and with one.
 *
 * --hog: with another process that keeps the last core busy. */
#include "bench/bench.h"

#include <eddy/graph/op.h>

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLICES = 40 };

/* Microseconds of a slice: with a hog several of the scheduler's. */
static double slice_us = 2000;

/* All available threads. */
static int cores;

/* 20 microseconds an item, however fast the machine is. */
static const double item = 20e-6;
static void pass_time(void *arg, int64_t from, int64_t to, int worker)
{
    (void)arg, (void)worker;
    for (double end = bench_now() + item * (double)(to - from); bench_now() < end;);
}

/* About 0.25 microseconds an item. */
static void compute(void *arg, int64_t from, int64_t to, int worker)
{
    volatile float *sink = (volatile float *)arg + 16 * worker;
    for (int64_t i = from; i < to; i++) {
        float x = (float)i;
        for (int j = 0; j < 100; j++) x = x * 0.999f + 0.5f;
        *sink = x;
    }
}

/* Nanoseconds of one region of n items, averaged over a slice; the pause before each is not
 * counted. */
static double slice(const eddy_kernel *k, int64_t n, int64_t grain, double each_us, double pause_us)
{
    float  sink[16 * 256];
    int    regions = (int)(slice_us / (each_us + pause_us)) + 1;
    double in = 0;
    for (int r = 0; r < regions; r++) {
        double start = bench_now();
        if (pause_us > 0)
            for (double until = start + 1e-6 * pause_us; start < until; start = bench_now());
        eddy_parallel(k, n, grain, compute, sink);
        in += bench_now() - start;
    }
    return 1e9 * in / regions;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The ratio of one thread's time to that of all, slice by slice: median and mean. */
static void compare(int64_t n, int64_t grain, double pause_us)
{
    const eddy_kernel one = { .threads = 1 }, all = { .threads = cores };
    double ratio[SLICES], sum_one = 0, sum_all = 0, each = slice(&one, n, grain, 100, 0) / 1e3;
    slice(&all, n, grain, each, pause_us);
    for (int i = 0; i < SLICES; i++) {
        double a = slice(&one, n, grain, each, pause_us), b = slice(&all, n, grain, each, pause_us);
        ratio[i] = a / b;
        sum_one += a;
        sum_all += b;
    }
    qsort(ratio, SLICES, sizeof *ratio, by_size);
    printf("%8.1f us, grain %5lld of %6lld, pause %5.0f us: %5.2f median, %5.2f lowest tenth, "
           "%5.2f of all\n", each, (long long)grain, (long long)n, pause_us, ratio[SLICES / 2],
           ratio[SLICES / 10], sum_one / sum_all);
}

/* The overhead of a region with one item per thread. */
static void fork_join(void)
{
    enum { MANY = 2000 };
    static double over[MANY];
    const eddy_kernel all = { .threads = cores };
    for (int j = 0; j < MANY; j++) {
        double start = bench_now();
        eddy_parallel(&all, cores, 1, pass_time, NULL);
        over[j] = bench_now() - start - item;
    }
    qsort(over, MANY, sizeof *over, by_size);
    printf("fork and join of %d threads that spin: %.0f ns, lowest tenth %.0f ns\n", cores,
           1e9 * over[MANY / 2], 1e9 * over[MANY / 10]);
}

/* A process that is always busy, on the last core. */
static pid_t hog(void)
{
    pid_t child = fork();
    if (child != 0) return child;
    char command[64];
    snprintf(command, sizeof command, "taskset -cp %d %d > /dev/null", cores - 1, (int)getpid());
    if (system(command) != 0) _exit(1);
    for (volatile int i = 0;; i = i + 1);
}

int main(int argc, char **argv)
{
    static const double pauses[] = { 0, 30, 200 };
    static const int64_t lengths[] = { 4, 20, 80, 160, 400, 1600, 8000, 40000 };
    const bool hogged = argc > 1 && strcmp(argv[1], "--hog") == 0;
    cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    pid_t other = hogged ? hog() : 0;
    if (hogged) slice_us = 50000;
    fork_join();
    for (size_t p = 0; p < sizeof pauses / sizeof *pauses; p++)
        for (size_t i = hogged ? 4 : 0; i < sizeof lengths / sizeof *lengths; i++) {
            compare(lengths[i], 80, pauses[p]);
            if (lengths[i] <= 160) compare(lengths[i], 1, pauses[p]);
        }
    if (other > 0) {
        kill(other, SIGKILL);
        waitpid(other, NULL, 0);
    }
    return 0;
}
