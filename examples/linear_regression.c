/* linear_regression.c -- fits y = w x + b to four points of y = 3x + 1. */
#include <eddy/eddy.h>
#include <math.h>
#include <stdio.h>

int main(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SCALAR);
    eddy_tensor y = eddy_placeholder(g, "y", EDDY_FLOAT32, EDDY_SCALAR);
    eddy_tensor w = eddy_variable(g, .initial_value = eddy_scalar(g, -1), .name = "w");
    eddy_tensor b = eddy_variable(g, .initial_value = eddy_scalar(g, -1), .name = "b");

    eddy_tensor loss = eddy_square(eddy_sub(y, eddy_add(eddy_mul(w, x), b)));
    eddy_tensor step = eddy_minimize(eddy_gradient_descent(g, eddy_scalar(g, 0.1)), loss);

    const float   at[4] = { -1, -0.5f, 0.5f, 1 };
    float         point[2];
    eddy_array   *px = eddy_array_borrow(EDDY_FLOAT32, EDDY_SCALAR, &point[0]);
    eddy_array   *py = eddy_array_borrow(EDDY_FLOAT32, EDDY_SCALAR, &point[1]);
    eddy_session *s = eddy_session_new(g);

    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    for (int i = 0; i < 40; i++) {
        point[0] = at[i % 4];
        point[1] = 3 * point[0] + 1;
        eddy_run(s, EDDY_FEED({ x, px }, { y, py }), EDDY_FETCH(step), NULL);
    }
    eddy_array *line[2] = { NULL, NULL };
    if (eddy_run(s, EDDY_FEED(), EDDY_FETCH(w, b), line) != EDDY_OK)
        fprintf(stderr, "%s\n", eddy_session_message(s));
    double slope = eddy_array_item(line[0]), offset = eddy_array_item(line[1]);
    printf("y = %.4f x + %.4f\n", slope, offset);

    eddy_array_free(line[0]);
    eddy_array_free(line[1]);
    eddy_array_free(px);
    eddy_array_free(py);
    eddy_session_free(s);
    eddy_graph_free(g);
    return !(fabs(slope - 3) < 0.01 && fabs(offset - 1) < 0.01);
}
