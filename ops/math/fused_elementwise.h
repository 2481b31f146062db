/* fused_elementwise.h -- fused elementwise operations, which a session puts into its plans. */
#ifndef EDDY_OPS_MATH_FUSED_ELEMENTWISE_H
#define EDDY_OPS_MATH_FUSED_ELEMENTWISE_H

#include "graph/op.h"

/* A step of a chain: the value so far and an operand b, or the product of two, make the next value.
 * DIV_INTO is b divided by the value; the last three have no operand. */
typedef enum eddy_chain_op {
    EDDY_CHAIN_END,
    EDDY_CHAIN_ADD_PRODUCT, EDDY_CHAIN_SUB_PRODUCT, EDDY_CHAIN_SUB_FROM_PRODUCT,
    EDDY_CHAIN_DIV_INTO_PRODUCT,
    EDDY_CHAIN_ADD, EDDY_CHAIN_SUB, EDDY_CHAIN_SUB_FROM, EDDY_CHAIN_DIV_INTO, EDDY_CHAIN_MUL,
    EDDY_CHAIN_DIV, EDDY_CHAIN_MIN, EDDY_CHAIN_MAX,
    EDDY_CHAIN_NEG, EDDY_CHAIN_SQUARE, EDDY_CHAIN_SQRT, EDDY_CHAIN_OPS
} eddy_chain_op;

/* A step takes EDDY_CHAIN_BITS bits: its operation, above it the number of its operand, and above
 * that one the number of the other factor of a product. */
enum { EDDY_CHAIN_BITS = 10, EDDY_CHAIN_MOST = 6, EDDY_CHAIN_OPERANDS = 5 };

/* _Chain of (a, ...): y is the value after all steps, the first of which begins with a; steps has
 * the first in its lowest bits. */
typedef struct eddy_chain_attrs {
    int64_t steps;
} eddy_chain_attrs;

/* Of the step in the lowest bits. */
static inline int eddy__chain_op(uint64_t steps) { return (int)(steps & 15); }
static inline int eddy__chain_operand(uint64_t steps) { return (int)(steps >> 4 & 7); }
static inline int eddy__chain_factor(uint64_t steps) { return (int)(steps >> 7 & 7); }

/* The number of operands of a step. */
static inline int eddy__chain_reads(int op)
{
    return op <= EDDY_CHAIN_DIV_INTO_PRODUCT ? 2 : op < EDDY_CHAIN_NEG ? 1 : 0;
}

/* Whether some step divides or takes a root. */
bool eddy__chain_is_slow(const eddy_chain_attrs *c);

/* _Choice of (a, b, c, d): y = c where a is less than b, at most b, or equal to b, else d. */
enum { EDDY_CHOICE_LESS, EDDY_CHOICE_AT_MOST, EDDY_CHOICE_EQUAL };

typedef struct eddy_choice_attrs {
    int64_t test;
} eddy_choice_attrs;

#endif
