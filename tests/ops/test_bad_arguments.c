/* test_bad_arguments.c -- arguments that no macro of the library creates: lists with a count but
 * without tensors, shapes of an impossible rank, tensors of a graph with an error. Every call
 * returns an error or a tensor. */
#include "tests/lib/checks.h"

Suite *bad_arguments_suite(void);

static eddy_graph *g;
static eddy_tensor x;

static void setup(void)
{
    g = eddy_graph_new();
    x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2, 3));
}
static void teardown(void) { eddy_graph_free(g); }

static void is_no_tensor(eddy_tensor y) { ck_assert(!eddy_is_valid(y)); }

START_TEST(lists_without_tensors)
{
    const eddy_list none = { 2, NULL };
    is_no_tensor(eddy_einsum("ij,jk->ik", none));
    is_no_tensor(eddy_add_n(none));
    is_no_tensor(eddy_concat(none, 0));
    is_no_tensor(eddy_stack(none));
    is_no_tensor(eddy_multi_dot(none));
    is_no_tensor(eddy_global_norm(none));
    is_no_tensor(eddy_meshgrid(none, true));
    is_no_tensor(eddy_identity_n(none, 2));
    is_no_tensor(eddy_slices_add(none));
    is_no_tensor(eddy_apply_regularization(none, 1, 1));
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    ck_assert(eddy_is_valid(eddy_polyval(none, x)));
    is_no_tensor(eddy_split_like(x, none, 0));
}
END_TEST

/* Each ends, also where a loop waits for the rank of a tensor that it builds. */
START_TEST(tensors_of_a_failed_graph)
{
    eddy_tensor v = eddy_placeholder(g, "v", EDDY_FLOAT64, EDDY_SHAPE(3));
    is_no_tensor(eddy_matmul(x, x));
    const eddy_status before = eddy_graph_status(g);
    ck_assert_int_ne(before, EDDY_OK);
    is_no_tensor(eddy_kron(v, x));
    is_no_tensor(eddy_kron(x, v));
    is_no_tensor(eddy_tensordot(x, x, 1));
    is_no_tensor(eddy_einsum("ij,ij->i", EDDY_LIST(x, x)));
    is_no_tensor(eddy_multi_dot(EDDY_LIST(x, v)));
    ck_assert_int_eq(eddy_graph_status(g), before);
}
END_TEST

START_TEST(shapes_of_rank_100)
{
    const eddy_shape shape = { .rank = 100 };
    eddy_tensor      image = eddy_placeholder(g, NULL, EDDY_FLOAT64, EDDY_SHAPE(1, 4, 4, 2));
    eddy_tensor      filter = eddy_placeholder(g, NULL, EDDY_FLOAT64, EDDY_SHAPE(3, 3, 2, 2));
    is_no_tensor(eddy_conv2d_transpose(image, filter, .output_shape = shape));
    ck_assert_int_eq(eddy_graph_status(g), EDDY_BAD_SHAPE);
    eddy_graph_clear_error(g);
    is_no_tensor(eddy_reshape(x, shape));
    eddy_graph_clear_error(g);
    is_no_tensor(eddy_broadcast_to(x, shape));
    eddy_graph_clear_error(g);
    is_no_tensor(eddy_zeros(g, EDDY_FLOAT32, shape));
    eddy_graph_clear_error(g);
    is_no_tensor(eddy_placeholder(g, NULL, EDDY_FLOAT32, shape));
    eddy_graph_clear_error(g);
    is_no_tensor(eddy_random_normal(g, shape));
}
END_TEST

/* Loops and branches: every call returns 0, no result. */
static int same(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    for (int i = 0; i < in.count; i++) y[i] = in.at[i];
    return in.count;
}

static void refused(int results)
{
    ck_assert_int_eq(results, 0);
    eddy_graph_clear_error(g);
}

START_TEST(loops_of_bad_arguments)
{
    const eddy_list     none = { 2, NULL }, negative = { -1, NULL };
    const eddy_function f = { .build = same }, missing = { .build = NULL };
    const eddy_shape    wild = { .rank = 100 };
    eddy_tensor         y[EDDY_MAX_RESULTS];
    refused(eddy_while_loop_with(NULL));
    refused(eddy_while_loop(f, f, none, y));
    refused(eddy_while_loop(f, f, negative, y));
    refused(eddy_while_loop(f, f, EDDY_LIST(x), NULL));
    refused(eddy_while_loop(f, missing, EDDY_LIST(x), y));
    refused(eddy_while_loop(f, f, EDDY_LIST(x), y, .shape_invariants = &wild));
    refused(eddy_iterate_with(NULL));
    refused(eddy_iterate(-5, f, EDDY_LIST(x), y));
    refused(eddy_iterate(2, f, none, y));
    refused(eddy_loop_with(NULL));
    refused(eddy_loop(f, EDDY_LIST(x), none, y));
    refused(eddy_loop(f, none, EDDY_LIST(x), y));
    refused(eddy_loop(f, EDDY_LIST(x), .out = y));
    refused(eddy_map_fn_with(NULL));
    refused(eddy_map_fn(f, none, y));
    refused(eddy_map_fn(f, EDDY_LIST(x), NULL));
    refused(eddy_scan_with(NULL));
    refused(eddy_scan(f, none, y));
    refused(eddy_foldl(f, EDDY_LIST(x), y, .initializer = none));
}
END_TEST

START_TEST(branches_of_bad_arguments)
{
    const eddy_list     none = { 2, NULL };
    const eddy_function f = { .build = same }, missing = { .build = NULL };
    const eddy_tensor   first = eddy_number(g, EDDY_INT32, 0);
    const eddy_tensor   pred = eddy_placeholder(g, "p", EDDY_BOOL, EDDY_SCALAR);
    eddy_tensor         y[EDDY_MAX_RESULTS];
    refused(eddy_cond_with(NULL));
    refused(eddy_cond(x, f, f, y));
    refused(eddy_cond(EDDY_NO_TENSOR, f, f, y));
    refused(eddy_cond(pred, f, f, y, none));
    refused(eddy_cond(pred, f, missing, y, EDDY_LIST(x)));
    refused(eddy_cond(pred, f, f, NULL, EDDY_LIST(x)));
    refused(eddy_switch_case_with(NULL));
    refused(eddy_switch_case(x, &f, 1, y));
    refused(eddy_switch_case(first, NULL, 3, y));
    refused(eddy_switch_case(first, &f, INT32_MAX, y));
    refused(eddy_case_with(NULL));
    refused(eddy_case(&pred, NULL, 1, y));
    refused(eddy_case(NULL, &f, 1, y));
    refused(eddy_case(&pred, &f, 0, y));
}
END_TEST

Suite *bad_arguments_suite(void)
{
    Suite *s = suite_create("bad_arguments");
    TCase *c = tcase_create("bad_arguments");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, lists_without_tensors);
    tcase_add_test(c, tensors_of_a_failed_graph);
    tcase_add_test(c, shapes_of_rank_100);
    tcase_add_test(c, loops_of_bad_arguments);
    tcase_add_test(c, branches_of_bad_arguments);
    suite_add_tcase(s, c);
    return s;
}
