/* arrays.c -- half types, groups of ranks, calls on arrays, and collectives that are mapped
 * over examples or run in loops. */
#include "tests/lib/ranks/ranks.h"

#include "ops/short_names.h"

#include <math.h>
#include <string.h>

/* Sums of half types are those of float32 in the same order, rounded once. */
static bool half_agrees(eddy_communicator *c, eddy_dtype d, int64_t count)
{
    const int     n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   t[8] = { EDDY_ZERO_TENSOR };
    for (int r = 0; r < n; r++) {
        eddy_array *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(count));
        for (int64_t i = 0; i < count; i++)
            eddy_array_set(a, i, ldexp(sin((double)(i + 1) * (r + 2)), (int)(i % 29) - 14));
        t[r] = eddy_cast(eddy_constant(g, a), d);
        eddy_array_free(a);
    }
    eddy_tensor y = eddy_all_reduce(c, t[me]);
    for (int r = 0; r < n; r++) t[r] = eddy_cast(t[r], EDDY_FLOAT32);
    for (int step = 1; step < n; step *= 2)
        for (int r = 0; r + step < n; r += 2 * step) t[r] = Add(t[r], t[r + step]);
    eddy_tensor   want = eddy_cast(t[0], d);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out[2] = { NULL, NULL };
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(y, want), out);
    const bool ok = expect(c, eddy_array_equal(out[0], out[1]), "%s, %lld elements: %s",
                           eddy_dtype_name(d), (long long)count, eddy_session_message(s));
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

/* The longest is more than what is exchanged at once, and takes a while on many ranks. */
bool halves_agree(eddy_communicator *c)
{
    const int n = eddy_communicator_size(c);
    return half_agrees(c, EDDY_FLOAT16, 50) && half_agrees(c, EDDY_FLOAT16, 9001) &&
           half_agrees(c, EDDY_BFLOAT16, 50) && half_agrees(c, EDDY_BFLOAT16, 9001) &&
           (n > 3 || half_agrees(c, EDDY_BFLOAT16, 300000 * n));
}

/* ------------------------------------------------------------------ groups -- */

/* Whether all elements of a are `want`. */
static bool all_are(const eddy_array *a, double want)
{
    int64_t i = 0;
    while (i < eddy_array_count(a) && eddy_array_get(a, i) == want) i++;
    return i > 0 && i == eddy_array_count(a);
}

/* The ranks with even and with odd numbers sum by themselves, and then all ranks do: long arrays,
 * which two ranks may combine as they come. */
bool groups_agree(eddy_communicator *c)
{
    const int n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    int       ranks[8], count = 0, sum = 0;
    for (int r = n - 1; r >= 0; r--)
        if (r % 2 == me % 2) {
            ranks[count++] = r;
            sum += r + 1;
        }
    eddy_error         e = { 0 };
    eddy_communicator *group = eddy_communicator_group(c, ranks, count, &e);
    if (!expect(c, group != NULL, "%s", e.message)) return false;
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   own = Mul(eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(200000)), me + 1);
    eddy_tensor   part = eddy_all_reduce(group, own);
    eddy_tensor   all = eddy_all_reduce(c, part);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out[2] = { NULL, NULL };
    double        total = 0;
    for (int r = 0; r < n; r++)
        for (int q = 0; q < n; q++) total += q % 2 == r % 2 ? q + 1 : 0;
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(part, all), out);
    bool ok = expect(c, all_are(out[0], sum) && all_are(out[1], total),
                     "sums of groups are not %d and %g: %s", sum, total, eddy_session_message(s));
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    ok = ok &&
         expect(c, eddy_communicator_rank(group) < count && eddy_communicator_size(group) == count,
                "the numbers of a group");
    eddy_session_free(s);
    eddy_graph_free(g);
    eddy_communicator_free(group);
    return ok;
}

/* ------------------------------------------------------------------ arrays -- */

/* Element i becomes a sum over ranks r of (r + 1) (i % 1000), in place and in a graph, which keeps
 * the input. The array is longer than what is exchanged at once. */
static bool long_array_agrees(eddy_communicator *c)
{
    const int     n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    const int64_t count = n * ((1 << 19) / 8) + 12345;
    eddy_error    e = { 0 };
    eddy_graph   *g = eddy_graph_new();
    eddy_array   *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(count)), *out[5] = { NULL };
    for (int64_t i = 0; i < count; i++)
        ((double *)eddy_array_data(a))[i] = (double)((me + 1) * (i % 1000));
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(count));
    eddy_tensor   y = eddy_all_reduce(c, x), z = eddy_reduce_to_root(c, x, .root = n - 1);
    eddy_tensor   some = eddy_slice(x, EDDY_DIMS(0), EDDY_DIMS(100)), next = Add(x, 1), list[3];
    eddy_all_reduce_list(c, EDDY_LIST(x, some, next), EDDY_REDUCE_SUM, list);
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y, z, list[0], list[1], list[2]), out);
    bool ok = expect(c, out[4] != NULL, "%s", eddy_session_message(s)) &&
              expect(c, eddy_array_all_reduce(c, EDDY_REDUCE_SUM, a, &e), "%s", e.message);
    for (int64_t i = 0; ok && i < count; i++) {
        const double want = (double)(n * (n + 1) / 2 * (i % 1000));
        ok = expect(c, ((double *)eddy_array_data(a))[i] == want &&
                           ((double *)eddy_array_data(out[0]))[i] == want &&
                           ((double *)eddy_array_data(out[2]))[i] == want &&
                           (i > 99 || ((double *)eddy_array_data(out[3]))[i] == want) &&
                           ((double *)eddy_array_data(out[4]))[i] == want + n &&
                           ((double *)eddy_array_data(out[1]))[i] == (me == n - 1 ? want : 0),
                    "element %lld of a long array", (long long)i);
        ((double *)eddy_array_data(a))[i] = (double)(me * count + i);
    }
    ok = ok && expect(c, eddy_array_broadcast(c, n - 1, a, &e), "%s", e.message);
    for (int64_t i = 0; ok && i < count; i++)
        ok = expect(c, ((double *)eddy_array_data(a))[i] == (double)((n - 1) * count + i),
                    "element %lld of a long array from the last rank", (long long)i);
    eddy_array_free(a);
    for (int i = 0; i < 5; i++) eddy_array_free(out[i]);
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

bool arrays_agree(eddy_communicator *c)
{
    enum { LONG = 3000 };
    const int   n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    eddy_error  e = { 0 };
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(LONG)),
               *one = eddy_array_of(EDDY_INT64, me);
    for (int64_t i = 0; i < LONG; i++) eddy_array_set(a, i, (double)(i * (me + 1)));
    bool ok = eddy_array_all_reduce(c, EDDY_REDUCE_MAX, a, &e) &&
              eddy_array_all_reduce(c, EDDY_REDUCE_SUM, one, &e);
    for (int64_t i = 0; ok && i < LONG; i++)
        ok = expect(c, eddy_array_get(a, i) == (double)(i * n), "element %lld", (long long)i);
    ok = ok && expect(c, eddy_array_item(one) == n * (n - 1) / 2, "a sum of integers");
    eddy_array_set(a, LONG - 1, me);
    ok = ok && eddy_array_broadcast(c, n - 1, a, &e) && eddy_rank_barrier(c, &e) &&
         expect(c, eddy_array_get(a, LONG - 1) == n - 1, "a broadcast");
    expect(c, ok, "%s", e.message);
    eddy_array_free(a);
    eddy_array_free(one);
    return ok && long_array_agrees(c);
}

/* -------------------------------------------------------------------- maps -- */

typedef struct mapped {
    eddy_communicator *c;
    int                kind;
} mapped;

static eddy_tensor one_of(const mapped *m, eddy_tensor x)
{
    const int n = eddy_communicator_size(m->c), me = eddy_communicator_rank(m->c);
    switch (m->kind) {
    case 0: return eddy_all_reduce(m->c, x, EDDY_REDUCE_MEAN);
    case 1: return eddy_all_gather(m->c, x);
    case 2: return eddy_reduce_scatter(m->c, x);
    case 3: return eddy_all_to_all(m->c, x);
    case 4: return eddy_broadcast_from_root(m->c, x, .root = 0);
    case 5: return eddy_reduce_to_root(m->c, x, .root = 0);
    default: return eddy_send_receive(m->c, x, .to = (me + 1) % n, .from = (me + n - 1) % n);
    }
}

static int build_one(eddy_list x, eddy_tensor *y, void *context)
{
    y[0] = one_of(context, x.at[0]);
    return 1;
}

/* A map over examples is the same as each example by itself, stacked; so is its gradient. */
static bool map_agrees(eddy_communicator *c, int kind)
{
    enum { EXAMPLES = 3 };
    const int   n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    mapped      m = { c, kind };
    eddy_graph *g = eddy_graph_new();
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(EXAMPLES, 2 * n, 2));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, sin((double)(i + 10 * me)));
    eddy_tensor x = eddy_constant(g, a), y[1], each[EXAMPLES], t[4];
    eddy_array *out[4] = { NULL };
    eddy_vmap({ .build = build_one, .context = &m }, EDDY_LIST(x), .out = y);
    for (int i = 0; i < EXAMPLES; i++)
        each[i] = one_of(&m, eddy_reshape(eddy_slice(x, EDDY_DIMS(i, 0, 0), EDDY_DIMS(1, -1, -1)),
                                          EDDY_SHAPE(2 * n, 2)));
    t[0] = y[0];
    t[1] = eddy_stack((eddy_list){ EXAMPLES, each });
    for (int i = 0; i < 2; i++) t[2 + i] = eddy_gradient(eddy_sum(Mul(Square(t[i]), me + 1.0)), x);
    eddy_session *s = eddy_session_new(g);
    bool ok = eddy_run(s, EDDY_FEED(), (eddy_list){ 4, t }, out) == EDDY_OK;
    ok = expect(c, ok, "map %d: %s", kind, eddy_session_message(s)) &&
         expect(c, eddy_array_equal(out[0], out[1]), "map %d: another value", kind);
    for (int64_t i = 0; ok && i < eddy_array_count(out[2]); i++)
        ok = expect(c, fabs(eddy_array_get(out[2], i) - eddy_array_get(out[3], i)) < 1e-12,
                    "map %d: another gradient", kind);
    for (int i = 0; i < 4; i++) eddy_array_free(out[i]);
    eddy_array_free(a);
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

bool maps_agree(eddy_communicator *c)
{
    bool ok = true;
    for (int kind = 0; ok && kind < 7; kind++) ok = map_agrees(c, kind);
    return ok;
}

/* ------------------------------------------------------------------- loops -- */

static eddy_tensor one_turn(eddy_communicator *c, eddy_tensor x)
{
    return eddy_tanh(Mul(x, eddy_all_reduce(c, Mul(x, 0.7))));
}

static int build_turn(eddy_list x, eddy_tensor *y, void *context)
{
    y[0] = one_turn(context, x.at[0]);
    return 1;
}

/* A loop is the same as its turns one after another; so is its gradient. Collectives before and
 * behind the loop are not part of it. */
bool loops_agree(eddy_communicator *c)
{
    enum { TURNS = 4 };
    const double  at[] = { 0.3 + eddy_communicator_rank(c), -0.2 };
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(2), at);
    eddy_tensor   before = eddy_all_reduce(c, x), y[1], plain = x;
    eddy_array   *out[5] = { NULL };
    eddy_iterate(TURNS, .f = { .build = build_turn, .context = c }, .x = EDDY_LIST(x), .out = y);
    for (int i = 0; i < TURNS; i++) plain = one_turn(c, plain);
    eddy_tensor t[] = { y[0], plain, eddy_gradient(eddy_sum(Square(y[0])), x),
                        eddy_gradient(eddy_sum(Square(plain)), x), before };
    eddy_session *s = eddy_session_new(g);
    bool          ok = eddy_run(s, EDDY_FEED(), (eddy_list){ 5, t }, out) == EDDY_OK;
    expect(c, ok, "%s", eddy_session_message(s));
    for (int64_t i = 0; ok && i < 4; i++) {
        const int    k = (int)(i / 2) * 2;
        const double got = eddy_array_get(out[k], i % 2), want = eddy_array_get(out[k + 1], i % 2);
        ok = expect(c, fabs(got - want) <= 1e-12 * (1 + fabs(want)), "%g in a loop, not %g", got,
                    want);
    }
    for (int i = 0; i < 5; i++) eddy_array_free(out[i]);
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}
