/* test_messages_optim.c -- error messages of the optimizers of tf.train, of constraints and of
 * losses given as functions, out-of-memory messages included. */
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"
#include "tests/lib/files/memory_files.h"

Suite *messages_optim_suite(void);

static eddy_tensor nothing(eddy_tensor value, void *context)
{
    (void)context;
    return (eddy_tensor){ .graph = value.graph };
}

static eddy_tensor doubled(eddy_tensor value, void *context)
{
    (void)context;
    return Mul(2, value);
}

static void making(void)
{
    const eddy_tensor lr = eddy_scalar(g, 1), stranger = { .graph = NULL, .node = 7, .output = 0 };
    const eddy_tensor steps = eddy_zeros(g, EDDY_INT64, EDDY_SHAPE(2));
    eddy_mixed_precision(g, EDDY_INT32), golden_graph(g);
    eddy_adagrad(g), golden_graph(g);
    eddy_adagrad(g, lr, 0), golden_graph(g);
    eddy_adagrad_da(g, lr), golden_graph(g);
    eddy_adagrad_da(g, lr, stranger), golden_graph(g);
    eddy_adagrad_da(g, lr, lr), golden_graph(g);
    eddy_adagrad_da(g, lr, steps), golden_graph(g);
    eddy_adadelta(g, .rho = steps), golden_graph(g);
    eddy_rmsprop(g, lr, .epsilon = steps), golden_graph(g);
    eddy_ftrl(g, lr, 1), golden_graph(g);
    eddy_ftrl(g, lr, .beta = -1), golden_graph(g);
    eddy_ftrl(g, lr, .accum_name = "two words"), golden_graph(g);
    eddy_proximal_gradient_descent(g, lr, -1), golden_graph(g);
    eddy_proximal_adagrad(g, lr, .l2_regularization_strength = -2), golden_graph(g);
}

static int two_losses(eddy_list none, eddy_tensor *y, void *graph)
{
    (void)none;
    y[0] = y[1] = eddy_scalar(graph, 1);
    return 2;
}

static void applying(void)
{
    eddy_optimizer *o = eddy_gradient_descent(g, eddy_scalar(g, 1));
    eddy_tensor v = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(3, 2)), .name = "v");
    eddy_tensor at = eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(1));
    eddy_tensor wide = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(1, 3));
    eddy_gradient_pair p = { eddy_indexed_slices_of(wide, at, EDDY_SHAPE(3, 3)), v };
    eddy_apply_gradients(o, &p, 1), golden_graph(g);
    eddy_minimize(eddy_ftrl(g, eddy_scalar(g, -1)), Sum(v)), golden_graph(g);
    eddy_minimize(o, .loss_function = { .build = two_losses, .context = g }), golden_graph(g);
    eddy_variable_constrain(v, (eddy_constraint){ nothing, NULL });
    eddy_minimize(o, Sum(v)), golden_graph(g);
    eddy_minimize(o, Sum(Gather(v, at))), golden_graph(g);
    eddy_variable_constrain(at, (eddy_constraint){ nothing, NULL }), golden_graph(g);
    ck_assert(eddy_is_valid(eddy_apply_update_ops(o, NULL)));       /* there are none */
    eddy_collection_add(g, EDDY_UPDATE_OPS, eddy_assign(v, v));
    eddy_apply_update_ops(o, NULL), golden_graph(g);
}

START_TEST(of_optimizers)
{
    golden_begin("optim/optim");
    making();
    applying();
    golden_end();
}
END_TEST

static void without_memory(failing_allocator *f, eddy_error *e)
{
    const long  at = f->at;
    const char *names[4];
    f->at = 0;
    eddy_graph *h = eddy_graph_new(.allocator = &f->table);
    eddy_tensor v = eddy_variable(h, eddy_zeros(h, EDDY_FLOAT32, EDDY_SHAPE(2)), .name = "v");
    eddy_tensor loss = Sum(Square(v)), rate = eddy_scalar(h, 1);
    f->at = f->calls + at;
    eddy_variable_constrain(v, (eddy_constraint){ doubled, NULL });
    eddy_optimizer *o = eddy_ftrl(h, rate, .accum_name = "accumulator");
    eddy_minimize(o, loss);
    eddy_get_slot_names(o, names, 4);
    eddy_collection_add(h, EDDY_UPDATE_OPS, eddy_assign_sub(v, v));
    eddy_apply_update_ops(o, NULL);
    e->status = eddy_graph_status(h);
    snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(h));
    golden_forget_nodes(e);
    eddy_graph_free(h);
}

/* A name that fills the memory of the graph, so that no other fits. */
static void name_without_memory(failing_allocator *f, eddy_error *e)
{
    enum { LONG = 1500, TIMES = 8 };
    char name[LONG + 1];
    const long at = f->at;
    memset(name, 'n', LONG);
    name[LONG] = 0;
    f->at = 0;
    eddy_graph *h = eddy_graph_new(.allocator = &f->table);
    eddy_tensor rate = eddy_scalar(h, 1);
    f->at = f->calls + at;
    for (int i = 0; i < TIMES; i++) eddy_ftrl(h, rate, .accum_name = name);
    e->status = eddy_graph_status(h);
    snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(h));
    eddy_graph_free(h);
}

START_TEST(of_memory)
{
    golden_begin("optim/optim_memory");
    golden_no_memory(without_memory);
    golden_no_memory(name_without_memory);
    golden_end();
}
END_TEST

Suite *messages_optim_suite(void)
{
    Suite *suite = suite_create("messages_optim");
    TCase *c = tcase_create("optim");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, of_optimizers);
    tcase_add_test(c, of_memory);
    suite_add_tcase(suite, c);
    return suite;
}
