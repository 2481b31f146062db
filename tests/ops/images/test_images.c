/* test_images.c -- rotating, cropping, coloring, random changes, comparison of images, boxes:
 * against loops in double precision; colors against Python's colorsys. */
#include "tests/lib/element_checks.h"

Suite *images_suite(void);

/* ------------------------------------------------------------ flips and crops -- */

/* Pixels 0, 1, ... of one channel. */
static eddy_tensor counted(int64_t h, int64_t w)
{
    double v[ROOM];
    for (int i = 0; i < h * w; i++) v[i] = i;
    return shaped(F32, EDDY_SHAPE(h, w, 1), v);
}

START_TEST(flips_and_rotations)
{
    const eddy_tensor x = counted(2, 3);
    IS(eddy_flip_left_right(x), 2, 1, 0, 5, 4, 3);
    IS(eddy_flip_up_down(x), 3, 4, 5, 0, 1, 2);
    IS(eddy_transpose_image(x), 0, 3, 1, 4, 2, 5);
    IS(eddy_rot90(x, 1, -3, -2), 2, 5, 1, 4, 0, 3);
}
END_TEST

START_TEST(cut_and_framed)
{
    const eddy_tensor x = counted(4, 5), small = counted(1, 2);
    IS(eddy_crop_to_bounding_box(x, 1, 2, 2, 3), 7, 8, 9, 12, 13, 14);
    IS(eddy_pad_to_bounding_box(small, 1, 0, 2, 3), 0, 0, 0, 0, 1, 0);
    IS(eddy_central_crop(x, 0.5), 6, 7, 8, 11, 12, 13);
    IS(eddy_central_crop(small, 1), 0, 1);
    IS(eddy_resize_with_crop_or_pad(x, 1, 7), 0, 5, 6, 7, 8, 9, 0);
    IS(eddy_resize_with_crop_or_pad(x, 5, 2), 1, 2, 6, 7, 11, 12, 16, 17, 0, 0);
}
END_TEST

/* Shifts by hand, and turns that are those of eddy_rot90. */
START_TEST(transformed)
{
    const eddy_tensor x = eddy_expand_dims(counted(1, 4), 0);
    const eddy_tensor y = eddy_expand_dims(counted(3, 3), 0);
    const eddy_tensor three = shaped(F32, EDDY_SHAPE(1, 2), (const double[]){ 3, 0 });
    const eddy_tensor half = shaped(F32, EDDY_SHAPE(1, 2), (const double[]){ 0.5, 0 });
    const eddy_tensor back = shaped(F32, EDDY_SHAPE(1, 2), (const double[]){ -3, 0 });
    IS(eddy_image_translate(x, three, .fill_value = 9), 9, 9, 9, 0);
    IS(eddy_image_translate(x, three, .fill_mode = "REFLECT"), 2, 1, 0, 0);
    /* corner: TensorFlow counts n - 1 pixels a turn, so the first place is 5, brought to 3 */
    IS(eddy_image_translate(x, three, .fill_mode = "WRAP"), 3, 2, 3, 0);
    IS(eddy_image_translate(x, three, .fill_mode = "NEAREST"), 0, 0, 0, 0);
    IS(eddy_image_translate(x, back, .fill_mode = "REFLECT"), 3, 3, 2, 1);
    IS(eddy_image_translate(x, back, .fill_mode = "WRAP"), 3, 0, 1, 0);
    IS(eddy_image_translate(x, half, "BILINEAR", .fill_value = 4), 2, 0.5, 1.5, 2.5);
    IS(eddy_image_translate(Cast(x, EDDY_INT64), half, "BILINEAR"), 0, 0, 1, 2);
    IS(eddy_image_translate(x, half, .size = EDDY_DIMS(1, 2)), 0, 1);
    const eddy_tensor right = shaped(F32, EDDY_SHAPE(1), (const double[]){ 1.5707963267948966, 0 });
    IS(eddy_image_rotate(y, right), 2, 5, 8, 1, 4, 7, 0, 3, 6);
    const eddy_tensor maps =
        shaped(F32, EDDY_SHAPE(1, 8), (const double[]){ 0, -1, 2, 1, 0, 0, 0, 0 });
    const eddy_tensor once = eddy_image_transform(y, maps);
    const eddy_tensor both = eddy_compose_transforms(maps, maps);
    IS(Sub(eddy_image_transform(once, maps), eddy_image_transform(y, both)),
       0, 0, 0, 0, 0, 0, 0, 0, 0);
    IS(both, -1, 0, 2, 0, -1, 2, 0, 0);
    /* Depth 0 and places that are not finite are outside. */
    const eddy_tensor odd =
        shaped(F32, EDDY_SHAPE(1, 8), (const double[]){ 1, 0, 0, 0, 1, 0, -1, 0 });
    const eddy_tensor far = shaped(F32, EDDY_SHAPE(1, 8),
                                   (const double[]){ INFINITY, 0, 0, NAN, 1e38, 1e38, 0, 0 });
    IS(eddy_image_transform(x, odd, .fill_value = 7), 0, 7, 7, 7);
    IS(eddy_image_transform(x, far, .fill_mode = "WRAP", .fill_value = 7), 7, 7, 7, 7);
}
END_TEST

static void has_shape(eddy_tensor t, eddy_shape s)
{
    const eddy_array *a = eddy_eval(t);
    ck_assert_msg(a, "%s %s", eddy_graph_message(g), eddy_session_message(eddy_eval_session(g)));
    ck_assert(eddy_shape_equal(eddy_array_shape(a), s));
}

START_TEST(resized)
{
    const eddy_tensor x = counted(4, 6), bytes = Cast(x, EDDY_UINT8);
    has_shape(eddy_resize_images(x, EDDY_DIMS(3, 2)), EDDY_SHAPE(3, 2, 1));
    has_shape(eddy_resize_images(ExpandDims(x, 0), EDDY_DIMS(3, 2), "bicubic"),
              EDDY_SHAPE(1, 3, 2, 1));
    /* TensorFlow counts in float32, where 11 times 15/22 is above 7.5. */
    has_shape(eddy_resize_images(eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(1, 11, 22, 1)),
                                 EDDY_DIMS(8, 15), .preserve_aspect_ratio = true),
              EDDY_SHAPE(1, 8, 15, 1));
    has_shape(eddy_resize_images(x, EDDY_DIMS(8, 9), .preserve_aspect_ratio = true),
              EDDY_SHAPE(6, 9, 1));
    IS(eddy_resize_images(x, EDDY_DIMS(2, 2), "area"), 4, 7, 16, 19);
    IS(eddy_resize_images(x, EDDY_DIMS(2, 2), "nearest", true), 0, 5, 18, 23);
    ck_assert_int_eq(eddy_dtype_of(eddy_resize_images(bytes, EDDY_DIMS(4, 6))), EDDY_UINT8);
    IS(eddy_resize_image_with_pad(x, 2, 5, "nearest"), 0, 0, 2, 4, 0, 0, 12, 14, 16, 0);
}
END_TEST

/* The first two are those of the documentation of tf.image.extract_glimpse. */
START_TEST(glimpses)
{
    const eddy_tensor x = ExpandDims(counted(3, 3), 0);
    const eddy_tensor one = shaped(F32, EDDY_SHAPE(1, 2), (double[]){ 1, 1 });
    const eddy_tensor zero = ZerosLike(one);
    const eddy_dims size = EDDY_DIMS(2, 2);
    IS(eddy_extract_glimpse(x, size, one, true, true), 0, 1, 3, 4);
    IS(eddy_extract_glimpse(x, size, Mul(one, 2), true, true), 4, 5, 7, 8);
    IS(eddy_extract_glimpse(x, size, zero), 0, 1, 3, 4);
    IS(eddy_extract_glimpse(x, size, Mul(one, 0.5), .from_corner = true), 0, 1, 3, 4);
    IS(eddy_extract_glimpse(x, size, one, .noise = "zero"), 8, 0, 0, 0);
    IS(eddy_extract_glimpse(x, size, Mul(one, 9), .noise = "zero"), 0, 0, 0, 0);
    IS(eddy_extract_glimpse(x, EDDY_DIMS(1, 3), Mul(one, (double)NAN), .noise = "zero"), 0, 1, 2);
    double v[4];
    values(eddy_extract_glimpse(x, size, one), v);
    ck_assert(v[0] == 8 && v[1] >= 0 && v[1] < 8 && v[2] != v[1] && v[3] < 8);
}
END_TEST

/* -------------------------------------------------------------------- colors -- */

enum { PIXELS = 6 };
static const double pixels[PIXELS * 3] = {
    0.2, 0.9, 0.4, 0.75, 0.25, 0.125, 0.1, 0.3, 0.8, 0.5, 0.5, 0.5, 0, 0, 0, 1, 0.2, 0.7
};

static eddy_tensor palette(eddy_dtype d) { return shaped(d, EDDY_SHAPE(2, 3, 3), pixels); }

/* Python's colorsys. */
START_TEST(hues)
{
    static const double hsv[] = { 0.38095238095238093, 0.7777777777777777, 0.9,
        0.033333333333333326, 0.8333333333333334, 0.75, 0.6190476190476191, 0.875, 0.8, 0, 0, 0.5,
        0, 0, 0, 0.8958333333333334, 0.8, 1 };
    static const double turned_on[] = { 0.26, 0.2, 0.9, 0.125, 0.75, 0.125, 0.8, 0.1, 0.44, 0.5,
        0.5, 0.5, 0, 0, 0, 0.86, 1, 0.2 };
    static const double stronger[] = { 0, 0.9, 0.25714285714285706, 0.75, 0.15, 0, 0,
        0.22857142857142848, 0.8, 0.5, 0.5, 0.5, 0, 0, 0, 1, 0, 0.625 };
    for (int single = 0; single < 2; single++) {
        const eddy_dtype d = single ? F32 : F64;
        const double most = single ? 1e-6 : 1e-14;
        const eddy_tensor x = palette(d);
        near("hsv", most, eddy_rgb_to_hsv(x), 18, hsv);
        near("rgb", most, eddy_hsv_to_rgb(shaped(d, EDDY_SHAPE(2, 3, 3), hsv)), 18, pixels);
        near("hue", most, eddy_adjust_hue(x, num(d, 0.3)), 18, turned_on);
        near("saturation", most * 4, eddy_adjust_saturation(x, num(d, 1.5)), 18, stronger);
    }
    near("back", 1e-6, eddy_adjust_hue(eddy_adjust_hue(palette(F64), num(F64, 0.7)),
                                       num(F64, -0.7)), 18, pixels);
}
END_TEST

START_TEST(matrices_of_colors)
{
    const eddy_tensor x = palette(F64), one = vec(F64, V(1, 2, 3));
    /* as documented for tf.image.rgb_to_yiq */
    near("yiq", 1e-6, eddy_rgb_to_yiq(one), V(1.815, -0.91724455, 0.09962624));
    near("yiq and back", 1e-4, eddy_yiq_to_rgb(eddy_rgb_to_yiq(x)), 18, pixels);
    near("yuv and back", 1e-6, eddy_yuv_to_rgb(eddy_rgb_to_yuv(x)), 18, pixels);
    /* U = 0.492 (B - Y) and V = 0.877 (R - Y) */
    near("yuv", 1e-3, eddy_rgb_to_yuv(one), V(1.815, 0.492 * 1.185, -0.877 * 0.815));
    IS(eddy_grayscale_to_rgb(counted(1, 2)), 0, 0, 0, 1, 1, 1);
    near("gray", 1e-14, eddy_rgb_to_grayscale(one), V(0.2989 + 2 * 0.587 + 3 * 0.114));
    const double bytes[] = { 255, 255, 255, 0, 0, 0, 200, 100, 50 };
    const eddy_tensor y = eddy_rgb_to_grayscale(shaped(EDDY_UINT8, EDDY_SHAPE(1, 3, 3), bytes));
    ck_assert_int_eq(eddy_dtype_of(y), EDDY_UINT8);
    IS(y, 255, 0, 124);
}
END_TEST

START_TEST(element_types)
{
    const eddy_tensor b = vec(EDDY_UINT8, V(0, 1, 128, 255));
    const eddy_tensor f = vec(F32, V(0, 0.5, 1, 2, -1));
    NEAR(eddy_convert_image_dtype(b, F32), 0, 1 / 255.0, 128 / 255.0, 1);
    IS(eddy_convert_image_dtype(f, EDDY_UINT8), 0, 127, 255, 255, 0);
    IS(eddy_convert_image_dtype(b, EDDY_INT32), 0, 8388608.0, 128 * 8388608.0, 255 * 8388608.0);
    IS(eddy_convert_image_dtype(vec(EDDY_INT32, V(0, 8388608.0, 2147483647.0)), EDDY_UINT8), 0, 1,
       255);
    IS(eddy_convert_image_dtype(eddy_convert_image_dtype(b, F32), EDDY_UINT8), 0, 1, 128, 255);
    IS(eddy_convert_image_dtype(vec(EDDY_INT64, V(0, 9223372036854775807.0)), EDDY_INT32), 0,
       2147483647.0);
    IS(eddy_adjust_brightness(b, num(F32, 0.25)), 63, 64, 192, 255);
    IS(eddy_adjust_gamma(vec(F64, V(0, 0.5, 2)), num(F64, 2), num(F64, 3)), 0, 0.75, 12);
}
END_TEST

START_TEST(contrast_and_standard)
{
    const double v[] = { 1, 10, 3, 20, 5, 30, 7, 60 };
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(2, 2, 2), v);
    IS(eddy_adjust_contrast(x, num(F32, 2)), -2, -10, 2, 10, 6, 30, 10, 90);
    double mean = 0, square = 0, want[8];
    for (int i = 0; i < 8; i++) mean += v[i] / 8;
    for (int i = 0; i < 8; i++) square += (v[i] - mean) * (v[i] - mean) / 8;
    for (int i = 0; i < 8; i++) want[i] = (v[i] - mean) / sqrt(square);
    near("standard", 1e-13, eddy_per_image_standardization(x), 8, want);
    /* corner: an image of one color has the deviation 1 / sqrt(elements), and a gradient */
    const eddy_tensor flat = eddy_fill(vec(EDDY_INT32, V(1, 2, 2, 1)), num(F64, 5));
    IS(eddy_per_image_standardization(flat), 0, 0, 0, 0);
    const eddy_tensor w = shaped(F64, EDDY_SHAPE(1, 2, 2, 1), v);
    IS(slope(Mul(eddy_per_image_standardization(flat), w), flat), -15, 3, -11, 23);
}
END_TEST

/* ------------------------------------------------------------------ by chance -- */

START_TEST(flips_by_chance)
{
    const eddy_tensor x = eddy_const(g, EDDY_INT32, EDDY_SHAPE(1, 1, 2, 1), (int32_t[]){ 0, 1 });
    const eddy_tensor many = eddy_tile(x, EDDY_DIMS(2000, 1, 1, 1));
    const eddy_tensor y = eddy_random_flip_left_right(many, .seed = 3);
    const eddy_tensor changed = Sum(eddy_index(y, ":, :, 0"));
    double n[1];
    values(changed, n);
    ck_assert_msg(n[0] > 900 && n[0] < 1100, "%g of 2000 are flipped", n[0]);
    IS(Sub(Sum(y), Sum(many)), 0);
    const eddy_tensor up = eddy_random_flip_up_down(many);
    IS(Sum(Cast(NotEqual(up, many), EDDY_INT32)), 0);
}
END_TEST

START_TEST(crops_by_chance)
{
    const eddy_tensor x = counted(5, 6);
    eddy_session *s = eddy_session_new(g);
    const eddy_tensor y = eddy_random_crop(x, EDDY_DIMS(3, 6, 1), .seed = 9);
    const eddy_tensor z = eddy_random_crop(x, EDDY_DIMS(5, 2, 1));
    bool top[3] = { false }, left[5] = { false };
    for (int i = 0; i < 200; i++) {
        eddy_array *a = eddy_fetch(s, y), *b = eddy_fetch(s, z);
        ck_assert_msg(a && b, "%s", eddy_session_message(s));
        const double first = eddy_array_get(a, 0), column = eddy_array_get(b, 0);
        for (int j = 0; j < 18; j++) ck_assert_double_eq(eddy_array_get(a, j), first + j);
        for (int j = 0; j < 10; j++)
            ck_assert_double_eq(eddy_array_get(b, j), column + j / 2 * 6 + j % 2);
        ck_assert(first >= 0 && first <= 12 && fmod(first, 6) == 0 && column >= 0 && column <= 4);
        top[(int)first / 6] = left[(int)column] = true;
        eddy_array_free(a);
        eddy_array_free(b);
    }
    for (int i = 0; i < 5; i++) ck_assert(left[i] && (i > 2 || top[i]));
    eddy_session_free(s);
}
END_TEST

/* As often as not on either side of the middle of the interval, and always inside it. */
START_TEST(colors_by_chance)
{
    const double v[] = { 0.6, 0.3, 0.2, 0.1, 0.5, 0.4 };
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(1, 2, 3), v);
    const eddy_tensor y[] = {
        eddy_index(Sub(eddy_random_brightness(x, 0.2), x), "0, 0, 0"),
        eddy_index(eddy_random_contrast(x, 0.5, 1.5), "0, 0, 0"),
        eddy_index(eddy_rgb_to_hsv(eddy_random_saturation(x, 0.5, 1.1)), "0, 0, 1"),
        eddy_index(eddy_rgb_to_hsv(eddy_random_hue(x, 0.1)), "0, 1, 0"),
    };
    const double mean = 0.35, hue = 0.46666666666666667;          /* of a 0.1, 0.5, 0.4 */
    const double low[] = { -0.2, mean + 0.125, 0.66667 * 0.5, hue - 0.15 };
    const double high[] = { 0.2, mean + 0.375, 0.66667 * 1.1, hue + 0.15 + 0.1 };
    eddy_session *s = eddy_session_new(g);
    for (int k = 0; k < 4; k++) {
        double least = 9, most = -9;
        for (int i = 0; i < 100; i++) {
            eddy_array *a = eddy_fetch(s, y[k]);
            ck_assert_msg(a, "%s %s", eddy_graph_message(g), eddy_session_message(s));
            const double n = eddy_array_item(a);
            ck_assert_msg(n >= low[k] - 1e-4 && n <= high[k] + 1e-4, "%d: %g", k, n);
            least = fmin(least, n);
            most = fmax(most, n);
            eddy_array_free(a);
        }
        ck_assert_msg(most - least > 0.5 * (k == 3 ? 0.2 : high[k] - low[k]), "%d: %g to %g", k,
                      least, most);
    }
    eddy_session_free(s);
}
END_TEST

/* -------------------------------------------------------------------- quality -- */

enum { H = 6, W = 7, C = 2, IMAGE = H * W * C };
static double left[IMAGE], right_[IMAGE];

static void draw(void)
{
    for (int i = 0; i < IMAGE; i++) left[i] = uniform(0, 1);
    for (int i = 0; i < IMAGE; i++) right_[i] = 0.7 * left[i] + uniform(0, 0.3);
}
static double at(const double *x, int h, int w, int c)
{
    h = h < 0 ? -h : h >= H ? 2 * H - 2 - h : h;                  /* mirrored outside */
    w = w < 0 ? -w : w >= W ? 2 * W - 2 - w : w;
    return x[(h * W + w) * C + c];
}

START_TEST(edges)
{
    static const double sobel[3][3] = { { -1, -2, -1 }, { 0, 0, 0 }, { 1, 2, 1 } };
    const eddy_shape s = EDDY_SHAPE(1, H, W, C);
    draw();
    const eddy_tensor x = shaped(F64, s, left);
    const eddy_array *y = eddy_eval(eddy_sobel_edges(x));
    const eddy_tensor both = eddy_image_gradients(x);
    const eddy_array *dy = eddy_eval(both), *dx = eddy_eval(eddy_output(both, 1));
    double total = 0;
    for (int h = 0; h < H; h++)
        for (int w = 0; w < W; w++)
            for (int c = 0; c < C; c++) {
                const int i = (h * W + w) * C + c;
                double down = 0, across = 0;
                for (int p = -1; p < 2; p++)
                    for (int q = -1; q < 2; q++) {
                        down += sobel[p + 1][q + 1] * at(left, h + p, w + q, c);
                        across += sobel[q + 1][p + 1] * at(left, h + p, w + q, c);
                    }
                ck_assert_double_eq_tol(eddy_array_get(y, 2 * i), down, 1e-13);
                ck_assert_double_eq_tol(eddy_array_get(y, 2 * i + 1), across, 1e-13);
                const double p = h < H - 1 ? left[i + W * C] - left[i] : 0;
                const double q = w < W - 1 ? left[i + C] - left[i] : 0;
                ck_assert_double_eq(eddy_array_get(dy, i), p);
                ck_assert_double_eq(eddy_array_get(dx, i), q);
                total += fabs(p) + fabs(q);
            }
    near("variation", 1e-13, eddy_total_variation(x), 1, &total);
}
END_TEST

/* The similarity of one channel by the formula, with weights of both axes at once. */
static double similarity(int c, int n, double sigma, bool whole)
{
    double weight[H][W], sum = 0, all = 0;
    for (int p = 0; p < n; p++)
        for (int q = 0; q < n; q++) {
            const double y = p - 0.5 * (n - 1), x = q - 0.5 * (n - 1);
            sum += weight[p][q] = exp(-(y * y + x * x) / (2 * sigma * sigma));
        }
    for (int h = 0; h + n <= H; h++)
        for (int w = 0; w + n <= W; w++) {
            double m = 0, k = 0, mm = 0, kk = 0, mk = 0;
            for (int p = 0; p < n; p++)
                for (int q = 0; q < n; q++) {
                    const double u = weight[p][q] / sum, a = at(left, h + p, w + q, c);
                    const double b = at(right_, h + p, w + q, c);
                    m += u * a, k += u * b, mm += u * a * a, kk += u * b * b, mk += u * a * b;
                }
            const double c1 = 0.01 * 0.01, c2 = 0.03 * 0.03;
            const double form = (2 * (mk - m * k) + c2) / (mm - m * m + kk - k * k + c2);
            all += form * (whole ? (2 * m * k + c1) / (m * m + k * k + c1) : 1);
        }
    return all / ((H - n + 1) * (W - n + 1));
}

START_TEST(similar)
{
    const eddy_shape s = EDDY_SHAPE(1, H, W, C);
    draw();
    const eddy_tensor a = shaped(F64, s, left), b = shaped(F64, s, right_);
    double want = 0, error = 0;
    for (int c = 0; c < C; c++) want += similarity(c, 5, 1.5, true) / C;
    near("ssim", 1e-11, eddy_ssim(a, b, 1, .filter_size = 5), 1, &want);
    near("ssim", 1e-5, eddy_ssim(Cast(a, F32), Cast(b, F32), 1, .filter_size = 5), 1, &want);
    for (int i = 0; i < IMAGE; i++) error += (left[i] - right_[i]) * (left[i] - right_[i]) / IMAGE;
    near("psnr", 1e-12, eddy_psnr(a, b, 1), V(-10 * log10(error)));
    near("psnr", 1e-12, eddy_psnr(Mul(a, 255), Mul(b, 255), 255), V(-10 * log10(error)));
    IS(eddy_psnr(a, a, 1), (double)INFINITY);
    near("same", 1e-14, eddy_ssim(a, a, 1, .filter_size = 3, .filter_sigma = 0.8), V(1));
    near("same", 1e-14, eddy_ssim_multiscale(a, a, 1, .filter_size = 2, .scales = 2,
                                             .power_factors = (const double[]){ 0.5, 0.5 }), V(1));
    want = 0;
    for (int c = 0; c < C; c++) want += pow(similarity(c, 6, 1.5, true), 0.7) / C;
    near("one scale", 1e-11, eddy_ssim_multiscale(a, b, 1, .filter_size = 6, .scales = 1,
                                                  .power_factors = (const double[]){ 0.7 }), 1,
         &want);
}
END_TEST

/* Bytes are compared as the numbers that they represent. */
START_TEST(similar_bytes)
{
    const eddy_tensor x = vec(EDDY_UINT8, V(0, 100, 200, 50));
    const eddy_tensor y = vec(EDDY_UINT8, V(3, 98, 200, 51));
    const eddy_tensor a = eddy_reshape(x, EDDY_SHAPE(1, 2, 2, 1));
    const eddy_tensor b = eddy_reshape(y, EDDY_SHAPE(1, 2, 2, 1));
    near("psnr", 1e-5, eddy_psnr(a, b, 255), V(10 * log10(255 * 255 / 3.5)));
}
END_TEST

/* --------------------------------------------------------------------- boxes -- */

enum { MANY = 60 };

static double overlap(const double *a, const double *b)
{
    const double h = fmin(fmax(a[0], a[2]), fmax(b[0], b[2])) -
                     fmax(fmin(a[0], a[2]), fmin(b[0], b[2]));
    const double w = fmin(fmax(a[1], a[3]), fmax(b[1], b[3])) -
                     fmax(fmin(a[1], a[3]), fmin(b[1], b[3]));
    const double p = fabs((a[2] - a[0]) * (a[3] - a[1])), q = fabs((b[2] - b[0]) * (b[3] - b[1]));
    const double both = fmax(0, h) * fmax(0, w);
    return p > 0 && q > 0 ? both / (p + q - both) : 0;
}

/* In each round the best of all that are left, which lowers the others. */
static int best_boxes(const double *boxes, const double *scores, double most, double sigma,
                      int *taken, double *left_of)
{
    double s[MANY];
    int count = 0;
    memcpy(s, scores, sizeof s);
    for (;;) {
        int best = -1;
        for (int i = 0; i < MANY; i++)
            if (s[i] > 0.1 && (best < 0 || s[i] > s[best])) best = i;
        if (best < 0) return count;
        left_of[count] = s[best];
        taken[count++] = best;
        s[best] = 0;
        for (int i = 0; i < MANY; i++) {
            const double o = overlap(boxes + 4 * i, boxes + 4 * best);
            s[i] *= o > most ? 0 : sigma > 0 ? exp(-o * o / (2 * sigma)) : 1;
        }
    }
}

START_TEST(best_of_many_boxes)
{
    static double boxes[MANY * 4], scores[MANY], left_of[MANY];
    int taken[MANY];
    const double sigma = _i % 2 ? 0.3 : 0, most = _i % 3 == 2 ? 1 : 0.4;
    for (int i = 0; i < MANY * 4; i++) boxes[i] = uniform(0, 1) + (i % 4 > 1 ? 0.4 : 0);
    for (int i = 0; i < MANY; i++) scores[i] = uniform(0, 1);
    const int count = best_boxes(boxes, scores, most, sigma, taken, left_of);
    const eddy_tensor y = eddy_non_max_suppression(
        shaped(F64, EDDY_SHAPE(MANY, 4), boxes), vec(F64, MANY, scores), MANY, most, 0.1, sigma);
    const eddy_array *at_ = eddy_eval(y), *s = eddy_eval(eddy_output(y, 1));
    IS(eddy_output(y, 2), count);
    for (int i = 0; i < MANY; i++) {
        ck_assert_double_eq(eddy_array_get(at_, i), i < count ? taken[i] : -1);
        ck_assert_double_eq_tol(eddy_array_get(s, i), i < count ? left_of[i] : 0, 1e-12);
    }
}
END_TEST

/* As in TensorFlow's non_max_suppression_op_test.cc. */
START_TEST(three_clusters)
{
    const double v[] = { 0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, -0.1, 1, 0.9, 0, 10, 1, 11, 0, 10.1, 1,
                         11.1, 0, 100, 1, 101 };
    const eddy_tensor boxes = shaped(F32, EDDY_SHAPE(6, 4), v);
    const eddy_tensor scores = vec(F32, V(0.9, 0.75, 0.6, 0.95, 0.5, 0.3));
    const eddy_tensor y = eddy_non_max_suppression(boxes, scores, 5);
    IS(y, 3, 0, 5, -1, -1);
    IS(eddy_output(y, 2), 3);
    IS(eddy_non_max_suppression(boxes, scores, 2), 3, 0);
    IS(eddy_non_max_suppression(boxes, scores, 3, .score_threshold = 0.5), 3, 0, -1);
    const double flipped[] = { 1, 1, 0, 0, 0, 0.1, 1, 1.1, 0, 0.9, 1, -0.1, 0, 10, 1, 11, 1, 10.1,
                               0, 11.1, 1, 101, 0, 100 };
    IS(eddy_non_max_suppression(shaped(F32, EDDY_SHAPE(6, 4), flipped), scores, 3), 3, 0, 5);
    const eddy_tensor soft = eddy_non_max_suppression(boxes, scores, 6, 1, .soft_nms_sigma = 0.5);
    IS(soft, 3, 0, 1, 5, 4, 2);
    near("scores", 1e-2, eddy_output(soft, 1), V(0.95, 0.9, 0.384, 0.3, 0.256, 0.197));
    const eddy_tensor batch = eddy_stack(EDDY_LIST(boxes, eddy_reverse(boxes, EDDY_AXES(0))), 0);
    const eddy_tensor each = eddy_stack(EDDY_LIST(scores, scores), 0);
    IS(eddy_non_max_suppression(batch, each, 3), 3, 0, 5, 3, 0, 1);
}
END_TEST

/* corner: nothing, no numbers, no area */
START_TEST(no_boxes)
{
    const eddy_tensor none = eddy_zeros(g, F64, EDDY_SHAPE(0, 4));
    IS(eddy_non_max_suppression(none, eddy_zeros(g, F64, EDDY_SHAPE(0)), 2), -1, -1);
    const eddy_tensor points = eddy_zeros(g, F64, EDDY_SHAPE(3, 4));
    const eddy_tensor scores = vec(F64, V((double)NAN, 1, 2));
    IS(eddy_non_max_suppression(points, scores, 3), 2, 1, -1);
    const eddy_tensor odd = eddy_fill(vec(EDDY_INT32, V(3, 4)), num(F64, (double)NAN));
    IS(eddy_non_max_suppression(odd, scores, 3, .soft_nms_sigma = 1), 2, 1, -1);
}
END_TEST

Suite *images_suite(void)
{
    Suite *suite = suite_create("images");
    TCase *c = tcase_create("images");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, flips_and_rotations);
    tcase_add_test(c, cut_and_framed);
    tcase_add_test(c, transformed);
    tcase_add_test(c, resized);
    tcase_add_test(c, glimpses);
    tcase_add_test(c, hues);
    tcase_add_test(c, matrices_of_colors);
    tcase_add_test(c, element_types);
    tcase_add_test(c, contrast_and_standard);
    tcase_add_test(c, flips_by_chance);
    tcase_add_test(c, crops_by_chance);
    tcase_add_test(c, colors_by_chance);
    tcase_add_test(c, edges);
    tcase_add_test(c, similar);
    tcase_add_test(c, similar_bytes);
    tcase_add_loop_test(c, best_of_many_boxes, 0, 6);
    tcase_add_test(c, three_clusters);
    tcase_add_test(c, no_boxes);
    suite_add_tcase(suite, c);
    return suite;
}
