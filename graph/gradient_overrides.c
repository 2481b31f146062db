/* gradient_overrides.c -- custom gradients registered by name, and the scopes in which new nodes
 * use one instead of the gradient of their operation. */
#include "graph/internal.h"

#include <string.h>

const eddy_named_rule *eddy__rule_named(const eddy_graph *g, const char *name)
{
    for (int i = 0; i < g->n_rules; i++)
        if (strcmp(g->rules[i].name, name) == 0) return &g->rules[i];
    return g->outer ? eddy__rule_named(g->outer, name) : NULL;
}

bool eddy_register_gradient(eddy_graph *g, const char *name, void (*rule)(eddy_rule *r),
                            void *context)
{
    if (!eddy__graph_ready(g)) return false;
    if (!name || !*name || !rule) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "register_gradient: a name and a rule are required");
        return false;
    }
    if (eddy__rule_named(g, name) || strcmp(name, EDDY_RECOMPUTE) == 0) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "register_gradient: a gradient is already registered as '%.200s'", name);
        return false;
    }
    if (g->n_rules == g->rules_capacity) {
        int bigger = g->rules_capacity ? 2 * g->rules_capacity : 8;
        if (!eddy__grow(&g->allocator, (void **)&g->rules, (size_t)g->rules_capacity,
                        (size_t)bigger, sizeof *g->rules)) {
            eddy_fail(g, EDDY_NO_MEMORY, "out of memory for the gradient '%.200s'", name);
            return false;
        }
        g->rules_capacity = bigger;
    }
    const char *copy = eddy__arena_text(&g->arena, name, strlen(name));
    if (copy) g->rules[g->n_rules++] = (eddy_named_rule){ copy, rule, context };
    else eddy_fail(g, EDDY_NO_MEMORY, "out of memory for the gradient '%.200s'", name);
    return copy != NULL;
}

static bool overrides_room(eddy_graph *g)
{
    if (g->n_overrides < g->overrides_capacity) return true;
    int bigger = g->overrides_capacity ? 2 * g->overrides_capacity : 8;
    if (!eddy__grow(&g->allocator, (void **)&g->overrides, (size_t)g->overrides_capacity,
                    (size_t)bigger, sizeof *g->overrides)) {
        eddy_fail(g, EDDY_NO_MEMORY, "out of memory for a gradient override");
        return false;
    }
    g->overrides_capacity = bigger;
    return true;
}

void eddy_gradient_override_begin(eddy_graph *g, const char *op_type, const char *gradient)
{
    if (!eddy__graph_alive(g)) return;
    if (!overrides_room(g)) return;
    eddy_override o = { 0 };
    if (!op_type || !*op_type)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "gradient_override_begin: no op type is given");
    else if (!(o.op = eddy__arena_text(&g->arena, op_type, strlen(op_type))) ||
             (gradient && *gradient &&
              !(o.rule = eddy__arena_text(&g->arena, gradient, strlen(gradient)))))
        eddy_fail(g, EDDY_NO_MEMORY, "out of memory for a gradient override");
    g->overrides[g->n_overrides++] = o;
}

void eddy_gradient_override_end(eddy_graph *g)
{
    if (!eddy__graph_alive(g)) return;
    if (g->n_overrides > 0) g->n_overrides--;
    else eddy_fail(g, EDDY_INVALID_ARGUMENT, "gradient_override_end: no scope is open");
}

const char *eddy__override_of(const eddy_graph *g, const eddy_op_def *op)
{
    for (int i = g->n_overrides - 1; i >= 0; i--)
        if (g->overrides[i].op && strcmp(g->overrides[i].op, op->name) == 0)
            return g->overrides[i].rule;
    return NULL;
}

void eddy__overrides_free(eddy_graph *g)
{
    eddy__release(&g->allocator, g->overrides,
                  (size_t)g->overrides_capacity * sizeof *g->overrides);
    eddy__release(&g->allocator, g->rules, (size_t)g->rules_capacity * sizeof *g->rules);
}
