/* json.h -- reading JSON text part by part, where each call records where the text is damaged and
 * then returns false; and writing strings; not installed. */
#ifndef EDDY_GRAPH_FILES_JSON_H
#define EDDY_GRAPH_FILES_JSON_H

#include "graph/base/text.h"
#include "graph/files/token.h"

enum { EDDY_JSON_DEPTH = 32 };           /* the deepest value that is skipped */

/* A decoded string in the text; a zero follows it, and may also be in it. */
typedef struct json_text {
    const char *at;
    size_t      length;
} json_text;

bool eddy__json_expect(tokens *p, char c);
/* After an item: true if another one follows, false after the closing sign or after an error. */
bool eddy__json_next(tokens *p, char close, bool *ok);
/* A string, decoded where it stands, which it never outgrows; its final zero takes the place of the
 * quotation mark. */
bool eddy__json_string(tokens *p, json_text *out);
bool eddy__json_natural(tokens *p, int64_t *out);
/* Any value: its text is checked only as far as its end depends on it. */
bool eddy__json_skip(tokens *p);

/* Writes the string with its quotation marks. */
void eddy__json_put(eddy_text *t, const char *s);

#endif
