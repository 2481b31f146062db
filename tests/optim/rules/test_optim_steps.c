/* test_optim_steps.c -- 20 steps of each optimizer against its formula in float64, dense and
 * sparse; the cost of an update: one loop, and only the affected rows. */
#include "tests/lib/graph_fixture.h"
#include "tests/lib/optimizer_formulas.h"

#include <math.h>

Suite *optim_steps_suite(void);

enum { STEPS = 20, ROWS = 6, COLUMNS = 3, ELEMENTS = ROWS * COLUMNS, NAMED = 4 };

static double slope(int step, int64_t i)
{
    return sin(0.7 * step + 1.3 * (double)i) * (double)(i % 5 + 1) * 0.1;
}

/* The same numbers in the library and beside it. */
typedef struct both {
    const optimizer_case *c;
    eddy_dtype            dtype;
    eddy_optimizer       *optimizer;
    eddy_session         *session;
    eddy_tensor           v, x, at, train;
    double                want[ELEMENTS][OPTIMIZER_SLOTS + 1];
} both;

static both begin(const optimizer_case *c, eddy_dtype d, bool sparse)
{
    both   b = { .c = c, .dtype = d };
    double start[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) {
        start[i] = b.want[i][0] = cos(0.9 * i);
        for (int k = 0; k < OPTIMIZER_SLOTS; k++) b.want[i][k + 1] = c->initial[k];
    }
    b.v = eddy_variable(g, Cast(matrix(g, ROWS, COLUMNS, start), d), .name = "v");
    b.x = eddy_placeholder(g, "x", d, EDDY_SHAPE(sparse ? NAMED : ROWS, COLUMNS));
    b.at = eddy_placeholder(g, "at", EDDY_INT32, EDDY_SHAPE(NAMED));
    b.optimizer = c->make(g);
    const eddy_gradient_pair p = {
        sparse ? eddy_indexed_slices_of(b.x, b.at, EDDY_SHAPE(ROWS, COLUMNS)) : b.x, b.v };
    b.train = eddy_apply_gradients(b.optimizer, &p, 1,
                                   c->counts ? eddy_get_global_step(g) : EDDY_NO_TENSOR);
    b.session = started(g);
    return b;
}

static void is_column(both *b, eddy_tensor t, int column, int step)
{
    eddy_array  *a = eddy_fetch(b->session, t);
    const double tolerance = b->dtype == EDDY_FLOAT64 ? 1e-12 : 2e-5;
    ck_assert_msg(a != NULL, "%s", eddy_session_message(b->session));
    for (int i = 0; i < ELEMENTS; i++) {
        const double want = b->want[i][column], got = eddy_array_get(a, i);
        ck_assert_msg(fabs(got - want) <= tolerance * fmax(1, fabs(want)),
                      "%s, step %d: %s[%d] is %.15g, not %.15g", b->c->name, step, eddy_name_of(t),
                      i, got, want);
    }
    eddy_array_free(a);
}

static void ends(both *b, int step)
{
    is_column(b, b->v, 0, step);
    for (int k = 0; k < OPTIMIZER_SLOTS && b->c->slots[k]; k++)
        is_column(b, eddy_get_slot(b->optimizer, b->v, b->c->slots[k]), k + 1, step);
}

static eddy_array *fed(const both *b, int64_t rows, int step)
{
    eddy_array *a = eddy_array_new(b->dtype, EDDY_SHAPE(rows, COLUMNS));
    for (int64_t i = 0; i < rows * COLUMNS; i++) eddy_array_set(a, i, slope(step, i));
    return a;
}

static void dense_steps(both *b)
{
    for (int step = 1; step <= STEPS; step++) {
        eddy_array *x = fed(b, ROWS, step);
        for (int i = 0; i < ELEMENTS; i++) b->c->step(eddy_array_get(x, i), b->want[i], step);
        ck_assert_msg(eddy_run(b->session, EDDY_FEED({ b->x, x }), EDDY_FETCH(b->train), NULL) ==
                      EDDY_OK, "%s: %s", b->c->name, eddy_session_message(b->session));
        eddy_array_free(x);
        ends(b, step);
    }
}

/* Rows that come twice count once, with the sum of both. */
static void sparse_step(both *b, const eddy_array *x, const int32_t *at, int step)
{
    double sum[ELEMENTS] = { 0 };
    bool   named[ROWS] = { false };
    for (int r = 0; r < NAMED; r++) {
        named[at[r]] = true;
        for (int i = 0; i < COLUMNS; i++)
            sum[at[r] * COLUMNS + i] += eddy_array_get(x, r * COLUMNS + i);
    }
    for (int i = 0; i < ELEMENTS; i++)
        if (named[i / COLUMNS] || b->c->everywhere) b->c->step(sum[i], b->want[i], step);
}

static void sparse_steps(both *b)
{
    for (int step = 1; step <= STEPS; step++) {
        eddy_array   *x = fed(b, NAMED, step);
        const int32_t at[NAMED] = { step % 4, (2 * step + 1) % 5, step % 4, (step + 2) % 3 };
        eddy_array   *rows = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(NAMED), at);
        sparse_step(b, x, at, step);
        ck_assert_msg(eddy_run(b->session, EDDY_FEED({ b->x, x }, { b->at, rows }),
                               EDDY_FETCH(b->train), NULL) == EDDY_OK,
                      "%s: %s", b->c->name, eddy_session_message(b->session));
        eddy_array_free(x);
        eddy_array_free(rows);
        ends(b, step);
    }
}

static void case_steps(int i, bool sparse)
{
    const eddy_dtype types[] = { EDDY_FLOAT64, EDDY_FLOAT32 };
    for (int k = 0; k < 2; k++) {
        eddy_graph *const outer = g;
        g = eddy_graph_new();
        both b = begin(&optimizer_cases[i], types[k], sparse);
        if (sparse) sparse_steps(&b);
        else dense_steps(&b);
        eddy_session_free(b.session);
        eddy_graph_free(g);
        g = outer;
    }
}

START_TEST(dense) { case_steps(_i, false); }
END_TEST

START_TEST(sparse) { case_steps(_i, true); }
END_TEST

/* 20 steps of PyTorch 1.13 in float64 with the gradient sin(0.7 t + i)(i + 1)/10 from
 * [1,-2,3,-4]: SGD(lr 0.1), with momentum 0.9, with nesterov; Adagrad(lr 0.1,
 * initial_accumulator_value 0.1, eps 0); Adadelta(lr 0.5, rho 0.95, eps 1e-6).  Those are the
 * ones whose conventions are TensorFlow's. */
START_TEST(of_pytorch)
{
    static const struct {
        const char *name;
        double      want[4];
    } rows[] = {
        { "GradientDescent", { 0.993128442342454, -2.03752522155543, 2.9597897817688,
                               -3.98288468656855 } },
        { "Momentum", { 0.901444986645816, -2.18512673234094, 2.99559183897762,
                        -3.63609784082487 } },
        { "Nesterov", { 0.904428930323688, -2.20413928066228, 2.95582243684866,
                        -3.65537274331092 } },
        { "Adagrad", { 0.973074901784336, -2.08601076059259, 2.95248489019977,
                       -3.91434526067756 } },
        { "Adadelta", { 0.997863040043965, -2.00488913091327, 2.99634491075698,
                        -3.99919635626049 } },
    };
    int k = 0;
    while (strcmp(optimizer_cases[k].name, rows[_i].name) != 0) k++;
    eddy_tensor v = eddy_variable(g, vector(g, 4, (double[]){ 1, -2, 3, -4 }), .name = "v");
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(4));
    eddy_tensor train = eddy_apply_gradients(optimizer_cases[k].make(g),
                                             &(eddy_gradient_pair){ x, v }, 1);
    eddy_session *s = started(g);
    for (int t = 0; t < STEPS; t++) {
        eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(4));
        for (int i = 0; i < 4; i++) eddy_array_set(a, i, sin(0.7 * t + i) * (i + 1) * 0.1);
        eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(train), NULL);
        eddy_array_free(a);
    }
    eddy_array *got = eddy_fetch(s, v);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq_tol(eddy_array_get(got, i), rows[_i].want[i], 1e-13);
    eddy_array_free(got);
    eddy_session_free(s);
}
END_TEST

/* ------------------------------------------------------------- what it costs -- */

/* The update of a variable and its slots is one loop, which needs no memory beside; what is
 * left is the scalars of a step and, where steps are counted, the count. */
START_TEST(one_loop)
{
    const optimizer_case *c = &optimizer_cases[_i];
    const eddy_shape      shape = EDDY_SHAPE(300, 200);
    eddy_tensor v = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, shape), .name = "v");
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, shape);
    eddy_optimizer *o = c->make(g);
    eddy_tensor train = eddy_apply_gradients(o, &(eddy_gradient_pair){ x, v }, 1);
    eddy_session *s = started(g);
    eddy_array   *a = eddy_array_new(EDDY_FLOAT32, shape);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(train), NULL), EDDY_OK);
    const eddy_plan_info info = eddy_session_plan_info(s);
    const int scalars = c->everywhere ? 2 : c->counts;      /* Adam's powers; the step */
    ck_assert_msg(info.instructions == 1 + scalars, "%s: %d instructions", c->name,
                  info.instructions);
    ck_assert_uint_lt(info.arena_bytes, 1 << 16);           /* tiles; the variable has 240000 */
    eddy_array_free(a);
    eddy_session_free(s);
}
END_TEST

Suite *optim_steps_suite(void)
{
    Suite *suite = suite_create("optim_steps");
    TCase *c = tcase_create("steps");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, dense, 0, optimizer_case_count);
    tcase_add_loop_test(c, sparse, 0, optimizer_case_count);
    tcase_add_loop_test(c, of_pytorch, 0, 5);
    tcase_add_loop_test(c, one_loop, 0, optimizer_case_count);
    suite_add_tcase(suite, c);
    return suite;
}
