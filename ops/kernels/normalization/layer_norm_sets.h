/* layer_norm_sets.h -- layer_norm_loops.h for each instruction set, for one element type, T: a
 * template of ops/kernels/for_floats.h. */

/* Row r, whose deviations have squares beyond the largest number: mean and variance are those of the
 * row times 2^-96 (float64: 2^-768). Where an element is no number, neither are they. */
static void NAME(far_row)(const eddy_norm_work *w, int64_t r)
{
    const int64_t n = w->width;
    const T      *x = (const T *)w->x + r * n, *scale = w->scale, *offset = w->offset;
    const T       s = sizeof(T) == 4 ? (T)0x1p-96 : (T)0x1p-768;
    T             sum = 0, squares = 0, off = 0, *y = (T *)w->y + r * n;
    for (int64_t i = 0; i < n; i++) sum += x[i] * s;
    const T m = sum / (T)n;
    for (int64_t i = 0; i < n; i++) {
        const T d = x[i] * s - m;
        off += d;
        squares += d * d;
    }
    off /= (T)n;
    squares = squares / (T)n - off * off;
    if (squares < 0) squares = 0;
    const T mean = (m + off) / s, variance = squares / s / s;
    const T rstd = isinf(variance) ? s / (T)sqrt(squares)
                                   : 1 / (T)sqrt(variance + (T)w->epsilon);
    ((T *)w->mean)[r] = mean;
    ((T *)w->rstd)[r] = rstd;
    for (int64_t j = 0; j < n; j++) y[j] = (x[j] - mean) * rstd * scale[j] + offset[j];
}

#define SET    base
#define WIDTH  16
#define TARGET
#include "ops/kernels/normalization/layer_norm_loops.h"
#if defined(__x86_64__)
#define SET    avx2
#define WIDTH  32
#define TARGET EDDY_TARGET_AVX2
#include "ops/kernels/normalization/layer_norm_loops.h"
#define SET    avx512
#define WIDTH  64
#define TARGET EDDY_TARGET_AVX512
#include "ops/kernels/normalization/layer_norm_loops.h"
#endif

/* dscale and doffset: the partial sums of the blocks, added in order. */
static void NAME(rows_join)(const eddy_norm_work *w, int64_t blocks, void *dscale_,
                            void *doffset_)
{
    const int64_t d = w->width;
    T *dscale = dscale_, *doffset = doffset_;
    for (int64_t j = 0; j < d; j++) {
        double scale = 0, offset = 0;
        for (int64_t b = 0; b < blocks; b++) {
            scale += w->part[b * 4 * d + j];
            offset += w->part[b * 4 * d + d + j];
        }
        dscale[j] = (T)scale;
        doffset[j] = (T)offset;
    }
}
