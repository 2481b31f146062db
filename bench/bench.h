/* bench.h -- code shared by the benchmarks: a clock, medians, numbers that other programs can
 * reproduce, a table of results. */
#ifndef EDDY_BENCH_H
#define EDDY_BENCH_H

#include <eddy/eddy.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Wall-clock seconds from some fixed point. */
static inline double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Ends the program with a message if something failed. */
static inline void bench_need(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* --------------------------------------------------- repeatable numbers -- */

/* Word i of stream `seed`: SplitMix64 of a counter. */
static inline uint64_t bench_word(uint64_t seed, uint64_t i)
{
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u + seed * 0xD1342543DE82EF95u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* n floats, uniform in [low, high). */
static inline void bench_uniform(float *out, int64_t n, uint64_t seed, double low, double high)
{
    for (int64_t i = 0; i < n; i++) {
        double u = (double)(bench_word(seed, (uint64_t)i) >> 40) / 16777216.0;
        out[i] = (float)(low + (high - low) * u);
    }
}

/* -------------------------------------------------------------- figures -- */

enum { BENCH_SAMPLES = 1000, BENCH_FIGURES = 64 };

typedef struct bench_samples {
    int    n;
    double at[BENCH_SAMPLES];
} bench_samples;

static inline void bench_add(bench_samples *s, double value)
{
    if (s->n < BENCH_SAMPLES) s->at[s->n++] = value;
}

typedef struct bench_figure {
    const char *name, *unit;
    double      median, least;
    int         n;
} bench_figure;

typedef struct bench_table {
    const char  *program;
    int          n;
    bench_figure at[BENCH_FIGURES];
} bench_table;

static inline int bench_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Adds the median and the minimum of the samples; name and unit must outlive the table. */
static inline void bench_enter(bench_table *t, const char *name, bench_samples *s, const char *unit)
{
    if (s->n == 0) return;
    bench_need(t->n < BENCH_FIGURES, "too many figures");
    qsort(s->at, (size_t)s->n, sizeof s->at[0], bench_ascending);
    t->at[t->n++] = (bench_figure){ name, unit, s->at[s->n / 2], s->at[0], s->n };
}

/* Prints the table, then one JSON object per line for programs. */
static inline void bench_print(const bench_table *t)
{
    printf("%-44s %12s %12s  %s\n", t->program, "median", "least", "unit");
    for (int i = 0; i < t->n; i++)
        printf("  %-42s %12.4g %12.4g  %s\n", t->at[i].name, t->at[i].median, t->at[i].least,
               t->at[i].unit);
    for (int i = 0; i < t->n; i++)
        printf("{\"bench\":\"%s\",\"figure\":\"%s\",\"median\":%.6g,\"least\":%.6g,"
               "\"unit\":\"%s\",\"samples\":%d}\n", t->program, t->at[i].name, t->at[i].median,
               t->at[i].least, t->at[i].unit, t->at[i].n);
}

#endif
