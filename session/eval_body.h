/* eval_body.h -- eager evaluation of Loop and Case nodes, and of stacks whose rows differ in
 * shape. */
#ifndef EDDY_SESSION_EVAL_BODY_H
#define EDDY_SESSION_EVAL_BODY_H

#include "session/stages/node_values.h"

/* An operation on inputs that were evaluated. */
typedef struct eval_call {
    eddy_session      *session;
    eddy_arena        *arena;
    const eddy_node   *node;
    const eddy_buffer *in;
    eddy_array       **arrays;      /* by input: the array of that buffer; NULL: a variable's */
    row_list         **rows;        /* by input: a stack whose rows may differ in shape, or NULL */
    eddy_array       **out;         /* by output: gets a new array, unless it is rows */
    row_list         **out_rows;    /* by output */
    uint64_t          *taken;       /* see eddy__draws_take */
    eddy_stop          stop;
    eddy_error        *error;
} eval_call;

/* Runs a Loop or Case node, or one that reads rows, with state_lock held. */
bool eddy__eval_body(const eval_call *call);

#endif
