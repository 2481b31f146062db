/* test_gradients.c -- the reverse sweep: TensorFlow's cases (group G), all
 * arguments, names, errors, higher orders. */
#include "tests/lib/graph_fixture.h"

#include <math.h>

Suite *gradients_suite(void);

static void none(eddy_tensor t)
{
    fits(g);
    ck_assert_msg(!eddy_is_valid(t), "there is a gradient, '%s'", eddy_name_of(t));
}

static bool infer_same(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

static eddy_status copy_kernel(eddy_kernel *k)
{
    memcpy(k->out[0]->data, k->in[0]->data,
           (size_t)k->in[0]->count * eddy_dtype_size(k->in[0]->type.dtype));
    return EDDY_OK;
}

/* --------------------------------------------------------- TensorFlow's -- */

START_TEST(g01_matmul_and_bias)
{
    double      want[1000];
    eddy_tensor inp = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(32, 100));
    eddy_tensor w = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(100, 10));
    eddy_tensor b = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(10)), h = BiasAdd(MatMul(inp, w), b);
    eddy_tensor dw = eddy_gradient(h, w);
    for (int i = 0; i < 1000; i++) want[i] = 32;
    has_value(dw, 1000, want);
    ck_assert_str_eq(eddy_type_of(dw), "MatMul");
    ck_assert(eddy_same(eddy_input(dw, 0), inp));
    ck_assert(eddy_shape_equal(eddy_shape_of(dw), EDDY_SHAPE(100, 10)));
}
END_TEST

static void must_not_be_called(eddy_rule *r)
{
    (void)r;
    ck_abort_msg("the rule of a source was asked");
}

static const eddy_op_def untouchable = {
    .name = "Untouchable", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .infer = infer_same, .kernel = copy_kernel, .gradient = must_not_be_called,
};

START_TEST(g03_boundary)
{
    eddy_tensor x = eddy_apply1(&untouchable, NULL, eddy_scalar(g, 1));
    is_number(eddy_gradient(Add(Add(x, 1), 1), x), 1);
}
END_TEST

static void ten_terms(eddy_aggregation method, const char *type, const char *name)
{
    eddy_tensor x = eddy_scalar(g, 1), y = Mul(x, 2), z = y, d[2];
    for (int i = 1; i < 10; i++) z = Add(z, y);
    eddy_gradients(EDDY_LIST(z), EDDY_LIST(x, y), d, .aggregation_method = method);
    is_number(d[0], 20);
    is_number(d[1], 10);
    ck_assert_str_eq(eddy_type_of(d[1]), type);
    ck_assert_msg(strstr(eddy_name_of(d[1]), name) != NULL, "%s", eddy_name_of(d[1]));
}

START_TEST(g05_add_n) { ten_terms(EDDY_ADD_N, "AddN", "gradients/AddN"); }
END_TEST
START_TEST(g07_accumulate_n)
{
    ten_terms(EDDY_EXPERIMENTAL_ACCUMULATE_N, "AddN", "gradients/AddN");
}
END_TEST
START_TEST(tree) { ten_terms(EDDY_EXPERIMENTAL_TREE, "AddN", "gradients/mul_gradient_sum/AddN"); }
END_TEST

static bool two_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    c->out[1] = (eddy_type){ EDDY_INT32, c->in[0].shape };
    return true;
}

static void two_gradient(eddy_rule *r)
{
    ck_assert_int_eq(eddy_dtype_of(r->dy[0]), EDDY_FLOAT32);
    ck_assert(!eddy_is_valid(r->dy[1]));
    r->dx[0] = r->dy[0];
}

static const eddy_op_def two = {
    .name = "Two", .min_inputs = 1, .max_inputs = 1, .outputs = 2,
    .infer = two_infer, .kernel = copy_kernel, .gradient = two_gradient,
};

/* With an integer where TensorFlow has a string. */
START_TEST(g09_outputs_that_cannot_be_differentiated)
{
    eddy_tensor c = eddy_scalar(g, 1), z = Mul(2, eddy_apply1(&two, NULL, c)), w = Mul(3, z);
    ck_assert(eddy_is_valid(eddy_gradient(z, c)) && eddy_is_valid(eddy_gradient(w, c)));
}
END_TEST

START_TEST(g11_integers_cut_the_path)
{
    eddy_tensor v = eddy_placeholder(g, "v", EDDY_FLOAT32, EDDY_SCALAR);
    none(eddy_gradient(Add(Cast(v, EDDY_INT32), 1), v));
}
END_TEST

START_TEST(g13_unconnected_variables)
{
    static const eddy_dtype dtypes[] = { EDDY_FLOAT32, EDDY_FLOAT64 };
    for (int i = 0; i < 2; i++) {
        eddy_tensor v = eddy_variable(g, eddy_number(g, dtypes[i], 1)), y = eddy_scalar(g, 1), dx;
        eddy_gradients(EDDY_LIST(y), EDDY_LIST(v), &dx,
                       .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
        fits(g);
        ck_assert_int_eq(eddy_dtype_of(dx), dtypes[i]);
        eddy_tensor init = eddy_initializer(g);
        eddy_session *s = eddy_session_new(g);
        runs(s, init);
        has(s, dx, 1, (double[]){ 0 });
        eddy_session_free(s);
    }
}
END_TEST

START_TEST(g15_dependent_ys)
{
    eddy_tensor x = real(g, 3), y = Square(x), y2 = Square(Square(y)), dx;
    eddy_gradients(EDDY_LIST(y, y2), EDDY_LIST(x), &dx);
    is_number(dx, 17502);
    eddy_gradients(EDDY_LIST(Identity(y), Identity(y2)), EDDY_LIST(x), &dx);
    is_number(dx, 17502);
}
END_TEST

START_TEST(g17_partial_derivatives)
{
    eddy_tensor x = eddy_scalar(g, 1), y = Mul(2, x), z = Add(x, y), d[2];
    eddy_gradients(EDDY_LIST(z), EDDY_LIST(x, y), d);
    is_number(d[0], 3);
    eddy_gradients(EDDY_LIST(z), EDDY_LIST(x, y), d, .stop_gradients = EDDY_LIST(x, y));
    is_number(d[0], 1);
    is_number(d[1], 1);
    eddy_gradients(EDDY_LIST(z), EDDY_LIST(x, y), d, .stop_gradients = EDDY_LIST(y));
    is_number(d[0], 1);
    is_number(d[1], 1);
    eddy_gradients(EDDY_LIST(z), EDDY_LIST(x, y), d, .stop_gradients = EDDY_LIST(x));
    is_number(d[0], 3);
    is_number(d[1], 1);
}
END_TEST

/* 0 stands for none. */
static void stopped(const eddy_tensor *v, eddy_list stop, double da, double db, double dc,
                    double dd)
{
    eddy_tensor  d[4];
    const double want[4] = { da, db, dc, dd };
    eddy_gradients(EDDY_LIST(v[3]), (eddy_list){ 4, v }, d, .stop_gradients = stop);
    for (int i = 0; i < 4; i++) {
        if (want[i] == 0) none(d[i]);
        else is_number(d[i], want[i]);
    }
}

START_TEST(g19_stop_gradients)
{
    eddy_tensor a = eddy_scalar(g, 1), b = Add(Mul(2, a), 1);
    eddy_tensor c = Add(Add(Mul(3, a), Mul(5, b)), 7), d = Add(Add(Mul(11, b), Mul(13, c)), 17);
    const eddy_tensor v[4] = { a, b, c, d };
    stopped(v, EDDY_LIST(b), 39, 76, 13, 1);
    stopped(v, EDDY_LIST(c), 22, 11, 13, 1);
    stopped(v, EDDY_LIST(b, c), 0, 11, 13, 1);
    stopped(v, EDDY_LIST(d), 0, 0, 0, 1);
    stopped(v, EDDY_LIST(a), 191, 76, 13, 1);
}
END_TEST

START_TEST(g21_g23_unconnected)
{
    eddy_tensor x = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 2)),
                y = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(3, 1)), d;
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &d, .unconnected_gradients = EDDY_UNCONNECTED_NONE);
    none(d);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &d, .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    has_value(d, 4, (double[4]){ 0 });
    eddy_tensor one = eddy_scalar(g, 1);
    eddy_gradients(EDDY_LIST(Mul(3, one)), EDDY_LIST(one), &d,
                   .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    is_number(d, 3);
}
END_TEST

START_TEST(g25_stop_gradient)
{
    eddy_tensor x = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(100, 32));
    none(eddy_gradient(StopGradient(x), x));
}
END_TEST

static eddy_tensor quadratic(eddy_tensor a, eddy_tensor x)
{
    return Sum(Mul(x, Squeeze(MatMul(a, ExpandDims(x, 1)), .axes = EDDY_AXES(1))));
}

START_TEST(g27_hessian_vector_product)
{
    eddy_tensor a = matrix(g, 2, 2, (double[]){ 1, 2, 3, 4 }), x = vector(g, 2, (double[]){ 7, 9 });
    eddy_tensor v = vector(g, 2, (double[]){ 1, -1 }), out;
    eddy_hessian_vector_product(quadratic(a, x), EDDY_LIST(x), EDDY_LIST(v), &out);
    has_value(out, 2, (double[]){ -3, -3 });
    eddy_hessian_vector_product(quadratic(a, x), EDDY_LIST(x), EDDY_LIST(), &out);
    fails(g, EDDY_INVALID_ARGUMENT, "vs and xs must have the same length, not 0 and 1");
}
END_TEST

START_TEST(g29_hessians_without_cross_blocks)
{
    eddy_tensor x[3], y[3], h[3];
    for (int i = 0; i < 3; i++) {
        x[i] = vector(g, 2, (double[]){ i, 1 });
        y[i] = quadratic(matrix(g, 2, 2, (double[]){ i, 2, 3, 4 }), x[i]);
    }
    eddy_hessians(eddy_add_n((eddy_list){ 3, y }, NULL), (eddy_list){ 3, x }, h);
    for (int i = 0; i < 3; i++) has_value(h[i], 4, (double[]){ 2 * i, 5, 5, 8 });
}
END_TEST

START_TEST(g31_hessian_of_a_matrix)
{
    double      want[36];
    eddy_tensor x = matrix(g, 2, 3, (double[]){ 1, 2, 3, 4, 5, 6 }), h;
    eddy_hessians(Mul(0.5, Sum(MatMul(x, x, .transpose_a = true))), EDDY_LIST(x), &h);
    for (int i = 0; i < 36; i++) want[i] = i / 6 / 3 == i % 6 / 3;
    has_value(h, 36, want);
    ck_assert(eddy_shape_equal(eddy_shape_of(h), EDDY_SHAPE(2, 3, 2, 3)));
    eddy_hessians(x, EDDY_LIST(x), &h);
    fails(g, EDDY_INVALID_ARGUMENT, "there is no second derivative");
    eddy_hessians(real(g, 1), EDDY_LIST(x), &h);
    fails(g, EDDY_INVALID_ARGUMENT, "no gradient of");
}
END_TEST

START_TEST(g33_slices_become_tensors)
{
    double want[256], three[768];
    for (int i = 0; i < 256; i++) three[i] = three[256 + i] = three[512 + i] = want[i] = i * 0.5;
    eddy_tensor c = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(4, 4, 4, 4), want), s[2];
    s[0] = eddy_indexed_slices(
        c, eddy_const(g, EDDY_INT32, EDDY_SHAPE(4), (int32_t[]){ 0, 1, 2, 3 }), c);
    s[1] = eddy_indexed_slices(
        c, eddy_const(g, EDDY_INT64, EDDY_SHAPE(4), (int64_t[]){ 0, 1, 2, 3 }), c);
    for (int i = 0; i < 2; i++) {
        has_value(Mul(s[i], 1), 256, want);
        has_value(eddy_stack(EDDY_LIST(s[i], s[i], s[i]), 0), 768, three);
    }
}
END_TEST

START_TEST(g35_complex_needs_grad_ys)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_COMPLEX64, EDDY_SCALAR);
    none(eddy_gradient(eddy_scalar(g, 1), x));
    eddy_gradient(Identity(x), x);
    fails(g, EDDY_BAD_DTYPE, "Gradients of complex tensors must set grad_ys");
}
END_TEST

static void swapped_gradient(eddy_rule *r)
{
    r->dx[0] = Mul(r->dy[0], r->x[0]);
    r->dx[1] = Mul(r->dy[0], r->x[1]);
}

static const eddy_op_def swapped = {
    .name = "Swapped", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .infer = infer_same, .kernel = copy_kernel, .gradient = swapped_gradient,
};

START_TEST(g37_custom_rule)
{
    eddy_tensor a = real(g, 3), b = real(g, 5), d[2];
    eddy_gradients(EDDY_LIST(eddy_apply2(&swapped, NULL, a, b)), EDDY_LIST(a, b), d);
    is_number(d[0], 3);
    is_number(d[1], 5);
}
END_TEST

START_TEST(g41_assignments_have_no_gradient)
{
    eddy_tensor x = eddy_variable(g, eddy_scalar(g, 1)), z = eddy_variable(g, eddy_scalar(g, 3));
    none(eddy_gradient(eddy_assign(x, Square(z)), z));
}
END_TEST

START_TEST(g43_ys_among_xs)
{
    eddy_tensor x = real(g, 3), y = Mul(x, x), d, whole = eddy_number(g, EDDY_INT32, 4), twice[2];
    eddy_gradients(EDDY_LIST(x, y), EDDY_LIST(x), &d);
    is_number(d, 7);
    is_number(eddy_gradient(y, y), 1);
    eddy_gradients(EDDY_LIST(y, y), EDDY_LIST(y), &d);
    is_number(d, 2);
    d = eddy_gradient(whole, whole);
    is_number(d, 1);
    ck_assert_int_eq(eddy_dtype_of(d), EDDY_INT32);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x, x), twice);
    ck_assert(eddy_same(twice[0], twice[1]));
    is_number(twice[0], 6);
    eddy_gradients(EDDY_LIST(), EDDY_LIST(x), &d);
    none(d);
}
END_TEST

START_TEST(g45_g47_grad_ys)
{
    eddy_tensor x = real(g, 3), y = Mul(x, x), b = Less(x, 5), d;
    eddy_gradients(EDDY_LIST(y, y), EDDY_LIST(x), &d, .grad_ys = EDDY_LIST(x));
    fails(g, EDDY_INVALID_ARGUMENT, "Passed 1 grad_ys for 2 ys");
    eddy_gradients(EDDY_LIST(b), EDDY_LIST(x), &d, .grad_ys = EDDY_LIST(x));
    fails(g, EDDY_BAD_DTYPE, "must be numeric to obtain a default gradient");
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &d, .grad_ys = EDDY_LIST(real(g, 10)));
    is_number(d, 60);
    const eddy_tensor invalid = EDDY_ZERO_TENSOR;
    eddy_gradients(EDDY_LIST(y, y), EDDY_LIST(x), &d, .grad_ys = EDDY_LIST(real(g, 10), invalid));
    is_number(d, 66);
}
END_TEST

START_TEST(g49_another_output_of_the_same_node)
{
    eddy_tensor x = vector(g, 4, (double[]){ 1, 2, 3, 4 }), s = eddy_split(x, 2, 0), d;
    eddy_tensor y = Sum(eddy_output(s, 1));
    none(eddy_gradient(y, s));
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(s), &d, .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    has_value(d, 2, (double[]){ 0, 0 });
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &d, .stop_gradients = EDDY_LIST(s));
    none(d);
    has_value(eddy_gradient(y, x), 4, (double[]){ 0, 0, 1, 1 });
}
END_TEST

static void short_gradient(eddy_rule *r)
{
    r->dx[0] = r->dy[0];
    r->n_dx = 1;
}

static const eddy_op_def short_rule = {
    .name = "Short", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .infer = infer_same, .kernel = copy_kernel, .gradient = short_gradient,
};

START_TEST(g51_wrong_number_of_gradients)
{
    eddy_tensor x = real(g, 3);
    eddy_gradient(eddy_apply2(&short_rule, NULL, x, x), x);
    fails(g, EDDY_INVALID_ARGUMENT,
          "Num gradients 1 generated for op Short do not match num inputs 2");
}
END_TEST

START_TEST(g53_slices_and_dense_terms)
{
    eddy_tensor p = matrix(g, 4, 2, (double[]){ 1, 2, 3, 4, 5, 6, 7, 8 });
    eddy_tensor rows =
        eddy_gather(p, eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 0, 1 }));
    eddy_tensor d = eddy_gradient(Mul(rows, Sum(Mul(2, p))), p);
    ck_assert(eddy_slices_parts(d, NULL, NULL));
    has_value(d, 8, (double[]){ 92, 92, 92, 92, 20, 20, 20, 20 });
}
END_TEST

/* ----------------------------------------------------- names, arguments -- */

START_TEST(names)
{
    eddy_tensor x = eddy_named("x", real(g, 3)), y = eddy_named("y", Mul(x, 2)), d;
    eddy_tensor first = eddy_gradient(y, x), second = eddy_gradient(y, x);
    ck_assert(eddy_graph_has(g, "gradients/grad_ys_0"));
    ck_assert_str_eq(eddy_name_of(first), "gradients/y_grad/Mul");
    ck_assert_str_eq(eddy_name_of(second), "gradients_1/y_grad/Mul");
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &d, .name = "slopes");
    ck_assert_str_eq(eddy_name_of(d), "slopes/y_grad/Mul");
    eddy_scope_begin(g, "outer");
    ck_assert_str_eq(eddy_name_of(eddy_gradient(y, x)), "outer/gradients/y_grad/Mul");
    eddy_scope_end(g);
    ck_assert_str_eq(eddy_scope_name(g), "");
    ck_assert_int_eq(eddy_node_of(first)->origin, y.node);
    ck_assert_int_eq(eddy_node_of(first)->colocate, 0);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &d, .colocate_gradients_with_ops = true);
    ck_assert_int_eq(eddy_node_of(d)->colocate, y.node);
    fits(g);
}
END_TEST

START_TEST(gating)
{
    eddy_tensor a = real(g, 3), b = real(g, 5), y = eddy_named("y", Mul(a, b)), d[2];
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(a, b), d, .gate_gradients = true);
    ck_assert_str_eq(eddy_name_of(d[0]), "gradients/y_grad/tuple/control_dependency");
    ck_assert_int_eq(eddy_controls_of(d[0]), 1);
    ck_assert(eddy_same(eddy_control(d[0], 0), eddy_control(d[1], 0)));
    is_number(d[0], 5);
    is_number(d[1], 3);
}
END_TEST

static const eddy_op_def no_rule = {
    .name = "NoRule", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .infer = infer_same, .kernel = copy_kernel,
};

static void bad_shape_gradient(eddy_rule *r) { r->dx[0] = Sum(r->dy[0]); }

static const eddy_op_def bad_shape = {
    .name = "BadShape", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .infer = infer_same, .kernel = copy_kernel, .gradient = bad_shape_gradient,
};

START_TEST(rules_that_are_missing_or_wrong)
{
    eddy_tensor x = vector(g, 2, (double[]){ 1, 2 }), y = eddy_apply1(&no_rule, NULL, x), d;
    has_value(eddy_gradient(Mul(y, 3), y), 2, (double[]){ 3, 3 });
    none(eddy_gradient(Mul(x, 2), y));
    d = eddy_gradient(Mul(y, 3), x);
    ck_assert(!eddy_is_valid(d));
    fails(g, EDDY_NO_GRADIENT, "No gradient defined for operation 'NoRule' (op type: NoRule)");
    eddy_gradient(eddy_prevent_gradient(x, "it is wrong"), x);
    fails(g, EDDY_NO_GRADIENT, "Gradient explicitly disabled. Reason: it is wrong");
    eddy_gradient(eddy_apply1(&bad_shape, NULL, x), x);
    fails(g, EDDY_BAD_SHAPE, "Incompatible shapes between op input and calculated input gradient");
    ck_assert_str_eq(eddy_scope_name(g), "");
    none(eddy_gradient(eddy_floor(x), x));
}
END_TEST

START_TEST(bad_arguments)
{
    eddy_graph *other = eddy_graph_new();
    eddy_tensor x = real(g, 1), y = Mul(x, 2), foreign = real(other, 1), op = eddy_no_op(g, NULL),
                d[2];
    d[0] = x;
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(foreign), d);
    fails(g, EDDY_INVALID_ARGUMENT, "xs[0] is not a tensor of this graph");
    ck_assert(!eddy_is_valid(d[0]));
    eddy_gradients(EDDY_LIST(y, foreign), EDDY_LIST(x), d);
    fails(g, EDDY_INVALID_ARGUMENT, "ys[1] is not a tensor of this graph");
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(op), d);
    fails(g, EDDY_INVALID_ARGUMENT, "xs[0]");
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), d, .stop_gradients = EDDY_LIST(foreign));
    fails(g, EDDY_INVALID_ARGUMENT, "stop_gradients[0]");
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), d, .grad_ys = EDDY_LIST(foreign));
    fails(g, EDDY_INVALID_ARGUMENT, "grad_ys[0]");
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), d, .aggregation_method = (eddy_aggregation)7);
    fails(g, EDDY_INVALID_ARGUMENT, "Invalid aggregation_method specified 7.");
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), d, .unconnected_gradients = (eddy_unconnected)7);
    fails(g, EDDY_INVALID_ARGUMENT, "Unknown value for unconnected_gradients: '7'");
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), d, .name = "not valid");
    fails(g, EDDY_INVALID_ARGUMENT, "not a valid scope name");
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), NULL);
    fails(g, EDDY_INVALID_ARGUMENT, "out is NULL");
    is_number(eddy_gradient(y, x), 2);
    eddy_graph_free(other);
}
END_TEST

START_TEST(third_derivative)
{
    eddy_tensor  x = real(g, 0.3), f = Tanh(x);
    const double t = tanh(0.3), d = 1 - t * t;
    for (int i = 0; i < 3; i++) f = eddy_gradient(f, x);
    is_number(f, d * (6 * t * t - 2));
}
END_TEST

/* A shape known only to a run, summed back to the operand that was broadcast. */
START_TEST(unknown_shapes)
{
    eddy_tensor   a = eddy_placeholder(g, "a", EDDY_FLOAT64, EDDY_UNKNOWN_SHAPE);
    eddy_tensor   b = eddy_placeholder(g, "b", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY)), d[2];
    eddy_array   *out[2] = { NULL, NULL }, *va = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(3, 2));
    eddy_array   *vb = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(1));
    eddy_gradients(EDDY_LIST(Mul(a, b)), EDDY_LIST(a, b), d);
    for (int i = 0; i < 6; i++) eddy_array_set(va, i, i);
    eddy_array_set(vb, 0, 7);
    eddy_session *s = eddy_session_new(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ a, va }, { b, vb }), EDDY_FETCH(d[0], d[1]), out),
                     EDDY_OK);
    ck_assert(eddy_shape_equal(eddy_array_shape(out[0]), EDDY_SHAPE(3, 2)));
    ck_assert(eddy_shape_equal(eddy_array_shape(out[1]), EDDY_SHAPE(1)));
    ck_assert(eddy_array_get(out[0], 5) == 7 && eddy_array_item(out[1]) == 15);
    for (int i = 0; i < 2; i++) eddy_array_free(out[i]);
    eddy_array_free(va);
    eddy_array_free(vb);
    eddy_session_free(s);
}
END_TEST

Suite *gradients_suite(void)
{
    const TTest *const tests[] = {
        g01_matmul_and_bias, g03_boundary, g05_add_n, g07_accumulate_n, tree,
        g09_outputs_that_cannot_be_differentiated, g11_integers_cut_the_path,
        g13_unconnected_variables, g15_dependent_ys, g17_partial_derivatives, g19_stop_gradients,
        g21_g23_unconnected, g25_stop_gradient, g27_hessian_vector_product,
        g29_hessians_without_cross_blocks, g31_hessian_of_a_matrix, g33_slices_become_tensors,
        g35_complex_needs_grad_ys, g37_custom_rule, g41_assignments_have_no_gradient,
        g43_ys_among_xs, g45_g47_grad_ys, g49_another_output_of_the_same_node,
        g51_wrong_number_of_gradients, g53_slices_and_dense_terms, names, gating,
        rules_that_are_missing_or_wrong, bad_arguments, third_derivative, unknown_shapes,
    };
    Suite *s = suite_create("gradients");
    TCase *c = tcase_create("gradients");
    tcase_add_checked_fixture(c, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(c, tests[i]);
    suite_add_tcase(s, c);
    return s;
}
