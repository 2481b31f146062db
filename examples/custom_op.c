/* custom_op.c -- a user-defined operation, with kernel and gradient.
 *
 * The op is the pseudo-Huber loss: y = d^2 (sqrt(1 + (x/d)^2) - 1), a parabola near 0 and a
 * straight line far from it, so that a few outliers do not dominate a fit. One constant eddy_op_def
 * defines it; the library's own operations are defined in the same way.
 *
 * The program checks the gradient against differences, fits a line through points with outliers,
 * and fails if either gives a wrong result. */
#include <eddy/eddy.h>
#include <eddy/graph/op.h>
#include <eddy/ops/short_names.h>

#include <math.h>
#include <stdio.h>

/* Attributes: one plain struct.  The definition lists its members, which the
 * library copies, compares, prints and saves. */
typedef struct pseudo_huber_attrs {
    double d;
} pseudo_huber_attrs;

/* The permitted inputs, ended by a row without a name. */
static const eddy_input_def pseudo_huber_inputs[] = { { "x", EDDY_TAKES_FLOATS }, { NULL, 0 } };

/* Further checks, and the type of the output; the element types have been checked already. Write
 * only the reason here; the library adds the op, the types of its inputs and the node. */
static bool pseudo_huber_infer(eddy_infer *c)
{
    const pseudo_huber_attrs *a = c->attrs;
    if (!(a->d > 0))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "d is %g; it must be above 0", a->d);
    c->out[0] = c->in[0];
    return true;
}

/* The form with a division does not lose digits if x is small. */
static double pseudo_huber(double x, double d)
{
    double r = x / d;
    return x * x / (sqrt(1 + r * r) + 1);
}

/* Memory is allocated and types are known; in and out may be the same memory, because of
 * EDDY_OP_IN_PLACE below. */
static eddy_status pseudo_huber_kernel(eddy_kernel *k)
{
    const pseudo_huber_attrs *a = k->attrs;
    const eddy_buffer *x = k->in[0], *y = k->out[0];
    if (x->type.dtype == EDDY_FLOAT32) {
        const float *from = x->data;
        float       *to = y->data;
        for (int64_t i = 0; i < x->count; i++) to[i] = (float)pseudo_huber((double)from[i], a->d);
    } else {
        const double *from = x->data;
        double       *to = y->data;
        for (int64_t i = 0; i < x->count; i++) to[i] = pseudo_huber(from[i], a->d);
    }
    return EDDY_OK;
}

/* dx = dy x / sqrt(1 + (x/d)^2), built from ordinary operations, so it can be differentiated
 * again. */
static void pseudo_huber_gradient(eddy_rule *r)
{
    const pseudo_huber_attrs *a = r->attrs;
    eddy_tensor x = r->x[0], dy = r->dy[0];
    r->dx[0] = Mul(dy, Div(x, Sqrt(Add(1, Square(Div(x, a->d))))));
}

static const eddy_op_def pseudo_huber_op = {
    .name       = "PseudoHuber",
    .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs     = pseudo_huber_inputs,
    .flags      = EDDY_OP_IN_PLACE,
    .attrs_size = sizeof(pseudo_huber_attrs),
    .attrs      = EDDY_ATTRS(pseudo_huber_attrs, d),
    .infer      = pseudo_huber_infer,
    .kernel     = pseudo_huber_kernel,
    .gradient   = pseudo_huber_gradient,
};

/* The builder: attributes in, tensor out. */
static eddy_tensor my_pseudo_huber(eddy_tensor x, double d)
{
    pseudo_huber_attrs attrs = { d };
    return eddy_apply1(&pseudo_huber_op, &attrs, x);
}

/* ------------------------------------------------- is the gradient right? */

enum { POINTS = 40 };

static double value_at(eddy_session *s, eddy_tensor t, eddy_tensor x, const eddy_array *v)
{
    eddy_array *out = NULL;
    eddy_run(s, EDDY_FEED({ x, v }), EDDY_FETCH(t), &out);
    double y = eddy_array_item(out);             /* NaN if the run failed */
    eddy_array_free(out);
    return y;
}

/* The largest difference between dy/dx and (y(x + h) - y(x - h))/2h. */
static double gradient_error(eddy_session *s, eddy_tensor y, eddy_tensor dy, eddy_tensor x)
{
    const double h = 1e-5;
    double       worst = 0;
    eddy_array  *v = eddy_array_new(EDDY_FLOAT64, EDDY_SCALAR);
    for (double at = -8; at <= 8; at += 0.25) {
        eddy_array_set(v, 0, at);
        double d = value_at(s, dy, x, v);
        eddy_array_set(v, 0, at + h);
        double up = value_at(s, y, x, v);
        eddy_array_set(v, 0, at - h);
        double error = fabs(d - (up - value_at(s, y, x, v)) / (2 * h));
        if (!(error <= worst)) worst = error;
    }
    eddy_array_free(v);
    return worst;
}

static bool check_gradient(void)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SCALAR);
    eddy_tensor   y = my_pseudo_huber(x, 1.5);
    eddy_tensor   dy = eddy_gradient(y, x), ddy = eddy_gradient(dy, x);
    eddy_session *s = eddy_session_new(g);
    double first = gradient_error(s, y, dy, x), second = gradient_error(s, dy, ddy, x);
    printf("gradient against differences: %.1e, second derivative: %.1e\n", first, second);
    if (eddy_session_status(s) != EDDY_OK) fprintf(stderr, "%s\n", eddy_session_message(s));
    eddy_session_free(s);
    eddy_graph_free(g);
    return first < 1e-8 && second < 1e-8;
}

/* ---------------------------------------------------------- used in a fit */

/* y = 2 x + 1, but every eighth point is far off. */
static void make_points(float *x, float *y)
{
    for (int i = 0; i < POINTS; i++) {
        x[i] = (float)i / POINTS * 4 - 2;
        y[i] = 2 * x[i] + 1 + (i % 8 == 5 ? 30 : 0);
    }
}

/* The slope and intercept that minimize the loss; NaN if something failed. */
static void fit(bool robust, double *slope, double *intercept)
{
    float xs[POINTS], ys[POINTS];
    make_points(xs, ys);
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(POINTS), xs);
    eddy_tensor y = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(POINTS), ys);
    eddy_tensor w = eddy_variable(g, eddy_scalar(g, 0), .name = "w");
    eddy_tensor b = eddy_variable(g, eddy_scalar(g, 0), .name = "b");
    eddy_tensor error = Sub(Add(Mul(w, x), b), y);
    eddy_tensor loss = Mean(robust ? my_pseudo_huber(error, 0.1) : Square(error));

    eddy_tensor d[2];
    eddy_gradients(EDDY_LIST(loss), EDDY_LIST(w, b), d);
    double      rate = robust ? 1.0 : 0.1;
    eddy_tensor step = eddy_group(g, EDDY_LIST(eddy_assign_sub(w, Mul(rate, d[0])),
                                               eddy_assign_sub(b, Mul(rate, d[1]))), "step");
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    for (int i = 0; i < 500; i++) eddy_run(s, EDDY_FEED(), EDDY_FETCH(step), NULL);

    eddy_array *out[2] = { NULL, NULL };
    if (eddy_run(s, EDDY_FEED(), EDDY_FETCH(w, b), out) != EDDY_OK)
        fprintf(stderr, "%s\n", eddy_session_message(s));
    *slope = eddy_array_item(out[0]);
    *intercept = eddy_array_item(out[1]);
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    eddy_session_free(s);
    eddy_graph_free(g);
}

/* The error for a wrong argument. */
static void show_refusal(void)
{
    eddy_graph *g = eddy_graph_new();
    my_pseudo_huber(eddy_scalar(g, 1), -1);
    printf("refused: %s\n", eddy_graph_message(g));
    eddy_graph_free(g);
}

int main(void)
{
    double w, b;
    bool   ok = check_gradient();
    fit(false, &w, &b);
    printf("least squares: y = %.3f x + %.3f\n", w, b);
    fit(true, &w, &b);
    printf("pseudo-Huber:  y = %.3f x + %.3f\n", w, b);
    ok = ok && fabs(w - 2) < 0.02 && fabs(b - 1) < 0.05;
    show_refusal();
    printf("%s\n", ok ? "ok" : "FAILED");
    return ok ? 0 : 1;
}
