/* event_files.h -- event files of any events, with right checksums. */
#ifndef EDDY_TESTS_LIB_EVENT_FILES_H
#define EDDY_TESTS_LIB_EVENT_FILES_H

#include "tests/lib/files/onnx_writer.h"

/* Appends the event to the bytes of a file. */
void put_event(message *file, const message *event);
/* The data of the report about a file with an event of these bytes, as far as there is room. */
void answer_event(const void *event, size_t size, char *answer, size_t room);

#endif
