/* image.h -- what formulas on images share; private to ops/. */
#ifndef EDDY_IMAGE_H
#define EDDY_IMAGE_H

#include "graph/op.h"

/* x has rank 3 at least, as far as that is known; if not, the graph says so. */
bool eddy_is_image(const char *who, eddy_tensor x);
/* Its rank is known too; and height and width. */
bool eddy_has_image_rank(const char *who, eddy_tensor x);
bool eddy_has_image_size(const char *who, eddy_tensor x, int64_t *height, int64_t *width);
/* Its last axis has `channels`, as far as that is known. */
bool eddy_has_channels(const char *who, eddy_tensor x, int64_t channels);
/* The type is one that images may have: float32, float64, int32, int64 or uint8. */
bool eddy_is_image_dtype(const char *who, eddy_graph *g, eddy_dtype d);

/* `size`, for images x, is a vector of `n` integers, int32 or int64, none of them negative as
 * far as they are known. */
bool eddy_is_size_tensor(const char *who, eddy_tensor x, eddy_tensor size, int64_t n);

/* x as floating numbers, in [0, 1] if they are integers. */
eddy_tensor eddy_image_floats(const char *who, eddy_tensor x);
/* The largest number that images of this type have: 1 for floating ones. */
double eddy_image_largest(eddy_dtype d);

#endif
