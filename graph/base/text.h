/* text.h -- building text, and formatting numbers and bytes as text; not installed. Nothing here
 * depends on the locale. */
#ifndef EDDY_GRAPH_BASE_TEXT_H
#define EDDY_GRAPH_BASE_TEXT_H

#include "graph/base/files.h"

/* Text that grows. After a failure the calls do nothing, so that only the end must be checked. */
typedef struct eddy_text {
    const eddy_allocator *allocator;
    eddy_writer          *writer;    /* output file for long text; NULL: the text stays in memory */
    char                 *at;
    size_t                length, capacity;
    bool                  failed;    /* memory is out, or the writer failed */
} eddy_text;

void  eddy__text_add(eddy_text *t, const char *s, size_t n);
void  eddy__text_put(eddy_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void  eddy__text_flush(eddy_text *t);              /* the rest to the writer */
/* The text as a string for eddy_string_free; NULL after a failure. Empties t. */
char *eddy__text_string(eddy_text *t);
void  eddy__text_free(eddy_text *t);

/* UTF-8 as Unicode defines it: shortest forms, no surrogates.  `bad` is the
 * index of the first byte that is not part of it, n if all is well. */
size_t eddy__utf8_check(const char *s, size_t n);  /* returns `bad` */
/* Appends the character to buf, which has room for four bytes. Returns their number. */
size_t eddy__utf8_put(uint32_t c, char *buf);

enum { EDDY_NUMBER_TEXT = 40 };
/* The shortest decimal form that reads back to the same bits, as a float if
 * `single`: "0.1", "-0", ".inf", ".nan"; a NaN of other bits is "nan:0x...". */
char *eddy__number_print(double v, bool single, char buf[EDDY_NUMBER_TEXT]);
/* All of s; the nearest double or, if `single`, float. */
bool  eddy__number_parse(const char *s, bool single, double *out);
bool  eddy__integer_parse(const char *s, int64_t *out);

/* Base64 in lines of 76 characters, each indented by `indent` blanks. */
void  eddy__base64_put(eddy_text *t, const void *p, size_t n, int indent);
/* Decodes s[0..length), skipping white space, into exactly n bytes; false unless it is the
 * canonical encoding of n bytes. */
bool  eddy__base64_parse(const char *s, size_t length, void *p, size_t n);
/* How many bytes s would decode to. */
size_t eddy__base64_size(const char *s, size_t length);

#endif
