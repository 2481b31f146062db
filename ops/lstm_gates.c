/* lstm_gates.c -- the elementwise part of one step of an LSTM.
 *
 * The order of the gates is i (input), f (forget), g (candidate), o (output), that of
 * PyTorch and cuDNN.  The gates after sigmoid and tanh are kept for the gradient.  That is
 * an op, a smooth function of all its inputs; its own rule is made of ordinary ops. */
#include "ops/arrays.h"
#include "ops/batch.h"
#include "ops/lstm.h"
#include "ops/math.h"
#include "ops/rows.h"
#include "ops/same_floats.h"

/* --------------------------------------------------------------- the loops -- */

/* c = f c_before + i g, h = o tanh c. */
#define FORWARD(fn, T)                                                          \
    static eddy_status fn(int64_t n, void *y, const void *const *x, const void *block) \
    {                                                                           \
        const eddy_lstm_block b = *(const eddy_lstm_block *)block;              \
        (void)n; (void)y; (void)x;                                              \
        for (int64_t r = 0; r < b.rows; r++) {                                  \
            const int64_t at = r * b.row;                                       \
            const T *z = (const T *)b.z + 4 * at, *before = (const T *)b.c_before + at; \
            const T *more = b.z_more ? (const T *)b.z_more + r * b.other_row : NULL; \
            T *act = (T *)b.act + 4 * at, *c = (T *)b.c + at, *h = (T *)b.h + at; \
            EDDY_INDEPENDENT                                                    \
            for (int64_t j = 0; j < b.columns; j++) {                           \
                T zi = z[j], zf = z[j + b.gate], zg = z[j + 2 * b.gate], zo = z[j + 3 * b.gate]; \
                if (more) {                                                     \
                    zi += more[j];                                              \
                    zf += more[j + b.other_gate];                               \
                    zg += more[j + 2 * b.other_gate];                           \
                    zo += more[j + 3 * b.other_gate];                           \
                }                                                               \
                const T i = EDDY_MATH(sigmoid, zi, 1 / (1 + exp(-zi)));         \
                const T f = EDDY_MATH(sigmoid, zf, 1 / (1 + exp(-zf)));         \
                const T g = EDDY_MATH(tanh, zg, tanh(zg));                      \
                const T o = EDDY_MATH(sigmoid, zo, 1 / (1 + exp(-zo)));         \
                const T state = f * before[j] + i * g;                          \
                act[j] = i;                                                     \
                act[j + b.gate] = f;                                            \
                act[j + 2 * b.gate] = g;                                        \
                act[j + 3 * b.gate] = o;                                        \
                c[j] = state;                                                   \
                h[j] = o * EDDY_MATH(tanh, state, tanh(state));                 \
            }                                                                   \
        }                                                                       \
        return EDDY_OK;                                                         \
    }
FORWARD(forward_f32, float)
FORWARD(forward_f64, double)
EDDY_CLONES(forward_f32)

/* With D = dc + dh o (1 - tanh(c)^2): what arrives at i, f, g, o is D g, D c_before, D i
 * and dh tanh c; c_before gets D f.  `inside` a sequence there are dh_more, dc_more and
 * dz_more and nothing else, which lets the loop be one of vectors. */
#define BACKWARD(fn, T)                                                         \
    EDDY_INLINE void fn##_row(const eddy_lstm_block *b, int64_t r, const bool inside) \
    {                                                                           \
        const int64_t gate = b->gate, at = r * b->row;                          \
        const T *act = (const T *)b->act + 4 * at, *before = (const T *)b->c_before + at; \
        const T *state = (const T *)b->c + at, *dh = (const T *)b->dh + at;     \
        const T *dh_more = inside || b->dh_more ? (const T *)b->dh_more + r * b->other_h : NULL; \
        const T *dc_more = inside || b->dc_more ? (const T *)b->dc_more + at : NULL; \
        const T *dc = !inside && b->dc ? (const T *)b->dc + at : NULL;          \
        const T *dact = !inside && b->dact ? (const T *)b->dact + 4 * at : NULL; \
        const bool twice = inside || b->dz_more;                                \
        T *dz = (T *)b->dz + 4 * at, *dbefore = (T *)b->dc_before + at;         \
        T *copy = twice ? (T *)b->dz_more + r * b->other_row : dz;              \
        const int64_t copy_gate = twice ? b->other_gate : gate;                 \
        EDDY_INDEPENDENT                                                        \
        for (int64_t j = 0; j < b->columns; j++) {                              \
            const T i = act[j], f = act[j + gate], g = act[j + 2 * gate], o = act[j + 3 * gate]; \
            const T c = state[j], top = EDDY_MATH(tanh, c, tanh(c));            \
            const T dy = inside || dh_more ? dh[j] + dh_more[j] : dh[j];        \
            T sum = dy * o * (1 - top * top);                                   \
            if (!inside && dc) sum += dc[j];                                    \
            if (inside || dc_more) sum += dc_more[j];                           \
            const T di = (sum * g + (dact ? dact[j] : 0)) * (i * (1 - i));      \
            const T df = (sum * before[j] + (dact ? dact[j + gate] : 0)) * (f * (1 - f)); \
            const T dg = (sum * i + (dact ? dact[j + 2 * gate] : 0)) * (1 - g * g); \
            const T d_o = (dy * top + (dact ? dact[j + 3 * gate] : 0)) * (o * (1 - o)); \
            copy[j] = dz[j] = di;                                               \
            copy[j + copy_gate] = dz[j + gate] = df;                            \
            copy[j + 2 * copy_gate] = dz[j + 2 * gate] = dg;                    \
            copy[j + 3 * copy_gate] = dz[j + 3 * gate] = d_o;                   \
            dbefore[j] = sum * f;                                               \
        }                                                                       \
    }                                                                           \
    static eddy_status fn(int64_t n, void *y, const void *const *x, const void *block) \
    {                                                                           \
        const eddy_lstm_block b = *(const eddy_lstm_block *)block;              \
        const bool inside = b.dh_more && b.dc_more && b.dz_more && !b.dc && !b.dact; \
        (void)n; (void)y; (void)x;                                              \
        for (int64_t r = 0; inside && r < b.rows; r++) fn##_row(&b, r, true);   \
        for (int64_t r = 0; !inside && r < b.rows; r++) fn##_row(&b, r, false); \
        return EDDY_OK;                                                         \
    }
BACKWARD(backward_f32, float)
BACKWARD(backward_f64, double)
EDDY_CLONES(backward_f32)

eddy_tile_fn eddy_lstm_forward(eddy_dtype d)
{
    return d == EDDY_FLOAT32 ? EDDY_BEST(forward_f32) : forward_f64;
}

eddy_tile_fn eddy_lstm_backward(eddy_dtype d)
{
    return d == EDDY_FLOAT32 ? EDDY_BEST(backward_f32) : backward_f64;
}

/* ------------------------------------------------------------------- rules -- */

bool eddy_lstm_arrived(eddy_tensor dy)
{
    return eddy_is_valid(dy) && eddy_node_of(dy)->op != &eddy_op_zeros_like;
}

eddy_lstm_parts eddy_lstm_parts_of(const eddy_lstm_terms *t)
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
static eddy_tensor two(eddy_tensor a, eddy_tensor b, eddy_tensor c, eddy_tensor d)
{
    return Add(Mul(a, b), Mul(c, d));
}

/* 1 - 2 a. */
static eddy_tensor bend(eddy_tensor a) { return Sub(1, Mul(2, a)); }

void eddy_lstm_second(const eddy_lstm_terms *t, eddy_tensor dz, eddy_tensor dc_before,
                      eddy_tensor *dx)
{
    const eddy_lstm_parts p = eddy_lstm_parts_of(t);
    const eddy_tensor all = eddy_split(dz, 4, .axis = -1), *a = p.gate, *s = p.slope;
    const eddy_tensor z[] = { all, eddy_output(all, 1), eddy_output(all, 2), eddy_output(all, 3) };
    const eddy_tensor sum = Add(t->dc, Mul(t->dh, p.of_h[0]));
    const eddy_tensor dsum = Add(two(z[0], p.of_c[0], z[1], p.of_c[1]),
                                 two(z[2], p.of_c[2], dc_before, a[1]));
    eddy_tensor arrived[4] = { Mul(sum, a[2]), Mul(sum, t->c_before), Mul(sum, a[0]),
                               Mul(t->dh, p.top) };
    eddy_tensor of_slope[4], dact[4];
    for (int k = 0; k < 4; k++) {
        if (eddy_is_valid(t->dact))
            arrived[k] = Add(arrived[k], eddy_output(eddy_split(t->dact, 4, .axis = -1), k));
        of_slope[k] = Mul(Mul(z[k], arrived[k]), k == 2 ? Mul(-2, a[2]) : bend(a[k]));
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
    dx[3] = two(dsum, p.of_h[0], z[3], p.of_h[1]);
    dx[4] = dsum;
    if (eddy_is_valid(t->dact)) dx[5] = eddy_concat((eddy_list){ 4, dact }, -1);
}

/* ------------------------------------------------------------------- one step -- */

/* The shapes of gates and states, each from both. */
static bool step_shapes(eddy_infer *c, int gates, int state, eddy_shape *z, eddy_shape *s)
{
    *z = c->in[gates].shape;
    *s = c->in[state].shape;
    if (!eddy_infer_same_floats(c)) return false;
    bool fits = z->rank != 0 && s->rank != 0 && (z->rank < 0 || s->rank < 0 || z->rank == s->rank);
    if (fits && z->rank < 0) *z = eddy_shape_open(s->rank);
    if (fits && s->rank < 0) *s = eddy_shape_open(z->rank);
    const int last = s->rank - 1;
    for (int a = 0; fits && a < last; a++)
        fits = eddy_dim_unify(&z->dim[a], s->dim[a]) && eddy_dim_unify(&s->dim[a], z->dim[a]);
    if (fits && last >= 0) {
        const int64_t n = s->dim[last], all = n == EDDY_ANY ? EDDY_ANY : 4 * n;
        fits = eddy_dim_unify(&z->dim[last], all) &&
               (z->dim[last] == EDDY_ANY || z->dim[last] % 4 == 0);
        if (fits && n == EDDY_ANY && z->dim[last] != EDDY_ANY) s->dim[last] = z->dim[last] / 4;
    }
    return fits || eddy_infer_fail(c, EDDY_BAD_SHAPE, "gates [..., 4 h] and states [..., h] "
                                   "expected");
}

/* A block of all rows of states with this shape. */
static eddy_lstm_block whole(eddy_shape s)
{
    const int64_t h = s.dim[s.rank - 1];
    return (eddy_lstm_block){ .rows = eddy_shape_product(s, 0, s.rank - 1), .columns = h,
                              .row = h, .gate = h };
}

static bool gates_grad_infer(eddy_infer *c)
{
    eddy_shape z, s;
    return step_shapes(c, 0, 1, &z, &s) && eddy_infer_like(c, 2, "c", s) &&
           eddy_infer_like(c, 3, "dh", s) && eddy_infer_like(c, 4, "dc", s) &&
           eddy_infer_like(c, 5, "dgates", z) && eddy_infer_yield(c, 0, c->in[0].dtype, z) &&
           eddy_infer_yield(c, 1, c->in[0].dtype, s);
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
    return eddy_lstm_backward(k->in[0]->type.dtype)(b.rows, b.dz, NULL, &b);
}

static void gates_grad_gradient(eddy_rule *r)
{
    const eddy_tensor *x = r->x;
    const eddy_lstm_terms t = { x[0], x[1], x[2], x[3], x[4],
                                r->n_in > 5 ? x[5] : eddy_none(r->graph) };
    eddy_lstm_second(&t, r->dy[0], r->dy[1], r->dx);
}

/* Of each state: two or three products and sums a gate, five exponentials or fewer. */
static double gates_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs; (void)n_in; (void)out;
    return 5 * (double)eddy_shape_count(in[0].shape);
}

const eddy_op_def eddy_op_lstm_gates_grad = {
    .name = "LSTMGatesGrad", .min_inputs = 5, .max_inputs = 6, .outputs = 2,
    .infer = gates_grad_infer, .kernel = gates_grad_kernel, .gradient = gates_grad_gradient,
    .batch = eddy_batch_as_is, .flops = gates_flops,
};

#ifdef EDDY_HEADER
typedef struct eddy_lstm_gates_args {
    char        unused_;
    eddy_tensor z;                /* [...,4h]: i, f, g, o before sigmoid and tanh */
    eddy_tensor c;                /* [...,h] */
    const char *name;
} eddy_lstm_gates_args;
#endif

static bool gates_infer(eddy_infer *c)
{
    eddy_shape z, s;
    return step_shapes(c, 0, 1, &z, &s) && eddy_infer_yield(c, 0, c->in[0].dtype, s) &&
           eddy_infer_yield(c, 1, c->in[0].dtype, s) && eddy_infer_yield(c, 2, c->in[0].dtype, z);
}

static eddy_status gates_kernel(eddy_kernel *k)
{
    eddy_lstm_block b = whole(k->out[0]->type.shape);
    b.z = k->in[0]->data;
    b.c_before = k->in[1]->data;
    b.h = k->out[0]->data;
    b.c = k->out[1]->data;
    b.act = k->out[2]->data;
    return eddy_lstm_forward(k->in[0]->type.dtype)(b.rows, b.h, NULL, &b);
}

static void gates_gradient(eddy_rule *r)
{
    const eddy_tensor in[] = { r->y[2], r->x[1], r->y[1], r->dy[0], r->dy[1], r->dy[2] };
    const eddy_tensor dx = eddy_apply(&eddy_op_lstm_gates_grad, NULL,
                                      eddy_lstm_arrived(r->dy[2]) ? 6 : 5, in,
                                      (eddy_apply_args){ 0 });
    r->dx[0] = dx;
    r->dx[1] = eddy_output(dx, 1);
}

const eddy_op_def eddy_op_lstm_gates = {
    .name = "LSTMGates", .min_inputs = 2, .max_inputs = 2, .outputs = 3,
    .infer = gates_infer, .kernel = gates_kernel, .gradient = gates_gradient,
    .batch = eddy_batch_as_is, .flops = gates_flops,
};

/** One step of an LSTM after its products: with i, f, g, o the quarters of z,
 *  c' = sigmoid(f) c + sigmoid(i) tanh(g) and h = sigmoid(o) tanh(c').
 *
 *  z  float32 or float64 [..., 4 h], x w + h u + b as a rule; the order is PyTorch's
 *  c  of the same type, [..., h]
 *
 *  Returns h; eddy_output(y, 1) is c', eddy_output(y, 2) the gates after sigmoid and tanh,
 *  in the order of z.  Nothing is added to f: put a forget bias into b.
 *  Errors: EDDY_BAD_DTYPE for other or different element types; EDDY_BAD_SHAPE if the
 *  last dimension of z is not four times that of c, or the others differ.
 *  Gradient: with D = dc' + dh o (1 - tanh(c')^2), dc = D f, di = D g i (1 - i) and so on.
 *  TensorFlow: LSTMBlockCell without its products (i, g, f, o there). */
eddy_tensor eddy_lstm_gates_with(eddy_lstm_gates_args a)
{
    return eddy_apply_named(a.name, &eddy_op_lstm_gates, NULL, 2, (eddy_tensor[]){ a.z, a.c });
}
