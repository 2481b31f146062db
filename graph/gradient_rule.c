/* gradient_rule.c -- helper functions for gradient rules. */
#include "graph/internal.h"

#include <stdarg.h>
#include <stdio.h>

void eddy_not_differentiable(eddy_rule *r) { (void)r; }

void eddy_rule_fail(eddy_rule *r, eddy_status s, const char *reason, ...)
{
    if (!r || !reason) return;
    char    why[700];
    va_list args;
    va_start(args, reason);
    vsnprintf(why, sizeof why, reason, args);
    va_end(args);
    if (eddy__graph_alive(r->graph) && r->graph->custom.node == r->node)
        eddy_fail(r->graph, s, "gradients: %s", why);        /* which names the custom gradient */
    else
        eddy_fail(r->graph, s, "gradients: %s [node '%.200s', op %s]", why, r->node->name,
                  r->node->op->name);
}
