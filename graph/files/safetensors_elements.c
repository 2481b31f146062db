/* safetensors_elements.c -- the element types of safetensors files, and the conversion of those
 * that arrays do not have: to the smallest type that holds each value. */
#include "graph/base/half.h"
#include "graph/files/safetensors.h"

#include <math.h>

/* The value of a float of 8 bits, m of them in the mantissa, whose largest exponent is that of
 * ordinary numbers. */
static float small_float(uint8_t bits, int m, int bias)
{
    const int   exponent = (bits & 0x7f) >> m, mantissa = bits & ((1 << m) - 1);
    const float size = exponent ? ldexpf((float)(mantissa + (1 << m)), exponent - bias - m)
                                : ldexpf((float)mantissa, 1 - bias - m);
    return bits & 0x80 ? -size : size;
}

static float of_e4m3(uint8_t b) { return (b & 0x7f) == 0x7f ? NAN : small_float(b, 3, 7); }
static float of_e4m3fnuz(uint8_t b) { return b == 0x80 ? NAN : small_float(b, 3, 8); }
static float of_e5m2fnuz(uint8_t b) { return b == 0x80 ? NAN : small_float(b, 2, 16); }
static float of_e8m0(uint8_t b) { return b == 0xff ? NAN : ldexpf(1, b - 127); }
static float of_e5m2(uint8_t b) { return eddy__f32_of_f16((uint16_t)(b << 8)); }

static bool by_table(float (*value)(uint8_t), const uint8_t *from, float *to, int64_t n)
{
    float values[256];
    for (int b = 0; b < 256; b++) values[b] = value((uint8_t)b);
    for (int64_t i = 0; i < n; i++) to[i] = values[from[i]];
    return true;
}

#define DECODE_FLOAT(name)                                                                  \
    static bool decode_##name(const void *from, void *to, int64_t n, int64_t *bad)          \
    {                                                                                       \
        (void)bad;                                                                          \
        return by_table(of_##name, from, to, n);                                            \
    }
DECODE_FLOAT(e4m3)
DECODE_FLOAT(e5m2)
DECODE_FLOAT(e4m3fnuz)
DECODE_FLOAT(e5m2fnuz)
DECODE_FLOAT(e8m0)

/* The elements of a file may be at any address. */
#define DECODE_INTEGER(name, FROM, TO)                                                      \
    static bool decode_##name(const void *from, void *to, int64_t n, int64_t *bad)          \
    {                                                                                       \
        (void)bad;                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                   \
            FROM x;                                                                         \
            memcpy(&x, (const char *)from + (size_t)i * sizeof x, sizeof x);                \
            ((TO *)to)[i] = x;                                                              \
        }                                                                                   \
        return true;                                                                        \
    }
DECODE_INTEGER(i8, int8_t, int32_t)
DECODE_INTEGER(i16, int16_t, int32_t)
DECODE_INTEGER(u16, uint16_t, int32_t)
DECODE_INTEGER(u32, uint32_t, int64_t)

static bool decode_u64(const void *from, void *to, int64_t n, int64_t *bad)
{
    for (*bad = 0; *bad < n; ++*bad) {
        uint64_t x;
        memcpy(&x, (const char *)from + (size_t)*bad * sizeof x, sizeof x);
        if (x > INT64_MAX) return false;
        ((int64_t *)to)[*bad] = (int64_t)x;
    }
    return true;
}

/* Types without a function are those of arrays, and stand before others of the same type, or cannot
 * be read. */
static const eddy_safetensors_element elements[] = {
    { "F64", 64, EDDY_FLOAT64, NULL },
    { "F32", 32, EDDY_FLOAT32, NULL },
    { "F16", 16, EDDY_FLOAT16, NULL },
    { "BF16", 16, EDDY_BFLOAT16, NULL },
    { "I64", 64, EDDY_INT64, NULL },
    { "I32", 32, EDDY_INT32, NULL },
    { "U8", 8, EDDY_UINT8, NULL },
    { "BOOL", 8, EDDY_BOOL, NULL },
    { "C64", 64, EDDY_COMPLEX64, NULL },
    { "I16", 16, EDDY_INT32, decode_i16 },
    { "I8", 8, EDDY_INT32, decode_i8 },
    { "U16", 16, EDDY_INT32, decode_u16 },
    { "U32", 32, EDDY_INT64, decode_u32 },
    { "U64", 64, EDDY_INT64, decode_u64 },
    { "F8_E4M3", 8, EDDY_FLOAT32, decode_e4m3 },
    { "F8_E5M2", 8, EDDY_FLOAT32, decode_e5m2 },
    { "F8_E8M0", 8, EDDY_FLOAT32, decode_e8m0 },
    { "F8_E4M3FNUZ", 8, EDDY_FLOAT32, decode_e4m3fnuz },
    { "F8_E5M2FNUZ", 8, EDDY_FLOAT32, decode_e5m2fnuz },
    { "F4", 4, EDDY_DEFAULT_DTYPE, NULL },
    { "F6_E2M3", 6, EDDY_DEFAULT_DTYPE, NULL },
    { "F6_E3M2", 6, EDDY_DEFAULT_DTYPE, NULL },
};
enum { ELEMENTS = sizeof elements / sizeof *elements };

const eddy_safetensors_element *eddy__safetensors_element_of(const char *code)
{
    for (int i = 0; i < ELEMENTS; i++)
        if (strcmp(elements[i].code, code) == 0) return &elements[i];
    return NULL;
}

const char *eddy__safetensors_code_of(eddy_dtype d)
{
    for (int i = 0; i < ELEMENTS; i++)
        if (elements[i].dtype == d) return elements[i].code;
    return NULL;
}
