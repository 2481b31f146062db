/* fuzz_graph.c -- arbitrary bytes as a graph file, for libFuzzer. A graph that is accepted is
 * written and read again and must be the same; then every node is run, with and without the
 * optimizations of a session, and must give the same numbers. The sign of a zero may differ, since
 * x + 0 is x.
 *
 * Besides the library's operations there is one with an attribute of each kind. */
#include "build/gen/table.h"
#include "graph/files/graph_yaml.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUN = 48, MOST_BYTES = 1 << 18, MOST_MEMORY = 1 << 24 };

/* ------------------------------------------------- one of every attribute -- */

typedef struct attrs {
    int64_t     i;
    double      f;
    bool        b;
    const char *s;
    eddy_dtype  d;
    eddy_shape  shape;
    eddy_dims   dims;
    eddy_ints   ints;
    eddy_array *array;
    eddy_graph *graph;
} attrs;

static const eddy_attr_field fields[] =
    EDDY_FIELDS(attrs, i, f, b, s, d, shape, dims, ints, array, graph);

static bool infer(eddy_infer *c)
{
    const attrs *a = c->attrs;
    for (int i = 0; i < c->n_out; i++)
        c->out[i] = c->n_in > 0 ? c->in[0] : (eddy_type){ a->d, a->shape };
    return true;
}

static eddy_status no_kernel(eddy_kernel *k)
{
    return eddy_kernel_fail(k, EDDY_UNIMPLEMENTED, "is only read and written");
}

static const eddy_op_def op_everything = {
    .name = "Everything", .max_inputs = EDDY_MANY, .outputs = 2, .infer = infer,
    .kernel = no_kernel, .attrs_size = sizeof(attrs), .attrs = fields,
};
static const eddy_op_def *const own_ops[] = { &op_everything, NULL };

/* ------------------------------------------------------------------ checks -- */

/* A file may ask for any amount of memory; it does not get it here. */
static void *allocate(void *context, size_t size)
{
    (void)context;
    return size <= MOST_MEMORY ? malloc(size) : NULL;
}
static void release(void *context, void *p, size_t size) { (void)context, (void)size, free(p); }

static eddy_graph *graph_of(const char *text, size_t size, eddy_error *e)
{
    static const eddy_allocator allocator = { allocate, release, NULL };
    const eddy_yaml_source      source = {
        .text = text, .size = size, .ops = eddy_op_table, .more_ops = own_ops,
        .allocator = &allocator
    };
    return eddy__yaml_read(&source, e);
}

static void write_and_read(eddy_graph *g)
{
    eddy_error  e = { 0 };
    char       *text = eddy_graph_to_yaml(g);
    require(text != NULL);
    eddy_graph *back = graph_of(text, strlen(text), &e);
    char       *again = eddy_graph_to_yaml(back);
    require(again && strcmp(text, again) == 0);
    eddy_string_free(eddy_graph_to_dot(g));
    eddy_string_free(eddy_graph_to_text(g));
    eddy_string_free(text);
    eddy_string_free(again);
    eddy_graph_free(back);
}

static bool prints(eddy_graph *g)
{
    for (int32_t id = 1; id <= eddy_graph_size(g); id++)
        if (eddy_node_of(eddy_node_at(g, id))->op == &eddy_op_print) return true;
    return false;
}

static bool same_number(double x, double y) { return x == y || (isnan(x) && isnan(y)); }

/* Equal bits, or floating numbers that are equal, or no numbers. */
static bool same_numbers(const eddy_array *a, const eddy_array *b)
{
    const eddy_dtype d = eddy_array_dtype(a);
    if (eddy_array_equal(a, b)) return true;
    if (!eddy_dtype_is_floating(d) && !eddy_dtype_is_complex(d)) return false;
    if (d != eddy_array_dtype(b) || !eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(b)))
        return false;
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        if (!same_number(eddy_array_get(a, i), eddy_array_get(b, i)) ||
            !same_number(eddy_array_get_imag(a, i), eddy_array_get_imag(b, i)))
            return false;
    return true;
}

static void run(eddy_graph *g)
{
    eddy_session *fast = eddy_session_new(g, .max_bytes = MOST_BYTES);
    eddy_session *slow = eddy_session_new(g, .max_bytes = MOST_BYTES, .without = EDDY_PASSES_ALL);
    bool same = true;
    for (int32_t id = 1; same && id <= eddy_graph_size(g) && id <= MOST_RUN; id++) {
        eddy_array       *a = NULL, *b = NULL;
        const eddy_tensor t = eddy_node_at(g, id);
        const eddy_status x = eddy_run(fast, EDDY_FEED(), EDDY_FETCH(t), &a);
        const eddy_status y = eddy_run(slow, EDDY_FEED(), EDDY_FETCH(t), &b);
        if (a && b) require(same_numbers(a, b));
        /* A run that fails during constant folding is not counted, and only one of the two may
         * exceed a limit: random numbers differ from there on. */
        same = x == y && (x == EDDY_OK || x == EDDY_NOT_FED || x == EDDY_UNINITIALIZED);
        eddy_array_free(a);
        eddy_array_free(b);
    }
    eddy_session_free(fast);
    eddy_session_free(slow);
}

/* ---------------------------------------------------------------- one input -- */

int fuzz_graph(const uint8_t *data, size_t size)
{
    eddy_error  e = { 0 };
    eddy_graph *g = graph_of((const char *)data, size, &e);
    require((g != NULL) == (e.status == EDDY_OK));
    if (!g) return 0;
    write_and_read(g);
    if (!prints(g)) run(g);
    eddy_graph_free(g);
    return 0;
}
