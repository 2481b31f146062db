/* main.c -- trains networks in many ways and compares the weights bit for bit; see
 * tests/lib/trainings.h.
 *
 *   determinism [STEPS]                    default: 1000
 *   determinism --hashes STEPS             only prints a hash of each, to compare processes */
#include "graph/base/cpu.h"
#include "tests/lib/trainings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int different;

static void compare(const char *what, uint64_t got, uint64_t want, bool must)
{
    if (got == want) return;
    printf("    %s: %s\n", what, must ? "OTHER BITS" : "other bits, as documented");
    different += must;
}

/* The library's own kernels for other processors. */
static void compare_instructions(const training *t, int steps, uint64_t want)
{
    static const char *name[] = { "baseline", "AVX2", "AVX-512" };
    const eddy_instructions best = eddy__instructions_used();
    for (int i = 0; i < (int)best; i++) {
        eddy__instructions_limit((eddy_instructions)i);
        const uint64_t one = training_bits(t, steps, (training_way){ .threads = 1 });
        compare(name[i], one, want, !t->has_products);
        compare("its threads", training_bits(t, steps, (training_way){ .threads = 3 }), one, true);
    }
    eddy_limit_instructions(NULL);
}

static void compare_all(const training *t, int steps)
{
    static const int threads[] = { 2, 3, 4, 8, 64 };
    const uint64_t   want = training_bits(t, steps, (training_way){ .threads = 1 });
    char             what[40];
    printf("%-14s %016llx\n", t->name, (unsigned long long)want);
    if (want == 0) different++;
    compare("again", training_bits(t, steps, (training_way){ .threads = 1 }), want, true);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        snprintf(what, sizeof what, "%d threads", threads[i]);
        compare(what, training_bits(t, steps, (training_way){ .threads = threads[i] }), want, true);
    }
    compare("not .deterministic", training_bits(t, steps, (training_way){ 2, true, false }), want,
            true);
    compare("saved and resumed", training_bits(t, steps, (training_way){ 2, false, true }), want,
            true);
    compare("one step less", training_bits(t, steps - 1, (training_way){ .threads = 1 }) == want,
            false, true);
    compare_instructions(t, steps, want);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const bool hashes = argc > 2 && strcmp(argv[1], "--hashes") == 0;
    const int  steps = argc > 1 ? atoi(argv[argc - 1]) : 1000;
    for (int i = 0; i < TRAININGS && !hashes; i++) compare_all(&trainings[i], steps);
    for (int i = 0; i < TRAININGS && hashes; i++)
        printf("%s %016llx\n", trainings[i].name,
               (unsigned long long)training_bits(&trainings[i], steps,
                                                 (training_way){ .threads = 1 }));
    if (!hashes) printf("%d steps: %s\n", steps, different ? "other bits" : "the same bits");
    return different != 0;
}
