/* finiteness.c -- whether numbers are finite. */
#include "ops/kernels/reduction/finiteness.h"
#include "graph/base/cpu.h"
#include "graph/base/dtype.h"

#define FOR_TYPES_WITH_INFINITY(M, ...) FOR_FLOATS(M, __VA_ARGS__) FOR_HALVES(M, __VA_ARGS__)
#define TEMPLATE "ops/kernels/reduction/finiteness_loops.h"
#define TYPES FOR_TYPES_WITH_INFINITY
#include "ops/kernels/for_types.h"

/* The bits of infinity: all bits of the exponent. */
static int64_t infinity_of(eddy_dtype d)
{
#define EXPONENT_BITS(suffix, ...)                                                               \
    if (d == EDDY_COLUMN(DTYPE, suffix))                                                         \
        return (int64_t)(((uint64_t)1 << (EDDY_COLUMN(BITS, suffix) - 1)) -                      \
                         ((uint64_t)1 << (EDDY_COLUMN(DIGITS, suffix) - 1)));
    FOR_FLOATS(EXPONENT_BITS, 0)
    FOR_HALVES(EXPONENT_BITS, 0)
#undef EXPONENT_BITS
    return 0;
}

bool eddy__may_be_infinite(eddy_dtype d) { return infinity_of(eddy_dtype_real(d)) > 0; }

eddy_finite_test eddy__finite_test(eddy_dtype d)
{
    const eddy_dtype real = eddy_dtype_real(d);
    return (eddy_finite_test){
        .largest = EDDY_BEST_FOR_TYPE(largest, FOR_TYPES_WITH_INFINITY, real),
        .infinity = infinity_of(real), .parts = eddy_dtype_is_complex(d) ? 2 : 1,
        .single = d == EDDY_FLOAT32 };
}

eddy_finiteness eddy__finiteness(eddy_dtype d, const void *x, int64_t n)
{
    const eddy_finite_test t = eddy__finite_test(d);
    int64_t                most = 0;
    if (!t.largest) return EDDY_FINITE;
    t.largest(x, t.parts * n, &most);
    return most < t.infinity ? EDDY_FINITE : most == t.infinity ? EDDY_INFINITE : EDDY_IS_NAN;
}

int64_t eddy__find_not_finite(eddy_dtype d, const void *x, int64_t at, int64_t n,
                              eddy_finiteness least)
{
    enum { BLOCK = 1024 };
    const size_t size = eddy_dtype_size(d);
    const char  *bytes = x;
    while (n - at >= BLOCK && eddy__finiteness(d, bytes + (size_t)at * size, BLOCK) < least)
        at += BLOCK;
    while (at < n && eddy__finiteness(d, bytes + (size_t)at * size, 1) < least) at++;
    return at;
}
