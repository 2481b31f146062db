/* ports.c -- the inputs, outputs and values of a model that was read, by name. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

void eddy_onnx_free(eddy_onnx_model *m)
{
    if (m) eddy__region_free(&m->memory);
    free(m);
}

int eddy_onnx_input_count(const eddy_onnx_model *m) { return m ? m->n_inputs : 0; }
int eddy_onnx_output_count(const eddy_onnx_model *m) { return m ? m->n_outputs : 0; }

const char *eddy_onnx_input_name(const eddy_onnx_model *m, int i)
{
    return m && i >= 0 && i < m->n_inputs ? m->inputs[i].name : NULL;
}

const char *eddy_onnx_output_name(const eddy_onnx_model *m, int i)
{
    return m && i >= 0 && i < m->n_outputs ? m->outputs[i].name : NULL;
}

static const onnx_port *find_port(const onnx_port *p, int n, const char *name)
{
    for (int i = 0; name && i < n; i++)
        if (strcmp(p[i].name, name) == 0) return &p[i];
    return NULL;
}

static const onnx_port *port_of(const eddy_onnx_model *m, const char *name)
{
    const onnx_port *p = m ? find_port(m->outputs, m->n_outputs, name) : NULL;
    return p || !m ? p : find_port(m->inputs, m->n_inputs, name);
}

static eddy_tensor only(const onnx_port *p)
{
    return p && p->single ? p->tensors[0] : EDDY_NO_TENSOR;
}

eddy_tensor eddy_onnx_input(const eddy_onnx_model *m, const char *name)
{
    return m ? only(find_port(m->inputs, m->n_inputs, name)) : EDDY_NO_TENSOR;
}

eddy_tensor eddy_onnx_output(const eddy_onnx_model *m, const char *name)
{
    return m ? only(find_port(m->outputs, m->n_outputs, name)) : EDDY_NO_TENSOR;
}

eddy_tensor eddy_onnx_value(const eddy_onnx_model *m, const char *name)
{
    const onnx_value *v = m && name ? eddy__onnx_lookup(m->main, name) : NULL;
    return v ? v->t : EDDY_NO_TENSOR;
}

eddy_list eddy_onnx_items(const eddy_onnx_model *m, const char *name)
{
    const onnx_port *p = port_of(m, name);
    return p ? (eddy_list){ p->count, p->tensors } : (eddy_list){ 0, NULL };
}

int eddy_onnx_element_type(const eddy_onnx_model *m, const char *name)
{
    const onnx_port *p = port_of(m, name);
    return p ? p->type : 0;
}
