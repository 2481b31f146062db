#include "images.h"

#include <eddy/input.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of an IDX file of this rank; NULL after a message. */
static uint8_t *read_idx(const char *path, int rank, int *dim)
{
    eddy_error       e = { EDDY_OK, "" };
    eddy_array      *a = eddy_idx_load(path, NULL, &e);
    const eddy_shape s = eddy_array_shape(a);
    const bool       fits = a && s.rank == rank && eddy_array_dtype(a) == EDDY_UINT8;
    uint8_t         *bytes = fits ? malloc(eddy_array_bytes(a) + 1) : NULL;
    if (bytes) memcpy(bytes, eddy_array_data(a), eddy_array_bytes(a));
    else fprintf(stderr, "%s\n", a ? "an IDX file does not have the expected bytes" : e.message);
    for (int i = 0; bytes && i < rank; i++) dim[i] = (int)s.dim[i];
    eddy_array_free(a);
    return bytes;
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
