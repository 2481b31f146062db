/* test_positions.c -- positions that are wrong, or at the limits of what a pipeline counts. */
#include "build/gen/suites.h"
#include "tests/lib/datasets.h"

#include <string.h>
#include <unistd.h>

/* A bucket is given as soon as it is full: a position with a full one, or with more than it holds,
 * comes from no pipeline. */
START_TEST(full_buckets)
{
    static const char *const texts[] = {
        "eddy 1: bucket(0,2) function(-1): 0 2 0 2 0 1 0 0",
        "eddy 1: bucket(1,2) function(-1): 0 3 0 3 2 -1 0 1 0 0",
        "eddy 1: bucket(1,2) function(-1): 0 3 0 3 0 -1 1 2 0 0",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const int64_t first[] = { 2 };
        eddy_dataset *d = eddy_dataset_bucket(ragged(9, true, NULL), .boundaries = i ? first : NULL,
                                              .n = i > 0, .size = 2);
        ck_assert_int_ne(eddy_dataset_seek(d, texts[i]), EDDY_OK);
        while (eddy_dataset_next(d, NULL)) continue;
        no_error(d);
        eddy_dataset_free(d);
    }
}
END_TEST

/* The text that the pipeline gave is one that it takes. */
START_TEST(its_own_text)
{
    eddy_dataset *d = eddy_dataset_batch(numbered(9, NULL), 2);
    ck_assert(eddy_dataset_next(d, NULL));
    ck_assert_int_eq(eddy_dataset_seek(d, eddy_dataset_position(d)), EDDY_OK);
    ck_assert_str_eq(eddy_dataset_position(d), "eddy 1: batch(2) arrays(9): 0 0 1");
    eddy_dataset_free(d);
}
END_TEST

static eddy_dataset *two(bool together, int64_t n, bool taken)
{
    eddy_dataset *d[] = { numbered(5, NULL), numbered(n, NULL) };
    if (taken) d[1] = eddy_dataset_take(d[1], 4);
    return together ? eddy_dataset_zip(d, 2) : eddy_dataset_interleave(d, 2);
}

/* The stages of every source count, not only those of the first. */
START_TEST(other_sources)
{
    for (int together = 0; together < 2; together++) {
        eddy_dataset *d = two(together, 6, false), *same = two(together, 6, false);
        eddy_dataset *other[] = { two(together, 7, false), two(together, 6, true) };
        ck_assert(eddy_dataset_next(d, NULL));
        const char *at = eddy_dataset_position(d);
        ck_assert_int_eq(eddy_dataset_seek(same, at), EDDY_OK);
        for (int i = 0; i < 2; i++) {
            ck_assert_int_eq(eddy_dataset_seek(other[i], at), EDDY_INVALID_ARGUMENT);
            eddy_dataset_free(other[i]);
        }
        eddy_dataset_free(same);
        eddy_dataset_free(d);
    }
}
END_TEST

/* Numbers from which counting would overflow are refused. */
START_TEST(last_numbers)
{
    const int64_t last = (int64_t)1 << 61;
    for (int i = 0; i < 4; i++) {
        eddy_dataset *d = i % 2 ? streamed(2, NULL) : numbered(2, NULL);
        if (i > 1) d = eddy_dataset_prefetch(d);
        ck_assert_int_eq(eddy_dataset_begin(d, last + 1), EDDY_INVALID_ARGUMENT);
        ck_assert_int_eq(eddy_dataset_begin(d, last), EDDY_OK);
        for (int k = 0; k < 9; k++) eddy_dataset_next(d, NULL);
        no_error(d);
        ck_assert(eddy_dataset_epoch(d) == last + 3);
        ck_assert_int_eq(eddy_dataset_seek(d, eddy_dataset_position(d)), EDDY_OK);
        eddy_dataset_free(d);
    }
    eddy_dataset *d = eddy_dataset_take(streamed(9, NULL), 5);
    ck_assert_int_eq(
        eddy_dataset_seek(d, "eddy 1: take(5) function(-1): 0 9223372036854775807 0 0 0"),
        EDDY_CORRUPT);
    eddy_dataset_free(d);
    d = eddy_dataset_prefetch(numbered(9, NULL));
    ck_assert_int_eq(eddy_dataset_seek(d, "eddy 1: prefetch arrays(9): 0 0 0 -7"), EDDY_CORRUPT);
    eddy_dataset_free(d);
    d = eddy_dataset_from_lines("tests/input/fixtures/table.csv");
    ck_assert_int_eq(eddy_dataset_seek(d, "eddy 1: lines: 0 -1 0"), EDDY_CORRUPT);
    ck_assert_int_eq(eddy_dataset_seek(d, "eddy 1: lines: 0 0 -1"), EDDY_CORRUPT);
    eddy_dataset_free(d);
}
END_TEST

static bool nothing(void *context, int64_t epoch, int64_t i, eddy_record *out)
{
    return (void)context, (void)epoch, (void)i, eddy_record_make(out, 0, EDDY_INT32, EDDY_SCALAR);
}

/* Pipelines whose memory cannot be counted. */
START_TEST(too_large)
{
    const eddy_component c = { EDDY_INT32, EDDY_SCALAR };
    eddy_dataset        *d =
        eddy_dataset_from_function(nothing, .components = &c, .n = 1, .size = (int64_t)1 << 61);
    d = eddy_dataset_cache(d);
    ck_assert(!eddy_dataset_next(d, NULL));
    ck_assert_int_eq(eddy_dataset_status(d), EDDY_NO_MEMORY);
    eddy_dataset_free(d);
    d = streamed(9, NULL);
    for (int i = 0; i < 3; i++) d = eddy_dataset_interleave(&d, 1, .cycle = 4096);
    ck_assert_int_eq(eddy_dataset_status(d), EDDY_LIMIT);
    eddy_dataset_free(d);
}
END_TEST

/* A list that has a dataset twice, and cannot become a stage, frees it once. */
START_TEST(listed_twice)
{
    eddy_dataset *d = numbered(3, NULL);
    ck_assert_ptr_null(eddy_dataset_zip((eddy_dataset *[]){ d, d, NULL }, 3));
    d = eddy_dataset_take(numbered(3, NULL), 2);
    ck_assert_ptr_null(eddy_dataset_interleave((eddy_dataset *[]){ NULL, d, d, d }, 4));
}
END_TEST

/* The status of a damaged position in a file is that of eddy_dataset_seek. */
START_TEST(damaged_in_file)
{
    const char   *path = "/tmp/eddy-positions";
    eddy_error    e = { EDDY_OK, "" };
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   v = eddy_variable(g, eddy_scalar(g, 0), .name = "v");
    eddy_session *s = eddy_session_new(g);
    eddy_dataset *d = numbered(3, NULL);
    const eddy_metadata pair = { EDDY_DATASET_POSITION, "eddy 1: arrays(3): 0 0" };
    ck_assert_int_eq(eddy_variable_set(s, v, EDDY_NUMBER(EDDY_FLOAT32, 1)), EDDY_OK);
    ck_assert_int_eq(eddy_save_checkpoint(s, path, .metadata = &pair, .n_metadata = 1), EDDY_OK);
    ck_assert_int_eq(eddy_restore_with_dataset(s, path, d, &e), EDDY_CORRUPT);
    ck_assert_int_eq(e.status, EDDY_CORRUPT);
    unlink(path);
    eddy_dataset_free(d);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

Suite *positions_suite(void)
{
    Suite *s = suite_create("positions");
    TCase *t = tcase_create("positions");
    tcase_add_test(t, full_buckets);
    tcase_add_test(t, its_own_text);
    tcase_add_test(t, other_sources);
    tcase_add_test(t, last_numbers);
    tcase_add_test(t, too_large);
    tcase_add_test(t, listed_twice);
    tcase_add_test(t, damaged_in_file);
    suite_add_tcase(s, t);
    return s;
}
