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

typedef struct eddy_session_args {
    char        unused_;
    eddy_graph *graph;
    bool        no_folding;       /* compile without constant folding */
    bool        no_in_place;      /* ... without results that overwrite an operand */
    bool        no_reuse;         /* ... with separate memory for every tensor */
    size_t      max_bytes;        /* refuse plans that need more memory; 0: no limit */
} eddy_session_args;

/* A session on a graph, which may go on growing.  If the graph has an error,
 * every run of the session answers with it.  NULL if there is no such graph or
 * memory is out.
 *   eddy_session_new(g) */
EDDY_API eddy_session *eddy_session_new_with(eddy_session_args args);
#define eddy_session_new(...) eddy_session_new_with(EDDY_ARGS(eddy_session_args, __VA_ARGS__))
/* Ends use but keeps the handle: runs answer CLOSED.  Twice is harmless. */
EDDY_API void          eddy_session_close(eddy_session *s);
EDDY_API void          eddy_session_free(eddy_session *s);

/* The status and sentence of the last failed call on s; EDDY_OK and "" if none failed. */
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

#define EDDY_FEEDS_(...) ((const eddy_feed[]){ { EDDY_ZERO_TENSOR, NULL }, __VA_ARGS__ })
#ifdef __cplusplus
#define EDDY_FEED(...) (eddy_feeds{                                           \
    (int)(sizeof(EDDY_FEEDS_(__VA_ARGS__)) / sizeof(eddy_feed)) - 1, EDDY_FEEDS_(__VA_ARGS__) + 1 })
#else
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
 * out[i]  must be NULL or an array from an earlier run: it is used again when
 *         dtype and shape fit and nobody else holds it, else freed and
 *         replaced.  A fetch without a value (a train step) leaves NULL.  out
 *         itself may be NULL.  The arrays are the caller's to free.
 *
 * Only what the fetches depend on is run.  All reads of a variable see its
 * value from before the run, unless ordered behind an update (eddy_read under
 * eddy_control_begin, or the update's own output).  On an error, out is as it
 * was, and updates that had been made before the error stay.  May be called
 * from several threads: runs that update variables wait for the others. */
EDDY_API eddy_status eddy_run(eddy_session *s, eddy_feeds feeds, eddy_list fetches,
                              eddy_array **out);

/* One fetch, no feeds: the value as a new array; NULL on an error. */
EDDY_API eddy_array *eddy_fetch(eddy_session *s, eddy_tensor t);

/* A run with its feeds and fetches settled: for loops.  Belongs to the
 * session; free it before or let the session do it. */
typedef struct eddy_callable eddy_callable;
EDDY_API eddy_callable *eddy_callable_new(eddy_session *s, eddy_list feeds, eddy_list fetches);
EDDY_API eddy_status    eddy_callable_run(eddy_callable *c, const eddy_array *const *feeds,
                                          eddy_array **out);
EDDY_API void           eddy_callable_free(eddy_callable *c);

/* The value of a variable: NULL if it has none (UNINITIALIZED is not recorded).
 * The array is a copy, the caller's to free. */
EDDY_API eddy_array *eddy_variable_value(eddy_session *s, eddy_tensor variable);
EDDY_API eddy_status eddy_variable_set(eddy_session *s, eddy_tensor variable,
                                       const eddy_array *value);

/* Writes the variables (all global ones if list.count is 0) to one safetensors
 * file, atomically: a failure leaves the old file.  restore reads them back;
 * every listed variable must be in the file with its dtype and shape. */
EDDY_API eddy_status eddy_save(eddy_session *s, const char *path, eddy_list variables);
EDDY_API eddy_status eddy_restore(eddy_session *s, const char *path, eddy_list variables);

/* What the last compiled plan looks like. */
typedef struct eddy_plan_info {
    int     nodes;                /* in the graph's part that the run needs */
    int     instructions;         /* executed */
    int     folded;               /* computed while compiling */
    int     in_place;             /* results written over an operand */
    size_t  arena_bytes;          /* planned memory of temporaries */
    size_t  live_bytes;           /* the lower bound of it: most bytes alive at once */
    int     plans;                /* in the session's cache */
} eddy_plan_info;
EDDY_API eddy_plan_info eddy_session_plan_info(const eddy_session *s);

#ifdef __cplusplus
}
#endif
#endif
