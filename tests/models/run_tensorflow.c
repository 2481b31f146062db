/* run_tensorflow.c -- reads a model of TensorFlow, runs it on generated inputs and saves inputs and
 * outputs as .npy, for a comparison with TensorFlow.js (scripts/tensorflow_models.sh).
 *
 *   run_tensorflow [--float64] MODEL PREFIX [NAME=D,D,D ...] [NAME=D,D,D:VALUE ...]
 *
 * A dimension that is not known is 1. An input whose shape is given is a placeholder of float32, or
 * with a value a constant that the reader may use. With --float64 the outputs are those of the
 * model in float64, PREFIX_exact_0.npy, and those with each result rounded to float32,
 * PREFIX_rounded_0.npy. */
#include "tests/models/widened.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

/* The feeds and fetches of a run. */
typedef struct ports {
    int         fed, outputs;
    eddy_feed   feeds[MOST];
    eddy_tensor y[MOST];
} ports;

static void need(bool fine, const char *what)
{
    if (fine) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* Binds an input to a placeholder of float32 with this shape, NAME=D,D,D, or to a constant:
 * NAME=D,D,D:VALUE. */
static eddy_tensor bound(eddy_graph *g, char *text)
{
    eddy_shape s = { 0 };
    char      *at = strchr(text, '=');
    need(at != NULL, "usage: run_tensorflow MODEL PREFIX [NAME=D,D...[:VALUE]]");
    *at = 0;
    while (*++at && *at != ':' && s.rank < EDDY_MAX_RANK) {
        s.dim[s.rank++] = strtoll(at, &at, 10);
        if (*at != ',') break;
    }
    if (*at != ':') return eddy_placeholder(g, "bound", EDDY_FLOAT32, s);
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, s);
    need(a != NULL, "out of memory");
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, strtod(at + 1, NULL));
    return eddy_constant(g, a, NULL);
}

static eddy_shape shape_of(eddy_tensor t)
{
    eddy_shape s = eddy_shape_of(t);
    for (int i = 0; i < s.rank; i++)
        if (s.dim[i] == EDDY_ANY) s.dim[i] = 1;
    need(s.rank >= 0, "the shape of an input is not known");
    return s;
}

/* Values from 0 to 1, or to 255 for integers. */
static eddy_array *generated(eddy_dtype d, eddy_shape s)
{
    eddy_array *a = eddy_array_new(d, s);
    need(a != NULL, "out of memory");
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const double v = (double)(i * 7919 % 1000) / 1000;
        eddy_array_set(a, i,
                       d == EDDY_BOOL             ? v > 0.5
                       : eddy_dtype_is_integer(d) ? (int)(v * 255)
                                                  : v);
    }
    return a;
}

/* The type of .npy files that the comparison reads. */
static void save(const eddy_array *a, const char *prefix, const char *what, int i)
{
    char        path[1000];
    eddy_error  e = { 0 };
    eddy_array *b = eddy_array_new(EDDY_FLOAT32, eddy_array_shape(a));
    for (int64_t k = 0; k < eddy_array_count(a); k++) eddy_array_set(b, k, eddy_array_get(a, k));
    snprintf(path, sizeof path, "%s_%s_%d.npy", prefix, what, i);
    need(eddy_array_save(b, path, NULL, &e) == EDDY_OK, e.message);
    eddy_array_free(b);
}

/* Runs the graph and saves the outputs. */
static void run(eddy_graph *g, const ports *p, const char *prefix, const char *what)
{
    eddy_array       *out[MOST] = { NULL };
    eddy_session     *s = eddy_session_new(g);
    const eddy_feeds  feeds = { p->fed, p->feeds };
    const eddy_status ran = eddy_run(s, feeds, (eddy_list){ p->outputs, p->y }, out);
    need(ran == EDDY_OK, eddy_session_message(s));
    for (int i = 0; i < p->outputs; i++) {
        save(out[i], prefix, what, i);
        eddy_array_free(out[i]);
    }
    eddy_session_free(s);
}

/* The same in float64. */
static void run_widened(eddy_graph *g, const ports *p, bool rounded, const char *prefix)
{
    ports        wide = *p;
    eddy_tensor *copies = calloc((size_t)eddy_graph_size(g) + 1, sizeof *copies);
    need(copies != NULL, "out of memory");
    eddy_graph *w = widened(g, rounded, copies);
    for (int i = 0; i < p->fed; i++) {
        wide.feeds[i].tensor = copies[p->feeds[i].tensor.node];
        if (eddy_dtype_of(wide.feeds[i].tensor) == EDDY_FLOAT64)
            wide.feeds[i].value = widened_array(p->feeds[i].value);
    }
    for (int i = 0; i < p->outputs; i++)
        wide.y[i] = eddy_output(copies[p->y[i].node], p->y[i].output);
    run(w, &wide, prefix, rounded ? "rounded" : "exact");
    for (int i = 0; i < p->fed; i++)
        if (wide.feeds[i].value != p->feeds[i].value)
            eddy_array_free((eddy_array *)(uintptr_t)wide.feeds[i].value);
    free(copies);
    eddy_graph_free(w);
}

int main(int argc, char **argv)
{
    const bool float64 = argc > 1 && strcmp(argv[1], "--float64") == 0;
    argc -= float64, argv += float64;
    need(argc >= 3 && argc - 3 < MOST,
         "usage: run_tensorflow [--float64] MODEL PREFIX [NAME=D,D...]");
    eddy_error         e = { 0 };
    eddy_graph        *g = eddy_graph_new();
    eddy_tensor        tensors[MOST];
    eddy_model_binding in_place[MOST];
    for (int i = 0; i < argc - 3; i++) {
        tensors[i] = bound(g, argv[i + 3]);
        in_place[i] = (eddy_model_binding){ argv[i + 3], { 1, &tensors[i] } };
    }
    eddy_tensorflow_model *m =
        eddy_tensorflow_read(g, argv[1], .inputs = in_place, .input_count = argc - 3, .error = &e);
    need(m != NULL, e.message);
    const int   n = eddy_tensorflow_input_count(m);
    ports       p = { .outputs = eddy_tensorflow_output_count(m) };
    eddy_array *in[MOST];
    need(n <= MOST && p.outputs <= MOST, "too many inputs or outputs");
    for (int i = 0; i < n; i++) {
        const char       *name = eddy_tensorflow_input_name(m, i);
        const eddy_tensor t = eddy_tensorflow_input(m, name);
        const eddy_array *given = eddy_constant_value(t);
        in[i] = given ? eddy_array_copy(given) : generated(eddy_dtype_of(t), shape_of(t));
        if (!given) p.feeds[p.fed++] = (eddy_feed){ t, in[i] };
        if (!float64) save(in[i], argv[2], "in", i);
    }
    for (int i = 0; i < p.outputs; i++)
        p.y[i] = eddy_tensorflow_output(m, eddy_tensorflow_output_name(m, i));
    if (float64) {
        run_widened(g, &p, false, argv[2]);
        run_widened(g, &p, true, argv[2]);
    } else {
        run(g, &p, argv[2], "out");
    }
    for (int i = 0; i < n; i++) eddy_array_free(in[i]);
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
    return 0;
}
