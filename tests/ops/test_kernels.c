/* test_kernels.c -- kernels that reduce and move many elements: equal bits from each instruction
 * set and for any number of threads, values at the boundaries of blocks, and blocks that are
 * processed in parts. */
#include "../../eddy.h"
#include "graph/base/cpu.h"
#include "ops/kernels/reduction/reduce_engine.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *kernels_suite(void);

#define S EDDY_SHAPE

/* Repeatable, in [-1, 1). */
static double number_at(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 12) * 0x1p-51 - 1;
}

static eddy_array *numbers(eddy_dtype d, eddy_shape s)
{
    eddy_array *a = eddy_array_new(d, s);
    ck_assert_ptr_nonnull(a);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, number_at((uint64_t)i));
    return a;
}

static eddy_array *integers(int64_t n, int64_t limit)
{
    eddy_array *a = eddy_array_new(EDDY_INT32, S(n));
    ck_assert_ptr_nonnull(a);
    for (int64_t i = 0; i < n; i++)
        eddy_array_set(a, i, floor((number_at((uint64_t)i) + 1) / 2 * (double)limit));
    return a;
}

/* ------------------------------------------------------------- the same bits -- */

#define BUILD(name, value)                                                      \
    static eddy_tensor name(eddy_tensor x, eddy_tensor ids)                     \
    {                                                                           \
        (void)x; (void)ids;                                                     \
        return value;                                                           \
    }
BUILD(sum, eddy_sum(x))
BUILD(mean, eddy_mean(x))
BUILD(max, eddy_max(x))
BUILD(prod, eddy_prod(eddy_exp(x)))
BUILD(l2, eddy_l2_loss(x))
BUILD(sum_first, eddy_sum(x, .axes = EDDY_AXES(0)))
BUILD(min_first, eddy_min(x, .axes = EDDY_AXES(0)))
BUILD(sum_middle, eddy_sum(x, .axes = EDDY_AXES(1)))
BUILD(sum_last, eddy_sum(x, .axes = EDDY_AXES(-1)))
BUILD(max_last, eddy_max(x, .axes = EDDY_AXES(-1)))
BUILD(sum_ends, eddy_sum(x, .axes = EDDY_AXES(0, 2)))
BUILD(argmax_first, eddy_argmax(x, 0))
BUILD(argmin_last, eddy_argmin(x, -1))
BUILD(softmax, eddy_softmax(x))
BUILD(softmax_first, eddy_softmax(x, .axis = EDDY_AXES(0)))
BUILD(log_softmax, eddy_log_softmax(x))
BUILD(sparse, eddy_sparse_softmax_cross_entropy(ids, x))
BUILD(sparse_slope, eddy_output(eddy_sparse_softmax_cross_entropy(ids, x), 1))
BUILD(dense, eddy_softmax_cross_entropy(eddy_abs(x), x))
BUILD(flip, eddy_transpose(x))
BUILD(heads, eddy_transpose(x, EDDY_DIMS(2, 0, 3, 1, 4)))
BUILD(concat, eddy_concat(EDDY_LIST(x, x), 1))
BUILD(stack, eddy_stack(EDDY_LIST(x, x, x)))
BUILD(split, eddy_output(eddy_split(x, 4, 1), 2))
BUILD(unstack, eddy_output(eddy_unstack(x), 1))
BUILD(broadcast, eddy_broadcast_to(x, S(700, 300)))
BUILD(gather, eddy_gather(x, ids))
BUILD(gather_last, eddy_gather(x, ids, .axis = 1))
BUILD(gather_grad, eddy_gather_grad(eddy_gather(x, ids), ids, x))
BUILD(segment, eddy_unsorted_segment_sum(x, ids, 50))
BUILD(segment_max, eddy_unsorted_segment_max(x, ids, 50))
BUILD(one_hot, eddy_one_hot(ids, 200))
BUILD(uniform, eddy_random_uniform(x.graph, S(30001), .dtype = eddy_dtype_of(x), .seed = 3))
BUILD(normal, eddy_random_normal(x.graph, S(30001), .dtype = eddy_dtype_of(x), .seed = 3))

static const struct subject {
    eddy_tensor (*build)(eddy_tensor x, eddy_tensor ids);
    int64_t x[6], ids, limit;
} subjects[] = {
    { sum, { 300001 }, 0, 0 },
    { mean, { 17, 65537 }, 0, 0 },
    { max, { 300001 }, 0, 0 },
    { prod, { 1000 }, 0, 0 },
    { l2, { 70000 }, 0, 0 },
    { sum_first, { 12544, 64 }, 0, 0 },
    { sum_first, { 5000, 10 }, 0, 0 },
    { sum_first, { 300, 513 }, 0, 0 },
    { sum_first, { 40, 5000 }, 0, 0 },
    { sum_first, { 20, 7 }, 0, 0 },
    { min_first, { 9000, 33 }, 0, 0 },
    { sum_middle, { 30, 100, 64 }, 0, 0 },
    { sum_middle, { 3000, 4, 20 }, 0, 0 },
    { sum_last, { 5000, 65 }, 0, 0 },
    { sum_last, { 20000, 10 }, 0, 0 },
    { sum_last, { 7, 40000 }, 0, 0 },
    { max_last, { 5000, 65 }, 0, 0 },
    { sum_ends, { 8, 64, 196 }, 0, 0 },
    { argmax_first, { 50, 3000 }, 0, 0 },
    { argmin_last, { 3000, 50 }, 0, 0 },
    { softmax, { 3000, 65 }, 0, 0 },
    { softmax, { 3000, 10 }, 0, 0 },
    { softmax, { 3, 20000 }, 0, 0 },
    { softmax_first, { 20, 5000 }, 0, 0 },
    { log_softmax, { 3000, 65 }, 0, 0 },
    { sparse, { 3000, 65 }, 3000, 65 },
    { sparse_slope, { 3000, 65 }, 3000, 65 },
    { dense, { 3000, 65 }, 0, 0 },
    { flip, { 401, 1000 }, 0, 0 },
    { heads, { 8, 128, 3, 4, 32 }, 0, 0 },
    { concat, { 300, 500 }, 0, 0 },
    { stack, { 300, 500 }, 0, 0 },
    { split, { 300, 800 }, 0, 0 },
    { unstack, { 3, 200000 }, 0, 0 },
    { broadcast, { 300 }, 0, 0 },
    { gather, { 100, 129 }, 3000, 100 },
    { gather_last, { 500, 100 }, 300, 100 },
    { gather_grad, { 50, 129 }, 3000, 50 },
    { segment, { 3000, 129 }, 3000, 50 },
    { segment_max, { 3000, 129 }, 3000, 50 },
    { one_hot, { 1 }, 3000, 200 },
    { uniform, { 1 }, 0, 0 },
    { normal, { 1 }, 0, 0 },
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static eddy_array *computed(const struct subject *s, eddy_dtype d, eddy_instructions most,
                            int threads)
{
    eddy_graph *g = eddy_graph_new();
    eddy_shape  shape = { .rank = 0 };
    for (; s->x[shape.rank] > 0; shape.rank++) shape.dim[shape.rank] = s->x[shape.rank];
    const int64_t n = s->ids > 0 ? s->ids : 1;
    eddy_array *x = numbers(d, shape), *ids = integers(n, s->limit > 0 ? s->limit : 1);
    const eddy_tensor a = eddy_placeholder(g, "x", d, shape);
    const eddy_tensor b = eddy_placeholder(g, "ids", EDDY_INT32, S(n));
    const eddy_tensor y = s->build(a, b);
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    eddy__instructions_limit(most);
    eddy_session *session = eddy_session_new(g, .threads = threads);
    eddy_array *out[1] = { NULL };
    const eddy_status status =
        eddy_run(session, EDDY_FEED({ a, x }, { b, ids }), EDDY_FETCH(y), out);
    ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(session));
    eddy__instructions_limit(EDDY_AVX512);
    eddy_session_free(session);
    eddy_graph_free(g);
    eddy_array_free(x);
    eddy_array_free(ids);
    return out[0];
}

START_TEST(same_bits)
{
    static const struct { eddy_instructions most; int threads; } ways[] = {
        { EDDY_AVX2, 1 }, { EDDY_AVX512, 1 }, { EDDY_BASELINE, 3 }, { EDDY_AVX512, 2 },
        { EDDY_AVX512, 5 },
    };
    const struct subject *s = &subjects[_i / 2];
    const eddy_dtype d = _i % 2 == 0 ? EDDY_FLOAT32 : EDDY_FLOAT64;
    eddy_array *want = computed(s, d, EDDY_BASELINE, 1);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        eddy_array *y = computed(s, d, ways[i].most, ways[i].threads);
        ck_assert_int_eq(eddy_array_count(y), eddy_array_count(want));
        ck_assert_msg(memcmp(eddy_array_data(y), eddy_array_data(want),
                             eddy_array_bytes(y)) == 0,
                      "subject %d: other bits with instructions %d, %d threads", _i / 2,
                      (int)ways[i].most, ways[i].threads);
        eddy_array_free(y);
    }
    eddy_array_free(want);
}
END_TEST

/* ------------------------------------------------------------------- values -- */

static void *run_of(eddy_tensor (*build)(eddy_tensor x, eddy_tensor ids), const eddy_array *x,
                    eddy_array **y)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor a = eddy_placeholder(g, "x", eddy_array_dtype(x), eddy_array_shape(x));
    eddy_session *s = eddy_session_new(g);
    *y = NULL;
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ a, x }), EDDY_FETCH(build(a, a)), y), EDDY_OK);
    eddy_session_free(s);
    eddy_graph_free(g);
    return eddy_array_data(*y);
}

/* A sum of ten million elements is as accurate as one in float64. */
START_TEST(long_sum)
{
    const int64_t n = 10000000;
    eddy_array *x = eddy_array_new(EDDY_FLOAT32, S(n)), *y;
    float *at = eddy_array_data(x);
    double want = 0;
    for (int64_t i = 0; i < n; i++) want += (double)(at[i] = (float)(number_at((uint64_t)i) + 1));
    const float got = *(float *)run_of(sum, x, &y);
    ck_assert_msg(got == (float)want || fabs((double)got - want) <= 1e-7 * want,
                  "%.9g, not %.9g", (double)got, want);
    eddy_array_free(x);
    eddy_array_free(y);
}
END_TEST

/* [rows, width] to [width], against loops. */
static void check_columns(eddy_dtype d, int64_t rows, int64_t width)
{
    eddy_array *x = numbers(d, S(rows, width)), *y;
    run_of(sum_first, x, &y);
    for (int64_t c = 0; c < width; c++) {
        long double want = 0;
        for (int64_t r = 0; r < rows; r++) want += eddy_array_get(x, r * width + c);
        const double got = eddy_array_get(y, c), most = d == EDDY_FLOAT32 ? 1e-6 : 1e-14;
        ck_assert_msg(fabs(got - (double)want) <= most * (double)(rows + 1),
                      "column %d of [%d,%d]: %.17g, not %.17g", (int)c, (int)rows, (int)width, got,
                      (double)want);
    }
    eddy_array_free(x);
    eddy_array_free(y);
}

START_TEST(columns)
{
    static const int64_t widths[] = { 1, 2, 3, 10, 31, 32, 33, 64, 127, 128, 129, 513 };
    static const int64_t rows[] = { 1, 2, 5, 33, 130, 1025 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_columns(EDDY_FLOAT32, rows[i], widths[_i]);
        check_columns(EDDY_FLOAT64, rows[i], widths[_i]);
    }
}
END_TEST

/* NaN wherever it stands, and -infinity where nothing is larger. */
START_TEST(extremes)
{
    static const int64_t sizes[] = { 1, 15, 16, 17, 65, 1024, 1025, 40000 };
    const int64_t n = sizes[_i];
    eddy_array *x = numbers(EDDY_FLOAT32, S(2, n)), *y;
    float *at = eddy_array_data(x);
    for (int64_t i = n; i < 2 * n; i++) at[i] = -INFINITY;
    for (int64_t i = 0; i < n; i += n / 7 + 1) {
        const float kept = at[i];
        at[i] = NAN;
        const float *most = run_of(max_last, x, &y);
        ck_assert(isnan(most[0]) && most[1] == -INFINITY);
        eddy_array_free(y);
        at[i] = 2;
        most = run_of(max_last, x, &y);
        ck_assert(most[0] == 2 && most[1] == -INFINITY);
        eddy_array_free(y);
        at[i] = kept;
    }
    eddy_array_free(x);
}
END_TEST

/* Planes of all sizes around a square, for each size of element. */
START_TEST(planes)
{
    static const eddy_dtype dtypes[] = {
        EDDY_UINT8, EDDY_FLOAT16, EDDY_FLOAT32, EDDY_FLOAT64, EDDY_COMPLEX128,
    };
    static const int64_t sizes[] = { 1, 7, 15, 16, 17, 33, 64, 100 };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const eddy_dtype d = dtypes[_i];
    const size_t size = eddy_dtype_size(d);
    for (int i = 0; i < SIZES * SIZES; i++) {
        const int64_t rows = sizes[i / SIZES], n = sizes[i % SIZES];
        eddy_array *x = eddy_array_new(d, S(rows, n)), *y;
        char *from = eddy_array_data(x);
        for (int64_t j = 0; j < rows * n * (int64_t)size; j++)
            from[j] = (char)(number_at((uint64_t)j) * 60);
        const char *to = run_of(flip, x, &y);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < n; c++)
                ck_assert(memcmp(to + (size_t)(c * rows + r) * size,
                                 from + (size_t)(r * n + c) * size, size) == 0);
        eddy_array_free(x);
        eddy_array_free(y);
    }
}
END_TEST

/* ------------------------------------------------------------------- blocks -- */

/* Takes blocks, the last first, in pieces of any length. */
static void in_pieces(const eddy_blocks *b, char *y, const char *x)
{
    char *part = malloc((size_t)b->count * eddy__blocks_part(b)),
         *acc = malloc(eddy__blocks_acc_bytes(b));
    const int64_t all = b->rows * b->width;
    uint64_t draw = 0;
    for (int64_t i = b->count - 1; i >= 0; i--) {
        const int64_t first = i * b->block;
        const int64_t n = all - first < b->block ? all - first : b->block;
        eddy__block_start(b, acc);
        for (int64_t at = 0, step; at < n; at += step) {
            step = 1 + (int64_t)((number_at(draw++) + 1) * 700);
            if (step > n - at) step = n - at;
            eddy__block_take(b, acc, at, x + (size_t)(first + at) * b->reducer->size, step);
        }
        eddy__block_end(b, acc);
        memcpy(part + (size_t)i * eddy__blocks_part(b), acc, eddy__blocks_part(b));
    }
    eddy__blocks_finish(b, y, part);
    free(part);
    free(acc);
}

/* A fused loop gives the same results as the operation. */
START_TEST(blocks)
{
    static const int64_t shapes[][2] = {
        { 1, 1 }, { 31, 1 }, { 1000, 1 }, { 16384, 1 }, { 50001, 1 }, { 128, 512 }, { 3000, 64 },
        { 5, 3 }, { 30, 30 }, { 4000, 10 }, { 77, 1000 },
    };
    static const eddy_fold *const folds[] = {
        &eddy__fold_sum, &eddy__fold_mean, &eddy__fold_max, &eddy__fold_min, &eddy__fold_prod,
    };
    const int64_t rows = shapes[_i][0], width = shapes[_i][1];
    for (int i = 0; i < 10; i++) {
        const eddy_dtype d = i < 5 ? EDDY_FLOAT32 : EDDY_FLOAT64;
        const eddy_reducer *r = eddy__reducer_of(folds[i % 5], d);
        const eddy_blocks b = eddy__blocks_of(r, rows, width);
        const eddy_reduction p = eddy__reduction_of(r, S(rows, width), width > 1 ? 1 : 3);
        eddy_array *x = numbers(d, S(rows, width));
        double want[1000] = { 0 }, got[1000] = { 0 };
        eddy__reduction_run(&p, want, eddy_array_data(x));
        in_pieces(&b, (char *)got, eddy_array_data(x));
        ck_assert_mem_eq(got, want, sizeof want);
        eddy_array_free(x);
    }
}
END_TEST

/* Along axis 0 of a matrix, and along axis 1 of its transpose: one column is left over
 * from whole blocks of them. */
START_TEST(a_last_column)
{
    const int64_t    rows = _i % 3 == 0 ? 7 : _i % 3 == 1 ? 3 : 40, width = _i % 2 ? 513 : 257;
    const eddy_dtype d = _i < 6 ? EDDY_FLOAT32 : EDDY_FLOAT64;
    eddy_graph      *g = eddy_graph_new();
    eddy_session    *s = eddy_session_new(g);
    eddy_array      *a = numbers(d, S(rows, width));
    const eddy_tensor x = eddy_placeholder(g, "x", d, S(rows, width)), t = eddy_transpose(x);
    const eddy_dims   first = EDDY_AXES(0);
    const eddy_tensor y[] = {
        eddy_sub(eddy_softmax(x, first), eddy_transpose(eddy_softmax(t))),
        eddy_sub(eddy_log_softmax(x, first), eddy_transpose(eddy_log_softmax(t))),
        eddy_cast(eddy_sub(eddy_argmax(x, .axis = 0), eddy_argmax(t, .axis = 1)), d),
        eddy_cast(eddy_sub(eddy_argmin(x, .axis = 0), eddy_argmin(t, .axis = 1)), d),
    };
    for (int i = 0; i < 4; i++) {
        eddy_array  *out = NULL;
        const eddy_tensor worst = eddy_max(eddy_abs(y[i]));
        ck_assert_msg(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(worst), &out) == EDDY_OK, "%s",
                      eddy_session_message(s));
        ck_assert_double_le(eddy_array_item(out), 1e-6);
        eddy_array_free(out);
    }
    eddy_array_free(a);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

Suite *kernels_suite(void)
{
    Suite *s = suite_create("kernels");
    TCase *bits = tcase_create("bits"), *values = tcase_create("values");
    tcase_set_timeout(bits, 60);
    tcase_set_timeout(values, 60);
    tcase_add_loop_test(bits, same_bits, 0, 2 * SUBJECTS);
    tcase_add_loop_test(bits, blocks, 0, 11);
    tcase_add_test(values, long_sum);
    tcase_add_loop_test(values, a_last_column, 0, 12);
    tcase_add_loop_test(values, columns, 0, 12);
    tcase_add_loop_test(values, extremes, 0, 8);
    tcase_add_loop_test(values, planes, 0, 5);
    suite_add_tcase(s, bits);
    suite_add_tcase(s, values);
    return s;
}
