/* subgraphs.h -- the graphs of Loop and If. */
#ifndef EDDY_FORMATS_ONNX_SUBGRAPHS_H
#define EDDY_FORMATS_ONNX_SUBGRAPHS_H

#include "../writer.h"
#include "../rules.h"

/* A name for an input of a subgraph of the node. */
const char *eddy__inner_graph_name(onnx_part *p, const char *what);
/* Adds an input, or an output, which is a copy of a value. */
const char *eddy__inner_graph_input(onnx_part *p, message *head, const char *what, eddy_type t);
void        eddy__inner_graph_output(onnx_part *p, message *head, const char *value, eddy_type t);
/* Begins a subgraph among the nodes of the innermost scope; these are the caller's to keep. */
message     eddy__inner_graph_begin(onnx_part *p);
/* The nodes since then with these inputs and outputs, which are freed; the kept nodes return. */
message     eddy__inner_graph_end(onnx_part *p, message *head, message kept);

#endif
