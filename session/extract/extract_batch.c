/* extract_batch.c -- a graph that was built for one number of examples, for any number.
 *
 * The graph is first built for a number of examples that is prime, where every rule of shapes must
 * hold; so each node that does not work with another number is found, and named. */
#include "session/extract/extract_parts.h"
#include "build/gen/table.h"
#include "ops/ops.h"

#include <string.h>

enum { TRIAL = 1009 };

/* As its attributes in ops/arrays/reshape.c. */
typedef struct reshape_attrs {
    eddy_shape shape;
} reshape_attrs;

typedef struct opening {
    extract_step step;
    int64_t      batch;         /* as the graph was built */
} opening;

/* Whether `size` is the number of examples, or a multiple of it. */
static bool counts_examples(const opening *o, int64_t size)
{
    return size == o->batch || (o->batch > 1 && size > 0 && size % o->batch == 0);
}

/* The elements behind dimension d. */
static int64_t stride(eddy_shape s, int d)
{
    int64_t n = 1;
    while (++d < s.rank) n *= s.dim[d];
    return n;
}

/* The dimension of x that is not as in the old graph; -1 if there are several or none. */
static int open_dimension(const eddy_copy *c, eddy_tensor x)
{
    const eddy_shape was = eddy_shape_of(x), now = eddy_shape_of(eddy__copy_image(c, x));
    int              open = -1;
    if (!eddy_shape_is_known(was) || was.rank != now.rank) return -1;
    for (int d = 0; d < was.rank; d++) {
        if (was.dim[d] == now.dim[d]) continue;
        if (open >= 0) return -1;
        open = d;
    }
    return open;
}

/* Whether dimension d of a shape and dimension `at` of another count the same examples, perhaps
 * among others: whether their strides and sizes overlap by so much. */
static bool is_shared(const opening *o, eddy_shape to, int d, eddy_shape was, int at)
{
    const int64_t a = stride(to, d), b = stride(was, at);
    const int64_t ends = a * to.dim[d] < b * was.dim[at] ? a * to.dim[d] : b * was.dim[at];
    return counts_examples(o, ends / (a > b ? a : b));
}

/* The dimension of the requested shape that has the examples, which are part of dimension `at` of
 * the old shape: one that is their number, or else a multiple of it. Where the old shape is not
 * known, the first dimension. */
static int dimension_of_examples(const opening *o, eddy_shape to, eddy_shape was, int at)
{
    int multiple = -1;
    if (at < 0) return to.rank > 0 && counts_examples(o, to.dim[0]) ? 0 : -1;
    for (int d = 0; d < to.rank; d++) {
        if (!counts_examples(o, to.dim[d]) || !is_shared(o, to, d, was, at)) continue;
        if (to.dim[d] == o->batch) return d;
        if (multiple < 0) multiple = d;
    }
    return multiple;
}

static bool open_reshape(eddy_copy *c, const eddy_node *node)
{
    const opening *o = c->inside_context;
    if (node->op != &eddy_op_reshape || !c->changed[node->inputs[0].node]) return false;
    reshape_attrs a = *(const reshape_attrs *)node->attrs;
    if (!eddy_shape_is_known(a.shape) || eddy_shape_count(a.shape) == 0) return false;
    const int d = dimension_of_examples(o, a.shape, eddy_shape_of(node->inputs[0]),
                                        open_dimension(c, node->inputs[0]));
    if (d < 0) return false;
    const eddy_tensor in = eddy__copy_image(c, node->inputs[0]);
    a.shape.dim[d] = EDDY_ANY;
    eddy__copy_as(c, node, node->op, &a, 1, &in);
    return true;
}

static bool step_to(extract *x, const extract_part *was, int64_t batch, int64_t to,
                    extract_part *now)
{
    opening o = { .batch = batch };
    bool    ok = eddy__extract_step_begin(&o.step, x, was);
    o.step.copy.instead = o.step.copy.inside = open_reshape;
    o.step.copy.inside_context = &o;
    for (int i = 0; ok && i < x->n_inputs; i++) {
        eddy_shape s = eddy_shape_of(was->inputs[i]);
        if (s.rank > 0 && s.dim[0] == batch) s.dim[0] = to;
        ok = eddy__extract_placeholder(&o.step, i, NULL, s);
    }
    ok = ok && eddy__copy_effects(&o.step.copy);
    if (!eddy__extract_step_finish(&o.step, ok)) return false;
    *now = o.step.now;
    return true;
}

/* The first dimension that the inputs share; EDDY_ANY if it is unknown, -2 on an error. */
static int64_t batch_of(extract *x, const extract_part *was)
{
    int64_t batch = EDDY_ANY;
    for (int i = 0; i < x->n_inputs; i++) {
        const eddy_shape s = eddy_shape_of(was->inputs[i]);
        if (s.rank <= 0 || s.dim[0] < 0) continue;
        if (batch >= 0 && batch != s.dim[0]) {
            eddy__error_set(&x->error, EDDY_BAD_SHAPE, "extract: the inputs have %lld and %lld "
                            "examples; open_batch needs one number", (long long)batch,
                            (long long)s.dim[0]);
            return -2;
        }
        batch = s.dim[0];
    }
    return batch;
}

/* The placeholders of the part are its inputs if none were given. */
static bool find_inputs(extract *x, extract_part *part)
{
    const eddy_graph *g = part->graph;
    if (x->args.inputs.count > 0) return true;
    part->inputs = eddy__extract_memory(x, g->size, sizeof *part->inputs);
    for (int32_t id = 1; part->inputs && id <= g->size; id++)
        if (g->nodes[id]->op->flags & EDDY_OP_PLACEHOLDER)
            part->inputs[x->n_inputs++] = eddy__tensor_at(part->graph, id, 0);
    return part->inputs != NULL;
}

bool eddy__extract_open(extract *x, const extract_part *was, extract_part *now)
{
    extract_part part = *was, trial;
    if (!find_inputs(x, &part)) return false;
    const int64_t batch = batch_of(x, &part);
    if (batch == -2) return false;
    if (!step_to(x, &part, batch, TRIAL, &trial)) {
        const eddy_error e = x->error;
        if (e.status == EDDY_NO_MEMORY) return false;
        x->error = (eddy_error){ 0 };
        return eddy__error_set(&x->error, e.status, "extract: the graph works only with %lld "
                               "examples, not with %d: %.700s", (long long)batch, TRIAL,
                               strlen(e.message) > 9 ? e.message + 9 : e.message);
    }
    eddy_graph_free(trial.graph);
    return step_to(x, &part, batch, EDDY_ANY, now);
}
