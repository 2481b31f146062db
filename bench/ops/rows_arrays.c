/* rows_arrays.c -- joining, splitting, repeating, selecting rows, segments. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

#define AT(x) eddy_cast(x, EDDY_INT32)
#define REAL(x) eddy_cast(x, EDDY_FLOAT32)

/* Ids in order, n to each of `parts` segments. */
static eddy_tensor ordered(eddy_graph *g, int64_t n, int64_t parts)
{
    return eddy_repeat(eddy_row_numbers(eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(parts)), EDDY_INT32),
                       eddy_number(g, EDDY_INT32, (double)n), EDDY_AXES(0));
}

static eddy_tensor parted(eddy_graph *g, const eddy_tensor *x)
{
    const eddy_tensor p = eddy_dynamic_partition(x[0], AT(x[1]), 4, 2000);
    (void)g;
    return eddy_stack(EDDY_LIST(p, eddy_output(p, 1), eddy_output(p, 2), eddy_output(p, 3)));
}

static eddy_tensor split(eddy_graph *g, const eddy_tensor *x)
{
    const eddy_tensor p = eddy_split(x[0], 4, 1);
    (void)g;
    return Mul(Mul(p, eddy_output(p, 1)), Mul(eddy_output(p, 2), eddy_output(p, 3)));
}

BUILD(concat, eddy_concat(EDDY_LIST(x[0], x[1], x[2]), 1))
BUILD(concat_rows, eddy_concat(EDDY_LIST(x[0], x[1], x[2]), 0))
BUILD(stack, eddy_stack(EDDY_LIST(x[0], x[1], x[2]), 2))
BUILD(turn, eddy_transpose(x[0]))
BUILD(turn_inner, eddy_transpose(x[0], EDDY_DIMS(0, 2, 1, 3)))
BUILD(to_planes, eddy_transpose(x[0], EDDY_DIMS(0, 3, 1, 2)))
BUILD(tile_, eddy_tile(x[0], EDDY_DIMS(3, 3)))
BUILD(pad_, eddy_pad(x[0], EDDY_DIMS(2, 3), EDDY_DIMS(4, 5)))
BUILD(spread, eddy_broadcast_to(x[0], EDDY_SHAPE(1000, 1000)))
BUILD(gather_rows, eddy_gather(x[0], AT(x[1])))
BUILD(gather_columns, eddy_gather(x[0], AT(x[1]), 1))
BUILD(lookup, eddy_embedding_lookup(x[0], AT(x[1])))
BUILD(hot, eddy_one_hot(AT(x[0]), 1000))
BUILD(to_int, REAL(AT(Mul(x[0], 100))))
BUILD(reversed, eddy_reverse_sequence(x[0], AT(x[1]), 1, 0))
BUILD(mask, eddy_boolean_mask(x[0], Greater(x[1], 0), .size = 8000))
BUILD(stitch, eddy_dynamic_stitch(EDDY_LIST(ordered(g, 1, 4000), ordered(g, 1, 4000)),
                                  EDDY_LIST(x[0], x[1]), .size = 4000))
BUILD(to_batch, eddy_space_to_batch_nd(x[0], EDDY_DIMS(2, 2), EDDY_DIMS(0, 0), EDDY_DIMS(0, 0)))
BUILD(from_batch, eddy_batch_to_space_nd(x[0], EDDY_DIMS(2, 2), EDDY_DIMS(0, 0), EDDY_DIMS(0, 0)))
BUILD(set_diagonal, eddy_matrix_set_diag(x[0], x[1]))
BUILD(lengths, eddy_sequence_mask(AT(x[0]), 500, EDDY_FLOAT32))
BUILD(grid, eddy_meshgrid(EDDY_LIST(x[0], x[1]), true))
BUILD(inverse, REAL(eddy_invert_permutation(eddy_random_permutation(g, 100000))))
BUILD(segment_sum, eddy_segment_sum(x[0], ordered(g, 10, 2000)))
BUILD(segment_mean, eddy_segment_mean(x[0], ordered(g, 10, 2000)))
BUILD(segment_max, eddy_segment_max(x[0], ordered(g, 10, 2000)))
BUILD(unsorted_sum, eddy_unsorted_segment_sum(x[0], AT(x[1]), 2000))
BUILD(unsorted_max, eddy_unsorted_segment_max(x[0], AT(x[1]), 2000))
BUILD(unsorted_prod, eddy_unsorted_segment_prod(x[0], AT(x[1]), 2000))
BUILD(unsorted_mean, eddy_unsorted_segment_mean(x[0], AT(x[1]), 2000))
BUILD(tile_squared, Square(eddy_tile(x[0], EDDY_DIMS(3, 3))))
BUILD(gather_squared, Square(eddy_gather(x[0], AT(x[1]))))
BUILD(columns_squared, Square(eddy_gather(x[0], AT(x[1]), 1)))
BUILD(segment_squared, Square(eddy_segment_sum(x[0], ordered(g, 10, 2000))))
BUILD(turn_each, eddy_matrix_transpose(x[0]))
BUILD(checked, eddy_check_numerics(x[0], "x"))
BUILD(ensured, eddy_ensure(x[0], LessEqual(x[1], 1), "x"))
BUILD(duplicates, eddy_slices_sum_duplicates(x[0], AT(x[1])))

#define AT_ROWS(called, fn, first, top, ...)                                    \
    { .name = called, .build = fn, .n = 2, .shape = { first, S(__VA_ARGS__) }, .low = { -1, 0 }, \
      .high = { 1, top } }
#define THIRDS S(1000, 300), S(1000, 300), S(1000, 300)
#define WORDS S(20000, 64)

static const ops_row rows[] = {
    OPS_ROW("concat", concat, 3, THIRDS),
    OPS_ROW("concat first axis", concat_rows, 3, THIRDS),
    OPS_ROW("stack last axis", stack, 3, THIRDS),
    OPS_ROW("split", split, 1, S(1000, 1000)),
    OPS_GRADIENT("split, gradient", split, 1, S(1000, 1000)),
    OPS_ROW("transpose", turn, 1, S(1000, 1000)),
    OPS_ROW("transpose 0 2 1 3", turn_inner, 1, S(8, 128, 8, 64)),
    OPS_ROW("transpose to NCHW", to_planes, 1, S(8, 56, 56, 64)),
    OPS_ROW("tile", tile_, 1, S(300, 300)),
    OPS_ROW("pad", pad_, 1, S(1000, 1000)),
    OPS_ROW("broadcast_to", spread, 1, S(1000, 1)),
    AT_ROWS("gather", gather_rows, S(100000, 64), 100000, 10000),
    AT_ROWS("gather of numbers", gather_rows, S(1000000), 1000000, 100000),
    AT_ROWS("gather axis 1", gather_columns, S(1000, 1000), 1000, 500),
    AT_ROWS("embedding_lookup", lookup, S(10000, 128), 10000, 64, 128),
    { .name = "one_hot", .build = hot, .n = 1, .shape = { S(1000) }, .high = { 1000 } },
    OPS_ROW("cast to int32 and back", to_int, 1, S(1000, 1000)),
    AT_ROWS("reverse_sequence", reversed, S(64, 100, 128), 100, 64),
    OPS_ROW("boolean_mask", mask, 2, S(8000, 64), S(8000)),
    AT_ROWS("dynamic_partition", parted, S(8000, 64), 4, 8000),
    OPS_ROW("dynamic_stitch", stitch, 2, S(4000, 64), S(4000, 64)),
    OPS_ROW("space_to_batch_nd", to_batch, 1, S(4, 56, 56, 64)),
    OPS_ROW("batch_to_space_nd", from_batch, 1, S(16, 28, 28, 64)),
    OPS_ROW("matrix_set_diag", set_diagonal, 2, S(100, 100, 100), S(100, 100)),
    { .name = "sequence_mask", .build = lengths, .n = 1, .shape = { S(1000) }, .high = { 500 } },
    OPS_ROW("meshgrid", grid, 2, S(1000), S(1000)),
    { .name = "invert_permutation", .build = inverse, .n = 1, .shape = { S(1) },
      .random = true },
    OPS_ROW("segment_sum", segment_sum, 1, WORDS),
    OPS_ROW("segment_mean", segment_mean, 1, WORDS),
    OPS_ROW("segment_max", segment_max, 1, WORDS),
    AT_ROWS("unsorted_segment_sum", unsorted_sum, WORDS, 2000, 20000),
    AT_ROWS("unsorted_segment_max", unsorted_max, WORDS, 2000, 20000),
    AT_ROWS("unsorted_segment_prod", unsorted_prod, WORDS, 2000, 20000),
    AT_ROWS("unsorted_segment_mean", unsorted_mean, WORDS, 2000, 20000),
    AT_ROWS("slices_sum_duplicates", duplicates, WORDS, 2000, 20000),
    OPS_GRADIENT("tile, gradient", tile_squared, 1, S(300, 300)),
    { .name = "gather, gradient", .build = gather_squared, .n = 2, .gradient = true,
      .shape = { S(100000, 64), S(10000) }, .low = { -1, 0 }, .high = { 1, 100000 } },
    { .name = "gather axis 1, gradient", .build = columns_squared, .n = 2, .gradient = true,
      .shape = { S(1000, 1000), S(500) }, .low = { -1, 0 }, .high = { 1, 1000 } },
    OPS_GRADIENT("segment_sum, gradient", segment_squared, 1, WORDS),
    OPS_ROW("matrix_transpose", turn_each, 1, S(64, 128, 128)),
    OPS_ROW("check_numerics", checked, 1, S(1000, 1000)),
    OPS_ROW("ensure", ensured, 2, S(1000, 1000), S(1000)),
};
OPS_FAMILY(arrays, rows);
