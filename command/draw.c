/* draw.c -- eddy show --graph: a drawing with a box for each scope. */
#include "command/groups.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void put_quoted(FILE *to, const char *s)
{
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') fputc('\\', to);
        fputc(*s, to);
    }
}

static const char *shape_of(const group *g)
{
    const unsigned flags = eddy_node_of(g->node)->op->flags;
    if (g->nodes > 1) return "box3d, style=filled, fillcolor=\"#eef3ea\"";
    if (flags & EDDY_OP_VARIABLE) return "cylinder, style=filled, fillcolor=\"#ffe6b3\"";
    if (flags & EDDY_OP_PLACEHOLDER) return "ellipse, style=filled, fillcolor=\"#cce5ff\"";
    if (flags & EDDY_OP_CONSTANT) return "note, style=filled, fillcolor=\"#eeeeee\"";
    if (flags & (EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT))
        return "box, style=filled, fillcolor=\"#ffd6d6\"";
    return "box, style=rounded";
}

typedef struct edge {
    int         from, to;               /* groups */
    eddy_tensor x;                      /* its output is -1 for a control dependency */
} edge;

static int compare(const void *a, const void *b)
{
    const edge   *e = a, *f = b;
    const int32_t by[][2] = { { e->to, f->to }, { e->from, f->from }, { e->x.node, f->x.node },
                              { e->x.output, f->x.output } };
    for (int i = 0; i < 4; i++)
        if (by[i][0] != by[i][1]) return by[i][0] < by[i][1] ? -1 : 1;
    return 0;
}

static void add_edge(edge *list, size_t *n, const groups *g, eddy_tensor x, int to)
{
    const int from = g->of[x.node];
    if (from >= 0 && from != to) list[(*n)++] = (edge){ from, to, x };
}

/* One edge between two groups, with the shape of its tensor, or the number of its tensors. */
static size_t write_edge(FILE *to, const edge *first, const edge *end)
{
    const edge *e = first, *last = NULL;
    int         tensors = 0;
    for (; e < end && e->from == first->from && e->to == first->to; e++) {
        if (e->x.output < 0 || (last && compare(last, e) == 0)) continue;
        last = e;
        tensors++;
    }
    fprintf(to, "  n%d -> n%d", first->from, first->to);
    if (tensors == 0) fputs(" [style=dashed]", to);
    else if (tensors > 1) fprintf(to, " [label=\"%d tensors\"]", tensors);
    else if (eddy_shape_of(last->x).rank != 0) {
        char s[200];
        fprintf(to, " [label=\"%s\"]", eddy_shape_print(eddy_shape_of(last->x), s, sizeof s));
    }
    fputs(";\n", to);
    return (size_t)(e - first);
}

static void write_edges(FILE *to, const model *m, const groups *g)
{
    const int32_t size = eddy_graph_size(m->graph);
    size_t        most = 0, n = 0;
    for (int32_t id = 1; id <= size; id++) {
        const eddy_node *node = eddy_node_of(eddy_node_at(m->graph, id));
        most += (size_t)node->n_inputs + (size_t)node->n_controls;
    }
    edge *list = room(most, sizeof *list);
    for (int32_t id = 1; id <= size; id++) {
        const eddy_node *node = eddy_node_of(eddy_node_at(m->graph, id));
        if (g->of[id] < 0) continue;
        for (int32_t i = 0; i < node->n_inputs; i++)
            add_edge(list, &n, g, node->inputs[i], g->of[id]);
        for (int32_t i = 0; i < node->n_controls; i++)
            add_edge(list, &n, g, (eddy_tensor){ .node = node->controls[i], .output = -1 },
                     g->of[id]);
    }
    qsort(list, n, sizeof *list, compare);
    for (size_t i = 0; i < n;) i += write_edge(to, list + i, list + n);
}

static void write_dot(FILE *to, const model *m, const groups *g)
{
    fputs("digraph model {\n  ranksep=0.35;\n  node [fontname=\"sans-serif\", fontsize=11];\n"
          "  edge [fontname=\"sans-serif\", fontsize=9, color=\"#777777\", arrowsize=0.7];\n", to);
    for (int i = 0; i < g->count; i++) {
        const group *at = &g->at[i];
        fprintf(to, "  n%d [label=\"", i);
        put_quoted(to, at->name);
        if (at->nodes > 1) fprintf(to, "\\n%d nodes", at->nodes);
        else fprintf(to, "\\n%s", eddy_type_of(at->node));
        if (at->parameters > 0) fprintf(to, "\\n%s", number_of(at->parameters, "parameter"));
        fprintf(to, "\", shape=%s];\n", shape_of(at));
    }
    write_edges(to, m, g);
    fputs("}\n", to);
}

/* Nodes that are in no scope, or in none of those into which the open one is divided. */
static bool is_loose(const groups *scopes, int scope)
{
    return strcmp(scopes->at[scope].name, scopes->open) == 0 || !*scopes->at[scope].name;
}

/* Loose nodes keep a box of their own if there are few boxes; a group of the others has
 * as many neighbors in the order of the graph as keeps the number of boxes below `most`. */
static groups fold(const model *m, int depth, int most)
{
    groups    scopes = groups_make(m, NULL, BY_SCOPE, depth);
    groups    g = groups_make(m, NULL, BY_NODE, 0);
    int       loose = 0;
    const bool many = scopes.count > most;      /* then scopes do not count */
    const int  rest = many ? most : most > scopes.count ? most - scopes.count : 1;
    for (int i = 0; i < scopes.count; i++)
        if (many || is_loose(&scopes, i)) loose += scopes.at[i].nodes;
    const int each = loose > rest ? (loose + rest - 1) / rest : 1;
    int      *box = room((size_t)scopes.count, sizeof *box), open = -1, in_open = 0;
    groups    folded = { 0, room((size_t)g.count, sizeof *folded.at), g.of, scopes.open };
    for (int32_t id = 1; id <= eddy_graph_size(m->graph); id++) {
        if (g.of[id] < 0) continue;
        const group *node = &g.at[g.of[id]];
        const int    scope = scopes.of[id];
        const bool   alone = many || is_loose(&scopes, scope);
        int          to = alone ? (in_open < each ? open : -1) : box[scope] - 1;
        if (to < 0) {
            to = folded.count++;
            folded.at[to] = (group){ .name = alone ? node->name : scopes.at[scope].name };
            if (alone) in_open = 0;
            else box[scope] = to + 1;
        }
        if (alone) {
            open = to;
            in_open++;
            if (folded.at[to].nodes == 1)
                folded.at[to].name = text("%s ...", folded.at[to].name);
        }
        folded.at[to].node = node->node;
        folded.at[to].nodes++;
        folded.at[to].parameters += node->parameters;
        folded.of[id] = to;
    }
    return folded;
}

/* Runs Graphviz on the text in `from`. */
static int layout(FILE *from, const char *path, const char *ending)
{
    posix_spawn_file_actions_t actions;
    char *const arguments[] = { "dot", text("-T%s", ending), "-o", text("%s", path), NULL };
    pid_t       child;
    int         status = 0;
    rewind(from);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(from), STDIN_FILENO);
    const int error = posix_spawnp(&child, "dot", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        return fail(path, "the program dot of Graphviz does not start (%s); install Graphviz, or "
                          "write a file that ends in .dot", strerror(error));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return SUCCESS;
    return fail(path, "the program dot of Graphviz failed");
}

int groups_draw(const model *m, const char *path, int depth, int most)
{
    static const char *const endings[] = { "svg", "png", "pdf", "dot" };
    const char *dot = strrchr(path, '.');
    int         kind = 0;
    for (; kind < 4; kind++)
        if (dot && strcmp(dot + 1, endings[kind]) == 0) break;
    if (kind == 4) return fail(path, "a drawing ends in .svg, .png, .pdf or .dot");
    FILE *to = kind == 3 ? fopen(path, "w") : tmpfile();
    if (!to) return fail(path, "%s", strerror(errno));
    const groups g = fold(m, depth, most);
    write_dot(to, m, &g);
    int status = fflush(to) != 0 || ferror(to) ? fail(path, "%s", strerror(errno)) : SUCCESS;
    if (status == SUCCESS && kind < 3) status = layout(to, path, endings[kind]);
    if (fclose(to) != 0 && status == SUCCESS) status = fail(path, "%s", strerror(errno));
    if (status == SUCCESS && as_json) {
        json_open(NULL, '{');
        json_text("file", path);
        json_number("boxes", g.count);
        json_close('}');
    } else if (status == SUCCESS) printf("%s: %d box%s\n", path, g.count, g.count == 1 ? "" : "es");
    return status;
}
