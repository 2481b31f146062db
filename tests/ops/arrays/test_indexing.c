/* test_indexing.c -- slices, mirrored, reversed and shifted dimensions and indexing by tuples
 * against plain loops; diagonals and blocks against TensorFlow's examples. */
#include "tests/lib/array_trial.h"

Suite *indexing_suite(void);

enum { SEEDS = 150, MOST = 32 };

static eddy_dtype some_dtype(trial *t)
{
    static const eddy_dtype dtypes[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64,
                                         EDDY_UINT8, EDDY_COMPLEX64, EDDY_COMPLEX128 };
    return dtypes[pick(t, 7)];
}

/* -------------------------------------------------------------- slices as text -- */

/* Places taken of each dimension of x, and which of y's are ranges or new. */
typedef struct taken {
    eddy_shape x, y;
    int        dims;                      /* of x, all of them */
    int64_t    n[EDDY_MAX_RANK], at[EDDY_MAX_RANK][MOST];
    int        of[EDDY_MAX_RANK];         /* dimension of x of each of y; -1: new */
    char       text[200];
} taken;

static void add_text(taken *s, const char *entry)
{
    if (s->text[0]) strcat(s->text, ", ");
    strcat(s->text, entry);
}

/* A number of a range, or none: Python's rules, by walking. */
static int64_t walk(int64_t dim, bool has_begin, int64_t begin, bool has_end, int64_t end,
                    int64_t step, int64_t *at)
{
    int64_t n = 0;
    if (has_begin && begin < 0) begin += dim;
    if (has_end && end < 0) end += dim;
    for (int64_t i = step > 0 ? 0 : dim - 1; i >= 0 && i < dim; i += step > 0 ? 1 : -1) {
        const bool after = !has_begin || (step > 0 ? i >= begin : i <= begin);
        const bool before = !has_end || (step > 0 ? i < end : i > end);
        if (!after || !before) continue;
        const int64_t first = !has_begin ? (step > 0 ? 0 : dim - 1)
                            : step > 0 ? (begin < 0 ? 0 : begin) : (begin >= dim ? dim - 1 : begin);
        if ((i - first) % step == 0) at[n++] = i;
    }
    return n;
}

static void draw_range(trial *t, taken *s, int d)
{
    char entry[64] = "", number[24];
    const bool begins = pick(t, 3), ends = pick(t, 3), steps = pick(t, 2);
    const int64_t begin = pick(t, 12) - 6, end = pick(t, 12) - 6;
    const int64_t step = steps ? (pick(t, 2) ? 1 : -1) * (pick(t, 3) + 1) : 1;
    if (begins) snprintf(entry, sizeof entry, "%d", (int)begin);
    strcat(entry, pick(t, 2) ? ":" : " : ");
    if (ends) snprintf(number, sizeof number, "%d", (int)end), strcat(entry, number);
    if (steps) snprintf(number, sizeof number, ":%d", (int)step), strcat(entry, number);
    add_text(s, entry);
    s->n[d] = walk(s->x.dim[d], begins, begin, ends, end, step, s->at[d]);
    s->of[s->y.rank] = d;
    s->y.dim[s->y.rank++] = s->n[d];
}

static void draw_place(trial *t, taken *s, int d)
{
    char number[24];
    const int dim = (int)s->x.dim[d], at = pick(t, dim);
    snprintf(number, sizeof number, "%d", pick(t, 2) ? at : at - dim);
    add_text(s, number);
    s->n[d] = 1;
    s->at[d][0] = at;
}

static void take_rest(taken *s, int from, int to)
{
    for (int d = from; d < to; d++) {
        s->n[d] = s->x.dim[d];
        for (int64_t i = 0; i < s->n[d]; i++) s->at[d][i] = i;
        s->of[s->y.rank] = d;
        s->y.dim[s->y.rank++] = s->n[d];
    }
}

static taken draw_slice(trial *t, eddy_shape x)
{
    taken s = { .x = x, .dims = x.rank };
    const int skipped = pick(t, x.rank + 1), from = pick(t, x.rank - skipped + 1);
    const bool ends = from + skipped == x.rank && pick(t, 2);     /* the rest is left out */
    for (int d = 0; d <= x.rank; d++) {
        if (d == from && !(ends && s.text[0])) {
            add_text(&s, "...");
            take_rest(&s, from, from + skipped);
            d += skipped;
        } else if (d == from) {
            take_rest(&s, from, x.rank);
            break;
        }
        if (d < x.rank && x.dim[d] > 0 && pick(t, 3) == 0) draw_place(t, &s, d);
        else if (d < x.rank) draw_range(t, &s, d);
        if (pick(t, 4) == 0 && s.y.rank < 5) {
            add_text(&s, "newaxis");
            s.of[s.y.rank] = -1;
            s.y.dim[s.y.rank++] = 1;
        }
    }
    return s;
}

static int64_t taken_from(const void *how, const int64_t *at)
{
    const taken *s = how;
    int64_t where[EDDY_MAX_RANK];
    for (int d = 0; d < s->dims; d++) where[d] = s->at[d][0];
    for (int i = 0; i < s->y.rank; i++)
        if (s->of[i] >= 0) where[s->of[i]] = s->at[s->of[i]][at[i]];
    return place(s->x, where);
}

START_TEST(slices)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_shape s = some_shape(&t, 1, 4);
    eddy_array *x = filled(&t, some_dtype(&t), s);
    eddy_tensor in = fed(&t, x);
    const taken how = draw_slice(&t, s);
    eddy_tensor y = eddy_index(in, how.text);
    ck_assert_msg(eddy_graph_status(t.graph) == EDDY_OK, "%s: %s", how.text,
                  eddy_graph_message(t.graph));
    check_elements(&t, y, how.y, x, taken_from, &how);
    check_gradient(&t, y, 1, &in);
    trial_end(&t);
}
END_TEST

/* Places beyond the end are no error in a range, and are one alone. */
START_TEST(slices_at_their_ends)
{
    trial t = trial_begin(1);
    eddy_tensor x = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(4), (int32_t[]){ 1, 2, 3, 4 });
    eddy_tensor open = eddy_placeholder(t.graph, NULL, EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    check_values(&t, eddy_index(x, "-100:100"), EDDY_SHAPE(4), (const double[]){ 1, 2, 3, 4 });
    check_values(&t, eddy_index(x, "9:"), EDDY_SHAPE(0), NULL);
    check_values(&t, eddy_index(x, "100::-3"), EDDY_SHAPE(2), (const double[]){ 4, 1 });
    check_values(&t, eddy_index(x, "9223372036854775807:-9223372036854775807:-9223372036854775807"),
                 EDDY_SHAPE(1), (const double[]){ 4 });
    check_values(&t, eddy_index(x, "1,"), EDDY_SCALAR, (const double[]){ 2 });
    check_values(&t, eddy_index(x, "..."), EDDY_SHAPE(4), (const double[]){ 1, 2, 3, 4 });
    ck_assert_int_eq(eddy_shape_of(eddy_index(open, "..., newaxis")).rank, EDDY_UNKNOWN_RANK);
    trial_end(&t);
}
END_TEST

/* ----------------------------------------------------------- mirrors and turns -- */

/* y[at] = x[...] with, for each dimension, a function of the place. */
typedef struct moved {
    eddy_shape x;
    int64_t    before[EDDY_MAX_RANK];
    bool       symmetric, reversed[EDDY_MAX_RANK];
    int64_t    shift[EDDY_MAX_RANK], lengths[MOST];
    int        seq, batch;
} moved;

/* Bouncing between the ends until inside. */
static int64_t bounced(int64_t i, int64_t n, bool symmetric)
{
    while (i < 0 || i >= n)
        i = i < 0 ? -i - (symmetric ? 1 : 0) : 2 * n - i - (symmetric ? 1 : 2);
    return i;
}

static int64_t mirrored(const void *how, const int64_t *at)
{
    const moved *m = how;
    int64_t where[EDDY_MAX_RANK];
    for (int d = 0; d < m->x.rank; d++)
        where[d] = bounced(at[d] - m->before[d], m->x.dim[d], m->symmetric);
    return place(m->x, where);
}

START_TEST(mirrors)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_shape s = some_shape(&t, 1, 4);
    moved m = { .x = s, .symmetric = pick(&t, 2) };
    eddy_shape want = s;
    eddy_dims  before = { .count = s.rank }, after = { .count = s.rank };
    for (int d = 0; d < s.rank; d++) {
        const int most = (int)s.dim[d] + (m.symmetric ? 1 : 0), n = most > 0 ? most : 1;
        m.before[d] = before.at[d] = pick(&t, 3) ? pick(&t, n) : 0;
        after.at[d] = pick(&t, 3) ? pick(&t, n) : 0;
        want.dim[d] += before.at[d] + after.at[d];
    }
    eddy_array *x = filled(&t, some_dtype(&t), s);
    eddy_tensor in = fed(&t, x);
    eddy_tensor y = eddy_mirror_pad(in, before, after, m.symmetric);
    check_elements(&t, y, want, x, mirrored, &m);
    check_gradient(&t, y, 1, &in);
    trial_end(&t);
}
END_TEST

static int64_t reversed(const void *how, const int64_t *at)
{
    const moved *m = how;
    int64_t where[EDDY_MAX_RANK];
    for (int d = 0; d < m->x.rank; d++) {
        const int64_t n = m->x.dim[d];
        where[d] = m->reversed[d] ? n - 1 - at[d] : ((at[d] - m->shift[d]) % n + n) % n;
    }
    if (m->seq != m->batch) {
        const int64_t n = m->lengths[at[m->batch]];
        if (at[m->seq] < n) where[m->seq] = n - 1 - at[m->seq];
    }
    return place(m->x, where);
}

START_TEST(turns)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_shape s = some_shape(&t, 1, 4);
    moved m = { .x = s };
    eddy_dims axes = EDDY_NO_DIMS;
    for (int d = 0; d < s.rank; d++)
        if ((m.reversed[d] = pick(&t, 2))) {
            axes.count += axes.count < 0 ? 2 : 1;
            axes.at[axes.count - 1] = pick(&t, 2) ? d : d - s.rank;
        }
    eddy_array *x = filled(&t, some_dtype(&t), s);
    eddy_tensor in = fed(&t, x), y = eddy_reverse(in, axes);
    check_elements(&t, y, s, x, reversed, &m);
    check_gradient(&t, y, 1, &in);
    const int axis = pick(&t, s.rank);
    moved roll = { .x = s };
    roll.shift[axis] = pick(&t, 20) - 10;
    y = eddy_roll(in, roll.shift[axis], pick(&t, 2) ? axis : axis - s.rank);
    check_elements(&t, y, s, x, reversed, &roll);
    check_gradient(&t, y, 1, &in);
    trial_end(&t);
}
END_TEST

START_TEST(sequences)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_shape s = some_shape(&t, 2, 4);
    moved m = { .x = s, .seq = pick(&t, s.rank) };
    m.batch = (m.seq + 1 + pick(&t, s.rank - 1)) % s.rank;
    eddy_array *x = filled(&t, some_dtype(&t), s);
    eddy_array *n = eddy_array_new(pick(&t, 2) ? EDDY_INT32 : EDDY_INT64,
                                   EDDY_SHAPE(s.dim[m.batch]));
    for (int64_t i = 0; i < s.dim[m.batch]; i++) {
        m.lengths[i] = pick(&t, (int)s.dim[m.seq] + 1);
        eddy_array_set(n, i, (double)m.lengths[i]);
    }
    eddy_tensor in = fed(&t, x), lengths = fed(&t, n);
    eddy_tensor y = eddy_reverse_sequence(in, lengths, m.seq - s.rank, m.batch);
    ck_assert_msg(eddy_graph_status(t.graph) == EDDY_OK || eddy_shape_of(in).rank < 0, "%s",
                  eddy_graph_message(t.graph));
    check_elements(&t, y, s, x, reversed, &m);
    check_gradient(&t, y, 1, &in);
    if (s.dim[m.batch] > 0) {
        eddy_array_set(n, 0, (double)s.dim[m.seq] + 1);
        check_run_fails(&t, y, EDDY_OUT_OF_RANGE, "seq_lengths[0]");
    }
    trial_end(&t);
}
END_TEST

/* -------------------------------------------------------------- named by tuples -- */

/* Rows of [batch, a, b, inner]; tuples of one or two indices. */
typedef struct tuples {
    int64_t    batch, dim[2], inner, count;
    int        depth, own;
    eddy_array *index;
} tuples;

static int64_t row_named(const tuples *u, int64_t b, int64_t i)
{
    int64_t at = 0;
    for (int d = 0; d < u->depth; d++)
        at = at * u->dim[d]
           + (int64_t)eddy_array_get(u->index, (b * u->count + i) * u->depth + d);
    return at;
}

static int64_t rows_of_one(const tuples *u)
{
    return u->depth == 2 ? u->dim[0] * u->dim[1] : u->dim[0];
}

static int64_t gathered(const void *how, const int64_t *at)
{
    const tuples *u = how;
    const int64_t b = u->own ? at[0] : 0, i = at[u->own], j = at[u->own + 1];
    return (b * rows_of_one(u) + row_named(u, b, i)) * u->inner + j;
}

static tuples draw_tuples(trial *t)
{
    tuples u = { .batch = 1, .dim = { pick(t, 4) + 1, pick(t, 3) + 1 }, .inner = some_size(t),
                 .count = some_size(t), .depth = pick(t, 2) + 1, .own = pick(t, 2) };
    if (u.own) u.batch = pick(t, 3) + 1;
    const eddy_shape s = { .rank = u.own + 2, .dim = { u.own ? u.batch : u.count,
                                                       u.own ? u.count : u.depth, u.depth } };
    u.index = eddy_array_new(pick(t, 2) ? EDDY_INT32 : EDDY_INT64, s);
    for (int64_t i = 0; i < eddy_array_count(u.index); i++)
        eddy_array_set(u.index, i, pick(t, (int)u.dim[i % u.depth]));
    return u;
}

static eddy_shape of_tuples(const tuples *u, bool rows)
{
    eddy_shape s = { .rank = 0 };
    if (u->own) s.dim[s.rank++] = u->batch;
    if (rows) s.dim[s.rank++] = u->count;
    for (int d = 0; !rows && d < u->depth; d++) s.dim[s.rank++] = u->dim[d];
    s.dim[s.rank++] = u->inner;
    return s;
}

START_TEST(tuples_are_gathered)
{
    trial t = trial_begin((unsigned)_i);
    const tuples u = draw_tuples(&t);
    eddy_array *x = filled(&t, some_dtype(&t), of_tuples(&u, false));
    eddy_tensor in = fed(&t, x), indices = fed(&t, u.index);
    eddy_tensor y = eddy_gather_nd(in, indices, u.own);
    check_elements(&t, y, of_tuples(&u, true), x, gathered, &u);
    check_gradient(&t, y, 1, &in);
    if (eddy_array_count(u.index) > 0) {
        eddy_array_set(u.index, 0, (double)u.dim[0]);
        check_run_fails(&t, y, EDDY_OUT_OF_RANGE, "tuple 0 of the indices has");
    }
    trial_end(&t);
}
END_TEST

enum { UPDATE, ADD, SUB, MIN, MAX, ZEROS, PUTS };

/* One element at a time. */
static double combined(int how, double x, double v)
{
    switch (how) {
    case UPDATE: return v;
    case ADD: case ZEROS: return x + v;
    case SUB: return x - v;
    case MIN: return x < v ? x : v;
    default:  return x > v ? x : v;
    }
}

static eddy_tensor put(int how, eddy_tensor x, eddy_tensor at, eddy_tensor v, int own)
{
    switch (how) {
    case UPDATE: return eddy_tensor_scatter_update(x, at, v, own);
    case ADD:    return eddy_tensor_scatter_add(x, at, v, own);
    case SUB:    return eddy_tensor_scatter_sub(x, at, v, own);
    case MIN:    return eddy_tensor_scatter_min(x, at, v, own);
    case MAX:    return eddy_tensor_scatter_max(x, at, v, own);
    default:     return eddy_scatter_nd_like(at, v, x, own);
    }
}

START_TEST(tuples_are_scattered)
{
    trial t = trial_begin((unsigned)_i);
    const int how = _i % PUTS;
    const tuples u = draw_tuples(&t);
    eddy_array *x = filled(&t, EDDY_FLOAT64, of_tuples(&u, false));
    eddy_array *v = filled(&t, EDDY_FLOAT64, of_tuples(&u, true));
    eddy_tensor in[2] = { fed(&t, x), fed(&t, v) }, indices = fed(&t, u.index);
    eddy_tensor y = put(how, in[0], indices, in[1], u.own);
    eddy_array *want = eddy_array_copy_of(EDDY_FLOAT64, eddy_array_shape(x), eddy_array_data(x));
    double     *w = eddy_array_data(want);
    for (int64_t i = 0; how == ZEROS && i < eddy_array_count(want); i++) w[i] = 0;
    for (int64_t b = 0; b < u.batch; b++)
        for (int64_t i = 0; i < u.count; i++)
            for (int64_t j = 0; j < u.inner; j++) {
                double *to = w + (b * rows_of_one(&u) + row_named(&u, b, i)) * u.inner + j;
                *to = combined(how, *to, eddy_array_get(v, (b * u.count + i) * u.inner + j));
            }
    check_numbers(&t, y, want);
    if (how == ADD || how == SUB) check_gradient(&t, y, 2, in);
    if (how == ZEROS) check_gradient(&t, y, 1, in + 1);
    eddy_array_free(want);
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------ known to be right -- */

static eddy_tensor reals(trial *t, eddy_shape s, const double *v)
{
    return eddy_const(t->graph, EDDY_FLOAT64, s, v);
}
#define D(...) ((const double[]){ __VA_ARGS__ })

/* The examples in the documentation of tf.linalg.diag, diag_part, set_diag, band_part. */
START_TEST(diagonals)
{
    trial t = trial_begin(1);
    eddy_tensor v = reals(&t, EDDY_SHAPE(2, 3), D(1, 2, 3, 4, 5, 6));
    check_values(&t, eddy_matrix_diag(v, EDDY_DIMS(1)), EDDY_SHAPE(2, 4, 4),
                 D(0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0,
                   0, 4, 0, 0, 0, 0, 5, 0, 0, 0, 0, 6, 0, 0, 0, 0));
    eddy_tensor band = reals(&t, EDDY_SHAPE(3, 3), D(0, 8, 9, 1, 2, 3, 4, 5, 0));
    check_values(&t, eddy_matrix_diag(band, EDDY_DIMS(-1, 1)), EDDY_SHAPE(3, 3),
                 D(1, 8, 0, 4, 2, 9, 0, 5, 3));
    eddy_tensor left = reals(&t, EDDY_SHAPE(3, 3), D(8, 9, 0, 1, 2, 3, 0, 4, 5));
    check_values(&t, eddy_matrix_diag(left, EDDY_DIMS(-1, 1), .align = "LEFT_RIGHT"),
                 EDDY_SHAPE(3, 3), D(1, 8, 0, 4, 2, 9, 0, 5, 3));
    eddy_tensor two = reals(&t, EDDY_SHAPE(2), D(1, 2));
    check_values(&t, eddy_matrix_diag(two, EDDY_DIMS(-1), .num_rows = 3, .num_cols = 4,
                                      .padding_value = 9), EDDY_SHAPE(3, 4),
                 D(9, 9, 9, 9, 1, 9, 9, 9, 9, 2, 9, 9));
    eddy_tensor x = reals(&t, EDDY_SHAPE(3, 4), D(1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6));
    check_values(&t, eddy_matrix_diag_part(x), EDDY_SHAPE(3), D(1, 6, 7));
    check_values(&t, eddy_matrix_diag_part(x, EDDY_DIMS(1)), EDDY_SHAPE(3), D(2, 7, 6));
    check_values(&t, eddy_matrix_diag_part(x, EDDY_DIMS(0, 2)), EDDY_SHAPE(3, 3),
                 D(0, 3, 8, 2, 7, 6, 1, 6, 7));
    check_values(&t, eddy_matrix_diag_part(x, EDDY_DIMS(-1, 2), .padding_value = 9,
                                           .align = "LEFT_RIGHT"), EDDY_SHAPE(4, 3),
                 D(3, 8, 9, 2, 7, 6, 1, 6, 7, 9, 5, 8));
    eddy_tensor sevens = Mul(OnesLike(x), 7.0);
    check_values(&t, eddy_matrix_set_diag(sevens, reals(&t, EDDY_SHAPE(3), D(1, 2, 3))),
                 EDDY_SHAPE(3, 4), D(1, 7, 7, 7, 7, 2, 7, 7, 7, 7, 3, 7));
    check_values(&t, eddy_matrix_band_part(x, 1, -1), EDDY_SHAPE(3, 4),
                 D(1, 2, 3, 4, 5, 6, 7, 8, 0, 8, 7, 6));
    check_values(&t, eddy_matrix_band_part(x, 0, 1), EDDY_SHAPE(3, 4),
                 D(1, 2, 0, 0, 0, 6, 7, 0, 0, 0, 7, 6));
    check_values(&t, eddy_tril(x, -1), EDDY_SHAPE(3, 4), D(0, 0, 0, 0, 5, 0, 0, 0, 9, 8, 0, 0));
    check_values(&t, eddy_triu(x, 2), EDDY_SHAPE(3, 4), D(0, 0, 3, 4, 0, 0, 0, 8, 0, 0, 0, 0));
    trial_end(&t);
}
END_TEST

/* The examples in the documentation of tf.nn.space_to_depth and tf.space_to_batch_nd. */
START_TEST(blocks)
{
    trial t = trial_begin(1);
    double one_to_16[16];
    for (int i = 0; i < 16; i++) one_to_16[i] = i + 1;
    eddy_tensor x = reals(&t, EDDY_SHAPE(1, 4, 4, 1),
                          D(1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 13, 14, 11, 12, 15, 16));
    eddy_tensor deep = eddy_space_to_depth(x, 2);
    check_values(&t, deep, EDDY_SHAPE(1, 2, 2, 4), one_to_16);
    check_array(&t, eddy_depth_to_space(deep, 2), eddy_constant_value(x));
    eddy_tensor planes = reals(&t, EDDY_SHAPE(2, 2, 2), D(1, 2, 3, 4, 5, 6, 7, 8));
    check_values(&t, eddy_space_to_depth(planes, 2, "NCHW"), EDDY_SHAPE(8, 1, 1),
                 D(1, 5, 2, 6, 3, 7, 4, 8));
    eddy_tensor y = reals(&t, EDDY_SHAPE(1, 4, 4, 1), one_to_16);
    const eddy_dims two = EDDY_DIMS(2, 2), no = { 0 };
    eddy_tensor many = eddy_space_to_batch_nd(y, two, no, no);
    check_values(&t, many, EDDY_SHAPE(4, 2, 2, 1),
                 D(1, 3, 9, 11, 2, 4, 10, 12, 5, 7, 13, 15, 6, 8, 14, 16));
    check_array(&t, eddy_batch_to_space_nd(many, two, no, no), eddy_constant_value(y));
    eddy_tensor z = reals(&t, EDDY_SHAPE(2, 2, 4, 1), one_to_16);
    many = eddy_space_to_batch_nd(z, two, EDDY_DIMS(0, 2), EDDY_DIMS(0, 0));
    check_values(&t, many, EDDY_SHAPE(8, 1, 3, 1),
                 D(0, 1, 3, 0, 9, 11, 0, 2, 4, 0, 10, 12, 0, 5, 7, 0, 13, 15, 0, 6, 8, 0, 14, 16));
    check_array(&t, eddy_batch_to_space_nd(many, two, EDDY_DIMS(0, 2), EDDY_DIMS(0, 0)),
                eddy_constant_value(z));
    const eddy_shape all = eddy_shape_of(eddy_batch_to_space_nd(many, two, EDDY_DIMS(1, 2),
                                                                EDDY_DIMS(1, 4)));
    ck_assert(eddy_shape_equal(all, EDDY_SHAPE(2, 0, 0, 1)));
    ck_assert(!eddy_is_valid(eddy_batch_to_space_nd(many, two, EDDY_DIMS(1, 3), EDDY_DIMS(1, 4))));
    ck_assert_int_eq(eddy_graph_status(t.graph), EDDY_BAD_SHAPE);
    eddy_graph_clear_error(t.graph);
    trial_end(&t);
}
END_TEST

Suite *indexing_suite(void)
{
    Suite *s = suite_create("indexing");
    TCase *c = tcase_create("indexing");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, slices, 0, 2 * SEEDS);
    tcase_add_test(c, slices_at_their_ends);
    tcase_add_loop_test(c, mirrors, 0, SEEDS);
    tcase_add_loop_test(c, turns, 0, SEEDS);
    tcase_add_loop_test(c, sequences, 0, SEEDS);
    tcase_add_loop_test(c, tuples_are_gathered, 0, SEEDS);
    tcase_add_loop_test(c, tuples_are_scattered, 0, SEEDS);
    tcase_add_test(c, diagonals);
    tcase_add_test(c, blocks);
    suite_add_tcase(s, c);
    return s;
}
