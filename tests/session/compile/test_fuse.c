/* test_fuse.c -- fusing elementwise instructions: the same bits, less memory, the same errors.
 * Every sweep row and random graph also runs with and without fusing. */
#include "tests/lib/graph_fixture.h"

#include <math.h>

Suite *fuse_suite(void);

enum { ROWS = 301, COLUMNS = 37 };      /* several tiles, the last one not full */

static eddy_tensor numbers(int64_t rows, int64_t columns)
{
    eddy_tensor i = eddy_range(eddy_number(g, EDDY_INT32, 0),
                               eddy_number(g, EDDY_INT32, (double)(rows * columns)),
                               eddy_number(g, EDDY_INT32, 1));
    eddy_tensor x = eddy_reshape(Cast(i, EDDY_FLOAT32), EDDY_SHAPE(rows, columns));
    return eddy_variable(g, Sub(Div(x, (double)(rows * columns) / 4), 2));
}

/* Runs y with and without fusing: the same bits; the plan of the fused run. */
static eddy_plan_info both_ways(eddy_tensor y, eddy_plan_info *plain)
{
    eddy_session  *s = eddy_session_new(g, .without = EDDY_PASS_CHAINS),
                  *t = eddy_session_new(g, .without = EDDY_PASS_FUSE | EDDY_PASS_CHAINS);
    eddy_plan_info info;
    runs(s, eddy_initializer(g));
    runs(t, eddy_initializer(g));
    eddy_array *a = eddy_fetch(s, y), *b = eddy_fetch(t, y);
    ck_assert(a && b && eddy_array_equal(a, b));
    eddy_array_free(a);
    eddy_array_free(b);
    info = eddy_session_plan_info(s);
    *plain = eddy_session_plan_info(t);
    eddy_session_free(s);
    eddy_session_free(t);
    return info;
}

START_TEST(a_chain)
{
    eddy_plan_info plain, info;
    eddy_tensor x = numbers(ROWS, COLUMNS), y = x;
    for (int i = 0; i < 10; i++) y = Tanh(Add(Mul(y, x), 0.5));
    info = both_ways(y, &plain);
    ck_assert_int_eq(info.fused, 30);
    ck_assert_int_eq(info.instructions, 1);
    ck_assert_int_eq(plain.instructions, 30);
    ck_assert_uint_le(info.arena_bytes, plain.arena_bytes + (1 << 15));
    ck_assert_double_eq(info.flops, plain.flops);
}
END_TEST

/* Rows, columns, scalars and planes broadcast; other element types in between. */
START_TEST(broadcasting)
{
    eddy_plan_info plain, info;
    eddy_tensor x = numbers(ROWS, COLUMNS), row = numbers(1, COLUMNS), column = numbers(ROWS, 1);
    eddy_tensor one = numbers(1, 1), y = Add(Mul(x, row), Mul(column, x));
    y = Where(Less(y, Sub(x, one)), Maximum(y, row), Cast(Cast(y, EDDY_INT32), EDDY_FLOAT32));
    y = Add(y, Mul(column, Sub(y, row)));
    info = both_ways(y, &plain);
    ck_assert_int_gt(info.fused, 5);
    ck_assert_int_lt(info.instructions, plain.instructions);
    eddy_tensor cube = eddy_reshape(numbers(6 * 7, 50), EDDY_SHAPE(6, 7, 50));
    eddy_tensor plane = eddy_reshape(numbers(7, 1), EDDY_SHAPE(7, 1));
    eddy_tensor slab = eddy_reshape(numbers(6, 50), EDDY_SHAPE(6, 1, 50));
    info = both_ways(Exp(Mul(Add(cube, plane), Sub(slab, cube))), &plain);
    ck_assert_int_eq(info.fused, 4);
}
END_TEST

/* A value that something else reads keeps its memory; reshapes in between are views. */
START_TEST(values_read_elsewhere)
{
    eddy_plan_info plain;
    eddy_tensor x = numbers(ROWS, COLUMNS), a = Square(x), b = Exp(Neg(a)), c = Mul(a, b);
    eddy_tensor flat = eddy_reshape(b, EDDY_SHAPE(ROWS * COLUMNS));
    eddy_tensor sum = Add(Sum(a), Add(Sum(c), Sum(Sub(flat, Sqrt(Abs(flat))))));
    both_ways(Add(Mul(sum, b), c), &plain);
    eddy_tensor d[1];
    eddy_gradients(EDDY_LIST(Add(Mul(sum, b), c)), EDDY_LIST(x), d);
    both_ways(d[0], &plain);
}
END_TEST

/* Elementwise updates are fused; reads of the updated variables see the right values. */
START_TEST(updates)
{
    eddy_tensor x = numbers(ROWS, COLUMNS), m = numbers(ROWS, COLUMNS), n = numbers(ROWS, COLUMNS);
    eddy_tensor grad = Mul(Exp(Neg(Square(x))), n), old = Mul(m, 2);
    eddy_tensor m1 = eddy_assign(m, Add(Mul(0.9, m), Mul(0.1, grad)));
    eddy_tensor n1 = eddy_assign_add(n, Square(grad));
    eddy_tensor x1 = eddy_assign_sub(x, Div(m1, Add(Sqrt(Abs(n1)), 1)));
    eddy_tensor all = eddy_group(g, EDDY_LIST(m1, n1, x1), NULL);
    eddy_array *value[2][4] = { { NULL } };
    for (int k = 0; k < 2; k++) {
        eddy_session *s = eddy_session_new(g, .without = k == 1 ? EDDY_PASS_FUSE : 0);
        runs(s, eddy_initializer(g));
        for (int step = 0; step < 3; step++) runs(s, all);
        ck_assert(k == 1 || eddy_session_plan_info(s).instructions <= 2);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(old, x1, m, n), value[k]), EDDY_OK);
        eddy_session_free(s);
    }
    for (int i = 0; i < 4; i++) {
        ck_assert(eddy_array_equal(value[0][i], value[1][i]));
        eddy_array_free(value[0][i]);
        eddy_array_free(value[1][i]);
    }
}
END_TEST

/* ------------------------------------------- values that are assigned to variables -- */

enum { KINDS = 8 };

static eddy_tensor both(eddy_tensor a, eddy_tensor b)
{
    return eddy_group(g, EDDY_LIST(a, b), NULL);
}

/* Steps with loops in which the operation that computes a variable's new value may write the
 * variable, or must not. *also is fetched in the same run. */
static eddy_tensor assigning(int kind, eddy_tensor a, eddy_tensor b, eddy_tensor *also)
{
    const eddy_tensor x = Mul(Sin(a), 0.5), y = Add(Mul(a, 0.9), x);
    const eddy_tensor product = MatMul(b, eddy_transpose(b));
    const eddy_tensor slope = MatMul(product, Exp(b));      /* in memory, overwritten in place */
    const eddy_tensor m = Add(Mul(0.9, a), slope);
    switch (kind) {
    case 0: return eddy_assign(a, y);
    case 1: return eddy_assign(b, Sub(b, Sqrt(Abs(eddy_assign(a, y)))));
    case 2: return both(eddy_assign(a, Add(b, 1)), eddy_assign(b, Mul(a, 3)));    /* crosswise */
    case 3: return eddy_assign(a, Mul(eddy_assign(a, y), 2));                     /* twice */
    case 4: *also = Tanh(y); return eddy_assign(a, y);      /* y is read elsewhere in the loop */
    case 5: *also = y; return eddy_assign(a, y);            /* and after it */
    case 6: return eddy_assign(a, m);
    default: return both(eddy_assign(a, m), eddy_assign(b, Sub(b, Mul(0.01, m))));
    }
}

static void three_steps(eddy_session *s, eddy_tensor step, eddy_tensor also, eddy_tensor a,
                        eddy_tensor b, eddy_array **value)
{
    eddy_array *seen[2] = { NULL };
    runs(s, eddy_initializer(g));
    for (int i = 0; i < 3; i++) {
        eddy_array_free(seen[1]);
        seen[1] = NULL;
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(step, also), seen), EDDY_OK);
        ck_assert_ptr_null(seen[0]);
    }
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(a, b), value), EDDY_OK);
    value[2] = seen[1];
}

START_TEST(assigned_values)
{
    const eddy_tensor a = numbers(ROWS, COLUMNS), b = numbers(ROWS, COLUMNS);
    eddy_tensor       also = eddy_identity(a);
    const eddy_tensor step = both(assigning(_i, a, b, &also), eddy_no_op(g));
    eddy_array       *value[2][3] = { { NULL } };
    for (int k = 0; k < 2; k++) {
        eddy_session *s = eddy_session_new(g, .without = k == 1 ? EDDY_PASS_FUSE : 0);
        three_steps(s, step, also, a, b, value[k]);
        eddy_session_free(s);
    }
    for (int i = 0; i < 3; i++) {
        ck_assert(eddy_array_equal(value[0][i], value[1][i]));
        eddy_array_free(value[0][i]);
        eddy_array_free(value[1][i]);
    }
}
END_TEST

/* After an update that fails, variables updated before it keep their new values, and no others. */
START_TEST(update_without_a_value)
{
    eddy_tensor zero = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(4)), one = Add(Exp(zero), 0);
    eddy_tensor a = eddy_variable(g, zero), b = eddy_variable(g, zero, .name = "b");
    eddy_tensor c = eddy_variable(g, zero);
    eddy_tensor p = eddy_placeholder(g, "p", EDDY_FLOAT32, EDDY_SHAPE(4)), q = Add(p, one);
    eddy_tensor first = eddy_assign(a, q), second = eddy_assign_add(b, Mul(q, 2));
    eddy_tensor third = eddy_assign(c, Mul(q, 3)),
                all = eddy_group(g, EDDY_LIST(first, second, third), NULL);
    eddy_tensor again =
        eddy_group(g, EDDY_LIST(eddy_assign(b, q), eddy_assign_add(b, Mul(q, 2))), NULL);
    eddy_array *fed = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(4));
    for (int k = 0; k < 2; k++) {
        eddy_session *s = eddy_session_new(g, .without = k == 1 ? EDDY_PASS_FUSE : 0);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ p, fed }), EDDY_FETCH(all), NULL),
                         EDDY_UNINITIALIZED);
        ck_assert_ptr_nonnull(
            strstr(eddy_session_message(s), "Attempting to use uninitialized value b"));
        has(s, a, 4, (double[]){ 1, 1, 1, 1 });
        ck_assert_ptr_null(eddy_fetch(s, c));
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ p, fed }), EDDY_FETCH(again), NULL), EDDY_OK);
        has(s, b, 4, (double[]){ 3, 3, 3, 3 });
        eddy_session_free(s);
    }
    eddy_array_free(fed);
}
END_TEST

/* The same as the first part of a loop over memory, which prefetches a share of the next tile in
 * each part that it runs: here in none, and UBSan reports a division by their number. */
START_TEST(long_update_without_a_value)
{
    const eddy_shape  of = EDDY_SHAPE(3000000);
    const eddy_tensor zero = eddy_zeros(g, EDDY_FLOAT32, of);
    const eddy_tensor b = eddy_variable(g, zero, .name = "b");
    const eddy_tensor c = eddy_variable(g, zero, .name = "c");
    const eddy_tensor p = eddy_placeholder(g, "p", EDDY_FLOAT32, of);
    const eddy_tensor all =
        eddy_group(g, EDDY_LIST(eddy_assign_add(b, p), eddy_assign_add(c, p)), NULL);
    eddy_array   *fed = eddy_array_new(EDDY_FLOAT32, of);
    eddy_session *s = eddy_session_new(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ p, fed }), EDDY_FETCH(all), NULL), EDDY_UNINITIALIZED);
    eddy_session_free(s);
    eddy_array_free(fed);
}
END_TEST

/* A division that fails leaves variables alone: integers do not join updates. */
START_TEST(update_behind_a_division)
{
    int32_t     zeros[3000] = { 0 };
    eddy_tensor v = eddy_variable(g, eddy_ones(g, EDDY_INT32, EDDY_SHAPE(3000)));
    eddy_tensor p = eddy_placeholder(g, "p", EDDY_INT32, EDDY_SHAPE(3000));
    eddy_tensor t = eddy_assign(v, eddy_floordiv(Add(v, 1), p));
    eddy_session *s = eddy_session_new(g);
    for (int i = 0; i < 2999; i++) zeros[i] = 1;
    eddy_array *a = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(3000), zeros);
    runs(s, eddy_initializer(g));
    ck_assert_int_ne(eddy_run(s, EDDY_FEED({ p, a }), EDDY_FETCH(t), NULL), EDDY_OK);
    ck_assert_double_eq(number(s, Sum(v)), 3000);
    eddy_array_free(a);
    eddy_session_free(s);
}
END_TEST

/* float16 has no inner loops; its variables are assigned all the same. */
START_TEST(types_without_loops)
{
    static const eddy_dtype types[] = { EDDY_FLOAT16, EDDY_BFLOAT16, EDDY_BOOL, EDDY_UINT8,
                                        EDDY_COMPLEX64 };
    enum { TYPES = sizeof types / sizeof *types };
    for (int i = 0; i < 2 * TYPES; i++)
        eddy_variable(g, eddy_zeros(g, types[i / 2], EDDY_SHAPE(3, 2)));
    fits(g);
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    eddy_session_free(s);
}
END_TEST

/* Elements of tiles that are asked for ahead: the same bits, to the end of each operand. */
START_TEST(long_operands)
{
    eddy_plan_info plain;
    for (int64_t more = 0; more < 3; more++) {
        const int64_t     rows = 600 + 31 * more, columns = 997;
        const eddy_tensor x = numbers(rows, columns), y = numbers(rows, columns);
        const eddy_tensor z = Mul(Add(x, y), Sub(x, Mul(y, y)));
        ck_assert_int_eq(both_ways(Add(z, numbers(1, columns)), &plain).instructions, 1);
    }
}
END_TEST

START_TEST(errors)
{
    int32_t     v[3000];
    eddy_tensor x, y;
    for (int i = 0; i < 3000; i++) v[i] = i < 2999;
    x = eddy_const(g, EDDY_INT32, EDDY_SHAPE(3000), v);
    eddy_tensor p = eddy_placeholder(g, "p", EDDY_INT32, EDDY_SHAPE(3000));
    y = eddy_named("first", eddy_floordiv(Add(p, 1), p));
    y = eddy_named("second", eddy_floordiv(y, Sub(p, 1)));
    eddy_array *a = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(3000), v), *out = NULL;
    for (int k = 0; k < 2; k++) {
        eddy_session *s = eddy_session_new(g, .without = k == 1 ? EDDY_PASS_FUSE : 0);
        ck_assert_int_ne(eddy_run(s, EDDY_FEED({ p, a }), EDDY_FETCH(y), &out), EDDY_OK);
        ck_assert_ptr_nonnull(strstr(eddy_session_message(s), "[node 'first']"));
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(Mul(x, Add(x, 1))), &out), EDDY_OK);
        eddy_session_free(s);
    }
    eddy_array_free(a);
    eddy_array_free(out);
}
END_TEST

/* Equal numbers, with equal signs of zeros, or no numbers. */
static bool same(double a, double b)
{
    return a != a ? b != b : a == b && signbit(a) == signbit(b);
}

/* Chains in one loop have the values of several, also for zeros of both signs and for NaN. */
START_TEST(chains)
{
    const double      v[] = { 0, -0.0, 1, -2, INFINITY, NAN };
    const eddy_tensor a = eddy_placeholder(g, "a", EDDY_FLOAT64, EDDY_SHAPE(6, 1));
    const eddy_tensor b = eddy_placeholder(g, "b", EDDY_FLOAT64, EDDY_SHAPE(1, 6));
    const eddy_tensor ab = Mul(a, b), sum = Add(a, b);
    const struct { eddy_tensor y; int instructions; } all[] = {
        { Maximum(ab, b), 1 }, { Maximum(b, ab), 2 }, { Minimum(ab, b), 1 }, { Minimum(b, ab), 2 },
        { Sub(b, Maximum(a, b)), 1 }, { Minimum(Maximum(a, b), 1), 1 },
        { Minimum(1, Maximum(a, b)), 2 }, { Maximum(Minimum(ab, b), a), 1 },
        { Neg(Sqrt(Square(Sub(ab, b)))), 1 }, { Sub(1, Div(a, Mul(2, sum))), 1 },
        { Mul(sum, Sub(ab, b)), 2 }, { Div(Mul(Sub(Mul(sum, 2), 3), 5), b), 1 },
        { Div(Mul(Sub(Mul(sum, 2), 3), 5), 7), 2 },                             /* operands */
        { Sqrt(Neg(Sqrt(Neg(Sqrt(Neg(Square(sum))))))), 2 },                    /* steps */
        { Add(Square(a), ab), 2 }, { Sub(ab, Square(sum)), 1 }, { Sub(Square(sum), ab), 1 },
        { Add(ab, Sqrt(sum)), 1 }, { Div(ab, Sqrt(sum)), 1 }, { Mul(ab, Sqrt(sum)), 2 },
        { Where(Less(a, b), 1, b), 1 }, { Where(Greater(a, b), 1, b), 1 },
        { Where(LessEqual(a, b), 1, b), 1 }, { Where(GreaterEqual(a, b), 1, b), 1 },
        { Where(Equal(a, b), 1, b), 1 }, { Where(NotEqual(a, b), 1, b), 1 },
        { Where(Less(b, 0), sum, 1), 3 },               /* the comparison is smaller */
    };
    eddy_array *in[] = { eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(6, 1), v),
                         eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(1, 6), v) };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        eddy_array *out[2] = { NULL };
        for (int k = 0; k < 2; k++) {
            eddy_session *s =
                eddy_session_new(g, .without = EDDY_PASS_FUSE | (k ? EDDY_PASS_CHAINS : 0));
            ck_assert_int_eq(eddy_run(s, EDDY_FEED({ a, in[0] }, { b, in[1] }),
                                      EDDY_FETCH(all[i].y), &out[k]), EDDY_OK);
            if (k == 0)
                ck_assert_msg(eddy_session_plan_info(s).instructions == all[i].instructions,
                              "%zu: %d", i, eddy_session_plan_info(s).instructions);
            eddy_session_free(s);
        }
        for (int64_t j = 0; j < 36; j++)
            ck_assert_msg(same(eddy_array_get(out[0], j), eddy_array_get(out[1], j)),
                          "%zu [%lld]: %g and %g", i, (long long)j, eddy_array_get(out[0], j),
                          eddy_array_get(out[1], j));
        eddy_array_free(out[0]), eddy_array_free(out[1]);
    }
    eddy_array_free(in[0]), eddy_array_free(in[1]);
}
END_TEST

Suite *fuse_suite(void)
{
    Suite *suite = suite_create("fuse");
    TCase *c = tcase_create("fuse");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, a_chain);
    tcase_add_test(c, broadcasting);
    tcase_add_test(c, values_read_elsewhere);
    tcase_add_test(c, updates);
    tcase_add_loop_test(c, assigned_values, 0, KINDS);
    tcase_add_test(c, update_without_a_value);
    tcase_add_test(c, long_update_without_a_value);
    tcase_add_test(c, update_behind_a_division);
    tcase_add_test(c, types_without_loops);
    tcase_add_test(c, long_operands);
    tcase_add_test(c, errors);
    tcase_add_test(c, chains);
    suite_add_tcase(suite, c);
    return suite;
}
