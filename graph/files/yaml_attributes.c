/* yaml_attributes.c -- conversion of YAML items to values: numbers, shapes, arrays, attributes. */
#include "graph/files/yaml_tree.h"
#include "graph/base/dtype.h"

#include <string.h>

/* ------------------------------------------------------------- scalars -- */

static bool scalar(eddy_yaml_parser *p, const eddy_yaml_item *it, const char *expected)
{
    return it->kind == EDDY_YAML_SCALAR ||
           eddy__yaml_fail(p, it, EDDY_CORRUPT, "expected %s", expected);
}

/* ~ */
static bool is_none(const eddy_yaml_item *it)
{
    return it->kind == EDDY_YAML_SCALAR && it->plain && strcmp(it->text, "~") == 0;
}

/* {base64: ...}: a string that is not UTF-8. */
static bool read_bytes(eddy_yaml_parser *p, const eddy_yaml_item *it, const char **out)
{
    static const char *const keys[] = { "base64" };
    const eddy_yaml_item    *value;
    if (!eddy__yaml_fields(p, it, keys, 1, &value)) return false;
    if (!value || value->kind != EDDY_YAML_SCALAR)
        return eddy__yaml_fail(p, it, EDDY_CORRUPT, "base64 is missing");
    size_t n = eddy__base64_size(value->text, value->length);
    char  *s = eddy__arena_alloc(&p->arena, n + 1);
    if (!s)
        return eddy__error_set(p->error, EDDY_NO_MEMORY, "%.600s: out of memory for a string",
                               p->name);
    s[n] = 0;
    *out = s;
    return (eddy__base64_parse(value->text, value->length, s, n) && !memchr(s, 0, n)) ||
           eddy__yaml_fail(p, value, EDDY_CORRUPT, "not the base64 encoding of a string");
}

bool eddy__yaml_string(eddy_yaml_parser *p, const eddy_yaml_item *it, const char **out)
{
    if (it->kind == EDDY_YAML_MAP) return read_bytes(p, it, out);
    if (!scalar(p, it, "a string")) return false;
    *out = it->text;
    return true;
}

bool eddy__yaml_integer(eddy_yaml_parser *p, const eddy_yaml_item *it, int64_t *out)
{
    return scalar(p, it, "an integer") &&
           ((it->plain && eddy__integer_parse(it->text, out)) ||
            eddy__yaml_fail(p, it, EDDY_CORRUPT, "'%.100s' is not a 64-bit integer", it->text));
}

static bool read_float(eddy_yaml_parser *p, const eddy_yaml_item *it, bool single, double *out)
{
    return scalar(p, it, "a number") &&
           ((it->plain && eddy__number_parse(it->text, single, out)) ||
            eddy__yaml_fail(p, it, EDDY_CORRUPT, "'%.100s' is not a valid %s", it->text,
                            single ? "float32" : "float64"));
}

bool eddy__yaml_bool(eddy_yaml_parser *p, const eddy_yaml_item *it, bool *out)
{
    if (!scalar(p, it, "true or false")) return false;
    *out = strcmp(it->text, "true") == 0;
    return (it->plain && (*out || strcmp(it->text, "false") == 0)) ||
           eddy__yaml_fail(p, it, EDDY_CORRUPT, "'%.100s' is neither true nor false", it->text);
}

/* "[?,784]" or "?"; all of s. */
static bool parse_shape(const char *s, eddy_shape *out)
{
    *out = eddy_shape_unknown();
    if (strcmp(s, "?") == 0) return true;
    *out = (eddy_shape){ .rank = 0 };
    if (*s++ != '[') return false;
    while (*s != ']') {
        int64_t d = 0;
        if (out->rank == EDDY_MAX_RANK || (out->rank > 0 && *s++ != ',')) return false;
        if (*s == '?') {
            d = EDDY_ANY;
            s++;
        } else {
            const char *first = s;
            for (; *s >= '0' && *s <= '9'; s++)
                if (__builtin_mul_overflow(d, 10, &d) || __builtin_add_overflow(d, *s - '0', &d))
                    return false;
            if (s == first) return false;
        }
        out->dim[out->rank++] = d;
    }
    return s[1] == 0 && eddy_shape_is_valid(*out);
}

/* "[?,3]" */
static bool shape_item(eddy_yaml_parser *p, const eddy_yaml_item *it, eddy_shape *out)
{
    return scalar(p, it, "a shape") &&
           (parse_shape(it->text, out) ||
            eddy__yaml_fail(p, it, EDDY_CORRUPT, "'%.100s' is not a shape", it->text));
}

static bool read_dtype(eddy_yaml_parser *p, const eddy_yaml_item *it, eddy_dtype *out)
{
    if (!scalar(p, it, "an element type")) return false;
    *out = eddy_dtype_named(it->text);
    return *out != EDDY_DEFAULT_DTYPE || strcmp(it->text, "default") == 0 ||
           eddy__yaml_fail(p, it, EDDY_BAD_DTYPE, "'%.100s' is not an element type", it->text);
}

bool eddy__yaml_type(eddy_yaml_parser *p, const eddy_yaml_item *it, eddy_type *out)
{
    char name[16];
    if (!scalar(p, it, "a type")) return false;
    size_t n = strcspn(it->text, "[?");
    snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : 0, it->text);
    out->dtype = eddy_dtype_named(name);
    if (out->dtype == EDDY_DEFAULT_DTYPE || !parse_shape(it->text + n, &out->shape))
        return eddy__yaml_fail(p, it, EDDY_CORRUPT,
                               "'%.100s' is not a type; expected the form float32[?,3]", it->text);
    return true;
}

/* --------------------------------------------------------------- lists -- */

static bool is_list(eddy_yaml_parser *p, const eddy_yaml_item *it)
{
    return it->kind == EDDY_YAML_LIST || eddy__yaml_fail(p, it, EDDY_CORRUPT, "expected a list");
}

static bool read_dims(eddy_yaml_parser *p, const eddy_yaml_item *it, eddy_dims *out)
{
    if (is_none(it)) return true;
    if (!is_list(p, it)) return false;
    if (it->count > EDDY_MAX_RANK)
        return eddy__yaml_fail(p, it, EDDY_CORRUPT, "the list has more than %d numbers",
                               EDDY_MAX_RANK);
    out->count = it->count > 0 ? (int)it->count : -1;
    int64_t *at = out->at;
    for (const eddy_yaml_item *child = it->first; child; child = child->next)
        if (!eddy__yaml_integer(p, child, at++)) return false;
    return true;
}

static bool read_ints(eddy_yaml_parser *p, const eddy_yaml_item *it, eddy_ints *out)
{
    if (!is_list(p, it)) return false;
    int64_t *at = eddy__arena_alloc(&p->arena, (size_t)it->count * sizeof *at);
    if (!at)
        return eddy__error_set(p->error, EDDY_NO_MEMORY, "%.600s: out of memory for a list",
                               p->name);
    *out = (eddy_ints){ it->count, at };
    for (const eddy_yaml_item *child = it->first; child; child = child->next)
        if (!eddy__yaml_integer(p, child, at++)) return false;
    return true;
}

/* -------------------------------------------------------------- arrays -- */

static bool read_number(eddy_yaml_parser *p, const eddy_yaml_item *it, eddy_dtype d, void *data,
                        int64_t i)
{
    double  v = 0;
    int64_t n = 0;
    bool    b = false;
    if (d == EDDY_FLOAT32) {
        if (!read_float(p, it, true, &v)) return false;
        ((float *)data)[i] = (float)v;
    } else if (d == EDDY_FLOAT64) {
        if (!read_float(p, it, false, &v)) return false;
        ((double *)data)[i] = v;
    } else if (d == EDDY_BOOL) {
        if (!eddy__yaml_bool(p, it, &b)) return false;
        ((uint8_t *)data)[i] = b;
    } else if (eddy_dtype_is_integer(d)) {
        if (!eddy__yaml_integer(p, it, &n)) return false;
        if (n < eddy__dtype_lowest(d) || n > eddy__dtype_highest(d))
            return eddy__yaml_fail(p, it, EDDY_CORRUPT, "%s does not fit in %s", it->text,
                                   eddy_dtype_name(d));
        eddy__whole_put(d, data, i, n);
    } else {
        return eddy__yaml_fail(p, it, EDDY_CORRUPT, "elements of %s must be given in base64",
                               eddy_dtype_name(d));
    }
    return true;
}

static bool read_values(eddy_yaml_parser *p, const eddy_yaml_item *it, eddy_array *a)
{
    int64_t i = 0;
    for (const eddy_yaml_item *child = it->first; child; child = child->next)
        if (!read_number(p, child, eddy_dtype_real(eddy_array_dtype(a)), eddy_array_data(a), i++))
            return false;
    return true;
}

static bool read_base64(eddy_yaml_parser *p, const eddy_yaml_item *it, eddy_array *a)
{
    const unsigned char *b = eddy_array_data(a);
    if (!eddy__base64_parse(it->text, it->length, eddy_array_data(a), eddy_array_bytes(a)))
        return eddy__yaml_fail(p, it, EDDY_CORRUPT, "invalid base64");
    for (int64_t i = 0; eddy_array_dtype(a) == EDDY_BOOL && i < eddy_array_count(a); i++)
        if (b[i] > 1)
            return eddy__yaml_fail(p, it, EDDY_CORRUPT, "element %lld is not a bool", (long long)i);
    return true;
}

/* True if there are as many elements as the shape requires, counted before memory is allocated. */
static bool count_fits(eddy_yaml_parser *p, const eddy_yaml_item *it, eddy_type t)
{
    char    text[100];
    int64_t count = eddy_shape_count(t.shape), bytes = count * (int64_t)eddy_dtype_size(t.dtype);
    if (it->kind == EDDY_YAML_LIST)       /* two for a complex element */
        return it->count == count * (eddy_dtype_is_complex(t.dtype) ? 2 : 1) ||
               eddy__yaml_fail(p, it, EDDY_CORRUPT, "the number of values for %s is %lld",
                               eddy_type_print(t, text, sizeof text), (long long)it->count);
    int64_t have = (int64_t)eddy__base64_size(it->text, it->length);
    return have == bytes ||
           eddy__yaml_fail(p, it, EDDY_CORRUPT, "the number of bytes for %s is %lld",
                           eddy_type_print(t, text, sizeof text), (long long)have);
}

static bool read_array(eddy_yaml_parser *p, const eddy_yaml_item *it, eddy_array **out)
{
    static const char *const keys[] = { "type", "values", "base64" };
    const eddy_yaml_item    *in[3];
    eddy_type                t;
    if (is_none(it)) return true;
    if (!eddy__yaml_fields(p, it, keys, 3, in)) return false;
    if (!in[0] || !in[1] == !in[2])
        return eddy__yaml_fail(p, it, EDDY_CORRUPT,
                               "an array requires a type and either values or base64");
    if (!eddy__yaml_type(p, in[0], &t)) return false;
    if (!eddy_shape_is_known(t.shape))
        return eddy__yaml_fail(p, in[0], EDDY_CORRUPT, "the shape of an array must be known");
    const eddy_yaml_item *data = in[1] ? in[1] : in[2];
    if (data->kind != (in[1] ? EDDY_YAML_LIST : EDDY_YAML_SCALAR))
        return eddy__yaml_fail(p, data, EDDY_CORRUPT,
                               in[1] ? "expected a list" : "expected base64");
    if (!count_fits(p, data, t)) return false;
    *out = eddy_array_new_in(p->arena.allocator, t.dtype, t.shape);
    if (!*out)
        return eddy__error_set(p->error, EDDY_NO_MEMORY, "%.600s: out of memory for an array",
                               p->name);
    return in[1] ? read_values(p, data, *out) : read_base64(p, data, *out);
}

/* ---------------------------------------------------------- attributes -- */

static bool read_attribute(eddy_yaml_parser *p, const eddy_yaml_item *it, const eddy_attr_field *f,
                           void *member, eddy_yaml_graph_fn *read_graph, void *context)
{
    switch (f->kind) {                   /* unreached: another kind than these */
    case EDDY_ATTR_INT:    return eddy__yaml_integer(p, it, member);
    case EDDY_ATTR_FLOAT:  return read_float(p, it, false, member);
    case EDDY_ATTR_BOOL:   return eddy__yaml_bool(p, it, member);
    case EDDY_ATTR_STRING: return eddy__yaml_string(p, it, member);
    case EDDY_ATTR_DTYPE:  return read_dtype(p, it, member);
    case EDDY_ATTR_SHAPE:  return shape_item(p, it, member);
    case EDDY_ATTR_DIMS:   return read_dims(p, it, member);
    case EDDY_ATTR_INTS:   return read_ints(p, it, member);
    case EDDY_ATTR_ARRAY:  return read_array(p, it, member);
    case EDDY_ATTR_GRAPH:  break;
    case EDDY_ATTR_END:    return true;
    }
    if (is_none(it)) return true;
    *(eddy_graph **)member = read_graph(context, it);
    return *(eddy_graph **)member != NULL;
}

bool eddy__yaml_attrs(eddy_yaml_parser *p, const eddy_op_def *op, const eddy_yaml_item *node,
                      const eddy_yaml_item *map, void *attrs, eddy_yaml_graph_fn *read_graph,
                      void *context)
{
    const char           *keys[EDDY_YAML_ATTRS];
    const eddy_yaml_item *in[EDDY_YAML_ATTRS];
    int                   n = 0;
    for (const eddy_attr_field *f = op->attrs; f && f->name; f++) {
        if (n == EDDY_YAML_ATTRS)
            return eddy__yaml_fail(p, node, EDDY_LIMIT, "%s has more than %d attributes", op->name,
                                   EDDY_YAML_ATTRS);
        keys[n++] = f->name;
    }
    if (!map && n == 0) return true;
    if (!map) return eddy__yaml_fail(p, node, EDDY_CORRUPT, "%s requires attributes", op->name);
    if (!eddy__yaml_fields(p, map, keys, n, in)) return false;
    for (int i = 0; i < n; i++) {
        if (!in[i])
            return eddy__yaml_fail(p, map, EDDY_CORRUPT, "%s requires the attribute '%.100s'",
                                   op->name, keys[i]);
        char *member = (char *)attrs + op->attrs[i].offset;
        if (!read_attribute(p, in[i], &op->attrs[i], member, read_graph, context)) return false;
    }
    return true;
}
