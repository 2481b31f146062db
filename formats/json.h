/* json.h -- a reader of JSON, for TensorFlow.js: a tree of values with their places in the text.
 *
 * It is our own: the tokens of Eddy's reader of safetensors belong to the core and know only what
 * its headers need, jansson would be a dependency for one file format, and neither keeps the byte
 * offsets of values. */
#ifndef EDDY_FORMATS_JSON_H
#define EDDY_FORMATS_JSON_H

#include "region.h"

enum { JSON_MAX_DEPTH = 64 };

typedef enum json_kind {
    JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT
} json_kind;

typedef struct json {
    json_kind    kind;
    const char  *key;           /* of a member of an object; else "" */
    wire_bytes   text;          /* of a string, decoded; followed by a zero */
    double       number;        /* also 0 or 1 of a bool */
    int64_t      integer;       /* the same, saturated and rounded toward zero */
    struct json *items, *next;  /* the first item of an array or object; the item after this one */
    size_t       count;         /* of items */
    size_t       offset;        /* in the text */
} json;

/* Parses a text, which is one value. NULL if it is damaged, with the damaged place in *at, or if
 * out of memory (region->full). Members of objects may repeat; the last one counts. */
const json *eddy__json_parse(region *r, wire_bytes text, size_t *at);

/* The member of an object; NULL if there is none, if o is not an object, or for NULL. */
const json *eddy__json_get(const json *o, const char *key);
/* The text of a string; `otherwise` for anything else. */
const char *eddy__json_text(const json *v, const char *otherwise);
/* The integer of a number, or of a string of digits as protobuf's JSON writes 64 bits. */
int64_t     eddy__json_integer(const json *v, int64_t otherwise);
/* The first item of an array; NULL for anything else. */
const json *eddy__json_items(const json *v);

#endif
