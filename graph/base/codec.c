/* codec.c -- conversion of numbers, bytes and characters to text and back. */
#include "graph/base/text.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- UTF-8 -- */

/* Length of the UTF-8 character at s; 0 if there is no valid one within n bytes. */
static size_t character(const unsigned char *s, size_t n)
{
    unsigned char c = s[0];
    size_t length = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    if (length == 0 || length > n) return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    bool overlong  = (c == 0xE0 && s[1] < 0xA0) || (c == 0xF0 && s[1] < 0x90);
    bool surrogate = c == 0xED && s[1] > 0x9F, beyond = c == 0xF4 && s[1] > 0x8F;
    return overlong || surrogate || beyond ? 0 : length;
}

size_t eddy__utf8_check(const char *s, size_t n)
{
    size_t at = 0;
    while (at < n) {
        size_t length = character((const unsigned char *)s + at, n - at);
        if (length == 0) return at;
        at += length;
    }
    return n;
}

size_t eddy__utf8_put(uint32_t c, char *buf)
{
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned lead[] = { 0, 0xC0, 0xE0, 0xF0 };
    buf[0] = (char)(lead[more] | c >> (6 * more));
    for (int i = 1; i <= more; i++) buf[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3F));
    return (size_t)more + 1;
}

/* ------------------------------------------------------------- numbers -- */

/* The C locale for this thread, whatever the program has set. */
static locale_t enter_c_locale(locale_t *c)
{
    *c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return *c ? uselocale(*c) : (locale_t)0;
}

static void leave_c_locale(locale_t c, locale_t before)
{
    if (!c) return;
    uselocale(before);
    freelocale(c);
}

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static const uint64_t plain_nan = 0x7FF8000000000000u;

/* YAML's numbers with an exponent have a point. */
static void add_point(char *buf)
{
    char *e = strchr(buf, 'e');
    if (!e || strchr(buf, '.')) return;
    memmove(e + 2, e, strlen(e) + 1);
    memcpy(e, ".0", 2);
}

char *eddy__number_print(double v, bool single, char buf[EDDY_NUMBER_TEXT])
{
    if (isnan(v)) {
        if (bits_of(v) == plain_nan) memcpy(buf, ".nan", 5);
        else snprintf(buf, EDDY_NUMBER_TEXT, "nan:0x%016llx", (unsigned long long)bits_of(v));
    } else if (isinf(v)) {
        memcpy(buf, v < 0 ? "-.inf" : ".inf", v < 0 ? 6 : 5);
    } else {
        locale_t c, before = enter_c_locale(&c);
        int      last = single ? 9 : 17;
        for (int digits = single ? 6 : 15; digits <= last; digits++) {
            snprintf(buf, EDDY_NUMBER_TEXT, "%.*g", digits, v);
            if ((single ? (double)strtof(buf, NULL) : strtod(buf, NULL)) == v) break;
        }
        leave_c_locale(c, before);
        add_point(buf);
    }
    return buf;
}

/* The bits after "nan:0x". */
static bool parse_nan(const char *s, double *out)
{
    uint64_t bits = 0;
    int      n = 0;
    for (; s[n]; n++) {
        int digit = s[n] >= '0' && s[n] <= '9'   ? s[n] - '0'
                    : s[n] >= 'a' && s[n] <= 'f' ? s[n] - 'a' + 10
                                                 : -1;
        if (digit < 0 || n == 16) return false;
        bits = bits << 4 | (uint64_t)digit;
    }
    memcpy(out, &bits, sizeof bits);
    return n == 16 && isnan(*out);
}

bool eddy__number_parse(const char *s, bool single, double *out)
{
    if (strncmp(s, "nan:0x", 6) == 0) return !single && parse_nan(s + 6, out);
    if (strcmp(s, ".nan") == 0) {
        memcpy(out, &plain_nan, sizeof plain_nan);
        return true;
    }
    if (strcmp(s, ".inf") == 0 || strcmp(s, "-.inf") == 0) {
        *out = s[0] == '-' ? -INFINITY : INFINITY;
        return true;
    }
    /* strtod knows more than decimal numbers. */
    if (!*s || strspn(s, "0123456789+-.eE") != strlen(s)) return false;
    char    *end;
    locale_t c, before = enter_c_locale(&c);
    *out = single ? (double)strtof(s, &end) : strtod(s, &end);
    leave_c_locale(c, before);
    return end != s && *end == 0 && !isinf(*out);
}

bool eddy__integer_parse(const char *s, int64_t *out)
{
    bool    negative = *s == '-';
    int64_t v = 0;
    s += negative;
    if (!*s) return false;
    for (; *s; s++) {
        if (*s < '0' || *s > '9') return false;
        int digit = negative ? -(*s - '0') : *s - '0';
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v)) return false;
    }
    *out = v;
    return true;
}

/* -------------------------------------------------------------- base64 -- */

enum { LINE_BYTES = 57 };            /* 76 characters */

void eddy__base64_put(eddy_text *t, const void *p, size_t n, int indent)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *from = p;
    for (size_t done = 0; done < n && !t->failed; done += LINE_BYTES) {
        char   line[80];
        size_t length = 0, end = n - done < LINE_BYTES ? n : done + LINE_BYTES;
        for (size_t i = done; i < end; i += 3) {
            size_t   have = end - i < 3 ? end - i : 3;
            uint32_t v = (uint32_t)from[i] << 16;
            if (have > 1) v |= (uint32_t)from[i + 1] << 8;
            if (have > 2) v |= from[i + 2];
            for (size_t k = 0; k < 4; k++)
                line[length++] = k <= have ? digits[v >> (18 - 6 * k) & 63] : '=';
        }
        eddy__text_put(t, "%*s%.*s\n", indent, "", (int)length, line);
    }
}

static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

size_t eddy__base64_size(const char *s, size_t length)
{
    size_t digits = 0;
    for (size_t i = 0; i < length; i++) digits += digit_of(s[i]) >= 0;
    return digits / 4 * 3 + digits % 4 * 3 / 4;
}

bool eddy__base64_parse(const char *s, size_t length, void *p, size_t n)
{
    unsigned char *to = p;
    uint32_t       v = 0;
    size_t         digits = 0, pads = 0, done = 0;
    for (size_t i = 0; i < length; i++) {
        if (is_space(s[i])) continue;
        int digit = digit_of(s[i]);
        if (s[i] == '=') pads++;
        else if (digit < 0 || pads > 0) return false;
        else {
            v = v << 6 | (uint32_t)digit;
            digits++;
            if (digits % 4 == 1) continue;
            if (done == n) return false;
            int spare = (int)((8 - digits % 4 * 2) % 8);     /* bits of v not used yet */
            to[done++] = (unsigned char)(v >> spare);
        }
    }
    if (digits % 4 == 1 || done != n) return false;
    uint32_t rest = digits % 4 == 2 ? v & 15 : digits % 4 == 3 ? v & 3 : 0;
    return rest == 0 && pads == (4 - digits % 4) % 4;
}
