/* propagate.c -- what is known of the outputs of operators that compute shapes: see known.h. */
#include "reader.h"

#include <string.h>

static const known_sizes nothing = { .count = -1 };

static known_sizes sizes_of_input(onnx_build *b, int i)
{
    int            n;
    const int64_t *at = eddy__onnx_partly(b, i, &n);
    return eddy__known_of(at, n);
}

/* A position that may count from the end, in [0, n]. */
static int64_t position(int64_t i, int64_t n)
{
    if (i < 0) i += n;
    return i < 0 ? 0 : i > n ? n : i;
}

static known_sizes shape(onnx_build *b)
{
    const eddy_shape s = eddy_shape_of(eddy__onnx_in(b, 0));
    known_sizes            k = { .count = s.rank };
    if (s.rank < 0) return k;
    const int64_t from = position(eddy__onnx_int(b, "start", 0), s.rank),
                  to = position(eddy__onnx_int(b, "end", s.rank), s.rank);
    k.count = to > from ? (int)(to - from) : 0;
    for (int i = 0; i < k.count; i++)
        k.at[i] = s.dim[from + i] == EDDY_ANY ? UNKNOWN_SIZE : s.dim[from + i];
    return k;
}

static known_sizes gather(onnx_build *b)
{
    const known_sizes from = sizes_of_input(b, 0), at = sizes_of_input(b, 1);
    known_sizes       k = { .count = from.count < 0 ? -1 : at.count };
    for (int i = 0; i < k.count; i++) {
        const int64_t j = at.at[i] < 0 ? at.at[i] + from.count : at.at[i];
        k.at[i] = j >= 0 && j < from.count ? from.at[j] : UNKNOWN_SIZE;
    }
    return k;
}

static known_sizes concat(onnx_build *b)
{
    known_sizes k = { .count = 0 };
    for (int i = 0; i < b->n_in; i++) k = eddy__known_join(k, sizes_of_input(b, i));
    return k;
}

static known_sizes slice(onnx_build *b)
{
    const known_sizes   x = sizes_of_input(b, 0);
    int64_t       start[ONNX_MAX_LIST], end[ONNX_MAX_LIST], step[ONNX_MAX_LIST] = { 1 };
    const bool    old = b->version < 10;
    const int     n = eddy__onnx_list(b, old ? -1 : 1, old ? "starts" : NULL, start);
    const int     m = eddy__onnx_list(b, old ? -1 : 2, old ? "ends" : NULL, end);
    const int     s = old ? ONNX_ABSENT : eddy__onnx_list(b, 4, NULL, step);
    known_sizes         k = { .count = -1 };
    if (x.count < 0 || n != 1 || m != 1 || s == ONNX_FAILED || step[0] != 1) return k;
    const int64_t from = position(start[0], x.count), to = position(end[0], x.count);
    k.count = to > from ? (int)(to - from) : 0;
    memcpy(k.at, x.at + from, (size_t)k.count * sizeof *k.at);
    return k;
}

static known_sizes result(onnx_build *b)
{
    static const struct { const char *name; char op; } rows[] = {
        { "Shape", 's' }, { "Gather", 'g' }, { "Concat", 'c' }, { "Slice", 'l' }, { "Add", '+' },
        { "Sub", '-' }, { "Mul", '*' }, { "Div", '/' }, { "Cast", '=' }, { "Identity", '=' },
        { "Squeeze", '=' }, { "Unsqueeze", '=' }, { "Reshape", '=' },
    };
    char op = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, b->node->op) == 0) op = rows[i].op;
    switch (op) {
    case 's': return shape(b);
    case 'g': return gather(b);
    case 'c': return concat(b);
    case 'l': return slice(b);
    case '=': return sizes_of_input(b, 0);
    case 0: return nothing;
    default: return eddy__known_combine(sizes_of_input(b, 0), op, sizes_of_input(b, 1));
    }
}

/* Sums and products of other types wrap or saturate, which is not computed here. */
static bool is_exact(int type) { return type == ONNX_INT32 || type == ONNX_INT64; }

void eddy__onnx_propagate(onnx_build *b)
{
    onnx_value *v = b->n_out ? b->out[0] : NULL;
    if (b->node->domain[0] || !v || v->kind != ONNX_TENSOR || v->known || v->array ||
        !is_exact(v->type) || eddy_shape_of(v->t).rank > 1 || eddy_shape_of(v->t).rank < 0)
        return;
    const onnx_build  node = *b;
    const known_sizes k = result(b);
    *b = node;                      /* that nothing is known is not a failure */
    const int64_t count = eddy_shape_count(eddy_shape_of(v->t));
    if (k.count < 0 || count != k.count) return;
    v->known = eddy__known_store(b->memory, k, v->type == ONNX_INT32);
    if (!v->known) return;
    v->count_known = k.count;
    eddy_array *a =
        eddy__known_array(b->memory, v->known, k.count, eddy_dtype_of(v->t), eddy_shape_of(v->t));
    if (!a || !eddy__reading_keep(&b->reader->base, a)) return;
    v->array = a;
    v->t = eddy_constant(b->graph, .value = a);
    v->constant = true;
}
