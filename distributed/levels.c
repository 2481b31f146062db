/* levels.c -- levels of ranks, and shares that travel by them. */
#include "distributed/exchange.h"

struct eddy_level_limits eddy__level_limits = { .direct = 32, .radix = 8 };

/* Of the first level of so many ranks, or of the next one of those that are left. */
static int radix_of(int ranks, bool first)
{
    const struct eddy_level_limits limits = eddy__level_limits;
    int radix = 1;
    if (ranks <= (first ? limits.direct : 2 * limits.radix)) return ranks;
    while (2 * radix <= limits.radix && ranks % (2 * radix) == 0) radix *= 2;
    return radix > 1 ? radix : ranks;
}

void eddy__set_levels(eddy_communicator *c)
{
    int stride = 1;
    do {
        const int radix = radix_of(c->n / stride, stride == 1), digit = c->me / stride % radix;
        c->levels[c->n_levels++] = (eddy_level){ stride, radix, digit, c->me - digit * stride };
        c->radix = radix > c->radix ? radix : c->radix;
        stride *= radix;
    } while (stride < c->n);
}

bool eddy__is_near(const eddy_level *at, int rank, int root)
{
    return rank / at->stride == root / at->stride;
}

eddy_share eddy__even_share(eddy_share whole, int n, int i)
{
    const int64_t each = whole.count / n, more = whole.count % n;
    return (eddy_share){ whole.from + i * each + (i < more ? i : more), each + (i < more) };
}

eddy_share eddy__share_before(const eddy_communicator *c, int64_t count, int l)
{
    eddy_share s = { 0, count };
    for (int i = 0; i < l; i++) s = eddy__even_share(s, c->levels[i].radix, c->levels[i].digit);
    return s;
}

static bool wants(eddy_spread how, const eddy_level *at, int rank, int root)
{
    return how == EDDY_TO_ALL || eddy__is_near(at, rank, root) == (how == EDDY_TO_ROOT);
}

bool eddy__begin_spreading(eddy_call *call, void *data, int64_t count, size_t size, eddy_spread how,
                           int root)
{
    const eddy_communicator *c = call->c;
    for (int l = c->n_levels - 1; l >= 0; l--) {
        const eddy_level *at = &c->levels[l];
        const eddy_share  whole = eddy__share_before(c, count, l);
        const eddy_share  mine = eddy__even_share(whole, at->radix, at->digit);
        for (int i = 1; i < at->radix; i++) {
            const int        from = (at->digit + at->radix - i) % at->radix;
            const int        to = eddy__peer(at, (at->digit + i) % at->radix);
            const eddy_share theirs = eddy__even_share(whole, at->radix, from);
            if (wants(how, at, c->me, root) &&
                !eddy__collective_receive(call, eddy__peer(at, from),
                                          (char *)data + (size_t)theirs.from * size,
                                          (size_t)theirs.count * size))
                return false;
            if (wants(how, at, to, root) &&
                !eddy__collective_send(call, to, (char *)data + (size_t)mine.from * size,
                                       (size_t)mine.count * size))
                return false;
        }
        if (l > 0 && !eddy__collective_finish(call)) return false;
    }
    return true;
}

bool eddy__scatter(eddy_call *call, void *data, int64_t count, size_t size, int root)
{
    const eddy_communicator *c = call->c;
    for (int l = 0; l < c->n_levels; l++) {
        const eddy_level *at = &c->levels[l];
        const eddy_share  whole = eddy__share_before(c, count, l);
        const bool        has_it = eddy__is_near(at, c->me, root);
        for (int i = 1; i < at->radix; i++) {
            const int        digit = (at->digit + i) % at->radix, other = eddy__peer(at, digit);
            const eddy_share s = eddy__even_share(whole, at->radix, has_it ? digit : at->digit);
            char            *at_share = (char *)data + (size_t)s.from * size;
            const size_t     bytes = (size_t)s.count * size;
            if (has_it ? !eddy__collective_send(call, other, at_share, bytes)
                       : eddy__is_near(at, other, root) &&
                             !eddy__collective_receive(call, other, at_share, bytes))
                return false;
        }
        if (!eddy__collective_finish(call)) return false;
    }
    return true;
}
