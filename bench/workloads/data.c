/* data.c -- training data of the workloads: Fashion-MNIST and the text of a license, as Debian
 * installs them, or numbers that every program can reproduce. */
#include "bench/workloads/workload.h"

#include <string.h>

enum { CLASSES = 10, AREA = 784, STRIDE = 97 };

/* A list of blocks: each begins with the address of the one before it. */
void *trial_memory(trial *t, int64_t n, size_t size)
{
    enum { ALIGNMENT = 64 };
    char *block = calloc(1, (size_t)n * size + ALIGNMENT);
    bench_need(block, "out of memory");
    *(void **)(void *)block = t->memory;
    t->memory = block;
    return block + ALIGNMENT;
}

/* n bytes of a gzip file after its header; false if there is no such file. */
static bool unzip(const char *file, size_t header, uint8_t *out, size_t n)
{
    char    command[200];
    uint8_t skipped[16];
    snprintf(command, sizeof command,
             "gzip -dc /usr/share/datasets/fashion-mnist/%s 2>/dev/null", file);
    FILE *f = popen(command, "r");
    if (!f) return false;
    bool ok = fread(skipped, 1, header, f) == header && fread(out, 1, n, f) == n;
    pclose(f);
    return ok;
}

static bool fashion(int64_t images, float *pixels, int32_t *labels)
{
    const size_t n = (size_t)images, all = n * AREA;
    uint8_t     *bytes = malloc(all);
    bool         ok = bytes && unzip("train-images-idx3-ubyte.gz", 16, bytes, all);
    for (size_t i = 0; ok && i < all; i++) pixels[i] = (float)bytes[i] / 255;
    ok = ok && unzip("train-labels-idx1-ubyte.gz", 8, bytes, n);
    for (size_t i = 0; ok && i < n; i++) labels[i] = bytes[i];
    free(bytes);
    return ok;
}

/* Which of ten random linear functions of the row is largest. */
static int32_t label(const float *row, const float *map, int64_t width)
{
    double score[CLASSES] = { 0 };
    int    best = 0;
    for (int64_t i = 0; i < width; i++)
        for (int k = 0; k < CLASSES; k++) score[k] += (double)row[i] * (double)map[i * CLASSES + k];
    for (int k = 1; k < CLASSES; k++)
        if (score[k] > score[best]) best = k;
    return best;
}

static void generate(int64_t n, int64_t width, float *x, int32_t *labels)
{
    float *map = malloc((size_t)width * CLASSES * sizeof *map);
    bench_need(map, "out of memory");
    bench_uniform(x, n * width, 100, -1, 1);
    bench_uniform(map, width * CLASSES, 101, -1, 1);
    for (int64_t i = 0; i < n; i++) labels[i] = label(x + i * width, map, width);
    free(map);
}

void trial_images(trial *t, int64_t n, float **pixels, int32_t **labels)
{
    *pixels = trial_memory(t, n * AREA, sizeof **pixels);
    *labels = trial_memory(t, n, sizeof **labels);
    t->data = "Fashion-MNIST";
    if (fashion(n, *pixels, *labels)) return;
    t->data = "generated images";
    generate(n, AREA, *pixels, *labels);
}

void trial_labeled(trial *t, int64_t n, int64_t width, float **x, int32_t **labels)
{
    *x = trial_memory(t, n * width, sizeof **x);
    *labels = trial_memory(t, n, sizeof **labels);
    t->data = "generated";
    generate(n, width, *x, *labels);
}

/* The characters of the text as numbers 0..64; unknown ones count as a space. Without the file,
 * they are generated. Returns their number. */
static int characters(trial *t, int32_t *out, int most)
{
    static const char known[] = "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz";
    FILE *f = fopen("/usr/share/common-licenses/GPL-3", "r");
    int   n = 0, c;
    t->data = f ? "GPL-3" : "generated text";
    if (!f)
        for (; n < most; n++) out[n] = (int32_t)((bench_word(102, (uint64_t)n) >> 33) % VOCABULARY);
    while (f && n < most && (c = getc(f)) != EOF) {
        const char *at = c ? strchr(known, c) : NULL;
        out[n++] = at ? (int32_t)(at - known) : 1;
    }
    if (f) fclose(f);
    return n;
}

void trial_text(trial *t, int windows, int length, int32_t **x, int32_t **y)
{
    enum { MOST = 35149 };
    static int32_t text[MOST];
    const int places = characters(t, text, MOST) - length - 1;
    bench_need(places > 0, "the text is too short");
    *x = trial_memory(t, (int64_t)windows * length, sizeof **x);
    *y = trial_memory(t, (int64_t)windows * length, sizeof **y);
    for (int w = 0; w < windows; w++) {
        const int32_t *from = text + (w * STRIDE) % places;
        memcpy(*x + w * length, from, (size_t)length * sizeof **x);
        memcpy(*y + w * length, from + 1, (size_t)length * sizeof **y);
    }
}
