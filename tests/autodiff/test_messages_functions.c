/* test_messages_functions.c -- error messages of eddy_vmap, gradient functions, tapes and custom
 * gradients. */
#include "autodiff/functions.h"
#include "autodiff/tape.h"
#include "ops/arrays/batching.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

Suite *messages_functions_suite(void);

static eddy_graph *g;
static eddy_tensor x, open, unknown, v, none;

static void setup(void)
{
    g = eddy_graph_new();
    x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    open = eddy_placeholder(g, "open", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 3));
    unknown = eddy_placeholder(g, "unknown", EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    v = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(3)), .name = "v");
    none = (eddy_tensor){ .graph = g };
}

static void teardown(void) { eddy_graph_free(g); }

/* ---------------------------------------------- functions, good and bad ones -- */

static bool same_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}
static bool blur_infer(eddy_infer *c)
{
    c->out[0] = (eddy_type){ c->in[0].dtype, EDDY_UNKNOWN_SHAPE };
    return true;
}

/* Without a rule for many examples; and with one, whose results have any shape. */
static const eddy_op_def opaque = { .name = "Opaque", .min_inputs = 1, .max_inputs = 1,
                                    .outputs = 1, .infer = same_infer };
static const eddy_op_def blur = { .name = "Blur", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
                                  .infer = blur_infer, .batch = eddy_batch_as_is };

static int f_square(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Square(in.at[0]);
    return 1;
}
static int f_opaque(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_apply1(&opaque, NULL, in.at[0]);
    return 1;
}
static int f_blurred(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_example(eddy_apply1(&blur, NULL, in.at[0]));
    return 1;
}
static int f_counting(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_assign_add(v, in.at[0]);
    return 1;
}
/* An op that owns a graph, which the node of a map shares. */
typedef struct owner_attrs {
    eddy_graph *graph;
} owner_attrs;
static const eddy_attr_field owner_fields[] = {
    { "graph", EDDY_ATTR_GRAPH, offsetof(owner_attrs, graph) }, { NULL, EDDY_ATTR_END, 0 }
};
static const eddy_op_def owner = { .name = "Owner", .min_inputs = 1, .max_inputs = 1,
    .outputs = 1, .attrs_size = sizeof(owner_attrs), .attrs = owner_fields, .infer = same_infer,
    .batch = eddy_batch_as_is };
static int f_owner(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_apply1(&owner, &(owner_attrs){ eddy_graph_new() }, in.at[0]);
    return 1;
}
static int f_sum_of_many(eddy_list in, eddy_tensor *y, void *context)
{
    eddy_tensor all[20];
    (void)context;
    for (int i = 0; i < 20; i++) all[i] = in.at[0];
    y[0] = eddy_add_n((eddy_list){ 20, all }, NULL);
    return 1;
}
/* As many results as the context says, none of them a tensor. */
static int f_returning(eddy_list in, eddy_tensor *y, void *context)
{
    (void)in;
    (void)y;
    return *(int *)context;
}

static eddy_function function(int (*build)(eddy_list in, eddy_tensor *y, void *context))
{
    return (eddy_function){ .build = build, .name = "f", .parameters = "a, b" };
}

static eddy_function returning(int *n)
{
    eddy_function f = function(f_returning);
    f.context = n;
    return f;
}

/* -------------------------------------------------------------------- vmap -- */

static void mapping(void)
{
    eddy_tensor         y[EDDY_MAX_RESULTS];
    const eddy_function square = function(f_square);
    eddy_vmap(square, EDDY_LIST(x), NULL), golden_graph(g);
    eddy_vmap(square, EDDY_LIST(none), y), golden_graph(g);
    eddy_vmap(square, EDDY_LIST(unknown), y), golden_graph(g);
    eddy_vmap(square, EDDY_LIST(x), y, (int[]){ 2 }), golden_graph(g);
    eddy_vmap(square, EDDY_LIST(x), y, (int[]){ EDDY_SHARED }), golden_graph(g);
    eddy_vmap(square, EDDY_LIST(open, x, v), y), golden_graph(g);
    eddy_vmap(function(f_opaque), EDDY_LIST(open), y), golden_graph(g);
    eddy_vmap(function(f_blurred), EDDY_LIST(x), y), golden_graph(g);
    ck_assert_int_eq(eddy_vmap(function(f_owner), EDDY_LIST(x), y), 1);
    eddy_vmap(function(f_counting), EDDY_LIST(x), y), golden_graph(g);
    eddy_vmap(function(NULL), EDDY_LIST(x), y), golden_graph(g);
    eddy_vmap(returning(&(int){ 0 }), EDDY_LIST(x), y), golden_graph(g);
    eddy_vmap(returning(&(int){ 65 }), EDDY_LIST(x), y), golden_graph(g);
    eddy_vmap(returning(&(int){ 1 }), EDDY_LIST(x), y), golden_graph(g);
}

/* --------------------------------------------------------------- gradients -- */

static int f_using(eddy_list in, eddy_tensor *y, void *context)
{
    (void)in;
    (void)context;
    y[0] = Square(v);
    return 1;
}

static void gradient_functions(void)
{
    eddy_tensor         d[2];
    const eddy_function f = function(f_square);
    const eddy_list     in = EDDY_LIST(x, x);
    eddy_gradients_function(f, in, NULL), golden_graph(g);
    eddy_gradients_function(f, in, d, "c"), golden_graph(g);
    eddy_gradients_function(f, in, d, .indices = EDDY_DIMS(2)), golden_graph(g);
    eddy_gradients_function(f, in, d, "a", EDDY_DIMS(0)), golden_graph(g);
    eddy_gradients_function(f, in, d, ""), golden_graph(g);
    eddy_gradients_function(f, in, d, .indices = { .count = 12 }), golden_graph(g);
    eddy_implicit_gradients(f, in, .room = 2), golden_graph(g);
    eddy_implicit_gradients(f, in), golden_graph(g);
    eddy_implicit_gradients(function(f_using), in, d, d, 0), golden_graph(g);
    eddy_implicit_gradients(function(f_using), EDDY_LIST(), d, d, 1), golden_graph(g);
    eddy_gradients_function(f, in, d, .dy = EDDY_LIST(v)), golden_graph(g);
}

static void rule(eddy_rule *r) { r->dx[0] = r->dy[0]; }
static void rule_of_another_type(eddy_rule *r) { r->dx[1] = Cast(r->dy[0], EDDY_FLOAT64); }
static void rule_of_another_shape(eddy_rule *r) { r->dx[0] = Sum(r->dy[0]); }
static void rule_for_three(eddy_rule *r) { r->n_dx = 3; }
static void rule_that_refuses(eddy_rule *r) { eddy_rule_fail(r, EDDY_INVALID_ARGUMENT, "no"); }
static void rule_with_a_bad_op(eddy_rule *r) { r->dx[0] = Reshape(r->dy[0], EDDY_SHAPE(7)); }
static void rule_with_a_bad_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_gradient(eddy_apply1(&opaque, NULL, r->x[0]), r->x[0]);
}

/* The user's name and the number of x, not those of the node that holds the gradient. */
static void custom_rules(eddy_tensor y)
{
    void (*const rules[])(eddy_rule * r) = { rule_of_another_type, rule_of_another_shape,
                                             rule_for_three, rule_that_refuses,
                                             rule_with_a_bad_op, rule_with_a_bad_gradient };
    const char *const names[] = { "first", "second", "third", "fourth", "fifth", "sixth" };
    eddy_tensor       z;
    for (int i = 0; i < 6; i++) {
        eddy_custom_gradient(EDDY_LIST(y), EDDY_LIST(x), &z, rules[i], .name = names[i],
                             .variables = EDDY_LIST(v));
        eddy_gradient(z, x), golden_graph(g);
    }
}

static void rule_with_a_long_message(eddy_rule *r)
{
    eddy_fail(r->graph, EDDY_INVALID_ARGUMENT, "%02000d", 0);
}

/* The end of a message names the gradient, however long the message and the names are. */
static void long_message(eddy_tensor y)
{
    char        name[300];
    eddy_tensor z;
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = 0;
    eddy_custom_gradient(EDDY_LIST(y), EDDY_LIST(x), &z, rule_with_a_long_message, .name = name,
                         .variables = EDDY_LIST(v));
    eddy_gradient(z, x);
    const char *message = eddy_graph_message(g);
    ck_assert_uint_eq(strlen(message), sizeof((eddy_error *)NULL)->message - 1);
    ck_assert_ptr_nonnull(strstr(message, "0 [gradient 'nnn"));
    ck_assert_ptr_nonnull(strstr(message, "n' of 'mul"));
    eddy_graph_clear_error(g);
}

static int f_custom(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    const eddy_tensor of = Square(in.at[0]);
    eddy_custom_gradient(EDDY_LIST(of), EDDY_LIST(in.at[0]), y, rule_of_another_shape,
                         .name = "mapped");
    return 1;
}
static int f_custom_op(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    eddy_custom_gradient(EDDY_LIST(Square(in.at[0])), EDDY_LIST(in.at[0]), y, rule_with_a_bad_op,
                         .name = "mapped_op");
    return 1;
}

static void custom_gradients(void)
{
    const eddy_tensor y = Square(x), of_v = Mul(x, v);
    eddy_tensor       z;
    eddy_custom_gradient(EDDY_LIST(y), EDDY_LIST(x), NULL, rule), golden_graph(g);
    eddy_custom_gradient(EDDY_LIST(y), EDDY_LIST(x), &z), golden_graph(g);
    eddy_custom_gradient(EDDY_LIST(of_v), EDDY_LIST(x), &z, rule), golden_graph(g);
    eddy_recompute_grad(EDDY_LIST(y), EDDY_LIST(), &z), golden_graph(g);
    eddy_gradient_override_begin(g, "Square", "Missing");
    z = Square(x);
    eddy_gradient_override_end(g);
    eddy_gradient(z, x), golden_graph(g);
    custom_rules(of_v);
    long_message(of_v);
    eddy_vmap(function(f_custom), EDDY_LIST(x), &z);
    eddy_gradient(z, x), golden_graph(g);
    eddy_vmap(function(f_custom_op), EDDY_LIST(x), &z);
    eddy_gradient(z, x), golden_graph(g);
    eddy_custom_gradient(EDDY_LIST(), EDDY_LIST(x), &z, rule), golden_graph(g);
}

static void jacobians(void)
{
    const eddy_tensor y = Square(open), wide = eddy_reshape(x, EDDY_SHAPE(1, 1, 1, 1, 1, 2, 3));
    eddy_tensor       j[1];
    eddy_jacobian(y, EDDY_LIST(open), NULL), golden_graph(g);
    eddy_jacobian(y, EDDY_LIST(unknown), j), golden_graph(g);
    eddy_jacobian(wide, EDDY_LIST(x), j), golden_graph(g);
    eddy_jacobian(y, EDDY_LIST(open), j, .parallel_iterations = -1), golden_graph(g);
    eddy_jacobian(y, EDDY_LIST(open), j, .unconnected_gradients = (eddy_unconnected)9);
    golden_graph(g);
    eddy_jacobian(y, EDDY_LIST(open), j, .mode = (eddy_jacobian_mode)3), golden_graph(g);
    eddy_jacobian(y, EDDY_LIST(open), j, .max_bytes = -1), golden_graph(g);
    eddy_jacobian(y, EDDY_LIST(open), j, .max_bytes = 1), golden_graph(g);
    eddy_jacobian(Real(eddy_complex(x, x)), EDDY_LIST(eddy_complex(x, x)), j,
                  .mode = EDDY_JACOBIAN_FORWARD), golden_graph(g);
    eddy_batch_jacobian(x, v), golden_graph(g);
    eddy_batch_jacobian(x, eddy_transpose(x)), golden_graph(g);
    eddy_jvp(EDDY_LIST(Square(x)), EDDY_LIST(x), EDDY_LIST(v), j), golden_graph(g);
    eddy_jvp(EDDY_LIST(x), EDDY_LIST(x), (eddy_list){ 1, NULL }, j), golden_graph(g);
    eddy_vjp(EDDY_LIST(x), EDDY_LIST(x), EDDY_LIST(v), j), golden_graph(g);
    eddy_vjp(EDDY_LIST(x), EDDY_LIST(x)), golden_graph(g);
    eddy_gauss_newton_vector_product(x, EDDY_LIST(), EDDY_LIST(x), EDDY_LIST(x), j);
    golden_graph(g);
}

static void sparse(void)
{
    const eddy_tensor  deep = eddy_reshape(x, EDDY_SHAPE(1, 1, 1, 1, 1, 1, 2, 3));
    eddy_sparse_matrix m;
    eddy_sparse_jacobian(x, x, NULL), golden_graph(g);
    eddy_sparse_jacobian(Square(open), open, &m), golden_graph(g);
    eddy_sparse_hessian(x, eddy_cast(x, EDDY_INT32), &m), golden_graph(g);
    eddy_sparse_jacobian(deep, x, &m), golden_graph(g);
    eddy_sparse_jacobian(Sum(eddy_boolean_mask(x, Less(x, 1))), x, &m), golden_graph(g);
    const eddy_tensor many = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(20000));
    eddy_sparse_jacobian(Softmax(many), many, &m), golden_graph(g);
    eddy_sparse_hessian(eddy_logsumexp(Exp(many)), many, &m), golden_graph(g);
}

/* A tape has sentences of its own in tests/golden/autodiff/tape.txt. */
static void recording(void)
{
    eddy_tensor j[1];
    eddy_tape  *tape = eddy_tape_begin(eddy_tape_new(g, .persistent = true));
    eddy_tape_jacobian(tape, Square(x), EDDY_LIST(x), j), golden_graph(g);
    eddy_tape_free(tape);
}

START_TEST(of_functions)
{
    golden_begin("autodiff/functions");
    mapping();
    gradient_functions();
    custom_gradients();
    jacobians();
    sparse();
    recording();
    golden_end();
}
END_TEST

/* --------------------------------------------------------------- no memory -- */

static void build_without_memory(failing_allocator *f, eddy_error *e)
{
    enum { MANY = 100 };
    const long  at = f->at;
    eddy_tensor y[EDDY_MAX_RESULTS], dx[1];
    f->at = 0;
    eddy_graph *h = eddy_graph_new(.allocator = &f->table);
    eddy_tensor a = eddy_placeholder(h, "a", EDDY_FLOAT32, EDDY_SHAPE(2, 3)), b = Square(a);
    f->at = f->calls + at;
    eddy_tape *tape = eddy_tape_new(h, .persistent = true);
    eddy_tape_begin(tape);
    for (int k = 0; k < MANY; k++) eddy_tape_watch(tape, EDDY_LIST(a));
    eddy_tape_end(tape);
    eddy_tape_gradient(tape, EDDY_LIST(b), EDDY_LIST(a), dx);
    eddy_custom_gradient(EDDY_LIST(b), EDDY_LIST(a), y, rule);
    eddy_recompute_grad(EDDY_LIST(b), EDDY_LIST(a), y);
    eddy_gradients_function(function(f_square), EDDY_LIST(a), dx);
    eddy_vmap(function(f_sum_of_many), EDDY_LIST(a), y);
    e->status = eddy_graph_status(h);
    snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(h));
    golden_forget_nodes(e);
    eddy_tape_free(tape);
    eddy_graph_free(h);
}

static void matrices_without_memory(failing_allocator *f, eddy_error *e)
{
    const long         at = f->at;
    eddy_sparse_matrix m;
    f->at = 0;
    eddy_graph *h = eddy_graph_new(.allocator = &f->table);
    eddy_tensor a = eddy_placeholder(h, "a", EDDY_FLOAT64, EDDY_SHAPE(3)), j;
    eddy_tensor b = eddy_concat(EDDY_LIST(Square(a), Exp(a), a), 0);
    f->at = f->calls + at;
    eddy_jacobian(b, EDDY_LIST(a), &j, .max_bytes = 1);
    eddy_sparse_jacobian(b, a, &m);
    eddy_sparse_hessian(b, a, &m);
    e->status = eddy_graph_status(h);
    snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(h));
    golden_forget_nodes(e);
    eddy_graph_free(h);
}

START_TEST(of_memory)
{
    golden_begin("autodiff/functions_memory");
    golden_no_memory(build_without_memory);
    golden_no_memory(matrices_without_memory);
    golden_end();
}
END_TEST

Suite *messages_functions_suite(void)
{
    Suite *suite = suite_create("messages_functions");
    TCase *c = tcase_create("functions");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, of_functions);
    tcase_add_test(c, of_memory);
    suite_add_tcase(suite, c);
    return suite;
}
