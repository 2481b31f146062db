/* onnx_node_models.h -- models of ONNX with the node of a case. */
#ifndef EDDY_TESTS_LIB_ONNX_NODE_MODELS_H
#define EDDY_TESTS_LIB_ONNX_NODE_MODELS_H

#include "tests/lib/files/node_cases.h"
#include "tests/lib/files/onnx_writer.h"

/* Attributes are 1; 1.0; [1,2]; [1.0,2.0]; 'text; {texts}; @i[1]_5, a tensor; %loop, one of the graphs
 * that the source lists; $name, the attribute of the function around it. Inputs are x0, x1 ... and
 * outputs y0, y1 ... */
message onnx_node_model(const node_case *c);

/* Adds nodes: "Add a,b>c axis=0 broadcast=1;domain:Operator c>d". A Constant without attributes is
 * 2. "=name f[2]_1_2" is an initializer. */
void    onnx_text_nodes(message *g, uint32_t field, const char *nodes);
/* A graph of these inputs, separated by semicolons, and nodes. */
message onnx_text_graph(const char *inputs, const char *nodes, int outputs);

#endif
