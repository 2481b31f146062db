/* rows_control.c -- loops and branches; see rows.h. */
#include "tests/lib/control_checks.h"
#include "tests/lib/rows.h"

static eddy_tensor first(int n, const eddy_tensor *y, eddy_graph *g)
{
    return n > 0 ? y[0] : eddy_none(g);
}
static eddy_tensor number_of(eddy_graph *g, int v) { return eddy_number(g, EDDY_INT32, v); }

/* Polynomials, so that complex numbers do too. */
BODY(step, Add(Mul(Square(x[0]), 0.25), Mul(x[0], 0.5)))
BODY(step_by, Add(Mul(Mul(x[0], c[0]), 0.5), 1))
BODY(row_step, Add(Mul(x[0], x[1]), Mul(x[1], 0.5)))
BODY(row_step_by, Add(Mul(x[0], Mul(x[1], c[0])), 1), Sub(x[0], x[1]), x[1])
BODY(fewer, Less(x[0], 3))
BODY(count_and_step, Add(x[0], 1), Add(Mul(x[2], c[0]), 1), x[1])
BODY(squared, Square(x[0]))
BODY(product, Mul(x[0], c[0]))

static eddy_tensor iterate(eddy_graph *g, const eddy_tensor *x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return first(eddy_iterate(3, FUNCTION(step_by, x[1]), EDDY_LIST(x[0]), y), y, g);
}
static eddy_tensor iterate_none(eddy_graph *g, const eddy_tensor *x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return first(eddy_iterate(0, PLAIN(step), EDDY_LIST(x[0]), y), y, g);
}
static eddy_tensor loop_while(eddy_graph *g, const eddy_tensor *x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    const int   n = eddy_while_loop(PLAIN(fewer), FUNCTION(count_and_step, x[0]),
                                    EDDY_LIST(number_of(g, 0), x[0], x[1]), y,
                                    .maximum_iterations = 5);
    return n == 3 ? Add(y[1], Mul(y[2], 2)) : eddy_none(g);
}
static eddy_tensor scan(eddy_graph *g, const eddy_tensor *x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return first(eddy_scan(PLAIN(row_step), EDDY_LIST(x[1]), y, EDDY_LIST(x[0])), y, g);
}
static eddy_tensor foldr(eddy_graph *g, const eddy_tensor *x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return first(eddy_foldr(PLAIN(row_step), EDDY_LIST(x[1]), y, EDDY_LIST(x[0])), y, g);
}
static eddy_tensor map(eddy_graph *g, const eddy_tensor *x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return first(eddy_map_fn(FUNCTION(product, x[0]), EDDY_LIST(x[1]), y), y, g);
}
static eddy_tensor loop(eddy_graph *g, const eddy_tensor *x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    const int   n = eddy_loop(FUNCTION(row_step_by, x[2]), EDDY_LIST(x[0]), EDDY_LIST(x[1]), y,
                              .reverse = true);
    return n == 3 ? Add(Mul(y[1], y[2]), y[0]) : eddy_none(g);
}
static eddy_tensor first_rows(eddy_graph *g, const eddy_tensor *x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    const int   n = eddy_loop(FUNCTION(row_step_by, x[2]), EDDY_LIST(x[0]), EDDY_LIST(x[1]), y,
                              .reverse = true, .iterations = eddy_number(g, EDDY_INT32, 2));
    return n == 3 ? Add(Mul(y[1], y[2]), y[0]) : eddy_none(g);
}
static eddy_tensor segments(eddy_graph *g, const eddy_tensor *x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    const int   n = eddy_loop(FUNCTION(row_step_by, x[2]), EDDY_LIST(x[0]), EDDY_LIST(x[1]), y,
                              .reverse = true, .segment = 2);
    return n == 3 ? Add(Mul(y[1], y[2]), y[0]) : eddy_none(g);
}
static eddy_tensor cond(eddy_graph *g, const eddy_tensor *x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return first(eddy_cond(eddy_number(g, EDDY_BOOL, 1), FUNCTION(product, x[1]), PLAIN(squared), y,
                           EDDY_LIST(x[0])), y, g);
}
static eddy_tensor cond_false(eddy_graph *g, const eddy_tensor *x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return first(eddy_cond(eddy_number(g, EDDY_BOOL, 0), FUNCTION(product, x[1]), PLAIN(step), y,
                           EDDY_LIST(x[0])), y, g);
}
static eddy_tensor switch_case(eddy_graph *g, const eddy_tensor *x)
{
    const eddy_function f[3] = { PLAIN(squared), FUNCTION(step_by, x[1]), FUNCTION(product, x[0]) };
    eddy_tensor         y[EDDY_MAX_RESULTS];
    return first(eddy_switch_case(number_of(g, 1), f, 3, y, EDDY_LIST(x[0])), y, g);
}

static const sweep_row rows[] = {
    OP("Loop", "iterate", iterate, 2, S(3, 4), S(3, 4)),
    OP("Loop", "iterate, none", iterate_none, 1, S(3, 4)),
    OP("Loop", "while", loop_while, 2, S(3, 4), S(3, 4)),
    OP("Loop", "scan", scan, 2, S(4), S(3, 4)),
    OP("Loop", "foldr", foldr, 2, S(4), S(3, 4)),
    OP("Loop", "map", map, 2, S(4), S(3, 4)),
    OP("Loop", "loop", loop, 3, S(4), S(3, 4), S(4)),
    OP("Loop", "loop over first rows", first_rows, 3, S(4), S(3, 4), S(4)),
    OP("Loop", "loop in segments", segments, 3, S(4), S(3, 4), S(4)),
    OP("Case", "cond", cond, 2, S(3, 4), S(3, 4)),
    OP("Case", "cond, false", cond_false, 2, S(3, 4), S(3, 4)),
    OP("Case", "switch", switch_case, 2, S(3, 4), S(3, 4)),
};
static const sweep_exempt exempts[] = {
    { "TensorArrayRead", "checks indices; tests/control/test_tensor_arrays.c has it" },
    { "TensorArrayWrite", "checks indices; tests/control/test_tensor_arrays.c has it" },
    { "LatestValue", "takes a variable; tests/control/test_body_variables.c has it" },
    { "Argument", "is part of the body of a loop or branch, to which a session gives its value" },
};
FAMILY(control, rows, exempts);
