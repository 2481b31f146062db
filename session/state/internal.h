/* internal.h -- the types that all folders of session/ share: sessions and plans, and the state of
 * a compilation, because plans and sessions refer to each other. Functions of the folders are
 * declared in their own headers.
 *
 * compile_plan.c turns feeds, fetches and shapes into a plan through these stages:
 *   specialize_shapes.c  selects the nodes that are needed, infers concrete types, folds
 *                        constants
 *   lower.c              builds the plan's own graph (ir.h) from the live nodes;
 *                        liveness.c finds them; variable_order.c decides which reads of
 *                        variables see updates
 *   passes.c             rewrites the IR to compute the same values at lower cost;
 *                        schedule_nodes.c orders its nodes; hoist.c moves nodes out that need
 *                        not be computed in each run
 *   emit.c               emits instructions over buffers;
 *                        views.c decides which values share the memory of others;
 *                        fuse.c merges consecutive elementwise instructions;
 *                        parallel_groups.c merges small independent instructions
 *   memory_plan.c        assigns offsets in one arena to temporaries
 * run.c executes plans, profile/ reports the time they take; session.c keeps the plans and the
 * variables' state. */
#ifndef EDDY_SESSION_INTERNAL_H
#define EDDY_SESSION_INTERNAL_H

#include <pthread.h>
#include "graph/internal.h"
#include "graph/kernel.h"
#include "session/session.h"
#include "graph/base/stop.h"
#include "session/state/autotune.h"
#include "session/state/cpu_clock.h"
#include "session/state/draw_counts.h"

typedef struct eddy_plan eddy_plan;

/* State shared by the stages of one run: how often each source of draws ran before, and the
 * session's count of changes of variables when the first stage began. */
typedef struct run_snapshot {
    uint64_t *taken;          /* see eddy__draws_take */
    uint64_t  changes;
    bool      begun;
    bool      conflict;       /* a later stage found that variables have changed */
} run_snapshot;

/* A feed or fetch in the key of a plan. */
typedef struct plan_feed {
    eddy_tensor tensor;
    eddy_type   type;
    eddy_array *value;        /* a few integers on which shapes may depend, or NULL */
    bool        keyed;        /* shapes depend on the integers, so they are part of the key */
} plan_feed;

/* ------------------------------------------------- stage 1: specialization -- */

typedef struct node_info {
    eddy_type   *types;       /* concrete output types; NULL if not visited */
    eddy_array **folded;      /* one per output, or NULL */
    bool         needed;      /* an ancestor of a fetch, for its value or its type */
    bool         value_needed;  /* ... for its value */
    bool         decides_shape;  /* ... which determines a shape */
    bool         fed_elements;  /* its folded value was computed from elements that are fed */
    bool         effect;      /* it, or a node that it waits for, must not be removed */
    bool         live;        /* executed, or its value is used */
    bool         fed;         /* at least one output is fed */
    bool         alias;       /* its output is its input 0 with another shape */
    bool         dynamic;     /* types have the maximum possible dimensions */
} node_info;

typedef struct ir_graph ir_graph;
struct body_use;
struct eddy_program;
struct numerics;
struct numerics_check;

/* As the output of a size: its elements are not needed; the node, a Loop or Case, runs outside of
 * plans, because only a run of its body determines its shapes. */
enum { EDDY_NODE_ITSELF = -1 };

typedef struct compile {
    eddy_session *session;
    eddy_graph   *graph;
    eddy_plan    *plan;
    node_info    *info;       /* [0..size] */
    struct body_use **bodies; /* by node id, of Loop and Case nodes; NULL: there is none */
    /* Compiles the part of a body that fetches need, by all stages. owned, by feed: 1 + the fetch
     * that replaces it, if the plan may overwrite its memory; else 0. */
    eddy_plan *(*compile_body)(struct compile *outer, eddy_graph *body, int n_feeds,
                               const plan_feed *feeds, const int32_t *owned, eddy_list fetches);
    const char   *part, *of, *body_part, *body_of;  /* "body", the node's name; of the next body */
    bool          quiet, quiet_body;    /* nothing has side effects, here or in the next body */
    bool          iterates, body_iterates;  /* the graph is the body of a loop; the next body is */
    /* of a body, by feed: its value if that is constant, or NULL; of the next body */
    const eddy_array **constants, **body_constants;
    struct open_memory *open_memory;    /* of the outermost plan; NULL: this is it */
    const eddy_stop *stop;              /* the same */
    struct numerics *numerics;          /* the same */
    unsigned      without;              /* passes to leave out, for this plan */
    /* Of a loop's body: the first feed that is the same in all iterations, if nothing but the plan
     * uses its memory between them; else 0. Of the next body. */
    int           captured, body_captured;
    /* The instruction whose kernel is prepared; NULL for those of chains, which run at the same time
     * and share no packed operand. */
    const struct instruction *preparing;
    /* Tensors whose elements are fed because they decide shapes; and the first other one whose
     * elements would be needed, set if a shape stays unknown. */
    eddy_list     sizes;
    eddy_tensor   missing_size, body_missing_size;      /* the latter of the body compiled last */
    bool          varies, body_varies;  /* only a run of the body tells shapes in it; as above */
    int32_t       size;
    eddy_error   *error;
    eddy_arena    scratch;    /* freed when the plan is complete */
    eddy_arena    stage;      /* reused by the next stage */
    eddy_arena    ir_arenas[2];  /* each reused by the IR after the next one */
    int           ir_arena;
    ir_graph     *ir;
    /* For the user's graph, between liveness.c and lower.c: */
    int32_t       *variable_of;     /* by node id: index in plan->variables, or -1 */
    int32_t       *first_update;    /* by variable index: node id; 0: none */
    uint8_t       *plain_read;      /* by node id: an explicit read that no update precedes */
    uint8_t      **reads_now;  /* by node id: NULL, or by input: it is a variable that was updated before */
} compile;

bool eddy__specialize_shapes(compile *c);
/* Index of the feed of t, or -1. */
int  eddy__feed_of(const compile *c, eddy_tensor t);
/* The type that t has in this plan; its constant elements, or NULL. */
eddy_type         eddy__concrete_type(const compile *c, eddy_tensor t);
const eddy_array *eddy__folded_value(const compile *c, eddy_tensor t);
/* The elements of t, which decide a shape; fed ones become part of the plan's key. */
const eddy_array *eddy__shape_value(const compile *c, eddy_tensor t);

/* --------------------------------------------------- stage 2: instructions -- */

/* A result is a temporary that instructions write directly to the array of a fetch. */
typedef enum value_kind {
    VALUE_TEMP,
    VALUE_FEED,
    VALUE_CONSTANT,
    VALUE_VARIABLE,
    VALUE_RESULT
} value_kind;

/* A range of memory that aliases share. */
typedef struct plan_root {
    value_kind  kind;
    int32_t     index;        /* number of the feed, the variable or the fetch */
    eddy_array *constant;
    uint64_t    bytes, offset;
    int32_t     first, last;  /* positions in the schedule, inclusive; last INT32_MAX: kept */
    int32_t     last_reader;  /* id of the last node that reads it; INT32_MAX: kept */
    bool        has_views;    /* some buffers are parts of it */
    bool        kept;         /* holds values that later runs need */
    int32_t     owner;        /* 1 + the fetch that replaces this feed; 0: it stays as it is */
} plan_root;

typedef struct instruction {
    eddy_kernel      kernel;
    eddy_status      (*run)(eddy_kernel *k);
    eddy_kernel_call call;    /* kernel.impl */
    const uint64_t  *draws;   /* where kernel.step is; NULL: the kernel does not use it */
    int32_t          resizes; /* variable whose storage takes the shape of the result; or -1 */
    bool             starts_loop; /* the first of a loop: not to be fused with earlier ones */
    struct eddy_program *program;   /* of a Loop or Case node; else NULL */
    const struct numerics_check *numerics;  /* checks its values; NULL: none */
    const char      *label;   /* what a profile calls it; set only if the plan has a profile */
} instruction;

typedef struct plan_variable {
    const eddy_node *node;
    eddy_state      *state;
    eddy_buffer     *reference;   /* its storage, for kernels that update it */
    eddy_shape       shape;       /* its shape when the plan was compiled */
    bool             open;        /* the shape may differ now */
    bool             read;        /* must have a value when the run begins */
    bool             updated;
} plan_variable;

/* A variable from which kept values were computed, and its version at that time. */
typedef struct plan_source {
    const eddy_state *state;
    uint64_t          version;
} plan_source;

/* A run writes a result directly to an array that belongs to the plan until the run has
 * succeeded. Then the caller gets the array, and the plan keeps the caller's old array for the
 * next run. */
typedef struct plan_fetch {
    int32_t     buffer;           /* -1: an operation without a value */
    bool        direct;           /* its root is a result of its own */
    eddy_array *next;             /* for the next run; NULL: a new one is needed */
    eddy_array *dropped;          /* the caller's old one, until all results are returned */
} plan_fetch;

typedef struct plan_patch {
    int32_t buffer, root;         /* a buffer whose memory is known only when the run begins */
} plan_patch;

/* The time of an instruction so far, and the work of one call. */
typedef struct instruction_profile {
    int64_t ticks, calls;
    double  flops, bytes;
    size_t  live;             /* bytes of the arena in use while it runs */
} instruction_profile;

typedef struct plan_profile {
    int64_t             ticks, runs;    /* of a body: its iterations */
    instruction_profile each[];   /* by instruction, as plan->code */
} plan_profile;

/* Memory that grows in a run (program_stacks.c), and the limit on it and on the plan's own. */
typedef struct open_memory {
    atomic_size_t           bytes;
    size_t                  fixed, limit;   /* limit 0: none */
    const struct eddy_plan *plan;           /* whose own memory is `fixed` */
} open_memory;

struct eddy_plan {
    eddy_plan            *previous, *next;  /* by the last use: the latter is older */
    eddy_plan            *next_of_key;      /* in the same bucket of keys */
    uint32_t              key;    /* a hash of feeds, shapes, fetches and deciding elements */
    atomic_bool           busy;   /* set under the session's lock, cleared without it */
    size_t                counted;  /* its part of the session's `plan_bytes` */
    bool                  writes; /* updates variables */
    bool                  has_open;  /* ... or reads variables whose shapes may change between runs */
    bool                  stale;  /* the last run found other shapes and did nothing */
    bool                  conflict; /* ... found that variables changed since an earlier stage */
    bool                  has_results; /* writes straight into arrays of fetches */
    bool                  has_lapack; /* has operations that call LAPACK */
    bool                  has_parallel_groups; /* small instructions that may run in parallel */
    bool                  runs_parallel; /* ... and do, in this run */
    autotuner             autotuner;  /* chooses whether they do */
    plan_profile         *profile; /* NULL without the session's option */
    bool           embedded;      /* of a body: its memory is part of another plan's */
    const int32_t *owned;         /* by feed of a body: see compile_body */
    plan_draw     *draws;         /* the sources of draws */
    uint64_t       draw;          /* of a body: the number for the current iteration */
    bool           body_draws;    /* of a body: some instruction uses it */
    struct eddy_program *programs;
    open_memory           own_memory, *open_memory;     /* the latter of the outermost plan */
    eddy_stop             own_stop;     /* of the current run */
    const eddy_stop      *stop;         /* the outermost plan's */
    struct numerics      *numerics;     /* the same; NULL: values are not checked (numerics.h) */
    int32_t               begun;        /* instructions that the last run has begun */
    uint32_t              watch_version;    /* the session's when it was compiled */
    eddy_session         *session;
    const eddy_allocator *allocator;
    eddy_arena            arena;  /* owns the arrays below */

    int            n_feeds, n_fetches;
    plan_feed     *feeds;
    eddy_tensor   *fetches;

    eddy_buffer   *buffers;
    int32_t       *buffer_root;
    size_t        *buffer_at;     /* offset of each in the memory of its root, in bytes */
    int32_t        n_buffers, buffers_capacity;
    plan_root     *roots;
    int32_t        n_roots;
    instruction   *code;
    int32_t        n_code;
    int32_t        n_invariant;   /* number of leading instructions that run only after a source has changed */
    bool           invariants_computed;  /* ... and have run */
    plan_source   *sources;
    int32_t        n_sources;
    plan_variable *variables;
    int32_t        n_variables;
    plan_fetch    *outputs;
    plan_patch    *patches;
    int32_t        n_patches;
    struct packed_use *packed;    /* packed operands that its kernels read (packed_operands.h) */
    struct shared_operand *shared;      /* those that a run packs (shared_operands.h) */
    eddy_array   **constants;     /* retained */
    int32_t        n_constants, constants_capacity;

    void          *memory;        /* for temporaries; of a run, or the plan's own (memory_base) */
    void          *memory_base;
    struct run_memory *run_memory;  /* the block of the last run (run_memory.c); NULL: none */
    uint64_t       memory_bytes;
    size_t         own_bytes;     /* held between runs, except results and stacks */
    eddy_plan_info info;
    eddy_error     error;         /* of the current run */
};

/* Builds the plan's own graph from the live part of the user's graph (c->ir), rewrites it by
 * the passes, and turns it into instructions. */
bool eddy__lower(compile *c);
bool eddy__improve(compile *c);
/* Moves nodes to the front that need not be computed in each run (hoist.c). */
bool eddy__hoist(compile *c);
bool eddy__emit(compile *c);
/* Records that the placeholder was not fed; returns false. */
bool eddy__not_fed(const eddy_node *placeholder, eddy_error *error);
/* Memory for n items in the plan's arena, zeroed; NULL with the error set. */
void *eddy__plan_alloc(compile *c, size_t n, size_t size);
/* The same, freed when the plan is complete; until the next eddy__stage_begin. */
void *eddy__ir_alloc(compile *c, size_t n, size_t size);
void *eddy__stage_alloc(compile *c, size_t n, size_t size);
/* Frees the memory that earlier stages allocated by eddy__stage_alloc; specializing and lowering
 * are one stage. */
void  eddy__stage_begin(compile *c);
/* Of a node's only output: `other`, the type of an input, if it is the same; else `own`, the latest
 * item of c->scratch. Types in few places stay in the caches. */
eddy_type *eddy__share_type(compile *c, eddy_type *own, eddy_type *other);
bool  eddy__plan_keep(compile *c, eddy_array *a);     /* takes the reference */

/* Fuses consecutive elementwise instructions into one (fuse.c). */
bool eddy__fuse(compile *c);
/* Combines small independent instructions into one (parallel_groups.c). */
bool eddy__parallelize(compile *c);
/* Calls `prepare` of the instruction's kernel. */
bool eddy__prepare(compile *c, instruction *i);
/* The number of arithmetic operations of an instruction; the parts of a fused instruction are
 * counted before fusion. The second function adds it to the plan's count. */
bool eddy__instruction_flops(compile *c, const instruction *i, double *flops);
bool eddy__plan_add_flops(compile *c, const instruction *i);
/* Sets the addresses of buffers and scratch memory in p->memory. */
void eddy__plan_set_addresses(eddy_plan *p);
/* True if values of a run must still be in p->memory in the next. */
bool eddy__plan_keeps_values(const eddy_plan *p);

/* ----------------------------------------------------- stage 3: memory -- */

/* Sets the offset of every temporary root; returns the arena's size and its lower bound. */
bool eddy__plan_memory(const eddy_allocator *a, plan_root *roots, int32_t n, int32_t positions,
                       bool reuse, uint64_t *arena_bytes, uint64_t *live_bytes);

/* ------------------------------------------------------------ the rest -- */

/* `sizes` are feeds whose elements decide shapes. If the plan cannot be compiled because it lacks
 * the elements of another tensor for a shape, *missing is the first such tensor. */
eddy_plan *eddy__compile(eddy_session *s, int n_feeds, const plan_feed *feeds, eddy_list fetches,
                         eddy_list sizes, eddy_tensor *missing, eddy_error *error);
/* The same as close to the graph as possible, without optimizations, updates and side effects. */
eddy_plan *eddy__compile_plainly(eddy_session *s, int n_feeds, const plan_feed *feeds,
                                 eddy_list fetches, eddy_list sizes, eddy_error *error);
void       eddy__plan_free(eddy_plan *p);
/* For tests: verifies, from the instructions alone, that no memory of the plan holds two values
 * at a time and that every operand exists when it is read, in the plan and in those of the bodies
 * of its loops and branches; otherwise sets the error. */
bool       eddy__plan_check(const eddy_plan *p, eddy_error *error);
/* Runs nothing and sets p->stale if the shapes of variables differ from those of the plan. For a
 * run with several stages, `snapshot` is their shared state; otherwise NULL. */
eddy_status eddy__plan_run(eddy_plan *p, const eddy_array *const *feeds, eddy_array **out,
                           run_snapshot *snapshot, eddy_stop stop, eddy_error *error);
/* The same with state_lock held, for a plan that fits. */
eddy_status eddy__plan_run_locked(eddy_plan *p, const eddy_array *const *feeds, eddy_array **out,
                                  const run_snapshot *given);
/* Records an error of the instruction, unless its kernel has recorded one. */
void eddy__note_failure(eddy_error *error, const instruction *i, eddy_status s);
/* Runs the instruction and checks its values (numerics.c). */
eddy_status eddy__run_checked(instruction *i);
/* Runs the instruction; `error` must be the one that its kernel sets. */
static inline eddy_status eddy__execute(instruction *i, eddy_error *error)
{
    if (i->draws) i->kernel.step = *i->draws;
    const eddy_status s = i->numerics ? eddy__run_checked(i) : i->run(&i->kernel);
    if (s != EDDY_OK) eddy__note_failure(error, i, s);
    return s;
}
/* An update, or another effect, happens as a whole or not at all. */
static inline bool eddy__is_whole(const eddy_op_def *op)
{
    return op->flags & (EDDY_OP_REFERENCE | EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT);
}
/* Of a run that begins now. */
eddy_stop eddy__stop_begin(eddy_session *s);
/* True if the run must end; then sets the error, which ends with `where`. */
bool eddy__must_stop(const eddy_session *s, const eddy_stop *stop, const char *where,
                     eddy_error *error);
/* Lock s->lock, or s->state_lock, for a run: wait for other runs, but not beyond the deadline.
 * False with the error set. */
bool eddy__lock_session(eddy_session *s, const eddy_stop *stop, eddy_error *error);
bool eddy__lock_state(eddy_session *s, bool write, const eddy_stop *stop, eddy_error *error);
/* True if the variables have the shapes of the plan; with state_lock held. */
bool eddy__plan_fits(const eddy_plan *p);
/* True if the variable can hold a value of this type; otherwise the message contains both
 * shapes. */
bool eddy__value_fits(const eddy_node *variable, eddy_type value, eddy_error *error);
/* The function that runs an operation; it calls `prepare` first if the operation has one. */
eddy_status (*eddy__kernel_of(const eddy_op_def *op))(eddy_kernel *k);
/* The type of the value in a buffer: a stack of an open loop has more rows than the plan says. */
eddy_type eddy__value_type(const eddy_buffer *b);
static inline eddy_buffer eddy__buffer_of(eddy_type t, void *data)
{
    return (eddy_buffer){ .data = data, .count = eddy_shape_count(t.shape), .type = t };
}
/* The address of a buffer in the memory of its root. */
static inline void *eddy__buffer_in(const eddy_plan *p, int32_t buffer, void *root)
{
    return p->buffer_at[buffer] > 0 ? (char *)root + p->buffer_at[buffer] : root;
}
/* Runs one node of g outside of a plan: prepares and calls its kernel. `buffers` contains the
 * inputs and then the outputs. Of the plan, only the session, the allocator, the arena and the
 * error are used. */
bool eddy__run_single_op(eddy_plan *p, const eddy_graph *g, const eddy_node *node,
                         eddy_buffer *buffers, uint64_t step, eddy_error *error);

struct eddy_session {
    eddy_graph           *graph;
    eddy_session_args     options;
    eddy_allocator        allocator;
    pthread_mutex_t       lock;  /* protects plans, states and callables; locked before state_lock */
    pthread_rwlock_t      state_lock;  /* held by runs: shared, or exclusive if they update variables */
    pthread_mutex_t       report_lock; /* protects error and last_info */
    eddy_plan            *plans, *oldest_plan;  /* most recently used first */
    eddy_plan            *plans_of_key[1024];   /* the same, by key; most recently used first */
    int                   n_plans;
    size_t                plan_bytes;  /* of all plans, each as of its last use */
    eddy_tensor           keyed[16];   /* feeds whose elements are part of keys */
    int                   n_keyed;
    struct run_memory    *memory;      /* in which plans compute */
    pthread_mutex_t       memory_lock; /* protects `memory` */
    struct packed_operand *packed;     /* of all plans (packed_operands.h) */
    size_t                packed_bytes;
    pthread_mutex_t       packed_lock; /* protects the last two */
    uint64_t              changes;     /* counts changes of variables; protected by state_lock */
    eddy_state          **states;      /* by node id */
    int32_t               states_capacity;
    draw_table            draws;
    atomic_bool           closed;
    atomic_uint           stop_requests;    /* by closing and cancelling */
    _Atomic int64_t       timeout;      /* of a run, in nanoseconds; 0: none */
    eddy_error            error;
    eddy_plan_info        last_info;
    struct eddy_callable *callables;
    struct stages        *stages;   /* of runs with several stages, and of runs found to have one */
    int                   n_stages;    /* in use: without those that others have replaced */
    int32_t               seen;        /* nodes examined for dynamic operations */
    bool                  has_dynamic;
    struct eval_cache    *eval_cache;  /* values computed by eager evaluation (eval.c); NULL before the first */
    bool                  of_graph;    /* created by eddy_eval_session: freed with the graph */
    struct node_times {                 /* of nodes outside of plans (profile/node_times.h) */
        struct node_time *at;
        int32_t           n, room;
        bool              incomplete;   /* memory was out */
    } node_times;                       /* protected by report_lock */
    int64_t               began_ticks, began_nanoseconds;  /* when it was created, for profiles */
    struct trace {                      /* what ran when (run_events.h) */
        struct trace_event *at;
        size_t              n, room, dropped;
    } trace;                            /* protected by report_lock */
    struct watch         *watches;      /* protected by lock, and unchanged during runs */
    int                   last_watch;
    uint32_t              watch_version;    /* counts changes of watches */
    size_t                recompute_least; /* bytes; 0: where it pays (recompute.c) */
};

/* True if the session is open and its graph is alive, not empty and without errors; otherwise
 * sets the error. */
bool eddy__session_check(const eddy_session *s, eddy_error *error);
/* True if f is a valid feed for a tensor of the graph; i is its number in messages. */
bool eddy__session_check_feed(const eddy_session *s, const eddy_feed *f, int i, eddy_error *e);
/* Record the session's last failure, and the plan that it used last. */
void eddy__session_note(eddy_session *s, const eddy_error *e);
void eddy__session_note_plan(eddy_session *s, const eddy_plan_info *info);

/* The runs in progress in this thread: kernels may call back. */
typedef struct eddy_running {
    const eddy_session *session;
    const struct eddy_running *outer;
} eddy_running;
void eddy__running_begin(eddy_running *r, const eddy_session *s);
void eddy__running_end(const eddy_running *r);
/* True if this call may lock s: inside a run of s it would wait for itself, which is recorded as
 * the session's error. */
bool eddy__session_enter(eddy_session *s);

/* Ends a call under the session's lock: records its error, unlocks. */
eddy_status eddy__session_finish(eddy_session *s, const eddy_error *e);
/* For eval.c: frees a session, including one that belongs to a graph; and frees its cached
 * values. */
void eddy__session_destroy(eddy_session *s);
void eddy__eval_cache_free(eddy_session *s);

/* Of a session that traces, see session/state/run_events.h. */
void eddy__trace_instruction(const eddy_plan *p, int32_t number, const instruction *i,
                             int64_t begin, int64_t end);
/* Instruction i ended that began at *last. */
static inline void eddy__profile_count(const eddy_plan *p, int32_t i, int64_t *last)
{
    const int64_t now = eddy__ticks();
    p->profile->each[i].ticks += now - *last;
    p->profile->each[i].calls++;
    if (p->session->options.trace) eddy__trace_instruction(p, i, &p->code[i], *last, now);
    *last = now;
}
/* "; largest values: 'name' bytes, ..." for at most ten values of the plan, as many as fit whole
 * into the text; "" if it has none. The second function does the same for other values: `at` gives
 * value i of n, with 0 bytes if it does not count. */
const char *eddy__largest_values(const eddy_plan *p, char *text, size_t size);
typedef struct sized_value {
    const eddy_node *node;
    uint64_t         bytes;
} sized_value;
typedef sized_value sized_value_fn(const void *of, int32_t i);
const char *eddy__name_largest(sized_value_fn *at, const void *of, int32_t n, char *text,
                               size_t size);
/* Allocates the profile of a plan when its instructions are final (profile/count.c). */
bool eddy__profile_prepare(compile *c);

/* The state of a variable, created at the first request; NULL if out of memory. */
eddy_state *eddy__session_state(eddy_session *s, int32_t node);
/* The node of a variable of the session's graph; NULL with the error set. */
const eddy_node *eddy__session_variable(const eddy_session *s, eddy_tensor t, eddy_error *e);
/* eddy_variable_value, with the error, which may be NULL; none if the variable has no value. */
eddy_array *eddy__variable_value(eddy_session *s, eddy_tensor variable, eddy_error *error);
/* False, with the error set, if the session is closed or its graph has been freed. */
bool eddy__session_is_usable(const eddy_session *s, eddy_error *e);
/* False, with the error set, for a negative count and for NULL instead of a list of `count`. `who`
 * is the call, `what` the list. */
bool eddy__check_list(const char *who, const char *what, int count, const void *at, eddy_error *e);
/* Setting a variable: room allocates memory for the value, *room, if the variable has none that
 * fits, and does not change it (NULL with the error set); put copies the value, and takes the room.
 * With state_lock held for writing. */
eddy_state *eddy__variable_room(eddy_session *s, const eddy_node *node, const eddy_array *value,
                                eddy_array **room, eddy_error *e);
void        eddy__variable_put(eddy_session *s, eddy_state *state, const eddy_array *value,
                               eddy_array *room);

#endif
