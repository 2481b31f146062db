/* session.h -- sessions, which run a graph.
 *
 * A session compiles a request -- these feeds, these fetches, these shapes -- into a flat plan
 * with planned memory, caches the plan, and runs it. The values of variables belong to the
 * session, so one graph can serve many sessions. */
#ifndef EDDY_SESSION_H
#define EDDY_SESSION_H

#include "../graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_session eddy_session;

/* Optimization passes of a session's compiler, which can be switched off to measure the gain of
 * one, or to find a faulty one. Results then differ in the last bits only. */
enum {
    EDDY_PASS_FOLD      = 1 << 0,     /* nodes that depend on constants alone are computed once */
    EDDY_PASS_MERGE     = 1 << 1,     /* equal computations are merged */
    EDDY_PASS_SIMPLIFY  = 1 << 2,     /* x * 1, x + 0, transposes of transposes, ... */
    EDDY_PASS_STABILIZE = 1 << 3,     /* log(softmax(x)), log(1 + x), ... without loss of digits */
    EDDY_PASS_PATTERNS  = 1 << 4,     /* composed layer norm, attention, ... become one operation */
    EDDY_PASS_PRODUCTS  = 1 << 5,     /* transposes and factors are absorbed by matrix products */
    EDDY_PASS_EPILOGUES = 1 << 6,     /* so are bias, residual and activation after them */
    EDDY_PASS_SCHEDULE   = 1 << 7,    /* an order with less live memory and more fusion */
    EDDY_PASS_FUSE      = 1 << 8,     /* elementwise operations and reductions become one loop */
    EDDY_PASS_IN_PLACE  = 1 << 9,     /* results overwrite operands */
    EDDY_PASS_REUSE     = 1 << 10,    /* tensors share memory */
    EDDY_PASS_CHAINS    = 1 << 11,    /* chains of elementwise operations become one */
    EDDY_PASS_RECOMPUTE = 1 << 12,    /* later loops recompute cheap values */
    EDDY_PASS_HOIST     = 1 << 13,    /* values that do not change from run to run are kept */
    EDDY_PASS_PARALLEL  = 1 << 14,    /* small independent instructions run in parallel */
    EDDY_PASSES_ALL     = (1 << 15) - 1,
    EDDY_PASSES         = 15          /* the number of passes */
};

typedef struct eddy_session_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_session_args));
    eddy_graph *graph;
    unsigned    without;          /* passes to leave out: EDDY_PASS_... | EDDY_PASS_... */
    FILE       *report;           /* the changes of each pass are written here; NULL: nowhere */
    bool        report_nodes;     /* ... with the nodes that it leaves */
    /* EDDY_LIMIT for a run that needs more memory for temporaries and results, and for an
     * evaluation (eddy_eval_in) that would keep more values; 0: no limit */
    size_t      max_bytes;
    /* of the plans kept for other shapes and fetches; beyond it, the least recently used plan is
     * dropped. Default: 1 GiB, or four times the largest plan if that is more */
    size_t      kept_bytes EDDY_DEFAULT(SIZE_MAX);
    int         threads;          /* maximum threads per run, 1 to 256; 1 is the calling thread
                                   * only; 0: one for each core that the process may use */
    bool        deterministic;    /* the same bits for any number of threads; else the same from
                                   * run to run for the same number */
    bool        profile;          /* time each instruction: eddy_session_profile */
    double      timeout;          /* seconds after which a run ends with EDDY_TIMED_OUT; 0: none. See
                                   * eddy_session_cancel */
    /* a run fails if a node computes an infinity or NaN: EDDY_NUMERICS_MADE, which is `true`, or
     * another constant below; 0: it does not */
    int         check_numerics;
    bool        trace;            /* record when each instruction ran: eddy_session_trace */
    /* for sessions that share the runs of one training, such as those of several machines: the n-th
     * run that executes a random operation draws what run first_run + n * run_stride of a session
     * alone would draw */
    int64_t     first_run;
    int64_t     run_stride EDDY_DEFAULT(1);
} eddy_session_args;

/* The values that `check_numerics` refuses, of floating and complex types, when a run or an
 * evaluation (eddy_eval) computes them:
 *
 *   EDDY_NUMERICS_MADE  NaN, and infinities that a node makes of finite inputs. So a mask with
 *                       infinities is allowed, and so are results computed from it, except NaN;
 *                       infinities from an option, such as the value of a padding, are refused.
 *   EDDY_NUMERICS_NAN   NaN only: for losses that are scaled until their gradients overflow.
 *   EDDY_NUMERICS_ALL   NaN and all infinities, as tf.add_check_numerics_ops.
 *
 * The run returns EDDY_CHECK_FAILED, and the message names the first node, the output and element,
 * the iteration of a loop, and the ranges of the inputs:
 *
 *   Log(float32[32,10]): output 0, element 17, is -inf; its inputs are finite: 'p' in [0, 0.93]
 *   [node 'loss/Log']
 *
 * To name the node, the session compiles the run again without optimizations and runs it up to the
 * node, without updates and other side effects. If a variable on which the node depends has already
 * been updated, or the run exchanges data with other ranks (distributed.h), this is impossible, and
 * the message names the operation into which the compiler rewrote the node. Values that exist only
 * inside such an operation, such as the sum before an activation that is part of a product, are not
 * checked.
 *
 * Updates of variables come last in a checked run: if it fails, all variables have their values
 * from before, unless the arithmetic of an update itself made the number (a sum of the variable and
 * its step that overflows), or the number depends on a variable that the run has updated. Therefore
 * the gradients of all variables are in memory at the same time. Without the pass
 * EDDY_PASS_SCHEDULE, updates happen in the order of creation. Updates of rows of a variable are
 * checked by their operands. Results have the same bits with and without checks. */
enum {
    EDDY_NUMERICS_MADE = 1,
    EDDY_NUMERICS_NAN  = 2,
    EDDY_NUMERICS_ALL  = 3
};

/* A session on a graph; the graph may continue to grow. If the graph has an error, every run of
 * the session returns it. The caller frees the session (eddy_session_free). NULL if there is no
 * such graph or if out of memory.
 *   eddy_session_new(g)
 *
 * All sessions share one thread pool, created when a run first has work for it; its threads
 * sleep between runs. A run whose helpers are busy with another run does its work itself. A
 * child of fork() creates its own pool; of its parent's sessions, it may use those that no other
 * thread was using. The code of an operation must not fork. A number of threads out of range is the
 * error EDDY_INVALID_ARGUMENT at the first run.
 *
 * While a run is in progress, OpenBLAS is limited to one thread for the whole process; the last
 * run to end restores the previous number, unless another one was set in the meantime. */
EDDY_API eddy_session *eddy_session_new_with(const eddy_session_args *given);
#define eddy_session_new(...) eddy_session_new_with(EDDY_ARGS(eddy_session_args, __VA_ARGS__))
/* Closes the session but keeps the handle valid: new runs return EDDY_CLOSED. Runs in progress are
 * cancelled. Closing twice is allowed. */
EDDY_API void          eddy_session_close(eddy_session *s);
/* Cancels the runs in progress, in any thread: they return EDDY_CANCELLED. Runs that begin
 * afterwards are not affected. May be called from a signal handler, and while another thread runs
 * s; s must be NULL or valid.
 *
 * A run notices it before its next operation or iteration, and within operations of this library
 * after some milliseconds. Operations of the caller run to their end. The current matrix of
 * eddy_eigh, eddy_eig, eddy_svd and others that use these decompositions, and a long Fourier
 * transform, go on in a thread of their own without the run; as many as there are cores, others
 * wait. eddy_session_free and the end of the process wait for them. Large memory of the run is freed
 * when the next run of the session begins, or with the session.
 *
 * Each update of a variable happens as a whole or not at all, so after a cancelled run some
 * variables may have their new values and others not. Evaluations (eddy_eval) end likewise.
 * Compilation is not interrupted; call eddy_prepare beforehand. tf.Session.close,
 * tf.RunOptions(timeout_in_ms). */
EDDY_API void          eddy_session_cancel(eddy_session *s);
/* The timeout of runs that begin from now on, as the option `timeout`. It counts from the call of
 * eddy_run and includes waits for other runs. 0: none. EDDY_INVALID_ARGUMENT for a negative number,
 * NaN, or more than 1e9. */
EDDY_API eddy_status   eddy_session_set_timeout(eddy_session *s, double seconds);
/* Frees the session and its callables, after decompositions that cancelled runs have left. No other
 * thread may be using s, its callables or its arrays from eddy_eval. */
EDDY_API void          eddy_session_free(eddy_session *s);

/* The status and message of the last failed call on s, from any thread; EDDY_OK and "" if none
 * failed. The message is a copy that belongs to the calling thread and is valid until its next
 * call. */
EDDY_API eddy_status   eddy_session_status(const eddy_session *s);
EDDY_API const char   *eddy_session_message(const eddy_session *s);

/* A value for a tensor of the graph, with its dtype and a shape compatible with its static
 * shape. Any tensor that has a value can be fed. Memory can be fed without creating an array:
 * EDDY_FEED({ x, EDDY_VIEW(p, 32, 784) }, { y, EDDY_FLOATS(1, 2) }). */
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

/* Runs the nodes that the fetches need, given the feeds.
 *
 *   eddy_array *out[2] = { NULL, NULL };
 *   eddy_run(s, EDDY_FEED({x, images}), EDDY_FETCH(train, loss), out);
 *
 *   out[i]  must be NULL or an array from an earlier run, whose reference the call takes over:
 *           after the run, use the new out[i].  If dtype and shape match and it has no other
 *           reference, its memory is reused: at once for a small value, by the next run for a
 *           large value, which is computed in the array that this run releases.  Otherwise it
 *           is freed.  A fetch without a value (a training operation) gives NULL.  out itself
 *           may be NULL.  The caller frees the arrays.
 *
 * Only nodes on which the fetches depend are run. All reads of a variable see its value from
 * before the run, unless they are ordered after an update (eddy_read under eddy_control_begin,
 * or the update's own output). On an error, out is unchanged, except when memory for the results
 * runs out, or the run is cancelled while they are copied: then those before the missing one are
 * set. Updates made before the error are kept.
 *
 * May be called from several threads: runs that update variables wait for the others. Functions
 * called back by a run (eddy_print, a user's operation) may use other sessions. Of this one they
 * may read the message, cancel the runs, close it and set the timeout of later runs; any other call
 * is EDDY_INVALID_ARGUMENT. */
EDDY_API eddy_status eddy_run(eddy_session *s, eddy_feeds feeds, eddy_list fetches,
                              eddy_array **out);
/* Compiles what eddy_run would for feeds of these shapes, so that the first run takes no longer
 * than others. Of the values, only integers that decide shapes matter. Runs nothing; variables need
 * no values. Errors: those of eddy_run, as far as they are found without running;
 * EDDY_UNIMPLEMENTED if only a run computes the values that decide shapes. */
EDDY_API eddy_status eddy_prepare(eddy_session *s, eddy_feeds feeds, eddy_list fetches);

typedef struct eddy_fetch_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_fetch_args));
    eddy_session *session;
    eddy_tensor   tensor;
    eddy_feeds    feeds;            /* default: none */
} eddy_fetch_args;

/* Runs for one value and returns it as a new array, which the caller frees; NULL on an error, or
 * if there is no value.
 *   eddy_array *y = eddy_fetch(s, y, EDDY_FEED({ x, EDDY_FLOATS(1, 2, 3) })) */
EDDY_API eddy_array *eddy_fetch_with(const eddy_fetch_args *given);
#define eddy_fetch(...) eddy_fetch_with(EDDY_ARGS(eddy_fetch_args, __VA_ARGS__))
/* The same for a value of one element, as a double (complex: the real part). NaN on an error;
 * EDDY_BAD_SHAPE for a value of more or fewer elements, EDDY_INVALID_ARGUMENT if there is no
 * value. */
EDDY_API double eddy_fetch_number_with(const eddy_fetch_args *given);
#define eddy_fetch_number(...) eddy_fetch_number_with(EDDY_ARGS(eddy_fetch_args, __VA_ARGS__))

/* A run with fixed feeds and fetches, for loops. It belongs to the session; free it before the
 * session, or let the session free it.
 *
 *   eddy_callable *c = eddy_callable_new(s, EDDY_LIST(x), EDDY_LIST(train, loss));
 *   eddy_callable_run(c, (const eddy_array *[]){ images }, out);
 *
 * feeds and out have as many entries as the lists that it was created with, in the same order;
 * out is as in eddy_run. feeds may be NULL if there are none; a NULL entry is
 * EDDY_INVALID_ARGUMENT; otherwise everything is as in eddy_run. new returns NULL for invalid lists
 * or tensors of another graph. Several threads may run one callable, but not while it is being
 * freed. */
typedef struct eddy_callable eddy_callable;
EDDY_API eddy_callable *eddy_callable_new(eddy_session *s, eddy_list feeds, eddy_list fetches);
EDDY_API eddy_status    eddy_callable_run(eddy_callable *c, const eddy_array *const *feeds,
                                          eddy_array **out);
EDDY_API void           eddy_callable_free(eddy_callable *c);

/* Reads and sets the value of a variable. value returns a copy that the caller frees, or NULL if
 * the variable has none (EDDY_UNINITIALIZED is not recorded). set copies `value` and initializes
 * the variable. Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE for a shape incompatible with the static
 * one; EDDY_INVALID_ARGUMENT for no value or a tensor that is not a variable; EDDY_NO_MEMORY. */
EDDY_API eddy_array *eddy_variable_value(eddy_session *s, eddy_tensor variable);
EDDY_API eddy_status eddy_variable_set(eddy_session *s, eddy_tensor variable,
                                       const eddy_array *value);

/* Checkpoints. save writes the variables (all global ones if list.count is 0) to one safetensors
 * file, atomically: after a failure the old file is unchanged. restore reads them; every listed
 * variable must be in the file (EDDY_NOT_FOUND) with its dtype (EDDY_BAD_DTYPE) and shape
 * (EDDY_BAD_SHAPE), otherwise none is changed.
 *
 * Without a list, the file also contains how many runs have executed each random operation, as
 * metadata `eddy.draws`: the names of nodes with their numbers, `dropout=12 rnn/while=3`. restore
 * then sets these numbers, so that a training goes on with the random numbers that it would have
 * had without the interruption. Names that the graph does not have are ignored; a file without the
 * metadata changes no number; EDDY_CORRUPT if it has another form. With a list, save and restore
 * leave the numbers alone. checkpoint.h has options: names and layouts of other libraries, other
 * element types, partial files, several files. */
EDDY_API eddy_status eddy_save(eddy_session *s, const char *path, eddy_list variables);
EDDY_API eddy_status eddy_restore(eddy_session *s, const char *path, eddy_list variables);

/* ------------------------------------------- eager evaluation ---------- */

/* Eager evaluation: the value of t while a graph is being built, for interactive work and
 * debuggers.
 *
 *   eddy_tensor dw = eddy_gradient(loss, w);
 *   printf("%g\n", eddy_eval_number(dw));
 *
 * As in eager execution, each node is computed once, in order of creation, by the first
 * evaluation that needs it: an update is applied once, random numbers are drawn once, as in one
 * run that ends with eddy_eval_forget, and values computed from a variable do not follow later
 * changes of it. A variable evaluates to its current value, and starts with its initial value. An
 * evaluation computes only new nodes. NULL on an error, which is recorded on the session; an
 * operation without a value gives an array without elements.
 *
 * eddy_eval uses a session that belongs to the graph, created at the first call and freed with
 * it; eddy_eval_in uses any session. The array belongs to the session and is valid until
 * eddy_eval_forget or eddy_eval_set; that of a variable only until the next evaluation. */
EDDY_API const eddy_array *eddy_eval(eddy_tensor t);
EDDY_API const eddy_array *eddy_eval_in(eddy_session *s, eddy_tensor t);
/* The session that eddy_eval uses, for its message and for runs that share its variables. */
EDDY_API eddy_session     *eddy_eval_session(eddy_graph *g);
/* The value of a scalar; NaN on an error. */
EDDY_API double            eddy_eval_number(eddy_tensor t);
/* Prints "name:0 float32[2] [1, 2]" and a newline, or the error; to stdout if `to` is NULL. */
EDDY_API eddy_status       eddy_eval_print(eddy_tensor t, FILE *to);
/* Sets the value of a placeholder, or of any tensor, for later evaluations; a variable keeps it
 * permanently. Values that were computed before are unchanged. */
EDDY_API eddy_status       eddy_eval_set(eddy_tensor t, const eddy_array *value);
EDDY_API eddy_status       eddy_eval_set_in(eddy_session *s, eddy_tensor t, const eddy_array *value);
/* Discards all computed and set values, except those of variables: an update that is evaluated
 * again is applied again. */
EDDY_API void              eddy_eval_forget(eddy_session *s);

/* Properties of the plan of the session's last run, or of the callable's plan. */
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

/* The memory that a session keeps between runs, in bytes. Waits for a run that is being compiled.
 * Zeros for a session that has been freed, and in functions that a run of it calls back. */
typedef struct eddy_memory_info {
    int    plans;                 /* compiled, at most 16384 */
    size_t plan_bytes;            /* of their instructions and tables */
    /* of values that they keep from run to run, such as stacks and packed constants */
    size_t value_bytes;
    size_t run_bytes;             /* of the memory in which runs compute, which plans share */
    size_t variable_bytes;        /* of the values of variables */
    size_t evaluated_bytes;       /* of what evaluations computed and keep until eddy_eval_forget */
} eddy_memory_info;
EDDY_API eddy_memory_info eddy_session_memory_info(eddy_session *s);

/* Writes where the session's runs spend their time, to stdout if `to` is NULL: a table for each
 * plan with a row for each instruction, the most expensive first, and a table of all plans by
 * operation. A plan is compiled for the feeds, fetches and shapes of an eddy_run and cached.
 *
 *   eddy_session *s = eddy_session_new(g, .profile = true);
 *   ...
 *   eddy_session_profile(s, stdout);
 *
 *    share    us/run      calls  GFLOP/s     GB/s
 *    58.1%     61.27        100    83.87     7.34  MatMul(float32[32,784], ...) [node 'dense']
 *
 *   share    of the time of the plan's runs, excluding waits for other runs.  The title gives
 *            the time outside of instructions, such as for handing over results
 *   GFLOP/s  arithmetic as eddy_plan_info counts it
 *   GB/s     as if each operand were read and each result written once
 *
 * A fused instruction is one row, with its operations, their counts, and the type of the
 * elements that it processes. Small instructions that run in parallel are one row, "Parallel", with
 * their operations and the number of parallel chains (chains). The time of an instruction on
 * several threads is from its beginning to its end.
 *
 * Below its plan, each loop has a line with its iterations a call and the time of one, and a table
 * of the instructions of its body, with times by iteration; each branch of a Case has a table with
 * the number of calls that took it. Shares are those of the loop or branch. Loops whose shapes
 * change run node by node outside of plans: they have tables of their own, without GFLOP/s and
 * GB/s, and are not part of the table of all plans.
 *
 * _json writes one object per line for each instruction of each plan, in order of execution:
 * plan, runs, instruction, op, node, parts of a fused or parallel instruction ({"Mul": 2}), inputs
 * and outputs (types), calls, seconds (in all), flops, bytes and result_bytes (of one call: read and
 * written, and those of its results); of a loop also iterations (in all). Instructions in bodies
 * follow those of their plan, with the node (in) and its part ("body", "condition", "branch 0");
 * `runs` counts those of the part, and their seconds are included in the node's. For nodes that run
 * one by one, `plan` is null, and runs, instruction, types, flops and both bytes are left out.
 *
 * Waits for runs in progress. Errors: EDDY_INVALID_ARGUMENT for a session without `profile`;
 * EDDY_CLOSED; EDDY_NO_MEMORY. */
EDDY_API eddy_status eddy_session_profile(eddy_session *s, FILE *to);
EDDY_API eddy_status eddy_session_profile_json(eddy_session *s, FILE *to);

/* Writes what the session has done since it was created, or since the last call, as a trace of
 * Chrome's format, which https://ui.perfetto.dev and chrome://tracing show on a time line; to
 * stdout if `to` is NULL.
 *
 *   eddy_session *s = eddy_session_new(g, .trace = true);
 *   ...
 *   eddy_session_trace(s, file);
 *
 * There is a row for each thread: runs, their instructions with the name of the node, the
 * iterations of loops and what ran in them, nodes that run one by one, the parts of parallel
 * instructions on the threads that ran them, and waits for other runs. A counter shows the bytes of
 * temporaries that are in use, of the plan's arena. Pieces of one instruction that several threads
 * share are one event, on the thread that called eddy_run. A collective of distributed.h is one
 * event, its wait for other ranks included. Of gradients that are exchanged while the rank computes,
 * AllReduceEnd is the time that the rank waits for the exchange; the exchange itself runs on a
 * thread of the communicator, of which sessions know nothing: eddy_report_ranks has its time.
 *
 * An option `.trace` includes `.profile`. An event takes 64 bytes and some 30 nanoseconds; after a
 * million, further ones are only counted, and the trace ends with their number.
 *
 * Waits for runs in progress. Errors: EDDY_INVALID_ARGUMENT for a session without `trace`;
 * EDDY_CLOSED. */
EDDY_API eddy_status eddy_session_trace(eddy_session *s, FILE *to);

#ifdef __cplusplus
}
#endif
#endif
