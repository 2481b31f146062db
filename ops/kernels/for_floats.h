/* for_floats.h -- includes the header TEMPLATE for float and for double: see
 * ops/kernels/for_types.h. */
#define TYPES FOR_FLOATS
#include "ops/kernels/for_types.h"
