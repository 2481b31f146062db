/* wav.c -- sound in WAV files: RIFF chunks, of which "fmt " and "data" are read. The elements of
 * the array may be larger than those of the file, so the file is read in pieces. */
#include "file.h"

#include <string.h>

enum { PCM = 1, IEEE_FLOAT = 3, EXTENSIBLE = 0xfffe, MAX_CHANNELS = 1024 };

typedef struct sound {
    int     format, channels, bits;
    int64_t rate;
    int64_t bytes;                       /* of the frames, which are next in the file */
} sound;

static bool read_format(data_file *f, int64_t size, sound *s)
{
    uint8_t       p[40] = { 0 };
    const int64_t at = f->at;
    if (size < 16) return eddy__file_damaged(f, at, "the chunk 'fmt ' is too short");
    if (!eddy__file_next(f, p, size < 40 ? size : 40)) return false;
    s->format = (int)eddy__little(p, 2);
    s->channels = (int)eddy__little(p + 2, 2);
    s->rate = (int64_t)eddy__little(p + 4, 4);
    s->bits = (int)eddy__little(p + 14, 2);
    if (s->format == EXTENSIBLE && size >= 40) s->format = (int)eddy__little(p + 24, 2);
    const bool known = s->format == PCM
                           ? s->bits >= 8 && s->bits <= 32 && s->bits % 8 == 0
                           : s->format == IEEE_FLOAT && (s->bits == 32 || s->bits == 64);
    if (!known)
        return eddy__input_fail(
            f->error, EDDY_UNIMPLEMENTED,
            "%.700s: byte %lld: format %d of %d bits; PCM of 8, 16, 24 and 32 bits "
            "and float of 32 and 64 bits are read",
            f->path, (long long)at, s->format, s->bits);
    if (s->channels < 1 || s->channels > MAX_CHANNELS)
        return eddy__file_damaged(f, at + 2, "the number of channels is 0 or above 1024");
    return (int)eddy__little(p + 12, 2) == s->channels * s->bits / 8 ||
           eddy__file_damaged(f, at + 12, "the size of a frame does not fit");
}

static bool skip(data_file *f, int64_t n)
{
    uint8_t ignored[4096];
    for (; n > (int64_t)sizeof ignored; n -= (int64_t)sizeof ignored)
        if (!eddy__file_next(f, ignored, sizeof ignored)) return false;
    return eddy__file_next(f, ignored, n);
}

/* Everything before the frames. */
static bool parse(data_file *f, sound *s)
{
    uint8_t p[12];
    if (f->size < 12) return eddy__file_damaged(f, 0, "not a WAV file");
    if (!eddy__file_next(f, p, 12)) return false;
    if (memcmp(p, "RIFF", 4) != 0 || memcmp(p + 8, "WAVE", 4) != 0)
        return eddy__file_damaged(f, 0, "not a WAV file");
    for (bool found = false; !found;) {
        if (f->at > f->size - 8) return eddy__file_damaged(f, f->at, "the chunk 'data' is missing");
        if (!eddy__file_next(f, p, 8)) return false;
        const int64_t at = f->at, size = (int64_t)eddy__little(p + 4, 4);
        if (size > f->size - at) return eddy__file_damaged(f, at - 4, "the chunk is too long");
        if (memcmp(p, "fmt ", 4) == 0 && !read_format(f, size, s)) return false;
        found = memcmp(p, "data", 4) == 0;
        if (found && !s->channels) return eddy__file_damaged(f, at, "the chunk 'fmt ' is missing");
        s->bytes = size;
        const int64_t end = at + size + size % 2;
        if (!found && !skip(f, (end < f->size ? end : f->size) - f->at)) return false;
    }
    return s->bytes % (s->channels * s->bits / 8) == 0 ||
           eddy__file_damaged(f, f->at, "the last frame is incomplete");
}

static float sample(const uint8_t *p, const sound *s)
{
    const int n = s->bits / 8;
    if (s->format == IEEE_FLOAT && n == 8) {
        const uint64_t v = eddy__little(p, 8);
        double         d;
        memcpy(&d, &v, sizeof d);
        return (float)d;
    }
    const uint32_t v = (uint32_t)eddy__little(p, n);
    float          x;
    memcpy(&x, &v, sizeof x);
    if (s->format == IEEE_FLOAT) return x;
    if (n == 1) return ((float)v - 128) / 128;       /* the only size without a sign */
    return (float)((double)(int32_t)(v << (32 - s->bits)) * 0x1p-31);
}

static bool read_samples(data_file *f, const sound *s, float *to)
{
    enum { PIECE = 8 * 3 * 512 };        /* whole samples of each size */
    uint8_t       piece[PIECE];
    const int64_t size = s->bits / 8;
    for (int64_t left = s->bytes; left > 0; left -= PIECE) {
        const int64_t n = left < PIECE ? left : PIECE;
        if (!eddy__file_next(f, piece, n)) return false;
        for (int64_t i = 0; i < n; i += size) *to++ = sample(piece + i, s);
    }
    return true;
}

eddy_array *eddy_wav_load(const char *path, const eddy_files *files, eddy_error *error)
{
    data_file   f;
    sound       s = { 0 };
    eddy_array *a = NULL;
    if (!eddy__file_open(&f, path, files, error)) return NULL;
    if (parse(&f, &s))
        a = eddy__file_array(&f, EDDY_FLOAT32,
                             EDDY_SHAPE(s.bytes / (s.bits / 8) / s.channels, s.channels));
    const bool ok = a && read_samples(&f, &s, eddy_array_data(a));
    eddy__file_free(&f);
    if (ok) return a;
    eddy_array_free(a);
    return NULL;
}

int64_t eddy_wav_rate(const char *path, const eddy_files *files, eddy_error *error)
{
    data_file f;
    sound     s = { 0 };
    const int64_t rate = eddy__file_open(&f, path, files, error) && parse(&f, &s) ? s.rate : 0;
    eddy__file_free(&f);
    return rate;
}
