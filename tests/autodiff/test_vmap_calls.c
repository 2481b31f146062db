/* test_vmap_calls.c -- calls of eddy_vmap: which arguments have examples and along which axes,
 * nested maps, gradients inside maps, operations without a rule. */
#include "autodiff/functions.h"
#include "tests/lib/checks.h"

#include <math.h>

Suite *vmap_calls_suite(void);

static eddy_graph   *g;
static eddy_session *s;

static void begin(void)
{
    g = eddy_graph_new();
    s = eddy_session_new(g);
}

static void end(void)
{
    fits(g);
    eddy_session_free(s);
    eddy_graph_free(g);
}

static eddy_tensor numbers(int64_t rows, int64_t columns)
{
    double x[64];
    for (int i = 0; i < rows * columns; i++) x[i] = sin(1.7 * i) + 0.1 * (double)rows;
    return matrix(g, rows, columns, x);
}

/* The values are the same, and so are the shapes. */
static void same(eddy_tensor got, eddy_tensor want)
{
    eddy_array *a[2] = { NULL };
    fits(g);
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(got, want), a) == EDDY_OK, "%s",
                  eddy_session_message(s));
    ck_assert(eddy_shape_equal(eddy_array_shape(a[0]), eddy_array_shape(a[1])));
    for (int64_t i = 0; i < eddy_array_count(a[0]); i++)
        ck_assert_double_eq_tol(eddy_array_get(a[0], i), eddy_array_get(a[1], i), 1e-13);
    eddy_array_free(a[0]);
    eddy_array_free(a[1]);
}

static eddy_tensor example(eddy_tensor x, int64_t e)
{
    return Squeeze(eddy_slice_like(x, eddy_expand_dims(eddy_example(x), 0),
                                   (eddy_dims){ .count = eddy_shape_of(x).rank, .at = { e } }),
                   EDDY_AXES(0));
}

/* ------------------------------------------------------------------ arguments -- */

static int dense(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Tanh(Squeeze(MatMul(ExpandDims(x.at[0], 0), x.at[1]), EDDY_AXES(0)));
    return 1;
}
static const eddy_function f_dense = { .build = dense, .name = "dense" };

START_TEST(one_argument_for_all)
{
    begin();
    const eddy_tensor x = numbers(5, 3), w = numbers(3, 2);
    eddy_tensor y[1];
    ck_assert_int_eq(eddy_vmap(f_dense, EDDY_LIST(x, w), y, .axes = (int[]){ 0, EDDY_SHARED }), 1);
    same(y[0], Tanh(MatMul(x, w)));
    ck_assert_ptr_nonnull(strstr(eddy_name_of(y[0]), "vmap/"));
    end();
}
END_TEST

START_TEST(any_axis)
{
    begin();
    const eddy_tensor x = numbers(3, 5), w = Reshape(numbers(3, 10), EDDY_SHAPE(3, 5, 2));
    eddy_tensor y[1], z[1];
    eddy_vmap(f_dense, EDDY_LIST(x, w), y, .axes = (int[]){ 1, -2 });
    eddy_vmap(f_dense, EDDY_LIST(x, w), z, .axes = (int[]){ -1, 1 }, .name = "again");
    same(y[0], z[0]);
    for (int e = 0; e < 5; e++) {
        eddy_tensor one[1];
        dense(EDDY_LIST(example(Transpose(x), e), example(Transpose(w, EDDY_DIMS(1, 0, 2)), e)),
              one, NULL);
        same(example(y[0], e), one[0]);
    }
    end();
}
END_TEST

static int two_results(eddy_list x, eddy_tensor *y, void *context)
{
    y[0] = *(const eddy_tensor *)context;
    y[1] = Sum(x.at[0]);
    y[2] = eddy_shape_tensor(x.at[0], EDDY_INT32);
    return 3;
}

/* A result that does not depend on the example is the same for all of them. */
START_TEST(constant_results)
{
    begin();
    eddy_tensor c = numbers(2, 2), y[3];
    const eddy_function f = { .build = two_results, .context = &c };
    ck_assert_int_eq(eddy_vmap(f, EDDY_LIST(numbers(4, 3)), y), 3);
    for (int e = 0; e < 4; e++) same(example(y[0], e), c);
    same(y[1], Sum(numbers(4, 3), EDDY_AXES(1)));
    has(s, y[2], 4, (double[]){ 3, 3, 3, 3 });
    end();
}
END_TEST

static int from_one(eddy_list x, eddy_tensor *y, void *context)
{
    const eddy_tensor a = *(const eddy_tensor *)context, d = Sub(a, x.at[0]);
    y[0] = Sum(Mul(d, d));
    return 1;
}

static int distances(eddy_list x, eddy_tensor *y, void *context)
{
    eddy_tensor a = x.at[0];
    return eddy_vmap((eddy_function){ .build = from_one, .context = &a },
                     EDDY_LIST(*(const eddy_tensor *)context), y);
}

START_TEST(maps_within_maps)
{
    begin();
    eddy_tensor a = numbers(4, 3), b = numbers(5, 3), y[1];
    eddy_vmap((eddy_function){ .build = distances, .context = &b }, EDDY_LIST(a), y);
    const eddy_tensor d = Sub(ExpandDims(a, 1), b);
    same(y[0], Sum(Square(d), EDDY_AXES(2)));
    same(eddy_gradient(y[0], a), Sum(Mul(2, d), EDDY_AXES(1)));
    end();
}
END_TEST

/* ------------------------------------------------------ gradients of examples -- */

typedef struct mlp {
    eddy_tensor w1, b1, w2;
} mlp;

static eddy_tensor loss_of(const mlp *m, eddy_tensor rows, eddy_tensor labels)
{
    const eddy_tensor h = Tanh(BiasAdd(MatMul(rows, m->w1), m->b1));
    return Sum(eddy_sparse_softmax_cross_entropy(labels, MatMul(h, m->w2)));
}

static int example_gradients(eddy_list x, eddy_tensor *y, void *context)
{
    const mlp *m = context;
    const eddy_tensor loss = loss_of(m, ExpandDims(x.at[0], 0), ExpandDims(x.at[1], 0));
    eddy_gradients(EDDY_LIST(loss), EDDY_LIST(m->w1, m->b1, m->w2), y);
    return 3;
}

static void check_example_gradients(eddy_tensor x, eddy_tensor labels)
{
    mlp m = { numbers(3, 4), vector(g, 4, (double[]){ 0.1, -0.2, 0.3, 0 }), numbers(4, 2) };
    eddy_tensor y[3];
    eddy_vmap((eddy_function){ .build = example_gradients, .context = &m }, EDDY_LIST(x, labels),
              y);
    for (int e = 0; e < 5; e++) {
        eddy_tensor one[3];
        example_gradients(EDDY_LIST(example(x, e), example(labels, e)), one, &m);
        for (int k = 0; k < 3; k++) same(example(y[k], e), one[k]);
    }
    eddy_tensor all[3];
    eddy_gradients(EDDY_LIST(loss_of(&m, x, labels)), EDDY_LIST(m.w1, m.b1, m.w2), all);
    for (int k = 0; k < 3; k++) same(Sum(y[k], EDDY_AXES(0)), all[k]);
}

START_TEST(gradients_within_maps)
{
    begin();
    const eddy_tensor x = numbers(5, 3);
    const int32_t classes[] = { 0, 1, 1, 0, 1 };
    const eddy_tensor labels = eddy_const(g, EDDY_INT32, EDDY_SHAPE(5), classes);
    check_example_gradients(x, labels);
    check_example_gradients(eddy_placeholder_with_default(x, NULL, EDDY_SHAPE(EDDY_ANY, 3)),
                            eddy_placeholder_with_default(labels, NULL, EDDY_SHAPE(EDDY_ANY)));
    end();
}
END_TEST

/* ------------------------------------------------- gradients of the user's own -- */

static int rules_called;

/* Three times the usual gradient of x w, with a captured tensor. */
static void tripled(eddy_rule *r)
{
    const eddy_tensor *caught = r->context;
    rules_called++;
    r->dx[0] = Mul(3, Mul(r->dy[0], r->x[1]));
    r->dx[1] = Mul(3, Mul(r->dy[0], *caught));
}

static eddy_tensor caught;

static int custom(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    caught = Mul(x.at[0], 1);
    const eddy_tensor product = Mul(x.at[0], x.at[1]);
    eddy_custom_gradient(EDDY_LIST(product), x, y, .gradient = tripled, .context = &caught);
    y[0] = Square(y[0]);
    return 1;
}
static const eddy_function f_custom = { .build = custom };

static int custom_gradients(eddy_list x, eddy_tensor *y, void *context)
{
    eddy_tensor one[1];
    custom(x, one, context);
    eddy_gradients(EDDY_LIST(Sum(one[0])), x, y);
    return 2;
}

/* Within the map and through it, the gradient is the one that was given. */
START_TEST(custom_gradients_are_kept)
{
    begin();
    const eddy_tensor x = numbers(4, 3), w = numbers(1, 3), v = eddy_example(w);
    const eddy_tensor dx = Mul(6, Mul(Mul(x, v), v)), dw = Mul(6, Mul(Mul(x, v), x));
    const int axes[] = { 0, EDDY_SHARED };
    eddy_tensor y[2], d[2];
    eddy_vmap(f_custom, EDDY_LIST(x, v), y, .axes = axes);
    same(y[0], Square(Mul(x, v)));
    eddy_gradients(EDDY_LIST(Sum(y[0])), EDDY_LIST(x, v), d);
    ck_assert_int_eq(rules_called, 1);
    same(d[0], dx);
    same(d[1], Sum(dw, EDDY_AXES(0)));
    eddy_vmap((eddy_function){ .build = custom_gradients }, EDDY_LIST(x, v), y, .axes = axes);
    same(y[0], dx);
    same(y[1], dw);
    end();
}
END_TEST

static int custom_rows(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    return eddy_vmap(f_custom, x, y, .axes = (int[]){ 0, EDDY_SHARED });
}

START_TEST(custom_gradients_within_two_maps)
{
    begin();
    const eddy_tensor x = Reshape(numbers(4, 3), EDDY_SHAPE(2, 2, 3)), w = numbers(2, 3);
    const eddy_tensor wide = ExpandDims(w, 1);
    eddy_tensor y[1], d[2];
    eddy_vmap((eddy_function){ .build = custom_rows }, EDDY_LIST(x, w), y);
    same(y[0], Square(Mul(x, wide)));
    eddy_gradients(EDDY_LIST(Sum(y[0])), EDDY_LIST(x, w), d);
    same(d[0], Mul(6, Mul(Mul(x, wide), wide)));
    same(d[1], Sum(Mul(6, Mul(Mul(x, wide), x)), EDDY_AXES(1)));
    end();
}
END_TEST

static void doubled(eddy_rule *r) { r->dx[0] = r->dx[1] = Mul(2, r->dy[0]); }

static int overridden(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    eddy_gradient_override_begin(g, "Add", "Doubled");
    y[0] = Add(x.at[0], x.at[1]);
    eddy_gradient_override_end(g);
    return 1;
}

START_TEST(overridden_gradients_are_kept)
{
    begin();
    const eddy_tensor x = numbers(4, 3), c = real(g, 5);
    eddy_tensor y[1], d[2];
    eddy_register_gradient(g, "Doubled", doubled, NULL);
    eddy_vmap((eddy_function){ .build = overridden }, EDDY_LIST(x, c), y,
              .axes = (int[]){ 0, EDDY_SHARED });
    eddy_gradients(EDDY_LIST(Sum(Mul(y[0], x))), EDDY_LIST(x, c), d);
    same(d[0], Add(Mul(2, x), y[0]));
    same(d[1], Sum(Mul(2, x)));
    end();
}
END_TEST

static int recomputed(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    const eddy_tensor inner = Sin(Mul(x.at[0], x.at[1]));
    eddy_recompute_grad(EDDY_LIST(inner), x, y);
    return 1;
}

START_TEST(recomputed_gradients)
{
    begin();
    const eddy_tensor x = numbers(4, 3), w = numbers(1, 3), v = eddy_example(w);
    eddy_tensor y[1], d[2];
    eddy_vmap((eddy_function){ .build = recomputed }, EDDY_LIST(x, v), y,
              .axes = (int[]){ 0, EDDY_SHARED });
    eddy_gradients(EDDY_LIST(Sum(y[0])), EDDY_LIST(x, v), d);
    same(d[0], Mul(Cos(Mul(x, v)), v));
    same(d[1], Sum(Mul(Cos(Mul(x, v)), x), EDDY_AXES(0)));
    end();
}
END_TEST

/* ------------------------------------------------------------ ops of its own -- */

static bool plain_infer(eddy_infer *c)
{
    c->out[0] = c->out[1] = c->in[0];
    return true;
}

static eddy_status plain_kernel(eddy_kernel *k)
{
    const double *x = k->in[0]->data;
    for (int64_t i = 0; i < k->in[0]->count; i++) {
        ((double *)k->out[0]->data)[i] = x[i] + (double)i;
        ((double *)k->out[1]->data)[i] = -x[i];
    }
    return EDDY_OK;
}

static const eddy_op_def plain_op = {
    .name = "Plain", .min_inputs = 1, .max_inputs = 1, .outputs = 2,
    .infer = plain_infer, .kernel = plain_kernel,
};

static int plain(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    const eddy_tensor t = eddy_apply1(&plain_op, NULL, x.at[0]);
    y[0] = t;
    y[1] = eddy_output(t, 1);
    return 2;
}
static const eddy_function f_plain = { .build = plain };

/* Looped over, if it is known how often. */
START_TEST(op_without_a_rule)
{
    begin();
    const eddy_tensor x = numbers(3, 2);
    const eddy_tensor open = eddy_placeholder_with_default(x, NULL, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_tensor y[2];
    ck_assert_int_eq(eddy_vmap(f_plain, EDDY_LIST(x), y), 2);
    same(y[0], Add(x, vector(g, 2, (double[]){ 0, 1 })));
    same(y[1], Neg(x));
    ck_assert_int_eq(eddy_vmap(f_plain, EDDY_LIST(open), y), 0);
    fails(g, EDDY_UNIMPLEMENTED, "op Plain has no batching rule");
    end();
}
END_TEST

static int shuffle(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_random_shuffle(x.at[0]);
    return 1;
}

START_TEST(each_example_is_shuffled)
{
    begin();
    const eddy_tensor x = numbers(3, 20);
    eddy_tensor y[1];
    eddy_vmap((eddy_function){ .build = shuffle }, EDDY_LIST(x), y);
    const eddy_tensor all_equal = eddy_all(eddy_equal(x, y[0]));
    is_number(Cast(all_equal, EDDY_FLOAT64), 0);
    is_number(Max(Abs(Sub(Sum(x, EDDY_AXES(1)), Sum(y[0], EDDY_AXES(1))))), 0);
    end();
}
END_TEST

static int joined(eddy_list x, eddy_tensor *y, void *context)
{
    eddy_tensor many[40];
    const int n = *(const int *)context;
    for (int i = 0; i < n; i++) many[i] = Mul(x.at[i % 2], i + 1);
    y[0] = eddy_concat((eddy_list){ n, many }, 0);
    y[1] = eddy_add_n((eddy_list){ n, many }, NULL);
    return 2;
}

START_TEST(many_inputs)
{
    begin();
    int n = 40;
    const eddy_tensor a = numbers(2, 3), b = numbers(1, 3);
    eddy_tensor y[2], one[2];
    eddy_vmap((eddy_function){ .build = joined, .context = &n },
              EDDY_LIST(a, eddy_example(b)), y, .axes = (int[]){ 0, EDDY_SHARED });
    for (int e = 0; e < 2; e++) {
        joined(EDDY_LIST(example(a, e), eddy_example(b)), one, &n);
        for (int k = 0; k < 2; k++) same(example(y[k], e), one[k]);
    }
    end();
}
END_TEST

static int checked(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Log(eddy_check_numerics(x.at[0], "in the map"));
    return 1;
}

/* A check within the map is one of all examples. */
START_TEST(checks_within_maps)
{
    begin();
    eddy_tensor y[1];
    eddy_vmap((eddy_function){ .build = checked },
              EDDY_LIST(matrix(g, 2, 2, (double[]){ 1, 1, 1, INFINITY })), y);
    eddy_array *a = eddy_fetch(s, y[0]);
    ck_assert_ptr_null(a);
    run_fails(s, EDDY_CHECK_FAILED, "in the map");
    end();
}
END_TEST

Suite *vmap_calls_suite(void)
{
    Suite *suite = suite_create("vmap_calls");
    TCase *c = tcase_create("calls");
    tcase_add_test(c, one_argument_for_all);
    tcase_add_test(c, any_axis);
    tcase_add_test(c, constant_results);
    tcase_add_test(c, maps_within_maps);
    tcase_add_test(c, gradients_within_maps);
    tcase_add_test(c, custom_gradients_are_kept);
    tcase_add_test(c, custom_gradients_within_two_maps);
    tcase_add_test(c, overridden_gradients_are_kept);
    tcase_add_test(c, recomputed_gradients);
    tcase_add_test(c, op_without_a_rule);
    tcase_add_test(c, each_example_is_shuffled);
    tcase_add_test(c, many_inputs);
    tcase_add_test(c, checks_within_maps);
    suite_add_tcase(suite, c);
    return suite;
}
