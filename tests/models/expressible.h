/* expressible.h -- which tensors a model can have that ONNX's checker accepts and ONNX Runtime runs. */
#ifndef EDDY_TESTS_MODELS_EXPRESSIBLE_H
#define EDDY_TESTS_MODELS_EXPRESSIBLE_H

#include "formats.h"

/* Counts what it refuses. */
bool is_expressible(eddy_tensor t);
/* One line for each reason: how many tensors it has cost. */
void print_exclusions(void);

#endif
