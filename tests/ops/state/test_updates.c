/* test_updates.c -- updates of parts of variables: rows by index and by tuples, slices,
 * counters. */
#include "autodiff/functions.h"
#include "tests/lib/array_trial.h"

Suite *updates_suite(void);

enum { SEEDS = 120 };

static eddy_tensor numbers(eddy_graph *g, eddy_dtype d, eddy_shape s, const double *v)
{
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, v[i]);
    eddy_tensor t = eddy_constant(g, a, NULL);
    eddy_array_free(a);
    return t;
}

static eddy_tensor ints(eddy_graph *g, eddy_shape s, const int32_t *v)
{
    return eddy_const(g, EDDY_INT32, s, v);
}

/* ------------------------------------------------------------------- rows -- */

typedef eddy_tensor scatter_fn(const eddy_scatter_args *a);

static const struct { scatter_fn *fn; double want[6]; } scatters[] = {
    { eddy_scatter_mul_with, { 18, 24, 3, 4, 10, 6 } },
    { eddy_scatter_div_with, { 2, 6, 3, 4, 2, 6 } },
    { eddy_scatter_min_with, { 2, 1, 3, 4, 2, 1 } },
    { eddy_scatter_max_with, { 36, 24, 3, 4, 5, 6 } },
};

/* Rows 0, 0 and 2; -3 is skipped. */
START_TEST(scatter_rows)
{
    static const eddy_dtype dtypes[] =
        { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64, EDDY_UINT8 };
    static const double first[][6] = { { 3, 4, 3, 4, 5, 6 }, { 36, 24, 3, 4, 4, 6 } };
    static const double rows[][8] = { { 2, 1, 0, 0, 3, 6, 2, 1 }, { 3, 2, 0, 0, 6, 2, 2, 1 } };
    trial t = trial_begin((unsigned)_i);
    const int        op = _i % 4, large = op == 1 || op == 3;
    const eddy_dtype d = dtypes[_i / 4];
    eddy_tensor var = eddy_variable(t.graph, numbers(t.graph, d, EDDY_SHAPE(3, 2), first[large]));
    if (op == 3) var = eddy_variable(t.graph, numbers(t.graph, d, EDDY_SHAPE(3, 2),
                                                      (double[]){ 36, 24, 3, 4, 5, 6 }));
    const eddy_tensor at = ints(t.graph, EDDY_SHAPE(4), (const int32_t[]){ 0, -3, 0, 2 });
    const eddy_tensor y = scatters[op].fn(
        EDDY_ARGS(eddy_scatter_args, .var = var, .indices = at, .skip_negative = true,
                  .updates = numbers(t.graph, d, EDDY_SHAPE(4, 2), rows[large])));
    initialize(&t);
    check_values(&t, y, EDDY_SHAPE(3, 2), scatters[op].want);
    check_values(&t, eddy_read(var), EDDY_SHAPE(3, 2), scatters[op].want);
    trial_end(&t);
}
END_TEST

START_TEST(complex_rows)
{
    const float x[] = { 1, 2, 3, -1 }, w[] = { 0, 1, 2, 0 };
    eddy_graph   *g = eddy_graph_new();
    eddy_session *s = eddy_session_new(g);
    eddy_tensor   var = eddy_variable(g, eddy_const(g, EDDY_COMPLEX64, EDDY_SHAPE(2), x));
    const eddy_tensor at = ints(g, EDDY_SHAPE(2), (const int32_t[]){ 0, 1 });
    const eddy_tensor c = eddy_const(g, EDDY_COMPLEX64, EDDY_SHAPE(2), w);
    const eddy_tensor times = eddy_scatter_mul(var, at, c), over = eddy_scatter_div(var, at, c);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    eddy_array  *a = eddy_fetch(s, times);
    const float *y = eddy_array_data(a);
    ck_assert(y[0] == -2 && y[1] == 1 && y[2] == 6 && y[3] == -2);
    eddy_array_free(a);
    a = eddy_fetch(s, over);
    y = eddy_array_data(a);
    ck_assert(y[0] == 1 && y[1] == 2 && y[2] == 3 && y[3] == -1);
    eddy_array_free(a);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* A NaN stays, from either side; the least integer over -1 wraps. */
START_TEST(extreme_numbers)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_session *s = eddy_session_new(g);
    const float   x[] = { NAN, 1 }, w[] = { 2, NAN };
    eddy_tensor var = eddy_variable(g, eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2), x));
    eddy_tensor whole = eddy_variable(g, eddy_const(g, EDDY_INT32, EDDY_SHAPE(1),
                                                    (const int32_t[]){ INT32_MIN }));
    const eddy_tensor at = ints(g, EDDY_SHAPE(2), (const int32_t[]){ 0, 1 });
    const eddy_tensor y = eddy_scatter_min(var, at, eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2), w));
    const eddy_tensor z = eddy_scatter_div(whole, eddy_index(at, ":1"),
                                           ints(g, EDDY_SHAPE(1), (const int32_t[]){ -1 }));
    eddy_array *out[2] = { NULL };
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y, z), out), EDDY_OK);
    ck_assert(eddy_array_get(out[0], 0) != eddy_array_get(out[0], 0));
    ck_assert(eddy_array_get(out[0], 1) != eddy_array_get(out[0], 1));
    ck_assert(eddy_array_get(out[1], 0) == INT32_MIN);
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* ----------------------------------------------------------------- tuples -- */

typedef eddy_tensor nd_fn(const eddy_scatter_nd_args *a);

static double replaced(double a, double b) { return (void)a, b; }
static double sum(double a, double b) { return a + b; }
static double difference(double a, double b) { return a - b; }
static double lesser(double a, double b) { return a < b ? a : b; }
static double greater(double a, double b) { return a > b ? a : b; }

static const struct { nd_fn *fn; double (*of)(double a, double b); } nds[] = {
    { eddy_scatter_nd_update_with, replaced }, { eddy_scatter_nd_add_with, sum },
    { eddy_scatter_nd_sub_with, difference },  { eddy_scatter_nd_min_with, lesser },
    { eddy_scatter_nd_max_with, greater },
};

/* Random indices of x in its dimensions [own, own + depth). */
static eddy_array *tuples(trial *t, eddy_shape x, int own, int depth, int64_t n)
{
    eddy_shape s = { .rank = own + 2 };
    for (int d = 0; d < own; d++) s.dim[d] = x.dim[d];
    s.dim[own] = n;
    s.dim[own + 1] = depth;
    eddy_array *a = eddy_array_new(pick(t, 2) ? EDDY_INT32 : EDDY_INT64, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, pick(t, (int)x.dim[own + i % depth]));
    return a;
}

/* Applies the updates to x, one tuple after the other. */
static void apply(eddy_array *x, const eddy_array *at, const eddy_array *rows, int own, int depth,
                  double (*of)(double a, double b))
{
    const eddy_shape s = eddy_array_shape(x);
    int64_t inner = 1, all = 1;
    for (int d = own + depth; d < s.rank; d++) inner *= s.dim[d];
    for (int d = 0; d < own; d++) all *= s.dim[d];
    const int64_t n = eddy_array_shape(at).dim[own];
    for (int64_t b = 0; b < all; b++)
        for (int64_t i = 0; i < n; i++) {
            int64_t to = b;
            for (int d = 0; d < depth; d++)
                to = to * s.dim[own + d] + (int64_t)eddy_array_get(at, (b * n + i) * depth + d);
            for (int64_t j = 0; j < inner; j++)
                eddy_array_set(x, to * inner + j, of(eddy_array_get(x, to * inner + j),
                               eddy_array_get(rows, (b * n + i) * inner + j)));
        }
}

START_TEST(rows_by_tuples)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_dtype d = (eddy_dtype[]){ EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32 }[_i % 3];
    eddy_shape s = some_shape(&t, 1, 4);
    for (int i = 0; i < s.rank; i++) s.dim[i] += s.dim[i] == 0;
    const int own = pick(&t, s.rank), depth = 1 + pick(&t, s.rank - own), op = pick(&t, 5);
    const int64_t n = pick(&t, 6);
    eddy_shape r = { .rank = own + 1 };
    for (int i = 0; i < own; i++) r.dim[i] = s.dim[i];
    r.dim[own] = n;
    for (int i = own + depth; i < s.rank; i++) r.dim[r.rank++] = s.dim[i];
    eddy_array *x = filled(&t, d, s), *at = tuples(&t, s, own, depth, n), *rows = filled(&t, d, r);
    const eddy_tensor var = eddy_variable(t.graph, eddy_constant(t.graph, x, NULL),
                                          .no_validate_shape = pick(&t, 2));
    const eddy_tensor y =
        nds[op].fn(EDDY_ARGS(eddy_scatter_nd_args, .var = var, .indices = fed(&t, at),
                             .updates = fed(&t, rows), .batch_dims = own));
    eddy_array *want = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(x); i++)
        eddy_array_set(want, i, eddy_array_get(x, i));
    apply(want, at, rows, own, depth, nds[op].of);
    const eddy_tensor init = eddy_initializer(t.graph);
    ck_assert_int_eq(eddy_run(t.session, EDDY_FEED(), EDDY_FETCH(init), NULL), EDDY_OK);
    check_array(&t, y, want);
    check_array(&t, eddy_read(var), want);
    eddy_array_free(want);
    eddy_array_free(x);
    trial_end(&t);
}
END_TEST

/* Each example by its own indices, as numpy.put_along_axis. */
START_TEST(batch_of_rows)
{
    trial t = trial_begin((unsigned)_i);
    const double first[] = { 0, 1, 2, 3, 4, 5 }, rows[] = { 10, 20, 30, 40 };
    const double want[] = { 20, 1, 10, 3, 40, 5 };
    const eddy_tensor var = eddy_variable(t.graph, numbers(t.graph, EDDY_FLOAT64,
                                                           EDDY_SHAPE(2, 3), first));
    const eddy_tensor at = ints(t.graph, EDDY_SHAPE(2, 2), (const int32_t[]){ 2, 0, 1, 1 });
    const eddy_tensor y = eddy_batch_scatter_update(var, at, numbers(t.graph, EDDY_FLOAT64,
                                                                     EDDY_SHAPE(2, 2), rows));
    initialize(&t);
    check_values(&t, y, EDDY_SHAPE(2, 3), want);
    trial_end(&t);
}
END_TEST

/* ----------------------------------------------------------------- slices -- */

/* Each text on [[0,1,2,3],[4,...],[8,...]] by NumPy 1.24: a = arange(12.).reshape(3, 4);
 * a[text] = -arange(1, n + 1).reshape(a[text].shape). */
static const struct { const char *text; int n; eddy_shape part; double want[12]; } slices[] = {
    { "1", 4, { 1, { 4 } }, { 0, 1, 2, 3, -1, -2, -3, -4, 8, 9, 10, 11 } },
    { "-1, 2", 1, { 0, { 0 } }, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 11 } },
    { "::2, ::-1", 8, { 2, { 2, 4 } }, { -4, -3, -2, -1, 4, 5, 6, 7, -8, -7, -6, -5 } },
    { "..., 1:3", 6, { 2, { 3, 2 } }, { 0, -1, -2, 3, 4, -3, -4, 7, 8, -5, -6, 11 } },
    { "newaxis, 2:0:-1, 0", 2, { 2, { 1, 2 } }, { 0, 1, 2, 3, -2, 5, 6, 7, -1, 9, 10, 11 } },
    { "1:1", 0, { 2, { 0, 4 } }, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 } },
    { "...", 12, { 2, { 3, 4 } }, { -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12 } },
};
enum { SLICES = sizeof slices / sizeof *slices };

START_TEST(slices_of_variables)
{
    trial t = trial_begin((unsigned)_i);
    double x[12], part[12];
    for (int i = 0; i < 12; i++) x[i] = i, part[i] = -i - 1;
    const eddy_dtype d = _i % 2 ? EDDY_FLOAT32 : EDDY_INT64;
    const eddy_tensor var = eddy_variable(t.graph, numbers(t.graph, d, EDDY_SHAPE(3, 4), x),
                                          .no_validate_shape = _i % 3 == 0);
    const int k = _i % SLICES;
    eddy_array *value = eddy_array_new(d, slices[k].part);
    for (int i = 0; i < slices[k].n; i++) eddy_array_set(value, i, part[i]);
    const eddy_tensor y = eddy_index_assign(var, slices[k].text, fed(&t, value));
    const eddy_tensor init = eddy_initializer(t.graph);
    ck_assert_int_eq(eddy_run(t.session, EDDY_FEED(), EDDY_FETCH(init), NULL), EDDY_OK);
    check_values(&t, y, EDDY_SHAPE(3, 4), slices[k].want);
    check_values(&t, eddy_read(var), EDDY_SHAPE(3, 4), slices[k].want);
    trial_end(&t);
}
END_TEST

/* The values are the variable's own, from before the run. */
START_TEST(by_itself)
{
    trial t = trial_begin((unsigned)_i);
    const double first[] = { 1, 2, 3, 4 };
    const double want[][4] = { { 1, 1, 2, 3 }, { 4, 3, 2, 1 }, { 3, 4, 1, 2 }, { 5, 7, 9, 11 } };
    const eddy_tensor var = eddy_variable(t.graph, numbers(t.graph, EDDY_FLOAT32, EDDY_SHAPE(4),
                                                           first));
    const int32_t     at[] = { 2, 3, 0, 1 };
    const eddy_tensor tuple = ints(t.graph, EDDY_SHAPE(4, 1), at);
    eddy_tensor y;
    switch (_i % 4) {
    case 0:  y = eddy_index_assign(var, "1:", eddy_index(var, ":3")); break;
    case 1:  y = eddy_index_assign(var, "::-1", var); break;
    case 2:  y = eddy_scatter_nd_update(var, tuple, var); break;
    default: y = eddy_scatter_nd_add(var, eddy_index(tuple, "::-1"),
                                     Add(eddy_index(var, "::-1"), 3)); break;
    }
    double last[4];
    for (int i = 0; i < 4; i++) last[i] = want[_i % 4][i];
    if (_i % 4 == 3)      /* places 1, 0, 3, 2 get 7, 6, 5, 4 */
        for (int i = 0; i < 4; i++) last[i] = first[i] + (double[]){ 6, 7, 4, 5 }[i];
    initialize(&t);
    check_values(&t, y, EDDY_SHAPE(4), last);
    check_values(&t, eddy_read(var), EDDY_SHAPE(4), last);
    trial_end(&t);
}
END_TEST

/* Updates of one variable happen as they were built, and a plain reader sees none. */
START_TEST(in_order)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_tensor var = eddy_variable(t.graph, numbers(t.graph, EDDY_FLOAT64, EDDY_SHAPE(2),
                                                           (double[]){ 3, 5 }));
    const eddy_tensor at = ints(t.graph, EDDY_SHAPE(1), (const int32_t[]){ 1 });
    const eddy_tensor pair = ints(t.graph, EDDY_SHAPE(1, 1), (const int32_t[]){ 1 });
    const eddy_tensor one = numbers(t.graph, EDDY_FLOAT64, EDDY_SHAPE(1), (double[]){ 2 });
    const eddy_tensor before = Mul(var, 1.0);
    const eddy_tensor times = eddy_scatter_mul(var, at, one);                /* 3, 10 */
    const eddy_tensor put = eddy_index_assign(var, "0", eddy_index(one, "0")); /* 2, 10 */
    const eddy_tensor less = eddy_scatter_nd_sub(var, pair, one);            /* 2, 8 */
    eddy_control_begin(t.graph, EDDY_LIST(times, put, less));
    const eddy_tensor after = eddy_concat(EDDY_LIST(before, eddy_read(var)), 0);
    eddy_control_end(t.graph);
    initialize(&t);
    check_values(&t, after, EDDY_SHAPE(4), (double[]){ 3, 5, 2, 8 });
    check_values(&t, after, EDDY_SHAPE(4), (double[]){ 2, 8, 2, 14 });
    trial_end(&t);
}
END_TEST

/* ---------------------------------------------------------------- refusals -- */

START_TEST(refuses_before_it_writes)
{
    trial t = trial_begin((unsigned)_i);
    const double first[] = { 1, 2, 3 };
    const eddy_tensor var = eddy_variable(t.graph, numbers(t.graph, EDDY_INT32, EDDY_SHAPE(3),
                                                           first));
    const eddy_tensor at = ints(t.graph, EDDY_SHAPE(2), (const int32_t[]){ 0, 3 });
    const eddy_tensor good = ints(t.graph, EDDY_SHAPE(2), (const int32_t[]){ 0, 1 });
    const eddy_tensor rows = ints(t.graph, EDDY_SHAPE(2), (const int32_t[]){ 8, 0 });
    const eddy_tensor pairs = ExpandDims(at, 1);
    const struct { eddy_tensor y; eddy_status status; const char *says; } cases[] = {
        { eddy_scatter_mul(var, at, rows), EDDY_OUT_OF_RANGE, "indices[1] = 3 is not in [0, 3)" },
        { eddy_scatter_div(var, good, rows), EDDY_INVALID_ARGUMENT, "division by zero: element 1" },
        { eddy_scatter_nd_max(var, pairs, rows), EDDY_OUT_OF_RANGE,
          "tuple 1 of the indices has 3 at position 0, which is not in [0, 3)" },
    };
    check_run_fails(&t, cases[_i].y, _i == 1 ? cases[_i].status : EDDY_UNINITIALIZED,
                    _i == 1 ? "division" : "Attempting to use uninitialized value");
    check_run_fails(&t, eddy_index_assign(var, "2:0:-1", rows), EDDY_UNINITIALIZED,
                    "Attempting to use uninitialized value");
    initialize(&t);
    check_run_fails(&t, cases[_i].y, cases[_i].status, cases[_i].says);
    check_values(&t, eddy_read(var), EDDY_SHAPE(3), first);
    trial_end(&t);
}
END_TEST

static eddy_tensor tensor_v, tensor_one;

static int updated(eddy_list x, eddy_tensor *y, void *context)
{
    const int which = *(const int *)context;
    const eddy_tensor tuple = ExpandDims(tensor_one, 1), row = ExpandDims(x.at[0], 0);
    y[0] = which == 0 ? eddy_scatter_min(tensor_v, tensor_one, row)
         : which == 1 ? eddy_scatter_nd_add(tensor_v, tuple, row)
                      : eddy_index_assign(tensor_v, "0", x.at[0]);
    return 1;
}

/* An update with each example's value is no update with all of them. */
START_TEST(not_mapped)
{
    static const char *const names[] = { "ScatterMin", "ScatterNdAdd", "StridedSliceAssign" };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor y[1];
    const double two[] = { 1, 2 };
    tensor_v = eddy_variable(g, numbers(g, EDDY_FLOAT64, EDDY_SHAPE(2), two));
    tensor_one = ints(g, EDDY_SHAPE(1), (const int32_t[]){ 1 });
    eddy_vmap((eddy_function){ .build = updated, .context = &_i },
              EDDY_LIST(numbers(g, EDDY_FLOAT64, EDDY_SHAPE(2), two)), y);
    ck_assert_int_eq(eddy_graph_status(g), EDDY_UNIMPLEMENTED);
    ck_assert_msg(strstr(eddy_graph_message(g), names[_i]), "%s", eddy_graph_message(g));
    eddy_graph_free(g);
}
END_TEST

/* ---------------------------------------------------------------- counting -- */

START_TEST(counting)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_dtype  d = _i % 2 ? EDDY_INT32 : EDDY_INT64;
    const eddy_tensor var = eddy_variable(t.graph, eddy_number(t.graph, d, 5));
    const eddy_tensor next = eddy_count_up_to(var, 8);
    check_run_fails(&t, next, EDDY_UNINITIALIZED, "Attempting to use uninitialized value");
    initialize(&t);
    for (int i = 5; i < 8; i++) check_values(&t, next, EDDY_SCALAR, (double[]){ i });
    for (int i = 0; i < 2; i++) {
        check_run_fails(&t, next, EDDY_OUT_OF_RANGE, "Reached limit of 8");
        check_values(&t, var, EDDY_SCALAR, (double[]){ 8 });
    }
    trial_end(&t);
}
END_TEST

/* A look does the same, once. */
START_TEST(looked_at)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor v = eddy_variable(g, numbers(g, EDDY_FLOAT32, EDDY_SHAPE(3),
                                                   (double[]){ 1, 2, 3 }));
    const eddy_tensor n = eddy_variable(g, eddy_number(g, EDDY_INT32, 0));
    eddy_eval(eddy_initializer(g));
    const eddy_array *a = eddy_eval(eddy_index_assign(v, "1:", eddy_index(v, ":2")));
    ck_assert_msg(a, "%s", eddy_session_message(eddy_eval_session(g)));
    const double want[] = { 1, 1, 2 };
    for (int i = 0; i < 3; i++) ck_assert(eddy_array_get(a, i) == want[i]);
    ck_assert(eddy_eval_number(eddy_count_up_to(n, 2)) == 0);
    ck_assert(eddy_eval_number(eddy_count_up_to(n, 2)) == 1);
    ck_assert_ptr_null(eddy_eval(eddy_count_up_to(n, 2)));
    eddy_graph_free(g);
}
END_TEST

Suite *updates_suite(void)
{
    Suite *suite = suite_create("updates");
    TCase *c = tcase_create("updates");
    tcase_add_loop_test(c, scatter_rows, 0, 20);
    tcase_add_test(c, complex_rows);
    tcase_add_test(c, extreme_numbers);
    tcase_add_loop_test(c, rows_by_tuples, 0, SEEDS);
    tcase_add_loop_test(c, batch_of_rows, 0, 4);
    tcase_add_loop_test(c, slices_of_variables, 0, 3 * SLICES);
    tcase_add_loop_test(c, by_itself, 0, 16);
    tcase_add_loop_test(c, in_order, 0, 8);
    tcase_add_loop_test(c, refuses_before_it_writes, 0, 3);
    tcase_add_loop_test(c, not_mapped, 0, 3);
    tcase_add_loop_test(c, counting, 0, 4);
    tcase_add_test(c, looked_at);
    suite_add_tcase(suite, c);
    return suite;
}
