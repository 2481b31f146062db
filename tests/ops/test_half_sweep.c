/* test_half_sweep.c -- the rows of the sweep in bfloat16 and float16: each node of a row and of its
 * gradients must be the float32 result of its operation on the same inputs, rounded once. */
#include "build/gen/table.h"
#include "graph/base/half.h"
#include "graph/internal.h"
#include "tests/lib/bits/same_bits.h"
#include "tests/lib/sweep_rows.h"

#include <math.h>

Suite *half_sweep_suite(void);

enum { NODES = 4096 };

typedef struct sweep {
    trial            t;
    const sweep_row *row;
    eddy_dtype       dtype;
    char             title[120];
    eddy_tensor      f;
} sweep;

static bool is_half(eddy_dtype d) { return d == EDDY_BFLOAT16 || d == EDDY_FLOAT16; }

/* ------------------------------------------------------------------- building -- */

static void draw_inputs(sweep *c)
{
    for (int k = 0; k < c->row->n; k++) {
        const double a = c->row->low[k], b = c->row->high[k];
        const double low = a == b ? -2 : a, high = a == b ? 2 : b;
        eddy_array  *x = eddy_array_new(c->dtype, c->row->shape[k]);
        for (int64_t i = 0; i < eddy_array_count(x); i++)
            eddy_array_set(x, i, low + (high - low) * (pick(&c->t, 1000) + 0.5) / 1000);
        c->t.array[c->t.n] = x;
        c->t.tensor[c->t.n++] =
            eddy_placeholder(c->t.graph, NULL, c->dtype, c->row->shape[k]);
    }
}

/* The sum of all outputs that have gradients. */
static void build(sweep *c)
{
    const sweep_row   *r = c->row;
    const eddy_tensor *x = c->t.tensor;
    const eddy_tensor  y = r->unary ? r->unary(x[0])
                         : r->binary ? r->binary(x[0], x[1]) : r->build(c->t.graph, x);
    for (int i = 0; i < eddy_outputs_of(y); i++) {
        const eddy_tensor out = eddy_output(y, i);
        if (!eddy_dtype_is_floating(eddy_dtype_of(out))) continue;
        const eddy_tensor sum = Sum(Cast(Square(out), c->dtype));
        c->f = eddy_is_valid(c->f) ? Add(c->f, sum) : sum;
    }
}

static void differentiate(sweep *c)
{
    eddy_tensor dx[SWEEP_INPUTS];
    if (!eddy_is_valid(c->f) || c->row->options & SWEEP_REFUSES) return;
    ck_assert_msg(eddy_gradients(EDDY_LIST(c->f), ((eddy_list){ c->t.n, c->t.tensor }), dx) ==
                      EDDY_OK, "%s: %s", c->title, eddy_graph_message(c->t.graph));
    for (int k = 0; k < c->t.n; k++)
        if (eddy_is_valid(dx[k])) ck_assert_int_eq(eddy_dtype_of(dx[k]), c->dtype);
}

/* False if the row has an operation that takes no halves. */
static bool begin(sweep *c, int row, eddy_dtype d)
{
    *c = (sweep){ .row = sweep_row_at(row), .dtype = d,
                  .t = { .graph = eddy_graph_new(), .random = sweep_seed(sweep_row_at(row)) } };
    c->t.session = eddy_session_new(c->t.graph);
    snprintf(c->title, sizeof c->title, "%s %s in %s", c->row->op, c->row->how ? c->row->how : "",
             eddy_dtype_name(d));
    draw_inputs(c);
    build(c);
    const bool ok = eddy_graph_status(c->t.graph) == EDDY_OK;
    if (ok) differentiate(c);
    return ok;
}

/* -------------------------------------------------------------------- running -- */

/* Values of all outputs of the nodes, by node; without passes, node after node. */
typedef struct values {
    int          n;
    eddy_tensor  at[NODES];
    eddy_array  *value[NODES];
    int          first[NODES];       /* by node: its first output */
} values;

static bool has_value(const eddy_node *n)
{
    enum { NONE = EDDY_OP_SIDE_EFFECT | EDDY_OP_VARIABLE | EDDY_OP_REFERENCE | EDDY_OP_LOOP |
                  EDDY_OP_CASE | EDDY_OP_STATEFUL | EDDY_OP_DYNAMIC };
    return !n->traced && strcmp(n->op->name, "Argument") != 0 && !(n->op->flags & NONE);
}

static void run(const sweep *c, values *v, unsigned without)
{
    eddy_feed feeds[SWEEP_INPUTS];
    *v = (values){ 0 };
    ck_assert_int_lt(eddy_graph_size(c->t.graph), NODES);
    for (int k = 0; k < c->t.n; k++) feeds[k] = (eddy_feed){ c->t.tensor[k], c->t.array[k] };
    for (int32_t id = 1; id <= eddy_graph_size(c->t.graph); id++) {
        const eddy_tensor t = eddy_node_at(c->t.graph, id);
        v->first[id] = v->n;
        for (int i = 0; has_value(eddy_node_of(t)) && i < eddy_node_of(t)->n_outputs; i++) {
            ck_assert_int_lt(v->n, NODES);
            v->at[v->n++] = eddy_output(t, i);
        }
    }
    eddy_session *s = eddy_session_new(c->t.graph, .without = without);
    const eddy_status status = eddy_run(s, (eddy_feeds){ c->t.n, feeds },
                                        (eddy_list){ v->n, v->at }, v->value);
    ck_assert_msg(status == EDDY_OK, "%s: %s", c->title, eddy_session_message(s));
    eddy_session_free(s);
}

static const eddy_array *value_of(const values *v, eddy_tensor t)
{
    return has_value(eddy_node_of(t)) ? v->value[v->first[t.node] + t.output] : NULL;
}

static eddy_array *rounded(const eddy_array *x, eddy_dtype d)
{
    eddy_array  *y = eddy_array_new(d, eddy_array_shape(x));
    const float *from = eddy_array_data((eddy_array *)(uintptr_t)x);
    uint16_t    *to = eddy_array_data(y);
    for (int64_t i = 0; i < eddy_array_count(x); i++)
        to[i] = d == EDDY_FLOAT16 ? eddy__f16_of_f32(from[i]) : eddy__bf16_of_f32(from[i]);
    return y;
}

static eddy_array *widened(const eddy_array *x)
{
    eddy_array *y = eddy_array_new(EDDY_FLOAT32, eddy_array_shape(x));
    for (int64_t i = 0; i < eddy_array_count(x); i++)
        eddy_array_set(y, i, eddy_array_get(x, i));
    return y;
}

/* Instructions for products of bfloat16 round in between. */
static bool is_product(const eddy_node *n)
{
    static const char *const ops[] = { "MatMul", "BatchMatMulV2", "_FusedMatMul", "Conv2D",
                                       "_FusedConv2D", "Conv2DBackpropInput" };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(n->op->name, ops[i]) == 0) return true;
    return false;
}

/* NaN equals NaN. */
static bool same_elements(const eddy_array *a, const eddy_array *b, double tolerance)
{
    if (!eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(b))) return false;
    if (eddy_dtype_is_complex(eddy_array_dtype(a))) return eddy_array_equal(a, b);
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const double x = eddy_array_get(a, i), y = eddy_array_get(b, i);
        if (x != y && !(isnan(x) && isnan(y)) && !(fabs(x - y) <= tolerance * fabs(x)))
            return false;
    }
    return true;
}

/* --------------------------------------------------------------------- checks -- */

/* The node in float32, on the values that its inputs had, in a graph of its own. */
static void check_node(const sweep *c, const values *v, const eddy_node *n)
{
    eddy_tensor in[64];
    bool        any = false;
    if (!has_value(n) || n->n_inputs == 0 || n->n_inputs > 64) return;
    for (int i = 0; i < n->n_inputs; i++) {
        if (!value_of(v, n->inputs[i])) return;
        any = any || (is_half(eddy_dtype_of(n->inputs[i])) &&
                      (eddy__input_types(n->op, i) & EDDY_TAKES_HALVES) != 0);
    }
    if (!any) return;
    eddy_graph *g = eddy_graph_new();
    for (int i = 0; i < n->n_inputs; i++) {
        const eddy_array *x = value_of(v, n->inputs[i]);
        const bool        widens = is_half(eddy_array_dtype(x)) && !eddy__input_moves(n->op, i);
        eddy_array       *own = widens ? widened(x) : eddy_array_copy(x);
        in[i] = eddy_constant(g, own, NULL);
        eddy_array_free(own);
    }
    eddy_session     *s = eddy_session_new(g, .without = EDDY_PASSES_ALL);
    const eddy_tensor y = eddy_apply(n->op, n->attrs, n->n_inputs, in, (eddy_apply_args){ 0 });
    for (int k = 0; k < n->n_outputs; k++) {
        const eddy_array *got = value_of(v, eddy__tensor_at(c->t.graph, n->id, k));
        eddy_array       *wide = eddy_fetch(s, eddy_output(y, k)), *want = NULL;
        ck_assert_msg(wide, "%s: %s %s", c->title, n->name, eddy_session_message(s));
        if (is_half(eddy_array_dtype(got)) && eddy_array_dtype(wide) == EDDY_FLOAT32)
            want = rounded(wide, eddy_array_dtype(got));
        const double next = is_product(n) && c->dtype == EDDY_BFLOAT16 ? 0x1p-7 : 0;
        ck_assert_msg(same_elements(got, want ? want : wide, next), "%s: output %d of %s (%s)",
                      c->title, k, n->name, n->op->name);
        eddy_array_free(wide);
        eddy_array_free(want);
    }
    eddy_session_free(s);
    eddy_graph_free(g);
}

static eddy_dtype half_of(int i) { return i % 2 ? EDDY_BFLOAT16 : EDDY_FLOAT16; }

/* The type is refused by name, at the latest by an operation inside a formula. */
static void check_refusal(const sweep *c)
{
    const char *message = eddy_graph_message(c->t.graph);
    ck_assert_msg(eddy_graph_status(c->t.graph) == EDDY_BAD_DTYPE &&
                  strstr(message, eddy_dtype_name(c->dtype)), "%s: %s", c->title, message);
}

START_TEST(rounds_once)
{
    static values v;
    sweep         c;
    if (!begin(&c, _i / 2, half_of(_i))) check_refusal(&c);
    else {
        run(&c, &v, EDDY_PASSES_ALL);
        for (int32_t id = 1; id <= eddy_graph_size(c.t.graph); id++)
            check_node(&c, &v, eddy_node_of(eddy_node_at(c.t.graph, id)));
        for (int i = 0; i < v.n; i++) eddy_array_free(v.value[i]);
    }
    trial_end(&c.t);
}
END_TEST

/* The sum of all, and its gradients, with all passes and node by node; passes may round less. */
START_TEST(passes_agree)
{
    static values plain, best;
    sweep         c;
    const double  bits = half_of(_i) == EDDY_FLOAT16 ? 11 : 8;
    if (begin(&c, _i / 2, half_of(_i)) && eddy_is_valid(c.f)) {
        run(&c, &plain, EDDY_PASSES_ALL);
        run(&c, &best, 0);
        for (int i = 0; i < plain.n; i++) {
            double most = 0, largest = 0.25;
            for (int64_t k = 0; k < eddy_array_count(plain.value[i]); k++) {
                const double x = eddy_array_get(plain.value[i], k);
                const double y = eddy_array_get(best.value[i], k);
                if (isfinite(x)) largest = fmax(largest, fabs(x));
                if (x != y && !(isnan(x) && isnan(y))) most = fmax(most, fabs(x - y));
            }
            ck_assert_msg(most <= 8 * exp2(-bits) * largest, "%s: %s is off by %g of %g", c.title,
                          eddy_name_of(plain.at[i]), most, largest);
            eddy_array_free(plain.value[i]);
            eddy_array_free(best.value[i]);
        }
    }
    trial_end(&c.t);
}
END_TEST

/* How many rows take each type. */
START_TEST(most_take_halves)
{
    int built = 0;
    for (int i = 0; i < 2 * sweep_count(); i++) {
        sweep c;
        built += begin(&c, i / 2, half_of(i));
        trial_end(&c.t);
    }
    ck_assert_msg(built >= 2 * sweep_count() * 4 / 5, "%d of %d", built, 2 * sweep_count());
}
END_TEST

Suite *half_sweep_suite(void)
{
    Suite *s = suite_create("half_sweep");
    TCase *c = tcase_create("ops");
    tcase_add_test(c, most_take_halves);
    tcase_add_loop_test(c, rounds_once, 0, 2 * sweep_count());
    tcase_add_loop_test(c, passes_agree, 0, 2 * sweep_count());
    suite_add_tcase(s, c);
    return s;
}
