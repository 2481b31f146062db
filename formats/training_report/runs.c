/* runs.c -- see runs.h. The records of event files are described in tensorboard/event_file.c. */
#include "runs.h"
#include "../checksum.h"
#include "../tensorboard/writer.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_FILES = 4096, MOST_DEPTH = 16, HEAD = 12, FOOT = 4 };
static const int64_t most_bytes = (int64_t)1 << 31;

/* Fields of messages that only readers need. */
enum { TENSOR_TYPE = 1, TENSOR_CONTENT = 4, TENSOR_FLOAT = 5, TENSOR_DOUBLE = 6, TENSOR_STRING = 8,
       TYPE_FLOAT = 1, TYPE_DOUBLE = 2, PLUGIN_NAME = 1, PLUGIN_CONTENT = 2, START_INFO = 3 };

static bool no_memory(eddy_error *error)
{
    return eddy__format_fail(error, EDDY_NO_MEMORY, "report: out of memory");
}

/* ------------------------------------------------------------------ fields -- */

static bool is_text(wire_bytes b, const char *text)
{
    return b.size == strlen(text) && memcmp(b.at, text, b.size) == 0;
}

/* The last field of this number and type, which protobuf says counts. */
static bool field_of(wire w, uint32_t number, wire_type type, wire_field *f)
{
    bool found = false;
    for (wire_field at; eddy__wire_next(&w, &at);)
        if (at.number == number && at.type == type) *f = at, found = true;
    return found;
}

static wire_bytes bytes_of(wire w, uint32_t number)
{
    wire_field f;
    return field_of(w, number, WIRE_BYTES, &f) ? f.bytes : (wire_bytes){ 0 };
}

/* ------------------------------------------------------------------ series -- */

/* The place of a series in the table, free if there is none. */
static series **place_of(const runs *r, int number, series_kind kind, wire_bytes tag)
{
    const size_t mask = r->places - 1;
    uint64_t     h = 14695981039346656037u ^ (uint64_t)number << 8 ^ (uint64_t)kind; /* FNV-1a */
    for (size_t i = 0; i < tag.size; i++) h = (h ^ tag.at[i]) * 1099511628211u;
    size_t at = (size_t)(h ^ h >> 32) & mask;
    for (const series *s; (s = r->table[at]) != NULL; at = (at + 1) & mask) {
        const bool other = (s->run != number) | (s->kind != kind) | (s->tag.size != tag.size);
        if (!other && (tag.size == 0 || memcmp(s->tag.at, tag.at, tag.size) == 0)) break;
    }
    return &r->table[at];
}

static bool grow_table(runs *r)
{
    const size_t places = r->places ? 2 * r->places : 64;
    series     **table = eddy__region_take(&r->memory, places, sizeof *table);
    if (!table) return false;
    memset(table, 0, places * sizeof *table);
    r->table = table;
    r->places = places;
    for (series *s = r->first; s; s = s->next) *place_of(r, s->run, s->kind, s->tag) = s;
    return true;
}

static series *series_of(runs *r, int number, series_kind kind, wire_bytes tag)
{
    if (2 * r->n_series >= r->places && !grow_table(r)) return NULL;
    series **place = place_of(r, number, kind, tag);
    if (*place) return *place;
    series *s = eddy__region_take(&r->memory, 1, sizeof *s);
    if (!s) return NULL;
    *s = (series){ .kind = kind, .run = number, .tag = tag, .file = r->n_files };
    if (r->last) r->last->next = s;
    else r->first = s;
    r->n_series++;
    return *place = r->last = s;
}

/* The first step of another file of the run ends what earlier files have: a run that is resumed
 * from a checkpoint writes the steps after it again. */
static void begin_file(series *s, int file, int64_t step)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->points[i].step < step) s->points[kept++] = s->points[i];
    s->count = kept;
    s->file = file;
}

static bool add_point(runs *r, int number, series_kind kind, wire_bytes tag, point p)
{
    run    *at = &r->at[number];
    series *s = series_of(r, number, kind, tag);
    if (!s) return false;
    if (s->file != r->n_files) begin_file(s, r->n_files, p.step);
    if (s->count == s->room) {
        const size_t more = s->room ? 2 * s->room : 16;
        point *points = eddy__region_take(&r->memory, more, sizeof *points);
        if (!points) return false;
        if (s->count) memcpy(points, s->points, s->count * sizeof *points);
        s->points = points;
        s->room = more;
    }
    s->points[s->count++] = p;
    if (at->begin == 0 || p.time < at->begin) at->begin = p.time;
    if (p.time > at->end) at->end = p.time;
    if (p.step > at->last_step) at->last_step = p.step;
    return true;
}

/* ------------------------------------------------------------------ values -- */

/* The number of a tensor with one element, which newer programs write for a scalar. */
static bool tensor_number(wire w, double *number)
{
    wire_field       f;
    const wire_bytes content = bytes_of(w, TENSOR_CONTENT);
    wire_bytes       packed = bytes_of(w, TENSOR_FLOAT);
    const bool       wide = field_of(w, TENSOR_TYPE, WIRE_VARINT, &f) && f.value == TYPE_DOUBLE;
    uint64_t         bits = 0;
    if (content.size == (wide ? sizeof(double) : sizeof(float))) {
        for (size_t i = 0; i < content.size; i++) bits |= (uint64_t)content.at[i] << 8 * i;
        *number = wide ? eddy__wire_double(bits) : (double)eddy__wire_float(bits);
    } else if (field_of(w, TENSOR_FLOAT, WIRE_FIXED32, &f)) {
        *number = (double)eddy__wire_float(f.value);
    } else if (packed.size && eddy__wire_unpack(&packed, WIRE_FIXED32, &bits)) {
        *number = (double)eddy__wire_float(bits);
    } else if (field_of(w, TENSOR_DOUBLE, WIRE_FIXED64, &f)) {
        *number = eddy__wire_double(f.value);
    } else return false;
    return true;
}

static bool add_tensor(runs *r, int number, wire_bytes tag, wire value, wire_bytes tensor, point p)
{
    const wire plugin = eddy__wire_of(bytes_of(eddy__wire_of(bytes_of(value, VALUE_METADATA)), 1));
    const wire_bytes name = bytes_of(plugin, PLUGIN_NAME);
    const wire       w = eddy__wire_of(tensor);
    if (is_text(name, "hparams")) {
        const wire_bytes info =
            bytes_of(eddy__wire_of(bytes_of(plugin, PLUGIN_CONTENT)), START_INFO);
        if (info.size) r->at[number].hparams = info;
        return true;
    }
    if (is_text(name, "text")) {
        p.bytes = bytes_of(w, TENSOR_STRING);
        return add_point(r, number, SERIES_TEXT, tag, p);
    }
    return !tensor_number(w, &p.number) || add_point(r, number, SERIES_SCALAR, tag, p);
}

static bool add_value(runs *r, int number, wire value, point p)
{
    const wire_bytes tag = bytes_of(value, VALUE_TAG);
    wire_field       f;
    if (field_of(value, VALUE_SIMPLE, WIRE_FIXED32, &f)) {
        p.number = (double)eddy__wire_float(f.value);
        return add_point(r, number, SERIES_SCALAR, tag, p);
    }
    if (field_of(value, VALUE_TENSOR, WIRE_BYTES, &f))
        return add_tensor(r, number, tag, value, f.bytes, p);
    const bool image = field_of(value, VALUE_IMAGE, WIRE_BYTES, &f);
    if (!image && !field_of(value, VALUE_HISTOGRAM, WIRE_BYTES, &f)) return true;
    p.bytes = f.bytes;
    return add_point(r, number, image ? SERIES_IMAGE : SERIES_HISTOGRAM, tag, p);
}

static bool add_event(runs *r, int number, wire event)
{
    point      p = { 0 };
    wire_field f;
    bool       ok = true;
    if (field_of(event, EVENT_TIME, WIRE_FIXED64, &f)) p.time = eddy__wire_double(f.value);
    if (field_of(event, EVENT_STEP, WIRE_VARINT, &f)) p.step = (int64_t)f.value;
    const wire_bytes graph = bytes_of(event, EVENT_GRAPH);
    if (graph.size) r->at[number].graph = graph;
    wire summary = eddy__wire_of(bytes_of(event, EVENT_SUMMARY));
    while (ok && eddy__wire_next(&summary, &f))
        if (f.number == 1 && f.type == WIRE_BYTES)
            ok = add_value(r, number, eddy__wire_of(f.bytes), p);
    const wire_bytes tagged = bytes_of(event, EVENT_RUN_METADATA);
    if (ok && tagged.size) {
        const wire w = eddy__wire_of(tagged);
        p.bytes = bytes_of(w, 2);
        ok = add_point(r, number, SERIES_PROFILE, bytes_of(w, 1), p);
    }
    return ok;
}

/* ----------------------------------------------------------------- records -- */

static uint64_t whole(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int i = 0; i < n; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

static bool sum_is_right(const uint8_t *p, size_t size)
{
    const uint32_t crc = eddy__file_crc32c((wire_bytes){ p, size });
    return (crc >> 15 | crc << 17) + 0xa282ead8u == (uint32_t)whole(p + size, 4);
}

static bool add_note(runs *r, const char *path, size_t at)
{
    const char *note = eddy__region_print(
        &r->memory, "%.500s is damaged at byte %zu; what follows is left out", path, at);
    if (note) r->notes[r->n_notes++] = note;
    return note != NULL;
}

bool eddy__runs_add(runs *r, int number, const char *path, wire_bytes b)
{
    for (size_t at = 0; b.size - at >= HEAD;) {
        const uint8_t *p = b.at + at;
        const uint64_t size = whole(p, 8);
        const size_t   room = b.size - at;
        if (!sum_is_right(p, 8)) return add_note(r, path, at);
        if (room < HEAD + FOOT || size > room - HEAD - FOOT) return true;
        if (!sum_is_right(p + HEAD, (size_t)size)) return add_note(r, path, at);
        if (!add_event(r, number, eddy__wire_of((wire_bytes){ p + HEAD, (size_t)size })))
            return false;
        at += HEAD + (size_t)size + FOOT;
    }
    return true;
}

/* ------------------------------------------------------------------- files -- */

typedef struct file_list {
    region      *memory;
    const char **at;
    int          count;
} file_list;

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Adds the event files of the folder and those below it, except in folders that the user may not
 * read or that vanish meanwhile. Links are not followed, so this ends. */
static bool list_files(file_list *l, const char *folder, int depth, eddy_error *error)
{
    DIR *d = opendir(folder);
    if (!d && depth > 0 && (errno == EACCES || errno == ENOENT)) return true;
    if (!d && errno == ENOMEM) return no_memory(error);
    if (!d)
        return eddy__format_fail(error, errno == ENOENT ? EDDY_NOT_FOUND : EDDY_IO,
                                 "report: cannot open the folder %.600s: %s", folder,
                                 strerror(errno));
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(d)) != NULL;) {
        struct stat about;
        const char *path = e->d_name[0] == '.' ? NULL
                         : eddy__region_print(l->memory, "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.') continue;
        if (!path) ok = no_memory(error);
        else if (lstat(path, &about) != 0) continue;
        else if (S_ISDIR(about.st_mode) && depth < MOST_DEPTH)
            ok = list_files(l, path, depth + 1, error);
        else if (S_ISREG(about.st_mode) && strstr(e->d_name, "tfevents")) {
            if (l->count == MOST_FILES)
                ok = eddy__format_fail(error, EDDY_LIMIT,
                                       "report: %.600s has more than %d event files", folder,
                                       MOST_FILES);
            else l->at[l->count++] = path;
        }
    }
    closedir(d);
    return ok;
}

/* The run of the folder that a file is in; -1 without memory. */
static int run_of(runs *r, const char *folder, const char *path)
{
    const size_t begin = strlen(folder) + 1;
    const char  *end = strrchr(path, '/');
    const size_t size = end >= path + begin ? (size_t)(end - path) - begin : 0;
    const char  *name = ".";
    if (size)
        name = eddy__region_text(&r->memory, (wire_bytes){ (const uint8_t *)path + begin, size });
    if (!name) return -1;
    for (int i = 0; i < r->count; i++)
        if (strcmp(r->at[i].name, name) == 0) return i;
    r->at[r->count].name = name;
    return r->count++;
}

bool eddy__runs_read(runs *r, const char *folder, eddy_error *error)
{
    int64_t left = most_bytes;
    *r = (runs){ 0 };
    file_list l = { &r->memory, eddy__region_take(&r->memory, MOST_FILES, sizeof *l.at), 0 };
    if (!l.at) return no_memory(error);
    if (!list_files(&l, folder, 0, error)) return false;
    if (l.count == 0)
        return eddy__format_fail(error, EDDY_NOT_FOUND,
                                 "report: there are no event files in %.600s", folder);
    qsort(l.at, (size_t)l.count, sizeof *l.at, by_name);
    r->at = eddy__region_take(&r->memory, (size_t)l.count, sizeof *r->at);
    r->files = eddy__region_take(&r->memory, (size_t)l.count, sizeof *r->files);
    r->notes = eddy__region_take(&r->memory, (size_t)l.count, sizeof *r->notes);
    if (!r->at || !r->files || !r->notes) return no_memory(error);
    for (int i = 0; i < l.count; i++) {
        source *s = eddy__source_read(l.at[i], NULL, left, error);
        if (!s) return false;
        r->files[r->n_files++] = s;
        const wire_bytes b = eddy__source_bytes(s);
        const int        number = run_of(r, folder, l.at[i]);
        left -= (int64_t)b.size;
        if (number < 0 || !eddy__runs_add(r, number, l.at[i], b)) return no_memory(error);
    }
    return true;
}

void eddy__runs_free(runs *r)
{
    for (int i = 0; i < r->n_files; i++) eddy__source_release(r->files[i]);
    eddy__region_free(&r->memory);
}
