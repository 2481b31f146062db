/* write_seeds.c -- valid files for the fuzzed programs to start from.
 *
 *   write_seeds FOLDER      which has a folder for each format
 *
 * Arrays of each type and rank, sets of variables, a graph for each row of the
 * gradient sweep, a whole training graph for each optimizer, models for each
 * operator of ONNX and TensorFlow, events; and FOLDER/words, the names of operations
 * and element types, for the fuzzer to try. */
#include "build/gen/table.h"
#include "../../eddy.h"
#include "tests/formats/onnx_nodes.h"
#include "tests/formats/onnx_values.h"
#include "tests/formats/tensorflow_nodes.h"
#include "tests/lib/files/onnx_node_models.h"
#include "tests/lib/sweep_rows.h"
#include "tests/lib/files/tensorflow_node_models.h"

#include <stdio.h>

static const char *folder;
static bool        failed;

static const char *path_of(const char *format, int i)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s/%d", folder, format, i);
    return path;
}

static void check(eddy_status status, const char *why)
{
    if (status == EDDY_OK) return;
    fprintf(stderr, "write_seeds: %s\n", why);
    failed = true;
}

static void save_array(int i, eddy_dtype d, eddy_shape s)
{
    eddy_error  e = { 0 };
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t k = 0; k < eddy_array_count(a); k++) eddy_array_set(a, k, (double)(k % 2));
    check(eddy_array_save(a, path_of("npy", i), NULL, &e), e.message);
    eddy_array_free(a);
}

static void save_arrays(void)
{
    int n = 0;
    for (int d = EDDY_FLOAT32; d < EDDY_DTYPES; d++)
        if (d != EDDY_BFLOAT16) save_array(n++, (eddy_dtype)d, EDDY_SHAPE(2, 3));
    save_array(n++, EDDY_FLOAT32, EDDY_SCALAR);
    save_array(n++, EDDY_INT32, EDDY_SHAPE(0, 3));
    save_array(n++, EDDY_FLOAT64, EDDY_SHAPE(1, 1, 2, 1, 1, 1, 1, 1));
}

/* ------------------------------------------------------------------ graphs -- */

static void save_graph(int i, eddy_graph *g)
{
    eddy_error e = { 0 };
    check(eddy_graph_save(g, path_of("graph", i), &e), e.message);
}

static eddy_tensor input(eddy_graph *g, const sweep_row *r, int k)
{
    const double low = r->low[k] < r->high[k] ? r->low[k] : -2;
    const double high = r->low[k] < r->high[k] ? r->high[k] : 2;
    eddy_array  *a = eddy_array_new(EDDY_FLOAT32, r->shape[k]);
    const double n = (double)eddy_array_count(a);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, low + (high - low) * ((double)i + 0.5) / n);
    eddy_tensor t = eddy_constant(g, a, NULL);
    eddy_array_free(a);
    return t;
}

/* The op on constants and, where it has one, its gradient. */
static void save_row(int i, const sweep_row *r)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x[SWEEP_INPUTS] = { EDDY_ZERO_TENSOR }, dx[SWEEP_INPUTS];
    for (int k = 0; k < r->n; k++) x[k] = input(g, r, k);
    eddy_tensor y = r->build ? r->build(g, x) : r->unary ? r->unary(x[0]) : r->binary(x[0], x[1]);
    eddy_gradients(EDDY_LIST(y), ((eddy_list){ r->n, x }), dx);
    eddy_graph_clear_error(g);
    save_graph(i, g);
    eddy_graph_free(g);
}

static void save_training(int i, int which)
{
    eddy_graph     *g = eddy_graph_new();
    eddy_tensor     x = eddy_random_uniform(g, EDDY_SHAPE(2, 3));
    eddy_tensor     y = eddy_placeholder(g, "y", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor     logits = eddy_dense(eddy_relu(eddy_dense(x, 4, "hidden")), 2, "logits");
    eddy_tensor     loss = eddy_mean(eddy_sparse_softmax_cross_entropy(y, logits));
    eddy_tensor     rate = eddy_scalar(g, 0.1);
    eddy_optimizer *o = which == 0   ? eddy_gradient_descent(g, rate)
                        : which == 1 ? eddy_momentum(g, rate, eddy_scalar(g, 0.5))
                                     : eddy_adam(g, rate);
    eddy_minimize(o, loss);
    eddy_tensor   init = eddy_initializer(g);
    eddy_session *s = eddy_session_new(g);
    save_graph(i, g);
    check(eddy_run(s, EDDY_FEED(), EDDY_FETCH(init), NULL), eddy_session_message(s));
    check(eddy_save(s, path_of("safetensors", which), EDDY_LIST()), eddy_session_message(s));
    eddy_session_free(s);
    eddy_graph_free(g);
}

static void save_indexes(void)
{
    static const char *const texts[] = {
        "{\"weight_map\":{}}",
        "{\n  \"metadata\": {\n    \"total_size\": 8\n  },\n  \"weight_map\": {\n"
        "    \"a.weight\": \"m-00001-of-00002.safetensors\",\n"
        "    \"b\\u00e9\": \"m-00002-of-00002.safetensors\"\n  }\n}\n",
        "{\"x\":[1,-2.5e3,true,null,\"\\\"\",{\"y\":[]}],\"weight_map\":{\"v\":\"a/../b\"}}",
    };
    for (int i = 0; i < 3; i++) {
        FILE *f = fopen(path_of("index", i), "w");
        if (f) fputs(texts[i], f);
        if (!f || fclose(f) != 0) check(EDDY_IO, "an index cannot be written");
    }
}

static void save_message(const char *format, int i, message m)
{
    FILE *f = fopen(path_of(format, i), "wb");
    if (f) fwrite(m.at, 1, m.size, f);
    if (!f || fclose(f) != 0) check(EDDY_IO, "a model cannot be written");
    message_free(&m);
}

static void save_models(void)
{
    const int n = (int)(sizeof onnx_rows / sizeof *onnx_rows);
    for (int i = 0; i < n; i++) {
        const onnx_row *r = &onnx_rows[i];
        const node_case c = node_case_of(r->op, r->opset, r->inputs, r->attributes, r->outputs);
        save_message("onnx", i, onnx_node_model(&c));
    }
    for (int i = 0; i < (int)(sizeof onnx_values / sizeof *onnx_values); i++) {
        const onnx_text *t = &onnx_values[i];
        save_message("onnx", n + i,
                     onnx_model_message(onnx_text_graph(t->inputs, t->nodes, 1), t->opset));
    }
    const row *r;
    for (int i = 0; (r = tensorflow_row(i)); i++) {
        const node_case c = node_case_of(r->op, 0, r->inputs, r->attributes, 1);
        save_message("tensorflow", i, tf_node_model(&c));
    }
}

/* Events behind their sizes: a version, a number, a text, and the graph of an operator. */
static void save_events(void)
{
    message file = { NULL, 0 }, events[4] = { { NULL, 0 } }, values[2] = { { NULL, 0 } };
    message inner = { NULL, 0 }, summary = { NULL, 0 }, plugin = { NULL, 0 };
    message_text(&events[0], 3, "brain.Event:2");
    message_text(&values[0], 1, "loss");
    message_float(&values[0], 2, 0.5f);
    message_inner(&summary, 1, values[0]);
    message_number(&events[1], 2, 7);
    message_inner(&events[1], 5, summary);
    message_text(&values[1], 1, "note");
    message_number(&inner, 1, 7);
    message_text(&inner, 8, "words");
    message_inner(&values[1], 8, inner);
    inner = summary = (message){ NULL, 0 };
    message_text(&inner, 1, "text");
    message_inner(&plugin, 1, inner);
    message_inner(&values[1], 9, plugin);
    message_inner(&summary, 1, values[1]);
    message_inner(&events[2], 5, summary);
    const row      *r = tensorflow_row(0);
    const node_case c = node_case_of(r->op, 0, r->inputs, r->attributes, 1);
    message_inner(&events[3], 4, tf_node_model(&c));
    for (int i = 0; i < 4; i++) {
        message_put_number(&file, events[i].size, 2);
        message_put(&file, events[i].at, events[i].size);
        message_free(&events[i]);
    }
    save_message("events", 0, file);
}

static void save_words(void)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/words", folder);
    FILE *f = fopen(path, "w");
    for (int i = 0; f && eddy_op_table[i]; i++) fprintf(f, "\"%s\"\n", eddy_op_table[i]->name);
    for (int d = EDDY_FLOAT32; f && d < EDDY_DTYPES; d++)
        fprintf(f, "\"%s\"\n", eddy_dtype_name((eddy_dtype)d));
    if (!f || fclose(f) != 0) check(EDDY_IO, "words cannot be written");
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: write_seeds FOLDER\n");
        return 2;
    }
    folder = argv[1];
    save_words();
    save_indexes();
    save_arrays();
    save_models();
    save_events();
    for (int i = 0; i < sweep_count(); i++) save_row(i, sweep_row_at(i));
    for (int i = 0; i < 3; i++) save_training(sweep_count() + i, i);
    return failed;
}
