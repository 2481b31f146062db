/* graph.c -- the nodes of a graph as TensorFlow's GraphDef, and their times as its RunMetadata. */
#include "writer.h"
#include "../../graph/op.h"
#include "../json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRODUCER = 27 };         /* of GraphDef: the first that has only what is written here */

/* --------------------------------------------------------------- graphs -- */

static void put_shape(message *list, eddy_shape s)
{
    message shape = { 0 };
    for (int i = 0; i < s.rank; i++) {
        message dim = { 0 };
        eddy__message_number(&dim, 1, s.dim[i]);
        eddy__message_inner(&shape, 2, &dim);
    }
    if (s.rank < 0) eddy__message_number(&shape, 3, 1);     /* unknown_rank */
    eddy__message_inner(list, 7, &shape);
}

/* The attribute by which TensorBoard labels the edges. */
static void put_output_shapes(message *node, eddy_tensor t)
{
    message list = { 0 }, value = { 0 }, entry = { 0 };
    for (int i = 0; i < eddy_outputs_of(t); i++) put_shape(&list, eddy_shape_of(eddy_output(t, i)));
    eddy__message_inner(&value, 1, &list);
    eddy__message_text(&entry, 1, "_output_shapes");
    eddy__message_inner(&entry, 2, &value);
    eddy__message_inner(node, 5, &entry);
}

static void put_node(message *graph, eddy_tensor t)
{
    char    input[EDDY_MAX_NAME + 32];
    message node = { 0 };
    eddy__message_text(&node, 1, eddy_name_of(t));
    eddy__message_text(&node, 2, eddy_type_of(t));
    for (int i = 0; i < eddy_inputs_of(t); i++) {
        const eddy_tensor x = eddy_input(t, i);
        if (x.output == 0) snprintf(input, sizeof input, "%s", eddy_name_of(x));
        else snprintf(input, sizeof input, "%s:%d", eddy_name_of(x), (int)x.output);
        eddy__message_text(&node, 3, input);
    }
    for (int i = 0; i < eddy_controls_of(t); i++) {
        snprintf(input, sizeof input, "^%s", eddy_name_of(eddy_control(t, i)));
        eddy__message_text(&node, 3, input);
    }
    if (*eddy_device_of(t)) eddy__message_text(&node, 4, eddy_device_of(t));
    put_output_shapes(&node, t);
    eddy__message_inner(graph, 1, &node);
}

void eddy_events_graph(eddy_events *w, const eddy_graph *g)
{
    message     graph = { 0 }, versions = { 0 };
    eddy_graph *nodes = (eddy_graph *)(uintptr_t)g;         /* only read */
    if (!eddy__events_usable(w)) return;
    if (eddy_graph_size(g) == 0) {
        eddy__events_fail(w, EDDY_INVALID_ARGUMENT, "events_graph: the graph has no nodes");
        return;
    }
    for (int32_t id = 1; id <= eddy_graph_size(g); id++) put_node(&graph, eddy_node_at(nodes, id));
    eddy__message_number(&versions, 1, PRODUCER);
    eddy__message_inner(&graph, 4, &versions);
    eddy__events_put(w, 0, EVENT_GRAPH, &graph);
}

/* ---------------------------------------------------------------- times -- */

/* A node of one line of a profile: its time in a run, and the bytes of its results. */
static void put_times(message *device, const json *line, double *at)
{
    const double  runs = (double)eddy__json_integer(eddy__json_get(line, "runs"), 1);
    const json   *seconds = eddy__json_get(line, "seconds");
    const json   *bytes = eddy__json_get(line, "result_bytes");
    const double  micros = seconds && runs > 0 ? seconds->number * 1e6 / runs : 0;
    const int64_t took = (int64_t)(micros + 0.5) > 0 ? (int64_t)(micros + 0.5) : 1;
    message       node = { 0 }, memory = { 0 };
    if (eddy__json_get(line, "in")) return;                 /* counted in the loop or branch */
    eddy__message_text(&node, 1, eddy__json_text(eddy__json_get(line, "node"), ""));
    eddy__message_number(&node, 2, (int64_t)*at);
    eddy__message_number(&node, 3, 0);
    eddy__message_number(&node, 4, took);
    eddy__message_number(&node, 5, took);
    if (bytes) {
        eddy__message_text(&memory, 1, "cpu");
        eddy__message_number(&memory, 2, bytes->integer);
        eddy__message_number(&memory, 3, bytes->integer);
        eddy__message_inner(&node, 6, &memory);
    }
    eddy__message_text(&node, 8, eddy__json_text(eddy__json_get(line, "op"), ""));
    eddy__message_inner(device, 2, &node);
    *at += (double)took;
}

/* The lines of the profile, one after another. */
static bool put_lines(message *device, char *text)
{
    region memory = { 0 };
    double at = 0;
    bool   ok = true;
    for (char *line = text, *end; ok && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        size_t      place;
        const json *v = eddy__json_parse(&memory, (wire_bytes){ (const uint8_t *)line,
                                                                (size_t)(end - line) }, &place);
        ok = v != NULL;
        if (v) put_times(device, v, &at);
    }
    eddy__region_free(&memory);
    return ok;
}

void eddy_events_profile(eddy_events *w, const char *tag, int64_t step, eddy_session *s)
{
    char   *text = NULL;
    size_t  size = 0;
    message device = { 0 }, stats = { 0 }, metadata = { 0 }, tagged = { 0 };
    if (!eddy__events_usable(w)) return;
    FILE             *to = open_memstream(&text, &size);
    const eddy_status status = to ? eddy_session_profile_json(s, to) : EDDY_NO_MEMORY;
    if (to && fclose(to) != 0) device.full = true;
    if (status != EDDY_OK)
        eddy__events_fail(w, status, "events_profile: %s",
                          to ? eddy_session_message(s) : "out of memory for the profile");
    eddy__message_text(&device, 1, "/cpu:0");
    if (status == EDDY_OK && text && !put_lines(&device, text)) device.full = true;
    free(text);
    eddy__message_inner(&stats, 1, &device);
    eddy__message_inner(&metadata, 1, &stats);
    eddy__message_text(&tagged, 1, tag ? tag : "");
    eddy__message_inner(&tagged, 2, &metadata);
    eddy__events_put(w, step, EVENT_RUN_METADATA, &tagged);
}
