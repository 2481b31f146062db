/* depthwise_taps.c -- ranges of filter taps that fall inside an image, along one axis. */
#include "ops/kernels/convolution/depthwise_conv.h"
#include "graph/base/min_max.h"

static int64_t ceil_of(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : -(-a / b); }
static int64_t floor_of(int64_t a, int64_t b) { return a >= 0 ? a / b : -ceil_of(-a, b); }

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b > 0) {
        const int64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

/* Position p reads from start + t * gap at tap t. */
static eddy_tap_run forward_run(const eddy_conv_size *s, int i, int64_t p)
{
    const int64_t gap = s->gap[i], start = p * s->step[i] - s->before[i];
    eddy_tap_run  r = { .tap = start < 0 ? ceil_of(-start, gap) : 0 };
    const int64_t last = eddy__min(s->filter[i] - 1, floor_of(s->in[i] - 1 - start, gap));
    r.from = start + r.tap * gap;
    r.count = last >= r.tap ? last - r.tap + 1 : 0;
    return r;
}

/* Position p was read for output (p + before - t * gap) / step if that is an integer, as it is for
 * every period-th tap. */
static eddy_tap_run backward_run(const eddy_conv_size *s, int i, int64_t p, int64_t period)
{
    const int64_t gap = s->gap[i], step = s->step[i], back = period * gap / step;
    for (int64_t t = 0; t < period && t < s->filter[i]; t++) {
        const int64_t at = p + s->before[i] - t * gap;
        if (at % step != 0) continue;
        const int64_t out = at / step, over = out - (s->out[i] - 1);
        const int64_t first = over > 0 ? ceil_of(over, back) : 0;
        const int64_t last = eddy__min((s->filter[i] - 1 - t) / period, floor_of(out, back));
        return (eddy_tap_run){ .tap = t + first * period, .from = out - first * back,
                               .count = last >= first ? last - first + 1 : 0 };
    }
    return (eddy_tap_run){ 0 };
}

eddy_taps eddy__taps_of(const eddy_conv_size *s, int i, bool back, eddy_tap_run *at)
{
    const int64_t gap = s->gap[i], step = s->step[i], period = step / common_divisor(gap, step);
    eddy_taps t = { .places = s->out[i], .space = 1, .tap_step = 1, .from_step = gap,
                    .read = s->in[i], .at = at };
    if (back)
        t = (eddy_taps){ .places = s->in[i], .space = step, .tap_step = period,
                         .from_step = -(period * gap / step), .read = s->out[i], .at = at };
    for (int64_t p = 0; p < t.places; p++) {
        at[p] = back ? backward_run(s, i, p, period) : forward_run(s, i, p);
        if (at[p].count == 0) at[p] = (eddy_tap_run){ 0 };
    }
    return t;
}

eddy_tap_range eddy__tap_outputs(const eddy_conv_size *s, int i, int64_t t)
{
    const int64_t  start = t * s->gap[i] - s->before[i];
    eddy_tap_range r = { .from = start < 0 ? ceil_of(-start, s->step[i]) : 0 };
    r.to = eddy__min(s->out[i], floor_of(s->in[i] - 1 - start, s->step[i]) + 1);
    if (r.to < r.from) r.to = r.from;
    return r;
}
