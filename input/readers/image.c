/* image.c -- an image of either kind. A program that calls only one reader does not link the
 * other. */
#include "file.h"

#include <string.h>

eddy_array *eddy_image_load(const char *path, const eddy_files *files, eddy_error *error)
{
    data_file f;
    uint8_t   first[4] = { 0 };
    if (!eddy__file_open(&f, path, files, error)) return NULL;
    int64_t n = 1;
    for (size_t at = 0; at < sizeof first && n > 0; at += n > 0 ? (size_t)n : 0)
        n = eddy__file_some(&f, first + at, sizeof first - at);
    eddy__file_free(&f);
    if (n < 0) return NULL;
    if (memcmp(first, "\x89PNG", 4) == 0) return eddy_png_load(path, files, error);
    if (first[0] == 0xff && first[1] == 0xd8) return eddy_jpeg_load(path, files, error);
    eddy__file_damaged(&f, 0, "neither a PNG nor a JPEG image");
    return NULL;
}
