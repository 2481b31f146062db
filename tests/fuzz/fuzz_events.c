/* fuzz_events.c -- arbitrary events as an event file for a report, for libFuzzer. The input is a
 * list of events, each after its length in two bytes; they get the checksums of records, which no
 * fuzzer would find. A last event that is too short is a record without one. */
#include "formats/checksum.h"
#include "formats/training_report/report_data.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void put(uint8_t *to, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) to[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t masked(const uint8_t *p, size_t size)
{
    const uint32_t crc = eddy__file_crc32c((wire_bytes){ p, size });
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* Appends a record; returns its size. */
static size_t put_record(uint8_t *to, const uint8_t *event, size_t size)
{
    put(to, size, 8);
    put(to + 8, masked(to, 8), 4);
    memcpy(to + 12, event, size);
    put(to + 12 + size, masked(to + 12, size), 4);
    return size + 16;
}

int fuzz_events(const uint8_t *data, size_t size)
{
    static page_out page;
    uint8_t        *file = malloc(9 * size + 16);
    size_t          at = 0, used = 0;
    runs            r = { 0 };
    require(file != NULL);
    while (size - at >= 2) {
        const size_t n = (size_t)data[at] | (size_t)data[at + 1] << 8;
        at += 2;
        if (n > size - at) break;
        used += put_record(file + used, data + at, n);
        at += n;
    }
    memcpy(file + used, data + at, size - at);
    used += size - at;
    r.at = eddy__region_take(&r.memory, 1, sizeof *r.at);
    r.notes = eddy__region_take(&r.memory, 1, sizeof *r.notes);
    require(r.at && r.notes);
    r.at[0].name = "run";
    r.count = 1;
    require(eddy__runs_add(&r, 0, "f", (wire_bytes){ file, used }));
    page.file.failed = true;                /* nothing is written */
    page.used = 0;
    require(eddy__report_data(&page, &r, "title"));
    eddy__runs_free(&r);
    free(file);
    return 0;
}
