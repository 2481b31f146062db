/* test_conv_depthwise.c -- depthwise convolutions against loops in double precision; 1-D, separable
 * and dilated convolutions, and patches, against PyTorch's results and against the 2-D
 * convolution. */
#include "tests/lib/conv_numbers.h"
#include "tests/lib/levels.h"

Suite *conv_depthwise_suite(void);

typedef struct sizes {
    int64_t     batch, in[2], c, m, filter[2], step[2], gap[2];
    const char *padding;
    int64_t     zeros[4];            /* top, bottom, left, right */
    int64_t     out[2];
} sizes;

/* What TensorFlow's ops/nn documents: SAME has ceil(in / stride) outputs, more zeros after. */
static void settle(sizes *s)
{
    for (int i = 0; i < 2; i++) {
        const int64_t span = (s->filter[i] - 1) * s->gap[i] + 1;
        if (strcmp(s->padding, "SAME") == 0) {
            int64_t all = ((s->in[i] + s->step[i] - 1) / s->step[i] - 1) * s->step[i] + span -
                          s->in[i];
            if (all < 0) all = 0;
            s->zeros[2 * i] = all / 2;
            s->zeros[2 * i + 1] = all - all / 2;
        }
        const int64_t room = s->in[i] + s->zeros[2 * i] + s->zeros[2 * i + 1] - span;
        s->out[i] = s->in[i] == 0 ? 0 : room / s->step[i] + 1;
    }
}

/* All terms with filter element (a, b) at output (i, j) of an image. */
static void add_terms(numbers *n, const sizes *s, int64_t image, int64_t i, int64_t j, int64_t a,
                      int64_t b)
{
    const int64_t y = i * s->step[0] + a * s->gap[0] - s->zeros[0];
    const int64_t x = j * s->step[1] + b * s->gap[1] - s->zeros[2];
    if (y < 0 || y >= s->in[0] || x < 0 || x >= s->in[1]) return;
    for (int64_t o = 0; o < s->c * s->m; o++) {
        const int64_t px = ((image * s->in[0] + y) * s->in[1] + x) * s->c + o / s->m;
        const int64_t py = ((image * s->out[0] + i) * s->out[1] + j) * s->c * s->m + o;
        const int64_t pw = (a * s->filter[1] + b) * s->c * s->m + o;
        add_term(n, Y, py, n->at[X][px], n->at[W][pw]);
        add_term(n, DX, px, n->at[DY][py], n->at[W][pw]);
        add_term(n, DW, pw, n->at[X][px], n->at[DY][py]);
    }
}

static numbers reference(sizes *s)
{
    settle(s);
    numbers n = numbers_new(EDDY_SHAPE(s->batch, s->in[0], s->in[1], s->c),
                            EDDY_SHAPE(s->filter[0], s->filter[1], s->c, s->m),
                            EDDY_SHAPE(s->batch, s->out[0], s->out[1], s->c * s->m));
    for (int64_t image = 0; image < s->batch; image++)
        for (int64_t i = 0; i < s->out[0]; i++)
            for (int64_t j = 0; j < s->out[1]; j++)
                for (int64_t a = 0; a < s->filter[0]; a++)
                    for (int64_t b = 0; b < s->filter[1]; b++)
                        add_terms(&n, s, image, i, j, a, b);
    return n;
}

static void compare(const char *what, const numbers *n, int k, const eddy_array *got)
{
    ck_assert_ptr_nonnull(got);
    const double rounding = eddy_array_dtype(got) == EDDY_FLOAT32 ? 1e-6 : 2e-15;
    ck_assert(eddy_shape_equal(eddy_array_shape(got), n->shape[k]));
    for (int64_t i = 0; i < eddy_array_count(got); i++) {
        const double v = eddy_array_get(got, i);
        ck_assert_msg(fabs(v - n->at[k][i]) <= rounding * n->size[k][i],
                      "%s: element %lld of array %d is %.9g, not %.9g", what, (long long)i, k, v,
                      n->at[k][i]);
    }
}

/* Channels in front; the filter stays as it is. */
static eddy_tensor moved(eddy_tensor x, bool planes)
{
    return planes ? Transpose(x, EDDY_DIMS(0, 3, 1, 2)) : x;
}
static eddy_tensor moved_back(eddy_tensor x, bool planes)
{
    return planes ? Transpose(x, EDDY_DIMS(0, 2, 3, 1)) : x;
}

/* y and both gradients; with `open`, all sizes are known in the run alone. */
static void check_as(const char *what, const sizes *s, const numbers *n, eddy_dtype d, bool planes,
                     bool open, int threads)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor t[3], back[2];
    eddy_array *value[3], *got[3] = { NULL };
    const int64_t *z = s->zeros;
    for (int k = 0; k < 3; k++) {
        value[k] = eddy_array_new(d, n->shape[k]);
        for (int64_t i = 0; i < eddy_array_count(value[k]); i++)
            eddy_array_set(value[k], i, n->at[k][i]);
        t[k] = eddy_placeholder(g, NULL, d, open ? EDDY_UNKNOWN_SHAPE : n->shape[k]);
    }
    const eddy_tensor y = moved_back(eddy_depthwise_conv2d(
        moved(t[X], planes), t[W], EDDY_DIMS(s->step[0], s->step[1]), s->padding,
        strcmp(s->padding, "EXPLICIT") == 0 ? EDDY_DIMS(z[0], z[1], z[2], z[3]) : EDDY_OMITTED_DIMS,
        EDDY_DIMS(s->gap[0], s->gap[1]), planes ? "NCHW" : NULL), planes);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(t[X], t[W]), back, .grad_ys = EDDY_LIST(t[DY]));
    eddy_session *own = eddy_session_new(g, .threads = threads);
    const eddy_feed feeds[] = { { t[0], value[0] }, { t[1], value[1] }, { t[2], value[2] } };
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    eddy_run(own, (eddy_feeds){ 3, feeds }, EDDY_FETCH(y, back[0], back[1]), got);
    ck_assert_msg(eddy_session_status(own) == EDDY_OK, "%s: %s", what,
                  eddy_session_message(own));
    for (int k = 0; k < 3; k++) {
        compare(what, n, Y + k, got[k]);
        eddy_array_free(got[k]);
        eddy_array_free(value[k]);
    }
    eddy_session_free(own);
    eddy_graph_free(g);
}

#define ONE { 1, 1 }
static const sizes cases[] = {
    { 2, { 9, 11 }, 32, 1, { 3, 3 }, ONE, ONE, "SAME", { 0 }, { 0 } },
    { 2, { 9, 11 }, 24, 1, { 3, 3 }, { 2, 2 }, ONE, "SAME", { 0 }, { 0 } },
    { 3, { 14, 13 }, 17, 1, { 3, 3 }, { 2, 1 }, ONE, "VALID", { 0 }, { 0 } },
    { 1, { 12, 12 }, 33, 2, { 5, 5 }, ONE, ONE, "SAME", { 0 }, { 0 } },
    { 2, { 10, 12 }, 3, 1, { 3, 3 }, ONE, ONE, "SAME", { 0 }, { 0 } },
    { 2, { 10, 12 }, 3, 3, { 3, 4 }, { 2, 3 }, ONE, "SAME", { 0 }, { 0 } },
    { 2, { 10, 12 }, 1, 1, { 7, 7 }, ONE, ONE, "SAME", { 0 }, { 0 } },
    { 2, { 10, 12 }, 1, 5, { 2, 1 }, { 3, 3 }, ONE, "VALID", { 0 }, { 0 } },
    { 1, { 15, 14 }, 7, 1, { 3, 3 }, ONE, { 2, 3 }, "SAME", { 0 }, { 0 } },
    { 1, { 15, 14 }, 6, 2, { 3, 2 }, { 2, 4 }, { 3, 2 }, "SAME", { 0 }, { 0 } },
    { 2, { 6, 5 }, 4, 1, { 4, 3 }, { 3, 2 }, { 6, 9 }, "EXPLICIT", { 12, 15, 12, 20 }, { 0 } },
    { 2, { 5, 6 }, 5, 1, { 2, 3 }, { 3, 3 }, { 2, 1 }, "EXPLICIT", { 0, 5, 2, 0 }, { 0 } },
    /* taps that meet only zeros */
    { 2, { 1, 1 }, 16, 1, { 3, 3 }, ONE, ONE, "SAME", { 0 }, { 0 } },
    { 2, { 4, 5 }, 3, 1, { 3, 3 }, ONE, { 5, 1073741822 }, "SAME", { 0 }, { 0 } },
    { 2, { 2, 3 }, 4, 1, { 5, 6 }, { 2, 2 }, ONE, "SAME", { 0 }, { 0 } },
    { 1, { 1, 9 }, 20, 1, { 1, 5 }, ONE, ONE, "VALID", { 0 }, { 0 } },
    { 40, { 6, 6 }, 8, 1, { 1, 1 }, { 2, 2 }, ONE, "VALID", { 0 }, { 0 } },
    { 0, { 4, 4 }, 3, 1, { 3, 3 }, ONE, ONE, "SAME", { 0 }, { 0 } },
    { 2, { 0, 4 }, 3, 2, { 3, 3 }, ONE, ONE, "SAME", { 0 }, { 0 } },
};
enum { CASES = sizeof cases / sizeof *cases, LEVELS = EDDY_AVX512 + 1 };

START_TEST(against_loops)
{
    if (!limit_to(_i % LEVELS)) return;
    sizes   s = cases[_i / LEVELS];
    numbers n = reference(&s);
    char    what[40];
    snprintf(what, sizeof what, "case %d", _i / LEVELS);
    check_as(what, &s, &n, EDDY_FLOAT32, false, false, 1);
    check_as(what, &s, &n, EDDY_FLOAT32, true, true, 1);
    check_as(what, &s, &n, EDDY_FLOAT64, false, true, 3);
    check_as(what, &s, &n, EDDY_FLOAT64, true, false, 1);
    eddy__instructions_limit(EDDY_AVX512);
    numbers_free(&n);
}
END_TEST

/* ---------------------------------------------------------------- values -- */

static eddy_tensor noise(eddy_dtype d, eddy_shape s)
{
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, random_number());
    const eddy_tensor t = eddy_constant(graph, a, NULL);
    eddy_array_free(a);
    return eddy_placeholder_with_default(t, NULL, s);
}

/* torch.nn.functional.conv1d and conv_transpose1d of torch 1.13 on these numbers; and SAME, by
 * hand: of an odd number of zeros, one more goes after. */
START_TEST(along_one_axis)
{
    const eddy_tensor x = TENSOR(EDDY_SHAPE(1, 5, 1), 1, 2, 3, 4, 5);
    const eddy_tensor w = TENSOR(EDDY_SHAPE(3, 1, 1), 1, 10, 100);
    HAS(eddy_conv1d(x, w), 321, 432, 543);
    HAS(eddy_conv1d(x, w, .stride = 2, .explicit_paddings = EDDY_DIMS(1, 1)), 210, 432, 54);
    HAS(eddy_conv1d(x, w, 2, "EXPLICIT", NULL, 1, EDDY_DIMS(1, 0)), 210, 432);
    HAS(eddy_conv1d(x, w, .dilation = 2), 531);
    HAS(eddy_conv1d(x, TENSOR(EDDY_SHAPE(2, 1, 1), 1, 10), 1, "SAME"), 21, 32, 43, 54, 5);
    const eddy_tensor planes = TENSOR(EDDY_SHAPE(1, 1, 5), 1, 2, 3, 4, 5);
    HAS(eddy_conv1d(planes, w, .padding = "SAME", .data_format = "NCW"), 210, 321, 432, 543, 54);
    const eddy_tensor small = TENSOR(EDDY_SHAPE(1, 3, 1), 1, 2, 3);
    HAS(eddy_conv1d_transpose(small, w, .stride = 2), 1, 10, 102, 20, 203, 30, 300);
    HAS(eddy_conv1d_transpose(small, w, EDDY_SHAPE(EDDY_ANY, 8, 1), 2), 1, 10, 102, 20, 203, 30,
        300, 0);
    HAS(eddy_conv1d_transpose(TENSOR(EDDY_SHAPE(1, 1, 3), 1, 2, 3), w, EDDY_SHAPE(1, 1, 7), 2,
                              .data_format = "NCW"), 1, 10, 102, 20, 203, 30, 300);
    HAS(eddy_gradient(eddy_conv1d(x, w), x), 1, 11, 111, 110, 100);
    fits(graph);
}
END_TEST

START_TEST(open_shapes)
{
    char text[80];
    const eddy_tensor any = eddy_placeholder(graph, NULL, EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    const eddy_tensor x = eddy_placeholder(graph, NULL, EDDY_FLOAT32,
                                           EDDY_SHAPE(EDDY_ANY, 9, EDDY_ANY, 3));
    const eddy_tensor w = eddy_placeholder(graph, NULL, EDDY_FLOAT32, EDDY_SHAPE(3, 4, 8));
    const eddy_tensor f = eddy_placeholder(graph, NULL, EDDY_FLOAT32, EDDY_SHAPE(3, 3, 3, 2));
    const eddy_dims   two = EDDY_DIMS(2);
#define PRINTS(t, want) \
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(t), text, sizeof text), want)
    PRINTS(eddy_conv1d(any, w), "[?,?,8]");
    PRINTS(eddy_conv1d(any, any, .data_format = "NCW"), "[?,?,?]");
    PRINTS(eddy_depthwise_conv2d(x, f, .strides = two), "[?,4,?,6]");
    PRINTS(eddy_depthwise_conv2d(any, f, .strides = two, .data_format = "NCHW"), "[?,6,?,?]");
    PRINTS(eddy_depthwise_conv2d(x, any), "[?,?,?,?]");
    PRINTS(eddy_extract_image_patches(x, EDDY_DIMS(3, 2), two), "[?,4,?,18]");
    PRINTS(eddy_extract_image_patches(any, EDDY_DIMS(3)), "[?,?,?,?]");
    PRINTS(eddy_gradient(eddy_extract_image_patches(any, EDDY_DIMS(3)), any), "[?,?,?,?]");
    fits(graph);
}
END_TEST

/* Two ways to write the same convolution differ by rounding only. */
static void same(eddy_tensor a, eddy_tensor b)
{
    fits(graph);
    ck_assert(eddy_shape_equal(eddy_shape_of(a), eddy_shape_of(b)));
    ck_assert_double_lt(number(session, Max(Abs(Sub(a, b)))), 1e-12);
}

START_TEST(by_other_convolutions)
{
    const eddy_tensor x = noise(EDDY_FLOAT64, EDDY_SHAPE(2, 9, 8, 4));
    const eddy_tensor w = noise(EDDY_FLOAT64, EDDY_SHAPE(3, 2, 4, 6));
    const eddy_tensor f = noise(EDDY_FLOAT64, EDDY_SHAPE(3, 3, 4, 2));
    const eddy_tensor p = noise(EDDY_FLOAT64, EDDY_SHAPE(1, 1, 8, 5));
    const eddy_dims   two = EDDY_DIMS(2);
    const eddy_tensor grouped = eddy_reshape(f, EDDY_SHAPE(3, 3, 1, 8));
    const eddy_tensor y = eddy_conv2d(x, grouped, two, "SAME");
    same(eddy_depthwise_conv2d(x, f, two, "SAME"), y);
    same(eddy_separable_conv2d(x, f, p, two, "SAME"), eddy_conv2d(y, p));
    same(eddy_separable_conv2d(Transpose(x, EDDY_DIMS(0, 3, 1, 2)), f, p, two, "SAME",
                               .data_format = "NCHW"),
         Transpose(eddy_conv2d(y, p), EDDY_DIMS(0, 3, 1, 2)));
    const eddy_tensor atrous = eddy_atrous_conv2d(x, w, 2, "SAME");
    same(atrous, eddy_conv2d(x, w, .dilations = two, .padding = "SAME"));
    same(eddy_atrous_conv2d_transpose(atrous, w, eddy_shape_of(x), 2, "SAME"),
         eddy_conv2d_transpose(atrous, w, eddy_shape_of(x), .dilations = two, .padding = "SAME"));
    /* im2col */
    const eddy_tensor patches = eddy_extract_image_patches(x, EDDY_DIMS(3, 2), EDDY_DIMS(2, 1),
                                                           EDDY_DIMS(1, 3), "SAME");
    same(eddy_tensordot(patches, eddy_reshape(w, EDDY_SHAPE(24, 6)), 1),
         eddy_conv2d(x, w, EDDY_DIMS(2, 1), "SAME", .dilations = EDDY_DIMS(1, 3)));
}
END_TEST

/* A session computes NCHW without transpositions where the strides of the width are 1; the bits are
 * those of NHWC. Rows have fewer columns than a vector, as many, and more. */
static void check_planes(eddy_dtype d, int64_t width, int64_t m, const char *padding, int64_t gap)
{
    const eddy_tensor x = noise(d, EDDY_SHAPE(2, 3, 9, width));
    const eddy_tensor f = noise(d, EDDY_SHAPE(3, 2, 3, m));
    const eddy_dims   steps = EDDY_DIMS(2, 1), gaps = EDDY_DIMS(1, gap);
    const eddy_tensor last = eddy_depthwise_conv2d(Transpose(x, EDDY_DIMS(0, 2, 3, 1)), f, steps,
                                                   padding, .dilations = gaps);
    const eddy_tensor y = eddy_depthwise_conv2d(x, f, steps, padding, .dilations = gaps,
                                                .data_format = "NCHW");
    eddy_array *b = eddy_fetch(session, last), *a = eddy_fetch(session, y);
    ck_assert(a && b);
    ck_assert_int_eq(eddy_session_plan_info(session).instructions, 1);
    const eddy_shape s = eddy_array_shape(a);
    for (int64_t i = 0, at = 0; i < s.dim[0]; i++)
        for (int64_t c = 0; c < s.dim[1]; c++)
            for (int64_t p = 0; p < s.dim[2] * s.dim[3]; p++, at++) {
                const double want = eddy_array_get(b, (i * s.dim[2] * s.dim[3] + p) * s.dim[1] + c);
                ck_assert_double_eq(eddy_array_get(a, at), want);
            }
    eddy_array_free(a);
    eddy_array_free(b);
}

START_TEST(planes_have_the_bits_of_channels_last)
{
    static const int64_t widths[] = { 3, 5, 17, 18, 40 };
    for (int i = 0; i < 5; i++)
        for (int64_t m = 1; m <= 2; m++)
            for (int64_t gap = 1; gap <= 2; gap++) {
                check_planes(EDDY_FLOAT32, widths[i], m, "SAME", gap);
                check_planes(EDDY_FLOAT64, widths[i], m, "VALID", gap);
            }
}
END_TEST

/* torch.nn.functional.unfold and fold of torch 1.13 on these numbers. */
START_TEST(patches_and_back)
{
    const eddy_tensor x = TENSOR(EDDY_SHAPE(1, 3, 3, 1), 1, 2, 3, 4, 5, 6, 7, 8, 9);
    const eddy_tensor y = eddy_extract_image_patches(x, EDDY_DIMS(2));
    eddy_tensor dx;
    HAS(y, 1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &dx, .grad_ys = EDDY_LIST(y));
    HAS(dx, 1, 4, 3, 8, 20, 12, 7, 16, 9);
    HAS(eddy_extract_image_patches(x, EDDY_DIMS(1, 2, 2, 1), EDDY_DIMS(2), .padding = "SAME"),
        1, 2, 4, 5, 3, 0, 6, 0, 7, 8, 0, 0, 9, 0, 0, 0);
    fits(graph);
}
END_TEST

/* Several threads compute the same bits as one. */
START_TEST(threads)
{
    const eddy_tensor x = noise(EDDY_FLOAT32, EDDY_SHAPE(9, 24, 22, 40));
    const eddy_tensor w = noise(EDDY_FLOAT32, EDDY_SHAPE(3, 3, 40, 1 + _i));
    const eddy_tensor y = eddy_depthwise_conv2d(x, w, .padding = "SAME");
    eddy_tensor d[2];
    eddy_array *got[2][3] = { { NULL } };
    eddy_gradients(EDDY_LIST(Square(y)), EDDY_LIST(x, w), d);
    fits(graph);
    for (int i = 0; i < 2; i++) {
        eddy_session *s = eddy_session_new(graph, .threads = i ? 3 : 1);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y, d[0], d[1]), got[i]), EDDY_OK);
        eddy_session_free(s);
    }
    for (int k = 0; k < 3; k++) {
        ck_assert(eddy_array_equal(got[0][k], got[1][k]));
        eddy_array_free(got[0][k]);
        eddy_array_free(got[1][k]);
    }
}
END_TEST

/* ---------------------------------------------------------------- volumes -- */

typedef struct volume {
    int64_t in[3], filter[3], step[3], gap[3];
    bool    same;
} volume;

enum { IMAGES = 2, FROM = 2, TO = 3 };

/* Where place `at` along axis i begins; TensorFlow's SAME. */
static int64_t start_of(const volume *v, int i, int64_t at)
{
    const int64_t span = (v->filter[i] - 1) * v->gap[i] + 1;
    const int64_t out = (v->in[i] + v->step[i] - 1) / v->step[i];
    const int64_t all = (out - 1) * v->step[i] + span - v->in[i];
    return at * v->step[i] - (v->same && all > 0 ? all / 2 : 0);
}

/* Element o of the result at `at` of image n. */
static double volume_sum(const volume *v, const double *x, const double *w, int64_t n,
                         const int64_t *at, int64_t o)
{
    const int64_t *f = v->filter;
    double sum = 0;
    for (int64_t t = 0; t < f[0] * f[1] * f[2]; t++) {
        const int64_t tap[3] = { t / f[2] / f[1], t / f[2] % f[1], t % f[2] };
        int64_t from = n;
        bool    inside = true;
        for (int i = 0; i < 3; i++) {
            const int64_t p = start_of(v, i, at[i]) + tap[i] * v->gap[i];
            inside = inside && p >= 0 && p < v->in[i];
            from = from * v->in[i] + p;
        }
        for (int64_t c = 0; c < FROM && inside; c++)
            sum += x[from * FROM + c] * w[(t * FROM + c) * TO + o];
    }
    return sum;
}

START_TEST(volumes)
{
    static const volume shapes[] = {
        { { 4, 5, 3 }, { 2, 3, 2 }, { 1, 1, 1 }, { 1, 1, 1 }, false },
        { { 5, 4, 6 }, { 3, 2, 3 }, { 2, 1, 2 }, { 1, 1, 1 }, true },
        { { 6, 5, 5 }, { 2, 2, 2 }, { 1, 2, 1 }, { 3, 2, 1 }, true },
        { { 6, 5, 5 }, { 2, 2, 2 }, { 2, 1, 1 }, { 2, 1, 3 }, false },
        { { 3, 3, 3 }, { 1, 1, 1 }, { 2, 2, 2 }, { 1, 1, 1 }, true },
    };
    const volume     *v = &shapes[_i];
    const eddy_shape  sx = EDDY_SHAPE(IMAGES, v->in[0], v->in[1], v->in[2], FROM);
    const eddy_shape  sw = EDDY_SHAPE(v->filter[0], v->filter[1], v->filter[2], FROM, TO);
    double *x = calloc((size_t)eddy_shape_count(sx), sizeof *x);
    double *w = calloc((size_t)eddy_shape_count(sw), sizeof *w);
    for (int64_t i = 0; i < eddy_shape_count(sx); i++) x[i] = random_number();
    for (int64_t i = 0; i < eddy_shape_count(sw); i++) w[i] = random_number();
    const eddy_tensor tx = tensor(sx, x), tw = tensor(sw, w);
    const char       *padding = v->same ? "SAME" : "VALID";
    const eddy_dims   steps = EDDY_DIMS(v->step[0], v->step[1], v->step[2]);
    const eddy_dims   gaps = EDDY_DIMS(v->gap[0], v->gap[1], v->gap[2]);
    const eddy_tensor y = eddy_conv3d(tx, tw, steps, padding, .dilations = gaps);
    const eddy_tensor planes = eddy_conv3d(Transpose(tx, EDDY_DIMS(0, 4, 1, 2, 3)), tw, steps,
                                           padding, "NCDHW", gaps);
    eddy_array *got = eddy_fetch(session, y);
    fits(graph);
    const eddy_shape s = eddy_array_shape(got);
    for (int64_t i = 0; i < eddy_array_count(got); i++) {
        int64_t at[3], rest = i / TO;
        for (int k = 2; k >= 0; rest /= s.dim[1 + k], k--) at[k] = rest % s.dim[1 + k];
        ck_assert_double_eq_tol(eddy_array_get(got, i), volume_sum(v, x, w, rest, at, i % TO),
                                1e-12);
    }
    ck_assert_double_lt(number(session, Max(Abs(Sub(Transpose(planes, EDDY_DIMS(0, 2, 3, 4, 1)),
                                                    y)))), 1e-12);
    /* it is linear in both: what Euler says of the sum of squares */
    const eddy_tensor squares = Sum(Square(y)), both[] = { tx, tw };
    for (int i = 0; i < 2; i++)
        ck_assert_double_eq_tol(
            number(session, Sub(Sum(Mul(eddy_gradient(squares, both[i]), both[i])),
                                Mul(2, squares))), 0, 1e-9);
    eddy_array_free(got);
    free(x), free(w);
}
END_TEST

Suite *conv_depthwise_suite(void)
{
    Suite *s = suite_create("conv_depthwise");
    TCase *c = tcase_create("depthwise");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, against_loops, 0, CASES * LEVELS);
    suite_add_tcase(s, c);
    c = tcase_create("values");
    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, along_one_axis);
    tcase_add_test(c, open_shapes);
    tcase_add_test(c, by_other_convolutions);
    tcase_add_test(c, planes_have_the_bits_of_channels_last);
    tcase_add_test(c, patches_and_back);
    tcase_add_loop_test(c, threads, 0, 2);
    tcase_add_loop_test(c, volumes, 0, 5);
    suite_add_tcase(s, c);
    return s;
}
