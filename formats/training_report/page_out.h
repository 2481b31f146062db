/* page_out.h -- text and JSON written into a page of HTML. */
#ifndef EDDY_FORMATS_TRAINING_REPORT_PAGE_OUT_H
#define EDDY_FORMATS_TRAINING_REPORT_PAGE_OUT_H

#include "../sink.h"
#include "../wire.h"

/* A page that is being written; what follows a failure does nothing, as in sink.h. */
typedef struct page_out {
    sink   file;
    bool   first;               /* the next item is the first of its list */
    size_t used;
    char   buffer[1 << 15];
} page_out;

void eddy__page_put(page_out *p, const char *text, size_t size);
void eddy__page_text(page_out *p, const char *text);
/* Writes what is in the buffer. */
void eddy__page_flush(page_out *p);

/* Values and items, with commas where they belong. Keys are NULL in lists. A NaN or an infinity is
 * null; bytes that are not UTF-8 become U+FFFD, and no text can end the script around it. */
void eddy__page_open(page_out *p, const char *key, char bracket);
void eddy__page_close(page_out *p, char bracket);
void eddy__page_number(page_out *p, const char *key, double value);
void eddy__page_string(page_out *p, const char *key, wire_bytes text);
void eddy__page_base64(page_out *p, const char *key, wire_bytes data);

#endif
