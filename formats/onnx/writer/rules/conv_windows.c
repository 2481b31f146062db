/* conv_windows.c -- see conv_windows.h. */
#include "conv_windows.h"

#include <string.h>

static void pad_axis(windows *w, int i, const char *padding, const int64_t *given)
{
    const int64_t span = (w->size[i] - 1) * w->dilation[i] + 1, step = w->stride[i];
    int64_t       before = 0, all = 0;
    if (strcmp(padding, "EXPLICIT") == 0) {
        before = given[2 * i];
        all = before + given[2 * i + 1];
    } else if (strcmp(padding, "SAME") == 0 && w->known) {
        const int64_t out = w->in[i] / step + (w->in[i] % step != 0), last = (out - 1) * step;
        all = out > 0 && last + span > w->in[i] ? last + span - w->in[i] : 0;
        before = all / 2;
    }
    w->pads[i] = before;
    w->pads[w->axes + i] = all - before;
    w->out[i] = w->known && w->in[i] + all >= span ? (w->in[i] + all - span) / step + 1 : 0;
}

void eddy__windows_settle(windows *w, const char *padding, const int64_t *given)
{
    w->known = true;
    for (int i = 0; i < w->axes; i++) w->known = w->known && w->in[i] != EDDY_ANY;
    w->auto_pad = !w->known && strcmp(padding, "SAME") == 0 ? "SAME_UPPER" : NULL;
    for (int i = 0; i < w->axes; i++) pad_axis(w, i, padding, given);
}

void eddy__windows_call(onnx_call *c, const windows *w)
{
    eddy__call_ints(c, "kernel_shape", w->axes, w->size);
    eddy__call_ints(c, "strides", w->axes, w->stride);
    bool dilated = false;
    for (int i = 0; i < w->axes; i++) dilated = dilated || w->dilation[i] != 1;
    if (dilated) eddy__call_ints(c, "dilations", w->axes, w->dilation);
    if (w->auto_pad) eddy__call_text(c, "auto_pad", w->auto_pad);
    else eddy__call_ints(c, "pads", 2 * w->axes, w->pads);
}

void eddy__windows_back(onnx_call *c, const windows *w)
{
    int64_t more[WINDOW_AXES];
    for (int i = 0; i < w->axes; i++) {
        const int64_t span = (w->size[i] - 1) * w->dilation[i] + 1;
        more[i] =
            w->in[i] + w->pads[i] + w->pads[w->axes + i] - span - (w->out[i] - 1) * w->stride[i];
    }
    eddy__call_ints(c, "output_padding", w->axes, more);
}

const char *eddy__windows_to_onnx(onnx_part *p, const windows *w, const char *x)
{
    int64_t order[2 + WINDOW_AXES] = { 0, w->axes + 1 };
    for (int i = 0; i < w->axes; i++) order[2 + i] = 1 + i;
    return w->planes ? x : eddy__part_transpose(p, x, 2 + w->axes, order);
}

const char *eddy__windows_from_onnx(onnx_part *p, const windows *w, const char *x)
{
    int64_t order[2 + WINDOW_AXES] = { 0 };
    for (int i = 0; i < w->axes; i++) order[1 + i] = 2 + i;
    order[1 + w->axes] = 1;
    return w->planes ? x : eddy__part_transpose(p, x, 2 + w->axes, order);
}
