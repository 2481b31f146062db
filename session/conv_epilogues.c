/* conv_epilogues.c -- bias, residual and relu behind a convolution, done while its result
 * is in the cache. */
#include "session/passes.h"
#include "ops/conv.h"
#include "build/gen/table.h"

#include <string.h>

/* A convolution with what is done to its result, as the attributes of _FusedConv2D. */
typedef struct finished {
    const flow_node *node;
    void            *attrs;
    int64_t         *has_bias, *has_residual, *activation;
} finished;

static int64_t *member(void *attrs, const char *name)
{
    const flow_node n = { .op = &eddy_op_fused_conv2d, .attrs = attrs };
    return (int64_t *)(uintptr_t)eddy_flow_attr(&n, name);
}

/* The convolution that gives t, if nobody else reads it and it has no activation yet. */
static bool open_convolution(rewrite *r, eddy_tensor t, finished *f)
{
    const flow_node *n = eddy_flow_node(r->flow, t);
    const bool       fused = n->op == &eddy_op_fused_conv2d;
    if (n->values || n->readers != 1 || n->n_controls > 0 || (!fused && n->op != &eddy_op_conv2d))
        return false;
    if (strcmp(((const eddy_conv_attrs *)n->attrs)->data_format, "NHWC") != 0) return false;
    *f = (finished){ .node = n };
    f->attrs = eddy_flow_alloc(r->flow->c, 1, eddy_op_fused_conv2d.attrs_size);
    if (!f->attrs) return false;
    memcpy(f->attrs, n->attrs, n->op->attrs_size);
    f->has_bias = member(f->attrs, "has_bias");
    f->has_residual = member(f->attrs, "has_residual");
    f->activation = member(f->attrs, "activation");
    return *f->activation == 0;
}

static bool finish(rewrite *r, const finished *f, const eddy_tensor *more)
{
    eddy_tensor x[4];
    int         n = f->node->n_inputs;
    for (int i = 0; i < n; i++) x[i] = f->node->inputs[i];
    if (more) x[n++] = *more;
    r->y[0] = eddy_rewrite_add(r, &eddy_op_fused_conv2d, f->attrs, n, x);
    return eddy_flow_valid(r->y[0]);
}

/* convolution + x, for input i the convolution. */
static bool add_rule(rewrite *r, int i)
{
    finished          f;
    const eddy_tensor other = r->node->inputs[1 - i];
    const eddy_shape  y = r->node->outputs[0].shape, s = eddy_flow_type(r->flow, other).shape;
    if (!open_convolution(r, r->node->inputs[i], &f) || *f.has_residual) return false;
    if (!eddy_shape_equal(f.node->outputs[0].shape, y)) return false;
    if (!*f.has_bias && s.rank == 1 && s.dim[0] == y.dim[3] && y.dim[3] > 1) *f.has_bias = 1;
    else if (eddy_shape_equal(s, y) && !eddy_is_passing(r->flow, other)) *f.has_residual = 1;
    else return false;
    return finish(r, &f, &other);
}

static bool relu_rule(rewrite *r)
{
    finished f;
    if (!open_convolution(r, r->node->inputs[0], &f)) return false;
    *f.activation = 1;
    return finish(r, &f, NULL);
}

bool eddy_take_in_conv_epilogues(rewrite *r)
{
    const eddy_op_def *op = r->node->op;
    if (op == &eddy_op_relu) return relu_rule(r);
    if (op == &eddy_op_bias_add) return add_rule(r, 0);
    if (op != &eddy_op_add) return false;
    const int later = r->node->inputs[1].node > r->node->inputs[0].node;
    return add_rule(r, later) || add_rule(r, 1 - later);
}
