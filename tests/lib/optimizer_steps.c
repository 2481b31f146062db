/* optimizer_steps.c -- see optimizer_steps.h. */
#include "tests/lib/optimizer_steps.h"

enum { NAMED = 3 };                  /* rows that a sparse gradient has, one of them twice */

void steps_begin(double *x)
{
    for (int i = 0; i < STEPS_ELEMENTS; i++) x[i] = 0.5 - 0.11 * i;
}

void steps_gradient(int t, double *g)
{
    for (int i = 0; i < STEPS_ELEMENTS; i++)
        g[i] = i == 7 ? 0 : sin(1.7 * i + 0.9 * t) * (1 + 0.1 * i);
}

void steps_feed(int t, eddy_array *to)
{
    double g[STEPS_ELEMENTS];
    steps_gradient(t, g);
    for (int i = 0; i < STEPS_ELEMENTS; i++) eddy_array_set(to, i, g[i]);
}

static void named_rows(int t, int32_t *rows)
{
    rows[0] = 2;
    rows[1] = t % 2;
    rows[2] = 2;
}

/* The rows of a sparse gradient: those of the dense one, in unequal parts where named twice. */
static void sparse_gradient(int t, double *values, double *dense, bool *touched)
{
    const double part[NAMED] = { 0.25, 1, 0.75 };
    int32_t      rows[NAMED];
    double       g[STEPS_ELEMENTS];
    steps_gradient(t, g);
    named_rows(t, rows);
    memset(dense, 0, sizeof g);
    memset(touched, 0, STEPS_ELEMENTS * sizeof *touched);
    for (int r = 0; r < NAMED; r++)
        for (int j = 0; j < STEPS_COLUMNS; j++) {
            const int i = rows[r] * STEPS_COLUMNS + j;
            values[r * STEPS_COLUMNS + j] = part[r] * g[i];
            dense[i] += part[r] * g[i];
            touched[i] = true;
        }
}

/* -------------------------------------------------------------------- the library -- */

typedef struct running {
    eddy_graph   *g;
    eddy_session *s;
    eddy_tensor   v, values, rows, train;
} running;

static running begin(const steps_case *c, eddy_dtype dtype, steps_kind kind)
{
    double  x[STEPS_ELEMENTS];
    running r = { .g = eddy_graph_new() };
    steps_begin(x);
    const eddy_shape shape = EDDY_SHAPE(STEPS_ROWS, STEPS_COLUMNS);
    const int64_t    rows = kind == STEPS_DENSE ? STEPS_ROWS : NAMED;
    r.v = eddy_variable(r.g, Cast(eddy_const(r.g, EDDY_FLOAT64, shape, x), dtype), .name = "v");
    r.values = eddy_placeholder(r.g, "values", dtype, EDDY_SHAPE(rows, STEPS_COLUMNS));
    r.rows = eddy_placeholder(r.g, "rows", EDDY_INT32, EDDY_SHAPE(NAMED));
    eddy_gradient_pair p = { r.values, r.v };
    if (kind != STEPS_DENSE) p.gradient = eddy_indexed_slices(r.values, r.rows, r.v);
    r.train = eddy_apply_gradients(c->make(r.g, kind == STEPS_LAZY), &p, 1);
    eddy_tensor init = eddy_initializer(r.g);
    ck_assert_msg(eddy_graph_status(r.g) == EDDY_OK, "%s: %s", c->name, eddy_graph_message(r.g));
    r.s = eddy_session_new(r.g);
    ck_assert_int_eq(eddy_run(r.s, EDDY_FEED(), EDDY_FETCH(init), NULL), EDDY_OK);
    return r;
}

static void step(running *r, steps_kind kind, int t)
{
    int32_t rows[NAMED];
    double  values[STEPS_ELEMENTS], dense[STEPS_ELEMENTS];
    bool    touched[STEPS_ELEMENTS];
    named_rows(t, rows);
    if (kind == STEPS_DENSE) steps_gradient(t, values);
    else sparse_gradient(t, values, dense, touched);
    eddy_array *v = eddy_array_new(eddy_dtype_of(r->values), eddy_shape_of(r->values));
    eddy_array *at = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(NAMED), rows);
    for (int64_t i = 0; i < eddy_array_count(v); i++) eddy_array_set(v, i, values[i]);
    eddy_run(r->s, EDDY_FEED({ r->values, v }, { r->rows, at }), EDDY_FETCH(r->train), NULL);
    ck_assert_msg(eddy_session_status(r->s) == EDDY_OK, "%s", eddy_session_message(r->s));
    eddy_array_free(v);
    eddy_array_free(at);
}

static void end(running *r, double *x)
{
    eddy_array *a = eddy_fetch(r->s, r->v);
    ck_assert_msg(a != NULL, "%s", eddy_session_message(r->s));
    for (int i = 0; i < STEPS_ELEMENTS; i++) x[i] = eddy_array_get(a, i);
    eddy_array_free(a);
    eddy_session_free(r->s);
    eddy_graph_free(r->g);
}

void steps_run(const steps_case *c, eddy_dtype dtype, steps_kind kind, int steps, double *x)
{
    running r = begin(c, dtype, kind);
    for (int t = 1; t <= steps; t++) step(&r, kind, t);
    end(&r, x);
}

/* ------------------------------------------------------------------ the reference -- */

static void refer(const steps_case *c, steps_kind kind, double *x)
{
    steps_memory m = { 0 };
    const bool   rows_only = kind == STEPS_LAZY || (kind == STEPS_SPARSE && c->is_lazy);
    steps_begin(x);
    for (int t = 1; t <= STEPS; t++) {
        double g[STEPS_ELEMENTS], values[STEPS_ELEMENTS];
        bool   touched[STEPS_ELEMENTS];
        if (kind == STEPS_DENSE) steps_gradient(t, g);
        else sparse_gradient(t, values, g, touched);
        for (int i = 0; i < STEPS_ELEMENTS && !rows_only; i++) touched[i] = true;
        c->reference(t, touched, g, x, &m);
    }
}

static void compare(const steps_case *c, eddy_dtype dtype, steps_kind kind)
{
    static const char *const names[] = { "dense", "sparse", "lazy" };
    double       x[STEPS_ELEMENTS], want[STEPS_ELEMENTS];
    const double tolerance = dtype == EDDY_FLOAT32 ? c->float32 : fmax(c->float64, 1e-12);
    steps_run(c, dtype, kind, STEPS, x);
    refer(c, kind, want);
    for (int i = 0; i < STEPS_ELEMENTS; i++)
        ck_assert_msg(fabs(x[i] - want[i]) <= tolerance * fmax(1, fabs(want[i])),
                      "%s, %s, %s: x[%d] is %.15g, not %.15g", c->name, names[kind],
                      eddy_dtype_name(dtype), i, x[i], want[i]);
}

void steps_check(const steps_case *c)
{
    for (int k = STEPS_DENSE; k <= STEPS_LAZY; k++) {
        if (k == STEPS_LAZY && !c->has_lazy) continue;
        compare(c, EDDY_FLOAT64, (steps_kind)k);
        compare(c, EDDY_FLOAT32, (steps_kind)k);
    }
}

void steps_figures(const steps_case *c, const double want[3][5], double tolerance)
{
    const int at[] = { 0, 1, 6, 7, 11 }, steps[] = { 1, 7, 20 };
    for (int k = 0; k < 3; k++) {
        double x[STEPS_ELEMENTS];
        steps_run(c, EDDY_FLOAT64, STEPS_DENSE, steps[k], x);
        for (int i = 0; i < 5; i++)
            ck_assert_msg(fabs(x[at[i]] - want[k][i]) <= tolerance,
                          "%s after %d: x[%d] is %.15g, not %.15g", c->name, steps[k], at[i],
                          x[at[i]], want[k][i]);
    }
}
