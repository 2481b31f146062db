/* edit_distance.c -- edit distance (Levenshtein) between sequences. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/ops.h"
#include "build/gen/table.h"

#include <math.h>

typedef struct distance_attrs {
    bool normalize;
} distance_attrs;

enum { HYPOTHESIS, HYPOTHESIS_LENGTH, TRUTH, TRUTH_LENGTH };

/* *rows = the shape without the last axis, as far as it is known. */
static bool infer_rows(eddy_infer *c, int i, eddy_shape *rows)
{
    const eddy_shape s = c->in[i].shape, lengths = c->in[i + 1].shape;
    char text[128], more[128];
    *rows = s.rank < 0 ? s : eddy__shape_without(s, s.rank - 1);
    if (!eddy_shape_compatible(*rows, lengths))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "sequences have shape %s, but lengths has %s",
                               eddy_shape_print(s, text, sizeof text),
                               eddy_shape_print(lengths, more, sizeof more));
    if (s.rank < 0) *rows = lengths;
    for (int j = 0; j < rows->rank && lengths.rank >= 0; j++)
        eddy__dim_unify(&rows->dim[j], lengths.dim[j]);
    return true;
}

static bool distance_infer(eddy_infer *c)
{
    eddy_shape a = EDDY_UNKNOWN_SHAPE, b = EDDY_UNKNOWN_SHAPE;
    char x[128], y[128];
    if (!infer_rows(c, HYPOTHESIS, &a) || !infer_rows(c, TRUTH, &b)) return false;
    if (!eddy_shape_compatible(a, b))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the batch of hypotheses is %s, but that of truths is %s",
                               eddy_shape_print(a, x, sizeof x), eddy_shape_print(b, y, sizeof y));
    if (a.rank < 0) a = b;
    for (int i = 0; i < a.rank && b.rank >= 0; i++) eddy__dim_unify(&a.dim[i], b.dim[i]);
    return eddy__infer_yield(c, 0, EDDY_FLOAT32, a);
}

static int64_t last_of(const eddy_buffer *x)
{
    return x->type.shape.dim[x->type.shape.rank - 1];
}

static eddy_status distance_prepare(eddy_kernel *k)
{
    const uint64_t row = (uint64_t)last_of(k->in[TRUTH]) + 1;
    if (k->out[0]->count > 0) k->scratch_size = (uint64_t)k->threads * row * 2 * sizeof(int64_t);
    return EDDY_OK;
}

/* One row of the table at a time: at[j] is the distance of the first i hypotheses and j truths. */
static int64_t distance(int64_t n, const eddy_buffer *a, int64_t from_a, int64_t m,
                        const int64_t *b, int64_t *at)
{
    for (int64_t j = 0; j <= m; j++) at[j] = j;
    for (int64_t i = 1; i <= n; i++) {
        const int64_t id = eddy__index_at(a, from_a + i - 1);
        int64_t corner = at[0];
        at[0] = i;
        for (int64_t j = 1; j <= m; j++) {
            const int64_t change = corner + (id != b[j - 1]);
            const int64_t other = 1 + (at[j] < at[j - 1] ? at[j] : at[j - 1]);
            corner = at[j];
            at[j] = change < other ? change : other;
        }
    }
    return at[m];
}

static void some_rows(void *arg, int64_t from, int64_t to, int worker)
{
    const eddy_kernel    *k = arg;
    const distance_attrs *attrs = k->attrs;
    const int64_t na = last_of(k->in[HYPOTHESIS]), nb = last_of(k->in[TRUTH]);
    int64_t *at = (int64_t *)k->scratch + worker * 2 * (nb + 1), *b = at + nb + 1;
    for (int64_t row = from; row < to; row++) {
        const int64_t n = eddy__index_at(k->in[HYPOTHESIS_LENGTH], row);
        const int64_t m = eddy__index_at(k->in[TRUTH_LENGTH], row);
        for (int64_t j = 0; j < m; j++) b[j] = eddy__index_at(k->in[TRUTH], row * nb + j);
        double d = (double)distance(n, k->in[HYPOTHESIS], row * na, m, b, at);
        if (attrs->normalize && d > 0) d = m > 0 ? d / (double)m : INFINITY;
        ((float *)k->out[0]->data)[row] = (float)d;
    }
}

static eddy_status distance_kernel(eddy_kernel *k)
{
    enum { WORK = 20000 };                     /* the number of cells that is worth a thread */
    for (int i = HYPOTHESIS; i <= TRUTH; i += TRUTH - HYPOTHESIS) {
        const int64_t most = k->out[0]->count ? last_of(k->in[i]) : 0;
        for (int64_t row = 0; row < k->out[0]->count; row++) {
            const int64_t n = eddy__index_at(k->in[i + 1], row);
            if (n < 0 || n > most)
                return eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT, "length %lld of row %lld is not "
                                        "in [0,%lld]", (long long)n, (long long)row,
                                        (long long)most);
        }
    }
    if (k->out[0]->count == 0) return EDDY_OK;
    const double cells = (double)(last_of(k->in[HYPOTHESIS]) + 1) *
                         (double)(last_of(k->in[TRUTH]) + 1);
    eddy__parallel_or_stop(k, k->out[0]->count, 1 + (int64_t)(WORK / cells), some_rows, k);
    return EDDY_OK;
}

static void distance_batch(eddy_batch *b)
{
    eddy_tensor in[4];
    for (int i = 0; i < 4; i++) in[i] = eddy_batch_input(b, i);
    b->y[0] = eddy_apply(b->node->op, b->attrs, 4, in, (eddy_apply_args){ 0 });
}

/* Three operations for each pair of positions. */
static double distance_flops(const void *attrs, int n_in, const eddy_type *in,
                             const eddy_type *out)
{
    const eddy_shape b = in[TRUTH].shape;
    (void)attrs, (void)n_in, (void)out;
    return 3 * (double)eddy_shape_count(in[HYPOTHESIS].shape) * (double)b.dim[b.rank - 1];
}

const eddy_op_def eddy_op_edit_distance = {
    .name = "EditDistance", .label = "edit_distance", .min_inputs = 4, .max_inputs = 4,
    .outputs = 1, .attrs_size = sizeof(distance_attrs),
    .attrs = EDDY_ATTRS(distance_attrs, normalize),
    .inputs = EDDY_INPUTS({ "hypothesis", EDDY_TAKES_INDICES | EDDY_RANK_FROM(1) },
                          { "hypothesis_length", EDDY_TAKES_INDICES },
                          { "truth", EDDY_TAKES_INDICES | EDDY_RANK_FROM(1) },
                          { "truth_length", EDDY_TAKES_INDICES }),
    .flops = distance_flops, .infer = distance_infer, .prepare = distance_prepare,
    .kernel = distance_kernel, .gradient = eddy_not_differentiable, .batch = distance_batch,
};

/** y = the minimum number of insertions, deletions and substitutions that turn each hypothesis
 *  into its truth: the Levenshtein distance.
 *
 *  hypothesis         int32 or int64 [..., n]
 *  hypothesis_length  int32 or int64 [...]: the number of elements of each row
 *  truth              int32 or int64 [..., m]
 *  truth_length       int32 or int64 [...]: the number of elements of each row
 *  normalize          divide by the length of the truth; if that is 0, the result is infinite
 *                     unless the hypothesis is empty, too
 *
 *  y is float32 [...].
 *  Errors: EDDY_BAD_SHAPE if the shapes do not match; at run time, EDDY_INVALID_ARGUMENT for a
 *  length out of range.
 *  Gradient: none.  TensorFlow: tf.edit_distance, of sparse sequences. */
eddy_tensor eddy_edit_distance(eddy_tensor hypothesis, eddy_tensor hypothesis_length,
                               eddy_tensor truth, eddy_tensor truth_length, bool normalize)
{
    const eddy_tensor in[] = { hypothesis, hypothesis_length, truth, truth_length };
    return eddy_apply(&eddy_op_edit_distance, &(distance_attrs){ normalize }, 4, in,
                      (eddy_apply_args){ 0 });
}
