/* restore.c -- setting variables from a checkpoint: all values are found, converted and checked
 * before the first variable is changed. */
#include "graph/call_options.h"
#include "session/checkpoints/restoring.h"
#include "session/state/internal.h"

#include <string.h>

/* ------------------------------------------------------------- problems -- */

/* Adds to the list of what is wrong with variables. */
static void add_problem(restoring *r, const eddy_error *why)
{
    const size_t room = sizeof r->list - r->length;
    if (r->problems++ == 0) r->first = why->status;
    const size_t n = (size_t)snprintf(r->list + r->length, room, "%s%s", r->length > 0 ? "; " : "",
                                      why->message);
    if (n >= room) {
        r->list[r->length] = 0;
        return;
    }
    r->length += n;
    r->shown++;
}

static void report_problems(restoring *r)
{
    const char *path = r->args->path;
    if (r->problems == 1)
        eddy__error_set(&r->error, r->first, "%.300s: %s", path, r->list);
    else if (r->problems > 1 && r->shown == r->problems)
        eddy__error_set(&r->error, r->first, "%.150s: variables that cannot be restored: %d: %s",
                        path, r->problems, r->list);
    else if (r->problems > 1)
        eddy__error_set(&r->error, r->first,
                        "%.150s: variables that cannot be restored: %d: %s; others: %d", path,
                        r->problems, r->list, r->problems - r->shown);
}

/* An error of one variable, or of the whole call. */
static void sort_error(restoring *r, const eddy_error *why)
{
    const bool of_variable = why->status == EDDY_BAD_DTYPE || why->status == EDDY_BAD_SHAPE ||
                             why->status == EDDY_OUT_OF_RANGE;
    if (of_variable) add_problem(r, why);
    else eddy__error_set(&r->error, why->status, "%s", why->message);
}

/* ---------------------------------------------------------------- values -- */

/* The variables and entries that a rule connects in this call. */
typedef struct rule_group {
    rule_match         match;
    checkpoint_target *targets[EDDY_RULE_NAMES];      /* NULL: not restored by this call */
    const eddy_node   *nodes[EDDY_RULE_NAMES];
    eddy_shape         shapes[EDDY_RULE_NAMES];
    eddy_array        *entries[EDDY_RULE_NAMES], *values[EDDY_RULE_NAMES];
} rule_group;

/* Of a variable that the graph has: name_match.c takes no rule with others. */
static const eddy_node *node_named(eddy_graph *g, const char *name)
{
    char tensor[EDDY_MAX_NAME + 3];
    snprintf(tensor, sizeof tensor, "%s:0", name);
    return eddy_node_of(eddy_graph_tensor(g, tensor));
}

static void find_variables(restoring *r, checkpoint_target *v, rule_group *g)
{
    for (int i = 0; i < g->match.n_variables; i++) {
        const char *name = g->match.variables[i];
        g->targets[i] = strcmp(name, v->name) == 0 ? v : eddy__targets_find(&r->targets, name);
        g->nodes[i] = g->targets[i] ? g->targets[i]->node : node_named(r->session->graph, name);
        g->shapes[i] = g->nodes[i]->outputs[0].shape;
    }
}

/* A value of pairs of real numbers for a complex variable; NULL if out of memory. */
static eddy_array *paired(eddy_array *x, eddy_type wanted)
{
    const eddy_shape s = eddy_array_shape(x);
    if (!eddy_dtype_is_complex(wanted.dtype) || s.rank == 0 || s.dim[s.rank - 1] != 2 ||
        (eddy_array_dtype(x) != EDDY_FLOAT32 && eddy_array_dtype(x) != EDDY_FLOAT64))
        return x;
    eddy_array *y = eddy__as_complex(x);
    eddy_array_free(x);
    return y;
}

/* The value of an entry in the type of the variable. */
static eddy_array *entry_value(restoring *r, const checkpoint_item *item, const eddy_node *node,
                               eddy_error *why)
{
    const eddy_type t = node->outputs[0];
    eddy_array     *x = eddy__checkpoint_item_value(item, why), *y = NULL;
    if (!x) return NULL;
    x = paired(x, t);
    if (!x) eddy__error_set(why, EDDY_NO_MEMORY, "out of memory for '%.200s'", item->name);
    else if (eddy__may_cast(eddy_array_dtype(x), t.dtype, r->args->casting))
        y = eddy__cast_array(&r->session->allocator, x, t.dtype, item->name, why);
    else eddy__value_fits(node, (eddy_type){ eddy_array_dtype(x), eddy_array_shape(x) }, why);
    eddy_array_free(x);
    return y;
}

static void note_missing(restoring *r, const rule_group *g, const char *entry)
{
    for (int i = 0; i < g->match.n_variables; i++) {
        const checkpoint_target *v = g->targets[i];
        eddy_error               why = { 0 };
        if (!v) continue;
        r->missing[v - r->targets.at] = true;
        r->n_missing++;
        if (r->args->partial) continue;
        if (strcmp(entry, v->node->name) == 0)
            eddy__error_set(&why, EDDY_NOT_FOUND, "the file has no value for the variable '%.200s'",
                            v->node->name);
        else
            eddy__error_set(&why, EDDY_NOT_FOUND,
                            "the file has no '%.200s' for the variable '%.200s'", entry,
                            v->node->name);
        add_problem(r, &why);
    }
}

/* Reads the entries of the rule. False if one is missing, or on an error. */
static bool read_entries(restoring *r, rule_group *g, eddy_error *why)
{
    const checkpoint_item *items[EDDY_RULE_NAMES];
    for (int i = 0; i < g->match.n_entries; i++) {
        items[i] = eddy__checkpoint_item(r->file, g->match.entries[i]);
        if (!items[i]) return note_missing(r, g, g->match.entries[i]), false;
    }
    for (int i = 0; i < g->match.n_entries; i++) {
        r->used[items[i] - r->file->items] = true;
        g->entries[i] = entry_value(r, items[i], g->nodes[0], why);
        if (!g->entries[i]) return false;
    }
    return true;
}

/* Gives each variable of the call its value, if the types agree. */
static void take_values(restoring *r, rule_group *g)
{
    for (int i = 0; i < g->match.n_variables; i++) {
        checkpoint_target *v = g->targets[i];
        eddy_error         why = { 0 };
        const eddy_type    t = { eddy_array_dtype(g->values[i]), eddy_array_shape(g->values[i]) };
        if (!v || v->value) continue;
        if (!eddy__value_fits(v->node, t, &why)) {
            add_problem(r, &why);
            continue;
        }
        v->value = g->values[i];
        g->values[i] = NULL;
    }
}

static void restore_rule(restoring *r, checkpoint_target *v)
{
    rule_group g = { .match.n_variables = 0 };
    eddy_error why = { 0 };
    if (!eddy__match_rule(r->args->map, r->session->graph, v->name, v->node->outputs[0].shape,
                          &r->texts, &g.match, &r->error))
        return;
    find_variables(r, v, &g);
    if (read_entries(r, &g, &why) &&
        eddy__rule_to_variables(&r->session->allocator, &g.match, g.entries, g.shapes, g.values,
                                &why))
        take_values(r, &g);
    if (why.status != EDDY_OK) sort_error(r, &why);
    for (int i = 0; i < EDDY_RULE_NAMES; i++) {
        if (g.targets[i]) g.targets[i]->done = true;
        eddy_array_free(g.entries[i]);
        eddy_array_free(g.values[i]);
    }
}

static void find_values(restoring *r)
{
    const size_t n = (size_t)r->targets.count;
    r->used = eddy__allocate_zeroed(&r->session->allocator, (size_t)r->file->n_items, 1);
    r->missing = eddy__allocate_zeroed(&r->session->allocator, n, 1);
    if (!r->used || !r->missing)
        eddy__error_set(&r->error, EDDY_NO_MEMORY, "out of memory for a list (variables: %d)",
                        r->targets.count);
    for (int i = 0; i < r->targets.count && r->error.status == EDDY_OK; i++)
        if (!r->targets.at[i].done) restore_rule(r, &r->targets.at[i]);
    if (r->error.status == EDDY_OK) report_problems(r);
    if (r->error.status == EDDY_OK && r->targets.count > 0 && r->n_missing == r->targets.count)
        eddy__error_set(&r->error, EDDY_NOT_FOUND,
                        "%.300s: the file has none of the variables (variables: %d)", r->args->path,
                        r->targets.count);
}

/* ---------------------------------------------------------------- draws -- */

/* The counts of draws in the file, for a restore of all variables. */
static void find_draws(restoring *r)
{
    eddy_session *s = r->session;
    const char   *text = NULL;
    if (r->args->variables.count > 0 || r->args->n_named > 0) return;
    for (int i = 0; i < r->file->n_files && !text; i++)
        text = eddy__safetensors_find_text(&r->file->files[i], EDDY_DRAWS_KEY);
    if (!text || !eddy__draws_update(s, &r->error)) return;
    r->draws = eddy__allocate_zeroed(&s->allocator, (size_t)s->draws.n, sizeof *r->draws);
    if (!r->draws)
        eddy__error_set(&r->error, EDDY_NO_MEMORY, "out of memory while inspecting the graph");
    else eddy__draws_parse(s, r->args->path, text, r->draws, &r->error);
}

/* --------------------------------------------------------------- setting -- */

/* All values have memory before the first variable is changed. */
static void set_values(restoring *r)
{
    eddy_session *s = r->session;
    const int     n = r->targets.count;
    eddy_array  **room = eddy__allocate_zeroed(&s->allocator, (size_t)n, sizeof *room);
    if (!room)
        eddy__error_set(&r->error, EDDY_NO_MEMORY, "out of memory for a list (variables: %d)", n);
    for (int i = 0; i < n && r->error.status == EDDY_OK; i++) {
        const checkpoint_target *v = &r->targets.at[i];
        if (v->value) eddy__variable_room(s, v->node, v->value, &room[i], &r->error);
    }
    for (int i = 0; room && i < n; i++) {
        const checkpoint_target *v = &r->targets.at[i];
        if (r->error.status != EDDY_OK) eddy_array_free(room[i]);
        else if (v->value) eddy__variable_put(s, s->states[v->node->id], v->value, room[i]);
    }
    eddy__release(&s->allocator, room, (size_t)n * sizeof *room);
}

/* --------------------------------------------------------------- the call -- */

static void restore(restoring *r)
{
    eddy_session *s = r->session;
    const eddy_restore_checkpoint_args *a = r->args;
    if (!a->path) {                      /* eddy_restore_checkpoint_with gives checkpoints one */
        eddy__error_set(&r->error, EDDY_INVALID_ARGUMENT, "restore: no path is given");
        return;
    }
    if (!eddy__session_is_usable(s, &r->error) ||
        !eddy__targets_collect("restore", s, a->variables, a->named, a->n_named, &r->targets,
                               &r->error))
        return;
    if (!a->checkpoint)
        r->opened = eddy__checkpoint_open(eddy__graph_files(s->graph), &s->allocator, a->path,
                                          a->unchecked, &r->error);
    r->file = a->checkpoint ? a->checkpoint : r->opened;
    if (!r->file) return;
    find_values(r);
    if (r->error.status == EDDY_OK) find_draws(r);
    if (a->report && r->used && r->missing) eddy__restore_report_fill(r, a->report);
    if (r->error.status != EDDY_OK) return;
    pthread_rwlock_wrlock(&s->state_lock);
    set_values(r);
    if (r->draws && r->error.status == EDDY_OK) eddy__draws_set(s, r->draws);
    pthread_rwlock_unlock(&s->state_lock);
    if (a->report && r->error.status != EDDY_OK) a->report->n_restored = 0;
}

static void free_all(restoring *r)
{
    const eddy_allocator *a = &r->session->allocator;
    eddy__release(a, r->used, r->file ? (size_t)r->file->n_items : 0);
    eddy__release(a, r->missing, (size_t)r->targets.count);
    eddy__release(a, r->draws, (size_t)r->session->draws.n * sizeof *r->draws);
    if (r->targets.allocator) eddy__targets_free(&r->targets);
    eddy_checkpoint_free(r->opened);
    eddy__arena_free(&r->texts);
}

eddy_status eddy_restore_checkpoint_with(const eddy_restore_checkpoint_args *given)
{
    eddy_restore_checkpoint_args a = EDDY_TAKE(eddy_restore_checkpoint_args, given);
    eddy_session *s = a.session;
    restoring     r = { .args = &a, .session = s };
    if (a.checkpoint) a.path = "the checkpoint";
    if (a.report) *a.report = (eddy_restore_report){ .memory_ = NULL };
    if (!eddy__session_enter(s)) return EDDY_INVALID_ARGUMENT;
    pthread_mutex_lock(&s->lock);
    r.texts.allocator = &s->allocator;
    restore(&r);
    free_all(&r);
    return eddy__session_finish(s, &r.error);
}

eddy_status eddy_restore(eddy_session *s, const char *path, eddy_list variables)
{
    return eddy_restore_checkpoint(s, path, variables, .casting = EDDY_CAST_NONE);
}
