/* test_views.c -- values that are parts of another value's memory: splitting and concatenating
 * along the first axis copies nothing, and no reader sees a value change because of it. */
#include "session/state/internal.h"
#include "tests/lib/graph_fixture.h"

Suite *views_suite(void);

enum { ROWS = 6, COLUMNS = 4, COUNT = ROWS * COLUMNS, MOST = 16 };

/* ----------------------------------------------------------- what is there -- */

static eddy_array *count_up(int64_t rows, int64_t columns)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(rows, columns));
    for (int64_t i = 0; i < rows * columns; i++) eddy_array_set(a, i, (double)i);
    return a;
}

static eddy_tensor placed(int64_t rows, int64_t columns)
{
    return eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(rows, columns));
}

static eddy_tensor variable(int64_t rows, int64_t columns)
{
    eddy_array *a = count_up(rows, columns);
    eddy_tensor v = eddy_variable(g, eddy_constant(g, a, NULL));
    eddy_array_free(a);
    return v;
}

static eddy_tensor rows_of(eddy_tensor x, int64_t begin, int64_t n)
{
    return eddy_slice(x, EDDY_DIMS(begin, 0), EDDY_DIMS(n, -1));
}

/* Without these passes, all values have memory of their own, and some of it is kept. */
static const unsigned without[] = {
    EDDY_PASSES_ALL, EDDY_PASS_REUSE, EDDY_PASS_IN_PLACE, EDDY_PASS_FUSE, EDDY_PASS_SCHEDULE,
    EDDY_PASS_MERGE | EDDY_PASS_SIMPLIFY, EDDY_PASS_IN_PLACE | EDDY_PASS_FUSE,
    EDDY_PASS_SCHEDULE | EDDY_PASS_FUSE,
    EDDY_PASS_FOLD | EDDY_PASS_SCHEDULE | EDDY_PASS_IN_PLACE, 0
};
enum { WAYS = sizeof without / sizeof *without };

/* Runs the fetches three times in a session without each of these passes: always the same
 * bits.  The plan with all passes, and in `first` the values of its first run. */
static eddy_plan_info alike(eddy_feeds feeds, eddy_list fetches, eddy_array **first)
{
    enum { RUNS = 3 };
    eddy_array    *want[RUNS][MOST] = { { NULL } };
    eddy_plan_info info = { 0 };
    ck_assert_int_le(fetches.count, MOST);
    fits(g);
    for (int way = 0; way < WAYS; way++) {
        eddy_session *s = eddy_session_new(g, .without = without[way], .threads = way % 3);
        runs(s, eddy_initializer(g));
        for (int run = 0; run < RUNS; run++) {
            eddy_array *out[MOST] = { NULL };
            const eddy_status status = eddy_run(s, feeds, fetches, out);
            ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(s));
            for (int i = 0; i < fetches.count; i++) {
                if (way == 0) want[run][i] = eddy_array_retain(out[i]);
                else ck_assert_msg(eddy_array_equal(out[i], want[run][i]) || !out[i],
                                   "fetch %d of run %d without 0x%x", i, run, without[way]);
                eddy_array_free(out[i]);
            }
        }
        for (const eddy_plan *plan = s->plans; plan; plan = plan->next) {
            eddy_error error = { 0 };
            ck_assert_msg(eddy__plan_check(plan, &error), "%s", error.message);
        }
        info = eddy_session_plan_info(s);
        eddy_session_free(s);
    }
    for (int run = 0; run < RUNS; run++)
        for (int i = 0; i < fetches.count; i++) {
            if (run == 0 && first) first[i] = eddy_array_retain(want[run][i]);
            eddy_array_free(want[run][i]);
        }
    return info;
}

/* The elements first, first + 1, ... */
static void counts_from(const eddy_array *a, double first, int64_t n)
{
    ck_assert_int_eq(eddy_array_count(a), n);
    for (int64_t i = 0; i < n; i++) ck_assert_double_eq(eddy_array_get(a, i), first + (double)i);
}

/* ------------------------------------------------------------------ parts -- */

static const int64_t sizes[] = { 1, 0, -1, 3 };

/* Along the first axis: places of x, and how many. */
static const struct {
    int         op, output;
    int64_t     first, rows;
} apart[] = {
    { 0, 0, 2, 3 }, { 0, 0, 0, 6 }, { 1, 0, 1, 2 }, { 2, 0, 0, 2 }, { 2, 2, 4, 2 }, { 3, 0, 0, 1 },
    { 3, 1, 1, 0 }, { 3, 2, 1, 2 }, { 3, 3, 3, 3 }, { 4, 1, 4, 2 }, { 5, 0, 0, 1 }, { 5, 5, 5, 1 },
};
enum { APART = sizeof apart / sizeof *apart };

static eddy_tensor taken(eddy_tensor x, int i)
{
    const eddy_tensor two = placed(2, COLUMNS), four = placed(4, COLUMNS);
    switch (apart[i].op) {
    case 0:  return rows_of(x, apart[i].first, apart[i].rows);
    case 1:  return eddy_slice_like(x, two, EDDY_DIMS(apart[i].first, 0));
    case 2:  return eddy_output(eddy_split(x, 3), apart[i].output);
    case 3:  return eddy_output(eddy_split_sizes(x, sizes, 4), apart[i].output);
    case 4:  return eddy_output(eddy_split_like(x, EDDY_LIST(four, two), 0), apart[i].output);
    default: return eddy_output(eddy_unstack(x), apart[i].output);
    }
}

/* A feed, a variable, a constant, a temporary of the plan: nothing is copied. */
START_TEST(parts_along_the_first_axis)
{
    const double first = (double)(apart[_i].first * COLUMNS);
    const int64_t n = apart[_i].rows * COLUMNS;
    eddy_array *in = count_up(ROWS, COLUMNS), *out = NULL;
    eddy_tensor x = placed(ROWS, COLUMNS), given[] = { x, variable(ROWS, COLUMNS), Sub(x, 1) };
    for (int k = 0; k < 3; k++) {
        const int made = k == 2;
        eddy_list y = EDDY_FETCH(taken(given[k], _i));
        ck_assert_int_eq(alike(EDDY_FEED({ x, in }), y, &out).instructions, made);
        counts_from(out, first - made, n);
        eddy_array_free(out);
    }
    eddy_array_free(in);
}
END_TEST

/* A constant that is too large to be folded. */
START_TEST(parts_of_a_constant)
{
    enum { MANY = 1 << 18 };
    eddy_array *a = count_up(MANY, 2), *out = NULL;
    eddy_tensor x = eddy_constant(g, a, NULL), y = rows_of(x, 7, MANY - 8);
    ck_assert_int_eq(alike(EDDY_FEED(), EDDY_FETCH(y), &out).instructions, 0);
    counts_from(out, 14, 2 * (MANY - 8));
    eddy_array_free(a);
    eddy_array_free(out);
}
END_TEST

/* Rows of which each lies elsewhere are copied; places before the axis do not count if
 * there is one of each. */
START_TEST(parts_along_other_axes)
{
    eddy_array *in = count_up(ROWS, COLUMNS), *out[3] = { NULL };
    eddy_tensor x = placed(ROWS, COLUMNS);
    eddy_tensor inner = eddy_slice(x, EDDY_DIMS(1, 1), EDDY_DIMS(2, 2));
    eddy_tensor row = eddy_slice(x, EDDY_DIMS(2, 1), EDDY_DIMS(1, 2));
    eddy_tensor flat = eddy_reshape(x, EDDY_SHAPE(1, COUNT));
    eddy_tensor half = eddy_output(eddy_split(flat, 2, .axis = 1), 1);
    eddy_list some = EDDY_FETCH(inner, row, half);
    ck_assert_int_eq(alike(EDDY_FEED({ x, in }), some, out).instructions, 1);
    ck_assert_double_eq(eddy_array_get(out[0], 1), COLUMNS + 2);
    ck_assert_double_eq(eddy_array_get(out[0], 2), 2 * COLUMNS + 1);
    counts_from(out[1], 2 * COLUMNS + 1, 2);
    counts_from(out[2], COUNT / 2, COUNT / 2);
    for (int i = 0; i < 3; i++) eddy_array_free(out[i]);
    eddy_tensor columns = eddy_unstack(x, 1);
    eddy_list all = EDDY_FETCH(columns, eddy_output(columns, 3));
    ck_assert_int_eq(alike(EDDY_FEED({ x, in }), all, out).instructions, 1);
    for (int i = 0; i < ROWS; i++) ck_assert_double_eq(eddy_array_get(out[1], i), 4 * i + 3);
    for (int i = 0; i < 2; i++) eddy_array_free(out[i]);
    eddy_array_free(in);
}
END_TEST

/* Parts of other shapes of parts. */
START_TEST(chains_of_views)
{
    eddy_array *in = count_up(ROWS, COLUMNS), *out[2] = { NULL };
    eddy_tensor x = placed(ROWS, COLUMNS), made = Sub(x, 1);
    for (int k = 0; k < 2; k++) {
        eddy_tensor cube = eddy_reshape(k ? made : x, EDDY_SHAPE(2, 3, COLUMNS));
        eddy_tensor second = eddy_output(eddy_unstack(cube), 1);               /* from 12 on */
        eddy_tensor pairs = eddy_reshape(rows_of(second, 1, 2), EDDY_SHAPE(4, 2));  /* 16 */
        eddy_tensor last = eddy_output(eddy_split(pairs, 2), 1);               /* 20 */
        eddy_plan_info info = alike(EDDY_FEED({ x, in }), EDDY_FETCH(last, Neg(pairs)), out);
        ck_assert_int_eq(info.instructions, 1 + k);
        counts_from(out[0], 20 - k, 4);
        eddy_array_free(out[0]);
        eddy_array_free(out[1]);
    }
    eddy_array_free(in);
}
END_TEST

/* ----------------------------------------------------------------- hazards -- */

/* Parts of a variable are those from before the run, unless they wait for an update; and
 * for the sake of a part, the whole variable is not copied. */
START_TEST(parts_of_a_variable)
{
    enum { MANY = 4096 };
    eddy_array *out[4] = { NULL };
    eddy_tensor v = variable(MANY, COLUMNS), hundred = eddy_number(g, EDDY_FLOAT64, 100);
    eddy_tensor before = rows_of(v, 1, 2), late = rows_of(v, 3, 2);
    eddy_tensor add = eddy_assign_add(v, eddy_broadcast_like(hundred, v));
    eddy_control_begin(g, EDDY_LIST(add));
    eddy_tensor behind = rows_of(v, 1, 2), mixed = Sub(behind, late);
    eddy_control_end(g);
    eddy_tensor updated = rows_of(add, 1, 2);
    eddy_plan_info info =
        alike(EDDY_FEED(), EDDY_FETCH(before, behind, updated, mixed), out);
    counts_from(out[0], 4, 8);
    counts_from(out[1], 104, 8);
    counts_from(out[2], 104, 8);
    for (int i = 0; i < 8; i++) ck_assert_double_eq(eddy_array_get(out[3], i), 92);
    ck_assert_uint_lt(info.arena_bytes, MANY * COLUMNS * sizeof(double) + 4096);
    for (int i = 0; i < 4; i++) eddy_array_free(out[i]);
}
END_TEST

/* An update may not read parts of the variable that it changes, nor be fused with such reads. */
START_TEST(updates_of_what_is_viewed)
{
    eddy_array *out[4] = { NULL };
    eddy_tensor v = variable(ROWS, COLUMNS), w = variable(ROWS, COLUMNS);
    eddy_tensor last = rows_of(v, ROWS - 1, 1), reversed[ROWS];
    for (int i = 0; i < ROWS; i++) reversed[i] = rows_of(w, ROWS - 1 - i, 1);
    eddy_tensor y = Sub(v, last), z = Add(Neg(y), last), a = eddy_assign_sub(v, z);
    eddy_tensor b = eddy_assign(w, eddy_concat((eddy_list){ ROWS, reversed }));
    alike(EDDY_FEED(), EDDY_FETCH(y, a, b, rows_of(w, 2, 2)), out);
    for (int i = 0; i < COUNT; i++) {
        const double last_i = COUNT - COLUMNS + i % COLUMNS, y_i = i - last_i;
        ck_assert_double_eq(eddy_array_get(out[0], i), y_i);
        ck_assert_double_eq(eddy_array_get(out[1], i), i - (last_i - y_i));
        ck_assert_double_eq(eddy_array_get(out[2], i),
                            (ROWS - 1 - i / COLUMNS) * COLUMNS + i % COLUMNS);
    }
    counts_from(out[3], 2 * COLUMNS, 2 * COLUMNS);
    for (int i = 0; i < 4; i++) eddy_array_free(out[i]);
}
END_TEST

/* Nothing overwrites a value of which a part is read later, or at other places by the
 * same instruction; several tiles, for loops on many elements. */
START_TEST(parts_are_not_overwritten)
{
    enum { MANY = 5000 };
    eddy_array *in = count_up(MANY, COLUMNS), *out[4] = { NULL };
    eddy_tensor x = placed(MANY, COLUMNS), made = Neg(x), part = rows_of(made, MANY - 1, 1);
    eddy_tensor moved = Add(made, part), again = Mul(Add(made, 1), 2), end = Sub(again, part);
    eddy_tensor scan = eddy_cumsum(Neg(made)), first = rows_of(scan, 0, 1), y = Sub(scan, first);
    alike(EDDY_FEED({ x, in }), EDDY_FETCH(moved, end, y, rows_of(made, 3, 1)), out);
    for (int i = 0; i < MANY * COLUMNS; i += 777) {
        const double last = (MANY - 1) * COLUMNS + i % COLUMNS, row = i / COLUMNS;
        ck_assert_double_eq(eddy_array_get(out[0], i), -i - last);
        ck_assert_double_eq(eddy_array_get(out[1], i), (1 - i) * 2 + last);
        ck_assert_double_eq(eddy_array_get(out[2], i),
                            row * (i % COLUMNS) + COLUMNS * row * (row + 1) / 2);
    }
    for (int i = 0; i < COLUMNS; i++)
        ck_assert_double_eq(eddy_array_get(out[3], i), -3 * COLUMNS - i);
    for (int i = 0; i < 4; i++) eddy_array_free(out[i]);
    eddy_array_free(in);
}
END_TEST

/* A small part that is read late does not keep a large value. */
START_TEST(a_small_part_is_copied)
{
    enum { MANY = 4096, BYTES = MANY * COLUMNS * sizeof(double) };
    eddy_array *in = count_up(MANY, COLUMNS), *out = NULL;
    eddy_tensor x = placed(MANY, COLUMNS), y = x, parts = { 0 };
    for (int i = 0; i < 8; i++) {
        y = eddy_cumsum(Sub(y, 1));
        parts = i ? Add(parts, rows_of(y, 5, 1)) : rows_of(y, 5, 1);
    }
    eddy_plan_info info = alike(EDDY_FEED({ x, in }), EDDY_FETCH(Sub(Sum(parts), Sum(y))), &out);
    ck_assert_uint_lt(info.arena_bytes, 3 * BYTES);
    eddy_array_free(in);
    eddy_array_free(out);
}
END_TEST

/* ------------------------------------------------------------------- joins -- */

/* Running sums of x, of those, and so on: each an instruction by itself. */
static void sums_of(eddy_tensor x, int n, eddy_tensor *y)
{
    for (int i = 0; i < n; i++) y[i] = eddy_cumsum(i ? y[i - 1] : x);
}

/* Computed parts are written straight into the joined array; feeds, and parts that appear a second
 * time, are copied there. */
START_TEST(joined_in_place)
{
    enum { BYTES = 2 * COLUMNS * sizeof(double) };
    eddy_array *in = count_up(2, COLUMNS), *out = NULL;
    eddy_tensor x = placed(2, COLUMNS), s[3];
    sums_of(x, 3, s);
    eddy_tensor joined[] = {
        eddy_concat(EDDY_LIST(s[2], s[0], s[1])), eddy_stack(EDDY_LIST(s[0], s[1], s[2])),
        eddy_concat(EDDY_LIST(s[0], x, s[1], s[2])), eddy_concat(EDDY_LIST(s[0], s[1], s[0], s[2])),
        eddy_stack(EDDY_LIST(eddy_reshape(s[1], EDDY_SHAPE(COLUMNS, 2)),
                             eddy_reshape(s[2], EDDY_SHAPE(COLUMNS, 2))))
    };
    const int copies[] = { 0, 0, 1, 1, 0 }, parts[] = { 3, 3, 4, 4, 3 };
    for (int i = 0; i < 5; i++) {
        eddy_plan_info info = alike(EDDY_FEED({ x, in }), EDDY_FETCH(joined[i]), &out);
        ck_assert_int_eq(info.instructions, 3 + copies[i]);
        ck_assert_uint_eq(info.arena_bytes, (size_t)parts[i] * BYTES);
        eddy_array_free(out);
    }
    eddy_array_free(in);
}
END_TEST

/* Joins of joins; pieces that are read otherwise, fetched, empty, or broadcast to others. */
START_TEST(joined_and_read)
{
    eddy_array *in = count_up(3, COLUMNS), *out[6] = { NULL };
    eddy_tensor x = placed(3, COLUMNS), s[4], none = Neg(rows_of(x, 0, 0));
    sums_of(x, 4, s);
    eddy_tensor a = eddy_concat(EDDY_LIST(s[0], none, s[1])), b = Neg(s[1]);
    eddy_tensor c = eddy_concat(EDDY_LIST(s[2], a, b)), d = eddy_cumsum(c);
    eddy_tensor e = Add(c, rows_of(c, 4, 1)), f = Sub(s[0], rows_of(a, 3, 3));
    eddy_tensor h = eddy_concat(EDDY_LIST(Abs(b), Add(s[2], rows_of(s[0], 1, 1)), Mul(b, b)));
    alike(EDDY_FEED({ x, in }), EDDY_FETCH(c, d, e, f, h, s[3]), out);
    for (int i = 0; i < COLUMNS; i++) {         /* the first row of every sum is that of x */
        ck_assert_double_eq(eddy_array_get(out[5], i), i);
        ck_assert_double_eq(eddy_array_get(out[0], 6 * COLUMNS + i), i);
        ck_assert_double_eq(eddy_array_get(out[0], 9 * COLUMNS + i), -i);
        ck_assert_double_eq(eddy_array_get(out[2], i), i + (COLUMNS + 2 * i));
        ck_assert_double_eq(eddy_array_get(out[4], 6 * COLUMNS + i), (double)i * i);
    }
    for (int i = 0; i < 6; i++) eddy_array_free(out[i]);
    eddy_array_free(in);
}
END_TEST

/* The gradient of taking apart is putting together, and the other way round. */
START_TEST(gradients)
{
    eddy_tensor x = variable(ROWS, COLUMNS), row = eddy_unstack(x), h = row, all[ROWS], d[2];
    for (int i = 0; i < ROWS; i++) {
        h = Tanh(Sub(Mul(h, 0.5), Mul(eddy_output(row, i), 0.125)));
        all[i] = h;
    }
    eddy_tensor y = eddy_stack((eddy_list){ ROWS, all }), loss = Sum(Square(y));
    eddy_gradients(EDDY_LIST(loss), EDDY_LIST(x), d);
    eddy_gradients(EDDY_LIST(Sum(Square(d[0]))), EDDY_LIST(x), d + 1);
    alike(EDDY_FEED(), EDDY_FETCH(y, loss, d[0], d[1]), NULL);
    alike(EDDY_FEED(), EDDY_FETCH(eddy_assign_sub(x, d[0]), loss), NULL);
    eddy_session *session = eddy_session_new(g);
    runs(session, eddy_initializer(g));
    const eddy_tensor of = Add(loss, Sum(Square(d[0])));
    ck_assert_double_lt(eddy_gradient_error(session, EDDY_LIST(of), EDDY_LIST(x)), 1e-5);
    eddy_session_free(session);
}
END_TEST

/* ---------------------------------------------------------- random programs -- */

enum { PROGRAMS = 300, STEPS = 40, POOL = 400, VARIABLES = 3 };

/* Matrices of COLUMNS columns and small whole numbers: sums of them are exact. */
typedef struct program {
    uint64_t    random;
    int         n, n_updates;
    eddy_tensor at[POOL], variable[VARIABLES], update[STEPS];
} program;

static int drawn(program *p, int n)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (int)((p->random >> 33) % (uint64_t)n);
}

static int64_t rows(eddy_tensor t) { return eddy_shape_of(t).dim[0]; }

static void add(program *p, eddy_tensor t)
{
    if (p->n < POOL && rows(t) <= 64) p->at[p->n++] = t;
}

/* One of the last, mostly. */
static eddy_tensor any(program *p)
{
    return p->at[drawn(p, 3) || p->n < 8 ? drawn(p, p->n) : p->n - 1 - drawn(p, 8)];
}

static eddy_tensor any_of(program *p, int64_t n, eddy_tensor otherwise)
{
    for (int i = 0; i < 20; i++) {
        const eddy_tensor t = any(p);
        if (rows(t) == n) return t;
    }
    return otherwise;
}

static eddy_tensor bounded(eddy_tensor t) { return Maximum(Minimum(t, 999), -999); }

static eddy_tensor some_rows(program *p, eddy_tensor t)
{
    const int n = (int)rows(t), first = drawn(p, n + 1);
    return rows_of(t, first, drawn(p, n - first + 1));
}

static eddy_tensor combined(program *p, eddy_tensor a)
{
    const eddy_tensor of = drawn(p, 2) ? a : any(p);
    const int64_t     n = rows(of);
    const eddy_tensor row = n > 0 ? rows_of(of, drawn(p, (int)n), 1) : of;
    const eddy_tensor b = drawn(p, 2) && n > 0 ? row : any_of(p, rows(a), a);
    return drawn(p, 2) ? bounded(Add(a, b)) : Minimum(b, Sub(5, a));
}

static void take_apart(program *p, eddy_tensor a)
{
    const int     n = (int)rows(a), cut = drawn(p, n + 1);
    const int64_t two[] = { cut, n - cut };
    eddy_tensor   y = n > 0 && drawn(p, 2) ? eddy_unstack(a) : eddy_split_sizes(a, two, 2);
    const bool    flat = eddy_shape_of(y).rank == 1;
    for (int k = 0; k < (flat ? n : 2); k++) {
        const eddy_tensor part = eddy_output(y, k);
        add(p, flat ? eddy_reshape(part, EDDY_SHAPE(1, COLUMNS)) : part);
    }
}

static void put_together(program *p, eddy_tensor a)
{
    eddy_tensor list[4] = { a };
    const int   n = 1 + drawn(p, 4);
    const bool  stack = drawn(p, 3) == 0;
    for (int i = 1; i < n; i++) list[i] = stack ? any_of(p, rows(a), a) : any(p);
    if (!stack) add(p, eddy_concat((eddy_list){ n, list }));
    else add(p, eddy_reshape(eddy_stack((eddy_list){ n, list }), EDDY_SHAPE(n * rows(a), COLUMNS)));
}

static void change(program *p)
{
    const eddy_tensor v = p->variable[drawn(p, VARIABLES)], x = any_of(p, rows(v), v);
    const int         kind = drawn(p, 3);
    const eddy_tensor u = kind == 0   ? eddy_assign(v, x)
                          : kind == 1 ? eddy_assign_add(v, Sub(bounded(x), v))
                                      : eddy_assign_sub(v, x);
    p->update[p->n_updates++] = u;
    add(p, drawn(p, 2) ? bounded(u) : some_rows(p, u));
    if (drawn(p, 2)) return;
    eddy_control_begin(g, EDDY_LIST(u));
    add(p, some_rows(p, v));
    add(p, bounded(eddy_cumsum(v)));
    eddy_control_end(g);
}

static void step(program *p)
{
    const eddy_tensor a = any(p);
    switch (drawn(p, 10)) {
    case 0:  change(p); break;
    case 1:  take_apart(p, a); break;
    case 2:
    case 3:  put_together(p, a); break;
    case 4:  add(p, some_rows(p, a)); break;
    case 5:  add(p, bounded(eddy_cumsum(a))); break;
    case 6:  add(p, bounded(Sum(a, EDDY_AXES(0), .keepdims = true))); break;
    case 7:  add(p, Abs(a)); break;
    default: add(p, combined(p, a)); break;
    }
}

START_TEST(random_programs)
{
    enum { FETCHES = 6 };
    program     p = { .random = (uint64_t)_i * 77 + 1 };
    eddy_tensor x = placed(ROWS, COLUMNS), fetch[FETCHES + STEPS];
    eddy_array *in = count_up(ROWS, COLUMNS);
    int         n = 0;
    add(&p, x);
    for (int i = 0; i < VARIABLES; i++) add(&p, p.variable[i] = variable(2 + 2 * i, COLUMNS));
    for (int i = 0; i < STEPS; i++) step(&p);
    for (int i = 0; i < FETCHES; i++) fetch[n++] = any(&p);
    for (int i = 0; i < p.n_updates && n < MOST; i++) fetch[n++] = p.update[i];
    alike(EDDY_FEED({ x, in }), (eddy_list){ n, fetch }, NULL);
    eddy_array_free(in);
}
END_TEST

Suite *views_suite(void)
{
    Suite *suite = suite_create("views");
    TCase *c = tcase_create("views");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, parts_along_the_first_axis, 0, APART);
    tcase_add_test(c, parts_of_a_constant);
    tcase_add_test(c, parts_along_other_axes);
    tcase_add_test(c, chains_of_views);
    tcase_add_test(c, parts_of_a_variable);
    tcase_add_test(c, updates_of_what_is_viewed);
    tcase_add_test(c, parts_are_not_overwritten);
    tcase_add_test(c, a_small_part_is_copied);
    tcase_add_test(c, joined_in_place);
    tcase_add_test(c, joined_and_read);
    tcase_add_test(c, gradients);
    tcase_add_loop_test(c, random_programs, 0, PROGRAMS);
    suite_add_tcase(suite, c);
    return suite;
}
