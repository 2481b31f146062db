/* parser.h -- what the parsers of protobuf messages share: memory, and the first damage. */
#ifndef EDDY_FORMATS_PARSER_H
#define EDDY_FORMATS_PARSER_H

#include "region.h"

/* A parser of one file: bad once anything is damaged or memory is out. */
typedef struct parser {
    region        *memory;
    wire_bytes     file;
    const uint8_t *at;          /* the first damaged place */
    bool           bad;
} parser;

/* count elements of this size; NULL, and bad, if out of memory. */
void        *eddy__parse_take(parser *p, size_t count, size_t size);
/* Notes that a message or field is damaged at this place. */
void         eddy__parse_damaged(parser *p, const uint8_t *at);
/* The next field of w; false at the end, and at damage, which it notes. */
bool         eddy__parse_next(parser *p, wire *w, wire_field *f);
const char  *eddy__parse_string(parser *p, const wire_field *f);
/* All strings of the repeated field `number` of w. */
const char **eddy__parse_strings(parser *p, wire w, uint32_t number, size_t *count);
/* All its numbers, converted to 64 bits; as_type is how a single number is written. */
uint64_t    *eddy__parse_numbers(parser *p, wire w, uint32_t number, wire_type as_type,
                                 size_t *count);
/* The same numbers in their place, which has been checked: many numbers take no memory. */
wire_numbers eddy__parse_numbers_in_place(parser *p, wire w, uint32_t number, wire_type as_type,
                                          size_t *count);

#endif
