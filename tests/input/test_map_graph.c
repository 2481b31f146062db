/* test_map_graph.c -- the values that eddy_dataset_map_graph makes of records: with variables, with
 * keys for random numbers, by threads, and after a position was restored. */
#include "build/gen/suites.h"
#include "tests/lib/datasets.h"

#include <string.h>

enum { N = 7 };

/* x * w + y with a variable w of [2, 3], and y + 1. */
static eddy_dataset *affine(eddy_graph *g, eddy_dataset *d)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2));
    eddy_tensor y = eddy_placeholder(g, "y", EDDY_INT32, EDDY_SCALAR);
    eddy_tensor v = eddy_variable(g, eddy_floats(g, 2, 3), .name = "w");
    eddy_tensor z = eddy_add(eddy_mul(x, v), eddy_cast(y, EDDY_FLOAT32));
    eddy_tensor next = eddy_add(y, eddy_ints(g, 1));
    return eddy_dataset_map_graph(d, g, EDDY_LIST(x, y), EDDY_LIST(z, next));
}

START_TEST(values)
{
    for (int threads = 0; threads < 3; threads++) {
        for (int stream = 0; stream < 2; stream++) {
            eddy_graph       *g = eddy_graph_new();
            eddy_dataset     *d = affine(g, stream ? streamed(N, NULL) : numbered(N, NULL));
            const eddy_array *r[2];
            if (threads > 0) d = eddy_dataset_prefetch(d, .threads = threads);
            ck_assert_int_eq(eddy_dataset_width(d), 2);
            ck_assert(eddy_shape_equal(eddy_dataset_component(d, 0).shape, EDDY_SHAPE(2)));
            ck_assert_int_eq(eddy_dataset_component(d, 1).dtype, EDDY_INT32);
            for (int i = 0; i < 2 * (N + 1); i++) {
                const int k = i % (N + 1);
                ck_assert(eddy_dataset_next(d, r) == (k < N));
                no_error(d);
                if (k == N) continue;
                ck_assert(eddy_array_get(r[0], 0) == 2 * k + k);
                ck_assert(eddy_array_get(r[0], 1) == 3 * (k + 0.5) + k);
                ck_assert(eddy_array_item(r[1]) == k + 1);
            }
            eddy_dataset_free(d);
            eddy_graph_free(g);
        }
    }
}
END_TEST

/* Random numbers that are a function of the epoch and the number of the record. */
static eddy_dataset *noisy(eddy_graph *g, int threads)
{
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2));
    eddy_tensor   y = eddy_placeholder(g, "y", EDDY_INT32, EDDY_SCALAR);
    eddy_tensor   key = eddy_placeholder(g, "key", EDDY_INT64, EDDY_SHAPE(2));
    eddy_tensor   noise = eddy_stateless_random_uniform(EDDY_SHAPE(2), key);
    eddy_dataset *d = eddy_dataset_shuffle(numbered(N, NULL), .seed = 3);
    d = eddy_dataset_map_graph(d, g, EDDY_LIST(x, y), EDDY_LIST(eddy_add(x, noise), key), key);
    return threads ? eddy_dataset_prefetch(d, .threads = threads) : d;
}

START_TEST(keys)
{
    uint64_t first[3 * N], again[3 * N];
    for (int threads = 0; threads < 4; threads++) {
        eddy_graph       *g = eddy_graph_new();
        eddy_dataset     *d = noisy(g, threads);
        const eddy_array *r[2];
        for (int i = 0; i < 2 * (N + 1); i++) {
            if (!eddy_dataset_next(d, r)) continue;
            const double fraction = eddy_array_get(r[0], 0) - eddy_array_get(r[1], 1);
            ck_assert(fraction >= 0 && fraction < 1);
            ck_assert(eddy_array_get(r[1], 0) == i / (N + 1));
        }
        no_error(d);
        ck_assert_int_eq(eddy_dataset_begin(d, 0), EDDY_OK);
        ck_assert_int_eq(read_hashes(d, threads ? again : first, 2 * N), 2 * N);
        if (threads) ck_assert(memcmp(first, again, 2 * N * sizeof *first) == 0);
        eddy_dataset_free(d);
        eddy_graph_free(g);
    }
}
END_TEST

/* The records after a position was restored are those that would have come. */
START_TEST(resumed)
{
    eddy_graph   *g[] = { eddy_graph_new(), eddy_graph_new() };
    eddy_dataset *d = noisy(g[0], 2), *other = noisy(g[1], 2);
    uint64_t      want[N], got[N];
    for (int i = 0; i < 4; i++) ck_assert(eddy_dataset_next(d, NULL));
    ck_assert_int_eq(eddy_dataset_seek(other, eddy_dataset_position(d)), EDDY_OK);
    ck_assert_int_eq(read_hashes(d, want, N), N);
    ck_assert_int_eq(read_hashes(other, got, N), N);
    ck_assert(memcmp(want, got, sizeof want) == 0);
    for (int i = 0; i < 2; i++) {
        eddy_dataset_free(i ? other : d);
        eddy_graph_free(g[i]);
    }
}
END_TEST

Suite *map_graph_suite(void)
{
    Suite *s = suite_create("map_graph");
    TCase *t = tcase_create("values");
    tcase_add_test(t, values);
    tcase_add_test(t, keys);
    tcase_add_test(t, resumed);
    suite_add_tcase(s, t);
    return s;
}
