/* sort_words_loops.h -- words of elements of one type, T: a template of ops/kernels/for_types.h.
 *
 * A key U and the index of the element, of BITS bits each, make a word W; WORD(name) names the
 * functions of radix_sort_loops.h. If `flip` has all bits, the order is reversed. */
#if EDDY_COLUMN(BITS, SUFFIX) <= 32
#define U          uint32_t
#define W          uint64_t
#define BITS       32
#define WORD(name) narrow_##name
#else
#define U          uint64_t
#define W          wide
#define BITS       64
#define WORD(name) broad_##name
#endif

/* Keys have the order of the elements; NaN is the largest. */
EDDY_INLINE U NAME(key)(T x)
{
#ifdef NUMBER
    U b;
    memcpy(&b, &x, sizeof b);
    if (x != x) return (U)-1;
    if (x == 0) b = 0;
    return b ^ (b >> (BITS - 1) ? (U)-1 : (U)1 << (BITS - 1));
#else
    return (U)x - (U)LOWEST;
#endif
}

EDDY_INLINE W NAME(word)(T x, int64_t place, U flip)
{
    return WORD(of)((U)(NAME(key)(x) ^ flip), place);
}

/* words = those of `width` lanes of n elements, one lane after the other. A lane that is contiguous
 * is alone, and its loop has vectors. */
static void NAME(load)(void *words, const void *x_, int64_t n, int64_t width, int64_t stride,
                       bool descending, const eddy_stop *stop)
{
    const U  flip = (U)(descending ? -1 : 0);
    const T *x = x_;
    W       *v = words;
    for (int64_t j = 0; j < n && !eddy__stopped(stop);) {
        const int64_t end = n - j < SORT_PART ? n : j + SORT_PART;
        if (stride == 1)
            for (; j < end; j++) v[j] = NAME(word)(x[j], j, flip);
        for (; j < end; j++)
            for (int64_t c = 0; c < width; c++) v[c * n + j] = NAME(word)(x[j * stride + c], j, flip);
    }
}

/* Whether the key of one of the LOOK elements from x on is at most `last`. */
static bool NAME(some_among)(const T *x, U flip, U last)
{
    U found = 0;
    EDDY_OVER_LANES
    for (int i = 0; i < LOOK; i++) found |= (U)((U)(NAME(key)(x[i]) ^ flip) <= last);
    return found != 0;
}

/* words = those of the k smallest of n elements, sorted. Returns false if the run must end. */
static bool NAME(least)(void *words, void *room, const void *x_, int64_t n, int64_t k,
                        bool descending, const eddy_stop *stop)
{
    const U       flip = (U)(descending ? -1 : 0);
    const int64_t most = eddy__sort_words(n, k);
    const bool    few = k <= n / (4 * LOOK);      /* if more are wanted, most LOOK have one */
    const T *x = x_;
    W       *v = words, last = WORD(of)((U)-1, -1);
    int64_t  m = 0;
    for (int64_t j = 0, end; j < n; j = end) {
        end = n - j < LOOK ? n : j + LOOK;
        if (eddy__stopped_at(stop, j)) return false;
        if (few && end - j == LOOK && !NAME(some_among)(x + j, flip, WORD(key)(last))) continue;
        for (int64_t i = j; i < end; i++) {
            const W w = NAME(word)(x[i], i, flip);
            if (!WORD(less)(w, last)) continue;
            v[m++] = w;
            if (m < most || i + 1 == n) continue;
            WORD(select)(v, room, m, k);
            last = WORD(of)(0, 0);
            for (m = 0; m < k; m++) last = WORD(less)(last, v[m]) ? v[m] : last;
        }
    }
    if (m > k) WORD(select)(v, room, m, k);
    return WORD(sort_from)(v, room, k, 0, stop);
}

static const eddy_words NAME(words) = { sizeof(W), NAME(load), WORD(sort),
                                        NAME(least), WORD(place) };

#undef U
#undef W
#undef BITS
#undef WORD
