/* wire.h -- a reader of the protobuf wire format, for messages of any schema.
 *
 * It is our own, because a model file may come from an untrusted source: it allocates nothing,
 * copies nothing (strings and packed numbers are views of the message), limits the nesting, and is
 * small enough to be fuzzed as a whole. libprotobuf would be 3 MB, and generated code for each
 * schema. */
#ifndef EDDY_FORMATS_WIRE_H
#define EDDY_FORMATS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRE_MAX_DEPTH = 64 };

typedef struct wire_bytes {
    const uint8_t *at;
    size_t         size;
} wire_bytes;

typedef enum wire_type {
    WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5
} wire_type;

/* One field of a message: its number, how it is written, and its value. */
typedef struct wire_field {
    uint32_t       number;
    wire_type      type;
    uint64_t       value;       /* of VARINT, FIXED64 and FIXED32 */
    wire_bytes     bytes;       /* of BYTES: a string, a message, or packed numbers */
    const uint8_t *at;          /* where the field begins */
} wire_field;

/* A position in a message. */
typedef struct wire {
    const uint8_t *at, *end;
    int            depth;       /* messages around this one */
    bool           bad;         /* the bytes are no message */
} wire;

/* The message that these bytes are. */
wire eddy__wire_of(wire_bytes b);
/* The message in a field of w. If it is nested too deeply or is not a message, it is bad, and so is
 * w. */
wire eddy__wire_enter(wire *w, const wire_field *f);
/* Reads the next field; false at the end, and where w becomes bad. */
bool eddy__wire_next(wire *w, wire_field *f);
/* The number of fields with this number. */
size_t eddy__wire_count(wire w, uint32_t number);

/* The numbers of a repeated field of `left`, one after another, however they are packed. */
typedef struct wire_numbers {
    wire           left;
    uint32_t       field;
    wire_type      as;          /* how a single number of its kind is written */
    wire_bytes     packed;      /* numbers that are left of the field at this place */
    const uint8_t *at;
    const uint8_t *damaged;     /* a field that holds no numbers */
} wire_numbers;

/* The next number; false if there is none, or at damage. */
bool eddy__wire_next_number(wire_numbers *n, uint64_t *value);
/* Skips the packed numbers that are left of a field and returns how many these are; skips none if
 * they are damaged. */
size_t eddy__wire_skip_packed(wire_numbers *n);
/* Takes the next number off packed bytes; false if there is none, or if they are damaged. */
bool eddy__wire_unpack(wire_bytes *b, wire_type as_type, uint64_t *value);

float  eddy__wire_float(uint64_t value);
double eddy__wire_double(uint64_t value);

#endif
