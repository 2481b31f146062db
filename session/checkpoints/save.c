/* save.c -- writing variables to a checkpoint: their values become entries, which are written to
 * one file, or to several by shards.c. */
#include "graph/call_options.h"
#include "graph/type_errors.h"
#include "session/checkpoints/saving.h"
#include "session/state/internal.h"

#include <string.h>

typedef struct saving {
    const eddy_save_checkpoint_args *args;
    eddy_session       *session;
    checkpoint_targets  targets;
    saved_entries       out;
    eddy_arena          texts;
    eddy_error          error;
} saving;

/* --------------------------------------------------------------- entries -- */

static bool no_memory(saving *s)
{
    return eddy__error_set(&s->error, EDDY_NO_MEMORY, "out of memory while saving (variables: %d)",
                           s->targets.count);
}

/* A variable has at most EDDY_RULE_NAMES entries. */
static bool make_room(saving *s)
{
    saved_entries *x = &s->out;
    const size_t   n = (size_t)s->targets.count * EDDY_RULE_NAMES;
    x->capacity = (int)n;
    x->names = eddy__allocate_zeroed(x->allocator, n, sizeof *x->names);
    x->arrays = eddy__allocate_zeroed(x->allocator, n, sizeof *x->arrays);
    x->complex = eddy__allocate_zeroed(x->allocator, n, sizeof *x->complex);
    return (x->names && x->arrays && x->complex) || no_memory(s);
}

/* A complex array as the real one that is written; x itself otherwise. */
static eddy_array *real_of(saving *s, eddy_array *x, const char *name)
{
    if (!eddy_dtype_is_complex(eddy_array_dtype(x))) return eddy_array_retain(x);
    if (eddy_array_shape(x).rank == EDDY_MAX_RANK)
        return (void)eddy__error_set(&s->error, EDDY_UNIMPLEMENTED,
                                     "'%.200s' is complex and has 8 dimensions", name), NULL;
    return eddy__as_real(x);
}

/* The type of the elements in the file. The parts of complex numbers have at least float32. */
static eddy_dtype type_in_file(const saving *s, const eddy_array *x, const eddy_array *real)
{
    const eddy_dtype own = eddy_array_dtype(real), asked = s->args->dtype;
    if (asked == EDDY_DEFAULT_DTYPE || !eddy_dtype_is_floating(own)) return own;
    const bool half = asked == EDDY_FLOAT16 || asked == EDDY_BFLOAT16;
    return eddy_dtype_is_complex(eddy_array_dtype(x)) && half ? EDDY_FLOAT32 : asked;
}

/* Adds the entry in the type of the file. */
static bool add_entry(saving *s, const char *name, eddy_array *x)
{
    eddy_array *real = real_of(s, x, name);
    if (!real && s->error.status == EDDY_OK) no_memory(s);
    if (!real) return false;
    eddy_array *y = eddy__cast_array(s->out.allocator, real, type_in_file(s, x, real), name,
                                          &s->error);
    eddy_array_free(real);
    if (!y) return false;
    s->out.names[s->out.n] = name;
    s->out.complex[s->out.n] = eddy_dtype_is_complex(eddy_array_dtype(x));
    s->out.arrays[s->out.n++] = y;
    return true;
}

/* ---------------------------------------------------------------- values -- */

static eddy_array *value_of(saving *s, const eddy_node *node)
{
    const eddy_session *t = s->session;
    const eddy_state   *state = node->id < t->states_capacity ? t->states[node->id] : NULL;
    if (state && state->initialized) return state->value;
    eddy__error_set(&s->error, EDDY_UNINITIALIZED, "Attempting to use uninitialized value %s",
                    node->name);
    return NULL;
}

/* The last dimension of the variable that gives the size of the state; 0 if there is none. */
static int64_t state_size(const saving *s, const rule_match *m)
{
    eddy_shape t;
    if (!m->state || !eddy__find_variable(s->session->graph, m->state, &t)) return 0;
    return t.rank > 0 && t.dim[t.rank - 1] > 0 ? t.dim[t.rank - 1] : 0;
}

static bool save_values(saving *s, const rule_match *m, eddy_array *const *values)
{
    eddy_array *entries[EDDY_RULE_NAMES] = { NULL };
    bool ok =
        eddy__rule_to_entries(s->out.allocator, m, values, state_size(s, m), entries, &s->error);
    for (int i = 0; i < m->n_entries; i++) {
        ok = ok && add_entry(s, m->entries[i], entries[i]);
        eddy_array_free(entries[i]);
    }
    return ok;
}

static bool save_rule(saving *s, checkpoint_target *v)
{
    rule_match  m;
    eddy_array *values[EDDY_RULE_NAMES];
    if (!eddy__match_rule(s->args->map, s->session->graph, v->name, v->node->outputs[0].shape,
                          &s->texts, &m, &s->error))
        return false;
    for (int i = 0; i < m.n_variables; i++) {
        checkpoint_target *other = strcmp(m.variables[i], v->name) == 0
                                       ? v
                                       : eddy__targets_find(&s->targets, m.variables[i]);
        if (!other)
            return eddy__error_set(
                &s->error, EDDY_INVALID_ARGUMENT,
                "the entries for '%.200s' also need '%.200s', which is not saved", v->node->name,
                m.variables[i]);
        other->done = true;
        values[i] = value_of(s, other->node);
        if (!values[i]) return false;
    }
    return save_values(s, &m, values);
}

/* --------------------------------------------------------------- metadata -- */

static bool pairs_are_valid(const eddy_save_checkpoint_args *a, eddy_error *e)
{
    if (!eddy__check_list("save", "metadata", a->n_metadata, a->metadata, e)) return false;
    for (int i = 0; i < a->n_metadata; i++)
        if (a->metadata[i].key && strncmp(a->metadata[i].key, "eddy.", 5) == 0)
            return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                                   "save: the key '%.200s' of the metadata is reserved",
                                   a->metadata[i].key);
    return true;
}

/* The note that an entry is complex. */
static bool note_complex(saving *s, const char *name)
{
    char      key[sizeof EDDY_COMPLEX_NOTE + EDDY_MAX_NAME];
    const int n = snprintf(key, sizeof key, "%s%s", EDDY_COMPLEX_NOTE, name);
    char     *text = eddy__arena_text(&s->texts, key, (size_t)n);
    if (!text) return no_memory(s);
    s->out.metadata[s->out.n_metadata++] =
        (eddy_safetensors_text){ text, "the last axis has the real and the imaginary part" };
    return true;
}

/* The counts of draws belong to a checkpoint of all variables. */
static bool put_draws(saving *s)
{
    const eddy_save_checkpoint_args *a = s->args;
    eddy_text t = { .allocator = s->out.allocator };
    if (a->variables.count > 0 || a->n_named > 0) return true;
    if (!eddy__draws_update(s->session, &s->error)) return false;
    if (s->session->draws.n == 0) return true;
    eddy__draws_print(s->session, &t);
    char *text = t.failed ? NULL : eddy__arena_text(&s->texts, t.at ? t.at : "", t.length);
    eddy__text_free(&t);
    if (!text) return no_memory(s);
    s->out.metadata[s->out.n_metadata++] = (eddy_safetensors_text){ EDDY_DRAWS_KEY, text };
    return true;
}

/* The caller's pairs and those of the library. */
static bool collect_metadata(saving *s)
{
    saved_entries *x = &s->out;
    const int      own = s->args->n_metadata;
    x->metadata_capacity = own + 1;
    for (int i = 0; i < x->n; i++) x->metadata_capacity += x->complex[i];
    x->metadata = eddy__allocate_zeroed(x->allocator, (size_t)x->metadata_capacity,
                                        sizeof *x->metadata);
    if (!x->metadata) return no_memory(s);
    for (int i = 0; i < own; i++)
        x->metadata[x->n_metadata++] = (eddy_safetensors_text){ s->args->metadata[i].key,
                                                                s->args->metadata[i].value };
    for (int i = 0; i < x->n; i++)
        if (x->complex[i] && !note_complex(s, x->names[i])) return false;
    return put_draws(s);
}

/* --------------------------------------------------------------- the call -- */

static void write_entries(saving *s)
{
    const eddy_save_checkpoint_args *a = s->args;
    const saved_entries *x = &s->out;
    const eddy_files    *files = eddy__graph_files(s->session->graph);
    if (eddy__is_index(a->path))
        eddy__write_shards(files, a->path, x, a->shard_bytes, &s->error);
    else
        eddy__safetensors_write(files, x->allocator, a->path, x->n, x->names,
                                (const eddy_array *const *)x->arrays, x->n_metadata, x->metadata,
                                &s->error);
}

static bool check_args(saving *s)
{
    const eddy_save_checkpoint_args *a = s->args;
    if (!a->path)
        return eddy__error_set(&s->error, EDDY_INVALID_ARGUMENT, "save: no path is given");
    if (!eddy__session_is_usable(s->session, &s->error)) return false;
    if (a->dtype != EDDY_DEFAULT_DTYPE &&
        !eddy__error_expects(&s->error, "save", "dtype", a->dtype, EDDY_TAKES_FLOATS))
        return false;
    if (a->shard_bytes <= 0)
        return eddy__error_set(&s->error, EDDY_INVALID_ARGUMENT,
                               "save: shard_bytes is %lld; expected a positive number",
                               (long long)a->shard_bytes);
    return pairs_are_valid(a, &s->error);
}

static void save(saving *s)
{
    const eddy_save_checkpoint_args *a = s->args;
    if (!check_args(s) || !eddy__targets_collect("save", s->session, a->variables, a->named,
                                                 a->n_named, &s->targets, &s->error))
        return;
    pthread_rwlock_rdlock(&s->session->state_lock);
    bool ok = make_room(s);
    for (int i = 0; i < s->targets.count && ok; i++)
        if (!s->targets.at[i].done) ok = save_rule(s, &s->targets.at[i]);
    if (ok && collect_metadata(s)) write_entries(s);
    pthread_rwlock_unlock(&s->session->state_lock);
}

static void free_all(saving *s)
{
    saved_entries *x = &s->out;
    for (int i = 0; i < x->n; i++) eddy_array_free(x->arrays[i]);
    eddy__release(x->allocator, x->names, (size_t)x->capacity * sizeof *x->names);
    eddy__release(x->allocator, x->arrays, (size_t)x->capacity * sizeof *x->arrays);
    eddy__release(x->allocator, x->complex, (size_t)x->capacity * sizeof *x->complex);
    eddy__release(x->allocator, x->metadata, (size_t)x->metadata_capacity * sizeof *x->metadata);
    if (s->targets.allocator) eddy__targets_free(&s->targets);
    eddy__arena_free(&s->texts);
}

eddy_status eddy_save_checkpoint_with(const eddy_save_checkpoint_args *given)
{
    eddy_save_checkpoint_args a = EDDY_TAKE(eddy_save_checkpoint_args, given);
    saving s = { .args = &a, .session = a.session };
    if (!eddy__session_enter(a.session)) return EDDY_INVALID_ARGUMENT;
    pthread_mutex_lock(&a.session->lock);
    s.texts.allocator = s.out.allocator = &a.session->allocator;
    save(&s);
    free_all(&s);
    return eddy__session_finish(a.session, &s.error);
}

eddy_status eddy_save(eddy_session *s, const char *path, eddy_list variables)
{
    return eddy_save_checkpoint(s, path, variables);
}
