/* row_products.c -- products before the loop. In x W, where x is computed from rows of the loop
 * alone and W is the same in all iterations, all rows can be multiplied at once: one product of a
 * large matrix takes the place of many products of small ones, and the loop gets its rows. So do
 * those of the gradient, which are products of all rows as well. */
#include "control/trace_functions.h"
#include "ops/linear/matmul.h"
#include "ops/ops.h"
#include "build/gen/table.h"

#include <string.h>

/* The result may have so many times the elements of x: it is kept for all iterations. */
enum { MOST_TIMES = 32 };

/* The inputs on which a value depends. */
enum { OUTSIDE = 0, ROWS = 1, MORE = 2 };

typedef struct kinds {
    const trace *t;
    extraction  *e;
    int          n_carried;
    uint8_t     *of;                /* by node, from t->first on */
} kinds;

static int kind_of(const kinds *k, eddy_tensor x)
{
    if (eddy__extract_variable(k->e, x) >= 0) return MORE;
    for (int a = 0; a < k->t->n_args; a++)
        if (eddy_same(k->t->args[a], x)) return a < k->n_carried ? MORE : ROWS;
    return x.node >= k->t->first ? k->of[x.node - k->t->first] : OUTSIDE;
}

static int kind_of_node(const kinds *k, const eddy_node *node)
{
    int kind = eddy__trace_repeats(node) ? MORE : OUTSIDE;
    for (int i = 0; i < node->n_inputs; i++) {
        const int of = kind_of(k, node->inputs[i]);
        kind = of > kind ? of : kind;
    }
    for (int i = 0; i < node->n_controls; i++)
        if (node->controls[i] >= k->t->first && k->of[node->controls[i] - k->t->first] != OUTSIDE)
            kind = MORE;
    /* other operations of all rows are not worth their memory, or have no rule */
    const bool moves = (node->op->flags & EDDY_OP_ELEMENTWISE) || node->op == &eddy_op_matmul;
    return kind == ROWS && !moves ? MORE : kind;
}

static bool is_small(eddy_shape y, eddy_shape x)
{
    return y.dim[1] == EDDY_ANY || x.dim[1] == EDDY_ANY || y.dim[1] <= MOST_TIMES * x.dim[1];
}

static bool is_product(const kinds *k, const eddy_node *node)
{
    if (node->op != &eddy_op_matmul) return false;
    const eddy_matmul_attrs *a = node->attrs;
    const eddy_shape         x = eddy__type_of(node->inputs[0]).shape;
    return !a->transpose_a && x.rank == 2 && kind_of(k, node->inputs[0]) == ROWS &&
           kind_of(k, node->inputs[1]) == OUTSIDE && is_small(node->outputs[0].shape, x);
}

bool eddy__row_products_find(const trace *t, extraction *e, int n_carried)
{
    kinds k = { .t = t, .e = e, .n_carried = n_carried };
    bool  ranks = n_carried > 0;
    for (int a = n_carried; a < t->n_args; a++)
        ranks = ranks && eddy__type_of(t->args[a]).shape.rank >= 0;
    if (!ranks || t->n_args == n_carried) return true;
    k.of = eddy__extract_room(e, (int64_t)e->size - t->first + 1, 1);
    e->products = eddy__extract_room(e, (int64_t)e->size + 1, 1);
    if (!k.of || !e->products) return false;
    for (int32_t id = t->first; id <= e->size; id++) {
        const eddy_node *node = t->graph->nodes[id];
        k.of[id - t->first] = (uint8_t)kind_of_node(&k, node);
        e->products[id] = is_product(&k, node);
    }
    return true;
}

/* Builds the products again for an example of the rows, which no run computes. The nodes that map
 * them to all rows may need its shapes, and an argument of the trace has none in a copied graph. */
static bool of_examples(const trace *t, eddy_list rows, const eddy_tensor *args, int n,
                        eddy_tensor *ys, eddy_tensor *examples)
{
    eddy_subgraph s;
    bool          ok = eddy__subgraph_begin(&s, t->graph, rows.count, args, n, ys);
    for (int i = 0; ok && i < rows.count; i++) {
        examples[i] = eddy_example(rows.at[i]);
        eddy__subgraph_replace(&s, args[i], examples[i]);
    }
    for (int32_t id = s.first; ok && id <= s.last && eddy__graph_ready(t->graph); id++)
        if (s.marks[id - s.first] == EDDY_BETWEEN)
            eddy__subgraph_rebuild(&s, t->graph->nodes[id]);
    for (int k = 0; ok && k < n; k++) ys[k] = eddy__subgraph_replacement(&s, ys[k]);
    eddy__subgraph_end(&s);
    return ok && eddy__graph_ready(t->graph);
}

int eddy__row_products_build(const trace *t, extraction *e, eddy_list rows, eddy_tensor *in)
{
    const eddy_tensor *args = t->args + (t->n_args - rows.count);
    eddy_tensor *ys = eddy__extract_room(e, 2 * (int64_t)e->n_captures, sizeof *ys);
    eddy_tensor  examples[EDDY_MAX_RESULTS];
    int          n = 0;
    for (int i = 0; ys && e->products && i < e->n_captures; i++)
        if (e->products[e->captures[i].node]) ys[n++] = e->captures[i];
    if (n == 0) return 0;
    eddy_tensor *again = ys + n;
    memcpy(again, ys, (size_t)n * sizeof *ys);
    if (!of_examples(t, rows, args, n, again, examples) ||
        !eddy__vectorize(t->graph, rows.count, examples, rows.at, n, again, in))
        return 0;
    for (int i = 0; i < n; i++) eddy__extract_argument(e, ys[i], eddy__type_of(ys[i]));
    return n;
}
