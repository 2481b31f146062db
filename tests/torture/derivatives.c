/* derivatives.c -- gradients of all kinds, built and run without enough memory; and loops and
 * branches with their gradients. */
#include "tests/lib/control_models.h"
#include "tests/torture/scenario.h"

#include <stdlib.h>

typedef struct model {
    eddy_graph *g;
    eddy_tensor x, w, h, y;             /* y[4,2] = tanh(x[4,3] w), h the sum of its squares */
} model;

static model model_new(void)
{
    static const double w[] = { 0.5, -0.25, 0.125, 1, -1, 0.75 };
    model               m = { .g = eddy_graph_new() };
    m.x = eddy_placeholder(m.g, "x", EDDY_FLOAT64, EDDY_SHAPE(4, 3));
    m.w = eddy_variable(m.g, eddy_const(m.g, EDDY_FLOAT64, EDDY_SHAPE(3, 2), w), .name = "w");
    m.y = eddy_tanh(eddy_matmul(m.x, m.w));
    m.h = eddy_sum(eddy_square(m.y));
    return m;
}

static void finish(outcome *o, const model *m, eddy_list fetches)
{
    static const double x[12] = { 1, 2, 3, -1, -2, -3, 0.5, 0.25, 0.125, 4, -4, 0 };
    run_once(o, m->g, EDDY_FEED({ m->x, EDDY_VIEW(x, 4, 3) }), fetches);
}

static void first_and_second(outcome *o)
{
    const model m = model_new();
    eddy_tensor dw = eddy_gradient(m.h, m.w), dx = eddy_gradient(eddy_sum(eddy_square(dw)), m.x);
    finish(o, &m, EDDY_LIST(dw, dx));
}

static void products(outcome *o)
{
    const model m = model_new();
    eddy_tensor a = EDDY_NO_TENSOR, b = EDDY_NO_TENSOR, c = EDDY_NO_TENSOR, d = EDDY_NO_TENSOR;
    eddy_jvp(EDDY_LIST(m.y), EDDY_LIST(m.x), EDDY_LIST(m.x), &a);
    eddy_vjp(EDDY_LIST(m.y), EDDY_LIST(m.w), EDDY_LIST(m.y), &b);
    eddy_hessian_vector_product(m.h, EDDY_LIST(m.w), EDDY_LIST(eddy_square(m.w)), &c);
    eddy_gauss_newton_vector_product(m.h, EDDY_LIST(m.y), EDDY_LIST(m.w), EDDY_LIST(m.w), &d);
    finish(o, &m, EDDY_LIST(a, b, c, d));
}

static void tapes(outcome *o)
{
    const model m = model_new();
    eddy_tensor dx = EDDY_NO_TENSOR, jacobian = EDDY_NO_TENSOR;
    eddy_tape  *t = eddy_tape_new(m.g, .persistent = true);
    if (eddy_tape_begin(t)) {
        eddy_tape_watch(t, EDDY_LIST(m.x));
        eddy_tensor y = eddy_sigmoid(eddy_matmul(m.x, eddy_read(m.w)));
        eddy_tape_end(t);
        eddy_tape_gradient(t, EDDY_LIST(y), EDDY_LIST(m.x), &dx);
        eddy_tape_jacobian(t, y, EDDY_LIST(m.x), &jacobian);
    }
    eddy_tape_free(t);
    finish(o, &m, EDDY_LIST(dx, jacobian));
}

static void jacobians(outcome *o)
{
    const model m = model_new();
    eddy_tensor j = EDDY_NO_TENSOR, slow = EDDY_NO_TENSOR, h = EDDY_NO_TENSOR;
    eddy_jacobian(m.y, EDDY_LIST(m.w), &j);
    eddy_jacobian(m.y, EDDY_LIST(m.w), &slow, .no_pfor = true);
    eddy_hessians(m.h, EDDY_LIST(m.w), &h);
    eddy_tensor b = eddy_batch_jacobian(m.y, m.x), d = eddy_hessian_diagonal(m.h, m.w);
    finish(o, &m, EDDY_LIST(j, slow, h, b, d));
}

static int row_loss(eddy_list x, eddy_tensor *y, void *context)
{
    const eddy_tensor *w = context;
    y[0] = eddy_sum(eddy_square(eddy_matmul(eddy_expand_dims(x.at[0], 0), *w)));
    y[1] = eddy_gradient(y[0], *w);
    return 2;
}

static void mapped(outcome *o)
{
    const model         m = model_new();
    eddy_tensor         w = m.w, y[EDDY_MAX_RESULTS] = { EDDY_NO_TENSOR, EDDY_NO_TENSOR };
    const eddy_function f = { .build = row_loss, .context = &w };
    eddy_vmap(f, EDDY_LIST(m.x), y);
    finish(o, &m, EDDY_LIST(y[0], y[1]));
}

static void doubled(eddy_rule *r) { r->dx[0] = eddy_add(r->dy[0], r->dy[0]); }

static void custom(outcome *o)
{
    const model m = model_new();
    eddy_tensor y = EDDY_NO_TENSOR, z = EDDY_NO_TENSOR;
    eddy_custom_gradient(EDDY_LIST(eddy_exp(m.x)), EDDY_LIST(m.x), &y, doubled);
    eddy_recompute_grad(EDDY_LIST(eddy_sin(eddy_exp(m.x))), EDDY_LIST(m.x), &z);
    finish(o, &m, EDDY_LIST(eddy_gradient(y, m.x), eddy_gradient(z, m.x)));
}

static int twice(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_sum(eddy_exp(x.at[0]));
    return 1;
}

static void functions(outcome *o)
{
    const model         m = model_new();
    eddy_tensor         dx[8] = { EDDY_NO_TENSOR };
    const eddy_function f = { .build = twice, .parameters = "x" };
    eddy_gradients_function(f, EDDY_LIST(m.x), dx);
    finish(o, &m, EDDY_LIST(dx[0]));
}

typedef struct kind {
    const char *name;
    void      (*act)(outcome *o);
} kind;

static const kind kinds[] = {
    { "first and second", first_and_second }, { "products", products }, { "tapes", tapes },
    { "Jacobians, Hessians", jacobians }, { "vmap", mapped }, { "custom, recomputed", custom },
    { "functions", functions },
};

static int         count_kinds(void) { return (int)(sizeof kinds / sizeof *kinds); }
static const char *name_kind(int i) { return kinds[i].name; }
static void        act(int i, void *state, outcome *o) { (void)state, kinds[i].act(o); }

const scenarios derivatives[] = {
    { .kind = "gradients:", .count = count_kinds, .name = name_kind, .act = act },
    { .kind = NULL },
};

/* ------------------------------------------------------------------- loops -- */

static void loop(int i, void *state, outcome *o)
{
    static const double  x[] = { 0.5, -0.25, 0.125 };
    static const double  a[] = { 0.1, 0.2, -0.3, 0.4, -0.5, 0.6, 0.7, 0.8, -0.9 };
    const control_model *c = &control_models[i];
    eddy_graph          *g = eddy_graph_new();
    model_args           m = { .count = 3, .n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SCALAR) };
    (void)state;
    m.x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(3));
    m.a = eddy_placeholder(g, "a", EDDY_FLOAT64, EDDY_SHAPE(3, 3));
    const eddy_tensor y = c->build(&m), dx = eddy_gradient(y, m.x);
    run_once(o, g, EDDY_FEED({ m.n, EDDY_NUMBER(EDDY_INT32, 3) }, { m.x, EDDY_VIEW(x, 3) },
                             { m.a, EDDY_VIEW(a, 3, 3) }), EDDY_LIST(y, dx));
}

static int         count_loops(void) { return CONTROL_MODELS; }
static const char *name_loop(int i) { return control_models[i].name; }

const scenarios loops[] = {
    { .kind = "loop:", .count = count_loops, .name = name_loop, .act = loop },
    { .kind = NULL },
};
