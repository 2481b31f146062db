/* reducer.h -- the loops of one kind of reduction, for each of TYPES; included by
 * reduce_loops*.c.
 *
 *   A             the type of accumulators
 *   FIRST         their initial value
 *   LOAD(x)       the value of an element
 *   OP(a, b)      combines two accumulators
 *   VERSIONS      EDDY_CLONES_OF, or EDDY_BASE_OF where wider vectors gain nothing
 *   KIND(name)    names the loops
 *
 * All are undefined at the end. */
#define TEMPLATE "ops/kernels/reduction/reduce_loops.h"
#include "ops/kernels/for_types.h"
#undef A
#undef FIRST
#undef LOAD
#undef OP
#undef VERSIONS
