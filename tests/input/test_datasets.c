/* test_datasets.c -- pipelines: the records of each stage, and that neither threads nor resuming
 * change them. */
#include "build/gen/suites.h"
#include "tests/lib/datasets.h"

#include "input/internal.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The int32 component of records, at most n of them, up to the end of an epoch. */
static int epoch(eddy_dataset *d, int32_t *out, int n)
{
    const eddy_array *r[EDDY_MAX_COMPONENTS];
    int               count = 0;
    const int         last = eddy_dataset_width(d) - 1;
    while (eddy_dataset_next(d, r))
        for (int64_t i = 0; i < eddy_array_count(r[last]); i++) {
            ck_assert_int_lt(count, n);
            out[count++] = (int32_t)eddy_array_get(r[last], i);
        }
    no_error(d);
    return count;
}

static void gives(eddy_dataset *d, int n, const int32_t *want)
{
    int32_t got[100];
    for (int k = 0; k < 2; k++) {            /* in each epoch */
        ck_assert_int_eq(epoch(d, got, 100), n);
        for (int i = 0; i < n; i++) ck_assert_int_eq(got[i], want[i]);
    }
    eddy_dataset_free(d);
}
#define GIVES(d, ...) \
    gives(d, (int)(sizeof((int32_t[]){ __VA_ARGS__ }) / sizeof(int32_t)), \
          (int32_t[]){ __VA_ARGS__ })

/* ---------------------------------------------------------------- stages -- */

static bool odd(void *context, eddy_record *r)
{
    (void)context;
    return (int)eddy_array_item(eddy_record_array(r, 1)) % 2 == 1;
}

START_TEST(parts)
{
    eddy_dataset *(*const make[])(int64_t, const eddy_allocator *) = { numbered, streamed };
    eddy_dataset *two[2];
    for (int k = 0; k < 2; k++) {
        GIVES(eddy_dataset_take(make[k](9, NULL), 3), 0, 1, 2);
        GIVES(eddy_dataset_take(make[k](2, NULL), 3), 0, 1);
        GIVES(eddy_dataset_take(make[k](3, NULL), -1), 0, 1, 2);
        GIVES(eddy_dataset_skip(make[k](5, NULL), 3), 3, 4);
        GIVES(eddy_dataset_shard(make[k](8, NULL), 3, 1), 1, 4, 7);
        GIVES(eddy_dataset_shard(make[k](8, NULL), 3, 2), 2, 5);
        GIVES(eddy_dataset_repeat(make[k](2, NULL), 2), 0, 1, 0, 1);
        GIVES(eddy_dataset_take(eddy_dataset_repeat(make[k](2, NULL), -1), 5), 0, 1, 0, 1, 0);
        GIVES(eddy_dataset_filter(make[k](6, NULL), odd, NULL), 1, 3, 5);
        GIVES(eddy_dataset_batch(make[k](5, NULL), 2), 0, 1, 2, 3, 4);
        GIVES(eddy_dataset_batch(make[k](5, NULL), 2, .drop_remainder = true), 0, 1, 2, 3);
        GIVES(eddy_dataset_batch(eddy_dataset_batch(make[k](4, NULL), 2), 2), 0, 1, 2, 3);
        GIVES(eddy_dataset_cache(make[k](3, NULL)), 0, 1, 2);
        two[0] = make[k](3, NULL);
        two[1] = eddy_dataset_skip(make[k](5, NULL), 1);
        GIVES(eddy_dataset_zip(two, 2), 1, 2, 3);
        two[0] = make[k](3, NULL);
        two[1] = eddy_dataset_skip(make[k](9, NULL), 4);
        GIVES(eddy_dataset_interleave(two, 2), 0, 1, 2, 4, 5, 6, 7, 8);
        two[0] = make[k](3, NULL);
        two[1] = eddy_dataset_skip(make[k](9, NULL), 4);
        GIVES(eddy_dataset_interleave(two, 2, .cycle = 2, .block = 2), 0, 1, 4, 5, 2, 6, 7, 8);
    }
}
END_TEST

static bool number_of(void *context, eddy_record *in, eddy_record *out)
{
    (void)in;
    int32_t *x = eddy_record_make(out, 0, EDDY_INT32, EDDY_SCALAR);
    if (x) *x = (int32_t)(intptr_t)context;
    return x != NULL;
}

/* The example of tf.data's documentation: 1 to 5, each 6 times, in cycles of 2 and blocks of 4. */
START_TEST(interleaves_as_tensorflow)
{
    const eddy_component one = { EDDY_INT32, EDDY_SCALAR };
    eddy_dataset        *five[5];
    for (int i = 0; i < 5; i++)
        five[i] = eddy_dataset_map(_i ? streamed(6, NULL) : numbered(6, NULL), number_of,
                                   (void *)(intptr_t)(i + 1), &one, 1);
    GIVES(eddy_dataset_interleave(five, 5, .cycle = 2, .block = 4),
          1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5);
}
END_TEST

static bool none(void *context, eddy_record *r) { return (void)context, (void)r, false; }

START_TEST(nothing)
{
    int32_t       got[1];
    eddy_dataset *empty[] = {
        numbered(0, NULL),
        streamed(0, NULL),
        eddy_dataset_repeat(numbered(0, NULL), -1),
        eddy_dataset_repeat(streamed(0, NULL), -1),
        eddy_dataset_take(numbered(3, NULL), 0),
        eddy_dataset_skip(numbered(3, NULL), -1),
        eddy_dataset_skip(eddy_dataset_repeat(streamed(3, NULL), -1), -1),
        eddy_dataset_filter(numbered(3, NULL), none, NULL),
        eddy_dataset_repeat(eddy_dataset_filter(numbered(3, NULL), none, NULL), -1),
        eddy_dataset_repeat(eddy_dataset_shuffle(eddy_dataset_take(numbered(3, NULL), 0)), -1),
        eddy_dataset_interleave((eddy_dataset *[]){ numbered(0, NULL), streamed(0, NULL) }, 2, 2),
        eddy_dataset_bucket(streamed(0, NULL), .size = 3),
        eddy_dataset_prefetch(numbered(0, NULL), .threads = 2),
        eddy_dataset_prefetch(eddy_dataset_batch(streamed(0, NULL), 3)),
        eddy_dataset_shuffle(numbered(0, NULL)),
        eddy_dataset_shuffle(streamed(0, NULL), .buffer = 3),
        eddy_dataset_repeat(numbered(3, NULL), 0),
        eddy_dataset_repeat(streamed(3, NULL), 0),
        eddy_dataset_cache(streamed(0, NULL)),
        eddy_dataset_cache(numbered(0, NULL)),
    };
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        for (int k = 0; k < 3; k++) ck_assert_int_eq(epoch(empty[i], got, 1), 0);
        eddy_dataset_free(empty[i]);
    }
}
END_TEST

START_TEST(types)
{
    eddy_dataset *d = eddy_dataset_batch(numbered(5, NULL), 2);
    ck_assert_int_eq(eddy_dataset_width(d), 2);
    ck_assert_int_eq(eddy_dataset_size(d), 3);
    const eddy_component c = eddy_dataset_component(d, 0);
    ck_assert_int_eq(c.dtype, EDDY_FLOAT32);
    ck_assert(eddy_shape_equal(c.shape, EDDY_SHAPE(EDDY_ANY, 2)));
    ck_assert_int_eq(eddy_dataset_component(d, 2).dtype, EDDY_DEFAULT_DTYPE);
    eddy_dataset_free(d);
    d = eddy_dataset_batch(streamed(5, NULL), 2, .drop_remainder = true);
    ck_assert(eddy_shape_equal(eddy_dataset_component(d, 1).shape, EDDY_SHAPE(2)));
    ck_assert_int_eq(eddy_dataset_size(d), -1);
    eddy_dataset_free(d);
    d = eddy_dataset_repeat(numbered(5, NULL), -1);
    ck_assert(eddy_dataset_size(d) == INT64_MAX);
    eddy_dataset_free(d);
}
END_TEST

START_TEST(padded_batches)
{
    const eddy_array *r[2];
    const double want[] = { 0, -1, -1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1, 1, 1,
                            2, 2, 2, 2, 2, -1, -1, -1 }, lengths[] = { 1, 8, 5 };
    eddy_dataset *d = eddy_dataset_batch(ragged(4, false, NULL), 3, .padded = true, .padding = -1,
                                         .lengths = true);
    ck_assert(eddy_dataset_next(d, r));
    ck_assert(eddy_shape_equal(eddy_array_shape(r[0]), EDDY_SHAPE(3, 8)));
    for (int i = 0; i < 24; i++) ck_assert(eddy_array_get(r[0], i) == want[i]);
    for (int i = 0; i < 3; i++) ck_assert(eddy_array_get(r[1], i) == lengths[i]);
    ck_assert(eddy_dataset_next(d, r));
    ck_assert(eddy_shape_equal(eddy_array_shape(r[0]), EDDY_SHAPE(1, 2)));
    ck_assert(!eddy_dataset_next(d, r));
    eddy_dataset_free(d);
}
END_TEST

/* Every record is in a batch of its bucket, once. */
START_TEST(buckets)
{
    const int64_t     boundaries[] = { 4, 7 };
    const eddy_array *r[2];
    int               seen[30] = { 0 }, full = 0;
    eddy_dataset *d = eddy_dataset_bucket(ragged(30, _i == 1, NULL), boundaries, 2, 4,
                                          .padding = -1, .lengths = true);
    while (eddy_dataset_next(d, r)) {
        const int64_t n = eddy_array_shape(r[0]).dim[0], width = eddy_array_shape(r[0]).dim[1];
        const int     bucket = (width >= 4) + (width >= 7);
        full += n == 4;
        for (int64_t i = 0; i < n; i++) {
            const int length = (int)eddy_array_get(r[1], i);
            ck_assert_int_eq((length >= 4) + (length >= 7), bucket);
            const int which = (int)eddy_array_get(r[0], i * width);
            ck_assert_int_eq(1 + which * 7 % 10, length);
            seen[which]++;
            for (int64_t k = 0; k < width; k++)
                ck_assert(eddy_array_get(r[0], i * width + k) == (k < length ? which : -1));
        }
    }
    no_error(d);
    for (int i = 0; i < 30; i++) ck_assert_int_eq(seen[i], 1);
    ck_assert_int_ge(full, 5);
    eddy_dataset_free(d);
}
END_TEST

/* --------------------------------------------------------------- shuffling -- */

START_TEST(philox)
{
    /* The first of the known answers of Random123. */
    ck_assert(eddy__random(0, 0, 0) == 0x6627e8d5e169c58du);
    ck_assert(eddy__random(UINT64_MAX, UINT64_MAX, UINT64_MAX) == 0x408f276d41c83b0eu);
}
END_TEST

/* Each of the 24 orders of 4 records is as frequent as the others: chi squared with 23 degrees of
 * freedom, which is above 49.7 once in 1000 times. */
START_TEST(orders_are_uniform)
{
    enum { EPOCHS = 12000 };
    int           count[256] = { 0 };
    double        chi = 0;
    int32_t       r[4];
    eddy_dataset *d = eddy_dataset_shuffle(numbered(4, NULL), .seed = 11, .buffer = _i ? 4 : 0);
    for (int i = 0; i < EPOCHS; i++) {
        ck_assert_int_eq(epoch(d, r, 4), 4);
        count[r[0] << 6 | r[1] << 4 | r[2] << 2 | r[3]]++;
    }
    for (int i = 0; i < 256; i++) {
        if (count[i] == 0) continue;
        const double more = count[i] - EPOCHS / 24.0;
        chi += more * more / (EPOCHS / 24.0);
    }
    ck_assert_msg(chi < 49.7, "%g", chi);
    eddy_dataset_free(d);
}
END_TEST

START_TEST(shuffled_once_each)
{
    enum { N = 40 };
    int32_t first[N], second[N], again[N];
    bool    seen[N] = { false };
    const int64_t buffer[] = { 0, 8, 8, N, 1000 };
    for (int k = 0; k < 2; k++) {
        eddy_dataset *d = _i == 2 ? streamed(N, NULL) : numbered(N, NULL);
        d = eddy_dataset_shuffle(d, .seed = 3, .buffer = buffer[_i]);
        ck_assert_int_eq(epoch(d, k ? again : first, N), N);
        ck_assert_int_eq(epoch(d, second, N), N);
        eddy_dataset_free(d);
    }
    for (int i = 0; i < N; i++) {
        ck_assert(!seen[first[i]]);
        seen[first[i]] = true;
        if (buffer[_i] == 8) ck_assert_int_lt(first[i], i + 8);
    }
    ck_assert(memcmp(first, again, sizeof first) == 0);
    ck_assert(memcmp(first, second, sizeof first) != 0);
}
END_TEST

/* ------------------------------------------------------- threads, resuming -- */

enum { MOST = 60 };

START_TEST(same_with_any_threads)
{
    uint64_t      want[MOST], got[MOST];
    eddy_dataset *d = pipeline(_i, NULL);
    read_hashes(d, want, MOST);
    eddy_dataset_free(d);
    for (int threads = 1; threads <= 8; threads *= 2)
        for (int buffer = 1; buffer <= 9; buffer += 4) {
            d = eddy_dataset_prefetch(pipeline(_i, NULL), .threads = threads, .buffer = buffer);
            read_hashes(d, got, MOST);
            for (int i = 0; i < MOST; i++)
                ck_assert_msg(got[i] == want[i], "pipeline %d, record %d", _i, i);
            eddy_dataset_free(d);
        }
}
END_TEST

/* From every place a new pipeline goes on with the same records, as does one that was elsewhere. */
START_TEST(resumes)
{
    uint64_t      want[MOST], got[MOST];
    eddy_dataset *d = pipeline(_i, NULL), *other = pipeline(_i, NULL);
    ck_assert(d && other);
    read_hashes(d, want, MOST);
    eddy_dataset_free(d);
    d = pipeline(_i, NULL);
    for (int at = 0; at < 30; at++) {
        eddy_dataset *fresh = pipeline(_i, NULL);
        const char   *text = eddy_dataset_position(d);
        ck_assert_msg(text != NULL, "%s", eddy_dataset_message(d));
        eddy_dataset *const to[] = { fresh, other };
        for (int k = 0; k < 2; k++) {
            ck_assert_msg(eddy_dataset_seek(to[k], text) == EDDY_OK, "%s from '%s'",
                          eddy_dataset_message(to[k]), text);
            ck_assert_str_eq(eddy_dataset_position(to[k]), text);
            read_hashes(to[k], got, 20);
            for (int i = 0; i < 20; i++)
                ck_assert_msg(got[i] == want[at + i], "pipeline %d: record %d after '%s'", _i, i,
                              text);
        }
        eddy_dataset_free(fresh);
        read_hashes(d, got, 1);
        ck_assert(got[0] == want[at]);
    }
    eddy_dataset_free(d);
    eddy_dataset_free(other);
}
END_TEST

START_TEST(begins_epochs)
{
    uint64_t      want[MOST], got[MOST];
    int           ends = 0, at = 0;
    eddy_dataset *d = pipeline(_i, NULL);
    read_hashes(d, want, MOST);
    while (at < MOST && ends < 1) ends += want[at++] == 1;
    ck_assert_int_eq(ends, 1);
    ck_assert_int_eq(eddy_dataset_begin(d, 1), EDDY_OK);
    ck_assert_int_eq(eddy_dataset_epoch(d), 1);
    read_hashes(d, got, MOST - at);
    for (int i = 0; i < MOST - at; i++) ck_assert(got[i] == want[at + i]);
    eddy_dataset_free(d);
}
END_TEST

/* ---------------------------------------------------------------- memory -- */

static _Atomic long allocations, live;

static void *counted(void *context, size_t n)
{
    (void)context;
    allocations++;
    live += (long)n;
    return malloc(n);
}

static void released(void *context, void *p, size_t n)
{
    (void)context;
    live -= (long)n;
    free(p);
}

/* After some epochs, nothing is allocated while shapes repeat. */
START_TEST(memory_is_used_again)
{
    static const int     some[] = { 0, 1, 2, 3, 4, 7, 8, 9, 10, 12, 13 };
    const eddy_allocator a = { .allocate = counted, .release = released };
    uint64_t             hashes[200];
    eddy_dataset        *d = pipeline(some[_i], &a);
    read_hashes(d, hashes, 200);
    /* Threads may all be making a record at the same time for the first time later. */
    const long before = allocations, spare = some[_i] == 1 ? 12 : 0;
    ck_assert_int_gt(before, 0);
    read_hashes(d, hashes, 200);
    ck_assert_msg(allocations - before <= spare, "pipeline %d: %ld allocations", some[_i],
                  allocations - before);
    eddy_dataset_free(d);
    ck_assert_int_eq(live, 0);
}
END_TEST

Suite *datasets_suite(void)
{
    Suite *s = suite_create("datasets");
    TCase *t = tcase_create("stages");
    tcase_add_test(t, parts);
    tcase_add_loop_test(t, interleaves_as_tensorflow, 0, 2);
    tcase_add_test(t, nothing);
    tcase_add_test(t, types);
    tcase_add_test(t, padded_batches);
    tcase_add_loop_test(t, buckets, 0, 2);
    tcase_add_test(t, philox);
    tcase_add_loop_test(t, orders_are_uniform, 0, 2);
    tcase_add_loop_test(t, shuffled_once_each, 0, 5);
    suite_add_tcase(s, t);
    t = tcase_create("threads");
    tcase_set_tags(t, "threads");
    tcase_add_loop_test(t, same_with_any_threads, 0, 15);
    tcase_add_loop_test(t, resumes, 0, 15);
    tcase_add_loop_test(t, begins_epochs, 0, 15);
    tcase_add_loop_test(t, memory_is_used_again, 0, 11);
    suite_add_tcase(s, t);
    return s;
}
