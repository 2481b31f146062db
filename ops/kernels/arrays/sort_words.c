/* sort_words.c -- sort keys (words) that pack the value and the index of an element, by element
 * type; radix_sort_loops.h sorts them. */
#include "ops/kernels/arrays/sort_words.h"
#include "graph/base/cpu.h"
#include "graph/base/dtype.h"
#include "graph/base/stop.h"

#include <string.h>

/* SORT_PART: words between two checks for cancellation. LOOK: elements that are passed over at
 * once. */
enum { FEW = 32, SPARE = 64, SORT_PART = 1 << 16, LOOK = 16 };

/* ------------------------------------------------------------------ words -- */

static inline uint64_t narrow_of(uint32_t key, int64_t index)
{
    return (uint64_t)key << 32 | (uint32_t)index;
}
static inline bool    narrow_less(uint64_t a, uint64_t b) { return a < b; }
static inline uint8_t narrow_byte(uint64_t w, int i) { return (uint8_t)(w >> 8 * i); }
static inline int64_t narrow_index(uint64_t w) { return (int64_t)(w & UINT32_MAX); }
static inline uint32_t narrow_key(uint64_t w) { return (uint32_t)(w >> 32); }

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

static inline wide broad_of(uint64_t key, int64_t index)
{
    return (wide)key << 64 | (uint64_t)index;
}
static inline bool    broad_less(wide a, wide b) { return a < b; }
static inline uint8_t broad_byte(wide w, int i) { return (uint8_t)(w >> 8 * i); }
static inline int64_t broad_index(wide w) { return (int64_t)w; }
static inline uint64_t broad_key(wide w) { return (uint64_t)(w >> 64); }
#else
typedef struct wide {
    uint64_t key, index;
} wide;

static inline wide broad_of(uint64_t key, int64_t index)
{
    return (wide){ key, (uint64_t)index };
}
static inline bool broad_less(wide a, wide b)
{
    return a.key != b.key ? a.key < b.key : a.index < b.index;
}
static inline uint8_t broad_byte(wide w, int i)
{
    return (uint8_t)(i < 8 ? w.index >> 8 * i : w.key >> 8 * (i - 8));
}
static inline int64_t broad_index(wide w) { return (int64_t)w.index; }
static inline uint64_t broad_key(wide w) { return w.key; }
#endif

/* ---------------------------------------------------------------- sorting -- */

#define W          uint64_t
#define BITS       32
#define NAME(name) narrow_##name
#include "ops/kernels/arrays/radix_sort_loops.h"
#undef W
#undef BITS
#undef NAME

#define W          wide
#define BITS       64
#define NAME(name) broad_##name
#include "ops/kernels/arrays/radix_sort_loops.h"
#undef W
#undef BITS
#undef NAME

int64_t eddy__sort_words(int64_t n, int64_t k)
{
    const int64_t most = k + (k > SPARE ? k : SPARE);
    return n < most ? n : most;
}

/* ---------------------------------------------------------- element types -- */

#define TEMPLATE "ops/kernels/arrays/sort_words_loops.h"
#define TYPES    FOR_NUMBERS
#include "ops/kernels/for_types.h"

const eddy_words *eddy__words_of(eddy_dtype d)
{
    return EDDY_FOR_TYPE(&words, FOR_NUMBERS, eddy__dtype_as_number(d));
}
