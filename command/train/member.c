/* member.c -- the value of an option from a configuration, by its type. */
#include "command/train/building.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A whole number, or the word "classes". */
static bool whole(const building *b, const config *c, int64_t *to)
{
    if (c->kind == CONFIG_TEXT && strcmp(c->text, "classes") == 0) {
        if (b->classes == 0)
            return config_fail(c, "the data does not say how many classes there are; write the "
                                  "number");
        *to = b->classes;
        return true;
    }
    return config_count(c, INT64_MIN, to);
}

/* ----------------------------------------------------------------- tensors -- */

/* A scalar of the type that the layers compute, in which the value must be exact. */
static bool scalar(const building *b, call_role role, const config *c, double v, eddy_tensor *to)
{
    const eddy_dtype d = role == ROLE_LAYER && eddy_is_valid(b->x) ? eddy_dtype_of(b->x)
                                                                   : EDDY_FLOAT32;
    eddy_array      *a = eddy_array_new(d == EDDY_BOOL ? EDDY_FLOAT32 : d, EDDY_SCALAR);
    if (a) eddy_array_set(a, 0, v);
    const bool fine = !a || !eddy_dtype_is_integer(d) || eddy_array_get(a, 0) == v;
    if (fine) *to = eddy_constant(b->graph, a);
    eddy_array_free(a);
    if (fine) return graph_is_fine(b, c);
    return config_fail(c, "x is %s, which has no value %s; cast it first", eddy_dtype_name(d),
                       c->text);
}

/* "20 epochs", "500 steps": a number of steps. */
static bool duration(const building *b, const char *from, double *to)
{
    char *unit;
    *to = strtod(from, &unit);
    if (unit == from) return false;
    unit += strspn(unit, " ");
    if (strcmp(unit, "epochs") == 0 || strcmp(unit, "epoch") == 0) {
        *to *= (double)b->steps_per_epoch;
        return true;
    }
    return strcmp(unit, "steps") == 0 || strcmp(unit, "step") == 0;
}

static bool refer(const building *b, call_role role, const config *c, eddy_tensor *to)
{
    const char *words[MOST_NAMES + 1] = { NULL };
    for (int i = 0; i < b->n_names; i++) {
        words[i] = b->names[i].name;
        if (strcmp(b->names[i].name, c->text) != 0) continue;
        *to = b->names[i].tensor;
        return true;
    }
    if (role == ROLE_OPTIMIZER || role == ROLE_SCHEDULE)
        return config_fail(c, "expected a number, a number of epochs such as '3 epochs', or a "
                              "schedule, found '%s'", c->text);
    const char *near = nearest(c->text, words);
    if (near) return config_fail(c, "nothing is named '%s'; is '%s' meant?", c->text, near);
    return config_fail(c, "expected a number, a list of layers, or the name of a layer with 'as', "
                          "found '%s'", c->text);
}

static bool tensor(building *b, call_role role, const config *c, eddy_tensor *to)
{
    double v;
    if (c->kind == CONFIG_LIST) return chain_make(b, c, to);
    if (c->kind == CONFIG_MAP) {
        const config   *options;
        const call_role inner = role == ROLE_OPTIMIZER ? ROLE_SCHEDULE
                                : role == ROLE_SCHEDULE ? role : ROLE_LAYER;
        const call     *k = call_find(c, inner, &options);
        return k && call_make(b, k, inner, c, options, to);
    }
    if (config_is_number(c, &v) || duration(b, c->text, &v)) return scalar(b, role, c, v, to);
    return refer(b, role, c, to);
}

static bool tensors(building *b, call_role role, const config *c, eddy_list *to)
{
    if (c->kind != CONFIG_LIST) return config_fail(c, "expected a list");
    eddy_tensor *at = room((size_t)c->count, sizeof *at);
    for (int i = 0; i < c->count; i++)
        if (!tensor(b, role, c->at[i], &at[i])) return false;
    *to = (eddy_list){ c->count, at };
    return true;
}

/* ------------------------------------------------------------ other values -- */

static bool dimensions(const building *b, const config *c, int64_t *at, int *count)
{
    if (c->kind == CONFIG_MAP) return config_fail(c, "expected a whole number or a list of them");
    *count = c->kind == CONFIG_LIST ? c->count : 1;
    if (*count > EDDY_MAX_RANK)
        return config_fail(c, "expected at most %d numbers", EDDY_MAX_RANK);
    for (int i = 0; i < *count; i++)
        if (!whole(b, c->kind == CONFIG_LIST ? c->at[i] : c, &at[i])) return false;
    return true;
}

static bool element_type(const config *c, eddy_dtype *to)
{
    const char *word = "";
    if (!config_text(c, &word)) return false;
    *to = eddy_dtype_named(word);
    if (*to != EDDY_DEFAULT_DTYPE) return true;
    return config_fail(c, "'%s' is not an element type, such as float32 or int32", word);
}

/* "lstm" for EDDY_LSTM_CELL, "mean" for EDDY_LOSS_MEAN: the end of the name, or a part of it. */
static bool choice(const call_member *m, const config *c, int *to)
{
    const char *word = "", *all = "";
    if (!config_text(c, &word)) return false;
    const size_t n = strlen(word);
    for (int part = 0; part < 2; part++)
        for (const call_value *v = m->values; v->name; v++) {
            const size_t size = strlen(v->name);
            if (part == 0) all = text("%s%s%s", all, *all ? ", " : "", v->name + strlen("EDDY_"));
            for (size_t i = part == 0 && size > n ? size - n : 1; n > 0 && i + n <= size; i++)
                if (v->name[i - 1] == '_' && strncasecmp(v->name + i, word, n) == 0 &&
                    (v->name[i + n] == '_' || !v->name[i + n])) {
                    *to = v->value;
                    return true;
                }
        }
    return config_fail(c, "'%s' is not one of %s", word, all);
}

static bool activation(const config *c, eddy_activation *to)
{
    const config *options;
    const call   *k = call_find(c, ROLE_ACTIVATION, &options);
    if (!k) return false;
    if (!k->activation || options)
        return config_fail(c, "%s as an activation takes no options; add it as the next layer",
                           k->name);
    *to = k->activation;
    return true;
}

static bool parts(building *b, const call_member *m, call_role role, const config *c, char *to)
{
    const char *words[64] = { NULL };
    int         n = 0;
    for (const call_member *p = m->members->at; p->name && n < 63; p++) words[n++] = p->name;
    if (!config_check(c, m->name, words)) return false;
    if (m->members->defaults) m->members->defaults(to);
    for (int i = 0; i < c->count; i++)
        for (const call_member *p = m->members->at; p->name; p++)
            if (strcmp(p->name, c->keys[i]->text) == 0 &&
                !member_fill(b, p, role, c->at[i], to + p->offset))
                return false;
    return true;
}

static bool made(building *b, call_role role, const config *c, void *to)
{
    const config *options;
    const call   *k = call_find(c, role, &options);
    return k && call_make(b, k, role, c, options, to);
}

bool member_fill(building *b, const call_member *m, call_role role, const config *c, void *to)
{
    switch (m->kind) {
    case MEMBER_TENSOR:      return tensor(b, role, c, to);
    case MEMBER_LIST:        return tensors(b, role, c, to);
    case MEMBER_INT64:       return whole(b, c, to);
    case MEMBER_DOUBLE:      return config_number(c, to);
    case MEMBER_BOOL:        return config_bool(c, to);
    case MEMBER_TEXT:        return config_text(c, to);
    case MEMBER_DTYPE:       return element_type(c, to);
    case MEMBER_ACTIVATION:  return activation(c, to);
    case MEMBER_INITIALIZER: return made(b, ROLE_INITIALIZER, c, to);
    case MEMBER_OPTIMIZER:   return made(b, ROLE_OPTIMIZER, c, to);
    case MEMBER_STRUCT:      return parts(b, m, role, c, to);
    case MEMBER_ENUM:        return choice(m, c, to);
    case MEMBER_INT: {
        int64_t n;
        if (!whole(b, c, &n)) return false;
        if (n < INT32_MIN || n > INT32_MAX) return config_fail(c, "the number is too large");
        *(int *)to = (int)n;
        return true;
    }
    case MEMBER_DIMS: {
        eddy_dims d = { .count = 0 };
        if (!dimensions(b, c, d.at, &d.count)) return false;
        if (d.count == 0) d.count = -1;
        *(eddy_dims *)to = d;
        return true;
    }
    case MEMBER_SHAPE: {
        eddy_shape s = EDDY_SCALAR;
        if (!dimensions(b, c, s.dim, &s.rank)) return false;
        *(eddy_shape *)to = s;
        return true;
    }
    case MEMBER_GRAPH:
    case MEMBER_UPDATE:
    case MEMBER_OTHER: break;
    }
    return config_fail(c, "'%s' cannot be given in a configuration", m->name);
}
