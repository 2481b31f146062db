/* kept_list.c -- reading and writing the list of kept checkpoints. */
#include "graph/base/file_bytes.h"
#include "session/checkpoints/kept_list.h"

#include <string.h>

enum { LARGEST_LIST = 2000000 };         /* bytes */
static const char first_line[] = "eddy checkpoints, best: ";

void eddy__kept_list_free(kept_list *l)
{
    eddy__release(l->allocator, l->at, (size_t)l->capacity * sizeof *l->at);
}

static int find_step(const kept_list *l, int64_t step)
{
    int i = 0;
    while (i < l->n && l->at[i].step != step) i++;
    return i;
}

bool eddy__kept_list_add(kept_list *l, kept k, const char *path, eddy_error *e)
{
    const int old = find_step(l, k.step);
    if (old < l->n) {
        l->n--;
        memmove(l->at + old, l->at + old + 1, (size_t)(l->n - old) * sizeof *l->at);
    }
    if (l->n == l->capacity) {
        const int bigger = l->capacity ? l->capacity * 2 : 8;
        if (!eddy__grow(l->allocator, (void **)&l->at, (size_t)l->capacity, (size_t)bigger,
                        sizeof *l->at))
            return eddy__error_set(e, EDDY_NO_MEMORY, "%.600s: out of memory", path);
        l->capacity = bigger;
    }
    l->at[l->n++] = k;
    return true;
}

/* "STEP METRIC" or "STEP METRIC dropped"; no metric is "none". */
static bool parse_line(char *line, kept *k)
{
    char *metric = strchr(line, ' ');
    if (!metric) return false;
    *metric++ = 0;
    char *dropped = strchr(metric, ' ');
    if (dropped) *dropped++ = 0;
    k->dropped = dropped != NULL;
    k->metric = NAN;
    return (!dropped || strcmp(dropped, "dropped") == 0) && eddy__integer_parse(line, &k->step) &&
           k->step >= 0 &&
           (strcmp(metric, "none") == 0 ||
            (eddy__number_parse(metric, false, &k->metric) && !isnan(k->metric)));
}

/* Text with a final zero. */
static bool parse_list(kept_list *l, char *text, const char *path, eddy_error *e)
{
    const size_t n = sizeof first_line - 1;
    int          number = 1;
    char        *line = text, *end = strchr(text, '\n');
    bool         ok = end && strncmp(text, first_line, n) == 0;
    if (ok) {
        *end = 0;
        l->larger_is_better = strcmp(text + n, "largest") == 0;
        ok = l->larger_is_better || strcmp(text + n, "smallest") == 0;
        line = end + 1;
    }
    for (; ok && *line; line = end + 1) {
        kept k;
        number++;
        end = strchr(line, '\n');
        if (end) *end = 0;
        ok = end && parse_line(line, &k) && find_step(l, k.step) == l->n;
        if (ok && !eddy__kept_list_add(l, k, path, e)) return false;
    }
    return ok ||
           eddy__error_set(e, EDDY_CORRUPT, "%.600s: line %d is not one of a list of checkpoints",
                           path, number);
}

static bool copy_and_parse(kept_list *l, const eddy_file_bytes *b, const char *path, eddy_error *e)
{
    if (b->size > LARGEST_LIST)
        return eddy__error_set(e, EDDY_LIMIT, "%.600s: the list has %zu bytes; the limit is %d",
                               path, b->size, LARGEST_LIST);
    if (memchr(b->at, 0, b->size))
        return eddy__error_set(e, EDDY_CORRUPT, "%.600s: the list contains a zero byte", path);
    char *text = eddy__allocate_zeroed(l->allocator, b->size + 1, 1);
    if (!text) return eddy__error_set(e, EDDY_NO_MEMORY, "%.600s: out of memory", path);
    memcpy(text, b->at, b->size);
    const bool ok = parse_list(l, text, path, e);
    eddy__release(l->allocator, text, b->size + 1);
    return ok;
}

bool eddy__kept_list_read(kept_list *l, const eddy_files *files, const char *path, eddy_error *e)
{
    eddy_error       why = { 0 };
    eddy_file_bytes *b = eddy__file_bytes(files, l->allocator, path, &why);
    if (!b && why.status == EDDY_NOT_FOUND) return true;
    if (!b) return eddy__error_set(e, why.status, "%s", why.message);
    const bool ok = b->size == 0
                        ? eddy__error_set(e, EDDY_CORRUPT, "%.600s: the list is empty", path)
                        : copy_and_parse(l, b, path, e);
    eddy__file_bytes_release(b);
    return ok;
}

bool eddy__kept_list_write(const kept_list *l, const eddy_files *files, const char *path,
                           eddy_error *e)
{
    eddy_text   t = { .allocator = l->allocator };
    eddy_writer out;
    char        number[EDDY_NUMBER_TEXT];
    eddy__text_put(&t, "%s%s\n", first_line, l->larger_is_better ? "largest" : "smallest");
    for (int i = 0; i < l->n; i++)
        eddy__text_put(&t, "%lld %s%s\n", (long long)l->at[i].step,
                       isnan(l->at[i].metric) ? "none"
                                              : eddy__number_print(l->at[i].metric, false, number),
                       l->at[i].dropped ? " dropped" : "");
    bool ok = !t.failed || eddy__error_set(e, EDDY_NO_MEMORY, "%.600s: out of memory", path);
    if (ok && (ok = eddy__writer_begin(&out, files, path, e))) {
        eddy__writer_write(&out, t.at, t.length);
        ok = eddy__writer_end(&out);
    }
    eddy__text_free(&t);
    return ok;
}
