/* json.c -- the parts of JSON text: strings, decoded where they stand, numbers, and values that are
 * skipped. */
#include "graph/files/json.h"

#include <string.h>

bool eddy__json_expect(tokens *p, char c)
{
    char what[] = "expected '?'";
    what[sizeof what - 3] = c;
    return accept_char(p, c) || damaged(p, what);
}

bool eddy__json_next(tokens *p, char close, bool *ok)
{
    if (accept_char(p, close)) return false;
    *ok = eddy__json_expect(p, ',');
    return *ok;
}

/* Four hexadecimal digits; -1 if they are not there. */
static int32_t hex4(tokens *p)
{
    int32_t v = 0;
    if (p->end - p->at < 4) return -1;
    for (int i = 0; i < 4; i++, p->at++) {
        char c = *p->at;
        int  digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                   : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) return -1;
        v = v << 4 | digit;
    }
    return v;
}

/* Behind "\u": one character, which may take a second escape. */
static bool read_unicode(tokens *p, uint32_t *out)
{
    int32_t high = hex4(p), low;
    if (high < 0) return damaged(p, "expected four hexadecimal digits");
    *out = (uint32_t)high;
    if (high < 0xD800 || high > 0xDFFF) return true;
    if (high > 0xDBFF || p->end - p->at < 2 || p->at[0] != '\\' || p->at[1] != 'u')
        return damaged(p, "unpaired surrogate");
    p->at += 2;
    low = hex4(p);
    if (low < 0xDC00 || low > 0xDFFF) return damaged(p, "unpaired surrogate");
    *out = 0x10000 + ((uint32_t)(high - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
    return true;
}

/* Behind a backslash, which the end of the string follows. */
static bool read_escape(tokens *p, uint32_t *out)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *which = memchr(names, *p->at, sizeof names - 1);
    if (*p->at == 'u') {
        p->at++;
        return read_unicode(p, out);
    }
    if (!which) return damaged(p, "unknown escape sequence");
    p->at++;
    *out = (unsigned char)values[which - names];
    return true;
}

/* True if a quotation mark ends the string that begins at p->at. */
static bool string_ends(const tokens *p)
{
    for (const char *c = p->at; c < p->end; c++) {
        if (*c == '"') return true;
        if (*c == '\\') c++;
    }
    return false;
}

bool eddy__json_string(tokens *p, json_text *out)
{
    if (!eddy__json_expect(p, '"')) return false;
    if (!string_ends(p)) return damaged(p, "unterminated string");
    char *to = p->at;
    *out = (json_text){ to, 0 };
    while (*p->at != '"') {
        uint32_t c = 0;
        if ((unsigned char)*p->at < 0x20) return damaged(p, "control character in a string");
        if (*p->at != '\\') {
            to[out->length++] = *p->at++;
            continue;
        }
        p->at++;
        if (!read_escape(p, &c)) return false;
        out->length += eddy__utf8_put(c, to + out->length);
    }
    to[out->length] = 0;
    p->at++;
    return true;
}

bool eddy__json_natural(tokens *p, int64_t *out)
{
    size_t digits;
    skip_space(p);
    char *first = p->at;
    if (!take_natural(p, out, &digits)) return damaged(p, "a number is too large");
    if (digits == 0) return damaged(p, "expected a non-negative integer");
    if (*first != '0' || digits == 1) return true;
    p->at = first;
    return damaged(p, "a number has a leading zero");
}

/* ------------------------------------------------------------- skipping -- */

static bool skip_word(tokens *p)
{
    const char *first = p->at;
    while (p->at < p->end && (strchr("+-.", *p->at) || (*p->at >= '0' && *p->at <= '9') ||
                              (*p->at >= 'a' && *p->at <= 'z') || *p->at == 'E'))
        p->at++;
    return p->at > first || damaged(p, "expected a value");
}

static bool skip_at(tokens *p, int depth)
{
    const bool object = accept_char(p, '{');
    const char close = object ? '}' : ']';
    json_text  text;
    bool       ok = true;
    if (depth == EDDY_JSON_DEPTH) return damaged(p, "values are nested too deep");
    if (!object && !accept_char(p, '[')) {
        skip_space(p);
        return p->at < p->end && *p->at == '"' ? eddy__json_string(p, &text) : skip_word(p);
    }
    if (accept_char(p, close)) return true;
    do {
        if (object && (!eddy__json_string(p, &text) || !eddy__json_expect(p, ':'))) return false;
        if (!skip_at(p, depth + 1)) return false;
    } while (eddy__json_next(p, close, &ok));
    return ok;
}

bool eddy__json_skip(tokens *p) { return skip_at(p, 0); }

/* -------------------------------------------------------------- writing -- */

void eddy__json_put(eddy_text *t, const char *s)
{
    eddy__text_add(t, "\"", 1);
    for (const char *c = s; *c; c++) {
        if (*c == '"' || *c == '\\') eddy__text_put(t, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            eddy__text_put(t, "\\u%04x", (unsigned)(unsigned char)*c);
        else eddy__text_add(t, c, 1);
    }
    eddy__text_add(t, "\"", 1);
}
