/* resize.h -- the steps of resizing: the sizes of the axes, and the values along one axis. */
#ifndef EDDY_FORMATS_ONNX_RESIZE_H
#define EDDY_FORMATS_ONNX_RESIZE_H

#include "../build.h"

typedef enum resize_mode { NEAREST, LINEAR, CUBIC } resize_mode;

typedef struct resizing {
    resize_mode mode;
    char        coordinate[40], nearest[24];
    double      a, extrapolation;       /* a: of the cubic kernel */
    bool        exclude, antialias, crops;
} resizing;

/* An axis and its numbers, which are scalars of float64. */
typedef struct axis_sizes {
    int         axis;
    eddy_tensor size, out, scale;
    eddy_tensor length;                 /* of the output before rounding */
    eddy_tensor roi[2];                 /* of tf_crop_and_resize */
    double      known_scale;            /* NAN if only a run tells it */
} axis_sizes;

/* Finds the sizes of n axes in the inputs of the node. (resize_sizes.c) */
bool        eddy__onnx_resize_sizes(onnx_build *b, const resizing *r, axis_sizes *z, int n);
/* x resized along one axis. (resize_axis.c) */
eddy_tensor eddy__onnx_resized(onnx_build *b, const resizing *r, const axis_sizes *z,
                               eddy_tensor x);

#endif
