/* model.h -- the messages of an ONNX file as structs, which live in a region. Strings are copies;
 * weights and lists of raw bytes are views of the file. */
#ifndef EDDY_FORMATS_ONNX_MODEL_H
#define EDDY_FORMATS_ONNX_MODEL_H

#include "../region.h"
#include "../source.h"

/* TensorProto.DataType. */
typedef enum onnx_type {
    ONNX_UNDEFINED, ONNX_FLOAT, ONNX_UINT8, ONNX_INT8, ONNX_UINT16, ONNX_INT16, ONNX_INT32,
    ONNX_INT64, ONNX_STRING, ONNX_BOOL, ONNX_FLOAT16, ONNX_DOUBLE, ONNX_UINT32, ONNX_UINT64,
    ONNX_COMPLEX64, ONNX_COMPLEX128, ONNX_BFLOAT16, ONNX_FLOAT8E4M3FN, ONNX_FLOAT8E4M3FNUZ,
    ONNX_FLOAT8E5M2, ONNX_FLOAT8E5M2FNUZ, ONNX_UINT4, ONNX_INT4, ONNX_TYPES
} onnx_type;

typedef struct onnx_tensor {
    const char *name;
    int64_t    *dims;
    size_t      rank;
    int         type;           /* onnx_type, unchecked */
    wire_bytes  raw;            /* little-endian elements, if has_raw */
    bool        has_raw;
    wire_numbers numbers;       /* or the elements as they are written, */
    size_t      count;          /* so many */
    wire_bytes *strings;        /* count of them */
    bool        external;
    const char *location;       /* a path within the folder of the file */
    int64_t     offset, length; /* length -1: to the end */
    const uint8_t *at;          /* where its message begins */
    eddy_array *array;          /* its elements, once they are read; the reader's */
} onnx_tensor;

typedef struct onnx_sparse {
    onnx_tensor values, indices;
    int64_t    *dims;
    size_t      rank;
} onnx_sparse;

typedef enum onnx_kind {
    ONNX_NO_TYPE, ONNX_TENSOR, ONNX_SEQUENCE, ONNX_MAP, ONNX_SPARSE_TENSOR = 8, ONNX_OPTIONAL
} onnx_kind;

/* The type of a value: of an element of a sequence or an optional value, their elements'. */
typedef struct onnx_info {
    const char *name;
    onnx_kind   kind, element_kind;
    int         type;
    eddy_shape  shape;          /* unknown rank if the file says nothing */
} onnx_info;

typedef struct onnx_graph onnx_graph;

typedef struct onnx_attr {
    const char  *name, *ref;    /* ref: the attribute of the function that it stands for, or NULL */
    double       f;
    int64_t      i;
    wire_bytes   s;
    onnx_tensor *t;
    onnx_graph  *g;
    onnx_sparse *sparse;
    double      *floats;
    int64_t     *ints;
    wire_bytes  *strings;
    size_t       n_floats, n_ints, n_strings;
} onnx_attr;

typedef struct onnx_node {
    const char  *op, *domain, *name;
    const char **inputs, **outputs;     /* "" where one is left out */
    size_t       n_inputs, n_outputs;
    onnx_attr   *attrs;
    size_t       n_attrs;
    const uint8_t *at;
} onnx_node;

struct onnx_graph {
    onnx_node   *nodes;
    onnx_tensor *initializers;
    onnx_sparse *sparse;
    onnx_info   *inputs, *outputs;
    size_t       n_nodes, n_initializers, n_sparse, n_inputs, n_outputs;
};

typedef struct onnx_import {
    const char *domain;
    int64_t     version;
} onnx_import;

typedef struct onnx_function {
    const char  *name, *domain;
    const char **inputs, **outputs;
    size_t       n_inputs, n_outputs;
    onnx_attr   *defaults;              /* of its attributes */
    size_t       n_defaults;
    onnx_node   *nodes;
    size_t       n_nodes;
    onnx_import *imports;
    size_t       n_imports;
} onnx_function;

typedef struct onnx_file {
    onnx_import   *imports;
    size_t         n_imports;
    onnx_graph    *graph;               /* NULL if there is none */
    onnx_function *functions;
    size_t         n_functions;
} onnx_file;

/* Parse a ModelProto or TensorProto. False if the bytes are damaged, with the damaged
 * place in *at, or if out of memory (region->full). */
bool eddy__onnx_parse(region *r, wire_bytes b, onnx_file *file, const uint8_t **at);
bool eddy__onnx_parse_tensor(region *r, wire_bytes b, onnx_tensor *t);

#endif
