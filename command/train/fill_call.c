/* fill_call.c -- a call with the options of a configuration. Options that a training knows by
 * itself are filled by their names: the tensor that a layer takes, labels, the global step. */
#include "command/train/building.h"

#include <string.h>

static bool is_named(const call_member *m, const char *name) { return strcmp(m->name, name) == 0; }

bool graph_is_fine(const building *b, const config *at)
{
    return eddy_graph_status(b->graph) == EDDY_OK ||
           config_fail(at, "%s", eddy_graph_message(b->graph));
}

/* The tensor that a member gets by its name or its place; invalid if it gets none. */
static eddy_tensor known_tensor(const building *b, const call_struct *s, const call_member *m,
                                call_role role)
{
    const bool first = m == s->at, judges = role == ROLE_LOSS || role == ROLE_METRIC;
    if (m->kind != MEMBER_TENSOR) return EDDY_NO_TENSOR;
    if (is_named(m, "training_when")) return b->training;
    if (is_named(m, "global_step")) return b->global_step;
    if (role == ROLE_SCHEDULE && is_named(m, "x")) return eddy_cast(b->global_step, EDDY_FLOAT32);
    if (judges && (is_named(m, "labels") || is_named(m, "targets"))) return b->labels;
    if (judges && (is_named(m, "logits") || is_named(m, "predictions") ||
                   is_named(m, "log_input")))
        return b->x;
    if (role == ROLE_LAYER && first) return b->x;
    return EDDY_NO_TENSOR;
}

/* Fills what needs no configuration; whether m was such a member. */
static bool fill_known(building *b, const call_struct *s, const call_member *m, call_role role,
                       char *arguments)
{
    const eddy_tensor t = known_tensor(b, s, m, role);
    void             *to = arguments + m->offset;
    if (eddy_is_valid(t)) *(eddy_tensor *)to = t;
    else if (m->kind == MEMBER_GRAPH) *(eddy_graph **)to = b->graph;
    else if (m->kind == MEMBER_UPDATE) *(eddy_tensor **)to = &b->update;
    else if (role == ROLE_SCHEDULE && (is_named(m, "decay_steps") || is_named(m, "total_steps"))) {
        *(eddy_tensor *)to = eddy_scalar(b->graph, (double)b->steps);
        return false;
    } else return false;
    return true;
}

static bool writable(const call_member *m)
{
    return m->kind != MEMBER_GRAPH && m->kind != MEMBER_UPDATE;
}

static bool unknown_option(const call *k, const config *key)
{
    const char *all = "", *words[64] = { NULL };
    int         n = 0;
    for (const call_member *m = k->arguments->at; m->name; m++) {
        if (!writable(m) || n == 63) continue;
        words[n++] = m->name;
        all = text("%s%s%s", all, *all ? ", " : "", m->name);
    }
    const char *near = nearest(key->text, words);
    if (near)
        return config_fail(key, "%s has no option '%s'; is '%s' meant?", k->name, key->text, near);
    return config_fail(key, "%s has no option '%s'; it has %s", k->name, key->text, all);
}

static const call_member *member_of(const call *k, const char *name)
{
    for (const call_member *m = k->arguments->at; m->name; m++)
        if (is_named(m, name) && writable(m)) return m;
    return NULL;
}

static bool fill_options(building *b, const call *k, call_role role, const config *options,
                         char *arguments, const char **result)
{
    const call_member *first = NULL;
    for (const call_member *m = k->arguments->at; m->name; m++) {
        const bool known = fill_known(b, k->arguments, m, role, arguments);
        if (!known && !first && writable(m)) first = m;
    }
    if (!options || (options->kind == CONFIG_TEXT && !*options->text)) return true;
    if (options->kind != CONFIG_MAP) {
        if (!first) return config_fail(options, "%s has no options", k->name);
        return member_fill(b, first, role, options, arguments + first->offset);
    }
    for (int i = 0; i < options->count; i++) {
        const config      *key = options->keys[i];
        const call_member *m = member_of(k, key->text);
        if (!m && k->result == RESULT_STRUCT && strcmp(key->text, "result") == 0) {
            if (!config_text(options->at[i], result)) return false;
        } else if (!m) return unknown_option(k, key);
        else if (!member_fill(b, m, role, options->at[i], arguments + m->offset)) return false;
        if (m && role == ROLE_OPTIMIZER && is_named(m, "learning_rate"))
            b->learning_rate = *(eddy_tensor *)(void *)(arguments + m->offset);
    }
    return true;
}

/* The tensor of a struct of results that the configuration names; the first one by default. */
static bool choose(const call *k, const config *at, const char *name, const char *results,
                   eddy_tensor *to)
{
    const char *all = "";
    for (const call_member *m = k->results->at; m->name; m++) {
        all = text("%s%s%s", all, *all ? ", " : "", m->name);
        if (name && !is_named(m, name)) continue;
        *to = *(const eddy_tensor *)(const void *)(results + m->offset);
        return true;
    }
    return config_fail(at, "%s has no result '%s'; it has %s", k->name, name, all);
}

/* Whether the header says "required", or the option belongs to this call among those that share
 * its struct. */
static bool is_required(const call *k, const call_member *m)
{
    return m->comment && (strncmp(m->comment, "required", 8) == 0 ||
                          strcmp(m->comment, text("of eddy_%s", k->name)) == 0);
}

static bool is_missing(const call_member *m, const void *at)
{
    if (m->kind == MEMBER_TENSOR) return !eddy_is_valid(*(const eddy_tensor *)at);
    if (m->kind == MEMBER_LIST) return ((const eddy_list *)at)->count == 0;
    if (m->kind == MEMBER_INT64) return *(const int64_t *)at == 0;
    return m->kind == MEMBER_OPTIMIZER && !*(eddy_optimizer *const *)at;
}

static bool has_required(const call *k, const config *at, const char *arguments)
{
    for (const call_member *m = k->arguments->at; m->name; m++)
        if (is_required(k, m) && is_missing(m, arguments + m->offset))
            return config_fail(at, "%s needs '%s'", k->name, m->name);
    return true;
}

bool call_make(building *b, const call *k, call_role role, const config *at, const config *options,
               void *result)
{
    char       *arguments = room(k->arguments->size, 1);
    const char *which = NULL;
    if (k->arguments->defaults) k->arguments->defaults(arguments);
    if (!fill_options(b, k, role, options, arguments, &which) ||
        !has_required(k, at, arguments))
        return false;
    if (k->result == RESULT_STRUCT) {
        char *results = room(k->results->size, 1);
        k->make(arguments, results);
        if (!choose(k, at, which, results, result)) return false;
    } else k->make(arguments, result);
    return graph_is_fine(b, at);
}
