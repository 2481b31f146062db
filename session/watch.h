/* watch.h -- watches: functions that a session calls with the values of tensors while it runs. */
#ifndef EDDY_WATCH_H
#define EDDY_WATCH_H

#include "session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A value that a watch has seen. */
typedef struct eddy_watched {
    eddy_tensor       tensor;
    int64_t           run;        /* how often the tensor was computed before, in all runs */
    const eddy_array *value;      /* valid during the call; eddy_array_copy keeps it */
    /* of the loop in whose body the tensor is, from 0; if the loop is in segments, in its segment;
     * a reverse loop counts down to 0. -1 elsewhere */
    int64_t           iteration;
} eddy_watched;

typedef struct eddy_watch_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_watch_args));
    eddy_session *session;
    eddy_tensor   tensor;
    bool        (*condition)(void *user, const eddy_watched *seen);  /* NULL: always */
    void        (*callback)(void *user, const eddy_watched *seen);
    void         *user;           /* passed to both */
} eddy_watch_args;

/* Calls `callback` in each run of the session that computes the tensor, as soon as it is computed,
 * if `condition` is true. A breakpoint in the callback stops a debugger there.
 *
 *   static bool is_large(void *user, const eddy_watched *seen)
 *   {
 *       return eddy_array_get(seen->value, 0) > *(double *)user;
 *   }
 *   double limit = 100;
 *   eddy_watch(s, loss, .condition = is_large, .callback = print_it, .user = &limit);
 *
 * A watch computes nothing that the run does not need; a tensor that is fed or constant counts as
 * computed. A run in which data decide shapes consists of several parts, and each part that
 * computes the tensor counts as a run here. The compiler does not rewrite a watched tensor, so a
 * watched run may take longer, and the last bits may differ.
 *
 * A tensor that was built in the body of a loop is seen in each iteration, and one of a branch each
 * time that the branch is taken, and not again where a gradient repeats it. Arguments of a body and
 * what only the condition of a loop computes are not seen, nor are evaluations (eddy_eval). The
 * functions are called in the thread of eddy_run, and must not use the session, as for eddy_print.
 *
 * Returns the number of the watch, 1 or more, for eddy_unwatch; 0 on an error, which is recorded on
 * the session: EDDY_INVALID_ARGUMENT for a tensor without a value or of another graph, or without a
 * callback; EDDY_NO_MEMORY. No run of the session may be in progress. Plans of the session are
 * compiled again. */
EDDY_API int  eddy_watch_with(const eddy_watch_args *given);
#define eddy_watch(...) eddy_watch_with(EDDY_ARGS(eddy_watch_args, __VA_ARGS__))
/* Ends the watch or the dump with this number; 0 ends all. Unknown numbers are ignored. */
EDDY_API void eddy_unwatch(eddy_session *s, int watch);

typedef struct eddy_dump_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_dump_args));
    eddy_session *session;
    eddy_tensor   tensor;
    const char   *folder EDDY_DEFAULT(".");   /* must exist */
    int64_t       every EDDY_DEFAULT(1);      /* times that the tensor is computed */
} eddy_dump_args;

/* Writes the value of the tensor each time that it is computed (in the body of a loop in each
 * iteration), or in every so many, to a file of its own in `folder`: "dense.MatMul.0-000012.npy" is
 * output 0 of 'dense/MatMul' for `run` 12 of eddy_watched. A slash in the name of the node becomes a
 * period. Everything else is as for eddy_watch. A file that cannot be written fails the run, with
 * the status of eddy_array_save. */
EDDY_API int eddy_dump_with(const eddy_dump_args *given);
#define eddy_dump(...) eddy_dump_with(EDDY_ARGS(eddy_dump_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
