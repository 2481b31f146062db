/* disk.c -- see disk.h. */
#define _XOPEN_SOURCE 700
#include "tests/torture/disk.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *f)
{
    (void)s, (void)kind, (void)f;
    return remove(path);
}

void remove_tree(const char *folder) { nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

void disk_begin(disk *d, bool is_real)
{
    static char folder[64];
    *d = (disk){ .folder = "d", .opened = system_calls_open() };
    if (!is_real) {
        memory_files_init(&d->memory);
        d->files = &d->memory.table;
        return;
    }
    snprintf(folder, sizeof folder, "/tmp/eddy-torture-%ld", (long)getpid());
    if (mkdir(folder, 0700) != 0) abort();
    d->folder = folder;
}

void disk_end(disk *d)
{
    if (d->files) memory_files_free(&d->memory);
    else remove_tree(d->folder);
}

void disk_fail(disk *d, call_fault f)
{
    if (!d->files) {
        system_calls_begin(f);
        return;
    }
    d->memory.calls = 0;
    d->memory.fault =
        (memory_fault){ .at = f.at, .number = f.number, .persistent = f.persistent };
}

int disk_fail_end(disk *d)
{
    d->memory.fault = (memory_fault){ 0 };
    return d->files ? d->memory.calls : system_calls_end();
}

int disk_open_files(const disk *d)
{
    return d->files ? d->memory.n_open : system_calls_open() - d->opened;
}

static bool is_temporary(const char *name) { return strstr(name, ".tmp") != NULL; }

bool disk_has_temporary(const disk *d)
{
    bool found = false;
    DIR *folder = d->files ? NULL : opendir(d->folder);
    for (int i = 0; d->files && i < MEMORY_FILES; i++)
        found = found || is_temporary(d->memory.entries[i].name);
    for (struct dirent *e; folder && (e = readdir(folder));)
        found = found || is_temporary(e->d_name);
    if (folder) closedir(folder);
    return found;
}
