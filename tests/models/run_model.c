/* run_model.c -- reads an ONNX model as it is, runs it on generated inputs and saves the outputs as
 * .npy, for a comparison with ONNX Runtime (scripts/onnx_models.sh).
 *
 *   run_model MODEL PREFIX NAME=TYPE[DIMENSIONS]:PATTERN ...      (cases.txt) */
#include <eddy/formats.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

typedef struct input {
    char        name[80], pattern[16];
    eddy_array *value;
    eddy_tensor constant;               /* of a pattern that is a number */
} input;

static void need(bool fine, const char *what)
{
    if (fine) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* Dark strokes in a row on a white picture of 320 x 320, like a line of text. */
static double line_of_text(int64_t i)
{
    const int64_t x = i % 320, y = i / 320 % 320, u = x % 16, v = y - 144;
    const bool    in_letter = x >= 32 && x < 288 && v >= 0 && v < 24 && u < 11;
    const bool    stroke = u < 3 || (x / 16 % 2 == 0 ? v < 4 : v > 19) || (u > 7 && v > 9);
    return in_letter && stroke ? -2 : 2;
}

/* The same numbers as in compare.js. */
static double element(const char *pattern, int64_t i)
{
    if (strcmp(pattern, "zeros") == 0) return 0;
    if (strcmp(pattern, "noise") == 0) return (float)((double)(i * 7919 % 1000) / 1000 - 0.5);
    if (strcmp(pattern, "bars") == 0) return i / 6 % 3 == 0 && i / 3200 % 2 == 0 ? -2 : 2;
    if (strcmp(pattern, "line") == 0) return line_of_text(i);
    return strtod(pattern, NULL);
}

static eddy_dtype dtype_of(const char *name)
{
    const eddy_dtype all[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64, EDDY_BOOL };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, eddy_dtype_name(all[i])) == 0) return all[i];
    need(false, "unknown type of an input");
    return EDDY_FLOAT32;
}

/* NAME=TYPE[DIMENSIONS]:PATTERN */
static input parse(eddy_graph *g, const char *text)
{
    input      x = { .value = NULL };
    char       type[16], dims[80] = "";
    eddy_shape s = { 0 };
    const bool full = sscanf(text, "%79[^=]=%15[^[][%79[^]]]:%15s", x.name, type, dims,
                             x.pattern) == 4;
    need(full || sscanf(text, "%79[^=]=%15[^[][]:%15s", x.name, type, x.pattern) == 3, text);
    for (char *at = full ? dims : NULL; at && s.rank < EDDY_MAX_RANK; s.rank++) {
        s.dim[s.rank] = strtoll(at, &at, 10);
        at = *at == ',' ? at + 1 : NULL;
        if (!at) {
            s.rank++;
            break;
        }
    }
    x.value = eddy_array_new(dtype_of(type), s);
    need(x.value != NULL, "out of memory");
    for (int64_t i = 0; i < eddy_array_count(x.value); i++)
        eddy_array_set(x.value, i, element(x.pattern, i));
    if (strspn(x.pattern, "0123456789.-") == strlen(x.pattern))
        x.constant = eddy_constant(g, eddy_array_retain(x.value), NULL);
    return x;
}

static void save_outputs(eddy_session *s, const eddy_onnx_model *m, eddy_feeds feeds,
                         const char *prefix)
{
    eddy_tensor y[MOST];
    eddy_array *out[MOST] = { NULL };
    const int   n = eddy_onnx_output_count(m);
    need(n <= MOST, "too many outputs");
    for (int k = 0; k < n; k++) y[k] = eddy_onnx_output(m, eddy_onnx_output_name(m, k));
    const bool ran = eddy_run(s, feeds, (eddy_list){ n, y }, out) == EDDY_OK;
    need(ran, eddy_session_message(s));
    for (int k = 0; k < n; k++) {
        char       path[1000];
        eddy_error e = { 0 };
        snprintf(path, sizeof path, "%s_%d.npy", prefix, k);
        need(eddy_array_save(out[k], path, NULL, &e) == EDDY_OK, e.message);
        eddy_array_free(out[k]);
    }
}

int main(int argc, char **argv)
{
    eddy_graph       *g = eddy_graph_new();
    eddy_model_binding bound[MOST];
    eddy_feed         fed[MOST];
    input             in[MOST];
    const int         n = argc - 3;
    int               n_bound = 0, n_fed = 0;
    eddy_error        e = { 0 };
    need(n >= 0 && n <= MOST, "usage: run_model MODEL PREFIX INPUT...");
    for (int i = 0; i < n; i++) {
        in[i] = parse(g, argv[i + 3]);
        if (eddy_is_valid(in[i].constant))
            bound[n_bound++] = (eddy_model_binding){ in[i].name, { 1, &in[i].constant } };
    }
    eddy_onnx_model *m =
        eddy_onnx_read(g, argv[1], .inputs = bound, .input_count = n_bound, .error = &e);
    need(m != NULL, e.message);
    for (int i = 0; i < n; i++)
        if (!eddy_is_valid(in[i].constant))
            fed[n_fed++] = (eddy_feed){ eddy_onnx_input(m, in[i].name), in[i].value };
    eddy_session *s = eddy_session_new(g);
    save_outputs(s, m, (eddy_feeds){ n_fed, fed }, argv[2]);
    for (int i = 0; i < n; i++) eddy_array_free(in[i].value);
    eddy_onnx_free(m);
    eddy_session_free(s);
    eddy_graph_free(g);
    return 0;
}
