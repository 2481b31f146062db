/* beam_search.c -- beam search: a loop over the steps that keeps the best beams, and a loop back
 * from the last step that follows each beam to its beginning. */
#include "layers/beam_search.h"
#include "autodiff/internal.h"
#include "control/control.h"
#include "graph/internal.h"
#include "graph/call_options.h"
#include "layers/step_function.h"
#include "ops/short_names.h"

#include <math.h>

/* The carried values of the body: these and then the state. */
enum { IDS, LOG_PROBS, SCORES, FINISHED, LENGTHS, CARRIED };

typedef struct search {
    const eddy_beam_search_args *args;
    eddy_graph                  *graph;
    eddy_step                    step;
    eddy_tensor                  first;     /* int32 [batch, 1]: the number of an example's first
                                             * beam among all beams */
    int64_t                      classes;
} search;

static eddy_tensor flat(eddy_tensor x) { return eddy_reshape(x, EDDY_SHAPE(-1)); }

/* [classes]: one value for the end_token, and one for all other classes. */
static eddy_tensor by_class(const search *s, double of_end, double of_others, eddy_dtype dtype)
{
    const eddy_tensor end = eddy_const(s->graph, EDDY_INT32, EDDY_SCALAR,
                                       &(int32_t){ (int32_t)s->args->end_token });
    return eddy_one_hot(end, s->classes, of_end, of_others, .dtype = dtype);
}

/* -------------------------------------------------------------------- step -- */

/* log softmax(logits) as [batch, beams, classes]; a finished beam has only its end_token. */
static eddy_tensor log_probs_of(const search *s, eddy_tensor logits, eddy_tensor finished)
{
    const eddy_tensor only_end = by_class(s, 0, -(double)INFINITY, s->args->dtype);
    const eddy_tensor p = eddy_reshape(LogSoftmax(logits),
                                       EDDY_SHAPE(-1, s->args->beam_width, s->classes));
    return Where(ExpandDims(finished, 2), only_end, p);
}

/* Sums of log probabilities by the penalty for their lengths [batch, beams, classes]. */
static eddy_tensor penalized(const search *s, eddy_tensor sums, eddy_tensor lengths)
{
    const double weight = s->args->length_penalty_weight;
    if (weight == 0) return sums;
    return Div(sums, Pow(Div(Add(Cast(lengths, s->args->dtype), 5), 6), weight));
}

/* The lengths of all extensions: an id makes an unfinished sequence longer; its end_token does,
 * too, but not for the score, as in TensorFlow. */
static eddy_tensor extended(const search *s, eddy_tensor lengths, eddy_tensor finished)
{
    const eddy_tensor one = by_class(s, 0, 1, EDDY_INT32);
    return Add(ExpandDims(lengths, 2), Where(ExpandDims(finished, 2), 0, one));
}

static eddy_tensor of_beams(eddy_tensor x, eddy_tensor beams)
{
    return Gather(x, beams, .axis = 1, .batch_dims = 1);
}

/* From the beams to the best ones of their extensions; stacks the ids and where they come from. */
static int step(eddy_list x, eddy_tensor *y, void *context)
{
    search           *s = context;
    const int         n = s->args->initial_state.count;
    eddy_tensor       in[EDDY_MAX_RESULTS], out[EDDY_MAX_RESULTS];
    const eddy_tensor finished = x.at[FINISHED], lengths = x.at[LENGTHS];
    in[0] = flat(x.at[IDS]);
    for (int k = 0; k < n; k++) in[k + 1] = x.at[CARRIED + k];
    s->classes = eddy__step_build(&s->step, in, out);
    if (s->classes < 1) return 0;

    const eddy_shape all = EDDY_SHAPE(-1, s->args->beam_width * s->classes);
    eddy_tensor sums = Add(ExpandDims(x.at[LOG_PROBS], 2), log_probs_of(s, out[0], finished));
    eddy_tensor scores = penalized(s, sums, extended(s, lengths, finished));
    eddy_tensor best = eddy_top_k(eddy_reshape(scores, all), s->args->beam_width);
    eddy_tensor at = eddy_output(best, 1);
    eddy_tensor ids = FloorMod(at, (double)s->classes), beams = FloorDiv(at, (double)s->classes);
    eddy_tensor was = of_beams(finished, beams);
    y[IDS] = ids;
    y[LOG_PROBS] = of_beams(eddy_reshape(sums, all), at);
    y[SCORES] = best;
    y[FINISHED] = eddy_logical_or(was, Equal(ids, (double)s->args->end_token));
    y[LENGTHS] = Add(of_beams(lengths, beams), Where(was, NumberLike(0, ids), 1));
    eddy_tensor rows = flat(Add(beams, s->first));
    for (int k = 0; k < n; k++) y[CARRIED + k] = Gather(out[k + 1], rows);
    y[CARRIED + n] = ids;
    y[CARRIED + n + 1] = beams;
    return CARRIED + n + 2;
}

/* Backwards: the number of a beam, and its id and origin in a step. */
static int follow(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = of_beams(x.at[2], x.at[0]);
    y[1] = of_beams(x.at[1], x.at[0]);
    return 2;
}

/* ------------------------------------------------------------------ search -- */

/* The carried values of the first step: all beams of an example except one are impossible. */
static void begin(search *s, eddy_tensor *carried)
{
    const eddy_beam_search_args *a = s->args;
    const int64_t     k = a->beam_width;
    const eddy_tensor zero = ExpandDims(ZerosLike(a->start_tokens), 1);
    const eddy_tensor zeros = Add(zero, eddy_zeros(s->graph, EDDY_INT32, EDDY_SHAPE(1, k)));
    const eddy_tensor example = eddy_cumsum(OnesLike(zero), 0, .exclusive = true);
    const eddy_tensor none = eddy_const(s->graph, EDDY_INT32, EDDY_SCALAR, &(int32_t){ 0 });
    eddy_tensor only = eddy_one_hot(none, k, 0, -(double)INFINITY, .dtype = a->dtype);
    s->first = Mul(example, (double)k);
    carried[IDS] = Add(zeros, ExpandDims(a->start_tokens, 1));
    carried[LOG_PROBS] = carried[SCORES] = Add(Cast(zeros, a->dtype), only);
    carried[FINISHED] = NotEqual(zeros, 0);
    carried[LENGTHS] = zeros;
    const eddy_tensor rows = flat(Add(zeros, example));
    for (int i = 0; i < a->initial_state.count; i++)
        carried[CARRIED + i] = Gather(a->initial_state.at[i], rows);
}

static eddy_beams run(search *s)
{
    const eddy_beam_search_args *a = s->args;
    const int     n = a->initial_state.count;
    eddy_tensor   carried[EDDY_MAX_RESULTS], out[EDDY_MAX_RESULTS], path[2];
    eddy_function body = { .build = step, .context = s, .name = "beam search" };
    eddy_function back = { .build = follow, .name = "beam search" };
    begin(s, carried);
    if (eddy_loop(body, ((eddy_list){ CARRIED + n, carried }), EDDY_LIST(), out, a->steps)
        != CARRIED + n + 2)
        return (eddy_beams){ .ids = eddy_none(s->graph) };
    eddy_tensor number = eddy_cumsum(OnesLike(out[IDS]), 1, .exclusive = true);
    eddy_tensor ids = out[CARRIED + n], beams = out[CARRIED + n + 1];
    if (eddy_loop(back, EDDY_LIST(number), EDDY_LIST(ids, beams), path, .reverse = true) != 2)
        return (eddy_beams){ .ids = eddy_none(s->graph) };
    return (eddy_beams){ .ids = eddy_transpose(path[1], EDDY_DIMS(1, 2, 0)),
                         .lengths = out[LENGTHS], .log_probs = out[LOG_PROBS],
                         .scores = out[SCORES] };
}

static bool check_args(eddy_graph *g, const eddy_beam_search_args *a)
{
    if (a->beam_width < 1 || a->steps < 1 || a->beam_width > INT32_MAX)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "beam_search: beam_width is %lld and steps %lld; both must be above 0",
                  (long long)a->beam_width, (long long)a->steps);
    else if (!isfinite(a->length_penalty_weight))
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "beam_search: length_penalty_weight is %g; it must be finite",
                  a->length_penalty_weight);
    return eddy__graph_ready(g);
}

eddy_beams eddy_beam_search_with(const eddy_beam_search_args *given)
{
    eddy_beam_search_args a = EDDY_TAKE(eddy_beam_search_args, given);
    eddy_graph           *g = a.start_tokens.graph;
    eddy_beams            none = { .ids = eddy_none(g) };
    if (!a.dtype) a.dtype = EDDY_FLOAT32;
    if (!eddy_is_valid(a.start_tokens)) return (void)eddy_identity(a.start_tokens), none;
    search s = { .args = &a, .graph = g,
                 .step = { "beam_search", "batch * beam_width", a.f, a.initial_state,
                           a.start_tokens, a.end_token == EDDY_OMITTED ? -1 : a.end_token,
                           a.dtype } };
    if (!eddy__step_check(&s.step, EDDY_MAX_RESULTS - CARRIED - 2) || !check_args(g, &a))
        return none;
    eddy_scope_begin(g, a.name && *a.name ? a.name : "beam_search");
    const eddy_beams found = run(&s);
    eddy_scope_end(g);
    return eddy__graph_ready(g) ? found : none;
}
