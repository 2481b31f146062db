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

Suite *ranks_suite(void)
{
    Suite *s = suite_create("ranks");
    TCase *few = tcase_create("few"), *many = tcase_create("many");
    tcase_set_tags(few, "threads");
    tcase_set_tags(many, "threads many");
    tcase_add_loop_test(few, few_ranks, 0, count_of_scenarios());
    tcase_add_test(few, threads_for_messages_take_no_signals);
    tcase_add_loop_test(many, many_ranks, 0, count_of_scenarios());
    suite_add_tcase(s, few);
    suite_add_tcase(s, many);
    return s;
}
