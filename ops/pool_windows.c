/* pool_windows.c -- windows along one to three axes: their sizes, and the loops over them. */
#include "ops/pool_windows.h"
#include "ops/arrays.h"
#include "ops/batch.h"
#include "ops/clones.h"
#include "ops/math.h"
#include "ops/same_floats.h"

#include <math.h>
#include <string.h>

const eddy_attr_field eddy_window_fields[] = {
    { "ksize", EDDY_ATTR_DIMS, offsetof(eddy_window_attrs, ksize) },
    { "strides", EDDY_ATTR_DIMS, offsetof(eddy_window_attrs, strides) },
    { "dilations", EDDY_ATTR_DIMS, offsetof(eddy_window_attrs, dilations) },
    { "paddings", EDDY_ATTR_DIMS, offsetof(eddy_window_attrs, paddings) },
    { "padding", EDDY_ATTR_STRING, offsetof(eddy_window_attrs, padding) },
    { "count_include_pad", EDDY_ATTR_BOOL, offsetof(eddy_window_attrs, count_include_pad) },
    { NULL, EDDY_ATTR_END, 0 },
};

/* ------------------------------------------------------------------ sizes -- */

static bool padding_is(const eddy_window_attrs *a, const char *what)
{
    return a->padding && strcmp(a->padding, what) == 0;
}

/* From the first place of a window to behind its last. */
static int64_t span_of(const eddy_window_attrs *a, int i)
{
    return (a->ksize.at[i] - 1) * a->dilations.at[i] + 1;
}

/* How many windows an axis of n places has; negative if none fits. */
static int64_t windows_of(const eddy_window_attrs *a, int i, int64_t n)
{
    if (padding_is(a, "ADAPTIVE")) return a->ksize.at[i] == EDDY_ANY ? n : a->ksize.at[i];
    const int64_t s = a->strides.at[i];
    if (padding_is(a, "SAME")) return n / s + (n % s > 0);
    const bool    own = padding_is(a, "EXPLICIT");
    const int64_t room = n + (own ? a->paddings.at[2 * i] + a->paddings.at[2 * i + 1] : 0);
    if (room < span_of(a, i)) return room == 0 && span_of(a, i) == 1 ? 0 : -1;
    return (room - span_of(a, i)) / s + 1;
}

/* Places that the first window begins before x. */
static int64_t before_of(const eddy_window_attrs *a, int i, int64_t n)
{
    if (padding_is(a, "EXPLICIT")) return a->paddings.at[2 * i];
    if (!padding_is(a, "SAME")) return 0;
    const int64_t more = (windows_of(a, i, n) - 1) * a->strides.at[i] + span_of(a, i) - n;
    return more > 0 ? more / 2 : 0;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    for (int64_t rest; b != 0; a = b, b = rest) rest = a % b;
    return a;
}

/* floor(o n / out) of 0 <= o <= out, whose product may be too large. */
static int64_t bin_edge(int64_t o, int64_t n, int64_t out)
{
    return n / out * o + n % out * o / out;
}

/* Window o of an axis of n places: where it begins and how many places of x it has. */
static int64_t window_first(const eddy_window_attrs *a, int i, int64_t n, int64_t o, int64_t *count)
{
    if (padding_is(a, "ADAPTIVE")) {
        const int64_t out = windows_of(a, i, n), from = bin_edge(o, n, out);
        const int64_t rest = n % out * (o + 1) % out;
        *count = bin_edge(o + 1, n, out) + (rest > 0) - from;
        return from;
    }
    const int64_t gap = a->dilations.at[i], k = a->ksize.at[i];
    const int64_t first = o * a->strides.at[i] - before_of(a, i, n);
    const int64_t lost = first < 0 ? (-first + gap - 1) / gap : 0;
    const int64_t most = first < n ? (n - 1 - first) / gap + 1 : 0;      /* before the end */
    const int64_t end = most < k ? most : k;
    *count = end > lost ? end - lost : 0;
    return *count > 0 ? first + lost * gap : 0;
}

static bool fail_entry(eddy_infer *c, const char *what, int64_t v, const char *must)
{
    return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "%s has the entry %lld; it must %s", what,
                           (long long)v, must);
}

static bool check_list(eddy_infer *c, const char *what, eddy_dims d, int n)
{
    if (d.count != n)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "%s has %d entries, not %d", what,
                               d.count > 0 ? d.count : 0, n);
    for (int i = 0; i < n; i++)
        if (d.at[i] < 1 || d.at[i] > INT32_MAX)
            return fail_entry(c, what, d.at[i], "be above 0 and fit int32");
    return true;
}

static bool check_attrs(eddy_infer *c)
{
    const eddy_window_attrs *a = c->attrs;
    const int n = a->ksize.count;
    if (n < 1 || n > EDDY_WINDOW_AXES)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "ksize has %d entries; 1 to 3 are "
                               "expected", n > 0 ? n : 0);
    if (padding_is(a, "ADAPTIVE")) {
        for (int i = 0; i < n; i++)
            if (a->ksize.at[i] != EDDY_ANY && (a->ksize.at[i] < 1 || a->ksize.at[i] > INT32_MAX))
                return fail_entry(c, "the number of windows", a->ksize.at[i],
                                  "be above 0 and fit int32");
        return true;
    }
    if (!check_list(c, "ksize", a->ksize, n) || !check_list(c, "strides", a->strides, n) ||
        !check_list(c, "dilations", a->dilations, n)) return false;
    if (padding_is(a, "SAME") || padding_is(a, "VALID"))
        return a->paddings.count <= 0 ||
               eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "explicit_paddings go with padding EXPLICIT only");
    if (!padding_is(a, "EXPLICIT"))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "padding is '%.40s'; it must be SAME, "
                               "VALID or EXPLICIT", a->padding ? a->padding : "");
    if (a->paddings.count != 2 * n)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "explicit_paddings has %d entries, not %d",
                               a->paddings.count > 0 ? a->paddings.count : 0, 2 * n);
    for (int i = 0; i < 2 * n; i++)
        if (a->paddings.at[i] < 0 || a->paddings.at[i] >= span_of(a, i / 2))
            return fail_entry(c, "explicit_paddings", a->paddings.at[i],
                              "not be negative, and be less than the window");
    return true;
}

/* Axis i of y, of n places in x. */
static bool infer_axis(eddy_infer *c, int i, int64_t n, int64_t *out)
{
    const eddy_window_attrs *a = c->attrs;
    *out = windows_of(a, i, n);
    if (*out < 0)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "a window of %lld does not fit dimension %d of "
                               "x, %lld", (long long)span_of(a, i), 1 + i, (long long)n);
    if (n == 0 && *out > 0)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "dimension %d of x is 0, which cannot be made "
                               "%lld windows", 1 + i, (long long)*out);
    return true;
}

bool eddy_window_infer(eddy_infer *c, eddy_shape *x, eddy_shape *y)
{
    const eddy_window_attrs *a = c->attrs;
    const int n = a->ksize.count;
    char      text[128];
    int64_t   places = 1;
    if (!eddy_infer_same_floats(c) || !check_attrs(c)) return false;
    if (x->rank >= 0 && x->rank != n + 2)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "x has shape %s; rank %d is expected",
                               eddy_shape_print(*x, text, sizeof text), n + 2);
    if (x->rank < 0) *x = eddy_shape_open(n + 2);
    *y = *x;
    for (int i = 0; i < n; i++) {
        const int64_t in = x->dim[1 + i];
        const bool    settled = padding_is(a, "ADAPTIVE") && a->ksize.at[i] != EDDY_ANY;
        if (in == EDDY_ANY) {
            y->dim[1 + i] = settled ? a->ksize.at[i] : EDDY_ANY;
            continue;
        }
        if (!infer_axis(c, i, in, &y->dim[1 + i])) return false;
        if (in > INT32_MAX / (places > 0 ? places : 1))
            return eddy_infer_fail(c, EDDY_LIMIT, "an example of %s has 2^31 places or more",
                                   eddy_shape_print(*x, text, sizeof text));
        places *= in;
    }
    return true;
}

/* ------------------------------------------------------------------ loops -- */

/* Channels that are taken together; and those of one piece of dx. */
enum { MOST = 256, CHUNK = 64 };

/* A window: its first place, and how many it has. */
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

/* How many windows from i on are taken together: of several channels it is one. */
EDDY_INLINE int64_t alike_from(const eddy_window_work *w, int64_t i)
{
    if (w->c > 1 || i < w->alike[0] || i >= w->alike[1]) return 1;
    return w->alike[1] - i < MOST ? w->alike[1] - i : MOST;
}

EDDY_INLINE double share_of(const eddy_window_work *w, const box *b)
{
    return w->share > 0 ? w->share : b->size > 0 ? (double)b->size : 1;
}

EDDY_INLINE int64_t place_in(const eddy_window_work *w, const box *b, int64_t h, int64_t i,
                             int64_t k)
{
    return b->from + h * w->axis[0].apart + i * w->axis[1].apart + k * w->axis[2].apart;
}

#define T float
#define NUMBER int32_t
#define NAME(name) name##_f32
#define LOOP(name) name##_f32_all
#include "ops/pool_windows_loops.h"
#undef T
#undef NUMBER
#undef NAME
#undef LOOP
#define T double
#define NUMBER int64_t
#define NAME(name) name##_f64
#define LOOP(name) name##_f64_all
#include "ops/pool_windows_loops.h"
#undef T
#undef NUMBER
#undef NAME
#undef LOOP

#define PIECE (const eddy_window_work *w, int64_t from, int64_t to)
EDDY_CLONES_OF(max_lines_f32, PIECE, (w, from, to))
EDDY_CLONES_OF(max_lines_f64, PIECE, (w, from, to))
EDDY_CLONES_OF(mean_lines_f32, PIECE, (w, from, to))
EDDY_CLONES_OF(mean_lines_f64, PIECE, (w, from, to))
EDDY_CLONES_OF(pick_lines_f32, PIECE, (w, from, to))
EDDY_CLONES_OF(pick_lines_f64, PIECE, (w, from, to))
EDDY_CLONES_OF(pieces_back_f32, PIECE, (w, from, to))
EDDY_CLONES_OF(pieces_back_f64, PIECE, (w, from, to))

typedef void window_loop(const eddy_window_work *w, int64_t from, int64_t to);

typedef struct window_run {
    const eddy_window_work *work;
    window_loop            *loop;
} window_run;

static void run_piece(void *arg, int64_t from, int64_t to, int worker)
{
    const window_run *r = arg;
    (void)worker;
    r->loop(r->work, from, to);
}

/* Over n pieces of `size` elements each. */
static void run(const eddy_kernel *k, const eddy_window_work *w, window_loop *loop, int64_t n,
                int64_t size)
{
    enum { GRAIN = 65536 };
    window_run r = { w, loop };
    eddy_parallel(k, n, GRAIN / (size + 1) + 1, run_piece, &r);
}

/* Over the lines of y, each of which reads about its part of x. */
static void run_lines(const eddy_kernel *k, const eddy_window_work *w, window_loop *loop)
{
    const int64_t lines = lines_of(w);
    if (lines == 0) return;
    run(k, w, loop, w->batch * lines, (w->places / lines + w->axis[2].out) * w->c);
}

static bool is_single(const eddy_kernel *k) { return k->out[0]->type.dtype == EDDY_FLOAT32; }

void eddy_window_max(const eddy_kernel *k, const eddy_window_work *w)
{
    run_lines(k, w, is_single(k) ? EDDY_BEST_OF(max_lines_f32) : EDDY_BEST_OF(max_lines_f64));
}

void eddy_window_mean(const eddy_kernel *k, const eddy_window_work *w)
{
    run_lines(k, w, is_single(k) ? EDDY_BEST_OF(mean_lines_f32) : EDDY_BEST_OF(mean_lines_f64));
}

void eddy_window_pick(const eddy_kernel *k, const eddy_window_work *w)
{
    run_lines(k, w, is_single(k) ? EDDY_BEST_OF(pick_lines_f32) : EDDY_BEST_OF(pick_lines_f64));
}

void eddy_window_back(const eddy_kernel *k, const eddy_window_work *w)
{
    const int64_t chunks = (w->c + CHUNK - 1) / CHUNK;
    if (w->places == 0) return;
    run(k, w, is_single(k) ? EDDY_BEST_OF(pieces_back_f32) : EDDY_BEST_OF(pieces_back_f64),
        w->batch * chunks, w->places * CHUNK);
}

/* ---------------------------------------------------------------- kernels -- */

static void fill_axis(eddy_window_axis *to, const eddy_window_attrs *a, int i, int64_t n,
                      int64_t step)
{
    to->apart = i < 0 || padding_is(a, "ADAPTIVE") ? step : step * a->dilations.at[i];
    for (int64_t o = 0; o < to->out; o++) {
        to->count[o] = 1;
        to->first[o] = i < 0 ? 0 : step * window_first(a, i, n, o, &to->count[o]);
    }
}

/* The windows of a single channel that are as large as the first whole one, and as far apart
 * from each other. */
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

eddy_status eddy_window_prepare(eddy_kernel *k, const eddy_window_attrs *a, eddy_shape x,
                                eddy_shape y)
{
    const int  n = a->ksize.count, missing = EDDY_WINDOW_AXES - n;
    const bool empty = eddy_shape_count(x) == 0 || eddy_shape_count(y) == 0;
    size_t     room = (size_t)missing;
    for (int i = 0; i < n && !empty; i++) room += (size_t)y.dim[1 + i];
    eddy_window_work *w = eddy_kernel_state(k, sizeof *w + 2 * room * sizeof(int64_t));
    if (!w) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "no memory for the loops");
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
    for (int i = 0; i < n && a->count_include_pad && !padding_is(a, "ADAPTIVE"); i++)
        w->share = (w->share > 0 ? w->share : 1) * (double)a->ksize.at[i];
    find_alike(w);
    return EDDY_OK;
}

eddy_window_work eddy_window_work_of(const eddy_kernel *k)
{
    return *(const eddy_window_work *)k->state;
}

/* ------------------------------------------------------ what they share -- */

double eddy_window_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    const eddy_window_attrs *a = attrs;
    const eddy_shape         x = in[0].shape;
    const int                n = a->ksize.count;
    double all = (double)x.dim[0] * (double)x.dim[n + 1];
    (void)n_in; (void)out;
    for (int i = 0; i < n; i++) {
        const int64_t n_at = x.dim[1 + i], windows = windows_of(a, i, n_at);
        double        elements = (double)windows;
        if (!padding_is(a, "ADAPTIVE")) elements *= (double)a->ksize.at[i];
        else elements += (double)(n_at - common_divisor(n_at, windows));
        all *= elements;
    }
    return all;
}

void eddy_window_batch(eddy_batch *b)
{
    const int   axes = ((const eddy_window_attrs *)b->attrs)->ksize.count;
    eddy_tensor in[3], both = { 0 };
    eddy_dims   inner = { .count = axes + 1 };
    for (int i = 0; i <= axes; i++) inner.at[i] = 2 + i;
    for (int i = 0; i < b->n_in; i++) {
        const bool lent = eddy_input_is_in(b->node->op->shape_inputs, i);
        in[i] = lent ? eddy_batch_like(b->x[i], b->examples) : eddy_batch_input(b, i);
        both = Sum(in[i], .axes = inner);               /* only lends its shape */
        in[i] = eddy_merge_leading(in[i], both);
    }
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, b->n_in, in, (eddy_apply_args){ 0 });
    for (int k = 0; k < b->n_out; k++) b->y[k] = eddy_unflatten_like(eddy_output(y, k), both, 0, 0);
}

/* ----------------------------------------------------------------- tools -- */

bool eddy_window_format(const char *op, eddy_graph *g, const char *data_format, int axes,
                        bool *planes)
{
    static const char *const names[][2] = { { "NWC", "NCW" }, { "NHWC", "NCHW" },
                                            { "NDHWC", "NCDHW" } };
    const char *const *known = names[axes - 1];
    *planes = data_format && strcmp(data_format, known[1]) == 0;
    if (!data_format || *planes || strcmp(data_format, known[0]) == 0) return true;
    eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: data_format is '%.40s'; it must be %s or %s", op,
              data_format, known[0], known[1]);
    return false;
}

bool eddy_window_entries(const char *op, eddy_graph *g, const char *what, eddy_dims d, int axes,
                         bool planes, eddy_dims *out)
{
    const int at = d.count == axes + 2 ? (planes ? 2 : 1) : 0;
    if (eddy_refuse_number(g, op, what, d)) return false;
    if (d.count != 1 && d.count != axes && d.count != axes + 2) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s has %d entries; 1, %d or %d are expected", op,
                  what, d.count > 0 ? d.count : 0, axes, axes + 2);
        return false;
    }
    if (d.count == axes + 2 && (d.at[0] != 1 || d.at[planes ? 1 : axes + 1] != 1)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s must be 1 for examples and for channels", op,
                  what);
        return false;
    }
    *out = (eddy_dims){ .count = axes };
    for (int i = 0; i < axes; i++) out->at[i] = d.at[d.count == 1 ? 0 : at + i];
    return true;
}

/* d with an entry in front. */
static eddy_dims entry_before(eddy_dims d, int64_t first)
{
    memmove(d.at + 1, d.at, sizeof d.at - sizeof *d.at);
    d.at[0] = first;
    d.count++;
    return d;
}

/* Of lines [batch, channels, width], as images of that height and width with one channel. */
static eddy_tensor apply_to_lines(const eddy_op_def *op, eddy_window_attrs a, eddy_tensor x,
                                  const char *name)
{
    if (eddy_shape_of(x).rank < 0) x = eddy_set_shape(Identity(x), eddy_shape_open(3));
    a.ksize = entry_before(a.ksize, 1);
    a.strides = entry_before(a.strides, 1);
    a.dilations = entry_before(a.dilations, 1);
    if (a.paddings.count > 0) a.paddings = entry_before(entry_before(a.paddings, 0), 0);
    return eddy_squeeze(eddy_apply1(op, &a, eddy_expand_dims(x, 3)), EDDY_AXES(3), name);
}

eddy_tensor eddy_window_apply(const eddy_op_def *op, const eddy_window_attrs *a, eddy_tensor x,
                              bool planes, const char *name)
{
    const int axes = a->ksize.count, rank = eddy_is_valid(x) ? eddy_shape_of(x).rank : 0;
    eddy_dims last = { .count = axes + 2 }, second = { .count = axes + 2, .at = { 0, axes + 1 } };
    if (!planes) return eddy_apply_named(name, op, a, 1, &x);
    if (axes == 1 && (rank < 0 || rank == 3) && !padding_is(a, "ADAPTIVE"))
        return apply_to_lines(op, *a, x, name);
    for (int i = 0; i < axes; i++) last.at[1 + i] = 2 + i, second.at[2 + i] = 1 + i;
    last.at[axes + 1] = 1;
    return eddy_transpose(eddy_apply1(op, a, Transpose(x, last)), second, .name = name);
}
