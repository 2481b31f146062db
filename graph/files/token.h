/* token.h -- the text of a file's header, read token by token: signs, digits, and where it is
 * damaged. Nothing after `end` is read, so the text needs no final zero. */
#ifndef EDDY_GRAPH_FILES_TOKEN_H
#define EDDY_GRAPH_FILES_TOKEN_H

#include "graph/base/base.h"

typedef struct tokens {
    const char *path, *place;    /* in messages: the file, and what its bytes are called */
    eddy_error *error;
    char       *start, *at, *end;
    size_t      prefix;          /* bytes of the file before start */
    void       *out;             /* the contents that the reader fills */
} tokens;

static inline size_t offset(const tokens *p) { return p->prefix + (size_t)(p->at - p->start); }

static inline bool damaged_at(tokens *p, size_t where, const char *what)
{
    return eddy__error_set(p->error, EDDY_CORRUPT, "%.600s: %s %zu: %s", p->path, p->place, where,
                           what);
}

static inline bool damaged(tokens *p, const char *what) { return damaged_at(p, offset(p), what); }

static inline void skip_space(tokens *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r'))
        p->at++;
}

/* Takes the sign if it is next, after spaces. */
static inline bool accept_char(tokens *p, char c)
{
    skip_space(p);
    const bool is = p->at < p->end && *p->at == c;
    if (is) p->at++;
    return is;
}

/* A natural number below 2^63 that begins here, of *digits digits; false if it is larger. */
static inline bool take_natural(tokens *p, int64_t *out, size_t *digits)
{
    const char *first = p->at;
    int64_t     v = 0;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p->at - '0', &v))
            return false;
    *out = v;
    *digits = (size_t)(p->at - first);
    return true;
}

#endif
