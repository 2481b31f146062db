/* tensorflow_writer.h -- writes models and checkpoints of TensorFlow for tests. */
#ifndef EDDY_TESTS_TENSORFLOW_WRITER_H
#define EDDY_TESTS_TENSORFLOW_WRITER_H

#include "tests/lib/files/onnx_writer.h"
#include "graph/graph.h"

enum { TF_GRAPH_NODE = 1, TF_GRAPH_LIBRARY = 2 };      /* fields of GraphDef */

/* A NodeDef; inputs are separated by commas. */
message tf_node_message(const char *name, const char *op, const char *inputs);
/* Add an attribute to a node. */
void tf_add_int(message *node, const char *name, int64_t value);
void tf_add_float(message *node, const char *name, float value);
void tf_add_flag(message *node, const char *name, bool value);
void tf_add_text(message *node, const char *name, const char *value);
void tf_add_type(message *node, const char *name, int type);
void tf_add_shape(message *node, const char *name, int rank, const int64_t *dims);
/* Of rank 0 or 1: "&-1" is a scalar and a vector of any size. */
void tf_add_shapes(message *node, const char *name, const char *sizes);
void tf_add_function(message *node, const char *name, const char *function);
void tf_add_functions(message *node, const char *name, const char *functions);   /* "f&g" */
void tf_add_ints(message *node, const char *name, int n, const int64_t *values);

void tf_add_texts(message *node, const char *name, const char *texts);      /* separated by commas */

/* A Placeholder of float32, and constants. rank -1: no dimensions, a scalar. */
message tf_input_message(const char *name, int rank, const int64_t *dims);
message tf_floats_message(const char *name, int rank, const int64_t *dims, const float *x);
message tf_ints_message(const char *name, int rank, const int64_t *dims, const int32_t *x);
/* A constant of so many elements, of which `field` of the tensor has these bytes. */
message tf_constant_message(const char *name, int type, uint64_t count, uint32_t field,
                            const void *bytes, size_t n);
/* The same of elements of any type, of so many bytes each. */
message tf_const_message(const char *name, int type, size_t element, int rank, const int64_t *dims,
                         const void *x);

/* A FunctionDef of float32 values, without nodes; "name" lists are separated by commas, and the
 * results return these values. Add nodes with field TF_FUNCTION_NODE. */
enum { TF_FUNCTION_NODE = 3 };
message tf_function_message(const char *name, const char *args, const char *results);
/* Adds functions, messages of `functions`, to a graph. */
void    tf_add_library(message *graph, message *functions, int n);

/* A SavedModel with one signature "serving_default"; inputs and outputs are "key=tensor" lists. */
message tf_saved_model_message(message graph, const char *inputs, const char *outputs);

/* A checkpoint: the index and the elements of tensors. */
typedef struct tf_bundle {
    message index, data;
} tf_bundle;
typedef struct tf_bundle_entry {
    const char       *name;             /* sorted */
    int               type;             /* 7: a text */
    const eddy_array *array;
    const char       *text;
    size_t            text_size;
} tf_bundle_entry;
tf_bundle tf_bundle_of(const tf_bundle_entry *entries, int n);
void      tf_bundle_free(tf_bundle *b);
/* An index with these pairs, the bytes of one block, which it names so many times. */
message   tf_table_of(message pairs, int times);

#endif
