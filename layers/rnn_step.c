/* rnn_step.c -- one step of a recurrent cell: checks of the cell and its results, and its first
 * state. */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "layers/rnn_internal.h"
#include "ops/short_names.h"

#include <string.h>

void *eddy__cell_room(eddy_graph *g, const char *who, size_t size)
{
    void *p = eddy__graph_ready(g) ? eddy__arena_alloc(&g->arena, size) : NULL;
    if (p) memset(p, 0, size);
    else eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory for a cell", who);
    return p;
}

const char *eddy__cell_text(eddy_graph *g, const char *name, const char *otherwise)
{
    if (!name || !*name) name = otherwise;
    const size_t bytes = strlen(name) + 1;
    char        *copy = eddy__cell_room(g, otherwise, bytes);
    if (copy) memcpy(copy, name, bytes);
    return copy;
}

/* ---------------------------------------------------------------- checks -- */

bool eddy__cell_check(eddy_graph *g, const char *who, const eddy_rnn_cell *cell)
{
    if (!eddy__graph_ready(g)) return false;
    if (!cell->f.build)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %.200s has no build function", who,
                  eddy__cell_title(cell));
    else if (cell->n_state < 0 || cell->n_state > EDDY_MAX_STATES)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %.200s has %d tensors of state; 0 to %d expected",
                  who, eddy__cell_title(cell), cell->n_state, EDDY_MAX_STATES);
    else if (cell->n_state > 0 && !cell->state)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %.200s does not describe its state", who,
                  eddy__cell_title(cell));
    return eddy__graph_ready(g);
}

bool eddy__cell_belongs(eddy_graph *g, const char *who, const eddy_graph *owner)
{
    if (g == owner) return true;
    eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: the cell belongs to another graph", who);
    return false;
}

bool eddy__cell_prepare(eddy_graph *g, const char *who, const eddy_rnn_cell *cell, eddy_type x)
{
    return eddy__cell_check(g, who, cell) &&
           (!cell->prepare || cell->prepare(g, x, cell->f.context)) && eddy__graph_ready(g);
}

/* State k may follow the one that it was computed from. */
static bool check_next(const char *who, const eddy_rnn_cell *cell, int k, eddy_tensor state,
                       eddy_tensor next)
{
    const eddy_type was = { eddy_dtype_of(state), eddy_shape_of(state) };
    const eddy_type is = { eddy_dtype_of(next), eddy_shape_of(next) };
    char            a[200], b[200];
    if (was.dtype == is.dtype && eddy_shape_compatible(was.shape, is.shape)) return true;
    eddy_fail(next.graph, was.dtype == is.dtype ? EDDY_BAD_SHAPE : EDDY_BAD_DTYPE,
              "%s: %.200s turns state %d from %s into %s", who, eddy__cell_title(cell), k,
              eddy_type_print(was, a, sizeof a), eddy_type_print(is, b, sizeof b));
    return false;
}

static bool check_results(const char *who, const eddy_rnn_cell *cell, eddy_graph *g, int n,
                          const eddy_tensor *y, const eddy_tensor *state)
{
    if (!eddy__graph_ready(g)) return false;
    if (n != cell->n_state + 1) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "%s: the number of results of %.200s is %d; expected %d, the output and the next "
                  "state", who, eddy__cell_title(cell), n, cell->n_state + 1);
        return false;
    }
    for (int k = 0; k < n; k++) {
        if (y[k].graph != g || !eddy_is_valid(y[k])) {
            eddy_fail(g, EDDY_INVALID_ARGUMENT,
                      "%s: result %d of %.200s is not a tensor of the graph", who, k,
                      eddy__cell_title(cell));
            return false;
        }
        if (k > 0 && !check_next(who, cell, k - 1, state[k - 1], y[k])) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ step -- */

eddy_tensor eddy__cell_call(const char *who, const eddy_rnn_cell *cell, eddy_tensor x,
                            const eddy_tensor *state, eddy_tensor *next)
{
    eddy_tensor in[EDDY_MAX_STATES + 1], y[EDDY_MAX_RESULTS];
    const int   n = cell->n_state;
    in[0] = x;
    for (int k = 0; k < n; k++) in[k + 1] = state[k];
    for (int k = 0; k < EDDY_MAX_RESULTS; k++) y[k] = eddy_none(x.graph);
    const int m = cell->f.build((eddy_list){ n + 1, in }, y, cell->f.context);
    if (!check_results(who, cell, x.graph, m, y, in + 1)) return eddy_none(x.graph);
    for (int k = 0; k < n; k++) next[k] = y[k + 1];
    return y[0];
}

eddy_tensor eddy_rnn_step(eddy_rnn_cell cell, eddy_tensor x, const eddy_tensor *state,
                          eddy_tensor *next)
{
    static const char who[] = "rnn_step";
    const eddy_type   type = { eddy_dtype_of(x), eddy_shape_of(x) };
    if (!eddy_is_valid(x)) return eddy_identity(x);
    if (cell.n_state > 0 && !next)
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: there is no room for the next state",
                         who);
    for (int k = 0; k < cell.n_state && k < EDDY_MAX_STATES; k++)
        if (!state || state[k].graph != x.graph || !eddy_is_valid(state[k]))
            return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                             "%s: state %d is not a tensor of the graph", who, k);
    if (!eddy__cell_prepare(x.graph, who, &cell, type)) return eddy_none(x.graph);
    return eddy__cell_call(who, &cell, eddy__cell_project(&cell, x), state, next);
}

/* ------------------------------------------------------------ zero state -- */

/* Zeros with the batch of `like`, [batch, ...], whose elements are not looked at. */
static eddy_tensor zero_state(eddy_tensor like, const eddy_rnn_state *state, eddy_dtype dtype)
{
    if (state->dtype) dtype = state->dtype;
    return eddy_batch_like(eddy_zeros(like.graph, dtype, state->shape), like);
}

int eddy_zero_state_with(const eddy_zero_state_args *given)
{
    static const char    who[] = "zero_state";
    eddy_zero_state_args a = EDDY_TAKE(eddy_zero_state_args, given);
    eddy_graph          *g = a.like.graph;
    const eddy_dtype     of = eddy_dtype_of(a.like);
    char                 text[200];
    if (!eddy_is_valid(a.like)) return (void)eddy_identity(a.like), 0;
    if (!eddy__cell_check(g, who, &a.cell)) return 0;
    if (!a.state || eddy_shape_of(a.like).rank < 1) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s", who,
                  a.state ? "the tensor with the batch size has no known rank above 0"
                          : "there is no room for the state");
        return 0;
    }
    const eddy_dtype dtype = a.dtype ? a.dtype : eddy_dtype_is_differentiable(of) ? of
                                                                              : EDDY_FLOAT32;
    for (int k = 0; k < a.cell.n_state; k++) {
        const eddy_shape s = a.cell.state[k].shape;
        if (!eddy_shape_is_known(s)) {
            eddy_fail(g, EDDY_BAD_SHAPE, "%s: state %d of %.200s has shape %s, which is unknown",
                      who, k, eddy__cell_title(&a.cell), eddy_shape_print(s, text, sizeof text));
            return 0;
        }
        a.state[k] = zero_state(a.like, &a.cell.state[k], dtype);
    }
    return eddy__graph_ready(g) ? a.cell.n_state : 0;
}
