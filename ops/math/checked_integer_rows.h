/* checked_integer_rows.h -- rows (ops/math/elementwise_rows.h) for integer operations that have no
 * result for some operands. */
#ifndef EDDY_OPS_MATH_CHECKED_INTEGER_ROWS_H
#define EDDY_OPS_MATH_CHECKED_INTEGER_ROWS_H

#include "ops/math/elementwise_rows.h"

/* The loop for one integer type, computed in int64 and wrapped to the type. Where `impossible`
 * holds, the result is 0 and the loop reports an error at its end. No vector instruction divides
 * integers. */
#define TILE_CHECKED(suffix, name, impossible, value)                           \
    CHECKED_OF(name##_##suffix, EDDY_COLUMN(ELEMENT, suffix), impossible, value)
#define CHECKED_OF(fn, T_, impossible, value)                                   \
    static eddy_status fn(int64_t n_, void *out_, const void *const *in_, const void *attrs) \
    {                                                                           \
        T_ *o_ = out_;                                                          \
        const T_ *a_ = in_[0], *b_ = in_[1];                                    \
        bool any_ = false;                                                      \
        (void)attrs;                                                            \
        for (int64_t i_ = 0; i_ < n_; i_++) {                                   \
            const int64_t a = a_[i_], b = b_[i_];                               \
            const bool not_ = impossible;                                       \
            any_ |= not_;                                                       \
            o_[i_] = not_ ? 0 : (T_)(value);                                    \
        }                                                                       \
        return any_ ? EDDY_INVALID_ARGUMENT : EDDY_OK;                          \
    }                                                                           \
    EDDY_NO_CLONES(fn)

/* Loops for all integers, and for all real numbers. */
#define CHECKED_INTEGERS(cname, impossible, integer_value)                      \
    FOR_INTEGERS(TILE_CHECKED, cname, impossible, integer_value)
#define CHECKED_LOOPS(cname, float_value, impossible, integer_value)            \
    DECLARE_FLOATS(TILE_BINARY, cname, float_value)                             \
    CHECKED_INTEGERS(cname, impossible, integer_value)

#endif
