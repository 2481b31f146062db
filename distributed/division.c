/* division.c -- variables of which each rank has a part. */
#include "distributed/division.h"

#include "ops/short_names.h"

#include <string.h>

/* The whole variable, which no rank has. */
static bool division_infer(eddy_infer *c)
{
    const eddy_division *d = c->attrs;
    c->out[0] = (eddy_type){ c->in[0].dtype, d->whole };
    return true;
}

static eddy_status division_run(eddy_kernel *k)
{
    return eddy_kernel_fail(k, EDDY_UNIMPLEMENTED, "each rank has only a part of the variable");
}

static const eddy_op_def division_op = {
    .name = "Division", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_UNSAVED, .attrs_size = sizeof(eddy_division),
    .attrs = EDDY_ATTRS(eddy_division, communicator, ranks, rank, axis, groups, whole),
    .infer = division_infer, .kernel = division_run, .batch = eddy_batch_as_is,
};

/* ------------------------------------------------------------------- parts -- */

/* The elements of the whole along the axis, in a group. */
static int64_t length_of(const eddy_division *d)
{
    if (d->axis >= 0) return d->whole.dim[d->axis] / d->groups;
    const int64_t count = eddy_shape_count(d->whole);
    return (count + d->ranks - 1) / d->ranks * d->ranks;
}

int64_t eddy__division_begin(const eddy_division *d, int64_t rank)
{
    const int64_t n = length_of(d);
    return n / d->ranks * rank + n % d->ranks * rank / d->ranks;    /* n * rank may overflow */
}

eddy_shape eddy__division_shape(const eddy_division *d, int64_t rank)
{
    const int64_t n = eddy__division_begin(d, rank + 1) - eddy__division_begin(d, rank);
    eddy_shape    s = d->whole;
    if (d->axis < 0) return EDDY_SHAPE(n);
    s.dim[d->axis] = n * d->groups;
    return s;
}

static void copy(char *whole, char *part, size_t bytes, bool to_whole)
{
    if (bytes == 0) return;
    if (to_whole) memcpy(whole, part, bytes);
    else memcpy(part, whole, bytes);
}

void eddy__division_copy(const eddy_division *d, int64_t rank, size_t size, char *whole, char *part,
                         bool to_whole)
{
    const int64_t begin = eddy__division_begin(d, rank);
    const int64_t n = eddy__division_begin(d, rank + 1) - begin;
    size_t        outer = 1, inner = size;
    if (d->axis < 0) {
        const int64_t left = eddy_shape_count(d->whole) - begin, most = left < 0 ? 0 : left;
        copy(whole + (size_t)begin * size, part, (size_t)(n < most ? n : most) * size, to_whole);
        return;
    }
    for (int i = 0; i < d->axis; i++) outer *= (size_t)d->whole.dim[i];
    for (int i = (int)d->axis + 1; i < d->whole.rank; i++) inner *= (size_t)d->whole.dim[i];
    for (size_t k = 0; k < outer * (size_t)d->groups; k++)
        copy(whole + (k * (size_t)length_of(d) + (size_t)begin) * inner,
             part + k * (size_t)n * inner, (size_t)n * inner, to_whole);
}

/* This rank's part of the whole value. */
static eddy_tensor part_of(eddy_tensor whole, const eddy_division *d)
{
    const int64_t begin = eddy__division_begin(d, d->rank);
    const int64_t n = eddy__division_begin(d, d->rank + 1) - begin;
    eddy_shape    s = d->whole;
    eddy_dims     from = { .count = 0 }, size = { .count = 0 };
    if (d->axis < 0) {
        const int64_t more = length_of(d) - eddy_shape_count(s);
        eddy_tensor   flat = eddy_reshape(whole, EDDY_SHAPE(EDDY_ANY));
        if (more > 0)
            flat = eddy_concat(EDDY_LIST(flat, eddy_zeros(whole.graph, eddy_dtype_of(whole),
                                                          EDDY_SHAPE(more))), .axis = 0);
        return eddy_slice(flat, EDDY_DIMS(begin), EDDY_DIMS(n));
    }
    /* the axis as one of groups and one of the elements of each */
    eddy_shape split = { .rank = 0 };
    for (int i = 0; i < s.rank; i++) {
        if (i == d->axis) split.dim[split.rank++] = d->groups;
        split.dim[split.rank++] = i == d->axis ? s.dim[i] / d->groups : s.dim[i];
    }
    for (int i = 0; i < split.rank; i++) {
        from.at[from.count++] = i == d->axis + 1 ? begin : 0;
        size.at[size.count++] = i == d->axis + 1 ? n : -1;
    }
    return eddy_reshape(eddy_slice(eddy_reshape(whole, split), from, size),
                        eddy__division_shape(d, d->rank));
}

eddy_tensor eddy__create_part(const eddy_variable_request *r, const eddy_division *d)
{
    eddy_variable_request own = *r;
    const eddy_tensor whole = eddy_initial_value(r->graph, r->init, r->dtype, r->shape, r->seed);
    own.shape = eddy__division_shape(d, d->rank);
    own.init = (eddy_init){ .value = part_of(whole, d) };
    const eddy_tensor v = eddy_create_variable(&own);
    if (!eddy_is_valid(v)) return v;
    const eddy_tensor mark =
        eddy_apply(&division_op, d, 1, &v, (eddy_apply_args){ .graph = r->graph });
    if (eddy_is_valid(mark)) eddy_collection_add(r->graph, EDDY_DIVIDED_VARIABLES, mark);
    return v;
}

/* ------------------------------------------------------------------ finding -- */

/* Slots have the name of their variable, a slash, and a name of their own, and its shape. */
static bool belongs(const eddy_node *to, eddy_tensor v)
{
    const size_t n = strlen(to->name);
    const char  *name = eddy_name_of(v);
    return strcmp(name, to->name) == 0 ||
           (strncmp(name, to->name, n) == 0 && name[n] == '/' &&
            eddy_shape_equal(eddy_shape_of(v), to->outputs[0].shape));
}

const eddy_division *eddy__division_of(eddy_tensor variable)
{
    static const char key[] = EDDY_DIVIDED_VARIABLES;
    for (int i = eddy_collection_size(variable.graph, key) - 1; i >= 0; i--) {
        const eddy_node *mark = eddy_node_of(eddy_collection_at(variable.graph, key, i));
        if (mark && belongs(eddy_node_of(mark->inputs[0]), variable)) return mark->attrs;
    }
    return NULL;
}

bool eddy__has_part(eddy_tensor variable, int64_t communicator)
{
    const eddy_division *d = eddy__division_of(variable);
    return d && d->communicator == communicator;
}

bool eddy__is_gathered(eddy_tensor variable, int64_t communicator)
{
    return eddy__has_part(variable, communicator) && eddy__division_of(variable)->axis < 0;
}

int64_t eddy__division_ranks(eddy_graph *g)
{
    int64_t ranks = 0;
    for (int i = eddy_collection_size(g, EDDY_DIVIDED_VARIABLES) - 1; i >= 0; i--) {
        const eddy_node     *mark = eddy_node_of(eddy_collection_at(g, EDDY_DIVIDED_VARIABLES, i));
        const eddy_division *d = mark ? mark->attrs : NULL;
        if (d && ranks != 0 && d->ranks != ranks) return 0;
        if (d) ranks = d->ranks;
    }
    return ranks;
}

/* --------------------------------------------------------------------- sums -- */

static void sum_together(int64_t communicator, int n, eddy_tensor *x)
{
    eddy_communicator *c = eddy__communicator_take(communicator);
    eddy_tensor        y[EDDY_MAX_BUCKET];
    if (!c)
        eddy_fail(x[0].graph, EDDY_CLOSED, "divided variables: the communicator has been freed");
    else if (eddy_all_reduce_list(c, (eddy_list){ n, x }, EDDY_REDUCE_SUM, y))
        memcpy(x, y, (size_t)n * sizeof *x);
    if (c) eddy__communicator_give(c);
}

void eddy__sum_over_ranks(int n, const eddy_tensor *variables, eddy_tensor *x)
{
    for (int i = 0, end; i < n; i = end) {
        const int64_t c = eddy__division_of(variables[i])->communicator;
        for (end = i + 1; end < n && end - i < EDDY_MAX_BUCKET; end++)
            if (eddy__division_of(variables[end])->communicator != c ||
                eddy_dtype_of(x[end]) != eddy_dtype_of(x[i]))
                break;
        sum_together(c, end - i, x + i);
    }
}
