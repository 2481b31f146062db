/* interpreter.h -- a reference interpreter to compare sessions with. It runs the nodes in the order
 * in which they were built, one at a time, each with its own kernel and its result in its own
 * memory. Nothing is compiled, folded, fused, overwritten or shared. The body of a Loop or Case node
 * is a graph that it runs in the same way, once per iteration (interpreter_bodies.c). */
#ifndef EDDY_TESTS_LIB_INTERPRETER_H
#define EDDY_TESTS_LIB_INTERPRETER_H

#include "../../eddy.h"

typedef struct interpreter {
    eddy_graph   *graph;
    eddy_session *session;        /* provides what kernels need from a session */
    struct eddy_state *state;     /* by node id: of the variables */
    int32_t       size;           /* of the graph when it was made */
    uint64_t     *taken;          /* see eddy__draws_take */
    int32_t       n_taken;
    bool          is_body;
    uint64_t      draw;           /* for random operations: of this node; or of this iteration */
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
/* Only the types of the fetches; the feeds' elements may be anything, except where they decide a
 * shape. */
bool interpreter_types(interpreter *in, eddy_feeds feeds, eddy_list fetches, eddy_type *types,
                       eddy_error *error);

/* A Loop or Case node with its operands. */
typedef struct body_call {
    interpreter     *outer;       /* of the graph of the node */
    const eddy_node *node;
    const eddy_type *types;       /* by input */
    eddy_array     **inputs;      /* by input, as far as it takes them; NULL: only types count */
    const bool      *wanted;      /* by output: computed, or typed */
    eddy_type       *out_types;   /* by output: those that are wanted are set */
    eddy_array     **out;         /* by output: new, if it is wanted */
    eddy_error      *error;
} body_call;

/* Which inputs' values the outputs that are wanted need; the other inputs have only types. */
void interpreter_body_takes(const eddy_node *node, const bool *wanted, bool *takes);
/* Refuses what a session refuses: loop variables whose shape changes, branches whose results
 * differ in shape. */
bool interpreter_body(const body_call *c);

#endif
