/* extract_cut.c -- the first step of eddy_extract: what takes the place of tensors. */
#include "session/extract/extract_parts.h"
#include "ops/ops.h"

#include <string.h>

/* A type that may take the place of a tensor. */
static bool type_fits(extract *x, eddy_tensor t, eddy_type is, const char *what)
{
    char            want[100], have[100];
    const eddy_type type = { eddy_dtype_of(t), eddy_shape_of(t) };
    if (type.dtype == is.dtype && eddy_shape_compatible(type.shape, is.shape)) return true;
    return eddy__error_set(&x->error, type.dtype != is.dtype ? EDDY_BAD_DTYPE : EDDY_BAD_SHAPE,
                           "extract: '%.200s' is %s, but %s in its place is %s", eddy_name_of(t),
                           eddy_type_print(type, want, sizeof want), what,
                           eddy_type_print(is, have, sizeof have));
}

static bool has_value(extract *x, eddy_tensor t, const char *what, int i)
{
    const eddy_node *node = t.graph == x->args.outputs.at[0].graph ? eddy_node_of(t) : NULL;
    if (node && node->n_outputs > 0) return true;
    return eddy__error_set(&x->error, EDDY_INVALID_ARGUMENT,
                           "extract: %s %d is not a tensor of the graph", what, i);
}

static bool put_value(extract_step *s, int i)
{
    const eddy_feed f = s->x->args.values.at[i];
    if (!has_value(s->x, f.tensor, "value", i)) return false;
    if (!f.value)
        return eddy__error_set(&s->x->error, EDDY_INVALID_ARGUMENT,
                               "extract: the value of '%.200s' is NULL", eddy_name_of(f.tensor));
    const eddy_type is = { eddy_array_dtype(f.value), eddy_array_shape(f.value) };
    if (!type_fits(s->x, f.tensor, is, "the value") || !eddy__extract_once(s, f.tensor))
        return false;
    eddy_array *copy = eddy_array_new_in(&s->now.graph->allocator, is.dtype, is.shape);
    if (copy && eddy_array_bytes(copy) > 0)
        memcpy(eddy_array_data(copy), eddy_array_data(f.value), eddy_array_bytes(copy));
    return eddy__extract_constant(s, f.tensor, copy);
}

/* ------------------------------------------------------------- replacements -- */

/* The replacements of tensors are copied first, so they must not read one of these. */
static bool put_replacements(extract_step *s)
{
    const eddy_replacements r = s->x->args.replace;
    eddy_copy              *c = &s->copy;
    for (int i = 0; i < r.count; i++) {
        const eddy_tensor t = r.at[i].tensor, by = r.at[i].by;
        if (!has_value(s->x, t, "replaced tensor", i) || !has_value(s->x, by, "replacement", i) ||
            !type_fits(s->x, t, (eddy_type){ eddy_dtype_of(by), eddy_shape_of(by) },
                       "the tensor"))
            return false;
        eddy__copy_need(c, by);
    }
    eddy__copy_find(c);
    for (int i = 0; i < r.count; i++)
        if (eddy__copy_reads(c, r.at[i].tensor) || eddy_same(r.at[i].tensor, r.at[i].by))
            return eddy__error_set(&s->x->error, EDDY_INVALID_ARGUMENT, "extract: what replaces "
                                   "'%.200s' or another tensor depends on '%.200s'",
                                   eddy_name_of(r.at[i].tensor), eddy_name_of(r.at[i].tensor));
    if (!eddy__copy_nodes(c)) return false;
    for (int i = 0; i < r.count; i++) {
        const eddy_tensor t = r.at[i].tensor, by = r.at[i].by;
        if (!eddy__extract_once(s, t)) return false;
        if (!eddy__copy_set_image(c, t, eddy__copy_image(c, by))) return false;
        c->changed[t.node] |= !eddy_shape_equal(eddy_shape_of(t), eddy_shape_of(by));
    }
    return true;
}

bool eddy__extract_unused(extract *x, int i)
{
    return eddy__error_set(&x->error, EDDY_INVALID_ARGUMENT,
                           "extract: no output depends on the input '%.200s'",
                           eddy_name_of(x->args.inputs.at[i]));
}

static bool inputs_are_used(extract_step *s)
{
    const extract *x = s->x;
    for (int i = 0; i < x->n_inputs; i++) {
        bool used = eddy__copy_reads(&s->copy, x->args.inputs.at[i]);
        for (int k = 0; k < x->n_outputs; k++)
            used |= eddy_same(x->args.inputs.at[i], x->args.outputs.at[k]);
        if (!used) return eddy__extract_unused(s->x, i);
    }
    return true;
}

bool eddy__extract_cut(extract_step *s)
{
    extract   *x = s->x;
    eddy_copy *c = &s->copy;
    c->instead = eddy__extract_frozen;
    for (int i = 0; i < x->args.values.count; i++)
        if (!put_value(s, i)) return false;
    if (!x->args.without_effects && !eddy__copy_effects(c)) return false;
    if (x->args.freeze && !eddy__extract_freeze(s)) return false;
    if (x->args.replace.count > 0 && !put_replacements(s)) return false;
    for (int i = 0; i < x->n_outputs; i++) eddy__copy_need(c, x->args.outputs.at[i]);
    eddy__copy_find(c);
    return inputs_are_used(s);
}
