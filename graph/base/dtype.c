/* dtype.c -- element types: their names, sizes and properties, from the list in
 * graph/base/element_types.h. */
#include "graph/base/dtype.h"

#include <string.h>

typedef struct properties {
    const char *name;
    size_t      size;
    int         kind;
    int64_t     lowest, highest;      /* of integers */
    int         digits, exponent;     /* of floats */
} properties;

#define LIMITS_INTEGER(suffix)  .lowest = EDDY_COLUMN(LOWEST, suffix), \
                                .highest = EDDY_COLUMN(HIGHEST, suffix)
#define LIMITS_BOOLEAN          LIMITS_INTEGER
#define LIMITS_FLOATING(suffix) .digits = EDDY_COLUMN(DIGITS, suffix), \
                                .exponent = EDDY_COLUMN(EXPONENT, suffix)
#define LIMITS_HALF             LIMITS_FLOATING
#define LIMITS_COMPLEX          LIMITS_FLOATING
#define ROW(suffix, ...)                                                        \
    [EDDY_COLUMN(DTYPE, suffix)] = { EDDY_COLUMN(NAME, suffix), EDDY_COLUMN(BITS, suffix) / 8, \
        EDDY_OF_KIND(EDDY_KIND, suffix), EDDY_OF_KIND(LIMITS, suffix)(suffix) },
static const properties dtypes[EDDY_DTYPES] = { FOR_ALL_TYPES(ROW, 0) };

/* Of no kind if there is no such dtype. */
static const properties *row_of(eddy_dtype d)
{
    return &dtypes[(int)d > 0 && (int)d < EDDY_DTYPES ? d : EDDY_DEFAULT_DTYPE];
}

const char *eddy_dtype_name(eddy_dtype d) { return row_of(d)->name ? row_of(d)->name : "?"; }
size_t      eddy_dtype_size(eddy_dtype d) { return row_of(d)->size; }

eddy_dtype eddy_dtype_named(const char *name)
{
    for (int d = 1; name && d < EDDY_DTYPES; d++)
        if (strcmp(name, dtypes[d].name) == 0) return (eddy_dtype)d;
    return EDDY_DEFAULT_DTYPE;
}

eddy_dtype eddy_dtype_real(eddy_dtype d)
{
    return d == EDDY_COMPLEX64 ? EDDY_FLOAT32 : d == EDDY_COMPLEX128 ? EDDY_FLOAT64 : d;
}

eddy_dtype eddy__dtype_complex(eddy_dtype d)
{
    return d == EDDY_FLOAT32 ? EDDY_COMPLEX64 : EDDY_COMPLEX128;
}

bool eddy_dtype_is_floating(eddy_dtype d)
{
    return row_of(d)->kind == EDDY_KIND_FLOATING || row_of(d)->kind == EDDY_KIND_HALF;
}
bool eddy_dtype_is_integer(eddy_dtype d) { return row_of(d)->kind == EDDY_KIND_INTEGER; }
bool eddy_dtype_is_complex(eddy_dtype d) { return row_of(d)->kind == EDDY_KIND_COMPLEX; }
bool eddy_dtype_is_differentiable(eddy_dtype d)
{
    return eddy_dtype_is_floating(d) || eddy_dtype_is_complex(d);
}

bool eddy__dtype_is_float(eddy_dtype d) { return row_of(d)->kind == EDDY_KIND_FLOATING; }

bool eddy__dtype_is_index(eddy_dtype d)
{
#define IS_INDEX(suffix, ...) || d == EDDY_COLUMN(DTYPE, suffix)
    return false FOR_INDICES(IS_INDEX, 0);
}

bool eddy__dtype_holds(eddy_dtype d, double v)
{
    if (!eddy_dtype_is_integer(d)) return true;
    return v == trunc(v) && v >= (double)row_of(d)->lowest && v < (double)row_of(d)->highest + 1;
}

int64_t eddy__dtype_lowest(eddy_dtype d)  { return row_of(d)->lowest; }
int64_t eddy__dtype_highest(eddy_dtype d) { return row_of(d)->highest; }
double eddy__dtype_epsilon(eddy_dtype d)
{
    return row_of(d)->digits > 0 ? ldexp(1, 1 - row_of(d)->digits) : 0;
}
double eddy__dtype_smallest(eddy_dtype d)
{
    return row_of(d)->digits > 0 ? ldexp(1, 2 - row_of(d)->exponent) : 0;
}
double eddy__dtype_largest(eddy_dtype d)
{
    return row_of(d)->digits > 0 ? ldexp(2 - eddy__dtype_epsilon(d), row_of(d)->exponent - 1)
                             : (double)INFINITY;
}
