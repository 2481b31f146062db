/* event_files.c -- see event_files.h. A record is a length, its checksum, the event and its
 * checksum. */
#include "tests/lib/files/event_files.h"
#include "formats/checksum.h"

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
