/* test_mixed_precision.c -- mixed precision: the types that operations get, and trainings. */
#include "tests/lib/checks.h"
#include "ops/short_names.h"

#include <math.h>

Suite *mixed_precision_suite(void);

enum { ROWS = 64, IN = 8, HIDDEN = 32 };

static eddy_graph *mixed(eddy_dtype d)
{
    eddy_graph *g = eddy_graph_new();
    eddy_mixed_precision(g, d);
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    return g;
}

static void is_of(eddy_tensor t, eddy_dtype d)
{
    ck_assert_msg(eddy_dtype_of(t) == d, "%s is %s", eddy_name_of(t),
                  eddy_dtype_name(eddy_dtype_of(t)));
}

static eddy_tensor input(eddy_graph *g)
{
    return eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(4, 4));
}

static bool same_type(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

/* An operation of the program computes in float32, also if it is called like one of the library. */
START_TEST(own_operations)
{
    static const char *const names[] = { "MatMul", "Mul", "LayerNorm", "Mine" };
    static eddy_op_def       ops[4];
    eddy_graph              *g = mixed(EDDY_BFLOAT16);
    const eddy_tensor        x = input(g), narrow = MatMul(x, x);
    for (int i = 0; i < 4; i++) {
        ops[i] = (eddy_op_def){ .name = names[i], .min_inputs = 2, .max_inputs = 2, .outputs = 1,
                                .inputs = EDDY_INPUTS({ "a", EDDY_TYPE(EDDY_FLOAT32) },
                                                      { "b", EDDY_TYPE(EDDY_FLOAT32) }),
                                .infer = same_type };
        is_of(eddy_apply2(&ops[i], NULL, narrow, x), EDDY_FLOAT32);
    }
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    eddy_graph_free(g);
}
END_TEST

START_TEST(types)
{
    eddy_graph       *g = mixed(EDDY_BFLOAT16);
    const eddy_tensor x = input(g), y = MatMul(x, x);
    is_of(y, EDDY_BFLOAT16);
    is_of(Add(x, x), EDDY_FLOAT32);                   /* nothing is narrow yet */
    is_of(Add(y, x), EDDY_BFLOAT16);
    is_of(eddy_relu(y), EDDY_BFLOAT16);
    is_of(Where(Greater(y, x), x, y), EDDY_BFLOAT16);
    is_of(Transpose(y), EDDY_BFLOAT16);
    is_of(Exp(y), EDDY_FLOAT32);
    is_of(Pow(y, 2), EDDY_FLOAT32);
    is_of(Sum(y), EDDY_FLOAT32);
    is_of(eddy_cholesky(y), EDDY_FLOAT32);
    is_of(eddy_dropout(y, 0.5), EDDY_BFLOAT16);
    is_of(Cast(y, EDDY_FLOAT64), EDDY_FLOAT64);
    const eddy_tensor wide = eddy_placeholder(g, NULL, EDDY_FLOAT64, EDDY_SHAPE(4, 4));
    is_of(MatMul(wide, wide), EDDY_FLOAT64);
    eddy_mixed_precision(g, EDDY_FLOAT32);
    is_of(MatMul(x, x), EDDY_FLOAT32);
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    eddy_graph_free(g);
}
END_TEST

/* Variables, those of layers among them, their gradients and their slots are float32. */
START_TEST(variables_are_float32)
{
    eddy_graph       *g = mixed(EDDY_BFLOAT16);
    const eddy_tensor y = eddy_dense(eddy_relu(eddy_dense(input(g), 4, "a")), 4, "b");
    is_of(y, EDDY_BFLOAT16);
    const eddy_tensor loss = eddy_mean(Square(y));
    const int         n = eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES);
    ck_assert_int_eq(n, 4);
    for (int i = 0; i < n; i++) {
        const eddy_tensor v = eddy_collection_at(g, EDDY_TRAINABLE_VARIABLES, i);
        is_of(v, EDDY_FLOAT32);
        is_of(eddy_gradient(loss, v), EDDY_FLOAT32);
    }
    eddy_minimize(eddy_adam(g), loss);
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    for (int i = 0; i < eddy_collection_size(g, EDDY_GLOBAL_VARIABLES); i++)
        ck_assert(eddy_dtype_of(eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i)) !=
                  EDDY_BFLOAT16);
    eddy_graph_free(g);
}
END_TEST

/* Normalization keeps its parameters and statistics in float32. */
START_TEST(normalization)
{
    eddy_graph       *g = mixed(EDDY_FLOAT16);
    const eddy_tensor x = input(g), y = MatMul(x, x);
    const eddy_tensor scale = eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(4));
    const eddy_tensor n = eddy_layer_norm(y, scale, scale);
    const eddy_tensor b = eddy_fused_batch_norm(y, scale, scale, .is_training = true);
    is_of(n, EDDY_FLOAT16);
    is_of(b, EDDY_FLOAT16);
    is_of(eddy_output(b, 1), EDDY_FLOAT32);
    is_of(eddy_gradient(Sum(Add(n, b)), scale), EDDY_FLOAT32);
    is_of(eddy_gradient(Sum(Add(n, b)), x), EDDY_FLOAT32);
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    eddy_graph_free(g);
}
END_TEST

static eddy_array *points(eddy_shape s, int shift)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, sin((double)((i + shift) * (i + shift))));
    return a;
}

/* x w + b, where the initial w is the same in each type. */
static eddy_tensor layer(eddy_tensor x, int from, int to)
{
    eddy_array *a = points(EDDY_SHAPE(from, to), from + 3 * to);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, eddy_array_get(a, i) / sqrt(from));
    const eddy_tensor w = eddy_variable(x.graph, eddy_constant(x.graph, a, NULL));
    eddy_array_free(a);
    const eddy_tensor zero = eddy_zeros(x.graph, EDDY_FLOAT32, EDDY_SHAPE(to));
    return eddy_bias_add(MatMul(x, w), eddy_variable(x.graph, zero));
}

/* The loss of a network with a normalization after training. */
static double trained(eddy_dtype precision, int steps)
{
    eddy_graph  *g = mixed(precision);
    eddy_array  *from = points(EDDY_SHAPE(ROWS, IN), 1), *to = points(EDDY_SHAPE(ROWS, 1), 2);
    eddy_tensor  x = eddy_constant(g, from, NULL), y = eddy_constant(g, to, NULL);
    eddy_tensor  h = eddy_tanh(layer(x, IN, HIDDEN));
    eddy_tensor  scale = eddy_variable(g, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(HIDDEN)));
    eddy_tensor  shift = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(HIDDEN)));
    h = eddy_relu(layer(eddy_layer_norm(h, scale, shift), HIDDEN, HIDDEN));
    eddy_tensor     loss = eddy_mean(Square(Sub(layer(h, HIDDEN, 1), y)));
    eddy_optimizer *o = eddy_adam(g, .learning_rate = eddy_scalar(g, 0.003));
    if (precision == EDDY_FLOAT16) o = eddy_loss_scale(o, .loss_scale = eddy_scalar(g, 1024));
    eddy_tensor step = eddy_minimize(o, loss);
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    eddy_session *s = eddy_session_new(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    for (int i = 0; i < steps; i++)
        ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(step), NULL) == EDDY_OK, "%s",
                      eddy_session_message(s));
    eddy_array  *value = eddy_fetch(s, loss);
    const double last = eddy_array_item(value);
    eddy_array_free(value);
    eddy_array_free(from);
    eddy_array_free(to);
    eddy_session_free(s);
    eddy_graph_free(g);
    return last;
}

/* Before the loss is near 0, where the rounding of single elements decides. */
START_TEST(losses_agree)
{
    const double start = trained(EDDY_FLOAT32, 0), wide = trained(EDDY_FLOAT32, 40);
    ck_assert_double_lt(wide, 0.8 * start);
    ck_assert_double_lt(fabs(trained(EDDY_BFLOAT16, 40) - wide), 0.02 * wide);
    ck_assert_double_lt(fabs(trained(EDDY_FLOAT16, 40) - wide), 0.02 * wide);
}
END_TEST

Suite *mixed_precision_suite(void)
{
    Suite *s = suite_create("mixed_precision");
    TCase *c = tcase_create("all");
    tcase_add_test(c, types);
    tcase_add_test(c, own_operations);
    tcase_add_test(c, variables_are_float32);
    tcase_add_test(c, normalization);
    tcase_add_test(c, losses_agree);
    suite_add_tcase(s, c);
    return s;
}
