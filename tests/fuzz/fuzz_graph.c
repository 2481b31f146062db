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

/* --------------------------------------------------------------- mutations -- */

/* Changed bytes are mostly no YAML any more; here whole words and numbers are
 * changed for others, so that what is behind the parser is reached too. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

typedef struct word {
    size_t begin, size;
} word;

static unsigned draw(unsigned *random, size_t n)
{
    *random = *random * 1664525u + 1013904223u;
    return n > 0 ? (unsigned)((*random >> 8) % n) : 0;
}

static bool is_inside(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c > 0 && strchr("_.+-/?~", c));
}

static bool is_number(const uint8_t *data, word w)
{
    const uint8_t *p = data + w.begin + (w.size > 1 && data[w.begin] == '-');
    return w.size > 0 && *p >= '0' && *p <= '9';
}

static word some_word(const uint8_t *data, size_t size, unsigned *random)
{
    word w = { .begin = draw(random, size) };
    while (w.begin < size && !is_inside(data[w.begin])) w.begin++;
    while (w.begin > 0 && is_inside(data[w.begin - 1])) w.begin--;
    while (w.begin + w.size < size && is_inside(data[w.begin + w.size])) w.size++;
    return w;
}

/* A replacement for w: another word of the text of the same kind, an operation, or a number at
 * some limit. */
static size_t other_word(const uint8_t *data, size_t size, word w, char *out, unsigned *random)
{
    static const char *const edges[] = {
        "0", "1", "-1", "2", "3", "-2", "8", "9", "255", "65536", "2147483647", "-2147483648",
        "4294967296", "9223372036854775807", "-9223372036854775808", "1e308", "-0", "?",
    };
    enum { EDGES = sizeof edges / sizeof *edges, WORD = 64 };
    const bool  number = is_number(data, w);
    const char *text = edges[draw(random, EDGES)];
    for (int i = 0; i < 20 && draw(random, 3) > 0; i++) {
        word v = some_word(data, size, random);
        if (is_number(data, v) != number || v.size == 0 || v.size >= WORD) continue;
        memcpy(out, data + v.begin, v.size);
        return v.size;
    }
    if (!number) {
        int n = 0;
        while (eddy_op_table[n]) n++;
        text = eddy_op_table[draw(random, (size_t)n)]->name;
    }
    const size_t n = strlen(text);
    memcpy(out, text, n);
    return n;
}

/* Writes `out` in the place of w; the new size. */
static size_t put_word(uint8_t *data, size_t size, size_t most, word w, const char *out, size_t n)
{
    if (size - w.size + n > most) return size;
    memmove(data + w.begin + n, data + w.begin + w.size, size - w.begin - w.size);
    memcpy(data + w.begin, out, n);
    return size - w.size + n;
}

/* The same everywhere: a size is then changed in all types that have it. */
static size_t put_everywhere(uint8_t *data, size_t size, size_t most, word w, const char *out,
                             size_t n)
{
    char old[64];
    if (w.size >= sizeof old) return size;
    memcpy(old, data + w.begin, w.size);
    for (size_t i = 0; i + w.size <= size;) {
        const word v = { i, w.size };
        if ((i > 0 && is_inside(data[i - 1])) || memcmp(data + i, old, w.size) != 0 ||
            (i + w.size < size && is_inside(data[i + w.size]))) {
            i++;
            continue;
        }
        size = put_word(data, size, most, v, out, n);
        i += n;
    }
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    unsigned random = seed;
    if (size == 0 || draw(&random, 4) == 0) return LLVMFuzzerMutate(data, size, most);
    for (unsigned i = draw(&random, 3); i < 3; i++) {
        char       out[64];
        const bool number = draw(&random, 4) > 0;         /* names are longer, not better */
        word       w = some_word(data, size, &random);
        for (int k = 0; k < 50 && (w.size == 0 || is_number(data, w) != number); k++)
            w = some_word(data, size, &random);
        if (w.size == 0) continue;
        const size_t n = other_word(data, size, w, out, &random);
        size = draw(&random, 4) == 0 ? put_everywhere(data, size, most, w, out, n)
                                     : put_word(data, size, most, w, out, n);
    }
    return size;
}

/* ---------------------------------------------------------------- one input -- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
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
