/* bits.c -- bitwise operations on integers, by arithmetic of int64: operator set 17 has none that a
 * type with a sign has. */
#include "../rules.h"

#include <string.h>

static int width_of(eddy_dtype d) { return d == EDDY_UINT8 ? 8 : d == EDDY_INT32 ? 32 : 64; }

/* 2^k for k below n; the last one of 64 is negative. */
static const char *powers(onnx_part *p, int n)
{
    int64_t v[64];
    for (int k = 0; k < n; k++) v[k] = (int64_t)((uint64_t)1 << k);
    return eddy__part_ints(p, n, v);
}

static const char *int64s(onnx_part *p, int i)
{
    return eddy__part_cast(p, eddy__part_in(p, i), eddy__part_dtype(p, i), EDDY_INT64);
}

/* floor(x / 2^k), of powers that are positive. */
static const char *shifted_down(onnx_part *p, const char *x, const char *power)
{
    return eddy__part_formula(p, EDDY_INT64,
                              "u=Div(a, b); Where(Less(Sub(a, Mul(u, b)), 0), Sub(u, 1), u)", x,
                              power);
}

/* The lowest bits along a new last axis; the sign is the last one, if there is a sign. */
static const char *bits_of(onnx_part *p, const char *x, int width)
{
    const bool  sign = width > 8;
    const char *last = eddy__part_one(p, -1);
    x = eddy__part_binary(p, "Unsqueeze", x, last);
    const char *low = eddy__part_formula(p, EDDY_INT64, "Mod(a, 2)",
                                         shifted_down(p, x, powers(p, width - sign)));
    if (!sign) return low;
    const char *const parts[] = { low, eddy__part_formula(p, EDDY_INT64, "int64(Less(a, 0))", x) };
    return eddy__part_concat(p, -1, 2, parts);
}

static const char *sum_of_bits(onnx_part *p, const char *bits)
{
    return eddy__part_formula(p, EDDY_INT64, "ReduceSum[keepdims=0](a, b)", bits,
                              eddy__part_one(p, -1));
}

static bool put(onnx_part *p, const char *y)
{
    return eddy__part_put(p, 0, eddy__part_cast(p, y, EDDY_INT64, p->node->outputs[0].dtype));
}

/* Of numbers with a sign, the last bit counts -2^31 or -2^63. */
static bool bitwise(onnx_part *p)
{
    const char *op = p->node->op->name + strlen("Bitwise");
    const int   width = width_of(eddy__part_dtype(p, 0));
    const char *a = bits_of(p, int64s(p, 0), width), *b = bits_of(p, int64s(p, 1), width);
    const char *both = eddy__part_binary(p, "Mul", a, b),
               *either = eddy__part_binary(p, "Max", a, b);
    const char *bits = *op == 'A' ? both : *op == 'O' ? either : eddy__part_binary(p, "Sub", either,
                                                                                    both);
    int64_t weight[64];
    for (int k = 0; k < width; k++) weight[k] = (int64_t)((uint64_t)1 << k);
    if (width == 32) weight[31] = -weight[31];
    return put(p, sum_of_bits(p, eddy__part_binary(p, "Mul", bits,
                                                   eddy__part_ints(p, width, weight))));
}

static bool population_count(onnx_part *p)
{
    return put(p, sum_of_bits(p, bits_of(p, int64s(p, 0), width_of(eddy__part_dtype(p, 0)))));
}

/* 2^b with b from 0 to most. */
static const char *power_of(onnx_part *p, const char *b, int most)
{
    return eddy__part_formula(p, EDDY_INT64, "Gather(b, Min(Max(a, 0), c))", b, powers(p, 64),
                              eddy__part_number(p, EDDY_INT64, most));
}

/* A shift by 63 leaves the sign. */
static bool right_shift(onnx_part *p)
{
    const int   width = width_of(eddy__part_dtype(p, 0));
    const char *a = int64s(p, 0), *b = int64s(p, 1);
    const char *y = shifted_down(p, a, power_of(p, b, width < 64 ? width - 1 : 62));
    if (width == 64) {
        const char *sign = eddy__part_formula(p, EDDY_INT64, "Neg(int64(Less(a, 0)))", a);
        y = eddy__part_formula(p, EDDY_INT64, "Where(Greater(a, 62), b, c)", b, sign, y);
    }
    return put(p, y);
}

/* The bits that stay, times 2^b: those below the sign, and the one that becomes the sign. */
static bool left_shift(onnx_part *p)
{
    const int   width = width_of(eddy__part_dtype(p, 0)), most = width - 1;
    const char *a = int64s(p, 0), *b = int64s(p, 1), *power = power_of(p, b, most);
    if (width == 8)
        return put(p, eddy__part_formula(p, EDDY_INT64, "Mod(Mul(a, b), 256)", a, power));
    const char *room = eddy__part_formula(p, EDDY_INT64, "Sub(b, Min(Max(a, 0), b))", b,
                                          eddy__part_number(p, EDDY_INT64, most));
    const char *below = eddy__part_formula(p, EDDY_INT64, "Gather(b, Min(a, 62))", room,
                                           powers(p, 64));
    const char *top = eddy__part_formula(p, EDDY_INT64, "Mod(a, 2)", shifted_down(p, a, below));
    const char *low = eddy__part_formula(p, EDDY_INT64, "Mul(Mod(a, b), c)", a, below, power);
    const int64_t sign = width == 64 ? INT64_MIN : -((int64_t)1 << 31);
    const char   *y = eddy__part_formula(p, EDDY_INT64, "Add(a, Mul(b, c))", low, top,
                                       eddy__part_reshape(p, eddy__part_one(p, sign),
                                                          eddy__part_ints(p, 0, NULL)));
    if (width == 64)        /* 2^63 cannot be divided by */
        y = eddy__part_formula(p, EDDY_INT64, "Where(Less(a, 63), b, c)", room, y, a);
    return put(p, y);
}

static const onnx_row rows[] = {
    { "BitwiseAnd", bitwise },
    { "BitwiseOr", bitwise },
    { "BitwiseXor", bitwise },
    { "PopulationCount", population_count },
    { "LeftShift", left_shift },
    { "RightShift", right_shift },
};

const onnx_family eddy__write_bits = FAMILY_OF(rows);
