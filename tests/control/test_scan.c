/* test_scan.c -- scan, foldl, foldr, iterate and loop against plain loops. */
#include "build/gen/suites.h"
#include "graph/body.h"
#include "tests/lib/control_checks.h"

BODY(add, Add(x[0], x[1]))
BODY(squared, Square(x[0]))
BODY(multiply, Mul(x[0], x[1]))
BODY(subtract, Sub(x[0], x[1]))
BODY(horner, Add(Mul(x[0], c[0]), x[1]))
BODY(largest, Maximum(x[0], x[1]))
BODY(two_from_two, Add(x[0], x[2]), Mul(x[1], x[3]))
BODY(two_from_one, Mul(Add(x[0], x[2]), 2), Mul(Add(x[1], x[2]), -2))
BODY(keep_argument, x[1])
BODY(keep_carried, x[0])
BODY(exchange, x[1], x[0])
BODY(fibonacci, x[1], Add(x[0], x[1]))
BODY(logistic, Mul(Mul(c[0], x[0]), Sub(1, x[0])))
BODY(two_thirds, Mul(x[0], 2), Mul(x[1], 3))
BODY(step_and_rows, Add(x[0], x[1]), Square(x[1]), x[0], Less(x[0], x[1]))
BODY(counting, Add(x[0], 1), Mul(x[0], x[0]))
BODY(product_of_rows, MatMul(x[0], x[1]))
BODY(rows_only, Mul(x[0], x[1]), x[1])
BODY(state_and_output, Tanh(Add(eddy_matmul(x[0], c[0]), x[1])))
BODY(conj_product, Mul(x[0], Conj(x[1])))
BODY(changing_rows, Mul(Tanh(Add(eddy_matmul(x[0], c[0]), eddy_matmul(x[1], c[0]))), 0.5), x[0])
BODY(integers, Add(Mul(x[0], 3), x[1]))

static const double six[] = { 1, 2, 3, 4, 5, 6 };

static eddy_tensor only(int n, eddy_tensor *y)
{
    ck_assert_msg(n == 1, "%d results: %s", n, eddy_graph_message(y[0].graph));
    return y[0];
}

#define SCAN(...) only(eddy_scan(__VA_ARGS__), y)
#define FOLDL(...) only(eddy_foldl(__VA_ARGS__), y)
#define FOLDR(...) only(eddy_foldr(__VA_ARGS__), y)

/* -------------------------------------------------------------------- scan -- */

/* tf: testScan_Simple, testScan_Reverse */
START_TEST(running_products)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor y[64] = { { t.graph, 0, 0 } };
    eddy_tensor x = eddy_placeholder(t.graph, "x", F64, EDDY_SHAPE(6)), two = constant(&t, 2);
    t.tensor[t.n] = x, t.array[t.n++] = eddy_array_copy_of(F64, EDDY_SHAPE(6), six);
    is(&t, SCAN(PLAIN(multiply), EDDY_LIST(x), y), V(1, 2, 6, 24, 120, 720));
    is(&t, SCAN(PLAIN(multiply), EDDY_LIST(x), y, EDDY_LIST(two)), V(2, 4, 12, 48, 240, 1440));
    is(&t, SCAN(PLAIN(multiply), EDDY_LIST(x), y, .reverse = true), V(720, 720, 360, 120, 30, 6));
    is(&t, SCAN(PLAIN(multiply), EDDY_LIST(x), y, EDDY_LIST(two), true),
       V(1440, 1440, 720, 240, 60, 12));
    trial_end(&t);
}
END_TEST

/* tf: testScan_MultiInputSameTypeOutput, testScan_SingleInputMultiOutput */
START_TEST(several_accumulators)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, 6, six), y[2], one = constant(&t, 1), minus = constant(&t, -1);
    ck_assert_int_eq(eddy_scan(PLAIN(two_from_two), EDDY_LIST(x, Neg(x)), y, EDDY_LIST(one, minus)),
                     2);
    is(&t, y[0], V(2, 4, 7, 11, 16, 22)), is(&t, y[1], V(1, -2, 6, -24, 120, -720));
    ck_assert_int_eq(eddy_scan(PLAIN(two_from_one), EDDY_LIST(x), y, EDDY_LIST(one, minus)), 2);
    double a = 1, b = -1, want[2][6];
    for (int i = 0; i < 6; i++) {
        want[0][i] = a = (a + six[i]) * 2;
        want[1][i] = b = (b + six[i]) * -2;
    }
    is(&t, y[0], 6, want[0]), is(&t, y[1], 6, want[1]);
    trial_end(&t);
}
END_TEST

/* tf: testScan_Grad -- 2 x (1 + 2 + ... ) of products 2, 4, 12, ...: 873 with six elements. */
START_TEST(gradient_of_running_products)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor v = fed_real(&t, 2), x = numbers(&t, 6, six), y[1];
    eddy_tensor s = SCAN(PLAIN(multiply), EDDY_LIST(x), y, EDDY_LIST(v)), dx = slope(s, x);
    is(&t, slope(s, v), V(873));
    double want[6];
    for (int k = 0; k < 6; k++) {
        want[k] = 0;
        double p = 2;
        for (int i = 0; i < 6; i++) {
            p *= six[i];
            if (i >= k) want[k] += p / six[k];
        }
    }
    is(&t, dx, 6, want);
    trial_end(&t);
}
END_TEST

START_TEST(results_that_are_arguments)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, V(1, 2, 3)), z = fed_real(&t, 9), w = fed_real(&t, 8), y[2];
    is(&t, SCAN(PLAIN(keep_argument), EDDY_LIST(x), y, EDDY_LIST(z)), V(1, 2, 3));
    is(&t, slope(y[0], x), V(1, 1, 1)), is(&t, slope(y[0], z), V(0));
    is(&t, SCAN(PLAIN(keep_carried), EDDY_LIST(x), y, EDDY_LIST(z)), V(9, 9, 9));
    is(&t, slope(y[0], z), V(3));
    ck_assert_int_eq(eddy_scan(PLAIN(exchange), EDDY_LIST(x), y, EDDY_LIST(z, w)), 2);
    is(&t, y[0], V(8, 9, 8)), is(&t, y[1], V(9, 8, 9));
    is(&t, slope(y[0], z), V(1)), is(&t, slope(y[1], z), V(2));
    trial_end(&t);
}
END_TEST

/* One row, and none: without an initializer, none is an error. */
START_TEST(few_rows)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = given(&t, F64, EDDY_SHAPE(0, 2), NULL),
                one = given(&t, F64, EDDY_SHAPE(1, 2), six);
    eddy_tensor z = numbers(&t, V(4, 5)), y[1];
    eddy_tensor none = SCAN(PLAIN(add), EDDY_LIST(x), y, EDDY_LIST(z));
    is_shaped(&t, none, EDDY_SHAPE(0, 2)), is_shaped(&t, slope(none, x), EDDY_SHAPE(0, 2));
    is(&t, slope(none, z), V(0, 0));
    eddy_tensor end = FOLDL(PLAIN(add), EDDY_LIST(x), y, EDDY_LIST(z));
    is(&t, end, V(4, 5)), is(&t, slope(end, z), V(1, 1)),
        is_shaped(&t, slope(end, x), EDDY_SHAPE(0, 2));
    eddy_tensor ones = SCAN(PLAIN(add), EDDY_LIST(one), y, EDDY_LIST(z));
    is(&t, ones, V(5, 7)), is_shaped(&t, ones, EDDY_SHAPE(1, 2));
    if (eddy_shape_of(one).rank == 2) {
        is(&t, SCAN(PLAIN(add), EDDY_LIST(one), y), V(1, 2));
        is(&t, slope(y[0], one), V(1, 1));
        is(&t, FOLDR(PLAIN(add), EDDY_LIST(one), y), V(1, 2));
    }
    trial_end(&t);
}
END_TEST

START_TEST(integers_and_complex_numbers)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor k = given(&t, I32, EDDY_SHAPE(4), six), zero = whole(&t, 0), y[1];
    eddy_tensor re = numbers(&t, V(1, 2)), im = numbers(&t, V(3, -1)), one = constant(&t, 1);
    is(&t, SCAN(PLAIN(integers), EDDY_LIST(k), y, EDDY_LIST(zero)), V(1, 5, 18, 58));
    eddy_tensor z = SCAN(PLAIN(conj_product), EDDY_LIST(Complex(re, im)), y,
                         EDDY_LIST(Complex(one, ZerosLike(one))));
    is(&t, Real(z), V(1, 5)), is(&t, Imag(z), V(-3, -5));
    is(&t, slope(Real(z), re), V(1 + 2, 1)), is(&t, slope(Imag(z), re), V(1, -3));
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------------- folds -- */

/* tf: testFoldl_Simple, testFoldr_Simple, with shuffled (non-commutative) functions. */
START_TEST(folds)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor y[1], two = constant(&t, 2), ten = fed_real(&t, 10);
    eddy_tensor x = eddy_set_shape(numbers(&t, 6, six), EDDY_SHAPE(6));
    is(&t, FOLDL(PLAIN(subtract), EDDY_LIST(x), y), V(1 - 2 - 3 - 4 - 5 - 6));
    is(&t, FOLDR(PLAIN(subtract), EDDY_LIST(x), y), V(6 - 5 - 4 - 3 - 2 - 1));
    is(&t, FOLDL(PLAIN(subtract), EDDY_LIST(x), y, EDDY_LIST(two)), V(2 - 21));
    is(&t, FOLDL(FUNCTION(horner, ten), EDDY_LIST(x), y), V(123456));
    is(&t, slope(y[0], ten), V(5e4 + 8e3 + 9e2 + 80 + 5));
    is(&t, slope(y[0], x), V(1e5, 1e4, 1e3, 1e2, 1e1, 1));
    is(&t, FOLDR(FUNCTION(horner, ten), EDDY_LIST(x), y), V(654321));
    is(&t, slope(y[0], x), V(1, 1e1, 1e2, 1e3, 1e4, 1e5));
    is(&t, FOLDL(FUNCTION(horner, ten), EDDY_LIST(x), y, EDDY_LIST(two), true), V(2654321));
    trial_end(&t);
}
END_TEST

/* The gradient of a maximum goes to the row that gave it. */
START_TEST(folds_of_matrices)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = given(&t, F64, EDDY_SHAPE(3, 2), (double[]){ 1, 9, 5, 2, 3, 4 }), y[1];
    eddy_tensor z = numbers(&t, V(0, 0));
    eddy_tensor m = FOLDL(PLAIN(largest), EDDY_LIST(x), y, EDDY_LIST(z));
    is(&t, m, V(5, 9)), is(&t, slope(m, x), V(0, 1, 1, 0, 0, 0));
    trial_end(&t);
}
END_TEST

START_TEST(products_of_matrices)
{
    trial       t = trial_begin((unsigned)_i);
    double      v[12], p[4] = { 1, 0, 0, 1 };
    for (int i = 0; i < 12; i++) v[i] = sin(i + 1);
    eddy_tensor x = given(&t, F64, EDDY_SHAPE(3, 2, 2), v),
                eye = eddy_const(t.graph, F64, EDDY_SHAPE(2, 2), p), y[1];
    for (int k = 0; k < 3; k++) {
        const double *m = v + 4 * k;
        const double q[4] = { p[0] * m[0] + p[1] * m[2], p[0] * m[1] + p[1] * m[3],
                              p[2] * m[0] + p[3] * m[2], p[2] * m[1] + p[3] * m[3] };
        memcpy(p, q, sizeof p);
    }
    is(&t, FOLDL(PLAIN(product_of_rows), EDDY_LIST(x), y, EDDY_LIST(eye)), 4, p);
    trial_end(&t);
}
END_TEST

/* -------------------------------------------------------- iterate and loop -- */

START_TEST(iterating)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor a = fed_real(&t, 0), b = fed_real(&t, 1), y[2];
    double      fa = 0, fb = 1;
    for (int n = 0; n < 9; n++) {
        ck_assert_int_eq(eddy_iterate(n, PLAIN(fibonacci), EDDY_LIST(a, b), y), 2);
        is(&t, y[0], V(fa)), is(&t, y[1], V(fb)), is(&t, slope(y[1], b), V(fb));
        ck_assert_int_eq(eddy_iterate(n, PLAIN(two_thirds), EDDY_LIST(b, b), y), 2);
        is(&t, y[0], V(pow(2, n))), is(&t, slope(Add(y[0], y[1]), b), V(pow(2, n) + pow(3, n)));
        const double next = fa + fb;
        fa = fb, fb = next;
    }
    trial_end(&t);
}
END_TEST

/* 3.9 x (1 - x) is chaotic: the derivative too is compared with the loop's own. */
START_TEST(logistic_map)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor r = fed_real(&t, 3.9), x = fed_real(&t, 0.3), y[1];
    double      v = 0.3, dx = 1, dr = 0;
    eddy_iterate(20, FUNCTION(logistic, r), EDDY_LIST(x), y);
    for (int i = 0; i < 20; i++) {
        dr = v * (1 - v) + 3.9 * (1 - 2 * v) * dr;
        dx = 3.9 * (1 - 2 * v) * dx;
        v = 3.9 * v * (1 - v);
    }
    eddy_array *got[3] = { value(&t, y[0]), value(&t, slope(y[0], x)), value(&t, slope(y[0], r)) };
    ck_assert_double_le(fabs(eddy_array_item(got[0]) - v), 1e-9);
    ck_assert_double_le(fabs(eddy_array_item(got[1]) - dx), 1e-8 * fabs(dx));
    ck_assert_double_le(fabs(eddy_array_item(got[2]) - dr), 1e-8 * fabs(dr));
    for (int k = 0; k < 3; k++) eddy_array_free(got[k]);
    trial_end(&t);
}
END_TEST

START_TEST(loops_with_rows)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, V(3, 1, 4)), z = fed_real(&t, 2), y[64];
    ck_assert_int_eq(eddy_loop(PLAIN(step_and_rows), EDDY_LIST(z), EDDY_LIST(x), y), 4);
    is(&t, y[0], V(10)), is(&t, y[1], V(9, 1, 16)), is(&t, y[2], V(2, 5, 6)),
        is(&t, y[3], V(1, 0, 0));
    is(&t, slope(y[2], x), V(2, 1, 0)), is(&t, slope(y[2], z), V(3)),
        is(&t, slope(y[1], x), V(6, 2, 8));
    ck_assert_int_eq(eddy_loop(PLAIN(step_and_rows), EDDY_LIST(z), EDDY_LIST(x), y,
                               .reverse = true), 4);
    is(&t, y[0], V(10)), is(&t, y[1], V(9, 1, 16)), is(&t, y[2], V(7, 6, 2)),
        is(&t, y[3], V(0, 0, 1));
    is(&t, slope(y[2], x), V(0, 1, 2)), is(&t, slope(Add(y[2], y[1]), x), V(6, 3, 10));
    trial_end(&t);
}
END_TEST

/* Without rows, and with rows alone. */
START_TEST(loops_without)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor z = fed_real(&t, 2), a = numbers(&t, V(1, 2, 3)), b = numbers(&t, V(5, 6, 7)),
                y[64];
    ck_assert_int_eq(eddy_loop(PLAIN(counting), EDDY_LIST(z), EDDY_LIST(), y, 4), 2);
    is(&t, y[0], V(6)), is(&t, y[1], V(4, 9, 16, 25)), is(&t, slope(y[1], z), V(28));
    ck_assert_int_eq(eddy_loop(PLAIN(counting), EDDY_LIST(z), EDDY_LIST(), y, 0), 2);
    is(&t, y[0], V(2)), is_shaped(&t, y[1], EDDY_SHAPE(0));
    ck_assert_int_eq(eddy_loop(PLAIN(rows_only), EDDY_LIST(), EDDY_LIST(a, b), y), 2);
    is(&t, y[0], V(5, 12, 21)), is(&t, y[1], V(5, 6, 7)), is(&t, slope(y[0], a), V(5, 6, 7));
    trial_end(&t);
}
END_TEST

/* A recurrent network written by hand, its parameters' gradients by differences. */
START_TEST(recurrent_network)
{
    trial       t = trial_begin((unsigned)_i);
    double      v[24], w[9];
    for (int i = 0; i < 24; i++) v[i] = cos(3 * i);
    for (int i = 0; i < 9; i++) w[i] = sin(2 * i + 1);
    eddy_tensor x = given(&t, F64, EDDY_SHAPE(4, 2, 3), v), m = given(&t, F64, EDDY_SHAPE(3, 3), w);
    eddy_tensor h = given(&t, F64, EDDY_SHAPE(2, 3), v), y[1];
    double      state[6], next[6], want[24];
    memcpy(state, v, sizeof state);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 6; i++) {
            next[i] = v[6 * k + i];
            for (int j = 0; j < 3; j++) next[i] += state[i / 3 * 3 + j] * w[3 * j + i % 3];
        }
        for (int i = 0; i < 6; i++) want[6 * k + i] = state[i] = tanh(next[i]);
    }
    is(&t, SCAN(FUNCTION(state_and_output, m), EDDY_LIST(x), y, EDDY_LIST(h)), 24, want);
    eddy_tensor z = eddy_sum(Square(y[0]));
    eddy_gradient_report r = { 0 };
    const eddy_feed feeds[3] = { { t.tensor[0], t.array[0] }, { t.tensor[1], t.array[1] },
                                 { t.tensor[2], t.array[2] } };
    ck_assert_msg(eddy_gradient_check(t.session, EDDY_LIST(z), EDDY_LIST(m, x, h),
                                      .feeds = { 3, feeds }, .order = 2, .report = &r) == EDDY_OK,
                  "%s %s", r.text ? r.text : "", eddy_session_message(t.session));
    eddy_string_free(r.text);
    trial_end(&t);
}
END_TEST

/* ---------------------------------------------------- products before it -- */

static int loops_products(const eddy_graph *g)
{
    int n = 0;
    for (int32_t id = 1; id <= g->size; id++) {
        const eddy_node *node = g->nodes[id];
        if (!(node->op->flags & EDDY_OP_BODY)) continue;
        const eddy_graph *body = eddy__body_of(node);
        for (int32_t k = 1; k <= body->size; k++)
            n += strcmp(body->nodes[k]->op->name, "MatMul") == 0;
    }
    return n;
}

/* x[1] W does not depend on the state and is computed for all rows at once; the product of a
 * product too, and what scales it; x[0] U does. */
BODY(recurrent, Tanh(Add(MatMul(Mul(Square(x[1]), 0.5), c[0]), MatMul(x[0], c[1]))),
     MatMul(MatMul(x[1], c[0]), c[1]))
static eddy_tensor matrix(trial *t, int rows, int columns, double phase)
{
    double v[64];
    for (int i = 0; i < rows * columns; i++) v[i] = sin(phase * (i + 1)) / 2;
    return eddy_set_shape(given(t, F64, EDDY_SHAPE(rows, columns), v), EDDY_SHAPE(rows, columns));
}
START_TEST(products_of_rows)
{
    enum { STEPS = 4 };
    trial       t = trial_begin((unsigned)_i);
    double      v[STEPS * 6];
    for (int i = 0; i < STEPS * 6; i++) v[i] = cos(1.3 * i);
    eddy_tensor x = given(&t, F64, EDDY_SHAPE(STEPS, 2, 3), v), w = matrix(&t, 3, 5, 0.7);
    eddy_tensor u = matrix(&t, 5, 5, 1.1), h = matrix(&t, 2, 5, 0.3), y[2], state = h, rows[STEPS];
    x = eddy_set_shape(x, EDDY_SHAPE(STEPS, 2, 3));
    ck_assert_int_eq(eddy_loop(FUNCTION(recurrent, w, u), EDDY_LIST(h), EDDY_LIST(x), y), 2);
    ck_assert_int_eq(loops_products(t.graph), 1);
    for (int k = 0; k < STEPS; k++) {
        eddy_tensor       z[2], c[2] = { w, u };
        const eddy_tensor row = eddy_gather(x, whole(&t, k));
        recurrent(EDDY_LIST(state, row), z, c);
        state = z[0], rows[k] = z[1];
    }
    eddy_tensor stack = eddy_stack(((eddy_list){ STEPS, rows })), in[4] = { x, w, u, h };
    for (int order = 0; order < 3; order++) {
        eddy_tensor a = Add(Sum(Sin(y[0])), Sum(Square(y[1])));
        eddy_tensor b = Add(Sum(Sin(state)), Sum(Square(stack)));
        for (int k = 0; k < 4 && order > 0; k++) {
            eddy_array *want = value(&t, slope(b, in[k]));
            is(&t, slope(a, in[k]), (int)eddy_array_count(want), eddy_array_data(want));
            eddy_array_free(want);
        }
        if (order == 1) y[0] = slope(a, in[1]), state = slope(b, in[1]);
    }
    trial_end(&t);
}
END_TEST

/* Weights that the body updates differ between iterations. */
static int changing_weights(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor w = *(eddy_tensor *)context;
    y[0] = Add(in.at[0], MatMul(in.at[1], w));
    eddy_assign(w, Mul(w, 2));
    return 1;
}
START_TEST(products_with_changing_weights)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor w = eddy_variable(t.graph, eddy_ones(t.graph, F64, EDDY_SHAPE(1, 1)));
    eddy_tensor x = eddy_set_shape(given(&t, F64, EDDY_SHAPE(3, 1, 1), (double[]){ 1, 2, 3 }),
                                   EDDY_SHAPE(3, 1, 1));
    eddy_tensor h = eddy_zeros(t.graph, F64, EDDY_SHAPE(1, 1)), y[1];
    ck_assert_int_eq(eddy_loop(FUNCTION(changing_weights, w), EDDY_LIST(h), EDDY_LIST(x), y), 1);
    initialize(&t);
    is(&t, y[0], V(1 + 4 + 12)), is(&t, w, V(8));
    trial_end(&t);
}
END_TEST

/* The gradient of weights that multiply rows is one product of all rows; those behind the last
 * iteration do not count, even if they are NaN. */
START_TEST(first_rows)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor w = eddy_placeholder(g, "w", EDDY_FLOAT64, EDDY_SHAPE(2, 2)), y[2], z[2];
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, 1, 2));
    eddy_tensor n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor h = eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(1, 2));
    eddy_tensor first = eddy_gather(x, eddy_range(NumberLike(0, n), eddy_reshape(n, EDDY_SCALAR),
                                                  NumberLike(1, n)));
    ck_assert_int_eq(eddy_loop(FUNCTION(changing_rows, w), EDDY_LIST(h), EDDY_LIST(x), y,
                               .iterations = eddy_reshape(n, EDDY_SCALAR), .reverse = _i), 2);
    ck_assert_int_eq(eddy_loop(FUNCTION(changing_rows, w), EDDY_LIST(h), EDDY_LIST(first), z,
                               .reverse = _i), 2);
    const eddy_tensor list[] = { y[0], z[0], eddy_sum(y[1]), eddy_sum(z[1]),
                                 eddy_gradient(Add(eddy_sum(y[1]), eddy_sum(y[0])), w),
                                 eddy_gradient(Add(eddy_sum(z[1]), eddy_sum(z[0])), w) };
    eddy_session *s = eddy_session_new(g);
    for (int32_t k = 0; k <= 4; k++) {
        const double rows[] = { 1, 2, -1, 0.5, 0.25, -2, k < 4 ? NAN : 1, k < 4 ? NAN : 3 };
        eddy_array  *out[6] = { NULL };
        ck_assert_msg(eddy_run(s, EDDY_FEED({ w, EDDY_VIEW(six, 2, 2) }, { n, EDDY_INTS(k) },
                                            { x, EDDY_VIEW(rows, 4, 1, 2) }),
                               (eddy_list){ 6, list }, out) == EDDY_OK, "%s",
                      eddy_session_message(s));
        for (int i = 0; i < 6; i++)
            for (int64_t e = 0; e < eddy_array_count(out[i]); e++)
                ck_assert_double_eq_tol(eddy_array_get(out[i], e), eddy_array_get(out[i | 1], e),
                                        1e-12);
        for (int i = 0; i < 6; i++) eddy_array_free(out[i]);
    }
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* Without back_prop nothing has a gradient, not even the rows that are the first results. */
START_TEST(no_gradient)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, 4, (double[]){ 1, 2, 3, 4 }), y[EDDY_MAX_RESULTS];
    eddy_scan(PLAIN(add), EDDY_LIST(x), y, .no_back_prop = true, .swap_memory = true);
    is(&t, y[0], V(1, 3, 6, 10));
    ck_assert(!eddy_is_valid(eddy_gradient(y[0], x)));
    eddy_foldl(PLAIN(multiply), EDDY_LIST(x), y, .no_back_prop = true, .swap_memory = true);
    is(&t, y[0], V(24));
    ck_assert(!eddy_is_valid(eddy_gradient(y[0], x)));
    eddy_foldr(PLAIN(multiply), EDDY_LIST(x), y, .no_back_prop = true);
    ck_assert(!eddy_is_valid(eddy_gradient(y[0], x)));
    eddy_map_fn(PLAIN(squared), EDDY_LIST(x), y, .no_back_prop = true, .swap_memory = true);
    is(&t, y[0], V(1, 4, 9, 16));
    ck_assert(!eddy_is_valid(eddy_gradient(y[0], x)));
    trial_end(&t);
}
END_TEST

Suite *scan_suite(void)
{
    Suite *s = suite_create("scan");
    TCase *c = tcase_create("scan");
    tcase_add_loop_test(c, running_products, 0, SEEDS);
    tcase_add_loop_test(c, several_accumulators, 0, SEEDS);
    tcase_add_loop_test(c, gradient_of_running_products, 0, SEEDS);
    tcase_add_loop_test(c, results_that_are_arguments, 0, SEEDS);
    tcase_add_loop_test(c, few_rows, 0, SEEDS);
    tcase_add_loop_test(c, integers_and_complex_numbers, 0, SEEDS);
    suite_add_tcase(s, c);
    c = tcase_create("folds");
    tcase_add_loop_test(c, folds, 0, SEEDS);
    tcase_add_loop_test(c, folds_of_matrices, 0, SEEDS);
    tcase_add_loop_test(c, products_of_matrices, 0, SEEDS);
    suite_add_tcase(s, c);
    c = tcase_create("loops");
    tcase_add_loop_test(c, iterating, 0, SEEDS);
    tcase_add_loop_test(c, logistic_map, 0, SEEDS);
    tcase_add_loop_test(c, loops_with_rows, 0, SEEDS);
    tcase_add_loop_test(c, first_rows, 0, 2);
    tcase_add_loop_test(c, loops_without, 0, SEEDS);
    tcase_add_loop_test(c, recurrent_network, 0, SEEDS);
    tcase_add_loop_test(c, products_of_rows, 0, SEEDS);
    tcase_add_loop_test(c, products_with_changing_weights, 0, SEEDS);
    tcase_add_loop_test(c, no_gradient, 0, SEEDS);
    suite_add_tcase(s, c);
    return s;
}
