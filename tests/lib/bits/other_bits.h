/* other_bits.h -- the operations whose bits depend on more than their inputs, as in the table of
 * docs/guide/bits.md. All others give the same bits on any two machines. */
#ifndef EDDY_TESTS_LIB_OTHER_BITS_H
#define EDDY_TESTS_LIB_OTHER_BITS_H

#include "graph/op.h"

/* What changes between two runs. */
typedef enum bits_change {
    SETS     = 1 << 0,      /* EDDY_CPU */
    MACHINES = 1 << 1,      /* the processor, by which OpenBLAS and the C library choose, too */
    PINNED   = 1 << 2       /* the processor, with all three variables of bits.md */
} bits_change;

typedef struct other_bits {
    const char *op;
    unsigned    types;      /* bits 1 << EDDY_FLOAT32, ...: other_bits_type of the node */
    unsigned    changes;    /* that may change it */
    unsigned    shown;      /* ... of which the rows must show that they do */
    const char *why;
} other_bits;

int               other_bits_count(void);
const other_bits *other_bits_at(int i);
/* The entry of a node for a change; -1 if there is none, so that its bits must agree. */
int               other_bits_of(const eddy_node *n, bits_change change);
/* The type of the first floating or complex output, or else input. */
eddy_dtype        other_bits_type(const eddy_node *n);

#endif
