/* test_conv.c -- convolutions and their gradients against plain loops in float64. */
#include "ops/nets/conv2d_fused.h"
#include "tests/lib/conv_numbers.h"
#include "tests/lib/levels.h"
#include "build/gen/table.h"

Suite *conv_suite(void);

typedef struct sizes {
    int64_t     batch, in[2], in_c, filter[2], depth, out_c, step[2], gap[2];
    const char *padding;
    int64_t     zeros[4];            /* top, bottom, left, right */
} sizes;

/* What TensorFlow's ops/nn documents: SAME pads ceil(in / stride) outputs, more after. */
static void settle(sizes *s, int64_t out[2])
{
    for (int i = 0; i < 2; i++) {
        const int64_t span = (s->filter[i] - 1) * s->gap[i] + 1;
        if (strcmp(s->padding, "SAME") == 0) {
            out[i] = (s->in[i] + s->step[i] - 1) / s->step[i];
            int64_t all = (out[i] - 1) * s->step[i] + span - s->in[i];
            if (all < 0) all = 0;
            s->zeros[2 * i] = all / 2;
            s->zeros[2 * i + 1] = all - all / 2;
        }
        out[i] = (s->in[i] + s->zeros[2 * i] + s->zeros[2 * i + 1] - span) / s->step[i] + 1;
    }
}

/* All terms with filter element (a, b) at output (i, j) of an image. */
static void add_terms(numbers *n, const sizes *s, const int64_t out[2], int64_t image, int64_t i,
                      int64_t j, int64_t a, int64_t b)
{
    const int64_t y = i * s->step[0] + a * s->gap[0] - s->zeros[0];
    const int64_t x = j * s->step[1] + b * s->gap[1] - s->zeros[2];
    const int64_t share = s->out_c / (s->in_c / s->depth);
    if (y < 0 || y >= s->in[0] || x < 0 || x >= s->in[1]) return;
    for (int64_t o = 0; o < s->out_c; o++)
        for (int64_t c = 0; c < s->depth; c++) {
            const int64_t px = ((image * s->in[0] + y) * s->in[1] + x) * s->in_c +
                               o / share * s->depth + c;
            const int64_t py = ((image * out[0] + i) * out[1] + j) * s->out_c + o;
            const int64_t pw = ((a * s->filter[1] + b) * s->depth + c) * s->out_c + o;
            add_term(n, Y, py, n->at[X][px], n->at[W][pw]);
            add_term(n, DX, px, n->at[DY][py], n->at[W][pw]);
            add_term(n, DW, pw, n->at[X][px], n->at[DY][py]);
        }
}

static numbers reference(sizes *s)
{
    int64_t out[2];
    settle(s, out);
    numbers n = numbers_new(EDDY_SHAPE(s->batch, s->in[0], s->in[1], s->in_c),
                            EDDY_SHAPE(s->filter[0], s->filter[1], s->depth, s->out_c),
                            EDDY_SHAPE(s->batch, out[0], out[1], s->out_c));
    for (int64_t image = 0; image < s->batch; image++)
        for (int64_t i = 0; i < out[0]; i++)
            for (int64_t j = 0; j < out[1]; j++)
                for (int64_t a = 0; a < s->filter[0]; a++)
                    for (int64_t b = 0; b < s->filter[1]; b++)
                        add_terms(&n, s, out, image, i, j, a, b);
    return n;
}

/* ---------------------------------------------------------------- checks -- */

/* Images with channels in front of height and width; filters stay as they are. */
static eddy_shape stored(const numbers *n, int k, bool planes)
{
    const eddy_shape s = n->shape[k];
    return planes && k != W && k != DW ? EDDY_SHAPE(s.dim[0], s.dim[3], s.dim[1], s.dim[2]) : s;
}

/* Where element i of array k is stored. */
static int64_t place_of(const numbers *n, int k, bool planes, int64_t i)
{
    const eddy_shape s = n->shape[k];
    if (!planes || k == W || k == DW) return i;
    const int64_t c = i % s.dim[3], area = s.dim[1] * s.dim[2], pixel = i / s.dim[3];
    return (pixel / area * s.dim[3] + c) * area + pixel % area;
}

static eddy_array *array_of(const numbers *n, int k, eddy_dtype d, bool planes)
{
    eddy_array *a = eddy_array_new(d, stored(n, k, planes));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, place_of(n, k, planes, i), n->at[k][i]);
    return a;
}

static void compare(const char *what, const numbers *n, int k, bool planes, const eddy_array *got)
{
    ck_assert_ptr_nonnull(got);
#if defined __aarch64__ || defined __i386__
    const double single = 2e-6;         /* their BLAS sums in another order: just above 1e-6 */
#else
    const double single = 1e-6;
#endif
    const double rounding = eddy_array_dtype(got) == EDDY_FLOAT32 ? single : 2e-15;
    ck_assert(eddy_shape_equal(eddy_array_shape(got), stored(n, k, planes)));
    for (int64_t i = 0; i < eddy_array_count(got); i++) {
        const double v = eddy_array_get(got, place_of(n, k, planes, i));
        ck_assert_msg(fabs(v - n->at[k][i]) <= rounding * n->size[k][i],
                      "%s: element %lld of array %d is %.9g, not %.9g", what, (long long)i, k, v,
                      n->at[k][i]);
    }
}

/* The three ops on the case, the batch and, as `open` goes, all sizes not known while building. */
static void check_as(const char *what, const sizes *s, const numbers *n, eddy_dtype d, bool planes,
                     int open)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor t[3];
    eddy_array *value[3], *got[3] = { NULL };
    for (int k = 0; k < 3; k++) {
        eddy_shape shape = stored(n, k, planes);
        value[k] = array_of(n, k, d, planes);
        if (open == 1 && k != W) shape.dim[0] = EDDY_ANY;
        if (open == 2) shape = EDDY_UNKNOWN_SHAPE;
        t[k] = eddy_placeholder(g, NULL, d, shape);
    }
    const int64_t *z = s->zeros;
    const bool     explicit = strcmp(s->padding, "EXPLICIT") == 0;
    eddy_conv2d_args a = *EDDY_ARGS(
        eddy_conv2d_args, .x = t[X], .filter = t[W], .strides = EDDY_DIMS(s->step[0], s->step[1]),
        .padding = s->padding, .dilations = EDDY_DIMS(s->gap[0], s->gap[1]),
        .explicit_paddings = explicit ? EDDY_DIMS(z[0], z[1], z[2], z[3]) : EDDY_OMITTED_DIMS,
        .data_format = planes ? "NCHW" : NULL);
    const eddy_conv2d_backprop_args b =
        *EDDY_ARGS(eddy_conv2d_backprop_args, .x = t[X], .filter = t[W], .dy = t[DY],
                   .strides = a.strides, .padding = a.padding, .dilations = a.dilations,
                   .explicit_paddings = a.explicit_paddings, .data_format = a.data_format);
    const eddy_tensor y = eddy_conv2d_with(&a), dx = eddy_conv2d_backprop_input_with(&b),
                      dw = eddy_conv2d_backprop_filter_with(&b);
    eddy_session *own = eddy_session_new(g);
    const eddy_feed feeds[] = { { t[0], value[0] }, { t[1], value[1] }, { t[2], value[2] } };
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    eddy_run(own, (eddy_feeds){ 3, feeds }, EDDY_FETCH(y, dx, dw), got);
    ck_assert_msg(eddy_session_status(own) == EDDY_OK, "%s: %s", what,
                  eddy_session_message(own));
    for (int k = 0; k < 3; k++) {
        compare(what, n, Y + k, planes, got[k]);
        eddy_array_free(got[k]);
        eddy_array_free(value[k]);
    }
    eddy_session_free(own);
    eddy_graph_free(g);
}

static void check(sizes s)
{
    char    what[200];
    numbers n = reference(&s);
    snprintf(what, sizeof what, "%d x %dx%d, %d to %d channels of %d, filter %dx%d, strides %d %d, "
             "dilations %d %d, %s", (int)s.batch, (int)s.in[0], (int)s.in[1], (int)s.in_c,
             (int)s.out_c, (int)s.depth, (int)s.filter[0], (int)s.filter[1], (int)s.step[0],
             (int)s.step[1], (int)s.gap[0], (int)s.gap[1], s.padding);
    check_as(what, &s, &n, EDDY_FLOAT32, false, 0);
    check_as(what, &s, &n, EDDY_FLOAT32, true, 1);
    check_as(what, &s, &n, EDDY_FLOAT64, false, 2);
    check_as(what, &s, &n, EDDY_FLOAT64, true, 0);
    numbers_free(&n);
}

#define ONE { 1, 1 }
static const sizes cases[] = {
    { 2, { 8, 9 }, 3, { 3, 3 }, 3, 16, ONE, ONE, "SAME", { 0 } },
    { 2, { 8, 9 }, 3, { 3, 3 }, 3, 16, ONE, ONE, "VALID", { 0 } },
    { 3, { 28, 28 }, 1, { 5, 5 }, 1, 32, ONE, ONE, "SAME", { 0 } },
    { 2, { 32, 32 }, 16, { 3, 3 }, 16, 16, ONE, ONE, "EXPLICIT", { 1, 1, 1, 1 } },
    { 2, { 16, 16 }, 16, { 3, 3 }, 16, 32, { 2, 2 }, ONE, "EXPLICIT", { 1, 1, 1, 1 } },
    { 9, { 4, 4 }, 5, { 3, 3 }, 5, 17, ONE, ONE, "SAME", { 0 } },
    { 2, { 11, 10 }, 17, { 3, 2 }, 17, 33, { 2, 2 }, ONE, "SAME", { 0 } },
    { 2, { 11, 13 }, 5, { 4, 2 }, 5, 33, { 3, 2 }, ONE, "SAME", { 0 } },
    { 2, { 11, 13 }, 5, { 2, 4 }, 5, 7, { 1, 3 }, ONE, "VALID", { 0 } },
    { 2, { 7, 7 }, 33, { 1, 1 }, 33, 17, ONE, ONE, "VALID", { 0 } },
    { 2, { 8, 7 }, 16, { 1, 1 }, 16, 32, { 2, 2 }, ONE, "VALID", { 0 } },
    { 2, { 8, 7 }, 16, { 1, 1 }, 16, 32, { 3, 2 }, ONE, "SAME", { 0 } },
    { 2, { 9, 12 }, 4, { 3, 3 }, 4, 5, ONE, { 2, 3 }, "SAME", { 0 } },
    { 2, { 13, 12 }, 4, { 3, 3 }, 4, 20, { 2, 3 }, { 3, 2 }, "SAME", { 0 } },
    { 2, { 13, 14 }, 4, { 3, 4 }, 4, 20, { 4, 2 }, { 2, 4 }, "VALID", { 0 } },
    { 2, { 9, 8 }, 6, { 3, 3 }, 3, 8, ONE, ONE, "SAME", { 0 } },
    { 2, { 9, 8 }, 64, { 3, 3 }, 16, 64, { 2, 1 }, { 1, 2 }, "SAME", { 0 } },
    { 2, { 6, 5 }, 5, { 3, 3 }, 1, 10, ONE, ONE, "SAME", { 0 } },
    { 2, { 3, 2 }, 3, { 5, 7 }, 3, 4, ONE, ONE, "SAME", { 0 } },
    /* some taps, or all, meet only zeros */
    { 5, { 1, 1 }, 4, { 3, 3 }, 4, 20, ONE, ONE, "SAME", { 0 } },
    { 2, { 4, 5 }, 3, { 3, 3 }, 3, 18, ONE, { 5, 1073741822 }, "SAME", { 0 } },
    { 2, { 4, 5 }, 3, { 2, 4 }, 3, 8, ONE, { 1073741822, 4 }, "SAME", { 0 } },
    { 2, { 7, 5 }, 6, { 5, 5 }, 2, 9, { 2, 3 }, { 3, 1000000 }, "SAME", { 0 } },
    { 1, { 6, 5 }, 2, { 4, 3 }, 2, 3, { 3, 2 }, { 6, 9 }, "EXPLICIT", { 12, 15, 2, 20 } },
    { 2, { 3, 2 }, 3, { 5, 6 }, 3, 18, { 2, 2 }, ONE, "SAME", { 0 } },
    { 2, { 5, 6 }, 2, { 2, 3 }, 2, 3, { 2, 1 }, ONE, "EXPLICIT", { 3, 0, 1, 4 } },
    { 1, { 5, 6 }, 2, { 2, 3 }, 2, 3, { 3, 3 }, { 2, 1 }, "EXPLICIT", { 0, 5, 2, 0 } },
    { 1, { 40, 70 }, 8, { 3, 3 }, 8, 12, ONE, ONE, "SAME", { 0 } },
    { 1, { 64, 96 }, 24, { 3, 3 }, 24, 8, { 2, 1 }, ONE, "SAME", { 0 } },
    { 1, { 1, 1 }, 1, { 1, 1 }, 1, 1, ONE, ONE, "VALID", { 0 } },
    { 1, { 1, 9 }, 3, { 1, 3 }, 3, 48, ONE, ONE, "VALID", { 0 } },
    { 17, { 3, 3 }, 3, { 3, 3 }, 3, 40, ONE, ONE, "VALID", { 0 } },
    { 0, { 4, 4 }, 3, { 3, 3 }, 3, 8, ONE, ONE, "SAME", { 0 } },
    { 70, { 6, 6 }, 2, { 2, 2 }, 2, 9, ONE, ONE, "VALID", { 0 } },
    { 3, { 14, 14 }, 32, { 5, 5 }, 32, 64, ONE, ONE, "SAME", { 0 } },
};
/* The last case is large. */
enum { CASES = sizeof cases / sizeof *cases, LEVELS = EDDY_AVX512 + 1 };

START_TEST(against_loops)
{
    if (!limit_to(_i % LEVELS)) return;
    check(cases[_i / LEVELS]);
    eddy__instructions_limit(EDDY_AVX512);
}
END_TEST

/* ---------------------------------------------------------------- values -- */

/* The example of TensorFlow's guide, "Strides" and "Padding" of tf.nn.convolution: of an odd
 * number of zeros, one more goes after. */
START_TEST(more_zeros_after)
{
    const eddy_tensor x = TENSOR(EDDY_SHAPE(1, 1, 4, 1), 1, 2, 3, 4);
    const eddy_tensor w = TENSOR(EDDY_SHAPE(1, 2, 1, 1), 1, 10);
    HAS(eddy_conv2d(x, w, .padding = "SAME"), 21, 32, 43, 4);
    HAS(eddy_conv2d(x, w), 21, 32, 43);
    const eddy_tensor w3 = TENSOR(EDDY_SHAPE(1, 3, 1, 1), 1, 10, 100);
    HAS(eddy_conv2d(x, w3, .padding = "SAME", .strides = EDDY_DIMS(2)), 321, 43);
    HAS(eddy_conv2d(x, w3, .padding = "SAME", .strides = EDDY_DIMS(1, 1, 2, 1)), 321, 43);
    HAS(eddy_conv2d(x, w3, .explicit_paddings = EDDY_DIMS(0, 0, 0, 0, 1, 1, 0, 0)), 210, 321, 432,
        43);
}
END_TEST

/* torch.nn.functional.conv_transpose2d(x, w, stride=2) of torch 1.13, with these numbers. */
START_TEST(transposed)
{
    const eddy_tensor x = TENSOR(EDDY_SHAPE(1, 2, 2, 1), 1, 2, 3, 4);
    const eddy_tensor w = TENSOR(EDDY_SHAPE(2, 2, 1, 1), 1, 2, 3, 4);
    const eddy_dims   two = EDDY_DIMS(2);
    const eddy_tensor y = eddy_conv2d_transpose(x, w, .strides = two);
    HAS(y, 1, 2, 2, 4, 3, 4, 6, 8, 3, 6, 4, 8, 9, 12, 12, 16);
    HAS(eddy_conv2d_transpose(x, w, EDDY_SHAPE(EDDY_ANY, 4, 4, 1), .strides = two),
        1, 2, 2, 4, 3, 4, 6, 8, 3, 6, 4, 8, 9, 12, 12, 16);
    HAS(eddy_conv2d_transpose(x, w, EDDY_SHAPE(1, 3, 4, 1), .strides = two, .padding = "SAME"),
        1, 2, 2, 4, 3, 4, 6, 8, 3, 6, 4, 8);
    const eddy_tensor overlapping = eddy_conv2d_transpose(x, w);
    HAS(overlapping, 1, 4, 4, 6, 20, 16, 9, 24, 16);
    HAS(eddy_gradient(overlapping, x), 10, 10, 10, 10);
    fits(graph);
}
END_TEST

/* As above, of images whose sizes only a run tells. */
START_TEST(transposed_open)
{
    const eddy_shape  open = EDDY_SHAPE(EDDY_ANY, EDDY_ANY, EDDY_ANY, 1);
    const eddy_tensor x = eddy_placeholder(graph, NULL, EDDY_FLOAT64, open);
    const eddy_tensor w = TENSOR(EDDY_SHAPE(2, 2, 1, 1), 1, 2, 3, 4);
    const eddy_dims   two = EDDY_DIMS(2);
    const double      v[] = { 1, 2, 3, 4 };
    const double      want[][16] = { { 1, 2, 2, 4, 3, 4, 6, 8, 3, 6, 4, 8, 9, 12, 12, 16 },
                                     { 1, 2, 2, 4, 3, 4, 6, 8, 3, 6, 4, 8, 9, 12, 12, 16 },
                                     { 1, 4, 4, 6, 20, 16, 9, 24, 16 } };
    const eddy_tensor y[] = {
        eddy_conv2d_transpose(x, w, .strides = two),
        eddy_conv2d_transpose(x, w, open, two, "SAME"),
        eddy_conv2d_transpose(x, w),
    };
    const int64_t side[] = { 4, 4, 3 };
    for (int i = 0; i < 3; i++) {
        eddy_array *out[2] = { NULL };
        fits(graph);
        ck_assert_int_eq(eddy_shape_of(y[i]).dim[3], 1);
        eddy_session *s = eddy_session_new(graph);
        ck_assert_msg(eddy_run(s, EDDY_FEED({ x, EDDY_VIEW(v, 1, 2, 2, 1) }),
                               EDDY_FETCH(y[i], eddy_gradient(y[i], x)), out) == EDDY_OK,
                      "%s", eddy_session_message(s));
        ck_assert(eddy_shape_equal(eddy_array_shape(out[0]), EDDY_SHAPE(1, side[i], side[i], 1)));
        for (int k = 0; k < side[i] * side[i]; k++)
            ck_assert_double_eq(eddy_array_get(out[0], k), want[i][k]);
        for (int k = 0; k < 4; k++) ck_assert_double_eq(eddy_array_get(out[1], k), 10);
        eddy_array_free(out[0]);
        eddy_array_free(out[1]);
        eddy_session_free(s);
    }
}
END_TEST

START_TEST(open_shapes)
{
    char text[80];
    const eddy_tensor x = eddy_placeholder(graph, NULL, EDDY_FLOAT32,
                                           EDDY_SHAPE(EDDY_ANY, 9, EDDY_ANY, 3));
    const eddy_tensor any = eddy_placeholder(graph, NULL, EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    const eddy_tensor w = eddy_placeholder(graph, NULL, EDDY_FLOAT32, EDDY_SHAPE(3, 5, 3, 8));
    const eddy_dims   two = EDDY_DIMS(2);
#define PRINTS(t, want) \
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(t), text, sizeof text), want)
    PRINTS(eddy_conv2d(x, w, .strides = two), "[?,4,?,8]");
    PRINTS(eddy_conv2d(x, w, .strides = two, .padding = "SAME"), "[?,5,?,8]");
    PRINTS(eddy_conv2d(any, w), "[?,?,?,8]");
    PRINTS(eddy_conv2d(x, any), "[?,?,?,?]");
    PRINTS(eddy_conv2d(x, any, .padding = "SAME"), "[?,9,?,?]");
    PRINTS(eddy_conv2d_backprop_input(any, w, any), "[?,?,?,?]");
    PRINTS(eddy_conv2d_backprop_filter(x, any, any), "[?,?,?,?]");
    PRINTS(eddy_conv2d_backprop_filter(x, w, any), "[3,5,3,8]");
    PRINTS(eddy_conv2d(any, w, .data_format = "NCHW"), "[?,8,?,?]");
    fits(graph);
}
END_TEST

/* ----------------------------------------------------------------- fused -- */

typedef eddy_fused_conv_attrs fused;

static eddy_tensor noise(eddy_shape s)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, random_number());
    const eddy_tensor t = eddy_constant(graph, a, NULL);
    eddy_array_free(a);
    return t;
}

/* Folded, it has the bits of the four ops. */
START_TEST(folded)
{
    const eddy_tensor x = noise(EDDY_SHAPE(2, 9, 8, 5)), w = noise(EDDY_SHAPE(3, 3, 5, 37)),
                      bias = noise(EDDY_SHAPE(37)), other = noise(EDDY_SHAPE(2, 9, 8, 37));
    const eddy_dims none = { 0 };
    const fused f = { eddy__conv_attrs_of(none, "SAME", none, none, NULL), _i & 1, _i >> 1 & 1,
                      _i >> 2 };
    eddy_tensor in[4] = { x, w }, y = eddy_conv2d(x, w, .padding = "SAME");
    int         n = 2;
    if (f.has_bias) in[n++] = bias, y = BiasAdd(y, bias);
    if (f.has_residual) in[n++] = other, y = Add(y, other);
    if (f.activation) y = Relu(y);
    const eddy_tensor z = eddy_apply(&eddy_op_fused_conv2d, &f, n, in, (eddy_apply_args){ 0 });
    eddy_array *got[2] = { NULL };
    fits(graph);
    ck_assert_int_eq(eddy_run(session, EDDY_FEED(), EDDY_FETCH(y, z), got), EDDY_OK);
    ck_assert(eddy_array_equal(got[0], got[1]));
    eddy_array_free(got[0]);
    eddy_array_free(got[1]);
}
END_TEST

/* Several threads compute the same bits as one. */
START_TEST(threads)
{
    const eddy_tensor x = noise(EDDY_SHAPE(9, 16, 12, 8)), w = noise(EDDY_SHAPE(3, 3, 8, 24));
    const eddy_tensor p = eddy_placeholder_with_default(x, NULL, eddy_shape_of(x));
    const eddy_tensor y = eddy_conv2d(p, w, .padding = "SAME");
    eddy_tensor d[2];
    eddy_array *got[2][3] = { { NULL } };
    eddy_gradients(EDDY_LIST(Square(y)), EDDY_LIST(p, w), d);
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

START_TEST(operations_counted)
{
    const eddy_shape  shape = EDDY_SHAPE(2, 8, 8, 4);
    const eddy_tensor x = eddy_placeholder(graph, NULL, EDDY_FLOAT32, shape);
    const eddy_tensor w = noise(EDDY_SHAPE(3, 3, 2, 6));
    const eddy_dims   two = EDDY_DIMS(2);
    const eddy_tensor y = eddy_conv2d(x, w, .strides = two, .padding = "SAME");
    const eddy_tensor all[] = {
        y, eddy_conv2d_backprop_input(x, w, y, .strides = two, .padding = "SAME"),
    };
    eddy_array *value = eddy_array_new(EDDY_FLOAT32, shape), *got = NULL;
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(eddy_run(session, EDDY_FEED({ x, value }), EDDY_FETCH(all[i]), &got),
                         EDDY_OK);
        const double one = 2.0 * 2 * 4 * 4 * 6 * 3 * 3 * 2;
        ck_assert(eddy_session_plan_info(session).flops == (i + 1) * one);
        eddy_array_free(got);
        got = NULL;
    }
    eddy_array_free(value);
}
END_TEST

Suite *conv_suite(void)
{
    Suite *s = suite_create("conv");
    TCase *c = tcase_create("conv");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, against_loops, 0, (CASES - 1) * LEVELS);
    suite_add_tcase(s, c);
    c = tcase_create("large");
    tcase_set_timeout(c, 60);
    tcase_set_tags(c, "many");
    tcase_add_loop_test(c, against_loops, (CASES - 1) * LEVELS, CASES * LEVELS);
    suite_add_tcase(s, c);
    c = tcase_create("values");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, more_zeros_after);
    tcase_add_test(c, transposed);
    tcase_add_test(c, transposed_open);
    tcase_add_test(c, open_shapes);
    tcase_add_loop_test(c, folded, 0, 8);
    tcase_add_test(c, threads);
    tcase_add_test(c, operations_counted);
    suite_add_tcase(s, c);
    return s;
}
