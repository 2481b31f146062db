/* csv.c -- tables. The file is scanned twice: for the number of rows and the types of columns,
 * and for the values. */
#include "csv.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct eddy_csv {
    data_file f;
    column   *columns;
    int       n;
    int64_t   rows;
};

typedef struct reading {
    eddy_csv                 *c;
    const eddy_csv_read_args *a;
    scanner                   s;
} reading;

static void rewind_scanner(reading *r)
{
    r->s.at = 0;
    if (r->c->f.size >= 3 && memcmp(r->c->f.bytes, "\xef\xbb\xbf", 3) == 0) r->s.at = 3;
    r->s.last = r->s.at == r->c->f.size;
}

static bool no_memory(const reading *r)
{
    return eddy__input_fail(r->c->f.error, EDDY_NO_MEMORY, "%.800s: out of memory", r->c->f.path);
}

/* An empty line at the end of the file. */
static bool is_end(const scanner *s)
{
    return s->last && s->length == 0 && !s->quoted && s->at == s->f->size;
}

static bool is_missing(const reading *r)
{
    return !r->s.quoted &&
           (r->s.length == 0 || (r->a->missing && strcmp(r->s.text, r->a->missing) == 0));
}

/* ---------------------------------------------------------------- columns -- */

static bool add_column(reading *r)
{
    eddy_csv *c = r->c;
    char      number[20];
    if (c->n == CSV_COLUMNS)
        return eddy__input_fail(c->f.error, EDDY_LIMIT, "%.800s: more than %d columns", c->f.path,
                                CSV_COLUMNS);
    column *more = realloc(c->columns, (size_t)(c->n + 1) * sizeof *more);
    if (!more) return no_memory(r);
    c->columns = more;
    snprintf(number, sizeof number, "%d", c->n);
    const char *name = r->a->no_header ? number : r->s.text;
    column     *k = &more[c->n++];
    *k =
        (column){ .type = r->a->types && c->n <= r->a->n ? r->a->types[c->n - 1] : EDDY_CSV_INFER };
    k->name = malloc(strlen(name) + 1);
    if (!k->name) return no_memory(r);
    strcpy(k->name, name);
    return true;
}

/* The first row: names, or only their number. */
static bool read_names(reading *r)
{
    do {
        if (!eddy__csv_field(&r->s))
            return eddy__file_damaged(&r->c->f, r->s.at, "the file has no row");
        if (!add_column(r)) return false;
    } while (!r->s.last);
    if (r->a->no_header) rewind_scanner(r);
    if (r->a->types && r->a->n > r->c->n)
        return eddy__input_fail(r->c->f.error, EDDY_INVALID_ARGUMENT,
                                "%.800s: %d types for %d columns", r->c->f.path, r->a->n, r->c->n);
    return true;
}

/* ------------------------------------------------------------------- rows -- */

static bool bad_field(const reading *r, const column *k, int64_t row, const char *want)
{
    return eddy__input_fail(r->c->f.error, EDDY_CORRUPT,
                            "%.500s: byte %lld: row %lld, column '%.100s': '%.100s' is not %s",
                            r->c->f.path, (long long)r->s.begin, (long long)row, k->name, r->s.text,
                            want);
}

/* Calls `take` for each field of each row of values. */
static bool each(reading *r, bool (*take)(reading *r, column *k, int64_t row))
{
    eddy_csv *c = r->c;
    int64_t   row = 0;
    rewind_scanner(r);
    for (int i = 0; !r->a->no_header && i < c->n; i++) eddy__csv_field(&r->s);
    while (eddy__csv_field(&r->s)) {
        if (is_end(&r->s) && c->n > 1) break;
        for (int i = 0; i < c->n; i++) {
            if (i > 0 && !eddy__csv_field(&r->s)) return false;
            if (!take(r, &c->columns[i], row)) return false;
            if (r->s.last == (i == c->n - 1)) continue;
            return eddy__input_fail(c->f.error, EDDY_CORRUPT,
                                    "%.600s: byte %lld: row %lld has %s than %d fields", c->f.path,
                                    (long long)r->s.begin, (long long)row,
                                    r->s.last ? "fewer" : "more", c->n);
        }
        row++;
    }
    c->rows = row;
    return c->f.error->status == EDDY_OK;
}

static bool look(reading *r, column *k, int64_t row)
{
    int64_t i;
    double  d;
    (void)row;
    if (k->type != EDDY_CSV_INFER) return true;
    if (is_missing(r)) k->missing = true;
    else if (r->s.quoted) k->no_int = k->no_float = true;
    else {
        if (!k->no_int && !eddy__csv_int64(r->s.text, &i)) k->no_int = true;
        if (k->no_int && !k->no_float && !eddy__csv_float64(r->s.text, &d)) k->no_float = true;
    }
    return true;
}

static bool fill(reading *r, column *k, int64_t row)
{
    const bool missing = is_missing(r);
    if (k->type == EDDY_CSV_INT64) {
        int64_t *v = (int64_t *)eddy_array_data(k->array) + row;
        if (missing) *v = (int64_t)r->a->integer_for_missing;
        else if (!eddy__csv_int64(r->s.text, v)) return bad_field(r, k, row, "an int64");
    } else if (k->type == EDDY_CSV_FLOAT64) {
        double *v = (double *)eddy_array_data(k->array) + row;
        if (missing) *v = NAN;
        else if (!eddy__csv_float64(r->s.text, v)) return bad_field(r, k, row, "a number");
    } else if (k->type == EDDY_CSV_FLOAT32) {
        float *v = (float *)eddy_array_data(k->array) + row;
        if (missing) *v = NAN;
        else if (!eddy__csv_float32(r->s.text, v)) return bad_field(r, k, row, "a number");
    } else if (k->type == EDDY_CSV_CATEGORY) {
        const int32_t v = missing ? -1 : eddy__words_number(&k->words, r->s.text, r->s.length);
        if (v < 0 && !missing) return no_memory(r);
        ((int32_t *)eddy_array_data(k->array))[row] = v;
    }
    return true;
}

static bool make_arrays(reading *r)
{
    static const eddy_dtype dtypes[] = {
        [EDDY_CSV_INT64] = EDDY_INT64, [EDDY_CSV_FLOAT32] = EDDY_FLOAT32,
        [EDDY_CSV_FLOAT64] = EDDY_FLOAT64, [EDDY_CSV_CATEGORY] = EDDY_INT32
    };
    for (int i = 0; i < r->c->n; i++) {
        column *k = &r->c->columns[i];
        if (k->type == EDDY_CSV_INFER)
            k->type = k->no_int || k->missing
                          ? k->no_int && k->no_float ? EDDY_CSV_CATEGORY : EDDY_CSV_FLOAT64
                          : EDDY_CSV_INT64;
        if (k->type == EDDY_CSV_SKIP) continue;
        k->array = eddy__file_array(&r->c->f, dtypes[k->type], EDDY_SHAPE(r->c->rows));
        if (!k->array) return false;
    }
    return true;
}

static bool check(const eddy_csv_read_args *a, eddy_error *e)
{
    if (a->n < 0 || (a->n > 0 && !a->types))
        return eddy__input_fail(e, EDDY_INVALID_ARGUMENT, "csv_read: %d types, %s", a->n,
                                a->types ? "a negative number" : "but no list of them is given");
    const bool bad = strchr("\"\n\r", a->separator) != NULL;   /* the zero is one of them */
    for (int i = 0; i < a->n; i++)
        if (a->types[i] < EDDY_CSV_INFER || a->types[i] > EDDY_CSV_SKIP)
            return eddy__input_fail(e, EDDY_INVALID_ARGUMENT, "csv_read: %d is not a type",
                                    (int)a->types[i]);
    if (bad)
        return eddy__input_fail(e, EDDY_INVALID_ARGUMENT, "csv_read: this is not a separator: %d",
                                a->separator);
    const double v = a->integer_for_missing;
    return (v >= -0x1p53 && v <= 0x1p53 && v == trunc(v)) ||
           eddy__input_fail(
               e, EDDY_INVALID_ARGUMENT,
               "csv_read: integer_for_missing is %g; expected an integer of at most "
                            "2^53", v);
}

static bool read_table(reading *r)
{
    eddy_csv *c = r->c;
    r->s = (scanner){ .f = &c->f, .separator = r->a->separator, .text = calloc(1, 64), .room = 64 };
    if (!r->s.text) return no_memory(r);
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) {
        free(r->s.text);
        return no_memory(r);
    }
    const locale_t before = uselocale(plain);
    rewind_scanner(r);
    const bool ok = read_names(r) && each(r, look) && make_arrays(r) && each(r, fill);
    uselocale(before);
    freelocale(plain);
    free(r->s.text);
    return ok;
}

eddy_csv *eddy_csv_read_with(const eddy_csv_read_args *given)
{
    eddy_csv_read_args a = { eddy_csv_read_args_DEFAULTS .size_ = sizeof a };
    eddy_copy_options(&a, given);
    eddy_error e = { EDDY_OK, "" };
    eddy_csv  *c = calloc(1, sizeof *c);
    reading    r = { .c = c, .a = &a };
    if (c) c->f.fd = -1;
    else eddy__input_fail(&e, EDDY_NO_MEMORY, "csv_read: out of memory");
    bool ok = c && check(&a, &e) && eddy__file_read(&c->f, a.path, a.files, &e);
    ok = ok && read_table(&r);
    if (c) eddy__file_free(&c->f);
    if (c) c->f.error = NULL;
    if (ok) return c;
    if (a.error) *a.error = e;
    eddy_csv_free(c);
    return NULL;
}

void eddy_csv_free(eddy_csv *c)
{
    if (!c) return;
    for (int i = 0; i < c->n; i++) {
        free(c->columns[i].name);
        eddy_array_free(c->columns[i].array);
        eddy__words_free(&c->columns[i].words);
    }
    free(c->columns);
    free(c);
}

/* ---------------------------------------------------------------- reading -- */

static const column *column_at(const eddy_csv *c, int i)
{
    return c && i >= 0 && i < c->n ? &c->columns[i] : NULL;
}

int64_t eddy_csv_rows(const eddy_csv *c) { return c ? c->rows : 0; }
int     eddy_csv_columns(const eddy_csv *c) { return c ? c->n : 0; }

const char *eddy_csv_name(const eddy_csv *c, int i)
{
    const column *k = column_at(c, i);
    return k ? k->name : NULL;
}

int eddy_csv_find(const eddy_csv *c, const char *name)
{
    for (int i = 0; c && name && i < c->n; i++)
        if (strcmp(c->columns[i].name, name) == 0) return i;
    return -1;
}

const eddy_array *eddy_csv_array(const eddy_csv *c, int i)
{
    const column *k = column_at(c, i);
    return k ? k->array : NULL;
}

int eddy_csv_words(const eddy_csv *c, int i)
{
    const column *k = column_at(c, i);
    return k ? k->words.n : 0;
}

const char *eddy_csv_word(const eddy_csv *c, int i, int word)
{
    const column *k = column_at(c, i);
    return k && word >= 0 && word < k->words.n ? k->words.bytes + k->words.begin[word] : NULL;
}
