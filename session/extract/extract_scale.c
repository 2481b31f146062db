/* extract_scale.c -- a convolution whose channels are multiplied by constants, as batch
 * normalization does in inference: the filter gets the factors. */
#include "session/extract/extract_parts.h"
#include "ops/nets/conv2d.h"
#include "ops/ops.h"
#include "ops/weak_ops.h"

#include <string.h>

static bool count_readers(extract_step *s)
{
    const extract_part *p = s->was;
    s->readers = eddy__copy_room(&s->copy, (int64_t)s->copy.size + 1, sizeof *s->readers);
    if (!s->readers) return false;
    for (int i = 0; i < s->x->n_outputs; i++) s->readers[p->outputs[i].node]++;
    for (int32_t id = 1; id <= s->copy.size; id++)
        for (int i = 0; i < p->graph->nodes[id]->n_inputs && s->copy.needed[id]; i++)
            s->readers[p->graph->nodes[id]->inputs[i].node]++;
    return true;
}

static const eddy_node *sole_convolution(const extract_step *s, eddy_tensor t)
{
    const eddy_node *n = s->was->graph->nodes[t.node];
    if (n->op != &eddy_op_conv2d || n->n_controls > 0 || n->gradient) return NULL;
    const eddy_conv_attrs *a = n->attrs;
    return s->readers[t.node] == 1 && strcmp(a->data_format, "NHWC") == 0 ? n : NULL;
}

/* The constant that takes the place of t, if there is one. */
static const eddy_array *constant_of(const extract_step *s, eddy_tensor t)
{
    return eddy_constant_value(eddy__copy_image(&s->copy, t));
}

/* One factor for each channel of the result. */
static bool are_factors(const eddy_array *a, const eddy_array *filter)
{
    if (!a || !filter || eddy_array_dtype(a) != eddy_array_dtype(filter)) return false;
    const eddy_shape s = eddy_array_shape(a), f = eddy_array_shape(filter);
    return s.rank >= 1 && s.rank <= 4 && s.dim[s.rank - 1] == f.dim[3] &&
           eddy_array_count(a) == f.dim[3];
}

static eddy_array *multiply(const extract_step *s, const eddy_array *filter, const eddy_array *by)
{
    const int64_t n = eddy_array_count(by);
    eddy_array   *y = eddy_array_new_in(&s->now.graph->allocator, eddy_array_dtype(filter),
                                        eddy_array_shape(filter));
    for (int64_t i = 0; y && i < eddy_array_count(y); i++)
        eddy_array_set(y, i, eddy_array_get(filter, i) * eddy_array_get(by, i % n));
    return y;
}

bool eddy__extract_scale(extract_step *s, const eddy_node *node)
{
    if (node->op != &eddy_op_mul || node->gradient || s->x->args.fold_bytes <= 0) return false;
    if (!s->readers && !count_readers(s)) return false;
    for (int i = 0; i < 2; i++) {
        const eddy_node *conv = sole_convolution(s, node->inputs[i]);
        if (!conv || s->readers[conv->inputs[1].node] != 1) continue;
        const eddy_array *filter = constant_of(s, conv->inputs[1]);
        const eddy_array *by = constant_of(s, node->inputs[1 - i]);
        if (!are_factors(by, filter)) continue;
        eddy_array *scaled = multiply(s, filter, by);
        if (!scaled) return false;
        const eddy_tensor in[] = { eddy__copy_image(&s->copy, conv->inputs[0]),
                                   eddy_constant(s->now.graph, scaled) };
        eddy_array_free(scaled);
        s->changes++;
        eddy__copy_as(&s->copy, node, &eddy_op_conv2d, conv->attrs, 2, in);
        return true;
    }
    return false;
}
