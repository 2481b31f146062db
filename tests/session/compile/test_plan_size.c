/* test_plan_size.c -- what a plan itself takes: an unrolled Runge-Kutta method with its gradient
 * has thousands of nodes on small tensors, of which fused loops keep little. */
#include "build/gen/suites.h"
#include "tests/lib/checks.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 200, BYTES_A_NODE = 300 };

typedef struct memory {
    double live;                    /* bytes */
} memory;

static void *allocate(void *context, size_t size)
{
    ((memory *)context)->live += (double)size;
    return malloc(size);
}

static void release(void *context, void *p, size_t size)
{
    ((memory *)context)->live -= (double)size;
    free(p);
}

typedef struct equation {
    eddy_tensor y, k, result[3];    /* y after all steps, and the derivatives of its sum */
} equation;

static eddy_tensor slope(eddy_tensor y, eddy_tensor k) { return Mul(eddy_sin(y), k); }

/* y' = k sin(y). */
static equation build(eddy_graph *g, eddy_shape shape)
{
    equation    e = { .y = eddy_placeholder(g, "y", EDDY_FLOAT32, shape) };
    eddy_tensor k = e.k = eddy_placeholder(g, "k", EDDY_FLOAT32, shape), y = e.y;
    for (int i = 0; i < STEPS; i++) {
        eddy_tensor a = slope(y, k), b = slope(Add(y, Mul(0.005, a)), k);
        eddy_tensor c = slope(Add(y, Mul(0.005, b)), k), d = slope(Add(y, Mul(0.01, c)), k);
        y = Add(y, Mul(0.01 / 6, Add(Add(a, Mul(2, b)), Add(Mul(2, c), d))));
    }
    e.result[0] = y;
    eddy_gradients(EDDY_LIST(Sum(y)), EDDY_LIST(e.y, e.k), e.result + 1);
    fits(g);
    return e;
}

/* Runs with the numbers 0.5, 0.6, ... and 1.1, 1.2, ...; the session stays. */
static eddy_session *run(eddy_graph *g, const equation *e, eddy_shape shape, unsigned without,
                         eddy_array *out[3])
{
    eddy_array   *y = eddy_array_new(EDDY_FLOAT32, shape), *k = eddy_array_new(EDDY_FLOAT32, shape);
    eddy_session *s = eddy_session_new(g, .threads = 1, .without = without);
    for (int64_t i = 0; i < eddy_array_count(y); i++) {
        eddy_array_set(y, i, 0.5 + 0.1 * (double)i);
        eddy_array_set(k, i, 1.1 + 0.1 * (double)i);
    }
    ck_assert_msg(eddy_run(s, EDDY_FEED({ e->y, y }, { e->k, k }), (eddy_list){ 3, e->result },
                           out) == EDDY_OK, "%s", eddy_session_message(s));
    eddy_array_free(y);
    eddy_array_free(k);
    return s;
}

static eddy_shape shape_of(int i) { return i == 0 ? EDDY_SCALAR : EDDY_SHAPE(4); }

START_TEST(bytes_a_node)
{
    memory               m = { 0 };
    const eddy_allocator a = { allocate, release, &m };
    eddy_graph          *g = eddy_graph_new(.allocator = &a);
    const equation       e = build(g, shape_of(_i));
    const double         before = m.live;
    eddy_array          *out[3] = { NULL };
    eddy_session        *s = run(g, &e, shape_of(_i), 0, out);
    const eddy_plan_info info = eddy_session_plan_info(s);
    const double         bytes = m.live - before - (double)info.arena_bytes;
    ck_assert_int_gt(info.nodes, 45 * STEPS);
    ck_assert_msg(bytes <= BYTES_A_NODE * (double)info.nodes, "%g bytes for %d nodes", bytes,
                  info.nodes);
    for (int k = 0; k < 3; k++) eddy_array_free(out[k]);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* Fused or not, the bits are the same; the loops are few. */
START_TEST(fused_or_not)
{
    eddy_graph    *g = eddy_graph_new();
    const equation e = build(g, shape_of(_i));
    eddy_array    *fused[3] = { NULL }, *alone[3] = { NULL };
    eddy_session  *s = run(g, &e, shape_of(_i), 0, fused);
    eddy_session  *t = run(g, &e, shape_of(_i), EDDY_PASS_FUSE, alone);
    ck_assert_int_lt(50 * eddy_session_plan_info(s).instructions,
                     eddy_session_plan_info(t).instructions);
    for (int k = 0; k < 3; k++) {
        ck_assert(memcmp(eddy_array_data(fused[k]), eddy_array_data(alone[k]),
                         eddy_array_bytes(fused[k])) == 0);
        ck_assert_double_gt(fabs(eddy_array_get(fused[k], 0)), 1e-3);
        eddy_array_free(fused[k]);
        eddy_array_free(alone[k]);
    }
    eddy_session_free(s);
    eddy_session_free(t);
    eddy_graph_free(g);
}
END_TEST

Suite *plan_size_suite(void)
{
    Suite *suite = suite_create("plan_size");
    TCase *t = tcase_create("plan_size");
    tcase_add_loop_test(t, bytes_a_node, 0, 2);
    tcase_add_loop_test(t, fused_or_not, 0, 2);
    suite_add_tcase(suite, t);
    return suite;
}
