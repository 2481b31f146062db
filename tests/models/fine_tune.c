/* fine_tune.c -- trains a real ONNX classifier further on a few labelled pictures and saves it
 * (scripts/onnx_models.sh).
 *
 *   fine_tune MODEL FOLDER
 *
 * MODEL tells text from text upside down (PP-OCR's classifier of directions). It learns another
 * question from 8 pictures: whether the strokes of a line are thick or thin, for both directions.
 * 8 other pictures test it, before, after, and as the saved and reloaded network. */
#include <eddy/formats.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 8, H = 48, W = 192, STEPS = 40 };

static void need(bool fine, const char *what)
{
    if (fine) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* A row of letters of strokes with some noise; odd pictures have thick strokes. */
static void draw(float *to, int number, int seed)
{
    const int thick = number % 2 ? 7 : 3, turned = number / 2 % 2, shift = (number * 5 + seed) % 16;
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                const int    v = turned ? H - 1 - y : y, u = (x + shift) % 22;
                const bool   ink = v > 8 && v < 40 && (u < thick || (v < 9 + thick && u < 15));
                const double noise =
                    (double)((x * 7919 + y * 104729 + number * 31 + seed) % 97) / 97;
                *to++ = (float)((ink ? -0.8 : 0.8) + 0.3 * (noise - 0.5));
            }
}

static eddy_array *pictures(int seed)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(N, 3, H, W));
    need(a != NULL, "out of memory");
    for (int i = 0; i < N; i++) draw((float *)eddy_array_data(a) + i * 3 * H * W, i, seed);
    return a;
}

/* The number of pictures whose class is right. */
static int right(eddy_session *s, eddy_tensor x, eddy_tensor y, const eddy_array *a)
{
    int         n = 0;
    eddy_array *p = eddy_fetch(s, y, EDDY_FEED({ x, a }));
    need(p != NULL, eddy_session_message(s));
    for (int i = 0; i < N; i++)
        n += (eddy_array_get(p, 2 * i + 1) > eddy_array_get(p, 2 * i)) == (i % 2 == 1);
    eddy_array_free(p);
    return n;
}

/* Writes the network with its variables as constants, reads it again and compares. */
static void save_and_reload(eddy_session *s, eddy_tensor x, eddy_tensor y, const eddy_array *a,
                            const char *path)
{
    eddy_error  e = { 0 };
    eddy_graph *cut = eddy_extract(EDDY_LIST(y), .inputs = EDDY_LIST(x), .freeze = s, .error = &e);
    need(cut != NULL, e.message);
    need(eddy_graph_save(cut, path, &e) == EDDY_OK, e.message);
    eddy_graph *g = eddy_graph_load(path, .error = &e);
    need(g != NULL, e.message);
    eddy_session *t = eddy_session_new(g);
    eddy_array   *want = eddy_fetch(s, y, EDDY_FEED({ x, a }));
    eddy_array   *got = eddy_fetch(t, eddy_collection_at(g, EDDY_MODEL_OUTPUTS, 0),
                                   EDDY_FEED({ eddy_collection_at(g, EDDY_MODEL_INPUTS, 0), a }));
    need(want && got, "the saved network does not run");
    double most = 0;
    for (int i = 0; i < 2 * N; i++)
        most = fmax(most, fabs(eddy_array_get(want, i) - eddy_array_get(got, i)));
    printf("saved and reloaded: probabilities differ by %.1e\n", most);
    need(most < 1e-5, "the saved network computes other values");
    eddy_array_free(want);
    eddy_array_free(got);
    eddy_session_free(t);
    eddy_graph_free(g);
    eddy_graph_free(cut);
}

int main(int argc, char **argv)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_new(.seed = 1);
    char        path[1000];
    need(argc == 3, "usage: fine_tune MODEL FOLDER");
    eddy_onnx_model *m = eddy_onnx_read(g, argv[1], .variables = true, .error = &e);
    need(m != NULL, e.message);
    const eddy_tensor x = eddy_onnx_input(m, eddy_onnx_input_name(m, 0));
    const eddy_tensor y = eddy_onnx_output(m, eddy_onnx_output_name(m, 0));
    const eddy_tensor labels = eddy_placeholder(g, "labels", EDDY_INT32, EDDY_SHAPE(N));
    const eddy_tensor of_label = eddy_gather(y, labels, .axis = 1, .batch_dims = 1);
    const eddy_tensor loss = eddy_neg(eddy_mean(eddy_log(of_label)));
    const eddy_tensor step = eddy_minimize(eddy_adam(g, eddy_scalar(g, 3e-4)), loss);
    need(eddy_graph_status(g) == EDDY_OK, eddy_graph_message(g));

    eddy_session *s = eddy_session_new(g);
    need(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) == EDDY_OK,
         eddy_session_message(s));
    eddy_array *known = pictures(1), *other = pictures(7);
    int32_t     classes[N];
    for (int i = 0; i < N; i++) classes[i] = i % 2;
    const eddy_feeds feeds = EDDY_FEED({ x, known }, { labels, EDDY_VIEW(classes, N) });
    const double     before = eddy_fetch_number(s, loss, feeds);
    const int        right_before = right(s, x, y, other);
    for (int i = 0; i < STEPS; i++)
        need(eddy_run(s, feeds, EDDY_FETCH(step), NULL) == EDDY_OK, eddy_session_message(s));
    const double after = eddy_fetch_number(s, loss, feeds);
    const int    right_after = right(s, x, y, other);
    printf("%d steps: loss %.4f, then %.4f; %d of %d other pictures right, then %d\n", STEPS,
           before, after, right_before, N, right_after);
    need(after < before / 10 && right_after == N, "it has not learned");
    snprintf(path, sizeof path, "%s/fine_tuned.yaml", argv[2]);
    save_and_reload(s, x, y, other, path);
    eddy_array_free(known);
    eddy_array_free(other);
    eddy_session_free(s);
    eddy_onnx_free(m);
    eddy_graph_free(g);
    return 0;
}
