/* own_operations.h -- operations that a program could define, and how they are written as ONNX. */
#ifndef EDDY_TESTS_LIB_OWN_OPERATIONS_H
#define EDDY_TESTS_LIB_OWN_OPERATIONS_H

#include "formats.h"

/* scale x^power, of float32. */
eddy_tensor own_power(eddy_tensor x, double scale, int64_t power);
/* The least and the largest of all elements; the largest is output 1. */
eddy_tensor own_extremes(eddy_tensor x);
/* own_power(own_power(x, 1, 2), 3, 1): its function calls another one. */
eddy_tensor own_square(eddy_tensor x);

extern const eddy_onnx_operator own_operators[];
extern const int                own_operator_count;

#endif
