/* slice_notation.c -- indexing and slicing in Python's notation: eddy_index(x, "1:3, ..., ::-1,
 * newaxis, -1"). */
#include "ops/arrays/arrays.h"
#include "ops/short_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The text, the position reached, and the parsed entries. */
typedef struct reader {
    const char             *text, *at;
    const char             *trouble;      /* the error at `at`; or NULL */
    eddy_strided_slice_args args;
} reader;

static bool fail(reader *r, const char *trouble)
{
    if (!r->trouble) r->trouble = trouble;
    return false;
}

static void skip_blanks(reader *r)
{
    while (isspace((unsigned char)*r->at)) r->at++;
}

/* Whether the word is next; if so, consumes it. */
static bool reads(reader *r, const char *word)
{
    const size_t n = strlen(word);
    skip_blanks(r);
    if (strncmp(r->at, word, n) != 0) return false;
    r->at += n;
    return true;
}

/* Whether an integer is next; if so, consumes it. */
static bool reads_number(reader *r, int64_t *v)
{
    char *end;
    skip_blanks(r);
    const char *digits = r->at + (*r->at == '-' || *r->at == '+');
    if (!isdigit((unsigned char)*digits)) return false;
    errno = 0;
    const long long n = strtoll(r->at, &end, 10);
    if (errno != 0 || n == INT64_MIN) return fail(r, "the number is too large");
    r->at = end;
    *v = n;
    return true;
}

/* begin, begin:end, begin:end:step, where each part of a range may be omitted. */
static bool read_range(reader *r, int i, int64_t bit)
{
    eddy_strided_slice_args *a = &r->args;
    const bool begins = reads_number(r, &a->begin.at[i]);
    if (r->trouble) return false;
    if (!begins) a->begin_mask |= bit;
    if (!reads(r, ":")) {
        if (!begins) return fail(r, "expected a number, a range, ... or newaxis");
        a->shrink_axis_mask |= bit;
        return true;
    }
    if (!reads_number(r, &a->end.at[i])) a->end_mask |= bit;
    if (!r->trouble && reads(r, ":") && reads_number(r, &a->strides.at[i]) &&
        a->strides.at[i] == 0)
        return fail(r, "the step of a range must not be 0");
    return !r->trouble;
}

static bool read_entry(reader *r)
{
    eddy_strided_slice_args *a = &r->args;
    const int     i = a->begin.count;
    const int64_t bit = (int64_t)1 << i;
    skip_blanks(r);
    if (i == EDDY_MAX_RANK) return fail(r, "there are more than 8 entries");
    a->begin.count = a->end.count = a->strides.count = i + 1;
    a->strides.at[i] = 1;
    if (*r->at == '.') {
        if (a->ellipsis_mask) return fail(r, "there is an ellipsis already");
        if (!reads(r, "...")) return fail(r, "an ellipsis is three dots");
        a->ellipsis_mask = bit;
    } else if (reads(r, "newaxis")) {
        a->new_axis_mask |= bit;
    } else if (!read_range(r, i, bit)) {
        return false;
    }
    skip_blanks(r);
    return !*r->at || *r->at == ',' || fail(r, "expected a comma");
}

static bool read_text(reader *r)
{
    do
        if (!read_entry(r)) return false;
    while (reads(r, ",") && (skip_blanks(r), *r->at));
    return true;
}

/* The slice of x that the text describes; returns false after reporting an error if the text
 * cannot be parsed. */
static bool read_slice(eddy_tensor x, const char *text, eddy_strided_slice_args *out)
{
    reader r = { .text = text, .at = text, .args = { .x = x } };
    if (!eddy_is_valid(x)) {
        eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "index: input 0 is not a valid tensor");
        return false;
    }
    if (!text) {
        eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "index: no index string is given");
        return false;
    }
    if (!read_text(&r)) {
        eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "index: \"%.200s\": column %d: %s", text,
                  (int)(r.at - r.text) + 1, r.trouble);
        return false;
    }
    *out = r.args;
    return true;
}

/** y = x[text], with the text as between Python's brackets: slices, indices, new axes.
 *
 *  x     any element type and shape
 *  text  at most 8 entries, separated by commas:
 *          3  -1          a single index, counted from the end if negative; the dimension is
 *                         dropped
 *          1:3  :-1  ::2  begin:end:step, each of which may be omitted; a negative step
 *                         goes backwards, by default from the end
 *          ...            all dimensions that no other entry names; at most once
 *          newaxis        a new dimension of 1
 *        dimensions after the last entry are taken whole
 *
 *  eddy_index(image, "..., ::-1, :") flips an image horizontally, eddy_index(x, "-1") is the
 *  last row.  For indices computed at run time, use eddy_gather.
 *  Errors: EDDY_INVALID_ARGUMENT with the column at which the text cannot be parsed; as for
 *  eddy_strided_slice, which it builds.
 *  Gradient: dx = zeros like x with dy at the selected positions.
 *  TensorFlow: Tensor.__getitem__, StridedSlice. */
eddy_tensor eddy_index(eddy_tensor x, const char *text)
{
    eddy_strided_slice_args a;
    if (!read_slice(x, text, &a)) return eddy_none(x.graph);
    return eddy_strided_slice(x, a.begin, a.end, a.strides, a.begin_mask, a.end_mask,
                              a.ellipsis_mask, a.new_axis_mask, a.shrink_axis_mask);
}

/** var[text] = value; y = the variable's new value.
 *
 *  var    a variable
 *  text   as for eddy_index
 *  value  same type as var, with the shape of the slice
 *
 *  eddy_index_assign(v, "-1, 1:", row) changes a part of the last row.
 *  Errors: those of eddy_index and eddy_strided_slice_assign, which it builds.
 *  Gradient: none.  TensorFlow: var[...].assign, StridedSliceAssign. */
eddy_tensor eddy_index_assign(eddy_tensor var, const char *text, eddy_tensor value)
{
    eddy_strided_slice_args a;
    if (!read_slice(var, text, &a)) return eddy_none(var.graph);
    return eddy_strided_slice_assign(var, value, a.begin, a.end, a.strides, a.begin_mask,
                                     a.end_mask, a.ellipsis_mask, a.new_axis_mask,
                                     a.shrink_axis_mask);
}
