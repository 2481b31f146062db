/* planted.c -- reads a number that was not written; MemorySanitizer must report it.
 *
 *   planted none|branch|product|factors|transform
 *
 * The argument says who reads it: the program itself, after an operation of the library (branch),
 * BLAS, LAPACK or FFTW. With none, every number is written, and all of these read it. */
#include <eddy/eddy.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 128 };

static bool wanted(const char *name, const char *reader)
{
    return strcmp(name, reader) == 0 || strcmp(name, "none") == 0;
}

/* A positive definite matrix. */
static float *matrix(bool whole)
{
    float *x = malloc(N * N * sizeof *x);
    for (int i = 0; x && i < N * N - 1; i++) x[i] = i % (N + 1) == 0 ? 4.0f : 0.5f;
    if (x && whole) x[N * N - 1] = 4;
    return x;
}

int main(int count, char **arguments)
{
    const char  *name = count > 1 ? arguments[1] : "none";
    float       *numbers = matrix(strcmp(name, "none") == 0);
    eddy_graph  *g = eddy_graph_new();
    eddy_tensor  x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(N, N)), y[4];
    eddy_array  *given = eddy_array_borrow(EDDY_FLOAT32, EDDY_SHAPE(N, N), numbers);
    eddy_session *s = eddy_session_new(g);
    int          n = 0, positive = 0;
    if (wanted(name, "branch")) y[n++] = eddy_exp(x);
    /* Products of float32 are the library's own. */
    const eddy_tensor wide = eddy_cast(x, EDDY_FLOAT64);
    if (wanted(name, "product")) y[n++] = eddy_cast(eddy_matmul(wide, wide), EDDY_FLOAT32);
    if (wanted(name, "factors")) y[n++] = eddy_cholesky(x);
    if (wanted(name, "transform")) y[n++] = eddy_abs(eddy_rfft(x));
    for (int i = 0; i < n; i++) {
        eddy_array *result = NULL;
        if (eddy_run(s, EDDY_FEED({ x, given }), EDDY_FETCH(y[i]), &result) != EDDY_OK) {
            printf("%s\n", eddy_session_message(s));
            return 2;
        }
        const float *value = eddy_array_data(result);
        for (int64_t j = 0; j < eddy_array_count(result); j++) positive += value[j] > 0;
        eddy_array_free(result);
    }
    if (positive > 0) printf("%d positive numbers\n", positive);
    eddy_array_free(given);
    eddy_session_free(s);
    eddy_graph_free(g);
    free(numbers);
    return n == 0;
}
