/* check.h -- the gradient of each node of a model against finite differences. */
#ifndef COMMAND_CHECK_H
#define COMMAND_CHECK_H

#include "command/value.h"

typedef enum check_result {
    CHECK_AGREES, CHECK_WRONG, CHECK_NONE, CHECK_SKIPPED, CHECK_RESULTS
} check_result;

typedef struct node_check {
    const char  *name, *op;
    check_result result;
    eddy_dtype   dtype;                 /* in which it was checked */
    double       absolute, relative;
    const char  *why;                   /* NULL if there is nothing to say */
} node_check;

typedef struct node_checks {
    int         count, results[CHECK_RESULTS];
    node_check *at;
} node_checks;

/* Checks each node that has floating inputs and outputs alone, in float64 where its operation takes
 * it, at the values that a run with these feeds computes. False after a message. */
bool nodes_check(const model *m, eddy_session *s, eddy_feeds feeds, node_checks *all);

#endif
