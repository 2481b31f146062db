/* pickle.c -- see pickle.h. */
#include "pickle.h"

#include "../../graph/graph.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 1 << 22 };

typedef struct machine {
    region        *memory;
    const uint8_t *start, *at, *end;
    const char    *problem;
    pickle_value **stack;
    size_t         top, room;
    pickle_value **memo;
    size_t         memos, memoized;     /* places, and those that are filled */
    int            values;
} machine;

/* ------------------------------------------------------------------ basics -- */

static void *fail(machine *m, const char *problem)
{
    if (!m->problem) m->problem = problem;
    return NULL;
}

/* Of what is not in the region. */
static void no_memory(machine *m)
{
    m->memory->full = true;
    fail(m, "out of memory");
}

static pickle_value *new_value(machine *m, pickle_kind kind)
{
    pickle_value *v = eddy__region_take(m->memory, 1, sizeof *v);
    if (!v) return fail(m, "out of memory");
    if (++m->values > MOST_VALUES) return fail(m, "there are too many values");
    v->kind = kind;
    return v;
}

/* NULL only with a problem, which ends the reading. */
static void push(machine *m, pickle_value *v)
{
    if (m->top == m->room) {
        const size_t room = m->room ? 2 * m->room : 64;
        void        *more = realloc(m->stack, room * sizeof *m->stack);
        if (!more) {
            no_memory(m);
            return;
        }
        m->stack = more;
        m->room = room;
    }
    m->stack[m->top++] = v;
}

/* The value on top, of this kind. */
static pickle_value *peek(machine *m, pickle_kind kind)
{
    if (m->top == 0 || m->stack[m->top - 1]->kind != kind)
        return fail(m, "an instruction has a wrong operand");
    return m->stack[m->top - 1];
}

static pickle_value *pop(machine *m)
{
    if (m->problem || m->top == 0 || m->stack[m->top - 1]->kind == PICKLE_MARK)
        return fail(m, "the stack is empty");
    return m->stack[--m->top];
}

static void append(machine *m, pickle_value *list, pickle_value *item)
{
    if (list->count == list->room) {
        const size_t   room = list->room ? 2 * list->room : 4;
        pickle_value **more = eddy__region_take(m->memory, room, sizeof *more);
        if (!more) {
            fail(m, "out of memory");
            return;
        }
        if (list->count) memcpy(more, list->items, list->count * sizeof *more);
        list->items = more;
        list->room = room;
    }
    list->items[list->count++] = item;
}

/* The n values above the last mark, which is removed with them; NULL if there is no mark. They stay
 * in the array until the next push. */
static pickle_value *const *above_mark(machine *m, size_t *n)
{
    *n = 0;
    while (*n < m->top && m->stack[m->top - 1 - *n]->kind != PICKLE_MARK) ++*n;
    if (*n == m->top) return fail(m, "a mark is missing");
    m->top -= *n + 1;
    return m->stack + m->top + 1;
}

/* A list of the n values from the top, or those above a mark that was removed. */
static pickle_value *list_of(machine *m, pickle_kind kind, pickle_value *const *from, size_t n)
{
    pickle_value *v = from ? new_value(m, kind) : NULL;
    for (size_t i = 0; v && i < n; i++) append(m, v, from[i]);
    return v;
}

/* ----------------------------------------------------------------- operands -- */

static uint64_t operand(machine *m, int bytes)
{
    uint64_t v = 0;
    if (m->end - m->at < bytes) {
        fail(m, "it ends early");
        return 0;
    }
    for (int i = 0; i < bytes; i++) v |= (uint64_t)m->at[i] << (8 * i);
    m->at += bytes;
    return v;
}

static pickle_value *text(machine *m, uint64_t size)
{
    pickle_value *v = m->problem ? NULL : new_value(m, PICKLE_TEXT);
    if (!v) return NULL;
    if (size > (uint64_t)(m->end - m->at)) return fail(m, "it ends early");
    v->text = eddy__region_text(m->memory, (wire_bytes){ m->at, (size_t)size });
    m->at += size;
    return v->text ? v : fail(m, "out of memory");
}

static pickle_value *number(machine *m, int64_t x)
{
    pickle_value *v = new_value(m, PICKLE_NUMBER);
    if (v) v->integer = x;
    return v;
}

/* An integer of any number of bytes, of which 8 count. */
static pickle_value *long_number(machine *m, uint64_t bytes)
{
    if (bytes > 8) return fail(m, "an integer has more than 64 bits");
    const uint64_t v = operand(m, (int)bytes);
    const bool     negative = bytes > 0 && v >> (8 * bytes - 1) & 1;
    return number(m, (int64_t)(negative && bytes < 8 ? v | ~0ull << (8 * bytes) : v));
}

static const char *line(machine *m)
{
    const uint8_t *end = memchr(m->at, '\n', (size_t)(m->end - m->at));
    if (!end) return fail(m, "it ends early");
    const char *s =
        eddy__region_text(m->memory, (wire_bytes){ m->at, (size_t)(end - m->at) });
    m->at = end + 1;
    return s ? s : fail(m, "out of memory");
}

/* -------------------------------------------------------------------- names -- */

static const torch_type types[] = {
    { "FloatStorage", "F32", EDDY_FLOAT32, 32, true },
    { "DoubleStorage", "F64", EDDY_FLOAT64, 64, true },
    { "HalfStorage", "F16", EDDY_FLOAT16, 16, true },
    { "BFloat16Storage", "BF16", EDDY_BFLOAT16, 16, true },
    { "LongStorage", "I64", EDDY_INT64, 64, true },
    { "IntStorage", "I32", EDDY_INT32, 32, true },
    { "ShortStorage", "I16", EDDY_INT32, 16, true },
    { "CharStorage", "I8", EDDY_INT32, 8, true },
    { "ByteStorage", "U8", EDDY_UINT8, 8, false },
    { "BoolStorage", "BOOL", EDDY_BOOL, 8, false },
    { "ComplexFloatStorage", "C64", EDDY_COMPLEX64, 32, true },
    { "ComplexDoubleStorage", "C128", EDDY_COMPLEX128, 64, true },
};

/* The names that a pickle of tensors needs; none of them is called. */
static pickle_value *name_of(machine *m, const char *module, const char *name)
{
    static const char *const known[][2] = {
        { "collections", "OrderedDict" },     { "torch._utils", "_rebuild_tensor_v2" },
        { "torch._utils", "_rebuild_tensor" }, { "torch._utils", "_rebuild_parameter" },
        { "torch", "Size" },                  { "torch", "device" },
    };
    if (!name) return NULL;
    pickle_value *v = new_value(m, PICKLE_NAME);
    bool          found = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        found = found || (strcmp(known[i][0], module) == 0 && strcmp(known[i][1], name) == 0);
    for (size_t i = 0; v && i < sizeof types / sizeof *types; i++)
        if (strcmp(module, "torch") == 0 && strcmp(types[i].storage, name) == 0)
            v->type = &types[i];
    if (v && !found && !v->type) {
        const char *p =
            eddy__region_print(m->memory, "the name %.100s.%.100s is not allowed", module, name);
        return fail(m, p ? p : "out of memory");
    }
    if (v) v->text = name;
    return v;
}

static bool is_name(const pickle_value *v, const char *name)
{
    return strcmp(v->text, name) == 0;
}

/* ---------------------------------------------------------------- meanings -- */

static bool all_numbers(const pickle_value *v)
{
    for (size_t i = 0; v->kind == PICKLE_LIST && i < v->count; i++)
        if (v->items[i]->kind != PICKLE_NUMBER) return false;
    return v->kind == PICKLE_LIST;
}

/* (storage, offset, size, stride, ...) */
static pickle_value *tensor(machine *m, const pickle_value *args)
{
    pickle_value *const *a = args->items;
    if (args->count < 4 || a[0]->kind != PICKLE_STORAGE || a[1]->kind != PICKLE_NUMBER ||
        !all_numbers(a[2]) || !all_numbers(a[3]) || a[2]->count != a[3]->count)
        return fail(m, "a tensor has wrong arguments");
    pickle_value *v = new_value(m, PICKLE_TENSOR);
    if (!v) return NULL;
    v->storage = a[0];
    v->integer = a[1]->integer;
    v->size = a[2];
    v->stride = a[3];
    return v;
}

/* The result of a call of one of the names. */
static pickle_value *reduce(machine *m)
{
    const pickle_value *args = pop(m), *f = pop(m);
    if (!args || !f) return NULL;
    if (f->kind != PICKLE_NAME || args->kind != PICKLE_LIST)
        return fail(m, "an instruction has a wrong operand");
    if (is_name(f, "OrderedDict")) {
        if (args->count) return fail(m, "a dict has wrong arguments");
        return new_value(m, PICKLE_DICT);
    }
    if (is_name(f, "_rebuild_tensor_v2") || is_name(f, "_rebuild_tensor")) return tensor(m, args);
    if (is_name(f, "_rebuild_parameter") || is_name(f, "Size")) {
        if (args->count < 1) return fail(m, "a parameter has wrong arguments");
        return args->items[0];
    }
    if (is_name(f, "device")) return new_value(m, PICKLE_NONE);
    return fail(m, "a name is called that is not a function");
}

/* ("storage", type, key, location, elements) */
static pickle_value *persistent(machine *m)
{
    const pickle_value  *id = pop(m);
    pickle_value *const *a = id && id->kind == PICKLE_LIST ? id->items : NULL;
    if (!a || id->count < 5 || a[0]->kind != PICKLE_TEXT || strcmp(a[0]->text, "storage") != 0 ||
        a[1]->kind != PICKLE_NAME || !a[1]->type || a[2]->kind != PICKLE_TEXT ||
        a[4]->kind != PICKLE_NUMBER)
        return fail(m, "a storage is of an unknown kind");
    pickle_value *v = new_value(m, PICKLE_STORAGE);
    if (!v) return NULL;
    v->type = a[1]->type;
    v->text = a[2]->text;
    v->integer = a[4]->integer;
    return v;
}

static void set_items(machine *m, pickle_value *const *pairs, size_t n)
{
    pickle_value *d = peek(m, PICKLE_DICT);
    if (d && n % 2) fail(m, "an item of a dict has no value");
    for (size_t i = 0; d && i < n; i++) append(m, d, pairs[i]);
}

static void append_items(machine *m, pickle_value *const *items, size_t n)
{
    pickle_value *l = peek(m, PICKLE_LIST);
    for (size_t i = 0; l && i < n; i++) append(m, l, items[i]);
}

/* -------------------------------------------------------------------- memo -- */

static void put(machine *m, uint64_t i)
{
    if (m->problem || m->top == 0 || i >= MOST_VALUES) {
        fail(m, "a place of the memo is out of range");
        return;
    }
    if (i >= m->memos) {
        const size_t   n = 2 * (size_t)i + 64;
        pickle_value **more = realloc(m->memo, n * sizeof *more);
        if (!more) {
            no_memory(m);
            return;
        }
        memset(more + m->memos, 0, (n - m->memos) * sizeof *more);
        m->memo = more;
        m->memos = n;
    }
    m->memoized += !m->memo[i];
    m->memo[i] = m->stack[m->top - 1];
}

static pickle_value *get(machine *m, uint64_t i)
{
    if (m->problem || i >= m->memos || !m->memo[i])
        return fail(m, "a place of the memo is empty");
    return m->memo[i];
}

/* ------------------------------------------------------------- instructions -- */

static pickle_value *constant(machine *m, uint8_t code)
{
    switch (code) {
    case 'N': return new_value(m, PICKLE_NONE);
    case 0x88: return number(m, 1);
    case 0x89: return number(m, 0);
    case 'J': return number(m, (int32_t)operand(m, 4));
    case 'K': return number(m, (int64_t)operand(m, 1));
    case 'M': return number(m, (int64_t)operand(m, 2));
    case 0x8a: return long_number(m, operand(m, 1));
    case 0x8b: return long_number(m, operand(m, 4));
    case 'G': return operand(m, 8), new_value(m, PICKLE_NONE);      /* no tensor needs floats */
    case 'X': return text(m, operand(m, 4));
    case 'T':
    case 'B': return text(m, operand(m, 4));
    case 0x8c:
    case 'U':
    case 'C': return text(m, operand(m, 1));
    case 0x8d:
    case 0x8e: return text(m, operand(m, 8));
    case '}': return new_value(m, PICKLE_DICT);
    case ']':
    case ')': return new_value(m, PICKLE_LIST);
    case '(': return new_value(m, PICKLE_MARK);
    default: return NULL;
    }
}

static pickle_value *tuple(machine *m, size_t n)
{
    if (m->top < n) return fail(m, "the stack is empty");
    for (size_t i = 0; i < n; i++)
        if (m->stack[m->top - 1 - i]->kind == PICKLE_MARK) return fail(m, "the stack is empty");
    m->top -= n;
    return list_of(m, PICKLE_LIST, m->stack + m->top, n);
}

static pickle_value *stack_name(machine *m)
{
    const pickle_value *name = pop(m), *module = pop(m);
    if (!name || !module) return NULL;
    if (name->kind != PICKLE_TEXT || module->kind != PICKLE_TEXT)
        return fail(m, "an instruction has a wrong operand");
    return name_of(m, module->text, name->text);
}

/* Instructions that replace values by one; NULL if it is another, or on an error. */
static pickle_value *combined(machine *m, uint8_t code)
{
    size_t               n;
    const char          *module;
    pickle_value *const *from;
    switch (code) {
    case 't':
    case 'l': from = above_mark(m, &n); return list_of(m, PICKLE_LIST, from, n);
    case 'd':
        from = above_mark(m, &n);
        if (from && n % 2) return fail(m, "an item of a dict has no value");
        return list_of(m, PICKLE_DICT, from, n);
    case 0x85: return tuple(m, 1);
    case 0x86: return tuple(m, 2);
    case 0x87: return tuple(m, 3);
    case 'c': module = line(m); return module ? name_of(m, module, line(m)) : NULL;
    case 0x93: return stack_name(m);
    case 'R':
    case 0x81: return reduce(m);
    case 'Q': return persistent(m);
    case 'h': return get(m, operand(m, 1));
    case 'j': return get(m, operand(m, 4));
    case '2': return m->top ? m->stack[m->top - 1] : NULL;
    default: return NULL;
    }
}

/* Instructions that yield nothing; false if it is another. */
static bool effect(machine *m, uint8_t code)
{
    size_t               n;
    pickle_value *const *from;
    switch (code) {
    case 0x80: operand(m, 1); return true;                  /* the protocol */
    case 0x95: operand(m, 8); return true;                  /* the size of a frame */
    case 'q': put(m, operand(m, 1)); return true;
    case 'r': put(m, operand(m, 4)); return true;
    case 0x94: put(m, m->memoized); return true;
    case 'a':
        if (pop(m)) append_items(m, m->stack + m->top, 1);
        return true;
    case 'e':
        from = above_mark(m, &n);
        if (from) append_items(m, from, n);
        return true;
    case 's':
        if (pop(m) && pop(m)) set_items(m, m->stack + m->top, 2);
        return true;
    case 'u':
        from = above_mark(m, &n);
        if (from) set_items(m, from, n);
        return true;
    case 'b': pop(m); return true;                          /* attributes of a dict */
    case '0': pop(m); return true;
    case '1': above_mark(m, &n); return true;
    default: return false;
    }
}

const pickle_value *eddy__pickle_read(region *r, wire_bytes b, const char **problem, size_t *at)
{
    machine       m = { .memory = r, .start = b.at, .at = b.at, .end = b.at + b.size };
    pickle_value *result = NULL;
    while (!m.problem && !result) {
        *at = (size_t)(m.at - m.start);
        if (m.at == m.end) {
            fail(&m, "it ends early");
            break;
        }
        const uint8_t code = *m.at++;
        if (code == '.') {
            result = pop(&m);
            continue;
        }
        if (effect(&m, code)) continue;
        pickle_value *v = constant(&m, code);
        if (!v && !m.problem) v = combined(&m, code);
        if (!v) fail(&m, "an instruction is not allowed");
        push(&m, v);
    }
    free(m.stack);
    free(m.memo);
    *problem = m.problem;
    return m.problem ? NULL : result;
}
