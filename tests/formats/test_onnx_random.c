/* test_onnx_random.c -- random numbers in written ONNX models: bounds, moments and shapes, where
 * the numbers themselves are those of the program that runs the model. */
#include "build/gen/suites.h"
#include "formats.h"
#include "ops/short_names.h"
#include "tests/lib/files/memory_files.h"

#include <math.h>
#include <stdlib.h>

enum { DRAWN = 20000 };

typedef struct moments {
    double least, largest, mean, deviation;
} moments;

static moments moments_of(const eddy_array *a)
{
    moments       m = { INFINITY, -INFINITY, 0, 0 };
    const int64_t n = eddy_array_count(a);
    for (int64_t i = 0; i < n; i++) {
        const double v = eddy_array_get(a, i);
        m.least = fmin(m.least, v);
        m.largest = fmax(m.largest, v);
        m.mean += v / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        const double d = eddy_array_get(a, i) - m.mean;
        m.deviation += d * d / (double)n;
    }
    m.deviation = sqrt(m.deviation);
    return m;
}

/* Writes, reads and runs the model of one tensor, whose only input, if there is one, is `fed`. */
static eddy_array *drawn_again(eddy_tensor y, const eddy_array *fed)
{
    memory_files *files = malloc(sizeof *files);
    eddy_graph   *g = eddy_graph_new();
    eddy_error    e = { 0 };
    memory_files_init(files);
    ck_assert_msg(eddy_onnx_write(EDDY_LIST(y), "m.onnx", .files = &files->table, .error = &e) ==
                      EDDY_OK, "%s", e.message);
    eddy_onnx_model *m = eddy_onnx_read(g, "m.onnx", .files = &files->table, .error = &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    eddy_session   *s = eddy_session_new(g);
    const eddy_feed feed = { eddy_onnx_input(m, "x"), fed };
    eddy_array     *out = NULL;
    eddy_tensor     read = eddy_onnx_output(m, eddy_onnx_output_name(m, 0));
    ck_assert_msg(eddy_run(s, (eddy_feeds){ fed != NULL, &feed }, (eddy_list){ 1, &read }, &out) ==
                      EDDY_OK, "%s", eddy_session_message(s));
    ck_assert_int_eq(eddy_array_dtype(out), eddy_dtype_of(y));
    eddy_session_free(s);
    eddy_onnx_free(m);
    eddy_graph_free(g);
    memory_files_free(files);
    free(files);
    return out;
}

START_TEST(integers)
{
    static const struct {
        eddy_dtype dtype;
        int64_t    least, end;
    } cases[] = {
        { EDDY_INT32, -3, 5 }, { EDDY_UINT8, 250, 256 }, { EDDY_INT64, -1, 0 },
        { EDDY_INT64, INT64_MAX - 4, INT64_MAX },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t least = cases[i].least, end = cases[i].end;
        eddy_graph   *g = eddy_graph_new();
        eddy_array   *a = drawn_again(eddy_random_uniform_int(g, EDDY_SHAPE(DRAWN), least, end,
                                                              cases[i].dtype), NULL);
        int count[8] = { 0 };
        for (int k = 0; k < DRAWN; k++) {
            const int64_t v = cases[i].dtype == EDDY_INT64 ? ((int64_t *)eddy_array_data(a))[k]
                                                           : (int64_t)eddy_array_get(a, k);
            ck_assert(v >= least && v < end);
            count[v - least]++;
        }
        const double each = (double)DRAWN / (double)(end - least);
        for (int k = 0; k < (int)(end - least); k++)    /* within 6 standard deviations */
            ck_assert_double_le(fabs(count[k] - each), 6 * sqrt(each));
        eddy_array_free(a);
        eddy_graph_free(g);
    }
}
END_TEST

/* The standard deviation of a normal distribution that ends at 2 of its standard deviations is
 * sqrt(1 - 4 pdf(2) / (2 cdf(2) - 1)) of it. */
START_TEST(truncated)
{
    const double share = sqrt(1 - 4 * exp(-2) / sqrt(8 * atan(1)) / erf(sqrt(2)));
    for (int d = 0; d < 2; d++) {
        eddy_graph   *g = eddy_graph_new();
        eddy_array   *a = drawn_again(
            eddy_truncated_normal(g, EDDY_SHAPE(DRAWN), 3, 0.5, d ? EDDY_FLOAT64 : EDDY_FLOAT32),
            NULL);
        const moments m = moments_of(a);
        ck_assert_double_ge(m.least, 2);
        ck_assert_double_le(m.largest, 4);
        ck_assert_double_le(m.least, 2.01);
        ck_assert_double_ge(m.largest, 3.99);
        ck_assert_double_le(fabs(m.mean - 3), 0.02);
        ck_assert_double_le(fabs(m.deviation - 0.5 * share), 0.01);
        eddy_array_free(a);
        eddy_graph_free(g);
    }
}
END_TEST

START_TEST(single_number)
{
    eddy_graph *g = eddy_graph_new();
    eddy_array *a = drawn_again(eddy_random_uniform(g, EDDY_SCALAR, 2, 3), NULL);
    ck_assert_int_eq(eddy_array_shape(a).rank, 0);
    ck_assert(eddy_array_item(a) >= 2 && eddy_array_item(a) < 3);
    eddy_array_free(a);
    eddy_graph_free(g);
}
END_TEST

/* The shape is that of a tensor with unknown dimensions. */
START_TEST(like)
{
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 2));
    const eddy_tensor y[] = { eddy_truncated_normal_like(x), eddy_random_uniform_like(x),
                              eddy_random_uniform_like(x, 2, 9, .dtype = EDDY_INT32) };
    eddy_array *fed = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(7, 2));
    for (int i = 0; i < 3; i++) {
        eddy_array *a = drawn_again(y[i], fed);
        ck_assert(eddy_shape_equal(eddy_array_shape(a), EDDY_SHAPE(7, 2)));
        eddy_array_free(a);
    }
    eddy_array_free(fed);
    eddy_graph_free(g);
}
END_TEST

/* float64 cannot tell more integers apart. */
START_TEST(too_many)
{
    eddy_graph *g = eddy_graph_new();
    eddy_error  e = { 0 };
    const eddy_tensor y =
        eddy_random_uniform_int(g, EDDY_SHAPE(2), INT64_MIN, INT64_MAX, EDDY_INT64);
    ck_assert_int_eq(eddy_onnx_write(EDDY_LIST(y), "m.onnx", .error = &e), EDDY_UNIMPLEMENTED);
    ck_assert_str_eq(e.message, "onnx_write: RandomUniformInt: it draws one of more than 2^53 "
                                "integers [node 'random_uniform']");
    eddy_graph_free(g);
}
END_TEST

Suite *onnx_random_suite(void)
{
    Suite *s = suite_create("onnx_random");
    TCase *c = tcase_create("random");
    tcase_add_test(c, integers);
    tcase_add_test(c, truncated);
    tcase_add_test(c, single_number);
    tcase_add_test(c, like);
    tcase_add_test(c, too_many);
    suite_add_tcase(s, c);
    return s;
}
