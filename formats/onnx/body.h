/* body.h -- subgraphs that Eddy builds as branches and bodies of loops. */
#ifndef EDDY_FORMATS_ONNX_BODY_H
#define EDDY_FORMATS_ONNX_BODY_H

#include "build.h"

/* The data of a body while Eddy builds it. */
typedef struct onnx_body {
    onnx_build       *b;
    const onnx_graph *g;
    const char       *what;
    const int        *types;            /* of the tensors among its inputs */
    int               carried;          /* values that it carries; the others are stacked */
    bool              counts; /* of Loop: its first two inputs are the number and the condition */
    bool              conditional;      /* ... and the condition is a loop variable */
    int               out_types[EDDY_MAX_RESULTS];
} onnx_body;

/* Builds the weights of floats around a subgraph that its nodes read, before Eddy builds the body:
 * a weight that a body is the first to use would belong to it alone, and other uses would have none
 * of its gradient. */
void eddy__onnx_build_captured(onnx_build *b, const onnx_graph *g);

/* Builds the subgraph on these values and stores its tensors in y, room for EDDY_MAX_RESULTS;
 * returns their number, 0 on a failure. */
int eddy__onnx_build_body(onnx_body *c, onnx_value *const *in, eddy_tensor *y);

#endif
