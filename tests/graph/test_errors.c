/* test_errors.c -- functions of graphs, optimizers and sessions with handles that are NULL, freed
 * or foreign; the messages for common mistakes. */
#include "tests/lib/golden.h"

Suite *errors_suite(void);

static void of_graph(eddy_graph *g, eddy_tensor t)
{
    char        buf[8];
    eddy_error  e = { 0 };
    eddy_tensor out[2] = { EDDY_ZERO_TENSOR };
    ck_assert_int_eq(eddy_graph_status(g), EDDY_INVALID_ARGUMENT);
    ck_assert_str_eq(eddy_graph_message(g), "not a graph");
    eddy_graph_clear_error(g);
    eddy_graph_on_error(g, NULL, NULL);
    eddy_graph_set_seed(g, 1);
    eddy_graph_finalize(g);
    ck_assert(eddy_graph_seed(g) == 0 && eddy_graph_size(g) == 0 && !eddy_graph_is_finalized(g));
    ck_assert_str_eq(eddy_unique_name(g, "a", true, buf, sizeof buf), "");
    eddy_unique_name(g, NULL, true, NULL, 0);
    eddy_scope_begin(g, "a");
    eddy_scope_end(g);
    eddy_control_begin(g, EDDY_LIST(t));
    eddy_control_clear(g);
    eddy_control_end(g);
    eddy_device_begin(g, "/cpu:0");
    eddy_device_end(g);
    ck_assert_str_eq(eddy_scope_name(g), "");
    ck_assert(!eddy_is_valid(eddy_graph_tensor(g, "a:0")) &&
              !eddy_is_valid(eddy_graph_operation(g, "a")));
    ck_assert(!eddy_graph_has(g, "a") && !eddy_graph_has(g, NULL));
    ck_assert(!eddy_is_valid(eddy_node_at(g, 1)) && !eddy_is_valid(eddy_collection_at(g, "a", 0)));
    eddy_collection_add(g, "a", t);
    eddy_collections_add(g, NULL, 3, t);
    eddy_collection_clear(g, "a");
    ck_assert(eddy_collection_size(g, "a") == 0 && !eddy_collection_has(g, "a", t));
    ck_assert_int_eq(eddy_collection_get(g, NULL, NULL, NULL, -1), 0);
    ck_assert_ptr_null(eddy_graph_to_text(g));
    ck_assert_ptr_null(eddy_graph_to_dot(g));
    ck_assert_ptr_null(eddy_graph_to_yaml(g));
    ck_assert_int_ne(eddy_graph_save(g, "x", &e), EDDY_OK);
    ck_assert_ptr_null(eddy_session_new(g));
    ck_assert(!eddy_graph_own(g, buf, NULL));
    ck_assert(!eddy_is_valid(eddy_fail(g, EDDY_INTERNAL, "%s", "x")));
    ck_assert_ptr_null(eddy_optimizer_new(g, NULL, NULL, NULL));
    ck_assert_int_ne(eddy_hessians(t, EDDY_LIST(t), out), EDDY_OK);
    ck_assert_int_ne(eddy_hessian_vector_product(t, EDDY_LIST(t), EDDY_LIST(t), out), EDDY_OK);
    eddy_graph_free(g);
    eddy_string_free(NULL);
}

static void of_tensor(eddy_tensor t)
{
    ck_assert(!eddy_is_valid(t) && eddy_dtype_of(t) == EDDY_DEFAULT_DTYPE &&
              eddy_shape_of(t).rank < 0);
    ck_assert_str_eq(eddy_name_of(t), "");
    ck_assert_str_eq(eddy_type_of(t), "");
    ck_assert_str_eq(eddy_device_of(t), "");
    ck_assert(eddy_outputs_of(t) == 0 && eddy_inputs_of(t) == 0 && eddy_controls_of(t) == 0);
    ck_assert(!eddy_is_valid(eddy_output(t, 0)) && !eddy_is_valid(eddy_input(t, 0)) &&
              !eddy_is_valid(eddy_control(t, 0)));
    ck_assert(!eddy_is_valid(eddy_set_shape(t, EDDY_SHAPE(1))) &&
              !eddy_is_valid(eddy_named("a", t)));
    ck_assert_ptr_null(eddy_constant_value(t));
    ck_assert_ptr_null(eddy_node_of(t));
}

START_TEST(no_graph)
{
    eddy_graph *gone = eddy_graph_new();
    eddy_tensor t = eddy_scalar(gone, 1), none = EDDY_ZERO_TENSOR;
    eddy_graph_free(gone);
    of_graph(NULL, none);
    of_graph(gone, t);
    of_tensor(none);
    of_tensor(t);
    of_tensor((eddy_tensor){ .graph = NULL, .node = 5, .output = 5 });
}
END_TEST

/* The tensors of a freed graph are not those of a graph that is made afterwards. */
START_TEST(no_graph_at_its_address)
{
    enum { LATER = 8 };
    eddy_graph *gone = eddy_graph_new(), *later[LATER];
    eddy_tensor t = eddy_scalar(gone, 1);
    eddy_graph_free(gone);
    for (int i = 0; i < LATER; i++) {
        later[i] = eddy_graph_new();
        ck_assert(eddy_is_valid(eddy_scalar(later[i], 1)));
        ck_assert(!eddy_is_valid(t) && !eddy_is_valid(eddy_neg(t)));
        eddy_graph_free(later[i]);
    }
    ck_assert(later[0] != gone);
}
END_TEST

static void of_session(eddy_session *s, eddy_tensor t)
{
    ck_assert_int_eq(eddy_session_status(s), EDDY_INVALID_ARGUMENT);
    ck_assert_str_eq(eddy_session_message(s), "the session is NULL or has been freed");
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(t), NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_ptr_null(eddy_fetch(s, t));
    ck_assert_ptr_null(eddy_callable_new(s, EDDY_LIST(), EDDY_LIST(t)));
    ck_assert_ptr_null(eddy_variable_value(s, t));
    ck_assert_int_eq(eddy_variable_set(s, t, NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_save(s, "x", EDDY_LIST()), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_restore(s, "x", EDDY_LIST()), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_session_plan_info(s).plans, 0);
    eddy_session_close(s);
    eddy_session_free(s);
}

START_TEST(no_session)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   t = eddy_scalar(g, 1), v = eddy_variable(g, t);
    eddy_session *s = eddy_session_new(g);
    of_session(NULL, t);
    ck_assert_int_ne(eddy_run(s, (eddy_feeds){ 2, NULL }, EDDY_FETCH(t), NULL), EDDY_OK);
    ck_assert_int_ne(eddy_run(s, EDDY_FEED(), (eddy_list){ 2, NULL }, NULL), EDDY_OK);
    ck_assert_int_ne(eddy_run(s, EDDY_FEED(), (eddy_list){ -2, NULL }, NULL), EDDY_OK);
    ck_assert_ptr_null(eddy_callable_new(s, (eddy_list){ 2, NULL }, EDDY_LIST(t)));
    ck_assert_ptr_null(eddy_callable_new(s, EDDY_LIST(t), (eddy_list){ 2, NULL }));
    ck_assert_int_ne(eddy_save(s, "x", (eddy_list){ -1, NULL }), EDDY_OK);
    ck_assert_int_ne(eddy_restore(s, NULL, EDDY_LIST(v)), EDDY_OK);
    eddy_callable_free(NULL);
    ck_assert_int_eq(eddy_callable_run(NULL, NULL, NULL), EDDY_INVALID_ARGUMENT);
    eddy_session_free(s);
    of_session(s, t);
    eddy_graph_free(g);
}
END_TEST

START_TEST(no_optimizer)
{
    const eddy_tensor none = EDDY_ZERO_TENSOR;
    ck_assert_int_eq(eddy_compute_gradients(), 0);
    ck_assert(!eddy_is_valid(eddy_apply_gradients()) && !eddy_is_valid(eddy_minimize()));
    ck_assert(!eddy_is_valid(eddy_get_slot(NULL, none, "m")));
    ck_assert_int_eq(eddy_optimizer_variables(NULL, NULL, 0), 0);
    ck_assert_ptr_null(eddy_optimizer_state(NULL));
    ck_assert_ptr_null(eddy_optimizer_graph(NULL));
    ck_assert(!eddy_is_valid(eddy_make_slot(NULL, none, NULL, none)));
    ck_assert(!eddy_is_valid(eddy_make_shared_slot(NULL, NULL, none)) &&
              !eddy_is_valid(eddy_hyper(none, none)));
    eddy_optimizer_name(NULL);
}
END_TEST

static int any_function(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = x.at[0];
    return 1;
}
static void any_rule(eddy_rule *r) { r->dx[0] = r->dy[0]; }

/* Functions of autodiff with a tensor of no graph, of a freed one, and without lists. */
static void of_autodiff(eddy_tensor t)
{
    const eddy_function f = { .build = any_function };
    const eddy_list     no = { 0 }, one = EDDY_LIST(t), bad = { -1, NULL }, null = { 2, NULL };
    const eddy_list     lists[] = { no, one, bad, null };
    eddy_tensor         out[EDDY_MAX_RESULTS];
    for (int i = 0; i < 4; i++) {
        const eddy_list l = lists[i];
        ck_assert_int_eq(eddy_vmap(f, l, out), 0);
        ck_assert_int_eq(eddy_gradients_function(f, l, out), 0);
        ck_assert_int_eq(eddy_implicit_gradients(f, l, out, out, 1, .graph = t.graph), 0);
        ck_assert_int_ne(eddy_custom_gradient(l, l, out, any_rule), EDDY_OK);
        ck_assert_int_ne(eddy_recompute_grad(l, l, out), EDDY_OK);
        ck_assert_int_ne(eddy_jvp(l, l, l, out), EDDY_OK);
        ck_assert_int_ne(eddy_vjp(l, l, l, out), EDDY_OK);
        ck_assert_int_ne(eddy_hessian_vector_product(t, l, l, out), EDDY_OK);
        ck_assert_int_ne(eddy_gauss_newton_vector_product(t, l, l, l, out), EDDY_OK);
        ck_assert_int_ne(eddy_hessians(t, l, out), EDDY_OK);
        ck_assert_int_ne(eddy_jacobian(t, l, out), EDDY_OK);
        ck_assert_int_ne(eddy_gradient_check(NULL, l, l), EDDY_OK);
    }
    ck_assert(!eddy_is_valid(eddy_batch_jacobian(t, t)));
    ck_assert(!eddy_is_valid(eddy_hessian_diagonal(t, t)));
    ck_assert(!eddy_is_valid(eddy_grad_pass_through(t, t)));
    ck_assert(!eddy_is_valid(eddy_identity_n(one, 1)));
    ck_assert(!eddy_is_valid(eddy_example(t)) && !eddy_is_valid(eddy_basis_like(t)));
    ck_assert(!eddy_register_gradient(t.graph, "r", any_rule, NULL));
    ck_assert(!eddy_register_custom_gradient(t.graph, "r", any_rule, NULL));
    eddy_gradient_override_begin(t.graph, "Square", "r");
    eddy_gradient_override_end(t.graph);
    ck_assert_ptr_null(eddy_tape_new(t.graph));
    ck_assert_ptr_null(eddy_eval(t));
}

START_TEST(no_autodiff)
{
    eddy_graph       *gone = eddy_graph_new();
    const eddy_tensor t = eddy_scalar(gone, 1), none = EDDY_ZERO_TENSOR;
    eddy_graph_free(gone);
    of_autodiff(none);
    of_autodiff(t);
}
END_TEST

/* -------------------------------------------------------------- sentences -- */

static void shapes_and_types(eddy_graph *g, eddy_tensor a, eddy_tensor i)
{
    eddy_scope_begin(g, "model");
    eddy_scope_begin(g, "layer");
    MatMul(a, a), golden_graph(g);
    eddy_matmul(a, a, .name = "product"), golden_graph(g);
    eddy_scope_end(g);
    Add(a, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 4))), golden_graph(g);
    eddy_scope_end(g);
    Add(a, i), golden_graph(g);
    MatMul(a, i), golden_graph(g);
    MatMul(a, eddy_scalar(g, 1)), golden_graph(g);
    BiasAdd(a, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2))), golden_graph(g);
    Tanh(i), golden_graph(g);
    Less(a, i), golden_graph(g);
    LogicalAnd(a, a), golden_graph(g);
    Where(a, a, a), golden_graph(g);
    eddy_sum(a, EDDY_AXES(2)), golden_graph(g);
    eddy_sum(a, EDDY_AXES(0, 0)), golden_graph(g);
    eddy_reshape(a, EDDY_SHAPE(4, 2)), golden_graph(g);
    eddy_reshape(a, EDDY_SHAPE(-1, -1)), golden_graph(g);
    eddy_transpose(a, .perm = EDDY_DIMS(0, 0)), golden_graph(g);
    eddy_concat(EDDY_LIST(a, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(3, 3))), 1), golden_graph(g);
    eddy_stack(EDDY_LIST(a, eddy_scalar(g, 1)), 0), golden_graph(g);
    eddy_split(a, 2, 1), golden_graph(g);
    eddy_slice(a, EDDY_DIMS(0, 2), EDDY_DIMS(1, 2)), golden_graph(g);
    eddy_squeeze(a, EDDY_AXES(0)), golden_graph(g);
    eddy_expand_dims(a, 5), golden_graph(g);
    eddy_broadcast_to(a, EDDY_SHAPE(2, 4)), golden_graph(g);
    eddy_gather(a, a), golden_graph(g);
    eddy_add_n(EDDY_LIST(a, i), NULL), golden_graph(g);
}

static void handles_and_names(eddy_graph *g, eddy_graph *other, eddy_tensor a, eddy_tensor i)
{
    eddy_tensor v = eddy_variable(g, a, .name = "weights"), out;
    eddy_assign(a, a), golden_graph(g);
    eddy_assign(v, i), golden_graph(g);
    eddy_assign(v, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(3, 3))), golden_graph(g);
    eddy_variable(g, .name = "empty"), golden_graph(g);
    Add(a, eddy_named("stranger", eddy_scalar(other, 1))), golden_graph(g);
    eddy_add(a, (eddy_tensor){ .graph = g }), golden_graph(g);
    Add(a, eddy_no_op(g, "nothing")), golden_graph(g);
    eddy_output(a, 1), golden_graph(g);
    eddy_graph_tensor(g, "missing:0"), golden_graph(g);
    eddy_graph_tensor(g, "weights:1"), golden_graph(g);
    eddy_graph_tensor(g, "weights"), golden_graph(g);
    eddy_graph_operation(g, "missing"), golden_graph(g);
    eddy_no_op(g, "two words"), golden_graph(g);
    eddy_scope_begin(g, "_hidden"), golden_graph(g);
    eddy_scope_end(g);
    eddy_set_shape(a, EDDY_SHAPE(5)), golden_graph(g);
    eddy_placeholder(g, NULL, (eddy_dtype)77, EDDY_SCALAR), golden_graph(g);
    eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2), NULL), golden_graph(g);
    eddy_gradients(EDDY_LIST(a), EDDY_LIST(eddy_scalar(other, 1)), &out), golden_graph(g);
    eddy_gradient(eddy_prevent_gradient(a, "it is not smooth"), a), golden_graph(g);
    eddy_minimize(eddy_gradient_descent(g, eddy_scalar(g, 1)), Sum(a)), golden_graph(g);
    eddy_graph_finalize(g);
    Add(a, a), golden_graph(g);
}

START_TEST(messages)
{
    golden_begin("graph/errors");
    eddy_graph *g = eddy_graph_new(), *other = eddy_graph_new();
    eddy_tensor a = eddy_named("a", eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3)));
    eddy_tensor i = eddy_named("i", eddy_ones(g, EDDY_INT32, EDDY_SHAPE(2, 3)));
    shapes_and_types(g, a, i);
    handles_and_names(g, other, a, i);
    golden_end();
    eddy_graph_free(g);
    eddy_graph_free(other);
}
END_TEST

Suite *errors_suite(void)
{
    Suite *suite = suite_create("errors");
    TCase *c = tcase_create("errors");
    tcase_add_test(c, no_graph);
    tcase_add_test(c, no_graph_at_its_address);
    tcase_add_test(c, no_session);
    tcase_add_test(c, no_optimizer);
    tcase_add_test(c, no_autodiff);
    tcase_add_test(c, messages);
    suite_add_tcase(suite, c);
    return suite;
}
