/* find_call.c -- the call of the library that a word of a configuration means: "dense" is
 * eddy_dense, as a layer "conv2d" is eddy_conv2d_layer, and as a metric "accuracy" is
 * eddy_metric_accuracy. */
#include "command/train/building.h"

#include <stdlib.h>
#include <string.h>

/* How names begin and end in a role, those with `end` first. */
typedef struct role_names {
    const char *what, *begin, *end, *folder;
    result_kind result;
} role_names;

static const role_names roles[] = {
    [ROLE_LAYER] = { "a layer", "", "_layer", "", RESULT_TENSOR },
    [ROLE_LOSS] = { "a loss", "", "_loss", "ops/", RESULT_TENSOR },
    [ROLE_METRIC] = { "a metric", "metric_", "", "ops/", RESULT_TENSOR },
    [ROLE_OPTIMIZER] = { "an optimizer", "", "", "optim/", RESULT_OPTIMIZER },
    [ROLE_SCHEDULE] = { "a schedule", "", "_decay", "optim/schedules/", RESULT_TENSOR },
    [ROLE_INITIALIZER] = { "an initializer", "", "_initializer", "layers/", RESULT_INITIALIZER },
    [ROLE_ACTIVATION] = { "an activation", "", "_layer", "", RESULT_TENSOR },
};

static int compare(const void *name, const void *row)
{
    return strcmp(name, ((const call *)row)->name);
}

static bool fits(const call *k, const role_names *r)
{
    const bool tensor = k->result == RESULT_TENSOR || k->result == RESULT_STRUCT;
    return (r->result == RESULT_TENSOR ? tensor : k->result == r->result) &&
           strncmp(k->header, r->folder, strlen(r->folder)) == 0;
}

static const call *named_so(const char *begin, const char *name, const char *end,
                            const role_names *r)
{
    const call *k = bsearch(text("%s%s%s", begin, name, end), calls, (size_t)calls_count,
                            sizeof *calls, compare);
    return k && fits(k, r) ? k : NULL;
}

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

/* Among the calls that begin with labels, metrics and others are no losses. */
static bool is_loss(const call *k)
{
    const call_member *m = k->arguments->at;
    if (strcmp(m->name, "labels") != 0) return false;
    if (ends_with(k->name, "_loss")) return true;
    for (; m->name; m++)
        if (strcmp(m->name, "logits") == 0 || strcmp(m->name, "reduction") == 0) return true;
    return false;
}

/* The words of a role, and their calls. */
static const char **words_of(call_role role, const call **of)
{
    const role_names *r = &roles[role];
    const char      **words = room((size_t)calls_count + 1, sizeof *words);
    const size_t      begin = strlen(r->begin);
    int               n = 0;
    for (int i = 0; i < calls_count; i++) {
        const char *name = calls[i].name;
        if (!fits(&calls[i], r) || strncmp(name, r->begin, begin) != 0) continue;
        if (role == ROLE_LOSS && !is_loss(&calls[i])) continue;
        if (role == ROLE_ACTIVATION && !calls[i].activation) continue;
        const size_t ends = *r->end && ends_with(name, r->end) ? strlen(r->end) : 0;
        const char  *word = text("%.*s", (int)(strlen(name) - begin - ends), name + begin);
        if (n > 0 && strcmp(words[n - 1], word) == 0) n--;      /* "huber" is huber_loss */
        if (of) of[n] = &calls[i];
        words[n++] = word;
    }
    return words;
}

/* "layers" of "a layer", "losses" of "a loss". */
static const char *plural(const role_names *r)
{
    const char *word = strchr(r->what, ' ') + 1;
    return text("%s%s", word, word[strlen(word) - 1] == 's' ? "es" : "s");
}

/* Short names that are usual elsewhere, none of which is near to the one here. */
static const char *const usual_names[][2] = {
    { "sgd", "gradient_descent" }, { "mse", "mean_squared_error" },
};

static const call *find(const config *at, const char *name, call_role role)
{
    const role_names *r = &roles[role];
    const call       *k = named_so(r->begin, name, r->end, r);
    if (!k) k = named_so(r->begin, name, "", r);
    if (k) return k;
    const char *near = nearest(name, words_of(role, NULL));
    for (size_t i = 0; i < sizeof usual_names / sizeof *usual_names; i++)
        if (strcmp(name, usual_names[i][0]) == 0 && named_so(r->begin, usual_names[i][1], "", r))
            near = usual_names[i][1];
    if (near) config_fail(at, "'%s' is not %s; is '%s' meant?", name, r->what, near);
    else config_fail(at, "'%s' is not %s; 'eddy train --describe %s' lists them", name, r->what,
                     plural(r));
    return NULL;
}

const call *call_find(const config *c, call_role role, const config **options)
{
    *options = NULL;
    if (c->kind == CONFIG_TEXT && *c->text) return find(c, c->text, role);
    if (c->kind == CONFIG_MAP && c->count == 1) {
        *options = c->at[0];
        return find(c->keys[0], c->keys[0]->text, role);
    }
    config_fail(c, "expected %s, alone or with options: {NAME: {OPTION: VALUE}}",
                roles[role].what);
    return NULL;
}

int calls_named(const char *name, const call **found, int most)
{
    int n = 0;
    for (int i = 0; i < (int)(sizeof roles / sizeof *roles) && n < most; i++) {
        const role_names *r = &roles[i];
        const call       *k = named_so(r->begin, name, r->end, r);
        bool              known = false;
        if (!k) k = named_so(r->begin, name, "", r);
        for (int j = 0; j < n; j++) known = known || found[j] == k;
        if (k && !known) found[n++] = k;
    }
    return n;
}

const char **calls_of_role(const char *name, const call ***of)
{
    for (int i = 0; i < (int)(sizeof roles / sizeof *roles); i++) {
        if (strcmp(plural(&roles[i]), name) != 0) continue;
        *of = room((size_t)calls_count + 1, sizeof **of);
        return words_of((call_role)i, *of);
    }
    return NULL;
}
