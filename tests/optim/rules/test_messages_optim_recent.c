/* test_messages_optim_recent.c -- error messages of the newer optimizers, of clipping and weight
 * decay around optimizers, SAM, and cyclic and joined schedules. */
#include "ops/short_names.h"
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"
#include "tests/lib/files/memory_files.h"

Suite *messages_optim_recent_suite(void);

static void apply(eddy_optimizer *o, eddy_tensor v)
{
    eddy_gradient_pair p = { ZerosLike(v), v };
    eddy_apply_gradients(o, &p, 1);
}

static void rules(void)
{
    const eddy_tensor one = eddy_scalar(g, 1),
                      number = { .graph = (eddy_graph *)(uintptr_t)1, .node = 0, .output = 0 };
    const eddy_tensor x = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2), (float[]){ 1, 2 });
    const eddy_tensor v = eddy_variable(g, x, .name = "v");
    eddy_adam(g, number), golden_graph(g);
    eddy_adam(number.graph, one), golden_graph(g);
    eddy_momentum(g, one, one, .dampening = x), golden_graph(g);
    eddy_rprop(g, .eta_plus = x), golden_graph(g);
    eddy_asgd(g, .t0 = x), golden_graph(g);
    eddy_adabelief(g, .beta2 = x), golden_graph(g);
    eddy_adan(g, .beta3 = x), golden_graph(g);
    eddy_novograd(g, .weight_decay = x), golden_graph(g);
    eddy_muon(g, .newton_steps = -1), golden_graph(g);
    apply(eddy_muon(g), v), golden_graph(g);
    eddy_prodigy(g, .d0 = -1), golden_graph(g);
    eddy_schedule_free_adamw(g, x), golden_graph(g);
    eddy_schedule_free_evaluate(eddy_adam(g)), golden_graph(g);
    eddy_schedule_free_train(eddy_schedule_free_adamw(g)), golden_graph(g);
    eddy_optimizer_reset(eddy_adam(g)), golden_graph(g);
}

/* context: which error */
static void transform(void *context, eddy_gradient_pair *pairs, int count)
{
    ck_assert_int_eq(count, 1);
    const eddy_tensor x = pairs[0].gradient;
    const char        kind = *(const char *)context;
    if (kind == 'v') pairs[0].variable = x;
    if (kind == 'n') pairs[0].gradient = EDDY_NO_TENSOR;
    if (kind == 'u') pairs[0].gradient.node = 9999;
    if (kind == 't') pairs[0].gradient = eddy_cast(x, EDDY_FLOAT64);
    if (kind == 's') pairs[0].gradient = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(3));
}

static void around(void)
{
    const eddy_tensor one = eddy_scalar(g, 1);
    const eddy_tensor x = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2), (float[]){ 1, 2 });
    const eddy_tensor w = eddy_variable(g, x, .name = "w");
    eddy_optimizer   *o = eddy_gradient_descent(g, one);
    eddy_clipped_gradients(NULL, one), golden_graph(g);
    eddy_clipped_gradients(o, x), golden_graph(g);
    eddy_clipped_gradients(o, .norm = x), golden_graph(g);
    eddy_clipped_gradients(o, .global_norm = x), golden_graph(g);
    eddy_accumulate_gradients(o, 3, .pairwise = true), golden_graph(g);
    eddy_accumulate_gradients(o, 1 << 20, .pairwise = true), golden_graph(g);
    eddy_transformed_gradients(o), golden_graph(g);
    const eddy_gradient_pair once[] = { { x, w } };
    char                     kinds[] = "vnuts";
    for (char *kind = kinds; *kind; kind++) {
        eddy_apply_gradients(eddy_transformed_gradients(o, transform, kind), once, 1);
        golden_graph(g);
    }
    eddy_coupled_weight_decay(NULL, one), golden_graph(g);
    eddy_coupled_weight_decay(o), golden_graph(g);
    const eddy_gradient_pair twice[] = { { x, w }, { x, w } };
    eddy_apply_gradients(eddy_accumulate_gradients(eddy_clipped_gradients(o, one), 2), twice, 2);
    golden_graph(g);
}

static void sharpness(void)
{
    const eddy_tensor  x = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2), (float[]){ 1, 2 });
    const eddy_tensor  w = eddy_variable(g, x, .name = "q");
    eddy_optimizer    *o = eddy_gradient_descent(g, eddy_scalar(g, 1));
    eddy_gradient_pair p[1];
    const eddy_list    of = EDDY_LIST(w);
    eddy_sharpness_aware_gradients(NULL, Sum(w)), golden_graph(g);
    eddy_sharpness_aware_gradients(o, Sum(w), .var_list = of), golden_graph(g);
    eddy_sharpness_aware_gradients(o, Sum(w), p, 1, x, of), golden_graph(g);
    const eddy_tensor late = Sum(eddy_assign(w, Mul(w, 2)));
    eddy_sharpness_aware_gradients(o, Add(Sum(w), late), p, 1, .var_list = of), golden_graph(g);
}

static void schedules(void)
{
    const eddy_tensor x = eddy_scalar(g, 1), i = eddy_number(g, EDDY_INT32, 1);
    const eddy_tensor exact = eddy_number(g, EDDY_FLOAT64, 1), none = { .graph = g, .node = 999 };
    const eddy_tensor rows = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2));
    eddy_cyclic(x, x), golden_graph(g);
    eddy_cyclic(x, x, x, .mode = (eddy_cyclic_mode)7), golden_graph(g);
    eddy_joined_schedules(i), golden_graph(g);
    eddy_joined_schedules(i, EDDY_LIST(x, x)), golden_graph(g);
    eddy_joined_schedules(i, EDDY_LIST(x, exact), EDDY_LIST(x)), golden_graph(g);
    eddy_joined_schedules(i, EDDY_LIST(x, rows), EDDY_LIST(x)), golden_graph(g);
    eddy_joined_schedules(i, EDDY_LIST(x, none), EDDY_LIST(x)), golden_graph(g);
    eddy_joined_schedules(i, EDDY_LIST(x, x), EDDY_LIST(rows)), golden_graph(g);
}

START_TEST(optim_recent)
{
    golden_begin("optim/optim_recent");
    rules();
    around();
    sharpness();
    schedules();
    golden_end();
}
END_TEST

/* A part that clips, and a reset. */
static void without_memory(failing_allocator *f, eddy_error *e)
{
    const long at = f->at;
    f->at = 0;
    eddy_graph *h = eddy_graph_new(.allocator = &f->table);
    eddy_tensor v = eddy_variable(h, eddy_zeros(h, EDDY_FLOAT32, EDDY_SHAPE(2)), .name = "v");
    eddy_tensor loss = Sum(Square(v)), rate = eddy_scalar(h, 1);
    f->at = f->calls + at;
    eddy_optimizer *clipped = eddy_clipped_gradients(eddy_momentum(h, rate, rate), rate);
    const eddy_optimizer_part parts[] = { { clipped, EDDY_LIST() } };
    eddy_optimizer *o = eddy_multi_optimizer(parts, 1);
    eddy_minimize(o, loss);
    eddy_optimizer_reset(o);
    e->status = eddy_graph_status(h);
    snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(h));
    golden_forget_nodes(e);
    eddy_graph_free(h);
}

START_TEST(of_memory)
{
    golden_begin("optim/optim_recent_memory");
    golden_no_memory(without_memory);
    golden_end();
}
END_TEST

Suite *messages_optim_recent_suite(void)
{
    Suite *suite = suite_create("messages_optim_recent");
    TCase *c = tcase_create("optim_recent");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, optim_recent);
    tcase_add_test(c, of_memory);
    suite_add_tcase(suite, c);
    return suite;
}
