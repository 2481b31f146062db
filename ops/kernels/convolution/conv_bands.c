/* conv_bands.c -- zero-padded bands of images, the input of direct convolutions. */
#include "graph/base/min_max.h"
#include "ops/kernels/arrays/box_copy.h"
#include "ops/kernels/convolution/conv_direct.h"
#include "ops/kernels/elementwise/half_casts.h"

#include <string.h>

eddy_conv_axis eddy__conv_trimmed_axis(eddy_conv_axis a, int64_t n)
{
    const int64_t span = (a.places - 1) * a.step;
    for (; a.taps > 1 && a.at0 + span < 0; a.taps--) a.at0 += a.at_step, a.tap0 += a.tap_step;
    while (a.taps > 1 && eddy__conv_at(&a, a.taps - 1) >= n) a.taps--;
    return a;
}

eddy_conv_axis eddy__conv_forward_axis(const eddy_conv_size *s, int i)
{
    const eddy_conv_axis all = { .places = s->out[i], .step = s->step[i], .taps = s->filter[i],
                                 .at0 = -s->before[i], .at_step = s->gap[i], .tap_step = 1,
                                 .space = 1 };
    return eddy__conv_trimmed_axis(all, s->in[i]);
}

static int64_t last_read(const eddy_conv_axis *a)
{
    return (a->places - 1) * a->step + eddy__conv_at(a, a->taps - 1);
}

bool eddy__conv_inside(const eddy_conv_image *m, const eddy_conv_axis *h, const eddy_conv_axis *w)
{
    return !m->planes && !m->halves && h->at0 >= 0 && w->at0 >= 0 && last_read(h) < m->h &&
           last_read(w) < m->w;
}

int64_t eddy__conv_band_rows(const eddy_conv_axis *h, int64_t places)
{
    return (places - 1) * h->step + (h->taps - 1) * h->at_step + 1;
}

int64_t eddy__conv_band_cols(const eddy_conv_axis *w) { return eddy__conv_band_rows(w, w->places); }

void eddy__conv_move(size_t size, int64_t n, int64_t m, bool transposed, void *to, int64_t to_row,
                     const void *from, int64_t from_row)
{
    eddy_box b = { .rank = 0 };
    eddy__box_add(&b, n, to_row, transposed ? 1 : from_row);
    eddy__box_add(&b, m, 1, transposed ? from_row : 1);
    eddy__box_copy(&b, size, to, from);
}

void eddy__conv_copy(const eddy_conv_image *m, void *to, const void *from, int64_t n)
{
    if (m->halves) eddy__half_to_f32(EDDY_BFLOAT16)(n, to, (const void *[]){ from }, NULL);
    else memcpy(to, from, (size_t)n * m->size);
}

void eddy__conv_fill_band(const eddy_conv_image *m, const eddy_conv_axis *h,
                          const eddy_conv_axis *w, int64_t from, int64_t to, char *band)
{
    const int64_t rows = eddy__conv_band_rows(h, to - from), cols = eddy__conv_band_cols(w);
    const int64_t top = from * h->step + h->at0, left = w->at0;
    /* Columns [first, last) of the band are inside the image. */
    const int64_t first = eddy__min(eddy__max(-left, 0), cols);
    const int64_t last = eddy__max(eddy__min(m->w - left, cols), first);
    const size_t  pixel = (size_t)m->c * m->size;
    for (int64_t r = 0; pixel > 0 && r < rows; r++, band += (size_t)cols * pixel) {
        const int64_t y = top + r;
        if (y < 0 || y >= m->h || first == last) {
            memset(band, 0, (size_t)cols * pixel);
            continue;
        }
        memset(band, 0, (size_t)first * pixel);
        memset(band + (size_t)last * pixel, 0, (size_t)(cols - last) * pixel);
        char *to_row = band + (size_t)first * pixel;
        const size_t at = (size_t)(y * m->w + left + first);
        if (m->planes)
            eddy__conv_move(m->size, last - first, m->c, true, to_row, m->c, m->data + at * m->size,
                            m->h * m->w);
        else eddy__conv_copy(m, to_row, m->data + eddy__conv_bytes(m, (int64_t)at),
                             (last - first) * m->c);
    }
}
