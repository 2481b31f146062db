/* optimizer_formulas.c -- see optimizer_formulas.h.  The formulas are TensorFlow's. */
#include "tests/lib/optimizer_formulas.h"

#include <math.h>

static double sign(double x) { return (x > 0) - (x < 0); }
static double shrink(double x, double by) { return sign(x) * fmax(fabs(x) - by, 0); }

/* ----------------------------------------------------- descent, momentum -- */

static eddy_optimizer *make_descent(eddy_graph *g)
{
    return eddy_gradient_descent(g, real(g, 0.1));
}
static void descent(double g, double *x, int step)
{
    (void)step;
    x[0] -= 0.1 * g;
}

static eddy_optimizer *make_momentum(eddy_graph *g)
{
    return eddy_momentum(g, real(g, 0.1), real(g, 0.9));
}
static void momentum(double g, double *x, int step)
{
    (void)step;
    x[1] = 0.9 * x[1] + g;
    x[0] -= 0.1 * x[1];
}

static eddy_optimizer *make_nesterov(eddy_graph *g)
{
    return eddy_momentum(g, real(g, 0.1), real(g, 0.9), .use_nesterov = true);
}
static void nesterov(double g, double *x, int step)
{
    (void)step;
    x[1] = 0.9 * x[1] + g;
    x[0] -= 0.1 * (g + 0.9 * x[1]);
}

/* ---------------------------------------------------------- the adaptive -- */

static eddy_optimizer *make_adam(eddy_graph *g)
{
    return eddy_adam(g, real(g, 0.1), real(g, 0.9), real(g, 0.99), real(g, 1e-6));
}
static void adam(double g, double *x, int step)
{
    const double alpha = 0.1 * sqrt(1 - pow(0.99, step)) / (1 - pow(0.9, step));
    x[1] = 0.9 * x[1] + 0.1 * g;
    x[2] = 0.99 * x[2] + 0.01 * g * g;
    x[0] -= alpha * x[1] / (sqrt(x[2]) + 1e-6);
}

static eddy_optimizer *make_adagrad(eddy_graph *g) { return eddy_adagrad(g, real(g, 0.1)); }
static void adagrad(double g, double *x, int step)
{
    (void)step;
    x[1] += g * g;
    x[0] -= 0.1 * g / sqrt(x[1]);
}

static eddy_optimizer *make_da(eddy_graph *g)
{
    return eddy_adagrad_da(g, real(g, 0.5), eddy_get_or_create_global_step(g), 0.2);
}
static void da(double g, double *x, int step)
{
    (void)step;
    x[1] += g;
    x[2] += g * g;
    x[0] = -0.5 * x[1] / sqrt(x[2]);
}

static eddy_optimizer *make_da_l1_l2(eddy_graph *g)
{
    return eddy_adagrad_da(g, real(g, 0.5), eddy_get_or_create_global_step(g), 0.2, 0.01, 0.5);
}
static void da_l1_l2(double g, double *x, int step)
{
    x[1] += g;
    x[2] += g * g;
    x[0] = -0.5 * shrink(x[1], 0.01 * step) / (0.5 * step * 0.5 + sqrt(x[2]));
}

static eddy_optimizer *make_adadelta(eddy_graph *g)
{
    return eddy_adadelta(g, real(g, 0.5), real(g, 0.95), real(g, 1e-6));
}
static void adadelta(double g, double *x, int step)
{
    (void)step;
    x[1] = 0.95 * x[1] + 0.05 * g * g;
    const double u = sqrt(x[2] + 1e-6) / sqrt(x[1] + 1e-6) * g;
    x[2] = 0.95 * x[2] + 0.05 * u * u;
    x[0] -= 0.5 * u;
}

static eddy_optimizer *make_rmsprop(eddy_graph *g)
{
    return eddy_rmsprop(g, real(g, 0.1), real(g, 0.8), real(g, 0.5), real(g, 1e-3));
}
static void rmsprop(double g, double *x, int step)
{
    (void)step;
    x[1] = 0.8 * x[1] + 0.2 * g * g;
    x[2] = 0.5 * x[2] + 0.1 * g / sqrt(x[1] + 1e-3);
    x[0] -= x[2];
}

static eddy_optimizer *make_centered(eddy_graph *g)
{
    return eddy_rmsprop(g, real(g, 0.1), real(g, 0.8), real(g, 0.5), real(g, 1e-3),
                        .centered = true);
}
static void centered(double g, double *x, int step)
{
    (void)step;
    x[1] = 0.8 * x[1] + 0.2 * g * g;
    x[3] = 0.8 * x[3] + 0.2 * g;
    x[2] = 0.5 * x[2] + 0.1 * g / sqrt(x[1] - x[3] * x[3] + 1e-3);
    x[0] -= x[2];
}

/* ----------------------------------------------------- Ftrl, the proximal -- */

static void ftrl_by(double g, double *x, double p, double l1, double l2, double shrinkage,
                    double beta)
{
    const double lr = 0.5, before = pow(x[1], p), now = pow(x[1] + g * g, p);
    x[2] += g + 2 * shrinkage * x[0] - (now - before) / lr * x[0];
    x[1] += g * g;
    x[0] = fabs(x[2]) > l1 ? (l1 * sign(x[2]) - x[2]) / ((now + beta) / lr + 2 * l2) : 0;
}

static eddy_optimizer *make_ftrl(eddy_graph *g) { return eddy_ftrl(g, real(g, 0.5)); }
static void ftrl(double g, double *x, int step)
{
    (void)step;
    ftrl_by(g, x, 0.5, 0, 0, 0, 0);
}

static eddy_optimizer *make_ftrl_full(eddy_graph *g)
{
    return eddy_ftrl(g, real(g, 0.5), -0.3, 0.2, .l1_regularization_strength = 0.03,
                     .l2_regularization_strength = 0.2,
                     .l2_shrinkage_regularization_strength = 0.1, .beta = 0.7);
}
static void ftrl_full(double g, double *x, int step)
{
    (void)step;
    ftrl_by(g, x, 0.3, 0.03, 0.2, 0.1, 0.7);
}

static eddy_optimizer *make_proximal(eddy_graph *g)
{
    return eddy_proximal_gradient_descent(g, real(g, 0.1), 0.05, 0.3);
}
static void proximal(double g, double *x, int step)
{
    (void)step;
    x[0] = shrink(x[0] - 0.1 * g, 0.1 * 0.05) / (1 + 0.1 * 0.3);
}

static eddy_optimizer *make_proximal_adagrad(eddy_graph *g)
{
    return eddy_proximal_adagrad(g, real(g, 0.1), 0.2, 0.05, 0.3);
}
static void proximal_adagrad(double g, double *x, int step)
{
    (void)step;
    x[1] += g * g;
    const double e = 0.1 / sqrt(x[1]);
    x[0] = shrink(x[0] - e * g, e * 0.05) / (1 + e * 0.3);
}

const optimizer_case optimizer_cases[] = {
    { "GradientDescent", make_descent, descent, .slots = { NULL } },
    { "Momentum", make_momentum, momentum, .slots = { "momentum" } },
    { "Nesterov", make_nesterov, nesterov, .slots = { "momentum" } },
    { "Adagrad", make_adagrad, adagrad, .slots = { "accumulator" }, .initial = { 0.1 } },
    { "Adadelta", make_adadelta, adadelta, .slots = { "accum", "accum_update" } },
    { "AdagradDA", make_da, da, .initial = { 0, 0.2 }, .counts = true,
      .slots = { "gradient_accumulator", "gradient_squared_accumulator" } },
    { "AdagradDA, l1, l2", make_da_l1_l2, da_l1_l2, .initial = { 0, 0.2 }, .counts = true,
      .slots = { "gradient_accumulator", "gradient_squared_accumulator" } },
    { "Adam", make_adam, adam, .slots = { "m", "v" }, .everywhere = true },
    { "RMSProp", make_rmsprop, rmsprop, .slots = { "rms", "momentum" }, .initial = { 1 } },
    { "RMSProp, centered", make_centered, centered, .slots = { "rms", "momentum", "mg" },
      .initial = { 1 } },
    { "Ftrl", make_ftrl, ftrl, .slots = { "accum", "linear" }, .initial = { 0.1 } },
    { "Ftrl, all terms", make_ftrl_full, ftrl_full, .slots = { "accum", "linear" },
      .initial = { 0.2 } },
    { "ProximalGradientDescent", make_proximal, proximal, .slots = { NULL } },
    { "ProximalAdagrad", make_proximal_adagrad, proximal_adagrad, .slots = { "accumulator" },
      .initial = { 0.2 } },
};
const int optimizer_case_count = sizeof optimizer_cases / sizeof *optimizer_cases;

/* ---------------------------------------------------------------- helpers -- */

two_variables two_of(eddy_graph *g, const double *v0, const double *v1, const double *g0,
                     const double *g1)
{
    two_variables t = { .v0 = eddy_variable(g, vector(g, 2, v0), .name = "v0"),
                        .v1 = eddy_variable(g, vector(g, 2, v1), .name = "v1") };
    t.pairs[0] = (eddy_gradient_pair){ vector(g, 2, g0), t.v0 };
    t.pairs[1] = (eddy_gradient_pair){ vector(g, 2, g1), t.v1 };
    return t;
}

two_variables constants(eddy_graph *g)
{
    return two_of(g, (double[]){ 1, 2 }, (double[]){ 3, 4 }, (double[]){ 0.1, 0.1 },
                  (double[]){ 0.01, 0.01 });
}

eddy_tensor pair_of(eddy_graph *g, double a, double b)
{
    return vector(g, 2, (double[]){ a, b });
}

eddy_tensor index_of(eddy_graph *g, int64_t n, const int32_t *x)
{
    return eddy_const(g, EDDY_INT32, EDDY_SHAPE(n), x);
}

eddy_tensor variable_of(eddy_tensor initial_value, const char *name)
{
    return eddy_variable(initial_value.graph, .initial_value = initial_value, .name = name);
}

eddy_session *started(eddy_graph *g)
{
    const eddy_tensor init = eddy_initializer(g);
    fits(g);
    eddy_session *s = eddy_session_new(g);
    ck_assert_ptr_nonnull(s);
    runs(s, init);
    return s;
}

void near(eddy_session *s, eddy_tensor t, int n, const double *want, double tolerance)
{
    eddy_array *a = eddy_fetch(s, t);
    ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
    ck_assert_int_eq(eddy_array_count(a), n);
    for (int i = 0; i < n; i++) {
        const double got = eddy_array_get(a, i);
        ck_assert_msg(fabs(got - want[i]) <= tolerance * fmax(1, fabs(want[i])),
                      "%s[%d] is %.12g, not %.12g", eddy_name_of(t), i, got, want[i]);
    }
    eddy_array_free(a);
}

void near_pair(eddy_session *s, eddy_tensor t, double a, double b, double tolerance)
{
    near(s, t, 2, (double[]){ a, b }, tolerance);
}

void has_pair(eddy_session *s, eddy_tensor t, double a, double b)
{
    has(s, t, 2, (double[]){ a, b });
}
