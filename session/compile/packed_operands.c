/* packed_operands.c -- constant operands in the form in which kernels read them, packed once. */
#include "session/compile/packed_operands.h"
#include "session/compile/program.h"
#include "session/compile/shared_operands.h"
#include "graph/base/stop.h"

#include <string.h>

/* A plan that reads a packed operand also keeps the constant that it was made of, so the address of
 * the elements identifies these. */
typedef struct packed_operand {
    struct packed_operand *next;
    const void            *elements;
    int64_t                layout[sizeof((eddy_packing *)0)->layout / sizeof(int64_t)];
    void                  *data, *base;
    uint64_t               bytes;
    int                    uses;
} packed_operand;

typedef struct packed_use {
    struct packed_use *next;
    packed_operand    *operand;
} packed_use;

bool eddy__packs_operands(const compile *c)
{
    return !(c->without & EDDY_PASS_HOIST) && c->session->options.max_bytes == 0;
}

/* The elements of a buffer of the plan that holds a constant; else NULL. */
static const void *constant_elements(const eddy_plan *p, const eddy_buffer *b)
{
    if (b < p->buffers || b >= p->buffers + p->n_buffers) return NULL;
    const int32_t    at = (int32_t)(b - p->buffers);
    const plan_root *r = &p->roots[p->buffer_root[at]];
    if (r->kind != VALUE_CONSTANT || !r->constant) return NULL;
    return eddy__buffer_in(p, at, eddy_array_data(r->constant));
}

static packed_operand *find(const eddy_session *s, const void *elements, const eddy_packing *p)
{
    packed_operand *o = s->packed;
    while (o && !(o->elements == elements && o->bytes == p->bytes &&
                  memcmp(o->layout, p->layout, sizeof o->layout) == 0))
        o = o->next;
    return o;
}

/* NULL if out of memory, or if the run must end: the kernel then packs in each run, as it does
 * without a plan. */
static packed_operand *make(eddy_session *s, const void *elements, const eddy_packing *p,
                            const eddy_stop *stop)
{
    packed_operand *o = eddy__allocate(&s->allocator, sizeof *o);
    if (!o) return NULL;
    *o = (packed_operand){ .elements = elements, .bytes = p->bytes };
    memcpy(o->layout, p->layout, sizeof o->layout);
    o->data = eddy__allocate_aligned(&s->allocator, p->bytes, &o->base);
    if (o->data) p->pack(p->how, elements, o->data, stop);
    if (!o->data || eddy__stopped(stop)) {
        eddy__release_aligned(&s->allocator, o->base, o->bytes);
        eddy__release(&s->allocator, o, sizeof *o);
        return NULL;
    }
    o->next = s->packed;
    s->packed = o;
    s->packed_bytes += (size_t)o->bytes;
    return o;
}

static void release(eddy_session *s, packed_operand *o)
{
    packed_operand **at = &s->packed;
    if (--o->uses > 0) return;
    while (*at != o) at = &(*at)->next;
    *at = o->next;
    s->packed_bytes -= (size_t)o->bytes;
    eddy__release_aligned(&s->allocator, o->base, o->bytes);
    eddy__release(&s->allocator, o, sizeof *o);
}

const void *eddy__pack_operand(void *packer, const eddy_buffer *operand, const eddy_packing *p,
                               eddy_shared_packing **shared)
{
    compile      *c = packer;
    eddy_session *s = c->session;
    const void   *elements = constant_elements(c->plan, operand);
    if (!elements && shared) *shared = eddy__share_operand(c, operand, p);
    packed_use   *use = elements && p->bytes > 0
                            ? eddy__arena_alloc(&c->plan->arena, sizeof *use) : NULL;
    if (!use) return NULL;
    pthread_mutex_lock(&s->packed_lock);
    packed_operand *o = find(s, elements, p);
    if (!o) o = make(s, elements, p, c->plan->stop);
    if (o) {
        o->uses++;
        *use = (packed_use){ c->plan->packed, o };
        c->plan->packed = use;
    }
    pthread_mutex_unlock(&s->packed_lock);
    return o ? o->data : NULL;
}

size_t eddy__packed_bytes(const eddy_plan *p)
{
    size_t bytes = 0;
    if (!p) return 0;
    for (const packed_use *u = p->packed; u; u = u->next) bytes += (size_t)u->operand->bytes;
    for (const eddy_program *q = p->programs; q; q = q->next) {
        bytes += eddy__packed_bytes(q->condition.plan);
        for (int b = 0; b < q->n_bodies; b++) bytes += eddy__packed_bytes(q->bodies[b].plan);
    }
    return bytes;
}

size_t eddy__packed_bytes_of_session(eddy_session *s)
{
    pthread_mutex_lock(&s->packed_lock);
    const size_t bytes = s->packed_bytes;
    pthread_mutex_unlock(&s->packed_lock);
    return bytes;
}

void eddy__packed_release(eddy_plan *p)
{
    if (!p->packed) return;
    pthread_mutex_lock(&p->session->packed_lock);
    for (const packed_use *u = p->packed; u; u = u->next) release(p->session, u->operand);
    pthread_mutex_unlock(&p->session->packed_lock);
    p->packed = NULL;
}
