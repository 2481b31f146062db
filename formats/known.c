/* known.c -- see known.h. */
#include "known.h"
#include "elements.h"

#include <stdlib.h>
#include <string.h>

static const known_sizes nothing = { .count = -1 };

known_sizes eddy__known_of(const int64_t *at, int n)
{
    known_sizes k = nothing;
    if (!at || n > MOST_KNOWN) return k;
    k.count = n;
    if (n) memcpy(k.at, at, (size_t)n * sizeof *at);
    return k;
}

known_sizes eddy__known_join(known_sizes a, known_sizes b)
{
    if (a.count < 0 || b.count < 0 || a.count + b.count > MOST_KNOWN) return nothing;
    memcpy(a.at + a.count, b.at, (size_t)b.count * sizeof *a.at);
    a.count += b.count;
    return a;
}

static int64_t combine(int64_t x, char op, int64_t y)
{
    int64_t z;
    if (x == UNKNOWN_SIZE || y == UNKNOWN_SIZE) return UNKNOWN_SIZE;
    if (op == '/') return y == 0 || y == -1 ? UNKNOWN_SIZE : x / y;
    if (op == 'f') return y <= 0 || x < 0 ? UNKNOWN_SIZE : x / y;
    if (op == '<') return x < y ? x : y;
    if (op == '>') return x > y ? x : y;
    const bool over = op == '+'   ? __builtin_add_overflow(x, y, &z)
                      : op == '-' ? __builtin_sub_overflow(x, y, &z)
                                  : __builtin_mul_overflow(x, y, &z);
    return over ? UNKNOWN_SIZE : z;
}

known_sizes eddy__known_combine(known_sizes x, char op, known_sizes y)
{
    if (x.count < 0 || y.count < 0 || (x.count != y.count && x.count != 1 && y.count != 1))
        return nothing;
    known_sizes k = { .count = x.count == 1 ? y.count : x.count };
    for (int i = 0; i < k.count; i++)
        k.at[i] = combine(x.at[x.count == 1 ? 0 : i], op, y.at[y.count == 1 ? 0 : i]);
    return k;
}

int64_t *eddy__known_elements(region *memory, const eddy_array *a, int *count)
{
    if (!a || !eddy_dtype_is_integer(eddy_array_dtype(a)) || eddy_array_shape(a).rank > 1 ||
        eddy_array_count(a) > MOST_KNOWN)
        return NULL;
    const int64_t n = eddy_array_count(a);
    int64_t      *at = eddy__region_take(memory, (size_t)n, sizeof *at);
    for (int64_t i = 0; at && i < n; i++) at[i] = eddy__element_integer(a, i);
    *count = at ? (int)n : 0;
    return at;
}

int64_t *eddy__known_store(region *memory, known_sizes k, bool is_int32)
{
    int64_t *at = eddy__region_take(memory, (size_t)k.count, sizeof *at);
    for (int i = 0; at && i < k.count; i++)
        at[i] = is_int32 && (k.at[i] < INT32_MIN || k.at[i] > INT32_MAX) ? UNKNOWN_SIZE : k.at[i];
    return at;
}

eddy_array *eddy__known_array(region *memory, const int64_t *at, int n, eddy_dtype d,
                              eddy_shape shape)
{
    for (int i = 0; i < n; i++)
        if (at[i] == UNKNOWN_SIZE || llabs(at[i]) > (d == EDDY_INT64 ? 1ll << 53 : INT32_MAX))
            return NULL;
    eddy_array *a = eddy_array_new(d, shape);
    if (!a) memory->full = true;
    for (int i = 0; a && i < n; i++) eddy_array_set(a, i, (double)at[i]);
    return a;
}
