/* save_ranks.c -- one checkpoint of the variables of all ranks: a file for each rank and an index.
 *
 * Files get new names each time, and the index, which rank 0 replaces last and atomically, names
 * files that belong together. So a crash at any moment leaves the old checkpoint or the new one. */
#include "distributed/division.h"
#include "distributed/internal.h"
#include "distributed/training.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 4096, PATIENCE = 100 };   /* interruptions of the writing of an index */

static const char ending[] = ".safetensors.index.json";

typedef struct saving {
    eddy_communicator *c;
    eddy_graph        *graph;
    eddy_session      *session;
    char               folder[PATH];    /* with the last slash */
    char               stem[PATH];      /* "m" of "folder/m.safetensors.index.json" */
    long long          generation;      /* a number in the names of the files */
    /* by rank: of its variables that are whole, and of those of which it has a part, each with a
     * newline */
    char             **names, **divided;
    bool               turns;           /* all ranks have parts of the same variables */
    bool               replaced;        /* the index names the new files */
    int                files;           /* one for each rank, or two */
    const eddy_metadata *metadata;
    int                n_metadata;
    eddy_error        *error;
} saving;

static bool fail(saving *s, eddy_status status, const char *what)
{
    return eddy__distributed_fail(s->error, status, "save_ranks: %s%s: %s: %s", s->folder, s->stem,
                                  what,
                                  status == EDDY_IO ? strerror(errno) : eddy_status_text(status));
}

static bool session_failed(saving *s, const eddy_session *session)
{
    return eddy__distributed_fail(s->error, eddy_session_status(session), "save_ranks: rank %d: %s",
                                  s->c->me, eddy_session_message(session));
}

static bool split_path(saving *s, const char *path)
{
    const char  *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t n = strlen(name), k = sizeof ending - 1, folder = (size_t)(name - path);
    if (n <= k || strcmp(name + n - k, ending) != 0 || n >= PATH - 64 || folder >= PATH - 64)
        return eddy__distributed_fail(s->error, EDDY_INVALID_ARGUMENT,
                                      "save_ranks: the path is '%.200s'; a name that ends in %s "
                                      "expected",
                                      path, ending);
    memcpy(s->folder, path, folder);
    memcpy(s->stem, name, n - k);
    return true;
}

/* The generation of a file of this checkpoint; 0 if it is none. */
static long long generation_of(const saving *s, const char *file)
{
    const size_t n = strlen(s->stem);
    if (strncmp(file, s->stem, n) != 0 || file[n] != '.') return 0;
    const size_t digits = strspn(file + n + 1, "0123456789"), at = n + 1 + digits;
    int          rank, ranks, length = 0;
    if (digits == 0 || digits > 15) return 0;
    if (sscanf(file + at, "-%5d-of-%5d.safetensors%n", &rank, &ranks, &length) != 2) return 0;
    return length > 0 && file[at + (size_t)length] == '\0' ? strtoll(file + n + 1, NULL, 10) : 0;
}

/* The greatest generation in the folder; removes those from `from` to `below` - 1. -1 if the folder
 * cannot be read; 0 if it does not exist. */
static long long walk(const saving *s, long long from, long long below)
{
    const eddy_files *f = eddy_posix_files();
    long long         greatest = 0;
    char              path[2 * PATH];
    DIR              *folder = opendir(s->folder[0] ? s->folder : ".");
    if (!folder) return errno == ENOENT ? 0 : -1;
    for (struct dirent *e; errno = 0, (e = readdir(folder)) != NULL;) {
        const long long g = generation_of(s, e->d_name);
        if (g > greatest) greatest = g;
        if (g < from || g == 0 || g >= below) continue;
        snprintf(path, sizeof path, "%s%s", s->folder, e->d_name);
        f->unlink(f->context, path);            /* what cannot be removed is only in the way */
    }
    const int why = errno;
    closedir(folder);
    errno = why;
    return why == 0 ? greatest : -1;
}

/* Of a folder that cannot be read, the next generation might be that of the old checkpoint. */
static bool find_generation(saving *s)
{
    const long long last = walk(s, 0, 0);
    s->generation = last + 1;
    return last >= 0 || fail(s, errno == ENOMEM ? EDDY_NO_MEMORY : EDDY_IO,
                             "cannot read the folder");
}

static void file_of(const saving *s, int number, char *out, size_t size)
{
    snprintf(out, size, "%s.%lld-%05d-of-%05d.safetensors", s->stem, s->generation, number + 1,
             s->files);
}

/* ------------------------------------------------------------------- parts -- */

static bool lists(const char *names, const char *name, size_t length)
{
    for (const char *at = names; (at = strstr(at, name)) != NULL; at += length)
        if ((at == names || at[-1] == '\n') && at[length] == '\n') return true;
    return false;
}

/* The first rank that has a variable writes it. */
static bool is_first(char *const *names, int rank, const char *name)
{
    const size_t length = strlen(name);
    for (int r = 0; r < rank; r++)
        if (lists(names[r], name, length)) return false;
    return true;
}

/* The variables that this rank writes, and their number. */
static eddy_tensor *own_variables(const saving *s, int *n)
{
    const int    all = eddy_collection_size(s->graph, EDDY_GLOBAL_VARIABLES);
    eddy_tensor *v = malloc((size_t)all * sizeof *v + 1);
    for (int i = *n = 0; v && i < all; i++) {
        v[*n] = eddy_collection_at(s->graph, EDDY_GLOBAL_VARIABLES, i);
        *n += !eddy__division_of(v[*n]) && is_first(s->names, s->c->me, eddy_name_of(v[*n]));
    }
    return v;
}

/* Before ranks exchange parts, so that all of them fail alike. */
static bool has_parts(saving *s)
{
    bool ok = true;
    for (int i = 0; ok && i < eddy_collection_size(s->graph, EDDY_GLOBAL_VARIABLES); i++) {
        const eddy_tensor v = eddy_collection_at(s->graph, EDDY_GLOBAL_VARIABLES, i);
        if (!eddy__division_of(v)) continue;
        eddy_array *value = eddy_variable_value(s->session, v);
        ok = value != NULL || session_failed(s, s->session);
        eddy_array_free(value);
    }
    return ok;
}

/* Rank 0 writes all of its variables, and with them the counts of draws; its parts do not count. */
static bool write_part(saving *s)
{
    char         file[2 * PATH], path[3 * PATH];
    int          n;
    eddy_status  status = EDDY_OK;
    if (!has_parts(s)) return false;
    eddy_tensor *v = own_variables(s, &n);
    if (!v) return fail(s, EDDY_NO_MEMORY, "a list of variables");
    file_of(s, s->c->me, file, sizeof file);
    snprintf(path, sizeof path, "%s%s", s->folder, file);
    if (s->c->me == 0)
        status = eddy_save_checkpoint(s->session, path, .metadata = s->metadata,
                                      .n_metadata = s->n_metadata);
    else if (n > 0) status = eddy_save(s->session, path, (eddy_list){ n, v });
    free(v);
    return status == EDDY_OK || session_failed(s, s->session);
}

/* ----------------------------------------------------------- whole variables -- */

/* Calls `visit` for each variable that is divided, in the same order on all ranks, with the rank
 * that has it first and a number; false if a call returns false. */
static bool walk_divided(saving *s, bool (*visit)(saving *s, int rank, int number, const char *name,
                                                  void *context), void *context)
{
    bool ok = true;
    int  number = 0;
    for (int r = 0; ok && r < s->c->n; r++)
        for (char *name = s->divided[r], *end; ok && *name; name = end + 1) {
            end = strchr(name, '\n');
            *end = '\0';
            ok = !is_first(s->divided, r, name) || visit(s, r, number++, name, context);
            *end = '\n';
        }
    return ok;
}

/* If all ranks have parts, they take turns; else the first rank that has one writes the whole. */
static int writer_of(const saving *s, int rank, int number)
{
    return s->turns ? number % s->c->n : rank;
}

/* The whole of a variable, from all ranks that have parts; NULL with the error set, and these ranks
 * fail. */
static eddy_array *gather(saving *s, eddy_tensor v)
{
    const eddy_division *d = eddy__division_of(v);
    const eddy_dtype     t = eddy_dtype_of(v);
    eddy_communicator   *c = eddy__communicator_take(d->communicator);
    eddy_array          *whole = c ? eddy_array_new(t, d->whole) : NULL;
    if (!c)
        eddy__distributed_fail(s->error, EDDY_CLOSED,
                               "save_ranks: the communicator of '%.200s' has been freed",
                               eddy_name_of(v));
    for (int r = 0; whole && r < d->ranks; r++) {
        eddy_array *part = r == d->rank ? eddy_variable_value(s->session, v)
                                        : eddy_array_new(t, eddy__division_shape(d, r));
        if (!part && r == d->rank) session_failed(s, s->session);
        const bool  ok = part && eddy_array_broadcast(c, r, part, s->error);
        if (ok)
            eddy__division_copy(d, r, eddy_dtype_size(t), eddy_array_data(whole),
                                eddy_array_data(part), true);
        eddy_array_free(part);
        if (ok) continue;
        eddy_array_free(whole);
        whole = NULL;
    }
    if (!whole) {
        fail(s, EDDY_NO_MEMORY, eddy_name_of(v));
        if (c) eddy_communicator_fail(c, s->error->message);
    }
    if (c) eddy__communicator_give(c);
    return whole;
}

/* What this rank writes: variables of a graph of their own. */
typedef struct wholes {
    eddy_graph          *graph;
    eddy_session        *session;
    eddy_named_variable *named;
    int                  n, capacity;
    bool                 fine;
} wholes;

static bool add_whole(saving *s, wholes *w, const char *name, const eddy_array *value)
{
    if (w->n == w->capacity) {
        const int            bigger = w->capacity ? 2 * w->capacity : 16;
        eddy_named_variable *more = realloc(w->named, (size_t)bigger * sizeof *more);
        if (!more) return fail(s, EDDY_NO_MEMORY, "a list of variables");
        w->named = more;
        w->capacity = bigger;
    }
    const eddy_tensor zero = eddy_zeros(w->graph, eddy_array_dtype(value), eddy_array_shape(value));
    const eddy_tensor v = eddy_variable(w->graph, zero);
    if (!eddy_is_valid(v) || eddy_variable_set(w->session, v, value) != EDDY_OK)
        return fail(s, EDDY_NO_MEMORY, name);
    char *copy = strdup(name);
    w->named[w->n] = (eddy_named_variable){ .name = copy, .variable = v };
    w->n += copy != NULL;
    return copy || fail(s, EDDY_NO_MEMORY, "a list of variables");
}

/* A rank that cannot write it goes on, since the others wait for its part of the next one. */
static bool take_whole(saving *s, int rank, int number, const char *name, void *context)
{
    wholes           *w = context;
    const eddy_tensor v = eddy__variable_named(s->graph, name);
    if (v.node == 0) return true;
    eddy_array *whole = gather(s, v);
    if (whole && w->fine && writer_of(s, rank, number) == s->c->me)
        w->fine = add_whole(s, w, name, whole);
    eddy_array_free(whole);
    return whole != NULL;
}

static bool write_wholes(saving *s)
{
    char   file[2 * PATH], path[3 * PATH];
    wholes w = { .graph = eddy_graph_new() };
    w.session = eddy_session_new(w.graph);
    w.fine = w.session || fail(s, EDDY_NO_MEMORY, "a session");
    bool ok = walk_divided(s, take_whole, &w) && w.fine;
    file_of(s, s->c->n + s->c->me, file, sizeof file);
    snprintf(path, sizeof path, "%s%s", s->folder, file);
    if (ok && w.n > 0 &&
        eddy_save_checkpoint(w.session, path, .named = w.named, .n_named = w.n) != EDDY_OK)
        ok = session_failed(s, w.session);
    for (int i = 0; i < w.n; i++) free((char *)w.named[i].name);
    free(w.named);
    eddy_session_free(w.session);
    eddy_graph_free(w.graph);
    return ok;
}

/* ------------------------------------------------------------------- index -- */

/* Names of variables contain no control characters. */
static void put_text(FILE *to, const char *text, size_t length)
{
    fputc('"', to);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\') fputc('\\', to);
        fputc(text[i], to);
    }
    fputc('"', to);
}

/* Where the index is written, and what comes before the next line. */
typedef struct index_text {
    FILE       *to;
    const char *comma;
} index_text;

static void put_entry(const saving *s, index_text *t, const char *name, int number)
{
    char file[2 * PATH];
    file_of(s, number, file, sizeof file);
    fprintf(t->to, "%s\n    ", t->comma);
    put_text(t->to, name, strlen(name));
    fputs(": ", t->to);
    put_text(t->to, file, strlen(file));
    t->comma = ",";
}

static bool put_divided(saving *s, int rank, int number, const char *name, void *context)
{
    put_entry(s, context, name, s->c->n + writer_of(s, rank, number));
    return true;
}

static void put_index(saving *s, FILE *to)
{
    index_text t = { to, "" };
    fputs("{\n  \"metadata\": {},\n  \"weight_map\": {", to);
    for (int r = 0; r < s->c->n; r++)
        for (char *name = s->names[r], *end; *name; name = end + 1) {
            end = strchr(name, '\n');
            *end = '\0';
            if (is_first(s->names, r, name)) put_entry(s, &t, name, r);
            *end = '\n';
        }
    walk_divided(s, put_divided, &t);
    fputs("\n  }\n}\n", to);
}

/* Writes bytes and makes them durable under a temporary name, which it then gives up. */
static bool replace(saving *s, const char *path, const char *data, size_t size)
{
    const eddy_files *f = eddy_posix_files();
    char              temporary[3 * PATH + 64];
    snprintf(temporary, sizeof temporary, "%s.%lld.tmp", path, s->generation);
    const int fd = f->open(f->context, temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0) return fail(s, EDDY_IO, "cannot write the index");
    bool ok = true;
    for (size_t at = 0, interrupted = 0; ok && at < size;) {
        const int64_t n = f->write(f->context, fd, data + at, size - at);
        ok = n > 0 || (n < 0 && errno == EINTR && interrupted++ < PATIENCE);
        if (n > 0) at += (size_t)n;
    }
    ok = ok && f->sync(f->context, fd) == 0;
    ok = f->close(f->context, fd) == 0 && ok;
    ok = s->replaced = ok && f->rename(f->context, temporary, path) == 0;
    if (!ok) {
        fail(s, EDDY_IO, "cannot write the index");
        f->unlink(f->context, temporary);
    }
    return ok && (f->sync_dir(f->context, path) == 0 || fail(s, EDDY_IO, "cannot write the index"));
}

static bool write_index(saving *s)
{
    char   path[3 * PATH], *data = NULL;
    size_t size = 0;
    FILE  *to = open_memstream(&data, &size);
    if (to) put_index(s, to);
    bool ok = to && !ferror(to);
    if (to) ok = fclose(to) == 0 && ok;
    snprintf(path, sizeof path, "%s%s%s", s->folder, s->stem, ending);
    ok = ok ? replace(s, path, data, size) : fail(s, EDDY_NO_MEMORY, "the index");
    free(data);
    return ok;
}

/* ---------------------------------------------------------------- the call -- */

/* All ranks learn the names of the variables of all. */
static bool exchange_names(saving *s, bool divided, char **names)
{
    char *own = eddy__variable_names(s->graph, divided);
    bool  ok = own != NULL;
    if (!own) {
        eddy_communicator_fail(s->c, "out of memory");
        fail(s, EDDY_NO_MEMORY, "a list of variables");
    }
    for (int r = 0; ok && r < s->c->n; r++) {
        names[r] = eddy__broadcast_text(s->c, r, own, s->error);
        ok = names[r] != NULL;
    }
    free(own);
    return ok;
}

/* Ranks of different graphs may have variables of the same name; all ranks get the same answer. */
static bool agree(const saving *s)
{
    bool ok = true;
    for (int r = 0; ok && r < s->c->n; r++)
        for (char *name = s->divided[r], *end; ok && *name; name = end + 1) {
            end = strchr(name, '\n');
            *end = '\0';
            for (int q = 0; ok && q < s->c->n; q++)
                if (lists(s->names[q], name, strlen(name)))
                    ok = eddy__distributed_fail(s->error, EDDY_INVALID_ARGUMENT,
                                                "save_ranks: '%.200s' is whole on rank %d and "
                                                "divided on rank %d", name, q, r);
            *end = '\n';
        }
    return ok;
}

/* The names, and the generation. */
static bool exchange(saving *s)
{
    char number[32];
    bool ok = exchange_names(s, false, s->names) && exchange_names(s, true, s->divided) && agree(s);
    snprintf(number, sizeof number, "%lld", s->generation);
    char *first = ok ? eddy__broadcast_text(s->c, 0, number, s->error) : NULL;
    s->generation = first ? strtoll(first, NULL, 10) : 0;
    const bool known = first != NULL;
    free(first);
    s->files = s->c->n;
    s->turns = known && eddy__division_ranks(s->graph) == s->c->n;
    for (int r = 0; known && r < s->c->n; r++) {
        if (s->divided[r][0]) s->files = 2 * s->c->n;
        s->turns = s->turns && strcmp(s->divided[r], s->divided[0]) == 0;
    }
    return known;
}

/* The files of this rank, when all ranks know that there will be no index of them. If the
 * communicator has failed, another rank may write it yet. */
static void remove_own(const saving *s)
{
    const eddy_files *f = eddy_posix_files();
    char              file[2 * PATH], path[3 * PATH];
    for (int number = s->c->me; number < s->files; number += s->c->n) {
        file_of(s, number, file, sizeof file);
        snprintf(path, sizeof path, "%s%s", s->folder, file);
        if (eddy_communicator_status(s->c) == EDDY_OK) f->unlink(f->context, path);
    }
}

/* Of all ranks. */
static bool write_files(saving *s)
{
    write_part(s);
    if (!eddy__all_succeeded(s->c, s->error)) return false;
    if (s->files > s->c->n) write_wholes(s);
    return eddy__all_succeeded(s->c, s->error);
}

static bool save(saving *s)
{
    if (!exchange(s)) return false;
    if (!write_files(s)) {
        remove_own(s);
        return false;
    }
    if (s->c->me == 0 && !write_index(s) && !s->replaced) walk(s, s->generation, s->generation + 1);
    if (!eddy__all_succeeded(s->c, s->error)) return false;
    if (s->c->me == 0) walk(s, 0, s->generation);
    return true;
}

bool eddy_save_ranks_with_metadata(eddy_communicator *c, eddy_graph *g, eddy_session *session,
                                   const char *path, const eddy_metadata *metadata, int n,
                                   eddy_error *error)
{
    eddy_error own = { 0 };
    if (!c || !g || !session || !path || n < 0 || (n > 0 && !metadata))
        return eddy__distributed_fail(
            error, EDDY_INVALID_ARGUMENT,
            "save_ranks: no communicator, graph, session, path or metadata");
    saving *s = calloc(1, sizeof *s);
    if (s)
        *s = (saving){ .c = c, .graph = g, .session = session, .metadata = metadata,
                       .n_metadata = n, .error = &own };
    if (s) s->names = calloc(2 * (size_t)c->n, sizeof *s->names);
    if (s && s->names) s->divided = s->names + c->n;
    if (!s || !s->names) {
        eddy_communicator_fail(c, "save_ranks: out of memory");
        eddy__distributed_fail(&own, EDDY_NO_MEMORY, "save_ranks: out of memory");
    } else {
        if (split_path(s, path) && c->me == 0) find_generation(s);
        if (eddy__all_succeeded(c, &own)) save(s);
    }
    for (int r = 0; s && s->names && r < 2 * c->n; r++) free(s->names[r]);
    if (s) free(s->names);
    free(s);
    if (own.status != EDDY_OK && error && error->status == EDDY_OK) *error = own;
    return own.status == EDDY_OK;
}

bool eddy_save_ranks(eddy_communicator *c, eddy_graph *g, eddy_session *s, const char *path,
                     eddy_error *error)
{
    return eddy_save_ranks_with_metadata(c, g, s, path, NULL, 0, error);
}
