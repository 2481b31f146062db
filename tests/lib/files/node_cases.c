/* node_cases.c -- see node_cases.h. */
#include "tests/lib/files/node_cases.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ tensors -- */

static const char letters[] = "fdilbzhjus";
static const eddy_dtype dtypes[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64, EDDY_BOOL,
                                     EDDY_COMPLEX64, EDDY_FLOAT16, EDDY_INT32, EDDY_UINT8,
                                     EDDY_INT32 };

const char *case_tensor_parse(const char *text, case_tensor *t)
{
    while (*text == ' ') text++;
    *t = (case_tensor){ .kind = 'c' };
    if (strchr("?~*&-", *text)) t->kind = *text++;
    if (t->kind == '-') return *text == ';' ? text + 1 : text;
    t->letter = *text++;
    assert(strchr(letters, t->letter));
    if (*text == '[') {
        for (text++; *text != ']'; text += *text == ',')
            t->dims[t->rank++] = strtoll(text, (char **)&text, 10);
        text++;
    }
    for (char *end; *text && *text != ';'; text = end) {
        const double x = strtod(text, &end);
        if (end == text) {
            end++;
            continue;
        }
        assert(t->n < CASE_ELEMENTS);
        t->at[t->n++] = x;
    }
    return *text == ';' ? text + 1 : text;
}

eddy_dtype case_tensor_dtype(const case_tensor *t)
{
    return dtypes[strchr(letters, t->letter) - letters];
}

eddy_array *case_tensor_array(const case_tensor *t)
{
    const eddy_dtype d = case_tensor_dtype(t);
    eddy_array      *a = eddy_array_new(d, eddy_shape_of_dims(t->dims, (size_t)t->rank));
    const int64_t    n = a ? eddy_array_count(a) : 0;
    const bool       floats = eddy_dtype_is_floating(d);
    for (int64_t i = 0; i < n; i++)
        if (t->letter == 'z')
            for (int64_t k = 2 * i; k < 2 * i + 2; k++)
                ((float *)eddy_array_data(a))[k] = t->n ? (float)t->at[k % t->n] : 1;
        else eddy_array_set(a, i, t->n     ? t->at[i % t->n]
                                  : floats ? sin((double)i + 1)
                                           : (double)(i % 2));
    return a;
}

/* -------------------------------------------------------------------- nodes -- */

node_case node_case_of(const char *op, int opset, const char *inputs, const char *attributes,
                       int n_out)
{
    node_case c = { .op = op, .opset = opset, .n_out = n_out };
    while (*inputs) {
        assert(c.n_in < CASE_INPUTS);
        inputs = case_tensor_parse(inputs, &c.in[c.n_in++]);
    }
    while (*attributes) {
        const size_t n = strcspn(attributes, " ");
        assert(c.n_attributes < CASE_ATTRIBUTES);
        snprintf(c.attributes[c.n_attributes++], sizeof *c.attributes, "%.*s", (int)n, attributes);
        attributes += n + (attributes[n] == ' ');
    }
    return c;
}

/* ------------------------------------------------------------------- changes -- */

enum { OF_INPUT = 28, OF_ATTRIBUTE = 10, OF_NODE = 8, PAIRS = 24 };

static int64_t elements(const case_tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++) n *= t->dims[i];
    return n;
}

/* All elements the same. */
static bool fill(case_tensor *t, double x)
{
    t->n = t->letter == 'z' ? 2 : 1;
    t->at[0] = t->at[1] = x;
    return elements(t) > 0;
}

static bool with_kind(case_tensor *t, char kind)
{
    const bool changes = t->kind != kind;
    if (t->kind == '-') t->letter = 'f';
    t->kind = kind;
    return changes;
}

static bool with_letter(case_tensor *t, char letter)
{
    const bool changes = t->letter != letter;
    t->letter = letter;
    return changes;
}

static bool insert_axis(case_tensor *t, int at, int64_t n)
{
    if (t->rank == EDDY_MAX_RANK) return false;
    memmove(t->dims + at + 1, t->dims + at, (size_t)(t->rank - at) * sizeof *t->dims);
    t->dims[at] = n;
    t->rank++;
    return true;
}

static bool without_axis(case_tensor *t, int at)
{
    if (t->rank == 0) return false;
    memmove(t->dims + at, t->dims + at + 1, (size_t)(t->rank - at - 1) * sizeof *t->dims);
    t->rank--;
    return true;
}

static bool with_size(case_tensor *t, int at, int64_t n)
{
    if (t->rank == 0 || t->dims[at] == n) return false;
    t->dims[at] = n;
    return true;
}

/* False if nothing changes. */
static bool change_input(node_case *c, int i, int how)
{
    case_tensor *t = &c->in[i];
    const int    last = t->rank - 1;
    if (t->kind == '-' && how > 6) return false;
    switch (how) {
    case 0: return c->n_in = i, true;
    case 1: return with_kind(t, '-');
    case 2: return with_kind(t, 'c');
    case 3: return with_kind(t, '?');
    case 4: return with_kind(t, '~');
    case 5: return with_kind(t, '*');
    case 6: return with_kind(t, '&');
    case 7: return insert_axis(t, 0, 1);
    case 8: return insert_axis(t, t->rank, 1);
    case 9: return without_axis(t, 0);
    case 10: return without_axis(t, last);
    case 11:
        while (t->rank < EDDY_MAX_RANK) insert_axis(t, 0, 1);
        return true;
    case 12: t->rank = 0; return last >= 0;
    case 13: return with_size(t, 0, 0);
    case 14: return with_size(t, last, 0);
    case 15: return with_size(t, 0, t->rank ? t->dims[0] + 1 : 0);
    case 16: return with_size(t, last, t->rank ? 2 * t->dims[last] : 0);
    case 17: return with_size(t, last, 1);
    case 18: return fill(t, 0);
    case 19: return fill(t, -1);
    case 20: return fill(t, 2);
    case 21: return fill(t, 100);
    case 22: return fill(t, -4e18);
    case 23: return fill(t, 4e18);
    default: return with_letter(t, "flsz"[how - 24]);
    }
}

/* The text of an attribute after "=", in another way. */
static bool change_text(char *value, size_t room, int how)
{
    static const char *const numbers[] = { "0", "-1", "1", "7", "100", "9223372036854775807",
                                           "-9223372036854775808", "1.5", "'x" },
               *const floats[] = { "0.0", "-1.0", "1e30.", "nan.", "2.0", "1", "'x", "[1,2]" },
               *const lists[] = { "[]", "[0]", "[-1,-1]", "[1,1,1]", "[9,9,9,9,9,9,9,9,9]",
                                  "[9223372036854775807,9223372036854775807]",
                                  "[100000,100000]", "1", "'x" },
               *const words[] = { "'x", "'", "0", "1.5", "[1,2]" }, *const others[] = { "0", "'x" },
               *const graphs[] = { "%one", "%neg", "%loop", "%last", "%scan", "0", "'x" };
#define TABLE(t) table = t, n = sizeof t / sizeof *t
    const char *const *table;
    size_t             n;
    if (*value == '%') TABLE(graphs);
    else if (*value == '[') TABLE(lists);
    else if (*value == '\'') TABLE(words);
    else if (strchr(value, '.')) TABLE(floats);
    else if (isdigit(*value) || *value == '-') TABLE(numbers);
    else TABLE(others);
#undef TABLE
    if ((size_t)how >= n || strcmp(value, table[how]) == 0) return false;
    snprintf(value, room, "%s", table[how]);
    return true;
}

static bool change_attribute(node_case *c, int i, int how)
{
    char  *value = strchr(c->attributes[i], '=') + 1;
    size_t room = (size_t)(c->attributes[i] + sizeof c->attributes[i] - value);
    if (how > 0) return change_text(value, room, how - 1);
    memmove(c->attributes + i, c->attributes + i + 1,
            (size_t)(c->n_attributes - i - 1) * sizeof *c->attributes);
    c->n_attributes--;
    return true;
}

static bool change_node(node_case *c, int how)
{
    static const int opsets[] = { 1, 7, 10, 13, 26 };
    if (how != 2 && c->opset == 0) return false;
    switch (how) {
    case 0: return c->n_out = 0, true;
    case 1: return c->n_out++, true;
    case 2:
        if (c->n_in == CASE_INPUTS) return false;
        c->in[c->n_in] = c->n_in ? c->in[0] : (case_tensor){ .kind = '?', .letter = 'f' };
        return c->n_in++, true;
    default: return c->opset != opsets[how - 3] && (c->opset = opsets[how - 3], true);
    }
}

/* Change number `how` of all; false if it changes nothing. */
static bool change(node_case *c, int how)
{
    const int of_inputs = c->n_in * OF_INPUT, of_attributes = c->n_attributes * OF_ATTRIBUTE;
    if (how < of_inputs) return change_input(c, how / OF_INPUT, how % OF_INPUT);
    how -= of_inputs;
    if (how < of_attributes)
        return change_attribute(c, how / OF_ATTRIBUTE, how % OF_ATTRIBUTE);
    return change_node(c, how - of_attributes);
}

static int changes(const node_case *c)
{
    return c->n_in * OF_INPUT + c->n_attributes * OF_ATTRIBUTE + OF_NODE;
}

void node_case_damage(const node_case *c, void (*with)(const node_case *c, void *context),
                      void *context)
{
    uint32_t seed = 1;
    for (int i = 0; i < changes(c); i++) {
        node_case d = *c;
        if (change(&d, i)) with(&d, context);
    }
    for (int i = 0; i < PAIRS; i++) {
        node_case d = *c;
        bool      both = true;
        for (int k = 0; k < 2; k++) {
            seed = seed * 1664525 + 1013904223;
            both = both && change(&d, (int)((seed >> 8) % (unsigned)changes(&d)));
        }
        if (both) with(&d, context);
    }
}
