/* yaml_tree.c -- trees of YAML items with positions, built from libyaml's events. */
#include "graph/files/yaml_tree.h"

#include <string.h>

/* --------------------------------------------------------------- errors -- */

static bool fail(eddy_yaml_parser *p, size_t line, size_t column, eddy_status s, const char *fmt,
                 va_list args)
{
    char what[600];
    vsnprintf(what, sizeof what, fmt, args);
    return eddy__error_set(p->error, s, "%.380s:%zu:%zu: %s", p->name, line, column, what);
}

bool eddy__yaml_fail_at(eddy_yaml_parser *p, size_t line, size_t column, eddy_status s,
                        const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail(p, line, column, s, fmt, args);
    va_end(args);
    return false;
}

bool eddy__yaml_fail(eddy_yaml_parser *p, const eddy_yaml_item *at, eddy_status s, const char *fmt,
                     ...)
{
    va_list args;
    va_start(args, fmt);
    fail(p, at->line, at->column, s, fmt, args);
    va_end(args);
    return false;
}

static bool no_memory(eddy_yaml_parser *p)
{
    return eddy__error_set(p->error, EDDY_NO_MEMORY, "%.600s: out of memory while reading",
                           p->name);
}

static bool syntax_error(eddy_yaml_parser *p)
{
    const yaml_parser_t *y = &p->yaml;
    if (p->error && p->error->status != EDDY_OK) return false;       /* reading the file failed */
    if (y->error == YAML_MEMORY_ERROR) return no_memory(p);          /* which names no problem */
    if (y->error == YAML_READER_ERROR)
        return eddy__error_set(p->error, EDDY_CORRUPT, "%.400s: byte %zu: %s", p->name,
                               y->problem_offset, y->problem);
    return eddy__yaml_fail_at(p, y->problem_mark.line + 1, y->problem_mark.column + 1, EDDY_CORRUPT,
                              "%s%s%s", y->problem, y->context ? " " : "",
                              y->context ? y->context : "");
}

/* --------------------------------------------------------------- source -- */

static int read_some(void *data, unsigned char *buf, size_t size, size_t *got)
{
    eddy_yaml_parser *p = data;
    int64_t           r = eddy__reader_some(&p->file, buf, size);
    if (r >= 0 && p->file.at > p->max_bytes) {
        eddy__error_set(p->error, EDDY_LIMIT, "%.600s: the file has more than %lld bytes", p->name,
                        (long long)p->max_bytes);
        r = -1;
    }
    *got = r > 0 ? (size_t)r : 0;
    return r >= 0;
}

bool eddy__yaml_open(eddy_yaml_parser *p, const eddy_yaml_source *source, eddy_error *e)
{
    *p = (eddy_yaml_parser){ .source = source, .error = e, .file.fd = -1 };
    p->name = source->path ? source->path : "text";
    p->arena.allocator = source->allocator ? source->allocator : &eddy__libc;
    p->max_bytes = source->max_bytes > 0 ? source->max_bytes : (int64_t)1 << 30;
    p->max_items = source->max_items > 0 ? source->max_items : (int64_t)1 << 22;
    if (!yaml_parser_initialize(&p->yaml)) {
        memset(&p->yaml, 0, sizeof p->yaml);
        return no_memory(p);
    }
    uint64_t size = source->size;
    if (!source->text) {
        if (!eddy__reader_open(&p->file, source->files, source->path, e)) return false;
        size = (uint64_t)p->file.size;
    }
    if (size > (uint64_t)p->max_bytes)
        return eddy__error_set(e, EDDY_LIMIT, "%.600s: the file has %llu bytes; the limit is %lld",
                               p->name, (unsigned long long)size, (long long)p->max_bytes);
    yaml_parser_set_encoding(&p->yaml, YAML_UTF8_ENCODING);
    if (source->text)
        yaml_parser_set_input_string(&p->yaml, (const unsigned char *)source->text, source->size);
    else yaml_parser_set_input(&p->yaml, read_some, p);
    return true;
}

void eddy__yaml_close(eddy_yaml_parser *p)
{
    yaml_parser_delete(&p->yaml);
    eddy__reader_close(&p->file);
    eddy__arena_free(&p->arena);
}

/* --------------------------------------------------------------- events -- */

/* A YAML feature of the event that graph files must not use; NULL if there is none. */
static const char *forbidden(const yaml_event_t *e)
{
    switch (e->type) {                  /* unreached: another type than these */
    case YAML_ALIAS_EVENT: return "aliases are not allowed";
    case YAML_DOCUMENT_START_EVENT:
        return e->data.document_start.version_directive ||
                       e->data.document_start.tag_directives.start !=
                           e->data.document_start.tag_directives.end
                   ? "directives are not allowed"
                   : NULL;
    case YAML_SCALAR_EVENT:
        return e->data.scalar.anchor ? "anchors are not allowed"
             : e->data.scalar.tag ? "tags are not allowed"
             : memchr(e->data.scalar.value, 0, e->data.scalar.length)
                 ? "zero characters are not allowed" : NULL;
    case YAML_SEQUENCE_START_EVENT:
        return e->data.sequence_start.anchor ? "anchors are not allowed"
             : e->data.sequence_start.tag ? "tags are not allowed" : NULL;
    case YAML_MAPPING_START_EVENT:
        return e->data.mapping_start.anchor ? "anchors are not allowed"
             : e->data.mapping_start.tag ? "tags are not allowed" : NULL;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: break;
    }
    return NULL;
}

static bool is_open_event(const yaml_event_t *e)
{
    return e->type == YAML_SEQUENCE_START_EVENT || e->type == YAML_MAPPING_START_EVENT;
}

static bool is_close_event(const yaml_event_t *e)
{
    return e->type == YAML_SEQUENCE_END_EVENT || e->type == YAML_MAPPING_END_EVENT;
}

bool eddy__yaml_next(eddy_yaml_parser *p, yaml_event_t *event)
{
    if (!yaml_parser_parse(&p->yaml, event)) return syntax_error(p);
    const char *why = forbidden(event);
    if (is_open_event(event) && ++p->depth > EDDY_YAML_DEPTH) why = "nested too deep";
    if (is_close_event(event)) p->depth--;
    if (!why) return true;
    eddy__yaml_fail_at(p, event->start_mark.line + 1, event->start_mark.column + 1,
                       p->depth > EDDY_YAML_DEPTH ? EDDY_LIMIT : EDDY_CORRUPT, "%s", why);
    yaml_event_delete(event);
    return false;
}

/* ---------------------------------------------------------------- trees -- */

static eddy_yaml_item *new_item(eddy_yaml_parser *p, const yaml_event_t *e)
{
    eddy_yaml_item *it = eddy__arena_alloc(&p->arena, sizeof *it);
    if (!it) return NULL;
    *it = (eddy_yaml_item){ .line = e->start_mark.line + 1, .column = e->start_mark.column + 1 };
    if (e->type == YAML_SEQUENCE_START_EVENT) it->kind = EDDY_YAML_LIST;
    else if (e->type == YAML_MAPPING_START_EVENT) it->kind = EDDY_YAML_MAP;
    else {
        it->kind = EDDY_YAML_SCALAR;
        it->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        it->length = e->data.scalar.length;
        it->text = eddy__arena_text(&p->arena, (const char *)e->data.scalar.value, it->length);
        if (!it->text) return NULL;
    }
    return it;
}

typedef struct open_item {
    eddy_yaml_item *item, *last;     /* last child so far */
} open_item;

static void add_child(open_item *parent, eddy_yaml_item *it)
{
    if (parent->last) parent->last->next = it;
    else parent->item->first = it;
    parent->last = it;
    parent->item->count++;
}

/* The item of an event that opens one or is one, put under the innermost open
 * one; NULL after an error. */
static eddy_yaml_item *add_item(eddy_yaml_parser *p, const yaml_event_t *e, open_item *open, int n,
                                int64_t *items)
{
    if (++*items > p->max_items) {
        eddy__yaml_fail_at(p, e->start_mark.line + 1, e->start_mark.column + 1, EDDY_LIMIT,
                           "a node has too many items; the limit is %lld", (long long)p->max_items);
        return NULL;
    }
    eddy_yaml_item *it = new_item(p, e);
    if (!it) no_memory(p);
    else if (n > 0) add_child(&open[n - 1], it);
    return it;
}

eddy_yaml_item *eddy__yaml_tree(eddy_yaml_parser *p, yaml_event_t *event)
{
    open_item       open[EDDY_YAML_DEPTH + 1];
    int             n = 0;
    int64_t         items = 0;
    eddy_yaml_item *root = NULL;
    for (;;) {
        if (is_close_event(event)) n--;
        else {
            eddy_yaml_item *it = add_item(p, event, open, n, &items);
            if (it && !root) root = it;
            if (it && is_open_event(event)) open[n++] = (open_item){ it, NULL };
            if (!it) root = NULL;
        }
        yaml_event_delete(event);
        if (n == 0 || !root) return root;
        if (!eddy__yaml_next(p, event)) return NULL;
    }
}

/* --------------------------------------------------------------- fields -- */

bool eddy__yaml_fields(eddy_yaml_parser *p, const eddy_yaml_item *map, const char *const *keys,
                       int n, const eddy_yaml_item **out)
{
    memset(out, 0, (size_t)n * sizeof *out);
    if (map->kind != EDDY_YAML_MAP)
        return eddy__yaml_fail(p, map, EDDY_CORRUPT, "expected a map");
    for (const eddy_yaml_item *key = map->first; key; key = key->next->next) {
        int i = 0;
        if (key->kind != EDDY_YAML_SCALAR)
            return eddy__yaml_fail(p, key, EDDY_CORRUPT, "expected a key");
        while (i < n && strcmp(keys[i], key->text) != 0) i++;
        if (i == n) return eddy__yaml_fail(p, key, EDDY_CORRUPT, "unknown key '%.100s'", key->text);
        if (out[i])
            return eddy__yaml_fail(p, key, EDDY_CORRUPT, "the key '%.100s' appears twice",
                                   key->text);
        out[i] = key->next;
    }
    return true;
}
