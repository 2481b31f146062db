/* marks.c -- says after which assertion a test crashed.
 *
 * Check writes the place of each assertion to a file, which for millions of assertions in loops
 * takes longer than all tests. The linker puts __wrap__mark_point in the place of Check's function:
 * it remembers the place, and writes it when the process crashes, and otherwise a hundred times a
 * second. With CK_FORK=no, a crash ends Check too, and the place is printed. */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void __real__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line);

enum { EACH = 10 * 1000 * 1000 };           /* nanoseconds */

static _Thread_local const char *last_file;
static _Thread_local int         last_line;
static bool                      forks;

/* The process ends by the same signal after it. */
static void crash(int number)
{
    char text[300];
    if (last_file && forks) __real__mark_point(last_file, last_line);
    else if (last_file) {
        const int n = snprintf(text, sizeof text, "%s:%d: the last assertion before signal %d\n",
                               last_file, last_line, number);
        if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0) _exit(1);
    }
    raise(number);
}

static void begin(void)
{
    static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM };
    const char      *fork = getenv("CK_FORK");
    forks = !fork || strcmp(fork, "no") != 0;
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        struct sigaction now;               /* sanitizers have handlers of their own */
        if (sigaction(crashes[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(crashes[i], &(struct sigaction){ .sa_handler = crash,
                                                       .sa_flags = (int)SA_RESETHAND }, NULL);
    }
}

void __wrap__mark_point(const char *file, int line)
{
    static bool                  begun;
    static _Thread_local int64_t last;
    struct timespec              t;
    if (!begun) begin();
    begun = true;
    const bool same = file == last_file && line == last_line;
    last_file = file, last_line = line;
    if (!forks || same) return;             /* writing allocates memory, which tests count */
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    const int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    if (now - last < EACH) return;
    last = now;
    __real__mark_point(file, line);
}
