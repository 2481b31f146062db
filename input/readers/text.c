/* text.c -- the bytes and the characters of a file. */
#include "file.h"

eddy_array *eddy_bytes_load(const char *path, const eddy_files *files, eddy_error *error)
{
    data_file f;
    if (!eddy__file_open(&f, path, files, error)) return NULL;
    eddy_array *a = eddy__file_array(&f, EDDY_UINT8, EDDY_SHAPE(f.size));
    const bool  ok = a && eddy__file_next(&f, eddy_array_data(a), f.size);
    eddy__file_free(&f);
    if (ok) return a;
    eddy_array_free(a);
    return NULL;
}

/* The character at p and its number of bytes; 0 if it is not UTF-8 as Unicode defines it: shortest
 * forms, no surrogates. The zero behind the bytes ends a character that is cut. */
static int decode(const uint8_t *p, int32_t *c)
{
    static const int32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const int            n = p[0] < 0x80       ? 1
                             : p[0] >> 5 == 6  ? 2
                             : p[0] >> 4 == 14 ? 3
                             : p[0] >> 3 == 30 ? 4
                                               : 0;
    if (n == 0) return 0;
    *c = n == 1 ? p[0] : p[0] & (0x7f >> n);
    for (int i = 1; i < n; i++) {
        if (p[i] >> 6 != 2) return 0;
        *c = *c << 6 | (p[i] & 0x3f);
    }
    return *c >= least[n] && *c <= 0x10ffff && *c >> 11 != 27 ? n : 0;
}

eddy_array *eddy_characters_load(const char *path, const eddy_files *files, eddy_error *error)
{
    data_file f;
    int64_t   count = 0;
    int32_t   c;
    if (!eddy__file_read(&f, path, files, error)) return NULL;
    bool ok = true;
    for (int64_t at = 0; ok && at < f.size; count++) {
        const int n = decode(f.bytes + at, &c);
        ok = n > 0 || eddy__file_damaged(&f, at, "not UTF-8");
        at += n;
    }
    eddy_array *a = ok ? eddy__file_array(&f, EDDY_INT32, EDDY_SHAPE(count)) : NULL;
    for (int64_t at = 0, i = 0; a && i < count; i++)
        at += decode(f.bytes + at, (int32_t *)eddy_array_data(a) + i);
    eddy__file_free(&f);
    return a;
}
