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
    if (flags & EDDY_OP_PLACEHOLDER) return "parallelogram, style=filled, fillcolor=\"#cce5ff\"";
    if (flags & EDDY_OP_CONSTANT) return "note, style=filled, fillcolor=\"#eeeeee\"";
    if (flags & (EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT))
        return "box, style=filled, fillcolor=\"#ffd6d6\"";
    return "box, style=rounded";
}

/* Pairs of groups between which an edge was written already. */
typedef struct edges {
    size_t    n;
    uint64_t *at;
} edges;

static bool is_new(edges *e, int from, int to)
{
    const uint64_t key = ((uint64_t)(uint32_t)from << 32 | (uint32_t)to) + 1;
    for (size_t i = (size_t)(key * 0x9E3779B97F4A7C15u) % e->n;; i = (i + 1) % e->n) {
        if (e->at[i] == key) return false;
        if (e->at[i]) continue;
        e->at[i] = key;
        return true;
    }
}

static void write_edges(FILE *to, const model *m, const groups *g)
{
    const int32_t size = eddy_graph_size(m->graph);
    size_t        n = 1;
    for (int32_t id = 1; id <= size; id++) n += (size_t)eddy_inputs_of(eddy_node_at(m->graph, id));
    edges seen = { 2 * n, room(2 * n, sizeof *seen.at) };
    for (int32_t id = 1; id <= size; id++) {
        const eddy_node *node = eddy_node_of(eddy_node_at(m->graph, id));
        for (int32_t i = 0; g->of[id] >= 0 && i < node->n_inputs; i++) {
            const int from = g->of[node->inputs[i].node];
            if (from < 0 || from == g->of[id] || !is_new(&seen, from, g->of[id])) continue;
            const eddy_tensor x = node->inputs[i];
            char              s[200];
            fprintf(to, "  n%d -> n%d [label=\"%s\"];\n", from, g->of[id],
                    eddy_shape_print(eddy_shape_of(x), s, sizeof s));
        }
    }
}

static void write_dot(FILE *to, const model *m, const groups *g)
{
    fputs("digraph model {\n  node [fontname=\"sans-serif\", fontsize=11];\n"
          "  edge [fontname=\"sans-serif\", fontsize=9, color=\"#777777\"];\n", to);
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
