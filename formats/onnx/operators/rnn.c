/* rnn.c -- RNN, GRU and LSTM: a loop over the steps for each direction.
 *
 * The products with the inputs of all steps are one product before the loop. Sequences that end
 * early keep their state, and their outputs are 0. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <math.h>
#include <string.h>
#include <strings.h>

typedef struct activation {
    char   name[24];
    double alpha, beta;
} activation;

typedef struct cell {
    onnx_build *b;
    int         gates;              /* 1 RNN, 3 GRU, 4 LSTM */
    int64_t     hidden;
    activation  f[3];
    double      clip;               /* 0: none */
    bool        couple;             /* the forget gate of an LSTM is 1 - i */
    bool        reset_after;        /* linear_before_reset of a GRU */
    bool        masked;
    eddy_tensor u;                  /* [hidden, gates hidden] */
    eddy_tensor ub[3];              /* the recurrent bias of a GRU, a vector for each gate */
    eddy_tensor peephole[3];        /* of an LSTM for i, o and f; invalid: none */
} cell;

/* -------------------------------------------------------------- activations -- */

static eddy_tensor activated(const activation *a, eddy_tensor x)
{
    const char *n = a->name;
    if (strcasecmp(n, "Sigmoid") == 0) return Sigmoid(x);
    if (strcasecmp(n, "Tanh") == 0) return Tanh(x);
    if (strcasecmp(n, "Relu") == 0) return Relu(x);
    if (strcasecmp(n, "Affine") == 0) return Add(Mul(a->alpha, x), a->beta);
    if (strcasecmp(n, "LeakyRelu") == 0) return Where(Greater(x, 0), x, Mul(a->alpha, x));
    if (strcasecmp(n, "ThresholdedRelu") == 0) return eddy_threshold(x, a->alpha, 0);
    if (strcasecmp(n, "ScaledTanh") == 0) return Mul(a->alpha, Tanh(Mul(a->beta, x)));
    if (strcasecmp(n, "HardSigmoid") == 0)
        return Maximum(Minimum(Add(Mul(a->alpha, x), a->beta), 1), 0);
    if (strcasecmp(n, "Elu") == 0) return Where(Greater(x, 0), x, Mul(a->alpha, eddy_elu(x)));
    if (strcasecmp(n, "Softsign") == 0) return eddy_softsign(x);
    return Softplus(x);
}

/* Alpha and beta of an activation, if the node does not give them. */
static void defaults_of(activation *a)
{
    static const struct { const char *name; double alpha, beta;
    } rows[] = {
        { "Sigmoid", 0, 0 },      { "Tanh", 0, 0 },
        { "Relu", 0, 0 },         { "Softplus", 0, 0 },
        { "Softsign", 0, 0 },     { "Affine", 1, 0 },
        { "LeakyRelu", 0.01, 0 }, { "ThresholdedRelu", 1, 0 },
        { "ScaledTanh", 1, 1 },   { "HardSigmoid", 0.2, 0.5 },
        { "Elu", 1, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcasecmp(rows[i].name, a->name) == 0) {
            a->alpha = rows[i].alpha;
            a->beta = rows[i].beta;
            return;
        }
    a->name[0] = 0;
}

/* Those of direction d: as many as the cell has, for each direction. */
static bool activations(onnx_build *b, cell *c, int d, int count)
{
    static const char *const usual[5][3] = { [1] = { "Tanh" }, [3] = { "Sigmoid", "Tanh" },
                                             [4] = { "Sigmoid", "Tanh", "Tanh" } };
    const onnx_attr *names = eddy__onnx_attr(b, "activations");
    int              alphas, betas;
    const double    *alpha = eddy__onnx_floats(b, "activation_alpha", &alphas);
    const double    *beta = eddy__onnx_floats(b, "activation_beta", &betas);
    for (int i = 0; i < count; i++) {
        const size_t     at = (size_t)(d * count + i);
        const wire_bytes s =
            names && at < names->n_strings ? names->strings[at] : (wire_bytes){ NULL, 0 };
        snprintf(c->f[i].name, sizeof c->f[i].name, "%.*s", (int)(s.at && s.size < 24 ? s.size : 0),
                 s.at ? (const char *)s.at : "");
        if (!s.at) snprintf(c->f[i].name, sizeof c->f[i].name, "%s", usual[c->gates][i]);
        defaults_of(&c->f[i]);
        if (!c->f[i].name[0]) return eddy__onnx_missing(b, "an activation is not known");
        if (alpha && (int)at < alphas) c->f[i].alpha = alpha[at];
        if (beta && (int)at < betas) c->f[i].beta = beta[at];
    }
    return true;
}

/* --------------------------------------------------------------------- steps -- */

static eddy_tensor clipped(const cell *c, eddy_tensor x)
{
    return c->clip > 0 ? Maximum(Minimum(x, c->clip), -c->clip) : x;
}

/* Part i of n along the last axis. */
static eddy_tensor part(eddy_tensor x, int i, int64_t size)
{
    const int rank = eddy_shape_of(x).rank;
    if (rank < 1) return eddy_none(x.graph);
    eddy_dims begin = { .count = rank }, sizes = { .count = rank };
    for (int k = 0; k < rank; k++) sizes.at[k] = -1;
    begin.at[rank - 1] = i * size;
    sizes.at[rank - 1] = size;
    return eddy_slice(x, begin, sizes);
}

static eddy_tensor gate(const cell *c, const activation *f, eddy_tensor z)
{
    return activated(f, clipped(c, z));
}

static eddy_tensor peeped(const cell *c, int i, eddy_tensor z, eddy_tensor state)
{
    return eddy_is_valid(c->peephole[i]) ? Add(z, Mul(c->peephole[i], state)) : z;
}

/* z: i, o, f and c before activation. */
static void lstm_step(const cell *c, eddy_tensor xw, eddy_tensor *h, eddy_tensor *state)
{
    const eddy_tensor z = Add(xw, MatMul(*h, c->u));
    const eddy_tensor i = gate(c, &c->f[0], peeped(c, 0, part(z, 0, c->hidden), *state));
    const eddy_tensor f =
        c->couple ? Sub(1, i) : gate(c, &c->f[0], peeped(c, 2, part(z, 2, c->hidden), *state));
    const eddy_tensor g = gate(c, &c->f[1], part(z, 3, c->hidden));
    const eddy_tensor next = Add(Mul(f, *state), Mul(i, g));
    const eddy_tensor o = gate(c, &c->f[0], peeped(c, 1, part(z, 1, c->hidden), next));
    *h = Mul(o, activated(&c->f[2], next));
    *state = next;
}

/* z: update, reset and hidden gate. */
static eddy_tensor gru_step(const cell *c, eddy_tensor xw, eddy_tensor h)
{
    const eddy_tensor uz = part(c->u, 0, c->hidden), ur = part(c->u, 1, c->hidden),
                      uh = part(c->u, 2, c->hidden);
    const eddy_tensor z =
        gate(c, &c->f[0], Add(part(xw, 0, c->hidden), Add(MatMul(h, uz), c->ub[0])));
    const eddy_tensor r =
        gate(c, &c->f[0], Add(part(xw, 1, c->hidden), Add(MatMul(h, ur), c->ub[1])));
    const eddy_tensor inner = c->reset_after ? Mul(r, Add(MatMul(h, uh), c->ub[2]))
                                             : Add(MatMul(Mul(r, h), uh), c->ub[2]);
    const eddy_tensor n = gate(c, &c->f[1], Add(part(xw, 2, c->hidden), inner));
    return Add(Mul(Sub(1, z), n), Mul(z, h));
}

/* Arguments: h, and c of an LSTM; then the row of the inputs, and the mask. */
static int step(eddy_list x, eddy_tensor *y, void *context)
{
    const cell *c = context;
    const int   states = c->gates == 4 ? 2 : 1;
    eddy_tensor h = x.at[0], state = states == 2 ? x.at[1] : h;
    const eddy_tensor xw = x.at[states];
    if (c->gates == 4) lstm_step(c, xw, &h, &state);
    else if (c->gates == 3) h = gru_step(c, xw, h);
    else h = gate(c, &c->f[0], Add(xw, MatMul(h, c->u)));
    eddy_tensor out = h;
    if (c->masked) {
        const eddy_tensor mask = x.at[states + 1];
        out = Where(mask, h, ZerosLike(h));
        h = Where(mask, h, x.at[0]);
        if (states == 2) state = Where(mask, state, x.at[1]);
    }
    y[0] = h;
    if (states == 2) y[1] = state;
    y[states] = out;
    return states + 1;
}

/* ---------------------------------------------------------------- directions -- */

/* Slice d of an input of the node [directions, ...]; invalid if it is left out. */
static eddy_tensor of_direction(onnx_build *b, int i, int d)
{
    if (!eddy__onnx_has(b, i)) return EDDY_NO_TENSOR;
    return eddy_gather(eddy__onnx_in(b, i), eddy_number(b->graph, EDDY_INT32, d));
}

/* xw + the biases that can be added before the loop; x is [steps, batch, inputs]. */
static eddy_tensor input_product(onnx_build *b, cell *c, eddy_tensor x, int d)
{
    const eddy_tensor w = of_direction(b, 1, d), bias = of_direction(b, 3, d);
    const eddy_tensor xw = MatMul(x, eddy_matrix_transpose(w));
    for (int i = 0; i < 3; i++) c->ub[i] = eddy_scalar(b->graph, 0);
    if (c->gates == 3)
        for (int i = 0; i < 3; i++) c->ub[i] = CastLike(c->ub[i], x);
    if (!eddy_is_valid(bias)) return xw;
    const eddy_tensor wb = part(bias, 0, c->gates * c->hidden),
                      ub = part(bias, 1, c->gates * c->hidden);
    if (c->gates != 3) return Add(xw, Add(wb, ub));
    for (int i = 0; i < 3; i++) c->ub[i] = part(ub, i, c->hidden);
    return Add(xw, wb);
}

/* [steps, batch, 1]: whether a sequence has this step. */
static eddy_tensor mask_of(onnx_build *b, eddy_tensor x)
{
    const eddy_tensor lengths = Cast(eddy__onnx_in(b, 4), EDDY_INT64);
    const eddy_tensor mask = eddy_sequence_mask_to(lengths, eddy_size_along(x, 0), EDDY_BOOL);
    return ExpandDims(Transpose(mask), 2);
}

static eddy_tensor reversed(onnx_build *b, eddy_tensor x)
{
    if (!eddy__onnx_has(b, 4)) return eddy_reverse(x, EDDY_AXES(0));
    return eddy_reverse_sequence(x, eddy__onnx_in(b, 4), 0, 1);
}

/* The first state: an input, or zeros [batch, hidden]. */
static eddy_tensor first_state(onnx_build *b, const cell *c, int i, int d, eddy_tensor xw,
                               bool batch_first)
{
    if (eddy__onnx_has(b, i)) {
        const eddy_tensor s = eddy__onnx_in(b, i);
        return eddy_gather(batch_first ? eddy_swapaxes(s, 0, 1) : s,
                           eddy_number(b->graph, EDDY_INT32, d));
    }
    const eddy_tensor row = eddy_example(xw);
    return ZerosLike(part(row, 0, c->hidden));
}

/* An LSTM of the usual form, which is one operation. */
static bool is_usual(const cell *c)
{
    static const char *const names[3] = { "Sigmoid", "Tanh", "Tanh" };
    for (int i = 0; i < 3; i++)
        if (strcasecmp(c->f[i].name, names[i]) != 0 || eddy_is_valid(c->peephole[i])) return false;
    return !c->masked && !c->couple && c->clip == 0;
}

/* Gates in Eddy's order i, f, c, o; those of ONNX are i, o, f, c. */
static eddy_tensor reordered(const cell *c, eddy_tensor x)
{
    const eddy_tensor parts[4] = { part(x, 0, c->hidden), part(x, 2, c->hidden),
                                   part(x, 3, c->hidden), part(x, 1, c->hidden) };
    return eddy_concat({ 4, parts }, -1);
}

static void usual_lstm(const cell *c, eddy_tensor xw, const eddy_tensor *states, eddy_tensor *out)
{
    const eddy_tensor y =
        eddy_block_lstm(reordered(c, xw), states[0], states[1], reordered(c, c->u));
    out[0] = eddy_index(y, "-1");
    out[1] = eddy_index(eddy_output(y, 1), "-1");
    out[2] = y;
}

/* out: h, c of an LSTM, and the outputs of all steps. */
static bool direction(onnx_build *b, cell *c, eddy_tensor x, int d, bool backward, bool batch_first,
                      eddy_tensor *out)
{
    const bool  lstm = c->gates == 4;
    eddy_tensor rows[2], states[2];
    c->u = eddy_matrix_transpose(of_direction(b, 2, d));
    if (backward) x = reversed(b, x);
    rows[0] = input_product(b, c, x, d);
    c->masked = eddy__onnx_has(b, 4);
    if (c->masked) rows[1] = mask_of(b, x);
    states[0] = first_state(b, c, 5, d, rows[0], batch_first);
    if (lstm) states[1] = first_state(b, c, 6, d, rows[0], batch_first);
    const eddy_tensor p = lstm ? of_direction(b, 7, d) : EDDY_NO_TENSOR;
    for (int i = 0; i < 3; i++)
        c->peephole[i] = eddy_is_valid(p) ? part(p, i, c->hidden) : EDDY_NO_TENSOR;
    const eddy_function f = { .build = step, .context = c, .name = b->node->op };
    int                 n = 3;
    if (is_usual(c)) usual_lstm(c, rows[0], states, out);
    else n = eddy_loop(f, { lstm ? 2 : 1, states }, { c->masked ? 2 : 1, rows }, out);
    if (n == 0) return false;
    if (backward) out[n - 1] = reversed(b, out[n - 1]);
    return true;
}

/* ------------------------------------------------------------------ operators -- */

static bool layer(onnx_build *b, int gates, int n_activations)
{
    const bool batch_first = eddy__onnx_int(b, "layout", 0);
    const bool both = eddy__onnx_is(b, "direction", "bidirectional", false);
    const bool reverse = eddy__onnx_is(b, "direction", "reverse", false);
    static const int ranks[8] = { 3, 3, 3, 2, 1, 3, 3, 2 };
    for (int i = 0; i < 8; i++) {
        if (i < 3 && !eddy__onnx_has(b, i))
            return eddy__onnx_invalid(b, "input %d is missing", i);
        eddy__onnx_take_rank(b, i, ranks[i]);
        if (eddy__onnx_has(b, i) && eddy__onnx_rank(b, i) != ranks[i])
            return eddy__onnx_invalid(b, "input %d does not have rank %d", i, ranks[i]);
    }
    const eddy_shape u = eddy_shape_of(eddy__onnx_in(b, 2));
    eddy_tensor x = eddy__onnx_in(b, 0), out[2][EDDY_MAX_RESULTS], hs[2], cs[2], ys[2];
    cell        c = { .b = b,
                      .gates = gates,
                      .hidden = u.dim[2],
                      .clip = eddy__onnx_float(b, "clip", 0),
                      .couple = eddy__onnx_int(b, "input_forget", 0) != 0,
                      .reset_after = eddy__onnx_int(b, "linear_before_reset", 0) != 0 };
    if (c.hidden < 0) return eddy__onnx_missing(b, "the size of the state must be known");
    if (batch_first) x = eddy_swapaxes(x, 0, 1);
    for (int d = 0; d < 1 + both; d++) {
        if (!activations(b, &c, d, n_activations) ||
            !direction(b, &c, x, d, reverse || d == 1, batch_first, out[d]))
            return false;
        hs[d] = out[d][0];
        cs[d] = out[d][1];
        ys[d] = out[d][gates == 4 ? 2 : 1];
    }
    eddy_tensor y = eddy_stack({ 1 + both, ys }, 1), h = eddy_stack({ 1 + both, hs }, 0);
    if (batch_first) y = Transpose(y, EDDY_DIMS(2, 0, 1, 3)), h = eddy_swapaxes(h, 0, 1);
    eddy_tensor last = gates == 4 ? eddy_stack({ 1 + both, cs }, 0) : h;
    if (batch_first && gates == 4) last = eddy_swapaxes(last, 0, 1);
    eddy__onnx_put(b, 1, h);
    if (gates == 4) eddy__onnx_put(b, 2, last);
    return eddy__onnx_put(b, 0, y);
}

static bool lstm(onnx_build *b) { return layer(b, 4, 3); }
static bool gru(onnx_build *b) { return layer(b, 3, 2); }
static bool rnn(onnx_build *b) { return layer(b, 1, 1); }

const onnx_operator eddy__onnx_rnn[] = {
    { "LSTM", 1, lstm }, { "GRU", 3, gru }, { "RNN", 1, rnn }, { NULL },
};
