/* rule_table.c -- see rule_table.h. */
#include "graph/internal.h"
#include "tests/lib/golden.h"
#include "tests/lib/rule_attempt.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

/* ------------------------------------------------------------------- printing -- */

static void put(rule_line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(rule_line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(l->text + l->n, sizeof l->text - l->n, format, args);
    va_end(args);
    l->n += (size_t)n;
    if (l->n >= sizeof l->text) ck_abort_msg("the line '%s' is too long", l->text);
}

static void put_list(rule_line *l, int64_t n, const int64_t *at)
{
    put(l, "[");
    for (int64_t i = 0; i < n && i < 10; i++) put(l, i > 0 ? ",%" PRId64 : "%" PRId64, at[i]);
    put(l, n > 10 ? ",...]" : "]");
}

static void put_array(rule_line *l, const eddy_array *a)
{
    char text[200];
    if (!a) {
        put(l, "none");
        return;
    }
    const eddy_type t = { eddy_array_dtype(a), eddy_array_shape(a) };
    put(l, "%s", eddy_type_print(t, text, sizeof text));
    if (eddy_array_count(a) > 0) put(l, " %s", eddy_array_print(a, 8, text, sizeof text));
}

void *rule_member(const void *attrs, const eddy_attr_field *f)
{
    return (char *)(uintptr_t)attrs + f->offset;
}

void rule_put_attribute(rule_line *l, const void *attrs, const eddy_attr_field *f)
{
    char        text[100];
    const void *p = rule_member(attrs, f);
    put(l, "%s=", f->name);
    switch (f->kind) {
    case EDDY_ATTR_INT:    put(l, "%" PRId64, *(const int64_t *)p); break;
    case EDDY_ATTR_FLOAT:  put(l, "%g", *(const double *)p); break;
    case EDDY_ATTR_BOOL:   put(l, "%s", *(const bool *)p ? "true" : "false"); break;
    case EDDY_ATTR_STRING:
        put(l, "'%s'", *(const char *const *)p ? *(const char *const *)p : "");
        break;
    case EDDY_ATTR_DTYPE:  put(l, "%s", eddy_dtype_name(*(const eddy_dtype *)p)); break;
    case EDDY_ATTR_SHAPE:
        put(l, "%s", eddy_shape_print(*(const eddy_shape *)p, text, sizeof text));
        break;
    case EDDY_ATTR_DIMS: {
        const eddy_dims *d = p;
        if (d->count == 0 || d->count > EDDY_MAX_RANK) put(l, d->count ? "too many" : "none");
        else put_list(l, d->count, d->at);
        break;
    }
    case EDDY_ATTR_INTS:
        put_list(l, ((const eddy_ints *)p)->count, ((const eddy_ints *)p)->at);
        break;
    case EDDY_ATTR_ARRAY:  put_array(l, *(eddy_array *const *)p); break;
    case EDDY_ATTR_GRAPH:
    case EDDY_ATTR_END:    break;
    }
}

/* ---------------------------------------------------------------------- cases -- */

/* "float64[n,1,?]": which dimensions are unknown, 0 or 1. */
static void put_kind(rule_line *l, eddy_type t)
{
    put(l, "%s%s", eddy_dtype_name(t.dtype), t.shape.rank < 0 ? "?" : "[");
    for (int d = 0; d < t.shape.rank; d++)
        put(l, "%c,", t.shape.dim[d] > 1    ? 'n'
                      : t.shape.dim[d] < 0 ? '?' : '0' + (int)t.shape.dim[d]);
}

static void put_case(rule_line *l, const rule_case *c, bool ranks)
{
    char text[100];
    put(l, "%s(", c->op->name);
    for (int i = 0; i < c->n; i++) {
        put(l, i > 0 ? ", " : "");
        if (ranks) put_kind(l, c->in[i]);
        else put(l, "%s", eddy_type_print(c->in[i], text, sizeof text));
        if (c->value[i]) put(l, " = %s", eddy_array_print(c->value[i], 8, text, sizeof text));
    }
    put(l, ")");
    for (const eddy_attr_field *f = c->op->attrs; c->attrs && f && f->name; f++) {
        if (ranks && strcmp(f->name, "message") == 0) continue;
        put(l, " ");
        rule_put_attribute(l, c->attrs, f);
    }
}

bool rule_case_of(rule_case *c, const eddy_node *node)
{
    rule_line l = { .n = 0 }, kind = { .n = 0 };
    for (const eddy_attr_field *f = node->op->attrs; f && f->name; f++)
        if (f->kind == EDDY_ATTR_GRAPH) return false;
    if (node->n_inputs > RULE_INPUTS || node->op->attrs_size > RULE_ATTRS) return false;
    *c = (rule_case){ .op = node->op, .attrs = node->attrs, .n = node->n_inputs };
    for (int i = 0; i < c->n; i++) {
        const eddy_tensor x = node->inputs[i];
        c->in[i] = eddy_node_of(x)->outputs[x.output];
        if (eddy__input_is_in(c->op->value_inputs, i)) c->value[i] = eddy_constant_value(x);
    }
    put_case(&l, c, false);
    if (c->op->flags & EDDY_OP_ELEMENTWISE) put(&kind, "%s", c->op->name);
    else put_case(&kind, c, true);
    if (l.n >= sizeof c->title || kind.n >= sizeof c->kind) return false;
    memcpy(c->title, l.text, l.n + 1);
    memcpy(c->kind, kind.text, kind.n + 1);
    return true;
}

/* -------------------------------------------------------------------- answers -- */

void rule_restore(rule_attempt *a)
{
    a->c = *a->base;
    if (a->base->attrs) memcpy(a->attrs, a->base->attrs, a->base->op->attrs_size);
    a->c.attrs = a->attrs;
}

/* Element types only where they are not those of the case. */
static void put_outputs(rule_line *l, rule_attempt *a, const eddy_type *out, int n)
{
    char text[100];
    bool same = n == a->n_first;
    for (int i = 0; i < n && same; i++) same = out[i].dtype == a->first[i].dtype;
    for (int i = 0; i < n && i < RULE_SHOWN; i++) {
        put(l, i > 0 ? " " : "");
        if (same) put(l, "%s", eddy_shape_print(out[i].shape, text, sizeof text));
        else put(l, "%s", eddy_type_print(out[i], text, sizeof text));
    }
    if (n == 0) put(l, "no outputs");
    if (n > RULE_SHOWN) put(l, " ... %d outputs", n);
}

/* A message with # for each number and shape in it: other golden files have these. */
static void put_shortened(rule_line *l, const char *text, const char *end)
{
    while (text < end) {
        const bool  word = isalpha((unsigned char)*text) || *text == '_';
        const char *from = text++;
        if (*from == '[')
            while (text < end && text[-1] != ']') text++;
        else if (word || isdigit((unsigned char)*from))
            while (text < end && (isalnum((unsigned char)*text) || *text == '_')) text++;
        if (*from == '[' || isdigit((unsigned char)*from)) put(l, "#");
        else put(l, "%.*s", (int)(text - from), from);
    }
}

/* "BAD_SHAPE: the reason", of which the message has inputs and a node in front and behind. */
static void put_refusal(rule_line *l, const rule_case *c, const eddy_error *e)
{
    static const char before[] = "): ", behind[] = " [node '']";
    const char *text = strstr(e->message, before);
    const char *end = text ? strstr(text, behind) : NULL;
    if (!end || end - text <= (long)strlen(before) || end[strlen(behind)] ||
        strncmp(e->message, c->op->name, strlen(c->op->name)) != 0)
        ck_abort_msg("%s: '%s'", c->title, e->message);
    text += strlen(before);
    put(l, "%s: ", eddy_status_name(e->status));
    put_shortened(l, text, end);
}

/* Attributes that the rule has replaced. */
static void put_replaced(rule_line *l, const rule_case *c, const void *before)
{
    for (const eddy_attr_field *f = c->op->attrs; f && f->name; f++) {
        rule_line was = { .n = 0 }, is = { .n = 0 };
        rule_put_attribute(&was, before, f);
        rule_put_attribute(&is, c->attrs, f);
        if (strcmp(was.text, is.text) != 0) put(l, " with %s", is.text);
    }
}

static void put_answer(rule_line *l, rule_attempt *a, bool fixed)
{
    static const eddy_type none[1];
    unsigned char before[RULE_ATTRS];
    eddy_arena    arena = { .allocator = &eddy__libc };
    eddy_type    *out = NULL;
    eddy_error    e = { 0 };
    int           n = 0;
    memcpy(before, a->attrs, a->c.op->attrs_size);
    for (int i = 0; i < a->c.n; i++)            /* elements of another type or shape are unknown */
        if (a->c.value[i] && (eddy_array_dtype(a->c.value[i]) != a->c.in[i].dtype ||
                              !eddy_shape_equal(eddy_array_shape(a->c.value[i]),
                                                a->c.in[i].shape))) a->c.value[i] = NULL;
    if (eddy__infer_types(a->c.op, a->attrs, fixed, a->c.n, a->c.n > 0 ? a->c.in : none,
                          a->c.value, &arena, &out, &n, "", &e)) {
        put_outputs(l, a, out, n);
        put_replaced(l, &a->c, before);
        if (!a->asked && n <= (int)(sizeof a->first / sizeof *a->first)) {
            memcpy(a->first, out, (size_t)n * sizeof *out);
            a->n_first = n;
        }
    } else put_refusal(l, &a->c, &e);
    eddy__arena_free(&arena);
}

/* Asks the rule and undoes the change. Nothing here asserts what holds: Check makes a system call
 * of each assertion. */
static void ask_as(rule_attempt *a, const char *change, bool fixed)
{
    rule_line l = { .n = 0 };
    int  i = 0;
    put_answer(&l, a, fixed);
    while (i < a->n_answers && (strcmp(a->answers[i].text, l.text) != 0 ||
                                a->answers[i].changes.n + l.n > RULE_LINE)) i++;
    if (i == a->n_answers) {
        if (i == RULE_ANSWERS) ck_abort_msg("%s: too many answers", a->base->title);
        a->answers[i].text = strdup(l.text);
        a->answers[i].changes.n = 0;
        a->n_answers++;
    }
    put(&a->answers[i].changes, " %s%s", a->around, change);
    rule_restore(a);
}

void rule_ask(rule_attempt *a, const char *format, ...)
{
    char    change[300];
    va_list args;
    va_start(args, format);
    vsnprintf(change, sizeof change, format, args);
    va_end(args);
    for (char *at = change; *at; at++)
        if (*at == ' ') *at = '_';
    ask_as(a, change, false);
}

/* ---------------------------------------------------------------------- table -- */

void rule_table_add(const rule_case *c, bool whole, int n_texts, const rule_text *texts)
{
    static rule_attempt work;
    rule_attempt       *a = &work;
    rule_line      title = { .n = 0 };
    a->base = c;
    a->n_texts = n_texts;
    a->texts = texts;
    a->n_answers = a->n_first = 0;
    a->whole = whole;
    a->asked = false;
    a->around[0] = 0;
    rule_restore(a);
    put(&title, "%s -> ", c->title);
    put_answer(&title, a, false);
    a->asked = true;
    rule_restore(a);
    ask_as(a, "fixed", true);
    rule_try_changes(a);
    golden_line(title.text);
    for (int i = 0; i < a->n_answers; i++) {
        rule_line  l = { .n = 0 };
        const bool usual = strcmp(a->answers[i].text, a->answers[0].text) == 0;
        put(&l, "  %s <-%s", a->answers[i].text, usual ? " others" : a->answers[i].changes.text);
        if (i == 0 || !usual) golden_line(l.text);
    }
    for (int i = 0; i < a->n_answers; i++) free(a->answers[i].text);
}
