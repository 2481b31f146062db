/* kind.c -- what a file is, by its contents. */
#include "command/model.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const char *const names[KIND_COUNT] = {
    [KIND_UNKNOWN] = "unknown", [KIND_YAML] = "Eddy graph", [KIND_ONNX] = "ONNX model",
    [KIND_TENSORFLOW] = "TensorFlow model", [KIND_SAFETENSORS] = "safetensors file",
    [KIND_TORCH] = "PyTorch file", [KIND_BUNDLE] = "TensorFlow checkpoint",
    [KIND_KERAS] = "Keras file",
    [KIND_NPZ] = "NumPy archive", [KIND_NPY] = "NumPy array",
};

const char *kind_name(file_kind k) { return names[k]; }

bool kind_has_graph(file_kind k)
{
    return k == KIND_YAML || k == KIND_ONNX || k == KIND_TENSORFLOW;
}

static bool exists(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0;
}

static bool begins(const char *bytes, size_t n, const char *with, size_t length)
{
    return n >= length && memcmp(bytes, with, length) == 0;
}

static bool ends(const char *path, const char *with)
{
    const size_t n = strlen(path), m = strlen(with);
    return n >= m && strcmp(path + n - m, with) == 0;
}

/* The first file of an archive of NumPy ends in ".npy", that of Keras in ".json"; that of PyTorch
 * is a pickle. */
static file_kind archive(const char *bytes, size_t n)
{
    const size_t length = n > 30 ? (unsigned char)bytes[26] + 256u * (unsigned char)bytes[27] : 0;
    const char  *end = bytes + 30 + length;
    if (length >= 4 && 30 + length <= n && memcmp(end - 4, ".npy", 4) == 0) return KIND_NPZ;
    if (length >= 5 && 30 + length <= n && memcmp(end - 5, ".json", 5) == 0) return KIND_KERAS;
    return KIND_TORCH;
}

/* A table of sorted strings, as the index of a checkpoint is, ends in this number. */
static bool is_table(FILE *f)
{
    static const unsigned char magic[8] = { 0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb };
    unsigned char end[8];
    return fseek(f, -8, SEEK_END) == 0 && fread(end, 1, 8, f) == 8 && memcmp(end, magic, 8) == 0;
}

/* Protocol buffers have no mark: a graph of TensorFlow begins with a node, field 1 as a message;
 * ONNX and SavedModels begin with a number, and an empty file is a graph without nodes. */
static file_kind message(const char *path, const char *bytes, size_t n)
{
    if (ends(path, ".onnx")) return KIND_ONNX;
    if (ends(path, ".pb") || begins(bytes, n, "\x0a", 1)) return KIND_TENSORFLOW;
    return begins(bytes, n, "\x08", 1) ? KIND_ONNX : KIND_UNKNOWN;
}

static file_kind kind_of_bytes(FILE *f, const char *path)
{
    char         bytes[4096] = "";
    const size_t n = fread(bytes, 1, sizeof bytes - 1, f);
    if (begins(bytes, n, "\x93NUMPY", 6)) return KIND_NPY;
    if (begins(bytes, n, "\x89HDF\r\n\x1a\n", 8)) return KIND_KERAS;
    if (begins(bytes, n, "PK\3\4", 4)) return archive(bytes, n);
    if (n > 8 && bytes[8] == '{' && memcmp(bytes + 5, "\0\0\0", 3) == 0) return KIND_SAFETENSORS;
    if (strstr(bytes, "eddy-graph") && memchr(bytes, '\n', n)) return KIND_YAML;
    const size_t blanks = strspn(bytes, " \t\r\n");
    if (bytes[blanks] == '{')
        return ends(path, ".index.json") || strstr(bytes, "\"weight_map\"") ? KIND_SAFETENSORS
                                                                           : KIND_TENSORFLOW;
    if (is_table(f)) return KIND_BUNDLE;
    return message(path, bytes, n);
}

file_kind kind_of(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0) {
        if (errno == ENOENT && exists(text("%s.index", path))) return KIND_BUNDLE;
        fail(path, "%s", strerror(errno));
        return KIND_UNKNOWN;
    }
    if (S_ISDIR(s.st_mode)) {
        if (exists(text("%s/saved_model.pb", path))) return KIND_TENSORFLOW;
        if (exists(text("%s/model.json", path)))
            fail(path, "name the file of the TensorFlow.js model: %s/model.json", path);
        else fail(path, "the folder is not a SavedModel: it has no saved_model.pb");
        return KIND_UNKNOWN;
    }
    FILE *f = fopen(path, "rb");
    if (!f) {
        fail(path, "%s", strerror(errno));
        return KIND_UNKNOWN;
    }
    const file_kind k = kind_of_bytes(f, path);
    fclose(f);
    if (k == KIND_UNKNOWN)
        fail(path, "the file is neither a graph of Eddy, a model of ONNX or TensorFlow, nor a "
                   "checkpoint that can be read");
    return k;
}
