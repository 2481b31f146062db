/* mlp_adam.c -- a small network with Adam learns the parity of two bits; scripts/size.sh measures
 * the size of the program. */
#include <eddy/eddy.h>
#include <stdio.h>

int main(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(4, 2));
    eddy_tensor y = eddy_placeholder(g, "y", EDDY_INT32, EDDY_SHAPE(4));
    eddy_tensor hidden = eddy_dense(x, 16, .activation = eddy_relu);
    eddy_tensor logits = eddy_dense(eddy_dense(hidden, 16, .activation = eddy_relu), 2);
    eddy_tensor loss = eddy_mean(eddy_sparse_softmax_cross_entropy(y, logits));
    eddy_tensor step = eddy_minimize(eddy_adam(g, .learning_rate = eddy_scalar(g, 0.05)), loss);

    float         bits[] = { 0, 0, 0, 1, 1, 0, 1, 1 };
    int32_t       parity[] = { 0, 1, 1, 0 };
    eddy_array   *px = eddy_array_borrow(EDDY_FLOAT32, EDDY_SHAPE(4, 2), bits);
    eddy_array   *py = eddy_array_borrow(EDDY_INT32, EDDY_SHAPE(4), parity);
    eddy_array   *left = NULL;
    eddy_session *s = eddy_session_new(g);

    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    for (int i = 0; i < 100; i++)
        eddy_run(s, EDDY_FEED({ x, px }, { y, py }), EDDY_FETCH(step), NULL);
    if (eddy_run(s, EDDY_FEED({ x, px }, { y, py }), EDDY_FETCH(loss), &left) != EDDY_OK)
        fprintf(stderr, "%s\n", eddy_session_message(s));
    const double at_last = eddy_array_item(left);
    printf("loss %g\n", at_last);

    eddy_array_free(left);
    eddy_array_free(px);
    eddy_array_free(py);
    eddy_session_free(s);
    eddy_graph_free(g);
    return !(at_last < 0.01);
}
