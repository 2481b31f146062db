/* test_layers_in_graph.c -- dropout, initializers, dense layers, and checks inside a graph. */
#include "../../eddy.h"
#include "ops/short_names.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *layers_in_graph_suite(void);

static void run(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_array **out)
{
    ck_assert_msg(eddy_run(s, feeds, fetches, out) == EDDY_OK, "%s", eddy_session_message(s));
}

static double at(const eddy_array *a, int64_t i) { return eddy_array_get(a, i); }

/* The value of t in the first run of a new session, variables initialized. */
static eddy_array *value(eddy_tensor t, eddy_feeds feeds)
{
    eddy_session *s = eddy_session_new(t.graph);
    eddy_array   *out = NULL;
    run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(t.graph)), NULL);
    run(s, feeds, EDDY_FETCH(t), &out);
    eddy_session_free(s);
    return out;
}

static void refused(eddy_graph *g, eddy_tensor t, eddy_status s)
{
    ck_assert(!eddy_is_valid(t));
    ck_assert_msg(eddy_graph_status(g) == s, "%s: %s", eddy_status_name(eddy_graph_status(g)),
                  eddy_graph_message(g));
    eddy_graph_clear_error(g);
}

/* ----------------------------------------------------------------- dropout */

/* The fraction of kept elements, the kept elements, and the gradient's mask. */
START_TEST(dropout_values)
{
    enum { N = 40000 };
    const double  rate[] = { 0.1, 0.5, 0.9 };
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_random_uniform(g, EDDY_SHAPE(N), 1, 2, EDDY_FLOAT64);
    eddy_tensor   y = eddy_dropout(x, rate[_i]), dx = eddy_gradient(y, x);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out[3] = { NULL };
    run(s, EDDY_FEED(), EDDY_FETCH(x, y, dx), out);
    double kept = 0, scale = 1 / (1 - rate[_i]);
    for (int i = 0; i < N; i++) {
        double xi = at(out[0], i), yi = at(out[1], i);
        bool   keep = yi != 0;
        kept += keep;
        ck_assert_double_eq(yi, keep ? xi * scale : 0);
        ck_assert_double_eq(at(out[2], i), keep ? scale : 0);
    }
    ck_assert_double_lt(fabs(kept - N * (1 - rate[_i])) / sqrt(N * rate[_i] * (1 - rate[_i])), 4);
    for (int i = 0; i < 3; i++) eddy_array_free(out[i]);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* One decision a row, with the number of rows unknown; all rows not alike. */
START_TEST(dropout_noise_shape)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 8));
    eddy_tensor   y = eddy_dropout(x, 0.5, EDDY_DIMS(EDDY_ANY, 1));
    eddy_tensor   z = eddy_dropout(x, 0.5, EDDY_DIMS(8));
    eddy_session *s = eddy_session_new(g);
    eddy_array   *ones = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(64, 8)), *out[2] = { NULL };
    for (int i = 0; i < 64 * 8; i++) eddy_array_set(ones, i, i == 9 ? (double)INFINITY : 1);
    ck_assert(eddy_shape_equal(eddy_shape_of(y), EDDY_SHAPE(EDDY_ANY, 8)));
    run(s, EDDY_FEED({ x, ones }), EDDY_FETCH(y, z), out);
    int rows = 0, columns = 0;
    for (int i = 0; i < 64; i++) {
        bool kept = at(out[0], 8 * i) > 0;
        rows += kept;
        for (int j = 0; j < 8; j++)
            ck_assert(i == 1 || at(out[0], 8 * i + j) == (kept ? 2 : 0));
    }
    for (int j = 0; j < 8; j++) {
        bool kept = at(out[1], j) > 0;
        columns += kept;
        for (int i = 2; i < 64; i++) ck_assert(at(out[1], 8 * i + j) == (kept ? 2 : 0));
    }
    ck_assert(rows > 10 && rows < 54 && columns > 0 && columns < 8);
    ck_assert(!isnan(at(out[0], 9)) && !isnan(at(out[1], 9)));
    for (int i = 0; i < 2; i++) eddy_array_free(out[i]);
    eddy_array_free(ones);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

START_TEST(dropout_of_nothing)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    ck_assert(eddy_same(eddy_dropout(x, 0), x));
    ck_assert(eddy_is_valid(eddy_dropout(x, 0.5)));
    eddy_graph_free(g);
}
END_TEST


/* ------------------------------------------------------------ initializers */

static const struct { eddy_initializer_fn init; double scale; bool average, normal; } scaled[] = {
    { eddy_init_glorot_uniform, 1, true, false }, { eddy_init_glorot_normal, 1, true, true },
    { eddy_init_he_uniform, 2, false, false },    { eddy_init_he_normal, 2, false, true },
    { eddy_init_lecun_uniform, 1, false, false }, { eddy_init_lecun_normal, 1, false, true },
};

/* Shape, fans; sizes differ so that a swapped fan shows. */
static const struct { eddy_shape shape; double in, out; } fans[] = {
    { { 2, { 100, 300 } }, 100, 300 },
    { { 4, { 3, 5, 20, 70 } }, 300, 1050 },
    { { 1, { 20000 } }, 20000, 20000 },
};

START_TEST(variances)
{
    eddy_graph *g = eddy_graph_new();
    for (size_t f = 0; f < sizeof fans / sizeof *fans; f++) {
        double fan = scaled[_i].average ? (fans[f].in + fans[f].out) / 2 : fans[f].in;
        double variance = scaled[_i].scale / fan, sum = 0, largest = 0;
        eddy_array *a = value(scaled[_i].init(g, EDDY_FLOAT64, fans[f].shape, 3), EDDY_FEED());
        int64_t     n = eddy_array_count(a);
        for (int64_t i = 0; i < n; i++) {
            double v = at(a, i);
            sum += v * v;
            largest = fmax(largest, fabs(v));
        }
        double limit = scaled[_i].normal ? 2 * sqrt(variance) / 0.87962566103423978
                                         : sqrt(3 * variance);
        ck_assert_double_eq_tol(sum / (double)n / variance, 1, 4 * sqrt(1.4 / (double)n));
        ck_assert(largest <= limit && largest > 0.98 * limit);
        eddy_array_free(a);
    }
    eddy_graph_free(g);
}
END_TEST

START_TEST(few_dimensions)
{
    eddy_graph *g = eddy_graph_new();
    double      limit = sqrt(3);
    eddy_array *a = value(eddy_init_glorot_uniform(g, EDDY_FLOAT32, EDDY_SCALAR, 1), EDDY_FEED());
    ck_assert(fabs(eddy_array_item(a)) <= limit);
    eddy_array_free(a);
    a = value(eddy_init_he_normal(g, EDDY_FLOAT32, EDDY_SHAPE(0, 3), 1), EDDY_FEED());
    ck_assert_int_eq(eddy_array_count(a), 0);
    eddy_array_free(a);
    a = value(Add(eddy_init_ones(g, EDDY_INT32, EDDY_SHAPE(2), 1),
                  eddy_init_zeros(g, EDDY_INT32, EDDY_SHAPE(2), 1)), EDDY_FEED());
    ck_assert(at(a, 0) == 1 && at(a, 1) == 1);
    eddy_array_free(a);
    refused(g, eddy_init_glorot_uniform(g, EDDY_INT32, EDDY_SHAPE(2, 2), 0), EDDY_BAD_DTYPE);
    refused(g, eddy_init_he_normal(g, EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 2), 0), EDDY_BAD_SHAPE);
    eddy_graph_free(g);
}
END_TEST

/* q'q or qq' is the identity, and the first column points anywhere. */
START_TEST(orthogonal)
{
    const eddy_shape shape[] = { { 2, { 40, 17 } }, { 2, { 17, 40 } }, { 2, { 23, 23 } },
                                 { 4, { 3, 3, 2, 11 } }, { 2, { 1, 5 } }, { 2, { 1, 1 } } };
    eddy_graph *g = eddy_graph_new();
    for (int single = 0; single < 2; single++) {
        eddy_dtype  d = single ? EDDY_FLOAT32 : EDDY_FLOAT64;
        eddy_array *a = value(eddy_init_orthogonal(g, d, shape[_i], 0), EDDY_FEED());
        int64_t     n = shape[_i].dim[shape[_i].rank - 1], m = eddy_array_count(a) / n;
        int64_t     side = m < n ? m : n, other = m < n ? n : m;
        ck_assert(eddy_shape_equal(eddy_array_shape(a), shape[_i]));
        for (int64_t i = 0; i < side; i++) {
            for (int64_t j = 0; j < side; j++) {
                double sum = 0;
                for (int64_t k = 0; k < other; k++)
                    sum += m < n ? at(a, i * n + k) * at(a, j * n + k)
                                 : at(a, k * n + i) * at(a, k * n + j);
                ck_assert_double_eq_tol(sum, i == j, single ? 1e-6 : 1e-14);
            }
        }
        eddy_array_free(a);
    }
    eddy_graph_free(g);
}
END_TEST

/* The signs make it even: without them the trace would be far from 0 (for a
 * matrix drawn evenly its mean is 0 and its variance 1). */
START_TEST(orthogonal_is_even)
{
    enum { RUNS = 400, N = 4 };
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   q = eddy_init_orthogonal(g, EDDY_FLOAT64, EDDY_SHAPE(N, N), 0);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out = NULL;
    double        sum = 0, squares = 0;
    for (int i = 0; i < RUNS; i++) {
        double trace = 0;
        run(s, EDDY_FEED(), EDDY_FETCH(q), &out);
        for (int j = 0; j < N; j++) trace += at(out, j * N + j);
        sum += trace;
        squares += trace * trace;
    }
    ck_assert_double_lt(fabs(sum) / sqrt(RUNS), 4);
    ck_assert_double_lt(fabs(squares - RUNS) / sqrt(2.0 * RUNS), 4);
    eddy_array_free(out);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------- dense */

static eddy_tensor two(eddy_graph *g, eddy_dtype d, eddy_shape s, int64_t seed)
{
    (void)seed;
    return eddy_cast(eddy_fill(eddy_const(g, EDDY_INT64, EDDY_SHAPE(s.rank), s.dim),
                               eddy_scalar(g, 2)), d);
}

START_TEST(dense_makes_variables)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 7));
    eddy_tensor y = eddy_dense(x, 3, "hidden", .activation = eddy_relu);
    eddy_tensor z = eddy_dense(y, 2), u = eddy_dense(y, 2, .no_bias = true, .not_trainable = true);
    ck_assert_str_eq(eddy_graph_message(g), "");
    ck_assert(eddy_shape_equal(eddy_shape_of(y), EDDY_SHAPE(EDDY_ANY, 3)));
    ck_assert_str_eq(eddy_type_of(y), "Relu");
    eddy_tensor w = eddy_graph_tensor(g, "hidden/kernel:0");
    eddy_tensor b = eddy_graph_tensor(g, "hidden/bias:0");
    ck_assert(eddy_shape_equal(eddy_shape_of(w), EDDY_SHAPE(7, 3)));
    ck_assert(eddy_shape_equal(eddy_shape_of(b), EDDY_SHAPE(3)));
    ck_assert(eddy_graph_has(g, "dense/kernel") && eddy_graph_has(g, "dense/bias"));
    ck_assert(eddy_graph_has(g, "dense_1/kernel") && !eddy_graph_has(g, "dense_1/bias"));
    ck_assert_int_eq(eddy_collection_size(g, EDDY_GLOBAL_VARIABLES), 5);
    ck_assert_int_eq(eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES), 4);
    ck_assert(eddy_is_valid(z) && eddy_is_valid(u));
    eddy_graph_free(g);
}
END_TEST

/* y = x w + b, and its gradients, against plain loops; w as the session has it. */
START_TEST(dense_values)
{
    enum { M = 4, K = 5, N = 3 };
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, K));
    eddy_tensor   y = eddy_dense(x, N, "d", .bias_initializer = { .build = two },
                                 .activation = eddy_square);
    eddy_tensor   w = eddy_graph_tensor(g, "d/kernel:0");
    eddy_tensor   b = eddy_graph_tensor(g, "d/bias:0"), d[3];
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(y), EDDY_LIST(x, w, b), d), EDDY_OK);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *in = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(M, K)), *out[6] = { NULL };
    for (int i = 0; i < M * K; i++) eddy_array_set(in, i, 0.25 * i - 2);
    run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    run(s, EDDY_FEED({ x, in }), EDDY_FETCH(y, w, b, d[0], d[1], d[2]), out);
    double dw[K][N] = { { 0 } }, db[N] = { 0 };
    for (int i = 0; i < M; i++) {
        double dx[K] = { 0 };
        for (int j = 0; j < N; j++) {
            double v = at(out[2], j);
            ck_assert_double_eq(v, 2);
            for (int k = 0; k < K; k++) v += at(in, i * K + k) * at(out[1], k * N + j);
            ck_assert_double_eq_tol(at(out[0], i * N + j), v * v, 1e-12);
            for (int k = 0; k < K; k++) {
                dx[k] += 2 * v * at(out[1], k * N + j);
                dw[k][j] += 2 * v * at(in, i * K + k);
            }
            db[j] += 2 * v;
        }
        for (int k = 0; k < K; k++) ck_assert_double_eq_tol(at(out[3], i * K + k), dx[k], 1e-12);
    }
    for (int i = 0; i < K * N; i++) ck_assert_double_eq_tol(at(out[4], i), dw[i / N][i % N], 1e-12);
    for (int j = 0; j < N; j++) ck_assert_double_eq_tol(at(out[5], j), db[j], 1e-12);
    for (int i = 0; i < 6; i++) eddy_array_free(out[i]);
    eddy_array_free(in);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* Leading dimensions come back, known or not: each row of the result is the
 * sum of a row of x, doubled. */
START_TEST(dense_of_higher_rank)
{
    const eddy_shape known[] = { { 3, { 2, 5, 4 } }, { 3, { EDDY_ANY, 5, 4 } },
                                 { 3, { EDDY_ANY, EDDY_ANY, 4 } },
                                 { 4, { EDDY_ANY, 1, EDDY_ANY, 4 } }, { 3, { EDDY_ANY, 0, 4 } } };
    const eddy_shape fed[] = { { 3, { 2, 5, 4 } }, { 3, { 3, 5, 4 } }, { 3, { 3, 2, 4 } },
                               { 4, { 2, 1, 3, 4 } }, { 3, { 6, 0, 4 } } };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, known[_i]);
    eddy_tensor y = eddy_dense(x, 6, .kernel_initializer = { .build = two });
    eddy_tensor dx = eddy_gradient(y, x);
    eddy_shape  s = known[_i], f = fed[_i];
    s.dim[s.rank - 1] = f.dim[f.rank - 1] = 6;
    ck_assert_str_eq(eddy_graph_message(g), "");
    ck_assert(eddy_shape_equal(eddy_shape_of(y), s));
    eddy_array *in = eddy_array_new(EDDY_FLOAT32, fed[_i]);
    int64_t     n = eddy_array_count(in);
    for (int64_t i = 0; i < n; i++) eddy_array_set(in, i, (double)i);
    eddy_array *a = value(y, EDDY_FEED({ x, in })), *b = value(dx, EDDY_FEED({ x, in }));
    ck_assert(eddy_shape_equal(eddy_array_shape(a), f));
    ck_assert(eddy_shape_equal(eddy_array_shape(b), fed[_i]));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ck_assert_double_eq(at(a, i), 2 * (double)(16 * (i / 6) + 6));
    for (int64_t i = 0; i < n; i++) ck_assert_double_eq(at(b, i), 12);
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_array_free(in);
    eddy_graph_free(g);
}
END_TEST

START_TEST(dense_refusals)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 7));
    refused(g, eddy_dense(x, 0), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_dense(x, -3), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_dense(x, INT64_MAX), EDDY_BAD_SHAPE);
    refused(g, eddy_dense(eddy_ones(g, EDDY_INT32, EDDY_SHAPE(2, 2)), 3), EDDY_BAD_DTYPE);
    refused(g, eddy_dense(eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2)), 3), EDDY_BAD_SHAPE);
    x = eddy_placeholder(g, "y", EDDY_FLOAT32, EDDY_SHAPE(7, EDDY_ANY));
    refused(g, eddy_dense(x, 3), EDDY_BAD_SHAPE);
    x = eddy_placeholder(g, "z", EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    refused(g, eddy_dense(x, 3), EDDY_BAD_SHAPE);
    ck_assert(!eddy_is_valid(eddy_dense(EDDY_NO_TENSOR, 3)));
    eddy_graph_free(g);
}
END_TEST

/* A layer built under control dependencies can still be initialized alone. */
START_TEST(dense_under_control)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_random_uniform(g, EDDY_SHAPE(1, 2)), y;
    eddy_control_begin(g, EDDY_LIST(eddy_assert(Less(x, 0))));
    y = eddy_dense(x, 2);
    eddy_control_end(g);
    eddy_session *s = eddy_session_new(g);
    run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), NULL), EDDY_CHECK_FAILED);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------ checks */

static eddy_status run_with(eddy_tensor t, eddy_tensor x, const float *v, int n, char *message)
{
    eddy_session *s = eddy_session_new(t.graph);
    eddy_array   *in = eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(n / 2, 2), v), *out = NULL;
    eddy_status   status = eddy_run(s, EDDY_FEED({ x, in }), EDDY_FETCH(t), &out);
    snprintf(message, 1024, "%s", eddy_session_message(s));
    eddy_array_free(out);
    eddy_array_free(in);
    eddy_session_free(s);
    return status;
}

START_TEST(check_numerics)
{
    char        message[1024];
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_tensor y = eddy_check_numerics(x, "weights");
    float       v[] = { 1, -1e38f, 0, 3, 5, 6 };
    ck_assert_int_eq(run_with(y, x, v, 6, message), EDDY_OK);
    v[3] = INFINITY;
    ck_assert_int_eq(run_with(y, x, v, 6, message), EDDY_CHECK_FAILED);
    ck_assert_ptr_nonnull(strstr(message, "weights : Tensor had Inf values; the first "
                                 "is inf at [1,1], and there are 1 of 6"));
    v[1] = NAN;
    ck_assert_int_eq(run_with(y, x, v, 6, message), EDDY_CHECK_FAILED);
    ck_assert_ptr_nonnull(strstr(message, "had Inf and NaN values; the first is nan at [0,1], "
                                 "and there are 2 of 6"));
    ck_assert_int_eq(run_with(y, x, v, 0, message), EDDY_OK);
    static float many[5000];
    for (int i = 0; i < 5000; i += 617) {
        many[i] = -INFINITY;
        ck_assert_int_eq(run_with(y, x, many, 5000, message), EDDY_CHECK_FAILED);
        ck_assert_ptr_nonnull(strstr(message, "and there are 1 of 5000"));
        many[i] = 0;
    }
    ck_assert_int_eq(run_with(y, x, many, 5000, message), EDDY_OK);
    refused(g, eddy_check_numerics(eddy_less(x, x), "b"), EDDY_BAD_DTYPE);
    eddy_graph_free(g);
}
END_TEST

/* The value is fine, the gradient is not: log at 0. */
START_TEST(check_numerics_gradient)
{
    char        message[1024];
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_tensor y = eddy_log(eddy_check_numerics(x, "root")), dx = eddy_gradient(y, x);
    ck_assert_int_eq(run_with(dx, x, (float[]){ 1, 2 }, 2, message), EDDY_OK);
    ck_assert_int_eq(run_with(dx, x, (float[]){ 1, 0 }, 2, message), EDDY_CHECK_FAILED);
    ck_assert_ptr_nonnull(strstr(message, "gradient. root"));
    eddy_graph_free(g);
}
END_TEST

/* A control dependency alone makes the check. */
START_TEST(check_by_control)
{
    char        message[1024];
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_tensor all = eddy_group(g, EDDY_LIST(eddy_check_numerics(x, "grouped")), NULL);
    ck_assert_int_eq(run_with(all, x, (float[]){ 1, 2 }, 2, message), EDDY_OK);
    ck_assert_int_eq(run_with(all, x, (float[]){ 1, NAN }, 2, message), EDDY_CHECK_FAILED);
    eddy_graph_free(g);
}
END_TEST

static void keep_line(void *user, const char *line)
{
    char *text = user;
    size_t n = strlen(text);
    snprintf(text + n, 1000 - n, "%s|", line);
}

START_TEST(print_lines)
{
    char        text[1000] = "", message[1024];
    float       v[] = { 1, 2.5f, -3, 4 };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_tensor a = eddy_print(x, .write = keep_line, .user = text);
    eddy_tensor b = eddy_print(x, .data = EDDY_LIST(eddy_less(x, a), eddy_cast(x, EDDY_INT64)),
                               .message = "b: ", .summarize = -1, .write = keep_line, .user = text);
    eddy_tensor dx = eddy_gradient(Mul(a, a), x);
    ck_assert_int_eq(run_with(a, x, v, 4, message), EDDY_OK);
    ck_assert_str_eq(text, "[1 2.5 -3...]|");
    text[0] = 0;
    ck_assert_int_eq(run_with(b, x, v, 4, message), EDDY_OK);
    ck_assert_str_eq(text, "[1 2.5 -3...]|b: [0 0 0 0][1 2 -3 4]|");
    text[0] = 0;
    ck_assert_int_eq(run_with(dx, x, v, 4, message), EDDY_OK);
    ck_assert_str_eq(text, "[1 2.5 -3...]|");
    text[0] = 0;
    ck_assert_int_eq(run_with(a, x, v, 0, message), EDDY_OK);
    ck_assert_str_eq(text, "[]|");
    eddy_graph_free(g);
}
END_TEST

START_TEST(print_first_n)
{
    char          text[1000] = "";
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   y = eddy_print(eddy_scalar(g, 7), .first_n = 2, .write = keep_line, .user = text);
    eddy_session *s = eddy_session_new(g);
    for (int i = 0; i < 5; i++) run(s, EDDY_FEED(), EDDY_FETCH(y), NULL);
    ck_assert_str_eq(text, "[7]|[7]|");
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

START_TEST(assertions)
{
    char        message[1024];
    float       v[] = { 1, 2, 3, 4, 5, 6 };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_tensor low = eddy_assert(Less(x, 10), .data = EDDY_LIST(x), .message = "x too large:");
    eddy_control_begin(g, EDDY_LIST(low));
    eddy_tensor y = eddy_neg(x);
    eddy_control_end(g);
    ck_assert_int_eq(eddy_outputs_of(low), 0);
    ck_assert_int_eq(run_with(low, x, v, 6, message), EDDY_OK);
    ck_assert_int_eq(run_with(y, x, v, 6, message), EDDY_OK);
    ck_assert_int_eq(run_with(low, x, v, 0, message), EDDY_OK);
    v[4] = 11;
    ck_assert_int_eq(run_with(low, x, v, 6, message), EDDY_CHECK_FAILED);
    ck_assert_int_eq(run_with(y, x, v, 6, message), EDDY_CHECK_FAILED);
    ck_assert_ptr_nonnull(strstr(message, "assertion failed: x too large: [1 2 3...]"));
    refused(g, eddy_assert(x), EDDY_BAD_DTYPE);
    refused(g, eddy_assert(Less(x, 1), .data = { 64, &x }), EDDY_INVALID_ARGUMENT);
    refused(g, eddy_print(x, .data = { 1, NULL }), EDDY_INVALID_ARGUMENT);
    eddy_graph_free(g);
}
END_TEST

Suite *layers_in_graph_suite(void)
{
    Suite *s = suite_create("layers_in_graph");
    TCase *t = tcase_create("dropout");
    tcase_add_loop_test(t, dropout_values, 0, 3);
    tcase_add_test(t, dropout_noise_shape);
    tcase_add_test(t, dropout_of_nothing);
    suite_add_tcase(s, t);
    t = tcase_create("initializers");
    tcase_add_loop_test(t, variances, 0, (int)(sizeof scaled / sizeof *scaled));
    tcase_add_test(t, few_dimensions);
    tcase_add_loop_test(t, orthogonal, 0, 6);
    tcase_add_test(t, orthogonal_is_even);
    suite_add_tcase(s, t);
    t = tcase_create("dense");
    tcase_add_test(t, dense_makes_variables);
    tcase_add_test(t, dense_values);
    tcase_add_loop_test(t, dense_of_higher_rank, 0, 5);
    tcase_add_test(t, dense_refusals);
    tcase_add_test(t, dense_under_control);
    suite_add_tcase(s, t);
    t = tcase_create("checks");
    tcase_add_test(t, check_numerics);
    tcase_add_test(t, check_numerics_gradient);
    tcase_add_test(t, check_by_control);
    tcase_add_test(t, print_lines);
    tcase_add_test(t, print_first_n);
    tcase_add_test(t, assertions);
    suite_add_tcase(s, t);
    return s;
}
