/* gemm.h -- float32 matrix product (GEMM) with the tiles of gemm_tiles.h. */
#ifndef EDDY_OPS_KERNELS_MATMUL_GEMM_H
#define EDDY_OPS_KERNELS_MATMUL_GEMM_H

#include "ops/kernels/matmul/gemm_tiles.h"
#include "ops/kernels/matmul/matmul_threads.h"

/* The plan of a product: the grid of rows and columns of y, or with `transposed` of y transposed,
 * which is divided into tiles.  Vectors run along the columns. */
typedef struct eddy_gemm {
    const eddy_gemm_tiles *tiles;
    bool    transposed;
    bool    dots;                     /* tiles are inner products */
    bool    pairs;                    /* of bfloat16; k, depth and the steps along it count pairs */
    bool    s_apart;                  /* elements along k are neighbors in s */
    bool    pack_s, pack_v;           /* whether a strip, a panel is packed first */
    bool    s_turned;                 /* packing a strip makes rows neighbors that are apart in s */
    int64_t packed_row, packed_step;  /* the distances of rows and steps in a packed strip */
    int64_t strip_size;               /* its elements */
    const float *packed;              /* all of v, packed before the run; NULL: it is not */
    struct eddy_shared_packing *shared; /* the same, packed by one of several products; NULL: not */
    bool    requests;                 /* tiles request a part of the next panel */
    bool    v_transposed;             /* the columns of v are far apart: packing transposes it */
    int     strip, panel;             /* rows and columns of a tile */
    int64_t rows, columns, k;
    int64_t s_row, s_step;            /* of the operand that has the rows */
    int64_t v_step;                   /* of the other: distance between stored rows */
    int64_t depth, width;             /* inner size and columns of a packed block */
} eddy_gemm;

/* Returns false if these tiles are unsuitable: BLAS is faster, or there are none. */
bool eddy__gemm_plan(eddy_gemm *g, const eddy_product *p);
/* Plans the product of a single row by input b of k if that is constant, and so packed once: the
 * rows of a panel are then read one after the other. Its bits are those without packing. */
bool eddy__gemm_plan_row(eddy_gemm *g, const eddy_product *p, const eddy_kernel *k, int b);
/* Packs the operand of the columns once, if the kernel may keep it: input `operand` of k; or once
 * in a run, if other products share it. The bits are those of the other products. Only in prepare. */
void eddy__gemm_pack(eddy_gemm *g, const eddy_kernel *k, int operand);
/* Packs columns [c0, c1) of v into the memory of all columns; c0 is a multiple of panel. */
void eddy__gemm_pack_columns(const eddy_gemm *g, const void *v, float *to, int64_t c0, int64_t c1,
                             const struct eddy_stop *stop);
size_t eddy__gemm_scratch(const eddy_gemm *g);               /* for one worker */
/* Rows [r0, r1) by columns [c0, c1) of the grid, with the epilogue.  r0 is a multiple of
 * strip, c0 of panel. */
void eddy__gemm_block(const eddy_gemm *g, const eddy_product *p, int64_t r0, int64_t r1, int64_t c0,
                      int64_t c1, float *scratch);

#endif
