/* images.h -- helpers shared by the image operations that are composed of others; private to
 * ops/. */
#ifndef EDDY_OPS_IMAGES_IMAGES_H
#define EDDY_OPS_IMAGES_IMAGES_H

#include "graph/op.h"

/* x has rank 3 at least, as far as that is known; if not, the graph says so. */
bool eddy__is_image(const char *who, eddy_tensor x);
/* Its rank is known too; and height and width. */
bool eddy__has_image_rank(const char *who, eddy_tensor x);
bool eddy__has_image_size(const char *who, eddy_tensor x, int64_t *height, int64_t *width);
/* Its last axis has `channels`, as far as that is known. */
bool eddy__has_channels(const char *who, eddy_tensor x, int64_t channels);
/* The type is one that images may have: float32, float64, int32, int64 or uint8. */
bool eddy__is_image_dtype(const char *who, eddy_graph *g, eddy_dtype d);

/* `size`, for images x, is a vector of `n` integers, int32 or int64, none of them negative as
 * far as they are known. */
bool eddy__is_size_tensor(const char *who, eddy_tensor x, eddy_tensor size, int64_t n);

/* x as floating numbers, in [0, 1] if they are integers. */
eddy_tensor eddy__image_floats(const char *who, eddy_tensor x);
/* The largest number that images of this type have: 1 for floating ones. */
double eddy__image_largest(eddy_dtype d);

#endif
