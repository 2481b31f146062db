/* running.c -- sessions that compile and run without enough memory: each pass, shapes that are new,
 * stages, callables, errors of runs, profiles, evaluation. */
#include "tests/torture/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A small network with everything that passes look for. */
static eddy_tensor network(eddy_tensor x)
{
    eddy_tensor h = eddy_conv2d_layer(x, 4, EDDY_DIMS(3, 3), .padding = "SAME",
                                      .activation = eddy_relu);
    h = eddy_reshape(h, EDDY_SHAPE(EDDY_ANY, 9, 4));
    h = eddy_transformer_block(h, 2, .pre_norm = true);
    h = eddy_gelu(eddy_dense(eddy_reshape(h, EDDY_SHAPE(EDDY_ANY, 36)), 6, "out"));
    h = eddy_add(eddy_mul(h, eddy_scalar(x.graph, 1)), eddy_log(eddy_softmax(h)));
    return eddy_mean(eddy_square(h));
}

static void *begin(int i)
{
    (void)i;
    fixture    *f = calloc(1, sizeof *f);
    eddy_graph *g = f->graph = eddy_graph_new(.seed = 3);
    f->x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 3, 3, 2));
    f->y = network(f->x);
    f->train = eddy_minimize(eddy_adam(g, eddy_scalar(g, 0.1)), f->y);
    f->init = eddy_initializer(g);
    f->value = numbers_in(EDDY_FLOAT32, EDDY_SHAPE(2, 3, 3, 2), -1, 1);
    f->larger = numbers_in(EDDY_FLOAT32, EDDY_SHAPE(5, 3, 3, 2), -1, 1);
    return f;
}

/* With a session whose variables have values, and a plan. */
static void *begin_run(int i)
{
    fixture *f = begin(i);
    f->session = eddy_session_new(f->graph, .threads = 1, .profile = true);
    eddy_run(f->session, EDDY_FEED(), EDDY_FETCH(f->init), NULL);
    eddy_run(f->session, EDDY_FEED({ f->x, f->value }), EDDY_FETCH(f->y), NULL);
    return f;
}

/* ------------------------------------------------------------------ passes -- */

static void one_pass(int i, void *state, outcome *o)
{
    const fixture *f = state;
    const unsigned without = i == EDDY_PASSES       ? 0
                             : i == EDDY_PASSES + 1 ? EDDY_PASSES_ALL
                                                    : EDDY_PASSES_ALL & ~(1u << i);
    eddy_session  *s = eddy_session_new(f->graph, without, .threads = i == EDDY_PASSES ? 2 : 1);
    run_and_add(o, s, EDDY_FEED(), EDDY_FETCH(f->init));
    if (o->status == EDDY_OK)
        run_and_add(o, s, EDDY_FEED({ f->x, f->value }), EDDY_FETCH(f->train, f->y));
    eddy_session_free(s);
}

static int         count_passes(void) { return EDDY_PASSES + 2; }
static const char *name_pass(int i)
{
    static char text[20];
    if (i < EDDY_PASSES) snprintf(text, sizeof text, "%d alone", i);
    else strcpy(text, i == EDDY_PASSES ? "all, two threads" : "none");
    return text;
}

/* ---------------------------------------------------------------- sessions -- */

static void run_again(int i, void *state, outcome *o)
{
    const fixture *f = state;
    (void)i;
    run_and_add(o, f->session, EDDY_FEED({ f->x, f->value }), EDDY_FETCH(f->y));
}

static void prepare(int i, void *state, outcome *o)
{
    const fixture *f = state;
    (void)i;
    const eddy_feeds feeds = EDDY_FEED({ f->x, f->larger });
    if (outcome_of_session(o, f->session, eddy_prepare(f->session, feeds, EDDY_FETCH(f->y))))
        run_and_add(o, f->session, feeds, EDDY_FETCH(f->y));
}

static void callable(int i, void *state, outcome *o)
{
    const fixture *f = state;
    eddy_array    *out[1] = { NULL };
    (void)i;
    eddy_callable *c = eddy_callable_new(f->session, EDDY_LIST(f->x), EDDY_LIST(f->y));
    if (!c) outcome_of(o, eddy_session_status(f->session), eddy_session_message(f->session));
    for (int k = 0; c && k < 2 && o->status == EDDY_OK; k++)
        outcome_of_session(o, f->session, eddy_callable_run(
            c, (const eddy_array *[]){ k ? f->larger : f->value }, out));
    if (o->status == EDDY_OK) outcome_add_array(o, out[0]);
    eddy_array_free(out[0]);
    eddy_callable_free(c);
}

static void variables(int i, void *state, outcome *o)
{
    const fixture    *f = state;
    const eddy_tensor v = eddy_collection_at(f->graph, EDDY_GLOBAL_VARIABLES, 0);
    (void)i;
    eddy_array *a = eddy_variable_value(f->session, v);
    if (!a) outcome_of(o, eddy_session_status(f->session), eddy_session_message(f->session));
    else outcome_of_session(o, f->session, eddy_variable_set(f->session, v, a));
    outcome_add_array(o, a);
    eddy_array_free(a);
}

/* The first bytes of a profile; its times differ. */
static void profile(int i, void *state, outcome *o)
{
    const fixture *f = state;
    FILE          *to = fopen("/dev/null", "w");
    (void)i;
    if (!to) outcome_of(o, EDDY_NO_MEMORY, "no stream");
    else {
        outcome_of_session(o, f->session, eddy_session_profile(f->session, to));
        if (o->status == EDDY_OK)
            outcome_of_session(o, f->session, eddy_session_profile_json(f->session, to));
        fclose(to);
    }
}

/* A run that must fail: with its own message, unless memory runs out before. */
static void must_fail(outcome *o, eddy_session *s, eddy_status got, eddy_status want)
{
    if (got == want) outcome_add_text(o, eddy_session_message(s));
    else outcome_of(o, got == EDDY_OK ? EDDY_INTERNAL : got, eddy_session_message(s));
}

static void failing_runs(int i, void *state, outcome *o)
{
    const fixture *f = state;
    (void)i;
    eddy_session *s = eddy_session_new(f->graph, .threads = 1, .max_bytes = 200);
    if (!s) {
        outcome_of(o, EDDY_NO_MEMORY, "no session");
        return;
    }
    must_fail(o, s, eddy_run(s, EDDY_FEED(), EDDY_FETCH(f->y), NULL), EDDY_NOT_FED);
    must_fail(o, s, eddy_run(s, EDDY_FEED({ f->x, f->value }), EDDY_FETCH(f->y), NULL), EDDY_LIMIT);
    must_fail(o, s, eddy_run(s, EDDY_FEED({ f->x, EDDY_NUMBER(EDDY_INT32, 1) }), EDDY_FETCH(f->y),
                             NULL), EDDY_BAD_DTYPE);
    eddy_session_free(s);
}

/* Plans for many shapes, of which few are kept. */
static void many_shapes(int i, void *state, outcome *o)
{
    const fixture *f = state;
    float          x[8 * 18] = { 1, 2, 3 };
    (void)i;
    eddy_session *s = eddy_session_new(f->graph, .threads = 1, .kept_bytes = 20000);
    run_and_add(o, s, EDDY_FEED(), EDDY_FETCH(f->init));
    for (int n = 1; n < 8 && o->status == EDDY_OK; n++)
        run_and_add(o, s, EDDY_FEED({ f->x, EDDY_VIEW(x, n, 3, 3, 2) }), EDDY_FETCH(f->y));
    eddy_session_free(s);
}

/* ------------------------------------------------------- values decide shapes -- */

static void *begin_stages(int i)
{
    (void)i;
    fixture *f = calloc(1, sizeof *f);
    f->graph = eddy_graph_new();
    f->x = eddy_placeholder(f->graph, "x", EDDY_FLOAT32, EDDY_SHAPE(6));
    f->y = eddy_gather(f->x, eddy_reshape(eddy_nonzero(f->x), EDDY_SHAPE(EDDY_ANY)));
    f->y = eddy_mul(eddy_sort(f->y), eddy_unique(f->x));
    f->value = numbers_in(EDDY_FLOAT32, EDDY_SHAPE(6), 1, 2);
    f->session = eddy_session_new(f->graph, .threads = 1);
    return f;
}

static void evaluate(int i, void *state, outcome *o)
{
    const fixture *f = state;
    (void)i;
    eddy_session *s = eddy_session_new(f->graph, .threads = 1);
    if (!s) {
        outcome_of(o, EDDY_NO_MEMORY, "no session");
        return;
    }
    if (outcome_of_session(o, s, eddy_eval_set_in(s, f->x, f->value))) {
        const eddy_array *a = eddy_eval_in(s, f->y);
        if (!a) outcome_of(o, eddy_session_status(s), eddy_session_message(s));
        outcome_add_array(o, a);
    }
    eddy_session_free(s);
}

/* --------------------------------------------------- functions that also run -- */

static void lbfgs(int i, void *state, outcome *o)
{
    eddy_lbfgs_report r = { 0 };
    (void)i, (void)state;
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   w = eddy_variable(g, eddy_number(g, EDDY_FLOAT64, 3), .name = "w");
    eddy_tensor   loss = eddy_square(eddy_sub(w, eddy_number(g, EDDY_FLOAT64, 1)));
    eddy_tensor   init = eddy_initializer(g);
    eddy_session *s = g ? eddy_session_new(g, .threads = 1) : NULL;
    if (outcome_of_graph(o, g)) run_and_add(o, s, EDDY_FEED(), EDDY_FETCH(init));
    if (o->status == EDDY_OK) {
        outcome_of(o, eddy_minimize_lbfgs(s, loss, .report = &r), r.message);
        outcome_add(o, &r.loss, sizeof r.loss);
    }
    eddy_session_free(s);
    eddy_graph_free(g);
}

/* Newton's method, and a bounded fit. */
static void fits(int i, void *state, outcome *o)
{
    eddy_newton_cg_report     r = { 0 };
    eddy_least_squares_report fit = { 0 };
    (void)i, (void)state;
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   w = eddy_variable(g, eddy_number(g, EDDY_FLOAT64, 3), .name = "w");
    eddy_tensor   off = eddy_sub(eddy_exp(w), eddy_number(g, EDDY_FLOAT64, 1));
    eddy_tensor   loss = eddy_square(off), init = eddy_initializer(g);
    eddy_tensor   least = eddy_number(g, EDDY_FLOAT64, 0.5);
    eddy_session *s = g ? eddy_session_new(g, .threads = 1) : NULL;
    if (outcome_of_graph(o, g)) run_and_add(o, s, EDDY_FEED(), EDDY_FETCH(init));
    if (o->status == EDDY_OK) {
        outcome_of(o, eddy_newton_cg(s, loss, .report = &r), r.message);
        outcome_add(o, &r.loss, sizeof r.loss);
    }
    if (o->status == EDDY_OK) {
        outcome_of(o, eddy_least_squares(s, EDDY_LIST(off), .lower = EDDY_LIST(least),
                                         .report = &fit), fit.message);
        outcome_add(o, &fit.loss, sizeof fit.loss);
    }
    eddy_session_free(s);
    eddy_graph_free(g);
}

static void gradient_check(int i, void *state, outcome *o)
{
    eddy_gradient_report r = { 0 };
    (void)i, (void)state;
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(3));
    eddy_tensor   y = eddy_sin(x);
    eddy_session *s = g ? eddy_session_new(g, .threads = 1) : NULL;
    if (!s) outcome_of(o, EDDY_NO_MEMORY, "no session");
    else {
        const double v[3] = { 0.5, 1, 2 };
        outcome_of(o, eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(x), .report = &r,
                                          .feeds = EDDY_FEED({ x, EDDY_VIEW(v, 3) })), r.text);
        eddy_string_free(r.text);
    }
    eddy_session_free(s);
    eddy_graph_free(g);
}

const scenarios running[] = {
    { .kind = "pass", .count = count_passes, .name = name_pass, .begin = begin,
      .act = one_pass, .end = fixture_end },
    { .kind = "a run with a plan", .begin = begin_run, .act = run_again, .end = fixture_end },
    { .kind = "eddy_prepare", .begin = begin_run, .act = prepare, .end = fixture_end },
    { .kind = "callable", .begin = begin_run, .act = callable, .end = fixture_end },
    { .kind = "variables", .begin = begin_run, .act = variables, .end = fixture_end },
    { .kind = "profile", .begin = begin_run, .act = profile, .end = fixture_end },
    { .kind = "errors of runs", .begin = begin, .act = failing_runs, .end = fixture_end },
    { .kind = "many shapes", .begin = begin, .act = many_shapes, .end = fixture_end },
    { .kind = "stages", .begin = begin_stages, .act = run_again, .end = fixture_end },
    { .kind = "evaluation", .begin = begin_stages, .act = evaluate, .end = fixture_end },
    { .kind = "L-BFGS", .act = lbfgs },
    { .kind = "Newton-CG and a fit", .act = fits },
    { .kind = "gradient check", .act = gradient_check },
    { .kind = NULL },
};
