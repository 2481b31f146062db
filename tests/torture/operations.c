/* operations.c -- each operation on the inputs of its row of the sweep, and its gradient, built and
 * run without enough memory. */
#include "tests/lib/sweep_rows.h"
#include "tests/torture/scenario.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct inputs {
    eddy_array *x[SWEEP_INPUTS];
} inputs;

static void *begin(int i)
{
    const sweep_row *r = sweep_row_at(i);
    inputs          *in = calloc(1, sizeof *in);
    for (int k = 0; k < r->n; k++) {
        const bool given = r->low[k] < r->high[k];
        in->x[k] = numbers_in(EDDY_FLOAT64, r->shape[k], given ? r->low[k] : -2,
                              given ? r->high[k] : 2);
    }
    return in;
}

static void end(void *state)
{
    inputs *in = state;
    free_results(in->x, SWEEP_INPUTS);
    free(in);
}

/* The gradients of the inputs that have one, behind the n fetches. */
static int add_gradients(const sweep_row *r, eddy_tensor y, const eddy_tensor *x, eddy_tensor *f,
                         int n)
{
    eddy_tensor dx[SWEEP_INPUTS];
    if (eddy_dtype_of(y) != EDDY_FLOAT64 || (r->options & SWEEP_REFUSES)) return n;
    if (eddy_gradients(EDDY_LIST(y), ((eddy_list){ r->n, x }), dx) != EDDY_OK) return n;
    for (int k = 0; k < r->n; k++)
        if (eddy_is_valid(dx[k])) f[n++] = dx[k];
    return n;
}

static void act(int i, void *state, outcome *o)
{
    const sweep_row *r = sweep_row_at(i);
    inputs          *in = state;
    eddy_tensor      x[SWEEP_INPUTS] = { EDDY_ZERO_TENSOR }, f[1 + SWEEP_INPUTS];
    eddy_feed        feed[SWEEP_INPUTS];
    eddy_graph      *g = eddy_graph_new();
    for (int k = 0; k < r->n; k++) {
        x[k] = eddy_placeholder(g, NULL, EDDY_FLOAT64, r->shape[k]);
        feed[k] = (eddy_feed){ x[k], in->x[k] };
    }
    f[0] = r->build ? r->build(g, x) : r->unary ? r->unary(x[0]) : r->binary(x[0], x[1]);
    const int n = add_gradients(r, f[0], x, f, 1);
    run_once(o, g, (eddy_feeds){ r->n, feed }, (eddy_list){ n, f });
}

static const char *name(int i)
{
    static char      text[100];
    const sweep_row *r = sweep_row_at(i);
    snprintf(text, sizeof text, "%s%s%s", r->op, r->how ? ", " : "", r->how ? r->how : "");
    return text;
}

const scenarios operations[] = {
    { .kind = "operation", .count = sweep_count, .name = name, .begin = begin, .act = act,
      .end = end },
    { .kind = NULL },
};
