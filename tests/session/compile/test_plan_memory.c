/* test_plan_memory.c -- the memory of plans: networks need little more than the values alive at
 * once, no place holds two values at a time, and the check finds a plan in which one does. */
#include "session/compile/parallel_groups.h"
#include "session/state/internal.h"
#include "optim/optim.h"
#include "ops/short_names.h"
#include "ops/weak_ops.h"
#include "tests/lib/golden.h"

#include <stdlib.h>

Suite *plan_memory_suite(void);

static eddy_graph   *g;
static eddy_session *s;

static void setup(void) { g = eddy_graph_new(); }

static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
    s = NULL;
}

/* ----------------------------------------------------------------- networks -- */

static eddy_tensor zeros(eddy_shape shape) { return eddy_zeros(g, EDDY_FLOAT32, shape); }

static eddy_tensor weights(eddy_shape shape)
{
    return eddy_variable(g, eddy_init_glorot_uniform(g, EDDY_FLOAT32, shape, 1));
}

static eddy_tensor labels(int64_t n) { return eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(n)); }

static eddy_tensor loss_of(eddy_tensor logits, int64_t n)
{
    return Mean(eddy_sparse_softmax_cross_entropy(labels(n), logits));
}

static eddy_tensor fed(eddy_shape shape) { return eddy_placeholder(g, "x", EDDY_FLOAT32, shape); }

static eddy_tensor mlp(eddy_tensor *x)
{
    *x = fed(EDDY_SHAPE(32, 100));
    eddy_tensor h = *x;
    for (int i = 0; i < 4; i++) h = Relu(eddy_dense(h, 64 + 16 * i, NULL));
    return loss_of(eddy_dense(h, 10, NULL), 32);
}

static eddy_tensor norm_mlp(eddy_tensor *x)
{
    *x = fed(EDDY_SHAPE(32, 64));
    eddy_tensor h = *x;
    for (int i = 0; i < 4; i++) {
        const eddy_tensor y = eddy_layer_norm(h, weights(EDDY_SHAPE(64)), weights(EDDY_SHAPE(64)));
        h = Add(h, eddy_gelu(eddy_dense(y, 64, NULL)));
    }
    return loss_of(eddy_dense(h, 10, NULL), 32);
}

static eddy_tensor cnn(eddy_tensor *x)
{
    *x = fed(EDDY_SHAPE(4, 16, 16, 3));
    eddy_tensor h = *x;
    for (int i = 0; i < 2; i++) {
        const int64_t channels = eddy_shape_of(h).dim[3];
        h = eddy_conv2d(h, weights(EDDY_SHAPE(3, 3, channels, 8)), .padding = "SAME");
        h = Relu(BiasAdd(h, weights(EDDY_SHAPE(8))));
        h = eddy_max_pool2d(h, EDDY_DIMS(2), EDDY_DIMS(2));
    }
    return loss_of(eddy_dense(Reshape(h, EDDY_SHAPE(4, 4 * 4 * 8)), 10, NULL), 4);
}

static eddy_tensor lstm(eddy_tensor *x)
{
    *x = fed(EDDY_SHAPE(12, 4, 16));
    const eddy_tensor h = eddy_lstm(*x, .w = weights(EDDY_SHAPE(16, 128)),
                                    .u = weights(EDDY_SHAPE(32, 128)),
                                    .b = weights(EDDY_SHAPE(128)));
    return loss_of(eddy_dense(Reshape(h, EDDY_SHAPE(48, 32)), 10, NULL), 48);
}

/* The steps one by one, as a user would write them. */
static eddy_tensor unrolled(eddy_tensor *x)
{
    *x = fed(EDDY_SHAPE(8, 4, 16));
    const eddy_tensor w = weights(EDDY_SHAPE(48, 128)), b = weights(EDDY_SHAPE(128));
    const eddy_tensor steps = eddy_unstack(*x);
    eddy_tensor h = zeros(EDDY_SHAPE(4, 32)), c = h;
    for (int i = 0; i < 8; i++) {
        const eddy_tensor in = eddy_concat(EDDY_LIST(eddy_output(steps, i), h), 1);
        const eddy_tensor z = eddy_split(BiasAdd(MatMul(in, w), b), 4, 1);
        c = Add(Mul(Sigmoid(eddy_output(z, 1)), c),
                Mul(Sigmoid(z), Tanh(eddy_output(z, 2))));
        h = Mul(Sigmoid(eddy_output(z, 3)), Tanh(c));
    }
    return loss_of(eddy_dense(h, 10, NULL), 4);
}

typedef struct model {
    const char *name;
    eddy_tensor (*build)(eddy_tensor *x);
} model;

static const model MODELS[] = {
    { "mlp", mlp }, { "norm", norm_mlp }, { "cnn", cnn }, { "lstm", lstm },
    { "unrolled", unrolled },
};
enum { MODEL_COUNT = sizeof MODELS / sizeof *MODELS, OPTIMIZERS = 2 };

static void check_session(const char *name)
{
    eddy_error e = { 0 };
    for (const eddy_plan *p = s->plans; p; p = p->next)
        ck_assert_msg(eddy__plan_check(p, &e), "%s: %s", name, e.message);
}

/* Runs fetch with x fed, and looks at the plan. */
static eddy_plan_info run_once(const char *name, eddy_tensor x, eddy_list fetch, unsigned without,
                               int threads)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, eddy_shape_of(x));
    s = eddy_session_new(g, .without = without, .threads = threads);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    ck_assert_msg(eddy_run(s, EDDY_FEED({ x, a }), fetch, NULL) == EDDY_OK, "%s: %s", name,
                  eddy_session_message(s));
    eddy_array_free(a);
    check_session(name);
    const eddy_plan_info info = eddy_session_plan_info(s);
    eddy_session_free(s);
    s = NULL;
    return info;
}

START_TEST(of_networks)
{
    const model *m = &MODELS[_i % MODEL_COUNT];
    eddy_tensor  x;
    const eddy_tensor loss = m->build(&x), rate = eddy_scalar(g, 0.01);
    eddy_optimizer   *o = _i < MODEL_COUNT ? eddy_adam(g, rate) : eddy_gradient_descent(g, rate);
    const eddy_tensor train = eddy_minimize(o, loss);
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    for (unsigned pass = 0; pass <= EDDY_PASSES; pass++) {
        const unsigned without = pass < EDDY_PASSES ? 1u << pass : 0;
        const eddy_plan_info info = run_once(m->name, x, EDDY_LIST(train, loss), without,
                                             1 + (int)pass % 3);
        const double most = without == 0 ? 1.02 : 1.15;
        if (without != EDDY_PASS_REUSE)
            ck_assert_msg((double)info.arena_bytes <= most * (double)info.live_bytes,
                          "%s: arena of %zu bytes, %zu alive", m->name, info.arena_bytes,
                          info.live_bytes);
    }
}
END_TEST

/* ------------------------------------------------------------------- damage -- */

static eddy_plan *damaged_plan(unsigned without)
{
    eddy_tensor x;
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(32, 100));
    const eddy_tensor loss = mlp(&x), rate = eddy_scalar(g, 0.01);
    const eddy_tensor train = eddy_minimize(eddy_adam(g, rate), loss);
    s = eddy_session_new(g, .without = without, .threads = 2);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(loss, train), NULL), EDDY_OK);
    eddy_array_free(a);
    check_session("whole");
    return s->plans;
}

static void place_root(eddy_plan *p, int32_t root, uint64_t offset)
{
    p->roots[root].offset = offset;
    for (int32_t b = 0; b < p->n_buffers; b++)
        if (p->buffer_root[b] == root) p->buffers[b].data = (char *)p->memory + offset;
}

/* Memory of the arena that holds some tensor. */
static bool is_used(const eddy_plan *p, int32_t root)
{
    const plan_root *r = &p->roots[root];
    bool             held = false;
    for (int32_t b = 0; b < p->n_buffers; b++) held = held || p->buffer_root[b] == root;
    return held && r->kind == VALUE_TEMP && r->first >= 0 && r->bytes > 0;
}

/* One root after the other where another one is that is alive at the same time. */
START_TEST(two_in_one_place)
{
    eddy_plan *p = damaged_plan(_i ? EDDY_PASS_FUSE : 0);
    int        noticed = 0, tried = 0;
    for (int32_t a = 0; a < p->n_roots; a++)
        for (int32_t b = 0; b < p->n_roots; b++) {
            const plan_root *x = &p->roots[a], *y = &p->roots[b];
            const uint64_t   offset = x->offset;
            eddy_error       e = { 0 };
            if (a == b || !is_used(p, a) || !is_used(p, b)) continue;
            if (x->first > y->last || y->first > x->last) continue;
            place_root(p, a, y->offset);
            noticed += !eddy__plan_check(p, &e);
            tried++;
            place_root(p, a, offset);
        }
    ck_assert_int_gt(tried, 50);
    ck_assert_int_eq(noticed, tried);
    check_session("mended");
}
END_TEST

/* The operands of each instruction exchanged with others. */
START_TEST(operands_too_early)
{
    eddy_plan *p = damaged_plan(EDDY_PASS_FUSE | EDDY_PASS_IN_PLACE);
    int        tried = 0;
    for (int32_t i = 0; i < p->n_code; i++) {
        eddy_kernel *k = &p->code[i].kernel;
        const instruction *later = &p->code[p->n_code - 1];
        if (eddy__parallel_chains_of(&p->code[i])) continue;    /* its parts read their own lists */
        for (int j = 0; j < k->n_in && i < p->n_code - 1; j++) {
            eddy_error   e = { 0 };
            eddy_buffer *was = k->in[j];
            for (const instruction *l = later; l > &p->code[i]; l--) {
                eddy_buffer *b = l->kernel.n_out > 0 ? l->kernel.out[0] : NULL;
                if (!b || p->roots[p->buffer_root[b - p->buffers]].kind != VALUE_TEMP) continue;
                ((eddy_buffer **)(uintptr_t)k->in)[j] = b;
                ck_assert_msg(!eddy__plan_check(p, &e), "instruction %d, operand %d", (int)i, j);
                tried++;
                break;
            }
            ((eddy_buffer **)(uintptr_t)k->in)[j] = was;
        }
    }
    ck_assert_int_gt(tried, 20);
    check_session("mended");
}
END_TEST

/* An LSTM's gates may take the memory of their inputs, no other output that of any operand. */
START_TEST(outputs_over_other_operands)
{
    const eddy_tensor v = eddy_placeholder(g, "v", EDDY_FLOAT32, EDDY_SHAPE(3, 8));
    const eddy_tensor xw = Mul(eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(1, 3, 32)), Sum(v));
    const eddy_tensor u = Mul(eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(8, 32)), Sum(v));
    const eddy_tensor y = eddy_block_lstm(xw, v, v, u);
    eddy_array       *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(3, 8)), *out = NULL;
    s = eddy_session_new(g, .without = EDDY_PASS_FUSE);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ v, a }), EDDY_FETCH(Sum(y)), &out), EDDY_OK);
    eddy_array_free(out);
    eddy_array_free(a);
    eddy_plan *p = s->plans;
    int        tried = 0;
    for (int32_t i = 0; i < p->n_code; i++) {
        const eddy_kernel *k = &p->code[i].kernel;
        if (k->op != &eddy_op_block_lstm) continue;
        for (int j = 0; j < k->n_in; j++)
            for (int o = 0; o < k->n_out; o++) {
                const int32_t out_at = (int32_t)(k->out[o] - p->buffers);
                const int32_t was = p->buffer_root[out_at];
                eddy_error    e = { 0 };
                if (o == 2 && j == 0) continue;
                p->buffer_root[out_at] = p->buffer_root[k->in[j] - p->buffers];
                ck_assert_msg(!eddy__plan_check(p, &e), "output %d over input %d", o, j);
                p->buffer_root[out_at] = was;
                tried++;
            }
    }
    ck_assert_int_eq(tried, 11);
    check_session("mended");
}
END_TEST

/* Each result where an operand is that is read again later, or by the wrong kernel. */
START_TEST(results_over_operands)
{
    eddy_plan *p = damaged_plan(EDDY_PASS_FUSE | EDDY_PASS_IN_PLACE);
    int        tried = 0;
    for (int32_t i = 0; i < p->n_code; i++) {
        const eddy_kernel *k = &p->code[i].kernel;
        if (k->n_out == 0 || k->n_in == 0 || (k->op->flags & EDDY_OP_ELEMENTWISE)) continue;
        const int32_t in = (int32_t)(k->in[0] - p->buffers);
        const int32_t out = (int32_t)(k->out[0] - p->buffers);
        const int32_t was = p->buffer_root[out];
        eddy_error    e = { 0 };
        if (k->op->flags & (EDDY_OP_IN_PLACE | EDDY_OP_UPDATES)) continue;
        p->buffer_root[out] = p->buffer_root[in];
        ck_assert_msg(!eddy__plan_check(p, &e), "instruction %d", (int)i);
        p->buffer_root[out] = was;
        tried++;
    }
    ck_assert_int_gt(tried, 5);
    check_session("mended");
}
END_TEST

/* A product of bfloat16 makes the cast of a variable itself; behind an update, it would need a
 * float32 copy of the variable, and takes the cast, which is half as large. */
START_TEST(product_behind_an_update)
{
    enum { ROWS = 512, COLUMNS = 256 };
    const eddy_shape  shape = EDDY_SHAPE(ROWS, COLUMNS);
    const eddy_tensor w = weights(shape), x = fed(EDDY_SHAPE(8, ROWS));
    const eddy_tensor d = fed(shape);
    const eddy_tensor c = Cast(w, EDDY_BFLOAT16), update = eddy_assign_sub(w, d);
    eddy_control_begin(g, EDDY_LIST(update));
    const eddy_tensor y = MatMul(Cast(x, EDDY_BFLOAT16), c);
    eddy_control_end(g);
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(8, ROWS)), *out = NULL;
    eddy_array *b = eddy_array_new(EDDY_FLOAT32, shape);
    s = eddy_session_new(g, .threads = 1);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, a }, { d, b }), EDDY_FETCH(y), &out), EDDY_OK);
    const size_t bytes = eddy_session_plan_info(s).arena_bytes;
    /* the cast, and the operand that the product packs in float32 */
    ck_assert_msg(bytes < (2 + 4) * ROWS * COLUMNS + 50000, "%zu", bytes);
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_array_free(out);
}
END_TEST

/* The message of a plan that exceeds the limit. */
START_TEST(message)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 2));
    const eddy_tensor y = MatMul(MatMul(x, x), x);
    eddy_array       *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(2, 2));
    eddy_error        e = { 0 };
    s = eddy_session_new(g, .threads = 1);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), NULL), EDDY_OK);
    eddy_array_free(a);
    eddy_plan   *p = s->plans;
    eddy_buffer *first = p->code[0].kernel.out[0];
    p->code[1].kernel.out[0]->data = first->data;
    golden_begin("session/plan_memory");
    ck_assert(!eddy__plan_check(p, &e));
    golden_error(&e);
    golden_end();
}
END_TEST

Suite *plan_memory_suite(void)
{
    Suite *suite = suite_create("plan_memory");
    TCase *c = tcase_create("plan_memory");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, of_networks, 0, MODEL_COUNT * OPTIMIZERS);
    tcase_add_loop_test(c, two_in_one_place, 0, 2);
    tcase_add_test(c, operands_too_early);
    tcase_add_test(c, outputs_over_other_operands);
    tcase_add_test(c, results_over_operands);
    tcase_add_test(c, product_behind_an_update);
    tcase_add_test(c, message);
    suite_add_tcase(suite, c);
    return suite;
}
