/* propagate.c -- what is known of shapes that are computed in the graph.
 *
 * Exporters compute the argument of Reshape from Shape, Gather, Concat and arithmetic. If one
 * dimension of the input is unknown, most of these numbers are still known, and with them the
 * shapes of all that follows. So integers of rank 0 and 1 carry the elements that are known. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

typedef struct known {
    int64_t at[ONNX_MAX_LIST];
    int     count;
} known;

/* The known elements of input i; count -1 if nothing is. */
static known of(onnx_build *b, int i)
{
    known          k = { .count = -1 };
    int            n;
    const int64_t *at = eddy__onnx_partly(b, i, &n);
    if (!at || n > ONNX_MAX_LIST) return k;
    k.count = n;
    if (n) memcpy(k.at, at, (size_t)n * sizeof *at);
    return k;
}

static known shape(onnx_build *b)
{
    const eddy_shape s = eddy_shape_of(eddy__onnx_in(b, 0));
    known            k = { .count = s.rank };
    if (s.rank < 0) return k;
    int64_t from = eddy__onnx_int(b, "start", 0), to = eddy__onnx_int(b, "end", s.rank);
    from = from < 0 ? from + s.rank : from;
    to = to < 0 ? to + s.rank : to;
    from = from < 0 ? 0 : from > s.rank ? s.rank : from;
    to = to > s.rank ? s.rank : to;
    k.count = to > from ? (int)(to - from) : 0;
    for (int i = 0; i < k.count; i++)
        k.at[i] = s.dim[from + i] == EDDY_ANY ? ONNX_UNKNOWN_SIZE : s.dim[from + i];
    return k;
}

static known gather(onnx_build *b)
{
    const known from = of(b, 0), at = of(b, 1);
    known       k = { .count = from.count < 0 || eddy__onnx_rank(b, 0) != 1 ? -1 : at.count };
    for (int i = 0; i < k.count; i++) {
        const int64_t j = at.at[i] < 0 ? at.at[i] + from.count : at.at[i];
        k.at[i] = j >= 0 && j < from.count ? from.at[j] : ONNX_UNKNOWN_SIZE;
    }
    return k;
}

static known concat(onnx_build *b)
{
    known k = { .count = 0 };
    for (int i = 0; i < b->n_in; i++) {
        const known part = of(b, i);
        if (part.count < 0 || k.count + part.count > ONNX_MAX_LIST) return (known){ .count = -1 };
        memcpy(k.at + k.count, part.at, (size_t)part.count * sizeof *k.at);
        k.count += part.count;
    }
    return k;
}

static known slice(onnx_build *b)
{
    const known   x = of(b, 0);
    int64_t       start[ONNX_MAX_LIST], end[ONNX_MAX_LIST], step[ONNX_MAX_LIST] = { 1 };
    const bool    old = b->version < 10;
    const int     n = eddy__onnx_list(b, old ? -1 : 1, old ? "starts" : NULL, start);
    const int     m = eddy__onnx_list(b, old ? -1 : 2, old ? "ends" : NULL, end);
    const int     s = old ? ONNX_ABSENT : eddy__onnx_list(b, 4, NULL, step);
    known         k = { .count = -1 };
    if (x.count < 0 || n != 1 || m != 1 || s == ONNX_FAILED || step[0] != 1) return k;
    int64_t from = start[0] < 0 ? start[0] + x.count : start[0];
    int64_t to = end[0] < 0 ? end[0] + x.count : end[0];
    from = from < 0 ? 0 : from > x.count ? x.count : from;
    to = to < 0 ? 0 : to > x.count ? x.count : to;
    k.count = to > from ? (int)(to - from) : 0;
    memcpy(k.at, x.at + from, (size_t)k.count * sizeof *k.at);
    return k;
}

static int64_t combine(char op, int64_t x, int64_t y)
{
    int64_t z;
    if (x == ONNX_UNKNOWN_SIZE || y == ONNX_UNKNOWN_SIZE) return ONNX_UNKNOWN_SIZE;
    if (op == '/') return y == 0 || y == -1 ? ONNX_UNKNOWN_SIZE : x / y;
    const bool over = op == '+'   ? __builtin_add_overflow(x, y, &z)
                      : op == '-' ? __builtin_sub_overflow(x, y, &z)
                                  : __builtin_mul_overflow(x, y, &z);
    return over ? ONNX_UNKNOWN_SIZE : z;
}

static known arithmetic(onnx_build *b, char op)
{
    const known x = of(b, 0), y = of(b, 1);
    if (x.count < 0 || y.count < 0 || (x.count != y.count && x.count != 1 && y.count != 1))
        return (known){ .count = -1 };
    known k = { .count = x.count == 1 ? y.count : x.count };
    for (int i = 0; i < k.count; i++)
        k.at[i] = combine(op, x.at[x.count == 1 ? 0 : i], y.at[y.count == 1 ? 0 : i]);
    return k;
}

static known result(onnx_build *b)
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
    case '=': return of(b, 0);
    case 0: return (known){ .count = -1 };
    default: return arithmetic(b, op);
    }
}

/* All elements are known: the tensor is a constant. */
static void fold(onnx_build *b, onnx_value *v)
{
    const eddy_dtype d = eddy_dtype_of(v->t);
    for (int i = 0; i < v->count_known; i++)
        if (v->known[i] == ONNX_UNKNOWN_SIZE ||
            llabs(v->known[i]) > (d == EDDY_INT64 ? 1ll << 53 : INT32_MAX))
            return;
    eddy_array *a = eddy_array_new(d, eddy_shape_of(v->t));
    for (int i = 0; a && i < v->count_known; i++) eddy_array_set(a, i, (double)v->known[i]);
    if (!a || !eddy__onnx_keep(b->reader, a)) return;
    v->array = a;
    v->t = eddy_constant(b->graph, .value = a);
    v->constant = true;
}

/* Sums and products of other types wrap or saturate, which is not computed here. */
static bool is_exact(int type) { return type == ONNX_INT32 || type == ONNX_INT64; }

static int64_t in_type(int type, int64_t x)
{
    return type == ONNX_INT32 && (x < INT32_MIN || x > INT32_MAX) ? ONNX_UNKNOWN_SIZE : x;
}

void eddy__onnx_propagate(onnx_build *b)
{
    onnx_value *v = b->n_out ? b->out[0] : NULL;
    if (b->node->domain[0] || !v || v->kind != ONNX_TENSOR || v->known || v->array ||
        !is_exact(v->type) || !eddy_dtype_is_integer(eddy_dtype_of(v->t)) ||
        eddy_shape_of(v->t).rank > 1 || eddy_shape_of(v->t).rank < 0)
        return;
    const char *reason = b->reason;
    const known k = result(b);
    b->reason = reason;             /* that nothing is known is no failure */
    const int64_t count = eddy_shape_count(eddy_shape_of(v->t));
    if (k.count < 0 || count != k.count) return;
    int64_t *at = eddy__region_take(b->memory, (size_t)k.count, sizeof *at);
    if (!at) return;
    for (int i = 0; i < k.count; i++) at[i] = in_type(v->type, k.at[i]);
    v->known = at;
    v->count_known = k.count;
    fold(b, v);
}
