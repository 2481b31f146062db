/* test_messages_solvers.c -- error messages of fixed points, roots, linear systems, eigenpairs and
 * differential equations: while building, in a run, without memory. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

static eddy_graph *g, *other;
static eddy_tensor scalar, single, var, vec, open, none, foreign, out[EDDY_MAX_RESULTS];

static void setup(void)
{
    g = eddy_graph_new();
    other = eddy_graph_new();
    scalar = eddy_placeholder(g, "x", F64, EDDY_SCALAR);
    single = eddy_placeholder(g, "single", EDDY_FLOAT32, EDDY_SCALAR);
    vec = eddy_placeholder(g, "v", F64, EDDY_SHAPE(3));
    open = eddy_placeholder(g, "open", F64, EDDY_SHAPE(EDDY_ANY));
    var = eddy_variable(g, eddy_number(g, F64, 1), .name = "var");
    foreign = eddy_placeholder(other, "foreign", F64, EDDY_SCALAR);
    none = eddy_none(g);
}

static void teardown(void)
{
    eddy_graph_free(g);
    eddy_graph_free(other);
}

BODY(half, Mul(0.5, x[0]))
BODY(pair, x[0], x[0])
BODY(narrowed, Cast(x[0], EDDY_FLOAT32))
BODY(longer, eddy_stack(EDDY_LIST(x[0], x[0])))
BODY(constant_one, OnesLike(c[0]))
BODY(no_tensor, (eddy_tensor){ x[0].graph, 0, 0 })
BODY(drawing, Add(x[0], eddy_random_normal_like(x[0])))
BODY(assigning, Mul(0.5, eddy_assign_add(c[0], x[0])))
BODY(part, eddy_index(x[0], "1:"))
BODY(slope_of_y, Neg(x[1]))
BODY(slopes_of_y, Neg(x[1]), x[1])

static void checked(void)
{
    for (int k = 0; k < EDDY_MAX_RESULTS; k++) out[k] = none;
    golden_graph(g);
}

static void fixed_points(void)
{
    const eddy_function f = PLAIN(half), missing = { .name = "missing" };
    const eddy_list     in = EDDY_LIST(scalar);
    eddy_tensor         many[30];
    for (int i = 0; i < 30; i++) many[i] = scalar;
    eddy_fixed_point(f, EDDY_LIST(eddy_cast(scalar, I32)), out), checked();
    eddy_fixed_point(f, EDDY_LIST(scalar, single), out), checked();
    eddy_fixed_point(f, EDDY_LIST(none), out), checked();
    eddy_fixed_point(f, EDDY_LIST(scalar, foreign), out), checked();
    eddy_fixed_point(f, in, out, EDDY_LIST(foreign)), checked();
    eddy_fixed_point(f, ((eddy_list){ 30, many }), out), checked();
    eddy_fixed_point(f, in, NULL), checked();
    eddy_fixed_point(missing, in, out), checked();
    eddy_fixed_point(f, in, out, .tolerance = 0), checked();
    eddy_fixed_point(f, in, out, .tolerance = NAN), checked();
    eddy_fixed_point(f, in, out, .maximum_iterations = 0), checked();
    eddy_fixed_point(PLAIN(pair), in, out), checked();
    eddy_fixed_point(PLAIN(narrowed), in, out), checked();
    eddy_fixed_point(PLAIN(longer), in, out), checked();
    eddy_fixed_point(PLAIN(no_tensor), in, out), checked();
    eddy_fixed_point(PLAIN(drawing), in, out), checked();
    eddy_fixed_point(FUNCTION(assigning, var), in, out), checked();
    eddy_fixed_point(FUNCTION(constant_one, scalar), EDDY_LIST(), out), checked();
}

static void roots(void)
{
    const eddy_function f = PLAIN(half);
    const eddy_list     in = EDDY_LIST(scalar);
    eddy_root(f, EDDY_LIST(eddy_cast(scalar, I32)), out), checked();
    eddy_root(f, in, NULL), checked();
    eddy_root(f, in, out, .tolerance = -2), checked();
    eddy_root(f, in, out, .maximum_iterations = 0), checked();
    eddy_root(f, EDDY_LIST(open), out), checked();
    eddy_root(PLAIN(part), EDDY_LIST(vec), out), checked();
    eddy_root(PLAIN(narrowed), in, out), checked();
    eddy_root(FUNCTION(constant_one, scalar), in, out), checked();
    eddy_root(PLAIN(drawing), in, out), checked();
}

static void equations(void)
{
    const eddy_function f = PLAIN(slope_of_y);
    const eddy_list     in = EDDY_LIST(scalar);
    eddy_odeint(f, EDDY_LIST(eddy_cast(scalar, I32)), vec, out), checked();
    eddy_odeint(f, in, vec, NULL), checked();
    eddy_odeint(f, in, none, out), checked();
    eddy_odeint(f, in, foreign, out), checked();
    eddy_odeint(f, in, scalar, out), checked();
    eddy_odeint(f, in, eddy_zeros(g, F64, EDDY_SHAPE(0)), out), checked();
    eddy_odeint(f, EDDY_LIST(single), vec, out), checked();
    eddy_odeint(f, in, vec, out, .method = 7), checked();
    eddy_odeint(f, in, vec, out, .gradient = (eddy_ode_gradient)-1), checked();
    eddy_odeint(f, in, vec, out, .recompute = (eddy_recompute)9), checked();
    eddy_odeint(f, in, vec, out, .segment = -2), checked();
    eddy_odeint(f, in, vec, out, .gradient = EDDY_ODE_ADJOINT, .segment = 2), checked();
    eddy_odeint(f, in, vec, out, .rtol = 0), checked();
    eddy_odeint(f, in, vec, out, .atol = INFINITY), checked();
    eddy_odeint(f, in, vec, out, .max_steps = 0), checked();
    eddy_odeint(f, in, vec, out, .steps = -3), checked();
    eddy_odeint(f, in, vec, out, .first_step = -1), checked();
    eddy_odeint(PLAIN(slopes_of_y), in, vec, out), checked();
    eddy_odeint(PLAIN(half), EDDY_LIST(vec), vec, out), checked();
    eddy_odeint(FUNCTION(assigning, var), in, vec, out), checked();
}

static void systems(void)
{
    const eddy_function f = PLAIN(half), missing = { .name = "missing" };
    const eddy_list     b = EDDY_LIST(vec);
    eddy_tensor         many[21];
    for (int i = 0; i < 21; i++) many[i] = vec;
    eddy_conjugate_gradient(FUNCTION(constant_one, scalar), EDDY_LIST(), out), checked();
    eddy_conjugate_gradient(f, EDDY_LIST(eddy_cast(vec, I32)), out), checked();
    eddy_conjugate_gradient(f, EDDY_LIST(vec, single), out), checked();
    eddy_conjugate_gradient(f, ((eddy_list){ 21, many }), out), checked();
    eddy_conjugate_gradient(f, b, NULL), checked();
    eddy_conjugate_gradient(f, b, out, EDDY_LIST(foreign)), checked();
    eddy_conjugate_gradient(f, b, out, .x0 = EDDY_LIST(vec, vec)), checked();
    eddy_conjugate_gradient(f, b, out, .x0 = EDDY_LIST(scalar)), checked();
    eddy_conjugate_gradient(f, b, out, .x0 = EDDY_LIST(single)), checked();
    eddy_conjugate_gradient(f, b, out, .x0 = EDDY_LIST(none)), checked();
    eddy_conjugate_gradient(f, b, out, .tolerance = 0), checked();
    eddy_conjugate_gradient(f, b, out, .maximum_iterations = 0), checked();
    eddy_conjugate_gradient(f, EDDY_LIST(vec, open), out), checked();
    eddy_conjugate_gradient(missing, b, out), checked();
    eddy_conjugate_gradient(PLAIN(pair), b, out), checked();
    eddy_conjugate_gradient(PLAIN(narrowed), b, out), checked();
    eddy_conjugate_gradient(f, b, out, .preconditioner = PLAIN(pair)), checked();
    eddy_conjugate_gradient(f, b, out, .preconditioner = PLAIN(longer)), checked();
    eddy_conjugate_gradient(PLAIN(drawing), b, out), checked();
    eddy_conjugate_gradient(FUNCTION(assigning, var), EDDY_LIST(scalar), out), checked();
    eddy_gmres(f, b, out, .restart = 0), checked();
    eddy_gmres(f, b, out, .restart = 5000), checked();
    eddy_gmres(PLAIN(part), b, out), checked();
}

static void eigenpairs(void)
{
    const eddy_function f = PLAIN(half);
    const eddy_list     v0 = EDDY_LIST(vec);
    const eddy_tensor   large = eddy_placeholder(g, "large", F64, EDDY_SHAPE(10000));
    eddy_lanczos(FUNCTION(constant_one, scalar), EDDY_LIST(), out), checked();
    eddy_lanczos(f, EDDY_LIST(single, vec), out), checked();
    eddy_lanczos(f, EDDY_LIST(open), out), checked();
    eddy_lanczos(f, v0, NULL), checked();
    eddy_lanczos(f, v0, out, 0), checked();
    eddy_lanczos(f, v0, out, 4), checked();
    eddy_lanczos(f, v0, out, 2, .basis = 2), checked();
    eddy_lanczos(f, EDDY_LIST(large), out, .basis = 3000), checked();
    eddy_lanczos(f, v0, out, .tolerance = -2), checked();
    eddy_lanczos(f, v0, out, .maximum_iterations = -1), checked();
    eddy_lanczos(PLAIN(longer), EDDY_LIST(scalar), out), checked();
    eddy_lanczos(PLAIN(drawing), v0, out), checked();
}

static int shrink(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    for (int k = 1; k < x.count; k++) y[k - 1] = Neg(x.at[k]);
    return x.count - 1;
}

static int sixty_three(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    for (int k = 0; k < 63; k++) y[k] = x.at[0];
    return 63;
}

/* A gradient of this name for a node that has no function. */
static void no_function(void)
{
    eddy_fixed_point(PLAIN(sixty_three), EDDY_LIST(scalar), out), checked();
    eddy_gradient_override_begin(g, "IdentityN", "eddy_fixed_point");
    const eddy_tensor y = eddy_identity_n(EDDY_LIST(scalar, scalar, scalar), 1);
    eddy_gradient_override_end(g);
    ck_assert_int_eq(eddy_fixed_point(PLAIN(half), EDDY_LIST(scalar), out), 1);
    eddy_gradient(y, scalar), checked();
}

/* Gradients whose equation has too many tensors. */
static void too_many(void)
{
    eddy_tensor states[15];
    for (int k = 0; k < 15; k++) states[k] = scalar;
    ck_assert_int_eq(eddy_odeint(PLAIN(shrink), ((eddy_list){ 15, states }), vec, out,
                                 .gradient = EDDY_ODE_ADJOINT), 15);
    eddy_gradient(out[0], scalar), checked();
}

START_TEST(of_builders)
{
    golden_begin("control/solvers");
    fixed_points();
    roots();
    equations();
    systems();
    eigenpairs();
    no_function();
    too_many();
    golden_end();
}
END_TEST

/* --------------------------------------------------------------------- runs -- */

BODY(doubled, Add(Mul(2, x[0]), 1))
BODY(nearly_doubled, Add(Mul(x[0], c[0]), 1))
BODY(square_and_one, Add(Square(x[0]), 1))
BODY(rate, Mul(c[0], x[1]))
BODY(scaled, Mul(c[0], x[0]))
BODY(stiff, Mul(-1e6, Sub(x[1], Cos(x[0]))))
BODY(exploding, Square(x[1]))
BODY(undefined, Log(Neg(Square(x[1]))))

BODY(negative, Neg(x[0]))
BODY(nilpotent, eddy_pad(eddy_index(x[0], "1:"), EDDY_DIMS(0), EDDY_DIMS(1)))
BODY(turned, eddy_concat(EDDY_LIST(eddy_index(x[0], "1:"), eddy_index(x[0], ":1")), 0))
BODY(diagonal, Mul(c[0], x[0]))
BODY(undefined_operator, Log(Neg(Square(x[0]))))

static void run_says(eddy_tensor y)
{
    eddy_session *s = eddy_session_new(g);
    eddy_array   *a = NULL;
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), &a), EDDY_CHECK_FAILED);
    ck_assert_ptr_null(a);
    golden_line(eddy_session_message(s));
    eddy_session_free(s);
}

static int point_of_row(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    return eddy_fixed_point(FUNCTION(nearly_doubled, x.at[0]), EDDY_LIST(OnesLike(x.at[0])), y);
}

START_TEST(in_runs)
{
    const eddy_tensor one = eddy_number(g, F64, 1), t = eddy_constant(g, EDDY_DOUBLES(0, 1, 3));
    eddy_tensor       y[EDDY_MAX_RESULTS];
    golden_begin("control/solver_runs");
    eddy_fixed_point(PLAIN(doubled), EDDY_LIST(one), y, .maximum_iterations = 20);
    run_says(y[0]);
    eddy_fixed_point(PLAIN(doubled), EDDY_LIST(one), y, .maximum_iterations = 5000, .name = "far");
    run_says(y[0]);
    eddy_map_fn(PLAIN(point_of_row), EDDY_LIST(eddy_constant(g, EDDY_DOUBLES(0.5, 2))), y);
    run_says(y[0]);
    eddy_root(PLAIN(square_and_one), EDDY_LIST(Mul(one, 0.7)), y, .name = "no_root");
    run_says(y[0]);
    eddy_odeint(PLAIN(stiff), EDDY_LIST(one), t, y, .max_steps = 100);
    run_says(y[0]);
    eddy_odeint(PLAIN(exploding), EDDY_LIST(one), t, y, .gradient = EDDY_ODE_ADJOINT,
                .name = "pole");
    run_says(y[0]);
    eddy_odeint(PLAIN(undefined), EDDY_LIST(one), t, y, .name = "undefined");
    run_says(y[0]);
    const eddy_tensor b = eddy_constant(g, EDDY_DOUBLES(1, 2, 3));
    eddy_conjugate_gradient(PLAIN(negative), EDDY_LIST(b), y);
    run_says(y[0]);
    eddy_conjugate_gradient(PLAIN(half), EDDY_LIST(Div(b, 0)), y, .name = "infinite");
    run_says(y[0]);
    eddy_gmres(PLAIN(nilpotent), EDDY_LIST(b), y);
    run_says(y[0]);
    eddy_gmres(PLAIN(turned), EDDY_LIST(b), y, .restart = 1, .name = "short");
    run_says(y[0]);
    eddy_lanczos(PLAIN(undefined_operator), EDDY_LIST(b), y);
    run_says(y[0]);
    const eddy_tensor near = eddy_constant(g, EDDY_DOUBLES(1, 5 - 2e-13, 5));
    eddy_lanczos(FUNCTION(diagonal, near), EDDY_LIST(eddy_constant(g, EDDY_DOUBLES(0, 0, 1))), y);
    run_says(eddy_gradient(Square(eddy_dot(y[1], b)), near));
    golden_end();
}
END_TEST

/* ---------------------------------------------------------------- no memory -- */

static void build_without_memory(failing_allocator *f, eddy_error *e)
{
    const long  at = f->at;
    eddy_tensor y[EDDY_MAX_RESULTS];
    f->at = 0;
    eddy_graph *h = eddy_graph_new(.allocator = &f->table);
    eddy_tensor a = eddy_placeholder(h, "a", F64, EDDY_SCALAR);
    eddy_tensor t = eddy_placeholder(h, "t", F64, EDDY_SHAPE(2));
    f->at = f->calls + at;
    eddy_fixed_point(FUNCTION(nearly_doubled, a), EDDY_LIST(a), y);
    if (eddy_graph_status(h) == EDDY_OK) eddy_gradient(y[0], a);
    if (eddy_graph_status(h) == EDDY_OK)
        eddy_odeint(FUNCTION(rate, a), EDDY_LIST(a), t, y, EDDY_RK4, EDDY_ODE_ADJOINT);
    if (eddy_graph_status(h) == EDDY_OK) eddy_gradient(y[0], a);
    e->status = eddy_graph_status(h);
    snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(h));
    golden_forget_nodes(e);
    eddy_graph_free(h);
}

static void build_gmres_without_memory(failing_allocator *f, eddy_error *e)
{
    const long  at = f->at;
    eddy_tensor y[EDDY_MAX_RESULTS];
    f->at = 0;
    eddy_graph *h = eddy_graph_new(.allocator = &f->table);
    eddy_tensor a = eddy_placeholder(h, "a", F64, EDDY_SCALAR);
    f->at = f->calls + at;
    eddy_gmres(FUNCTION(scaled, a), EDDY_LIST(a), y);
    if (eddy_graph_status(h) == EDDY_OK) eddy_gradient(y[0], a);
    e->status = eddy_graph_status(h);
    snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(h));
    golden_forget_nodes(e);
    eddy_graph_free(h);
}

static void build_lanczos_without_memory(failing_allocator *f, eddy_error *e)
{
    const long  at = f->at;
    eddy_tensor y[EDDY_MAX_RESULTS];
    f->at = 0;
    eddy_graph *h = eddy_graph_new(.allocator = &f->table);
    eddy_tensor a = eddy_placeholder(h, "a", F64, EDDY_SCALAR);
    eddy_tensor v = eddy_placeholder(h, "v", F64, EDDY_SHAPE(2));
    f->at = f->calls + at;
    eddy_lanczos(FUNCTION(scaled, a), EDDY_LIST(v), y);
    if (eddy_graph_status(h) == EDDY_OK) eddy_gradient(y[1], a);
    e->status = eddy_graph_status(h);
    snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(h));
    golden_forget_nodes(e);
    eddy_graph_free(h);
}

START_TEST(of_memory)
{
    golden_begin("control/solver_memory");
    golden_no_memory(build_without_memory);
    golden_end();
    golden_begin("control/gmres_memory");
    golden_no_memory(build_gmres_without_memory);
    golden_end();
    golden_begin("control/lanczos_memory");
    golden_no_memory(build_lanczos_without_memory);
    golden_end();
}
END_TEST

Suite *messages_solvers_suite(void)
{
    Suite *suite = suite_create("messages_solvers");
    TCase *c = tcase_create("messages_solvers");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, of_builders);
    tcase_add_test(c, in_runs);
    tcase_add_test(c, of_memory);
    suite_add_tcase(suite, c);
    return suite;
}
