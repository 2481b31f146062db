/* resize.c -- image resizing kernels: each row and column of the result is a weighted sum of a
 * few others.
 *
 * When the height grows, the columns of a row are computed once and kept for all rows that need
 * them; otherwise rows are combined first, and their columns afterwards. */
#include "graph/base/thread_pool.h"
#include "graph/base/cpu.h"
#include "ops/kernels/images/resize.h"

#include <string.h>

/* Pixels of this many channels have loops of their own. */
enum { MOST_FEW = 4 };

#define TEMPLATE "ops/kernels/images/resize_loops.h"
#include "ops/kernels/for_floats.h"

typedef void resample_loop(const eddy_resample *r, int64_t from, int64_t to, char *scratch);

/* The largest number of rows, from the first to the last, that a position needs. */
static int64_t span_of(const eddy_terms *t)
{
    int64_t most = 1;
    for (int64_t i = 0; i < t->n; i++) {
        int64_t low = INT64_MAX, high = -1;
        for (int64_t j = t->first[i]; j < t->first[i + 1]; j++) {
            if (t->at[j] < low) low = t->at[j];
            if (t->at[j] > high) high = t->at[j];
        }
        if (high - low + 1 > most) most = high - low + 1;
    }
    return most;
}

eddy_status eddy__resample_prepare(eddy_kernel *k, eddy_shape x, bool back)
{
    enum { MOST_KEPT = 16 };
    if (eddy_shape_count(k->out[0]->type.shape) == 0) return EDDY_OK;     /* needs no terms */
    const eddy_shape made = back ? k->in[1]->type.shape : k->out[0]->type.shape;
    const eddy_resize_attrs sized = eddy__resize_to_shape(k->attrs, made), *a = &sized;
    const eddy_resize_method m = k->op->variant;
    const uint64_t room[2] = { eddy__terms_bytes(m, a, 0, x.dim[1]),
                               eddy__terms_bytes(m, a, 1, x.dim[2]) };
    const uint64_t times = back ? 2 : 1;
    eddy_resample *r = eddy_kernel_state(k, sizeof *r + times * (room[0] + room[1]));
    if (!r) return EDDY_NO_MEMORY;
    char *memory = (char *)(r + 1);
    *r = (eddy_resample){ .batch = x.dim[0], .channels = x.dim[3] };
    for (int i = 0; i < 2; i++, memory += times * room[0])
        r->axis[i] = eddy__terms_of(m, a, i, x.dim[1 + i], back, memory);
    const eddy_terms *h = &r->axis[0], *v = &r->axis[1];
    const int64_t span = span_of(h);
    r->ring = h->n > h->read && span <= MOST_KEPT ? span : 0;
    const int64_t size = (int64_t)eddy_dtype_size(k->out[0]->type.dtype) * r->channels;
    const int64_t bytes = r->ring > 0 ? r->ring * (8 + v->n * size) : v->read * size;
    r->each = (uint64_t)(bytes + 63) / 64 * 64;
    k->scratch_size = r->each * (uint64_t)(k->threads > 1 ? k->threads : 1);
    return EDDY_OK;
}

typedef struct resample_run {
    const eddy_resample *r;
    resample_loop       *loop;
    char                *scratch;
} resample_run;

static void run_piece(void *arg, int64_t from, int64_t to, int worker)
{
    const resample_run *p = arg;
    p->loop(p->r, from, to, p->scratch + (size_t)worker * p->r->each);
}

eddy_status eddy__resample_run(eddy_kernel *k, int from)
{
    enum { GRAIN = 32768 };
    if (k->out[0]->count == 0) return EDDY_OK;
    eddy_resample r = *(const eddy_resample *)k->state;
    resample_run  run = { &r, EDDY_FOR_TYPE(resample, FOR_FLOATS, k->out[0]->type.dtype),
                          k->scratch };
    const int64_t rows = r.batch * r.axis[0].n;
    r.x = k->in[from]->data;
    r.y = k->out[0]->data;
    const int64_t row = (r.axis[1].n + r.axis[1].read) * r.channels;
    eddy__parallel_or_stop(k, rows, GRAIN / (row + 1) + 1, run_piece, &run);
    return EDDY_OK;
}
