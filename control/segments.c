/* segments.c -- loops in segments, whose gradients recompute instead of keeping.
 *
 * The loop becomes an outer loop over segments, and the iterations of a segment a loop in its body.
 * A backward loop runs a loop inside the body again and keeps only its inputs (loop_gradient.c). So
 * the gradient keeps the carried values before each segment, and what it needs of the iterations of
 * one segment. The logarithmic scheme divides the segments likewise.
 *
 * Rows [n, ...] become segments [m, k, ...], the last one filled up if k does not divide n. The
 * outer loop then carries the number of the first iteration of a segment, from which follows how
 * many iterations the segment has. A loop with a condition carries whether the last segment ran all
 * of its iterations, so the condition is computed as often as without segments. */
#include "control/segments.h"
#include "control/internal.h"
#include "ops/ops.h"
#include "ops/short_names.h"

static eddy_tensor integer(eddy_graph *g, int64_t v)
{
    return eddy_const(g, EDDY_INT64, EDDY_SCALAR, &v);
}

static int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b > 0); }

static int build(eddy_graph *g, const loop_spec *s, eddy_tensor *out, eddy_tensor *full);

/* The carried values behind those of the call. */
static int n_more(const segments *s) { return s->partial + (s->of->cond != NULL); }

static bool fits(const segments *s, const char *what, int n)
{
    if (n <= EDDY_MAX_RESULTS) return true;
    eddy_fail(s->graph, EDDY_LIMIT, "%s: a segment has %d %s; the limit is %d", s->of->what, n,
              what, EDDY_MAX_RESULTS);
    return false;
}

/* The iterations of the segment that begins with iteration `first`. */
static eddy_tensor length_from(const segments *s, eddy_tensor first)
{
    eddy_scope_begin(s->graph, "segments");
    const eddy_tensor left = eddy_sub(s->total, first);
    const eddy_tensor n = eddy_minimum(integer(s->graph, s->k), left);
    eddy_scope_end(s->graph);
    return n;
}

/* The body of the outer loop. x: the carried values of the call; the number of the first iteration,
 * if `partial`; whether the last segment was full, if there is a condition; rows. */
static int run_segment(eddy_list x, eddy_tensor *y, void *context)
{
    const segments   *s = context;
    const loop_spec  *of = s->of;
    const int         c = of->carried.count;
    const eddy_tensor first = s->partial ? x.at[c] : eddy_none(s->graph);
    loop_spec         inner = *of;
    eddy_tensor       results[2 * EDDY_MAX_RESULTS], full;
    inner.carried = (eddy_list){ c, x.at };
    inner.rows = (eddy_list){ of->rows.count, x.at + c + n_more(s) };
    inner.trips = of->rows.count > 0 ? -1 : s->k;
    inner.length = s->k;
    inner.only_stacks = false;
    inner.segment = 0;
    if (of->recompute != EDDY_RECOMPUTE_LOG) inner.recompute = EDDY_RECOMPUTE_NONE;
    inner.count = s->partial ? length_from(s, first) : eddy_none(s->graph);
    const int n = build(s->graph, &inner, results, &full);
    int       at = 0;
    if (n == 0 || !fits(s, "results", n + n_more(s))) return 0;
    for (int j = 0; j < c; j++) y[at++] = results[j];
    if (s->partial) y[at++] = eddy_add(first, integer(s->graph, of->reverse ? -s->k : s->k));
    if (of->cond) y[at++] = full;
    for (int j = c; j < n; j++) y[at++] = results[j];
    return at;
}

static int goes_on(eddy_list x, eddy_tensor *y, void *context)
{
    const segments *s = context;
    y[0] = x.at[s->of->carried.count + s->partial];
    return 1;
}

static eddy_tensor first_iteration(const segments *s)
{
    eddy_graph       *g = s->graph;
    const eddy_tensor k = integer(g, s->k);
    return s->of->reverse ? eddy_mul(eddy_floordiv(eddy_sub(s->total, integer(g, 1)), k), k)
                          : integer(g, 0);
}

/* Of a loop that has a count; it may be negative. */
static eddy_tensor number_of_segments(const segments *s)
{
    const eddy_tensor more = eddy_add(s->of->count, integer(s->graph, s->k - 1));
    return eddy_floordiv(more, integer(s->graph, s->k));
}

static bool begin(segments *s)
{
    const loop_spec *of = s->of;
    const bool       open = !eddy_is_valid(of->count) && eddy__segments_open(s);
    s->m = s->n < 0 ? EDDY_ANY : divide_up(s->n, s->k);
    s->partial = open || eddy_is_valid(of->count) || (s->n >= 0 && s->n % s->k > 0);
    if (eddy_is_valid(of->count)) s->total = of->count;
    else if (s->partial)
        s->total = of->rows.count > 0 ? eddy__segments_rows(s) : integer(s->graph, s->n);
    return fits(s, "arguments", of->carried.count + of->rows.count + n_more(s));
}

/* The results of the call, from those of the outer loop. */
static int finish(const segments *s, int n, const eddy_tensor *y, eddy_tensor *out,
                  eddy_tensor *full)
{
    const int c = s->of->carried.count, stacks = c + n_more(s);
    int       at = 0;
    if (full && s->of->cond) *full = y[c + s->partial];
    for (int j = 0; j < c && !s->of->only_stacks; j++) out[at++] = y[j];
    for (int j = stacks; j < n; j++) out[at++] = eddy__segments_join(s, y[j]);
    return eddy__graph_ready(s->graph) ? at : 0;
}

/* The inputs of the outer loop. */
typedef struct outer_inputs {
    eddy_tensor carried[EDDY_MAX_RESULTS], rows[EDDY_MAX_RESULTS], count;
    eddy_shape  shapes[EDDY_MAX_RESULTS];
} outer_inputs;

static bool make_inputs(segments *s, outer_inputs *in)
{
    const loop_spec *of = s->of;
    const int        c = of->carried.count;
    if (!begin(s)) return false;
    for (int j = 0; j < c + n_more(s); j++) {
        if (j < c) in->carried[j] = of->carried.at[j];
        else if (j == c && s->partial) in->carried[j] = first_iteration(s);
        else in->carried[j] = eddy_number(s->graph, EDDY_BOOL, 1);
        in->shapes[j] = j < c && of->invariants ? of->invariants[j] : eddy_shape_of(in->carried[j]);
    }
    for (int i = 0; i < of->rows.count; i++) in->rows[i] = eddy__segments_split(s, of->rows.at[i]);
    in->count = eddy_is_valid(of->count) ? number_of_segments(s) : eddy_none(s->graph);
    return eddy__graph_ready(s->graph);
}

/* Helping nodes have a scope of their own, so that those of the body have the names that they would
 * have without segments. */
static int build_segments(segments *s, eddy_tensor *out, eddy_tensor *full)
{
    const loop_spec    *of = s->of;
    const eddy_function body = { .build = run_segment, .context = s };
    const eddy_function cond = { .build = goes_on, .context = s };
    eddy_tensor         y[EDDY_MAX_RESULTS];
    outer_inputs        in;
    eddy_scope_begin(s->graph, "segments");
    const bool ok = make_inputs(s, &in);
    eddy_scope_end(s->graph);
    if (!ok) return 0;
    const loop_spec outer = {
        .what = of->what, .cond = of->cond ? &cond : NULL, .body = &body,
        .carried = { of->carried.count + n_more(s), in.carried },
        .rows = { of->rows.count, in.rows }, .invariants = in.shapes,
        .trips = of->rows.count > 0 ? -1 : s->m, .reverse = of->reverse, .n_stacked = -1,
        .count = in.count, .segmented = true,
    };
    const int n = eddy__loop_build(s->graph, &outer, y);
    return n > 0 ? finish(s, n, y, out, full) : 0;
}

/* *full: the loop, which has a condition and a limit, ran that many iterations. */
static int build(eddy_graph *g, const loop_spec *s, eddy_tensor *out, eddy_tensor *full)
{
    const int64_t n = eddy__segments_iterations(s);
    segments      parts = { .graph = g, .of = s, .n = n, .k = eddy__segments_length(s, n) };
    if (parts.k > 0) return build_segments(&parts, out, full);
    loop_spec   whole = *s;
    eddy_tensor ran;
    whole.ran = &ran;
    const int results = eddy__loop_build(g, &whole, out);
    if (full && s->cond && results > 0) *full = eddy_equal(ran, integer(g, n));
    return results;
}

int eddy__segments_build(eddy_graph *g, const loop_spec *s, eddy_tensor *out)
{
    return eddy__segments_check(g, s) ? build(g, s, out, NULL) : 0;
}
