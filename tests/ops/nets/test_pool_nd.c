/* test_pool_nd.c -- pooling along one to three axes: values and gradients against plain loops in
 * float64 and against PyTorch, threads, limits.
 *
 * Numbers marked PyTorch are those of its 1.13, without the padding in the count; dy is 1, 2,
 * 3, ... */
#include "tests/lib/element_checks.h"
#include "tests/lib/finite_differences.h"
#include "graph/base/cpu.h"

Suite *pool_nd_suite(void);

/* -------------------------------------------------- values against loops -- */

typedef enum padding { SAME, VALID, EXPLICIT, ADAPTIVE } padding;
typedef struct pooling {
    int     axes;
    bool    mean, planes, whole;     /* channels second, of lines; count_include_pad */
    padding how;
    int64_t batch, c, in[3], ksize[3], step[3], gap[3], before[3], after[3], out[3];
} pooling;

static void settle(pooling *p)
{
    for (int i = 0; i < p->axes; i++) {
        const int64_t n = p->in[i], s = p->step[i], span = (p->ksize[i] - 1) * p->gap[i] + 1;
        if (p->how == ADAPTIVE) {
            p->out[i] = p->ksize[i];
            continue;
        }
        if (p->how != EXPLICIT) p->before[i] = p->after[i] = 0;
        if (p->how == SAME) {
            const int64_t more = ((n + s - 1) / s - 1) * s + span - n;
            p->before[i] = more > 0 ? more / 2 : 0;
            p->after[i] = more > 0 ? more - more / 2 : 0;
        }
        p->out[i] = p->how == SAME ? (n + s - 1) / s
                                   : (n + p->before[i] + p->after[i] - span) / s + 1;
    }
}

/* Whether place x of axis i is in window o of it. */
static bool is_in(const pooling *p, int i, int64_t x, int64_t o)
{
    if (p->how == ADAPTIVE) {
        const double n = (double)p->in[i], m = (double)p->out[i], at = (double)o;
        return (double)x >= floor(at * n / m) && (double)x < ceil((at + 1) * n / m);
    }
    const int64_t from = x + p->before[i] - o * p->step[i];
    return from >= 0 && from % p->gap[i] == 0 && from / p->gap[i] < p->ksize[i];
}

/* Elements of x in the window of y[at]: their places; how many. */
static int window(const pooling *p, eddy_shape sx, const int64_t *at, int64_t *place_of)
{
    int           count = 0;
    const int64_t image = eddy_shape_count(sx) / p->batch, first = at[0] * image;
    for (int64_t j = first + at[p->axes + 1]; j < first + image; j += p->c) {
        int64_t of[EDDY_MAX_RANK];
        bool    in = true;
        position(sx, j, of);
        for (int i = 0; i < p->axes && in; i++) in = is_in(p, i, of[1 + i], at[1 + i]);
        if (in) place_of[count++] = j;
    }
    return count;
}

/* y and dx, what the gradient of dx hands on of ddx, and where maxima are. */
typedef struct arrays {
    eddy_shape sx, sy;
    double    *x, *dy, *ddx, *y, *dx, *ddy, *where;
} arrays;

static void reference(const pooling *p, arrays *a)
{
    int64_t at[EDDY_MAX_RANK], found[512];
    for (int64_t i = 0; i < eddy_shape_count(a->sy); i++) {
        position(a->sy, i, at);
        const int count = window(p, a->sx, at, found);
        double    share = count;
        int       best = 0;
        for (int k = 0; k < p->axes && p->whole && p->how != ADAPTIVE; k++)
            share = (k ? share : 1) * (double)p->ksize[k];
        for (int j = 1; j < count; j++) best = a->x[found[best]] < a->x[found[j]] ? j : best;
        a->y[i] = p->mean ? 0 : -INFINITY;
        for (int j = 0; j < count && p->mean; j++) {
            a->y[i] += a->x[found[j]] / share;
            a->dx[found[j]] += a->dy[i] / share;
            a->ddy[i] += a->ddx[found[j]] / share;
        }
        if (p->mean || count == 0) continue;
        a->y[i] = a->x[found[best]];
        a->ddy[i] = a->ddx[found[best]];
        a->dx[found[best]] += a->dy[i];
        a->where[i] = (double)found[best];
    }
}

/* Few different numbers, so that there are ties. */
static double *drawn(trial *t, int64_t n)
{
    double *v = calloc((size_t)n + 1, sizeof *v);
    for (int64_t i = 0; i < n && t; i++) v[i] = pick(t, 9) - 4;
    return v;
}

static arrays arrays_of(trial *t, const pooling *p)
{
    arrays a = { .sx = { .rank = p->axes + 2, .dim = { p->batch } } };
    for (int i = 0; i < p->axes; i++) a.sx.dim[1 + i] = p->in[i];
    a.sx.dim[p->axes + 1] = p->c;
    a.sy = a.sx;
    for (int i = 0; i < p->axes; i++) a.sy.dim[1 + i] = p->out[i];
    const int64_t nx = eddy_shape_count(a.sx), ny = eddy_shape_count(a.sy);
    a.x = drawn(t, nx), a.dy = drawn(t, ny), a.ddx = drawn(t, nx);
    a.y = drawn(NULL, ny), a.dx = drawn(NULL, nx), a.ddy = drawn(NULL, ny);
    a.where = drawn(NULL, ny);
    reference(p, &a);
    return a;
}

static void close_array(const char *what, eddy_array *got, const double *want)
{
    for (int64_t i = 0; i < eddy_array_count(got); i++)
        ck_assert_msg(close_to(eddy_array_get(got, i), want[i], 1e-5), "%s %d is %.9g, not %.9g",
                      what, (int)i, eddy_array_get(got, i), want[i]);
    eddy_array_free(got);
}

static eddy_dims dims_of(const int64_t *v, int n)
{
    eddy_dims d = { .count = n };
    for (int i = 0; i < n; i++) d.at[i] = v[i];
    return d;
}

/* The explicit paddings before and after each axis. */
static eddy_dims around_of(const pooling *p)
{
    eddy_dims d = { .count = p->how == EXPLICIT ? 2 * p->axes : 0 };
    for (int i = 0; i < p->axes; i++) d.at[2 * i] = p->before[i], d.at[2 * i + 1] = p->after[i];
    return eddy_dims_or(d, EDDY_OMITTED_DIMS);
}

static eddy_tensor built(const pooling *p, eddy_tensor x)
{
    static const char *const names[] = { "SAME", "VALID", "EXPLICIT" };
    const int       n = p->axes;
    const eddy_dims size = dims_of(p->ksize, n), steps = dims_of(p->step, n);
    const eddy_dims gaps = dims_of(p->gap, n);
    const eddy_dims around = around_of(p);
    if (p->how == ADAPTIVE)
        return p->mean ? eddy_adaptive_avg_pool(x, size) : eddy_adaptive_max_pool(x, size);
    if (n == 2 && p->how == EXPLICIT) {
        const eddy_pool_nd_args a = *EDDY_ARGS(eddy_pool_nd_args, .x = x, .ksize = size,
                                               .strides = steps, .dilations = gaps,
                                               .explicit_paddings = around,
                                               .count_include_pad = p->whole);
        return p->mean ? eddy_avg_pool2d_with(&a) : eddy_max_pool2d_with(&a);
    }
    if (n == 2)
        return eddy_pool(x, size, p->mean ? "AVG" : "MAX", steps, names[p->how], .dilations = gaps,
                         .explicit_paddings = around, .count_include_pad = p->whole);
    const eddy_dims change = EDDY_DIMS(0, 2, 1);
    const eddy_pool_nd_args a = *EDDY_ARGS(
        eddy_pool_nd_args, .x = p->planes ? Transpose(x, change) : x, .ksize = size,
        .strides = steps, .padding = names[p->how], .dilations = gaps, .explicit_paddings = around,
        .count_include_pad = p->whole, .data_format = p->planes ? "NCW" : NULL);
    if (n == 1) {
        const eddy_tensor y = p->mean ? eddy_avg_pool1d_with(&a) : eddy_max_pool1d_with(&a);
        return p->planes ? Transpose(y, change) : y;
    }
    return p->mean ? eddy_avg_pool3d_with(&a) : eddy_max_pool3d_with(&a);
}

static void check_where(trial *t, const pooling *p, const arrays *a, eddy_tensor x)
{
    const int64_t image = p->in[0] * p->in[1] * p->c, all = eddy_shape_count(a->sy);
    for (int whole = 0; whole < 2; whole++) {
        const eddy_tensor y = eddy_max_pool_with_argmax(
            x, dims_of(p->ksize, 2), dims_of(p->step, 2), p->how == SAME ? "SAME" : NULL, whole,
            .explicit_paddings = around_of(p));
        eddy_array *got = value(t, eddy_output(y, 1));
        for (int64_t i = 0; i < all; i++) {
            const int64_t at = (int64_t)a->where[i];
            ck_assert_int_eq((int64_t)eddy_array_get(got, i), whole ? at : at % image);
        }
        eddy_array_free(got);
        close_array("y", value(t, y), a->y);
    }
}

static void check_pooling(trial *t, pooling *p)
{
    settle(p);
    arrays           a = arrays_of(t, p);
    const eddy_dtype d = pick(t, 3) ? F32 : F64;
    const bool       plain = p->gap[0] == 1 && p->gap[1] == 1 && p->how < ADAPTIVE;
    g = t->graph;
    const eddy_tensor x = fed(t, array(d, a.sx, a.x)), dy = fed(t, array(d, a.sy, a.dy));
    const eddy_tensor y = built(p, x), dx = gradient_with(y, dy, x);
    close_array("y", value(t, y), a.y);
    close_array("dx", value(t, dx), a.dx);
    close_array("ddy", value(t, gradient_with(dx, fed(t, array(d, a.sx, a.ddx)), dy)), a.ddy);
    if (p->axes == 2 && plain && !p->mean) check_where(t, p, &a, x);
    free(a.x), free(a.dy), free(a.ddx), free(a.y), free(a.dx), free(a.ddy), free(a.where);
}

START_TEST(values_are_those_of_plain_loops)
{
    static const int64_t channels[] = { 0, 1, 2, 3, 16, 17, 70, 300 };
    eddy__instructions_limit((eddy_instructions)(_i % 3));
    for (int i = 0; i < 8; i++) {
        trial   t = trial_begin((unsigned)(_i * 100 + i));
        pooling p = { .axes = 1 + _i % 3, .how = (padding)pick(&t, 4), .mean = pick(&t, 2) };
        p.planes = p.axes == 1 && pick(&t, 2);
        p.whole = p.mean && !pick(&t, 3);
        p.batch = pick(&t, 3);
        p.c = channels[pick(&t, p.axes == 3 ? 5 : 8)];
        for (int k = 0; k < p.axes; k++) {
            p.ksize[k] = 1 + pick(&t, p.axes == 3 ? 3 : 4);
            p.step[k] = pick(&t, 2) ? p.ksize[k] : 1 + pick(&t, 4);
            p.gap[k] = pick(&t, 3) ? 1 : 1 + pick(&t, 3);
            const int span = (int)((p.ksize[k] - 1) * p.gap[k] + 1);
            p.before[k] = pick(&t, span), p.after[k] = pick(&t, span);
            const int64_t least = p.how == SAME ? 0 : p.how == ADAPTIVE ? 1 : span;
            p.in[k] = least + pick(&t, p.axes == 3 ? 4 : 7);
        }
        check_pooling(&t, &p);
        trial_end(&t);
    }
    g = NULL;
}
END_TEST

START_TEST(threads_and_instructions_change_no_bit)
{
    const eddy_shape s = EDDY_SHAPE(5, 6, 9, 11, 70);
    eddy_array *x = eddy_array_new(F32, s), *first[4] = { NULL };
    for (int64_t i = 0; i < eddy_array_count(x); i++) eddy_array_set(x, i, uniform(-1, 1));
    g = eddy_graph_new();
    const eddy_tensor in = eddy_placeholder(g, "x", F32, eddy_shape_of_dims(s.dim, 5));
    const eddy_tensor a = eddy_max_pool3d(in, EDDY_DIMS(3), EDDY_DIMS(2), "SAME");
    const eddy_tensor b = eddy_adaptive_avg_pool(in, EDDY_DIMS(4, 4, 4));
    const eddy_tensor all[] = { a, b, slope(Square(a), in), slope(Square(b), in) };
    for (int how = 0; how < 4; how++) {
        eddy_array *got[4] = { NULL };
        eddy__instructions_limit((eddy_instructions)(how % 3));
        eddy_session *session = eddy_session_new(g, .threads = 1 + how);
        ck_assert_int_eq(eddy_run(session, EDDY_FEED({ in, x }), (eddy_list){ 4, all },
                                  how ? got : first), EDDY_OK);
        for (int i = 0; i < 4 && how; i++) {
            ck_assert(eddy_array_equal(got[i], first[i]));
            eddy_array_free(got[i]);
        }
        eddy_session_free(session);
    }
    for (int i = 0; i < 4; i++) eddy_array_free(first[i]);
    eddy_array_free(x);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------- numbers by others -- */

static eddy_tensor numbers(eddy_shape s)
{
    return shaped(F64, s, (double[]){ 1, 5, 2, 8, 4, 3, 7, 0, 6, 2, 9, 1, 4, 3, 5, 2, 6, 8, 1, 7 });
}
static eddy_tensor image(void) { return numbers(EDDY_SHAPE(1, 4, 5, 1)); }

/* The gradient where 1, 2, 3, ... arrive. */
static eddy_tensor counted(eddy_tensor y, eddy_tensor x)
{
    double    v[ROOM];
    const int n = (int)eddy_shape_count(eddy_shape_of(y));
    for (int i = 0; i < n; i++) v[i] = i + 1;
    return gradient_with(y, shaped(eddy_dtype_of(x), eddy_shape_of(y), v), x);
}

/* PyTorch: adaptive_avg_pool2d and adaptive_max_pool2d. */
START_TEST(adaptive_pooling_is_that_of_pytorch)
{
    const eddy_tensor x = image(), mean = eddy_adaptive_avg_pool(x, EDDY_DIMS(3, 2));
    const eddy_tensor most = eddy_adaptive_max_pool(x, EDDY_DIMS(3, 2));
    NEAR(mean, 3, 11. / 3, 4, 10. / 3, 5, 14. / 3);
    NEAR(counted(mean, x), 1. / 6, 1. / 6, .5, 1. / 3, 1. / 3, 2. / 3, 2. / 3, 5. / 3, 1, 1, 4. / 3,
         4. / 3, 3, 5. / 3, 5. / 3, 5. / 6, 5. / 6, 11. / 6, 1, 1);
    IS(most, 7, 8, 9, 6, 9, 8);
    IS(counted(most, x), 0, 0, 0, 2, 0, 0, 1, 0, 4, 0, 8, 0, 0, 0, 0, 0, 0, 6, 0, 0);
    NEAR(eddy_adaptive_avg_pool(x, EDDY_DIMS(5, 1)), 4, 3.8, 4, 4.6, 4.8);
    near("itself", 0, eddy_adaptive_max_pool(x, EDDY_DIMS(EDDY_ANY, 5)), 20,
         (double[]){ 1, 5, 2, 8, 4, 3, 7, 0, 6, 2, 9, 1, 4, 3, 5, 2, 6, 8, 1, 7 });
}
END_TEST

/* PyTorch: max_pool2d with return_indices, with dilation 2, with padding; avg_pool2d. */
START_TEST(images_are_pooled_as_by_pytorch)
{
    const eddy_tensor x = image(), one = numbers(EDDY_SHAPE(1, 1, 4, 5));
    const eddy_tensor most = eddy_max_pool_with_argmax(x, EDDY_DIMS(2), EDDY_DIMS(1));
    const eddy_tensor apart = eddy_pool(x, EDDY_DIMS(2, 2), "MAX", .dilations = EDDY_DIMS(2),
                                        .explicit_paddings = EDDY_DIMS(1, 1, 1, 1));
    const eddy_tensor mean = eddy_pool(one, EDDY_DIMS(3, 3), "AVG", EDDY_DIMS(2), "EXPLICIT",
                                       "NCHW", .explicit_paddings = EDDY_DIMS(1, 1, 1, 1));
    IS(most, 7, 7, 8, 8, 9, 7, 6, 6, 9, 8, 8, 7);
    IS(eddy_output(most, 1), 6, 6, 3, 3, 10, 6, 8, 8, 10, 17, 17, 19);
    IS(counted(most, x), 0, 0, 0, 7, 0, 0, 9, 0, 15, 0, 14, 0, 0, 0, 0, 0, 0, 21, 0, 12);
    IS(apart, 7, 3, 7, 2, 6, 5, 9, 8, 5, 8, 7, 8, 7, 8, 6, 1, 9, 3, 5, 3);
    IS(counted(apart, x), 0, 6, 0, 18, 0, 2, 28, 0, 20, 4, 24, 16, 0, 38, 28, 0, 0, 26, 0, 0);
    NEAR(mean, 4, 14. / 3, 5, 14. / 3, 4, 4);
    IS(eddy_pool(x, EDDY_DIMS(2, 2), "MAX", EDDY_DIMS(2)), 7, 8, 9, 8);
}
END_TEST

/* PyTorch: max_pool1d, avg_pool1d, max_pool3d, avg_pool3d, lp_pool2d. */
START_TEST(lines_and_volumes_are_pooled_as_by_pytorch)
{
    const eddy_tensor line = numbers(EDDY_SHAPE(1, 20, 1)), row = numbers(EDDY_SHAPE(1, 1, 20));
    const double v[] = { 1, 5, 2, 8, 3, 7, 0, 6, 9, 1, 4, 3, 2, 6, 8, 1 };
    const eddy_tensor volume = shaped(F64, EDDY_SHAPE(1, 2, 2, 4, 1), v);
    const eddy_tensor mean = eddy_avg_pool1d(row, EDDY_DIMS(4), EDDY_DIMS(3), "VALID", "NCW");
    IS(eddy_max_pool1d(line, EDDY_DIMS(3), EDDY_DIMS(2), .explicit_paddings = EDDY_DIMS(1, 1)),
       5, 8, 8, 7, 6, 9, 4, 5, 8, 8);
    NEAR(mean, 4, 5.5, 3.75, 4, 3.5, 4.25);
    NEAR(counted(mean, row), .25, .25, .25, .75, .5, .5, 1.25, .75, .75, 1.75, 1, 1, 2.25, 1.25,
         1.25, 2.75, 1.5, 1.5, 1.5, 0);
    IS(eddy_max_pool3d(volume, EDDY_DIMS(2), EDDY_DIMS(1)), 9, 8, 8);
    NEAR(eddy_avg_pool3d(volume, EDDY_DIMS(2, 1, 2), EDDY_DIMS(1, 1, 2)), 4, 4.25, 4.5, 3.75);
    NEAR(eddy_lp_pool(image(), 2, EDDY_DIMS(2, 2)), 9.16515138991168, 10.198039027185569,
         11.045361017187261, 9.486832980505138);
    NEAR(eddy_lp_pool(image(), 3, EDDY_DIMS(2, 2)), 7.91578321936081, 9.028714870948003,
         9.844253564564347, 8.45302810372016);
    NEAR(eddy_lp_pool(image(), 1, EDDY_DIMS(2, 2), EDDY_DIMS(2)), 16, 16, 18, 16);
}
END_TEST

/* ---------------------------------------------------------------- corners -- */

START_TEST(of_nothing_and_of_nan)
{
    const eddy_tensor x = shaped(F32, EDDY_SHAPE(1, 2, 1), (double[]){ 3, NAN });
    const eddy_tensor y = eddy_max_pool1d(x, EDDY_DIMS(2), EDDY_DIMS(1), "SAME", .dilations =
                                          EDDY_DIMS(4));
    const eddy_tensor mean = eddy_avg_pool1d(x, EDDY_DIMS(2), EDDY_DIMS(1), "SAME", .dilations =
                                             EDDY_DIMS(4));
    IS(eddy_max_pool1d(x, EDDY_DIMS(2)), 3);
    IS(eddy_max_pool1d(eddy_reverse(x, EDDY_AXES(1)), EDDY_DIMS(2)), NAN);
    IS(slope(eddy_max_pool1d(x, EDDY_DIMS(2)), x), 1, 0);
    IS(y, -INFINITY, -INFINITY);
    IS(slope(y, x), 0, 0);
    IS(mean, 0, 0);
    IS(slope(mean, x), 0, 0);
}
END_TEST

/* TensorFlow's eight entries, in the order of the dimensions, and channels second. */
START_TEST(images_are_padded_as_told)
{
    const eddy_tensor x = image(), planes = Transpose(x, EDDY_DIMS(0, 3, 1, 2));
    const eddy_dims   four = EDDY_DIMS(1, 0, 0, 1), eight = EDDY_DIMS(0, 0, 1, 0, 0, 1, 0, 0);
    const eddy_tensor y = eddy_max_pool2d(x, EDDY_DIMS(2), .explicit_paddings = four);
    IS(y, 5, 8, 4, 9, 6, 5);
    IS(eddy_max_pool2d(x, EDDY_DIMS(2), .padding = "EXPLICIT", .explicit_paddings = eight),
       5, 8, 4, 9, 6, 5);
    IS(eddy_max_pool2d(planes, EDDY_DIMS(1, 1, 2, 2), .data_format = "NCHW",
                       .explicit_paddings = EDDY_DIMS(0, 0, 0, 0, 1, 0, 0, 1)),
       5, 8, 4, 9, 6, 5);
    IS(eddy_avg_pool2d(x, EDDY_DIMS(4, 3), .explicit_paddings = EDDY_DIMS(3, 0, 0, 1)),
       8.0 / 3, 6);
    IS(eddy_output(eddy_max_pool_with_argmax(x, EDDY_DIMS(2), .explicit_paddings = four), 1),
       1, 3, 4, 10, 8, 14);
}
END_TEST

START_TEST(global_pooling_takes_all)
{
    const eddy_tensor x = image(), planes = numbers(EDDY_SHAPE(1, 2, 10));
    IS(eddy_global_average_pool(x), 4.2);
    IS(eddy_global_max_pool(x), 9);
    IS(eddy_global_max_pool(planes, "NCW"), 8, 9);
    IS(eddy_global_average_pool(planes, "NCW", true), 3.8, 4.6);
    ck_assert_int_eq(eddy_shape_of(eddy_global_max_pool(planes, "NCW", true)).rank, 3);
    ck_assert_str_eq(eddy_name_of(eddy_global_max_pool(x, .name = "most")), "most");
}
END_TEST

START_TEST(shapes_are_inferred_as_far_as_they_are_known)
{
    char text[64];
    const eddy_tensor x = eddy_placeholder(g, "x", F32, EDDY_SHAPE(EDDY_ANY, 7, EDDY_ANY, 3));
    const eddy_tensor any = eddy_placeholder(g, "any", F32, EDDY_UNKNOWN_SHAPE);
#define PRINTS(t, want) \
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(t), text, sizeof text), want)
    PRINTS(eddy_pool(x, EDDY_DIMS(3, 3), "MAX", EDDY_DIMS(2), "SAME"), "[?,4,?,3]");
    PRINTS(eddy_pool(x, EDDY_DIMS(3, 2), "AVG", .dilations = EDDY_DIMS(2, 1)), "[?,3,?,3]");
    /* less than the window of its own axis */
    PRINTS(eddy_pool(x, EDDY_DIMS(2, 4), "MAX", EDDY_DIMS(1), "EXPLICIT",
                     .explicit_paddings = EDDY_DIMS(1, 0, 3, 3)), "[?,7,?,3]");
    PRINTS(eddy_adaptive_avg_pool(x, EDDY_DIMS(EDDY_ANY, 5)), "[?,7,5,3]");
    PRINTS(eddy_adaptive_avg_pool(any, EDDY_DIMS(2, 3, 4), "NCDHW"), "[?,?,2,3,4]");
    PRINTS(eddy_max_pool3d(any, EDDY_DIMS(2)), "[?,?,?,?,?]");
    PRINTS(eddy_output(eddy_max_pool_with_argmax(x, EDDY_DIMS(2)), 1), "[?,3,?,3]");
    PRINTS(eddy_global_max_pool(x), "[?,3]");
    ck_assert_str_eq(eddy_name_of(eddy_max_pool1d(any, EDDY_DIMS(2), .name = "a")), "a");
    ck_assert_str_eq(eddy_name_of(eddy_max_pool1d(any, EDDY_DIMS(2), .data_format = "NCW",
                                                  .name = "b")), "b");
    ck_assert_str_eq(eddy_name_of(eddy_lp_pool(any, 2, EDDY_DIMS(2), .name = "c")), "c");
}
END_TEST

/* Sizes that no memory could hold, of which there are no elements. */
START_TEST(empty_batches_may_have_any_size)
{
    const int64_t large = (int64_t)1 << 30;
    const eddy_tensor x = eddy_zeros(g, F32, EDDY_SHAPE(0, large, 1, 0));
    ck_assert_int_eq(run_status(eddy_pool(x, EDDY_DIMS(3, 1), "MAX", .dilations = EDDY_DIMS(5))),
                     EDDY_OK);
    ck_assert_int_eq(run_status(slope(eddy_adaptive_avg_pool(x, EDDY_DIMS(7, 2)), x)), EDDY_OK);
}
END_TEST

Suite *pool_nd_suite(void)
{
    Suite *s = suite_create("pool_nd");
    TCase *loops = tcase_create("loops"), *t = tcase_create("pool_nd");
    tcase_add_loop_test(loops, values_are_those_of_plain_loops, 0, 45);
    tcase_add_test(loops, threads_and_instructions_change_no_bit);
    suite_add_tcase(s, loops);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, adaptive_pooling_is_that_of_pytorch);
    tcase_add_test(t, images_are_pooled_as_by_pytorch);
    tcase_add_test(t, lines_and_volumes_are_pooled_as_by_pytorch);
    tcase_add_test(t, of_nothing_and_of_nan);
    tcase_add_test(t, images_are_padded_as_told);
    tcase_add_test(t, global_pooling_takes_all);
    tcase_add_test(t, shapes_are_inferred_as_far_as_they_are_known);
    tcase_add_test(t, empty_batches_may_have_any_size);
    suite_add_tcase(s, t);
    return s;
}
