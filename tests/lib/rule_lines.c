/* rule_lines.c -- see rule_lines.h. */
#include "tests/lib/rule_lines.h"

#include "tests/lib/checks.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>

void rule_put(rule_line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(l->text + l->n, sizeof l->text - l->n, format, args);
    va_end(args);
    l->n += (size_t)n;
    if (l->n >= sizeof l->text) ck_abort_msg("the line '%s' is too long", l->text);
}

void rule_put_list(rule_line *l, int64_t n, const int64_t *at)
{
    rule_put(l, "[");
    for (int64_t i = 0; i < n && i < 10; i++) rule_put(l, i > 0 ? ",%" PRId64 : "%" PRId64, at[i]);
    rule_put(l, n > 10 ? ",...]" : "]");
}

void rule_put_array(rule_line *l, const eddy_array *a)
{
    char text[200];
    if (!a) {
        rule_put(l, "none");
        return;
    }
    const eddy_type t = { eddy_array_dtype(a), eddy_array_shape(a) };
    rule_put(l, "%s", eddy_type_print(t, text, sizeof text));
    if (eddy_array_count(a) > 0) rule_put(l, " %s", eddy_array_print(a, 8, text, sizeof text));
}

void *rule_member(const void *attrs, const eddy_attr_field *f)
{
    return (char *)(uintptr_t)attrs + f->offset;
}

void rule_put_attribute(rule_line *l, const void *attrs, const eddy_attr_field *f)
{
    char        text[100];
    const void *p = rule_member(attrs, f);
    rule_put(l, "%s=", f->name);
    switch (f->kind) {
    case EDDY_ATTR_INT:    rule_put(l, "%" PRId64, *(const int64_t *)p); break;
    case EDDY_ATTR_FLOAT:  rule_put(l, "%g", *(const double *)p); break;
    case EDDY_ATTR_BOOL:   rule_put(l, "%s", *(const bool *)p ? "true" : "false"); break;
    case EDDY_ATTR_STRING:
        rule_put(l, "'%s'", *(const char *const *)p ? *(const char *const *)p : "");
        break;
    case EDDY_ATTR_DTYPE:  rule_put(l, "%s", eddy_dtype_name(*(const eddy_dtype *)p)); break;
    case EDDY_ATTR_SHAPE:
        rule_put(l, "%s", eddy_shape_print(*(const eddy_shape *)p, text, sizeof text));
        break;
    case EDDY_ATTR_DIMS: {
        const eddy_dims *d = p;
        if (d->count == 0 || d->count > EDDY_MAX_RANK) rule_put(l, d->count ? "too many" : "none");
        else rule_put_list(l, d->count, d->at);
        break;
    }
    case EDDY_ATTR_INTS:
        rule_put_list(l, ((const eddy_ints *)p)->count, ((const eddy_ints *)p)->at);
        break;
    case EDDY_ATTR_ARRAY:  rule_put_array(l, *(eddy_array *const *)p); break;
    case EDDY_ATTR_GRAPH:
    case EDDY_ATTR_END:    break;
    }
}


void rule_put_shortened(rule_line *l, const char *text, const char *end)
{
    while (text < end) {
        const bool word = isalpha((unsigned char)*text) || *text == '_';
        const char *from = text++;
        if (*from == '[') while (text < end && text[-1] != ']') text++;
        else if (word || isdigit((unsigned char)*from))
            while (text < end && (isalnum((unsigned char)*text) || *text == '_')) text++;
        if (*from == '[' || isdigit((unsigned char)*from)) rule_put(l, "#");
        else rule_put(l, "%.*s", (int)(text - from), from);
    }
}

void rule_put_kind(rule_line *l, eddy_type t)
{
    rule_put(l, "%s%s", eddy_dtype_name(t.dtype), t.shape.rank < 0 ? "?" : "[");
    for (int d = 0; d < t.shape.rank; d++)
        rule_put(l, "%c,",
            t.shape.dim[d] > 1   ? 'n'
            : t.shape.dim[d] < 0 ? '?'
                                 : '0' + (int)t.shape.dim[d]);
}
