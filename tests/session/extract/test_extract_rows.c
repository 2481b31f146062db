/* test_extract_rows.c -- every operation, with its gradients, extracted from its graph and imported
 * into another one: the values keep their bits. */
#include "tests/lib/checks.h"
#include "tests/lib/sweep_rows.h"

#include <math.h>

Suite *extract_rows_suite(void);

enum { MOST = 16 };

/* A row with inputs and everything that is compared. */
typedef struct built {
    const sweep_row *row;
    eddy_graph      *graph;
    int              n, n_y;        /* of `at`; the first n_y are the outputs of the operation */
    eddy_tensor      x[SWEEP_INPUTS], at[MOST], cost;
    eddy_array      *value[SWEEP_INPUTS];
} built;

static eddy_array *input(const sweep_row *r, int k, uint64_t *random)
{
    const double low = r->low[k] == r->high[k] ? -2 : r->low[k];
    const double high = r->low[k] == r->high[k] ? 2 : r->high[k];
    eddy_array  *a = eddy_array_new(EDDY_FLOAT64, r->shape[k]);
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        eddy_array_set(a, i, low + (high - low) * (double)(*random >> 11) * 0x1p-53);
    }
    return a;
}

static void add(built *b, eddy_tensor t)
{
    ck_assert_int_lt(b->n, MOST);
    if (eddy_is_valid(t) && eddy_outputs_of(t) > 0) b->at[b->n++] = t;
}

static eddy_tensor plus(eddy_tensor sum, eddy_tensor t)
{
    const eddy_tensor term = Sum(eddy_square(eddy_cast(t, EDDY_FLOAT64)));
    return eddy_is_valid(sum) ? Add(sum, term) : term;
}

/* The values, their gradient, and the gradient of that. */
static void build(built *b, const sweep_row *r)
{
    uint64_t     random = sweep_seed(r);
    eddy_tensor  dx[SWEEP_INPUTS], sum = EDDY_NO_TENSOR;
    *b = (built){ .row = r, .graph = eddy_graph_new() };
    for (int k = 0; k < r->n; k++) {
        b->value[k] = input(r, k, &random);
        b->x[k] = eddy_placeholder(b->graph, "x", EDDY_FLOAT64, r->shape[k]);
    }
    const eddy_tensor y = r->unary ? r->unary(b->x[0])
                        : r->binary ? r->binary(b->x[0], b->x[1]) : r->build(b->graph, b->x);
    for (int i = 0; i < eddy_outputs_of(y); i++) {
        add(b, eddy_output(y, i));
        if (eddy_dtype_is_floating(eddy_dtype_of(eddy_output(y, i))))
            b->cost = plus(b->cost, eddy_output(y, i));
    }
    b->n_y = b->n;
    fits(b->graph);
    if ((r->options & SWEEP_REFUSES) || !eddy_is_valid(b->cost)) return;
    const eddy_list xs = { r->n, b->x };
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(b->cost), xs, dx), EDDY_OK);
    for (int k = 0; k < r->n; k++) {
        add(b, dx[k]);
        if (eddy_is_valid(dx[k])) sum = plus(sum, dx[k]);
    }
    if (!eddy_is_valid(sum)) return;
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(sum), xs, dx), EDDY_OK);
    for (int k = 0; k < r->n; k++) add(b, dx[k]);
}

static void unbuild(built *b)
{
    for (int k = 0; k < b->row->n; k++) eddy_array_free(b->value[k]);
    eddy_graph_free(b->graph);
}

/* The values of `at` in g, which has the placeholders x that it needs. */
static void run(const built *b, eddy_graph *g, const eddy_tensor *x, const eddy_tensor *at,
                eddy_array **out)
{
    eddy_feed     feeds[SWEEP_INPUTS];
    int           n = 0;
    eddy_session *s = eddy_session_new(g);
    for (int k = 0; k < b->row->n; k++)
        if (eddy_is_valid(x[k])) feeds[n++] = (eddy_feed){ x[k], b->value[k] };
    const eddy_status status =
        eddy_run(s, (eddy_feeds){ n, feeds }, (eddy_list){ b->n, at }, out);
    ck_assert_msg(status == EDDY_OK, "%s %s: %s", b->row->op, b->row->how,
                  eddy_session_message(s));
    eddy_session_free(s);
}

static void compare(const built *b, eddy_array *const *want, eddy_array *const *got,
                    const char *what)
{
    for (int i = 0; i < b->n; i++) {
        const bool same =
            b->row->options & SWEEP_RANDOM
                ? eddy_shape_equal(eddy_array_shape(want[i]), eddy_array_shape(got[i]))
                : eddy_array_equal(want[i], got[i]);
        ck_assert_msg(same, "%s %s: %s changes '%s'", b->row->op, b->row->how ? b->row->how : "",
                      what, eddy_name_of(b->at[i]));
    }
}

static void free_values(int n, eddy_array **a)
{
    for (int i = 0; i < n; i++) eddy_array_free(a[i]);
}

/* The placeholders of g by the names of those of the row; invalid where it has none. */
static void find_inputs(const built *b, eddy_graph *g, eddy_tensor *x)
{
    for (int k = 0; k < b->row->n; k++) {
        x[k] = eddy_none(g);
        if (eddy_graph_has(g, eddy_name_of(b->x[k])))
            x[k] = eddy_graph_operation(g, eddy_name_of(b->x[k]));
    }
}

/* Extracted, extracted from there, written and read. */
static void check_extracted(const built *b, eddy_array *const *want)
{
    eddy_array *got[MOST] = { NULL };
    eddy_tensor at[MOST], x[SWEEP_INPUTS];
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_extract((eddy_list){ b->n, b->at }, .new_outputs = at, .error = &e);
    ck_assert_msg(g, "%s %s: %s", b->row->op, b->row->how, e.message);
    ck_assert_int_le(eddy_graph_size(g), eddy_graph_size(b->graph) + b->n);
    find_inputs(b, g, x);
    run(b, g, x, at, got);
    compare(b, want, got, "extract");
    free_values(b->n, got);

    eddy_graph *twice = eddy_extract((eddy_list){ b->n, at }, .error = &e);
    ck_assert_msg(twice, "%s %s: %s", b->row->op, b->row->how, e.message);
    char *text = eddy_graph_to_yaml(g), *again = eddy_graph_to_yaml(twice);
    ck_assert_msg(text && again && strcmp(text, again) == 0,
                  "%s %s: extracted twice, it differs", b->row->op, b->row->how);
    eddy_graph *read = eddy_graph_load(.text = text, .error = &e);
    ck_assert_msg(read, "%s %s: %s", b->row->op, b->row->how, e.message);
    for (int i = 0; i < b->n; i++) at[i] = eddy_collection_at(read, EDDY_MODEL_OUTPUTS, i);
    find_inputs(b, read, x);
    memset(got, 0, sizeof got);
    run(b, read, x, at, got);
    compare(b, want, got, "a file");
    free_values(b->n, got);
    eddy_string_free(text);
    eddy_string_free(again);
    eddy_graph_free(read);
    eddy_graph_free(twice);
    eddy_graph_free(g);
}

/* The gradient built from the imported outputs is the one that was imported. */
static void check_gradient_of(const built *b, eddy_graph *g, const eddy_tensor *in,
                              const eddy_tensor *y, eddy_array *const *want)
{
    eddy_tensor dx[SWEEP_INPUTS], cost = EDDY_NO_TENSOR;
    eddy_array *got[SWEEP_INPUTS] = { NULL };
    built       gradients = *b;
    if (b->n == b->n_y) return;
    for (int i = 0; i < b->n_y; i++)
        if (eddy_dtype_is_floating(eddy_dtype_of(y[i]))) cost = plus(cost, y[i]);
    const eddy_list xs = { b->row->n, in };
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(cost), xs, dx), EDDY_OK);
    gradients.n = 0;
    for (int k = 0; k < b->row->n; k++) {
        if (!eddy_is_valid(dx[k])) continue;
        gradients.at[gradients.n] = b->at[b->n_y + gradients.n];
        dx[gradients.n++] = dx[k];
    }
    run(&gradients, g, in, dx, got);
    compare(&gradients, want + b->n_y, got, "a gradient of an import");
    free_values(gradients.n, got);
}

/* Imported on tensors of the other graph, and differentiated there. */
static void check_imported(const built *b, eddy_array *const *want)
{
    eddy_graph      *g = eddy_graph_new();
    eddy_array      *got[MOST] = { NULL };
    eddy_tensor      at[MOST], x[SWEEP_INPUTS], in[SWEEP_INPUTS];
    eddy_replacement inputs[SWEEP_INPUTS];
    int              n = 0;
    eddy_graph      *part = eddy_extract((eddy_list){ b->n, b->at });
    find_inputs(b, part, x);
    for (int k = 0; k < b->row->n; k++) {
        in[k] = eddy_placeholder(g, "in", EDDY_FLOAT64, b->row->shape[k]);
        if (eddy_is_valid(x[k])) inputs[n++] = (eddy_replacement){ b->x[k], in[k] };
    }
    eddy_graph_free(part);
    eddy_import(g, b->graph, .scope = "part", .inputs = { n, inputs },
                .outputs = { b->n, b->at }, .results = at);
    fits(g);
    run(b, g, in, at, got);
    compare(b, want, got, "import");
    free_values(b->n, got);
    check_gradient_of(b, g, in, at, want);
    eddy_graph_free(g);
}

static void check_rows(int from, int step)
{
    for (int i = from; i < sweep_count(); i += step) {
        built       b;
        eddy_array *want[MOST] = { NULL };
        build(&b, sweep_row_at(i));
        if (b.n > 0) {
            run(&b, b.graph, b.x, b.at, want);
            check_extracted(&b, want);
            check_imported(&b, want);
            free_values(b.n, want);
        }
        unbuild(&b);
    }
}

START_TEST(rows) { check_rows(_i, 4); }
END_TEST

Suite *extract_rows_suite(void)
{
    Suite *s = suite_create("extract_rows");
    TCase *t = tcase_create("rows");
    tcase_set_tags(t, "slow");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, rows, 0, 4);
    suite_add_tcase(s, t);
    return s;
}
