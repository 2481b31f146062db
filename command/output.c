/* output.c -- tables, numbers with units, and JSON. */
#include "command/command.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool colored(FILE *to)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(to)) && !(no && *no) && !(terminal && strcmp(terminal, "dumb") == 0);
}

const char *bold(FILE *to)  { return colored(to) ? "\033[1m" : ""; }
const char *plain(FILE *to) { return colored(to) ? "\033[0m" : ""; }

/* ------------------------------------------------------------------ tables -- */

static int width_of(const char *columns)
{
    int n = 0;
    for (; *columns; columns++) n += *columns != ' ';
    return n;
}

/* Letters, not bytes: continuation bytes of UTF-8 do not count. */
static int letters(const char *s)
{
    int n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

void table_row(table *t, ...)
{
    va_list args;
    t->width = width_of(t->columns);
    if (t->rows == t->capacity) {
        const int    capacity = t->capacity > 0 ? 2 * t->capacity : 16;
        const char **cells = room((size_t)capacity * (size_t)t->width, sizeof *cells);
        if (t->rows > 0)
            memcpy(cells, t->cells, (size_t)t->rows * (size_t)t->width * sizeof *cells);
        t->cells = cells;
        t->capacity = capacity;
    }
    va_start(args, t);
    for (int i = 0; i < t->width; i++)
        t->cells[t->rows * t->width + i] = va_arg(args, const char *);
    va_end(args);
    t->rows++;
}

void table_print(const table *t, FILE *to)
{
    int *widths = room((size_t)t->width + 1, sizeof *widths);
    for (int i = 0; i < t->rows * t->width; i++)
        if (letters(t->cells[i]) > widths[i % t->width])
            widths[i % t->width] = letters(t->cells[i]);
    for (int row = 0; row < t->rows; row++) {
        int blanks = 0;                         /* none at the end of a line */
        fputs(row == 0 ? bold(to) : "", to);
        for (int i = 0; i < t->width; i++) {
            const char *cell = t->cells[row * t->width + i];
            const int   free = widths[i] - letters(cell);
            const bool  right = t->columns[2 * i] == 'r';
            if (*cell) {
                fprintf(to, "%*s%s", blanks + (right ? free : 0), "", cell);
                blanks = right ? 0 : free;
            } else blanks += free;
            blanks += 2;
        }
        fputs(row == 0 ? plain(to) : "", to);
        fputc('\n', to);
    }
}

/* ----------------------------------------------------------------- numbers -- */

const char *count_text(double count, const char *unit)
{
    static const char *const prefix[] = { "", "k", "M", "G", "T", "P" };
    int i = 0;
    for (; count >= 999.5 && i < 5; i++) count /= 1000;
    const char *blank = i > 0 || *unit ? " " : "";
    return text("%.*f%s%s%s", i == 0 || count >= 99.5 ? 0 : count >= 9.95 ? 1 : 2, count, blank,
                prefix[i], unit);
}

const char *bytes_text(double bytes) { return count_text(bytes, "B"); }

const char *whole_text(int64_t n)
{
    const char *digits = text("%lld", (long long)n);
    const int   length = (int)strlen(digits);
    char       *s = room((size_t)length * 2 + 1, 1), *p = s;
    for (int i = 0; i < length; i++) {
        *p++ = digits[i];
        if (digits[i] != '-' && i + 1 < length && (length - i - 1) % 3 == 0) *p++ = ',';
    }
    return s;
}

const char *number_of(int64_t n, const char *what)
{
    return text("%s %s%s", whole_text(n), what, n == 1 ? "" : "s");
}

const char *type_text(eddy_dtype d, eddy_shape s)
{
    char buffer[200];
    return text("%s%s", eddy_dtype_name(d), eddy_shape_print(s, buffer, sizeof buffer));
}

/* -------------------------------------------------------------------- JSON -- */

enum { MAX_DEPTH = 32 };
static int  depth = 0;
static bool follows[MAX_DEPTH + 1];             /* whether a value precedes, at each depth */

static void put_quoted(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') printf("\\%c", *s);
        else if ((unsigned char)*s < ' ') printf("\\u%04x", (unsigned)(unsigned char)*s);
        else putchar(*s);
    }
    putchar('"');
}

static void begin(const char *key)
{
    const bool line = depth == 1 || (depth == 2 && !key);
    if (follows[depth]) fputs(line ? ",\n" : ", ", stdout);
    follows[depth] = true;
    if (!key) return;
    put_quoted(key);
    fputs(": ", stdout);
}

void json_open(const char *key, char bracket)
{
    begin(key);
    putchar(bracket);
    if (depth < MAX_DEPTH) depth++;
    follows[depth] = false;
}

void json_close(char bracket)
{
    putchar(bracket);
    if (--depth == 0) putchar('\n');
}

void json_text(const char *key, const char *value)
{
    begin(key);
    if (value) put_quoted(value);
    else fputs("null", stdout);
}

/* JSON has no words for infinities and NaN. Whole numbers of 64 bits have no exponent: readers of
 * integers refuse one. */
void json_element(const char *key, double value, eddy_dtype d)
{
    char buffer[40] = "null";
    begin(key);
    if (value >= -0x1p63 && value < 0x1p63 && value == trunc(value)) {
        printf("%.0f", value);
        return;
    }
    for (int digits = 6; isfinite(value) && digits <= 17; digits++) {
        snprintf(buffer, sizeof buffer, "%.*g", digits, value);
        const double read = strtod(buffer, NULL);
        if (d == EDDY_FLOAT32 || d == EDDY_COMPLEX64 ? (float)read == (float)value : read == value)
            break;
    }
    fputs(buffer, stdout);
}

void json_integer(const char *key, int64_t value)
{
    begin(key);
    printf("%" PRId64, value);
}

void json_number(const char *key, double value) { json_element(key, value, EDDY_FLOAT64); }

void json_bool(const char *key, bool value)
{
    begin(key);
    fputs(value ? "true" : "false", stdout);
}

void json_shape(const char *key, eddy_shape s)
{
    if (s.rank < 0) {
        json_text(key, NULL);
        return;
    }
    json_open(key, '[');
    for (int i = 0; i < s.rank; i++)
        if (s.dim[i] < 0) json_text(NULL, NULL);
        else json_number(NULL, (double)s.dim[i]);
    json_close(']');
}

void json_file(const char *path)
{
    if (!as_json) return;
    json_open(NULL, '{');
    json_text("file", path);
    json_close('}');
}
