/* rows.h -- helpers for the files of rows: rows_NAME.c below tests/ defines the family NAME_rows,
 * and sweep_rows.c joins all families in one list.
 *
 * Inputs stay away from where a function has a kink or a pole.  All elements of a row's
 * inputs are different if their intervals are the same, so that maxima and comparisons
 * have no ties. */
#ifndef EDDY_TESTS_LIB_ROWS_H
#define EDDY_TESTS_LIB_ROWS_H

#include "tests/lib/sweep_rows.h"
#include "ops/short_names.h"

typedef struct sweep_family {
    const sweep_row    *rows;
    int                 n;
    const sweep_exempt *exempts;
    int                 n_exempts;
} sweep_family;
#define FAMILY(name, rows, exempts)                                             \
    const sweep_family name##_rows = { rows, (int)(sizeof rows / sizeof *rows), \
                                       exempts, (int)(sizeof exempts / sizeof *exempts) }
/* Without ops that are exempt. */
#define FAMILY_OF_ROWS(name, rows) \
    const sweep_family name##_rows = { rows, (int)(sizeof rows / sizeof *rows), NULL, 0 }

/* ----------------------------------------------------------- what they build -- */

#define BUILD(name, formula)                                                    \
    static eddy_tensor name(eddy_graph *g, const eddy_tensor *x)                \
    {                                                                           \
        (void)g; (void)x;                                                       \
        return formula;                                                         \
    }
#define AXES(...) .axes = EDDY_AXES(__VA_ARGS__)

/* Constants; 0, 1, 0, ... as many as x has rows. */
static inline eddy_tensor row_numbers_from(eddy_graph *g, eddy_shape s, const int32_t *v)
{
    return eddy_const(g, EDDY_INT32, s, v);
}
#define INTS(shape, ...) row_numbers_from(g, shape, (const int32_t[]){ __VA_ARGS__ })
static inline eddy_tensor pairs(eddy_tensor x)
{
    return FloorMod(eddy_row_numbers(x, EDDY_INT32), 2);
}

/* The gradient of y as an operation; an input that lends it only a shape is not one of the row's. */
static inline eddy_tensor backwards(eddy_tensor y, eddy_tensor x, eddy_tensor dy)
{
    eddy_tensor dx = { 0 };
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &dx, .grad_ys = EDDY_LIST(dy));
    return dx;
}

/* ------------------------------------------------------------------- the rows -- */

/* EDDY_SHAPE as an initializer. */
#define S(...) { (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), { __VA_ARGS__ } }
#define UNARY(type, fn, from, to) \
    { .op = type, .unary = fn, .n = 1, .shape = { S(3, 4) }, .low = { from }, .high = { to } }
/* Both operands from one interval, or each from its own. */
#define BINARY(type, fn, from, to) BINARY_OF(type, fn, from, to, from, to)
#define BINARY_OF(type, fn, from_a, to_a, from_b, to_b)                         \
    { .op = type, .binary = fn, .n = 2, .shape = { S(3, 4), S(3, 4) },          \
      .low = { from_a, from_b }, .high = { to_a, to_b } }
#define OP(type, option, fn, count, ...) \
    { .op = type, .how = option, .build = fn, .n = count, .shape = { __VA_ARGS__ } }
#define OP_KEEP(type, option, fn, count, kept, ...) \
    { .op = type, .how = option, .build = fn, .n = count, .shape = { __VA_ARGS__ }, .keep = kept }
/* Not for complex numbers. */
#define OP_REAL(type, option, fn, count, kept, ...) \
    { .op = type, .how = option, .build = fn, .n = count, .shape = { __VA_ARGS__ }, .keep = kept, \
      .options = SWEEP_REAL }
/* The other inputs are used only for their shape. */
#define OP_LIKE(type, option, fn, count, kept, ...)                             \
    { .op = type, .how = option, .build = fn, .n = count, .shape = { __VA_ARGS__ }, \
      .keep = kept, .constant = 6 }
#define KEEP(...) { __VA_ARGS__ }

#endif
