/* test_dynamic_shapes.c -- runs in which shapes depend on data. */
#include "../../eddy.h"
#include "ops/short_names.h"
#include "tests/lib/checks.h"

#include "build/gen/suites.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* Rows of x for which the mask is fed, then sums and products of them. */
typedef struct masked {
    eddy_graph   *g;
    eddy_session *s;
    eddy_tensor   x, mask, y;
} masked;

static masked begin(void)
{
    masked m = { .g = eddy_graph_new() };
    m.x = eddy_placeholder(m.g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, 2));
    m.mask = eddy_placeholder(m.g, "mask", EDDY_BOOL, EDDY_SHAPE(EDDY_ANY));
    m.y = eddy_boolean_mask(m.x, m.mask);
    m.s = eddy_session_new(m.g);
    return m;
}

static void end(masked *m)
{
    eddy_session_free(m->s);
    eddy_graph_free(m->g);
}

static eddy_array *counting(int64_t rows)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(rows, 2));
    for (int64_t i = 0; i < 2 * rows; i++) ((double *)eddy_array_data(a))[i] = (double)i;
    return a;
}

/* Every n-th is chosen. */
static eddy_array *every(int64_t rows, int64_t n)
{
    eddy_array *a = eddy_array_new(EDDY_BOOL, EDDY_SHAPE(rows));
    for (int64_t i = 0; i < rows; i++) ((bool *)eddy_array_data(a))[i] = n > 0 && i % n == 0;
    return a;
}

START_TEST(a_mask_may_be_any_data)
{
    masked      m = begin();
    eddy_array *out[1] = { NULL }, *x = counting(1000);
    for (int64_t n = 0; n < 5; n++) {
        eddy_array *mask = every(1000, n);
        ck_assert_int_eq(eddy_run(m.s, EDDY_FEED({ m.x, x }, { m.mask, mask }), EDDY_FETCH(m.y),
                                  out), EDDY_OK);
        const int64_t rows = n > 0 ? (999 / n) + 1 : 0;
        ck_assert(eddy_shape_equal(eddy_array_shape(out[0]), EDDY_SHAPE(rows, 2)));
        for (int64_t i = 0; i < rows; i++)
            ck_assert_double_eq(((double *)eddy_array_data(out[0]))[2 * i + 1],
                                (double)(2 * i * n + 1));
        eddy_array_free(mask);
    }
    eddy_array_free(x);
    eddy_array_free(out[0]);
    end(&m);
}
END_TEST

START_TEST(plans_are_kept_by_count)
{
    masked      m = begin();
    eddy_array *out[1] = { NULL }, *x = counting(100);
    int         plans[3];
    for (int round = 0; round < 3; round++) {
        for (int64_t n = 1; n < 6; n++) {
            eddy_array *mask = every(100, n);
            ((bool *)eddy_array_data(mask))[0] = true;
            ck_assert_int_eq(eddy_run(m.s, EDDY_FEED({ m.x, x }, { m.mask, mask }),
                                      EDDY_FETCH(m.y), out), EDDY_OK);
            eddy_array_free(mask);
        }
        plans[round] = eddy_session_plan_info(m.s).plans;
    }
    ck_assert_int_eq(plans[0], 6);              /* five counts; the mask's places */
    ck_assert_int_eq(plans[2], 6);
    eddy_array_free(x);
    eddy_array_free(out[0]);
    end(&m);
}
END_TEST

START_TEST(gradients_go_to_chosen_rows)
{
    masked      m = begin();
    eddy_tensor loss = Sum(Mul(m.y, Square(m.y))), dx;
    eddy_array *out[2] = { NULL, NULL }, *x = counting(10), *mask = every(10, 3);
    eddy_gradients(EDDY_LIST(loss), EDDY_LIST(m.x), &dx);
    eddy_callable *c = eddy_callable_new(m.s, EDDY_LIST(m.x, m.mask), EDDY_LIST(loss, dx));
    for (int round = 0; round < 3; round++) {
        ck_assert_int_eq(eddy_callable_run(c, (const eddy_array *[]){ x, mask }, out), EDDY_OK);
        const double *d = eddy_array_data(out[1]);
        for (int i = 0; i < 20; i++)
            ck_assert_double_eq(d[i], (i / 2) % 3 == 0 ? 3.0 * i * i : 0);
    }
    for (int i = 0; i < 2; i++) eddy_array_free(out[i]);
    eddy_array_free(x);
    eddy_array_free(mask);
    end(&m);
}
END_TEST

/* The first selection determines the second, which comes in a later stage. */
START_TEST(several_stages)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor   positive = eddy_boolean_mask(x, Greater(x, 0));
    eddy_tensor   large = eddy_boolean_mask(positive, Greater(positive, Mean(positive)));
    eddy_tensor   values = eddy_unique(large);
    eddy_session *s = eddy_session_new(g);
    const double  data[] = { -3, 1, 9, 2, 9, -7, 8, 1, 8, 0 };
    eddy_array   *in = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(10), data);
    eddy_array   *out[4] = { NULL };
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, in }),
                              EDDY_FETCH(positive, large, values, eddy_output(values, 2)), out),
                     EDDY_OK);
    ck_assert_int_eq(eddy_array_count(out[0]), 7);
    ck_assert_int_eq(eddy_array_count(out[1]), 4);
    ck_assert_int_eq(eddy_array_count(out[2]), 2);
    ck_assert_double_eq(((double *)eddy_array_data(out[2]))[0], 9);
    ck_assert_double_eq(((double *)eddy_array_data(out[2]))[1], 8);
    ck_assert_int_eq(((int32_t *)eddy_array_data(out[3]))[1], 2);
    for (int i = 0; i < 4; i++) eddy_array_free(out[i]);
    eddy_array_free(in);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* A random mask is the same where it is computed and where it is used again. */
START_TEST(one_run_to_random_operations)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   r = eddy_random_uniform(g, EDDY_SHAPE(1000), .dtype = EDDY_FLOAT64);
    eddy_tensor   low = eddy_boolean_mask(r, Less(r, 0.25));
    eddy_tensor   sum = Sum(Where(Less(r, 0.25), r, 0));
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out[2] = { NULL };
    double        last = 0;
    for (int round = 0; round < 3; round++) {
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(Sum(low), sum), out), EDDY_OK);
        const double of_rows = *(double *)eddy_array_data(out[0]);
        ck_assert_double_eq_tol(of_rows, *(double *)eddy_array_data(out[1]), 1e-10);
        ck_assert_double_ne(of_rows, last);
        last = of_rows;
    }
    for (int i = 0; i < 2; i++) eddy_array_free(out[i]);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* Rows of a variable, of which the loss is taken, while it is trained. */
START_TEST(variables_are_those_from_before_the_run)
{
    eddy_graph   *g = eddy_graph_new();
    const double  data[] = { 4, -1, 3, -2, 5 };
    eddy_tensor   w = eddy_variable(g, .initial_value = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(5),
                                                                   data));
    eddy_tensor   chosen = eddy_boolean_mask(w, Greater(w, 0));
    eddy_tensor   loss = Sum(Square(chosen));
    eddy_optimizer *o = eddy_gradient_descent(g, eddy_number(g, EDDY_FLOAT64, 0.25));
    eddy_tensor   train = eddy_minimize(o, loss);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out[3] = { NULL };
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    for (int step = 0; step < 3; step++) {
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(train, loss), out), EDDY_OK);
        ck_assert_double_eq(*(double *)eddy_array_data(out[1]), 50 / (double)(1 << 2 * step));
    }
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(w), out + 2), EDDY_OK);
    ck_assert_double_eq(((double *)eddy_array_data(out[2]))[1], -1);
    ck_assert_double_eq(((double *)eddy_array_data(out[2]))[4], 0.625);
    for (int i = 0; i < 3; i++) eddy_array_free(out[i]);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

static void say_nothing(void *user, const char *line)
{
    (void)user;
    (void)line;
}

START_TEST(a_side_effect_before_it_is_refused)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor   y = eddy_nonzero(eddy_print(x, .write = say_nothing));
    eddy_session *s = eddy_session_new(g);
    eddy_array   *in = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(3)), *out[1] = { NULL };
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, in }), EDDY_FETCH(y), out), EDDY_UNIMPLEMENTED);
    ck_assert_ptr_nonnull(strstr(eddy_session_message(s), "which has a side effect"));
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, in }), EDDY_FETCH(Sum(x)), out), EDDY_OK);
    eddy_array_free(in);
    eddy_array_free(out[0]);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* A shape and a value that wait for an assertion, which holds or does not. */
START_TEST(an_assertion_before_it_runs)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY)), y, ones;
    eddy_session *s = eddy_session_new(g);
    EDDY_CONTROL(g, EDDY_LIST(eddy_assert_positive(x))) {
        y = eddy_nonzero(Floor(x));
        ones = eddy_fill(eddy_expand_dims(eddy_cast(Max(x), EDDY_INT64), 0), Sum(x));
    }
    const double good[] = { 0.5, 1, 2 }, bad[] = { -1, 1, 2 };
    eddy_array  *held = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(3), good);
    eddy_array  *failing = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(3), bad);
    eddy_array  *out[2] = { NULL };
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, failing }), EDDY_FETCH(y, ones), out),
                         EDDY_CHECK_FAILED);
        ck_assert_ptr_nonnull(strstr(eddy_session_message(s), "x > 0 did not"));
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, held }), EDDY_FETCH(y, ones), out), EDDY_OK);
        ck_assert_int_eq(eddy_array_shape(out[0]).dim[0], 2);
    }
    eddy_array_free(held);
    eddy_array_free(failing);
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

START_TEST(nothing_fed_is_said)
{
    masked m = begin();
    ck_assert_int_eq(eddy_run(m.s, EDDY_FEED(), EDDY_FETCH(m.y), &(eddy_array *){ NULL }),
                     EDDY_NOT_FED);
    end(&m);
}
END_TEST

/* ------------------------------------------------- what a review has found -- */

typedef struct writing {
    eddy_session *s;
    eddy_tensor   v;
    eddy_array   *high, *low;
    atomic_bool   stop;
} writing;

static void *write_on(void *arg)
{
    writing *w = arg;
    for (int i = 0; !atomic_load(&w->stop); i++)
        eddy_variable_set(w->s, w->v, i % 2 ? w->high : w->low);
    return NULL;
}

static eddy_array *filled(int64_t n, double v)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(n));
    for (int64_t i = 0; i < n; i++) eddy_array_set(a, i, v);
    return a;
}

/* All stages see a variable as it was at one moment. */
START_TEST(variables_of_one_moment)
{
    enum { N = 20000 };
    eddy_graph *g = eddy_graph_new();
    writing     w = { .high = filled(N, 1), .low = filled(N, -1) };
    w.v = eddy_variable(g, .initial_value = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(N)));
    eddy_tensor y = eddy_boolean_mask(w.v, Greater(w.v, 0));
    w.s = eddy_session_new(g);
    eddy_variable_set(w.s, w.v, w.high);
    pthread_t t;
    ck_assert_int_eq(pthread_create(&t, NULL, write_on, &w), 0);
    for (int i = 0; i < 250; i++) {
        eddy_array *o = eddy_fetch(w.s, y);
        ck_assert_msg(o, "%s", eddy_session_message(w.s));
        if (eddy_array_count(o) > 0) ck_assert_double_gt(eddy_array_get(o, 0), 0);
        eddy_array_free(o);
    }
    atomic_store(&w.stop, true);
    pthread_join(t, NULL);
    eddy_array_free(w.high);
    eddy_array_free(w.low);
    eddy_session_free(w.s);
    eddy_graph_free(g);
}
END_TEST

/* A value by which a shape is found has the same bits where it is used. */
START_TEST(computed_once)
{
    const eddy_shape s64 = EDDY_SHAPE(64, 64);
    eddy_graph   *g = eddy_graph_new();
    eddy_session *s = eddy_session_new(g, .threads = 1);
    eddy_tensor   x[3];
    eddy_array   *in[3], *out[2] = { NULL };
    for (int k = 0; k < 3; k++) {
        x[k] = eddy_placeholder(g, NULL, EDDY_FLOAT32, s64);
        in[k] = eddy_array_new(EDDY_FLOAT32, s64);
        for (int i = 0; i < 4096; i++) eddy_array_set(in[k], i, sin(i * 1.3 * (k + 1) + k));
    }
    eddy_tensor scaled = Mul(x[0], 0.3), q = MatMul(scaled, x[1]);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x[0], in[0] }, { x[1], in[1] }), EDDY_FETCH(q), out),
                     EDDY_OK);
    eddy_array *before = out[0];
    out[0] = NULL;
    eddy_tensor y = eddy_boolean_mask(Sub(q, x[2]), Equal(q, x[2]));
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x[0], in[0] }, { x[1], in[1] }, { x[2], before }),
                              EDDY_FETCH(y, scaled), out), EDDY_OK);
    for (int64_t i = 0; i < eddy_array_count(out[0]); i++)
        ck_assert_double_eq(eddy_array_get(out[0], i), 0);
    for (int k = 0; k < 3; k++) eddy_array_free(in[k]);
    for (int k = 0; k < 2; k++) eddy_array_free(out[k]);
    eddy_array_free(before);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

static void gives(eddy_session *s, eddy_tensor fed, eddy_tensor y, int64_t count)
{
    eddy_array *in = filled(5, 1), *out[1] = { NULL };
    ck_assert_msg(eddy_run(s, EDDY_FEED({ fed, in }), EDDY_FETCH(y), out) == EDDY_OK, "%s",
                  eddy_session_message(s));
    ck_assert_int_eq(eddy_array_count(out[0]), count);
    eddy_array_free(in);
    eddy_array_free(out[0]);
}

START_TEST(narrowed_fed_and_sized)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(5));
    eddy_tensor   open = eddy_placeholder(g, "open", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor   places = eddy_nonzero(x), zeros = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(5));
    eddy_session *s = eddy_session_new(g);
    eddy_set_shape(places, EDDY_SHAPE(5, 1));
    gives(s, x, eddy_cast(places, EDDY_FLOAT32), 5);
    zeros = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(5), (float[5]){ 0 });
    gives(s, zeros, eddy_cast(eddy_nonzero(zeros), EDDY_FLOAT32), 5);
    gives(s, open, eddy_unique(eddy_print(open, .write = say_nothing), .size = 3), 3);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

START_TEST(of_callables_and_looks)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(5));
    eddy_tensor   v = eddy_variable(g, .initial_value = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(5)));
    eddy_session *s = eddy_session_new(g);
    eddy_array   *in = filled(5, 1), *out[1] = { NULL };
    eddy_callable *c = eddy_callable_new(s, EDDY_LIST(x), EDDY_LIST(Neg(eddy_boolean_mask(x, x))));
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(eddy_callable_run(c, (const eddy_array *[]){ in }, out), EDDY_OK);
        ck_assert_int_gt(eddy_callable_plan_info(c).instructions, 0);
    }
    eddy_variable_set(s, v, in);
    const eddy_array *looked = eddy_eval_in(s, eddy_nonzero(v));
    ck_assert_msg(looked, "%s", eddy_session_message(s));
    ck_assert_int_eq(eddy_array_count(looked), 5);
    eddy_array_free(in);
    eddy_array_free(out[0]);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* A user's operation whose shape depends on data, whatever the names of its attributes. */
typedef struct limit_attrs {
    double limit;
} limit_attrs;

static bool below_infer(eddy_infer *c)
{
    c->out[0] = (eddy_type){ c->in[0].dtype, EDDY_SHAPE(EDDY_ANY) };
    return true;
}

/* The elements of x below the limit. */
static eddy_status below_kernel(eddy_kernel *k)
{
    const limit_attrs *a = k->attrs;
    const double      *x = k->in[0]->data;
    double            *y = k->out[0]->data;
    int64_t            n = 0;
    for (int64_t i = 0; i < k->in[0]->count; i++)
        if (x[i] < a->limit) y[n++] = x[i];
    k->out[0]->type.shape.dim[0] = k->out[0]->count = n;
    return EDDY_OK;
}

static const eddy_attr_field named_limit[] = { { "limit", EDDY_ATTR_FLOAT, 0 }, { 0 } };
static const eddy_attr_field named_size[] = { { "size", EDDY_ATTR_FLOAT, 0 }, { 0 } };
static const eddy_op_def     below_ops[] = {
    { .name = "BelowLimit", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
      .flags = EDDY_OP_DYNAMIC, .attrs_size = sizeof(limit_attrs), .attrs = named_limit,
      .infer = below_infer, .kernel = below_kernel },
    { .name = "BelowSize", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
      .flags = EDDY_OP_DYNAMIC, .attrs_size = sizeof(limit_attrs), .attrs = named_size,
      .infer = below_infer, .kernel = below_kernel },
};

START_TEST(of_a_user_s_operation)
{
    const limit_attrs attrs = { 4.5 };
    const double      data[] = { 3, 8, 4, 5 }, squares[] = { 9, 16 };
    eddy_graph       *g = eddy_graph_new();
    eddy_session     *s = eddy_session_new(g);
    eddy_tensor       x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor       y = Square(eddy_apply1(&below_ops[_i], &attrs, x));
    eddy_array       *in = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(4), data);
    eddy_array       *out[1] = { NULL };
    ck_assert_msg(eddy_run(s, EDDY_FEED({ x, in }), EDDY_FETCH(y), out) == EDDY_OK, "%s",
                  eddy_session_message(s));
    ck_assert(eddy_shape_equal(eddy_array_shape(out[0]), EDDY_SHAPE(2)));
    ck_assert_mem_eq(eddy_array_data(out[0]), squares, sizeof squares);
    eddy_array_free(in);
    eddy_array_free(out[0]);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

Suite *dynamic_shapes_suite(void)
{
    Suite *s = suite_create("dynamic_shapes");
    TCase *c = tcase_create("dynamic_shapes"), *many = tcase_create("many runs");
    tcase_set_tags(many, "many");
    tcase_add_test(c, a_mask_may_be_any_data);
    tcase_add_test(c, plans_are_kept_by_count);
    tcase_add_test(c, gradients_go_to_chosen_rows);
    tcase_add_test(c, several_stages);
    tcase_add_test(c, one_run_to_random_operations);
    tcase_add_test(c, variables_are_those_from_before_the_run);
    tcase_add_test(c, a_side_effect_before_it_is_refused);
    tcase_add_test(c, an_assertion_before_it_runs);
    tcase_add_test(c, nothing_fed_is_said);
    tcase_add_loop_test(c, variables_of_one_moment, 0, 1);
    tcase_add_loop_test(many, variables_of_one_moment, 1, 4);
    tcase_add_test(c, computed_once);
    tcase_add_test(c, narrowed_fed_and_sized);
    tcase_add_test(c, of_callables_and_looks);
    tcase_add_loop_test(c, of_a_user_s_operation, 0, 2);
    suite_add_tcase(s, c);
    suite_add_tcase(s, many);
    return s;
}
