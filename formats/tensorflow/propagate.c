/* propagate.c -- what is known of shapes that are computed in the graph.
 *
 * Models compute the argument of Reshape from Shape, StridedSlice, Pack and arithmetic. If one
 * dimension of the input is unknown, most of these numbers are still known, and with them the
 * shapes of all that follows. So integers of rank 0 and 1 carry the elements that are known. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

typedef struct known {
    int64_t at[TF_MAX_LIST];
    int     count;
} known;

static const known nothing = { .count = -1 };

/* The known elements of input i; count -1 if nothing is. */
static known of(tf_build *b, int i)
{
    known          k = nothing;
    int            n;
    const int64_t *at = eddy__tf_partly(b, i, &n);
    if (!at || n > TF_MAX_LIST) return k;
    k.count = n;
    if (n) memcpy(k.at, at, (size_t)n * sizeof *at);
    return k;
}

static known shape(tf_build *b)
{
    const tf_value  *v = b->in[0];
    const eddy_shape s = v->array ? eddy_array_shape(v->array) : eddy_shape_of(v->t);
    known            k = { .count = s.rank };
    for (int i = 0; i < s.rank; i++) k.at[i] = s.dim[i] == EDDY_ANY ? TF_UNKNOWN_SIZE : s.dim[i];
    return s.rank < 0 ? nothing : k;
}

static known gather(tf_build *b)
{
    const known from = of(b, 0), at = of(b, 1);
    known       k = { .count = from.count < 0 ? -1 : at.count };
    for (int i = 0; i < k.count; i++)
        k.at[i] = at.at[i] >= 0 && at.at[i] < from.count ? from.at[at.at[i]] : TF_UNKNOWN_SIZE;
    return k;
}

static known joined(tf_build *b, int n)
{
    known k = { .count = 0 };
    for (int i = 0; i < n; i++) {
        const known part = of(b, i);
        if (part.count < 0 || k.count + part.count > TF_MAX_LIST) return nothing;
        memcpy(k.at + k.count, part.at, (size_t)part.count * sizeof *k.at);
        k.count += part.count;
    }
    return k;
}

/* x[begin:end:stride] with its masks, of a vector. */
static known slice(tf_build *b)
{
    const known   x = of(b, 0), begin = of(b, 1), end = of(b, 2), stride = of(b, 3);
    const int64_t masks = eddy__tf_int(b, "ellipsis_mask", 0) | eddy__tf_int(b, "new_axis_mask", 0);
    if (x.count < 0 || begin.count != 1 || end.count != 1 || stride.count != 1 || masks)
        return nothing;
    const int64_t by = stride.at[0], n = x.count;
    if (by == 0 || by == TF_UNKNOWN_SIZE || begin.at[0] == TF_UNKNOWN_SIZE ||
        end.at[0] == TF_UNKNOWN_SIZE)
        return nothing;
    const bool all = eddy__tf_int(b, "begin_mask", 0) & 1,
               open = eddy__tf_int(b, "end_mask", 0) & 1;
    const bool single = eddy__tf_int(b, "shrink_axis_mask", 0) & 1;
    int64_t    from = begin.at[0] < 0 ? begin.at[0] + n : begin.at[0];
    int64_t    to = end.at[0] < 0 ? end.at[0] + n : end.at[0];
    const int64_t least = by > 0 ? 0 : -1, most = by > 0 ? n : n - 1;
    known         k = { .count = 0 };
    if (single) {
        if (from < 0 || from >= n) return nothing;
        k.at[k.count++] = x.at[from];
        return k;
    }
    from = all ? (by > 0 ? 0 : n - 1) : from < least ? least : from > most ? most : from;
    to = open ? (by > 0 ? n : -1) : to < least ? least : to > most ? most : to;
    for (int64_t i = from; by > 0 ? i < to : i > to; i += by) {
        k.at[k.count++] = x.at[i];
        if (by > n || by < -n) break;
    }
    return k;
}

static int64_t combine(char op, int64_t x, int64_t y)
{
    int64_t z;
    if (x == TF_UNKNOWN_SIZE || y == TF_UNKNOWN_SIZE) return TF_UNKNOWN_SIZE;
    if (op == '/') return y <= 0 || x < 0 ? TF_UNKNOWN_SIZE : x / y;
    if (op == '<') return x < y ? x : y;
    if (op == '>') return x > y ? x : y;
    const bool over = op == '+'   ? __builtin_add_overflow(x, y, &z)
                      : op == '-' ? __builtin_sub_overflow(x, y, &z)
                                  : __builtin_mul_overflow(x, y, &z);
    return over ? TF_UNKNOWN_SIZE : z;
}

static known arithmetic(tf_build *b, char op)
{
    const known x = of(b, 0), y = of(b, 1);
    if (x.count < 0 || y.count < 0 || (x.count != y.count && x.count != 1 && y.count != 1))
        return nothing;
    known k = { .count = x.count == 1 ? y.count : x.count };
    for (int i = 0; i < k.count; i++)
        k.at[i] = combine(op, x.at[x.count == 1 ? 0 : i], y.at[y.count == 1 ? 0 : i]);
    return k;
}

static known product(tf_build *b)
{
    const known x = of(b, 0), axes = of(b, 1);
    known       k = { .count = 1, .at = { 1 } };
    if (x.count < 0 || axes.count != 1 || eddy__tf_flag(b, "keep_dims")) return nothing;
    for (int i = 0; i < x.count; i++) k.at[0] = combine('*', k.at[0], x.at[i]);
    return k;
}

static known result(tf_build *b)
{
    static const struct { const char *name; char op;
    } rows[] = {
        { "Shape", 's' },      { "GatherV2", 'g' },     { "Gather", 'g' },   { "ConcatV2", 'c' },
        { "Pack", 'k' },       { "StridedSlice", 'l' }, { "Add", '+' },      { "AddV2", '+' },
        { "Sub", '-' },        { "Mul", '*' },          { "FloorDiv", '/' }, { "Minimum", '<' },
        { "Maximum", '>' },    { "Cast", '=' },         { "Identity", '=' }, { "Squeeze", '=' },
        { "ExpandDims", '=' }, { "Reshape", '=' },      { "Prod", 'p' },
    };
    char op = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, b->node->op) == 0) op = rows[i].op;
    switch (op) {
    case 's': return shape(b);
    case 'g': return gather(b);
    case 'c': return joined(b, b->n_in - 1);
    case 'k': return joined(b, b->n_in);
    case 'l': return slice(b);
    case 'p': return product(b);
    case '=': return of(b, 0);
    case 0: return nothing;
    default: return arithmetic(b, op);
    }
}

/* All elements are known: the tensor is a constant. */
static void fold(tf_build *b, tf_value *v)
{
    const eddy_dtype d = eddy_dtype_of(v->t);
    for (int i = 0; i < v->count_known; i++)
        if (v->known[i] == TF_UNKNOWN_SIZE ||
            llabs(v->known[i]) > (d == EDDY_INT64 ? 1ll << 53 : INT32_MAX))
            return;
    eddy_array *a = eddy_array_new(d, eddy_shape_of(v->t));
    for (int i = 0; a && i < v->count_known; i++) eddy_array_set(a, i, (double)v->known[i]);
    if (!a || !eddy__tf_keep(b->reader, a)) return;
    v->array = a;
    v->t = eddy_constant(b->graph, .value = a);
    v->constant = true;
}

void eddy__tf_propagate(tf_build *b)
{
    tf_value *v = b->n_out ? b->out[0] : NULL;
    if (!v || v->kind != TF_VALUE || v->known || v->array || b->n_in == 0 ||
        (v->type != TF_INT32 && v->type != TF_INT64) || eddy_shape_of(v->t).rank > 1 ||
        eddy_shape_of(v->t).rank < 0)
        return;
    const known   k = result(b);
    const int64_t count = eddy_shape_count(eddy_shape_of(v->t));
    if (k.count < 0 || count != k.count) return;
    int64_t *at = eddy__region_take(b->memory, (size_t)k.count, sizeof *at);
    if (!at) return;
    for (int i = 0; i < k.count; i++)
        at[i] = v->type == TF_INT32 && (k.at[i] < INT32_MIN || k.at[i] > INT32_MAX)
                    ? TF_UNKNOWN_SIZE : k.at[i];
    v->known = at;
    v->count_known = k.count;
    fold(b, v);
}
