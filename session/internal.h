/* internal.h -- what the files of session/ share.
 *
 * compile.c turns feeds, fetches and shapes into a plan through three stages:
 *   specialise.c  which nodes matter, with which concrete types; constants folded
 *   schedule.c    what is executed, in which order, reading and writing which values
 *   memory.c      where temporaries lie in one arena
 * run.c executes plans; session.c keeps them and the state. */
#ifndef EDDY_SESSION_INTERNAL_H
#define EDDY_SESSION_INTERNAL_H

#include <pthread.h>
#include "graph/internal.h"
#include "session/session.h"

typedef struct eddy_plan eddy_plan;

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
    bool         effect;      /* it, or something it waits for, may not be left out */
    bool         live;        /* executed, or its value is used */
    bool         fed;         /* at least one output is */
} node_info;

typedef struct compile {
    eddy_session  *session;
    eddy_graph    *graph;
    eddy_plan     *plan;
    node_info     *info;      /* [0..size] */
    int32_t        size;
    eddy_error    *error;
} compile;

bool eddy_specialise(compile *c);
/* Index of the feed that gives t, or -1. */
int  eddy_feed_of(const compile *c, eddy_tensor t);
/* The type that t has in this plan; its constant elements, or NULL. */
eddy_type         eddy_concrete_type(const compile *c, eddy_tensor t);
const eddy_array *eddy_folded_value(const compile *c, eddy_tensor t);

/* --------------------------------------------------- stage 2: schedule -- */

typedef enum value_kind { VALUE_TEMP, VALUE_FEED, VALUE_CONSTANT, VALUE_VARIABLE } value_kind;

/* A piece of memory: a root that aliases share. */
typedef struct plan_root {
    value_kind  kind;
    int32_t     index;        /* feed number, or variable number */
    eddy_array *constant;
    size_t      bytes, offset;
    int32_t     first, last;  /* positions in the schedule, inclusive; last INT32_MAX: fetched */
    int32_t     last_reader;  /* id of the last node that reads it; INT32_MAX: fetched */
} plan_root;

typedef struct instruction {
    eddy_kernel  kernel;
    eddy_status (*run)(eddy_kernel *k);
    eddy_plan   *plan;
    const eddy_node *node;
    int32_t      resizes;     /* variable number whose storage takes the value's shape; or -1 */
} instruction;

typedef struct plan_variable {
    const eddy_node *node;
    eddy_state      *state;
    eddy_buffer     *reference;   /* its storage, for kernels that update it */
    eddy_shape       shape;       /* that it had when the plan was made */
    bool             read;        /* must have a value when the run begins */
} plan_variable;

typedef struct plan_fetch {
    int32_t buffer;               /* -1: an operation without a value */
} plan_fetch;

typedef struct plan_patch {
    int32_t buffer, root;         /* a buffer whose memory is known only when the run begins */
} plan_patch;

struct eddy_plan {
    eddy_plan     *next;
    bool           busy;
    bool           writes;        /* updates variables */
    eddy_session  *session;
    const eddy_allocator *allocator;
    eddy_arena     arena;         /* of everything below */

    int            n_feeds, n_fetches;
    plan_feed     *feeds;
    eddy_tensor   *fetches;

    eddy_buffer   *buffers;
    int32_t       *buffer_root;
    int32_t        n_buffers, buffers_capacity;
    plan_root     *roots;
    int32_t        n_roots, roots_capacity;
    instruction   *code;
    int32_t        n_code;
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

bool eddy_schedule(compile *c);
/* Memory for n items in the plan's arena, zeroed; NULL with the error set. */
void *eddy_plan_alloc(compile *c, size_t n, size_t size);
bool  eddy_plan_keep(compile *c, eddy_array *a);      /* takes the reference */

/* ----------------------------------------------------- stage 3: memory -- */

/* Sets every temporary root's offset; reports arena and lower bound. */
bool eddy_plan_memory(const eddy_allocator *a, plan_root *roots, int32_t n, int32_t positions,
                      bool reuse, size_t *arena_bytes, size_t *live_bytes);

/* ------------------------------------------------------------ the rest -- */

eddy_plan *eddy_compile(eddy_session *s, int n_feeds, const plan_feed *feeds, eddy_list fetches,
                        eddy_error *error);
void       eddy_plan_free(eddy_plan *p);
eddy_status eddy_plan_run(eddy_plan *p, const eddy_array *const *feeds, eddy_array **out,
                          eddy_error *error);
/* Calls `prepare`, if the op has one, and says which function runs it. */
eddy_status (*eddy_kernel_of(const eddy_op_def *op))(eddy_kernel *k);

struct eddy_session {
    eddy_graph        *graph;
    eddy_session_args  options;
    eddy_allocator     allocator;
    pthread_mutex_t    lock;           /* of plans, states, error, callables */
    pthread_rwlock_t   state_lock;     /* held by runs: shared, or alone if they update */
    eddy_plan         *plans;          /* most recently used first */
    int                n_plans;
    eddy_state       **states;         /* by node id */
    int32_t            states_capacity;
    atomic_ullong      step;
    atomic_bool        closed;
    eddy_error         error;
    eddy_plan_info     last_info;
    struct eddy_callable *callables;
};

/* The state of a variable, made on first demand; NULL if memory is out. */
eddy_state *eddy_session_state(eddy_session *s, int32_t node);

#endif
