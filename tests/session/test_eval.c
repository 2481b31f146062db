/* test_eval.c -- values computed while a graph is built: what is computed, how often, from which
 * values, and the error messages. */
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"

#include <math.h>
#include <stdlib.h>

Suite *eval_suite(void);

static void sees(eddy_tensor t, double want)
{
    const double got = eddy_eval_number(t);
    ck_assert_msg(got == want, "%s is %g, not %g: %s", eddy_name_of(t), got, want,
                  eddy_session_message(eddy_eval_session(t.graph)));
}

static void cannot_see(eddy_tensor t, eddy_status status, const char *says)
{
    ck_assert_ptr_null(eddy_eval(t));
    run_fails(eddy_eval_session(g), status, says);
}

static eddy_tensor variable(double x, const char *name)
{
    return eddy_variable(g, real(g, x), .name = name);
}

/* An operation that counts how often its kernel runs, and may refuse. */
static int  runs_so_far;
static bool refuses;

static bool counted_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}
static eddy_status counted_kernel(eddy_kernel *k)
{
    if (refuses) return eddy_kernel_fail(k, EDDY_OUT_OF_RANGE, "not now");
    runs_so_far++;
    memcpy(k->out[0]->data, k->in[0]->data, (size_t)k->in[0]->count * sizeof(double));
    return EDDY_OK;
}
static void counted_gradient(eddy_rule *r) { r->dx[0] = r->dy[0]; }
static const eddy_op_def counted_op = {
    .name = "Counted", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = counted_infer,
    .kernel = counted_kernel, .gradient = counted_gradient,
};
static eddy_tensor counted(eddy_tensor x) { return eddy_apply1(&counted_op, NULL, x); }

/* --------------------------------------------------------- step by step -- */

/* Two weights, their sum weighted, and gradients, each printed when it is made. */
START_TEST(weighted_sum)
{
    const eddy_tensor w1 = variable(2, "w1"), w2 = variable(3, "w2");
    const eddy_tensor s = Add(Mul(w1, real(g, 5)), Mul(w2, real(g, 7)));
    sees(s, 31);
    const eddy_tensor w1_grad = eddy_gradient(s, w1);
    sees(w1_grad, 5);
    sees(eddy_gradient(s, w2), 7);
    sees(w1, 2);
    sees(eddy_assign_add(w1, w1_grad), 7);
    sees(w1, 7);
    sees(s, 31);
    sees(Add(Mul(w1, real(g, 5)), Mul(w2, real(g, 7))), 56);
}
END_TEST

START_TEST(once_each)
{
    runs_so_far = 0;
    const eddy_tensor x = counted(real(g, 3)), y = Mul(x, x);
    sees(y, 9);
    ck_assert_int_eq(runs_so_far, 1);
    sees(y, 9);
    sees(Add(y, x), 12);
    ck_assert_int_eq(runs_so_far, 1);
    const eddy_tensor z = counted(y);
    counted(z);
    sees(z, 9);
    ck_assert_int_eq(runs_so_far, 2);
    sees(eddy_gradient(Mul(z, z), x), 4 * 27);
    ck_assert_int_eq(runs_so_far, 2);
    ck_assert_ptr_eq(eddy_eval(y), eddy_eval(y));
}
END_TEST

START_TEST(effects_once)
{
    const eddy_tensor v = variable(1, "v"), more = eddy_assign_add(v, real(g, 10));
    sees(v, 1);
    sees(more, 11);
    sees(more, 11);
    sees(v, 11);
    eddy_control_begin(g, EDDY_LIST(more));
    const eddy_tensor after = eddy_read(v), noop = eddy_no_op(g, "noop");
    eddy_control_end(g);
    sees(after, 11);
    ck_assert_int_eq(eddy_array_count(eddy_eval(noop)), 0);
    sees(v, 11);
    ck_assert_ptr_nonnull(eddy_eval(eddy_initializer(g)));
    sees(v, 11);
    eddy_control_begin(g, EDDY_LIST(eddy_assign_add(v, real(g, 100))));
    const eddy_tensor copy = eddy_identity(v);
    eddy_control_end(g);
    sees(copy, 111);
    sees(eddy_assign(v, real(g, 0)), 0);
    sees(copy, 111);
}
END_TEST

START_TEST(train_steps)
{
    const eddy_tensor w = variable(-1, "w");
    for (int i = 0; i < 3; i++) {
        const eddy_tensor loss = Square(Sub(w, real(g, 3)));
        const eddy_tensor step =
            eddy_minimize(eddy_gradient_descent(g, real(g, 0.25)), loss);
        ck_assert_ptr_nonnull(eddy_eval(step));
        sees(loss, 16 * pow(0.25, i));
    }
    sees(w, 2.5);
}
END_TEST

/* In order of creation, whatever the order of the inputs. */
START_TEST(in_order)
{
    const eddy_tensor v = variable(1, "v");
    const eddy_tensor before = Mul(v, real(g, 2)), update = eddy_assign_add(v, real(g, 1));
    const eddy_tensor after = Mul(v, real(g, 2));
    const eddy_tensor all = eddy_group(g, EDDY_LIST(after, update, before), NULL);
    ck_assert_ptr_nonnull(eddy_eval(all));
    sees(before, 2);
    sees(after, 4);
}
END_TEST

START_TEST(random_once)
{
    const eddy_tensor r = eddy_random_uniform(g, EDDY_SHAPE(4), .dtype = EDDY_FLOAT64);
    const eddy_array *a = eddy_eval(r);
    ck_assert_ptr_eq(a, eddy_eval(r));
    const eddy_tensor twice = Sub(Add(r, r), Mul(2, r));
    for (int i = 0; i < 4; i++) ck_assert_double_eq(eddy_array_get(eddy_eval(twice), i), 0);
    eddy_array *copy = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(4), eddy_array_data(a));
    eddy_eval_forget(eddy_eval_session(g));
    ck_assert(!eddy_array_equal(eddy_eval(r), copy));
    eddy_array_free(copy);
}
END_TEST

START_TEST(linear_time)
{
    enum { STEPS = 10000 };
    eddy_tensor sum = real(g, 0);
    const eddy_tensor one = real(g, 1);
    for (int i = 1; i <= STEPS; i++) sees(sum = Add(sum, one), i);
    ck_assert_int_ge(eddy_graph_size(g), STEPS);
    for (int i = 1; i <= STEPS; i++) sum = Add(sum, one);
    sees(sum, 2 * STEPS);
}
END_TEST

/* ----------------------------------------------------------------- values -- */

START_TEST(placeholders)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor y = Sum(Square(x));
    const eddy_tensor like = eddy_zeros_like(x);
    eddy_array *a = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(2), (double[]){ 3, 4 });
    cannot_see(y, EDDY_NOT_FED, "placeholder tensor 'x'");
    ck_assert_int_eq(eddy_eval_set(x, a), EDDY_OK);
    sees(y, 25);
    ck_assert_int_eq(eddy_array_count(eddy_eval(like)), 2);
    eddy_control_begin(g, EDDY_LIST(x));
    sees(real(g, 1), 1);
    eddy_control_end(g);
    eddy_array_set(a, 0, 0);
    ck_assert_double_eq(eddy_array_item(eddy_eval(x)), 3);
    ck_assert_int_eq(eddy_eval_set(x, a), EDDY_OK);
    sees(y, 25);
    sees(Sum(x), 4);
    eddy_eval_forget(eddy_eval_session(g));
    cannot_see(y, EDDY_NOT_FED, "placeholder tensor 'x'");
    eddy_array_free(a);
}
END_TEST

START_TEST(variables_are_present)
{
    const eddy_tensor v = eddy_variable(g, vector(g, 2, (double[]){ 1, 2 }), .name = "v");
    const eddy_tensor open = eddy_variable(g, vector(g, 2, (double[]){ 5, 6 }), .name = "open",
                                           .no_validate_shape = true);
    const eddy_tensor flat = eddy_reshape(v, EDDY_SHAPE(2, 1));
    const eddy_array *now = eddy_eval(v);
    ck_assert_double_eq(eddy_array_get(eddy_eval(flat), 1), 2);
    eddy_array *a = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(2), (double[]){ 7, 8 });
    ck_assert_int_eq(eddy_eval_set(v, a), EDDY_OK);
    ck_assert_ptr_eq(eddy_eval(v), now);
    ck_assert_double_eq(eddy_array_get(now, 1), 8);
    ck_assert_double_eq(eddy_array_get(eddy_eval(flat), 1), 2);
    ck_assert_int_eq(eddy_array_count(eddy_eval(open)), 2);
    const eddy_tensor three = vector(g, 3, (double[]){ 1, 2, 3 });
    ck_assert_ptr_nonnull(eddy_eval(eddy_assign(open, three)));
    ck_assert_int_eq(eddy_array_count(eddy_eval(open)), 3);
    eddy_array *value = eddy_variable_value(eddy_eval_session(g), v);
    ck_assert(eddy_array_equal(value, a));
    eddy_array_free(value);
    eddy_array_free(a);
}
END_TEST

/* Looks and runs of one session share variables; other sessions have their own. */
START_TEST(other_sessions)
{
    eddy_session *s = eddy_session_new(g);
    const eddy_tensor v = variable(2, "v"), y = Mul(v, v);
    ck_assert_double_eq(eddy_array_item(eddy_eval_in(s, y)), 4);
    has(s, y, 1, (double[]){ 4 });
    sees(eddy_assign(v, real(g, 5)), 5);
    ck_assert_double_eq(eddy_array_item(eddy_eval_in(s, v)), 2);
    has(eddy_eval_session(g), y, 1, (double[]){ 25 });
    eddy_session_free(s);
    eddy_session_free(eddy_eval_session(g));
    sees(v, 5);
}
END_TEST

START_TEST(several_outputs)
{
    const eddy_tensor x = vector(g, 4, (double[]){ 1, 2, 3, 4 });
    const eddy_tensor first = eddy_split(x, 2), half[2] = { first, eddy_output(first, 1) };
    ck_assert_double_eq(eddy_array_item(eddy_eval(half[1])), 3);
    eddy_array *a = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(2), (double[]){ 10, 20 });
    ck_assert_int_eq(eddy_eval_set(half[0], a), EDDY_OK);
    eddy_array_free(a);
    sees(Sum(half[0]), 30);
    sees(Sum(half[1]), 7);
}
END_TEST

/* The graph's session goes with the graph, also while another holds it. */
START_TEST(lifetime)
{
    eddy_graph   *h = eddy_graph_new();
    eddy_session *s = eddy_session_new(h), *looks = eddy_eval_session(h);
    const eddy_tensor x = real(h, 1);
    sees(x, 1);
    ck_assert_ptr_eq(eddy_eval_session(h), looks);
    eddy_graph_free(h);
    ck_assert_ptr_null(eddy_eval(x));
    ck_assert_ptr_null(eddy_eval_in(looks, x));
    run_fails(looks, EDDY_CLOSED, "graph has been freed");
    eddy_session_free(s);
    ck_assert_ptr_null(eddy_eval_in(looks, x));
    ck_assert_str_eq(eddy_session_message(looks), "the session is NULL or has been freed");
}
END_TEST

START_TEST(printed)
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *to = open_memstream(&text, &size);
    const eddy_tensor y = eddy_named("y", Mul(2, vector(g, 2, (double[]){ 1, 2.5 })));
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SCALAR);
    ck_assert_int_eq(eddy_eval_print(y, to), EDDY_OK);
    ck_assert_int_eq(eddy_eval_print(x, to), EDDY_NOT_FED);
    ck_assert_int_eq(eddy_eval_print((eddy_tensor)EDDY_ZERO_TENSOR, to), EDDY_INVALID_ARGUMENT);
    fclose(to);
    ck_assert_str_eq(text, "y:0 float64[2] [2, 5]\n"
                     "You must feed a value for placeholder tensor 'x' with dtype float32\n"
                     "the session is NULL or has been freed\n");
    free(text);
}
END_TEST

/* ----------------------------------------------------------------- errors -- */

static bool hollow_infer(eddy_infer *c)
{
    c->out[0] = (eddy_type){ EDDY_FLOAT64, EDDY_UNKNOWN_SHAPE };
    return true;
}
static const eddy_op_def hollow_op = { .name = "Hollow", .outputs = 1, .infer = hollow_infer };
static const eddy_op_def vague_op = { .name = "Vague", .outputs = 1, .infer = hollow_infer,
                                      .kernel = counted_kernel };

static void says(eddy_session *s, eddy_tensor t)
{
    ck_assert_ptr_null(eddy_eval_in(s, t));
    golden_line(eddy_session_message(s));
}

START_TEST(messages)
{
    eddy_session     *s = eddy_eval_session(g);
    eddy_graph       *other = eddy_graph_new();
    eddy_array       *a = eddy_array_of(EDDY_FLOAT32, 1);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2));
    const eddy_tensor none = { .graph = g };
    golden_begin("session/eval");
    says(s, none);
    says(s, real(other, 1));
    says(s, x);
    says(s, eddy_apply(&hollow_op, NULL, 0, NULL, (eddy_apply_args){ g, NULL }));
    says(s, eddy_apply(&vague_op, NULL, 0, NULL, (eddy_apply_args){ g, NULL }));
    refuses = true;
    says(s, counted(real(g, 1)));
    refuses = false;
    ck_assert(isnan(eddy_eval_number(vector(g, 2, (double[]){ 1, 2 }))));
    golden_line(eddy_session_message(s));
    ck_assert_int_eq(eddy_eval_set(x, a), EDDY_BAD_DTYPE);
    golden_line(eddy_session_message(s));
    ck_assert_int_eq(eddy_eval_set(x, NULL), EDDY_INVALID_ARGUMENT);
    golden_line(eddy_session_message(s));
    ck_assert_int_eq(eddy_eval_set(none, a), EDDY_INVALID_ARGUMENT);
    golden_line(eddy_session_message(s));
    MatMul(x, x);
    says(s, x);
    golden_end();
    eddy_array_free(a);
    eddy_graph_free(other);
}
END_TEST

/* A node that failed is tried again by the next evaluation; nodes that ran before it are not. */
START_TEST(after_a_failure)
{
    const eddy_tensor v = variable(1, "v"), update = eddy_assign_add(v, real(g, 1));
    const eddy_tensor y = counted(update);
    refuses = true;
    cannot_see(y, EDDY_OUT_OF_RANGE, "not now");
    refuses = false;
    sees(v, 2);
    sees(y, 2);
    sees(v, 2);
}
END_TEST

static void gives(eddy_session *s, eddy_tensor t, double x)
{
    eddy_array *a = eddy_array_of(EDDY_FLOAT64, x);
    ck_assert_int_eq(eddy_eval_set_in(s, t, a), EDDY_OK);
    eddy_array_free(a);
}

/* TensorFlow's partial_run: two runs that are given and asked piece by piece. */
START_TEST(r29_two_partial_runs)
{
    eddy_tensor a = eddy_placeholder(g, "a", EDDY_FLOAT64, EDDY_SCALAR);
    eddy_tensor b = eddy_placeholder(g, "b", EDDY_FLOAT64, EDDY_SCALAR);
    eddy_tensor c = eddy_placeholder(g, "c", EDDY_FLOAT64, EDDY_SCALAR);
    eddy_tensor r1 = Add(a, b), r2 = Mul(r1, c);
    eddy_session *h1 = eddy_session_new(g), *h2 = eddy_session_new(g);
    gives(h1, a, 1), gives(h1, b, 2);
    ck_assert_double_eq(eddy_array_get(eddy_eval_in(h1, r1), 0), 3);
    gives(h2, a, 57), gives(h2, b, 9);
    ck_assert_double_eq(eddy_array_get(eddy_eval_in(h2, r1), 0), 66);
    gives(h2, c, 7);
    ck_assert_double_eq(eddy_array_get(eddy_eval_in(h2, r2), 0), 462);
    ck_assert_ptr_null(eddy_eval_in(h1, r2));
    run_fails(h1, EDDY_NOT_FED, "'c'");
    eddy_session_free(h1);
    eddy_session_free(h2);
}
END_TEST

START_TEST(bad_handles)
{
    const eddy_tensor nothing = EDDY_ZERO_TENSOR;
    ck_assert_ptr_null(eddy_eval(nothing));
    ck_assert_ptr_null(eddy_eval_in(NULL, nothing));
    ck_assert_ptr_null(eddy_eval_session(NULL));
    ck_assert(isnan(eddy_eval_number(nothing)));
    ck_assert_int_eq(eddy_eval_set(nothing, NULL), EDDY_INVALID_ARGUMENT);
    eddy_eval_forget(NULL);
    const eddy_tensor beyond = { .graph = g, .node = 12 };
    real(g, 1);
    cannot_see(beyond, EDDY_INVALID_ARGUMENT, "not an element of this graph");
    eddy_session_close(eddy_eval_session(g));
    cannot_see(real(g, 1), EDDY_CLOSED, "closed Session");
}
END_TEST

/* The values of an evaluation count together, and forgetting them makes room. */
START_TEST(evaluations_obey_the_limit)
{
    eddy_session *t = eddy_session_new(g, .max_bytes = 20000);
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(1000));
    eddy_tensor   y = Exp(x), z = Sin(x);
    eddy_tensor   large = eddy_broadcast_to(real(g, 1), EDDY_SHAPE(25000000));
    eddy_array   *v = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(1000));
    ck_assert_int_eq(eddy_eval_set_in(t, x, v), EDDY_OK);
    ck_assert_ptr_nonnull(eddy_eval_in(t, y));
    ck_assert_ptr_nonnull(eddy_eval_in(t, z));
    ck_assert_ptr_nonnull(eddy_eval_in(t, eddy_reshape(z, EDDY_SHAPE(10, 100))));
    ck_assert_ptr_null(eddy_eval_in(t, Add(y, z)));
    run_fails(t, EDDY_LIMIT, "max_bytes of the session is 20000 [node 'add']; largest values: "
                             "'Exp' 8000, 'Sin' 8000");
    ck_assert_ptr_null(eddy_eval_in(t, large));
    run_fails(t, EDDY_LIMIT, "needs 200000000 bytes");
    eddy_eval_forget(t);
    ck_assert_int_eq(eddy_eval_set_in(t, x, v), EDDY_OK);
    ck_assert_ptr_nonnull(eddy_eval_in(t, Mul(x, x)));
    eddy_array_free(v);
    eddy_session_free(t);
}
END_TEST

Suite *eval_suite(void)
{
    Suite *suite = suite_create("eval");
    TCase *t = tcase_create("looks");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, weighted_sum);
    tcase_add_test(t, once_each);
    tcase_add_test(t, effects_once);
    tcase_add_test(t, train_steps);
    tcase_add_test(t, in_order);
    tcase_add_test(t, random_once);
    tcase_add_test(t, linear_time);
    tcase_add_test(t, placeholders);
    tcase_add_test(t, variables_are_present);
    tcase_add_test(t, other_sessions);
    tcase_add_test(t, several_outputs);
    tcase_add_test(t, lifetime);
    tcase_add_test(t, printed);
    tcase_add_test(t, messages);
    tcase_add_test(t, after_a_failure);
    tcase_add_test(t, r29_two_partial_runs);
    tcase_add_test(t, bad_handles);
    tcase_add_test(t, evaluations_obey_the_limit);
    suite_add_tcase(suite, t);
    return suite;
}
