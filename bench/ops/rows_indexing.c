/* rows_indexing.c -- slices, mirroring, gathering and scattering by tuples, diagonals, blocks. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

#define AT(x) eddy_cast(x, EDDY_INT32)

BUILD(steps, eddy_index(x[0], "1:-1:2, ::2"))
BUILD(steps_back, eddy_index(x[0], ":, 1::3"))
BUILD(box, eddy_slice_at(x[0], AT(x[1]), x[2]))
BUILD(box_in_zeros, eddy_pad_at(x[2], AT(x[1]), x[0]))
BUILD(reverse_, eddy_reverse(x[0], EDDY_AXES(-1)))
BUILD(reverse_rows, eddy_reverse(x[0], EDDY_AXES(0)))
BUILD(roll_, eddy_roll(x[0], 37, 1))
BUILD(reflect, eddy_mirror_pad(x[0], EDDY_DIMS(0, 0, 3, 3), EDDY_DIMS(0, 0, 3, 3)))
BUILD(gather_nd, eddy_gather_nd(x[0], AT(x[1])))
BUILD(inplace_add, eddy_inplace_add(x[0], AT(x[1]), x[2]))
BUILD(scatter_add, eddy_tensor_scatter_add(x[0], eddy_expand_dims(AT(x[1]), 1), x[2]))
BUILD(take_along, eddy_take_along_axis(x[0], AT(x[1]), 1))
BUILD(tril_, eddy_tril(x[0], 0))
BUILD(diagonal, eddy_matrix_diag(x[0]))
BUILD(diagonal_part, eddy_matrix_diag_part(x[0]))
BUILD(to_depth, eddy_space_to_depth(x[0], 2, "NCHW"))
BUILD(to_space, eddy_depth_to_space(x[0], 2))
BUILD(repeat_, eddy_repeat(x[0], eddy_number(g, EDDY_INT32, 3), EDDY_AXES(1)))
BUILD(search, eddy_cast(eddy_searchsorted(eddy_cumsum(x[0], -1), x[1]), EDDY_FLOAT32))
BUILD(nonzero, eddy_cast(eddy_nonzero(eddy_relu(x[0]), 1000000), EDDY_FLOAT32))
BUILD(unique, eddy_cast(eddy_output(eddy_unique(AT(x[0]), 1000), 2), EDDY_FLOAT32))

static const ops_row rows[] = {
    OPS_ROW("strided slice", steps, 1, S(1000, 1000)),
    OPS_GRADIENT("strided slice, gradient", steps_back, 1, S(1000, 1000)),
    { .name = "slice_at", .build = box, .n = 3, .shape = { S(1000, 1000), S(2), S(500, 600) },
      .low = { -1, 0, -1 }, .high = { 1, 400, 1 } },
    { .name = "slice_at, gradient", .build = box, .n = 3, .gradient = true,
      .shape = { S(1000, 1000), S(2), S(500, 600) }, .low = { -1, 0, -1 }, .high = { 1, 400, 1 } },
    { .name = "pad_at", .build = box_in_zeros, .n = 3,
      .shape = { S(1000, 1000), S(2), S(500, 600) }, .low = { -1, 0, -1 }, .high = { 1, 400, 1 } },
    OPS_ROW("reverse last", reverse_, 1, S(1000, 1000)),
    OPS_ROW("reverse first", reverse_rows, 1, S(1000, 1000)),
    OPS_ROW("roll", roll_, 1, S(1000, 1000)),
    OPS_ROW("mirror pad", reflect, 1, S(8, 16, 64, 64)),
    OPS_GRADIENT("mirror pad, gradient", reflect, 1, S(8, 16, 64, 64)),
    { .name = "gather_nd", .build = gather_nd, .n = 2, .shape = { S(100, 100, 16), S(50000, 2) },
      .low = { -1, 0 }, .high = { 1, 100 } },
    { .name = "tensor_scatter_add", .build = scatter_add, .n = 3,
      .shape = { S(10000, 64), S(20000), S(20000, 64) }, .low = { -1, 0, -1 },
      .high = { 1, 10000, 1 } },
    { .name = "inplace_add", .build = inplace_add, .n = 3,
      .shape = { S(10000, 64), S(20000), S(20000, 64) }, .low = { -1, 0, -1 },
      .high = { 1, 10000, 1 } },
    { .name = "take_along_axis", .build = take_along, .n = 2,
      .shape = { S(1000, 500), S(1000, 500) }, .low = { -1, 0 }, .high = { 1, 500 } },
    OPS_ROW("tril", tril_, 1, S(1000, 1000)),
    OPS_ROW("matrix_diag", diagonal, 1, S(100, 100)),
    OPS_ROW("matrix_diag_part", diagonal_part, 1, S(100, 100, 100)),
    OPS_ROW("space_to_depth", to_depth, 1, S(8, 16, 64, 64)),
    OPS_ROW("depth_to_space", to_space, 1, S(8, 32, 32, 64)),
    OPS_ROW("repeat", repeat_, 1, S(500, 500)),
    { .name = "searchsorted", .build = search, .n = 2, .shape = { S(10000), S(100000) },
      .low = { 0, 0 }, .high = { 1, 5000 } },
    OPS_ROW("nonzero", nonzero, 1, S(1000000)),
    { .name = "unique", .build = unique, .n = 1, .shape = { S(100000) }, .low = { 0 },
      .high = { 1000 }, .random = true },
};
OPS_FAMILY(indexing, rows);
