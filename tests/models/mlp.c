/* mlp.c -- a network of two layers learns handwritten digits for 20 steps of Adam, without random
 * numbers in the steps: its training step is compared in ONNX Runtime (scripts/onnx_written.sh). */
#include "../../eddy.h"
#include "examples/support/images.h"

#include <stdio.h>

enum { BATCH = 32, STEPS = 20 };

int main(void)
{
    images all;
    if (!images_load(&all, "data/digits-images.idx3-ubyte", "data/digits-labels.idx1-ubyte"))
        return 1;
    const int   pixels = all.rows * all.cols;
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, pixels));
    eddy_tensor y = eddy_placeholder(g, "y", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor logits = eddy_dense(eddy_relu(eddy_dense(x, 64, "hidden")), 10, "logits");
    eddy_tensor loss = eddy_named("loss", eddy_mean(eddy_sparse_softmax_cross_entropy(y, logits)));
    eddy_tensor step = eddy_minimize(eddy_adam(g, eddy_scalar(g, 0.003)), loss);
    eddy_session *s = eddy_session_new(g);
    bool          fine = eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) == EDDY_OK;
    eddy_array   *out[2] = { NULL, NULL };
    eddy_array   *image = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(BATCH, pixels));
    eddy_array   *label = eddy_array_new(EDDY_INT32, EDDY_SHAPE(BATCH));
    for (int k = 0; fine && k < STEPS; k++) {
        for (int i = 0; i < BATCH; i++) {
            const int at = (k * BATCH + i) * 7 % all.count;
            images_pixels(&all, at, 16, 0, 0, (float *)eddy_array_data(image) + i * pixels);
            eddy_array_set(label, i, all.labels[at]);
        }
        fine = eddy_run(s, EDDY_FEED({ x, image }, { y, label }), EDDY_FETCH(step, loss), out) ==
               EDDY_OK;
        printf("%.6f\n", out[1] ? eddy_array_item(out[1]) : 0);
    }
    eddy_array_free(out[1]);
    eddy_array_free(image);
    eddy_array_free(label);
    images_free(&all);
    eddy_session_free(s);
    eddy_graph_free(g);
    return !fine;
}
