/* parser.c -- see parser.h. */
#include "parser.h"

void *eddy__parse_take(parser *p, size_t count, size_t size)
{
    void *at = eddy__region_take(p->memory, count, size);
    if (!at) p->bad = true;
    return at;
}

void eddy__parse_damaged(parser *p, const uint8_t *at)
{
    if (!p->bad) p->at = at;
    p->bad = true;
}

bool eddy__parse_next(parser *p, wire *w, wire_field *f)
{
    if (p->bad) return false;
    if (eddy__wire_next(w, f)) return true;
    if (w->bad) eddy__parse_damaged(p, w->at);
    return false;
}

const char *eddy__parse_string(parser *p, const wire_field *f)
{
    if (f->type != WIRE_BYTES) eddy__parse_damaged(p, f->at);
    const char *s = eddy__region_text(p->memory, f->bytes);
    if (!s) p->bad = true;
    return s ? s : "";
}

const char **eddy__parse_strings(parser *p, wire w, uint32_t number, size_t *count)
{
    *count = 0;
    const char **all = eddy__parse_take(p, eddy__wire_count(w, number), sizeof *all);
    wire_field   f;
    while (eddy__parse_next(p, &w, &f))
        if (f.number == number) all[(*count)++] = eddy__parse_string(p, &f);
    return all;
}

wire_numbers eddy__parse_numbers_in_place(parser *p, wire w, uint32_t number, wire_type as_type,
                                          size_t *count)
{
    const wire_numbers all = { .left = w, .field = number, .as = as_type };
    wire_numbers       n = all;
    uint64_t           value;
    for (*count = 0; eddy__wire_next_number(&n, &value);) *count += 1 + eddy__wire_skip_packed(&n);
    if (n.damaged) eddy__parse_damaged(p, n.damaged);
    return all;
}

uint64_t *eddy__parse_numbers(parser *p, wire w, uint32_t number, wire_type as_type, size_t *count)
{
    wire_numbers n = eddy__parse_numbers_in_place(p, w, number, as_type, count);
    uint64_t    *all = eddy__parse_take(p, *count, sizeof *all);
    for (size_t i = 0; all && i < *count; i++) eddy__wire_next_number(&n, &all[i]);
    return all;
}
