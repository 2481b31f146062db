/* test_jacobian.c -- Jacobians and Hessians: rows against columns, all at once, in blocks and one
 * by one, and against known values. */
#include "autodiff/autodiff.h"
#include "tests/lib/array_trial.h"
#include "tests/lib/checks.h"

#include <math.h>

Suite *jacobian_suite(void);

static trial t;

static void begin(void)
{
    t = (trial){ .graph = eddy_graph_new(), .random = 5 };
    t.session = eddy_session_new(t.graph);
}

static void end(void)
{
    fits(t.graph);
    trial_end(&t);
}

/* A fed float64 tensor; a size of EDDY_ANY is not known while building, and `rows` then. */
static eddy_tensor given(eddy_shape shape, int64_t rows)
{
    eddy_shape full = shape;
    for (int i = 0; i < full.rank; i++) if (full.dim[i] == EDDY_ANY) full.dim[i] = rows;
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, full);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, (pick(&t, 2000) - 1000) / 500.0);
    t.array[t.n] = a;
    return t.tensor[t.n++] = eddy_placeholder(t.graph, NULL, EDDY_FLOAT64, shape);
}

static void same(eddy_tensor got, eddy_tensor want)
{
    fits(t.graph);
    eddy_array *a = value(&t, got), *b = value(&t, want);
    ck_assert(eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(b)));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ck_assert_double_eq_tol(eddy_array_get(a, i), eddy_array_get(b, i), 1e-12);
    eddy_array_free(a);
    eddy_array_free(b);
}

static eddy_tensor jacobian(eddy_tensor y, eddy_tensor x, bool by_row)
{
    eddy_tensor j;
    ck_assert_msg(eddy_jacobian(y, EDDY_LIST(x), &j, .no_pfor = by_row) == EDDY_OK, "%s",
                  eddy_graph_message(t.graph));
    return j;
}

/* Rows and columns, together, in blocks and in a loop. */
static void both_ways(eddy_tensor y, eddy_tensor x)
{
    const eddy_tensor want = jacobian(y, x, false);
    const bool        known = eddy_shape_is_known(eddy_shape_of(y)) &&
                              eddy_shape_is_known(eddy_shape_of(x));
    same(want, jacobian(y, x, true));
    for (int mode = EDDY_JACOBIAN_AUTOMATIC; mode <= EDDY_JACOBIAN_REVERSE; mode++)
        for (int how = 0; how < 4; how++) {
            const int64_t max_bytes[] = { 0, 0, 1, 500 };
            eddy_tensor   j;
            eddy_jacobian(y, EDDY_LIST(x), &j, .mode = (eddy_jacobian_mode)mode,
                          .no_pfor = how == 1, .max_bytes = known ? max_bytes[how] : 0);
            same(j, want);
        }
}

static eddy_tensor layers(eddy_tensor x, eddy_tensor w1, eddy_tensor w2)
{
    return MatMul(Tanh(MatMul(x, w1)), w2);
}

/* ------------------------------------------------------------------ jacobian -- */

START_TEST(squares)
{
    begin();
    const eddy_tensor x = vector(t.graph, 2, (double[]){ 1, 2 });
    const double want[] = { 2, 0, 0, 4 };
    for (int by_row = 0; by_row < 2; by_row++) {
        const eddy_tensor j = jacobian(Mul(x, x), x, by_row);
        check_values(&t, j, EDDY_SHAPE(2, 2), want);
    }
    end();
}
END_TEST

/* The number of rows is not known while building. */
START_TEST(network_of_unknown_batch)
{
    begin();
    const eddy_tensor x = given(EDDY_SHAPE(EDDY_ANY, 3), 4), w1 = given(EDDY_SHAPE(3, 5), 0);
    const eddy_tensor w2 = given(EDDY_SHAPE(5, 2), 0), y = layers(x, w1, w2);
    eddy_tensor j[3], k[3];
    eddy_jacobian(y, EDDY_LIST(x, w1, w2), j, .parallel_iterations = 2);
    eddy_jacobian(y, EDDY_LIST(x, w1, w2), k, .no_pfor = true);
    for (int i = 0; i < 3; i++) same(j[i], k[i]);
    ck_assert_int_eq(eddy_shape_of(j[1]).rank, 4);
    ck_assert_int_eq(eddy_shape_of(j[1]).dim[2], 3);
    end();
}
END_TEST

/* Row by row, the gradient is built once, however many rows there are. */
START_TEST(one_body_for_all_rows)
{
    int32_t nodes[2];
    for (int many = 0; many < 2; many++) {
        begin();
        const eddy_tensor x = given(EDDY_SHAPE(many ? 500 : 2), 0);
        const eddy_tensor y = Mul(Sin(x), Sum(x));
        const int32_t     size = eddy_graph_size(t.graph);
        eddy_tensor       j = jacobian(y, x, true);
        nodes[many] = eddy_graph_size(t.graph) - size;
        same(j, jacobian(y, x, false));
        end();
    }
    ck_assert_int_eq(nodes[0], nodes[1]);
}
END_TEST

/* More sources than a loop has results, of which some have no gradient. */
START_TEST(many_sources)
{
    enum { N = EDDY_MAX_RESULTS + 7 };
    eddy_tensor x[N], j[N], k[N], y;
    begin();
    const eddy_tensor first = given(EDDY_SHAPE(2), 0);
    y = Square(first);
    for (int i = 0; i < N; i++) {
        x[i] = i == 0 ? first : eddy_scalar(t.graph, i);
        if (i > 0) x[i] = Cast(x[i], EDDY_FLOAT64);
        if (i % 3) y = Add(y, Mul(first, x[i]));
    }
    for (int way = 0; way < 2; way++)
        eddy_jacobian(y, ((eddy_list){ N, x }), way ? k : j, .no_pfor = way);
    fits(t.graph);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(eddy_is_valid(k[i]), i == 0 || i % 3 != 0);
        ck_assert_int_eq(eddy_is_valid(j[i]), eddy_is_valid(k[i]));
        if (i % 10 == 0 && eddy_is_valid(k[i])) same(k[i], j[i]);
    }
    end();
}
END_TEST

START_TEST(empty_batch)
{
    begin();
    const eddy_tensor x = given(EDDY_SHAPE(EDDY_ANY, 3), 0), w = given(EDDY_SHAPE(3, 2), 0);
    for (int by_row = 0; by_row < 2; by_row++) {
        check_values(&t, jacobian(MatMul(x, w), x, by_row), EDDY_SHAPE(0, 2, 0, 3), NULL);
        check_values(&t, jacobian(MatMul(x, w), w, by_row), EDDY_SHAPE(0, 2, 3, 2), NULL);
    }
    end();
}
END_TEST

START_TEST(softmax)
{
    begin();
    const eddy_tensor x = given(EDDY_SHAPE(EDDY_ANY), 5), p = Softmax(x);
    const eddy_tensor diagonal = Mul(eddy_basis_like(p), p);
    same(jacobian(p, x, false), Sub(diagonal, Mul(ExpandDims(p, 1), p)));
    const eddy_tensor z = given(EDDY_SHAPE(2, 3), 0);
    both_ways(eddy_log_softmax(z, EDDY_AXES(0)), z);
    both_ways(eddy_softmax_cross_entropy(Softmax(z), z), z);
    end();
}
END_TEST

/* J-04: sparse gradients come out dense. */
START_TEST(lookup)
{
    begin();
    const eddy_tensor table = given(EDDY_SHAPE(3, 2), 0);
    const eddy_tensor at = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 0, 2 });
    double want[2 * 2 * 3 * 2] = { 0 };
    for (int row = 0; row < 2; row++)
        for (int c = 0; c < 2; c++) want[((row * 2 + c) * 3 + 2 * row) * 2 + c] = 1;
    for (int by_row = 0; by_row < 2; by_row++)
        check_values(&t, jacobian(Gather(table, at), table, by_row), EDDY_SHAPE(2, 2, 3, 2), want);
    both_ways(Square(Gather(Transpose(table), at, .axis = 1)), table);
    end();
}
END_TEST

START_TEST(many_kinds)
{
    begin();
    const eddy_tensor x = given(EDDY_SHAPE(3, 4), 0);
    both_ways(Prod(x, EDDY_AXES(0)), x);
    both_ways(Max(x, EDDY_AXES(1), .keepdims = true), x);
    both_ways(Cumprod(x, 1), x);
    both_ways(eddy_tile(x, EDDY_DIMS(1, 2)), x);
    both_ways(eddy_concat(EDDY_LIST(x, Sin(x)), 1), x);
    both_ways(Reshape(Transpose(Exp(x)), EDDY_SHAPE(2, 6)), x);
    both_ways(MatMul(x, x, .transpose_a = true), x);
    both_ways(LogSumExp(x), x);
    end();
}
END_TEST

static eddy_plan_info plan_of(eddy_tensor y)
{
    eddy_array *a = value(&t, y);
    eddy_array_free(a);
    return eddy_session_plan_info(t.session);
}

/* Residuals of a fit: the derivative by the parameters is computed by columns, without a matrix of
 * as many rows as columns. */
START_TEST(tall)
{
    enum { ROWS = 2000 };
    begin();
    const eddy_tensor time = given(EDDY_SHAPE(ROWS), 0), p = given(EDDY_SHAPE(3), 0);
    const eddy_tensor q = given(EDDY_SHAPE(2), 0);
    const eddy_tensor parts = eddy_unstack(p, .num = 3);
    const eddy_tensor curve = Mul(eddy_output(parts, 0), Sin(Mul(eddy_output(parts, 1), time)));
    const eddy_tensor y = Add(Add(curve, eddy_output(parts, 2)), Mul(Sum(Exp(q)), time));
    eddy_tensor quick[2], slow[2], blocks[2];
    eddy_jacobian(y, EDDY_LIST(p, q), quick);
    eddy_jacobian(y, EDDY_LIST(p, q), slow, .mode = EDDY_JACOBIAN_REVERSE);
    eddy_jacobian(y, EDDY_LIST(p, q), blocks, .mode = EDDY_JACOBIAN_REVERSE,
                  .max_bytes = 64 * 2 * ROWS * 8);
    for (int k = 0; k < 2; k++) {
        same(quick[k], slow[k]);
        same(blocks[k], slow[k]);
        const size_t whole = (size_t)ROWS * ROWS * 8;
        ck_assert_uint_ge(plan_of(slow[k]).arena_bytes, whole);
        ck_assert_uint_lt(plan_of(quick[k]).arena_bytes, whole / 50);
        ck_assert_uint_lt(plan_of(blocks[k]).arena_bytes, whole / 8);
    }
    const eddy_tensor float_y = Cast(y, EDDY_FLOAT32);
    const eddy_tensor j = jacobian(float_y, p, false);
    ck_assert_int_eq(eddy_dtype_of(j), EDDY_FLOAT64);
    end();
}
END_TEST

/* The results of operations that skip outputs without a gradient. */
START_TEST(columns_of_decompositions)
{
    begin();
    const eddy_tensor x = given(EDDY_SHAPE(3, 3), 0), e = eddy_eigh(Add(x, Transpose(x)));
    const eddy_tensor vectors = Abs(eddy_output(e, 1)), v = given(EDDY_SHAPE(3, 3), 0);
    eddy_tensor product;
    both_ways(vectors, x);
    eddy_jvp(EDDY_LIST(vectors), EDDY_LIST(x), EDDY_LIST(v), &product);
    same(product, Sum(Mul(jacobian(vectors, x, false), v), EDDY_AXES(2, 3)));
    eddy_jvp(EDDY_LIST(eddy_output(e, 1)), EDDY_LIST(x), EDDY_LIST(v), &product);
    same(product, Sum(Mul(jacobian(eddy_output(e, 1), x, false), v), EDDY_AXES(2, 3)));
    both_ways(eddy_output(eddy_qr(x), 0), x);
    end();
}
END_TEST

static void halve(eddy_rule *r);

static bool as_is(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

static eddy_status half(eddy_kernel *k)
{
    const double *x = k->in[0]->data;
    double       *y = k->out[0]->data;
    for (int64_t i = 0; i < k->out[0]->count; i++) y[i] = x[i] / 2;
    return EDDY_OK;
}

static const eddy_op_def half_op = {
    .name = "Half", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = as_is, .kernel = half,
    .gradient = halve, .batch = eddy_batch_as_is,
};
static const eddy_op_def half_grad_op = {
    .name = "HalfGrad", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = as_is,
    .kernel = half, .batch = eddy_batch_as_is,
};
static void halve(eddy_rule *r) { r->dx[0] = eddy_apply1(&half_grad_op, NULL, r->dy[0]); }

/* Forward mode differentiates gradients, and there may be none of them. */
START_TEST(without_a_second_gradient)
{
    begin();
    const eddy_tensor x = given(EDDY_SHAPE(2), 0);
    const eddy_tensor y = eddy_apply1(&half_op, NULL, eddy_tile(x, EDDY_DIMS(4)));
    eddy_tensor j = jacobian(y, x, false);
    same(j, jacobian(Mul(0.5, eddy_tile(x, EDDY_DIMS(4))), x, false));
    eddy_jacobian(y, EDDY_LIST(x), &j, .mode = EDDY_JACOBIAN_FORWARD);
    fails(t.graph, EDDY_NO_GRADIENT, "HalfGrad");
    end();
}
END_TEST

static void clipped(eddy_rule *r) { r->dx[0] = Minimum(r->dy[0], 0.1); }

/* A rule that is not linear in dy is called as gradients call it, however tall y is. */
START_TEST(a_rule_of_the_program)
{
    begin();
    for (int times = 1; times < 5; times += 3) {
        const eddy_tensor x = given(EDDY_SHAPE(2), 0);
        eddy_tensor       y, j;
        eddy_custom_gradient(EDDY_LIST(eddy_identity(x)), EDDY_LIST(x), &y, clipped);
        y = eddy_tile(y, EDDY_DIMS(times));
        eddy_jacobian(y, EDDY_LIST(x), &j, .mode = EDDY_JACOBIAN_REVERSE);
        same(jacobian(y, x, false), j);
    }
    end();
}
END_TEST

START_TEST(modes_of_rows)
{
    begin();
    const eddy_tensor x = given(EDDY_SHAPE(EDDY_ANY, 2), 3), w = given(EDDY_SHAPE(2, 7), 0);
    const eddy_tensor y = Reshape(Tanh(MatMul(x, w)), EDDY_SHAPE(-1, 7, 1));
    const eddy_tensor want = eddy_batch_jacobian(y, x, .mode = EDDY_JACOBIAN_REVERSE);
    same(eddy_batch_jacobian(y, x), want);
    same(eddy_batch_jacobian(y, x, .mode = EDDY_JACOBIAN_FORWARD, .no_pfor = true), want);
    const eddy_tensor other = given(EDDY_SHAPE(3, 2), 0);
    ck_assert(!eddy_is_valid(eddy_batch_jacobian(y, other, .mode = EDDY_JACOBIAN_FORWARD)));
    const eddy_tensor zero = eddy_batch_jacobian(y, other, EDDY_UNCONNECTED_ZERO,
                                                 .mode = EDDY_JACOBIAN_FORWARD);
    const double want_zero[3 * 7 * 2] = { 0 };
    check_values(&t, zero, EDDY_SHAPE(3, 7, 1, 2), want_zero);
    end();
}
END_TEST

/* J-08 */
START_TEST(unconnected)
{
    begin();
    const eddy_tensor x = matrix(t.graph, 1, 1, (double[]){ 1 });
    const eddy_tensor y = matrix(t.graph, 1, 1, (double[]){ 2 });
    for (int by_row = 0; by_row < 2; by_row++) {
        eddy_tensor j = jacobian(y, x, by_row);
        ck_assert(!eddy_is_valid(j));
        ck_assert(!eddy_is_valid(eddy_batch_jacobian(y, x, .no_pfor = by_row)));
        eddy_jacobian(y, EDDY_LIST(x), &j, EDDY_UNCONNECTED_ZERO, .no_pfor = by_row);
        check_values(&t, j, EDDY_SHAPE(1, 1, 1, 1), (double[]){ 0 });
        j = eddy_batch_jacobian(y, x, EDDY_UNCONNECTED_ZERO, .no_pfor = by_row);
        check_values(&t, j, EDDY_SHAPE(1, 1, 1), (double[]){ 0 });
    }
    const eddy_tensor whole = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ 3 });
    ck_assert(!eddy_is_valid(jacobian(whole, x, false)));
    end();
}
END_TEST

/* ------------------------------------------------------------ batch_jacobian -- */

START_TEST(squares_of_rows)
{
    begin();
    const eddy_tensor x = matrix(t.graph, 2, 2, (double[]){ 1, 2, 3, 4 });
    const double want[] = { 2, 0, 0, 4, 6, 0, 0, 8 };
    for (int by_row = 0; by_row < 2; by_row++)
        check_values(&t, eddy_batch_jacobian(Mul(x, x), x, .no_pfor = by_row),
                     EDDY_SHAPE(2, 2, 2), want);
    end();
}
END_TEST

/* Row i is row i of the whole Jacobian at example i. */
START_TEST(network_of_rows)
{
    begin();
    const eddy_tensor x = given(EDDY_SHAPE(EDDY_ANY, 3), 4), w1 = given(EDDY_SHAPE(3, 5), 0);
    const eddy_tensor w2 = given(EDDY_SHAPE(5, 2), 0), y = layers(x, w1, w2);
    const eddy_tensor rows = eddy_batch_jacobian(y, x);
    same(rows, eddy_batch_jacobian(y, x, .no_pfor = true));
    const eddy_tensor own = ExpandDims(eddy_row_numbers(x, EDDY_INT32), 1);
    const eddy_tensor all = Transpose(jacobian(y, x, false), EDDY_DIMS(0, 2, 1, 3));
    same(rows, Squeeze(Gather(all, own, .batch_dims = 1), EDDY_AXES(1)));
    const eddy_tensor none = given(EDDY_SHAPE(EDDY_ANY, 3), 0);
    check_values(&t, eddy_batch_jacobian(layers(none, w1, w2), none), EDDY_SHAPE(0, 2, 3), NULL);
    end();
}
END_TEST

/* J-06 */
START_TEST(what_does_not_fit)
{
    begin();
    const eddy_tensor x = given(EDDY_SHAPE(2, 3), 0), y = given(EDDY_SHAPE(4, 3), 0);
    const eddy_tensor v = given(EDDY_SHAPE(3), 0), wide = given(EDDY_SHAPE(1, 1, 1, 1, 1), 0);
    eddy_tensor j;
    eddy_batch_jacobian(y, x);
    fails(t.graph, EDDY_BAD_SHAPE, "Need first dimension");
    eddy_batch_jacobian(v, x);
    fails(t.graph, EDDY_BAD_SHAPE, "must have rank at least 2");
    eddy_batch_jacobian(x, v);
    fails(t.graph, EDDY_BAD_SHAPE, "must have rank at least 2");
    eddy_batch_jacobian(x, x, .parallel_iterations = -1);
    fails(t.graph, EDDY_INVALID_ARGUMENT, "parallel_iterations");
    eddy_jacobian(Square(wide), EDDY_LIST(wide), &j);
    fails(t.graph, EDDY_LIMIT, "the limit is 8");
    eddy_jacobian(x, EDDY_LIST(x), &j, (eddy_unconnected)7);
    fails(t.graph, EDDY_INVALID_ARGUMENT, "Unknown value for unconnected_gradients: '7'");
    end();
}
END_TEST

/* ------------------------------------------------------------------ hessians -- */

START_TEST(quadratic_form)
{
    begin();
    const eddy_tensor a = given(EDDY_SHAPE(3, 3), 0), x = given(EDDY_SHAPE(EDDY_ANY), 3);
    const eddy_tensor column = ExpandDims(x, 1);
    const eddy_tensor y = Sum(MatMul(MatMul(column, a, .transpose_a = true), column));
    eddy_tensor h;
    ck_assert_int_eq(eddy_hessians(y, EDDY_LIST(x), &h), EDDY_OK);
    same(h, Add(a, Transpose(a)));
    same(eddy_hessian_diagonal(y, x), Sum(Mul(Mul(2, a), eddy_basis_like(x)), EDDY_AXES(0)));
    end();
}
END_TEST

START_TEST(network_loss)
{
    begin();
    const eddy_tensor x = given(EDDY_SHAPE(EDDY_ANY, 3), 4), w1 = given(EDDY_SHAPE(3, 4), 0);
    const eddy_tensor w2 = given(EDDY_SHAPE(4, 2), 0);
    const eddy_tensor loss = Mean(Square(layers(x, w1, w2)));
    eddy_tensor h[2];
    ck_assert_int_eq(eddy_hessians(loss, EDDY_LIST(w1, w2), h), EDDY_OK);
    const eddy_tensor ws[] = { w1, w2 };
    for (int k = 0; k < 2; k++) {
        same(h[k], jacobian(eddy_gradient(loss, ws[k]), ws[k], true));
        const int n = (int)eddy_shape_count(eddy_shape_of(ws[k]));
        const eddy_tensor square = Reshape(h[k], EDDY_SHAPE(n, n));
        const eddy_tensor diagonal = Sum(Mul(square, eddy_basis_like(Sum(square, EDDY_AXES(0)))),
                                         EDDY_AXES(0));
        same(eddy_hessian_diagonal(loss, ws[k]), ReshapeLike(diagonal, ws[k]));
    }
    end();
}
END_TEST

/* A linear function has no second derivative, or zeros on request. */
START_TEST(linear)
{
    begin();
    const eddy_tensor x = given(EDDY_SHAPE(2), 0), other = given(EDDY_SHAPE(2), 0);
    const double none[4] = { 0 };
    eddy_tensor h[2];
    ck_assert_int_eq(eddy_hessians(Sum(Mul(3, x)), EDDY_LIST(x, other), h,
                                   .unconnected_gradients = EDDY_UNCONNECTED_ZERO), EDDY_OK);
    for (int k = 0; k < 2; k++) check_values(&t, h[k], EDDY_SHAPE(2, 2), none);
    eddy_hessians(Sum(Mul(3, x)), EDDY_LIST(x), h);
    fails(t.graph, EDDY_INVALID_ARGUMENT, "there is no second derivative");
    eddy_hessians(Sum(Mul(Sin(x), Sum(x))), EDDY_LIST(x), h);
    eddy_hessians(Sum(Mul(Sin(x), Sum(x))), EDDY_LIST(x), h + 1, .max_bytes = 1);
    same(h[0], h[1]);
    end();
}
END_TEST

/* Second derivatives of a Jacobian are its gradient's. */
START_TEST(gradient_of_a_jacobian)
{
    begin();
    const eddy_tensor x = given(EDDY_SHAPE(3), 0), y = Mul(Square(x), x);
    same(eddy_gradient(jacobian(y, x, false), x), Mul(6, x));
    for (int mode = EDDY_JACOBIAN_FORWARD; mode <= EDDY_JACOBIAN_REVERSE; mode++)
        for (int bytes = 0; bytes < 2; bytes++) {
            eddy_tensor j;
            eddy_jacobian(y, EDDY_LIST(x), &j, .mode = (eddy_jacobian_mode)mode,
                          .max_bytes = bytes);
            same(eddy_gradient(j, x), Mul(6, x));
        }
    const eddy_tensor z = given(EDDY_SHAPE(EDDY_ANY, 2), 3), w = given(EDDY_SHAPE(2, 2), 0);
    const eddy_tensor rows = Tanh(MatMul(z, w));
    const eddy_tensor penalty = Sum(Square(eddy_batch_jacobian(rows, z)));
    const eddy_tensor by_row = Sum(Square(eddy_batch_jacobian(rows, z, .no_pfor = true)));
    same(eddy_gradient(penalty, w), eddy_gradient(by_row, w));
    end();
}
END_TEST

Suite *jacobian_suite(void)
{
    Suite *s = suite_create("jacobian");
    TCase *c = tcase_create("jacobian");
    tcase_add_test(c, squares);
    tcase_add_test(c, network_of_unknown_batch);
    tcase_add_test(c, one_body_for_all_rows);
    tcase_add_test(c, many_sources);
    tcase_add_test(c, empty_batch);
    tcase_add_test(c, softmax);
    tcase_add_test(c, lookup);
    tcase_add_test(c, many_kinds);
    tcase_add_test(c, tall);
    tcase_add_test(c, columns_of_decompositions);
    tcase_add_test(c, without_a_second_gradient);
    tcase_add_test(c, a_rule_of_the_program);
    tcase_add_test(c, modes_of_rows);
    tcase_add_test(c, unconnected);
    tcase_add_test(c, squares_of_rows);
    tcase_add_test(c, network_of_rows);
    tcase_add_test(c, what_does_not_fit);
    tcase_add_test(c, quadratic_form);
    tcase_add_test(c, network_loss);
    tcase_add_test(c, linear);
    tcase_add_test(c, gradient_of_a_jacobian);
    suite_add_tcase(s, c);
    return s;
}
