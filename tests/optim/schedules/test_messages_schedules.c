/* test_messages_schedules.c -- error messages of schedules, averages, wrappers of optimizers and
 * clipping of lists. */
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"
#include "tests/lib/files/memory_files.h"

Suite *messages_schedules_suite(void);

static double zero(void *data, double x)
{
    (void)data, (void)x;
    return 0;
}

static void schedules(void)
{
    const eddy_tensor x = eddy_scalar(g, 1), i = eddy_number(g, EDDY_INT32, 1);
    const eddy_tensor rows = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2));
    const eddy_tensor yes = eddy_number(g, EDDY_BOOL, 1);
    eddy_cosine_decay(x), golden_graph(g);
    eddy_cosine_decay(x, x), golden_graph(g);
    eddy_cosine_decay(x, x, { .graph = g, .node = 999 }), golden_graph(g);
    eddy_cosine_decay(x, rows), golden_graph(g);
    eddy_cosine_decay(i, x), golden_graph(g);
    eddy_cosine_decay(x, yes), golden_graph(g);
    eddy_one_cycle(i, x), golden_graph(g);
    eddy_reduce_on_plateau(x), golden_graph(g);
    eddy_reduce_on_plateau(x, x, .cooldown = -1), golden_graph(g);
    eddy_piecewise_constant(i, EDDY_LIST(x), EDDY_LIST(x, x)), golden_graph(g);
    eddy_piecewise_constant(x, EDDY_LIST(x), EDDY_LIST(x, i)), golden_graph(g);
    eddy_piecewise_constant(x, EDDY_LIST(x), EDDY_LIST(x)), golden_graph(g);
    eddy_host_scalar(g), golden_graph(g);
    const eddy_op_def *host = eddy_node_of(eddy_host_scalar(g, zero))->op;
    const struct { double (*function)(void *, double); void *data; } attrs = { zero, NULL };
    eddy_apply1(host, &attrs, x), golden_graph(g);
    eddy_host_scalar(g, zero, .x = eddy_complex(x, x)), golden_graph(g);
}

static void averages(void)
{
    const eddy_tensor x = eddy_scalar(g, 1), i = eddy_number(g, EDDY_INT32, 1);
    const eddy_tensor rows = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2));
    const eddy_tensor open = eddy_placeholder(g, "open", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor v = eddy_variable(g, .initial_value = x, .name = "v");
    eddy_assign_moving_average(x, x, x), golden_graph(g);
    eddy_assign_moving_average(v), golden_graph(g);
    eddy_assign_moving_average(v, i, x), golden_graph(g);
    eddy_assign_moving_average(v, rows, x), golden_graph(g);
    eddy_weighted_moving_average(x, x), golden_graph(g);
    eddy_weighted_moving_average(i, x, x), golden_graph(g);
    eddy_weighted_moving_average(x, x, open), golden_graph(g);
    eddy_exponential_moving_average(g), golden_graph(g);
    eddy_exponential_moving_average(g, x, rows), golden_graph(g);
    eddy_exponential_moving_average(g, x, .name = "a/"), golden_graph(g);
    eddy_stochastic_weight_average(g, -1), golden_graph(g);
    eddy_averages *whole = eddy_stochastic_weight_average(g);
    eddy_averages_apply(whole, EDDY_LIST(v));
    const eddy_tensor late = eddy_variable(g, .initial_value = x, .name = "late");
    eddy_averages_apply(whole, EDDY_LIST(late)), golden_graph(g);
    eddy_averages *a = eddy_exponential_moving_average(g, x);
    eddy_averages_apply(NULL, EDDY_LIST(v)), golden_graph(g);
    eddy_graph *h = eddy_graph_new();
    eddy_averages_apply(eddy_exponential_moving_average(h, eddy_scalar(h, 1)), EDDY_LIST());
    golden_graph(h);
    eddy_graph_free(h);
    eddy_averages_apply(a, EDDY_LIST(v, { .graph = g, .node = 999 })), golden_graph(g);
    eddy_averages_apply(a, EDDY_LIST(v, i)), golden_graph(g);
    eddy_averages_apply(a, EDDY_LIST(v, open)), golden_graph(g);
}

static void wrappers(void)
{
    const eddy_tensor x = eddy_scalar(g, 1), w = eddy_variable(g, .initial_value = x, .name = "w");
    eddy_optimizer *o = eddy_gradient_descent(g, x);
    eddy_lookahead(NULL, .slow_step_size = x), golden_graph(g);
    eddy_lookahead(o, -1), golden_graph(g);
    eddy_accumulate_gradients(o), golden_graph(g);
    eddy_loss_scale(o, .increment_period = -1), golden_graph(g);
    eddy_loss_scale_of(o), golden_graph(g);
    eddy_skipped_steps(o), golden_graph(g);
    const eddy_optimizer_part part = { o, EDDY_LIST(x) };
    eddy_apply_gradients(eddy_multi_optimizer(&part, 1), &(eddy_gradient_pair){ x, w }, 1);
    golden_graph(g);
}

static void lists(void)
{
    const eddy_tensor x = eddy_scalar(g, 1), rows = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2));
    const eddy_tensor open = eddy_variable(g, .initial_value = x, .no_validate_shape = true,
                                           .name = "open_variable");
    eddy_gradient_pair p[] = { { x, open }, { { .graph = g, .node = 999 }, x } };
    eddy_clip_gradients_by_norm(p, 2, x), golden_graph(g);
    eddy_clip_gradients_by_norm(p, 1, EDDY_NO_TENSOR), golden_graph(g);
    eddy_clip_gradients_by_value(p, 1, x, rows), golden_graph(g);
    eddy_clip_gradients_adaptively(p, 1), golden_graph(g);
    p[0] = (eddy_gradient_pair){ x, { .graph = g } };
    eddy_clip_gradients_adaptively(p, 1), golden_graph(g);
    p[0] = (eddy_gradient_pair){ { .graph = g }, open };
    eddy_gradients_global_norm(p, 1), golden_graph(g);
}

START_TEST(messages)
{
    golden_begin("optim/schedules");
    schedules();
    averages();
    wrappers();
    lists();
    eddy_error e = { 0 };
    eddy_host_scalar(g, zero);
    eddy_graph_save(g, "build/host.yaml", &e);
    golden_error(&e);
    golden_end();
}
END_TEST

/* --------------------------------------------------------------- no memory -- */

static void take_error(eddy_graph *h, eddy_error *e)
{
    e->status = eddy_graph_status(h);
    snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(h));
    golden_forget_nodes(e);
    eddy_graph_free(h);
}

/* More averages than there is room for at first, all of their operations. */
static void averages_without_memory(failing_allocator *f, eddy_error *e)
{
    const long  at = f->at;
    eddy_tensor v[9];
    f->at = 0;
    eddy_graph *h = eddy_graph_new(.allocator = &f->table);
    for (int i = 0; i < 9; i++) v[i] = eddy_variable(h, .initial_value = eddy_scalar(h, 1));
    f->at = f->calls + at;
    eddy_averages *a = eddy_exponential_moving_average(h, eddy_scalar(h, 0.5));
    eddy_averages_apply(a, (eddy_list){ 9, v });
    eddy_averages_swap(a);
    eddy_averages_to_restore(a, NULL, 0);
    take_error(h, e);
}

static void wrappers_without_memory(failing_allocator *f, eddy_error *e)
{
    const long at = f->at;
    f->at = 0;
    eddy_graph *h = eddy_graph_new(.allocator = &f->table);
    eddy_tensor x = eddy_scalar(h, 1), v = eddy_variable(h, .initial_value = x);
    eddy_optimizer *inner = eddy_momentum(h, x, x);
    eddy_gradient_pair p = { x, v };
    f->at = f->calls + at;
    const eddy_optimizer_part part = { inner, EDDY_LIST() };
    eddy_clip_gradients_by_global_norm(&p, 1, x);
    eddy_optimizer *o = eddy_loss_scale(eddy_multi_optimizer(&part, 1));
    if (eddy_graph_status(h) == EDDY_OK) eddy_apply_gradients(o, &p, 1);
    take_error(h, e);
}

START_TEST(of_memory)
{
    golden_begin("optim/schedules_memory");
    golden_no_memory(averages_without_memory);
    golden_no_memory(wrappers_without_memory);
    golden_end();
}
END_TEST

Suite *messages_schedules_suite(void)
{
    Suite *suite = suite_create("messages_schedules");
    TCase *c = tcase_create("messages");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, messages);
    tcase_add_test(c, of_memory);
    suite_add_tcase(suite, c);
    return suite;
}
