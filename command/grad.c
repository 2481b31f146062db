/* grad.c -- eddy grad: a model with the nodes that compute its derivatives. */
#include "command/write.h"

#include <string.h>

static text_list   of, by, stop, shapes;
static const char *into = NULL, *weights = NULL;
static bool        jacobian = false, hvp = false, zeros = false;

static const option_row options[] = {
    { "of", 0, OPTION_NAMES, "NAMES", &of, "what is differentiated: the sum of these tensors" },
    { "wrt", 0, OPTION_NAMES, "NAMES", &by, "with respect to these; default: trainable variables" },
    { "output", 'o', OPTION_TEXT, "FILE", &into, "the new file, .yaml or .onnx" },
    { "jacobian", 0, OPTION_FLAG, NULL, &jacobian, "whole Jacobians: jacobian/NAME" },
    { "hvp", 0, OPTION_FLAG, NULL, &hvp,
      "products of the Hessian with new inputs v/NAME: hvp/NAME" },
    { "stop", 0, OPTION_NAMES, "NAMES", &stop, "treat these tensors as constants" },
    { "zeros", 0, OPTION_FLAG, NULL, &zeros, "zeros for what --of does not depend on" },
    { "shape", 's', OPTION_EACH, "INPUT=DIMS", &shapes, "fix unknown dimensions of an input" },
    { "weights", 'w', OPTION_TEXT, "FILE", &weights, "values of variables, for .onnx" },
    { NULL, 0, OPTION_END, NULL, NULL, NULL },
};

static named *trainable(const model *m, int *count)
{
    *count = eddy_collection_size(m->graph, EDDY_TRAINABLE_VARIABLES);
    named *list = room((size_t)*count, sizeof *list);
    for (int i = 0; i < *count; i++) {
        const eddy_tensor t = eddy_collection_at(m->graph, EDDY_TRAINABLE_VARIABLES, i);
        list[i] = (named){ eddy_name_of(t), t };
    }
    return list;
}

/* A placeholder v/NAME for each x, also as inputs of the model. */
static eddy_tensor *vectors(model *m, const named *x, int n)
{
    eddy_tensor *v = room((size_t)n, sizeof *v);
    named       *inputs = room((size_t)(m->n_inputs + n), sizeof *inputs);
    if (m->n_inputs > 0) memcpy(inputs, m->inputs, (size_t)m->n_inputs * sizeof *inputs);
    for (int i = 0; i < n; i++) {
        const char *name = text("v/%s", x[i].name);
        v[i] = eddy_named(text("%s/", name),
                          eddy_placeholder(m->graph, "v", eddy_dtype_of(x[i].tensor),
                                           eddy_shape_of(x[i].tensor)));
        inputs[m->n_inputs++] = (named){ name, v[i] };
    }
    m->inputs = inputs;
    return v;
}

/* The derivatives: an invalid tensor where there is none. */
static eddy_tensor *derive(model *m, const named *y, int n_y, const named *x, int n_x)
{
    eddy_tensor          *out = room((size_t)n_x, sizeof *out);
    const eddy_list       ys = tensors_of(y, n_y), xs = tensors_of(x, n_x);
    const eddy_unconnected unconnected = zeros ? EDDY_UNCONNECTED_ZERO : EDDY_UNCONNECTED_NONE;
    int                   n_stop = 0;
    named                *stops = stop.count > 0 ? model_select(m, stop, &n_stop) : NULL;
    if (stop.count > 0 && !stops) return NULL;
    if (jacobian)
        eddy_jacobian(y[0].tensor, xs, out, .unconnected_gradients = unconnected);
    else if (hvp)
        eddy_hessian_vector_product(y[0].tensor, xs, { n_x, vectors(m, x, n_x) }, out);
    else
        eddy_gradients(ys, xs, out, .stop_gradients = tensors_of(stops, n_stop),
                       .unconnected_gradients = unconnected);
    if (eddy_graph_status(m->graph) == EDDY_OK) return out;
    fail(m->path, "%s", eddy_graph_message(m->graph));
    return NULL;
}

/* The results as outputs behind those of the model. */
static named *add_results(model *m, const named *x, const eddy_tensor *dx, int n, int *count)
{
    const char *kind = jacobian ? "jacobian" : hvp ? "hvp" : "grad";
    named      *outputs = room((size_t)(m->n_outputs + n), sizeof *outputs);
    *count = m->n_outputs;
    if (m->n_outputs > 0) memcpy(outputs, m->outputs, (size_t)m->n_outputs * sizeof *outputs);
    for (int i = 0; i < n; i++) {
        if (!eddy_is_valid(dx[i])) {
            fail(m->path, "%s does not depend on '%s'; --zeros writes zeros for it", of.at[0],
                 x[i].name);
            return NULL;
        }
        char        unique[EDDY_MAX_NAME];
        const char *name = text("%s/%s", kind, x[i].name);
        eddy_unique_name(m->graph, name, false, unique, sizeof unique);
        const eddy_tensor t = eddy_named(text("%s/", unique), eddy_identity(dx[i]));
        outputs[(*count)++] = (named){ eddy_name_of(t), t };
    }
    if (eddy_graph_status(m->graph) == EDDY_OK) return outputs;
    fail(m->path, "%s", eddy_graph_message(m->graph));
    return NULL;
}

static void print(const named *results, const named *x, int n)
{
    table t = { .columns = "l l l" };
    if (as_json) json_open(NULL, '[');
    table_row(&t, "result", "type",
              jacobian ? "Jacobian by"
              : hvp    ? "Hessian product for"
                       : "gradient by");
    for (int i = 0; i < n; i++) {
        const eddy_tensor r = results[i].tensor;
        table_row(&t, results[i].name, type_text(eddy_dtype_of(r), eddy_shape_of(r)), x[i].name);
        if (!as_json) continue;
        json_open(NULL, '{');
        json_text("name", results[i].name);
        json_text("type", eddy_dtype_name(eddy_dtype_of(r)));
        json_shape("shape", eddy_shape_of(r));
        json_text("wrt", x[i].name);
        json_close('}');
    }
    if (as_json) json_close(']');
    else table_print(&t, stdout);
}

static int differentiate(model *m, file_kind kind)
{
    int          n_y, n_x, count;
    const named *y = model_select(m, of, &n_y);
    const named *x = !y ? NULL : by.count > 0 ? model_select(m, by, &n_x) : trainable(m, &n_x);
    if (!x) return TROUBLE;
    if (n_x == 0) return fail(m->path, "the model has no trainable variables; --wrt names tensors");
    const eddy_tensor *dx = derive(m, y, n_y, x, n_x);
    if (dx && m->kind != KIND_YAML) outputs_name(m, m->outputs, m->n_outputs);
    if (dx) inputs_name(m);
    const named *outputs = dx ? add_results(m, x, dx, n_x, &count) : NULL;
    if (!outputs) return TROUBLE;
    const int status = kind == KIND_YAML ? write_yaml(m, outputs, count, into)
                                         : write_onnx(m, outputs, count, into, weights);
    if (status == SUCCESS) print(outputs + m->n_outputs, x, n_x);
    return status;
}

static int run(char **operands, int count)
{
    (void)count;
    model m;
    if (of.count == 0 || !into) return fail(NULL, "--of and --output are needed");
    if (jacobian && hvp)
        return fail(NULL, "--jacobian and --hvp are different results; choose one");
    if ((jacobian || hvp) && of.count > 1)
        return fail(NULL, "--of takes one tensor with --%s", jacobian ? "jacobian" : "hvp");
    if ((jacobian || hvp) && stop.count > 0) return fail(NULL, "--stop is for gradients only");
    const file_kind kind = kind_to_write(into);
    if (kind == KIND_UNKNOWN) return TROUBLE;
    if (!kind_has_graph(kind)) return fail(into, "derivatives are written to .yaml or .onnx");
    if (weights && kind == KIND_YAML)
        return fail(into, "a graph has no values of variables; --weights is for .onnx");
    const bool fine =
        model_open_graph(&m, operands[0], true) && model_fix_shapes(&m, shapes, 0);
    const int  status = fine ? differentiate(&m, kind) : TROUBLE;
    model_close(&m);
    return status;
}

const command command_grad = {
    "grad", "MODEL", "Append the nodes of derivatives to a model and write it", 1, 1, options, run,
};
