/* elements.c -- see elements.h. */
#include "elements.h"

#include <string.h>

uint64_t eddy__number_at(const uint8_t *at, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) v |= (uint64_t)at[i] << (8 * i);
    return v;
}

uint64_t eddy__element_bits(wire_bytes b, int bits, int64_t i)
{
    return eddy__number_at(b.at + i * (bits / 8), bits / 8);
}

static int64_t extended(int bits, bool is_signed, uint64_t v)
{
    if (bits >= 64) return (int64_t)v;
    v &= (1ull << bits) - 1;
    const uint64_t sign = 1ull << (bits - 1);
    return is_signed ? (int64_t)((v ^ sign) - sign) : (int64_t)v;
}

void eddy__element_store(eddy_array *a, int bits, bool is_signed, int64_t i, uint64_t value)
{
    void *at = eddy_array_data(a);
    switch ((int)eddy_array_dtype(a)) {
    case EDDY_FLOAT32:
    case EDDY_COMPLEX64: memcpy((uint32_t *)at + i, &(uint32_t){ (uint32_t)value }, 4); break;
    case EDDY_FLOAT16:
    case EDDY_BFLOAT16: ((uint16_t *)at)[i] = (uint16_t)value; break;
    case EDDY_FLOAT64:
    case EDDY_COMPLEX128: memcpy((uint64_t *)at + i, &value, 8); break;
    case EDDY_BOOL: ((uint8_t *)at)[i] = (value & 0xff) != 0; break;
    case EDDY_UINT8: ((uint8_t *)at)[i] = (uint8_t)value; break;
    case EDDY_INT32: ((int32_t *)at)[i] = (int32_t)extended(bits, is_signed, value); break;
    default: ((int64_t *)at)[i] = extended(bits, is_signed, value);        /* int64 */
    }
}

bool eddy__element_is_same(eddy_dtype d, int bits)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const size_t parts = eddy_dtype_is_complex(d) ? 2 : 1;
    return d != EDDY_BOOL && 8 * eddy_dtype_size(d) == (size_t)bits * parts;
#else
    return d == EDDY_UINT8 && bits == 8;
#endif
}

int64_t eddy__element_integer(const eddy_array *a, int64_t i)
{
    if (eddy_array_dtype(a) == EDDY_INT64) return ((int64_t *)eddy_array_data(a))[i];
    const double v = eddy_array_get(a, i);
    if (!(v == v)) return 0;
    return v >= 9e18 ? INT64_MAX : v <= -9e18 ? -INT64_MAX : (int64_t)v;
}
