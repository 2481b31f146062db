/* move.c -- the collectives on memory that only move data. Short data travel with the headers,
 * except in all_to_all. */
#include "distributed/exchange.h"

#include <string.h>

/* The bytes of `n` ranks from `first` on, in the array of all. */
static eddy_share block_of(const int64_t *rows, size_t row_bytes, int first, int n)
{
    eddy_share s = { 0, 0 };
    for (int r = 0; r < first; r++) s.from += rows[r] * (int64_t)row_bytes;
    for (int r = first; r < first + n; r++) s.count += rows[r] * (int64_t)row_bytes;
    return s;
}

/* What a rank has before a level: the rows of those that differ from it in lower digits alone. */
static eddy_share block_before(const eddy_level *at, const int64_t *rows, size_t row_bytes, int r)
{
    return block_of(rows, row_bytes, r / at->stride * at->stride, at->stride);
}

/* The same of the next rank of the level, after the block `s` of rank r. */
static eddy_share block_after(eddy_share s, const eddy_level *at, const int64_t *rows,
                              size_t row_bytes, int r)
{
    const int next = (r / at->stride + 1) * at->stride;
    return (eddy_share){ s.from + s.count, block_of(rows + next, row_bytes, 0, at->stride).count };
}

/* True if at each level all ranks send so little that it comes with the headers. */
static bool all_short(const eddy_communicator *c, const int64_t *rows, size_t row_bytes)
{
    const int stride = c->levels[c->n_levels - 1].stride;
    bool      is_short = true;
    for (int r = 0; is_short && r < c->n; r += stride)
        is_short = block_of(rows + r, row_bytes, 0, stride).count <= EDDY_SHORT_BYTES;
    return is_short;
}

bool eddy__all_gather(eddy_call *call, const void *in, void *out, const int64_t *rows,
                      size_t row_bytes)
{
    const eddy_communicator *c = call->c;
    const bool               is_short = all_short(c, rows, row_bytes);
    const eddy_share         own = block_of(rows, row_bytes, c->me, 1);
    char                    *all = out;
    if (!is_short && !eddy__collective_meet_all(call)) return false;
    if (own.count > 0) memcpy(all + own.from, in, (size_t)own.count);
    for (int l = 0; l < c->n_levels; l++) {
        const eddy_level *at = &c->levels[l];
        const eddy_share  mine = block_before(at, rows, row_bytes, c->me);
        const size_t      sent = (size_t)mine.count;
        if (is_short && !eddy__collective_meet(call, at, all + mine.from, sent)) return false;
        eddy_share s = block_before(at, rows, row_bytes, at->first);
        for (int d = 0; d < at->radix; d++) {
            const int r = eddy__peer(at, d);
            if (d > 0) s = block_after(s, at, rows, row_bytes, eddy__peer(at, d - 1));
            const size_t bytes = (size_t)s.count;
            if (d == at->digit) continue;
            if (is_short) {
                const void *data = eddy__collective_came(call, at, d, bytes);
                if (!data) return false;
                if (bytes > 0) memcpy(all + s.from, data, bytes);
            } else if (!eddy__collective_receive(call, r, all + s.from, bytes) ||
                       !eddy__collective_send(call, r, all + mine.from, sent))
                return false;
        }
        if (!eddy__collective_finish(call)) return false;
    }
    return true;
}

/* Those that have the data send them at each level. */
static bool broadcast_short(eddy_call *call, void *data, size_t bytes, int root)
{
    const eddy_communicator *c = call->c;
    for (int l = 0; l < c->n_levels; l++) {
        const eddy_level *at = &c->levels[l];
        const bool        has_it = eddy__is_near(at, c->me, root);
        if (!eddy__collective_meet(call, at, data, has_it ? bytes : 0)) return false;
        for (int d = 0; !has_it && d < at->radix; d++) {
            if (!eddy__is_near(at, eddy__peer(at, d), root)) continue;
            const void *came = eddy__collective_came(call, at, d, bytes);
            if (!came) return false;
            if (bytes > 0) memcpy(data, came, bytes);
        }
    }
    return true;
}

bool eddy__broadcast(eddy_call *call, const void *in, void *out, size_t bytes)
{
    const eddy_communicator *c = call->c;
    const int                root = call->mine->header.detail;
    if (root == c->me && bytes > 0 && in != out) memcpy(out, in, bytes);
    if (bytes <= EDDY_SHORT_BYTES) return broadcast_short(call, out, bytes, root);
    if (!eddy__collective_meet_all(call)) return false;
    if (c->n == 2)                  /* shares would only come later */
        return (root == c->me ? eddy__collective_send(call, 1 - root, out, bytes)
                              : eddy__collective_receive(call, root, out, bytes)) &&
               eddy__collective_finish(call);
    return eddy__scatter(call, out, (int64_t)bytes, 1, root) &&
           eddy__begin_spreading(call, out, (int64_t)bytes, 1, EDDY_FROM_ROOT, root) &&
           eddy__collective_finish(call);
}

bool eddy__all_to_all(eddy_call *call, const void *in, const int64_t *sent, void *out,
                      const int64_t *received, size_t row_bytes)
{
    const eddy_communicator *c = call->c;
    const char              *from = in;
    char                    *to = out;
    if (!eddy__collective_meet_all(call)) return false;
    for (int r = 0; r < c->n; r++) {
        const size_t out_bytes = (size_t)sent[r] * row_bytes,
                     in_bytes = (size_t)received[r] * row_bytes;
        if (r == c->me) {
            if (out_bytes > 0) memcpy(to, from, out_bytes);
        } else if (!eddy__collective_receive(call, r, to, in_bytes) ||
                   !eddy__collective_send(call, r, from, out_bytes))
            return false;
        from += out_bytes;
        to += in_bytes;
    }
    return eddy__collective_finish(call);
}

/* Only the two ranks of each message meet. */
bool eddy__send_receive(eddy_call *call, const void *in, int to, void *out, int from, size_t bytes)
{
    const eddy_communicator *c = call->c;
    const size_t             with = bytes <= EDDY_SHORT_BYTES ? bytes : 0;
    if (call->error.status != EDDY_OK) return false;
    call->packets->header = (eddy_call_header){ 0 };
    if (with > 0) memcpy(call->mine->data, in, with);
    if (to >= 0 && to != c->me &&
        !eddy__collective_send(call, to, call->mine, sizeof(eddy_call_header) + with))
        return false;
    if (from >= 0 && from != c->me &&
        !eddy__collective_receive(call, from, call->packets, sizeof(eddy_packet)))
        return false;
    if (!eddy__collective_finish(call)) return false;
    if (from >= 0 && from != c->me &&
        !eddy__collective_compare(call, &call->mine->header, &call->packets->header))
        return false;
    if (bytes > 0 && from < 0) memset(out, 0, bytes);
    else if (bytes > 0 && from == c->me) memcpy(out, in, bytes);
    else if (with > 0) memcpy(out, call->packets->data, with);
    if (with > 0 || bytes == 0) return true;
    if (to >= 0 && to != c->me && !eddy__collective_send(call, to, in, bytes)) return false;
    if (from >= 0 && from != c->me && !eddy__collective_receive(call, from, out, bytes))
        return false;
    return eddy__collective_finish(call);
}
