/* corrected_rounding.c -- finds sums and exponentials u whose rounding error the rest of a formula
 * makes up for, as log1p and expm1 are written by hand:
 *
 *     u = 1 + a:    log(u) a / (u - 1)    or    log(u) - ((u - 1) - a) / u
 *     u = exp(a):   (u - 1) a / log(u)
 *
 * All parts have the rounding error of u, so none may be replaced by a form without it. */
#include "session/compile/ir.h"
#include "ops/weak_ops.h"

/* A factor that is log(u) or u - 1, or divides by it. */
typedef struct factor {
    ir_node *u;
    bool     is_log, divides;
} factor;

enum { FACTORS = 8, DEPTH = 4 };

/* If n is log(u), the node u. A constant has the operation that computed it, and no inputs. */
static ir_node *argument_of_log(const ir_graph *f, const ir_node *n)
{
    return n->op == &eddy_op_log && n->n_inputs == 1 ? eddy__ir_node(f, n->inputs[0]) : NULL;
}

/* If n is u - 1, or 1 - u, the node u. */
static ir_node *more_by_one(const ir_graph *f, const ir_node *n)
{
    const bool sum = n->op == &eddy_op_add;
    for (int i = 0; i < n->n_inputs && n->n_inputs == 2 && (sum || n->op == &eddy_op_sub); i++)
        if (eddy__ir_is_filled(f, n->inputs[1 - i], sum ? -1 : 1))
            return eddy__ir_node(f, n->inputs[i]);
    return NULL;
}

static bool is_rounded(const ir_node *u)
{
    return u->op == &eddy_op_exp || u->op == &eddy_op_add || u->op == &eddy_op_sub;
}

/* Adds the factors of t to the n that were found before. */
static int add_factors(const ir_graph *f, eddy_tensor t, bool divides, int depth, factor *to, int n)
{
    const ir_node     *x = eddy__ir_node(f, t);
    const eddy_op_def *op = x->op;
    ir_node           *l = argument_of_log(f, x), *u = l ? l : more_by_one(f, x);
    if (n == FACTORS || depth == 0) return n;
    if (u && u->has_log && u->has_less_one) {
        to[n] = (factor){ u, l != NULL, divides };
        return n + 1;
    }
    if (op != &eddy_op_mul && op != &eddy_op_div && op != &eddy_op_where && op != &eddy_op_neg &&
        op != &eddy_op_reciprocal)
        return n;
    for (int i = op == &eddy_op_where; i < x->n_inputs; i++) {
        const bool below = op == &eddy_op_reciprocal || (op == &eddy_op_div && i == 1);
        n = add_factors(f, x->inputs[i], divides != below, depth - 1, to, n);
    }
    return n;
}

/* A product or quotient: one of log(u) and u - 1 divides the other. */
static void find_quotient(const ir_graph *f, const ir_node *n)
{
    factor    found[FACTORS];
    const int count = add_factors(f, eddy__ir_tensor(n->id, 0), false, DEPTH, found, 0);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (found[i].u == found[j].u && found[i].is_log != found[j].is_log &&
                found[i].divides != found[j].divides)
                found[i].u->corrected = true;
}

/* A difference (u - 1) - a, or a - (u - 1): the error of u. */
static void find_error(const ir_graph *f, const ir_node *n)
{
    for (int i = 0; i < n->n_inputs; i++) {
        const eddy_tensor a = n->inputs[1 - i];
        ir_node *u = more_by_one(f, eddy__ir_node(f, n->inputs[i]));
        if (!u || u->op == &eddy_op_exp) continue;
        for (int k = 0; k < u->n_inputs; k++)
            if (u->inputs[k].node == a.node && u->inputs[k].output == a.output)
                u->corrected = true;
    }
}

void eddy__find_corrected(ir_graph *f, ir_node *n)
{
    ir_node *l = argument_of_log(f, n), *u = l ? l : more_by_one(f, n);
    if (l) l->has_log = true;
    else if (u && is_rounded(u)) u->has_less_one = true;
    f->has_corrections |= (u && u->has_log && u->has_less_one) || (n->has_log && n->has_less_one);
    if (n->op == &eddy_op_sub && n->n_inputs == 2) find_error(f, n);
    if (f->has_corrections && (n->op == &eddy_op_mul || n->op == &eddy_op_div)) find_quotient(f, n);
}
