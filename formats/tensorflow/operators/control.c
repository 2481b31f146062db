/* control.c -- functional control flow: calls of functions, If, Case and While. */
#include "../carry.h"
#include "../reader.h"
#include "../../../ops/short_names.h"

#include <string.h>

/* ------------------------------------------------------------------- calls -- */

static bool fits(tf_build *b, const tf_graph *g, int inputs)
{
    if (!g) return false;
    if (g->n_args != (size_t)inputs)
        return eddy__tf_invalid(b, "function '%.100s' does not have the inputs of the node",
                                g->name);
    return g->n_results <= EDDY_MAX_RESULTS ||
           eddy__tf_missing(b, "function '%.100s' has more than %d results", g->name,
                            EDDY_MAX_RESULTS);
}

/* Puts the results of a function as outputs. */
static bool call(tf_build *b, const tf_graph *g, tf_value *const *in)
{
    tf_value *out[EDDY_MAX_RESULTS];
    if (!eddy__tf_call(b, g, "function", in, out)) return false;
    for (size_t i = 0; i < g->n_results; i++)
        if (!eddy__tf_put_value(b, (int)i, out[i])) return false;
    return g->n_results > 0 || eddy__tf_put_value(b, 0, eddy__tf_new_value(b, TF_NOTHING));
}

static bool partitioned_call(tf_build *b)
{
    const tf_graph *g = eddy__tf_function(b, "f");
    return fits(b, g, b->n_in) && call(b, g, b->in);
}

/* ---------------------------------------------------------------- branches -- */

/* A branch: a function of the inputs of the node, all of which it captures. */
typedef struct branch {
    tf_build       *b;
    const tf_graph *g;
    tf_value      **out;
} branch;

enum { MOST_BRANCHES = 16 };

static int build_branch(eddy_list x, eddy_tensor *y, void *context)
{
    branch *c = context;
    (void)x;
    c->b->reader->bodies++;
    const bool ok = eddy__tf_call(c->b, c->g, "branch", c->b->in + 1, c->out);
    const int  n = ok ? eddy__tf_carry(c->b, c->out, (int)c->g->n_results, y) : -1;
    c->b->reader->bodies--;
    return n < 0 ? 0 : n;
}

static void share_inputs(tf_build *b)
{
    for (int i = 0; i < b->n_in; i++) eddy__tf_share_weight(b, b->in[i]);
}

static bool put_results(tf_build *b, const branch *c, const eddy_tensor *y)
{
    const int  n = (int)c->g->n_results;
    tf_value  *out[EDDY_MAX_RESULTS];
    if (!eddy__tf_carried(b, c->out, n, y, out)) return false;
    for (int i = 0; i < n; i++)
        if (!eddy__tf_put_value(b, i, out[i])) return false;
    return true;
}

/* The branches' functions, from an attribute each, or from a list. 0 with a reason. */
static int branches_of(tf_build *b, branch *c)
{
    static const char *const names[] = { "then_branch", "else_branch" };
    const tf_attr           *list = eddy__tf_attr_of(b->node, "branches");
    const bool               is_case = b->op->variant == 1;
    const size_t             n = !is_case ? 2 : list ? list->n_texts : 0;
    if (n == 0 || n > MOST_BRANCHES) {
        eddy__tf_missing(b, "it has %zu branches; the limit is %d", n, MOST_BRANCHES);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        c[i] = (branch){ b, is_case ? eddy__tf_function_named(b, list->texts[i])
                                    : eddy__tf_function(b, names[i]) };
        if (!c[i].g) return 0;
    }
    return (int)n;
}

static bool conditional(tf_build *b)
{
    branch        c[MOST_BRANCHES] = { { NULL } };
    eddy_function f[MOST_BRANCHES];
    eddy_tensor   y[EDDY_MAX_RESULTS];
    const int     n = branches_of(b, c);
    if (n == 0) return false;
    if (b->n_in < 1) return eddy__tf_invalid(b, "input 0 is missing");
    for (int i = 0; i < n; i++) {
        if (!fits(b, c[i].g, b->n_in - 1)) return false;
        c[i].out = eddy__region_take(b->memory, EDDY_MAX_RESULTS, sizeof *c[i].out);
        if (!c[i].out) return false;
        f[i] = (eddy_function){ build_branch, &c[i], "branch" };
        if (c[i].g->n_results != c[0].g->n_results)
            return eddy__tf_invalid(b, "the branches do not have equally many results");
    }
    const eddy_array *known = eddy__tf_array_of(b, b->in[0]);
    if (known && eddy_array_count(known) == 1) {
        const double v = eddy_array_item(known);
        int          which = b->op->variant == 0 ? v == 0 : v >= 0 && v < n ? (int)v : n - 1;
        return call(b, c[which].g, b->in + 1);
    }
    share_inputs(b);
    eddy_tensor p = Reshape(eddy__tf_in(b, 0), EDDY_SCALAR);
    if (b->op->variant == 0) {
        if (eddy_dtype_of(p) != EDDY_BOOL) p = NotEqual(p, 0);
        if (eddy_cond(p, f[0], f[1], y) == 0) return false;
    } else if (eddy_switch_case(Cast(p, EDDY_INT32), f, n, y) == 0) return false;
    return put_results(b, &c[0], y);
}

/* -------------------------------------------------------------------- While -- */

typedef struct functions {
    const tf_graph *cond, *body;
} functions;

static bool call_cond(tf_loop *l, tf_value *const *in, tf_value **out)
{
    const functions *f = l->context;
    return eddy__tf_call(l->b, f->cond, "condition", in, out);
}

static bool call_body(tf_loop *l, tf_value *const *in, tf_value **out)
{
    const functions *f = l->context;
    return eddy__tf_call(l->b, f->body, "body", in, out);
}

static bool while_loop(tf_build *b)
{
    functions      f = { eddy__tf_function(b, "cond"), eddy__tf_function(b, "body") };
    const tf_attr *shapes = eddy__tf_attr_of(b->node, "output_shapes");
    if (!fits(b, f.cond, b->n_in) || !fits(b, f.body, b->n_in)) return false;
    if (f.cond->n_results != 1 || f.body->n_results != (size_t)b->n_in)
        return eddy__tf_invalid(b, "the functions do not have the results of a loop");
    share_inputs(b);
    tf_value **start = eddy__region_take(b->memory, (size_t)b->n_in, sizeof *start);
    tf_value **out = eddy__region_take(b->memory, (size_t)b->n_in, sizeof *out);
    if (!start || !out) return false;
    memcpy(start, b->in, (size_t)b->n_in * sizeof *start);
    tf_loop l = { .b = b, .start = start, .n = b->n_in, .condition = call_cond, .body = call_body,
                  .context = &f,
                  .shapes = shapes && shapes->n_shapes == (size_t)b->n_in ? shapes->shapes : NULL };
    if (!eddy__tf_while(&l, out)) return false;
    for (int i = 0; i < b->n_in; i++)
        if (!eddy__tf_put_value(b, i, out[i])) return false;
    return true;
}

const tf_operator eddy__tf_control[] = {
    { "Case", conditional, .variant = 1 },
    { "If", conditional },
    { "PartitionedCall", partitioned_call },
    { "StatefulPartitionedCall", partitioned_call },
    { "StatelessCase", conditional, .variant = 1 },
    { "StatelessIf", conditional },
    { "StatelessWhile", while_loop },
    { "While", while_loop },
    { NULL },
};
