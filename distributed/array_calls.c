/* array_calls.c -- collectives that a program makes on arrays, outside of graphs. */
#include "distributed/internal.h"

#include <stdlib.h>
#include <string.h>

static eddy_call_header header_of(eddy_collective kind, const eddy_array *a, int detail)
{
    eddy_call_header h = { .kind = (int32_t)kind, .detail = detail, .parts = 1 };
    h.dtype = (int32_t)eddy_array_dtype(a);
    h.shape = eddy_array_shape(a);
    return h;
}

static bool end(eddy_call *call, const char *what, eddy_error *error)
{
    return eddy__collective_end(call) ||
           eddy__distributed_fail(error, call->error.status, "%s: %s", what, call->error.message);
}

bool eddy_array_all_reduce(eddy_communicator *c, eddy_reduction how, eddy_array *array,
                           eddy_error *error)
{
    const eddy_dtype d = eddy_array_dtype(array);
    char             why[100];
    if (!c || !array)
        return eddy__distributed_fail(error, EDDY_INVALID_ARGUMENT,
                                      "array_all_reduce: no communicator, or no array");
    if (!eddy__reduction_fits(how, d, why, sizeof why))
        return eddy__distributed_fail(error, EDDY_BAD_DTYPE, "array_all_reduce: %s", why);
    const eddy_call_header h = header_of(EDDY_ALL_REDUCE, array, (int)how);
    eddy_call              call = { 0 };
    void                  *data = eddy_array_data(array);
    if (eddy__collective_begin(&call, c, &h))
        eddy__all_reduce(&call, data, data, eddy_array_count(array));
    return end(&call, "array_all_reduce", error);
}

bool eddy_array_broadcast(eddy_communicator *c, int root, eddy_array *array, eddy_error *error)
{
    if (!c || !array || root < 0 || root >= c->n)
        return eddy__distributed_fail(error, EDDY_INVALID_ARGUMENT,
                                      "array_broadcast: no communicator, "
                                      "no array, or no rank %d",
                                      root);
    const eddy_call_header h = header_of(EDDY_BROADCAST, array, root);
    eddy_call              call = { 0 };
    void                  *data = eddy_array_data(array);
    if (eddy__collective_begin(&call, c, &h))
        eddy__broadcast(&call, data, data, eddy_array_bytes(array));
    return end(&call, "array_broadcast", error);
}

bool eddy_rank_barrier(eddy_communicator *c, eddy_error *error)
{
    if (!c)
        return eddy__distributed_fail(error, EDDY_INVALID_ARGUMENT,
                                      "rank_barrier: no communicator");
    const eddy_call_header h = { .kind = EDDY_BARRIER, .parts = 1 };
    eddy_call              call = { 0 };
    if (eddy__collective_begin(&call, c, &h)) eddy__collective_meet_all(&call);
    return end(&call, "rank_barrier", error);
}

const eddy_array *eddy_array_share(eddy_array_room *room, const eddy_communicator *c,
                                   const eddy_array *array)
{
    eddy_shape s = eddy_array_shape(array);
    if (!room || !array || s.rank < 1) return NULL;
    const int64_t n = s.dim[0], ranks = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    const int64_t from = n / ranks * me + n % ranks * me / ranks;
    const int64_t to = n / ranks * (me + 1) + n % ranks * (me + 1) / ranks;
    const size_t  row = n > 0 ? eddy_array_bytes(array) / (size_t)n : 0;
    s.dim[0] = to - from;
    return eddy_array_view(room, eddy_array_dtype(array), s,
                           (const char *)eddy_array_data(array) + (size_t)from * row);
}

/* ------------------------------------------------------------ texts, errors -- */

char *eddy__broadcast_text(eddy_communicator *c, int root, const char *text, eddy_error *error)
{
    const bool  mine = c->me == root;
    eddy_array *bytes = eddy_array_of(EDDY_INT64, mine ? (double)strlen(text) : 0), *data = NULL;
    char       *copy = NULL;
    if (!bytes) {
        eddy__distributed_fail(error, EDDY_NO_MEMORY, "out of memory");
        eddy_communicator_fail(c, "out of memory");
    }
    bool ok = bytes && eddy_array_broadcast(c, root, bytes, error);
    const int64_t n = ok ? (int64_t)eddy_array_item(bytes) : 0;
    eddy_array_free(bytes);
    if (!ok) return NULL;
    data = eddy_array_new(EDDY_UINT8, EDDY_SHAPE(n));
    copy = malloc((size_t)n + 1);
    if (!data || !copy) {
        eddy__distributed_fail(error, EDDY_NO_MEMORY, "out of memory");
        eddy_communicator_fail(c, "out of memory");
    }
    if (data && mine && n > 0) memcpy(eddy_array_data(data), text, (size_t)n);
    ok = data && copy && eddy_array_broadcast(c, root, data, error);
    if (ok && n > 0) memcpy(copy, eddy_array_data(data), (size_t)n);
    eddy_array_free(data);
    if (ok) copy[n] = '\0';
    else free(copy);
    return ok ? copy : NULL;
}

bool eddy__all_succeeded(eddy_communicator *c, eddy_error *error)
{
    const bool  good = error->status == EDDY_OK;
    eddy_array *rank = eddy_array_of(EDDY_INT32, good ? c->n : c->me),
               *status = eddy_array_of(EDDY_INT32, error->status);
    eddy_error  own = { 0 };
    if (!rank || !status) eddy_communicator_fail(c, "out of memory");
    bool        ok = rank && status && eddy_array_all_reduce(c, EDDY_REDUCE_MIN, rank, &own);
    const int   failed = ok ? (int)eddy_array_item(rank) : c->n;
    ok = ok && (failed == c->n || eddy_array_broadcast(c, failed, status, &own));
    char *text = ok && failed < c->n ? eddy__broadcast_text(c, failed, error->message, &own) : NULL;
    if (text) {
        error->status = (eddy_status)eddy_array_item(status);
        snprintf(error->message, sizeof error->message, "%s", text);
    } else if (good && (!ok || failed < c->n)) {
        *error = own;
        eddy__distributed_fail(error, EDDY_NO_MEMORY, "out of memory");
    }
    free(text);
    eddy_array_free(rank);
    eddy_array_free(status);
    return error->status == EDDY_OK;
}
