/* small_matmul.h -- products of small float32 matrices, for kernels that keep their operands in
 * cache themselves, such as attention and the LSTM; private to ops/. */
#ifndef EDDY_OPS_KERNELS_MATMUL_SMALL_MATMUL_H
#define EDDY_OPS_KERNELS_MATMUL_SMALL_MATMUL_H

#include "ops/kernels/matmul/gemm_tiles.h"

#include <stdbool.h>
#include <stdint.h>

/* Columns are counted in lines of this many floats. */
enum { EDDY_LINE = 16 };

static inline int64_t eddy__whole_lines(int64_t n)
{
    return (n + EDDY_LINE - 1) / EDDY_LINE * EDDY_LINE;
}

/* c [m,n] = a b, or c += a b, with inner size k.  Element (i,p) of a is
 * a[i * a_row + p * a_column], and one of the two steps is 1; n is a multiple of
 * EDDY_LINE; a column of b or c is one step.  The sum over k goes from first to last
 * for each element, whatever m and n are. */
typedef struct eddy_panel {
    int64_t      m, n, k;
    const float *a;
    int64_t      a_row, a_column;
    const float *b;
    int64_t      b_row;
    float       *c;
    int64_t      c_row;
    bool         add;
} eddy_panel;

/* Uses the tiles for this processor, or plain loops if there are none; tiles fuse each
 * multiplication with the addition, so the last bits of sums differ. */
void eddy__panel_run(const eddy_panel *p);

/* The same for a b that consists of parts of eddy__panel_columns columns, 1 or 2 times EDDY_LINE,
 * which are `apart` elements apart. Whole rows of a part are neighbors, so that they use all sets of
 * the fastest cache. If `strip` is not 0, a is packed in strips of so many elements, which
 * eddy__panel_strip gives, and a_row and a_column are not used. The caller chooses the tiles, by
 * eddy__gemm_tiles_used, once for all products of operands that it has arranged for them. */
int64_t eddy__panel_columns(const eddy_gemm_tiles *tiles);
void    eddy__panel_run_parts(const eddy_gemm_tiles *tiles, const eddy_panel *p, int64_t apart,
                              int64_t strip);

/* The elements of a strip of rows of an a [m,k] that is packed for the tiles; 0: it is not. And the
 * most elements of all its strips, for any tiles. */
int64_t eddy__panel_strip(const eddy_gemm_tiles *tiles, int64_t m, int64_t k);
int64_t eddy__panel_most_packed(int64_t m, int64_t k);
/* Packs m rows of n elements, which are `row` apart, as columns from `at` on. */
void eddy__panel_pack(const eddy_gemm_tiles *tiles, float *packed, int64_t strip, int64_t at,
                      const float *from, int64_t row, int64_t m, int64_t n);

/* to [columns, rows] = factor from [rows, columns] transposed; both sizes are multiples of 4. */
void eddy__panel_transpose(int64_t rows, int64_t columns, float factor, const float *from,
                           int64_t from_row, float *to, int64_t to_row);

#endif
