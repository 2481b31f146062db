/* png.c -- PNG images through libpng. */
#include "file.h"

#if __has_include(<png.h>)
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    const data_file *f;
    int64_t          at;
    bool             no_memory;          /* an allocation failed */
} bytes;

static png_voidp take(png_structp png, png_alloc_size_t n)
{
    bytes *b = png_get_mem_ptr(png);
    void  *p = malloc(n);
    if (!p) b->no_memory = true;
    return p;
}

static void give(png_structp png, png_voidp p)
{
    (void)png;
    free(p);
}

static void read_bytes(png_structp png, png_bytep to, png_size_t n)
{
    bytes *b = png_get_io_ptr(png);
    if (n > (uint64_t)(b->f->size - b->at)) png_error(png, "the file ends early");
    memcpy(to, b->f->bytes + b->at, n);
    b->at += (int64_t)n;
}

static void fail(png_structp png, png_const_charp message)
{
    const bytes *b = png_get_error_ptr(png);
    if (b->no_memory)
        eddy__input_fail(b->f->error, EDDY_NO_MEMORY, "%.800s: out of memory", b->f->path);
    else eddy__file_damaged(b->f, b->at, message);
    png_longjmp(png, 1);
}

static void ignore(png_structp png, png_const_charp message) { (void)png, (void)message; }

/* Reads the header and sets the format of the rows. False if the file has too few bytes for it. */
static bool header(png_structp png, png_infop info, const data_file *f)
{
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_read_info(png, info);
    const int64_t rows = png_get_image_height(png, info), columns = png_get_image_width(png, info);
    if (rows * columns > 1 << 28)
        return eddy__input_fail(f->error, EDDY_LIMIT,
                                "%.700s: %lld by %lld pixels; the limit is 2^28", f->path,
                                (long long)columns, (long long)rows);
    if (rows * (int64_t)png_get_rowbytes(png, info) > eddy__inflate_most(f->size))
        return eddy__file_damaged(f, 16, "the size of the image does not fit that of the file");
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    return true;
}

/* The array is made between two calls of this function, because a longjmp would lose it. Without an
 * array only the header is read, into *s. */
static bool decode(png_structp png, png_infop info, const data_file *f, eddy_array **a, int *passes)
{
    if (setjmp(png_jmpbuf(png))) return false;
    if (!*a) {
        if (!header(png, info, f)) return false;
        *passes = png_set_interlace_handling(png);
        const eddy_shape s =
            EDDY_SHAPE(png_get_image_height(png, info), png_get_image_width(png, info),
                       png_get_channels(png, info));
        return (*a = eddy__file_array(f, EDDY_UINT8, s)) != NULL;
    }
    const eddy_shape s = eddy_array_shape(*a);
    for (int pass = 0; pass < *passes; pass++)
        for (int64_t row = 0; row < s.dim[0]; row++)
            png_read_row(png, (png_bytep)eddy_array_data(*a) + row * s.dim[1] * s.dim[2], NULL);
    png_read_end(png, NULL);
    return true;
}

eddy_array *eddy_png_load(const char *path, const eddy_files *files, eddy_error *error)
{
    data_file   f;
    eddy_array *a = NULL;
    int         passes = 1;
    eddy_error  e = { EDDY_OK, "" };
    if (!eddy__file_read(&f, path, files, error)) return NULL;
    f.error = &e;
    bytes       b = { .f = &f };
    png_structp png =
        png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &b, fail, ignore, &b, take, give);
    png_infop   info = png ? png_create_info_struct(png) : NULL;
    bool        ok = info != NULL;
    if (ok) {
        png_set_read_fn(png, &b, read_bytes);
        ok = decode(png, info, &f, &a, &passes) && decode(png, info, &f, &a, &passes);
    } else eddy__input_fail(&e, EDDY_NO_MEMORY, "%.800s: out of memory", path);
    png_destroy_read_struct(&png, &info, NULL);
    eddy__file_free(&f);
    if (ok) return a;
    eddy__input_fail(error, e.status, "%s", e.message);
    eddy_array_free(a);
    return NULL;
}

#else
eddy_array *eddy_png_load(const char *path, const eddy_files *files, eddy_error *error)
{
    (void)files;
    eddy__input_fail(
        error, EDDY_UNIMPLEMENTED,
        "%.700s: the library was built without libpng (Debian: libpng-dev), which reads "
        "PNG images",
        path ? path : "");
    return NULL;
}
#endif
