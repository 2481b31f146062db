/* diff.c -- eddy diff: what differs between two models or checkpoints. */
#include "command/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double tolerance = 0;
static const char *tolerance_text = NULL;
static bool        quiet = false;

static const option_row options[] = {
    { "tolerance", 't', OPTION_TEXT, "NUMBER", &tolerance_text,
      "elements that are this close are equal" },
    { "quiet", 'q', OPTION_FLAG, NULL, &quiet, "print nothing; only the exit status" },
    { NULL, 0, OPTION_END, NULL, NULL, NULL },
};

/* ------------------------------------------------------------------ findings -- */

static int differences = 0;

void difference(const char *kind, const char *name, const char *was, const char *is)
{
    differences++;
    if (quiet) return;
    if (as_json) {
        json_open(NULL, '{');
        json_text("difference", kind);
        json_text("name", name);
        if (was && *was) json_text("first", was);
        if (is) json_text("second", is);
        json_close('}');
    } else if (was && !*was) printf("~ %s: %s: %s\n", name, kind, is);
    else if (was && is) printf("~ %s: %s: %s -> %s\n", name, kind, was, is);
    else printf("%s %s: %s\n", was ? "-" : "+", name, was ? was : is);
}

const char *arrays_differ(const eddy_array *a, const eddy_array *b)
{
    const eddy_dtype d = eddy_array_dtype(a);
    double           largest = 0;
    int64_t          at = -1, changed = 0;
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const double x = eddy_array_get(a, i), y = eddy_array_get(b, i);
        double       by = x == y || (isnan(x) && isnan(y)) ? 0 : fabs(x - y);
        if (eddy_dtype_is_complex(d))
            by = hypot(by, eddy_array_get_imag(a, i) - eddy_array_get_imag(b, i));
        if (by <= tolerance) continue;
        changed++;
        if (at >= 0 && by <= largest) continue;
        largest = by;
        at = i;
    }
    if (changed == 0) return NULL;
    return text("%s of %s elements, the largest difference is %.3g, of element %s (%.6g and %.6g)",
                whole_text(changed), whole_text(eddy_array_count(a)), largest, whole_text(at),
                eddy_array_get(a, at), eddy_array_get(b, at));
}

/* --------------------------------------------------------------- checkpoints -- */

static bool diff_values(const eddy_checkpoint *a, const eddy_checkpoint *b, const char *name,
                        const char *path_a, const char *path_b)
{
    eddy_error  e = { 0 };
    eddy_array *x = eddy_checkpoint_value(a, name, &e);
    if (!x) return fail_error(path_a, e.message) == SUCCESS;
    eddy_array *y = eddy_checkpoint_value(b, name, &e);
    const char *how = y ? arrays_differ(x, y) : NULL;
    if (!y) fail_error(path_b, e.message);
    if (how) difference("values", name, "", how);
    eddy_array_free(x);
    eddy_array_free(y);
    return y != NULL;
}

static const char *entry_text(const eddy_checkpoint_entry *e)
{
    return e->dtype == EDDY_DEFAULT_DTYPE ? e->element : type_text(e->dtype, e->shape);
}

static bool diff_tensors(const model *a, const model *b)
{
    for (int i = 0; i < eddy_checkpoint_count(a->tensors); i++) {
        const eddy_checkpoint_entry x = eddy_checkpoint_entry_at(a->tensors, i);
        const int                   at = eddy_checkpoint_find(b->tensors, x.name);
        const eddy_checkpoint_entry y = eddy_checkpoint_entry_at(b->tensors, at);
        if (at < 0) difference("removed", x.name, entry_text(&x), NULL);
        else if (x.dtype != y.dtype || !eddy_shape_equal(x.shape, y.shape))
            difference("type", x.name, entry_text(&x), entry_text(&y));
        else if (x.dtype != EDDY_DEFAULT_DTYPE &&
                 !diff_values(a->tensors, b->tensors, x.name, a->path, b->path))
            return false;
    }
    for (int i = 0; i < eddy_checkpoint_count(b->tensors); i++) {
        const eddy_checkpoint_entry y = eddy_checkpoint_entry_at(b->tensors, i);
        if (eddy_checkpoint_find(a->tensors, y.name) < 0)
            difference("added", y.name, NULL, entry_text(&y));
    }
    return true;
}

/* ------------------------------------------------------------------- command -- */

static int compare(const model *a, const model *b)
{
    if (!a->graph != !b->graph)
        return fail(NULL, "%s (%s) and %s (%s) cannot be compared", a->path, kind_name(a->kind),
                    b->path, kind_name(b->kind));
    if (as_json && !quiet) json_open(NULL, '[');
    const bool fine = a->graph ? (diff_graphs(a, b), true) : diff_tensors(a, b);
    if (as_json && !quiet) json_close(']');
    return !fine ? TROUBLE : differences > 0 ? ANSWER_NO : SUCCESS;
}

static int run(char **operands, int count)
{
    (void)count;
    model a = { 0 }, b = { 0 };
    char *end = NULL;
    if (tolerance_text) tolerance = strtod(tolerance_text, &end);
    if (tolerance_text && (end == tolerance_text || *end || !(tolerance >= 0)))
        return fail(NULL, "--tolerance takes a number of at least 0, not '%s'", tolerance_text);
    const bool fine = model_open(&a, operands[0], false) && model_open(&b, operands[1], false);
    const int  status = fine ? compare(&a, &b) : TROUBLE;
    model_close(&a);
    model_close(&b);
    return status;
}

const command command_diff = {
    "diff", "FILE FILE", "Compare two models or two checkpoints", 2, 2, options, run,
};
