/* image_input.c -- an image as elements of a model's input: size, channels, order of axes, range.
 * */
#include "command/value.h"

#include <stdlib.h>
#include <string.h>

/* How the input has images: with the channels last or first, or only their elements. */
typedef struct layout {
    int64_t height, width, channels;    /* -1: any */
    bool    channels_first;
    bool    gray;                       /* a batch of images without an axis of channels */
} layout;

static bool is_channels(int64_t n) { return n == 1 || n == 3 || n == 4; }

static layout layout_of(eddy_shape s)
{
    layout         l = { -1, -1, -1, false, false };
    const int      from = s.rank == 4 ? 1 : 0;
    const int64_t *d = s.dim + from;
    if (s.rank == 3 && !is_channels(d[0]) && d[2] > 0 && !is_channels(d[2])) {
        l = (layout){ d[1], d[2], 1, false, true };
    } else if (s.rank - from == 3) {
        l.channels_first = is_channels(d[0]) && !is_channels(d[2]);
        l.height = d[l.channels_first ? 1 : 0];
        l.width = d[l.channels_first ? 2 : 1];
        l.channels = d[l.channels_first ? 0 : 2];
    } else if (s.rank == 2 && s.dim[0] != 1 && s.dim[0] != -1) {
        l = (layout){ s.dim[0], s.dim[1], 1, false, false };
    }
    return l;
}

/* One number is for all channels. */
static double option(text_list list, int64_t channel, double otherwise)
{
    if (list.count == 0) return otherwise;
    return strtod(list.at[channel < list.count ? channel : list.count - 1], NULL);
}

static bool fits_channels(const char *name, text_list list, int64_t channels, const char *file)
{
    if (list.count <= 1 || list.count == channels) return true;
    fail(file, "--%s has %d numbers, but the image has %s", name, list.count,
         number_of(channels, "channel"));
    return false;
}

/* Channel c of `want` channels: gray is the luminance, and alpha is left out. */
static double pixel(const uint8_t *p, int64_t have, int64_t want, int64_t c)
{
    if (have >= 3 && want == 1) return 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
    if (have >= 3) return c < have ? p[c] : 255;
    return c < 3 ? p[0] : have == 2 ? p[1] : 255;
}

static eddy_array *with_channels(const eddy_array *image, int64_t want, const image_options *o)
{
    const eddy_shape s = eddy_array_shape(image);
    const int64_t    area = s.dim[0] * s.dim[1], have = s.dim[2];
    eddy_array      *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(s.dim[0], s.dim[1], want));
    const uint8_t   *from = eddy_array_data(image);
    float           *to = eddy_array_data(a);
    for (int64_t i = 0; a && i < area; i++)
        for (int64_t c = 0; c < want; c++) {
            const double v = pixel(from + i * have, have, want, c) / (o->pixels ? 1 : 255);
            to[i * want + c] = (float)((v - option(o->mean, c, 0)) / option(o->deviation, c, 1));
        }
    return a;
}

/* Resized, and with the channels first if the model has them so. */
static eddy_array *arranged(eddy_array *a, const layout *l, const char *file)
{
    const eddy_shape s = eddy_array_shape(a);
    const int64_t    height = l->height > 0 ? l->height : s.dim[0],
                     width = l->width > 0 ? l->width : s.dim[1];
    eddy_graph      *g = eddy_graph_new();
    eddy_tensor      x = eddy_expand_dims(eddy_constant(g, a), 0);
    if (height != s.dim[0] || width != s.dim[1])
        x = eddy_resize_bilinear(x, EDDY_DIMS(height, width), .half_pixel_centers = true);
    if (l->channels_first) x = eddy_transpose(x, EDDY_DIMS(0, 3, 1, 2));
    eddy_session *session = eddy_session_new(g);
    eddy_array   *y = eddy_fetch(session, x);
    if (!y) fail(file, "%s", eddy_session_message(session));
    eddy_session_free(session);
    eddy_graph_free(g);
    eddy_array_free(a);
    return y;
}

eddy_array *image_for(const eddy_array *image, const char *file, eddy_tensor t,
                      const image_options *o)
{
    const eddy_shape s = eddy_shape_of(t), is = eddy_array_shape(image);
    const int64_t    area = is.dim[0] * is.dim[1];
    layout           l = layout_of(s);
    int64_t          channels = l.channels > 0 ? l.channels : is.dim[2];
    image_options    raw = *o;
    raw.pixels |= !eddy_dtype_is_floating(eddy_dtype_of(t));
    const bool flat = s.rank > 0 && s.rank <= 2 && l.height < 0;
    if (flat && s.dim[s.rank - 1] > 0)          /* [?, 784]: as many channels as elements want */
        channels = s.dim[s.rank - 1] / area == 1 ? 1 : is.dim[2];
    if (!fits_channels("mean", o->mean, channels, file) ||
        !fits_channels("std", o->deviation, channels, file))
        return NULL;
    eddy_array *a = with_channels(image, channels, &raw);
    if (a) a = arranged(a, &l, file);
    if (a && (flat || l.gray)) {
        const eddy_shape now = eddy_array_shape(a),
                         as = flat ? EDDY_SHAPE(1, eddy_array_count(a))
                                   : EDDY_SHAPE(1, now.dim[1], now.dim[2]);
        eddy_array      *b = eddy_array_copy_of(EDDY_FLOAT32, as, eddy_array_data(a));
        eddy_array_free(a);
        a = b;
    }
    for (int64_t i = 0; a && !eddy_dtype_is_floating(eddy_dtype_of(t)) && i < eddy_array_count(a);
         i++)
        eddy_array_set(a, i, (double)(int64_t)(eddy_array_get(a, i) + 0.5));
    return value_fit(a, file, eddy_name_of(t), t);
}
