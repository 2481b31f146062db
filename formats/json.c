/* json.c -- see json.h. */
#include "json.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct json_parser {
    region        *memory;
    const uint8_t *start, *at, *end;
    int            depth;
} json_parser;

static void space(json_parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r'))
        p->at++;
}

static bool accept(json_parser *p, char c)
{
    space(p);
    const bool is = p->at < p->end && *p->at == (uint8_t)c;
    if (is) p->at++;
    return is;
}

static bool word(json_parser *p, const char *s)
{
    const size_t n = strlen(s);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, s, n) != 0) return false;
    p->at += n;
    return true;
}

/* ----------------------------------------------------------------- strings -- */

static bool hex4(json_parser *p, uint32_t *code)
{
    *code = 0;
    if (p->end - p->at < 4) return false;
    for (int i = 0; i < 4; i++) {
        const int c = *p->at++;
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) return false;
        *code = *code * 16 + (uint32_t)digit;
    }
    return true;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *to++ = (char)((0xff00 >> (more + 1) & 0xff) | (c >> (6 * more)));
    for (int i = more - 1; i >= 0; i--) *to++ = (char)(0x80 | (c >> (6 * i) & 0x3f));
    return to;
}

/* The character after a backslash, which is never the last one of a string. */
static bool escape(json_parser *p, char **to)
{
    static const char from[] = "\"\\/bfnrt", is[] = "\"\\/\b\f\n\r\t";
    const char  c = (char)*p->at++;
    const char *one = c ? strchr(from, c) : NULL;
    uint32_t    code, low;
    if (one) {
        *(*to)++ = is[one - from];
        return true;
    }
    if (c != 'u' || !hex4(p, &code) || (code >= 0xdc00 && code <= 0xdfff)) return false;
    if (code >= 0xd800 && code < 0xdc00) {
        if (!word(p, "\\u") || !hex4(p, &low) || low < 0xdc00 || low > 0xdfff) return false;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    *to = put_utf8(*to, code);
    return true;
}

/* After the quotation mark. The decoded text is never longer than that in the file. */
static bool string(json_parser *p, wire_bytes *out)
{
    const size_t left = (size_t)(p->end - p->at);
    size_t       n = 0;
    while (n < left && p->at[n] != '"') n += p->at[n] == '\\' ? 2 : 1;
    if (n >= left) return false;
    const uint8_t *end = p->at + n;
    char          *text = eddy__region_take(p->memory, n + 1, 1), *to = text;
    if (!text) return false;
    while (p->at < end) {
        const uint8_t c = *p->at++;
        if (c < 0x20 || (c == '\\' && !escape(p, &to))) return false;
        if (c != '\\') *to++ = (char)c;
    }
    p->at = end + 1;
    *out = (wire_bytes){ (const uint8_t *)text, (size_t)(to - text) };
    return true;
}

/* ------------------------------------------------------------------ values -- */

static void set_number(json *v, double x)
{
    v->number = x;
    v->integer = x >= 9223372036854775807.0 ? INT64_MAX : x <= -9223372036854775808.0 ? INT64_MIN
               : isnan(x) ? 0 : (int64_t)x;
}

/* Integers up to 2^63 are exact; infinities and NaN as TensorFlow.js writes them. */
static bool number(json_parser *p, json *v)
{
    char   text[64];
    size_t n = 0;
    v->kind = JSON_NUMBER;
    if (word(p, "NaN")) return set_number(v, NAN), true;
    if (word(p, "Infinity")) return set_number(v, INFINITY), true;
    if (word(p, "-Infinity")) return set_number(v, -INFINITY), true;
    while (p->at < p->end && n < sizeof text - 1 && *p->at && strchr("+-.0123456789eE", *p->at))
        text[n++] = (char)*p->at++;
    text[n] = 0;
    char       *end = text;
    const char *digits = text + (text[0] == '-');
    if (*digits < '0' || *digits > '9') return false;
    set_number(v, strtod(text, &end));
    if (strspn(digits, "0123456789") == strlen(digits)) v->integer = strtoll(text, NULL, 10);
    return *end == 0;
}

static bool value(json_parser *p, json *v);

/* The items up to the closing bracket. */
static bool items(json_parser *p, json *v, char close)
{
    json **last = &v->items;
    if (accept(p, close)) return true;
    do {
        json *item = eddy__region_take(p->memory, 1, sizeof *item);
        if (!item) return false;
        item->key = "";
        if (v->kind == JSON_OBJECT) {
            wire_bytes key;
            if (!accept(p, '"') || !string(p, &key) || !accept(p, ':')) return false;
            item->key = (const char *)key.at;
        }
        if (!value(p, item)) return false;
        *last = item;
        last = &item->next;
        v->count++;
    } while (accept(p, ','));
    return accept(p, close);
}

static bool value(json_parser *p, json *v)
{
    space(p);
    v->offset = (size_t)(p->at - p->start);
    if (p->at == p->end) return false;
    const char c = (char)*p->at;
    if (c == '{' || c == '[') {
        p->at++;
        v->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        if (++p->depth > JSON_MAX_DEPTH || !items(p, v, c == '{' ? '}' : ']')) return false;
        p->depth--;
        return true;
    }
    if (c == '"') {
        p->at++;
        v->kind = JSON_STRING;
        return string(p, &v->text);
    }
    if (word(p, "null")) return true;
    if (c == 't' || c == 'f') {
        v->kind = JSON_BOOL;
        set_number(v, c == 't');
        return word(p, c == 't' ? "true" : "false");
    }
    return number(p, v);
}

/* The decimal point of numbers is that of the locale "C". */
const json *eddy__json_parse(region *r, wire_bytes text, size_t *at)
{
    json_parser    p = { .memory = r, .start = text.at, .at = text.at, .end = text.at + text.size };
    json          *v = eddy__region_take(r, 1, sizeof *v);
    const locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    const locale_t before = c ? uselocale(c) : (locale_t)0;
    bool           ok = v && value(&p, v);
    if (c) {
        uselocale(before);
        freelocale(c);
    }
    space(&p);
    ok = ok && p.at == p.end;
    *at = (size_t)(p.at - p.start);
    if (v) v->key = "";
    return ok ? v : NULL;
}

/* ------------------------------------------------------------------ access -- */

const json *eddy__json_get(const json *o, const char *key)
{
    const json *found = NULL;
    if (!o || o->kind != JSON_OBJECT) return NULL;
    for (const json *i = o->items; i; i = i->next)
        if (strcmp(i->key, key) == 0) found = i;
    return found;
}

const char *eddy__json_text(const json *v, const char *otherwise)
{
    return v && v->kind == JSON_STRING ? (const char *)v->text.at : otherwise;
}

int64_t eddy__json_integer(const json *v, int64_t otherwise)
{
    if (v && (v->kind == JSON_NUMBER || v->kind == JSON_BOOL)) return v->integer;
    if (!v || v->kind != JSON_STRING || v->text.size == 0 || v->text.size > 20) return otherwise;
    char         *end;
    const int64_t x = strtoll((const char *)v->text.at, &end, 10);
    return *end == 0 ? x : otherwise;
}

const json *eddy__json_items(const json *v)
{
    return v && v->kind == JSON_ARRAY ? v->items : NULL;
}
