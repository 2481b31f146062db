/* apply_if_finite.c -- steps with a gradient that is infinite or NaN are skipped, and a line says
 * so. */
#include "control/control.h"
#include "graph/call_options.h"
#include "optim/wrappers/finite_step.h"
#include "ops/short_names.h"

#include <stdio.h>

typedef struct guard_state {
    eddy_optimizer  *inner;
    bool             quiet;
    void           (*write)(void *user, const char *line);
    void            *user;
    eddy_finite_step step;
    eddy_tensor      reports;      /* the last of them, each of which waits for the one before */
} guard_state;

static void guard_prepare(eddy_optimizer *o)
{
    guard_state *s = eddy_optimizer_state(o);
    eddy__finite_begin(&s->step, o->graph);
    s->reports = eddy_none(o->graph);
    eddy__inner_prepare(s->inner);
}

/* ----------------------------------------------------------------- reports -- */

typedef struct report {
    const guard_state *guard;
    const char        *line;
    eddy_tensor        gradient, fine;
} report;

static int write_line(eddy_list x, eddy_tensor *y, void *context)
{
    const report *r = context;
    (void)x;
    eddy_tensor bad = Sum(eddy_cast(LogicalNot(IsFinite(r->gradient)), EDDY_INT64));
    y[0] = eddy_print(r->fine, .data = EDDY_LIST(bad), .message = r->line,
                      .write = r->guard->write, .user = r->guard->user);
    return 1;
}

static int write_nothing(eddy_list x, eddy_tensor *y, void *context)
{
    const report *r = context;
    (void)x;
    y[0] = Identity(r->fine);
    return 1;
}

/* Writes a line if this gradient is the first that is not finite. */
static void watch(eddy_optimizer *o, eddy_tensor gradient, eddy_tensor v)
{
    guard_state      *s = eddy_optimizer_state(o);
    const eddy_tensor before = s->step.finite, fine = eddy__finite_watch(o, &s->step, gradient, v);
    if (s->quiet) return;
    char line[400];
    snprintf(line, sizeof line, "%.100s: step skipped; infinite or NaN elements in the gradient of "
             "'%.200s': ", o->name, eddy_name_of(v));
    report              r = { s, line, gradient, fine };
    const eddy_function yes = { .build = write_line, .context = &r, .name = "skipped" },
                        no = { .build = write_nothing, .context = &r, .name = "applied" };
    eddy_tensor first = LogicalNot(fine), done;
    if (before.node) first = LogicalAnd(first, before);
    eddy_control_begin(o->graph, s->reports.node ? EDDY_LIST(s->reports) : EDDY_LIST());
    if (eddy_cond(first, yes, no, &done, .name = "report") == 1) s->reports = done;
    eddy_control_end(o->graph);
}

/* -------------------------------------------------------------------- steps -- */

/* If the inner optimizer has a `transform`, the gradients are watched before it. */
static void guard_transform(eddy_optimizer *o, eddy_gradient_pair *pairs, int count)
{
    for (int i = 0; i < count; i++) {
        eddy_tensor values;
        if (eddy_slices_parts(pairs[i].gradient, &values, NULL))
            watch(o, values, pairs[i].variable);
        else if (pairs[i].gradient.node != 0)
            watch(o, pairs[i].gradient, pairs[i].variable);
    }
    eddy__inner_transform(o, pairs, count);
}

static eddy_tensor guard_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    guard_state *s = eddy_optimizer_state(o);
    if (!o->def.transform) watch(o, g, v);
    const int32_t from = eddy_graph_size(o->graph);
    return eddy__finite_note(o, &s->step, from, eddy__inner_dense(s->inner, g, v));
}

static eddy_tensor guard_sparse(eddy_optimizer *o, eddy_tensor values, eddy_tensor indices,
                                eddy_tensor v)
{
    guard_state *s = eddy_optimizer_state(o);
    if (!o->def.transform) watch(o, values, v);
    const int32_t from = eddy_graph_size(o->graph);
    return eddy__finite_note(o, &s->step, from,
                             eddy__inner_sparse(o, s->inner, values, indices, v));
}

static eddy_tensor guard_finish(eddy_optimizer *o, eddy_list updates)
{
    guard_state *s = eddy_optimizer_state(o);
    eddy_tensor  done = eddy__finite_finish(o, &s->step, s->inner, updates);
    eddy_tensor  skipped = eddy__shared_slot(o, "skipped_steps");
    eddy_control_begin(o->graph, s->reports.node ? EDDY_LIST(done, s->reports) : EDDY_LIST(done));
    eddy_tensor more = eddy_cast(LogicalNot(s->step.finite), EDDY_INT64);
    done = eddy_group(o->graph, EDDY_LIST(eddy_assign_add(skipped, more)), NULL);
    eddy_control_end(o->graph);
    return done;
}

static const eddy_optimizer_def guard = {
    .name = "ApplyIfFinite", .state_size = sizeof(guard_state), .prepare = guard_prepare,
    .apply_dense = guard_dense, .apply_sparse = guard_sparse, .finish = guard_finish,
};

/* ------------------------------------------------------- public functions -- */

static bool make_count(eddy_optimizer *o)
{
    eddy_control_clear(o->graph);
    eddy_scope_begin(o->graph, o->name);
    eddy_make_shared_slot(o, "skipped_steps", eddy_number(o->graph, EDDY_INT64, 0));
    eddy_scope_end(o->graph);
    eddy_control_end(o->graph);
    return eddy__graph_ready(o->graph);
}

eddy_optimizer *eddy_apply_if_finite_with(const eddy_apply_if_finite_args *given)
{
    eddy_apply_if_finite_args a = EDDY_TAKE(eddy_apply_if_finite_args, given);
    eddy_graph *g = eddy__inner_graph(NULL, "ApplyIfFinite", a.optimizer);
    if (!g) return NULL;
    const guard_state  s = { .inner = a.optimizer, .quiet = a.quiet, .write = a.write,
                             .user = a.user, .step.finite = eddy_none(g),
                             .reports = eddy_none(g) };
    eddy_optimizer_def def = guard;
    def.sums_duplicates = a.optimizer->def.sums_duplicates;
    if (a.optimizer->def.transform) def.transform = guard_transform;
    eddy_optimizer *o = eddy__outer_new(g, &def, &s, a.name);
    if (o) o->combines = o->takes_parts = true;
    return o && make_count(o) ? o : NULL;
}

eddy_tensor eddy_skipped_steps(eddy_optimizer *o)
{
    eddy_graph *g = eddy__optimizer_ready(o);
    if (!g) return eddy_none(eddy_optimizer_graph(o));
    return o->def.finish == guard_finish
             ? eddy__shared_slot(o, "skipped_steps")
             : eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "skipped_steps: '%.200s' is not an optimizer of eddy_apply_if_finite",
                         o->name);
}
