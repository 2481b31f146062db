/* test_onnx_functions.c -- operations that the caller says how to write as ONNX: functions of the
 * model, and operators of a domain of the caller's. test_onnx_write.c writes, reads and runs a
 * model of them (written_models.c). */
#include "build/gen/suites.h"
#include "formats/onnx/model.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/own_operations.h"

#include <stdlib.h>

typedef struct written {
    memory_files *files;
    region        memory;
    onnx_file     model;
} written;

static written write_model(eddy_list outputs, int n, const eddy_onnx_operator *operators)
{
    written        w = { .files = malloc(sizeof *w.files) };
    eddy_error     e = { 0 };
    const uint8_t *at;
    memory_files_init(w.files);
    ck_assert_msg(eddy_onnx_write(outputs, "m.onnx", .files = &w.files->table,
                                  .operators = operators, .operator_count = n,
                                  .error = &e) == EDDY_OK, "%s", e.message);
    const memory_content *c = memory_files_get(w.files, "m.onnx");
    ck_assert_ptr_nonnull(c);
    ck_assert(eddy__onnx_parse(&w.memory, (wire_bytes){ (const uint8_t *)c->bytes, c->size },
                               &w.model, &at));
    return w;
}

static void written_free(written *w)
{
    eddy__region_free(&w->memory);
    memory_files_free(w->files);
    free(w->files);
}

static const onnx_node *node_of(const written *w, const char *op)
{
    for (size_t i = 0; i < w->model.graph->n_nodes; i++)
        if (strcmp(w->model.graph->nodes[i].op, op) == 0) return &w->model.graph->nodes[i];
    return NULL;
}

static eddy_tensor input(eddy_graph *g)
{
    return eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 3));
}

/* Equal nodes call one function; others have one each, with a number. */
START_TEST(functions)
{
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor x = input(g);
    const eddy_tensor y = Add(own_power(x, 2, 3), own_power(Neg(x), 2, 3));
    written w = write_model(EDDY_LIST(y, own_power(x, 2, 4), own_square(x)), own_operator_count,
                            own_operators);
    const char *const names[] = { "OwnSquare", "OwnPower_4", "OwnPower_3", "OwnPower_2",
                                  "OwnPower" };
    ck_assert_uint_eq(w.model.n_functions, 5);
    for (int i = 0; i < 5; i++) {
        const onnx_function *f = &w.model.functions[i];
        ck_assert_str_eq(f->name, names[i]);
        ck_assert_str_eq(f->domain, i == 0 ? "org.example" : "eddy");
        ck_assert_uint_eq(f->n_inputs, 1);
        ck_assert_uint_eq(f->n_outputs, 1);
        ck_assert_uint_ge(f->n_imports, 2);
    }
    ck_assert_uint_eq(w.model.n_imports, 3);
    ck_assert_uint_eq(w.model.graph->n_initializers, 0);    /* constants are in the functions */
    ck_assert_str_eq(node_of(&w, "OwnPower")->domain, "eddy");
    ck_assert_uint_eq(node_of(&w, "OwnPower")->n_attrs, 0);
    written_free(&w);
    eddy_graph_free(g);
}
END_TEST

/* The nodes of functions are read as ordinary ones. */
START_TEST(read_again)
{
    eddy_graph *g = eddy_graph_new(), *h = eddy_graph_new();
    eddy_error  e = { 0 };
    written     w = write_model(EDDY_LIST(eddy_named("y", own_power(input(g), 2, 3))),
                                own_operator_count, own_operators);
    eddy_onnx_model *m = eddy_onnx_read(h, "m.onnx", .files = &w.files->table, .error = &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    for (int32_t id = 1; id <= eddy_graph_size(h); id++)
        ck_assert_str_ne(eddy_type_of(eddy_node_at(h, id)), "OwnPower");
    eddy_session *s = eddy_session_new(h);
    ck_assert_double_eq(
        eddy_fetch_number(s, Sum(eddy_onnx_output(m, "y")),
                          EDDY_FEED({ eddy_onnx_input(m, "x"),
                                      EDDY_SHAPED(EDDY_FLOATS(1, 2, -3), 1, 3) })),
        2 * (1 + 8 - 27));
    eddy_session_free(s);
    eddy_onnx_free(m);
    written_free(&w);
    eddy_graph_free(h);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------- operators -- */

typedef struct every_attr {
    int64_t     i;
    double      f;
    bool        b;
    const char *s;
    eddy_dtype  d;
    eddy_shape  shape;
    eddy_dims   dims;
    eddy_ints   ints;
    eddy_array *array;
} every_attr;

static bool every_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

static eddy_status no_kernel(eddy_kernel *k)
{
    return eddy_kernel_fail(k, EDDY_UNIMPLEMENTED, "it is never run");
}

static const eddy_op_def every_def = {
    .name = "Every", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .attrs_size = sizeof(every_attr),
    .attrs = EDDY_ATTRS(every_attr, i, f, b, s, d, shape, dims, ints, array),
    .infer = every_infer, .kernel = no_kernel,
};

static const onnx_attr *attr_of(const onnx_node *n, const char *name)
{
    for (size_t i = 0; i < n->n_attrs; i++)
        if (strcmp(n->attrs[i].name, name) == 0) return &n->attrs[i];
    ck_abort_msg("there is no attribute %s", name);
    return NULL;
}

START_TEST(attributes)
{
    static const eddy_onnx_operator own[] = { { "Every", "org.example", NULL } };
    const int64_t     list[] = { 7, -8, 9 };
    eddy_array       *a = eddy_array_of(EDDY_FLOAT64, 2.5);
    const every_attr  attrs = { -5, 0.5, true, "text", EDDY_INT64, EDDY_SHAPE(EDDY_ANY, 4),
                                EDDY_DIMS(1, 2), { 3, list }, a };
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor x = input(g), y = eddy_apply2(&every_def, &attrs, x, Neg(x));
    written           w = write_model(EDDY_LIST(y), 1, own);
    const onnx_node  *n = node_of(&w, "Every");
    ck_assert_str_eq(n->domain, "org.example");
    ck_assert_uint_eq(n->n_inputs, 2);
    ck_assert_str_eq(n->inputs[0], "x");
    ck_assert_uint_eq(n->n_attrs, 9);
    ck_assert_int_eq(attr_of(n, "i")->i, -5);
    ck_assert_double_eq(attr_of(n, "f")->f, 0.5);
    ck_assert_int_eq(attr_of(n, "b")->i, 1);
    ck_assert_mem_eq(attr_of(n, "s")->s.at, "text", 4);
    ck_assert_int_eq(attr_of(n, "d")->i, ONNX_INT64);
    ck_assert_uint_eq(attr_of(n, "shape")->n_ints, 2);
    ck_assert_int_eq(attr_of(n, "shape")->ints[0], -1);
    ck_assert_int_eq(attr_of(n, "dims")->ints[1], 2);
    ck_assert_uint_eq(attr_of(n, "ints")->n_ints, 3);
    ck_assert_int_eq(attr_of(n, "ints")->ints[1], -8);
    ck_assert_int_eq(attr_of(n, "array")->t->type, ONNX_DOUBLE);
    ck_assert_mem_eq(attr_of(n, "array")->t->raw.at, eddy_array_data(a), 8);
    ck_assert_uint_eq(w.model.n_functions, 0);
    written_free(&w);
    eddy_array_free(a);
    eddy_graph_free(g);
}
END_TEST

/* Also operations of the library: one that ONNX lacks, for a program that has it. */
START_TEST(of_the_library)
{
    static const eddy_onnx_operator own[] = { { "Cholesky", "org.example", NULL } };
    eddy_graph *g = eddy_graph_new(), *h = eddy_graph_new();
    eddy_error  e = { 0 };
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(3, 3));
    written w = write_model(EDDY_LIST(eddy_cholesky(x)), 1, own);
    ck_assert_str_eq(node_of(&w, "Cholesky")->domain, "org.example");
    ck_assert_ptr_null(eddy_onnx_read(h, "m.onnx", .files = &w.files->table, .error = &e));
    ck_assert_str_eq(e.message, "m.onnx: node 0 'Cholesky:Cholesky1' (Cholesky): "
                                "operator Cholesky of domain 'org.example' is not known");
    written_free(&w);
    eddy_graph_free(h);
    eddy_graph_free(g);
}
END_TEST

/* ---------------------------------------------------------------------- errors -- */

static void sets_nothing(eddy_onnx_body *b) { (void)b; }
static void sets_another_type(eddy_onnx_body *b) { b->y[0] = eddy_cast(b->x[0], EDDY_INT32); }
static void sets_another_shape(eddy_onnx_body *b) { b->y[0] = Sum(b->x[0]); }
static void has_error(eddy_onnx_body *b) { b->y[0] = Add(b->x[0], eddy_cast(b->x[0], EDDY_INT32)); }
static void is_unknown(eddy_onnx_body *b) { b->y[0] = eddy_nextafter(b->x[0], b->x[0]); }
static void repeats(eddy_onnx_body *b) { b->y[0] = own_power(b->x[0], 1, 2); }

static eddy_tensor elsewhere;
static void sets_elsewhere(eddy_onnx_body *b)
{
    (void)b->graph;
    b->y[0] = elsewhere;
}

static void feeds_more(eddy_onnx_body *b)
{
    b->y[0] = Add(b->x[0], eddy_placeholder(b->graph, "more", EDDY_FLOAT32, EDDY_SCALAR));
}

static void refused(eddy_tensor y, int n, const eddy_onnx_operator *own)
{
    eddy_error e = { 0 };
    ck_assert_int_ne(eddy_onnx_write(EDDY_LIST(y), "m.onnx", .operators = own, .operator_count = n,
                                     .error = &e), EDDY_OK);
    golden_error(&e);
}

BODY(below_three, Less(x[0], 3))
BODY(one_more, Add(x[0], 1))

START_TEST(errors)
{
    static void (*const builders[])(eddy_onnx_body *) = {
        sets_nothing, sets_another_type, sets_another_shape, has_error, is_unknown, repeats,
        sets_elsewhere, feeds_more,
    };
    static const eddy_onnx_operator bad[] = {
        { NULL, NULL, repeats }, { "", NULL, repeats }, { "OwnPower", NULL, NULL },
        { "OwnPower", "", repeats }, { "OwnPower", "ai.onnx", NULL },
    };
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor x = input(g), y = own_power(x, 2, 3);
    elsewhere = x;
    golden_begin("formats/onnx_functions");
    refused(y, 0, NULL);
    refused(y, -1, bad);
    refused(y, 1, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refused(y, 1, &bad[i]);
    for (size_t i = 0; i < sizeof builders / sizeof *builders; i++)
        refused(y, 1, &(eddy_onnx_operator){ "OwnPower", .compose = builders[i] });
    eddy_tensor loop;
    eddy_while_loop(PLAIN(below_three), PLAIN(one_more), EDDY_LIST(eddy_scalar(g, 0)), &loop);
    refused(loop, 1, &(eddy_onnx_operator){ eddy_type_of(loop), .domain = "org.example" });
    golden_end();
    eddy_graph_free(g);
}
END_TEST

/* A report says which node of a function is missing. */
START_TEST(report)
{
    const eddy_onnx_operator own = { "OwnPower", .compose = is_unknown };
    eddy_graph         *g = eddy_graph_new();
    eddy_error          e = { 0 };
    eddy_model_report  *r = eddy_onnx_write_check(EDDY_LIST(own_power(input(g), 2, 3)),
                                                  .operators = &own, .operator_count = 1,
                                                  .error = &e);
    ck_assert_msg(r != NULL, "%s", e.message);
    int missing = 0;
    for (int i = 0; i < eddy_model_report_size(r); i++) {
        const eddy_model_entry *entry = eddy_model_report_at(r, i);
        if (entry->support != EDDY_MODEL_MISSING) continue;
        missing++;
        ck_assert_str_eq(entry->op, "NextAfter");
        ck_assert_str_eq(entry->place, "node 'OwnPower function NextAfter'");
    }
    ck_assert_int_eq(missing, 1);
    eddy_model_report_free(r);
    eddy_graph_free(g);
}
END_TEST

Suite *onnx_functions_suite(void)
{
    Suite *s = suite_create("onnx_functions");
    TCase *c = tcase_create("operators");
    tcase_add_test(c, functions);
    tcase_add_test(c, read_again);
    tcase_add_test(c, attributes);
    tcase_add_test(c, of_the_library);
    tcase_add_test(c, errors);
    tcase_add_test(c, report);
    suite_add_tcase(s, c);
    return s;
}
