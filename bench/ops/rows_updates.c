/* rows_updates.c -- updates of variables: whole, by rows, by index tuples and by slices, and the
 * same for tensors. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

#define AT(x) eddy_cast(x, EDDY_INT32)

static eddy_tensor variable(eddy_graph *g, eddy_shape s)
{
    return eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, s));
}

#define WHOLE variable(g, EDDY_SHAPE(1000000))
#define TABLE variable(g, EDDY_SHAPE(100000, 64))
#define BOXES variable(g, EDDY_SHAPE(1000, 100, 64))
#define SQUARE variable(g, EDDY_SHAPE(1000, 1000))
BUILD(assign, eddy_assign(WHOLE, x[0]))
BUILD(assign_add, eddy_assign_add(WHOLE, x[0]))
BUILD(assign_sub, eddy_assign_sub(WHOLE, x[0]))
BUILD(assign_formula, eddy_assign_sub(WHOLE, Mul(eddy_scalar(g, 0.1), x[0])))
BUILD(scatter_update, eddy_scatter_update(TABLE, AT(x[0]), x[1]))
BUILD(scatter_add, eddy_scatter_add(TABLE, AT(x[0]), x[1]))
BUILD(scatter_sub, eddy_scatter_sub(TABLE, AT(x[0]), x[1]))
BUILD(scatter_mul, eddy_scatter_mul(TABLE, AT(x[0]), x[1]))
BUILD(scatter_div, eddy_scatter_div(TABLE, AT(x[0]), x[1]))
BUILD(scatter_min, eddy_scatter_min(TABLE, AT(x[0]), x[1]))
BUILD(scatter_max, eddy_scatter_max(TABLE, AT(x[0]), x[1]))
BUILD(scatter_numbers, eddy_scatter_add(WHOLE, AT(x[0]), x[1]))
BUILD(nd_update, eddy_scatter_nd_update(BOXES, AT(x[0]), x[1]))
BUILD(nd_add, eddy_scatter_nd_add(BOXES, AT(x[0]), x[1]))
BUILD(nd_max, eddy_scatter_nd_max(BOXES, AT(x[0]), x[1]))
BUILD(nd_numbers, eddy_scatter_nd_add(SQUARE, AT(x[0]), x[1]))
BUILD(index_assign, eddy_index_assign(SQUARE, "10:-10, ::2", x[0]))
BUILD(index_rows, eddy_index_assign(SQUARE, "::2", x[0]))

BUILD(put, eddy_tensor_scatter_update(x[0], eddy_expand_dims(AT(x[1]), 1), x[2]))
BUILD(take_off, eddy_tensor_scatter_sub(x[0], eddy_expand_dims(AT(x[1]), 1), x[2]))
BUILD(largest, eddy_tensor_scatter_max(x[0], eddy_expand_dims(AT(x[1]), 1), x[2]))
BUILD(smallest, eddy_tensor_scatter_min(x[0], eddy_expand_dims(AT(x[1]), 1), x[2]))
BUILD(scatter_nd, eddy_scatter_nd(AT(x[0]), x[1], EDDY_SHAPE(1000, 1000)))
BUILD(put_along, eddy_put_along_axis(x[0], AT(x[1]), x[2], 1))

#define MILLION S(1000000)
#define CHANGES(called, fn, top, indices, values, from, to)                     \
    { .name = called, .build = fn, .n = 2, .shape = { indices, values }, .low = { 0, from }, \
      .high = { top, to }, .updates = true }
#define ROWS_OF(called, fn) CHANGES(called, fn, 100000, S(10000), S(10000, 64), -1, 1)
#define PLACES(called, fn) CHANGES(called, fn, 100, S(10000, 2), S(10000, 64), -1, 1)
#define NEAR_1(called, fn) CHANGES(called, fn, 100000, S(10000), S(10000, 64), 0.999999, 1.000001)
#define INTO(called, fn)                                                        \
    { .name = called, .build = fn, .n = 3, .shape = { S(100000, 64), S(10000), S(10000, 64) }, \
      .low = { -1, 0, -1 }, .high = { 1, 100000, 1 } }

static const ops_row rows[] = {
    { .name = "assign", .build = assign, .n = 1, .shape = { MILLION }, .updates = true },
    { .name = "assign_add", .build = assign_add, .n = 1, .shape = { MILLION }, .updates = true },
    { .name = "assign_sub", .build = assign_sub, .n = 1, .shape = { MILLION }, .updates = true },
    { .name = "assign_sub of a product", .build = assign_formula, .n = 1, .shape = { MILLION },
      .updates = true },
    ROWS_OF("scatter_update", scatter_update),
    ROWS_OF("scatter_add", scatter_add),
    ROWS_OF("scatter_sub", scatter_sub),
    NEAR_1("scatter_mul", scatter_mul),
    NEAR_1("scatter_div", scatter_div),
    ROWS_OF("scatter_min", scatter_min),
    ROWS_OF("scatter_max", scatter_max),
    CHANGES("scatter_add of numbers", scatter_numbers, 1000000, S(100000), S(100000), -1, 1),
    PLACES("scatter_nd_update", nd_update),
    PLACES("scatter_nd_add", nd_add),
    PLACES("scatter_nd_max", nd_max),
    CHANGES("scatter_nd_add of numbers", nd_numbers, 1000, S(100000, 2), S(100000), -1, 1),
    { .name = "index_assign", .build = index_assign, .n = 1, .shape = { S(980, 500) },
      .updates = true },
    { .name = "index_assign, rows", .build = index_rows, .n = 1, .shape = { S(500, 1000) },
      .updates = true },
    INTO("tensor_scatter_update", put),
    INTO("tensor_scatter_sub", take_off),
    INTO("tensor_scatter_max", largest),
    INTO("tensor_scatter_min", smallest),
    { .name = "tensor_scatter_sub, gradient", .build = take_off, .n = 3, .gradient = true,
      .shape = { S(100000, 64), S(10000), S(10000, 64) }, .low = { -1, 0, -1 },
      .high = { 1, 100000, 1 } },
    { .name = "scatter_nd", .build = scatter_nd, .n = 2, .shape = { S(100000, 2), S(100000) },
      .low = { 0, -1 }, .high = { 1000, 1 } },
    { .name = "put_along_axis", .build = put_along, .n = 3,
      .shape = { S(1000, 1000), S(1000, 100), S(1000, 100) }, .low = { -1, 0, -1 },
      .high = { 1, 1000, 1 } },
};
OPS_FAMILY(updates, rows);
