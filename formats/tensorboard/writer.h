/* writer.h -- an event file that is being written (formats/events.h). */
#ifndef EDDY_FORMATS_TENSORBOARD_WRITER_H
#define EDDY_FORMATS_TENSORBOARD_WRITER_H

#include "../events.h"
#include "../message.h"

struct eddy_events {
    int        fd;
    eddy_error error;           /* the first one */
    char       path[4096];
};

/* Fields of the messages that several files write: Event, Summary.Value and SummaryMetadata. */
enum {
    EVENT_TIME = 1, EVENT_STEP = 2, EVENT_VERSION = 3, EVENT_GRAPH = 4, EVENT_SUMMARY = 5,
    EVENT_RUN_METADATA = 8,
    VALUE_TAG = 1, VALUE_SIMPLE = 2, VALUE_IMAGE = 4, VALUE_HISTOGRAM = 5, VALUE_TENSOR = 8,
    VALUE_METADATA = 9
};

/* False for NULL and for a writer that has failed. */
bool eddy__events_usable(const eddy_events *w);
void eddy__events_fail(eddy_events *w, eddy_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes an event with this field, which is freed. */
void eddy__events_put(eddy_events *w, int64_t step, uint32_t field, message *inner);
/* A value of a summary with this field, which is freed; metadata: of a plugin, or NULL. */
void eddy__events_value(eddy_events *w, int64_t step, const char *tag, uint32_t field,
                        message *inner, message *metadata);
/* SummaryMetadata for a plugin. */
message eddy__events_plugin(const char *name, message *content);
/* 8 bits a channel as PNG; m is full without memory. */
void eddy__png_put(message *m, const uint8_t *pixels, int64_t height, int64_t width, int channels);

#endif
