/* conv_winograd_tiles.h -- the transforms of conv_winograd.h for one instruction set.
 *
 * Included by ops/conv_direct_*.c before conv_tiles.h, with the same defined, for float32,
 * and with FN(load_some), which loads zeros behind n elements, to hand.  Each is a transform
 * of one axis, done along columns and then along rows.  With a = 5/8 and b = 3/2, the points are 0, a, -a, b, -b and infinity. */

static const float A1 = 0.625f, A2 = 0.390625f, A3 = 0.244140625f;
static const float B1 = 1.5f, B2 = 2.25f, B3 = 3.375f;
/* a*a*b*b, a*a + b*b, and one over the product of a point's distances from the others. */
static const float AB = 0.87890625f, SUM = 2.640625f;
static const float N0 = (float)(1 / 0.87890625), NA = (float)(1 / (2 * 0.390625 * -1.859375)),
                   NB = (float)(1 / (2 * 2.25 * 1.859375));

TARGET EDDY_INLINE VECTOR wino_axpy(float a, VECTOR x, VECTOR y)
{
    return FN(fma)(FN(spread)(a), x, y);
}

/* The values of an input at the points. */
TARGET EDDY_INLINE void wino_input(const VECTOR *d, VECTOR *v)
{
    const VECTOR even_a = wino_axpy(-B2, d[2], d[4]), odd_a = wino_axpy(-B2, d[1], d[3]);
    const VECTOR even_b = wino_axpy(-A2, d[2], d[4]), odd_b = wino_axpy(-A2, d[1], d[3]);
    v[0] = wino_axpy(AB, d[0], wino_axpy(-SUM, d[2], d[4]));
    v[1] = wino_axpy(A1, odd_a, even_a);
    v[2] = wino_axpy(-A1, odd_a, even_a);
    v[3] = wino_axpy(B1, odd_b, even_b);
    v[4] = wino_axpy(-B1, odd_b, even_b);
    v[5] = wino_axpy(AB, d[1], wino_axpy(-SUM, d[3], d[5]));
}

/* The result from its values at the points. */
TARGET EDDY_INLINE void wino_output(const VECTOR *m, VECTOR *y)
{
    const VECTOR even_a = m[1] + m[2], odd_a = m[1] - m[2];
    const VECTOR even_b = m[3] + m[4], odd_b = m[3] - m[4];
    y[0] = m[0] + even_a + even_b;
    y[1] = wino_axpy(A1, odd_a, FN(spread)(B1) * odd_b);
    y[2] = wino_axpy(A2, even_a, FN(spread)(B2) * even_b);
    y[3] = wino_axpy(A3, odd_a, wino_axpy(B3, odd_b, m[5]));
}

TARGET EDDY_INLINE void wino_slope(const VECTOR *y, VECTOR *m)
{
    const VECTOR even_a = wino_axpy(A2, y[2], y[0]), odd_a = wino_axpy(A2, y[3], y[1]);
    const VECTOR even_b = wino_axpy(B2, y[2], y[0]), odd_b = wino_axpy(B2, y[3], y[1]);
    m[0] = y[0];
    m[1] = wino_axpy(A1, odd_a, even_a);
    m[2] = wino_axpy(-A1, odd_a, even_a);
    m[3] = wino_axpy(B1, odd_b, even_b);
    m[4] = wino_axpy(-B1, odd_b, even_b);
    m[5] = y[3];
}

/* The values of three taps at the points. */
TARGET EDDY_INLINE void wino_filter(const VECTOR *w, VECTOR *u)
{
    const VECTOR even_a = FN(spread)(NA) * wino_axpy(A2, w[2], w[0]);
    const VECTOR even_b = FN(spread)(NB) * wino_axpy(B2, w[2], w[0]);
    u[0] = FN(spread)(N0) * w[0];
    u[1] = wino_axpy(A1 * NA, w[1], even_a);
    u[2] = wino_axpy(-A1 * NA, w[1], even_a);
    u[3] = wino_axpy(B1 * NB, w[1], even_b);
    u[4] = wino_axpy(-B1 * NB, w[1], even_b);
    u[5] = w[2];
}

TARGET EDDY_INLINE void wino_taps(const VECTOR *m, VECTOR *w)
{
    const VECTOR even_a = FN(spread)(NA) * (m[1] + m[2]), odd_a = m[1] - m[2];
    const VECTOR even_b = FN(spread)(NB) * (m[3] + m[4]), odd_b = m[3] - m[4];
    w[0] = wino_axpy(N0, m[0], even_a + even_b);
    w[1] = wino_axpy(A1 * NA, odd_a, FN(spread)(B1 * NB) * odd_b);
    w[2] = wino_axpy(A2, even_a, wino_axpy(B2, even_b, m[5]));
}

/* side*side vectors, the channels from c on, to the 36 values. */
TARGET EDDY_INLINE void wino_gather(void (*along)(const VECTOR *, VECTOR *), const int side,
                                    const float *const *from, int64_t c, const int some, float *to,
                                    int64_t step)
{
    VECTOR half[6][6], d[6], v[6];
#pragma GCC unroll 6
    for (int j = 0; j < side; j++) {
#pragma GCC unroll 6
        for (int i = 0; i < side; i++) {
            const float *x = from[i * side + j] + c;
            d[i] = some ? FN(load_some)(x, some) : FN(load)(x);
        }
        along(d, v);
#pragma GCC unroll 6
        for (int i = 0; i < 6; i++) half[i][j] = v[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
        along(half[i], v);
#pragma GCC unroll 6
        for (int j = 0; j < 6; j++) FN(store)(to + (6 * i + j) * step + c, v[j]);
    }
}

TARGET EDDY_INLINE void wino_scatter(void (*along)(const VECTOR *, VECTOR *), const int side,
                                     const float *from, int64_t step, int64_t c, const int some,
                                     float *const *to, VECTOR *check)
{
    VECTOR half[6][6], d[6], v[6];
#pragma GCC unroll 6
    for (int j = 0; j < 6; j++) {
#pragma GCC unroll 6
        for (int i = 0; i < 6; i++) d[i] = FN(load)(from + (6 * i + j) * step + c);
        along(d, v);
#pragma GCC unroll 6
        for (int i = 0; i < side; i++) half[i][j] = v[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < side; i++) {
        along(half[i], v);
#pragma GCC unroll 6
        for (int j = 0; j < side; j++) {
            *check = wino_axpy(0, v[j], *check);
            if (some) FN(store_some)(to[i * side + j] + c, v[j], some);
            else FN(store)(to[i * side + j] + c, v[j]);
        }
    }
}

/* All channels. */
#define GATHER(name, side)                                                      \
    TARGET static void name##_all(const float *const *from, int64_t n, float *to, int64_t step) \
    {                                                                           \
        int64_t c = 0;                                                          \
        for (; c + LANES <= n; c += LANES) wino_gather(name, side, from, c, 0, to, step); \
        if (c < n) wino_gather(name, side, from, c, (int)(n - c), to, step);    \
    }
#define SCATTER(name, side)                                                     \
    TARGET static void name##_all(const float *from, int64_t step, int64_t n, float *const *to, \
                                  float *check)                                 \
    {                                                                           \
        VECTOR  bad = FN(load)(check);                                          \
        int64_t c = 0;                                                          \
        for (; c + LANES <= n; c += LANES) wino_scatter(name, side, from, step, c, 0, to, &bad); \
        if (c < n) wino_scatter(name, side, from, step, c, (int)(n - c), to, &bad); \
        FN(store)(check, bad);                                                  \
    }
GATHER(wino_input, 6)
SCATTER(wino_output, 4)
GATHER(wino_slope, 4)
GATHER(wino_filter, 3)
SCATTER(wino_taps, 3)
#undef GATHER
#undef SCATTER
#define WINO_TILES                                                              \
    { wino_input_all, wino_output_all, wino_slope_all, wino_filter_all, wino_taps_all }
