/* records_arrays.c -- records from files of arrays: IDX, .npy, .npz and checkpoints; and from a
 * table in a CSV file. */
#include "command/model.h"
#include "command/train/building.h"
#include "command/train/records.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CLASSES = 65536 };            /* of whole numbers in a column */

/* IDX files begin with two zeros, gzip with 1f 8b; a file of arrays that has one needs no name. */
static eddy_array *array_read(const config *at, const char *path, const char *package)
{
    unsigned char head[4] = { 0 };
    eddy_error    e = { 0 };
    eddy_array   *a = NULL;
    const char   *colon = strrchr(path, ':'), *name = NULL;
    if (access(path, F_OK) != 0 && colon) {
        name = colon + 1;
        path = text("%.*s", (int)(colon - path), path);
    }
    FILE *f = fopen(path, "rb");
    if (!f) {
        records_missing(at, text("%s: %s", path, strerror(errno)), package);
        return NULL;
    }
    const size_t n = fread(head, 1, sizeof head, f);
    fclose(f);
    if (n == 4 && ((head[0] == 0 && head[1] == 0) || (head[0] == 0x1f && head[1] == 0x8b))) {
        a = eddy_idx_load(path, NULL, &e);
        if (!a) config_fail(at, "%s", e.message);
        return a;
    }
    const file_kind  kind = kind_of(path);
    eddy_checkpoint *c = kind == KIND_UNKNOWN || kind_has_graph(kind) ? NULL
                                                                     : tensors_open(path, kind);
    if (kind_has_graph(kind)) config_fail(at, "%s is a model; a file of arrays is needed", path);
    if (c && !name && eddy_checkpoint_count(c) != 1)
        config_fail(at, "%s has %s; write which: FILE:NAME", path,
                    number_of(eddy_checkpoint_count(c), "array"));
    else if (c) {
        a = eddy_checkpoint_value(c, name ? name : eddy_checkpoint_entry_at(c, 0).name, &e);
        if (!a) config_fail(at, "%s", e.message);
    }
    eddy_checkpoint_free(c);
    return a;
}

bool records_arrays(records *r, const config *c, const char *folder, const char *package)
{
    if (c->kind != CONFIG_MAP || c->count == 0)
        return config_fail(c, "arrays has names with files, such as 'x: images.idx3-ubyte'");
    for (int i = 0; i < c->count; i++) {
        const char *path = NULL;
        if (!config_text(c->at[i], &path)) return false;
        eddy_array *a = array_read(c->at[i], path_of(folder, path), package);
        if (!a || !records_add(r, c->at[i], c->keys[i]->text, a)) return false;
    }
    return true;
}

/* --------------------------------------------------------------------- CSV -- */

static int column_of(const eddy_csv *t, const config *at, const char *name)
{
    const int    n = eddy_csv_columns(t), i = eddy_csv_find(t, name);
    const char **words = room((size_t)n + 1, sizeof *words), *all = "";
    if (i >= 0) return i;
    for (int k = 0; k < n; k++) {
        words[k] = eddy_csv_name(t, k);
        all = text("%s%s%s", all, *all ? ", " : "", words[k]);
    }
    const char *near = nearest(name, words);
    if (near) config_fail(at, "the file has no column '%s'; is '%s' meant?", name, near);
    else config_fail(at, "the file has no column '%s'; it has %s", name, all);
    return -1;
}

/* The line of a row, for messages. */
static long long line_of(int64_t row, bool header) { return (long long)row + 1 + header; }

/* Columns of numbers side by side, float32[rows, columns]. */
static eddy_array *columns(const eddy_csv *t, const config *at, text_list names, bool header)
{
    const int64_t rows = eddy_csv_rows(t);
    eddy_array   *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(rows, names.count));
    float        *to = a ? eddy_array_data(a) : NULL;
    if (!a) config_fail(at, "out of memory");
    for (int k = 0; to && k < names.count; k++) {
        const int         i = column_of(t, at, names.at[k]);
        const eddy_array *from = i < 0 ? NULL : eddy_csv_array(t, i);
        if (from && eddy_csv_words(t, i) > 0) {
            config_fail(at, "the column '%s' has words such as '%s'; inputs are numbers",
                        names.at[k], eddy_csv_word(t, i, 0));
            from = NULL;
        }
        for (int64_t row = 0; from && row < rows; row++) {
            const double v = eddy_array_get(from, row);
            to[row * names.count + k] = (float)v;
            if (!isnan(v)) continue;
            config_fail(at, "line %lld has no number in the column '%s'", line_of(row, header),
                        names.at[k]);
            from = NULL;
        }
        if (!from) {
            eddy_array_free(a);
            return NULL;
        }
    }
    return a;
}

/* The classes of a column of words, in the order of the alphabet, so that two files with the same
 * words give the same numbers. */
static void number_words(records *r, const eddy_csv *t, int column, eddy_array *y)
{
    const int n = eddy_csv_words(t, column);
    r->classes = n;
    r->words = room((size_t)n, sizeof *r->words);
    for (int k = 0; k < n; k++) r->words[k] = text("%s", eddy_csv_word(t, column, k));
    qsort(r->words, (size_t)n, sizeof *r->words, text_order);
    for (int64_t row = 0; row < eddy_array_count(y); row++) {
        const char *word = eddy_csv_word(t, column, (int)eddy_array_get(y, row));
        const char **at = bsearch(&word, r->words, (size_t)n, sizeof *r->words, text_order);
        eddy_array_set(y, row, (double)(at - r->words));
    }
}

/* The target: a column of words or whole numbers is classes, int32[rows]; of other numbers
 * float32[rows, 1]. */
static bool target(records *r, const eddy_csv *t, const config *c, bool header)
{
    const char *name = NULL;
    if (!config_text(c, &name)) return false;
    const int i = column_of(t, c, name);
    if (i < 0) return false;
    const eddy_array *from = eddy_csv_array(t, i);
    const int64_t     rows = eddy_csv_rows(t);
    const bool        words = eddy_csv_words(t, i) > 0;
    eddy_array       *a = NULL;
    if (!words && eddy_dtype_is_floating(eddy_array_dtype(from))) {
        a = columns(t, c, (text_list){ 1, &name }, header);
        return a && records_add(r, c, "y", a);
    }
    a = eddy_array_new(EDDY_INT32, EDDY_SHAPE(rows));
    for (int64_t row = 0; a && row < rows; row++) {
        const double v = eddy_array_get(from, row);
        if (!(v >= 0 && v < MOST_CLASSES)) {
            eddy_array_free(a);
            return words ? config_fail(c, "line %lld has no value", line_of(row, header))
                         : config_fail(c, "line %lld has %.0f, which is not a class from 0 to %d; "
                                          "write [%s] for a number", line_of(row, header), v,
                                       MOST_CLASSES - 1, name);
        }
        eddy_array_set(a, row, v);
        if (v + 1 > (double)r->classes) r->classes = (int64_t)v + 1;
    }
    if (a && words) number_words(r, t, i, a);
    return records_add(r, c, "y", a);
}

static bool csv_parts(records *r, const eddy_csv *t, const config *c, bool header)
{
    const config *x = config_get(c, "x"), *y = config_get(c, "y");
    text_list     names = { 0, NULL };
    if (y && y->kind == CONFIG_LIST) {
        if (!config_names(y, &names)) return false;
        eddy_array *a = columns(t, y, names, header);
        if (!a || !records_add(r, y, "y", a)) return false;
    } else if (y && !target(r, t, y, header)) return false;
    if (x && !config_names(x, &names)) return false;
    if (!x) {                                   /* all others */
        names = (text_list){ 0, room((size_t)eddy_csv_columns(t), sizeof *names.at) };
        for (int i = 0; i < eddy_csv_columns(t); i++) {
            const char *name = eddy_csv_name(t, i);
            bool        used = y && y->kind == CONFIG_TEXT && strcmp(y->text, name) == 0;
            for (int k = 0; y && y->kind == CONFIG_LIST && k < y->count; k++)
                used = used || strcmp(y->at[k]->text, name) == 0;
            if (!used) names.at[names.count++] = name;
        }
    }
    eddy_array *a = columns(t, x ? x : c, names, header);
    return a && records_add(r, x ? x : c, "x", a);
}

bool records_csv(records *r, const config *c, const char *folder, const char *package)
{
    static const char *const known[] = { "path", "x", "y", "separator", "header", NULL };
    const char *path = NULL, *separator = ",";
    bool        header = true;
    eddy_error  e = { 0 };
    if (!config_check(c, "csv", known) || !config_text(config_get(c, "path"), &path) ||
        !config_text(config_get(c, "separator"), &separator) ||
        !config_bool(config_get(c, "header"), &header))
        return false;
    if (!path) return config_fail(c, "csv needs a path");
    path = path_of(folder, path);
    const char sign = strcmp(separator, "tab") == 0 ? '\t' : *separator;
    if (sign != '\t' && separator[1])
        return config_fail(config_get(c, "separator"),
                           "separator is one character, or tab, not '%s'", separator);
    eddy_csv  *t = eddy_csv_read(path, .no_header = !header, .separator = sign, .error = &e);
    if (!t) return records_missing(config_get(c, "path"), e.message, package);
    const bool fine = csv_parts(r, t, c, header);
    eddy_csv_free(t);
    return fine;
}
