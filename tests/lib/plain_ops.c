/* plain_ops.c -- see plain_ops.h. */
#include "tests/lib/plain_ops.h"

#include <string.h>

typedef struct source_attrs {
    eddy_dtype dtype;
    eddy_shape shape;
} source_attrs;

static bool source_infer(eddy_infer *c)
{
    const source_attrs *a = c->attrs;
    c->out[0] = (eddy_type){ a->dtype, a->shape };
    return true;
}
const eddy_op_def plain_source = {
    .name = "Source",
    .label = "source",
    .outputs = 1,
    .flags = EDDY_OP_PLACEHOLDER,
    .infer = source_infer,
    .attrs_size = sizeof(source_attrs),
    .attrs = EDDY_ATTRS(source_attrs, dtype, shape),
};

typedef struct value_attrs {
    eddy_array *value;
} value_attrs;

static bool value_infer(eddy_infer *c)
{
    const value_attrs *a = c->attrs;
    if (!a->value) return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "no value");
    c->out[0] = (eddy_type){ eddy_array_dtype(a->value), eddy_array_shape(a->value) };
    return true;
}
const eddy_op_def plain_value = {
    .name = "Value",
    .outputs = 1,
    .flags = EDDY_OP_CONSTANT,
    .infer = value_infer,
    .attrs_size = sizeof(value_attrs),
    .attrs = (const eddy_attr_field[]){ { "value", EDDY_ATTR_ARRAY, 0 }, { 0 } },
};

/* y0 and y1 of x's type, or nothing out of anything. */
static bool pair_infer(eddy_infer *c)
{
    for (int i = 0; i < c->n_out; i++) c->out[i] = c->in[0];
    return true;
}
const eddy_op_def plain_pair = {
    .name = "Pair", .min_inputs = 1, .max_inputs = 1, .outputs = 2, .infer = pair_infer
};
const eddy_op_def plain_sink = {
    .name = "Sink", .max_inputs = EDDY_MANY, .flags = EDDY_OP_SIDE_EFFECT, .infer = pair_infer
};

static bool same_infer(eddy_infer *c)
{
    for (int i = 1; i < c->n_in; i++)
        if (c->in[i].dtype != c->in[0].dtype)
            return eddy_infer_fail(c, EDDY_BAD_DTYPE, "types of %d and 0 differ", i);
    c->out[0] = c->in[0];
    return true;
}
const eddy_op_def plain_same = {
    .name = "Same", .min_inputs = 1, .max_inputs = EDDY_MANY, .outputs = 1, .infer = same_infer };

static bool all_infer(eddy_infer *c)
{
    c->out[0] = (eddy_type){ EDDY_INT32, EDDY_UNKNOWN_SHAPE };
    return true;
}
const eddy_op_def plain_all = {
    .name = "All of them",
    .label = "all",
    .outputs = 1,
    .infer = all_infer,
    .attrs_size = sizeof(all_attrs),
    .attrs =
        (const eddy_attr_field[]){ { "i", EDDY_ATTR_INT, offsetof(all_attrs, i) },
                                   { "f", EDDY_ATTR_FLOAT, offsetof(all_attrs, f) },
                                   { "b", EDDY_ATTR_BOOL, offsetof(all_attrs, b) },
                                   { "s", EDDY_ATTR_STRING, offsetof(all_attrs, s) },
                                   { "d", EDDY_ATTR_DTYPE, offsetof(all_attrs, d) },
                                   { "shape", EDDY_ATTR_SHAPE, offsetof(all_attrs, shape) },
                                   { "dims", EDDY_ATTR_DIMS, offsetof(all_attrs, dims) },
                                   { "ints", EDDY_ATTR_INTS, offsetof(all_attrs, ints) },
                                   { "array", EDDY_ATTR_ARRAY, offsetof(all_attrs, array) },
                                   { "the graph", EDDY_ATTR_GRAPH, offsetof(all_attrs, graph) },
                                   { 0 } },
};

const eddy_op_def *const plain_ops[] = { &plain_source, &plain_value, &plain_pair, &plain_sink,
                                         &plain_same,   &plain_all,   NULL };

eddy_tensor plain_make_source(eddy_graph *g, const char *name, eddy_shape s)
{
    return eddy_apply(&plain_source, &(source_attrs){ EDDY_FLOAT32, s }, 0, NULL,
                      (eddy_apply_args){ g, name });
}

eddy_tensor plain_make_value(eddy_graph *g, const char *name, eddy_array *a)
{
    eddy_tensor t =
        eddy_apply(&plain_value, &(value_attrs){ a }, 0, NULL, (eddy_apply_args){ g, name });
    eddy_array_free(a);
    return t;
}

eddy_graph *plain_graph(const eddy_allocator *a, const eddy_files *files)
{
    eddy_graph *g = eddy_graph_new(.allocator = a, .files = files, .seed = -7);
    eddy_tensor x = plain_make_source(g, "x", EDDY_SHAPE(EDDY_ANY, 3));
    eddy_scope_begin(g, "layer1");
    eddy_tensor w = plain_make_value(g, "w", eddy_array_of(EDDY_FLOAT32, 0.1));
    eddy_device_begin(g, "/cpu:0");
    eddy_tensor p = eddy_apply1(&plain_pair, NULL, x);
    eddy_device_end(g);
    eddy_scope_end(g);
    eddy_control_begin(g, EDDY_LIST(p, w));
    eddy_tensor y = eddy_apply(&plain_same, NULL, 3, (eddy_tensor[]){ x, eddy_output(p, 1), w },
                               (eddy_apply_args){ NULL, "y" });
    eddy_control_end(g);
    eddy_tensor n = eddy_apply(&plain_sink, NULL, 1, &y, (eddy_apply_args){ NULL, "layer1/Sink" });
    eddy_set_shape(eddy_output(p, 1), EDDY_SHAPE(7, 3));
    eddy_collection_add(g, "train_op", n);
    eddy_collection_add(g, "my \"things\"", y);
    eddy_collection_add(g, "my \"things\"", eddy_output(p, 1));
    eddy_collection_add(g, "my \"things\"", y);
    return g;
}

const char plain_text[] =
    "format: eddy-graph\n"
    "version: 1\n"
    "seed: -7\n"
    "finalized: false\n"
    "nodes:\n"
    "- name: x\n"
    "  op: Source\n"
    "  attributes:\n"
    "    dtype: float32\n"
    "    shape: \"[?,3]\"\n"
    "  outputs: [\"float32[?,3]\"]\n"
    "- name: layer1/w\n"
    "  op: Value\n"
    "  attributes:\n"
    "    value:\n"
    "      type: \"float32[]\"\n"
    "      values: [0.1]\n"
    "  outputs: [\"float32[]\"]\n"
    "- name: layer1/Pair\n"
    "  op: Pair\n"
    "  inputs: [\"x:0\"]\n"
    "  device: \"/cpu:0\"\n"
    "  outputs: [\"float32[?,3]\", \"float32[7,3]\"]\n"
    "- name: \"y\"\n"
    "  op: Same\n"
    "  inputs: [\"x:0\", \"layer1/Pair:1\", \"layer1/w:0\"]\n"
    "  controls: [layer1/Pair, layer1/w]\n"
    "  outputs: [\"float32[?,3]\"]\n"
    "- name: layer1/Sink\n"
    "  op: Sink\n"
    "  inputs: [\"y:0\"]\n"
    "  outputs: []\n"
    "collections:\n"
    "- key: train_op\n"
    "  tensors:\n"
    "  - \"layer1/Sink:0\"\n"
    "- key: \"my \\\"things\\\"\"\n"
    "  tensors:\n"
    "  - \"y:0\"\n"
    "  - \"layer1/Pair:1\"\n"
    "  - \"y:0\"\n";

eddy_graph *plain_read(const char *text, const eddy_allocator *a, eddy_error *e)
{
    eddy_yaml_source s = {
        .path = "f", .text = text, .size = strlen(text), .ops = plain_ops, .allocator = a
    };
    return eddy__yaml_read(&s, e);
}
