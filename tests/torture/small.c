/* small.c -- small programs of which every allocation fails, items of arenas included: whatever
 * finds no memory must be an error, never a result with other bits or a node with another name. */
#include "tests/torture/scenario.h"

/* Without its plan a product adds its terms in another order. */
static eddy_tensor product(eddy_tensor x) { return eddy_matmul(x, x, .transpose_b = true); }

static eddy_tensor scopes(eddy_tensor x)
{
    eddy_graph *g = x.graph;
    eddy_scope_begin(g, "outer");
    eddy_scope_begin(g, "whole/name/");
    const eddy_tensor y = eddy_neg(x);
    eddy_scope_end(g);
    eddy_scope_end(g);
    return y;
}

/* The compiler makes it expm1, which has other bits. */
static eddy_tensor rule(eddy_tensor x) { return eddy_sub(eddy_exp(x), eddy_scalar(x.graph, 1)); }

/* Likewise. The ones are squares that are too large to be computed before the run, until the
 * compiler finds that they are equal and computes one of them. */
static eddy_tensor equal_elements(eddy_tensor x)
{
    const eddy_shape  large = EDDY_SHAPE(500, 9, 70);
    const eddy_tensor ones = eddy_square(eddy_broadcast_to(eddy_scalar(x.graph, 1), large));
    return eddy_sub(eddy_exp(eddy_broadcast_to(x, large)), ones);
}

static int negative(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_neg(x.at[0]);
    return 1;
}

static int tangent(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_tanh(eddy_tan(x.at[0]));
    return 1;
}

static eddy_tensor branches(eddy_tensor x)
{
    eddy_tensor y = EDDY_ZERO_TENSOR, dx = EDDY_ZERO_TENSOR;
    const eddy_function positive = { .build = tangent }, otherwise = { .build = negative };
    eddy_cond(eddy_greater(eddy_sum(x), eddy_scalar(x.graph, 0)), positive, otherwise, &y,
              EDDY_LIST(x));
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &dx);
    return dx;
}

static const struct {
    const char  *name;
    eddy_tensor (*build)(eddy_tensor x);
} programs[] = { { "product", product },
                 { "scopes", scopes },
                 { "exp(x) - 1", rule },
                 { "equal elements", equal_elements },
                 { "gradient of branches", branches } };

static int         count(void) { return sizeof programs / sizeof *programs; }
static const char *name(int i) { return programs[i].name; }

static void *begin(int i)
{
    (void)i;
    return numbers_in(EDDY_FLOAT32, EDDY_SHAPE(9, 70), 1e-4, 0.1);
}

static void act(int i, void *state, outcome *o)
{
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(9, 70)),
                      y = programs[i].build(x);
    if (eddy_graph_status(g) == EDDY_OK) outcome_add_text(o, eddy_name_of(y));
    run_once(o, g, EDDY_FEED({ x, state }), EDDY_FETCH(y));
}

static void end(void *state) { eddy_array_free(state); }

const scenarios small[] = {
    { .kind = "small program", .count = count, .name = name, .begin = begin, .act = act,
      .end = end, .every_item = true },
    { .kind = NULL },
};
