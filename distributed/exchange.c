/* exchange.c -- the collectives on memory.
 *
 * Short data travel with the headers: one exchange of messages. Of long data to be reduced, each
 * rank combines one share, which all others send to it; so each element is sent at most twice, and
 * is combined in one place. */
#include "distributed/internal.h"

#include <string.h>

static size_t size_of(const eddy_call *call)
{
    return eddy_dtype_size((eddy_dtype)call->mine->header.dtype);
}

static eddy_reduction reduction_of(const eddy_call *call)
{
    const eddy_call_header *h = &call->mine->header;
    return h->kind == EDDY_ALL_REDUCE ? (eddy_reduction)h->detail : EDDY_REDUCE_SUM;
}

/* Elements from..to of the share of rank r. */
typedef struct share {
    int64_t from, count;
} share;

static share even_share(int64_t count, int n, int r)
{
    const int64_t each = count / n, more = count % n;
    return (share){ r * each + (r < more ? r : more), each + (r < more) };
}

/* ----------------------------------------------------------------- combining -- */

/* Memory for combining, which stays until the call has ended: `n` arrays of `count` elements, and
 * pointers to them. */
typedef struct combination {
    void  **parts;
    char   *room;
    void   *work;
    size_t  bytes;                   /* of a part, with padding */
    /* with two ranks, parts may be combined as they come: the call, the elements of this rank,
     * where the result belongs, and whether it is so */
    const eddy_call *call;
    const char      *own;
    char            *out;
    bool             as_they_come;
} combination;

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

static combination *combination_new(eddy_call *call, int64_t count)
{
    const int        n = call->c->n;
    const eddy_dtype d = (eddy_dtype)call->mine->header.dtype;
    const size_t     bytes = aligned((size_t)count * size_of(call));
    const size_t     own = aligned(sizeof(combination));
    const size_t     pointers = aligned((size_t)n * sizeof(void *));
    char *at = eddy__collective_scratch(
        call, own + pointers + (uint64_t)n * bytes + eddy__combine_work(d, n));
    if (!at) return NULL;
    combination *k = (combination *)(void *)at;
    *k = (combination){ .parts = (void **)(void *)(at + own), .room = at + own + pointers,
                        .bytes = bytes, .call = call };
    k->work = k->room + (size_t)n * bytes;
    for (int r = 0; r < n; r++) k->parts[r] = k->room + (size_t)r * bytes;
    return k;
}

static void combine(eddy_call *call, combination *k, int64_t count, void *out)
{
    if (k->as_they_come) return;
    eddy__combine((eddy_dtype)call->mine->header.dtype, reduction_of(call), call->c->n, k->parts,
                  count, out, k->work);
}

/* Combines the elements that came with the headers, of the `bytes` of each rank. */
static bool combine_short(eddy_call *call, size_t bytes, int64_t from, int64_t count, void *out)
{
    combination *k = combination_new(call, 0);
    if (!k) return false;
    for (int r = 0; r < call->c->n; r++) {
        if (!eddy__collective_came(call, r, bytes)) return false;
        k->parts[r] = call->packets[r].data + (size_t)from * size_of(call);
    }
    combine(call, k, count, out);
    return true;
}

/* Combines a part of the other rank's array, of two ranks, with this rank's. It may end within a
 * complex number, whose real and imaginary parts are combined like real numbers. */
static void combine_part(void *at, size_t before, void *part, size_t bytes)
{
    combination *k = at;
    const eddy_dtype d = eddy_dtype_real((eddy_dtype)k->call->mine->header.dtype);
    const void  *own = k->own + before;
    char        *out = k->out + before;
    k->parts[0] = out;
    k->parts[1] = part;
    if (k->call->c->me == 1) {
        k->parts[0] = part;
        k->parts[1] = (void *)(uintptr_t)own;
    } else if (own != out) memcpy(out, own, bytes);
    eddy__combine(d, reduction_of(k->call), 2, k->parts, (int64_t)(bytes / eddy_dtype_size(d)), out,
                  k->work);
}

/* Of two ranks, begins to combine `bytes` as they come; NULL if the transport cannot. */
static combination *combine_as_they_come(eddy_call *call, const char *own, void *out, size_t bytes)
{
    combination *k = call->c->n == 2 ? combination_new(call, 0) : NULL;
    if (!k) return NULL;
    k->own = own;
    k->out = out;
    k->as_they_come =
        eddy__collective_receive_parts(call, 1 - call->c->me, bytes, combine_part, k);
    return k->as_they_come ? k : NULL;
}

/* Begins to send each rank its share of `in`, and to receive those of this rank, which `combine`
 * will combine into `out`. NULL with an error of the call. */
static combination *begin_shares(eddy_call *call, const void *in,
                                 share (*of)(const void *shares, int r), const void *shares,
                                 void *out)
{
    const eddy_communicator *c = call->c;
    const size_t             size = size_of(call);
    const share              mine = of(shares, c->me);
    const size_t             bytes = (size_t)mine.count * size;
    const char *own = (const char *)in + (size_t)mine.from * size;
    combination *k = combine_as_they_come(call, own, out, bytes);
    if (!k) k = combination_new(call, mine.count);
    if (!k) return NULL;
    if (own != out) k->parts[0] = out;          /* where the result belongs */
    for (int i = 1; i < c->n; i++) {
        const int   from = (c->me + c->n - i) % c->n, to = (c->me + i) % c->n;
        const share theirs = of(shares, to);
        if ((!k->as_they_come &&
             !eddy__collective_receive(call, from, k->parts[from], bytes)) ||
            !eddy__collective_send(call, to, (const char *)in + (size_t)theirs.from * size,
                             (size_t)theirs.count * size))
            return NULL;
    }
    if (k->as_they_come) return k;
    /* Only parts with an even number are changed. */
    if (c->me % 2 != 0 || own == out) k->parts[c->me] = (void *)(uintptr_t)own;
    else if (bytes > 0) memcpy(k->parts[c->me], own, bytes);
    return k;
}

typedef struct even_shares {
    int64_t count;
    int     n;
} even_shares;

static share of_even(const void *shares, int r)
{
    const even_shares *e = shares;
    return even_share(e->count, e->n, r);
}

typedef struct row_shares {
    const int64_t *rows;
    int64_t        row_count;
} row_shares;

static share of_rows(const void *shares, int r)
{
    const row_shares *e = shares;
    share             s = { 0, e->rows[r] * e->row_count };
    for (int i = 0; i < r; i++) s.from += e->rows[i] * e->row_count;
    return s;
}

/* ------------------------------------------------------------------ reducing -- */

/* Begins to send this rank's share, which is at its place in `out`, to a rank, or to all for -1,
 * and to receive theirs there. */
static bool begin_spreading(eddy_call *call, void *out, const even_shares *e, int root)
{
    const eddy_communicator *c = call->c;
    const size_t             size = size_of(call);
    const share              mine = even_share(e->count, e->n, c->me);
    const bool               receives = root < 0 || root == c->me;
    for (int i = 1; i < c->n; i++) {
        const int   from = (c->me + c->n - i) % c->n, to = (c->me + i) % c->n;
        const share theirs = even_share(e->count, e->n, from);
        if (receives &&
            !eddy__collective_receive(call, from, (char *)out + (size_t)theirs.from * size,
                                      (size_t)theirs.count * size))
            return false;
        if ((root < 0 || root == to) &&
            !eddy__collective_send(call, to, (char *)out + (size_t)mine.from * size,
                             (size_t)mine.count * size))
            return false;
    }
    return true;
}

/* Part by part, so that copies stay in the cache: a share of a part has at most SHARE bytes. While
 * the result of a part is spread, the next part is exchanged: the last one is still under way. */
static bool reduce_long(eddy_call *call, const char *in, char *out, int64_t count, int root)
{
    enum { SHARE = 1 << 19 };
    const int     n = call->c->n;
    const int64_t size = (int64_t)size_of(call), most = SHARE / size * n;
    for (int64_t i = 0; i < count; i += most) {
        const even_shares e = { count - i < most ? count - i : most, n };
        const share       mine = even_share(e.count, n, call->c->me);
        char             *to = out + (i + mine.from) * size;
        combination *k = begin_shares(call, in + i * size, of_even, &e, to);
        if (!k || !eddy__collective_finish(call)) return false;
        combine(call, k, mine.count, to);
        if (!begin_spreading(call, out + i * size, &e, root)) return false;
    }
    return true;
}

/* root -1: all ranks get the result. */
static bool reduce_to(eddy_call *call, const void *in, void *out, int64_t count, int root)
{
    const size_t bytes = (size_t)count * size_of(call);
    if (!eddy__collective_meet(call, in, bytes)) return false;
    const bool here = root < 0 || root == call->c->me;
    if (bytes > EDDY_SHORT_BYTES) {
        if (!reduce_long(call, in, out, count, root) || !eddy__collective_finish(call))
            return false;
    } else if (here) return combine_short(call, bytes, 0, count, out);
    if (!here && bytes > 0) memset(out, 0, bytes);
    return true;
}

bool eddy__all_reduce(eddy_call *call, const void *in, void *out, int64_t count)
{
    return reduce_to(call, in, out, count, -1);
}

bool eddy__all_reduce_arrays(eddy_call *call, int n, const eddy_reduced *arrays)
{
    if (n == 1) return eddy__all_reduce(call, arrays->in, arrays->out, arrays->count);
    bool ok = eddy__collective_meet(call, NULL, EDDY_SHORT_BYTES + 1);
    for (int i = 0; ok && i < n; i++)
        ok = reduce_long(call, arrays[i].in, arrays[i].out, arrays[i].count, -1);
    return ok && eddy__collective_finish(call);
}

bool eddy__reduce(eddy_call *call, const void *in, void *out, int64_t count)
{
    return reduce_to(call, in, out, count, call->mine->header.detail);
}

bool eddy__reduce_scatter(eddy_call *call, const void *in, void *out, const int64_t *rows,
                          int64_t row_count)
{
    const row_shares s = { rows, row_count };
    const share      mine = of_rows(&s, call->c->me), last = of_rows(&s, call->c->n - 1);
    const size_t     bytes = (size_t)(last.from + last.count) * size_of(call);
    if (!eddy__collective_meet(call, in, bytes)) return false;
    if (bytes <= EDDY_SHORT_BYTES) return combine_short(call, bytes, mine.from, mine.count, out);
    combination *k = begin_shares(call, in, of_rows, &s, out);
    if (!k || !eddy__collective_finish(call)) return false;
    combine(call, k, mine.count, out);
    return true;
}

/* -------------------------------------------------------------------- moving -- */

/* True if all ranks send so little that it came with the headers. */
static bool all_short(const int64_t *rows, int n, size_t row_bytes)
{
    bool is_short = true;
    for (int r = 0; r < n; r++)
        is_short = is_short && (size_t)rows[r] * row_bytes <= EDDY_SHORT_BYTES;
    return is_short;
}

bool eddy__all_gather(eddy_call *call, const void *in, void *out, const int64_t *rows,
                      size_t row_bytes)
{
    const eddy_communicator *c = call->c;
    const size_t             mine = (size_t)call->mine->header.shape.dim[0] * row_bytes;
    if (!eddy__collective_meet(call, in, mine)) return false;
    const bool came = all_short(rows, c->n, row_bytes);
    char      *at = out;
    for (int r = 0; r < c->n; r++) {
        const size_t bytes = (size_t)rows[r] * row_bytes;
        if (r == c->me || came) {
            if (r != c->me && !eddy__collective_came(call, r, bytes)) return false;
            if (bytes > 0) memcpy(at, r == c->me ? in : call->packets[r].data, bytes);
        } else if (!eddy__collective_receive(call, r, at, bytes) ||
                   !eddy__collective_send(call, r, in, mine))
            return false;
        at += bytes;
    }
    return eddy__collective_finish(call);
}

bool eddy__broadcast(eddy_call *call, const void *in, void *out, size_t bytes)
{
    const eddy_communicator *c = call->c;
    const int                root = call->mine->header.detail;
    const bool               sends = root == c->me;
    if (!eddy__collective_meet(call, in, sends ? bytes : 0)) return false;
    if (sends && bytes > 0 && in != out) memcpy(out, in, bytes);
    if (bytes <= EDDY_SHORT_BYTES) {
        if (!sends && !eddy__collective_came(call, root, bytes)) return false;
        if (!sends && bytes > 0) memcpy(out, call->packets[root].data, bytes);
        return true;
    }
    for (int r = 0; sends && r < c->n; r++)
        if (r != c->me && !eddy__collective_send(call, r, in, bytes)) return false;
    if (!sends && !eddy__collective_receive(call, root, out, bytes)) return false;
    return eddy__collective_finish(call);
}

bool eddy__all_to_all(eddy_call *call, const void *in, const int64_t *sent, void *out,
                      const int64_t *received, size_t row_bytes)
{
    const eddy_communicator *c = call->c;
    const char              *from = in;
    char                    *to = out;
    if (!eddy__collective_meet(call, NULL, 0)) return false;
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
    if (with > 0) memcpy(call->mine->data, in, with);
    if (to >= 0 && to != c->me &&
        !eddy__collective_send(call, to, call->mine, sizeof(eddy_call_header) + with))
        return false;
    if (from >= 0 && from != c->me &&
        !eddy__collective_receive(call, from, &call->packets[from], sizeof(eddy_packet)))
        return false;
    if (!eddy__collective_finish(call)) return false;
    if (from >= 0 && from != c->me &&
        !eddy__collective_compare(call, &call->mine->header, &call->packets[from].header))
        return false;
    if (bytes > 0 && from < 0) memset(out, 0, bytes);
    else if (bytes > 0 && from == c->me) memcpy(out, in, bytes);
    else if (with > 0) memcpy(out, call->packets[from].data, with);
    if (with > 0 || bytes == 0) return true;
    if (to >= 0 && to != c->me && !eddy__collective_send(call, to, in, bytes)) return false;
    if (from >= 0 && from != c->me && !eddy__collective_receive(call, from, out, bytes))
        return false;
    return eddy__collective_finish(call);
}
