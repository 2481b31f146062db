/* value.c -- elements of feeds: numbers in brackets, arrays, images and sound from files. */
#include "command/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- literals -- */

/* [[1, 2], [3, 4]]: the dimensions as far as they are known, and the numbers. */
typedef struct literal {
    const char *at;
    int64_t     dim[EDDY_MAX_RANK];
    int         rank;                   /* -1: no number was read yet */
    int64_t     count, capacity;
    double     *values;
} literal;

static void skip_blanks(literal *l) { l->at += strspn(l->at, " \t\r\n"); }

static bool put_number(literal *l, int depth)
{
    char  *end;
    double v;
    if (strncmp(l->at, "true", 4) == 0 || strncmp(l->at, "false", 5) == 0) {
        v = *l->at == 't';
        end = (char *)(uintptr_t)l->at + (*l->at == 't' ? 4 : 5);
    } else v = strtod(l->at, &end);
    if (end == l->at || (l->rank >= 0 && l->rank != depth)) return false;
    l->rank = depth;
    if (l->count == l->capacity) {
        double *values = room((size_t)(l->capacity = 2 * l->capacity + 16), sizeof *values);
        if (l->count > 0) memcpy(values, l->values, (size_t)l->count * sizeof *values);
        l->values = values;
    }
    l->values[l->count++] = v;
    l->at = end;
    return true;
}

static bool parse(literal *l, int depth)
{
    skip_blanks(l);
    if (*l->at != '[') return put_number(l, depth);
    if (depth == EDDY_MAX_RANK) return false;
    l->at++;
    int64_t n = 0;
    for (skip_blanks(l); *l->at != ']'; n++) {
        if (!parse(l, depth + 1)) return false;
        skip_blanks(l);
        if (*l->at == ',') l->at++;
        else if (*l->at != ']') return false;
        skip_blanks(l);
    }
    l->at++;
    if (n == 0 && l->rank < 0) l->rank = depth + 1;
    if (l->dim[depth] >= 0 && l->dim[depth] != n) return false;
    l->dim[depth] = n;
    return true;
}

static eddy_array *read_literal(const char *from, const char *name)
{
    literal l = { .at = from, .rank = -1 };
    for (int i = 0; i < EDDY_MAX_RANK; i++) l.dim[i] = -1;
    bool fine = parse(&l, 0);
    skip_blanks(&l);
    if (!fine || *l.at || l.rank < 0) {
        fail(NULL, "the value of '%s' is not a list of numbers such as [1, 2] or [[1, 2], [3, 4]]: "
                   "it %s%.20s%s", name, *l.at ? "stops at '" : "ends too early", l.at,
             *l.at ? "'" : "");
        return NULL;
    }
    return eddy_array_copy_of(EDDY_FLOAT64, eddy_shape_of_dims(l.dim, (size_t)l.rank),
                              l.values ? l.values : (double *)room(1, sizeof(double)));
}

/* ----------------------------------------------------------------- fitting -- */

/* The shape of `a` with axes of size 1 added or removed, in front and then behind. */
static bool fit_shape(eddy_shape from, eddy_shape to, eddy_shape *out)
{
    *out = from;
    if (eddy_shape_compatible(*out, to)) return true;
    while (out->rank > to.rank && out->rank > 0 && out->dim[0] == 1) {
        memmove(out->dim, out->dim + 1, (size_t)(out->rank - 1) * sizeof *out->dim);
        out->rank--;
    }
    while (out->rank > to.rank && out->rank > 0 && out->dim[out->rank - 1] == 1) out->rank--;
    while (out->rank < to.rank) {
        memmove(out->dim + 1, out->dim, (size_t)out->rank * sizeof *out->dim);
        out->dim[0] = 1;
        out->rank++;
    }
    return eddy_shape_compatible(*out, to);
}

static eddy_array *cast(const eddy_array *a, eddy_dtype d, int64_t *changed)
{
    eddy_array *b = eddy_array_new(d, eddy_array_shape(a));
    *changed = -1;
    for (int64_t i = 0; b && i < eddy_array_count(a); i++) {
        const double re = eddy_array_get(a, i), im = eddy_array_get_imag(a, i);
        if (eddy_dtype_is_complex(d)) eddy_array_set_complex(b, i, re, im);
        else eddy_array_set(b, i, re);
        const bool same =
            eddy_dtype_is_differentiable(d) ||
            (im == 0 && (d == EDDY_BOOL ? re == 0 || re == 1 : eddy_array_get(b, i) == re));
        if ((!same || (im != 0 && !eddy_dtype_is_complex(d))) && *changed < 0) *changed = i;
    }
    return b;
}

eddy_array *value_fit(eddy_array *a, const char *file, const char *name, eddy_tensor t)
{
    const eddy_dtype d = eddy_dtype_of(t);
    eddy_shape       s;
    if (!a) return NULL;
    if (!fit_shape(eddy_array_shape(a), eddy_shape_of(t), &s)) {
        char is[200], wanted[200];
        fail(file, "the value has the shape %s, but '%s' has %s",
             eddy_shape_print(eddy_array_shape(a), is, sizeof is), name,
             eddy_shape_print(eddy_shape_of(t), wanted, sizeof wanted));
        eddy_array_free(a);
        return NULL;
    }
    int64_t     changed = -1;
    eddy_array *b = eddy_array_dtype(a) == d ? eddy_array_retain(a) : cast(a, d, &changed);
    if (changed >= 0) {
        fail(file, "element %lld of the value, %g, is not of the type of '%s', %s",
             (long long)changed, eddy_array_get(a, changed), name, eddy_dtype_name(d));
        eddy_array_free(b);
        b = NULL;
    }
    eddy_array_free(a);
    if (!b || eddy_shape_equal(s, eddy_array_shape(b))) return b;
    a = eddy_array_copy_of(d, s, eddy_array_data(b));
    eddy_array_free(b);
    return a;
}

/* ------------------------------------------------------------------- files -- */

/* FILE.npz:NAME, and in the same way a tensor of a checkpoint. */
static eddy_array *read_entry(const char *from)
{
    const char *colon = strrchr(from, ':');
    const char *path = text("%.*s", (int)(colon - from), from);
    file_kind   kind = kind_of(path);
    if (kind == KIND_UNKNOWN) return NULL;
    eddy_error       e = { 0 };
    eddy_checkpoint *c = kind_has_graph(kind) ? NULL : tensors_open(path, kind);
    eddy_array      *a = c ? eddy_checkpoint_value(c, colon + 1, &e) : NULL;
    if (kind_has_graph(kind)) fail(path, "the file is a model; a file of arrays is needed");
    else if (c && !a) fail_error(path, e.message);
    eddy_checkpoint_free(c);
    return a;
}

static bool begins(const unsigned char *bytes, const char *with, size_t n)
{
    return memcmp(bytes, with, n) == 0;
}

static eddy_array *read_file(const char *path, const char *name, eddy_tensor t,
                             const image_options *o)
{
    unsigned char bytes[12] = { 0 };
    eddy_error    e = { 0 };
    eddy_array   *a = NULL;
    FILE         *f = fopen(path, "rb");
    if (!f && strchr(path, ':')) return value_fit(read_entry(path), path, name, t);
    const size_t  n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    if (f) fclose(f);
    if (n >= 8 && (begins(bytes, "\x89PNG", 4) || begins(bytes, "\xff\xd8\xff", 3))) {
        eddy_array *image = eddy_image_load(path, NULL, &e);
        if (image) a = image_for(image, path, t, o);
        else fail_error(path, e.message);
        eddy_array_free(image);
        return a;
    }
    if (n == 12 && begins(bytes, "RIFF", 4) && begins(bytes + 8, "WAVE", 4))
        a = eddy_wav_load(path, NULL, &e);
    else a = eddy_array_load(path, NULL, &e);
    if (!a) fail_error(path, e.message);
    return value_fit(a, path, name, t);
}

static bool is_literal(const char *s)
{
    char *end;
    if (*s == '[' || strcmp(s, "true") == 0 || strcmp(s, "false") == 0) return true;
    strtod(s, &end);
    return end > s && !*end;
}

eddy_array *value_read(const char *from, const char *name, eddy_tensor t, const image_options *o)
{
    if (is_literal(from)) return value_fit(read_literal(from, name), NULL, name, t);
    return read_file(from, name, t, o);
}

eddy_feed *feeds_read(const model *m, text_list texts, const image_options *o)
{
    eddy_feed *feeds = room((size_t)texts.count, sizeof *feeds);
    for (int i = 0; i < texts.count; i++) {
        const char *equal = strchr(texts.at[i], '=');
        if (!equal || equal == texts.at[i] || !equal[1]) {
            fail(NULL, "--feed takes NAME=VALUE, such as x=[1,2] or x=x.npy, not '%s'",
                 texts.at[i]);
            return NULL;
        }
        const char *name = text("%.*s", (int)(equal - texts.at[i]), texts.at[i]);
        const eddy_tensor t = model_find(m, name);
        eddy_array       *value = eddy_is_valid(t) ? value_read(equal + 1, name, t, o) : NULL;
        if (!value) {
            feeds_free(feeds, i);
            return NULL;
        }
        feeds[i] = (eddy_feed){ t, value };
    }
    return feeds;
}
