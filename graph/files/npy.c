/* npy.c -- NumPy .npy files: reading and writing arrays.
 *
 * A file consists of a magic number, two version bytes, the length of the header, the header (a
 * Python dictionary of three entries as text), and the elements. The header is trusted only
 * after the number of bytes that follow has been checked. */
#include "graph/base/files.h"
#include "graph/files/token.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "elements are stored as they are in memory");

enum { MAX_HEADER = 1 << 16, ALIGNMENT = 64 };

static const char magic[6] = "\x93NUMPY";

/* Types that arrays lack are read as larger integers; a type that is written comes first. */
static const struct {
    const char *code;            /* without the sign of the byte order */
    eddy_dtype  dtype;
    size_t      size;            /* of an element in the file */
} codes[] = {
    { "f4", EDDY_FLOAT32, 4 },    { "f8", EDDY_FLOAT64, 8 },     { "i4", EDDY_INT32, 4 },
    { "i8", EDDY_INT64, 8 },      { "u1", EDDY_UINT8, 1 },       { "b1", EDDY_BOOL, 1 },
    { "f2", EDDY_FLOAT16, 2 },    { "c8", EDDY_COMPLEX64, 8 },   { "c16", EDDY_COMPLEX128, 16 },
    { "i1", EDDY_INT32, 1 },      { "i2", EDDY_INT32, 2 },       { "u2", EDDY_INT32, 2 },
    { "u4", EDDY_INT64, 4 },      { "u8", EDDY_INT64, 8 },
};
enum { CODES = sizeof codes / sizeof *codes };

/* ------------------------------------------------------------- writing -- */

/* The header with everything before it; its length, or 0 if the type has no code. */
static size_t make_header(const eddy_array *a, char *buf, size_t size)
{
    eddy_dtype dtype = eddy_array_dtype(a);
    eddy_shape s = eddy_array_shape(a);
    int        code = 0;
    while (code < CODES && codes[code].dtype != dtype) code++;
    if (code == CODES) return 0;

    size_t n = (size_t)snprintf(
        buf, size, "%.6s%c%c..{'descr': '%c%s', 'fortran_order': False, 'shape': (", magic, 1, 0,
        eddy_dtype_size(dtype) == 1 ? '|' : '<', codes[code].code);
    for (int i = 0; i < s.rank; i++)
        n += (size_t)snprintf(buf + n, size - n, i == 0 ? "%lld," : " %lld,", (long long)s.dim[i]);
    if (s.rank > 1) n--;                     /* a comma ends a tuple of one only */
    n += (size_t)snprintf(buf + n, size - n, "), }");
    while ((n + 1) % ALIGNMENT != 0) buf[n++] = ' ';
    buf[n++] = '\n';
    buf[8] = (char)((n - 10) & 255);
    buf[9] = (char)((n - 10) >> 8);
    return n;
}

eddy_status eddy_array_save(const eddy_array *a, const char *path, const eddy_files *files,
                            eddy_error *error)
{
    char        header[512];
    eddy_error  e = { 0 };
    eddy_writer out;
    size_t      n = a ? make_header(a, header, sizeof header) : 0;
    if (!a) eddy__error_set(&e, EDDY_INVALID_ARGUMENT, "array_save: no array is given");
    else if (n == 0)
        eddy__error_set(&e, EDDY_UNIMPLEMENTED, "%.600s: npy files do not support %s",
                        path ? path : "array_save", eddy_dtype_name(eddy_array_dtype(a)));
    else if (eddy__writer_begin(&out, files, path, &e)) {
        eddy__writer_write(&out, header, n);
        eddy__writer_write(&out, eddy_array_data(a), eddy_array_bytes(a));
        eddy__writer_end(&out);
    }
    if (e.status != EDDY_OK) eddy__error_set(error, e.status, "%s", e.message);
    return e.status;
}

/* ----------------------------------------------------- reading: header -- */

typedef struct npy_header {
    int        code;             /* the row of `codes` */
    bool       big_endian;
    eddy_shape shape;
    bool       fortran;
} npy_header;

static bool take_word(tokens *p, const char *word)
{
    size_t n = strlen(word);
    skip_space(p);
    bool is = (size_t)(p->end - p->at) >= n && memcmp(p->at, word, n) == 0;
    if (is) p->at += n;
    return is;
}

/* A string of Python without escapes, copied to buf. */
static bool read_string(tokens *p, char *buf, size_t size)
{
    skip_space(p);
    char   quote = p->at < p->end ? *p->at : 0;
    size_t n = 0;
    if (quote != '\'' && quote != '"') return damaged(p, "expected a string");
    for (p->at++; p->at < p->end && *p->at != quote; p->at++) {
        const unsigned char c = (unsigned char)*p->at;      /* char has no sign on arm64 */
        if (c == '\\' || c < ' ' || c > 127 || n + 1 >= size)
            return damaged(p, "unexpected text in a string");
        buf[n++] = *p->at;
    }
    buf[n] = 0;
    return accept_char(p, quote) || damaged(p, "unterminated string");
}

static bool read_dtype(tokens *p)
{
    char text[32];
    skip_space(p);
    char *before = p->at;
    if (p->at < p->end && *p->at == '[')
        return damaged(p, "structured element types are not supported");
    if (!read_string(p, text, sizeof text)) return false;
    p->at = before;
    bool ordered = text[0] && strchr("<>=|", text[0]);
    for (int i = 0; i < CODES && ordered; i++) {
        if (strcmp(text + 1, codes[i].code) != 0) continue;
        npy_header *h = p->out;
        if (codes[i].size > 1 && text[0] == '|') break;
        h->code = i;
        h->big_endian = text[0] == '>';
        return read_string(p, text, sizeof text);
    }
    return eddy__error_set(p->error, EDDY_CORRUPT,
                           "%.600s: header, byte %zu: the element type '%s' is not supported",
                           p->path, offset(p), text);
}

static bool read_size(tokens *p, int64_t *out)
{
    size_t digits;
    if (!take_natural(p, out, &digits)) return damaged(p, "a dimension is too large");
    if (digits == 0) return damaged(p, "expected a dimension");
    accept_char(p, 'L');                            /* Python 2 */
    return true;
}

static bool read_shape(tokens *p)
{
    eddy_shape *s = &((npy_header *)p->out)->shape;
    if (!accept_char(p, '(')) return damaged(p, "the shape is not a tuple");
    bool comma = true;
    while (!accept_char(p, ')')) {
        if (!comma) return damaged(p, "expected a comma in the shape");
        if (s->rank == EDDY_MAX_RANK) return damaged(p, "more than 8 dimensions");
        skip_space(p);
        if (!read_size(p, &s->dim[s->rank])) return false;
        s->rank++;
        comma = accept_char(p, ',');
        if (!comma && s->rank == 1) return damaged(p, "the shape is not a tuple");
    }
    return eddy_shape_is_valid(*s) || damaged(p, "the shape is too large");
}

static bool read_order(tokens *p)
{
    npy_header *h = p->out;
    h->fortran = take_word(p, "True");
    return h->fortran || take_word(p, "False") ||
           damaged(p, "fortran_order is neither True nor False");
}

/* {'descr': ..., 'fortran_order': ..., 'shape': ...}, each once, in any order. */
static bool read_header(tokens *p)
{
    static const char *const keys[] = { "descr", "fortran_order", "shape" };
    static bool (*const readers[])(tokens *) = { read_dtype, read_order, read_shape };
    unsigned seen = 0;
    bool     comma = true;
    if (!accept_char(p, '{')) return damaged(p, "expected a dictionary");
    while (!accept_char(p, '}')) {
        char key[32];
        int  i = 0;
        if (!comma) return damaged(p, "expected a comma");
        if (!read_string(p, key, sizeof key)) return false;
        while (i < 3 && strcmp(key, keys[i]) != 0) i++;
        if (i == 3) return damaged(p, "unknown key");
        if (seen >> i & 1) return damaged(p, "duplicate key");
        seen |= 1u << i;
        if (!accept_char(p, ':')) return damaged(p, "expected a colon");
        if (!readers[i](p)) return false;
        comma = accept_char(p, ',');
    }
    skip_space(p);
    if (p->at != p->end) return damaged(p, "unexpected text after the dictionary");
    return seen == 7 || damaged(p, "descr, fortran_order or shape is missing");
}

/* ------------------------------------------------------ reading: array -- */

/* Copies n elements with a distance of `stride` elements. */
static void gather(char *to, const char *from, int64_t n, int64_t stride, size_t size)
{
    int64_t step = stride * (int64_t)size;
    switch (size) {
    case 1:  for (int64_t i = 0; i < n; i++) to[i] = from[i * step]; break;
    case 2:  for (int64_t i = 0; i < n; i++) memcpy(to + i * 2, from + i * step, 2); break;
    case 4:  for (int64_t i = 0; i < n; i++) memcpy(to + i * 4, from + i * step, 4); break;
    case 8:  for (int64_t i = 0; i < n; i++) memcpy(to + i * 8, from + i * step, 8); break;
    default: for (int64_t i = 0; i < n; i++) memcpy(to + i * 16, from + i * step, 16); break;
    }
}

/* Column-major elements to row-major ones: rows of the last dimension, counted
 * up by an odometer over the others. */
static void from_fortran(eddy_shape s, size_t size, const char *from, char *to)
{
    int64_t stride[EDDY_MAX_RANK], index[EDDY_MAX_RANK] = { 0 };
    int64_t count = eddy_shape_count(s), row = s.dim[s.rank - 1], at = 0;
    for (int axis = 0; axis < s.rank; axis++)
        stride[axis] = axis == 0 ? 1 : stride[axis - 1] * s.dim[axis - 1];
    for (int64_t done = 0; done < count; done += row) {
        gather(to + done * (int64_t)size, from + at * (int64_t)size, row, stride[s.rank - 1], size);
        for (int axis = s.rank - 2; axis >= 0; axis--) {
            at += stride[axis];
            if (++index[axis] < s.dim[axis]) break;
            at -= index[axis] * stride[axis];
            index[axis] = 0;
        }
    }
}

static eddy_array *transposed(eddy_array *a)
{
    eddy_shape s = eddy_array_shape(a);
    if (!a || s.rank < 2) return a;
    eddy_array *r = eddy_array_new(eddy_array_dtype(a), s);
    if (r)
        from_fortran(s, eddy_dtype_size(eddy_array_dtype(a)), eddy_array_data(a),
                     eddy_array_data(r));
    eddy_array_free(a);
    return r;
}

/* Reads everything up to the elements. */
static bool open_npy(eddy_reader *in, tokens *p)
{
    unsigned char start[12];
    size_t        length, prefix = 10;
    char          header[MAX_HEADER];
    if (!eddy__reader_read(in, start, 10)) return false;
    if (memcmp(start, magic, sizeof magic) != 0)
        return eddy__error_set(p->error, EDDY_CORRUPT, "%.600s: not an npy file", p->path);
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return eddy__error_set(p->error, EDDY_CORRUPT, "%.600s: npy format %d.%d is not supported",
                               p->path, start[6], start[7]);
    length = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) {
        if (!eddy__reader_read(in, start + 10, 2)) return false;
        length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
        prefix = 12;
    }
    if (length > MAX_HEADER)
        return eddy__error_set(p->error, EDDY_LIMIT,
                               "%.600s: the header has %zu bytes; the limit is %d", p->path,
                               length, MAX_HEADER);
    if (!eddy__reader_read(in, header, length)) return false;
    p->start = p->at = header;
    p->end = header + length;
    p->prefix = prefix;
    return read_header(p);
}

/* Turns each number around: a complex element is two. */
static void swap_bytes(unsigned char *p, size_t bytes, size_t size)
{
    for (unsigned char *end = p + bytes; p < end; p += size)
        for (size_t i = 0; i < size / 2; i++) {
            const unsigned char t = p[i];
            p[i] = p[size - 1 - i];
            p[size - 1 - i] = t;
        }
}

/* Element i of a type that arrays lack. */
static int64_t integer_at(const unsigned char *p, int64_t i, const char *code)
{
    int16_t  i2;
    uint16_t u2;
    uint32_t u4;
    p += (size_t)i * (size_t)(code[1] - '0');
    if (code[1] == '1') return (int8_t)*p;
    if (code[1] == '4') return memcpy(&u4, p, sizeof u4), (int64_t)u4;
    if (code[0] == 'u') return memcpy(&u2, p, sizeof u2), (int64_t)u2;
    return memcpy(&i2, p, sizeof i2), (int64_t)i2;
}

/* The elements of the file, which are at the end of the array, become those of the array. */
static bool convert(const tokens *p, eddy_array *a, unsigned char *from)
{
    const npy_header *h = p->out;
    const char       *code = codes[h->code].code;
    const size_t      size = codes[h->code].size;
    const int64_t     count = eddy_array_count(a);
    if (h->big_endian) swap_bytes(from, (size_t)count * size, code[0] == 'c' ? size / 2 : size);
    if (strcmp(code, "u8") == 0) {
        for (int64_t i = 0; i < count; i++)
            if (((int64_t *)eddy_array_data(a))[i] < 0)
                return eddy__error_set(p->error, EDDY_OUT_OF_RANGE,
                                       "%.600s: element %lld is above 2^63 - 1", p->path,
                                       (long long)i);
        return true;
    }
    if (size == eddy_dtype_size(codes[h->code].dtype)) return true;
    for (int64_t i = 0; i < count; i++) {
        const int64_t v = integer_at(from, i, code);
        if (eddy_array_dtype(a) == EDDY_INT32) ((int32_t *)eddy_array_data(a))[i] = (int32_t)v;
        else ((int64_t *)eddy_array_data(a))[i] = v;
    }
    return true;
}

/* Bools are bytes of 0 and 1 everywhere in the library. */
static bool bools_are_clean(const tokens *p, const eddy_array *a)
{
    const unsigned char *b = eddy_array_data(a);
    if (eddy_array_dtype(a) != EDDY_BOOL) return true;
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        if (b[i] > 1)
            return eddy__error_set(p->error, EDDY_CORRUPT,
                                   "%.600s: element %lld is %d; a bool must be 0 or 1", p->path,
                                   (long long)i, b[i]);
    return true;
}

static eddy_array *read_array(eddy_reader *in, const tokens *p)
{
    const npy_header *h = p->out;
    int64_t count = eddy_shape_count(h->shape);      /* below 2^48: the bytes fit */
    const eddy_dtype dtype = codes[h->code].dtype;
    int64_t bytes = count * (int64_t)codes[h->code].size;
    if (in->size - in->at != bytes) {
        char text[100];
        eddy__error_set(p->error, EDDY_CORRUPT,
                        "%.600s: the data has the length %lld in bytes; expected %lld for %s",
                        p->path, (long long)(in->size - in->at), (long long)bytes,
                        eddy_type_print((eddy_type){ dtype, h->shape }, text, sizeof text));
        return NULL;
    }
    eddy_array    *a = eddy_array_new(dtype, h->shape);
    unsigned char *from = NULL;
    if (a) from = (unsigned char *)eddy_array_data(a) + (eddy_array_bytes(a) - (size_t)bytes);
    if (a && (!eddy__reader_read(in, from, (size_t)bytes) || !convert(p, a, from) ||
              !bools_are_clean(p, a))) {
        eddy_array_free(a);
        return NULL;
    }
    if (h->fortran) a = transposed(a);
    if (!a)
        eddy__error_set(p->error, EDDY_NO_MEMORY, "%.600s: out of memory (bytes: %lld)", p->path,
                        (long long)bytes);
    return a;
}

eddy_array *eddy_array_load(const char *path, const eddy_files *files, eddy_error *error)
{
    eddy_reader in;
    npy_header  header = { 0 };
    tokens      p = { .path = path, .place = "header, byte", .error = error, .out = &header };
    eddy_array *a = NULL;
    if (eddy__reader_open(&in, files, path, error) && open_npy(&in, &p)) a = read_array(&in, &p);
    eddy__reader_close(&in);
    return a;
}
