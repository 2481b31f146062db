/* build.c -- inputs, attributes and outputs of the node that is being built. */
#include "reader.h"
#include "../../ops/short_names.h"

#include <stdarg.h>
#include <string.h>

/* ---------------------------------------------------------------- failures -- */

static void fail(onnx_build *b, eddy_model_support support, eddy_status status, const char *format,
                 va_list args)
{
    if (b->reason) return;
    b->reason = eddy__reading_reason(b->memory, format, args);
    b->support = support;
    b->status = status;
}

bool eddy__onnx_missing(onnx_build *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(b, EDDY_MODEL_MISSING, EDDY_UNIMPLEMENTED, format, args);
    va_end(args);
    return false;
}

bool eddy__onnx_unbound(onnx_build *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(b, EDDY_MODEL_BOUND, EDDY_UNIMPLEMENTED, format, args);
    va_end(args);
    return false;
}

bool eddy__onnx_invalid(onnx_build *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(b, EDDY_MODEL_MISSING, EDDY_INVALID_ARGUMENT, format, args);
    va_end(args);
    return false;
}

/* ------------------------------------------------------------------ inputs -- */

bool eddy__onnx_has(const onnx_build *b, int i)
{
    return i < b->n_in && b->in[i] && b->in[i]->kind != ONNX_NO_TYPE;
}

onnx_value *eddy__onnx_value_in(onnx_build *b, int i)
{
    return eddy__onnx_has(b, i) ? b->in[i] : NULL;
}

/* A weight, built as a variable or a constant of its name. */
static eddy_tensor build_weight(onnx_build *b, const onnx_value *v)
{
    onnx_reader     *r = b->reader;
    const eddy_dtype compute = eddy__onnx_dtype(v->type);
    const bool       variable = v->weight && r->options.variables &&
                          eddy_dtype_is_floating(compute);
    const char      *name = v->weight ? eddy__name_clean(b->memory, v->weight) : "Const";
    return eddy__reading_weight(&r->base, v->array, name, compute, variable, v->statistic);
}

static bool only_tensor(onnx_build *b, const onnx_value *v)
{
    if (v->strings || v->type == ONNX_STRING)
        return eddy__onnx_missing(b, "strings are not supported");
    return v->kind == ONNX_TENSOR ||
           eddy__onnx_missing(b, "a sequence stands where a tensor is expected");
}

void eddy__onnx_only_tensors(onnx_build *b)
{
    for (int i = 0; i < b->n_in; i++)
        if (eddy__onnx_has(b, i)) only_tensor(b, b->in[i]);
}

eddy_tensor eddy__onnx_tensor_of(onnx_build *b, onnx_value *v)
{
    if (!v || !only_tensor(b, v)) return eddy_none(b->graph);
    if (!eddy_is_valid(v->t) && v->array) v->t = build_weight(b, v);
    return v->t;
}

eddy_tensor eddy__onnx_in(onnx_build *b, int i)
{
    onnx_value *v = eddy__onnx_value_in(b, i);
    if (!v) b->absent = i;
    return v ? eddy__onnx_tensor_of(b, v) : eddy_none(b->graph);
}

int eddy__onnx_type_in(const onnx_build *b, int i)
{
    return eddy__onnx_has(b, i) ? b->in[i]->type : ONNX_UNDEFINED;
}

int eddy__onnx_rank(onnx_build *b, int i)
{
    const onnx_value *v = eddy__onnx_value_in(b, i);
    if (v && v->array) return eddy_array_shape(v->array).rank;
    return v ? eddy_shape_of(v->t).rank : EDDY_UNKNOWN_RANK;
}

void eddy__onnx_take_rank(onnx_build *b, int i, int rank)
{
    const onnx_value *v = eddy__onnx_value_in(b, i);
    eddy_shape        s = { .rank = rank };
    if (!v || v->kind != ONNX_TENSOR || eddy__onnx_rank(b, i) >= 0) return;
    for (int k = 0; k < rank; k++) s.dim[k] = EDDY_ANY;
    b->in[i] = eddy__onnx_new_tensor(b, eddy_ensure_shape(eddy__onnx_in(b, i), s), v->type);
}

const eddy_array *eddy__onnx_array_of(onnx_build *b, onnx_value *v)
{
    if (!v || v->array || v->kind != ONNX_TENSOR || v->strings || !eddy_is_valid(v->t))
        return v ? v->array : NULL;
    return v->array = eddy__reading_elements(&b->reader->base, v->t, v->constant);
}

bool eddy__onnx_is_computed(onnx_build *b, int i)
{
    onnx_value *v = eddy__onnx_value_in(b, i);
    return v && v->kind == ONNX_TENSOR && !eddy__onnx_array_of(b, v);
}

const eddy_array *eddy__onnx_need(onnx_build *b, int i, const char *what)
{
    onnx_value       *v = eddy__onnx_value_in(b, i);
    const eddy_array *a = v ? eddy__onnx_array_of(b, v) : NULL;
    if (!v) eddy__onnx_invalid(b, "input %d (%s) is missing", i, what);
    else if (!a) eddy__onnx_unbound(b, "%s must be a constant", what);
    return a;
}

void *eddy__onnx_computed(onnx_build *b, int64_t count)
{
    if (!eddy__reading_computes(&b->reader->base, count))
        return eddy__onnx_missing(b, "the constants that it computes are too large"), NULL;
    void *p = eddy__region_take(b->memory, (size_t)count, sizeof(double));
    if (!p) eddy__onnx_missing(b, "out of memory");
    return p;
}

int eddy__onnx_list(onnx_build *b, int i, const char *name, int64_t list[ONNX_MAX_LIST])
{
    int            count = 0;
    const int64_t *from = name ? eddy__onnx_ints(b, name, &count) : NULL;
    if (from) {
        if (count > ONNX_MAX_LIST)
            return eddy__onnx_missing(b, "%s is too long", name), ONNX_FAILED;
        memcpy(list, from, (size_t)count * sizeof *list);
        return count;
    }
    if (i < 0 || !eddy__onnx_has(b, i)) return ONNX_ABSENT;
    const eddy_array *a = eddy__onnx_need(b, i, name ? name : "the list");
    if (!a) return ONNX_FAILED;
    if (eddy_array_count(a) > ONNX_MAX_LIST || !eddy_dtype_is_integer(eddy_array_dtype(a)))
        return eddy__onnx_missing(b, "input %d is not a short list of integers", i), ONNX_FAILED;
    for (int64_t k = 0; k < eddy_array_count(a); k++) list[k] = eddy__element_integer(a, k);
    return (int)eddy_array_count(a);
}

int eddy__onnx_axis(onnx_build *b, int64_t axis, int rank)
{
    if (rank == EDDY_UNKNOWN_RANK)
        return eddy__onnx_missing(b, "the rank of the input must be known"), ONNX_FAILED;
    if (axis < -rank || axis >= rank)
        return eddy__onnx_invalid(b, "axis %lld is not within rank %d", (long long)axis, rank),
               ONNX_FAILED;
    return (int)(axis < 0 ? axis + rank : axis);
}

int eddy__onnx_axes(onnx_build *b, int i, const char *name, int rank, int64_t list[ONNX_MAX_LIST])
{
    const int n = eddy__onnx_list(b, i, name, list);
    for (int k = 0; k < n; k++) {
        list[k] = eddy__onnx_axis(b, list[k], rank);
        if (list[k] < 0) return ONNX_FAILED;
    }
    return n;
}

eddy_tensor eddy__onnx_axes_in(onnx_build *b, int i, int rank)
{
    const eddy_tensor axes = Cast(eddy__onnx_in(b, i), EDDY_INT64);
    return Where(Less(axes, 0), Add(axes, rank), axes);
}

const int64_t *eddy__onnx_partly(onnx_build *b, int i, int *count)
{
    onnx_value *v = eddy__onnx_value_in(b, i);
    *count = 0;
    if (!v) return NULL;
    if (!v->known)
        v->known = eddy__known_elements(b->memory, eddy__onnx_array_of(b, v), &v->count_known);
    *count = v->count_known;
    return v->known;
}

/* -------------------------------------------------------------- attributes -- */

static const onnx_attr *find(const onnx_attr *attrs, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(attrs[i].name, name) == 0) return &attrs[i];
    return NULL;
}

/* The attribute of the call of a function, which may itself be that of another call. */
static const onnx_attr *of_call(const onnx_scope *s, const char *name)
{
    while (s && !s->function) s = s->outer;
    if (!s) return NULL;
    const onnx_attr *a = find(s->call->attrs, s->call->n_attrs, name);
    if (a && a->ref) return of_call(s->caller, a->ref);
    return a ? a : find(s->function->defaults, s->function->n_defaults, name);
}

const onnx_attr *eddy__onnx_attr(const onnx_build *b, const char *name)
{
    const onnx_attr *a = find(b->node->attrs, b->node->n_attrs, name);
    return a && a->ref ? of_call(b->scope, a->ref) : a;
}

int64_t eddy__onnx_int(const onnx_build *b, const char *name, int64_t otherwise)
{
    const onnx_attr *a = eddy__onnx_attr(b, name);
    return a ? a->i : otherwise;
}

double eddy__onnx_float(const onnx_build *b, const char *name, double otherwise)
{
    const onnx_attr *a = eddy__onnx_attr(b, name);
    return a ? a->f : otherwise;
}

const char *eddy__onnx_text(onnx_build *b, const char *name, const char *otherwise)
{
    const onnx_attr *a = eddy__onnx_attr(b, name);
    const char      *s = a ? eddy__region_text(b->memory, a->s) : NULL;
    return s ? s : otherwise;
}

bool eddy__onnx_is(const onnx_build *b, const char *name, const char *text, bool otherwise)
{
    const onnx_attr *a = eddy__onnx_attr(b, name);
    if (!a) return otherwise;
    return a->s.size == strlen(text) && memcmp(a->s.at, text, a->s.size) == 0;
}

const int64_t *eddy__onnx_ints(const onnx_build *b, const char *name, int *count)
{
    const onnx_attr *a = eddy__onnx_attr(b, name);
    *count = a && a->n_ints < INT32_MAX ? (int)a->n_ints : 0; /* unreached: more take 16 GiB */
    return a ? a->ints : NULL;
}

const double *eddy__onnx_floats(const onnx_build *b, const char *name, int *count)
{
    const onnx_attr *a = eddy__onnx_attr(b, name);
    *count = a && a->n_floats < INT32_MAX ? (int)a->n_floats : 0; /* unreached: more take 16 GiB */
    return a ? a->floats : NULL;
}

const onnx_graph *eddy__onnx_graph_attr(onnx_build *b, const char *name)
{
    const onnx_attr *a = eddy__onnx_attr(b, name);
    if (!a || !a->g) eddy__onnx_invalid(b, "attribute '%s' is no graph", name);
    return a ? a->g : NULL;
}

/* ----------------------------------------------------------------- outputs -- */

bool eddy__onnx_wants(const onnx_build *b, int i)
{
    return i < b->n_out && b->node->outputs[i][0] != 0;
}

onnx_value *eddy__onnx_new_value(onnx_build *b)
{
    onnx_value *v = eddy__region_take(b->memory, 1, sizeof *v);
    if (!v) {
        b->status = EDDY_NO_MEMORY;
        b->reason = "out of memory";
    }
    return v;
}

onnx_value *eddy__onnx_new_tensor(onnx_build *b, eddy_tensor t, int type)
{
    onnx_value *v = eddy__onnx_new_value(b);
    if (v) *v = (onnx_value){ .kind = ONNX_TENSOR, .t = t, .type = type };
    return v;
}

onnx_value *eddy__onnx_new_sequence(onnx_build *b, onnx_value *const *items, int count, int type)
{
    onnx_value *v = eddy__onnx_new_value(b);
    if (!v) return NULL;
    *v = (onnx_value){ .kind = ONNX_SEQUENCE, .type = type, .count = count };
    v->items = eddy__region_take(b->memory, (size_t)count, sizeof(onnx_value *));
    if (!v->items) return eddy__onnx_missing(b, "out of memory"), NULL;
    if (count) memcpy(v->items, items, (size_t)count * sizeof(onnx_value *));
    return v;
}

bool eddy__onnx_put_value(onnx_build *b, int i, onnx_value *v)
{
    if (i < b->n_out) b->out[i] = v;
    return v != NULL;
}

bool eddy__onnx_put_as(onnx_build *b, int i, eddy_tensor t, int type)
{
    if (!eddy__onnx_wants(b, i)) return true;
    return eddy__onnx_put_value(b, i, eddy__onnx_new_tensor(b, t, type));
}

bool eddy__onnx_put(onnx_build *b, int i, eddy_tensor t)
{
    const int        first = eddy__onnx_type_in(b, 0);
    const eddy_dtype d = eddy_dtype_of(t);
    return eddy__onnx_put_as(b, i, t, eddy__onnx_dtype(first) == d ? first : eddy__onnx_type_of(d));
}

/* --------------------------------------------------------------- constants -- */

eddy_tensor eddy__onnx_int64s(onnx_build *b, const int64_t *v, int n)
{
    return eddy_const(b->graph, EDDY_INT64, eddy_shape_of_dims(&(int64_t){ n }, 1), v);
}

eddy_dims eddy__onnx_dims(const int64_t *v, int n)
{
    if (n == 0) return EDDY_NO_DIMS;
    const eddy_shape s = eddy_shape_of_dims(v, (size_t)n);      /* none of too many */
    eddy_dims        d = { .count = n };
    memcpy(d.at, s.dim, sizeof d.at);
    return d;
}
