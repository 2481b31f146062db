/* scan.c -- Scan, on Eddy's loop over rows. */
#include "../body.h"

typedef struct scan {
    onnx_body body;
    int  rows;
    int  types[EDDY_MAX_RESULTS];
    const int64_t *in_axes, *out_axes, *in_back, *out_back;     /* or NULL */
    int  n_in_axes, n_out_axes, n_in_back, n_out_back;
} scan;

static int64_t list_entry(const int64_t *list, int n, int i) { return list && i < n ? list[i] : 0; }

static int scan_body(eddy_list x, eddy_tensor *y, void *context)
{
    scan        *s = context;
    onnx_value **in = eddy__region_take(s->body.b->memory, (size_t)x.count, sizeof *in);
    for (int i = 0; in && i < x.count; i++)
        in[i] = eddy__onnx_new_tensor(s->body.b, x.at[i], s->types[i]);
    return in ? eddy__onnx_build_body(&s->body, in, y) : 0;
}

/* Of one example: states and rows in, final states and stacks out. */
static int scan_one(eddy_list x, eddy_tensor *y, void *context)
{
    scan       *s = context;
    const int   states = s->body.carried;
    eddy_tensor rows[EDDY_MAX_RESULTS];
    for (int i = 0; i < s->rows; i++) {
        rows[i] = x.at[states + i];
        const int64_t axis = list_entry(s->in_axes, s->n_in_axes, i);
        if (axis != 0) rows[i] = eddy_moveaxis(rows[i], axis, 0);
        if (list_entry(s->in_back, s->n_in_back, i)) rows[i] = eddy_reverse(rows[i], EDDY_AXES(0));
    }
    const int n = eddy_loop({ scan_body, s, "body" }, { states, x.at }, { s->rows, rows }, y);
    for (int i = states; i < n; i++) {
        if (list_entry(s->out_back, s->n_out_back, i - states))
            y[i] = eddy_reverse(y[i], EDDY_AXES(0));
        const int64_t axis = list_entry(s->out_axes, s->n_out_axes, i - states);
        if (axis != 0) y[i] = eddy_moveaxis(y[i], 0, axis);
    }
    return n;
}

/* Operator set 8 has a batch in front, and lengths as its first input. */
static bool scan_node(onnx_build *b)
{
    const bool batched = b->version < 9;
    scan       s = { .body = { .b = b, .g = eddy__onnx_graph_attr(b, "body"), .what = "body" } };
    eddy_tensor x[EDDY_MAX_RESULTS], y[EDDY_MAX_RESULTS];
    const int  skip = batched, n_in = b->n_in - skip;
    s.rows = (int)eddy__onnx_int(b, "num_scan_inputs", 0);
    s.body.carried = n_in - s.rows;
    if (!s.body.g) return false;
    if (s.rows < 1 || s.body.carried < 0 || n_in >= EDDY_MAX_RESULTS ||
        s.body.g->n_inputs != (size_t)n_in || s.body.g->n_outputs >= EDDY_MAX_RESULTS ||
        (size_t)b->n_out > s.body.g->n_outputs)
        return eddy__onnx_invalid(b, "the body does not have the inputs and outputs of the node");
    if (batched && eddy__onnx_has(b, 0))
        return eddy__onnx_missing(b, "lengths of sequences are not supported");
    s.in_axes = eddy__onnx_ints(b, "scan_input_axes", &s.n_in_axes);
    s.out_axes = eddy__onnx_ints(b, "scan_output_axes", &s.n_out_axes);
    s.in_back = eddy__onnx_ints(b, batched ? "directions" : "scan_input_directions", &s.n_in_back);
    s.out_back = eddy__onnx_ints(b, "scan_output_directions", &s.n_out_back);
    for (int i = 0; i < n_in; i++) {
        x[i] = eddy__onnx_in(b, i + skip);
        s.types[i] = eddy__onnx_type_in(b, i + skip);
        if (!eddy_is_valid(x[i])) return eddy__onnx_invalid(b, "input %d is missing", i + skip);
    }
    eddy__onnx_build_captured(b, s.body.g);
    const int n = batched ? eddy_map_fn({ scan_one, &s, "examples" }, { n_in, x }, y)
                          : scan_one((eddy_list){ n_in, x }, y, &s);
    if (n == 0) return false;
    for (int i = 0; i < b->n_out; i++) eddy__onnx_put_as(b, i, y[i], s.body.out_types[i]);
    return true;
}

const onnx_operator eddy__onnx_scan[] = {
    { "Scan", 8, scan_node }, { NULL },
};
