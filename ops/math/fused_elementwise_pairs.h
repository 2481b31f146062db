/* fused_elementwise_pairs.h -- fused pairs of elementwise operations, which a session puts into its
 * plans. */
#ifndef EDDY_OPS_MATH_FUSED_ELEMENTWISE_PAIRS_H
#define EDDY_OPS_MATH_FUSED_ELEMENTWISE_PAIRS_H

#include "graph/op.h"

/* An operation on (left, right); the first one is add, sub or mul. */
enum { EDDY_PAIR_ADD, EDDY_PAIR_SUB, EDDY_PAIR_MUL, EDDY_PAIR_SUB_FROM, EDDY_PAIR_DIV,
       EDDY_PAIR_DIV_INTO };

/* _Pair of (a, b, c): y = (a first b) second c. */
typedef struct eddy_pair_attrs {
    int64_t first, second;
} eddy_pair_attrs;

#endif
