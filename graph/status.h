/* status.h -- the version, statuses, errors, allocators, file access and instruction sets. Included
 * by graph.h. */
#ifndef EDDY_STATUS_H
#define EDDY_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EDDY_API __attribute__((visibility("default")))

/* The version of these headers: EDDY_VERSION is "0.1.0", and EDDY_VERSION_NUMBER is 100; version
 * numbers compare as integers. */
#define EDDY_VERSION_MAJOR 0
#define EDDY_VERSION_MINOR 1
#define EDDY_VERSION_PATCH 0
#define EDDY_VERSION_NUMBER \
    (EDDY_VERSION_MAJOR * 10000 + EDDY_VERSION_MINOR * 100 + EDDY_VERSION_PATCH)
#define EDDY_TEXT_2_(x) #x
#define EDDY_TEXT_(x)   EDDY_TEXT_2_(x)
#define EDDY_VERSION \
    EDDY_TEXT_(EDDY_VERSION_MAJOR) "." EDDY_TEXT_(EDDY_VERSION_MINOR) "." \
    EDDY_TEXT_(EDDY_VERSION_PATCH)

/* The version of the library that the program is running with, a static string. */
EDDY_API const char *eddy_version(void);

/* ------------------------------------------------------------- status -- */

/* The enum, the names and the texts. In brackets: what TensorFlow raises in the same situation. */
#define EDDY_STATUS_LIST(X)                                                     \
    X(OK,                "no error")                                            \
    X(INVALID_ARGUMENT,  "invalid argument")      /* [ValueError, InvalidArgument] */ \
    X(BAD_DTYPE,         "wrong element type")    /* [TypeError]                */ \
    X(BAD_SHAPE,         "shapes do not fit")     /* [ValueError]               */ \
    X(NOT_FOUND,         "no such element")       /* [KeyError, ValueError]     */ \
    X(NO_GRADIENT,       "no gradient defined")   /* [LookupError]              */ \
    X(NOT_FED,           "placeholder not fed")   /* [InvalidArgument]          */ \
    X(UNINITIALIZED,     "variable uninitialized")/* [FailedPrecondition]       */ \
    X(FINALIZED,         "graph is finalized")    /* [RuntimeError]             */ \
    X(OUT_OF_RANGE,      "out of range")          /* [OutOfRange, InvalidArgument] */ \
    X(LIMIT,             "a published limit is exceeded") /* [ResourceExhausted] */ \
    X(NO_MEMORY,         "out of memory")         /* [ResourceExhausted]        */ \
    X(IO,                "input or output failed")                              \
    X(CORRUPT,           "file is damaged")       /* [DataLoss]                 */ \
    X(CLOSED,            "object is closed")      /* [RuntimeError]             */ \
    X(CHECK_FAILED,      "a check in the graph failed") /* [InvalidArgument]    */ \
    X(UNIMPLEMENTED,     "not implemented for this input") /* [Unimplemented]   */ \
    X(INTERNAL,          "a defect of the library")                             \
    X(CANCELLED,         "the run was cancelled") /* [Cancelled]                */ \
    X(TIMED_OUT,         "the run took too long") /* [DeadlineExceeded]         */

#define EDDY_STATUS_ENUM(name, text) EDDY_##name,
typedef enum eddy_status { EDDY_STATUS_LIST(EDDY_STATUS_ENUM) } eddy_status;
#undef EDDY_STATUS_ENUM

/* The constant without its prefix ("BAD_SHAPE"), and a short text: static; "?" if it is unknown. */
EDDY_API const char *eddy_status_name(eddy_status s);
EDDY_API const char *eddy_status_text(eddy_status s);

/* An error with its message, for functions that have no graph or session to record it on.
 * Zero-initialize it; the functions below accept NULL for it. */
typedef struct eddy_error {
    eddy_status status;
    char        message[1012];
} eddy_error;

/* ------------------------------------------------- allocator and files -- */

/* A memory allocator. allocate returns NULL if no memory is left; release gets the size that was
 * requested. Both must be thread-safe if the graph or its sessions are used by several threads.
 * The default is libc's. */
typedef struct eddy_allocator {
    void *(*allocate)(void *context, size_t size);
    void  (*release)(void *context, void *p, size_t size);
    void   *context;
} eddy_allocator;

/* File access. Each function returns -1 with errno set on failure, like the POSIX function of
 * its name. The default is POSIX.
 *   open     flags are open(2)'s; mode 0666 less the umask
 *   size     bytes in the file; errno is ESPIPE for a pipe, a device or the like
 *   sync_dir makes a rename inside the directory of `path` durable */
typedef struct eddy_files {
    int     (*open)(void *context, const char *path, int flags);
    int64_t (*read)(void *context, int fd, void *p, size_t n);
    int64_t (*write)(void *context, int fd, const void *p, size_t n);
    int64_t (*size)(void *context, int fd);
    int     (*sync)(void *context, int fd);
    int     (*close)(void *context, int fd);
    int     (*rename)(void *context, const char *from, const char *to);
    int     (*unlink)(void *context, const char *path);
    int     (*sync_dir)(void *context, const char *path);
    void     *context;
} eddy_files;

/* The default, to which a program's own table can pass calls on. It never waits for the other end
 * of a pipe. */
EDDY_API const eddy_files *eddy_posix_files(void);

/* --------------------------------------------------- instruction sets -- */

/* Limits the library's own kernels, in the whole process, to "baseline", "avx2" or "avx512", and
 * replaces what the environment variable EDDY_CPU says; NULL: the limit is that of EDDY_CPU again.
 * A processor that lacks the set uses the largest one that it has. False for another word, which
 * changes nothing.
 *
 * It holds for kernels that are chosen from now on. A session keeps those of its plans, so call it
 * before the first session. Any thread may call it. OpenBLAS and the C library choose their
 * instructions by themselves; docs/guide/bits.md says how to pin them. */
EDDY_API bool eddy_limit_instructions(const char *set);

#ifdef __cplusplus
}
#endif
#endif
