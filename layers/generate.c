/* generate.c -- generation: a loop that carries the ids chosen so far and the state of the
 * model. */
#include "layers/generate.h"
#include "control/control.h"
#include "graph/internal.h"
#include "graph/call_options.h"
#include "layers/step_function.h"
#include "ops/short_names.h"

/* The carried values of the body: these and then the state. TABLE has the start_token in front of
 * the ids, and UNWRITTEN where there is none. */
enum { STEP, LAST, FINISHED, LENGTHS, TABLE, CARRIED, UNWRITTEN = -1 };

typedef struct generation {
    const eddy_generate_args *args;
    eddy_graph               *graph;
    eddy_step                 step;
} generation;

static eddy_tensor integer(eddy_graph *g, int64_t v)
{
    return eddy_const(g, EDDY_INT32, EDDY_SCALAR, &(int32_t){ (int32_t)v });
}

/* Any sequence can be continued. */
static int unfinished(eddy_list x, eddy_tensor *y, void *context)
{
    const generation *s = context;
    const eddy_tensor left = Less(x.at[STEP], integer(s->graph, s->args->steps));
    y[0] = LogicalAnd(left, LogicalNot(eddy_all(x.at[FINISHED])));
    return 1;
}

static eddy_tensor choose(const generation *s, eddy_tensor logits, eddy_tensor table)
{
    const eddy_generate_args *a = s->args;
    if (a->repetition_penalty != 1)
        logits = eddy_repetition_penalty(logits, table, a->repetition_penalty);
    return eddy_sample_logits(logits, a->temperature, a->top_k, a->top_p, a->min_p,
                              .seed = a->seed);
}

/* The table with x [batch] in a column. */
static eddy_tensor put_column(eddy_tensor table, eddy_tensor column, eddy_tensor x)
{
    const eddy_tensor at = Add(ExpandDims(ExpandDims(ZerosLike(x), 1), 2), column);
    return eddy_tensor_scatter_update(table, at, ExpandDims(x, 1), .batch_dims = 1);
}

static int add_id(eddy_list x, eddy_tensor *y, void *context)
{
    const generation *s = context;
    const int         n = s->args->initial_state.count;
    const eddy_tensor finished = x.at[FINISHED], next = Add(x.at[STEP], 1);
    eddy_tensor       in[EDDY_MAX_RESULTS], out[EDDY_MAX_RESULTS];
    in[0] = x.at[LAST];
    for (int k = 0; k < n; k++) in[k + 1] = x.at[CARRIED + k];
    if (!eddy__step_build(&s->step, in, out)) return 0;
    /* the logits of a finished sequence may be NaN, which is an error where they are chosen from */
    const eddy_tensor logits = Where(ExpandDims(finished, 1), 0, out[0]);
    eddy_tensor id = choose(s, logits, x.at[TABLE]);
    const eddy_tensor kept = Where(finished, UNWRITTEN, id);
    y[STEP] = next;
    y[TABLE] = put_column(x.at[TABLE], next, kept);
    y[LENGTHS] = Add(x.at[LENGTHS], Where(finished, NumberLike(0, id), 1));
    y[FINISHED] = finished;
    if (s->args->end_token != EDDY_OMITTED) {
        id = Where(finished, (double)s->args->end_token, id);
        y[FINISHED] = Equal(id, (double)s->args->end_token);
    }
    y[LAST] = id;
    for (int k = 0; k < n; k++) y[CARRIED + k] = out[k + 1];
    return CARRIED + n;
}

static eddy_generated run(generation *s)
{
    const eddy_generate_args *a = s->args;
    const int         n = a->initial_state.count;
    const eddy_tensor zero = ZerosLike(a->start_tokens), start = ExpandDims(a->start_tokens, 1);
    const eddy_tensor rest = Add(Add(ExpandDims(zero, 1), UNWRITTEN),
                                 eddy_zeros(s->graph, EDDY_INT32, EDDY_SHAPE(a->steps)));
    eddy_tensor x[EDDY_MAX_RESULTS] = { integer(s->graph, 0), a->start_tokens, NotEqual(zero, 0),
                                        zero, eddy_concat(EDDY_LIST(start, rest), 1) };
    eddy_tensor y[EDDY_MAX_RESULTS];
    for (int k = 0; k < n; k++) x[CARRIED + k] = a->initial_state.at[k];
    const eddy_function cond = { .build = unfinished, .context = s, .name = "generate" };
    const eddy_function body = { .build = add_id, .context = s, .name = "generate" };
    if (eddy_while_loop(cond, body, ((eddy_list){ CARRIED + n, x }), y,
                        .maximum_iterations = a->steps, .no_back_prop = true) != CARRIED + n)
        return (eddy_generated){ .ids = eddy_none(s->graph) };
    const bool        pads = a->pad_token != EDDY_OMITTED;
    const int64_t     pad = pads ? a->pad_token : a->end_token;
    const eddy_tensor ids = eddy_slice(y[TABLE], EDDY_DIMS(0, 1), EDDY_DIMS(-1, -1));
    return (eddy_generated){ .ids = Where(Equal(ids, UNWRITTEN), (double)pad, ids),
                             .lengths = y[LENGTHS] };
}

static bool check_args(eddy_graph *g, const eddy_generate_args *a)
{
    if (a->steps < 1 || a->steps >= INT32_MAX)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "generate: steps is %lld; it must be above 0 and fit "
                  "int32", (long long)a->steps);
    else if (a->pad_token < INT32_MIN || a->pad_token > INT32_MAX)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "generate: pad_token is %lld, which does not fit int32",
                  (long long)a->pad_token);
    return eddy__graph_ready(g);
}

eddy_generated eddy_generate_with(const eddy_generate_args *given)
{
    eddy_generate_args   a = EDDY_TAKE(eddy_generate_args, given);
    eddy_graph          *g = a.start_tokens.graph;
    const eddy_generated none = { .ids = eddy_none(g) };
    if (!eddy_is_valid(a.start_tokens)) return (void)eddy_identity(a.start_tokens), none;
    generation s = { .args = &a, .graph = g,
                     .step = { "generate", "batch", a.f, a.initial_state, a.start_tokens,
                               a.end_token, 0 } };
    if (!eddy__step_check(&s.step, EDDY_MAX_RESULTS - CARRIED) || !check_args(g, &a)) return none;
    eddy_scope_begin(g, a.name && *a.name ? a.name : "generate");
    const eddy_generated made = run(&s);
    eddy_scope_end(g);
    return eddy__graph_ready(g) ? made : none;
}
