/* test_liveness.c -- what a run executes and needs: fed tensors end it, shapes need no elements,
 * and an error names what is missing. */
#include "tests/lib/files/memory_files.h"
#include "tests/lib/session_fixture.h"

Suite *liveness_suite(void);

static eddy_tensor open(eddy_shape shape) { return eddy_placeholder(g, "p", EDDY_FLOAT32, shape); }

static void needs_p(eddy_tensor t)
{
    fits(g);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(t), NULL);
    run_fails(s, EDDY_NOT_FED, "You must feed a value for placeholder tensor 'p' with dtype");
}

/* Behind a tensor that is fed, nothing runs, be it fetched itself or read. */
START_TEST(fed_tensors)
{
    const eddy_tensor y = Square(open(EDDY_SHAPE(2))), z = Neg(y);
    eddy_array *v = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(2)), *out[2] = { NULL };
    eddy_array_set(v, 1, 3);
    fits(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ y, v }), EDDY_FETCH(y, z), out), EDDY_OK);
    ck_assert(eddy_array_get(out[0], 1) == 3 && eddy_array_get(out[1], 1) == -3);
    eddy_array_free(out[0]), eddy_array_free(out[1]);
    needs_p(y);
    eddy_array_free(v);
}
END_TEST

/* Where only a shape matters and is known, no elements are needed. */
START_TEST(known_shapes)
{
    const eddy_tensor p = open(EDDY_SHAPE(2, 3)), y = Square(p);
    const eddy_tensor wide = BroadcastLike(eddy_scalar(g, 5), y);
    is_number(Sum(wide), 30);
    is_number(Sum(ZerosLike(y)), 0);
    is_number(eddy_size(y, EDDY_INT32), 6);
    needs_p(Sum(y));
}
END_TEST

/* Where a shape is not known, the placeholder is named, also if it is the first node. */
START_TEST(unknown_shapes)
{
    const eddy_tensor p = open(EDDY_UNKNOWN_SHAPE);
    ck_assert_int_eq(p.node, 1);
    fits(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(p), NULL), EDDY_NOT_FED);
    run_fails(s, EDDY_NOT_FED, "placeholder tensor 'p' with dtype float32");
    needs_p(eddy_size(p, EDDY_INT32));
    needs_p(eddy_size(Square(p), EDDY_INT32));
    needs_p(BroadcastLike(eddy_scalar(g, 5), p));
    needs_p(BroadcastLike(eddy_scalar(g, 5), Neg(p)));
}
END_TEST

/* A variable of unknown shape without a value: an error if it is read, by the last node, too. */
START_TEST(variables_without_a_value)
{
    const eddy_tensor v = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2)), .name = "v",
                                        .no_validate_shape = true);
    const eddy_tensor y = Neg(v);
    ck_assert_int_eq(eddy_shape_of(v).rank, EDDY_UNKNOWN_RANK);
    fits(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), NULL), EDDY_UNINITIALIZED);
    run_fails(s, EDDY_UNINITIALIZED, "Attempting to use uninitialized value v");
    const eddy_tensor z = Add(eddy_scalar(g, 1), v);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(z), NULL), EDDY_UNINITIALIZED);
    runs(s, eddy_initializer(g));
    ck_assert(number(s, Sum(z)) == 2);
}
END_TEST

/* The list of the variables of a plan, and whatever else the plan takes, may find no memory. */
START_TEST(many_variables)
{
    enum { MANY = 1000 };
    failing_allocator f;
    eddy_tensor       v[MANY];
    eddy_array       *sum = NULL;
    eddy_status       status = EDDY_NO_MEMORY;
    int               failed = 0;
    failing_allocator_init(&f);
    eddy_graph *h = eddy_graph_new(.allocator = &f.table);
    for (int i = 0; i < MANY; i++) v[i] = eddy_variable(h, eddy_scalar(h, i));
    const eddy_tensor y = eddy_add_n((eddy_list){ MANY, v });
    eddy_session     *t = eddy_session_new(h);
    runs(t, eddy_initializer(h));
    for (; status == EDDY_NO_MEMORY; failed++) {
        f.at = f.calls + 1 + failed;
        status = eddy_run(t, EDDY_FEED(), EDDY_FETCH(y), &sum);
    }
    ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(t));
    ck_assert(eddy_array_item(sum) == MANY * (MANY - 1) / 2 && failed > 20);
    eddy_array_free(sum);
    eddy_session_free(t);
    eddy_graph_free(h);
    ck_assert_int_eq(f.live, 0);
}
END_TEST

Suite *liveness_suite(void)
{
    Suite *suite = suite_create("liveness");
    TCase *c = tcase_create("liveness");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, fed_tensors);
    tcase_add_test(c, known_shapes);
    tcase_add_test(c, unknown_shapes);
    tcase_add_test(c, variables_without_a_value);
    tcase_add_test(c, many_variables);
    suite_add_tcase(suite, c);
    return suite;
}
