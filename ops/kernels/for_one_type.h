/* for_one_type.h -- includes TEMPLATE for the type SUFFIX, which is undefined at the end; a part
 * of ops/kernels/for_types.h. */
#define T     EDDY_COLUMN(ELEMENT, SUFFIX)
#define TOTAL EDDY_OF_KIND(EDDY_TOTAL, SUFFIX)

#if EDDY_OF_KIND(EDDY_KIND, SUFFIX) == EDDY_KIND_FLOATING
#define NUMBER  EDDY_SIGNED(EDDY_COLUMN(BITS, SUFFIX))
#define LOWEST  ((T)-INFINITY)
#define HIGHEST ((T)INFINITY)
#elif EDDY_OF_KIND(EDDY_KIND, SUFFIX) == EDDY_KIND_INTEGER || \
      EDDY_OF_KIND(EDDY_KIND, SUFFIX) == EDDY_KIND_BOOLEAN
#define LOWEST  EDDY_COLUMN(LOWEST, SUFFIX)
#define HIGHEST EDDY_COLUMN(HIGHEST, SUFFIX)
#endif

#include TEMPLATE

#undef T
#undef TOTAL
#undef NUMBER
#undef LOWEST
#undef HIGHEST
#undef SUFFIX
