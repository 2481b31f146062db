/* mutate.c -- see mutate.h: the tools of mutators, and the mutator of each format. */
#include "tests/fuzz/mutate.h"
#include "build/gen/table.h"

#include <stdlib.h>
#include <string.h>

unsigned draw(mutation *m, size_t n)
{
    m->random = m->random * 1664525u + 1013904223u;
    unsigned x = m->random;
    x = (x ^ x >> 16) * 0x7feb352du;        /* seeds that follow each other give unlike numbers */
    x ^= x >> 15;
    return n > 0 ? (unsigned)(x % n) : 0;
}

bool splice(mutation *m, size_t begin, size_t end, const void *p, size_t n)
{
    if (m->size - (end - begin) + n > m->most) return false;
    memmove(m->at + begin + n, m->at + end, m->size - end);
    if (n > 0) memcpy(m->at + begin, p, n);
    m->size = m->size - (end - begin) + n;
    return true;
}

uint64_t number_at(const mutation *m, size_t at, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes - 1; i >= 0; i--) v = v << 8 | m->at[at + (size_t)i];
    return v;
}

void put_number(mutation *m, size_t at, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) m->at[at + (size_t)i] = (uint8_t)(v >> 8 * i);
}

size_t mutate_part(mutation *m, size_t begin, size_t end, size_t reserve, mutator *with)
{
    const size_t size = end - begin, others = m->size - size;
    if (m->most < others + reserve + size) return end;
    mutation part = *m;
    part.size = size;
    part.most = m->most - others - reserve;
    part.at = malloc(part.most + 1);
    if (!part.at) abort();
    if (size > 0) memcpy(part.at, m->at + begin, size);
    with(&part);
    splice(m, begin, end, part.at, part.size);
    m->random = part.random;
    free(part.at);
    return begin + part.size;
}

void mutate_bytes(mutation *m)
{
    if (m->most > 0) m->size = LLVMFuzzerMutate(m->at, m->size, m->most);
}

/* ------------------------------------------------------------------ formats -- */

/* A share of the calls is left to libFuzzer, for what no other mutator does. */
static size_t mutate(uint8_t *data, size_t size, size_t most, unsigned seed,
                     const char *const *words, mutator *with)
{
    mutation m = { data, size, most, seed, words };
    if (size == 0 || draw(&m, 4) == 0) mutate_bytes(&m);
    else with(&m);
    return m.size;
}

static void mutate_arrays(mutation *m) { mutate_zip(m, mutate_array); }

/* A file of Keras or PyTorch, whose older ones are no archives. */
static void mutate_archive(mutation *m)
{
    if (m->size > 4 && memcmp(m->at, "PK", 2) == 0) mutate_zip(m, mutate_bytes);
    else mutate_bytes(m);
}

static void mutate_model(mutation *m)
{
    if (m->at[0] == '{') mutate_text(m);
    else mutate_message(m);
}

/* Behind the length of the header in 8 bytes. The numbers of elements seldom fit the changed
 * header: the file is cut or grows to where the last of them ends. */
static void mutate_tensors(mutation *m)
{
    const uint64_t header = m->size >= 8 ? number_at(m, 0, 8) : UINT64_MAX;
    if (m->size < 8 || header > m->size - 8) {
        mutate_bytes(m);
        return;
    }
    const size_t end = mutate_part(m, 8, 8 + (size_t)header, 0, mutate_text);
    put_number(m, 0, end - 8, 8);
    size_t last = 0;
    for (size_t i = 8; i < end; i++) {
        static const char key[] = "\"data_offsets\":[";
        const size_t      n = sizeof key - 1;
        if (end - i < n || memcmp(m->at + i, key, n) != 0) continue;
        size_t v = 0;
        for (i += n; i < end && m->at[i] != ']'; i++)
            v = m->at[i] < '0' || m->at[i] > '9' || v > m->most ? 0
                                                                : 10 * v + (size_t)(m->at[i] - '0');
        if (v > last) last = v;
    }
    if (draw(m, 4) == 0 || last > m->most - end) return;
    if (end + last > m->size) memset(m->at + m->size, 0, end + last - m->size);
    m->size = end + last;
}

/* A list of events, each behind its size in 2 bytes. */
static void mutate_event(mutation *m)
{
    const int skip = (int)draw(m, 8);
    size_t    at = 0, size = 0;
    for (size_t i = 0, k = 0; m->size - i >= 2 && (int)k <= skip; i += 2 + size, k++) {
        at = i;
        size = (size_t)number_at(m, i, 2);
        if (size > m->size - i - 2) {
            mutate_bytes(m);
            return;
        }
    }
    if (m->size < 2 + size) return;
    size = mutate_part(m, at + 2, at + 2 + size, 0, mutate_message) - at - 2;
    if (size <= UINT16_MAX) put_number(m, at, size, 2);
}

/* Pairs of a block of LevelDB: three lengths, each of one byte if it is small; what the key adds to
 * the one before; and a message. */
static void mutate_pair(mutation *m)
{
    size_t at = 0;
    for (unsigned skip = draw(m, 8);; skip--) {
        if (m->size - at < 3 || (m->at[at + 1] | m->at[at + 2]) > 127) break;
        const size_t value = at + 3 + m->at[at + 1], end = value + m->at[at + 2];
        if (end > m->size) break;
        if (skip > 0 && m->size - end >= 3) {
            at = end;
            continue;
        }
        const size_t size = mutate_part(m, value, end, 0, mutate_message) - value;
        if (size <= 127) m->at[at + 2] = (uint8_t)size;
        return;
    }
    mutate_bytes(m);
}

static const char *const array_words[] = { "<f8", "<f4", "<f2", "<i8", "<i4", "|i1", "|u1", "|b1",
                                           "<c8", "<c16", ">f8", ">i4", "|O", "|V2", "True",
                                           "False", "descr", "fortran_order", "shape", NULL };
static const char *const tensor_words[] = { "F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8",
                                            "U64", "U8", "BOOL", "C64", "F8_E4M3", "dtype", "shape",
                                            "data_offsets", "__metadata__", "null", NULL };
static const char *const index_words[] = { "weight_map", "metadata", "total_size", "true", "null",
                                           "\\ud800", "\\u0000", "../a", NULL };
static const char *const model_words[] = { "modelTopology", "weightsManifest", "paths", "weights",
                                           "node", "op", "input", "attr", "shape", "dtype", "name",
                                           "float32", "int32", "bool", "string", "quantization",
                                           "library", "function", "true", "null", "-1", NULL };

#define MUTATOR(name, words, with)                                                      \
    size_t mutate_##name(uint8_t *data, size_t size, size_t most, unsigned seed)        \
    {                                                                                   \
        return mutate(data, size, most, seed, words, with);                             \
    }
MUTATOR(bundle, NULL, mutate_pair)
MUTATOR(events, NULL, mutate_event)
MUTATOR(index, index_words, mutate_text)
MUTATOR(keras, NULL, mutate_archive)
MUTATOR(npy, array_words, mutate_array)
MUTATOR(npz, array_words, mutate_arrays)
MUTATOR(onnx, NULL, mutate_message)
MUTATOR(safetensors, tensor_words, mutate_tensors)
MUTATOR(tensorflow, model_words, mutate_model)
MUTATOR(torch, NULL, mutate_archive)

size_t mutate_graph(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static const char *names[4096];
    for (int i = 0; i < 4095 && !names[i] && eddy_op_table[i]; i++)
        names[i] = eddy_op_table[i]->name;
    return mutate(data, size, most, seed, names, mutate_words);
}
