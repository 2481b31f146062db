/* interpreter.h -- a reference interpreter to compare sessions with. It runs the nodes in the order
 * in which they were built, one at a time, each with its own kernel and its result in its own
 * memory. Nothing is compiled, folded, fused, overwritten or shared. */
#ifndef EDDY_TESTS_LIB_INTERPRETER_H
#define EDDY_TESTS_LIB_INTERPRETER_H

#include "../../eddy.h"

typedef struct interpreter {
    eddy_graph   *graph;
    eddy_session *session;        /* provides what kernels need from a session */
    struct eddy_state *state;     /* by node id: of the variables */
    int32_t       size;           /* of the graph when it was made */
    uint64_t      step;           /* runs so far */
    /* The relative error of an arithmetic result: 0, or random noise of about a hundred roundings
     * or more.  A result that changes much is one that says little. */
    bool          noisy;
    uint64_t      random;
    double        largest;        /* finite absolute value of the last run */
} interpreter;

interpreter interpreter_begin(eddy_graph *g);
void        interpreter_end(interpreter *in);
/* Variables have no value before. */
void        interpreter_set(interpreter *in, eddy_tensor variable, const eddy_array *value);
/* The value of a variable, owned by the interpreter; NULL if it has none. */
const eddy_array *interpreter_variable(const interpreter *in, eddy_tensor variable);

/* One run, as eddy_run; out[i] is new, or NULL for an operation without a value. */
bool interpreter_run(interpreter *in, eddy_feeds feeds, eddy_list fetches, eddy_array **out,
                     eddy_error *error);

#endif
