/* array_trial.c -- see array_trial.h. */
#include "tests/lib/array_trial.h"

#include <math.h>

trial trial_begin(unsigned seed)
{
    trial t = { .graph = eddy_graph_new(), .random = seed * 0x9e3779b97f4a7c15u + 1 };
    for (int i = 0; i < 3; i++) pick(&t, 2);
    unsigned without = 0;
    for (int i = 0; i < EDDY_PASSES; i++) without |= pick(&t, 4) == 0 ? 1u << i : 0;
    t.session = eddy_session_new(t.graph, .without = without);
    ck_assert_ptr_nonnull(t.session);
    return t;
}

void trial_end(trial *t)
{
    eddy_session_free(t->session);
    eddy_graph_free(t->graph);
    for (int i = 0; i < t->n; i++) eddy_array_free(t->array[i]);
}

void initialize(trial *t)
{
    const eddy_tensor init = eddy_initializer(t->graph);
    ck_assert_int_eq(eddy_run(t->session, EDDY_FEED(), EDDY_FETCH(init), NULL), EDDY_OK);
}

/* ----------------------------------------------------------------- drawing -- */

int pick(trial *t, int n)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (int)((t->random >> 33) % (uint64_t)n);
}

int some_size(trial *t)
{
    static const int sizes[] = { 0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 7, 18 };
    return sizes[pick(t, (int)(sizeof sizes / sizeof *sizes))];
}

eddy_shape some_shape(trial *t, int least_rank, int most_rank)
{
    for (;;) {
        eddy_shape s = { .rank = least_rank + pick(t, most_rank - least_rank + 1) };
        for (int i = 0; i < s.rank; i++) s.dim[i] = some_size(t);
        if (eddy_shape_count(s) == 0 && pick(t, 3)) continue;
        if (eddy_shape_count(s) <= 3000) return s;
    }
}

eddy_array *filled(trial *t, eddy_dtype d, eddy_shape s)
{
    eddy_array *a = eddy_array_new(d, s);
    ck_assert_ptr_nonnull(a);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, d == EDDY_BOOL ? pick(t, 2) : 1 + pick(t, 100));
    return a;
}

/* The parts of a shape that a program may know: all, some sizes, the rank, nothing. */
static eddy_shape partly_known(trial *t, eddy_shape s)
{
    const int how = pick(t, 4);
    for (int i = 0; i < s.rank; i++)
        if (how == 2 || (how == 1 && pick(t, 2))) s.dim[i] = EDDY_ANY;
    return how == 3 ? EDDY_UNKNOWN_SHAPE : s;
}

eddy_tensor fed(trial *t, eddy_array *a)
{
    ck_assert_int_lt(t->n, TRIAL_FEEDS);
    t->array[t->n] = a;
    return t->tensor[t->n++] = eddy_placeholder(t->graph, NULL, eddy_array_dtype(a),
                                                partly_known(t, eddy_array_shape(a)));
}

/* --------------------------------------------------------------- positions -- */

int64_t place(eddy_shape s, const int64_t *at)
{
    int64_t i = 0;
    for (int d = 0; d < s.rank; d++) i = i * s.dim[d] + at[d];
    return i;
}

void position(eddy_shape s, int64_t i, int64_t *at)
{
    for (int d = s.rank - 1; d >= 0; d--) {
        at[d] = i % s.dim[d];
        i /= s.dim[d];
    }
}

/* ------------------------------------------------------------------ values -- */

static eddy_status run(trial *t, eddy_tensor y, eddy_array **out)
{
    eddy_feed feeds[TRIAL_FEEDS];
    for (int i = 0; i < t->n; i++) feeds[i] = (eddy_feed){ t->tensor[i], t->array[i] };
    return eddy_run(t->session, (eddy_feeds){ t->n, feeds }, EDDY_FETCH(y), out);
}

eddy_array *value(trial *t, eddy_tensor y)
{
    eddy_array *a = NULL;
    ck_assert_msg(eddy_graph_status(t->graph) == EDDY_OK, "%s", eddy_graph_message(t->graph));
    ck_assert_msg(run(t, y, &a) == EDDY_OK, "%s", eddy_session_message(t->session));
    ck_assert_ptr_nonnull(a);
    ck_assert(eddy_shape_compatible(eddy_array_shape(a), eddy_shape_of(y)));
    return a;
}

void check_run_fails(trial *t, eddy_tensor y, eddy_status status, const char *says)
{
    eddy_array *a = NULL;
    ck_assert_str_eq(eddy_status_name(run(t, y, &a)), eddy_status_name(status));
    ck_assert_ptr_null(a);
    ck_assert_msg(strstr(eddy_session_message(t->session), says), "%s",
                  eddy_session_message(t->session));
}

static void check_shape(const eddy_array *a, eddy_shape want)
{
    char x[64], y[64];
    ck_assert_str_eq(eddy_shape_print(eddy_array_shape(a), x, sizeof x),
                     eddy_shape_print(want, y, sizeof y));
}

void check_elements(trial *t, eddy_tensor y, eddy_shape want, const eddy_array *x,
                    source_fn *source, const void *how)
{
    static const char zero[16];
    eddy_array  *a = value(t, y);
    const size_t size = eddy_dtype_size(eddy_array_dtype(x));
    check_shape(a, want);
    ck_assert_int_eq(eddy_array_dtype(a), eddy_array_dtype(x));
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        int64_t at[EDDY_MAX_RANK];
        position(want, i, at);
        const int64_t from = source(how, at);
        const char   *element = from < 0 ? zero : (char *)eddy_array_data(x) + (size_t)from * size;
        ck_assert_int_lt(from, eddy_array_count(x));
        ck_assert_msg(memcmp((char *)eddy_array_data(a) + (size_t)i * size, element, size) == 0,
                      "element %d of %s", (int)i, eddy_name_of(y));
    }
    eddy_array_free(a);
}

void check_values(trial *t, eddy_tensor y, eddy_shape want, const double *v)
{
    eddy_array *a = value(t, y);
    check_shape(a, want);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ck_assert_msg(eddy_array_get(a, i) == v[i], "element %d of %s is %g, not %g", (int)i,
                      eddy_name_of(y), eddy_array_get(a, i), v[i]);
    eddy_array_free(a);
}

void check_numbers(trial *t, eddy_tensor y, const eddy_array *want)
{
    ck_assert_int_eq(eddy_array_dtype(want), EDDY_FLOAT64);
    check_values(t, y, eddy_array_shape(want), eddy_array_data(want));
}

void check_array(trial *t, eddy_tensor y, const eddy_array *want)
{
    eddy_array *a = value(t, y);
    ck_assert(eddy_array_equal(a, want));
    eddy_array_free(a);
}

/* --------------------------------------------------------------- gradients -- */

eddy_tensor gradient_with(eddy_tensor y, eddy_tensor dy, eddy_tensor x)
{
    eddy_tensor dx;
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &dx, .grad_ys = EDDY_LIST(dy));
    return dx;
}

static int fed_as(const trial *t, eddy_tensor x)
{
    int i = 0;
    while (i < t->n && !eddy_same(t->tensor[i], x)) i++;
    ck_assert_int_lt(i, t->n);
    return i;
}

static double number(trial *t, eddy_tensor y)
{
    eddy_array  *a = value(t, y);
    const double v = eddy_array_item(a);
    eddy_array_free(a);
    return v;
}

/* x[k] += step * u[k] for all of them. */
static void move(trial *t, int n, const eddy_tensor *x, eddy_array *const *u, double step)
{
    for (int k = 0; k < n; k++) {
        eddy_array *a = t->array[fed_as(t, x[k])];
        for (int64_t i = 0; i < eddy_array_count(a); i++)
            eddy_array_set(a, i, eddy_array_get(a, i) + step * eddy_array_get(u[k], i));
    }
}

/* dx along u against the central difference of the scalar f. */
static void check_along(trial *t, eddy_tensor f, int n, const eddy_tensor *x, const eddy_tensor *dx,
                        eddy_array *const *u)
{
    double along = 0, size = 1;
    for (int k = 0; k < n; k++) {
        eddy_array *d = value(t, dx[k]);
        check_shape(d, eddy_array_shape(t->array[fed_as(t, x[k])]));
        for (int64_t i = 0; i < eddy_array_count(d); i++) {
            const double term = eddy_array_get(d, i) * eddy_array_get(u[k], i);
            along += term;
            size += fabs(term);
        }
        eddy_array_free(d);
    }
    move(t, n, x, u, 1);
    const double up = number(t, f);
    move(t, n, x, u, -2);
    const double down = number(t, f);
    move(t, n, x, u, 1);
    ck_assert_msg(fabs(along - (up - down) / 2) <= 1e-12 * size,
                  "%s: derivative %.17g, difference %.17g",
                  eddy_name_of(f), along, (up - down) / 2);
}

void check_gradient(trial *t, eddy_tensor y, int n, const eddy_tensor *x)
{
    enum { MOST = 4 };
    eddy_tensor dx[MOST] = { EDDY_ZERO_TENSOR }, ddx[MOST] = { EDDY_ZERO_TENSOR };
    eddy_array *u[MOST];
    ck_assert_int_le(n, MOST);
    if (eddy_dtype_of(y) != EDDY_FLOAT64) return;
    eddy_array *a = value(t, y);
    eddy_tensor w = fed(t, filled(t, EDDY_FLOAT64, eddy_array_shape(a)));
    eddy_array_free(a);
    for (int k = 0; k < n; k++)
        u[k] = filled(t, EDDY_FLOAT64, eddy_array_shape(t->array[fed_as(t, x[k])]));

    const eddy_tensor f = Sum(Mul(w, Square(y)));
    eddy_gradients(EDDY_LIST(f), (eddy_list){ n, x }, dx);
    check_along(t, f, n, x, dx, u);
    eddy_tensor square = Sum(Square(dx[0]));
    for (int k = 1; k < n; k++) square = Add(square, Sum(Square(dx[k])));
    eddy_gradients(EDDY_LIST(square), (eddy_list){ n, x }, ddx);
    check_along(t, square, n, x, ddx, u);
    for (int k = 0; k < n; k++) eddy_array_free(u[k]);
}
