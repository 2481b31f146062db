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

/* Of W words whose lower half, `bits` of them, is the place. */
#define SORTING(name, W, bits)                                                  \
    static void name##_insert(W *v, int64_t n)                                  \
    {                                                                           \
        for (int64_t i = 1; i < n; i++) {                                       \
            const W w = v[i];                                                   \
            int64_t j = i;                                                      \
            for (; j > 0 && w < v[j - 1]; j--) v[j] = v[j - 1];                 \
            v[j] = w;                                                           \
        }                                                                       \
    }                                                                           \
    static void name##_pass(W *to, const W *from, int64_t n, int shift, uint32_t *count) \
    {                                                                           \
        uint32_t sum = 0;                                                       \
        for (int b = 0; b < 256; b++) {                                         \
            const uint32_t here = count[b];                                     \
            count[b] = sum;                                                     \
            sum += here;                                                        \
        }                                                                       \
        for (int64_t i = 0; i < n; i++) to[count[(uint8_t)(from[i] >> shift)]++] = from[i]; \
    }                                                                           \
    /* By the bytes from number `first` on; those below are in order already. */        \
    static void name##_sort_from(void *words, void *room, int64_t n, int first) \
    {                                                                           \
        enum { BYTES = 2 * (bits) / 8 };                                        \
        uint32_t count[BYTES][256];                                             \
        W *v = words, *other = room;                                            \
        if (n <= FEW) {                                                         \
            name##_insert(v, n);                                                \
            return;                                                             \
        }                                                                       \
        memset(count, 0, sizeof count);                                         \
        for (int64_t i = 0; i < n; i++)                                         \
            for (int b = first; b < BYTES; b++) count[b][(uint8_t)(v[i] >> 8 * b)]++; \
        for (int b = first; b < BYTES; b++) {                                   \
            if (count[b][(uint8_t)(v[0] >> 8 * b)] == n) continue;              \
            name##_pass(other, v, n, 8 * b, count[b]);                          \
            W *const sorted = other;                                            \
            other = v;                                                          \
            v = sorted;                                                         \
        }                                                                       \
        if (v != words) memcpy(words, v, (size_t)n * sizeof *v);                \
    }                                                                           \
    static void name##_sort(void *words, void *room, int64_t n)                 \
    {                                                                           \
        name##_sort_from(words, room, n, (bits) / 8);                           \
    }                                                                           \
    static int64_t name##_place(const void *words, int64_t i)                   \
    {                                                                           \
        return (int64_t)(((const W *)words)[i] & (((W)1 << (bits)) - 1));       \
    }                                                                           \
    SELECTING(name, W)

/* The k smallest of n words to the front: parts around the median of three, and a sort if
 * that many parts have not got there. */
#define SELECTING(name, W)                                                      \
    static W name##_middle(W a, W b, W c)                                       \
    {                                                                           \
        const W low = a < b ? a : b, high = a < b ? b : a;                      \
        return c < low ? low : c < high ? c : high;                             \
    }                                                                           \
    static void name##_select(W *v, W *room, int64_t n, int64_t k)              \
    {                                                                           \
        int64_t from = 0, to = n;                                               \
        for (int round = 0; to - from > FEW; round++) {                         \
            if (round == 64) {                                                  \
                name##_sort_from(v, room, n, 0);                                \
                return;                                                         \
            }                                                                   \
            const W pivot = name##_middle(v[from], v[(from + to) / 2], v[to - 1]); \
            int64_t i = from, j = to - 1;                                       \
            while (i <= j) {                                                    \
                while (v[i] < pivot) i++;                                       \
                while (v[j] > pivot) j--;                                       \
                if (i > j) break;                                               \
                const W w = v[i];                                               \
                v[i++] = v[j];                                                  \
                v[j--] = w;                                                     \
            }                                                                   \
            if (k <= j) to = j + 1;                                             \
            else if (k >= i) from = i;                                          \
            else return;                                                        \
        }                                                                       \
        name##_insert(v + from, to - from);                                     \
    }

SORTING(narrow, uint64_t, 32)
SORTING(broad, wide, 64)

int64_t eddy__words_room(int64_t n, int64_t k)
{
    const int64_t most = k + (k > SPARE ? k : SPARE);
    return n < most ? n : most;
}

/* ---------------------------------------------------------- element types -- */

#define ELEMENTS(type, T, U, W, word, bits)                                     \
    EDDY_INLINE W word_##type(T x, int64_t place, U turn)                       \
    {                                                                           \
        return (W)(U)(key_##type(x) ^ turn) << (bits) | (W)place;               \
    }                                                                           \
    static void load_##type(void *words, const void *x_, int64_t n, int64_t width, \
                            int64_t stride, bool turned)                        \
    {                                                                           \
        const U  turn = (U)(turned ? -1 : 0);                                   \
        const T *x = x_;                                                        \
        W       *v = words;                                                     \
        for (int64_t j = 0; j < n; j++, x += stride)                            \
            for (int64_t c = 0; c < width; c++) v[c * n + j] = word_##type(x[c], j, turn); \
    }                                                                           \
    static void least_##type(void *words, void *room, const void *x_, int64_t n, int64_t k, \
                             bool turned)                                       \
    {                                                                           \
        const U       turn = (U)(turned ? -1 : 0);                              \
        const int64_t most = eddy__words_room(n, k);                            \
        const T *x = x_;                                                        \
        W       *v = words, last = ~(W)0;                                       \
        int64_t  m = 0;                                                         \
        for (int64_t j = 0; j < n; j++) {                                       \
            const W w = word_##type(x[j], j, turn);                             \
            if (w >= last) continue;                                            \
            v[m++] = w;                                                         \
            if (m < most || j + 1 == n) continue;                               \
            word##_select(v, room, m, k);                                       \
            last = 0;                                                           \
            for (m = 0; m < k; m++) last = v[m] > last ? v[m] : last;           \
        }                                                                       \
        if (m > k) word##_select(v, room, m, k);                                \
        word##_sort_from(v, room, k, 0);                                        \
    }                                                                           \
    static const eddy_words words_##type = { sizeof(W), load_##type, word##_sort, \
                                             least_##type, word##_place };

ELEMENTS(f32, float, uint32_t, uint64_t, narrow, 32)
ELEMENTS(i32, int32_t, uint32_t, uint64_t, narrow, 32)
ELEMENTS(u8, uint8_t, uint32_t, uint64_t, narrow, 32)
ELEMENTS(f64, double, uint64_t, wide, broad, 64)
ELEMENTS(i64, int64_t, uint64_t, wide, broad, 64)

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
