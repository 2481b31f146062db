/* program_stacks.c -- memory of the stacks of open loops: it grows by doubling while a loop runs,
 * and stays for the next run. */
#include "session/compile/program.h"

#include <string.h>

enum { FIRST_ROWS = 64, MUCH = 1 << 20, TIMES = 8 };

static bool total_bytes(const eddy_program *p, int64_t rows, size_t *total)
{
    size_t bytes;
    *total = 0;
    for (int i = 0; i < p->n_stacked; i++)
        if (!eddy__size_mul((size_t)rows, p->stack_row[i], &bytes) ||
            !eddy__size_add(*total, bytes, total))
            return false;
    return true;
}

static void release(eddy_program *p, open_stack *s)
{
    if (!s->base) return;
    eddy__release_aligned(p->allocator, s->base, s->bytes);
    atomic_fetch_sub_explicit(&p->memory->bytes, s->bytes, memory_order_relaxed);
    *s = (open_stack){ 0 };
}

void eddy__stacks_free(eddy_program *p)
{
    for (int i = 0; p->stacks && i < p->n_stacked; i++) release(p, &p->stacks[i]);
    p->room = 0;
}

void eddy__stacks_begin(eddy_program *p)
{
    size_t held;
    if (total_bytes(p, p->room, &held) && held >= MUCH && p->rows < p->room / TIMES)
        eddy__stacks_free(p);
    p->rows = 0;
}

static eddy_status no_memory(eddy_kernel *k, const eddy_program *p, int64_t rows)
{
    return eddy_kernel_fail(k, EDDY_NO_MEMORY,
                            "out of memory for the values that the gradient keeps of %lld "
                            "iterations [stacks of '%.200s']", (long long)rows, p->node->name);
}

static eddy_status over_limit(eddy_kernel *k, const eddy_program *p, int64_t rows)
{
    const open_memory *m = p->memory;
    char               largest[160];    /* what is left of the 400 characters of a reason */
    return eddy_kernel_fail(k, EDDY_LIMIT,
                            "the run needs %zu bytes, and more for the values that the gradient "
                            "keeps of %lld iterations; max_bytes of the session is %zu [stacks of "
                            "'%.50s']%s",
                            m->fixed + atomic_load_explicit(&m->bytes, memory_order_relaxed),
                            (long long)rows, m->limit, p->node->name,
                            eddy__largest_values(m->plan, largest, sizeof largest));
}

/* Whether so many more bytes fit the session's limit. */
static bool within_limit(const open_memory *m, size_t more)
{
    size_t all = m->fixed;
    return m->limit == 0 ||
           (eddy__size_add(all, atomic_load_explicit(&m->bytes, memory_order_relaxed), &all) &&
            eddy__size_add(all, more, &all) && all <= m->limit);
}

/* A larger block with the same rows. */
static eddy_status grow(eddy_kernel *k, eddy_program *p, int i, int64_t rows)
{
    open_stack *s = &p->stacks[i];
    const size_t used = (size_t)p->rows * p->stack_row[i];
    open_stack   more = { .bytes = (size_t)rows * p->stack_row[i] };
    if (more.bytes <= s->bytes) return EDDY_OK;
    if (!within_limit(p->memory, more.bytes - s->bytes)) return over_limit(k, p, rows);
    more.data = eddy__allocate_aligned(p->allocator, more.bytes, &more.base);
    if (!more.data) return no_memory(k, p, rows);
    if (used > 0) memcpy(more.data, s->data, used);
    release(p, s);
    atomic_fetch_add_explicit(&p->memory->bytes, more.bytes, memory_order_relaxed);
    *s = more;
    return EDDY_OK;
}

eddy_status eddy__stacks_reserve(eddy_kernel *k, eddy_program *p, int64_t rows, bool exactly)
{
    size_t total;
    if (rows <= p->room) return EDDY_OK;
    int64_t room = p->room < FIRST_ROWS / 2 ? FIRST_ROWS : 2 * p->room;
    if (exactly || room < rows) room = rows;
    if (!total_bytes(p, room, &total)) return no_memory(k, p, rows);
    for (int i = 0; i < p->n_stacked; i++) {
        const eddy_status s = grow(k, p, i, room);
        if (s != EDDY_OK) return s;
    }
    p->room = room;
    return EDDY_OK;
}

void eddy__stacks_show(const eddy_kernel *k, const eddy_program *p, int first)
{
    for (int i = 0; i < p->n_stacked; i++) {
        eddy_buffer *b = k->out[first + i];
        b->data = p->stacks[i].data;
        b->count = p->rows * (int64_t)(p->stack_row[i] / eddy_dtype_size(b->type.dtype));
    }
}

int64_t eddy__stacks_rows(const eddy_buffer *b, size_t row)
{
    const size_t element = eddy_dtype_size(b->type.dtype);
    return row < element ? INT64_MAX : b->count / (int64_t)(row / element);
}

eddy_type eddy__value_type(const eddy_buffer *b)
{
    eddy_type     t = b->type;
    const int64_t count = eddy_shape_count(t.shape);
    if (b->count == count || t.shape.rank == 0) return t;
    t.shape.dim[0] = 1;
    const int64_t row = eddy_shape_count(t.shape);
    t.shape.dim[0] = row > 0 ? b->count / row : 0;
    return t;
}
