/* internal.h -- what the files of session/ share.
 *
 * compile.c turns feeds, fetches and shapes into a plan through these stages:
 *   specialise.c  which nodes matter, with which concrete types; constants folded
 *   lower.c       the plan's own graph (flow.h) of what is executed;
 *                 live.c: what that is; order.c: which reads of variables see updates
 *   passes.c      the same values, made with less; arrange.c: in which order;
 *                 hoist.c: what of it need not be made in each run
 *   schedule.c    instructions, reading and writing which memory;
 *                 views.c: which values lie in that of others
 *                 fuse.c: elementwise instructions in a row become one
 *                 wide.c: small ones that do not depend on each other become one
 *   memory.c      where temporaries lie in one arena
 * run.c executes plans, profile.c says where their time went; session.c keeps them and
 * the state. */
#ifndef EDDY_SESSION_INTERNAL_H
#define EDDY_SESSION_INTERNAL_H

#include <pthread.h>
#include "graph/internal.h"
#include "session/session.h"
#include "session/trial.h"

typedef struct eddy_plan eddy_plan;

/* What the stages of one run have in common: its number, and the session's count of changes
 * of variables when the first stage began. */
typedef struct run_moment {
    uint64_t step, changes;
    bool     begun;
} run_moment;

/* A feed or fetch, as a plan's key remembers it. */
typedef struct plan_feed {
    eddy_tensor tensor;
    eddy_type   type;
    eddy_array *value;        /* a few integers that shapes may depend on, or NULL */
    bool        keyed;        /* they do: the elements are part of the key */
} plan_feed;

/* ------------------------------------------------- stage 1: specialise -- */

typedef struct node_info {
    eddy_type   *types;       /* concrete output types; NULL if not visited */
    eddy_array **folded;      /* one an output, or NULL */
    bool         needed;      /* an ancestor of a fetch, for its value or its type */
    bool         valued;      /* ... for its value */
    bool         decides;     /* ... from which a shape is computed */
    bool         effect;      /* it, or something it waits for, may not be left out */
    bool         live;        /* executed, or its value is used */
    bool         fed;         /* at least one output is */
    bool         alias;       /* its output is its input 0 under another shape */
    bool         dynamic;     /* types have the largest dimensions that there can be */
} node_info;

typedef struct eddy_flow eddy_flow;

typedef struct compile {
    eddy_session  *session;
    eddy_graph    *graph;
    eddy_plan     *plan;
    node_info     *info;      /* [0..size] */
    int32_t        size;
    eddy_error    *error;
    eddy_arena     scratch;   /* of what lasts until the plan is made */
    eddy_arena     turns[2];  /* of what lasts until the next flow but one is made */
    int            turn;
    eddy_flow     *flow;
    /* Of the user's graph, between live.c and lower.c: */
    int32_t       *variable_of;     /* by node id: index in plan->variables, or -1 */
    int32_t       *first_update;    /* by variable index: node id; 0: none */
    uint8_t       *plain_read;      /* by node id: an explicit read that no update precedes */
    uint8_t      **reads_now;       /* by node id: NULL, or by input: is a variable behind an update */
} compile;

bool eddy_specialise(compile *c);
/* Index of the feed that gives t, or -1. */
int  eddy_feed_of(const compile *c, eddy_tensor t);
/* The type that t has in this plan; its constant elements, or NULL. */
eddy_type         eddy_concrete_type(const compile *c, eddy_tensor t);
const eddy_array *eddy_folded_value(const compile *c, eddy_tensor t);

/* --------------------------------------------------- stage 2: schedule -- */

/* A result is a temporary that instructions write straight into the array of a fetch. */
typedef enum value_kind {
    VALUE_TEMP,
    VALUE_FEED,
    VALUE_CONSTANT,
    VALUE_VARIABLE,
    VALUE_RESULT
} value_kind;

/* A piece of memory: a root that aliases share. */
typedef struct plan_root {
    value_kind  kind;
    int32_t     index;        /* number of the feed, the variable or the fetch */
    eddy_array *constant;
    size_t      bytes, offset;
    int32_t     first, last;  /* positions in the schedule, inclusive; last INT32_MAX: it stays */
    int32_t     last_reader;  /* id of the last node that reads it; INT32_MAX: it stays */
    bool        parted;       /* there are buffers of parts of it */
    bool        kept;         /* holds what runs after this one need */
} plan_root;

typedef struct instruction {
    eddy_kernel  kernel;
    eddy_status (*run)(eddy_kernel *k);
    eddy_plan   *plan;
    const eddy_node *node;
    int32_t      resizes;     /* variable number whose storage takes the value's shape; or -1 */
    bool         apart;       /* the first of a loop: not to be one with what is before it */
    eddy_error  *error;       /* where its kernel says why it failed; NULL: the plan's */
} instruction;

typedef struct plan_variable {
    const eddy_node *node;
    eddy_state      *state;
    eddy_buffer     *reference;   /* its storage, for kernels that update it */
    eddy_shape       shape;       /* that it had when the plan was made */
    bool             open;        /* it may have another one now */
    bool             read;        /* must have a value when the run begins */
    bool             updated;
} plan_variable;

/* A variable from which kept values were computed, and its version then. */
typedef struct plan_source {
    const eddy_state *state;
    uint64_t          version;
} plan_source;

/* The array of a result, which the run writes, is the plan's own until the run has ended
 * well; then the caller gets it, and the plan has the caller's old one for the next run. */
typedef struct plan_fetch {
    int32_t     buffer;           /* -1: an operation without a value */
    bool        direct;           /* its root is a result of its own */
    eddy_array *next;             /* for the run to come; NULL: a new one is needed */
    eddy_array *dropped;          /* the caller's old one, until all results are handed over */
} plan_fetch;

typedef struct plan_patch {
    int32_t buffer, root;         /* a buffer whose memory is known only when the run begins */
} plan_patch;

/* What an instruction has taken so far; what a call of it does. */
typedef struct instruction_profile {
    int64_t ticks, calls;
    double  flops, bytes;
} instruction_profile;

typedef struct plan_profile {
    int64_t             ticks, runs;
    instruction_profile each[];   /* as plan->code */
} plan_profile;

struct eddy_plan {
    eddy_plan     *next;
    atomic_bool    busy;          /* taken under the session's lock, given back without */
    uint64_t       used;          /* the session's count of takings at the last one */
    bool           writes;        /* updates variables */
    bool           has_open;      /* ... or reads some whose shapes may change between runs */
    bool           stale;         /* the last run found other shapes, and did nothing */
    bool           overtaken;     /* ... found that variables changed since an earlier stage */
    bool           has_results;   /* writes straight into arrays of fetches */
    bool           has_lapack;    /* has operations that call it */
    bool           has_wide;      /* small instructions that may run side by side (wide.h) */
    bool           side_by_side;  /* ... and do, in this run */
    way_trial      trial;         /* ... whether that is faster */
    plan_profile  *profile;       /* NULL without the session's option */
    eddy_session  *session;
    const eddy_allocator *allocator;
    eddy_arena     arena;         /* of everything below */

    int            n_feeds, n_fetches;
    plan_feed     *feeds;
    eddy_tensor   *fetches;

    eddy_buffer   *buffers;
    int32_t       *buffer_root;
    size_t        *buffer_at;     /* where in its root's memory each begins, in bytes */
    int32_t        n_buffers, buffers_capacity;
    plan_root     *roots;
    int32_t        n_roots, roots_capacity;
    instruction   *code;
    int32_t        n_code;
    int32_t        n_steady;      /* the first so many need not run while no source changes */
    bool           settled;       /* ... and have run */
    plan_source   *sources;
    int32_t        n_sources;
    plan_variable *variables;
    int32_t        n_variables;
    plan_fetch    *outputs;
    plan_patch    *patches;
    int32_t        n_patches;
    eddy_array   **constants;     /* retained */
    int32_t        n_constants, constants_capacity;

    void          *memory, *memory_base;
    size_t         memory_bytes;
    eddy_plan_info info;
    eddy_error     error;         /* of the running step */
};

/* The live part of the user's graph as the plan's own (c->flow), improved by the passes,
 * and turned into instructions. */
bool eddy_lower(compile *c);
bool eddy_improve(compile *c);
/* Puts first what need not be computed in each run (hoist.c). */
bool eddy_hoist(compile *c);
bool eddy_schedule(compile *c);
/* Says that the placeholder was not fed; returns false. */
bool eddy_not_fed(const eddy_node *placeholder, eddy_error *error);
/* Memory for n items in the plan's arena, zeroed; NULL with the error set. */
void *eddy_plan_alloc(compile *c, size_t n, size_t size);
/* The same until the plan is made. */
void *eddy_flow_alloc(compile *c, size_t n, size_t size);
bool  eddy_plan_keep(compile *c, eddy_array *a);      /* takes the reference */

/* Elementwise instructions in a row become one (fuse.c). */
bool eddy_fuse(compile *c);
/* Small instructions that do not depend on each other become one (wide.c). */
bool eddy_widen(compile *c);
/* Has the instruction's kernel prepare itself. */
bool eddy_prepare(compile *c, instruction *i);
/* What the instruction's arithmetic costs: of a fused one that of its parts is counted
 * before they are fused.  The second adds it to the plan's. */
bool eddy_instruction_flops(compile *c, const instruction *i, double *flops);
bool eddy_plan_add_flops(compile *c, const instruction *i);

/* ----------------------------------------------------- stage 3: memory -- */

/* Sets every temporary root's offset; reports arena and lower bound. */
bool eddy_plan_memory(const eddy_allocator *a, plan_root *roots, int32_t n, int32_t positions,
                      bool reuse, size_t *arena_bytes, size_t *live_bytes);

/* ------------------------------------------------------------ the rest -- */

eddy_plan *eddy_compile(eddy_session *s, int n_feeds, const plan_feed *feeds, eddy_list fetches,
                        eddy_error *error);
void       eddy_plan_free(eddy_plan *p);
/* For tests: whether, by its instructions alone, no memory of the plan holds two things at
 * a time and every operand is there when it is read; or what is wrong. */
bool       eddy_plan_check(const eddy_plan *p, eddy_error *error);
/* Runs nothing and sets p->stale if variables have other shapes than the plan is for.  Of
 * a run with several stages, `moment` says what they share; else it is NULL. */
eddy_status eddy_plan_run(eddy_plan *p, const eddy_array *const *feeds, eddy_array **out,
                          run_moment *moment, eddy_error *error);
/* An error of the instruction, if its kernel has not said why. */
void eddy_note_failure(eddy_error *error, const instruction *i, eddy_status s);
/* Runs the instruction; the error is that which its kernel writes to. */
static inline eddy_status eddy_execute(instruction *i, uint64_t step, eddy_error *error)
{
    i->kernel.step = step;
    const eddy_status s = i->run(&i->kernel);
    if (s != EDDY_OK) eddy_note_failure(error, i, s);
    return s;
}
/* Whether the variables have the shapes that the plan is for; with state_lock held. */
bool eddy_plan_fits(const eddy_plan *p);
/* Whether the variable can hold such a value; both shapes are in the message. */
bool eddy_value_fits(const eddy_node *variable, eddy_type value, eddy_error *error);
/* Calls `prepare`, if the op has one, and says which function runs it. */
eddy_status (*eddy_kernel_of(const eddy_op_def *op))(eddy_kernel *k);
static inline eddy_buffer eddy_buffer_of(eddy_type t, void *data)
{
    return (eddy_buffer){ .data = data, .count = eddy_shape_count(t.shape), .type = t };
}
/* The address of a buffer in the memory of its root. */
static inline void *eddy_buffer_in(const eddy_plan *p, int32_t buffer, void *root)
{
    return p->buffer_at[buffer] > 0 ? (char *)root + p->buffer_at[buffer] : root;
}
/* Runs one node by itself: prepares and calls its kernel.  `buffers` has the inputs
 * and then the outputs; of the plan only the session, the arena and the error count. */
bool eddy_run_alone(eddy_plan *p, const eddy_node *node, eddy_buffer *buffers, uint64_t step,
                    eddy_error *error);

struct eddy_session {
    eddy_graph        *graph;
    eddy_session_args  options;
    eddy_allocator     allocator;
    pthread_mutex_t    lock;           /* of plans, states, callables; taken before state_lock */
    pthread_rwlock_t   state_lock;     /* held by runs: shared, or alone if they update */
    pthread_mutex_t    report_lock;    /* of error and last_info */
    eddy_plan         *plans;          /* most recently used first */
    int                n_plans;
    uint64_t           takings;        /* of plans, so far */
    uint64_t           changes;        /* of variables, so far; with state_lock held */
    eddy_state       **states;         /* by node id */
    int32_t            states_capacity;
    atomic_ullong      step;
    atomic_bool        closed;
    eddy_error         error;
    eddy_plan_info     last_info;
    struct eddy_callable *callables;
    struct stages     *stages;         /* of runs that have several, and of those that have one */
    int                n_stages;
    int32_t            seen;           /* nodes looked at for dynamic ones */
    bool               has_dynamic;
    struct evaluation *evaluation;     /* what looks have computed (eval.c); NULL before the first */
    bool               of_graph;       /* made by eddy_eval_session: freed with the graph */
    int64_t            began_ticks, began_nanoseconds;     /* when it was made, for profiles */
    size_t         recompute_least;    /* bytes; 0: where it pays (recompute.c) */
};

/* Open, on a graph that lives, has nodes and no error; or the reason why not. */
bool eddy_session_check(const eddy_session *s, eddy_error *error);
/* Whether f is a value for a tensor of the graph; i is its number in messages. */
bool eddy_session_check_feed(const eddy_session *s, const eddy_feed *f, int i, eddy_error *e);
/* The session's last failure, and the plan it took last. */
void eddy_session_note(eddy_session *s, const eddy_error *e);
void eddy_session_note_plan(eddy_session *s, const eddy_plan_info *info);

/* The runs that this thread is in the midst of: kernels may call back. */
typedef struct eddy_running {
    const eddy_session *session;
    const struct eddy_running *outer;
} eddy_running;
void eddy_running_begin(eddy_running *r, const eddy_session *s);
void eddy_running_end(const eddy_running *r);
/* Whether s is a session that this call may lock: inside a run of s it would wait
 * for itself, which is noted as the session's error. */
bool eddy_session_enter(eddy_session *s);

/* Ends a call under the session's lock: notes its error, unlocks. */
eddy_status eddy_session_finish(eddy_session *s, const eddy_error *e);
/* For eval.c: frees a session, also one of a graph; and what its looks kept. */
void eddy_session_destroy(eddy_session *s);
void eddy_evaluation_free(eddy_session *s);

/* Room for the profile of a plan whose instructions are settled (profile.c). */
bool eddy_profile_prepare(compile *c);

/* The state of a variable, made on first demand; NULL if memory is out. */
eddy_state *eddy_session_state(eddy_session *s, int32_t node);

#endif
