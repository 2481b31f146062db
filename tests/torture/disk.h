/* disk.h -- where savers write: a file system in memory, or a folder of this machine, whose calls
 * fail on request. */
#ifndef EDDY_TESTS_TORTURE_DISK_H
#define EDDY_TESTS_TORTURE_DISK_H

#include "tests/lib/files/memory_files.h"
#include "tests/torture/system_calls.h"

typedef struct disk {
    const eddy_files *files;         /* NULL: POSIX */
    const char       *folder;
    memory_files      memory;
    int               opened;        /* files that were open at the beginning */
} disk;

/* An empty one. */
void disk_begin(disk *d, bool is_real);
void disk_end(disk *d);
/* From now on; calls count from 0. A disk in memory has no faults by chance. */
void disk_fail(disk *d, call_fault f);
/* No more failures; the calls since disk_fail. */
int  disk_fail_end(disk *d);
int  disk_open_files(const disk *d);
bool disk_has_temporary(const disk *d);

/* Removes a folder with all that is in it. */
void remove_tree(const char *folder);

#endif
