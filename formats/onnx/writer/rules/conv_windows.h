/* conv_windows.h -- the windows of convolutions and pools, and their layouts. */
#ifndef EDDY_FORMATS_ONNX_CONV_WINDOWS_H
#define EDDY_FORMATS_ONNX_CONV_WINDOWS_H

#include "../rules.h"

enum { WINDOW_AXES = 3 };

/* Entries of axis i: the size of x, of the window and of the result; where x is not known, neither
 * are the paddings. pads are those before all axes, then those after them, as in ONNX. */
typedef struct windows {
    int     axes;
    bool    known;
    bool    planes;                 /* channels come second in Eddy's layout, too */
    const char *auto_pad;           /* of ONNX; if not known */
    int64_t in[WINDOW_AXES], size[WINDOW_AXES], stride[WINDOW_AXES], dilation[WINDOW_AXES];
    int64_t out[WINDOW_AXES], pads[2 * WINDOW_AXES];
} windows;

/* Sets what follows from in, size, stride and dilation. given: before and after for each axis. */
void eddy__windows_settle(windows *w, const char *padding, const int64_t *given);
/* Attributes of Conv or of a pool. */
void eddy__windows_call(onnx_call *c, const windows *w);
/* The attribute of ConvTranspose that gives back the size of x. */
void eddy__windows_back(onnx_call *c, const windows *w);

/* Channels second, as in ONNX, and back. */
const char *eddy__windows_to_onnx(onnx_part *p, const windows *w, const char *x);
const char *eddy__windows_from_onnx(onnx_part *p, const windows *w, const char *x);

#endif
