/* graph_data.c -- the graph of a report, and the times of its nodes. See report_data.h. The
 * messages are those of tensorboard/graph.c. */
#include "report_data.h"

#include <stdlib.h>
#include <string.h>

/* Nodes of a graph, inputs of a node and rows of a profile that a page has. */
enum { MOST_NODES = 20000, MOST_INPUTS = 64, MOST_ROWS = 60 };
enum { NODE_NAME = 1, NODE_OP = 2, NODE_INPUT = 3, NODE_ATTR = 5 };
enum { STATS_NAME = 1, STATS_MICROS = 5, STATS_MEMORY = 6, STATS_LABEL = 8 };

static bool is_text(wire_bytes b, const char *text)
{
    return b.size == strlen(text) && memcmp(b.at, text, b.size) == 0;
}

/* ------------------------------------------------------------------- shapes -- */

/* Appends "[?,784]"; 48 bytes are left at first. */
static void print_shape(wire shape, char *to, size_t size, size_t *used)
{
    const char *comma = "";
    bool        unknown = false;
    to[(*used)++] = '[';
    for (wire_field f; eddy__wire_next(&shape, &f);) {
        unknown = unknown || (f.number == 3 && f.value != 0);
        if (f.number != 2 || f.type != WIRE_BYTES || *used + 32 > size) continue;
        wire    dim = eddy__wire_of(f.bytes);
        int64_t length = 0;
        for (wire_field d; eddy__wire_next(&dim, &d);)
            if (d.number == 1 && d.type == WIRE_VARINT) length = (int64_t)d.value;
        *used += (size_t)(length < 0 ? snprintf(to + *used, size - *used, "%s?", comma)
                                     : snprintf(to + *used, size - *used, "%s%lld", comma,
                                                (long long)length));
        comma = ",";
    }
    *used += (size_t)snprintf(to + *used, size - *used, unknown ? "...]" : "]");
}

/* The attribute _output_shapes of a node, as "[?,784] [?]". */
static size_t print_shapes(wire_bytes attribute, char *to, size_t size)
{
    wire       w = eddy__wire_of(attribute);
    wire_bytes key = { 0 }, value = { 0 }, list = { 0 };
    size_t     used = 0;
    for (wire_field f; eddy__wire_next(&w, &f);)
        if (f.type == WIRE_BYTES) *(f.number == 1 ? &key : &value) = f.bytes;
    if (!is_text(key, "_output_shapes")) return 0;
    w = eddy__wire_of(value);
    for (wire_field f; eddy__wire_next(&w, &f);)
        if (f.number == 1 && f.type == WIRE_BYTES) list = f.bytes;
    w = eddy__wire_of(list);
    for (wire_field f; eddy__wire_next(&w, &f);) {
        if (f.number != 7 || f.type != WIRE_BYTES || used + 48 > size) continue;
        if (used > 0) to[used++] = ' ';
        print_shape(eddy__wire_of(f.bytes), to, size, &used);
    }
    return used;
}

/* ------------------------------------------------------------------- graphs -- */

/* A node as [name, op, shapes, input, ...]. */
static void put_node(page_out *p, wire node)
{
    wire_bytes name = { 0 }, op = { 0 }, input[MOST_INPUTS];
    char       shapes[400];
    size_t     used = 0;
    int        n = 0;
    for (wire_field f; eddy__wire_next(&node, &f);) {
        if (f.type != WIRE_BYTES) continue;
        if (f.number == NODE_NAME) name = f.bytes;
        else if (f.number == NODE_OP) op = f.bytes;
        else if (f.number == NODE_INPUT && n < MOST_INPUTS) input[n++] = f.bytes;
        else if (f.number == NODE_ATTR && used == 0)
            used = print_shapes(f.bytes, shapes, sizeof shapes);
    }
    eddy__page_open(p, NULL, '[');
    eddy__page_string(p, NULL, name);
    eddy__page_string(p, NULL, op);
    eddy__page_string(p, NULL, (wire_bytes){ (const uint8_t *)shapes, used });
    for (int i = 0; i < n; i++) eddy__page_string(p, NULL, input[i]);
    eddy__page_close(p, ']');
}

void eddy__report_graph(page_out *p, const char *key, wire_bytes graph)
{
    wire w = eddy__wire_of(graph);
    int  n = 0;
    eddy__page_open(p, key, '[');
    for (wire_field f; n < MOST_NODES && eddy__wire_next(&w, &f);) {
        if (f.number != 1 || f.type != WIRE_BYTES) continue;
        put_node(p, eddy__wire_of(f.bytes));
        n++;
    }
    eddy__page_close(p, ']');
}

/* ----------------------------------------------------------------- profiles -- */

typedef struct node_cost {
    wire_bytes name, label;
    double     micros, bytes;
} node_cost;

static node_cost cost_of(wire stats)
{
    node_cost c = { 0 };
    for (wire_field f; eddy__wire_next(&stats, &f);) {
        if (f.number == STATS_NAME && f.type == WIRE_BYTES) c.name = f.bytes;
        if (f.number == STATS_LABEL && f.type == WIRE_BYTES) c.label = f.bytes;
        if (f.number == STATS_MICROS && f.type == WIRE_VARINT) c.micros = (double)f.value;
        if (f.number != STATS_MEMORY) continue;         /* bytes, or none */
        wire memory = eddy__wire_of(f.bytes);
        for (wire_field m; eddy__wire_next(&memory, &m);)
            if (m.number == 2 && m.type == WIRE_VARINT) c.bytes += (double)m.value;
    }
    return c;
}

static int slowest_first(const void *a, const void *b)
{
    const double x = ((const node_cost *)a)->micros, y = ((const node_cost *)b)->micros;
    return (x < y) - (x > y);
}

/* The nodes of all devices; `to` NULL counts them. */
static size_t list_costs(wire_bytes metadata, node_cost *to)
{
    size_t n = 0;
    wire   all = eddy__wire_of(metadata);
    for (wire_field step; eddy__wire_next(&all, &step);) {
        if (step.number != 1) continue;
        wire devices = eddy__wire_of(step.bytes);
        for (wire_field device; eddy__wire_next(&devices, &device);) {
            if (device.number != 1) continue;
            wire nodes = eddy__wire_of(device.bytes);
            for (wire_field f; eddy__wire_next(&nodes, &f);) {
                if (f.number != 2 || f.type != WIRE_BYTES) continue;
                if (to) to[n] = cost_of(eddy__wire_of(f.bytes));
                n++;
            }
        }
    }
    return n;
}

bool eddy__report_profile(page_out *p, const char *key, wire_bytes metadata)
{
    const size_t n = list_costs(metadata, NULL);
    node_cost   *costs = calloc(n + 1, sizeof *costs);
    double       all = 0;
    if (!costs) return false;
    list_costs(metadata, costs);
    qsort(costs, n, sizeof *costs, slowest_first);
    for (size_t i = 0; i < n; i++) all += costs[i].micros;
    eddy__page_open(p, key, '[');
    eddy__page_number(p, NULL, all);
    for (size_t i = 0; i < n && i < MOST_ROWS; i++) {
        eddy__page_open(p, NULL, '[');
        eddy__page_string(p, NULL, costs[i].name);
        eddy__page_string(p, NULL, costs[i].label);
        eddy__page_number(p, NULL, costs[i].micros);
        eddy__page_number(p, NULL, costs[i].bytes);
        eddy__page_close(p, ']');
    }
    eddy__page_close(p, ']');
    free(costs);
    return true;
}
