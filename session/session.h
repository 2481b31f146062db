/* session.h -- running a graph.
 *
 * A session compiles what is asked for -- these feeds, these fetches, these
 * shapes -- into a flat plan with planned memory, keeps the plan, and runs it.
 * The values of variables belong to the session: one graph serves many. */
#ifndef EDDY_SESSION_H
#define EDDY_SESSION_H

#include "../graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_session eddy_session;

/* The passes of the compiler that a session can do without: for finding out what one
 * gains, or which one is wrong.  Results may then differ in the last bits only. */
enum {
    EDDY_PASS_FOLD      = 1 << 0,     /* what depends on constants alone is computed once */
    EDDY_PASS_MERGE     = 1 << 1,     /* equal computations are one */
    EDDY_PASS_SIMPLIFY  = 1 << 2,     /* x 1, x + 0, transposes of transposes, ... */
    EDDY_PASS_STABILISE = 1 << 3,     /* log(softmax(x)), log(1 + x), ... without loss of digits */
    EDDY_PASS_PATTERNS  = 1 << 4,     /* layer norm, attention, ... made of parts become one op */
    EDDY_PASS_PRODUCTS  = 1 << 5,     /* transposes and factors go into matrix products */
    EDDY_PASS_EPILOGUES = 1 << 6,     /* so do bias, residual and activation behind them */
    EDDY_PASS_ARRANGE   = 1 << 7,     /* an order with fewer bytes alive and more to fuse */
    EDDY_PASS_FUSE      = 1 << 8,     /* elementwise ops and reductions become one loop */
    EDDY_PASS_IN_PLACE  = 1 << 9,     /* results overwrite operands */
    EDDY_PASS_REUSE     = 1 << 10,    /* tensors share memory */
    EDDY_PASS_PAIRS     = 1 << 11,    /* two elementwise ops in a row are one */
    EDDY_PASS_RECOMPUTE = 1 << 12,    /* later loops make cheap values again, not read them */
    EDDY_PASS_HOIST     = 1 << 13,    /* what does not change from run to run is kept */
    EDDY_PASS_WIDE      = 1 << 14,    /* small ones that do not depend on each other side by side */
    EDDY_PASSES_ALL     = (1 << 15) - 1,
    EDDY_PASSES         = 15          /* how many there are */
};

typedef struct eddy_session_args {
    char        unused_;
    eddy_graph *graph;
    unsigned    without;          /* passes to leave out: EDDY_PASS_... | EDDY_PASS_... */
    FILE       *report;           /* what each pass changes is written here; NULL: nowhere */
    bool        report_nodes;     /* ... with the nodes that it leaves */
    size_t      max_bytes;        /* refuse plans that need more memory; 0: no limit */
    size_t      kept_bytes;       /* of the plans kept for other shapes and fetches; above it the
                                   * one not used for longest goes.  0: 1 GiB, or four times what
                                   * the largest takes if that is more */
    int         threads;          /* most of one run, 1 (the caller's alone) to 256; 0: one for
                                   * each core that the process may use */
    bool        deterministic;    /* the same bits for any number of threads; else the same from
                                   * run to run for the same number */
    bool        profile;          /* time each instruction: eddy_session_profile */
} eddy_session_args;

/* A session on a graph, which may go on growing.  If the graph has an error,
 * every run of the session answers with it.  NULL if there is no such graph or
 * memory is out.
 *   eddy_session_new(g)
 *
 * All sessions share one pool of threads, made when a run first has work for
 * them; they sleep between runs.  A run whose helpers are busy for another does
 * its work itself.  A child of fork() makes its own; the code of an operation
 * must not fork.  A number of threads out of range is INVALID_ARGUMENT at the
 * first run.
 *
 * While a run is under way, OpenBLAS is set to one thread for the whole process;
 * the last run to end restores the number that was set before, unless another
 * was set meanwhile. */
EDDY_API eddy_session *eddy_session_new_with(eddy_session_args args);
#define eddy_session_new(...) eddy_session_new_with(EDDY_ARGS(eddy_session_args, __VA_ARGS__))
/* Ends use but keeps the handle: runs answer CLOSED.  Twice is harmless. */
EDDY_API void          eddy_session_close(eddy_session *s);
/* While no other thread uses s, its callables or its arrays of eddy_eval. */
EDDY_API void          eddy_session_free(eddy_session *s);

/* The status and sentence of the last failed call on s, from whatever thread;
 * EDDY_OK and "" if none failed.  The sentence is a copy of the calling thread's,
 * which lives until it asks again. */
EDDY_API eddy_status   eddy_session_status(const eddy_session *s);
EDDY_API const char   *eddy_session_message(const eddy_session *s);

/* A value for a tensor of the graph: of its dtype, and of a shape that agrees
 * with its static one.  Any tensor that has a value can be fed. */
typedef struct eddy_feed {
    eddy_tensor       tensor;
    const eddy_array *value;
} eddy_feed;

typedef struct eddy_feeds {
    int              count;
    const eddy_feed *at;
} eddy_feeds;

#ifdef __cplusplus
inline eddy_feeds eddy_feeds_of_(std::initializer_list<eddy_feed> at)
{
    return eddy_feeds{ (int)at.size(), at.begin() };
}
#define EDDY_FEED(...) (eddy_feeds_of_({ __VA_ARGS__ }))
#else
#define EDDY_FEEDS_(...) ((const eddy_feed[]){ { EDDY_ZERO_TENSOR, NULL }, __VA_ARGS__ })
#define EDDY_FEED(...) ((eddy_feeds){                                         \
    .count = (int)(sizeof EDDY_FEEDS_(__VA_ARGS__) / sizeof(eddy_feed)) - 1,  \
    .at    = EDDY_FEEDS_(__VA_ARGS__) + 1 })
#endif
#define EDDY_FETCH EDDY_LIST

/* Runs what the fetches need, given the feeds.
 *
 *   eddy_array *out[2] = { NULL, NULL };
 *   eddy_run(s, EDDY_FEED({x, images}), EDDY_FETCH(train, loss), out);
 *
 * out[i]  must be NULL or an array from an earlier run, which is given up: look
 *         for the value in what out[i] is after the run.  Where dtype and shape
 *         fit and nobody else holds it, its memory is used again: at once for a
 *         small value, by the run after this one for a large value, which is
 *         computed in the array that this run leaves.  Else it is freed.  A
 *         fetch without a value (a train step) leaves NULL.  out itself may be
 *         NULL.  The arrays are the caller's to free.
 *
 * Only what the fetches depend on is run.  All reads of a variable see its
 * value from before the run, unless ordered behind an update (eddy_read under
 * eddy_control_begin, or the update's own output).  On an error, out is as it
 * was, but for a lack of memory for the results: then those before the missing
 * one are there.  Updates that had been made before the error stay.  May be
 * called from several threads: runs that update variables wait for the others.
 * What a run calls back (eddy_print, an operation of one's own) may use other
 * sessions, but of this one only the message: all else is INVALID_ARGUMENT. */
EDDY_API eddy_status eddy_run(eddy_session *s, eddy_feeds feeds, eddy_list fetches,
                              eddy_array **out);

/* One fetch, no feeds: the value as a new array; NULL on an error. */
EDDY_API eddy_array *eddy_fetch(eddy_session *s, eddy_tensor t);

/* A run with its feeds and fetches settled: for loops.  Belongs to the
 * session; free it before or let the session do it.
 *
 *   eddy_callable *c = eddy_callable_new(s, EDDY_LIST(x), EDDY_LIST(train, loss));
 *   eddy_callable_run(c, (const eddy_array *[]){ images }, out);
 *
 * feeds and out have as many entries as the lists that it was made with, in their
 * order; out is as in eddy_run.  feeds may be NULL if there are none; a NULL among
 * them is INVALID_ARGUMENT, and all else is as in eddy_run.  new returns NULL for
 * lists that are none or tensors of another graph.  Several threads may run one
 * callable, but none while it is freed. */
typedef struct eddy_callable eddy_callable;
EDDY_API eddy_callable *eddy_callable_new(eddy_session *s, eddy_list feeds, eddy_list fetches);
EDDY_API eddy_status    eddy_callable_run(eddy_callable *c, const eddy_array *const *feeds,
                                          eddy_array **out);
EDDY_API void           eddy_callable_free(eddy_callable *c);

/* The value of a variable: NULL if it has none (UNINITIALIZED is not recorded).
 * The array is a copy, the caller's to free.  set gives it one, which initializes
 * it: BAD_DTYPE, or BAD_SHAPE for a shape that does not agree with the static one;
 * INVALID_ARGUMENT for no value or a tensor that is no variable; NO_MEMORY. */
EDDY_API eddy_array *eddy_variable_value(eddy_session *s, eddy_tensor variable);
EDDY_API eddy_status eddy_variable_set(eddy_session *s, eddy_tensor variable,
                                       const eddy_array *value);

/* Writes the variables (all global ones if list.count is 0) to one safetensors
 * file, atomically: a failure leaves the old file.  restore reads them back;
 * every listed variable must be in the file (NOT_FOUND) with its dtype
 * (BAD_DTYPE) and shape (BAD_SHAPE), or none is changed. */
EDDY_API eddy_status eddy_save(eddy_session *s, const char *path, eddy_list variables);
EDDY_API eddy_status eddy_restore(eddy_session *s, const char *path, eddy_list variables);

/* ------------------------------------------- looking while one builds -- */

/* The value of t, for working step by step: while a graph is built, in a
 * debugger, in a shell.
 *
 *   eddy_tensor dw = eddy_gradient(loss, w);
 *   printf("%g\n", eddy_eval_number(dw));
 *
 * As in eager execution, each node is computed once, at the first look that
 * needs it, in order of creation: an update is made once, random numbers are
 * drawn once, and what was computed from a variable stays when the variable
 * changes.  A variable is its present value, and begins as its initial value.
 * A look costs what is new.  NULL on an error, which is the session's; an
 * operation without a value gives an array without elements.
 *
 * eddy_eval looks in a session that belongs to the graph, made at the first
 * call and freed with it; eddy_eval_in in any.  The array belongs to the
 * session: until eddy_eval_forget or eddy_eval_set, of a variable until the next look. */
EDDY_API const eddy_array *eddy_eval(eddy_tensor t);
EDDY_API const eddy_array *eddy_eval_in(eddy_session *s, eddy_tensor t);
/* The session of eddy_eval: for its message, and for runs that share its variables. */
EDDY_API eddy_session     *eddy_eval_session(eddy_graph *g);
/* The value of a scalar; NaN on an error. */
EDDY_API double            eddy_eval_number(eddy_tensor t);
/* "name:0 float32[2] [1, 2]" and a newline, or the error; to stdout if `to` is NULL. */
EDDY_API eddy_status       eddy_eval_print(eddy_tensor t, FILE *to);
/* Gives a placeholder, or any tensor, a value for looks from now on; a variable
 * gets it for good.  What was computed before stays. */
EDDY_API eddy_status       eddy_eval_set(eddy_tensor t, const eddy_array *value);
EDDY_API eddy_status       eddy_eval_set_in(eddy_session *s, eddy_tensor t, const eddy_array *value);
/* Drops what was computed and set, other than variables: an update that is looked
 * at again is made again. */
EDDY_API void              eddy_eval_forget(eddy_session *s);

/* What the plan of the session's last run looks like, or of the callable's. */
typedef struct eddy_plan_info {
    int     nodes;                /* in the graph's part that the run needs */
    int     instructions;         /* executed */
    int     folded;               /* computed while compiling */
    int     fused;                /* ops that are part of a fused instruction */
    int     in_place;             /* results written over an operand */
    size_t  arena_bytes;          /* planned memory of temporaries, less large fetched ones */
    size_t  live_bytes;           /* the lower bound of it: most bytes alive at once */
    double  flops;                /* arithmetic operations of one run; see graph/op.h */
    int     plans;                /* in the session's cache */
    int     changes[EDDY_PASSES]; /* nodes replaced or dropped, by the pass's bit number */
} eddy_plan_info;
EDDY_API eddy_plan_info eddy_session_plan_info(const eddy_session *s);
EDDY_API eddy_plan_info eddy_callable_plan_info(const eddy_callable *c);

/* Where the time of the session's runs went, to stdout if `to` is NULL: a table for
 * each plan with a row for each instruction, the dearest first, and one of all plans by
 * operation.  A plan is what eddy_run keeps for these feeds, fetches and shapes.
 *
 *   eddy_session *s = eddy_session_new(g, .profile = true);
 *   ...
 *   eddy_session_profile(s, stdout);
 *
 *    share    us/run      calls  GFLOP/s     GB/s
 *    58.1%     61.27        100    83.87     7.34  MatMul(float32[32,784], ...) [node 'dense']
 *
 * share    of the time of the plan's runs, waiting for other runs aside.  What is spent
 *          outside of instructions, as for handing over results, is in the title
 * GFLOP/s  arithmetic as eddy_plan_info counts it
 * GB/s     as if each operand were read and each result written once
 *
 * What is fused is one instruction, with its parts' operations and their numbers, and
 * the type of the elements that it goes through.  Small instructions that run side by
 * side are one, "Wide", with its parts and how many strands of them there are.  An
 * instruction on several threads counts from its begin to its end.
 *
 * _json writes an object for each instruction of each plan, one a line, in order of
 * execution: plan, runs, instruction, op, node, parts of a fused or wide one ({"Mul":
 * 2}), inputs and outputs (types), calls, seconds (in all), flops, bytes (of one call).
 *
 * Waits for runs that are under way.  INVALID_ARGUMENT for a session without `profile`;
 * CLOSED; NO_MEMORY. */
EDDY_API eddy_status eddy_session_profile(eddy_session *s, FILE *to);
EDDY_API eddy_status eddy_session_profile_json(eddy_session *s, FILE *to);

#ifdef __cplusplus
}
#endif
#endif
