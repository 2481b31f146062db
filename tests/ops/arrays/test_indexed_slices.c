/* test_indexed_slices.c -- sparse gradients: the IndexedSlices operation and the code that
 * recognizes it, repeated indices, sums, and updates of a variable's rows. */
#include "tests/lib/array_trial.h"

Suite *indexed_slices_suite(void);

enum { SEEDS = 150 };

/* ------------------------------------------------- the cases of TensorFlow -- */

static eddy_tensor numbers(eddy_graph *g, eddy_dtype d, eddy_shape s, const double *v)
{
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, v[i]);
    eddy_tensor t = eddy_constant(g, a, NULL);
    eddy_array_free(a);
    return t;
}

/* G-33: slices of all rows are the dense tensor, for the arithmetic after them too. */
START_TEST(g33_slices_are_dense_to_others)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_shape s = EDDY_SHAPE(4, 4, 4, 4);
    eddy_array *a = filled(&t, EDDY_FLOAT32, s);
    eddy_tensor c = fed(&t, a);
    eddy_tensor rows = numbers(t.graph, _i ? EDDY_INT64 : EDDY_INT32, EDDY_SHAPE(4),
                               (const double[]){ 0, 1, 2, 3 });
    eddy_tensor x = eddy_indexed_slices_of(c, rows, s);
    check_array(&t, Mul(x, 1.0), a);
    eddy_array *stacked = value(&t, eddy_stack(EDDY_LIST(x, x, x), 0));
    check_array(&t, eddy_stack(EDDY_LIST(c, c, c), 0), stacked);
    eddy_array_free(stacked);
    trial_end(&t);
}
END_TEST

/* G-53: one dense and one sparse term give slices. */
START_TEST(g53_dense_and_sparse_terms)
{
    trial t = trial_begin(1);
    eddy_tensor p = numbers(t.graph, EDDY_FLOAT32, EDDY_SHAPE(4, 2),
                            (const double[]){ 1, 2, 3, 4, 5, 6, 7, 8 });
    eddy_tensor i = numbers(t.graph, EDDY_INT32, EDDY_SHAPE(2), (const double[]){ 0, 1 });
    eddy_tensor y = Mul(eddy_gather(p, i), Sum(Mul(2, p))), dp;
    dp = eddy_gradient(y, p);
    ck_assert(eddy_slices_parts(dp, NULL, NULL));
    check_values(&t, dp, EDDY_SHAPE(4, 2), (const double[]){ 92, 92, 92, 92, 20, 20, 20, 20 });
    trial_end(&t);
}
END_TEST

/* M-31: the gradient of gather has one row an index, not added up. */
START_TEST(m31_rows_are_not_summed)
{
    trial t = trial_begin(1);
    const double seed[] = { 1, 2, 10, 20, 100, 200 };
    eddy_tensor p = fed(&t, filled(&t, EDDY_FLOAT64, EDDY_SHAPE(4, 2))), values, indices;
    eddy_tensor i = numbers(t.graph, EDDY_INT32, EDDY_SHAPE(3), (const double[]){ 2, 2, 0 });
    eddy_tensor dp =
        gradient_with(eddy_gather(p, i), numbers(t.graph, EDDY_FLOAT64, EDDY_SHAPE(3, 2), seed), p);
    ck_assert(eddy_slices_parts(dp, &values, &indices));
    check_values(&t, values, EDDY_SHAPE(3, 2), seed);
    check_values(&t, indices, EDDY_SHAPE(3), (const double[]){ 2, 2, 0 });
    check_values(&t, dp, EDDY_SHAPE(4, 2), (const double[]){ 100, 200, 0, 0, 11, 22, 0, 0 });
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------------ value -- */

/* Rows, where they go, and the dense tensor they make. */
typedef struct sparse {
    eddy_array *values, *indices, *dense;
    eddy_tensor in, at, like;
} sparse;

static sparse some_slices(trial *t)
{
    eddy_shape s = some_shape(t, 1, 4), dense = s;
    const int  rows = 1 + pick(t, 6);
    dense.dim[0] = rows;
    sparse x = { .values = filled(t, EDDY_FLOAT64, s),
                 .dense = eddy_array_new(EDDY_FLOAT64, dense) };
    x.indices = eddy_array_new(pick(t, 2) ? EDDY_INT32 : EDDY_INT64, EDDY_SHAPE(s.dim[0]));
    const int64_t width = eddy_array_count(x.dense) / rows;
    for (int64_t i = 0; i < s.dim[0]; i++) {
        const int at = pick(t, rows + 2) - 2;
        eddy_array_set(x.indices, i, at);
        for (int64_t j = 0; j < width && at >= 0; j++)
            eddy_array_set(x.dense, at * width + j, eddy_array_get(x.dense, at * width + j) +
                                                        eddy_array_get(x.values, i * width + j));
    }
    x.in = fed(t, x.values);
    x.at = fed(t, x.indices);
    x.like = fed(t, filled(t, EDDY_BOOL, dense));
    return x;
}

static eddy_tensor slices_of(trial *t, const sparse *x)
{
    return pick(t, 2) ? eddy_indexed_slices(x->in, x->at, x->like)
                      : eddy_indexed_slices_of(x->in, x->at, eddy_array_shape(x->dense));
}

START_TEST(dense_value)
{
    trial t = trial_begin((unsigned)_i);
    sparse x = some_slices(&t);
    eddy_tensor y = slices_of(&t, &x), values, indices;
    check_numbers(&t, y, x.dense);
    check_gradient(&t, y, 1, &x.in);
    ck_assert(eddy_slices_parts(y, &values, &indices));
    ck_assert(eddy_same(values, x.in) && eddy_same(indices, x.at));
    check_numbers(&t, eddy_slices_with_values(y, x.in), x.dense);
    eddy_array_free(x.dense);
    trial_end(&t);
}
END_TEST

START_TEST(row_outside)
{
    trial t = trial_begin(1);
    eddy_tensor v = fed(&t, filled(&t, EDDY_FLOAT32, EDDY_SHAPE(2, 3)));
    eddy_tensor i = numbers(t.graph, EDDY_INT64, EDDY_SHAPE(2), (const double[]){ 0, 4 });
    check_run_fails(&t, eddy_indexed_slices_of(v, i, EDDY_SHAPE(4, 3)), EDDY_OUT_OF_RANGE,
                    "indices[1] = 4 is not in [0, 4)");
    trial_end(&t);
}
END_TEST

/* The parts can be used without a shape; the dense tensor cannot. */
START_TEST(no_dense_shape)
{
    trial t = trial_begin(1);
    eddy_array *a = filled(&t, EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    eddy_tensor v = fed(&t, a), i =
        numbers(t.graph, EDDY_INT32, EDDY_SHAPE(2), (const double[]){ 0, 4 }), parts;
    eddy_tensor x = eddy_indexed_slices(v, i, EDDY_NO_TENSOR);
    ck_assert(eddy_slices_parts(x, &parts, NULL));
    check_array(&t, parts, a);
    check_run_fails(&t, x, EDDY_INVALID_ARGUMENT,
                    "Tensor conversion requested for IndexedSlices without dense_shape");
    trial_end(&t);
}
END_TEST

START_TEST(what_is_no_slices)
{
    trial t = trial_begin(1);
    eddy_tensor x = eddy_scalar(t.graph, 1);
    ck_assert(!eddy_slices_parts(x, NULL, NULL));
    ck_assert(!eddy_slices_parts(EDDY_NO_TENSOR, NULL, NULL));
    ck_assert(!eddy_is_valid(eddy_slices_with_values(x, x)));
    ck_assert_int_eq(eddy_graph_status(t.graph), EDDY_INVALID_ARGUMENT);
    trial_end(&t);
}
END_TEST

/* Slices of slices: the indices are looked up, nothing becomes dense. */
START_TEST(nested_slices)
{
    trial t = trial_begin(1);
    const double rows[] = { 1, 2, 3, 4 };
    eddy_tensor v = numbers(t.graph, EDDY_FLOAT32, EDDY_SHAPE(4, 1), rows), values, indices;
    eddy_tensor inner =
        numbers(t.graph, EDDY_INT32, EDDY_SHAPE(4), (const double[]){ 2, 0, 2, -1 });
    eddy_tensor outer = numbers(t.graph, EDDY_INT64, EDDY_SHAPE(3), (const double[]){ 4, 3, 1 });
    eddy_tensor x = eddy_indexed_slices_of(eddy_indexed_slices_of(v, inner, EDDY_SHAPE(3, 1)),
                                           outer, EDDY_SHAPE(5, 1));
    ck_assert(eddy_slices_parts(x, &values, &indices));
    ck_assert(eddy_same(values, v));
    check_values(&t, indices, EDDY_SHAPE(4), (const double[]){ 1, 4, 1, -1 });
    check_values(&t, x, EDDY_SHAPE(5, 1), (const double[]){ 0, 4, 0, 0, 2 });
    trial_end(&t);
}
END_TEST

/* Gather of gather: its gradient is slices of the first table. */
START_TEST(gradient_through_two_gathers)
{
    trial t = trial_begin(1);
    eddy_tensor p = numbers(t.graph, EDDY_FLOAT64, EDDY_SHAPE(4, 2),
                            (const double[]){ 1, 2, 3, 4, 5, 6, 7, 8 });
    eddy_tensor i = numbers(t.graph, EDDY_INT32, EDDY_SHAPE(3), (const double[]){ 3, 1, 3 });
    eddy_tensor j = numbers(t.graph, EDDY_INT32, EDDY_SHAPE(4), (const double[]){ 0, 0, 2, 1 });
    eddy_tensor dp = eddy_gradient(eddy_gather(eddy_gather(p, i), j), p);
    ck_assert(eddy_slices_parts(dp, NULL, NULL));
    check_values(&t, dp, EDDY_SHAPE(4, 2), (const double[]){ 0, 0, 1, 1, 0, 0, 3, 3 });
    trial_end(&t);
}
END_TEST

/* -------------------------------------------------------------- duplicates -- */

START_TEST(duplicates)
{
    trial t = trial_begin((unsigned)_i);
    sparse x = some_slices(&t);
    const eddy_shape s = eddy_array_shape(x.values);
    const int64_t n = s.dim[0], width = n > 0 ? eddy_array_count(x.values) / n : 0;
    eddy_array *sums = eddy_array_new(EDDY_FLOAT64, s), *unique =
        eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(n));
    eddy_array *first = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(n));
    for (int64_t i = 0; i < n; i++) {
        int64_t f = 0;
        while (eddy_array_get(x.indices, f) != eddy_array_get(x.indices, i)) f++;
        eddy_array_set(first, i, (double)f);
        eddy_array_set(unique, i, f == i ? eddy_array_get(x.indices, i) : -1);
        for (int64_t j = 0; j < width; j++)
            eddy_array_set(sums, f * width + j, eddy_array_get(sums, f * width + j) +
                                                    eddy_array_get(x.values, i * width + j));
    }
    eddy_tensor y = eddy_slices_sum_duplicates(x.in, x.at);
    check_numbers(&t, y, sums);
    check_numbers(&t, eddy_output(y, 1), unique);
    check_numbers(&t, eddy_first_positions(x.at), first);
    check_gradient(&t, y, 1, &x.in);
    eddy_array_free(sums);
    eddy_array_free(unique);
    eddy_array_free(first);
    eddy_array_free(x.dense);
    trial_end(&t);
}
END_TEST

/* Far more rows than places in a cache line, few and many different ones. */
START_TEST(many_duplicates)
{
    enum { N = 20000 };
    static const int64_t spread[] = { 1, 7, 19997, INT64_MAX };
    trial t = trial_begin(1);
    eddy_array *v = eddy_array_new(EDDY_INT64, EDDY_SHAPE(N)), *at =
        eddy_array_new(EDDY_INT64, EDDY_SHAPE(N));
    int64_t *index = eddy_array_data(at);
    for (int i = 0; i < N; i++) {
        index[i] = spread[_i] == INT64_MAX ? (int64_t)i << 40 : (int64_t)i * 7919 % spread[_i];
        eddy_array_set(v, i, 1);
    }
    eddy_tensor in = fed(&t, v), rows = fed(&t, at), y = eddy_slices_sum_duplicates(in, rows);
    eddy_array *sums = value(&t, y), *unique = value(&t, eddy_output(y, 1));
    int64_t kept = 0, total = 0;
    for (int i = 0; i < N; i++) {
        const double sum = eddy_array_get(sums, i);
        kept += eddy_array_get(unique, i) >= 0;
        total += (int64_t)sum;
        ck_assert((sum > 0) == (eddy_array_get(unique, i) >= 0));
    }
    ck_assert_int_eq(kept, spread[_i] < N ? spread[_i] : N);
    ck_assert_int_eq(total, N);
    eddy_array_free(sums);
    eddy_array_free(unique);
    trial_end(&t);
}
END_TEST

/* -------------------------------------------------------------------- sums -- */

START_TEST(sums_stay_sparse)
{
    trial t = trial_begin((unsigned)_i);
    sparse x = some_slices(&t);
    const eddy_shape s = eddy_array_shape(x.dense);
    eddy_array *d = filled(&t, EDDY_FLOAT64, s);
    eddy_tensor dense = fed(&t, d), sparse_term = slices_of(&t, &x), values, indices;
    eddy_tensor terms[] = { sparse_term, dense, sparse_term };
    if (pick(&t, 2)) {
        terms[0] = dense;
        terms[1] = sparse_term;
    }
    eddy_tensor sum = eddy_slices_add((eddy_list){ 3, terms });
    for (int64_t i = 0; i < eddy_array_count(x.dense); i++)
        eddy_array_set(x.dense, i, 2 * eddy_array_get(x.dense, i) + eddy_array_get(d, i));
    ck_assert(eddy_slices_parts(sum, &values, &indices));
    ck_assert_int_eq(eddy_dtype_of(indices), eddy_array_dtype(x.indices));
    check_numbers(&t, sum, x.dense);
    eddy_array *rows = value(&t, indices);
    ck_assert_int_eq(eddy_array_count(rows), 2 * eddy_array_count(x.indices) + s.dim[0]);
    eddy_array_free(rows);
    check_gradient(&t, sum, 2, (const eddy_tensor[]){ x.in, dense });
    eddy_array_free(x.dense);
    trial_end(&t);
}
END_TEST

START_TEST(sums_widen_indices)
{
    trial t = trial_begin(1);
    eddy_tensor v = numbers(t.graph, EDDY_FLOAT32, EDDY_SHAPE(2), (const double[]){ 1, 2 }),
        indices;
    eddy_tensor narrow = numbers(t.graph, EDDY_INT32, EDDY_SHAPE(2), (const double[]){ 1, 1 });
    eddy_tensor wide = numbers(t.graph, EDDY_INT64, EDDY_SHAPE(2), (const double[]){ 2, 0 });
    eddy_tensor a = eddy_indexed_slices_of(v, narrow, EDDY_SHAPE(3)), b =
        eddy_indexed_slices_of(v, wide, EDDY_SHAPE(3));
    eddy_tensor sum = eddy_slices_add(EDDY_LIST(a, b));
    ck_assert(eddy_slices_parts(sum, NULL, &indices));
    ck_assert_int_eq(eddy_dtype_of(indices), EDDY_INT64);
    check_values(&t, indices, EDDY_SHAPE(4), (const double[]){ 1, 1, 2, 0 });
    check_values(&t, sum, EDDY_SHAPE(3), (const double[]){ 2, 3, 1 });
    ck_assert(eddy_same(eddy_slices_add(EDDY_LIST(a)), a));
    ck_assert(!eddy_is_valid(eddy_slices_add(EDDY_LIST())));
    trial_end(&t);
}
END_TEST

/* ----------------------------------------------------------------- scatter -- */

typedef eddy_tensor scatter_fn(const eddy_scatter_args *a);

static const struct { scatter_fn *fn; double want[6]; } scatters[] = {
    { eddy_scatter_update_with, { 30, 40, 3, 4, 50, 60 } },
    { eddy_scatter_add_with, { 41, 62, 3, 4, 55, 66 } },
    { eddy_scatter_sub_with, { -39, -58, 3, 4, -45, -54 } },
};

/* Rows 0, 0 and 2 of [[1,2],[3,4],[5,6]]; -3 is skipped. */
START_TEST(scatter_rows)
{
    static const eddy_dtype dtypes[] =
        { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64, EDDY_UINT8 };
    trial t = trial_begin(1);
    const eddy_dtype d = dtypes[_i / 3];
    eddy_tensor first = numbers(t.graph, d, EDDY_SHAPE(3, 2), (const double[]){ 1, 2, 3, 4, 5, 6 });
    eddy_tensor var = eddy_variable(t.graph, .initial_value = first);
    eddy_tensor at = numbers(t.graph, EDDY_INT32, EDDY_SHAPE(4), (const double[]){ 0, -3, 0, 2 });
    eddy_tensor rows =
        numbers(t.graph, d, EDDY_SHAPE(4, 2), (const double[]){ 10, 20, 7, 7, 30, 40, 50, 60 });
    eddy_tensor y = scatters[_i % 3].fn(EDDY_ARGS(eddy_scatter_args, .var = var, .indices = at,
                                                  .updates = rows, .skip_negative = true));
    double want[6];
    for (int i = 0; i < 6; i++)
        want[i] = d == EDDY_UINT8 ? (double)(uint8_t)(int)scatters[_i % 3].want[i]
            : scatters[_i % 3].want[i];
    initialize(&t);
    check_values(&t, y, EDDY_SHAPE(3, 2), want);
    check_values(&t, eddy_read(var), EDDY_SHAPE(3, 2), want);
    trial_end(&t);
}
END_TEST

START_TEST(scatter_refuses_before_it_writes)
{
    trial t = trial_begin(1);
    const double before[] = { 1, 2, 3 };
    eddy_tensor var = eddy_variable(t.graph, .initial_value = numbers(t.graph, EDDY_FLOAT32,
                                                                      EDDY_SHAPE(3), before));
    eddy_tensor at =
        numbers(t.graph, EDDY_INT64, EDDY_SHAPE(2), (const double[]){ 0, _i == 0 ? 3 : -1 });
    eddy_tensor rows = numbers(t.graph, EDDY_FLOAT32, EDDY_SHAPE(2), (const double[]){ 8, 9 });
    eddy_tensor y = eddy_scatter_add(var, at, rows);
    check_run_fails(&t, y, EDDY_UNINITIALIZED, "Attempting to use uninitialized value");
    initialize(&t);
    check_run_fails(&t, y, EDDY_OUT_OF_RANGE,
                    _i == 0 ? "indices[1] = 3 is not in [0, 3)"
                        : "indices[1] = -1 is not in [0, 3)");
    check_values(&t, eddy_read(var), EDDY_SHAPE(3), before);
    trial_end(&t);
}
END_TEST

/* The updates are the variable's own rows, from before the run. */
START_TEST(scatter_swaps_rows)
{
    trial t = trial_begin((unsigned)_i);
    const double before[] = { 1, 2, 3, 4 }, after[] = { 3, 4, 1, 2 }, sum[] = { 4, 6, 4, 6 };
    const double *want[] = { after, sum };
    eddy_tensor var = eddy_variable(
        t.graph, .initial_value = numbers(t.graph, EDDY_FLOAT32, EDDY_SHAPE(2, 2), before));
    eddy_tensor at = numbers(t.graph, EDDY_INT32, EDDY_SHAPE(2, 1), (const double[]){ 1, 0 });
    eddy_tensor rows = eddy_reshape(var, EDDY_SHAPE(2, 1, 2));
    eddy_tensor y = _i % 2 == 0 ? eddy_scatter_update(var, at, rows)
        : eddy_scatter_add(var, at, rows);
    initialize(&t);
    check_values(&t, y, EDDY_SHAPE(2, 2), want[_i % 2]);
    check_values(&t, eddy_read(var), EDDY_SHAPE(2, 2), want[_i % 2]);
    trial_end(&t);
}
END_TEST

/* The indices are the variable's own elements, and stay what they were. */
START_TEST(scatter_by_itself)
{
    trial t = trial_begin((unsigned)_i);
    const double before[] = { 2, 0, 1 }, after[] = { 22, 30, 11 };
    eddy_tensor var = eddy_variable(
        t.graph, .initial_value = numbers(t.graph, EDDY_INT32, EDDY_SHAPE(3), before));
    eddy_tensor rows = numbers(t.graph, EDDY_INT32, EDDY_SHAPE(3), (const double[]){ 10, 20, 30 });
    initialize(&t);
    check_values(&t, eddy_scatter_add(var, var, rows), EDDY_SHAPE(3), after);
    trial_end(&t);
}
END_TEST

START_TEST(scatter_of_misfits)
{
    trial t = trial_begin(1);
    eddy_tensor var = eddy_variable(t.graph, .initial_value = eddy_zeros(t.graph, EDDY_FLOAT32,
                                                                         EDDY_SHAPE(3, 2)));
    eddy_tensor at = eddy_zeros(t.graph, EDDY_INT32, EDDY_SHAPE(4));
    const eddy_tensor y[] = {
        eddy_scatter_add(var, at, eddy_zeros(t.graph, EDDY_FLOAT32, EDDY_SHAPE(4, 3))),
        eddy_scatter_add(var, at, eddy_zeros(t.graph, EDDY_FLOAT64, EDDY_SHAPE(4, 2))),
    };
    for (int i = 0; i < 2; i++) ck_assert(!eddy_is_valid(y[i]));
    ck_assert_msg(strstr(eddy_graph_message(t.graph), "the updates must have the shape [4,2]"),
                  "%s",
                  eddy_graph_message(t.graph));
    trial_end(&t);
}
END_TEST

Suite *indexed_slices_suite(void)
{
    Suite *s = suite_create("indexed_slices");
    TCase *c = tcase_create("tensorflow");
    tcase_add_loop_test(c, g33_slices_are_dense_to_others, 0, 2);
    tcase_add_test(c, g53_dense_and_sparse_terms);
    tcase_add_test(c, m31_rows_are_not_summed);
    suite_add_tcase(s, c);
    c = tcase_create("value");
    tcase_add_loop_test(c, dense_value, 0, SEEDS);
    tcase_add_test(c, row_outside);
    tcase_add_test(c, no_dense_shape);
    tcase_add_test(c, what_is_no_slices);
    tcase_add_test(c, nested_slices);
    tcase_add_test(c, gradient_through_two_gathers);
    suite_add_tcase(s, c);
    c = tcase_create("sums");
    tcase_add_loop_test(c, duplicates, 0, SEEDS);
    tcase_add_loop_test(c, many_duplicates, 0, 4);
    tcase_add_loop_test(c, sums_stay_sparse, 0, SEEDS);
    tcase_add_test(c, sums_widen_indices);
    suite_add_tcase(s, c);
    c = tcase_create("scatter");
    tcase_add_loop_test(c, scatter_rows, 0, 15);
    tcase_add_loop_test(c, scatter_refuses_before_it_writes, 0, 2);
    tcase_add_loop_test(c, scatter_swaps_rows, 0, 8);
    tcase_add_loop_test(c, scatter_by_itself, 0, 4);
    tcase_add_test(c, scatter_of_misfits);
    suite_add_tcase(s, c);
    return s;
}
