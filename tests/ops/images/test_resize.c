/* test_resize.c -- resizing and cropping, pixel by pixel against the formulas of TensorFlow's
 * kernels in double precision, and against PyTorch's results. */
#include "tests/lib/element_checks.h"
#include "tests/lib/levels.h"

Suite *resize_suite(void);

enum { LEVELS = 3, MOST = 64 * 64 };

typedef enum method { NEAREST, BILINEAR, BICUBIC, AREA, METHODS } method;

typedef struct sizes {
    int64_t batch, in[2], out[2], c;
} sizes;

static const sizes cases[] = {
    { 2, { 5, 4 }, { 7, 9 }, 3 },   { 1, { 9, 8 }, { 3, 5 }, 1 },  { 1, { 3, 7 }, { 12, 2 }, 4 },
    { 1, { 16, 3 }, { 1, 1 }, 2 },  { 1, { 1, 1 }, { 4, 3 }, 5 },  { 2, { 6, 6 }, { 6, 6 }, 9 },
    { 1, { 12, 10 }, { 6, 5 }, 17 }, { 1, { 4, 10 }, { 40, 30 }, 3 }, { 1, { 2, 31 }, { 3, 7 }, 6 },
};
enum { CASES = sizeof cases / sizeof *cases };

/* ------------------------------------------------------------- by definition -- */

typedef struct how {
    method m;
    bool   corners, centers;
} how;

static double scale_of(how h, int64_t in, int64_t out)
{
    return h.corners && out > 1 ? (double)(in - 1) / (double)(out - 1) : (double)in / (double)out;
}

static int64_t into(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

static double keys(double t, double a)
{
    t = fabs(t);
    if (t >= 2) return 0;
    return t >= 1 ? a * (t * t * t - 5 * t * t + 8 * t - 4)
                  : (a + 2) * t * t * t - (a + 3) * t * t + 1;
}

/* The weight of element p of an axis in output i. */
static double weight(how h, int64_t i, int64_t p, int64_t in, int64_t out)
{
    const double scale = scale_of(h, in, out);
    const double at = h.centers ? ((double)i + 0.5) * scale - 0.5 : (double)i * scale;
    double sum = 0, all = 0;
    switch (h.m) {
    case NEAREST: {
        const double place = h.centers ? at + 0.5 : at;
        return into((int64_t)(h.corners ? floor(place + 0.5) : floor(place + 1e-6)), in) == p;
    }
    case BILINEAR:
        for (int64_t j = (int64_t)floor(at); j <= (int64_t)floor(at) + 1; j++)
            if (into(j, in) == p) sum += 1 - fabs(at - (double)j);
        return sum;
    case BICUBIC:
        for (int64_t j = (int64_t)floor(at + 1e-6) - 1, n = 0; n < 4; n++, j++) {
            const double part = round((at - floor(at + 1e-6)) * 1024) / 1024;
            const double v = keys(part - (double)(n - 1), h.centers ? -0.5 : -0.75);
            if (!h.centers || (j >= 0 && j < in)) all += v;
            if (h.centers ? j == p : into(j, in) == p) sum += v;
        }
        return h.centers ? sum / all : sum;
    case AREA:
        if (scale == 0) return 1;
        for (int64_t j = (int64_t)floor((double)i * scale); (double)j < (double)(i + 1) * scale;
             j++)
            if (into(j, in) == p)
                sum += fmin((double)(i + 1) * scale, (double)j + 1) -
                       fmax((double)i * scale, (double)j);
        return sum / scale;
    case METHODS: break;
    }
    return 0;
}

/* y = x resized; with `back` x = the transpose of that for y. */
static void by_definition(how h, const sizes *s, double *x, double *y, bool back)
{
    memset(back ? x : y, 0, MOST * sizeof *x);
    for (int64_t n = 0; n < s->batch; n++)
        for (int64_t i = 0; i < s->out[0]; i++)
            for (int64_t p = 0; p < s->in[0]; p++)
                for (int64_t j = 0; j < s->out[1]; j++)
                    for (int64_t q = 0; q < s->in[1]; q++) {
                        const double w = weight(h, i, p, s->in[0], s->out[0]) *
                                         weight(h, j, q, s->in[1], s->out[1]);
                        const int64_t from = ((n * s->in[0] + p) * s->in[1] + q) * s->c;
                        const int64_t to = ((n * s->out[0] + i) * s->out[1] + j) * s->c;
                        for (int64_t c = 0; w != 0 && c < s->c; c++)
                            if (back) x[from + c] += w * y[to + c];
                            else y[to + c] += w * x[from + c];
                    }
}

/* -------------------------------------------------------------------- checks -- */

static eddy_tensor resized(how h, eddy_tensor x, eddy_dims size)
{
    switch (h.m) {
    case NEAREST:  return eddy_resize_nearest_neighbor(x, size, h.corners, h.centers);
    case BILINEAR: return eddy_resize_bilinear(x, size, h.corners, h.centers);
    case BICUBIC:  return eddy_resize_bicubic(x, size, h.corners, h.centers);
    case AREA:     return eddy_resize_area(x, size, h.corners);
    case METHODS:  break;
    }
    return x;
}

static void fill(int64_t n, double *x)
{
    for (int64_t i = 0; i < n; i++) x[i] = (double)(float)uniform(-1, 1);
}

static void matches(eddy_tensor t, int64_t n, const double *want, double tolerance)
{
    eddy_session *s = eddy_session_new(g, .threads = 3);
    eddy_array *y = eddy_fetch(s, t);
    ck_assert_msg(y, "%s %s", eddy_graph_message(g), eddy_session_message(s));
    ck_assert_int_eq(eddy_array_count(y), n);
    for (int64_t i = 0; i < n; i++)
        ck_assert_msg(fabs(eddy_array_get(y, i) - want[i]) <= tolerance * (1 + fabs(want[i])),
                      "%s: element %d is %g, not %g", eddy_name_of(t), (int)i,
                      eddy_array_get(y, i), want[i]);
    eddy_array_free(y);
    eddy_session_free(s);
}

static int64_t count_of(const sizes *s, const int64_t *side)
{
    return s->batch * side[0] * side[1] * s->c;
}

/* Values and gradient of one case. */
static void check_case(how h, const sizes *s, eddy_dtype d)
{
    static double x[MOST], y[MOST], dx[MOST], dy[MOST];
    const int64_t n = count_of(s, s->in), m = count_of(s, s->out);
    const double tolerance = d == F32 ? 3e-6 : 1e-12;
    const eddy_shape small = EDDY_SHAPE(s->batch, s->in[0], s->in[1], s->c);
    ck_assert(n <= MOST && m <= MOST);
    fill(n, x), fill(m, dy);
    const eddy_tensor from = shaped(d, small, x);
    const eddy_tensor to = resized(h, from, EDDY_DIMS(s->out[0], s->out[1]));
    const eddy_tensor up = shaped(d, EDDY_SHAPE(s->batch, s->out[0], s->out[1], s->c), dy);
    by_definition(h, s, x, y, false);
    matches(to, m, y, tolerance);
    by_definition(h, s, dx, dy, true);
    matches(slope(Mul(to, up), from), n, dx, tolerance * 8);
}

START_TEST(by_definition_at_every_size)
{
    const sizes *s = &cases[_i % CASES];
    if (!limit_to(_i / CASES)) return;
    for (int m = 0; m < METHODS; m++)
        for (int option = 0; option < (m == AREA ? 2 : 3); option++)
            for (int single = 0; single < 2; single++)
                check_case((how){ (method)m, option == 1, option == 2 }, s, single ? F32 : F64);
    eddy__instructions_limit(EDDY_AVX512);
}
END_TEST

/* --------------------------------------------------------- PyTorch's numbers -- */

static const double picture[] = { 0, -0.25, 0, 0.75, 2, -1.25, 1, 3.75, 7, 10.75, 10, 14.75 };

/* torch.nn.functional.interpolate of PyTorch 1.13 in float64, and the gradient of its sum with
 * the weights 1, 2, 3, ...; its "nearest-exact" has half_pixel_centers here. */
static const struct figures {
    how     h;
    int64_t size[2];
    double  value[35], slope[12];
} figures[] = {
    { { BILINEAR, false, true }, { 4, 5 },
      { 0, -0.175, -0.125, 0.225, 0.75, 1.25, -0.2375, -0.125, 1.225, 2.625, 3.875, 3.4375, 3.8125,
        5.425, 7.875, 7, 9.625, 10.375, 11.425, 14.75 },
      { 4.6375, 6.2375, 8.1625, 10.9625, 14.1875, 14.875, 16.625, 19.9375, 26.575, 26.4875,
        28.4125, 32.9 } },
    { { BILINEAR, true, false }, { 5, 2 },
      { 0, 0.75, 1, 2.25, 2, 3.75, 4.5, 9.25, 7, 14.75 },
      { 2.5, 0, 0, 4, 10, 0, 0, 12, 12.5, 0, 0, 14 } },
    { { BICUBIC, true, false }, { 5, 7 },
      { 0, -0.1484375, -0.25, -0.21875, 0, 0.3984375, 0.75, 0.53125, -0.8154296875, -1.875,
        -1.4814453125, -0.34375, 0.5810546875, 1.21875, 2, 0.1640625, -1.25, -0.6875, 1,
        2.5859375, 3.75, 4.6875, 4.583984375, 4.65625, 4.7529296875, 5.59375, 7.650390625,
        9.53125, 7, 8.9453125, 10.75, 10.28125, 10, 12.3046875, 14.75 },
      { 4.4384765625, 11.6435546875, 18.3232421875, 15.6884765625, 46.62109375, 77.24609375,
        87.63671875, 64.12109375, 55.5029296875, 87.6728515625, 94.3525390625, 66.7529296875 } },
    { { AREA, false, false }, { 3, 2 },
      { -0.125, 0.375, 0.375, 2.375, 8.875, 12.375 },
      { 0.5, 0.5, 1, 1, 1.5, 1.5, 2, 2, 2.5, 2.5, 3, 3 } },
    { { NEAREST, false, false }, { 5, 3 },
      { 0, -0.25, 0, 0, -0.25, 0, 2, -1.25, 1, 2, -1.25, 1, 7, 10.75, 10 },
      { 5, 7, 9, 0, 17, 19, 21, 0, 13, 14, 15, 0 } },
    { { NEAREST, false, true }, { 5, 3 },
      { 0, 0, 0.75, 0, 0, 0.75, 2, 1, 3.75, 7, 10, 14.75, 7, 10, 14.75 },
      { 5, 0, 7, 9, 7, 0, 8, 9, 23, 0, 25, 27 } },
};
enum { FIGURES = sizeof figures / sizeof *figures };

START_TEST(numbers_of_pytorch)
{
    const struct figures *f = &figures[_i];
    const int64_t n = f->size[0] * f->size[1];
    double w[35];
    for (int i = 0; i < n; i++) w[i] = i + 1;
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(1, 3, 4, 1), picture);
    const eddy_tensor y = resized(f->h, x, EDDY_DIMS(f->size[0], f->size[1]));
    const eddy_tensor weights = shaped(F64, EDDY_SHAPE(1, f->size[0], f->size[1], 1), w);
    matches(y, n, f->value, 1e-14);
    matches(slope(Mul(y, weights), x), 12, f->slope, 1e-13);
}
END_TEST

/* --------------------------------------------------------------------- types -- */

START_TEST(element_types)
{
    const double v[] = { 0, 255, 7, 100 };
    const eddy_dtype whole[] = { EDDY_UINT8, EDDY_INT32, EDDY_INT64 };
    for (int i = 0; i < 3; i++) {
        const eddy_tensor x = shaped(whole[i], EDDY_SHAPE(1, 2, 2, 1), v);
        const eddy_tensor near_ = eddy_resize_nearest_neighbor(x, EDDY_DIMS(1, 3));
        ck_assert_int_eq(eddy_dtype_of(near_), whole[i]);
        IS(near_, 0, 0, 255);
        const eddy_tensor mixed = eddy_resize_bilinear(x, EDDY_DIMS(3, 2), .align_corners = true);
        ck_assert_int_eq(eddy_dtype_of(mixed), F32);
        IS(mixed, 0, 255, 3.5, 177.5, 7, 100);
        IS(eddy_resize_area(x, EDDY_DIMS(1, 1)), 90.5);
    }
}
END_TEST

/* corner: what is the same everywhere stays so to the last bit, as TensorFlow's mixtures do */
START_TEST(constant_images)
{
    const double v = 0.7;
    const eddy_tensor x = eddy_fill(vec(EDDY_INT32, V(1, 7, 5, 3)), num(F32, v));
    const eddy_tensor y = eddy_resize_bilinear(x, EDDY_DIMS(16, 11), .half_pixel_centers = true);
    IS(Max(y), (double)(float)v);
    IS(Min(y), (double)(float)v);
}
END_TEST

/* ------------------------------------------------------------- parts of images -- */

enum { BOXES = 5 };
static const double boxes[BOXES * 4] = {
    0, 0, 1, 1,   0.1, 0.2, 0.7, 0.9,   0.9, 0.95, 0.15, 0.3,   -0.3, 0.1, 0.6, 1.4,
    0.5, 0.45, 0.5, 0.45
};
static const double box_ind[BOXES] = { 0, 1, 1, 0, 1 };

/* Where place i of a box is in an axis with `in` elements. */
static double crop_place(double from, double to, int64_t i, int64_t in, int64_t out)
{
    const double last = (double)(in - 1);
    return out > 1 ? from * last + (double)i * (to - from) * last / (double)(out - 1)
                   : 0.5 * (from + to) * last;
}

static double crop_pixel(const sizes *s, const double *x, double y, double v, int64_t c,
                         bool nearest)
{
    if (nearest) y = floor(y + 0.5), v = floor(v + 0.5);
    const int64_t top = (int64_t)floor(y), bottom = (int64_t)ceil(y);
    const int64_t left = (int64_t)floor(v), right = (int64_t)ceil(v);
    const double a = x[(top * s->in[1] + left) * s->c + c];
    const double b = x[(top * s->in[1] + right) * s->c + c];
    const double d = x[(bottom * s->in[1] + left) * s->c + c];
    const double e = x[(bottom * s->in[1] + right) * s->c + c];
    const double p = v - (double)left, q = y - (double)top;
    return (1 - q) * (a + p * (b - a)) + q * (d + p * (e - d));
}

static void crop_by_definition(const sizes *s, const double *x, bool nearest, double *y)
{
    for (int64_t n = 0; n < BOXES; n++)
        for (int64_t i = 0; i < s->out[0]; i++)
            for (int64_t j = 0; j < s->out[1]; j++)
                for (int64_t c = 0; c < s->c; c++, y++) {
                    const double *b = boxes + 4 * n;
                    const double h = crop_place(b[0], b[2], i, s->in[0], s->out[0]);
                    const double v = crop_place(b[1], b[3], j, s->in[1], s->out[1]);
                    *y = h < 0 || v < 0 || h > (double)(s->in[0] - 1) || v > (double)(s->in[1] - 1)
                       ? -3 : crop_pixel(s, x + (int64_t)box_ind[n] * s->in[0] * s->in[1] * s->c,
                                         h, v, c, nearest);
                }
}

START_TEST(crops)
{
    static const sizes some[] = {
        { 2, { 7, 9 }, { 4, 5 }, 3 }, { 2, { 6, 5 }, { 1, 3 }, 1 }, { 2, { 1, 8 }, { 3, 1 }, 8 },
    };
    static double x[MOST], y[MOST];
    const sizes *s = &some[_i / 2 % 3];
    const bool nearest = _i % 2;
    const int64_t n = BOXES * s->out[0] * s->out[1] * s->c;
    fill(count_of(s, s->in), x);
    crop_by_definition(s, x, nearest, y);
    eddy__instructions_limit((eddy_instructions)(_i / 6));
    for (int single = 0; single < 2; single++) {
        const eddy_dtype d = single ? F32 : F64;
        const eddy_tensor image = shaped(d, EDDY_SHAPE(2, s->in[0], s->in[1], s->c), x);
        const eddy_tensor parts = eddy_crop_and_resize(
            image, shaped(d, EDDY_SHAPE(BOXES, 4), boxes), vec(EDDY_INT32, BOXES, box_ind),
            EDDY_DIMS(s->out[0], s->out[1]), nearest ? "nearest" : NULL,
            .extrapolation_value = -3);
        matches(parts, n, y, single ? 1e-5 : 1e-12);
    }
    eddy__instructions_limit(EDDY_AVX512);
}
END_TEST

/* dx and dy y = the sum of the parts of y, whatever the image. */
START_TEST(crops_and_their_gradient_are_transposes)
{
    static double v[MOST], w[MOST];
    const eddy_tensor b = shaped(F64, EDDY_SHAPE(BOXES, 4), boxes);
    const eddy_tensor own = vec(EDDY_INT64, BOXES, box_ind);
    fill(MOST, v), fill(MOST, w);
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(2, 40, 13, 2), v);
    const eddy_tensor dy = shaped(F64, EDDY_SHAPE(BOXES, 14, 9, 2), w);
    for (int i = 0; i < 2; i++) {
        const eddy_tensor y = eddy_crop_and_resize(x, b, own, EDDY_DIMS(14, 9),
                                                   i ? "nearest" : "bilinear");
        const eddy_tensor one = Sum(Mul(y, dy)), other = Sum(Mul(x, slope(Mul(y, dy), x)));
        near("transposes", 1e-12, Sub(one, other), V(0));
        ck_assert_int_eq(connected(y, b), !i);
    }
}
END_TEST

/* corner: a box that is not a number is outside; an image that is none is an error */
START_TEST(crops_of_nothing)
{
    const double nan4[] = { (double)NAN, 0, 1, 1 };
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(1, 3, 4, 1), picture);
    const eddy_tensor b = shaped(F64, EDDY_SHAPE(1, 4), nan4);
    IS(eddy_crop_and_resize(x, b, vec(EDDY_INT32, V(0)), EDDY_DIMS(2, 1), NULL, 7.0), 7, 7);
    const eddy_tensor none = eddy_zeros(g, F64, EDDY_SHAPE(0, 4));
    eddy_array *y = eddy_fetch(eddy_eval_session(g), eddy_crop_and_resize(
        x, none, eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(0)), EDDY_DIMS(2, 1)));
    ck_assert_int_eq(eddy_array_count(y), 0);
    eddy_array_free(y);
    ck_assert_int_eq(run_status(eddy_crop_and_resize(x, b, vec(EDDY_INT32, V(1)),
                                                     EDDY_DIMS(2, 2))), EDDY_OUT_OF_RANGE);
    ck_assert_int_eq(run_status(eddy_crop_and_resize(x, b, vec(EDDY_INT32, V(-1)),
                                                     EDDY_DIMS(2, 2))), EDDY_OUT_OF_RANGE);
}
END_TEST

/* --------------------------------------------------------------- the same bits -- */

static eddy_array *computed(eddy_tensor t, int threads, eddy_instructions most)
{
    eddy__instructions_limit(most);
    eddy_session *s = eddy_session_new(g, .threads = threads);
    eddy_array *y = eddy_fetch(s, t);
    ck_assert_msg(y, "%s %s", eddy_graph_message(g), eddy_session_message(s));
    eddy_session_free(s);
    eddy__instructions_limit(EDDY_AVX512);
    return y;
}

/* Of some instructions: products of matrices differ. */
static void check_bits(eddy_tensor t, int levels)
{
    eddy_array *want = computed(t, 1, EDDY_BASELINE);
    for (int i = 0; i < 2 * levels; i++) {
        eddy_array *y = computed(t, i % 2 ? 3 : 1, (eddy_instructions)(i / 2));
        ck_assert_msg(memcmp(eddy_array_data(y), eddy_array_data(want), eddy_array_bytes(y)) == 0,
                      "%s", eddy_name_of(t));
        eddy_array_free(y);
    }
    eddy_array_free(want);
}

/* Whatever the threads and the instructions; large enough to be cut. */
START_TEST(same_bits)
{
    const eddy_tensor x = eddy_stateless_random_normal(EDDY_SHAPE(3, 61, 47, 5),
                                                       vec(EDDY_INT32, V(1, 2)));
    const eddy_tensor b = eddy_stateless_random_uniform(EDDY_SHAPE(30, 4),
                                                        vec(EDDY_INT32, V(3, 4)));
    const eddy_tensor own = FloorMod(eddy_row_numbers(b, EDDY_INT32), 3);
    const eddy_tensor parts = eddy_crop_and_resize(x, b, own, EDDY_DIMS(33, 21));
    for (int m = 0; m < METHODS; m++)
        for (int down = 0; down < 2; down++) {
            const eddy_dims size = down ? EDDY_DIMS(17, 30) : EDDY_DIMS(150, 90);
            const eddy_tensor y = resized((how){ (method)m, down, false }, x, size);
            check_bits(y, LEVELS);
            check_bits(slope(Square(y), x), LEVELS);
        }
    check_bits(parts, LEVELS);
    check_bits(slope(Square(parts), x), LEVELS);
    check_bits(slope(Square(parts), b), 1);
}
END_TEST

Suite *resize_suite(void)
{
    Suite *suite = suite_create("resize");
    TCase *c = tcase_create("resize");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, by_definition_at_every_size, 0, CASES * LEVELS);
    tcase_add_loop_test(c, numbers_of_pytorch, 0, FIGURES);
    tcase_add_test(c, element_types);
    tcase_add_test(c, constant_images);
    tcase_add_loop_test(c, crops, 0, 6 * LEVELS);
    tcase_add_test(c, crops_and_their_gradient_are_transposes);
    tcase_add_test(c, crops_of_nothing);
    tcase_add_test(c, same_bits);
    suite_add_tcase(suite, c);
    return suite;
}
