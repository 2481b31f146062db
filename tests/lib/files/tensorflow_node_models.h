/* tensorflow_node_models.h -- models of TensorFlow with the node of a case. */
#ifndef EDDY_TESTS_LIB_TENSORFLOW_NODE_MODELS_H
#define EDDY_TESTS_LIB_TENSORFLOW_NODE_MODELS_H

#include "tests/lib/files/node_cases.h"
#include "tests/lib/files/tensorflow_writer.h"

/* Attributes are 1; true; 0.5; 'SAME; :int32, a type; [1,2]; <2,3>, a shape; (2&-1), shapes;
 * {Relu,Add}, texts. Inputs are x0, x1 ..., and the node is y. */
message tf_node_model(const node_case *c);
/* A constant or a placeholder; an attribute of a node, whose text is changed. */
message tf_tensor_node(const char *name, const case_tensor *t);
void    tf_add_attribute(message *node, char *text);

#endif
