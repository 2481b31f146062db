/* written_models.c -- graphs for written ONNX models that no row of the sweep has: results whose
 * sizes depend on the data, and operations that change or check what they are given. */
#include "tests/lib/control_checks.h"
#include "tests/lib/files/onnx_written.h"
#include "tests/lib/own_operations.h"

static eddy_tensor fed_with(trial *t, const char *name, eddy_dtype d, eddy_shape s, const double *v)
{
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, v[i]);
    t->array[t->n] = a;
    return t->tensor[t->n++] = eddy_placeholder(t->graph, name, d, s);
}

static void keep_outputs(fetches *f, eddy_tensor y)
{
    for (int i = 0; i < eddy_outputs_of(y); i++) keep_fetch(f, eddy_output(y, i));
}

static void places(trial *t, fetches *f)
{
    const double x[12] = { 0, 1, 0, -2, 0, 0, 0.5, 3, 0, 0, 0, 7 };
    keep_outputs(f, eddy_nonzero(fed_with(t, "x", EDDY_FLOAT32, EDDY_SHAPE(3, 4), x)));
    keep_outputs(f, eddy_nonzero(fed_with(t, "b", EDDY_BOOL, EDDY_SHAPE(2, 3, 2), x)));
}

static void distinct(trial *t, fetches *f)
{
    const double x[8] = { 3, 1, 3, 2, 1, 1, 7, 2 };
    keep_outputs(f, eddy_unique(fed_with(t, "x", EDDY_INT32, EDDY_SHAPE(8), x)));
    keep_outputs(f, eddy_unique(fed_with(t, "y", EDDY_FLOAT32, EDDY_SHAPE(8), x),
                                .out_idx = EDDY_INT64));
}

static void sized(trial *t, fetches *f)
{
    const double x[6] = { 3, 0, 3, 2, 0, 0 };
    const eddy_tensor of = fed_with(t, "x", EDDY_UINT8, EDDY_SHAPE(6), x);
    for (int64_t size = 2; size < 6; size += 3) {
        keep_outputs(f, eddy_nonzero(of, size, .fill = -1));
        keep_outputs(f, eddy_unique(of, size));
    }
}

static void reversed(trial *t, fetches *f)
{
    double       x[24];
    const double short_ones[3] = { 2, 0, 1 }, long_ones[2] = { 4, 3 };
    for (int i = 0; i < 24; i++) x[i] = i;
    const eddy_tensor y = fed_with(t, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3, 4), x);
    const eddy_tensor of_rows = fed_with(t, "short", EDDY_INT32, EDDY_SHAPE(3), short_ones);
    keep_fetch(f, eddy_reverse_sequence(y, of_rows, 0, 1));
    keep_fetch(f, eddy_reverse_sequence(y, of_rows, 2, 1));
    keep_fetch(f, eddy_reverse_sequence(
                      y, fed_with(t, "long", EDDY_INT64, EDDY_SHAPE(2), long_ones), -1, 0));
}

static void parts_assigned(trial *t, fetches *f)
{
    const double x[6] = { 1, 2, 3, 4, 5, 6 };
    const char *const entries[] = { "1", "::-2, 1:", ":, newaxis, -2", "0, ..., :2" };
    const eddy_shape  shapes[] = { EDDY_SHAPE(4), EDDY_SHAPE(2, 3), EDDY_SHAPE(3, 1),
                                   EDDY_SHAPE(2) };
    for (int i = 0; i < 4; i++) {
        char name[8] = { 'x', (char)('0' + i), 0 };
        const eddy_tensor v = eddy_variable(
            t->graph, .initial_value = eddy_zeros(t->graph, EDDY_FLOAT32, EDDY_SHAPE(3, 4)));
        keep_fetch(f,
                   eddy_index_assign(v, entries[i], fed_with(t, name, EDDY_FLOAT32, shapes[i], x)));
    }
}

/* Gradients of broadcast operands, where only a run tells which axes were broadcast. */
static void open_gradients(trial *t, fetches *f)
{
    const double x[6] = { 1, -1, 2, 0.5, 3, 0 };
    eddy_tensor  in[2], d[2];
    for (int k = 0; k < 2; k++) {
        const eddy_shape s = k ? EDDY_SHAPE(1, 3) : EDDY_SHAPE(2, 3);
        fed_with(t, k ? "row" : "x", EDDY_FLOAT32, s, x);
        in[k] = t->tensor[t->n - 1] = eddy_placeholder(
            t->graph, k ? "open_row" : "open_x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, EDDY_ANY));
    }
    const eddy_tensor y = Sum(Square(Mul(in[0], in[1])));
    eddy_gradients(EDDY_LIST(y), ((eddy_list){ 2, in }), d);
    keep_fetch(f, y);
    for (int k = 0; k < 2; k++) keep_fetch(f, d[k]);
    eddy_gradients(EDDY_LIST(Sum(Square(d[1]))), ((eddy_list){ 2, in }), d);
    for (int k = 0; k < 2; k++) keep_fetch(f, d[k]);
}

static void nothing_reduced(trial *t, fetches *f)
{
    const eddy_tensor x = fed_with(t, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 0), NULL);
    keep_fetch(f, eddy_sum(x, EDDY_AXES(1)));
    keep_fetch(f, eddy_mean(x, EDDY_AXES(1), .keepdims = true));
    keep_fetch(f, eddy_max(x, EDDY_AXES(1)));
    keep_fetch(f, eddy_min(x));
    keep_fetch(f, eddy_prod(x));
    keep_fetch(f, eddy_max(x, EDDY_AXES(0)));
}

BODY(below_size, Less(x[0], 4))

/* Element i of an array is a row of the input times the element before. */
static int next_element(eddy_list x, eddy_tensor *y, void *context)
{
    const eddy_tensor_array like = *(const eddy_tensor_array *)context;
    eddy_tensor_array       a = eddy_tensor_array_at(like, x.at + 1);
    const eddy_tensor before = eddy_tensor_array_read(a, Maximum(Sub(x.at[0], 1), 0));
    const eddy_tensor row = eddy_gather(x.at[3], x.at[0]);
    a = eddy_tensor_array_write(a, x.at[0], Add(Mul(before, 2), row));
    y[0] = Add(x.at[0], 1);
    y[1] = a.values;
    y[2] = a.written;
    y[3] = x.at[3];
    return 4;
}

static void arrays(trial *t, fetches *f)
{
    const double      x[8] = { 1, -1, 2, 0.5, 3, 0, -2, 1 };
    const eddy_tensor rows = fed_with(t, "x", EDDY_FLOAT32, EDDY_SHAPE(4, 2), x);
    const double      order[3] = { 2, 0, 3 };
    eddy_tensor_array a = eddy_tensor_array_new(t->graph, EDDY_FLOAT32, 4,
                                                .element_shape = &EDDY_SHAPE(2));
    eddy_tensor       y[EDDY_MAX_RESULTS];
    eddy_while_loop(PLAIN(below_size), ((eddy_function){ .build = next_element, .context = &a }),
                    EDDY_LIST(eddy_number(t->graph, EDDY_INT32, 0), a.values, a.written, rows), y);
    a = eddy_tensor_array_at(a, y + 1);
    keep_fetch(f, eddy_tensor_array_stack(a));
    keep_fetch(f, eddy_tensor_array_gather(a, fed_with(t, "order", EDDY_INT32, EDDY_SHAPE(3),
                                                    order)));
}

BODY(and_cubes, Add(x[0], own_power(x[1], 2, 3)))

/* Two functions of powers, those of their gradients, and one that calls others. */
static void own_operations(trial *t, fetches *f)
{
    const double v[6] = { 0.5, -1, 2, 1.5, -0.25, 3 };
    const eddy_tensor x = fed_with(t, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3), v);
    const eddy_tensor cubes = own_power(x, 2, 3), fourths = own_power(x, -1, 4);
    eddy_tensor dx, sum;
    eddy_gradients(EDDY_LIST(Sum(Add(Add(cubes, fourths), own_power(Neg(x), 2, 3)))),
                   EDDY_LIST(x), &dx);
    eddy_foldl(PLAIN(and_cubes), EDDY_LIST(x), &sum);
    keep_fetch(f, cubes);
    keep_fetch(f, fourths);
    keep_fetch(f, own_square(x));
    keep_fetch(f, dx);
    keep_fetch(f, sum);
    keep_outputs(f, own_extremes(x));
}

/* With a scale for each column, and for groups of rows; a row of zeros. */
static void quantized(trial *t, fetches *f)
{
    double x[3 * 2 * 6] = { 1, -0.5, 2, 0.3, -4, 0.1 }, w[6 * 4];
    for (int i = 12; i < 36; i++) x[i] = i % 5 - 1.7;
    for (int i = 0; i < 24; i++) w[i] = 61 * i % 256;
    const double      scales[8] = { 0.1, 0.2, 0.3, 0.4, 1, 0.5, 0.25, 2 };
    const eddy_tensor in = fed_with(t, "x", EDDY_FLOAT32, EDDY_SHAPE(3, 2, 6), x);
    const eddy_tensor values = fed_with(t, "w", EDDY_UINT8, EDDY_SHAPE(6, 4), w);
    keep_fetch(f, eddy_quantized_matmul(in, values, fed_with(t, "scales", EDDY_FLOAT32,
                                                             EDDY_SHAPE(4), scales)));
    keep_fetch(f, eddy_quantized_matmul(in, values, fed_with(t, "groups", EDDY_FLOAT32,
                                                             EDDY_SHAPE(2, 4), scales)));
}

static const struct {
    const char *name;
    void      (*build)(trial *t, fetches *f);
} models[] = {
    { "Where", places },
    { "UniqueWithCounts", distinct },
    { "Where, UniqueWithCounts", sized },
    { "ReverseSequence", reversed },
    { "StridedSliceAssign", parts_assigned },
    { "Max", nothing_reduced },
    { "SumLike", open_gradients },
    { "TensorArrayWrite", arrays },
    { "own operations", own_operations },
    { "QuantizedMatMul", quantized },
};

int written_models(void) { return sizeof models / sizeof models[0]; }

void written_model(int i, trial *t, fetches *f)
{
    *t = (trial){ .graph = eddy_graph_new() };
    t->session = eddy_session_new(t->graph);
    *f = (fetches){ .title = models[i].name };
    models[i].build(t, f);
    ck_assert_msg(eddy_graph_status(t->graph) == EDDY_OK, "%s: %s", f->title,
                  eddy_graph_message(t->graph));
    initialize(t);
}
