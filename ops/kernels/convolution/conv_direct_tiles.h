/* conv_direct_tiles.h -- the register tiles of conv_direct.h, for one element type and instruction
 * set.
 *
 * Included by conv_tiles_*.c, once for each type, with these defined:
 *   FN(name)         the name of a function of this inclusion
 *   REAL, VECTOR     the types of an element and of LANES of them
 *   MOST, MOST_ONE   maximum rows of a tile of two vectors, of one
 *   TARGET           the attribute that allows the instructions
 *   STRIPS_ONLY      if there are no patches
 * FN(load), FN(store), FN(store_some), FN(spread) and FN(fma) must be defined as well. The number
 * of rows is a constant in every tile, so that its sums stay in registers; the order in which an
 * element is summed does not depend on it. */

TARGET EDDY_INLINE void FN(strip_tile)(const eddy_conv_strip *s, const REAL *x, REAL *y,
                                       const int rows, const int wide)
{
    enum { BASES = (16 + 2) / 3 };
    const REAL   *w = s->w, *p[BASES];
    const int64_t step = s->x_step;
    VECTOR        sum[16][2];
    for (int i = 0; i < rows; i++) sum[i][0] = sum[i][1] = FN(spread)(0);
    for (int64_t t = 0; t < s->taps; t++) {
        /* A pointer for every third row: these fit in registers, and an address on x86 can add one
         * or two steps. */
#pragma GCC unroll 16
        for (int i = 0; i < (rows + 2) / 3; i++) p[i] = x + s->at[t] + 3 * i * step;
        for (int64_t k = 0; k < s->run; k++, w += wide * LANES) {
            const VECTOR a = FN(load)(w), b = wide > 1 ? FN(load)(w + LANES) : a;
#pragma GCC unroll 16
            for (int i = 0; i < rows; i++) {
                const VECTOR v = FN(spread)(p[i / 3][i % 3 * step]);
                sum[i][0] = FN(fma)(v, a, sum[i][0]);
                if (wide > 1) sum[i][1] = FN(fma)(v, b, sum[i][1]);
            }
#pragma GCC unroll 16
            for (int i = 0; i < (rows + 2) / 3; i++) p[i]++;
        }
    }
    const int n = s->channels, last = n - (wide - 1) * LANES;
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++, y += s->y_step) {
        if (wide > 1) FN(store)(y, sum[i][0]);
        if (last == LANES) FN(store)(y + (wide - 1) * LANES, sum[i][wide - 1]);
        else FN(store_some)(y + (wide - 1) * LANES, sum[i][wide - 1], last);
    }
}

#ifndef STRIPS_ONLY
TARGET EDDY_INLINE void FN(patch_tile)(const eddy_conv_patch *p, const REAL *x, REAL *dw,
                                       const int rows, const int wide)
{
    VECTOR sum[16][2];
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++) {
        sum[i][0] = FN(load)(dw + i * wide * LANES);
        if (wide > 1) sum[i][1] = FN(load)(dw + i * wide * LANES + LANES);
    }
    for (int64_t n = 0; n < p->count[0]; n++)
        for (int64_t r = 0; r < p->count[1]; r++) {
            const REAL *q = x + n * p->x_step[0] + r * p->x_step[1];
            const REAL *d = (const REAL *)p->dy + n * p->dy_step[0] + r * p->dy_step[1];
            for (int64_t c = 0; c < p->count[2]; c++, q += p->x_step[2], d += p->dy_step[2]) {
                const VECTOR a = FN(load)(d), b = wide > 1 ? FN(load)(d + LANES) : a;
#pragma GCC unroll 16
                for (int i = 0; i < rows; i++) {
                    const VECTOR v = FN(spread)(q[i]);
                    sum[i][0] = FN(fma)(v, a, sum[i][0]);
                    if (wide > 1) sum[i][1] = FN(fma)(v, b, sum[i][1]);
                }
            }
        }
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++) {
        FN(store)(dw + i * wide * LANES, sum[i][0]);
        if (wide > 1) FN(store)(dw + i * wide * LANES + LANES, sum[i][1]);
    }
}

#endif

/* The number of rows of the next tile if `left` rows remain; all tiles have about the same size. */
static int FN(next)(int64_t left, int most)
{
    const int64_t tiles = (left + most - 1) / most;
    return (int)((left + tiles - 1) / tiles);
}

#define CASE(n)                                                                 \
    case n:                                                                     \
        if ((n) <= most) TILE(n);                                               \
        break;
#define CASES                                                                   \
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)             \
    CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14) CASE(15) CASE(16)

#define TILE(n) FN(strip_tile)(s, x, y, n, wide)
TARGET EDDY_INLINE void FN(strip_of)(const eddy_conv_strip *s, const int wide, const int most)
{
    const REAL *x = s->x;
    REAL       *y = s->y;
    int         n;
    for (int64_t left = s->pixels; left > 0; left -= n) {
        switch (n = FN(next)(left, most)) {
        CASES
        }
        x += n * s->x_step;
        y += n * s->y_step;
    }
}
#undef TILE

#ifndef STRIPS_ONLY
#define TILE(n) FN(patch_tile)(p, x, dw, n, wide)
TARGET EDDY_INLINE void FN(patch_of)(const eddy_conv_patch *p, const int wide, const int most)
{
    const REAL *x = p->x;
    REAL       *dw = p->dw;
    int         n;
    for (int64_t left = p->run; left > 0; left -= n) {
        switch (n = FN(next)(left, most)) {
        CASES
        }
        x += n;
        dw += n * wide * LANES;
    }
}
#undef TILE
#endif
#undef CASES
#undef CASE

TARGET static void FN(strip)(const eddy_conv_strip *s)
{
    if (s->channels > LANES) FN(strip_of)(s, 2, MOST);
    else FN(strip_of)(s, 1, MOST_ONE);
}

#ifndef STRIPS_ONLY
TARGET static void FN(patch)(const eddy_conv_patch *p)
{
    if (p->channels > LANES) FN(patch_of)(p, 2, MOST);
    else FN(patch_of)(p, 1, MOST_ONE);
}
#endif

#undef FN
#undef REAL
#undef VECTOR
#undef LANES
#undef MOST
#undef MOST_ONE
