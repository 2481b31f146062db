/* dependence.c -- follows the elements of a tensor through the operations between it and another.
 *
 * Each element of each tensor has a set of elements of x, and each kind of operation a rule that
 * makes the sets of its results from those of its inputs. The sets may be too large, never too
 * small. */
#include "autodiff/sparse/dependence.h"
#include "ops/ops.h"
#include "ops/linear/matmul.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "ops/reduce/reductions.h"
#include "ops/weak_ops.h"

#include <string.h>

const int32_t *eddy__sets_of(const eddy_dependence *d, eddy_tensor t)
{
    const eddy_subgraph *s = &d->nodes;
    if (!eddy__subgraph_has(s, t, EDDY_DEPENDS) || !d->of[t.node - s->first]) return NULL;
    const int32_t *sets = d->of[t.node - s->first];
    for (int k = 0; k < t.output; k++)
        sets += eddy_shape_count(d->graph->nodes[t.node]->outputs[k].shape);
    return sets;
}

/* The sets of input i; NULL if it does not depend on x by its value. */
static const int32_t *input(const eddy_dependence *d, const eddy_node *node, int i)
{
    return eddy__input_is_in(node->op->shape_inputs, i) ? NULL : eddy__sets_of(d, node->inputs[i]);
}

static bool is_one_of(const eddy_node *node, size_t n, const eddy_op_def *const *ops)
{
    for (size_t i = 0; i < n; i++)
        if (node->op == ops[i]) return true;
    return false;
}

/* ------------------------------------------------------------------- rules -- */

/* Element i of a tensor of shape s is made of element `at` of one that broadcasts to it. */
static int64_t broadcast_from(eddy_shape s, eddy_shape from, int64_t i)
{
    int64_t at = 0, step = 1;
    for (int k = from.rank - 1, j = s.rank - 1; k >= 0; k--, j--) {
        if (from.dim[k] > 1) at += i % s.dim[j] * step;
        i /= s.dim[j];
        step *= from.dim[k];
    }
    return at;
}

static void by_elements(eddy_dependence *d, const eddy_node *node, int32_t *out)
{
    const eddy_shape s = node->outputs[0].shape;
    const int64_t    n = eddy_shape_count(s);
    for (int k = 0; k < node->n_inputs; k++) {
        const int32_t   *sets = input(d, node, k);
        const eddy_shape from = eddy_shape_of(node->inputs[k]);
        for (int64_t i = 0; sets && i < n; i++)
            out[i] = eddy__union_of(&d->sets, out[i], sets[broadcast_from(s, from, i)]);
    }
}

/* The axes over which it folds are at the end of `order`. */
static void by_folding(eddy_dependence *d, const eddy_node *node, int32_t *out)
{
    const eddy_reduce_attrs *a = node->attrs;
    const eddy_shape x = eddy_shape_of(node->inputs[0]);
    const unsigned   mask = x.rank > 0 ? eddy__axes_mask(a->axes, x.rank) : 0;
    const int32_t   *sets = input(d, node, 0);
    const int64_t    n = eddy_shape_count(node->outputs[0].shape);
    eddy_shape       kept = x, folded = x;
    for (int i = 0; i < x.rank; i++) *(mask >> i & 1 ? &kept.dim[i] : &folded.dim[i]) = 1;
    const int64_t terms = eddy_shape_count(folded);
    for (int64_t i = 0; sets && i < n; i++) {
        eddy__sum_begin(&d->sets);
        for (int64_t j = 0; j < terms; j++) {
            int64_t at = 0, step = 1, left = i, folds = j;
            for (int k = x.rank - 1; k >= 0; k--) {
                int64_t *rest = mask >> k & 1 ? &folds : &left;
                at += *rest % x.dim[k] * step;
                *rest /= x.dim[k];
                step *= x.dim[k];
            }
            eddy__sum_add(&d->sets, sets[at]);
        }
        out[i] = eddy__sum_end(&d->sets);
    }
}

/* The sum of a row of a or of a column of b, of k elements. */
static int32_t line(eddy_dependence *d, const int32_t *sets, int64_t first, int64_t k, int64_t step)
{
    eddy__sum_begin(&d->sets);
    for (int64_t q = 0; sets && q < k; q++) eddy__sum_add(&d->sets, sets[first + q * step]);
    return eddy__sum_end(&d->sets);
}

/* The product of two matrices. */
static void by_product(eddy_dependence *d, const eddy_node *node, int32_t *out)
{
    const eddy_matmul_attrs *t = node->attrs;
    const eddy_shape y = node->outputs[0].shape;
    const int32_t   *a = input(d, node, 0), *b = input(d, node, 1);
    const int64_t    m = y.dim[0], n = y.dim[1];
    const int64_t    k = a ? eddy_shape_of(node->inputs[0]).dim[t->transpose_a ? 0 : 1]
                           : eddy_shape_of(node->inputs[1]).dim[t->transpose_b ? 1 : 0];
    for (int64_t i = 0; i < m; i++) {
        const int32_t row = t->transpose_a ? line(d, a, i, k, m) : line(d, a, i * k, k, 1);
        for (int64_t j = 0; j < n; j++) out[i * n + j] = row;
    }
    for (int64_t j = 0; j < n && b; j++) {
        const int32_t column = t->transpose_b ? line(d, b, j * k, k, 1) : line(d, b, j, k, n);
        for (int64_t i = 0; i < m; i++)
            out[i * n + j] = eddy__union_of(&d->sets, out[i * n + j], column);
    }
}

static void by_anything(eddy_dependence *d, const eddy_node *node, int32_t *out, int64_t n)
{
    eddy__sum_begin(&d->sets);
    for (int k = 0; k < node->n_inputs; k++) {
        const int32_t *sets = input(d, node, k);
        const int64_t  count = sets ? eddy_shape_count(eddy_shape_of(node->inputs[k])) : 0;
        for (int64_t i = 0; i < count; i++) eddy__sum_add(&d->sets, sets[i]);
    }
    const int32_t all = eddy__sum_end(&d->sets);
    for (int64_t i = 0; i < n; i++) out[i] = all;
}

static bool is_matrix_product(const eddy_node *node)
{
    return (node->op == &eddy_op_matmul || node->op == &eddy_op_batch_matmul) &&
           eddy_shape_of(node->inputs[0]).rank == 2 && eddy_shape_of(node->inputs[1]).rank == 2;
}

/* The input of an alias that its gradient reaches. */
static int gradient_input(const eddy_node *node)
{
    return node->op == &eddy_op_grad_pass_through ? 1 : 0;
}

/* The sets of all outputs, one after the other; n in all. */
static void apply_rule(eddy_dependence *d, const eddy_node *node, int32_t *out, int64_t n)
{
    static const eddy_op_def *const elementwise[] = { &eddy_op_add_n, &eddy_op_bias_add,
                                                      &eddy_op_cast };
    const eddy_op_def *op = node->op;
    if (op == &eddy_op_stop_gradient) return;
    if (!eddy_dtype_is_differentiable(node->outputs[0].dtype)) return;
    if (node->gradient) by_anything(d, node, out, n);
    else if (op->flags & EDDY_OP_ALIAS && input(d, node, gradient_input(node)))
        memcpy(out, input(d, node, gradient_input(node)), (size_t)n * sizeof *out);
    else if (node->n_outputs == 1 && (op->flags & EDDY_OP_ELEMENTWISE ||
                                      is_one_of(node, 3, elementwise)))
        by_elements(d, node, out);
    else if (op->fold && node->n_inputs == 1) by_folding(d, node, out);
    else if (is_matrix_product(node)) by_product(d, node, out);
    else if (!eddy__moved_sets(d, node, out)) by_anything(d, node, out, n);
}

/* ------------------------------------------------------- second derivatives -- */

static int depending_inputs(const eddy_dependence *d, const eddy_node *node)
{
    int n = 0;
    for (int i = 0; i < node->n_inputs; i++) n += input(d, node, i) != NULL;
    return n;
}

/* The outputs are linear in the inputs that depend on x. */
static bool is_linear(const eddy_dependence *d, const eddy_node *node)
{
    static const eddy_op_def *const always[] = {
        &eddy_op_add, &eddy_op_sub, &eddy_op_neg, &eddy_op_add_n, &eddy_op_bias_add, &eddy_op_sum,
        &eddy_op_mean, &eddy_op_cumsum, &eddy_op_cast, &eddy_op_stop_gradient,
    };
    static const eddy_op_def *const in_one[] = { &eddy_op_mul, &eddy_op_matmul,
                                                 &eddy_op_batch_matmul };
    if (node->gradient) return false;
    return is_one_of(node, sizeof always / sizeof *always, always) ||
           node->op->flags & EDDY_OP_ALIAS ||
           (is_one_of(node, 3, in_one) && depending_inputs(d, node) == 1) ||
           (node->op == &eddy_op_div && !input(d, node, 1));
}

/* All elements of each set are partners of each other. */
static void join_partners(eddy_dependence *d, const int32_t *of, int64_t n)
{
    for (int64_t i = 0; i < n && d->sets.status == EDDY_OK; i++) {
        const eddy_index_set set = d->sets.sets[of[i]];
        if (set.joined) continue;
        d->sets.sets[of[i]].joined = true;
        for (int64_t k = 0; k < set.n; k++)
            d->partners[set.at[k]] = eddy__union_of(&d->sets, d->partners[set.at[k]], of[i]);
    }
}

/* ------------------------------------------------------------------ the walk -- */

/* The number of elements of all outputs; -1, with an error, if it is unknown. */
static int64_t elements_of(const char *who, const eddy_node *node)
{
    int64_t n = 0;
    for (int k = 0; k < node->n_outputs; k++) {
        const eddy_shape s = node->outputs[k].shape;
        char             text[128];
        if (!eddy_shape_is_known(s)) {
            eddy_fail(node->n_inputs > 0 ? node->inputs[0].graph : NULL, EDDY_BAD_SHAPE,
                      "%s: the shape of '%.200s' is %s; all sizes between x and y must be known",
                      who, node->name, eddy_shape_print(s, text, sizeof text));
            return -1;
        }
        n += eddy_shape_count(s);
    }
    return n;
}

static bool walk(eddy_dependence *d, const char *who)
{
    eddy_subgraph *s = &d->nodes;
    for (int32_t id = s->first; id <= s->last && d->sets.status == EDDY_OK; id++) {
        const eddy_node *node = d->graph->nodes[id];
        const int        marks = s->marks[id - s->first];
        if ((marks & EDDY_BETWEEN) != EDDY_BETWEEN || marks & EDDY_SOURCE) continue;
        const int64_t n = elements_of(who, node);
        if (n < 0) return false;
        int32_t *out = eddy__subgraph_alloc(s, n + 1, sizeof *out);
        if (!out) return false;
        apply_rule(d, node, out, n);
        const bool moved = eddy__moved_sets(d, node, NULL);
        d->of[id - s->first] = out;
        if (d->partners && !moved && !is_linear(d, node)) join_partners(d, out, n);
    }
    return true;
}

void eddy__too_many_elements(eddy_graph *g, const char *who)
{
    eddy_fail(g, EDDY_LIMIT,
              "%s: the sparsity patterns between x and y have more than %d elements", who,
              EDDY_MOST_MEMBERS);
}

bool eddy__dependence_begin(eddy_dependence *d, const char *who, eddy_tensor y, eddy_tensor x,
                            bool with_partners)
{
    eddy_graph *g = y.graph;
    *d = (eddy_dependence){ .graph = g, .rows = eddy_shape_count(eddy_shape_of(y)),
                            .columns = eddy_shape_count(eddy_shape_of(x)) };
    bool ok = eddy__subgraph_begin(&d->nodes, g, 1, &x, 1, &y);
    ok = eddy__index_sets_begin(&d->sets, eddy__graph_allocator(g), d->columns) && ok;
    eddy_subgraph *s = &d->nodes;
    const int64_t  source = ok ? elements_of(who, g->nodes[x.node]) : -1;
    if (source >= 0) {
        d->of = eddy__subgraph_alloc(s, (int64_t)s->last - s->first + 1, sizeof *d->of);
        d->of_y = eddy__subgraph_alloc(s, d->rows + 1, sizeof *d->of_y);
        if (with_partners)
            d->partners = eddy__subgraph_alloc(s, d->columns + 1, sizeof *d->partners);
    }
    int32_t *out = source < 0 ? NULL : eddy__subgraph_alloc(s, source + 1, sizeof *out);
    if (out && d->of && d->of_y && (d->partners || !with_partners)) {
        int32_t *sets = out;
        for (int k = 0; k < x.output; k++)
            sets += eddy_shape_count(g->nodes[x.node]->outputs[k].shape);
        for (int64_t i = 0; i < d->columns; i++) {
            eddy__sum_begin(&d->sets);
            eddy__sum_add_index(&d->sets, i);
            sets[i] = eddy__sum_end(&d->sets);
        }
        d->of[x.node - s->first] = out;
        ok = walk(d, who);
        const int32_t *of_y = ok ? eddy__sets_of(d, y) : NULL;
        if (of_y) memcpy(d->of_y, of_y, (size_t)d->rows * sizeof *of_y);
    }
    if (d->sets.status == EDDY_LIMIT) eddy__too_many_elements(g, who);
    if (eddy__graph_ready(g) && (!ok || d->sets.status != EDDY_OK || !out))
        eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory", who);
    return eddy__graph_ready(g);
}

void eddy__dependence_end(eddy_dependence *d)
{
    eddy__index_sets_end(&d->sets);
    eddy__subgraph_end(&d->nodes);
}
