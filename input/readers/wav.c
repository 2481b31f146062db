/* wav.c -- sound in WAV files: RIFF chunks, of which "fmt " and "data" are read. */
#include "file.h"

#include <string.h>

enum { PCM = 1, IEEE_FLOAT = 3, EXTENSIBLE = 0xfffe, MAX_CHANNELS = 1024 };

typedef struct sound {
    int            format, channels, bits;
    int64_t        rate;
    const uint8_t *data;
    int64_t        bytes;
} sound;

static bool read_format(const data_file *f, int64_t at, int64_t size, sound *s)
{
    const uint8_t *p = f->bytes + at;
    if (size < 16) return eddy__file_damaged(f, at, "the chunk 'fmt ' is too short");
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

static bool parse(const data_file *f, sound *s)
{
    if (f->size < 12 || memcmp(f->bytes, "RIFF", 4) != 0 || memcmp(f->bytes + 8, "WAVE", 4) != 0)
        return eddy__file_damaged(f, 0, "not a WAV file");
    for (int64_t at = 12; !s->data;) {
        if (at > f->size - 8) return eddy__file_damaged(f, at, "the chunk 'data' is missing");
        const int64_t size = (int64_t)eddy__little(f->bytes + at + 4, 4);
        const char   *id = (const char *)f->bytes + at;
        if (size > f->size - at - 8) return eddy__file_damaged(f, at + 4, "the chunk is too long");
        at += 8;
        if (memcmp(id, "fmt ", 4) == 0 && !read_format(f, at, size, s)) return false;
        if (memcmp(id, "data", 4) == 0) {
            if (!s->channels) return eddy__file_damaged(f, at, "the chunk 'fmt ' is missing");
            s->data = f->bytes + at;
            s->bytes = size;
        }
        at += size + size % 2;
    }
    return s->bytes % (s->channels * s->bits / 8) == 0 ||
           eddy__file_damaged(f, s->data - f->bytes, "the last frame is incomplete");
}

static float sample(const uint8_t *p, const sound *s)
{
    const int n = s->bits / 8;
    if (s->format == IEEE_FLOAT && n == 8) {
        const uint64_t v = eddy__little(p, 8);
        double         d;
        memcpy(&d, &v, 8);
        return (float)d;
    }
    const uint32_t v = (uint32_t)eddy__little(p, n);
    float          x;
    memcpy(&x, &v, 4);
    if (s->format == IEEE_FLOAT) return x;
    if (n == 1) return ((float)v - 128) / 128;       /* the only size without a sign */
    return (float)((double)(int32_t)(v << (32 - s->bits)) * 0x1p-31);
}

eddy_array *eddy_wav_load(const char *path, const eddy_files *files, eddy_error *error)
{
    data_file   f;
    sound       s = { 0 };
    eddy_array *a = NULL;
    if (!eddy__file_read(&f, path, files, error)) return NULL;
    if (parse(&f, &s)) {
        const int64_t n = s.bytes / (s.bits / 8);
        a = eddy__file_array(&f, EDDY_FLOAT32, EDDY_SHAPE(n / s.channels, s.channels));
        for (int64_t i = 0; a && i < n; i++)
            ((float *)eddy_array_data(a))[i] = sample(s.data + i * (s.bits / 8), &s);
    }
    eddy__file_free(&f);
    return a;
}

int64_t eddy_wav_rate(const char *path, const eddy_files *files, eddy_error *error)
{
    data_file f;
    sound     s = { 0 };
    if (!eddy__file_read(&f, path, files, error)) return 0;
    const int64_t rate = parse(&f, &s) ? s.rate : 0;
    eddy__file_free(&f);
    return rate;
}
