/* case_messages.c -- see case_messages.h. */
#include "tests/lib/case_messages.h"
#include "tests/lib/golden.h"

#include <check.h>
#include <ctype.h>
#include <string.h>

/* The end of what is in brackets or quotes. */
static const char *closed(const char *s)
{
    static const char opening[] = "[('", closing[] = "])'";
    const char        end = closing[strchr(opening, *s) - opening];
    const char       *at = strchr(s + 1, end);
    return at ? at : s;
}

/* Equal up to the numbers and what is in brackets or quotes. */
static bool same_kind(const char *a, const char *b)
{
    while (*a && *a == *b) {
        if (strchr("[('", *a)) a = closed(a), b = closed(b);
        a++, b++;
        if (isdigit(*a) && isdigit(*b)) {
            while (isdigit(*a)) a++;
            while (isdigit(*b)) b++;
        }
    }
    return *a == *b;
}

#if !defined(__clang__) && (defined(__x86_64__) || defined(__i386__))
static const bool compared = true;
#else
static const bool compared = false;
#endif

void case_messages_begin(const char *golden)
{
    if (compared) golden_begin(golden);
}

void case_messages_finish(void)
{
    if (compared) golden_end();
}

void case_messages_add(case_messages *m, const char *message, const char *prefix)
{
    if (message && strncmp(message, prefix, strlen(prefix)) == 0) message += strlen(prefix);
    m->read += !message;
    m->refused += message != NULL;
    for (int i = 0; message && i < m->count; i++)
        if (same_kind(m->kinds[i], message)) return;
    if (!message) return;
    ck_assert_int_lt(m->count, (int)(sizeof m->kinds / sizeof *m->kinds));
    snprintf(m->kinds[m->count++], sizeof *m->kinds, "%s", message);
}

void case_messages_end(case_messages *m, const char *what)
{
    char line[400];
    snprintf(line, sizeof line, "%s: %d read, %d refused", what, m->read, m->refused);
    if (compared) golden_line(line);
    for (int i = 0; compared && i < m->count; i++) golden_line(m->kinds[i]);
    m->count = m->read = m->refused = 0;
}
