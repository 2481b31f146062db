/* test_messages_rank_arguments.c -- messages of collectives and of training with several ranks for
 * wrong arguments. */
#include "build/gen/suites.h"
#include "distributed/internal.h"
#include "tests/lib/golden.h"
#include "tests/lib/ranks/ranks.h"

#include <string.h>

enum { MOST = 3 };

static eddy_tensor floats(eddy_graph *g, int64_t n)
{
    return eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(n));
}

static void says(eddy_error *e) { golden_error(e); }

/* A function of the program that combines variables. */
static void clip_together(void *context, eddy_gradient_pair *pairs, int count)
{
    (void)context;
    eddy_clip_gradients_by_global_norm(pairs, count, eddy_scalar(pairs[0].variable.graph, 1));
}

static bool wrong_operations(eddy_communicator *c, void *context)
{
    (void)context;
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = floats(g, 3), yes = eddy_bools(g, 1, 0), whole = eddy_ints(g, 1, 2);
    eddy_tensor z = eddy_zeros(g, EDDY_COMPLEX64, EDDY_SHAPE(3));
    eddy_tensor two = eddy_int64s(g, 1, 2), less = eddy_int64s(g, -1);
    eddy_all_reduce(NULL, x), golden_graph(g);
    eddy_all_reduce(c, yes), golden_graph(g);
    eddy_all_reduce(c, whole, EDDY_REDUCE_MEAN), golden_graph(g);
    eddy_all_reduce(c, z, EDDY_REDUCE_MAX), golden_graph(g);
    eddy_all_reduce(c, x, (eddy_reduction)9), golden_graph(g);
    eddy_all_gather(c, eddy_scalar(g, 1)), golden_graph(g);
    eddy_reduce_scatter(c, x, .rows = two), golden_graph(g);
    eddy_reduce_scatter(c, x, .rows = less), golden_graph(g);
    eddy_reduce_scatter(c, x, .rows = eddy_int64s(g, 4)), golden_graph(g);
    eddy_reduce_scatter(c, yes), golden_graph(g);
    eddy_broadcast_from_root(c, x, .root = 1), golden_graph(g);
    eddy_reduce_to_root(c, yes), golden_graph(g);
    eddy_send_receive(c, x, .to = 2), golden_graph(g);
    eddy_send_receive(c, x, .to = 0), golden_graph(g);
    eddy_optimizer *o = eddy_gradient_descent(g, eddy_scalar(g, 1));
    eddy_distributed(o), golden_graph(g);
    eddy_distributed(o, c, .examples = x, .sum = true), golden_graph(g);
    eddy_distributed(o, c, .bucket_bytes = 0), golden_graph(g);
    eddy_distributed(o, c, .dense_bytes = -1), golden_graph(g);
    eddy_distributed(o, c, .overlap = true, .compress = true), golden_graph(g);
    eddy_sharded(o), golden_graph(g);
    eddy_sharded(o, c, .examples = x, .sum = true), golden_graph(g);
    eddy_sharded(o, c, .averaged = true, .sum = true), golden_graph(g);
    eddy_sharded(o, c, .bucket_bytes = -1), golden_graph(g);
    eddy_selected_updates(o), golden_graph(g);
    eddy_tensor     v = eddy_variable(g, eddy_scalar(g, 1), .name = "v");
    eddy_tensor     w = eddy_variable(g, eddy_scalar(g, 2), .name = "w");
    eddy_optimizer *joint = eddy_clipped_gradients(o, .global_norm = eddy_scalar(g, 1));
    eddy_minimize(eddy_sharded(joint, c), eddy_mul(v, w)), golden_graph(g);
    eddy_minimize(eddy_sharded(eddy_apply_if_finite(o, .quiet = true), c), eddy_mul(v, w));
    golden_graph(g);
    joint = eddy_transformed_gradients(o, .transform = clip_together);
    eddy_minimize(eddy_sharded(joint, c), eddy_mul(v, w)), golden_graph(g);
    eddy_session *s = eddy_session_new(g);
    eddy_error    e = { 0 };
    eddy_broadcast_variables(c, 7, g, s, &e), says(&e);
    eddy_save_ranks(c, g, s, "m.safetensors", &e), says(&e);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    eddy_save_ranks(c, g, s, "/none/m.safetensors.index.json", &e), says(&e);
    eddy_session_free(s);
    eddy_graph_free(g);
    return true;
}

/* ------------------------------------------------ steps that combine variables -- */

enum { JOINT = 5 };
static eddy_error joint_errors[JOINT][MOST];

/* With two variables: each rank owns one at most. */
static bool combined(eddy_communicator *c, void *context)
{
    (void)context;
    for (int k = 0; k < JOINT; k++) {
        eddy_graph     *g = eddy_graph_new();
        eddy_tensor     v = eddy_variable(g, eddy_scalar(g, 1), .name = "v");
        eddy_tensor     w = eddy_variable(g, eddy_scalar(g, 2), .name = "w");
        eddy_optimizer *o = eddy_gradient_descent(g, eddy_scalar(g, 1));
        o = k == 0 ? eddy_clipped_gradients(o, .global_norm = eddy_scalar(g, 1))
          : k == 1 ? eddy_loss_scale(o)
          : k == 2 ? eddy_apply_if_finite(o, .quiet = true)
          : k == 3 ? eddy_prodigy(g) : eddy_transformed_gradients(o, .transform = clip_together);
        o = eddy_accumulate_gradients(o, 2);
        eddy_minimize(eddy_sharded(o, c), eddy_mul(v, w));
        eddy_error *e = &joint_errors[k][eddy_communicator_rank(c)];
        e->status = eddy_graph_status(g);
        snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(g));
        eddy_graph_free(g);
    }
    return true;
}

/* All ranks refuse them, with as many ranks as variables and with more. */
static void all_refuse(void)
{
    for (int ranks = 1; ranks <= MOST; ranks++) {
        eddy_error e = { 0 };
        memset(joint_errors, 0, sizeof joint_errors);
        ck_assert(eddy_run_threads(ranks, combined, NULL, &e));
        for (int k = 0; k < JOINT; k++)
            for (int r = 0; r < ranks; r++) {
                const eddy_error *own = &joint_errors[k][r];
                ck_assert_msg(own->status == EDDY_INVALID_ARGUMENT, "%d of %d ranks, case %d: %s",
                              r, ranks, k, own->message);
                ck_assert_str_eq(own->message, joint_errors[k][0].message);
            }
    }
    for (int k = 0; k < JOINT; k++) golden_line(joint_errors[k][0].message);
}

/* Rows that are divided among two ranks, and numbers of rows that are fed. */
static bool wrong_shares(eddy_communicator *c, void *context)
{
    (void)context;
    if (eddy_communicator_rank(c) != 0) return true;
    eddy_graph *g = eddy_graph_new();
    eddy_reduce_scatter(c, floats(g, 3)), golden_graph(g);
    eddy_tensor   y = eddy_all_gather(c, floats(g, 3), .uneven = true);
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED({ eddy_input(y, 1), EDDY_INT64S(2, 2) }), EDDY_FETCH(y), NULL);
    golden_line(eddy_session_message(s));
    eddy_session_free(s);
    eddy_tensor rows = eddy_placeholder(g, "rows", EDDY_INT64, EDDY_SHAPE(2));
    y = eddy_all_to_all(c, floats(g, 3), .rows = rows);
    s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED({ rows, EDDY_INT64S(100000000, 2) },
                          { eddy_input(y, 2), EDDY_INT64S(100000000, 2) }), EDDY_FETCH(y), NULL);
    golden_line(eddy_session_message(s));
    eddy_session_free(s);
    eddy_graph_free(g);
    return true;
}

static bool selects_all(void *context, eddy_tensor v) { return (void)context, v.node != 0; }

static eddy_tensor completes_nothing(void *context, int count, const eddy_tensor *variables,
                                     const eddy_tensor *values)
{
    return (void)context, (void)values, eddy_none(count > 0 ? variables[0].graph : NULL);
}

/* The end of an exchange that has not begun, because its number is fed. */
static bool wrong_steps(eddy_communicator *c, void *context)
{
    (void)context;
    eddy_graph     *g = eddy_graph_new();
    eddy_tensor     v = eddy_variable(g, eddy_scalar(g, 1), .name = "v");
    eddy_optimizer *o = eddy_gradient_descent(g, eddy_scalar(g, 1));
    eddy_minimize(eddy_selected_updates(o, selects_all, completes_nothing), v), golden_graph(g);
    eddy_minimize(eddy_distributed(o, c, .overlap = true), v);
    eddy_session *s = eddy_session_new(g);
    for (int32_t id = 1; id <= eddy_graph_size(g); id++) {
        const eddy_tensor end = eddy_node_at(g, id);
        if (strcmp(eddy_node_of(end)->op->name, "AllReduceEnd") != 0) continue;
        eddy_run(s, EDDY_FEED({ eddy_input(end, 0), EDDY_NUMBER(EDDY_INT64, 7) }),
                 EDDY_FETCH(end), NULL);
        golden_line(eddy_session_message(s));
    }
    eddy_session_free(s);
    eddy_graph_free(g);
    return true;
}

static bool wrong_calls(eddy_communicator *c, void *context)
{
    (void)context;
    eddy_error  e = { 0 };
    eddy_array *a = eddy_array_of(EDDY_INT32, 1);
    const int   twice[] = { 0, 0 }, none[] = { 7 };
    ck_assert_ptr_null(eddy_communicator_group(c, NULL, 1, &e));
    says(&e);
    ck_assert_ptr_null(eddy_communicator_group(c, twice, 2, &e));
    says(&e);
    ck_assert_ptr_null(eddy_communicator_group(c, none, 1, &e));
    says(&e);
    eddy_array_all_reduce(NULL, EDDY_REDUCE_SUM, a, &e), says(&e);
    eddy_array_all_reduce(c, EDDY_REDUCE_MEAN, a, &e), says(&e);
    eddy_array_broadcast(c, 3, a, &e), says(&e);
    eddy_rank_barrier(NULL, &e), says(&e);
    eddy_broadcast_variables(c, 0, NULL, NULL, &e), says(&e);
    eddy_initialize_variables(c, NULL, NULL, &e), says(&e);
    eddy_save_ranks(c, NULL, NULL, NULL, &e), says(&e);
    eddy_report_ranks(NULL, NULL, &e), says(&e);
    eddy_array_free(a);
    return true;
}

/* Rank 1 is not a member of a group with rank 0 alone. */
static bool not_a_member(eddy_communicator *c, void *context)
{
    const int first[] = { 0 };
    if (eddy_communicator_rank(c) == 1) eddy_communicator_group(c, first, 1, context);
    return true;
}

/* Rank 1 alone has a path that no checkpoint has: all fail alike, and still meet afterwards. */
static bool other_path(eddy_communicator *c, void *context)
{
    eddy_error    *errors = context, *own = &errors[eddy_communicator_rank(c)], e = { 0 };
    eddy_graph    *g = eddy_graph_new();
    eddy_session  *s = eddy_session_new(g);
    const char    *path = "/none/m.safetensors.index.json";
    const bool     saved = eddy_save_ranks(c, g, s, own == errors ? path : "m.bin", own);
    const bool     meets = eddy_rank_barrier(c, &e);
    eddy_session_free(s);
    eddy_graph_free(g);
    return expect(c, !saved && meets, "%s", e.message);
}

static void free_it(void *context, void *data)
{
    memset(data, 0, sizeof(float));
    eddy_communicator_free(context);
}

static void copy_it(void *context, void *data) { (void)context, memset(data, 0, sizeof(float)); }

/* A job that begins after its communicator was freed, or while it is, by another thread. */
static bool late_jobs(eddy_communicator *c, void *context)
{
    const int              first[] = { 0 };
    const eddy_call_header h = { .kind = EDDY_ALL_REDUCE, .dtype = EDDY_FLOAT32, .parts = 1,
                                 .shape = EDDY_SHAPE(1), .name = "late" };
    eddy_error            *errors = context;
    bool                   none = true;
    for (int i = 0; i < 2; i++) {
        eddy_communicator *group = eddy_communicator_group(c, first, 1, NULL);
        eddy_communicator *held = eddy__communicator_take(group->id);
        if (i == 0) eddy_communicator_free(group);
        none &= eddy__job_begin(held, &h, 1, sizeof(float), i == 0 ? copy_it : free_it, group,
                                &errors[i]) == 0;
        eddy__communicator_give(held);
    }
    return expect(c, none, "a job of a communicator that is freed has begun");
}

/* A variable whose shape is not known has a value on rank 0 alone; rank 1 has one more, and one
 * of another type. */
static bool broadcast_unknown(eddy_communicator *c, void *context)
{
    eddy_graph   *g = eddy_graph_new();
    const int     me = eddy_communicator_rank(c);
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor   v = eddy_variable(g, x, .name = "v", .no_validate_shape = true);
    eddy_tensor   own = me == 1 ? eddy_variable(g, eddy_scalar(g, 3), .name = "own") : v;
    eddy_session *s = eddy_session_new(g);
    eddy_error    e = { 0 };
    if (me == 0) eddy_variable_set(s, v, EDDY_FLOATS(1, 2));
    bool        ok = eddy_broadcast_variables(c, 0, g, s, &e);
    eddy_array *value = eddy_variable_value(s, v);
    ok = expect(c, ok && eddy_array_equal(value, EDDY_FLOATS(1, 2)), "%s", e.message);
    eddy_array_free(value);
    eddy_tensor w = eddy_zeros(g, me == 0 ? EDDY_FLOAT32 : EDDY_INT32, EDDY_SHAPE(2));
    w = eddy_variable(g, w, .name = "w");
    if (me == 0) eddy_variable_set(s, w, EDDY_FLOATS(1, 2));
    if (!eddy_broadcast_variables(c, 0, g, s, &e) && me == 1) *(eddy_error *)context = e;
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok && own.node != 0;
}

/* Frees the communicator of a graph before it runs, and before a step is built. */
static bool freed(eddy_communicator *c, void *context)
{
    (void)context;
    const int          first[] = { 0 };
    eddy_error         e = { 0 };
    eddy_communicator *group = eddy_communicator_group(c, first, 1, &e);
    eddy_graph        *g = eddy_graph_new();
    eddy_tensor        v = eddy_variable(g, eddy_scalar(g, 1), .name = "v");
    eddy_tensor        y = eddy_all_reduce(group, floats(g, 3));
    eddy_optimizer    *o = eddy_distributed(eddy_gradient_descent(g, eddy_scalar(g, 1)), group);
    eddy_session      *s = eddy_session_new(g);
    eddy_optimizer    *plain = eddy_gradient_descent(g, eddy_scalar(g, 1));
    eddy_optimizer    *sharded = eddy_sharded(plain, group);
    eddy_optimizer    *averaged = eddy_sharded(plain, group, .averaged = true);
    eddy_communicator_free(group);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), NULL);
    golden_line(eddy_session_message(s));
    eddy_minimize(o, v), golden_graph(g);
    eddy_minimize(sharded, v), golden_graph(g);
    eddy_minimize(averaged, v), golden_graph(g);
    eddy_graph_save(g, "/dev/null", &e), golden_error(&e);
    eddy_session_free(s);
    eddy_graph_free(g);
    return true;
}

static eddy_message *no_send(void *context, int to, const void *data, size_t bytes, eddy_error *e)
{
    return (void)context, (void)to, (void)data, (void)bytes, (void)e, NULL;
}
static eddy_message *no_receive(void *context, int from, void *data, size_t bytes, eddy_error *e)
{
    return (void)context, (void)from, (void)data, (void)bytes, (void)e, NULL;
}
static bool no_wait(void *context, eddy_message *m, double seconds, bool *ended, eddy_error *e)
{
    return (void)context, (void)m, (void)seconds, (void)e, *ended = true;
}
static void no_cancel(void *context, eddy_message *m) { (void)context, (void)m; }
static void no_fail(void *context, eddy_status s, const char *text)
{
    (void)context, (void)s, (void)text;
}
static void count_close(void *context) { ++*(int *)context; }

/* Answers with the header that rank 0 has sent, as if much more followed than may. */
static void *room;
static eddy_message *keep_room(void *context, int from, void *data, size_t bytes, eddy_error *e)
{
    return room = data, (void)from, (void)bytes, (void)e, (eddy_message *)context;
}
static eddy_message *answer(void *context, int to, const void *data, size_t bytes, eddy_error *e)
{
    eddy_packet *p = memcpy(room, data, bytes);
    p->header.rank = 1;
    p->header.bytes = UINT64_MAX;
    return (void)to, (void)e, (eddy_message *)context;
}

START_TEST(arguments)
{
    eddy_error           e = { 0 };
    const eddy_transport nothing = { .name = "nothing" };
    golden_begin("distributed/arguments");
    ck_assert(eddy_run_threads(1, wrong_operations, NULL, &e));
    ck_assert(eddy_run_threads(2, wrong_shares, NULL, &e));
    ck_assert(eddy_run_threads(1, wrong_steps, NULL, &e));
    ck_assert(eddy_run_threads(1, wrong_calls, NULL, &e));
    ck_assert(eddy_run_threads(2, not_a_member, &e, NULL));
    says(&e);
    ck_assert(eddy_run_threads(2, broadcast_unknown, &e, NULL));
    says(&e);
    all_refuse();
    eddy_error each[2] = { { 0 }, { 0 } };
    ck_assert(eddy_run_threads(2, other_path, each, NULL));
    for (int r = 0; r < 2; r++) ck_assert_int_eq(each[r].status, EDDY_INVALID_ARGUMENT);
    ck_assert_str_eq(each[0].message, each[1].message);
    says(&each[0]);
    memset(each, 0, sizeof each);
    ck_assert(eddy_run_threads(1, late_jobs, each, NULL));
    says(&each[0]), says(&each[1]);
    ck_assert(eddy_run_threads(1, freed, NULL, &e));
    eddy_run_threads(0, freed, NULL, &e), says(&e);
    eddy_communicator_new(&nothing, NULL, 0, 1, &e), says(&e);
    const eddy_transport still = {
        .name = "still", .send = no_send, .receive = no_receive, .wait = no_wait,
        .cancel = no_cancel, .fail = no_fail, .close = count_close,
    };
    int                  closed = 0;
    ck_assert_ptr_null(eddy_communicator_new(&still, &closed, 2, 2, &e));
    says(&e);
    ck_assert_int_eq(closed, 1);
    eddy_communicator_free(eddy_communicator_new(&still, &closed, 0, 1, &e));
    ck_assert_int_eq(closed, 2);
    const eddy_transport damages = {
        .name = "damages", .send = answer, .receive = keep_room, .wait = no_wait,
        .cancel = no_cancel, .fail = no_fail, .close = count_close,
    };
    eddy_communicator   *c = eddy_communicator_new(&damages, &closed, 0, 2, &e);
    e.status = EDDY_OK;
    ck_assert(!eddy_rank_barrier(c, &e));
    says(&e);
    eddy_communicator_free(c);
    golden_end();
}
END_TEST

Suite *messages_rank_arguments_suite(void)
{
    Suite *s = suite_create("messages_rank_arguments");
    TCase *c = tcase_create("arguments");
    tcase_set_tags(c, "threads");
    tcase_add_test(c, arguments);
    suite_add_tcase(s, c);
    return s;
}
