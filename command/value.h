/* value.h -- elements for a tensor from a text or a file: numbers, arrays, images, sound. */
#ifndef COMMAND_VALUE_H
#define COMMAND_VALUE_H

#include "command/model.h"

typedef struct image_options {
    bool      pixels;                   /* 0 to 255, not 0 to 1 */
    text_list mean, deviation;          /* by channel; empty: 0 and 1 */
} image_options;

/* The value that `from` describes, with the type of `t` and a shape that fits it. NULL after a
 * message. The caller frees it. */
eddy_array *value_read(const char *from, const char *name, eddy_tensor t, const image_options *o);
/* An image, uint8[height, width, channels], as elements of `t`. NULL after a message. */
eddy_array *image_for(const eddy_array *image, const char *file, eddy_tensor t,
                      const image_options *o);
/* The same elements with a shape that fits that of t, if axes of size 1 are added or removed;
 * and with its element type, if no element changes by more than rounding. Releases a. */
eddy_array *value_fit(eddy_array *a, const char *file, const char *name, eddy_tensor t);
/* Feeds from texts "x=VALUE". NULL after a message. */
eddy_feed  *feeds_read(const model *m, text_list texts, const image_options *o);

#endif
