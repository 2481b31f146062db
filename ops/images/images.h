/* images.h -- helpers shared by the image operations that are composed of others; private to
 * ops/. */
#ifndef EDDY_OPS_IMAGES_IMAGES_H
#define EDDY_OPS_IMAGES_IMAGES_H

#include "graph/op.h"

/* Checks that x has rank 3 or more, as far as that is known; otherwise reports an error. */
bool eddy__is_image(const char *who, eddy_tensor x);
/* Also that its rank is known. */
bool eddy__has_image_rank(const char *who, eddy_tensor x);
/* Checks that its last axis has `channels` entries, as far as that is known. */
bool eddy__has_channels(const char *who, eddy_tensor x, int64_t channels);
/* Checks that images may have this type: float32, float64, int32, int64 or uint8. */
bool eddy__is_image_dtype(const char *who, eddy_graph *g, eddy_dtype d);

/* Checks that `size`, for images x, is a vector of `n` integers, int32 or int64, none of which is
 * known to be negative. */
bool eddy__is_size_tensor(const char *who, eddy_tensor x, eddy_tensor size, int64_t n);

/* x converted to floating point, in [0, 1] if it has integers. */
eddy_tensor eddy__image_floats(const char *who, eddy_tensor x);
/* The largest value of images of this type: 1 for floating-point types. */
double eddy__image_largest(eddy_dtype d);

#endif
