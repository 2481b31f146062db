/* pool_windows.c -- pooling windows along one to three axes: their sizes, and the loops over
 * them. */
#include "graph/base/thread_pool.h"
#include "ops/kernels/elementwise/half_casts.h"
#include "ops/kernels/pooling/pool_windows.h"
#include "graph/base/cpu.h"
#include "graph/base/min_max.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ sizes -- */

bool eddy__window_padding_is(const eddy_window_attrs *a, const char *what)
{
    return a->padding && strcmp(a->padding, what) == 0;
}

static int64_t gap_of(const eddy_window_attrs *a, int i)
{
    return a->dilations.count > 0 ? a->dilations.at[i] : 1;
}

int64_t eddy__window_span(const eddy_window_attrs *a, int i)
{
    return (a->ksize.at[i] - 1) * gap_of(a, i) + 1;
}

int64_t eddy__window_count(const eddy_window_attrs *a, int i, int64_t n)
{
    if (eddy__window_padding_is(a, "ADAPTIVE"))
        return a->ksize.at[i] == EDDY_ANY ? n : a->ksize.at[i];
    const int64_t s = a->strides.at[i];
    if (eddy__window_padding_is(a, "SAME")) return n / s + (n % s > 0);
    const bool    own = eddy__window_padding_is(a, "EXPLICIT");
    const int64_t room = n + (own ? a->paddings.at[2 * i] + a->paddings.at[2 * i + 1] : 0);
    if (room < eddy__window_span(a, i)) return room == 0 && eddy__window_span(a, i) == 1 ? 0 : -1;
    return (room - eddy__window_span(a, i)) / s + 1;
}

/* The number of positions by which the first window begins before x. */
static int64_t before_of(const eddy_window_attrs *a, int i, int64_t n)
{
    if (eddy__window_padding_is(a, "EXPLICIT")) return a->paddings.at[2 * i];
    if (!eddy__window_padding_is(a, "SAME")) return 0;
    const int64_t more =
        (eddy__window_count(a, i, n) - 1) * a->strides.at[i] + eddy__window_span(a, i) - n;
    return more > 0 ? more / 2 : 0;
}

/* floor(o n / out) for 0 <= o <= out, without the product o n, which may overflow. */
static int64_t bin_edge(int64_t o, int64_t n, int64_t out)
{
    return n / out * o + n % out * o / out;
}

/* The first position of window o on an axis of size n, and the number of its positions inside x. */
static int64_t window_first(const eddy_window_attrs *a, int i, int64_t n, int64_t o, int64_t *count)
{
    if (eddy__window_padding_is(a, "ADAPTIVE")) {
        const int64_t out = eddy__window_count(a, i, n), from = bin_edge(o, n, out);
        const int64_t rest = n % out * (o + 1) % out;
        *count = bin_edge(o + 1, n, out) + (rest > 0) - from;
        return from;
    }
    const int64_t gap = gap_of(a, i), k = a->ksize.at[i];
    const int64_t first = o * a->strides.at[i] - before_of(a, i, n);
    const int64_t lost = first < 0 ? (-first + gap - 1) / gap : 0;
    const int64_t most = first < n ? (n - 1 - first) / gap + 1 : 0;      /* before the end */
    const int64_t end = most < k ? most : k;
    *count = end > lost ? end - lost : 0;
    return *count > 0 ? first + lost * gap : 0;
}

/* ------------------------------------------------------------------ loops -- */

/* Channels that are processed together; and channels of one piece of dx if there are few
 * examples. */
enum { MOST = 256, CHUNK = 64 };

/* A window: its first position, and its number of positions along each axis. */
typedef struct box {
    int64_t from, count[EDDY_WINDOW_AXES], size;
} box;

EDDY_INLINE int64_t lines_of(const eddy_window_work *w) { return w->axis[0].out * w->axis[1].out; }

EDDY_INLINE box box_at(const eddy_window_work *w, int64_t line, int64_t i)
{
    const eddy_window_axis *a = w->axis;
    const int64_t h = line / a[1].out, v = line % a[1].out;
    return (box){
        .from = a[0].first[h] + a[1].first[v] + a[2].first[i],
        .count = { a[0].count[h], a[1].count[v], a[2].count[i] },
        .size = a[0].count[h] * a[1].count[v] * a[2].count[i],
    };
}

/* The number of windows from i on that are processed together: 1 if there are several channels. */
EDDY_INLINE int64_t alike_from(const eddy_window_work *w, int64_t i)
{
    if (w->c > 1 || i < w->alike[0] || i >= w->alike[1]) return 1;
    return eddy__min(w->alike[1] - i, MOST);
}

EDDY_INLINE double share_of(const eddy_window_work *w, const box *b)
{
    return w->share > 0 ? w->share : b->size > 0 ? (double)b->size : 1;
}

/* The first position of a line of a window. */
EDDY_INLINE int64_t line_in(const eddy_window_work *w, const box *b, int64_t h, int64_t i)
{
    return b->from + h * w->axis[0].apart + i * w->axis[1].apart;
}

EDDY_INLINE bool is_square(const box *b)
{
    return b->count[0] == 1 && b->count[1] == 2 && b->count[2] == 2;
}

#define PIECE (const eddy_window_work *w, int64_t from, int64_t to)
#define TEMPLATE "ops/kernels/pooling/pool_windows_loops.h"
#include "ops/kernels/for_floats.h"

typedef void window_loop(const eddy_window_work *w, int64_t from, int64_t to);

typedef struct window_run {
    const eddy_window_work *work;
    window_loop            *loop;
    /* For bfloat16: the pieces of an example, and its elements of x, v and y. */
    int64_t                 pieces, x, v, y;
    float                  *scratch;
} window_run;

static void run_piece(void *arg, int64_t from, int64_t to, int worker)
{
    const window_run *r = arg;
    (void)worker;
    r->loop(r->work, from, to);
}

/* The floats of an example of x, v and y. */
static int64_t example_of(const eddy_window_work *w) { return (2 * w->places + w->windows) * w->c; }

/* An example of `from`, if there is one, in float32. */
static const float *widened(float *to, const void *from, int64_t example, int64_t n)
{
    if (!from) return NULL;
    const void *x[] = { (const uint16_t *)from + example * n };
    eddy__half_to_f32(EDDY_BFLOAT16)(n, to, x, NULL);
    return to;
}

/* Converts each example, and runs the loop over all its pieces. */
static void run_examples(void *arg, int64_t from, int64_t to, int worker)
{
    const window_run *r = arg;
    eddy_window_work  w = *r->work;
    float *x = r->scratch + worker * example_of(&w), *v = x + r->x, *y = v + r->v;
    w.batch = 1;
    w.y = y;
    for (int64_t e = from; e < to; e++) {
        w.x = widened(x, r->work->x, e, r->x);
        w.v = widened(v, r->work->v, e, r->v);
        r->loop(&w, 0, r->pieces);
        eddy__f32_to_half(EDDY_BFLOAT16)(r->y, (uint16_t *)r->work->y + e * r->y,
                                         (const void *[]){ y }, NULL);
    }
}

/* Runs the loop over n pieces of each example, of `size` elements each; `back`: v is dy. */
static void run(const eddy_kernel *k, const eddy_window_work *w, window_loop *loop, int64_t n,
                int64_t size, bool back)
{
    enum { GRAIN = 65536 };
    const int64_t places = w->places * w->c, windows = w->windows * w->c;
    window_run r = { w, loop, .pieces = n, .x = w->x ? places : 0, .scratch = k->scratch };
    r.v = !w->v ? 0 : back ? windows : places;
    r.y = back ? places : windows;
    if (k->out[0]->type.dtype == EDDY_BFLOAT16)
        eddy__parallel_or_stop(k, w->batch, GRAIN / (n * (size + 1)) + 1, run_examples, &r);
    else eddy__parallel_or_stop(k, w->batch * n, GRAIN / (size + 1) + 1, run_piece, &r);
}

/* The type that the loops compute in. */
static eddy_dtype type_of(const eddy_kernel *k)
{
    const eddy_dtype y = k->out[0]->type.dtype;
    return y == EDDY_BFLOAT16 ? EDDY_FLOAT32 : y;
}

/* Runs the loop over the lines of y, each of which reads about its share of x. */
static void run_lines(const eddy_kernel *k, const eddy_window_work *w, window_loop *loop)
{
    const int64_t lines = lines_of(w);
    if (lines == 0) return;
    run(k, w, loop, lines, (w->places / lines + w->axis[2].out) * w->c, false);
}

void eddy__window_max(const eddy_kernel *k, const eddy_window_work *w)
{
    run_lines(k, w, EDDY_BEST_FOR_TYPE(max_lines, FOR_FLOATS, type_of(k)));
}

void eddy__window_mean(const eddy_kernel *k, const eddy_window_work *w)
{
    run_lines(k, w, EDDY_BEST_FOR_TYPE(mean_lines, FOR_FLOATS, k->out[0]->type.dtype));
}

void eddy__window_pick(const eddy_kernel *k, const eddy_window_work *w)
{
    run_lines(k, w, EDDY_BEST_FOR_TYPE(pick_lines, FOR_FLOATS, k->out[0]->type.dtype));
}

void eddy__window_back(const eddy_kernel *k, const eddy_window_work *work)
{
    eddy_window_work w = *work;
    w.chunk = w.batch < k->threads ? CHUNK : MOST;
    const int64_t chunks = (w.c + w.chunk - 1) / w.chunk;
    const int64_t width = w.c < w.chunk ? w.c : w.chunk;
    if (w.places == 0) return;
    const eddy_dtype d = type_of(k);
    window_loop *loop = w.x ? EDDY_BEST_FOR_TYPE(max_back, FOR_FLOATS, d)
                            : EDDY_BEST_FOR_TYPE(mean_back, FOR_FLOATS, d);
    run(k, &w, loop, chunks, w.places * width, true);
}

/* ---------------------------------------------------------------- kernels -- */

static void fill_axis(eddy_window_axis *to, const eddy_window_attrs *a, int i, int64_t n,
                      int64_t step)
{
    to->apart = i < 0 || eddy__window_padding_is(a, "ADAPTIVE") ? step : step * gap_of(a, i);
    for (int64_t o = 0; o < to->out; o++) {
        to->count[o] = 1;
        to->first[o] = i < 0 ? 0 : step * window_first(a, i, n, o, &to->count[o]);
    }
}

/* Finds the windows of a single channel that have the size of the largest and equal distances. */
static void find_alike(eddy_window_work *w)
{
    const eddy_window_axis *a = &w->axis[EDDY_WINDOW_AXES - 1];
    int64_t from = 0, to;
    w->step = 1;
    if (w->c > 1) return;
    for (int64_t i = 0; i < a->out; i++)
        if (a->count[i] > a->count[from]) from = i;
    for (to = from + 1; to < a->out && a->count[to] == a->count[from]; to++) {
        const int64_t step = a->first[to] - a->first[to - 1];
        if (to == from + 1) w->step = step;
        if (step < 1 || step != w->step) break;
    }
    if (to > from + 1) w->alike[0] = from, w->alike[1] = to;
    else w->step = 1;
}

eddy_status eddy__window_prepare(eddy_kernel *k, const eddy_window_attrs *a, eddy_shape x,
                                 eddy_shape y)
{
    const int  n = a->ksize.count, missing = EDDY_WINDOW_AXES - n;
    const bool empty = eddy_shape_count(x) == 0 || eddy_shape_count(y) == 0;
    uint64_t   room = (uint64_t)missing;
    for (int i = 0; i < n && !empty; i++) room += (uint64_t)y.dim[1 + i];
    eddy_window_work *w = eddy_kernel_state(k, sizeof *w + 2 * room * sizeof(int64_t));
    if (!w) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    *w = (eddy_window_work){ 0 };
    if (empty) return EDDY_OK;
    *w = (eddy_window_work){ .batch = x.dim[0], .c = x.dim[n + 1], .places = 1, .windows = 1 };
    int64_t *table = (int64_t *)(w + 1);
    for (int d = EDDY_WINDOW_AXES - 1; d >= 0; d--) {
        const int     i = d - missing;
        const int64_t in = i < 0 ? 1 : x.dim[1 + i], out = i < 0 ? 1 : y.dim[1 + i];
        w->axis[d] = (eddy_window_axis){ .out = out, .first = table, .count = table + out };
        fill_axis(&w->axis[d], a, i, in, w->places);
        table += 2 * out;
        w->places *= in;
        w->windows *= out;
    }
    for (int i = 0; i < n && a->count_include_pad && !eddy__window_padding_is(a, "ADAPTIVE"); i++)
        w->share = (w->share > 0 ? w->share : 1) * (double)a->ksize.at[i];
    find_alike(w);
    if (k->in[0]->type.dtype == EDDY_BFLOAT16)
        k->scratch_size += (size_t)(eddy__max(k->threads, 1) * example_of(w)) * sizeof(float);
    return EDDY_OK;
}

void eddy__window_of_images(eddy_kernel *k, const eddy_window_attrs *a, eddy_shape x)
{
    eddy_window_work *w = k->state;
    w->plain = w->alone = w->covered = true;
    for (int i = 0; i < 2 && w->places > 0; i++) {
        const eddy_window_axis *axis = &w->axis[EDDY_WINDOW_AXES - 2 + i];
        const int64_t size = a->ksize.at[i], s = a->strides.at[i];
        w->alone = w->alone && s >= size;
        w->covered = w->covered && s == size && axis->out * s >= x.dim[1 + i];
    }
}

eddy_window_work eddy__window_work_of(const eddy_kernel *k, const eddy_buffer *x,
                                      const eddy_buffer *v)
{
    eddy_window_work w = *(const eddy_window_work *)k->state;
    w.x = x ? x->data : NULL;
    w.v = v ? v->data : NULL;
    w.y = k->out[0]->data;
    return w;
}
