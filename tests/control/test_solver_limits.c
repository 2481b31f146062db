/* test_solver_limits.c -- solvers with the most tensors that they take, and one more; their
 * gradients are loops over several times as many. */
#include "build/gen/suites.h"
#include "control/solvers.h"
#include "tests/lib/graph_fixture.h"

#include <math.h>

enum { MOST = 30 };

/* (x + theta) / 2 of each tensor, of which theta is the fixed point; the argument after the last
 * tensor is theta. */
static int halfway(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    for (int i = 0; i < in.count - 1; i++)
        y[i] = Mul(Add(in.at[i], in.at[in.count - 1]), 0.5);
    return in.count - 1;
}

/* x - theta, whose root is theta. */
static int difference(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    for (int i = 0; i < in.count - 1; i++) y[i] = Sub(in.at[i], in.at[in.count - 1]);
    return in.count - 1;
}

/* theta x: with ones on the right-hand side, 1 / theta is the solution. */
static int times_theta(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    for (int i = 0; i < in.count - 1; i++) y[i] = Mul(in.at[i], in.at[in.count - 1]);
    return in.count - 1;
}

/* dy/dt = -y. */
static int decay(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    for (int i = 1; i < in.count; i++) y[i - 1] = eddy_neg(in.at[i]);
    return in.count - 1;
}

typedef int solver(eddy_list x, eddy_tensor *y, eddy_tensor theta);

static int fixed_point(eddy_list x, eddy_tensor *y, eddy_tensor theta)
{
    return eddy_fixed_point((eddy_function){ .build = halfway }, x, y, EDDY_LIST(theta));
}
static int root(eddy_list x, eddy_tensor *y, eddy_tensor theta)
{
    return eddy_root((eddy_function){ .build = difference }, x, y, EDDY_LIST(theta));
}
static int conjugate_gradient(eddy_list x, eddy_tensor *y, eddy_tensor theta)
{
    return eddy_conjugate_gradient((eddy_function){ .build = times_theta }, x, y, EDDY_LIST(theta));
}
static int gmres(eddy_list x, eddy_tensor *y, eddy_tensor theta)
{
    return eddy_gmres((eddy_function){ .build = times_theta }, x, y, EDDY_LIST(theta));
}
/* At time theta. */
static int odeint(eddy_list x, eddy_tensor *y, eddy_tensor theta)
{
    const eddy_tensor t = eddy_stack(EDDY_LIST(real(g, 0), theta), 0);
    return eddy_odeint((eddy_function){ .build = decay }, x, t, y, .method = EDDY_RK4,
                       .steps = 100);
}
static int adjoint(eddy_list x, eddy_tensor *y, eddy_tensor theta)
{
    const eddy_tensor t = eddy_stack(EDDY_LIST(real(g, 0), theta), 0);
    return eddy_odeint((eddy_function){ .build = decay }, x, t, y, .method = EDDY_RK4, .steps = 100,
                       .gradient = EDDY_ODE_ADJOINT);
}

/* Each solver with its limit, the solution in its last element, and the solution's derivative by
 * theta, which is 2. */
static const struct { solver *solve; int most; double y, slope; bool late; } rows[] = {
    { fixed_point, 29, 2, 1, false }, { root, 29, 2, 1, false },
    { conjugate_gradient, 20, 0.5, -0.25, false }, { gmres, 20, 0.5, -0.25, false },
    { odeint, 29, 0.1353352832366127, -0.1353352832366127, false },
    { adjoint, 14, 0.1353352832366127, -0.1353352832366127, true },
};
enum { ROWS = sizeof rows / sizeof *rows };

START_TEST(tensors)
{
    eddy_tensor x[MOST], y[EDDY_MAX_RESULTS];
    const int   n = rows[_i].most;
    for (int i = 0; i < MOST; i++) x[i] = vector(g, 1, (double[]){ 1 });
    const eddy_tensor theta = real(g, 2);
    ck_assert_int_eq(rows[_i].solve((eddy_list){ n, x }, y, theta), n);
    const eddy_tensor last = eddy_index(eddy_reshape(y[n - 1], EDDY_SHAPE(EDDY_ANY)), "-1");
    is_number(last, rows[_i].y);
    is_number(eddy_gradient(last, theta), rows[_i].slope);
    const int more = rows[_i].solve((eddy_list){ n + 1, x }, y, theta);
    if (rows[_i].late) {
        ck_assert_int_eq(more, n + 1);
        eddy_gradient(eddy_sum(y[0]), theta);
    } else ck_assert_int_eq(more, 0);
    fails(g, EDDY_LIMIT, "; the limit is ");
}
END_TEST

START_TEST(cycles)
{
    const eddy_function f = { .build = times_theta };
    const eddy_tensor   b = vector(g, 1, (double[]){ 1 }), theta = real(g, 4);
    eddy_tensor         y;
    ck_assert_int_eq(eddy_gmres(f, EDDY_LIST(b), &y, EDDY_LIST(theta), .restart = 1000), 1);
    is_number(y, 0.25);
    ck_assert_int_eq(eddy_gmres(f, EDDY_LIST(b), &y, EDDY_LIST(theta), .restart = 1001), 0);
    fails(g, EDDY_INVALID_ARGUMENT, "1000");
}
END_TEST

Suite *solver_limits_suite(void)
{
    Suite *s = suite_create("solver_limits");
    TCase *c = tcase_create("solver_limits");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, tensors, 0, ROWS);
    tcase_add_test(c, cycles);
    suite_add_tcase(s, c);
    return s;
}
