/* reduce_loops_prod.c -- the loops of the product reduction. */
#include "ops/kernels/reduction/reduce_tables.h"

/* Vector instructions have no 64-bit products, and complex products may need a correction for
 * infinities. */
#define VERSIONS_FLOATING EDDY_CLONES_OF
#define VERSIONS_INTEGER  EDDY_BASE_OF
#define VERSIONS_COMPLEX  EDDY_BASE_OF

#define KIND(name) prod_##name
#define TYPES      FOR_NUMBERS_COMPLEX
#define A          TOTAL
#define FIRST      1
#define LOAD(x)    (x)
#define OP(a, b)   ((a) * (b))
#define VERSIONS   EDDY_OF_KIND(VERSIONS, SUFFIX)
#include "ops/kernels/reduction/reducer.h"

FOR_NUMBERS_COMPLEX(FINISH_TOTAL, store, a)

#define ENTRY_BASE(suffix, s) ENTRY_TOTAL(suffix, prod, store, _base)
#define PROD(s) \
    { \
        FOR_FLOATS(ENTRY_TOTAL, prod, store, s) \
        FOR_INTEGERS(ENTRY_BASE, s) FOR_COMPLEX(ENTRY_BASE, s) \
    }
const eddy_fold eddy__fold_prod = { EACH_SET(PROD) };
