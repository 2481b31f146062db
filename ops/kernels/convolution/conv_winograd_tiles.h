/* conv_winograd_tiles.h -- the transforms of Winograd convolution for one instruction set.
 *
 * Included by conv_tiles_*.c before conv_direct_tiles.h, with the same definitions, for
 * float32, and with FN(load_some), which loads zeros after n elements, and, if input and slope also
 * take bfloat16, HALVES, which loads those. Each is a transform of one
 * axis, applied along columns and then along rows. With a = 5/8 and b = 3/2, the points are 0, a,
 * -a, b, -b and infinity. */

/* The powers of a and b. */
static const float A[] = { 1, 0.625f, 0.390625f, 0.244140625f, 0.152587890625f };
static const float B[] = { 1, 1.5f, 2.25f, 3.375f, 5.0625f };
/* a*a*b*b, a*a + b*b, and for 0, a and b the reciprocal of the product of the differences from the
 * other points. */
static const float AB = 0.87890625f, SUM = 2.640625f;
static const float N0 = (float)(1 / 0.87890625), NA = (float)(1 / (2 * 0.390625 * -1.859375)),
                   NB = (float)(1 / (2 * 2.25 * 1.859375));

TARGET EDDY_INLINE VECTOR wino_axpy(float a, VECTOR x, VECTOR y)
{
    if (a == 1) return x + y;
    return FN(fma)(FN(spread)(a), x, y);
}

/* The values of an input, six pixels, at the points. */
TARGET EDDY_INLINE void wino_input(const VECTOR *d, const int n, VECTOR *v)
{
    const VECTOR even_a = wino_axpy(-B[2], d[2], d[4]), odd_a = wino_axpy(-B[2], d[1], d[3]);
    const VECTOR even_b = wino_axpy(-A[2], d[2], d[4]), odd_b = wino_axpy(-A[2], d[1], d[3]);
    (void)n;
    v[0] = wino_axpy(AB, d[0], wino_axpy(-SUM, d[2], d[4]));
    v[1] = wino_axpy(A[1], odd_a, even_a);
    v[2] = wino_axpy(-A[1], odd_a, even_a);
    v[3] = wino_axpy(B[1], odd_b, even_b);
    v[4] = wino_axpy(-B[1], odd_b, even_b);
    v[5] = wino_axpy(AB, d[1], wino_axpy(-SUM, d[3], d[5]));
}

/* w[0] + w[2] square + w[4] square^2, up to element n - 1. */
TARGET EDDY_INLINE VECTOR wino_half(const float square, const VECTOR *w, const int n)
{
    const VECTOR sum = n > 4 ? wino_axpy(square, w[4], w[2]) : w[n > 2 ? 2 : 0];
    return n > 2 ? wino_axpy(square, sum, w[0]) : sum;
}

/* The values of a polynomial of n coefficients at the points, times a factor at each. */
TARGET EDDY_INLINE void wino_values(const VECTOR *w, const int n, const float at_0,
                                    const float at_a, const float at_b, VECTOR *u)
{
    const VECTOR even_a = FN(spread)(at_a) * wino_half(A[2], w, n);
    const VECTOR even_b = FN(spread)(at_b) * wino_half(B[2], w, n);
    const VECTOR odd_a = wino_half(A[2], w + 1, n - 1), odd_b = wino_half(B[2], w + 1, n - 1);
    u[0] = FN(spread)(at_0) * w[0];
    u[1] = wino_axpy(A[1] * at_a, odd_a, even_a);
    u[2] = wino_axpy(-A[1] * at_a, odd_a, even_a);
    u[3] = wino_axpy(B[1] * at_b, odd_b, even_b);
    u[4] = wino_axpy(-B[1] * at_b, odd_b, even_b);
    u[5] = w[n - 1];
}

/* The transpose of wino_values: n sums of the values times factors and powers of the points. */
TARGET EDDY_INLINE void wino_sums(const VECTOR *m, const int n, const float at_0,
                                  const float at_a, const float at_b, VECTOR *y)
{
    const VECTOR even_a = m[1] + m[2], odd_a = m[1] - m[2];
    const VECTOR even_b = m[3] + m[4], odd_b = m[3] - m[4];
    y[0] = wino_axpy(at_b, even_b, wino_axpy(at_a, even_a, FN(spread)(at_0) * m[0]));
#pragma GCC unroll 6
    for (int i = 1; i < n; i++) {
        const VECTOR of_a = i % 2 ? odd_a : even_a, of_b = i % 2 ? odd_b : even_b;
        y[i] = FN(spread)(B[i] * at_b) * of_b;
        if (i == n - 1) y[i] = wino_axpy(B[i] * at_b, of_b, m[5]);
        y[i] = wino_axpy(A[i] * at_a, of_a, y[i]);
    }
}

/* Only the transforms of taps have factors. */
TARGET EDDY_INLINE void wino_slope(const VECTOR *y, const int n, VECTOR *m)
{
    wino_values(y, n, 1, 1, 1, m);
}
TARGET EDDY_INLINE void wino_output(const VECTOR *m, const int n, VECTOR *y)
{
    wino_sums(m, n, 1, 1, 1, y);
}
TARGET EDDY_INLINE void wino_filter(const VECTOR *w, const int n, VECTOR *u)
{
    wino_values(w, n, N0, NA, NB, u);
}
TARGET EDDY_INLINE void wino_taps(const VECTOR *m, const int n, VECTOR *w)
{
    wino_sums(m, n, N0, NA, NB, w);
}

/* Transforms side*side vectors, those of the channels from c on, to the 36 values. */
TARGET EDDY_INLINE void wino_gather(void (*along)(const VECTOR *, const int, VECTOR *), const int side,
                                    VECTOR (*load)(const void *, int64_t, int),
                                    const void *const *from, int64_t c, const int some, float *to,
                                    int64_t step)
{
    VECTOR half[6][6], d[6], v[6];
#pragma GCC unroll 6
    for (int j = 0; j < side; j++) {
#pragma GCC unroll 6
        for (int i = 0; i < side; i++) d[i] = load(from[i * side + j], c, some);
        along(d, side, v);
#pragma GCC unroll 6
        for (int i = 0; i < 6; i++) half[i][j] = v[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
        along(half[i], side, v);
#pragma GCC unroll 6
        for (int j = 0; j < 6; j++) FN(store)(to + (6 * i + j) * step + c, v[j]);
    }
}

TARGET EDDY_INLINE void wino_scatter(void (*along)(const VECTOR *, const int, VECTOR *), const int side,
                                     const float *from, int64_t step, int64_t c, const int some,
                                     float *const *to, VECTOR *check)
{
    VECTOR half[6][6], d[6], v[6];
#pragma GCC unroll 6
    for (int j = 0; j < 6; j++) {
#pragma GCC unroll 6
        for (int i = 0; i < 6; i++) d[i] = FN(load)(from + (6 * i + j) * step + c);
        along(d, side, v);
#pragma GCC unroll 6
        for (int i = 0; i < side; i++) half[i][j] = v[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < side; i++) {
        along(half[i], side, v);
#pragma GCC unroll 6
        for (int j = 0; j < side; j++) {
            *check = wino_axpy(0, v[j], *check);
            if (some) FN(store_some)(to[i * side + j] + c, v[j], some);
            else FN(store)(to[i * side + j] + c, v[j]);
        }
    }
}

/* The vector of elements c and following of x, all or the first `some`. */
TARGET EDDY_INLINE VECTOR wino_floats(const void *x, int64_t c, const int some)
{
    const float *at = (const float *)x + c;
    return some ? FN(load_some)(at, some) : FN(load)(at);
}

/* All channels. */
#define GATHER_OF(fn, name, side, load)                                         \
    TARGET static void fn(const void *const *from, int64_t n, float *to, int64_t step) \
    {                                                                           \
        int64_t c = 0;                                                          \
        for (; c + LANES <= n; c += LANES) wino_gather(name, side, load, from, c, 0, to, step); \
        if (c < n) wino_gather(name, side, load, from, c, (int)(n - c), to, step); \
    }
#define GATHER(name, side) GATHER_OF(name##_##side, name, side, wino_floats)
#define SCATTER(name, side)                                                     \
    TARGET static void name##_##side(const float *from, int64_t step, int64_t n, float *const *to, \
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
SCATTER(wino_output, 2)
GATHER(wino_slope, 2)
GATHER(wino_filter, 5)
SCATTER(wino_taps, 5)
#ifdef HALVES
GATHER_OF(wino_input_half_6, wino_input, 6, HALVES)
GATHER_OF(wino_slope_half_4, wino_slope, 4, HALVES)
GATHER_OF(wino_slope_half_2, wino_slope, 2, HALVES)
#else
#define wino_input_half_6 NULL
#define wino_slope_half_4 NULL
#define wino_slope_half_2 NULL
#endif
#undef GATHER
#undef GATHER_OF
#undef SCATTER
#define WINO_TILES                                                              \
    { { { 3, 4, wino_input_6, wino_output_4, wino_slope_4, wino_filter_3, wino_taps_3,  \
          wino_input_half_6, wino_slope_half_4 },                               \
        { 5, 2, wino_input_6, wino_output_2, wino_slope_2, wino_filter_5, wino_taps_5,  \
          wino_input_half_6, wino_slope_half_2 } } }
