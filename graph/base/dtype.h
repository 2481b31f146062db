/* dtype.h -- properties of element types, and elements of floats as doubles; private. */
#ifndef EDDY_GRAPH_BASE_DTYPE_H
#define EDDY_GRAPH_BASE_DTYPE_H

#include "graph/op.h"
#include "graph/base/element_types.h"

/* A real type of floating point that has arithmetic: EDDY_TAKES_FLOATS. */
bool eddy__dtype_is_float(eddy_dtype d);

/* A type of indices: EDDY_TAKES_INDICES. */
bool eddy__dtype_is_index(eddy_dtype d);

/* The complex type whose parts are of the float type d. */
eddy_dtype eddy__dtype_complex(eddy_dtype d);

/* Whether d can represent v; an integer type, only whole numbers in its range. True for others. */
bool eddy__dtype_holds(eddy_dtype d, double v);

/* The limits of an integer type or of bool. */
int64_t eddy__dtype_lowest(eddy_dtype d);
int64_t eddy__dtype_highest(eddy_dtype d);

/* Of a floating or complex type: the distance of 1 from the next larger number, the smallest
 * normal number, and the largest finite number; of others, 0, 0 and infinity. */
double eddy__dtype_epsilon(eddy_dtype d);
double eddy__dtype_smallest(eddy_dtype d);
double eddy__dtype_largest(eddy_dtype d);

/* Element i of an array of any type = v, as for eddy_array_set. */
void eddy__element_put(eddy_dtype d, void *data, int64_t i, double v);

/* The number type that orders and distinguishes the elements of d: uint8 for bool, else d. */
static inline eddy_dtype eddy__dtype_as_number(eddy_dtype d)
{
    return d == EDDY_BOOL ? EDDY_UINT8 : d;
}

/* Element i of x, which is of an integer type or bool; y[i] = v, which must be in its range. */
static inline int64_t eddy__whole_at(eddy_dtype d, const void *x, int64_t i)
{
#define EDDY_WHOLE_AT(suffix, ...)                                            \
    if (d == EDDY_COLUMN(DTYPE, suffix)) return ((const EDDY_COLUMN(ELEMENT, suffix) *)x)[i];
    FOR_INTEGERS(EDDY_WHOLE_AT, 0)
    FOR_BOOLS(EDDY_WHOLE_AT, 0)
#undef EDDY_WHOLE_AT
    return 0;
}
static inline void eddy__whole_put(eddy_dtype d, void *y, int64_t i, int64_t v)
{
#define EDDY_WHOLE_PUT(suffix, ...)                                           \
    if (d == EDDY_COLUMN(DTYPE, suffix))                                        \
        ((EDDY_COLUMN(ELEMENT, suffix) *)y)[i] = (EDDY_COLUMN(ELEMENT, suffix))v;
    FOR_INTEGERS(EDDY_WHOLE_PUT, 0)
    FOR_BOOLS(EDDY_WHOLE_PUT, 0)
#undef EDDY_WHOLE_PUT
}

/* Element i of x, which is of a float type, as a double. */
static inline double eddy__float_at(eddy_dtype d, const void *x, int64_t i)
{
#define EDDY_FLOAT_AT(suffix, ...)                                              \
    if (d == EDDY_COLUMN(DTYPE, suffix))                                        \
        return (double)((const EDDY_COLUMN(ELEMENT, suffix) *)x)[i];
    FOR_FLOATS(EDDY_FLOAT_AT, 0)
#undef EDDY_FLOAT_AT
    return (double)NAN;
}

/* y[i] = v, rounded to the float type of y. */
static inline void eddy__float_put(eddy_dtype d, void *y, int64_t i, double v)
{
#define EDDY_FLOAT_PUT(suffix, ...)                                             \
    if (d == EDDY_COLUMN(DTYPE, suffix))                                        \
        ((EDDY_COLUMN(ELEMENT, suffix) *)y)[i] = (EDDY_COLUMN(ELEMENT, suffix))v;
    FOR_FLOATS(EDDY_FLOAT_PUT, 0)
#undef EDDY_FLOAT_PUT
}

/* v, rounded to a float type. */
static inline double eddy__float_rounded(eddy_dtype d, double v)
{
#define EDDY_FLOAT_ROUNDED(suffix, ...)                                         \
    if (d == EDDY_COLUMN(DTYPE, suffix)) return (double)(EDDY_COLUMN(ELEMENT, suffix))v;
    FOR_FLOATS(EDDY_FLOAT_ROUNDED, 0)
#undef EDDY_FLOAT_ROUNDED
    return v;
}

/* Element i of a buffer of a float type. */
static inline double eddy__real_at(const eddy_buffer *x, int64_t i)
{
    return eddy__float_at(x->type.dtype, x->data, i);
}
static inline void eddy__real_put(const eddy_buffer *y, int64_t i, double v)
{
    eddy__float_put(y->type.dtype, y->data, i, v);
}

#endif
