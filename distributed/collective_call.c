/* collective_call.c -- collectives in progress: meetings, messages and their errors. */
#include "distributed/internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ------------------------------------------------------------------ errors -- */

bool eddy__collective_fail(eddy_call *call, eddy_status status, const char *format, ...)
{
    eddy_world *w = call->c->world;
    char        why[1000];
    va_list     args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    eddy__distributed_fail(&call->error, status, "%s", why);
    eddy__world_fail(w, status, why);
    return false;
}

void eddy__world_fail(eddy_world *w, eddy_status status, const char *why)
{
    pthread_mutex_lock(&w->error_lock);
    const bool first = w->error.status == EDDY_OK;
    eddy__distributed_fail(&w->error, status, "%s", why);
    pthread_mutex_unlock(&w->error_lock);
    if (first) w->transport->fail(w->context, status, why);
}

/* True if the run has been cancelled or has taken too long; then all ranks fail. */
static bool must_stop(eddy_call *call)
{
    const eddy_status s = call->stopped ? call->stopped(call->run) : EDDY_OK;
    if (s == EDDY_OK) return false;
    const int rank = call->c->world->rank;
    return !eddy__collective_fail(call, s,
                            s == EDDY_TIMED_OUT ? "rank %d: the run took longer than its timeout"
                                                : "rank %d: the run was cancelled",
                            rank);
}

static bool no_memory(eddy_call *call)
{
    return eddy__collective_fail(call, EDDY_NO_MEMORY, "rank %d: out of memory for messages",
                           call->c->world->rank);
}

void *eddy__collective_scratch(eddy_call *call, uint64_t bytes)
{
    eddy_world *w = call->c->world;
    if (bytes > w->scratch_size) {
        free(w->scratch);
        w->scratch = bytes <= PTRDIFF_MAX ? malloc((size_t)bytes) : NULL;
        w->scratch_size = w->scratch ? (size_t)bytes : 0;
    }
    if (!w->scratch && bytes > 0) no_memory(call);
    return w->scratch;
}

/* ---------------------------------------------------------- begin and end -- */

static bool wait_for_turn(eddy_call *call)
{
    const struct timespec pause = { .tv_nsec = 200000 };
    while (pthread_mutex_trylock(&call->c->world->lock) != 0) {
        const eddy_status s = call->stopped ? call->stopped(call->run) : EDDY_OK;
        if (s != EDDY_OK)
            return eddy__collective_fail(call, s, "rank %d: the run ended while another one used "
                                         "the communicator", call->c->world->rank);
        nanosleep(&pause, NULL);
    }
    return true;
}

/* The packets and messages of the world, which belong to the collective that has the turn. */
static bool take_packets(eddy_call *call)
{
    eddy_world  *w = call->c->world;
    const size_t n = (size_t)call->c->radix + 1;
    if (n > w->n_packets) {
        free(w->packets);
        w->packets = calloc(n, sizeof *w->packets);
        w->n_packets = w->packets ? n : 0;
    }
    if (!w->messages) w->messages = calloc(EDDY_MESSAGES * (size_t)w->size, sizeof *w->messages);
    if (!w->packets || !w->messages) return no_memory(call);
    call->mine = w->packets;
    call->packets = w->packets + 1;
    call->messages = w->messages;
    return true;
}

bool eddy__collective_begin(eddy_call *call, eddy_communicator *c, const eddy_call_header *h)
{
    *call = (eddy_call){ .c = c, .stopped = call->stopped, .run = call->run,
                         .in_background = call->in_background, .begun = eddy__seconds() };
    call->has_turn = (call->in_background || eddy__jobs_wait(call)) && wait_for_turn(call);
    if (!call->has_turn) return false;
    if (!take_packets(call)) return false;
    call->mine->header = *h;
    call->mine->header.size = sizeof *h;
    call->mine->header.rank = c->world->rank;
    /* so that a library that exchanges in other levels is noticed */
    call->mine->header.group = c->group + (uint64_t)(c->n_levels - 1);
    if (eddy_communicator_status(c) == EDDY_OK) return true;
    return eddy__distributed_fail(&call->error, c->world->error.status, "%s",
                                  c->world->error.message);
}

bool eddy__collective_end(eddy_call *call)
{
    const eddy_transport *t = call->c->world->transport;
    const double          took = eddy__seconds() - call->begun;
    eddy__world_add_times(call->c->world, took, call->in_background ? 0 : took);
    for (int i = 0; i < call->n_messages; i++)
        if (call->messages[i]) t->cancel(call->c->world->context, call->messages[i]);
    if (call->has_turn) pthread_mutex_unlock(&call->c->world->lock);
    return call->error.status == EDDY_OK;
}

/* ------------------------------------------------------------ descriptions -- */

static const char *const kind_names[] = {
    "?", "AllReduce", "AllGather", "ReduceScatter", "BroadcastFromRoot",
    "ReduceToRoot", "AllToAll", "SendReceive", "Barrier"
};

/* "AllReduce(float32[3], sum) 'gradients/AllReduce'" */
static char *describe(const eddy_call_header *h, char *buf, size_t size)
{
    static const char *const how[] = { "sum", "mean", "min", "max" };
    char       type[100], detail[40] = "", parts[40] = "", name[EDDY_CALL_NAME + 4] = "";
    const bool reduces = h->kind == EDDY_ALL_REDUCE;
    const bool rooted = h->kind == EDDY_BROADCAST || h->kind == EDDY_REDUCE;
    const int  kind = h->kind > 0 && h->kind <= EDDY_BARRIER ? h->kind : 0;
    eddy_type_print((eddy_type){ (eddy_dtype)h->dtype, h->shape }, type, sizeof type);
    if (reduces && h->detail >= 0 && h->detail < 4)
        snprintf(detail, sizeof detail, ", %s", how[h->detail]);
    if (rooted) snprintf(detail, sizeof detail, ", root %d", (int)h->detail);
    if (h->parts > 1) snprintf(parts, sizeof parts, " of %d tensors", (int)h->parts);
    if (h->name[0]) snprintf(name, sizeof name, " '%.*s'", EDDY_CALL_NAME - 1, h->name);
    snprintf(buf, size, "%s(%s%s%s)%s", kind_names[kind], kind == EDDY_BARRIER ? "" : type, parts,
             detail, name);
    return buf;
}

/* ---------------------------------------------------------------- messages -- */

static bool add(eddy_call *call, eddy_message *m, const eddy_error *e)
{
    if (!m) return eddy__collective_fail(call, e->status, "%s", e->message);
    call->messages[call->n_messages++] = m;
    return true;
}

bool eddy__collective_send(eddy_call *call, int to, const void *data, size_t bytes)
{
    const eddy_world *w = call->c->world;
    eddy_error        e = { 0 };
    if (bytes == 0) return true;
    return add(call, w->transport->send(w->context, call->c->ranks[to], data, bytes, &e), &e);
}

bool eddy__collective_receive(eddy_call *call, int from, void *data, size_t bytes)
{
    const eddy_world *w = call->c->world;
    eddy_error        e = { 0 };
    if (bytes == 0) return true;
    return add(call, w->transport->receive(w->context, call->c->ranks[from], data, bytes, &e), &e);
}

bool eddy__collective_receive_parts(eddy_call *call, int from, size_t bytes, eddy_take_part take,
                                    void *taker)
{
    const eddy_world *w = call->c->world;
    eddy_message     *m =
        w->transport->receive_parts && bytes > 0
                ? w->transport->receive_parts(w->context, call->c->ranks[from], bytes, take, taker)
                : NULL;
    if (m) call->messages[call->n_messages++] = m;
    return m != NULL;
}

/* Tells the transport what waits for so long. */
static void explain(const eddy_call *call, eddy_message *m)
{
    const eddy_world *w = call->c->world;
    char              what[400];
    if (w->transport->explain_wait)
        w->transport->explain_wait(w->context, m,
                                   describe(&call->mine->header, what, sizeof what));
}

static bool finish_one(eddy_call *call, eddy_message *m)
{
    const double      look = 0.01;          /* seconds between two looks at the run */
    const double      is_long = 0.25;
    const eddy_world *w = call->c->world;
    eddy_error        e = { 0 };
    bool              ended = false, explained = false;
    double            begun = 0;
    while (!ended) {
        if (!w->transport->wait(w->context, m, look, &ended, &e))
            return eddy__collective_fail(call, e.status, "%s", e.message);
        if (!ended && must_stop(call)) return false;
        if (ended || explained) continue;
        if (begun == 0) begun = eddy__seconds();
        explained = eddy__seconds() - begun > is_long;
        if (explained) explain(call, m);
    }
    return true;
}

/* Waits for those that were begun first. */
static bool finish_some(eddy_call *call, int count)
{
    for (int i = 0; i < count; i++) {
        if (call->messages[i] && !finish_one(call, call->messages[i])) return false;
        call->messages[i] = NULL;
    }
    return true;
}

bool eddy__collective_finish(eddy_call *call)
{
    if (!finish_some(call, call->n_messages)) return false;
    call->n_messages = 0;
    return true;
}

/* ---------------------------------------------------------------- meetings -- */

/* Numbers of rows may differ where rows are gathered or exchanged. */
static bool shapes_agree(const eddy_call_header *a, const eddy_call_header *b)
{
    const int first = a->kind == EDDY_ALL_GATHER || a->kind == EDDY_ALL_TO_ALL ? 1 : 0;
    bool      same = a->shape.rank == b->shape.rank && a->parts == b->parts && a->hash == b->hash;
    for (int i = first; same && i < a->shape.rank; i++) same = a->shape.dim[i] == b->shape.dim[i];
    return same;
}

bool eddy__collective_compare(eddy_call *call, const eddy_call_header *a, const eddy_call_header *b)
{
    char one[400], other[400];
    if (a->size == b->size && a->kind == b->kind && a->dtype == b->dtype &&
        a->detail == b->detail && shapes_agree(a, b) && strcmp(a->name, b->name) == 0 &&
        a->group == b->group)
        return true;
    const char *more = a->size != b->size ? " of another version"
                     : a->group != b->group ? " in another group"
                     : a->hash != b->hash && eddy_shape_equal(a->shape, b->shape)
                           ? " with other shapes or numbers of rows" : "";
    return eddy__collective_fail(call, EDDY_INVALID_ARGUMENT,
                           "the ranks do not agree: rank %d has %s, rank %d has %s%s", (int)a->rank,
                           describe(a, one, sizeof one), (int)b->rank,
                           describe(b, other, sizeof other), more);
}

static eddy_packet *packet_of(const eddy_call *call, const eddy_level *at, int digit)
{
    return digit == at->digit ? call->mine : &call->packets[digit];
}

static bool damaged(eddy_call *call, const eddy_level *at, int digit)
{
    return eddy__collective_fail(call, EDDY_IO, "rank %d sent a damaged message",
                                 call->c->ranks[eddy__peer(at, digit)]);
}

void *eddy__collective_came(eddy_call *call, const eddy_level *at, int digit, size_t bytes)
{
    eddy_packet *p = packet_of(call, at, digit);
    return p->header.bytes == bytes || damaged(call, at, digit) ? p->data : NULL;
}

/* The rest of short data follows the header at once, so that it does not wait for an answer. */
static bool send_rests(eddy_call *call, const eddy_level *at, size_t with)
{
    for (int d = 0; with > EDDY_FIRST_BYTES && d < at->radix; d++)
        if (d != at->digit &&
            !eddy__collective_send(call, eddy__peer(at, d), call->mine->data + EDDY_FIRST_BYTES,
                                   with - EDDY_FIRST_BYTES))
            return false;
    return true;
}

static bool receive_rests(eddy_call *call, const eddy_level *at)
{
    for (int d = 0; d < at->radix; d++) {
        eddy_packet *p = packet_of(call, at, d);
        if (p->header.bytes > EDDY_SHORT_BYTES) return damaged(call, at, d);
        if (d != at->digit && p->header.bytes > EDDY_FIRST_BYTES &&
            !eddy__collective_receive(call, eddy__peer(at, d), p->data + EDDY_FIRST_BYTES,
                                      (size_t)p->header.bytes - EDDY_FIRST_BYTES))
            return false;
    }
    return eddy__collective_finish(call);
}

bool eddy__collective_meet(eddy_call *call, const eddy_level *at, const void *data, size_t bytes)
{
    const size_t with = bytes <= EDDY_SHORT_BYTES ? bytes : 0;
    const size_t first = with < EDDY_FIRST_BYTES ? with : EDDY_FIRST_BYTES;
    if (call->error.status != EDDY_OK) return false;
    call->mine->header.bytes = with;
    if (with > 0) memcpy(call->mine->data, data, with);
    for (int d = 0; d < at->radix; d++) {
        const int r = eddy__peer(at, d);
        if (d == at->digit) continue;
        call->packets[d].header = (eddy_call_header){ 0 };
        if (!eddy__collective_receive(call, r, &call->packets[d], sizeof(eddy_packet)) ||
            !eddy__collective_send(call, r, call->mine, sizeof(eddy_call_header) + first))
            return false;
    }
    const int headers = call->n_messages;
    if (!send_rests(call, at, with) || !finish_some(call, headers)) return false;
    for (int d = 1; d < at->radix; d++)
        if (!eddy__collective_compare(call, &packet_of(call, at, 0)->header,
                                      &packet_of(call, at, d)->header))
            return false;
    return receive_rests(call, at);
}

bool eddy__collective_meet_all(eddy_call *call)
{
    const eddy_communicator *c = call->c;
    bool                     ok = true;
    for (int l = 0; ok && l < c->n_levels; l++)
        ok = eddy__collective_meet(call, &c->levels[l], NULL, 0);
    return ok;
}
