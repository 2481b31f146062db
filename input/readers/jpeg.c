/* jpeg.c -- JPEG images through libjpeg-turbo. */
#include "file.h"

#if __has_include(<jpeglib.h>)
#include <stdio.h>

#include <jpeglib.h>

#include <jerror.h>
#include <setjmp.h>

enum { MAX_SCANS = 500 };

typedef struct decoder {
    struct jpeg_decompress_struct c;
    struct jpeg_error_mgr         errors;
    struct jpeg_progress_mgr      progress;
    jmp_buf                       out;
    const data_file              *f;
} decoder;

static void fail(j_common_ptr c)
{
    decoder *d = (decoder *)c->client_data;
    char     text[JMSG_LENGTH_MAX];
    (*c->err->format_message)(c, text);
    if (c->err->msg_code == JERR_OUT_OF_MEMORY)
        eddy__input_fail(d->f->error, EDDY_NO_MEMORY, "%.800s: out of memory", d->f->path);
    eddy__file_damaged(d->f, d->c.src ? d->f->size - (int64_t)d->c.src->bytes_in_buffer : 0, text);
    longjmp(d->out, 1);
}

/* Warnings are of damaged data, which libjpeg would replace by gray. */
static void note(j_common_ptr c, int level)
{
    if (level < 0) fail(c);
}

/* Each scan of a progressive image goes through all of it, so many scans cost much time. */
static void check_scans(j_common_ptr c)
{
    decoder *d = (decoder *)c->client_data;
    if (d->c.input_scan_number <= MAX_SCANS) return;
    eddy__input_fail(d->f->error, EDDY_LIMIT, "%.700s: more than %d scans", d->f->path, MAX_SCANS);
    longjmp(d->out, 1);
}

static bool header(decoder *d)
{
    const data_file *f = d->f;
    jpeg_create_decompress(&d->c);
    d->c.client_data = d;
    d->c.progress = &d->progress;
    jpeg_mem_src(&d->c, f->bytes, (unsigned long)f->size);
    jpeg_read_header(&d->c, TRUE);
    if ((int64_t)d->c.image_width * d->c.image_height > 1 << 28)
        return eddy__input_fail(f->error, EDDY_LIMIT, "%.700s: %u by %u pixels; the limit is 2^28",
                                f->path, d->c.image_width, d->c.image_height);
    /* A block of 64 pixels has at least a bit. */
    if ((int64_t)d->c.image_width * d->c.image_height > 4096 * (f->size + 16))
        return eddy__file_damaged(f, 0, "the size of the image does not fit that of the file");
    d->c.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&d->c);
    return true;
}

/* In two calls, as in png.c. */
static bool decode(decoder *d, eddy_array **a)
{
    if (setjmp(d->out)) return false;
    if (!*a) {
        if (!header(d)) return false;
        const eddy_shape s =
            EDDY_SHAPE(d->c.output_height, d->c.output_width, d->c.output_components);
        return (*a = eddy__file_array(d->f, EDDY_UINT8, s)) != NULL;
    }
    const eddy_shape s = eddy_array_shape(*a);
    while (d->c.output_scanline < d->c.output_height) {
        JSAMPROW row = (JSAMPROW)eddy_array_data(*a) +
                       (size_t)d->c.output_scanline * (size_t)(s.dim[1] * s.dim[2]);
        jpeg_read_scanlines(&d->c, &row, 1);
    }
    jpeg_finish_decompress(&d->c);
    return true;
}

eddy_array *eddy_jpeg_load(const char *path, const eddy_files *files, eddy_error *error)
{
    data_file   f;
    eddy_array *a = NULL;
    eddy_error  e = { EDDY_OK, "" };
    if (!eddy__file_read(&f, path, files, error)) return NULL;
    f.error = &e;
    decoder d = { .f = &f };
    d.c.err = jpeg_std_error(&d.errors);
    d.c.client_data = &d;
    d.errors.error_exit = fail;
    d.errors.emit_message = note;
    d.progress.progress_monitor = check_scans;
    const bool ok = decode(&d, &a) && decode(&d, &a);
    jpeg_destroy_decompress(&d.c);
    eddy__file_free(&f);
    if (ok) return a;
    eddy__input_fail(error, e.status, "%s", e.message);
    eddy_array_free(a);
    return NULL;
}

#else
eddy_array *eddy_jpeg_load(const char *path, const eddy_files *files, eddy_error *error)
{
    (void)files;
    eddy__input_fail(
        error, EDDY_UNIMPLEMENTED,
        "%.700s: the library was built without libjpeg-turbo (Debian: libjpeg-dev), which "
        "reads JPEG images",
        path ? path : "");
    return NULL;
}
#endif
