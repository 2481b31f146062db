/* event_files.h -- event files of any events, with right checksums. */
#ifndef EDDY_TESTS_LIB_EVENT_FILES_H
#define EDDY_TESTS_LIB_EVENT_FILES_H

#include "tests/lib/files/onnx_writer.h"

/* Appends the event to the bytes of a file. */
void put_event(message *file, const message *event);

#endif
