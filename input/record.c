/* record.c -- see internal.h: records, whose memory is used again, and what functions of the user
 * do with them. */
#include "internal.h"

#include <stdarg.h>
#include <string.h>

char *eddy__component_print(eddy_component c, char *buf, size_t size)
{
    char shape[200];
    snprintf(buf, size, "%s%s", eddy_dtype_name(c.dtype),
             eddy_shape_print(c.shape, shape, sizeof shape));
    return buf;
}

/* ----------------------------------------------------------------- slots -- */

/* Elements behind an allocated block; between them and the block there are at most ALIGNMENT
 * bytes. */
static char *aligned(char *block)
{
    return block + (INPUT_ALIGNMENT - (uintptr_t)block % INPUT_ALIGNMENT);
}

static void free_slot(const eddy_allocator *a, slot *s)
{
    eddy__input_give(a, s->block, s->room + INPUT_ALIGNMENT);
    s->block = s->at = NULL;
    s->room = s->bytes = 0;
}

static bool make_room(const eddy_allocator *a, slot *s, size_t bytes)
{
    if (s->block && s->room >= bytes) return true;
    char *block = a->allocate(a->context, bytes + INPUT_ALIGNMENT);
    if (!block) return false;
    free_slot(a, s);
    s->block = block;
    s->room = bytes;
    return true;
}

void eddy__slot_lend(slot *s, char *lent, eddy_dtype d, eddy_shape shape)
{
    s->lent = lent;
    s->lent_dtype = d;
    s->lent_shape = shape;
}

void *eddy__slot_make(const eddy_allocator *a, slot *s, eddy_dtype d, eddy_shape shape)
{
    const size_t size = eddy_dtype_size(d);
    if (size == 0 || !eddy_shape_is_valid(shape) || !eddy_shape_is_known(shape)) return NULL;
    const size_t bytes = (size_t)eddy_shape_count(shape) * size;
    const bool   fits = s->lent && s->lent_dtype == d && eddy_shape_equal(s->lent_shape, shape);
    if (!fits && !make_room(a, s, bytes)) return NULL;
    s->dtype = d;
    s->shape = shape;
    s->bytes = bytes;
    return s->at = fits ? s->lent : aligned(s->block);
}

/* --------------------------------------------------------------- records -- */

static size_t record_bytes(int n)
{
    return sizeof(eddy_record) + (size_t)n * (sizeof(slot) + sizeof(eddy_array_room));
}

eddy_record *eddy__record_new(const eddy_allocator *a, int n)
{
    eddy_record *r = eddy__input_take(a, record_bytes(n));
    if (!r) return NULL;
    r->allocator = a;
    r->n = n;
    r->rooms = (eddy_array_room *)(void *)(r + 1);
    r->slots = (slot *)(void *)(r->rooms + n);
    return r;
}

void eddy__record_free(eddy_record *r)
{
    if (!r) return;
    for (int i = 0; i < r->n; i++) free_slot(r->allocator, &r->slots[i]);
    eddy__input_give(r->allocator, r, record_bytes(r->n));
}

bool eddy__record_copy(eddy_record *to, const eddy_record *from)
{
    to->epoch = from->epoch;
    to->number = from->number;
    for (int i = 0; i < from->n; i++) {
        const slot *s = &from->slots[i];
        void       *p = eddy__slot_make(to->allocator, &to->slots[i], s->dtype, s->shape);
        if (!p) return eddy__input_no_memory(to->error);
        if (s->bytes) memcpy(p, s->at, s->bytes);
    }
    return true;
}

bool eddy__record_move(eddy_record *to, eddy_record *from)
{
    for (int i = 0; i < from->n; i++)
        if (to->slots[i].lent || from->slots[i].at == from->slots[i].lent)
            return eddy__record_copy(to, from);
    to->epoch = from->epoch;
    to->number = from->number;
    for (int i = 0; i < from->n; i++) {
        const slot s = to->slots[i];
        to->slots[i] = from->slots[i];
        from->slots[i] = s;
    }
    return true;
}

bool eddy__record_check(const eddy_record *r, const eddy_component *c, int n, const char *who)
{
    for (int i = 0; i < n; i++) {
        char                 got[240], want[240];
        const eddy_component is = { r->slots[i].dtype, r->slots[i].shape };
        if (is.dtype == c[i].dtype && eddy_shape_compatible(is.shape, c[i].shape)) continue;
        return eddy__input_fail(r->error, EDDY_BAD_SHAPE,
                                "%s: component %d of record %lld is %s; expected %s", who, i,
                                (long long)r->number, eddy__component_print(is, got, sizeof got),
                                eddy__component_print(c[i], want, sizeof want));
    }
    return true;
}

/* ------------------------------------------------------- functions of users -- */

const eddy_array *eddy_record_array(eddy_record *r, int i)
{
    if (!r || i < 0 || i >= r->n) return NULL;
    const slot *s = &r->slots[i];
    return eddy_array_view(&r->rooms[i], s->dtype, s->shape, s->at);
}

int eddy_record_width(const eddy_record *r) { return r ? r->n : 0; }

void *eddy_record_make(eddy_record *r, int i, eddy_dtype d, eddy_shape s)
{
    if (!r) return NULL;
    if (i < 0 || i >= r->n) {
        eddy_record_fail(r, EDDY_OUT_OF_RANGE, "record_make: component %d of %d", i, r->n);
        return NULL;
    }
    void *p = eddy__slot_make(r->allocator, &r->slots[i], d, s);
    if (p) return p;
    char text[200];
    if (eddy_dtype_size(d) == 0 || !eddy_shape_is_valid(s) || !eddy_shape_is_known(s))
        eddy_record_fail(r, EDDY_BAD_SHAPE, "record_make: component %d cannot have the shape %s", i,
                         eddy_shape_print(s, text, sizeof text));
    else eddy__input_no_memory(r->error);
    return NULL;
}

bool eddy_record_set(eddy_record *r, int i, const eddy_array *a)
{
    if (!r) return false;
    if (!a) return eddy_record_fail(r, EDDY_INVALID_ARGUMENT, "record_set: there is no array");
    void *p = eddy_record_make(r, i, eddy_array_dtype(a), eddy_array_shape(a));
    if (p && eddy_array_bytes(a)) memcpy(p, eddy_array_data(a), eddy_array_bytes(a));
    return p != NULL;
}

bool eddy_record_fail(eddy_record *r, eddy_status status, const char *format, ...)
{
    if (!r || !r->error || r->error->status != EDDY_OK) return false;
    va_list args;
    va_start(args, format);
    r->error->status = status == EDDY_OK ? EDDY_INVALID_ARGUMENT : status;
    vsnprintf(r->error->message, sizeof r->error->message, format ? format : "?", args);
    va_end(args);
    return false;
}

int64_t eddy_record_epoch(const eddy_record *r) { return r ? r->epoch : 0; }
int64_t eddy_record_number(const eddy_record *r) { return r ? r->number : 0; }

uint64_t eddy_record_random(const eddy_record *r, uint64_t seed, uint32_t draw)
{
    if (!r) return 0;
    return eddy__random(seed + (uint64_t)draw * 0x9e3779b97f4a7c15u, (uint64_t)r->epoch,
                        (uint64_t)r->number);
}

double eddy_record_uniform(const eddy_record *r, uint64_t seed, uint32_t draw)
{
    return (double)(eddy_record_random(r, seed, draw) >> 11) * 0x1p-53;
}
