/* fused_elementwise.c -- fused elementwise operations: chains, whose steps read the value before
 * them, and comparisons with the choice by them.
 *
 * The cost of a loop over elements in the fastest cache is its loads and stores. In a chain, values
 * stay in registers; the arithmetic and its rounding are those of the separate operations. */
#include "ops/math/fused_elementwise.h"
#include "ops/math/elementwise_rows.h"

#include <string.h>

enum { EDDY_CHAIN_PIECES = 8 };     /* vectors in registers */

#define TEMPLATE "ops/kernels/elementwise/chain_sets.h"
#include "ops/kernels/for_floats.h"

#define CASE_CHAIN(suffix, name) \
    case EDDY_COLUMN(DTYPE, suffix): return EDDY_BEST_OF(name##_##suffix);

static eddy_tile_fn chain_tile(const eddy_type *in, const eddy_type *out)
{
    (void)out;
    switch ((int)in->dtype) { FOR_FLOATS(CASE_CHAIN, chain) }
    return NULL;
}

static int steps_of(uint64_t steps)
{
    int n = 0;
    for (; steps > 0; steps >>= EDDY_CHAIN_BITS) n++;
    return n;
}

bool eddy__chain_is_slow(const eddy_chain_attrs *c)
{
    for (uint64_t s = (uint64_t)c->steps; s > 0; s >>= EDDY_CHAIN_BITS) {
        const int op = eddy__chain_op(s);
        if (op == EDDY_CHAIN_DIV || op == EDDY_CHAIN_DIV_INTO ||
            op == EDDY_CHAIN_DIV_INTO_PRODUCT || op == EDDY_CHAIN_SQRT)
            return true;
    }
    return false;
}

static bool chain_infer(eddy_infer *c)
{
    uint64_t s = (uint64_t)((const eddy_chain_attrs *)c->attrs)->steps;
    bool     known = s > 0 && steps_of(s) <= EDDY_CHAIN_MOST;
    for (; s > 0; s >>= EDDY_CHAIN_BITS) {
        const int op = eddy__chain_op(s), n = eddy__chain_reads(op);
        known = known && op != EDDY_CHAIN_END && eddy__chain_operand(s) < (n > 0 ? c->n_in : 1) &&
                eddy__chain_factor(s) < (n > 1 ? c->n_in : 1);
    }
    if (!known) return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "unknown chain of operations");
    return eddy__infer_elementwise(c);
}

/* A step without a product that does the same with the product as its operand. */
static int with_product(int op)
{
    return eddy__chain_reads(op) == 2 ? op + EDDY_CHAIN_ADD - EDDY_CHAIN_ADD_PRODUCT : op;
}

/* The value of a step without a product, a its first operand. */
static eddy_tensor applied(int op, eddy_tensor a, eddy_tensor b)
{
    switch (op) {
    case EDDY_CHAIN_ADD: return Add(a, b);
    case EDDY_CHAIN_SUB: return Sub(a, b);
    case EDDY_CHAIN_SUB_FROM: return Sub(b, a);
    case EDDY_CHAIN_MUL: return Mul(a, b);
    case EDDY_CHAIN_DIV: return Div(a, b);
    case EDDY_CHAIN_DIV_INTO: return Div(b, a);
    case EDDY_CHAIN_MIN: return Minimum(a, b);
    case EDDY_CHAIN_MAX: return Maximum(a, b);
    case EDDY_CHAIN_NEG: return Neg(a);
    case EDDY_CHAIN_SQUARE: return Square(a);
    default: return Sqrt(a);
    }
}

/* The gradients of both operands of a step, for the gradient dy of its value y. */
static void backwards(const eddy_rule *r, int op, const eddy_tensor *x, eddy_tensor y,
                      eddy_tensor dy, eddy_tensor *dx)
{
    const bool        swapped = op == EDDY_CHAIN_SUB_FROM || op == EDDY_CHAIN_DIV_INTO;
    const eddy_tensor in[] = { x[swapped], x[!swapped] };
    const int         n = eddy__chain_reads(op) ? 2 : 1;
    eddy_tensor       d[2] = { EDDY_ZERO_TENSOR, EDDY_ZERO_TENSOR };
    eddy_rule rule = { .graph = r->graph, .node = eddy_node_of(y), .x = in, .y = &y, .dy = &dy,
                       .dx = d, .n_in = n, .n_out = 1, .n_dx = n };
    if (rule.node) rule.node->op->gradient(&rule);
    dx[0] = d[swapped];
    dx[1] = d[!swapped];
}

/* The operand of a step, or the product of its operands. */
static eddy_tensor operand(const eddy_rule *r, uint64_t s)
{
    const eddy_tensor b = r->x[eddy__chain_operand(s)];
    return eddy__chain_reads(eddy__chain_op(s)) == 2 ? Mul(b, r->x[eddy__chain_factor(s)]) : b;
}

/* An operand may be read by several steps. */
static void add_gradient(eddy_rule *r, int number, eddy_tensor d)
{
    eddy_tensor *to = &r->dx[number];
    d = eddy_sum_like(d, r->x[number]);
    *to = eddy_is_valid(*to) ? Add(*to, d) : d;
}

static void chain_gradient(eddy_rule *r)
{
    const uint64_t steps = (uint64_t)((const eddy_chain_attrs *)r->attrs)->steps;
    const int      length = steps_of(steps);
    eddy_tensor    value[EDDY_CHAIN_MOST + 1] = { r->x[0] }, dy = r->dy[0];
    for (int i = 0; i < length; i++) {
        const uint64_t s = steps >> i * EDDY_CHAIN_BITS;
        value[i + 1] = applied(with_product(eddy__chain_op(s)), value[i], operand(r, s));
    }
    for (int i = length - 1; i >= 0; i--) {
        const uint64_t    s = steps >> i * EDDY_CHAIN_BITS;
        const int         op = eddy__chain_op(s), n = eddy__chain_reads(op);
        const int         b = eddy__chain_operand(s), c = eddy__chain_factor(s);
        const eddy_tensor x[] = { value[i], operand(r, s) };
        eddy_tensor       d[2];
        backwards(r, with_product(op), x, value[i + 1], dy, d);
        if (n > 0) add_gradient(r, b, n > 1 ? Mul(d[1], r->x[c]) : d[1]);
        if (n > 1) add_gradient(r, c, Mul(d[1], r->x[b]));
        dy = eddy_sum_like(d[0], value[i]);
    }
    add_gradient(r, 0, dy);
}

static double chain_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    return steps_of((uint64_t)((const eddy_chain_attrs *)attrs)->steps) *
           eddy_flops_per_output(attrs, n_in, in, out);
}

/* y = a after some steps, float32 or float64; created by a session from several operations. */
const eddy_op_def eddy_op_chain = {
    .name = "_Chain", .label = "Chain", .min_inputs = 1, .max_inputs = EDDY_CHAIN_OPERANDS,
    .outputs = 1,
    .inputs = EDDY_INPUTS({ "a", EDDY_TAKES_FLOATS }, { "b", EDDY_LIKE(0) }, { "c", EDDY_LIKE(0) },
                          { "d", EDDY_LIKE(0) }, { "e", EDDY_LIKE(0) }),
    .flags = EDDY_OP_ELEMENTWISE, .attrs_size = sizeof(eddy_chain_attrs),
    .attrs = EDDY_ATTRS(eddy_chain_attrs, steps),
    .infer = chain_infer, .tile = chain_tile, .gradient = chain_gradient, .flops = chain_flops,
};

/* ---------------------------------------------------------------- choices -- */

#define CHOOSE(test)                                                            \
    EDDY_INDEPENDENT                                                            \
    for (int64_t i = 0; i < n; i++) {                                           \
        const T a = x0[i], b = x1[i], yes = x2[i], no = x3[i];                  \
        o[i] = (test) ? yes : no;                                               \
    }                                                                           \
    break;

#define CHOICE_LOOPS_OF(fn, T_)                                                 \
    static eddy_status fn(int64_t n, void *y, const void *const *x, const void *attrs) \
    {                                                                           \
        typedef T_ T;                                                           \
        T       *o = y;                                                         \
        const T *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];                 \
        switch (((const eddy_choice_attrs *)attrs)->test) {                     \
        case EDDY_CHOICE_LESS: CHOOSE(a < b)                                    \
        case EDDY_CHOICE_AT_MOST: CHOOSE(a <= b)                                \
        default: CHOOSE(a == b)                                                 \
        }                                                                       \
        return EDDY_OK;                                                         \
    }                                                                           \
    EDDY_CLONES(fn)
#define CHOICE_LOOPS(suffix, ...) CHOICE_LOOPS_OF(choice_##suffix, EDDY_COLUMN(ELEMENT, suffix))
FOR_FLOATS(CHOICE_LOOPS, 0)

static eddy_tile_fn choice_tile(const eddy_type *in, const eddy_type *out)
{
    (void)out;
    switch ((int)in->dtype) { PICK_FLOATS(choice) }
    return NULL;
}

static bool choice_infer(eddy_infer *c)
{
    const int64_t test = ((const eddy_choice_attrs *)c->attrs)->test;
    if (test < 0 || test > EDDY_CHOICE_EQUAL)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "unknown comparison");
    return eddy__infer_elementwise(c);
}

static void choice_gradient(eddy_rule *r)
{
    const int64_t     test = ((const eddy_choice_attrs *)r->attrs)->test;
    const eddy_tensor a = r->x[0], b = r->x[1];
    const eddy_tensor chosen = test == EDDY_CHOICE_LESS      ? Less(a, b)
                               : test == EDDY_CHOICE_AT_MOST ? LessEqual(a, b)
                                                             : Equal(a, b);
    r->dx[2] = Where(chosen, r->dy[0], 0);
    r->dx[3] = Where(chosen, 0, r->dy[0]);
}

/* y = c where a test b, else d, float32 or float64; created by a session from a comparison and
 * SelectV2. */
const eddy_op_def eddy_op_choice = {
    .name = "_Choice", .label = "Choice", .min_inputs = 4, .max_inputs = 4, .outputs = 1,
    .inputs = EDDY_INPUTS({ "a", EDDY_TAKES_FLOATS }, { "b", EDDY_LIKE(0) }, { "c", EDDY_LIKE(0) },
                          { "d", EDDY_LIKE(0) }),
    .flags = EDDY_OP_ELEMENTWISE | EDDY_OP_CHEAP, .attrs_size = sizeof(eddy_choice_attrs),
    .attrs = EDDY_ATTRS(eddy_choice_attrs, test),
    .infer = choice_infer, .tile = choice_tile, .gradient = choice_gradient,
};
