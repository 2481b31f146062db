/* text.c -- text buffers that grow, in memory or written to a file. */
#include "graph/base/text.h"

#include <string.h>

/* Stored before each buffer, so that a string can be freed by its address alone. */
typedef union text_header {
    struct {
        eddy_allocator allocator;
        size_t         size;         /* bytes with the header */
    } is;
    max_align_t align;
} text_header;

enum { FIRST = 480, CHUNK = 1 << 16 };

static text_header *header_of(char *s) { return (text_header *)(void *)s - 1; }

static void release(char *s)
{
    if (!s) return;
    eddy_allocator a = header_of(s)->is.allocator;
    eddy__release(&a, header_of(s), header_of(s)->is.size);
}

void eddy__text_flush(eddy_text *t)
{
    if (!t->writer || t->failed || t->length == 0) return;
    if (!eddy__writer_write(t->writer, t->at, t->length)) t->failed = true;
    t->length = 0;
}

/* Ensures room for n more bytes and a final zero. */
static bool make_room(eddy_text *t, size_t n)
{
    size_t need, size, capacity = t->capacity ? t->capacity : FIRST;
    if (t->writer && t->length + n > CHUNK) eddy__text_flush(t);
    if (t->failed) return false;
    if (n < t->capacity - t->length) return true;
    t->failed = true;
    if (!eddy__size_add(t->length, n, &need)) return false;
    while (capacity <= need)
        if (!eddy__size_mul(capacity, 2, &capacity)) return false;
    if (!eddy__size_add(capacity, sizeof(text_header), &size)) return false;
    text_header *h = eddy__allocate(t->allocator, size);
    if (!h) return false;
    h->is.allocator = *t->allocator;
    h->is.size = size;
    if (t->length > 0) memcpy(h + 1, t->at, t->length);
    release(t->at);
    t->at = (char *)(h + 1);
    t->capacity = capacity;
    t->failed = false;
    return true;
}

void eddy__text_add(eddy_text *t, const char *s, size_t n)
{
    if (!make_room(t, n)) return;
    memcpy(t->at + t->length, s, n);
    t->length += n;
}

void eddy__text_put(eddy_text *t, const char *fmt, ...)
{
    char    small[256];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (n < 0) t->failed = true;
    else if ((size_t)n < sizeof small) eddy__text_add(t, small, (size_t)n);
    else if (make_room(t, (size_t)n)) {
        va_start(args, fmt);
        vsnprintf(t->at + t->length, (size_t)n + 1, fmt, args);
        va_end(args);
        t->length += (size_t)n;
    }
}

char *eddy__text_string(eddy_text *t)
{
    char *s = NULL;
    if (make_room(t, 0)) {
        s = t->at;
        s[t->length] = 0;
        t->at = NULL;
    }
    eddy__text_free(t);
    return s;
}

void eddy__text_free(eddy_text *t)
{
    release(t->at);
    t->at = NULL;
    t->length = t->capacity = 0;
}

void eddy_string_free(char *s) { release(s); }
