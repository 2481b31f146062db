/* layer_norm_sets.h -- layer_norm_loops.h for each instruction set, for one element type, T: a
 * template of ops/kernels/for_floats.h. */

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
