/* message.h -- writes the protobuf wire format, for messages of any schema: the counterpart of
 * wire.h. */
#ifndef EDDY_FORMATS_MESSAGE_H
#define EDDY_FORMATS_MESSAGE_H

#include "wire.h"

/* A message that grows; zero-initialize it. If memory runs out, it is full and keeps the bytes that
 * it has. */
typedef struct message {
    uint8_t *at;
    size_t   size, room;
    bool     full;
} message;

void eddy__message_free(message *m);
/* Append a field: a varint, a fixed32 or fixed64 number, a string or bytes. Negative numbers are
 * written as int64. */
void eddy__message_number(message *m, uint32_t field, int64_t value);
void eddy__message_float(message *m, uint32_t field, float value);
void eddy__message_double(message *m, uint32_t field, double value);
/* The same of n numbers, packed. */
void eddy__message_doubles(message *m, uint32_t field, const double *values, size_t n);
void eddy__message_text(message *m, uint32_t field, const char *s);
void eddy__message_bytes(message *m, uint32_t field, const void *p, size_t size);
/* Appends a message as a field and frees it; m is full if it was. */
void eddy__message_inner(message *m, uint32_t field, message *inner);
/* Appends the tag and the length of a field whose size bytes the caller writes elsewhere. */
void eddy__message_head(message *m, uint32_t field, uint64_t size);
/* Appends bytes that are fields already. */
void eddy__message_append(message *m, const void *p, size_t size);

#endif
