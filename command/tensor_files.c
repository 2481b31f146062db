/* tensor_files.c -- files of tensors, all kinds as checkpoints. */
#include "command/model.h"

#include <string.h>

/* The arrays of an archive of NumPy, or one array. */
typedef struct arrays {
    int                    count;
    eddy_array           **at;
    eddy_checkpoint_entry *entries;
} arrays;

static eddy_array *value_of(void *context, int i, eddy_error *error)
{
    (void)error;
    return eddy_array_retain(((arrays *)context)->at[i]);
}

static void free_arrays(void *context)
{
    arrays *a = context;
    for (int i = 0; i < a->count; i++) eddy_array_free(a->at[i]);
}

static bool take(arrays *a, const char *name, eddy_array *value)
{
    if (!value) return false;
    a->entries[a->count] = (eddy_checkpoint_entry){
        text("%s", name), eddy_dtype_name(eddy_array_dtype(value)), eddy_array_dtype(value),
        eddy_array_shape(value), (int64_t)eddy_array_bytes(value),
    };
    a->at[a->count++] = value;
    return true;
}

static arrays *arrays_of(int count)
{
    arrays *a = room(1, sizeof *a);
    a->at = room((size_t)count, sizeof *a->at);
    a->entries = room((size_t)count, sizeof *a->entries);
    return a;
}

static eddy_checkpoint *checkpoint_of(arrays *a, bool fine, eddy_error *e)
{
    if (!fine) {
        free_arrays(a);
        return NULL;
    }
    return eddy_checkpoint_new(a->entries, a->count, value_of, free_arrays, a, e);
}

static eddy_checkpoint *open_npy(const char *path, eddy_error *e)
{
    const char *name = strrchr(path, '/');
    arrays     *a = arrays_of(1);
    name = name ? name + 1 : path;
    const char *end = strstr(name, ".npy");
    return checkpoint_of(a, take(a, text("%.*s", (int)(end ? end - name : (int)strlen(name)), name),
                                 eddy_array_load(path, NULL, e)), e);
}

static eddy_checkpoint *open_npz(const char *path, eddy_error *e)
{
    eddy_npz *z = eddy_npz_open(path, NULL, e);
    if (!z) return NULL;
    arrays *a = arrays_of(eddy_npz_count(z));
    bool    fine = true;
    for (int i = 0; fine && i < eddy_npz_count(z); i++)
        fine = take(a, eddy_npz_name(z, i), eddy_npz_array(z, eddy_npz_name(z, i), e));
    eddy_npz_free(z);
    return checkpoint_of(a, fine, e);
}

/* A checkpoint of TensorFlow is named by its prefix. */
static const char *prefix_of(const char *path)
{
    const size_t n = strlen(path);
    const bool   index = n > 6 && strcmp(path + n - 6, ".index") == 0;
    return index ? text("%.*s", (int)n - 6, path) : path;
}

eddy_checkpoint *tensors_open(const char *path, file_kind kind)
{
    eddy_error       e = { 0 };
    eddy_checkpoint *c = NULL;
    if (kind == KIND_SAFETENSORS) c = eddy_checkpoint_open(path, .error = &e);
    else if (kind == KIND_TORCH) c = eddy_torch_checkpoint_open(path, .error = &e);
    else if (kind == KIND_BUNDLE) c = eddy_tensorflow_checkpoint_open(prefix_of(path), .error = &e);
    else if (kind == KIND_KERAS) c = eddy_keras_checkpoint_open(path, .error = &e);
    else if (kind == KIND_NPZ) c = open_npz(path, &e);
    else if (kind == KIND_NPY) c = open_npy(path, &e);
    if (!c) fail_error(path, *e.message ? e.message : "the file has no tensors that can be read");
    return c;
}
