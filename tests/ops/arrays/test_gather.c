/* test_gather.c -- gather with its adjoint, one_hot, and shapes as tensors,
 * against index arithmetic. */
#include "tests/lib/array_trial.h"

Suite *gather_suite(void);

enum { SEEDS = 150 };

/* ----------------------------------------------------------------- gather -- */

typedef struct gathering {
    eddy_shape        params, indices, result;
    int               axis;
    const eddy_array *index;
} gathering;

static int64_t gathered_place(const void *how, const int64_t *at)
{
    const gathering *g = how;
    int64_t x[EDDY_MAX_RANK];
    for (int i = 0; i < g->axis; i++) x[i] = at[i];
    for (int i = g->axis + 1; i < g->params.rank; i++) x[i] = at[i + g->indices.rank - 1];
    x[g->axis] = (int64_t)eddy_array_get(g->index, place(g->indices, at + g->axis));
    return x[g->axis] < 0 ? -1 : place(g->params, x);
}

static gathering some_gathering(trial *t, bool with_negatives)
{
    gathering g = { .params = some_shape(t, 1, 4), .indices = some_shape(t, 0, 3) };
    g.axis = pick(t, g.params.rank);
    if (eddy_shape_count(g.indices) > 60) g.indices = EDDY_SHAPE(7);
    if (g.params.dim[g.axis] == 0) g.params.dim[g.axis] = 3;
    g.result.rank = g.params.rank + g.indices.rank - 1;
    for (int i = 0; i < g.result.rank; i++)
        g.result.dim[i] = i < g.axis                    ? g.params.dim[i]
                          : i < g.axis + g.indices.rank ? g.indices.dim[i - g.axis]
                                                        : g.params.dim[i - g.indices.rank + 1];
    eddy_array *index = eddy_array_new(pick(t, 2) ? EDDY_INT32 : EDDY_INT64, g.indices);
    const int below = with_negatives ? 2 : 0, rows = (int)g.params.dim[g.axis];
    for (int64_t i = 0; i < eddy_array_count(index); i++)
        eddy_array_set(index, i, pick(t, rows + below) - below);
    g.index = index;
    return g;
}

START_TEST(gathering_rows_and_columns)
{
    static const eddy_dtype dtypes[] = { EDDY_FLOAT64, EDDY_FLOAT32, EDDY_BOOL, EDDY_COMPLEX128 };
    trial t = trial_begin((unsigned)_i);
    const bool skip = pick(&t, 2);
    gathering   g = some_gathering(&t, skip);
    eddy_array *x = filled(&t, dtypes[pick(&t, 4)], g.params);
    eddy_tensor in = fed(&t, x), index = fed(&t, (eddy_array *)(uintptr_t)g.index);
    eddy_tensor y = eddy_gather(in, index, pick(&t, 2) ? g.axis : g.axis - g.params.rank,
                                .skip_negative = skip);
    check_elements(&t, y, g.result, x, gathered_place, &g);
    check_gradient(&t, y, 1, &in);

    eddy_array *dy = filled(&t, EDDY_FLOAT64, g.result);
    eddy_array *want = eddy_array_new(EDDY_FLOAT64, g.params);
    eddy_tensor back = fed(&t, dy), sum;
    for (int64_t i = 0; i < eddy_array_count(dy); i++) {
        int64_t at[EDDY_MAX_RANK];
        position(g.result, i, at);
        const int64_t j = gathered_place(&g, at);
        if (j >= 0) eddy_array_set(want, j, eddy_array_get(want, j) + eddy_array_get(dy, i));
    }
    sum = eddy_gather_grad(back, index, in, g.axis, .skip_negative = skip);
    check_numbers(&t, sum, want);
    check_gradient(&t, sum, 1, &back);
    eddy_array_free(want);
    trial_end(&t);
}
END_TEST

START_TEST(indices_outside)
{
    static const struct { double index; bool skip; const char *says; } rows[] = {
        { 4, false, "indices[1,0] = 4 is not in [0, 4)" },
        { -1, false, "indices[1,0] = -1 is not in [0, 4)" },
        { 4, true, "indices[1,0] = 4 is not in [0, 4)" },
        { 2147483647, true, "indices[1,0] = 2147483647 is not in [0, 4)" },
    };
    trial t = trial_begin(1);
    eddy_array *index = eddy_array_new(EDDY_INT32, EDDY_SHAPE(2, 2));
    eddy_array_set(index, 2, rows[_i].index);
    eddy_tensor params = fed(&t, filled(&t, EDDY_FLOAT64, EDDY_SHAPE(4, 3))), at = fed(&t, index);
    eddy_tensor y = eddy_gather(params, at, .skip_negative = rows[_i].skip);
    check_run_fails(&t, y, EDDY_OUT_OF_RANGE, rows[_i].says);
    y = eddy_gather_grad(fed(&t, filled(&t, EDDY_FLOAT64, EDDY_SHAPE(2, 2, 3))), at, params,
                         .skip_negative = rows[_i].skip);
    check_run_fails(&t, y, EDDY_OUT_OF_RANGE, rows[_i].says);
    trial_end(&t);
}
END_TEST

/* ---------------------------------------------------------------- one_hot -- */

START_TEST(one_hot_rows)
{
    static const eddy_dtype of_index[] = { EDDY_INT32, EDDY_INT64, EDDY_UINT8 };
    static const eddy_dtype of_value[] =
        { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_UINT8, EDDY_BOOL };
    trial t = trial_begin((unsigned)_i);
    const eddy_shape s = some_shape(&t, 0, 3);
    const int  depth = pick(&t, 6), axis = pick(&t, s.rank + 1);
    const bool plain = pick(&t, 2);
    eddy_shape  want = { .rank = s.rank + 1 };
    eddy_array *index = eddy_array_new(of_index[pick(&t, 3)], s);
    const int   below = eddy_array_dtype(index) == EDDY_UINT8 ? 0 : 2;
    for (int64_t i = 0; i < eddy_array_count(index); i++)
        eddy_array_set(index, i, pick(&t, depth + 4) - below);
    for (int i = 0; i < want.rank; i++)
        want.dim[i] = i < axis ? s.dim[i] : i == axis ? depth : s.dim[i - 1];
    const eddy_dtype d = of_value[pick(&t, 5)];
    eddy_tensor in = fed(&t, index);
    eddy_tensor y = plain ? eddy_one_hot(in, depth, .axis = EDDY_AXES(axis), .dtype = d)
                          : eddy_one_hot(in, depth, .on_value = 0, .off_value = 1, .dtype = d,
                                         .axis = EDDY_AXES(axis - want.rank));
    eddy_array *v = eddy_array_new(EDDY_FLOAT64, want);
    for (int64_t i = 0; i < eddy_array_count(v); i++) {
        int64_t at[EDDY_MAX_RANK], place_of[EDDY_MAX_RANK];
        position(want, i, at);
        for (int k = 0; k < s.rank; k++) place_of[k] = at[k < axis ? k : k + 1];
        const bool on = eddy_array_get(index, place(s, place_of)) == (double)at[axis];
        eddy_array_set(v, i, on == plain);
    }
    ck_assert_int_eq(eddy_dtype_of(y), d);
    check_numbers(&t, y, v);
    eddy_array_free(v);
    trial_end(&t);
}
END_TEST

START_TEST(one_hot_defaults)
{
    trial t = trial_begin(1);
    eddy_tensor i = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(3), (const int32_t[]){ 2, 0, 5 });
    check_values(&t, eddy_one_hot(i, 3), EDDY_SHAPE(3, 3),
                 (const double[]){ 0, 0, 1, 1, 0, 0, 0, 0, 0 });
    check_values(&t, eddy_one_hot(i, 3, .on_value = 2, .off_value = -1), EDDY_SHAPE(3, 3),
                 (const double[]){ -1, -1, 2, 2, -1, -1, -1, -1, -1 });
    ck_assert_int_eq(eddy_dtype_of(eddy_one_hot(i, 3)), EDDY_FLOAT32);
    trial_end(&t);
}
END_TEST

/* ----------------------------------------------------------------- shapes -- */

START_TEST(shapes_as_tensors)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_shape s = some_shape(&t, 1, 5);
    const eddy_dtype d = pick(&t, 2) ? EDDY_INT32 : EDDY_INT64;
    eddy_tensor x = fed(&t, filled(&t, EDDY_BOOL, s));
    double v[64] = { 0 };
    for (int i = 0; i < s.rank; i++) v[i] = (double)s.dim[i];
    check_values(&t, eddy_shape_tensor(x, d), EDDY_SHAPE(s.rank), v);
    check_values(&t, eddy_size(x, d), EDDY_SCALAR, (const double[]){ (double)eddy_shape_count(s) });
    check_values(&t, eddy_rank(x), EDDY_SCALAR, (const double[]){ s.rank });
    for (int i = 0; i < 64; i++) v[i] = i;
    check_values(&t, eddy_row_numbers(x, d), EDDY_SHAPE(s.dim[0]), v);
    trial_end(&t);
}
END_TEST

START_TEST(shape_of_a_scalar)
{
    trial t = trial_begin(1);
    eddy_tensor x = eddy_scalar(t.graph, 3);
    check_values(&t, eddy_shape_tensor(x, 0), EDDY_SHAPE(0), NULL);
    check_values(&t, eddy_size(x, 0), EDDY_SCALAR, (const double[]){ 1 });
    ck_assert_int_eq(eddy_dtype_of(eddy_size(x, 0)), EDDY_INT32);
    trial_end(&t);
}
END_TEST

/* A tensor whose shape is a tensor's value: only the run knows. */
START_TEST(reshape_by_a_computed_shape)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_shape s = some_shape(&t, 1, 4);
    eddy_array *a = filled(&t, EDDY_FLOAT64, s);
    eddy_tensor x = fed(&t, a), flat = eddy_reshape(x, EDDY_SHAPE(-1));
    check_array(&t, eddy_reshape_to(flat, eddy_shape_tensor(x, EDDY_INT64)), a);
    trial_end(&t);
}
END_TEST

static const struct {
    eddy_dtype dtype;
    double     start, limit, delta;
    int        n;
} ranges[] = {
    { EDDY_INT32, 0, 5, 1, 5 },          { EDDY_INT64, 3, 18, 3, 5 },
        { EDDY_INT32, 3, 1, -1, 2 },
    { EDDY_INT32, 4, 4, 1, 0 },          { EDDY_INT64, 4, 4, -2, 0 },    { EDDY_INT32, 0, 7, 4, 2 },
    { EDDY_FLOAT32, 0, 1, 0.25, 4 },     { EDDY_FLOAT64, 1, 0, -0.5, 2 },
        { EDDY_FLOAT32, 0, 0.3f, 0.1f, 3 },
    { EDDY_INT32, -2147483648.0, 2147483647.0, 1073741824.0, 4 },
};

START_TEST(range_values)
{
    trial t = trial_begin(1);
    const double start = ranges[_i].start, delta = ranges[_i].delta;
    const eddy_dtype d = ranges[_i].dtype;
    eddy_tensor y =
        eddy_range(eddy_number(t.graph, d, start), eddy_number(t.graph, d, ranges[_i].limit),
                   eddy_number(t.graph, d, delta));
    double v[8];
    for (int i = 0; i < ranges[_i].n; i++)
        v[i] = d == EDDY_FLOAT32 ? (double)((float)start + (float)i * (float)delta)
            : start + i * delta;
    ck_assert_int_eq(eddy_shape_of(y).dim[0], ranges[_i].n);
    check_values(&t, y, EDDY_SHAPE(ranges[_i].n), v);
    trial_end(&t);
}
END_TEST

START_TEST(range_of_fed_numbers)
{
    trial t = trial_begin(1);
    eddy_array *limit = eddy_array_of(EDDY_INT32, 3);
    eddy_tensor y = eddy_range(eddy_number(t.graph, EDDY_INT32, 0), fed(&t, limit),
                               eddy_number(t.graph, EDDY_INT32, 1));
    ck_assert_int_eq(eddy_shape_of(y).dim[0], EDDY_ANY);
    check_values(&t, y, EDDY_SHAPE(3), (const double[]){ 0, 1, 2 });
    eddy_array_set(limit, 0, 2);
    check_values(&t, y, EDDY_SHAPE(2), (const double[]){ 0, 1 });
    trial_end(&t);
}
END_TEST

START_TEST(ranges_that_lead_nowhere)
{
    static const double rows[][3] = { { 0, 5, 0 }, { 0, 5, -1 }, { 5, 0, 1 } };
    eddy_graph *g = eddy_graph_new();
    const double *r = rows[_i % 3];
    const eddy_dtype d = _i < 3 ? EDDY_INT32 : EDDY_FLOAT64;
    eddy_tensor y =
        eddy_range(eddy_number(g, d, r[0]), eddy_number(g, d, r[1]), eddy_number(g, d, r[2]));
    ck_assert(!eddy_is_valid(y));
    ck_assert_int_eq(eddy_graph_status(g), EDDY_INVALID_ARGUMENT);
    eddy_graph_free(g);
}
END_TEST

Suite *gather_suite(void)
{
    Suite *s = suite_create("gather");
    TCase *c = tcase_create("gather");
    tcase_add_loop_test(c, gathering_rows_and_columns, 0, SEEDS);
    tcase_add_loop_test(c, indices_outside, 0, 4);
    tcase_add_loop_test(c, one_hot_rows, 0, SEEDS);
    tcase_add_test(c, one_hot_defaults);
    suite_add_tcase(s, c);
    c = tcase_create("shapes");
    tcase_add_loop_test(c, shapes_as_tensors, 0, 30);
    tcase_add_test(c, shape_of_a_scalar);
    tcase_add_loop_test(c, reshape_by_a_computed_shape, 0, 30);
    tcase_add_loop_test(c, range_values, 0, (int)(sizeof ranges / sizeof *ranges));
    tcase_add_test(c, range_of_fed_numbers);
    tcase_add_loop_test(c, ranges_that_lead_nowhere, 0, 6);
    suite_add_tcase(s, c);
    return s;
}
