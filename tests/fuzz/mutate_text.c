/* mutate_text.c -- changes of JSON, YAML and literals of Python: words and numbers become other
 * ones, and items of lists are left out, doubled and moved. */
#include "tests/fuzz/mutate.h"

#include <string.h>

typedef struct part {
    size_t begin, end;
} part;

enum { WORD = 64 };

static bool is_inside(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c > 0 && strchr("_.+-/?~\\<>|", c));
}

static bool is_number(const mutation *m, part w)
{
    const uint8_t *p = m->at + w.begin + (w.end - w.begin > 1 && m->at[w.begin] == '-');
    return w.end > w.begin && *p >= '0' && *p <= '9';
}

static part some_word(mutation *m)
{
    part w = { draw(m, m->size), 0 };
    while (w.begin < m->size && !is_inside(m->at[w.begin])) w.begin++;
    for (w.end = w.begin; w.end < m->size && is_inside(m->at[w.end]);) w.end++;
    while (w.begin > 0 && is_inside(m->at[w.begin - 1])) w.begin--;
    return w;
}

/* Another word of the text of the same kind, one of m->words, or a number at some limit; its
 * size. */
static size_t other_word(mutation *m, part w, char *out)
{
    static const char *const edges[] = {
        "0", "1", "-1", "2", "3", "-2", "8", "9", "255", "65536", "2147483647", "-2147483648",
        "4294967296", "9223372036854775807", "-9223372036854775808", "18446744073709551616",
        "1e308", "-0", "?",
    };
    const bool  number = is_number(m, w);
    const char *text = edges[draw(m, sizeof edges / sizeof *edges)];
    for (int i = 0; i < 20 && draw(m, 3) > 0; i++) {
        const part v = some_word(m);
        if (is_number(m, v) != number || v.end == v.begin || v.end - v.begin >= WORD) continue;
        memcpy(out, m->at + v.begin, v.end - v.begin);
        return v.end - v.begin;
    }
    if (!number && m->words) {
        size_t n = 0;
        while (m->words[n]) n++;
        text = m->words[draw(m, n)];
    }
    memcpy(out, text, strlen(text));
    return strlen(text);
}

/* The same everywhere: a size is then changed in all types that have it. */
static void put_everywhere(mutation *m, part w, const char *out, size_t n)
{
    char         old[WORD];
    const size_t size = w.end - w.begin;
    if (size >= sizeof old) return;
    memcpy(old, m->at + w.begin, size);
    for (size_t i = 0; i + size <= m->size;) {
        const bool same = memcmp(m->at + i, old, size) == 0 &&
                          (i == 0 || !is_inside(m->at[i - 1])) &&
                          (i + size == m->size || !is_inside(m->at[i + size]));
        if (same && splice(m, i, i + size, out, n)) i += n;
        else i++;
    }
}

static void change_word(mutation *m)
{
    char       out[WORD];
    const bool number = draw(m, 4) > 0;         /* names are longer, not better */
    part       w = some_word(m);
    for (int k = 0; k < 50 && (w.end == w.begin || is_number(m, w) != number); k++)
        w = some_word(m);
    if (w.end == w.begin) return;
    const size_t n = other_word(m, w, out);
    if (draw(m, 4) == 0) put_everywhere(m, w, out, n);
    else splice(m, w.begin, w.end, out, n);
}

/* The end of the item that begins there: a comma, a closing bracket, or the end of the text. */
static size_t item_end(const mutation *m, size_t at)
{
    int  depth = 0;
    bool text = false;
    for (; at < m->size; at++) {
        const uint8_t c = m->at[at];
        if (text && c == '\\') at++;
        else if (c == '"' || c == '\'') text = !text;
        else if (text) continue;
        else if (strchr("[{(", c) && c) depth++;
        else if (strchr("]})", c) && c && depth-- == 0) break;
        else if (c == ',' && depth == 0) break;
    }
    return at < m->size ? at : m->size;
}

/* An item behind a bracket or a comma; an empty one if there is none. */
static part some_item(mutation *m)
{
    size_t at = draw(m, m->size);
    for (size_t tries = 0; tries < m->size; tries++, at = at + 1 < m->size ? at + 1 : 0)
        if (m->at[at] && strchr("[{(,", m->at[at])) return (part){ at + 1, item_end(m, at + 1) };
    return (part){ 0, 0 };
}

static void change_item(mutation *m)
{
    uint8_t      copy[1024];
    const part   a = some_item(m);
    const size_t size = a.end - a.begin;
    if (a.end == 0 || size >= sizeof copy) return;
    memcpy(copy, m->at + a.begin, size);
    const unsigned how = draw(m, 4);
    if (how == 0) {                                         /* none, with the comma behind it */
        splice(m, a.begin, a.end + (a.end < m->size && m->at[a.end] == ','), NULL, 0);
    } else if (how == 1) {                                  /* two */
        copy[size] = ',';
        splice(m, a.begin, a.begin, copy, size + 1);
    } else { /* in the place of another, or before it */
        const part b = some_item(m);
        copy[size] = ',';
        if (how == 2) splice(m, b.begin, b.end, copy, size);
        else splice(m, b.begin, b.begin, copy, size + 1);
    }
}

void mutate_words(mutation *m)
{
    for (unsigned i = draw(m, 3); i < 3 && m->size > 0; i++) change_word(m);
}

void mutate_text(mutation *m)
{
    for (unsigned i = draw(m, 3); i < 3 && m->size > 0; i++) {
        if (draw(m, 3) == 0) change_item(m);
        else change_word(m);
    }
}
