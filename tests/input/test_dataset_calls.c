/* test_dataset_calls.c -- pipelines with counts without pointers, huge sizes, functions that make
 * impossible records, and datasets that are used twice: a lasting error, or the right records. */
#include "build/gen/suites.h"
#include "tests/lib/datasets.h"

#include <limits.h>
#include <stdlib.h>

/* It is an error, at once or when it is read, and goes on being one. */
static void refused(eddy_dataset *d, eddy_status status)
{
    for (int i = 0; i < 20 && eddy_dataset_status(d) == EDDY_OK; i++) eddy_dataset_next(d, NULL);
    ck_assert_msg(eddy_dataset_status(d) == status, "status %d: %s", eddy_dataset_status(d),
                  eddy_dataset_message(d));
    ck_assert_str_ne(eddy_dataset_message(d), "");
    ck_assert(!eddy_dataset_next(d, NULL));
    ck_assert_ptr_null(eddy_dataset_position(d));
    ck_assert_int_ne(eddy_dataset_begin(d, 0), EDDY_OK);
    eddy_dataset_free(d);
}

static void invalid(eddy_dataset *d) { refused(d, EDDY_INVALID_ARGUMENT); }

/* It gives so many records in each of two epochs. */
static void gives(eddy_dataset *d, int n)
{
    for (int k = 0; k < 2; k++) {
        int count = 0;
        while (count <= n && eddy_dataset_next(d, NULL)) count++;
        no_error(d);
        ck_assert_int_eq(count, n);
    }
    eddy_dataset_free(d);
}

START_TEST(huge_sizes)
{
    eddy_dataset *d;
    for (int stream = 0; stream < 2; stream++) {
        eddy_dataset *(*const make)(int64_t, const eddy_allocator *) = stream ? streamed : numbered;
        invalid(eddy_dataset_shuffle(make(5, NULL), .buffer = INT64_MAX));
        gives(eddy_dataset_shuffle(make(5, NULL), .buffer = 1 << 20), 5);
        invalid(eddy_dataset_batch(make(5, NULL), INT64_MAX));
        invalid(eddy_dataset_batch(make(5, NULL), INT64_MAX, .padded = true));
        invalid(eddy_dataset_batch(make(5, NULL), -1));
        invalid(eddy_dataset_bucket(make(5, NULL), .size = INT64_MAX));
        gives(eddy_dataset_bucket(ragged(5, stream, NULL), .size = 1 << 20), 1);
        gives(eddy_dataset_take(make(5, NULL), INT64_MAX), 5);
        gives(eddy_dataset_skip(make(5, NULL), INT64_MAX), 0);
        invalid(eddy_dataset_take(make(5, NULL), INT64_MIN));
        gives(eddy_dataset_shard(make(5, NULL), INT64_MAX, 3), 1);
        gives(eddy_dataset_shard(make(5, NULL), INT64_MAX, INT64_MAX - 1), 0);
        invalid(eddy_dataset_shard(make(5, NULL), 0, 0));
        d = eddy_dataset_repeat(eddy_dataset_repeat(make(5, NULL), INT64_MAX), INT64_MAX);
        gives(eddy_dataset_take(d, 12), 12);
    }
    d = eddy_dataset_skip(eddy_dataset_repeat(numbered(5, NULL), INT64_MAX), INT64_MAX / 2);
    gives(eddy_dataset_take(d, 3), 3);
    invalid(eddy_dataset_prefetch(numbered(5, NULL), .threads = 257));
    invalid(eddy_dataset_prefetch(numbered(5, NULL), .threads = -1));
    invalid(eddy_dataset_prefetch(numbered(5, NULL), .buffer = INT_MAX));
    invalid(eddy_dataset_prefetch(numbered(5, NULL), .buffer = -1));
    gives(eddy_dataset_prefetch(eddy_dataset_prefetch(numbered(5, NULL), .buffer = 1)), 5);
}
END_TEST

START_TEST(counts_without_pointers)
{
    invalid(eddy_dataset_from_arrays(NULL, INT_MAX));
    invalid(eddy_dataset_from_arrays(NULL, -1));
    invalid(eddy_dataset_from_files(NULL, INT_MAX, eddy_array_load));
    invalid(eddy_dataset_from_files(NULL, -1, eddy_array_load));
    invalid(eddy_dataset_bucket(ragged(5, true, NULL), NULL, 2, 3));
    invalid(eddy_dataset_bucket(ragged(5, true, NULL), NULL, INT_MAX, 3));
    invalid(eddy_dataset_bucket(ragged(5, true, NULL), NULL, -1, 3));
    invalid(eddy_dataset_interleave(NULL, 2));
    invalid(eddy_dataset_zip(NULL, INT_MAX));
    invalid(eddy_dataset_from_lines("tests/input/fixtures/table.csv", .max_line = -1));
    invalid(eddy_dataset_from_lines("x", &(const eddy_files){ 0 }));
    invalid(eddy_dataset_from_arrays_with(NULL));
    invalid(eddy_dataset_from_function_with(NULL));
    invalid(eddy_dataset_from_files_with(NULL));
    invalid(eddy_dataset_from_lines_with(NULL));
    invalid(eddy_dataset_interleave_with(NULL));
    ck_assert_ptr_null(eddy_dataset_map_with(NULL));
    ck_assert_ptr_null(eddy_dataset_map_graph_with(NULL));
    ck_assert_ptr_null(eddy_dataset_shuffle_with(NULL));
    ck_assert_ptr_null(eddy_dataset_batch_with(NULL));
    ck_assert_ptr_null(eddy_dataset_bucket_with(NULL));
    ck_assert_ptr_null(eddy_dataset_prefetch_with(NULL));
    ck_assert_ptr_null(eddy_dataset_filter(NULL, NULL, NULL));
    ck_assert_ptr_null(eddy_dataset_repeat(NULL, 1));
    ck_assert_ptr_null(eddy_dataset_cache(NULL));
}
END_TEST

/* A dataset can be part of one other: the second use is an error, and it is freed once. */
START_TEST(used_twice)
{
    eddy_dataset *d = numbered(3, NULL);
    eddy_dataset *two[] = { d, d };
    invalid(eddy_dataset_zip(two, 2));
    two[0] = two[1] = numbered(3, NULL);
    invalid(eddy_dataset_interleave(two, 2));
    d = numbered(3, NULL);
    eddy_dataset *owner = eddy_dataset_take(d, 2);
    eddy_dataset_free(d);
    ck_assert_int_eq(eddy_dataset_begin(d, 1), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_dataset_seek(d, "eddy 1: arrays(3): 0 0 1"), EDDY_INVALID_ARGUMENT);
    gives(owner, 2);
    eddy_dataset *many[40];
    for (int i = 0; i < 40; i++) many[i] = numbered(2, NULL);
    invalid(eddy_dataset_zip(many, 40));
}
END_TEST

/* ---------------------------------------------------------------- functions -- */

static const eddy_shape no_shapes[] = {
    { .rank = 100 }, { .rank = -7 }, { .rank = 1, .dim = { -5 } },
    { .rank = 2, .dim = { INT64_MAX / 8, 16 } }, { .rank = 1, .dim = { EDDY_ANY } },
};

static bool makes_no_shape(void *context, eddy_record *in, eddy_record *out)
{
    (void)in;
    return eddy_record_make(out, 0, EDDY_INT32, *(const eddy_shape *)context) != NULL;
}

static bool makes_no_type(void *context, eddy_record *in, eddy_record *out)
{
    return (void)context, (void)in, eddy_record_make(out, 0, (eddy_dtype)99, EDDY_SCALAR) != NULL;
}

/* Says that it fails, and then that it does not. */
static bool contradicts(void *context, eddy_record *in, eddy_record *out)
{
    (void)context, (void)in;
    eddy_record_fail(out, EDDY_IO, NULL);
    return true;
}

static bool fails_with_ok(void *context, eddy_record *in, eddy_record *out)
{
    return (void)context, (void)in, eddy_record_fail(out, EDDY_OK, "no reason");
}

/* The last one counts. */
static bool makes_twice(void *context, eddy_record *in, eddy_record *out)
{
    (void)context, (void)in;
    int32_t *small = eddy_record_make(out, 0, EDDY_INT32, EDDY_SHAPE(3));
    if (small) small[2] = 1;
    int32_t *large = eddy_record_make(out, 0, EDDY_INT32, EDDY_SHAPE(30000));
    if (large) large[29999] = 1;
    return large != NULL;
}

START_TEST(functions)
{
    const eddy_component any = { EDDY_INT32, { .rank = EDDY_UNKNOWN_RANK } };
    for (int threads = 0; threads < 3; threads++) {
        for (int i = 0; i < 9; i++) {
            const bool     of_shape = i < 5;
            eddy_dataset  *d = eddy_dataset_map(
                numbered(9, NULL),
                of_shape ? makes_no_shape : i == 5 ? makes_no_type : i == 6 ? contradicts :
                i == 7 ? fails_with_ok : makes_twice,
                .context = of_shape ? (void *)(uintptr_t)&no_shapes[i] : NULL, .components = &any,
                .n = 1);
            if (threads) d = eddy_dataset_prefetch(d, .threads = threads);
            if (i > 7) gives(d, 9);
            else if (i > 5) refused(d, i == 6 ? EDDY_IO : EDDY_INVALID_ARGUMENT);
            else refused(d, EDDY_BAD_SHAPE);
        }
    }
}
END_TEST

Suite *dataset_calls_suite(void)
{
    Suite *s = suite_create("dataset_calls");
    TCase *t = tcase_create("calls");
    tcase_set_tags(t, "threads");
    tcase_add_test(t, huge_sizes);
    tcase_add_test(t, counts_without_pointers);
    tcase_add_test(t, used_twice);
    tcase_add_test(t, functions);
    suite_add_tcase(s, t);
    return s;
}
