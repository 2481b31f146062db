/* packed_rows.c -- packs the rows of an operand of small_matmul.h for tiles; programs that do not
 * need it do not link it. */
#include "ops/kernels/matmul/small_matmul.h"

#include "graph/base/min_max.h"
#include "ops/kernels/matmul/gemm_tiles.h"

/* Strips begin at different sets of a cache. */
static int64_t strip_size(int64_t k) { return k * EDDY_PACKED_STEP + EDDY_LINE; }

int64_t eddy__panel_strip(const eddy_gemm_tiles *tiles, int64_t m, int64_t k)
{
    if (m == 0 || !tiles) return 0;
    if (!eddy__gemm_unrolled(tiles, eddy__pieces(m, eddy__pieces(m, tiles->rows)))) return 0;
    return strip_size(k);
}

int64_t eddy__panel_most_packed(int64_t m, int64_t k)
{
    return eddy__pieces(m, EDDY_PACKED_ROWS) * strip_size(k);
}

void eddy__panel_pack(const eddy_gemm_tiles *tiles, float *packed, int64_t strip, int64_t at,
                      const float *from, int64_t row, int64_t m, int64_t n)
{
    int64_t parts = eddy__pieces(m, tiles->rows);
    packed += at * tiles->step;
    for (int64_t i = 0, rows; i < m; i += rows, parts--, packed += strip) {
        rows = eddy__pieces(m - i, parts);
        eddy__gemm_transpose(packed, tiles->step, from + i * row, row, rows, n);
    }
}
