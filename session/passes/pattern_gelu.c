/* pattern_gelu.c -- recognizes GELU: 0.5 x (1 + erf(x / sqrt(2))), and its tanh approximation. */
#include "session/passes/patterns.h"
#include "ops/weak_ops.h"

#define SQRT_HALF        0.70710678118654752
#define SQRT_TWO_OVER_PI 0.79788456080286536
#define CUBIC            0.044715

/* A product: number * x^power * other, which may be none. */
typedef struct term {
    eddy_tensor x, other;
    double      number;
    int         power;
} term;

/* x^2, or x^3 as a power. */
static bool power_of(const rewrite *r, eddy_parts *p, term *a, eddy_tensor t)
{
    const ir_node *n = eddy__match(r, t, &eddy_op_square);
    int            power = 2;
    if (!n && (n = eddy__match(r, t, &eddy_op_pow)) != NULL) {
        if (!eddy__match_is(r, n->inputs[1], 3)) return false;
        power = 3;
    }
    if (!n || !eddy__match_same(n->inputs[0], a->x)) return false;
    eddy__match_part(r, p, t, n->op);
    a->power += power;
    return true;
}

/* t is a factor of a, or a product of them. */
static bool factor(const rewrite *r, eddy_parts *p, term *a, eddy_tensor t, int depth)
{
    double v;
    if (eddy__match_number(r, t, &v)) {
        a->number *= v;
        return true;
    }
    if (eddy__match_same(t, a->x)) {
        a->power++;
        return true;
    }
    if (power_of(r, p, a, t)) return true;
    const ir_node *n = depth > 0 ? eddy__match_part(r, p, t, &eddy_op_mul) : NULL;
    if (n) return factor(r, p, a, n->inputs[0], depth - 1) &&
                  factor(r, p, a, n->inputs[1], depth - 1);
    n = depth > 0 ? eddy__match(r, t, &eddy_op_div) : NULL;
    if (n && eddy__match_number(r, n->inputs[1], &v) && eddy__match_part(r, p, t, &eddy_op_div)) {
        a->number /= v;
        return factor(r, p, a, n->inputs[0], depth - 1);
    }
    if (eddy__ir_valid(a->other)) return false;
    a->other = t;
    return true;
}

enum { DEPTH = 5 };

static bool is_close(double a, double b) { return a > b - 1e-5 * b && a < b + 1e-5 * b; }

/* t = number x^power; or with `other`, if it is not NULL. */
static bool is_term(const rewrite *r, eddy_parts *p, eddy_tensor t, eddy_tensor x, double number,
                    int power, eddy_tensor *other)
{
    term a = { .x = x, .number = 1 };
    if (!factor(r, p, &a, t, DEPTH) || !is_close(a.number, number) || a.power != power)
        return false;
    if (other) *other = a.other;
    return eddy__ir_valid(a.other) == (other != NULL);
}

/* t = sqrt(2 / pi) (x + 0.044715 x^3), or with x taken out. */
static bool is_cubic(const rewrite *r, eddy_parts *p, eddy_tensor t, eddy_tensor x)
{
    const eddy_parts before = *p;
    for (int out = 0; out < 2; out++) {
        eddy_tensor sum;
        *p = before;
        if (!is_term(r, p, t, x, SQRT_TWO_OVER_PI, out, &sum)) continue;
        const ir_node *n = eddy__match_part(r, p, sum, &eddy_op_add);
        const eddy_parts inside = *p;
        for (int i = 0; n && i < 2; i++) {
            *p = inside;
            const bool first = out ? eddy__match_is(r, n->inputs[i], 1)
                                   : eddy__match_same(n->inputs[i], x);
            if (first && is_term(r, p, n->inputs[1 - i], x, CUBIC, 3 - out, NULL)) return true;
        }
    }
    return false;
}

/* The x of sum = 1 + erf(x / sqrt(2)), or 1 + tanh(...), is this one; gelu's op. */
static const eddy_op_def *gelu_of(const rewrite *r, eddy_parts *p, eddy_tensor sum, eddy_tensor x)
{
    const ir_node *add = eddy__match_part(r, p, sum, &eddy_op_add);
    eddy_tensor    f;
    if (!add || !eddy__match_with(r, add, 1, &f)) return NULL;
    const ir_node *n = eddy__match_part(r, p, f, &eddy_op_erf);
    if (n) return is_term(r, p, n->inputs[0], x, SQRT_HALF, 1, NULL) ? &eddy_op_gelu : NULL;
    n = eddy__match_part(r, p, f, &eddy_op_tanh);
    return n && is_cubic(r, p, n->inputs[0], x) ? &eddy_op_gelu_tanh : NULL;
}

/* The factors of a product that are not constants. Returns their number if there are few. */
static int factors(const rewrite *r, eddy_tensor t, eddy_tensor *at, int n, int depth)
{
    double         v;
    const ir_node *mul = depth > 0 ? eddy__match(r, t, &eddy_op_mul) : NULL;
    if (eddy__match_number(r, t, &v)) return n;
    if (mul) {
        n = factors(r, mul->inputs[0], at, n, depth - 1);
        return n > 2 ? n : factors(r, mul->inputs[1], at, n, depth - 1);
    }
    if (n < 2) at[n] = t;
    return n + 1;
}

bool eddy__pattern_gelu(rewrite *r)
{
    const eddy_tensor *of = r->node->inputs;
    eddy_tensor        at[2];
    int                n = factors(r, of[0], at, 0, DEPTH);
    if (n > 2 || factors(r, of[1], at, n, DEPTH) != 2) return false;
    for (int i = 0; i < 2; i++) {
        eddy_parts         p = { .n = 0 };
        term               a = { .x = at[i], .number = 1 };
        const eddy_op_def *op;
        if (!eddy__match(r, at[1 - i], &eddy_op_add) || !factor(r, &p, &a, of[0], DEPTH) ||
            !factor(r, &p, &a, of[1], DEPTH) || a.power != 1 || !is_close(a.number, 0.5) ||
            !(op = gelu_of(r, &p, at[1 - i], at[i])) || !eddy__match_closed(r, &p))
            continue;
        return eddy__give(r, eddy__make1(r, op, at[i]));
    }
    return false;
}
