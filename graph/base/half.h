/* half.h -- conversion of 16-bit floating-point numbers: float16 (IEEE 754 binary16) and
 * bfloat16, the upper half of a float32. Conversion to them rounds once, ties to even; NaN stays
 * NaN. Private.
 *
 * The functions have no branches, so that loops over them vectorize. */
#ifndef EDDY_GRAPH_BASE_HALF_H
#define EDDY_GRAPH_BASE_HALF_H

#include <stdint.h>
#include <string.h>

static inline float eddy__float_of_word(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t eddy__word_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Read as float32, a float16 is 2^112 times too small, for its exponent counts from 15. */
static inline float eddy__f32_of_f16(uint16_t h)
{
    const uint32_t size = h & 0x7fffu, sign = (uint32_t)(h & 0x8000u) << 16;
    const uint32_t finite = eddy__word_of_float(eddy__float_of_word(size << 13) * 0x1p112f);
    const uint32_t other = 0x7f800000u | size << 13;
    return eddy__float_of_word(sign | (size >= 0x7c00u ? other : finite));
}

/* Below 2^-14, adding 1/2 rounds to a multiple of 2^-24. */
static inline uint16_t eddy__f16_of_f32(float x)
{
    const uint32_t bits = eddy__word_of_float(x), sign = bits >> 16 & 0x8000u;
    const uint32_t size = bits & 0x7fffffffu;
    const uint32_t small = eddy__word_of_float(eddy__float_of_word(size) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (size - 0x38000000u + 0xfffu + (size >> 13 & 1)) >> 13;
    const uint32_t finite = size < 0x38800000u ? small : normal;
    const uint32_t within = size < 0x477ff000u ? finite : 0x7c00u;
    return (uint16_t)(sign | (size > 0x7f800000u ? 0x7e00u : within));
}

static inline float eddy__f32_of_bf16(uint16_t b)
{
    return eddy__float_of_word((uint32_t)b << 16);
}

static inline uint16_t eddy__bf16_of_f32(float x)
{
    const uint32_t bits = eddy__word_of_float(x), rounded = bits + 0x7fffu + (bits >> 16 & 1);
    return (uint16_t)(((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : rounded) >> 16);
}

/* x rounded to odd: the nearest float32 toward 0, with its last bit set if it differs from x.
 * The second rounding to a half then gives the correctly rounded x. */
static inline float eddy__odd_f32_of_f64(double x)
{
    const float y = (float)x;
    uint32_t    bits = eddy__word_of_float(y);
    if ((double)y == x || x != x) return y;
    bits -= ((double)y > x) == (x > 0);
    return eddy__float_of_word(bits | 1);
}

static inline uint16_t eddy__f16_of_f64(double x) { return eddy__f16_of_f32(eddy__odd_f32_of_f64(x)); }
static inline uint16_t eddy__bf16_of_f64(double x)
{
    return eddy__bf16_of_f32(eddy__odd_f32_of_f64(x));
}

#endif
