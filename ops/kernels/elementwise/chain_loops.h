/* chain_loops.h -- the loop of a chain (ops/math/fused_elementwise.h) for elements T and vectors of
 * WIDTH bytes, for the instruction set SET, whose functions are declared by TARGET. Included by
 * chain_sets.h; SET, WIDTH and TARGET are undefined at the end.
 *
 * Values stay in registers between the steps, for which loops over pieces are unrolled early; a
 * compiler would keep vectors wider than those of the set in memory. */

#define LOOPS(name) EDDY_NAME(NAME(name), SET)

typedef T LOOPS(piece) __attribute__((vector_size(WIDTH), aligned(sizeof(T)), may_alias));
typedef NUMBER LOOPS(mask) __attribute__((vector_size(WIDTH)));

/* Values of each lane for which vectors have no operators, and processors instructions. */
#define OF_LANES(name, value)                                                   \
    TARGET EDDY_INLINE LOOPS(piece) LOOPS(name)(LOOPS(piece) v, LOOPS(piece) w) \
    {                                                                           \
        enum { LANES = WIDTH / sizeof(T) };                                     \
        T x[LANES], y[LANES];                                                   \
        memcpy(x, &v, sizeof x);                                                \
        memcpy(y, &w, sizeof y);                                                \
        EDDY_OVER_LANES                                                         \
        for (int j = 0; j < LANES; j++) {                                       \
            const T a = x[j], b = y[j];                                         \
            (void)b;                                                            \
            x[j] = (value);                                                     \
        }                                                                       \
        memcpy(&v, x, sizeof x);                                                \
        return v;                                                               \
    }
OF_LANES(least, b < a ? b : a)
OF_LANES(most, b > a ? b : a)
OF_LANES(root, sqrt(a))

/* a, or b where it is NaN. */
TARGET EDDY_INLINE LOOPS(piece) LOOPS(unless_nan)(LOOPS(piece) a, LOOPS(piece) b)
{
    const LOOPS(mask) nan = b != b;
    return (LOOPS(piece))((nan & (LOOPS(mask))b) | (~nan & (LOOPS(mask))a));
}

#define EACH(value)                                                             \
    _Pragma("GCC unroll 8")                                                     \
    for (int k = 0; k < pieces; k++) {                                          \
        const LOOPS(piece) a = v[k], b = at[k], c = by[k];                      \
        (void)b;                                                                \
        (void)c;                                                                \
        v[k] = (value);                                                         \
    }                                                                           \
    break;

/* Some pieces, from element i on. */
TARGET EDDY_INLINE void LOOPS(pieces)(const int pieces, T *y, const void *const *x, int64_t i, uint64_t s)
{
    LOOPS(piece) v[EDDY_CHAIN_PIECES], *to = (LOOPS(piece) *)(void *)(y + i);
    const LOOPS(piece) *at = (const LOOPS(piece) *)(const void *)((const T *)x[0] + i), *by;
    _Pragma("GCC unroll 8")
    for (int k = 0; k < pieces; k++) v[k] = at[k];
    for (; s > 0; s >>= EDDY_CHAIN_BITS) {
        at = (const LOOPS(piece) *)(const void *)((const T *)x[eddy__chain_operand(s)] + i);
        by = (const LOOPS(piece) *)(const void *)((const T *)x[eddy__chain_factor(s)] + i);
        switch (eddy__chain_op(s)) {
        case EDDY_CHAIN_ADD_PRODUCT: EACH(a + b * c)
        case EDDY_CHAIN_SUB_PRODUCT: EACH(a - b * c)
        case EDDY_CHAIN_SUB_FROM_PRODUCT: EACH(b * c - a)
        case EDDY_CHAIN_DIV_INTO_PRODUCT: EACH(b * c / a)
        case EDDY_CHAIN_ADD: EACH(a + b)
        case EDDY_CHAIN_SUB: EACH(a - b)
        case EDDY_CHAIN_SUB_FROM: EACH(b - a)
        case EDDY_CHAIN_MUL: EACH(a * b)
        case EDDY_CHAIN_DIV: EACH(a / b)
        case EDDY_CHAIN_DIV_INTO: EACH(b / a)
        case EDDY_CHAIN_MIN: EACH(LOOPS(unless_nan)(LOOPS(least)(a, b), b))
        case EDDY_CHAIN_MAX: EACH(LOOPS(unless_nan)(LOOPS(most)(a, b), b))
        case EDDY_CHAIN_NEG: EACH(-a)
        case EDDY_CHAIN_SQUARE: EACH(a * a)
        default: EACH(LOOPS(root)(a, a))
        }
    }
    _Pragma("GCC unroll 8")
    for (int k = 0; k < pieces; k++) to[k] = v[k];
}

/* All elements that fill vectors; returns their number. */
TARGET static __attribute__((noinline)) int64_t LOOPS(vectors)(int64_t n, T *y,
                                                               const void *const *x, uint64_t steps)
{
    enum { LANES = WIDTH / sizeof(T), BLOCK = EDDY_CHAIN_PIECES * LANES };
    int64_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) LOOPS(pieces)(EDDY_CHAIN_PIECES, y, x, i, steps);
    for (; i + LANES <= n; i += LANES) LOOPS(pieces)(1, y, x, i, steps);
    return i;
}

TARGET static eddy_status LOOPS(chain)(int64_t n, void *y_, const void *const *x, const void *attrs)
{
    const uint64_t steps = (uint64_t)((const eddy_chain_attrs *)attrs)->steps;
    T             *y = y_;
    int64_t        i = n < (int64_t)(WIDTH / sizeof(T)) ? 0 : LOOPS(vectors)(n, y, x, steps);
    for (; i < n; i++) y[i] = NAME(chain_value)(x, i, steps);
    return EDDY_OK;
}

#undef EACH
#undef OF_LANES
#undef LOOPS
#undef SET
#undef WIDTH
#undef TARGET
