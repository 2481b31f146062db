/* test_product_blocks.c -- products of small whole numbers that are so large that they are computed
 * in blocks, or so thin that they are computed by vectors; every element is known exactly. */
#include "tests/lib/checks.h"
#include "ops/short_names.h"

#include <stdlib.h>

Suite *product_blocks_suite(void);

/* Element i, j of the factors. */
static int64_t left(int64_t i, int64_t j)  { return (3 * i + j) % 5; }
static int64_t right(int64_t i, int64_t j) { return (i + 2 * j) % 7 - 3; }

/* A matrix of these elements, or the transpose of one. */
static eddy_array *elements_of(eddy_dtype d, int64_t m, int64_t n, bool turned,
                          int64_t (*element)(int64_t, int64_t))
{
    eddy_array *a = eddy_array_new(d, turned ? EDDY_SHAPE(n, m) : EDDY_SHAPE(m, n));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            eddy_array_set(a, turned ? j * m + i : i * n + j, (double)element(i, j));
    return a;
}

static double exact(int64_t i, int64_t j, int64_t k)
{
    int64_t sum = 0;
    for (int64_t q = 0; q < k; q++) sum += left(i, q) * right(q, j);
    return (double)sum;
}

/* The product with one added to each element, which may be fused into it. */
static void check(eddy_dtype d, int64_t m, int64_t n, int64_t k, bool turn_a, bool turn_b)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_array   *a = elements_of(d, m, k, turn_a, left), *b = elements_of(d, k, n, turn_b, right);
    eddy_array   *out[1] = { NULL };
    eddy_tensor   x = eddy_placeholder(g, "a", d, eddy_array_shape(a));
    eddy_tensor   w = eddy_placeholder(g, "b", d, eddy_array_shape(b));
    eddy_tensor   y = eddy_matmul(x, w, .transpose_a = turn_a, .transpose_b = turn_b);
    eddy_session *s = eddy_session_new(g, .threads = 2);
    y = Add(y, eddy_ones(g, d, EDDY_SHAPE(n)));
    ck_assert_msg(eddy_run(s, EDDY_FEED({ x, a }, { w, b }), EDDY_FETCH(y), out) == EDDY_OK, "%s",
                  eddy_session_message(s));
    for (int64_t i = 0; i < m; i += 1 + m / 40)
        for (int64_t j = 0; j < n; j += 1 + n / 40)
            ck_assert_double_eq(eddy_array_get(out[0], i * n + j), exact(i, j, k) + 1);
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_array_free(out[0]);
    eddy_session_free(s);
    eddy_graph_free(g);
}

START_TEST(large_products)
{
    static const struct { eddy_dtype d; int64_t m, n, k; } of[] = {
        { EDDY_FLOAT64, 3100, 300, 350 }, { EDDY_FLOAT64, 90, 70, 60000 },
        { EDDY_FLOAT64, 1, 3000, 3001 },  { EDDY_COMPLEX128, 333, 500, 310 },
        { EDDY_INT32, 290, 301, 400 },    { EDDY_FLOAT64, 3000, 1, 3001 },
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        check(of[i].d, of[i].m, of[i].n, of[i].k, _i & 1, _i & 2);
}
END_TEST

/* One to three columns or rows, for which a matrix may be multiplied by vectors. */
START_TEST(few_columns)
{
    static const eddy_dtype types[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_COMPLEX64,
                                        EDDY_COMPLEX128, EDDY_INT64 };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int few = 1; few < 4; few++) {
            check(types[i], 700, few, 520, _i & 1, _i & 2);
            check(types[i], few, 90, 40, _i & 1, _i & 2);
            check(types[i], few, 710, 520, _i & 1, _i & 2);
        }
}
END_TEST

Suite *product_blocks_suite(void)
{
    Suite *s = suite_create("product_blocks");
    TCase *c = tcase_create("product_blocks");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, large_products, 0, 4);
    tcase_add_loop_test(c, few_columns, 0, 4);
    suite_add_tcase(s, c);
    return s;
}
