/* test_by_value_calls.c -- calls of control flow, solvers, layers, optimizers, gradient checks
 * and checkpoints with what no macro makes: lists with a count and no elements, tensors of another
 * graph and of none, missing functions and functions that count wrongly, ranks of 100 and -7,
 * structs of zeros. Each is an error. */
#include "tests/lib/checks.h"

#include "build/gen/suites.h"

#include <limits.h>
#include <stdio.h>

static eddy_graph   *g, *other;
static eddy_session *s;
static eddy_tensor   x, y, h, foreign, tokens, yes;     /* y = sum(x^2), h: a state [1, 2] */
static eddy_tensor   room[EDDY_MAX_RESULTS], more[EDDY_MAX_RESULTS];

static void begin(void)
{
    g = eddy_graph_new();
    other = eddy_graph_new();
    s = eddy_session_new(g);
    x = eddy_variable(g, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2)));
    y = Sum(Square(x));
    h = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(1, 2));
    tokens = eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(1));
    yes = eddy_number(g, EDDY_BOOL, 1);
    foreign = eddy_ones(other, EDDY_FLOAT32, EDDY_SHAPE(2));
    runs(s, eddy_initializer(g));
}

static void end(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
    eddy_graph_free(other);
}

/* The call before has failed, or an error is on the graph, which is cleared. */
static void refused(const char *what, bool failed)
{
    const bool recorded = eddy_graph_status(g) != EDDY_OK;
    ck_assert_msg(failed || recorded, "%s takes it", what);
    if (recorded) ck_assert_str_ne(eddy_graph_message(g), "");
    eddy_graph_clear_error(g);
    eddy_graph_clear_error(other);
}

/* ------------------------------------------------------------------- functions -- */

static int same(eddy_list in, eddy_tensor *out, void *context)
{
    (void)context;
    out[0] = in.count > 0 ? in.at[0] : y;
    return 1;
}

static int first_state(eddy_list in, eddy_tensor *out, void *context)
{
    (void)context;
    for (int i = 1; i < in.count; i++) out[i - 1] = in.at[i];
    return in.count - 1;
}

static int too_many(eddy_list in, eddy_tensor *out, void *context)
{
    (void)in, (void)out, (void)context;
    return INT_MAX;
}

static int negative(eddy_list in, eddy_tensor *out, void *context)
{
    (void)in, (void)out, (void)context;
    return INT_MIN;
}

static int of_another_graph(eddy_list in, eddy_tensor *out, void *context)
{
    (void)in, (void)context;
    out[0] = foreign;
    return 1;
}

static const eddy_function itself = { .build = same };
static const eddy_function bad_functions[] = {
    { .build = NULL }, { .build = too_many }, { .build = negative }, { .build = of_another_graph },
};
enum { FUNCTIONS = sizeof bad_functions / sizeof *bad_functions };

/* ----------------------------------------------------------------------- calls -- */

/* Which argument is wrong: a list, a function, or both as given. */
typedef struct wrong {
    eddy_list     list;
    eddy_function f;
    bool          of_function;
} wrong;

static eddy_list list_or(const wrong *w, eddy_list good) { return w->of_function ? good : w->list; }

static void control(const wrong *w)
{
    const eddy_list     xs = EDDY_LIST(x);
    const eddy_function f = w->of_function ? w->f : itself, both[2] = { f, f };
    const eddy_tensor   preds[2] = { yes, yes }, index = eddy_number(g, EDDY_INT32, 0);
    refused("switch_case", eddy_switch_case(.branch_index = index, .branches = both, .count = 2,
                                            .out = room, .x = list_or(w, xs)) <= 0);
    refused("case", eddy_case(.preds = preds, .fns = both, .count = 2, .out = room,
                              .x = list_or(w, xs)) <= 0);
    refused("odeint", eddy_odeint(.f = f, .y0 = list_or(w, xs), .out = room,
                                  .t = x) <= 0);
    refused("implicit_gradients",
            eddy_implicit_gradients(.f = f, .x = list_or(w, xs), .gradients = room,
                                    .variables = more, .room = 4) <= 0);
    /* Arguments that are all of another graph make gradients there. */
    const bool elsewhere = !w->of_function && w->list.at && w->list.at[0].graph == other;
    refused("gradients_function",
            eddy_gradients_function(.f = f, .x = list_or(w, xs), .out = room) <= 0 || elsewhere);
    refused("conjugate_gradient",
            eddy_conjugate_gradient(.a = f, .b = list_or(w, xs), .out = room) <= 0 || elsewhere);
    refused("gmres", eddy_gmres(.a = f, .b = list_or(w, xs), .out = room) <= 0 || elsewhere);
    refused("lanczos", eddy_lanczos(.a = f, .v0 = list_or(w, xs), .out = room) <= 0 || elsewhere);
}

static void solvers(const wrong *w)
{
    if (w->of_function) return;
    const eddy_list ys = EDDY_LIST(y), xs = EDDY_LIST(x);
    refused("gauss_newton z", eddy_gauss_newton_vector_product(y, .z = w->list, .xs = xs, .vs = xs,
                                                               .out = room) != EDDY_OK);
    refused("gauss_newton xs", eddy_gauss_newton_vector_product(y, .z = ys, .xs = w->list, .vs = xs,
                                                                .out = room) != EDDY_OK);
    /* An invalid v stands for zeros. */
    if (!w->list.at || eddy_is_valid(w->list.at[0]))
        refused("gauss_newton vs",
                eddy_gauss_newton_vector_product(y, .z = ys, .xs = xs, .vs = w->list,
                                                 .out = room) != EDDY_OK);
    refused("implicit dy", eddy_implicit_gradients(.f = itself, .x = xs, .gradients = room,
                                                   .variables = more, .room = 4,
                                                   .dy = w->list) <= 0);
    if (!w->list.at || eddy_is_valid(w->list.at[0]))
        refused("gradients_function dy",
            eddy_gradients_function(.f = itself, .x = xs, .out = room, .dy = w->list) <= 0);
    eddy_gradient_report report;
    refused("check ys", eddy_gradient_check(s, w->list, xs, .report = &report) != EDDY_OK);
    eddy_string_free(report.text);
    refused("check xs", eddy_gradient_check(s, ys, w->list, .report = &report) != EDDY_OK);
    eddy_string_free(report.text);
    if (!w->list.at)
        refused("dynamic_stitch", !eddy_is_valid(eddy_dynamic_stitch(w->list, w->list)));
    refused("lbfgs", eddy_minimize_lbfgs(s, y, .var_list = w->list) != EDDY_OK);
    refused("lbfgs gradients",
            eddy_minimize_lbfgs(s, y, .var_list = xs, .gradients = w->list) != EDDY_OK);
    refused("lbfgs lower",
            eddy_minimize_lbfgs(s, y, .var_list = xs, .lower = w->list) != EDDY_OK);
    refused("newton_cg", eddy_newton_cg(s, y, .var_list = w->list) != EDDY_OK);
    refused("least_squares", eddy_least_squares(s, w->list, .var_list = xs) != EDDY_OK);
    refused("save", eddy_save_checkpoint(s, "build/by_value_calls.safetensors",
                                         .variables = w->list) != EDDY_OK);
    refused("restore", eddy_restore_checkpoint(s, "build/by_value_calls.safetensors",
                                               .variables = w->list) != EDDY_OK);
}

static void layers(const wrong *w)
{
    const eddy_function f = w->of_function ? w->f : (eddy_function){ .build = first_state };
    const eddy_list     states = list_or(w, EDDY_LIST(h));
    const eddy_rnn_cell good = eddy_basic_rnn_cell(g, 2);
    const eddy_tensor   steps = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(1, 3, 2));
    refused("beam_search", !eddy_is_valid(eddy_beam_search(.f = f, .initial_state = states,
                                                           .start_tokens = tokens, .end_token = 1,
                                                           .beam_width = 2, .steps = 2).ids));
    refused("generate", !eddy_is_valid(eddy_generate(.f = f, .initial_state = states,
                                                     .start_tokens = tokens, .steps = 2).ids));
    const eddy_rnn_state state = { .shape = EDDY_SHAPE(2) };
    const eddy_rnn_cell  own = { .f = f, .n_state = 1, .state = &state, .output = EDDY_SHAPE(2) },
                         cell = w->of_function ? own : good;
    refused("static_rnn", eddy_static_rnn(cell, list_or(w, EDDY_LIST(h)), room) <= 0);
    refused("static_rnn state",
            w->of_function || eddy_static_rnn(good, EDDY_LIST(h), room, more,
                                              .initial_state = w->list) <= 0);
    refused("bidirectional", !eddy_is_valid(eddy_bidirectional_dynamic_rnn(
                                                cell, good, steps, room, more,
                                                .initial_state_fw = list_or(w, EDDY_LIST(h, h)))
                                                .fw));
}

static void optimizers(const wrong *w)
{
    if (w->of_function) return;
    eddy_gradient_pair pairs[4];
    eddy_optimizer    *o = eddy_gradient_descent(g, eddy_scalar(g, 0.1));
    refused("sharpness_aware",
            eddy_sharpness_aware_gradients(o, y, pairs, 4, .var_list = w->list) <= 0);
    const eddy_optimizer_part part = { .optimizer = o, .variables = w->list };
    refused("multi_optimizer", eddy_multi_optimizer(&part, 1) == NULL);
    eddy_averages *a = eddy_stochastic_weight_average(g);
    refused("averages_apply", !eddy_is_valid(eddy_averages_apply(a, w->list)));
}

static void all_refuse(const wrong *w)
{
    control(w);
    solvers(w);
    layers(w);
    optimizers(w);
    runs(s, y);
}

/* ---------------------------------------------------------------------- values -- */

static const struct { int count; int kind; } lists[] = {      /* 0: no elements, 1: x, 2: foreign */
    { -1, 0 }, { -1, 1 }, { INT_MIN, 1 }, { 2, 0 }, { INT_MAX, 0 }, { 1, 2 }, { 2, 2 }, { 1, 3 },
    { 1, 4 },
};

START_TEST(of_lists)
{
    const eddy_tensor nothing = { NULL, 0, 0 }, absent = { g, 1 << 20, 3 };
    const eddy_tensor by_kind[] = { x, x, foreign, nothing, absent };
    const eddy_tensor at[2] = { by_kind[lists[_i].kind], by_kind[lists[_i].kind] };
    const wrong       w = { .list = { lists[_i].count, lists[_i].kind ? at : NULL } };
    all_refuse(&w);
}
END_TEST

START_TEST(of_functions)
{
    const wrong w = { .f = bad_functions[_i], .of_function = true };
    all_refuse(&w);
}
END_TEST

/* Nothing but zeros, which is also what was never set. */
START_TEST(of_zeros)
{
#define ZEROS(type) (&(type){ .size_ = sizeof(type) })
    ck_assert_int_ne(eddy_minimize_lbfgs_with(ZEROS(eddy_minimize_lbfgs_args)), EDDY_OK);
    ck_assert_int_ne(eddy_gradient_check_with(ZEROS(eddy_gradient_check_args)), EDDY_OK);
    ck_assert_int_le(eddy_static_rnn_with(ZEROS(eddy_static_rnn_args)), 0);
    ck_assert(!eddy_is_valid(
        eddy_bidirectional_dynamic_rnn_with(ZEROS(eddy_bidirectional_dynamic_rnn_args)).fw));
    ck_assert(!eddy_is_valid(eddy_beam_search_with(ZEROS(eddy_beam_search_args)).ids));
    ck_assert(!eddy_is_valid(eddy_generate_with(ZEROS(eddy_generate_args)).ids));
    ck_assert(!eddy_is_valid(eddy_averages_apply(NULL, EDDY_LIST(x))));
    fails(g, EDDY_INVALID_ARGUMENT, "NULL");
    ck_assert_int_le(eddy_sharpness_aware_gradients_with(ZEROS(eddy_sharpness_aware_args)), 0);
    ck_assert_int_le(eddy_switch_case_with(ZEROS(eddy_switch_case_args)), 0);
    ck_assert_int_le(eddy_case_with(ZEROS(eddy_case_args)), 0);
    ck_assert_int_le(eddy_odeint_with(ZEROS(eddy_odeint_args)), 0);
    ck_assert_int_ne(eddy_gauss_newton_vector_product_with(ZEROS(eddy_gauss_newton_args)), EDDY_OK);
    ck_assert_int_le(eddy_implicit_gradients_with(ZEROS(eddy_implicit_args)), 0);
    ck_assert_int_le(eddy_gradients_function_with(ZEROS(eddy_function_args)), 0);
    ck_assert_int_ne(eddy_save_checkpoint_with(ZEROS(eddy_save_checkpoint_args)), EDDY_OK);
    ck_assert_int_ne(eddy_restore_checkpoint_with(ZEROS(eddy_restore_checkpoint_args)), EDDY_OK);
    runs(s, y);
}
END_TEST

/* Counts and shapes that no struct holds. */
START_TEST(of_counts)
{
    static const int    counts[] = { -7, 0, INT_MIN, INT_MAX };
    const int           n = counts[_i];
    const eddy_list     xs = EDDY_LIST(x);
    eddy_gradient_pair  pairs[1];
    eddy_optimizer     *o = eddy_gradient_descent(g, eddy_scalar(g, 0.1));
    const eddy_function two[2] = { itself, itself };
    const eddy_tensor   index = eddy_number(g, EDDY_INT32, 0);
    refused("switch_case without functions",
            eddy_switch_case(.branch_index = index, .count = n, .out = room, .x = xs) <= 0);
    refused("case without functions", eddy_case(.count = n, .out = room, .x = xs) <= 0);
    refused("functions without out", eddy_switch_case(.branch_index = index, .branches = two,
                                                      .count = n < 1 ? n : 2, .x = xs) <= 0);
    refused("pairs without room",
            eddy_sharpness_aware_gradients(o, y, n < 1 ? pairs : NULL, n) <= 0);
    refused("gradients without room",
            eddy_implicit_gradients(.f = itself, .x = xs, .room = n) <= 0);
    refused("beams",
            !eddy_is_valid(eddy_beam_search(.f = { .build = first_state },
                                            .initial_state = EDDY_LIST(h), .start_tokens = tokens,
                                            .beam_width = n < 1 ? n : 2, .steps = n < 1 ? n : -1)
                               .ids));
    const eddy_shape ranks[] = { { 100, { 0 } }, { -7, { 0 } } };
    for (int i = 0; i < 2; i++) {
        const eddy_tensor t = eddy_placeholder(g, NULL, EDDY_FLOAT32, ranks[i]);
        refused("odeint", eddy_odeint(.f = itself, .y0 = EDDY_LIST(t), .out = room, .t = x) <= 0);
    }
    runs(s, y);
}
END_TEST

/* Tools of operations without the context that they have in a call of the library. */
START_TEST(of_contexts)
{
    ck_assert(!eddy_is_valid(eddy_batch_input(NULL, 0)));
    eddy_batch_apply(NULL, NULL);
    eddy_batch_as_is(NULL);
    eddy_parallel(NULL, 5, 1, NULL, NULL);
    eddy_graph_block_end(NULL);
    eddy_graph_block_end(&(eddy_graph_block){ .graph = g });
    runs(s, y);
}
END_TEST

START_TEST(of_allocators)
{
    const eddy_allocator none = { 0 };
    ck_assert_ptr_null(eddy_array_new_in(&none, EDDY_FLOAT32, EDDY_SHAPE(2)));
    ck_assert_ptr_null(eddy_graph_new(.allocator = &none));
    ck_assert_ptr_null(eddy_extract(EDDY_LIST(y), .allocator = &none));
}
END_TEST

static int released;
static void count_release(void *object)
{
    (void)object;
    released++;
}

/* Whoever gives an object away never has to free it. */
START_TEST(of_owners)
{
    released = 0;
    ck_assert(!eddy_graph_own(NULL, &released, count_release) && released == 1);
    ck_assert(eddy_graph_own(other, &released, count_release) && released == 1);
    eddy_graph_free(other);
    ck_assert_int_eq(released, 2);
    ck_assert(!eddy_graph_own(other, &released, count_release) && released == 3);
}
END_TEST

static void clears(void *user, eddy_status status, const char *message)
{
    (void)user, (void)status, (void)message;
    eddy_graph_clear_error(g);
}

/* Calls rely on their errors, so a handler of errors cannot clear them. */
START_TEST(of_handlers)
{
    eddy_graph_on_error(g, clears, NULL);
    eddy_hessian_vector_product(y, EDDY_LIST(x), ((eddy_list){ 1, NULL }), room);
    fails(g, EDDY_INVALID_ARGUMENT, "at NULL");
    runs(s, y);
}
END_TEST

/* A struct that another version of the header ends within a pointer. */
START_TEST(of_sizes)
{
    for (size_t size = 0; size <= sizeof(eddy_metric_args); size++) {
        eddy_metric_args a = *EDDY_ARGS(eddy_metric_args, x, x);
        memset(&a.update, 0xa5, sizeof a.update);
        if (size >= offsetof(eddy_metric_args, update) + sizeof a.update) a.update = room;
        a.size_ = size;
        (void)eddy_metric_mean_squared_error_with(&a);
        eddy_graph_clear_error(g);
    }
    runs(s, y);
}
END_TEST

/* An absolute scope that no node could be in, in another one. */
START_TEST(of_scopes)
{
    eddy_scope_begin(g, "outer");
    eddy_scope_begin(g, "/");
    fails(g, EDDY_INVALID_ARGUMENT, "'/' is not a valid scope name");
    runs(s, eddy_scalar(g, 1));
    eddy_scope_end(g);
    eddy_scope_end(g);
}
END_TEST

/* No builder relies on the nodes that it asks for. */
START_TEST(of_finalized_graphs)
{
    eddy_graph_finalize(g);
    ck_assert(!eddy_is_valid(eddy_filter_logits(x, .top_k = 2, .temperature = 2)));
    fails(g, EDDY_FINALIZED, "finalized");
}
END_TEST

Suite *by_value_calls_suite(void)
{
    Suite *suite = suite_create("by_value_calls");
    TCase *c = tcase_create("values");
    tcase_add_checked_fixture(c, begin, end);
    tcase_add_loop_test(c, of_lists, 0, (int)(sizeof lists / sizeof *lists));
    tcase_add_loop_test(c, of_functions, 0, FUNCTIONS);
    tcase_add_test(c, of_zeros);
    tcase_add_loop_test(c, of_counts, 0, 4);
    tcase_add_test(c, of_contexts);
    tcase_add_test(c, of_allocators);
    tcase_add_test(c, of_owners);
    tcase_add_test(c, of_handlers);
    tcase_add_test(c, of_sizes);
    tcase_add_test(c, of_scopes);
    tcase_add_test(c, of_finalized_graphs);
    suite_add_tcase(suite, c);
    return suite;
}
