/* dtype.c -- element types: their names, sizes and properties. */
#include "graph/base/base.h"

#include <string.h>

enum { FLOATING = 1, INTEGER = 2, COMPLEX = 4 };

static const struct {
    const char *name;
    size_t      size;
    int         kind;
} dtypes[EDDY_DTYPES] = {
    [EDDY_FLOAT32]    = { "float32",    4,  FLOATING },
    [EDDY_FLOAT64]    = { "float64",    8,  FLOATING },
    [EDDY_INT32]      = { "int32",      4,  INTEGER },
    [EDDY_INT64]      = { "int64",      8,  INTEGER },
    [EDDY_UINT8]      = { "uint8",      1,  INTEGER },
    [EDDY_BOOL]       = { "bool",       1,  0 },
    [EDDY_FLOAT16]    = { "float16",    2,  FLOATING },
    [EDDY_BFLOAT16]   = { "bfloat16",   2,  FLOATING },
    [EDDY_COMPLEX64]  = { "complex64",  8,  COMPLEX },
    [EDDY_COMPLEX128] = { "complex128", 16, COMPLEX },
};

static bool is_dtype(eddy_dtype d) { return (int)d > 0 && (int)d < EDDY_DTYPES; }

const char *eddy_dtype_name(eddy_dtype d) { return is_dtype(d) ? dtypes[d].name : "?"; }
size_t      eddy_dtype_size(eddy_dtype d) { return is_dtype(d) ? dtypes[d].size : 0; }

eddy_dtype eddy_dtype_named(const char *name)
{
    for (int d = 1; name && d < EDDY_DTYPES; d++)
        if (strcmp(name, dtypes[d].name) == 0) return (eddy_dtype)d;
    return EDDY_DEFAULT_DTYPE;
}

static bool has_kind(eddy_dtype d, int kind) { return is_dtype(d) && (dtypes[d].kind & kind) != 0; }

eddy_dtype eddy_dtype_real(eddy_dtype d)
{
    return d == EDDY_COMPLEX64 ? EDDY_FLOAT32 : d == EDDY_COMPLEX128 ? EDDY_FLOAT64 : d;
}

bool eddy_dtype_is_floating(eddy_dtype d)       { return has_kind(d, FLOATING); }
bool eddy_dtype_is_integer(eddy_dtype d)        { return has_kind(d, INTEGER); }
bool eddy_dtype_is_complex(eddy_dtype d)        { return has_kind(d, COMPLEX); }
bool eddy_dtype_is_differentiable(eddy_dtype d) { return has_kind(d, FLOATING | COMPLEX); }
