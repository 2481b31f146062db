/* write_tensors.c -- tensors as safetensors, .npz or .npy files. */
#include "command/write.h"

#include <string.h>

/* A variable for each entry, since checkpoints are written from sessions. */
static bool fill(eddy_graph *g, const eddy_checkpoint *c, eddy_named_variable *named_,
                 const char *path)
{
    for (int i = 0; i < eddy_checkpoint_count(c); i++) {
        eddy_error  e = { 0 };
        const char *name = eddy_checkpoint_entry_at(c, i).name;
        eddy_array *a = eddy_checkpoint_value(c, name, &e);
        if (!a) {
            fail(path, "the tensor '%s' cannot be written: %s", name, e.message);
            return false;
        }
        named_[i] = (eddy_named_variable){
            name, eddy_variable(g, .initial_value = eddy_constant(g, a), .name = text("v%d", i))
        };
        eddy_array_free(a);
    }
    return true;
}

static int write_safetensors(const eddy_checkpoint *c, const char *path)
{
    const int            n = eddy_checkpoint_count(c);
    eddy_named_variable *named_ = room((size_t)n, sizeof *named_);
    eddy_graph          *g = eddy_graph_new();
    eddy_session        *s = eddy_session_new(g);
    int                  status = fill(g, c, named_, path) ? SUCCESS : TROUBLE;
    if (status == SUCCESS && n == 0) status = fail(path, "there are no tensors to write");
    if (status == SUCCESS &&
        (eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) != EDDY_OK ||
         eddy_save_checkpoint(s, path, .named = named_, .n_named = n) != EDDY_OK))
        status = fail_error(path, eddy_session_message(s));
    eddy_session_free(s);
    eddy_graph_free(g);
    return status;
}

static int write_npy(const eddy_checkpoint *c, const char *path)
{
    eddy_error  e = { 0 };
    const int   n = eddy_checkpoint_count(c);
    if (n != 1)
        return fail(path, "there are %d tensors, and an .npy file has one; --only chooses it", n);
    eddy_array *a = eddy_checkpoint_value(c, eddy_checkpoint_entry_at(c, 0).name, &e);
    const bool  fine = a && eddy_array_save(a, path, NULL, &e) == EDDY_OK;
    eddy_array_free(a);
    return fine ? SUCCESS : fail_error(path, e.message);
}

int write_tensors(const eddy_checkpoint *c, const char *path, file_kind kind)
{
    if (kind == KIND_NPZ) return write_npz(c, path);
    return kind == KIND_NPY ? write_npy(c, path) : write_safetensors(c, path);
}
