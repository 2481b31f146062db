/* row_runs.c -- see row_runs.h. */
#include "tests/lib/bits/row_runs.h"

/* ------------------------------------------------------------------- building -- */

enum { SIZES = 7, MOST = 2500 };         /* the largest size of a row; elements of an input */

static bool is_settled(const sweep_row *r, int64_t size)
{
    for (size_t i = 0; i < sizeof r->keep / sizeof *r->keep; i++)
        if (r->keep[i] == size) return true;
    return false;
}

/* Replaces a size everywhere, unless an input gets too many elements. */
static bool replace(const sweep_row *r, eddy_shape *shape, int64_t from, int64_t to)
{
    eddy_shape s[SWEEP_INPUTS];
    bool       found = false;
    memcpy(s, shape, sizeof s);
    for (int k = 0; k < r->n; k++) {
        for (int d = 0; d < s[k].rank; d++) {
            if (s[k].dim[d] != from) continue;
            s[k].dim[d] = to;
            found = true;
        }
        if (eddy_shape_count(s[k]) > MOST) return false;
    }
    memcpy(shape, s, sizeof s);
    return found;
}

static bool enlarge(const sweep_row *r, eddy_shape *shape)
{
    bool any = false;
    for (int64_t size = SIZES; size >= 2; size--)
        if (!is_settled(r, size))
            any |= replace(r, shape, size, size + 67) || replace(r, shape, size, size + 15);
    return any;
}

static double between(trial *t, double low, double high)
{
    return low + (high - low) * (pick(t, 1 << 30) + 0.5) * 0x1p-30;
}

/* Imaginary parts keep off 0 and off the poles of tanh. */
static void draw_inputs(row_run *r, const eddy_shape *shape)
{
    trial *t = &r->t;
    for (int k = 0; k < r->row->n; k++) {
        const double a = r->row->low[k], b = r->row->high[k];
        eddy_array  *x = eddy_array_new(r->dtype, shape[k]);
        for (int64_t i = 0; i < eddy_array_count(x); i++) {
            const double re = between(t, a == b ? -2 : a, a == b ? 2 : b);
            const double im = between(t, 0.6, 0.9);
            eddy_array_set(x, i, re);
            if (eddy_dtype_is_complex(r->dtype))
                eddy_array_set_complex(x, i, re, pick(t, 2) ? im : -im);
        }
        t->array[t->n] = x;
        t->tensor[t->n++] = eddy_placeholder(t->graph, NULL, r->dtype, shape[k]);
    }
}

/* The gradients of the sum of all squares. */
static bool build(row_run *r)
{
    const sweep_row   *row = r->row;
    const eddy_tensor *x = r->t.tensor;
    const eddy_tensor  y = row->unary ? row->unary(x[0])
                         : row->binary ? row->binary(x[0], x[1]) : row->build(r->t.graph, x);
    const eddy_dtype   real = eddy_dtype_real(r->dtype);
    eddy_tensor        cost = EDDY_NO_TENSOR, dx[SWEEP_INPUTS];
    if (eddy_outputs_of(y) > FETCHES - SWEEP_INPUTS) return false;
    for (int i = 0; i < eddy_outputs_of(y); i++) {
        const eddy_tensor out = eddy_output(y, i);
        keep_fetch(&r->results, out);
        if (!eddy_dtype_is_differentiable(eddy_dtype_of(out))) continue;
        const eddy_tensor square = Sum(Square(out));
        const bool        is_complex = eddy_dtype_is_complex(eddy_dtype_of(out));
        const eddy_tensor term = Cast(is_complex ? Real(square) : square, real);
        cost = eddy_is_valid(cost) ? Add(cost, term) : term;
    }
    if (eddy_graph_status(r->t.graph) != EDDY_OK) return false;
    if (!eddy_is_valid(cost) || row->options & SWEEP_REFUSES) return true;
    if (eddy_gradients(EDDY_LIST(cost), ((eddy_list){ r->t.n, x }), dx) != EDDY_OK) return false;
    for (int k = 0; k < r->t.n; k++) keep_fetch(&r->results, dx[k]);
    return true;
}

bool row_run_begin(row_run *r, int row, eddy_dtype d, bool large)
{
    eddy_shape shape[SWEEP_INPUTS];
    *r = (row_run){ .row = sweep_row_at(row), .dtype = d, .large = large };
    r->t = (trial){ .graph = eddy_graph_new(.seed = 1), .random = sweep_seed(r->row) };
    r->results.title = r->title;
    snprintf(r->title, sizeof r->title, "%s %s%s%s%s", r->row->op, r->row->how ? r->row->how : "",
             r->row->how ? " " : "", eddy_dtype_name(d), large ? " large" : "");
    memcpy(shape, r->row->shape, sizeof shape);
    if (large && !enlarge(r->row, shape)) return false;
    draw_inputs(r, shape);
    return build(r);
}

void row_run_end(row_run *r) { trial_end(&r->t); }

/* --------------------------------------------------------------------- hashes -- */

static uint64_t hash_word(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

/* The bits of infinity, above which NaNs lie; of types without NaN, more than any number has. */
static uint64_t infinity_of(eddy_dtype d)
{
    return d == EDDY_FLOAT16 ? 0x7c00 : d == EDDY_BFLOAT16 ? 0x7f80
         : d == EDDY_FLOAT32 ? 0x7f800000 : d == EDDY_FLOAT64 ? (uint64_t)0x7ff << 52 : UINT64_MAX;
}

static uint64_t word_at(const void *x, size_t size, int64_t i)
{
    switch (size) {
        case 1: return ((const uint8_t *)x)[i];
        case 2: return ((const uint16_t *)x)[i];
        case 4: return ((const uint32_t *)x)[i];
        default: return ((const uint64_t *)x)[i];
    }
}

/* Every NaN is the same: processors differ in its sign and payload. */
static uint64_t hash_numbers(uint64_t h, const void *x, int64_t n, eddy_dtype d)
{
    const size_t   size = eddy_dtype_size(d);
    const uint64_t infinity = infinity_of(d), sign = (uint64_t)1 << (8 * size - 1);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t word = word_at(x, size, i);
        h = hash_word(h, (word & ~sign) > infinity ? infinity + 1 : word);
    }
    return h;
}

static uint32_t hash_text(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++) h = hash_word(h, (unsigned char)*text);
    return (uint32_t)h;
}

static uint32_t hash_array(uint32_t before, const eddy_array *a)
{
    uint64_t h = hash_word(0xcbf29ce484222325u, before);
    if (!a) return before;                               /* an output without a value */
    const eddy_shape s = eddy_array_shape(a);
    h = hash_word(h, (uint64_t)eddy_array_dtype(a));
    for (int d = 0; d < s.rank; d++) h = hash_word(h, (uint64_t)s.dim[d]);
    const eddy_dtype d = eddy_array_dtype(a), real = eddy_dtype_real(d);
    h = hash_numbers(h, eddy_array_data(a), eddy_array_count(a) * (d == real ? 1 : 2), real);
    return (uint32_t)(h >> 32 ^ h);
}

/* -------------------------------------------------------------------- running -- */

static bool has_value(const eddy_node *n)
{
    return !n->traced && strcmp(n->op->name, "Argument") != 0 &&
           !(n->op->flags & (EDDY_OP_SIDE_EFFECT | EDDY_OP_VARIABLE | EDDY_OP_REFERENCE));
}

static eddy_status run(const row_run *r, unsigned without, eddy_list fetch, eddy_array **out)
{
    eddy_feed feeds[SWEEP_INPUTS];
    for (int k = 0; k < r->t.n; k++) feeds[k] = (eddy_feed){ r->t.tensor[k], r->t.array[k] };
    eddy_session *s = eddy_session_new(r->t.graph, .without = without, .threads = 1);
    const eddy_status status = eddy_run(s, (eddy_feeds){ r->t.n, feeds }, fetch, out);
    ck_assert_msg(status == EDDY_OK || r->large, "%s: %s", r->title, eddy_session_message(s));
    eddy_session_free(s);
    return status;
}

int row_run_nodes(const row_run *r, node_bits out[ROW_NODES])
{
    static eddy_tensor at[ROW_NODES];
    static eddy_array *value[ROW_NODES];
    static int         first[ROW_NODES];             /* by node: its first output, or -1 */
    int                n = 0, count = 0;
    memset(value, 0, sizeof value);
    ck_assert_int_lt(eddy_graph_size(r->t.graph), ROW_NODES);
    for (int32_t id = 1; id <= eddy_graph_size(r->t.graph); id++) {
        const eddy_tensor t = eddy_node_at(r->t.graph, id);
        const int outputs = has_value(eddy_node_of(t)) ? eddy_outputs_of(t) : 0;
        first[id] = outputs > 0 ? n : -1;
        ck_assert_int_le(n + outputs, ROW_NODES);
        for (int i = 0; i < outputs; i++) at[n++] = eddy_output(t, i);
    }
    if (run(r, EDDY_PASSES_ALL, (eddy_list){ n, at }, value) != EDDY_OK) return -1;
    for (int32_t id = 1; id <= eddy_graph_size(r->t.graph); id++) {
        const eddy_node *node = eddy_node_of(eddy_node_at(r->t.graph, id));
        node_bits        bits = { .node = node, .in = hash_text(node->op->name) };
        if (first[id] < 0) continue;
        for (int i = 0; i < node->n_inputs; i++) {
            const eddy_tensor t = node->inputs[i];
            if (first[t.node] >= 0) bits.in = hash_array(bits.in, value[first[t.node] + t.output]);
        }
        for (int i = 0; i < node->n_outputs; i++)
            bits.out = hash_array(bits.out, value[first[id] + i]);
        out[count++] = bits;
    }
    free_arrays(n, value);
    return count;
}

uint32_t row_run_results(const row_run *r)
{
    eddy_array *value[FETCHES] = { NULL };
    uint32_t    h = 0;
    ck_assert_msg(run(r, 0, (eddy_list){ r->results.n, r->results.at }, value) == EDDY_OK, "%s",
                  r->title);
    for (int i = 0; i < r->results.n; i++) h = hash_array(h, value[i]);
    free_arrays(r->results.n, value);
    return h;
}
