/* chain_sets.h -- chain_loops.h for each instruction set, for one element type, T: a template of
 * ops/kernels/for_floats.h. */

/* Element i of the product of two operands of a step. */
EDDY_INLINE T NAME(chain_product)(const void *const *x, int64_t i, uint64_t s)
{
    return ((const T *)x[eddy__chain_operand(s)])[i] * ((const T *)x[eddy__chain_factor(s)])[i];
}

/* Element i of a chain. */
EDDY_INLINE T NAME(chain_value)(const void *const *x, int64_t i, uint64_t s)
{
    T a = ((const T *)x[0])[i];
    for (; s > 0; s >>= EDDY_CHAIN_BITS) {
        const T b = ((const T *)x[eddy__chain_operand(s)])[i];
        switch (eddy__chain_op(s)) {
        case EDDY_CHAIN_ADD_PRODUCT: a = a + NAME(chain_product)(x, i, s); break;
        case EDDY_CHAIN_SUB_PRODUCT: a = a - NAME(chain_product)(x, i, s); break;
        case EDDY_CHAIN_SUB_FROM_PRODUCT: a = NAME(chain_product)(x, i, s) - a; break;
        case EDDY_CHAIN_DIV_INTO_PRODUCT: a = NAME(chain_product)(x, i, s) / a; break;
        case EDDY_CHAIN_ADD: a = a + b; break;
        case EDDY_CHAIN_SUB: a = a - b; break;
        case EDDY_CHAIN_SUB_FROM: a = b - a; break;
        case EDDY_CHAIN_MUL: a = a * b; break;
        case EDDY_CHAIN_DIV: a = a / b; break;
        case EDDY_CHAIN_DIV_INTO: a = b / a; break;
        case EDDY_CHAIN_MIN: a = b < a || b != b ? b : a; break;
        case EDDY_CHAIN_MAX: a = b > a || b != b ? b : a; break;
        case EDDY_CHAIN_NEG: a = -a; break;
        case EDDY_CHAIN_SQUARE: a = a * a; break;
        default: a = sqrt(a); break;
        }
    }
    return a;
}

#define SET    base
#define WIDTH  16
#define TARGET
#include "ops/kernels/elementwise/chain_loops.h"
#if defined(__x86_64__)
#define SET    avx2
#define WIDTH  32
#define TARGET EDDY_TARGET_AVX2
#include "ops/kernels/elementwise/chain_loops.h"
#define SET    avx512
#define WIDTH  64
#define TARGET EDDY_TARGET_AVX512
#include "ops/kernels/elementwise/chain_loops.h"
#endif
