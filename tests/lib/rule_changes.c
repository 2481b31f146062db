/* rule_changes.c -- the changes of a case that the table of shape rules asks about: see
 * rule_table.h. */
#include "tests/lib/rule_attempt.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void change_ranks(rule_attempt *a, int i)
{
    const eddy_shape s = a->base->in[i].shape;
    for (int rank = 0; rank <= s.rank + 2 && rank <= EDDY_MAX_RANK; rank++) {
        if (rank == s.rank || (*a->around && rank != 0 && abs(rank - s.rank) != 1)) continue;
        a->c.in[i].shape = of_rank(s, rank);
        rule_ask(a, "%d:rank%d", i, rank);
    }
    if (*a->around) return;
    a->c.in[i].shape = of_rank(s, EDDY_MAX_RANK), rule_ask(a, "%d:rank8", i);
    a->c.in[i].shape = eddy_shape_unknown(), rule_ask(a, "%d:?", i);
    if (s.rank < 1) return;
    a->c.in[i].shape.rank--, rule_ask(a, "%d:short", i);
    for (int d = 0; d < s.rank; d++) a->c.in[i].shape.dim[d] = EDDY_ANY;
    rule_ask(a, "%d:open", i);
}

static void change_sizes(rule_attempt *a, int i)
{
    const eddy_shape s = a->base->in[i].shape;
    char             text[32];
    for (int d = 0; d < s.rank; d++) {
        const int64_t v = s.dim[d];
        const int64_t to[] = { v + 1, EDDY_ANY,  v - 1,     0,
                               1,     huge_size, INT32_MAX, (int64_t)INT32_MAX + 1 };
        for (int k = 0; k < (*a->around ? 2 : 8); k++) {
            if (to[k] < EDDY_ANY || to[k] == v || (k >= 3 && (to[k] == v - 1 || to[k] == v + 1)))
                continue;
            a->c.in[i].shape.dim[d] = to[k];
            rule_ask(a, "%d[%d]=%s", i, d, size_text(to[k], text));
        }
    }
    /* A vector of sizes has as many elements as the result dimensions. */
    for (int64_t n = EDDY_MAX_RANK; n < EDDY_MAX_RANK + 2 && !*a->around; n++) {
        if (s.rank != 1 || !eddy_dtype_is_integer(a->base->in[i].dtype)) continue;
        a->c.in[i].shape.dim[0] = n;
        rule_ask(a, "%d[0]=%d", i, (int)n);
    }
}

static void change_types(rule_attempt *a, int i)
{
    static const eddy_dtype types[] = { EDDY_FLOAT32, EDDY_INT32, EDDY_BOOL, EDDY_COMPLEX64 };
    for (int k = 0; k < 4; k++) {
        if (types[k] == a->base->in[i].dtype) continue;
        a->c.in[i].dtype = types[k];
        rule_ask(a, "%d:%s", i, eddy_dtype_name(types[k]));
    }
}

/* All dimensions of a size, and all inputs at once. */
static void change_together(rule_attempt *a)
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
            if (n > 1) rule_ask(a, "all%s=%s", size_text(from, text[0]), size_text(to[k], text[1]));
            else rule_restore(a);
        }
    }
    if (b->n < 2) return;
    for (int i = 0; i < b->n; i++) a->c.in[i].shape = eddy_shape_unknown();
    rule_ask(a, "all:?");
    for (int more = -1; more <= 1; more += 2) {
        for (int i = 0; i < b->n; i++) {
            const eddy_shape s = b->in[i].shape;
            a->c.in[i].shape = of_rank(s, s.rank + more < 0 ? 0 : s.rank + more);
            if (more > 0) a->c.in[i].shape.dim[0] = 2;
        }
        rule_ask(a, "all:rank%+d", more);
    }
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < b->n; i++)
            if (b->in[i].dtype == EDDY_FLOAT64) a->c.in[i].dtype = k ? EDDY_INT32 : EDDY_FLOAT32;
        rule_ask(a, "all:%s", k ? "int32" : "float32");
    }
}

/* One input more or less, where the operation takes as many. */
static void change_number(rule_attempt *a)
{
    const rule_case *b = a->base;
    const int        most = b->op->max_inputs == EDDY_MANY ? RULE_INPUTS : b->op->max_inputs;
    if (b->n > b->op->min_inputs) a->c.n--, rule_ask(a, "inputs=%d", b->n - 1);
    if (b->n < 1 || b->n >= most || b->n >= RULE_INPUTS) return;
    a->c.in[b->n] = b->in[b->n - 1];
    a->c.value[b->n] = b->value[b->n - 1];
    a->c.n++;
    rule_ask(a, "inputs=%d", b->n + 1);
}

/* Elements that the rule reads. */
static void change_value(rule_attempt *a, int i)
{
    static const double far[] = { -1, 0, 0x1p31, 0x1p62, NAN, INFINITY };
    const eddy_array *v = a->base->value[i];
    if (!v) return;
    a->c.value[i] = NULL, rule_ask(a, "%d=unknown", i);
    for (int64_t k = 0; k < eddy_array_count(v) && k < 4; k++)
        for (int j = 0; j < 8; j++) {
            const double was = eddy_array_get(v, k), to = j < 2 ? was - 1 + 2 * j : far[j - 2];
            eddy_array  *copy = eddy_array_copy(v);
            const bool   asks = to != was && (j < 6 || !eddy_dtype_is_integer(eddy_array_dtype(v)));
            if (asks) {
                eddy_array_set(copy, k, to);
                a->c.value[i] = copy;
                rule_ask(a, "%d{%d}=%g", i, (int)k, to);
            }
            eddy_array_free(copy);
        }
}

/* ----------------------------------------------------------------- attributes -- */

static void ask_attribute(rule_attempt *a, const eddy_attr_field *f)
{
    rule_line l = { .n = 0 }, was = { .n = 0 };
    rule_put_attribute(&l, a->attrs, f);
    rule_put_attribute(&was, a->base->attrs, f);
    if (strcmp(l.text, was.text) == 0) rule_restore(a);
    else rule_ask(a, "%s", l.text);
}

/* Limits that rules have, and the numbers behind them. */
static const int64_t limits[] = { 2, 4, 6, 1 << 15, 1 << 20, 1 << 24, 1 << 30, (int64_t)1 << 53,
                                  INT64_MAX / 4 };
enum { LIMITS = sizeof limits / sizeof *limits };

static void change_integer(rule_attempt *a, const eddy_attr_field *f)
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

static void change_float(rule_attempt *a, const eddy_attr_field *f)
{
    const double v = *(const double *)rule_member(a->base->attrs, f);
    const double to[] = { v + 0.5, 0, 1, -1, (double)NAN, (double)INFINITY, 0x1p62, 0x1.1p62, 1e39,
                          -1e39 };
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        *(double *)rule_member(a->attrs, f) = to[i];
        ask_attribute(a, f);
    }
}

static void change_text(rule_attempt *a, const eddy_attr_field *f)
{
    for (int i = 0; i < a->n_texts; i++) {
        if (strcmp(a->texts[i].attribute, f->name) != 0) continue;
        *(const char **)rule_member(a->attrs, f) = a->texts[i].text;
        ask_attribute(a, f);
    }
    *(const char **)rule_member(a->attrs, f) = "nonsense";
    ask_attribute(a, f);
}

static void change_dtype(rule_attempt *a, const eddy_attr_field *f)
{
    static const int to[] = { 0, EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64, EDDY_BOOL,
                              EDDY_COMPLEX64, EDDY_DTYPES };
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        *(eddy_dtype *)rule_member(a->attrs, f) = (eddy_dtype)to[i];
        ask_attribute(a, f);
    }
}

/* A list of at most `most` numbers in a struct: entries and lengths. */
static void change_list(rule_attempt *a, const eddy_attr_field *f, int n, int64_t *at)
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

static void change_dims(rule_attempt *a, const eddy_attr_field *f)
{
    eddy_dims *d = rule_member(a->attrs, f);
    const int  n = d->count;
    change_list(a, f, n > EDDY_MAX_RANK ? 0 : n, d->at);
    for (int k = -2; k <= EDDY_MAX_RANK + 1; k++) {
        if (k == n || (k > n + 1 && k < EDDY_MAX_RANK)) continue;
        for (int i = n > 0 ? n : 0; i < k && i < EDDY_MAX_RANK; i++) d->at[i] = 1;
        d->count = k;
        rule_ask(a, "%s:%d", f->name, k);
    }
}

static void change_integers(rule_attempt *a, const eddy_attr_field *f)
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
        if (v->count >= 0) rule_ask(a, "%s:%d", f->name, (int)v->count);
        else rule_restore(a);
    }
}

static void change_shape(rule_attempt *a, const eddy_attr_field *f)
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
        if (k == n || (k > n + 1 && k < EDDY_MAX_RANK)) continue;
        for (int i = n > 0 ? n : 0; i < k; i++) s->dim[i] = 1;
        s->rank = k;
        ask_attribute(a, f);
    }
    s->rank = EDDY_MAX_RANK + 1;
    rule_ask(a, "%s:9", f->name);
}

static void change_array(rule_attempt *a, const eddy_attr_field *f)
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

static void change_attribute(rule_attempt *a, const eddy_attr_field *f)
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

static void change_attributes(rule_attempt *a)
{
    const rule_case *c = a->base;
    for (const eddy_attr_field *f = c->op->attrs; c->attrs && f && f->name; f++)
        if (strcmp(f->name, "message") != 0 && strcmp(f->name, "seed") != 0)
            change_attribute(a, f);
}

/* ------------------------------------------------------------------- contexts -- */

/* Other inputs than those of the case: input i of unknown rank, a scalar, with open dimensions or
 * without elements; or all of unknown rank, or with open dimensions except one of them. */
typedef enum context { UNKNOWN, SCALAR, OPEN, EMPTY } context;
enum { ALL = -1 };

static eddy_shape shape_in(context k, eddy_shape s)
{
    if (k == UNKNOWN) return eddy_shape_unknown();
    if (k == SCALAR) return EDDY_SCALAR;
    for (int d = 0; d < s.rank; d++) s.dim[d] = k == OPEN ? EDDY_ANY : 0;
    return s;
}

static void change_around(rule_attempt *a, context k, int input)
{
    static const char *const names[] = { "?", "scalar", "open", "empty" };
    const rule_case *base = a->base;
    rule_case        around = *base;
    for (int i = 0; i < base->n; i++)
        if (input == i || input == ALL) around.in[i].shape = shape_in(k, base->in[i].shape);
    if (input >= 0 && k != UNKNOWN &&
        eddy_shape_equal(around.in[input].shape, base->in[input].shape)) return;
    a->base = &around;
    rule_restore(a);
    if (input >= 0) snprintf(a->around, sizeof a->around, "%d:%s/", input, names[k]);
    else snprintf(a->around, sizeof a->around, k == OPEN ? "open/" : "all:?/");
    if (input == ALL) rule_ask(a, "itself");
    for (int i = 0; i < base->n; i++) {
        if (input >= 0 && i != input) change_ranks(a, i);
        if (input >= 0 ? i != input : k == OPEN) change_sizes(a, i);
    }
    if (input == ALL || k == UNKNOWN) change_attributes(a);
    a->around[0] = 0;
    a->base = base;
    rule_restore(a);
}

/* All inputs with as many dimensions as there can be. */
static void change_to_most_ranks(rule_attempt *a)
{
    for (int i = 0; i < a->base->n; i++)
        a->c.in[i].shape = of_rank(a->base->in[i].shape, EDDY_MAX_RANK);
    rule_ask(a, "all:rank8");
    for (int i = 0; i < a->base->n; i++)
        a->c.in[i].shape = of_rank(a->base->in[i].shape, EDDY_MAX_RANK - 1);
    rule_ask(a, "all:rank7");
}

void rule_try_changes(rule_attempt *a)
{
    const rule_case *c = a->base;
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
    for (int i = 0; i < c->n && c->n > 1 && a->whole; i++)
        for (context k = UNKNOWN; k <= EMPTY; k++) change_around(a, k, i);
    if (c->n > 0 && a->whole) change_around(a, UNKNOWN, ALL), change_around(a, OPEN, ALL);
}
