/* event_files.c -- see event_files.h. A record is a length, its checksum, the event and its
 * checksum. */
#include "tests/lib/files/event_files.h"
#include "formats/checksum.h"
#include "formats/training_report/report_data.h"
#include "tests/lib/files/memory_files.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static size_t put_sum(uint8_t *to, const uint8_t *p, size_t size)
{
    const uint32_t crc = eddy__file_crc32c((wire_bytes){ p, size });
    const uint32_t sum = (crc >> 15 | crc << 17) + 0xa282ead8u;
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(sum >> 8 * i);
    return 4;
}

void put_event(message *file, const message *event)
{
    file->at = realloc(file->at, file->size + event->size + 16);
    uint8_t *to = file->at + file->size;
    for (int i = 0; i < 8; i++) to[i] = (uint8_t)((uint64_t)event->size >> 8 * i);
    size_t n = 8 + put_sum(to + 8, to, 8);
    if (event->size) memcpy(to + n, event->at, event->size);
    n += event->size;
    file->size += n + put_sum(to + n, event->at, event->size);
}

void answer_event(const void *event, size_t size, char *answer, size_t room)
{
    memory_files files;
    message      file = { NULL, 0 };
    message      one_event = { (uint8_t *)(uintptr_t)event, size };
    page_out    *p = calloc(1, sizeof *p);
    const char  *notes[1];
    eddy_error   e = { 0 };
    run          one = { .name = "." };
    runs         r = { .at = &one, .count = 1, .notes = notes };
    memory_files_init(&files);
    put_event(&file, &one_event);
    ck_assert(p && eddy__runs_add(&r, 0, "a", (wire_bytes){ file.at, file.size }));
    ck_assert(eddy__sink_begin(&p->file, "page", &files.table, &e));
    ck_assert(eddy__report_data(p, &r, "t"));
    eddy__page_flush(p);
    ck_assert(eddy__sink_end(&p->file));
    const memory_content *page = memory_files_get(&files, "page");
    snprintf(answer, room, "%.*s", (int)page->size, page->bytes);
    eddy__runs_free(&r);
    free(p);
    message_free(&file);
    memory_files_free(&files);
}
