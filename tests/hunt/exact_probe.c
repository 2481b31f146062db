/* exact_probe.c -- see exact_nodes.h: one operation, alone in a graph. */
#include "tests/hunt/exact_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int exact_parts(eddy_dtype d) { return eddy_dtype_is_complex(d) ? 2 : 1; }
int64_t exact_array_numbers(const eddy_array *a)
{
    return eddy_array_count(a) * exact_parts(eddy_array_dtype(a));
}

double exact_array_number(const eddy_array *a, int64_t i)
{
    const void *data = eddy_array_data(a);
    if (eddy_array_dtype(a) == EDDY_COMPLEX64) return (double)((const float *)data)[i];
    if (eddy_array_dtype(a) == EDDY_COMPLEX128) return ((const double *)data)[i];
    return eddy_array_get(a, i);
}

void exact_array_set(eddy_array *a, int64_t i, double x)
{
    if (eddy_array_dtype(a) == EDDY_COMPLEX128) ((double *)eddy_array_data(a))[i] = x;
    else eddy_array_set(a, i, x);
}

/* The type with the most digits. */
static eddy_dtype wide(eddy_dtype d)
{
    if (eddy_dtype_is_complex(d)) return EDDY_COMPLEX128;
    return eddy_dtype_is_floating(d) ? EDDY_FLOAT64 : d;
}

/* Whether an operation takes an input only in float32. */
static bool is_narrow(const eddy_op_def *op, int i)
{
    const eddy_input_def *in = op->inputs;
    for (int k = 0; in && k < i && in[1].name; k++) in++;
    return in && in->takes >> 24 == 0 && in->takes & EDDY_TYPE(EDDY_FLOAT32) &&
           !(in->takes & EDDY_TYPE(EDDY_FLOAT64));
}

static eddy_array *copy_as(const eddy_array *a, bool narrow)
{
    const eddy_dtype d = narrow ? eddy_array_dtype(a) : wide(eddy_array_dtype(a));
    eddy_array *y = eddy_array_new(d, eddy_array_shape(a));
    for (int64_t i = 0; i < exact_array_numbers(a); i++)
        exact_array_set(y, i, exact_array_number(a, i));
    return y;
}

static bool is_same(const eddy_array *a, const eddy_array *b)
{
    if (!eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(b))) return false;
    for (int64_t i = 0; i < exact_array_numbers(a); i++)
        if (exact_array_number(a, i) != exact_array_number(b, i)) return false;
    return true;
}

static bool is_current(const exact_node *n, const exact_operand *in)
{
    const exact_probe *p = &n->probe;
    for (int i = 0; p->graph && i < p->n_inputs; i++) {
        const bool of_shape = i < 31 && n->node->op->shape_inputs >> i & 1;
        if (!of_shape && !in[i].x && !is_same(p->kept[i], in[i].base)) return false;
        if (!eddy_shape_equal(eddy_array_shape(p->arrays[i] ? p->arrays[i] : p->kept[i]),
                              in[i].shape)) return false;
    }
    return p->graph != NULL;
}

void exact_probe_end(exact_node *n)
{
    exact_probe *p = &n->probe;
    for (int i = 0; i < p->n_inputs; i++)
        eddy_array_free(p->arrays[i]), eddy_array_free(p->kept[i]);
    eddy_session_free(p->session);
    eddy_graph_free(p->graph);
    free(p->arrays), free(p->kept), free(p->inputs), free(p->outputs), free(p->matrix);
    *p = (exact_probe){ 0 };
}

bool exact_probe_begin(exact_node *n, const exact_operand *in)
{
    exact_probe *p = &n->probe;
    const size_t count = (size_t)n->node->n_inputs;
    if (is_current(n, in)) return false;
    exact_probe_end(n);
    *p = (exact_probe){ .graph = eddy_graph_new(), .n_inputs = n->node->n_inputs };
    p->arrays = calloc(count + 1, sizeof *p->arrays);
    p->kept = calloc(count + 1, sizeof *p->kept);
    p->inputs = calloc(count + 1, sizeof *p->inputs);
    p->outputs = calloc((size_t)n->node->n_outputs + 1, sizeof *p->outputs);
    for (size_t i = 0; i < count; i++) {
        if (in[i].x) {
            const eddy_dtype d = wide(eddy_array_dtype(in[i].base));
            p->arrays[i] = eddy_array_new(d, in[i].shape);
            p->inputs[i] = eddy_placeholder(p->graph, NULL, d, in[i].shape);
        } else {
            p->kept[i] = copy_as(in[i].base, is_narrow(n->node->op, (int)i));
            p->inputs[i] = eddy_constant(p->graph, p->kept[i], NULL);
        }
    }
    const eddy_tensor y = eddy_apply(n->node->op, n->node->attrs, n->node->n_inputs, p->inputs,
                                     (eddy_apply_args){ .graph = p->graph });
    for (int k = 0; k < n->node->n_outputs; k++) p->outputs[k] = eddy_output(y, k);
    p->session = eddy_session_new(p->graph, .threads = 1);
    if (eddy_graph_status(p->graph) != EDDY_OK) {
        fprintf(stderr, "%s alone: %s\n", n->node->op->name, eddy_graph_message(p->graph));
        exit(2);
    }
    return true;
}

void exact_probe_run(exact_node *n, eddy_array **out)
{
    exact_probe *p = &n->probe;
    eddy_feed    feeds[EXACT_INPUTS];
    int          count = 0;
    for (int i = 0; i < p->n_inputs; i++)
        if (p->arrays[i]) feeds[count++] = (eddy_feed){ p->inputs[i], p->arrays[i] };
    if (eddy_run(p->session, (eddy_feeds){ count, feeds },
                 (eddy_list){ n->node->n_outputs, p->outputs }, out) == EDDY_OK) return;
    fprintf(stderr, "%s alone: %s\n", n->node->op->name, eddy_session_message(p->session));
    exit(2);
}
