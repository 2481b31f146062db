/* control_models.c -- see control_models.h. */
#include "tests/lib/control_models.h"

/* A model that fails to build has the error on the graph; its value is then invalid. */
static eddy_tensor first(int n, const eddy_tensor *y, eddy_tensor x)
{
    return n > 0 ? y[0] : eddy_none(x.graph);
}
static eddy_tensor zero_of(eddy_tensor x) { return eddy_number(x.graph, EDDY_INT32, 0); }

BODY(fewer, Less(x[0], c[0]))

/* Of while loops; -1 in models of open loops, whose stacks grow. */
static int64_t most = 30;

/* Of all loops, in models in segments. */
static eddy_recompute recompute;
static int64_t        segment;
#define PARTS .recompute = recompute, .segment = segment

/* The second value of a loop that counts to m->n: f gets the counter and x. */
static eddy_tensor counted(const model_args *m, eddy_function f)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    const int   n = eddy_while_loop(FUNCTION(fewer, m->n), f, EDDY_LIST(zero_of(m->x), m->x), y,
                                    .maximum_iterations = most, PARTS);
    return n == 2 ? y[1] : eddy_none(m->x.graph);
}
static eddy_tensor repeated(const model_args *m, int count, eddy_function f, eddy_tensor x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return first(eddy_iterate(count, f, EDDY_LIST(x), y, PARTS), y, m->x);
}
static eddy_tensor row_of(eddy_tensor m, eddy_tensor v)      /* v m */
{
    return eddy_squeeze(MatMul(eddy_expand_dims(v, 0), m), EDDY_AXES(0));
}

/* ------------------------------------------------------------------- while -- */

BODY(sine_step, Add(x[0], 1), Sin(Mul(x[1], c[0])))
static eddy_tensor while_sine(const model_args *m)
{
    return counted(m, FUNCTION(sine_step, eddy_index(m->a, "0")));
}

/* An integer loop variable that a float one reads. */
BODY(decay_step, Add(x[0], 1), Add(Mul(x[1], Exp(Neg(Cast(x[0], EDDY_FLOAT64)))), c[0]))
static eddy_tensor while_decay(const model_args *m)
{
    return counted(m, FUNCTION(decay_step, eddy_index(m->a, "1")));
}

BODY(matrix_step, Add(x[0], 1), Tanh(Add(row_of(c[0], x[1]), c[1])))
static eddy_tensor while_matrix(const model_args *m)
{
    return counted(m, FUNCTION(matrix_step, m->a, m->x));
}

/* Row i mod 3 of a captured matrix: a sparse gradient in each iteration. */
BODY(table_step, Add(x[0], 1), Add(Square(x[1]), Sin(eddy_gather(c[0], FloorMod(x[0], 3)))))
static eddy_tensor while_table(const model_args *m)
{
    return counted(m, FUNCTION(table_step, m->a));
}

/* Values trade places, and one of them is the argument itself. */
BODY(trade_step, Add(x[0], 1), x[2], Sin(Add(x[1], Mul(x[2], c[0]))))
static eddy_tensor while_trade(const model_args *m)
{
    eddy_tensor y[EDDY_MAX_RESULTS], b = eddy_index(m->a, "2");
    const int   n =
        eddy_while_loop(FUNCTION(fewer, m->n), FUNCTION(trade_step, b),
                        EDDY_LIST(zero_of(b), m->x, b), y, .maximum_iterations = most, PARTS);
    return n == 3 ? Mul(y[1], Exp(y[2])) : eddy_none(m->x.graph);
}

/* The condition ends the loop by the values themselves, well away from its edge. */
BODY(shrunk, Greater(Sum(Square(x[0])), 1e-3))
BODY(shrink, Mul(Sin(x[0]), 0.3))
static eddy_tensor while_shrinks(const model_args *m)
{
    eddy_tensor y[EDDY_MAX_RESULTS], x = Mul(m->x, eddy_index(m->a, "0"));
    return first(eddy_while_loop(PLAIN(shrunk), PLAIN(shrink), EDDY_LIST(x), y,
                                 .maximum_iterations = most, PARTS), y, x);
}

/* ---------------------------------------------------------------- branches -- */

BODY(sine_of, Sin(Mul(x[0], c[0])))
BODY(product_of, Mul(x[0], Add(c[0], 1)))
BODY(exponential_of, Exp(Mul(x[0], 0.5)))
static int by_parity(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor i = in.at[0], *c = context;
    eddy_tensor       z[EDDY_MAX_RESULTS] = { eddy_none(i.graph) };
    eddy_cond(Equal(FloorMod(i, 2), 0), FUNCTION(sine_of, c[0]), FUNCTION(product_of, c[0]), z,
              EDDY_LIST(in.at[1]));
    y[0] = Add(i, 1);
    y[1] = z[0];
    return 2;
}
static eddy_tensor cond_in_while(const model_args *m)
{
    return counted(m, FUNCTION(by_parity, eddy_index(m->a, "0")));
}

static int by_rest(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor   i = in.at[0], *c = context;
    const eddy_function f[3] = { FUNCTION(sine_of, c[0]), PLAIN(exponential_of),
                                 FUNCTION(product_of, c[1]) };
    eddy_tensor         z[EDDY_MAX_RESULTS] = { eddy_none(i.graph) };
    eddy_switch_case(FloorMod(i, 3), f, 3, z, EDDY_LIST(in.at[1]));
    y[0] = Add(i, 1);
    y[1] = Tanh(z[0]);
    return 2;
}
static eddy_tensor switch_in_while(const model_args *m)
{
    return counted(m, FUNCTION(by_rest, eddy_index(m->a, "0"), eddy_index(m->a, "1")));
}

static int loop_or_not(eddy_list in, eddy_tensor *y, void *context)
{
    const model_args *m = context;
    y[0] = repeated(m, m->count, FUNCTION(sine_of, eddy_index(m->a, "2")), in.at[0]);
    return 1;
}
static eddy_tensor loop_in_cond(const model_args *m)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    const eddy_function loop = { .build = loop_or_not, .context = (void *)(uintptr_t)m };
    return first(eddy_cond(Less(m->n, 3), loop, PLAIN(exponential_of), y, EDDY_LIST(m->x)), y,
                 m->x);
}

/* ----------------------------------------------------------------- iterate -- */

static eddy_tensor iterate_sine(const model_args *m)
{
    return repeated(m, m->count, FUNCTION(sine_of, eddy_index(m->a, "0")), m->x);
}

BODY(overwritten, Add(Mul(x[0], c[0]), c[1]))
static eddy_tensor iterate_in_place(const model_args *m)
{
    return repeated(m, m->count,
                    FUNCTION(overwritten, eddy_index(m->a, "0"), eddy_index(m->a, "1")), m->x);
}

BODY(normalized, Softmax(Add(row_of(c[0], x[0]), x[0])))
static eddy_tensor iterate_softmax(const model_args *m)
{
    return repeated(m, m->count, FUNCTION(normalized, m->a), m->x);
}

static int inner_loop(eddy_list in, eddy_tensor *y, void *context)
{
    return eddy_iterate(2, FUNCTION(sine_of, ((eddy_tensor *)context)[0]), in, y, PARTS);
}
static eddy_tensor loop_in_loop(const model_args *m)
{
    return repeated(m, m->count, FUNCTION(inner_loop, eddy_index(m->a, "0")), m->x);
}

/* The inner loop runs as often as the outer counter says. */
static int triangle(eddy_list in, eddy_tensor *y, void *context)
{
    const model_args  outer = { .n = in.at[0], .x = in.at[1] };
    y[0] = Add(in.at[0], 1);
    y[1] = Mul(counted(&outer, FUNCTION(decay_step, *(eddy_tensor *)context)), 0.5);
    return 2;
}
static eddy_tensor while_in_while(const model_args *m)
{
    return counted(m, FUNCTION(triangle, eddy_index(m->a, "1")));
}

/* -------------------------------------------------------------------- rows -- */

BODY(row_step, Sin(Add(Mul(x[0], c[0]), x[1])))
static eddy_tensor scan_rows(const model_args *m)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return first(eddy_scan(FUNCTION(row_step, m->x), EDDY_LIST(m->a), y, EDDY_LIST(m->x), PARTS), y,
                 m->x);
}
static eddy_tensor scan_reverse(const model_args *m)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return first(
        eddy_scan(FUNCTION(row_step, m->x), EDDY_LIST(m->a), y, EDDY_LIST(m->x), true, PARTS), y,
        m->x);
}
static eddy_tensor foldl_rows(const model_args *m)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return first(eddy_foldl(FUNCTION(row_step, m->x), EDDY_LIST(m->a), y, EDDY_LIST(m->x), PARTS),
                 y, m->x);
}
static eddy_tensor foldr_rows(const model_args *m)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return first(eddy_foldr(FUNCTION(row_step, m->x), EDDY_LIST(m->a), y, EDDY_LIST(m->x), PARTS),
                 y, m->x);
}

BODY(mapped, Mul(Exp(Mul(x[0], c[0])), x[0]))
static eddy_tensor map_rows(const model_args *m)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return first(eddy_map_fn(FUNCTION(mapped, m->x), EDDY_LIST(m->a), y, PARTS), y, m->x);
}

/* Carried values, rows in, rows out; the argument and the row themselves among these. */
BODY(everything, Tanh(Add(x[0], x[2])), x[0], x[1], Mul(x[2], x[1]), x[2])
static eddy_tensor loop_rows(const model_args *m)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    const int   n = eddy_loop(PLAIN(everything), EDDY_LIST(m->x, Square(m->x)),
                              EDDY_LIST(m->a), y, PARTS);
    if (n != 5) return eddy_none(m->x.graph);
    eddy_tensor rows = Sum(Add(Mul(y[2], y[3]), Exp(y[4])), EDDY_AXES(0));
    return Add(Add(Mul(y[0], 2), y[1]), rows);
}

static int scanned(eddy_list in, eddy_tensor *y, void *context)
{
    eddy_tensor z[EDDY_MAX_RESULTS] = { eddy_none(in.at[0].graph) };
    eddy_scan(FUNCTION(row_step, ((eddy_tensor *)context)[0]),
              EDDY_LIST(eddy_stack(EDDY_LIST(in.at[1], in.at[0]))), z, EDDY_LIST(in.at[0]), PARTS);
    y[0] = Tanh(Sum(z[0], EDDY_AXES(0)));
    return 1;
}
static eddy_tensor scan_in_scan(const model_args *m)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return first(eddy_scan(FUNCTION(scanned, m->x), EDDY_LIST(m->a), y, EDDY_LIST(m->x), PARTS), y,
                 m->x);
}

/* One loop's result is the next one's rows. */
static eddy_tensor map_of_scan(const model_args *m)
{
    eddy_tensor y[EDDY_MAX_RESULTS], rows = scan_rows(m);
    return first(eddy_map_fn(FUNCTION(mapped, m->x), EDDY_LIST(rows), y, PARTS), y, m->x);
}

/* Two independent loops. */
static eddy_tensor two_loops(const model_args *m)
{
    return Mul(iterate_sine(m), iterate_in_place(m));
}

BODY(constant_step, Add(x[0], 1), c[0])
static eddy_tensor while_constant(const model_args *m)
{
    return Square(counted(m, FUNCTION(constant_step, eddy_index(m->a, "1"))));
}

/* ------------------------------------------------------------- open loops -- */

static eddy_tensor without_limit(eddy_tensor (*build)(const model_args *m), const model_args *m)
{
    most = -1;
    const eddy_tensor y = build(m);
    most = 30;
    return y;
}
static eddy_tensor open_sine(const model_args *m) { return without_limit(while_sine, m); }
static eddy_tensor open_matrix(const model_args *m) { return without_limit(while_matrix, m); }
static eddy_tensor open_table(const model_args *m) { return without_limit(while_table, m); }
static eddy_tensor open_trade(const model_args *m) { return without_limit(while_trade, m); }
static eddy_tensor open_shrinks(const model_args *m) { return without_limit(while_shrinks, m); }
static eddy_tensor open_in_open(const model_args *m) { return without_limit(while_in_while, m); }
static eddy_tensor cond_in_open(const model_args *m) { return without_limit(cond_in_while, m); }

/* A loop that nothing limits, in one of known length. */
static int shrinking_row(eddy_list in, eddy_tensor *y, void *context)
{
    eddy_tensor z[EDDY_MAX_RESULTS] = { eddy_none(in.at[0].graph) };
    eddy_while_loop(PLAIN(shrunk), FUNCTION(sine_of, ((eddy_tensor *)context)[0]),
                    EDDY_LIST(Mul(in.at[0], in.at[1])), z, .maximum_iterations = most, PARTS);
    y[0] = Add(z[0], Sin(in.at[1]));
    return 1;
}
static eddy_tensor while_in_scan(const model_args *m)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return first(eddy_scan(FUNCTION(shrinking_row, Mul(m->x, 0.5)), EDDY_LIST(m->a), y,
                           EDDY_LIST(m->x), PARTS), y, m->x);
}

static eddy_tensor open_in_scan(const model_args *m) { return without_limit(while_in_scan, m); }

static int open_or_not(eddy_list in, eddy_tensor *y, void *context)
{
    const model_args *m = context;
    const model_args  inner = { .n = m->n, .x = in.at[0] };
    y[0] = counted(&inner, FUNCTION(sine_step, eddy_index(m->a, "0")));
    return 1;
}
static eddy_tensor open_branch(const model_args *m)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    const eddy_function loop = { .build = open_or_not, .context = (void *)(uintptr_t)m };
    return first(eddy_cond(Less(m->n, 3), loop, PLAIN(exponential_of), y, EDDY_LIST(m->x)), y,
                 m->x);
}
static eddy_tensor open_in_cond(const model_args *m) { return without_limit(open_branch, m); }

/* A gradient of an open loop inside of a loop. */
static int gradient_step(eddy_list in, eddy_tensor *y, void *context)
{
    const model_args *m = context;
    const model_args  inner = { .n = m->n, .x = in.at[0] };
    const eddy_tensor z = counted(&inner, FUNCTION(sine_step, eddy_index(m->a, "0")));
    y[0] = Sin(Add(in.at[0], eddy_gradient(z, in.at[0])));
    return 1;
}
static eddy_tensor gradient_inside(const model_args *m)
{
    const eddy_function step = { .build = gradient_step, .context = (void *)(uintptr_t)m };
    return repeated(m, 2, step, m->x);
}
static eddy_tensor open_gradient(const model_args *m) { return without_limit(gradient_inside, m); }

const control_model control_models[CONTROL_MODELS] = {
    { .name = "while_sine", .build = while_sine },
    { .name = "while_decay", .build = while_decay },
    { .name = "while_matrix", .build = while_matrix },
    { .name = "while_table", .build = while_table },
    { .name = "while_trade", .build = while_trade },
    { .name = "while_shrinks", .build = while_shrinks },
    { .name = "while_constant", .build = while_constant },
    { .name = "while_in_while", .build = while_in_while },
    { .name = "cond_in_while", .build = cond_in_while },
    { .name = "switch_in_while", .build = switch_in_while },
    { .name = "loop_in_cond", .build = loop_in_cond },
    { .name = "iterate_sine", .build = iterate_sine },
    { .name = "iterate_in_place", .build = iterate_in_place },
    { .name = "iterate_softmax", .build = iterate_softmax },
    { .name = "loop_in_loop", .build = loop_in_loop },
    { .name = "two_loops", .build = two_loops },
    { .name = "scan_rows", .build = scan_rows, .rows = true },
    { .name = "scan_reverse", .build = scan_reverse, .rows = true },
    { .name = "foldl_rows", .build = foldl_rows, .rows = true },
    { .name = "foldr_rows", .build = foldr_rows, .rows = true },
    { .name = "map_rows", .build = map_rows, .rows = true },
    { .name = "loop_rows", .build = loop_rows, .rows = true },
    { .name = "scan_in_scan", .build = scan_in_scan, .rows = true },
    { .name = "map_of_scan", .build = map_of_scan, .rows = true },
    { .name = "open_sine", .build = open_sine, .limited = while_sine },
    { .name = "open_matrix", .build = open_matrix, .limited = while_matrix },
    { .name = "open_table", .build = open_table, .limited = while_table },
    { .name = "open_trade", .build = open_trade, .limited = while_trade },
    { .name = "open_shrinks", .build = open_shrinks, .limited = while_shrinks },
    { .name = "open_in_open", .build = open_in_open, .limited = while_in_while },
    { .name = "cond_in_open", .build = cond_in_open, .limited = cond_in_while },
    { .name = "open_in_cond", .build = open_in_cond, .limited = open_branch },
    { .name = "open_gradient", .build = open_gradient, .limited = gradient_inside },
    { .name = "open_in_scan", .build = open_in_scan, .limited = while_in_scan,
      .rows = true },
};

eddy_tensor control_model_in_segments(const control_model *c, const model_args *m,
                                      eddy_recompute scheme, int64_t length)
{
    recompute = scheme, segment = length;
    const eddy_tensor y = c->build(m);
    recompute = EDDY_RECOMPUTE_NONE, segment = 0;
    return y;
}
