/* random_graph_variables.c -- variables of a random graph: updates, and nodes that wait for
 * them. */
#include "tests/lib/random_graphs/random_graph.h"

/* Some of the rows. */
static eddy_tensor scattered(random_graph *g, eddy_tensor v)
{
    const eddy_shape s = shape_of(g, v);
    if (s.rank == 0 || s.dim[0] == 0) return eddy_assign_sub(v, Identity(v));
    const int32_t     at = (int32_t)s.dim[0] - 1, rows[] = { at, 0, at };
    const eddy_tensor x = Gather(pool_tame(g, pool_of(g, s)), pool_ints(g, 3, rows));
    const eddy_tensor to = pool_ints(g, 3, rows);
    const eddy_tensor each = ExpandDims(to, 1), near_one = Add(Abs(x), 0.75);
    switch (pick(&g->t, 12)) {
    case 0:  return eddy_scatter_add(v, to, x);
    case 1:  return eddy_scatter_sub(v, to, x);
    case 2:  return eddy_scatter_max(v, to, x);
    case 3:  return eddy_scatter_min(v, to, x);
    case 4:  return eddy_scatter_mul(v, to, x);
    case 5:  return eddy_scatter_div(v, to, near_one);
    case 6:  return eddy_scatter_nd_min(v, each, x);
    case 7:  return eddy_scatter_nd_update(v, each, x);
    case 8:  return pick(&g->t, 2) ? eddy_scatter_nd_add(v, each, x)
                                   : eddy_scatter_nd_sub(v, each, x);
    case 9:  return eddy_scatter_nd_max(v, each, x);
    case 10: return eddy_index_assign(v, "-1:", eddy_index(x, ":1"));
    default: return eddy_scatter_update(v, to, x);
    }
}

static eddy_tensor updated(random_graph *g, eddy_tensor v)
{
    const eddy_tensor x = pool_of(g, shape_of(g, v));
    switch (pick(&g->t, 6)) {
    case 0:  return eddy_assign(v, pool_tame(g, x));
    case 1:  return eddy_assign_add(v, Mul(pool_tame(g, x), 0.25));
    case 2:  return eddy_assign(v, Add(Mul(v, 0.5), pool_tame(g, x)));
    case 3:  return scattered(g, v);
    case 4:  return eddy_assign(v, x);
    default: return eddy_assign_sub(v, Mul(pool_tame(g, x), 0.25));
    }
}

/* Nodes that wait for assertions that hold. */
static void asserted(random_graph *g)
{
    const eddy_tensor x = pool_any(g), positive = Greater(x, 0);
    const eddy_tensor either = LogicalOr(positive, LogicalNot(positive));
    const eddy_tensor holds = eddy_assert(either, .data = EDDY_LIST(x));
    const eddy_tensor ranked = eddy_assert_rank_at_least(x, 0);
    const bool        behind = g->behind;
    eddy_control_begin(g->t.graph, EDDY_LIST(holds, ranked));
    g->behind = true;
    pool_add(g, Mul(x, 0.5));
    eddy_control_end(g->t.graph);
    g->behind = behind;
}

void random_state(random_graph *g)
{
    if (pick(&g->t, 6) == 0) asserted(g);
    if (g->n_variables == 0) return;
    const eddy_tensor v = g->variable[pick(&g->t, g->n_variables)];
    if (pick(&g->t, 4) == 0) pool_add(g, eddy_read(v));
    if (pick(&g->t, 8) == 0 && g->depth == 0) pool_keep(g, eddy_is_initialized(v));
    if (pick(&g->t, 8) == 0 && g->depth == 0) pool_add(g, eddy_initialized_value(v));
    const eddy_tensor y = updated(g, v);
    const bool        behind = g->behind;
    pool_fetch(g, y);
    if (pick(&g->t, 2)) pool_add(g, y);
    if (pick(&g->t, 2)) pool_add(g, Add(v, 1));
    if (pick(&g->t, 2) == 0) return;
    eddy_control_begin(g->t.graph, EDDY_LIST(y));
    g->behind = true;
    pool_add(g, pick(&g->t, 2) ? eddy_read(v) : Mul(v, 2));
    if (pick(&g->t, 3) == 0) pool_fetch(g, updated(g, v));
    eddy_control_end(g->t.graph);
    g->behind = behind;
}
