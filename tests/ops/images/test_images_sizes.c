/* test_images_sizes.c -- image sizes that are tensors, fed or computed from shapes: the same bits
 * as with constant sizes, and errors for invalid sizes. */
#include "tests/lib/element_checks.h"

Suite *images_sizes_suite(void);

enum { METHODS = 4, HEIGHT = 6, WIDTH = 9 };

static eddy_session *session;

static void begin(void)
{
    setup();
    session = eddy_session_new(g);
}

static void end(void)
{
    eddy_session_free(session);
    teardown();
}

static eddy_array *value_of(eddy_tensor t, eddy_feeds feeds)
{
    eddy_array *y = NULL;
    eddy_run(session, feeds, EDDY_FETCH(t), &y);
    return y;
}
#define FETCH(t, ...) value_of(t, EDDY_FEED(__VA_ARGS__))

static eddy_array *integers(eddy_dtype d, int n, const int64_t *v)
{
    eddy_array *a = eddy_array_new(d, n == 1 ? EDDY_SCALAR : EDDY_SHAPE(n));
    for (int i = 0; i < n; i++)
        if (d == EDDY_INT32) ((int32_t *)eddy_array_data(a))[i] = (int32_t)v[i];
        else ((int64_t *)eddy_array_data(a))[i] = v[i];
    return a;
}

/* Images of this height and width: numbers without a pattern. */
static eddy_array *images(int64_t h, int64_t w)
{
    eddy_array *a = eddy_array_new(F64, EDDY_SHAPE(2, h, w, 3));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, sin((double)(i * i) * 0.37) + (double)(i % 5));
    return a;
}

static void same_bits(const char *what, const eddy_array *a, const eddy_array *b)
{
    ck_assert_msg(a && b, "%s: %s", what, eddy_session_message(session));
    ck_assert_msg(eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(b)), "%s: shape", what);
    ck_assert_msg(memcmp(eddy_array_data(a), eddy_array_data(b), eddy_array_bytes(a)) == 0, "%s",
                  what);
}

/* -------------------------------------------------------------- by methods -- */

static eddy_tensor by_numbers(int m, eddy_tensor x, eddy_dims s, bool corners)
{
    return m == 0 ? eddy_resize_nearest_neighbor(x, s, corners)
         : m == 1 ? eddy_resize_bilinear(x, s, corners)
         : m == 2 ? eddy_resize_bicubic(x, s, corners) : eddy_resize_area(x, s, corners);
}

static eddy_tensor by_tensor(int m, eddy_tensor x, eddy_tensor s, bool corners)
{
    return m == 0 ? eddy_resize_nearest_neighbor_to(x, s, corners)
         : m == 1 ? eddy_resize_bilinear_to(x, s, corners)
         : m == 2 ? eddy_resize_bicubic_to(x, s, corners) : eddy_resize_area_to(x, s, corners);
}

static eddy_tensor third(eddy_tensor y, eddy_tensor x)
{
    return eddy_gradient(Sum(Mul(y, Square(y))), x);
}

/* One graph and session for all sizes: values, and gradients of the first and second order. */
START_TEST(sizes_that_are_fed)
{
    const int64_t sizes[][2] = { { 3, 4 }, { 12, 18 }, { 1, 1 }, { 6, 9 }, { 7, 2 } };
    const bool corners = _i & 1;
    const int  m = _i / 2;
    const eddy_dtype d = corners ? EDDY_INT64 : EDDY_INT32;
    const eddy_tensor x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(EDDY_ANY, HEIGHT, WIDTH, 3));
    const eddy_tensor size = eddy_placeholder(g, "size", d, EDDY_SHAPE(2));
    const eddy_tensor y = by_tensor(m, x, size, corners), dx = third(y, x);
    const eddy_tensor mine[] = { y, dx, third(dx, x) };
    ck_assert_int_eq(eddy_shape_of(y).dim[1], EDDY_ANY);
    eddy_array *in = images(HEIGHT, WIDTH);
    for (int i = 0; i < 5; i++) {
        const eddy_tensor z = by_numbers(m, x, EDDY_DIMS(sizes[i][0], sizes[i][1]), corners);
        const eddy_tensor dz = third(z, x), theirs[] = { z, dz, third(dz, x) };
        eddy_array *s = integers(d, 2, sizes[i]);
        for (int k = 0; k < 3; k++) {
            eddy_array *a = FETCH(mine[k], { x, in }, { size, s });
            eddy_array *b = FETCH(theirs[k], { x, in });
            same_bits("fed", a, b);
            eddy_array_free(a), eddy_array_free(b);
        }
        eddy_array_free(s);
    }
    eddy_array_free(in);
}
END_TEST

/* As large as other images, of which nothing is known while building, and twice that. */
START_TEST(the_size_of_other_images)
{
    const eddy_tensor x = eddy_placeholder(g, "x", F64, EDDY_UNKNOWN_SHAPE);
    const eddy_tensor like = eddy_placeholder(g, "like", F64, EDDY_UNKNOWN_SHAPE);
    const eddy_tensor shape = eddy_index(eddy_shape_tensor(like, EDDY_INT32), "1:3");
    const eddy_tensor y = eddy_resize_bilinear_to(x, Mul(shape, 2));
    const eddy_tensor dx = eddy_gradient(Sum(Square(y)), x);
    eddy_array *in = images(HEIGHT, WIDTH), *other = images(3, 5);
    const eddy_tensor z = eddy_resize_bilinear(x, EDDY_DIMS(6, 10));
    const eddy_tensor dz = eddy_gradient(Sum(Square(z)), x);
    eddy_array *a = FETCH(y, { x, in }, { like, other });
    eddy_array *b = FETCH(z, { x, in });
    eddy_array *da = FETCH(dx, { x, in }, { like, other });
    eddy_array *db = FETCH(dz, { x, in });
    same_bits("like another", a, b);
    same_bits("the gradient of it", da, db);
    eddy_array_free(in), eddy_array_free(other), eddy_array_free(a), eddy_array_free(b);
    eddy_array_free(da), eddy_array_free(db);
}
END_TEST

START_TEST(constants_are_known_while_building)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_UINT8, EDDY_UNKNOWN_SHAPE);
    const eddy_tensor size = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 4, 7 });
    const eddy_shape s = eddy_shape_of(eddy_resize_area_to(x, size));
    ck_assert(eddy_shape_equal(s, EDDY_SHAPE(EDDY_ANY, 4, 7, EDDY_ANY)));
    ck_assert_int_eq(eddy_dtype_of(eddy_resize_nearest_neighbor_to(x, size)), EDDY_UINT8);
    ck_assert_int_eq(eddy_dtype_of(eddy_resize_images_to(eddy_set_shape(x, EDDY_SHAPE(4, 7, 3)),
                                                         size)), EDDY_FLOAT32);
}
END_TEST

/* ------------------------------------------------------------------- crops -- */

typedef struct scalars {
    eddy_tensor t[4];
    int64_t     v[4];
} scalars;

static eddy_array *fetch(eddy_tensor y, eddy_tensor x, eddy_array *in, const scalars *s)
{
    eddy_feed   feeds[5] = { { x, in } };
    eddy_array *y_array = NULL;
    for (int i = 0; i < 4; i++) feeds[1 + i] = (eddy_feed){ s->t[i], integers(EDDY_INT64, 1,
                                                                              &s->v[i]) };
    eddy_run(session, (eddy_feeds){ 5, feeds }, EDDY_FETCH(y), &y_array);
    for (int i = 0; i < 4; i++) eddy_array_free((eddy_array *)(uintptr_t)feeds[1 + i].value);
    return y_array;
}

static void begin_scalars(scalars *s)
{
    for (int i = 0; i < 4; i++) s->t[i] = eddy_placeholder(g, NULL, EDDY_INT64, EDDY_SCALAR);
}

typedef eddy_tensor by_four_numbers(eddy_tensor x, int64_t a, int64_t b, int64_t c, int64_t d);
typedef eddy_tensor by_four_tensors(eddy_tensor x, eddy_tensor a, eddy_tensor b, eddy_tensor c,
                                    eddy_tensor d);

static eddy_tensor crop_or_pad(eddy_tensor x, int64_t a, int64_t b, int64_t c, int64_t d)
{
    return (void)a, (void)b, eddy_resize_with_crop_or_pad(x, c, d);
}
static eddy_tensor crop_or_pad_to(eddy_tensor x, eddy_tensor a, eddy_tensor b, eddy_tensor c,
                                  eddy_tensor d)
{
    return (void)a, (void)b, eddy_resize_with_crop_or_pad_to(x, c, d);
}
static eddy_tensor with_pad(eddy_tensor x, int64_t a, int64_t b, int64_t c, int64_t d)
{
    return (void)a, (void)b, eddy_resize_image_with_pad(x, c, d, "area");
}
static eddy_tensor with_pad_to(eddy_tensor x, eddy_tensor a, eddy_tensor b, eddy_tensor c,
                               eddy_tensor d)
{
    return (void)a, (void)b, eddy_resize_image_with_pad_to(x, c, d, "area");
}
static eddy_tensor in_proportion(eddy_tensor x, int64_t a, int64_t b, int64_t c, int64_t d)
{
    return (void)a, (void)b, eddy_resize_images(x, EDDY_DIMS(c, d), "bicubic",
                                                .preserve_aspect_ratio = true);
}
static eddy_tensor in_proportion_to(eddy_tensor x, eddy_tensor a, eddy_tensor b, eddy_tensor c,
                                    eddy_tensor d)
{
    return (void)a, (void)b, eddy_resize_images_to(x, eddy_stack(EDDY_LIST(c, d), 0), "bicubic",
                                                   .preserve_aspect_ratio = true);
}

static const struct {
    const char      *what;
    by_four_numbers *numbers;
    by_four_tensors *tensors;
} parts[] = {
    { "crop_to_bounding_box", eddy_crop_to_bounding_box, eddy_crop_to_bounding_box_to },
    { "pad_to_bounding_box", eddy_pad_to_bounding_box, eddy_pad_to_bounding_box_to },
    { "resize_with_crop_or_pad", crop_or_pad, crop_or_pad_to },
    { "resize_image_with_pad", with_pad, with_pad_to },
    { "resize_images in proportion", in_proportion, in_proportion_to },
};

/* Where numbers are refused, tensors must be too. */
START_TEST(parts_by_tensors)
{
    const int64_t offsets[][2] = { { 0, 0 }, { 1, 2 }, { 3, 0 } };
    const int64_t sizes[][2] = { { 1, 1 }, { 2, 4 }, { 3, 9 }, { 6, 9 }, { 9, 11 }, { 13, 4 },
                                 { 5, 16 } };
    const eddy_tensor x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(2, HEIGHT, WIDTH, 3));
    eddy_array *in = images(HEIGHT, WIDTH);
    scalars s;
    begin_scalars(&s);
    const eddy_tensor y = parts[_i].tensors(x, s.t[0], s.t[1], s.t[2], s.t[3]);
    const eddy_tensor dx = eddy_gradient(Sum(Square(y)), x);
    for (int i = 0; i < 21; i++) {
        memcpy(s.v, offsets[i % 3], sizeof *offsets);
        memcpy(s.v + 2, sizes[i / 3], sizeof *sizes);
        const eddy_tensor z = parts[_i].numbers(x, s.v[0], s.v[1], s.v[2], s.v[3]);
        eddy_array *a = fetch(y, x, in, &s);
        if (eddy_graph_status(g) != EDDY_OK) {
            ck_assert_msg(!a, "%s: no error", parts[_i].what);
            eddy_graph_clear_error(g);
            continue;
        }
        const eddy_tensor dz = eddy_gradient(Sum(Square(z)), x);
        eddy_array *b = FETCH(z, { x, in });
        eddy_array *da = fetch(dx, x, in, &s);
        eddy_array *db = FETCH(dz, { x, in });
        same_bits(parts[_i].what, a, b);
        same_bits("its gradient", da, db);
        eddy_array_free(a), eddy_array_free(b), eddy_array_free(da), eddy_array_free(db);
    }
    eddy_array_free(in);
}
END_TEST

START_TEST(crops_by_boxes)
{
    const double box[] = { 0.1, 0.2, 0.8, 0.9, 0.9, 0, 0.3, 1.1 };
    const eddy_tensor x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(2, HEIGHT, WIDTH, 3));
    const eddy_tensor boxes = shaped(F64, EDDY_SHAPE(2, 4), box);
    const eddy_tensor owner = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 1, 0 });
    const eddy_tensor size = eddy_placeholder(g, "size", EDDY_INT32, EDDY_SHAPE(2));
    const eddy_tensor y = eddy_crop_and_resize_to(x, boxes, owner, size);
    const int64_t sizes[][2] = { { 4, 3 }, { 1, 5 }, { 7, 1 }, { 2, 2 } };
    eddy_array *in = images(HEIGHT, WIDTH);
    for (int i = 0; i < 4; i++) {
        eddy_array *s = integers(EDDY_INT32, 2, sizes[i]);
        const eddy_tensor z = eddy_crop_and_resize(x, boxes, owner, EDDY_DIMS(sizes[i][0],
                                                                              sizes[i][1]));
        const eddy_tensor mine[] = { y, third(y, x), third(y, boxes), third(third(y, boxes), x) };
        const eddy_tensor theirs[] = { z, third(z, x), third(z, boxes),
                                       third(third(z, boxes), x) };
        for (int k = 0; k < 4; k++) {
            eddy_array *a = FETCH(mine[k], { x, in }, { size, s });
            eddy_array *b = FETCH(theirs[k], { x, in });
            ck_assert_msg(a && b, "%s", eddy_session_message(session));
            ck_assert(eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(b)));
            for (int64_t j = 0; j < eddy_array_count(a); j++)
                ck_assert_double_eq_tol(eddy_array_get(a, j), eddy_array_get(b, j),
                                        1e-12 * (1 + fabs(eddy_array_get(b, j))));
            eddy_array_free(a), eddy_array_free(b);
        }
        eddy_array_free(s);
    }
    eddy_array_free(in);
}
END_TEST

/* Every box of that size is drawn, and each is a box of x. */
START_TEST(random_boxes)
{
    const eddy_tensor x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(EDDY_ANY, EDDY_ANY));
    const eddy_tensor size = eddy_placeholder(g, "size", EDDY_INT64, EDDY_SHAPE(2));
    const eddy_tensor y = eddy_random_crop_to(x, size, .seed = 5);
    eddy_array *in = eddy_array_new(F64, EDDY_SHAPE(4, 5));
    eddy_array *s = integers(EDDY_INT64, 2, (int64_t[]){ 2, 3 });
    bool seen[3][3] = { { false } };
    for (int i = 0; i < 20; i++) eddy_array_set(in, i, i);
    for (int run = 0; run < 200; run++) {
        eddy_array *a = FETCH(y, { x, in }, { size, s });
        ck_assert_msg(a != NULL, "%s", eddy_session_message(session));
        const int first = (int)eddy_array_get(a, 0);
        ck_assert(eddy_shape_equal(eddy_array_shape(a), EDDY_SHAPE(2, 3)));
        for (int i = 0; i < 6; i++)
            ck_assert_int_eq((int)eddy_array_get(a, i), first + i / 3 * 5 + i % 3);
        seen[first / 5][first % 5] = true;
        eddy_array_free(a);
    }
    for (int i = 0; i < 9; i++) ck_assert(seen[i / 3][i % 3]);
    eddy_array_free(in), eddy_array_free(s);
}
END_TEST

/* ----------------------------------------------------------------- refusals -- */

/* Fed sizes that make no sense fail the run, and the next one is as if nothing had been. */
START_TEST(hostile_sizes)
{
    const int64_t bad[] = { INT64_MIN, -5, -1, 0, (int64_t)1 << 40, INT64_MAX };
    const eddy_tensor x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(2, HEIGHT, WIDTH, 3));
    const eddy_tensor size = eddy_placeholder(g, "size", EDDY_INT64, EDDY_SHAPE(2));
    const eddy_tensor one = eddy_placeholder(g, "one", EDDY_INT64, EDDY_SCALAR);
    const eddy_tensor none = num(EDDY_INT64, 0);
    const eddy_tensor whole = eddy_shape_tensor(x, EDDY_INT64);
    const eddy_tensor ys[] = {
        eddy_resize_bilinear_to(x, size), eddy_resize_area_to(x, size),
        eddy_resize_images_to(x, size, .preserve_aspect_ratio = true),
        eddy_crop_to_bounding_box_to(x, none, none, one, num(EDDY_INT64, 2)),
        eddy_resize_with_crop_or_pad_to(x, one, one), eddy_resize_image_with_pad_to(x, one, one, 0),
        eddy_pad_to_bounding_box_to(x, one, none, num(EDDY_INT64, 8), num(EDDY_INT64, 9)),
        eddy_random_crop_to(x, Add(whole, one)),
    };
    eddy_array *in = images(HEIGHT, WIDTH), *fine = integers(EDDY_INT64, 2, (int64_t[]){ 2, 2 });
    for (int i = 0; i < 6; i++) {
        eddy_array *s = integers(EDDY_INT64, 2, (int64_t[]){ 2, bad[i] });
        eddy_array *v = integers(EDDY_INT64, 1, &bad[i]);
        for (size_t k = 0; k < sizeof ys / sizeof *ys; k++) {
            eddy_array *a = FETCH(ys[k], { x, in }, { size, s }, { one, v });
            const bool fits = (k == 2 && bad[i] > HEIGHT) ||          /* the other side decides */
                              (k == 6 && bad[i] == 0) || (k == 7 && bad[i] < 1 && bad[i] >= -1);
            ck_assert_msg(fits || !a, "size %lld, %d", (long long)bad[i], (int)k);
            eddy_array_free(a);
        }
        eddy_array_free(s), eddy_array_free(v);
        eddy_array *good = FETCH(ys[0], { x, in }, { size, fine });
        ck_assert_msg(good != NULL, "%s", eddy_session_message(session));
        eddy_array_free(good);
    }
    eddy_array_free(in), eddy_array_free(fine);
}
END_TEST

/* A size that only a variable knows. */
START_TEST(sizes_of_other_data)
{
    const eddy_tensor x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(2, HEIGHT, WIDTH, 3));
    const eddy_tensor v = eddy_variable(g, .initial_value = vec(EDDY_INT32, V(2, 2)));
    const eddy_tensor y = eddy_resize_bilinear_to(x, v);
    eddy_array *in = images(HEIGHT, WIDTH);
    ck_assert_int_eq(eddy_run(session, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL),
                     EDDY_OK);
    eddy_array *small = FETCH(y, { x, in });
    ck_assert_msg(small, "%s", eddy_session_message(session));
    ck_assert(eddy_shape_equal(eddy_array_shape(small), EDDY_SHAPE(2, 2, 2, 3)));
    eddy_array_free(small);
    eddy_array_free(in);
}
END_TEST

Suite *images_sizes_suite(void)
{
    Suite *s = suite_create("images_sizes");
    TCase *c = tcase_create("sizes");
    tcase_add_checked_fixture(c, begin, end);
    tcase_add_loop_test(c, sizes_that_are_fed, 0, 2 * METHODS);
    tcase_add_test(c, the_size_of_other_images);
    tcase_add_test(c, constants_are_known_while_building);
    tcase_add_loop_test(c, parts_by_tensors, 0, 5);
    tcase_add_test(c, crops_by_boxes);
    tcase_add_test(c, random_boxes);
    tcase_add_test(c, hostile_sizes);
    tcase_add_test(c, sizes_of_other_data);
    suite_add_tcase(s, c);
    return s;
}
