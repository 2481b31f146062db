/* fused_elementwise_pairs.h -- fused pairs of elementwise operations, which a session puts into its
 * plans. */
#ifndef EDDY_OPS_MATH_FUSED_ELEMENTWISE_PAIRS_H
#define EDDY_OPS_MATH_FUSED_ELEMENTWISE_PAIRS_H

#include "graph/op.h"

/* An operation on (left, right); the first one is at most EDDY_PAIR_MAX. */
enum { EDDY_PAIR_ADD, EDDY_PAIR_SUB, EDDY_PAIR_MUL, EDDY_PAIR_MIN, EDDY_PAIR_MAX,
       EDDY_PAIR_SUB_FROM, EDDY_PAIR_DIV, EDDY_PAIR_DIV_INTO };

/* _Pair of (a, b, c): y = (a first b) second c. */
typedef struct eddy_pair_attrs {
    int64_t first, second;
} eddy_pair_attrs;

/* _Choice of (a, b, c, d): y = c where a is less than b, at most b, or equal to b, else d. */
enum { EDDY_CHOICE_LESS, EDDY_CHOICE_AT_MOST, EDDY_CHOICE_EQUAL };

typedef struct eddy_choice_attrs {
    int64_t test;
} eddy_choice_attrs;

#endif
