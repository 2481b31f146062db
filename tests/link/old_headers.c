/* old_headers.c -- a program compiled against older headers (scripts/old_headers.sh), in which the
 * seed of a graph, the spread of a normal distribution and the initial value of Adagrad's
 * accumulator do not exist. */
#include <eddy/eddy.h>

#include <math.h>

int main(void)
{
    eddy_graph  *g = eddy_graph_new();
    eddy_tensor  x = eddy_random_normal(g, EDDY_SHAPE(10000), .mean = 5);
    eddy_tensor  spread = eddy_reduce_std(x);
    eddy_tensor  v = eddy_variable(g, eddy_scalar(g, 1));
    eddy_tensor  step = eddy_minimize(eddy_adagrad(g, eddy_scalar(g, 1)), v);
    eddy_session *s = eddy_session_new(g);
    bool ok = eddy_graph_seed(g) == 87654321 && fabs(eddy_fetch_number(s, spread) - 1) < 0.05;
    ok = ok && eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) == EDDY_OK &&
         eddy_run(s, EDDY_FEED(), EDDY_FETCH(step), NULL) == EDDY_OK;
    /* 1 - 1 / sqrt(0.1 + 1) */
    ok = ok && fabs(eddy_fetch_number(s, eddy_read(v)) - (1 - 1 / sqrt(1.1))) < 1e-6;
    if (!ok) fprintf(stderr, "%s%s\n", eddy_graph_message(g), eddy_session_message(s));
    eddy_session_free(s);
    eddy_graph_free(g);
    return !ok;
}
