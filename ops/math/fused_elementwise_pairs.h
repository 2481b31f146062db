/* fused_elementwise_pairs.h -- fused pairs of elementwise operations, which a session puts into its
 * plans. */
#ifndef EDDY_OPS_MATH_FUSED_ELEMENTWISE_PAIRS_H
#define EDDY_OPS_MATH_FUSED_ELEMENTWISE_PAIRS_H

#include "graph/op.h"

/* An operation on (left, right). */
enum { EDDY_PAIR_ADD, EDDY_PAIR_SUB, EDDY_PAIR_MUL, EDDY_PAIR_MIN, EDDY_PAIR_MAX,
       EDDY_PAIR_SUB_FROM, EDDY_PAIR_DIV, EDDY_PAIR_DIV_INTO };

/* _Pair of (a, b, c): y = (a first b) second c. */
typedef struct eddy_pair_attrs {
    int64_t first, second;
} eddy_pair_attrs;

/* Whether there is a loop for the two: arithmetic after a sum, a difference or a product, and a minimum
 * and a maximum, as in a clip. */
static inline bool eddy__pair_exists(eddy_pair_attrs p)
{
    const bool limits = p.second == EDDY_PAIR_MIN || p.second == EDDY_PAIR_MAX;
    if (p.first < 0 || p.first > EDDY_PAIR_MAX || p.second < 0 || p.second > EDDY_PAIR_DIV_INTO)
        return false;
    if (p.first <= EDDY_PAIR_MUL) return !limits;
    return limits && p.first != p.second;
}

/* _Choice of (a, b, c, d): y = c where a is less than b, at most b, or equal to b, else d. */
enum { EDDY_CHOICE_LESS, EDDY_CHOICE_AT_MOST, EDDY_CHOICE_EQUAL };

typedef struct eddy_choice_attrs {
    int64_t test;
} eddy_choice_attrs;

#endif
