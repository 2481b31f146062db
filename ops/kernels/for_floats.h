/* for_floats.h -- includes the header TEMPLATE for float and for double: see
 * ops/kernels/for_types.h.
 *
 * EDDY_CLONES_OF_FLOATS is EDDY_CLONES_OF, without loops for AVX-512 for double, which are not
 * worth their compilation in rare operations. */
#define EDDY_CLONES_OF_FLOATS EDDY_NAME(EDDY_CLONES_OF_FLOATS, SUFFIX)
#define EDDY_CLONES_OF_FLOATS_f32 EDDY_CLONES_OF
#define EDDY_CLONES_OF_FLOATS_f64 EDDY_CLONES_TO_AVX2_OF
#define TYPES FOR_FLOATS
#include "ops/kernels/for_types.h"
