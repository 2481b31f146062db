/* zip_writer.c -- see zip_writer.h. */
#include "tests/lib/files/zip_writer.h"

#include <stdlib.h>
#include <string.h>

static uint32_t crc_of(const uint8_t *p, size_t n)
{
    uint32_t c = ~0u;
    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
    }
    return ~c;
}

static message directory_entry(const zip_part *f, uint64_t at)
{
    message        e = { NULL, 0 }, extra = { NULL, 0 };
    const uint64_t none = UINT32_MAX;
    if (f->extra > 0) {
        message_put_number(&extra, 7, 2);
        message_put_number(&extra, (uint64_t)f->extra, 2);
        for (int i = 0; i < f->extra; i++) message_put_number(&extra, 0, 1);
    }
    if (f->extra == -2) message_put_number(&extra, 7 | 1 << 16, 4);
    at += f->beyond;
    if (f->wide) {
        message_put_number(&extra, 1, 2);
        message_put_number(&extra, f->extra < 0 ? 20 : 24, 2);
        message_put_number(&extra, f->data.size + f->more_stored + f->longer, 8);
        message_put_number(&extra, f->data.size + f->more_stored, 8);
        message_put_number(&extra, at, f->extra < 0 ? 4 : 8);
    }
    if (f->half_wide) {
        message_put_number(&extra, 1 | 8 << 16, 4);
        message_put_number(&extra, at, 8);
    }
    message_put_text(&e, "PK\1\2");
    message_put_number(&e, 20 | 20 << 16, 4);
    message_put_number(&e, (uint64_t)f->flags, 2);
    message_put_number(&e, (uint64_t)f->method, 2);
    message_put_number(&e, 0, 4);
    message_put_number(&e, crc_of(f->data.at, f->data.size) + f->wrong, 4);
    message_put_number(&e, f->wide ? none : f->data.size + f->more_stored, 4);
    message_put_number(&e, f->wide ? none : f->data.size + f->more_stored + f->longer, 4);
    message_put_number(&e, strlen(f->name), 2);
    message_put_number(&e, extra.size, 2);
    message_put_number(&e, 0, 2 + 2 + 2 + 4);
    message_put_number(&e, f->wide || f->half_wide ? none : at, 4);
    message_put_text(&e, f->name);
    if (extra.size) message_put(&e, extra.at, extra.size);
    message_free(&extra);
    return e;
}

message zip_of(zip_part *f, int n, zip_ending end)
{
    message m = { NULL, 0 }, directory = { NULL, 0 };
    for (int i = 0; i < n; i++) {
        message e = directory_entry(&f[i], m.size);
        message_put(&directory, e.at, e.size);
        message_free(&e);
        message_put_text(&m, "PK\3\4");
        message_put_number(&m, 0, 8);
        message_put_number(&m, 0, 8);
        message_put_number(&m, 0, 6);
        message_put_number(&m, strlen(f[i].name), 2);
        message_put_number(&m, (uint64_t)(3 + f[i].far), 2);
        message_put_text(&m, f[i].name);
        message_put_number(&m, 0, 3);
        message_put(&m, f[i].data.at, f[i].data.size);
        message_free(&f[i].data);
    }
    const uint64_t at = m.size + end.more_at, size = directory.size + end.more_size;
    const uint64_t entries = (uint64_t)n + end.more_entries;
    if (directory.size) message_put(&m, directory.at, directory.size);
    if (end.wide) {
        const uint64_t record = m.size;
        message_put_text(&m, "PK\6\6");
        message_put_number(&m, 44, 8);
        message_put_number(&m, 0, 8);
        message_put_number(&m, 0, 4);
        message_put_number(&m, entries, 8);
        message_put_number(&m, entries, 8);
        message_put_number(&m, size, 8);
        message_put_number(&m, at, 8);
        message_put_text(&m, "PK\6\7");
        message_put_number(&m, 0, 4);
        message_put_number(&m, record + end.more_record, 8);
        message_put_number(&m, 1, 4);
    }
    message_put_text(&m, "PK\5\6");
    message_put_number(&m, 0, 4);
    message_put_number(&m, end.wide ? 65535 : entries, 2);
    message_put_number(&m, end.wide ? 65535 : entries, 2);
    message_put_number(&m, end.wide ? UINT32_MAX : size, 4);
    message_put_number(&m, end.wide ? UINT32_MAX : at, 4);
    message_put_number(&m, end.note ? strlen(end.note) : 0, 2);
    if (end.note) message_put_text(&m, end.note);
    message_free(&directory);
    return m;
}
