/* option_table.c -- construction of an optimizer from the table of its options. */
#include "optim/option_table.h"

#include <string.h>

static bool settle(eddy_graph *g, const char *rule, const eddy_option_row *row, void *args)
{
    char  what[128];
    void *member = (char *)args + row->offset;
    snprintf(what, sizeof what, "%s: %s", rule, row->name);
    if (row->kind == EDDY_OPTION_TENSOR) {
        eddy_tensor *t = member;
        if (isinf(row->fallback) && t->node == 0 && !t->graph) return true;
        return eddy__hyper_settle(g, what, t, isinf(row->fallback) ? NAN : row->fallback);
    }
    const double x = *(const double *)member;
    if (row->kind == EDDY_OPTION_POSITIVE) return eddy__setting_is_positive(g, what, x);
    return eddy__setting_is_not_negative(g, what, x);
}

eddy_optimizer *eddy__optimizer_make(const eddy_optimizer_rule *rule, const void *args,
                                     const char *name)
{
    eddy_optimizer_head head;
    memcpy(&head, args, sizeof head);
    eddy_graph *g = head.graph ? head.graph : head.learning_rate.graph;
    if (!eddy__graph_alive(g))
        eddy_fail(head.learning_rate.graph, EDDY_INVALID_ARGUMENT,
                  "%s: its graph is NULL or has been freed", rule->def.name);
    eddy_optimizer *o = eddy_optimizer_new(g, &rule->def, NULL, name);
    if (!o) return NULL;
    memcpy(o->state, args, rule->args_size);
    for (const eddy_option_row *row = rule->options; row->name; row++)
        if (!settle(g, rule->def.name, row, o->state)) return NULL;
    return o;
}

eddy_optimizer *eddy__optimizer_make_lazy(const eddy_optimizer_rule *rule, const void *args,
                                          const char *name, bool lazy)
{
    eddy_optimizer *o = eddy__optimizer_make(rule, args, name);
    if (o && !lazy) o->def.apply_sparse = NULL;
    return o;
}
