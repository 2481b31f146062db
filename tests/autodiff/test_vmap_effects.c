/* test_vmap_effects.c -- side effects that a mapped function reaches by control edges: assertions,
 * printed lines, updates of variables. */
#include "autodiff/functions.h"
#include "tests/lib/checks.h"

#include <math.h>

Suite *vmap_effects_suite(void);

static eddy_graph   *g;
static eddy_session *s;
static eddy_tensor   v;
static int           lines;

static void setup(void)
{
    g = eddy_graph_new();
    s = eddy_session_new(g);
    v = eddy_variable(g, real(g, 0), .name = "v");
    lines = 0;
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
}

static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

static void count_line(void *user, const char *line)
{
    (void)line;
    ++*(int *)user;
}

/* ------------------------------------------------------------- the functions -- */

typedef int builder(eddy_list x, eddy_tensor *y, void *context);

static eddy_tensor positive(eddy_tensor x)
{
    return eddy_assert(eddy_all(eddy_greater(x, ZerosLike(x))), EDDY_LIST(x), "not positive");
}

static int log_of_positive(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    eddy_control_begin(g, EDDY_LIST(positive(x.at[0])));
    y[0] = Log(x.at[0]);
    eddy_control_end(g);
    return 1;
}

/* The assertion stands behind two operations that only order. */
static int behind_groups(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    const eddy_tensor first = eddy_group(g, EDDY_LIST(positive(x.at[0])), NULL);
    eddy_control_begin(g, EDDY_LIST(first));
    const eddy_tensor second = eddy_no_op(g, NULL);
    eddy_control_end(g);
    eddy_control_begin(g, EDDY_LIST(second));
    y[0] = Neg(x.at[0]);
    eddy_control_end(g);
    return 1;
}

/* The constants that wait are the same for all examples, and so is y[1]. */
static int shared_waits(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    eddy_control_begin(g, EDDY_LIST(positive(x.at[0])));
    const eddy_tensor three = real(g, 3);
    y[1] = Square(real(g, 2));
    eddy_control_end(g);
    y[0] = Mul(x.at[0], Neg(three));
    return 2;
}

static int shared_print_waits(eddy_list x, eddy_tensor *y, void *context)
{
    eddy_control_begin(g, EDDY_LIST(positive(x.at[0])));
    const eddy_tensor two = eddy_print(real(g, 2), .write = count_line, .user = context);
    eddy_control_end(g);
    eddy_control_begin(g, EDDY_LIST(two));
    y[0] = Neg(x.at[0]);
    eddy_control_end(g);
    return 1;
}

static int printed(eddy_list x, eddy_tensor *y, void *context)
{
    const eddy_tensor seen = eddy_print(Mul(x.at[0], 2), .write = count_line, .user = context);
    eddy_control_begin(g, EDDY_LIST(seen));
    y[0] = Neg(x.at[0]);
    eddy_control_end(g);
    return 1;
}

static int finite(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    eddy_control_begin(g, EDDY_LIST(eddy_check_numerics(Mul(x.at[0], 2), "by control")));
    y[0] = Neg(x.at[0]);
    eddy_control_end(g);
    return 1;
}

static int assigned(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    const eddy_tensor all = eddy_group(g, EDDY_LIST(eddy_assign(v, Sum(x.at[0]))), NULL);
    eddy_control_begin(g, EDDY_LIST(all));
    y[0] = Neg(x.at[0]);
    eddy_control_end(g);
    return 1;
}

/* The update is of a number, but it waits for an example. */
static int counted_if_positive(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    eddy_control_begin(g, EDDY_LIST(positive(x.at[0])));
    const eddy_tensor count = eddy_assign_add(v, real(g, 1));
    eddy_control_end(g);
    y[0] = Mul(x.at[0], count);
    return 1;
}

/* Nothing here depends on an example. */
static int counted(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    eddy_control_begin(g, EDDY_LIST(eddy_assign_add(v, real(g, 1))));
    y[0] = Neg(x.at[0]);
    eddy_control_end(g);
    return 1;
}

static int mapped(eddy_list x, eddy_tensor *y, void *context)
{
    return eddy_vmap((eddy_function){ .build = *(builder **)context }, x, y);
}

static int gradient_of(eddy_list x, eddy_tensor *y, void *context)
{
    eddy_tensor one[EDDY_MAX_RESULTS];
    (*(builder **)context)(x, one, NULL);
    eddy_gradients(EDDY_LIST(one[0]), x, y);
    return 1;
}

static void doubled(eddy_rule *r) { r->dx[0] = r->dx[1] = Mul(2, r->dy[0]); }

/* v is shared, and so is the negative of it that waits for the examples. */
static int overridden(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    eddy_control_begin(g, EDDY_LIST(positive(x.at[0])));
    const eddy_tensor shared = Neg(v);
    eddy_control_end(g);
    eddy_gradient_override_begin(g, "Add", "Doubled");
    y[0] = Add(x.at[0], shared);
    eddy_gradient_override_end(g);
    return 1;
}

/* ----------------------------------------------------------------- the checks -- */

static eddy_tensor rows(const double x[6]) { return matrix(g, 3, 2, x); }

static const double good[] = { 1, 2, 3, 4, 5, 6 }, bad[] = { 1, 2, 3, 4, 5, -6 };

static eddy_tensor map(builder *f, eddy_tensor x, eddy_tensor *y)
{
    eddy_vmap((eddy_function){ .build = f, .context = &lines }, EDDY_LIST(x), y);
    fits(g);
    return y[0];
}

static void stops(eddy_tensor y, const char *says)
{
    ck_assert_ptr_null(eddy_fetch(s, y));
    run_fails(s, EDDY_CHECK_FAILED, says);
}

/* An assertion about each example is one about all of them. */
START_TEST(assertions)
{
    builder *const fs[] = { log_of_positive, behind_groups, shared_waits, shared_print_waits };
    for (size_t i = 0; i < sizeof fs / sizeof *fs; i++) {
        eddy_tensor y[EDDY_MAX_RESULTS];
        eddy_array *a = eddy_fetch(s, map(fs[i], rows(good), y));
        ck_assert_msg(a, "%d: %s", (int)i, eddy_session_message(s));
        eddy_array_free(a);
        stops(map(fs[i], rows(bad), y), "assertion failed: not positive [1 2 3");
    }
}
END_TEST

START_TEST(values_that_wait)
{
    eddy_tensor y[2];
    map(shared_waits, rows(good), y);
    has(s, y[0], 6, (double[]){ -3, -6, -9, -12, -15, -18 });
    has(s, y[1], 3, (double[]){ 4, 4, 4 });
    map(shared_waits, rows(bad), y);
    stops(y[1], "not positive");
    has(s, eddy_gradient(map(shared_waits, rows(good), y), y[0]), 6,
        (double[]){ 1, 1, 1, 1, 1, 1 });
}
END_TEST

/* The assertion about example 0, which stands for all, is not left in a run. */
START_TEST(no_examples)
{
    eddy_tensor y[2], x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_array *none = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(0, 2)), *a = NULL;
    map(shared_waits, x, y);
    ck_assert_msg(eddy_run(s, EDDY_FEED({ x, none }), EDDY_FETCH(y[0]), &a) == EDDY_OK, "%s",
                  eddy_session_message(s));
    ck_assert(eddy_shape_equal(eddy_array_shape(a), EDDY_SHAPE(0, 2)));
    eddy_array_free(a);
    eddy_array_free(none);
}
END_TEST

START_TEST(maps_and_gradients)
{
    builder    *f = log_of_positive;
    eddy_tensor y[1];
    for (int i = 0; i < 2; i++) {
        const eddy_tensor x = rows(i == 0 ? good : bad);
        const eddy_function each[] = { { .build = mapped, .context = &f },
                                       { .build = gradient_of, .context = &f } };
        for (int k = 0; k < 2; k++) {
            eddy_vmap(each[k], EDDY_LIST(x), y);
            fits(g);
            const eddy_tensor want = k == 0 ? Log(x) : Reciprocal(x);
            if (i == 0) is_number(Max(Abs(Sub(y[0], want))), 0);
            else if (k == 0) stops(y[0], "not positive");
        }
    }
}
END_TEST

/* The gradient of a shared tensor is the sum over the examples. */
START_TEST(custom_gradients)
{
    eddy_tensor y[1], d[2];
    eddy_register_gradient(g, "Doubled", doubled, NULL);
    const eddy_tensor x = rows(good);
    eddy_gradients(EDDY_LIST(Sum(map(overridden, x, y))), EDDY_LIST(x, v), d);
    fits(g);
    has(s, d[0], 6, (double[]){ 2, 2, 2, 2, 2, 2 });
    has(s, d[1], 1, (double[]){ -12 });
}
END_TEST

START_TEST(lines_and_checks)
{
    eddy_tensor y[1];
    has(s, map(printed, rows(good), y), 6, (double[]){ -1, -2, -3, -4, -5, -6 });
    ck_assert_int_eq(lines, 1);
    has(s, map(shared_print_waits, rows(good), y), 6, (double[]){ -1, -2, -3, -4, -5, -6 });
    ck_assert_int_eq(lines, 2);
    has(s, map(finite, rows(good), y), 6, (double[]){ -1, -2, -3, -4, -5, -6 });
    stops(map(finite, rows((double[]){ 1, 2, 3, NAN, 5, 6 }), y), "by control");
}
END_TEST

START_TEST(updates)
{
    eddy_tensor y[1];
    has(s, map(counted, rows(good), y), 6, (double[]){ -1, -2, -3, -4, -5, -6 });
    has(s, v, 1, (double[]){ 1 });
    eddy_vmap((eddy_function){ .build = assigned }, EDDY_LIST(rows(good)), y);
    fails(g, EDDY_UNIMPLEMENTED, "op Assign changes state");
    eddy_vmap((eddy_function){ .build = counted_if_positive }, EDDY_LIST(rows(good)), y);
    fails(g, EDDY_UNIMPLEMENTED, "op AssignAdd changes state");
}
END_TEST

/* ------------------------------------------------------- numbers of examples -- */

static int product(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Mul(x.at[0], x.at[1]);
    y[1] = Neg(x.at[1]);
    return 2;
}
static const eddy_function f_product = { .build = product };

START_TEST(as_many_examples)
{
    eddy_tensor y[2], x = rows(good), one = matrix(g, 1, 2, good);
    ck_assert_int_eq(eddy_vmap(f_product, EDDY_LIST(x, one), y), 0);
    fails(g, EDDY_BAD_SHAPE, "differ in their number of examples: 3 and");
    eddy_vmap(f_product, EDDY_LIST(one, x), y, .axes = (int[]){ -1, 0 });
    fails(g, EDDY_BAD_SHAPE, "differ in their number of examples: 2 and");
    ck_assert_int_eq(eddy_vmap(f_product, EDDY_LIST(x, one), y, .axes = (int[]){ 0, EDDY_SHARED }),
                     2);
    fits(g);
}
END_TEST

/* Numbers that are not known are held against each other by the run. */
START_TEST(as_many_examples_in_a_run)
{
    const eddy_shape open = EDDY_SHAPE(EDDY_ANY, 2);
    eddy_tensor y[2], a = eddy_placeholder(g, "a", EDDY_FLOAT64, open);
    eddy_tensor b = eddy_placeholder(g, "b", EDDY_FLOAT64, open), x = rows(good);
    eddy_array *three = eddy_fetch(s, x), *one = eddy_fetch(s, matrix(g, 1, 2, good)), *out = NULL;
    eddy_vmap(f_product, EDDY_LIST(a, b), y);
    fits(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ a, three }, { b, three }), EDDY_FETCH(y[0]), &out),
                     EDDY_OK);
    eddy_array_free(out);
    for (int k = 0; k < 2; k++) {
        ck_assert_int_ne(eddy_run(s, EDDY_FEED({ a, three }, { b, one }), EDDY_FETCH(y[k]), &out),
                         EDDY_OK);
        run_fails(s, EDDY_CHECK_FAILED, "x[1] has more or fewer examples than others [1][3]");
    }
    eddy_vmap(f_product, EDDY_LIST(x, b), y);
    ck_assert_int_ne(eddy_run(s, EDDY_FEED({ b, one }), EDDY_FETCH(y[0]), &out), EDDY_OK);
    run_fails(s, EDDY_CHECK_FAILED, "x[1] has more or fewer examples than others [1][3]");
    eddy_array_free(three);
    eddy_array_free(one);
}
END_TEST

Suite *vmap_effects_suite(void)
{
    Suite *suite = suite_create("vmap_effects");
    TCase *c = tcase_create("effects");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, assertions);
    tcase_add_test(c, values_that_wait);
    tcase_add_test(c, no_examples);
    tcase_add_test(c, maps_and_gradients);
    tcase_add_test(c, custom_gradients);
    tcase_add_test(c, lines_and_checks);
    tcase_add_test(c, updates);
    tcase_add_test(c, as_many_examples);
    tcase_add_test(c, as_many_examples_in_a_run);
    suite_add_tcase(suite, c);
    return suite;
}
