/* sources.c -- records from arrays, functions and files. */
#include "internal.h"

#include <string.h>

/* ---------------------------------------------------------------- arrays -- */

typedef struct from_arrays {
    eddy_dataset d;
    eddy_array  *arrays[EDDY_MAX_COMPONENTS];
    int64_t      rows;
} from_arrays;

static int64_t arrays_size(eddy_dataset *d, eddy_error *e)
{
    (void)e;
    return ((from_arrays *)d)->rows;
}

static bool arrays_at(eddy_dataset *d, int64_t epoch, int64_t i, eddy_record *out)
{
    const from_arrays *f = (from_arrays *)d;
    out->epoch = epoch;
    out->number = i;
    for (int k = 0; k < d->n; k++) {
        const eddy_component c = d->components[k];
        const size_t         bytes = eddy_array_bytes(f->arrays[k]) / (size_t)f->rows;
        char                *to = eddy__slot_make(out->allocator, &out->slots[k], c.dtype, c.shape);
        if (!to) return eddy__input_no_memory(out->error);
        if (bytes)
            memcpy(to, (const char *)eddy_array_data(f->arrays[k]) + (size_t)i * bytes, bytes);
    }
    return true;
}

static void arrays_release(eddy_dataset *d)
{
    for (int i = 0; i < EDDY_MAX_COMPONENTS; i++) eddy_array_free(((from_arrays *)d)->arrays[i]);
}

static const stage arrays_stage = { .size = arrays_size, .at = arrays_at,
                                    .release = arrays_release };

/* Array i, and its component without the first axis. */
static bool add_array(from_arrays *f, const eddy_array *a, int i, eddy_component *c)
{
    eddy_shape s = eddy_array_shape(a);
    if (!a)
        return eddy__dataset_fail(&f->d, EDDY_INVALID_ARGUMENT,
                                  "dataset_from_arrays: array %d is not given", i);
    if (s.rank == 0 || (i > 0 && s.dim[0] != f->rows)) {
        char text[200];
        return eddy__dataset_fail(&f->d, EDDY_BAD_SHAPE,
                                  "dataset_from_arrays: array %d has the shape %s; expected rows "
                                  "for %lld records", i, eddy_shape_print(s, text, sizeof text),
                                  i > 0 ? (long long)f->rows : 1LL);
    }
    f->rows = s.dim[0];
    f->arrays[i] = eddy_array_retain((eddy_array *)(uintptr_t)a);
    c->dtype = eddy_array_dtype(a);
    c->shape = eddy_shape_of_dims(s.dim + 1, (size_t)s.rank - 1);
    return f->arrays[i] || eddy__input_no_memory(&f->d.error);
}

eddy_dataset *eddy_dataset_from_arrays_with(const eddy_from_arrays_args *given)
{
    eddy_from_arrays_args a = { eddy_from_arrays_args_DEFAULTS .size_ = sizeof a };
    eddy_copy_options(&a, given);
    from_arrays *f = eddy__source_new(sizeof *f, &arrays_stage, a.allocator, "arrays");
    if (!f) return NULL;
    eddy_component c[EDDY_MAX_COMPONENTS];
    bool           ok = a.arrays && a.count > 0 && a.count <= EDDY_MAX_COMPONENTS;
    if (!ok)
        eddy__dataset_fail(&f->d, EDDY_INVALID_ARGUMENT,
                           "dataset_from_arrays: the number of arrays is %d; expected 1 to %d",
                           a.arrays ? a.count : 0, EDDY_MAX_COMPONENTS);
    for (int i = 0; ok && i < a.count; i++) ok = add_array(f, a.arrays[i], i, &c[i]);
    if (ok) eddy__set_components(&f->d, c, a.count, "dataset_from_arrays");
    eddy__label(&f->d, "(%lld)", (long long)f->rows);
    return &f->d;
}

/* -------------------------------------------------------------- function -- */

typedef struct from_function {
    eddy_dataset d;
    bool       (*read)(void *context, int64_t epoch, int64_t i, eddy_record *out);
    void        *context;
    void       (*freed)(void *context);
    int64_t      size;
    int64_t      epoch, at;              /* of a stream */
} from_function;

static int64_t function_size(eddy_dataset *d, eddy_error *e)
{
    (void)e;
    return ((from_function *)d)->size;
}

static bool function_at(eddy_dataset *d, int64_t epoch, int64_t i, eddy_record *out)
{
    const from_function *f = (from_function *)d;
    out->epoch = epoch;
    out->number = i;
    for (int k = 0; k < out->n; k++) out->slots[k].dtype = EDDY_DEFAULT_DTYPE;
    if (!f->read(f->context, epoch, i, out))
        return eddy__input_fail(out->error, EDDY_INVALID_ARGUMENT,
                                "dataset_from_function: the function gave no record %lld of %lld",
                                (long long)i, (long long)f->size);
    return out->error->status == EDDY_OK &&
           eddy__record_check(out, d->components, d->n, "dataset_from_function");
}

static outcome function_next(eddy_dataset *d, eddy_record *out)
{
    from_function *f = (from_function *)d;
    out->epoch = f->epoch;
    out->number = f->at;
    for (int k = 0; k < out->n; k++) out->slots[k].dtype = EDDY_DEFAULT_DTYPE;
    const bool more = f->read(f->context, f->epoch, f->at, out);
    if (out->error->status != EDDY_OK) return INPUT_FAILED;
    if (!more) return INPUT_END;
    f->at++;
    return eddy__record_check(out, d->components, d->n, "dataset_from_function") ? INPUT_RECORD
                                                                                 : INPUT_FAILED;
}

static void function_rewind(eddy_dataset *d, int64_t epoch)
{
    ((from_function *)d)->epoch = epoch;
    ((from_function *)d)->at = 0;
}

static void function_save(eddy_dataset *d, int64_t *words)
{
    words[0] = ((from_function *)d)->epoch;
    words[1] = ((from_function *)d)->at;
}

/* The function may have state, so it makes the records before that one again. */
static bool function_load(eddy_dataset *d, const int64_t *words, eddy_error *e)
{
    if (words[0] < 0 || words[1] < 0)
        return eddy__input_fail(e, EDDY_CORRUPT,
                                "dataset_seek: a number of the position is negative");
    eddy_record *r = eddy__borrow(d, e);
    bool         ok = r != NULL;
    function_rewind(d, words[0]);
    for (int64_t i = 0; ok && i < words[1]; i++) ok = function_next(d, r) == INPUT_RECORD;
    eddy__give_back(d, r);
    return ok || eddy__input_fail(e, EDDY_OUT_OF_RANGE,
                                  "dataset_seek: the source has no record %lld",
                                  (long long)words[1] - 1);
}

static void function_release(eddy_dataset *d)
{
    from_function *f = (from_function *)d;
    if (f->freed) f->freed(f->context);
}

static const stage function_stage = {
    .size = function_size, .at = function_at, .next = function_next, .rewind = function_rewind,
    .save = function_save, .load = function_load, .release = function_release
};

eddy_dataset *eddy_dataset_from_function_with(const eddy_from_function_args *given)
{
    eddy_from_function_args a = { eddy_from_function_args_DEFAULTS .size_ = sizeof a };
    eddy_copy_options(&a, given);
    from_function *f = eddy__source_new(sizeof *f, &function_stage, a.allocator, "function");
    if (!f) {
        if (a.release) a.release(a.context);
        return NULL;
    }
    f->read = a.read;
    f->context = a.context;
    f->freed = a.release;
    f->size = a.size;
    f->d.indexed = a.size >= 0;
    if (!a.read)
        eddy__dataset_fail(&f->d, EDDY_INVALID_ARGUMENT,
                           "dataset_from_function: no function is given");
    eddy__set_components(&f->d, a.components, a.n, "dataset_from_function");
    eddy__label(&f->d, "(%lld)", (long long)a.size);
    return &f->d;
}

/* ----------------------------------------------------------------- files -- */

typedef struct from_files {
    eddy_dataset d;
    eddy_files   files;
    bool         given;                  /* files, instead of POSIX */
    eddy_array *(*read)(const char *path, const eddy_files *files, eddy_error *error);
    char       **paths;
    int          count;
} from_files;

static int64_t files_size(eddy_dataset *d, eddy_error *e)
{
    (void)e;
    return ((from_files *)d)->count;
}

static bool files_at(eddy_dataset *d, int64_t epoch, int64_t i, eddy_record *out)
{
    const from_files *f = (from_files *)d;
    eddy_error        e = { EDDY_OK, "" };
    eddy_array       *a = f->read(f->paths[i], f->given ? &f->files : NULL, &e);
    out->epoch = epoch;
    out->number = i;
    if (!a)
        return eddy__input_fail(out->error, e.status != EDDY_OK ? e.status : EDDY_IO, "%.900s",
                                e.status != EDDY_OK ? e.message : f->paths[i]);
    const bool ok = eddy_record_set(out, 0, a);
    eddy_array_free(a);
    return ok && eddy__record_check(out, d->components, d->n, f->paths[i]);
}

static void files_release(eddy_dataset *d)
{
    from_files *f = (from_files *)d;
    for (int i = 0; f->paths && i < f->count; i++)
        if (f->paths[i]) eddy__input_give(&d->allocator, f->paths[i], strlen(f->paths[i]) + 1);
    eddy__input_give(&d->allocator, f->paths, (size_t)f->count * sizeof *f->paths);
}

static const stage files_stage = { .size = files_size, .at = files_at, .release = files_release };

static bool copy_paths(from_files *f, const char *const *paths, int n)
{
    f->paths = eddy__input_take(&f->d.allocator, (size_t)n * sizeof *f->paths);
    if (!f->paths) return eddy__input_no_memory(&f->d.error);
    f->count = n;
    for (int i = 0; i < n; i++) {
        if (!paths[i])
            return eddy__dataset_fail(&f->d, EDDY_INVALID_ARGUMENT,
                                      "dataset_from_files: path %d is not given", i);
        f->paths[i] = eddy__input_take(&f->d.allocator, strlen(paths[i]) + 1);
        if (!f->paths[i]) return eddy__input_no_memory(&f->d.error);
        strcpy(f->paths[i], paths[i]);
    }
    return true;
}

eddy_dataset *eddy_dataset_from_files_with(const eddy_from_files_args *given)
{
    eddy_from_files_args a = { eddy_from_files_args_DEFAULTS .size_ = sizeof a };
    eddy_copy_options(&a, given);
    from_files *f = eddy__source_new(sizeof *f, &files_stage, a.allocator, "files");
    if (!f) return NULL;
    f->read = a.load;
    f->given = a.files != NULL;
    if (a.files) f->files = *a.files;
    if (!a.paths || a.count < 0 || !a.load)
        eddy__dataset_fail(&f->d, EDDY_INVALID_ARGUMENT, "dataset_from_files: %s",
                           a.load ? "no paths are given" : "no function is given");
    else copy_paths(f, a.paths, a.count);
    eddy__set_components(&f->d, &a.component, 1, "dataset_from_files");
    eddy__label(&f->d, "(%d)", a.count);
    return &f->d;
}
