/* seeds.c -- small programs in the style of TensorFlow 1, one per row, each with TensorFlow's
 * result: gradients (G), optimizers (O), tapes (T), gradient functions (F), learning by hand (L).
 *
 *   <row> <what> got=<values> want=<values> ok
 *
 * The exit status is 1 if a row is not ok. */
#include <eddy/eddy.h>
#include <eddy/graph/op.h>
#include <eddy/ops/short_names.h>
#include "support/result_rows.h"

#include <stdio.h>
#include <string.h>

static eddy_tensor variable(eddy_graph *g, double x, const char *name)
{
    return eddy_variable(g, .initial_value = eddy_scalar(g, x), .name = name);
}

static eddy_tensor vector(eddy_graph *g, int64_t n, const float *x)
{
    return eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(n), x);
}

/* ------------------------------------------------------------ gradients -- */

static void g1_to_g3(void)
{
    static const char *const id[] = { "G1", "G2", "G3" };
    static const char *const what[] = { "gradients", "stop_gradients", "stop_gradient" };
    for (int i = 0; i < 3; i++) {
        eddy_graph *g = eddy_graph_new();
        eddy_tensor a = eddy_scalar(g, 0), dx[2];
        if (i == 2) a = StopGradient(a);
        eddy_tensor b = Mul(2, a);
        if (i == 2) b = StopGradient(b);
        eddy_tensor y = Add(a, b);
        if (i == 1)
            eddy_gradients(EDDY_LIST(y), EDDY_LIST(a, b), dx, .stop_gradients = EDDY_LIST(a, b));
        else eddy_gradients(EDDY_LIST(y), EDDY_LIST(a, b), dx);
        row_of(id[i], what[i], g, EDDY_LIST(dx[0], dx[1]), i == 0 ? WANT(3, 1) : WANT(1, 1));
    }
}

/* y = x x x at 2, three paths to x; also the result of a call without options. */
static void g4_values(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_scalar(g, 2), u = eddy_scalar(g, 7), y = Mul(Mul(x, x), x);
    eddy_tensor plain, weighted, gated, tree, none, zero, half = Mul(x, x), stopped;
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &plain);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &weighted, .grad_ys = EDDY_LIST(eddy_scalar(g, 10)));
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &gated, .gate_gradients = true);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &tree, .aggregation_method = EDDY_EXPERIMENTAL_TREE);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(u), &none);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(u), &zero,
                   .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    eddy_gradients(EDDY_LIST(Mul(half, x)), EDDY_LIST(x), &stopped,
                   .stop_gradients = EDDY_LIST(half));
    row_of("G4", "plain,grad_ys,gate,tree,none,zero,stop", g,
           EDDY_LIST(plain, weighted, gated, tree, none, zero, stopped),
           WANT(12, 120, 12, 12, NONE, 0, 4));
}

/* How many nodes of this type were appended after `from`. */
static int appended(eddy_graph *g, int32_t from, const char *type)
{
    int n = 0;
    for (int32_t id = from + 1; id <= eddy_graph_size(g); id++)
        n += strcmp(eddy_type_of(eddy_node_at(g, id)), type) == 0;
    return n;
}

static void g4_structure(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_scalar(g, 2), w = eddy_scalar(g, 3), dx[2];
    eddy_tensor y = eddy_named("mul", Mul(x, w));
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x, w), dx, .name = "mine");
    row_text("G4", "name", eddy_name_of(dx[0]), "mine/mul_grad/Mul");
    const bool apart = eddy_node_of(dx[0])->colocate != y.node;
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x, w), dx, .colocate_gradients_with_ops = true);
    row("G4", "colocate_gradients_with_ops", 2,
        WANT(apart, eddy_node_of(dx[0])->colocate == y.node), WANT(1, 1));
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x, w), dx, .gate_gradients = true);
    row_text("G4", "gate_gradients", eddy_name_of(dx[0]),
             "gradients_1/mul_grad/tuple/control_dependency");

    eddy_tensor cube = Add(Add(Square(x), Exp(x)), Sin(x));
    int32_t from = eddy_graph_size(g);
    eddy_gradients(EDDY_LIST(cube), EDDY_LIST(x), dx);
    const int at_once = appended(g, from, "AddN");
    from = eddy_graph_size(g);
    eddy_gradients(EDDY_LIST(cube), EDDY_LIST(x), dx, .aggregation_method = EDDY_EXPERIMENTAL_TREE);
    row("G4", "aggregation_method (AddN nodes: all at once, two at a time)", 2,
        WANT(at_once, appended(g, from, "AddN")), WANT(1, 2));
    if (eddy_graph_status(g) != EDDY_OK) complain(eddy_graph_message(g));
    eddy_graph_free(g);
}

/* One step of (w x - 1)^2 both ways. */
static eddy_array *g5_step(bool with_gradients)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor w = eddy_variable(g, .initial_value = vector(g, 3, (float[]){ 0.1f, -2.7f, 3.3f }));
    eddy_tensor x = vector(g, 3, (float[]){ 1.7f, 0.3f, -0.9f });
    eddy_tensor loss = Sum(Square(Sub(Mul(w, x), 1)));
    eddy_optimizer    *o = eddy_gradient_descent(g, eddy_scalar(g, 0.1));
    eddy_gradient_pair pair = { .variable = w };
    if (with_gradients) eddy_gradients(EDDY_LIST(loss), EDDY_LIST(w), &pair.gradient);
    else eddy_compute_gradients(o, loss, &pair, 1);
    eddy_tensor   train = eddy_apply_gradients(o, &pair, 1);
    eddy_session *s = begin(g);
    step(s, train);
    eddy_array *value = eddy_variable_value(s, w);
    end(s, g);
    return value;
}

static void g5(void)
{
    eddy_array *a = g5_step(true), *b = g5_step(false);
    double got = a && b && eddy_array_equal(a, b);
    row("G5", "gradients and compute_gradients, the same step bit for bit", 1, &got, WANT(1));
    eddy_array_free(a);
    eddy_array_free(b);
}

/* ----------------------------------------------------------- optimizers -- */

static void o1(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor v = variable(g, 3, "v"), u = variable(g, 4, "u");
    eddy_gradient_pair p[2];
    eddy_compute_gradients(eddy_gradient_descent(g, eddy_scalar(g, 0.1)), Square(v), p, 2,
                           EDDY_LIST(v, u), .gate_gradients = EDDY_GATE_GRAPH,
                           .aggregation_method = EDDY_ADD_N, .colocate_gradients_with_ops = true,
                           .grad_loss = eddy_scalar(g, 10));
    row_of("O1", "compute_gradients", g,
           EDDY_LIST(p[0].gradient, p[0].variable, p[1].gradient, p[1].variable),
           WANT(60, 3, NONE, 4));
}

static void o2(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = variable(g, 50, "x"), w = variable(g, 10, "w"), y = Mul(w, x);
    eddy_gradient_pair p[2];
    eddy_compute_gradients(eddy_gradient_descent(g, eddy_scalar(g, 0.1)), y, p, 2, EDDY_LIST(w, x));
    row_of("O2", "pairs of w*x", g,
           EDDY_LIST(p[0].gradient, p[0].variable, p[1].gradient, p[1].variable),
           WANT(50, 10, 10, 50));
}

static void o3(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor w = variable(g, 1, "w"), loss = eddy_named("loss", eddy_scalar(g, 5));
    eddy_minimize(eddy_gradient_descent(g, eddy_scalar(g, 0.1)), loss, .var_list = EDDY_LIST(w));
    row_text("O3", "minimize of a constant", eddy_graph_message(g),
             "No gradients provided for any variable, check your graph for ops that do not "
             "support gradients, between variables [w] and loss loss.");
    eddy_graph_free(g);
}

static void o4(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = variable(g, 3, "x"), w = variable(g, 4, "w"), y = Mul(w, x);
    eddy_optimizer    *o = eddy_gradient_descent(g, eddy_scalar(g, 0.1));
    eddy_gradient_pair p[1];
    const int n = eddy_compute_gradients(o, y, p, 1, EDDY_LIST(w));
    for (int i = 0; i < n; i++)
        if (eddy_is_valid(p[i].gradient))
            p[i].gradient = eddy_clip_by_norm(p[i].gradient, eddy_scalar(g, 5));
    eddy_apply_gradients(o, p, n);
    row_of("O4", "clipped pairs, then x, w, y", g,
           EDDY_LIST(p[0].gradient, p[0].variable, x, w, y), WANT(3, 4, 3, 4, 12));
}

static void o5(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = variable(g, 3, "x"), w = variable(g, 4, "w"), y = eddy_named("mul", Mul(w, x));
    eddy_tensor dx[2];
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(w), dx);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(w), dx + 1);
    row_text("O5", "name of the first call", eddy_name_of(dx[0]), "gradients/mul_grad/Mul");
    row_text("O5", "name of the second", eddy_name_of(dx[1]), "gradients_1/mul_grad/Mul");
    eddy_graph_free(g);
}

static void o6(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor w = variable(g, 5, "w"), loss = Square(Sub(w, 1));
    eddy_tensor train = eddy_minimize(eddy_gradient_descent(g, eddy_scalar(g, 0.1)), loss);
    eddy_session *s = begin(g);
    double before, now, falls = 0;
    values(s, EDDY_LIST(loss), &before);
    for (int i = 0; i < 10; i++, before = now) {
        step(s, train);
        values(s, EDDY_LIST(loss), &now);
        falls += now < before;
    }
    row("O6", "steps at which the loss falls", 1, &falls, WANT(10));
    end(s, g);
}

/* v = 0, its gradient [3,4] clipped in four ways, one step of rate 1. */
static void o7(void)
{
    static const char *const what[] = { "clip_by_value", "clip_by_norm", "clip_by_average_norm",
                                        "clip_by_global_norm" };
    static const double want[][2] = { { -3, -3.5 }, { -1.5, -2 }, { -0.6, -0.8 }, { -1.5, -2 } };
    for (int i = 0; i < 4; i++) {
        eddy_graph *g = eddy_graph_new();
        eddy_tensor v = eddy_variable(g, .initial_value = vector(g, 2, (float[]){ 0, 0 }));
        eddy_tensor loss = Sum(Mul(v, vector(g, 2, (float[]){ 3, 4 })));
        eddy_optimizer    *o = eddy_gradient_descent(g, eddy_scalar(g, 1));
        eddy_gradient_pair p;
        eddy_compute_gradients(o, loss, &p, 1);
        eddy_tensor *d = &p.gradient;
        if (i == 0) *d = eddy_clip_by_value(*d, eddy_scalar(g, -3.5), eddy_scalar(g, 3.5));
        if (i == 1) *d = eddy_clip_by_norm(*d, eddy_scalar(g, 2.5));
        if (i == 2) *d = eddy_clip_by_average_norm(*d, eddy_scalar(g, 0.5));
        if (i == 3) eddy_clip_by_global_norm(EDDY_LIST(*d), eddy_scalar(g, 2.5), d);
        eddy_tensor   train = eddy_apply_gradients(o, &p, 1);
        eddy_session *s = begin(g);
        double got[MOST];
        step(s, train);
        row("O7", what[i], values(s, EDDY_LIST(v), got), got, want[i]);
        end(s, g);
    }
}

/* ------------------------------------------------------ learning by hand -- */

/* For L2, t1 is a constant to the product, as it is not watched. */
static void l1_and_l2(bool watched)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor t1 = vector(g, 3, (float[]){ 1, 2, 3 });
    eddy_tensor t2 = eddy_variable(g, .initial_value = vector(g, 3, (float[]){ 10, 20, 30 }));
    if (watched) t1 = eddy_variable(g, .initial_value = t1);
    eddy_tensor product = Mul(watched ? t1 : StopGradient(t1), t2), dx[2];
    eddy_gradients(EDDY_LIST(product), EDDY_LIST(t1, t2), dx);
    if (watched)
        row_of("L1", "t1*t2", g, EDDY_LIST(dx[0], dx[1]), WANT(10, 20, 30, 1, 2, 3));
    else row_of("L2", "t1*t2, t1 a constant", g, EDDY_LIST(dx[0], dx[1]), WANT(NONE, 1, 2, 3));
}

/* Gradients by eddy_gradients, the updates by hand. */
static void l3_and_l4(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor w = variable(g, -1, "w"), b = variable(g, -1, "b"), d[2];
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SCALAR);
    eddy_tensor y = Add(Mul(3, x), 1), loss = Square(Sub(y, Add(Mul(w, x), b)));
    eddy_gradients(EDDY_LIST(loss), EDDY_LIST(w, b), d);
    eddy_tensor train = eddy_group(g, EDDY_LIST(eddy_assign_sub(w, Mul(0.1, d[0])),
                                                eddy_assign_sub(b, Mul(0.1, d[1]))), NULL);
    eddy_session *s = begin(g);
    double trace[10][MOST];
    for (int epoch = 0; epoch < 10; epoch++) {
        for (int i = 0; i < 4; i++) {
            eddy_array *a = eddy_array_new(EDDY_FLOAT32, EDDY_SCALAR);
            eddy_array_set(a, 0, WANT(-1, -0.5, 0.5, 1)[i]);
            if (eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(train), NULL) != EDDY_OK)
                complain(eddy_session_message(s));
            eddy_array_free(a);
        }
        values(s, EDDY_LIST(w, b), trace[epoch]);
    }
    row_near("L3", "linear regression, 10 epochs", 2, trace[9], WANT(2.990325, 1.002738), 1e-5);
    row_near("L4", "after epoch 1", 2, trace[0], WANT(0.6924, 0.4834), 1e-5);
    row_near("L4", "after epoch 5", 2, trace[4], WANT(2.786074, 1.039860), 1e-5);
    end(s, g);
}

int main(void)
{
    g1_to_g3();
    g4_values();
    g4_structure();
    g5();
    o1();
    o2();
    o3();
    o4();
    o5();
    o6();
    o7();
    l1_and_l2(true);
    l1_and_l2(false);
    l3_and_l4();
    tape_rows();
    function_rows();
    return wrong != 0;
}
