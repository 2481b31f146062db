/* einsum_parse.c -- parser for the equation of eddy_einsum: "bij,bjk->bik". */
#include "ops/linear/einsum.h"

#include <string.h>

/* The state of the parser: its position, and counts of the letters read so far. */
typedef struct reader {
    const char *equation, *at;
    eddy_graph *graph;
    int         seen[EDDY_ELLIPSIS_LABEL];     /* occurrences in all inputs */
    int         ellipsis;                      /* axes of the longest ellipsis; -1: there is none */
} reader;

static bool refuse(const reader *r, eddy_status s, int term, const char *why)
{
    eddy_fail(r->graph, s, "einsum: '%.200s': term %d %s", r->equation, term, why);
    return false;
}

static int label_of(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    return -1;
}

static char next(reader *r)
{
    while (*r->at == ' ') r->at++;
    return *r->at;
}

static bool is_ellipsis(reader *r)
{
    if (next(r) != '.' || strncmp(r->at, "...", 3) != 0) return false;
    r->at += 3;
    return true;
}

/* Reads a term up to a comma, the arrow or the end: its letters, and the index of the letter
 * after the ellipsis; -1 if there is none. */
static bool read_term(reader *r, int number, eddy_axes_of *t, int *ellipsis)
{
    t->n = 0;
    *ellipsis = -1;
    for (char c = next(r); c && c != ',' && c != '-'; c = next(r)) {
        if (is_ellipsis(r)) {
            if (*ellipsis >= 0)
                return refuse(r, EDDY_INVALID_ARGUMENT, number, "has two ellipses");
            *ellipsis = t->n;
            continue;
        }
        if (label_of(c) < 0)
            return refuse(r, EDDY_INVALID_ARGUMENT, number,
                          "has a character that is neither a letter nor part of an ellipsis");
        if (t->n == EDDY_MAX_RANK)
            return refuse(r, EDDY_LIMIT, number, "has more than 8 labels");
        t->label[t->n++] = label_of(c);
        r->at++;
    }
    return true;
}

/* Inserts the labels of `count` axes of an ellipsis before label `place`. */
static bool put_ellipsis(reader *r, int number, eddy_axes_of *t, int place, int count)
{
    if (place < 0) return true;
    if (t->n + count > EDDY_MAX_RANK)
        return refuse(r, EDDY_LIMIT, number, "has more than 8 labels with its ellipsis");
    memmove(t->label + place + count, t->label + place, (size_t)(t->n - place) * sizeof *t->label);
    for (int i = 0; i < count; i++) t->label[place + i] = EDDY_ELLIPSIS_LABEL + count - 1 - i;
    t->n += count;
    return true;
}

static bool read_input(reader *r, int number, eddy_tensor x, eddy_axes_of *t)
{
    const int rank = eddy_shape_of(x).rank;
    int place;
    if (!read_term(r, number, t, &place)) return false;
    const int more = rank - t->n;
    if (place >= 0 && rank < 0)
        return refuse(r, EDDY_BAD_SHAPE, number,
                      "has an ellipsis, but the rank of its tensor is unknown");
    if (rank >= 0 && (place >= 0 ? more < 0 : more != 0))
        return refuse(r, EDDY_BAD_SHAPE, number, "does not have one label per axis");
    for (int i = 0; i < t->n; i++) r->seen[t->label[i]]++;
    if (place >= 0 && more > r->ellipsis) r->ellipsis = more;
    return put_ellipsis(r, number, t, place, more);
}

/* The result without an arrow: the ellipsis, and the letters that occur once. */
static bool implied(reader *r, int number, eddy_axes_of *out)
{
    out->n = 0;
    for (int label = 0; label < EDDY_ELLIPSIS_LABEL; label++) {
        if (r->seen[label] != 1) continue;
        if (out->n == EDDY_MAX_RANK)
            return refuse(r, EDDY_LIMIT, number, "has more than 8 labels");
        out->label[out->n++] = label;
    }
    return put_ellipsis(r, number, out, r->ellipsis < 0 ? -1 : 0, r->ellipsis);
}

static bool read_output(reader *r, int number, eddy_axes_of *out)
{
    bool used[EDDY_ELLIPSIS_LABEL] = { false };
    int  place;
    if (!read_term(r, number, out, &place)) return false;
    if (*r->at)
        return refuse(r, EDDY_INVALID_ARGUMENT, number, "is the last, but more text follows");
    for (int i = 0; i < out->n; i++) {
        if (r->seen[out->label[i]] == 0)
            return refuse(r, EDDY_INVALID_ARGUMENT, number,
                          "has a label that no input has");
        if (used[out->label[i]])
            return refuse(r, EDDY_INVALID_ARGUMENT, number, "has a label twice");
        used[out->label[i]] = true;
    }
    if (place < 0 && r->ellipsis > 0)
        return refuse(r, EDDY_INVALID_ARGUMENT, number, "lacks the ellipsis of an input");
    return put_ellipsis(r, number, out, place, r->ellipsis < 0 ? 0 : r->ellipsis);
}

bool eddy__einsum_parse(const char *equation, eddy_list tensors, eddy_axes_of *out)
{
    reader r = { .equation = equation, .at = equation, .graph = tensors.at[0].graph,
                 .ellipsis = -1 };
    for (int i = 0; i < tensors.count; i++) {
        if (i > 0 && next(&r) != ',')
            return refuse(&r, EDDY_INVALID_ARGUMENT, i, "is missing");
        if (i > 0) r.at++;
        if (!read_input(&r, i, tensors.at[i], &out[i])) return false;
    }
    if (!next(&r)) return implied(&r, tensors.count, &out[tensors.count]);
    if (strncmp(r.at, "->", 2) != 0)
        return refuse(&r, EDDY_INVALID_ARGUMENT, tensors.count, "belongs to no input");
    r.at += 2;
    return read_output(&r, tensors.count, &out[tensors.count]);
}
