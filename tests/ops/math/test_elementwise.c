/* test_elementwise.c -- elementwise functions: values against numbers computed by hand or by
 * another program, types, shapes, names, errors.
 *
 * Cases marked "corner" restate TensorFlow's behavior. */
#include "tests/lib/element_checks.h"

Suite *elementwise_suite(void);

/* --------------------------------------------------------------- values -- */

static const struct unary_value {
    const char *name;
    unary_fn    fn;
    double      x[4], y[4];
} unary_values[] = {
    { "exp", eddy_exp, { -1.5, -0.5, 0.25, 2 },
      { 0.22313016014842982, 0.6065306597126334, 1.2840254166877414, 7.38905609893065 } },
    { "expm1", eddy_expm1, { -1.5, -0.5, 0.25, 2 },
      { -0.7768698398515702, -0.3934693402873666, 0.2840254166877415, 6.38905609893065 } },
    { "sin", eddy_sin, { -1.5, -0.5, 0.25, 2 },
      { -0.9974949866040544, -0.479425538604203, 0.24740395925452294, 0.9092974268256817 } },
    { "cos", eddy_cos, { -1.5, -0.5, 0.25, 2 },
      { 0.0707372016677029, 0.8775825618903728, 0.9689124217106447, -0.4161468365471424 } },
    { "tanh", eddy_tanh, { -1.5, -0.5, 0.25, 2 },
      { -0.9051482536448664, -0.46211715726000974, 0.24491866240370913, 0.9640275800758169 } },
    { "sigmoid", eddy_sigmoid, { -1.5, -0.5, 0.25, 2 },
      { 0.18242552380635635, 0.3775406687981454, 0.5621765008857981, 0.8807970779778823 } },
    { "softplus", eddy_softplus, { -1.5, -0.5, 0.25, 2 },
      { 0.2014132779827524, 0.4740769841801067, 0.8259394198788436, 2.1269280110429727 } },
    { "log", eddy_log, { 0.25, 0.5, 1, 3 },
      { -1.3862943611198906, -0.6931471805599453, 0, 1.0986122886681098 } },
    { "log1p", eddy_log1p, { -0.5, 1e-9, 0.25, 3 },
      { -0.6931471805599453, 9.999999995e-10, 0.22314355131420976, 1.3862943611198906 } },
    { "sqrt", eddy_sqrt, { 0.25, 2, 9, 0.1 }, { 0.5, 1.4142135623730951, 3, 0.31622776601683794 } },
    { "rsqrt", eddy_rsqrt, { 0.25, 2, 16, 0.1 },
      { 2, 0.7071067811865475, 0.25, 3.162277660168379 } },
    { "reciprocal", eddy_reciprocal, { -4, 0.5, 3, 8 }, { -0.25, 2, 1 / 3.0, 0.125 } },
    { "neg", eddy_neg, { -4, 0, 3, 8 }, { 4, 0, -3, -8 } },
    { "abs", eddy_abs, { -4, 0, 3, -8.5 }, { 4, 0, 3, 8.5 } },
    { "sign", eddy_sign, { -4, 0, 3, -8.5 }, { -1, 0, 1, -1 } },
    { "square", eddy_square, { -4, 0, 0.5, 3 }, { 16, 0, 0.25, 9 } },
    { "relu", eddy_relu, { -4, 0, 0.5, 3 }, { 0, 0, 0.5, 3 } },
    { "floor", eddy_floor, { -1.5, -0.5, 0.5, 2 }, { -2, -1, 0, 2 } },
    { "ceil", eddy_ceil, { -1.5, -0.5, 0.5, 2 }, { -1, 0, 1, 2 } },
    /* corner: halves go to the even neighbor */
    { "round", eddy_round, { -1.5, 0.5, 2.5, 3.5 }, { -2, 0, 2, 4 } },
    { "rint", eddy_rint, { -1.5, 0.5, 2.5, 1.25 }, { -2, 0, 2, 1 } },
};
enum { UNARY_VALUES = sizeof unary_values / sizeof *unary_values };

START_TEST(unary_values_are_right)
{
    const struct unary_value *r = &unary_values[_i];
    near(r->name, 1e-15, r->fn(vec(F64, 4, r->x)), 4, r->y);
    near(r->name, 3e-7, r->fn(vec(F32, 4, r->x)), 4, r->y);
    ck_assert_int_eq(eddy_dtype_of(r->fn(vec(F32, 4, r->x))), F32);
}
END_TEST

static const struct binary_value {
    const char *name;
    binary_fn   fn;
    double      a[4], b[4], y[4];
} binary_values[] = {
    { "add", eddy_add, { 1, -2, 0.5, 3 }, { 4, 5, -1, 0 }, { 5, 3, -0.5, 3 } },
    { "sub", eddy_sub, { 1, -2, 0.5, 3 }, { 4, 5, -1, 0 }, { -3, -7, 1.5, 3 } },
    { "mul", eddy_mul, { 1, -2, 0.5, 3 }, { 4, 5, -1, 0 }, { 4, -10, -0.5, 0 } },
    { "div", eddy_div, { 1, -2, 0.5, 3 }, { 4, 5, -1, 0 }, { 0.25, -0.4, -0.5, INFINITY } },
    { "squared_difference", eddy_squared_difference, { 1, -2, 0.5, 3 }, { 4, 5, -1, 0 },
      { 9, 49, 2.25, 9 } },
    { "maximum", eddy_maximum, { 1, -2, 0.5, 3 }, { 4, -5, 0.5, 0 }, { 4, -2, 0.5, 3 } },
    { "minimum", eddy_minimum, { 1, -2, 0.5, 3 }, { 4, -5, 0.5, 0 }, { 1, -5, 0.5, 0 } },
    { "maximum of NaN", eddy_maximum, { NAN, 1, NAN, -INFINITY }, { 1, NAN, NAN, NAN },
      { NAN, NAN, NAN, NAN } },
    { "minimum of NaN", eddy_minimum, { NAN, 1, NAN, -INFINITY }, { 1, NAN, NAN, NAN },
      { NAN, NAN, NAN, NAN } },
    { "div_no_nan", eddy_div_no_nan, { 1, 0, NAN, 6 }, { 0, 0, 0, 4 }, { 0, 0, 0, 1.5 } },
    { "mul_no_nan", eddy_mul_no_nan, { INFINITY, NAN, 0, 6 }, { 0, 0, INFINITY, 4 },
      { 0, 0, NAN, 24 } },
    { "xlogy", eddy_xlogy, { 0, 0, 2, 0.1 }, { 0, NAN, 3, 0 },
      { 0, 0, 2 * 1.0986122886681098, -INFINITY } },
    { "xdivy", eddy_xdivy, { 0, 0, 6, 0.1 }, { 0, NAN, 4, 0 }, { 0, 0, 1.5, INFINITY } },
    { "pow", eddy_pow, { 2, 0.5, -2, 0 }, { 10, 3.5, 3, 0 }, { 1024, 0.08838834764831845, -8, 1 } },
    { "pow, corners", eddy_pow, { -2, 0, -8, 0 }, { 0.5, -1, -2, 2 },
      { NAN, INFINITY, 0.015625, 0 } },
    { "floordiv", eddy_floordiv, { 7, -7, 7, -7 }, { 2, 2, -2, -2 }, { 3, -4, -4, 3 } },
    { "floormod", eddy_floormod, { 7, -7, 7, -7.5 }, { 2, 2, -2, -2 }, { 1, 1, -1, -1.5 } },
    { "truncatediv", eddy_truncatediv, { 7, -7, 7, -7 }, { 2, 2, -2, -2 }, { 3, -3, -3, 3 } },
    { "relu_grad", eddy_relu_grad, { 3, 3, 3, 3 }, { -1, 0, 2, NAN }, { 0, 0, 3, 0 } },
};
enum { BINARY_VALUES = sizeof binary_values / sizeof *binary_values };

/* corner: whole numbers stay exactly as they are, also of types that only tf.round takes */
START_TEST(whole_numbers_are_round)
{
    IS(Round(vec(EDDY_INT32, V(-3, 0, 2147483647))), -3, 0, 2147483647);
    IS(Round(vec(EDDY_UINT8, V(0, 255))), 0, 255);
    const int64_t     large[] = { INT64_MAX, INT64_MIN, ((int64_t)1 << 53) + 1 };
    const eddy_array *got = eddy_eval(Round(eddy_const(g, EDDY_INT64, EDDY_SHAPE(3), large)));
    ck_assert_ptr_nonnull(got);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(((const int64_t *)eddy_array_data(got))[i], large[i]);
    eddy_rint(vec(EDDY_INT32, V(1)));
    ck_assert_int_eq(eddy_graph_status(g), EDDY_BAD_DTYPE);
}
END_TEST

/* If the macros wrote each operand twice, the text of this polynomial would have millions of copies
 * of x, and compiling it would take hours. */
START_TEST(nested_short_names)
{
    const eddy_tensor x = vec(F64, V(1, 2, -1));
    IS(Add(1, Mul(x, Add(1, Mul(x, Add(1, Mul(x, Add(1, Mul(x, Add(1, Mul(x, Add(1, Mul(x,
       Add(1, Mul(x, Add(1, Mul(x, Add(1, Mul(x, Add(1, Mul(x, Add(1, Mul(x, Add(1, x)
       )))))))))))))))))))))), 13, 8191, 1);
}
END_TEST

START_TEST(binary_values_are_right)
{
    const struct binary_value *r = &binary_values[_i];
    near(r->name, 1e-15, r->fn(vec(F64, 4, r->a), vec(F64, 4, r->b)), 4, r->y);
    near(r->name, 3e-7, r->fn(vec(F32, 4, r->a), vec(F32, 4, r->b)), 4, r->y);
}
END_TEST

START_TEST(extremes)
{
    eddy_tensor far = vec(F64, V(-INFINITY, -800, 800, INFINITY, NAN));
    IS(Sigmoid(far), 0, 0, 1, 1, NAN);
    IS(Tanh(far), -1, -1, 1, 1, NAN);
    IS(Softplus(far), 0, 0, 800, INFINITY, NAN);
    IS(Exp(far), 0, 0, INFINITY, INFINITY, NAN);
    IS(Relu(far), 0, 0, 800, INFINITY, NAN);
    IS(Sign(far), -1, -1, 1, 1, NAN);
    IS(Abs(far), INFINITY, 800, 800, INFINITY, NAN);
    IS(Sqrt(far), NAN, NAN, sqrt(800), INFINITY, NAN);
    IS(Log(vec(F64, V(0, -1))), -INFINITY, NAN);
    IS(Rsqrt(vec(F64, V(0, -1))), INFINITY, NAN);
    IS(Softplus(vec(F32, V(-200, 200))), 0, 200);
    IS(IsNan(far), 0, 0, 0, 0, 1);
    IS(IsInf(far), 1, 0, 0, 1, 0);
    IS(IsFinite(far), 0, 1, 1, 0, 0);
    ck_assert_int_eq(eddy_dtype_of(IsNan(far)), EDDY_BOOL);
    /* Near 0 nothing is lost. */
    near("expm1", 0, Expm1(num(F64, 1e-17)), V(1e-17));
    near("log1p", 0, Log1p(num(F64, 1e-17)), V(1e-17));
}
END_TEST

START_TEST(integers)
{
    const double least = INT32_MIN;
    eddy_tensor x = vec(EDDY_INT32, V(-3, 0, 7, least));
    IS(Neg(x), 3, 0, -7, least);
    IS(Abs(x), 3, 0, 7, least);
    IS(Sign(x), -1, 0, 1, -1);
    IS(Square(x), 9, 0, 49, 0);
    IS(Relu(x), 0, 0, 7, 0);
    IS(Add(x, x), -6, 0, 14, 0);
    IS(Mul(x, 2), -6, 0, 14, 0);
    IS(Maximum(x, -1), -1, 0, 7, -1);
    IS(Neg(vec(EDDY_UINT8, V(0, 1, 255))), 0, 255, 1);
    IS(Square(vec(EDDY_INT64, V(-3, 4294967296.0))), 9, 0);
    IS(SquaredDifference(vec(EDDY_UINT8, V(3, 5)), vec(EDDY_UINT8, V(5, 3))), 4, 4);
}
END_TEST

/* Towards 0 for div and truncatediv, down for floordiv; the rest of floormod
 * has the sign of the divisor. */
START_TEST(integer_division)
{
    static const eddy_dtype types[] = { EDDY_INT32, EDDY_INT64 };
    eddy_dtype  d = types[_i];
    double      least = _i ? -9223372036854775808.0 : INT32_MIN;
    eddy_tensor a = vec(d, V(7, -7, 7, -7, 6, least)), b = vec(d, V(2, 2, -2, -2, 3, -1));
    IS(Div(a, b), 3, -3, -3, 3, 2, least);
    IS(TruncateDiv(a, b), 3, -3, -3, 3, 2, least);
    IS(FloorDiv(a, b), 3, -4, -4, 3, 2, least);
    IS(FloorMod(a, b), 1, 1, -1, -1, 0, 0);
    IS(Pow(vec(d, V(2, -3, 0, 5)), vec(d, V(10, 3, 0, 1))), 1024, -27, 1, 5);
    ck_assert_int_eq(run_status(Div(a, 0)), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(run_status(FloorDiv(a, 0)), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(run_status(FloorMod(a, 0)), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(run_status(TruncateDiv(a, 0)), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(run_status(Pow(a, -1)), EDDY_INVALID_ARGUMENT);
}
END_TEST

START_TEST(comparisons)
{
    eddy_tensor a = vec(F32, V(1, 2, 3, NAN)), b = vec(F32, V(2, 2, 2, NAN));
    IS(Less(a, b), 1, 0, 0, 0);
    IS(LessEqual(a, b), 1, 1, 0, 0);
    IS(Greater(a, b), 0, 0, 1, 0);
    IS(GreaterEqual(a, b), 0, 1, 1, 0);
    IS(Equal(a, b), 0, 1, 0, 0);
    IS(NotEqual(a, b), 1, 0, 1, 1);
    IS(Less(vec(EDDY_INT64, V(-5, 5)), 0), 1, 0);
    IS(Greater(vec(EDDY_UINT8, V(200, 3)), 100), 1, 0);
    eddy_tensor p = vec(EDDY_BOOL, V(0, 0, 1, 1)), q = vec(EDDY_BOOL, V(0, 1, 0, 1));
    IS(LogicalAnd(p, q), 0, 0, 0, 1);
    IS(LogicalOr(p, q), 0, 1, 1, 1);
    IS(LogicalXor(p, q), 0, 1, 1, 0);
    IS(LogicalNot(p), 1, 1, 0, 0);
    IS(Equal(p, q), 1, 0, 0, 1);
}
END_TEST

/* ---------------------------------------------------------------- shapes -- */

START_TEST(broadcasting)
{
    eddy_tensor column = shaped(F64, EDDY_SHAPE(2, 1), (double[]){ 10, 20 });
    eddy_tensor row = vec(F64, V(1, 2, 3));
    IS(Add(column, row), 11, 12, 13, 21, 22, 23);
    IS(Sub(row, column), -9, -8, -7, -19, -18, -17);
    IS(Less(Mul(row, 6), column), 1, 0, 0, 1, 1, 1);
    eddy_tensor cond = shaped(EDDY_BOOL, EDDY_SHAPE(2, 1, 1), (double[]){ 1, 0 });
    eddy_tensor y = Where(cond, column, row);
    ck_assert(eddy_shape_equal(eddy_shape_of(y), EDDY_SHAPE(2, 2, 3)));
    IS(y, 10, 10, 10, 20, 20, 20, 1, 2, 3, 1, 2, 3);
    IS(Where(vec(EDDY_BOOL, V(1, 0, 1)), 1, row), 1, 2, 1);
    /* Rank 0, size 0. */
    IS(Add(num(F32, 2), num(F32, 3)), 5);
    double none[ROOM];
    ck_assert_int_eq(values(Exp(shaped(F32, EDDY_SHAPE(0, 3), NULL)), none), 0);
    ck_assert_int_eq(values(Add(shaped(F64, EDDY_SHAPE(2, 0), NULL), column), none), 0);
}
END_TEST

/* a [3,9000,7] beside an operand that repeats a short row, has a number for each row, or is one
 * number, in one thread and two, whose pieces begin within rows. */
static void check_rows(int threads)
{
    enum { OUTER = 3, MIDDLE = 9000, ROW = 7, ALL = OUTER * MIDDLE * ROW };
    const eddy_shape shapes[] = { EDDY_SHAPE(OUTER, 1, ROW), EDDY_SHAPE(ROW),
                                  EDDY_SHAPE(OUTER, 1, 1), EDDY_SHAPE(MIDDLE, 1), EDDY_SHAPE(1) };
    for (int k = 0; k < 5; k++) {
        eddy_graph   *own = eddy_graph_new();
        eddy_session *alone = eddy_session_new(own, .threads = threads);
        const eddy_shape  all = EDDY_SHAPE(OUTER, MIDDLE, ROW);
        const eddy_tensor a = eddy_placeholder(own, "a", EDDY_FLOAT32, all);
        const eddy_tensor b = eddy_placeholder(own, "b", EDDY_FLOAT32, shapes[k]);
        eddy_array *x = eddy_array_new(EDDY_FLOAT32, all);
        eddy_array *y = eddy_array_new(EDDY_FLOAT32, shapes[k]);
        for (int64_t i = 0; i < ALL; i++) eddy_array_set(x, i, (double)(i % 1009));
        for (int64_t i = 0; i < eddy_array_count(y); i++)
            eddy_array_set(y, i, 1024. * (double)(i + 1));
        eddy_array *got = eddy_fetch(alone, Sub(a, b), EDDY_FEED({ a, x }, { b, y }));
        ck_assert_msg(got != NULL, "%s", eddy_session_message(alone));
        for (int64_t i = 0; i < ALL; i++) {
            const int64_t outer = i / (MIDDLE * ROW), row = i / ROW % MIDDLE, at = i % ROW;
            const int64_t of[] = { outer * ROW + at, at, outer, row, 0 };
            ck_assert_double_eq(eddy_array_get(got, i),
                                (double)(i % 1009) - 1024. * (double)(of[k] + 1));
        }
        eddy_array_free(got);
        eddy_array_free(x);
        eddy_array_free(y);
        eddy_session_free(alone);
        eddy_graph_free(own);
    }
}

START_TEST(short_rows)
{
    check_rows(1);
    check_rows(2);
}
END_TEST

START_TEST(unknown_shapes)
{
    eddy_tensor x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(EDDY_ANY, 3));
    eddy_tensor z = eddy_placeholder(g, "z", F64, EDDY_UNKNOWN_SHAPE);
    ck_assert(eddy_shape_equal(eddy_shape_of(Tanh(x)), EDDY_SHAPE(EDDY_ANY, 3)));
    eddy_tensor row = vec(F64, V(1, 2, 3));
    ck_assert(eddy_shape_equal(eddy_shape_of(Add(x, row)), EDDY_SHAPE(EDDY_ANY, 3)));
    ck_assert_int_eq(eddy_shape_of(Add(x, z)).rank, EDDY_UNKNOWN_RANK);
    eddy_tensor known = shaped(F64, EDDY_SHAPE(2, 3), (double[6]){ 0 });
    eddy_tensor sum = eddy_add_n(EDDY_LIST(z, x, known), NULL);
    ck_assert(eddy_shape_equal(eddy_shape_of(sum), EDDY_SHAPE(2, 3)));
}
END_TEST

START_TEST(errors)
{
    eddy_tensor f = vec(F32, V(1, 2, 3)), d = vec(F64, V(1, 2, 3)), i = vec(EDDY_INT32, V(1, 2, 3));
    eddy_tensor b = vec(EDDY_BOOL, V(1, 0, 1)), two = vec(F32, V(1, 2));
    refused(Add(f, d), EDDY_BAD_DTYPE, "float64");
    refused(Add(f, two), EDDY_BAD_SHAPE, "[2]");
    refused(Add(b, b), EDDY_BAD_DTYPE, "bool");
    refused(Exp(i), EDDY_BAD_DTYPE, "int32");
    refused(IsNan(i), EDDY_BAD_DTYPE, "int32");
    refused(DivNoNan(i, i), EDDY_BAD_DTYPE, "int32");
    refused(LogicalAnd(f, f), EDDY_BAD_DTYPE, "float32");
    refused(LogicalNot(f), EDDY_BAD_DTYPE, "float32");
    refused(Less(f, i), EDDY_BAD_DTYPE, "int32");
    refused(Where(f, f, f), EDDY_BAD_DTYPE, "bool expected");
    refused(Where(b, f, d), EDDY_BAD_DTYPE, "b is float64");
    refused(Where(b, f, two), EDDY_BAD_SHAPE, "[2]");
    refused(Cast(f, EDDY_DEFAULT_DTYPE), EDDY_BAD_DTYPE, "cannot cast");
    refused(Cast(f, EDDY_DEFAULT_DTYPE), EDDY_BAD_DTYPE, "cast");
    refused(Cast(f, (eddy_dtype)77), EDDY_BAD_DTYPE, "cast");
    refused(eddy_add_n(EDDY_LIST(f, d), NULL), EDDY_BAD_DTYPE, "xs[1] is float64");
    refused(eddy_add_n(EDDY_LIST(f, two), NULL), EDDY_BAD_SHAPE, "[2]");
    refused(eddy_add_n(EDDY_LIST(b, b), NULL), EDDY_BAD_DTYPE, "bool");
    ck_assert(!eddy_is_valid(eddy_add_n(EDDY_LIST(), NULL)));
    ck_assert(!eddy_is_valid(Exp((eddy_tensor)EDDY_ZERO_TENSOR)));
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
}
END_TEST

START_TEST(names)
{
    eddy_tensor x = eddy_named("x", num(F32, 1));
    ck_assert_str_eq(eddy_name_of(Add(x, x)), "add");
    ck_assert_str_eq(eddy_name_of(Add(x, x)), "add_1");
    ck_assert_str_eq(eddy_name_of(Div(x, x)), "truediv");
    ck_assert_str_eq(eddy_type_of(Div(x, x)), "RealDiv");
    ck_assert_str_eq(eddy_name_of(Pow(x, x)), "pow");
    ck_assert_str_eq(eddy_name_of(Tanh(x)), "Tanh");
    ck_assert_str_eq(eddy_name_of(Cast(x, F64)), "Cast");
    ck_assert_str_eq(eddy_name_of(eddy_add_n(EDDY_LIST(x, x), "total")), "total");
    ck_assert_str_eq(eddy_name_of(eddy_add_n(EDDY_LIST(x), "alone")), "alone");
    ck_assert(eddy_same(eddy_add_n(EDDY_LIST(x), NULL), x));
    eddy_tensor clipped = eddy_clip_by_value(x, x, x);
    ck_assert_str_eq(eddy_name_of(clipped), "clip_by_value");
    ck_assert_str_eq(eddy_name_of(eddy_input(clipped, 0)), "clip_by_value/Minimum");
    ck_assert_str_eq(eddy_name_of(eddy_clip_by_norm(x, x, .name = "c")), "c");
    ck_assert_str_eq(eddy_scope_name(g), "");
    /* The short names evaluate each argument once. */
    int32_t before = eddy_graph_size(g);
    eddy_tensor y = Mul(Add(Tanh(x), Exp(x)), Sub(Square(x), Neg(x)));
    ck_assert(eddy_is_valid(y));
    ck_assert_int_eq(eddy_graph_size(g) - before, 7);
}
END_TEST

/* ---------------------------------------------------------- cast, add_n -- */

START_TEST(casts)
{
    eddy_tensor f = vec(F32, V(-1.5, 0, 2.9, 300, -3e9, 3e9, 1e20, -INFINITY, INFINITY, NAN));
    IS(Cast(f, EDDY_INT32),
       -1, 0, 2, 300, INT32_MIN, INT32_MAX, INT32_MAX, INT32_MIN, INT32_MAX, 0);
    IS(Cast(f, EDDY_UINT8), 0, 0, 2, 255, 0, 255, 255, 0, 255, 0);
    IS(Cast(f, EDDY_BOOL), 1, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    IS(Cast(vec(F64, V(-1e19, 1e19, NAN, 9007199254740993.0)), EDDY_INT64),
       -9223372036854775808.0, 9223372036854775807.0, 0, 9007199254740992.0);
    IS(Cast(vec(F64, V(2147483646.9, 2147483647.5, -2147483648.5, 255.5, 0.1)), EDDY_INT32),
       2147483646, 2147483647, -2147483648.0, 255, 0);
    eddy_tensor l = vec(EDDY_INT64, V(-1, 4294967298.0, 255, 256, 0));
    IS(Cast(l, EDDY_INT32), -1, 2, 255, 256, 0);
    IS(Cast(l, EDDY_UINT8), 255, 2, 255, 0, 0);
    IS(Cast(l, EDDY_BOOL), 1, 1, 1, 1, 0);
    IS(Cast(l, F32), -1, 4294967296.0, 255, 256, 0);
    IS(Cast(vec(EDDY_BOOL, V(1, 0)), F64), 1, 0);
    IS(Cast(vec(EDDY_BOOL, V(1, 0)), EDDY_INT64), 1, 0);
    IS(Cast(vec(EDDY_UINT8, V(255, 1)), EDDY_INT32), 255, 1);
    IS(Cast(vec(F64, V(1e300, 0.1)), F32), INFINITY, 0.1f);
    ck_assert(eddy_same(Cast(f, F32), f));
}
END_TEST

START_TEST(add_n)
{
    enum { MANY = 3000 };
    static eddy_tensor xs[MANY];
    eddy_tensor a = vec(F32, V(1, 2, 3)), b = vec(F32, V(10, 20, 30));
    IS(eddy_add_n(EDDY_LIST(a, b), NULL), 11, 22, 33);
    IS(eddy_add_n(EDDY_LIST(a, b, a, a), NULL), 13, 26, 39);
    IS(eddy_add_n(EDDY_LIST(a, a, a), NULL), 3, 6, 9);
    IS(eddy_add_n(EDDY_LIST(vec(EDDY_UINT8, V(200)), vec(EDDY_UINT8, V(100))), NULL), 44);
    for (int i = 0; i < MANY; i++) xs[i] = i % 2 ? b : a;
    eddy_tensor y = eddy_add_n((eddy_list){ MANY, xs }, NULL);
    IS(y, 16500, 33000, 49500);
    IS(slope(y, a), 1500, 1500, 1500);
    /* Longer than a tile of the kernel. */
    enum { LONG = 2500 };
    float long_x[LONG];
    for (int i = 0; i < LONG; i++) long_x[i] = (float)i;
    eddy_tensor l = eddy_const(g, F32, EDDY_SHAPE(LONG), long_x);
    eddy_array *sum = NULL;
    y = eddy_add_n(EDDY_LIST(l, l, Neg(l), l), NULL);
    ck_assert_int_eq(evaluate(y, 0, NULL, &sum), EDDY_OK);
    for (int i = 0; i < LONG; i++) ck_assert(eddy_array_get(sum, i) == 2.0 * i);
    eddy_array_free(sum);
}
END_TEST

/* ----------------------------------------------------------------- suite -- */

Suite *elementwise_suite(void)
{
    Suite *s = suite_create("elementwise");
    TCase *c = tcase_create("all");
    tcase_add_checked_fixture(c, setup, teardown);
    suite_add_tcase(s, c);
    tcase_add_loop_test(c, unary_values_are_right, 0, UNARY_VALUES);
    tcase_add_test(c, whole_numbers_are_round);
    tcase_add_test(c, nested_short_names);
    tcase_add_loop_test(c, binary_values_are_right, 0, BINARY_VALUES);
    tcase_add_test(c, extremes);
    tcase_add_test(c, integers);
    tcase_add_loop_test(c, integer_division, 0, 2);
    tcase_add_test(c, comparisons);
    tcase_add_test(c, broadcasting);
    tcase_add_test(c, short_rows);
    tcase_add_test(c, unknown_shapes);
    tcase_add_test(c, errors);
    tcase_add_test(c, names);
    tcase_add_test(c, casts);
    tcase_add_test(c, add_n);
    return s;
}
