/* plan_truth.c -- what runs of a random graph must give, and comparisons with it. */
#include "tests/lib/random_graphs/plan_truth.h"
#include "tests/lib/interpreter.h"
#include "graph/body.h"
#include "session/state/internal.h"

#include <math.h>
#include <stdlib.h>

/* --------------------------------------------------------------------- runs -- */

static void free_results(results *r)
{
    for (int k = 0; k < RUNS; k++) free_arrays(r->n, r->of[k]);
}

eddy_feeds feeds_of(const trial *t, eddy_array *const *array, eddy_feed *at)
{
    for (int i = 0; i < t->n; i++) at[i] = (eddy_feed){ t->tensor[i], array[i] };
    return (eddy_feeds){ t->n, at };
}

/* The feeds and fetches of one run, with the index of each fetch among those of the truth. */
typedef struct request {
    eddy_feed   feed[TRIAL_FEEDS];
    eddy_tensor fetch[FETCHES];
    int         which[FETCHES], n;
    eddy_feeds  feeds;
} request;

static void ask(const truth *t, int run, request *q)
{
    const bool second = run == 1 && t->n_second > 0;
    q->feeds = feeds_of(&t->g->t, second ? t->g->other : t->g->t.array, q->feed);
    q->n = second ? t->n_second : t->fetch.n;
    for (int i = 0; i < q->n; i++) {
        q->which[i] = second ? t->second[i] : i;
        q->fetch[i] = t->fetch.at[q->which[i]];
    }
}

static void check_plans(const eddy_session *s, const char *title)
{
    eddy_error e = { 0 };
    for (const eddy_plan *p = s->plans; p; p = p->next)
        ck_assert_msg(eddy__plan_check(p, &e), "%s: %s", title, e.message);
}

static eddy_array *copy_of(const eddy_array *a)
{
    return a ? eddy_array_copy_of(eddy_array_dtype(a), eddy_array_shape(a), eddy_array_data(a))
             : NULL;
}

/* All variables have their initial values before the first run, half of them others before
 * the last. */
static int set_before(const truth *t, int run)
{
    return run == 0 ? t->n_variables : run == RUNS - 1 ? t->n_variables / 2 : 0;
}

/* A value that is NaN, or a branch that is known only if constants are folded and that gives shapes
 * that others do not, after a side effect. */
static bool may_refuse(const eddy_session *s, eddy_status status)
{
    return (status == EDDY_CHECK_FAILED && s->options.check_numerics != 0) ||
           (status == EDDY_UNIMPLEMENTED && (s->options.without & EDDY_PASS_FOLD) &&
            strstr(eddy_session_message(s), "which has a side effect"));
}

/* out[i] is of fetch i: what a run leaves, the next with that fetch uses again. False if the
 * session may refuse the run, and does. */
static bool run_once(const truth *t, eddy_session *s, int run, eddy_array **out,
                     eddy_array **copies)
{
    request     q;
    eddy_array *some[FETCHES] = { NULL };
    ask(t, run, &q);
    for (int i = 0; i < q.n; i++) some[i] = out[q.which[i]];
    const eddy_status status = eddy_run(s, q.feeds, (eddy_list){ q.n, q.fetch }, some);
    const bool refused = may_refuse(s, status);
    ck_assert_msg(status == EDDY_OK || refused, "seed %u, without 0x%x: %s", t->g->seed,
                  s->options.without, eddy_session_message(s));
    for (int i = 0; i < q.n; i++) {
        out[q.which[i]] = some[i];
        if (!refused) copies[q.which[i]] = copy_of(some[i]);
    }
    return !refused;
}

static results run_session(const truth *t, eddy_session_args options)
{
    results     r = { .n = t->fetch.n + t->n_variables };
    eddy_array *out[FETCHES] = { NULL };
    options.graph = t->g->t.graph;
    options.size_ = sizeof options;
    options.kept_bytes = SIZE_MAX;
    options.run_stride = 1;
    eddy_session *s = eddy_session_new_with(&options);
    s->recompute_least = 1;         /* all that can be made again, however small */
    for (int k = 0; k < RUNS && !r.refused; k++) {
        for (int i = 0; i < set_before(t, k); i++)
            eddy_variable_set(s, t->variable[i], k == 0 ? t->initial[i] : t->later[i]);
        r.refused = !run_once(t, s, k, out, r.of[k]);
        for (int i = 0; i < t->n_variables; i++)
            r.of[k][t->fetch.n + i] = eddy_variable_value(s, t->variable[i]);
    }
    check_plans(s, t->fetch.title);
    free_arrays(t->fetch.n, out);
    eddy_session_free(s);
    return r;
}

static results run_plainly(const truth *t, uint64_t noise, double *largest)
{
    results     r = { .n = t->fetch.n + t->n_variables };
    eddy_error  e = { 0 };
    interpreter in = interpreter_begin(t->g->t.graph);
    in.noisy = noise > 0;
    in.random = noise;
    for (int k = 0; k < RUNS && !r.refused; k++) {
        for (int i = 0; i < set_before(t, k); i++)
            interpreter_set(&in, t->variable[i], k == 0 ? t->initial[i] : t->later[i]);
        request     q;
        eddy_array *out[FETCHES] = { NULL };
        ask(t, k, &q);
        const bool ok = interpreter_run(&in, q.feeds, (eddy_list){ q.n, q.fetch }, out, &e);
        ck_assert_msg(ok || noise > 0, "seed %u: %s", t->g->seed, e.message);
        r.refused = !ok;
        for (int i = 0; i < q.n; i++) r.of[k][q.which[i]] = out[i];
        largest[k] = in.largest;
        for (int i = 0; i < t->n_variables; i++)
            r.of[k][t->fetch.n + i] = copy_of(interpreter_variable(&in, t->variable[i]));
    }
    interpreter_end(&in);
    return r;
}

/* Whether the other feeds fit the operations that compute this fetch. EDDY_BAD_SHAPE if they do
 * not. Other errors do not matter: the interpreter has no loop variables of changing shape, and it
 * computes all inputs of an IdentityN, of which the session needs one. */
static eddy_status fits_otherwise(const truth *t, eddy_tensor fetch)
{
    eddy_feed   at[TRIAL_FEEDS];
    eddy_array *out = NULL;
    eddy_error  e = { 0 };
    interpreter in = interpreter_begin(t->g->t.graph);
    for (int i = 0; i < t->n_variables; i++) interpreter_set(&in, t->variable[i], t->initial[i]);
    const bool ok = interpreter_run(&in, feeds_of(&t->g->t, t->g->other, at), EDDY_LIST(fetch),
                                    &out, &e);
    eddy_array_free(out);
    interpreter_end(&in);
    return ok ? EDDY_OK : e.status;
}

/* A branch that is not taken need not fit the sizes, if its condition is known. */
static void check_refused(const truth *t, eddy_tensor fetch)
{
    for (int32_t id = 1; id <= fetch.node; id++)
        if (strcmp(eddy_type_of(eddy_node_at(t->g->t.graph, id)), "Case") == 0) return;
    eddy_feed     at[TRIAL_FEEDS];
    eddy_session *s = eddy_session_new(t->g->t.graph, .threads = 1);
    for (int i = 0; i < t->n_variables; i++) eddy_variable_set(s, t->variable[i], t->initial[i]);
    ck_assert_msg(eddy_run(s, feeds_of(&t->g->t, t->g->other, at), EDDY_FETCH(fetch), NULL) !=
                  EDDY_OK, "seed %u: '%s' of other sizes", t->g->seed, eddy_name_of(fetch));
    eddy_session_free(s);
}

/* Whether a loop or branch draws random numbers: the interpreter draws those of results that
 * nothing asks for, too. */
static bool draws_in_bodies(const eddy_graph *g, bool inside)
{
    for (int32_t id = 1; id <= g->size; id++) {
        const eddy_node *node = g->nodes[id];
        if (inside && (node->op->flags & EDDY_OP_STATEFUL)) return true;
        if ((node->op->flags & EDDY_OP_BODY) && draws_in_bodies(eddy__body_of(node), true))
            return true;
    }
    return false;
}

static void choose_second(truth *t)
{
    for (int i = 0; t->g->open && i < t->fetch.n; i++) {
        const eddy_status fits = fits_otherwise(t, t->fetch.at[i]);
        if (fits == EDDY_OK) t->second[t->n_second++] = i;
        else if (fits == EDDY_BAD_SHAPE) check_refused(t, t->fetch.at[i]);
    }
    if (t->n_second < t->fetch.n && draws_in_bodies(t->g->t.graph, false)) t->n_second = 0;
}

/* ---------------------------------------------------------------- comparing -- */

static bool same_type(const eddy_array *a, const eddy_array *b)
{
    if (!a || !b) return a == b;
    return eddy_array_dtype(a) == eddy_array_dtype(b) &&
           eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(b));
}

/* Two numbers that are both no number, or the same, have no distance. */
static double distance(double x, double y)
{
    if (x == y || (isnan(x) && isnan(y))) return 0;
    return isfinite(x) && isfinite(y) ? fabs(x - y) : INFINITY;
}

static double largest_distance(const eddy_array *a, const eddy_array *b)
{
    double most = 0;
    for (int64_t i = 0; a && i < eddy_array_count(a); i++)
        most = fmax(most, distance(eddy_array_get(a, i), eddy_array_get(b, i)));
    return most;
}

/* The first element that is off by more; -1: none. */
static int64_t first_wrong(const eddy_array *a, const eddy_array *b, double tolerance, bool bits)
{
    for (int64_t i = 0; a && i < eddy_array_count(a); i++) {
        const double x = eddy_array_get(a, i), y = eddy_array_get(b, i);
        if (bits && x == 0 && y == 0 && signbit(x) != signbit(y)) return i;
        if (distance(x, y) > (bits ? 0 : tolerance)) return i;
    }
    return -1;
}

static bool is_float(const eddy_array *a)
{
    return a && eddy_dtype_is_floating(eddy_array_dtype(a));
}

/* From the runs with noise. A result that is off by much, or by anything unless it is a floating
 * number, says nothing, and nor does one that is refused: noise may change a label. */
static void settle_tolerance(truth *t, int run, int i, const results *noisy, double largest)
{
    const eddy_array *a = t->plain.of[run][i];
    const double unit = a && eddy_array_dtype(a) == EDDY_FLOAT32 ? 0x1p-20 : 0x1p-40;
    double most = 0;
    for (int k = 0; k < NOISES; k++)
        most = noisy[k].refused ? INFINITY
                                : fmax(most, largest_distance(a, noisy[k].of[run][i]));
    double *tolerance = &t->tolerance[run][i];
    if (!is_float(a)) *tolerance = most > 0 ? INFINITY : 0;
    else *tolerance = 4 * most + unit * fmax(1, fmin(largest, 100));
    if (*tolerance > 0.01 * fmax(1, fmin(largest, 100))) *tolerance = INFINITY;
}

static void find_truth(truth *t)
{
    double  largest[RUNS], ignored[RUNS];
    results noisy[NOISES];
    t->plain = run_plainly(t, 0, largest);
    for (int k = 0; k < NOISES; k++) noisy[k] = run_plainly(t, (uint64_t)k + 1, ignored);
    for (int run = 0; run < RUNS; run++)
        for (int i = 0; i < t->plain.n; i++) {
            settle_tolerance(t, run, i, noisy, largest[run]);
            t->compared++;
            t->unsure += t->tolerance[run][i] > 1e300;
        }
    for (int k = 0; k < NOISES; k++) free_results(&noisy[k]);
}

/* -------------------------------------------------------------------- a graph -- */

static const char *pass_names(unsigned mask, char *text, size_t size)
{
    static const char *const names[] = {
        "fold", "merge", "simplify", "stabilize", "patterns", "products", "epilogues", "schedule",
        "fuse", "in_place", "reuse", "chains", "recompute", "hoist", "parallel" };
    size_t at = (size_t)snprintf(text, size, "without");
    for (int i = 0; i < EDDY_PASSES; i++)
        if (mask >> i & 1 && at < size)
            at += (size_t)snprintf(text + at, size - at, " %s", names[i]);
    return text;
}

static void describe(const truth *t, const way *w, int run, int i, const eddy_array *want,
                     const eddy_array *got, int64_t at, char *why, size_t size)
{
    char              names[200];
    const bool        fetched = i < t->fetch.n;
    const eddy_tensor x = fetched ? t->fetch.at[i] : t->variable[i - t->fetch.n];
    snprintf(why, size, "seed %u, %s, %d threads%s: run %d, %s '%s' (%s), element %lld is %.17g, "
             "not %.17g%s", t->g->seed, pass_names(w->options.without, names, sizeof names),
             w->options.threads, w->options.deterministic ? " deterministic" : "", run,
             fetched ? "fetch" : "variable", eddy_name_of(x), eddy_type_of(x), (long long)at,
             got ? eddy_array_get(got, at) : 0, want ? eddy_array_get(want, at) : 0,
             w->bits ? ", to the bit" : "");
}


/* Whether there are numbers where the plain way has none, and nothing else is off, because of the
 * pass that loses no digits: without it, w agrees. */
static bool is_safer(const truth *t, const way *w, const eddy_array *a, const eddy_array *b,
                     double tolerance)
{
    char why[600];
    way  plain = *w;
    plain.options.without |= EDDY_PASS_STABILIZE;
    if (w->bits || w->against || plain.options.without == w->options.without) return false;
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const double x = eddy_array_get(a, i), y = eddy_array_get(b, i);
        if (distance(x, y) > tolerance && (isfinite(x) || !isfinite(y))) return false;
    }
    return agrees(t, &plain, why, sizeof why);
}

/* False, with a sentence, if w gives something else. */
bool agrees(const truth *t, const way *w, char *why, size_t size)
{
    bool    ok = true;
    results got = run_session(t, w->options);
    results other = w->against ? run_session(t, *w->against) : (results){ 0 };
    const results *want = w->against ? &other : &t->plain;
    for (int run = 0; ok && run < RUNS && !got.refused; run++)
        for (int i = 0; ok && i < got.n; i++) {
            const eddy_array *a = want->of[run][i], *b = got.of[run][i];
            int64_t           at = 0;
            ok = same_type(a, b);
            if (ok) at = first_wrong(a, b, t->tolerance[run][i], w->bits);
            if (ok && (at < 0 || is_safer(t, w, a, b, t->tolerance[run][i]))) continue;
            describe(t, w, run, i, a, b, at, why, size);
            ok = false;
        }
    free_results(&got);
    free_results(&other);
    return ok;
}

static eddy_array *backwards(const eddy_array *a)
{
    eddy_array   *b = eddy_array_new(eddy_array_dtype(a), eddy_array_shape(a));
    const int64_t n = eddy_array_count(a);
    for (int64_t i = 0; i < n; i++) eddy_array_set(b, i, eddy_array_get(a, n - 1 - i));
    return b;
}

static void list_variables(truth *t)
{
    eddy_graph *g = t->g->t.graph;
    eddy_session *s = eddy_session_new(g, .without = EDDY_PASSES_ALL, .threads = 1);
    t->n_variables = eddy_collection_size(g, EDDY_GLOBAL_VARIABLES);
    ck_assert_int_le(t->n_variables, VARIABLES);
    if (t->n_variables > 0 &&
        eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) != EDDY_OK)
        ck_abort_msg("seed %u: %s", t->g->seed, eddy_session_message(s));
    for (int i = 0; i < t->n_variables; i++) {
        t->variable[i] = eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i);
        t->initial[i] = eddy_variable_value(s, t->variable[i]);
        t->later[i] = backwards(t->initial[i]);
    }
    eddy_session_free(s);
}

truth truth_of(random_graph *g, const fetches *f)
{
    truth t = { .g = g, .fetch = *f };
    list_variables(&t);
    choose_second(&t);
    find_truth(&t);
    return t;
}

void free_truth(truth *t)
{
    free_results(&t->plain);
    free_arrays(t->n_variables, t->initial);
    free_arrays(t->n_variables, t->later);
}
