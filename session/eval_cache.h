/* eval_cache.h -- the results that eager evaluation keeps. */
#ifndef EDDY_SESSION_EVAL_CACHE_H
#define EDDY_SESSION_EVAL_CACHE_H

#include "session/stages/node_values.h"

typedef struct eval_entry {
    eddy_array **values;        /* of each output (at least one entry); NULL: not computed */
    eddy_array **given;         /* the same of eddy_eval_set; NULL: none */
    row_list   **rows;          /* stacks whose rows may differ in shape; NULL: none */
    eddy_array  *seen;          /* of a variable: its value at the last evaluation */
    bool         listed;        /* in the list of the current evaluation */
} eval_entry;

typedef struct eval_cache {
    eval_entry *at;                /* by node id */
    int32_t    *list;           /* the nodes of the current evaluation */
    int32_t     capacity, listed; /* of both arrays; length of the list */
    size_t      bytes;          /* of computed values, for max_bytes; forgotten all at once */
    uint64_t   *taken;          /* by source of draws: see eddy__draws_take */
    int32_t     n_taken;
} eval_cache;

/* The number of values of a node: of its outputs, at least 1. */
size_t eddy__eval_slots(const eddy_node *node);
/* New values, all NULL; NULL with the error set. */
eddy_array **eddy__eval_new_slots(eddy_session *s, const eddy_node *node, eddy_error *error);
void eddy__eval_free_values(eddy_session *s, eddy_array ***values, size_t n);
void eddy__eval_free_rows(eddy_session *s, row_list ***rows, size_t n);
/* Makes the session's cache, or makes it longer, for all nodes of the graph. */
bool eddy__eval_reserve(eddy_session *s, eddy_error *error);
/* The value of t that was set or computed; NULL if there is none. */
eddy_array *eddy__eval_value(const eval_cache *e, eddy_tensor t);
/* The stack t, if it is kept as rows and not as an array. */
row_list   *eddy__eval_rows(const eval_cache *e, eddy_tensor t);

#endif
