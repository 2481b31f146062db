/* activation_functions.c -- activations with default options as functions of one tensor, for layers
 * that take a function pointer: a builder with options is a macro and has no address. */
#include "ops/short_names.h"

#ifdef EDDY_HEADER
/* The activations with default options, to be passed as a function: `.activation = eddy_gelu`. */
EDDY_API eddy_tensor (eddy_celu)(eddy_tensor x);
EDDY_API eddy_tensor (eddy_crelu)(eddy_tensor x);
EDDY_API eddy_tensor (eddy_gelu)(eddy_tensor x);
EDDY_API eddy_tensor (eddy_glu)(eddy_tensor x);
EDDY_API eddy_tensor (eddy_hard_shrink)(eddy_tensor x);
EDDY_API eddy_tensor (eddy_hard_sigmoid)(eddy_tensor x);
EDDY_API eddy_tensor (eddy_hard_tanh)(eddy_tensor x);
EDDY_API eddy_tensor (eddy_leaky_relu)(eddy_tensor x);
EDDY_API eddy_tensor (eddy_log_softmax)(eddy_tensor x);
EDDY_API eddy_tensor (eddy_soft_shrink)(eddy_tensor x);
EDDY_API eddy_tensor (eddy_softmax)(eddy_tensor x);
#endif

eddy_tensor (eddy_celu)(eddy_tensor x) { return eddy_celu(.x = x); }
eddy_tensor (eddy_crelu)(eddy_tensor x) { return eddy_crelu(.x = x); }
eddy_tensor (eddy_gelu)(eddy_tensor x) { return eddy_gelu(.x = x); }
eddy_tensor (eddy_glu)(eddy_tensor x) { return eddy_glu(.x = x); }
eddy_tensor (eddy_hard_shrink)(eddy_tensor x) { return eddy_hard_shrink(.x = x); }
eddy_tensor (eddy_hard_sigmoid)(eddy_tensor x) { return eddy_hard_sigmoid(.x = x); }
eddy_tensor (eddy_hard_tanh)(eddy_tensor x) { return eddy_hard_tanh(.x = x); }
eddy_tensor (eddy_leaky_relu)(eddy_tensor x) { return eddy_leaky_relu(.x = x); }
eddy_tensor (eddy_log_softmax)(eddy_tensor x) { return eddy_log_softmax(.x = x); }
eddy_tensor (eddy_soft_shrink)(eddy_tensor x) { return eddy_soft_shrink(.x = x); }
eddy_tensor (eddy_softmax)(eddy_tensor x) { return eddy_softmax(.x = x); }
