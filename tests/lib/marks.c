/* marks.c -- at each assertion, Check writes its place to a file, so that it can say after which
 * one a process crashed. For millions of assertions in a loop, that took seconds, and minutes under
 * valgrind. The linker puts __wrap__mark_point in the place of Check's function. */
#include <stdlib.h>
#include <string.h>

void __real__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line);

/* Only the first of several marks at one line is written, and none where a crash ends Check too. */
void __wrap__mark_point(const char *file, int line)
{
    static _Thread_local const char *last_file;
    static _Thread_local int         last_line;
    if (file == last_file && line == last_line) return;
    const char *fork = getenv("CK_FORK");
    if (!fork || strcmp(fork, "no") != 0) __real__mark_point(file, line);
    last_file = file, last_line = line;
}
