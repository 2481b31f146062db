/* lines.c -- see lines.h. A graph has a table of lines beside its nodes, from the first node on
 * whose line is known. */
#include "graph/lines.h"
#include "graph/internal.h"

#include <stdio.h>
#include <string.h>

static _Thread_local struct {
    const char *file;
    int         line;
} here;

void eddy_line_(const char *file, int line)
{
    here.file = file;
    here.line = line;
}

/* The text of the file in the memory of the graph; most calls follow one in the same file. */
static const char *file_of(eddy_graph *g)
{
    if (!g->last_file || strcmp(g->last_file, here.file) != 0)
        g->last_file = eddy__arena_text(&g->arena, here.file, strlen(here.file));
    return g->last_file;
}

bool eddy__lines_note(eddy_graph *g, int32_t id)
{
    if (!here.file) return true;
    if (id >= g->lines_capacity) {
        const int32_t more = g->capacity > id ? g->capacity : id + 1;
        if (!eddy__grow(&g->allocator, (void **)&g->lines, (size_t)g->lines_capacity, (size_t)more,
                        sizeof *g->lines))
            return false;
        memset(g->lines + g->lines_capacity, 0,
               (size_t)(more - g->lines_capacity) * sizeof *g->lines);
        g->lines_capacity = more;
    }
    g->lines[id] = (eddy_line){ file_of(g), here.line };
    return g->lines[id].file != NULL;
}

static eddy_line line_of(const eddy_graph *g, int32_t id)
{
    return id < g->lines_capacity && id > 0 ? g->lines[id] : (eddy_line){ 0 };
}

int eddy_line_of(eddy_tensor t, const char **file)
{
    const eddy_node *node = eddy_node_of(t);
    const eddy_line  at = node ? line_of(t.graph, node->id) : (eddy_line){ 0 };
    if (file) *file = at.file ? at.file : "";
    return at.line;
}

/* Inserts ", FILE:LINE" after the name of the node, or appends " [FILE:LINE]". */
static void insert(eddy_error *e, const char *name_end, eddy_line at)
{
    char         text[sizeof e->message];
    const size_t before = name_end ? (size_t)(name_end - e->message) : strlen(e->message);
    snprintf(text, sizeof text, "%.*s%s%.200s:%d%s", (int)before, e->message,
             name_end ? ", " : " [", at.file, at.line, name_end ? name_end : "]");
    memcpy(e->message, text, sizeof text);
}

/* The next name of a node in a message, from `at` on; false if there is none. */
static bool next_name(const char *at, const char **name, const char **end)
{
    const char *begin = strstr(at, "[node '"), *quote = begin ? strchr(begin + 7, '\'') : NULL;
    if (!quote) return false;
    *name = begin + 7;
    *end = quote + 1;
    return true;
}

/* The innermost node comes first: in a loop, that of the body. */
void eddy__lines_add(const eddy_graph *g, eddy_error *e)
{
    const char *name, *end = e->message;
    while (g->lines && next_name(end, &name, &end)) {
        const eddy_name_entry *entry = eddy__names_find(g, name, (size_t)(end - 1 - name));
        const eddy_line        at = line_of(g, entry && entry->node > 0 ? entry->node : 0);
        if (*end == ',') return;                /* it has its line */
        if (at.file) {
            insert(e, end, at);
            return;
        }
    }
}

void eddy__lines_add_here(const eddy_graph *g, eddy_error *e)
{
    const char *name, *end = NULL;
    if (!here.file || !*e->message) return;
    const bool named = next_name(e->message, &name, &end);
    const eddy_name_entry *entry =
        named ? eddy__names_find(g, name, (size_t)(end - 1 - name)) : NULL;
    if (entry && entry->node > 0) eddy__lines_add(g, e);
    else if (!named || *end != ',') insert(e, end, (eddy_line){ here.file, here.line });
}
