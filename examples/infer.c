/* infer.c -- reads images with a network from a file.
 *
 *   infer [--data digits|fashion] [--out FOLDER]
 *
 * FOLDER is where digits.c has written the network that it trained. Nothing here knows the model:
 * the file names its input and its outputs, one of which is the accuracy that training reported.
 * Fails if the images that were held out are not classified with the same accuracy. */
#include <eddy/eddy.h>

#include "support/images.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FASHION "/usr/share/datasets/fashion-mnist/"

/* The images that were held out, as digits.c chooses them. */
static bool load(bool fashion, images *test)
{
    images all, rest;
    if (fashion)
        return images_load(test, FASHION "t10k-images-idx3-ubyte.gz",
                           FASHION "t10k-labels-idx1-ubyte.gz");
    if (!images_load(&all, "data/digits-images.idx3-ubyte", "data/digits-labels.idx1-ubyte"))
        return false;
    const bool ok = images_split(&all, 5, &rest, test);
    images_free(&all);
    if (ok) images_free(&rest);
    return ok;
}

/* Classifies all images in one run; returns how many are right, -1 on an error. */
static int classify(eddy_session *s, eddy_graph *g, const images *set, int white)
{
    const eddy_tensor pixels = eddy_collection_at(g, EDDY_MODEL_INPUTS, 0);
    const eddy_tensor digit = eddy_collection_at(g, EDDY_MODEL_OUTPUTS, 0);
    const int         area = set->rows * set->cols;
    eddy_array       *x = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(set->count, area));
    int               right = 0;
    for (int i = 0; x && i < set->count; i++)
        images_pixels(set, i, white, 0, 0, (float *)eddy_array_data(x) + (ptrdiff_t)i * area);
    eddy_array *y = eddy_fetch(s, digit, EDDY_FEED({ pixels, x }));
    for (int i = 0; y && i < set->count; i++) right += eddy_array_get(y, i) == set->labels[i];
    if (!y) fprintf(stderr, "%s\n", eddy_session_message(s));
    eddy_array_free(x);
    eddy_array_free(y);
    return y ? right : -1;
}

static bool infer(const char *path, const images *set, int white)
{
    eddy_error    e = { 0 };
    eddy_graph   *g = eddy_graph_load(path, .error = &e);
    eddy_session *s = g ? eddy_session_new(g) : NULL;
    if (!g) fprintf(stderr, "%s\n", e.message);
    const int    right = s ? classify(s, g, set, white) : -1;
    const double reported =
        s ? eddy_fetch_number(s, eddy_collection_at(g, EDDY_MODEL_OUTPUTS, 1)) : 0;
    const bool   ok = right >= 0 && fabs((double)right / set->count - reported) < 1e-6;
    if (right >= 0)
        printf("%s: %d nodes; %.2f %% of %d images are right, %s\n", path, eddy_graph_size(g),
               100.0 * right / set->count, set->count,
               ok ? "as training reported" : "OTHER THAN TRAINING REPORTED");
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

int main(int argc, char **argv)
{
    const char *folder = ".", *name = "digits";
    char        path[512];
    images      test;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--out") == 0) folder = argv[i + 1];
        if (strcmp(argv[i], "--data") == 0) name = argv[i + 1];
    }
    const bool fashion = strcmp(name, "fashion") == 0;
    if (snprintf(path, sizeof path, "%s/%s-model.yaml", folder, name) >= (int)sizeof path ||
        !load(fashion, &test)) {
        fprintf(stderr, "usage: infer [--data digits|fashion] [--out FOLDER], where data/ is\n");
        return 2;
    }
    const bool ok = infer(path, &test, fashion ? 255 : 16);
    images_free(&test);
    return ok ? 0 : 1;
}
