/* test_message_parts.c -- two ranks whose transport hands out messages in parts of several lengths,
 * as shared memory does (receive_parts): results are those of whole messages. */
#include "build/gen/suites.h"
#include "distributed/internal.h"
#include "tests/lib/ranks/ranks.h"

#include <stdlib.h>

/* The transport of threads, and the message that is handed out in parts. */
typedef struct in_parts {
    const eddy_transport *inner;
    void                 *context;
    eddy_message         *message;
    char                 *data;
    size_t                bytes;
    eddy_take_part        take;
    void                 *taker;
    int                   handed_out;
} in_parts;

static eddy_message *parts_send(void *at, int to, const void *data, size_t bytes, eddy_error *e)
{
    const in_parts *p = at;
    return p->inner->send(p->context, to, data, bytes, e);
}

static eddy_message *parts_receive(void *at, int from, void *data, size_t bytes, eddy_error *e)
{
    const in_parts *p = at;
    return p->inner->receive(p->context, from, data, bytes, e);
}

static eddy_message *parts_receive_parts(void *at, int from, size_t bytes, eddy_take_part take,
                                         void *taker)
{
    in_parts *p = at;
    if (p->message || !(p->data = malloc(bytes))) return NULL;
    p->message = p->inner->receive(p->context, from, p->data, bytes, NULL);
    p->bytes = bytes;
    p->take = take;
    p->taker = taker;
    return p->message;
}

static void forget(in_parts *p)
{
    free(p->data);
    p->data = NULL;
    p->message = NULL;
}

/* Parts of 8 bytes end within a complex128 number. */
static bool parts_wait(void *at, eddy_message *m, double seconds, bool *ended, eddy_error *e)
{
    static const size_t lengths[] = { 8, 24, 16392, 16, 1 << 17 };
    in_parts           *p = at;
    const bool          ok = p->inner->wait(p->context, m, seconds, ended, e);
    if (!ok || !*ended || m != p->message) return ok;
    for (size_t from = 0, n; from < p->bytes; from += n) {
        n = lengths[p->handed_out++ % 5];
        n = n < p->bytes - from ? n : p->bytes - from;
        p->take(p->taker, from, p->data + from, n);
    }
    forget(p);
    return ok;
}

static void parts_cancel(void *at, eddy_message *m)
{
    in_parts *p = at;
    p->inner->cancel(p->context, m);
    if (m == p->message) forget(p);
}

static void parts_fail(void *at, eddy_status status, const char *text)
{
    const in_parts *p = at;
    (p->inner->fail)(p->context, status, text);     /* Check has a macro of this name */
}

static void parts_close(void *at) { (void)at; }

static const eddy_transport transport = {
    .name = "parts", .send = parts_send, .receive = parts_receive, .wait = parts_wait,
    .cancel = parts_cancel, .fail = parts_fail, .close = parts_close,
    .receive_parts = parts_receive_parts,
};

static bool run(eddy_communicator *c, void *program)
{
    in_parts           p = { .inner = c->world->transport, .context = c->world->context };
    eddy_communicator *own = eddy_communicator_new(&transport, &p, eddy_communicator_rank(c),
                                                   eddy_communicator_size(c), NULL);
    const bool         ok = own && (*(rank_program *)program)(own);
    eddy_communicator_free(own);
    return ok && expect(c, p.handed_out > 100, "%d parts", p.handed_out);
}

START_TEST(same_results)
{
    static const rank_program programs[] = { collectives_agree, complex_numbers_agree };
    rank_program              program = programs[_i];
    eddy_error                e = { 0 };
    ck_assert_msg(eddy_run_threads(2, run, &program, &e), "%s", e.message);
}
END_TEST

Suite *message_parts_suite(void)
{
    Suite *s = suite_create("message_parts");
    TCase *c = tcase_create("two");
    tcase_set_tags(c, "threads");
    tcase_add_loop_test(c, same_results, 0, 2);
    suite_add_tcase(s, c);
    return s;
}
