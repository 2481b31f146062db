/* memory.h -- tells MemorySanitizer what a function reads and writes that is not compiled with it:
 * what it reads must have been written, and what it writes has been from then on. */
#ifndef EDDY_TESTS_MSAN_MEMORY_H
#define EDDY_TESTS_MSAN_MEMORY_H

#include <sanitizer/msan_interface.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part of each line of a matrix that counts. */
typedef enum line_part {
    WHOLE, FROM_DIAGONAL, AFTER_DIAGONAL, TO_DIAGONAL, BEFORE_DIAGONAL
} line_part;

/* Lines, rows or columns, of `length` elements of `size` bytes, `step` elements apart. */
typedef struct lines {
    const void *at;
    int64_t     count, length, step;
    size_t      size;
    line_part   part;
} lines;

static inline void each_line(lines l, void (*tell)(const volatile void *, size_t))
{
    for (int64_t i = 0; i < l.count; i++) {
        const int64_t first = l.part == FROM_DIAGONAL ? i : l.part == AFTER_DIAGONAL ? i + 1 : 0;
        const int64_t past = l.part == TO_DIAGONAL ? i + 1
                           : l.part == BEFORE_DIAGONAL ? i : l.length;
        const int64_t end = past < l.length ? past : l.length;
        if (first < end)
            tell((const char *)l.at + (size_t)(i * l.step + first) * l.size,
                 (size_t)(end - first) * l.size);
    }
}

static inline void reads(lines l) { each_line(l, __msan_check_mem_is_initialized); }
static inline void writes(lines l) { each_line(l, __msan_unpoison); }

static inline lines vector_of(const void *at, int64_t n, size_t size)
{
    return (lines){ at, 1, n, n, size, WHOLE };
}

static inline lines matrix_of(const void *at, int64_t lines_of_it, int64_t length, size_t size)
{
    return (lines){ at, lines_of_it, length, length, size, WHOLE };
}

#endif
