/* names.c -- unique node names: a hash table that maps names, ignoring case, to nodes and
 * scopes. */
#include "graph/internal.h"

#include <string.h>

static char to_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* Continues the FNV-1a hash h of a string with s. */
static uint64_t hash_append(uint64_t h, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)to_lower(s[i])) * 1099511628211u;
    return h;
}

static uint64_t hash_name(const char *s, size_t n)
{
    return hash_append(1469598103934665603u, s, n);
}

static bool same_name(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!a[i] || to_lower(a[i]) != to_lower(b[i])) return false;
    return a[n] == 0;
}

/* The entry of the name, or the free one where it would go. */
static eddy_name_entry *probe(const eddy_names *t, const char *name, size_t n, uint64_t hash)
{
    for (size_t i = (size_t)hash;; i++) {
        eddy_name_entry *e = &t->entries[i & (t->capacity - 1)];
        if (!e->name || (e->hash == hash && same_name(e->name, name, n))) return e;
    }
}

static bool grow(eddy_graph *g)
{
    eddy_names bigger = { .capacity = g->names.capacity ? g->names.capacity * 2 : 64 };
    bigger.entries = eddy__allocate_zeroed(&g->allocator, bigger.capacity, sizeof *bigger.entries);
    if (!bigger.entries) return false;
    for (size_t i = 0; i < g->names.capacity; i++) {
        const eddy_name_entry *e = &g->names.entries[i];
        if (!e->name) continue;
        *probe(&bigger, e->name, strlen(e->name), e->hash) = *e;
        bigger.used++;
    }
    eddy__names_free(g);
    g->names = bigger;
    return true;
}

void eddy__names_free(eddy_graph *g)
{
    eddy__release(&g->allocator, g->names.entries, g->names.capacity * sizeof *g->names.entries);
    g->names = (eddy_names){ 0 };
}

static eddy_name_entry *find(const eddy_graph *g, const char *name, size_t n, uint64_t hash)
{
    if (g->names.capacity == 0) return NULL;
    eddy_name_entry *e = probe(&g->names, name, n, hash);
    return e->name && e->node >= 0 ? e : NULL;
}

eddy_name_entry *eddy__names_find(const eddy_graph *g, const char *name, size_t length)
{
    return find(g, name, length, hash_name(name, length));
}

/* Takes `name`, which must be free. */
static const char *reserve_name(eddy_graph *g, const char *name, size_t n, uint64_t hash,
                                int32_t node)
{
    if (2 * (g->names.used + 1) > g->names.capacity && !grow(g)) return NULL;
    char *copy = eddy__arena_text(&g->arena, name, n);
    if (!copy) return NULL;
    eddy_name_entry *e = probe(&g->names, copy, n, hash);
    if (!e->name) g->names.used++;
    *e = (eddy_name_entry){ .name = copy, .hash = hash, .node = node, .next = 1 };
    return copy;
}

/* Letters, digits, '_', '.', '-', '/'; at the root the first is a letter, a digit or a dot.
 * TensorFlow's rule. */
bool eddy__name_is_valid(const char *name, bool at_root)
{
    for (const char *c = name; *c; c++) {
        const char l = to_lower(*c);
        bool       word = (l >= 'a' && l <= 'z') || (l >= '0' && l <= '9') || l == '.';
        bool more = *c == '_' || *c == '-' || *c == '/';
        if (!word && !(more && (c > name || !at_root))) return false;
    }
    return *name != 0;
}

/* Writes scope + name into buf; its length, or 0 with an error on the graph. */
static size_t full_name(eddy_graph *g, const char *name, char *buf)
{
    const char *scope = eddy_scope_name(g);
    size_t      n = strlen(name);
    bool        verbatim = n > 1 && name[n - 1] == '/';
    if (verbatim) {
        scope = "";
        n--;
    }
    size_t outer = strlen(scope), length = outer + n;
    if (length > EDDY_LONGEST_NAME) {
        eddy_fail(g, EDDY_LIMIT, "a name of %zu characters is too long; the limit is %d", length,
                  EDDY_LONGEST_NAME);
        return 0;
    }
    memcpy(buf, scope, outer);
    memcpy(buf + outer, name, n);
    buf[length] = 0;
    /* A scope that was entered by its full name may itself be none for the root. */
    if (n == 0 || !eddy__name_is_valid(buf, true)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "'%.200s' is not a valid name; a name consists of "
                  "letters, digits and the characters _ . - / and begins with a letter, a digit or "
                  "a dot", buf);
        return 0;
    }
    return length;
}

/* Makes buf (length n) unique by a suffix; *hash is the result's. */
static size_t add_suffix(eddy_graph *g, char *buf, size_t n, uint64_t *hash)
{
    uint64_t         stem = hash_name(buf, n);
    eddy_name_entry *e = find(g, buf, n, stem);
    *hash = stem;
    if (!e) return n;
    int32_t suffix = e->next;
    size_t  length;
    do {
        length = n + (size_t)snprintf(buf + n, 16, "_%d", suffix++);
        *hash = hash_append(stem, buf + n, length - n);
    } while (find(g, buf, length, *hash));
    e->next = suffix;
    return length;
}

const char *eddy__names_make(eddy_graph *g, const char *name, int32_t node)
{
    char     buf[EDDY_MAX_NAME];
    uint64_t hash;
    size_t   n = full_name(g, name, buf);
    if (n == 0) return NULL;
    bool verbatim = name[strlen(name) - 1] == '/';
    eddy_name_entry *e = verbatim ? eddy__names_find(g, buf, n) : NULL;
    if (e && e->node == 0) {                    /* a node named as the scope it closes */
        e->node = node;
        return e->name;
    }
    n = add_suffix(g, buf, n, &hash);
    const char *made = reserve_name(g, buf, n, hash, node);
    if (!made) eddy_fail(g, EDDY_NO_MEMORY, "out of memory for the name '%.200s'", buf);
    return made;
}

/* Deep scopes are skipped, because long names would need unlimited memory. */
bool eddy__names_reserve_scopes(eddy_graph *g, const char *name)
{
    enum { LEVELS = 16 };
    char   scope[EDDY_MAX_NAME];
    size_t n = strlen(name);
    for (int level = 0; level < LEVELS; level++) {
        while (n > 0 && name[n - 1] != '/') n--;
        if (n < 2 || n >= sizeof scope || eddy__names_find(g, name, n - 1)) break;
        memcpy(scope, name, n);
        scope[n--] = 0;
        if (!eddy__names_make(g, scope, 0)) return false;
    }
    return true;
}

char *eddy_unique_name(eddy_graph *g, const char *name, bool reserve, char *buf, size_t size)
{
    if (!buf || size == 0) return buf;
    buf[0] = 0;
    if (!eddy__graph_ready(g) || !name) return buf;
    if (reserve) {
        const char *made = eddy__names_make(g, name, 0);
        snprintf(buf, size, "%s", made ? made : "");
        return buf;
    }
    char     text[EDDY_MAX_NAME];
    uint64_t hash;
    size_t   n = full_name(g, name, text);
    if (n == 0) return buf;
    eddy_name_entry *e = eddy__names_find(g, text, n);
    int32_t next = e ? e->next : 0;
    add_suffix(g, text, n, &hash);
    if (e) e->next = next;
    snprintf(buf, size, "%s", text);
    return buf;
}

eddy_tensor eddy_named(const char *name, eddy_tensor t)
{
    eddy_node *node = (eddy_node *)(uintptr_t)eddy_node_of(t);
    if (!node || !eddy__graph_ready(t.graph)) return t;
    if (!name || !*name)
        return eddy_fail(t.graph, EDDY_INVALID_ARGUMENT, "named: no name is given for '%s'",
                         node->name);
    if (t.graph->finalized)
        return eddy_fail(t.graph, EDDY_FINALIZED, "Graph is finalized and cannot be modified.");
    eddy_name_entry *old = eddy__names_find(t.graph, node->name, strlen(node->name));
    if (old) old->node = -1;
    const char *made = eddy__names_make(t.graph, name, node->id);
    if (!made) {
        old = probe(&t.graph->names, node->name, strlen(node->name),
                    hash_name(node->name, strlen(node->name)));
        if (old->name) old->node = node->id;
        return eddy_none(t.graph);
    }
    node->name = made;
    return t;
}
