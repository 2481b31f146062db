/* tile.c -- tile: repeating a tensor along its dimensions. */
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "build/gen/table.h"

typedef struct tile_attrs {
    eddy_dims multiples;
} tile_attrs;

static const eddy_attr_field tile_fields[] = EDDY_FIELDS(tile_attrs, multiples);

static int64_t multiple(const tile_attrs *a, int i) { return a->multiples.count > 0
                                                      ? a->multiples.at[i] : 1; }

static bool multiples_are_valid(eddy_infer *c, int *rank)
{
    const tile_attrs *a = c->attrs;
    if (!eddy__infer_dims(c, "multiples", a->multiples, rank)) return false;
    for (int i = 0; i < *rank; i++)
        if (multiple(a, i) < 0)
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "multiples[%d] = %lld is negative", i,
                                   (long long)multiple(a, i));
    return true;
}

/* Dimension i of y; EDDY_ANY if unknown; on overflow, a size too large to be valid. */
static int64_t tiled_dim(const tile_attrs *a, eddy_shape x, int i)
{
    int64_t d;
    if (multiple(a, i) == 0) return 0;
    if (x.rank < 0 || x.dim[i] == EDDY_ANY) return EDDY_ANY;
    return __builtin_mul_overflow(x.dim[i], multiple(a, i), &d) ? INT64_MAX : d;
}

/* ------------------------------------------------------------------ tile -- */

/** y = x repeated multiples[i] times along dimension i: y[j] = x[j mod shape of x].
 *
 *  x          any element type and shape
 *  multiples  one entry per dimension, >= 0; zeroed: all 1
 *
 *  Errors: EDDY_BAD_SHAPE if multiples does not have one entry per dimension,
 *  EDDY_INVALID_ARGUMENT if one is negative, EDDY_LIMIT if y is too large.
 *  Gradient: dx = dy summed over the copies.  TensorFlow: Tile. */
static bool tile_infer(eddy_infer *c)
{
    const tile_attrs *a = c->attrs;
    int rank;
    if (!multiples_are_valid(c, &rank)) return false;
    eddy_shape s = eddy__shape_open(rank);
    for (int i = 0; i < rank; i++) s.dim[i] = tiled_dim(a, c->in[0].shape, i);
    return eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

/* Two loops per dimension: over the copies, and within a copy. */
static eddy_status tile_prepare(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape, y = k->out[0]->type.shape;
    int64_t from[EDDY_MAX_RANK], to[EDDY_MAX_RANK];
    eddy_box *b = eddy__box_state(k);
    if (!b) return EDDY_NO_MEMORY;
    eddy__strides_of(x, from);
    eddy__strides_of(y, to);
    for (int i = 0; i < x.rank; i++) {
        eddy__box_add(b, multiple(k->attrs, i), x.dim[i] * to[i], 0);
        eddy__box_add(b, x.dim[i], to[i], from[i]);
    }
    return EDDY_OK;
}

static void tile_gradient(eddy_rule *r)
{
    const tile_attrs *a = r->attrs;
    r->dx[0] = eddy_tile_grad(r->dy[0], r->x[0], a->multiples);
}

static void tile_batch(eddy_batch *b)
{
    tile_attrs a = *(const tile_attrs *)b->attrs;
    if (eddy__batch_entries(&a.multiples, 1)) eddy_batch_apply(b, &a);
}

const eddy_op_def eddy_op_tile = {
    .name = "Tile", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(tile_attrs), .attrs = tile_fields,
    .infer = tile_infer, .prepare = tile_prepare, .kernel = eddy__box_copy_kernel,
    .gradient = tile_gradient, .batch = tile_batch,
};

eddy_tensor eddy_tile(eddy_tensor x, eddy_dims multiples)
{
    return eddy_apply1(&eddy_op_tile, &(tile_attrs){ multiples }, x);
}

/* ------------------------------------------------------------- tile_grad -- */

/** y = dy summed over the copies of `ref` that eddy_tile makes: the gradient of eddy_tile.
 *
 *  dy         any numeric type except float16 and bfloat16; multiples[i] times ref along
 *             dimension i
 *  ref        only its shape is used; it is not computed
 *  multiples  as given to eddy_tile
 *
 *  Errors: EDDY_BAD_SHAPE if dy does not have the shape of the tiled ref,
 *  EDDY_INVALID_ARGUMENT if a multiple is negative, EDDY_BAD_DTYPE if dy cannot
 *  be summed.
 *  Gradient: ddy = the gradient tiled; `ref` has none.  TensorFlow: TileGrad. */
static bool tile_grad_infer(eddy_infer *c)
{
    const tile_attrs *a = c->attrs;
    const eddy_shape dy = c->in[0].shape, ref = c->in[1].shape;
    int rank;
    if (!multiples_are_valid(c, &rank)) return false;
    if (rank >= 0 && ref.rank >= 0 && rank != ref.rank)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "dy has rank %d; rank %d expected", rank,
                               ref.rank);
    eddy_shape s = ref.rank < 0 ? eddy__shape_open(rank) : ref;
    for (int i = 0; i < s.rank; i++) {
        int64_t want = tiled_dim(a, s, i), d = dy.rank < 0 ? EDDY_ANY : dy.dim[i];
        if (!eddy__dim_unify(&want, d) || (d > 0 && d % multiple(a, i) != 0))
            return eddy_infer_fail(
                c, EDDY_BAD_SHAPE,
                "dimension %d is %lld; expected %lld times that of the reference", i, (long long)d,
                (long long)multiple(a, i));
        if (s.dim[i] == EDDY_ANY && d != EDDY_ANY && multiple(a, i) > 0)
            s.dim[i] = d / multiple(a, i);
    }
    return eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

/* Each pass sums over the copies along up to three dimensions. It has two loops for each of these,
 * over the copies and within a copy, and at most 8 in all. */
enum { AT_A_TIME = 3, PASSES = (EDDY_MAX_RANK + AT_A_TIME - 1) / AT_A_TIME };
typedef struct tile_grad_state {
    int            passes;
    eddy_reduction pass[PASSES];
} tile_grad_state;

/* Appends a loop, merged with the previous one if both are kept. */
static void add_loop(eddy_shape *s, unsigned *mask, int64_t size, bool folded)
{
    const bool joined = s->rank > 0 && !folded && !(*mask >> (s->rank - 1) & 1);
    if (joined) s->dim[s->rank - 1] *= size;
    else s->dim[s->rank++] = size;
    if (folded) *mask |= 1u << (s->rank - 1);
}

/* The next pass, which begins with dimension *next; all before it are summed. */
static eddy_reduction tile_pass(const tile_attrs *a, eddy_type y, int *next)
{
    eddy_shape s = { .rank = 0 };
    unsigned   mask = 0;
    int        begin = *next, folded = 0;
    for (int i = 0; i < y.shape.rank; i++) {
        const bool copies = i >= begin && multiple(a, i) != 1;
        const bool now = copies && folded < AT_A_TIME;
        if (now) {
            *next = i + 1;
            folded++;
        }
        if (copies) add_loop(&s, &mask, multiple(a, i), now);
        add_loop(&s, &mask, y.shape.dim[i], false);
    }
    while (*next < y.shape.rank && multiple(a, *next) == 1) ++*next;
    return eddy__reduction_of(eddy__reducer_of(&eddy__fold_sum, y.dtype), s, mask);
}

static eddy_status tile_grad_prepare(eddy_kernel *k)
{
    const eddy_type  y = k->out[0]->type;
    tile_grad_state *s = eddy_kernel_state(k, sizeof *s);
    if (!s) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    s->passes = 0;
    int next = 0;
    do s->pass[s->passes++] = tile_pass(k->attrs, y, &next);
    while (next < y.shape.rank);
    for (int i = 0; i + 1 < s->passes; i++)
        k->scratch_size += (uint64_t)s->pass[i].results * eddy_dtype_size(y.dtype);
    return EDDY_OK;
}

static eddy_status tile_grad_kernel(eddy_kernel *k)
{
    const tile_grad_state *s = k->state;
    const void *x = k->in[0]->data;
    char       *room = k->scratch;
    for (int i = 0; i < s->passes; i++) {
        void *y = i + 1 < s->passes ? room : k->out[0]->data;
        eddy__reduction_run(&s->pass[i], y, x);
        room += (size_t)s->pass[i].results * eddy_dtype_size(k->out[0]->type.dtype);
        x = y;
    }
    return EDDY_OK;
}

static void tile_grad_gradient(eddy_rule *r)
{
    const tile_attrs *a = r->attrs;
    r->dx[0] = eddy_tile(r->dy[0], a->multiples);
}

const eddy_op_def eddy_op_tile_grad = {
    .name = "TileGrad", .label = "Tile", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "dy", EDDY_TAKES_NUMBERS_COMPLEX }, { "x", EDDY_ANY_TYPE }),
    .shape_inputs = 1u << 1,
    .attrs_size = sizeof(tile_attrs), .attrs = tile_fields,
    .flops = eddy_flops_per_input,
    .infer = tile_grad_infer, .prepare = tile_grad_prepare, .kernel = tile_grad_kernel,
    .gradient = tile_grad_gradient, .batch = tile_batch,
};

eddy_tensor eddy_tile_grad(eddy_tensor dy, eddy_tensor ref, eddy_dims multiples)
{
    return eddy_apply2(&eddy_op_tile_grad, &(tile_attrs){ multiples }, dy, ref);
}
