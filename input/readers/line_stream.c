/* line_stream.c -- a stream of the lines of a text file, of which a piece is in memory. */
#include "file.h"

#include <string.h>

enum { PIECE = 1 << 16 };

typedef struct lines {
    eddy_dataset d;
    eddy_files   files;
    bool         given;                  /* files, instead of POSIX */
    char        *path;
    int64_t      max_line;
    data_file    f;                      /* open from the first line on */
    char        *piece;
    size_t       at, filled;
    char        *line;
    size_t       length, room;
    int64_t      epoch, number;          /* of the next line */
} lines;

static bool add(lines *l, const char *from, size_t n, eddy_error *e)
{
    if (n > (uint64_t)l->max_line || l->length > (uint64_t)l->max_line - n)
        return eddy__input_fail(e, EDDY_LIMIT, "%.700s: line %lld has more than %lld bytes",
                                l->path, (long long)l->number + 1, (long long)l->max_line);
    if (l->length + n > l->room) {
        const size_t room = 2 * (l->length + n);
        char        *more = eddy__input_take(&l->d.allocator, room);
        if (!more) return eddy__input_no_memory(e);
        if (l->length) memcpy(more, l->line, l->length);
        eddy__input_give(&l->d.allocator, l->line, l->room);
        l->line = more;
        l->room = room;
    }
    memcpy(l->line + l->length, from, n);
    l->length += n;
    return true;
}

/* The next line to l->line. The last one need not end with "\n". */
static outcome read_line(lines *l, eddy_error *e)
{
    bool some = false;
    l->length = 0;
    l->f.error = e;
    if (!l->piece) l->piece = eddy__input_take(&l->d.allocator, PIECE);
    if (!l->piece) {
        eddy__input_no_memory(e);
        return INPUT_FAILED;
    }
    if (l->f.fd < 0 && !eddy__file_open(&l->f, l->path, l->given ? &l->files : NULL, e))
        return INPUT_FAILED;
    for (;;) {
        const char  *from = l->piece + l->at;
        const size_t left = l->filled - l->at;
        const char  *end = left ? memchr(from, '\n', left) : NULL;
        const size_t n = end ? (size_t)(end - from) : left;
        if (n > 0 && !add(l, from, n, e)) return INPUT_FAILED;
        some = some || left > 0;
        l->at += n + (end != NULL);
        if (end) break;
        const int64_t got = eddy__file_some(&l->f, l->piece, PIECE);
        if (got < 0) return INPUT_FAILED;
        l->at = 0;
        l->filled = (size_t)got;
        if (got == 0) break;
    }
    if (!some) return INPUT_END;
    if (l->length > 0 && l->line[l->length - 1] == '\r') l->length--;
    l->number++;
    return INPUT_RECORD;
}

static outcome lines_next(eddy_dataset *d, eddy_record *out)
{
    lines        *l = (lines *)d;
    const outcome o = read_line(l, out->error);
    if (o != INPUT_RECORD) return o;
    out->epoch = l->epoch;
    out->number = l->number - 1;
    void *to = eddy_record_make(out, 0, EDDY_UINT8, EDDY_SHAPE((int64_t)l->length));
    if (to && l->length) memcpy(to, l->line, l->length);
    return to ? INPUT_RECORD : INPUT_FAILED;
}

static void lines_rewind(eddy_dataset *d, int64_t epoch)
{
    lines *l = (lines *)d;
    eddy__file_free(&l->f);
    l->epoch = epoch;
    l->number = 0;
    l->at = l->filled = 0;
}

static void lines_save(eddy_dataset *d, int64_t *words)
{
    words[0] = ((lines *)d)->epoch;
    words[1] = ((lines *)d)->number;
}

/* eddy_files cannot seek: the lines before are read again. */
static bool lines_load(eddy_dataset *d, const int64_t *words, eddy_error *e)
{
    lines *l = (lines *)d;
    if (words[0] < 0 || words[1] < 0)
        return eddy__input_fail(e, EDDY_CORRUPT,
                                "dataset_seek: a number of the position is negative");
    lines_rewind(d, words[0]);
    while (l->number < words[1])
        if (read_line(l, e) != INPUT_RECORD)
            return eddy__input_fail(e, EDDY_OUT_OF_RANGE, "%.700s: there is no line %lld", l->path,
                                    (long long)words[1]);
    return true;
}

static void lines_release(eddy_dataset *d)
{
    lines *l = (lines *)d;
    eddy__file_free(&l->f);
    if (l->path) eddy__input_give(&d->allocator, l->path, strlen(l->path) + 1);
    eddy__input_give(&d->allocator, l->piece, PIECE);
    eddy__input_give(&d->allocator, l->line, l->room);
}

static const stage lines_stage = { .next = lines_next, .rewind = lines_rewind, .save = lines_save,
                                   .load = lines_load, .release = lines_release };

eddy_dataset *eddy_dataset_from_lines_with(const eddy_from_lines_args *given)
{
    eddy_from_lines_args a = { eddy_from_lines_args_DEFAULTS .size_ = sizeof a };
    eddy_copy_options(&a, given);
    const eddy_component c = { EDDY_UINT8, { .rank = 1, .dim = { EDDY_ANY } } };
    lines *l = eddy__source_new(sizeof *l, &lines_stage, a.allocator, "lines");
    if (!l) return NULL;
    l->f.fd = -1;
    l->given = a.files != NULL;
    if (a.files) l->files = *a.files;
    l->max_line = a.max_line;
    if (!a.path || a.max_line < 1)
        eddy__dataset_fail(&l->d, EDDY_INVALID_ARGUMENT, "dataset_from_lines: %s",
                           a.path ? "lines of less than 1 byte" : "no path is given");
    else {
        l->path = eddy__input_take(&l->d.allocator, strlen(a.path) + 1);
        if (l->path) strcpy(l->path, a.path);
        else eddy__input_no_memory(&l->d.error);
    }
    eddy__set_components(&l->d, &c, 1, "dataset_from_lines");
    return &l->d;
}
