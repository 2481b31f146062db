/* mutate_zip.c -- changes of a member of a ZIP archive, whose sizes and checksum are repaired, and
 * the places behind it; and of an .npy file, whose elements become as many as its header says. */
#include "tests/fuzz/mutate.h"
#include "formats/checksum.h"

#include <string.h>

enum { END = 22, ENTRY = 46, LOCAL = 30, HEADER = 12 };

static bool has_mark(const mutation *m, size_t at, size_t bytes, const char *mark)
{
    return at <= m->size && m->size - at >= bytes && memcmp(m->at + at, mark, 4) == 0;
}

/* The place of the record at the end; 0 if there is none. */
static size_t find_end(const mutation *m)
{
    for (size_t at = m->size; at > 0; at--)
        if (has_mark(m, at, END, "PK\5\6")) return at;
    return 0;
}

/* The entry behind this one of the directory; 0 if there is none. */
static size_t next_entry(const mutation *m, size_t at)
{
    if (!has_mark(m, at, ENTRY, "PK\1\2")) return 0;
    at += ENTRY + (size_t)(number_at(m, at + 28, 2) + number_at(m, at + 30, 2) +
                           number_at(m, at + 32, 2));
    return at <= m->size ? at : 0;
}

/* Where the data of the entry are, if these are stored as they are, in front of the directory. */
static bool find_data(const mutation *m, size_t directory, size_t entry, size_t *begin, size_t *end)
{
    const uint64_t local = number_at(m, entry + 42, 4), size = number_at(m, entry + 20, 4);
    if (number_at(m, entry + 10, 2) != 0 || local > directory ||
        !has_mark(m, (size_t)local, LOCAL, "PK\3\4"))
        return false;
    const uint64_t data = local + LOCAL + number_at(m, (size_t)local + 26, 2) +
                          number_at(m, (size_t)local + 28, 2);
    if (data > directory || size > directory - data) return false;
    *begin = (size_t)data;
    *end = (size_t)(data + size);
    return true;
}

void mutate_zip(mutation *m, mutator *with)
{
    const size_t record = find_end(m);
    const size_t directory = record ? (size_t)number_at(m, record + 16, 4) : m->size;
    size_t       entry = directory, begin, end;
    for (unsigned skip = draw(m, 8), i = 0; i < skip && next_entry(m, entry); i++) {
        const size_t next = next_entry(m, entry);
        entry = has_mark(m, next, ENTRY, "PK\1\2") ? next : directory;
    }
    if (record < directory || !next_entry(m, entry) ||
        !find_data(m, directory, entry, &begin, &end)) {
        mutate_bytes(m);
        return;
    }
    const size_t   now = mutate_part(m, begin, end, 0, with), size = now - begin;
    const uint32_t crc = eddy__file_crc32((wire_bytes){ m->at + begin, size });
    const size_t   local = (size_t)number_at(m, entry + now - end + 42, 4);
    entry += now - end;                         /* modulo 2^64 where the member is shorter */
    for (size_t at = directory + now - end; has_mark(m, at, ENTRY, "PK\1\2");) {
        const size_t place = (size_t)number_at(m, at + 42, 4);
        if (place > local) put_number(m, at + 42, place + now - end, 4);
        at = next_entry(m, at);
        if (at == 0) break;
    }
    put_number(m, entry + 16, crc, 4);
    put_number(m, entry + 20, size, 4);
    put_number(m, entry + 24, size, 4);
    put_number(m, local + 14, crc, 4);
    put_number(m, local + 18, size, 4);
    put_number(m, local + 22, size, 4);
    put_number(m, record + now - end + 16, directory + now - end, 4);
}

/* The bytes of the elements that the header asks for; beyond m->most if they are too many. */
static size_t elements(const mutation *m, size_t begin, size_t end)
{
    size_t bytes = 1;
    bool   shape = false;
    for (size_t i = begin; i < end; i++) {
        const uint8_t c = m->at[i];
        if (c == '(') shape = true;
        if (c == ')') shape = false;
        const bool type = i > begin + 1 && (m->at[i - 2] == '<' || m->at[i - 2] == '|' ||
                                            m->at[i - 2] == '>');
        if (c < '0' || c > '9' || (!shape && !type)) continue;
        size_t v = 0;
        for (; i < end && m->at[i] >= '0' && m->at[i] <= '9'; i++)
            if (v <= m->most) v = 10 * v + (size_t)(m->at[i] - '0');
        i--;
        bytes = bytes > m->most ? bytes : bytes * v;
    }
    return bytes;
}

void mutate_array(mutation *m)
{
    const bool   known = m->size > HEADER && memcmp(m->at, "\x93NUMPY", 6) == 0;
    const int    wide = known && m->at[6] > 1 ? 4 : 2;
    const size_t begin = 8 + (size_t)wide, header = known ? (size_t)number_at(m, 8, wide) : 0;
    if (!known || header > m->size - begin) {
        mutate_bytes(m);
        return;
    }
    const size_t end = mutate_part(m, begin, begin + header, 0, mutate_text);
    put_number(m, 8, end - begin, wide);
    const size_t bytes = elements(m, begin, end);
    if (draw(m, 4) == 0 || bytes > m->most - end) return;
    if (end + bytes > m->size) memset(m->at + m->size, 0, end + bytes - m->size);
    m->size = end + bytes;
}
