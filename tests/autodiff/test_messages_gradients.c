/* test_messages_gradients.c -- error messages of gradients and optimizers, out-of-memory messages
 * included. */
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

Suite *messages_gradients_suite(void);

static eddy_graph *g, *other;
static eddy_tensor x, flags, complex, stranger, none;

static void setup(void)
{
    g = eddy_graph_new();
    other = eddy_graph_new();
    x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    flags = eddy_placeholder(g, "flags", EDDY_BOOL, EDDY_SHAPE(2));
    complex = eddy_placeholder(g, "complex", EDDY_COMPLEX64, EDDY_SHAPE(2));
    stranger = eddy_scalar(other, 1);
    none = (eddy_tensor){ .graph = g };
}

static void teardown(void)
{
    eddy_graph_free(g);
    eddy_graph_free(other);
}

/* ------------------------------------------------------------------ rules -- */

static bool same_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}
static void wrong_dtype(eddy_rule *r) { r->dx[0] = Cast(r->dy[0], EDDY_FLOAT64); }
static void wrong_shape(eddy_rule *r) { r->dx[0] = Sum(r->dy[0]); }
static void wrong_count(eddy_rule *r) { r->n_dx = 2; }

/* They outlive the graph. */
#define UNARY_OP(type, rule)                                                    \
    { .name = type, .min_inputs = 1, .max_inputs = 1, .outputs = 1,             \
      .infer = same_infer, .gradient = rule }
static const eddy_op_def wrong_ops[] = {
    UNARY_OP("WrongDtype", wrong_dtype),
    UNARY_OP("WrongShape", wrong_shape),
    UNARY_OP("WrongCount", wrong_count),
    UNARY_OP("NoRule", NULL),
};

static void rules(void)
{
    for (size_t i = 0; i < sizeof wrong_ops / sizeof *wrong_ops; i++) {
        eddy_gradient(eddy_apply1(&wrong_ops[i], NULL, x), x);
        golden_graph(g);
    }
    eddy_gradient(eddy_random_shuffle(x), x), golden_graph(g);
}

/* -------------------------------------------------------------- gradients -- */

static void arguments(void)
{
    const eddy_tensor y = Square(x);
    eddy_tensor       dx[2];
    eddy_gradients(EDDY_LIST(flags), EDDY_LIST(flags), dx), golden_graph(g);
    eddy_gradients(EDDY_LIST(complex), EDDY_LIST(complex), dx), golden_graph(g);
    eddy_gradients(EDDY_LIST(complex), EDDY_LIST(complex), dx, EDDY_LIST(x)), golden_graph(g);
    eddy_gradients(EDDY_LIST(y), ((eddy_list){ -1, NULL }), dx), golden_graph(g);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(none), dx), golden_graph(g);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), NULL), golden_graph(g);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), dx, EDDY_LIST(x, x)), golden_graph(g);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), dx, { 1, NULL }), golden_graph(g);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), dx, EDDY_LIST(stranger)), golden_graph(g);
    eddy_gradients(EDDY_LIST(y, y), EDDY_LIST(x), dx, EDDY_LIST(y, Cast(y, EDDY_FLOAT64)));
    golden_graph(g);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), dx, EDDY_LIST(Sum(y))), golden_graph(g);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), dx, .aggregation_method = (eddy_aggregation)9);
    golden_graph(g);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), dx, .unconnected_gradients = (eddy_unconnected)9);
    golden_graph(g);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), dx, .stop_gradients = EDDY_LIST(none));
    golden_graph(g);
}

static void second_derivatives(void)
{
    eddy_tensor h[1];
    eddy_hessian_vector_product(Square(x), EDDY_LIST(x), EDDY_LIST(), h), golden_graph(g);
    eddy_hessians(Square(x), EDDY_LIST(x), NULL), golden_graph(g);
    eddy_hessians(Sum(Square(x)), EDDY_LIST(flags), h), golden_graph(g);
    eddy_hessians(Sum(x), EDDY_LIST(x), h), golden_graph(g);
    const eddy_tensor unknown = eddy_placeholder(g, "unknown", EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    eddy_hessians(Sum(Square(unknown)), EDDY_LIST(unknown), h), golden_graph(g);
    eddy_hessian_diagonal(Sum(Square(unknown)), unknown), golden_graph(g);
    const eddy_tensor deep = eddy_reshape(x, EDDY_SHAPE(1, 1, 1, 2, 3));
    eddy_hessians(Sum(Square(deep)), EDDY_LIST(deep), h), golden_graph(g);
}

START_TEST(of_gradients)
{
    golden_begin("autodiff/gradients");
    rules();
    arguments();
    second_derivatives();
    golden_end();
}
END_TEST

/* -------------------------------------------------------------- optimizers -- */

static eddy_tensor no_update(eddy_optimizer *o, eddy_tensor dv, eddy_tensor v)
{
    (void)o;
    (void)dv;
    return eddy_none(v.graph);
}

static const eddy_optimizer_def idle = { .name = "Idle", .apply_dense = no_update };

static void making_optimizers(void)
{
    const eddy_tensor      rate = eddy_scalar(g, 1);
    const eddy_optimizer_def useless = { .name = "Useless" };
    eddy_optimizer_new(g, &useless, NULL, NULL), golden_graph(g);
    eddy_optimizer_new(g, &idle, NULL, ""), golden_graph(g);
    eddy_optimizer_new(g, &idle, NULL, "two words"), golden_graph(g);
    eddy_gradient_descent(g), golden_graph(g);
    eddy_momentum(g, rate, stranger), golden_graph(g);
    eddy_adam(g, .beta1 = flags), golden_graph(g);
    eddy_adam(g, x), golden_graph(g);
}

static void computing(eddy_optimizer *o, eddy_tensor v)
{
    eddy_gradient_pair pair[1];
    eddy_tensor        loss = Sum(Square(v));
    eddy_tensor        whole = eddy_variable(g, eddy_number(g, EDDY_INT32, 0), .name = "whole");
    eddy_compute_gradients(o, loss, pair, 1, .gate_gradients = (eddy_gate)9), golden_graph(g);
    eddy_compute_gradients(o, stranger, pair, 1), golden_graph(g);
    eddy_compute_gradients(o, Cast(loss, EDDY_INT32), pair, 1), golden_graph(g);
    eddy_compute_gradients(o, loss, pair, 1, .grad_loss = stranger), golden_graph(g);
    eddy_compute_gradients(o, loss, pair, 1, .grad_loss = whole), golden_graph(g);
    eddy_compute_gradients(o, loss, pair, 1, .var_list = { 0, &v }), golden_graph(g);
    eddy_compute_gradients(o, loss, pair, 1, EDDY_LIST(none)), golden_graph(g);
    eddy_compute_gradients(o, loss, pair, 1), golden_graph(g);
    eddy_compute_gradients(NULL, loss, pair, 1), golden_graph(g);
    eddy_minimize(NULL, loss), golden_graph(g);
    eddy_apply_gradients(NULL, &(eddy_gradient_pair){ v, v }, 1), golden_graph(g);
}

static void apply_says(eddy_optimizer *o, eddy_tensor gradient, eddy_tensor variable,
                       eddy_tensor step)
{
    const eddy_gradient_pair pair = { gradient, variable };
    eddy_apply_gradients(o, &pair, 1, step);
    golden_graph(g);
}

static void applying(eddy_optimizer *o, eddy_tensor v)
{
    eddy_tensor     half = eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(2));
    eddy_tensor     z = eddy_variable(g, eddy_zeros(g, EDDY_COMPLEX64, EDDY_SHAPE(2)), .name = "z");
    eddy_optimizer *still = eddy_optimizer_new(g, &idle, NULL, NULL);
    apply_says(o, v, none, none);
    apply_says(o, stranger, v, none);
    apply_says(o, x, x, none);
    apply_says(o, half, v, none);
    apply_says(o, x, v, none);
    apply_says(o, none, v, none);
    apply_says(o, v, v, x);
    apply_says(o, v, v, v);
    eddy_apply_gradients(o, NULL, 0), golden_graph(g);
    apply_says(still, z, z, none);
    apply_says(still, v, v, none);
    eddy_make_slot(o, x, "m", x), golden_graph(g);
    eddy_make_shared_slot(o, NULL, x), golden_graph(g);
}

static void counting(void)
{
    eddy_tensor step = eddy_named("global_step", eddy_scalar(g, 0));
    eddy_get_global_step(g), golden_graph(g);
    eddy_named("was_step", step);
    step = eddy_variable(g, eddy_zeros(g, EDDY_INT64, EDDY_SHAPE(2)), .name = "global_step");
    eddy_get_global_step(g), golden_graph(g);
    eddy_named("was_step", step);
    eddy_create_global_step(g);
    eddy_create_global_step(g), golden_graph(g);
}

START_TEST(of_optimizers)
{
    golden_begin("autodiff/gradients_optimizers");
    eddy_optimizer *o = eddy_gradient_descent(g, eddy_scalar(g, 0.5));
    eddy_tensor     v = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2)), .name = "v");
    making_optimizers();
    computing(o, v);
    applying(o, v);
    counting();
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

/* Gradients of a node with many inputs and of a tensor with many uses. */
static void sweep_without_memory(failing_allocator *f, eddy_error *e)
{
    enum { MANY = 40, USES = 400 };
    const long  at = f->at;
    eddy_tensor all[USES], dx[1];
    f->at = 0;
    eddy_graph *h = eddy_graph_new(.allocator = &f->table);
    eddy_tensor v = eddy_placeholder(h, "v", EDDY_FLOAT32, EDDY_SHAPE(2));
    for (int k = 0; k < USES; k++) all[k] = v;
    eddy_tensor y = eddy_add_n((eddy_list){ USES, all }, NULL);
    f->at = f->calls + at;
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(v), dx);
    take_error(h, e);
}

static void step_without_memory(failing_allocator *f, eddy_error *e)
{
    const long  at = f->at;
    eddy_tensor all[8];
    f->at = 0;
    eddy_graph *h = eddy_graph_new(.allocator = &f->table);
    eddy_tensor v = eddy_variable(h, eddy_zeros(h, EDDY_FLOAT32, EDDY_SHAPE(2)), .name = "v");
    eddy_tensor loss = Sum(Square(v)), rate = eddy_scalar(h, 1);
    f->at = f->calls + at;
    eddy_optimizer *o = eddy_momentum(h, rate, rate);
    eddy_minimize(o, loss, .gate_gradients = EDDY_GATE_GRAPH);
    eddy_optimizer_variables(o, all, 8);
    take_error(h, e);
}

START_TEST(of_memory)
{
    golden_begin("autodiff/gradients_memory");
    golden_no_memory(sweep_without_memory);
    golden_no_memory(step_without_memory);
    golden_end();
}
END_TEST

Suite *messages_gradients_suite(void)
{
    Suite *suite = suite_create("messages_gradients");
    TCase *c = tcase_create("gradients");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, of_gradients);
    tcase_add_test(c, of_optimizers);
    tcase_add_test(c, of_memory);
    suite_add_tcase(suite, c);
    return suite;
}
