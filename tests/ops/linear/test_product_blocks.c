/* test_product_blocks.c -- products of small whole numbers that are so large that they are computed
 * in blocks, or so thin that they are computed by vectors; every element is known exactly. */
#include "tests/lib/checks.h"
#include "ops/short_names.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

Suite *product_blocks_suite(void);

/* Element i, j of the factors. */
static int64_t left(int64_t i, int64_t j)  { return (3 * i + j) % 5; }
static int64_t right(int64_t i, int64_t j) { return (i + 2 * j) % 7 - 3; }

/* A matrix of these elements, or the transpose of one. */
static eddy_array *elements_of(eddy_dtype d, int64_t m, int64_t n, bool turned,
                          int64_t (*element)(int64_t, int64_t))
{
    eddy_array *a = eddy_array_new(d, turned ? EDDY_SHAPE(n, m) : EDDY_SHAPE(m, n));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            eddy_array_set(a, turned ? j * m + i : i * n + j, (double)element(i, j));
    return a;
}

static double exact(int64_t i, int64_t j, int64_t k)
{
    int64_t sum = 0;
    for (int64_t q = 0; q < k; q++) sum += left(i, q) * right(q, j);
    return (double)sum;
}

/* Pages with a copy of a at their end, before one that nobody may read. */
typedef struct pages {
    char       *at;
    size_t      size, guard;
    eddy_array *a;
} pages;

static pages at_end_of_pages(const eddy_array *a)
{
    const size_t guard = (size_t)sysconf(_SC_PAGESIZE), n = eddy_array_bytes(a);
    pages        p = { .size = (n + guard - 1) / guard * guard + guard, .guard = guard };
    const int    zeros = open("/dev/zero", O_RDWR);
    p.at = mmap(NULL, p.size, PROT_READ | PROT_WRITE, MAP_PRIVATE, zeros, 0);
    ck_assert(zeros >= 0 && close(zeros) == 0 && p.at != MAP_FAILED);
    ck_assert_int_eq(mprotect(p.at + p.size - guard, guard, PROT_NONE), 0);
    void *copy = memcpy(p.at + p.size - guard - n, eddy_array_data(a), n);
    p.a = eddy_array_borrow(eddy_array_dtype(a), eddy_array_shape(a), copy);
    return p;
}

static void free_pages(pages *p)
{
    eddy_array_free(p->a);
    munmap(p->at, p->size);
}

/* The product with one added to each element, which may be fused into it. */
static void check(eddy_dtype d, int64_t m, int64_t n, int64_t k, bool turn_a, bool turn_b)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_array   *a = elements_of(d, m, k, turn_a, left), *b = elements_of(d, k, n, turn_b, right);
    pages         a_end = at_end_of_pages(a), b_end = at_end_of_pages(b);
    eddy_array   *out[1] = { NULL };
    eddy_tensor   x = eddy_placeholder(g, "a", d, eddy_array_shape(a));
    eddy_tensor   w = eddy_placeholder(g, "b", d, eddy_array_shape(b));
    eddy_tensor   y = eddy_matmul(x, w, .transpose_a = turn_a, .transpose_b = turn_b);
    eddy_session *s = eddy_session_new(g, .threads = 2);
    y = Add(y, eddy_ones(g, d, EDDY_SHAPE(n)));
    const eddy_status status =
        eddy_run(s, EDDY_FEED({ x, a_end.a }, { w, b_end.a }), EDDY_FETCH(y), out);
    ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(s));
    for (int64_t i = 0; i < m; i += 1 + m / 40)
        for (int64_t j = 0; j < n; j += 1 + n / 40)
            ck_assert_double_eq(eddy_array_get(out[0], i * n + j), exact(i, j, k) + 1);
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_array_free(out[0]);
    eddy_session_free(s);
    eddy_graph_free(g);
    free_pages(&a_end);
    free_pages(&b_end);
}

START_TEST(large_products)
{
    static const struct { eddy_dtype d; int64_t m, n, k; } of[] = {
        { EDDY_FLOAT64, 3100, 300, 350 }, { EDDY_FLOAT64, 90, 70, 60000 },
        { EDDY_FLOAT64, 1, 3000, 3001 },  { EDDY_COMPLEX128, 333, 500, 310 },
        { EDDY_INT32, 290, 301, 400 },    { EDDY_FLOAT64, 3000, 1, 3001 },
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        check(of[i].d, of[i].m, of[i].n, of[i].k, _i & 1, _i & 2);
}
END_TEST

/* Of several blocks, of which the last strip and the last panel are not whole. */
START_TEST(packed_blocks)
{
    check(EDDY_FLOAT32, 133, 90, 700, _i & 1, _i & 2);
    check(EDDY_FLOAT32, 512, 515, 401, _i & 1, _i & 2);
}
END_TEST

/* A row times a constant, which is packed once; the last panel is not whole. */
START_TEST(rows_times_constants)
{
    static const int64_t of[][2] = { { 64, 300 }, { 300, 70 }, { 1000, 33 }, { 260, 1 } };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const int64_t n = of[i][0], k = of[i][1];
        eddy_graph   *g = eddy_graph_new();
        eddy_array   *a = elements_of(EDDY_FLOAT32, 1, k, _i & 1, left), *out[1] = { NULL };
        eddy_array   *b = elements_of(EDDY_FLOAT32, k, n, _i & 2, right);
        eddy_tensor   x = eddy_placeholder(g, "a", EDDY_FLOAT32, eddy_array_shape(a));
        eddy_tensor   y = eddy_matmul(x, eddy_constant(g, b), .transpose_a = _i & 1,
                                      .transpose_b = _i & 2);
        eddy_session *s = eddy_session_new(g, .threads = 2);
        y = Relu(Add(y, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(n))));
        const eddy_status status = eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), out);
        ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(s));
        for (int64_t j = 0; j < n; j++)
            ck_assert_double_eq(eddy_array_get(out[0], j), fmax(exact(0, j, k) + 1, 0));
        eddy_array_free(a);
        eddy_array_free(b);
        eddy_array_free(out[0]);
        eddy_session_free(s);
        eddy_graph_free(g);
    }
}
END_TEST

/* One to three columns or rows, for which a matrix may be multiplied by vectors. */
START_TEST(few_columns)
{
    static const eddy_dtype types[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_COMPLEX64,
                                        EDDY_COMPLEX128, EDDY_INT64 };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int few = 1; few < 4; few++) {
            check(types[i], 700, few, 520, _i & 1, _i & 2);
            check(types[i], few, 90, 40, _i & 1, _i & 2);
            check(types[i], few, 710, 520, _i & 1, _i & 2);
        }
}
END_TEST

/* Around the size up to which a loop computes them. */
START_TEST(tiny_products)
{
    static const eddy_dtype types[] = { EDDY_FLOAT64, EDDY_COMPLEX64, EDDY_COMPLEX128 };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int64_t m = 2; m < 8; m++) {
            check(types[i], m, 5, 5, _i & 1, _i & 2);
            check(types[i], 3, m, 4, _i & 1, _i & 2);
        }
}
END_TEST

/* Of float64, with all numbers of rows and columns behind the last whole tile. */
START_TEST(tiny_tiles)
{
    static const int64_t rows[] = { 1, 2, 3, 4, 7, 9 }, inner[] = { 1, 6, 19 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t q = 0; q < sizeof inner / sizeof *inner; q++)
            for (int64_t n = 4; n < 21; n++)
                check(EDDY_FLOAT64, rows[i], n, inner[q], _i & 1, _i & 2);
}
END_TEST

/* A row, or with `column` a column, of n elements; its pieces depend on the number of threads. */
static eddy_array *vector_product(eddy_dtype d, bool column, int64_t n, int64_t k, int threads)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_random_uniform(g, column ? EDDY_SHAPE(k, 1) : EDDY_SHAPE(1, k),
                                          .dtype = d, .seed = 1);
    eddy_tensor   m = eddy_random_uniform(g, EDDY_SHAPE(k, n), .dtype = d, .seed = 2);
    eddy_tensor   y = column ? eddy_matmul(m, x, .transpose_a = true) : eddy_matmul(x, m);
    eddy_session *s = eddy_session_new(g, .threads = threads);
    eddy_array   *out[1] = { NULL };
    const eddy_status status = eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), out);
    ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(s));
    eddy_session_free(s);
    eddy_graph_free(g);
    return out[0];
}

/* 40 columns leave a last piece of 8. */
START_TEST(rows_have_the_same_bits)
{
    static const int64_t of[][2] = { { 5000, 333 }, { 40, 10000 } };
    const eddy_dtype d = _i & 1 ? EDDY_FLOAT32 : EDDY_FLOAT64;
    const int64_t    n = of[_i / 4][0], k = of[_i / 4][1];
    eddy_array      *alone = vector_product(d, _i & 2, n, k, 1);
    for (int threads = 2; threads < 6; threads++) {
        eddy_array *y = vector_product(d, _i & 2, n, k, threads);
        ck_assert_mem_eq(eddy_array_data(y), eddy_array_data(alone), eddy_array_bytes(alone));
        eddy_array_free(y);
    }
    eddy_array_free(alone);
}
END_TEST

/* OpenBLAS 0.3.21 reads behind a complex vector for results of 2, 6, 10, ... elements. */
START_TEST(reads_end_with_the_operands)
{
    static const eddy_dtype types[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_COMPLEX64,
                                        EDDY_COMPLEX128 };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int64_t n = 1; n < 16; n++)
            for (int64_t k = 1; k < 7; k += 2) {
                check(types[i], 1, n, k, _i & 1, _i & 2);
                check(types[i], n, 1, k, _i & 1, _i & 2);
            }
}
END_TEST

Suite *product_blocks_suite(void)
{
    Suite *s = suite_create("product_blocks");
    TCase *c = tcase_create("product_blocks"), *many = tcase_create("transposed");
    tcase_set_timeout(c, 120);
    tcase_set_timeout(many, 120);
    tcase_set_tags(many, "many");
    tcase_add_loop_test(c, large_products, 0, 1);
    tcase_add_loop_test(many, large_products, 1, 4);
    tcase_add_loop_test(c, packed_blocks, 0, 4);
    tcase_add_loop_test(c, rows_times_constants, 0, 4);
    tcase_add_loop_test(c, few_columns, 0, 4);
    tcase_add_loop_test(c, tiny_products, 0, 4);
    tcase_add_loop_test(c, tiny_tiles, 0, 4);
    tcase_add_loop_test(c, rows_have_the_same_bits, 0, 8);
    tcase_add_loop_test(c, reads_end_with_the_operands, 0, 4);
    suite_add_tcase(s, c);
    suite_add_tcase(s, many);
    return s;
}
