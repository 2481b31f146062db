/* collectives.c -- each collective, its gradient and the gradient of that, compared with one
 * process that has the data of all ranks. */
#include "tests/lib/ranks/ranks.h"

#include "ops/short_names.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

enum { MOST = 8 };

bool expect(const eddy_communicator *c, bool ok, const char *format, ...)
{
    char    text[1500];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!ok)
        fprintf(stderr, "rank %d of %d: %s\n", eddy_communicator_rank(c), eddy_communicator_size(c),
                text);
    return ok;
}

typedef struct adapter {
    rank_program program;
} adapter;

static bool adapted(eddy_communicator *c, void *context)
{
    return ((adapter *)context)->program(c);
}

bool on_threads(int ranks, rank_program program, eddy_error *error)
{
    adapter a = { program };
    return eddy_run_threads(ranks, adapted, &a, error);
}

/* ------------------------------------------------------------------- cases -- */

typedef enum kind {
    SUM, MEAN, LEAST, GREATEST, GATHER, GATHER_UNEVEN, SCATTER, SCATTER_UNEVEN, BROADCAST, TO_ROOT,
    EXCHANGE, EXCHANGE_UNEVEN, RING, CHAIN, KINDS
} kind;

static const char *const kind_names[KINDS] = {
    "sum", "mean", "least", "greatest", "gather", "uneven gather", "scatter", "uneven scatter",
    "broadcast", "to root", "exchange", "uneven exchange", "ring", "chain",
};

/* Numbers of rows that differ, with none here and there. */
static int64_t uneven(int r) { return (3 * r) % 5; }
static int64_t exchanged(int from, int to) { return (from + 2 * to) % 3; }

static int64_t rows_of(kind k, int n, int r)
{
    int64_t sum = 0;
    if (k == GATHER_UNEVEN) return uneven(r);
    if (k == SCATTER || k == EXCHANGE) return 2 * n;
    if (k != SCATTER_UNEVEN && k != EXCHANGE_UNEVEN) return 3;
    for (int i = 0; i < n; i++) sum += k == SCATTER_UNEVEN ? uneven(i) : exchanged(r, i);
    return sum;
}

/* The elements of rank r; some are equal on several ranks, so that extremes have ties. */
static eddy_array *elements(kind k, eddy_dtype d, int n, int r, int64_t width)
{
    eddy_array *a = eddy_array_new(d, EDDY_SHAPE(rows_of(k, n, r), width));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(
            a, i, (double)((i * 7 + (i % 3 ? r * 5 : 0)) % 23 - 11) / 8 + (d == EDDY_INT32) * 50);
    return a;
}

static eddy_tensor counts(eddy_graph *g, int n, const int64_t *rows)
{
    return eddy_const(g, EDDY_INT64, EDDY_SHAPE(n), rows);
}

/* The collective as an operation. */
static eddy_tensor collective(kind k, eddy_communicator *c, eddy_tensor x)
{
    const int n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    int64_t   rows[MOST];
    switch (k) {
    case SUM: return eddy_all_reduce(c, x);
    case MEAN: return eddy_all_reduce(c, x, EDDY_REDUCE_MEAN);
    case LEAST: return eddy_all_reduce(c, x, EDDY_REDUCE_MIN);
    case GREATEST: return eddy_all_reduce(c, x, EDDY_REDUCE_MAX);
    case GATHER: return eddy_all_gather(c, x);
    case GATHER_UNEVEN: return eddy_all_gather(c, x, .uneven = true);
    case SCATTER: return eddy_reduce_scatter(c, x);
    case SCATTER_UNEVEN:
        for (int r = 0; r < n; r++) rows[r] = uneven(r);
        return eddy_reduce_scatter(c, x, .rows = counts(x.graph, n, rows));
    case BROADCAST: return eddy_broadcast_from_root(c, x, .root = n - 1);
    case TO_ROOT: return eddy_reduce_to_root(c, x, .root = n / 2);
    case EXCHANGE: return eddy_all_to_all(c, x);
    case EXCHANGE_UNEVEN:
        for (int r = 0; r < n; r++) rows[r] = exchanged(me, r);
        return eddy_all_to_all(c, x, .rows = counts(x.graph, n, rows));
    case RING: return eddy_send_receive(c, x, .to = (me + 1) % n, .from = (me + n - 1) % n);
    case CHAIN:
        return eddy_send_receive(c, x, .to = me + 1 < n ? me + 1 : -1, .from = me - 1);
    case KINDS: break;
    }
    return x;
}

/* ----------------------------------------------------- the same, in one process -- */

static eddy_tensor fold(int n, const eddy_tensor *x, eddy_tensor (*f)(eddy_tensor, eddy_tensor))
{
    eddy_tensor t[MOST];
    for (int r = 0; r < n; r++) t[r] = x[r];
    for (int step = 1; step < n; step *= 2)
        for (int r = 0; r + step < n; r += 2 * step) t[r] = f(t[r], t[r + step]);
    return t[0];
}

/* Divides the gradient equally among all that are equal, as TensorFlow does. */
static eddy_tensor extreme(int n, const eddy_tensor *x, bool greatest)
{
    const eddy_tensor all = eddy_stack((eddy_list){ n, x });
    return greatest ? eddy_max(all, .axes = EDDY_AXES(0)) : eddy_min(all, .axes = EDDY_AXES(0));
}

static eddy_tensor part(eddy_tensor x, int64_t from, int64_t count)
{
    return eddy_slice(x, EDDY_DIMS(from, 0), EDDY_DIMS(count, -1));
}

/* The result of rank r, if x[i] is the operand of rank i. */
static eddy_tensor plain(kind k, int n, const eddy_tensor *x, int r)
{
    eddy_tensor parts[MOST];
    int64_t     from = 0;
    switch (k) {
    case SUM: return fold(n, x, eddy_add);
    case MEAN: return Div(fold(n, x, eddy_add), (double)n);
    case LEAST: return extreme(n, x, false);
    case GREATEST: return extreme(n, x, true);
    case GATHER:
    case GATHER_UNEVEN: return eddy_concat((eddy_list){ n, x });
    case SCATTER: return part(fold(n, x, eddy_add), 2 * r, 2);
    case SCATTER_UNEVEN:
        for (int i = 0; i < r; i++) from += uneven(i);
        return part(fold(n, x, eddy_add), from, uneven(r));
    case BROADCAST: return x[n - 1];
    case TO_ROOT: return r == n / 2 ? fold(n, x, eddy_add) : ZerosLike(x[0]);
    case EXCHANGE:
    case EXCHANGE_UNEVEN:
        for (int i = 0; i < n; i++) {
            from = 0;
            for (int j = 0; j < r; j++) from += exchanged(i, j);
            parts[i] = k == EXCHANGE ? part(x[i], 2 * r, 2) : part(x[i], from, exchanged(i, r));
        }
        return eddy_concat((eddy_list){ n, parts });
    case RING: return x[(r + n - 1) % n];
    case CHAIN: return r > 0 ? x[r - 1] : ZerosLike(x[0]);
    case KINDS: break;
    }
    return x[0];
}

/* A loss whose second derivative is not constant; different on each rank. */
static eddy_tensor loss_of(eddy_tensor y, int r)
{
    return eddy_sum(Mul(Mul(y, Mul(y, y)), 0.5 + r));
}

/* ---------------------------------------------------------------- comparison -- */

static bool close_to(const eddy_array *a, const eddy_array *b, double by)
{
    if (!a || !b || eddy_array_count(a) != eddy_array_count(b)) return false;
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        if (!(fabs(eddy_array_get(a, i) - eddy_array_get(b, i)) <=
              by * (1 + fabs(eddy_array_get(b, i)))))
            return false;
    return true;
}

enum { RESULTS = 3 };

/* The value, its gradient, and the gradient of the square of that. */
static void derivatives(eddy_tensor y, eddy_tensor total, eddy_tensor x, eddy_tensor *out)
{
    out[0] = y;
    out[1] = eddy_gradient(total, x);
    out[2] = eddy_gradient(eddy_sum(Square(out[1])), x);
}

static bool runs_to(const eddy_communicator *c, eddy_graph *g, int n, const eddy_tensor *t,
                    eddy_array **out)
{
    eddy_session *s = eddy_session_new(g);
    const bool    ok = eddy_run(s, EDDY_FEED(), (eddy_list){ n, t }, out) == EDDY_OK;
    expect(c, ok, "%s", eddy_session_message(s));
    eddy_session_free(s);
    return ok;
}

/* The results of rank `me`, from all data. The loss is the sum of the ranks' losses; so is what
 * is differentiated a second time. */
static bool plain_results(const eddy_communicator *c, kind k, eddy_dtype d, int64_t width,
                          int n_results, eddy_array **out)
{
    const int   n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x[MOST], dx[MOST], y = eddy_none(g), loss[MOST], again[MOST], t[RESULTS];
    for (int r = 0; r < n; r++) {
        eddy_array *a = elements(k, d, n, r, width);
        x[r] = eddy_constant(g, a);
        eddy_array_free(a);
    }
    y = plain(k, n, x, me);
    t[0] = y;
    if (n_results > 1) {
        for (int r = 0; r < n; r++) loss[r] = loss_of(plain(k, n, x, r), r);
        eddy_gradients(EDDY_LIST(eddy_add_n((eddy_list){ n, loss })), (eddy_list){ n, x }, dx);
        for (int r = 0; r < n; r++) {
            if (dx[r].node == 0) dx[r] = ZerosLike(x[r]);
            again[r] = eddy_sum(Square(dx[r]));
        }
        t[1] = dx[me];
        t[2] = eddy_gradient(eddy_add_n((eddy_list){ n, again }), x[me]);
        if (t[2].node == 0) t[2] = ZerosLike(x[me]);
    }
    const bool ok = runs_to(c, g, n_results, t, out);
    eddy_graph_free(g);
    return ok;
}

static bool compare(eddy_communicator *c, kind k, eddy_dtype d, int64_t width, double by)
{
    static const char *const what[RESULTS] = { "value", "gradient", "second gradient" };
    const int   n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    const int   n_results = by > 0 ? RESULTS : 1;
    eddy_array              *got[RESULTS] = { NULL }, *want[RESULTS] = { NULL },
               *a = elements(k, d, n, me, width);
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_constant(g, a), t[RESULTS], y = collective(k, c, x);
    t[0] = y;
    if (by > 0) derivatives(y, loss_of(y, me), x, t);
    bool ok = runs_to(c, g, n_results, t, got) && plain_results(c, k, d, width, n_results, want);
    for (int i = 0; ok && i < n_results; i++)
        ok = expect(c, close_to(got[i], want[i], by), "%s, %s of width %lld: the %s differs",
                    kind_names[k], eddy_dtype_name(d), (long long)width, what[i]);
    for (int i = 0; i < RESULTS; i++) {
        eddy_array_free(got[i]);
        eddy_array_free(want[i]);
    }
    eddy_array_free(a);
    eddy_graph_free(g);
    return ok;
}

/* Short ones travel with the headers, long ones do not. */
static bool all_kinds(eddy_communicator *c, eddy_dtype d, double by)
{
    bool ok = true;
    for (int k = 0; ok && k < KINDS; k++) {
        const bool no_mean = k == MEAN && !eddy_dtype_is_floating(d);
        ok = no_mean || (compare(c, (kind)k, d, 3, by) && compare(c, (kind)k, d, 700, by) &&
                         compare(c, (kind)k, d, 0, by));
    }
    return ok;
}

bool collectives_agree(eddy_communicator *c)
{
    return all_kinds(c, EDDY_FLOAT64, 1e-12) && all_kinds(c, EDDY_FLOAT32, 1e-6);
}

/* Long enough for rings to begin anew, within a complex number. */
static bool complex_agrees(eddy_communicator *c, eddy_dtype d)
{
    const int64_t n = 300001;
    const int     ranks = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    const double  sum = ranks * (ranks - 1) / 2.0;
    eddy_array   *a = eddy_array_new(d, EDDY_SHAPE(n)), *want = eddy_array_new(d, EDDY_SHAPE(n));
    eddy_array   *got = NULL;
    for (int64_t i = 0; i < n; i++) {
        const double re = (double)(i % 101), im = (double)(i % 89);
        eddy_array_set_complex(a, i, re + me, im - me);
        eddy_array_set_complex(want, i, ranks * re + sum, ranks * im - sum);
    }
    eddy_graph *g = eddy_graph_new();
    eddy_tensor y = eddy_all_reduce(c, eddy_constant(g, a));
    const bool  ok = runs_to(c, g, 1, &y, &got) &&
                    expect(c, eddy_array_equal(got, want), "the sum of %s differs",
                           eddy_dtype_name(d));
    eddy_array_free(got);
    eddy_array_free(want);
    eddy_array_free(a);
    eddy_graph_free(g);
    return ok;
}

bool complex_numbers_agree(eddy_communicator *c)
{
    return complex_agrees(c, EDDY_COMPLEX64) && complex_agrees(c, EDDY_COMPLEX128);
}

bool integers_agree(eddy_communicator *c)
{
    return all_kinds(c, EDDY_INT32, 0) && all_kinds(c, EDDY_INT64, 0) &&
           all_kinds(c, EDDY_UINT8, 0);
}
