/* test_optim_matrices.c -- optimizers that use a whole variable: LAMB, LARS, Adafactor, SM3,
 * Shampoo, and weight decay around an optimizer, against plain loops in float64. */
#include "tests/lib/optimizer_steps.h"

Suite *optim_matrices_suite(void);

enum { R = STEPS_ROWS, C = STEPS_COLUMNS, N = STEPS_ELEMENTS };

static eddy_tensor number(eddy_graph *g, double x) { return eddy_number(g, EDDY_FLOAT64, x); }

static double norm(const double *x)
{
    double sum = 0;
    for (int i = 0; i < N; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* ------------------------------------------------------------------ LAMB and LARS -- */

static void lamb(int t, const bool *touched, const double *g, double *x, steps_memory *m)
{
    double u[N];
    (void)touched;
    for (int i = 0; i < N; i++) {
        m->slot[0][i] = 0.9 * m->slot[0][i] + 0.1 * g[i];
        m->slot[1][i] = 0.999 * m->slot[1][i] + 0.001 * g[i] * g[i];
        u[i] = m->slot[0][i] / (1 - pow(0.9, t)) /
               (sqrt(m->slot[1][i] / (1 - pow(0.999, t))) + 1e-6) + 0.01 * x[i];
    }
    const double ratio = norm(x) / norm(u);
    for (int i = 0; i < N; i++) x[i] -= 0.05 * ratio * u[i];
}

static eddy_optimizer *make_lamb(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_lamb(g, number(g, 0.05), .weight_decay = number(g, 0.01));
}

static void lars_by(bool nesterov, const double *g, double *x, steps_memory *m)
{
    const double ratio = 0.02 * norm(x) / (norm(g) + 0.1 * norm(x) + 0.001);
    for (int i = 0; i < N; i++) {
        const double d = 0.5 * ratio * (g[i] + 0.1 * x[i]);
        m->slot[0][i] = 0.8 * m->slot[0][i] + d;
        x[i] -= nesterov ? d + 0.8 * m->slot[0][i] : m->slot[0][i];
    }
}

static void lars(int t, const bool *touched, const double *g, double *x, steps_memory *m)
{
    (void)t, (void)touched;
    lars_by(false, g, x, m);
}

static void lars_nesterov(int t, const bool *touched, const double *g, double *x, steps_memory *m)
{
    (void)t, (void)touched;
    lars_by(true, g, x, m);
}

static eddy_optimizer *lars_of(eddy_graph *g, bool nesterov)
{
    return eddy_lars(g, number(g, 0.5), number(g, 0.8), number(g, 0.1), number(g, 0.02),
                     number(g, 0.001), .use_nesterov = nesterov);
}

static eddy_optimizer *make_lars(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return lars_of(g, false);
}

static eddy_optimizer *make_lars_nesterov(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return lars_of(g, true);
}

/* ---------------------------------------------------------------------- Adafactor -- */

/* The algorithm with sums, as the paper has it: V = R C / sum(R). */
static void adafactor_by(double rate, double beta1, const double *g, double *x, steps_memory *m,
                         double b)
{
    double *r = m->slot[0], *c = m->slot[1], u[N], sum = 0;
    for (int i = 0; i < R; i++) r[i] *= b;
    for (int j = 0; j < C; j++) c[j] *= b;
    for (int i = 0; i < N; i++) {
        r[i / C] += (1 - b) * (g[i] * g[i] + 1e-30);
        c[i % C] += (1 - b) * (g[i] * g[i] + 1e-30);
    }
    for (int i = 0; i < R; i++) sum += r[i];
    for (int i = 0; i < N; i++) u[i] = g[i] / sqrt(r[i / C] * c[i % C] / sum);
    rate *= fmax(0.001, norm(x) / sqrt(N)) / fmax(1, norm(u) / sqrt(N));
    for (int i = 0; i < N; i++) {
        m->slot[2][i] = beta1 * m->slot[2][i] + (1 - beta1) * rate * u[i];
        x[i] -= m->slot[2][i];
    }
}

static void adafactor(int t, const bool *touched, const double *g, double *x, steps_memory *m)
{
    (void)touched;
    adafactor_by(fmin(0.01, 1 / sqrt(t)), 0, g, x, m, 1 - pow(t, -0.8));
}

static void adafactor_mean(int t, const bool *touched, const double *g, double *x, steps_memory *m)
{
    (void)touched;
    adafactor_by(0.1, 0.9, g, x, m, 1 - pow(t, -0.8));
}

static eddy_optimizer *make_adafactor(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_adafactor(g);
}

static eddy_optimizer *make_adafactor_mean(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_adafactor(g, number(g, 0.1), number(g, 0.9));
}

/* ---------------------------------------------------------------------------- SM3 -- */

static double sm3_average(double old, double g, double n)
{
    return 0.9 * old + 0.1 * (n > 0 ? g / sqrt(n) : 0);
}

static void sm3_dense(const double *g, double *x, steps_memory *m)
{
    double *r = m->slot[0], *c = m->slot[1], rows[R] = { 0 }, columns[C] = { 0 };
    for (int i = 0; i < N; i++) {
        const double n = fmin(r[i / C], c[i % C]) + g[i] * g[i];
        rows[i / C] = fmax(rows[i / C], n);
        columns[i % C] = fmax(columns[i % C], n);
        m->slot[2][i] = sm3_average(m->slot[2][i], g[i], n);
        x[i] -= 0.05 * m->slot[2][i];
    }
    memcpy(r, rows, sizeof rows);
    memcpy(c, columns, sizeof columns);
}

static void sm3(int t, const bool *touched, const double *g, double *x, steps_memory *m)
{
    double *r = m->slot[0];
    bool    all = true;
    (void)t;
    for (int i = 0; i < N; i++) all = all && touched[i];
    if (all) sm3_dense(g, x, m);
    for (int i = 0; i < R && !all; i++) {
        double most = r[i];
        for (int k = i * C; k < (i + 1) * C && touched[i * C]; k++) {
            const double n = r[i] + g[k] * g[k];
            most = fmax(most, n);
            m->slot[2][k] = sm3_average(m->slot[2][k], g[k], n);
            x[k] -= 0.05 * m->slot[2][k];
        }
        r[i] = most;
    }
}

static eddy_optimizer *make_sm3(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_sm3(g, number(g, 0.05));
}

/* ------------------------------------------------------------------------ Shampoo -- */

/* One rotation of Jacobi's, which makes a[p][q] zero. */
static void rotate(int n, double a[R][R], double v[R][R], int p, int q)
{
    const double angle = 0.5 * atan2(2 * a[p][q], a[q][q] - a[p][p]);
    const double c = cos(angle), s = sin(angle);
    for (int k = 0; k < n; k++) {
        const double x = a[k][p], y = a[k][q], z = v[k][p], w = v[k][q];
        a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
        v[k][p] = c * z - s * w, v[k][q] = s * z + c * w;
    }
    for (int k = 0; k < n; k++) {
        const double x = a[p][k], y = a[q][k];
        a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
    }
}

/* root = l^power */
static void power_of(int n, const double *l, double power, double *root)
{
    double a[R][R], v[R][R] = { { 0 } };
    for (int i = 0; i < n; i++) {
        v[i][i] = 1;
        for (int j = 0; j < n; j++) a[i][j] = l[i * n + j];
    }
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                if (a[p][q] != 0) rotate(n, a, v, p, q);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            root[i * n + j] = 0;
            for (int k = 0; k < n; k++) root[i * n + j] += v[i][k] * pow(a[k][k], power) * v[j][k];
        }
}

/* Slot 0 is the matrix of the rows, slot 2 that of the columns. */
static void shampoo(int t, const bool *touched, const double *g, double *x, steps_memory *m)
{
    double *left = m->slot[0], *right = m->slot[2], a[R * R], b[C * C], rotated[N] = { 0 };
    (void)touched;
    for (int i = 0; i < R && t == 1; i++) left[i * R + i] = 1e-4;
    for (int j = 0; j < C && t == 1; j++) right[j * C + j] = 1e-4;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            if (i % C == k % C) left[i / C * R + k / C] += g[i] * g[k];
            if (i / C == k / C) right[i % C * C + k % C] += g[i] * g[k];
        }
    power_of(R, left, -0.25, a);
    power_of(C, right, -0.25, b);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            rotated[i] += a[i / C * R + k / C] * g[k] * b[k % C * C + i % C];
    for (int i = 0; i < N; i++) {
        m->slot[3][i] = 0.5 * m->slot[3][i] + rotated[i];
        x[i] -= 0.1 * m->slot[3][i];
    }
}

static eddy_optimizer *make_shampoo(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_shampoo(g, .momentum = number(g, 0.5), .learning_rate = number(g, 0.1));
}

/* No axis is short enough: Adagrad. */
static void shampoo_diagonal(int t, const bool *touched, const double *g, double *x,
                             steps_memory *m)
{
    (void)t, (void)touched;
    for (int i = 0; i < N; i++) {
        m->slot[0][i] += g[i] * g[i];
        x[i] -= 0.1 * g[i] / sqrt(m->slot[0][i] + 1e-4);
    }
}

static eddy_optimizer *make_shampoo_diagonal(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_shampoo(g, .max_size = 2);
}

/* ------------------------------------------------------------------------ wrapper -- */

/* Momentum around, which itself assigns by difference. */
static void decayed_momentum(int t, const bool *touched, const double *g, double *x,
                             steps_memory *m)
{
    (void)t;
    for (int i = 0; i < N; i++) {
        if (!touched[i]) continue;
        m->slot[0][i] = 0.9 * m->slot[0][i] + g[i];
        x[i] -= 0.01 * m->slot[0][i] + 0.003 * x[i];
    }
}

static eddy_optimizer *make_decayed_momentum(eddy_graph *g, bool lazy)
{
    (void)lazy;
    return eddy_decoupled_weight_decay(eddy_momentum(g, number(g, 0.01), number(g, 0.9)),
                                       number(g, 0.003));
}

/* Around a rule that replaces the variable, and whose sparse gradients are made dense: then too
 * only the named rows decay, 2 and t % 2. */
static void decayed_lion(int t, const bool *touched, const double *g, double *x, steps_memory *m)
{
    const bool dense = g[N - 1] != 0;
    for (int i = 0; i < N; i++) {
        if (!touched[i]) continue;
        const double c = 0.9 * m->slot[0][i] + 0.1 * g[i];
        const double decay = dense || i / C == 2 || i / C == t % 2 ? 0.003 * x[i] : 0;
        x[i] -= 0.01 * ((c > 0) - (c < 0)) + decay;
        m->slot[0][i] = 0.99 * m->slot[0][i] + 0.01 * g[i];
    }
}

static eddy_optimizer *make_decayed_lion(eddy_graph *g, bool lazy)
{
    return eddy_decoupled_weight_decay(eddy_lion(g, number(g, 0.01), .lazy = lazy),
                                       number(g, 0.003));
}

static const steps_case cases[] = {
    { "LAMB", make_lamb, lamb, false, false, 2e-6, 0 },
    { "LARS", make_lars, lars, false, false, 2e-6, 0 },
    { "LARS, Nesterov", make_lars_nesterov, lars_nesterov, false, false, 2e-6, 0 },
    { "Adafactor", make_adafactor, adafactor, false, false, 2e-6, 0 },
    { "Adafactor, beta1", make_adafactor_mean, adafactor_mean, false, false, 2e-6, 0 },
    { "SM3", make_sm3, sm3, false, true, 2e-6, 0 },
    { "Shampoo", make_shampoo, shampoo, false, false, 1e-3, 1e-10 },
    { "Shampoo, diagonal", make_shampoo_diagonal, shampoo_diagonal, false, false, 2e-6, 0 },
    { "Momentum that decays", make_decayed_momentum, decayed_momentum, false, true, 2e-6, 0 },
    { "Lion that decays", make_decayed_lion, decayed_lion, true, false, 2e-6, 0 },
};
enum { CASES = sizeof cases / sizeof *cases };

START_TEST(twenty_steps) { steps_check(&cases[_i]); }
END_TEST

/* ------------------------------------------------------------------- other ranks -- */

/* Elements 0, 1, 6, 7, 11 after five steps, from the paper's formulas in NumPy 1.24 (eigh,
 * tensordot, sums along axes), for a vector of 12 and for [2,3,2]. */
static const struct {
    int    kind, rank;
    double want[5];
} figures[] = {
    { 0, 1, { 0.469623554675802, 0.43913448171359, -0.171304787413269, -0.27,
              -0.785937448839487 } },
    { 0, 3, { 0.456108799998492, 0.42222987174184, -0.148171189828888, -0.236055587912069,
              -0.785042249051545 } },
    { 1, 1, { 0.496104959111504, 0.403500435000031, -0.166481225800561, -0.27,
              -0.716237214447367 } },
    { 2, 3, { 0.473976061885884, 0.452993365967032, -0.226697404353446, -0.27,
              -0.762259904682185 } },
    { 3, 1, { 0.435263421083214, 0.402869805899845, -0.127041882936653, -0.27,
              -0.780802473992913 } },
    { 3, 3, { 0.440495360990497, 0.379914240343593, -0.126072829677361, -0.27,
              -0.780802473992913 } },
};

static eddy_optimizer *of_figures(eddy_graph *g, int kind)
{
    switch (kind) {
    case 0: return eddy_shampoo(g);
    case 1:
        return eddy_adafactor(g, .clipping_threshold = number(g, 0.5),
                              .without_parameter_scale = true);
    case 2: return eddy_adafactor(g, number(g, 0.1));
    default: return eddy_sm3(g, number(g, 0.1));
    }
}

START_TEST(figures_of_numpy)
{
    const eddy_shape shape = figures[_i].rank == 1 ? EDDY_SHAPE(N) : EDDY_SHAPE(2, 3, 2);
    double           x[N];
    const int        at[] = { 0, 1, 6, 7, 11 };
    eddy_graph      *g = eddy_graph_new();
    steps_begin(x);
    eddy_tensor v = eddy_variable(g, eddy_const(g, EDDY_FLOAT64, shape, x), .name = "v");
    eddy_tensor d = eddy_placeholder(g, "d", EDDY_FLOAT64, shape);
    eddy_gradient_pair p = { d, v };
    eddy_tensor   train = eddy_apply_gradients(of_figures(g, figures[_i].kind), &p, 1);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *fed = eddy_array_new(EDDY_FLOAT64, shape);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    for (int t = 1; t <= 5; t++) {
        steps_feed(t, fed);
        eddy_run(s, EDDY_FEED({ d, fed }), EDDY_FETCH(train), NULL);
    }
    eddy_array *got = eddy_fetch(s, v);
    ck_assert_msg(got != NULL, "%s", eddy_session_message(s));
    for (int i = 0; i < 5; i++)
        ck_assert_double_eq_tol(eddy_array_get(got, at[i]), figures[_i].want[i], 1e-10);
    eddy_array_free(got);
    eddy_array_free(fed);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

Suite *optim_matrices_suite(void)
{
    Suite *suite = suite_create("optim_matrices");
    TCase *c = tcase_create("optim_matrices");
    tcase_add_loop_test(c, twenty_steps, 0, CASES);
    tcase_add_loop_test(c, figures_of_numpy, 0, (int)(sizeof figures / sizeof *figures));
    suite_add_tcase(suite, c);
    return suite;
}
