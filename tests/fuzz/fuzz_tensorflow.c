/* fuzz_tensorflow.c -- arbitrary bytes as a frozen graph, a SavedModel or a model.json, for
 * libFuzzer; files of weights have the same bytes. A model that is refused leaves the graph as it
 * was; one that is accepted can be saved. */
#include "formats.h"
#include "tests/fuzz/fuzz.h"

int fuzz_tensorflow(const uint8_t *data, size_t size)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_new();
    one_file    f;
    one_file_init(&f, data, size);
    eddy_model_report *r =
        eddy_tensorflow_check(.data = data, .data_size = size, .files = &f.table, .error = &e);
    require((r != NULL) == (e.status == EDDY_OK));
    eddy_model_report_free(r);
    eddy_tensorflow_model *m = eddy_tensorflow_read(
        g, .data = data, .data_size = size, .variables = size % 2, .files = &f.table, .error = &e);
    require((m != NULL) == (e.status == EDDY_OK));
    require(eddy_graph_status(g) == EDDY_OK);
    require(m || eddy_graph_size(g) == 0);
    if (m) eddy_string_free(eddy_graph_to_yaml(g));
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
    one_file_free(&f);
    return 0;
}
