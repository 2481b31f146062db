/* onnx_node_models.h -- models of ONNX with the node of a case. */
#ifndef EDDY_TESTS_LIB_ONNX_NODE_MODELS_H
#define EDDY_TESTS_LIB_ONNX_NODE_MODELS_H

#include "tests/lib/files/node_cases.h"
#include "tests/lib/files/onnx_writer.h"

/* Attributes are 1; 1.0; [1,2]; [1.0,2.0]; 'text; {texts}; @i[1]_5, a tensor; %loop, one of the graphs
 * that the source lists. Inputs are x0, x1 ... and outputs y0, y1 ... */
message onnx_node_model(const node_case *c);

#endif
