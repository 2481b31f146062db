/* formula.c -- expressions that are written as nodes; part.h has their grammar. They are constants
 * of the rules, so an error in one is a defect, which the tests of all rows find. */
#include "writer.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INPUTS = 8, MOST_DEPTH = 40, LONGEST_WORD = 40 };

typedef struct formula {
    onnx_part  *part;
    eddy_dtype  dtype;              /* of numbers and of real() */
    const char *at;
    const char *in[26];
    int         depth;
} formula;

static const char *expression(formula *f);

static const char *broken(formula *f)
{
    eddy__part_missing(f->part, "the formula of this operation is broken at '%.20s'", f->at);
    f->at = "";
    return "";
}

static void skip_blanks(formula *f)
{
    while (*f->at == ' ') f->at++;
}

static bool take(formula *f, char c)
{
    skip_blanks(f);
    if (*f->at != c) return false;
    f->at++;
    return true;
}

static void word(formula *f, char out[LONGEST_WORD])
{
    int n = 0;
    skip_blanks(f);
    while ((isalnum((unsigned char)*f->at) || *f->at == '_') && n < LONGEST_WORD - 1)
        out[n++] = *f->at++;
    out[n] = 0;
}

static const char *number(formula *f)
{
    char        *end;
    const double v = strtod(f->at, &end);
    if (end == f->at) return broken(f);
    f->at = end;
    if (*f->at != 'i') return eddy__part_number(f->part, f->dtype, v);
    f->at++;
    return eddy__part_number(f->part, EDDY_INT64, v);
}

/* #name: an attribute of Eddy's node. */
static double attribute(formula *f)
{
    char name[LONGEST_WORD];
    word(f, name);
    return eddy__part_float(f->part, name);
}

/* The type that a word in lower case casts to. */
static eddy_dtype cast_of(const formula *f, const char *w)
{
    if (strcmp(w, "real") == 0) return f->dtype;
    if (strcmp(w, "float") == 0) return EDDY_FLOAT32;
    if (strcmp(w, "double") == 0) return EDDY_FLOAT64;
    return eddy_dtype_named(w);
}

typedef struct binding {
    char    name[LONGEST_WORD];
    int64_t value;
} binding;

static int bindings(formula *f, binding out[4])
{
    int n = 0;
    while (n < 4 && *f->at && !take(f, ']')) {
        word(f, out[n].name);
        if (!take(f, '=')) broken(f);
        out[n].value = take(f, '#') ? (int64_t)attribute(f) : strtol(f->at, (char **)&f->at, 10);
        n++;
        take(f, ',');
    }
    return n;
}

static const char *call(formula *f, const char *op)
{
    binding     set[4];
    const char *in[MOST_INPUTS] = { 0 };
    const int   n_set = take(f, '[') ? bindings(f, set) : 0;
    int         n = 0;
    if (!take(f, '(')) return broken(f);
    while (n < MOST_INPUTS && *f->at && !take(f, ')')) {
        in[n++] = expression(f);
        take(f, ',');
    }
    onnx_call c = eddy__call(f->part, islower((unsigned char)*op) ? "Cast" : op, n, in);
    if (islower((unsigned char)*op))
        eddy__call_int(&c, "to", eddy__onnx_type_of(cast_of(f, op)));
    for (int i = 0; i < n_set; i++) eddy__call_int(&c, set[i].name, set[i].value);
    return eddy__call_end(&c);
}

/* @Name(x, y): an operation of Eddy's, by its formula or as a special function of float64. */
static const char *operation(formula *f)
{
    char        w[LONGEST_WORD];
    const char *in[3] = { "", "", "" };
    int         n = 0;
    word(f, w);
    if (!take(f, '(')) return broken(f);
    while (n < 3 && *f->at && !take(f, ')')) {
        in[n++] = expression(f);
        take(f, ',');
    }
    const onnx_row     *row = eddy__onnx_row(w);
    const onnx_special *special = eddy__onnx_special(w);
    const bool          has_formula = row && !row->rule;
    if (special && (f->dtype == EDDY_FLOAT64 || !has_formula))
        return special->write(f->part, in[0]);
    if (!has_formula) return broken(f);
    return eddy__part_formula(f->part, f->dtype, eddy__onnx_formula(row, f->dtype), in[0], in[1],
                              in[2]);
}

static const char *expression(formula *f)
{
    char        w[LONGEST_WORD];
    const char *y = "";
    skip_blanks(f);
    if (f->part->failed || f->part->writer->failed || f->depth >= MOST_DEPTH) return broken(f);
    f->depth++;
    if (take(f, '@')) y = operation(f);
    else if (take(f, '#')) y = eddy__part_number(f->part, f->dtype, attribute(f));
    else if (isdigit((unsigned char)*f->at) || *f->at == '-') y = number(f);
    else {
        word(f, w);
        if (w[0] == '_' && !w[1]) y = "";
        else if (islower((unsigned char)w[0]) && !w[1]) y = f->in[w[0] - 'a'];
        else y = call(f, w);
    }
    f->depth--;
    return y;
}

const char *eddy__part_formula(onnx_part *p, eddy_dtype d, const char *text, ...)
{
    formula f = { .part = p, .dtype = d, .at = text };
    int     n = 0;
    for (const char *c = text; *c; c++)
        if (islower((unsigned char)*c) && !isalnum((unsigned char)c[1]) && c[1] != '_' &&
            c[1] != '=' && (c == text || !(isalnum((unsigned char)c[-1]) || c[-1] == '_')) &&
            *c < 'u' && *c - 'a' >= n)
            n = *c - 'a' + 1;
    va_list args;
    va_start(args, text);
    for (int i = 0; i < n; i++) f.in[i] = va_arg(args, const char *);
    va_end(args);
    for (;;) {
        skip_blanks(&f);
        if (*f.at < 'u' || *f.at > 'z' || f.at[1] != '=') return expression(&f);
        const int step = *f.at - 'a';
        f.at += 2;
        f.in[step] = expression(&f);
        if (!take(&f, ';')) return broken(&f);
    }
}
