/* test_corpus.c -- the readers on the inputs in tests/fuzz/corpus, which has a folder for each
 * format: those with which libFuzzer reached most, and those that once found a defect.
 *
 *   EDDY_CORPUS=build/fuzz/corpus   other inputs, of any size
 *   EDDY_TIMED=1                    one second of the processor and 256 MiB for each input; with
 *                                   CK_FORK=no, what ran before may have taken more */
#define _DEFAULT_SOURCE
#include "build/gen/suites.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/files/onnx_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST_SIZE = 4096, MOST_KIB = 256 << 10 };

#define FORMAT(name) { #name, fuzz_##name },
static const struct {
    const char *name;
    int (*read)(const uint8_t *data, size_t size);
} formats[] = { FUZZ_FORMATS(FORMAT) };
enum { FORMATS = sizeof formats / sizeof *formats };

/* The bytes of the file, in memory that ends with them. */
static uint8_t *bytes_of(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s cannot be read", path);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *p = malloc(*size ? *size : 1);
    ck_assert(p && fread(p, 1, *size, f) == *size);
    fclose(f);
    return p;
}

static long most_kib(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return r.ru_maxrss;
}

START_TEST(replay)
{
    const char   *other = getenv("EDDY_CORPUS");
    const long    before = most_kib();
    double        slowest = 0;
    char          folder[512], path[1024];
    int           n;
    snprintf(folder, sizeof folder, "%s/%s", other ? other : "tests/fuzz/corpus", formats[_i].name);
    char **names = names_in(folder, &n);
    ck_assert_msg(n > 0, "%s has no inputs", folder);
    for (int i = 0; i < n; i++) {
        size_t size;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        uint8_t *data = bytes_of(path, &size);
        ck_assert_msg(other || size <= MOST_SIZE, "%s is too large to be kept", path);
        const clock_t start = clock();
        fuzz_input = path;
        formats[_i].read(data, size);
        fuzz_input = NULL;
        const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (seconds > slowest) slowest = seconds;
        free(data);
        if (!getenv("EDDY_TIMED")) continue;
        ck_assert_msg(seconds <= 1, "%s takes %.1f s", path, seconds);
        ck_assert_msg(most_kib() - before <= MOST_KIB, "%s takes %ld KiB", path,
                      most_kib() - before);
    }
    free_names(names);
    printf("%-12s %5d inputs, the slowest %.3f s, %ld KiB\n", formats[_i].name, n, slowest,
           most_kib() - before);
    fflush(stdout);
}
END_TEST

Suite *corpus_suite(void)
{
    Suite *s = suite_create("corpus");
    TCase *t = tcase_create("formats");
    tcase_add_loop_test(t, replay, 0, FORMATS);
    suite_add_tcase(s, t);
    return s;
}
