/* records.c -- records from a configuration, and parts of them. */
#include "command/train/records.h"

#include "command/train/building.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void records_free(records *r)
{
    for (int i = 0; i < r->n; i++) eddy_array_free(r->arrays[i]);
    r->n = 0;
}

bool records_missing(const config *at, const char *message, const char *package)
{
    if (!package) return config_fail(at, "%s", message);
    return config_fail(at, "%s; is the package %s installed?", message, package);
}

bool records_add(records *r, const config *at, const char *name, eddy_array *a)
{
    const eddy_shape s = a ? eddy_array_shape(a) : EDDY_SCALAR;
    const char      *why = NULL;
    if (!a) why = "out of memory";
    else if (r->n == MOST_PARTS) why = text("a record has at most %d parts", MOST_PARTS);
    else if (s.rank == 0) why = text("'%s' is one number; its first axis must be that of the "
                                     "records", name);
    else if (r->n > 0 && s.dim[0] != r->size)
        why = text("'%s' has %lld records, but '%s' has %lld", name, (long long)s.dim[0],
                   r->names[0], (long long)r->size);
    if (why) {
        eddy_array_free(a);
        return config_fail(at, "%s", why);
    }
    r->size = s.dim[0];
    r->names[r->n] = name;
    r->arrays[r->n++] = a;
    return true;
}

bool records_read(records *r, const config *data, const char *folder, const char *package)
{
    static const struct {
        const char *key;
        bool (*read)(records *r, const config *c, const char *folder, const char *package);
    } kinds[] = {
        { "arrays", records_arrays }, { "csv", records_csv },
        { "images", records_images }, { "text", records_text },
    };
    const config *found = NULL;
    int           kind = -1;
    *r = (records){ 0 };
    for (int i = 0; i < 4; i++) {
        const config *c = config_get(data, kinds[i].key);
        if (c && found) return config_fail(c, "the data is already given by '%s'", kinds[kind].key);
        if (!c) continue;
        found = c;
        kind = i;
    }
    if (!found) return config_fail(data, "expected one of arrays, csv, images, text");
    if (!kinds[kind].read(r, found, folder, package)) return false;
    return r->size > 0 || config_fail(found, "there are no records");
}

int text_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ------------------------------------------------------------------- parts -- */

/* The rows of these numbers. */
static eddy_array *rows_of(const eddy_array *a, const int64_t *which, int64_t n)
{
    eddy_shape  s = eddy_array_shape(a);
    const char *from = eddy_array_data(a);
    const size_t row = s.dim[0] > 0 ? eddy_array_bytes(a) / (size_t)s.dim[0] : 0;
    s.dim[0] = n;
    eddy_array *b = eddy_array_new(eddy_array_dtype(a), s);
    char       *to = b ? eddy_array_data(b) : NULL;
    for (int64_t i = 0; to && i < n; i++)
        memcpy(to + (size_t)i * row, from + (size_t)which[i] * row, row);
    return b;
}

static bool choose(const records *from, records *to, const int64_t *which, int64_t n)
{
    *to = *from;
    to->n = 0;
    for (int i = 0; i < from->n; i++) {
        to->arrays[i] = rows_of(from->arrays[i], which, n);
        if (!to->arrays[i]) return fail(NULL, "out of memory") == SUCCESS;
        to->n++;
    }
    to->size = n;
    return true;
}

uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool records_hold_out(records *all, records *held, double fraction, int64_t seed, const config *at)
{
    const int64_t n = all->size, count = (int64_t)floor(fraction * (double)n + 0.5);
    int64_t      *which = room((size_t)n, sizeof *which);
    uint64_t      state = (uint64_t)seed;
    records       rest;
    if (count < 1 || count >= n)
        return config_fail(at, "of %s, %lld would be held out", number_of(n, "record"),
                           (long long)count);
    for (int64_t i = 0; i < n; i++) which[i] = i;
    for (int64_t i = 0; i < count; i++) {       /* Fisher-Yates, as far as it is needed */
        const int64_t k = i + (int64_t)(random_next(&state) % (uint64_t)(n - i)), kept = which[i];
        which[i] = which[k];
        which[k] = kept;
    }
    qsort(which, (size_t)count, sizeof *which, by_number);
    qsort(which + count, (size_t)(n - count), sizeof *which, by_number);
    if (!choose(all, held, which, count)) return false;
    const bool fine = choose(all, &rest, which + count, n - count);
    records_free(all);
    *all = rest;
    return fine;
}

bool records_limit(records *r, int64_t size)
{
    int64_t *which = room((size_t)r->size, sizeof *which);
    records  first;
    if (size >= r->size) return true;
    for (int64_t i = 0; i < size; i++) which[i] = i;
    const bool fine = choose(r, &first, which, size);
    records_free(r);
    *r = first;
    return fine;
}

bool records_moments(const records *r, int part, const config *at, double *mean, double *deviation)
{
    const eddy_array *a = r->arrays[part];
    const eddy_shape  s = eddy_array_shape(a);
    const int64_t     n = s.rank > 1 ? s.dim[s.rank - 1] : 1, count = eddy_array_count(a);
    for (int64_t k = 0; k < n; k++) mean[k] = deviation[k] = 0;
    for (int64_t i = 0; i < count; i++) mean[i % n] += eddy_array_get(a, i);
    for (int64_t k = 0; k < n; k++) mean[k] /= (double)(count / n);
    for (int64_t i = 0; i < count; i++) {
        const double d = eddy_array_get(a, i) - mean[i % n];
        deviation[i % n] += d * d;
    }
    for (int64_t k = 0; k < n; k++) {
        deviation[k] = sqrt(deviation[k] / (double)(count / n));
        if (!isfinite(mean[k]))
            return config_fail(at, "'%s' has values that are not numbers, in column %lld",
                               r->names[part], (long long)k);
        if (deviation[k] == 0) deviation[k] = 1;
    }
    return true;
}
