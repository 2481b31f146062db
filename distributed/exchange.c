/* exchange.c -- the collectives on memory that combine data.
 *
 * Short data travel with the headers, and each rank combines what came. Of long data, each rank
 * combines one share, which all others of its level send to it; the next level does the same with
 * that share. So each rank sends at most two times the array. */
#include "distributed/exchange.h"

#include <string.h>

/* An array that is being reduced, with memory that stays until the call has ended. */
typedef struct reduction {
    eddy_call     *call;
    int64_t        count;
    const int64_t *rows;             /* of each rank's share; NULL: shares are even */
    int64_t        row_count;
    void         **parts;            /* of the ranks of a level */
    char          *room, *sums, *packed;
    int64_t       *starts;           /* the first of each rank's rows, if they are packed */
    void          *work;
    /* of two ranks, whose parts may be combined as they come: the elements of this rank, and where
     * the result belongs */
    const char    *own;
    char          *out;
} reduction;

static eddy_dtype dtype_of(const eddy_call *call) { return (eddy_dtype)call->mine->header.dtype; }

/* Of what travels at level l: sums after the first one. */
static eddy_dtype type_at(const eddy_call *call, int l)
{
    return l == 0 ? dtype_of(call) : eddy__sum_type(dtype_of(call));
}

static size_t size_at(const eddy_call *call, int l) { return eddy_dtype_size(type_at(call, l)); }

static eddy_combining combining_at(const eddy_call *call, int l)
{
    const eddy_communicator *c = call->c;
    const eddy_call_header  *h = &call->mine->header;
    const bool               last = l == c->n_levels - 1;
    eddy_combining           x = { .from = type_at(call, l),
                                   .to = last ? dtype_of(call) : type_at(call, l + 1),
                                   .how = EDDY_REDUCE_SUM, .n = c->levels[l].radix,
                                   .ranks = c->n, .kept = c->levels[l].digit };
    if (h->kind == EDDY_ALL_REDUCE) x.how = (eddy_reduction)h->detail;
    if (!last && x.how == EDDY_REDUCE_MEAN) x.how = EDDY_REDUCE_SUM;
    return x;
}

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* ---------------------------------------------------------------- short data -- */

static bool is_short(const eddy_call *call, int64_t count)
{
    return (size_t)count * size_at(call, call->c->n_levels - 1) <= EDDY_SHORT_BYTES;
}

/* All ranks have the partial results of lower levels. `out`: of the share, or NULL if it is not
 * wanted. */
static bool reduce_short(eddy_call *call, const void *in, int64_t count, eddy_share mine, void *out)
{
    const eddy_communicator *c = call->c;
    const size_t pointers = aligned((size_t)c->radix * sizeof(void *));
    void       **parts = eddy__collective_scratch(
        call, pointers + EDDY_SHORT_BYTES + eddy__combine_work(dtype_of(call), c->radix));
    if (!parts) return false;
    char *sums = (char *)parts + pointers;
    for (int l = 0; l < c->n_levels; l++) {
        const eddy_level    *at = &c->levels[l];
        const eddy_combining x = combining_at(call, l);
        const size_t         size = size_at(call, l);
        const bool           last = l == c->n_levels - 1;
        if (!eddy__collective_meet(call, at, in, (size_t)count * size)) return false;
        if (last && !out) return true;
        for (int d = 0; d < at->radix; d++) {
            char *part = eddy__collective_came(call, at, d, (size_t)count * size);
            if (!part) return false;
            parts[d] = part + (last ? (size_t)mine.from * size : 0);
        }
        eddy__combine(&x, parts, last ? mine.count : count, last ? out : sums,
                      sums + EDDY_SHORT_BYTES);
        in = sums;
    }
    return true;
}

/* ----------------------------------------------------------------- long data -- */

/* Of what level l divides, how much is the share of a digit. */
static int64_t count_at(const reduction *x, int l, int digit)
{
    const eddy_communicator *c = x->call->c;
    const eddy_level        *at = &c->levels[l];
    int64_t                  count = 0;
    if (!x->rows)
        return eddy__even_share(eddy__share_before(c, x->count, l), at->radix, digit).count;
    for (int r = c->me % at->stride + digit * at->stride; r < c->n; r += at->stride * at->radix)
        count += x->rows[r] * x->row_count;
    return count;
}

/* The share of this rank, from the beginning of what level l divides. */
static eddy_share own_share(const reduction *x, int l)
{
    const eddy_level *at = &x->call->c->levels[l];
    eddy_share        s = { 0, count_at(x, l, at->digit) };
    for (int d = 0; d < at->digit; d++) s.from += count_at(x, l, d);
    return s;
}

/* Takes memory for the levels; false with the call failed. */
static bool prepare(reduction *x)
{
    eddy_call               *call = x->call;
    const eddy_communicator *c = call->c;
    const size_t             pointers = aligned((size_t)c->radix * sizeof(void *));
    size_t                   room = 0, sums = 0, packed = 0, starts = 0;
    for (int l = 0; l < c->n_levels; l++) {
        const eddy_level *at = &c->levels[l];
        const size_t      count = (size_t)count_at(x, l, at->digit);
        const size_t      parts = (size_t)at->radix * aligned(count * size_at(call, l));
        room = parts > room ? parts : room;
        if (l == 0 && c->n_levels > 1) sums = aligned(count * size_at(call, 1));
    }
    if (x->rows && c->n_levels > 1) {
        packed = aligned((size_t)x->count * size_at(call, 0));
        starts = aligned((size_t)c->n * sizeof *x->starts);
    }
    char *at = eddy__collective_scratch(call, pointers + room + sums + packed + starts +
                                                  eddy__combine_work(dtype_of(call), c->radix));
    if (!at) return false;
    x->parts = (void **)(void *)at;
    x->room = at + pointers;
    x->sums = x->room + room;
    x->packed = x->sums + sums;
    x->starts = (int64_t *)(void *)(x->packed + packed);
    x->work = x->packed + packed + starts;
    return true;
}

/* Combines a part of the other rank's array, of two ranks, with this rank's. It may end within a
 * complex number, whose real and imaginary parts are combined like real numbers. */
static void combine_part(void *at, size_t before, void *part, size_t bytes)
{
    const reduction *k = at;
    const int        me = k->call->c->me;
    eddy_combining   x = combining_at(k->call, 0);
    void            *parts[2];
    x.from = x.to = eddy_dtype_real(x.from);
    parts[me] = (void *)(uintptr_t)(k->own + before);
    parts[1 - me] = part;
    eddy__combine(&x, parts, (int64_t)(bytes / eddy_dtype_size(x.from)), k->out + before, k->work);
}

/* Of two ranks, begins to combine the share of this rank as it comes; false if it cannot. */
static bool combine_as_they_come(reduction *x, const char *own, char *out, size_t bytes)
{
    x->own = own;
    x->out = out;
    return x->call->c->n == 2 && eddy__collective_receive_parts(x->call, 1 - x->call->c->me, bytes,
                                                                combine_part, x);
}

/* Exchanges what level l divides, and combines the share of this rank, which is at `own` in it. */
static bool reduce_level(reduction *x, int l, const char *in, const char *own, char *out)
{
    eddy_call           *call = x->call;
    const eddy_level    *at = &call->c->levels[l];
    const eddy_combining how = combining_at(call, l);
    const eddy_share     mine = own_share(x, l);
    const size_t         size = size_at(call, l), bytes = (size_t)mine.count * size;
    const bool           as_they_come = combine_as_they_come(x, own, out, bytes);
    for (int d = 0; d < at->radix; d++) x->parts[d] = x->room + (size_t)d * aligned(bytes);
    x->parts[at->digit] = (void *)(uintptr_t)own;
    eddy_share theirs = mine;
    for (int i = 1; i < at->radix; i++) {
        const int from = (at->digit + at->radix - i) % at->radix;
        const int to = (at->digit + i) % at->radix;
        theirs = (eddy_share){ to > 0 ? theirs.from + theirs.count : 0, count_at(x, l, to) };
        if ((!as_they_come &&
             !eddy__collective_receive(call, eddy__peer(at, from), x->parts[from], bytes)) ||
            !eddy__collective_send(call, eddy__peer(at, to), in + (size_t)theirs.from * size,
                                   (size_t)theirs.count * size))
            return false;
    }
    if (!eddy__collective_finish(call)) return false;
    if (!as_they_come) eddy__combine(&how, x->parts, mine.count, out, x->work);
    return true;
}

/* The share of this rank. Sums of one level take the place of those of the level before. */
static bool reduce_levels(reduction *x, const char *in, char *out)
{
    const eddy_communicator *c = x->call->c;
    size_t                   at = 0;             /* in the sums */
    for (int l = 0; l < c->n_levels; l++) {
        const eddy_share mine = own_share(x, l);
        const size_t     from = (size_t)mine.from * size_at(x->call, l);
        if (l > 0) at += from;
        if (!reduce_level(x, l, in, in + from, l == c->n_levels - 1 ? out : x->sums + at))
            return false;
        in = x->sums + at;
    }
    return true;
}

/* Part by part, so that copies stay in the cache: a share of a part has at most SHARE bytes. While
 * the result of a part is spread, the next part is exchanged: the last one is still under way. */
static bool reduce_long(eddy_call *call, const char *in, char *out, int64_t count, int root)
{
    enum { SHARE = 1 << 19 };
    const eddy_communicator *c = call->c;
    const int64_t size = (int64_t)size_at(call, 0), most = SHARE / size * c->levels[0].radix;
    for (int64_t i = 0; i < count; i += most) {
        reduction k = { .call = call, .count = count - i < most ? count - i : most };
        const eddy_share mine = eddy__share_before(c, k.count, c->n_levels);
        if (!prepare(&k) ||
            !reduce_levels(&k, in + i * size, out + (i + mine.from) * size) ||
            !eddy__begin_spreading(call, out + i * size, k.count, (size_t)size,
                                   root < 0 ? EDDY_TO_ALL : EDDY_TO_ROOT, root))
            return false;
    }
    return true;
}

/* --------------------------------------------------------------- collectives -- */

/* root -1: all ranks get the result. */
static bool reduce_to(eddy_call *call, const void *in, void *out, int64_t count, int root)
{
    const size_t bytes = (size_t)count * size_at(call, 0);
    const bool   here = root < 0 || root == call->c->me;
    if (is_short(call, count)) {
        if (!reduce_short(call, in, count, (eddy_share){ 0, count }, here ? out : NULL))
            return false;
    } else if (!eddy__collective_meet_all(call) || !reduce_long(call, in, out, count, root) ||
               !eddy__collective_finish(call))
        return false;
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
    bool ok = eddy__collective_meet_all(call);
    for (int i = 0; ok && i < n; i++)
        ok = reduce_long(call, arrays[i].in, arrays[i].out, arrays[i].count, -1);
    return ok && eddy__collective_finish(call);
}

bool eddy__reduce(eddy_call *call, const void *in, void *out, int64_t count)
{
    return reduce_to(call, in, out, count, call->mine->header.detail);
}

/* Copies the rows of all ranks whose digits below level l are those of `first`, in the order of the
 * digit of l, then of that of the next level; so each level divides what is together. Returns their
 * end. */
static char *pack(const reduction *x, int l, int first, const char *in, char *to)
{
    const eddy_communicator *c = x->call->c;
    const size_t             size = (size_t)x->row_count * size_at(x->call, 0);
    if (l < c->n_levels) {
        const eddy_level *at = &c->levels[l];
        for (int d = 0; d < at->radix; d++) to = pack(x, l + 1, first + d * at->stride, in, to);
        return to;
    }
    const size_t bytes = (size_t)x->rows[first] * size;
    if (bytes > 0) memcpy(to, in + (size_t)x->starts[first] * size, bytes);
    return to + bytes;
}

bool eddy__reduce_scatter(eddy_call *call, const void *in, void *out, const int64_t *rows,
                          int64_t row_count)
{
    const eddy_communicator *c = call->c;
    reduction                x = { .call = call, .rows = rows, .row_count = row_count };
    eddy_share               mine = { 0, rows[c->me] * row_count };
    for (int r = 0; r < c->n; r++) x.count += rows[r] * row_count;
    for (int r = 0; r < c->me; r++) mine.from += rows[r] * row_count;
    if (is_short(call, x.count)) return reduce_short(call, in, x.count, mine, out);
    if (!eddy__collective_meet_all(call) || !prepare(&x)) return false;
    if (c->n_levels > 1) {
        int64_t next = 0;
        for (int r = 0; r < c->n; next += rows[r++]) x.starts[r] = next;
        pack(&x, 0, 0, in, x.packed);
        in = x.packed;
    }
    return reduce_levels(&x, in, out);
}
