/* test_scope_blocks.c -- scopes, control dependencies, devices and overrides that end with a C
 * block, and the version. */
#include "tests/lib/graph_fixture.h"
#include "tests/lib/files/memory_files.h"

Suite *scope_blocks_suite(void);

static eddy_tensor op(const char *name) { return eddy_no_op(g, name); }
static void called(const char *name, eddy_tensor t) { ck_assert_str_eq(eddy_name_of(t), name); }

START_TEST(scopes_nest)
{
    EDDY_SCOPE(g, "outer") {
        EDDY_SCOPE(g, "inner") called("outer/inner/a", op("a"));
        called("outer/b", op("b"));
        EDDY_SCOPE(g, NULL) called("c", op("c"));
    }
    EDDY_SCOPE(g, "outer/") called("outer/d", op("d"));
    called("e", op("e"));
    fits(g);
}
END_TEST

START_TEST(controls_add_up_and_clear)
{
    const eddy_tensor a = op("a"), b = op("b");
    EDDY_CONTROL(g, EDDY_LIST(a)) {
        ck_assert_int_eq(eddy_controls_of(op("c")), 1);
        EDDY_CONTROL(g, EDDY_LIST(a, b)) ck_assert_int_eq(eddy_controls_of(op("d")), 2);
        EDDY_CONTROL_CLEAR(g) ck_assert_int_eq(eddy_controls_of(op("e")), 0);
    }
    ck_assert_int_eq(eddy_controls_of(op("f")), 0);
    fits(g);
}
END_TEST

static void double_gradient(eddy_rule *r) { r->dx[0] = Mul(r->dy[0], 2); }

START_TEST(devices_and_overrides)
{
    eddy_tensor x = real(g, 3), y = EDDY_NO_TENSOR, dx;
    ck_assert(eddy_register_gradient(g, "Twice", double_gradient, NULL));
    EDDY_DEVICE(g, "/cpu:0") EDDY_GRADIENT_OVERRIDE(g, "Square", "Twice") y = Square(x);
    ck_assert_str_eq(eddy_device_of(y), "/cpu:0");
    ck_assert_str_eq(eddy_device_of(op("after")), "");
    dx = eddy_gradient(y, x);
    is_number(dx, 2);
    is_number(eddy_gradient(Square(x), x), 6);
    fits(g);
}
END_TEST

static eddy_tensor returned(void)
{
    EDDY_SCOPE(g, "returned") {
        EDDY_DEVICE(g, "/cpu:1") return op("x");
    }
    return EDDY_NO_TENSOR;
}

START_TEST(blocks_end_however_they_are_left)
{
    called("returned/x", returned());
    for (int i = 0; i < 2; i++)
        EDDY_SCOPE(g, "left") {
            if (i == 0) continue;
            break;
        }
    EDDY_SCOPE(g, "jumped") goto out;
out:
    called("after", op("after"));
    ck_assert_str_eq(eddy_scope_name(g), "");
    eddy_scope_end(g);
    fails(g, EDDY_INVALID_ARGUMENT, "no scope is open");
}
END_TEST

START_TEST(a_block_of_no_graph_is_run_and_ends_nothing)
{
    int times = 0;
    EDDY_SCOPE(NULL, "a")
        EDDY_CONTROL(NULL, EDDY_LIST())
            EDDY_CONTROL_CLEAR(NULL)
                EDDY_DEVICE(NULL, "/cpu:0")
                    EDDY_GRADIENT_OVERRIDE(NULL, "Square", "") times++;
    ck_assert_int_eq(times, 1);
    eddy_graph *gone = eddy_graph_new();
    EDDY_SCOPE(gone, "a")
        EDDY_DEVICE(gone, "/cpu:0") eddy_graph_free(gone);
    EDDY_SCOPE(g, "not a name") times++;
    fails(g, EDDY_INVALID_ARGUMENT, "not a valid scope name");
    EDDY_CONTROL(g, EDDY_LIST(EDDY_NO_TENSOR)) times++;
    fails(g, EDDY_INVALID_ARGUMENT, "input 0 is not an operation or tensor of this graph");
    ck_assert_int_eq(times, 3);
    ck_assert_str_eq(eddy_scope_name(g), "");
    fits(g);
}
END_TEST

/* A block that could not begin does not end the enclosing block. */
START_TEST(without_memory_the_outer_blocks_stay)
{
    failing_allocator a;
    failing_allocator_init(&a);
    eddy_graph *h = eddy_graph_new(&a.table);
    a.persistent = true;
    for (int depth = 0; depth < 8; depth++) eddy_scope_begin(h, "s/"), eddy_device_begin(h, "d");
    a.at = a.calls + 1;
    EDDY_SCOPE(h, "t/")
        EDDY_DEVICE(h, "e") ck_assert_int_eq(eddy_graph_status(h), EDDY_NO_MEMORY);
    eddy_graph_clear_error(h);
    for (int depth = 0; depth < 8; depth++) eddy_scope_end(h), eddy_device_end(h);
    fits(h);
    a.at = 0;
    eddy_graph_free(h);
    ck_assert_int_eq(a.live, 0);
}
END_TEST

/* Neither do calls without blocks: each end belongs to its begin. */
START_TEST(without_memory_begin_and_end_stay_paired)
{
    failing_allocator a;
    failing_allocator_init(&a);
    eddy_graph *h = eddy_graph_new(&a.table);
    a.persistent = true;
    eddy_tensor x = eddy_placeholder(h, "x", EDDY_FLOAT32, EDDY_SCALAR);
    for (int depth = 0; depth < 8; depth++)
        eddy_scope_begin(h, "s/"), eddy_control_begin(h, EDDY_LIST(x)), eddy_device_begin(h, "d");
    a.at = a.calls + 1;
    eddy_scope_begin(h, "t/"), eddy_control_begin(h, EDDY_LIST(x)), eddy_device_begin(h, "e");
    ck_assert_int_eq(eddy_graph_status(h), EDDY_NO_MEMORY);
    a.at = 0;
    eddy_scope_begin(h, "u/"), eddy_control_begin(h, EDDY_LIST(x)), eddy_device_begin(h, "f");
    eddy_graph_clear_error(h);
    for (int depth = 0; depth < 10; depth++) {
        ck_assert_str_eq(eddy_scope_name(h), "s/");
        eddy_scope_end(h), eddy_control_end(h), eddy_device_end(h);
    }
    fits(h);
    ck_assert_str_eq(eddy_scope_name(h), "");
    eddy_scope_end(h);
    fails(h, EDDY_INVALID_ARGUMENT, "no scope is open");
    eddy_graph_free(h);
    ck_assert_int_eq(a.live, 0);
}
END_TEST

START_TEST(the_version_is_that_of_the_headers)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", EDDY_VERSION_MAJOR, EDDY_VERSION_MINOR,
             EDDY_VERSION_PATCH);
    ck_assert_str_eq(eddy_version(), text);
    ck_assert_str_eq(eddy_version(), EDDY_VERSION);
    ck_assert_int_eq(EDDY_VERSION_NUMBER,
                     (EDDY_VERSION_MAJOR * 100 + EDDY_VERSION_MINOR) * 100 + EDDY_VERSION_PATCH);
}
END_TEST

Suite *scope_blocks_suite(void)
{
    Suite *s = suite_create("scope_blocks");
    TCase *c = tcase_create("blocks");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, scopes_nest);
    tcase_add_test(c, controls_add_up_and_clear);
    tcase_add_test(c, devices_and_overrides);
    tcase_add_test(c, blocks_end_however_they_are_left);
    tcase_add_test(c, a_block_of_no_graph_is_run_and_ends_nothing);
    tcase_add_test(c, without_memory_the_outer_blocks_stay);
    tcase_add_test(c, without_memory_begin_and_end_stay_paired);
    tcase_add_test(c, the_version_is_that_of_the_headers);
    suite_add_tcase(s, c);
    return s;
}
