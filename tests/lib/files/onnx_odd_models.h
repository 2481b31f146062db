/* onnx_odd_models.h -- parts of ONNX models that ordinary ones do not have, and what a model gives. */
#ifndef EDDY_TESTS_LIB_ONNX_ODD_MODELS_H
#define EDDY_TESTS_LIB_ONNX_ODD_MODELS_H

#include "tests/lib/files/onnx_node_models.h"

/* A function of the domain "local": its nodes (onnx_text_nodes), and a default of an attribute. */
typedef struct onnx_function_text {
    const char *name, *inputs, *outputs, *nodes, *default_name;
    float       default_value;
} onnx_function_text;

/* For field 25 of a model. */
message onnx_text_function(const onnx_function_text *t, int opset);

/* A SparseTensorProto y0 with 5 and 6 in [2, columns]. */
message onnx_sparse_message(message indices, int64_t columns);
/* Models whose initializer of this kind is the output y0. */
message onnx_sparse_model(message sparse);
/* It is the attribute of a Constant. */
message onnx_sparse_constant(message sparse);
message onnx_tensor_model(message tensor);

/* A model whose input x has a type in this field of TypeProto: 1 a tensor of 9 dimensions, 4 a
 * sequence of floats, 9 an optional one, 5 and 8 what Eddy lacks; or an optional sequence. y is its
 * length, or x itself. */
enum { ONNX_OPTIONAL_SEQUENCE = 94 };
message onnx_typed_model(uint32_t field);

/* A model whose node Tanh, from x to y, has this name. */
message onnx_named_model(const char *name);

/* Reads the model, which must have these n elements in y0, or must be refused with a message that
 * contains `says`. Input x0, if there is one, is 2, -2. Frees the message. */
void onnx_expect(message model, int n, const double *want, const char *says);

#endif
