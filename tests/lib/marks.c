/* marks.c -- says after which assertion a test crashed.
 *
 * Check writes the place of each assertion to a file, which for millions of assertions in loops
 * takes longer than the tests themselves. The linker puts __wrap__mark_point in the place of
 * Check's function: it remembers the place, which is printed when the process crashes or is ended
 * by a limit of time. Check learns it a hundred times a second, or never with CK_FORK=no, since
 * it allocates memory, which tests count. */
#include <signal.h>
#include <stdatomic.h>
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

/* Of any thread, since one that crashes may have no assertions of its own. */
static _Atomic(const char *) last_file;
static atomic_int            last_line;
static bool                  forks;

/* Afterwards the process ends by the same signal. */
static void crash(int number)
{
    const char *file = atomic_load(&last_file);
    if (file)
        dprintf(STDERR_FILENO, "%s:%d: the last assertion before signal %d\n", file,
                atomic_load(&last_line), number);
    raise(number);
}

/* Before Check has a handler of SIGTERM, which calls this one, and before any thread. */
__attribute__((constructor)) static void begin(void)
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
    static _Thread_local int64_t last;
    struct timespec              t;
    atomic_store_explicit(&last_file, file, memory_order_relaxed);
    atomic_store_explicit(&last_line, line, memory_order_relaxed);
    if (!forks) return;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    const int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    if (now - last < EACH) return;
    last = now;
    __real__mark_point(file, line);
}
