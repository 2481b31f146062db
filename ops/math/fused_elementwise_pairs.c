/* fused_elementwise_pairs.c -- fused pairs: two elementwise operations in one loop.
 *
 * The cost of a loop over elements in the fastest cache is its loads and stores. Fusing two
 * consecutive loops saves one store and one load; the arithmetic and its rounding are unchanged. */
#include "ops/math/fused_elementwise_pairs.h"
#include "ops/math/elementwise_rows.h"

#define EACH(value)                                                             \
    EDDY_INDEPENDENT                                                            \
    for (int64_t i = 0; i < n; i++) {                                           \
        const T a = x0[i], b = x1[i], c = x2[i];                                \
        o[i] = (value);                                                         \
    }                                                                           \
    break;

/* As Minimum and Maximum (ops/math/binary.c), by two comparisons. Each step computes its value
 * whatever b and c are, so that compilers use instructions for minimum and maximum. */
#define EACH_BOUNDED(first, second)                                             \
    EDDY_INDEPENDENT                                                            \
    for (int64_t i = 0; i < n; i++) {                                           \
        const T a = x0[i], b = x1[i], c = x2[i];                                \
        const T one = b first a ? b : a, bounded = b == b ? one : b;            \
        const T other = c second bounded ? c : bounded;                         \
        o[i] = c == c ? other : c;                                              \
    }                                                                           \
    break;

/* All second operations after g, a value of a and b. */
#define SECONDS(first, g)                                                       \
    case 8 * (first) + EDDY_PAIR_ADD: EACH((g) + c)                             \
    case 8 * (first) + EDDY_PAIR_SUB: EACH((g) - c)                             \
    case 8 * (first) + EDDY_PAIR_SUB_FROM: EACH(c - (g))                        \
    case 8 * (first) + EDDY_PAIR_MUL: EACH((g) * c)                             \
    case 8 * (first) + EDDY_PAIR_DIV: EACH((g) / c)                             \
    case 8 * (first) + EDDY_PAIR_DIV_INTO: EACH(c / (g))

#define PAIR_LOOPS_OF(fn, T_)                                                   \
    static eddy_status fn(int64_t n, void *y, const void *const *x, const void *attrs) \
    {                                                                           \
        typedef T_ T;                                                           \
        const eddy_pair_attrs *p = attrs;                                       \
        T       *o = y;                                                         \
        const T *x0 = x[0], *x1 = x[1], *x2 = x[2];                             \
        switch (8 * p->first + p->second) {                                     \
        SECONDS(EDDY_PAIR_ADD, a + b)                                           \
        SECONDS(EDDY_PAIR_SUB, a - b)                                           \
        SECONDS(EDDY_PAIR_MUL, a * b)                                           \
        case 8 * EDDY_PAIR_MIN + EDDY_PAIR_MAX: EACH_BOUNDED(<, >)             \
        case 8 * EDDY_PAIR_MAX + EDDY_PAIR_MIN: EACH_BOUNDED(>, <)             \
        default: return EDDY_INTERNAL;                                          \
        }                                                                       \
        return EDDY_OK;                                                         \
    }                                                                           \
    EDDY_CLONES(fn)
#define PAIR_LOOPS(suffix, ...) PAIR_LOOPS_OF(pair_##suffix, EDDY_COLUMN(ELEMENT, suffix))
FOR_FLOATS(PAIR_LOOPS, 0)

static eddy_tile_fn pair_tile(const eddy_type *in, const eddy_type *out)
{
    (void)out;
    switch ((int)in->dtype) { PICK_FLOATS(pair) }
    return NULL;
}

static bool pair_infer(eddy_infer *c)
{
    if (!eddy__pair_exists(*(const eddy_pair_attrs *)c->attrs))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "unknown pair of operations");
    return eddy__infer_elementwise(c);
}

static eddy_tensor applied(int64_t op, eddy_tensor a, eddy_tensor b)
{
    switch (op) {
    case EDDY_PAIR_ADD: return Add(a, b);
    case EDDY_PAIR_SUB: return Sub(a, b);
    case EDDY_PAIR_SUB_FROM: return Sub(b, a);
    case EDDY_PAIR_MUL: return Mul(a, b);
    case EDDY_PAIR_MIN: return Minimum(a, b);
    case EDDY_PAIR_MAX: return Maximum(a, b);
    case EDDY_PAIR_DIV: return Div(a, b);
    default: return Div(b, a);
    }
}

/* The gradients of both operands of `op`, for the gradient dy of its result. */
static void backwards(const eddy_rule *r, int64_t op, const eddy_tensor *x, eddy_tensor dy,
                      eddy_tensor *dx)
{
    const eddy_tensor y = applied(op, x[0], x[1]);
    const bool        swapped = op == EDDY_PAIR_SUB_FROM || op == EDDY_PAIR_DIV_INTO;
    const eddy_tensor in[] = { x[swapped], x[!swapped] };
    eddy_tensor       d[2] = { EDDY_ZERO_TENSOR, EDDY_ZERO_TENSOR };
    eddy_rule rule = { .graph = r->graph, .node = eddy_node_of(y), .x = in, .y = &y, .dy = &dy,
                       .dx = d, .n_in = 2, .n_out = 1, .n_dx = 2 };
    if (rule.node) rule.node->op->gradient(&rule);
    dx[0] = d[swapped];
    dx[1] = d[!swapped];
}

static void pair_gradient(eddy_rule *r)
{
    const eddy_pair_attrs *p = r->attrs;
    const eddy_tensor      between = applied(p->first, r->x[0], r->x[1]);
    const eddy_tensor      x[] = { between, r->x[2] };
    eddy_tensor            d[2];
    backwards(r, p->second, x, r->dy[0], d);
    backwards(r, p->first, r->x, eddy_sum_like(d[0], between), r->dx);
    r->dx[2] = d[1];
}

static double pair_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    return 2 * eddy_flops_per_output(attrs, n_in, in, out);
}

/* y = (a first b) second c, float32 or float64; created by a session from two operations. */
const eddy_op_def eddy_op_pair = {
    .name = "_Pair", .label = "Pair", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "a", EDDY_TAKES_FLOATS }, { "b", EDDY_LIKE(0) }, { "c", EDDY_LIKE(0) }),
    .flags = EDDY_OP_ELEMENTWISE, .attrs_size = sizeof(eddy_pair_attrs),
    .attrs = EDDY_ATTRS(eddy_pair_attrs, first, second),
    .infer = pair_infer, .tile = pair_tile, .gradient = pair_gradient, .flops = pair_flops,
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
