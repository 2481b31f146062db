/* onnx_writer.h -- writes protobuf messages, to make ONNX models for tests. */
#ifndef EDDY_TESTS_ONNX_WRITER_H
#define EDDY_TESTS_ONNX_WRITER_H

#include <stddef.h>
#include <stdint.h>

/* A message that grows; zero-initialize it. Functions that take a message by value free it. */
typedef struct message {
    uint8_t *at;
    size_t   size;
} message;

void message_free(message *m);
/* Append to the bytes of a message, which need not be protobuf. */
void message_put(message *m, const void *p, size_t n);
void message_put_text(message *m, const char *s);
void message_put_number(message *m, uint64_t v, int bytes);    /* little-endian */

/* Append a field. */
void message_number(message *m, uint32_t field, uint64_t value);
void message_float(message *m, uint32_t field, float value);
void message_bytes(message *m, uint32_t field, const void *data, size_t size);
void message_text(message *m, uint32_t field, const char *s);
void message_inner(message *m, uint32_t field, message inner);

/* The names are separated by commas; a node has no attributes at first. */
message onnx_node_message(const char *op, const char *inputs, const char *outputs);
message onnx_int_attribute(const char *name, int64_t value);
message onnx_float_attribute(const char *name, float value);
message onnx_ints_attribute(const char *name, int n, const int64_t *values);
message onnx_graph_attribute(const char *name, message graph);
/* Adds an attribute to a node. */
void    onnx_add_attribute(message *node, message attribute);

/* A TensorProto with raw data, of ONNX's type number. */
message onnx_tensor_message(const char *name, int type, int rank, const int64_t *dims, const void *data, size_t size);
message onnx_floats(const char *name, int n, const float *x);
message onnx_int64s(const char *name, int n, const int64_t *x);
/* A ValueInfoProto; a negative dimension has a name. rank -1: no shape. */
message onnx_value_message(const char *name, int type, int rank, const int64_t *dims);

/* Fields of a GraphProto. */
enum { GRAPH_NODE = 1, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
/* A model of this operator set. */
message onnx_model_message(message graph, int opset);

#endif
