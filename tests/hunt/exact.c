/* exact.c -- see exact.h: arithmetic, elementary functions, activations. */
#include "tests/hunt/exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- numbers -- */

enum { CHUNK = 4096, CHUNKS = 4096 };
static mpfr_t *chunks[CHUNKS];
static long    used;
static int     bits = 1000;

void exact_begin(int n) { used = 0, bits = n; }
int  exact_bits(void) { return bits; }
int  exact_set_bits(int n)
{
    const int before = bits;
    bits = n;
    return before;
}

void exact_end(void)
{
    for (int c = 0; c < CHUNKS && chunks[c]; c++) {
        for (int i = 0; i < CHUNK; i++) mpfr_clear(chunks[c][i]);
        free(chunks[c]);
        chunks[c] = NULL;
    }
    exact_forget();
    mpfr_free_cache();
}

static num fresh(void)
{
    const long c = used / CHUNK;
    if (c >= CHUNKS) abort();
    if (!chunks[c]) {
        chunks[c] = malloc(CHUNK * sizeof *chunks[c]);
        if (!chunks[c]) abort();
        for (int i = 0; i < CHUNK; i++) mpfr_init2(chunks[c][i], bits);
    }
    const num y = chunks[c][used++ % CHUNK];
    if (mpfr_get_prec(y) != bits) mpfr_set_prec(y, bits);
    return y;
}

num exact_number(double x)
{
    const num y = fresh();
    mpfr_set_d(y, x, MPFR_RNDN);
    return y;
}

#define ONE(name, call)                                                         \
    static num name(num x)                                                      \
    {                                                                           \
        const num y = fresh();                                                  \
        call(y, x, MPFR_RNDN);                                                  \
        return y;                                                               \
    }
#define TWO(name, call)                                                         \
    static num name(num a, num b)                                               \
    {                                                                           \
        const num y = fresh();                                                  \
        call(y, a, b, MPFR_RNDN);                                               \
        return y;                                                               \
    }
ONE(neg, mpfr_neg)       ONE(absolute, mpfr_abs)   ONE(square, mpfr_sqr)    ONE(root, mpfr_sqrt)
ONE(exponential, mpfr_exp) ONE(expm1_, mpfr_expm1) ONE(logarithm, mpfr_log) ONE(log1p_, mpfr_log1p)
ONE(sine, mpfr_sin)      ONE(cosine, mpfr_cos)     ONE(tangent, mpfr_tan)   ONE(asin_, mpfr_asin)
ONE(acos_, mpfr_acos)    ONE(atan_, mpfr_atan)     ONE(sinh_, mpfr_sinh)    ONE(cosh_, mpfr_cosh)
ONE(tanh_, mpfr_tanh)    ONE(asinh_, mpfr_asinh)   ONE(acosh_, mpfr_acosh)  ONE(atanh_, mpfr_atanh)
ONE(exp2_, mpfr_exp2)    ONE(log2_, mpfr_log2)     ONE(log10_, mpfr_log10)  ONE(cbrt_, mpfr_cbrt)
ONE(erfc_, mpfr_erfc)
TWO(add, mpfr_add)       TWO(sub, mpfr_sub)        TWO(mul, mpfr_mul)       TWO(divided, mpfr_div)
TWO(power, mpfr_pow)     TWO(atan2_, mpfr_atan2)   TWO(hypot_, mpfr_hypot)

num exact_add(num a, num b) { return add(a, b); }
num exact_sub(num a, num b) { return sub(a, b); }
num exact_mul(num a, num b) { return mul(a, b); }
num exact_div(num a, num b) { return divided(a, b); }
num exact_sqrt(num x) { return root(x); }
num exact_exp(num x) { return exponential(x); }
num exact_log(num x) { return logarithm(x); }

static num times(double c, num x) { return mul(exact_number(c), x); }
static num plus(double c, num x) { return add(exact_number(c), x); }
static num pi(void)
{
    const num y = fresh();
    mpfr_const_pi(y, MPFR_RNDN);
    return y;
}

/* ------------------------------------------------------------- functions -- */

#define UNARY(name, formula)                                                    \
    static num name(const eddy_node *node, int n, const num *in)                \
    {                                                                           \
        const num x = in[0];                                                    \
        (void)node, (void)n;                                                    \
        return formula;                                                         \
    }
#define BINARY(name, formula)                                                   \
    static num name(const eddy_node *node, int n, const num *in)                \
    {                                                                           \
        const num a = in[0], b = in[1];                                         \
        (void)node, (void)n;                                                    \
        return formula;                                                         \
    }

static double attribute(const eddy_node *node, const char *name)
{
    for (const eddy_attr_field *f = node->op->attrs; f && f->name; f++)
        if (strcmp(f->name, name) == 0) {
            const char *at = (const char *)node->attrs + f->offset;
            if (f->kind == EDDY_ATTR_FLOAT) return *(const double *)(const void *)at;
            if (f->kind == EDDY_ATTR_INT) return (double)*(const int64_t *)(const void *)at;
        }
    abort();
}

static bool is_zero(num x) { return mpfr_zero_p(x) != 0; }
static num  zero(void) { return exact_number(0); }
static num  sigmoid(num x) { return divided(exact_number(1), plus(1, exponential(neg(x)))); }
/* ln(1 + e^x); beyond, e^x has no number. */
static num softplus(num x)
{
    if (mpfr_cmp_d(x, 1e6) > 0) return x;
    return log1p_(exponential(x));
}
static num ndtr(num x) { return times(0.5, erfc_(neg(divided(x, root(exact_number(2)))))); }
static num density(num x)
{
    return divided(exponential(times(-0.5, square(x))), root(times(2, pi())));
}
static num tanh_gelu(num x)
{
    const num u = mul(root(divided(exact_number(2), pi())),
                      add(x, times(0.044715, mul(x, square(x)))));
    return mul(x, sigmoid(times(2, u)));
}
static num tanh_gelu_slope(num x)
{
    const num c = root(divided(exact_number(2), pi()));
    const num u = mul(c, add(x, times(0.044715, mul(x, square(x)))));
    const num slope = mul(c, plus(1, times(3 * 0.044715, square(x)))), s = sigmoid(times(2, u));
    return add(s, mul(mul(times(2, x), slope), mul(s, sigmoid(times(-2, u)))));
}
static num sinc(num x)
{
    const num t = mul(pi(), x);
    return is_zero(x) ? exact_number(1) : divided(sine(t), t);
}
static num logaddexp(num a, num b)
{
    const bool larger = mpfr_cmp(a, b) >= 0;
    if (mpfr_equal_p(a, b)) return add(a, logarithm(exact_number(2)));
    return add(larger ? a : b, softplus(larger ? sub(b, a) : sub(a, b)));
}
static num signed_like(num a, num b) { return mpfr_signbit(b) ? neg(absolute(a)) : absolute(a); }
static num remainder_of(num a, num b, bool floored)
{
    const num q = divided(a, b);
    if (floored) mpfr_floor(q, q);
    else mpfr_trunc(q, q);
    return sub(a, mul(b, q));
}
static num fraction(num x)
{
    const num t = fresh();
    mpfr_trunc(t, x);
    return sub(x, t);
}
static num shrunk(num x, double lambda)
{
    if (mpfr_cmp_d(x, lambda) > 0) return plus(-lambda, x);
    return mpfr_cmp_d(x, -lambda) < 0 ? plus(lambda, x) : zero();
}
static num ramp(num x, double slope)
{
    const num u = plus(0.5, times(slope, x));
    return mpfr_sgn(u) < 0 ? zero() : mpfr_cmp_d(u, 1) > 0 ? exact_number(1) : u;
}
static num huber(num e, double delta)
{
    const num size = absolute(e), near = mpfr_cmp_d(size, delta) < 0 ? size : exact_number(delta);
    return mul(near, sub(size, times(0.5, near)));
}
static num entr(num x)
{
    if (mpfr_sgn(x) < 0) return exact_number(-INFINITY);
    return is_zero(x) ? zero() : neg(mul(x, logarithm(x)));
}

#define SELU_SCALE 1.0507009873554804934
#define SELU_DEPTH 1.7580993408473768600
UNARY(f_neg, neg(x))
UNARY(f_same, x)
UNARY(f_abs, absolute(x))
UNARY(f_square, square(x))
UNARY(f_reciprocal, divided(exact_number(1), x))
UNARY(f_sqrt, root(x))
UNARY(f_rsqrt, divided(exact_number(1), root(x)))
UNARY(f_exp, exponential(x))
UNARY(f_expm1, expm1_(x))
UNARY(f_log, logarithm(x))
UNARY(f_log1p, log1p_(x))
UNARY(f_sin, sine(x))
UNARY(f_cos, cosine(x))
UNARY(f_tan, tangent(x))
UNARY(f_asin, asin_(x))
UNARY(f_acos, acos_(x))
UNARY(f_atan, atan_(x))
UNARY(f_sinh, sinh_(x))
UNARY(f_cosh, cosh_(x))
UNARY(f_tanh, tanh_(x))
UNARY(f_asinh, asinh_(x))
UNARY(f_acosh, acosh_(x))
UNARY(f_atanh, atanh_(x))
UNARY(f_exp2, exp2_(x))
UNARY(f_log2, log2_(x))
UNARY(f_log10, log10_(x))
UNARY(f_cbrt, cbrt_(x))
UNARY(f_sigmoid, sigmoid(x))
UNARY(f_softplus, softplus(x))
UNARY(f_relu, mpfr_sgn(x) > 0 ? x : zero())
UNARY(f_relu6, mpfr_sgn(x) <= 0 ? zero() : mpfr_cmp_d(x, 6) > 0 ? exact_number(6) : x)
UNARY(f_leaky, mpfr_sgn(x) > 0 ? x : times(attribute(node, "alpha"), x))
UNARY(f_shrink, shrunk(x, attribute(node, "lambda")))
UNARY(f_hard_shrink, mpfr_cmp_d(absolute(x), attribute(node, "lambda")) <= 0 ? zero() : x)
UNARY(f_hard_sigmoid, ramp(x, attribute(node, "slope")))
UNARY(f_elu, mpfr_sgn(x) > 0 ? x : expm1_(x))
UNARY(f_selu, mpfr_sgn(x) > 0 ? times(SELU_SCALE, x) : times(SELU_DEPTH, expm1_(x)))
UNARY(f_mish, mul(x, tanh_(softplus(x))))
UNARY(f_softsign, divided(x, plus(1, absolute(x))))
UNARY(f_gelu, mul(x, ndtr(x)))
UNARY(f_gelu_tanh, tanh_gelu(x))
UNARY(f_sinc, sinc(x))
UNARY(f_entr, entr(x))
UNARY(f_logit, logarithm(divided(x, sub(exact_number(1), x))))
UNARY(f_frac, fraction(x))
UNARY(f_deg2rad, divided(mul(x, pi()), exact_number(180)))
UNARY(f_rad2deg, divided(times(180, x), pi()))

BINARY(f_add, add(a, b))
BINARY(f_sub, sub(a, b))
BINARY(f_mul, mul(a, b))
BINARY(f_div, divided(a, b))
BINARY(f_div_no_nan, is_zero(b) ? zero() : divided(a, b))
BINARY(f_mul_no_nan, is_zero(b) ? zero() : mul(a, b))
BINARY(f_xlogy, is_zero(a) ? zero() : mul(a, logarithm(b)))
BINARY(f_xdivy, is_zero(a) ? zero() : divided(a, b))
BINARY(f_pow, power(a, b))
BINARY(f_maximum, mpfr_cmp(a, b) >= 0 ? a : b)
BINARY(f_minimum, mpfr_cmp(a, b) <= 0 ? a : b)
BINARY(f_squared_difference, square(sub(a, b)))
BINARY(f_floormod, remainder_of(a, b, true))
BINARY(f_truncatemod, remainder_of(a, b, false))
BINARY(f_atan2, atan2_(a, b))
BINARY(f_hypot, hypot_(a, b))
BINARY(f_logaddexp, logaddexp(a, b))
BINARY(f_copysign, signed_like(a, b))
BINARY(f_prelu, mpfr_sgn(a) > 0 ? a : mul(a, b))
BINARY(f_huber, times(attribute(node, "factor"), huber(sub(a, b), attribute(node, "delta"))))
BINARY(f_relu_grad, mpfr_sgn(b) > 0 ? a : zero())
BINARY(f_gelu_grad, mul(a, add(ndtr(b), mul(b, density(b)))))
BINARY(f_gelu_tanh_grad, mul(a, tanh_gelu_slope(b)))

static num f_add_n(const eddy_node *node, int n, const num *x)
{
    num y = zero();
    (void)node;
    for (int i = 0; i < n; i++) y = add(y, x[i]);
    return y;
}

static const struct {
    const char *op;
    exact_fn   *fn;
} functions[] = {
    { "Neg", f_neg }, { "Identity", f_same }, { "Cast", f_same }, { "CheckNumerics", f_same },
    { "StopGradient", f_same }, { "Real", f_same }, { "NextAfter", f_same },
    { "EnsureShape", f_same }, { "PlaceholderWithDefault", f_same },
    { "Abs", f_abs }, { "Square", f_square }, { "Reciprocal", f_reciprocal }, { "Sqrt", f_sqrt },
    { "Rsqrt", f_rsqrt }, { "Exp", f_exp }, { "Expm1", f_expm1 }, { "Log", f_log },
    { "Log1p", f_log1p }, { "Sin", f_sin }, { "Cos", f_cos }, { "Tan", f_tan }, { "Asin", f_asin },
    { "Acos", f_acos }, { "Atan", f_atan }, { "Sinh", f_sinh }, { "Cosh", f_cosh },
    { "Tanh", f_tanh }, { "Asinh", f_asinh }, { "Acosh", f_acosh }, { "Atanh", f_atanh },
    { "Exp2", f_exp2 }, { "Log2", f_log2 }, { "Log10", f_log10 }, { "Cbrt", f_cbrt },
    { "Sigmoid", f_sigmoid }, { "Softplus", f_softplus }, { "Relu", f_relu }, { "Relu6", f_relu6 },
    { "HardShrink", f_hard_shrink }, { "HardSigmoid", f_hard_sigmoid }, { "Prelu", f_prelu },
    { "Huber", f_huber }, { "LeakyRelu", f_leaky }, { "SoftShrink", f_shrink }, { "Elu", f_elu },
    { "Selu", f_selu },
    { "Mish", f_mish }, { "Softsign", f_softsign }, { "Gelu", f_gelu }, { "GeluTanh", f_gelu_tanh },
    { "Sinc", f_sinc }, { "Entr", f_entr }, { "Logit", f_logit },
    { "Frac", f_frac }, { "Deg2Rad", f_deg2rad },
    { "Rad2Deg", f_rad2deg }, { "Add", f_add }, { "Sub", f_sub }, { "Mul", f_mul },
    { "RealDiv", f_div }, { "DivNoNan", f_div_no_nan }, { "MulNoNan", f_mul_no_nan },
    { "Xlogy", f_xlogy }, { "Xdivy", f_xdivy }, { "Pow", f_pow }, { "Maximum", f_maximum },
    { "Minimum", f_minimum }, { "SquaredDifference", f_squared_difference },
    { "FloorMod", f_floormod }, { "TruncateMod", f_truncatemod }, { "Atan2", f_atan2 },
    { "Hypot", f_hypot }, { "LogAddExp", f_logaddexp }, { "CopySign", f_copysign },
    { "ReluGrad", f_relu_grad }, { "GeluGrad", f_gelu_grad }, { "GeluTanhGrad", f_gelu_tanh_grad },
    { "AddN", f_add_n },
};

exact_fn *exact_function(const char *op)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].op, op) == 0) return functions[i].fn;
    return exact_special_function(op);
}
