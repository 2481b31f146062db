/* csv_field.c -- see csv.h: the syntax of RFC 4180, numbers, and words. */
#include "csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool ends_row(const scanner *s)
{
    const char c = (char)s->f->bytes[s->at];         /* a zero at the end */
    return s->at == s->f->size || c == '\n' ||
           (c == '\r' && (s->at + 1 == s->f->size || s->f->bytes[s->at + 1] == '\n'));
}

/* A zero would end the text early. */
static bool end_field(scanner *s)
{
    s->text[s->length] = 0;
    if (memchr(s->text, 0, s->length)) return eddy__file_damaged(s->f, s->begin, "a zero byte");
    s->last = ends_row(s);
    if (s->at < s->f->size && s->f->bytes[s->at] == '\r') s->at++;
    if (s->at < s->f->size) s->at++;
    return true;
}

/* Appends a character, and leaves room for a zero. */
static inline bool append(scanner *s, uint8_t c)
{
    if (s->length + 1 >= s->room) {
        const size_t room = 2 * s->room + 64;
        char        *more = realloc(s->text, room);
        if (!more)
            return eddy__input_fail(s->f->error, EDDY_NO_MEMORY, "%.800s: out of memory",
                                    s->f->path);
        s->text = more;
        s->room = room;
    }
    s->text[s->length++] = (char)c;
    return true;
}

static bool quoted(scanner *s)
{
    const uint8_t *p = s->f->bytes;
    for (s->at++; s->at < s->f->size; s->at++) {
        if (p[s->at] == '"' && p[s->at + 1] != '"') break;
        if (p[s->at] == '"') s->at++;
        if (!append(s, p[s->at])) return false;
    }
    if (s->at == s->f->size) return eddy__file_damaged(s->f, s->begin, "the quote does not end");
    s->at++;
    if (!ends_row(s) && (char)p[s->at] != s->separator)
        return eddy__file_damaged(s->f, s->at, "text behind the end of a quote");
    return end_field(s);
}

bool eddy__csv_field(scanner *s)
{
    s->length = 0;
    s->begin = s->at;
    s->quoted = false;
    if (s->at == s->f->size && (s->at == 0 || s->last)) return false;
    if (s->f->bytes[s->at] == '"') {
        s->quoted = true;
        return quoted(s);
    }
    while (!ends_row(s) && (char)s->f->bytes[s->at] != s->separator)
        if (!append(s, s->f->bytes[s->at++])) return false;
    return end_field(s);
}

/* --------------------------------------------------------------- numbers -- */

/* Whether a number that ends there is all of the text. */
static bool is_whole(const char *text, const char *end)
{
    if (end == text) return false;
    while (*end == ' ') end++;
    return *end == 0;
}

bool eddy__csv_int64(const char *text, int64_t *v)
{
    char *end;
    errno = 0;
    *v = strtoll(text, &end, 10);
    return errno == 0 && is_whole(text, end);
}

bool eddy__csv_float64(const char *text, double *v)
{
    char *end;
    *v = strtod(text, &end);
    return is_whole(text, end);
}

bool eddy__csv_float32(const char *text, float *v)
{
    char *end;
    *v = strtof(text, &end);
    return is_whole(text, end);
}

/* ----------------------------------------------------------------- words -- */

static uint32_t hash(const char *text, size_t n)
{
    uint64_t h = 14695981039346656037u;              /* FNV-1a */
    for (size_t i = 0; i < n; i++) h = (h ^ (uint8_t)text[i]) * 1099511628211u;
    return (uint32_t)(h ^ h >> 32);
}

/* The place of a word, or the free place where it would be. */
static int32_t place_of(const words *w, const char *text, size_t n)
{
    const uint32_t mask = (uint32_t)w->places - 1;
    uint32_t       at = hash(text, n) & mask;
    for (; w->table[at] != 0; at = (at + 1) & mask) {
        const char *word = w->bytes + w->begin[w->table[at] - 1];
        if (strlen(word) == n && memcmp(word, text, n) == 0) break;
    }
    return (int32_t)at;
}

static bool grow_table(words *w)
{
    const int32_t places = w->places ? 2 * w->places : 64;
    int32_t      *table = calloc((size_t)places, sizeof *table);
    if (!table) return false;
    free(w->table);
    w->table = table;
    w->places = places;
    for (int32_t i = 0; i < w->n; i++) {
        const char *word = w->bytes + w->begin[i];
        w->table[place_of(w, word, strlen(word))] = i + 1;
    }
    return true;
}

static bool grow(words *w, size_t n)
{
    if (w->length + n + 1 > w->room) {
        const size_t room = 2 * (w->length + n + 1);
        char        *more = realloc(w->bytes, room);
        if (!more) return false;
        w->bytes = more;
        w->room = room;
    }
    if (w->n == w->n_room) {
        const int32_t room = w->n_room ? 2 * w->n_room : 32;
        size_t       *more = realloc(w->begin, (size_t)room * sizeof *more);
        if (!more) return false;
        w->begin = more;
        w->n_room = room;
    }
    if (w->n == 1 << 29) return false;   /* unreached: so many words take gigabytes */
    return 2 * w->n < w->places || grow_table(w);
}

int32_t eddy__words_number(words *w, const char *text, size_t n)
{
    if (!w->places && !grow_table(w)) return -1;
    int32_t at = place_of(w, text, n);
    if (w->table[at]) return w->table[at] - 1;
    if (!grow(w, n)) return -1;
    at = place_of(w, text, n);
    w->begin[w->n] = w->length;
    memcpy(w->bytes + w->length, text, n);
    w->bytes[w->length + n] = 0;
    w->length += n + 1;
    w->table[at] = ++w->n;
    return w->n - 1;
}

void eddy__words_free(words *w)
{
    free(w->bytes);
    free(w->begin);
    free(w->table);
}
