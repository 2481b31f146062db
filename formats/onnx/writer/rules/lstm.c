/* lstm.c -- a step of an LSTM and the recurrence over all steps, with their gradients. */
#include "subgraphs.h"

/* The four parts of a last axis. */
static void quarters(onnx_part *p, const char *x, const char *out[4])
{
    onnx_call c = eddy__call(p, "Split", 1, &x);
    eddy__call_int(&c, "axis", -1);
    eddy__call_outputs(&c, 4, out);
}

static const char *joined(onnx_part *p, const char *const in[4])
{
    return eddy__part_concat(p, -1, 4, in);
}

typedef struct step {
    const char *h, *c, *gates;
} step;

/* From the sum before the gates and the c before. */
static step forward(onnx_part *p, const char *z, const char *c)
{
    const eddy_dtype d = p->node->outputs[0].dtype;
    const char      *g[4];
    step             s;
    quarters(p, z, g);
    for (int k = 0; k < 4; k++) g[k] = eddy__part_unary(p, k == 2 ? "Tanh" : "Sigmoid", g[k]);
    s.c = eddy__part_formula(p, d, "Add(Mul(a, b), Mul(c, d))", g[1], c, g[0], g[2]);
    s.h = eddy__part_formula(p, d, "Mul(a, Tanh(b))", g[3], s.c);
    s.gates = joined(p, g);
    return s;
}

typedef struct back {
    const char *dz, *dc;
} back;

/* The gradient of a step; dgates may be "". */
static back backward(onnx_part *p, const char *gates, const char *c_before, const char *c,
                     const char *dh, const char *dc, const char *dgates)
{
    static const char *const slopes[] = { "Mul(a, Mul(b, Sub(1, b)))", "Mul(a, Mul(b, Sub(1, b)))",
                                          "Mul(a, Sub(1, Mul(b, b)))",
                                          "Mul(a, Mul(b, Sub(1, b)))" };
    const eddy_dtype d = p->node->outputs[0].dtype;
    const char      *g[4], *own[4], *dz[4];
    quarters(p, gates, g);
    if (*dgates) quarters(p, dgates, own);
    const char *top = eddy__part_unary(p, "Tanh", c);
    const char *all =
        eddy__part_formula(p, d, "Add(a, Mul(Mul(b, c), Sub(1, Mul(d, d))))", dc, dh, g[3], top);
    dz[0] = eddy__part_binary(p, "Mul", all, g[2]);
    dz[1] = eddy__part_binary(p, "Mul", all, c_before);
    dz[2] = eddy__part_binary(p, "Mul", all, g[0]);
    dz[3] = eddy__part_binary(p, "Mul", dh, top);
    for (int k = 0; k < 4; k++) {
        if (*dgates) dz[k] = eddy__part_binary(p, "Add", dz[k], own[k]);
        dz[k] = eddy__part_formula(p, d, slopes[k], dz[k], g[k]);
    }
    return (back){ joined(p, dz), eddy__part_binary(p, "Mul", all, g[1]) };
}

static bool gates(onnx_part *p)
{
    const step s = forward(p, eddy__part_in(p, 0), eddy__part_in(p, 1));
    eddy__part_put(p, 0, s.h);
    eddy__part_put(p, 1, s.c);
    return eddy__part_put(p, 2, s.gates);
}

static bool gates_grad(onnx_part *p)
{
    const back b = backward(p, eddy__part_in(p, 0), eddy__part_in(p, 1), eddy__part_in(p, 2),
                            eddy__part_in(p, 3), eddy__part_in(p, 4), eddy__part_in(p, 5));
    eddy__part_put(p, 0, b.dz);
    return eddy__part_put(p, 1, b.dc);
}

/* --------------------------------------------------------------- recurrence -- */

static const eddy_type number = { EDDY_INT64, { 0, { 0 } } }, truth = { EDDY_BOOL, { 0, { 0 } } };

/* A tensor of this type without its first axis. */
static eddy_type row_type(eddy_type t)
{
    for (int i = 1; i < t.shape.rank; i++) t.shape.dim[i - 1] = t.shape.dim[i];
    if (t.shape.rank > 0) t.shape.rank--;
    return t;
}

static const char *row(onnx_part *p, const char *x, const char *i)
{
    return eddy__part_binary(p, "Gather", x, i);
}

static const char *steps_of(onnx_part *p, int i)
{
    const char *n = eddy__part_size(p, eddy__part_in(p, i), eddy__part_type(p, i).shape, 0);
    return eddy__part_binary(p, "Squeeze", n, eddy__part_one(p, 0));
}

/* A loop over n steps whose body carries two values; outputs are these and the stacks. */
static void run_steps(onnx_part *p, const char *n, const char *first, const char *second,
                      message *body, int stacks, const char **out)
{
    const char *const in[] = { n, eddy__part_number(p, EDDY_BOOL, 1), first, second };
    onnx_call c = eddy__call(p, "Loop", 4, in);
    eddy__call_graph(&c, "body", body);
    eddy__call_outputs(&c, 2 + stacks, out);
}

static bool block(onnx_part *p)
{
    const eddy_type *y = p->node->outputs, state = row_type(y[0]);
    const char *xw = eddy__part_in(p, 0), *u = eddy__part_in(p, 3), *n = steps_of(p, 0), *out[5];
    message          head = { 0 };
    const message    kept = eddy__inner_graph_begin(p);
    const char      *i = eddy__inner_graph_input(p, &head, "i", number);
    const char      *go = eddy__inner_graph_input(p, &head, "go", truth);
    const char      *h = eddy__inner_graph_input(p, &head, "h", state);
    const char      *c = eddy__inner_graph_input(p, &head, "c", state);
    const char *z =
        eddy__part_formula(p, y[0].dtype, "Add(Gather(a, b), MatMul(c, d))", xw, i, h, u);
    const step s = forward(p, z, c);
    eddy__inner_graph_output(p, &head, go, truth);
    eddy__inner_graph_output(p, &head, s.h, state);
    eddy__inner_graph_output(p, &head, s.c, state);
    eddy__inner_graph_output(p, &head, s.h, state);
    eddy__inner_graph_output(p, &head, s.c, state);
    eddy__inner_graph_output(p, &head, s.gates, row_type(y[2]));
    message body = eddy__inner_graph_end(p, &head, kept);
    run_steps(p, n, eddy__part_in(p, 1), eddy__part_in(p, 2), &body, 3, out);
    for (int k = 0; k < 3; k++) eddy__part_put(p, k, out[2 + k]);
    return true;
}

/* (u, gates, cs, c0, dhs, and perhaps dcs and dgates): dz, dh0, dc0. */
static bool block_grad(onnx_part *p)
{
    static const int64_t turned[] = { 1, 0 };
    const eddy_type *y = p->node->outputs;
    const bool       has_dc = p->node->n_inputs > 5, has_dgates = p->node->n_inputs > 6;
    const char *all = eddy__part_in(p, 1), *cs = eddy__part_in(p, 2), *dhs = eddy__part_in(p, 4);
    const char *dcs = eddy__part_in(p, 5), *dgates = eddy__part_in(p, 6), *n = steps_of(p, 1),
               *out[3];
    const char *u = eddy__part_transpose(p, eddy__part_in(p, 0), 2, turned);
    const char *first =
        eddy__part_binary(p, "Unsqueeze", eddy__part_in(p, 3), eddy__part_one(p, 0));
    const char *before = eddy__part_concat(p, 0, 2, (const char *[]){ first, cs });
    const char *zero = eddy__part_formula(p, y[0].dtype, "Mul(a, 0)", eddy__part_in(p, 3));
    message       head = { 0 };
    const message kept = eddy__inner_graph_begin(p);
    const char   *k = eddy__inner_graph_input(p, &head, "i", number);
    const char   *go = eddy__inner_graph_input(p, &head, "go", truth);
    const char   *dh = eddy__inner_graph_input(p, &head, "dh", y[1]);
    const char   *dc = eddy__inner_graph_input(p, &head, "dc", y[2]);
    const char   *i = eddy__part_formula(p, EDDY_INT64, "Sub(Sub(a, 1), b)", n, k);
    dh = eddy__part_binary(p, "Add", dh, row(p, dhs, i));
    if (has_dc) dc = eddy__part_binary(p, "Add", dc, row(p, dcs, i));
    const back b = backward(p, row(p, all, i), row(p, before, i), row(p, cs, i), dh, dc,
                            has_dgates ? row(p, dgates, i) : "");
    eddy__inner_graph_output(p, &head, go, truth);
    eddy__inner_graph_output(p, &head, eddy__part_binary(p, "MatMul", b.dz, u), y[1]);
    eddy__inner_graph_output(p, &head, b.dc, y[2]);
    eddy__inner_graph_output(p, &head, b.dz, row_type(y[0]));
    message body = eddy__inner_graph_end(p, &head, kept);
    run_steps(p, n, zero, zero, &body, 1, out);
    const char *const in[] = { out[2], eddy__part_one(p, -1), eddy__part_one(p, INT64_MIN),
                               eddy__part_one(p, 0), eddy__part_one(p, -1) };
    onnx_call c = eddy__call(p, "Slice", 5, in);
    eddy__part_put(p, 0, eddy__call_end(&c));
    eddy__part_put(p, 1, out[0]);
    return eddy__part_put(p, 2, out[1]);
}

static const onnx_row rows[] = {
    { "LSTMGates", gates },
    { "LSTMGatesGrad", gates_grad },
    { "BlockLSTM", block },
    { "BlockLSTMGrad", block_grad },
};

const onnx_family eddy__write_lstm = FAMILY_OF(rows);
