/* bench_ops.h -- throughput of single operations compared with PyTorch.
 *
 * bench/ops/rows_NAME.c defines the family NAME_ops of rows; bench/torch/ops_NAME.py has, for each
 * name, a function of the same inputs that does the same work:
 *
 *     ROWS = { "tan": torch.tan, "sort last": lambda x: torch.sort(x, -1)[0] }
 *
 * scripts/bench_ops.py runs both in turns on the same numbers and compares the sums of their
 * results.  Inputs are of `dtype`, or float32, uniform in [low, high), both parts of a complex number
 * too; 0, 0 is [-1, 1).  Where `gradient` is set,
 * the sum of the result is differentiated with respect to all inputs and trainable variables
 * (PyTorch's side does so itself), and the gradients are the result.
 *
 * Trainable variables of a row, including those of layers, begin with numbers in [-0.1, 0.1).
 * PyTorch's function gets them after the inputs, in order of creation, or rearranged by
 * `function.convert`, if it exists. If `updates` is set, the result is an update of variables: the
 * sums of the first call are compared, and the measured calls fetch no value. */
#ifndef EDDY_BENCH_OPS_H
#define EDDY_BENCH_OPS_H

#include "../../eddy.h"

enum { OPS_INPUTS = 4 };

typedef struct ops_row {
    const char *name;
    eddy_tensor (*build)(eddy_graph *g, const eddy_tensor *x);
    int         n;
    eddy_shape  shape[OPS_INPUTS];
    double      low[OPS_INPUTS], high[OPS_INPUTS];
    eddy_dtype  dtype;
    bool        gradient;
    bool        random;             /* nothing is compared */
    bool        updates;            /* variables change from call to call */
} ops_row;

typedef struct ops_family {
    const ops_row *rows;
    int            n;
} ops_family;
#define OPS_FAMILY(name, rows) \
    const ops_family name##_ops = { rows, (int)(sizeof rows / sizeof *rows) }

/* EDDY_SHAPE as an initializer; a builder of one formula. */
#define S(...) { (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), { __VA_ARGS__ } }
#define BUILD(name, formula)                                                    \
    static eddy_tensor name(eddy_graph *g, const eddy_tensor *x)                \
    {                                                                           \
        (void)g; (void)x;                                                       \
        return formula;                                                         \
    }
/* Of values in [-1, 1), with the shapes of n inputs; the same with its gradient; of others:
 *     { .name = "pow", .build = pow_, .n = 2, .shape = { S(9), S(9) }, .low = { 1, 2 },
 *       .high = { 2, 3 } } */
#define OPS_ROW(called, fn, count, ...) \
    { .name = called, .build = fn, .n = count, .shape = { __VA_ARGS__ } }
#define OPS_GRADIENT(called, fn, count, ...) \
    { .name = called, .build = fn, .n = count, .shape = { __VA_ARGS__ }, .gradient = true }

#endif
