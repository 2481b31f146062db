/* records_files.c -- records from images in folders, one folder for each class, and from a text,
 * cut into pieces of equal length. */
#include "command/train/building.h"
#include "command/train/records.h"
#include "command/value.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ------------------------------------------------------------------ images -- */

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* The names of files or folders in a folder, sorted, without hidden ones. */
static text_list names_in(const char *folder, bool folders)
{
    text_list      all = { 0, NULL };
    int            capacity = 0;
    DIR           *d = opendir(folder);
    struct dirent *entry;
    while (d && (entry = readdir(d))) {
        if (entry->d_name[0] == '.' ||
            is_folder(text("%s/%s", folder, entry->d_name)) != folders)
            continue;
        if (all.count == capacity) {
            const char **at = room((size_t)(capacity = 2 * capacity + 64), sizeof *at);
            if (all.count > 0) memcpy(at, all.at, (size_t)all.count * sizeof *at);
            all.at = at;
        }
        all.at[all.count++] = text("%s", entry->d_name);
    }
    if (d) closedir(d);
    if (all.count > 0) qsort(all.at, (size_t)all.count, sizeof *all.at, text_order);
    return all;
}

/* One image as row i of x. */
static bool load(const char *path, eddy_tensor like, eddy_array *x, int64_t i, const config *at)
{
    static const image_options options = { .pixels = true };
    eddy_error  e = { 0 };
    eddy_array *image = eddy_image_load(path, NULL, &e);
    if (!image) return config_fail(at, "%s", e.message);
    eddy_array *a = image_for(image, path, like, &options);
    if (a)
        memcpy((char *)eddy_array_data(x) + (size_t)i * eddy_array_bytes(a), eddy_array_data(a),
               eddy_array_bytes(a));
    eddy_array_free(image);
    eddy_array_free(a);
    return a != NULL;
}

/* The files of all classes: `class_of` has the folder of each. */
static text_list list_files(const char *path, text_list folders, int **class_of)
{
    text_list  all = { 0, NULL };
    text_list *each = room((size_t)folders.count, sizeof *each);
    for (int k = 0; k < folders.count; k++) {
        each[k] = names_in(text("%s/%s", path, folders.at[k]), false);
        all.count += each[k].count;
    }
    all.at = room((size_t)all.count, sizeof *all.at);
    *class_of = room((size_t)all.count, sizeof **class_of);
    for (int k = 0, n = 0; k < folders.count; k++)
        for (int i = 0; i < each[k].count; i++, n++) {
            all.at[n] = text("%s/%s/%s", path, folders.at[k], each[k].at[i]);
            (*class_of)[n] = k;
        }
    return all;
}

bool records_images(records *r, const config *c, const char *folder, const char *package)
{
    static const char *const known[] = { "path", "size", "channels", NULL };
    const config *size = config_get(c, "size");
    const char   *path = NULL;
    int64_t       height = 0, width = 0, channels = 3;
    int          *class_of;
    if (!config_check(c, "images", known) || !config_text(config_get(c, "path"), &path) ||
        !config_count(config_get(c, "channels"), 1, &channels))
        return false;
    if (!path) return config_fail(c, "images needs a path: a folder with a folder for each class");
    if (!size || size->kind != CONFIG_LIST || size->count != 2)
        return config_fail(size ? size : c, "images needs a size, such as [64, 64]");
    if (!config_count(size->at[0], 1, &height) || !config_count(size->at[1], 1, &width))
        return false;
    path = path_of(folder, path);
    const text_list folders = names_in(path, true),
                    files = list_files(path, folders, &class_of);
    if (files.count == 0)
        return records_missing(config_get(c, "path"),
                               text("%s has no folders with images", path), package);
    eddy_graph       *g = eddy_graph_new();
    const eddy_shape  all = EDDY_SHAPE(files.count, height, width, channels);
    const eddy_tensor like = eddy_placeholder(g, "image", EDDY_UINT8,
                                              EDDY_SHAPE(height, width, channels));
    eddy_array *x = eddy_array_new(EDDY_UINT8, all);
    eddy_array *y = eddy_array_new(EDDY_INT32, EDDY_SHAPE(files.count));
    bool        fine = (x && y) || config_fail(c, "out of memory for %s",
                                               number_of(files.count, "image"));
    for (int i = 0; fine && i < files.count; i++) {
        fine = load(files.at[i], like, x, i, c);
        eddy_array_set(y, i, class_of[i]);
    }
    eddy_graph_free(g);
    fine = fine && records_add(r, c, "x", eddy_array_retain(x)) &&
           records_add(r, c, "y", eddy_array_retain(y));
    eddy_array_free(x);
    eddy_array_free(y);
    r->classes = folders.count;
    r->words = folders.at;
    return fine;
}

/* -------------------------------------------------------------------- text -- */

static int by_code(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static const char *utf8(int32_t code)
{
    const unsigned c = (unsigned)code;
    if (c < 0x80) return text("%c", (char)c);
    if (c < 0x800) return text("%c%c", (char)(0xc0 | c >> 6), (char)(0x80 | (c & 63)));
    if (c < 0x10000)
        return text("%c%c%c", (char)(0xe0 | c >> 12), (char)(0x80 | (c >> 6 & 63)),
                    (char)(0x80 | (c & 63)));
    return text("%c%c%c%c", (char)(0xf0 | c >> 18), (char)(0x80 | (c >> 12 & 63)),
                (char)(0x80 | (c >> 6 & 63)), (char)(0x80 | (c & 63)));
}

/* The characters as numbers from 0, in the order of their codes. */
static void number_codes(records *r, int32_t *codes, int64_t n)
{
    int32_t *sorted = room((size_t)n, sizeof *sorted);
    memcpy(sorted, codes, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_code);
    r->classes = 0;
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || sorted[i] != sorted[i - 1]) sorted[r->classes++] = sorted[i];
    r->words = room((size_t)r->classes, sizeof *r->words);
    for (int64_t k = 0; k < r->classes; k++) r->words[k] = utf8(sorted[k]);
    for (int64_t i = 0; i < n; i++)
        codes[i] = (int32_t)((int32_t *)bsearch(&codes[i], sorted, (size_t)r->classes,
                                                sizeof *sorted, by_code) - sorted);
}

/* Pieces one after another: y is x one character on. */
bool records_text(records *r, const config *c, const char *folder, const char *package)
{
    static const char *const known[] = { "path", "length", NULL };
    const char *path = NULL;
    int64_t     length = 64;
    eddy_error  e = { 0 };
    if (!config_check(c, "text", known) || !config_text(config_get(c, "path"), &path) ||
        !config_count(config_get(c, "length"), 1, &length))
        return false;
    if (!path) return config_fail(c, "text needs a path");
    eddy_array *a = eddy_characters_load(path_of(folder, path), NULL, &e);
    if (!a) return records_missing(config_get(c, "path"), e.message, package);
    const int64_t n = eddy_array_count(a), pieces = n > 0 ? (n - 1) / length : 0;
    int32_t      *codes = eddy_array_data(a);
    eddy_array   *x = NULL, *y = NULL;
    if (pieces == 0) config_fail(c, "the text has %s; a piece has %lld", number_of(n, "character"),
                                 (long long)length);
    else {
        number_codes(r, codes, n);
        x = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(pieces, length), codes);
        y = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(pieces, length), codes + 1);
    }
    eddy_array_free(a);
    return pieces > 0 && records_add(r, c, "x", x) && records_add(r, c, "y", y);
}
