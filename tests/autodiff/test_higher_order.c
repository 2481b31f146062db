/* test_higher_order.c -- higher derivatives of small models against finite differences; the cost of
 * derivative products; the three kinds of missing gradients. */
#include "tests/lib/checks.h"
#include "tests/lib/finite_differences.h"

#include <stdlib.h>

Suite *higher_order_suite(void);

/* ------------------------------------------------------------------ models -- */

typedef struct model {
    trial       t;
    eddy_tensor a, b, y;         /* two weights, and tensors computed from them */
} model;

/* Of known rank: Hessians need it. */
static eddy_tensor some(model *m, int64_t rows, int64_t columns)
{
    eddy_tensor x = fed_numbers(&m->t, EDDY_SHAPE(rows, columns), -1, 1);
    return eddy_set_shape(x, EDDY_SHAPE(rows, EDDY_ANY));
}

static model mlp(unsigned seed)
{
    model m = { .t = trial_begin(seed) };
    eddy_tensor x = some(&m, 4, 3);
    m.a = some(&m, 3, 5);
    m.b = some(&m, 5, 2);
    m.y = MatMul(Sigmoid(MatMul(Tanh(MatMul(x, m.a)), some(&m, 5, 5))), m.b);
    return m;
}

static model classifier(unsigned seed)
{
    model m = { .t = trial_begin(seed) };
    eddy_tensor x = some(&m, 4, 3), labels = eddy_softmax(some(&m, 4, 5));
    m.a = some(&m, 3, 6);
    m.b = some(&m, 6, 5);
    m.y = eddy_softmax_cross_entropy(labels, MatMul(Tanh(MatMul(x, m.a)), m.b));
    return m;
}

/* One head over five positions. */
static model attention(unsigned seed)
{
    model m = { .t = trial_begin(seed) };
    eddy_tensor x = some(&m, 5, 4);
    m.a = some(&m, 4, 3);
    m.b = some(&m, 4, 3);
    eddy_tensor q = MatMul(x, m.a), k = MatMul(x, m.b), v = MatMul(x, some(&m, 4, 3));
    eddy_tensor score = Div(MatMul(q, k, .transpose_b = true), sqrt(3));
    m.y = Add(MatMul(eddy_softmax(score), v), MatMul(x, m.a));
    return m;
}

typedef model (*make_fn)(unsigned seed);
static const make_fn makers[] = { mlp, classifier, attention };
enum { MAKERS = sizeof makers / sizeof *makers };

START_TEST(third_order_by_differences)
{
    model m = makers[_i]((unsigned)_i + 1);
    check_slopes(&m.t, m.y, 2, (eddy_tensor[]){ m.a, m.b }, 3);
    trial_end(&m.t);
}
END_TEST

/* H = H', and H v by its product. */
START_TEST(hessians_are_symmetric)
{
    model       m = makers[_i]((unsigned)_i + 11);
    const eddy_shape shape = eddy_array_shape(array_of(&m.t, m.a));
    const int64_t    n = eddy_shape_count(shape);
    eddy_tensor f = Sum(Square(m.y)), h, hv, v = some(&m, shape.dim[0], shape.dim[1]);
    eddy_hessians(f, EDDY_LIST(m.a), &h);
    fits(m.t.graph);
    eddy_hessian_vector_product(f, EDDY_LIST(m.a), EDDY_LIST(v), &hv);
    eddy_tensor flat = eddy_reshape(h, EDDY_SHAPE(n, n));
    eddy_tensor skew = eddy_max(Abs(Sub(flat, eddy_transpose(flat))));
    ck_assert_double_le(scalar_value(&m.t, skew), 1e-12);
    eddy_tensor product = MatMul(flat, eddy_reshape(v, EDDY_SHAPE(n, 1)));
    eddy_tensor off = eddy_max(Abs(Sub(eddy_reshape(hv, EDDY_SHAPE(n, 1)), product)));
    ck_assert_double_le(scalar_value(&m.t, off), 1e-12);
    trial_end(&m.t);
}
END_TEST

/* -------------------------------------------------------------------- costs -- */

/* Arithmetic operations of a run that fetches these. */
static double flops(trial *t, eddy_list fetches)
{
    eddy_feed      feeds[TRIAL_FEEDS];
    eddy_array    *out[8] = { NULL };
    eddy_session  *s = eddy_session_new(t->graph);
    for (int i = 0; i < t->n; i++) feeds[i] = (eddy_feed){ t->tensor[i], t->array[i] };
    ck_assert_int_eq(eddy_run(s, (eddy_feeds){ t->n, feeds }, fetches, out), EDDY_OK);
    for (int i = 0; i < fetches.count; i++) eddy_array_free(out[i]);
    const double n = eddy_session_plan_info(s).flops;
    eddy_session_free(s);
    return n;
}

/* Large enough for the products of matrices to be most of it. */
static void cost_of(eddy_tensor (*build)(trial *t, eddy_tensor x, eddy_tensor w1, eddy_tensor w2))
{
    trial       t = trial_begin(3);
    eddy_tensor x = fed_numbers(&t, EDDY_SHAPE(32, 40), -1, 1);
    eddy_tensor w1 = fed_numbers(&t, EDDY_SHAPE(40, 50), -1, 1);
    eddy_tensor w2 = fed_numbers(&t, EDDY_SHAPE(50, 10), -1, 1);
    eddy_tensor v1 = fed_numbers(&t, EDDY_SHAPE(40, 50), -1, 1);
    eddy_tensor v2 = fed_numbers(&t, EDDY_SHAPE(50, 10), -1, 1);
    eddy_list   w = EDDY_LIST(w1, w2), v = EDDY_LIST(v1, v2);
    eddy_tensor y = build(&t, x, w1, w2), loss = Sum(Square(y)), d[2], hv[2], jv;
    eddy_gradients(EDDY_LIST(loss), w, d);
    eddy_hessian_vector_product(loss, w, v, hv);
    eddy_jvp(EDDY_LIST(y), w, v, &jv);
    const double function = flops(&t, EDDY_LIST(y)), gradient = flops(&t, EDDY_LIST(d[0], d[1]));
    const double hessian = flops(&t, EDDY_LIST(hv[0], hv[1])), tangent = flops(&t, EDDY_LIST(jv));
    ck_assert_double_ge(function, 2.0 * 32 * (40 * 50 + 50 * 10));
    ck_assert_msg(gradient <= 4 * function, "a gradient costs %g functions", gradient / function);
    ck_assert_msg(hessian <= 5 * gradient, "H v costs %g gradients", hessian / gradient);
    ck_assert_msg(tangent <= 3 * function, "J v costs %g functions", tangent / function);
    trial_end(&t);
}

static eddy_tensor two_layers(trial *t, eddy_tensor x, eddy_tensor w1, eddy_tensor w2)
{
    (void)t;
    return MatMul(Tanh(MatMul(x, w1)), w2);
}

static eddy_tensor softmax_layers(trial *t, eddy_tensor x, eddy_tensor w1, eddy_tensor w2)
{
    return eddy_softmax(two_layers(t, x, w1, w2));
}

static eddy_tensor recurrent(trial *t, eddy_tensor x, eddy_tensor w1, eddy_tensor w2)
{
    eddy_tensor h = MatMul(x, w1), u = fed_numbers(t, EDDY_SHAPE(50, 50), -0.2, 0.2);
    for (int i = 0; i < 4; i++) h = Sigmoid(MatMul(h, u));
    return MatMul(h, w2);
}

START_TEST(products_are_cheap)
{
    cost_of(two_layers);
    cost_of(softmax_layers);
    cost_of(recurrent);
}
END_TEST

/* Jv as J times v, of a function with a broadcast, a gather and a reduction. */
START_TEST(forward_mode)
{
    trial       t = trial_begin(5);
    eddy_tensor x = fed_numbers(&t, EDDY_SHAPE(4, 3), 0.5, 1),
                v = fed_numbers(&t, EDDY_SHAPE(4, 3), -1, 1);
    eddy_tensor i = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 2, 0 });
    eddy_tensor y = Mul(eddy_mean(eddy_gather(x, i), EDDY_AXES(1)), Log(eddy_max(x))), jv, j;
    eddy_jvp(EDDY_LIST(y), EDDY_LIST(x), EDDY_LIST(v), &jv);
    eddy_jacobian(y, EDDY_LIST(x), &j);
    eddy_tensor want =
        MatMul(eddy_reshape(j, EDDY_SHAPE(2, 12)), eddy_reshape(v, EDDY_SHAPE(12, 1)));
    eddy_tensor off = eddy_max(Abs(Sub(eddy_reshape(jv, EDDY_SHAPE(2, 1)), want)));
    ck_assert_double_le(scalar_value(&t, off), 1e-14);
    trial_end(&t);
}
END_TEST

/* H v is linear in v, and may be differentiated by it. */
START_TEST(products_are_differentiable)
{
    trial       t = trial_begin(7);
    eddy_tensor x = fed_numbers(&t, EDDY_SCALAR, 1, 2), v = fed_numbers(&t, EDDY_SCALAR, 1, 2);
    eddy_tensor hv, y = Mul(x, Mul(x, x));
    eddy_hessian_vector_product(y, EDDY_LIST(x), EDDY_LIST(v), &hv);
    eddy_tensor off = Sub(eddy_gradient(hv, v), Mul(6, x));
    ck_assert_double_eq(scalar_value(&t, off), 0);
    trial_end(&t);
}
END_TEST

/* One infinite element leaves the others alone. */
START_TEST(diagonal_beside_a_singularity)
{
    trial       t = trial_begin(1);
    eddy_tensor x = vector(t.graph, 2, (double[]){ 0, 4 }),
                d = eddy_hessian_diagonal(Sum(Sqrt(x)), x);
    eddy_array *a = value(&t, d);
    ck_assert_double_eq(eddy_array_get(a, 1), -1.0 / 32);
    eddy_array_free(a);
    trial_end(&t);
}
END_TEST

/* A y that has no gradient: none, or zeros of the right shape if asked. */
START_TEST(jacobian_of_integers)
{
    trial       t = trial_begin(1);
    eddy_tensor x = vector(t.graph, 2, (double[]){ 1, 2 }), y = Cast(x, EDDY_INT32), j;
    ck_assert_int_eq(eddy_jacobian(y, EDDY_LIST(x), &j), EDDY_OK);
    ck_assert(!eddy_is_valid(j));
    eddy_jacobian(y, EDDY_LIST(x), &j, .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    check_values(&t, j, EDDY_SHAPE(2, 2), (double[]){ 0, 0, 0, 0 });
    trial_end(&t);
}
END_TEST

/* ----------------------------------------------------------- no gradient -- */

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

static void says_nothing(eddy_rule *r) { (void)r; }

static const eddy_op_def no_rule = {
    .name = "NoRule", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = infer_same,
    .kernel = copy_kernel,
};
static const eddy_op_def no_gradient = {
    .name = "RuleOfNone", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = infer_same,
    .kernel = copy_kernel, .gradient = says_nothing,
};

/* Zero almost everywhere, not connected, no rule: zeros, none, an error. */
START_TEST(three_kinds_of_none)
{
    trial       t = trial_begin(1);
    eddy_tensor x = fed_numbers(&t, EDDY_SHAPE(3), -1, 1), d;
    d = eddy_gradient(Sign(x), x);
    ck_assert(eddy_is_valid(d));
    check_values(&t, d, EDDY_SHAPE(3), (double[]){ 0, 0, 0 });
    d = eddy_gradient(eddy_floor(x), x);
    ck_assert(!eddy_is_valid(d));
    d = eddy_gradient(eddy_number(t.graph, EDDY_FLOAT64, 2), x);
    ck_assert(!eddy_is_valid(d));
    d = eddy_gradient(eddy_apply1(&no_gradient, NULL, x), x);
    ck_assert(!eddy_is_valid(d));
    ck_assert_int_eq(eddy_graph_status(t.graph), EDDY_OK);
    eddy_gradients(EDDY_LIST(Add(eddy_apply1(&no_gradient, NULL, x), Mul(2, x))), EDDY_LIST(x), &d);
    check_values(&t, d, EDDY_SHAPE(3), (double[]){ 2, 2, 2 });
    d = eddy_gradient(eddy_apply1(&no_rule, NULL, x), x);
    ck_assert(!eddy_is_valid(d));
    ck_assert_int_eq(eddy_graph_status(t.graph), EDDY_NO_GRADIENT);
    ck_assert_ptr_nonnull(strstr(eddy_graph_message(t.graph), "(op type: NoRule)"));
    eddy_graph_clear_error(t.graph);
    trial_end(&t);
}
END_TEST

/* -------------------------------------------------------------------- size -- */

static size_t held;

static void *counting_allocate(void *user, size_t size)
{
    (void)user;
    held += size;
    return malloc(size);
}

static void counting_release(void *user, void *p, size_t size)
{
    (void)user, (void)size;
    free(p);
}

/* Bytes asked for by building and differentiating a chain of n products. */
static double bytes_of_chain(int n)
{
    const eddy_allocator counting = { .allocate = counting_allocate, .release = counting_release };
    held = 0;
    eddy_graph *g = eddy_graph_new(.allocator = &counting);
    eddy_tensor x = eddy_number(g, EDDY_FLOAT64, 1), y = x, d;
    for (int i = 0; i < n; i++) y = Mul(y, x);
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &d), EDDY_OK);
    eddy_graph_free(g);
    return (double)held;
}

/* Memory a node stays the same over a factor of 100. */
START_TEST(memory_is_linear)
{
    const double small = bytes_of_chain(1000) / 1000, large = bytes_of_chain(100000) / 100000;
    ck_assert_msg(large < 1.5 * small, "%g bytes a node, and %g", small, large);
}
END_TEST

Suite *higher_order_suite(void)
{
    Suite *suite = suite_create("higher_order");
    TCase *c = tcase_create("higher_order");
    tcase_add_loop_test(c, third_order_by_differences, 0, MAKERS);
    tcase_add_loop_test(c, hessians_are_symmetric, 0, MAKERS);
    tcase_add_test(c, products_are_cheap);
    tcase_add_test(c, forward_mode);
    tcase_add_test(c, products_are_differentiable);
    tcase_add_test(c, diagonal_beside_a_singularity);
    tcase_add_test(c, jacobian_of_integers);
    tcase_add_test(c, three_kinds_of_none);
    tcase_add_test(c, memory_is_linear);
    suite_add_tcase(suite, c);
    return suite;
}
