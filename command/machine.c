/* machine.c -- the speed of a large product and of a large copy, as an Eddy program gets it. */
#include "command/machine.h"

#include <math.h>
#include <time.h>

enum { ORDER = 512, ELEMENTS = 1 << 24, LEAST_RUNS = 5 };

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The least time of a run of y = f(x). */
static double least_time(eddy_graph *g, eddy_tensor x, eddy_tensor y, const eddy_array *value,
                         int threads)
{
    eddy_session *s = eddy_session_new(g, .threads = threads);
    eddy_array   *out[1] = { NULL };
    double        least = INFINITY, begin = seconds_now();
    bool          fine = value != NULL;
    for (int i = 0; fine && (i < LEAST_RUNS || seconds_now() - begin < 0.3); i++) {
        const double from = seconds_now();
        fine = eddy_run(s, EDDY_FEED({ x, value }), EDDY_FETCH(y), out) == EDDY_OK;
        if (i > 0 && seconds_now() - from < least) least = seconds_now() - from;
    }
    if (!fine) fail(NULL, "%s", value ? eddy_session_message(s) : "out of memory");
    eddy_array_free(out[0]);
    eddy_session_free(s);
    return fine ? least : NAN;
}

bool machine_measure(machine *m, eddy_dtype d, int threads)
{
    const double n = ORDER;
    eddy_graph  *g = eddy_graph_new();
    eddy_tensor  a = eddy_placeholder(g, "a", d, EDDY_SHAPE(ORDER, ORDER));
    eddy_tensor  x = eddy_placeholder(g, "x", d, EDDY_SHAPE(ELEMENTS));
    eddy_array  *matrix = eddy_array_new(d, EDDY_SHAPE(ORDER, ORDER)),
               *vector = eddy_array_new(d, EDDY_SHAPE(ELEMENTS));
    for (int64_t i = 0; matrix && i < ORDER * ORDER; i++)
        eddy_array_set(matrix, i, (double)(i % 17) / 17);
    for (int64_t i = 0; vector && i < ELEMENTS; i++) eddy_array_set(vector, i, 1);
    m->flops = 2 * n * n * n / least_time(g, a, eddy_matmul(a, a), matrix, threads);
    m->bytes = 2 * (double)ELEMENTS * (double)eddy_dtype_size(d) /
               least_time(g, x, eddy_neg(x), vector, threads);
    eddy_array_free(matrix);
    eddy_array_free(vector);
    eddy_graph_free(g);
    return !isnan(m->flops) && !isnan(m->bytes);
}
