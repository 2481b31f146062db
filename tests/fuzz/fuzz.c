/* fuzz.c -- see fuzz.h. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *fuzz_input;

void require(bool ok)
{
    if (ok) return;
    if (fuzz_input) fprintf(stderr, "%s: the reader is wrong\n", fuzz_input);
    abort();
}

void use_values(eddy_checkpoint *c, const eddy_error *e)
{
    require((c != NULL) == (e->status == EDDY_OK));
    for (int i = 0; i < eddy_checkpoint_count(c); i++) {
        eddy_error  why = { 0 };
        eddy_array *a = eddy_checkpoint_value(c, eddy_checkpoint_entry_at(c, i).name, &why);
        require((a != NULL) == (why.status == EDDY_OK));
        eddy_array_free(a);
    }
    eddy_checkpoint_free(c);
}

static int open_file(void *context, const char *path, int flags)
{
    (void)path, (void)flags;
    ((one_file *)context)->at = 0;
    return 0;
}

static int64_t read_file(void *context, int fd, void *p, size_t n)
{
    one_file *f = context;
    (void)fd;
    if (n > f->in_size - f->at) n = f->in_size - f->at;
    if (n > 0) memcpy(p, f->in + f->at, n);
    f->at += n;
    return (int64_t)n;
}

static int64_t write_file(void *context, int fd, const void *p, size_t n)
{
    one_file *f = context;
    uint8_t  *out = realloc(f->out, f->out_size + n + 1);
    (void)fd;
    require(out != NULL);
    if (n > 0) memcpy(out + f->out_size, p, n);
    f->out = out;
    f->out_size += n;
    return (int64_t)n;
}

static int64_t file_size(void *context, int fd)
{
    return (void)fd, (int64_t)((one_file *)context)->in_size;
}

static int do_nothing(void *context, int fd) { return (void)context, (void)fd, 0; }
static int do_nothing_at(void *context, const char *path) { return (void)context, (void)path, 0; }
static int rename_nothing(void *context, const char *from, const char *to)
{
    return (void)context, (void)from, (void)to, 0;
}

void one_file_init(one_file *f, const uint8_t *data, size_t size)
{
    *f = (one_file){
        .table = { .open = open_file, .read = read_file, .write = write_file, .size = file_size,
                   .sync = do_nothing, .close = do_nothing, .rename = rename_nothing,
                   .unlink = do_nothing_at, .sync_dir = do_nothing_at, .context = f },
        .in = data, .in_size = size,
    };
}

void one_file_rewind(one_file *f)
{
    f->in = f->out;
    f->in_size = f->out_size;
}

void one_file_free(one_file *f)
{
    free(f->out);
}
