/* test_fuse.c -- elementwise instructions that become one: the same bits, less
 * memory, the same errors.  Every sweep row and random graph also runs both ways. */
#include "tests/core.h"

Suite *fuse_suite(void);

static eddy_graph *g;

static void setup(void) { g = eddy_graph_new(); }
static void teardown(void) { eddy_graph_free(g); }

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
    eddy_session  *s = eddy_session_new(g), *t = eddy_session_new(g, .no_fusion = true);
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

/* The first op that cannot is named, as without fusing, also when a later one
 * could not do an earlier element. */
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
        eddy_session *s = eddy_session_new(g, .no_fusion = k == 1);
        ck_assert_int_ne(eddy_run(s, EDDY_FEED({ p, a }), EDDY_FETCH(y), &out), EDDY_OK);
        ck_assert_ptr_nonnull(strstr(eddy_session_message(s), "[node 'first']"));
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(Mul(x, Add(x, 1))), &out), EDDY_OK);
        eddy_session_free(s);
    }
    eddy_array_free(a);
    eddy_array_free(out);
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
    tcase_add_test(c, errors);
    suite_add_tcase(suite, c);
    return suite;
}
