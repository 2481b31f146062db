/* reader.h -- the state of one reading: what the files that drive it share. */
#ifndef EDDY_FORMATS_ONNX_READER_H
#define EDDY_FORMATS_ONNX_READER_H

#include "build.h"

typedef struct onnx_name {
    const char *name;
    onnx_value *value;
} onnx_name;

/* The names of one graph or function. */
struct onnx_scope {
    onnx_scope        *outer;       /* the graph around a subgraph; NULL for the main graph and functions */
    onnx_name         *names;       /* a hash table of `room` entries, a power of two */
    size_t             used, room;
    const onnx_import *imports;
    size_t             n_imports;
    const onnx_function *function;  /* of a call, whose attributes are call's, in scope caller */
    const onnx_node   *call;
    onnx_scope        *caller;
    const char        *place;       /* before "node 3": "", "node 7 'loop' body " */
    int                depth;
};

/* A file of external data. */
typedef struct onnx_external {
    struct onnx_external *next;
    const char           *location;
    source               *file;
} onnx_external;

struct onnx_reader {
    reading          base;
    eddy_onnx_args   options;
    onnx_file        model;
    onnx_scope      *main;
    onnx_external   *external;
    eddy_onnx_model *made;          /* the result */
};

enum { ONNX_MAX_DEPTH = 32 };

onnx_value *eddy__onnx_lookup(const onnx_scope *s, const char *name);
bool        eddy__onnx_define(onnx_reader *r, onnx_scope *s, const char *name, onnx_value *v);
onnx_scope *eddy__onnx_scope(onnx_reader *r, onnx_scope *outer, const char *place);

/* Builds nodes of a scope; false if reading is over. */
bool eddy__onnx_nodes(onnx_reader *r, onnx_scope *s, const onnx_node *nodes, size_t count);
/* The initializers of a graph, as weights of the scope. */
bool eddy__onnx_weights(onnx_reader *r, onnx_scope *s, const onnx_graph *g);
/* The elements of a tensor of the file; NULL with the error of the reader. It is kept until the
 * reader is freed. */
eddy_array *eddy__onnx_elements(onnx_reader *r, onnx_tensor *t);
/* A value for a TensorProto or SparseTensorProto: a weight, or strings. NULL with the error. */
onnx_value *eddy__onnx_tensor_value(onnx_reader *r, onnx_tensor *t);
onnx_value *eddy__onnx_sparse_value(onnx_reader *r, onnx_sparse *t);
/* The known elements of integer outputs. */
void        eddy__onnx_propagate(onnx_build *b);
/* Records the first error of the reader, with the path; returns false. */
bool        eddy__onnx_error(onnx_reader *r, eddy_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An input or output of the model. */
typedef struct onnx_port {
    const char  *name;
    int          type;
    eddy_tensor *tensors;
    int          count;
    bool         single;            /* a tensor, not a sequence */
} onnx_port;

struct eddy_onnx_model {
    region      memory;             /* of the reader */
    onnx_scope *main;
    onnx_port  *inputs, *outputs;
    int         n_inputs, n_outputs;
};

/* Releases everything; the reader may be zeroed. */
void        eddy__onnx_close(onnx_reader *r);

#endif
