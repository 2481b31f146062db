/* pow.c -- pow, a^b. It has a file of its own because its gradient needs logarithms. */
#include "ops/math/checked_integer_rows.h"
#include "ops/kernels/elementwise/complex_numbers.h"
#include "ops/kernels/elementwise/vector_pow.h"

/* a^b for b >= 0, wrapping around; the low bits are correct for every integer type. */
static int64_t power(int64_t a, int64_t b)
{
    int64_t y = 1;
    for (; b > 0; b >>= 1, a *= a)
        if (b & 1) y *= a;
    return y;
}

CLONED(TILE_BINARY, pow_f32, float, float, powf(a, b))

__attribute__((noinline)) static eddy_status pow_f64(int64_t n, void *out, const void *const *in,
                                                     const void *attrs)
{
    const double *a = in[0], *b = in[1];
    double *y = out;
    (void)attrs;
    for (int64_t i = 0; i < n; i++) {
        int beyond;
        const double near = eddy__pow_near_f64(a[i], b[i], &beyond);
        y[i] = beyond ? (pow)(a[i], b[i]) : near;
    }
    return EDDY_OK;
}

/* Operands beyond the range slow down their neighbors, but do not change them. */
EDDY_INLINE eddy_status pow_f64_blocks(int64_t n, void *out, const void *const *in,
                                       const void *attrs)
{
    enum { AT_ONCE = 64 };
    const double *x = in[0], *z = in[1];
    double *y = out, a[AT_ONCE], b[AT_ONCE], found[AT_ONCE];
    if (n < AT_ONCE / 8) return pow_f64(n, out, in, attrs);
    for (int i = 0; i < AT_ONCE; i++) a[i] = b[i] = 1;
    for (; n > 0; n -= AT_ONCE, x += AT_ONCE, z += AT_ONCE, y += AT_ONCE) {
        const int64_t m = n < AT_ONCE ? n : AT_ONCE;
        int any = 0;
        memcpy(a, x, (size_t)m * sizeof *x);
        memcpy(b, z, (size_t)m * sizeof *z);
        EDDY_INDEPENDENT
        for (int i = 0; i < AT_ONCE; i++) {
            int beyond;
            found[i] = eddy__pow_near_f64(a[i], b[i], &beyond);
            any |= beyond;
        }
        if (any) pow_f64(m, found, (const void *[]){ a, b }, attrs);
        memcpy(y, found, (size_t)m * sizeof *y);
    }
    return EDDY_OK;
}
EDDY_BLOCKS_FOR_AVX2(pow_f64)
CHECKED_INTEGERS(pow, b < 0, power(a, b))
DECLARE_COMPLEX(TILE_BINARY, pow, EDDY_POW(a, b))
ROW_PICK(pow, NUMBERS_COMPLEX)

/* Whether no element of a constant is 1. */
static bool is_never_one(eddy_tensor b)
{
    const eddy_array *v = eddy_constant_value(b);
    if (!v || eddy_array_count(v) != 1) return false;
    return eddy_dtype_is_floating(eddy_dtype_of(b)) && eddy_array_item(v) != 1;
}

/* a^(b-1). For an exponent of 0 it is 1 everywhere, and its derivatives are 0, also where a is 0:
 * there it is a power of 1, whose rule has no infinite factor. */
static eddy_tensor power_below(eddy_tensor a, eddy_tensor b)
{
    const eddy_tensor less = Sub(b, 1);
    if (is_never_one(b)) return Pow(a, less);
    return Pow(Where(LogicalAnd(Equal(b, 1), Equal(a, 0)), 1, a), less);
}

static void pow_gradient(eddy_rule *r)
{
    const eddy_tensor a = r->x[0], b = r->x[1], y = r->y[0], dy = r->dy[0];
    /* The logarithm sees 1 where a has none, so that its own gradient there is
     * a number. */
    const bool is_complex = eddy_dtype_is_complex(eddy_dtype_of(a));
    const eddy_tensor has_log = is_complex ? NotEqual(a, 0) : Greater(a, 0);
    const eddy_tensor safe = Where(has_log, a, 1);
    r->dx[0] = Mul(Mul(dy, Conj(b)), Conj(power_below(a, b)));
    r->dx[1] = Where(has_log, Mul(Mul(dy, Conj(y)), Conj(Log(safe))), 0);
}
const eddy_op_def eddy_op_pow = {
    .name = "Pow", .label = "pow", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "a", EDDY_TAKES_NUMBERS_COMPLEX }, { "b", EDDY_LIKE(0) }),
    .flags = EDDY_OP_ELEMENTWISE, .infer = eddy__infer_elementwise, .tile = pow_tile,
    .gradient = pow_gradient, .no_result = "an integer is raised to a negative power",
};
/** y = a^b.
 *
 *  a, b  any numeric type except float16 and bfloat16, the same for both, shapes that broadcast;
 *        y has their type
 *
 *  Floats follow C's pow: 0^0 is 1, and a negative a with a non-integer b gives NaN.  Integers
 *  wrap around.
 *  Errors: EDDY_BAD_SHAPE if the shapes do not broadcast; at run time, EDDY_INVALID_ARGUMENT for
 *  an integer raised to a negative power.
 *  Gradient: da = dy b a^(b-1), which is NaN at 0^0; db = dy y ln a where a > 0 (for complex
 *  types, where a is not 0), else 0.  For a positive integer b, the derivatives by a of a higher
 *  order than b are 0, also where a is 0.
 *  TensorFlow: Pow. */
eddy_tensor eddy_pow(eddy_tensor a, eddy_tensor b)
{
    return eddy_apply2(&eddy_op_pow, NULL, a, b);
}
