/* changed_bytes.c -- see changed_bytes.h. */
#include "tests/lib/files/changed_bytes.h"
#include "tests/lib/golden.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 900, SHOWN = 64, CUT = 3 };

static const char *const kinds[] = { "+1", "-1", "255", "cut" };

void answer_add(char *answer, size_t room, const char *format, ...)
{
    const size_t n = strlen(answer);
    va_list      args;
    va_start(args, format);
    vsnprintf(answer + n, room - n, format, args);
    va_end(args);
}

static void add_elements(char *answer, size_t room, const eddy_array *a, int digits)
{
    char shape[200];
    answer_add(answer, room, "%s%s", eddy_dtype_name(eddy_array_dtype(a)),
               eddy_shape_print(eddy_array_shape(a), shape, sizeof shape));
    for (int64_t i = 0; i < eddy_array_count(a) && i < SHOWN; i++) {
        answer_add(answer, room, " %.*g", digits, eddy_array_get(a, i));
        if (eddy_dtype_is_complex(eddy_array_dtype(a)))
            answer_add(answer, room, "%+.*gi", digits, eddy_array_get_imag(a, i));
    }
}

void answer_add_array(char *answer, size_t room, const eddy_array *a)
{
    add_elements(answer, room, a, 9);
}

void answer_add_product(char *answer, size_t room, const eddy_array *a)
{
    add_elements(answer, room, a, 7);
}

void answer_checkpoint(char *answer, size_t room, eddy_checkpoint *c, const eddy_error *e)
{
    answer_add(answer, room, "%s", e->message);
    for (int i = 0; i < eddy_checkpoint_count(c); i++) {
        const eddy_checkpoint_entry entry = eddy_checkpoint_entry_at(c, i);
        eddy_error                  wrong = { 0 };
        eddy_array                 *a = eddy_checkpoint_value(c, entry.name, &wrong);
        answer_add(answer, room, "%s%s %s %lld: ", i ? "; " : "", entry.name, entry.element,
                   (long long)entry.bytes);
        if (a) answer_add_array(answer, room, a);
        else answer_add(answer, room, "%s", wrong.message);
        eddy_array_free(a);
    }
    if (c && eddy_checkpoint_count(c) == 0) answer_add(answer, room, "no entries");
    eddy_checkpoint_free(c);
}

/* The answer for a copy of the file in a block of its size, with \xNN for what is not printed. */
static void ask(const uint8_t *file, size_t size, int value, size_t at, changed_read *read,
                char *to)
{
    char     answer[ROOM] = "";
    uint8_t *copy = malloc(size ? size : 1);
    size_t   n = 0;
    memcpy(copy, file, size);
    if (value >= 0) copy[at] = (uint8_t)value;
    read(copy, size, answer, sizeof answer);
    free(copy);
    for (const char *c = answer; *c && n + 5 < ROOM; c++)
        if ((uint8_t)*c >= ' ' && (uint8_t)*c < 127) to[n++] = *c;
        else n += (size_t)sprintf(to + n, "\\x%02x", (uint8_t)*c);
    to[n] = 0;
}

/* Gives the places of a cut that the answer names one name, so that successive lines are equal. */
static void hide_place(char *answer, size_t at)
{
    char place[40], rest[ROOM];
    snprintf(place, sizeof place, "byte %zu:", at);
    char *found = strstr(answer, place);
    if (!found) return;
    snprintf(rest, sizeof rest, "%s", found + strlen(place));
    snprintf(found, ROOM - (size_t)(found - answer), "byte N:%s", rest);
}

/* The answer from the place on where it differs from that for the whole file, if that is far. */
static void tell(int kind, size_t from, size_t last, const char *answer, const char *whole)
{
    char   line[200];
    size_t same = 0;
    while (answer[same] && answer[same] == whole[same]) same++;
    const int n = from == last
                      ? snprintf(line, sizeof line, "%s %zu: ", kinds[kind], from)
                      : snprintf(line, sizeof line, "%s %zu-%zu: ", kinds[kind], from, last);
    if (same > 30) snprintf(line + n, sizeof line - (size_t)n, "...%.60s", answer + same - 8);
    else snprintf(line + n, sizeof line - (size_t)n, "%.150s", answer);
    golden_line(line);
}

void changed_bytes(const char *what, const void *file, size_t size, changed_read *read)
{
    const uint8_t *bytes = file;
    char           whole[ROOM], answer[ROOM], before[ROOM] = "", line[ROOM + 100];
    ask(bytes, size, -1, 0, read, whole);
    snprintf(line, sizeof line, "%s: %s", what, whole);
    golden_line(line);
    for (int kind = 0; kind <= CUT; kind++) {
        size_t from = 0;
        for (size_t at = 0; at <= size; at++) {
            const int old = at < size ? bytes[at] : 0;
            answer[0] = 0;
            if (at < size && kind == CUT) {
                ask(bytes, at, -1, 0, read, answer);
                hide_place(answer, at);
            }
            if (at < size && kind < CUT)
                ask(bytes, size,
                    (uint8_t)(kind == 0   ? old + 1
                              : kind == 1 ? old - 1
                                          : 255),
                    at, read, answer);
            if (strcmp(answer, before) == 0 && at > 0) continue;
            if (at > 0 && strcmp(before, whole) != 0) tell(kind, from, at - 1, before, whole);
            from = at;
            strcpy(before, answer);
        }
    }
}
