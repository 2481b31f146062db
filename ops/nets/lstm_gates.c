/* lstm_gates.c -- the gates of an LSTM cell: the elementwise part of one step.
 *
 * The order of the gates is i (input), f (forget), g (candidate), o (output), as in PyTorch and
 * cuDNN. The gates after sigmoid and tanh are kept for the gradient. The gradient is an
 * operation, a smooth function of all its inputs; its own rule is composed of ordinary
 * operations. */
#include "ops/arrays/arrays.h"
#include "ops/arrays/gradient_terms.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/sequences/lstm.h"
#include "ops/nets/lstm_gradient.h"
#include "ops/short_names.h"
#include "ops/math/elementwise_rows.h"
#include "ops/nets/expect_shape.h"

eddy_lstm_parts eddy__lstm_parts_of(const eddy_lstm_terms *t)
{
    eddy_lstm_parts p;
    const eddy_tensor act = eddy_split(t->act, 4, .axis = -1);
    for (int k = 0; k < 4; k++) {
        const eddy_tensor a = p.gate[k] = eddy_output(act, k);
        p.slope[k] = k == 2 ? Sub(1, Square(a)) : Mul(a, Sub(1, a));
    }
    p.top = Tanh(t->c);
    p.top_slope = Sub(1, Square(p.top));
    p.of_c[0] = Mul(p.gate[2], p.slope[0]);
    p.of_c[1] = Mul(t->c_before, p.slope[1]);
    p.of_c[2] = Mul(p.gate[0], p.slope[2]);
    p.of_h[0] = Mul(p.gate[3], p.top_slope);
    p.of_h[1] = Mul(p.top, p.slope[3]);
    return p;
}

/* a b + c d. */
static eddy_tensor sum_of_products(eddy_tensor a, eddy_tensor b, eddy_tensor c, eddy_tensor d)
{
    return Add(Mul(a, b), Mul(c, d));
}

/* 1 - 2 a, the derivative of a (1 - a). */
static eddy_tensor slope_of_slope(eddy_tensor a) { return Sub(1, Mul(2, a)); }

void eddy__lstm_second(const eddy_lstm_terms *t, eddy_tensor dz, eddy_tensor dc_before,
                       eddy_tensor *dx)
{
    const eddy_lstm_parts p = eddy__lstm_parts_of(t);
    const eddy_tensor all = eddy_split(dz, 4, .axis = -1), *a = p.gate, *s = p.slope;
    const eddy_tensor z[] = { all, eddy_output(all, 1), eddy_output(all, 2), eddy_output(all, 3) };
    const eddy_tensor sum = Add(t->dc, Mul(t->dh, p.of_h[0]));
    const eddy_tensor dsum = Add(sum_of_products(z[0], p.of_c[0], z[1], p.of_c[1]),
                                 sum_of_products(z[2], p.of_c[2], dc_before, a[1]));
    eddy_tensor dslope[4] = { Mul(sum, a[2]), Mul(sum, t->c_before), Mul(sum, a[0]),
                               Mul(t->dh, p.top) };
    eddy_tensor of_slope[4], dact[4];
    for (int k = 0; k < 4; k++) {
        if (eddy_is_valid(t->dact))
            dslope[k] = Add(dslope[k], eddy_output(eddy_split(t->dact, 4, .axis = -1), k));
        of_slope[k] = Mul(Mul(z[k], dslope[k]), k == 2 ? Mul(-2, a[2]) : slope_of_slope(a[k]));
        dact[k] = Mul(z[k], s[k]);
    }
    const eddy_tensor d[] = {
        Add(of_slope[0], Mul(dact[2], sum)), Add(of_slope[1], Mul(dc_before, sum)),
        Add(of_slope[2], Mul(dact[0], sum)),
        Add(of_slope[3], Mul(Mul(dsum, t->dh), p.top_slope)),
    };
    const eddy_tensor dtop = Sub(Mul(dact[3], t->dh),
                                 Mul(Mul(2, p.top), Mul(dsum, Mul(t->dh, a[3]))));
    dx[0] = eddy_concat((eddy_list){ 4, d }, -1);
    dx[1] = Mul(dact[1], sum);
    dx[2] = Mul(dtop, p.top_slope);
    dx[3] = sum_of_products(dsum, p.of_h[0], z[3], p.of_h[1]);
    dx[4] = dsum;
    if (eddy_is_valid(t->dact)) dx[5] = eddy_concat((eddy_list){ 4, dact }, -1);
}

/* ------------------------------------------------------------------- one step -- */

/* The shapes of gates and states, each merged from both. */
static bool step_shapes(eddy_infer *c, int gates, int state, eddy_shape *z, eddy_shape *s)
{
    *z = c->in[gates].shape;
    *s = c->in[state].shape;
    bool fits = z->rank != 0 && s->rank != 0 && (z->rank < 0 || s->rank < 0 || z->rank == s->rank);
    if (fits && z->rank < 0) *z = eddy__shape_open(s->rank);
    if (fits && s->rank < 0) *s = eddy__shape_open(z->rank);
    const int last = s->rank - 1;
    for (int a = 0; fits && a < last; a++)
        fits = eddy__dim_unify(&z->dim[a], s->dim[a]) && eddy__dim_unify(&s->dim[a], z->dim[a]);
    if (fits && last >= 0) {
        const int64_t n = s->dim[last], all = n == EDDY_ANY ? EDDY_ANY : 4 * n;
        fits = eddy__dim_unify(&z->dim[last], all) &&
               (z->dim[last] == EDDY_ANY || z->dim[last] % 4 == 0);
        if (fits && n == EDDY_ANY && z->dim[last] != EDDY_ANY) s->dim[last] = z->dim[last] / 4;
    }
    return fits ||
           eddy_infer_fail(c, EDDY_BAD_SHAPE, "expected gates [..., 4 h] and states [..., h]");
}

/* A block of all rows of states with this shape. */
static eddy_lstm_block whole(eddy_shape s)
{
    const int64_t h = s.dim[s.rank - 1];
    return (eddy_lstm_block){ .rows = eddy__shape_product(s, 0, s.rank - 1), .columns = h,
                              .row = h, .gate = h };
}

static bool gates_grad_infer(eddy_infer *c)
{
    eddy_shape z, s;
    return step_shapes(c, 0, 1, &z, &s) && eddy__expect_shape(c, 2, "c", s) &&
           eddy__expect_shape(c, 3, "dh", s) && eddy__expect_shape(c, 4, "dc", s) &&
           eddy__expect_shape(c, 5, "dgates", z) && eddy__infer_yield(c, 0, c->in[0].dtype, z) &&
           eddy__infer_yield(c, 1, c->in[0].dtype, s);
}

static eddy_status gates_grad_kernel(eddy_kernel *k)
{
    eddy_lstm_block b = whole(k->out[1]->type.shape);
    b.act = k->in[0]->data;
    b.c_before = k->in[1]->data;
    b.c = k->in[2]->data;
    b.dh = k->in[3]->data;
    b.dc = k->in[4]->data;
    b.dact = k->n_in > 5 ? k->in[5]->data : NULL;
    b.dz = k->out[0]->data;
    b.dc_before = k->out[1]->data;
    return eddy__lstm_backward(k->in[0]->type.dtype)(b.rows, b.dz, NULL, &b);
}

static void gates_grad_gradient(eddy_rule *r)
{
    const eddy_tensor *x = r->x;
    const eddy_lstm_terms t = { x[0], x[1], x[2], x[3], x[4],
                                r->n_in > 5 ? x[5] : eddy_none(r->graph) };
    eddy__lstm_second(&t, r->dy[0], r->dy[1], r->dx);
}

/* Per state: two or three products and sums per gate, five exponentials or fewer. */
static double gates_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs; (void)n_in; (void)out;
    return 5 * (double)eddy_shape_count(in[0].shape);
}

const eddy_op_def eddy_op_lstm_gates_grad = {
    .name = "LSTMGatesGrad", .min_inputs = 5, .max_inputs = 6, .outputs = 2,
    .inputs = EDDY_INPUTS({ "gates", EDDY_TAKES_FLOATS }, { "c_before", EDDY_LIKE(0) },
                          { "c", EDDY_LIKE(0) }, { "dh", EDDY_LIKE(0) }, { "dc", EDDY_LIKE(0) },
                          { "dgates", EDDY_LIKE(0) }),
    .infer = gates_grad_infer, .kernel = gates_grad_kernel, .gradient = gates_grad_gradient,
    .batch = eddy_batch_as_is, .flops = gates_flops,
};

#ifdef EDDY_HEADER
typedef struct eddy_lstm_gates_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_lstm_gates_args));
    eddy_tensor z;                /* [...,4h]: i, f, g, o before sigmoid and tanh */
    eddy_tensor c;                /* [...,h] */
    const char *name;
} eddy_lstm_gates_args;
#endif

static bool gates_infer(eddy_infer *c)
{
    eddy_shape z, s;
    return step_shapes(c, 0, 1, &z, &s) && eddy__infer_yield(c, 0, c->in[0].dtype, s) &&
           eddy__infer_yield(c, 1, c->in[0].dtype, s) && eddy__infer_yield(c, 2, c->in[0].dtype, z);
}

static eddy_status gates_kernel(eddy_kernel *k)
{
    eddy_lstm_block b = whole(k->out[0]->type.shape);
    b.z = k->in[0]->data;
    b.c_before = k->in[1]->data;
    b.h = k->out[0]->data;
    b.c = k->out[1]->data;
    b.act = k->out[2]->data;
    return eddy__lstm_forward(k->in[0]->type.dtype)(b.rows, b.h, NULL, &b);
}

static void gates_gradient(eddy_rule *r)
{
    const eddy_tensor in[] = { r->y[2], r->x[1], r->y[1], r->dy[0], r->dy[1], r->dy[2] };
    const eddy_tensor dx = eddy_apply(&eddy_op_lstm_gates_grad, NULL,
                                      eddy__has_gradient(r->dy[2]) ? 6 : 5, in,
                                      (eddy_apply_args){ 0 });
    r->dx[0] = dx;
    r->dx[1] = eddy_output(dx, 1);
}

const eddy_op_def eddy_op_lstm_gates = {
    .name = "LSTMGates", .min_inputs = 2, .max_inputs = 2, .outputs = 3,
    .inputs = EDDY_INPUTS({ "z", EDDY_TAKES_FLOATS }, { "c", EDDY_LIKE(0) }),
    .infer = gates_infer, .kernel = gates_kernel, .gradient = gates_gradient,
    .batch = eddy_batch_as_is, .flops = gates_flops,
};

/** One step of an LSTM after its products: with i, f, g, o the quarters of z,
 *  c' = sigmoid(f) c + sigmoid(i) tanh(g) and h = sigmoid(o) tanh(c').
 *
 *  z  float32 or float64 [..., 4 h], usually x w + h u + b; the order is PyTorch's
 *  c  same type, [..., h]
 *
 *  Returns h; eddy_output(y, 1) is c', eddy_output(y, 2) the gates after sigmoid and tanh,
 *  in the order of z.  Nothing is added to f: include a forget bias in b.
 *  Errors: EDDY_BAD_SHAPE if the last dimension of z is not four times that of c, or the others
 *  differ.
 *  Gradient: with D = dc' + dh o (1 - tanh(c')^2), dc = D f, di = D g i (1 - i) and so on.
 *  TensorFlow: LSTMBlockCell without its products (i, g, f, o there). */
eddy_tensor eddy_lstm_gates_with(const eddy_lstm_gates_args *given)
{
    eddy_lstm_gates_args a = EDDY_TAKE(eddy_lstm_gates_args, given);
    return eddy__apply_named(a.name, &eddy_op_lstm_gates, NULL, 2, (eddy_tensor[]){ a.z, a.c });
}
