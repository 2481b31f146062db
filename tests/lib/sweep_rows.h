/* sweep_rows.h -- one row for each op of the library: how to build it and on
 * which inputs.  test_sweep.c puts every row through the same checks. */
#ifndef EDDY_TESTS_LIB_SWEEP_ROWS_H
#define EDDY_TESTS_LIB_SWEEP_ROWS_H

#include "../../eddy.h"

enum { SWEEP_INPUTS = 3 };

/* Checks from which a row is exempt, or additional properties. */
enum {
    SWEEP_REFUSES   = 1 << 0,   /* differentiating it is the error NO_GRADIENT */
    SWEEP_RANDOM    = 1 << 1,   /* the numbers are not the same in another graph */
    SWEEP_REAL      = 1 << 2    /* only for real numbers, though the op takes complex ones */
};

typedef struct sweep_row {
    const char *op, *how;          /* the op's type; which of its options */
    /* One of the three; inputs are all float64, or all float32. */
    eddy_tensor (*build)(eddy_graph *g, const eddy_tensor *x);
    eddy_tensor (*unary)(eddy_tensor x);
    eddy_tensor (*binary)(eddy_tensor a, eddy_tensor b);
    int         n;
    eddy_shape  shape[SWEEP_INPUTS];    /* equal sizes are the same size, also when it changes */
    double      low[SWEEP_INPUTS], high[SWEEP_INPUTS];   /* of the elements; 0, 0 is -2, 2 */
    unsigned    constant;          /* bit i: no gradient with respect to input i */
    unsigned    options;
    int64_t     keep[4];           /* sizes that the attributes settle */
} sweep_row;

int              sweep_count(void);
const sweep_row *sweep_row_at(int i);
/* The seed of its inputs, computed from its name, so that it does not depend on earlier rows. */
uint64_t         sweep_seed(const sweep_row *r);

/* The files of rows, and the first one that has a row for an op, or says why there is none; -1 if
 * none does. */
int         sweep_family_count(void);
const char *sweep_family_name(int i);
int         sweep_family_of(const char *op);

/* Ops without a row, and why. */
typedef struct sweep_exempt {
    const char *op, *why;
} sweep_exempt;
int                 sweep_exempt_count(void);
const sweep_exempt *sweep_exempt_at(int i);

#endif
