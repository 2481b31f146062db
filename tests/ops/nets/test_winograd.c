/* test_winograd.c -- convolutions by Winograd's minimal filtering against the same operations in
 * float64, which test_conv.c compares with loops, and against direct sums where both must agree. */
#include "ops/nets/conv2d_fused.h"
#include "tests/lib/checks.h"
#include "tests/lib/levels.h"
#include "tests/lib/third_rows.h"
#include "build/gen/table.h"

#include <math.h>

Suite *winograd_suite(void);

typedef struct sizes {
    int64_t     side, batch, h, w, in_c, out_c;  /* side: of the filter */
    const char *padding;
    eddy_dims   zeros;               /* top, bottom, left, right */
} sizes;

/* The inputs, and the three results: of the convolution and its gradients. */
enum { X, W, DY, INPUTS };
enum { Y, DX, DW, RESULTS };
typedef struct values {
    eddy_array *at[INPUTS];
} values;
typedef struct results {
    eddy_array *at[RESULTS];
} results;

static double random_number(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(float)((double)(state >> 11) / 4503599627370496.0 - 1);
}

/* The shape of input k; that of the result as the op has it. */
static eddy_shape shape_of(const sizes *s, int k)
{
    if (k == X) return EDDY_SHAPE(s->batch, s->h, s->w, s->in_c);
    if (k == W) return EDDY_SHAPE(s->side, s->side, s->in_c, s->out_c);
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor y = eddy_conv2d(
        eddy_placeholder(g, NULL, EDDY_FLOAT32, shape_of(s, X)),
        eddy_placeholder(g, NULL, EDDY_FLOAT32, shape_of(s, W)), .padding = s->padding,
        .explicit_paddings = eddy_dims_or(s->zeros, EDDY_OMITTED_DIMS));
    fits(g);
    const eddy_shape shape = eddy_shape_of(y);
    eddy_graph_free(g);
    return shape;
}

static values random_values(const sizes *s)
{
    values v;
    for (int k = 0; k < INPUTS; k++) {
        v.at[k] = eddy_array_new(EDDY_FLOAT32, shape_of(s, k));
        for (int64_t i = 0; i < eddy_array_count(v.at[k]); i++)
            eddy_array_set(v.at[k], i, random_number());
    }
    return v;
}

static void free_arrays(int n, eddy_array **a)
{
    for (int k = 0; k < n; k++) eddy_array_free(a[k]);
}

/* The three ops on v, or on its absolute values. */
static results run_all(const sizes *s, const values *v, eddy_dtype d, bool absolute, int threads)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor t[INPUTS], in[INPUTS];
    results     r = { { NULL } };
    for (int k = 0; k < INPUTS; k++) {
        t[k] = eddy_placeholder(g, NULL, EDDY_FLOAT32, shape_of(s, k));
        in[k] = Cast(absolute ? Abs(t[k]) : t[k], d);
    }
    const eddy_tensor y =
        eddy_conv2d(in[X], in[W], .padding = s->padding,
                    .explicit_paddings = eddy_dims_or(s->zeros, EDDY_OMITTED_DIMS));
    const eddy_conv2d_backprop_args a = *EDDY_ARGS(
        eddy_conv2d_backprop_args, .x = in[X], .filter = in[W], .dy = in[DY], .padding = s->padding,
        .explicit_paddings = eddy_dims_or(s->zeros, EDDY_OMITTED_DIMS));
    const eddy_tensor dx = eddy_conv2d_backprop_input_with(&a);
    const eddy_tensor dw = eddy_conv2d_backprop_filter_with(&a);
    eddy_session *session = eddy_session_new(g, .threads = threads);
    const eddy_feed feeds[] = { { t[X], v->at[X] }, { t[W], v->at[W] }, { t[DY], v->at[DY] } };
    fits(g);
    eddy_run(session, (eddy_feeds){ 3, feeds }, EDDY_FETCH(y, dx, dw), r.at);
    ck_assert_msg(eddy_session_status(session) == EDDY_OK, "%s", eddy_session_message(session));
    eddy_session_free(session);
    eddy_graph_free(g);
    return r;
}

static results run_by(eddy_conv_method m, const sizes *s, const values *v, int threads)
{
    eddy__conv_method_ask(m);
    const results r = run_all(s, v, EDDY_FLOAT32, false, threads);
    eddy__conv_method_ask(EDDY_CONV_BY_RULE);
    return r;
}

static bool same_bits(const eddy_array *a, const eddy_array *b)
{
    return memcmp(eddy_array_data(a), eddy_array_data(b),
                  (size_t)eddy_array_count(a) * sizeof(float)) == 0;
}

/* -------------------------------------------------------------- accuracy -- */

static const sizes cases[] = {
    { 3, 2, 8, 8, 16, 16, "SAME", { 0 } },   { 3, 3, 32, 32, 16, 16, "SAME", { 0 } },
    { 3, 3, 16, 16, 32, 32, "SAME", { 0 } }, { 3, 1, 8, 8, 64, 64, "SAME", { 0 } },
    { 3, 1, 7, 7, 16, 24, "SAME", { 0 } },   { 3, 3, 5, 9, 33, 16, "SAME", { 0 } },
    { 3, 3, 5, 9, 16, 33, "VALID", { 0 } },  { 3, 3, 1, 1, 16, 16, "SAME", { 0 } },
    { 3, 1, 1, 6, 24, 24, "SAME", { 0 } },   { 3, 1, 3, 3, 17, 80, "VALID", { 0 } },
    { 3, 1, 6, 6, 80, 48, "VALID", { 0 } },  { 3, 3, 13, 4, 40, 72, "VALID", { 0 } },
    { 3, 1, 5, 4, 16, 16, "EXPLICIT", { NULL, 4, { 0, 3, 5, 1 } } },
    { 3, 3, 9, 7, 24, 33, "EXPLICIT", { NULL, 4, { 2, 2, 2, 2 } } },
    { 3, 1, 4, 11, 20, 31, "EXPLICIT", { NULL, 4, { 4, 0, 0, 7 } } },
    { 3, 2, 6, 7, 1, 3, "SAME", { 0 } },     { 3, 1, 9, 10, 5, 1, "VALID", { 0 } },
    { 3, 65, 2, 3, 8, 12, "SAME", { 0 } },   { 3, 0, 8, 8, 16, 16, "SAME", { 0 } },
    { 3, 6, 15, 13, 96, 104, "SAME", { 0 } },
    { 5, 2, 14, 14, 32, 64, "SAME", { 0 } }, { 5, 3, 32, 32, 16, 16, "SAME", { 0 } },
    { 5, 1, 8, 8, 64, 64, "SAME", { 0 } },   { 5, 1, 7, 7, 16, 24, "SAME", { 0 } },
    { 5, 3, 5, 9, 33, 16, "SAME", { 0 } },   { 5, 3, 5, 9, 16, 33, "VALID", { 0 } },
    { 5, 3, 1, 1, 16, 16, "SAME", { 0 } },   { 5, 1, 1, 6, 24, 24, "SAME", { 0 } },
    { 5, 1, 5, 5, 17, 80, "VALID", { 0 } },  { 5, 3, 13, 6, 40, 72, "VALID", { 0 } },
    { 5, 1, 5, 4, 16, 16, "EXPLICIT", { NULL, 4, { 0, 5, 7, 1 } } },
    { 5, 3, 9, 7, 24, 33, "EXPLICIT", { NULL, 4, { 4, 4, 4, 4 } } },
    { 5, 1, 4, 11, 20, 31, "EXPLICIT", { NULL, 4, { 6, 0, 0, 9 } } },
    { 5, 2, 6, 7, 1, 3, "SAME", { 0 } },     { 5, 1, 9, 10, 5, 1, "VALID", { 0 } },
    { 5, 65, 2, 3, 8, 12, "SAME", { 0 } },   { 5, 0, 8, 8, 16, 16, "SAME", { 0 } },
};
enum { CASES = sizeof cases / sizeof *cases, LEVELS = EDDY_AVX512 + 1 };

/* Within eight millionths of the largest sum of the terms' sizes: of a sum of one term, the
 * gradient of a filter from one pixel, it is at most 4.8 in 3000 draws. */
static void compare(int at, const eddy_array *got, const eddy_array *want, const eddy_array *size)
{
    const int64_t n = eddy_array_count(got);
    double most = 0;
    ck_assert(eddy_shape_equal(eddy_array_shape(got), eddy_array_shape(want)));
    for (int64_t i = 0; i < n; i++) most = fmax(most, eddy_array_get(size, i));
    for (int64_t i = 0; i < n; i++) {
        const double v = eddy_array_get(got, i), w = eddy_array_get(want, i);
        ck_assert_msg(fabs(v - w) <= 8e-6 * most, "result %d, element %lld is %.9g, not %.9g", at,
                      (long long)i, v, w);
    }
}

START_TEST(accurate)
{
    const sizes *s = &cases[_i % CASES];
    if (!limit_to(_i / CASES)) return;
    values  v = random_values(s);
    results got = run_by(EDDY_CONV_WINOGRAD, s, &v, 1);
    results want = run_all(s, &v, EDDY_FLOAT64, false, 1);
    results size = run_all(s, &v, EDDY_FLOAT64, true, 1);
    for (int k = 0; k < RESULTS; k++) compare(k, got.at[k], want.at[k], size.at[k]);
    free_arrays(RESULTS, got.at);
    free_arrays(RESULTS, want.at);
    free_arrays(RESULTS, size.at);
    free_arrays(INPUTS, v.at);
    eddy__instructions_limit(EDDY_AVX512);
}
END_TEST

/* The comparison above is of another method than direct sums, which some bits show. */
START_TEST(another_method)
{
    const sizes s = { 3 + 2 * _i, 3, 32, 32, 16, 16, "SAME", { 0 } };
    values  v = random_values(&s);
    results one = run_by(EDDY_CONV_WINOGRAD, &s, &v, 1);
    results two = run_by(EDDY_CONV_DIRECT, &s, &v, 1);
    for (int k = 0; k < RESULTS; k++) ck_assert(!same_bits(one.at[k], two.at[k]));
    free_arrays(RESULTS, one.at);
    free_arrays(RESULTS, two.at);
    free_arrays(INPUTS, v.at);
}
END_TEST

/* --------------------------------------------------------- what is special -- */

/* Infinity, NaN or a product that overflows, in a corner or amid one of the inputs: the
 * results are those of direct sums. */
START_TEST(not_finite)
{
    static const double odd[] = { INFINITY, -INFINITY, NAN, 3e38 };
    const sizes s = { _i / (4 * INPUTS * LEVELS) ? 5 : 3, 2, 9, 8, 17, 20, "SAME", { 0 } };
    const int   k = _i / 4 % INPUTS;
    if (!limit_to(_i / 4 / INPUTS % LEVELS)) return;
    values        v = random_values(&s);
    const int64_t n = eddy_array_count(v.at[k]);
    const int64_t places[] = { 0, n / 2, n - 1 };
    for (int at = 0; at < 3; at++) {
        const double before = eddy_array_get(v.at[k], places[at]);
        eddy_array_set(v.at[k], places[at], odd[_i % 4]);
        results one = run_by(EDDY_CONV_WINOGRAD, &s, &v, 1);
        results two = run_by(EDDY_CONV_DIRECT, &s, &v, 1);
        /* Of the tiles with 3e38, only those that overflow are computed again. */
        for (int r = 0; r < RESULTS; r++)
            for (int64_t i = 0; i < eddy_array_count(one.at[r]); i++) {
                const double a = eddy_array_get(one.at[r], i), b = eddy_array_get(two.at[r], i);
                ck_assert(isfinite(a) == isfinite(b) && isnan(a) == isnan(b));
                ck_assert(!isinf(a) || a == b);
            }
        eddy_array_set(v.at[k], places[at], before);
        free_arrays(RESULTS, one.at);
        free_arrays(RESULTS, two.at);
    }
    free_arrays(INPUTS, v.at);
    eddy__instructions_limit(EDDY_AVX512);
}
END_TEST

/* Only intermediate values overflow: direct sums again, to the bit. */
START_TEST(too_large)
{
    const sizes s = { 3 + 2 * _i, 1, 8, 8, 16, 16, "SAME", { 0 } };
    values      v = random_values(&s);
    for (int k = 0; k < INPUTS; k++)
        for (int64_t i = 0; i < eddy_array_count(v.at[k]); i++)
            eddy_array_set(v.at[k], i, k == W ? 1e-6 * eddy_array_get(v.at[k], i)
                                              : i % 3 ? -3e38 : 3e38);
    results one = run_by(EDDY_CONV_WINOGRAD, &s, &v, 2), two = run_by(EDDY_CONV_DIRECT, &s, &v, 1);
    for (int k = 0; k < RESULTS; k++) ck_assert(same_bits(one.at[k], two.at[k]));
    for (int64_t i = 0; i < eddy_array_count(one.at[Y]); i++)
        ck_assert(isfinite(eddy_array_get(one.at[Y], i)));
    free_arrays(RESULTS, one.at);
    free_arrays(RESULTS, two.at);
    free_arrays(INPUTS, v.at);
}
END_TEST

/* Blocks and chunks are cut otherwise for several threads; the bits are the same. */
START_TEST(threads)
{
    static const sizes large[] = { { 3, 5, 32, 31, 16, 16, "SAME", { 0 } },
                                   { 3, 16, 15, 9, 40, 33, "VALID", { 0 } },
                                   { 3, 6, 15, 13, 96, 104, "SAME", { 0 } },
                                   { 5, 5, 32, 31, 16, 16, "SAME", { 0 } },
                                   { 5, 16, 15, 9, 40, 33, "VALID", { 0 } } };
    values  v = random_values(&large[_i]);
    results one = run_by(EDDY_CONV_WINOGRAD, &large[_i], &v, 1);
    for (int n = 2; n <= 4; n++) {
        results some = run_by(EDDY_CONV_WINOGRAD, &large[_i], &v, n);
        for (int k = 0; k < RESULTS; k++) ck_assert(same_bits(one.at[k], some.at[k]));
        free_arrays(RESULTS, some.at);
    }
    free_arrays(RESULTS, one.at);
    free_arrays(INPUTS, v.at);
}
END_TEST

static eddy_tensor noise(eddy_graph *g, eddy_shape s)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, random_number());
    const eddy_tensor t = eddy_constant(g, a, NULL);
    eddy_array_free(a);
    return eddy_placeholder_with_default(t, NULL, s);
}

/* Large filters, whose channels threads divide, and products of patches, which have the bits of
 * direct sums, with a stride of two. */
START_TEST(large_filters)
{
    static const int64_t step[] = { 1, 2 };
    const eddy_dims      steps = EDDY_DIMS(step[_i]);
    eddy_graph          *g = eddy_graph_new();
    const eddy_tensor    x = noise(g, EDDY_SHAPE(2, 7, 9, 130));
    const eddy_tensor    w = noise(g, EDDY_SHAPE(5, 3, 130, 190));
    const eddy_tensor    bias = noise(g, EDDY_SHAPE(190));
    const eddy_tensor    y = Relu(BiasAdd(eddy_conv2d(x, w, steps, .padding = "SAME"), bias));
    eddy_array          *want = NULL;
    fits(g);
    for (int n = 1; n <= 4; n++) {
        eddy_session *session = eddy_session_new(g, .threads = n);
        eddy_array   *got = NULL;
        eddy__conv_method_ask(n == 1 ? EDDY_CONV_DIRECT : EDDY_CONV_BY_RULE);
        ck_assert_int_eq(eddy_run(session, EDDY_FEED(), EDDY_FETCH(y), &got), EDDY_OK);
        if (n == 1) want = got;
        else ck_assert(same_bits(want, got));
        if (n > 1) eddy_array_free(got);
        eddy_session_free(session);
    }
    eddy__conv_method_ask(EDDY_CONV_BY_RULE);
    eddy_array_free(want);
    eddy_graph_free(g);
}
END_TEST

typedef eddy_fused_conv_attrs fused;

/* With a bias, a sum and relu folded in, it has the bits of the four ops. */
START_TEST(folded)
{
    eddy_graph       *g = eddy_graph_new();
    const int64_t     side = _i / 8 ? 5 : 3;
    const eddy_tensor x = noise(g, EDDY_SHAPE(2, 9, 7, 16));
    const eddy_tensor w = noise(g, EDDY_SHAPE(side, side, 16, 21));
    const eddy_tensor bias = noise(g, EDDY_SHAPE(21)), other = noise(g, EDDY_SHAPE(2, 9, 7, 21));
    const eddy_dims   none = { 0 };
    const fused f = { eddy__conv_attrs_of(none, "SAME", none, none, NULL), _i & 1, _i >> 1 & 1,
                      _i >> 2 & 1 };
    eddy_tensor in[4] = { x, w }, y = eddy_conv2d(x, w, .padding = "SAME");
    int         n = 2;
    if (f.has_bias) in[n++] = bias, y = BiasAdd(y, bias);
    if (f.has_residual) in[n++] = other, y = Add(y, other);
    if (f.activation) y = Relu(y);
    const eddy_tensor z = eddy_apply(&eddy_op_fused_conv2d, &f, n, in, (eddy_apply_args){ 0 });
    eddy_array   *got[2] = { NULL };
    eddy_session *session = eddy_session_new(g);
    fits(g);
    eddy__conv_method_ask(EDDY_CONV_WINOGRAD);
    ck_assert_int_eq(eddy_run(session, EDDY_FEED(), EDDY_FETCH(y, z), got), EDDY_OK);
    eddy__conv_method_ask(EDDY_CONV_BY_RULE);
    ck_assert(eddy_array_equal(got[0], got[1]));
    free_arrays(2, got);
    eddy_session_free(session);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------ rule -- */

static eddy_conv_size square(int64_t batch, int64_t side, int64_t in_c, int64_t out_c)
{
    return (eddy_conv_size){ .batch = batch, .in_c = in_c, .out_c = out_c, .groups = 1,
                             .in = { side, side }, .out = { side, side }, .filter = { 3, 3 },
                             .step = { 1, 1 }, .gap = { 1, 1 }, .before = { 1, 1 } };
}

static eddy_conv_size square_5x5(int64_t batch, int64_t side, int64_t in_c, int64_t out_c)
{
    eddy_conv_size s = square(batch, side, in_c, out_c);
    for (int i = 0; i < 2; i++) s.filter[i] = 5, s.before[i] = 2;
    return s;
}

static eddy_conv_method method(eddy_conv_size s) { return eddy__conv_method_of(EDDY_FLOAT32, &s); }

START_TEST(chosen_where_faster)
{
    ck_assert_int_eq(method(square(32, 32, 16, 16)), EDDY_CONV_WINOGRAD);
    ck_assert_int_eq(method(square(32, 16, 32, 32)), EDDY_CONV_WINOGRAD);
    ck_assert_int_eq(method(square(32, 8, 64, 64)), EDDY_CONV_WINOGRAD);
    ck_assert_int_eq(method(square(32, 7, 32, 32)), EDDY_CONV_WINOGRAD);
    ck_assert_int_eq(method(square(1, 14, 256, 256)), EDDY_CONV_WINOGRAD);
    ck_assert_int_eq(method(square(8, 7, 512, 512)), EDDY_CONV_WINOGRAD);
    ck_assert_int_eq(method(square(1, 7, 512, 512)), EDDY_CONV_DIRECT);
    ck_assert_int_eq(method(square(32, 5, 32, 32)), EDDY_CONV_DIRECT);
    ck_assert_int_eq(method(square(1, 4, 64, 64)), EDDY_CONV_DIRECT);
    ck_assert_int_eq(method(square(32, 32, 3, 16)), EDDY_CONV_DIRECT);
    ck_assert_int_eq(method(square(0, 32, 16, 16)), EDDY_CONV_DIRECT);
    ck_assert_int_eq(method(square_5x5(64, 14, 32, 64)), EDDY_CONV_WINOGRAD);
    ck_assert_int_eq(method(square_5x5(32, 32, 16, 16)), EDDY_CONV_WINOGRAD);
    ck_assert_int_eq(method(square_5x5(64, 28, 1, 32)), EDDY_CONV_DIRECT);
    ck_assert_int_eq(method(square_5x5(1, 4, 64, 64)), EDDY_CONV_DIRECT);
}
END_TEST

START_TEST(chosen_where_possible)
{
    const eddy_conv_size fine = square(32, 32, 32, 32);
    ck_assert_int_eq(eddy__conv_method_of(EDDY_FLOAT64, &fine), EDDY_CONV_DIRECT);
    for (int i = 0; i < 5; i++) {
        eddy_conv_size s = fine;
        if (i == 0) s.planes = true;
        if (i == 1) s.groups = 2;
        if (i == 2) s.step[1] = 2;
        if (i == 3) s.gap[0] = 2;
        if (i == 4) s.filter[1] = 5;
        eddy__conv_method_ask(EDDY_CONV_WINOGRAD);
        ck_assert_int_eq(method(s), EDDY_CONV_DIRECT);
        ck_assert_int_eq(method(fine), EDDY_CONV_WINOGRAD);
        eddy__conv_method_ask(EDDY_CONV_DIRECT);
        ck_assert_int_eq(method(fine), EDDY_CONV_DIRECT);
        eddy__conv_method_ask(EDDY_CONV_BY_RULE);
    }
}
END_TEST

Suite *winograd_suite(void)
{
    Suite *s = suite_create("winograd");
    TCase *c = tcase_create("winograd"), *many = tcase_create("other rows");
    tcase_set_tags(many, "many");
    tcase_set_timeout(c, 60);
    tcase_set_timeout(many, 60);
    add_third_rows(c, many, accurate, 0, CASES * LEVELS);
    tcase_add_loop_test(c, another_method, 0, 2);
    add_third_rows(c, many, not_finite, 0, 2 * 4 * INPUTS * LEVELS);
    tcase_add_loop_test(c, too_large, 0, 2);
    tcase_add_loop_test(c, threads, 0, 5);
    tcase_add_loop_test(c, large_filters, 0, 2);
    tcase_add_loop_test(c, folded, 0, 16);
    tcase_add_test(c, chosen_where_faster);
    tcase_add_test(c, chosen_where_possible);
    suite_add_tcase(s, c);
    suite_add_tcase(s, many);
    return s;
}
