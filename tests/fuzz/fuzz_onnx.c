/* fuzz_onnx.c -- arbitrary bytes as an ONNX model, for libFuzzer. A model that is refused leaves
 * the graph as it was; one that is accepted can be saved. */
#include "formats.h"
#include "tests/fuzz/fuzz.h"

int fuzz_onnx(const uint8_t *data, size_t size)
{
    eddy_error        e = { 0 };
    eddy_graph       *g = eddy_graph_new();
    eddy_model_report *r = eddy_onnx_check(.data = data, .data_size = size, .error = &e);
    require((r != NULL) == (e.status == EDDY_OK));
    eddy_model_report_free(r);
    eddy_onnx_model *m =
        eddy_onnx_read(g, .data = data, .data_size = size, .variables = size % 2, .error = &e);
    require((m != NULL) == (e.status == EDDY_OK));
    require(eddy_graph_status(g) == EDDY_OK);
    require(m || eddy_graph_size(g) == 0);
    for (int i = 0; i < eddy_onnx_output_count(m); i++)
        require(eddy_onnx_items(m, eddy_onnx_output_name(m, i)).count >= 0);
    if (m) eddy_string_free(eddy_graph_to_yaml(g));
    eddy_onnx_free(m);
    eddy_graph_free(g);
    return 0;
}
