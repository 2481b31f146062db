/* radix_sort.c -- radix sort of sort keys that pack the value and the index of an element, in as
 * many passes as there are bytes in which the keys differ; and selection of the k smallest of
 * many keys. */
#include "ops/kernels/arrays/radix_sort.h"
#include "graph/base/cpu.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { FEW = 32, SPARE = 256 };

/* ------------------------------------------------------------------- keys -- */

EDDY_INLINE uint32_t key_f32(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    if (x != x) return UINT32_MAX;
    if (x == 0) b = 0;
    return b ^ (b >> 31 ? UINT32_MAX : (uint32_t)1 << 31);
}

EDDY_INLINE uint64_t key_f64(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    if (x != x) return UINT64_MAX;
    if (x == 0) b = 0;
    return b ^ (b >> 63 ? UINT64_MAX : (uint64_t)1 << 63);
}

EDDY_INLINE uint32_t key_i32(int32_t x) { return (uint32_t)x ^ (uint32_t)1 << 31; }
EDDY_INLINE uint64_t key_i64(int64_t x) { return (uint64_t)x ^ (uint64_t)1 << 63; }
EDDY_INLINE uint32_t key_u8(uint8_t x) { return x; }

/* ---------------------------------------------------------------- sorting -- */

#define W          uint64_t
#define BITS       32
#define NAME(name) narrow_##name
#include "ops/kernels/arrays/radix_sort_passes.h"
#undef W
#undef BITS
#undef NAME

#define W          wide
#define BITS       64
#define NAME(name) broad_##name
#include "ops/kernels/arrays/radix_sort_passes.h"
#undef W
#undef BITS
#undef NAME

int64_t eddy__sort_words(int64_t n, int64_t k)
{
    const int64_t most = k + (k > SPARE ? k : SPARE);
    return n < most ? n : most;
}

/* ---------------------------------------------------------- element types -- */

#define U          uint32_t
#define W          uint64_t
#define BITS       32
#define WORD(name) narrow_##name
#define TEMPLATE   "ops/kernels/arrays/radix_sort_loops.h"
#define TYPES      FOR_F32 | FOR_I32 | FOR_U8
#include "ops/kernels/for_types.h"
#undef U
#undef W
#undef BITS
#undef WORD

#define U          uint64_t
#define W          wide
#define BITS       64
#define WORD(name) broad_##name
#define TEMPLATE   "ops/kernels/arrays/radix_sort_loops.h"
#define TYPES      FOR_F64 | FOR_I64
#include "ops/kernels/for_types.h"
#undef U
#undef W
#undef BITS
#undef WORD

const eddy_words *eddy__words_of(eddy_dtype d)
{
    switch ((int)d) {
    case EDDY_FLOAT32: return &words_f32;
    case EDDY_FLOAT64: return &words_f64;
    case EDDY_INT32:   return &words_i32;
    case EDDY_INT64:   return &words_i64;
    case EDDY_UINT8:
    case EDDY_BOOL:    return &words_u8;
    default:           return NULL;
    }
}
