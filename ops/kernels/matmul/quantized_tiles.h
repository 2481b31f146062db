/* quantized_tiles.h -- the innermost loops of products with 8-bit weights: a block of the result
 * in registers, summed as int32 from packed integers and scaled to float32.
 *
 * A word of 32 bits holds neighbors along the inner dimension: four bytes, unsigned weights and
 * signed activations, where the processor multiplies these (AVX-512 VNNI), otherwise two integers
 * of 16 bits. Weights are packed as bytes, in the latter case signed ones that the loops widen.
 * Sums of a chunk are exact and all sets scale them alike, so their bits agree. */
#ifndef EDDY_OPS_KERNELS_MATMUL_QUANTIZED_TILES_H
#define EDDY_OPS_KERNELS_MATMUL_QUANTIZED_TILES_H

#include <stdbool.h>
#include <stdint.h>

/* Weights are stored with this number added. */
enum { EDDY_WEIGHT_ZERO = 128 };
enum { EDDY_QUANTIZED_ROWS = 12 };

/* y[r][j] = row_scales[r] * scales[j] * (the sum over the words of a row and a column), added to y
 * with `onto`. The weights v of a word of all columns of the panel are contiguous; the first
 * `columns` of y are written. row_sums are those of the activations, for words of four. */
typedef struct eddy_quantized_tile {
    const int32_t *s;
    const uint8_t *v;
    int64_t        s_row, words;
    const float   *row_scales, *scales;
    const int32_t *row_sums;
    int64_t        row_step;            /* of row_scales and row_sums */
    float         *y;
    int64_t        ldy;
    int            columns;
    bool           onto;
} eddy_quantized_tile;
typedef void (*eddy_quantized_tile_fn)(const eddy_quantized_tile *t);

/* Packs n elements of each of as many rows as a word has elements. Those of the panel that begins
 * at column c stand from to + c / columns * step on; the last panel is filled up. */
typedef void (*eddy_quantized_join_fn)(uint8_t *to, int64_t step, const uint8_t *const *rows,
                                       int64_t n);

/* The loops for one instruction set. */
typedef struct eddy_quantized_tiles {
    int rows;                           /* of the largest tile */
    int per_word, columns;              /* elements of a word; columns of a panel */
    eddy_quantized_join_fn join;
    eddy_quantized_tile_fn fn[EDDY_QUANTIZED_ROWS];     /* [rows - 1] */
} eddy_quantized_tiles;

/* Those for eddy__instructions_used(). */
const eddy_quantized_tiles *eddy__quantized_tiles_used(void);

#endif
