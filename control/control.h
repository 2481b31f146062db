/* control.h -- branches and loops inside a graph: functions from tensors to tensors that a
 * session compiles once. Values in the run decide which branch runs and how many iterations a loop
 * has. Both have gradients of any order, like other operations.
 *
 * A branch or a body is an eddy_function. It is called once, while the graph is built, on tensors
 * that stand for its arguments, and what it builds becomes a graph of its own. Tensors and
 * variables from outside that it uses are captured; a variable has its value from before the
 * run. Random operations inside draw anew in each iteration; operations with side effects
 * (eddy_print, eddy_assert) run in each iteration, and only in the branch that is taken. Errors
 * in a run name the loop and the iteration.
 *
 * A body may update a variable (eddy_assign, eddy_scatter_add, an optimizer): a loop does so in
 * each iteration, a branch only if it is taken. In the body, the variable as a tensor has its value
 * from before the iteration, and eddy_read sees the updates on which it has a control dependency.
 * Outside, the variable changes when the loop is done, and the results of the loop wait for that.
 * The variable must have a value before the loop, and a run that fails leaves it unchanged. No
 * gradient flows through an update: the gradient with respect to the variable is that with respect
 * to its value in the first iteration. The condition of a loop must not update variables.
 *
 * Every function here returns the number of results, which it stores in `out` (room for
 * EDDY_MAX_RESULTS), or 0 with the error on the graph. */
#ifndef EDDY_CONTROL_H
#define EDDY_CONTROL_H

#include "../autodiff/functions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------- branches -- */

typedef struct eddy_cond_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_cond_args));
    eddy_tensor   pred;             /* bool scalar */
    eddy_function true_fn, false_fn;
    eddy_tensor  *out;
    eddy_list     x;                /* arguments of both; default none */
    const char   *name;             /* scope of the new nodes; default "cond" */
} eddy_cond_args;

/* true_fn's results if pred is true, else false_fn's: equally many, of equal dtypes. Only the
 * branch that is taken runs, and the gradient of the other is zero: unlike eddy_where, no NaN
 * comes from it.
 *
 *   eddy_cond(eddy_greater(x, zero), log_x, nothing, &y);
 *
 * Dimensions in which the branches differ are unknown. If a run does not know pred before it begins,
 * and the branches differ in shape or one does not fit the shapes, the node and what follows run in
 * a later stage; so does a loop around it (eddy_while_loop). Errors: a pred that is not a bool
 * scalar; results that differ in number or dtype. tf.cond. */
EDDY_API int eddy_cond_with(const eddy_cond_args *args);
#define eddy_cond(...) eddy_cond_with(EDDY_ARGS(eddy_cond_args, __VA_ARGS__))

typedef struct eddy_switch_case_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_switch_case_args));
    eddy_tensor          branch_index;   /* int32 scalar */
    const eddy_function *branches;
    int                  count;          /* of branches, at least 1 */
    eddy_tensor         *out;
    eddy_list            x;              /* arguments of all; default none */
    const char          *name;           /* default "switch_case" */
} eddy_switch_case_args;

/* The results of branches[branch_index]; of the last one if the index is out of range.
 *
 * eddy_vmap, if the index or pred depends on the example, runs all branches: an example that takes
 * a branch then stands in for those that do not. tf.switch_case. */
EDDY_API int eddy_switch_case_with(const eddy_switch_case_args *args);
#define eddy_switch_case(...) eddy_switch_case_with(EDDY_ARGS(eddy_switch_case_args, __VA_ARGS__))

typedef struct eddy_case_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_case_args));
    const eddy_tensor   *preds;          /* bool scalars */
    const eddy_function *fns;
    int                  count;          /* of both, at least 1 */
    eddy_tensor         *out;
    /* if no pred is true; without one (no build function) that is an error of the run */
    eddy_function        otherwise;
    bool                 exclusive;      /* more than one true pred is an error of the run */
    eddy_list            x;              /* arguments of all; default none */
    const char          *name;           /* default "case" */
} eddy_case_args;

/* The results of fns[i] for the first true preds[i]. tf.case, whose `default` is `otherwise`. */
EDDY_API int eddy_case_with(const eddy_case_args *args);
#define eddy_case(...) eddy_case_with(EDDY_ARGS(eddy_case_args, __VA_ARGS__))

/* ----------------------------------------------------------------- loops -- */

/* The values that the gradient of a loop of n iterations keeps. By default these are the values of
 * each iteration that the backward loop needs. A loop in segments keeps the loop variables before
 * each segment, and the backward loop runs the iterations of a segment again when it needs them.
 * All loops have both options: `.segment` is the number of iterations of a segment, and
 * `.recompute` chooses it.
 *
 *   eddy_scan(f, EDDY_LIST(rows), &y, EDDY_LIST(h), .recompute = EDDY_RECOMPUTE_SQRT);
 *   eddy_while_loop(cond, body, EDDY_LIST(x), &y, .segment = 1000);
 *
 * Values are those of the loop without segments, bit for bit, except in a loop that draws random
 * numbers: each body has seeds of its own, so other numbers are drawn than without segments.
 * Gradients of any order are equal except for the order of sums over the iterations. Variables are
 * updated once, and lines printed once; the iterations that run again repeat the random draws of
 * the first time. Errors name the iteration as if there were no segments.
 *
 * Each order of derivative multiplies the recomputation. In floating-point operations of one
 * forward pass of 4096 iterations of h = tanh(h W), the gradient and the second derivative by the
 * initial h take 2.05 and 4.2 without segments, 3.05 and 12.3 with EDDY_RECOMPUTE_SQRT, and 6.05
 * and 40.2 with EDDY_RECOMPUTE_LOG.
 *
 * If the number of rows is not known while the graph is built, a run fills them up to a multiple of
 * the segment. That copies all rows, and a few rows become those of a whole segment: with 2 rows
 * and segments of 100, fifty times as many. Give such rows their shape (eddy_set_shape), or a
 * .segment that is not much larger than the smallest number of rows.
 *
 * Errors: another value of recompute; a segment that is negative or above 2^31, or one with
 * EDDY_RECOMPUTE_LOG; more than EDDY_MAX_RESULTS loop variables and rows, or results, with up to
 * two that segments add; rows of rank EDDY_MAX_RANK (8), and stacked results of rank 7, because the
 * stacks of all segments, stacked again, would have rank 9 (EDDY_LIMIT). Chen et al., "Training
 * deep nets with sublinear memory cost", 2016; jax.checkpoint of the body of a scan. */
typedef enum eddy_recompute {
    EDDY_RECOMPUTE_NONE = 0,        /* without .segment: nothing is computed again */
    /* Segments of about sqrt(n) iterations: memory for 2 sqrt(n) of them, each of which runs twice.
     * If n is not known while the graph is built, a segment has 100. */
    EDDY_RECOMPUTE_SQRT = 1,
    /* Segments of segments, about eight in each: memory for 8 log_8(n) iterations, each of which
     * runs about 1 + log_8(n) times. If n is not known, the largest segments have 512. */
    EDDY_RECOMPUTE_LOG = 2
} eddy_recompute;

typedef struct eddy_while_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_while_args));
    eddy_function cond;             /* of the loop variables: a bool scalar */
    eddy_function body;             /* of the loop variables: their next values */
    eddy_list     loop_vars;        /* initial values, of any dtypes and shapes */
    eddy_tensor  *out;
    /* for each loop variable a shape that fits all its values, with EDDY_ANY where they may differ;
     * NULL: the static shapes of the initial values */
    const eddy_shape *shape_invariants;
    /* -1: no limit. Memory for the gradient is planned for this number of iterations up to 65536;
     * with a higher limit or none, it grows in the run */
    int64_t       maximum_iterations EDDY_DEFAULT(-1);
    int           parallel_iterations;  /* accepted, as in TensorFlow; changes nothing */
    bool          no_back_prop;         /* the results have no gradient */
    bool          swap_memory;          /* accepted; changes nothing */
    const char   *name;             /* default "while" */
    eddy_recompute recompute;       /* values kept for the gradient */
    int64_t       segment;          /* iterations of a segment; 0: as recompute says */
} eddy_while_args;

/* Repeats loop_vars = body(loop_vars) while cond(loop_vars) is true; the results are the final
 * values. A loop variable keeps its dtype, and its shape where the shape invariant is known: a body
 * that changes it, or an initial value that does not fit the invariant, is EDDY_BAD_SHAPE. A loop
 * whose shapes change, or in whose body they depend on the iteration, is not compiled: its body
 * runs node by node. Such a loop cannot wait for a side effect in the same run
 * (EDDY_UNIMPLEMENTED).
 *
 *   eddy_while_loop(below_ten, add_one, EDDY_LIST(zero), &y, .maximum_iterations = 100);
 *
 * tf.while_loop. */
EDDY_API int eddy_while_loop_with(const eddy_while_args *args);
#define eddy_while_loop(...) eddy_while_loop_with(EDDY_ARGS(eddy_while_args, __VA_ARGS__))

typedef struct eddy_iterate_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_iterate_args));
    int64_t       count;            /* iterations, at least 0 */
    eddy_function f;                /* of the values: as many values, of the same types */
    eddy_list     x;                /* initial values */
    eddy_tensor  *out;
    const char   *name;             /* default "iterate" */
    eddy_recompute recompute;       /* values kept for the gradient */
    int64_t       segment;          /* iterations of a segment; 0: as recompute says */
} eddy_iterate_args;

/* f applied `count` times: f(f(... f(x))). Like jax.lax.fori_loop, without the counter. */
EDDY_API int eddy_iterate_with(const eddy_iterate_args *args);
#define eddy_iterate(...) eddy_iterate_with(EDDY_ARGS(eddy_iterate_args, __VA_ARGS__))

typedef struct eddy_loop_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_loop_args));
    eddy_function f;
    eddy_list     carried;          /* initial values */
    eddy_list     rows;             /* tensors of which each iteration gets a row; equally long */
    eddy_tensor  *out;
    int64_t       count EDDY_DEFAULT(-1);   /* iterations, needed without rows */
    bool          reverse;          /* from the last row to the first */
    const char   *name;             /* default "loop" */
    eddy_tensor   iterations;       /* int32 or int64 scalar; default: all rows, or `count` */
    eddy_recompute recompute;       /* values kept for the gradient */
    int64_t       segment;          /* iterations of a segment; 0: as recompute says */
    const eddy_shape *shape_invariants;     /* of carried, as in eddy_while_loop; default NULL */
} eddy_loop_args;

/* The general loop: f gets the carried values and then one row (along axis 0) of each tensor in
 * `rows`, and returns the next carried values and then any number of values, which are stacked
 * along a new axis 0, each at the position of the row. The results are the final carried values
 * and the stacks. With `iterations`, a run takes that many of the first rows (none if it is
 * negative, at most all), and the other rows of stacks are 0. jax.lax.scan; ONNX's Scan. */
EDDY_API int eddy_loop_with(const eddy_loop_args *args);
#define eddy_loop(...) eddy_loop_with(EDDY_ARGS(eddy_loop_args, __VA_ARGS__))

typedef struct eddy_fold_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_fold_args));
    eddy_function f;                /* of the accumulators and a row of each elem */
    eddy_list     elems;            /* equally long along axis 0 */
    eddy_tensor  *out;
    eddy_list     initializer;      /* default: the first rows of elems */
    bool          reverse;
    int           parallel_iterations;  /* accepted; changes nothing */
    const char   *name;             /* default "scan", "foldl", "foldr" */
    eddy_recompute recompute;       /* values kept for the gradient */
    int64_t       segment;          /* iterations of a segment; 0: as recompute says */
    const eddy_shape *shape_invariants;     /* of the accumulators, as in eddy_while_loop */
    bool          no_back_prop;     /* the results have no gradient */
    bool          swap_memory;      /* accepted; changes nothing */
} eddy_fold_args;

/* The accumulators after each row, stacked: out[i] = f(out[i - 1], elems[i]). Without an
 * initializer the first result is elems[0]. tf.scan. */
EDDY_API int eddy_scan_with(const eddy_fold_args *args);
#define eddy_scan(...) eddy_scan_with(EDDY_ARGS(eddy_fold_args, __VA_ARGS__))

/* The accumulators after the last row only, from the first row to the last, or from the last to
 * the first. Only here may accumulators change their shape, since scan stacks them. tf.foldl,
 * tf.foldr. */
EDDY_API int eddy_foldl_with(const eddy_fold_args *args);
EDDY_API int eddy_foldr_with(const eddy_fold_args *args);
#define eddy_foldl(...) eddy_foldl_with(EDDY_ARGS(eddy_fold_args, __VA_ARGS__))
#define eddy_foldr(...) eddy_foldr_with(EDDY_ARGS(eddy_fold_args, __VA_ARGS__))

typedef struct eddy_map_fn_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_map_fn_args));
    eddy_function f;                /* of a row of each elem */
    eddy_list     elems;            /* equally long along axis 0 */
    eddy_tensor  *out;
    int           parallel_iterations;  /* accepted; changes nothing */
    const char   *name;             /* default "map" */
    eddy_recompute recompute;       /* values kept for the gradient */
    int64_t       segment;          /* iterations of a segment; 0: as recompute says */
    bool          no_back_prop;     /* the results have no gradient */
    bool          swap_memory;      /* accepted; changes nothing */
} eddy_map_fn_args;

/* f of each row, one after the other, and the results stacked. eddy_vmap (TensorFlow's
 * vectorized_map) computes all rows at once. tf.map_fn. */
EDDY_API int eddy_map_fn_with(const eddy_map_fn_args *args);
#define eddy_map_fn(...) eddy_map_fn_with(EDDY_ARGS(eddy_map_fn_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
