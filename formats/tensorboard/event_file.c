/* event_file.c -- event files: records of a length and an Event, with their checksums.
 *
 *   8 bytes  the length of the event
 *   4 bytes  the checksum of these 8 bytes
 *   ...      the event, a protobuf message (TensorFlow's event.proto)
 *   4 bytes  the checksum of the event
 *
 * All numbers have the low byte first. The checksum is CRC-32C, rotated by 15 bits, plus a
 * constant. */
#include "writer.h"
#include "../checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --------------------------------------------------------------- errors -- */

bool eddy__events_usable(const eddy_events *w) { return w && w->error.status == EDDY_OK; }

void eddy__events_fail(eddy_events *w, eddy_status s, const char *format, ...)
{
    va_list args;
    if (!eddy__events_usable(w)) return;
    va_start(args, format);
    vsnprintf(w->error.message, sizeof w->error.message, format, args);
    va_end(args);
    w->error.status = s;
}

eddy_status eddy_events_status(const eddy_events *w)
{
    return w ? w->error.status : EDDY_NO_MEMORY;
}
const char *eddy_events_message(const eddy_events *w) { return w ? w->error.message : ""; }
const char *eddy_events_path(const eddy_events *w) { return w ? w->path : ""; }

/* -------------------------------------------------------------- records -- */

enum { PATIENCE = 100 };                /* interruptions of one record */

static void put_whole(uint8_t *to, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) to[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t masked_checksum(const void *p, size_t size)
{
    const uint32_t crc = eddy__file_crc32c((wire_bytes){ p, size });
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* The record is written in one call if the system takes it, so that a reader sees whole ones. */
static void put_record(eddy_events *w, const message *event)
{
    uint8_t head[12], foot[4];
    message record = { 0 };
    put_whole(head, event->size, 8);
    put_whole(head + 8, masked_checksum(head, 8), 4);
    put_whole(foot, masked_checksum(event->at, event->size), 4);
    eddy__message_append(&record, head, sizeof head);
    eddy__message_append(&record, event->at, event->size);
    eddy__message_append(&record, foot, sizeof foot);
    if (event->full || record.full)
        eddy__events_fail(w, EDDY_NO_MEMORY, "events: out of memory for an event of %.600s",
                          w->path);
    for (size_t at = 0, retries = PATIENCE; eddy__events_usable(w) && at < record.size;) {
        const ssize_t n = write(w->fd, record.at + at, record.size - at);
        if (n < 0 && errno == EINTR && retries-- > 0) continue;
        if (n <= 0)
            eddy__events_fail(w, EDDY_IO, "events: cannot write %.600s: %s", w->path,
                              strerror(n < 0 ? errno : ENOSPC));
        else at += (size_t)n;
    }
    eddy__message_free(&record);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void eddy__events_put(eddy_events *w, int64_t step, uint32_t field, message *inner)
{
    message event = { 0 };
    eddy__message_double(&event, EVENT_TIME, now());
    if (step != 0) eddy__message_number(&event, EVENT_STEP, step);
    eddy__message_inner(&event, field, inner);
    if (eddy__events_usable(w)) put_record(w, &event);
    eddy__message_free(&event);
}

void eddy__events_value(eddy_events *w, int64_t step, const char *tag, uint32_t field,
                        message *inner, message *metadata)
{
    message value = { 0 }, summary = { 0 };
    eddy__message_text(&value, VALUE_TAG, tag ? tag : "");
    if (field == VALUE_SIMPLE) {
        eddy__message_append(&value, inner->at, inner->size);
        value.full = value.full || inner->full;
        eddy__message_free(inner);
    } else eddy__message_inner(&value, field, inner);
    if (metadata) eddy__message_inner(&value, VALUE_METADATA, metadata);
    eddy__message_inner(&summary, 1, &value);
    eddy__events_put(w, step, EVENT_SUMMARY, &summary);
}

/* ---------------------------------------------------------------- files -- */

/* Makes the folder and those around it. */
static bool make_folder(eddy_events *w, const char *folder)
{
    char path[sizeof w->path];
    snprintf(path, sizeof path, "%s", folder);
    for (char *c = path + 1;; c++) {
        if (*c != '/' && *c) continue;
        const char was = *c;
        *c = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            eddy__events_fail(w, EDDY_IO, "events_new: cannot make the folder %.600s: %s", path,
                              strerror(errno));
            return false;
        }
        *c = was;
        if (!was) return true;
    }
}

/* A name that no other writer has, which sorts by time. */
static void open_file(eddy_events *w, const char *folder, const char *suffix)
{
    enum { ATTEMPTS = 100 };
    static atomic_int made;
    char              host[64] = "";
    gethostname(host, sizeof host - 1);
    for (int i = 0; i < ATTEMPTS && w->fd < 0; i++) {
        snprintf(w->path, sizeof w->path, "%.3000s/events.out.tfevents.%010lld.%s.%ld.%d%.500s",
                 folder, (long long)time(NULL), host, (long)getpid(), atomic_fetch_add(&made, 1),
                 suffix ? suffix : "");
        w->fd = open(w->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
        if (w->fd < 0 && errno != EEXIST) break;
    }
    if (w->fd < 0)
        eddy__events_fail(w, EDDY_IO, "events_new: cannot make %.600s: %s", w->path,
                          strerror(errno));
}

eddy_events *eddy_events_new_with(const eddy_events_args *given)
{
    enum { LONGEST = 3000 };
    eddy_events_args a = { eddy_events_args_DEFAULTS .size_ = sizeof a };
    eddy_copy_options(&a, given);
    eddy_events *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->fd = -1;
    if (!a.folder || !*a.folder)
        eddy__events_fail(w, EDDY_INVALID_ARGUMENT, "events_new: no folder is given");
    else if (strlen(a.folder) > LONGEST || (a.suffix && strchr(a.suffix, '/')))
        eddy__events_fail(w, EDDY_INVALID_ARGUMENT, "events_new: %s",
                          strlen(a.folder) > LONGEST ? "the name of the folder is too long"
                                                     : "the suffix contains a slash");
    else if (make_folder(w, a.folder)) open_file(w, a.folder, a.suffix);
    message event = { 0 };
    eddy__message_double(&event, EVENT_TIME, now());
    eddy__message_text(&event, EVENT_VERSION, "brain.Event:2");
    if (eddy__events_usable(w)) put_record(w, &event);
    eddy__message_free(&event);
    return w;
}

eddy_status eddy_events_close(eddy_events *w, eddy_error *error)
{
    if (!w) {
        if (error) *error = (eddy_error){ EDDY_NO_MEMORY, "events: out of memory" };
        return EDDY_NO_MEMORY;
    }
    /* An interrupted close has closed. */
    if (w->fd >= 0 && close(w->fd) != 0 && errno != EINTR)
        eddy__events_fail(w, EDDY_IO, "events: cannot close %.600s: %s", w->path, strerror(errno));
    const eddy_status s = w->error.status;
    if (error) *error = w->error;
    free(w);
    return s;
}
