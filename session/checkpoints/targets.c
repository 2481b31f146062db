/* targets.c -- the variables that a call saves or restores, with their names. */
#include "session/checkpoints/internal.h"
#include "session/state/internal.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp((*(checkpoint_target *const *)a)->name, (*(checkpoint_target *const *)b)->name);
}

static bool lists_are_valid(const char *who, eddy_list l, const eddy_named_variable *named,
                            int n_named, eddy_error *e)
{
    if (!eddy__check_list(who, "variables", l.count, l.at, e) ||
        !eddy__check_list(who, "named", n_named, named, e))
        return false;
    return l.count == 0 || n_named == 0 ||
           eddy__error_set(e, EDDY_INVALID_ARGUMENT, "%s: both variables and named are given", who);
}

static bool take(eddy_session *s, eddy_list l, const eddy_named_variable *named, int n_named,
                 checkpoint_targets *out, eddy_error *e)
{
    for (int i = 0; i < out->count; i++) {
        const eddy_tensor  t = n_named > 0 ? named[i].variable
                               : l.count > 0
                                   ? l.at[i]
                                   : eddy_collection_at(s->graph, EDDY_GLOBAL_VARIABLES, i);
        checkpoint_target *v = &out->at[i];
        v->node = eddy__session_variable(s, t, e);
        if (!v->node) return false;
        v->name = n_named > 0 ? named[i].name : v->node->name;
        if (!v->name || strlen(v->name) > EDDY_MAX_NAME)
            return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                                   "the name for the variable '%.200s' is NULL or too long",
                                   v->node->name);
        out->by_name[i] = v;
    }
    if (out->count > 1) qsort(out->by_name, (size_t)out->count, sizeof *out->by_name, by_name);
    return true;
}

bool eddy__targets_collect(const char *who, eddy_session *s, eddy_list variables,
                           const eddy_named_variable *named, int n_named, checkpoint_targets *out,
                           eddy_error *e)
{
    *out = (checkpoint_targets){ .allocator = &s->allocator };
    if (!lists_are_valid(who, variables, named, n_named, e)) return false;
    const int n = n_named > 0           ? n_named
                  : variables.count > 0 ? variables.count
                                        : eddy_collection_size(s->graph, EDDY_GLOBAL_VARIABLES);
    out->at = eddy__allocate_zeroed(&s->allocator, (size_t)n, sizeof *out->at);
    out->by_name = eddy__allocate_zeroed(&s->allocator, (size_t)n, sizeof *out->by_name);
    out->count = n;
    if (!out->at || !out->by_name)
        return eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for a list (variables: %d)", n);
    return take(s, variables, named, n_named, out, e);
}

checkpoint_target *eddy__targets_find(const checkpoint_targets *t, const char *name)
{
    const checkpoint_target wanted = { .name = name }, *key = &wanted;
    checkpoint_target **found = bsearch(&key, t->by_name, (size_t)t->count, sizeof *t->by_name,
                                        by_name);
    return found ? *found : NULL;
}

void eddy__targets_free(checkpoint_targets *t)
{
    for (int i = 0; t->at && i < t->count; i++) eddy_array_free(t->at[i].value);
    eddy__release(t->allocator, t->at, (size_t)t->count * sizeof *t->at);
    eddy__release(t->allocator, t->by_name, (size_t)t->count * sizeof *t->by_name);
}
