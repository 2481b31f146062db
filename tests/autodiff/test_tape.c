/* test_tape.c -- tapes: TensorFlow's cases (group T), nesting, lifetime. */
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"

Suite *tape_suite(void);

static void none(eddy_tensor t)
{
    fits(g);
    ck_assert_msg(!eddy_is_valid(t), "there is a gradient, '%s'", eddy_name_of(t));
}

static eddy_tensor square(eddy_tensor x) { return Mul(x, x); }

/* The gradient of y along the tape with respect to x. */
static eddy_tensor along(eddy_tape *tape, eddy_tensor y, eddy_tensor x)
{
    eddy_tensor dx;
    eddy_tape_gradient(tape, EDDY_LIST(y), EDDY_LIST(x), &dx);
    return dx;
}

/* ------------------------------------------------------ TensorFlow's cases -- */

START_TEST(t01_several)
{
    eddy_tensor x = real(g, 3), y = real(g, 2), a, b, d[2];
    eddy_tape  *tape = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x, y));
        a = Mul(2, x), b = Mul(3, y);
    }
    eddy_tape_gradient(tape, EDDY_LIST(a, b), EDDY_LIST(x, y), d);
    is_number(d[0], 2);
    is_number(d[1], 3);
}
END_TEST

/* T-05, T-07, T-09: targets that are sources. */
START_TEST(t05_target_is_source)
{
    eddy_tensor x = real(g, 3), y = real(g, 5), i, z, d[2];
    eddy_tensor a = eddy_fill(eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 2, 2 }),
                              real(g, 2));
    eddy_tape  *tape = eddy_tape_new(g, .persistent = true);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x, y, a));
        i = eddy_identity(x), z = Mul(y, y);
    }
    is_number(along(tape, x, x), 1);
    is_number(along(tape, i, x), 1);
    eddy_tape_gradient(tape, EDDY_LIST(x, x), EDDY_LIST(x), d);
    is_number(d[0], 2);
    eddy_tape_gradient(tape, EDDY_LIST(x, y, z), EDDY_LIST(x, y), d);
    is_number(d[0], 1);
    is_number(d[1], 11);
    has_value(along(tape, a, a), 4, (double[]){ 1, 1, 1, 1 });
    eddy_tape_gradient(tape, EDDY_LIST(a, a), EDDY_LIST(a), d);
    has_value(d[0], 4, (double[]){ 2, 2, 2, 2 });
}
END_TEST

START_TEST(t07_not_differentiable)
{
    eddy_tensor x = real(g, 3), n = eddy_number(g, EDDY_INT32, 4), b = eddy_equal(n, n), y, d[3];
    eddy_tape  *tape = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x, n, b));
        y = square(x);
    }
    eddy_tape_gradient(tape, EDDY_LIST(y, n, b), EDDY_LIST(x, n, b), d);
    is_number(d[0], 6);
    none(d[1]);
    none(d[2]);
}
END_TEST

START_TEST(t11_stop_recording)
{
    eddy_tensor x = real(g, 1), x2, y, z;
    eddy_tape  *tape = eddy_tape_new(g, .persistent = true);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x));
        x2 = Mul(2, x);
        EDDY_STOP_RECORDING(tape)
        {
            ck_assert(!eddy_tape_is_recording(tape));
            y = square(x2);
        }
        ck_assert(eddy_tape_is_recording(tape));
        z = square(x2);
    }
    none(along(tape, y, x2));
    is_number(along(tape, z, x2), 4);
}
END_TEST

static int watched(eddy_tape *tape, eddy_tensor *v)
{
    return eddy_tape_watched_variables(tape, v, 4);
}

START_TEST(t13_watched_variables)
{
    eddy_tensor v = eddy_variable(g, real(g, 1)), w = eddy_variable(g, real(g, 1)), seen[4];
    eddy_tensor fixed = eddy_variable(g, real(g, 1), .not_trainable = true);
    eddy_tape  *tape = eddy_tape_new(g);
    eddy_tape_begin(tape);
    ck_assert_int_eq(watched(tape, seen), 0);
    Mul(v, v);
    ck_assert_int_eq(watched(tape, seen), 1);
    ck_assert(eddy_same(seen[0], v));
    eddy_tape_reset(tape);
    ck_assert_int_eq(watched(tape, seen), 0);
    Mul(v, v);
    ck_assert_int_eq(watched(tape, seen), 1);
    eddy_tape_reset(tape);
    eddy_tape_watch(tape, EDDY_LIST(v));
    ck_assert_int_eq(watched(tape, seen), 1);
    eddy_tape_reset(tape);
    Mul(w, Mul(fixed, v));
    eddy_tape_end(tape);
    ck_assert_int_eq(watched(tape, seen), 2);
    ck_assert(eddy_same(seen[0], v) && eddy_same(seen[1], w));      /* in order of first use */
    ck_assert_int_eq(eddy_tape_watched_variables(tape, NULL, 0), 2);
    fits(g);
}
END_TEST

START_TEST(t15_already_recording)
{
    eddy_tape *tape = eddy_tape_new(g);
    eddy_tape_begin(tape);
    ck_assert_ptr_null(eddy_tape_begin(tape));
    fails(g, EDDY_INVALID_ARGUMENT, "Tape is already recording.");
    eddy_tape_end(tape);
    eddy_tape_end(tape);
    fits(g);
}
END_TEST

START_TEST(t19_two_blocks)
{
    eddy_tensor x = real(g, 3), y, z;
    eddy_tape  *tape = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x));
        y = Mul(2, x);
    }
    EDDY_RECORD(tape) z = Mul(2, y);
    is_number(along(tape, z, x), 4);
}
END_TEST

START_TEST(t21_many_sources)
{
    eddy_tensor x1 = real(g, 1), x2 = real(g, 2), x3 = real(g, 3), y, d[5];
    eddy_tape  *tape = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x1, x2, x3));
        y = Add(x1, Add(Mul(2, x2), Mul(3, x3)));
    }
    eddy_tape_gradient(tape, EDDY_LIST(y), EDDY_LIST(x1, x2, x2, x3, x1), d);
    const double want[] = { 1, 2, 2, 3, 1 };
    for (int i = 0; i < 5; i++) is_number(d[i], want[i]);
}
END_TEST

START_TEST(t23_unused)
{
    eddy_tensor x, y;
    eddy_tape  *tape = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        x = eddy_variable(g, real(g, 1));
        y = eddy_variable(g, real(g, 1));
    }
    none(along(tape, x, y));
}
END_TEST

/* T-25 and the documents' T3, T4. */
START_TEST(t25_persistent)
{
    eddy_tensor x = real(g, 3), y, z, d[2];
    eddy_tape  *tape = eddy_tape_new(g, .persistent = true), *once = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        EDDY_RECORD(once)
        {
            eddy_tape_watch(tape, EDDY_LIST(x));
            eddy_tape_watch(once, EDDY_LIST(x));
            y = square(x), z = square(y);
        }
    }
    is_number(along(tape, z, x), 108);
    is_number(along(tape, y, x), 6);
    eddy_tape_gradient(once, EDDY_LIST(z), EDDY_LIST(x, y), d);
    is_number(d[0], 108);
    is_number(d[1], 18);
    eddy_tape_gradient(once, EDDY_LIST(z), EDDY_LIST(x), d);
    fails(g, EDDY_INVALID_ARGUMENT, "GradientTape.gradient can only be called once on "
                                    "non-persistent tapes.");
    none(d[0]);
}
END_TEST

START_TEST(t27_unconnected)
{
    eddy_tensor x = real(g, 1), y = real(g, 3), z, d[2];
    eddy_tensor m = eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(2, 2)), v = eddy_variable(g, m);
    eddy_tape  *tape = eddy_tape_new(g, .persistent = true);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x, y, m));
        z = Mul(2, y);
    }
    none(along(tape, z, x));
    eddy_tape_gradient(tape, EDDY_LIST(z), EDDY_LIST(m, v), d,
                       .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    has_value(d[0], 4, (double[]){ 0, 0, 0, 0 });
    ck_assert(eddy_shape_equal(eddy_shape_of(d[1]), EDDY_SHAPE(2, 2)));
    eddy_tape_gradient(tape, EDDY_LIST(z), EDDY_LIST(x), d,
                       .unconnected_gradients = (eddy_unconnected)7);
    fails(g, EDDY_INVALID_ARGUMENT, "Unknown value for unconnected_gradients: '7'");
}
END_TEST

START_TEST(t37_only_what_is_watched)
{
    eddy_tensor x1 = eddy_variable(g, real(g, 1)), x2 = eddy_variable(g, real(g, 1)), y, z, d[2];
    eddy_tensor seen[4];
    eddy_tape  *tape = eddy_tape_new(g, .no_watch_accessed_variables = true);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x2));
        y = square(x1), z = Mul(x2, square(x2));
    }
    ck_assert_int_eq(watched(tape, seen), 1);
    ck_assert(eddy_same(seen[0], x2));
    eddy_tape_gradient(tape, EDDY_LIST(y, z), EDDY_LIST(x1, x2), d);
    none(d[0]);
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    ck_assert_double_eq(number(s, d[1]), 3);
    eddy_session_free(s);
}
END_TEST

START_TEST(t39_unknown_shape)
{
    eddy_tensor a = eddy_placeholder(g, "a", EDDY_FLOAT64, EDDY_UNKNOWN_SHAPE), b;
    eddy_tape  *tape = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(a));
        b = Mul(a, square(a));
    }
    eddy_tensor   db = along(tape, b, a);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *two = eddy_array_of(EDDY_FLOAT64, 2), *out[2] = { NULL };
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ a, two }), EDDY_FETCH(b, db), out), EDDY_OK);
    ck_assert_double_eq(eddy_array_get(out[0], 0), 8);
    ck_assert_double_eq(eddy_array_get(out[1], 0), 12);
    for (int i = 0; i < 2; i++) eddy_array_free(out[i]);
    eddy_array_free(two);
    eddy_session_free(s);
}
END_TEST

/* Sparse gradients of two gathers, and one beside a dense use. */
START_TEST(t41_slices)
{
    const double p[] = { 1, 2, 3, 4, 5, 6 };
    eddy_tensor  x = matrix(g, 3, 2, p), a, b, c, d;
    eddy_tensor  i = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 0, 2 });
    eddy_tensor  j = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 1, 2 });
    eddy_tape   *tape = eddy_tape_new(g, .persistent = true);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x));
        a = Sum(eddy_gather(x, i)), b = Sum(Mul(3, eddy_gather(x, j))), c = Sum(Mul(10, x));
    }
    eddy_tape_gradient(tape, EDDY_LIST(a, b), EDDY_LIST(x), &d);
    ck_assert(eddy_slices_parts(d, NULL, NULL));
    has_value(d, 6, (double[]){ 1, 1, 3, 3, 4, 4 });
    eddy_tape_gradient(tape, EDDY_LIST(a, b, c), EDDY_LIST(x), &d);
    ck_assert(!eddy_slices_parts(d, NULL, NULL));
    has_value(d, 6, (double[]){ 11, 11, 13, 13, 14, 14 });
}
END_TEST

/* --------------------------------------------------------- the documents' -- */

/* T1, T2 */
START_TEST(nested)
{
    eddy_tensor x = real(g, 3), y, dy;
    eddy_tape  *outer = eddy_tape_new(g), *inner = eddy_tape_new(g);
    EDDY_RECORD(outer)
    {
        eddy_tape_watch(outer, EDDY_LIST(x));
        EDDY_RECORD(inner)
        {
            eddy_tape_watch(inner, EDDY_LIST(x));
            y = square(x);
        }
        dy = along(inner, y, x);
    }
    is_number(dy, 6);
    is_number(along(outer, dy, x), 2);
}
END_TEST

/* Five deep: derivatives of x^5 at 2. */
START_TEST(deep)
{
    enum { N = 5 };
    eddy_tape  *tape[N];
    eddy_tensor x = real(g, 2), y;
    for (int i = 0; i < N; i++) {
        tape[i] = eddy_tape_new(g);
        eddy_tape_begin(tape[i]);
        eddy_tape_watch(tape[i], EDDY_LIST(x));
    }
    y = Mul(x, square(square(x)));
    const double want[N] = { 80, 160, 240, 240, 120 };
    for (int i = N - 1; i >= 0; i--) {
        eddy_tape_end(tape[i]);
        y = along(tape[i], y, x);
        is_number(y, want[N - 1 - i]);
    }
}
END_TEST

/* T6, T7: output gradients; a gradient within a persistent block is recorded. */
START_TEST(gradient_while_recording)
{
    eddy_tensor x = real(g, 3), y, dy, d;
    eddy_tape  *tape = eddy_tape_new(g, .persistent = true);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x));
        y = Mul(x, square(x));
        dy = along(tape, y, x);
    }
    is_number(along(tape, dy, x), 18);
    eddy_tape_gradient(tape, EDDY_LIST(y), EDDY_LIST(x), &d,
                       .output_gradients = EDDY_LIST(real(g, 2)));
    is_number(d, 54);
}
END_TEST

START_TEST(gradient_ends_a_recording)
{
    eddy_tensor x = real(g, 3), y, z;
    eddy_tape  *tape = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x));
        y = square(x);
        is_number(along(tape, y, x), 6);
        ck_assert(!eddy_tape_is_recording(tape));
        z = square(y);
    }
    z = along(tape, z, x);
    fails(g, EDDY_INVALID_ARGUMENT, "only be called once");
    none(z);
}
END_TEST

/* T8 */
START_TEST(reset)
{
    eddy_tensor x = eddy_variable(g, real(g, 3)), y, z, d;
    eddy_tape  *tape = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        y = square(x);
        eddy_tape_reset(tape);
        z = Add(y, Mul(5, x));
    }
    d = along(tape, z, x);
    is_number(d, 5);
}
END_TEST

/* Nodes that were built before a watch are not on the tape. */
START_TEST(watch_is_not_retroactive)
{
    eddy_tensor x = real(g, 3), y, z, d[2];
    eddy_tape  *tape = eddy_tape_new(g, .persistent = true);
    EDDY_RECORD(tape)
    {
        y = square(x);
        eddy_tape_watch(tape, EDDY_LIST(x));
        z = Mul(y, x);
    }
    none(along(tape, y, x));
    eddy_tape_gradient(tape, EDDY_LIST(z), EDDY_LIST(x, y), d);
    is_number(d[0], 9);
    none(d[1]);
}
END_TEST

/* On a node that is on the tape for another reason, too. */
START_TEST(watched_after_its_use)
{
    eddy_tensor x = real(g, 3), w = real(g, 5), y, z, d[2];
    eddy_tape  *tape = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(w));
        y = Mul(x, w);
        eddy_tape_watch(tape, EDDY_LIST(x));
        z = Mul(y, x);
    }
    eddy_tape_gradient(tape, EDDY_LIST(z), EDDY_LIST(x, w), d);
    is_number(d[0], 15);
    is_number(d[1], 9);
}
END_TEST

/* A variable that is only made or assigned is not accessed. */
START_TEST(updates_do_not_watch)
{
    eddy_tensor v = eddy_variable(g, real(g, 1)), y, seen[4];
    eddy_tape  *tape = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        eddy_variable(g, real(g, 2));
        eddy_assign(eddy_variable(g, real(g, 3)), real(g, 4));
        y = square(v);
    }
    ck_assert_int_eq(watched(tape, seen), 1);
    ck_assert(eddy_same(seen[0], v) && eddy_is_valid(y));
}
END_TEST

/* One output of several: the others are not watched with it. */
START_TEST(one_output)
{
    eddy_tensor x = eddy_unstack(vector(g, 2, (double[]){ 2, 3 }), 0), x1 = eddy_output(x, 1), y,
                d[2];
    eddy_tape  *tape = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x1));
        y = Mul(x, x1);
    }
    eddy_tape_gradient(tape, EDDY_LIST(y), EDDY_LIST(x, x1), d);
    none(d[0]);
    is_number(d[1], 2);
}
END_TEST

/* A block that is left early does not go on recording. */
static void leave_early(eddy_tape *tape)
{
    EDDY_RECORD(tape) return;
}

START_TEST(blocks_do_not_leak)
{
    eddy_tape *tape = eddy_tape_new(g);
    leave_early(tape);
    ck_assert(!eddy_tape_is_recording(tape));
    EDDY_RECORD(tape)
    {
        EDDY_STOP_RECORDING(tape) break;
        ck_assert(eddy_tape_is_recording(tape));
        break;
    }
    ck_assert(!eddy_tape_is_recording(tape));
    fits(g);
}
END_TEST

/* T11 to T13 */
START_TEST(jacobians)
{
    eddy_tensor x = vector(g, 2, (double[]){ 1, 2 }), y, j;
    eddy_tensor bx = matrix(g, 2, 2, (double[]){ 1, 2, 3, 4 }), by;
    eddy_tape  *tape = eddy_tape_new(g, .persistent = true);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x, bx));
        y = square(x), by = square(bx);
    }
    for (int loop = 0; loop < 2; loop++) {
        eddy_tape_jacobian(tape, y, EDDY_LIST(x), &j, .no_pfor = loop, .parallel_iterations = 2);
        has_value(j, 4, (double[]){ 2, 0, 0, 4 });
        has_value(eddy_tape_batch_jacobian(tape, by, bx, .no_pfor = loop), 8,
                  (double[]){ 2, 0, 0, 4, 6, 0, 0, 8 });
        has_value(eddy_tape_batch_jacobian(tape, by, matrix(g, 2, 1, (double[]){ 1, 1 })), 4,
                  (double[]){ 0, 0, 0, 0 });
    }
    eddy_tape_begin(tape);
    eddy_tape_jacobian(tape, y, EDDY_LIST(x), &j);
    fails(g, EDDY_INVALID_ARGUMENT, "tape_jacobian: Tape is already recording.");
    eddy_tape_end(tape);
}
END_TEST

/* J-02 is of eager execution; in a graph TensorFlow takes the loop from any tape, once. */
START_TEST(j02_loop_of_a_tape_that_is_not_persistent)
{
    eddy_tensor x = vector(g, 2, (double[]){ 1, 2 }), y, j;
    eddy_tape  *tape = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x));
        y = square(x);
    }
    eddy_tape_jacobian(tape, y, EDDY_LIST(x), &j, .no_pfor = true);
    has_value(j, 4, (double[]){ 2, 0, 0, 4 });
    eddy_tape_jacobian(tape, y, EDDY_LIST(x), &j, .no_pfor = true);
    fails(g, EDDY_INVALID_ARGUMENT, "can only be called once on non-persistent tapes.");
}
END_TEST

Suite *tape_suite(void)
{
    Suite *suite = suite_create("tape");
    TCase *c = tcase_create("tape");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, t01_several);
    tcase_add_test(c, t05_target_is_source);
    tcase_add_test(c, t07_not_differentiable);
    tcase_add_test(c, t11_stop_recording);
    tcase_add_test(c, t13_watched_variables);
    tcase_add_test(c, t15_already_recording);
    tcase_add_test(c, t19_two_blocks);
    tcase_add_test(c, t21_many_sources);
    tcase_add_test(c, t23_unused);
    tcase_add_test(c, t25_persistent);
    tcase_add_test(c, t27_unconnected);
    tcase_add_test(c, t37_only_what_is_watched);
    tcase_add_test(c, t39_unknown_shape);
    tcase_add_test(c, t41_slices);
    tcase_add_test(c, nested);
    tcase_add_test(c, deep);
    tcase_add_test(c, gradient_while_recording);
    tcase_add_test(c, gradient_ends_a_recording);
    tcase_add_test(c, reset);
    tcase_add_test(c, watch_is_not_retroactive);
    tcase_add_test(c, watched_after_its_use);
    tcase_add_test(c, updates_do_not_watch);
    tcase_add_test(c, one_output);
    tcase_add_test(c, blocks_do_not_leak);
    tcase_add_test(c, jacobians);
    tcase_add_test(c, j02_loop_of_a_tape_that_is_not_persistent);
    suite_add_tcase(suite, c);
    return suite;
}
