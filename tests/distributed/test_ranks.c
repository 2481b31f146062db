/* test_ranks.c -- collectives, gradients and trainings with 1 to 8 ranks, as threads. */
#include "build/gen/suites.h"
#include "ops/short_names.h"
#include "tests/lib/ranks/ranks.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int  openblas_get_num_threads(void) __attribute__((weak));

static int count_of_scenarios(void)
{
    int n = 0;
    while (rank_scenarios[n].name) n++;
    return n;
}

static void run_with(int i, int ranks)
{
    eddy_error e = { 0 };
    ck_assert_msg(on_threads(ranks, rank_scenarios[i].run, &e), "%s with %d ranks: %s",
                  rank_scenarios[i].name, ranks, e.message);
}

START_TEST(few_ranks)
{
    for (int n = 1; n <= 4; n++) run_with(_i, n);
}
END_TEST

START_TEST(many_ranks)
{
    for (int n = 5; n <= 8; n++) run_with(_i, n);
}
END_TEST

/* How many threads of this process do not block SIGUSR1; 0 if unknown. */
static int threads_with_signals(void)
{
    int  n = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char  path[300], line[200];
        FILE *f = NULL;
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
            f = fopen(path, "r");
        }
        while (f && fgets(line, sizeof line, f))
            if (strncmp(line, "SigBlk:", 7) == 0)
                n += !(strtoull(line + 7, NULL, 16) >> (SIGUSR1 - 1) & 1);
        if (f) fclose(f);
    }
    if (d) closedir(d);
    return n;
}

/* The most in 50 ms: a thread blocks signals while it makes another one. */
static int most_threads_with_signals(void)
{
    int most = 0;
    for (int i = 0; i < 50; i++) {
        const int n = threads_with_signals();
        most = n > most ? n : most;
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    return most;
}

/* A training that exchanges gradients while it computes. */
static bool overlap_in_silence(eddy_communicator *c, void *context)
{
    (void)context;
    eddy_graph     *g = eddy_graph_new();
    eddy_tensor     v = eddy_variable(g, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(3000)));
    eddy_optimizer *o = eddy_distributed(eddy_adam(g), c, .bucket_bytes = 1, .overlap = true);
    eddy_tensor     step = eddy_minimize(o, eddy_sum(Square(v))), init = eddy_initializer(g);
    eddy_session   *s = eddy_session_new(g, .threads = 1);
    bool ok = eddy_run(s, EDDY_FEED(), EDDY_FETCH(init), NULL) == EDDY_OK &&
              eddy_rank_barrier(c, NULL);
    const int before = most_threads_with_signals();
    ok = ok && eddy_rank_barrier(c, NULL) &&
         eddy_run_ranks(c, s, EDDY_FEED(), EDDY_FETCH(step), NULL) == EDDY_OK &&
         eddy_rank_barrier(c, NULL);
    const int after = most_threads_with_signals();
    ok = ok && eddy_rank_barrier(c, NULL) &&
         expect(c, after <= before, "%d threads take signals, before %d", after, before);
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

/* OpenBLAS makes its threads again when its number is set in a child. */
START_TEST(threads_for_messages_take_no_signals)
{
    if (openblas_set_num_threads) openblas_set_num_threads(openblas_get_num_threads());
    ck_assert(eddy_run_threads(2, overlap_in_silence, NULL, NULL));
}
END_TEST

/* ---------------------------------------------------------------- many numbers -- */

/* The numbers of rows, one for each rank, are more than a tensor has dimensions. */
static bool rows_of_many(eddy_communicator *c, void *context)
{
    const int     n = eddy_communicator_size(c);
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_tensor   y = eddy_all_gather(c, x, .uneven = true);
    eddy_session *s = eddy_session_new(g, .threads = 1);
    bool          ok = context == NULL;
    for (int run = 0; ok && run < 2; run++) {
        const int   rows = (eddy_communicator_rank(c) + run) % 3;
        const float ones[] = { 1, 1, 1, 1 };
        eddy_array *out = NULL;
        int         all = 0;
        for (int r = 0; r < n; r++) all += (r + run) % 3;
        const eddy_feed mine = { x, EDDY_VIEW(ones, rows, 2) };
        ok = eddy_run_ranks(c, s, EDDY_FEED(mine), EDDY_FETCH(y), &out) == EDDY_OK;
        ok = expect(c, ok, "%s", eddy_session_message(s)) &&
             expect(c, eddy_array_shape(out).dim[0] == all, "%d rows expected", all);
        for (int64_t i = 0; ok && i < 2 * all; i++) ok = eddy_array_get(out, i) == 1;
        eddy_array_free(out);
    }
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

START_TEST(more_ranks_than_dimensions)
{
    eddy_error e = { 0 };
    ck_assert_msg(eddy_run_threads(EDDY_MAX_RANK + 3, rows_of_many, NULL, &e), "%s", e.message);
}
END_TEST

/* -------------------------------------------------------------------- traces -- */

/* The longest event with this name, in microseconds; -1 if there is none. */
static double longest(const char *trace, const char *name)
{
    double      most = -1, took;
    const char *at = trace;
    char        word[60];
    snprintf(word, sizeof word, ", \"name\": \"%s\"", name);
    for (; (at = strstr(at, "\"dur\": ")) != NULL; at += 7) {
        const size_t n = strcspn(at, ",");
        took = atof(at + 7);
        if (strncmp(at + n, word, strlen(word)) == 0 && took > most) most = took;
    }
    return most;
}

/* Rank 1 comes late to each step, and rank 0 waits in the collective. */
static bool trace_of_waits(eddy_communicator *c, void *context)
{
    const bool      overlap = *(bool *)context;
    eddy_graph     *g = eddy_graph_new();
    eddy_tensor     v = eddy_variable(g, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(3000)));
    eddy_optimizer *o = eddy_distributed(eddy_adam(g), c, .bucket_bytes = 1, .overlap = overlap);
    eddy_tensor     step = eddy_minimize(o, eddy_sum(Square(v))), init = eddy_initializer(g);
    eddy_session   *s = eddy_session_new(g, .threads = 1, .trace = true);
    char           *text = NULL;
    size_t          size;
    FILE           *to = open_memstream(&text, &size);
    bool            ok = eddy_run(s, EDDY_FEED(), EDDY_FETCH(init), NULL) == EDDY_OK;
    for (int i = 0; i < 5; i++) {
        ok = ok && eddy_rank_barrier(c, NULL);
        if (eddy_communicator_rank(c) == 1)
            nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
        ok = ok && eddy_run_ranks(c, s, EDDY_FEED(), EDDY_FETCH(step), NULL) == EDDY_OK;
    }
    ok = ok && eddy_session_trace(s, to) == EDDY_OK;
    fclose(to);
    const double waited = longest(text, overlap ? "AllReduceEnd" : "AllReduce");
    ok = ok && expect(c, eddy_communicator_rank(c) == 1 ? waited >= 0 : waited > 10000,
                      "the longest wait lasts %.1f us", waited) &&
         expect(c, (longest(text, "AllReduceBegin") >= 0) == overlap, "AllReduceBegin");
    free(text);
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

START_TEST(traces)
{
    bool       overlap = _i == 1;
    eddy_error e = { 0 };
    ck_assert_msg(eddy_run_threads(2, trace_of_waits, &overlap, &e), "%s", e.message);
}
END_TEST

Suite *ranks_suite(void)
{
    Suite *s = suite_create("ranks");
    TCase *few = tcase_create("few"), *many = tcase_create("many");
    tcase_set_tags(few, "threads");
    tcase_set_tags(many, "threads many");
    tcase_add_loop_test(few, few_ranks, 0, count_of_scenarios());
    tcase_add_test(few, threads_for_messages_take_no_signals);
    tcase_add_test(few, more_ranks_than_dimensions);
    tcase_add_loop_test(few, traces, 0, 2);
    tcase_add_loop_test(many, many_ranks, 0, count_of_scenarios());
    suite_add_tcase(s, few);
    suite_add_tcase(s, many);
    return s;
}
