/* test_tensor_arrays.c -- arrays of tensors outside of loops: TensorFlow's public cases, and what
 * differs. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/finite_differences.h"

typedef eddy_tensor_array array;

static eddy_tensor at(trial *t, int i) { return whole(t, i); }
static array write_at(trial *t, array a, int i, eddy_tensor v)
{
    return eddy_tensor_array_write(a, at(t, i), v);
}
static eddy_tensor read_at(trial *t, array a, int i) { return eddy_tensor_array_read(a, at(t, i)); }
static eddy_tensor ints_of(trial *t, int n, const int *v)
{
    return eddy_const(t->graph, I32, EDDY_SHAPE(n), v);
}
static eddy_tensor matrix(trial *t, int m, int n, const double *v)
{
    return eddy_set_shape(given(t, F64, EDDY_SHAPE(m, n), v), EDDY_SHAPE(m, n));
}
#define N(...) (int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)), (int[]){ __VA_ARGS__ }

/* A fed vector of known length. */
static eddy_tensor vec(trial *t, int n, const double *v)
{
    return eddy_set_shape(numbers(t, n, v), EDDY_SHAPE(n));
}
/* Three elements of one row of two. */
static array three(trial *t, eddy_tensor *rows)
{
    const double v[3][2] = { { 4, 5 }, { 1, 3 }, { 7, -8.5 } };
    array        a = eddy_tensor_array_new(t->graph, F64, 3, .name = "three");
    for (int i = 0; i < 3; i++) a = write_at(t, a, i, rows[i] = vec(t, 2, v[i]));
    return a;
}

/* ------------------------------------------------------------ write, read -- */

/* tf: testTensorArrayWriteRead of every type */
START_TEST(write_read)
{
    static const eddy_dtype types[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64,
                                        EDDY_COMPLEX64, EDDY_COMPLEX128, EDDY_UINT8, EDDY_BOOL,
                                        EDDY_FLOAT16 };
    trial       t = trial_begin((unsigned)_i);
    for (size_t d = 0; d < sizeof types / sizeof *types; d++) {
        array a = eddy_tensor_array_new(t.graph, types[d], 3, .name = "foo");
        for (int i = 0; i < 3; i++)
            a = write_at(&t, a, 2 - i, Cast(vec(&t, V(i == 1, i != 1)), types[d]));
        const eddy_tensor y = read_at(&t, a, 1);
        ck_assert_int_eq(eddy_dtype_of(y), types[d]);
        is(&t, Cast(Real(Cast(y, EDDY_COMPLEX128)), F64), V(1, 0));
        is(&t, Cast(Real(Cast(read_at(&t, a, 0), EDDY_COMPLEX128)), F64), V(0, 1));
    }
    trial_end(&t);
}
END_TEST

/* tf: testTensorArrayWritePack, testTensorArrayWriteConcat */
START_TEST(stack_and_concat)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor r[3];
    array       a = three(&t, r);
    is(&t, eddy_tensor_array_stack(a), V(4, 5, 1, 3, 7, -8.5));
    is_shaped(&t, eddy_tensor_array_stack(a), EDDY_SHAPE(3, 2));
    is(&t, eddy_tensor_array_concat(a), V(4, 5, 1, 3, 7, -8.5));
    is_shaped(&t, eddy_tensor_array_concat(a), EDDY_SHAPE(6));
    array b = eddy_tensor_array_new(t.graph, F64, 2);
    b = write_at(&t, b, 0, matrix(&t, 1, 2, (double[]){ 1, 2 }));
    b = write_at(&t, b, 1, matrix(&t, 1, 2, (double[]){ 3, 4 }));
    is_shaped(&t, eddy_tensor_array_concat(b), EDDY_SHAPE(2, 2));
    trial_end(&t);
}
END_TEST

/* tf: testEmptyTensorArrayPack, testTensorArrayEvalEmpty, testTensorArrayEvalEmptyWithDefault */
START_TEST(empty_arrays)
{
    trial t = trial_begin((unsigned)_i);
    array a = eddy_tensor_array_new(t.graph, F64, 3, .element_shape = &EDDY_SHAPE(0, 1));
    is_shaped(&t, eddy_tensor_array_stack(a), EDDY_SHAPE(3, 0, 1));
    is_shaped(&t, eddy_tensor_array_concat(a), EDDY_SHAPE(0, 1));
    array b = eddy_tensor_array_new(t.graph, F64, 0, .element_shape = &EDDY_SHAPE(5));
    is_shaped(&t, eddy_tensor_array_stack(b), EDDY_SHAPE(0, 5));
    is(&t, eddy_tensor_array_size(b), V(0));
    b = eddy_tensor_array_unstack(b, given(&t, F64, EDDY_SHAPE(0, 5), NULL));
    is_shaped(&t, eddy_tensor_array_stack(b), EDDY_SHAPE(0, 5));
    array c = eddy_tensor_array_new(t.graph, F64, 0, .dynamic_size = true,
                                    .element_shape = &EDDY_SHAPE(1));
    is_shaped(&t, eddy_tensor_array_stack(c), EDDY_SHAPE(0, 1));
    trial_end(&t);
}
END_TEST

/* tf: testTensorArrayUnpackRead, with vectors, scalars and matrices */
START_TEST(unstack_read)
{
    trial t = trial_begin((unsigned)_i);
    array a = eddy_tensor_array_new(t.graph, F64, 3, .name = "foo");
    array s = eddy_tensor_array_unstack(a, numbers(&t, V(1, 2, 3)));
    for (int i = 0; i < 3; i++) is(&t, read_at(&t, s, i), V(i + 1));
    array m = eddy_tensor_array_unstack(a, given(&t, F64, EDDY_SHAPE(3, 2),
                                                 (double[]){ 1, -1, 2, -2, 3, -3 }));
    for (int i = 0; i < 3; i++) is(&t, read_at(&t, m, i), V(i + 1, -i - 1));
    array z = eddy_tensor_array_unstack(a, given(&t, F64, EDDY_SHAPE(3, 0), NULL));
    for (int i = 0; i < 3; i++) is_shaped(&t, read_at(&t, z, i), EDDY_SHAPE(0));
    trial_end(&t);
}
END_TEST

/* Fewer rows than elements: the others are zero and can still be written. */
START_TEST(unstack_of_fewer_rows)
{
    trial t = trial_begin((unsigned)_i);
    array a = eddy_tensor_array_new(t.graph, F64, 3);
    a = eddy_tensor_array_unstack(a, vec(&t, V(1, 2)));
    is(&t, eddy_tensor_array_stack(a), V(1, 2, 0));
    a = write_at(&t, a, 2, constant(&t, 5));
    is(&t, eddy_tensor_array_stack(a), V(1, 2, 5));
    trial_end(&t);
}
END_TEST

/* tf: testTensorArraySplitRead; elements have one shape */
START_TEST(split_read)
{
    trial t = trial_begin((unsigned)_i);
    array a = eddy_tensor_array_new(t.graph, F64, 3, .name = "foo");
    array v = eddy_tensor_array_split(a, vec(&t, V(1, 2, 3, 4, 5, 6)), ints_of(&t, N(2, 2, 2)));
    for (int i = 0; i < 3; i++) is(&t, read_at(&t, v, i), V(2 * i + 1, 2 * i + 2));
    array e = eddy_tensor_array_split(a, vec(&t, 0, NULL), ints_of(&t, N(0, 0, 0)));
    for (int i = 0; i < 3; i++) is_shaped(&t, read_at(&t, e, i), EDDY_SHAPE(0));
    array m = eddy_tensor_array_split(a, matrix(&t, 3, 2, (double[]){ 1, 101, 2, 201, 3, 301 }),
                                      ints_of(&t, N(1, 1, 1)));
    for (int i = 0; i < 3; i++) is(&t, read_at(&t, m, i), V(i + 1, 100 * (i + 1) + 1));
    is_shaped(&t, read_at(&t, m, 1), EDDY_SHAPE(1, 2));
    trial_end(&t);
}
END_TEST

/* tf: testTensorArrayReadTwice with clear_after_read=False, testSizeTensorArray; an element that
 * nothing was written to is zero */
START_TEST(read_twice_and_size)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor r[3];
    array       a = three(&t, r);
    is(&t, Add(read_at(&t, a, 1), read_at(&t, a, 1)), V(2, 6));
    is(&t, eddy_tensor_array_size(a), V(3));
    array b = eddy_tensor_array_new(t.graph, F64, 3);
    b = write_at(&t, b, 1, r[0]);
    is(&t, read_at(&t, b, 0), V(0, 0)), is(&t, eddy_tensor_array_stack(b), V(0, 0, 4, 5, 0, 0));
    trial_end(&t);
}
END_TEST

/* An array is a value: the one before a write is unchanged, and two can follow it. */
START_TEST(older_arrays_stay)
{
    trial t = trial_begin((unsigned)_i);
    array a = eddy_tensor_array_new(t.graph, F64, 2, .element_shape = &(eddy_shape){ .rank = 0 });
    array b = write_at(&t, a, 0, fed_real(&t, 3)), c = write_at(&t, a, 0, fed_real(&t, 4));
    array d = write_at(&t, b, 1, fed_real(&t, 5));
    is(&t, eddy_tensor_array_stack(a), V(0, 0)), is(&t, eddy_tensor_array_stack(b), V(3, 0));
    is(&t, eddy_tensor_array_stack(c), V(4, 0)), is(&t, eddy_tensor_array_stack(d), V(3, 5));
    trial_end(&t);
}
END_TEST

/* tf: testMultiTensorArray */
START_TEST(two_arrays)
{
    trial t = trial_begin((unsigned)_i);
    array a = eddy_tensor_array_new(t.graph, F64, 1, .name = "foo");
    array b = eddy_tensor_array_new(t.graph, F64, 1, .name = "bar");
    a = write_at(&t, a, 0, fed_real(&t, 4)), b = write_at(&t, b, 0, fed_real(&t, 5));
    is(&t, Add(read_at(&t, a, 0), read_at(&t, b, 0)), V(9));
    trial_end(&t);
}
END_TEST

/* tf: testTensorArrayScatterRead, testTensorArrayGather */
START_TEST(scatter_and_gather)
{
    trial t = trial_begin((unsigned)_i);
    array a = eddy_tensor_array_new(t.graph, F64, 10, .name = "foo");
    a = eddy_tensor_array_scatter(a, ints_of(&t, N(1, 8)), matrix(&t, 2, 2,
                                                                  (double[]){ 1, -1, 10, -10 }));
    is(&t, read_at(&t, a, 1), V(1, -1)), is(&t, read_at(&t, a, 8), V(10, -10));
    is(&t, eddy_tensor_array_gather(a, ints_of(&t, N(8, 0, 1, 8))),
       V(10, -10, 0, 0, 1, -1, 10, -10));
    is_shaped(&t, eddy_tensor_array_gather(a, ints_of(&t, 0, NULL)), EDDY_SHAPE(0, 2));
    const eddy_tensor fed = given(&t, I32, EDDY_SHAPE(2), (double[]){ 0, 3 });
    a = eddy_tensor_array_scatter(a, fed, matrix(&t, 2, 2, (double[]){ 1, 2, 3, 4 }));
    is(&t, eddy_tensor_array_gather(a, fed), V(1, 2, 3, 4));
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------------ shapes -- */

static void has_shape(eddy_tensor y, eddy_shape want)
{
    char one[64], other[64];
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(y), one, sizeof one),
                     eddy_shape_print(want, other, sizeof other));
}

/* tf: testWriteShape, testReadShape, testStackShape, testPartlyUnknownShape, testUnpackShape,
 * testSplitShape */
START_TEST(static_shapes)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_graph *g = t.graph;
    array       a = eddy_tensor_array_new(g, F64, 3);
    a = write_at(&t, a, 0, vec(&t, V(4, 5)));
    has_shape(read_at(&t, a, 0), EDDY_SHAPE(2));
    has_shape(eddy_tensor_array_stack(a), EDDY_SHAPE(3, 2));
    const eddy_shape partly = EDDY_SHAPE(EDDY_ANY, 2);
    const eddy_tensor x = eddy_placeholder(g, NULL, F64, partly);
    array             b = eddy_tensor_array_new(g, F64, 3, .element_shape = &partly);
    b = write_at(&t, b, 0, x);
    has_shape(read_at(&t, b, 0), partly);
    has_shape(eddy_tensor_array_concat(b), partly);
    array c = eddy_tensor_array_new(g, F64, 2, .element_shape = &partly);
    c = eddy_tensor_array_unstack(c, eddy_placeholder(g, NULL, F64, EDDY_SHAPE(2, 5, 2)));
    has_shape(read_at(&t, c, 1), EDDY_SHAPE(5, 2));
    array d = eddy_tensor_array_split(eddy_tensor_array_new(g, F64, 2),
                                      eddy_placeholder(g, NULL, F64, EDDY_SHAPE(6, 5)),
                                      ints_of(&t, N(3, 3)));
    has_shape(read_at(&t, d, 0), EDDY_SHAPE(3, 5));
    trial_end(&t);
}
END_TEST

/* tf: testWriteUnknownShape; an element with the shape of a fed tensor, and as many as that has
 * rows */
START_TEST(shapes_of_runs)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = eddy_placeholder(t.graph, NULL, F64, EDDY_UNKNOWN_SHAPE);
    t.tensor[t.n] = x, t.array[t.n++] = eddy_array_copy_of(F64, EDDY_SHAPE(3, 2),
                                                           (double[]){ 1, 2, 3, 4, 5, 6 });
    const eddy_tensor n = eddy_index(eddy_shape_tensor(x, I32), "0");
    array a = eddy_tensor_array_new(t.graph, F64, .size_tensor = n, .like = x);
    a = write_at(&t, a, 1, x);
    is_shaped(&t, eddy_tensor_array_stack(a), EDDY_SHAPE(3, 3, 2));
    is(&t, Sum(eddy_tensor_array_stack(a)), V(21)), is(&t, eddy_tensor_array_size(a), V(3));
    array b = eddy_tensor_array_new(t.graph, F64, 2);
    b = write_at(&t, b, 0, x), b = write_at(&t, b, 1, Mul(x, 2));
    is(&t, read_at(&t, b, 1), V(2, 4, 6, 8, 10, 12));
    is_shaped(&t, eddy_tensor_array_concat(b), EDDY_SHAPE(6, 2));
    array c = eddy_tensor_array_unstack(eddy_tensor_array_new(t.graph, F64, .size_tensor = n),
                                        eddy_set_shape(x, EDDY_SHAPE(EDDY_ANY, EDDY_ANY)));
    is(&t, read_at(&t, c, 2), V(5, 6)), is_shaped(&t, eddy_tensor_array_stack(c), EDDY_SHAPE(3, 2));
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------ dynamic size -- */

/* tf: testTensorArrayDynamic, testTensorArrayUnpackDynamic, testTensorArraySplitDynamic */
START_TEST(dynamic_size)
{
    trial t = trial_begin((unsigned)_i);
    array a = eddy_tensor_array_new(t.graph, F64, 3, .dynamic_size = true);
    is(&t, eddy_tensor_array_size(a), V(3));
    a = eddy_tensor_array_unstack(a, vec(&t, V(1, 2, 3)));
    a = write_at(&t, a, 3, constant(&t, 4)), a = write_at(&t, a, 5, constant(&t, 6));
    is(&t, eddy_tensor_array_stack(a), V(1, 2, 3, 4, 0, 6));
    is(&t, eddy_tensor_array_size(a), V(6));
    array b = eddy_tensor_array_new(t.graph, F64, 0, .dynamic_size = true);
    b = eddy_tensor_array_split(b, vec(&t, V(1, 2, 3, 4)), ints_of(&t, N(2, 2)));
    b = write_at(&t, b, 2, vec(&t, V(5, 6)));
    is(&t, eddy_tensor_array_concat(b), V(1, 2, 3, 4, 5, 6));
    array c = eddy_tensor_array_new(t.graph, F64, 1, .dynamic_size = true);
    c = eddy_tensor_array_scatter(c, ints_of(&t, N(4, 2)), vec(&t, V(7, 8)));
    is(&t, eddy_tensor_array_stack(c), V(0, 0, 8, 0, 7));
    trial_end(&t);
}
END_TEST

/* At indices that only a run knows, the size is the number of written elements. */
START_TEST(dynamic_size_of_a_run)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor i = integer(&t, 4);
    array a = eddy_tensor_array_new(t.graph, F64, 2, .dynamic_size = true, .capacity = 8);
    is(&t, eddy_tensor_array_size(a), V(2));
    a = write_at(&t, a, 0, constant(&t, 1));
    a = eddy_tensor_array_write(a, i, fed_real(&t, 3));
    is(&t, eddy_tensor_array_size(a), V(5)), is(&t, eddy_tensor_array_stack(a), V(1, 0, 0, 0, 3));
    refeed(&t, i, 1);
    is(&t, eddy_tensor_array_size(a), V(2)), is(&t, eddy_tensor_array_stack(a), V(1, 3));
    refeed(&t, i, 8);
    check_run_fails(&t, eddy_tensor_array_stack(a), EDDY_OUT_OF_RANGE, "its capacity is: 8");
    trial_end(&t);
}
END_TEST

/* --------------------------------------------------------------- gradients -- */

/* tf: testTensorArrayGradientWriteRead: the gradients of two reads add up */
START_TEST(gradient_of_write_read)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor v0 = matrix(&t, 1, 2, (double[]){ 4, 5 }), v1 = fed_real(&t, 3), d[2];
    array       a = eddy_tensor_array_new(t.graph, F64, 2), b = a;
    a = write_at(&t, a, 0, eddy_reshape(v0, EDDY_SHAPE(2)));
    a = write_at(&t, a, 1, eddy_stack(EDDY_LIST(v1, v1)));
    const eddy_tensor r0 = read_at(&t, a, 0), again = read_at(&t, a, 0), r1 = read_at(&t, a, 1);
    eddy_gradients(EDDY_LIST(r0, again, r1), EDDY_LIST(v0, v1), d,
                   .grad_ys = EDDY_LIST(vec(&t, V(2, 3)), vec(&t, V(1, -1)), vec(&t, V(-2, 4))));
    is(&t, d[0], V(3, 2)), is(&t, d[1], V(2));
    b = write_at(&t, b, 0, v1);
    is(&t, slope(Mul(read_at(&t, b, 0), read_at(&t, b, 0)), v1), V(6));
    trial_end(&t);
}
END_TEST

/* tf: testTensorArrayGradientWritePackConcatAndRead, testTensorArrayWriteGradientAddMultipleAdds */
START_TEST(gradient_of_stack_concat_read)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor v = vec(&t, V(4, 5)), w = vec(&t, V(3, -1)), d[2];
    array       a = eddy_tensor_array_new(t.graph, F64, 2);
    a = write_at(&t, a, 0, v), a = write_at(&t, a, 1, w);
    const eddy_tensor p = eddy_tensor_array_stack(a), r = read_at(&t, a, 0),
                      c = eddy_tensor_array_concat(a);
    const eddy_tensor dp = matrix(&t, 2, 2, (double[]){ 1e-3, 2e-3, 3e-3, 4e-3 });
    eddy_gradients(EDDY_LIST(p, r, c), EDDY_LIST(v, w), d,
                   .grad_ys = EDDY_LIST(dp, vec(&t, V(1, -1)), vec(&t, V(10, 20, 30, 40))));
    is(&t, d[0], V(11.001, 19.002)), is(&t, d[1], V(30.003, 40.004));
    trial_end(&t);
}
END_TEST

/* tf: testTensorArrayGradientUnpackRead, testTensorArrayGradientDynamicUnpackRead,
 * testGradientWhenNotAllComponentsRead */
START_TEST(gradient_of_unstack)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = matrix(&t, 2, 2, (double[]){ 3, -3, 5, 7 }), d[1], r[3];
    const bool  grows = _i % 2;
    array       a = eddy_tensor_array_new(t.graph, F64, grows ? 0 : 2, .dynamic_size = grows);
    a = eddy_tensor_array_unstack(a, x);
    for (int i = 0; i < 3; i++) r[i] = read_at(&t, a, i == 2);
    const eddy_tensor dr[3] = { vec(&t, V(1, -1)), vec(&t, V(4, 2)), vec(&t, V(-2, 4)) };
    eddy_gradients(((eddy_list){ 3, r }), EDDY_LIST(x), d, .grad_ys = ((eddy_list){ 3, dr }));
    is(&t, d[0], V(5, 1, -2, 4));
    array b = eddy_tensor_array_unstack(eddy_tensor_array_new(t.graph, F64, 2), x);
    is(&t, slope(Square(read_at(&t, b, 0)), x), V(6, -6, 0, 0));
    trial_end(&t);
}
END_TEST

/* tf: testTensorArrayGradientSplitConcat, testTensorGradArrayWriteRead */
START_TEST(gradient_of_split_concat)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = matrix(&t, 4, 2, (double[]){ 3, -3, 5, 7, 1, 2, 0, 4 }), d[1];
    array       a = eddy_tensor_array_new(t.graph, F64, 2);
    a = eddy_tensor_array_split(a, x, ints_of(&t, N(2, 2)));
    const eddy_tensor dy = matrix(&t, 4, 2, (double[]){ 20, -30, 40, 50, 60, 70, 80, 90 });
    eddy_gradients(EDDY_LIST(eddy_tensor_array_concat(a)), EDDY_LIST(x), d,
                   .grad_ys = EDDY_LIST(dy));
    is(&t, d[0], V(20, -30, 40, 50, 60, 70, 80, 90));
    trial_end(&t);
}
END_TEST

/* tf: testTensorArrayScatterReadAndGradients, testTensorArrayScatterPartialReadAndGradients,
 * testTensorArrayWriteGatherAndGradients */
START_TEST(gradient_of_scatter_gather)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = matrix(&t, 2, 2, (double[]){ 1, -1, 10, -10 }), d[1];
    array a = eddy_tensor_array_new(t.graph, F64, 10, .dynamic_size = true);
    a = eddy_tensor_array_scatter(a, ints_of(&t, N(1, 8)), x);
    const eddy_tensor r[2] = { read_at(&t, a, 1), read_at(&t, a, 8) };
    const eddy_tensor dr[2] = { vec(&t, V(2, 3)), vec(&t, V(4, 5)) };
    eddy_gradients(((eddy_list){ 2, r }), EDDY_LIST(x), d, .grad_ys = ((eddy_list){ 2, dr }));
    is(&t, d[0], V(2, 3, 4, 5));
    eddy_gradients(EDDY_LIST(r[1]), EDDY_LIST(x), d, .grad_ys = EDDY_LIST(dr[0]));
    is(&t, d[0], V(0, 0, 2, 3));
    const eddy_tensor g = eddy_tensor_array_gather(a, ints_of(&t, N(8, 0, 8)));
    is(&t, slope(Mul(g, matrix(&t, 3, 2, (double[]){ 1, 2, 3, 4, 5, 6 })), x), V(0, 0, 6, 8));
    trial_end(&t);
}
END_TEST

/* tf: testTensorArrayGradGrad */
START_TEST(second_derivatives)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_numbers(&t, EDDY_SHAPE(3, 2), -1, 1), i = integer(&t, 1);
    eddy_tensor rows = eddy_set_shape(x, EDDY_SHAPE(3, 2));
    array a = eddy_tensor_array_unstack(eddy_tensor_array_new(t.graph, F64, 3), rows);
    array b = eddy_tensor_array_new(t.graph, F64, 4);
    const eddy_tensor r = eddy_tensor_array_read(a, i);
    b = eddy_tensor_array_write(b, i, Mul(Sin(r), read_at(&t, a, 0)));
    b = eddy_tensor_array_write(b, Add(i, 1), Square(eddy_tensor_array_read(b, i)));
    b = eddy_tensor_array_scatter(b, ints_of(&t, N(3, 0)),
                                  eddy_tensor_array_gather(a, ints_of(&t, N(0, 2))));
    check_slopes(&t, Mul(eddy_tensor_array_stack(b), eddy_tensor_array_stack(b)), 1, &x, 3);
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------ other rules -- */

static int mapped(eddy_list in, eddy_tensor *y, void *context)
{
    array a = eddy_tensor_array_new(in.at[0].graph, F64, 3);
    (void)context;
    a = eddy_tensor_array_write(a, in.at[1], Sin(in.at[0]));
    a = eddy_tensor_array_write(a, Sub(2, in.at[1]), in.at[0]);
    y[0] = eddy_tensor_array_stack(a);
    y[1] = eddy_tensor_array_read(a, in.at[1]);
    return 2;
}

/* One array for each example. */
START_TEST(maps)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, V(1, 2, 3)), y[2];
    const eddy_tensor i = given(&t, I32, EDDY_SHAPE(3), (double[]){ 0, 2, 0 });
    ck_assert_int_eq(eddy_vmap(PLAIN(mapped), EDDY_LIST(x, i), y), 2);
    is(&t, y[0], V(sin(1), 0, 1, 2, 0, sin(2), sin(3), 0, 3));
    is(&t, y[1], V(sin(1), sin(2), sin(3)));
    is(&t, slope(y[0], x), V(1 + cos(1), 1 + cos(2), 1 + cos(3)));
    trial_end(&t);
}
END_TEST

Suite *tensor_arrays_suite(void)
{
    Suite *s = suite_create("tensor_arrays");
    TCase *c = tcase_create("elements");
    tcase_add_loop_test(c, write_read, 0, SEEDS);
    tcase_add_loop_test(c, stack_and_concat, 0, SEEDS);
    tcase_add_loop_test(c, empty_arrays, 0, SEEDS);
    tcase_add_loop_test(c, unstack_read, 0, SEEDS);
    tcase_add_loop_test(c, unstack_of_fewer_rows, 0, SEEDS);
    tcase_add_loop_test(c, split_read, 0, SEEDS);
    tcase_add_loop_test(c, read_twice_and_size, 0, SEEDS);
    tcase_add_loop_test(c, older_arrays_stay, 0, SEEDS);
    tcase_add_loop_test(c, two_arrays, 0, SEEDS);
    tcase_add_loop_test(c, scatter_and_gather, 0, SEEDS);
    tcase_add_loop_test(c, static_shapes, 0, SEEDS);
    tcase_add_loop_test(c, shapes_of_runs, 0, SEEDS);
    tcase_add_loop_test(c, dynamic_size, 0, SEEDS);
    tcase_add_loop_test(c, dynamic_size_of_a_run, 0, SEEDS);
    suite_add_tcase(s, c);
    c = tcase_create("gradients");
    tcase_add_loop_test(c, gradient_of_write_read, 0, SEEDS);
    tcase_add_loop_test(c, gradient_of_stack_concat_read, 0, SEEDS);
    tcase_add_loop_test(c, gradient_of_unstack, 0, SEEDS);
    tcase_add_loop_test(c, gradient_of_split_concat, 0, SEEDS);
    tcase_add_loop_test(c, gradient_of_scatter_gather, 0, SEEDS);
    tcase_add_loop_test(c, second_derivatives, 0, SEEDS);
    tcase_add_loop_test(c, maps, 0, SEEDS);
    suite_add_tcase(s, c);
    return s;
}
