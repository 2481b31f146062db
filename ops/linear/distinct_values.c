/* distinct_values.c -- guards the second derivatives of functions of eigenvalues and singular
 * values.
 *
 * The first derivative, v diag(dy) v', is right for equal eigenvalues too. Its own derivative by v
 * has the quotients (dy[j] - dy[i]) / (e[j] - e[i]). Where both differences are 0, the quotient is
 * the derivative of dy by e, which the rule cannot know if dy is computed from e. */
#include "graph/internal.h"
#include "ops/linear/linear.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <float.h>

/* Values closer than this many units of rounding of the largest one count as equal: rounding alone
 * separates them. */
enum { ROUNDINGS = 64 };

typedef struct distinct_values_attrs {
    const char *message;
} distinct_values_attrs;

static bool distinct_values_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

/* bool [..., n-1]: false where neighbors among sorted values are equal. NaN equals nothing. */
static eddy_tensor neighbors_differ(eddy_tensor values)
{
    const eddy_tensor v = Real(values);
    const double      unit = eddy_dtype_of(v) == EDDY_FLOAT32 ? FLT_EPSILON : DBL_EPSILON;
    const eddy_tensor gaps = Abs(Sub(eddy_index(v, "..., 1:"), eddy_index(v, "..., :-1")));
    const eddy_tensor largest = Max(Abs(v), EDDY_AXES(-1), true);
    return LogicalNot(LessEqual(gaps, Mul(largest, ROUNDINGS * unit)));
}

static void distinct_values_gradient(eddy_rule *r)
{
    const distinct_values_attrs *a = r->attrs;
    r->dx[0] = eddy_ensure(r->dy[0], neighbors_differ(eddy_stop_gradient(r->x[1])), a->message);
}

const eddy_op_def eddy_op_distinct_values = {
    .name = "DistinctValues", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .flags = EDDY_OP_ALIAS,
    .inputs = EDDY_INPUTS({ "vectors", EDDY_TAKES_WIDE_FLOATS_COMPLEX },
                          { "values", EDDY_TAKES_WIDE_FLOATS_COMPLEX | EDDY_RANK_FROM(1) }),
    .attrs_size = sizeof(distinct_values_attrs),
    .attrs = EDDY_ATTRS(distinct_values_attrs, message),
    .infer = distinct_values_infer, .gradient = distinct_values_gradient,
    .batch = eddy_batch_as_is,
};

/* Whether the elements of t are computed from those of an output of the node. Ids are a topological
 * order. */
static bool is_computed_from(eddy_tensor t, const eddy_node *node)
{
    const eddy_allocator *allocator = &t.graph->allocator;
    const int32_t         n = t.node - node->id + 1;
    if (n <= 0) return false;
    uint8_t *marked = eddy__allocate_zeroed(allocator, (size_t)n, 1);
    if (!marked) return true;
    marked[n - 1] = 1;
    for (int32_t at = n - 1; at > 0; at--) {
        const eddy_node *user = t.graph->nodes[node->id + at];
        for (int i = 0; marked[at] && i < user->n_inputs; i++)
            if (user->inputs[i].node >= node->id &&
                !eddy__input_is_in(user->op->shape_inputs, i))
                marked[user->inputs[i].node - node->id] = 1;
    }
    const bool found = marked[0];
    eddy__release(allocator, marked, (size_t)n);
    return found;
}

eddy_tensor eddy__vectors_of_distinct(const eddy_rule *r, eddy_tensor vectors, eddy_tensor values,
                                      const char *message)
{
    if (!is_computed_from(r->dy[0], r->node)) return vectors;
    return eddy_apply2(&eddy_op_distinct_values, &(distinct_values_attrs){ message }, vectors,
                       values);
}
