/* test_optim_recent.c -- Rprop, ASGD, AdaBelief, Adan, NovoGrad, Muon, Prodigy and schedule-free
 * AdamW against plain loops in float64; dampening and weight decay of momentum; SAM. */
#include "tests/lib/optimizer_steps.h"

Suite *optim_recent_suite(void);

static eddy_tensor number(eddy_graph *g, double x) { return eddy_number(g, EDDY_FLOAT64, x); }
static double      sign(double x) { return (x > 0) - (x < 0); }

/* ---------------------------------------------------------------- the references -- */

static void rprop(int t, const bool *touched, const double *d, double *x, steps_memory *m)
{
    (void)touched;
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        double *prev = &m->slot[0][i], *size = &m->slot[1][i], g = d[i];
        if (t == 1) *size = 0.05;
        const double turn = g * *prev;
        *size = fmin(fmax(*size * (turn > 0 ? 1.2 : turn < 0 ? 0.5 : 1), 0.004), 0.09);
        if (turn < 0) g = 0;
        x[i] -= sign(g) * *size;
        *prev = g;
    }
}

/* The average from step 5 on; x itself is what steps_check looks at, the average is added. */
static void asgd(int t, const bool *touched, const double *d, double *x, steps_memory *m)
{
    (void)touched;
    const double eta = 0.1 / pow(1 + 0.02 * 0.1 * (t - 1), 0.75);
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        x[i] = x[i] * (1 - 0.02 * eta) - eta * d[i];
        m->slot[0][i] += (x[i] - m->slot[0][i]) / fmax(1, t - 1 - 4.);
    }
}

static void adabelief(int t, const bool *touched, const double *d, double *x, steps_memory *m)
{
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        if (!touched[i]) continue;
        double *a = &m->slot[0][i], *s = &m->slot[1][i];
        *a = 0.9 * *a + 0.1 * d[i];
        *s = 0.999 * *s + 0.001 * (d[i] - *a) * (d[i] - *a) + 1e-12;
        x[i] -= 0.05 * *a / (1 - pow(0.9, t)) / (sqrt(*s / (1 - pow(0.999, t))) + 1e-12);
    }
}

static void adan(int t, const bool *touched, const double *g, double *x, steps_memory *m)
{
    (void)touched;
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        double *a = &m->slot[0][i], *v = &m->slot[1][i], *n = &m->slot[2][i];
        const double d = t == 1 ? 0 : g[i] - m->slot[3][i], ahead = g[i] + 0.92 * d;
        *a = 0.98 * *a + (1 - 0.98) * g[i];
        *v = 0.92 * *v + (1 - 0.92) * d;
        *n = 0.99 * *n + (1 - 0.99) * ahead * ahead;
        m->slot[3][i] = g[i];
        const double below = sqrt(*n / (1 - pow(0.99, t))) + 1e-8;
        const double up = *a / (1 - pow(0.98, t)) + 0.92 * *v / (1 - pow(0.92, t));
        x[i] = (x[i] - 0.05 * up / below) / (1 + 0.05 * 0.1);
    }
}

static void novograd(int t, const bool *touched, const double *g, double *x, steps_memory *m)
{
    (void)touched;
    double square = 0;
    for (int i = 0; i < STEPS_ELEMENTS; i++) square += g[i] * g[i];
    m->scalar = t == 1 ? square : 0.98 * m->scalar + (1 - 0.98) * square;
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        m->slot[0][i] = 0.95 * m->slot[0][i] + g[i] / (sqrt(m->scalar) + 1e-8) + 0.1 * x[i];
        x[i] -= 0.05 * m->slot[0][i];
    }
}

/* The rows of U are those of the matrix: 4 by 3, so tall; the steps are computed on U'. */
static void newton(double *u)
{
    enum { R = STEPS_ROWS, C = STEPS_COLUMNS };
    double norm = 0, a[C][C], aa[C][C], y[STEPS_ELEMENTS];
    for (int i = 0; i < STEPS_ELEMENTS; i++) norm += u[i] * u[i];
    for (int i = 0; i < STEPS_ELEMENTS; i++) u[i] /= fmax(sqrt(norm), 1e-7);
    for (int times = 0; times < 5; times++) {
        for (int i = 0; i < C; i++)
            for (int j = 0; j < C; j++) {
                a[i][j] = 0;
                for (int k = 0; k < R; k++) a[i][j] += u[k * C + i] * u[k * C + j];
            }
        for (int i = 0; i < C; i++)
            for (int j = 0; j < C; j++) {
                aa[i][j] = 0;
                for (int k = 0; k < C; k++) aa[i][j] += a[i][k] * a[k][j];
            }
        for (int r = 0; r < R; r++)
            for (int j = 0; j < C; j++) {
                y[r * C + j] = 3.4445 * u[r * C + j];
                for (int k = 0; k < C; k++)
                    y[r * C + j] += u[r * C + k] * (-4.775 * a[k][j] + 2.0315 * aa[k][j]);
            }
        memcpy(u, y, sizeof y);
    }
}

static void muon_by(double scale, const double *g, double *x, steps_memory *m)
{
    double u[STEPS_ELEMENTS];
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        m->slot[0][i] = 0.95 * m->slot[0][i] + (1 - 0.95) * g[i];
        u[i] = g[i] + (m->slot[0][i] - g[i]) * 0.95;
    }
    newton(u);
    for (int i = 0; i < STEPS_ELEMENTS; i++) x[i] = x[i] * (1 - 0.02 * 0.1) - 0.02 * scale * u[i];
}

static void muon(int t, const bool *touched, const double *g, double *x, steps_memory *m)
{
    (void)t, (void)touched;
    muon_by(1, g, x, m);
}

/* One variable, so its sums are all there are. */
static void prodigy(int t, const bool *touched, const double *g, double *x, steps_memory *m)
{
    static double first[STEPS_ELEMENTS], numerator;
    (void)touched;
    if (t == 1) {
        memcpy(first, x, sizeof first);
        m->scalar = 1e-3;
        numerator = 0;
    }
    const double d = m->scalar, rate = d * 0.5, weight = d / 1e-3 * rate, beta3 = sqrt(0.999);
    double       below = 0;
    numerator *= beta3;
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        numerator += weight * g[i] * (first[i] - x[i]);
        m->slot[0][i] = 0.9 * m->slot[0][i] + d * 0.1 * g[i];
        m->slot[1][i] = 0.999 * m->slot[1][i] + d * d * 0.001 * g[i] * g[i];
        m->slot[2][i] = beta3 * m->slot[2][i] + weight * g[i];
        below += fabs(m->slot[2][i]);
    }
    m->scalar = fmax(d, 2 * numerator / below);
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        x[i] -= 0.01 * rate * x[i];
        x[i] -= rate * m->slot[0][i] / (sqrt(m->slot[1][i]) + m->scalar * 1e-8);
    }
}

/* The rate warms up over 5 steps. */
static double warm(int t) { return 0.05 * fmin(1, t / 5.0); }

static void schedule_free(int t, const bool *touched, const double *g, double *y, steps_memory *m)
{
    (void)touched;
    const double lr = warm(t), weight = lr * lr;
    m->scalar += weight;
    const double c = weight / m->scalar;
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        double *z = &m->slot[0][i], *v = &m->slot[1][i];
        if (t == 1) *z = y[i];
        *v = 0.999 * *v + 0.001 * g[i] * g[i];
        const double u = g[i] / (sqrt(*v / (1 - pow(0.999, t))) + 1e-8) + 0.1 * y[i];
        y[i] += (*z - y[i]) * c;
        y[i] += u * lr * (0.9 * (1 - c) - 1);
        *z -= lr * u;
    }
}

/* torch.optim.SGD with momentum, dampening and weight_decay; without and with Nesterov, which
 * it has only without dampening. */
static void damped(int t, const bool *touched, const double *g, double *x, steps_memory *m)
{
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        if (!touched[i]) continue;
        const double d = g[i] + 0.1 * x[i];
        m->slot[0][i] = t == 1 ? d : 0.9 * m->slot[0][i] + (1 - 0.3) * d;
        x[i] -= 0.05 * m->slot[0][i];
    }
}

static void decayed_nesterov(int t, const bool *touched, const double *g, double *x,
                             steps_memory *m)
{
    (void)t;
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        if (!touched[i]) continue;
        const double d = g[i] + 0.1 * x[i];
        m->slot[0][i] = 0.9 * m->slot[0][i] + d;
        x[i] -= 0.05 * (d + 0.9 * m->slot[0][i]);
    }
}

/* torch.optim.Adamax with weight_decay; of sparse gradients the named rows alone. */
static void coupled_adamax(int t, const bool *touched, const double *g, double *x, steps_memory *m)
{
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        if (!touched[i]) continue;
        const double d = g[i] + 0.1 * x[i];
        m->slot[0][i] = 0.9 * m->slot[0][i] + 0.1 * d;
        m->slot[1][i] = fmax(0.999 * m->slot[1][i], fabs(d) + 1e-8);
        x[i] -= 0.05 / (1 - pow(0.9, t)) * m->slot[0][i] / m->slot[1][i];
    }
}

static void clipped(int t, const bool *touched, const double *g, double *x, steps_memory *m)
{
    (void)t, (void)touched, (void)m;
    double norm = 0, d[STEPS_ELEMENTS];
    for (int i = 0; i < STEPS_ELEMENTS; i++) {
        d[i] = fmax(fmin(g[i], 0.9), -0.9);
        norm += d[i] * d[i];
    }
    for (int i = 0; i < STEPS_ELEMENTS; i++) x[i] -= 0.1 * d[i] / fmax(1, sqrt(norm) / 0.5);
}

/* ------------------------------------------------------------------- the builders -- */

static eddy_optimizer *make_rprop(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_rprop(g, number(g, 0.05), .min_step = number(g, 0.004),
                      .max_step = number(g, 0.09));
}
static eddy_optimizer *make_asgd(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_asgd(g, number(g, 0.1), number(g, 0.02), .t0 = number(g, 4));
}
static eddy_optimizer *make_adabelief(eddy_graph *g, bool lazy)
{
    return eddy_adabelief(g, number(g, 0.05), .epsilon = number(g, 1e-12), .lazy = lazy);
}
static eddy_optimizer *make_adan(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_adan(g, number(g, 0.05), .weight_decay = number(g, 0.1));
}
static eddy_optimizer *make_novograd(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_novograd(g, number(g, 0.05), .weight_decay = number(g, 0.1));
}
static eddy_optimizer *make_muon(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_muon(g, number(g, 0.02));
}
static eddy_optimizer *make_prodigy(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_prodigy(g, number(g, 0.5), .weight_decay = number(g, 0.01), .d0 = 1e-3,
                        .d_coef = number(g, 2));
}
static double rate_of(void *data, double x)
{
    (void)data;
    return warm((int)x + 1);
}
static eddy_optimizer *make_damped(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_momentum(g, number(g, 0.05), number(g, 0.9), .dampening = number(g, 0.3),
                         .weight_decay = number(g, 0.1));
}
static eddy_optimizer *make_decayed_nesterov(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_momentum(g, number(g, 0.05), number(g, 0.9), .use_nesterov = true,
                         .weight_decay = number(g, 0.1));
}
static eddy_optimizer *make_coupled(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_coupled_weight_decay(eddy_adamax(g, number(g, 0.05), .lazy = true),
                                     number(g, 0.1));
}
static eddy_optimizer *make_clipped(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_clipped_gradients(eddy_gradient_descent(g, number(g, 0.1)),
                                  .value = number(g, 0.9), .global_norm = number(g, 0.5));
}

static const steps_case cases[] = {
    { "Rprop", make_rprop, rprop, .float32 = 2e-6 },
    { "ASGD", make_asgd, asgd, .float32 = 2e-6 },
    { "AdaBelief", make_adabelief, adabelief, .has_lazy = true, .float32 = 1e-4 },
    { "Adan", make_adan, adan, .float32 = 4e-6 },
    { "NovoGrad", make_novograd, novograd, .float32 = 2e-6 },
    { "Muon", make_muon, muon, .float32 = 1e-5, .float64 = 1e-11 },
    { "Prodigy", make_prodigy, prodigy, .float32 = 1e-5 },
    { "Momentum, dampening", make_damped, damped, .is_lazy = true, .float32 = 2e-6 },
    { "Nesterov, weight_decay", make_decayed_nesterov, decayed_nesterov, .is_lazy = true,
      .float32 = 2e-6 },
    { "Adamax, coupled weight decay", make_coupled, coupled_adamax, .is_lazy = true,
      .float32 = 2e-6 },
};
static const steps_case only_dense[] = {
    { "clipped descent", make_clipped, clipped, .float32 = 2e-6 },
};

START_TEST(twenty_steps) { steps_check(&cases[_i]); }
END_TEST

/* Slices are clipped as their rows are, before equal ones are summed; so only dense ones. */
START_TEST(clipped_steps)
{
    for (int k = 0; k < 2; k++) {
        double       x[STEPS_ELEMENTS], want[STEPS_ELEMENTS], g[STEPS_ELEMENTS];
        steps_memory m = { 0 };
        steps_run(&only_dense[0], k ? EDDY_FLOAT32 : EDDY_FLOAT64, STEPS_DENSE, STEPS, x);
        steps_begin(want);
        for (int t = 1; t <= STEPS; t++) {
            steps_gradient(t, g);
            clipped(t, NULL, g, want, &m);
        }
        for (int i = 0; i < STEPS_ELEMENTS; i++)
            ck_assert_double_eq_tol(x[i], want[i], k ? 2e-6 : 1e-12);
    }
}
END_TEST

/* ------------------------------------------------------------------- by themselves -- */

static eddy_graph   *g;
static eddy_session *s;

static void setup(void) { g = eddy_graph_new(); }
static void teardown(void)
{
    eddy_session_free(s);
    s = NULL;
    eddy_graph_free(g);
}

static eddy_tensor vector(const char *name, int n, const double *x)
{
    return eddy_variable(g, eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(n), x), .name = name);
}

static void start(void)
{
    eddy_tensor init = eddy_initializer(g);
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    s = eddy_session_new(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(init), NULL), EDDY_OK);
}

static void run(eddy_tensor t)
{
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(t), NULL) == EDDY_OK, "%s",
                  eddy_session_message(s));
}

static double element(eddy_tensor t, int i)
{
    eddy_array *a = eddy_fetch(s, t);
    ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
    const double x = eddy_array_get(a, i);
    eddy_array_free(a);
    return x;
}

/* x -> sum(c (x - 1)^2) / 2 has the gradient c (x - 1). */
static const double bowl[] = { 0.5, 1, 2, 3 };
enum { BOWL = 4 };

static eddy_tensor bowl_loss(eddy_tensor x)
{
    eddy_tensor c = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(BOWL), bowl);
    return Mul(0.5, Sum(Mul(c, Square(Sub(x, 1)))));
}

START_TEST(asgd_averages)
{
    double          x[BOWL] = { 0, 2, -1, 3 }, mean[BOWL] = { 0 };
    eddy_tensor     v = vector("v", BOWL, x);
    eddy_optimizer *o = eddy_asgd(g, number(g, 0.1), number(g, 0.02), .t0 = number(g, 4));
    eddy_tensor     train = eddy_minimize(o, bowl_loss(v));
    start();
    for (int t = 1; t <= STEPS; t++) {
        const double eta = 0.1 / pow(1 + 0.02 * 0.1 * (t - 1), 0.75);
        run(train);
        for (int i = 0; i < BOWL; i++) {
            x[i] = x[i] * (1 - 0.02 * eta) - eta * bowl[i] * (x[i] - 1);
            mean[i] += (x[i] - mean[i]) / fmax(1, t - 1 - 4.);
            if (t <= 5)
                ck_assert_double_eq(element(eddy_get_slot(o, v, "ax"), i), element(v, i));
            ck_assert_double_eq_tol(element(eddy_get_slot(o, v, "ax"), i), mean[i], 1e-12);
        }
    }
}
END_TEST

START_TEST(schedule_free_steps)
{
    double          y[STEPS_ELEMENTS], d[STEPS_ELEMENTS], x[STEPS_ELEMENTS];
    steps_memory    m = { 0 };
    steps_begin(y);
    eddy_tensor     v = vector("v", STEPS_ELEMENTS, y);
    eddy_tensor     step = eddy_create_global_step(g);
    eddy_tensor     in = eddy_placeholder(g, "g", EDDY_FLOAT64, EDDY_SHAPE(STEPS_ELEMENTS));
    eddy_tensor     rate = eddy_host_scalar(g, rate_of, .x = Cast(step, EDDY_FLOAT64));
    eddy_optimizer *o = eddy_schedule_free_adamw(g, rate, .weight_decay = number(g, 0.1));
    eddy_gradient_pair p = { in, v };
    eddy_tensor     train = eddy_apply_gradients(o, &p, 1, step);
    eddy_tensor     evaluate = eddy_schedule_free_evaluate(o), back = eddy_schedule_free_train(o);
    start();
    for (int i = 0; i < STEPS_ELEMENTS; i++) x[i] = y[i];
    double total = 0;
    for (int t = 1; t <= STEPS; t++) {
        eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(STEPS_ELEMENTS));
        steps_feed(t, a);
        steps_gradient(t, d);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ in, a }), EDDY_FETCH(train), NULL), EDDY_OK);
        eddy_array_free(a);
        schedule_free(t, NULL, d, y, &m);
        total += warm(t) * warm(t);
        const double c = warm(t) * warm(t) / total;
        for (int i = 0; i < STEPS_ELEMENTS; i++) x[i] += c * (m.slot[0][i] - x[i]);
    }
    for (int i = 0; i < STEPS_ELEMENTS; i++) ck_assert_double_eq_tol(element(v, i), y[i], 1e-12);
    run(evaluate);               /* the average of the z, as the paper writes it */
    for (int i = 0; i < STEPS_ELEMENTS; i++) ck_assert_double_eq_tol(element(v, i), x[i], 1e-12);
    run(back);
    for (int i = 0; i < STEPS_ELEMENTS; i++) ck_assert_double_eq_tol(element(v, i), y[i], 1e-12);
}
END_TEST

/* A wide matrix, of three axes: 2 x 1 rows of 6, and the last axis of sqrt(3) the scale. */
START_TEST(muon_of_wide_matrices)
{
    enum { WIDE = 6 };
    double          x[2 * WIDE], got[2 * WIDE] = { 0 };
    for (int i = 0; i < 2 * WIDE; i++) x[i] = sin(3 * i + 1.0);
    eddy_tensor     v = eddy_variable(g, eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(2, 1, WIDE), x),
                                      .name = "v");
    eddy_optimizer *o = eddy_muon(g, number(g, 1), .weight_decay = number(g, 0));
    eddy_tensor     train = eddy_minimize(o, Mul(0.5, Sum(Square(v))));
    start();
    run(train);
    for (int i = 0; i < 2 * WIDE; i++) got[i] = (x[i] - element(v, i)) / sqrt(3);
    double dot = 0, first = 0, second = 0;      /* rows nearly orthonormal */
    for (int i = 0; i < WIDE; i++) {
        dot += got[i] * got[WIDE + i];
        first += got[i] * got[i];
        second += got[WIDE + i] * got[WIDE + i];
    }
    ck_assert_double_lt(fabs(dot), 0.3);
    ck_assert(first > 0.45 && first < 1.5 && second > 0.45 && second < 1.5);
}
END_TEST

/* Two variables: the estimate is one for both. */
START_TEST(prodigy_estimates_for_all)
{
    double          a[2] = { 1, -1 }, b[1] = { 3 };
    eddy_tensor     u = vector("u", 2, a), w = vector("w", 1, b);
    eddy_tensor     loss = Mul(0.5, Add(Sum(Square(u)), Sum(Square(w))));
    eddy_optimizer *o = eddy_prodigy(g);
    eddy_tensor     train = eddy_minimize(o, loss), all[16];
    start();
    for (int t = 0; t < 200; t++) run(train);
    const int n = eddy_optimizer_variables(o, all, 16);
    ck_assert_int_eq(n, 10);
    for (int i = 0; i < n; i++)
        if (strcmp(eddy_name_of(all[i]), "d") == 0)
            ck_assert_double_gt(element(all[i], 0), 0.1);      /* from 1e-6 */
    ck_assert_double_lt(element(loss, 0), 0.1);
}
END_TEST

/* ----------------------------------------------------------------------------- SAM -- */

/* The gradient at x + rho g/|g|, over two variables, one of them rows of a lookup. */
START_TEST(sharpness_aware)
{
    const double x[BOWL] = { 0, 2, -1, 3 }, y[2] = { 0.5, -0.25 };
    eddy_tensor  v = vector("v", BOWL, x), w = vector("w", 2, y), unused = vector("unused", 2, y);
    eddy_tensor  rows = Gather(w, eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 1, 1 }));
    eddy_tensor  loss = Add(bowl_loss(v), Sum(Mul(Square(rows), Exp(Sum(eddy_read(v))))));
    eddy_optimizer    *o = eddy_gradient_descent(g, number(g, 0.1));
    eddy_gradient_pair p[4];
    ck_assert_int_eq(eddy_sharpness_aware_gradients(o, loss, p, 4, .rho = number(g, 0.2)), 3);
    eddy_tensor train = eddy_apply_gradients(o, p, 3);
    ck_assert_int_eq(p[2].gradient.node, 0);
    ck_assert(eddy_same(p[2].variable, unused));
    start();
    double at[6], d[6], norm = 0;
    memcpy(at, x, sizeof x);
    memcpy(at + BOWL, y, sizeof y);
    for (int pass = 0; pass < 2; pass++) {
        double sum = 0;
        for (int i = 0; i < BOWL; i++) sum += at[i];
        for (int i = 0; i < BOWL; i++)
            d[i] = bowl[i] * (at[i] - 1) + 2 * at[5] * at[5] * exp(sum);
        d[4] = 0;
        d[5] = 4 * at[5] * exp(sum);
        if (pass == 1) break;
        for (int i = 0; i < 6; i++) norm += d[i] * d[i];
        for (int i = 0; i < 6; i++) at[i] += 0.2 * d[i] / sqrt(norm);
    }
    run(train);
    for (int i = 0; i < BOWL; i++) ck_assert_double_eq_tol(element(v, i), x[i] - 0.1 * d[i], 1e-11);
    for (int i = 0; i < 2; i++)
        ck_assert_double_eq_tol(element(w, i), y[i] - 0.1 * d[4 + i], 1e-11);
}
END_TEST

/* Dropout keeps the same elements in both looks: with rho 0 the gradient is the plain one. */
START_TEST(sharpness_aware_draws_once)
{
    const double x[BOWL] = { 0.5, 2, -1, 3 };
    eddy_tensor  v = vector("v", BOWL, x);
    eddy_tensor  kept = eddy_dropout(v, 0.5), plain;
    eddy_tensor  loss = Sum(Square(kept));
    eddy_optimizer    *o = eddy_gradient_descent(g, number(g, 0.1));
    eddy_gradient_pair p[1];
    eddy_sharpness_aware_gradients(o, loss, p, 1, .rho = number(g, 0));
    eddy_gradients(EDDY_LIST(loss), EDDY_LIST(v), &plain);
    eddy_tensor differs = Sum(Abs(Sub(plain, p[0].gradient)));
    start();
    for (int i = 0; i < 8; i++) ck_assert_double_eq(element(differs, 0), 0);
}
END_TEST

Suite *optim_recent_suite(void)
{
    Suite *suite = suite_create("optim_recent");
    TCase *c = tcase_create("optim_recent");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, twenty_steps, 0, sizeof cases / sizeof *cases);
    tcase_add_test(c, clipped_steps);
    tcase_add_test(c, asgd_averages);
    tcase_add_test(c, schedule_free_steps);
    tcase_add_test(c, muon_of_wide_matrices);
    tcase_add_test(c, prodigy_estimates_for_all);
    tcase_add_test(c, sharpness_aware);
    tcase_add_test(c, sharpness_aware_draws_once);
    suite_add_tcase(suite, c);
    return suite;
}
