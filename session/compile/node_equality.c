/* node_equality.c -- equality of IR nodes: which nodes always give the same values (for common
 * subexpression elimination). */
#include "session/compile/ir.h"

#include <string.h>

static uint32_t mix(uint32_t h, uint64_t v)
{
    const uint64_t x = (h ^ v) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(x >> 32) ^ (uint32_t)x;
}

static uint32_t mix_bytes(uint32_t h, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++) h = (h ^ ((const uint8_t *)p)[i]) * 16777619u;
    return h;
}

/* ----------------------------------------------------------- attributes -- */

static const void *member(const void *attrs, const eddy_attr_field *f)
{
    return (const char *)attrs + f->offset;
}

static uint32_t hash_shape(uint32_t h, int rank, const int64_t *dim)
{
    h = mix(h, (uint64_t)rank);
    for (int d = 0; d < rank; d++) h = mix(h, (uint64_t)dim[d]);
    return h;
}

static uint32_t hash_member(uint32_t h, const eddy_attr_field *f, const void *p)
{
    switch (f->kind) {
    case EDDY_ATTR_INT: return mix_bytes(h, p, sizeof(int64_t));
    case EDDY_ATTR_FLOAT: return mix_bytes(h, p, sizeof(double));
    case EDDY_ATTR_BOOL: return mix(h, *(const bool *)p);
    case EDDY_ATTR_DTYPE: return mix(h, (uint64_t)*(const eddy_dtype *)p);
    case EDDY_ATTR_STRING: {
        const char *text = *(const char *const *)p;
        return text ? mix_bytes(h, text, strlen(text)) : h;
    }
    case EDDY_ATTR_SHAPE: {
        const eddy_shape *s = p;
        return hash_shape(h, s->rank, s->dim);
    }
    case EDDY_ATTR_DIMS: {
        const eddy_dims *d = p;
        return hash_shape(h, d->count, d->at);
    }
    case EDDY_ATTR_INTS: {
        const eddy_ints *v = p;
        return mix_bytes(h, v->at, v->count > 0 ? (size_t)v->count * sizeof(int64_t) : 0);
    }
    case EDDY_ATTR_ARRAY: return mix(h, (uint64_t)(uintptr_t)*(void *const *)p);
    case EDDY_ATTR_GRAPH:
    case EDDY_ATTR_END: return h;
    }
    return h;
}

static bool equal_member(const eddy_attr_field *f, const void *a, const void *b)
{
    switch (f->kind) {
    case EDDY_ATTR_INT: return memcmp(a, b, sizeof(int64_t)) == 0;
    case EDDY_ATTR_FLOAT: return memcmp(a, b, sizeof(double)) == 0;
    case EDDY_ATTR_BOOL: return *(const bool *)a == *(const bool *)b;
    case EDDY_ATTR_DTYPE: return *(const eddy_dtype *)a == *(const eddy_dtype *)b;
    case EDDY_ATTR_STRING: {
        const char *s = *(const char *const *)a, *t = *(const char *const *)b;
        return strcmp(s ? s : "", t ? t : "") == 0;
    }
    case EDDY_ATTR_SHAPE: {
        const eddy_shape *s = a, *t = b;
        return s->rank == t->rank && (s->rank < 0 || eddy_shape_equal(*s, *t));
    }
    case EDDY_ATTR_DIMS: {
        const eddy_dims *s = a, *t = b;
        return s->count == t->count &&
               (s->count <= 0 || memcmp(s->at, t->at, (size_t)s->count * sizeof *s->at) == 0);
    }
    case EDDY_ATTR_INTS: {
        const eddy_ints *s = a, *t = b;
        return s->count == t->count &&
               (s->count <= 0 || memcmp(s->at, t->at, (size_t)s->count * sizeof *s->at) == 0);
    }
    case EDDY_ATTR_ARRAY: return *(void *const *)a == *(void *const *)b;
    case EDDY_ATTR_GRAPH:
    case EDDY_ATTR_END: return false;
    }
    return false;
}

static bool equal_attrs(const eddy_op_def *op, const void *a, const void *b)
{
    if (a == b) return true;
    if (!a || !b || !op->attrs) return false;
    for (const eddy_attr_field *f = op->attrs; f->name; f++)
        if (!equal_member(f, member(a, f), member(b, f))) return false;
    return true;
}

/* ------------------------------------------------------------ constants -- */

enum { COMPARED_BYTES = 4096 };

static bool equal_type(eddy_type a, eddy_type b)
{
    return a.dtype == b.dtype && eddy_shape_equal(a.shape, b.shape);
}

static bool equal_constants(const ir_node *a, const ir_node *b)
{
    for (int k = 0; k < a->n_outputs; k++) {
        if (!equal_type(a->outputs[k], b->outputs[k])) return false;
        if (a->values[k] == b->values[k]) continue;
        const size_t bytes = eddy_array_bytes(a->values[k]);
        if (bytes > COMPARED_BYTES || bytes != eddy_array_bytes(b->values[k])) return false;
        const void *p = eddy_array_data(a->values[k]), *q = eddy_array_data(b->values[k]);
        if (bytes > 0 && memcmp(p, q, bytes) != 0) return false;
    }
    return true;
}

static uint32_t hash_constants(const ir_node *n)
{
    uint32_t h = 1;
    for (int k = 0; k < n->n_outputs; k++) {
        const size_t bytes = eddy_array_bytes(n->values[k]);
        h = mix(h, (uint64_t)n->outputs[k].dtype);
        if (bytes <= COMPARED_BYTES) h = mix_bytes(h, eddy_array_data(n->values[k]), bytes);
        else h = mix(h, (uint64_t)(uintptr_t)n->values[k]);
    }
    return h;
}

/* ---------------------------------------------------------------- nodes -- */

/* True if its value depends only on its inputs, its attributes and its control inputs. */
bool eddy__ir_is_pure(const ir_node *n)
{
    enum {
        NOT = EDDY_OP_STATEFUL | EDDY_OP_SIDE_EFFECT | EDDY_OP_VARIABLE | EDDY_OP_PLACEHOLDER |
              EDDY_OP_UPDATES
    };
    return !n->kept && n->n_outputs > 0 && (n->values || !(n->op->flags & NOT));
}

uint32_t eddy__ir_hash(const ir_node *n)
{
    if (n->values) return hash_constants(n);
    uint32_t h = mix(2, (uint64_t)(uintptr_t)n->op);
    for (int i = 0; i < n->n_inputs; i++)
        h = mix(mix(h, (uint64_t)n->inputs[i].node), (uint64_t)n->inputs[i].output);
    for (int i = 0; i < n->n_controls; i++) h = mix(h, (uint64_t)n->controls[i]);
    for (int k = 0; k < n->n_outputs; k++)
        h = hash_shape(mix(h, (uint64_t)n->outputs[k].dtype), n->outputs[k].shape.rank,
                       n->outputs[k].shape.dim);
    for (const eddy_attr_field *f = n->attrs ? n->op->attrs : NULL; f && f->name; f++)
        h = hash_member(h, f, member(n->attrs, f));
    return h;
}

bool eddy__ir_equal(const ir_node *a, const ir_node *b)
{
    if (!eddy__ir_is_pure(a) || !eddy__ir_is_pure(b)) return false;
    if (!a->values != !b->values || a->n_outputs != b->n_outputs) return false;
    if (a->values) return equal_constants(a, b);
    if (a->op != b->op || a->n_inputs != b->n_inputs || a->n_controls != b->n_controls)
        return false;
    for (int i = 0; i < a->n_inputs; i++)
        if (a->inputs[i].node != b->inputs[i].node || a->inputs[i].output != b->inputs[i].output)
            return false;
    for (int i = 0; i < a->n_controls; i++)
        if (a->controls[i] != b->controls[i]) return false;
    for (int k = 0; k < a->n_outputs; k++)
        if (!equal_type(a->outputs[k], b->outputs[k])) return false;
    return equal_attrs(a->op, a->attrs, b->attrs);
}
