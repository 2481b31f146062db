/* dtype.h -- properties of element types, and elements of floats as doubles; private. */
#ifndef EDDY_GRAPH_BASE_DTYPE_H
#define EDDY_GRAPH_BASE_DTYPE_H

#include "graph/op.h"
#include "graph/base/element_types.h"

/* A real type of floating point that has arithmetic: EDDY_TAKES_FLOATS. */
bool eddy__dtype_is_float(eddy_dtype d);

/* Whether d can represent v; an integer type, only whole numbers in its range. True for others. */
bool eddy__dtype_holds(eddy_dtype d, double v);

/* The limits of an integer type or of bool. */
int64_t eddy__dtype_lowest(eddy_dtype d);
int64_t eddy__dtype_highest(eddy_dtype d);

/* Of a floating or complex type: the distance of 1 from the next larger number, the smallest
 * normal number, and the largest finite number. */
double eddy__dtype_epsilon(eddy_dtype d);
double eddy__dtype_smallest(eddy_dtype d);
double eddy__dtype_largest(eddy_dtype d);

/* The number type that orders and distinguishes the elements of d: uint8 for bool, else d. */
static inline eddy_dtype eddy__dtype_as_number(eddy_dtype d)
{
    return d == EDDY_BOOL ? EDDY_UINT8 : d;
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

/* The same for an element of a buffer. */
static inline double eddy__real_at(const eddy_buffer *x, int64_t i)
{
    return eddy__float_at(x->type.dtype, x->data, i);
}
static inline void eddy__real_put(const eddy_buffer *y, int64_t i, double v)
{
    eddy__float_put(y->type.dtype, y->data, i, v);
}

#endif
