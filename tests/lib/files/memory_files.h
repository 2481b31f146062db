/* memory_files.h -- a small file system in memory that fails on request and shows what remains
 * after a power loss; and an allocator that fails on request. */
#ifndef EDDY_TESTS_LIB_MEMORY_FILES_H
#define EDDY_TESTS_LIB_MEMORY_FILES_H

#include "graph/base/files.h"

enum { MEMORY_FILES = 64, MEMORY_NAME = 256 };

typedef struct memory_content {
    char  *bytes, *durable;          /* as written; as of the last sync */
    size_t size, durable_size;
    size_t room;                     /* that bytes has */
} memory_content;

typedef struct memory_entry {
    char name[MEMORY_NAME];          /* "" for none */
    int  content;
} memory_entry;

typedef enum memory_step_kind { STEP_CREATE, STEP_RENAME, STEP_UNLINK } memory_step_kind;

typedef struct memory_step {         /* a change of the folder that is not durable yet */
    memory_step_kind kind;
    char             from[MEMORY_NAME], to[MEMORY_NAME];
    int              content;
} memory_step;

/* The failure, from the call `at` (counted from 1) on, or only there. */
typedef struct memory_fault {
    int  at;
    int  number;                     /* errno; 0: short reads and writes of one byte */
    bool persistent;
    bool power;                      /* no call from there on has an effect */
} memory_fault;

typedef struct memory_files {
    eddy_files     table;            /* its context is this struct */
    memory_content contents[MEMORY_FILES];
    memory_entry   entries[MEMORY_FILES], durable[MEMORY_FILES];
    memory_step    steps[2 * MEMORY_FILES];
    struct { int content; size_t at; bool writes; } open[MEMORY_FILES];
    int            n_contents, n_steps, n_open, calls;
    bool           lazy;             /* sync does nothing: what careless code would have */
    memory_fault   fault;
} memory_files;

void memory_files_init(memory_files *m);
void memory_files_free(memory_files *m);
/* Puts a durable file there, and takes one out (NULL if there is none). */
void memory_files_put(memory_files *m, const char *name, const void *p, size_t n);
const memory_content *memory_files_get(const memory_files *m, const char *name);
int  memory_files_count(const memory_files *m);
/* A copy as it might be found after a power loss; `seed` selects one of the possibilities. */
void memory_files_crash(const memory_files *m, unsigned seed, memory_files *after);

typedef struct failing_allocator {
    eddy_allocator table;            /* its context is this struct */
    long           calls, live;      /* allocations so far; bytes not released */
    long           at;               /* the call that fails, from 1; 0: none */
    bool           persistent;
} failing_allocator;

void failing_allocator_init(failing_allocator *f);

#endif
