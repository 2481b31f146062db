/* save_ranks.c -- one checkpoint of the variables of all ranks: a file for each rank and an index.
 *
 * Files get new names each time, and the index, which rank 0 replaces last and atomically, names
 * files that belong together. So a crash at any moment leaves the old checkpoint or the new one. */
#include "distributed/internal.h"
#include "distributed/training.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 4096 };

static const char ending[] = ".safetensors.index.json";

typedef struct saving {
    eddy_communicator *c;
    eddy_graph        *graph;
    eddy_session      *session;
    char               folder[PATH];    /* with the last slash */
    char               stem[PATH];      /* "m" of "folder/m.safetensors.index.json" */
    long long          generation;      /* a number in the names of the files */
    char             **names;           /* by rank: of its variables, each with a newline */
    eddy_error        *error;
} saving;

static bool fail(saving *s, eddy_status status, const char *what)
{
    return eddy__distributed_fail(s->error, status, "save_ranks: %s%s: %s: %s", s->folder, s->stem,
                                  what,
                                  status == EDDY_IO ? strerror(errno) : eddy_status_text(status));
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

/* The greatest generation in the folder, or removes those below `below`. */
static long long walk(const saving *s, long long below)
{
    const eddy_files *f = eddy_posix_files();
    long long         greatest = 0;
    char              path[2 * PATH];
    DIR              *folder = opendir(s->folder[0] ? s->folder : ".");
    for (struct dirent *e; folder && (e = readdir(folder)) != NULL;) {
        const long long g = generation_of(s, e->d_name);
        if (g > greatest) greatest = g;
        if (g == 0 || g >= below) continue;
        snprintf(path, sizeof path, "%s%s", s->folder, e->d_name);
        f->unlink(f->context, path);            /* what cannot be removed is only in the way */
    }
    if (folder) closedir(folder);
    return greatest;
}

static void file_of(const saving *s, int rank, char *out, size_t size)
{
    snprintf(out, size, "%s.%lld-%05d-of-%05d.safetensors", s->stem, s->generation, rank + 1,
             s->c->n);
}

/* ------------------------------------------------------------------- parts -- */

static bool lists(const char *names, const char *name, size_t length)
{
    for (const char *at = names; (at = strstr(at, name)) != NULL; at += length)
        if ((at == names || at[-1] == '\n') && at[length] == '\n') return true;
    return false;
}

/* The first rank that has a variable writes it. */
static bool is_written_by(const saving *s, int rank, const char *name)
{
    const size_t length = strlen(name);
    for (int r = 0; r < rank; r++)
        if (lists(s->names[r], name, length)) return false;
    return true;
}

/* The variables that this rank writes, and their number. */
static eddy_tensor *own_variables(const saving *s, int *n)
{
    const int    all = eddy_collection_size(s->graph, EDDY_GLOBAL_VARIABLES);
    eddy_tensor *v = malloc((size_t)all * sizeof *v + 1);
    for (int i = *n = 0; v && i < all; i++) {
        v[*n] = eddy_collection_at(s->graph, EDDY_GLOBAL_VARIABLES, i);
        *n += is_written_by(s, s->c->me, eddy_name_of(v[*n]));
    }
    return v;
}

/* Rank 0 writes all of its variables, and with them the counts of draws. */
static bool write_part(saving *s)
{
    char         file[2 * PATH], path[3 * PATH];
    int          n;
    eddy_tensor *v = own_variables(s, &n);
    eddy_status  status = EDDY_OK;
    if (!v) return fail(s, EDDY_NO_MEMORY, "a list of variables");
    file_of(s, s->c->me, file, sizeof file);
    snprintf(path, sizeof path, "%s%s", s->folder, file);
    if (s->c->me == 0) status = eddy_save(s->session, path, (eddy_list){ 0, NULL });
    else if (n > 0) status = eddy_save(s->session, path, (eddy_list){ n, v });
    free(v);
    return status == EDDY_OK || eddy__distributed_fail(s->error, status, "save_ranks: rank %d: %s",
                                                       s->c->me, eddy_session_message(s->session));
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

static void put_index(const saving *s, FILE *to)
{
    char        file[2 * PATH];
    const char *comma = "";
    fputs("{\n  \"metadata\": {},\n  \"weight_map\": {", to);
    for (int r = 0; r < s->c->n; r++) {
        file_of(s, r, file, sizeof file);
        for (char *name = s->names[r], *end; *name; name = end + 1) {
            end = strchr(name, '\n');
            *end = '\0';
            if (is_written_by(s, r, name)) {
                fprintf(to, "%s\n    ", comma);
                put_text(to, name, strlen(name));
                fputs(": ", to);
                put_text(to, file, strlen(file));
                comma = ",";
            }
            *end = '\n';
        }
    }
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
    for (size_t at = 0; ok && at < size;) {
        const int64_t n = f->write(f->context, fd, data + at, size - at);
        ok = n > 0 || (n < 0 && errno == EINTR);
        if (n > 0) at += (size_t)n;
    }
    ok = ok && f->sync(f->context, fd) == 0;
    ok = f->close(f->context, fd) == 0 && ok;
    ok = ok && f->rename(f->context, temporary, path) == 0;
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

/* All ranks learn the names of all variables, and the generation. */
static bool exchange(saving *s)
{
    char *own = eddy__variable_names(s->graph), number[32];
    if (!own) {
        eddy_communicator_fail(s->c, "out of memory");
        return fail(s, EDDY_NO_MEMORY, "a list of variables");
    }
    bool ok = true;
    for (int r = 0; ok && r < s->c->n; r++) {
        s->names[r] = eddy__broadcast_text(s->c, r, own, s->error);
        ok = s->names[r] != NULL;
    }
    free(own);
    snprintf(number, sizeof number, "%lld", s->c->me == 0 ? walk(s, 0) + 1 : 0);
    char *first = ok ? eddy__broadcast_text(s->c, 0, number, s->error) : NULL;
    s->generation = first ? strtoll(first, NULL, 10) : 0;
    free(first);
    return first != NULL;
}

static bool save(saving *s)
{
    if (!exchange(s)) return false;
    write_part(s);
    if (!eddy__all_succeeded(s->c, s->error)) return false;
    if (s->c->me == 0) write_index(s);
    if (!eddy__all_succeeded(s->c, s->error)) return false;
    if (s->c->me == 0) walk(s, s->generation);
    return true;
}

bool eddy_save_ranks(eddy_communicator *c, eddy_graph *g, eddy_session *session, const char *path,
                     eddy_error *error)
{
    eddy_error own = { 0 };
    if (!c || !g || !session || !path)
        return eddy__distributed_fail(error, EDDY_INVALID_ARGUMENT,
                                      "save_ranks: no communicator, graph, session or path");
    saving *s = calloc(1, sizeof *s);
    if (s) *s = (saving){ .c = c, .graph = g, .session = session, .error = &own };
    if (s) s->names = calloc((size_t)c->n, sizeof *s->names);
    if (!s || !s->names) {
        eddy_communicator_fail(c, "save_ranks: out of memory");
        eddy__distributed_fail(&own, EDDY_NO_MEMORY, "save_ranks: out of memory");
    } else {
        split_path(s, path);
        if (eddy__all_succeeded(c, &own)) save(s);
    }
    for (int r = 0; s && s->names && r < c->n; r++) free(s->names[r]);
    if (s) free(s->names);
    free(s);
    if (own.status != EDDY_OK && error && error->status == EDDY_OK) *error = own;
    return own.status == EDDY_OK;
}
