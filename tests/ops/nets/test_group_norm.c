/* test_group_norm.c -- group, instance, layer, local response and weight normalization, and noise
 * for training: against plain loops in float64 and against PyTorch.
 *
 * Numbers marked PyTorch are those of its 1.13; dy is 1, 2, 3, ... */
#include "tests/lib/element_checks.h"
#include "tests/lib/finite_differences.h"

Suite *group_norm_suite(void);

/* ------------------------------------------------------- numbers by others -- */

/* PyTorch's order of dimensions: two examples of four channels and three places. */
static const eddy_shape planes = { .rank = 3, .dim = { 2, 4, 3 } };
static eddy_tensor numbers(void)
{
    return shaped(F64, planes, (double[]){ 1, 5, 2, 8, 4, 3, 7, 0, 6, 2, 9, 1,
                                           4, 3, 5, 2, 6, 8, 1, 7, 3, 2, 5, 9 });
}
static eddy_tensor scales(void) { return vec(F64, V(1, 2, .5, -1)); }
static eddy_tensor offsets(void) { return vec(F64, V(0, 1, 2, 3)); }
static eddy_tensor last(eddy_tensor x) { return Transpose(x, EDDY_DIMS(0, 2, 1)); }

/* The gradient where 1, 2, 3, ... arrive. */
static eddy_tensor counted(eddy_tensor y, eddy_tensor x)
{
    double    v[ROOM];
    const int n = (int)eddy_shape_count(eddy_shape_of(y));
    for (int i = 0; i < n; i++) v[i] = i + 1;
    return gradient_with(y, shaped(eddy_dtype_of(x), eddy_shape_of(y), v), x);
}

/* PyTorch: group_norm of two groups. */
START_TEST(groups_are_those_of_pytorch)
{
    const eddy_tensor x = numbers(), s = scales(), o = offsets();
    const eddy_tensor y = eddy_group_norm(x, 2, s, o, .data_format = "NCW");
    const double want[] = {
        -1.24986364147652, 0.514649734725627, -0.808735297425985, 4.67606953375448,
        1.14704278135018, 0.264786093249105, 2.42446955348817, 1.37578006839976,
        2.27465676990411, 3.64918872886425, 1.55180975868744, 3.94881429603237,
        -0.338061267241486, -0.845153168103713, 0.169030633620742, -1.70449013793188,
        2.35224506896594, 4.38061267241485, 1.37803407117342, 2.44426137773327,
        1.73344317336004, 3.88852275546655, 2.82229544890669, 1.40065904016021
    };
    near("y", 1e-9, y, 24, want);
    near("last", 1e-9, last(eddy_group_norm(last(x), 2, s, o, .data_format = "NWC")), 24, want);
    near("dx", 1e-9, counted(y, x), V(
        -1.43545697505368, -2.08164827128409, -0.825030197022846, -0.250367937191575,
        1.71920839119044, 2.87329498936175, 1.99576041518384, 2.39663080522114,
        2.33125135470242, -1.86985787983342, -2.42054105345478, -2.43324364181919,
        -4.81013086272754, -3.15121889172986, -4.94776713113853, 7.12825539392569,
        3.53515891510835, 2.2457025765619, 3.36890710142816, 7.51970628147762,
        5.0486810799335, -7.164297179291, -5.53315896699954, -3.23983831654873));
    near("dscale", 1e-9, counted(y, s), V(-16.3382513875834, 25.7977803351208, -16.1607602034534,
                                          20.9763209044442));
    IS(counted(y, o), 48, 66, 84, 102);
}
END_TEST

/* PyTorch: instance_norm. */
START_TEST(instances_are_those_of_pytorch)
{
    const eddy_tensor x = numbers(), s = scales(), o = offsets();
    const eddy_tensor y = eddy_instance_norm(x, s, o, .data_format = "NCW");
    const double want[] = {
        -0.980578978536464, 1.37281056995105, -0.392231591414586, 3.77745732347212,
        0.0741808921759612, -0.851638215648078, 2.43133086711743, 1.29908734093418,
        2.26958179194839, 3.56195126512619, 1.59512183718452, 3.84292689768929, 0,
        -1.22473568590839, 1.22473568590839, -1.67261027149185, 1.53452205429837,
        3.13808821719348, 1.46547794570163, 2.66815256787296, 1.86636948642541,
        4.16247568052752, 3.11624756805275, 1.72127675141973
    };
    near("y", 1e-9, y, 24, want);
    near("last", 1e-9, last(eddy_instance_norm(last(x), s, o)), 24, want);
    near("dscale", 1e-9, counted(y, s), V(1.81308307303027, 0.0908014747825798,
                                          0.478284931109491, 2.1602232965447));
    near("dx", 1e-9, eddy_slice(counted(y, x), EDDY_DIMS(1, 1, 0), EDDY_DIMS(1, 2, 3)), V(
        0.0572688394842414, -0.17181038418636, 0.114541544702118, -0.143175642299769,
        -0.0715876600776499, 0.214763302377419));
}
END_TEST

/* PyTorch: local_response_norm(x, 3, alpha=1.5, beta=0.75, k=2), whose alpha is divided by 3. */
START_TEST(neighbors_are_those_of_pytorch)
{
    const eddy_tensor x = numbers();
    const eddy_tensor y = last(eddy_local_response_normalization(last(x), 1, 2, 0.5, 0.75));
    near("y", 1e-9, y, V(
        0.0702482773323778, 0.483986352743651, 0.401759172982152, 0.375794983386581,
        0.387189082194921, 0.256854305097089, 0.322687029399342, 0, 0.536656314599949,
        0.162142308002564, 0.540693080696975, 0.103796952854774, 0.6204032394014,
        0.272424831811473, 0.280789128987781, 0.300848247446911, 0.323969548293623,
        0.419191391024908, 0.245648989813442, 0.337436376059321, 0.113214208910177,
        0.647322362276431, 0.320384538389665, 0.501382435920489));
    near("dx", 1e-9, counted(y, x), V(
        0.0496129213743975, -0.290391811646191, 0.302709189137827, -0.201199492082492,
        0.0967972705487303, -0.370877360134881, -0.305766075110328, 0.422300361704788,
        -0.599515734109878, 0.669369949141382, -0.283775518823315, 1.05509683537906,
        -1.15525727019614, 0.668160787371489, -0.0521090171535138, -0.256074259501296,
        -0.821190746653907, -0.668551114536401, 1.46646299058382, -1.23953660503994,
        -0.184157796133511, 1.29643898839567, 0.321230915804466, -0.594290103068905));
}
END_TEST

/* PyTorch: _weight_norm along the last axis, and rms_norm by its formula. */
START_TEST(weights_and_rows_are_those_of_pytorch)
{
    const eddy_tensor v = shaped(F64, EDDY_SHAPE(2, 3), (double[]){ 1, 2, 3, -4, 5, .5 });
    const eddy_tensor g_ = vec(F64, V(1, 2, -1)), w = eddy_weight_norm(v, g_, -1);
    const eddy_tensor x = numbers(), y = eddy_rms_norm(x, vec(F64, V(1, 2, 3)));
    near("w", 1e-9, w, V(0.242535625036333, 0.742781352708207, -0.986393923832144,
                         -0.970142500145332, 1.85695338177052, -0.164398987305357));
    near("dv", 1e-9, counted(w, v), V(0.456537647127215, 0, 0.293252247625773, 0.114134411781804,
                                      0, -1.75951348575463));
    near("dg", 1e-9, counted(w, g_), V(-3.63803437554499, 5.3851648071345, 3.94557569532857));
    IS(eddy_weight_norm(vec(F64, V(2, -4)), vec(F64, V(3, 5)), 0), 3, -5);
    near("y", 1e-9, eddy_slice(y, EDDY_DIMS(0, 0, 0), EDDY_DIMS(1, 2, 3)), V(
        0.316227750205451, 3.16227750205451, 1.8973665012327, 1.4687761225144, 1.4687761225144,
        1.6523731378287));
    near("dx", 1e-9, eddy_slice(counted(y, x), EDDY_DIMS(1, 3, 0), EDDY_DIMS(1, 1, 3)), V(
        0.864757057409563, 0.675591580871063, -0.567496429615501));
}
END_TEST

/* ------------------------------------------------------------------ loops -- */

/* y by the formula, for [batch, places, channels]. */
static void reference(const int64_t *n, int64_t groups, const double *x, double *y)
{
    const int64_t each = n[2] / groups;
    for (int64_t b = 0; b < n[0]; b++)
        for (int64_t k = 0; k < groups; k++) {
            double sum = 0, squares = 0;
            for (int64_t i = 0; i < n[1] * each; i++)
                sum += x[(b * n[1] + i / each) * n[2] + k * each + i % each];
            const double mean = sum / (double)(n[1] * each);
            for (int64_t i = 0; i < n[1] * each; i++) {
                const double off = x[(b * n[1] + i / each) * n[2] + k * each + i % each] - mean;
                squares += off * off;
            }
            const double rstd = 1 / sqrt(squares / (double)(n[1] * each) + 1e-5);
            for (int64_t i = 0; i < n[1] * each; i++) {
                const int64_t at = (b * n[1] + i / each) * n[2] + k * each + i % each;
                y[at] = (x[at] - mean) * rstd;
            }
        }
}

START_TEST(groups_are_those_of_plain_loops)
{
    static const int64_t groups[] = { 1, 2, 3, 4, 6, 12 };
    trial            t = trial_begin((unsigned)_i);
    const int64_t    k = groups[_i % 6];
    const eddy_shape s = EDDY_SHAPE(pick(&t, 4), 1 + pick(&t, 3), 1 + pick(&t, 4), 12);
    const int64_t    n[] = { s.dim[0], s.dim[1] * s.dim[2], 12 };
    const int64_t    count = eddy_shape_count(s);
    const eddy_dtype d = _i % 2 ? F32 : F64;
    g = t.graph;
    double *x = calloc((size_t)count + 1, sizeof *x), *y = calloc((size_t)count + 1, sizeof *y);
    for (int64_t i = 0; i < count; i++) x[i] = uniform(-2, 3);
    reference(n, k, x, y);
    eddy_array       *a = array(d, s, x);
    const eddy_shape  open = EDDY_SHAPE(EDDY_ANY, EDDY_ANY, EDDY_ANY, 12);
    const eddy_tensor in = eddy_placeholder(g, "x", d, open);
    const eddy_tensor out = _i % 6 == 5 ? eddy_instance_norm(in) : eddy_group_norm(in, k);
    eddy_array *got = NULL;
    ck_assert_int_eq(eddy_run(t.session, EDDY_FEED({ in, a }), EDDY_FETCH(out), &got), EDDY_OK);
    for (int64_t i = 0; i < count; i++)
        ck_assert(close_to(eddy_array_get(got, i), y[i], d == F32 ? 1e-5 : 1e-12));
    eddy_array_free(got), eddy_array_free(a), free(x), free(y);
    trial_end(&t);
    g = NULL;
}
END_TEST

/* ------------------------------------------------------------------ noise -- */

typedef struct moments {
    double mean, variance;
    int64_t zeros;
} moments;

static moments moments_of(eddy_tensor t)
{
    eddy_array *a = NULL;
    ck_assert_int_eq(evaluate(t, 0, NULL, &a), EDDY_OK);
    moments       m = { 0 };
    const int64_t n = eddy_array_count(a);
    for (int64_t i = 0; i < n; i++) m.mean += eddy_array_get(a, i) / (double)n;
    for (int64_t i = 0; i < n; i++) {
        const double v = eddy_array_get(a, i);
        m.variance += (v - m.mean) * (v - m.mean) / (double)n;
        m.zeros += v == 0;
    }
    eddy_array_free(a);
    return m;
}

/* 2^16 numbers of mean 0 and variance 1. */
static eddy_tensor normal(eddy_dtype d)
{
    return eddy_random_normal(g, EDDY_SHAPE(64, 32, 32), .dtype = d, .seed = 3);
}

START_TEST(whole_channels_are_dropped)
{
    const eddy_tensor ones = eddy_ones(g, F32, EDDY_SHAPE(50, 3, 2, 40));
    const eddy_tensor y = eddy_spatial_dropout(ones, 0.75);
    const eddy_tensor second = eddy_spatial_dropout(ones, 0.75, "NCHW");
    const eddy_tensor by = Mean(y, .axes = EDDY_AXES(1, 2));
    const moments m = moments_of(y), of = moments_of(by);
    ck_assert_double_eq_tol(m.mean, 1, 0.2);
    ck_assert_double_eq_tol(m.variance, 3, 0.6);
    ck_assert_double_eq_tol(of.variance, m.variance, 1e-5);
    ck_assert_double_eq_tol(moments_of(Mean(second, .axes = EDDY_AXES(2, 3))).variance, 3, 1.5);
    ck_assert(eddy_same(eddy_spatial_dropout(ones, 0), ones));
}
END_TEST

START_TEST(mean_and_variance_stay)
{
    const eddy_tensor x = normal(_i ? F32 : F64), y = eddy_alpha_dropout(x, 0.3, .seed = 9);
    const moments m = moments_of(y);
    ck_assert_double_eq_tol(m.mean, 0, 0.03);
    ck_assert_double_eq_tol(m.variance, 1, 0.03);
    /* what is dropped has no gradient, and all else the factor a */
    const double least = -1.7580993408473766, a = 1 / sqrt(0.7 * (1 + 0.3 * least * least));
    const moments of = moments_of(slope(y, x));
    ck_assert_double_eq_tol((double)of.zeros, 65536 * 0.3, 800);
    ck_assert_double_eq_tol(of.mean, 0.7 * a, 0.01);
    ck_assert(eddy_same(eddy_alpha_dropout(x, 0), x));
}
END_TEST

START_TEST(noise_is_normal)
{
    const eddy_tensor x = Mul(2, eddy_ones(g, F32, EDDY_SHAPE(65536)));
    const moments m = moments_of(eddy_gaussian_noise(x, 0.5)), of =
                  moments_of(eddy_gaussian_dropout(x, 0.2));
    ck_assert_double_eq_tol(m.mean, 2, 0.02);
    ck_assert_double_eq_tol(m.variance, 0.25, 0.01);
    ck_assert_double_eq_tol(of.mean, 2, 0.02);
    ck_assert_double_eq_tol(of.variance, 1, 0.04);        /* 4 * 0.2 / 0.8 */
    ck_assert_double_eq_tol(moments_of(slope(eddy_gaussian_dropout(x, 0.2), x)).mean, 1, 0.02);
    ck_assert(eddy_same(eddy_gaussian_noise(x, 0), x));
    ck_assert(eddy_same(eddy_gaussian_dropout(x, 0), x));
}
END_TEST

/* ---------------------------------------------------------------- corners -- */

START_TEST(no_tensor_is_no_crash)
{
    const eddy_tensor none = { 0 };
    const eddy_tensor made[] = {
        eddy_group_norm(none, 2), eddy_instance_norm(none), eddy_rms_norm(none),
        eddy_weight_norm(none, none, 0), eddy_local_response_normalization(none),
        eddy_spatial_dropout(none, 0.5), eddy_alpha_dropout(none, 0.5),
        eddy_gaussian_noise(none, 1), eddy_gaussian_dropout(none, 0.5),
        eddy_pool(none, EDDY_DIMS(2), "MAX"), eddy_max_pool1d(none, EDDY_DIMS(2)),
        eddy_avg_pool1d(none, EDDY_DIMS(2), .data_format = "NCW"),
        eddy_max_pool3d(none, EDDY_DIMS(2)), eddy_lp_pool(none, 2, EDDY_DIMS(2)),
        eddy_avg_pool3d(none, EDDY_DIMS(2), .data_format = "NCDHW"),
        eddy_adaptive_avg_pool(none, EDDY_DIMS(2)), eddy_adaptive_max_pool(none, EDDY_DIMS(2)),
        eddy_global_max_pool(none), eddy_global_average_pool(none),
        eddy_max_pool_with_argmax(none, EDDY_DIMS(2)),
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) ck_assert(!eddy_is_valid(made[i]));
}
END_TEST

/* Vectors of another graph or that do not exist are refused, as everywhere. */
START_TEST(vectors_of_other_graphs_are_refused)
{
    eddy_graph *other = eddy_graph_new();
    const eddy_tensor x = numbers(), foreign = eddy_ones(other, F64, EDDY_SHAPE(3));
    const eddy_tensor gone = { .graph = g, .node = 12345 };
    ck_assert(!eddy_is_valid(eddy_group_norm(x, 3, foreign)));
    ck_assert_int_ne(eddy_graph_status(g), EDDY_OK);
    eddy_graph_clear_error(g);
    ck_assert(!eddy_is_valid(eddy_instance_norm(x, .offset = gone)));
    ck_assert_int_ne(eddy_graph_status(g), EDDY_OK);
    eddy_graph_clear_error(g);
    ck_assert(!eddy_is_valid(eddy_rms_norm(x, gone)));
    ck_assert_int_ne(eddy_graph_status(g), EDDY_OK);
    eddy_graph_free(other);
}
END_TEST

Suite *group_norm_suite(void)
{
    Suite *s = suite_create("group_norm");
    TCase *loops = tcase_create("loops"), *t = tcase_create("group_norm");
    tcase_add_loop_test(loops, groups_are_those_of_plain_loops, 0, 24);
    suite_add_tcase(s, loops);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, groups_are_those_of_pytorch);
    tcase_add_test(t, instances_are_those_of_pytorch);
    tcase_add_test(t, neighbors_are_those_of_pytorch);
    tcase_add_test(t, weights_and_rows_are_those_of_pytorch);
    tcase_add_test(t, whole_channels_are_dropped);
    tcase_add_loop_test(t, mean_and_variance_stay, 0, 2);
    tcase_add_test(t, noise_is_normal);
    tcase_add_test(t, no_tensor_is_no_crash);
    tcase_add_test(t, vectors_of_other_graphs_are_refused);
    suite_add_tcase(s, t);
    return s;
}
