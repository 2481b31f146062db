/* test_empty.c -- every row of the sweep with dimensions of 0: one at a time, all of one size, all
 * of an input, all. Whatever is known of the shapes, a row gives the same values and gradients, or
 * an error that names the operation. test_empty_values.c says which values. */
#include "tests/lib/random_graphs/row_graphs.h"
#include "tests/lib/third_rows.h"

#include <math.h>
#include <stdio.h>

Suite *empty_suite(void);

/* -------------------------------------------------------------------- attempts -- */

/* How much of the shapes is known while building. */
typedef enum known { ALL_SIZES, RANKS, NOTHING } known;

/* A row that was built and run, or refused. Its feeds are the inputs. */
typedef struct attempt {
    row_graph   b;
    bool        runs;
    char        message[1024];          /* otherwise */
    eddy_array *value[FETCHES];
} attempt;

static void draw_inputs(attempt *a, const eddy_shape *shape, known how)
{
    const sweep_row *r = a->b.row;
    for (int k = 0; k < r->n; k++) {
        const bool   usual = r->low[k] == r->high[k];
        const double low = usual ? -2 : r->low[k], high = usual ? 2 : r->high[k];
        eddy_array  *x = eddy_array_new(EDDY_FLOAT64, shape[k]);
        const int64_t n = eddy_array_count(x);
        for (int64_t i = 0; i < n; i++)
            eddy_array_set(x, i, low + (high - low) * ((double)(i * 7 % n) + 0.25 + 0.2 * k) /
                                           (double)n);
        eddy_shape s = how == NOTHING ? EDDY_UNKNOWN_SHAPE : shape[k];
        for (int d = 0; how == RANKS && d < s.rank; d++) s.dim[d] = EDDY_ANY;
        a->b.t.array[a->b.t.n] = x;
        a->b.t.tensor[a->b.t.n++] = eddy_placeholder(a->b.t.graph, NULL, EDDY_FLOAT64, s);
    }
}

/* In a session of its own, so that random numbers are the same. */
static bool run(attempt *a, unsigned without, eddy_array **out)
{
    eddy_feed     feeds[SWEEP_INPUTS];
    eddy_session *s = eddy_session_new(a->b.t.graph, .threads = 1, .without = without);
    for (int k = 0; k < a->b.t.n; k++) feeds[k] = (eddy_feed){ a->b.t.tensor[k], a->b.t.array[k] };
    const eddy_status status = eddy_run(s, (eddy_feeds){ a->b.t.n, feeds },
                                        (eddy_list){ a->b.fetch.n, a->b.fetch.at }, out);
    if (status != EDDY_OK)
        snprintf(a->message, sizeof a->message, "%s", eddy_session_message(s));
    eddy_session_free(s);
    return status == EDDY_OK;
}

static void attempt_begin(attempt *a, const sweep_row *r, const eddy_shape *shape, known how)
{
    static const char *const names[] = { "known shapes", "unknown sizes", "unknown ranks" };
    *a = (attempt){ .runs = false };
    row_graph_begin(&a->b, r, shape, names[how], NULL);
    a->b.t.session = eddy_session_new(a->b.t.graph, .threads = 1);
    draw_inputs(a, shape, how);
    if (row_graph_build(&a->b)) a->runs = run(a, 0, a->value);
    else snprintf(a->message, sizeof a->message, "%s", eddy_graph_message(a->b.t.graph));
}

static void attempt_end(attempt *a)
{
    free_arrays(FETCHES, a->value);
    trial_end(&a->b.t);
}

/* ---------------------------------------------------------------------- checks -- */

static bool is_near(double a, double b, double tolerance)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance * fmax(1, fabs(b));
}

static void check_equal(const attempt *a, eddy_array *const *want, const char *what)
{
    for (int i = 0; i < a->b.fetch.n; i++) {
        ck_assert_msg(eddy_shape_equal(eddy_array_shape(a->value[i]), eddy_array_shape(want[i])),
                      "%s: %s change the shape of %s", a->b.title, what,
                      eddy_name_of(a->b.fetch.at[i]));
        for (int64_t j = 0; j < eddy_array_count(want[i]); j++)
            ck_assert_msg(is_near(eddy_array_get(a->value[i], j), eddy_array_get(want[i], j),
                                  1e-12),
                          "%s: %s change element %d of %s", a->b.title, what, (int)j,
                          eddy_name_of(a->b.fetch.at[i]));
    }
}

static void check_passes(attempt *a)
{
    eddy_array *y[FETCHES] = { NULL };
    ck_assert_msg(run(a, ~0u, y), "%s: without passes, %s", a->b.title, a->message);
    check_equal(a, y, "passes");
    free_arrays(FETCHES, y);
}

static void check_shapes(const attempt *a)
{
    for (int i = 0, at = 0; i < a->b.fetch.n; i++) {
        const eddy_tensor t = a->b.fetch.at[i];
        ck_assert_msg(eddy_shape_compatible(eddy_array_shape(a->value[i]), eddy_shape_of(t)),
                      "%s: shape of %s", a->b.title, eddy_name_of(t));
        for (at = 0; at < 2 * a->b.t.n; at++) {
            const eddy_tensor d = at < a->b.t.n ? a->b.dx[at] : a->b.ddx[at - a->b.t.n];
            if (!eddy_is_valid(d) || !eddy_same(d, t)) continue;
            ck_assert_msg(eddy_shape_equal(eddy_array_shape(a->value[i]),
                                           eddy_array_shape(a->b.t.array[at % a->b.t.n])),
                          "%s: shape of the gradient of input %d", a->b.title, at % a->b.t.n);
        }
    }
}

static double number_at(attempt *a, eddy_tensor f, int k, int64_t i, double x)
{
    eddy_array_set(a->b.t.array[k], i, x);
    eddy_array  *y = value(&a->b.t, f);
    const double v = eddy_array_item(y);
    eddy_array_free(y);
    return v;
}

/* Gradients of inputs with elements are differences of f, where that is a number. */
static void check_slopes(attempt *a, eddy_tensor f, const eddy_tensor *dx)
{
    for (int k = 0; eddy_is_valid(f) && k < a->b.t.n; k++) {
        if (!eddy_is_valid(dx[k]) || eddy_array_count(a->b.t.array[k]) == 0) continue;
        eddy_array *d = value(&a->b.t, dx[k]);
        for (int64_t i = 0; i < eddy_array_count(d); i++) {
            const double x = eddy_array_get(a->b.t.array[k], i), h = 0x1p-14;
            const double want = (number_at(a, f, k, i, x + h) - number_at(a, f, k, i, x - h)) /
                                (2 * h);
            eddy_array_set(a->b.t.array[k], i, x);
            ck_assert_msg(!isfinite(want) || is_near(eddy_array_get(d, i), want, 1e-5),
                          "%s: element %d of the gradient of input %d is %g, not %g", a->b.title,
                          (int)i, k, eddy_array_get(d, i), want);
        }
        eddy_array_free(d);
    }
}

/* ------------------------------------------------------------------------ rows -- */

typedef struct exception {
    const char *op, *how, *why;
} exception;

/* Rows that refuse known shapes only. */
static const exception only_known[] = {
    { "MaxPoolGradGrad", NULL, "nothing that is computed depends on dy" },
    { "MaxPool3DGradGrad", NULL, "nothing that is computed depends on dy" },
    { "Relu", "cosine_embedding_loss", "shapes are compared while building, as in tf.losses" },
    { "EuclideanNorm", "contrastive_loss", "shapes are compared while building, as in tf.losses" },
    { "Case", "cond", "a branch that is not taken need not fit sizes that a run tells" },
    { "Case", "cond, false", "a branch that is not taken need not fit sizes that a run tells" },
};

/* Rows whose gradients are not differences. */
static const exception not_slopes[] = {
    { "Mul", "exponential_decay", "log(0) 0^x is NaN" },
    { "Rsqrt", "group_norm", "-mean rstd scale is NaN, as in tf.nn.batch_normalization" },
    { "Rsqrt", "group_norm NCW", "likewise" },
    { "Rsqrt", "instance_norm", "likewise" },
    { "EuclideanNorm", "weight_norm", "0 / 0 of columns without elements" },
};
#define IS_ONE_OF(list, r) is_one_of(sizeof list / sizeof *list, list, r)

static bool is_one_of(size_t n, const exception *list, const sweep_row *r)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(r->op, list[i].op) == 0 &&
            (!list[i].how || (r->how && strcmp(r->how, list[i].how) == 0)))
            return true;
    return false;
}

static bool has_slopes(const sweep_row *r)
{
    return !(r->options & SWEEP_RANDOM) && !IS_ONE_OF(not_slopes, r);
}

static void check_variant(const sweep_row *r, const eddy_shape *shape)
{
    attempt all, some;
    attempt_begin(&all, r, shape, ALL_SIZES);
    if (all.runs) {
        check_passes(&all);
        check_shapes(&all);
        if (has_slopes(r)) {
            check_slopes(&all, all.b.f, all.b.dx);
            check_slopes(&all, all.b.f2, all.b.ddx);
        }
    } else row_message_is_clear(&all.b, all.message);
    for (known how = RANKS; how <= NOTHING; how++) {
        attempt_begin(&some, r, shape, how);
        ck_assert_msg(some.runs == all.runs || (some.runs && IS_ONE_OF(only_known, r)),
                      "%s: '%s', but with known shapes '%s'", some.b.title, some.message,
                      all.message);
        if (some.runs) check_passes(&some);
        if (some.runs) check_shapes(&some);
        else row_message_is_clear(&some.b, some.message);
        if (some.runs && all.runs && !(r->options & SWEEP_RANDOM))
            check_equal(&some, all.value, "unknown shapes");
        attempt_end(&some);
    }
    attempt_end(&all);
}

START_TEST(rows)
{
    const sweep_row *r = sweep_row_at(_i);
    const row_shapes v = row_shapes_with(r, 0);
    for (int i = 0; i < v.n; i++) check_variant(r, v.of[i]);
}
END_TEST

Suite *empty_suite(void)
{
    Suite *s = suite_create("empty");
    TCase *c = tcase_create("rows"), *many = tcase_create("other rows");
    tcase_set_tags(many, "many");
    add_third_rows(c, many, rows, 0, sweep_count());
    suite_add_tcase(s, c);
    suite_add_tcase(s, many);
    return s;
}
