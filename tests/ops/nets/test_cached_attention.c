/* test_cached_attention.c -- attention to the filled rows of a table against attention to those
 * rows alone, with tables of which the other rows are NaN. */
#include "build/gen/suites.h"
#include "graph/base/cpu.h"
#include "ops/short_names.h"
#include "tests/lib/array_trial.h"
#include "tests/lib/golden.h"

#include <math.h>

enum { MOST = 70 };

typedef struct sizes {
    int64_t heads, s, t, d, e, length;
    bool    causal;
} sizes;

static sizes some_sizes(trial *t)
{
    const int64_t all[] = { 1, 2, 3, 15, 16, 17, 32, 33, 48, MOST };
    sizes z = { .heads = 1 + pick(t, 3), .t = all[pick(t, 10)], .d = all[pick(t, 8)],
                .e = all[pick(t, 8)], .causal = pick(t, 2) };
    z.length = 1 + pick(t, (int)z.t);
    z.s = pick(t, 2) ? 1 : 1 + pick(t, (int)z.length);
    return z;
}

/* [1, heads, rows, columns], with NaN from row `filled` on. */
static eddy_array *table(trial *t, eddy_dtype d, int64_t heads, int64_t rows, int64_t columns,
                         int64_t filled)
{
    eddy_array *a = eddy_array_new(d, EDDY_SHAPE(1, heads, rows, columns));
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const bool in = i / columns % rows < filled;
        eddy_array_set(a, i, in ? (pick(t, 2001) - 1000) / 512.0 : (double)NAN);
    }
    return a;
}

/* The rows [0, n) of [1, heads, rows, columns]. */
static eddy_tensor first_rows(eddy_tensor x, int64_t n)
{
    return eddy_slice(x, EDDY_DIMS(0, 0, 0, 0), EDDY_DIMS(-1, -1, n, -1));
}

/* Row i of q alone, which sees `see` rows. */
static eddy_tensor one_row(const sizes *z, eddy_tensor q, eddy_tensor k, eddy_tensor v, int64_t i)
{
    const int64_t see = z->causal ? z->length - z->s + i + 1 : z->length;
    return eddy_scaled_dot_product_attention(
        eddy_slice(q, EDDY_DIMS(0, 0, i, 0), EDDY_DIMS(-1, -1, 1, -1)), first_rows(k, see),
        first_rows(v, see));
}

START_TEST(filled_rows)
{
    trial        t = trial_begin((unsigned)_i);
    const sizes  z = some_sizes(&t);
    const bool   wide = pick(&t, 2);
    const eddy_dtype d = wide ? EDDY_FLOAT64 : EDDY_FLOAT32;
    eddy_tensor  rows[MOST];
    eddy__instructions_limit((eddy_instructions)(_i % 3));
    const eddy_tensor q = fed(&t, table(&t, d, z.heads, z.s, z.d, z.s));
    const eddy_tensor k = fed(&t, table(&t, d, z.heads, z.t, z.d, z.length));
    const eddy_tensor v = fed(&t, table(&t, d, z.heads, z.t, z.e, z.length));
    const eddy_tensor n = eddy_const(t.graph, EDDY_INT64, EDDY_SHAPE(1), &z.length);
    const eddy_tensor y = eddy_cached_attention(q, k, v, n, z.causal);
    for (int64_t i = 0; i < z.s; i++) rows[i] = one_row(&z, q, k, v, i);
    eddy_array *have = value(&t, y);
    eddy_array *want = value(&t, eddy_concat((eddy_list){ (int)z.s, rows }, 2));
    ck_assert(eddy_shape_equal(eddy_array_shape(have), eddy_array_shape(want)));
    for (int64_t i = 0; i < eddy_array_count(want); i++)
        ck_assert_msg(fabs(eddy_array_get(have, i) - eddy_array_get(want, i)) <
                          (wide ? 1e-13 : 1e-5),
                      "element %d is %.17g, not %.17g", (int)i, eddy_array_get(have, i),
                      eddy_array_get(want, i));
    eddy_array_free(have);
    eddy_array_free(want);
    eddy__instructions_limit(EDDY_AVX512);
    trial_end(&t);
}
END_TEST

START_TEST(no_rows)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor q = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 1, 3, 2));
    const eddy_tensor k = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 1, 4, 2));
    const eddy_tensor n = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 0, 2 });
    eddy_session *s = eddy_session_new(g);
    eddy_array   *y = eddy_fetch(s, eddy_cached_attention(q, k, k, n, .causal = true));
    ck_assert_msg(y != NULL, "%s", eddy_session_message(s));
    for (int i = 0; i < 12; i++) ck_assert(eddy_array_get(y, i) == (i < 8 ? 0 : 1));
    eddy_array_free(y);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

START_TEST(messages)
{
    eddy_graph *g = eddy_graph_new();
    eddy_session *s = eddy_session_new(g);
    const eddy_tensor q = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 1, 3, 2));
    const eddy_tensor k = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 1, 4, 2));
    const eddy_tensor n = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 3, 5 });
    const eddy_tensor more = eddy_const(g, EDDY_INT32, EDDY_SHAPE(3), (int32_t[]){ 3, 5, 1 });
    golden_begin("ops/cached_attention");
    eddy_cached_attention(q, k, q, n), golden_graph(g);
    eddy_cached_attention(q, k, k, more), golden_graph(g);
    eddy_cached_attention(q, k, k, Cast(n, EDDY_FLOAT32)), golden_graph(g);
    eddy_cached_attention(Squeeze(q, EDDY_AXES(1)), k, k, n), golden_graph(g);
    ck_assert(!eddy_fetch(s, eddy_cached_attention(q, k, k, n)));
    golden_line(eddy_session_message(s));
    golden_end();
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

Suite *cached_attention_suite(void)
{
    Suite *suite = suite_create("cached_attention");
    TCase *t = tcase_create("cached_attention");
    tcase_add_loop_test(t, filled_rows, 0, 150);
    tcase_add_test(t, no_rows);
    tcase_add_test(t, messages);
    suite_add_tcase(suite, t);
    return suite;
}
