/* packed_rows.c -- packs the rows of an operand of small_matmul.h for tiles; programs that do not
 * need it do not link it. */
#include "ops/kernels/matmul/small_matmul.h"

#include "graph/base/min_max.h"
#include "ops/kernels/matmul/gemm_tiles.h"

int64_t eddy__panel_strip(int64_t m, int64_t k)
{
    const eddy_gemm_tiles *tiles = eddy__gemm_tiles_used();
    if (m == 0 || !tiles) return 0;
    if (!eddy__gemm_unrolled(tiles, eddy__pieces(m, eddy__pieces(m, tiles->rows)))) return 0;
    return k * tiles->step + EDDY_LINE;         /* strips begin at different sets of a cache */
}

int64_t eddy__panel_packed(int64_t m, int64_t k)
{
    const int64_t strip = eddy__panel_strip(m, k);
    return strip ? eddy__pieces(m, eddy__gemm_tiles_used()->rows) * strip : 0;
}

void eddy__panel_pack(float *packed, int64_t strip, int64_t at, const float *from, int64_t row,
                      int64_t m, int64_t n)
{
    const eddy_gemm_tiles *tiles = eddy__gemm_tiles_used();
    int64_t                parts = eddy__pieces(m, tiles->rows);
    packed += at * tiles->step;
    for (int64_t i = 0, rows; i < m; i += rows, parts--, packed += strip) {
        rows = eddy__pieces(m - i, parts);
        eddy__gemm_transpose(packed, tiles->step, from + i * row, row, rows, n);
    }
}
