#include "images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 28 };      /* bytes in a file; more is not a data set of ours */

static bool ends_in(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static FILE *open_file(const char *path)
{
    if (!ends_in(path, ".gz")) return fopen(path, "rb");
    FILE *exists = fopen(path, "rb");
    char  command[1024];
    if (!exists || strchr(path, '\'') || strlen(path) > 900) {
        if (exists) fclose(exists);
        return NULL;
    }
    fclose(exists);
    snprintf(command, sizeof command, "gzip -dc '%s'", path);
    return popen(command, "r");
}

static void close_file(FILE *f, const char *path)
{
    if (ends_in(path, ".gz")) pclose(f);
    else fclose(f);
}

static bool read_number(FILE *f, uint32_t *v)
{
    uint8_t b[4];
    if (fread(b, 1, 4, f) != 4) return false;
    *v = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    return true;
}

/* An IDX file of bytes: the number 0x0800 + rank, the dimensions, the bytes. */
static uint8_t *read_idx(const char *path, uint32_t rank, int *dim)
{
    FILE    *f = open_file(path);
    uint8_t *data = NULL;
    uint32_t v;
    size_t   n = 1;
    if (!f) {
        fprintf(stderr, "%s: cannot be opened\n", path);
        return NULL;
    }
    bool ok = read_number(f, &v) && v == 0x0800 + rank;
    for (uint32_t i = 0; ok && i < rank; i++) {
        ok = read_number(f, &v) && v > 0 && v <= LARGEST / n;
        if (!ok) break;
        dim[i] = (int)v;
        n *= v;
    }
    if (ok) ok = (data = malloc(n)) != NULL;
    if (ok) ok = fread(data, 1, n, f) == n && fgetc(f) == EOF;
    close_file(f, path);
    if (ok) return data;
    fprintf(stderr, "%s: not an IDX file of %u dimensions, or cut short\n", path, rank);
    free(data);
    return NULL;
}

bool images_load(images *set, const char *pixels_path, const char *labels_path)
{
    int size[3] = { 0 }, labels = 0;
    *set = (images){ 0 };
    set->pixels = read_idx(pixels_path, 3, size);
    set->labels = set->pixels ? read_idx(labels_path, 1, &labels) : NULL;
    set->count = size[0];
    set->rows = size[1];
    set->cols = size[2];
    if (set->labels && labels == set->count) return true;
    if (set->labels)
        fprintf(stderr, "%s: %d labels for %d images\n", labels_path, labels, set->count);
    images_free(set);
    return false;
}

void images_free(images *set)
{
    free(set->pixels);
    free(set->labels);
    *set = (images){ 0 };
}

bool images_split(const images *all, int every, images *kept, images *held_out)
{
    int    seen[256] = { 0 };
    size_t area = (size_t)all->rows * (size_t)all->cols;
    *kept = *held_out = (images){ .rows = all->rows, .cols = all->cols };
    for (int part = 0; part < 2; part++) {
        images *to = part ? held_out : kept;
        to->pixels = malloc(area * (size_t)all->count);
        to->labels = malloc((size_t)all->count);
        if (to->pixels && to->labels) continue;
        images_free(kept);
        images_free(held_out);
        return false;
    }
    for (int i = 0; i < all->count; i++) {
        images *to = ++seen[all->labels[i]] % every == 0 ? held_out : kept;
        memcpy(to->pixels + area * (size_t)to->count, all->pixels + area * (size_t)i, area);
        to->labels[to->count++] = all->labels[i];
    }
    return true;
}

static uint64_t dice_next(dice *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int dice_below(dice *d, int n)
{
    return (int)((dice_next(d) >> 32) * (uint64_t)n >> 32);
}

void dice_shuffle(dice *d, int *order, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = dice_below(d, i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

void images_pixels(const images *set, int i, int white, int dx, int dy, float *out)
{
    int            rows = set->rows, cols = set->cols;
    const uint8_t *from = set->pixels + (size_t)i * (size_t)rows * (size_t)cols;
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < cols; x++) {
            int  sy = y - dy, sx = x - dx;
            bool inside = sy >= 0 && sy < rows && sx >= 0 && sx < cols;
            out[y * cols + x] = inside ? (float)from[sy * cols + sx] / (float)white : 0;
        }
    }
}
