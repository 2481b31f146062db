/* model.h -- the graph of a TensorFlow file as structs, which live in a region: the same for
 * protobuf and for the JSON of TensorFlow.js. Strings are copies; tensors are views of the file. */
#ifndef EDDY_FORMATS_TENSORFLOW_MODEL_H
#define EDDY_FORMATS_TENSORFLOW_MODEL_H

#include "../../autodiff/functions.h"
#include "../region.h"
#include "../source.h"

/* types.proto: DataType. */
typedef enum tf_type {
    TF_NO_TYPE, TF_FLOAT, TF_DOUBLE, TF_INT32, TF_UINT8, TF_INT16, TF_INT8, TF_STRING, TF_COMPLEX64,
    TF_INT64, TF_BOOL, TF_QINT8, TF_QUINT8, TF_QINT32, TF_BFLOAT16, TF_QINT16, TF_QUINT16,
    TF_UINT16, TF_COMPLEX128, TF_HALF, TF_RESOURCE, TF_VARIANT, TF_UINT32, TF_UINT64, TF_TYPES
} tf_type;

typedef struct tf_tensor {
    int         type;           /* tf_type, unchecked */
    eddy_shape  shape;
    int         rank;           /* in the file: above EDDY_MAX_RANK, shape has no more */
    wire_bytes  content;        /* little-endian elements, if has_content */
    bool        has_content;
    wire_numbers numbers;       /* or the elements as they are written, so many; the last one */
    size_t      count;          /* stands for all that follow */
    eddy_array *array;          /* its elements, once they are read; the reader's */
} tf_tensor;

typedef enum tf_attr_kind {
    TF_ATTR_NONE, TF_ATTR_TEXT, TF_ATTR_INT, TF_ATTR_FLOAT, TF_ATTR_BOOL, TF_ATTR_TYPE,
    TF_ATTR_SHAPE, TF_ATTR_TENSOR, TF_ATTR_FUNCTION, TF_ATTR_LIST
} tf_attr_kind;

typedef struct tf_attr {
    const char  *name;
    tf_attr_kind kind;
    const char  *text;          /* of TEXT; the name of a FUNCTION */
    int64_t      i;             /* of INT, BOOL and TYPE */
    double       f;
    eddy_shape   shape;
    tf_tensor   *tensor;
    int64_t     *ints;          /* of a LIST of integers, booleans or types */
    const char **texts;         /* of texts or functions */
    eddy_shape  *shapes;
    size_t       n_ints, n_texts, n_shapes;
} tf_attr;

typedef struct tf_node {
    const char  *name, *op;
    const char **inputs;        /* "x", "x:1", "x:out:0" in functions; "^x": a control input */
    size_t       n_inputs;
    tf_attr     *attrs;
    size_t       n_attrs;
    int64_t      offset;        /* in the file, bytes */
} tf_node;

/* The main graph, or the body of a function. */
typedef struct tf_graph {
    const char  *name;          /* of a function; "" for the main graph */
    tf_node     *nodes;
    size_t       n_nodes;
    const char **args;          /* names of the arguments of a function */
    size_t       n_args;
    const char **results;       /* for each result, the value that is returned: "x:out:0" */
    size_t       n_results;
} tf_graph;

/* An input or output of a signature. */
typedef struct tf_port {
    const char *key, *tensor;   /* "x", "serving_default_x:0" */
    eddy_shape  shape;
} tf_port;

typedef struct tf_signature {
    const char *name;
    tf_port    *inputs, *outputs;
    size_t      n_inputs, n_outputs;
} tf_signature;

typedef struct tf_file {
    tf_graph      main;
    tf_graph     *functions;
    size_t        n_functions;
    tf_signature *signatures;
    size_t        n_signatures;
    bool          saved_model;
} tf_file;

/* Parses a GraphDef, or a SavedModel, whose first graph with the tag "serve" is taken, else its
 * first graph. False if the bytes are damaged, with the damaged place in *at, or if out of memory
 * (region->full). */
bool eddy__tf_parse(region *r, wire_bytes b, tf_file *file, const uint8_t **at);

#endif
