/* lstm.c -- LSTM over a whole sequence, as one operation.
 *
 * The operation contains only the recurrence: x w + b is one product over all steps before it,
 * and the gradient of the recurrent weights is one product over all steps after it. The gradient
 * of the gradient is composed of ordinary operations, step by step. */
#include "ops/arrays/arrays.h"
#include "ops/arrays/gradient_terms.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/sequences/lstm.h"
#include "ops/nets/lstm_gradient.h"
#include "ops/kernels/sequences/lstm_sequence.h"
#include "ops/short_names.h"
#include "ops/nets/expect_shape.h"
#include "build/gen/table.h"

/* --------------------------------------------------------------- inferring -- */

/* The sizes that the inputs determine together; EDDY_ANY if none does. */
typedef struct sizes {
    int64_t steps, batch, h;
} sizes;

/* Checks that input i is [steps, batch, factor h] without its first `skip` dimensions. */
static bool take_sizes(eddy_infer *c, int i, int skip, int factor, sizes *z)
{
    const eddy_shape s = c->in[i].shape;
    int64_t *const at[] = { &z->steps, &z->batch };
    bool fits = s.rank < 0 || s.rank == 3 - skip;
    for (int a = 0; fits && s.rank > 0 && a < s.rank - 1; a++)
        fits = eddy__dim_unify(at[a + skip], s.dim[a]);
    if (fits && s.rank > 0 && s.dim[s.rank - 1] != EDDY_ANY)
        fits = s.dim[s.rank - 1] % factor == 0 &&
               eddy__dim_unify(&z->h, s.dim[s.rank - 1] / factor);
    return fits;
}

static eddy_shape states(const sizes *z) { return EDDY_SHAPE(z->steps, z->batch, z->h); }
static eddy_shape gates(const sizes *z)
{
    return EDDY_SHAPE(z->steps, z->batch, z->h == EDDY_ANY ? EDDY_ANY : 4 * z->h);
}

/* Checks that input i is [h, 4 h]. */
static bool take_weights(eddy_infer *c, int i, sizes *z)
{
    const eddy_shape s = c->in[i].shape;
    return s.rank < 0 || (s.rank == 2 && eddy__dim_unify(&z->h, s.dim[0]) &&
                          (s.dim[1] == EDDY_ANY || (s.dim[1] % 4 == 0 &&
                                                    eddy__dim_unify(&z->h, s.dim[1] / 4))));
}

static bool block_infer(eddy_infer *c)
{
    const eddy_dtype d = c->in[0].dtype;
    sizes z = { EDDY_ANY, EDDY_ANY, EDDY_ANY };
    if (!take_sizes(c, 0, 0, 4, &z) || !take_sizes(c, 1, 1, 1, &z) ||
        !take_sizes(c, 2, 1, 1, &z) || !take_weights(c, 3, &z))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "expected xw [t, b, 4 h], h0 [b, h], c0 [b, h] and u [h, 4 h]");
    return eddy__infer_yield(c, 0, d, states(&z)) && eddy__infer_yield(c, 1, d, states(&z)) &&
           eddy__infer_yield(c, 2, d, gates(&z));
}

/* u, the gates, cs, c0, dhs, and perhaps dcs and dgates. */
static bool block_grad_infer(eddy_infer *c)
{
    const eddy_dtype d = c->in[0].dtype;
    sizes z = { EDDY_ANY, EDDY_ANY, EDDY_ANY };
    if (!take_weights(c, 0, &z) || !take_sizes(c, 1, 0, 4, &z) || !take_sizes(c, 2, 0, 1, &z) ||
        !take_sizes(c, 3, 1, 1, &z))
        return eddy_infer_fail(
            c, EDDY_BAD_SHAPE,
            "expected u [h, 4 h], gates [t, b, 4 h], cs [t, b, h] and c0 [b, h]");
    return eddy__expect_shape(c, 4, "dhs", states(&z)) &&
           eddy__expect_shape(c, 5, "dcs", states(&z)) &&
           eddy__expect_shape(c, 6, "dgates", gates(&z)) && eddy__infer_yield(c, 0, d, gates(&z)) &&
           eddy__infer_yield(c, 1, d, EDDY_SHAPE(z.batch, z.h)) &&
           eddy__infer_yield(c, 2, d, EDDY_SHAPE(z.batch, z.h));
}

/* ----------------------------------------------------------------- kernels -- */

static eddy_lstm_sequence sequence(const eddy_kernel *k, int of_states)
{
    const eddy_shape s = k->n_out > 0 && of_states < 0 ? k->out[0]->type.shape
                                                       : k->in[of_states]->type.shape;
    return (eddy_lstm_sequence){ .steps = s.dim[0], .batch = s.dim[1], .h = s.dim[2] };
}

static eddy_status block_prepare(eddy_kernel *k)
{
    const eddy_lstm_sequence s = sequence(k, -1);
    k->scratch_size = eddy__lstm_scratch(k->in[0]->type.dtype, &s, false, k->threads);
    return EDDY_OK;
}

static eddy_status block_kernel(eddy_kernel *k)
{
    eddy_lstm_sequence s = sequence(k, -1);
    s.xw = k->in[0]->data;
    s.h0 = k->in[1]->data;
    s.c0 = k->in[2]->data;
    s.u = k->in[3]->data;
    s.hs = k->out[0]->data;
    s.cs = k->out[1]->data;
    s.act = k->out[2]->data;
    eddy__lstm_run(k, &s);
    return EDDY_OK;
}

static eddy_status block_grad_prepare(eddy_kernel *k)
{
    const eddy_lstm_sequence s = sequence(k, 2);
    k->scratch_size = eddy__lstm_scratch(k->in[0]->type.dtype, &s, true, k->threads);
    return EDDY_OK;
}

static eddy_status block_grad_kernel(eddy_kernel *k)
{
    eddy_lstm_sequence s = sequence(k, 2);
    s.u = k->in[0]->data;
    s.act = k->in[1]->data;
    s.cs = k->in[2]->data;
    s.c0 = k->in[3]->data;
    s.dhs = k->in[4]->data;
    s.dcs = k->n_in > 5 ? k->in[5]->data : NULL;
    s.dact = k->n_in > 6 ? k->in[6]->data : NULL;
    s.dz = k->out[0]->data;
    s.dh0 = k->out[1]->data;
    s.dc0 = k->out[2]->data;
    eddy__lstm_run_back(k, &s);
    return EDDY_OK;
}

/* The product of each step, and some operations per gate. */
static double flops_of(eddy_shape g)
{
    return (double)eddy_shape_count(g) * (2 * (double)g.dim[2] / 4 + 5);
}

static double block_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs; (void)n_in; (void)out;
    return flops_of(in[0].shape);
}

static double block_grad_flops(const void *attrs, int n_in, const eddy_type *in,
                               const eddy_type *out)
{
    (void)attrs; (void)n_in; (void)out;
    return flops_of(in[1].shape);
}

/* ------------------------------------------------------------------- rules -- */

/* The state before each step. */
static eddy_tensor states_before(eddy_tensor first, eddy_tensor all)
{
    const eddy_tensor both[] = { ExpandDims(first, 0), all };
    return eddy_slice_like(eddy_concat((eddy_list){ 2, both }, 0), all, EDDY_DIMS(0, 0, 0));
}

static eddy_tensor states_after(eddy_tensor all) { return eddy_shift(all, -1, 0); }

/* The sum over steps of a' b, as one product. */
static eddy_tensor over_steps(eddy_tensor a, eddy_tensor b)
{
    const eddy_tensor rows = Sum(a, EDDY_AXES(-1));
    return MatMul(eddy_merge_leading(a, rows), eddy_merge_leading(b, rows), .transpose_a = true);
}

static eddy_tensor at_step(eddy_tensor unstacked, int64_t t)
{
    return eddy_output(unstacked, (int)t);
}

/* The gradient of the backward recurrence runs forwards: given the gradients a and b of the
 * dh and dc that each step passes back, *dz gets the gradient of each dz, *back all a, *carry
 * all b.  Returns false if the number of steps is unknown. */
static bool run_forwards(eddy_rule *r, const eddy_lstm_parts *p, eddy_tensor *dz,
                         eddy_tensor *back, eddy_tensor *carry)
{
    enum { MOST = 4096 };
    const int64_t n = eddy_shape_of(r->x[2]).rank == 3 ? eddy_shape_of(r->x[2]).dim[0] : EDDY_ANY;
    eddy_tensor   a = r->dy[1], b = r->dy[2], of[7], rows[3][MOST];
    if (n == EDDY_ANY || n > MOST) return false;
    const eddy_tensor whole[] = { p->of_c[0], p->of_c[1], p->of_c[2], p->gate[1], p->of_h[0],
                                  p->of_h[1], r->dy[0] };
    for (int i = 0; i < 7; i++) of[i] = eddy_unstack(whole[i], 0, .num = n);
    for (int64_t t = 0; t < n; t++) {
        const eddy_tensor z = Add(at_step(of[6], t), MatMul(a, r->x[0]));
        const eddy_tensor gate = eddy_split(z, 4, .axis = -1);
        eddy_tensor sum = Mul(b, at_step(of[3], t));
        rows[0][t] = z;
        rows[1][t] = a;
        rows[2][t] = b;
        for (int i = 0; i < 3; i++) sum = Add(sum, Mul(eddy_output(gate, i), at_step(of[i], t)));
        a = Add(Mul(sum, at_step(of[4], t)), Mul(eddy_output(gate, 3), at_step(of[5], t)));
        b = sum;
    }
    *dz = eddy_stack((eddy_list){ (int)n, rows[0] }, 0);
    *back = eddy_stack((eddy_list){ (int)n, rows[1] }, 0);
    *carry = eddy_stack((eddy_list){ (int)n, rows[2] }, 0);
    return true;
}

static bool is_empty(eddy_tensor x)
{
    const eddy_shape s = eddy_shape_of(x);
    return s.rank > 0 && s.dim[0] == 0;
}

/* dh and dc of a step are the given gradients plus those that the next step passed back; the first
 * of these is a product with all dz, the second a scan. */
static void block_grad_gradient(eddy_rule *r)
{
    const eddy_tensor *x = r->x, u = x[0], none = eddy_none(r->graph);
    eddy_lstm_terms t = { .act = x[1], .c_before = states_before(x[3], x[2]), .c = x[2],
                          .dact = r->n_in > 6 ? x[6] : none };
    const eddy_lstm_parts p = eddy__lstm_parts_of(&t);
    eddy_tensor dz, back, carry, dx[6];
    if (is_empty(x[2])) {
        for (int i = 0; i < r->n_in; i++) r->dx[i] = ZerosLike(x[i]);
        return;
    }
    if (!run_forwards(r, &p, &dz, &back, &carry)) {
        eddy_rule_fail(r, EDDY_NO_GRADIENT,
                       "the second derivative is built step by step; the number of steps must be "
                       "known and at most 4096");
        return;
    }
    t.dh = Add(x[4], MatMul(states_after(r->y[0]), u, .transpose_b = true));
    const eddy_tensor of_dh = Mul(t.dh, p.of_h[0]);
    const eddy_tensor from = r->n_in > 5 ? Add(x[5], of_dh) : of_dh;
    t.dc = Sub(eddy_linear_scan(from, states_after(p.gate[1]), .reverse = true), of_dh);
    eddy__lstm_second(&t, dz, carry, dx);
    r->dx[0] = over_steps(back, r->y[0]);
    r->dx[1] = dx[0];
    r->dx[2] = Add(dx[2], states_after(dx[1]));
    r->dx[3] = eddy_unstack(dx[1], 0, .num = eddy_shape_of(x[2]).dim[0]);
    r->dx[4] = dx[3];
    if (r->n_in > 5) r->dx[5] = dx[4];
    if (r->n_in > 6) r->dx[6] = dx[5];
}

/* [n, t, b, ...] as [t, n b, ...], where t is that of `like`, and the inverse. */
static eddy_tensor into_batch(eddy_tensor x, const eddy_type *like, eddy_tensor pairs)
{
    const int64_t steps = like->shape.rank == 3 ? like->shape.dim[0] : EDDY_ANY;
    x = eddy_merge_leading(eddy_transpose(x, EDDY_DIMS(0, 2, 1, 3)), pairs);
    return eddy_set_shape(eddy_transpose(x, EDDY_DIMS(1, 0, 2)),
                          EDDY_SHAPE(steps, EDDY_ANY, EDDY_ANY));
}

static eddy_tensor out_of_batch(eddy_tensor y, eddy_tensor pairs)
{
    y = eddy_unflatten_like(eddy_transpose(y, EDDY_DIMS(1, 0, 2)), pairs, 0, 0);
    return eddy_transpose(y, EDDY_DIMS(0, 2, 1, 3));
}

/* Examples with their own weights: steps of ordinary ops, on [n, t, b, ...]. */
static void unrolled(eddy_batch *b, int64_t steps)
{
    enum { MOST = 4096 };
    eddy_tensor h = eddy_batch_input(b, 1), c = eddy_batch_input(b, 2), y[3][MOST];
    if (steps < 1 || steps > MOST) return;
    const eddy_tensor xw = eddy_unstack(eddy_batch_input(b, 0), 1, .num = steps);
    for (int64_t t = 0; t < steps; t++) {
        h = eddy_lstm_gates(Add(at_step(xw, t), eddy_batch_matmul(h, b->x[3])), c);
        c = eddy_output(h, 1);
        for (int i = 0; i < 3; i++) y[i][t] = eddy_output(h, i);
    }
    for (int i = 0; i < 3; i++) b->y[i] = eddy_stack((eddy_list){ (int)steps, y[i] }, 1);
}

static void unrolled_grad(eddy_batch *b, int64_t steps)
{
    enum { MOST = 4096 };
    eddy_tensor of[7], dz[MOST], dh = eddy_none(b->graph), dc = dh;
    if (steps < 1 || steps > MOST) return;
    for (int i = 1; i < b->n_in; i++)
        of[i] = i == 3 ? eddy_batch_input(b, i)
                       : eddy_unstack(eddy_batch_input(b, i), 1, .num = steps);
    for (int64_t t = steps - 1; t >= 0; t--) {
        const bool last = t == steps - 1;
        const eddy_tensor here = at_step(of[4], t), none = ZerosLike(here);
        const eddy_tensor outside = b->n_in > 5 ? at_step(of[5], t) : none;
        const eddy_tensor in[] = {
            at_step(of[1], t), t > 0 ? at_step(of[2], t - 1) : of[3], at_step(of[2], t),
            last ? here : Add(here, dh), last ? outside : Add(outside, dc),
            b->n_in > 6 ? at_step(of[6], t) : none,
        };
        dz[t] = eddy_apply(&eddy_op_lstm_gates_grad, NULL, b->n_in > 6 ? 6 : 5, in,
                           (eddy_apply_args){ 0 });
        dc = eddy_output(dz[t], 1);
        dh = eddy_batch_matmul(dz[t], b->x[0], .adj_y = true);
    }
    b->y[0] = eddy_stack((eddy_list){ (int)steps, dz }, 1);
    b->y[1] = dh;
    b->y[2] = dc;
}

/* If the examples share the weights, they become part of the batch. */
static void block_batch(eddy_batch *b)
{
    const eddy_type *like = b->node->outputs;
    if (b->batched[3]) {
        unrolled(b, like->shape.rank == 3 ? like->shape.dim[0] : EDDY_ANY);
        return;
    }
    const eddy_tensor h0 = eddy_batch_input(b, 1), c0 = eddy_batch_input(b, 2);
    const eddy_tensor pairs = Sum(h0, EDDY_AXES(-1));
    const eddy_tensor y = eddy_block_lstm(into_batch(eddy_batch_input(b, 0), like, pairs),
                                          eddy_merge_leading(h0, pairs),
                                          eddy_merge_leading(c0, pairs), b->x[3]);
    for (int i = 0; i < 3; i++) b->y[i] = out_of_batch(eddy_output(y, i), pairs);
}

static void block_grad_batch(eddy_batch *b)
{
    const eddy_type  *like = b->node->outputs;
    const eddy_tensor pairs = Sum(eddy_batch_input(b, 3), EDDY_AXES(-1));
    eddy_tensor x[7] = { b->x[0] };
    if (b->batched[0]) {
        unrolled_grad(b, like->shape.rank == 3 ? like->shape.dim[0] : EDDY_ANY);
        return;
    }
    for (int i = 1; i < b->n_in; i++) {
        const eddy_tensor all = eddy_batch_input(b, i);
        x[i] = i == 3 ? eddy_merge_leading(all, pairs) : into_batch(all, like, pairs);
    }
    const eddy_tensor y = eddy_apply(b->node->op, NULL, b->n_in, x, (eddy_apply_args){ 0 });
    b->y[0] = out_of_batch(y, pairs);
    for (int i = 1; i < 3; i++) b->y[i] = eddy_unflatten_like(eddy_output(y, i), pairs, 0, 0);
}

const eddy_op_def eddy_op_block_lstm_grad = {
    .name = "BlockLSTMGrad", .min_inputs = 5, .max_inputs = 7, .outputs = 3,
    .flags = EDDY_OP_IN_PLACE, .in_place_input = 1,         /* dz in the memory of the gates */
    .inputs = EDDY_INPUTS({ "u", EDDY_TAKES_FLOATS }, { "gates", EDDY_LIKE(0) },
                          { "cs", EDDY_LIKE(0) }, { "c0", EDDY_LIKE(0) }, { "dhs", EDDY_LIKE(0) },
                          { "dcs", EDDY_LIKE(0) }, { "dgates", EDDY_LIKE(0) }),
    .infer = block_grad_infer, .prepare = block_grad_prepare, .kernel = block_grad_kernel,
    .gradient = block_grad_gradient, .batch = block_grad_batch, .flops = block_grad_flops,
};

static void block_gradient(eddy_rule *r)
{
    const eddy_tensor in[] = { r->x[3], r->y[2], r->y[1], r->x[2], r->dy[0], r->dy[1], r->dy[2] };
    const int n = eddy__has_gradient(r->dy[2]) ? 7 : eddy__has_gradient(r->dy[1]) ? 6 : 5;
    const eddy_tensor dx = eddy_apply(&eddy_op_block_lstm_grad, NULL, n, in,
                                      (eddy_apply_args){ 0 });
    for (int i = 0; i < 3; i++) r->dx[i] = eddy_output(dx, i);
    r->dx[3] = over_steps(states_before(r->x[1], r->y[0]), dx);
}

const eddy_op_def eddy_op_block_lstm = {
    .name = "BlockLSTM", .min_inputs = 4, .max_inputs = 4, .outputs = 3,
    .flags = EDDY_OP_IN_PLACE, .in_place_output = 2,        /* the gates in the memory of xw */
    .inputs = EDDY_INPUTS({ "xw", EDDY_TAKES_FLOATS }, { "h0", EDDY_LIKE(0) },
                          { "c0", EDDY_LIKE(0) }, { "u", EDDY_LIKE(0) }),
    .infer = block_infer, .prepare = block_prepare, .kernel = block_kernel,
    .gradient = block_gradient, .batch = block_batch, .flops = block_flops,
};

/* ---------------------------------------------------------------- builders -- */

#ifdef EDDY_HEADER
typedef struct eddy_block_lstm_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_block_lstm_args));
    eddy_tensor xw;               /* [t,b,4h]: x w + bias of all steps */
    eddy_tensor h0, c0;           /* [b,h] */
    eddy_tensor u;                /* [h,4h] */
    const char *name;
} eddy_block_lstm_args;
#endif

/** The recurrence of an LSTM: for each step t, eddy_lstm_gates of xw[t] + h[t-1] u and
 *  c[t-1], beginning with h0 and c0.
 *
 *  xw      float32 or float64 [t, b, 4 h], the gates in the order i, f, g, o
 *  h0, c0  same type, [b, h]
 *  u       same type, [h, 4 h]
 *
 *  Returns the h of all steps, [t, b, h]; eddy_output(y, 1) is the c of all steps,
 *  eddy_output(y, 2) the gates after sigmoid and tanh, [t, b, 4 h].
 *  Errors: EDDY_BAD_SHAPE for shapes that do not match; EDDY_NO_GRADIENT for a gradient of
 *  the gradient if the number of steps is unknown or above 4096.
 *  Gradient: dz[t] is that of the gates from dh[t] + dz[t+1] u', and dxw = dz; du is the sum
 *  of h[t-1]' dz[t], computed as one product.
 *  TensorFlow: BlockLSTMV2 without its product with x (i, g, f, o there). */
eddy_tensor eddy_block_lstm_with(const eddy_block_lstm_args *given)
{
    eddy_block_lstm_args a = EDDY_TAKE(eddy_block_lstm_args, given);
    return eddy__apply_named(a.name, &eddy_op_block_lstm, NULL, 4,
                             (eddy_tensor[]){ a.xw, a.h0, a.c0, a.u });
}

#ifdef EDDY_HEADER
typedef struct eddy_lstm_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_lstm_args));
    eddy_tensor x;                /* [t,b,n] */
    eddy_tensor h0, c0;           /* [b,h]; default: zeros */
    eddy_tensor w, u;             /* [n,4h] and [h,4h] */
    eddy_tensor b;                /* [4h]; default: none */
    const char *name;
} eddy_lstm_args;
#endif

/** An LSTM layer over a sequence: eddy_block_lstm of x w + b.
 *
 *  x       float32 or float64 [t, b, n]: steps first
 *  h0, c0  same type, [b, h]; default: zeros
 *  w, u    same type, [n, 4 h] and [h, 4 h]; PyTorch's weight_ih and weight_hh
 *          transposed, with the gates in its order i, f, g, o
 *  b       same type, [4 h]; default: none
 *
 *  Returns the h of all steps, [t, b, h]; eddy_output(y, 1) is the c of all steps.
 *  Errors and gradient: as for eddy_matmul, eddy_bias_add and eddy_block_lstm.
 *  TensorFlow: tf.nn.static_rnn of an LSTMBlockCell, with another order of gates. */
eddy_tensor eddy_lstm_with(const eddy_lstm_args *given)
{
    eddy_lstm_args a = EDDY_TAKE(eddy_lstm_args, given);
    eddy_tensor xw = MatMul(a.x, a.w);
    if (a.b.graph) xw = BiasAdd(xw, a.b);
    if (!a.h0.graph || !a.c0.graph) {
        const eddy_tensor like = eddy_split(Sum(xw, EDDY_AXES(0)), 4, .axis = -1);
        if (!a.h0.graph) a.h0 = ZerosLike(like);
        if (!a.c0.graph) a.c0 = ZerosLike(like);
    }
    return eddy_block_lstm(xw, a.h0, a.c0, a.u, .name = a.name);
}
