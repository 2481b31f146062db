/* test_hoist.c -- values that do not change from run to run are computed once: when this applies,
 * that they are computed again after any change of a variable, and what it costs. */
#include "tests/lib/hoist_sessions.h"

Suite *hoist_suite(void);

/* ---------------------------------------------------------------- computed once -- */

START_TEST(once)
{
    const served m = ready();
    ck_assert_int_eq(hoisted(), 2);
    takes(false, m.x, m.a, m.y);
    ck_assert_int_eq(eddy_session_plan_info(off).changes[PASS], 0);
    ck_assert_int_eq(off->plans->n_invariant, 0);
    eddy_array_free(m.a);
}
END_TEST

/* A fetched value that does not change is computed once; each caller gets its own array. */
START_TEST(fetched)
{
    const eddy_tensor v = square(1), y = MatMul(v, Tanh(v));
    begin();
    const eddy_array *none = NULL;
    same(y, none, y);
    eddy_array *out = eddy_fetch(on, y);
    for (int64_t i = 0; i < eddy_array_count(out); i++) eddy_array_set(out, i, -1);
    takes(false, y, none, y);
    eddy_array *again = eddy_fetch(on, y);
    ck_assert_int_eq(eddy_run(on, EDDY_FEED(), EDDY_FETCH(y), &out), EDDY_OK);
    ck_assert(eddy_array_equal(out, again));
    eddy_array_free(out);
    eddy_array_free(again);
}
END_TEST

/* Kept values under other shapes, in parts, put together, read by what writes in place. */
START_TEST(views_of_kept)
{
    const eddy_shape  s = EDDY_SHAPE(SIZE, SIZE);
    const eddy_tensor x = fed(), v = square(1), w = square(2);
    const eddy_tensor k = MatMul(v, w), low = eddy_slice(k, EDDY_DIMS(SIZE / 2, 0),
                                                         EDDY_DIMS(SIZE / 2, SIZE));
    const eddy_tensor flat = Reshape(k, EDDY_SHAPE(SIZE * SIZE));
    const eddy_tensor joined = eddy_concat(EDDY_LIST(low, MatMul(low, x)), .axis = 0);
    const eddy_tensor steady = eddy_concat(EDDY_LIST(low, MatMul(low, w)), .axis = 0);
    const eddy_tensor y = Add(Mul(Relu(k), joined), Mul(Neg(Reshape(flat, s)), MatMul(x, steady)));
    eddy_array       *a = numbers(s, 3);
    begin();
    same(x, a, y);
    for (int i = 0; i < 3; i++) takes(false, x, a, y);
    ck_assert_int_ge(hoisted(), 2);
    eddy_array_free(a);
}
END_TEST

/* With each other pass left out, too, and with every combination of a few. */
START_TEST(without_others)
{
    const served      m = serve();
    const eddy_tensor y = Add(m.y, Mul(Tanh(MatMul(m.v, m.v)), m.x));
    begin();
    eddy_session_free(on);
    on = eddy_session_new(g, .threads = 2, .without = _i < EDDY_PASSES ? 1u << _i : 0,
                          .profile = true);
    runs(on, eddy_initializer(g));
    eddy_array *out = NULL, *first = NULL;
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(eddy_run(on, EDDY_FEED({ m.x, m.a }), EDDY_FETCH(y), &out), EDDY_OK);
        check_session(on);
        if (!first) first = eddy_array_copy_of(EDDY_FLOAT64, eddy_array_shape(out),
                                               eddy_array_data(out));
        ck_assert(eddy_array_equal(out, first));
    }
    ck_assert_int_eq(on->plans->n_invariant > 0, _i != PASS);
    eddy_array_free(first);
    eddy_array_free(out);
    eddy_array_free(m.a);
}
END_TEST

/* ------------------------------------------------------------------ computed anew -- */

START_TEST(after_set)
{
    const served m = ready();
    eddy_array  *value = numbers(EDDY_SHAPE(SIZE, SIZE), 9);
    eddy_variable_set(on, m.v, value);
    eddy_variable_set(off, m.v, value);
    takes(true, m.x, m.a, m.y);
    takes(false, m.x, m.a, m.y);
    ck_assert_int_eq(eddy_eval_set_in(on, m.v, m.a), EDDY_OK);
    ck_assert_int_eq(eddy_eval_set_in(off, m.v, m.a), EDDY_OK);
    takes(true, m.x, m.a, m.y);
    takes(false, m.x, m.a, m.y);
    eddy_array_free(value);
    eddy_array_free(m.a);
}
END_TEST

/* Of another plan, and of looks. */
START_TEST(after_updates)
{
    const served      m = serve();
    const eddy_tensor add = eddy_assign_add(m.v, constant(EDDY_SHAPE(SIZE, SIZE), 4));
    const eddy_tensor init = eddy_initializer(g);
    begin();
    same(m.x, m.a, m.y);
    for (int i = 0; i < 3; i++) {
        do_run(i == 1 ? init : add);
        same(m.x, m.a, m.y);
        takes(false, m.x, m.a, m.y);
    }
    ck_assert_ptr_nonnull(eddy_eval_in(on, add));
    ck_assert_ptr_nonnull(eddy_eval_in(off, add));
    takes(true, m.x, m.a, m.y);
    takes(false, m.x, m.a, m.y);
    eddy_array_free(m.a);
}
END_TEST

/* The same for a callable, which remembers its plan. */
START_TEST(callable)
{
    const served      m = serve();
    const eddy_tensor add = eddy_assign_add(m.v, constant(EDDY_SHAPE(SIZE, SIZE), 4));
    begin();
    eddy_callable *c = eddy_callable_new(on, EDDY_LIST(m.x), EDDY_LIST(m.y));
    const eddy_array *const feeds[] = { m.a };
    ck_assert_int_eq(eddy_callable_run(c, feeds, NULL), EDDY_OK);
    ck_assert_int_eq(eddy_callable_run(c, feeds, NULL), EDDY_OK);
    const eddy_plan *p = on->plans;
    ck_assert_int_eq(executed(p), 2 * p->n_code - p->n_invariant);
    runs(on, add);
    ck_assert_int_eq(eddy_callable_run(c, feeds, NULL), EDDY_OK);
    ck_assert_int_eq(executed(p), 3 * p->n_code - p->n_invariant);
    ck_assert_int_eq(eddy_callable_run(c, feeds, NULL), EDDY_OK);
    ck_assert_int_eq(executed(p), 4 * p->n_code - 2 * p->n_invariant);
    eddy_callable_free(c);
    eddy_array_free(m.a);
}
END_TEST

START_TEST(after_restore)
{
    const served m = ready();
    ck_assert_int_eq(eddy_save(on, "v", EDDY_LIST(m.v)), EDDY_OK);
    eddy_variable_set(on, m.v, m.a);
    eddy_variable_set(off, m.v, m.a);
    takes(true, m.x, m.a, m.y);
    ck_assert_int_eq(eddy_restore(on, "v", EDDY_LIST(m.v)), EDDY_OK);
    ck_assert_int_eq(eddy_restore(off, "v", EDDY_LIST(m.v)), EDDY_OK);
    takes(true, m.x, m.a, m.y);
    takes(false, m.x, m.a, m.y);
    ck_assert_int_ne(eddy_restore(on, "nowhere", EDDY_LIST(m.v)), EDDY_OK);
    takes(false, m.x, m.a, m.y);
    eddy_array_free(m.a);
}
END_TEST

/* A run that fails behind its update has changed the variable. */
START_TEST(after_a_failing_update)
{
    const served      m = serve();
    const int32_t     zero[] = { 0 };
    const eddy_tensor n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SHAPE(1));
    const eddy_tensor add = eddy_assign_add(m.v, constant(EDDY_SHAPE(SIZE, SIZE), 4));
    eddy_control_begin(g, EDDY_LIST(add));
    const eddy_tensor fails_then = FloorDiv(eddy_identity(n), n);
    eddy_control_end(g);
    eddy_array *zeros = eddy_array_borrow(EDDY_INT32, EDDY_SHAPE(1), (void *)(uintptr_t)zero);
    begin();
    same(m.x, m.a, m.y);
    for (int i = 0; i < 2; i++) {
        eddy_session *s = i ? off : on;
        ck_assert_int_ne(eddy_run(s, EDDY_FEED({ n, zeros }), EDDY_FETCH(add, fails_then), NULL),
                         EDDY_OK);
    }
    same(m.x, m.a, m.y);
    takes(false, m.x, m.a, m.y);
    eddy_array_free(zeros);
    eddy_array_free(m.a);
}
END_TEST

/* A hoisted computation may fail: each run reports the error until it succeeds. */
START_TEST(impossible)
{
    const int32_t     zero = 0, three = 3, seven[] = { 7, 14, -7 };
    const eddy_tensor v = eddy_variable(g, eddy_const(g, EDDY_INT32, EDDY_SCALAR, &zero));
    const eddy_tensor w = eddy_variable(g, eddy_const(g, EDDY_INT32, EDDY_SHAPE(3), seven));
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_INT32, EDDY_SHAPE(3));
    const eddy_tensor y = Mul(x, FloorDiv(w, v));
    eddy_array *one = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(3), seven);
    eddy_array *possible = eddy_array_copy_of(EDDY_INT32, EDDY_SCALAR, &three);
    begin();
    for (int i = 0; i < 3; i++) {
        ck_assert_int_ne(eddy_run(on, EDDY_FEED({ x, one }), EDDY_FETCH(y), NULL), EDDY_OK);
        ck_assert_int_ne(eddy_run(off, EDDY_FEED({ x, one }), EDDY_FETCH(y), NULL), EDDY_OK);
        ck_assert_str_eq(eddy_session_message(on), eddy_session_message(off));
    }
    ck_assert_int_gt(on->plans->n_invariant, 0);
    eddy_variable_set(on, v, possible);
    eddy_variable_set(off, v, possible);
    takes(true, x, one, y);
    takes(false, x, one, y);
    eddy_array_free(possible);
    eddy_array_free(one);
}
END_TEST

/* A failure behind the front leaves what was computed in it. */
START_TEST(failing_behind)
{
    const int32_t     two[] = { 2, 3, 5 }, zeros[] = { 1, 0, 1 };
    const eddy_tensor v = eddy_variable(g, eddy_const(g, EDDY_INT32, EDDY_SHAPE(3), two));
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_INT32, EDDY_SHAPE(3));
    const eddy_tensor y = FloorDiv(Mul(v, v), x);
    eddy_array *good = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(3), two);
    eddy_array *bad = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(3), zeros);
    begin();
    ck_assert_int_ne(eddy_run(on, EDDY_FEED({ x, bad }), EDDY_FETCH(y), NULL), EDDY_OK);
    same(x, good, y);
    takes(false, x, good, y);
    ck_assert_int_ne(eddy_run(on, EDDY_FEED({ x, bad }), EDDY_FETCH(y), NULL), EDDY_OK);
    takes(false, x, good, y);
    eddy_array_free(good);
    eddy_array_free(bad);
}
END_TEST

/* -------------------------------------------------------------------- never kept -- */

/* Nothing of y is computed once. */
static void never(eddy_tensor x, const eddy_array *a, eddy_tensor y)
{
    for (int i = 0; i < 3; i++) same(x, a, y);
    ck_assert_int_eq(hoisted(), 0);
    ck_assert_int_eq(on->plans->n_invariant, 0);
}

START_TEST(updated_in_the_plan)
{
    const served      m = serve();
    const eddy_tensor add = eddy_assign_add(m.v, m.y);
    begin();
    for (int i = 0; i < 3; i++) {
        same(m.x, m.a, add);
        ck_assert_int_eq(on->plans->n_invariant, 0);
    }
    eddy_array_free(m.a);
}
END_TEST

START_TEST(random_and_fed)
{
    const eddy_tensor x = fed(), v = square(1);
    eddy_array       *a = numbers(EDDY_SHAPE(SIZE, SIZE), 3);
    const eddy_tensor noise = eddy_random_normal(g, EDDY_SHAPE(SIZE, SIZE), .dtype = EDDY_FLOAT64);
    const eddy_tensor changing = MatMul(noise, v), given = MatMul(Tanh(x), v);
    begin();
    never(x, a, given);
    eddy_array *first = eddy_fetch(on, changing), *second = eddy_fetch(on, changing);
    ck_assert(!eddy_array_equal(first, second));
    ck_assert_int_eq(on->plans->n_invariant, 0);
    /* a tensor that is fed is not computed */
    const eddy_tensor k = MatMul(v, v), y = MatMul(k, v);
    same(k, a, y);
    same(k, a, y);
    ck_assert_int_eq(on->plans->n_invariant, 0);
    eddy_array_free(first);
    eddy_array_free(second);
    eddy_array_free(a);
}
END_TEST

/* Values that are not hoisted: large ones, or those that are computed as fast as they are read. */
START_TEST(not_worth_it)
{
    const eddy_shape  row = EDDY_SHAPE(1, SIZE);
    const eddy_tensor x = fed(), v = square(1), w = square(2);
    const eddy_tensor r = variable(row, 3), column = variable(EDDY_SHAPE(SIZE, 1), 4);
    eddy_array       *a = numbers(EDDY_SHAPE(SIZE, SIZE), 3);
    begin();
    never(x, a, Mul(x, Add(v, w)));
    never(x, a, Mul(x, Exp(Reshape(v, EDDY_SHAPE(SIZE, SIZE)))));
    never(x, a, Mul(x, MatMul(column, r)));
    never(x, a, MatMul(x, v));
    never(x, a, MatMul(x, Reshape(eddy_slice(v, EDDY_DIMS(0, 0), EDDY_DIMS(SIZE, SIZE)),
                                  EDDY_SHAPE(SIZE, SIZE))));
    eddy_array_free(a);
}
END_TEST

/* A value that is not kept is computed in its place, and so are the values that depend on it. */
START_TEST(turned_away)
{
    const eddy_tensor x = fed(), r = variable(EDDY_SHAPE(1, SIZE), 3);
    const eddy_tensor column = variable(EDDY_SHAPE(SIZE, 1), 4), large = MatMul(column, r);
    eddy_array       *a = numbers(EDDY_SHAPE(SIZE, SIZE), 3);
    const eddy_tensor sum = eddy_sum(large, EDDY_DIMS(0));
    begin();
    never(x, a, Mul(Mul(x, large), sum));
    /* without the reader in each run, a few numbers are kept and the rest is not */
    const eddy_tensor y = Mul(x, sum);
    same(x, a, y);
    takes(false, x, a, y);
    eddy_array_free(a);
}
END_TEST

/* ------------------------------------------------------------------------ damage -- */

/* The checker sees a kept value overwritten, a source forgotten, and one that changes. */
START_TEST(damaged)
{
    const served m = ready();
    eddy_plan   *p = on->plans;
    eddy_error   e = { 0 };
    p->n_sources--;
    ck_assert(!eddy__plan_check(p, &e));
    p->n_sources++;
    int32_t overwritten = 0;
    for (int32_t r = 0; r < p->n_roots; r++) {
        const instruction *last = &p->code[p->n_code - 1];
        int32_t           *root = &p->buffer_root[last->kernel.out[0] - p->buffers];
        const int32_t      was = *root;
        if (!p->roots[r].kept) continue;
        *root = r;
        ck_assert(!eddy__plan_check(p, &e));
        *root = was;
        overwritten++;
    }
    ck_assert_int_gt(overwritten, 0);
    p->n_invariant = p->n_code;
    ck_assert(!eddy__plan_check(p, &e));
    eddy_array_free(m.a);
}
END_TEST

Suite *hoist_suite(void)
{
    Suite *s = suite_create("hoist");
    add(s, "once", once, 1);
    add(s, "fetched", fetched, 1);
    add(s, "views", views_of_kept, 1);
    add(s, "without_others", without_others, EDDY_PASSES + 1);
    add(s, "set", after_set, 1);
    add(s, "updates", after_updates, 1);
    add(s, "callable", callable, 1);
    add(s, "restore", after_restore, 1);
    add(s, "failing_update", after_a_failing_update, 1);
    add(s, "impossible", impossible, 1);
    add(s, "failing_behind", failing_behind, 1);
    add(s, "updated", updated_in_the_plan, 1);
    add(s, "random_and_fed", random_and_fed, 1);
    add(s, "not_worth_it", not_worth_it, 1);
    add(s, "turned_away", turned_away, 1);
    add(s, "damaged", damaged, 1);
    return s;
}
