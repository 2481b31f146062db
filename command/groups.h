/* groups.h -- the nodes of a model, put together by scope or by operation. */
#ifndef COMMAND_GROUPS_H
#define COMMAND_GROUPS_H

#include "command/model.h"

typedef enum grouping { BY_NODE, BY_SCOPE, BY_OPERATION } grouping;

typedef struct group {
    const char *name;
    eddy_tensor node;                   /* its last node */
    int         nodes;
    int64_t     parameters;             /* elements of variables */
    double      flops;                  /* NAN if they are unknown */
} group;

typedef struct groups {
    int    count;
    group *at;
    int   *of;                          /* by node: its group, -1 for nodes that are left out */
    const char *open;                   /* the scope whose scopes have groups; "": none */
} groups;

/* The nodes that the outputs need, without those that are only in functions of loops. Scopes are
 * cut after `depth` parts; if it is 0, after one, except that a scope with more than half of the nodes
 * is divided into its own scopes, unless these are too many. c is NULL if arithmetic is unknown. */
groups groups_make(const model *m, const concrete *c, grouping by, int depth);
double node_flops(eddy_tensor t);
/* "a/b" of "a/b/c" and depth 2; "" for a name without a scope. */
const char *scope_of(const char *name, int depth);

/* Writes the groups and their edges in the language of Graphviz; folds until at most `most` boxes
 * remain. A path that ends in .dot gets the text, another one the drawing of the program dot. */
int groups_draw(const model *m, const char *path, int depth, int most);

#endif
