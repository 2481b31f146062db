/* build.c -- inputs, attributes and outputs of the node that is being built. */
#include "reader.h"

#include <stdarg.h>
#include <string.h>

/* ---------------------------------------------------------------- failures -- */

static void fail(tf_build *b, eddy_model_support support, eddy_status status, const char *format,
                 va_list args)
{
    if (b->reason) return;
    b->reason = eddy__reading_reason(b->memory, format, args);
    b->support = support;
    b->status = status;
}

bool eddy__tf_missing(tf_build *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(b, EDDY_MODEL_MISSING, EDDY_UNIMPLEMENTED, format, args);
    va_end(args);
    return false;
}

bool eddy__tf_unbound(tf_build *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(b, EDDY_MODEL_BOUND, EDDY_UNIMPLEMENTED, format, args);
    va_end(args);
    return false;
}

bool eddy__tf_invalid(tf_build *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(b, EDDY_MODEL_MISSING, EDDY_INVALID_ARGUMENT, format, args);
    va_end(args);
    return false;
}

/* ------------------------------------------------------------------ inputs -- */

bool eddy__tf_has(const tf_build *b, int i) { return i >= 0 && i < b->n_in; }

/* A frozen graph does not say which constants are weights: those of floating-point elements with at
 * least one dimension. */
static bool is_weight(const tf_reader *r, const tf_value *v)
{
    return r->options.variables && !r->model->saved_model && r->bodies == 0 &&
           eddy_dtype_is_floating(eddy__tf_dtype(v->type)) && eddy_array_shape(v->array).rank > 0;
}

/* A constant of the file, as a variable or a constant of its name. */
static eddy_tensor build_constant(tf_build *b, const tf_value *v)
{
    return eddy__reading_weight(&b->reader->base, v->array,
                                eddy__name_clean(b->memory, v->weight), eddy__tf_dtype(v->type),
                                is_weight(b->reader, v), false);
}

eddy_tensor eddy__tf_tensor_of(tf_build *b, tf_value *v)
{
    if (v->kind == TF_ARRAY) eddy__tf_missing(b, "a tensor list stands where a tensor is expected");
    else if (v->kind == TF_NOTHING) eddy__tf_missing(b, "an input is not computed");
    else if (!eddy_is_valid(v->t) && !v->weight)
        eddy__tf_missing(b, "values of type %s are not supported", eddy__tf_type_name(v->type));
    if (b->reason) return eddy_none(b->graph);
    if (eddy_is_valid(v->t)) return v->t;
    const eddy_tensor t = build_constant(b, v);
    if (b->reader->bodies == 0) v->t = t;       /* the nodes of a body belong to it alone */
    return t;
}

eddy_tensor eddy__tf_in(tf_build *b, int i)
{
    if (!eddy__tf_has(b, i)) {
        eddy__tf_invalid(b, "input %d is missing", i);
        return eddy_none(b->graph);
    }
    return eddy__tf_tensor_of(b, b->in[i]);
}

int eddy__tf_type_in(const tf_build *b, int i)
{
    return eddy__tf_has(b, i) ? b->in[i]->type : TF_NO_TYPE;
}

const eddy_array *eddy__tf_array_of(tf_build *b, tf_value *v)
{
    if (v->array || v->kind != TF_VALUE || !eddy_is_valid(v->t)) return v->array;
    return v->array = eddy__reading_elements(&b->reader->base, v->t, v->constant);
}

bool eddy__tf_is_computed(tf_build *b, int i)
{
    return eddy__tf_has(b, i) && !eddy__tf_array_of(b, b->in[i]);
}

const eddy_array *eddy__tf_need(tf_build *b, int i, const char *what)
{
    const eddy_array *a = eddy__tf_has(b, i) ? eddy__tf_array_of(b, b->in[i]) : NULL;
    if (!eddy__tf_has(b, i)) eddy__tf_invalid(b, "input %d (%s) is missing", i, what);
    else if (!a) eddy__tf_unbound(b, "%s must be a constant", what);
    return a;
}

int eddy__tf_list(tf_build *b, int i, const char *what, int64_t list[TF_MAX_LIST])
{
    int            count;
    const int64_t *known = eddy__tf_partly(b, i, &count);
    for (int k = 0; known && k < count; k++)
        if (known[k] == UNKNOWN_SIZE) known = NULL;
    if (known) {
        if (count) memcpy(list, known, (size_t)count * sizeof *list);
        return count;
    }
    const eddy_array *a = eddy__tf_need(b, i, what);
    if (!a) return TF_FAILED;
    if (eddy_array_count(a) > TF_MAX_LIST)
        return eddy__tf_missing(b, "%s has more than %d numbers", what, TF_MAX_LIST), TF_FAILED;
    for (int64_t k = 0; k < eddy_array_count(a); k++) list[k] = eddy__element_integer(a, k);
    return (int)eddy_array_count(a);
}

bool eddy__tf_dims_in(tf_build *b, int i, const char *what, eddy_dims *dims)
{
    int64_t   list[TF_MAX_LIST];
    const int n = eddy__tf_list(b, i, what, list);
    if (n == TF_FAILED) return false;
    if (n > EDDY_MAX_RANK)
        return eddy__tf_missing(b, "%s has more than %d numbers", what, EDDY_MAX_RANK);
    *dims = eddy__tf_dims(list, n);
    return true;
}

bool eddy__tf_number_in(tf_build *b, int i, const char *what, int64_t *value)
{
    int64_t   list[TF_MAX_LIST];
    const int n = eddy__tf_list(b, i, what, list);
    if (n == TF_FAILED) return false;
    if (n != 1) return eddy__tf_invalid(b, "%s must be a single number", what);
    *value = list[0];
    return true;
}

const int64_t *eddy__tf_partly(tf_build *b, int i, int *count)
{
    tf_value *v = eddy__tf_has(b, i) ? b->in[i] : NULL;
    *count = 0;
    if (!v || v->kind != TF_VALUE) return NULL;
    if (!v->known) v->known = eddy__known_elements(b->memory, v->array, &v->count_known);
    *count = v->count_known;
    return v->known;
}

eddy_dims eddy__tf_dims(const int64_t *v, int n)
{
    if (n <= 0) return EDDY_NO_DIMS;
    eddy_dims d = { .count = n };
    memcpy(d.at, v, (size_t)(n > EDDY_MAX_RANK ? EDDY_MAX_RANK : n) * sizeof *v);
    return d;
}

/* -------------------------------------------------------------- attributes -- */

const tf_attr *eddy__tf_attr_of(const tf_node *n, const char *name)
{
    for (size_t i = 0; i < n->n_attrs; i++)
        if (strcmp(n->attrs[i].name, name) == 0) return &n->attrs[i];
    return NULL;
}

int64_t eddy__tf_int(const tf_build *b, const char *name, int64_t otherwise)
{
    const tf_attr *a = eddy__tf_attr_of(b->node, name);
    return a && a->kind == TF_ATTR_INT ? a->i : otherwise;
}

double eddy__tf_float(const tf_build *b, const char *name, double otherwise)
{
    const tf_attr *a = eddy__tf_attr_of(b->node, name);
    return a && a->kind == TF_ATTR_FLOAT ? a->f : otherwise;
}

bool eddy__tf_flag(const tf_build *b, const char *name)
{
    const tf_attr *a = eddy__tf_attr_of(b->node, name);
    return a && a->kind == TF_ATTR_BOOL && a->i;
}

const char *eddy__tf_text(const tf_build *b, const char *name, const char *otherwise)
{
    const tf_attr *a = eddy__tf_attr_of(b->node, name);
    return a && a->kind == TF_ATTR_TEXT ? a->text : otherwise;
}

eddy_dims eddy__tf_dims_attr(const tf_build *b, const char *name)
{
    const tf_attr *a = eddy__tf_attr_of(b->node, name);
    const size_t   n = a && a->kind == TF_ATTR_LIST ? a->n_ints : 0;
    return n == 0 ? EDDY_OMITTED_DIMS : eddy__tf_dims(a->ints, n < 100 ? (int)n : 100);
}

int eddy__tf_type(const tf_build *b, const char *name, int otherwise)
{
    const tf_attr *a = eddy__tf_attr_of(b->node, name);
    return a && a->kind == TF_ATTR_TYPE ? (int)a->i : otherwise;
}

const tf_graph *eddy__tf_function_named(tf_build *b, const char *function)
{
    const tf_file *m = b->reader->model;
    for (size_t i = 0; i < m->n_functions; i++)
        if (strcmp(m->functions[i].name, function) == 0) return &m->functions[i];
    eddy__tf_invalid(b, "the file has no function '%.100s'", function);
    return NULL;
}

const tf_graph *eddy__tf_function(tf_build *b, const char *name)
{
    const tf_attr *a = eddy__tf_attr_of(b->node, name);
    if (a && a->kind == TF_ATTR_FUNCTION) return eddy__tf_function_named(b, a->text);
    eddy__tf_invalid(b, "there is no attribute '%s' with a function", name);
    return NULL;
}

/* ----------------------------------------------------------------- outputs -- */

tf_value *eddy__tf_new_value(tf_build *b, tf_kind kind)
{
    tf_value *v = eddy__region_take(b->memory, 1, sizeof *v);
    if (v) v->kind = kind;
    else eddy__reading_no_memory(&b->reader->base);
    return v;
}

tf_value *eddy__tf_new_tensor(tf_build *b, eddy_tensor t, int type)
{
    tf_value *v = eddy__tf_new_value(b, TF_VALUE);
    if (!v) return NULL;
    v->t = t;
    v->type = type;
    return v;
}

bool eddy__tf_put_value(tf_build *b, int i, tf_value *v)
{
    if (i >= b->room_out) {
        const int  room = 2 * i + 4;
        tf_value **more = eddy__region_take(b->memory, (size_t)room, sizeof *more);
        if (!more) return eddy__reading_no_memory(&b->reader->base);
        if (b->n_out) memcpy(more, b->out, (size_t)b->n_out * sizeof *more);
        b->out = more;
        b->room_out = room;
    }
    b->n_out = i + 1;
    b->out[i] = v;
    return v != NULL;
}

bool eddy__tf_put_as(tf_build *b, int i, eddy_tensor t, int type)
{
    return eddy__tf_put_value(b, i, eddy__tf_new_tensor(b, t, type));
}

/* A type that Eddy lacks remains the declared one as long as values keep the type that stands for
 * it. */
bool eddy__tf_put(tf_build *b, int i, eddy_tensor t)
{
    const eddy_dtype d = eddy_dtype_of(t);
    const int        in = eddy__tf_type_in(b, 0);
    return eddy__tf_put_as(b, i, t, d != EDDY_DEFAULT_DTYPE && eddy__tf_dtype(in) == d
                                        ? in : eddy__tf_type_of(d));
}
