/* images.h -- labeled gray images from IDX files, the format of MNIST. */
#ifndef EXAMPLES_IMAGES_H
#define EXAMPLES_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct images {
    int      count, rows, cols;
    uint8_t *pixels;             /* [count, rows, cols] */
    uint8_t *labels;             /* [count] */
} images;

/* Reads a pair of IDX files, plain or compressed with gzip. On failure prints the reason on stderr
 * and returns false. */
bool images_load(images *set, const char *pixels_path, const char *labels_path);
void images_free(images *set);

/* Copies every `every`-th image of each label to `held_out`, and the others to `kept`, so that all
 * labels are represented. False if memory runs out. */
bool images_split(const images *all, int every, images *kept, images *held_out);

/* A small random generator (splitmix64), for the order of the images. */
typedef struct dice { uint64_t state; } dice;
int dice_below(dice *d, int n);                         /* 0 <= result < n */
void dice_shuffle(dice *d, int *order, int n);

/* Writes image i as rows*cols floats, gray 0..white to 0..1, moved by (dx, dy) pixels; pixels
 * shifted in from outside are 0. */
void images_pixels(const images *set, int i, int white, int dx, int dy, float *out);

#endif
