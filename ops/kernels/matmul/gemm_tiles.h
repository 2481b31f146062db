/* gemm_tiles.h -- the innermost loops (micro-kernels) of the float32 matrix product: a block of
 * the result in registers, computed from a strip of rows and a panel of columns.
 *
 * Every element is one chain of fused multiply-adds along the inner dimension, so its bits do not
 * depend on the tile that contains it. */
#ifndef EDDY_OPS_KERNELS_MATMUL_GEMM_TILES_H
#define EDDY_OPS_KERNELS_MATMUL_GEMM_TILES_H

#include "graph/base/cpu.h"

#include <stdbool.h>
#include <stdint.h>

enum { EDDY_TILE_ROWS = 14, EDDY_TILE_COLUMNS = 32, EDDY_STRIP_STEP = 16 };

/* y[r][j] = sum over p < k of s[r * s_row + p * s_step] * v[p * v_step + j] for the rows
 * and vectors for which the function is made, added to y with `onto`; all of the
 * vectors are written; only the first `columns` of v are read. */
typedef struct eddy_gemm_tile {
    const float *s, *v;
    float       *y;
    int64_t      s_row, s_step, v_step, ldy, k;
    int          columns;
    bool         onto;
    const float *next;                      /* see `requesting`; NULL: nothing */
} eddy_gemm_tile;
typedef void (*eddy_gemm_tile_fn)(const eddy_gemm_tile *t);

/* The same for operands that are contiguous along the inner dimension: s_step is 1, and v_step is
 * the distance of the columns.  fn has the index [rows - 1][columns - 1]. */
enum { EDDY_DOT_COLUMNS = 4 };
typedef struct eddy_gemm_dots {
    int               rows;
    eddy_gemm_tile_fn fn[6][EDDY_DOT_COLUMNS];
} eddy_gemm_dots;
extern const eddy_gemm_dots eddy__gemm_dots_avx2, eddy__gemm_dots_avx512;

/* The columns of the tile of a single row. */
enum { EDDY_ROW_COLUMNS = 64 };

/* Of unrolled tiles: the most rows, the distance of the steps of a packed strip, and the steps that
 * are one piece of code. */
enum { EDDY_PACKED_ROWS = 6, EDDY_PACKED_STEP = 8, EDDY_UNROLLED_STEPS = 8 };

/* The loops for one instruction set. */
typedef struct eddy_gemm_tiles {
    int rows, lanes;                 /* most rows of a tile; elements of a vector */
    /* [rows - 1][vectors - 1]; packed: s_row is 1 */
    eddy_gemm_tile_fn packed[EDDY_TILE_ROWS][2], apart[EDDY_TILE_ROWS][2];
    const eddy_gemm_dots  *dots;
    /* One row and EDDY_ROW_COLUMNS columns of a packed operand, of which each element is used only
     * once: as many chains of additions as loads need. `onto` is ignored. */
    eddy_gemm_tile_fn row;
    /* The distance of the steps of a packed strip for which `unrolled` is made; 0: any. */
    int step;
    /* Or NULL: whole tiles of packed columns for a k that is a multiple of EDDY_UNROLLED_STEPS; [0]
     * has the most rows, [1] one less. `requesting` has s_step 1, and requests a line of `next` in
     * EDDY_UNROLLED_STEPS steps. */
    eddy_gemm_tile_fn unrolled[2], requesting[2];
} eddy_gemm_tiles;

/* Whether there are unrolled tiles of so many rows. */
static inline bool eddy__gemm_unrolled(const eddy_gemm_tiles *tiles, int64_t rows)
{
    return tiles->step && tiles->rows - rows < 2;
}

/* The tile for so many rows and t->columns. */
eddy_gemm_tile_fn eddy__gemm_tile_fn(const eddy_gemm_tiles *tiles, const eddy_gemm_tile *t,
                                     int64_t rows);
/* The tiles for eddy__instructions_used(); NULL if there are none and BLAS is used. */
const eddy_gemm_tiles *eddy__gemm_tiles_used(void);
/* Those for other instructions; only for x86-64. */
const eddy_gemm_tiles *eddy__gemm_tiles_of(eddy_instructions used);
/* The same for pairs of bfloat16: in the place of each float of s and v are two elements that are
 * neighbors along the inner dimension, whose length k counts pairs. There are no dots. Denormal
 * numbers count as 0. */
extern const eddy_gemm_tiles *const eddy__gemm_pair_tiles;

/* to[j * ldto + i] = from[i * ldfrom + j] for i < rows, j < columns; a row of `to` may be
 * written up to the next multiple of eight. */
void eddy__gemm_transpose(float *to, int64_t ldto, const float *from, int64_t ldfrom, int64_t rows,
                          int64_t columns);

/* to[i * part + q * row + j] = from[q * step + i * size + j] for q < k, i < parts, j < size, in
 * vectors of eight: up to seven elements more are read, and written before those of the next row.
 */
void eddy__gemm_copy_parts(float *to, int64_t part, int64_t row, const float *from, int64_t step,
                           int64_t k, int64_t parts, int64_t size);

#endif
