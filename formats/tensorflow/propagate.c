/* propagate.c -- what is known of the outputs of operators that compute shapes: see known.h. */
#include "reader.h"

#include <string.h>

static const known_sizes nothing = { .count = -1 };

static known_sizes sizes_of_input(tf_build *b, int i)
{
    int            n;
    const int64_t *at = eddy__tf_partly(b, i, &n);
    return eddy__known_of(at, n);
}

static known_sizes shape(tf_build *b)
{
    const tf_value  *v = b->in[0];
    const eddy_shape s = v->array ? eddy_array_shape(v->array) : eddy_shape_of(v->t);
    known_sizes            k = { .count = s.rank };
    for (int i = 0; i < s.rank; i++) k.at[i] = s.dim[i] == EDDY_ANY ? UNKNOWN_SIZE : s.dim[i];
    return s.rank < 0 ? nothing : k;
}

static known_sizes gather(tf_build *b)
{
    const known_sizes from = sizes_of_input(b, 0), at = sizes_of_input(b, 1);
    known_sizes       k = { .count = from.count < 0 ? -1 : at.count };
    for (int i = 0; i < k.count; i++) {
        const int64_t n = at.at[i];
        if (n != UNKNOWN_SIZE && (n < 0 || n >= from.count)) {
            if (b->reader->bodies > 0) return nothing;      /* the branch need not run */
            eddy__tf_invalid(b, "index %lld is outside of %d elements", (long long)n, from.count);
            return nothing;
        }
        k.at[i] = n == UNKNOWN_SIZE ? n : from.at[n];
    }
    return k;
}

static known_sizes joined(tf_build *b, int n)
{
    known_sizes k = { .count = 0 };
    for (int i = 0; i < n; i++) k = eddy__known_join(k, sizes_of_input(b, i));
    return k;
}

/* x[begin:end:stride] with its masks, of a vector. The builder has refused a stride of 0. */
static known_sizes slice(tf_build *b)
{
    const known_sizes   x = sizes_of_input(b, 0), begin = sizes_of_input(b, 1);
    const known_sizes   end = sizes_of_input(b, 2), stride = sizes_of_input(b, 3);
    const int64_t masks = eddy__tf_int(b, "ellipsis_mask", 0) | eddy__tf_int(b, "new_axis_mask", 0);
    if (x.count < 0 || begin.count != 1 || end.count != 1 || stride.count != 1 || masks ||
        begin.at[0] == UNKNOWN_SIZE || end.at[0] == UNKNOWN_SIZE)
        return nothing;
    const int64_t by = stride.at[0], n = x.count, first = by > 0 ? 0 : n - 1;
    const bool    single = eddy__tf_int(b, "shrink_axis_mask", 0) & 1;
    int64_t       from = begin.at[0] < 0 ? begin.at[0] + n : begin.at[0];
    int64_t       to = end.at[0] < 0 ? end.at[0] + n : end.at[0];
    if (eddy__tf_int(b, "begin_mask", 0) & !single) from = first;
    if (eddy__tf_int(b, "end_mask", 0) & 1) to = by > 0 ? n : -1;
    if (by > 0 ? from < 0 : from >= n) from = first;
    known_sizes k = { .count = 0 };
    for (int64_t i = from; k.count < (single ? 1 : n) && i >= 0 && i < n; i += by) {
        if (!single && (by > 0 ? i >= to : i <= to)) break;
        k.at[k.count++] = x.at[i];
        if (by >= n || by <= -n) break;
    }
    return k;
}

static known_sizes product(tf_build *b)
{
    const known_sizes x = sizes_of_input(b, 0);
    known_sizes       k = { .count = 1, .at = { 1 } };
    if (x.count < 0) return nothing;
    for (int i = 0; i < x.count; i++)
        k = eddy__known_combine(k, '*', (known_sizes){ .at = { x.at[i] }, .count = 1 });
    return k;
}

static known_sizes result(tf_build *b)
{
    static const struct { const char *name; char op;
    } rows[] = {
        { "Shape", 's' },      { "GatherV2", 'g' },     { "Gather", 'g' },   { "ConcatV2", 'c' },
        { "Pack", 'k' },       { "StridedSlice", 'l' }, { "Add", '+' },      { "AddV2", '+' },
        { "Sub", '-' },        { "Mul", '*' },          { "FloorDiv", 'f' }, { "Minimum", '<' },
        { "Maximum", '>' },    { "Cast", '=' },         { "Squeeze", '=' },  { "ExpandDims", '=' },
        { "Reshape", '=' },    { "Prod", 'p' },
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
    case '=': return sizes_of_input(b, 0);
    case 0: return nothing;
    default: return eddy__known_combine(sizes_of_input(b, 0), op, sizes_of_input(b, 1));
    }
}

void eddy__tf_propagate(tf_build *b)
{
    tf_value *v = b->n_out ? b->out[0] : NULL;
    if (!v || (v->type != TF_INT32 && v->type != TF_INT64) || eddy_shape_of(v->t).rank > 1) return;
    const known_sizes k = result(b);
    const int64_t     count = eddy_shape_count(eddy_shape_of(v->t));
    if (count < 0 || count != k.count) return;
    v->known = eddy__known_store(b->memory, k, v->type == TF_INT32);
    if (!v->known) return;
    v->count_known = k.count;
    eddy_array *a =
        eddy__known_array(b->memory, v->known, k.count, eddy_dtype_of(v->t), eddy_shape_of(v->t));
    if (!a || !eddy__reading_keep(&b->reader->base, a)) return;
    v->array = a;
    v->t = eddy_constant(b->graph, .value = a);
    v->constant = true;
}
