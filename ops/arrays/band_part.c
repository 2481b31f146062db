/* band_part.c -- band part of matrices: the diagonals near the main one are kept, all others
 * are set to zero; upper and lower triangles (triu, tril). */
#include "graph/base/thread_pool.h"
#include "graph/base/min_max.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

enum { FARTHEST = 1 << 30 };

typedef struct band_attrs {
    int64_t lower, upper;              /* kept: lower <= column - row <= upper */
} band_attrs;

static bool band_infer(eddy_infer *c)
{
    const band_attrs *a = c->attrs;
    const eddy_shape  x = c->in[0].shape;
    if (a->lower < -FARTHEST || a->lower > FARTHEST || a->upper < -FARTHEST || a->upper > FARTHEST)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "the band from %lld to %lld is out of range", (long long)a->lower,
                               (long long)a->upper);
    return eddy__infer_yield(c, 0, c->in[0].dtype, x);
}

/* Rows [from, to) of all matrices. */
static void keep_rows(void *arg, int64_t from, int64_t to, int worker)
{
    const eddy_kernel *k = arg;
    const band_attrs  *a = k->attrs;
    const eddy_shape   s = k->out[0]->type.shape;
    const int64_t      rows = s.dim[s.rank - 2], columns = s.dim[s.rank - 1];
    const size_t       size = eddy_dtype_size(k->out[0]->type.dtype);
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        const char   *x = (const char *)k->in[0]->data + (size_t)(i * columns) * size;
        char         *y = (char *)k->out[0]->data + (size_t)(i * columns) * size;
        const int64_t first = eddy__clamp(i % rows + a->lower, 0, columns);
        const int64_t end = eddy__clamp(i % rows + a->upper + 1, 0, columns);
        const int64_t last = end > first ? end : first;
        memset(y, 0, (size_t)first * size);
        if (y != x && last > first)
            memcpy(y + (size_t)first * size, x + (size_t)first * size,
                   (size_t)(last - first) * size);
        memset(y + (size_t)last * size, 0, (size_t)(columns - last) * size);
    }
}

static eddy_status band_kernel(eddy_kernel *k)
{
    enum { BYTES = 1 << 17 };
    const eddy_buffer *y = k->out[0];
    const eddy_shape   s = y->type.shape;
    if (y->count == 0) return EDDY_OK;
    const int64_t bytes = s.dim[s.rank - 1] * (int64_t)eddy_dtype_size(y->type.dtype);
    eddy__parallel_or_stop(k, y->count / s.dim[s.rank - 1], BYTES / bytes + 1, keep_rows, k);
    return EDDY_OK;
}

static void band_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_apply1(r->node->op, r->attrs, r->dy[0]);
}

const eddy_op_def eddy_op_matrix_band_part = {
    .name = "MatrixBandPart", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_MOVES | EDDY_OP_IN_PLACE, .attrs_size = sizeof(band_attrs),
    .attrs = EDDY_ATTRS(band_attrs, lower, upper),
    .inputs = EDDY_INPUTS({ "x", EDDY_RANK_FROM(2) }),
    .infer = band_infer, .kernel = band_kernel, .gradient = band_gradient,
    .batch = eddy_batch_as_is,
};

/** y = x within num_lower diagonals below the main one and num_upper above it, else 0.
 *
 *  x          any element type, [..., rows, columns]
 *  num_lower  up to 2^30; negative: all below the main diagonal
 *  num_upper  up to 2^30; negative: all above the main diagonal
 *
 *  Errors: EDDY_BAD_SHAPE if x has rank below 2, EDDY_INVALID_ARGUMENT for a number too large.
 *  Gradient: dx = dy within the same band.  TensorFlow: MatrixBandPart. */
eddy_tensor eddy_matrix_band_part(eddy_tensor x, int64_t num_lower, int64_t num_upper)
{
    return eddy_apply1(&eddy_op_matrix_band_part,
                       &(band_attrs){ num_lower < 0 ? -FARTHEST : -num_lower,
                                      num_upper < 0 ? FARTHEST : num_upper }, x);
}

/** y = the lower triangle of x: the elements on and below diagonal k, zeros elsewhere.
 *
 *  x  any element type, [..., rows, columns]
 *  k  0 is the main diagonal, 1 the one above it, -1 the one below
 *
 *  Errors: as for eddy_matrix_band_part.
 *  Gradient: dx = the lower triangle of dy.  TensorFlow: MatrixBandPart; NumPy's tril. */
eddy_tensor eddy_tril(eddy_tensor x, int64_t k)
{
    return eddy_apply1(&eddy_op_matrix_band_part, &(band_attrs){ -FARTHEST, k }, x);
}

/** y = the upper triangle of x: the elements on and above diagonal k, zeros elsewhere.
 *
 *  x, k  as for eddy_tril
 *
 *  Errors: as for eddy_matrix_band_part.
 *  Gradient: dx = the upper triangle of dy.  TensorFlow: MatrixBandPart; NumPy's triu. */
eddy_tensor eddy_triu(eddy_tensor x, int64_t k)
{
    return eddy_apply1(&eddy_op_matrix_band_part, &(band_attrs){ k, FARTHEST }, x);
}
