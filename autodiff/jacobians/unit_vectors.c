/* unit_vectors.c -- rows and columns of Jacobians: the derivative for one seed, batched over many
 * of them, repeated for them in a loop, or in a loop over batches.
 *
 * A column is the derivative of a reverse sweep by its seed, as for eddy_jvp: the sweep is linear
 * in the seed, so that the seed's value does not matter and is not computed. */
#include "autodiff/jacobians/unit_vectors.h"
#include "control/control.h"
#include "ops/ops.h"

/* ------------------------------------------------------------- forward mode -- */

/* True if each operation from the seed to the results of the first sweep has a gradient. */
static bool has_gradients(const eddy_unit_vectors *v, int n, const eddy_tensor *dx)
{
    eddy_subgraph s;
    eddy_graph   *g = v->y.graph;
    bool          has = eddy__subgraph_begin(&s, g, 1, &v->u, n, dx);
    for (int32_t id = s.first; has && id <= s.last; id++) {
        const eddy_node *node = g->nodes[id];
        if (s.marks[id - s.first] == EDDY_BETWEEN) has = node->gradient || node->op->gradient;
    }
    eddy__subgraph_end(&s);
    return has;
}

bool eddy__forward_begin(eddy_unit_vectors *v, bool if_possible)
{
    eddy_graph  *g = v->y.graph;
    const int    n = v->xs.count;
    eddy_tensor *dx = eddy__tensors_new(g, 2 * (int64_t)n), *valid = dx + n;
    int          m = 0;
    if (!dx) return false;
    v->u = eddy_ones_like(v->y);
    const eddy_list     y = EDDY_LIST(v->y), u = EDDY_LIST(v->u);
    eddy_gradients_args a = { .ys = y, .xs = v->xs, .grad_ys = u, .out = dx };
    v->dx = dx;
    if (eddy__sweep(&a, v->recording) != EDDY_OK) return false;
    for (int k = 0; k < n; k++)
        if (eddy_is_valid(dx[k])) valid[m++] = dx[k];
    v->forward = !if_possible || m == 0 || has_gradients(v, m, valid);
    return eddy__graph_ready(g);
}

void eddy__forward_end(eddy_unit_vectors *v)
{
    if (v->dx) eddy__tensors_free(v->y.graph, v->dx, 2 * (int64_t)v->xs.count);
    v->dx = NULL;
}

/* ------------------------------------------------------------------ one seed -- */

/* The derivatives by some of the xs, or in forward mode the one by x number `first`. */
typedef struct part {
    const eddy_unit_vectors *v;
    int                      first, count;
} part;

static int results(const part *p) { return p->v->forward ? 1 : p->count; }

static bool derive(const part *p, eddy_tensor seed, eddy_tensor *out)
{
    const eddy_unit_vectors *v = p->v;
    const eddy_list to = EDDY_LIST(v->forward ? v->dx[p->first] : v->y), seeds = EDDY_LIST(seed);
    const eddy_list u = EDDY_LIST(v->u), xs = { p->count, v->xs.at + p->first };
    eddy_gradients_args a = { .ys = to, .xs = v->forward ? u : xs, .grad_ys = seeds, .out = out };
    for (int k = 0; k < results(p); k++) out[k] = eddy_none(v->y.graph);
    if (v->forward && !eddy_is_valid(v->dx[p->first])) return true;
    return eddy__sweep(&a, v->forward ? NULL : v->recording) == EDDY_OK;
}

/* ----------------------------------------------------------- all seeds together -- */

static void all_together(const part *p, eddy_tensor seeds, eddy_tensor *out)
{
    eddy_graph  *g = p->v->y.graph;
    const int    n = results(p);
    eddy_tensor  seed = eddy_example(seeds), *one = eddy__tensors_new(g, n);
    if (!one) return;
    if (derive(p, seed, one)) eddy__vectorize(g, 1, &seed, &seeds, n, one, out);
    for (int k = 0; k < n && eddy__graph_ready(g); k++)
        if (eddy_is_valid(one[k]) && !eddy_is_valid(out[k]))
            out[k] = eddy_batch_like(one[k], seeds);
    eddy__tensors_free(g, one, n);
}

/* ------------------------------------------------------------------- in a loop -- */

/* Blocks of unit vectors of a tensor of n elements; size 0: single seeds. */
typedef struct blocks {
    eddy_type of;
    int64_t   n, size;
} blocks;

typedef struct body {
    const part *part;
    blocks      blocks;
    bool        has[EDDY_MAX_RESULTS];      /* those of the results that there are */
} body;

/* Unit vectors number * size, number * size + 1, ...; those past the last one are zeros. */
static eddy_tensor unit_vectors(const blocks *b, eddy_tensor number)
{
    eddy_graph *g = number.graph;
    eddy_shape  s = { .rank = b->of.shape.rank + 1, .dim = { b->size } };
    for (int i = 1; i < s.rank; i++) s.dim[i] = b->of.shape.dim[i - 1];
    const eddy_tensor size = eddy_number(g, EDDY_INT64, (double)b->size);
    const eddy_tensor zero = eddy_number(g, EDDY_INT64, 0), one = eddy_number(g, EDDY_INT64, 1);
    const eddy_tensor at = eddy_add(eddy_mul(number, size), eddy_range(zero, size, one));
    return eddy_reshape(eddy_one_hot(at, b->n, .dtype = b->of.dtype), s);
}

/* A loop needs a result, so if there are none, it is the seed. */
static int loop_body(eddy_list elems, eddy_tensor *y, void *context)
{
    body       *w = context;
    eddy_tensor one[EDDY_MAX_RESULTS] = { { 0 } };
    int         n = 0;
    if (w->blocks.size > 0) all_together(w->part, unit_vectors(&w->blocks, elems.at[0]), one);
    else if (!derive(w->part, elems.at[0], one)) return 0;
    if (!eddy__graph_ready(elems.at[0].graph)) return 0;
    for (int k = 0; k < results(w->part); k++) {
        w->has[k] = eddy_is_valid(one[k]);
        if (w->has[k]) y[n++] = one[k];
    }
    if (n == 0) y[n++] = elems.at[0];
    return n;
}

/* The n rows of y, [blocks, size, ...], whose last ones may be too many. */
static eddy_tensor join_blocks(eddy_tensor y, const blocks *b)
{
    const eddy_shape s = eddy_shape_of(y);
    const int64_t    padded = (b->n + b->size - 1) / b->size * b->size;
    eddy_shape       rows = { .rank = s.rank - 1, .dim = { padded } };
    eddy_dims        begin = { .count = s.rank - 1 }, size = begin;
    for (int i = 1; i < rows.rank; i++) rows.dim[i] = s.dim[i + 1], size.at[i] = -1;
    size.at[0] = b->n;
    return eddy_slice(eddy_reshape(y, rows), begin, size);
}

static void in_loop(const part *whole, eddy_tensor elems, blocks b, eddy_tensor *out)
{
    eddy_graph *g = elems.graph;
    for (int first = 0; first < whole->count && eddy__graph_ready(g);) {
        const int   left = whole->count - first;
        const int   n = left < EDDY_MAX_RESULTS ? left : EDDY_MAX_RESULTS;
        const part  p = { whole->v, whole->first + first, n };
        body        w = { .part = &p, .blocks = b };
        eddy_tensor rows[EDDY_MAX_RESULTS];
        const eddy_function f = { .build = loop_body, .context = &w, .name = "row" };
        if (eddy_map_fn(f, EDDY_LIST(elems), rows, .name = "rows") == 0) return;
        for (int k = 0, next = 0; k < results(&p); k++)
            if (w.has[k]) {
                out[first + k] = b.size > 0 ? join_blocks(rows[next], &b) : rows[next];
                next++;
            }
        first += n;
    }
}

/* -------------------------------------------------------------------- in blocks -- */

static double bytes_of(eddy_tensor t)
{
    const int64_t n = eddy_shape_count(eddy_shape_of(t));
    return n > 0 ? (double)n * (double)eddy_dtype_size(eddy_dtype_of(t)) : 0;
}

/* The temporaries for one seed: a derivative of a tensor is made from that of another. */
static double bytes_of_seed(const eddy_unit_vectors *v)
{
    eddy_subgraph s;
    eddy_graph   *g = v->y.graph;
    double        most = bytes_of(v->y);
    const bool    ok = eddy__subgraph_begin(&s, g, v->xs.count, v->xs.at, 1, &v->y);
    for (int k = 0; k < v->xs.count; k++)
        if (bytes_of(v->xs.at[k]) > most) most = bytes_of(v->xs.at[k]);
    for (int32_t id = s.first; ok && id <= s.last; id++)
        for (int k = 0; k < g->nodes[id]->n_outputs; k++) {
            const double bytes = bytes_of(eddy__tensor_at(g, id, k));
            if (s.marks[id - s.first] == EDDY_BETWEEN && bytes > most) most = bytes;
        }
    eddy__subgraph_end(&s);
    return 2 * most;
}

static bool sizes_are_known(const eddy_unit_vectors *v)
{
    for (int k = -1; k < v->xs.count; k++) {
        const eddy_tensor t = k < 0 ? v->y : v->xs.at[k];
        char              text[128];
        if (eddy_shape_is_known(eddy_shape_of(t))) continue;
        eddy_fail(t.graph, EDDY_BAD_SHAPE,
                  "jacobian: max_bytes requires sizes that are known while building; '%.200s' "
                  "is %s",
                  eddy_name_of(t), eddy_shape_print(eddy_shape_of(t), text, sizeof text));
        return false;
    }
    return true;
}

/* As many unit vectors of a tensor as the limit permits; size 0 if it permits all. */
static blocks choose_blocks(const eddy_unit_vectors *v, eddy_tensor of)
{
    blocks b = { .of = { eddy_dtype_of(of), eddy_shape_of(of) } };
    b.n = eddy_shape_count(b.of.shape);
    const double fit = (double)v->max_bytes / bytes_of_seed(v);
    if (fit < (double)b.n) b.size = fit < 1 ? 1 : (int64_t)fit;
    return b;
}

void eddy__for_seeds(const eddy_unit_vectors *v, int k, eddy_tensor seeds, eddy_tensor *out)
{
    const part p = { v, v->forward ? k : 0, v->forward ? 1 : v->xs.count };
    if (v->loop) in_loop(&p, seeds, (blocks){ .size = 0 }, out);
    else all_together(&p, seeds, out);
}

void eddy__for_unit_vectors(const eddy_unit_vectors *v, int k, eddy_tensor *out)
{
    const part        p = { v, v->forward ? k : 0, v->forward ? 1 : v->xs.count };
    const eddy_tensor of = v->forward ? v->xs.at[k] : v->y;
    if (v->max_bytes > 0 && !v->loop) {
        eddy_graph *g = of.graph;
        if (!sizes_are_known(v)) return;
        const blocks b = choose_blocks(v, of);
        if (!eddy__graph_ready(g)) return;
        if (b.size > 0) {
            const double count = (double)((b.n + b.size - 1) / b.size);
            in_loop(&p, eddy_range(eddy_number(g, EDDY_INT64, 0), eddy_number(g, EDDY_INT64, count),
                                   eddy_number(g, EDDY_INT64, 1)), b, out);
            return;
        }
    }
    eddy__for_seeds(v, k, eddy_basis_like(of), out);
}
