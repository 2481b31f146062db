/* rule_table.c -- see rule_table.h. */
#include "tests/lib/rule_table.h"
#include "graph/internal.h"
#include "tests/lib/golden.h"
#include "tests/lib/rule_lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { ATTRS_SIZE = 2048, MOST_ANSWERS = 1000, LINE = RULE_LINE / 2, SHOWN = 6 };

/* ---------------------------------------------------------------------- cases -- */

static void put_case(rule_line *l, const rule_case *c, bool ranks)
{
    char text[100];
    rule_put(l, "%s(", c->op->name);
    for (int i = 0; i < c->n; i++) {
        rule_put(l, i > 0 ? ", " : "");
        if (ranks) rule_put_kind(l, c->in[i]);
        else rule_put(l, "%s", eddy_type_print(c->in[i], text, sizeof text));
        if (c->value[i]) rule_put(l, " = %s", eddy_array_print(c->value[i], 8, text, sizeof text));
    }
    rule_put(l, ")");
    for (const eddy_attr_field *f = c->op->attrs; c->attrs && f && f->name; f++) {
        if (ranks && strcmp(f->name, "message") == 0) continue;
        rule_put(l, " ");
        rule_put_attribute(l, c->attrs, f);
    }
}

bool rule_case_of(rule_case *c, const eddy_node *node)
{
    rule_line l = { .n = 0 }, kind = { .n = 0 };
    for (const eddy_attr_field *f = node->op->attrs; f && f->name; f++)
        if (f->kind == EDDY_ATTR_GRAPH) return false;
    if (node->n_inputs > RULE_INPUTS || node->op->attrs_size > ATTRS_SIZE) return false;
    *c = (rule_case){ .op = node->op, .attrs = node->attrs, .n = node->n_inputs };
    for (int i = 0; i < c->n; i++) {
        const eddy_tensor x = node->inputs[i];
        c->in[i] = eddy_node_of(x)->outputs[x.output];
        if (eddy__input_is_in(c->op->value_inputs, i)) c->value[i] = eddy_constant_value(x);
    }
    put_case(&l, c, false);
    if (c->op->flags & EDDY_OP_ELEMENTWISE) rule_put(&kind, "%s", c->op->name);
    else put_case(&kind, c, true);
    if (l.n >= sizeof c->title || kind.n >= sizeof c->kind) return false;
    memcpy(c->title, l.text, l.n + 1);
    memcpy(c->kind, kind.text, kind.n + 1);
    return true;
}

/* -------------------------------------------------------------------- answers -- */

/* The answers so far, each with the changes that lead to it. */
typedef struct answer {
    char *text;
    rule_line  changes;
} answer;

/* A case that is being changed; attributes are a copy, and so is each list that it changes. */
typedef struct attempt {
    rule_case  c;
    const rule_case *base;
    _Alignas(16) unsigned char attrs[ATTRS_SIZE];
    bool       whole, asked;                /* asked for the case itself */
    int        n_texts, n_answers;
    const rule_text *texts;
    char       around[40];                  /* what else is changed: "0:?/" */
    answer     answers[MOST_ANSWERS];
    eddy_type  first[RULE_INPUTS * 8];      /* the outputs of the case itself */
    int        n_first;
} attempt;

static void restore(attempt *a)
{
    a->c = *a->base;
    if (a->base->attrs) memcpy(a->attrs, a->base->attrs, a->base->op->attrs_size);
    a->c.attrs = a->attrs;
}

/* Element types only where they are not those of the case. */
static void put_outputs(rule_line *l, attempt *a, const eddy_type *out, int n)
{
    char text[100];
    bool same = n == a->n_first;
    for (int i = 0; i < n && same; i++) same = out[i].dtype == a->first[i].dtype;
    for (int i = 0; i < n && i < SHOWN; i++) {
        rule_put(l, i > 0 ? " " : "");
        if (same) rule_put(l, "%s", eddy_shape_print(out[i].shape, text, sizeof text));
        else rule_put(l, "%s", eddy_type_print(out[i], text, sizeof text));
    }
    if (n == 0) rule_put(l, "no outputs");
    if (n > SHOWN) rule_put(l, " ... %d outputs", n);
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
    rule_put(l, "%s: ", eddy_status_name(e->status));
    rule_put_shortened(l, text, end);
}

/* Attributes that the rule has replaced. */
static void put_replaced(rule_line *l, const rule_case *c, const void *before)
{
    for (const eddy_attr_field *f = c->op->attrs; f && f->name; f++) {
        rule_line was = { .n = 0 }, is = { .n = 0 };
        rule_put_attribute(&was, before, f);
        rule_put_attribute(&is, c->attrs, f);
        if (strcmp(was.text, is.text) != 0) rule_put(l, " with %s", is.text);
    }
}

static void put_answer(rule_line *l, attempt *a, bool fixed)
{
    static const eddy_type none[1];
    unsigned char before[ATTRS_SIZE];
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

/* Asks the rule and undoes the change. Nothing here asserts what holds, since Check makes a system
 * call of each assertion. */
static void ask_as(attempt *a, const char *change, bool fixed)
{
    rule_line l = { .n = 0 };
    int  i = 0;
    put_answer(&l, a, fixed);
    while (i < a->n_answers && (strcmp(a->answers[i].text, l.text) != 0 ||
                                a->answers[i].changes.n + l.n > LINE)) i++;
    if (i == a->n_answers) {
        if (i == MOST_ANSWERS) ck_abort_msg("%s: too many answers", a->base->title);
        a->answers[i].text = strdup(l.text);
        a->answers[i].changes.n = 0;
        a->n_answers++;
    }
    rule_put(&a->answers[i].changes, " %s%s", a->around, change);
    restore(a);
}

static void ask(attempt *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void ask(attempt *a, const char *format, ...)
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

/* --------------------------------------------------------------------- inputs -- */

static const int64_t huge_size = (int64_t)1 << 46;

static const char *size_text(int64_t size, char text[32])
{
    if (size == EDDY_ANY) return "?";
    if (size == huge_size) return "2^46";
    if (size == INT64_MAX) return "most";
    if (size == INT64_MIN) return "least";
    snprintf(text, 32, "%" PRId64, size);
    return text;
}

/* s with the last `rank` dimensions, or more in front. */
static eddy_shape of_rank(eddy_shape s, int rank)
{
    eddy_shape r = { .rank = rank };
    for (int i = 1; i <= rank; i++) r.dim[rank - i] = i <= s.rank ? s.dim[s.rank - i] : 1;
    return r;
}

static void change_ranks(attempt *a, int i)
{
    const eddy_shape s = a->base->in[i].shape;
    for (int rank = 0; rank <= s.rank + 2 && rank <= EDDY_MAX_RANK; rank++) {
        if (rank == s.rank || (*a->around && rank != 0 && rank != s.rank + 1)) continue;
        a->c.in[i].shape = of_rank(s, rank);
        ask(a, "%d:rank%d", i, rank);
    }
    if (*a->around) return;
    a->c.in[i].shape = of_rank(s, EDDY_MAX_RANK), ask(a, "%d:rank8", i);
    a->c.in[i].shape = eddy_shape_unknown(), ask(a, "%d:?", i);
    if (s.rank < 1) return;
    a->c.in[i].shape.rank--, ask(a, "%d:short", i);
    for (int d = 0; d < s.rank; d++) a->c.in[i].shape.dim[d] = EDDY_ANY;
    ask(a, "%d:open", i);
}

static void change_sizes(attempt *a, int i)
{
    const eddy_shape s = a->base->in[i].shape;
    char             text[32];
    for (int d = 0; d < s.rank; d++) {
        const int64_t v = s.dim[d];
        const int64_t to[] = {
            v + 1, EDDY_ANY, v - 1, 0, 1, huge_size, INT32_MAX, INT32_MAX + 1LL
        };
        for (int k = 0; k < (*a->around ? 2 : 8); k++) {
            if (to[k] < EDDY_ANY || to[k] == v || (k >= 3 && (to[k] == v - 1 || to[k] == v + 1)))
                continue;
            a->c.in[i].shape.dim[d] = to[k];
            ask(a, "%d[%d]=%s", i, d, size_text(to[k], text));
        }
    }
    /* A vector of sizes has as many elements as the result dimensions. */
    for (int64_t n = EDDY_MAX_RANK; n < EDDY_MAX_RANK + 2 && !*a->around; n++) {
        if (s.rank != 1 || !eddy_dtype_is_integer(a->base->in[i].dtype)) continue;
        a->c.in[i].shape.dim[0] = n;
        ask(a, "%d[0]=%d", i, (int)n);
    }
}

static void change_types(attempt *a, int i)
{
    static const eddy_dtype types[] = { EDDY_FLOAT32, EDDY_INT32, EDDY_BOOL, EDDY_COMPLEX64 };
    for (int k = 0; k < 4; k++) {
        if (types[k] == a->base->in[i].dtype) continue;
        a->c.in[i].dtype = types[k];
        ask(a, "%d:%s", i, eddy_dtype_name(types[k]));
    }
}

/* All dimensions of a size, and all inputs at once. */
static void change_together(attempt *a)
{
    const rule_case *b = a->base;
    char             text[2][32];
    for (int64_t from = 1; from <= 12; from++) {
        const int64_t to[] = { from + 1, from + 2, EDDY_ANY };
        for (int k = 0; k < 3; k++) {
            int n = 0;
            for (int i = 0; i < b->n; i++)
                for (int d = 0; d < b->in[i].shape.rank; d++)
                    if (b->in[i].shape.dim[d] == from) a->c.in[i].shape.dim[d] = to[k], n++;
            if (n > 1) ask(a, "all%s=%s", size_text(from, text[0]), size_text(to[k], text[1]));
            else restore(a);
        }
    }
    if (b->n < 2) return;
    for (int i = 0; i < b->n; i++) a->c.in[i].shape = eddy_shape_unknown();
    ask(a, "all:?");
    for (int more = -1; more <= 1; more += 2) {
        for (int i = 0; i < b->n; i++) {
            const eddy_shape s = b->in[i].shape;
            a->c.in[i].shape = of_rank(s, s.rank + more < 0 ? 0 : s.rank + more);
            if (more > 0) a->c.in[i].shape.dim[0] = 2;
        }
        ask(a, "all:rank%+d", more);
    }
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < b->n; i++)
            if (b->in[i].dtype == EDDY_FLOAT64) a->c.in[i].dtype = k ? EDDY_INT32 : EDDY_FLOAT32;
        ask(a, "all:%s", k ? "int32" : "float32");
    }
}

/* One input more or less, where the operation takes as many. */
static void change_number(attempt *a)
{
    const rule_case *b = a->base;
    const int        most = b->op->max_inputs == EDDY_MANY ? RULE_INPUTS : b->op->max_inputs;
    if (b->n > b->op->min_inputs) a->c.n--, ask(a, "inputs=%d", b->n - 1);
    if (b->n < 1 || b->n >= most || b->n >= RULE_INPUTS) return;
    a->c.in[b->n] = b->in[b->n - 1];
    a->c.value[b->n] = b->value[b->n - 1];
    a->c.n++;
    ask(a, "inputs=%d", b->n + 1);
}

/* Elements that the rule reads. */
static void change_value(attempt *a, int i)
{
    static const double far[] = { -1, 0, 0x1p31, 0x1p62, NAN, INFINITY };
    const eddy_array *v = a->base->value[i];
    if (!v) return;
    a->c.value[i] = NULL, ask(a, "%d=unknown", i);
    for (int64_t k = 0; k < eddy_array_count(v) && k < 4; k++)
        for (int j = 0; j < 8; j++) {
            const double was = eddy_array_get(v, k), to = j < 2 ? was - 1 + 2 * j : far[j - 2];
            eddy_array  *copy = eddy_array_copy(v);
            eddy_array_set(copy, k, to);
            a->c.value[i] = copy;
            if (to != was && (j < 6 || !eddy_dtype_is_integer(eddy_array_dtype(v))))
                ask(a, "%d{%d}=%g", i, (int)k, to);
            eddy_array_free(copy);
        }
}

/* ----------------------------------------------------------------- attributes -- */

static void ask_attribute(attempt *a, const eddy_attr_field *f)
{
    rule_line l = { .n = 0 }, was = { .n = 0 };
    rule_put_attribute(&l, a->attrs, f);
    rule_put_attribute(&was, a->base->attrs, f);
    if (strcmp(l.text, was.text) == 0) restore(a);
    else ask(a, "%s", l.text);
}

/* Limits that rules have, and the numbers behind them. */
static const int64_t limits[] = { 2, 4, 6, 1 << 15, 1 << 20, 1 << 24, 1 << 30, (int64_t)1 << 53,
                                  INT64_MAX / 4 };
enum { LIMITS = sizeof limits / sizeof *limits };

static void change_integer(attempt *a, const eddy_attr_field *f)
{
    const int64_t v = *(const int64_t *)rule_member(a->base->attrs, f);
    const int64_t to[] = { v - 1, v + 1, -1, 0, 1, -2, INT32_MAX, (int64_t)INT32_MAX + 1,
                           INT64_MAX, INT64_MIN, EDDY_MAX_RANK, EDDY_MAX_RANK + 1,
                           EDDY_MAX_INPUTS, EDDY_MAX_INPUTS + 1 };
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        if (i > 1 && (to[i] == v || to[i] == v - 1 || to[i] == v + 1)) continue;
        *(int64_t *)rule_member(a->attrs, f) = to[i];
        ask_attribute(a, f);
    }
    for (int i = 0; i < 2 * LIMITS && a->whole && !*a->around; i++) {
        *(int64_t *)rule_member(a->attrs, f) = limits[i / 2] + i % 2;
        ask_attribute(a, f);
    }
    for (int i = 0; i < 2 && a->whole && !*a->around; i++) {
        *(int64_t *)rule_member(a->attrs, f) = -(1 << 30) - i;
        ask_attribute(a, f);
    }
}

static void change_float(attempt *a, const eddy_attr_field *f)
{
    const double v = *(const double *)rule_member(a->base->attrs, f);
    const double to[] = { v + 0.5, 0, 1, -1, (double)NAN, (double)INFINITY, 0x1p62, 0x1.1p62, 1e39,
                          -1e39 };
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        *(double *)rule_member(a->attrs, f) = to[i];
        ask_attribute(a, f);
    }
}

static void change_text(attempt *a, const eddy_attr_field *f)
{
    for (int i = 0; i < a->n_texts; i++) {
        if (strcmp(a->texts[i].attribute, f->name) != 0) continue;
        *(const char **)rule_member(a->attrs, f) = a->texts[i].text;
        ask_attribute(a, f);
    }
    *(const char **)rule_member(a->attrs, f) = "nonsense";
    ask_attribute(a, f);
}

static void change_dtype(attempt *a, const eddy_attr_field *f)
{
    static const int to[] = { 0, EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64, EDDY_BOOL,
                              EDDY_COMPLEX64, EDDY_DTYPES };
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        *(eddy_dtype *)rule_member(a->attrs, f) = (eddy_dtype)to[i];
        ask_attribute(a, f);
    }
}

/* A list of at most `most` numbers in a struct: entries and lengths. */
static void change_list(attempt *a, const eddy_attr_field *f, int n, int64_t *at)
{
    const int64_t far[] = { -2, -1, 0, 1, INT32_MAX, (int64_t)INT32_MAX + 1, INT64_MAX,
                            INT64_MIN };
    for (int i = 0; i < n; i++) {
        const int64_t v = at[i];
        for (int k = 0; k < 10; k++) {
            const int64_t to = k < 2 ? v - 1 + 2 * k : far[k - 2];
            if (k >= 2 && (to == v || to == v - 1 || to == v + 1)) continue;
            int64_t was = at[i];
            at[i] = to;
            ask_attribute(a, f);
            at[i] = was;
        }
        for (int k = 0; k < 2 * LIMITS && i == 0 && a->whole && !*a->around; k++) {
            at[i] = limits[k / 2] + k % 2;
            ask_attribute(a, f);
            at[i] = v;
        }
    }
    if (n < 2) return;
    at[n - 1] = at[0];
    ask_attribute(a, f);
}

static void change_dims(attempt *a, const eddy_attr_field *f)
{
    eddy_dims *d = rule_member(a->attrs, f);
    const int  n = d->count;
    change_list(a, f, n > EDDY_MAX_RANK ? 0 : n, d->at);
    for (int k = -2; k <= EDDY_MAX_RANK + 1; k++) {
        if (k == n || (k > n + 1 && k < EDDY_MAX_RANK)) continue;
        for (int i = n > 0 ? n : 0; i < k && i < EDDY_MAX_RANK; i++) d->at[i] = 1;
        d->count = k;
        ask(a, "%s:%d", f->name, k);
    }
}

static void change_integers(attempt *a, const eddy_attr_field *f)
{
    const eddy_ints was = *(const eddy_ints *)rule_member(a->base->attrs, f);
    int64_t         copy[16];
    if (was.count > 12) return;
    for (int i = 0; i < 16; i++) copy[i] = i < was.count ? was.at[i] : 1;
    /* Each change restores the attribute, so the copy is set again. */
    for (int i = 0; i < (int)was.count; i++) {
        const int64_t to[] = { was.at[i] - 1, was.at[i] + 1, -1, 0, 1, INT64_MAX, INT64_MIN };
        for (size_t k = 0; k < sizeof to / sizeof *to; k++) {
            copy[i] = to[k];
            ((eddy_ints *)rule_member(a->attrs, f))->at = copy;
            ask_attribute(a, f);
        }
        copy[i] = was.at[i];
    }
    for (int k = -1; k <= 1; k++) {
        eddy_ints *v = rule_member(a->attrs, f);
        v->at = copy;
        v->count = k == 0 ? 0 : was.count + k;
        if (v->count >= 0) ask(a, "%s:%d", f->name, (int)v->count);
        else restore(a);
    }
}

static void change_shape(attempt *a, const eddy_attr_field *f)
{
    eddy_shape *s = rule_member(a->attrs, f);
    const int   n = s->rank;
    const int64_t far[] = { -2, EDDY_ANY, 0, 1, huge_size, INT64_MAX };
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++) {
            s->dim[i] = k < 2 ? s->dim[i] - 1 + 2 * k : far[k - 2];
            ask_attribute(a, f);
        }
    for (int k = EDDY_UNKNOWN_RANK; k <= EDDY_MAX_RANK; k++) {
        if (k == n || k > n + 1) continue;
        for (int i = n > 0 ? n : 0; i < k; i++) s->dim[i] = 1;
        s->rank = k;
        ask_attribute(a, f);
    }
    s->rank = EDDY_MAX_RANK + 1;
    ask(a, "%s:9", f->name);
}

static void change_array(attempt *a, const eddy_attr_field *f)
{
    eddy_array *to[] = { NULL, eddy_array_of(EDDY_FLOAT32, 1),
                         eddy_array_new(EDDY_INT32, EDDY_SHAPE(3)),
                         eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(2, 3)) };
    for (int i = 0; i < 4; i++) {
        *(eddy_array **)rule_member(a->attrs, f) = to[i];
        ask_attribute(a, f);
        eddy_array_free(to[i]);
    }
}

static void change_attribute(attempt *a, const eddy_attr_field *f)
{
    switch (f->kind) {
    case EDDY_ATTR_INT:    change_integer(a, f); break;
    case EDDY_ATTR_FLOAT:  change_float(a, f); break;
    case EDDY_ATTR_STRING: change_text(a, f); break;
    case EDDY_ATTR_DTYPE:  change_dtype(a, f); break;
    case EDDY_ATTR_DIMS:   change_dims(a, f); break;
    case EDDY_ATTR_INTS:   change_integers(a, f); break;
    case EDDY_ATTR_SHAPE:  change_shape(a, f); break;
    case EDDY_ATTR_ARRAY:  change_array(a, f); break;
    case EDDY_ATTR_BOOL: {
        bool *b = rule_member(a->attrs, f);
        *b = !*b;
        ask_attribute(a, f);
        break;
    }
    case EDDY_ATTR_GRAPH:
    case EDDY_ATTR_END:    break;
    }
}

static void change_attributes(attempt *a)
{
    const rule_case *c = a->base;
    for (const eddy_attr_field *f = c->op->attrs; c->attrs && f && f->name; f++)
        if (strcmp(f->name, "message") != 0 && strcmp(f->name, "seed") != 0)
            change_attribute(a, f);
}

/* ------------------------------------------------------------------- contexts -- */

/* Inputs of which less is known: input i of unknown rank, or all, or all with open dimensions. */
enum { ALL = -1, OPEN = -2 };

static void change_around(attempt *a, int unknown)
{
    const rule_case *base = a->base;
    rule_case        around = *base;
    for (int i = 0; i < base->n; i++) {
        eddy_shape *s = &around.in[i].shape;
        if (unknown == i || unknown == ALL) *s = eddy_shape_unknown();
        for (int d = 0; unknown == OPEN && d < s->rank; d++) s->dim[d] = EDDY_ANY;
    }
    a->base = &around;
    restore(a);
    if (unknown >= 0) snprintf(a->around, sizeof a->around, "%d:?/", unknown);
    else snprintf(a->around, sizeof a->around, unknown == ALL ? "all:?/" : "open/");
    if (unknown == ALL || unknown == OPEN) ask(a, "itself");
    for (int i = 0; unknown >= 0 && i < base->n; i++) {
        if (i == unknown) continue;
        change_ranks(a, i);
        change_sizes(a, i);
    }
    change_attributes(a);
    a->around[0] = 0;
    a->base = base;
    restore(a);
}

/* All inputs with as many dimensions as there can be. */
static void change_to_most_ranks(attempt *a)
{
    for (int i = 0; i < a->base->n; i++)
        a->c.in[i].shape = of_rank(a->base->in[i].shape, EDDY_MAX_RANK);
    ask(a, "all:rank8");
    for (int i = 0; i < a->base->n; i++)
        a->c.in[i].shape = of_rank(a->base->in[i].shape, EDDY_MAX_RANK - 1);
    ask(a, "all:rank7");
}

/* ---------------------------------------------------------------------- table -- */

void rule_table_add(const rule_case *c, bool whole, int n_texts, const rule_text *texts)
{
    static attempt work;
    attempt       *a = &work;
    rule_line           title = { .n = 0 };
    a->base = c;
    a->n_texts = n_texts;
    a->texts = texts;
    a->n_answers = a->n_first = 0;
    a->whole = whole;
    a->asked = false;
    a->around[0] = 0;
    restore(a);
    rule_put(&title, "%s -> ", c->title);
    put_answer(&title, a, false);
    a->asked = true;
    restore(a);
    ask_as(a, "fixed", true);
    for (int i = 0; i < c->n; i++) {
        change_ranks(a, i);
        change_sizes(a, i);
        change_types(a, i);
        change_value(a, i);
    }
    change_together(a);
    change_number(a);
    change_attributes(a);
    if (c->n > 0) change_to_most_ranks(a);
    for (int i = 0; i < c->n && c->n > 1 && whole; i++) change_around(a, i);
    if (c->n > 0 && whole) change_around(a, ALL), change_around(a, OPEN);
    golden_line(title.text);
    for (int i = 0; i < a->n_answers; i++) {
        rule_line       l = { .n = 0 };
        const bool usual = strcmp(a->answers[i].text, a->answers[0].text) == 0;
        rule_put(&l, "  %s <-%s", a->answers[i].text,
                 usual ? " others" : a->answers[i].changes.text);
        if (i == 0 || !usual) golden_line(l.text);
    }
    for (int i = 0; i < a->n_answers; i++) free(a->answers[i].text);
}
