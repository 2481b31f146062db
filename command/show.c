/* show.c -- eddy show: what is in a file. */
#include "command/groups.h"

#include <math.h>
#include <string.h>

static bool        nodes = false, by_operation = false;
static const char *drawing = NULL;
static int64_t     depth = 0, boxes = 150;
static text_list   shapes, outputs;

static const option_row options[] = {
    { "nodes", 'n', OPTION_FLAG, NULL, &nodes, "a row for each node, not for each scope" },
    { "operations", 0, OPTION_FLAG, NULL, &by_operation, "a row for each operation" },
    { "depth", 'd', OPTION_COUNT, "N", &depth, "parts of a scope's name (default: 1 or more)" },
    { "outputs", 0, OPTION_NAMES, "NAMES", &outputs, "only what these tensors need" },
    { "shape", 's', OPTION_EACH, "INPUT=DIMS", &shapes, "for unknown dimensions (default 1)" },
    { "graph", 'g', OPTION_TEXT, "FILE", &drawing, "draw the graph: .svg, .png, .pdf, .dot" },
    { "boxes", 0, OPTION_COUNT, "N", &boxes, "at most so many boxes in it (default 150)" },
    { NULL, 0, OPTION_END, NULL, NULL, NULL },
};

/* ----------------------------------------------------------------- tensors -- */

static int show_tensors(const model *m)
{
    const int n = eddy_checkpoint_count(m->tensors);
    int64_t   elements = 0, bytes = 0;
    table     t = { .columns = "l l r" };
    if (as_json) {
        json_open(NULL, '{');
        json_text("file", m->path);
        json_text("kind", kind_name(m->kind));
        json_open("tensors", '[');
    }
    table_row(&t, "tensor", "type", "bytes");
    for (int i = 0; i < n; i++) {
        const eddy_checkpoint_entry e = eddy_checkpoint_entry_at(m->tensors, i);
        const int64_t               count = eddy_shape_count(e.shape);
        char                        shape[200];
        elements += count > 0 ? count : 0;
        bytes += e.bytes;
        table_row(&t, e.name,
                  text("%s%s", e.element, eddy_shape_print(e.shape, shape, sizeof shape)),
                  whole_text(e.bytes));
        if (!as_json) continue;
        json_open(NULL, '{');
        json_text("name", e.name);
        json_text("type", e.element);
        json_shape("shape", e.shape);
        json_number("bytes", (double)e.bytes);
        json_close('}');
    }
    if (as_json) {
        json_close(']');
        json_number("elements", (double)elements);
        json_number("bytes", (double)bytes);
        json_close('}');
        return SUCCESS;
    }
    printf("%s: %s, %s, %s, %s\n\n", m->path, kind_name(m->kind), number_of(n, "tensor"),
           number_of(elements, "element"), bytes_text((double)bytes));
    table_print(&t, stdout);
    return SUCCESS;
}

/* ------------------------------------------------------------------ graphs -- */

typedef struct totals {
    int     nodes;
    int64_t parameters, bytes;          /* of variables */
    double  flops, memory;              /* NAN if unknown */
} totals;

/* The compiler's plan for one run. */
static void plan(const concrete *c, const model *m, totals *t, eddy_error *e)
{
    eddy_feed    *feeds = feeds_made(c->inputs, m->n_inputs, false);
    eddy_session *s = eddy_session_new(c->graph);
    if (eddy_prepare(s, (eddy_feeds){ m->n_inputs, feeds }, tensors_of(c->outputs, m->n_outputs)) ==
        EDDY_OK) {
        const eddy_plan_info info = eddy_session_plan_info(s);
        t->memory = (double)info.arena_bytes;
        t->flops = info.flops;
    } else {
        e->status = eddy_session_status(s);
        snprintf(e->message, sizeof e->message, "%.1000s", eddy_session_message(s));
    }
    eddy_session_free(s);
    feeds_free(feeds, m->n_inputs);
}

static totals totals_of(const model *m, const groups *all)
{
    totals t = { .flops = NAN, .memory = NAN };
    for (int32_t id = 1; id <= eddy_graph_size(m->graph); id++) {
        const eddy_tensor x = eddy_node_at(m->graph, id);
        const int64_t     n = eddy_shape_count(eddy_shape_of(x));
        if (all->of[id] < 0) continue;
        t.nodes++;
        if (!(eddy_node_of(x)->op->flags & EDDY_OP_VARIABLE) || n < 0) continue;
        t.parameters += n;
        t.bytes += n * (int64_t)eddy_dtype_size(eddy_dtype_of(x));
    }
    return t;
}

static void json_tensors(const char *key, const named *of, int count)
{
    json_open(key, '[');
    for (int i = 0; i < count; i++) {
        json_open(NULL, '{');
        json_text("name", of[i].name);
        json_text("type", eddy_dtype_name(eddy_dtype_of(of[i].tensor)));
        json_shape("shape", eddy_shape_of(of[i].tensor));
        json_close('}');
    }
    json_close(']');
}

static void print_json(const model *m, const groups *all, const totals *t)
{
    json_open(NULL, '{');
    json_text("file", m->path);
    json_text("kind", kind_name(m->kind));
    json_tensors("inputs", m->inputs, m->n_inputs);
    json_tensors("outputs", m->outputs, m->n_outputs);
    json_number("nodes", t->nodes);
    json_number("parameters", (double)t->parameters);
    json_number("parameter_bytes", (double)t->bytes);
    json_number("flops", t->flops);
    json_number("planned_bytes", t->memory);
    json_open(nodes ? "by_node" : by_operation ? "by_operation" : "by_scope", '[');
    for (int i = 0; i < all->count; i++) {
        const group *g = &all->at[i];
        json_open(NULL, '{');
        json_text("name", g->name);
        if (nodes) {
            json_text("op", eddy_type_of(g->node));
            json_text("type", eddy_dtype_name(eddy_dtype_of(g->node)));
            json_shape("shape", eddy_shape_of(g->node));
        } else json_number("nodes", g->nodes);
        json_number("parameters", (double)g->parameters);
        json_number("flops", g->flops);
        json_close('}');
    }
    json_close(']');
    json_close('}');
}

static void add_row(table *t, const group *g)
{
    const char *parameters = g->parameters > 0 ? whole_text(g->parameters) : "";
    const char *flops = isnan(g->flops) ? "?" : g->flops > 0 ? whole_text((int64_t)g->flops) : "";
    const char *name = *g->name ? g->name : "(no scope)";
    if (!nodes) table_row(t, name, whole_text(g->nodes), parameters, flops);
    else
        table_row(t, name, eddy_type_of(g->node),
                  eddy_node_of(g->node)->n_outputs > 0
                      ? type_text(eddy_dtype_of(g->node), eddy_shape_of(g->node)) : "",
                  parameters, flops);
}

static void print_text(const model *m, const groups *all, const totals *t)
{
    table ends = { .columns = "l l l" }, rows = { .columns = nodes ? "l l l r r" : "l r r r" };
    printf("%s: %s, %s, %s (%s)\n", m->path, kind_name(m->kind), number_of(t->nodes, "node"),
           number_of(t->parameters, "parameter"), bytes_text((double)t->bytes));
    if (!isnan(t->memory))
        printf("one run: %s, %s for temporaries\n", count_text(t->flops, "FLOP"),
               bytes_text(t->memory));
    table_row(&ends, "", "name", "type");
    for (int i = 0; i < m->n_inputs; i++)
        table_row(
            &ends, "input", m->inputs[i].name,
            type_text(eddy_dtype_of(m->inputs[i].tensor), eddy_shape_of(m->inputs[i].tensor)));
    for (int i = 0; i < m->n_outputs; i++)
        table_row(&ends, "output", m->outputs[i].name,
                  eddy_node_of(m->outputs[i].tensor)->n_outputs == 0
                      ? ""
                      : type_text(eddy_dtype_of(m->outputs[i].tensor),
                                  eddy_shape_of(m->outputs[i].tensor)));
    putchar('\n');
    table_print(&ends, stdout);
    if (nodes) table_row(&rows, "node", "operation", "type", "parameters", "FLOP");
    else table_row(&rows, by_operation ? "operation" : "scope", "nodes", "parameters", "FLOP");
    for (int i = 0; i < all->count; i++) add_row(&rows, &all->at[i]);
    putchar('\n');
    table_print(&rows, stdout);
}

static int show_graph(model *m)
{
    eddy_error e = { 0 };
    concrete   c;
    if (outputs.count > 0 && !(m->outputs = model_select(m, outputs, &m->n_outputs)))
        return TROUBLE;
    if (drawing) return groups_draw(m, drawing, (int)(depth < 64 ? depth : 64), (int)boxes);
    const bool   known = concrete_make(&c, m, shapes, 1, &e);
    const groups all = groups_make(m, known ? &c : NULL,
                                   nodes ? BY_NODE : by_operation ? BY_OPERATION : BY_SCOPE,
                                   (int)(depth < 64 ? depth : 64));
    totals t = totals_of(m, &all);
    if (known) plan(&c, m, &t, &e);
    const bool stops = e.status != EDDY_OK && shapes.count > 0;
    if (stops) fail(m->path, "%s", e.message);
    else if (as_json) print_json(m, &all, &t);
    else print_text(m, &all, &t);
    if (!stops && e.status != EDDY_OK)
        note(m->path, "memory and arithmetic are unknown: %s; --shape gives dimensions", e.message);
    concrete_free(&c);
    return stops ? TROUBLE : SUCCESS;
}

static int run(char **operands, int count)
{
    (void)count;
    model m;
    int   status = TROUBLE;
    if (boxes == 0) return fail(NULL, "--boxes takes a number of at least 1");
    const bool of_graph = drawing || nodes || by_operation || depth > 0 || outputs.count > 0 ||
                          shapes.count > 0;
    if (!of_graph ? model_open(&m, operands[0], true) : model_open_graph(&m, operands[0], true))
        status = m.graph ? show_graph(&m) : show_tensors(&m);
    model_close(&m);
    return status;
}

const command command_show = {
    "show", "MODEL", "Show the nodes, shapes, parameters, arithmetic and memory of a model",
    1, 1, options, run,
};
