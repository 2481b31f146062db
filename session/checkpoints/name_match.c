/* name_match.c -- the rule of a variable: patterns of names, and the names that stars stand for. */
#include "session/checkpoints/internal.h"

#include <string.h>

enum { MOST_STARS = 8 };

typedef struct capture {
    const char *at;
    size_t      length;
    bool        deep;                    /* of ** */
    bool        slash;                   /* nothing, and the slash after it is left out */
} capture;

typedef struct captures {
    capture at[MOST_STARS];
    int     n;
} captures;

/* Whether the star at p is one of two. */
static bool is_deep(const char *p) { return p[1] == '*'; }

/* A search for what the stars stand for. A star that has failed at a place is not tried there
 * again. */
typedef struct search {
    const char *end;                     /* of the text */
    captures   *captures;
    uint64_t    failed[MOST_STARS][(EDDY_MAX_NAME >> 6) + 1];    /* bits by bytes before the end */
} search;

static bool fits_from(search *s, const char *p, const char *text)
{
    captures    *c = s->captures;
    for (; *p && *p != '*'; p++, text++)
        if (text == s->end || *p != *text) return false;
    if (!*p) return text == s->end;
    if (c->n == MOST_STARS) return false;
    const size_t   n = (size_t)(s->end - text);
    const uint64_t bit = (uint64_t)1 << (n & 63);
    const bool     deep = is_deep(p);
    const char    *rest = p + (deep ? 2 : 1);
    const int      mine = c->n;
    if (s->failed[mine][n >> 6] & bit) return false;
    s->failed[mine][n >> 6] |= bit;
    for (size_t length = 0; length <= n; length++) {
        if (!deep && length > 0 && text[length - 1] == '/') break;
        const bool slash = deep && length == 0 && *rest == '/';
        c->at[mine] = (capture){ text, length, deep, slash };
        c->n = mine + 1;
        if (slash && fits_from(s, rest + 1, text)) return true;
        c->at[mine].slash = false;
        c->n = mine + 1;
        if (fits_from(s, rest, text + length)) return true;
    }
    c->n = mine;
    return false;
}

/* Whether text[0..n), a variable's name (targets.c) or a part of it, is what the pattern describes.
 * A star first stands for as little as possible. */
static bool fits(const char *p, const char *text, size_t n, captures *c)
{
    search s = { .end = text + n, .captures = c };
    c->n = 0;
    return fits_from(&s, p, text);
}

/* ------------------------------------------------------------- scopes -- */

static size_t parts_in(const char *s)
{
    size_t n = 1;
    for (; *s; s++) n += *s == '/';
    return n;
}

/* The length of the first k parts between slashes of text[0..n); 0 if there are fewer. */
static size_t length_of_parts(const char *text, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] == '/' && --k == 0) return i;
    return k == 1 ? n : 0;
}

static const eddy_checkpoint_scope torch_blocks[] = {
    { "attention", "self_attn" },        { "cross_attention", "multihead_attn" },
    { "feed_forward/dense", "linear1" }, { "feed_forward/dense_1", "linear2" },
    { "layer_norm", "norm1" },           { "layer_norm_1", "norm2" },
    { "layer_norm_2", "norm3" },
};

static const eddy_checkpoint_scope *scope_at(const eddy_checkpoint_map *m, const char *text,
                                             size_t n, captures *c, size_t *length)
{
    const int own = m->scopes ? m->n_scopes : 0;
    const int all = own + (m->torch_blocks ? (int)(sizeof torch_blocks / sizeof *torch_blocks) : 0);
    for (int i = 0; i < all; i++) {
        const eddy_checkpoint_scope *s = i < own ? &m->scopes[i] : &torch_blocks[i - own];
        if (!s->scope || !s->name) continue;
        *length = length_of_parts(text, n, parts_in(s->scope));
        if (*length > 0 && fits(s->scope, text, *length, c)) return s;
    }
    return NULL;
}

/* The name with the text of the captures in the place of its stars. */
static void put_stars(eddy_text *t, const char *name, const captures *c)
{
    int k = 0;
    for (; *name; name++) {
        if (*name != '*') eddy__text_add(t, name, 1);
        else if (k < c->n) eddy__text_add(t, c->at[k].at, c->at[k].length), k++;
    }
}

/* A scope, part by part, in the names and with the separator of the map. */
static void put_scope(eddy_text *t, const eddy_checkpoint_map *m, const char *text, size_t n)
{
    const char *separator = m->separator ? m->separator : "/";
    bool        empty = true;
    while (n > 0) {
        captures c;
        size_t   length;
        const eddy_checkpoint_scope *s = scope_at(m, text, n, &c, &length);
        if (!s) length = length_of_parts(text, n, 1);
        if (!s || *s->name) {
            if (!empty) eddy__text_add(t, separator, strlen(separator));
            empty = false;
        }
        if (s) put_stars(t, s->name, &c);
        else eddy__text_add(t, text, length);
        if (length < n) length++;        /* the slash */
        text += length;
        n -= length;
    }
}

/* ---------------------------------------------------------------- names -- */

static bool put_entry(eddy_text *t, const eddy_checkpoint_map *m, const char *name,
                      const captures *c)
{
    int k = 0;
    while (*name) {
        if (*name != '*') {
            eddy__text_add(t, name++, 1);
            continue;
        }
        if (k == c->n) return false;
        name += is_deep(name) ? 2 : 1;
        const size_t before = t->length;
        if (c->at[k].deep) put_scope(t, m, c->at[k].at, c->at[k].length);
        else eddy__text_add(t, c->at[k].at, c->at[k].length);
        /* Nothing, and nothing after it that would divide it from the rest. */
        if (c->at[k].deep && t->length == before && (*name == '/' || *name == '.')) name++;
        k++;
    }
    return true;
}

static bool put_variable(eddy_text *t, const char *name, const captures *c)
{
    int k = 0;
    while (*name) {
        if (*name != '*') {
            eddy__text_add(t, name++, 1);
            continue;
        }
        if (k == c->n) return false;
        name += is_deep(name) ? 2 : 1;
        eddy__text_add(t, c->at[k].at, c->at[k].length);
        if (c->at[k++].slash && *name == '/') name++;
    }
    return true;
}

typedef struct naming {
    const eddy_checkpoint_map *map;      /* NULL: names of variables */
    const captures            *captures;
} naming;

/* The name as a text in the arena. */
static char *name_of(const naming *how, const char *pattern, eddy_arena *texts,
                     const char *variable, eddy_error *e)
{
    eddy_text t = { .allocator = texts->allocator };
    char     *name = NULL;
    const bool ok = how->map ? put_entry(&t, how->map, pattern, how->captures)
                             : put_variable(&t, pattern, how->captures);
    if (!ok)
        eddy__error_set(
            e, EDDY_INVALID_ARGUMENT,
            "the rule for '%.200s' has more stars in '%.200s' than in the variable's name",
            variable, pattern);
    else if (!t.failed) name = eddy__arena_text(texts, t.at ? t.at : "", t.length);
    if (ok && !name) eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for names");
    eddy__text_free(&t);
    return name;
}

/* ----------------------------------------------------------------- rules -- */

static int count_names(const char *const *names)
{
    int n = 0;
    while (n < EDDY_RULE_NAMES && names[n]) n++;
    return n;
}

/* Axes that are not valid are an error later. */
static bool rule_fits(const eddy_checkpoint_rule *r, const char *variable, int rank, captures *c)
{
    axes_map axes;
    if (r->axes && eddy__axes_parse(r->axes, &axes) && axes.left.n != rank) return false;
    for (int i = 0; i < count_names(r->variables); i++)
        if (fits(r->variables[i], variable, strlen(variable), c)) return true;
    return false;
}

bool eddy__find_variable(eddy_graph *g, const char *variable, eddy_shape *shape)
{
    char name[EDDY_MAX_NAME];
    snprintf(name, sizeof name, "%s:0", variable);
    if (!eddy_graph_has(g, name)) return false;
    *shape = eddy_shape_of(eddy_graph_tensor(g, name));
    return true;
}

/* Whether the graph has all variables that the rule connects, of such sizes as it wants. */
static bool has_variables(eddy_graph *g, const rule_match *m)
{
    const int  axis = m->rule.variables_axis;
    eddy_shape first = eddy_shape_unknown(), s;
    if (m->beside && !eddy__find_variable(g, m->beside, &s)) return false;
    for (int i = 0; i < m->n_variables; i++) {
        if (!eddy__find_variable(g, m->variables[i], &s)) return false;
        const int at = axis < 0 ? axis + s.rank : axis;
        if (at >= 0 && at < s.rank) s.dim[at] = EDDY_ANY;
        if (i == 0) first = s;
        if (m->rule.equal && !eddy_shape_equal(s, first)) return false;
    }
    return true;
}

static bool has_sane_parts(const eddy_checkpoint_rule *r)
{
    if (r->parts < 0 || r->parts > EDDY_RULE_NAMES || r->added < 0 || r->added > r->parts ||
        r->forget_part < 0 || r->forget_part > r->parts || r->rows < 0 ||
        r->rows > EDDY_RULE_NAMES || (r->parts == 0 && r->state))
        return false;
    unsigned seen = 0;
    for (int k = 0; k < r->parts; k++) {
        if (r->order[k] < 0 || r->order[k] >= r->parts) return false;
        seen |= 1u << r->order[k];
    }
    return seen == (1u << r->parts) - 1 || seen <= 1;
}

static bool check_rule(const rule_match *m, const char *variable, eddy_error *e)
{
    const eddy_checkpoint_rule *r = &m->rule;
    const char                 *wrong = NULL;
    if (m->n_entries == 0) wrong = "no entry";
    else if (r->axes && !m->axes.text) wrong = "axes that are not valid";
    else if (!has_sane_parts(r)) wrong = "parts that are not valid";
    else if (r->rows > 0 && m->n_entries != 1) wrong = "rows of several entries";
    return !wrong || eddy__error_set(e, EDDY_INVALID_ARGUMENT, "the rule for '%.200s' has %s",
                                     variable, wrong);
}

static bool take_rule(const eddy_checkpoint_map *map, const eddy_checkpoint_rule *r,
                      const captures *c, const char *variable, eddy_arena *texts, rule_match *out,
                      eddy_error *e)
{
    const naming here = { NULL, c }, there = { map, c };
    *out = (rule_match){ .map = map, .rule = *r, .n_variables = count_names(r->variables),
                         .n_entries = count_names(r->entries) };
    if (r->axes && !eddy__axes_parse(r->axes, &out->axes)) out->axes.text = NULL;
    if (!check_rule(out, variable, e)) return false;
    for (int i = 0; i < out->n_variables; i++)
        if (!(out->variables[i] = name_of(&here, r->variables[i], texts, variable, e)))
            return false;
    for (int i = 0; i < out->n_entries; i++)
        if (!(out->entries[i] = name_of(&there, r->entries[i], texts, variable, e))) return false;
    if (r->state && *r->state && !(out->state = name_of(&here, r->state, texts, variable, e)))
        return false;
    if (r->beside && !(out->beside = name_of(&here, r->beside, texts, variable, e))) return false;
    return true;
}

/* A variable that the map's function, or nothing, names. */
static bool take_name(const eddy_checkpoint_map *map, const char *variable, const char *entry,
                      const char *axes, eddy_arena *texts, rule_match *out, eddy_error *e)
{
    *out = (rule_match){ .map = map, .rule = { .axes = axes }, .n_variables = 1, .n_entries = 1 };
    out->variables[0] = eddy__arena_text(texts, variable, strlen(variable));
    out->entries[0] = eddy__arena_text(texts, entry, strlen(entry));
    if (axes && !eddy__axes_parse(axes, &out->axes)) out->axes.text = NULL;
    if (axes && !out->axes.text)
        return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                               "the rule for '%.200s' has axes that are not valid", variable);
    return (out->variables[0] && out->entries[0]) ||
           eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for names");
}

bool eddy__match_rule(const eddy_checkpoint_map *map, eddy_graph *g, const char *variable,
                      eddy_shape shape, eddy_arena *texts, rule_match *out, eddy_error *e)
{
    char     entry[EDDY_MAX_NAME + 2];   /* ends with a zero whatever the function writes */
    captures c;
    for (int depth = 0; map && depth < 100; map = map->then, depth++) {
        const char *axes = NULL;
        memset(entry, 0, sizeof entry);
        if (map->name && map->name(map->context, variable, shape, entry, sizeof entry - 1, &axes))
            return take_name(map, variable, entry, axes, texts, out, e);
        for (int i = 0; map->rules && i < map->n_rules; i++) {
            if (!rule_fits(&map->rules[i], variable, shape.rank, &c)) continue;
            if (!take_rule(map, &map->rules[i], &c, variable, texts, out, e)) return false;
            if ((out->n_variables == 1 && !out->beside) || has_variables(g, out)) return true;
        }
    }
    return take_name(NULL, variable, variable, NULL, texts, out, e);
}
