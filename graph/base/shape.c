/* shape.c -- shapes: comparison, broadcasting, number of elements, printing. */
#include "graph/base/base.h"

#include <inttypes.h>
#include <string.h>

/* Counts of elements stay below 2^48, so that sizes in bytes fit an int64. */
static const int64_t max_count = (int64_t)1 << 48;

eddy_shape eddy_shape_of_dims(const int64_t *dim, size_t rank)
{
    eddy_shape s = { .rank = rank <= EDDY_MAX_RANK ? (int)rank : EDDY_MAX_RANK + 1 };
    if (rank > 0 && !dim) s.rank = EDDY_MAX_RANK + 1;
    for (size_t i = 0; i < rank && s.rank <= EDDY_MAX_RANK; i++) s.dim[i] = dim[i];
    return s;
}

eddy_shape eddy_shape_unknown(void) { return (eddy_shape){ .rank = EDDY_UNKNOWN_RANK }; }

bool eddy_shape_is_valid(eddy_shape s)
{
    if (s.rank < EDDY_UNKNOWN_RANK || s.rank > EDDY_MAX_RANK) return false;
    int64_t count = 1;
    for (int i = 0; i < s.rank; i++) {
        if (s.dim[i] < EDDY_ANY || s.dim[i] > max_count) return false;
        /* A zero elsewhere does not excuse the others: strides must fit too. */
        int64_t d = s.dim[i] > 0 ? s.dim[i] : 1;
        if (count > max_count / d) return false;
        count *= d;
    }
    return true;
}

/* True if dim has as many dimensions as rank says, because callers' structs are not trusted. */
static bool fits(eddy_shape s) { return s.rank <= EDDY_MAX_RANK; }

bool eddy_shape_is_known(eddy_shape s)
{
    if (s.rank < 0 || s.rank > EDDY_MAX_RANK) return false;
    for (int i = 0; i < s.rank; i++)
        if (s.dim[i] < 0) return false;
    return true;
}

bool eddy_shape_equal(eddy_shape a, eddy_shape b)
{
    if (a.rank != b.rank || !fits(a)) return false;
    for (int i = 0; i < a.rank; i++)
        if (a.dim[i] != b.dim[i]) return false;
    return true;
}

bool eddy_shape_compatible(eddy_shape a, eddy_shape b)
{
    if (!fits(a) || !fits(b)) return false;
    if (a.rank < 0 || b.rank < 0) return true;
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; i++)
        if (a.dim[i] != b.dim[i] && a.dim[i] >= 0 && b.dim[i] >= 0) return false;
    return true;
}

int64_t eddy_shape_count(eddy_shape s)
{
    if (!eddy_shape_is_known(s)) return -1;
    int64_t count = 1;
    for (int i = 0; i < s.rank; i++) count *= s.dim[i];
    return count;
}

/* Broadcasts one dimension: 1 takes the other size; an unknown size becomes the other one if
 * that is above 1. */
static bool broadcast_dim(int64_t a, int64_t b, int64_t *out)
{
    if (a == b) *out = a;
    else if (a == 1) *out = b;
    else if (b == 1) *out = a;
    else if (a == EDDY_ANY) *out = b;
    else if (b == EDDY_ANY) *out = a;
    else return false;
    return true;
}

bool eddy_shape_broadcast(eddy_shape a, eddy_shape b, eddy_shape *out)
{
    if (!fits(a) || !fits(b)) return false;
    if (a.rank < 0 || b.rank < 0) {
        if (out) *out = eddy_shape_unknown();
        return true;
    }
    eddy_shape s = { .rank = a.rank > b.rank ? a.rank : b.rank };
    for (int i = 1; i <= s.rank; i++) {
        int64_t da = i <= a.rank ? a.dim[a.rank - i] : 1;
        int64_t db = i <= b.rank ? b.dim[b.rank - i] : 1;
        if (!broadcast_dim(da, db, &s.dim[s.rank - i])) return false;
    }
    if (out) *out = s;
    return true;
}

char *eddy_shape_print(eddy_shape s, char *buf, size_t size)
{
    if (!buf || size == 0) return buf;
    if (s.rank < 0 || s.rank > EDDY_MAX_RANK) {
        snprintf(buf, size, s.rank == EDDY_UNKNOWN_RANK ? "?" : "[too many dimensions]");
        return buf;
    }
    size_t at = (size_t)snprintf(buf, size, "[");
    for (int i = 0; i < s.rank && at < size; i++) {
        if (i > 0) at += (size_t)snprintf(buf + at, size - at, ",");
        if (at >= size) break;
        if (s.dim[i] == EDDY_ANY) at += (size_t)snprintf(buf + at, size - at, "?");
        else at += (size_t)snprintf(buf + at, size - at, "%" PRId64, s.dim[i]);
    }
    if (at < size) snprintf(buf + at, size - at, "]");
    return buf;
}

char *eddy_type_print(eddy_type t, char *buf, size_t size)
{
    if (!buf || size == 0) return buf;
    size_t at = (size_t)snprintf(buf, size, "%s", eddy_dtype_name(t.dtype));
    if (at < size) eddy_shape_print(t.shape, buf + at, size - at);
    return buf;
}
