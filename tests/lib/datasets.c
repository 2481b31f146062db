/* datasets.c -- see datasets.h. */
#include "tests/lib/datasets.h"

#include <stdlib.h>
#include <string.h>

void no_error(const eddy_dataset *d)
{
    ck_assert_msg(eddy_dataset_status(d) == EDDY_OK, "%s", eddy_dataset_message(d));
}

/* Tests with failing memory use the allocator for the pipeline only. */
eddy_dataset *numbered(int64_t n, const eddy_allocator *a)
{
    eddy_array *x = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(n, 2));
    eddy_array *y = eddy_array_new(EDDY_INT32, EDDY_SHAPE(n));
    for (int64_t i = 0; x && y && i < n; i++) {
        eddy_array_set(x, 2 * i, (double)i);
        eddy_array_set(x, 2 * i + 1, (double)i + 0.5);
        eddy_array_set(y, i, (double)i);
    }
    const eddy_array *both[] = { x, y };
    eddy_dataset     *d = x && y ? eddy_dataset_from_arrays(both, 2, .allocator = a) : NULL;
    eddy_array_free(x);
    eddy_array_free(y);
    return d;
}

typedef struct counter {
    int64_t size, next;                  /* next: what a stream must be asked for, or 0 */
    bool    ragged, stream;
} counter;

static bool count(void *context, int64_t epoch, int64_t i, eddy_record *out)
{
    counter *c = context;
    (void)epoch;
    if (c->stream) {
        if (i != 0 && i != c->next)
            return eddy_record_fail(out, EDDY_INTERNAL, "asked for %lld", (long long)i);
        c->next = i + 1;
    }
    if (i >= c->size) return false;
    if (c->ragged) {
        const int64_t n = 1 + i * 7 % 10;
        int32_t      *v = eddy_record_make(out, 0, EDDY_INT32, EDDY_SHAPE(n));
        for (int64_t k = 0; v && k < n; k++) v[k] = (int32_t)i;
        return v != NULL;
    }
    float   *x = eddy_record_make(out, 0, EDDY_FLOAT32, EDDY_SHAPE(2));
    int32_t *y = x ? eddy_record_make(out, 1, EDDY_INT32, EDDY_SCALAR) : NULL;
    if (!y) return false;
    x[0] = (float)i;
    x[1] = (float)i + 0.5f;
    *y = (int32_t)i;
    return true;
}

static eddy_dataset *counted(int64_t n, bool is_ragged, bool stream, const eddy_allocator *a)
{
    const eddy_component pair[] = { { EDDY_FLOAT32, EDDY_SHAPE(2) }, { EDDY_INT32, EDDY_SCALAR } };
    const eddy_component one = { EDDY_INT32, EDDY_SHAPE(EDDY_ANY) };
    counter *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    *c = (counter){ .size = n, .ragged = is_ragged, .stream = stream };
    return eddy_dataset_from_function(.read = count, .context = c,
                                      .components = is_ragged ? &one : pair, .n = is_ragged ? 1 : 2,
                                      .size = stream ? -1 : n, .release = free, .allocator = a);
}

eddy_dataset *streamed(int64_t n, const eddy_allocator *a) { return counted(n, false, true, a); }

eddy_dataset *ragged(int64_t n, bool stream, const eddy_allocator *a)
{
    return counted(n, true, stream, a);
}

static bool change(void *context, eddy_record *in, eddy_record *out)
{
    const int32_t y = *(const int32_t *)eddy_array_data(eddy_record_array(in, 1));
    (void)context;
    if (!eddy_record_set(out, 0, eddy_record_array(in, 0))) return false;
    int32_t *to = eddy_record_make(out, 1, EDDY_INT32, EDDY_SCALAR);
    if (to) *to = 10 * y + (int32_t)(10 * eddy_record_uniform(in, 3, 0));
    return to != NULL;
}

eddy_dataset *changed(eddy_dataset *d) { return eddy_dataset_map(d, change); }

static bool not_third(void *context, eddy_record *r)
{
    (void)context;
    return (int)eddy_array_item(eddy_record_array(r, 0)) % 3 != 0;
}

eddy_dataset *pipeline(int i, const eddy_allocator *a)
{
    const int64_t boundaries[] = { 4, 7 };
    eddy_dataset *several[3], *d;
    switch (i) {
    case 0: return eddy_dataset_batch(changed(eddy_dataset_shuffle(numbered(23, a), .seed = 5)), 4);
    case 1: return eddy_dataset_prefetch(pipeline(0, a), .threads = 3);
    case 2: return eddy_dataset_batch(eddy_dataset_shuffle(numbered(23, a), 5, .buffer = 7), 4,
                                      .drop_remainder = true);
    case 3: return eddy_dataset_batch(eddy_dataset_shuffle(streamed(23, a), 5, .buffer = 7), 4);
    case 4: return eddy_dataset_prefetch(changed(eddy_dataset_filter(streamed(23, a), not_third,
                                                                     NULL)), .threads = 3);
    case 5: return eddy_dataset_bucket(eddy_dataset_shuffle(ragged(31, true, a), 2, .buffer = 5),
                                       boundaries, 2, 3, .padding = -1, .lengths = true);
    case 6: return eddy_dataset_batch(ragged(11, false, a), 3, .padded = true, .lengths = true);
    case 7:
        d = eddy_dataset_repeat(eddy_dataset_shuffle(numbered(5, a), 1), 3);
        return eddy_dataset_batch(eddy_dataset_shard(d, 2, 1), 2);
    case 8:
        d = eddy_dataset_skip(eddy_dataset_take(eddy_dataset_repeat(streamed(5, a), 2), 9), 1);
        return eddy_dataset_prefetch(eddy_dataset_shard(d, 2, 1), .buffer = 1);
    case 9:
        for (int k = 0; k < 3; k++) several[k] = k == 1 ? streamed(4, a) : numbered(3 + k, a);
        return eddy_dataset_batch(eddy_dataset_interleave(several, 3, .cycle = 2, .block = 2), 2);
    case 10:
        several[0] = eddy_dataset_shuffle(numbered(9, a), 1);
        several[1] = eddy_dataset_skip(numbered(9, a), 2);
        return eddy_dataset_zip(several, 2);
    case 11:
        several[0] = streamed(6, a);
        several[1] = changed(numbered(9, a));
        return eddy_dataset_zip(several, 2);
    case 12: return eddy_dataset_shuffle(eddy_dataset_cache(streamed(12, a)), 4);
    case 13: return eddy_dataset_cache(changed(numbered(12, a)));
    case 14: return eddy_dataset_batch(eddy_dataset_prefetch(streamed(9, a), .buffer = 2), 4);
    default: return NULL;
    }
}

uint64_t record_hash(const eddy_dataset *d, const eddy_array *const *record)
{
    uint64_t h = 14695981039346656037u;
    for (int i = 0; i < eddy_dataset_width(d); i++) {
        const eddy_array *a = record[i];
        const eddy_shape  s = eddy_array_shape(a);
        const uint8_t    *p = eddy_array_data(a);
        h = (h ^ (uint64_t)eddy_array_dtype(a)) * 1099511628211u;
        for (int k = 0; k < s.rank; k++) h = (h ^ (uint64_t)s.dim[k]) * 1099511628211u;
        for (size_t k = 0; k < eddy_array_bytes(a); k++) h = (h ^ p[k]) * 1099511628211u;
    }
    return h | 2;                        /* neither 0 nor 1 */
}

int read_hashes(eddy_dataset *d, uint64_t *hashes, int most)
{
    const eddy_array *record[EDDY_MAX_COMPONENTS];
    int               n = 0;
    for (; n < most; n++) {
        const bool some = eddy_dataset_next(d, record);
        no_error(d);
        hashes[n] = some ? record_hash(d, record) : 1;
    }
    return n;
}
