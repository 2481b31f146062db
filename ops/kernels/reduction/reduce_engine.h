/* reduce_engine.h -- the engine of all reductions, and the loop over lanes that softmax and the
 * cross entropies share; private to the library.
 *
 * The division of the work depends only on shapes, so results have the same bits from run to
 * run, for any number of threads and any instruction set. Sums and products of float32 are
 * accumulated in float64, those of complex64 in complex128, sums of float64 in many partial sums,
 * integers in 64 bits. */
#ifndef EDDY_OPS_KERNELS_REDUCTION_REDUCE_ENGINE_H
#define EDDY_OPS_KERNELS_REDUCTION_REDUCE_ENGINE_H

#include "graph/op.h"
#include "graph/base/cpu.h"

/* Whether squares overflowed or may have underflowed in the computation of the norm y. */
static inline bool eddy__norm_is_large(double y) { return y > 0x1p600; }
static inline bool eddy__norm_is_small(double y) { return y < 0x1p-450; }

/* Folding for one element type.  `acc` holds accumulators of acc_size bytes.  Each of
 * them accumulates its elements in memory order. */
typedef struct eddy_reducer {
    size_t size, acc_size;
    void (*start)(void *acc, int64_t n);
    /* Accumulates x[r * stride + j] in acc[j], for r < rows and j < width. */
    void (*fold)(void *restrict acc, const void *restrict x, int64_t rows, int64_t width,
                 int64_t stride);
    /* The same with width and stride EDDY_FOLD_LANES. */
    void (*line)(void *restrict acc, const void *restrict x, int64_t rows);
    /* Like fold, for m consecutive small blocks, each of n rows without gaps; a row
     * of width 1 has its own lanes. */
    void (*each)(void *restrict acc, const void *restrict x, int64_t m, int64_t n, int64_t width);
    /* Merges more[j] into acc[j]. */
    void (*add)(void *acc, const void *more, int64_t n);
    /* y[j] = the result in acc[j], over `count` elements. */
    void (*finish)(void *y, const void *acc, int64_t n, int64_t count);
} eddy_reducer;

/* A fold: its reducers by instruction set and element type, zeroed for types that it does not
 * accept. Each fold links only its own loops. */
typedef struct eddy_fold {
    eddy_reducer of[EDDY_SETS][EDDY_DTYPES];
} eddy_fold;

extern const eddy_fold eddy__fold_sum, eddy__fold_mean, eddy__fold_max, eddy__fold_min,
    eddy__fold_prod, eddy__fold_any, eddy__fold_all, eddy__fold_squares;
/* The root of the sum of squares.  For float64, the other two read the same elements again, with
 * scaling, and replace only results that are very large or very small. */
extern const eddy_fold eddy__fold_norm, eddy__fold_norm_large, eddy__fold_norm_small;

/* NULL if the fold does not accept this element type. */
const eddy_reducer *eddy__reducer_of(const eddy_fold *fold, eddy_dtype d);

/* -------------------------------------------------------------- blocks -- */

/* The sum (or another fold) of `rows` rows of `width` elements without gaps, in blocks;
 * width 1 folds all elements to one.  A loop that computes the elements may fold them
 * while they are in the cache, and gets the same bits as the separate op.
 *
 *   - Block b has the elements from b * block on, `block` of them or the rest.
 *   - A block has `period` accumulators, a multiple of width: element e of the block goes
 *     to number e % period, in ascending order of e, however it is divided into pieces.
 *   - At its end, the period / width lanes are merged: the upper half is merged into the lower one,
 *     which has the middle lane of an odd number, until one lane is left.
 *   - The blocks are merged in ascending order, beginning with an initialized accumulator.
 *
 *   eddy_blocks b = eddy__blocks_of(r, rows, width);
 *   for each block i, in any order and on any thread, with acc of eddy__blocks_acc_bytes(&b):
 *       eddy__block_start(&b, acc);
 *       eddy__block_take(&b, acc, at, x, n);     for pieces in order, at: in the block
 *       eddy__block_end(&b, acc);                now `width` accumulators; to part[i]
 *   eddy__blocks_finish(&b, y, part);            y[0 .. width) */
enum { EDDY_FOLD_LANES = 32 };

typedef struct eddy_blocks {
    const eddy_reducer *reducer;
    int64_t rows, width, period, block;   /* block: elements */
    int64_t count;                        /* of blocks; 0 without elements */
} eddy_blocks;

eddy_blocks eddy__blocks_of(const eddy_reducer *r, int64_t rows, int64_t width);
/* Bytes of a block's accumulators while it is processed, and after its end. */
size_t eddy__blocks_acc_bytes(const eddy_blocks *b);
size_t eddy__blocks_part(const eddy_blocks *b);
void eddy__block_start(const eddy_blocks *b, void *acc);
/* Folds elements [at, at + n) of the block. */
void eddy__block_take(const eddy_blocks *b, void *acc, int64_t at, const void *x, int64_t n);
void eddy__block_end(const eddy_blocks *b, void *acc);
/* part: the result of each block, eddy__blocks_part bytes apart. */
void eddy__blocks_finish(const eddy_blocks *b, void *y, const void *part);

/* ---------------------------------------------------------- reductions -- */

typedef struct eddy_loop { int64_t size, stride; } eddy_loop;

/* A reduction of concrete size.  The innermost block has `rows` rows of `width`
 * elements, `stride` apart, folded to one row; there are `many` such
 * consecutive blocks.  Around them are loops, outermost first, over more results (kept)
 * and over more elements of each (folded). */
typedef struct eddy_reduction {
    const eddy_reducer *reducer;
    int64_t   rows, width, stride, many;
    int64_t   results, count;         /* number of results, and elements in each */
    int       n_kept, n_folded;
    eddy_loop kept[EDDY_MAX_RANK], folded[EDDY_MAX_RANK];
    const struct eddy_stop *stop;     /* of the kernel that runs it; NULL: none */
} eddy_reduction;

/* The reduction of a known shape along the axes in `mask` (bit i: axis i). */
eddy_reduction eddy__reduction_of(const eddy_reducer *r, eddy_shape s, unsigned mask);
/* The reduction of n rows of `width` elements, `stride` apart, `many` times. */
eddy_reduction eddy__reduction_of_block(const eddy_reducer *r, int64_t many, int64_t n,
                                        int64_t width, int64_t stride);
/* The blocks of a reduction of contiguous whole rows to one; false for any other reduction. */
bool eddy__reduction_blocks(const eddy_reduction *p, eddy_blocks *b);
/* Runs on the calling thread. */
void eddy__reduction_run(const eddy_reduction *p, void *y, const void *x);
/* The same for a kernel, in parallel; prepare requests scratch memory for it. */
void eddy__reduction_prepare(eddy_kernel *k, const eddy_reduction *p);
void eddy__reduction_kernel(eddy_kernel *k, const eddy_reduction *p, void *y, const void *x);

/* The axes as a mask; all if none were given.  Reports an error if they are invalid; for an
 * unknown rank (-1) the mask has no meaning. */
bool     eddy__infer_axes(eddy_infer *c, eddy_dims axes, int rank, unsigned *mask);
unsigned eddy__axes_mask(eddy_dims axes, int rank);     /* of valid axes */

/* eddy_norm of vectors, "euclidean", without its scope, for the formulas of other norms.
 * If it is 0, its gradient is 0. */
eddy_tensor eddy__norm_of(eddy_tensor x, eddy_dims axes, bool keepdims);

/* The elements around one axis: outer * n * inner of them. */
typedef struct eddy_lanes { int64_t outer, n, inner; } eddy_lanes;
eddy_lanes eddy__lanes_of(eddy_shape s, int64_t axis);

/* ------------------------------------------------------------- softmax -- */

enum { EDDY_SOFTMAX_LANES = 256 };

/* Some lanes of x along an axis: either `many` lanes of n consecutive elements (stride and width
 * 1), or n rows of `width` lanes, `stride` apart, with a stride above 1 (many 1).  x and y point to
 * the first element; `lane` is the number of the first lane. */
typedef struct eddy_softmax_block {
    const void *x;
    void       *y;                  /* exp(x - top) */
    const void *top, *sum;          /* per lane: the largest x, the sum of y */
    int64_t     many, n, width, stride, lane;
} eddy_softmax_block;

/* Calls `finish` for the blocks that make up x, each right after it is
 * computed, some concurrently.  x and y may be the same memory if finish does not read x. */
void eddy__softmax_walk(eddy_kernel *k, eddy_type t, int64_t axis, const void *x, void *y,
                        void (*finish)(eddy_kernel *k, const eddy_softmax_block *b));
/* y = softmax, minus the labels of the same elements if they are not NULL. */
void eddy__softmax_finish(eddy_dtype d, const eddy_softmax_block *b, const void *labels);
/* y = the logarithm of softmax; and only the logarithms of b->sum, in its type. */
void eddy__softmax_finish_log(eddy_dtype d, const eddy_softmax_block *b);
void eddy__softmax_logs(eddy_dtype d, const eddy_softmax_block *b, void *log_sum);

/* The one axis in an option, or the last; returns false after reporting an error. */
bool eddy__take_axis(eddy_graph *g, const eddy_op_def *op, eddy_dims axis, int64_t *out);

#endif
