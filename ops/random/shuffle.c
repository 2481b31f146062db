/* shuffle.c -- random_shuffle: the rows of a tensor in random order. */
#include "graph/op.h"
#include "graph/call_options.h"
#include "graph/base/min_max.h"
#include "graph/base/stop.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/kernels/random/philox.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct shuffle_attrs {
    int64_t seed;
} shuffle_attrs;

static bool shuffle_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

/* Copies a row; the most common sizes are constants for the compiler. */
static inline void move_row(char *to, const char *from, size_t bytes)
{
    switch (bytes) {
    case 4:  memcpy(to, from, 4); break;
    case 8:  memcpy(to, from, 8); break;
    default: memcpy(to, from, bytes);
    }
}

/* The Fisher-Yates shuffle, while copying: row i replaces a random one of the rows before it,
 * which moves to the end. */
static eddy_status shuffle_kernel(eddy_kernel *k)
{
    enum { PART = 256 };
    const shuffle_attrs *a = k->attrs;
    const eddy_buffer   *x = k->in[0];
    const char          *from = x->data;
    char                *to = k->out[0]->data;
    eddy_stream          s = eddy__stream_of(k, a->seed, EDDY_SHUFFLED);
    if (x->count == 0) return EDDY_OK;
    int64_t rows = x->type.shape.rank > 0 ? x->type.shape.dim[0] : 1, chosen[PART];
    size_t  row = (size_t)(x->count / rows) * eddy_dtype_size(x->type.dtype);
    const int64_t part = eddy__min(PART, eddy__turns_per_look((int64_t)row));
    for (int64_t first = 0; first < rows && !eddy__stopped(k->stop); first += part) {
        const int64_t n = eddy__min(part, rows - first);
        eddy__integers_up_to(s, first, n, chosen);
        for (int64_t i = 0; i < n; i++) __builtin_prefetch(to + (size_t)chosen[i] * row, 1);
        for (int64_t i = 0; i < n; i++) {
            char *last = to + (size_t)(first + i) * row, *other = to + (size_t)chosen[i] * row;
            if (other != last) move_row(last, other, row);
            move_row(other, from + (size_t)(first + i) * row, row);
        }
    }
    return EDDY_OK;
}

/* The order of random numbers, different for each example. */
static void shuffle_batch(eddy_batch *b)
{
    const shuffle_attrs *a = b->attrs;
    const int rank = eddy__batch_rank(b, 0);
    if (rank < 0) return;
    if (rank == 0) {
        b->y[0] = eddy_batch_input(b, 0);
        return;
    }
    const eddy_tensor rows = eddy_row_numbers(b->node->inputs[0], EDDY_INT64);
    const eddy_tensor keys = eddy_random_uniform_like(eddy_batch_like(rows, b->examples),
                                                      .dtype = EDDY_FLOAT64, .seed = a->seed);
    const eddy_tensor order = eddy_argsort(keys);
    b->y[0] = b->batched[0] ? Gather(b->x[0], order, 1, .batch_dims = 1) : Gather(b->x[0], order);
}

const eddy_op_def eddy_op_random_shuffle = {
    .name = "RandomShuffle", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_STATEFUL, .attrs_size = sizeof(shuffle_attrs),
    .attrs = EDDY_ATTRS(shuffle_attrs, seed),
    .infer = shuffle_infer, .kernel = shuffle_kernel, .batch = shuffle_batch };

#ifdef EDDY_HEADER
typedef struct eddy_random_shuffle_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_shuffle_args));
    eddy_tensor x;
    int64_t     seed;
    const char *name;
} eddy_random_shuffle_args;
#endif

/** y = the rows x[0], x[1], ... in random order.
 *
 *  x     any element type, any shape; a scalar is returned unchanged
 *  seed  default 0: the operation's own
 *
 *  Every order is equally likely (up to the 64 bits of the key).
 *  Gradient: none; requesting it is the error EDDY_NO_GRADIENT, as in TensorFlow.  Use
 *  eddy_gather(x, indices) with shuffled indices instead.
 *  TensorFlow: random_shuffle, RandomShuffle. */
eddy_tensor eddy_random_shuffle_with(const eddy_random_shuffle_args *given)
{
    eddy_random_shuffle_args a = EDDY_TAKE(eddy_random_shuffle_args, given);
    shuffle_attrs attrs = { a.seed };
    return eddy_apply(&eddy_op_random_shuffle, &attrs, 1, &a.x,
                      (eddy_apply_args){ .name = a.name });
}
