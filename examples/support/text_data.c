/* text_data.c -- reads a text and draws pieces of it. */
#include "text_data.h"

#include <eddy/input.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends a file, if it can be read. */
static void append_file(text *t, const char *path)
{
    eddy_array    *a = eddy_bytes_load(path, NULL, NULL);
    const size_t   n = eddy_array_bytes(a);
    unsigned char *more = n > 0 ? realloc(t->bytes, t->size + n) : NULL;
    if (more) {
        memcpy(more + t->size, eddy_array_data(a), n);
        t->bytes = more;
        t->size += n;
    }
    eddy_array_free(a);
}

/* Runs of blanks and line ends, such as indentation, become one: nothing is to be learned there. */
static void squeeze(text *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->size; i++) {
        const unsigned char c = t->bytes[i];
        const bool          line = c == '\n',
                   blank = line || c == ' ' || c == '\t' || c == '\f' || c == '\r';
        const bool after = n > 0 && (t->bytes[n - 1] == ' ' || t->bytes[n - 1] == '\n');
        if (!blank) t->bytes[n++] = c;
        else if (!after) t->bytes[n++] = line ? '\n' : ' ';
        else if (line) t->bytes[n - 1] = '\n';
    }
    t->size = n;
}

bool text_read(text *t, const char *path, size_t least)
{
    static const char *const licenses[] = {
        "Apache-2.0", "Artistic", "GFDL-1.3", "GPL-1", "GPL-2", "GPL-3", "LGPL-2", "LGPL-2.1",
        "LGPL-3", "MPL-1.1", "MPL-2.0",
    };
    char name[64];
    for (size_t i = 0; !path && i < sizeof licenses / sizeof *licenses; i++) {
        snprintf(name, sizeof name, "/usr/share/common-licenses/%s", licenses[i]);
        append_file(t, name);
    }
    if (path) append_file(t, path);
    else if (t->size == 0) append_file(t, "LICENSE");
    squeeze(t);
    memset(t->code, -1, sizeof t->code);
    for (size_t i = 0; i < t->size; i++) {
        if (t->code[t->bytes[i]] < 0) {
            t->byte[t->codes] = t->bytes[i];
            t->code[t->bytes[i]] = t->codes++;
        }
        if (i > 0) t->pair[t->bytes[i - 1]][t->bytes[i]] = true;
    }
    if (t->size >= least && t->size > 0) return true;
    fprintf(stderr, "there is no text, or it is too short; name one with --text\n");
    return false;
}

void text_free(text *t)
{
    free(t->bytes);
    t->bytes = NULL;
}

void text_draw(const text *t, uint64_t *state, int batch, int steps, eddy_array *in,
               eddy_array *next)
{
    int32_t *x = eddy_array_data(in), *y = eddy_array_data(next);
    for (int b = 0; b < batch; b++) {
        uint64_t z = *state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        const unsigned char *at = t->bytes + (z ^ (z >> 31)) % (t->size - (size_t)steps - 1);
        for (int k = 0; k < steps; k++) {
            *x++ = t->code[at[k]];
            *y++ = t->code[at[k + 1]];
        }
    }
}

double text_train(const text *t, const text_training *how, eddy_session *s)
{
    const int    updates = how->epochs * TEXT_UPDATES;
    uint64_t     state = how->seed;
    eddy_array  *in = eddy_array_new(EDDY_INT32, EDDY_SHAPE(how->batch, how->steps));
    eddy_array  *next = eddy_array_new(EDDY_INT32, EDDY_SHAPE(how->batch, how->steps));
    eddy_array  *out[2] = { NULL };
    double       sum = 0, loss = NAN;
    bool         ok = in && next;
    eddy_progress *bar = eddy_progress_new(.total = updates, .label = "training",
                                           .unit = "steps", .to = stdout);
    for (int i = 1; ok && i <= updates; i++) {
        text_draw(t, &state, how->batch, how->steps, in, next);
        ok = eddy_run(s, EDDY_FEED({ how->in, in }, { how->next, next }),
                      EDDY_FETCH(how->loss, how->train), out) == EDDY_OK;
        if (!ok) continue;
        sum += eddy_array_item(out[0]);
        eddy_progress_add(bar, 1);
        if (i % TEXT_UPDATES) continue;
        loss = sum / TEXT_UPDATES;
        sum = 0;
        eddy_progress_log(bar, "  epoch %2d   loss %.4f", i / TEXT_UPDATES, loss);
    }
    eddy_progress_free(bar);
    eddy_array_free(in);
    eddy_array_free(next);
    eddy_array_free(out[0]);
    return ok ? loss : NAN;
}
