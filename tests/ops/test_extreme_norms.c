/* test_extreme_norms.c -- norms, and gradients of norms, of vectors whose squares overflow or
 * underflow. */
#include "tests/lib/scaled_cases.h"

Suite *extreme_norms_suite(void);

/* Gradients are x / |x|, second ones (I - x x' / |x|^2) / |x|. */
START_TEST(lengths)
{
    const scaled_case *c = &scales[_i];
    const double s = c->s;
    const eddy_tensor x = row_of(c, 3, 4), y = eddy_norm(x), z = eddy_euclidean_norm(x);
    ARE(y, 5 * s);
    ARE(z, 5 * s);
    ARE(slope(y, x), 0.6, 0.8);
    ARE(slope(z, x), 0.6, 0.8);
    const eddy_tensor first = eddy_index(slope(y, x), "0");
    ARE(slope(first, x), 0.64 / 5 / s, -0.48 / 5 / s);
    ARE(eddy_norm(x, "fro", .keepdims = true), 5 * s);
    ARE(eddy_norm(eddy_reshape(x, EDDY_SHAPE(1, 2)), "fro", EDDY_AXES(0, 1)), 5 * s);
    const eddy_tensor all = eddy_global_norm(EDDY_LIST(x, row_of(c, 0, 12)));
    if (s < 1e37) ARE(all, 13 * s), ARE(slope(all, x), 3 / 13.0, 4 / 13.0);
}
END_TEST

/* With one row far from the other, each is right: only its own elements count. */
START_TEST(lengths_of_rows)
{
    const double v[] = { 3e200, 4e200, 3, 4, 3e-200, 4e-200, 0, 0, INFINITY, 1, NAN, 1e300 };
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(6, 2), v);
    ARE(eddy_norm(x, .axes = EDDY_AXES(1)), 5e200, 5, 5e-200, 0, INFINITY, NAN);
    ARE(eddy_norm(Transpose(x), .axes = EDDY_AXES(0)), 5e200, 5, 5e-200, 0, INFINITY, NAN);
    const eddy_tensor y = shaped(F32, EDDY_SHAPE(3, 2), (double[]){ 3e20, 4e20, 3e-30, 4e-30,
                                                                    INFINITY, -INFINITY });
    ARE(eddy_euclidean_norm(y, EDDY_AXES(1)), 5e20, 5e-30, INFINITY);
    ARE(eddy_norm(shaped(F32, EDDY_SHAPE(2, 2), (double[]){ FLT_MAX, FLT_MAX, 0, 0 }),
                  .axes = EDDY_AXES(1)), INFINITY, 0);
    ARE(eddy_norm(eddy_zeros(g, F64, EDDY_SHAPE(2, 0)), .axes = EDDY_AXES(1)), 0, 0);
}
END_TEST

/* The gradient of a norm at 0. */
START_TEST(lengths_of_zeros)
{
    for (int i = 0; i < 2; i++) {
        const eddy_tensor x = vec(floats[i], V(0, 0)), one = vec(floats[i], V(1, 0));
        IS(slope(eddy_norm(x), x), 0, 0);
        IS(slope(slope(eddy_norm(x), x), x), 0, 0);
        IS(slope(eddy_euclidean_norm(x), x), NAN, NAN);
        IS(slope(eddy_global_norm(EDDY_LIST(x, x)), x), NAN, NAN);
        IS(slope(eddy_global_norm(EDDY_LIST(x, one)), x), 0, 0);
    }
}
END_TEST

/* A sum of many, against one of doubles whose squares fit; for one thread and for four. */
static void sum_up(eddy_array *one, int threads, double sum, double *out)
{
    const eddy_shape  s = eddy_array_shape(one);
    const eddy_tensor x = eddy_placeholder(g, NULL, F64, s), f = Cast(x, F32);
    eddy_session *run = eddy_session_new(g, .threads = threads);
    eddy_array   *y[4] = { NULL };
    ck_assert_int_eq(eddy_run(run, EDDY_FEED({ x, one }), EDDY_FETCH(eddy_norm(x),
                              eddy_norm(Mul(x, 0x1p900)), eddy_norm(Mul(x, 0x1p-900)),
                              eddy_norm(Mul(f, 0x1p90))), y), EDDY_OK);
    for (int i = 0; i < 4; i++) {
        static const double scale[] = { 1, 0x1p-900, 0x1p900, 0x1p-90 };
        out[i] = eddy_array_item(y[i]) * scale[i];
        ck_assert_double_eq_tol(out[i], sqrt(sum), (i == 3 ? 1e-6 : 1e-12) * sqrt(sum));
        eddy_array_free(y[i]);
    }
    eddy_session_free(run);
}

START_TEST(long_sums)
{
    enum { MANY = 300007 };
    eddy_array *one = eddy_array_new(F64, EDDY_SHAPE(MANY));
    double sum = 0, y[2][4];
    for (int i = 0; i < MANY; i++) {
        const double v = uniform(-1, 1);
        eddy_array_set(one, i, v);
        sum += v * v;
    }
    for (int i = 0; i < 2; i++) sum_up(one, i ? 4 : 1, sum, y[i]);
    ck_assert_int_eq(memcmp(y[0], y[1], sizeof y[0]), 0);
    eddy_array_free(one);
}
END_TEST

/* Of the order p: (3^p + 4^p)^(1/p) s, with the gradient (x / y)^(p - 1). */
START_TEST(norms_of_orders)
{
    static const char *const orders[] = { "3", "0.5", "-2", "1.5", "7" };
    const scaled_case *c = &scales[_i];
    if (c->s > 1e37 && c->d == F32) return;
    for (int i = 0; i < 5; i++) {
        const double p = atof(orders[i]), unit = pow(pow(3, p) + pow(4, p), 1 / p);
        if (unit * c->s > 1e308) continue;
        const eddy_tensor x = row_of(c, 3, 4), y = eddy_norm(x, orders[i]);
        const double of3 = pow(3 / unit, p - 1), of4 = pow(4 / unit, p - 1);
        relatively(orders[i], 4e-6, y, V(unit * c->s));
        relatively(orders[i], 4e-6, slope(y, x), V(of3, of4));
        /* The second one is (p - 1) times that of x^(p - 1) less the part along y. */
        const double own = (p - 1) * (pow(3, p - 2) / pow(unit, p - 1) - of3 * of3 / unit);
        const double other = -(p - 1) * of3 * of4 / unit;
        relatively(orders[i], 2e-5, slope(eddy_index(slope(y, x), "0"), x),
                   V(own / c->s, other / c->s));
    }
}
END_TEST

START_TEST(odd_norms)
{
    const double inf = (double)INFINITY;
    for (int i = 0; i < 2; i++) {
        const eddy_dtype d = floats[i];
        IS(eddy_norm(vec(d, V(inf, 1)), "3"), inf);
        IS(eddy_norm(vec(d, V(NAN, 1)), "3"), NAN);
        IS(eddy_norm(vec(d, V(0, 0)), "3"), 0);
        IS(eddy_norm(vec(d, V(0, 1)), "-2"), 0);
        IS(eddy_norm(vec(d, V(inf, inf)), "-2"), inf);
        NEAR(eddy_norm(vec(d, V(inf, 2)), "-2"), 2);
    }
    /* 10000^(1/p) of the same number: powers beyond float32, and the norm within. */
    const eddy_tensor same = Mul(1e-20, eddy_ones(g, F32, EDDY_SHAPE(10000)));
    relatively("0.1", 1e-4, eddy_norm(same, "0.1"), V(1e20));
    relatively("-0.1", 1e-4, eddy_norm(Reciprocal(same), "-0.1"), V(1e-20));
}
END_TEST

/* Vectors of the length 1 by any way, which depend on the direction alone. */
START_TEST(directions)
{
    const scaled_case *c = &scales[_i];
    const double s = c->s;
    const eddy_tensor x = row_of(c, 3, 4), one = num(c->d, 1);
    if (s >= 1) {
        const eddy_tensor y = eddy_l2_normalize(x), first = eddy_index(y, "0");
        ARE(y, 0.6, 0.8);
        ARE(slope(first, x), 0.64 / 5 / s, -0.48 / 5 / s);
        ARE(eddy_cosine_similarity(x, row_of(c, 4, 3)), 0.96);
        /* Of the largest s in float32 these have few bits. */
        relatively("cosine", 1e-5, slope(eddy_cosine_similarity(x, vec(c->d, V(4, 3))), x),
                   V(0.224 / 5 / s, -0.168 / 5 / s));
        ARE(eddy_clip_by_norm(x, one), 0.6, 0.8);
        ARE(eddy_clip_by_average_norm(x, one), 1.2, 1.6);
        eddy_tensor out[1];
        eddy_clip_by_global_norm(EDDY_LIST(x), one, out);
        if (s < 1e37) ARE(out[0], 0.6, 0.8);
    } else {
        if (c->d == F64) ARE(eddy_l2_normalize(x, .epsilon = 1e-300), 3e150 * s, 4e150 * s);
        ARE(eddy_l2_normalize(x), 3e6 * s, 4e6 * s);
        ARE(eddy_clip_by_norm(x, one), 3 * s, 4 * s);
        ARE(eddy_clip_by_norm(x, num(c->d, s)), 0.6 * s, 0.8 * s);
        ARE(eddy_clip_by_average_norm(x, one), 3 * s, 4 * s);
    }
    ARE(eddy_clip_by_norm(x, num(c->d, 5.5 * s)), 3 * s, 4 * s);
}
END_TEST

/* Results that a few bits can represent are exact. */
START_TEST(exact_directions)
{
    const eddy_tensor x = vec(F32, V(3e36, 4e36, 0)), y = eddy_l2_normalize(x);
    ARE(slope(eddy_index(y, "0"), x), 1.28e-37, -9.6e-38, 0);
    for (int i = 0; i < 2; i++) {
        const eddy_tensor seven = vec(floats[i], V(7));
        IS(eddy_l2_normalize(vec(floats[i], V(2, 0))), 1, 0);
        IS(eddy_cosine_similarity(seven, seven), 1);
        IS(eddy_l2_normalize(Complex(seven, ZerosLike(seven))), 1);
        const double tiny = i ? 1e-200 : (double)1e-8f, large = i ? 1e300 : (double)1e38f;
        ARE(eddy_clip_by_norm(vec(floats[i], V(large, 0)), num(floats[i], tiny)), tiny, 0);
        IS(eddy_clip_by_norm(vec(floats[i], V(3, 5)), num(floats[i], 7)), 3, 5);
    }
}
END_TEST

/* Of y = |x, z| the second derivatives by z, where it is 0, are I / y, the third ones by z, z
 * and x -x / y^3. */
START_TEST(global_norms_of_zeros)
{
    for (int i = 0; i < 2; i++) {
        const eddy_tensor x = vec(floats[i], V(3, 0, -4)), z = vec(floats[i], V(0, 0));
        const eddy_tensor y = eddy_global_norm(EDDY_LIST(x, z)), dz = Sum(slope(y, z));
        IS(y, 5);
        IS(slope(y, z), 0, 0);
        ARE(slope(dz, z), 0.2, 0.2);
        ARE(slope(Sum(slope(dz, z)), x), -6 / 125.0, 0, 8 / 125.0);
        eddy_tensor out[2];
        eddy_clip_by_global_norm(EDDY_LIST(x, z), num(floats[i], 1), out);
        /* out = x / y, whose second derivatives by z are -x / y^3. */
        ARE(slope(Sum(slope(eddy_index(out[0], "0"), z)), z), -3 / 125.0, -3 / 125.0);
        const eddy_tensor none = eddy_zeros(g, floats[i], EDDY_SHAPE(0));
        IS(eddy_global_norm(EDDY_LIST(z, none)), 0);
        IS(eddy_global_norm(EDDY_LIST(vec(floats[i], V(NAN)), x)), NAN);
        IS(eddy_global_norm(EDDY_LIST(vec(floats[i], V(-INFINITY)), x)), INFINITY);
    }
    const eddy_tensor a = vec(F64, V(3e300, 0)), b = vec(F64, V(4e300));
    ARE(eddy_global_norm(EDDY_LIST(a, b)), 5e300);
    ARE(slope(eddy_global_norm(EDDY_LIST(a, b)), a), 0.6, 0);
    const eddy_tensor real = vec(F32, V(1)), wide = vec(F64, V(1)), z = Complex(real, real);
    refused(eddy_global_norm(EDDY_LIST(real, z)), EDDY_BAD_DTYPE, "is complex64");
    refused(eddy_global_norm(EDDY_LIST(real, wide)), EDDY_BAD_DTYPE,
            "float32, but another is float64");
}
END_TEST

/* The sizes of both parts count. */
START_TEST(complex_lengths)
{
    const eddy_tensor a = vec(F32, V(3e20, 0)), b = vec(F32, V(0, 4e20));
    const eddy_tensor x = Complex(a, b), y = eddy_norm(x);
    ARE(y, 5e20);
    ARE(slope(y, a), 0.6, 0);
    ARE(slope(y, b), 0, 0.8);
    ARE(Real(eddy_l2_normalize(x)), 0.6, 0);
    ARE(slope(eddy_euclidean_norm(Complex(vec(F32, V(0)), a)), a), 1, 0);
    IS(slope(eddy_norm(Complex(b, b), .axes = EDDY_AXES(0)), b), 0, (float)sqrt(2));
}
END_TEST

/* The sizes of 3 + 4i and 12i are 5 and 12. */
START_TEST(complex_lengths_of_axes)
{
    const eddy_tensor a = shaped(F32, EDDY_SHAPE(2, 1), (double[]){ 3, 0 });
    const eddy_tensor b = shaped(F32, EDDY_SHAPE(2, 1), (double[]){ 4, 12 }), x = Complex(a, b);
    IS(eddy_euclidean_norm(x), 13);
    IS(eddy_euclidean_norm(x, EDDY_AXES(1)), 5, 12);
    IS(eddy_euclidean_norm(x, EDDY_AXES(-2), .keepdims = true), 13);
    IS(eddy_euclidean_norm(x, EDDY_AXES(0, 1)), 13);
    IS(eddy_euclidean_norm(x, EDDY_NO_DIMS, .name = "sizes"), 5, 12);
    const eddy_tensor all = eddy_euclidean_norm(x, .keepdims = true, .name = "all");
    ck_assert_int_eq(eddy_shape_of(all).rank, 2);
    ck_assert_str_eq(eddy_name_of(all), "all");
    IS(all, 13);
    IS(eddy_norm(eddy_reshape(x, EDDY_SHAPE(2, 1, 1, 1, 1, 1, 1, 1))), 13);
    IS(eddy_norm(eddy_reshape(x, EDDY_SHAPE(2, 1, 1, 1, 1, 1, 1, 1)), .axes = EDDY_AXES(7)), 5, 12);
    refused(eddy_euclidean_norm(x, EDDY_AXES(2)), EDDY_INVALID_ARGUMENT, "EuclideanNorm");
    refused(eddy_euclidean_norm(x, EDDY_AXES(0, 0)), EDDY_INVALID_ARGUMENT, "given twice");
    /* By the parts: (I - x x' / y^2) / y, also where the imaginary ones are 0. */
    const eddy_tensor w = vec(F32, V(3, 4)), none = vec(F32, V(0, 0));
    const eddy_tensor y = eddy_norm(Complex(w, none));
    ARE(slope(eddy_index(slope(y, none), "0"), none), 0.2, 0);
    ARE(slope(eddy_index(slope(y, w), "0"), w), 0.128, -0.096);
    IS(slope(eddy_norm(Complex(none, none)), none), 0, 0);
}
END_TEST

/* w = v / |v| g */
START_TEST(weight_norms)
{
    const eddy_tensor v = shaped(F32, EDDY_SHAPE(2, 2), (double[]){ 3e20, 3e-30, 4e20, 4e-30 });
    ARE(eddy_weight_norm(v, vec(F32, V(1, 2)), -1), 0.6, 1.2, 0.8, 1.6);
}
END_TEST

Suite *extreme_norms_suite(void)
{
    Suite *suite = suite_create("extreme_norms");
    TCase *c = tcase_create("norms");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, lengths, 0, SCALES);
    tcase_add_test(c, lengths_of_rows);
    tcase_add_test(c, lengths_of_zeros);
    tcase_add_test(c, long_sums);
    tcase_add_loop_test(c, norms_of_orders, 0, SCALES);
    tcase_add_test(c, odd_norms);
    tcase_add_loop_test(c, directions, 0, SCALES);
    tcase_add_test(c, exact_directions);
    tcase_add_test(c, global_norms_of_zeros);
    tcase_add_test(c, complex_lengths);
    tcase_add_test(c, complex_lengths_of_axes);
    tcase_add_test(c, weight_norms);
    suite_add_tcase(suite, c);
    return suite;
}
