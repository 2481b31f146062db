/* messages.c -- messages on stderr, and memory that lasts until the program ends. */
#include "command/command.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *command_name = NULL;

/* In a thread that keeps its failures, the first one. */
static _Thread_local bool keeps = false, quiet = false;
static _Thread_local char kept[1024];

const char *messages_kept(void) { return kept; }
void        messages_keep(bool remarks)
{
    keeps = true;
    quiet = !remarks;
}

static void keep(const char *file, const char *format, va_list args)
{
    if (*kept) return;
    const int n = file ? snprintf(kept, sizeof kept, "%s: ", *file ? file : "''") : 0;
    if (n >= 0 && (size_t)n < sizeof kept)
        vsnprintf(kept + n, sizeof kept - (size_t)n, format, args);
}

static void say(const char *file, const char *format, va_list args)
{
    fflush(stdout);
    fprintf(stderr, "eddy%s%s: ", command_name ? " " : "", command_name ? command_name : "");
    if (file) fprintf(stderr, "%s: ", *file ? file : "''");
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int fail(const char *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (keeps) keep(file, format, args);
    else say(file, format, args);
    va_end(args);
    return TROUBLE;
}

void note(const char *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!quiet) say(file, format, args);
    va_end(args);
}

int fail_error(const char *file, const char *message)
{
    const size_t n = file ? strlen(file) : 0;
    if (n > 0 && strncmp(message, file, n) == 0 && message[n] == ':')
        return fail(NULL, "%s", message);
    return fail(file, "%s", message);
}

/* The number of letters to insert, remove or change. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    int       row[LONGEST + 1];
    const int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (int j = 0; j <= m; j++) row[j] = j;
    for (int i = 1; i <= n; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int least = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            if (row[j] + 1 < least) least = row[j] + 1;
            if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
            row[j] = least;
        }
    }
    return row[m];
}

const char *nearest(const char *word, const char *const *known)
{
    const char *best = NULL;
    int         least = (int)strlen(word) / 3 + 2;
    for (; *known; known++) {
        const int d = distance(word, *known);
        if (d >= least) continue;
        least = d;
        best = *known;
    }
    return best;
}

/* Each piece begins with the address of the one before it. */
typedef struct piece {
    struct piece *before;
    max_align_t   bytes[];
} piece;
static piece          *last = NULL;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *room(size_t count, size_t size)
{
    piece *p = size > 0 && count > (SIZE_MAX - sizeof *p) / size
                   ? NULL : calloc(1, sizeof *p + count * size);
    if (!p) {
        fail(NULL, "out of memory");
        exit(TROUBLE);
    }
    pthread_mutex_lock(&lock);
    p->before = last;
    last = p;
    pthread_mutex_unlock(&lock);
    return p->bytes;
}

void room_free(void)
{
    for (piece *before; last; last = before) {
        before = last->before;
        free(last);
    }
}

char *text(const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    char     *s = room((size_t)(n < 0 ? 0 : n) + 1, 1);
    if (n > 0) vsnprintf(s, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    return s;
}
