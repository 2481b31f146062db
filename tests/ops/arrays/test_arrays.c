/* test_arrays.c -- operations that move elements against index arithmetic, one element at a time,
 * for random shapes of rank 0 to 5, some with sizes 0 and 1 and some with unknown static
 * dimensions. */
#include "tests/lib/checks.h"
#include "tests/lib/array_trial.h"

Suite *arrays_suite(void);

enum { SEEDS = 150 };

static const eddy_dtype all_dtypes[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32,     EDDY_INT64,
                                         EDDY_UINT8,   EDDY_BOOL,    EDDY_COMPLEX64,
                                         EDDY_COMPLEX128 };

/* Half of them float64, of which gradients are checked too. */
static eddy_dtype some_dtype(trial *t)
{
    return pick(t, 2) ? EDDY_FLOAT64 : all_dtypes[pick(t, 8)];
}

/* axis, or the same counted from the end. */
static int64_t either_way(trial *t, int axis, int rank) { return pick(t, 2) ? axis : axis - rank; }

static eddy_dims list_of(int rank) { return (eddy_dims){ .count = rank > 0 ? rank : -1 }; }

static eddy_shape without(eddy_shape s, int axis)
{
    s.rank--;
    for (int i = axis; i < s.rank; i++) s.dim[i] = s.dim[i + 1];
    return s;
}

static eddy_shape with(eddy_shape s, int axis, int64_t dim)
{
    for (int i = s.rank++; i > axis; i--) s.dim[i] = s.dim[i - 1];
    s.dim[axis] = dim;
    return s;
}

/* ---------------------------------------------------------------- reshape -- */

static int64_t same_place(const void *how, const int64_t *at)
{
    return place(*(const eddy_shape *)how, at);
}

/* A shape of as many elements, and in *open the same with one size perhaps left open. */
static eddy_shape refactored(trial *t, eddy_shape s, eddy_shape *open)
{
    eddy_shape r = { .rank = 0 };
    int64_t left = eddy_shape_count(s), others = 1;
    while (r.rank < 4 && pick(t, 4)) {
        int64_t f = 1 + pick(t, 5);
        r.dim[r.rank++] = left % f == 0 ? f : 1;
        left /= r.dim[r.rank - 1];
    }
    r.dim[r.rank++] = left;
    *open = r;
    const int at = pick(t, r.rank);
    for (int i = 0; i < r.rank; i++) others *= i == at ? 1 : r.dim[i];
    if (others > 0 && pick(t, 2)) open->dim[at] = -1;
    return r;
}

START_TEST(reshaping)
{
    trial t = trial_begin((unsigned)_i);
    eddy_shape  s = some_shape(&t, 0, 5), asked, want = refactored(&t, s, &asked);
    eddy_array *x = filled(&t, some_dtype(&t), s), *dims;
    eddy_tensor in = fed(&t, x), as_vector;
    dims = eddy_array_new(pick(&t, 2) ? EDDY_INT32 : EDDY_INT64, EDDY_SHAPE(asked.rank));
    for (int i = 0; i < asked.rank; i++) eddy_array_set(dims, i, (double)asked.dim[i]);
    as_vector = eddy_constant(t.graph, dims, "dims");
    eddy_array_free(dims);
    const eddy_tensor y[] = { eddy_reshape(in, asked), eddy_reshape_to(in, as_vector),
                              eddy_reshape_like(in, fed(&t, filled(&t, EDDY_BOOL, want))) };
    for (int i = 0; i < 3; i++) {
        check_elements(&t, y[i], want, x, same_place, &want);
        check_gradient(&t, y[i], 1, &in);
    }
    trial_end(&t);
}
END_TEST

START_TEST(ones_come_and_go)
{
    trial t = trial_begin((unsigned)_i);
    eddy_shape  s = some_shape(&t, 0, 5), bare = { .rank = 0 };
    const int   axis = pick(&t, s.rank + 1);
    eddy_array *x = filled(&t, some_dtype(&t), s);
    eddy_tensor in = fed(&t, x), wide = eddy_expand_dims(in, either_way(&t, axis, s.rank + 1));
    eddy_shape  w = with(s, axis, 1);
    for (int i = 0; i < s.rank; i++)
        if (s.dim[i] != 1) bare.dim[bare.rank++] = s.dim[i];
    const eddy_tensor back = eddy_squeeze(wide, .axes = EDDY_AXES(either_way(&t, axis, w.rank)));
    const eddy_tensor none = eddy_squeeze(wide);
    check_elements(&t, wide, w, x, same_place, &w);
    check_elements(&t, back, s, x, same_place, &s);
    check_elements(&t, none, bare, x, same_place, &bare);
    check_gradient(&t, back, 1, &in);
    check_gradient(&t, none, 1, &in);
    trial_end(&t);
}
END_TEST

START_TEST(leading_dimensions_merge)
{
    trial t = trial_begin((unsigned)_i);
    eddy_shape  s = some_shape(&t, 0, 5), head = s, want = s;
    eddy_array *x = filled(&t, some_dtype(&t), s);
    eddy_tensor in = fed(&t, x);
    head.rank = pick(&t, s.rank + 1);
    for (int i = 0; i < head.rank; i++) want = without(want, 0);
    want = with(want, 0, eddy_shape_count(head));
    eddy_tensor y = eddy_merge_leading(in, fed(&t, filled(&t, EDDY_INT32, head)));
    check_elements(&t, y, want, x, same_place, &want);
    check_gradient(&t, y, 1, &in);
    trial_end(&t);
}
END_TEST

/* -------------------------------------------------------------- transpose -- */

typedef struct permutation {
    eddy_shape x;
    int        axis[EDDY_MAX_RANK];     /* of x, for each dimension of y */
} permutation;

static int64_t permuted_place(const void *how, const int64_t *at)
{
    const permutation *p = how;
    int64_t x[EDDY_MAX_RANK];
    for (int i = 0; i < p->x.rank; i++) x[p->axis[i]] = at[i];
    return place(p->x, x);
}

START_TEST(transposing)
{
    trial t = trial_begin((unsigned)_i);
    permutation p = { .x = some_shape(&t, 0, 5) };
    const int   rank = p.x.rank;
    eddy_dims   perm = list_of(rank);
    eddy_shape  want = p.x;
    const bool  reverse = pick(&t, 4) == 0;
    for (int i = 0; i < rank; i++) p.axis[i] = reverse ? rank - 1 - i : i;
    for (int i = rank - 1; i > 0 && !reverse; i--) {
        const int j = pick(&t, i + 1), swap = p.axis[i];
        p.axis[i] = p.axis[j];
        p.axis[j] = swap;
    }
    for (int i = 0; i < rank; i++) {
        want.dim[i] = p.x.dim[p.axis[i]];
        perm.at[i] = either_way(&t, p.axis[i], rank);
    }
    eddy_array *x = filled(&t, some_dtype(&t), p.x);
    eddy_tensor in = fed(&t, x);
    eddy_tensor y = reverse ? eddy_transpose(in) : eddy_transpose(in, .perm = perm);
    check_elements(&t, y, want, x, permuted_place, &p);
    check_gradient(&t, y, 1, &in);
    trial_end(&t);
}
END_TEST

/* Large enough for whole squares, with a rest on both sides. */
START_TEST(transposing_in_squares)
{
    static const eddy_dtype of_size[] =
        { EDDY_UINT8, EDDY_FLOAT16, EDDY_FLOAT32, EDDY_FLOAT64, EDDY_COMPLEX128 };
    trial t = trial_begin(1);
    permutation p = { .x = EDDY_SHAPE(3, 37, 50), .axis = { 0, 2, 1 } };
    eddy_array *x = filled(&t, of_size[_i], p.x);
    eddy_tensor y = eddy_transpose(fed(&t, x), .perm = EDDY_DIMS(0, 2, 1));
    check_elements(&t, y, EDDY_SHAPE(3, 50, 37), x, permuted_place, &p);
    trial_end(&t);
}
END_TEST

/* -------------------------------------------------------------- broadcast -- */

typedef struct spread {
    eddy_shape narrow, wide;
} spread;

static int64_t narrow_place(const void *how, const int64_t *at)
{
    const spread *s = how;
    int64_t x[EDDY_MAX_RANK];
    for (int i = 0; i < s->narrow.rank; i++)
        x[i] = s->narrow.dim[i] == 1 ? 0 : at[s->wide.rank - s->narrow.rank + i];
    return place(s->narrow, x);
}

static spread some_spread(trial *t)
{
    spread s = { .wide = some_shape(t, 0, 5) };
    s.narrow.rank = pick(t, s.wide.rank + 1);
    for (int i = 0; i < s.narrow.rank; i++)
        s.narrow.dim[i] = pick(t, 2) ? 1 : s.wide.dim[s.wide.rank - s.narrow.rank + i];
    return s;
}

START_TEST(broadcasting)
{
    trial t = trial_begin((unsigned)_i);
    spread s = some_spread(&t);
    eddy_array *x = filled(&t, some_dtype(&t), s.narrow);
    eddy_tensor in = fed(&t, x);
    const eddy_tensor y[] = { eddy_broadcast_to(in, s.wide),
                              eddy_broadcast_like(in, fed(&t, filled(&t, EDDY_UINT8, s.wide))) };
    for (int i = 0; i < 2; i++) {
        check_elements(&t, y[i], s.wide, x, narrow_place, &s);
        check_gradient(&t, y[i], 1, &in);
    }
    trial_end(&t);
}
END_TEST

START_TEST(summing_back)
{
    static const eddy_dtype dtypes[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64 };
    trial t = trial_begin((unsigned)_i);
    spread s = some_spread(&t);
    eddy_array *x = filled(&t, dtypes[pick(&t, 4)], s.wide);
    eddy_array *want = eddy_array_new(EDDY_FLOAT64, s.narrow);
    eddy_tensor in = fed(&t, x), y = eddy_sum_like(in, fed(&t, filled(&t, EDDY_BOOL, s.narrow)));
    for (int64_t i = 0; i < eddy_array_count(x); i++) {
        int64_t at[EDDY_MAX_RANK];
        position(s.wide, i, at);
        const int64_t j = narrow_place(&s, at);
        eddy_array_set(want, j, eddy_array_get(want, j) + eddy_array_get(x, i));
    }
    check_numbers(&t, y, want);
    check_gradient(&t, y, 1, &in);
    eddy_array_free(want);
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------------- join -- */

enum { MOST = 5 };

/* Part `part` of a whole begins at `from` along `axis`. */
typedef struct part_of {
    eddy_shape whole;
    int        axis;
    int64_t    from;
    bool       stacked;      /* the part has no such axis */
} part_of;

static int64_t whole_place(const void *how, const int64_t *at)
{
    const part_of *p = how;
    int64_t x[EDDY_MAX_RANK];
    for (int i = 0; i < p->whole.rank; i++) {
        if (p->stacked) x[i] = i == p->axis ? p->from : at[i < p->axis ? i : i - 1];
        else x[i] = i == p->axis ? at[i] + p->from : at[i];
    }
    return place(p->whole, x);
}

/* Joins n parts and takes the result apart again in every way. */
START_TEST(concat_and_split)
{
    trial t = trial_begin((unsigned)_i);
    part_of p = { .whole = some_shape(&t, 1, 4) };
    const int n = 1 + pick(&t, MOST), rank = p.whole.rank;
    const eddy_dtype d = some_dtype(&t);
    eddy_shape  s[MOST];
    int64_t     sizes[MOST];
    p.axis = pick(&t, rank);
    p.whole.dim[p.axis] = 0;
    for (int i = 0; i < n; i++) {
        s[i] = p.whole;
        p.whole.dim[p.axis] += sizes[i] = some_size(&t);
        s[i].dim[p.axis] = sizes[i];
    }
    eddy_array *x = filled(&t, d, p.whole);
    eddy_tensor whole = fed(&t, x), refs[MOST];
    for (int i = 0; i < n; i++) refs[i] = fed(&t, filled(&t, EDDY_BOOL, s[i]));
    if (pick(&t, 2)) sizes[pick(&t, n)] = -1;
    const int64_t axis = either_way(&t, p.axis, rank);
    const eddy_tensor split[] = { eddy_split_sizes(whole, sizes, n, axis),
                                  eddy_split_like(whole, (eddy_list){ n, refs }, axis) };
    for (int w = 0; w < 2; w++) {
        eddy_tensor parts[MOST];
        p.from = 0;
        for (int i = 0; i < n; i++, p.from += s[i - 1].dim[p.axis]) {
            parts[i] = eddy_output(split[w], i);
            check_elements(&t, parts[i], s[i], x, whole_place, &p);
        }
        eddy_tensor again = eddy_concat((eddy_list){ n, parts }, axis);
        check_elements(&t, again, p.whole, x, same_place, &p.whole);
        check_gradient(&t, parts[pick(&t, n)], 1, &whole);
        check_gradient(&t, again, 1, &whole);
    }
    trial_end(&t);
}
END_TEST

START_TEST(stack_and_unstack)
{
    trial t = trial_begin((unsigned)_i);
    eddy_shape s = some_shape(&t, 0, 4);
    const int  n = 1 + pick(&t, MOST);
    part_of    p = { .axis = pick(&t, s.rank + 1), .stacked = true };
    p.whole = with(s, p.axis, n);
    eddy_array *x = filled(&t, some_dtype(&t), p.whole);
    eddy_tensor whole = fed(&t, x), parts[MOST];
    const int64_t axis = either_way(&t, p.axis, p.whole.rank);
    const eddy_tensor apart = eddy_unstack(whole, axis, .num = n);
    for (int i = 0; i < n; i++) {
        p.from = i;
        parts[i] = eddy_output(apart, i);
        check_elements(&t, parts[i], s, x, whole_place, &p);
    }
    eddy_tensor again = eddy_stack((eddy_list){ n, parts }, axis);
    check_elements(&t, again, p.whole, x, same_place, &p.whole);
    check_gradient(&t, parts[pick(&t, n)], 1, &whole);
    check_gradient(&t, again, 1, &whole);
    trial_end(&t);
}
END_TEST

START_TEST(even_split)
{
    trial t = trial_begin((unsigned)_i);
    eddy_shape s = some_shape(&t, 1, 4);
    const int  n = 1 + pick(&t, MOST);
    part_of    p = { .whole = s, .axis = pick(&t, s.rank) };
    p.whole.dim[p.axis] *= n;
    eddy_array *x = filled(&t, some_dtype(&t), p.whole);
    eddy_tensor whole = fed(&t, x), apart = eddy_split(whole, n, either_way(&t, p.axis, s.rank));
    ck_assert_int_eq(eddy_outputs_of(apart), n);
    for (int i = 0; i < n; i++) {
        p.from = i * s.dim[p.axis];
        check_elements(&t, eddy_output(apart, i), s, x, whole_place, &p);
    }
    check_gradient(&t, eddy_output(apart, pick(&t, n)), 1, &whole);
    trial_end(&t);
}
END_TEST

/* Rows of parts of some hundred bytes, which are copied one by one. */
START_TEST(long_parts)
{
    trial t = trial_begin((unsigned)_i);
    const int64_t sizes[] = { 300, 0, 1, 470 };
    eddy_shape s = EDDY_SHAPE(5, 0);
    part_of    p = { .whole = EDDY_SHAPE(5, 771), .axis = 1 };
    eddy_array *x = filled(&t, EDDY_FLOAT32, p.whole);
    eddy_tensor whole = fed(&t, x), parts[4];
    const eddy_tensor apart = eddy_split_sizes(whole, sizes, 4, 1);
    for (int i = 0; i < 4; p.from += sizes[i++]) {
        s.dim[1] = sizes[i];
        parts[i] = eddy_output(apart, i);
        check_elements(&t, parts[i], s, x, whole_place, &p);
    }
    eddy_tensor again = eddy_concat((eddy_list){ 4, parts }, 1);
    check_elements(&t, again, p.whole, x, same_place, &p.whole);
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------- slice, pad, tile -- */

typedef struct cut {
    eddy_shape part, whole;
    eddy_dims  begin, size;
} cut;

static int64_t cut_place(const void *how, const int64_t *at)
{
    const cut *c = how;
    int64_t x[EDDY_MAX_RANK];
    for (int i = 0; i < c->whole.rank; i++) x[i] = at[i] + c->begin.at[i];
    return place(c->whole, x);
}

static int64_t put_place(const void *how, const int64_t *at)
{
    const cut *c = how;
    int64_t x[EDDY_MAX_RANK];
    for (int i = 0; i < c->whole.rank; i++) {
        x[i] = at[i] - c->begin.at[i];
        if (x[i] < 0 || x[i] >= c->part.dim[i]) return -1;
    }
    return place(c->part, x);
}

static cut some_cut(trial *t)
{
    cut c = { .whole = some_shape(t, 0, 5) };
    c.part = c.whole;
    c.begin = c.size = list_of(c.whole.rank);
    for (int i = 0; i < c.whole.rank; i++) {
        const int whole = (int)c.whole.dim[i], begin = pick(t, whole + 1);
        const bool rest = pick(t, 3) == 0;
        c.begin.at[i] = begin;
        c.part.dim[i] = rest ? whole - begin : pick(t, whole - begin + 1);
        c.size.at[i] = rest ? -1 : c.part.dim[i];
    }
    return c;
}

/* The position as a tensor. */
static eddy_tensor begin_of(trial *t, const cut *c)
{
    const eddy_dtype d = pick(t, 2) ? EDDY_INT32 : EDDY_INT64;
    eddy_array      *a = eddy_array_new(d, EDDY_SHAPE(c->whole.rank));
    for (int i = 0; i < c->whole.rank; i++) eddy_array_set(a, i, (double)c->begin.at[i]);
    return fed(t, a);
}

START_TEST(slicing)
{
    trial t = trial_begin((unsigned)_i);
    const cut c = some_cut(&t);
    eddy_array *x = filled(&t, some_dtype(&t), c.whole);
    eddy_tensor in = fed(&t, x), ref = fed(&t, filled(&t, EDDY_INT32, c.part));
    const eddy_tensor y[] = { eddy_slice(in, c.begin, c.size), eddy_slice_like(in, ref, c.begin),
                              eddy_slice_at(in, begin_of(&t, &c), ref) };
    for (int i = 0; i < 3; i++) {
        check_elements(&t, y[i], c.part, x, cut_place, &c);
        check_gradient(&t, y[i], 1, &in);
    }
    trial_end(&t);
}
END_TEST

START_TEST(putting_among_zeros)
{
    trial t = trial_begin((unsigned)_i);
    const cut c = some_cut(&t);
    eddy_array *x = filled(&t, some_dtype(&t), c.part);
    eddy_tensor in = fed(&t, x), ref = fed(&t, filled(&t, EDDY_BOOL, c.whole));
    eddy_dims   after = c.begin;
    for (int i = 0; i < c.whole.rank; i++)
        after.at[i] = c.whole.dim[i] - c.part.dim[i] - c.begin.at[i];
    const eddy_tensor y[] = { eddy_slice_grad(in, ref, c.begin), eddy_pad(in, c.begin, after),
                              eddy_pad_at(in, begin_of(&t, &c), ref) };
    for (int i = 0; i < 3; i++) {
        check_elements(&t, y[i], c.whole, x, put_place, &c);
        check_gradient(&t, y[i], 1, &in);
    }
    trial_end(&t);
}
END_TEST

START_TEST(padding_with_a_value)
{
    trial t = trial_begin(1);
    eddy_tensor x =
        eddy_reshape(eddy_cast(eddy_row_numbers(eddy_zeros(t.graph, EDDY_INT32, EDDY_SHAPE(2)), 0),
                               EDDY_FLOAT64), EDDY_SHAPE(2, 1));
    eddy_tensor y = eddy_pad(x, EDDY_DIMS(0, 1), EDDY_DIMS(1, 2), .value = 7.5);
    const double want[] = { 7.5, 0, 7.5, 7.5, 7.5, 1, 7.5, 7.5, 7.5, 7.5, 7.5, 7.5 };
    check_values(&t, y, EDDY_SHAPE(3, 4), want);
    trial_end(&t);
}
END_TEST

static int64_t tile_place(const void *how, const int64_t *at)
{
    const eddy_shape *x = how;
    int64_t from[EDDY_MAX_RANK];
    for (int i = 0; i < x->rank; i++) from[i] = at[i] % x->dim[i];
    return place(*x, from);
}

/* TensorFlow's sentence, as soon as the counts of elements are known. */
START_TEST(reshape_of_another_count)
{
    eddy_graph       *g = eddy_graph_new();
    eddy_session     *s = eddy_session_new(g);
    const eddy_tensor four = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(4));
    const eddy_tensor fed = eddy_placeholder(g, "fed", EDDY_INT32, EDDY_SHAPE(2));
    const eddy_tensor open = eddy_placeholder(g, "open", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor y = eddy_reshape_to(four, fed), z = eddy_reshape(open, EDDY_SHAPE(3, 7));
    static const char says[] = "Input to reshape is a tensor with 4 values, but the requested "
                               "shape has 21";
    eddy_reshape(four, EDDY_SHAPE(3, 7));
    fails(g, EDDY_BAD_SHAPE, says);
    eddy_reshape_to(four, eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 3, 7 }));
    fails(g, EDDY_BAD_SHAPE, says);
    eddy_reshape(four, EDDY_SHAPE(3, -1));
    fails(g, EDDY_BAD_SHAPE, "but the requested shape requires a multiple of 3");
    eddy_array *shape = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 3, 7 });
    eddy_array *value = eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(4), (float[]){ 1, 2, 3, 4 });
    eddy_array *out = NULL;
    ck_assert_int_ne(eddy_run(s, EDDY_FEED({ fed, shape }), EDDY_FETCH(y), &out), EDDY_OK);
    run_fails(s, EDDY_BAD_SHAPE, says);
    ck_assert_int_ne(eddy_run(s, EDDY_FEED({ open, value }), EDDY_FETCH(z), &out), EDDY_OK);
    run_fails(s, EDDY_BAD_SHAPE, says);
    eddy_array_free(shape);
    eddy_array_free(value);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

START_TEST(tiling)
{
    trial t = trial_begin((unsigned)_i);
    eddy_shape s = some_shape(&t, 0, 4), want = s;
    eddy_dims  times = list_of(s.rank);
    for (int i = 0; i < s.rank; i++) want.dim[i] *= times.at[i] = pick(&t, 6) ? 1 + pick(&t, 3) : 0;
    eddy_array *x = filled(&t, some_dtype(&t), s);
    eddy_tensor in = fed(&t, x), y = eddy_tile(in, times);
    check_elements(&t, y, want, x, tile_place, &s);
    check_gradient(&t, y, 1, &in);
    trial_end(&t);
}
END_TEST

/* Every dimension of eight: more loops than one pass of the sum takes. */
START_TEST(tiling_everywhere)
{
    trial t = trial_begin(1);
    eddy_shape s = EDDY_SHAPE(1, 2, 1, 2, 1, 2, 1, 2);
    eddy_array *x = filled(&t, EDDY_FLOAT64, s);
    eddy_tensor in = fed(&t, x), y = eddy_tile(in, EDDY_DIMS(2, 2, 2, 2, 2, 2, 2, 2));
    check_elements(&t, y, EDDY_SHAPE(2, 4, 2, 4, 2, 4, 2, 4), x, tile_place, &s);
    check_gradient(&t, y, 1, &in);
    trial_end(&t);
}
END_TEST

/* What is known of a tensor from its copies, and of a slice from where it begins. */
START_TEST(sizes_of_others)
{
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor open = eddy_placeholder(g, "open", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor one = eddy_placeholder(g, "one", EDDY_FLOAT32, EDDY_SHAPE(1));
    const eddy_tensor none = eddy_placeholder(g, "none", EDDY_FLOAT32, EDDY_SHAPE(0));
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, eddy_shape_unknown());
    eddy_tile_grad(one, open, EDDY_DIMS(2));
    fails(g, EDDY_BAD_SHAPE, "dimension 0 is 1; expected 2 times that of the reference");
    const eddy_shape any = eddy_shape_of(eddy_tile_grad(none, open, EDDY_DIMS(0)));
    ck_assert(eddy_shape_equal(any, EDDY_SHAPE(EDDY_ANY)));
    ck_assert(eddy_shape_equal(eddy_shape_of(eddy_slice(x, EDDY_NO_DIMS, (eddy_dims){ 0 })),
                               EDDY_SCALAR));
    fits(g);
    eddy_graph_free(g);
}
END_TEST

Suite *arrays_suite(void)
{
    const struct { const char *name; const TTest *test; int rows; } tests[] = {
        { "reshape", reshaping, SEEDS },
        { "ones", ones_come_and_go, SEEDS },
        { "merge_leading", leading_dimensions_merge, SEEDS },
        { "transpose", transposing, SEEDS },
        { "squares", transposing_in_squares, 5 },
        { "broadcast", broadcasting, SEEDS },
        { "sum_like", summing_back, SEEDS },
        { "concat", concat_and_split, SEEDS },
        { "stack", stack_and_unstack, SEEDS },
        { "split", even_split, SEEDS },
        { "long_parts", long_parts, 1 },
        { "slice", slicing, SEEDS },
        { "put", putting_among_zeros, SEEDS },
        { "pad", padding_with_a_value, 1 },
        { "reshape_count", reshape_of_another_count, 1 },
        { "tile", tiling, SEEDS },
        { "tile_all", tiling_everywhere, 1 },
        { "sizes", sizes_of_others, 1 },
    };
    Suite *s = suite_create("arrays");
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        TCase *c = tcase_create(tests[i].name);
        tcase_add_loop_test(c, tests[i].test, 0, tests[i].rows);
        suite_add_tcase(s, c);
    }
    return s;
}
