/* config.c -- reads YAML files with libyaml, and their values. */
#include "command/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MAX_DEPTH = 64, MAX_BYTES = 1 << 20 };

/* A document while it is copied; `made` has the copies by the number of their node, because an
 * alias is a second reference to one. */
typedef struct reading {
    const char     *file;
    yaml_document_t document;
    config        **made;
} reading;

bool config_fail(const config *c, const char *format, ...)
{
    va_list args;
    char    sentence[2000];
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    fail(c ? c->place : NULL, "%s", sentence);
    return false;
}

/* The value of an option that is one word needs no more than the option. */
static const char *place_of(const reading *r, yaml_mark_t mark)
{
    if (*r->file == '-' && mark.line == 0 && mark.column == 0) return r->file;
    return text("%s:%zu:%zu", r->file, mark.line + 1, mark.column + 1);
}

/* ------------------------------------------------------------------- trees -- */

static config *copy(reading *r, int id, int depth);

static bool copy_map(reading *r, config *c, const yaml_node_t *n, int depth)
{
    c->kind = CONFIG_MAP;
    const int count = (int)(n->data.mapping.pairs.top - n->data.mapping.pairs.start);
    c->keys = room((size_t)count, sizeof(config *));
    c->at = room((size_t)count, sizeof(config *));
    for (int i = 0; i < count; i++) {
        const yaml_node_pair_t *p = &n->data.mapping.pairs.start[i];
        config                 *key = copy(r, p->key, depth + 1);
        if (!key) return false;
        if (key->kind != CONFIG_TEXT) return config_fail(key, "a key must be a word");
        if (config_get(c, key->text)) return config_fail(key, "'%s' is given twice", key->text);
        c->keys[i] = key;
        c->at[i] = copy(r, p->value, depth + 1);
        if (!c->at[i]) return false;
        c->count++;
    }
    return true;
}

static config *copy(reading *r, int id, int depth)
{
    const yaml_node_t *n = yaml_document_get_node(&r->document, id);
    config            *c = r->made[id];
    bool               fine = true;
    if (c) return c;
    c = room(1, sizeof *c);
    c->place = place_of(r, n->start_mark);
    if (depth > MAX_DEPTH) fine = config_fail(c, "more than %d levels", MAX_DEPTH);
    else if (n->type == YAML_SCALAR_NODE) {
        c->text = text("%s", (const char *)n->data.scalar.value);
    } else if (n->type == YAML_MAPPING_NODE) {
        fine = copy_map(r, c, n, depth);
    } else {
        c->kind = CONFIG_LIST;
        const int count = (int)(n->data.sequence.items.top - n->data.sequence.items.start);
        c->at = room((size_t)count, sizeof(config *));
        for (int i = 0; fine && i < count; i++) {
            c->at[i] = copy(r, n->data.sequence.items.start[i], depth + 1);
            fine = c->at[i] != NULL;
            c->count++;
        }
    }
    r->made[id] = c;
    return fine ? c : NULL;
}

config *config_parse(const char *file, const char *bytes, size_t size)
{
    reading       r = { .file = file };
    yaml_parser_t p;
    config       *c = NULL;
    if (!yaml_parser_initialize(&p)) {
        fail(file, "out of memory");
        return NULL;
    }
    yaml_parser_set_input_string(&p, (const unsigned char *)bytes, size);
    if (!yaml_parser_load(&p, &r.document)) {
        fail(place_of(&r, p.problem_mark), "%s%s%s", p.context ? p.context : "",
             p.context ? ": " : "", p.problem ? p.problem : "this is not YAML");
    } else {
        if (!yaml_document_get_root_node(&r.document)) fail(file, "the file is empty");
        else {
            const size_t n = (size_t)(r.document.nodes.top - r.document.nodes.start);
            r.made = room(n + 1, sizeof(config *));
            c = copy(&r, 1, 0);
        }
        yaml_document_delete(&r.document);
    }
    yaml_parser_delete(&p);
    return c;
}

config *config_read(const char *path)
{
    char  *bytes = room(MAX_BYTES + 1, 1);
    FILE  *f = fopen(path, "rb");
    size_t n = 0;
    if (!f) {
        fail(path, "%s", strerror(errno));
        return NULL;
    }
    n = fread(bytes, 1, MAX_BYTES + 1, f);
    const bool bad = ferror(f);
    const int  why = errno;
    fclose(f);
    if (bad || n > MAX_BYTES) {
        fail(path, "%s", bad ? strerror(why) : "a configuration has at most 1 MiB");
        return NULL;
    }
    config *c = config_parse(path, bytes, n);
    if (c && c->kind != CONFIG_MAP) {
        config_fail(c, "a configuration begins with keys, such as 'data:' and 'model:'");
        return NULL;
    }
    return c;
}

config *config_get(const config *map, const char *key)
{
    for (int i = 0; map && map->kind == CONFIG_MAP && i < map->count; i++)
        if (strcmp(map->keys[i]->text, key) == 0) return map->at[i];
    return NULL;
}

/* The slot of a key in a map, which is made if it is missing, or of a number in a list. */
static config **slot(config *in, const char *key, const char *place)
{
    if (in->kind == CONFIG_LIST) {
        char      *end;
        const long i = strtol(key, &end, 10);
        return *end || i < 0 || i >= in->count ? NULL : &in->at[i];
    }
    if (in->kind == CONFIG_TEXT) {              /* "adam" becomes {adam: {...}} */
        config *name = room(1, sizeof *name);
        *name = *in;
        *in = (config){ .kind = CONFIG_MAP, .place = in->place };
        if (strcmp(name->text, key) != 0) return NULL;
    }
    for (int i = 0; i < in->count; i++)
        if (strcmp(in->keys[i]->text, key) == 0) return &in->at[i];
    config **keys = room((size_t)in->count + 1, sizeof(config *)),
           **at = room((size_t)in->count + 1, sizeof(config *));
    for (int i = 0; i < in->count; i++) {
        keys[i] = in->keys[i];
        at[i] = in->at[i];
    }
    in->keys = keys;
    in->at = at;
    in->keys[in->count] = room(1, sizeof(config));
    *in->keys[in->count] = (config){ .place = place, .text = key };
    return &in->at[in->count++];
}

/* An alias is the same part at several places, of which one is to change. */
static config *copy_of_part(const config *c)
{
    const size_t n = (size_t)c->count;
    config      *own = room(1, sizeof *own);
    *own = *c;
    if (n == 0) return own;
    own->at = room(n, sizeof(config *));
    memcpy(own->at, c->at, n * sizeof(config *));
    if (c->kind != CONFIG_MAP) return own;
    own->keys = room(n, sizeof(config *));
    memcpy(own->keys, c->keys, n * sizeof(config *));
    return own;
}

bool config_set(config *root, const char *assignment)
{
    const char *equal = strchr(assignment, '='), *place = text("--set %s", assignment);
    config     *in = root, **to = NULL;
    if (!equal || equal == assignment || !equal[1])
        return config_fail(NULL, "--set takes KEY=VALUE, such as epochs=5, not '%s'", assignment);
    config *value = config_parse(place, equal + 1, strlen(equal + 1));
    if (!value) return false;
    for (const char *from = assignment; from <= equal; from += strcspn(from, ".=") + 1) {
        const char *key = text("%.*s", (int)strcspn(from, ".="), from);
        if (to && !*to) {
            *to = room(1, sizeof(config));
            **to = (config){ .kind = CONFIG_MAP, .place = place };
        }
        if (to) in = *to = copy_of_part(*to);
        to = slot(in, key, place);
        if (!to) {
            fail(place, "'%s' is not a part of the configuration", key);
            return false;
        }
        if (from[strcspn(from, ".=")] == '=') break;
    }
    *to = value;
    return true;
}

/* ------------------------------------------------------------------ values -- */

static const char *kind_text(const config *c)
{
    return c->kind == CONFIG_MAP ? "keys with values" : c->kind == CONFIG_LIST ? "a list" : c->text;
}

bool config_check(const config *c, const char *what, const char *const *known)
{
    if (c->kind != CONFIG_MAP)
        return config_fail(c, "%s has keys with values, such as '%s:', not %s%s%s", what, known[0],
                           c->kind == CONFIG_TEXT ? "'" : "", kind_text(c),
                           c->kind == CONFIG_TEXT ? "'" : "");
    for (int i = 0; i < c->count; i++) {
        const char *key = c->keys[i]->text, *near = nearest(key, known);
        bool        found = false;
        for (const char *const *k = known; !found && *k; k++) found = strcmp(*k, key) == 0;
        if (found) continue;
        if (near) return config_fail(c->keys[i], "%s has no '%s'; is '%s' meant?", what, key, near);
        const char *all = "";
        for (const char *const *k = known; *k; k++) all = text("%s%s%s", all, *all ? ", " : "", *k);
        return config_fail(c->keys[i], "%s has no '%s'; it has %s", what, key, all);
    }
    return true;
}

static bool expected(const config *c, const char *what)
{
    const bool word = c->kind == CONFIG_TEXT;
    return config_fail(c, "expected %s, found %s%s%s", what, word ? "'" : "", kind_text(c),
                       word ? "'" : "");
}

bool config_text(const config *c, const char **to)
{
    if (!c) return true;
    if (c->kind != CONFIG_TEXT || !*c->text) return expected(c, "a word");
    *to = c->text;
    return true;
}

bool config_is_number(const config *c, double *value)
{
    char *end;
    if (c->kind != CONFIG_TEXT || !*c->text) return false;
    *value = strtod(c->text, &end);
    return !*end;
}

bool config_number(const config *c, double *to)
{
    return !c || config_is_number(c, to) || expected(c, "a number");
}

bool config_count(const config *c, int64_t least, int64_t *to)
{
    char *end;
    if (!c) return true;
    if (c->kind != CONFIG_TEXT || !*c->text) return expected(c, "a whole number");
    errno = 0;
    const long long n = strtoll(c->text, &end, 10);
    if (*end || errno) return expected(c, "a whole number");
    if (n < least)
        return config_fail(c, "expected a whole number of at least %lld, found %lld",
                           (long long)least, n);
    *to = n;
    return true;
}

bool config_bool(const config *c, bool *to)
{
    if (!c) return true;
    const char *w = c->kind == CONFIG_TEXT ? c->text : "";
    if (strcmp(w, "true") != 0 && strcmp(w, "false") != 0) return expected(c, "true or false");
    *to = *w == 't';
    return true;
}

bool config_names(const config *c, text_list *to)
{
    if (!c) return true;
    if (c->kind == CONFIG_MAP) return expected(c, "words");
    const int n = c->kind == CONFIG_TEXT ? 1 : c->count;
    *to = (text_list){ n, room((size_t)n, sizeof *to->at) };
    for (int i = 0; i < n; i++)
        if (!config_text(c->kind == CONFIG_TEXT ? c : c->at[i], &to->at[i])) return false;
    return true;
}
