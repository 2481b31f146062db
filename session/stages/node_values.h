/* node_values.h -- values of nodes that run one by one (run_nodes.h). */
#ifndef EDDY_SESSION_NODE_VALUES_H
#define EDDY_SESSION_NODE_VALUES_H

#include "session/state/internal.h"

typedef struct row_list row_list;

/* An array, or the rows of a stack, or neither where only the type is known. */
typedef struct node_value {
    eddy_type   type;           /* of rows: of unknown shape */
    eddy_array *array;
    row_list   *rows;
} node_value;

/* The rows of a stack, which may differ in shape, and may be stacks themselves. */
struct row_list {
    int            references;
    int64_t        n, room;         /* rows that were written, that there is room for */
    int64_t        total;           /* with those that no iteration wrote */
    node_value    *at;
    eddy_allocator allocator;
};

node_value eddy__value_of_array(eddy_array *a);         /* takes the reference */
node_value eddy__value_retain(const node_value *v);
void       eddy__value_free(node_value *v);             /* leaves the type */
/* The same; of a stopped run, large arrays are released late (graph/base/interruptible.h). */
void       eddy__value_free_late(node_value *v, const eddy_stop *stop);

/* The elements of a with another shape; NULL if out of memory. */
eddy_array *eddy__array_reshaped(eddy_array *a, eddy_shape shape);

/* A list without rows; NULL if out of memory. */
row_list *eddy__rows_new(const eddy_allocator *a);
/* Stores a row, whose reference it takes even if it fails: false if out of memory. */
bool eddy__rows_set(row_list *l, int64_t i, node_value row);
/* Whether row i was written. */
static inline bool eddy__rows_have(const row_list *l, int64_t i)
{
    return i < l->n && (l->at[i].array || l->at[i].rows);
}
/* The stack as one array, of type `row` each where there is no row; NULL if out of memory, or with
 * the error set if the rows differ in shape. `name` is the node whose stack it is. */
eddy_array *eddy__rows_stack(const row_list *l, eddy_type row, const eddy_allocator *a,
                             const char *name, eddy_error *error);

#endif
