/* bitwise.c -- bitwise operations on integers, elementwise: and, or, xor, invert, shifts,
 * population count. */
#include "ops/math/elementwise_rows.h"

/** y = the bitwise and of a and b.
 *
 *  Gradient: none.  TensorFlow: BitwiseAnd, tf.bitwise.bitwise_and. */
BINARY_FLAT(bitwise_and, "BitwiseAnd", "BitwiseAnd", INTEGERS, 0, a & b)

/** y = the bitwise or of a and b.
 *
 *  Gradient: none.  TensorFlow: BitwiseOr, tf.bitwise.bitwise_or. */
BINARY_FLAT(bitwise_or, "BitwiseOr", "BitwiseOr", INTEGERS, 0, a | b)

/** y = the bitwise exclusive or of a and b.
 *
 *  Gradient: none.  TensorFlow: BitwiseXor, tf.bitwise.bitwise_xor. */
BINARY_FLAT(bitwise_xor, "BitwiseXor", "BitwiseXor", INTEGERS, 0, a ^ b)

/** y = the bitwise complement of x.
 *
 *  Gradient: none.  TensorFlow: Invert, tf.bitwise.invert. */
UNARY_FLAT(invert, "Invert", "Invert", INTEGERS, ~x)

/* A shift by the width of T or more is undefined in C. */
#define PLACES(b) ((b) < 0 ? 0 : (b) > (T)(8 * sizeof(T) - 1) ? 8 * (int)sizeof(T) - 1 : (int)(b))

/** y = a shifted left by b bits; zeros are shifted in.
 *
 *  b is clamped to [0, width - 1].
 *  Gradient: none.  TensorFlow: LeftShift, tf.bitwise.left_shift. */
BINARY_FLAT(left_shift, "LeftShift", "LeftShift", INTEGERS, 0, (uint64_t)a << PLACES(b))

/** y = a shifted right by b bits; copies of the sign bit are shifted in, zeros for uint8.
 *
 *  b is clamped to [0, width - 1].
 *  Gradient: none.  TensorFlow: RightShift, tf.bitwise.right_shift. */
BINARY_FLAT(right_shift, "RightShift", "RightShift", INTEGERS, 0, a >> PLACES(b))

/* Adds neighboring bits, then pairs, nibbles and all bytes. */
EDDY_INLINE uint8_t bits_set(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint8_t)((x * 0x0101010101010101u) >> 56);
}
FOR_INTEGERS(ROW_TEST, TILE_UNARY, population_count,
             bits_set((uint64_t)x &UINT64_MAX >> (64 - 8 * sizeof x)))
ROW_PICK(population_count, INTEGERS)
static bool population_count_infer(eddy_infer *c)
{
    if (!eddy__infer_elementwise(c)) return false;
    c->out[0].dtype = EDDY_UINT8;
    return true;
}
ROW_DEF(population_count, "PopulationCount", "PopulationCount", 1, ROW_INPUTS_1(INTEGERS),
        eddy_not_differentiable,
        population_count_infer, 0)

/** y = the number of bits that are set in x.
 *
 *  x  int32, int64 or uint8, any shape; y is uint8
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: none.  TensorFlow: PopulationCount. */
eddy_tensor eddy_population_count(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_population_count, NULL, x);
}
